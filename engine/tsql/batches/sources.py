"""What a table name in a query means to a running batch: its own tables, those that scripts made, catalog views."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from engine.messages import SqlError
from engine.tsql import catalog
from engine.tsql.batches import constraints, locks, objects, tables
from engine.tsql.batches.context import Context
from engine.tsql.batches.data import Row, Table
from engine.tsql.catalog import counters
from engine.tsql.catalog.known import known
from engine.tsql.clients import linked_servers
from engine.tsql.query import names
from engine.tsql.query.plans import Plan, TableRef, Unsimulated
from engine.tsql.query.scratch import SCRATCH_WORK, Columns, Source, scratch_for
from engine.tsql.scalars.types import SqlType, type_of

if TYPE_CHECKING:
    from engine.tsql.batches.machine import Machine

TABLES_MAX: Final = 100
"""Temp tables of one connection. Assumed."""


_TABLE_FUNCTIONS: Final = """
containstable freetexttable openrowset opendatasource openxml openjson string_split generate_series fn_dblog
fn_dump_dblog fn_trace_gettable fn_trace_getinfo fn_trace_geteventinfo fn_trace_getfilterinfo fn_virtualservernodes
fn_servershareddrives fn_virtualfilestats fn_get_sql fn_listextendedproperty fn_get_audit_file
fn_xe_file_target_read_file fn_physloccracker fn_rowdumpcracker fn_stmt_sql_handle_from_sql_stmt
fn_check_object_signatures fn_translate_permissions semantickeyphrasetable semanticsimilaritytable changetable predict
"""
TABLE_FUNCTIONS: Final = frozenset(_TABLE_FUNCTIONS.split())
"""Functions that return a table, that the product has and that are not simulated; dm_… have shapes of their own.
Documented [DOC: rowset functions]."""

INSERT_WORK: Final = 3
"""Work (work.py) of putting a row into a table. Measured."""


def fetch(machine: Machine, ref: TableRef) -> tuple[Columns, Source]:
    """Columns and rows of whatever a name in a query means. Raises 208, 1087, 7202 …, or Unsimulated."""
    if ref.query:
        return _rows_over_there(machine, ref)
    if ref.call:
        name = ref.parts[-1].lower().removesuffix("()")
        if name not in TABLE_FUNCTIONS and not known(f"sys.{name}()", machine.context.version):
            raise SqlError(208, ref.dotted.removesuffix("()"))
        raise Unsimulated(f"the function {ref.dotted}")
    context, parts = machine.context, ref.parts
    if len(parts) == 4:
        context, parts = linked_servers.context_of(machine, parts[0]), parts[1:]
    else:
        made = _read(machine, ref)
        if isinstance(made, Table):
            return tuple((column.name, column.type) for column in made.columns), made.rows
        if isinstance(made, objects.View):
            return _view_rows(machine, made)
    found = catalog.find(context, parts)
    database = catalog.database_of(context, parts) or context.session.database
    if database.lower() != context.session.database.lower():
        context = Context(context.world, replace(context.session, database=database))
    columns = tuple((column.name, column.type) for column in found.columns_in(context.version))
    return columns, partial(_view_records, machine, context, found)


def _view_records(
    machine: Machine, context: Context, found: catalog.View, wanted: Sequence[str]
) -> Iterable[Row]:
    """The columns *wanted* of a system view's rows; remarks those that none of the rows names."""
    if found.rows is None:
        machine.remark(f"the rows of {found.name}; it is empty here")
        return
    same = catalog.fixed(found.shape.name)
    unknown, some = set(wanted).difference(same), False
    for record in found.rows(context):
        some = True
        if unknown:
            unknown.difference_update(record)
        yield tuple(record[name] if name in record else same.get(name) for name in wanted)
    silent = [name for name in wanted if name in unknown]
    if some and silent:
        columns = "column" if len(silent) == 1 else "columns"
        machine.remark(f"{columns} {', '.join(silent)} of {found.name}; NULL here")


_COUNTERS: Final = frozenset({"dm_os_performance_counters", "sysperfinfo"})


def remark_counters(machine: Machine, plan: Plan, rows: Sequence[Row]) -> None:
    """A query that shows or names counters which nothing here moves is told so."""
    if not any(ref.parts and ref.parts[-1].lower() in _COUNTERS for ref in plan.tables):
        return
    shown = {value.strip().casefold() for row in rows for value in row if isinstance(value, str)}
    asked = plan.sql.casefold()
    idle = sorted(
        name
        for name in counters.without_source(machine.context)
        if name.casefold() in shown or name.casefold() in asked
    )
    if idle:
        more = f" and {len(idle) - 5} others" if len(idle) > 5 else ""
        machine.remark(f"what moves the counters {', '.join(idle[:5])}{more}; they stay 0 or NULL here")


def columns(machine: Machine, ref: TableRef) -> names.Columns | None:
    """The columns of a table with their types, without its rows; None if there is none or they cannot be told."""
    try:
        return described(machine, ref)
    except (SqlError, Unsimulated):
        return None


def described(machine: Machine, ref: TableRef) -> names.Columns | None:
    """The same; raises 208, 1087, 7202 … and Unsimulated where *columns* is silent."""
    if ref.query or ref.call:
        return None
    context, parts = machine.context, ref.parts
    if len(parts) == 4:
        context, parts = linked_servers.context_of(machine, parts[0]), parts[1:]
    else:
        made = _made(machine, ref)
        if isinstance(made, Table):
            return tuple((column.name, type_in(column.type)) for column in made.columns)
        if isinstance(made, objects.View):
            return made.columns
    found = catalog.find(context, parts)
    return tuple((column.name, type_in(column.type, 4000)) for column in found.columns_in(context.version))


def type_in(written: str, default_length: int = 1) -> SqlType | None:
    """The type of a column; None for one that holds values of any type."""
    try:
        kind = type_of(written, default_length)
    except SqlError:
        return None
    return None if kind.name == "sql_variant" else kind


def _rows_over_there(machine: Machine, ref: TableRef) -> tuple[Columns, Iterable[Row]]:
    """OPENQUERY(server, 'query'): the rows that the query has over there."""
    context = linked_servers.context_of(machine, ref.parts[0])
    there = machine.beside(machine.run, context.session, machine.meter)
    machine.meter.add(SCRATCH_WORK)
    scratch = scratch_for(context, partial(fetch, there), machine.meter)
    try:
        machine.meter.enter()
        named, rows = scratch.select(there.plan("statement", ref.query), there.value_of)
    finally:
        machine.meter.leave()
        scratch.close()
    made = tables.from_rows(named, rows)
    return tuple((column.name, column.type) for column in made.columns), rows


def _made(machine: Machine, ref: TableRef) -> objects.UserObject | None:
    """The temp table, table variable, table or view of that name that a script has made."""
    name = ref.parts[-1].lower()
    if name in machine.pseudo and len(ref.parts) == 1:
        return machine.pseudo[name]
    if name.startswith("@"):
        if name not in machine.scope.tables:
            raise SqlError(1087, ref.parts[-1])
        return machine.scope.tables[name]
    if name.startswith("#"):
        found = dict(machine.session.tables).get(name) or of_others(machine, name)
        if found is None:
            raise SqlError(208, ref.parts[-1])
        return found
    return objects.find(machine.context, ref.parts)


def of_others(machine: Machine, name: str) -> Table | None:
    """The global temp table of another connection, which all see [DOC: CREATE TABLE, temporary tables]."""
    if not name.startswith("##"):
        return None
    tables_there = (dict(session.tables) for _, session in machine.context.sessions())
    return next((there[name] for there in tables_there if name in there), None)


def _read(machine: Machine, ref: TableRef) -> objects.UserObject | None:
    """The same for a query, which may have to wait for others to let go of it."""
    made, name = _made(machine, ref), ref.parts[-1].lower()
    if not isinstance(made, Table) or name.startswith(("#", "@")) or name in machine.pseudo:
        return made
    hints = locks.hints_of(machine.context, ref.hints)
    place = objects.kept(machine.context, ref.parts)[0]
    locks.read(machine, place, hints, changes=ref.key == machine.changing)
    return objects.without_locked(machine.context, ref.parts, made) if "READPAST" in hints else made


def made_table(machine: Machine, ref: TableRef) -> Table | None:
    """The table that a script has made under that name, if there is one."""
    try:
        found = _made(machine, ref) if len(ref.parts) < 4 else None
    except SqlError:
        return None
    return found if isinstance(found, Table) else None


def _view_rows(machine: Machine, view: objects.View) -> tuple[Columns, Iterable[Row]]:
    """The rows of a view, computed in a scratch of its own."""
    machine.meter.add(SCRATCH_WORK)
    scratch = scratch_for(machine.context, partial(fetch, machine), machine.meter)
    try:
        machine.meter.enter()
        named, rows = scratch.select(machine.plan("statement", view.query), machine.value_of)
    finally:
        machine.meter.leave()
        scratch.close()
    made = tables.from_rows(named, rows)
    return tuple((column.name, column.type) for column in made.columns), rows


def table(machine: Machine, ref: TableRef) -> Table:
    """A table that may be written to; 208, 1087, 259 for a system view, or Unsimulated."""
    made = _made(machine, ref)
    if isinstance(made, Table):
        return made
    if made is not None:
        raise Unsimulated("changes through a view")
    found = catalog.find(machine.context, ref.parts)
    if found.name.startswith("msdb.dbo."):  # tables that the product lets sysadmin write to
        raise Unsimulated(f"changes to {found.name} past its procedures")
    raise SqlError(259)


def keep(machine: Machine, ref: TableRef, new: Table) -> None:
    """Put a table in place of the one it was."""
    name = ref.parts[-1].lower()
    machine.meter.charge(new.cells // 20)
    machine.check_room(new)
    if name.startswith("@"):
        machine.scope.tables[name] = new
    elif name.startswith("#"):
        if name not in dict(machine.session.tables) and of_others(machine, name) is not None:
            raise Unsimulated("changes to a global temporary table of another connection")
        machine.note(tables=tuple({**dict(machine.session.tables), name: new}.items()))
    else:
        objects.put(machine.context, ref.parts, new)


def change(machine: Machine, ref: TableRef, before: Table, after: Table, verb: str) -> Table:
    """Put a table with other rows in place of the one it was; what it has become. Raises what its constraints do."""
    after = constraints.enforced(machine, ref, before, after, verb)
    keep(machine, ref, after)
    return after


def name_whole(machine: Machine, ref: TableRef, problem: SqlError) -> None:
    """515 names the table with its database and schema. Unsimulated for a text that ANSI_WARNINGS OFF would cut."""
    if problem.number == 8152 and dict(machine.session.options).get("ANSI_WARNINGS") == "OFF":
        raise Unsimulated("texts that are cut to the length of their column under ANSI_WARNINGS OFF")
    if problem.number == 515 and not ref.parts[-1].startswith(("#", "@")):
        column, name, verb = problem.parameters
        database = ref.parts[0] if len(ref.parts) == 3 else machine.session.database
        problem.parameters = (column, f"{database}.{objects.whole((*ref.parts[:-1], str(name)))}", verb)


def put(machine: Machine, ref: TableRef, columns: tuple[str, ...], rows: list[Row]) -> int:
    """Insert rows; how many there are now more."""
    machine.meter.charge(len(rows) * INSERT_WORK)
    before = table(machine, ref)
    own = dict(machine.session.options).get("IDENTITY_INSERT", "").lower() == ref.parts[-1].lower()
    try:
        after, identity = tables.insert(ref.parts[-1], before, columns, rows, machine.evaluate, own)
        after = constraints.enforced(machine, ref, before, after, "INSERT")
    except SqlError as problem:
        name_whole(machine, ref, problem)
        if problem.number in (2601, 2627) and not ref.parts[-1].startswith(
            ("#", "@")
        ):  # is it another's, not yet committed?
            locks.need(machine.context, objects.kept(machine.context, ref.parts)[0], locks.SHARED)
        raise
    keep(machine, ref, after)
    if identity is not None:
        machine.note(identity=identity)
    return len(after.rows) - len(before.rows)


def make(machine: Machine, ref: TableRef, new: Table) -> None:
    """Keep a new table; 2714 if its name is taken."""
    name = ref.parts[-1].lower()
    if not name.startswith("#"):
        objects.create(machine.context, ref.parts, new)
        return
    if name in dict(machine.session.tables) or of_others(machine, name) is not None:
        raise SqlError(2714, ref.parts[-1])
    if len(machine.session.tables) >= TABLES_MAX:
        raise Unsimulated(f"more than {TABLES_MAX} temp tables of one connection")
    keep(machine, ref, new)
