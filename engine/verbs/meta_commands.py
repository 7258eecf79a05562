"""Verbs for the run as a whole: remarks, hints, answers, team messages, rewind, end, repair of all faults."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from engine.constants import RUN_TIME_MAX_S
from engine.events import (
    AnswerData,
    CallData,
    ConfirmationData,
    HintData,
    NoteData,
    ReadBackData,
    StatusReportData,
    StatusRequestData,
    TeamMessageData,
)
from engine.inputs import Input
from engine.localization import build_message, mark
from engine.model import World
from engine.verbs.verb import VerbParameter, build_verb


def _answer_question(world: World, input_: Input) -> None:
    question, choice = input_.args
    if input_.options:
        sure_percent = input_.get_option("sure_percent", 0.0)
        world.emit(
            AnswerData(question=question, choice=choice, sure_percent=sure_percent), input_.command_text
        )
    else:
        world.emit(AnswerData(question=question, choice=choice), input_.command_text)


TEAM_MESSAGE_CLASSES: Final[Mapping[str, type[TeamMessageData]]] = MappingProxyType(
    {
        each.kind: each
        for each in (CallData, ReadBackData, ConfirmationData, StatusRequestData, StatusReportData)
    }
)
"""Verb -> class of the event that it emits."""


def _emit_team_message(world: World, input_: Input) -> None:
    """Send a message from one team role to another. `Drill` has already checked the permission."""
    world.emit(TEAM_MESSAGE_CLASSES[input_.verb](by=input_.by, to=input_.args[0]), input_.args[-1])


ROLE_PARAMETER: Final = VerbParameter(mark("role"))
"""Parameter for the key of a team role."""

VERBS: Final = (
    build_verb("revert-all", None),
    build_verb("note", lambda world, item: world.emit(NoteData(), item.args[0])),
    build_verb(
        "hint",
        lambda world, item: world.emit(HintData(layer=int(item.args[0])), build_message("a hint was opened")),
        parameters=(VerbParameter("layer", choices=("1", "2", "3")),),
    ),
    build_verb(
        "answer", _answer_question, parameters=(VerbParameter("question"), VerbParameter("choice", "number"))
    ),
    build_verb("call", _emit_team_message, parameters=(ROLE_PARAMETER, VerbParameter("text", "rest"))),
    build_verb("read-back", _emit_team_message, parameters=(ROLE_PARAMETER, VerbParameter("text", "rest"))),
    build_verb("confirm", _emit_team_message, parameters=(ROLE_PARAMETER,)),
    build_verb("ask-status", _emit_team_message, parameters=(ROLE_PARAMETER, VerbParameter("text", "rest"))),
    build_verb("status", _emit_team_message, parameters=(ROLE_PARAMETER, VerbParameter("fact", "rest"))),
    build_verb(
        "rewind",
        lambda world, item: world.emit(
            NoteData(rewound_from_s=item.args[0]), build_message("rewound to this time")
        ),
        parameters=(
            VerbParameter("from_s", "number", bounds=(0.0, RUN_TIME_MAX_S)),
            VerbParameter("known", "rest", optional=True),
        ),
    ),
    build_verb("finish", lambda world, item: world.emit(NoteData(), build_message("drill ended by you"))),
)
