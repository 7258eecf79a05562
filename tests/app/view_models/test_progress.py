"""Tests of skill estimates from stored results, of due skills, and of the command that lists them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.cli import main
from app.main_window.library import ScenarioLibrary
from app.storage import open_profile
from tests.app.storage.test_results import build_report


def run_without_window(*arguments: str) -> int:
    def fail_on_window(_: object) -> int:
        raise AssertionError("no window was asked for")

    return main(arguments, fail_on_window)


def record_result(
    folder: Path, *scores: float, name: str = "wrong-port", mode: str = "exam", is_rewound: bool = False
) -> None:
    with open_profile(folder) as profile:
        for score in scores:
            run_id = profile.begin_run(name, "", "h", 1, "0.1", mode)
            report_fields = {**json.loads(build_report()), "rewinds": [1] if is_rewound else []}
            profile.finish_run(run_id, 10_000, "f00d", json.dumps(report_fields), score)


def test_listing_progress_creates_no_profile(
    profile_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_without_window("progress", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert all(skill["mastery"] == 0.0 and not skill["is_due"] for skill in document["skills"])
    assert document["scenarios"] == []
    assert [item["due_since"] for item in document["next"]] == [None, None, None], "new ones for a newcomer"
    assert not (profile_folder / "profile.sqlite").exists()


def test_finished_runs_count(profile_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record_result(profile_folder, 60.0, 100.0)
    record_result(profile_folder, 100.0, is_rewound=True)
    assert run_without_window("progress", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    by_key = {skill["key"]: skill for skill in document["skills"]}
    assert by_key["endpoints"]["runs"] == 2, "the one that went back tells nothing of skills"
    assert by_key["endpoints"]["mastery"] > 70.0
    assert by_key["quorum"]["runs"] == 0
    (scenario,) = document["scenarios"]
    assert (scenario["runs"], scenario["best"], scenario["last"]) == (3, 100.0, 100.0)
    assert run_without_window("progress") == 0
    assert "2 runs" in capsys.readouterr().out


def test_a_profile_in_use_is_reported(profile_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record_result(profile_folder, 60.0)
    with open_profile(profile_folder):
        assert run_without_window("progress") == 2
    assert capsys.readouterr().err.startswith("mirrordrill: ")


def test_a_card_has_the_best_score_the_last_score_and_the_due_state(profile_folder: Path) -> None:
    record_result(profile_folder, 90.0, 40.0)
    with open_profile(profile_folder) as profile:
        library = ScenarioLibrary(profile)
        library.read_scenarios()
        card = next(card for card in library.build_cards() if card.name == "wrong-port")
        assert (card.best, card.last, card.tries) == (90.0, 40.0, 2)
        assert not card.is_due
