"""Instructions of a compiled batch: a flat list with jumps."""

from msgspec import Struct

from engine.tsql.language import statements as s


class RunStatement(Struct, frozen=True):
    """Execute a statement."""

    statement: s.Statement


class BranchIfFalse(Struct, frozen=True):
    """Jump to *target* unless the condition is true."""

    condition: str
    target: int = -1


class Jump(Struct, frozen=True):
    """Jump to *target*."""

    target: int = -1


class EndCatch(Struct, frozen=True):
    """Forget the caught error at the end of a CATCH block."""


Action = RunStatement | BranchIfFalse | Jump | EndCatch


class CompiledInstruction(Struct, frozen=True):
    """Instruction with its line in the batch, and the handler of its errors."""

    line: int
    action: Action
    handler: int | None
    """Index at which an error continues: the first instruction of the enclosing CATCH block; None without one."""


Program = tuple[CompiledInstruction, ...]
