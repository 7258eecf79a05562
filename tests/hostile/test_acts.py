"""Tests of every verb with absurd arguments by every route: refused by name, or applied with finite results.

The cases come from the table of verbs, so they include new verbs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

import pytest

from engine import simulator
from engine.drill.authoring.problems import ScenarioError
from engine.drill.authoring.scenario import load_scenario
from engine.drill.running.drill import Drill
from engine.inputs import InputError
from engine.model import World
from engine.verbs import VERBS
from engine.verbs.input_lines import parse_input_line, parse_script
from engine.verbs.verb import Verb, VerbParameter
from tests.engine.availability.worlds import build_ag_lab
from tests.engine.drill.texts import WORLD_TEXT
from tests.engine.worlds import build_lab
from tests.numbers import is_finite

ABSURD_VALUES: Final = (
    "nan",
    "inf",
    "-inf",
    "-0",
    "-1",
    "0",
    "1e308",
    "-1e308",
    "1e-308",
    "1" + "0" * 400,
    "9" * 5_000,
    "0x7fffffff",
    "1_000",
    "\u0661\u0662",
    "\u00b2",
    "x" * 100_000,
    "\u202e\u2066\u200b",
    "\U0001f600",
    "'; DROP TABLE x; --",
    "../../etc/passwd",
    "<img src=file:///etc/passwd>",
    "%n%s%p",
    "true",
    "None",
    "=",
    "a=b",
    "",
)
"""Extreme numbers, texts of other kinds, and empty text."""

NORMAL_VALUES: Final = {
    "server": "SERVER_A",
    "window": "SERVER_A",
    "client": "APP",
    "database": "Sales",
    "name": "SERVER_A",
    "number": "1",
    "rest": "D:\\x.bak",
    "word": "x",
    "node": "NODE_1",
    "role": "AG1",
    "resource": "AG1",
    "cluster": "CLU1",
}
"""Normal values of the other parameters."""


def _choose_default(verb: Verb, index: int, parameter: VerbParameter) -> str:
    if parameter.choices:
        return parameter.choices[0]
    if parameter.name == "to" or (index == 1 and parameter.kind in ("name", "server")):
        return "SERVER_B"
    return "Workload1" if parameter.name == "workload" else NORMAL_VALUES[parameter.kind]


def _list_absurd_lines(verb: Verb) -> Iterator[str]:
    """Yield the verb with each absurd value in each argument and option, and with too few or too many
    arguments.
    """
    default_words = [
        _choose_default(verb, place, parameter) for place, parameter in enumerate(verb.parameters)
    ]
    for place in range(len(default_words)):
        for value in ABSURD_VALUES:
            yield " ".join([verb.name, *default_words[:place], value, *default_words[place + 1 :]])
    for option in verb.options:
        for value in ABSURD_VALUES:
            yield " ".join([verb.name, *default_words, f"{option}={value}"])
    for value in ABSURD_VALUES:
        yield " ".join([verb.name, *default_words, value, value, value])
    yield verb.name
    yield " ".join([verb.name, *default_words, *(f"{option}=1" for option in verb.options), "nothing=1"])


@pytest.fixture(scope="module")
def labs() -> tuple[World, World]:
    """Return the lab and the availability group lab after some seconds."""
    worlds = build_lab(), build_ag_lab()
    for world in worlds:
        simulator.advance_world(world, 300)
    return worlds


def _is_for_clusters(verb: Verb) -> bool:
    return verb.kinds[:1] in [("node",), ("role",), ("resource",), ("cluster",)]


def _is_finite(world: World) -> bool:
    flow = world.flow
    return is_finite(flow)


def _get_refusal(world: World, line: str) -> str:
    """Return the message with which the world refuses *line*, or an empty text if it applied the line."""
    try:
        item = parse_input_line(line, world.tick)
        simulator.apply_input(world, item)
    except InputError as refused:
        return str(refused)
    assert parse_input_line(item.line_without_time, item.tick) == item, line[:100]
    return ""


@pytest.mark.parametrize("name", VERBS)
def test_extreme_arguments_are_refused_by_name_or_stay_finite(name: str, labs: tuple[World, World]) -> None:
    start_world = labs[_is_for_clusters(VERBS[name])]
    for line in _list_absurd_lines(VERBS[name]):
        world = start_world.fork()
        refusal = _get_refusal(world, line)
        if refusal:
            assert 5 < len(refusal) < 1_000, (line[:100], refusal[:200])
            assert world.compute_state_hash() == start_world.compute_state_hash(), line[:100]
        simulator.advance_world(world, world.tick + 60)
        assert _is_finite(world), line[:100]


@pytest.mark.parametrize("name", VERBS)
def test_input_files_and_timelines_refuse_the_same_lines(name: str) -> None:
    """The test puts the same lines in a file of inputs and in the timeline of a scenario."""
    for line in _list_absurd_lines(VERBS[name]):
        if not any(value in line.split()[-1] for value in ("nan", "1e308", "-1", "=")):
            continue
        inputs, problems = parse_script(f"1 {line}")
        assert bool(inputs) != bool(problems), line
        text = f"{WORLD_TEXT}\n[[timeline]]\nat = 1\ndo = {json.dumps(line)}\n"
        drill = _load_drill(text)
        if drill is not None:
            assert inputs, line
            drill.advance_to(160)
            assert _is_finite(drill.world), line


def _load_drill(text: str) -> Drill | None:
    """Return the drill. Return None if it is refused, and assert that every problem has a position."""
    try:
        return Drill(load_scenario(text, "absurd.toml"), mode="lab")
    except ScenarioError as refused:
        problems = refused.problems
    assert all(problem.line > 1 and problem.column >= 1 for problem in problems)
    return None


QUESTION_TEXT: Final = """
[[question]]
name = "why"
text = "Why?"
when = "Sales serves on SERVER_A"
choices = ["a", "b"]
right = [1]
why = "x"
"""


def test_an_answer_with_many_digits_is_refused() -> None:
    drill = Drill(load_scenario(WORLD_TEXT + QUESTION_TEXT, "asked.toml"), mode="guided")
    drill.advance_to(200)
    for value in ABSURD_VALUES:
        with pytest.raises(InputError, match="answer"):
            drill.apply_line(f"answer why {value}")
    drill.apply_line("answer why 1")
