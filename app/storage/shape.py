"""Whether a profile's tables are ours and hold what they may: it may come from elsewhere, or from another program.

SQLite lets anything stand in a column, and runs what somebody has put into a trigger or a view.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Final

from sqlalchemy import Column, Table

from app.storage.models import RUNNING, Base, Checkpoint, Line

_WHOLE: Final = "typeof({0}) <> 'integer'"
_WRONG: Final = {
    int: _WHOLE,
    bool: _WHOLE,
    float: "typeof({0}) NOT IN ('real', 'integer')",
    str: "typeof({0}) <> 'text'",
}
"""Type of a column -> what is true of a value that is none such."""
_NO_DATE: Final = (
    "(strftime('%s', {0}) IS NULL"
    " OR strftime('%Y-%m-%d %H:%M:%S', substr({0}, 1, 19), '+0 days') IS NOT substr({0}, 1, 19))"
)
"""Adding no days makes 3 March of 31 February, which differs from what stands there. Without the fraction of the
second: SQLite rounds it, and 59.9996 s would become the next minute."""
_IN_PLAY: Final = f"run_id IN (SELECT id FROM run WHERE status = '{RUNNING}')"
"""Of long tables only these rows are looked at: the others are read when somebody asks for them, if ever."""
_LONG: Final = {Line.__tablename__, Checkpoint.__tablename__}


def strange_parts(connection: sqlite3.Connection) -> list[str]:
    """Triggers, views and virtual tables, of which a profile has none."""
    found = connection.execute(
        "SELECT type || ' ' || name FROM sqlite_master "
        "WHERE type IN ('trigger', 'view') OR sql LIKE 'CREATE VIRTUAL%' ORDER BY 1"
    )
    return [str(row[0]) for row in found]


def faults(connection: sqlite3.Connection) -> Iterator[str]:
    """What is not as the newest version makes it."""
    tables: list[Table] = list(Base.metadata.sorted_tables)
    missing = [table.name for table in tables if not _is_whole(connection, table)]
    if missing:
        yield f"its table {missing[0]} is missing or another"
        return
    for table in tables:
        wrong = " OR ".join(map(_wrong, table.columns))
        rows = f"({wrong}) AND {_IN_PLAY}" if table.name in _LONG else wrong
        if connection.execute(f"SELECT 1 FROM {table.name} WHERE {rows} LIMIT 1").fetchone():
            yield f"a row of its table {table.name} holds what cannot be"


def _is_whole(connection: sqlite3.Connection, table: Table) -> bool:
    there = {row[1] for row in connection.execute(f"PRAGMA table_info({table.name})")}
    return {column.name for column in table.columns} <= there


def _wrong(column: Column[object]) -> str:
    name, kind = f'"{column.name}"', column.type.python_type
    wrong = _WRONG.get(kind, _NO_DATE).format(name)
    return f"({wrong} AND {name} IS NOT NULL)" if column.nullable else f"({wrong})"
