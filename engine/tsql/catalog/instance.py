"""The instance itself: its name, options, messages, linked servers, objects."""

from __future__ import annotations

from collections.abc import Iterable

from engine.tsql.batches import ledger, objects, stored_messages
from engine.tsql.batches.context import Context
from engine.tsql.catalog.view import VIEWS, Record, none, view


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


def _rows(context: Context, name: str) -> Iterable[Record]:
    found = VIEWS[name].rows
    return () if found is None else found(context)


def _schemas(context: Context) -> Iterable[Record]:
    users = {row["name"]: row["principal_id"] for row in _rows(context, "sys.database_principals")}
    for name, made in objects.schemas(context).items():
        owner = users.get(made.owner) or objects.SCHEMAS.get(made.owner)
        yield {"name": name, "schema_id": made.number, "principal_id": owner}


def _schemata(context: Context) -> Iterable[Record]:
    owners = {row["principal_id"]: row["name"] for row in _rows(context, "sys.database_principals")}
    for row in _schemas(context):
        yield {
            "CATALOG_NAME": context.session.database,
            "SCHEMA_NAME": row["name"],
            "SCHEMA_OWNER": owners.get(row["principal_id"], row["name"]),
        }


view("sys.schemas", _schemas)
view("information_schema.schemata", _schemata)
view("sys.assemblies", none)
view("sys.event_notifications", none)
view("sys.server_event_notifications", none)
view("sys.database_snapshots", none)
view("sys.traces", none)


view(
    "sys.data_spaces",
    lambda context: [
        {"name": "PRIMARY", "data_space_id": 1, "type": "FG", "type_desc": "ROWS_FILEGROUP", "is_default": 1}
    ],
)
