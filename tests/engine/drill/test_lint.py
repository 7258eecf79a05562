"""What `check` says of scenarios that can be played but should not be shipped."""

from __future__ import annotations

import pytest

from engine.drill.lint import lint
from tests.engine.drill.texts import SMALL, small


def test_nothing_is_wrong_with_the_small_one() -> None:
    assert lint(small(), "small.toml") == []


FIRST_HINT = SMALL[SMALL.index("[[hint]]") : SMALL.rindex("[[hint]]")]
SOLUTION = SMALL[SMALL.index("[[solution]]") : SMALL.index("[[rubric]]")]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('[[source]]\npaper = "Nobody\'s"\nsection = "None"\n', "", "published"),
        ('skills = ["testing"]\n', "", "trained"),
        ('facilitator = "Ask who notices first."\n', "", "instructor"),
        (FIRST_HINT, "", "'served' has no hint"),
        (SOLUTION, "", "no reference solution"),
        ("+5 power-on SERVER_A", "+5 note done", "earns"),
        ("+5 power-on SERVER_A", "+5 workload Sales Nothing", "cannot be done"),
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
            "is at fault",
        ),
    ],
)
def test_lint(old: str, new: str, said: str) -> None:
    found = lint(small((old, new)), "small.toml")
    assert any(said in problem.text for problem in found), found
    assert all(problem.line >= 1 for problem in found)
