"""Whatever happens to a row: no log is lost or invented, no connection either, nothing goes backwards."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.flow import Flow, Mode, RowSetup, run
from engine.flow import kernel as k
from engine.flow.operations import bulk_load, index_build
from engine.flow.sites import IDLE, WORKLOAD1, WORKLOAD2
from tests.engine.flow.rows import setup

POSITIONS = (k.GENERATED, k.FLUSHED, k.SENT, k.RECEIVED, k.HARDENED, k.ACKNOWLEDGED, k.REDONE, k.DURABLE)

setups = st.builds(
    setup,
    workload=st.sampled_from([IDLE, WORKLOAD1, WORKLOAD2]),
    mode=st.sampled_from([Mode.FULL, Mode.OFF]),
    scale=st.sampled_from([0.0, 0.01, 1.0, 3.0]),
    serving=st.booleans(),
    alive=st.sampled_from([True, True, False]),
    mirror_alive=st.sampled_from([True, True, False]),
    connected=st.booleans(),
    carrying=st.booleans(),
    sending=st.booleans(),
    redoing=st.booleans(),
    rtt_ms=st.sampled_from([0.0, 0.2, 37.0, 900.0]),
    jitter_ms=st.sampled_from([0.0, 5.0]),
    loss=st.sampled_from([0.0, 0.01]),
    bandwidth_mbps=st.sampled_from([0.056, 10.0, 1000.0]),
    compression_ratio=st.sampled_from([1.0, 0.9, 0.3]),
    version=st.sampled_from([2005, 2014]),
    delayed_durability=st.booleans(),
    log_max_kb=st.sampled_from([2e4, 1e9]),
    log_disk_factor=st.sampled_from([1.0, 50.0]),
    mirror_data_disk_factor=st.sampled_from([1.0, 50.0]),
    cpu_factor=st.sampled_from([1.0, 20.0]),
    operation=st.sampled_from([None, index_build(0.01), bulk_load(1e5, 100)]),
)


def check(flow: Flow, before: np.ndarray, row: int, now: RowSetup) -> None:
    s = flow.state[row]
    assert np.isfinite(s).all()
    assert (s[list(POSITIONS)] >= before[list(POSITIONS)] - 1e-9).all(), "a position went backwards"
    slack = 1e-6 + 1e-9 * s[k.GENERATED]
    assert s[k.REDONE] <= s[k.HARDENED] + slack
    assert s[k.ACKNOWLEDGED] <= s[k.HARDENED] + slack
    assert s[k.HARDENED] <= s[k.RECEIVED] + slack
    assert s[k.RECEIVED] <= s[k.SENT] + slack
    assert s[k.SENT] <= s[k.GENERATED] + slack
    assert s[k.FLUSHED] <= s[k.GENERATED] + slack
    assert s[k.DURABLE] <= s[k.GENERATED] + slack
    populations = s[[k.THINKING, k.QUEUED, k.IN_OTHER, k.ON_CPU, k.BLOCKED, k.WAITING]]
    assert (populations >= -1e-9).all()
    assert abs(populations.sum() - now.workload.connections * now.scale) < 1e-6
    assert s[k.GENERATED] <= max(before[k.GENERATED], now.log_max_kb) + slack, (
        "log beyond the limit of its file"
    )
    reading = flow.reading(row)
    assert reading.send_queue_kb >= 0.0
    assert 0.0 <= reading.principal_cpu_percent <= 100.001
    assert 0.0 <= reading.mirror_cpu_percent <= 100.001


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(setups, st.integers(1, 400)), min_size=1, max_size=6), setups)
def test_books_balance_under_any_sequence_of_circumstances(
    stages: list[tuple[RowSetup, int]], neighbour: RowSetup
) -> None:
    flow = Flow.empty()
    row = flow.add_row(stages[0][0])
    flow.add_row(neighbour)  # shares both instances and the link
    for now, ticks in stages:
        flow.setup(row, now)
        before = flow.state[row].copy()
        run(flow, ticks)
        check(flow, before, row, now)


@settings(max_examples=30, deadline=None)
@given(setups, st.integers(1, 300))
def test_every_transaction_is_in_the_log_exactly_once(now: RowSetup, ticks: int) -> None:
    now = replace(now, operation=None, workload=WORKLOAD1, serving=True, alive=True)
    flow = Flow.empty()
    flow.add_row(now)
    run(flow, ticks)
    s = flow.state[0]
    written = (s[k.TRANSACTIONS] + s[k.WAITING]) * now.workload.log_kb_per_transaction
    assert abs(written - s[k.GENERATED]) <= 1e-6 * (1.0 + written)


@settings(max_examples=30, deadline=None)
@given(setups, st.lists(st.integers(1, 60), min_size=1, max_size=8))
def test_a_run_cut_into_slices_is_the_same_run(now: RowSetup, slices: list[int]) -> None:
    whole, cut = Flow.empty(), Flow.empty()
    whole.add_row(now)
    cut.add_row(now)
    run(whole, sum(slices))
    for ticks in slices:
        run(cut, ticks)
    assert whole.digest() == cut.digest()
