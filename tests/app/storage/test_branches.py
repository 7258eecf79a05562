"""Tests of branches in the profile: names, parents, journals, and the branch to continue."""

from __future__ import annotations

from app.storage import Profile, RunId


def begin_run(profile: Profile, lines: list[str]) -> RunId:
    run_id = profile.begin_run("lab", "text", "hash", 1, "0", "lab")
    for tick, line in enumerate(lines):
        profile.append_line(run_id, tick, line)
    return run_id


def build_tree(profile: Profile) -> tuple[RunId, RunId]:
    first = begin_run(profile, ["0 note a", "0.01 note b"])
    second = begin_run(profile, ["0 note a", "0.01 rewind 5"])
    profile.store_branch(first, first, None, "main", 0, 0)
    profile.store_branch(second, first, first, "branch 1", 1, 1)
    return first, second


def test_a_tree_is_read_from_any_of_its_runs(profile: Profile) -> None:
    first, second = build_tree(profile)
    lone_run = begin_run(profile, [])
    assert profile.list_branches(lone_run) == []
    for run_id in (first, second):
        branch = profile.list_branches(run_id)
        assert [(b.run_id, b.parent_id, b.name, b.tick, b.inputs) for b in branch] == [
            (first, None, "main", 0, 0),
            (second, first, "branch 1", 1, 1),
        ]
        assert [line.text for line in branch[1].lines] == ["0 note a", "0.01 rewind 5"]


def test_a_branch_can_be_renamed_and_removed(profile: Profile) -> None:
    first, second = build_tree(profile)
    profile.store_branch(second, first, first, "with a witness", 1, 1)
    assert [branch.name for branch in profile.list_branches(first)] == ["main", "with a witness"]
    profile.remove_branch(second)
    assert [branch.name for branch in profile.list_branches(first)] == ["main"]
    assert profile.list_branches(second) == []


def test_only_the_newest_run_of_a_tree_can_be_continued(profile: Profile) -> None:
    first, second = build_tree(profile)
    assert [run.run_id for run in profile.list_unfinished_runs()] == [second]
    profile.finish_run(second, 9, "hash", '{"availability": {"downtime_s": 0, "lost_transactions": 0}}', None)
    assert profile.list_unfinished_runs() == []
    profile.remove_branch(first)
    assert [run.run_id for run in profile.list_unfinished_runs()] == [first]


def test_a_run_is_stored_with_its_scenario_text(profile: Profile) -> None:
    assert not profile.has_run_of("lab")
    run_id = begin_run(profile, [])
    assert profile.has_run_of("lab")
    assert profile.read_scenario_text(run_id) == "text"
