"""Tests of the deletion of finished runs: all their data disappears, and all other data stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.storage import Profile, RunId, open_profile
from tests.app.storage.conftest import begin_run

REPORT = '{"availability": {"downtime_s": 1.5, "lost_transactions": 0}}'


def play_run(profile: Profile, *lines: str) -> RunId:
    run_id = begin_run(profile)
    for tick, line in enumerate(lines):
        profile.append_line(run_id, tick, line)
        profile.store_hash(run_id, tick, f"hash {tick}")
    return run_id


def finish_run(profile: Profile, run_id: RunId) -> RunId:
    profile.finish_run(run_id, 100, "end", REPORT, 90.0)
    return run_id


def test_a_deleted_run_leaves_nothing_behind(profile_folder: Path) -> None:
    with open_profile(profile_folder) as profile:
        kept_run, deleted_run = (finish_run(profile, play_run(profile, "0 note a")) for _ in range(2))
    with open_profile(profile_folder) as profile:  # the mark belongs to the deleted run
        profile.delete_finished_runs([deleted_run])
        assert [row.run_id for row in profile.list_results()] == [kept_run]
        assert profile.read_journal(deleted_run) == ()
        assert profile.list_lost_run_messages() == []
    with open_profile(profile_folder) as profile:
        assert profile.list_lost_run_messages() == [] == profile.find_data_faults()
        assert begin_run(profile) > deleted_run, "no number is used twice"


def test_an_unfinished_run_and_its_tree_are_not_deleted(profile: Profile) -> None:
    finished_run, running_run = finish_run(profile, play_run(profile)), play_run(profile, "0 note a")
    with pytest.raises(ValueError, match="is running"):
        profile.delete_finished_runs([finished_run, running_run])
    assert [row.run_id for row in profile.list_results()] == [finished_run]
    assert [run.run_id for run in profile.list_unfinished_runs()] == [running_run]


def store_tree(profile: Profile) -> list[RunId]:
    """Store a tree of runs: the main branch, two branches of it, and a branch of the first of these two.
    Return their IDs.
    """
    main = play_run(profile, "0 a", "0.01 b", "0.02 c")
    first_run = play_run(profile, "0 a", "0.01 b", "0.02 d", "0.03 e")
    two = play_run(profile, "0 a", "0.02 f")
    grandchild = play_run(profile, "0 a", "0.01 b", "0.02 d", "0.03 g")
    for run_id, parent, name, tick, inputs in (
        (main, None, "main", 0, 0),
        (first_run, main, "one", 2, 2),
        (two, main, "two", 1, 1),
        (grandchild, first_run, "grandchild", 3, 3),
    ):
        profile.store_branch(run_id, main, parent, name, tick, inputs)
    return [main, first_run, two, grandchild]


def describe_branches(profile: Profile, run_id: RunId) -> list[tuple[str, RunId | None, int, int, int]]:
    return [(b.name, b.parent_id, b.tick, b.inputs, len(b.lines)) for b in profile.list_branches(run_id)]


def test_a_branch_of_a_deleted_run_keeps_its_place_in_the_tree(profile: Profile) -> None:
    main, first_run, two, grandchild = (finish_run(profile, run_id) for run_id in store_tree(profile))
    profile.delete_finished_runs([first_run])
    assert describe_branches(profile, main) == [
        ("main", None, 0, 0, 3),
        ("two", main, 1, 1, 2),
        ("grandchild", main, 2, 2, 4),
    ]
    profile.delete_finished_runs([main])
    assert describe_branches(profile, grandchild) == [("two", None, 0, 0, 2), ("grandchild", two, 1, 1, 4)]


def test_an_abandoned_run_is_not_offered_after_its_successor_is_deleted(profile: Profile) -> None:
    *_, newest = store_tree(profile)
    finish_run(profile, newest)
    assert profile.list_unfinished_runs() == []
    profile.delete_finished_runs([newest])
    assert profile.list_unfinished_runs() == []
