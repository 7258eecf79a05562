"""Links between partners: compression, jitter, packet loss, long delay and low bandwidth."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from engine.flow import SafetyMode, run_flow
from engine.flow.setup import compute_wire_ratio, should_try_compression
from engine.flow.sites import NEC
from tests.engine.flow.pairs import (
    W1,
    W2,
    build_flow,
    build_pair,
    change_inputs,
    compute_means,
    get_positions,
    run_seconds,
)


@pytest.mark.parametrize(
    ("ratio", "version", "on_the_wire"),
    [(0.27, 2008, 0.27), (0.875, 2008, 0.875), (0.88, 2008, 1.0), (0.27, 2005, 1.0), (1.0, 2014, 1.0)],
)
def test_savings_below_an_eighth_are_not_used(ratio: float, version: int, on_the_wire: float) -> None:
    assert compute_wire_ratio(ratio, version) == on_the_wire


def test_trying_to_compress_costs_cpu_even_without_savings() -> None:
    assert should_try_compression(0.95, 2008)
    raw, tried = (
        compute_means(build_flow(W2, SafetyMode.FULL, version=2008, compression_ratio=r)) for r in (1.0, 0.95)
    )
    assert tried.cpu_percent > raw.cpu_percent + 1.0
    assert tried.mirror_cpu_percent == pytest.approx(raw.mirror_cpu_percent, rel=0.01)


def test_compression_carries_more_log_over_a_thin_link() -> None:
    raw, packed = (
        compute_means(build_flow(W2, SafetyMode.FULL, version=2008, bandwidth_mbps=20.0, compression_ratio=r))
        for r in (1.0, 0.27)
    )
    assert packed.log_kb_per_s == pytest.approx(raw.log_kb_per_s / 0.27, rel=0.05)
    assert raw.log_kb_per_s == pytest.approx(20 * 122.07 * 0.949, rel=0.01), "the link is the limit"


def test_jitter_keeps_the_mean_and_varies_the_counters() -> None:
    calm, restless = (
        build_flow(W1, SafetyMode.FULL, rtt_ms=40.0),
        build_flow(W1, SafetyMode.FULL, rtt_ms=40.0, jitter_ms=10.0),
    )
    responses_s = set()
    for _ in range(30):
        run_flow(restless, 100)
        responses_s.add(round(restless.read_source(0).response_s, 6))
    assert len(responses_s) > 20
    assert compute_means(restless, 120).transactions_per_s == pytest.approx(
        compute_means(calm, 120).transactions_per_s, rel=0.01
    )


def test_lost_packets_stall_the_stream_increasingly() -> None:
    answers = [
        compute_means(build_flow(W1, SafetyMode.FULL, rtt_ms=20.0, loss=loss), 300).response_s
        for loss in (0, 0.002, 0.02)
    ]
    assert answers[0] < answers[1] < answers[2]
    assert answers[2] > answers[0] + 0.01


def test_loss_limits_a_link_with_high_bandwidth_and_latency() -> None:
    flow = build_flow(W2, SafetyMode.OFF, rtt_ms=50.0, loss=0.01)
    rates = compute_means(flow, 120)
    window = 1.46 * 1.22 / 0.01**0.5
    assert rates.sent_kb_per_s <= window / 0.055 * 1.01
    assert rates.sent_kb_per_s > 0.3 * window / 0.055


def test_the_window_in_full_mode_is_optional() -> None:
    windowless_site = replace(NEC, window_in_full=False)
    near_tps, far_tps = (
        compute_means(build_flow(W2, SafetyMode.FULL, site=windowless_site, rtt_ms=rtt)).transactions_per_s
        for rtt in (10.0, 100.0)
    )
    assert near_tps == pytest.approx(142, rel=0.02)
    assert far_tps == pytest.approx(57, rel=0.02)
    assert near_tps > 1.8 * compute_means(build_flow(W2, SafetyMode.FULL, rtt_ms=10.0)).transactions_per_s


def test_a_very_thin_link_is_slow_but_stable() -> None:
    flow = build_flow(W1, SafetyMode.OFF, bandwidth_mbps=0.056)
    assert compute_means(flow, 60).sent_kb_per_s == pytest.approx(0.056 * 122.07 * 0.949, rel=0.01)


def test_increasing_the_latency_keeps_the_history() -> None:
    flow = build_flow(W1, SafetyMode.FULL)
    before = get_positions(flow)
    change_inputs(flow, build_pair(W1, SafetyMode.FULL, rtt_ms=3000.0))
    assert flow.history.shape[2] >= 256
    run_seconds(flow, 1)
    positions_after = get_positions(flow)
    assert positions_after.received_kb >= before.received_kb
    assert positions_after.received_kb == pytest.approx(before.sent_kb, abs=5.0), (
        "what was sent at 0.2 ms has arrived"
    )
    run_seconds(flow, 30)
    assert get_positions(flow).hardened_kb > before.sent_kb
