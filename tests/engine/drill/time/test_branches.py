"""Tree of branches: fork, name, remove, store, restore and compare branches."""

from __future__ import annotations

import pytest

from engine.drill.judging import difference
from engine.drill.running.drill import DrillMode
from engine.drill.time.branches import BranchError, BranchTree
from engine.drill.time.history import History
from tests.engine.drill.branch_storage import list_stored_branches, restore_branches
from tests.engine.drill.running.test_questions import QUESTION_CHANGES, build_drill_with_question
from tests.engine.drill.texts import build_drill, change_small_text


def build_tree(mode: DrillMode | None = None) -> BranchTree:
    """Return a tree of three branches: main waits until 90 s, `early` repairs at 30 s, and `late` repairs at
    70 s.
    """
    branches = BranchTree(History(build_drill(mode=mode)))
    branches.history.advance_to(4000)
    branches.history.apply_line("note waiting")
    branches.history.advance_to(9000)
    branches.fork(3000, "early")
    branches.history.apply_line("power-on SERVER_A")
    branches.history.advance_to(15_000)
    branches.switch_branch("main")
    branches.fork(7000, "late")
    branches.history.apply_line("power-on SERVER_A")
    branches.history.advance_to(16_000)
    return branches


def test_branches_share_only_the_past() -> None:
    branches = build_tree()
    assert branches.list_names() == ["main", "early", "late"]
    assert branches.current == "late"
    assert [item.line for item in branches.get_history("late").drill.journal] == [
        "40 note waiting",
        "70 rewind 90",
        "70 power-on SERVER_A",
    ]
    assert branches.get_history("main").drill.tick == 9000
    assert not branches.get_history("main").drill.finished


def test_only_differences_are_stored() -> None:
    stored = {branch.name: branch for branch in list_stored_branches(build_tree())}
    assert stored["early"].lines == ("30 rewind 90", "30 power-on SERVER_A")
    assert (stored["late"].root.parent, stored["late"].root.tick, stored["late"].root.inputs) == (
        "main",
        7000,
        1,
    )


def test_a_time_before_the_fork_is_restored_from_the_parent() -> None:
    branches = build_tree()
    branches.switch_branch("early")
    branches.fork(1000, "first")
    assert branches.get_branch_point("first").parent == "main"
    branches.switch_branch("early")
    branches.fork(5000, "second")
    assert branches.get_branch_point("second").parent == "early"
    assert branches.get_branch_point("second").inputs == 2


@pytest.mark.parametrize("mode", [DrillMode.PRACTICE, DrillMode.LAB])
def test_a_stored_tree_is_restored(mode: DrillMode) -> None:
    branches = build_tree(mode)
    branches.fork(7500, "deeper")
    branches.history.apply_line("power-off SERVER_W")
    branches.history.advance_to(9000)
    branches.rename("main", "waiting")
    restored = restore_branches(change_small_text(), 3, list_stored_branches(branches))
    assert restored.list_names() == branches.list_names() == ["waiting", "early", "late", "deeper"]
    assert list_stored_branches(restored) == list_stored_branches(branches)
    for name in branches.list_names():
        assert (
            restored.get_history(name).drill.build_report() == branches.get_history(name).drill.build_report()
        )


def test_branch_names_are_unique() -> None:
    branches = build_tree()
    branches.rename("late", "  too   late ")
    assert (branches.current, branches.list_names()) == ("too late", ["main", "early", "too late"])
    branches.fork(7500)
    assert branches.current == "branch 1"
    assert branches.get_branch_point("branch 1").parent == "too late"
    for name in ("early", "", "x" * 61):
        with pytest.raises(BranchError):
            branches.rename("main", name)
    with pytest.raises(BranchError, match="does not exist"):
        branches.switch_branch("late")


def test_removing_a_branch_removes_its_descendants() -> None:
    branches = build_tree()
    branches.fork(7500, "deeper")
    for name, message in (
        ("main", "first"),
        ("late", "current"),
        ("deeper", "current"),
        ("x", "does not exist"),
    ):
        with pytest.raises(BranchError, match=message):
            branches.remove_branch(name)
    branches.switch_branch("early")
    branches.remove_branch("late")
    assert branches.list_names() == ["main", "early"]


def test_results_of_one_branch_are_recorded_in_all_branches() -> None:
    branches = BranchTree(History(build_drill_with_question()))
    branches.history.advance_to(2400)
    branches.history.apply_line("answer cause 1")
    branches.history.advance_to(4000)
    branches.fork(1000, "again")
    branches.switch_branch("main")
    branches.history.apply_line("hint 2")
    branches.switch_branch("again")
    branches.fork(500, "third")
    assert (
        branches.history.drill.journal[-1].line == "5 rewind 10 answer:cause:1 missed:next hint:protected:2"
    )
    assert list_stored_branches(
        restore_branches(change_small_text(*QUESTION_CHANGES), 3, list_stored_branches(branches))
    ) == list_stored_branches(branches)


# --- comparison of two branches -----------------------------------------------------------------------------


def test_the_divergence_of_two_branches_is_found() -> None:
    branches = build_tree()
    early_drill, late_drill = branches.get_history("early").drill, branches.get_history("late").drill
    first_difference = difference.find_first_difference(early_drill, late_drill)
    assert first_difference is not None
    assert (first_difference.tick, first_difference.left and first_difference.left.text) == (
        3000,
        "power-on SERVER_A",
    )
    assert first_difference.right is not None
    assert first_difference.right.tick == 4000
    assert difference.find_first_difference(early_drill, branches.get_history("early").seek(9000)) is None
    main = branches.get_history("main").drill
    assert difference.find_first_difference(main, branches.get_history("late").seek(6900)) is None, (
        "a rewind is no difference"
    )


def test_states_curves_and_results_are_compared() -> None:
    branches = build_tree()
    early_history, late_history = branches.get_history("early"), branches.get_history("late")
    rows = {
        row.what: row for row in difference.compare_states(early_history.seek(6000), late_history.seek(6000))
    }
    assert (rows["SERVER_A"].left, rows["SERVER_A"].right) == ("STOPPED", "OFF")
    assert rows["Sales on SERVER_A"].right == "instance is down; its role was PRINCIPAL"
    assert rows["Sales on SERVER_B"].is_equal
    assert rows["APP"].left == "on SERVER_B"
    (curve, *_) = difference.compare_curves(early_history.seek(9000), late_history.seek(8000))
    assert (curve.database, curve.counter, len(curve.left), len(curve.right)) == (
        "Sales",
        "send_queue_kb",
        90,
        80,
    )
    sums = {row.name: row for row in difference.compare_outcomes(early_history.drill, late_history.drill)}
    assert sums["exposed_s"].delta == pytest.approx(40.0, abs=5.0)
    assert sums["downtime_s"].delta == 0.0
    assert sums["score"].right == 98.0, "a way back"
