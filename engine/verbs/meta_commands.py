"""Verbs for the run as a whole: remarks, hints, answers, rewinding, the end, and all faults together."""

from __future__ import annotations

from typing import Final, cast

from engine.constants import TIME_MAX_S
from engine.events import EventKind
from engine.inputs import Input
from engine.localization import mark, say
from engine.model import World
from engine.verbs.verb import VerbParameter, verb


def _answer(world: World, item: Input) -> None:
    question, choice = item.args
    if item.options:
        sure_percent = item.option("sure_percent", 0.0)
        world.emit("answer", item.command_text, question=question, choice=choice, sure_percent=sure_percent)
    else:
        world.emit("answer", item.command_text, question=question, choice=choice)


def _emit_team_message(world: World, item: Input) -> None:
    """Send a message from one role of a team to another; `Drill` has checked that it is permitted."""
    world.emit(cast(EventKind, item.verb), item.args[-1], by=item.by, to=item.args[0])


ROLE: Final = VerbParameter(mark("role"))
"""Key of a role of the team."""

VERBS: Final = (
    verb("revert-all", None),
    verb("note", lambda world, item: world.emit("note", item.args[0])),
    verb(
        "hint",
        lambda world, item: world.emit("hint", say("a hint was opened"), layer=int(item.args[0])),
        parameters=(VerbParameter("layer", choices=("1", "2", "3")),),
    ),
    verb("answer", _answer, parameters=(VerbParameter("question"), VerbParameter("choice", "number"))),
    verb("call", _emit_team_message, parameters=(ROLE, VerbParameter("text", "rest"))),
    verb("read-back", _emit_team_message, parameters=(ROLE, VerbParameter("text", "rest"))),
    verb("confirm", _emit_team_message, parameters=(ROLE,)),
    verb("ask-status", _emit_team_message, parameters=(ROLE, VerbParameter("text", "rest"))),
    verb("status", _emit_team_message, parameters=(ROLE, VerbParameter("fact", "rest"))),
    verb(
        "rewind",
        lambda world, item: world.emit("note", say("rewound to this time"), rewound_from_s=item.args[0]),
        parameters=(
            VerbParameter("from_s", "number", bounds=(0.0, TIME_MAX_S)),
            VerbParameter("known", "rest", optional=True),
        ),
    ),
    verb("finish", lambda world, item: world.emit("note", say("drill ended by you"))),
)
