"""Views about the instance: its name, messages, linked servers, system objects and event sessions."""

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct

from engine.availability import replicas
from engine.constants import TICKS_PER_S
from engine.protocol import startup
from engine.tsql.batches import objects, stored_messages, stored_tables
from engine.tsql.batches.context import StatementContext
from engine.tsql.catalog import column_types
from engine.tsql.catalog.configurations import get_option_value
from engine.tsql.catalog.shapes import find_literal_columns
from engine.tsql.catalog.view import (
    CATALOG_VIEWS,
    SYSTEM_PROCEDURES,
    Record,
    RowLister,
    list_no_rows,
    list_views,
    register_view,
)


def _list_messages(context: StatementContext) -> Iterable[Record]:
    for row in stored_messages.list_all_messages(context.world, context.server.name):
        yield {
            "message_id": row.number,
            "language_id": 1033,
            "severity": row.severity,
            "is_event_logged": int(row.logged),
            "text": row.text,
        }


register_view("sys.messages", _list_messages)


def _is_rpc_out_enabled(context: StatementContext, name: str) -> bool:
    stored_row = stored_tables.SERVER_OPTIONS.find_row(context.world, context.server.name, "server", name)
    return stored_row is not None and bool(stored_row.get("rpc out"))


def _list_servers(context: StatementContext) -> Iterable[Record]:
    names = (context.server.name, *context.server.linked_servers)
    for number, name in enumerate(names):
        yield {
            "server_id": number,
            "name": name,
            **find_literal_columns("instance._list_servers"),
            "data_source": name,
            "is_linked": int(number > 0),
            "is_rpc_out_enabled": int(number == 0 or _is_rpc_out_enabled(context, name)),
            "is_data_access_enabled": int(number > 0),
        }


register_view("sys.servers", _list_servers)


def _list_sysservers(context: StatementContext) -> Iterable[Record]:
    for row in _list_servers(context):
        yield {"srvid": row["server_id"], "srvname": row["name"], "datasource": row["data_source"]}


register_view("sys.sysservers", _list_sysservers)


def _build_system_object(
    context: StatementContext, name: str, full_name: str, kind: str, type_description: str
) -> Record:
    built = column_types.BUILD_TIMES[
        max(year for year in column_types.BUILD_TIMES if year <= context.version)
    ]
    return {
        "create_date": built,
        "modify_date": built,
        "name": name,
        "object_id": -objects.compute_object_id(full_name),
        "schema_id": SYSTEM_SCHEMA_ID,
        "type": kind,
        "type_desc": type_description,
        "is_ms_shipped": 1,
    }


SYSTEM_SCHEMA_ID: Final = 4
"""schema_id of the schema sys."""


def _list_system_views(context: StatementContext) -> Iterable[Record]:
    for catalog_view in list_views(context.version):
        if not catalog_view.name.endswith("()"):
            yield _build_system_object(context, catalog_view.name[4:], catalog_view.name, "V ", "VIEW")


def _list_system_objects(context: StatementContext) -> Iterable[Record]:
    """Yield the product's views, table-valued functions and procedures in the current database."""
    yield from _list_system_views(context)
    for catalog_view in list_views(context.version):
        if catalog_view.name.endswith("()"):
            yield _build_system_object(
                context,
                catalog_view.name[4:-2],
                catalog_view.name,
                "IF",
                "SQL_INLINE_TABLE_VALUED_FUNCTION",
            )
    for name, home in SYSTEM_PROCEDURES.items():
        if not home:
            outside = name.startswith("xp_") or name in (
                "sp_executesql",
                "sp_prepare",
                "sp_execute",
                "sp_unprepare",
            )
            kind = ("X ", "EXTENDED_STORED_PROCEDURE") if outside else ("P ", "SQL_STORED_PROCEDURE")
            yield _build_system_object(context, name, name, *kind)


def _build_lister_with_user_objects(view_name: str, list_system_rows: RowLister) -> RowLister:
    """Build a function that yields the user objects of *view_name* before the system objects."""

    def rows(context: StatementContext) -> Iterable[Record]:
        yield from _list_rows(context, view_name)
        yield from list_system_rows(context)

    return rows


register_view("sys.all_objects", _build_lister_with_user_objects("sys.objects", _list_system_objects))
register_view("sys.system_objects", _list_system_objects)
register_view("sys.system_views", _list_system_views)
register_view("sys.all_views", _build_lister_with_user_objects("sys.views", _list_system_views))


def _list_rows(context: StatementContext, name: str) -> Iterable[Record]:
    rows = CATALOG_VIEWS[name].rows
    return () if rows is None else rows(context)


def _list_schemas(context: StatementContext) -> Iterable[Record]:
    users = {row["name"]: row["principal_id"] for row in _list_rows(context, "sys.database_principals")}
    for name, schema in objects.list_schemas(context).items():
        owner = users.get(schema.owner) or objects.PREDEFINED_SCHEMAS.get(schema.owner)
        yield {"name": name, "schema_id": schema.number, "principal_id": owner}


def _list_schemata(context: StatementContext) -> Iterable[Record]:
    owners = {row["principal_id"]: row["name"] for row in _list_rows(context, "sys.database_principals")}
    for row in _list_schemas(context):
        yield {
            "CATALOG_NAME": context.session.database,
            "SCHEMA_NAME": row["name"],
            "SCHEMA_OWNER": owners.get(row["principal_id"], row["name"]),
        }


register_view("sys.schemas", _list_schemas)
register_view("information_schema.schemata", _list_schemata)
register_view("sys.assemblies", list_no_rows)
register_view("sys.event_notifications", list_no_rows)
register_view("sys.server_event_notifications", list_no_rows)
register_view("sys.database_snapshots", list_no_rows)


def _list_traces(context: StatementContext) -> Iterable[Record]:
    """Yield the default trace, if its option is on [DOC: default trace enabled; sys.traces].

    The number in the file name, which counts the starts of the instance, is always 1. Assumed.
    """
    if get_option_value(context, "default trace enabled"):
        yield {
            **find_literal_columns("instance._list_traces"),
            "path": startup.get_log_path(context.server).removesuffix("ERRORLOG") + "log_1.trc",
            "start_time": context.get_datetime_value(context.server.started_tick),
        }


_TRACE_PROPERTIES: Final = {2: "path", 3: "max_size", 4: "stop_time", 5: "status"}
"""Property of sys.fn_trace_getinfo -> column of sys.traces. Property 1 is the options [DOC: sys.fn_trace_getinfo]."""


def _list_trace_properties(context: StatementContext) -> Iterable[Record]:
    for trace in _list_traces(context):
        options = 2 * int(str(trace["is_rollover"]))  # 2: TRACE_FILE_ROLLOVER
        yield {"traceid": trace["id"], "property": 1, "value": options}
        for number, column in _TRACE_PROPERTIES.items():
            yield {"traceid": trace["id"], "property": number, "value": trace[column]}


register_view("sys.traces", _list_traces)
register_view("sys.fn_trace_getinfo()", _list_trace_properties)


register_view(
    "sys.data_spaces",
    lambda context: [
        {"name": "PRIMARY", "data_space_id": 1, "type": "FG", "type_desc": "ROWS_FILEGROUP", "is_default": 1}
    ],
)


# --- built-in sessions of extended events -----------------------------------------------------------------
# The sessions are system_health and, since 2012, AlwaysOn_health. AlwaysOn_health starts with the instance
# if the New Availability Group wizard has created or joined a group on it; otherwise, it is stopped.
# Derived: the wizard has set up every instance with a replica.

HEALTH_EVENTS: Final = (
    "alwayson_ddl_executed", "availability_group_lease_expired", "availability_replica_automatic_failover_validation",
    "availability_replica_manager_state_change", "availability_replica_state", "availability_replica_state_change",
    "error_reported", "lock_redo_blocked",
)  # fmt: skip
"""Events of AlwaysOn_health. Documented [DOC: extended events of groups]."""


class EventSession(Struct, frozen=True):
    """Event session of the instance."""

    number: int
    name: str
    running: bool
    starts_with_instance: bool
    """True if the session starts with the instance (STARTUP_STATE)."""
    events: tuple[str, ...] | None = None
    """Events of the session; None if they are not simulated."""


def list_sessions(context: StatementContext) -> Iterator[EventSession]:
    """Yield the event sessions of the instance."""
    server = context.server
    names: list[tuple[int, str, bool, tuple[str, ...] | None]] = [(65_535, "system_health", True, None)]
    if context.version >= 2012:
        used = bool(replicas.list_replica_states(context.world, context.session.server))
        names.append((65_536, "AlwaysOn_health", used, HEALTH_EVENTS))
    for number, name, used, events in names:
        runs, starts = name not in server.sessions_stopped, name not in server.sessions_manual
        running = (used and runs) or name in server.sessions_started
        yield EventSession(number, name, running, starts_with_instance=used and starts, events=events)


def _list_defined_sessions(context: StatementContext) -> Iterable[Record]:
    for session in list_sessions(context):
        yield {
            "event_session_id": session.number,
            "name": session.name,
            **find_literal_columns("instance._list_defined_sessions"),
            "max_dispatch_latency": 30_000 if session.events is not None else 120_000,
            "startup_state": int(session.starts_with_instance),
        }


def _list_events(context: StatementContext) -> Iterable[Record]:
    for session in list_sessions(context):
        for index, event in enumerate(session.events or (), 1):
            yield {
                "event_session_id": session.number,
                "event_id": index,
                "name": event,
                "package": "sqlserver",
                "module": "{SQLSERVR}",
            }


def _list_running_sessions(context: StatementContext) -> Iterable[Record]:
    start_time = context.get_datetime_value(max(0, context.server.started_tick // TICKS_PER_S * TICKS_PER_S))
    for session in list_sessions(context):
        if session.running:
            yield {
                "address": session.number.to_bytes(8, "big"),
                "name": session.name,
                "dropped_event_count": 0,
                "dropped_buffer_count": 0,
                "create_time": start_time,
            }


register_view("sys.server_event_sessions", _list_defined_sessions)
register_view("sys.server_event_session_events", _list_events)
register_view("sys.dm_xe_sessions", _list_running_sessions)
