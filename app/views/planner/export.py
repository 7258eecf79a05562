"""Sweeps of a plan as a table for spreadsheets; every row names its plan."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from typing import Final

from engine.flow import SafetyMode
from engine.planning import COLUMNS, MirroringPlan, Sweep

PLAN_COLUMNS: Final = (
    "scale", "rtt_ms", "bandwidth_mbps", "loss", "compression_ratio", "version", "encryption",
)  # fmt: skip


def rows(plan: MirroringPlan, sweeps: Iterable[Mapping[SafetyMode, Sweep]]) -> list[list[str]]:
    """Return headings and one row for each point of each sweep."""
    found = [["workload", "safety", "varied", *PLAN_COLUMNS, *COLUMNS]]
    for sweep in (each for by_mode in sweeps for each in by_mode.values()):
        for x, point in zip(sweep.x, sweep.points, strict=True):
            there = plan.with_changes(**{sweep.axis: x})
            link = [f"{getattr(there, name):.6g}" for name in PLAN_COLUMNS]
            figures = [f"{getattr(point, name):.6g}" for name in COLUMNS]
            found.append([plan.workload.name, sweep.safety.name, sweep.axis, *link, *figures])
    return found


def as_csv(table: list[list[str]]) -> str:
    """Format the table as CSV."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(table)
    return out.getvalue()
