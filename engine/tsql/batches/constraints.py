"""Constraints and indexes of a table: their names and definitions, and their checks of changed rows."""

import zlib
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

from msgspec.structs import replace

from engine.messages import SqlError
from engine.tsql.batches import objects
from engine.tsql.batches.data import Row, Table
from engine.tsql.batches.machine import RUN_TIME_ERRORS, ExecutionMachine
from engine.tsql.language.columns import Check, ColumnDefinition, Constraint, ForeignKey, Key
from engine.tsql.language.lexer import Token, tokenize
from engine.tsql.query.plans import QueryPlan, TableRef, UnsimulatedFeatureError
from engine.tsql.scalars.types import NULL, UNLIMITED_LENGTH, parse_type
from engine.tsql.scalars.values import Scalar, make_text_key, to_text

_KEY_NAME_PREFIXES: Final = {"PRIMARY KEY": "PK", "UNIQUE": "UQ"}
"""Kind of a key -> prefix of its generated name."""


def name_constraints(table: str, constraints: Iterable[Constraint], version: int) -> tuple[Constraint, ...]:
    """Return the constraints of a new table. Unnamed constraints get a generated name, as in the product.

    Raises 8110 for a second primary key, 2714 for a repeated name.
    """
    named_constraints: list[Constraint] = []
    for item in constraints:
        named_item = item if item.name else replace(item, name=_generate_name(table, item, version))
        if any(constraint.name.lower() == named_item.name.lower() for constraint in named_constraints):
            raise SqlError(2714, named_item.name, state=5, also=(1750,))
        named_constraints.append(named_item)
    if sum(1 for item in named_constraints if isinstance(item, Key) and item.kind == "PRIMARY KEY") > 1:
        raise SqlError(8110, table)
    return tuple(named_constraints)


def _generate_name(table: str, constraint: Constraint, version: int) -> str:
    """Build the name of an unnamed constraint as in the product."""
    digits = f"{zlib.crc32(repr((table.lower(), constraint)).encode()):08X}"
    if not isinstance(constraint, Key):
        return _build_constraint_name(
            "CK" if isinstance(constraint, Check) else "FK", table, constraint.columns[:1], digits
        )
    letters = _KEY_NAME_PREFIXES.get(constraint.kind, "IX")
    if version < 2008:
        return f"{letters}__{_get_internal_name(table)[:9]}__{digits}"
    columns = f"{zlib.crc32(repr(constraint.columns).lower().encode()):08X}"
    return f"{letters}__{_get_internal_name(table)[:8]}__{columns}{digits}"


_GENERATED_NAME_CHARACTERS, _COLUMN_CHARACTERS_MIN = 14, 5
"""Characters for the table and column names together in a generated name, and the minimum for the column.

Seen in names in public schemas. The numbers of digits, eight and sixteen, are from the same source.
"""


def _get_internal_name(table: str) -> str:
    """Return the name of a table in tempdb, as it appears in generated constraint names.

    The name of a temp table is padded. A table variable has a number as its name. Other tables keep their
    names.
    """
    if table.startswith("@"):
        return f"#{zlib.crc32(table.lower().encode()):08X}"
    return table.ljust(_GENERATED_NAME_CHARACTERS, "_") if table.startswith("#") else table


def _build_constraint_name(letters: str, table: str, columns: Sequence[str], digits: str) -> str:
    """Build the generated name of a CHECK, FOREIGN KEY or DEFAULT."""
    if not columns:
        return f"{letters}__{_get_internal_name(table)[:9]}__{digits}"
    owner = _get_internal_name(table)[
        : _GENERATED_NAME_CHARACTERS - min(_COLUMN_CHARACTERS_MIN, len(columns[0]))
    ]
    return f"{letters}__{owner}__{columns[0][: _GENERATED_NAME_CHARACTERS - len(owner)]}__{digits}"


def get_default_name(table: str, column: ColumnDefinition) -> str:
    """Return the name of a column's DEFAULT constraint, which is generated if none is specified."""
    number = objects.compute_object_id(f"default {objects.compute_object_id(table)} {column.name}")
    return column.default_name or _build_constraint_name("DF", table, (column.name,), f"{number:08X}")


def find_column_positions(table: Table, columns: Iterable[str], owner: str) -> list[int]:
    """Return the positions of the columns. Raises 1911 for a column that the table does not have.

    *owner*: name of the table in the error message.
    """
    positions_by_name = {column.name.lower(): index for index, column in enumerate(table.columns)}
    for name in columns:
        if name.lower() not in positions_by_name:
            raise SqlError(1911, name, owner)
    return [positions_by_name[name.lower()] for name in columns]


def check_constraint_definitions(
    machine: ExecutionMachine, ref: TableRef, table: Table, new_constraints: Sequence[Constraint]
) -> None:
    """Check that the columns and tables in *new_constraints* exist and that their types are valid.

    Raises 1911, 1909, 1919, 1767, 1770 or 1776, and 1750. Raises UnsimulatedFeatureError for a CHECK, DEFAULT
    or computed column that could not be evaluated when a row is inserted.
    """
    checks = [
        f"CASE WHEN NOT ({item.text}) THEN 1 ELSE 0 END"
        for item in new_constraints
        if isinstance(item, Check)
    ]
    for text in (*checks, *(column.computed for column in table.columns if column.computed)):
        _check_expression(machine, table.columns, text)
    for column in table.columns:
        if column.default:
            _check_expression(machine, (), column.default)
    for item in new_constraints:
        if isinstance(item, Check):
            continue
        try:
            positions = find_column_positions(table, item.columns, ref.parts[-1])
            if isinstance(item, Key):
                check_key_columns(table, positions, ref.parts[-1])
                check_index_filter(machine, table, item, ref.parts[-1])
        except SqlError as problem:
            problem.also = (1750,)
            raise
        if not isinstance(item, ForeignKey):
            continue
        if ref.parts[-1].startswith("#"):
            machine.report_partly_simulated(
                f"the foreign key of {ref.parts[-1]}; temporary tables do not keep one"
            )
            continue
        if item.action:
            raise UnsimulatedFeatureError(f"foreign keys with ON DELETE or ON UPDATE {item.action}")
        if len(item.table) > 2 and item.table[0].lower() != machine.session.database.lower():
            raise SqlError(1763, ".".join(item.table), also=(1750,))
        is_own_table = item.table[-1].lower() == ref.parts[-1].lower()
        parent = table if is_own_table else objects.find_object(machine.context, item.table)
        if not isinstance(parent, Table):
            raise SqlError(1767, item.name, ".".join(item.table), also=(1750,))
        parent_columns = {column.name.lower() for column in parent.columns}
        for name in item.references:
            if name.lower() not in parent_columns:
                raise SqlError(1770, item.name, name, ".".join(item.table), also=(1750,))
        target = _find_referenced_columns(parent, item)
        if target is None:
            raise SqlError(1776, ".".join(item.table), item.name, also=(1750,))
        _check_foreign_key_types(ref, table, parent, item, target)


def _check_expression(machine: ExecutionMachine, columns: tuple[ColumnDefinition, ...], text: str) -> None:
    """Bind an expression of a table definition to the *columns* that it may use.

    A DEFAULT may use no columns. Raises 1046 for a subquery, 137 for a variable, 128 for a column in a
    DEFAULT.
    Other errors of binding, such as 207 and 195, are raised too. Run-time errors are reported when a row is
    inserted.
    """
    words = tokenize(text)
    if any(token.upper == "SELECT" for token in words):
        raise SqlError(1046)
    variable = next((token.text for token in words if token.kind == "variable"), "")
    if variable and not variable.startswith("@@"):
        raise SqlError(137, variable)
    try:
        _evaluate_rows(machine, columns or _PLACEHOLDER_COLUMNS, (), [text])
    except SqlError as problem:
        if problem.number == 207 and not columns:
            raise SqlError(128, *problem.parameters) from None
        if problem.number not in RUN_TIME_ERRORS:
            raise


_PLACEHOLDER_COLUMNS: Final = (ColumnDefinition(name="", type="int"),)
"""List with one unnamed column, to bind expressions that may not use columns."""


def _check_foreign_key_types(
    ref: TableRef, table: Table, parent: Table, foreign_key: ForeignKey, referenced_positions: Sequence[int]
) -> None:
    """Raise an error if the columns of a foreign key and the referenced columns have different types.

    The error is 1778 for another type, 1753 for another length or scale.
    """
    for position, parent_position in zip(
        find_column_positions(table, foreign_key.columns, ref.parts[-1]), referenced_positions, strict=False
    ):
        own_definition, other_definition = table.columns[position], parent.columns[parent_position]
        kinds = [parse_type(column.type) for column in (own_definition, other_definition)]
        names = (
            ".".join(foreign_key.table),
            other_definition.name,
            ref.parts[-1],
            own_definition.name,
            foreign_key.name,
        )
        if kinds[0][0] != kinds[1][0]:
            raise SqlError(1778, *names, also=(1750,))
        if kinds[0] != kinds[1]:
            raise SqlError(1753, *names, also=(1750,))


_NON_KEY_TYPES: Final = frozenset({"text", "ntext", "image", "xml"})
"""Data types that a key column cannot have."""


def check_key_columns(table: Table, positions: Sequence[int], owner: str) -> None:
    """Raise 1909 for a repeated key column, 1919 for a key column of an unsuitable type.

    *positions*: positions of the key columns in *table*. *owner*: name of the table in the error
    message.
    """
    for index, position in enumerate(positions):
        name, (kind, length, _) = table.columns[position].name, parse_type(table.columns[position].type)
        if position in positions[:index]:
            raise SqlError(1909, "index", name)
        if kind in _NON_KEY_TYPES or length == UNLIMITED_LENGTH:
            raise SqlError(1919, name, owner)


_UNSUPPORTED_FILTER_WORDS: Final = frozenset(
    {"SELECT", "OR", "LIKE", "BETWEEN", "CASE", "EXISTS", "CAST", "CONVERT"}
)
_UNSUPPORTED_FILTER_OPERATORS: Final = ("+", "*", "/", "%", "&", "|", "^", "~")


def _is_simple_filter(tokens: Sequence[Token]) -> bool:
    """Return whether a condition only compares columns with constants, joined by AND [DOC: CREATE INDEX]."""
    words = {token.upper for token in tokens}
    called = any(
        token.kind == "word" and token.upper not in ("IN", "AND") and next_token.is_operator("(")
        for token, next_token in pairwise(tokens)
    )
    return not (
        words & _UNSUPPORTED_FILTER_WORDS
        or called
        or any(token.is_operator(*_UNSUPPORTED_FILTER_OPERATORS) for token in tokens)
    )


def check_index_filter(machine: ExecutionMachine, table: Table, key: Key, owner: str) -> None:
    """Bind the condition of a filtered index to the columns of its table.

    Raise 10735 for an unsupported condition. *owner*: name of the table in the error message.
    """
    if key.filter:
        if not _is_simple_filter(tokenize(key.filter)):
            raise SqlError(10735, "index", key.name, owner)
        _evaluate_rows(machine, table.columns, (), [f"CASE WHEN {key.filter} THEN 1 ELSE 0 END"])


def _find_filtered_rows(machine: ExecutionMachine, table: Table, key: Key) -> set[int]:
    """Return the positions of the rows that a filtered index contains."""
    text = f"CASE WHEN {key.filter} THEN 1 ELSE 0 END"
    values = _evaluate_rows(machine, table.columns, table.rows, [text])
    return {index for index, (is_inside,) in enumerate(values) if is_inside}


def _find_referenced_columns(parent: Table, foreign_key: ForeignKey) -> list[int] | None:
    """Return the positions of the columns of *parent* to which the foreign key refers.

    Return None if *parent* has no key of these columns.
    """
    referenced_names = [name.lower() for name in foreign_key.references]
    for key in parent.constraints:
        if not isinstance(key, Key) or not key.unique or key.filter:
            continue
        names = [name.lower() for name in key.columns]
        if (not referenced_names and key.kind == "PRIMARY KEY") or (
            referenced_names and sorted(names) == sorted(referenced_names)
        ):
            return find_column_positions(parent, foreign_key.references or key.columns, "")
    return None


# --- rows ------------------------------------------------------------------------------------------------


def enforce_constraints(
    machine: ExecutionMachine, ref: TableRef, old_table: Table, new_table: Table, verb: str
) -> Table:
    """Check that the changed rows satisfy every constraint. Return *new_table* with its computed columns.

    Raises 2627, 2601 or 547. IGNORE_DUP_KEY skips a duplicate and reports 3604.
    """
    old = dict(zip(old_table.ids, old_table.rows, strict=True))
    new_indexes = [
        index
        for index, (number, row) in enumerate(zip(new_table.ids, new_table.rows, strict=True))
        if old.get(number) is not row
    ]
    if new_indexes and any(column.computed for column in new_table.columns):
        new_table = _fill_computed_columns(machine, new_table, new_indexes)
    if new_indexes:
        new_table, new_indexes = _enforce_unique_keys(machine, ref, new_table, new_indexes)
        rows = [new_table.rows[position] for position in new_indexes]
        _enforce_checks(machine, ref, new_table, rows, verb)
        for item in new_table.constraints:
            if isinstance(item, ForeignKey) and not (item.disabled or ref.parts[-1].startswith(("#", "@"))):
                _enforce_foreign_key(machine, ref, new_table, item, rows, verb)
    if verb != "INSERT" and not ref.parts[-1].startswith(("#", "@")):
        _enforce_references(machine, ref, old_table, new_table, verb)
    return new_table


def _evaluate_rows(
    machine: ExecutionMachine, columns: tuple[ColumnDefinition, ...], rows: Sequence[Row], texts: list[str]
) -> list[Row]:
    """Return the values of the expressions *texts* for each row."""
    saved_pseudo = machine.pseudo
    machine.pseudo = {**saved_pseudo, "rows of it": Table(columns, tuple(rows))}
    try:
        return machine.run_select(_plan_expressions(machine, texts))[1]
    finally:
        machine.pseudo = saved_pseudo


def _plan_expressions(machine: ExecutionMachine, texts: list[str]) -> QueryPlan:
    return machine.plan_text(
        "statement", f"SELECT {', '.join(f'({text})' for text in texts)} FROM [rows of it]"
    )


def add_computed_types(machine: ExecutionMachine, table: Table) -> Table:
    """Return the table with the types of its computed columns.

    Return the table unchanged if a type cannot be determined yet.
    """
    if not any(column.computed for column in table.columns):
        return table
    pseudo = machine.pseudo
    machine.pseudo = {**pseudo, "rows of it": table}
    columns = list(table.columns)
    try:
        for index, column in enumerate(columns):
            plan = _plan_expressions(machine, [column.computed]) if column.computed else None
            if plan is not None and plan.kinds and plan.kinds[0] not in (None, NULL):
                nullable = column.nullable and plan.nullable[0]
                columns[index] = replace(column, type=str(plan.kinds[0]), nullable=nullable)
    except (SqlError, UnsimulatedFeatureError):
        return table  # the error is reported when a row is inserted
    finally:
        machine.pseudo = pseudo
    return replace(table, columns=tuple(columns))


def _fill_computed_columns(machine: ExecutionMachine, table: Table, row_positions: list[int]) -> Table:
    """Return the table with the values of its computed columns in the rows at *row_positions*."""
    positions = [index for index, column in enumerate(table.columns) if column.computed]
    texts = [table.columns[position].computed for position in positions]
    rows = list(table.rows)
    values = _evaluate_rows(
        machine, table.columns, [rows[row_position] for row_position in row_positions], texts
    )
    for row_index, computed_values in zip(row_positions, values, strict=True):
        row = list(rows[row_index])
        for position, value in zip(positions, computed_values, strict=True):
            row[position] = value
        rows[row_index] = tuple(row)
    return replace(table, rows=tuple(rows))


def _enforce_unique_keys(
    machine: ExecutionMachine, ref: TableRef, table: Table, row_positions: list[int]
) -> tuple[Table, list[int]]:
    """Raise 2627 or 2601 for a duplicate key, or remove the duplicate for IGNORE_DUP_KEY.

    Return the table and the positions of the new rows in it.
    """
    new_positions, ignored = set(row_positions), set[int]()
    for key in table.constraints:
        if not isinstance(key, Key) or not key.unique:
            continue
        positions = find_column_positions(table, key.columns, ref.parts[-1])
        positions_by_key: dict[tuple[Scalar, ...], int] = {}
        rows = _find_filtered_rows(machine, table, key) if key.filter else None
        # existing rows come first, so that a new row is the duplicate
        for index in sorted(
            range(len(table.rows)), key=lambda row_index: (row_index in new_positions, row_index)
        ):
            if index in ignored or (rows is not None and index not in rows):
                continue
            values = _get_key_values(table.rows[index], positions)
            if positions_by_key.setdefault(values, index) == index:
                continue
            if not key.ignore_duplicates:
                raise _make_duplicate_error(ref, key, [table.rows[index][position] for position in positions])
            ignored.add(index)
    if not ignored:
        return table, row_positions
    machine.append_numbered_message(3604)
    remaining_indexes = [index for index in range(len(table.rows)) if index not in ignored]
    kept_table = replace(
        table,
        rows=tuple(table.rows[row_index] for row_index in remaining_indexes),
        ids=tuple(table.ids[row_index] for row_index in remaining_indexes),
    )
    return kept_table, [
        index for index, row_index in enumerate(remaining_indexes) if row_index in new_positions
    ]


def _get_key_values(row: Row, positions: Iterable[int]) -> tuple[Scalar, ...]:
    """Return the values of *row* at *positions*, in the form in which keys are compared."""
    return tuple(
        make_text_key(v) if isinstance(v, str) else v for v in (row[position] for position in positions)
    )


def _make_duplicate_error(ref: TableRef, key: Key, values: Iterable[Scalar]) -> SqlError:
    """Build error 2627 for a constraint, or 2601 for an index."""
    text = ", ".join("<NULL>" if value is None else to_text(value) for value in values)
    if key.kind in _KEY_NAME_PREFIXES:
        kind = "PRIMARY KEY" if key.kind == "PRIMARY KEY" else "UNIQUE KEY"
        return SqlError(2627, kind, key.name, objects.format_qualified_name(ref.parts), f"({text})")
    return SqlError(2601, objects.format_qualified_name(ref.parts), key.name, f"({text})")


def _enforce_checks(
    machine: ExecutionMachine, ref: TableRef, table: Table, rows: list[Row], verb: str
) -> None:
    checks = [item for item in table.constraints if isinstance(item, Check) and not item.disabled]
    if not checks or not rows:
        return
    texts = [f"CASE WHEN NOT ({item.text}) THEN 1 ELSE 0 END" for item in checks]
    for values in _evaluate_rows(machine, table.columns, rows, texts):
        for item, is_broken in zip(checks, values, strict=True):
            if is_broken:
                column = item.columns[0] if item.columns else ""
                raise _make_conflict_error(machine, verb, "CHECK", item.name, ref.parts, column)


def _make_conflict_error(
    machine: ExecutionMachine, verb: str, kind: str, name: str, table: tuple[str, ...], column: str
) -> SqlError:
    """Build error 547 for a violated constraint. *table* and *column*: where the conflict occurred."""
    database = "tempdb" if table[-1].startswith(("#", "@")) else machine.session.database
    text = table[-1] if table[-1].startswith("@") else objects.format_qualified_name(table)
    column_text = (", column '", column, "'") if column else ()
    return SqlError(547, verb, kind, name, database, text, *column_text)


def _enforce_foreign_key(
    machine: ExecutionMachine, ref: TableRef, table: Table, item: ForeignKey, rows: list[Row], verb: str
) -> None:
    """Check that the rows to which a foreign key refers exist. A NULL in the key refers to no row."""
    is_own_table = objects.make_object_key(item.table) == objects.make_object_key(ref.parts)
    parent = table if is_own_table else objects.find_object(machine.context, item.table)
    target = _find_referenced_columns(parent, item) if isinstance(parent, Table) else None
    if not isinstance(parent, Table) or target is None:
        return
    keys = {_get_key_values(row, target) for row in parent.rows}
    positions = find_column_positions(table, item.columns, ref.parts[-1])
    for row in rows:
        foreign_key = _get_key_values(row, positions)
        if None not in foreign_key and foreign_key not in keys:
            column = parent.columns[target[0]].name if len(target) == 1 else ""
            raise _make_conflict_error(machine, verb, "FOREIGN KEY", item.name, item.table, column)


def is_table_referenced(machine: ExecutionMachine, parts: tuple[str, ...]) -> bool:
    """Return whether a foreign key of another table in the current database refers to a table.

    *parts*: parts of the qualified table name.
    """
    return any(
        isinstance(item, ForeignKey) and objects.make_object_key(item.table) == objects.make_object_key(parts)
        for other_stored_object, table in objects.list_objects(machine.context)
        if isinstance(table, Table) and other_stored_object.key != objects.make_object_key(parts)
        for item in table.constraints
    )


def _enforce_references(
    machine: ExecutionMachine, ref: TableRef, old_table: Table, new_table: Table, verb: str
) -> None:
    """Check that no foreign key refers to a deleted row."""
    for stored_object, child in objects.list_objects(machine.context):
        is_own_table = stored_object.key == objects.make_object_key(ref.parts)
        table = new_table if is_own_table else child
        for item in table.constraints if isinstance(table, Table) else ():
            if not isinstance(item, ForeignKey) or objects.make_object_key(
                item.table
            ) != objects.make_object_key(ref.parts):
                continue
            if item.disabled:
                continue
            target = _find_referenced_columns(old_table, item)
            if target is None or not isinstance(table, Table):
                continue
            removed_keys = {_get_key_values(row, target) for row in old_table.rows} - {
                _get_key_values(row, target) for row in new_table.rows
            }
            positions = find_column_positions(table, item.columns, stored_object.name)
            if removed_keys and any(_get_key_values(row, positions) in removed_keys for row in table.rows):
                column = item.columns[0] if len(positions) == 1 else ""
                kind = "SAME TABLE REFERENCE" if is_own_table else "REFERENCE"
                raise _make_conflict_error(
                    machine, verb, kind, item.name, (stored_object.schema, stored_object.name), column
                )
