"""Sources and streams as rows: they are added, removed and forked, and a run stops at their crossings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

from engine.flow import (
    COUNTERS,
    Flow,
    FlowStopCondition,
    Operation,
    SafetyMode,
    Samples,
    add_mirroring_setup,
    run_flow,
    warm_start,
)
from engine.flow import kernel as k
from tests.engine.flow.pairs import (
    W1,
    W2,
    build_flow,
    build_pair,
    change_inputs,
    get_positions,
    read_counters,
    run_seconds,
    set_positions,
)


def test_a_fork_continues_identically_and_independently() -> None:
    flow = build_flow(jitter_ms=3.0)
    fork = flow.fork()
    assert fork.compute_digest() == flow.compute_digest()
    run_seconds(flow, 3)
    assert fork.compute_digest() != flow.compute_digest()
    run_seconds(fork, 3)
    assert fork.compute_digest() == flow.compute_digest()
    change_inputs(fork, build_pair(W2))
    assert flow.get_source_setup(0).workload is W1
    assert fork.compute_digest() != flow.compute_digest()


CHANGES: Final[tuple[Callable[[Flow], object], ...]] = (
    lambda flow: flow.add_log_kb(0, 1.0),
    lambda flow: flow.set_log_reuse_kb(0, 1.0),
    lambda flow: flow.set_positions(0, generated_kb=1e6),
    lambda flow: flow.set_stream_positions(0, hardened_kb=1.0),
    lambda flow: flow.watch_source(0, FlowStopCondition.LOG_FULL),
    lambda flow: flow.watch_stream(0, FlowStopCondition.REDO_DONE),
    lambda flow: flow.start_operation(0),
    lambda flow: change_inputs(flow, build_pair(bandwidth_mbps=999.0)),
    lambda flow: change_inputs(flow, build_pair(W1, host=2)),
    lambda flow: run_flow(flow, 1),
)


def _build_busy_flow() -> Flow:
    """Return a flow with a long operation in progress."""
    flow = build_flow(operation=Operation(name="bulk", log_kb=30_000.0, rate_kb_per_s=9_000.0))
    run_seconds(flow, 1)
    return flow


@pytest.mark.parametrize("change", CHANGES)
def test_digest_and_hash_cover_everything_relevant_to_the_future(change: Callable[[Flow], object]) -> None:
    flow = _build_busy_flow()
    before, state_key = flow.compute_digest(), flow.get_state_key()
    change(flow)
    assert flow.compute_digest() != before
    assert flow.get_state_key() != state_key


@pytest.mark.parametrize("first_change", CHANGES)
@pytest.mark.parametrize("second_change", CHANGES)
def test_changing_a_fork_does_not_change_the_flow(
    first_change: Callable[[Flow], object], second_change: Callable[[Flow], object]
) -> None:
    flow = _build_busy_flow()
    before, fork = flow.compute_digest(), flow.fork()
    first_change(fork)
    second_change(fork)
    assert flow.compute_digest() == before
    digest_after = fork.compute_digest()
    second_change(fork.fork())
    assert fork.compute_digest() == digest_after


def test_a_removed_row_is_reused_without_affecting_others() -> None:
    flow, single_flow = Flow.create_empty(), Flow.create_empty()
    first = add_mirroring_setup(flow, build_pair(W1))
    second = add_mirroring_setup(flow, build_pair(W2, host=2, target_host=3))
    add_mirroring_setup(single_flow, build_pair(W2, host=2, target_host=3))
    flow.remove_source(first)
    with pytest.raises(KeyError):
        get_positions(flow, first)
    run_seconds(flow, 5)
    run_seconds(single_flow, 5)
    assert get_positions(flow, second) == get_positions(single_flow)
    assert add_mirroring_setup(flow, build_pair(W1)) == first
    assert get_positions(flow, first).generated_kb == 0.0


def test_positions_can_be_set_with_their_history() -> None:
    flow = build_flow(W1, SafetyMode.FULL, rtt_ms=200.0)
    run_seconds(flow, 5)
    end = get_positions(flow).hardened_kb
    set_positions(flow, sent_kb=end, received_kb=end, hardened_kb=end, acknowledged_kb=end, redone_kb=end)
    run_flow(flow, 5)
    log_positions = get_positions(flow)
    assert log_positions.sent_kb > end
    assert log_positions.received_kb == log_positions.hardened_kb == pytest.approx(end), (
        "nothing can arrive within half a round trip"
    )
    run_seconds(flow, 1)
    assert get_positions(flow).received_kb > end


def test_a_jump_of_positions_is_no_rate() -> None:
    flow = build_flow()
    set_positions(flow, sent_kb=0.0, received_kb=0.0, hardened_kb=0.0, redone_kb=0.0, acknowledged_kb=0.0)
    run_flow(flow, 10)
    assert 0.0 <= read_counters(flow).log_send_kb_per_s < 3000


def test_warm_start_is_the_steady_state_and_keeps_positions() -> None:
    flow = Flow.create_empty()
    add_mirroring_setup(flow, build_pair(W1))
    steady: dict[str, Any] = dict.fromkeys(
        ("generated_kb", "flushed_kb", "sent_kb", "received_kb", "hardened_kb"), 5000.0
    )
    set_positions(flow, **steady)
    set_positions(flow, redone_kb=4000.0, acknowledged_kb=5000.0, committed_kb=5000.0)
    warm_start(flow, 0, 0.25)
    log_positions = get_positions(flow)
    assert log_positions.redone_kb == pytest.approx(4000.0)
    assert 5000.0 <= log_positions.hardened_kb <= log_positions.generated_kb < 5100.0
    start = read_counters(flow)
    assert start.transactions_per_s == pytest.approx(238.6, rel=0.001)
    assert start.principal_dirty_pages == pytest.approx(34_110 * (1 - np.exp(-2588 * 15 / 34_110)), rel=0.03)
    assert start.log_since_checkpoint_kb == pytest.approx(15 * 713, rel=0.01)
    run_seconds(flow, 2)
    assert read_counters(flow).transactions_per_s == pytest.approx(start.transactions_per_s, rel=0.001)
    assert read_counters(flow).mirror_dirty_pages == pytest.approx(start.mirror_dirty_pages, rel=0.2)


def test_run_stops_only_at_an_armed_crossing() -> None:
    flow = build_flow(W1, SafetyMode.OFF)
    change_inputs(flow, build_pair(W1, SafetyMode.OFF, sending=False))
    run_seconds(flow, 60)
    change_inputs(flow, build_pair(W1, SafetyMode.OFF))
    assert not flow.is_caught_up(0)
    assert run_flow(flow, 10) == (10, [], [])
    flow.watch_stream(0, FlowStopCondition.SEND_DONE)
    ran, _, stream_crossings = run_flow(flow, 100_000)
    assert ran < 1000
    assert stream_crossings == [(0, FlowStopCondition.SEND_DONE)]
    assert flow.is_caught_up(0)
    flow.watch_stream(0, FlowStopCondition.REDO_DONE)
    ran, _, stream_crossings = run_flow(flow, 100_000)
    assert stream_crossings == [(0, FlowStopCondition.REDO_DONE)]
    assert read_counters(flow).redo_queue_kb <= k.SMALL_KB
    flow.watch_stream(0, FlowStopCondition(0))
    assert run_flow(flow, 50) == (50, [], [])


def test_samples_equal_the_readings_of_their_ticks() -> None:
    flow, twin = build_flow(), build_flow()
    samples = Samples(every=25)
    run_flow(flow, 60, samples)
    run_flow(flow, 15, samples)
    run_flow(flow, 100, samples)
    assert samples.ticks.tolist() == [25, 50, 75, 100, 125, 150, 175]
    run_flow(twin, 75)
    expected = read_counters(twin)
    tick_buffer, place_buffer = np.zeros(7, dtype=np.int64), np.zeros(7, dtype=np.int64)
    assert samples.read_entries(0, tick_buffer, place_buffer)[2].tolist() == list(vars(expected).values())
    assert samples.read_column(0, "transactions_per_s")[2] == expected.transactions_per_s
    assert samples.read_column(0, "send_queue_kb")[2] == expected.send_queue_kb
    assert tuple(vars(expected)) == COUNTERS


def test_sampling_changes_nothing() -> None:
    flow, twin = build_flow(), build_flow()
    samples = Samples(every=1)
    run_flow(flow, 500, samples)
    run_flow(twin, 500)
    assert samples.count == 500
    assert flow.compute_digest() == twin.compute_digest()
    add_mirroring_setup(flow, build_pair(W2))
    run_flow(flow, 3, samples)
    assert samples.sources.values.shape[:2] == samples.streams.values.shape[:2] == (503, 2)
    assert not samples.sources.values[:500, 1].any()


@pytest.mark.parametrize(
    "invalid_link", [{"loss": 1.0}, {"bandwidth_mbps": 0.0}, {"rtt_ms": -1.0}, {"loss": -0.1}]
)
def test_invalid_links_are_refused(invalid_link: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="invalid link"):
        add_mirroring_setup(Flow.create_empty(), build_pair(**invalid_link))


def test_inconsistent_balances_are_detected() -> None:
    flow = build_flow()
    flow.sources[0, k.THINKING] += 5.0
    with pytest.raises(AssertionError, match="does not balance"):
        run_flow(flow, 10)
