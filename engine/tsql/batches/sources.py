"""Sources that queries name: user tables and views, temp tables, catalog views and remote tables.

This module also stores changed tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from engine.messages import SqlError
from engine.tsql import catalog
from engine.tsql.batches import access_paths, constraints, locks, objects, tables
from engine.tsql.batches.context import (
    PERMISSION_FILTERED_VIEWS,
    SESSION_ID_COLUMNS,
    StatementContext,
    can_login_see_rows,
    has_server_permission,
    is_sysadmin,
    require_view_state,
)
from engine.tsql.batches.data import Row, Table
from engine.tsql.batches.row_locks import ReadRows
from engine.tsql.catalog import counters, schema
from engine.tsql.catalog.locks import VIEWS_WITHOUT_CLIENTS, has_client_transactions
from engine.tsql.catalog.view import UNSIMULATED_COLUMNS_KEY, has_view
from engine.tsql.clients import linked_servers
from engine.tsql.query import plans
from engine.tsql.query.plans import QueryPlan, TableRef, UnsimulatedFeatureError
from engine.tsql.query.scratch_database import (
    SCRATCH_OPENING_WORK,
    Columns,
    TableSource,
    open_scratch_database,
)
from engine.tsql.scalars.types import SqlType, parse_sql_type
from engine.tsql.scalars.values import to_text

if TYPE_CHECKING:
    from engine.tsql.batches.machine import ExecutionMachine

TEMP_TABLES_MAX: Final = 100
"""Maximum number of temp tables in one connection. Assumed."""


_TABLE_FUNCTIONS: Final = """
containstable freetexttable openrowset opendatasource openxml openjson string_split generate_series fn_dblog
fn_dump_dblog fn_trace_gettable fn_trace_getinfo fn_trace_geteventinfo fn_trace_getfilterinfo fn_virtualservernodes
fn_servershareddrives fn_virtualfilestats fn_get_sql fn_listextendedproperty fn_get_audit_file
fn_xe_file_target_read_file fn_physloccracker fn_rowdumpcracker fn_stmt_sql_handle_from_sql_stmt
fn_check_object_signatures fn_translate_permissions semantickeyphrasetable semanticsimilaritytable changetable predict
"""
UNSIMULATED_TABLE_FUNCTIONS: Final = frozenset(_TABLE_FUNCTIONS.split())
"""Table-valued functions of the product that are not simulated.

Functions dm_… are not listed here, because they are described like views. Documented [DOC: rowset
functions].
"""

WORK_PER_INSERTED_ROW: Final = 3
"""Work units (work.py) of inserting a row into a table. Measured."""


def fetch_source(machine: ExecutionMachine, ref: TableRef) -> tuple[Columns, TableSource]:
    """Return the columns and rows of the source that *ref* names.

    Raises 208, 1087, 7202 and others, or UnsimulatedFeatureError.
    """
    if ref.query:
        return _read_remote_rows(machine, ref)
    if ref.call:
        name = ref.parts[-1].lower().removesuffix("()")
        if name not in UNSIMULATED_TABLE_FUNCTIONS and not has_view(f"sys.{name}()", machine.context.version):
            parts = (*ref.parts[:-1], name)
            if not isinstance(
                _find_user_object(machine, replace(ref, parts=parts)), Table | objects.UserView
            ):
                catalog.find_view(machine.context, parts)
            raise SqlError(215, ".".join(parts))
        raise UnsimulatedFeatureError(f"the function {ref.dotted}")
    ref = remove_own_server(machine, ref)
    context, parts = machine.context, ref.parts
    if len(parts) == 4:
        context, parts = linked_servers.build_remote_context(machine, parts[0]), parts[1:]
    else:
        user_table = _read_table(machine, ref)
        if user_table is not None and ref.key != machine.changing:
            require_permission(machine, ref, "SELECT")
        if isinstance(user_table, Table):
            return tuple((column.name, column.type) for column in user_table.columns), user_table.rows
        if isinstance(user_table, objects.UserView):
            try:
                return _compute_view_rows(machine, user_table, ref)
            except SqlError as problem:
                if problem.number in _BINDING_ERRORS:
                    problem.also, problem.title = (*problem.also, 4413), ref.dotted
                raise
    catalog_view = catalog.find_view(context, parts)
    if machine.checks_permissions and len(ref.parts) < 4:
        require_view_state(context, catalog_view.name)
        if not can_login_see_rows(context, catalog_view.name):
            catalog_view = replace(catalog_view, rows=lambda _context: ())
    database = catalog.find_database(context, parts) or context.session.database
    if database.lower() != context.session.database.lower():
        context = context.build_database_context(database)
    columns = tuple(
        (column.name, column.type) for column in catalog_view.list_version_columns(context.version)
    )
    if catalog_view.name.startswith(PERMISSION_FILTERED_VIEWS) and not is_sysadmin(context):
        catalog_view = _hide_unpermitted_objects(context, catalog_view)
    if (
        machine.checks_permissions
        and catalog_view.name in SESSION_ID_COLUMNS
        and catalog_view.rows is not None
    ):
        catalog_view = _restrict_to_own_session(context, catalog_view)
    return columns, partial(_list_view_rows, machine, context, catalog_view)


def remove_own_server(machine: ExecutionMachine, ref: TableRef) -> TableRef:
    """Return *ref* without its server name if it names the server of the connection."""
    is_own = len(ref.parts) == 4 and ref.parts[0].lower() == machine.session.server.lower()
    return replace(ref, parts=ref.parts[1:]) if is_own else ref


_BINDING_ERRORS: Final = frozenset({207, 208, 4104})
"""Errors in a view's query after which message 4413 follows. It names the view."""


def _restrict_to_own_session(context: StatementContext, view: catalog.CatalogView) -> catalog.CatalogView:
    """Return the view.

    If the login lacks VIEW SERVER STATE, the view shows only the connection's own session.
    """
    rows, column = view.rows, SESSION_ID_COLUMNS[view.name]
    if rows is None or has_server_permission(context, "VIEW SERVER STATE"):
        return view
    own_spid = context.session.spid
    return replace(view, rows=lambda context: [row for row in rows(context) if row[column] == own_spid])


def _hide_unpermitted_objects(context: StatementContext, view: catalog.CatalogView) -> catalog.CatalogView:
    """Return the view without the objects on which the connection has no permission."""
    rows, hidden = view.rows, objects.list_hidden_objects(context)
    if rows is None or not hidden:
        return view
    ids = {item.object_id for item in hidden}
    names = {(item.schema.lower(), item.name.lower()) for item in hidden}

    def is_shown(row: catalog.Record) -> bool:
        named = (to_text(row.get("TABLE_SCHEMA")).lower(), to_text(row.get("TABLE_NAME")).lower())
        return not ({row.get("object_id"), row.get("parent_object_id")} & ids or named in names)

    return replace(view, rows=lambda context: [row for row in rows(context) if is_shown(row)])


def _list_view_rows(
    machine: ExecutionMachine,
    context: StatementContext,
    view: catalog.CatalogView,
    column_names: Sequence[str],
) -> Iterable[Row]:
    """Yield the columns *column_names* of each row of a system view. Report columns that are not simulated."""
    if view.rows is None:
        machine.report_partly_simulated(f"the rows of {view.name}; it is empty here")
        return
    constant_columns = catalog.find_constant_columns(view.shape.name)
    unknown, has_rows, partly = set(column_names).difference(constant_columns), False, set[str]()
    for record in view.rows(context):
        has_rows = True
        if UNSIMULATED_COLUMNS_KEY in record:
            partly.update(to_text(record[UNSIMULATED_COLUMNS_KEY]).split())
        if unknown:
            unknown.difference_update(record)
        yield tuple(record[name] if name in record else constant_columns.get(name) for name in column_names)
    silent = [name for name in column_names if name in unknown]
    partly &= {*column_names}
    if partly:
        machine.report_partly_simulated(
            f"{', '.join(sorted(partly))} of some rows in {view.name}; NULL there"
        )
    if view.name in VIEWS_WITHOUT_CLIENTS and has_client_transactions(context):
        machine.report_partly_simulated(f"the transactions of client programs in {view.name}")
    if has_rows and silent:
        columns = "column" if len(silent) == 1 else "columns"
        machine.report_partly_simulated(f"{columns} {', '.join(silent)} of {view.name}; NULL here")


_COUNTER_VIEWS: Final = frozenset({"dm_os_performance_counters", "sysperfinfo"})
"""Views with performance counters."""


def report_constant_counters(machine: ExecutionMachine, plan: QueryPlan, rows: Sequence[Row]) -> None:
    """Report that a query uses performance counters that do not change in the simulation."""
    if not any(ref.parts and ref.parts[-1].lower() in _COUNTER_VIEWS for ref in plan.tables):
        return
    shown_names = {value.strip().casefold() for row in rows for value in row if isinstance(value, str)}
    query_text = plan.sql.casefold()
    idle = sorted(
        name
        for name in counters.list_constant_counters(machine.context)
        if name.casefold() in shown_names or name.casefold() in query_text
    )
    if idle:
        more_text = f" and {len(idle) - 5} others" if len(idle) > 5 else ""
        machine.report_partly_simulated(
            f"what moves the counters {', '.join(idle[:5])}{more_text}; they stay 0 or NULL here"
        )


def describe_columns(machine: ExecutionMachine, ref: TableRef) -> plans.Columns | None:
    """Return the columns of the source that *ref* names; None if they are unknown before it is read.

    Raises 208, 1087, 7202 and others, or UnsimulatedFeatureError.
    """
    if ref.query or ref.call:
        return None
    ref = remove_own_server(machine, ref)
    context, parts = machine.context, ref.parts
    if len(parts) == 4:
        context, parts = linked_servers.build_remote_context(machine, parts[0]), parts[1:]
    else:
        user_object = _find_user_object(machine, ref)
        if isinstance(user_object, Table):
            _check_index_hints(ref, user_object)
            return tuple(
                plans.Column(column.name, parse_column_type(column.type), column.nullable)
                for column in user_object.columns
            )
        if isinstance(user_object, objects.UserView):
            return user_object.columns
        if isinstance(user_object, objects.UserFunction) and not user_object.returns:
            raise SqlError(216, ref.dotted)
    catalog_view = catalog.find_view(context, parts)
    return tuple(
        plans.Column(column.name, parse_column_type(column.type, 4000))
        for column in catalog_view.list_version_columns(context.version)
    )


def _check_index_hints(ref: TableRef, table: Table) -> None:
    """Raise 307 (ID) or 308 (name) for an index in a hint that the table does not have.

    ID 0 means the table itself, even with a clustered index [DOC: table hints].
    """
    indexes = list(schema.list_table_indexes(table))
    ids = {0, *(number for number, _ in indexes)}
    names = {key.name.upper() for _, key in indexes if key is not None}
    for hint in sorted(ref.hints):
        name = hint.removeprefix("INDEX ")
        if name == hint:
            continue
        if name.isdigit():
            if int(name) not in ids:
                raise SqlError(307, int(name), ref.dotted)
        elif name not in names:
            raise SqlError(308, name, ref.dotted)


def parse_column_type(type_text: str, default_length: int = 1) -> SqlType | None:
    """Return the type of a column; None for an unknown type."""
    try:
        return parse_sql_type(type_text, default_length)
    except SqlError:
        return None


def _read_remote_rows(machine: ExecutionMachine, ref: TableRef) -> tuple[Columns, Iterable[Row]]:
    """Execute OPENQUERY(server, 'query') and return the columns and rows of its result."""
    context = linked_servers.build_remote_context(machine, ref.parts[0])
    remote_machine = machine.create_sibling_machine(machine.run, context.session, machine.meter)
    machine.meter.count_units(SCRATCH_OPENING_WORK)
    scratch = open_scratch_database(context, partial(fetch_source, remote_machine), machine.meter)
    try:
        machine.meter.enter_view()
        column_names, rows = scratch.run_query(
            remote_machine.plan_text("statement", ref.query), remote_machine.get_variable_value
        )
    finally:
        machine.meter.leave_view()
        scratch.close()
    remote_table = tables.build_select_into_table(column_names, rows)
    return tuple((column.name, column.type) for column in remote_table.columns), rows


def _find_user_object(machine: ExecutionMachine, ref: TableRef) -> objects.UserObject | None:
    """Return the temp table, table variable or user object that *ref* names; None if there is none.

    Raises 1087 for an unknown table variable, 208 for an unknown temp table.
    """
    name = ref.parts[-1].lower()
    if name in machine.pseudo and len(ref.parts) == 1:
        return machine.pseudo[name]
    if name.startswith("@"):
        if name not in machine.scope.tables:
            raise SqlError(1087, ref.parts[-1])
        return machine.scope.tables[name]
    if name.startswith("#"):
        session_table = dict(machine.session.tables).get(name) or find_global_temp_table(machine, name)
        if session_table is None:
            raise SqlError(208, ref.parts[-1])
        return session_table
    return objects.find_object(machine.context, ref.parts)


def find_global_temp_table(machine: ExecutionMachine, name: str) -> Table | None:
    """Return a global temp table of any connection; None if there is none.

    All connections see it [DOC: CREATE TABLE, temporary tables].
    """
    if not name.startswith("##"):
        return None
    tables_there = (dict(session.tables) for _, session in machine.context.list_sessions())
    return next((global_tables[name] for global_tables in tables_there if name in global_tables), None)


def _read_table(machine: ExecutionMachine, ref: TableRef) -> objects.UserObject | None:
    """Return the table or view for a query, with the locks that the query needs.

    Raises LockConflictError if the query must wait.
    """
    user_object, name = _find_user_object(machine, ref), ref.parts[-1].lower()
    if not isinstance(user_object, Table) or name.startswith(("#", "@")) or name in machine.pseudo:
        return user_object
    hints = locks.collect_hints(machine.context, ref.hints)
    object_key = objects.locate_object(machine.context, ref.parts)[0]
    changes = ref.key == machine.changing
    if "READPAST" in hints:
        row_mode = locks.get_row_mode(hints, is_change=changes)
        user_object = objects.exclude_locked_rows(machine.context, object_key, user_object, row_mode)
    table = user_object

    def find_rows() -> ReadRows:
        committed = objects.read_object(machine.context, object_key, include_other_sessions=False)
        versions = [table]
        if committed is not None and isinstance(committed.item, Table) and "READPAST" not in hints:
            versions.append(committed.item)
        machine.meter.charge_units(table.cells)
        return access_paths.find_read_rows(
            machine, ref, object_key, versions, partial(find_user_table, machine)
        )

    locks.lock_for_read(machine, object_key, hints, find_rows, is_change=changes)
    return table


def require_permission(machine: ExecutionMachine, ref: TableRef, permission: str) -> None:
    """Raise 229 if the connection lacks *permission* on an object that is not temporary.

    An ownership chain makes the permission unnecessary.
    """
    if (
        machine.checks_permissions
        and not ref.parts[-1].startswith(("#", "@"))
        and ref.key not in machine.pseudo
    ):
        objects.require_permission(machine.context, ref.parts, permission)


def find_user_table(machine: ExecutionMachine, ref: TableRef) -> Table | None:
    """Return the user table that *ref* names; None if there is no such table."""
    try:
        user_object = _find_user_object(machine, ref) if len(ref.parts) < 4 else None
    except SqlError:
        return None
    return user_object if isinstance(user_object, Table) else None


def _compute_view_rows(
    machine: ExecutionMachine, view: objects.UserView, ref: TableRef
) -> tuple[Columns, Iterable[Row]]:
    """Return the columns and rows of a view. A separate scratch database computes them."""
    machine.meter.count_units(SCRATCH_OPENING_WORK)
    scratch = open_scratch_database(machine.context, partial(fetch_source, machine), machine.meter)
    chained, machine.chained = machine.chained, True
    database = machine.session.database
    if len(ref.parts) > 2 and ref.parts[0]:
        machine.change_session(database=machine.context.get_spelled_name(ref.parts[0]))
    try:
        machine.meter.enter_view()
        plan = machine.plan_text("statement", view.query)
        plan = replace(plan, tables=access_paths.push_conditions(plan.tables, plan.origins, ref))
        column_names, rows = scratch.run_query(plan, machine.get_variable_value)
    finally:
        machine.chained = chained
        if machine.session.database != database:
            machine.change_session(database=database)
        machine.meter.leave_view()
        scratch.close()
    view_table = tables.build_select_into_table(column_names, rows)
    return tuple((column.name, column.type) for column in view_table.columns), rows


def require_changeable_table(machine: ExecutionMachine, ref: TableRef) -> Table:
    """Return the table that *ref* names if a statement may change it.

    Raises 208 or 1087 for a missing table, 259 for a system view, or UnsimulatedFeatureError.
    """
    user_object = _find_user_object(machine, ref)
    if isinstance(user_object, Table):
        return user_object
    if user_object is not None:
        raise UnsimulatedFeatureError("changes through a view")
    catalog_view = catalog.find_view(machine.context, ref.parts)
    if catalog_view.name.startswith("msdb.dbo."):  # in the product, sysadmin may change these tables directly
        raise UnsimulatedFeatureError(f"direct changes to {catalog_view.name}, without its procedures")
    raise SqlError(259)


def store_table(machine: ExecutionMachine, ref: TableRef, new_table: Table) -> None:
    """Store the new version of a table."""
    name = ref.parts[-1].lower()
    machine.meter.charge_units(new_table.cells // 20)
    machine.check_capacity(new_table)
    if name.startswith("@"):
        machine.scope.tables[name] = new_table
    elif name.startswith("#"):
        if name not in dict(machine.session.tables) and find_global_temp_table(machine, name) is not None:
            raise UnsimulatedFeatureError("changes to a global temporary table of another connection")
        machine.change_session(tables=tuple({**dict(machine.session.tables), name: new_table}.items()))
    else:
        objects.store_object(machine.context, ref.parts, new_table)


def change_table(
    machine: ExecutionMachine, ref: TableRef, old_table: Table, new_table: Table, verb: str
) -> Table:
    """Store *new_table*, which differs from *old_table* only in its rows. Return the stored table.

    Raises constraint errors.
    """
    require_permission(machine, ref, verb)
    new_table = constraints.enforce_constraints(machine, ref, old_table, new_table, verb)
    store_table(machine, ref, new_table)
    return new_table


def qualify_error_table_name(machine: ExecutionMachine, ref: TableRef, problem: SqlError) -> None:
    """Add the qualified table name to the error of a data change.

    Error 515 gets the database and schema. From SQL Server 2019 on, error 8152 can become 2628, which also
    names the table. Raises UnsimulatedFeatureError for a text that ANSI_WARNINGS OFF would truncate.
    """
    if problem.number == 8152 and dict(machine.session.options).get("ANSI_WARNINGS") == "OFF":
        raise UnsimulatedFeatureError(
            "texts that are cut to the length of their column under ANSI_WARNINGS OFF"
        )
    if problem.number == 8152 and problem.parameters and machine.context.reports_truncated_value:
        default_database = "tempdb" if ref.parts[-1].startswith("#") else machine.session.database
        problem.number, problem.state = 2628, 1
        problem.parameters = (
            f"{default_database}.{objects.format_qualified_name(ref.parts)}",
            *problem.parameters,
        )
    if problem.number == 515 and not ref.parts[-1].startswith(("#", "@")):
        column, name, verb = problem.parameters
        database = ref.parts[0] if len(ref.parts) == 3 else machine.session.database
        problem.parameters = (
            column,
            f"{database}.{objects.format_qualified_name((*ref.parts[:-1], str(name)))}",
            verb,
        )


def insert_rows(machine: ExecutionMachine, ref: TableRef, columns: tuple[str, ...], rows: list[Row]) -> int:
    """Insert rows and return their number. Raises the errors of column types and constraints."""
    machine.meter.charge_units(len(rows) * WORK_PER_INSERTED_ROW)
    before = require_changeable_table(machine, ref)
    require_permission(machine, ref, "INSERT")
    has_identity_insert = (
        dict(machine.session.options).get("IDENTITY_INSERT", "").lower() == ref.parts[-1].lower()
    )
    start = tables.skip_lost_identity_values(before, machine.context.server)
    try:
        new_table, identity = tables.insert_rows(
            ref.parts[-1], start, columns, rows, machine.evaluate_expression, has_identity_insert
        )
        if not ref.parts[-1].startswith(("#", "@")):
            new_table = tables.update_identity_cache(
                new_table, start.next_identity, identity, machine.context.server
            )
        new_table = constraints.enforce_constraints(machine, ref, before, new_table, "INSERT")
    except SqlError as problem:
        machine.used_identity = _consume_identity_values(ref, start, columns, len(rows), problem.number)
        qualify_error_table_name(machine, ref, problem)
        if problem.number in (2601, 2627) and not ref.parts[-1].startswith(
            ("#", "@")
        ):  # the duplicate may be an uncommitted row of another session
            object_key = objects.locate_object(machine.context, ref.parts)[0]
            locks.require_row_locks(machine.context, object_key, locks.SHARED)
        raise
    store_table(machine, ref, new_table)
    if identity is not None:
        machine.change_session(identity=identity, scope_identity=identity)
    return len(new_table.rows) - len(before.rows)


def _consume_identity_values(
    ref: TableRef, start: Table, columns: tuple[str, ...], rows: int, number: int
) -> tuple[TableRef, Table] | None:
    """Return (*ref*, table with a higher next identity value) after a failed INSERT.

    Return None if the INSERT used no identity values. The identity values of an INSERT that a
    constraint refuses are lost [DOC: IDENTITY property, Remarks].
    """
    identity = next((column for column in start.columns if column.identity is not None), None)
    if number not in (515, 547, 2601, 2627) or identity is None or identity.identity is None:
        return None
    if identity.name.lower() in {name.lower() for name in columns}:
        return None
    return ref, replace(start, next_identity=start.next_identity + identity.identity[1] * rows)


def make_hidden_name(name: str, depth: int) -> str:
    """Return the key under which a caller's temp table is hidden.

    The table is hidden while a frame at *depth* has a temp table with the same *name*. [DOC: CREATE
    TABLE, temporary tables].
    """
    return f"{name}\n{depth}"


def restore_temp_tables(
    current: tuple[tuple[str, Table], ...], names: tuple[str, ...]
) -> tuple[tuple[str, Table], ...]:
    """Return the temp tables of a calling frame after the called frame has ended.

    Hidden tables get their own names again. *current*: temp tables of the session. *names*: names of the
    caller's temp tables before the call.
    """
    tables_by_name = dict(current)
    restored: list[tuple[str, Table]] = []
    for name in names:
        hidden = [key for key in tables_by_name if key.rpartition("\n")[0] == name and key not in names]
        key = hidden[0] if hidden else name
        if key in tables_by_name:
            restored.append((name, tables_by_name[key]))
    return tuple(restored)


def create_table(machine: ExecutionMachine, ref: TableRef, new_table: Table) -> None:
    """Store a new table. Raise 2714 if the name is in use."""
    name = ref.parts[-1].lower()
    if not name.startswith("#"):
        objects.create_or_alter_object(machine.context, ref.parts, new_table)
        return
    outer = machine.scope.outside
    own_tables = dict(machine.session.tables)
    if name in own_tables and not name.startswith("##") and outer is not None and name in outer.tables:
        hidden = make_hidden_name(name, len(machine.scopes))
        if hidden not in own_tables:  # a nested procedure hides the table of its caller
            own_tables[hidden] = own_tables.pop(name)
            machine.change_session(tables=tuple(own_tables.items()))
    if name in own_tables or find_global_temp_table(machine, name) is not None:
        raise SqlError(2714, ref.parts[-1])
    if len(machine.session.tables) >= TEMP_TABLES_MAX:
        raise UnsimulatedFeatureError(f"more than {TEMP_TABLES_MAX} temp tables of one connection")
    store_table(machine, ref, new_table)
