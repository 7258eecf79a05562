"""Lessons: selection of mistakes, plans of lessons, and judgment of answers."""

from __future__ import annotations

from msgspec.structs import replace

from app.files import par_certificates
from engine.drill.par.lessons import (
    attribute_loss_to_command,
    choose_explaining_inputs,
    convert_reference_steps,
    find_biggest_lesson,
    find_lessons,
    has_ended_last_chance,
    is_good_answer,
    judge_action,
    judge_wait,
    use_reference_times,
)
from engine.drill.par.regret import analyze_regret
from engine.drill.par.regret_analysis import WAITING, LastChance, RegretAnalysis, RunSegment
from engine.drill.par.search_drill import SearchDrill
from engine.drill.running.drill import Drill
from engine.drill.time.cooperative_tasks import play_in_slices
from engine.generators import run_to_completion
from engine.verbs.input_lines import parse_input_line
from tests.shipped_scenarios import load_shipped_scenario

LATE_INPUT = parse_input_line("power-on SERVER_A", 9000)
QUERY_LINE = "sql SERVER_B SELECT 1"
ACTION_LINE = "power-off SERVER_B"


def build_wait(tick: int, end_tick: int, value_before: float, value_after: float) -> RunSegment:
    plan = (LATE_INPUT,) if value_before - value_after >= 0.5 else ()
    return RunSegment(tick, end_tick, WAITING, value_before, value_after, "good", plan)


def build_segment(tick: int, line: str, value_before: float, value_after: float) -> RunSegment:
    return RunSegment(
        tick,
        tick,
        line,
        value_before,
        value_after,
        "best",
        (LATE_INPUT,) if value_before > value_after else (),
    )


def test_waits_between_two_actions_are_one_lesson() -> None:
    moves = (
        build_wait(0, 1000, 100.0, 100.0),
        build_wait(1000, 2000, 100.0, 97.0),
        build_segment(2000, QUERY_LINE, 97.0, 97.0),
        build_wait(2000, 3000, 97.0, 93.0),
        build_segment(3000, ACTION_LINE, 93.0, 60.0),
        build_wait(3000, 4000, 60.0, 58.0),
    )
    idle, acted = find_lessons(RegretAnalysis(moves, 50.0, None))
    assert (idle.tick, idle.until, idle.regret, idle.line) == (1000, 3000, 7.0, WAITING)
    assert (acted.tick, acted.line, acted.regret) == (3000, ACTION_LINE, 33.0)
    assert find_biggest_lesson((idle, acted)) is acted


def test_ending_the_drill_can_be_a_mistake_and_small_losses_are_ignored() -> None:
    moves = (build_wait(0, 500, 70.0, 67.0), build_segment(500, "finish", 67.0, 20.0))
    (lesson,) = find_lessons(RegretAnalysis(moves, 50.0, None))
    assert lesson.line == "finish"
    assert find_lessons(RegretAnalysis((build_wait(0, 500, 70.0, 67.0),), 50.0, None)) == ()


def test_a_lesson_closes_goals_if_the_last_chance_passed_during_it() -> None:
    idle, acted = build_wait(1000, 3000, 90.0, 50.0), build_segment(3000, ACTION_LINE, 50.0, 0.0)
    passed = LastChance(2500, (LATE_INPUT,), 0, WAITING, (("served", None),))
    assert has_ended_last_chance(idle, passed)
    assert not has_ended_last_chance(acted, passed)
    assert has_ended_last_chance(acted, replace(passed, tick=3000, line=ACTION_LINE))
    assert not has_ended_last_chance(idle, None)


def test_the_command_is_the_mistake_if_its_harm_shows_in_the_wait_after_it() -> None:
    scenario = load_shipped_scenario("why-no-failover-not-synchronized")
    drill = Drill(scenario, 31)
    force = "sql GRID2 ALTER DATABASE Meters SET PARTNER FORCE_SERVICE_ALLOW_DATA_LOSS"
    inputs = [parse_input_line(force, 61_660), parse_input_line("finish", 73_560)]
    run_to_completion(play_in_slices(drill, inputs, 73_560))
    account = run_to_completion(analyze_regret(drill, list(par_certificates.load_certified_plans(drill))))
    early_lesson, late_lesson = find_lessons(account)
    assert late_lesson.line == WAITING

    def find_mistake(lesson: RunSegment) -> RunSegment:
        run = SearchDrill(scenario, 31)
        return run_to_completion(attribute_loss_to_command(run, lesson, account, drill.journal))

    assert find_mistake(early_lesson) == early_lesson, "the wait before the command"
    blame_found = find_mistake(late_lesson)
    assert (blame_found.tick, blame_found.line, blame_found.regret) == (61_660, force, late_lesson.regret)
    assert [item.line_without_time for item in blame_found.best] == ["power-on GRID1"]
    assert has_ended_last_chance(blame_found, account.last_chance)
    harmless = replace(late_lesson, before=101.0)
    assert find_mistake(harmless) == harmless, "the run without the command is no better"


def test_steps_list_actions_with_the_queries_before_them() -> None:
    lines = (QUERY_LINE, "answer a 1", ACTION_LINE, QUERY_LINE, "power-on SERVER_B", QUERY_LINE)
    plan = [parse_input_line(line, 100 * number) for number, line in enumerate(lines)]
    assert [item.line_without_time for item in choose_explaining_inputs(plan, 3)] == [
        QUERY_LINE,
        ACTION_LINE,
        "power-on SERVER_B",
    ]
    assert [item.line_without_time for item in choose_explaining_inputs(plan, 1)] == [ACTION_LINE]
    assert choose_explaining_inputs([], 3) == ()


SET_PARTNER_OFF = "sql SERVER_B ALTER DATABASE Sales SET PARTNER OFF"
FORCE_SERVICE = "sql SERVER_B ALTER DATABASE Sales SET PARTNER FORCE_SERVICE_ALLOW_DATA_LOSS"
RESUME = "sql SERVER_B ALTER DATABASE Sales SET PARTNER RESUME"
HASTY_PLAN = tuple(
    parse_input_line(line, tick)
    for tick, line in ((8800, FORCE_SERVICE), (9400, "answer what-it-costs 2"), (42600, RESUME))
)
REFERENCE_PLAN = convert_reference_steps(
    [(13300, FORCE_SERVICE), (13900, "answer what-it-costs 2"), (43900, RESUME)]
)


def build_lesson(value_before: float) -> RunSegment:
    return RunSegment(8720, 8720, SET_PARTNER_OFF, value_before, 0.0, "blunder", HASTY_PLAN)


def build_search_drill() -> SearchDrill:
    scenario = load_shipped_scenario("forced-service")
    return SearchDrill(scenario, scenario.seed)


def test_a_plan_at_human_pace_replaces_an_equal_one() -> None:
    assert (
        run_to_completion(use_reference_times(build_search_drill(), build_lesson(95.0), REFERENCE_PLAN)).best
        == REFERENCE_PLAN
    )
    assert (
        run_to_completion(use_reference_times(build_search_drill(), build_lesson(101.0), REFERENCE_PLAN)).best
        == HASTY_PLAN
    ), "worth less than was possible"
    assert (
        run_to_completion(
            use_reference_times(build_search_drill(), replace(build_lesson(95.0), tick=14000), REFERENCE_PLAN)
        ).best
        == HASTY_PLAN
    ), "too late for it"


def play_to_mistake(*lines: str) -> Drill:
    scenario = load_shipped_scenario("forced-service")
    drill = Drill(scenario, scenario.seed)
    drill.advance_to(8720)
    for line in lines:
        drill.apply_line(line)
    return drill


def test_an_answer_is_judged_by_the_score_that_stays_reachable() -> None:
    judgment = run_to_completion(judge_action(play_to_mistake(FORCE_SERVICE), [HASTY_PLAN]))
    assert is_good_answer(build_lesson(100.0), judgment)
    assert not judgment.is_noop
    bad = run_to_completion(judge_action(play_to_mistake(SET_PARTNER_OFF), [HASTY_PLAN]))
    assert not is_good_answer(build_lesson(100.0), bad)
    assert run_to_completion(judge_action(play_to_mistake(RESUME), [HASTY_PLAN])).is_noop, (
        "refused, and nothing has changed"
    )
    assert is_good_answer(build_lesson(100.0), run_to_completion(judge_wait(play_to_mistake(), [HASTY_PLAN])))
