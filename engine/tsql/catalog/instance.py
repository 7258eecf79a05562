"""The instance itself: its name, options, messages, linked servers, objects."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from engine.tsql import ledger, objects, stored_messages
from engine.tsql.catalog.view import VIEWS, Record, Rows, none, view
from engine.tsql.columns import Key
from engine.tsql.context import Context
from engine.tsql.data import Table

OPTIONS: Final = (
    # name, id, least, most, default, advanced, dynamic
    ("max worker threads", 503, 0, 32767, 0, True, True),
    ("show advanced options", 518, 0, 1, 0, False, True),
    ("recovery interval (min)", 101, 0, 32767, 0, True, True),
    ("allow updates", 102, 0, 1, 0, False, True),
    ("user connections", 103, 0, 32767, 0, True, False),
    ("max degree of parallelism", 1539, 0, 64, 0, True, True),
    ("max server memory (MB)", 1544, 16, 2147483647, 2147483647, True, True),
    ("min server memory (MB)", 1543, 0, 2147483647, 0, True, True),
    ("remote access", 117, 0, 1, 1, False, False),
    ("remote login timeout (s)", 1519, 0, 2147483647, 20, False, True),
    ("remote query timeout (s)", 1520, 0, 2147483647, 600, False, True),
    ("Agent XPs", 16384, 0, 1, 1, True, True),
    ("xp_cmdshell", 16390, 0, 1, 0, True, True),
    ("Database Mail XPs", 16386, 0, 1, 0, True, True),
    ("backup compression default", 1579, 0, 1, 0, False, True),
    ("Ad Hoc Distributed Queries", 16391, 0, 1, 0, True, True),
    ("Ole Automation Procedures", 16388, 0, 1, 0, True, True),
    ("clr enabled", 1562, 0, 1, 0, False, True),
    ("cost threshold for parallelism", 1538, 0, 32767, 5, True, True),
    ("cross db ownership chaining", 400, 0, 1, 0, False, True),
    ("default trace enabled", 1568, 0, 1, 1, True, True),
    ("fill factor (%)", 109, 0, 100, 0, True, False),
    ("network packet size (B)", 505, 512, 32767, 4096, True, True),
    ("nested triggers", 115, 0, 1, 1, False, True),
    ("optimize for ad hoc workloads", 1581, 0, 1, 0, True, True),
    ("priority boost", 1517, 0, 1, 0, True, False),
    ("remote admin connections", 1576, 0, 1, 0, False, True),
    ("remote proc trans", 542, 0, 1, 0, False, True),
    ("scan for startup procs", 1547, 0, 1, 0, True, False),
    ("blocked process threshold (s)", 1569, 0, 86400, 0, True, True),
    ("SMO and DMO XPs", 16387, 0, 1, 1, True, True),
)
"""Configuration options that scripts look at. Documented [DOC: server configuration options]."""


def option_value(context: Context, name: str) -> int:
    """The value in use of one option."""
    if name == "max worker threads":
        return context.server.max_worker_threads
    return _set_value(context, name, "in_use")


def configured_value(context: Context, name: str) -> int:
    """The value of one option that sp_configure has written down; RECONFIGURE makes it the one in use."""
    kept = ledger.find(context.world, context.server.name, "options", "name", name)
    return option_value(context, name) if kept is None else int(str(kept["value"]))


def _set_value(context: Context, name: str, column: str) -> int:
    kept = ledger.find(context.world, context.server.name, "options", "name", name)
    default = next(option[4] for option in OPTIONS if option[0] == name)
    return default if kept is None else int(str(kept[column]))


def _configurations(context: Context) -> Iterable[Record]:
    for name, number, least, most, _, advanced, dynamic in sorted(OPTIONS, key=lambda option: option[1]):
        value = option_value(context, name)
        yield {
            "configuration_id": number,
            "name": name,
            "value": configured_value(context, name),
            "minimum": least,
            "maximum": most,
            "value_in_use": value,
            "description": name,
            "is_dynamic": int(dynamic),
            "is_advanced": int(advanced),
        }


view("sys.configurations", _configurations)


def _messages(context: Context) -> Iterable[Record]:
    for row in stored_messages.all_rows(context.world, context.server.name):
        yield {
            "message_id": row.number,
            "language_id": 1033,
            "severity": row.severity,
            "is_event_logged": int(row.logged),
            "text": row.text,
        }


view("sys.messages", _messages)


def _rpc_out(context: Context, name: str) -> bool:
    kept = ledger.find(context.world, context.server.name, "serveroptions", "server", name)
    return kept is not None and bool(kept.get("rpc out"))


def _servers(context: Context) -> Iterable[Record]:
    names = (context.server.name, *context.server.linked_servers)
    for number, name in enumerate(names):
        yield {
            "server_id": number,
            "name": name,
            "product": "SQL Server",
            "provider": "SQLNCLI",
            "data_source": name,
            "is_linked": int(number > 0),
            "is_remote_login_enabled": 1,
            "is_rpc_out_enabled": int(number == 0 or _rpc_out(context, name)),
            "is_data_access_enabled": int(number > 0),
        }


view("sys.servers", _servers)


def _sysservers(context: Context) -> Iterable[Record]:
    for row in _servers(context):
        yield {"srvid": row["server_id"], "srvname": row["name"], "datasource": row["data_source"]}


view("sys.sysservers", _sysservers)


def _system_views(context: Context) -> Iterable[Record]:
    for key, found in sorted(VIEWS.items()):
        if key.startswith("sys.") and found.since <= context.version:
            yield {
                "name": found.name.split(".")[-1],
                "object_id": -objects.object_id(found.name),
                "schema_id": 4,
                "type": "V ",
                "type_desc": "VIEW",
                "is_ms_shipped": 1,
            }


view("sys.all_objects", _system_views)
view("sys.system_objects", _system_views)
view("sys.system_views", _system_views)
view("sys.all_views", _system_views)


def _made(*kinds: str) -> Rows:
    """What scripts have made in the current database, of these types."""

    def rows(context: Context) -> Iterable[Record]:
        for name, item in objects.listed(context):
            kind, description, _ = objects.KINDS[type(item)]
            if not kinds or kind.strip() in kinds:
                yield {
                    "name": name,
                    "object_id": objects.object_id(name),
                    "schema_id": 1,
                    "parent_object_id": 0,
                    "type": kind,
                    "type_desc": description,
                    "create_date": context.now(),
                    "modify_date": context.now(),
                    "is_ms_shipped": 0,
                    "id": objects.object_id(name),
                    "xtype": kind,
                    "uid": 1,
                    "crdate": context.now(),
                    "TABLE_CATALOG": context.session.database,
                    "TABLE_SCHEMA": "dbo",
                    "TABLE_NAME": name,
                    "TABLE_TYPE": "BASE TABLE" if kind == "U " else "VIEW",
                }

    return rows


view("sys.objects", _made())
view("sys.tables", _made("U"))
view("sys.views", _made("V"))
view("sys.procedures", _made("P"))
view("sys.sysobjects", _made())


def _indexes(context: Context) -> Iterable[Record]:
    """The keys and indexes of each table; a table without a clustered one is a heap, index 0."""
    for table, item in objects.listed(context):
        keys = [key for key in item.constraints if isinstance(key, Key)] if isinstance(item, Table) else []
        if isinstance(item, Table) and not any(key.clustered for key in keys):
            yield {"object_id": objects.object_id(table), **_index(None, 0, "HEAP")}
        for number, key in enumerate(keys, start=2):
            kind = "CLUSTERED" if key.clustered else "NONCLUSTERED"
            yield {"object_id": objects.object_id(table), **_index(key, 1 if key.clustered else number, kind)}


def _index(key: Key | None, number: int, kind: str) -> Record:
    return {
        "name": None if key is None else key.name,
        "index_id": number,
        "type": min(number, 2),
        "type_desc": kind,
        "is_unique": int(key is not None and key.unique),
        "data_space_id": 1,
        "ignore_dup_key": int(key is not None and key.ignore_duplicates),
        "is_primary_key": int(key is not None and key.kind == "PRIMARY KEY"),
        "is_unique_constraint": int(key is not None and key.kind == "UNIQUE"),
    }


view("sys.indexes", _indexes)
SCHEMAS: Final = {
    "dbo": 1, "guest": 2, "INFORMATION_SCHEMA": 3, "sys": 4, "db_owner": 16384, "db_accessadmin": 16385,
    "db_securityadmin": 16386, "db_ddladmin": 16387, "db_backupoperator": 16389, "db_datareader": 16390,
    "db_datawriter": 16391, "db_denydatareader": 16392, "db_denydatawriter": 16393,
}  # fmt: skip
"""The schemas that every database has. Documented [DOC: sys.schemas]."""
view("sys.schemas", lambda context: [
    {"name": name, "schema_id": number, "principal_id": number} for name, number in SCHEMAS.items()
])  # fmt: skip
view("information_schema.tables", _made("U", "V"))
view("sys.assemblies", none)
view("sys.event_notifications", none)
view("sys.server_event_notifications", none)
view("sys.database_snapshots", none)
view("sys.traces", none)
view("sys.availability_groups", none)
view("sys.availability_replicas", none)
view("sys.dm_hadr_availability_replica_states", none)


def _modules(context: Context) -> Iterable[Record]:
    for name, item in objects.listed(context):
        if isinstance(item, objects.Procedure | objects.View):
            text = item.body.lstrip("\n") if isinstance(item, objects.Procedure) else item.query
            yield {"object_id": objects.object_id(name), "definition": text, "uses_ansi_nulls": 1}


view("sys.sql_modules", _modules)
view("sys.all_sql_modules", _modules)


def _routines(context: Context) -> Iterable[Record]:
    for name, item in objects.listed(context):
        if isinstance(item, objects.Procedure):
            yield {
                "SPECIFIC_SCHEMA": "dbo",
                "SPECIFIC_NAME": name,
                "ROUTINE_CATALOG": context.session.database,
                "ROUTINE_SCHEMA": "dbo",
                "ROUTINE_NAME": name,
                "ROUTINE_TYPE": "PROCEDURE",
            }


view("information_schema.routines", _routines)


def _table_columns(context: Context) -> Iterable[Record]:
    for name, item in objects.listed(context):
        if isinstance(item, Table):
            for place, column in enumerate(item.columns, start=1):
                yield {
                    "TABLE_CATALOG": context.session.database,
                    "TABLE_SCHEMA": "dbo",
                    "TABLE_NAME": name,
                    "COLUMN_NAME": column.name,
                    "ORDINAL_POSITION": place,
                    "COLUMN_DEFAULT": column.default or None,
                    "is_nullable": int(column.nullable),
                    "IS_NULLABLE": "YES" if column.nullable else "NO",
                    "DATA_TYPE": column.type.split("(")[0],
                    "object_id": objects.object_id(name),
                    "name": column.name,
                    "column_id": place,
                    "is_identity": int(column.identity is not None),
                }


view("information_schema.columns", _table_columns)
view("sys.columns", _table_columns)
view(
    "sys.data_spaces",
    lambda context: [
        {"name": "PRIMARY", "data_space_id": 1, "type": "FG", "type_desc": "ROWS_FILEGROUP", "is_default": 1}
    ],
)
