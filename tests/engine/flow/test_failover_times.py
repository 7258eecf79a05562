"""Phases of a failover by cause, idle and under load (table 6 of the 2005 white paper)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from engine.flow import SafetyMode, Workload, warm_start
from engine.flow.failover_times import (
    FailoverCause,
    FailoverTimes,
    compute_open_log_kb,
    compute_undo_s,
    draw_closing_s,
    draw_failover_times,
)
from engine.flow.setup import build_index_operation
from engine.flow.sites import IDLE
from engine.random_streams import RandomStream
from tests.engine.flow.pairs import W1, W2, build_flow, build_pair, change_inputs, run_seconds

PUBLISHED_S = {
    FailoverCause.MANUAL: (20.5, 32.2),
    FailoverCause.NOWAIT: (5.7, 8.5),
    FailoverCause.STOP_SERVICE: (3.2, 10.8),
    FailoverCause.SHUTDOWN_SERVER: (10.2, 15.8),
    FailoverCause.POWER_OFF: (2.2, 2.6),
    FailoverCause.CABLE: (1.9, 3.1),
}


DETECTION_S = {FailoverCause.POWER_OFF: 0.85, FailoverCause.CABLE: 0.85}
"""Seconds until a silent failure is detected. Until then, the mirror continues to write pages."""


def simulate_times(
    cause: FailoverCause, workload: Workload, seeds: int = 200, **changes: Any
) -> list[FailoverTimes]:
    flow = build_flow(workload, SafetyMode.FULL, **changes)
    runs = []
    for seed in range(seeds):
        chance = RandomStream.from_seed(seed)
        change_inputs(flow, build_pair(workload, SafetyMode.FULL, **changes))
        warm_start(flow, 0, chance.draw_uniform())
        if cause in DETECTION_S:
            change_inputs(flow, build_pair(workload, SafetyMode.FULL, alive=False, carrying=False, **changes))
            run_seconds(flow, DETECTION_S[cause])
        runs.append(draw_failover_times(flow, 0, cause, chance))
    return runs


@pytest.mark.parametrize("cause", PUBLISHED_S)
def test_table_6_is_reproduced(cause: FailoverCause) -> None:
    medians = []
    for workload, published in zip((IDLE, W1), PUBLISHED_S[cause], strict=True):
        p5, median, p95 = np.percentile([t.failover_s for t in simulate_times(cause, workload)], [5, 50, 95])
        assert p5 <= published <= p95
        assert median == pytest.approx(published, rel=0.10)
        medians.append(median)
    assert medians[0] < medians[1], "load always adds time"


def test_phases_depend_on_their_inputs() -> None:
    def compute_mean(part: str, cause: FailoverCause, workload: Workload, **changes: Any) -> float:
        return float(np.mean([getattr(t, part) for t in simulate_times(cause, workload, 60, **changes)]))

    few_connections = replace(W1, connections=100)
    assert compute_mean("close_s", FailoverCause.NOWAIT, W1) - compute_mean(
        "close_s", FailoverCause.NOWAIT, few_connections
    ) == pytest.approx(900 * 0.0028, rel=0.1)
    assert compute_mean("close_s", FailoverCause.STOP_SERVICE, W1, data_disk_factor=3.0) > 5 + compute_mean(
        "close_s", FailoverCause.STOP_SERVICE, W1
    )
    assert compute_mean("page_flush_s", FailoverCause.CABLE, W2) > compute_mean(
        "page_flush_s", FailoverCause.CABLE, W1
    )
    assert compute_mean("page_flush_s", FailoverCause.CABLE, IDLE) == 0.0
    assert compute_mean("page_flush_s", FailoverCause.CABLE, W1, log_pool=True) == 0.0
    assert compute_mean("decision_s", FailoverCause.POWER_OFF, W1) > 0.2 + compute_mean(
        "decision_s", FailoverCause.POWER_OFF, IDLE
    )
    assert compute_mean("decision_s", FailoverCause.MANUAL, W1) == 0.0
    assert compute_mean("analysis_s", FailoverCause.POWER_OFF, W1) == 0.0
    assert compute_mean("analysis_s", FailoverCause.MANUAL, W1) > 3 + compute_mean(
        "analysis_s", FailoverCause.MANUAL, IDLE
    )
    assert 10 <= compute_mean("detection_s", FailoverCause.TIMEOUT, W1) <= 11
    assert 0.6 <= compute_mean("detection_s", FailoverCause.CABLE, W1) <= 1.1


def test_the_flow_is_not_changed() -> None:
    flow = build_flow()
    before = flow.compute_digest()
    draw_failover_times(flow, 0, FailoverCause.MANUAL, RandomStream.from_seed(1))
    assert flow.compute_digest() == before


def test_undo_grows_with_open_log() -> None:
    flow = build_flow(W1, SafetyMode.FULL)
    small = compute_open_log_kb(flow, 0)
    assert 0 < small < 200
    flow = build_flow(W1, SafetyMode.FULL, operation=build_index_operation(0.05))
    flow.start_operation(0)
    run_seconds(flow, 30)
    large = compute_open_log_kb(flow, 0)
    assert large > 100_000
    assert compute_undo_s(flow, 0, large) == pytest.approx(1.5 * large / 9265, rel=0.01)


@pytest.mark.parametrize("cause", FailoverCause)
def test_closing_alone_uses_the_same_random_numbers_as_a_failover(cause: FailoverCause) -> None:
    flow, block_draws, single_draws = build_flow(W1), RandomStream.from_seed(3), RandomStream.from_seed(3)
    assert (
        draw_closing_s(flow, 0, cause, single_draws)
        == draw_failover_times(flow, 0, cause, block_draws).close_s
    )
    assert single_draws == block_draws
