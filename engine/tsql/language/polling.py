"""Which batches certainly change nothing that a later one could see: the queries of a monitoring script."""

from __future__ import annotations

from typing import Final

from engine.inputs import Input
from engine.tsql.language.lexer import SyntaxProblem, tokens_of
from engine.tsql.language.words import STATEMENT_WORDS

_OF_QUERIES: Final = frozenset({"SELECT", "WITH", "ELSE", "END"})
_CHANGING: Final = (STATEMENT_WORDS - _OF_QUERIES) | {"INTO", "GO", "OPENQUERY", "OPENROWSET"}


def only_reads(item: Input) -> bool:
    """Whether an input is T-SQL made of SELECTs alone; a batch that might be more counts as more."""
    if item.verb != "sql":
        return False
    try:
        tokens = tokens_of(item.args[1])
    except SyntaxProblem:
        return False
    words = {token.upper for token in tokens if token.kind == "word"}
    return tokens[0].upper in ("SELECT", "WITH") and not words & _CHANGING
