"""Sweeps of one quantity: they equal single runs of the flow model and agree with figures 8 to 15 of the 2005
white paper.
"""

from __future__ import annotations

from time import process_time

import numpy as np
import pytest

from engine.flow import SafetyMode, Workload
from engine.flow.sites import WORKLOAD1, WORKLOAD2
from engine.planning import (
    PAPER_STATEMENTS,
    STEADY_STATE_FIGURES,
    MirroringPlan,
    Sweep,
    build_custom_workload,
    classify_network,
    find_paper_statements,
    sweep_bandwidth,
    sweep_rtt,
    sweep_values,
)
from engine.planning.plan import build_plan_setup
from engine.planning.steady_state import compute_steady_states
from engine.planning.sweep import find_last_acceptable
from tests.engine.flow.pairs import build_flow, compute_means, get_positions

NONE, FULL, OFF = SafetyMode.NONE, SafetyMode.FULL, SafetyMode.OFF
W1, W2 = WORKLOAD1, WORKLOAD2


@pytest.mark.parametrize("workload", [W1, W2])
@pytest.mark.parametrize("mode", [FULL, OFF])
def test_a_point_equals_a_single_run_of_the_flow_model(workload: Workload, mode: SafetyMode) -> None:
    curve = sweep_rtt(MirroringPlan(workload=workload, safety=mode), (0.2, 5.0, 100.0))
    for rtt_ms, point in zip(curve.x, curve.points, strict=True):
        flow = build_flow(workload, mode, rtt_ms=rtt_ms)
        before = get_positions(flow)
        single_rates = compute_means(flow, 60)
        log_positions = get_positions(flow)
        grown = (log_positions.flushed_kb - log_positions.sent_kb) - (before.flushed_kb - before.sent_kb)
        business = workload.transactions_per_business_transaction
        assert point.transactions_per_s == pytest.approx(single_rates.transactions_per_s, rel=2e-3)
        assert point.response_s == pytest.approx(single_rates.response_s * business, rel=5e-3)
        assert point.sent_kb_per_s == pytest.approx(single_rates.sent_kb_per_s, rel=2e-3)
        assert point.send_queue_growth_kb_per_s == pytest.approx(grown / 60, rel=5e-3, abs=1.0)
        assert point.principal_cpu_percent == pytest.approx(single_rates.cpu_percent, rel=0.02)
        assert point.mirror_cpu_percent == pytest.approx(single_rates.mirror_cpu_percent, rel=0.02)


def get_column(curve: Sweep, name: str) -> list[float]:
    return [float(value) for value in curve.read_column(name)]


def test_workload1_in_full_tolerates_20_ms_and_slows_beyond() -> None:
    near_tps, at20, at100, at200 = get_column(
        sweep_rtt(MirroringPlan(safety=FULL), (0.2, 20.0, 100.0, 200.0)), "transactions_per_s"
    )
    assert at20 > 0.99 * near_tps
    assert at100 < 0.9 * near_tps
    assert at200 < 0.5 * near_tps


def test_workload2_in_full_slows_with_every_millisecond() -> None:
    curve = sweep_rtt(MirroringPlan(workload=W2, safety=FULL), (0.2, 2.0, 10.0, 50.0, 100.0))
    for name in ("transactions_per_s", "principal_cpu_percent"):
        assert np.all(np.diff(curve.read_column(name)) < 0.0)


@pytest.mark.parametrize(
    ("workload", "good_ms", "bad_ms"), [(W1, (0.2, 50.0), (100.0, 200.0)), (W2, (0.2,), (2.0, 100.0))]
)
def test_with_off_no_commit_waits_but_the_send_queue_grows(
    workload: Workload, good_ms: tuple[float, ...], bad_ms: tuple[float, ...]
) -> None:
    curve = sweep_rtt(MirroringPlan(workload=workload, safety=OFF), good_ms + bad_ms)
    growth = get_column(curve, "send_queue_growth_kb_per_s")
    assert growth[: len(good_ms)] == [0.0] * len(good_ms)
    assert all(value > 50.0 for value in growth[len(good_ms) :])
    assert np.ptp(curve.read_column("transactions_per_s")) < 0.01


def test_workload1_needs_more_bandwidth_than_it_writes_log() -> None:
    full_sweep = sweep_bandwidth(MirroringPlan(safety=FULL), (1000.0, 10.0, 5.0, 1.0))
    tps = get_column(full_sweep, "transactions_per_s")
    assert tps[1] > 0.995 * tps[0]
    assert tps[2] < 0.85 * tps[0]
    assert tps[3] < 0.2 * tps[0]
    assert full_sweep.points[3].link_use_percent == pytest.approx(100.0, abs=0.5)
    off_sweep = sweep_bandwidth(MirroringPlan(safety=OFF), (1000.0, 10.0, 1.0, 0.056))
    assert np.ptp(off_sweep.read_column("transactions_per_s")) < 0.05
    assert off_sweep.read_column("send_queue_growth_kb_per_s")[2] == pytest.approx(604, rel=0.01)


def test_compression_carries_more_over_a_thin_link_from_2008_on() -> None:
    raw, small, old = (
        sweep_bandwidth(
            MirroringPlan(bandwidth_mbps=2.0, compression_ratio=ratio, version=version), (2.0,)
        ).points[0]
        for ratio, version in ((1.0, 2008), (0.5, 2008), (0.5, 2005))
    )
    assert small.transactions_per_s == pytest.approx(2.0 * raw.transactions_per_s, rel=0.01)
    assert small.principal_cpu_percent > raw.principal_cpu_percent
    assert old.transactions_per_s == pytest.approx(raw.transactions_per_s, rel=1e-3)


def test_a_lossy_link_carries_less() -> None:
    losses = sweep_values(MirroringPlan(workload=W2, safety=OFF, rtt_ms=20.0), "loss", (0.0, 0.001, 0.01))
    assert np.all(np.diff(losses.read_column("sent_kb_per_s")) < 0.0)


def test_without_mirroring_every_link_gives_the_same() -> None:
    curve = sweep_rtt(MirroringPlan(), (0.2, 200.0), NONE)
    assert curve.points[0] is curve.points[1]
    assert curve.points[0].transactions_per_s == pytest.approx(241, rel=1e-3)
    assert curve.points[0].link_use_percent == 0.0


def test_twenty_points_take_far_less_than_a_second() -> None:
    sweep_rtt(MirroringPlan(), (1.0,))  # compile the code before the measurement
    for workload in (W1, W2):
        before = process_time()
        sweep_rtt(MirroringPlan(workload=workload, scale=0.97), np.geomspace(0.1, 200.0, 20).tolist())
        assert process_time() - before < 0.5


def test_rows_are_independent_and_repeatable() -> None:
    setups = tuple(build_plan_setup(MirroringPlan(workload=W2, rtt_ms=rtt)) for rtt in (0.2, 3.0, 150.0))
    first_rates, second_rates = compute_steady_states(setups), compute_steady_states(setups)
    assert first_rates is second_rates
    for setup, rates in zip(setups, first_rates, strict=True):
        (single_rates,) = compute_steady_states((setup,))
        assert [getattr(rates, name) for name in STEADY_STATE_FIGURES] == pytest.approx(
            [getattr(single_rates, name) for name in STEADY_STATE_FIGURES], rel=3e-3, abs=0.1
        )


def test_the_limit_of_full_is_located_precisely() -> None:
    plan = MirroringPlan(workload=W2)
    (near_point,) = sweep_rtt(plan, (0.2,)).points

    limit_ms = find_last_acceptable(
        plan,
        "rtt_ms",
        np.geomspace(0.1, 200.0, 12).tolist(),
        FULL,
        lambda point: point.transactions_per_s > 0.5 * near_point.transactions_per_s,
    )
    assert limit_ms is not None
    half_point, lower_point = sweep_rtt(plan, (limit_ms, limit_ms * 1.15)).points
    assert (
        half_point.transactions_per_s > 0.5 * near_point.transactions_per_s > lower_point.transactions_per_s
    )
    assert find_last_acceptable(plan, "rtt_ms", (1.0, 2.0), FULL, lambda point: False) is None
    assert find_last_acceptable(plan, "rtt_ms", (1.0, 2.0), FULL, lambda point: True) == 2.0


@pytest.mark.parametrize(
    ("rtt_ms", "kind"), [(0.0, "LAN"), (1.9, "LAN"), (2.0, "MAN"), (20.0, "WAN"), (900, "WAN")]
)
def test_kinds_of_network_are_named(rtt_ms: float, kind: str) -> None:
    assert classify_network(rtt_ms) == kind


def test_statements_belong_to_one_curve() -> None:
    assert [statement.figure for statement in find_paper_statements(W1, FULL, "rtt_ms")] == ["Figure 8"]
    custom_workload = build_custom_workload(10, 0.0, 1.0, 20.0)
    assert find_paper_statements(custom_workload, FULL, "rtt_ms") == []
    assert {statement.workload for statement in PAPER_STATEMENTS} == {W1.name, W2.name}


@pytest.mark.parametrize(
    ("connections", "think_s", "log_kb", "tps"),
    [(200, 1.0, 8.0, 150), (1000, 4.0, 3.0, 241), (20, 0.0, 55, 200)],
)
def test_custom_figures_give_the_requested_rate(
    connections: float, think_s: float, log_kb: float, tps: float
) -> None:
    workload = build_custom_workload(connections, think_s, log_kb, tps)
    (rates,) = compute_steady_states((build_plan_setup(MirroringPlan(workload=workload), NONE),))
    assert rates.transactions_per_s == pytest.approx(tps, rel=2e-3)
    assert rates.log_kb_per_s == pytest.approx(tps * log_kb, rel=2e-3)


def test_impossible_custom_figures_are_refused_with_the_maximum() -> None:
    with pytest.raises(ValueError, match=r"at most 4\.99 transactions/s"):
        build_custom_workload(20, 4.0, 3.0, 241)
    with pytest.raises(ValueError, match="above 0"):
        build_custom_workload(20, 0.0, 0.0, 10)
