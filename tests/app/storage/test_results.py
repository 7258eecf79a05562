"""Tests of results: history, best run, answers, and detection of altered reports."""

from __future__ import annotations

import json
import sqlite3
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.storage import Profile, RunId, open_profile, results
from tests.app.storage.conftest import begin_run


def build_report(downtime_s: float = 2.6, lost_transactions: float = 0.0) -> str:
    totals = {
        "downtime_s": downtime_s,
        "exposed_s": 0.0,
        "lost_transactions": lost_transactions,
        "lost_kb": 0.0,
    }
    return json.dumps({"scenario": "lab", "availability": totals})


def record_run(profile: Profile, scenario_name: str, score: float | None, downtime_s: float = 2.6) -> RunId:
    run_id = begin_run(profile, scenario_name)
    profile.finish_run(run_id, 6000, "f00d", build_report(downtime_s), score)
    return run_id


def test_a_finished_run_is_in_the_history_and_no_longer_offered(profile: Profile, run_id: RunId) -> None:
    profile.finish_run(run_id, 6000, "f00d", build_report(12.5, 17.0), 83.5)
    assert profile.list_unfinished_runs() == []
    (row,) = profile.list_results()
    assert (row.run_id, row.scenario_name, row.mode, row.score) == (run_id, "lab", "play", 83.5)
    assert (row.downtime_s, row.lost_transactions) == (12.5, 17)
    assert abs((datetime.now(UTC) - row.finished_at).total_seconds()) < 60
    assert profile.read_report(run_id) == build_report(12.5, 17.0)


def test_a_run_can_finish_only_once(profile: Profile, run_id: RunId) -> None:
    profile.finish_run(run_id, 6000, "f00d", build_report(), 83.5)
    with pytest.raises(ValueError, match=f"run {run_id} is finished"):
        profile.finish_run(run_id, 6000, "f00d", build_report(), 100.0)
    assert [row.score for row in profile.list_results()] == [83.5]


def test_a_failed_finish_leaves_the_run_unfinished(profile: Profile, run_id: RunId) -> None:
    with pytest.raises(KeyError, match="availability"):
        profile.finish_run(run_id, 6000, "f00d", "{}", 83.5)
    assert [run.run_id for run in profile.list_unfinished_runs()] == [run_id]
    assert profile.list_results() == []


def test_history_keeps_its_order_after_a_clock_change(
    profile: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = record_run(profile, "lab", 50)
    monkeypatch.setattr(results, "format_utc_now", lambda: "1999-12-31 00:00:00.000000")
    second = record_run(profile, "lab", 60)
    assert [row.run_id for row in profile.list_results()] == [second, first]


def test_the_best_run_has_the_most_points_then_the_least_downtime(profile: Profile) -> None:
    record_run(profile, "lab", 80, downtime_s=1.0)
    record_run(profile, "lab", 90, downtime_s=30.0)
    best = record_run(profile, "lab", 90, downtime_s=20.0)
    record_run(profile, "lab", 90, downtime_s=20.0)
    record_run(profile, "lab", None, downtime_s=0.0)
    record_run(profile, "planned_failover", 100)
    best_result = profile.find_best_run("lab")
    assert best_result is not None
    assert best_result.run_id == best


def test_without_a_score_there_is_no_best_run(profile: Profile) -> None:
    record_run(profile, "lab", None)
    assert profile.find_best_run("lab") is None


def test_answers_exclude_rewound_and_altered_runs(profile: Profile) -> None:
    def record_answer(is_sure: object, **fields: object) -> None:
        rows = [{"name": "why", "sure_percent": is_sure, "correct": True, "right": [1]}, {"name": "open"}]
        report_fields = {**json.loads(build_report()), "questions": rows, **fields}
        profile.finish_run(begin_run(profile, "lab"), 6000, "f00d", json.dumps(report_fields), 50.0)

    for sure in (80, "many", 900, None):
        record_answer(sure)
    record_answer(70, rewinds=[{"t_s": 1}])
    record_run(profile, "lab", 50.0)
    assert [row["sure_percent"] for row in profile.list_answers()] == [80]


def test_an_unfinished_run_has_no_report(profile: Profile, run_id: RunId) -> None:
    with pytest.raises(LookupError):
        profile.read_report(run_id)


@pytest.mark.parametrize(
    ("change", "message_part"),
    [
        ("UPDATE result SET score = 100", "the score"),
        ("UPDATE result SET downtime_s = 0", "the downtime"),
        ("UPDATE result SET lost_transactions = 0", "the lost transactions"),
        ("UPDATE result SET state_hash = 'x'", "the final state"),
        ("UPDATE run SET mode = 'exam'", "the mode"),
        ("UPDATE run SET seed = 8", "the seed"),
        ("UPDATE run SET scenario_text = 'title = 1'", "the scenario"),
        ("UPDATE result SET report_json = 'x'", "the report"),
    ],
)
def test_an_altered_result_is_reported(profile_folder: Path, change: str, message_part: str) -> None:
    document = json.loads(build_report(3.0, 5.0)) | {
        "score": {"total": 70.0, "scored": True},
        "state_hash": "f00d",
    }
    document |= {"mode": "play", "seed": 7}
    with open_profile(profile_folder) as profile:
        run_id = begin_run(profile, "lab")
        profile.finish_run(run_id, 6000, "f00d", json.dumps(document), 70.0)
        assert (profile.find_data_faults(), profile.find_contradictions(run_id)) == ([], [])
    with closing(sqlite3.connect(profile_folder / "profile.sqlite")) as connection:
        connection.execute(change)
        connection.commit()
    with open_profile(profile_folder) as profile:
        (problem,) = profile.find_contradictions(run_id)
        assert message_part in problem
        assert problem in profile.find_data_faults()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other permissions")
def test_the_profile_is_readable_by_its_owner_only(profile_folder: Path) -> None:
    with open_profile(profile_folder) as profile:
        begin_run(profile, "lab")
        modes = {
            file.name: file.stat().st_mode & 0o777 for file in profile_folder.iterdir() if file.is_file()
        }
    assert set(modes.values()) == {0o600}, modes
