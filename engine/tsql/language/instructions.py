"""Instructions of a compiled batch: a flat list with jumps."""

from dataclasses import dataclass

from engine.tsql.language import statements as s


@dataclass(frozen=True, slots=True)
class RunStatement:
    """Execute a statement."""

    statement: s.Statement


@dataclass(frozen=True, slots=True)
class BranchIfFalse:
    """Jump to *target* unless the condition is true."""

    condition: str
    target: int = -1


@dataclass(frozen=True, slots=True)
class Jump:
    """Jump to *target*."""

    target: int = -1


@dataclass(frozen=True, slots=True)
class EndCatch:
    """Forget the caught error at the end of a CATCH block."""


Action = RunStatement | BranchIfFalse | Jump | EndCatch


@dataclass(frozen=True, slots=True)
class CompiledInstruction:
    """Instruction with its line in the batch, and the handler of its errors."""

    line: int
    action: Action
    handler: int | None
    """Index at which an error continues: the first instruction of the enclosing CATCH block; None without one."""


Program = tuple[CompiledInstruction, ...]
