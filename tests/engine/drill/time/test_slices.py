"""Long computations in slices: same result as in one call, bounded steps, and cancellation without effects."""

from __future__ import annotations

import pytest

from engine.drill.judging.review import review_run, review_run_in_slices
from engine.drill.running.drill import Drill, DrillMode
from engine.drill.running.solution import play_solution, play_solution_in_slices
from engine.drill.time.branches import BranchTree
from engine.drill.time.cooperative_tasks import SLICE_WORK, CooperativeTask, replay_inputs, scale_progress
from engine.drill.time.history import History
from engine.generators import run_to_completion
from engine.inputs import Input, InputError
from tests.engine.drill.branch_storage import list_stored_branches, restore_branches
from tests.engine.drill.texts import build_drill

LINES = ((1000, "power-off SERVER_A"), (3000, "power-on SERVER_A"), (3000, "note mended"))
END_TICK = 40_000
JOURNAL = tuple(
    Input(tick, verb, tuple(words)) for tick, (verb, *words) in ((tick, line.split()) for tick, line in LINES)
)


def play_history() -> History:
    history = History(build_drill())
    for tick, line in LINES:
        history.advance_to(tick)
        history.apply_line(line)
    history.advance_to(END_TICK)
    return history


def list_progress(cooperative_task: CooperativeTask[object]) -> list[float]:
    return list(cooperative_task)


def test_a_run_in_slices_equals_the_run() -> None:
    whole_run, history = play_history(), History(build_drill())
    longest, before = 0, 0
    for share in replay_inputs(history, JOURNAL, END_TICK):
        assert 0.0 <= share <= 1.0
        longest, before = max(longest, history.drill.tick - before), history.drill.tick
    assert longest <= SLICE_WORK
    assert history.drill.build_report() == whole_run.drill.build_report()
    assert history.seek(2000).compute_state_hash() == whole_run.seek(2000).compute_state_hash()


def test_a_deviating_state_is_refused() -> None:
    right = play_history().seek(2000).compute_state_hash()
    run_to_completion(replay_inputs(History(build_drill()), JOURNAL, END_TICK, [(2000, right)]))
    with pytest.raises(InputError, match=r"the state at 0:20\.00 differs from the recorded state"):
        run_to_completion(replay_inputs(History(build_drill()), JOURNAL, END_TICK, [(2000, "0" * 32)]))


def test_an_input_after_the_end_is_refused_and_does_not_block() -> None:
    late_inputs = [Input(1000, "finish"), Input(2000, "note", ("late",))]
    with pytest.raises(InputError, match="has ended"):
        run_to_completion(replay_inputs(build_drill(), late_inputs, 3000))
    assert run_to_completion(replay_inputs(build_drill(), late_inputs, 3000, skip_refused=True)).tick == 1000


def test_a_debrief_in_slices_gives_the_same_result() -> None:
    ended_drill = build_drill()
    play_solution(ended_drill)
    slices = review_run_in_slices(ended_drill)
    assert next(slices) < 1.0
    assert run_to_completion(review_run_in_slices(ended_drill)) == review_run(ended_drill)
    shares = list_progress(review_run_in_slices(ended_drill))
    assert len(shares) > 10
    assert shares == sorted(shares)


def test_a_solution_is_played_with_its_history() -> None:
    history, whole_drill = History(build_drill()), build_drill()
    run_to_completion(play_solution_in_slices(history))
    play_solution(whole_drill)
    assert history.drill.compute_state_hash() == whole_drill.compute_state_hash()
    assert history.seek(0).tick == 0


def test_a_tree_is_unchanged_until_the_last_slice_of_a_fork() -> None:
    tree = BranchTree(play_history())
    tree.fork(2000, "early")
    stored = restore_branches(
        tree.history.drill.scenario, tree.history.drill.seed, list_stored_branches(tree)
    )
    abandoned = stored.fork_in_slices(1500)
    next(abandoned)
    abandoned.close()
    assert (stored.list_names(), stored.current) == (["main", "early"], "main")
    forked = run_to_completion(stored.fork_in_slices(1500))
    assert stored.list_names() == ["main", "early", "branch 1"]
    assert forked.drill.compute_state_hash() == stored.history.drill.compute_state_hash()


def test_stored_branches_are_loaded_in_slices() -> None:
    tree = BranchTree(play_history())
    tree.fork(2000, "early").advance_to(30_000)
    stored = restore_branches(
        tree.history.drill.scenario, tree.history.drill.seed, list_stored_branches(tree)
    )
    assert list_progress(stored.replay_stored_branches())
    assert list_progress(stored.replay_stored_branches()) == []  # the snapshots exist already
    assert (
        stored.get_history("early").drill.compute_state_hash()
        == tree.get_history("early").drill.compute_state_hash()
    )


def test_a_fork_of_an_exam_is_a_practice_run() -> None:
    history = History(build_drill(mode=DrillMode.EXAM))
    history.advance_to(4000)
    history.apply_line("finish")
    assert list_progress(history.fork_in_slices(2000))
    retry = history.fork(2000)
    assert retry.drill.mode is DrillMode.PRACTICE
    assert retry.seek(500).tick == 500


def test_an_unrecorded_branch_is_undone() -> None:
    history, other_history = History(build_drill()), History(build_drill())
    for run in (history, other_history):
        run.advance_to(1000)
        run.apply_line("power-off SERVER_A")
        run.advance_to(2000)
    history.apply_line("power-on SERVER_A")
    history.undo_last_input()
    assert history.drill.build_report() == other_history.drill.build_report()
    for run in (history, other_history):
        run.advance_to(2500)
    assert history.drill.build_report() == other_history.drill.build_report()
    assert history.seek(1500).compute_state_hash() == other_history.seek(1500).compute_state_hash()


def test_a_subtask_reports_its_part_of_the_progress() -> None:
    def run_half() -> CooperativeTask[Drill | None]:
        yield 0.0
        yield 0.5
        return None

    assert list_progress(scale_progress(run_half(), 0.5, 1.0)) == [0.5, 0.75]
