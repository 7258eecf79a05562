"""Points of a run: their grades, reasons and times.

An unfinished run gets no points for outcome or conduct. Hints cost as many points as stated.
"""

from __future__ import annotations

from contextlib import suppress

import pytest

from engine.drill.judging.score import score_linearly
from engine.drill.judging.scored_run import RubricItem
from engine.drill.running.drill import Drill, DrillMode
from engine.inputs import InputError
from tests.engine.drill.running.test_rewind import rewind_drill
from tests.engine.drill.texts import advance_drill, build_drill, open_next_hint
from tests.events import read_field
from tests.shipped_scenarios import load_shipped_scenario

POWER_ON = "power-on SERVER_A"
SET_PARTNER_OFF = "sql SERVER_A ALTER DATABASE Sales SET PARTNER OFF"


@pytest.mark.parametrize(("value", "points"), [(0, 30), (10, 30), (35, 15), (60, 0), (600, 0)])
def test_time_points_fall_linearly(value: float, points: float) -> None:
    assert score_linearly(30.0, value, target=10.0, limit=60.0) == points


def find_item(items: tuple[RubricItem, ...], name: str) -> RubricItem:
    return next(item for item in items if item.name == name)


def test_a_finished_run_gets_all_points() -> None:
    drill_run = advance_drill(build_drill(), 40)
    drill_run.apply_line(POWER_ON)
    advance_drill(drill_run, 300)
    score = drill_run.compute_score()
    assert score.finished
    assert score.total == 100.0
    assert find_item(score.items, "End state").at_s, "goals without their moments"
    assert 20.0 in find_item(score.items, "Downtime").at_s
    assert all(item.reason for item in score.items)
    assert not any(item.better for item in score.items)


def test_an_unfinished_run_gets_only_goal_points() -> None:
    drill_run = advance_drill(build_drill(), 300)
    score = drill_run.compute_score()
    assert drill_run.finished
    assert not score.finished
    assert score.total == 10.0  # the reached goal has weight 1 of 4
    assert "1 of 2" in find_item(score.items, "Downtime").reason
    assert find_item(score.items, "End state").better


def test_the_total_equals_that_of_the_score() -> None:
    drill_run, causes = build_drill(), set()
    for line in (
        "hint 1",
        "sql SERVER_B ALTER DATABASE Sales SET PARTNER FAILOVER",
        SET_PARTNER_OFF,
        POWER_ON,
        "note",
        "finish",
    ):
        advance_drill(drill_run, drill_run.tick / 100 + 10)
        with suppress(InputError):
            drill_run.apply_line(line)
        assert drill_run.compute_total() == drill_run.compute_score().total
        causes.add(drill_run.compute_total())
    assert len(causes) > 1
    drill_run = advance_drill(build_drill(), 40)
    drill_run.apply_line(POWER_ON)
    advance_drill(drill_run, 300)
    assert drill_run.compute_total() == drill_run.compute_score().total == 100.0


def test_refused_commands_and_prices_reduce_conduct_points() -> None:
    drill_run = advance_drill(build_drill(), 5)
    drill_run.apply_line("sql SERVER_B ALTER DATABASE Sales SET PARTNER FAILOVER")
    advance_drill(drill_run, 40)
    drill_run.apply_line(POWER_ON)
    advance_drill(drill_run, 300)
    conduct = find_item(drill_run.compute_score().items, "Conduct")
    assert conduct.points == 26.0
    assert "1470" in conduct.reason
    assert conduct.at_s == (5.0,)


def test_a_price_is_charged_once() -> None:
    drill_run = advance_drill(build_drill(), 5)
    drill_run.apply_line(SET_PARTNER_OFF)
    advance_drill(drill_run, 7)
    assert [e.text for e in drill_run.events if e.kind == "score"] == ["The session was removed."]
    advance_drill(drill_run, 9)
    assert len([e for e in drill_run.events if e.kind == "score"]) == 1


def test_queries_and_typing_errors_cost_nothing() -> None:
    drill_run = advance_drill(build_drill(), 5)
    drill_run.apply_line("sql SERVER_B USE Sales")
    drill_run.apply_line("sql SERVER_B SELEC 1")
    advance_drill(drill_run, 40)
    drill_run.apply_line(POWER_ON)
    advance_drill(drill_run, 300)
    assert find_item(drill_run.compute_score().items, "Conduct").points == 30.0


@pytest.mark.parametrize(("mode", "cost"), [(DrillMode.PRACTICE, 3.0), (DrillMode.GUIDED, 0.0)])
def test_hints_cost_points_in_practice(mode: DrillMode, cost: float) -> None:
    drill_run = advance_drill(build_drill(mode=mode), 40)
    assert drill_run.get_hint_cost(2) == (2.0 if cost else 0.0)
    assert open_next_hint(drill_run, 1) == "Look at SERVER_A."
    assert open_next_hint(drill_run, 2) == "It is off."
    assert open_next_hint(drill_run, 2) == "It is off."
    assert drill_run.get_hint_cost(2) == 0.0
    drill_run.apply_line(POWER_ON)
    advance_drill(drill_run, 300)
    assert drill_run.compute_score().total == 100.0 - cost


def test_hints_cost_at_most_the_points_beyond_the_goals() -> None:
    drill_run = advance_drill(build_drill(("cost = [1, 2, 30]", "cost = [50, 50, 50]")), 40)
    for layer in (1, 2, 3):
        open_next_hint(drill_run, layer)
    drill_run.apply_line(POWER_ON)
    advance_drill(drill_run, 300)
    assert drill_run.compute_score().total == 40.0, "who finishes keeps the points for the goals"


def test_a_score_is_reported_as_events() -> None:
    drill_run = advance_drill(build_drill(), 300)
    score_events = [e for e in drill_run.events if e.kind == "score"]
    assert [read_field(e, "name") for e in score_events] == ["End state", "Downtime", "Conduct"]
    assert sum(read_field(e, "points") for e in score_events) == drill_run.compute_score().total


SET_WITNESS_OFF = "sql {server} ALTER DATABASE Sales SET WITNESS OFF"


def test_a_refused_command_does_not_disable_automatic_failover() -> None:
    """SERVER_W does not have the database and refuses the command."""
    drill_run = advance_drill(build_drill(), 5)
    drill_run.apply_line(SET_WITNESS_OFF.format(server="SERVER_W"))
    advance_drill(drill_run, 40)
    drill_run.apply_line(POWER_ON)
    advance_drill(drill_run, 300)
    score = drill_run.compute_score()
    assert score.finished
    assert "Automatic failover disabled" not in [item.name for item in score.items]
    assert score.total == 96.0, "a refused command costs four points of conduct"


def test_rewinds_cost_at_most_the_points_beyond_the_goals() -> None:
    """The hints leave only the points of the goals, so the rewind costs nothing. The items add up to the
    total.
    """
    drill_run = advance_drill(build_drill(("cost = [1, 2, 30]", "cost = [50, 50, 50]")), 40)
    for layer in (1, 2, 3):
        open_next_hint(drill_run, layer)
    rewound = rewind_drill(advance_drill(drill_run, 100), 30)
    rewound.apply_line(POWER_ON)
    advance_drill(rewound, 300)
    score = rewound.compute_score()
    assert find_item(score.items, "Rewinds").points == 0.0
    assert score.total == sum(item.points for item in score.items) == 40.0


@pytest.mark.parametrize(("wait_s", "counted"), [(0.0, False), (89.0, False), (91.0, True)])
def test_an_unanswered_question_about_the_state_counts_when_its_time_is_over(
    wait_s: float, counted: bool
) -> None:
    drill_run = Drill(load_shipped_scenario("team-cable"))
    advance_drill(drill_run, 5)
    drill_run.apply_line("@manager ask-status dba Payments?")
    advance_drill(drill_run, 5 + wait_s)
    drill_run.apply_line("finish")
    losses = [
        loss.reason
        for loss in find_item(drill_run.compute_score().items, "Status").losses
        if "no answer" in loss.reason
    ]
    assert len(losses) == counted


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (["@dba status manager Claims is SYNCHRONIZED"], "No role asked another role for a status."),
        (["@manager ask-status dba Claims?"], "0 of 1 status requests were answered correctly and on time."),
        (
            ["@dba status manager Claims is SYNCHRONIZED", "@manager ask-status dba Claims?"],
            "0 of 1 status requests were answered correctly and on time.",
        ),
    ],
)
def test_only_questions_count_as_status_questions(lines: list[str], why: str) -> None:
    scenario = load_shipped_scenario("team-status-calls")
    drill_run = Drill(scenario, scenario.seed, DrillMode.PRACTICE)
    drill_run.advance_to(1000)
    for line in lines:
        drill_run.apply_line(line)
    drill_run.advance_to(12_000)
    drill_run.apply_line("finish")
    assert find_item(drill_run.compute_score().items, "Status").reason.startswith(why)


@pytest.mark.parametrize("batch", ["", "sql SERVER_B ALTER DATABASE Sales SET PARTNER SUSPEND"])
def test_points_for_a_forbidden_state_are_lost_when_it_is_reached(batch: str) -> None:
    rubric = '[[rubric]]\nkind = "forbidden"\nname = "Session"\npoints = 10\nbetter = "Keep it."\n\n'
    forbidden = (
        '[[forbidden]]\nname = "apart"\ntext = "Suspended"\nwhen = "Sales is SUSPENDED"\n'
        'better = "Keep the session"\n\n'
    )
    drill_run = build_drill(
        ('[[rubric]]\nkind = "downtime"', f'{forbidden}{rubric}[[rubric]]\nkind = "downtime"'),
        ("points = 40", "points = 30"),
    )
    drill_run.advance_to(8000)
    drill_run.apply_line("power-on SERVER_A")
    drill_run.advance_to(15_000)
    if batch:
        drill_run.apply_line(batch)
        drill_run.advance_to(15_200)
        drill_run.apply_line(batch.replace("SUSPEND", "RESUME"))
    drill_run.advance_to(drill_run.end_tick or 0)
    assert (find_item(drill_run.compute_score().items, "Session").points == 10.0) is (not batch)
