"""Steady states of both workloads, compared with tables 2 and 3 of the 2005 white paper."""

from __future__ import annotations

from typing import Any

import pytest

from engine.flow import SafetyMode, Workload
from tests.engine.flow.pairs import W1, W2, build_flow, compute_means, read_counters, run_seconds

NONE, FULL, OFF = SafetyMode.NONE, SafetyMode.FULL, SafetyMode.OFF


@pytest.mark.parametrize(
    ("workload", "mode", "published"),
    [
        # transactions/s, response s, log KB/s, CPU %, mirror CPU %, data writes, mirror data writes KB/s
        (W1, NONE, (241, 0.13, 720, 4.0, 0.0, 4500, 0)),
        (W1, OFF, (241, 0.13, 720, 6.0, 3.9, 4500, 19640)),
        (W1, FULL, (238, 0.19, 709, 6.4, 4.0, 4500, 19300)),
        (W2, NONE, (215, 6.4, 12000, 39.6, 0.0, 1500, 0)),
        (W2, OFF, (211, 6.7, 11850, 47.4, 13.6, None, 37143)),
        (W2, FULL, (158, 8.8, 8720, 37.7, 10.84, None, 30036)),
    ],
)
def test_whitepaper_tables_are_reproduced(
    workload: Workload,
    mode: SafetyMode,
    published: tuple[float, float, float, float, float, float | None, float],
) -> None:
    tps, response, log, cpu, mirror_cpu, writes, mirror_writes = published
    rates = compute_means(build_flow(workload, mode), 300)
    assert rates.transactions_per_s == pytest.approx(tps, rel=0.01)
    business = workload.transactions_per_business_transaction
    assert rates.response_s * business == pytest.approx(response, rel=0.105)
    assert rates.log_kb_per_s == pytest.approx(log, rel=0.015)
    assert rates.cpu_percent == pytest.approx(cpu, rel=0.05)
    assert rates.mirror_cpu_percent == pytest.approx(mirror_cpu, rel=0.05)
    assert rates.mirror_writes_kb_per_s == pytest.approx(mirror_writes, rel=0.015)
    if writes is not None:
        assert rates.writes_kb_per_s == pytest.approx(writes, rel=0.01)


@pytest.mark.parametrize(
    ("workload", "rtt_ms", "expected"),
    [(W1, 20, 237.5), (W1, 50, 235.8), (W1, 100, 204), (W1, 200, 104.5), (W2, 2, 154.2), (W2, 10, 76.6),
     (W2, 20, 46), (W2, 50, 20.9), (W2, 100, 10.9)],
)  # fmt: skip
def test_waiting_commits_are_slowed_by_round_trips(
    workload: Workload, rtt_ms: float, expected: float
) -> None:
    rates = compute_means(build_flow(workload, FULL, rtt_ms=rtt_ms), 30)
    assert rates.transactions_per_s == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize(
    ("mbps", "expected"), [(1000, 238.6), (100, 238.6), (10, 238.4), (5, 193.9), (1, 38.8)]
)
def test_waiting_commits_are_slowed_by_thin_links(mbps: float, expected: float) -> None:
    rates = compute_means(build_flow(W1, FULL, bandwidth_mbps=mbps), 30)
    assert rates.transactions_per_s == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize(
    ("workload", "changes", "growth_kb_per_s"),
    [(W1, {"rtt_ms": 50}, 0), (W1, {"rtt_ms": 100}, 110.5), (W1, {"bandwidth_mbps": 1}, 604),
     (W2, {}, 0), (W2, {"rtt_ms": 2}, 2614)],
)  # fmt: skip
def test_with_safety_off_no_commit_waits_but_the_send_queue_may_grow(
    workload: Workload, changes: dict[str, Any], growth_kb_per_s: float
) -> None:
    flow = build_flow(workload, OFF, **changes)
    before = read_counters(flow).send_queue_kb
    rates = compute_means(flow, 60)
    grown = read_counters(flow).send_queue_kb - before
    assert grown / 60 == pytest.approx(growth_kb_per_s, rel=0.01, abs=0.1)
    assert rates.transactions_per_s == pytest.approx(241 if workload is W1 else 211, rel=0.002)


def test_encryption_costs_almost_nothing() -> None:
    plain_rates, secret = (
        compute_means(build_flow(W1, FULL, encryption=encryption)) for encryption in (False, True)
    )
    assert 0 < secret.response_s - plain_rates.response_s < 0.0001
    assert 0 < secret.cpu_percent - plain_rates.cpu_percent < 0.1
    assert secret.transactions_per_s == pytest.approx(plain_rates.transactions_per_s, rel=1e-4)


def test_a_mirror_that_receives_log_uses_its_processors() -> None:
    flow = build_flow(W1, SafetyMode.FULL)
    run_seconds(flow, 10.0)
    assert 0.0 < read_counters(flow).mirror_cpu_percent < 100.0
