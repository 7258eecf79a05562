"""Preparation of a drill: invisible input lines at tick 0."""

from __future__ import annotations

from collections.abc import Iterable

from engine import simulator
from engine.drill.authoring import batches
from engine.localization import say
from engine.model import World
from engine.verbs.lines import parse_line


def prepare(world: World, lines: Iterable[str]) -> list[str]:
    """Do *lines* now and forget that they were done; returns what a server refused or what takes time.

    Raises InputError for a line that cannot be done.
    """
    refused: list[str] = []
    for line in lines:
        simulator.apply_input(world, parse_line(line.strip()))
        for event in simulator.advance(world, world.tick):
            if event.kind == "sql_done" and batches.errors(event):
                refused.append(say("{input}: error {n}", input=line.strip(), n=batches.errors(event)[0]))
        if world.batches:
            refused.append(say("{input}: takes too long for a preparation", input=line.strip()))
            world.batches.clear()
    simulator.advance(world, world.tick)
    world.sessions.clear()
    world.faults.clear()  # part of the start state; `revert-all` does not undo it
    return refused
