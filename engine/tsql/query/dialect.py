"""Dialects for reading T-SQL and writing SQLite with sqlglot: all functions are ours and must not be reinterpreted."""

from __future__ import annotations

import re
from typing import Final

from sqlglot import ErrorLevel, exp
from sqlglot.dialects.sqlite import SQLite
from sqlglot.dialects.tsql import TSQL
from sqlglot.errors import ParseError, TokenError
from sqlglot.parsers.tsql import TSQLParser

from engine.tsql.language.lexer import BatchTooLongError, SqlSyntaxError
from engine.tsql.language.reader import STATEMENT_CHARACTERS_MAX
from engine.tsql.language.reserved_words import KEYWORDS

NATIVE: Final = frozenset({
    "COUNT", "COUNT_BIG", "SUM", "MIN", "MAX", "COALESCE", "NULLIF", "ROW_NUMBER", "RANK", "DENSE_RANK",
    "NTILE", "LAG", "LEAD", "FIRST_VALUE", "LAST_VALUE",
})  # fmt: skip
"""Functions that SQLite computes itself; every other one is ours (functions.py)."""


class UnreadableTextError(Exception):
    """Text that may be good T-SQL and that sqlglot cannot read."""


class _Parser(TSQLParser):
    FUNCTIONS = {name: build for name, build in TSQLParser.FUNCTIONS.items() if name in NATIVE}  # noqa: RUF012
    FUNCTION_PARSERS = {  # noqa: RUF012
        name: parse
        for name, parse in TSQLParser.FUNCTION_PARSERS.items()
        if name in ("CAST", "TRY_CAST", "CONVERT", "TRY_CONVERT")
    }
    NO_PAREN_FUNCTIONS = {}  # noqa: RUF012

    def _warn_unsupported(self) -> None:
        raise UnreadableTextError


class TsqlReader(TSQL):
    """T-SQL whose functions are read as plain calls, and whose types keep their names."""

    class Tokenizer(TSQL.Tokenizer):
        """Tokens of T-SQL."""

        KEYWORDS = {  # noqa: RUF012
            word: kind for word, kind in TSQL.Tokenizer.KEYWORDS.items() if word != "NTEXT"
        }

    Parser = _Parser


class SqliteWriter(SQLite):
    """SQLite with names in backticks: an unknown name in double quotes would count as a string."""

    class Tokenizer(SQLite.Tokenizer):
        """Tokens of SQLite."""

        IDENTIFIERS = ["`"]  # noqa: RUF012


def read(text: str, line: int = 1) -> exp.Expr:
    """Return the one query in *text*, which begins on *line* of its batch. Raises SqlSyntaxError or Unreadable."""
    if len(text) > STATEMENT_CHARACTERS_MAX + 500:
        raise BatchTooLongError(line, f"statements of more than {STATEMENT_CHARACTERS_MAX} characters")
    try:
        trees = TsqlReader().parse(text)
    except ParseError as problem:
        if _BULK.search(text):
            raise UnreadableTextError from None
        first = problem.errors[0] if problem.errors else {}
        word = str(first.get("highlight") or "").strip() or text[:20]
        starred = _NAMED_STAR.search(str(first.get("start_context") or ""))
        if starred is not None:
            word = starred[1]
        elif str(first.get("start_context") or "").rstrip().endswith(",") and word.upper() not in KEYWORDS:
            word = ","
        raise _make_near_error(word, line + int(first.get("line") or 1) - 1) from None
    except TokenError:
        raise SqlSyntaxError(line, 102, text.strip()[:20]) from None
    except RecursionError:
        raise SqlSyntaxError(line, 191) from None
    if len(trees) != 1 or trees[0] is None:
        raise SqlSyntaxError(line, 102, ";")
    return trees[0]


_NAMED_STAR: Final = re.compile(r"\*\s+(\w+)\s+$")
"""Pattern of `SELECT * FORM t`, where sqlglot reads FORM as a name of the star, which T-SQL does not allow."""


_BULK: Final = re.compile(r"\bOPENROWSET\s*+\(\s*+BULK\b", re.IGNORECASE)
"""File source of T-SQL that sqlglot does not know."""


def _make_near_error(token_text: str, line: int) -> SqlSyntaxError:
    return SqlSyntaxError(line, 156 if token_text.upper() in KEYWORDS else 102, token_text.strip("'"))


def write(tree: exp.Expr) -> str:
    """Format the query for SQLite. Raises sqlglot's UnsupportedError for constructs without an equivalent."""
    return tree.sql(
        dialect=SqliteWriter,
        unsupported_level=ErrorLevel.RAISE,
        identify=True,
        normalize_functions=False,
        comments=False,
    )
