"""What the instructor has seats do: for whom it is, which acts answer it, and how a seat is sent it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from app.classroom import acts, shapes
from app.classroom.acts import Act, BadLog, goes_back
from app.classroom.models import BACK, INJECT, Instruction
from app.words.language import tr


class Addressee(Protocol):
    number: int
    group: str


def is_for(given: Instruction, seat: Addressee) -> bool:
    return given.seat_id in (None, seat.number) and given.group_name in (None, seat.group)


def check_answers(
    new: Sequence[Act], seat: Addressee, before: Iterable[Act], instructions: Mapping[int, Instruction]
) -> None:
    """Raises BadLog where one of *new*, which follow the log *before* of *seat*, is no answer to the instruction that
    it names. Each instruction is answered once, unless its answer was taken back."""
    log = list(before)
    for act in new:
        if act.instruction:
            given = instructions.get(act.instruction)
            if given is None or not is_for(given, seat):
                raise BadLog(tr("act {number} answers what nobody has asked").format(number=act.number))
            if not is_answer(act, given):
                kind = {INJECT: tr("inject"), BACK: tr("way back")}.get(given.kind, tr("message"))
                raise BadLog(
                    tr("act {number} is not the {kind} that it answers").format(number=act.number, kind=kind)
                )
            if act.instruction in answered(log, instructions.values()):
                raise BadLog(tr("act {number} answers what was answered before").format(number=act.number))
        log.append(act)


def is_answer(act: Act, given: Instruction) -> bool:
    """Return True if *act* is what *given* asks for.

    The line of an inject that the run refuses is an answer, too: the replay finds that it is refused.
    """
    if given.kind == BACK:
        return goes_back(act) and act.tick == given.tick
    return act.line == (given.text if given.kind == INJECT else "") and act.tick >= (given.tick or 0)


def answered(log: Sequence[Act], instructions: Iterable[Instruction]) -> set[int]:
    """Instructions that a seat with *log* is not sent again."""
    known = {one.number: one for one in instructions}
    answers = [
        act._replace(instruction=0)
        if act.instruction and (given := known.get(act.instruction)) and not is_answer(act, given)
        else act
        for act in log
    ]
    timed = {one.number for one in known.values() if one.tick is not None}
    return {act.instruction for act in answers if act.instruction} - (timed - acts.answered(answers))


def as_message(given: Instruction) -> shapes.Instruction:
    return {
        "kind": "instruction",
        "number": given.number,
        "what": given.kind,
        "tick": given.tick,
        "text": given.text,
    }
