"""Plans of queries as plain data, and the entry point to their translation.

sqlglot and the grammar load at first use.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from msgspec import Struct

from engine.tsql.query.cost import NO_QUERY, QueryCost
from engine.tsql.scalars.types import SqlType
from engine.tsql.scalars.values import Scalar, format_typed_value

UNNAMED: Final = "(No column name)"
COLLATION: Final = "tsql"
"""Default collation: ignores case and trailing blanks."""
EXACT: Final = "tsql_cs"
CODE_POINTS: Final = "tsql_bin"
"""Comparison of case-sensitive and of binary collations."""
ROW_ID: Final = "_rowid_"
"""SQLite's row number, under the one of its three names that a column is least likely to have."""
COLLATIONS: Final = (COLLATION, EXACT, CODE_POINTS)


LITERAL: Final = "="
"""Prefix of a number that is passed as a variable."""


Rows = list[tuple[Scalar, ...]]


class UnsimulatedFeatureError(Exception):
    """The product runs the query and the simulation does not; the text names the unsupported part."""


@dataclass(frozen=True, slots=True)
class TableRef:
    """Table as the query names it: up to four parts, or a table variable or temp table."""

    parts: tuple[str, ...]
    call: bool = False
    """True if it has brackets, as a table-valued function."""
    query: str = ""
    """OPENQUERY: query for the server named by the only part."""
    hints: frozenset[str] = frozenset()
    """NOLOCK, READPAST, UPDLOCK … as written, in capitals."""

    @property
    def dotted(self) -> str:
        """Return the name with dots between its parts."""
        return ".".join(self.parts) + ("()" if self.call else "")

    @property
    def key(self) -> str:
        """Name of the table in SQLite."""
        return f"{self.dotted.lower()} {self.query}".rstrip()


class QueryPlan(Struct, frozen=True, kw_only=True):
    """Query for SQLite, and the treatment of its result."""

    kind: str
    """select, assign, insert, update, delete or truncate."""
    sql: str = ""
    tables: tuple[TableRef, ...] = ()
    variables: tuple[str, ...] = ()
    """Variables for the parameters p0, p1 …; a name with @@ is a global one, with LITERAL a number."""
    assigns: tuple[str, ...] = ()
    """assign: variables that receive the columns of the last row."""
    target: TableRef | None = None
    """Table that is changed (also SELECT … INTO)."""
    columns: tuple[str, ...] = ()
    """insert, update: columns that receive values; empty: all."""
    defaults: bool = False
    defaulted: tuple[tuple[int, int], ...] = ()
    """Positions at which the word DEFAULT stands for a value: (row, or -1 for all, place in the row)."""
    """INSERT … DEFAULT VALUES."""
    parts: tuple[QueryPlan, ...] = ()
    """merge: queries for matching rows, rows only of the source, rows only of the target."""
    branches: tuple[tuple[str, tuple[str, ...], int, int], ...] = ()
    """Branches of a merge: action, columns, and the range of values of each WHEN."""
    kinds: tuple[SqlType | None, ...] = ()
    """Types of the columns; empty if unknown."""
    outputs: tuple[str, ...] = ()
    """Names of the columns, if the types are known."""
    functions: tuple[tuple[str, str], ...] = ()
    """Functions of other schemas: name in SQLite, and name as written."""
    calls: tuple[tuple[str, int], ...] = ()
    """Other functions with the number of their arguments."""
    cost: QueryCost = NO_QUERY

    def format_rows(self, rows: Rows) -> Rows:
        """Return the rows as a grid shows them: 12.50, not 12.5."""
        return format_result_rows(rows, self.kinds)


def format_result_rows(rows: Rows, kinds: tuple[SqlType | None, ...]) -> Rows:
    """Return the rows as a grid shows them: 12.50, not 12.5."""
    exact = [kind is not None and kind.is_number and not kind.is_integer for kind in kinds]
    if not any(exact) or (rows and len(rows[0]) != len(exact)):
        return rows
    return [tuple(map(format_typed_value, row, kinds)) for row in rows]


@dataclass(frozen=True, slots=True)
class References:
    """Tables and variables of a query."""

    tables: tuple[TableRef, ...] = ()
    variables: tuple[str, ...] = ()
