"""Rows and key ranges that a query reads in a table, by an index or by a scan.

Assumed: the optimizer seeks in an index if the conditions compare its first columns with literals or variables.
It prefers a unique key, then the clustered index.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import cmp_to_key
from itertools import product
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from engine.messages import SqlError
from engine.tsql.batches import constraints
from engine.tsql.batches.data import ObjectKey, Row, Table
from engine.tsql.batches.row_locks import INDEX_END, IndexEntry, KeyRange, ReadRows, compare_values
from engine.tsql.language.columns import Key
from engine.tsql.query.plans import ColumnTest, JoinLink, Operand, TableAccess, TableRef
from engine.tsql.scalars.like_patterns import evaluate_like
from engine.tsql.scalars.types import parse_sql_type
from engine.tsql.scalars.values import (
    Scalar,
    convert_value,
    is_plain_text,
    parse_number,
    to_text,
)

if TYPE_CHECKING:
    from engine.tsql.batches.machine import ExecutionMachine

SEEKS_MAX: Final = 100
"""Maximum number of index seeks in one query. A query that needs more seeks scans the table. Assumed."""


class ValueInterval(Struct, frozen=True):
    """Interval of values of one column: values between two bounds, or texts that begin with a prefix.

    A bound is (value, True if the interval includes it); None means unbounded. *position*: position of the
    column in the row.
    """

    position: int
    descending: bool
    low: tuple[Scalar, bool] | None = None
    high: tuple[Scalar, bool] | None = None
    prefix: str = ""

    @property
    def is_point(self) -> bool:
        """Return whether the interval contains a single value."""
        return self.low is not None and self.low == self.high

    def compare_row(self, row: Row) -> int:
        """Return -1 if the row precedes the interval in the index, 0 if the interval contains it, else 1."""
        value, side = row[self.position], 0
        if value is None:
            side = -1
        elif self.prefix:
            side = compare_values(to_text(value)[: len(self.prefix)], self.prefix)
        elif self.low is not None and compare_values(value, self.low[0]) < 1 - self.low[1]:
            side = -1
        elif self.high is not None and compare_values(value, self.high[0]) > self.high[1] - 1:
            side = 1
        return -side if self.descending else side


class ColumnCondition(Struct, frozen=True):
    """Comparison of a column with values, which are converted to the type of the column."""

    position: int
    operator: str
    values: tuple[Scalar, ...]

    def accepts(self, row: Row) -> bool:
        """Return whether the row satisfies the condition."""
        value = row[self.position]
        if value is None:
            return False
        if self.operator == "LIKE":
            return evaluate_like(self.values[0], value) == 1
        signs = [compare_values(value, bound) for bound in self.values if bound is not None]
        return any(sign in _ACCEPTED_COMPARISONS[self.operator] for sign in signs)


_ACCEPTED_COMPARISONS: Final = {"=": (0,), "IN": (0,), ">=": (0, 1), ">": (1,), "<=": (-1, 0), "<": (-1,)}
"""Comparison operator -> results of compare_values for which the comparison is true."""


def find_read_rows(
    machine: ExecutionMachine,
    ref: TableRef,
    object_key: ObjectKey,
    versions: list[Table],
    find_table: Callable[[TableRef], Table | None],
) -> ReadRows:
    """Return the rows and key ranges that a query reads in the table that *ref* names.

    The first element of *versions* is the table as the connection sees it. The other versions contain rows
    and keys that other connections have deleted or changed. *find_table*: function that finds a joined
    table.
    """
    table = versions[0]
    access = ref.access if ref.access is not None else TableAccess(complete=False)
    tests = access.list_conditions()
    conditions = [condition for test in tests if (condition := _convert_condition(machine, table, *test))]
    is_complete = access.complete and len(conditions) == len(tests)
    for link in access.links if not _choose_index(table, conditions)[1][0] else ():
        implied_conditions = _derive_join_conditions(machine, table, link, find_table(link.ref))
        if any(not condition.values for condition in implied_conditions):
            return ReadRows(frozenset(), frozenset())
        conditions += implied_conditions
    key, seeks = _choose_index(table, conditions)
    full_range = KeyRange(object_key, _list_index_columns(table, key))
    entries = {
        IndexEntry(row, number): None
        for version in versions
        if version.columns == table.columns
        for number, row in zip(version.ids, version.rows, strict=True)
    }
    ordered = sorted(entries, key=cmp_to_key(full_range.compare))
    limit, is_backward = (
        _find_row_limit(machine, table, access, full_range, seeks[0]) if is_complete else (None, False)
    )
    matches_by_number: dict[int, bool] = {}
    ranges: list[KeyRange] = []
    next_keys: set[int] = set()
    for seek in seeks:
        sides = [
            next((side for interval in seek if (side := interval.compare_row(e.row))), 0) for e in ordered
        ]
        first, last = sides.count(-1), len(ordered) - sides.count(1)
        found = 0
        for index in reversed(range(first, last)) if is_backward else range(first, last):
            is_match = all(condition.accepts(ordered[index].row) for condition in conditions)
            matches_by_number[ordered[index].number] = is_match
            found += is_match
            if limit is not None and found >= limit:
                first, last = (index, last) if is_backward else (first, index)
                break
        if key is not None and not (first < last and _is_unique_point(key, seek)):
            following = ordered[last] if last < len(ordered) else None
            ranges.append(replace(full_range, low=ordered[first - 1] if first else None, high=following))
            next_keys.add(following.number if following is not None else INDEX_END)
    matching = frozenset(number for number, is_match in matches_by_number.items() if is_match)
    return ReadRows(
        frozenset(matches_by_number), matching, key is not None, tuple(ranges), frozenset(next_keys)
    )


def push_conditions(
    refs: tuple[TableRef, ...], origins: tuple[tuple[str, str, str], ...], outer: TableRef
) -> tuple[TableRef, ...]:
    """Return the tables of a view with the hints and conditions of an outer query added.

    *outer*: reference to the view in the query that reads it. *origins*: result of
    `list_column_origins` for the query of the view [DOC: table hints; CREATE VIEW].
    """
    columns = {(key, name): column for name, key, column in origins}
    tests = outer.access.list_conditions() if outer.access is not None else ()

    def select_tests(key: str) -> tuple[ColumnTest, ...]:
        stars = {"*"} & {name for own_key, name in columns if own_key == key}
        return tuple(
            (columns.get((key, name), name), operator, operands)
            for name, operator, operands in tests
            if stars or (key, name) in columns
        )

    def limit_access(ref: TableRef) -> TableAccess | None:
        if ref.access is None:
            return None
        links = tuple(
            replace(link, conditions=(*link.conditions, *select_tests(link.ref.key)))
            for link in ref.access.links
        )
        conditions = (*ref.access.conditions, *select_tests(ref.key))
        return replace(ref.access, conditions=conditions, links=links)

    return tuple(replace(ref, hints=ref.hints | outer.hints, access=limit_access(ref)) for ref in refs)


def _is_unique_point(key: Key, seek: tuple[ValueInterval, ...]) -> bool:
    return key.unique and len(seek) == len(key.columns) and all(interval.is_point for interval in seek)


def _list_index_columns(table: Table, key: Key | None) -> tuple[tuple[int, bool], ...]:
    """Return the columns of the index *key*, followed by those of the clustered index.

    Each item is (position in the table, True if descending).
    """
    clustered = _find_clustered_index(table)
    columns: dict[int, bool] = {}
    for item in (key, clustered) if key is not None else ():
        for position in (
            constraints.find_column_positions(table, item.columns, "") if item is not None else ()
        ):
            columns.setdefault(position, item is not None and table.columns[position].name in item.descending)
    return tuple(columns.items())


def _find_clustered_index(table: Table) -> Key | None:
    return next((item for item in table.constraints if isinstance(item, Key) and item.clustered), None)


def _choose_index(
    table: Table, conditions: list[ColumnCondition]
) -> tuple[Key | None, list[tuple[ValueInterval, ...]]]:
    """Return the index that a query uses and, for each seek, the intervals of its key columns.

    A single seek without intervals is a scan.
    """
    best_rank: tuple[bool, bool, int] = (False, False, 0)
    chosen: tuple[Key | None, list[tuple[ValueInterval, ...]]] = (_find_clustered_index(table), [()])
    for item in table.constraints:
        if not isinstance(item, Key) or item.filter:
            continue
        columns: list[list[ValueInterval]] = []
        for position in constraints.find_column_positions(table, item.columns, ""):
            intervals = _list_intervals(
                [condition for condition in conditions if condition.position == position],
                table.columns[position].name in item.descending,
            )
            if intervals:
                columns.append(intervals)
            if not intervals or not intervals[0].is_point:
                break
        seeks: list[tuple[ValueInterval, ...]] = [()]
        if math.prod(map(len, columns)) <= SEEKS_MAX:
            seeks = list(product(*columns))
        rank = (_is_unique_point(item, seeks[0]), item.clustered and bool(seeks[0]), len(seeks[0]))
        if rank > best_rank:
            best_rank, chosen = rank, (item, seeks)
    return chosen


def _list_intervals(conditions: list[ColumnCondition], descending: bool) -> list[ValueInterval]:
    """Return the intervals of one column for index seeks.

    The conditions give single values (`=`, IN), else one range (`<`, `>`), else one prefix (LIKE). Without
    a usable condition, the list is empty.
    """
    bounds: dict[str, tuple[Scalar, bool]] = {}
    prefix = ""
    for condition in conditions:
        if condition.operator in ("=", "IN"):
            return [
                ValueInterval(condition.position, descending, (value, True), (value, True))
                for value in condition.values
            ]
        if condition.operator == "LIKE":
            prefix = _WILDCARD_PATTERN.split(to_text(condition.values[0]), maxsplit=1)[0]
        else:
            bounds[condition.operator[0]] = (condition.values[0], condition.operator.endswith("="))
    if not bounds and not prefix:
        return []
    prefix = "" if bounds else prefix
    return [ValueInterval(conditions[0].position, descending, bounds.get(">"), bounds.get("<"), prefix)]


_WILDCARD_PATTERN: Final = re.compile(r"[%_\[]")
"""Pattern of the wildcards of LIKE."""


def _convert_condition(
    machine: ExecutionMachine, table: Table, name: str, operator: str, operands: tuple[Operand, ...]
) -> ColumnCondition | None:
    """Return the condition with its values converted to the type of the column.

    Return None if there is no such column, or if T-SQL would convert the column instead of the values.
    """
    position = next(
        (index for index, column in enumerate(table.columns) if column.name.lower() == name), None
    )
    if position is None:
        return None
    kind = parse_sql_type(table.columns[position].type, 1)
    try:
        values = [_evaluate_operand(machine, operand) for operand in operands]
        if any(value is None or (kind.is_text and not is_plain_text(value)) for value in values):
            return None
        if kind.is_text:
            return ColumnCondition(position, operator, tuple(values))
        converted = [convert_value(value, table.columns[position].type) for value in values]
    except SqlError:
        return None
    if kind.is_number and any(
        map(compare_values, values, converted)
    ):  # a comparison such as id > 2.5 converts the column
        return None
    return ColumnCondition(position, operator, tuple(converted))


def _derive_join_conditions(
    machine: ExecutionMachine, table: Table, link: JoinLink, other_table: Table | None
) -> list[ColumnCondition]:
    """Return the condition that a join implies for a column of *table*, as a list.

    The condition is that the column has one of the values in the joined table *other_table*. *link*:
    the join to that table.

    The list is empty if *other_table* has no conditions of its own. Assumed: the optimizer reads the
    table with conditions first, and then seeks in the other one.
    """
    positions = {column.name.lower(): index for index, column in enumerate(table.columns)}
    if other_table is None or link.column not in positions:
        return []
    other_positions = {column.name.lower(): index for index, column in enumerate(other_table.columns)}
    tests = [_convert_condition(machine, other_table, *test) for test in link.conditions]
    conditions = [test for test in tests if test is not None]
    if not conditions or link.other_column not in other_positions:
        return []
    machine.meter.charge_units(other_table.cells)
    value_position = other_positions[link.other_column]
    values = dict.fromkeys(
        row[value_position]
        for row in other_table.rows
        if all(condition.accepts(row) for condition in conditions)
    )
    values.pop(None, None)
    return [ColumnCondition(positions[link.column], "IN", tuple(values))] if len(values) <= SEEKS_MAX else []


def _evaluate_operand(machine: ExecutionMachine, operand: Operand) -> Scalar:
    """Return the value of a literal or variable; None for an unknown variable. Raises conversion errors."""
    kind, text, types = operand
    value: Scalar = text
    if kind == "variable":
        variable = machine.scope.variables.get(text)
        value = variable.value if variable is not None else None
    elif kind == "number":
        value = int(text) if text.lstrip("-").isdecimal() else parse_number(text)
    for type_name in types:
        value = convert_value(value, type_name)
    return value


def _find_row_limit(
    machine: ExecutionMachine,
    table: Table,
    access: TableAccess,
    full_range: KeyRange,
    seek: tuple[ValueInterval, ...],
) -> tuple[int | None, bool]:
    """Return (number of matching rows after which the query ends, True if it reads the index backward).

    The number is None if the query reads all rows, because it has no TOP or must sort the rows.
    """
    value = _evaluate_operand(machine, access.top) if access.top is not None else None
    if not isinstance(value, int):
        return None, False
    points = {table.columns[interval.position].name.lower() for interval in seek if interval.is_point}
    index_order = [
        (table.columns[position].name.lower(), is_descending)
        for position, is_descending in full_range.columns
    ]
    index_order = [column for column in index_order if column[0] not in points]
    order = [column for column in access.order if column[0] not in points]
    if order == index_order[: len(order)]:
        return value, False
    if order == [(name, not is_descending) for name, is_descending in index_order[: len(order)]]:
        return value, True
    return None, False
