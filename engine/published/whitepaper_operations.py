"""Figures 1 to 4 of the 2005 white paper and its suspended bulk loads: long operations and a full log disk."""

from __future__ import annotations

from typing import Final

from engine.constants import TICKS_PER_S
from engine.flow import Crossing, Flow, SafetyMode, add_pair, run
from engine.flow.operations import GB_KB, bulk_load, index_build
from engine.flow.sites import WORKLOAD1
from engine.published.measure import means, measured, operation_run, run_s, setup_of, steady
from engine.published.rows import FigureRow, number, statement

MODES: Final = (SafetyMode.NONE, SafetyMode.OFF, SafetyMode.FULL)
BATCHES: Final = (100.0, 1000.0, 1e6)
LOADED_ROWS: Final = 93e6
LOG_DISK_KB: Final = 40 * GB_KB


def rows() -> list[FigureRow]:
    """Return the rows of this section."""
    return [*_indexes(), *_rebuild(), *_bulk(), *_suspended()]


def _times(clustered: bool, online: bool) -> dict[SafetyMode, float]:
    operation = index_build(1.0, clustered, online)
    return {mode: operation_run(operation, mode, WORKLOAD1).took_s for mode in MODES}


def _format_times(times: dict[SafetyMode, float]) -> str:
    return " / ".join(f"{times[mode]:.0f}" for mode in MODES) + " s with none / OFF / FULL"


def _indexes() -> list[FigureRow]:
    found = []
    for id, online in (("F1", False), ("F2", False), ("F2.online", True)):
        clustered, other = _times(True, online), _times(False, online)
        penalty = {
            "clustered": clustered[SafetyMode.FULL] / clustered[SafetyMode.OFF],
            "nonclustered": other[SafetyMode.FULL] / other[SafetyMode.OFF],
        }
        found += [
            statement(f"{id}.slower", penalty["clustered"] > 1.05, _format_times(clustered)),
            statement(
                f"{id}.clustered",
                penalty["clustered"] > penalty["nonclustered"] >= 1.0,
                f"x{penalty['clustered']:.2f} against x{penalty['nonclustered']:.2f}; "
                f"nonclustered {_format_times(other)}",
            ),
        ]
    return found


def _rebuild() -> list[FigureRow]:
    online = operation_run(index_build(1.0, True, online=True), SafetyMode.OFF, WORKLOAD1)
    return [
        statement(
            "F3.builds",
            online.send_queue_kb > GB_KB and online.redo_queue_kb > GB_KB,
            f"{online.send_queue_kb / GB_KB:.1f} and {online.redo_queue_kb / GB_KB:.1f} GB "
            f"after {online.took_s:.0f} s",
        ),
        number("F3.drain", online.send_drain_s),
        statement("F3.redo", online.redo_drain_s > 1.5 * online.send_drain_s, f"{online.redo_drain_s:.0f} s"),
    ]


def _bulk() -> list[FigureRow]:
    hours = {
        (batch, mode): operation_run(bulk_load(LOADED_ROWS, batch), mode, WORKLOAD1).took_s / 3600.0
        for batch in BATCHES
        for mode in MODES
    }
    found = []
    for mode in MODES:
        times = [hours[batch, mode] for batch in BATCHES]
        found.append(
            statement(
                f"F4.batch.{mode.name}",
                times[0] > times[1] > times[2],
                " / ".join(f"{time:.2f}" for time in times) + " h for 100 / 1,000 / 1,000,000",
            )
        )
    penalty = [hours[batch, SafetyMode.FULL] / hours[batch, SafetyMode.NONE] for batch in BATCHES]
    found.append(
        statement(
            "F4.full",
            penalty[0] > penalty[1] > penalty[2] >= 1.0,
            " / ".join(f"x{factor:.2f}" for factor in penalty),
        )
    )
    return found


def _suspended() -> list[FigureRow]:
    suspended = setup_of(WORKLOAD1, SafetyMode.FULL, sending=False)
    flow = steady(suspended)
    before_kb = flow.stream_reading(0).send_queue_kb
    kept = means(flow, 60.0)
    queue = flow.stream_reading(0).send_queue_kb - before_kb
    alone = measured(setup_of(WORKLOAD1, SafetyMode.NONE))
    hours, halted = _fill_log_disk()
    return [
        statement(
            "suspend.rate",
            abs(kept.transactions_per_s / alone.transactions_per_s - 1) < 0.005 and queue > 40_000,
            f"{kept.transactions_per_s:.0f} transactions/s, {queue:.0f} KB unsent after a minute",
        ),
        number("suspend.40GB", hours),
        statement("suspend.halt", halted, "no transaction commits" if halted else "transactions go on"),
    ]


def _fill_log_disk() -> tuple[float, bool]:
    """Return (hours until 40 GB are full, whether clients stop then)."""
    flow = Flow.empty()
    load = bulk_load(1e9)
    setup = setup_of(WORKLOAD1, SafetyMode.FULL, sending=False, operation=load, log_max_kb=LOG_DISK_KB)
    add_pair(flow, setup.changed(scale=0.0))
    flow.watch(0, Crossing.LOG_FULL)
    ticks, _, _ = run(flow, 24 * 3600 * TICKS_PER_S)
    flow.watch(0, Crossing(0))
    flow.update_setups({0: setup.source})
    run_s(flow, 5.0)
    before = flow.totals(0).transactions
    run_s(flow, 60.0)
    return ticks / TICKS_PER_S / 3600.0, flow.totals(0).transactions - before < 1.0
