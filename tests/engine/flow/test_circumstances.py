"""Effects of suspended, disconnected, stalled, full and delayed log streams on clients and log."""

from __future__ import annotations

import pytest

from engine.flow import FlowStopCondition, SafetyMode, compute_total_commit_delay_ms, run_flow
from tests.engine.flow.pairs import (
    W1,
    W2,
    build_flow,
    build_pair,
    change_inputs,
    compute_means,
    get_positions,
    get_totals,
    read_counters,
    run_seconds,
)


@pytest.mark.parametrize("changes", [{"sending": False}, {"connected": False, "carrying": False}])
def test_a_suspended_or_disconnected_session_delays_no_commit_and_keeps_log(changes: dict[str, bool]) -> None:
    flow = build_flow(W1, SafetyMode.FULL)
    change_inputs(flow, build_pair(W1, SafetyMode.FULL, **changes))
    run_seconds(flow, 2)
    before = get_positions(flow)
    rates = compute_means(flow, 60)
    positions_after = get_positions(flow)
    assert rates.transactions_per_s == pytest.approx(241, rel=0.001)
    assert positions_after.sent_kb == before.sent_kb
    assert positions_after.hardened_kb == before.hardened_kb
    assert read_counters(flow).send_queue_kb == pytest.approx(
        positions_after.flushed_kb - positions_after.sent_kb
    )
    assert positions_after.flushed_kb - before.flushed_kb == pytest.approx(60 * 720, rel=0.002)


def test_the_delay_of_stalled_commits_is_the_age_of_the_oldest() -> None:
    """Earlier, the delay was the mean wait divided by the commit rate. It grew to years, or was 0 below a
    rate limit.
    """
    flow = build_flow(W1, SafetyMode.FULL)
    change_inputs(flow, build_pair(W1, SafetyMode.FULL, carrying=False))
    for seconds in (5, 25, 570):
        run_seconds(flow, seconds)
        reading_now, age_s = read_counters(flow), get_positions(flow)
        assert reading_now.commit_delay_ms == pytest.approx(1000.0 * reading_now.response_s)
        assert age_s.committed_kb < age_s.generated_kb
    assert reading_now.response_s == pytest.approx(600, abs=0.5)
    waiting = compute_total_commit_delay_ms(
        reading_now.commit_delay_ms, reading_now.transactions_per_s, reading_now.in_flight_transactions
    )
    assert waiting == pytest.approx(1000.0 * W1.connections, rel=0.001)
    change_inputs(flow, build_pair(W1, SafetyMode.FULL, connected=False, carrying=False))
    run_seconds(flow, 20)
    assert read_counters(flow).commit_delay_ms == 0.0
    assert read_counters(flow).response_s < 1.0


def test_a_stalled_link_delays_commits_until_the_timeout() -> None:
    flow = build_flow(W1, SafetyMode.FULL)
    change_inputs(flow, build_pair(W1, SafetyMode.FULL, carrying=False))
    run_seconds(flow, 1)
    committed = get_positions(flow).committed_kb
    run_seconds(flow, 8)
    stalled = get_positions(flow)
    assert stalled.committed_kb == committed
    assert stalled.generated_kb - stalled.acknowledged_kb == pytest.approx(480.0, abs=1.0), "2005 limit"
    change_inputs(flow, build_pair(W1, SafetyMode.FULL, connected=False, carrying=False))
    run_seconds(flow, 20)
    assert read_counters(flow).transactions_per_s == pytest.approx(241, rel=0.02)


def test_a_short_stall_loses_nothing() -> None:
    flow = build_flow(W1, SafetyMode.FULL)
    sent_kb = get_positions(flow).sent_kb
    change_inputs(flow, build_pair(W1, SafetyMode.FULL, carrying=False))
    run_seconds(flow, 3)
    change_inputs(flow, build_pair(W1, SafetyMode.FULL))
    run_seconds(flow, 30)
    assert get_positions(flow).hardened_kb > sent_kb + 20 * 700
    assert read_counters(flow).transactions_per_s == pytest.approx(238.6, rel=0.01)


def test_a_full_log_halts_the_database_until_space_is_free() -> None:
    flow = build_flow(W1, SafetyMode.NONE)
    limit = get_positions(flow).generated_kb + 7200.0
    change_inputs(flow, build_pair(W1, SafetyMode.NONE, log_size_kb=100.0, log_max_kb=limit))
    flow.watch_source(0, FlowStopCondition.LOG_FULL)
    ran, source_crossings, _ = run_flow(flow, 10_000)
    assert source_crossings == [(0, FlowStopCondition.LOG_FULL)]
    assert ran == pytest.approx(1000, rel=0.01), "720 KB/s fill 7,200 KB in 10 s"
    flow.watch_source(0, FlowStopCondition(0))
    before = get_totals(flow).transactions
    run_seconds(flow, 10)
    assert get_totals(flow).transactions - before < 5
    assert read_counters(flow).log_used_kb == pytest.approx(limit)
    assert read_counters(flow).log_size_kb == pytest.approx(limit)
    flow.set_log_reuse_kb(0, get_positions(flow).flushed_kb)
    run_seconds(flow, 5)
    assert get_totals(flow).transactions - before > 1000


def test_a_log_file_grows_with_the_retained_log() -> None:
    flow = build_flow(W1, SafetyMode.NONE, log_size_kb=1000.0)
    start = get_positions(flow).generated_kb
    flow.set_log_reuse_kb(0, start)
    sizes = []
    for _ in range(5):
        run_seconds(flow, 2)
        shown_reading = read_counters(flow)
        assert shown_reading.log_size_kb >= shown_reading.log_used_kb
        sizes.append(shown_reading.log_size_kb)
    assert sizes[-1] == pytest.approx(7200, rel=0.2)
    flow.set_log_reuse_kb(0, get_positions(flow).generated_kb)
    run_seconds(flow, 1)
    assert read_counters(flow).log_size_kb == sizes[-1], "a log file does not shrink by itself"


def test_a_dead_principal_stands_still_while_its_mirror_finishes_redo() -> None:
    flow = build_flow(W1, SafetyMode.FULL, redoing=False)
    run_seconds(flow, 20)
    change_inputs(flow, build_pair(W1, SafetyMode.FULL, alive=False, serving=False, carrying=False))
    before = get_positions(flow)
    assert before.hardened_kb - before.redone_kb > 10_000
    flow.watch_stream(0, FlowStopCondition.REDO_DONE)
    ran, _, stream_crossings = run_flow(flow, 10_000)
    positions_after = get_positions(flow)
    assert stream_crossings == [(0, FlowStopCondition.REDO_DONE)]
    queue = before.hardened_kb - before.redone_kb
    assert ran / 100 == pytest.approx(queue / 9265, rel=0.02), "two threads at 9.3 MB/s"
    assert positions_after.generated_kb == before.generated_kb
    assert positions_after.flushed_kb == before.flushed_kb


def test_a_dead_mirror_keeps_its_log() -> None:
    flow = build_flow(W1, SafetyMode.FULL)
    change_inputs(flow, build_pair(W1, SafetyMode.FULL, target_alive=False, carrying=False))
    before = get_positions(flow)
    run_seconds(flow, 1)
    positions_after = get_positions(flow)
    assert (positions_after.hardened_kb, positions_after.redone_kb) == (before.hardened_kb, before.redone_kb)


def test_standard_edition_redoes_with_one_thread() -> None:
    rates = []
    for enterprise in (True, False):
        flow = build_flow(W1, SafetyMode.OFF, redoing=False)
        run_seconds(flow, 60)
        change_inputs(flow, build_pair(W1, SafetyMode.OFF, enterprise=enterprise))
        rates.append(compute_means(flow, 3).redo_kb_per_s)
    assert rates[0] == pytest.approx(2 * rates[1], rel=0.01)


def test_delayed_durability_confirms_early_and_writes_full_blocks() -> None:
    flow = build_flow(W1, SafetyMode.FULL, warm=False, version=2014, delayed_durability=True, scale=0.02)
    max_unflushed_kb = 0.0
    for _ in range(3000):
        run_flow(flow, 1)
        log_positions = get_positions(flow)
        assert log_positions.committed_kb == log_positions.generated_kb
        max_unflushed_kb = max(max_unflushed_kb, log_positions.generated_kb - log_positions.flushed_kb)
    assert 50.0 < max_unflushed_kb < 62.0, "a block of 60 KB waits until it is full"
    assert read_counters(flow).response_s < 0.13
    assert read_counters(flow).commit_delay_ms > 1000, "half of the 4 s in which 14 KB/s fill a block"
    older = build_flow(W1, SafetyMode.FULL, version=2012, delayed_durability=True)
    run_seconds(older, 5)
    assert older.read_source_positions(0).committed_kb < older.read_source_positions(0).generated_kb


def test_delayed_commits_cannot_outrun_a_distant_mirror() -> None:
    flow = build_flow(W2, SafetyMode.FULL, version=2014, delayed_durability=True, rtt_ms=100.0)
    rates = compute_means(flow, 60)
    assert rates.log_kb_per_s == pytest.approx(64 / 0.105, rel=0.02), "one window each round trip"
    log_positions = get_positions(flow)
    assert log_positions.generated_kb - log_positions.acknowledged_kb <= 3840.0 + 1.0


def test_slow_disks_and_a_busy_cpu_slow_the_dependent_figures() -> None:
    log = compute_means(build_flow(W2, SafetyMode.NONE, log_disk_factor=4.0))
    assert 0.9 * 60 / 0.016 < log.log_kb_per_s < 60 / 0.016, "the log device is the limit"
    remote = compute_means(build_flow(W2, SafetyMode.FULL, target_log_disk_factor=4.0))
    assert 0.9 * 60 / 0.016 < remote.log_kb_per_s <= 60 / 0.016 + 1e-6
    pages = compute_means(build_flow(W1, SafetyMode.FULL, target_data_disk_factor=8.0))
    assert pages.mirror_writes_kb_per_s == pytest.approx(8 * 4800 / 8, rel=0.02)
    busy = compute_means(build_flow(W1, SafetyMode.NONE, cpu_factor=30.0))
    assert busy.transactions_per_s == pytest.approx(8 / (30 * 1.328e-3), rel=0.02), (
        "eight cores are the limit"
    )
    assert busy.cpu_percent == pytest.approx(100, rel=0.01)
