"""Novelty of a plan's results.

Among plans with equal points, those come first that meet more parts of goals. Among these, plans with new facts
come first.

Lipovetzky and Geffner, Best-first width search (AAAI 2017), with width 1: a state is new if it has a fact that
no earlier state had.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Final

from msgspec import Struct

from engine.drill.authoring import batches
from engine.drill.authoring.facts import Facts
from engine.drill.par.search_drill import SearchDrill

PARTS: Final = (
    "computers", "instances", "links", "copies", "witnesses", "clients", "nodes", "groups", "replicas", "listeners",
)  # fmt: skip
"""Observable parts of a world."""


def collect_facts(idle: SearchDrill, drill: SearchDrill) -> frozenset[str]:
    """Collect the facts at the end of *drill* that differ from *idle*, and the errors that servers returned.

    Facts have no numbers.
    """
    found = {f"{batch.server} {number}" for batch in drill._batches for number in batches.errors(batch)}
    for part in PARTS:
        before, now = getattr(idle.world, part), getattr(drill.world, part)
        for key, thing in now.items():
            if thing is not before.get(key):
                found.update(f"{part} {key} {what}" for what in _list_changes(before.get(key), thing))
        found.update(f"{part} {key} gone" for key in before.keys() - now.keys())
    return frozenset(found)


def _list_changes(old_value: object, new_value: object) -> Iterator[str]:
    """Yield the fields without numbers that differ between *now* and *before*."""
    if isinstance(new_value, bool | str | Enum) or new_value is None:
        yield str(new_value)
    elif isinstance(new_value, tuple):
        yield from (what for each in new_value for what in _list_changes(None, each))
    elif isinstance(new_value, Struct):
        for name in new_value.__struct_fields__:
            value, old = getattr(new_value, name), getattr(old_value, name, None)
            if value != old:
                yield from (f"{name} {what}" for what in _list_changes(old, value))


def count_held_parts(drill: SearchDrill) -> int:
    """Count the parts of goals, joined by `and`, that hold."""
    seen, found = Facts(drill.world, drill._batches, drill._operations, drill.calls), 0
    for goal in drill.scenario.goals:
        drill.holds(goal.when)  # the seat has read it then
        found += len([part for part in drill._conditions[goal.when].parts if part(seen)])
    return found
