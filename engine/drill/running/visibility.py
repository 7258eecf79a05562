"""Rules for the information that a seat may receive in addition to the servers' responses.

No other module decides this.

In an exam, information comes only from the servers, the brief and the trainee's own actions. Every part of the
program that reads the true state checks here first.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from engine.drill.running.state import DrillState
from engine.events import Event
from engine.inputs import Input, InputError
from engine.localization import say
from engine.model import World
from engine.verbs import VERBS

SECRET: Final = say("during an exam you get information only from the servers: query them, or let time pass")
"""Reason for the refusal of a question about the true state. It is the same for every state."""


def is_truth_hidden(drill: DrillState) -> bool:
    """Return whether the truth of *drill* is hidden: its mode hides it, and it is not over."""
    return not drill.terms.truth and not drill.finished


def require_visible_truth(drill: DrillState) -> None:
    """Raise InputError if an answer would reveal the hidden truth of *drill*."""
    if is_truth_hidden(drill):
        raise InputError(SECRET)


def hides_refusal(drill: DrillState, item: Input) -> bool:
    """Return whether the refusal of a repair or fault without effect would reveal the state."""
    return is_truth_hidden(drill) and VERBS[item.verb].in_ledger


def build_neutral_event(world: World, item: Input) -> Event:
    """Build the neutral event of such an action, identical to that of an action with an effect."""
    server = item.args[0] if item.args and item.args[0] in world.instances else None
    return Event(
        world.tick, "fault", server, None, item.command_text, (("verb", item.verb), ("args", list(item.args)))
    )


def hide_effects(events: Iterable[Event], item: Input) -> list[Event]:
    """Return *events* of the action *item* without their information about the state before."""
    return [
        replace(
            event, text=item.command_text, data=tuple(pair for pair in event.data if pair[0] != "no_effect")
        )
        if event.get("no_effect")
        else event
        for event in events
    ]
