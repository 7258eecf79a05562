"""What the instructor has seats do: for whom it is, which acts answer it, and how a seat is sent it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from app.classroom import acts, shapes
from app.classroom.acts import Act, BadLog
from app.classroom.models import BACK, INJECT, Instruction
from app.words.language import tr


class Addressee(Protocol):
    number: int
    group: str


def is_for(given: Instruction, seat: Addressee) -> bool:
    return given.seat_id in (None, seat.number) and given.group_name in (None, seat.group)


def check_answer(act: Act, seat: int, instructions: Mapping[int, Instruction]) -> None:
    """Raises BadLog where *act* of *seat* answers an instruction that it was not given, or with another line."""
    if not act.instruction:
        return
    given = instructions.get(act.instruction)
    if given is None or given.seat_id not in (None, seat):
        raise BadLog(tr("act {number} answers what nobody has asked").format(number=act.number))
    wanted = {INJECT: given.text, BACK: acts.SENT_BACK}.get(given.kind)
    if act.line and (act.line != wanted or (given.kind == BACK and act.tick != given.tick)):
        raise BadLog(tr("act {number} is not the inject that it answers").format(number=act.number))


def answered(log: Sequence[Act], instructions: Iterable[Instruction]) -> set[int]:
    """Instructions that a seat with *log* is not sent again."""
    timed = {one.number for one in instructions if one.tick is not None}
    return {act.instruction for act in log if act.instruction} - (timed - acts.answered(log))


def as_message(given: Instruction) -> shapes.Instruction:
    return {
        "kind": "instruction",
        "number": given.number,
        "what": given.kind,
        "tick": given.tick,
        "text": given.text,
    }
