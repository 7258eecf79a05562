"""Procedures that describe objects, and sp_rename.

sp_help, sp_helpindex and sp_helpconstraint return the result sets of SQL Server [DOC: sp_help; sp_helpindex;
sp_helpconstraint]. The texts in the result sets are from public output.
"""

from collections.abc import Callable, Iterable
from typing import Final

from msgspec.structs import replace

from engine.messages import SqlError
from engine.tsql import catalog
from engine.tsql.batches import constraints, objects, schema_binding, sources
from engine.tsql.batches.context import StatementContext
from engine.tsql.batches.data import Row, Table
from engine.tsql.catalog.column_types import build_type_record
from engine.tsql.catalog.view import CatalogView
from engine.tsql.language.columns import Check, ColumnDefinition, Constraint, ForeignKey, Key
from engine.tsql.language.lexer import tokenize
from engine.tsql.procedures.call import ProcedureCall, Procedures
from engine.tsql.query.plans import TableRef, UnsimulatedFeatureError
from engine.tsql.scalars.types import parse_type
from engine.tsql.scalars.values import Scalar, to_text

NameParts = tuple[str, ...]
"""Parts of a qualified object name."""

_TYPES_WITH_PRECISION: Final = frozenset({
    "bigint", "int", "smallint", "tinyint", "float", "real", "money", "smallmoney", "decimal", "numeric", "date",
    "time", "datetime2", "datetimeoffset",
})  # fmt: skip
"""Types for which sp_help shows precision and scale [DOC: data types]."""
_TRIMMED_TYPES: Final = frozenset({"char", "varchar", "binary", "varbinary"})
_SIZED_TYPES: Final = _TRIMMED_TYPES | {"nchar", "nvarchar"}
_COLLATED_TYPES: Final = frozenset({"char", "varchar", "nchar", "nvarchar", "text", "ntext"})
_BLANK_DIGITS: Final = "     "
_HELP_COLUMNS: Final = (
    "Column_name", "Type", "Computed", "Length", "Prec", "Scale", "Nullable", "TrimTrailingBlanks",
    "FixedLenNullInSource", "Collation",
)  # fmt: skip
_OBJECT_TYPES: Final = {
    "U": "user table", "V": "view", "P": "stored procedure", "FN": "scalar function", "IF": "inline function",
}  # fmt: skip


def _execute_help(call: ProcedureCall) -> None:
    """Execute sp_help: describe an object, or list all objects. Raises 15009 for an unknown object."""
    name = call.get_text("@objname")
    if not name:
        _list_objects(call)
        return
    parts = tuple(part.strip('[]"') for part in name.split(".") if part)
    help_object = find_described_object(call, parts) if parts else None
    if help_object is not None:
        kind = objects.get_type_code(help_object)
        _show_object_head(
            call,
            _get_spelled_name(call, parts),
            objects.format_qualified_name(parts).split(".")[0],
            _OBJECT_TYPES[kind.strip()],
        )
        _describe_object(call, name, help_object)
        return
    view = _find_system_view(call, parts)
    if view is None:
        raise _make_unknown_name_error(call, name)
    _show_object_head(call, view.name.split(".")[-1], "sys", "view")
    _show_columns(
        call, [(c.name, c.type, None) for c in view.list_version_columns(call.machine.context.version)]
    )
    _show_identity(call, None)
    call.machine.report_unsimulated("NULL of the columns of system views")


def find_described_object(call: ProcedureCall, parts: tuple[str, ...]) -> objects.UserObject | None:
    """Return the object that an argument of a procedure names; None if it does not exist.

    Temp tables are in tempdb [DOC: CREATE TABLE, temporary tables].
    """
    if not parts[-1].startswith("#"):
        return objects.find_object(call.machine.context, parts)
    is_in_tempdb = call.database.lower() == "tempdb"
    return sources.find_user_table(call.machine, TableRef(parts[-1:])) if is_in_tempdb else None


def _make_unknown_name_error(call: ProcedureCall, name: str) -> SqlError | UnsimulatedFeatureError:
    try:
        parse_type(name)
    except SqlError:
        return SqlError(15009, name, call.database)
    return UnsimulatedFeatureError("sp_help of a data type")


def _find_system_view(call: ProcedureCall, parts: tuple[str, ...]) -> CatalogView | None:
    try:
        return catalog.find_view(call.machine.context, parts) if parts else None
    except SqlError:
        return None


def _get_spelled_name(call: ProcedureCall, parts: tuple[str, ...]) -> str:
    """Return the name of an object as its CREATE statement spells it.

    For an unknown object, return the last of *parts*.
    """
    listed_sources = (stored_object for stored_object, _ in objects.list_objects(call.machine.context))
    return next(
        (
            stored_object.name
            for stored_object in listed_sources
            if stored_object.key == objects.make_object_key(parts)
        ),
        parts[-1],
    )


def _show_object_head(call: ProcedureCall, name: str, owner: str, kind: str) -> None:
    call.machine.add_result(("Name", "Owner", "Type", "Created_datetime"), [(name, owner, kind, None)])
    call.machine.report_partly_simulated("column Created_datetime of sp_help; NULL here")


def _describe_object(call: ProcedureCall, name: str, user_object: objects.UserObject) -> None:
    match user_object:
        case Table(columns=columns):
            _show_columns(call, [(c.name, c.type, c.nullable) for c in columns])
            numbered = next(((c.name, *c.identity, 0) for c in columns if c.identity is not None), None)
            _show_identity(call, numbered)
            call.machine.add_result(("Data_located_on_filegroup",), [("PRIMARY",)])
            _show_indexes(call, name, user_object)
            _show_constraints(call, name, user_object)
            call.machine.append_numbered_message(15647, name)
        case objects.UserProcedure(parameters=parameters) | objects.UserFunction(parameters=parameters):
            if parameters:
                _show_parameters(call, [(item.name, item.type) for item in parameters])
        case objects.UserView():
            view_columns = user_object.list_definitions()
            _show_columns(call, [(c.name, c.type, c.nullable) for c in view_columns])
            _show_identity(call, None)
            _show_indexes(call, name, Table(view_columns))
            _show_constraints(call, name, Table(view_columns))
            call.machine.append_numbered_message(15647, name)


# --- indexes and constraints of a table --------------------------------------------------------------------


def _require_table(call: ProcedureCall) -> tuple[str, Table]:
    """Return (name as written in @objname, table with that name).

    Raises 15009 for an unknown table, 15250 for a table in another database.
    """
    name = call.get_text("@objname")
    parts = tuple(part.strip('[]"') for part in name.split("."))
    if len(parts) > 2 and parts[-3] and parts[-3].lower() != call.database.lower():
        raise SqlError(15250)
    help_object = find_described_object(call, parts) if name else None
    if not isinstance(help_object, Table):
        raise SqlError(15009, name, call.database)
    return name, help_object


def _execute_help_index(call: ProcedureCall) -> None:
    _show_indexes(call, *_require_table(call))


def _show_indexes(call: ProcedureCall, name: str, table: Table) -> None:
    """Show the indexes of a table, or message 15472 without indexes (sp_helpindex)."""
    kinds = {
        "PRIMARY KEY": ", unique, primary key",
        "UNIQUE": ", unique, unique key",
        "UNIQUE INDEX": ", unique",
    }
    rows = [
        (
            key.name,
            f"{'clustered' if key.clustered else 'nonclustered'}"
            f"{', ignore duplicate keys' if key.ignore_duplicates else ''}"
            f"{kinds.get(key.kind, '')} located on PRIMARY",
            ", ".join(column + "(-)" * (column in key.descending) for column in key.columns),
        )
        for key in table.constraints
        if isinstance(key, Key)
    ]
    if not rows:
        call.machine.append_numbered_message(15472, name)
        return
    rows.sort(key=lambda row: row[0].lower())
    call.machine.add_result(("index_name", "index_description", "index_keys"), rows)


def _execute_help_constraint(call: ProcedureCall) -> None:
    name, table = _require_table(call)
    if call.get_text("@nomsg").lower() != "nomsg":
        call.machine.add_result(("Object Name",), [(name,)])
    _show_constraints(call, name, table)


NOT_APPLICABLE: Final = ("(n/a)",)


def _show_constraints(call: ProcedureCall, name: str, table: Table) -> None:
    """Show the constraints of a table, then the foreign keys that refer to it (sp_helpconstraint).

    Messages 15469 and 15470 replace an empty result.
    """
    rows: list[Row] = []
    database, own_name = (
        call.database,
        _get_spelled_name(call, tuple(part.strip('[]"') for part in name.split("."))),
    )
    for item in table.constraints:
        match item:
            case Check(columns=columns, text=text):
                column_text = f"on column {columns[0]}" if columns else "Table Level "
                state = ("Disabled" if item.disabled else "Enabled", "Is_For_Replication")
                rows.append((f"CHECK {column_text}", item.name, *NOT_APPLICABLE * 2, *state, f"({text})"))
            case ForeignKey(columns=columns, table=parent, references=targets):
                enabled = "Disabled" if item.disabled else "Enabled"
                actions = ("No Action", "No Action", enabled, "Is_For_Replication")
                rows.append(("FOREIGN KEY", item.name, *actions, ", ".join(columns)))
                description = (
                    f"REFERENCES {database}.{objects.format_qualified_name(parent)} ({', '.join(targets)})"
                )
                rows.append((*(" ",) * 6, description))
            case Key(kind="PRIMARY KEY" | "UNIQUE", columns=columns):
                description = f"{item.kind} ({'clustered' if item.clustered else 'non-clustered'})"
                rows.append((description, item.name, *NOT_APPLICABLE * 4, ", ".join(columns)))
    for row in catalog.list_view_rows(call.machine.context, "sys.default_constraints"):
        column = (
            table.columns[int(str(row["parent_column_id"])) - 1]
            if row["parent_object_id"] == catalog.get_object_id(call.machine.context, name)
            else None
        )
        if column is not None:
            description = f"DEFAULT on column {column.name}"
            rows.append((description, row["name"], *NOT_APPLICABLE * 4, row["definition"]))
    if rows:
        columns_shown = (
            "constraint_type", "constraint_name", "delete_action", "update_action", "status_enabled",
            "status_for_replication", "constraint_keys",
        )  # fmt: skip
        call.machine.add_result(columns_shown, rows)
    else:
        call.machine.append_numbered_message(15469, name)
    tables_by_id = {
        row["object_id"]: row for row in catalog.list_view_rows(call.machine.context, "sys.tables")
    }
    referring = [
        f"{database}.dbo.{to_text(tables_by_id[row['parent_object_id']]['name'])}: {to_text(row['name'])}"
        for row in catalog.list_view_rows(call.machine.context, "sys.foreign_keys")
        if to_text(tables_by_id.get(row["referenced_object_id"], {}).get("name")).lower() == own_name.lower()
    ]
    if referring:
        call.machine.add_result(
            ("Table is referenced by foreign key",), [(line,) for line in sorted(referring)]
        )
    else:
        call.machine.append_numbered_message(15470, name)


# --- columns -----------------------------------------------------------------------------------------------


def _show_columns(call: ProcedureCall, columns: Iterable[tuple[str, str, bool | None]]) -> None:
    """Show the columns of an object.

    *columns*: (name, type, nullable). *nullable* is None if it is unknown.
    """
    rows: list[Row] = []
    for name, kind, nullable in columns:
        type_name, length, precision, scale = _get_type_sizes(kind)
        trimmed = type_name in _TRIMMED_TYPES
        nullable_text = None if nullable is None else "yes" if nullable else "no"
        rows.append(
            (
                name,
                type_name,
                "no",
                None if nullable is None and type_name in _SIZED_TYPES else length,
                *_format_digits(precision, scale),
                nullable_text,
                "no" if trimmed else "(n/a)",
                nullable_text if trimmed else "(n/a)",
                _get_collation(call, type_name),
            )
        )
    call.machine.add_result(_HELP_COLUMNS, rows)


def _show_parameters(call: ProcedureCall, parameters: Iterable[tuple[str, str]]) -> None:
    rows: list[Row] = []
    for index, (name, kind) in enumerate(parameters, start=1):
        type_name, length, precision, scale = _get_type_sizes(kind)
        rows.append(
            (
                name,
                type_name,
                length,
                *_format_digits(precision, scale),
                index,
                _get_collation(call, type_name),
            )
        )
    names = ("Parameter_name", "Type", "Length", "Prec", "Scale", "Param_order", "Collation")
    call.machine.add_result(names, rows)


def _format_digits(precision: int | None, scale: int | None) -> tuple[Scalar, Scalar]:
    """Return precision and scale, padded as in SQL Server; blanks for types without precision."""
    if precision is None:
        return _BLANK_DIGITS, _BLANK_DIGITS
    return f"{precision:<5}", None if scale is None else f"{scale:<5}"


def _get_collation(call: ProcedureCall, type_name: str) -> Scalar:
    if type_name not in _COLLATED_TYPES and type_name != "sysname":
        return None
    rows = catalog.list_view_rows(call.machine.context, "sys.databases")
    return next((row["collation_name"] for row in rows if row["name"] == call.database), None)


def _get_type_sizes(kind: str) -> tuple[str, int, int | None, int | None]:
    """Return the name of a type, its size in bytes (-1 for max), precision and scale, as sp_help shows them."""
    row = build_type_record(kind)
    name = "sysname" if kind.lower() == "sysname" else to_text(row["DATA_TYPE"])
    size, digits, scale = (int(str(row[column])) for column in ("max_length", "precision", "scale"))
    if name not in _TYPES_WITH_PRECISION:
        return name, size, None, None
    return name, size, digits, None if name in ("float", "real") else scale


def _show_identity(call: ProcedureCall, numbered: Row | None) -> None:
    row = numbered or ("No identity column defined.", None, None, None)
    call.machine.add_result(("Identity", "Seed", "Increment", "Not For Replication"), [row])
    call.machine.add_result(("RowGuidCol",), [("No rowguidcol column defined.",)])


def _list_objects(call: ProcedureCall) -> None:
    """Show all objects of the database, user objects first. User-defined types are not shown."""
    context = call.machine.context
    own_rows: list[Row] = [
        (stored_object.name, stored_object.schema, _OBJECT_TYPES[objects.get_type_code(item).strip()])
        for stored_object, item in objects.list_objects(context)
    ]
    own_rows.sort(key=lambda row: to_text(row[2]), reverse=True)  # the sort is stable: names stay in order
    system: list[Row] = [
        (row["name"], "sys", "view") for row in catalog.list_view_rows(context, "sys.system_views")
    ]
    call.machine.add_result(("Name", "Owner", "Object_type"), [*own_rows, *system])
    call.machine.report_unsimulated("other system objects in the list of sp_help")


# --- sp_rename of tables, procedures, views and columns [DOC: sp_rename] ----------------------------------


def _execute_rename(call: ProcedureCall) -> None:
    """Execute sp_rename: rename an object, constraint, column or index.

    Raises 15225 or 15248 if the old name does not exist, and 15335 if the new name exists. Raises 15336 if a
    schema-bound object or an expression depends on the old name.
    """
    context, old, new = call.machine.context, call.get_text("@objname"), call.get_text("@newname")
    kind = (call.get_text("@objtype") or "").upper()
    if kind not in ("", "OBJECT", "COLUMN", "INDEX"):
        raise UnsimulatedFeatureError(f"sp_rename of an item of type {kind}")
    parts = tuple(part.strip('[]"') for part in old.split("."))
    if any(part.startswith("#") for part in parts):
        raise UnsimulatedFeatureError("sp_rename of a temp table")
    stored_object = objects.locate_object(context, parts)[1] if kind in ("", "OBJECT") else None
    if stored_object is not None and not isinstance(stored_object.item, objects.Schema):
        _rename_object(call, stored_object, parts, new)
    elif not (
        (kind in ("", "OBJECT") and _rename_constraint(context, parts, new))
        or (kind != "OBJECT" and len(parts) > 1 and _rename_column_or_index(context, parts, kind, old, new))
    ):
        raise (
            SqlError(15248, kind)
            if kind in ("COLUMN", "INDEX")
            else SqlError(15225, old, context.session.database, kind or "(null)")
        )
    call.machine.append_numbered_message(15477)


def _rename_object(
    call: ProcedureCall, stored_object: objects.StoredObject, parts: NameParts, new_name: str
) -> None:
    context = call.machine.context
    if schema_binding.is_schema_bound(context, parts):
        raise SqlError(15336, call.get_text("@objname"))
    if objects.find_object(context, (stored_object.schema, new_name)) is not None:
        raise SqlError(15335, new_name, "object")
    item = stored_object.item
    if isinstance(item, Table):
        item = replace(item, columns=_name_defaults(stored_object.name, item))
    objects.move_object(context, stored_object, replace(stored_object, name=new_name, item=item))
    _change_references(
        context,
        (stored_object.schema, stored_object.name),
        lambda key: replace(key, table=(stored_object.schema, new_name)),
    )


def _name_defaults(name: str, table: Table) -> tuple[ColumnDefinition, ...]:
    """Return the columns of *table*, with an explicit name for every DEFAULT constraint.

    Unnamed constraints get their generated names, so that renaming the table does not change these
    names. *name*: name of the table before the renaming.
    """
    return tuple(
        replace(column, default_name=constraints.get_default_name(name, column)) if column.default else column
        for column in table.columns
    )


def _change_references(
    context: StatementContext, table: NameParts, change: Callable[[ForeignKey], ForeignKey]
) -> None:
    """Apply *change* to all foreign keys that refer to *table*."""
    key = objects.make_object_key(table)
    for stored, item in objects.list_objects(context):
        if isinstance(item, Table) and any(_is_reference_to(rule, key) for rule in item.constraints):
            rules = tuple(
                change(rule) if isinstance(rule, ForeignKey) and _is_reference_to(rule, key) else rule
                for rule in item.constraints
            )
            objects.store_object(context, (stored.schema, stored.name), replace(item, constraints=rules))


def _is_reference_to(rule: Constraint, key: str) -> bool:
    return isinstance(rule, ForeignKey) and objects.make_object_key(rule.table) == key


def _rename_constraint(context: StatementContext, parts: NameParts, new_name: str) -> bool:
    """Rename a key, CHECK constraint or foreign key. Return False if the schema does not contain it."""
    schema = (len(parts) > 1 and parts[-2].lower()) or "dbo"
    for stored, item in objects.list_objects(context):
        if not isinstance(item, Table) or stored.schema.lower() != schema:
            continue
        names = [
            rule.name.lower()
            for rule in item.constraints
            if not isinstance(rule, Key) or rule.kind in ("PRIMARY KEY", "UNIQUE")
        ]
        if parts[-1].lower() in names:
            if (
                new_name.lower() in names
                or objects.find_object(context, (stored.schema, new_name)) is not None
            ):
                raise SqlError(15335, new_name, "object")
            _rename_constraint_of_table(context, (stored.schema, stored.name), item, parts[-1], new_name)
            return True
    return False


def _rename_constraint_of_table(
    context: StatementContext, owner: NameParts, table: Table, old_name: str, new_name: str
) -> None:
    rules = tuple(
        replace(rule, name=new_name) if rule.name.lower() == old_name.lower() else rule
        for rule in table.constraints
    )
    objects.store_object(context, owner, replace(table, constraints=rules))


def _rename_column_or_index(
    context: StatementContext, parts: NameParts, kind: str, old_name: str, new_name: str
) -> bool:
    """Rename a column or index of a table. Return False if it does not exist."""
    owner, name = parts[:-1], parts[-1]
    _, stored_object = objects.locate_object(context, owner)
    table = stored_object.item if stored_object is not None else None
    if stored_object is None or not isinstance(table, Table):
        return False
    used_names = [column.name.lower() for column in table.columns]
    if kind == "INDEX" or name.lower() not in used_names:
        used_names = [rule.name.lower() for rule in table.constraints if isinstance(rule, Key)]
        if kind == "COLUMN" or name.lower() not in used_names:
            return False
        if new_name.lower() in used_names:
            raise SqlError(15335, new_name, "INDEX")
        _rename_constraint_of_table(context, owner, table, name, new_name)
        return True
    if new_name.lower() in used_names:
        raise SqlError(15335, new_name, "COLUMN")
    texts = [rule.text for rule in table.constraints if isinstance(rule, Check)]
    texts += [rule.filter for rule in table.constraints if isinstance(rule, Key)]
    texts += [column.computed for column in table.columns]
    if schema_binding.is_schema_bound(context, owner, name) or any(
        schema_binding.contains_identifier(tokenize(text), name) for text in texts if text
    ):
        raise SqlError(15336, old_name)

    def replace_name(names: NameParts) -> NameParts:
        return tuple(
            new_name if column_name.lower() == name.lower() else column_name for column_name in names
        )

    def rename_in_constraint(rule: Constraint) -> Constraint:
        rule = replace(rule, columns=replace_name(rule.columns))
        if isinstance(rule, Key):
            rule = replace(
                rule, included=replace_name(rule.included), descending=replace_name(rule.descending)
            )
        return rule

    columns = tuple(
        replace(column, name=new_name) if column.name.lower() == name.lower() else column
        for column in _name_defaults(stored_object.name, table)
    )
    objects.store_object(
        context,
        owner,
        replace(table, columns=columns, constraints=tuple(map(rename_in_constraint, table.constraints))),
    )
    _change_references(
        context,
        (stored_object.schema, stored_object.name),
        lambda key: replace(key, references=replace_name(key.references)),
    )
    return True


PROCEDURES: Final[Procedures] = {
    "sp_help": _execute_help,
    "sp_helpindex": _execute_help_index,
    "sp_helpconstraint": _execute_help_constraint,
    "sp_rename": _execute_rename,
}
