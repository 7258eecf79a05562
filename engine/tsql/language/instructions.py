"""Instructions of a compiled batch: a flat list with jumps."""

from __future__ import annotations

from dataclasses import dataclass

from engine.tsql.language import statements as s


@dataclass(frozen=True, slots=True)
class RunStatement:
    """Execute a statement."""

    statement: s.Statement


@dataclass(frozen=True, slots=True)
class BranchIfFalse:
    """Jump to *target* unless the condition holds."""

    condition: str
    target: int = -1


@dataclass(frozen=True, slots=True)
class Jump:
    """Jump to an instruction, always or on a condition."""

    target: int = -1


@dataclass(frozen=True, slots=True)
class EndCatch:
    """Forget the error of the CATCH block."""


Action = RunStatement | BranchIfFalse | Jump | EndCatch


@dataclass(frozen=True, slots=True)
class CompiledInstruction:
    """Instruction with its line in the batch."""

    line: int
    action: Action
    handler: int | None
    """Target of an error: the first instruction of the enclosing CATCH block."""


Program = tuple[CompiledInstruction, ...]
