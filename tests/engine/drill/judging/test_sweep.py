"""Sweeps: many runs in one table with their results and statistics."""

from __future__ import annotations

import pytest

from engine.drill.judging.sweep import (
    RunOutcome,
    build_sweep_json,
    compute_confidence_interval,
    compute_percentile,
    format_limit_results,
    format_table,
    list_limit_results,
    play_outcome,
    summarize_outcomes,
)
from tests.engine.drill import texts

RUNS = [RunOutcome("small", "reference", seed, float(seed), seed > 2, 4.0, None, 0.0) for seed in range(1, 6)]


def test_a_run_scores_the_points_of_its_player() -> None:
    small = texts.change_small_text()
    reference, idle = play_outcome(small, "reference", 3), play_outcome(small, "idle", 3)
    assert (reference.points, reference.finished) == (100.0, True)
    assert idle.points is not None
    assert (idle.points < 50.0, idle.finished) == (True, False)
    assert reference.failover_s == idle.failover_s
    assert reference.failover_s is not None
    assert reference.downtime_s is not None
    assert 0.0 < reference.failover_s <= reference.downtime_s
    assert play_outcome(small, "idle", 3) == idle


def test_free_play_has_no_points_and_no_failures() -> None:
    outcome = play_outcome(texts.change_small_text(text=texts.FREE_PLAY_TEXT), "idle", 3)
    assert (outcome.points, outcome.finished, outcome.failover_s) == (None, True, None)
    assert summarize_outcomes([outcome])[0]["points"] is None


def test_an_unplayable_run_is_a_reported_failure() -> None:
    outcome = play_outcome(
        texts.change_small_text(("+5 power-on SERVER_A", "+5 workload Sales Nothing")), "reference", 3
    )
    assert summarize_outcomes([outcome])[0]["failures"] == 1
    assert format_table([outcome]).splitlines()[-1].startswith("small, reference, seed 3: ")


def test_mean_percentiles_and_failures_are_computed() -> None:
    (row,) = summarize_outcomes(RUNS)
    assert (row["runs"], row["failures"], row["failover_s"]) == (5, 2, None)
    assert row["points"] == {"mean": 3.0, "p5": 1.0, "p50": 3.0, "p95": 5.0}
    assert format_table(RUNS).splitlines()[1].split() == [
        "small", "reference", "5", "2", "3.0", "(1", "3", "5)", "4.0", "(4", "4", "4)", "-", "0.0", "(0", "0", "0)",
    ]  # fmt: skip
    assert build_sweep_json(RUNS)["rows"] == [row]


@pytest.mark.parametrize(
    ("percent", "expected"), [(1, 1.0), (50, 2.0), (51, 3.0), (75, 3.0), (76, 4.0), (100, 4.0)]
)
def test_percentiles_use_the_nearest_rank(percent: int, expected: float) -> None:
    assert compute_percentile([1.0, 2.0, 3.0, 4.0], percent) == expected


def test_the_share_within_a_limit_has_a_confidence_interval() -> None:
    """The Wilson interval of 8 of 10 is 49.0 to 94.3 %, as in published tables."""
    assert [round(share, 3) for share in compute_confidence_interval(8, 10)] == [0.49, 0.943]
    assert compute_confidence_interval(0, 0) == (0.0, 1.0)
    (row,) = list_limit_results(RUNS, "points", 3.0)
    assert (row.runs, row.within) == (5, 3)
    (limit_result,) = list_limit_results(RUNS, "failover_s", 3.0)
    assert (limit_result.runs, limit_result.within) == (0, 0)


def test_results_of_limits_are_listed_by_scenario_and_player() -> None:
    limits = [("points", 3.0), ("failover_s", 2.0)]
    assert format_limit_results(RUNS, limits) == [
        "small, reference: points at most 3 in 3 of 5 runs with this measure (60.0%; 95% confidence: 23.1% to 88.2%)",
        "small, reference: failover_s at most 2 in 0 of 0 runs with this measure",
    ]
    assert [(row["measure"], row["within"]) for row in build_sweep_json(RUNS, limits)["within"]] == [  # type: ignore[attr-defined]
        ("points", 3),
        ("failover_s", 0),
    ]
