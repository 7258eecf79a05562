"""Instructions of the instructor to seats: their recipients, and the log entries that answer them."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from app.classroom import log_entries
from app.classroom.log_entries import LogEntry, LogMismatchError, is_rewind
from app.classroom.messages.replies import InstructionMessage
from app.classroom.models import INJECT, REWIND, ClassInstruction
from app.words.language import tr


class InstructionRecipient(Protocol):
    """Seat as a possible recipient of an instruction."""

    number: int
    group: str


class Respondent(InstructionRecipient, Protocol):
    """Seat with its current time, and with the instructions that it has answered."""

    tick: int
    answered: set[int]


class InstructionIndex(dict[int, ClassInstruction]):
    """Instructions of a class by number, with an index by seat."""

    def __init__(self, instructions: Iterable[ClassInstruction]) -> None:
        super().__init__()
        self._by_seat: dict[int | None, list[ClassInstruction]] = {}
        self.add(instructions)

    def add(self, instructions: Iterable[ClassInstruction]) -> None:
        """Add those of *instructions* that are not known yet."""
        for instruction in instructions:
            if instruction.number not in self:
                self[instruction.number] = instruction
                self._by_seat.setdefault(instruction.seat_id, []).append(instruction)

    def select_for_seat(self, seat: InstructionRecipient) -> list[ClassInstruction]:
        """Return the instructions to a seat, its group or all seats, ordered by number."""
        candidates = [*self._by_seat.get(None, ()), *self._by_seat.get(seat.number, ())]
        return sorted(
            (instruction for instruction in candidates if is_recipient(instruction, seat)),
            key=lambda instruction: instruction.number,
        )


def is_recipient(instruction: ClassInstruction, seat: InstructionRecipient) -> bool:
    """Return whether the instruction is addressed to the seat, its group or all seats."""
    return instruction.seat_id in (None, seat.number) and instruction.group_name in (None, seat.group)


def validate_answers(
    entries: Sequence[LogEntry],
    seat: InstructionRecipient,
    earlier_entries: Iterable[LogEntry],
    instructions: InstructionIndex,
) -> None:
    """Check that each of *entries* that names an instruction is a valid first answer to it.

    A seat answers each instruction once, unless the answer was rewound. *earlier_entries* precede *entries*
    in the log. Raises LogMismatchError for an invalid or repeated answer.
    """
    log, instructions_of_seat = list(earlier_entries), instructions.select_for_seat(seat)
    for act in entries:
        if act.instruction:
            instruction = instructions.get(act.instruction)
            if instruction is None or not is_recipient(instruction, seat):
                raise LogMismatchError(
                    tr("input {number} answers an instruction that does not exist").format(number=act.number)
                )
            if not is_answer(act, instruction):
                kind = {INJECT: tr("injected command"), REWIND: tr("rewind")}.get(
                    instruction.kind, tr("message")
                )
                raise LogMismatchError(
                    tr("input {number} does not match the instruction that it answers ({kind})").format(
                        number=act.number, kind=kind
                    )
                )
            if act.instruction in list_settled_instructions(log, instructions_of_seat):
                raise LogMismatchError(
                    tr("input {number} answers an instruction that is already answered").format(
                        number=act.number
                    )
                )
        log.append(act)


def is_answer(entry: LogEntry, instruction: ClassInstruction) -> bool:
    """Return True if *entry* answers *instruction*.

    The line of a refused inject is an answer, too. The replay detects that it was refused.
    """
    if instruction.kind == REWIND:
        return is_rewind(entry) and entry.tick == instruction.tick
    return entry.line == (instruction.text if instruction.kind == INJECT else "") and entry.tick >= (
        instruction.tick or 0
    )


def list_settled_instructions(log: Sequence[LogEntry], instructions: Iterable[ClassInstruction]) -> set[int]:
    """Return the numbers of the instructions that a seat with *log* must not receive again."""
    instructions_by_number = {instruction.number: instruction for instruction in instructions}
    answers = [
        act._replace(instruction=0)
        if act.instruction
        and (class_instruction := instructions_by_number.get(act.instruction))
        and not is_answer(act, class_instruction)
        else act
        for act in log
    ]
    timed = {
        class_instruction.number
        for class_instruction in instructions_by_number.values()
        if class_instruction.tick is not None
    }
    return {act.instruction for act in answers if act.instruction} - (
        timed - log_entries.list_answered_instructions(answers)
    )


def list_due_instructions(instructions: InstructionIndex, seat: Respondent) -> list[InstructionMessage]:
    """Return the instructions that are due for a seat and not answered, in order of time. Rewinds are omitted."""
    messages = [
        convert_to_message(class_instruction)
        for class_instruction in instructions.select_for_seat(seat)
        if class_instruction.tick is not None
        and class_instruction.kind != REWIND
        and class_instruction.tick <= seat.tick
        and class_instruction.number not in seat.answered
    ]
    return sorted(messages, key=lambda order: (order.tick or 0, order.number))


def convert_to_message(instruction: ClassInstruction) -> InstructionMessage:
    """Convert the instruction to a message for a seat."""
    return InstructionMessage(instruction.number, instruction.kind, instruction.tick, instruction.text)
