"""What the 2005 whitepaper says of its network figures, as places on a sweep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from engine.flow import Mode, Workload
from engine.flow.sites import WORKLOAD1, WORKLOAD2


@dataclass(frozen=True)
class Statement:
    """A sentence about one workload and safety level, and the place on the axis that it is about."""

    figure: str
    workload: str  # name
    safety: Mode
    axis: str  # name of a figure of the plan
    at: float
    text: str


STATEMENTS: Final = (
    Statement(
        "Figure 8", WORKLOAD1.name, Mode.FULL, "rtt_ms", 20.0, "minimal change below 20 ms, worse above"
    ),
    Statement(
        "Figure 9", WORKLOAD2.name, Mode.FULL, "rtt_ms", 2.0, "steadily worse; check goals from 2 ms on"
    ),
    Statement(
        "Figure 10", WORKLOAD1.name, Mode.OFF, "rtt_ms", 50.0, "throughput and send queue good to 50 ms"
    ),
    Statement("Figure 11", WORKLOAD1.name, Mode.OFF, "rtt_ms", 100.0, "send queue builds up from 100 ms"),
    Statement("Figure 12", WORKLOAD2.name, Mode.OFF, "rtt_ms", 2.0, "send queue builds up already at 2 ms"),
    Statement(
        "Figure 13",
        WORKLOAD1.name,
        Mode.FULL,
        "bandwidth_mbps",
        10.0,
        "good from 10 Mbps up, drastic loss below",
    ),
    Statement(
        "Table 1", WORKLOAD1.name, Mode.FULL, "bandwidth_mbps", 5.6, "720 KB/s of log are about 5.6 Mbps"
    ),
    Statement(
        "Figure 14", WORKLOAD1.name, Mode.OFF, "bandwidth_mbps", 100.0, "response hardly rises below 100 Mbps"
    ),
    Statement(
        "Figure 15", WORKLOAD1.name, Mode.OFF, "bandwidth_mbps", 1.0, "at 1 Mbps the send queue has no end"
    ),
)
"""From [WP], network configuration; axes beyond these were not measured."""


def statements_about(workload: Workload, safety: Mode, axis: str) -> list[Statement]:
    """Those that belong to a curve."""
    return [
        each
        for each in STATEMENTS
        if each.workload == workload.name and each.safety is safety and each.axis == axis
    ]
