"""Breaking and mending for nothing: what was done and taken back at once, although nothing called for it.

Without a price it could be hoped to look busy, or to find out by pulling cables which server is which.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from engine.drill.authoring import batches
from engine.drill.authoring.schema import Scenario
from engine.events import Event
from engine.inputs import Input
from engine.model import Fault, Tick, World, ticks
from engine.verbs import VERBS
from engine.verbs.ledger import UNDOES

UNDONE_S: Final = 60.0
"""What is taken back later than this was no mere back and forth, and downtime and exposure have its price. Assumed."""

PRICE: Final = 2.0
PRICE_MAX: Final = 10.0
"""Points for each, and for all together. Assumed: less than a refused command, for nothing is lost by one."""

CURES: Final = tuple(verb.name for verb in VERBS.values() if verb.cure)
"""In the ledger like faults, but acts that people mend things with."""

OPPOSITES: Final = (
    (re.compile(r"\bSET\s+PARTNER\s+SUSPEND\b", re.I), re.compile(r"\bSET\s+PARTNER\s+RESUME\b", re.I)),
    (re.compile(r"\bSAFETY\s+OFF\b", re.I), re.compile(r"\bSAFETY\s+FULL\b", re.I)),
)
"""Commands and what takes them back."""


@dataclass(frozen=True, slots=True)
class Needless:
    """One thing that was done and taken back: what, and when it was done."""

    what: str
    tick: Tick


def found(
    world: World, journal: Sequence[Input], events: Sequence[Event], scenario: Scenario
) -> list[Needless]:
    """Everything of that kind, oldest first. What the reference solution does itself is never needless."""
    faults = (Needless(" ".join((f.verb, *f.args)), f.asked_tick) for f in _faults(world, journal, scenario))
    return sorted([*faults, *_commands(events, scenario)], key=lambda each: each.tick)


def _faults(world: World, journal: Sequence[Input], scenario: Scenario) -> Iterator[Fault]:
    wanted = {word for step in scenario.solution for word in step.do.split()[:2]} | set(CURES)
    asked = {(item.tick, item.verb, item.args) for item in journal}
    for fault in world.faults:
        args = tuple(arg for arg in fault.args if "=" not in arg)
        if (fault.asked_tick, fault.verb, args) not in asked or fault.verb in wanted:
            continue
        cured = any(
            other.id != fault.id
            and other.reverted_tick == fault.asked_tick
            and fault.verb in VERBS
            and other.verb in UNDOES[fault.verb]
            for other in world.faults
        )
        back = fault.reverted_tick
        if not cured and back is not None and back - fault.asked_tick <= ticks(UNDONE_S):
            yield fault


def _commands(events: Sequence[Event], scenario: Scenario) -> Iterator[Needless]:
    accepted = [
        event
        for event in events
        if event.kind == "sql_done"
        and not batches.in_story(str(event.get("window", "")))
        and not batches.errors(event)
    ]
    reference = " ".join(step.do for step in scenario.solution)
    for done, undone in OPPOSITES:
        if done.search(reference):
            continue
        for number, event in enumerate(accepted):
            later = (e for e in accepted[number + 1 :] if e.tick - event.tick <= ticks(UNDONE_S))
            if done.search(str(event.get("batch"))) and any(
                undone.search(str(e.get("batch"))) for e in later
            ):
                yield Needless(" ".join(str(event.get("batch")).split()), event.tick)
