"""Functions that advance a flow in time, in compiled steps.

Results that another fork has computed are taken from the run cache. `warm_start` sets the steady state of a
source.
"""

from typing import Final

import numpy as np
from msgspec.structs import replace

from engine.constants import TICKS_PER_S
from engine.flow import compiled, kernel, rows
from engine.flow import kernel as k
from engine.flow.flow import Flow
from engine.flow.kernel import Array
from engine.flow.run_cache import MetStopConditions, RunCache
from engine.flow.samples import Samples
from engine.flow.setup import FlowStopCondition

SETTLING_TIME_S: Final = 20.0
"""Time in which a source that starts empty reaches its steady state: several response times of any workload."""

_NO_SAMPLES: Final = np.zeros((0, 0, 0))


def run_flow(
    flow: Flow, ticks: int, samples: Samples | None = None
) -> tuple[int, MetStopConditions, MetStopConditions]:
    """Advance all sources by at most *ticks* of 10 ms.

    Stop after the tick at which an armed stop condition holds. Return the number of ticks that ran, then the
    met stop conditions of sources, then those of streams. Each is a pair (number of the source or stream,
    armed conditions that hold). *samples* records the counters during the run.
    """
    if flow.memory is not None and samples is None:
        return _run_cached(flow, flow.memory, ticks)
    return _run_uncached(flow, ticks, samples)


def _run_cached(flow: Flow, memory: RunCache, ticks: int) -> tuple[int, MetStopConditions, MetStopConditions]:
    """Run like `run_flow`, but reuse results that a fork has already computed."""
    begin = flow.ticks_since_change
    known_state = memory.find_run(flow.history_id, begin, ticks)
    if known_state is not None:
        flow.ticks_since_change, cached_state = known_state
        flow.restore_arrays(cached_state.arrays)
        flow.passed = cached_state.passed
        return flow.ticks_since_change - begin, cached_state.sources, cached_state.streams
    ran, sources, streams = _run_uncached(flow, ticks, None)
    flow.ticks_since_change += ran
    memory.store_run(
        flow.history_id, begin, flow.ticks_since_change, flow.share_arrays(), sources, streams, flow.passed
    )
    return ran, sources, streams


def _run_uncached(
    flow: Flow, ticks: int, samples: Samples | None
) -> tuple[int, MetStopConditions, MetStopConditions]:
    """Run like `run_flow`, without the run cache."""
    flow.unshare_arrays()
    interval, rooms, before = 0, (_NO_SAMPLES, _NO_SAMPLES), int(flow.clock[k.TICKS])
    if samples is not None:
        interval = samples.every
        rooms = samples.reserve_entries(
            ticks // interval + 1, len(flow.source_setups), len(flow.stream_setups)
        )
    current_arrays = collect_arrays(flow)
    ran = compiled.advance(*current_arrays, *rooms, flow.clock, ticks, interval, flow.step_s)
    flow.passed = bool(current_arrays.counters[k.PASSED])
    assert ran >= 0, _describe_imbalance(flow, -1 - ran)
    if samples is not None:
        samples.record_entries(before, before + ran)
    if not current_arrays.counters[k.HELD]:
        return ran, [], []
    held_levels = np.zeros((2, max(len(flow.sources), len(flow.streams))), dtype=np.int64)
    compiled.note_crossings(
        flow.sources,
        flow.source_params,
        flow.streams,
        flow.stream_params,
        flow.place,
        held_levels[0],
        held_levels[1],
    )
    return ran, _decode_stop_conditions(held_levels[0]), _decode_stop_conditions(held_levels[1])


def _decode_stop_conditions(held_bits: Array) -> MetStopConditions:
    return [
        (number, FlowStopCondition(int(held_bits[number]))) for number in np.flatnonzero(held_bits).tolist()
    ]


def _describe_imbalance(flow: Flow, number: int) -> str:
    sources = len(flow.source_setups)
    if number < sources:
        return f"source {number} of the flow does not balance: {flow.sources[number].tolist()}"
    return (
        f"stream {number - sources} of the flow does not balance: {flow.streams[number - sources].tolist()}"
    )


def collect_arrays(flow: Flow) -> kernel.Arrays:
    """Return the arrays that the compiled step uses."""
    if flow.scratch is None:
        sources, streams = len(flow.sources), len(flow.streams)
        flow.scratch = (
            np.zeros((k.SOURCE_WORK, sources)),
            np.zeros((k.STREAM_WORK, streams)),
            np.zeros((k.PLACES, sources + 1), dtype=np.uint64),
            np.zeros((k.PLACES, streams + 1), dtype=np.uint64),
            np.zeros(k.HELD + 1),
        )
    return kernel.Arrays(
        flow.sources,
        flow.source_params,
        flow.streams,
        flow.stream_params,
        flow.host_of,
        flow.place,
        flow.hosts,
        flow.links,
        flow.history,
        flow.level_rows,
        *flow.scratch,
    )


def warm_start(flow: Flow, source: int, checkpoint_phase: float = 0.5) -> None:
    """Set a source and its streams to the steady state of their setups: connections, pages and queues.

    No position decreases. The log in transit and in queues grows to its steady-state amount, counted from the
    redone log. A long operation is ignored. *checkpoint_phase* in [0, 1) is the elapsed share of the
    checkpoint interval.
    """
    setup, streams = flow.get_source_setup(source), flow.list_source_streams(source)
    idle_flow = Flow.create_empty(flow.steps_per_tick)
    idle_flow.add_source(replace(setup, operation=None, log_size_kb=1e12, log_max_kb=1e12, host=0))
    for index, stream in enumerate(streams):
        idle_flow.add_stream(0, replace(flow.get_stream_setup(stream), target_host=1 + index))
    run_flow(idle_flow, round(SETTLING_TIME_S * TICKS_PER_S))
    rows.set_dirty_pages(idle_flow.sources[0], setup, checkpoint_phase)
    for index, stream in enumerate(streams):
        if flow.get_stream_setup(stream).log_pool:
            idle_flow.streams[index, k.TARGET_DIRTY] = idle_flow.sources[0, k.DIRTY]
    flow.adopt_steady_state(source, idle_flow, checkpoint_phase)


def load_compiled_step() -> None:
    """Load the compiled step, which takes a millisecond if a library exists.

    Call this in a background thread, so that no window waits while a compiler builds a missing library.
    """
    compiled.load_kernel()
