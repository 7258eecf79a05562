"""What a query becomes, as plain data, and the door to its translation: sqlglot and the grammar load at first use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import pairwise
from typing import Any, Final

from engine.tsql.language import statements as s
from engine.tsql.language.columns import parse_columns
from engine.tsql.language.lexer import SyntaxProblem, Token, tokens_of
from engine.tsql.query.cost import NO_QUERY, Query
from engine.tsql.scalars.types import SqlType
from engine.tsql.scalars.values import Scalar, shown_as

UNNAMED: Final = "(No column name)"
COLLATION: Final = "tsql"
"""Compares as the default collation does: no case, no trailing blanks."""
EXACT: Final = "tsql_cs"
CODE_POINTS: Final = "tsql_bin"
"""The same for the collations that see case, and for the binary ones."""
ROW_ID: Final = "_rowid_"
"""SQLite's number of a row, by that of its three names which a column is least likely to have."""
COLLATIONS: Final = (COLLATION, EXACT, CODE_POINTS)


LITERAL: Final = "="
"""Before a number that is passed as a variable."""


Rows = list[tuple[Scalar, ...]]


class Unsimulated(Exception):
    """A query that the product runs and we do not; the text says which part of it."""


@dataclass(frozen=True, slots=True)
class TableRef:
    """A table as the query names it: up to four parts, or a table variable or temp table."""

    parts: tuple[str, ...]
    call: bool = False
    """It is written with brackets, as a table-valued function."""
    query: str = ""
    """OPENQUERY: what to ask the server that the one part names."""
    hints: frozenset[str] = frozenset()
    """NOLOCK, READPAST, UPDLOCK … as written, in capitals."""

    @property
    def dotted(self) -> str:
        return ".".join(self.parts) + ("()" if self.call else "")

    @property
    def key(self) -> str:
        """Name of the table in SQLite."""
        return f"{self.dotted.lower()} {self.query}".rstrip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to ask SQLite and what to do with the answer."""

    kind: str
    """select, assign, insert, update, delete or truncate."""
    sql: str = ""
    tables: tuple[TableRef, ...] = ()
    variables: tuple[str, ...] = ()
    """The variables of parameters p0, p1 …; a name that begins with @@ is a global one, with LITERAL a number."""
    assigns: tuple[str, ...] = ()
    """assign: variables that take the columns of the last row."""
    target: TableRef | None = None
    """The table that is written to (also SELECT … INTO)."""
    columns: tuple[str, ...] = ()
    """insert, update: columns that the values are for; empty: all."""
    defaults: bool = False
    defaulted: tuple[tuple[int, int], ...] = ()
    """Where the word DEFAULT stands for a value: (row, or -1 for all, place in the row)."""
    """INSERT … DEFAULT VALUES."""
    parts: tuple[Plan, ...] = ()
    """merge: queries for rows that match, rows of the source alone, rows of the target alone."""
    branches: tuple[tuple[str, tuple[str, ...], int, int], ...] = ()
    """Part of a merge: action, columns, and which of the values each WHEN takes."""
    kinds: tuple[SqlType | None, ...] = ()
    """Types of the columns; empty if they cannot be told."""
    outputs: tuple[str, ...] = ()
    """Names of the columns, as far as the types are known."""
    functions: tuple[tuple[str, str], ...] = ()
    """Functions of other schemas: the name in SQLite, the name as written."""
    calls: tuple[tuple[str, int], ...] = ()
    """Other functions and how many arguments they are given."""
    cost: Query = NO_QUERY

    def shown(self, rows: Rows) -> Rows:
        """The rows as a grid shows them: 12.50, not 12.5."""
        exact = [kind is not None and kind.is_number and not kind.is_whole for kind in self.kinds]
        if not any(exact) or (rows and len(rows[0]) != len(exact)):
            return rows
        return [tuple(map(shown_as, row, self.kinds)) for row in rows]


@dataclass(frozen=True, slots=True)
class References:
    """What a query names."""

    tables: tuple[TableRef, ...] = ()
    variables: tuple[str, ...] = ()


@cache
def _translate() -> Any:
    """translate.py with sqlglot behind it: 50 ms that a program which asks nothing need not spend."""
    return import_module("engine.tsql.query.translate")


@cache
def _parse() -> Any:
    """parse.py with lark and the grammar's tables behind it: 120 ms."""
    return import_module("engine.tsql.language.parse")


def parse_command(text: str, tokens: Sequence[Token], following: Token) -> s.Statement:
    """The command that *tokens* of *text* are; *following* is behind it. Raises SyntaxProblem 102 or 156."""
    statement: s.Statement = _parse().parse_command(text, tokens, following)
    return statement


def following(statement: str) -> tuple[set[str], set[str]]:
    """Names of the terminals that may follow the beginning of a command, and the words among them."""
    accepted, words = _parse().following(statement)
    return accepted, words


def references(kind: str, text: str) -> References:
    """The tables and variables that *text*, a statement, expression or condition, names."""
    found: References = _translate().references(kind, text)
    return found


def plan(kind: str, text: str, names: object = None) -> Plan:
    """The plan of a statement, or of the value of an expression or condition, read against *names* (names.Names).

    Raises SyntaxProblem, SqlError or Unsimulated.
    """
    made: Plan = _translate().plan(kind, text, names)
    return made


def planning(text: str, names: object) -> Any:
    """The plan of a statement in steps (work.Stepwise)."""
    return _translate().planning(text, names)


def plan_statement(text: str) -> Plan:
    """The plan of a statement of which no table or variable is known."""
    return plan("statement", text)


# --- checks while the batch is compiled -----------------------------------------------------------------


def check_statement(text: str, line: int) -> bool:
    """Raises SyntaxProblem unless *text* reads as a query; False if sqlglot cannot tell."""
    return bool(_translate().check_statement(text, line))


def check_view(text: str) -> None:
    """Raises 1033 for the query of a view with ORDER BY and without TOP."""
    _translate().check_view(text)


def check_condition(text: str, line: int) -> None:
    """Raises SyntaxProblem unless *text* reads as a condition (4145 if it is a value)."""
    _translate().check_condition(text, line)


def check_expression(text: str, line: int) -> None:
    """Raises SyntaxProblem unless *text* reads as one value."""
    _translate().check_expression(text, line)


def check_columns(text: str, line: int) -> None:
    """Raises SyntaxProblem unless *text* reads as the columns of a table."""
    try:
        parse_columns(text)
    except SyntaxProblem as problem:
        raise SyntaxProblem(problem.line + line - 1, problem.number, *problem.parameters) from None


def without_cursor_options(text: str) -> str:
    """The SELECT of a cursor without FOR READ ONLY or FOR UPDATE."""
    level, begins = 0, len(text)
    tokens = tokens_of(text)
    for token, behind in pairwise(tokens):
        level += token.is_op("(") - token.is_op(")")
        if level == 0 and token.upper == "FOR":
            begins = token.start if behind.upper in ("READ", "UPDATE") else len(text)
    return text[:begins]
