"""Scenario parser: it reports all mistakes together, with position and expected value."""

from __future__ import annotations

import json
import time

import pytest
from msgspec import structs

from engine import model
from engine.drill.authoring import schema
from engine.drill.authoring.problems import FileProblem
from engine.drill.authoring.scenario import ScenarioError, load_scenario
from tests.engine.drill.texts import FREE_PLAY_TEXT, SMALL_TEXT, change_small_text, change_text


def list_problems(text: str, file: str = "small.toml") -> list[FileProblem]:
    with pytest.raises(ScenarioError) as caught:
        load_scenario(text, file)
    return list(caught.value.problems)


def find_line_number(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


def test_a_valid_file_parses() -> None:
    scenario = change_small_text()
    assert scenario.name == "small"
    assert scenario.text == SMALL_TEXT
    assert [server.name for server in scenario.servers] == ["SERVER_A", "SERVER_B", "SERVER_W"]
    assert scenario.length == 300.0
    assert scenario.timeline[0].at == 20.0


def test_durations_may_have_units() -> None:
    scenario = change_small_text(('at = "20s"', "at = 20.5"), ('length = "5min"', 'length = "0.1 h"'))
    assert (scenario.timeline[0].at, scenario.length) == (20.5, 360.0)


@pytest.mark.parametrize(
    ("old_text", "new_text", "key", "message", "expected"),
    [
        ("minutes = 5", "minuts = 5", "minuts", "unknown key", "minutes?"),
        ('brief = "SERVER_A will lose its power."', "", "", "'brief' is missing", ""),
        ('level = "beginner"', 'level = "easy"', "level", "'easy'", "'beginner'"),
        ("minutes = 5", 'minutes = "5"', "minutes", "'5'", "a whole number"),
        ("seed = 3", "seed = -1", "seed", "-1", "at least 0"),
        ("seed = 3", "seed = 3\nname = 'other'", "name", "'other'", "'small'"),
        ('length = "5min"', 'length = "5 hours"', "length", "'5 hours'", "min or h"),
        ('length = "5min"', 'length = "25h"', "length", "25h", "24 h"),
        ('brief = "SERVER_A', 'brief = "\\u202eSERVER_A', "brief", "will lose", "U+202E"),
        ('name = "SERVER_B"', 'name = "SERVER B"', "server[1].name", "'SERVER B'", "SERVER_A"),
        ('name = "SERVER_B"', 'name = "server_a"', "server[1].name", "twice", "another name"),
        ('name = "SERVER_B"', 'name = "SERVER_B"\nsite = "nex"', "server[1].site", "'nex'", "nec?"),
        ('name = "SERVER_B"', 'name = "SERVER_B"\nversion = 2018', "server[1].version", "2018", "2014"),
        (
            'workload = "Workload1"',
            'workload = "Workload9"',
            "database[0].workload",
            "'Workload9'",
            "Workload",
        ),
        ('mirror = "SERVER_B"', 'mirror = "SERVER_C"', "session[0].mirror", "'SERVER_C'", "SERVER_"),
        ('mirror = "SERVER_B"', 'mirror = "SERVER_A"', "session[0].mirror", "another role", ""),
        ('database = "Sales"', 'database = "Sale"', "session[0].database", "'Sale'", "Sales?"),
        ('databases = ["Sales"]', 'databases = ["Salt"]', "client[0].databases[0]", "'Salt'", "Sales?"),
        ("power-off SERVER_A", "power-of SERVER_A", "timeline[0].do", "power-of", ""),
        ("power-off SERVER_A", "power-off SERVER_Z", "timeline[0].do", "SERVER_Z", ""),
        ("power-off SERVER_A", "finish", "timeline[0].do", "only the learner can use", ""),
        ('at = "20s"', "", "timeline[0]", "neither a time nor a condition", "between"),
        ('at = "20s"', 'at = 1\nwhen = "Sales serves"', "timeline[0]", "at and when", ""),
        ('at = "20s"', "between = [30, 10]", "timeline[0].between", "empty", ""),
        ('at = "20s"', "at = 1\nafter = 2", "timeline[0].after", "condition", ""),
        ("Sales serves on SERVER_B", "Sales sleeps", "goal[0].when", "'sleeps'", "serves"),
        ("hold = ", "within = 2\nhold = ", "goal[1].within", "cannot be met", "3 s"),
        ('goal = "protected"', 'goal = "protect"', "hint[1].goal", "'protect'", "protected?"),
        ("+5 power-on SERVER_A", "+x power-on SERVER_A", "solution[0].do", "+x", ""),
        ("+5 power-on SERVER_A", "+5 power-on SERVER_Q", "solution[0].do", "SERVER_Q", ""),
        ('kind = "downtime"', 'kind = "downtim"', "rubric[1].kind", "'downtim'", "'downtime'"),
        ('kind = "downtime"\n', "", "rubric[1]", "'kind' is missing", ""),
        ("points = 40", "points = 41", "rubric", "101", "100"),
        ('limit = "60s"', 'limit = "6s"', "rubric[1].limit", "not above", "10"),
        ("refused = 4", "refusd = 4", "rubric[2].refusd", "unknown key", "refused?"),
        ('kind = "conduct"', 'kind = "forbidden"', "rubric[2].refused", "unknown key", ""),
        ('ran "SET PARTNER OFF"', "ran SET", "rubric[2].price[0].when", "'SET'", "quotes"),
        ('length = "5min"\n', "", "", "needs a time limit", "length"),
    ],
)
def test_problems_are_reported(old_text: str, new_text: str, key: str, message: str, expected: str) -> None:
    text = change_text((old_text, new_text))
    problems_found = [
        p for p in list_problems(text) if p.where == key and message in p.text and expected in p.expected
    ]
    assert problems_found, list_problems(text)
    if new_text and key and key not in ("rubric",):
        line_near = find_line_number(text, new_text)
        assert abs(problems_found[0].line - line_near) <= 3, "the place is not where the mistake is"


def test_all_problems_are_reported_in_file_order() -> None:
    text = change_text(
        ("minutes = 5", "minuts = 5"), ('level = "beginner"', 'level = "easy"'), ("points = 30", "pts = 30")
    )
    problems_found = list_problems(text)
    assert {"minuts", "level", "rubric[1].pts", "rubric[2].pts"} <= {
        problem.where for problem in problems_found
    }
    assert [problem.line for problem in problems_found] == sorted(problem.line for problem in problems_found)


def test_a_wrong_word_in_a_condition_has_line_and_column() -> None:
    text = change_text(("Sales is SYNCHRONIZED and", "Sales is SYNCRONIZED and"))
    (problem,) = list_problems(text)
    assert problem.line == find_line_number(text, "SYNCRONIZED")
    row = text.splitlines()[problem.line - 1]
    assert row[problem.column - 1 :].startswith("SYNCRONIZED")
    assert str(problem).startswith(f"small.toml:{problem.line}:{problem.column}: goal[1].when:")
    assert json.dumps(problem.as_json())


@pytest.mark.parametrize(
    ("text", "line"),
    [("title = \n", 1), ("a = 1\na = 2\n", 2), ("x = [1,\n", 2), ("a = " + "[" * 5000 + "]" * 5000, 1)],
)
def test_invalid_toml_is_reported(text: str, line: int) -> None:
    (problem,) = list_problems(text)
    assert problem.line >= line


def test_a_huge_file_is_refused_before_it_is_parsed() -> None:
    before = time.process_time()
    (problem,) = list_problems("a = 1\n" * 1_000_000)
    assert "characters" in problem.text
    assert time.process_time() - before < 1.0


def test_scenarios_without_a_score_need_no_end() -> None:
    assert not change_small_text(text=FREE_PLAY_TEXT).scored


def test_settings_match_the_model() -> None:
    ours = {name: field.default for name, field in schema.SettingsSpec.model_fields.items()}
    assert ours == structs.asdict(model.Settings()) | {"start_time": None}, "the versions decide on the date"


def test_the_editor_schema_covers_every_table() -> None:
    document_schema = schema.build_schema()
    assert "name" not in document_schema["required"]
    assert {"server", "session", "timeline", "goal", "rubric", "locked"} <= set(document_schema["properties"])
    assert document_schema["additionalProperties"] is False
    assert json.dumps(document_schema)


def test_numbered_databases_need_room_for_their_numbers() -> None:
    many_databases = FREE_PLAY_TEXT.replace('name = "Sales"\n', 'name = "Sales"\ncount = 3\n')
    (problem,) = list_problems(many_databases)
    assert problem.line == find_line_number(many_databases, 'name = "Sales"')
    assert "Sales001" in problem.expected
    clash = FREE_PLAY_TEXT + '\n[[database]]\nname = "Sales2"\nserver = "SERVER_A"\n'
    clash = clash.replace('name = "Sales"\n', 'name = "Sales1"\ncount = 3\n', 1)
    clash = clash.replace('database = "Sales"', 'database = "Sales1"')
    clash = clash.replace('databases = ["Sales"]', 'databases = ["Sales3"]')
    (problem,) = list_problems(clash)
    assert "'Sales2' is listed twice" in problem.text


def test_the_json_schema_accepts_a_variant_for_a_number_or_name() -> None:
    """Text editors with the schema must not mark `scale = "{load}"` as an error."""
    parts = schema.build_schema()["$defs"]
    for table, key in (("DatabaseSpec", "scale"), ("ServerSpec", "name"), ("Question", "right")):
        stands = parts[table]["properties"][key]
        item_schema = stands.get("items", stands)
        assert any(rule.get("pattern", "").startswith("\\{") for rule in item_schema["anyOf"]), (table, key)
