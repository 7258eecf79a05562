"""Functions that return a table: all that each can return, with the columns that take its arguments (reshape.py)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from engine.model import Copy
from engine.protocol import volumes
from engine.tsql.catalog.activity import sql_handle
from engine.tsql.catalog.databases import files_of, is_owner
from engine.tsql.catalog.view import Record, none, view
from engine.tsql.context import Context


def _texts(context: Context) -> Iterable[Record]:
    """What runs on each connection now."""
    for name, session in context.sessions():
        running = context.world.batches.get(name)
        if running is not None:
            yield {
                "asked_handle": sql_handle(session.spid),
                "DbId": None,
                "objectid": None,
                "number": None,
                "encrypted": 0,
                "text": running.text,
            }


view("sys.dm_exec_sql_text()", _texts)
view("sys.dm_exec_query_plan()", none)
view("sys.fn_trace_getinfo()", none)


# --- files -----------------------------------------------------------------------------------------------


def _log_written_bytes(context: Context, copy: Copy) -> int | None:
    """What has been written to a log: flushed by its owner, hardened by a mirror. None where the model has none."""
    if copy.row is None:
        return None
    at = context.world.flow.positions(copy.row)
    return int(1024.0 * (at.flushed_kb if is_owner(context, copy) else at.hardened_kb))


def _file_stats(context: Context) -> Iterable[Record]:
    """Sizes, and bytes written to logs; stalls and reads are not counted here and stay NULL."""
    for copy in context.copies():
        for file in files_of(context, copy):
            written = _log_written_bytes(context, copy) if file["type"] and file["file_id"] == 2 else None
            yield {
                "database_id": copy.database_id,
                "file_id": file["file_id"],
                "sample_ms": 10 * context.world.tick + 10**9,
                "num_of_bytes_written": written,
                "size_on_disk_bytes": int(str(file["size"])) * 8192,
            }


view("sys.dm_io_virtual_file_stats()", _file_stats)
_OLD_NAMES: Final = {
    "database_id": "DbId",
    "file_id": "FileId",
    "sample_ms": "TimeStamp",
    "num_of_bytes_written": "BytesWritten",
    "size_on_disk_bytes": "BytesOnDisk",
}
"""Columns of fn_virtualfilestats for those of its successor."""


def _old_file_stats(context: Context) -> Iterable[Record]:
    for row in _file_stats(context):
        yield {_OLD_NAMES[name]: value for name, value in row.items()}


view("sys.fn_virtualfilestats()", _old_file_stats)


def _volume_stats(context: Context) -> Iterable[Record]:
    """The drive of each file; sizes where somebody has given the drive one."""
    for copy in context.copies():
        for file in files_of(context, copy):
            letter = str(file["physical_name"])[0].upper()
            size_kb = volumes.size_kb(context.server, letter)
            yield {
                "database_id": copy.database_id,
                "file_id": file["file_id"],
                "volume_mount_point": f"{letter}:\\",
                "volume_id": None,
                "logical_volume_name": "",
                "file_system_type": "NTFS",
                "total_bytes": None if size_kb is None else int(size_kb * 1024.0),
                "available_bytes": None
                if size_kb is None
                else int(1024.0 * volumes.free_kb(context.world, context.server.name, letter)),
                "supports_compression": 1,
                "is_read_only": 0,
                "is_compressed": 0,
            }


view("sys.dm_os_volume_stats()", _volume_stats)
