"""Questions and predictions: when they are asked, answered, judged and revealed."""

from __future__ import annotations

import json

import pytest

from engine.drill.authoring.problems import ScenarioError
from engine.drill.judging.report import compute_calibration
from engine.drill.running.drill import Drill, DrillMode, replay
from engine.inputs import InputError
from tests.engine.drill.texts import advance_drill, build_drill, change_small_text
from tests.events import read_field

QUESTIONS_TEXT = """
[[question]]
name = "cause"
text = "What has failed?"
when = "not Sales serves"
after = "2s"
within = "60s"
choices = ["The witness.", "The power of SERVER_A.", "The network."]
right = [2]
why = "Nothing of SERVER_A answers, and the others see each other."
weight = 3

[[question]]
name = "role"
text = "Who leads now?"
at = "50s"
choices = ["SERVER_A", "SERVER_B"]
right = [2]
why = "It took over."

[[predict]]
name = "next"
text = "What will happen?"
when = "SERVER_A is OFF"
judged_after = "15s"
why = "The mirror was in step and sees the witness."

[[predict.choice]]
text = "SERVER_B takes over by itself."
when = "automatic_failovers(Sales) > 0"

[[predict.choice]]
text = "Sales waits for SERVER_A."
when = "automatic_failovers(Sales) == 0"

[[solution]]"""
RUBRIC_TEXT = """
[[rubric]]
kind = "diagnosis"
name = "Diagnosis"
points = 20
better = "Look before you answer."

[[rubric]]
kind = "prediction"
name = "Prediction"
points = 10
better = "Go through the preconditions."

[[rubric]]
kind = "conduct\""""
QUESTION_CHANGES = (
    ("\n[[solution]]", QUESTIONS_TEXT),
    ('\n[[rubric]]\nkind = "conduct"', RUBRIC_TEXT),
    ('name = "Downtime"\npoints = 30', 'name = "Downtime"\npoints = 0'),
)


def build_drill_with_question(mode: DrillMode | None = None, *changes: tuple[str, str]) -> Drill:
    return build_drill(*QUESTION_CHANGES, *changes, mode=mode)


def list_question_events(drill: Drill, kind: str) -> list[tuple[float, str]]:
    return [(event.t_s, str(read_field(event, "question"))) for event in drill.events if event.kind == kind]


def test_each_question_is_asked_at_its_time() -> None:
    drill_run = advance_drill(build_drill_with_question(), 60)
    assert list_question_events(drill_run, "question") == [(21.0, "next"), (23.0, "cause"), (50.0, "role")]
    assert [open_question.name for open_question in drill_run.list_open_questions()] == ["cause", "role"]
    question = drill_run.list_open_questions()[0]
    assert (question.choices[1], question.prediction, question.until_tick) == (
        "The power of SERVER_A.",
        False,
        8300,
    )


def test_right_answers_score_at_the_end_of_the_drill() -> None:
    drill_run = advance_drill(build_drill_with_question(), 21)
    drill_run.apply_line("answer next 1")
    advance_drill(drill_run, 60)
    drill_run.apply_line("answer cause 2")
    drill_run.apply_line("answer role 1")
    drill_run.apply_line("power-on SERVER_A")
    before = {item.name: item.points for item in drill_run.compute_score().items}
    assert (before["Diagnosis"], before["Prediction"]) == (0.0, 0.0)
    advance_drill(drill_run, 300)
    items = {item.name: item for item in drill_run.compute_score().items}
    assert (items["Diagnosis"].points, items["Prediction"].points) == (15.0, 10.0)
    (loss,) = items["Diagnosis"].losses
    assert (loss.points, loss.tick) == (5.0, 6000)
    assert "“SERVER_B”" in loss.reason
    assert "It took over." in loss.reason


def test_confidence_is_reported_next_to_correctness() -> None:
    drill_run = advance_drill(build_drill_with_question(), 21)
    drill_run.apply_line("answer next 1 sure_percent=90")
    advance_drill(drill_run, 60)
    drill_run.apply_line("answer cause 2")
    with pytest.raises(InputError, match="sure_percent"):
        drill_run.apply_line("answer role 1 sure_percent=101")
    drill_run.apply_line("answer role 1 sure_percent=60")
    # the result is hidden until the end
    assert compute_calibration(drill_run.build_report()["questions"]) is None
    drill_run.apply_line("power-on SERVER_A")
    advance_drill(drill_run, 300)
    assert drill_run.finished
    calibrated = compute_calibration(drill_run.build_report()["questions"])
    assert calibrated is not None
    assert calibrated["answers"] == 2  # the answer to "cause" had no confidence
    assert calibrated["brier"] == pytest.approx((0.1**2 + 0.6**2) / 2)
    assert [(point["sure_percent"], point["right_percent"]) for point in calibrated["curve"]] == [
        (60, 0),
        (90, 100),
    ]
    replayed = replay(
        drill_run.scenario,
        drill_run.seed,
        drill_run.mode,
        [item.line for item in drill_run.journal],
        drill_run.tick,
    )
    assert compute_calibration(replayed.build_report()["questions"]) == calibrated


def test_a_missing_answer_scores_no_points() -> None:
    drill_run = advance_drill(build_drill_with_question(), 60)
    drill_run.apply_line("power-on SERVER_A")
    advance_drill(drill_run, 300)
    assert {
        item.points for item in drill_run.compute_score().items if item.name in ("Diagnosis", "Prediction")
    } == {0.0}


@pytest.mark.parametrize(
    ("at_s", "line", "message"),
    [
        (21, "answer cause 2", "cannot be answered now"),
        (21, "answer nonsense 1", "cannot be answered now"),
        (21, "answer next 3", "from 1 to 2"),
        (21, "answer next 1.5", "from 1 to 2"),
        (31, "answer next 1", "cannot be answered now"),
        (90, "answer cause 2", "cannot be answered now"),
    ],
)
def test_invalid_answers_are_refused(at_s: float, line: str, message: str) -> None:
    drill_run = advance_drill(build_drill_with_question(), at_s)
    with pytest.raises(InputError, match=message):
        drill_run.apply_line(line)
    assert not drill_run.journal


def test_the_first_answer_counts() -> None:
    drill_run = advance_drill(build_drill_with_question(), 21)
    drill_run.apply_line("answer next 2")
    with pytest.raises(InputError, match="already"):
        drill_run.apply_line("answer next 1")


@pytest.mark.parametrize("mode", [DrillMode.PRACTICE, DrillMode.EXAM])
def test_no_event_reveals_the_right_answer_before_the_end(mode: DrillMode) -> None:
    drill_run = advance_drill(build_drill_with_question(mode), 21)
    drill_run.apply_line("answer next 1")
    advance_drill(drill_run, 60)
    drill_run.apply_line("answer cause 2")
    advance_drill(drill_run, 70)
    run_text = json.dumps([event.as_json() for event in drill_run.events]) + json.dumps(
        drill_run.build_report()["questions"]
    )
    run_text += json.dumps(drill_run.build_report()["score"])
    for secret in ("in step and sees the witness", "the others see each other", '"right"', '"correct"'):
        assert secret not in run_text
    wrong_run = advance_drill(build_drill_with_question(mode), 21)
    wrong_run.apply_line("answer next 2")
    advance_drill(wrong_run, 60)
    wrong_run.apply_line("answer cause 1")
    advance_drill(wrong_run, 70)
    assert wrong_run.compute_score().total == drill_run.compute_score().total, (
        "the running score gives it away"
    )


def test_guided_mode_reveals_the_right_answer_at_once() -> None:
    drill_run = advance_drill(build_drill_with_question(DrillMode.GUIDED), 60)
    drill_run.apply_line("answer cause 1")
    event = drill_run.events[-1]
    assert (event.kind, read_field(event, "right")) == ("answer", False)
    assert "the others see each other" in event.text
    assert "Who leads now? Right" not in str(drill_run.build_report()["score"]), "an open one is not told"


def test_free_play_has_no_questions() -> None:
    assert not list_question_events(advance_drill(build_drill_with_question(DrillMode.LAB), 60), "question")


def test_the_drill_waits_for_open_questions() -> None:
    drill_run = advance_drill(build_drill_with_question(), 51)
    drill_run.apply_line("answer cause 2")
    drill_run.apply_line("power-on SERVER_A")
    advance_drill(drill_run, 200)
    assert all(state.is_reached for state in drill_run.goals.values())
    assert not drill_run.finished
    drill_run.apply_line("answer role 2")
    advance_drill(drill_run, 202)
    assert drill_run.finished


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('right = [2]\nwhy = "Nothing', 'right = [4]\nwhy = "Nothing'), "higher than the number of choices"),
        (('at = "50s"\n', ""), "the entry has neither a time nor a condition"),
        (
            ('at = "50s"\n', 'at = "50s"\nwhen = "Sales serves"\n'),
            "the entry contains at and when, but only one is allowed",
        ),
        (('name = "role"', 'name = "next"'), "twice"),
        (('kind = "diagnosis"', 'kind = "forbidden"'), "correct answers to these questions earn no points"),
        (('when = "automatic_failovers(Sales) > 0"', 'when = "automatic_failovers(Salez) > 0"'), "Salez"),
        (("+5 power-on SERVER_A", "+5 answer cuase 2"), "cuase"),
    ],
)
def test_problems_of_questions_are_reported(change: tuple[str, str], message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        change_small_text(*QUESTION_CHANGES, change)
