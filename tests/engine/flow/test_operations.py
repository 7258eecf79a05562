"""Long operations: index builds, rebuilds and bulk loads (figures 1 to 4 of the 2005 white paper)."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from engine.flow import Flow, FlowStopCondition, Operation, SafetyMode, run_flow
from engine.flow.setup import build_bulk_load, build_index_operation
from tests.engine.flow.pairs import (
    W1,
    build_flow,
    build_pair,
    change_inputs,
    compute_means,
    get_positions,
    read_counters,
    run_seconds,
)

IDLE_WORKLOAD = replace(W1, connections=0)


def run_operation(operation: Operation, mode: SafetyMode) -> tuple[Flow, float]:
    """Run *operation* on an otherwise idle database; return the flow and the duration in seconds."""
    flow = build_flow(IDLE_WORKLOAD, mode, warm=False, operation=operation)
    flow.watch_source(0, FlowStopCondition.OPERATION_DONE)
    ran, source_crossings, _ = run_flow(flow, 10_000_000)
    assert source_crossings == [(0, FlowStopCondition.OPERATION_DONE)]
    return flow, ran / 100


def test_an_online_rebuild_fills_the_queues_and_the_send_queue_drains_in_220_s() -> None:
    flow, duration_s = run_operation(build_index_operation(online=True), SafetyMode.OFF)
    assert duration_s == pytest.approx(1270, rel=0.01)
    queues = read_counters(flow)
    assert queues.send_queue_kb > 2e6
    assert queues.redo_queue_kb > 3e6
    flow.watch_source(0, FlowStopCondition(0))
    flow.watch_stream(0, FlowStopCondition.SEND_DONE)
    assert run_flow(flow, 100_000)[0] / 100 == pytest.approx(220, rel=0.02)
    flow.watch_stream(0, FlowStopCondition.REDO_DONE)
    assert run_flow(flow, 100_000)[0] / 100 > 300, "the redo queue takes much longer"


def test_waiting_for_the_mirror_slows_a_clustered_index_and_not_a_nonclustered_one() -> None:
    times = {
        (clustered, mode): run_operation(build_index_operation(0.1, clustered), mode)[1]
        for clustered in (True, False)
        for mode in SafetyMode
    }
    assert (
        times[True, SafetyMode.FULL] > 1.3 * times[True, SafetyMode.OFF] > 1.3 * times[True, SafetyMode.NONE]
    )
    assert times[False, SafetyMode.FULL] == pytest.approx(times[False, SafetyMode.NONE], rel=0.01)
    assert times[False, SafetyMode.NONE] < times[True, SafetyMode.NONE]


def test_small_batches_are_slowed_most() -> None:
    hours = {
        (batch, mode): run_operation(build_bulk_load(93e4, batch), mode)[1] * 100 / 3600
        for batch in (100, 1000, 1e6)
        for mode in SafetyMode
    }
    assert hours[1e6, SafetyMode.NONE] == pytest.approx(0.92, rel=0.01)
    assert hours[100, SafetyMode.NONE] == pytest.approx(0.93e6 * (3.56e-3 + 4e-3) / 3600, rel=0.02)
    penalty = {
        batch: hours[batch, SafetyMode.FULL] / hours[batch, SafetyMode.NONE] for batch in (100, 1000, 1e6)
    }
    assert penalty[100] > 5
    assert 1.5 < penalty[1000] < 3
    assert penalty[1e6] == pytest.approx(1.0, abs=0.01)


def test_an_operation_slows_clients_and_ends() -> None:
    flow = build_flow(W1, SafetyMode.FULL, version=2014)
    calm = compute_means(flow, 10).response_s
    change_inputs(flow, build_pair(W1, SafetyMode.FULL, version=2014, operation=build_index_operation(0.01)))
    busy = compute_means(flow, 10).response_s
    assert busy > 1.5 * calm
    flow.watch_source(0, FlowStopCondition.OPERATION_DONE)
    assert run_flow(flow, 100_000)[1] == [(0, FlowStopCondition.OPERATION_DONE)]
    flow.watch_source(0, FlowStopCondition(0))
    run_seconds(flow, 30)
    assert compute_means(flow, 10).response_s == pytest.approx(calm, rel=0.01)


def test_other_changes_do_not_restart_an_operation() -> None:
    flow = build_flow(IDLE_WORKLOAD, SafetyMode.OFF, warm=False, operation=build_index_operation(0.01))
    run_seconds(flow, 5)
    generated_kb = get_positions(flow).generated_kb
    change_inputs(
        flow, build_pair(IDLE_WORKLOAD, SafetyMode.OFF, operation=build_index_operation(0.01), rtt_ms=1.0)
    )
    flow.watch_source(0, FlowStopCondition.OPERATION_DONE)
    run_flow(flow, 1_000_000)
    assert generated_kb > 0
    assert get_positions(flow).generated_kb == pytest.approx(build_index_operation(0.01).log_kb)


def test_a_batch_contains_rows() -> None:
    with pytest.raises(ValueError, match="at least one row"):
        build_bulk_load(batch_rows=0)
