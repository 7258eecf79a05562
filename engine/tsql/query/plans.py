"""Plans of queries as plain data: cost model, tables, and the names that a query may use."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Final, NamedTuple

from msgspec import Struct, field

from engine.arithmetic import add_in_order
from engine.messages import SqlError
from engine.tsql.scalars.like_patterns import evaluate_like
from engine.tsql.scalars.settings import DEFAULTS, SessionSettings
from engine.tsql.scalars.types import SqlType
from engine.tsql.scalars.values import Scalar, format_typed_value, make_text_key

# --- cost of a query, derived from its text and the sizes of its tables -------------------------------------
# The cost is known before the query runs and is equal for all versions of SQLite, whose own step counts
# differ. The model is nested loops over the tables in the order of the text; rewrite.py makes SQLite use this
# order. For each row of the earlier tables, an equality limits the rows of a table to the frequency of its
# most frequent matching value. Without an equality, the loop reads all rows of the table.

WORK_PER_CALL: Final = 2
"""Units of work (work.py) of one function call. Long texts cost more (scratch_database.py). The figure is
measured.
"""

ROWS_PER_WORK_UNIT: Final = 10
"""Number of rows that SQLite processes per unit of work. The figure is measured."""

WORK_PER_RECURSIVE_ROW: Final = 8
"""Units of work per row of a recursive CTE, in addition to the work of its recursive part.

Assumed after one measurement.
"""

COST_MAX: Final = 10**12
"""Upper limit of all costs and row counts."""

ColumnBound = tuple[str, str, float | str]
"""Comparison of a column with a constant: (column; `>`, `>=`, `<` or `like`; number or pattern)."""

ColumnEquality = tuple[str, str, str]
"""Equality of two columns: (column, other table, other column).

The last two are empty if the other side is not a column.
"""


class CostSource(Struct, frozen=True, eq=False):
    """Source in FROM: a table, by its name in SQLite, or a query."""

    table: str = ""
    query: QueryCost | None = None
    equalities: tuple[ColumnEquality, ...] = ()
    """Equalities between columns of this source and an earlier source."""
    fixed_columns: tuple[str, ...] = ()
    """Columns that must equal a constant, a variable or a column of an outer query."""
    bounds: tuple[ColumnBound, ...] = ()
    """Comparisons of columns of this source with a number or a LIKE pattern."""
    is_left_join: bool = False
    """True for LEFT JOIN, which keeps every row of the left side."""


class QueryCost(Struct, frozen=True, eq=False):
    """Cost model of a SELECT, as a tree. All uses of a common table expression share one object."""

    sources: tuple[CostSource, ...] = ()
    parts: tuple[QueryCost, ...] = ()
    """Operands of a UNION or similar; *sources* is then empty."""
    calls: int = 0
    """Number of function calls per result row."""
    group_calls: int = 0
    """Number of function calls per group, outside aggregates."""
    grouped_by: tuple[int, ...] | None = None
    """Indexes of the sources that contain the grouping columns; None if unknown or without GROUP BY."""
    filters: int = 0
    """Number of function calls and comparisons per row that is read."""
    inner: tuple[tuple[QueryCost, bool], ...] = ()
    """Subqueries in expressions, as (cost model, True if it runs again for every row)."""
    sorts: int = 0
    one_row: bool = False
    rows_max: int = COST_MAX
    """Maximum number of rows if LIMIT is a number; else COST_MAX."""
    limit_parameter: tuple[str, bool] | None = None
    """(parameter in LIMIT, True if LIMIT is the length of its text); None without a parameter."""
    recursive: bool = False
    columns: tuple[tuple[str, str, str], ...] = ()
    """Result columns that are unchanged columns of a table, as (name, table, column)."""
    columns_named: int = COST_MAX
    """Number of columns that the whole statement names; COST_MAX if it contains a star."""


ZERO_QUERY_COST: Final = QueryCost()
"""Cost model of a query without work."""


class TableStatistics:
    """Row counts and value frequencies of the tables of a query, computed from their rows."""

    def __init__(self, parameters: Mapping[str, Scalar] | None = None) -> None:
        self._parameters = parameters or {}
        self._columns: dict[str, tuple[str, ...]] = {}
        self._rows: dict[str, Sequence[Sequence[Scalar]]] = {}
        self._commonest: dict[tuple[str, str, tuple[ColumnBound, ...]], int] = {}
        self._counted: dict[tuple[str, str], Counter[Scalar]] = {}

    def add_table(self, table: str, columns: Iterable[str], rows: Sequence[Sequence[Scalar]]) -> None:
        """Add the rows of a table."""
        self._columns[table] = tuple(name.lower() for name in columns)
        self._rows[table] = rows

    def find_row_limit(self, query: QueryCost) -> int:
        """Return the maximum number of rows that LIMIT allows."""
        name, by_length = query.limit_parameter or ("", False)
        value = self._parameters.get(name)
        if by_length and isinstance(value, str):
            return len(value)
        return value if isinstance(value, int) and value >= 0 and not by_length else query.rows_max

    def count_rows(self, table: str) -> int:
        """Return the number of rows of a table."""
        return len(self._rows.get(table, ()))

    def find_rows_within(self, table: str, bounds: Sequence[ColumnBound]) -> list[Sequence[Scalar]]:
        """Return the rows of a table that satisfy all *bounds*."""
        names, rows = self._columns.get(table, ()), self._rows.get(table, ())
        tests = [(names.index(column), sign, limit) for column, sign, limit in bounds if column in names]
        return [
            row
            for row in rows
            if all(_is_within_limit(row[index], sign, limit) for index, sign, limit in tests)
        ]

    def get_highest_frequency(self, table: str, column: str, bounds: tuple[ColumnBound, ...] = ()) -> int:
        """Return the number of rows with the most frequent value of a column.

        Only rows within *bounds* count. For an unknown column, return the number of all these rows.
        """
        key = table, column, bounds
        if key not in self._commonest:
            rows = self.find_rows_within(table, bounds)
            value_counts = self._count_column_values(table, column, rows)
            self._commonest[key] = (
                len(rows) if value_counts is None else max(value_counts.values(), default=0)
            )
        return self._commonest[key]

    def count_matches(self, table: str, column: str, other_table: str, other_column: str) -> int:
        """Return the number of rows with the most frequent value of *column* that is also in *other_column*."""
        own_values, other_values = (
            self._count_values(table, column),
            self._count_values(other_table, other_column),
        )
        if own_values is None or other_values is None:
            return self.get_highest_frequency(table, column)
        return max((own_values[value] for value in other_values if value in own_values), default=0)

    def _count_values(self, table: str, column: str) -> Counter[Scalar] | None:
        """Return the number of rows per value of a column; None if the column does not exist."""
        key = table, column
        if key not in self._counted:
            value_counts = self._count_column_values(table, column, self._rows.get(table, ()))
            if value_counts is None:
                return None
            self._counted[key] = value_counts
        return self._counted[key]

    def _count_column_values(
        self, table: str, column: str, rows: Sequence[Sequence[Scalar]]
    ) -> Counter[Scalar] | None:
        names = self._columns.get(table, ())
        if column not in names:
            return None
        values = map(itemgetter(names.index(column)), rows)
        return Counter(
            make_text_key(value) if isinstance(value, str) else value for value in values if value is not None
        )


def _is_within_limit(value: Scalar, sign: str, limit: float | str) -> bool:
    if isinstance(limit, str):
        return bool(evaluate_like(limit, value))
    if value is None or not isinstance(value, int | float):
        return value is not None
    return value > limit if sign == ">" else value >= limit if sign == ">=" else value < limit


def estimate_work(query: QueryCost, sizes: TableStatistics) -> int:
    """Return the estimated work of *query*. *sizes*: statistics of the tables.

    Raises 8623 for a query that is nested too deeply for Python.
    """
    try:
        return _estimate_cost(query, sizes, {})[1]
    except RecursionError:
        raise SqlError(8623) from None


def estimate_recursion_work(query: QueryCost, sizes: TableStatistics) -> int:
    """Return the highest estimated work per row among the recursive parts of the CTEs in *query*.

    The module scratch_database counts this work for each row of a recursive part.
    """
    cost_cache: dict[QueryCost, tuple[int, int]] = {}
    costs: set[QueryCost] = set()
    remaining_queries, work = [query], 0
    while remaining_queries:
        query_cost = remaining_queries.pop()
        if query_cost in costs:
            continue
        costs.add(query_cost)
        if query_cost.recursive:
            work = max(
                work,
                *(
                    _estimate_cost(part.parts[-1] if part.parts else part, sizes, cost_cache)[1]
                    for part in query_cost.parts
                ),
            )
        remaining_queries += query_cost.parts
        remaining_queries += (source.query for source in query_cost.sources if source.query is not None)
        remaining_queries += (inner for inner, _ in query_cost.inner)
    return WORK_PER_RECURSIVE_ROW + work


def _estimate_cost(
    query: QueryCost, sizes: TableStatistics, cache: dict[QueryCost, tuple[int, int]]
) -> tuple[int, int]:
    """Return (maximum number of rows, work) of a query."""
    if query not in cache:
        cache[query] = (
            _estimate_parts_cost(query, sizes, cache)
            if query.parts
            else _estimate_sources_cost(query, sizes, cache)
        )
    return cache[query]


def _estimate_parts_cost(
    query: QueryCost, sizes: TableStatistics, cache: dict[QueryCost, tuple[int, int]]
) -> tuple[int, int]:
    """Return (maximum number of rows, work) of a UNION or similar."""
    costs = [_estimate_cost(part, sizes, cache) for part in query.parts]
    rows, work = sum(int(part[0]) for part in costs), sum(int(part[1]) for part in costs)
    return min(rows, sizes.find_row_limit(query), COST_MAX), min(
        work + query.sorts * _estimate_sorting_work(rows), COST_MAX
    )


def _estimate_sources_cost(
    query: QueryCost, sizes: TableStatistics, cache: dict[QueryCost, tuple[int, int]]
) -> tuple[int, int]:
    """Return (maximum number of rows, work) of a SELECT."""
    rows, rows_read, work = 1, 0, 0
    sizes_there = []
    for source in query.sources:
        size = sizes.count_rows(source.table)
        if source.query is not None:
            size, inner_work = _estimate_cost(source.query, sizes, cache)
            work += inner_work
        sizes_there.append(max(size, 1))
        matches = min(
            (_count_matches(source, equality, size, sizes) for equality in source.equalities), default=size
        )
        rows_read += rows * matches + (
            size if source.equalities else 0
        )  # SQLite first builds an index over all rows
        matches = min(
            (_get_highest_frequency(source, column, size, sizes) for column in source.fixed_columns),
            default=matches,
        )
        if source.bounds:
            columns = (*(column for column, _, _ in source.equalities), *source.fixed_columns)
            commonests = (
                sizes.get_highest_frequency(source.table, column, source.bounds) for column in columns
            )
            matches = min(matches, *commonests, len(sizes.find_rows_within(source.table, source.bounds)))
        rows = min(rows * max(matches, int(source.is_left_join)), COST_MAX)
    rows_read = max(rows_read, 1)
    if _can_stop_early(query):
        row_limit = sizes.find_row_limit(query)
        rows, rows_read = min(rows, row_limit), min(rows_read, add_in_order(sizes_there) + row_limit)
    for inner, is_repeated in query.inner:
        work += _estimate_cost(inner, sizes, cache)[1] * (max(rows, 1) if is_repeated else 1)
    work += rows_read // ROWS_PER_WORK_UNIT + rows_read * query.filters + rows * query.calls * WORK_PER_CALL
    work += query.sorts * _estimate_sorting_work(rows)
    if query.grouped_by is not None:
        rows = min(rows, math.prod(sizes_there[index] for index in query.grouped_by))
    work += rows * query.group_calls * WORK_PER_CALL
    return min(1 if query.one_row else rows, sizes.find_row_limit(query)), min(work, COST_MAX)


def _can_stop_early(query: QueryCost) -> bool:
    """Return whether the query returns every row that it reads, so that it can stop after TOP rows."""
    has_filters = query.filters or any(
        source.equalities or source.fixed_columns or source.bounds for source in query.sources
    )
    return not (has_filters or query.sorts or query.one_row or query.grouped_by is not None)


def _count_matches(source: CostSource, equal: ColumnEquality, row_count: int, sizes: TableStatistics) -> int:
    """Return the maximum number of rows of *source* that match one row of an earlier source.

    *equal*: equality that joins the two sources. *row_count*: number of rows of *source*.
    """
    column, other_table, other_column = equal
    if source.query is not None or not other_table:
        return _get_highest_frequency(source, column, row_count, sizes)
    return sizes.count_matches(source.table, column, other_table, other_column)


def _get_highest_frequency(source: CostSource, column: str, row_count: int, sizes: TableStatistics) -> int:
    """Return the number of rows of *source* with the most frequent value of a column.

    For a computed column, this number is assumed to be the square root of *row_count*. *row_count*:
    number of rows of *source*.
    """
    if source.query is None:
        return sizes.get_highest_frequency(source.table, column)
    for name, table, inner_name in source.query.columns:
        if name == column:
            return min(sizes.get_highest_frequency(table, inner_name), row_count)
    return math.isqrt(row_count)


def _estimate_sorting_work(rows: int) -> int:
    return rows * rows.bit_length() // ROWS_PER_WORK_UNIT


# --- plans of queries as plain data -----------------------------------------------------------------------

UNNAMED: Final = "(No column name)"
DEFAULT_COLLATION: Final = "tsql"
"""Name of the default collation in SQLite, which ignores case and trailing blanks."""
CASE_SENSITIVE_COLLATION: Final = "tsql_cs"
BINARY_COLLATION: Final = "tsql_bin"
"""Name of the binary collation in SQLite. CASE_SENSITIVE_COLLATION: the case-sensitive collation."""
ROW_ID: Final = "_rowid_"
"""Name of SQLite's row number, in the spelling that a column is least likely to have."""
COLLATIONS: Final = (DEFAULT_COLLATION, CASE_SENSITIVE_COLLATION, BINARY_COLLATION)


LITERAL_PREFIX: Final = "="
"""Prefix of a number literal that is passed to SQLite as a parameter."""


Rows = list[tuple[Scalar, ...]]


class UnsimulatedFeatureError(Exception):
    """Error for a feature that SQL Server supports but this simulation does not. The text names the feature."""


Operand = tuple[str, str, tuple[str, ...]]
"""Literal or variable in a condition: kind (variable, text or number), value, and types of its conversions."""


ColumnTest = tuple[str, str, tuple[Operand, ...]]
"""Comparison of a column with operands: (column, operator, operands)."""


class JoinLink(Struct, frozen=True):
    """Equality of a column with a column of another table, and the conditions that limit the other table."""

    column: str
    ref: TableRef
    other_column: str
    conditions: tuple[ColumnTest, ...]
    """Conditions on the other table."""


class TableAccess(Struct, frozen=True):
    """Parts of a query that determine which rows of one table the query reads."""

    conditions: tuple[ColumnTest, ...] = ()
    """Comparisons that every row must satisfy: they are combined with AND."""
    complete: bool = True
    """True if the query has no conditions other than `conditions`."""
    top: Operand | None = None
    """Operand of TOP; None without TOP, or if the query reads more rows than it returns."""
    order: tuple[tuple[str, bool], ...] = ()
    """Columns of ORDER BY, each with True for descending order."""
    links: tuple[JoinLink, ...] = ()
    """Equalities with columns of other tables."""

    def list_conditions(self) -> list[ColumnTest]:
        """Return `conditions` and the conditions that joins imply.

        A condition on a column of another table also applies to the equal column of this table.
        """
        implied = (
            (link.column, *test[1:])
            for link in self.links
            for test in link.conditions
            if test[0] == link.other_column
        )
        return [*self.conditions, *implied]


class TableRef(Struct, frozen=True):
    """Table as named in a query: up to four name parts, or a table variable or temp table."""

    parts: tuple[str, ...]
    call: bool = False
    """True for a call of a table-valued function."""
    query: str = ""
    """Query of OPENQUERY, which runs on the server in *parts*; empty for other tables."""
    hints: frozenset[str] = frozenset()
    """Table hints such as NOLOCK and READPAST, in capitals."""
    read: bool = False
    """True if an UPDATE or DELETE also reads its target, which requires the permission SELECT."""
    access: TableAccess | None = None
    """Conditions on the rows that the query reads; None if all rows are read."""

    @property
    def dotted(self) -> str:
        """Return the parts of the name, joined by dots."""
        return ".".join(self.parts) + ("()" if self.call else "")

    @property
    def key(self) -> str:
        """Return the name of the table in SQLite."""
        return f"{self.dotted.lower()} {self.query}".rstrip()


class QueryPlan(Struct, frozen=True, kw_only=True):
    """Query for SQLite, and instructions for the use of its result."""

    kind: str
    """Kind of statement: select, assign, insert, update, delete, merge or truncate."""
    sql: str = ""
    tables: tuple[TableRef, ...] = ()
    variables: tuple[str, ...] = ()
    """Variables for the parameters p0, p1 …. @@name is a global variable; LITERAL_PREFIX marks a number."""
    assigns: tuple[str, ...] = ()
    """For assign: variables that receive the columns of the last row."""
    target: TableRef | None = None
    """Table that the statement changes or, for SELECT … INTO, creates."""
    columns: tuple[str, ...] = ()
    """For insert and update: columns that receive values; empty means all."""
    defaults: bool = False
    """True for INSERT … DEFAULT VALUES."""
    defaulted: tuple[tuple[int, int], ...] = ()
    """Positions of the word DEFAULT among the values: (row index, or -1 for all rows; column index)."""
    parts: tuple[QueryPlan, ...] = ()
    """For merge: plans for matching rows, rows only in the source, and rows only in the target."""
    branches: tuple[tuple[str, tuple[str, ...], int, int], ...] = ()
    """For merge: (action, columns, start and end index of the new values) of each WHEN clause."""
    row_limit: int | None = None
    """For merge: maximum number of changed rows; None without TOP."""
    kinds: tuple[SqlType | None, ...] = ()
    """Types of the result columns; empty if unknown."""
    outputs: tuple[str, ...] = ()
    """Names of the result columns; empty if unknown."""
    nullable: tuple[bool, ...] = ()
    """For each result column, whether it may be NULL; empty if unknown."""
    origins: tuple[tuple[str, str, str], ...] = ()
    """Result columns that come from tables, as (name, key of the table, column).

    A condition on such a result column also limits the rows of the table.
    """
    functions: tuple[tuple[str, str], ...] = ()
    """Functions with a schema: (name in SQLite, name in the query)."""
    calls: tuple[tuple[str, int], ...] = ()
    """Functions without a schema: (name, number of arguments)."""
    cost: QueryCost = ZERO_QUERY_COST

    def format_rows(self, rows: Rows) -> Rows:
        """Format the rows for a result set by the types of their columns, for example 12.50 instead of 12.5."""
        return format_result_rows(rows, self.kinds)


def format_result_rows(rows: Rows, kinds: tuple[SqlType | None, ...]) -> Rows:
    """Format the rows for a result set by the types of their columns, for example 12.50 instead of 12.5."""
    exact = [kind is not None and kind.is_number and not kind.is_integer for kind in kinds]
    if not any(exact) or (rows and len(rows[0]) != len(exact)):
        return rows
    return [tuple(map(format_typed_value, row, kinds)) for row in rows]


class QueryReferences(Struct, frozen=True):
    """Tables and variables that a query names."""

    tables: tuple[TableRef, ...] = ()
    variables: tuple[str, ...] = ()


# --- names that a query may use: columns of tables, variables, and its own result columns -----------------


class Column(NamedTuple):
    """Column of a table or query."""

    name: str
    kind: SqlType | None
    """Type of the column; None if unknown."""
    nullable: bool = True
    """True if the column may be NULL, or if this is unknown."""


Columns = tuple[Column, ...]


ColumnLookup = Callable[[TableRef, bool], Columns | None]
"""Function that returns the columns of a table; None if they are unknown.

If its second argument is True, it returns only the columns that INSERT without a column list fills.
"""


class DeducedParameter(NamedTuple):
    """Deduced type of an undeclared parameter, and whether the query reads or assigns it."""

    name: str
    kind: SqlType
    is_read: bool = True
    is_written: bool = False


class BindingContext(Struct, frozen=True):
    """Names and settings with which a query is bound. Equal contexts give equal plans."""

    tables: tuple[tuple[str, Columns | None], ...] = ()
    """Columns of each table, by `TableRef.key`."""
    variables: tuple[tuple[str, SqlType | None], ...] = ()
    settings: SessionSettings = DEFAULTS
    outputs: tuple[str, ...] = ()
    """Columns of source tables in the OUTPUT clause. Their values are at the end of each row of the query."""


NO_NAMES: Final = BindingContext()


class QuerySource(Struct):
    """Table or derived table in a FROM clause."""

    name: str
    """Qualifier for columns of this source: the alias, or the last part of the table name."""
    columns: Columns | None
    """Columns of the source; None if unknown."""
    aliased: bool = True
    parts: tuple[str, ...] = ()

    def find_types(self, name: str) -> list[SqlType | None]:
        """Return the types of all columns with this name."""
        column_name = name.lower()
        return [column.kind for column in self.columns or () if column.name.lower() == column_name]

    @property
    def display_name(self) -> str:
        """Return the name of the source in the text of error 8120."""
        return self.name if self.aliased else ".".join(self.parts)


class SelectScope(Struct):
    """Names that one SELECT can use: its sources, its common table expressions, and the outer query's names."""

    outer: SelectScope | None = None
    sources: list[QuerySource] = field(default_factory=list)
    ctes: dict[str, Columns | None] = field(default_factory=dict)

    def find_cte(self, name: str) -> Columns | bool | None:
        """Return the columns of the common table expression *name*.

        Return None if the columns are unknown, and False if the expression does not exist.
        """
        space: SelectScope | None = self
        while space is not None:
            if name.lower() in space.ctes:
                return space.ctes[name.lower()]
            space = space.outer
        return False


class ColumnBinding(Struct, frozen=True):
    """Result of the resolution of a column name: its type, source and scope."""

    kind: SqlType | None
    source: QuerySource | None
    space: SelectScope | None


QUERY_NAME_KEY: Final = "written"
"""Metadata key of a function call. The value is the function name as written in the query."""

HIDDEN_ARGUMENT_COLUMN: Final = "asked_handle"
"""Name of a hidden column for an argument of a table-valued function. Queries cannot use it."""

ROW_NUMBER_KEY: Final = "row number"
"""Metadata key of an inserted column that contains SQLite's row number."""

UNKNOWN_BINDING: Final = ColumnBinding(None, None, None)
