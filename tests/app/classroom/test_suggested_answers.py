"""Tests of the answers that the host suggests for a raised hand, from the texts of the drill's author."""

from __future__ import annotations

import pytest

from app.classroom.suggested_answers import SUGGESTED_ANSWERS_MAX, suggest_answers
from tests.shipped_scenarios import DRILL_NAMES, load_shipped_scenario

SPLIT = load_shipped_scenario("split-brain")


@pytest.mark.parametrize(
    ("question", "met_goals", "part"),
    [
        ("Which copy is right?", (), "which of the two copies is right"),
        ("What happens when the line is back?", (), "when the line is back"),
        ("SET PARTNER OFF too late?", (), "SET PARTNER OFF"),
        ("", (), SPLIT.hints[0].look),
        ("", (SPLIT.hints[0].goal,), SPLIT.hints[1].look),
    ],
)
def test_suggestion_matches_the_question_and_the_next_goal(
    question: str, met_goals: tuple[str, ...], part: str
) -> None:
    assert part in suggest_answers(SPLIT, question, met_goals)[0]


@pytest.mark.parametrize("name", DRILL_NAMES[::7])
def test_each_drill_suggests_an_answer_without_revealing_its_solution(name: str) -> None:
    scenario = load_shipped_scenario(name)
    answers = suggest_answers(scenario, "What should I look at on this server?")
    assert 1 <= len(answers) <= SUGGESTED_ANSWERS_MAX
    assert not {hint.type for hint in scenario.hints} & set(answers)
