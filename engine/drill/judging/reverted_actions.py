"""Pointless faults, and commands that were reverted without a reason.

Without a price for them, a trainee could look busy, or identify servers by pulling cables.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from engine.drill.authoring import facts
from engine.drill.authoring.schema import Scenario
from engine.events import Event, SqlDoneData, select_data
from engine.inputs import Input
from engine.model import Fault, Tick, World
from engine.verbs import VERBS
from engine.verbs.lines import UNDOES, get_requested_arguments, is_requested

PRICE: Final = 2.0
PRICE_MAX: Final = 10.0
"""Maximum points for each action, and for all together. Assumed: less than a refused command, because nothing
is lost.
"""

CURES: Final = frozenset(verb.name for verb in VERBS.values() if verb.cure)
"""Verbs that the ledger lists like faults although they repair something."""

OPPOSITES: Final = (
    (re.compile(r"\bSET\s+PARTNER\s+SUSPEND\b", re.I), re.compile(r"\bSET\s+PARTNER\s+RESUME\b", re.I)),
    (re.compile(r"\bSAFETY\s+OFF\b", re.I), re.compile(r"\bSAFETY\s+FULL\b", re.I)),
)
"""Commands with their reverse."""


class PointlessAction(Struct, frozen=True):
    """Pointless action with its time."""

    action: str
    """Action that a later one reverted."""
    tick: Tick


def find_pointless_actions(
    world: World, journal: Sequence[Input], events: Sequence[Event], scenario: Scenario
) -> list[PointlessAction]:
    """Return all pointless actions, oldest first. Actions of the reference solution never count as pointless."""
    faults = (
        PointlessAction(" ".join((f.verb, *f.args)), f.asked_tick)
        for f in _find_needless_faults(world, journal, scenario)
    )
    return sorted([*faults, *_find_reverted_commands(events, scenario)], key=lambda action: action.tick)


def _find_needless_faults(world: World, journal: Sequence[Input], scenario: Scenario) -> Iterator[Fault]:
    """Yield the faults that the trainee injected needlessly.

    Whether and when a fault was reverted does not matter, so that waiting brings no advantage.

    A fault can be necessary for a server that another fault affects already. For example, a trainee powers
    off an instance that hangs, or keeps an unreachable server from returning.
    """
    solution_words = {word for step in scenario.solution for word in step.do.split()[:2]}
    solution_words |= {
        verb for verbs in UNDOES.values() if not verbs.isdisjoint(solution_words) for verb in verbs
    }
    for index, fault in enumerate(world.faults):
        if fault.verb in solution_words or fault.verb in CURES or not is_requested(fault, journal):
            continue
        names = set(get_requested_arguments(fault))
        if not any(
            _was_affected(other_fault, names, fault.asked_tick) for other_fault in world.faults[:index]
        ):
            yield fault


def _was_affected(fault: Fault, names: set[str], tick: Tick) -> bool:
    """Return whether *fault* still affected one of *names* at *tick*, or was reverted by an input of that tick."""
    reverted_tick = fault.reverted_tick
    return not names.isdisjoint(get_requested_arguments(fault)) and (
        reverted_tick is None or reverted_tick >= tick
    )


def _find_reverted_commands(events: Sequence[Event], scenario: Scenario) -> Iterator[PointlessAction]:
    accepted = [
        (event.tick, batch.batch)
        for event, batch in select_data(events, SqlDoneData)
        if not facts.is_story_window(batch.window) and not facts.list_error_numbers(batch)
    ]
    reference = " ".join(step.do for step in scenario.solution)
    for done_pattern, undone in OPPOSITES:
        if done_pattern.search(reference):
            continue
        for number, (tick, text) in enumerate(accepted):
            if done_pattern.search(text) and any(
                undone.search(later_text) for _, later_text in accepted[number + 1 :]
            ):
                yield PointlessAction(" ".join(text.split()), tick)
