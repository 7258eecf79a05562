"""What concerns the run as a whole: remarks, hints, answers, ways back, its end, and all faults at once."""

from __future__ import annotations

from typing import Final

from engine.inputs import Input
from engine.model import World
from engine.verbs.verb import Parameter, Verb
from engine.words import mark, say


def _answer(world: World, item: Input) -> None:
    question, choice = item.args
    world.emit("answer", item.words, question=question, choice=choice)


VERBS: Final = (
    Verb(
        name="revert-all",
        help=mark("undo all faults that are still active"),
        group="repair",
        do=None,
    ),
    Verb(
        name="note",
        parameters=(Parameter("text", "rest"),),
        help=mark("add a note to the run"),
        group="remark",
        do=lambda world, item: world.emit("note", item.args[0]),
    ),
    Verb(
        name="hint",
        parameters=(Parameter("layer", choices=("1", "2", "3")),),
        help=mark("open a hint: 1 where to look, 2 what it means, 3 what to type"),
        group="remark",
        by_person=True,
        do=lambda world, item: world.emit("hint", say("a hint was opened"), layer=int(item.args[0])),
    ),
    Verb(
        name="answer",
        parameters=(Parameter("question"), Parameter("choice", "number")),
        help=mark("answer a question by the number of a choice"),
        group="remark",
        by_person=True,
        do=_answer,
    ),
    Verb(
        name="rewind",
        parameters=(Parameter("from_s", "number"), Parameter("known", "rest", optional=True)),
        help=mark("note a rewind to this moment: from which moment, and what is known since"),
        group="remark",
        by_person=True,
        do=lambda world, item: world.emit("note", say("rewound to this moment"), rewound_from_s=item.args[0]),
    ),
    Verb(
        name="finish",
        help=mark("finish the drill and score it"),
        group="remark",
        by_person=True,
        do=lambda world, item: world.emit("note", say("the drill is to end here")),
    ),
)
