"""Tests that an edit of a scenario's text changes only the lines of the edited value."""

from __future__ import annotations

import tomllib
from importlib.resources import files

import pytest

from app.files import scenario_edit
from app.files.scenario_edit import Path, ScenarioEditError

TEXT = (files("scenarios") / "planned-failover.toml").read_text(encoding="utf-8")


def find_changed_lines(old_text: str, new_text: str) -> tuple[set[str], set[str]]:
    old, new = old_text.splitlines(), new_text.splitlines()
    return {line for line in old if line not in new}, {line for line in new if line not in old}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("title",), "Another"),
        (("minutes",), 9),
        (("server", 0, "name"), "ALPHA"),
        (("goal", 0, "weight"), 7),
    ],
)
def test_changing_a_value_changes_only_its_line(path: Path, value: object) -> None:
    text_after = scenario_edit.set_value(TEXT, path, value)
    removed_lines, added_lines = find_changed_lines(TEXT, text_after)
    assert len(removed_lines) <= 1
    assert len(added_lines) == 1
    assert scenario_edit.read_value(text_after, path) == value


def test_setting_the_same_value_keeps_the_text() -> None:
    title = scenario_edit.read_value(TEXT, ("title",))
    assert scenario_edit.set_value(TEXT, ("title",), title) == TEXT


@pytest.mark.parametrize(
    "value", ["One\nTwo\n", "One\nTwo", '\nA "quote" and """three"""\n', "back\\slash\nand tab\t"]
)
def test_removing_a_change_restores_the_lines(value: str) -> None:
    text_after = scenario_edit.set_value(TEXT, ("brief",), value)
    assert tomllib.loads(text_after)["brief"] == value
    assert 'brief = """\n' in text_after


def test_a_table_is_added_after_its_siblings_and_removed_completely() -> None:
    text_after = scenario_edit.add_table(TEXT, "hint", {"text": "Look at B."})
    hints = tomllib.loads(text_after)["hint"]
    assert hints[-1] == {"text": "Look at B."}
    assert "\n\n\n" not in text_after
    assert scenario_edit.remove_value(text_after, ("hint", len(hints) - 1)) == TEXT


def test_the_first_table_of_a_kind_is_separated_by_a_blank_line() -> None:
    text_after = scenario_edit.add_table('title = "x"  # mine\n', "server", {"name": "A"})
    assert text_after == 'title = "x"  # mine\n\n[[server]]\nname = "A"\n'
    assert scenario_edit.remove_value(text_after, ("server", 0)).strip() == 'title = "x"  # mine'


def test_an_empty_value_is_written() -> None:
    assert scenario_edit.read_value(scenario_edit.set_value(TEXT, ("seed",), None), ("seed",)) is None


@pytest.mark.parametrize("path", [("server", 99, "name"), ("title", "deeper", 1)])
def test_a_missing_key_cannot_be_changed(path: Path) -> None:
    with pytest.raises(ScenarioEditError):
        scenario_edit.set_value(TEXT, path, "x")


def test_invalid_toml_is_reported() -> None:
    with pytest.raises(ScenarioEditError, match="not valid TOML"):
        scenario_edit.set_value("title = [", ("title",), "x")


@pytest.mark.parametrize("value", ["new", "of two\nlines\n", 7, None])
@pytest.mark.parametrize(
    "path",
    [("title",), ("brief",), ("author",), ("server", 1, "name"), ("goal", 0, "weight"), ("hint", 1, "look"),
     ("fidelity", "absent"), ("timeline", 0, "note")],
)  # fmt: skip
def test_a_change_alters_its_value_and_nothing_else(path: Path, value: object) -> None:
    changed = scenario_edit.set_value(TEXT, path, value)
    expected = tomllib.loads(TEXT)
    table = scenario_edit.get_value(expected, path[:-1])
    if value is None:
        table.pop(path[-1], None)
    else:
        table[path[-1]] = value
    assert tomllib.loads(changed) == expected
    lines = changed.splitlines()
    assert [line for line in TEXT.splitlines() if line.startswith("#") and line not in lines] == []


def test_a_header_inside_a_text_is_ignored() -> None:
    text = 'brief = """\n[[server]]\nname = "x"\n"""\n[[server]]\nname = "A"\n'
    assert scenario_edit.set_value(text, ("brief",), "short") == 'brief = "short"\n[[server]]\nname = "A"\n'
    text_after = scenario_edit.set_value(text, ("server", 0, "name"), "B")
    assert text_after == text.replace('"A"', '"B"')
