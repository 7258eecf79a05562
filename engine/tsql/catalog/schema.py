"""Catalog views of user objects: tables, columns, keys, indexes, constraints and types."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Final, NamedTuple

from engine.tsql.batches import constraints, objects, tables
from engine.tsql.batches.context import StatementContext
from engine.tsql.batches.data import Table
from engine.tsql.catalog import column_types
from engine.tsql.catalog.column_types import TYPE_IDS, build_type_record
from engine.tsql.catalog.shapes import find_literal_columns
from engine.tsql.catalog.view import Record, RowLister, list_views, register_view
from engine.tsql.language.columns import Check, ColumnDefinition, ForeignKey, Key
from engine.tsql.language.lexer import Token, tokenize

TEMP_NAME_LENGTH: Final = 116
"""Length to which tempdb pads the name of a temp table with `_`. A number follows. Documented."""


class ObjectName(NamedTuple):
    """Name and schema of an object."""

    name: str
    schema: str = "dbo"


def list_named_objects(context: StatementContext) -> Iterator[tuple[ObjectName, int, objects.UserObject]]:
    """Yield (name, ID, object) for the objects of the current database.

    In tempdb, these include the temp tables of the session.
    """
    for stored_object, item in objects.list_objects(context):
        yield ObjectName(stored_object.name, stored_object.schema), stored_object.object_id, item
    if context.session.database.lower() == "tempdb":
        for number, (name, object_id, table) in enumerate(objects.list_temporary_tables(context), start=1):
            padded = name if name.startswith("##") else f"{name:_<{TEMP_NAME_LENGTH}}{number:012X}"
            yield ObjectName(padded), object_id, table


def _list_tables(context: StatementContext) -> Iterator[tuple[ObjectName, int, Table]]:
    """Yield (name, ID, table) for each table of the current database.

    In tempdb, these include the temp tables of the session.
    """
    for name, number, item in list_named_objects(context):
        if isinstance(item, Table):
            yield name, number, item


# --- objects -----------------------------------------------------------------------------------------------


def _build_object_row(
    context: StatementContext, named: ObjectName, number: int, kind: str, parent: int = 0
) -> Record:
    schema_id = 1 if named.schema == "dbo" else objects.list_schemas(context)[named.schema].number
    return {
        "name": named.name,
        "object_id": number,
        "schema_id": schema_id,
        "parent_object_id": parent,
        "type": kind,
        "type_desc": _DESCRIPTIONS[kind],
        "create_date": context.get_datetime_value(),
        "modify_date": context.get_datetime_value(),
        "is_ms_shipped": 0,
    }


_DESCRIPTIONS: Final = {
    **{kind: description for kind, description, _ in objects.OBJECT_TYPES.values()},
    objects.INLINE_FUNCTION: "SQL_INLINE_TABLE_VALUED_FUNCTION",
    objects.TABLE_FUNCTION: "SQL_TABLE_VALUED_FUNCTION",
    "PK": "PRIMARY_KEY_CONSTRAINT",
    "UQ": "UNIQUE_CONSTRAINT",
    "F ": "FOREIGN_KEY_CONSTRAINT",
    "C ": "CHECK_CONSTRAINT",
    "D ": "DEFAULT_CONSTRAINT",
}


def _build_object_lister(*kinds: str) -> RowLister:
    """Build a function that yields the objects and constraints of the given types."""

    def rows(context: StatementContext) -> Iterable[Record]:
        for object_name, number, item in list_named_objects(context):
            kind = objects.get_type_code(item)
            if not kinds or kind in kinds:
                yield {
                    **_build_object_row(context, object_name, number, kind),
                    "TABLE_CATALOG": context.session.database,
                    "TABLE_SCHEMA": object_name.schema,
                    "TABLE_NAME": object_name.name,
                    "TABLE_TYPE": "BASE TABLE" if kind == "U " else "VIEW",
                }
        if not kinds:
            for list_constraints in (_list_keys, _list_checks, _list_defaults, _list_foreign_keys):
                yield from list_constraints(context)
        yield from (
            row for row in column_types.list_shipped_objects(context) if not kinds or row["type"] in kinds
        )

    return rows


_SYSOBJECTS_COLUMNS: Final = {
    "name": "name",
    "object_id": "id",
    "type": "xtype",
    "schema_id": "uid",
    "create_date": "crdate",
    "parent_object_id": "parent_obj",
}
"""Column of sys.objects -> column of sys.sysobjects."""


def _list_sysobjects(context: StatementContext) -> Iterable[Record]:
    for row in _build_object_lister()(context):
        record = {old: row[name] for name, old in _SYSOBJECTS_COLUMNS.items() if name in row}
        yield {**record, "type": row["type"]}


register_view("sys.objects", _build_object_lister())
register_view("sys.tables", _build_object_lister("U "))
register_view("sys.views", _build_object_lister("V "))
register_view("sys.procedures", _build_object_lister("P "))
register_view("sys.sysobjects", _list_sysobjects)
register_view("information_schema.tables", _build_object_lister("U ", "V "))


# --- columns -----------------------------------------------------------------------------------------------


def _build_column_row(
    context: StatementContext, named: ObjectName, number: int, column_id: int, column: ColumnDefinition
) -> Record:
    first, step = column.identity or (None, None)
    return {
        **build_type_record(column.type),
        "TABLE_CATALOG": context.session.database,
        "TABLE_SCHEMA": named.schema,
        "TABLE_NAME": named.name,
        "COLUMN_NAME": column.name,
        "ORDINAL_POSITION": column_id,
        "COLUMN_DEFAULT": _format_default(column) if column.default else None,
        "is_nullable": int(column.nullable),
        "IS_NULLABLE": "YES" if column.nullable else "NO",
        "object_id": number,
        "name": column.name,
        "column_id": column_id,
        "is_identity": int(column.identity is not None),
        "is_computed": int(bool(column.computed)),
        "seed_value": first,
        "increment_value": step,
        "definition": f"({column.computed})" if column.computed else None,
        "default_object_id": _compute_default_id(number, column) if column.default else 0,
        "is_sparse": int(("SPARSE", "") in column.options),
        "is_persisted": int(("PERSISTED", "") in column.options),
        "is_rowguidcol": int(("ROWGUIDCOL", "") in column.options),
    }


def _build_column_lister(is_listed: Callable[[ColumnDefinition], bool]) -> RowLister:
    def rows(context: StatementContext) -> Iterable[Record]:
        for name, number, table in _list_tables(context):
            for index, column in enumerate(table.columns, start=1):
                if is_listed(column):
                    yield _build_column_row(context, name, number, index, column)

    return rows


def _list_last_identity_values(context: StatementContext) -> Iterable[Record]:
    for name, number, table in _list_tables(context):
        for index, column in enumerate(table.columns, start=1):
            if column.identity is not None:
                table = tables.skip_lost_identity_values(table, context.server)
                last = table.next_identity - column.identity[1]
                used = table.next_identity != column.identity[0]
                row = _build_column_row(context, name, number, index, column)
                yield {**row, "last_value": last if used else None}


@cache
def _read_system_columns(version: int) -> tuple[Record, ...]:
    """Return the columns of system objects. Their nullability is not documented."""
    return tuple(
        {
            **build_type_record(column.type),
            "object_id": -objects.compute_object_id(catalog_view.name),
            "name": column.name,
            "column_id": index,
            "is_ansi_padded": 1,
        }
        for catalog_view in list_views(version)
        for index, column in enumerate(catalog_view.list_version_columns(version), start=1)
    )


def _list_system_columns(context: StatementContext) -> Iterable[Record]:
    return _read_system_columns(context.version)


def _list_all_columns(context: StatementContext) -> Iterable[Record]:
    yield from _list_visible_columns(context)
    yield from _list_system_columns(context)


def _list_visible_columns(context: StatementContext) -> Iterable[Record]:
    yield from _build_column_lister(lambda column: True)(context)
    for name, number, item in list_named_objects(context):
        if isinstance(item, objects.UserView):
            for index, column in enumerate(item.list_definitions(), start=1):
                yield _build_column_row(context, name, number, index, column)
    yield from column_types.list_shipped_columns(context)


register_view("sys.system_columns", _list_system_columns)
register_view("sys.all_columns", _list_all_columns)
register_view("information_schema.columns", _list_visible_columns)
register_view("sys.columns", _list_visible_columns)
register_view("sys.computed_columns", _build_column_lister(lambda column: bool(column.computed)))
register_view("sys.identity_columns", _list_last_identity_values)


# --- indexes and keys --------------------------------------------------------------------------------------


def list_table_indexes(table: Table) -> Iterator[tuple[int, Key | None]]:
    """Yield (index_id, key) for each index. A heap has index_id 0 and the key None."""
    keys = [key for key in table.constraints if isinstance(key, Key)]
    if not any(key.clustered for key in keys):
        yield 0, None
    for number, key in enumerate(keys, start=2):
        yield 1 if key.clustered else number, key


def _list_indexes(context: StatementContext) -> Iterable[Record]:
    for _, owner, table in _list_tables(context):
        for number, key in list_table_indexes(table):
            options = dict(key.options) if key is not None else {}
            yield {
                "object_id": owner,
                "name": None if key is None else key.name,
                "index_id": number,
                "type": min(number, 2),
                "type_desc": ("HEAP", "CLUSTERED", "NONCLUSTERED")[min(number, 2)],
                "is_unique": int(key is not None and key.unique),
                **find_literal_columns("schema._list_indexes"),
                "ignore_dup_key": int(key is not None and key.ignore_duplicates),
                "is_primary_key": int(key is not None and key.kind == "PRIMARY KEY"),
                "is_unique_constraint": int(key is not None and key.kind == "UNIQUE"),
                "id": owner,
                "indid": number,
                "fill_factor": int(options.get("FILLFACTOR", 0)),
                "OrigFillFactor": int(options.get("FILLFACTOR", 0)),
                "is_padded": int(options.get("PAD_INDEX") == "ON"),
                "has_filter": int(key is not None and bool(key.filter)),
                "filter_definition": f"({key.filter})" if key is not None and key.filter else None,
                "optimize_for_sequential_key": int(options.get("OPTIMIZE_FOR_SEQUENTIAL_KEY") == "ON"),
                "no_recompute": int(options.get("STATISTICS_NORECOMPUTE") == "ON"),
                "rowcnt": len(table.rows),
                "rows": len(table.rows),
            }


register_view("sys.indexes", _list_indexes)
register_view("sys.sysindexes", _list_indexes)


def _find_column_id(table: Table, name: str) -> int:
    """Return the column_id of a column."""
    names = [column.name.lower() for column in table.columns]
    return names.index(name.lower()) + 1


def _list_index_columns(context: StatementContext) -> Iterable[Record]:
    for _, owner, table in _list_tables(context):
        for number, key in list_table_indexes(table):
            key_columns = (*key.columns, *key.included) if key is not None else ()
            for index, name in enumerate(key_columns, start=1):
                included = key is not None and index > len(key.columns)
                yield {
                    "object_id": owner,
                    "index_id": number,
                    "index_column_id": index,
                    "column_id": _find_column_id(table, name),
                    "key_ordinal": 0 if included else index,
                    "partition_ordinal": 0,
                    "is_included_column": int(included),
                    "is_descending_key": int(key is not None and not included and name in key.descending),
                }


register_view("sys.index_columns", _list_index_columns)


FIRST_PARTITION_ID: Final = 2**56
"""partition_id of the first table in a database, as in public output. Further tables add 65,536 each."""


def _list_partitions(context: StatementContext) -> Iterable[Record]:
    """Yield one partition for each index, with the row count of its table."""
    position = 0
    for _, owner, table in _list_tables(context):
        for number, key in list_table_indexes(table):
            options = table.options if number < 2 else ()
            chosen_options = {**dict(options), **(dict(key.options) if key is not None else {})}
            compression = chosen_options.get("DATA_COMPRESSION", "NONE")
            partition = FIRST_PARTITION_ID + 65_536 * position
            position += 1
            yield {
                "partition_id": partition,
                "hobt_id": partition,
                "object_id": owner,
                "index_id": number,
                "partition_number": 1,
                "rows": len(table.rows),
                "row_count": len(table.rows),
                "data_compression": ("NONE", "ROW", "PAGE").index(compression),
                "data_compression_desc": compression,
            }


register_view("sys.partitions", _list_partitions)
register_view("sys.dm_db_partition_stats", _list_partitions)


def _list_statistics(context: StatementContext) -> Iterable[Record]:
    """Yield the statistics of indexes. Other statistics are not simulated."""
    for row in _list_indexes(context):
        if row["index_id"]:
            yield {
                "object_id": row["object_id"],
                "name": row["name"],
                "stats_id": row["index_id"],
                "auto_created": 0,
                "user_created": 0,
                "no_recompute": row["no_recompute"],
                "has_filter": row["has_filter"],
                "filter_definition": row["filter_definition"],
            }


def _list_statistics_columns(context: StatementContext) -> Iterable[Record]:
    for row in _list_index_columns(context):
        if row["key_ordinal"]:
            yield {
                "object_id": row["object_id"],
                "stats_id": row["index_id"],
                "stats_column_id": row["key_ordinal"],
                "column_id": row["column_id"],
            }


register_view("sys.stats", _list_statistics)
register_view("sys.stats_columns", _list_statistics_columns)


def _list_keys(context: StatementContext) -> Iterable[Record]:
    for name, owner, table in _list_tables(context):
        for number, key in list_table_indexes(table):
            if key is not None and key.kind in ("PRIMARY KEY", "UNIQUE"):
                kind = "PK" if key.kind == "PRIMARY KEY" else "UQ"
                yield {
                    **_build_object_row(
                        context,
                        ObjectName(key.name, name.schema),
                        objects.compute_object_id(key.name),
                        kind,
                        owner,
                    ),
                    **_build_constraint_row(context, name, key.name, key.kind),
                    "unique_index_id": number,
                    "is_system_named": int("__" in key.name),
                }


register_view("sys.key_constraints", _list_keys)


# --- constraints -------------------------------------------------------------------------------------------


def _build_constraint_row(context: StatementContext, table: ObjectName, name: str, kind: str) -> Record:
    database = context.session.database
    return {
        "CONSTRAINT_CATALOG": database,
        "CONSTRAINT_SCHEMA": table.schema,
        "CONSTRAINT_NAME": name,
        "TABLE_CATALOG": database,
        "TABLE_SCHEMA": table.schema,
        "TABLE_NAME": table.name,
        "CONSTRAINT_TYPE": kind,
        "IS_DEFERRABLE": "NO",
        "INITIALLY_DEFERRED": "NO",
    }


def _list_checks(context: StatementContext) -> Iterable[Record]:
    for name, owner, table in _list_tables(context):
        for item in table.constraints:
            if isinstance(item, Check):
                yield {
                    **_build_object_row(
                        context,
                        ObjectName(item.name, name.schema),
                        objects.compute_object_id(item.name),
                        "C ",
                        owner,
                    ),
                    **_build_constraint_row(context, name, item.name, "CHECK"),
                    "parent_column_id": _find_column_id(table, item.columns[0]) if item.columns else 0,
                    "definition": f"({item.text})",
                    "CHECK_CLAUSE": f"({item.text})",
                    "is_not_trusted": int(not item.trusted),
                    "is_disabled": int(item.disabled),
                    "is_system_named": int("__" in item.name),
                }


def _compute_default_id(owner: int, column: ColumnDefinition) -> int:
    return objects.compute_object_id(f"default {owner} {column.name}")


def _format_default(column: ColumnDefinition) -> str:
    """Return a DEFAULT as the catalog shows it [DOC: sys.default_constraints].

    Numbers are in parentheses, function names in lowercase, and type names in brackets.
    """
    tokens = list(tokenize(column.default)[:-1])
    while len(tokens) > 2 and tokens[0].text == "(" and _find_closing_parenthesis(tokens) == len(tokens) - 1:
        tokens = tokens[1:-1]
    text, sign = "", ""
    for index, token in enumerate(tokens):
        before = tokens[index - 1] if index else None
        is_sign = token.text == "-" and (before is None or before.text in ("(", ",", "+", "-", "*", "/"))
        called = index + 1 < len(tokens) and tokens[index + 1].text == "("
        if is_sign and index + 1 < len(tokens) and tokens[index + 1].kind == "number":
            sign = "-"
        elif token.kind == "number":
            text, sign = f"{text}({sign}{token.text})", ""
        elif token.upper == "CURRENT_TIMESTAMP":
            text += "getdate()"
        elif token.kind == "word" and called:
            text += token.upper if token.upper in ("CONVERT", "CAST") else token.text.lower()
        elif token.kind == "word" and token.text.lower() in TYPE_IDS:
            text += f"[{token.text.lower()}]"
        else:
            text += f" {token.text} " if token.upper in ("AS", "AND", "OR") else token.text
    return f"({text})"


def _find_closing_parenthesis(tokens: Sequence[Token]) -> int:
    """Return the position of the parenthesis that closes the first parenthesis."""
    depth = 0
    for index, token in enumerate(tokens):
        depth += (token.text == "(") - (token.text == ")")
        if not depth:
            return index
    return -1


def _list_defaults(context: StatementContext) -> Iterable[Record]:
    for name, owner, table in _list_tables(context):
        for index, column in enumerate(table.columns, start=1):
            if column.default:
                default_name = constraints.get_default_name(name.name, column)
                yield {
                    **_build_object_row(
                        context,
                        ObjectName(default_name, name.schema),
                        _compute_default_id(owner, column),
                        "D ",
                        owner,
                    ),
                    "parent_column_id": index,
                    "definition": _format_default(column),
                    "Definition": _format_default(column),
                    "is_system_named": int("__" in column.default_name or not column.default_name),
                }


def _list_key_targets(
    context: StatementContext,
) -> Iterator[tuple[ObjectName, int, Table, ForeignKey, Table, Key]]:
    """Yield each foreign key with its table, the referenced table and the referenced key."""
    tables_by_key = {
        objects.make_object_key((name.schema, name.name)): table for name, _, table in _list_tables(context)
    }
    for name, owner, table in _list_tables(context):
        for item in table.constraints:
            if not isinstance(item, ForeignKey):
                continue
            parent = tables_by_key.get(objects.make_object_key(item.table))
            if parent is None:
                continue
            keys = [key for key in parent.constraints if isinstance(key, Key) and key.unique]
            referenced_names = sorted(column.lower() for column in item.references)
            for key in keys:
                is_same = sorted(column.lower() for column in key.columns) == referenced_names
                if is_same if referenced_names else key.kind == "PRIMARY KEY":
                    yield name, owner, table, item, parent, key
                    break


def _list_foreign_keys(context: StatementContext) -> Iterable[Record]:
    for name, owner, _, item, parent, key in _list_key_targets(context):
        yield {
            **_build_object_row(
                context, ObjectName(item.name, name.schema), objects.compute_object_id(item.name), "F ", owner
            ),
            **_build_constraint_row(context, name, item.name, "FOREIGN KEY"),
            "referenced_object_id": objects.compute_object_id(objects.make_object_key(item.table)),
            "key_index_id": next(
                number for number, known_key in list_table_indexes(parent) if known_key is key
            ),
            "is_not_trusted": int(not item.trusted),
            "is_disabled": int(item.disabled),
            "is_system_named": int("__" in item.name),
            "UNIQUE_CONSTRAINT_CATALOG": context.session.database,
            "UNIQUE_CONSTRAINT_SCHEMA": (len(item.table) > 1 and item.table[-2]) or "dbo",
            "UNIQUE_CONSTRAINT_NAME": key.name,
            **find_literal_columns("schema._list_foreign_keys"),
        }


def _list_foreign_key_columns(context: StatementContext) -> Iterable[Record]:
    for _, owner, table, item, parent, key in _list_key_targets(context):
        for index, (own_column, other_column) in enumerate(
            zip(item.columns, item.references or key.columns, strict=False), start=1
        ):
            yield {
                "constraint_object_id": objects.compute_object_id(item.name),
                "constraint_column_id": index,
                "parent_object_id": owner,
                "parent_column_id": _find_column_id(table, own_column),
                "referenced_object_id": objects.compute_object_id(objects.make_object_key(item.table)),
                "referenced_column_id": _find_column_id(parent, other_column),
            }


def _list_table_constraints(context: StatementContext) -> Iterable[Record]:
    for list_constraints in (_list_keys, _list_checks, _list_foreign_keys):
        yield from list_constraints(context)


def _list_key_columns(context: StatementContext) -> Iterable[Record]:
    for name, _, table in _list_tables(context):
        for item in table.constraints:
            if isinstance(item, ForeignKey) or (
                isinstance(item, Key) and item.kind in ("PRIMARY KEY", "UNIQUE")
            ):
                for index, column in enumerate(item.columns, start=1):
                    yield {
                        **_build_constraint_row(context, name, item.name, ""),
                        "COLUMN_NAME": column,
                        "ORDINAL_POSITION": index,
                    }


register_view("sys.check_constraints", _list_checks)
register_view("sys.default_constraints", _list_defaults)
register_view("sys.foreign_keys", _list_foreign_keys)
register_view("sys.foreign_key_columns", _list_foreign_key_columns)
register_view("information_schema.table_constraints", _list_table_constraints)
register_view("information_schema.check_constraints", _list_checks)
register_view("information_schema.referential_constraints", _list_foreign_keys)
register_view("information_schema.key_column_usage", _list_key_columns)


def _list_constraint_columns(context: StatementContext) -> Iterable[Record]:
    """Yield the columns of each constraint: key columns, and columns in the text of a CHECK."""
    yield from _list_key_columns(context)
    for name, _, table in _list_tables(context):
        for item in table.constraints:
            if isinstance(item, Check):
                words = {word.lower() for word in re.findall(r"\w+", item.text)}
                for column in table.columns:
                    if column.name.lower() in words:
                        row = _build_constraint_row(context, name, item.name, "")
                        yield {**row, "COLUMN_NAME": column.name}


register_view("information_schema.constraint_column_usage", _list_constraint_columns)
register_view("information_schema.constraint_table_usage", _list_table_constraints)
