"""T-SQL features newer than the server, and the errors of an older server [DOC: data types; ORDER BY; OVER]."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from engine.tsql.language.lexer import SqlSyntaxError, Token, make_near_error

TYPES: Final = frozenset(
    {"DATE", "TIME", "DATETIME2", "DATETIMEOFFSET", "HIERARCHYID", "GEOMETRY", "GEOGRAPHY"}
)
"""Types introduced in 2008."""

_AGGREGATES: Final = frozenset(
    {"SUM", "AVG", "MIN", "MAX", "COUNT", "COUNT_BIG", "STDEV", "STDEVP", "VAR", "VARP"}
)
"""Functions whose OVER accepts ORDER BY since 2012; ranking functions always did."""


IF_EXISTS: Final = 2016
"""First version with DROP … IF EXISTS. Documented [DOC: each statement's page]."""


IN_MEMORY: Final = 2014
COLUMNSTORE: Final = 2012
"""First version with columnstore indexes; in-memory tables and procedures came later.

Documented [DOC: CREATE TABLE; CREATE COLUMNSTORE INDEX].
"""


FILTERED_INDEXES: Final = 2008
"""First version with filtered indexes. Documented [DOC: CREATE INDEX]."""


IS_DISTINCT: Final = 2022
"""IS [NOT] DISTINCT FROM. Documented [DOC: IS DISTINCT FROM]."""

_NEW: Final = {
    2022: (
        ("IGNORE", "NULLS"),
        ("RESPECT", "NULLS"),
        ("JSON_OBJECT", "("),
        ("JSON_ARRAY", "("),
        ("<", "<"),
        (">", ">"),
    ),
}
"""Two neighboring words of constructs that are not simulated, by the version that brought them."""


def find_unsimulated(tokens: Sequence[Token], version: int) -> str:
    """Return the unsimulated construct of this version in a query; empty without one."""
    for since, pairs in _NEW.items():
        for before, token in pairwise(tokens if since <= version else ()):
            pair = (before.upper or before.text, token.upper or token.text)
            touches = before.kind != "op" or before.end == token.start
            if pair in pairs and touches:
                return " ".join(pair) if pair[1] == "NULLS" else pair[0] + pair[1] * (pair[1] != "(")
    return ""


APPROXIMATE: Final = 2019
"""First version with APPROX_COUNT_DISTINCT. Documented [DOC: APPROX_COUNT_DISTINCT]."""

_CALLS: Final = {"ISJSON": 1, "STRING_SPLIT": 2}
"""Functions that accept more arguments since 2022."""


def _check_calls_before_2022(tokens: Sequence[Token]) -> None:
    """Raise 102, 174 or 8144 for arguments that functions accept only since 2022, and for a named window."""
    for place, (word, behind) in enumerate(pairwise(tokens)):
        if word.upper == "OVER" and behind.kind in ("word", "quoted"):
            raise make_near_error(behind)
        if not behind.is_op("("):
            continue
        if word.upper == "TRIM" and tokens[place + 2].upper in ("LEADING", "TRAILING", "BOTH"):
            if not tokens[place + 3].is_op(",", ")") and tokens[place + 3].upper != "FROM":
                raise make_near_error(tokens[place + 3])
        elif word.upper in _CALLS and _count_arguments(tokens, place + 1) > _CALLS[word.upper]:
            if word.upper == "STRING_SPLIT":
                raise SqlSyntaxError(word.line, 8144, word.text)
            raise SqlSyntaxError(word.line, 174, word.text.lower(), 1)


def _count_arguments(tokens: Sequence[Token], start: int) -> int:
    """Return the number of arguments in the brackets that open at *start*."""
    level, count = 0, 1
    for token in tokens[start:]:
        level += token.is_op("(") - token.is_op(")")
        count += level == 1 and token.is_op(",")
        if not level:
            break
    return count


JSON: Final = 2016
"""First version with FOR JSON. Documented [DOC: FOR clause]."""


def check(tokens: Sequence[Token], version: int) -> None:
    """Raise 243 for a type that the version does not have, 102 for OFFSET, ORDER BY in OVER, a condition in IIF."""
    dropping = tokens and tokens[0].upper == "DROP" and [t.upper for t in tokens[2:4]] == ["IF", "EXISTS"]
    if dropping and version < IF_EXISTS:
        raise make_near_error(tokens[2])
    for word, json in pairwise(tokens if version < JSON else ()):
        if word.upper == "FOR" and json.upper == "JSON":
            raise make_near_error(json)
    for word, zone in pairwise(tokens if version < JSON else ()):
        if word.upper == "TIME" and zone.upper == "ZONE":
            raise make_near_error(word)
    for word, distinct in pairwise(tokens if version < IS_DISTINCT else ()):
        if distinct.upper == "DISTINCT" and word.upper in ("IS", "NOT"):
            raise make_near_error(distinct)
    if tokens and tokens[0].upper == "TRUNCATE" and len(tokens) > 1 and tokens[1].upper != "TABLE":
        raise make_near_error(tokens[1])
    if tokens and tokens[0].upper == "INSERT":
        for word, row in pairwise(tokens):
            if word.upper == "VALUES" and row.kind in ("number", "string", "variable"):
                raise make_near_error(row)
    if version < IS_DISTINCT:
        _check_calls_before_2022(tokens)
    for name, bracket in pairwise(tokens if version < APPROXIMATE else ()):
        if name.upper == "APPROX_COUNT_DISTINCT" and bracket.is_op("("):
            raise SqlSyntaxError(name.line, 195, name.text, "built-in function name")
    if version >= 2012:
        return
    opened: list[str] = []
    """Context of each open bracket: a function, or OVER and the function before it."""
    closed = ""
    for place, token in enumerate(tokens):
        before = tokens[place - 1].upper if place else ""
        if version < 2008 and token.upper in TYPES and _is_type(tokens, place):
            raise SqlSyntaxError(token.line, 243, token.text)
        if before == "OFFSET" and place > 1 and token.kind in ("number", "variable"):
            raise no_offset(token.line, tokens[place - 1].text, tokens[place:])
        if token.upper == "ORDER" and opened and opened[-1] in _OVER:
            raise SqlSyntaxError(token.line, 102, token.text)
        if token.upper in ("ROWS", "RANGE") and opened and opened[-1].endswith(" OVER"):
            raise SqlSyntaxError(token.line, 102, token.text)
        if opened and opened[-1] == "IIF" and (token.is_op(*_SIGNS) or token.upper in _TESTS):
            raise make_near_error(token)
        if token.is_op("("):
            opened.append(f"{closed} OVER" if before == "OVER" else before)
        elif token.is_op(")"):
            closed = opened.pop() if opened else ""


def no_offset(line: int, near_text: str, following_tokens: Sequence[Token]) -> SqlSyntaxError:
    """Return 102 for OFFSET; the FETCH after it is then read as that of a cursor: 153."""
    problem = SqlSyntaxError(line, 102, near_text)
    for before, token in pairwise(following_tokens):
        if before.upper == "FETCH" and token.upper in ("NEXT", "FIRST"):
            problem.problems = (problem, SqlSyntaxError(line, 153, token.text, "FETCH"))
    return problem


_SIGNS: Final = ("=", "<", ">", "<=", ">=", "<>", "!=")
_TESTS: Final = frozenset({"IS", "LIKE", "IN", "BETWEEN", "NOT", "EXISTS"})
"""Signs and words of a condition, which functions before IIF do not accept."""

_OVER: Final = frozenset(f"{name} OVER" for name in _AGGREGATES)


def _is_type(tokens: Sequence[Token], index: int) -> bool:
    """Return whether the token is a type: after AS in `CAST (… AS type)`, or first in `CONVERT (type, …)`."""
    before, behind = tokens[max(0, index - 2) : index], tokens[index + 1 : index + 2]
    if not before or not behind:
        return False
    if before[-1].upper == "AS":
        return behind[0].is_op(")", "(")
    return before[-1].is_op("(") and before[0].upper in ("CONVERT", "TRY_CONVERT")


def check_one_row(tokens: Sequence[Token]) -> None:
    """Check that VALUES has one row before 2008."""
    level, values = 0, False
    for token in tokens:
        level += token.is_op("(") - token.is_op(")")
        values = values or (level == 0 and token.upper == "VALUES")
        if values and level == 0 and token.is_op(","):
            raise make_near_error(token)
