"""Statements of the 2005 white paper about its network figures, as points on a sweep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from engine.flow import SafetyMode, Workload
from engine.flow.sites import WORKLOAD1, WORKLOAD2
from engine.localization import LocalizableMessage, say


@dataclass(frozen=True)
class PaperStatement:
    """Statement about one workload and safety level, with its point on the axis."""

    figure: str
    workload: str  # name of the workload
    safety: SafetyMode
    axis: str  # name of a figure of the plan
    at: float
    text: LocalizableMessage


STATEMENTS: Final = (
    PaperStatement(
        "Figure 8",
        WORKLOAD1.name,
        SafetyMode.FULL,
        "rtt_ms",
        20.0,
        say("minimal change below 20 ms, worse above 20 ms"),
    ),
    PaperStatement(
        "Figure 9",
        WORKLOAD2.name,
        SafetyMode.FULL,
        "rtt_ms",
        2.0,
        say("gets steadily worse; check the goals from 2 ms"),
    ),
    PaperStatement(
        "Figure 10",
        WORKLOAD1.name,
        SafetyMode.OFF,
        "rtt_ms",
        50.0,
        say("throughput and send queue good up to 50 ms"),
    ),
    PaperStatement(
        "Figure 11", WORKLOAD1.name, SafetyMode.OFF, "rtt_ms", 100.0, say("send queue grows from 100 ms")
    ),
    PaperStatement(
        "Figure 12",
        WORKLOAD2.name,
        SafetyMode.OFF,
        "rtt_ms",
        2.0,
        say("send queue grows already at 2 ms"),
    ),
    PaperStatement(
        "Figure 13",
        WORKLOAD1.name,
        SafetyMode.FULL,
        "bandwidth_mbps",
        10.0,
        say("good from 10 Mbps, sharp loss below"),
    ),
    PaperStatement(
        "Table 1",
        WORKLOAD1.name,
        SafetyMode.FULL,
        "bandwidth_mbps",
        5.6,
        say("720 KB/s of log are about 5.6 Mbps"),
    ),
    PaperStatement(
        "Figure 14",
        WORKLOAD1.name,
        SafetyMode.OFF,
        "bandwidth_mbps",
        100.0,
        say("response time hardly rises below 100 Mbps"),
    ),
    PaperStatement(
        "Figure 15",
        WORKLOAD1.name,
        SafetyMode.OFF,
        "bandwidth_mbps",
        1.0,
        say("at 1 Mbps the send queue grows without limit"),
    ),
)
"""Statements from [WP], network configuration; larger values were not measured."""


@dataclass(frozen=True)
class MeasuredPoint:
    """Measurement on the papers' local network, through which a curve should pass."""

    source: str
    workload: str
    safety: SafetyMode
    column: str  # a name of `steady.COLUMNS`
    value: float


_TABLES: Final = (
    # source, workload, safety, transactions/s, response s, principal CPU %, mirror CPU %
    ("Table 2a", WORKLOAD1, SafetyMode.NONE, 241.0, 0.13, 4.0, None),
    ("Tables 2a, 2b", WORKLOAD1, SafetyMode.OFF, 241.0, 0.13, 6.0, 3.9),
    ("Tables 2a, 2b", WORKLOAD1, SafetyMode.FULL, 238.0, 0.19, 6.4, 4.0),
    ("Table 3a", WORKLOAD2, SafetyMode.NONE, 215.0, 6.4, 39.6, None),
    ("Tables 3a, 3b", WORKLOAD2, SafetyMode.OFF, 211.0, 6.7, 47.4, 13.6),
    ("Tables 3a, 3b", WORKLOAD2, SafetyMode.FULL, 158.0, 8.8, 37.7, 10.841),
)
_TABLE_COLUMNS: Final = ("transactions_per_s", "response_s", "principal_cpu_percent", "mirror_cpu_percent")

POINTS: Final = tuple(
    MeasuredPoint(source, workload.name, safety, column, value)
    for source, workload, safety, *values in _TABLES
    for column, value in zip(_TABLE_COLUMNS, values, strict=True)
    if value is not None
)
"""Measured on a local network of 1 Gbps without loss and compression [WP tables 2 and 3]."""


def points_about(workload: Workload, safety: SafetyMode, column: str) -> list[MeasuredPoint]:
    """Return the points that belong to a curve."""
    return [
        each
        for each in POINTS
        if each.workload == workload.name and each.safety is safety and each.column == column
    ]


def statements_about(workload: Workload, safety: SafetyMode, axis: str) -> list[PaperStatement]:
    """Return the statements that belong to a curve."""
    return [
        each
        for each in STATEMENTS
        if each.workload == workload.name and each.safety is safety and each.axis == axis
    ]
