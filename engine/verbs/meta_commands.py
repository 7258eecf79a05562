"""Verbs for the run as a whole: remarks, hints, answers, rewinding, the end, and all faults together."""

from __future__ import annotations

from typing import Final, cast

from engine.constants import TIME_MAX_S
from engine.events import EventKind
from engine.inputs import Input
from engine.localization import mark, say
from engine.model import World
from engine.verbs.verb import Verb, VerbParameter


def _answer(world: World, item: Input) -> None:
    question, choice = item.args
    if item.options:
        sure_percent = item.option("sure_percent", 0.0)
        world.emit("answer", item.command_text, question=question, choice=choice, sure_percent=sure_percent)
    else:
        world.emit("answer", item.command_text, question=question, choice=choice)


def _emit_team_message(world: World, item: Input) -> None:
    """Send a message from one role of a team to another; `Drill` has checked that it is permitted now."""
    world.emit(cast(EventKind, item.verb), item.args[-1], by=item.by, to=item.args[0])


ROLE: Final = VerbParameter(mark("role"))
"""Key of a role of the team."""

VERBS: Final = (
    Verb(
        name="revert-all",
        told=mark("Undo all faults"),
        help=mark("undo all faults that are still active"),
        group="repair",
        do=None,
    ),
    Verb(
        name="note",
        told=mark("Note: {text}"),
        parameters=(VerbParameter("text", "rest"),),
        help=mark("add a note to the run"),
        group="remark",
        do=lambda world, item: world.emit("note", item.args[0]),
    ),
    Verb(
        name="hint",
        told=mark("Open a hint"),
        parameters=(VerbParameter("layer", choices=("1", "2", "3")),),
        help=mark("open a hint: 1 where to look, 2 what it means, 3 what to type"),
        group="remark",
        by_person=True,
        do=lambda world, item: world.emit("hint", say("a hint was opened"), layer=int(item.args[0])),
    ),
    Verb(
        name="answer",
        told=mark("Answer {question}"),
        parameters=(VerbParameter("question"), VerbParameter("choice", "number")),
        help=mark("answer a question with the number of a choice"),
        options={"sure_percent": (0.0, 100.0)},
        group="remark",
        by_person=True,
        do=_answer,
    ),
    Verb(
        name="call",
        told=mark("Order to {role}: {text}"),
        parameters=(ROLE, VerbParameter("text", "rest")),
        help=mark("in a team: give an order to a role, which reads it back"),
        group="remark",
        do=_emit_team_message,
    ),
    Verb(
        name="read-back",
        told=mark("Read back to {role}: {text}"),
        parameters=(ROLE, VerbParameter("text", "rest")),
        help=mark("in a team: read back the order of a role before you execute it"),
        group="remark",
        do=_emit_team_message,
    ),
    Verb(
        name="confirm",
        told=mark("Confirm to {role}"),
        parameters=(ROLE,),
        help=mark("in a team: confirm that a role has read back the order correctly"),
        group="remark",
        do=_emit_team_message,
    ),
    Verb(
        name="ask-status",
        told=mark("Ask {role} for the status of {text}"),
        parameters=(ROLE, VerbParameter("text", "rest")),
        help=mark("in a team: ask a role for the state of an item"),
        group="remark",
        do=_emit_team_message,
    ),
    Verb(
        name="status",
        told=mark("Report to {role}: {fact}"),
        parameters=(ROLE, VerbParameter("fact", "rest")),
        help=mark("in a team: report a fact to a role, such as Sales serves on SERVER_B"),
        group="remark",
        do=_emit_team_message,
    ),
    Verb(
        name="rewind",
        told=mark("Rewind"),
        parameters=(
            VerbParameter("from_s", "number", bounds=(0.0, TIME_MAX_S)),
            VerbParameter("known", "rest", optional=True),
        ),
        help=mark("record a rewind to this time: the time before it, and the events known since"),
        group="remark",
        by_person=True,
        do=lambda world, item: world.emit("note", say("rewound to this time"), rewound_from_s=item.args[0]),
    ),
    Verb(
        name="finish",
        told=mark("End drill"),
        help=mark("finish the drill and score it"),
        group="remark",
        by_person=True,
        do=lambda world, item: world.emit("note", say("drill ended by you")),
    ),
)
