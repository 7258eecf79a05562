"""Resources that databases of an instance share: cores, worker threads, log and data disks, and the link."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from engine.flow import (
    Flow,
    SafetyMode,
    Workload,
    add_mirroring_setup,
    compute_redo_threads,
    compute_worker_threads,
    run_flow,
    warm_start,
)
from engine.flow import kernel as k
from engine.flow.places import count_group_threads, count_mirroring_threads
from engine.flow.sites import NEC
from tests.engine.flow.pairs import (
    W1,
    W2,
    build_pair,
    change_inputs,
    compute_means,
    get_totals,
    read_counters,
    run_seconds,
)


def build_equal_sources(count: int, workload: Workload, mode: SafetyMode, **changes: Any) -> Flow:
    flow = Flow.create_empty()
    for _ in range(count):
        add_mirroring_setup(flow, build_pair(workload, mode, **changes))
    run_seconds(flow, 20)
    return flow


def measure_total_tps(flow: Flow, seconds: float = 20.0) -> float:
    rows = range(len(flow.source_setups))
    before = [get_totals(flow, row).transactions for row in rows]
    run_seconds(flow, seconds)
    return (
        sum(
            get_totals(flow, row).transactions - transactions_before
            for row, transactions_before in zip(rows, before, strict=True)
        )
        / seconds
    )


def test_threads_are_counted_as_documented() -> None:
    twenty = build_equal_sources(20, W1, SafetyMode.FULL)
    assert count_mirroring_threads(twenty.source_setups, twenty.stream_setups) == {0: 41, 1: 101}
    assert count_group_threads(twenty.source_setups, twenty.stream_setups) == {}
    assert compute_redo_threads(8) == 2
    assert compute_redo_threads(8, enterprise=False) == 1
    assert compute_worker_threads(8) == 576
    assert compute_worker_threads(2) == 512


def test_databases_of_an_instance_share_its_cores() -> None:
    single_tps = measure_total_tps(build_equal_sources(1, W2, SafetyMode.NONE))
    three = measure_total_tps(build_equal_sources(3, W2, SafetyMode.NONE))
    assert three == pytest.approx(8 / 14.73e-3, rel=0.02), "eight cores, 14.73 ms each"
    assert three < 2.6 * single_tps


def test_worker_threads_limit_concurrent_requests() -> None:
    site = replace(NEC, worker_threads=60)
    flow = build_equal_sources(4, W1, SafetyMode.NONE, site=site)
    shared_tps = measure_total_tps(flow)
    assert shared_tps == pytest.approx(60 / 0.13, rel=0.03)
    assert read_counters(flow).response_s > 1.0, "the others wait for a thread"


def test_a_link_is_shared_fairly_and_small_senders_are_satisfied() -> None:
    flow = Flow.create_empty()
    small = add_mirroring_setup(flow, build_pair(W1, SafetyMode.OFF, bandwidth_mbps=50.0))
    big = [add_mirroring_setup(flow, build_pair(W2, SafetyMode.OFF, bandwidth_mbps=50.0)) for _ in range(2)]
    run_seconds(flow, 20)
    before = {row: get_totals(flow, row).sent_kb for row in (small, *big)}
    run_seconds(flow, 20)
    rate = {row: (get_totals(flow, row).sent_kb - before[row]) / 20 for row in before}
    capacity = 50 * 122.07 * 0.949
    assert rate[small] == pytest.approx(720, rel=0.01)
    assert rate[big[0]] == pytest.approx((capacity - 720) / 2, rel=0.01)
    assert rate[big[0]] == pytest.approx(rate[big[1]], rel=1e-6)
    assert sum(rate.values()) <= capacity * 1.001


def test_links_to_different_mirrors_are_independent() -> None:
    flow = Flow.create_empty()
    for mirror_host in (1, 2):
        add_mirroring_setup(
            flow, build_pair(W2, SafetyMode.OFF, bandwidth_mbps=50.0, target_host=mirror_host)
        )
    run_seconds(flow, 10)
    assert compute_means(flow, 10).sent_kb_per_s == pytest.approx(50 * 122.07 * 0.949, rel=0.01)


def test_log_files_on_one_device_slow_each_other_beyond_the_streams_of_the_device() -> None:
    load = replace(W2, cpu_ms=0.1, connections=40)
    site = replace(NEC, cores=64, log_streams=2.0)
    single_tps = measure_total_tps(build_equal_sources(1, load, SafetyMode.NONE, site=site))
    six = measure_total_tps(build_equal_sources(6, load, SafetyMode.NONE, site=site))
    assert six < 3 * single_tps
    assert 0.9 * 2 * 15_000 / 55.7 < six <= 2 * 15_000 / 55.7


def test_checkpoints_of_many_databases_share_the_data_disk() -> None:
    flow = build_equal_sources(5, W1, SafetyMode.NONE)
    for row in range(5):
        warm_start(flow, row, 0.999)
    before = [get_totals(flow, row).pages_written for row in range(5)]
    run_seconds(flow, 2.06)
    pages = sum(get_totals(flow, row).pages_written - pages_before for row, pages_before in enumerate(before))
    assert pages == pytest.approx(2 * NEC.checkpoint_pages_per_s, rel=0.03)


def test_one_communications_thread_shares_wake_ups_and_rotates() -> None:
    site = replace(NEC, wake_up_us=100.0)
    plain_sources, shared = (
        build_equal_sources(10, W1, SafetyMode.FULL),
        build_equal_sources(10, W1, SafetyMode.FULL, site=site),
    )
    run_flow(plain_sources, 1)
    run_flow(shared, 1)
    assert shared.streams[0, k.TARGET_CPU] < 0.95 * plain_sources.streams[0, k.TARGET_CPU]
    slower = read_counters(shared).response_s - read_counters(plain_sources).response_s
    assert slower == pytest.approx(2 * 10 * 100e-6, rel=0.2), "ten sessions, both ways"


def test_redo_of_many_databases_uses_at_most_all_cores() -> None:
    flow = build_equal_sources(6, W1, SafetyMode.OFF, redoing=False)
    for row in range(6):
        change_inputs(flow, build_pair(W1, SafetyMode.OFF), row)
    before = get_totals(flow).mirror_core_s
    redone = [get_totals(flow, row).redone_kb for row in range(6)]
    run_seconds(flow, 1)
    assert get_totals(flow).mirror_core_s - before == pytest.approx(8.0, rel=0.02)
    rate = sum(get_totals(flow, row).redone_kb - redone_before for row, redone_before in enumerate(redone))
    assert rate < 6 * 9265, "twelve redo threads on eight cores"
    assert rate > 0.6 * 8 * 4632
