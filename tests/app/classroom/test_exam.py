"""An exam seat receives the same run, without information about what is right."""

from __future__ import annotations

import re

import pytest

from app.classroom.scenario import parse_scenario, text_for_seat
from engine.drill.authoring.schema import Scenario
from engine.drill.running.drill import Drill, DrillMode, play_inputs
from engine.drill.running.solution import play_solution
from tests.shipped_scenarios import DRILLS, load_shipped_scenario


def secrets_of(scenario: Scenario) -> list[str]:
    """Return the texts that reveal the right answers, or future events and their causes."""
    found = [scenario.facilitator or ""]
    found += [step.why for step in scenario.solution]
    found += [inquiry.why for inquiry in scenario.inquiries]
    found += [rule.better for rule in scenario.rubric]
    found += [text for hint in scenario.hints for text in (hint.look, hint.means, hint.type)]
    found += [inject.note or "" for inject in scenario.timeline]
    return [text.strip() for text in found if len(text) > 3]


@pytest.mark.parametrize("name", dict.fromkeys((*DRILLS[::9], "random-trouble-hard")))
def test_an_exam_reveals_no_answer_and_plays_the_same_run(name: str) -> None:
    scenario = load_shipped_scenario(name)
    text = text_for_seat(scenario, DrillMode.EXAM)
    seats = parse_scenario(text, name)
    secrets = secrets_of(scenario)
    assert secrets
    sent = text + seats.model_dump_json().encode().decode("unicode-escape")
    # a command to type may begin like one in the brief's "before": "…=FARM2" and "…=FARM2,1433"
    assert [secret for secret in secrets if re.search(rf"{re.escape(secret)}(?![,\w])", sent)] == []
    assert not seats.solution
    assert {question.right for question in seats.questions} <= {(1,)}
    whole = Drill(scenario, None, DrillMode.EXAM)
    play_solution(whole)
    again = Drill(seats, whole.seed, DrillMode.EXAM)
    play_inputs(again, whole.journal)
    again.advance_to(whole.tick)
    assert again.hashes == whole.hashes
    assert again.ended_by is whole.ended_by


def test_outside_an_exam_a_seat_gets_the_complete_scenario() -> None:
    scenario = load_shipped_scenario("planned-failover")
    assert text_for_seat(scenario, DrillMode.PRACTICE) == scenario.text
