"""Instructions of a compiled batch: a flat list with jumps."""

from msgspec import Struct

from engine.tsql.language import statements as s


class StatementInstruction(Struct, frozen=True):
    """Instruction that executes a statement."""

    statement: s.Statement


class BranchInstruction(Struct, frozen=True):
    """Instruction that jumps to *target* if the condition is false or unknown."""

    condition: str
    target: int = -1


class JumpInstruction(Struct, frozen=True):
    """Instruction that jumps to *target*."""

    target: int = -1


class EndCatchInstruction(Struct, frozen=True):
    """Instruction at the end of a CATCH block. It discards the caught error."""


InstructionAction = StatementInstruction | BranchInstruction | JumpInstruction | EndCatchInstruction


class CompiledInstruction(Struct, frozen=True):
    """Instruction with its line in the batch and its error handler."""

    line: int
    action: InstructionAction
    handler: int | None
    """Index of the instruction at which execution continues after an error.

    It is the start of the CATCH block that belongs to the enclosing TRY; None outside TRY.
    """


Program = tuple[CompiledInstruction, ...]
