"""Invariants of the flow model: log and connections are conserved, and positions never decrease."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings, strategies

from engine.flow import Flow, MirroringSetup, SafetyMode, add_mirroring_setup, run_flow
from engine.flow import kernel as k
from engine.flow.setup import build_bulk_load, build_index_operation
from engine.flow.sites import IDLE, WORKLOAD1, WORKLOAD2
from tests.engine.flow.pairs import build_pair, change_inputs, get_positions, read_counters

POSITIONS = ("generated_kb", "flushed_kb", "sent_kb", "received_kb", "hardened_kb", "acknowledged_kb", "redone_kb",
             "committed_kb")  # fmt: skip

setups = strategies.builds(
    build_pair,
    workload=strategies.sampled_from([IDLE, WORKLOAD1, WORKLOAD2]),
    mode=strategies.sampled_from([SafetyMode.FULL, SafetyMode.OFF]),
    scale=strategies.sampled_from([0.0, 0.01, 1.0, 3.0]),
    serving=strategies.booleans(),
    alive=strategies.sampled_from([True, True, False]),
    target_alive=strategies.sampled_from([True, True, False]),
    connected=strategies.booleans(),
    carrying=strategies.booleans(),
    sending=strategies.booleans(),
    redoing=strategies.booleans(),
    rtt_ms=strategies.sampled_from([0.0, 0.2, 37.0, 900.0]),
    jitter_ms=strategies.sampled_from([0.0, 5.0]),
    loss=strategies.sampled_from([0.0, 0.01]),
    bandwidth_mbps=strategies.sampled_from([0.056, 10.0, 1000.0]),
    compression_ratio=strategies.sampled_from([1.0, 0.9, 0.3]),
    version=strategies.sampled_from([2005, 2014]),
    delayed_durability=strategies.booleans(),
    log_max_kb=strategies.sampled_from([2e4, 1e9]),
    log_disk_factor=strategies.sampled_from([1.0, 50.0]),
    target_data_disk_factor=strategies.sampled_from([1.0, 50.0]),
    cpu_factor=strategies.sampled_from([1.0, 20.0]),
    operation=strategies.sampled_from([None, build_index_operation(0.01), build_bulk_load(1e5, 100)]),
)


def check_invariants(flow: Flow, previous: Any, row: int, pair: MirroringSetup) -> None:
    s, t, log_positions = flow.sources[row], flow.streams[row], get_positions(flow, row)
    assert np.isfinite(s).all()
    assert np.isfinite(t).all()
    for name in POSITIONS:
        assert getattr(log_positions, name) >= getattr(previous, name) - 1e-9, f"{name} went backwards"
    slack = 1e-6 + 1e-9 * log_positions.generated_kb
    assert log_positions.redone_kb <= log_positions.hardened_kb + slack
    assert log_positions.acknowledged_kb <= log_positions.hardened_kb + slack
    assert log_positions.hardened_kb <= log_positions.received_kb + slack
    assert log_positions.received_kb <= log_positions.sent_kb + slack
    assert log_positions.sent_kb <= log_positions.generated_kb + slack
    assert log_positions.flushed_kb <= log_positions.generated_kb + slack
    assert log_positions.committed_kb <= log_positions.generated_kb + slack
    populations = s[[k.THINKING, k.QUEUED, k.IN_OTHER, k.ON_CPU, k.BLOCKED, k.WAITING]]
    assert (populations >= -1e-9).all()
    assert abs(populations.sum() - pair.source.workload.connections * pair.source.scale) < 1e-6
    assert log_positions.generated_kb <= max(previous.generated_kb, pair.source.log_max_kb) + slack, (
        "log beyond the limit of its file"
    )
    shown_reading = read_counters(flow, row)
    assert shown_reading.send_queue_kb >= 0.0
    assert 0.0 <= shown_reading.principal_cpu_percent <= 100.001
    assert 0.0 <= shown_reading.mirror_cpu_percent <= 100.001


@settings(max_examples=60, deadline=None)
@given(
    strategies.lists(strategies.tuples(setups, strategies.integers(1, 400)), min_size=1, max_size=6), setups
)
def test_balances_hold_under_any_sequence_of_changes(
    stages: list[tuple[MirroringSetup, int]], neighbor: MirroringSetup
) -> None:
    flow = Flow.create_empty()
    row = add_mirroring_setup(flow, stages[0][0])
    add_mirroring_setup(flow, neighbor)  # the neighbor shares both instances and the link
    for pair, ticks in stages:
        change_inputs(flow, pair, row)
        before = get_positions(flow, row)
        run_flow(flow, ticks)
        check_invariants(flow, before, row, pair)


@settings(max_examples=30, deadline=None)
@given(setups, strategies.integers(1, 300))
def test_every_transaction_is_in_the_log_exactly_once(pair: MirroringSetup, ticks: int) -> None:
    pair = pair.with_changes(operation=None, workload=WORKLOAD1, serving=True, alive=True)
    flow = Flow.create_empty()
    add_mirroring_setup(flow, pair)
    run_flow(flow, ticks)
    s = flow.sources[0]
    written_kb = (s[k.TRANSACTIONS] + s[k.WAITING]) * pair.source.workload.log_kb_per_transaction
    assert abs(written_kb - s[k.GENERATED]) <= 1e-6 * (1.0 + written_kb)


@settings(max_examples=30, deadline=None)
@given(setups, strategies.lists(strategies.integers(1, 60), min_size=1, max_size=8))
def test_a_run_in_slices_equals_the_run(pair: MirroringSetup, slices: list[int]) -> None:
    whole_flow, cut = Flow.create_empty(), Flow.create_empty()
    add_mirroring_setup(whole_flow, pair)
    add_mirroring_setup(cut, pair)
    run_flow(whole_flow, sum(slices))
    for ticks in slices:
        run_flow(cut, ticks)
    assert whole_flow.compute_digest() == cut.compute_digest()
