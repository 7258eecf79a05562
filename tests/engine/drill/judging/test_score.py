"""Points: graded, explained, dated; none for outcome or conduct in an unfinished run; hints have their stated cost."""

from __future__ import annotations

from contextlib import suppress

import pytest

from engine.drill.judging.score import score_linearly
from engine.drill.judging.scored_run import RubricItem
from engine.drill.running.drill import Drill, DrillMode
from engine.inputs import InputError
from tests.engine.drill.running.test_rewind import rewind_drill
from tests.engine.drill.texts import drill, run
from tests.events import read_field
from tests.shipped_scenarios import load_shipped_scenario

PROTECT = "power-on SERVER_A"
OFF = "sql SERVER_A ALTER DATABASE Sales SET PARTNER OFF"


@pytest.mark.parametrize(("value", "points"), [(0, 30), (10, 30), (35, 15), (60, 0), (600, 0)])
def test_time_points_fall_linearly(value: float, points: float) -> None:
    assert score_linearly(30.0, value, target=10.0, limit=60.0) == points


def item(items: tuple[RubricItem, ...], name: str) -> RubricItem:
    return next(each for each in items if each.name == name)


def test_a_finished_run_gets_all_points() -> None:
    taken = run(drill(), 40)
    taken.do(PROTECT)
    run(taken, 300)
    score = taken.score()
    assert score.finished
    assert score.total == 100.0
    assert item(score.items, "End state").at_s, "goals without their moments"
    assert 20.0 in item(score.items, "Downtime").at_s
    assert all(each.why for each in score.items)
    assert not any(each.better for each in score.items)


def test_an_unfinished_run_gets_only_goal_points() -> None:
    taken = run(drill(), 300)
    score = taken.score()
    assert taken.finished
    assert not score.finished
    assert score.total == 10.0  # one goal of weight 1 out of a total weight of 4
    assert "1 of 2" in item(score.items, "Downtime").why
    assert item(score.items, "End state").better


def test_the_total_equals_that_of_the_score() -> None:
    taken, seen = drill(), set()
    for line in (
        "hint 1",
        "sql SERVER_B ALTER DATABASE Sales SET PARTNER FAILOVER",
        OFF,
        PROTECT,
        "note",
        "finish",
    ):
        run(taken, taken.tick / 100 + 10)
        with suppress(InputError):
            taken.do(line)
        assert taken.total() == taken.score().total
        seen.add(taken.total())
    assert len(seen) > 1
    taken = run(drill(), 40)
    taken.do(PROTECT)
    run(taken, 300)
    assert taken.total() == taken.score().total == 100.0


def test_refused_commands_and_prices_reduce_conduct_points() -> None:
    taken = run(drill(), 5)
    taken.do("sql SERVER_B ALTER DATABASE Sales SET PARTNER FAILOVER")
    run(taken, 40)
    taken.do(PROTECT)
    run(taken, 300)
    conduct = item(taken.score().items, "Conduct")
    assert conduct.points == 26.0
    assert "1470" in conduct.why
    assert conduct.at_s == (5.0,)


def test_a_price_is_charged_once() -> None:
    taken = run(drill(), 5)
    taken.do(OFF)
    run(taken, 7)
    assert [e.text for e in taken.events if e.kind == "score"] == ["The session was removed."]
    run(taken, 9)
    assert len([e for e in taken.events if e.kind == "score"]) == 1


def test_queries_and_typing_errors_cost_nothing() -> None:
    taken = run(drill(), 5)
    taken.do("sql SERVER_B USE Sales")
    taken.do("sql SERVER_B SELEC 1")
    run(taken, 40)
    taken.do(PROTECT)
    run(taken, 300)
    assert item(taken.score().items, "Conduct").points == 30.0


@pytest.mark.parametrize(("mode", "cost"), [(DrillMode.PRACTICE, 3.0), (DrillMode.GUIDED, 0.0)])
def test_hints_cost_points_in_practice(mode: DrillMode, cost: float) -> None:
    taken = run(drill(mode=mode), 40)
    assert taken.hint_cost(2) == (2.0 if cost else 0.0)
    assert taken.hint(1) == "Look at SERVER_A."
    assert taken.hint(2) == "It is off."
    assert taken.hint(2) == "It is off."
    assert taken.hint_cost(2) == 0.0
    taken.do(PROTECT)
    run(taken, 300)
    assert taken.score().total == 100.0 - cost


def test_hints_cost_at_most_the_points_beyond_the_goals() -> None:
    taken = run(drill(("cost = [1, 2, 30]", "cost = [50, 50, 50]")), 40)
    for layer in (1, 2, 3):
        taken.hint(layer)
    taken.do(PROTECT)
    run(taken, 300)
    assert taken.score().total == 40.0, "who finishes keeps the points for the goals"


def test_a_score_is_reported_as_events() -> None:
    taken = run(drill(), 300)
    told = [e for e in taken.events if e.kind == "score"]
    assert [read_field(e, "name") for e in told] == ["End state", "Downtime", "Conduct"]
    assert sum(read_field(e, "points") for e in told) == taken.score().total


OFF_WITNESS = "sql {server} ALTER DATABASE Sales SET WITNESS OFF"


def test_a_refused_command_does_not_disable_automatic_failover() -> None:
    """SERVER_W does not have the database and refuses the command."""
    taken = run(drill(), 5)
    taken.do(OFF_WITNESS.format(server="SERVER_W"))
    run(taken, 40)
    taken.do(PROTECT)
    run(taken, 300)
    score = taken.score()
    assert score.finished
    assert "Automatic failover disabled" not in [each.name for each in score.items]
    assert score.total == 96.0, "a refused command costs four points of conduct"


def test_rewinds_cost_at_most_the_points_beyond_the_goals() -> None:
    """The hints leave only the points of the goals, so the rewind costs nothing and the items add up to the total."""
    taken = run(drill(("cost = [1, 2, 30]", "cost = [50, 50, 50]")), 40)
    for layer in (1, 2, 3):
        taken.hint(layer)
    back = rewind_drill(run(taken, 100), 30)
    back.do(PROTECT)
    run(back, 300)
    score = back.score()
    assert item(score.items, "Rewinds").points == 0.0
    assert score.total == sum(each.points for each in score.items) == 40.0


@pytest.mark.parametrize(("wait_s", "counted"), [(0.0, False), (89.0, False), (91.0, True)])
def test_an_unanswered_question_about_the_state_counts_when_its_time_is_over(
    wait_s: float, counted: bool
) -> None:
    taken = Drill(load_shipped_scenario("team-cable"))
    run(taken, 5)
    taken.do("@manager ask-status dba Payments?")
    run(taken, 5 + wait_s)
    taken.do("finish")
    losses = [loss.why for loss in item(taken.score().items, "Status").losses if "no answer" in loss.why]
    assert len(losses) == counted


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (["@dba status manager Claims is SYNCHRONIZED"], "No role asked for the state."),
        (["@manager ask-status dba Claims?"], "0 of 1 questions answered correctly and on time."),
        (
            ["@dba status manager Claims is SYNCHRONIZED", "@manager ask-status dba Claims?"],
            "0 of 1 questions answered correctly and on time.",
        ),
    ],
)
def test_only_questions_count_as_status_questions(lines: list[str], why: str) -> None:
    scenario = load_shipped_scenario("team-status-calls")
    taken = Drill(scenario, scenario.seed, DrillMode.PRACTICE)
    taken.advance_to(1000)
    for line in lines:
        taken.do(line)
    taken.advance_to(12_000)
    taken.do("finish")
    assert item(taken.score().items, "Status").why.startswith(why)


@pytest.mark.parametrize("batch", ["", "sql SERVER_B ALTER DATABASE Sales SET PARTNER SUSPEND"])
def test_points_for_a_forbidden_state_are_lost_when_it_is_reached(batch: str) -> None:
    rubric = '[[rubric]]\nkind = "forbidden"\nname = "Session"\npoints = 10\nbetter = "Keep it."\n\n'
    forbidden = (
        '[[forbidden]]\nname = "apart"\ntext = "Suspended"\nwhen = "Sales is SUSPENDED"\n'
        'better = "Keep the session"\n\n'
    )
    taken = drill(
        ('[[rubric]]\nkind = "downtime"', f'{forbidden}{rubric}[[rubric]]\nkind = "downtime"'),
        ("points = 40", "points = 30"),
    )
    taken.advance_to(8000)
    taken.do("power-on SERVER_A")
    taken.advance_to(15_000)
    if batch:
        taken.do(batch)
        taken.advance_to(15_200)
        taken.do(batch.replace("SUSPEND", "RESUME"))
    taken.advance_to(taken.end_tick or 0)
    assert (item(taken.score().items, "Session").points == 10.0) is (not batch)
