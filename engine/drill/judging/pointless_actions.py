"""Detection of needless faults, and of commands that the trainee reverted without a reason.

Without a deduction, a trainee could look busy at no cost. A trainee could also unplug cables to find out
which server is which.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from engine.drill.authoring import condition_context
from engine.drill.authoring.schema import Scenario
from engine.events import Event, SqlDoneData, select_data
from engine.inputs import Input
from engine.model import Fault, Tick, World
from engine.verbs import VERBS
from engine.verbs.input_lines import REVERTED_FAULTS, get_requested_arguments, is_requested

DEDUCTION_PER_ACTION: Final = 2.0
"""Deduction for each pointless action, in points.

Assumed: less than for a refused command, because nothing is lost.
"""
DEDUCTION_MAX: Final = 10.0
"""Maximum total deduction for pointless actions, in points. Assumed."""

REPAIR_LIKE_VERBS: Final = frozenset(verb.name for verb in VERBS.values() if verb.cure)
"""Verbs that repair something although the list of faults records them as faults."""

OPPOSITE_COMMANDS: Final = (
    (re.compile(r"\bSET\s+PARTNER\s+SUSPEND\b", re.I), re.compile(r"\bSET\s+PARTNER\s+RESUME\b", re.I)),
    (re.compile(r"\bSAFETY\s+OFF\b", re.I), re.compile(r"\bSAFETY\s+FULL\b", re.I)),
)
"""(pattern of a command, pattern of the command that reverts it)."""


class PointlessAction(Struct, frozen=True):
    """Action that had no purpose."""

    action: str
    """Text of the fault or command."""
    tick: Tick


def find_pointless_actions(
    world: World, journal: Sequence[Input], events: Sequence[Event], scenario: Scenario
) -> list[PointlessAction]:
    """Return all pointless actions, oldest first.

    Actions of the reference solution do not count as pointless.
    """
    faults = (
        PointlessAction(" ".join((f.verb, *f.args)), f.asked_tick)
        for f in _find_needless_faults(world, journal, scenario)
    )
    return sorted([*faults, *_find_reverted_commands(events, scenario)], key=lambda action: action.tick)


def _find_needless_faults(world: World, journal: Sequence[Input], scenario: Scenario) -> Iterator[Fault]:
    """Yield the faults that the trainee injected without need, including those that were repaired later.

    A fault may be needed on a server that another fault already affects. For example, a trainee powers
    off an instance that hangs, or keeps an unreachable server from coming back.
    """
    solution_words = {word for step in scenario.solution for word in step.do.split()[:2]}
    solution_words |= {
        verb for verbs in REVERTED_FAULTS.values() if not verbs.isdisjoint(solution_words) for verb in verbs
    }
    for index, fault in enumerate(world.faults):
        if (
            fault.verb in solution_words
            or fault.verb in REPAIR_LIKE_VERBS
            or not is_requested(fault, journal)
        ):
            continue
        names = set(get_requested_arguments(fault))
        if not any(
            _was_affected(other_fault, names, fault.asked_tick) for other_fault in world.faults[:index]
        ):
            yield fault


def _was_affected(fault: Fault, names: set[str], tick: Tick) -> bool:
    """Return whether *fault* affected one of the objects *names* just before *tick*.

    A repair at the same tick does not count.
    """
    reverted_tick = fault.reverted_tick
    return not names.isdisjoint(get_requested_arguments(fault)) and (
        reverted_tick is None or reverted_tick >= tick
    )


def _find_reverted_commands(events: Sequence[Event], scenario: Scenario) -> Iterator[PointlessAction]:
    accepted = [
        (event.tick, batch.batch)
        for event, batch in select_data(events, SqlDoneData)
        if not condition_context.is_timeline_window(batch.window)
        and not condition_context.list_error_numbers(batch)
    ]
    reference = " ".join(step.do for step in scenario.solution)
    for done_pattern, undone in OPPOSITE_COMMANDS:
        if done_pattern.search(reference):
            continue
        for number, (tick, text) in enumerate(accepted):
            if done_pattern.search(text) and any(
                undone.search(later_text) for _, later_text in accepted[number + 1 :]
            ):
                yield PointlessAction(" ".join(text.split()), tick)
