"""Rows for tests of the flow model: the 2005 whitepaper's test site, alone and at rest."""

from __future__ import annotations

from typing import Any

from engine.flow import Flow, Mode, RowSetup, Workload
from engine.flow.sites import NEC, WORKLOAD1, WORKLOAD2
from engine.published.measure import Means, run_s, setup_of
from engine.published.measure import means as means_of

W1, W2 = WORKLOAD1, WORKLOAD2

__all__ = ["W1", "W2", "means", "one", "run_s", "setup"]


def setup(workload: Workload = WORKLOAD1, mode: Mode = Mode.FULL, **changes: Any) -> RowSetup:
    """A row whose mirror is attached unless the mode is NONE."""
    return setup_of(workload, mode, changes.pop("site", NEC), **changes)


def one(workload: Workload = WORKLOAD1, mode: Mode = Mode.FULL, warm: bool = True, **changes: Any) -> Flow:
    """A flow with one row, row 0, in steady state just after a checkpoint."""
    flow = Flow.empty()
    flow.add_row(setup(workload, mode, **changes))
    if warm:
        flow.warm_start(0, 0.0)
    return flow


def means(flow: Flow, seconds: float = 60.0, row: int = 0) -> Means:
    return means_of(flow, seconds, row)
