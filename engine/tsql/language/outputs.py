"""OUTPUT clause: removed from a statement before sqlglot reads it, and computed from the changed rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from engine.tsql.language.lexer import Token, make_near_error, tokens_of

ENDS: Final = {
    "INSERT": frozenset({"VALUES", "SELECT", "EXEC", "EXECUTE", "DEFAULT", "WITH"}),
    "UPDATE": frozenset({"FROM", "WHERE", "OPTION"}),
    "DELETE": frozenset({"FROM", "WHERE", "OPTION"}),
    "MERGE": frozenset({"OPTION"}),
}
"""Words that end the clause in each statement. Documented [DOC: OUTPUT clause]."""


@dataclass(frozen=True, slots=True)
class OutputClause:
    """Columns to select from the tables inserted and deleted, and their target: an INSERT target, or a grid if ""."""

    columns: str
    into: str = ""


@lru_cache(maxsize=256)
def split(text: str) -> tuple[str, OutputClause | None]:
    """Return the statement without its OUTPUT clause, and the clause.

    Raises SqlSyntaxError for one that cannot be read.
    """
    if "output" not in text.lower():
        return text, None
    tokens = tokens_of(text)
    verb = _first_verb(tokens)
    if verb < 0:
        return text, None
    ends = ENDS[tokens[verb].upper]
    level = 0
    for place in range(verb + 1, len(tokens)):
        token = tokens[place]
        level += token.is_op("(") - token.is_op(")")
        if level == 0 and token.upper == "OUTPUT":
            return _extract_clause(text, tokens, place, ends)
        if level == 0 and token.upper in ends and tokens[verb].upper != "MERGE":
            if tokens[verb].upper == "DELETE" and token.upper == "FROM" and place == verb + 1:
                continue
            return text, None
    return text, None


def _first_verb(tokens: tuple[Token, ...]) -> int:
    """Return the number of the first INSERT, UPDATE, DELETE or MERGE outside all brackets; -1 without one."""
    level = 0
    for place, token in enumerate(tokens):
        level += token.is_op("(") - token.is_op(")")
        if level == 0 and token.upper in ENDS:
            return place
    return -1


def _extract_clause(
    text: str, tokens: tuple[Token, ...], start: int, ends: frozenset[str]
) -> tuple[str, OutputClause]:
    end, into, level = start + 1, -1, 0
    while tokens[end].kind != "end":
        token = tokens[end]
        level += token.is_op("(") - token.is_op(")")
        if level < 0 or (level == 0 and (token.upper in ends or token.is_op(";"))):
            break
        if level == 0 and token.upper == "INTO":
            into = end
        if into >= 0 and level == 0 and token.is_op(")"):
            end += 1
            break
        if into >= 0 and end > into + 1 and level == 0 and token.upper == "OUTPUT":
            break
        end += 1
    last = into if into >= 0 else end
    columns = text[tokens[start].end : tokens[last - 1].end].strip()
    if not columns or last == start + 1:
        raise make_near_error(tokens[end])
    target = text[tokens[into].end : tokens[end - 1].end].strip() if into >= 0 else ""
    rest = text[: tokens[start].start] + " " + text[tokens[end - 1].end :]
    return rest, OutputClause(columns, target)
