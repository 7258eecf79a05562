"""Statements allowed in the body of a scalar function.

[DOC: CREATE FUNCTION; Create user-defined functions]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from engine.tsql.language import statements as s
from engine.tsql.language.instructions import (
    BranchIfFalse,
    CompiledInstruction,
    EndCatch,
    Jump,
    Program,
    RunStatement,
)
from engine.tsql.language.lexer import SqlSyntaxError, Token
from engine.tsql.query import planner

_SIDE_EFFECTS: Final[dict[type[s.Statement], str]] = {
    s.Print: "PRINT",
    s.Raiserror: "RAISERROR",
    s.Throw: "THROW",
    s.ExecuteString: "EXECUTE STRING",
    s.InsertExec: "INSERT EXEC",
    s.Waitfor: "WAITFOR",
    s.SetSession: "SET OPTION ON/OFF",
    s.CreateTable: "CREATE TABLE",
}
"""Operators that message 443 names."""

_NONDETERMINISTIC: Final = frozenset({"NEWID", "RAND", "NEWSEQUENTIALID"})
"""Built-in functions that message 443 refuses in a function [DOC: Create user-defined functions]."""


def check(program: Program, tokens: Sequence[Token], line: int) -> None:
    """Raise 443, 444, 455, 2772 or SqlSyntaxError 0 for a body, which begins on *line*, that no function may have."""
    for place, token in enumerate(tokens):
        if token.kind == "word" and token.text.startswith("#"):
            raise SqlSyntaxError(token.line, 2772)
        if token.upper in _NONDETERMINISTIC and tokens[min(place + 1, len(tokens) - 1)].is_op("("):
            raise SqlSyntaxError(token.line, 443, token.text.lower())
    for instruction in program:
        if isinstance(instruction.action, EndCatch):
            raise SqlSyntaxError(line, 443, "BEGIN TRY")
        if isinstance(instruction.action, RunStatement):
            _check_statement(instruction.action.statement, instruction.line)
    if not _ends_with_return(program):
        raise SqlSyntaxError(program[-1].line if program else line, 455)


def _ends_with_return(program: Program) -> bool:
    """Return whether the last statement of the outermost block is RETURN: nothing jumps behind it or around it."""
    last = program[-1].action if program else None
    jumps = [one.action.target for one in program if isinstance(one.action, BranchIfFalse | Jump)]
    return (
        isinstance(last, RunStatement) and isinstance(last.statement, s.Return) and len(program) not in jumps
    )


def not_simulated(program: Program) -> str:
    """Return the statement of a body that functions may have and that is not simulated, or an empty text."""
    return next(filter(None, map(_not_simulated, program)), "")


def _not_simulated(instruction: CompiledInstruction) -> str:
    action = instruction.action
    if not isinstance(action, RunStatement) or isinstance(action.statement, s.Declare | s.Assign):
        return ""
    statement = action.statement
    if isinstance(statement, s.Return):
        return "" if statement.expression else "RETURN without a value in a function"
    if isinstance(statement, s.QueryStatement):
        return "OUTPUT in a function" if statement.output is not None else ""
    if isinstance(statement, s.UnsimulatedStatement):
        return statement.what
    if isinstance(statement, s.DeclareCursor | s.CursorAction | s.FetchCursor):
        return "cursors in a function"
    if isinstance(statement, s.Execute):
        return f"EXEC {statement.procedure} in a function"
    return f"{type(statement).__name__} in a function"


def _check_statement(statement: s.Statement, line: int) -> None:
    if type(statement) in _SIDE_EFFECTS:
        raise SqlSyntaxError(line, 443, _SIDE_EFFECTS[type(statement)])
    if isinstance(statement, s.Transaction):
        raise SqlSyntaxError(line, 443, f"{statement.verb.upper()} TRANSACTION")
    if not isinstance(statement, s.QueryStatement):
        return
    plan = planner.plan_statement(statement.text)
    if plan.target is None:
        if plan.kind == "select":
            raise SqlSyntaxError(line, 444)
    elif not plan.target.key.startswith("@"):
        raise SqlSyntaxError(line, 443, "SELECT INTO" if plan.kind == "select" else plan.kind.upper())
