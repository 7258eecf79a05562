"""Broken scenario files: all problems are reported with line, column and expected value."""

from __future__ import annotations

import pytest

from engine.drill.authoring.lint import list_warnings
from engine.drill.authoring.problems import FileProblem, ScenarioError
from engine.drill.authoring.scenario import load_scenario
from tests.engine.drill.texts import SMALL_TEXT, change_text


def check_text(text: str) -> list[FileProblem]:
    """Return the problems that `check` reports for a file."""
    try:
        return list_warnings(load_scenario(text, "small.toml"), "small.toml")
    except ScenarioError as problems:
        return list(problems.problems)


SERVED_CONDITION_TEXT = 'when = "Sales serves on SERVER_B"\n\n'
LINK_TEXT = '\n[[link]]\nends = ["SERVER_A", "SERVER_A"]\n'
QUESTION_TEXT = (
    '\n[[question]]\nname = "q"\ntext = "t"\nat = "30s"\nchoices = ["a", "b"]\nright = [5]\nwhy = "w"\n'
)
SESSION_TEXT = '\n[[session]]\ndatabase = "Sales"\nprincipal = "SERVER_A"\nmirror = "SERVER_B"\n'
POOLS_TEXT = '[variants]\na = ["{b}", "x"]\nb = ["{a}", "y"]\n\n[[source]]'


def format_broken_text(*changes: tuple[str, str]) -> str:
    return change_text(*changes)


@pytest.mark.parametrize(
    ("text", "line_part", "message"),
    [
        (format_broken_text(("minutes = 5", 'minutes = "five"')), "minutes = ", "a whole number"),
        (format_broken_text(('title = "Small"', "title = 3")), "title", "a text in quotes"),
        (
            format_broken_text(("minutes = 5", "minutes = 99999999999999999999999")),
            "minutes = ",
            "at most 600",
        ),
        (format_broken_text(("minutes = 5", "minuts = 1\nminutes = 5")), "minuts", "minutes?"),
        (format_broken_text(('name = "SERVER_A"', 'name = "SERVER_A"\nverson = 1')), "verson", "version?"),
        (
            format_broken_text(('"power-off SERVER_A"', '"powr-off SERVER_A"')),
            "powr-off",
            "did you mean power-off?",
        ),
        (
            format_broken_text(('"power-off SERVER_A"', '"sql SERVER_Z SELECT 1"')),
            "sql SERVER_Z",
            "SERVER_W?",
        ),
        (format_broken_text(('length = "5min"', 'length = "5 fortnights"')), "length", "2min"),
        (format_broken_text(('at = "20s"', 'at = "-3s"')), "at = ", "2min"),
        (format_broken_text(('at = "20s"', 'at = "10h"')), 'at = "10h"', "after the end of the drill"),
        (
            format_broken_text(('at = "20s"', 'between = ["40s", "20s"]')),
            "between",
            "first an earlier time, then a later time",
        ),
        (
            format_broken_text(('at = "20s"', 'at = "20s"\nwhen = "time_s() > 3"')),
            "[[timeline]]",
            "one of at, between, when",
        ),
        (format_broken_text(("points = 40", "points = 70")), "[[rubric]]", "total 130"),
        (format_broken_text(("weight = 3", "weight = 0")), "weight", "more than 0"),
        (format_broken_text(("weight = 3", "weight = nan")), "weight", "a finite number"),
        (format_broken_text(('limit = "60s"', 'limit = "5s"')), "limit", "is not above `target`"),
        (format_broken_text(('kind = "downtime"', 'kind = "dowtime"')), "kind", "'downtime'"),
        (SMALL_TEXT + LINK_TEXT, "ends", "two different ends of the link"),
        (format_broken_text(('mirror = "SERVER_B"', 'mirror = "SERVER_A"')), "mirror", "another server"),
        (format_broken_text(('name = "SERVER_W"', 'name = "SERVER_Ω"')), "name = ", "letters, digits"),
        (format_broken_text(('"Small"', '"Sm\u202eall"')), "title", "U+202E"),
        (format_broken_text(('"Small"', '"Sm\\u0000all"')), "title", "U+0000"),
        (SMALL_TEXT + '\n[[server]]\nname = "server_a"\n', "name = ", "is listed twice"),
        (
            SMALL_TEXT + '\n[[goal]]\nname = "served"\ntext = "x"\nwhen = "Sales serves"\n',
            "name",
            "is listed twice",
        ),
        (format_broken_text(("minutes = 5", "minutes = 5\nminutes = 6")), "minutes = 6", "not valid TOML"),
        (format_broken_text(("seed = 3", "seed = = 3")), "seed", "not valid TOML"),
        (
            format_broken_text((SERVED_CONDITION_TEXT, SERVED_CONDITION_TEXT.replace("serves", "servs"))),
            "when",
            "serves",
        ),
        (
            format_broken_text((SERVED_CONDITION_TEXT, SERVED_CONDITION_TEXT.replace('"Sales', '"(Sales'))),
            "when",
            "incomplete",
        ),
        (
            format_broken_text((SERVED_CONDITION_TEXT, 'when = "send_queue(Sales) > 3"\n\n')),
            "when",
            "send_queue_kb",
        ),
        (format_broken_text(('when = "Sales is', 'when = "Sals is')), "when", "Sales"),
        (
            format_broken_text(
                (SERVED_CONDITION_TEXT, SERVED_CONDITION_TEXT.replace("SERVER_B", "SERVER_W"))
            ),
            "[[solution]]",
            "earns 30 points",
        ),
        (format_broken_text(('goal = "served"', 'goal = "servd"')), "goal", "served?"),
        (SMALL_TEXT + SESSION_TEXT, "database", "already has a session"),
        (SMALL_TEXT + QUESTION_TEXT, "right", "numbers from 1 to 2"),
        (format_broken_text(('"Workload1"', '"Workload9"')), "workload", "Workload"),
        (
            format_broken_text(('"Small"', '"Small {a}"'), ("[[source]]", POOLS_TEXT)),
            "[variants]",
            "no text uses",
        ),
        (format_broken_text(('"read-state"', '"read-states"')), "skills", "read-state?"),
        (format_broken_text(('length = "5min"', "length = {a = 1}")), "length", "a number"),
        ("x = " + "[" * 400 + "]" * 400, "x", "at most 16 levels of nesting"),
        (
            format_broken_text(("minutes = 5", 'minutes = "x"')).replace("\n", "\r\n"),
            "minutes",
            "a whole number",
        ),
    ],
)
def test_a_broken_file_is_reported_with_its_position(text: str, line_part: str, message: str) -> None:
    problems_found = [problem for problem in check_text(text) if message in str(problem)]
    assert problems_found, check_text(text)
    line = text.splitlines()[problems_found[0].line - 1]
    assert line_part in line, (problems_found[0], line)
    assert 1 <= problems_found[0].column <= len(line) + 1


def test_a_wrong_type_hides_no_other_problem() -> None:
    problems_found = check_text(
        format_broken_text(
            ("minutes = 5", 'minutes = "five"\nbogus = 1'),
            ("[[timeline]]", '[[timeline]]\nat = "5x"\ndo = "note a"\n\n[[timeline]]'),
            ('"power-off SERVER_A"', '"powr-off SERVER_A"'),
            ('hold = "3s"', 'hold = "3x"'),
            ('goal = "served"', 'goal = "servd"'),
            ('target = "10s"', 'target = "60s"'),
        )
    )
    places = [problem.where for problem in problems_found]
    assert places == [
        "minutes", "bogus", "timeline[0].at", "timeline[1].do", "goal[1].hold", "hint[0].goal", "rubric[1].limit",
    ]  # fmt: skip


def test_an_unreadable_entry_does_not_shift_the_others() -> None:
    text = format_broken_text(
        ('text = "SERVER_B serves"\n', ""), ('when = "Sales is', 'when = "Sals is'), ("+5 power", "+5 powr")
    )
    problems_found = check_text(text)
    assert [problem.where for problem in problems_found] == ["goal[0]", "goal[1].when", "solution[0].do"]
    assert 'when = "Sals is' in text.splitlines()[problems_found[1].line - 1]


def test_a_missing_server_hides_problems_of_its_references() -> None:
    (problem,) = check_text(format_broken_text(('name = "SERVER_W"', "name = 7")))
    assert problem.where == "server[2].name"
