"""Tests of an exam seat: it plays the same run, without information about the right answers."""

from __future__ import annotations

import re

import pytest

from app.classroom.seat_scenario import build_seat_scenario_text, parse_scenario
from engine.drill.authoring.schema import Scenario
from engine.drill.running.drill import Drill, DrillMode, play_inputs
from engine.drill.running.solution import play_solution
from tests.shipped_scenarios import DRILL_NAMES, load_shipped_scenario


def list_answer_texts(scenario: Scenario) -> list[str]:
    """Return the texts that reveal the right answers, or future events and their causes."""
    hidden_texts = [scenario.facilitator or ""]
    hidden_texts += [step.why for step in scenario.solution]
    hidden_texts += [inquiry.why for inquiry in scenario.inquiries]
    hidden_texts += [rule.better for rule in scenario.rubric]
    hidden_texts += [text for hint in scenario.hints for text in (hint.look, hint.means, hint.type)]
    hidden_texts += [inject.note or "" for inject in scenario.timeline]
    return [text.strip() for text in hidden_texts if len(text) > 3]


@pytest.mark.parametrize("name", dict.fromkeys((*DRILL_NAMES[::9], "random-trouble-hard")))
def test_an_exam_reveals_no_answer_and_plays_the_same_run(name: str) -> None:
    scenario = load_shipped_scenario(name)
    text = build_seat_scenario_text(scenario, DrillMode.EXAM)
    seats = parse_scenario(text, name)
    secrets = list_answer_texts(scenario)
    assert secrets
    sent_text = text + seats.model_dump_json().encode().decode("unicode-escape")
    # a command to type may begin like one in the brief's "before": "…=FARM2" and "…=FARM2,1433"
    assert [secret for secret in secrets if re.search(rf"{re.escape(secret)}(?![,\w])", sent_text)] == []
    assert not seats.solution
    assert {question.right for question in seats.questions} <= {(1,)}
    whole_drill = Drill(scenario, None, DrillMode.EXAM)
    play_solution(whole_drill)
    seat_drill = Drill(seats, whole_drill.seed, DrillMode.EXAM)
    play_inputs(seat_drill, whole_drill.journal)
    seat_drill.advance_to(whole_drill.tick)
    assert seat_drill.hashes == whole_drill.hashes
    assert seat_drill.ended_by is whole_drill.ended_by


def test_outside_an_exam_a_seat_gets_the_complete_scenario() -> None:
    scenario = load_shipped_scenario("planned-failover")
    assert build_seat_scenario_text(scenario, DrillMode.PRACTICE) == scenario.text
