"""What a plan brings about: where points do not tell plans apart, those go first with more of what goals ask for, and
among them who brings about something new.

Lipovetzky and Geffner, Best-first width search (AAAI 2017), with width 1: a state counts as new if a single fact of it
has been in no state before.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Final

from msgspec import Struct

from engine.drill.authoring import batches
from engine.drill.authoring.facts import Facts
from engine.drill.par.lean import Lean

PARTS: Final = (
    "computers", "instances", "links", "copies", "witnesses", "clients", "nodes", "groups", "replicas", "listeners",
)  # fmt: skip
"""Of a world: what can be looked at."""


def facts(idle: Lean, drill: Lean) -> frozenset[str]:
    """What stands otherwise at the end of *drill* than where nothing was done, but for numbers, and the errors that
    servers answered."""
    found = {f"{batch.server} {number}" for batch in drill._batches for number in batches.errors(batch)}
    for part in PARTS:
        before, now = getattr(idle.world, part), getattr(drill.world, part)
        for key, thing in now.items():
            if thing is not before.get(key):
                found.update(f"{part} {key} {what}" for what in _otherwise(before.get(key), thing))
        found.update(f"{part} {key} gone" for key in before.keys() - now.keys())
    return frozenset(found)


def _otherwise(before: object, now: object) -> Iterator[str]:
    """Fields of *now* that are other than *before* and no numbers."""
    if isinstance(now, bool | str | Enum) or now is None:
        yield str(now)
    elif isinstance(now, tuple):
        yield from (what for each in now for what in _otherwise(None, each))
    elif isinstance(now, Struct):
        for name in now.__struct_fields__:
            value, old = getattr(now, name), getattr(before, name, None)
            if value != old:
                yield from (f"{name} {what}" for what in _otherwise(old, value))


def held(drill: Lean) -> int:
    """How many parts of goals, joined by `and`, hold."""
    seen, found = Facts(drill.world, drill._batches, drill._operations, drill.calls), 0
    for goal in drill.scenario.goals:
        drill.holds(goal.when)  # it has been read then
        found += len([part for part in drill._conditions[goal.when].parts if part(seen)])
    return found
