"""Findings of `check` in scenarios that can be played but should not be shipped."""

from __future__ import annotations

from importlib.resources import files

import pytest

from engine.drill.authoring.lint import list_warnings
from engine.drill.authoring.scenario import load_scenario
from tests.engine.drill.texts import SMALL_TEXT, change_small_text


def test_the_small_scenario_has_no_problem() -> None:
    assert list_warnings(change_small_text(), "small.toml") == []


FIRST_HINT = SMALL_TEXT[SMALL_TEXT.index("[[hint]]") : SMALL_TEXT.rindex("[[hint]]")]
SOLUTION = SMALL_TEXT[SMALL_TEXT.index("[[solution]]") : SMALL_TEXT.index("[[rubric]]")]


@pytest.mark.parametrize(
    ("old_text", "new_text", "message"),
    [
        ('[[source]]\npaper = "Nobody\'s"\nsection = "None"\n', "", "no publication"),
        ('skills = ["read-state"]\n', "", "no skill"),
        ('"read-state"', '"read-stat"', "there is no skill 'read-stat'"),
        ('["read-state"]', '["queues", "queues"]', "'queues' is listed twice"),
        ('facilitator = "Ask who notices first."\n', "", "instructor"),
        (FIRST_HINT, "", "'served' has no hint"),
        (SOLUTION, "", "no reference solution"),
        ('name = "SERVER_B"', 'name = "SERVER_B"\nservice_account = "CORP\\\\other"', "would refuse"),
        ("+5 power-on SERVER_A", "+5 note done", "earns"),
        ("+5 power-on SERVER_A", "+5 workload Sales Nothing", "cannot be executed"),
        (
            SOLUTION,
            '[[solution]]\ndo = "5 workload Sales Workload1 scale=0.5"\nwhy = "Less."\n\n' + SOLUTION,
            "before the first symptom",
        ),
        (
            'when = "Sales is SYNCHRONIZED and',
            'when = "Sales serves or Sales is SYNCHRONIZED and',
            "doing nothing",
        ),
        ("Sales serves on SERVER_B", "Sales serves", "before anything happens"),
        ('type = "power-on SERVER_A"', 'type = "power-on SERVER_X, then wait"', "SERVER_X is not"),
        (
            'type = "power-on SERVER_A"',
            'type = "sql SERVER_A ALTER DATABASE Orders SET PARTNER RESUME"',
            "Orders is not",
        ),
        (
            "when = 'ran \"SET PARTNER OFF\"'\nprice = 20",
            'when = "SERVER_A is OFF"\nprice = 2',
            "loses points",
        ),
        ("price = 20", "price = 0", "the deduction for this action is 0 points"),
        (
            "[[solution]]",
            '[[forbidden]]\nname = "off"\ntext = "Off."\nwhen = "SERVER_B is OFF"\nbetter = "Wait."\n\n[[solution]]',
            "forbidden state costs no points",
        ),
    ],
)
def test_problems_are_found(old_text: str, new_text: str, message: str) -> None:
    findings = list_warnings(change_small_text((old_text, new_text)), "small.toml")
    assert any(message in problem.text for problem in findings), findings
    assert all(problem.line >= 1 for problem in findings)


def test_an_unknown_skill_is_located_with_the_nearest_name() -> None:
    scenario = change_small_text(('["read-state"]', '["read-state", "automatic-failovr"]'))
    (problem,) = list_warnings(scenario, "small.toml")
    assert scenario.text.splitlines()[problem.line - 1][problem.column - 1 :].startswith("automatic-failovr")
    assert problem.expected == "automatic-failover?"


SECOND_DATABASE_TEXT = """[[database]]
name = "Orders"

[[session]]
database = "Orders"
principal = "SERVER_A"
mirror = "SERVER_B"

[[session]]"""


def test_a_fault_after_the_end_of_the_drill_is_reported_at_the_goal() -> None:
    """From 31 s, the goal counts and is already reached. The drill ends before the seat notices the fault."""
    text = (
        (files("assets") / "new_scenario.toml")
        .read_text("utf-8")
        .replace("[[session]]", SECOND_DATABASE_TEXT)
    )

    def list_problem_positions(text: str) -> list[str]:
        problems = list_warnings(load_scenario(text, "x.toml"), "x.toml")
        return [problem.where for problem in problems if "before anything happens" in problem.text]

    assert list_problem_positions(text) == []
    assert list_problem_positions(text.replace('at = "30s"', 'at = "90s"')) == ["goal[0].when"]


def test_names_with_hyphens_are_known_in_a_hint() -> None:
    text = SMALL_TEXT.replace("SERVER_A", "SQL-EU-1").replace("SERVER_B", "SQL-EU-2")
    scenario = load_scenario(text, "small.toml")
    assert not [
        finding
        for finding in list_warnings(scenario, "small.toml")
        if "is not in this scenario" in finding.text
    ]
