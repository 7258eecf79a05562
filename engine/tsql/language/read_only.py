"""Detection of batches that certainly change nothing visible to a later batch: the queries of a monitoring script."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from engine.inputs import Input
from engine.json_text import parse_json
from engine.tsql.language.lexer import SqlSyntaxError, tokens_of
from engine.tsql.language.reserved_words import STATEMENT_WORDS

_OF_QUERIES: Final = frozenset({"SELECT", "WITH", "ELSE", "END"})
_CHANGING: Final = (STATEMENT_WORDS - _OF_QUERIES) | {"INTO", "GO", "OPENQUERY", "OPENROWSET"}


_LITERAL: Final = r"(?:N?'(?:[^']|'')*'|0x[0-9A-Fa-f]*|-?[0-9.]+(?:[eE][-+]?\d+)?|NULL)"
_CALL: Final = re.compile(
    rf"EXEC sp_executesql (N'(?:[^']|'')*')(?:, N'(?:[^']|'')*'(?:, (?:@\w+ = )?{_LITERAL})*)?"
)
"""Query with parameters, without output parameters, in the form of a driver."""


def only_reads(item: Input) -> bool:
    """Return whether an input is T-SQL that consists only of SELECTs; a doubtful batch counts as more."""
    if item.verb == "sql":
        return selects_only(item.args[1])
    return item.verb == "batch" and _batch_only_reads(item.args[1])


@lru_cache(256)
def _batch_only_reads(batch_json: str) -> bool:
    """Return whether a batch, given as a JSON string, only reads."""
    try:
        text = str(parse_json(batch_json))
    except ValueError:
        return False
    call = _CALL.fullmatch(text)
    return selects_only(call[1][2:-1].replace("''", "'") if call else text)


@lru_cache(256)
def selects_only(text: str) -> bool:
    """Return True if a text consists only of SELECT statements that change no table."""
    try:
        tokens = tokens_of(text)
    except SqlSyntaxError:
        return False
    words = {token.upper for token in tokens if token.kind == "word"}
    return tokens[0].upper in ("SELECT", "WITH") and not words & _CHANGING
