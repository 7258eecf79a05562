"""Tests that scenario entries move, duplicate and disappear with their comments, and other lines stay
unchanged.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from importlib.resources import files

import pytest

from app.files import scenario_edit
from app.files.scenario_edit import ScenarioEditError
from tests.cases import sample_cases

TEXT = '''title = "T"
brief = """
[[goal]] in a text is no entry
"""

# First of all.
[[goal]]
name = "one"  # at the first

# The second.
# In two lines.
[[goal]]
name = "two"
text = """
# no comment
[[goal]]
"""
[goal.inner]
x = 1

# ---- hints ----

[[hint]]
goal = "one"

[[goal]]
name = "three"
# below the third
'''


def test_an_entry_moves_with_its_comments_in_both_directions() -> None:
    down = scenario_edit.move_entry(TEXT, "goal", 0, 2)
    assert [goal["name"] for goal in tomllib.loads(down)["goal"]] == ["two", "three", "one"]
    assert '# First of all.\n[[goal]]\nname = "one"  # at the first\n' in down
    assert '[[goal]]\nname = "three"\n# below the third\n' in down
    assert "\n\n# ---- hints ----\n\n" in down
    assert sorted(down) == sorted(TEXT)
    assert scenario_edit.move_entry(down, "goal", 2, 0) == TEXT


def test_a_copy_follows_its_original_and_has_its_own_name() -> None:
    copied_goal = scenario_edit.copy_entry(TEXT, "goal", 1)
    goals = tomllib.loads(copied_goal)["goal"]
    assert [goal["name"] for goal in goals] == ["one", "two", "two-2", "three"]
    assert goals[2]["inner"] == {"x": 1}
    assert copied_goal.count("# The second.\n# In two lines.") == 2
    copied_text = scenario_edit.copy_entry(copied_goal, "goal", 2)
    assert tomllib.loads(copied_text)["goal"][3]["name"] == "two-3"


@pytest.mark.parametrize(
    ("name", "copy"), [("SERVER_A", "SERVER_A_2"), ("End state", "End state 2"), ("protected", "protected-2")]
)
def test_the_name_of_a_copy_keeps_the_style_of_the_original(name: str, copy: str) -> None:
    copied_text = scenario_edit.copy_entry(f'[[goal]]\nname = "{name}"', "goal", 0)
    assert [goal["name"] for goal in tomllib.loads(copied_text)["goal"]] == [name, copy]


def test_removing_an_entry_removes_its_comment_and_keeps_the_next_one() -> None:
    left = scenario_edit.remove_entry(TEXT, "goal", 0)
    assert "# First of all." not in left
    assert '"""\n\n# The second.\n# In two lines.\n[[goal]]' in left
    assert scenario_edit.remove_entry(scenario_edit.copy_entry(TEXT, "hint", 0), "hint", 1) == TEXT
    assert "hint" not in tomllib.loads(scenario_edit.remove_entry(TEXT, "hint", 0))


@pytest.mark.parametrize(
    "text", ['goal = [{ name = "one" }, { name = "two" }]\n', "goal = [", "[goal]\nx = 1"]
)
def test_inline_lists_are_refused_with_a_message(text: str) -> None:
    with pytest.raises(ScenarioEditError, match=r"goal|TOML"):
        scenario_edit.move_entry(text, "goal", 0, 1)


@pytest.mark.parametrize("change", [scenario_edit.copy_entry, scenario_edit.remove_entry])
def test_an_unknown_position_is_refused(change: Callable[..., object]) -> None:
    with pytest.raises(ScenarioEditError, match="no longer exists"):
        change(TEXT, "goal", 3)


SHIPPED = sorted(path.name for path in files("scenarios").iterdir() if path.name.endswith(".toml"))


@pytest.mark.parametrize("name", sample_cases(8, SHIPPED))
def test_every_list_of_every_shipped_scenario_can_be_reordered(name: str) -> None:
    text = files("scenarios").joinpath(name).read_text("utf-8")
    data = tomllib.loads(text)
    lists = {
        key: len(entries)
        for key, entries in data.items()
        if isinstance(entries, list) and entries and f"[[{key}]]" in text
    }
    assert lists
    for key, entries in lists.items():
        last = scenario_edit.move_entry(text, key, 0, entries - 1)
        assert tomllib.loads(last)[key] == [*data[key][1:], data[key][0]]
        assert sorted(last.splitlines()) == sorted(text.splitlines())
        assert scenario_edit.move_entry(last, key, entries - 1, 0) == text
        assert tomllib.loads(scenario_edit.copy_entry(text, key, 0))[key][0] == data[key][0]
        assert tomllib.loads(scenario_edit.remove_entry(text, key, 0)).get(key, []) == data[key][1:]
