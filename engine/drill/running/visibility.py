"""What a seat may be told besides what the servers answer: the one place that says so.

In an exam nothing but the servers, the brief and the trainee's own acts answers. Every door of the program that would
look at the truth asks here first.
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

SECRET: Final = say("in an exam only the servers give information: query them, or let time pass")
"""Why a question about the truth is refused; the same whatever is true."""


def is_truth_hidden(drill: DrillState) -> bool:
    """The truth of *drill* is not told: its mode keeps it, and it is not over."""
    return not drill.terms.truth and not drill.finished


def require_visible_truth(drill: DrillState) -> None:
    """Before anything is answered from the truth of *drill*. Raises InputError where nothing may be."""
    if is_truth_hidden(drill):
        raise InputError(SECRET)


def hides_refusal(drill: DrillState, item: Input) -> bool:
    """A repair or a fault that has nothing to work on: that it is refused would tell how things are."""
    return is_truth_hidden(drill) and VERBS[item.verb].in_ledger


def build_neutral_event(world: World, item: Input) -> Event:
    """What is told of such an act: the same as of one that had something to do."""
    server = item.args[0] if item.args and item.args[0] in world.instances else None
    return Event(
        world.tick, "fault", server, None, item.command_text, (("verb", item.verb), ("args", list(item.args)))
    )


def hide_effects(events: Iterable[Event], item: Input) -> list[Event]:
    """*events* of the act *item* without what they tell of how things were: that it had no effect, or why not."""
    return [
        replace(
            event, text=item.command_text, data=tuple(pair for pair in event.data if pair[0] != "no_effect")
        )
        if event.get("no_effect")
        else event
        for event in events
    ]
