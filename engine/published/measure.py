"""Runs of the flow model as a paper would measure them: a row in steady state, and its means over a time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

from engine.constants import TICKS_PER_S
from engine.flow import Crossing, Flow, Mode, Operation, RowSetup, Site, Workload, run
from engine.flow.sites import NEC

NO_LIMIT_KB: Final = 1e12
"""Log file that never fills: the papers' tests had room."""

MEASURED_S: Final = 300.0
"""Length of a measurement: five checkpoint intervals."""

KB_PER_MB: Final = 1024.0


@dataclass(frozen=True)
class Means:
    """Exact means over a time; CPU of the whole instance."""

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


def setup_of(workload: Workload, mode: Mode, site: Site = NEC, **changes: Any) -> RowSetup:
    """A database alone on its pair of servers, its mirror attached unless *mode* is NONE."""
    there = mode != Mode.NONE
    base = RowSetup(
        site=site,
        workload=workload,
        host=0,
        mirror_host=1 if there else -1,
        mode=mode,
        connected=there,
        carrying=there,
        log_max_kb=NO_LIMIT_KB,
    )
    return replace(base, **changes)


def steady(setup: RowSetup) -> Flow:
    """A flow with that one row, row 0, in steady state just after a checkpoint."""
    flow = Flow.empty()
    flow.add_row(setup)
    flow.warm_start(0, 0.0)
    return flow


def run_s(flow: Flow, seconds: float) -> None:
    run(flow, round(seconds * TICKS_PER_S))


def means(flow: Flow, seconds: float = MEASURED_S, row: int = 0) -> Means:
    """Means of *row* over the next *seconds*."""
    site = flow.row_setup(row).site
    before = flow.totals(row)
    run_s(flow, seconds)
    after = flow.totals(row)
    change = {name: getattr(after, name) - getattr(before, name) for name in vars(after)}
    return Means(
        transactions_per_s=change["transactions"] / seconds,
        response_s=change["inside_s"] / max(change["transactions"], 1e-9),
        log_kb_per_s=change["generated_kb"] / seconds,
        sent_kb_per_s=change["sent_kb"] / seconds,
        redo_kb_per_s=change["redone_kb"] / seconds,
        cpu_percent=100.0 * change["principal_core_s"] / seconds / site.cores,
        mirror_cpu_percent=100.0 * change["mirror_core_s"] / seconds / site.cores,
        writes_kb_per_s=8.0 * change["pages_written"] / seconds,
        mirror_writes_kb_per_s=8.0 * change["mirror_pages_written"] / seconds,
        messages_per_s=change["messages"] / seconds,
    )


@cache
def measured(setup: RowSetup, seconds: float = MEASURED_S) -> Means:
    """Means of *setup* in steady state; the same setup is run once."""
    return means(steady(setup), seconds)


@cache
def queue_growth(setup: RowSetup, seconds: float = 60.0) -> tuple[float, float]:
    """(send queue at the end in KB, its growth in KB/s) of *setup*."""
    flow = steady(setup)
    before = flow.reading(0).send_queue_kb
    run_s(flow, seconds)
    after = flow.reading(0).send_queue_kb
    return after, (after - before) / seconds


@dataclass(frozen=True)
class OperationRun:
    """A long operation on an otherwise idle database; drains count from its end and are 0 without a mirror."""

    took_s: float
    send_queue_kb: float
    redo_queue_kb: float
    send_drain_s: float
    redo_drain_s: float


@cache
def operation_run(operation: Operation, mode: Mode, workload: Workload, site: Site = NEC) -> OperationRun:
    """Runs *operation* to its end and waits for the queues to drain. Redo costs as much as *workload*'s log."""
    flow = Flow.empty()
    flow.add_row(setup_of(replace(workload, connections=0.0), mode, site, operation=operation))
    took_s = _until(flow, Crossing.OPERATION_DONE)
    queues = flow.reading(0)
    send_s = redo_s = 0.0
    if mode != Mode.NONE:
        send_s = _until(flow, Crossing.SEND_DONE)
        redo_s = send_s + _until(flow, Crossing.REDO_DONE)
    return OperationRun(took_s, queues.send_queue_kb, queues.redo_queue_kb, send_s, redo_s)


def _until(flow: Flow, crossing: Crossing) -> float:
    flow.watch(0, crossing)
    ticks, held = run(flow, 100 * 3600 * TICKS_PER_S)
    assert held, f"{crossing!r} did not come about within 100 h"
    return ticks / TICKS_PER_S
