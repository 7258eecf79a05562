"""Regret of actions and waits: none along the reference, high after a long wait. V(t) never rises."""

from __future__ import annotations

import random

import pytest
from msgspec.structs import replace

from engine.drill.authoring.scenario import Scenario
from engine.drill.judging import counterfactual
from engine.drill.judging.automatic_players import build_random_player
from engine.drill.par import continuations, regret
from engine.drill.par.regret import (
    VALUE_RISE_MAX,
    analyze_regret,
    compute_accuracy,
    exclude_finish,
    find_retry_start,
)
from engine.drill.par.regret_analysis import WAITING, RegretAnalysis, RunSegment
from engine.drill.par.search_drill import RetryingRun, SearchDrill
from engine.drill.running.drill import Drill, play_inputs, replay
from engine.drill.running.solution import find_default_end, play_idle, play_reference
from engine.generators import run_to_completion
from engine.inputs import Input
from engine.model import to_ticks
from tests import par_drills
from tests.engine.drill import texts


@pytest.fixture(scope="module")
def small() -> Scenario:
    return texts.change_small_text()


def compute_account(drill: Drill) -> RegretAnalysis:
    return run_to_completion(analyze_regret(drill))


def test_the_reference_loses_nothing(small: Scenario) -> None:
    drill = play_reference(small)
    account = compute_account(drill)
    assert {move.label for move in account.moves} == {"best"}
    assert (account.accuracy, account.point_of_no_return, account.worst) == (100.0, None, None)
    assert account.curve[-1][1] == drill.compute_score().total


def test_a_run_interrupted_by_others_is_not_abandoned(small: Scenario) -> None:
    drill = Drill(small)
    drill.advance_to(to_ticks(10.0))
    drill.end_now()
    account = compute_account(drill)
    assert account.moves[-1].line == "finish"
    assert account.accuracy < 50.0
    assert account.point_of_no_return is not None
    stillness = exclude_finish(account)
    assert stillness.moves == account.moves[:-1]
    assert (stillness.accuracy, stillness.point_of_no_return) == (100.0, None)


def test_doing_nothing_loses_points_by_waiting(small: Scenario) -> None:
    drill = play_idle(small)
    account = compute_account(drill)
    assert {move.line for move in account.moves} == {WAITING}
    assert len(account.moves) > 1, "it is split where something could be seen"
    assert account.moves[0].until > to_ticks(20.0), "nothing could be seen before the failure"
    assert account.curve[0][1] == play_reference(small).compute_score().total
    assert account.curve[-1][1] == drill.compute_score().total
    worst = account.worst
    assert worst is not None
    assert worst.label == "blunder"
    assert account.accuracy < 1.0, "a wait counts once, into however many it is split"
    assert account.point_of_no_return is not None
    assert 0 < account.point_of_no_return < drill.tick
    first_run, later_drill = (Drill(small) for _ in range(2))
    for run, wait_ticks in ((first_run, 0), (later_drill, to_ticks(2.0))):
        run.advance_to(account.point_of_no_return + wait_ticks)
        run.apply_line("power-on SERVER_A")
        run.advance_to(drill.tick)
    assert first_run.compute_score().finished
    assert not later_drill.compute_score().finished
    chance = account.last_chance
    assert chance is not None
    assert (chance.tick, chance.line, chance.shared_input_count) == (account.point_of_no_return, WAITING, 0)
    assert chance.remaining_actions[0].tick == chance.tick
    second_run = Drill(small)
    play_inputs(second_run, chance.plan)
    second_run.advance_to(drill.tick)
    assert second_run.compute_score().finished, "it is the proof"
    assert chance.missed_goals == (("SERVER_A is the mirror again", drill.tick),)


def test_an_action_that_ends_the_last_chance_is_named(small: Scenario) -> None:
    drill = Drill(small)
    drill.advance_to(to_ticks(5.0))
    drill.apply_line("sql SERVER_A SELECT 1")
    drill.advance_to(to_ticks(40.0))
    drill.apply_line("finish")
    chance = compute_account(drill).last_chance
    assert chance is not None
    assert (chance.tick, chance.line, chance.shared_input_count) == (to_ticks(40.0), "finish", 1)
    assert all(item.tick >= chance.tick for item in chance.remaining_actions)


def test_a_retry_begins_in_time_for_its_first_action(small: Scenario) -> None:
    own_input, first = Input(500, "power-off", ("SERVER_B",)), Input(9_000, "power-on", ("SERVER_A",))
    waited = RunSegment(8_000, 12_000, WAITING, 100.0, 80.0, "blunder", (own_input, first), 1)
    assert find_retry_start(waited) == (min(8_001, counterfactual.find_retry_tick(9_000, first, ())), 9_000)
    finish_segment = RunSegment(8_000, 8_000, "finish", 100.0, 80.0, "blunder", (own_input, first), 1)
    assert find_retry_start(finish_segment) == (counterfactual.find_retry_tick(8_000, first, ()), 8_000), (
        "before what was done"
    )
    lone_finish = RunSegment(8_000, 8_000, "finish", 100.0, 80.0, "blunder", (own_input,), 1)
    assert find_retry_start(lone_finish) == (counterfactual.find_retry_tick(8_000, None, ()), 8_000)


def test_a_harmful_action_is_named_with_a_better_one(small: Scenario) -> None:
    drill = Drill(small)
    drill.advance_to(to_ticks(25.0))
    drill.apply_line("power-off SERVER_B")
    drill.advance_to(drill.end_tick or 0)
    account = compute_account(drill)
    worst = max(account.moves, key=lambda move: move.regret)
    assert worst.regret > 5.0
    assert account.worst == worst
    assert any(item.line_without_time == "power-on SERVER_A" for item in worst.best)
    assert all(item.tick >= worst.tick for item in worst.best)


def test_a_removed_session_can_be_set_up_again(small: Scenario) -> None:
    drill = Drill(small)
    drill.advance_to(to_ticks(5.0))
    drill.apply_line("sql SERVER_A ALTER DATABASE Sales SET PARTNER OFF")
    drill.advance_to(drill.end_tick or 0)
    account = compute_account(drill)
    removed = next(move for move in account.moves if move.line)
    assert removed.regret == 20.0, "its price, and no more"
    waited = next(move for move in account.moves if move.tick > removed.tick and move.regret)
    options = [item.line_without_time.partition(" SET ")[2].split(" = ")[0] for item in waited.best[:3]]
    assert options == ["PARTNER", "PARTNER", "WITNESS"]
    assert waited.until < to_ticks(20.0), "before the failure"


def test_undoing_ones_own_damage_is_not_brilliant(small: Scenario) -> None:
    """The reachable score before the repair already includes the repair, even without a search."""
    suspend, cable = "sql SERVER_A ALTER DATABASE Sales SET PARTNER", "cable SERVER_B"
    lines = [f"5 {suspend} SUSPEND", f"12 {suspend} RESUME", f"30 pull-{cable}", f"60 plug-{cable}"]
    lines.append("70 power-on SERVER_A")
    drill = replay(small, small.seed, "practice", lines)
    drill.advance_to(find_default_end(drill))
    account = run_to_completion(analyze_regret(drill, search_low_values=False))
    assert account.largest_rise <= VALUE_RISE_MAX
    assert [move.line for move in account.moves if move.label == "brilliant"] == []


def test_giving_up_loses_the_reachable_points(small: Scenario) -> None:
    drill = Drill(small)
    drill.advance_to(to_ticks(1.0))
    drill.apply_line("finish")
    account = compute_account(drill)
    last = account.moves[-1]
    assert (last.line, last.label, last.tick) == ("finish", "blunder", drill.tick)
    assert (last.before, last.after) == (
        play_reference(small).compute_score().total,
        drill.compute_score().total,
    )
    assert last.best
    assert account.point_of_no_return == drill.tick


def test_a_drill_without_a_solution_is_searched(small: Scenario) -> None:
    account = compute_account(play_idle(small.model_copy(update={"solution": ()})))
    assert account.curve[0][1] == play_reference(small).compute_score().total
    assert account.point_of_no_return is not None


def test_queries_leave_time_for_actions_and_all_actions_run(
    small: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.drill.par.regret.EVALUATED_ACTIONS_MAX", 1)
    drill = Drill(small)
    for number in range(3):
        drill.advance_to(to_ticks(5.0 + number))
        drill.apply_line("sql SERVER_A SELECT 1")
    drill.advance_to(to_ticks(25.0))
    drill.apply_line("power-off SERVER_B")
    drill.advance_to(to_ticks(26.0))
    drill.apply_line("power-off SERVER_W")
    drill.advance_to(drill.end_tick or 0)
    account = compute_account(drill)
    assert [move.line for move in account.moves if move.line] == ["power-off SERVER_B"]
    assert account.curve[-1][1] == drill.compute_score().total


@pytest.mark.parametrize("seed", range(3))
def test_the_curve_never_rises_and_ends_with_the_score(small: Scenario, seed: int) -> None:
    drill = build_random_player(random.Random(seed).randrange(1000))(small, small.seed)
    account = compute_account(drill)
    values = [value for _, value in account.curve]
    assert values == sorted(values, reverse=True)
    assert values[-1] == drill.compute_score().total
    assert account.curve[0][0] == 0


def test_accuracy_follows_the_published_formula() -> None:
    assert [round(compute_accuracy(loss), 1) for loss in (1, 3, 5, 10, 15, 20, 40)] == [
        96.6,
        88.4,
        80.8,
        64.6,
        51.5,
        41.0,
        15.9,
    ]


def test_without_a_known_plan_a_search_finds_the_players_actions(small: Scenario) -> None:
    unsolved = texts.change_small_text(
        (texts.COURSE_TEXT[texts.COURSE_TEXT.index("[[solution]]") :].split("[[rubric]]")[0], "")
    )
    drill = Drill(unsolved)
    drill.advance_to(to_ticks(40.0))
    drill.apply_line("power-on SERVER_A")
    drill.advance_to(drill.end_tick or 0)
    credulous, doubting = (
        run_to_completion(analyze_regret(drill, search_low_values=doubts)) for doubts in (False, True)
    )
    assert credulous.largest_rise > 50.0
    assert doubting.largest_rise <= VALUE_RISE_MAX
    assert "brilliant" in {move.label for move in credulous.moves}
    assert "brilliant" not in {move.label for move in doubting.moves}


def test_a_refused_action_waits_until_it_is_accepted() -> None:
    lonely = texts.change_small_text(('witness = "SERVER_W"\n', ""))
    run = SearchDrill(lonely)
    run.advance_to(to_ticks(15.0))
    forced = RetryingRun(run).apply_line(
        "sql SERVER_B ALTER DATABASE Sales SET PARTNER FORCE_SERVICE_ALLOW_DATA_LOSS"
    )
    assert to_ticks(20.0) < forced.tick < to_ticks(60.0), "once the principal is lost"


def test_a_run_with_several_mistakes_can_recover() -> None:
    """One step of the solution failed and another fault followed. One action leads back to the earlier plan."""
    scenario = next(scenario for scenario in par_drills.list_scenarios() if scenario.name == "set-up")
    lines = ["1 pull-cable B1", "4 stop-service A1", "6 sql B1 ALTER ENDPOINT Mirroring STATE = STARTED"]
    drill = replay(scenario, scenario.seed, "practice", [*lines, "90 power-off B1"])
    drill.advance_to(find_default_end(drill))
    first: list[RegretAnalysis] = []
    account = run_to_completion(analyze_regret(drill, on_progress=first.append))
    assert account.largest_rise <= VALUE_RISE_MAX
    noop_move, broken = (move for move in account.moves if move.line.startswith(("sql", "power-off")))
    assert noop_move.regret < 1.0
    assert broken.after > 60.0
    (drawn_account,) = first
    before, values_after = dict(drawn_account.curve), dict(account.curve)
    assert all(before[tick] <= points for tick, points in values_after.items() if tick in before), (
        "it gets better"
    )
    assert before != values_after


def test_actions_after_total_loss_are_not_rated_accurate() -> None:
    loss_segment = RunSegment(2_000, 2_000, "power-off SERVER_B", 100.0, 0.0, "blunder")
    later_segments = [
        RunSegment(tick, tick, "sql SERVER_A SELECT 1", 0.0, 0.0, "best") for tick in range(3_000, 3_020)
    ]
    few_accuracy, many_accuracy = (
        exclude_finish(RegretAnalysis(moves, 0.0, None))
        for moves in ((loss_segment,), (loss_segment, *later_segments))
    )
    assert many_accuracy.accuracy == few_accuracy.accuracy < 2.0
    right = replace(loss_segment, line="power-on SERVER_B", after=100.0, label="best")
    some_accuracy = exclude_finish(RegretAnalysis((*[right] * 8, loss_segment), 0.0, None))
    assert some_accuracy.accuracy > 10.0 * few_accuracy.accuracy, "what was right before does count"


def test_a_low_value_after_actions_starts_a_search(small: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    """No known plan continues from this state, and the recovery needs more than one action."""
    for function_name in ("list_continuations", "list_whole_continuations"):
        monkeypatch.setattr(
            continuations, function_name, lambda *_: iter([continuations.build_idle_continuation()])
        )
    monkeypatch.setattr(continuations, "list_prefixed_continuations", lambda *_: iter(()))
    drill = Drill(small)
    for at_s, line in ((40.0, "stop-service SERVER_B"), (41.0, "stop-service SERVER_W")):
        drill.advance_to(to_ticks(at_s))
        drill.apply_line(line)
    drill.advance_to(drill.end_tick or 0)
    account = compute_account(drill)
    stop_move = next(move for move in account.moves if move.line == "stop-service SERVER_W")
    assert stop_move.after > 80.0
    assert account.largest_gap is not None
    assert stop_move.after <= account.largest_gap.value < account.largest_gap.upper_bound
    monkeypatch.setattr(regret, "SEARCH_STARTS_MAX", 0)
    assert max(value for _, value in compute_account(drill).curve) == 10.0


def test_possible_improvements_are_reported(small: Scenario) -> None:
    assert compute_account(play_reference(small)).largest_gap is None
    assert compute_account(play_idle(small)).largest_gap is None, "all that was lost was lost for good"
    drill = Drill(small)
    drill.advance_to(to_ticks(30.0))
    drill.apply_line("stop-service SERVER_B")
    drill.advance_to(drill.end_tick or 0)
    doubt = compute_account(drill).largest_gap
    assert doubt is not None
    assert 0.5 <= doubt.upper_bound - doubt.value < 10.0
