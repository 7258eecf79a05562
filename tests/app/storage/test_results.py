from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from sqlalchemy.exc import NoResultFound

from app.storage import Profile, RunId, results
from tests.app.storage.conftest import begin


def report(downtime_s: float = 2.6, lost_transactions: float = 0.0) -> str:
    totals = {
        "downtime_s": downtime_s,
        "exposed_s": 0.0,
        "lost_transactions": lost_transactions,
        "lost_kb": 0.0,
    }
    return json.dumps({"scenario": "lab", "availability": totals})


def play(profile: Profile, scenario_name: str, score: float | None, downtime_s: float = 2.6) -> RunId:
    run_id = begin(profile, scenario_name)
    profile.finish(run_id, 6000, "f00d", report(downtime_s), score)
    return run_id


def test_a_finished_run_is_history_and_no_longer_offered(profile: Profile, run_id: RunId) -> None:
    profile.finish(run_id, 6000, "f00d", report(12.5, 17.0), 83.5)
    assert profile.unfinished() == []
    (row,) = profile.results()
    assert (row.run_id, row.scenario_name, row.mode, row.score) == (run_id, "lab", "play", 83.5)
    assert (row.downtime_s, row.lost_transactions) == (12.5, 17)
    assert abs((datetime.now(UTC) - row.finished_at).total_seconds()) < 60
    assert profile.report(run_id) == report(12.5, 17.0)


def test_a_run_finishes_once(profile: Profile, run_id: RunId) -> None:
    profile.finish(run_id, 6000, "f00d", report(), 83.5)
    with pytest.raises(ValueError, match=f"run {run_id} is finished"):
        profile.finish(run_id, 6000, "f00d", report(), 100.0)
    assert [row.score for row in profile.results()] == [83.5]


def test_a_finish_that_fails_leaves_the_run_unfinished(profile: Profile, run_id: RunId) -> None:
    with pytest.raises(KeyError, match="availability"):
        profile.finish(run_id, 6000, "f00d", "{}", 83.5)
    assert [found.run_id for found in profile.unfinished()] == [run_id]
    assert profile.results() == []


def test_history_keeps_its_order_when_the_clock_was_set_back(
    profile: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = play(profile, "lab", 50)
    monkeypatch.setattr(results, "utc_now", lambda: datetime(1999, 12, 31))
    second = play(profile, "lab", 60)
    assert [row.run_id for row in profile.results()] == [second, first]


def test_the_best_run_has_most_points_then_least_downtime(profile: Profile) -> None:
    play(profile, "lab", 80, downtime_s=1.0)
    play(profile, "lab", 90, downtime_s=30.0)
    best = play(profile, "lab", 90, downtime_s=20.0)
    play(profile, "lab", 90, downtime_s=20.0)
    play(profile, "lab", None, downtime_s=0.0)
    play(profile, "planned_failover", 100)
    found = profile.best("lab")
    assert found is not None
    assert found.run_id == best


def test_there_is_no_best_without_a_score(profile: Profile) -> None:
    play(profile, "lab", None)
    assert profile.best("lab") is None


def test_an_unfinished_run_has_no_report(profile: Profile, run_id: RunId) -> None:
    with pytest.raises(NoResultFound):
        profile.report(run_id)
