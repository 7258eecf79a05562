"""What of T-SQL is younger than the server, and how an older one refuses it [DOC: data types; ORDER BY; OVER]."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from engine.tsql.language.lexer import SyntaxProblem, Token

TYPES: Final = frozenset(
    {"DATE", "TIME", "DATETIME2", "DATETIMEOFFSET", "HIERARCHYID", "GEOMETRY", "GEOGRAPHY"}
)
"""Types of 2008."""

_AGGREGATES: Final = frozenset(
    {"SUM", "AVG", "MIN", "MAX", "COUNT", "COUNT_BIG", "STDEV", "STDEVP", "VAR", "VARP"}
)
"""Functions whose OVER takes ORDER BY from 2012 on; those that rank always did."""


def check(tokens: Sequence[Token], version: int) -> None:
    """Raises 243 for a type that the version does not have, 102 for OFFSET or ORDER BY in OVER."""
    if version >= 2012:
        return
    opened: list[str] = []
    """What stands before each bracket that is open: a function, or OVER and the function before it."""
    closed = ""
    for place, token in enumerate(tokens):
        before = tokens[place - 1].upper if place else ""
        if version < 2008 and token.upper in TYPES and _is_type(tokens, place):
            raise SyntaxProblem(token.line, 243, token.text)
        if before == "OFFSET" and place > 1 and token.kind in ("number", "variable"):
            raise SyntaxProblem(token.line, 102, tokens[place - 1].text)
        if token.upper == "ORDER" and opened and opened[-1] in _OVER:
            raise SyntaxProblem(token.line, 102, token.text)
        if token.is_op("("):
            opened.append(f"{closed} OVER" if before == "OVER" else before)
        elif token.is_op(")"):
            closed = opened.pop() if opened else ""


_OVER: Final = frozenset(f"{name} OVER" for name in _AGGREGATES)


def _is_type(tokens: Sequence[Token], place: int) -> bool:
    """AS type ) in CAST, or CONVERT ( type ,"""
    before, behind = tokens[max(0, place - 2) : place], tokens[place + 1 : place + 2]
    if not before or not behind:
        return False
    if before[-1].upper == "AS":
        return behind[0].is_op(")", "(")
    return before[-1].is_op("(") and before[0].upper in ("CONVERT", "TRY_CONVERT")
