"""What a fuzzer may be let loose on: each takes any text and either answers or refuses in its own way."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Final

from engine import simulator, tsql
from engine.drill import conditions, limits
from engine.drill.conditions import ConditionProblem
from engine.drill.facts import Names
from engine.drill.problems import Problem, ScenarioProblems
from engine.drill.scenario import load_scenario
from engine.inputs import InputProblem, parse_line, parse_script
from tests.engine.drill.texts import WORLD
from tests.engine.worlds import lab

NAMES: Final = Names(("Sales",), ("SERVER_A", "SERVER_B", "SERVER_W"), ("APP",))


def scenario(text: str) -> None:
    """A whole file, and a piece of one at the end of a good one."""
    for whole in (text, f"{WORLD}\n{text}"):
        problems: tuple[Problem, ...] = ()
        try:
            load_scenario(whole, "fuzzed.toml")
        except ScenarioProblems as refused:
            problems = refused.problems
        assert len(problems) <= limits.PROBLEMS_MAX + 1


def condition(text: str) -> None:
    column = 1
    try:
        conditions.parse(text, NAMES)
    except ConditionProblem as refused:
        column = refused.column
    assert 1 <= column <= len(text) + 1


def lines(text: str) -> None:
    """A file of input lines; those that are understood are done, and read back as they are written."""
    inputs, problems = parse_script(text)
    assert all(problem.startswith("line ") for problem in problems)
    world = lab(workload="none")
    for item in inputs[:5]:
        assert parse_line(item.words, item.tick).words == item.words
        with suppress(InputProblem):
            simulator.perform(world, item)
    simulator.advance(world, world.tick + 100)


def batch(text: str) -> None:
    world = lab(workload="none")
    tsql.submit(world, "SERVER_A", text)
    simulator.advance(world, 50)
    tsql.cancel(world, "SERVER_A")
    simulator.advance(world, 51)
    assert "SERVER_A" not in world.batches


TARGETS: Final[dict[str, Callable[[str], None]]] = {
    "scenario": scenario,
    "condition": condition,
    "lines": lines,
    "batch": batch,
}
