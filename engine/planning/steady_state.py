"""Steady state of the flow model: figures of a plan after all rates have become constant."""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Final

from msgspec import Struct
from msgspec.structs import fields

from engine.constants import TICKS_PER_S
from engine.flow import (
    Flow,
    MirroringSetup,
    SourcePositions,
    SourceTotals,
    StreamPositions,
    StreamTotals,
    add_mirroring_setup,
    run_flow,
)
from engine.flow.derive import compute_link_kb_per_s, compute_stream_kb_per_s, compute_window_handling_ms
from engine.flow.setup import compute_wire_ratio

SETUPS_PER_FLOW: Final = 25
"""Number of pairs of servers in one flow simulation.

Pairs are independent, and larger flow simulations take longer to create.
"""

COMPARED_INTERVAL_MIN_S: Final = 10.0
"""Minimum length of each of the two intervals whose rates are compared."""

LOSSY_MEASUREMENT_S: Final = 80.0
"""Length of the measurement on a link that loses packets.

On such a link, a pair of servers never becomes steady, so there is only one measurement.
"""

STEADY_CHANGE_MAX: Final = 1e-4
"""Maximum change, as a share, of throughput and send rate between two intervals of a steady pair."""

COMPARISONS_MAX: Final = 12
"""Maximum number of comparisons, so that no plan blocks a window."""

ENDLESS_QUEUE_KB: Final = 1e9
"""Size of a queue that does not become empty during the measurement."""


class SteadyState(Struct, frozen=True):
    """Figures of one plan in steady state. A growing queue has a growth rate instead of a size."""

    transactions_per_s: float
    response_s: float  # response time of a business transaction, measured by the clients
    commit_delay_ms: float  # time that a commit waits for the disk and, with FULL, for the mirror
    log_kb_per_s: float
    sent_kb_per_s: float  # size of the log itself, not of the bytes on the wire
    send_queue_growth_kb_per_s: float
    redo_kb_per_s: float
    redo_queue_growth_kb_per_s: float
    unhardened_kb: (
        float  # log that is committed but not hardened on the mirror, at the end of the measurement
    )
    redo_queue_kb: float  # redo queue at the end of the measurement
    link_use_percent: float  # used share of the bandwidth, including Ethernet and TCP headers
    principal_cpu_percent: float
    mirror_cpu_percent: float


STEADY_STATE_FIGURES: Final = tuple(field.name for field in fields(SteadyState))
"""Figures that a sweep can compute: the field names of SteadyState."""


@lru_cache(maxsize=64)
def compute_steady_states(
    setups: tuple[MirroringSetup, ...], endless_queue: str = ""
) -> tuple[SteadyState, ...]:
    """Run each setup until it is steady, and return its figures. Results are cached.

    *endless_queue*: "send" or "redo" gives each session a queue of this kind that never becomes empty.
    The figures then show how fast the mirror catches up. "" means that there is no endless queue.
    """
    states: list[SteadyState] = []
    for first_index in range(0, len(setups), SETUPS_PER_FLOW):
        states += _run_to_steady_state(setups[first_index : first_index + SETUPS_PER_FLOW], endless_queue)
    return tuple(states)


def _run_to_steady_state(setups: Sequence[MirroringSetup], endless_queue: str) -> list[SteadyState]:
    """Run all *setups* in one flow, each on its own servers. Return their figures when all are steady."""
    flow = Flow.create_empty()
    for number, setup in enumerate(setups):
        add_mirroring_setup(flow, setup.with_changes(host=2 * number, target_host=2 * number + 1))
    comparison_s = max(_choose_measurement_s(setup) for setup in setups)
    comparisons = 1 if any(setup.stream and setup.stream.loss for setup in setups) else COMPARISONS_MAX
    run_flow(flow, round(comparison_s * TICKS_PER_S))
    if endless_queue:
        _fill_queues(flow, endless_queue)
        run_flow(flow, round(comparison_s * TICKS_PER_S))
    earlier_states: list[SteadyState] = []
    for _ in range(comparisons):
        states = list(_measure_setups(flow, setups, comparison_s))
        if earlier_states and all(_is_steady(a, b) for a, b in zip(earlier_states, states, strict=True)):
            break
        earlier_states = states
    return states


def _choose_measurement_s(setup: MirroringSetup) -> float:
    """Return the length of one measurement in seconds.

    It is several times the longest delay of the pair: the think time, or the time of a send window on the
    link.
    """
    source, stream = setup.source, setup.stream
    if stream is None:
        return max(COMPARED_INTERVAL_MIN_S, source.workload.think_s)
    way_s = (stream.rtt_ms + compute_window_handling_ms(source.site, stream)) / 1000.0
    way_s += source.site.send_window_kb / compute_link_kb_per_s(source.site, stream.bandwidth_mbps)
    duration_min_s = LOSSY_MEASUREMENT_S if stream.loss > 0.0 else COMPARED_INTERVAL_MIN_S
    return max(duration_min_s, source.workload.think_s, 3.0 * way_s)


def _fill_queues(flow: Flow, endless_queue: str) -> None:
    """Give every session an endless send or redo queue, by adding log that has not been sent or redone yet."""
    for source in range(len(flow.source_setups)):
        _move_positions(
            flow.set_positions,
            source,
            flow.read_source_positions(source),
            ("generated_kb", "flushed_kb", "committed_kb"),
        )
        if endless_queue == "redo":
            for stream in flow.list_source_streams(source):
                positions = ("sent_kb", "received_kb", "hardened_kb", "acknowledged_kb")
                _move_positions(
                    flow.set_stream_positions, stream, flow.read_stream_positions(stream), positions
                )


def _move_positions(
    set_positions: Callable[..., None], number: int, positions: object, names: Sequence[str]
) -> None:
    set_positions(number, **{name: getattr(positions, name) + ENDLESS_QUEUE_KB for name in names})


class _SetupSample(Struct, frozen=True):
    """Totals and log positions of a pair of servers at one time."""

    source_totals: SourceTotals
    principal_positions: SourcePositions
    """Log positions of the principal."""
    stream_totals: StreamTotals
    """Totals of the log stream."""
    mirror_positions: StreamPositions
    """Log positions of the mirror."""


_NO_STREAM: Final = (StreamTotals(0.0, 0.0, 0.0, 0.0, 0.0), StreamPositions(0.0, 0.0, 0.0, 0.0, 0.0))


def _take_sample(flow: Flow, source: int) -> _SetupSample:
    streams = [
        (flow.read_stream_totals(number), flow.read_stream_positions(number))
        for number in flow.list_source_streams(source)
    ]
    return _SetupSample(
        flow.read_source_totals(source), flow.read_source_positions(source), *(streams or [_NO_STREAM])[0]
    )


def _measure_setups(flow: Flow, setups: Sequence[MirroringSetup], seconds: float) -> Iterator[SteadyState]:
    """Yield the exact mean figures of every pair over the next *seconds*."""
    before = [_take_sample(flow, source) for source in range(len(setups))]
    run_flow(flow, round(seconds * TICKS_PER_S))
    for source, sample in enumerate(before):
        yield _compute_means(setups[source], sample, _take_sample(flow, source), seconds)


def _compute_means(
    setup: MirroringSetup, start: _SetupSample, end: _SetupSample, seconds: float
) -> SteadyState:
    mirrored = setup.stream is not None
    transactions = end.source_totals.transactions - start.source_totals.transactions
    sent_kb_per_s = (end.stream_totals.sent_kb - start.stream_totals.sent_kb) / seconds
    unsent = (end.principal_positions.flushed_kb - end.mirror_positions.sent_kb) - (
        start.principal_positions.flushed_kb - start.mirror_positions.sent_kb
    )
    undone = (end.mirror_positions.hardened_kb - end.mirror_positions.redone_kb) - (
        start.mirror_positions.hardened_kb - start.mirror_positions.redone_kb
    )
    per_core = 100.0 / seconds / setup.source.site.cores
    return SteadyState(
        transactions_per_s=transactions / seconds,
        response_s=_compute_ratio(end.source_totals.inside_s - start.source_totals.inside_s, transactions)
        * setup.source.workload.transactions_per_business_transaction,
        commit_delay_ms=1000.0
        * _compute_ratio(end.source_totals.waiting_s - start.source_totals.waiting_s, transactions),
        log_kb_per_s=(end.source_totals.generated_kb - start.source_totals.generated_kb) / seconds,
        sent_kb_per_s=sent_kb_per_s,
        send_queue_growth_kb_per_s=_round_growth(unsent / seconds, sent_kb_per_s) if mirrored else 0.0,
        redo_kb_per_s=(end.stream_totals.redone_kb - start.stream_totals.redone_kb) / seconds,
        redo_queue_growth_kb_per_s=_round_growth(undone / seconds, sent_kb_per_s) if mirrored else 0.0,
        unhardened_kb=max(0.0, end.principal_positions.committed_kb - end.mirror_positions.hardened_kb),
        redo_queue_kb=end.mirror_positions.hardened_kb - end.mirror_positions.redone_kb,
        link_use_percent=_compute_link_use_percent(setup, sent_kb_per_s),
        principal_cpu_percent=(end.source_totals.core_s - start.source_totals.core_s) * per_core,
        mirror_cpu_percent=(end.stream_totals.core_s - start.stream_totals.core_s) * per_core,
    )


def _compute_ratio(total: float, count: float) -> float:
    return total / count if count > 0.0 else float("inf") if total > 0.0 else 0.0


def _round_growth(growth: float, flow: float) -> float:
    """Return the *growth* of a queue, or 0 if it is below a thousandth of the queue's throughput *flow*."""
    return growth if abs(growth) > 1e-3 * flow else 0.0


def _compute_link_use_percent(setup: MirroringSetup, sent_kb_per_s: float) -> float:
    source, stream = setup.source, setup.stream
    if stream is None:
        return 0.0
    ratio = compute_wire_ratio(stream.compression_ratio, source.version)
    return 100.0 * sent_kb_per_s * ratio / compute_link_kb_per_s(source.site, stream.bandwidth_mbps)


def _is_steady(previous: SteadyState, current: SteadyState) -> bool:
    pairs = ((getattr(previous, name), getattr(current, name)) for name in _COMPARED_FIGURES)
    return all(abs(a - b) <= STEADY_CHANGE_MAX * max(abs(a), abs(b)) for a, b in pairs)


_COMPARED_FIGURES: Final = ("transactions_per_s", "response_s", "sent_kb_per_s")


def compute_send_limit_kb_per_s(setup: MirroringSetup) -> float:
    """Return the maximum send rate of the session; 0 without a mirror.

    The limit is one send window per round trip, or the capacity of the link.
    """
    source, stream = setup.source, setup.stream
    if stream is None:
        return 0.0
    return compute_stream_kb_per_s(source.site, stream) / compute_wire_ratio(
        stream.compression_ratio, source.version
    )
