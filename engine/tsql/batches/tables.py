"""Rows of tables: insert, update and delete with conversion to column types, and identity values."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from msgspec.structs import replace

from engine.messages import SqlError
from engine.model import Instance
from engine.tsql.batches.data import Row, RowChanges, Table
from engine.tsql.language.columns import ColumnDefinition, Constraint
from engine.tsql.query.plans import UnsimulatedFeatureError
from engine.tsql.scalars.types import INT_RANGES, NULL, SqlType, parse_type
from engine.tsql.scalars.values import Scalar, convert_value, is_stored_date, to_text

TABLE_ROWS_MAX: Final = 20_000
"""Maximum number of rows in one table. Assumed."""

TABLE_CHARACTERS_MAX: Final = 4_000_000
"""Maximum number of characters in one table, the same as in a query result. Assumed."""

DefaultEvaluator = Callable[[str], Scalar]
"""Function that evaluates the expression of a DEFAULT."""


def create_empty_table(
    name: str, columns: tuple[ColumnDefinition, ...], constraints: tuple[Constraint, ...] = ()
) -> Table:
    """Return an empty table. Raises 2705 for a repeated column name, 2715 for an unknown type."""
    used_names: set[str] = set()
    for column in columns:
        if column.name.lower() in used_names:
            raise SqlError(2705, column.name, name)
        used_names.add(column.name.lower())
        parse_type(column.type)
    first = next((column.identity[0] for column in columns if column.identity), 1)
    return Table(columns, (), first, constraints=constraints)


def build_select_into_table(
    names: Sequence[str],
    rows: Sequence[Row],
    kinds: Sequence[SqlType | None] = (),
    nullable: Sequence[bool] = (),
) -> Table:
    """Return the table that SELECT … INTO creates.

    *kinds*: types of the columns. If the type of a column is None, it is derived from the values. A column
    that contains only NULL is int.
    """
    columns = []
    for index, name in enumerate(names):
        kind = kinds[index] if index < len(kinds) else None
        values = [row[index] for row in rows if row[index] is not None]
        text = (
            _infer_type(values)
            if kind is None
            else "int"
            if kind == NULL
            else "sql_variant"
            if kind.base
            else str(kind)
        )
        may_be_null = nullable[index] if index < len(nullable) else True
        columns.append(ColumnDefinition(name=name, type=text, nullable=may_be_null))
    return number_rows(Table(tuple(columns), tuple(rows), characters=count_characters(rows)))


def number_rows(table: Table) -> Table:
    """Return the table with new permanent row numbers."""
    return replace(table, ids=tuple(range(1, len(table.rows) + 1)), next_id=len(table.rows) + 1)


def count_characters(rows: Iterable[Row]) -> int:
    """Return the number of characters and bytes in all texts and binary values of *rows*."""
    return sum(len(value) for row in rows for value in row if isinstance(value, str | bytes))


def _infer_type(values: list[Scalar]) -> str:
    """Return the column type that fits all *values*."""
    if values and all(isinstance(value, int) for value in values):
        return "bigint"
    if values and all(isinstance(value, int | float) for value in values):
        return "float"
    if values and all(is_stored_date(value) for value in values):
        return "datetime"
    if values and all(isinstance(value, bytes) for value in values):
        return "varbinary(max)"
    return "nvarchar(max)" if values and all(isinstance(value, str) for value in values) else "sql_variant"


def insert_rows(
    name: str,
    table: Table,
    column_names: tuple[str, ...],
    rows: Sequence[Row],
    evaluate: DefaultEvaluator,
    has_identity_insert: bool = False,
) -> tuple[Table, int | None]:
    """Return the table with *rows* added, and the last identity value (None without one).

    *column_names*: columns of the rows. *evaluate*: function that evaluates a DEFAULT.
    *has_identity_insert*: SET IDENTITY_INSERT is ON for the table. Raises 213, 120, 121, 207, 264, 273,
    515, 271, 544, 545, 8101, 8115 or 8152.
    """
    positions = _find_column_positions(table, column_names)
    _check_identity_values(name, table, column_names, positions, rows, has_identity_insert)
    added_rows: list[Row] = []
    number, last = table.next_identity, None
    for row in rows:
        if len(row) != len(positions):
            raise SqlError(213 if not column_names else 120 if len(row) < len(positions) else 121)
        values_by_position = dict(zip(positions, row, strict=True))
        values: list[Scalar] = []
        for index, column in enumerate(table.columns):
            if column.computed:
                values.append(None)
            elif column.identity is not None and index not in values_by_position:
                kind = parse_type(column.type)[0]
                low, high = INT_RANGES.get(kind, (number, number))
                if not low <= number <= high:
                    raise SqlError(8115, "IDENTITY", kind, state=1, also=(3606,))
                values.append(number)
                last, number = number, number + column.identity[1]
            elif index in values_by_position:
                values.append(convert_for_column(column, values_by_position[index], name, "INSERT"))
                if column.identity is not None:
                    last = int(str(values[-1]))
                    choose_next = max if column.identity[1] > 0 else min
                    number = choose_next(number, last + column.identity[1])
            else:
                value = evaluate(column.default) if column.default else None
                values.append(convert_for_column(column, value, name, "INSERT"))
        added_rows.append(tuple(values))
    all_rows = (*table.rows, *added_rows)
    if len(all_rows) > TABLE_ROWS_MAX:
        raise UnsimulatedFeatureError(f"tables of more than {TABLE_ROWS_MAX} rows")
    characters = _check_characters(table.characters + count_characters(added_rows))
    ids = range(table.next_id, table.next_id + len(added_rows))
    return replace(
        table,
        rows=all_rows,
        next_identity=number,
        characters=characters,
        ids=(*table.ids, *ids),
        next_id=ids.stop,
    ), last


def _check_characters(characters: int) -> int:
    """Return *characters*. Raise UnsimulatedFeatureError if it is more than one table may contain."""
    if characters > TABLE_CHARACTERS_MAX:
        raise UnsimulatedFeatureError(f"tables of more than {TABLE_CHARACTERS_MAX} characters")
    return characters


def find_insertable_positions(table: Table) -> list[int]:
    """Return the positions of the columns that an INSERT without a column list fills."""
    return [
        index
        for index, column in enumerate(table.columns)
        if column.identity is None
        and not column.computed
        and parse_type(column.type)[0] not in _ROW_VERSION_TYPES
    ]


def _find_column_positions(table: Table, column_names: tuple[str, ...]) -> list[int]:
    """Return the positions of the columns *column_names*. Raises 207 or 264.

    Without names, return the positions of the columns that an INSERT without a column list fills.
    """
    if not column_names:
        return find_insertable_positions(table)
    positions_by_name = {column.name.lower(): position for position, column in enumerate(table.columns)}
    for name in column_names:
        if name.lower() not in positions_by_name:
            raise SqlError(207, name)
    positions = [positions_by_name[name.lower()] for name in column_names]
    for index, position in enumerate(positions):
        if position in positions[:index]:
            raise SqlError(264, column_names[index])
    return positions


def find_insert_positions(table: Table, count: int) -> list[int]:
    """Return the positions of the columns that an INSERT without a column list fills.

    Raises 213 if the number of these columns is not *count*.
    """
    positions = _find_column_positions(table, ())
    if len(positions) != count:
        raise SqlError(213)
    return positions


_ROW_VERSION_TYPES: Final = ("timestamp", "rowversion")
"""Column types whose values the server generates."""


def _check_identity_values(
    name: str,
    table: Table,
    column_names: tuple[str, ...],
    positions: list[int],
    rows: Sequence[Row],
    has_identity_insert: bool,
) -> None:
    """Check that an INSERT specifies identity values if and only if SET IDENTITY_INSERT is ON.

    Raises 544, 545 or 8101. Also raises 271 for a computed column and 273 for a timestamp.
    """
    position = next(
        (index for index, column in enumerate(table.columns) if column.identity is not None), None
    )
    for column_index in positions:
        if table.columns[column_index].computed:
            raise SqlError(271, table.columns[column_index].name)
        if parse_type(table.columns[column_index].type)[0] in _ROW_VERSION_TYPES:
            raise SqlError(273)
    if position is None:
        return
    if not column_names and any(len(row) == len(positions) + 1 for row in rows):
        raise SqlError(8101, name)
    if position in positions and not has_identity_insert:
        raise SqlError(544, name)
    if position not in positions and has_identity_insert:
        raise SqlError(545, name)


def convert_for_column(column: ColumnDefinition, value: Scalar, table: str, verb: str) -> Scalar:
    """Convert a value to the type of the column.

    *verb*: statement that error 515 names. Raises 515 for NULL, 8152 for a text that is too long.
    """
    if value is None:
        if not column.nullable:
            raise SqlError(515, column.name, table, verb)
        return None
    kind, length, _ = parse_type(column.type)
    if kind in ("varchar", "nvarchar", "char", "nchar"):
        size = length or 1
        if size > 0 and len(to_text(value).rstrip(" ")) > size:
            raise SqlError(8152, column.name, to_text(value)[:size])
    return convert_value(value, column.type, default_length=1)


def update_rows(name: str, table: Table, column_names: tuple[str, ...], changes: Sequence[Row]) -> Table:
    """Return the table with changed values in the columns *column_names*.

    A change is (row number from 1, values). If a row has several changes, the first change applies.
    """
    positions = _find_column_positions(table, column_names)
    for position in positions:
        if table.columns[position].identity is not None:
            raise SqlError(8102, table.columns[position].name)
        if table.columns[position].computed:
            raise SqlError(271, table.columns[position].name)
        if parse_type(table.columns[position].type)[0] in _ROW_VERSION_TYPES:
            raise SqlError(272)
    rows = list(table.rows)
    for number, *values in reversed(changes):
        row_index = int(str(number)) - 1
        row = list(rows[row_index])
        for position, value in zip(positions, values, strict=True):
            row[position] = convert_for_column(table.columns[position], value, name, "UPDATE")
        rows[row_index] = tuple(row)
    return replace(table, rows=tuple(rows), characters=_check_characters(count_characters(rows)))


def delete_rows(table: Table, numbers: Sequence[Row]) -> Table:
    """Return the table without the rows with the numbers *numbers*, counted from 1."""
    deleted_rows = {int(str(number[0])) - 1 for number in numbers}
    rows = tuple(row for index, row in enumerate(table.rows) if index not in deleted_rows)
    ids = tuple(number for index, number in enumerate(table.ids) if index not in deleted_rows)
    return replace(table, rows=rows, ids=ids, characters=count_characters(rows))


# --- identity cache, and changes of a transaction ---------------------------------------------------------


CACHED_IDENTITY_VALUES: Final = {"int": 1_000, "bigint": 10_000}
"""Column type -> number of identity values that the server caches [DOC: trace flag 272]. Assumed.

Values of other types are not cached.
"""
IDENTITY_CACHE_VERSION: Final = 2012
"""First version of SQL Server that caches identity values."""


def skip_lost_identity_values(table: Table, server: Instance) -> Table:
    """Return the table after a crash or failover, which loses the identity values that the server cached.

    The next identity value then follows all cached values. In other cases, return the table unchanged.
    """
    name, started_tick, last = table.identity_cache
    step = next((column.identity[1] for column in table.columns if column.identity is not None), 1)
    if not name or server.version < IDENTITY_CACHE_VERSION:
        return table
    same_run = name == server.name and started_tick == server.started_tick
    if same_run or (name == server.name and server.crashed_tick < started_tick):
        return table
    return replace(table, next_identity=last + step, identity_cache=("", 0, 0))


def update_identity_cache(table: Table, first_value: int, value: int | None, server: Instance) -> Table:
    """Return the table after the identity values from *first_value* to *value* were used.

    If the cached values do not suffice, the table records that *server* has cached more.
    """
    column = next((column for column in table.columns if column.identity is not None), None)
    count = CACHED_IDENTITY_VALUES.get(column.type.lower(), 0) if column is not None else 0
    if value is None or column is None or column.identity is None or not count:
        return table
    step = column.identity[1]
    name, started_tick, last = table.identity_cache
    if (name, started_tick) != (server.name, server.started_tick):
        last = first_value + count * step
    elif (last - value) * step >= 0:
        return table
    while (value - last) * step > 0:
        last += count * step
    return replace(table, identity_cache=(server.name, server.started_tick, last))


def compare_rows(old_table: Table, new_table: Table) -> RowChanges:
    """Return the row changes from *old_table* to *new_table*, which has the same columns."""
    before = dict(zip(old_table.ids, old_table.rows, strict=True))
    new_rows = dict(zip(new_table.ids, new_table.rows, strict=True))
    written_rows = [(number, row) for number, row in new_rows.items() if before.get(number) is not row]
    deleted_rows = [(number, None) for number in before if number not in new_rows]
    return RowChanges(
        (*written_rows, *deleted_rows), new_table.next_identity, new_table.next_id, new_table.identity_cache
    )


def merge_row_changes(first_changes: RowChanges, second_changes: RowChanges) -> RowChanges:
    """Return row changes with the effect of *first_changes* followed by *second_changes*."""
    rows = {**dict(first_changes.rows), **dict(second_changes.rows)}
    return replace(second_changes, rows=tuple(rows.items()))


def _append_rows(table: Table, row_changes: RowChanges, new_rows: tuple[tuple[int, Row], ...]) -> Table:
    """Return the table with new rows at its end. This is a fast path for the most frequent change."""
    rows = tuple(row for _, row in new_rows)
    return replace(
        table,
        rows=table.rows + rows,
        ids=table.ids + tuple(number for number, _ in new_rows),
        next_identity=max(table.next_identity, row_changes.next_identity),
        identity_cache=row_changes.identity_cache,
        next_id=max(table.next_id, row_changes.next_id),
        characters=table.characters + count_characters(rows),
    )


def apply_row_changes(table: Table, row_changes: RowChanges) -> Table:
    """Return the table after the changes. Existing rows keep their order; new rows follow them."""
    new = [(number, row) for number, row in row_changes.rows if row is not None and number >= table.next_id]
    if len(new) == len(row_changes.rows):
        return _append_rows(table, row_changes, tuple(new))
    rows = dict(zip(table.ids, table.rows, strict=True))
    for number, row in row_changes.rows:
        if row is not None:
            rows[number] = row
        else:
            rows.pop(number, None)
    ordered = tuple(sorted(rows.items()))
    return replace(
        table,
        ids=tuple(number for number, _ in ordered),
        rows=tuple(row for _, row in ordered),
        next_identity=max(table.next_identity, row_changes.next_identity),
        identity_cache=row_changes.identity_cache,
        next_id=max(table.next_id, row_changes.next_id),
        characters=count_characters(row for _, row in ordered),
    )
