"""Tables and views of the product in master and msdb, as objects with columns.

[DOC: system tables]
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from engine.tsql.batches import objects
from engine.tsql.batches.context import Context
from engine.tsql.catalog.column_types import type_record
from engine.tsql.catalog.view import VIEWS, Record


def shipped_tables(context: Context) -> Iterator[tuple[str, str]]:
    """Name and full name of each table and view of the product in schema dbo of the current database."""
    prefix = f"{context.session.database.lower()}.dbo."
    for name, found in sorted(VIEWS.items()):
        if name.startswith(prefix) and found.first_version <= context.version:
            yield name.removeprefix(prefix), name


_SHIPPED_VIEWS: Final = re.compile(
    r"_view$|^sysmail_(?!mailitems)\w+items$|^sysmail_(event_log|mailattachments)$"
)


def objects_of(context: Context) -> Iterable[Record]:
    """Yield tables and views of the product in master and msdb. [DOC: system tables]."""
    for name, full_name in shipped_tables(context):
        kind = "V " if _SHIPPED_VIEWS.search(name) else "U "
        yield {
            "name": name,
            "object_id": -objects.object_id(full_name),
            "id": -objects.object_id(full_name),
            "schema_id": 1,
            "uid": 1,
            "type": kind,
            "xtype": kind,
            "type_desc": "USER_TABLE" if kind == "U " else "VIEW",
            "is_ms_shipped": 1,
            "TABLE_CATALOG": context.session.database,
            "TABLE_SCHEMA": "dbo",
            "TABLE_NAME": name,
            "TABLE_TYPE": "BASE TABLE" if kind == "U " else "VIEW",
        }


def columns_of(context: Context) -> Iterable[Record]:
    """Yield columns of those; whether they may be NULL is not documented for all."""
    for name, full_name in shipped_tables(context):
        for place, column in enumerate(VIEWS[full_name].columns_in(context.version), start=1):
            if not column.name.startswith("asked_"):
                yield {
                    **type_record(column.type),
                    "TABLE_CATALOG": context.session.database,
                    "TABLE_SCHEMA": "dbo",
                    "TABLE_NAME": name,
                    "COLUMN_NAME": column.name,
                    "ORDINAL_POSITION": place,
                    "object_id": -objects.object_id(full_name),
                    "name": column.name,
                    "column_id": place,
                }
