"""Questions and prices that depend on facts: nothing false is asked, charged or marked as correct."""

from __future__ import annotations

import pytest

from engine.drill.authoring.problems import ScenarioError
from engine.drill.judging.scored_run import RubricItem
from engine.drill.running.drill import Drill, DrillMode
from tests.engine.drill.running.test_questions import QUESTION_CHANGES, build_drill_with_question
from tests.engine.drill.texts import advance_drill, build_drill, change_small_text
from tests.events import read_field
from tests.shipped_scenarios import load_shipped_scenario

FORCE_SERVICE = "sql SERVER_B ALTER DATABASE Sales SET PARTNER FORCE_SERVICE_ALLOW_DATA_LOSS"
WITNESS_OFF = "sql SERVER_A ALTER DATABASE Sales SET WITNESS OFF"


def list_items_by_name(drill: Drill) -> dict[str, RubricItem]:
    return {item.name: item for item in drill.compute_score().items}


def advance_to_end(drill: Drill) -> Drill:
    return advance_drill(drill, 300)


def build_premise_edit(text: str) -> tuple[str, str]:
    return ('at = "50s"\n', f'at = "50s"\npremise = "{text}"\n')


# --- premises of questions ----------------------------------------------------------------------------------


def test_the_premise_of_a_question_must_be_true() -> None:
    drill_run = advance_drill(
        build_drill_with_question(None, build_premise_edit("Sales serves on SERVER_B")), 51
    )
    assert "role" in [question.name for question in drill_run.list_open_questions()]
    untold = advance_drill(
        build_drill_with_question(None, build_premise_edit("Sales serves on SERVER_A")), 51
    )
    assert "role" not in [question.name for question in untold.list_open_questions()]


def test_an_unasked_question_is_not_counted() -> None:
    drill_run = advance_drill(
        build_drill_with_question(None, build_premise_edit("Sales serves on SERVER_A")), 24
    )
    drill_run.apply_line("answer next 1")
    drill_run.apply_line("answer cause 2")
    advance_drill(drill_run, 30).apply_line("power-on SERVER_A")
    advance_to_end(drill_run)
    assert list_items_by_name(drill_run)["Diagnosis"].points == 20.0, (
        "the question that was asked bears all the points"
    )
    assert not list_items_by_name(drill_run)["Diagnosis"].losses


def test_without_questions_the_other_items_share_the_points() -> None:
    never_condition = ('when = "not Sales serves"', 'when = "SERVER_W is OFF"')
    drill_run = advance_drill(
        build_drill_with_question(None, build_premise_edit("Sales serves on SERVER_A"), never_condition), 22
    )
    advance_drill(drill_run, 60).apply_line("power-on SERVER_A")
    advance_to_end(drill_run)
    diagnosis = list_items_by_name(drill_run)["Diagnosis"]
    other_items = [item for item in list_items_by_name(drill_run).values() if item is not diagnosis]
    assert not diagnosis.counted
    assert not diagnosis.losses
    share = sum(item.points for item in other_items) / sum(item.max for item in other_items)
    assert 0.0 < share < 1.0
    assert diagnosis.points == pytest.approx(20.0 * share, abs=0.05)
    assert "not counted in this run" in diagnosis.reason


def test_ending_the_drill_before_a_question_earns_no_points() -> None:
    drill_run = advance_drill(build_drill_with_question(), 24)
    drill_run.apply_line("answer next 1")
    drill_run.apply_line("answer cause 2")
    drill_run.apply_line("power-on SERVER_A")
    drill_run.end_now()
    assert [loss.reason for loss in list_items_by_name(drill_run)["Diagnosis"].losses] == [
        "Who leads now? Not asked: the drill ended first."
    ]


def test_a_question_waits_until_its_premise_is_true() -> None:
    """The question is about a power failure. A cable that is pulled for some seconds is no power failure."""
    later_condition = ('when = "not Sales serves"', 'when = "not Sales serves"\npremise = "SERVER_A is OFF"')
    drill_run = advance_drill(build_drill_with_question(None, later_condition), 5)
    drill_run.apply_line("stop-service SERVER_W")
    advance_drill(drill_run, 8).apply_line("pull-cable SERVER_A")
    advance_drill(drill_run, 13).apply_line("plug-cable SERVER_A")
    assert "cause" not in [question.name for question in advance_drill(drill_run, 19).list_open_questions()]
    assert "cause" in [question.name for question in advance_drill(drill_run, 26).list_open_questions()]


def test_a_question_whose_time_has_passed_is_not_asked() -> None:
    drill_run = advance_drill(build_drill_with_question(None, ('after = "2s"', 'after = "20s"')), 60)
    assert "cause" not in [question.name for question in drill_run.list_open_questions()], (
        "by then Sales serves again"
    )


def test_a_prediction_without_any_outcome_is_not_counted() -> None:
    never_conditions = [
        (f'when = "automatic_failovers(Sales) {sign} 0"', 'when = "SERVER_W is OFF"') for sign in (">", "==")
    ]
    drill_run = advance_drill(build_drill_with_question(None, *never_conditions), 22)
    drill_run.apply_line("answer next 1")
    advance_drill(drill_run, 60).apply_line("power-on SERVER_A")
    assert not list_items_by_name(advance_to_end(drill_run))["Prediction"].counted
    silent = advance_drill(build_drill_with_question(None, *never_conditions), 60)
    silent.apply_line("power-on SERVER_A")
    assert list_items_by_name(advance_to_end(silent))["Prediction"].counted, (
        "who said nothing has earned nothing"
    )


# --- alternative right answers ------------------------------------------------------------------------------

ALTERNATIVE_ANSWER_CHANGE = (
    'why = "It took over."',
    'why = "It took over."\n\n[[question.instead]]\nwhen = "witness of Sales is NONE"\n'
    'right = [1]\nwhy = "No witness."',
)


@pytest.mark.parametrize(
    ("sabotage", "right_choices", "reason"), [(False, [2], "It took over."), (True, [1], "No witness.")]
)
def test_the_right_answer_follows_the_run(sabotage: bool, right_choices: list[int], reason: str) -> None:
    drill_run = advance_drill(build_drill_with_question(None, ALTERNATIVE_ANSWER_CHANGE), 2)
    if sabotage:
        drill_run.apply_line(WITNESS_OFF)
    advance_drill(drill_run, 60).apply_line("answer role 1")
    advance_drill(drill_run, 300)
    (role,) = [question for question in drill_run.build_report()["questions"] if question["name"] == "role"]
    assert (role["right"], role["why"], role["correct"]) == (right_choices, reason, sabotage)
    assert reason in list_items_by_name(drill_run)["Diagnosis"].reason


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('right = [1]\nwhy = "No', 'right = [3]\nwhy = "No'), "higher than the number of choices"),
        (("witness of Sales is NONE", "witness of Salez is NONE"), "Salez"),
    ],
)
def test_a_wrong_answer_has_its_reason(change: tuple[str, str], message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        change_small_text(*QUESTION_CHANGES, ALTERNATIVE_ANSWER_CHANGE, change)


def test_a_premise_is_checked() -> None:
    with pytest.raises(ScenarioError, match="SERVER_X"):
        change_small_text(*QUESTION_CHANGES, build_premise_edit("SERVER_X is OFF"))
    with pytest.raises(ScenarioError, match="SERVER_X"):
        change_small_text(("price = 20", 'premise = "SERVER_X is OFF"\nprice = 20'))


# --- prices -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("premise", "taken_points"), [("SERVER_A is OFF", 20.0), ("SERVER_A is RUNNING", 0.0)]
)
def test_a_price_is_charged_only_if_its_reason_is_true(premise: str, taken_points: float) -> None:
    drill_run = advance_drill(build_drill(("price = 20", f'premise = "{premise}"\nprice = 20')), 40)
    drill_run.apply_line("sql SERVER_B ALTER DATABASE Sales SET PARTNER OFF")
    advance_drill(drill_run, 45).apply_line("power-on SERVER_A")
    advance_to_end(drill_run)
    assert 30.0 - list_items_by_name(drill_run)["Conduct"].points - sum(
        loss.points
        for loss in list_items_by_name(drill_run)["Conduct"].losses
        if "removed" not in loss.reason
    ) == pytest.approx(taken_points if drill_run.compute_score().finished else 30.0)
    rule_texts = [
        event.text for event in drill_run.events if event.kind == "score" and read_field(event, "rule")
    ]
    assert ("The session was removed." in rule_texts) == bool(taken_points)


def play_with_witness_removed(mode: DrillMode | None = None) -> Drill:
    drill_run = Drill(load_shipped_scenario("automatic-failover"), mode=mode)
    for at_s, line in (
        (48, WITNESS_OFF),
        (80.7, FORCE_SERVICE),
        (100, "power-on SERVER_A"),
        (190, "sql SERVER_B ALTER DATABASE Sales SET PARTNER RESUME"),
        (195, "sql SERVER_B ALTER DATABASE Sales SET WITNESS = 'TCP://SERVER_W:5022'"),
    ):
        advance_drill(drill_run, at_s)
        drill_run.apply_line(line)
        if at_s == 100:
            drill_run.apply_line("answer whose-word 4")
    advance_drill(drill_run, 900)
    return drill_run


def test_sabotage_earns_nothing_and_reports_are_true() -> None:
    sabotaged = play_with_witness_removed()
    assert sabotaged.compute_score().finished
    assert sabotaged.compute_score().total < 60.0
    assert list_items_by_name(sabotaged)["Automatic failover disabled"].points == -30.0
    assert list_items_by_name(sabotaged)["Diagnosis"].points == 10.0, "who forced knows whose word it was"
    assert "about to" not in list_items_by_name(sabotaged)["Conduct"].reason


# --- loss of automatic failover -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "changes", "cost"),
    [
        (WITNESS_OFF, (), -30.0),
        ("sql SERVER_A alter database [Sales] /* x */ set partner safety off", (), -30.0),
        ("sql SERVER_A PRINT 'ALTER DATABASE Sales SET WITNESS OFF'", (), 0.0),
        ("sql SERVER_B ALTER DATABASE Sales SET WITNESS OFF -- refused by none", (), -30.0),
        ("sql SERVER_W ALTER DATABASE Sales SET WITNESS OFF", (), 0.0),
        ("sql SERVER_A ALTER DATABASE Sales SET PARTNER OFF", (), 0.0),
        (WITNESS_OFF, (('witness = "SERVER_W"\n', ""),), 0.0),
    ],
)
def test_giving_up_automatic_failover_costs_points(
    line: str, changes: tuple[tuple[str, str], ...], cost: float
) -> None:
    """The cost applies only once. It does not apply if the server refused, the author set a price, or no
    witness was planned.
    """
    drill_run = advance_drill(build_drill(*changes), 2)
    drill_run.apply_line(line)
    drill_run.apply_line("sql SERVER_A ALTER DATABASE Sales SET WITNESS = 'TCP://SERVER_W:5022'")
    drill_run.apply_line("sql SERVER_A ALTER DATABASE Sales SET SAFETY FULL")
    assert (
        sum(
            item.points
            for item in drill_run.compute_score().items
            if item.name == "Automatic failover disabled"
        )
        <= 0.0
    )
    items_found = [
        item for item in drill_run.compute_score().items if item.name == "Automatic failover disabled"
    ]
    assert bool(items_found) == (cost < 0.0)
