"""Instructions of a compiled batch: a flat list with jumps."""

from msgspec import Struct

from engine.tsql.language import statements as s


class RunStatement(Struct, frozen=True):
    """Execution of a statement."""

    statement: s.Statement


class BranchIfFalse(Struct, frozen=True):
    """Jump to *target* if the condition is false or unknown."""

    condition: str
    target: int = -1


class Jump(Struct, frozen=True):
    """Jump to *target*."""

    target: int = -1


class EndCatch(Struct, frozen=True):
    """End of a CATCH block, which discards the caught error."""


Action = RunStatement | BranchIfFalse | Jump | EndCatch


class CompiledInstruction(Struct, frozen=True):
    """Instruction with its line in the batch and its error handler."""

    line: int
    action: Action
    handler: int | None
    """Index of the instruction at which execution continues after an error: the start of the CATCH block of
    the enclosing TRY. None outside TRY.
    """


Program = tuple[CompiledInstruction, ...]
