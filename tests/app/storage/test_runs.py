"""Tests of the journal: acknowledged inputs are read back, or a sentence states the reason."""

from __future__ import annotations

import sqlite3
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies

from app.storage import CheckpointHash, JournalLine, Profile, RunId, open_profile, runs
from tests.app.storage.conftest import begin_run


def test_an_unfinished_run_contains_all_data_for_a_resume(profile: Profile) -> None:
    run_id = profile.begin_run("lab", 'title = "Lab"\n', "5ca1ab1e", 2**63 - 1, "0.1.0", "exam")
    profile.append_line(run_id, 3000, "30.0 power-off SERVER_A")
    profile.append_line(run_id, 4125, "41.25 sql SERVER_B\n    SELECT N'Δ';\n    GO")
    profile.store_hash(run_id, 4000, "aaaa")
    profile.store_position(run_id, 4200)
    (unfinished_run,) = profile.list_unfinished_runs()
    assert (unfinished_run.run_id, unfinished_run.scenario_name, unfinished_run.scenario_text) == (
        run_id,
        "lab",
        'title = "Lab"\n',
    )
    assert (unfinished_run.scenario_hash, unfinished_run.seed, unfinished_run.engine_version) == (
        "5ca1ab1e",
        2**63 - 1,
        "0.1.0",
    )
    assert (unfinished_run.mode, unfinished_run.tick, unfinished_run.problem) == ("exam", 4200, None)
    assert unfinished_run.lines == (
        JournalLine(3000, "30.0 power-off SERVER_A"),
        JournalLine(4125, "41.25 sql SERVER_B\n    SELECT N'Δ';\n    GO"),
    )
    assert unfinished_run.checkpoints == (CheckpointHash(4000, "aaaa"),)


def test_the_latest_unfinished_run_comes_first(profile: Profile) -> None:
    ids = [begin_run(profile) for _ in range(3)]
    assert [run.run_id for run in profile.list_unfinished_runs()] == ids[::-1]


def test_an_abandoned_run_is_not_offered_but_keeps_its_journal(profile: Profile, run_id: RunId) -> None:
    profile.append_line(run_id, 1, "0.01 note here")
    profile.abandon_run(run_id)
    assert profile.list_unfinished_runs() == []
    assert profile.read_journal(run_id) == (JournalLine(1, "0.01 note here"),)


def test_an_ended_run_accepts_no_more_lines(profile: Profile, run_id: RunId) -> None:
    profile.abandon_run(run_id)
    with pytest.raises(ValueError, match=f"run {run_id} is abandoned"):
        profile.append_line(run_id, 1, "0.01 note too late")
    with pytest.raises(ValueError, match=f"run {run_id} is abandoned"):
        profile.abandon_run(run_id)
    assert profile.read_journal(run_id) == ()


def test_the_tick_never_decreases(profile: Profile, run_id: RunId) -> None:
    profile.store_position(run_id, 500)
    profile.append_line(run_id, 400, "4.0 note late to the disk")
    profile.store_position(run_id, 300)
    assert profile.list_unfinished_runs()[0].tick == 500


def test_a_repeated_checkpoint_replaces_the_first(profile: Profile, run_id: RunId) -> None:
    profile.store_hash(run_id, 100, "aaaa")
    profile.store_hash(run_id, 100, "bbbb")
    assert profile.list_unfinished_runs()[0].checkpoints == (CheckpointHash(100, "bbbb"),)


@pytest.mark.parametrize("seed", [-1, 2**63])
def test_an_out_of_range_seed_is_refused(profile: Profile, seed: int) -> None:
    with pytest.raises(ValueError, match=str(seed)):
        profile.begin_run("lab", "", "", seed, "0.1.0", "play")


@pytest.mark.parametrize(
    ("tampering", "sentence"),
    [
        ("DELETE FROM line WHERE number = 3", "contains 2 of 3 lines"),
        ("UPDATE line SET text = '2.0 note b' WHERE number = 2", "differs from the written version"),
        ("UPDATE line SET tick = 201 WHERE number = 2", "differs from the written version"),
    ],
)
def test_a_changed_journal_is_never_resumed_silently(
    profile_folder: Path, tampering: str, sentence: str
) -> None:
    with open_profile(profile_folder) as profile:
        run_id = begin_run(profile)
        for second in (1, 2, 3):
            profile.append_line(run_id, second * 100, f"{second}.0 note a")
    raw = sqlite3.connect(profile_folder / "profile.sqlite")
    with raw:
        raw.execute(tampering)
    raw.close()
    with open_profile(profile_folder) as profile:
        problem = profile.list_unfinished_runs()[0].problem
        assert problem is not None
        assert f"run {run_id} (lab) {sentence}" in problem
        assert profile.find_data_faults() == [problem]


OPERATIONS = strategies.lists(
    strategies.one_of(
        strategies.tuples(
            strategies.just("append"), strategies.integers(0, runs.TICK_MAX), strategies.text(max_size=50)
        ),
        strategies.tuples(
            strategies.just("heartbeat"), strategies.integers(0, runs.TICK_MAX), strategies.none()
        ),
        strategies.tuples(strategies.just("reopen"), strategies.just(0), strategies.none()),
    ),
    max_size=20,
)


@settings(max_examples=25, deadline=None)
@given(OPERATIONS)
def test_stored_data_is_read_back(operations: list[tuple[str, int, str | None]]) -> None:
    lines: list[JournalLine] = []
    reached = 0
    with tempfile.TemporaryDirectory() as name:
        profile = open_profile(Path(name))
        run_id = begin_run(profile)
        for operation, tick, text in operations:
            if text is not None:
                profile.append_line(run_id, tick, text)
                lines.append(JournalLine(tick, text))
            elif operation == "heartbeat":
                profile.store_position(run_id, tick)
            else:
                profile.close()
                profile = open_profile(Path(name))
            reached = max(reached, tick)
            (unfinished_run,) = profile.list_unfinished_runs()
            assert (unfinished_run.lines, unfinished_run.tick, unfinished_run.problem) == (
                tuple(lines),
                reached,
                None,
            )
        profile.close()
