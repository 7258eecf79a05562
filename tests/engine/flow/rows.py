"""Rows for tests of the flow model, and means over a time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from engine.constants import TICKS_PER_S
from engine.flow import Flow, Mode, RowSetup, Workload, run
from engine.flow.sites import NEC, WORKLOAD1, WORKLOAD2

HUGE_KB = 1e12
W1, W2 = WORKLOAD1, WORKLOAD2


def setup(workload: Workload = WORKLOAD1, mode: Mode = Mode.FULL, **changes: Any) -> RowSetup:
    """A row of the 2005 whitepaper's test site, its mirror attached unless the mode is NONE."""
    there = mode != Mode.NONE
    row = RowSetup(
        site=NEC,
        workload=workload,
        host=0,
        mirror_host=1 if there else -1,
        mode=mode,
        connected=there,
        carrying=there,
        log_max_kb=HUGE_KB,
    )
    return replace(row, **changes)


def one(workload: Workload = WORKLOAD1, mode: Mode = Mode.FULL, warm: bool = True, **changes: Any) -> Flow:
    """A flow with one row, row 0, in steady state."""
    flow = Flow.empty()
    flow.add_row(setup(workload, mode, **changes))
    if warm:
        flow.warm_start(0, 0.0)
    return flow


def run_s(flow: Flow, seconds: float) -> None:
    run(flow, round(seconds * TICKS_PER_S))


@dataclass(frozen=True)
class Means:
    transactions_per_s: float
    response_s: float
    log_kb_per_s: float
    sent_kb_per_s: float
    redo_kb_per_s: float
    cpu_percent: float
    mirror_cpu_percent: float
    writes_kb_per_s: float
    mirror_writes_kb_per_s: float
    messages_per_s: float


def means(flow: Flow, seconds: float = 60.0, row: int = 0) -> Means:
    """Exact means of *row* over the next *seconds*."""
    a = flow.totals(row)
    run_s(flow, seconds)
    b = flow.totals(row)
    site = flow.row_setup(row).site
    return Means(
        transactions_per_s=(b.transactions - a.transactions) / seconds,
        response_s=(b.inside_s - a.inside_s) / max(b.transactions - a.transactions, 1e-9),
        log_kb_per_s=(b.generated_kb - a.generated_kb) / seconds,
        sent_kb_per_s=(b.sent_kb - a.sent_kb) / seconds,
        redo_kb_per_s=(b.redone_kb - a.redone_kb) / seconds,
        cpu_percent=100 * (b.principal_core_s - a.principal_core_s) / seconds / site.cores,
        mirror_cpu_percent=100 * (b.mirror_core_s - a.mirror_core_s) / seconds / site.cores,
        writes_kb_per_s=8 * (b.pages_written - a.pages_written) / seconds,
        mirror_writes_kb_per_s=8 * (b.mirror_pages_written - a.mirror_pages_written) / seconds,
        messages_per_s=(b.messages - a.messages) / seconds,
    )
