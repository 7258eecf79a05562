"""Check of a profile's tables and values. The file may come from another computer or from another program.

SQLite accepts any value in a column, and executes the content of any trigger or view.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from datetime import datetime
from typing import Final

from app.storage.tables import LONG, NULLABLE, RUNNING, TABLES

_NO_DATE: Final = (
    "(strftime('%s', {0}) IS NULL"
    " OR strftime('%Y-%m-%d %H:%M:%S', substr({0}, 1, 19), '+0 days') IS NOT substr({0}, 1, 19))"
)
"""Condition for an invalid date. Adding no days turns 31 February into 3 March, which differs from the stored text.

The fraction of the second is excluded, because SQLite rounds 59.9996 s up to the next minute.
"""
_WHOLE: Final = "typeof({0}) <> 'integer'"
_WRONG: Final = {
    int: _WHOLE,
    bool: _WHOLE,
    float: "typeof({0}) NOT IN ('real', 'integer')",
    str: "typeof({0}) <> 'text'",
    datetime: _NO_DATE,
}
"""Type of a column -> condition for a value of another type."""
_IN_PLAY: Final = f"run_id IN (SELECT id FROM run WHERE status = '{RUNNING}')"
"""Rows of long tables that are checked; the others are read only on request."""


def strange_parts(connection: sqlite3.Connection) -> list[str]:
    """Return triggers, views and virtual tables, of which a profile has none."""
    found = connection.execute(
        "SELECT type || ' ' || name FROM sqlite_master "
        "WHERE type IN ('trigger', 'view') OR sql LIKE 'CREATE VIRTUAL%' ORDER BY 1"
    )
    return [str(row[0]) for row in found]


def faults(connection: sqlite3.Connection) -> Iterator[str]:
    """Yield the differences from the newest version's schema and value types."""
    missing = [name for name, columns in TABLES.items() if not columns.keys() <= _columns(connection, name)]
    if missing:
        yield f"its table {missing[0]} is missing or another"
        return
    for table, columns in TABLES.items():
        wrong = " OR ".join(_build_type_check(table, name, kind) for name, kind in columns.items())
        rows = f"({wrong}) AND {_IN_PLAY}" if table in LONG else wrong
        if connection.execute(f"SELECT 1 FROM {table} WHERE {rows} LIMIT 1").fetchone():
            yield f"a row of its table {table} holds what cannot be"


def _columns(connection: sqlite3.Connection, table: str) -> set[str]:
    return {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}


def _build_type_check(table: str, name: str, kind: type) -> str:
    wrong = _WRONG[kind].format(f'"{name}"')
    return f'({wrong} AND "{name}" IS NOT NULL)' if (table, name) in NULLABLE else f"({wrong})"
