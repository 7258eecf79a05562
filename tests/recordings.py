"""Recorded tables and transcripts. `pytest --rewrite` records them again; review the diff like code."""

from collections.abc import Callable, Iterable, Sequence
from itertools import zip_longest
from pathlib import Path

import pytest

from engine import simulator
from engine.constants import TICKS_PER_S
from engine.inputs import InputError
from engine.model import World
from engine.verbs.input_lines import parse_input_line

Steps = tuple[tuple[str, float], ...]
"""Input lines, each with the seconds to run after it."""


def compare_text(path: Path, recorded: str, request: pytest.FixtureRequest) -> None:
    """Compare *recorded* with the text in its file. With `--rewrite`, write the file instead."""
    if request.config.getoption("--rewrite"):
        path.write_text(recorded, encoding="utf-8", newline="\n")
    lines = zip_longest(recorded.splitlines(), path.read_text(encoding="utf-8").splitlines())
    differing = [f"now      {new}\nrecorded {old}" for new, old in lines if new != old]
    assert not differing, "\n".join([path.name, *differing[:5]])


def compare_lines(path: Path, recorded: Iterable[str], request: pytest.FixtureRequest) -> None:
    """Compare *recorded* with the lines in its file. With `--rewrite`, write the file instead."""
    compare_text(path, "".join(f"{line}\n" for line in recorded), request)


def play_steps(world: World, steps: Steps, describe: Callable[[World], list[str]]) -> list[str]:
    """Return the states after each step. Omit lines that are equal to lines of the previous step."""
    rows, previous_rows = list[str](), set[str]()
    for line, seconds in steps:
        try:
            if line:
                simulator.apply_input(world, parse_input_line(line))
        except InputError as problem:
            rows.append(f"refused: {line}: {problem}")
        simulator.advance_world(world, world.tick + round(seconds * TICKS_PER_S))
        description_now = describe(world)
        rows.append(f"{world.t_s:.2f} {line}")
        rows += [f"    {row}" for row in description_now if row not in previous_rows]
        previous_rows = set(description_now)
    return rows


def format_row(cells: Sequence[object]) -> str:
    """Return the cells of a result row, separated by bars."""
    return " | ".join("NULL" if cell is None else str(cell) for cell in cells)
