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
                "dbid": None,
                "objectid": None,
                "number": None,
                "encrypted": 0,
                "text": running.text,
            }


view(
    "sys.dm_exec_sql_text()",
    "dbid smallint, objectid int, number smallint, encrypted bit, text nvarchar, asked_handle varbinary",
    _texts,
)
view(
    "sys.dm_exec_query_plan()",
    "dbid smallint, objectid int, number smallint, encrypted bit, query_plan nvarchar, asked_handle varbinary",
    none,
)
view(
    "sys.fn_trace_getinfo()",
    "traceid int, property int, value sql_variant",
    none,
)


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


view(
    "sys.dm_io_virtual_file_stats()",
    """database_id smallint, file_id smallint, sample_ms bigint, num_of_reads bigint, num_of_bytes_read bigint,
    io_stall_read_ms bigint, num_of_writes bigint, num_of_bytes_written bigint, io_stall_write_ms bigint,
    io_stall bigint, size_on_disk_bytes bigint, file_handle varbinary, io_stall_queued_read_ms bigint 2014,
    io_stall_queued_write_ms bigint 2014""",
    _file_stats,
)
_OLD_NAMES: Final = {
    "database_id": "dbid",
    "file_id": "fileid",
    "sample_ms": "timestamp",
    "num_of_bytes_written": "byteswritten",
    "size_on_disk_bytes": "bytesondisk",
}
"""Columns of fn_virtualfilestats for those of its successor."""


def _old_file_stats(context: Context) -> Iterable[Record]:
    for row in _file_stats(context):
        yield {_OLD_NAMES[name]: value for name, value in row.items()}


view(
    "sys.fn_virtualfilestats()",
    """dbid smallint, fileid smallint, timestamp bigint, numberreads bigint, bytesread bigint, iostallreadms bigint,
    numberwrites bigint, byteswritten bigint, iostallwritems bigint, iostallms bigint, bytesondisk bigint""",
    _old_file_stats,
)


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


view(
    "sys.dm_os_volume_stats()",
    """database_id int, file_id int, volume_mount_point nvarchar, volume_id nvarchar, logical_volume_name nvarchar,
    file_system_type nvarchar, total_bytes bigint, available_bytes bigint, supports_compression bit,
    supports_alternate_streams bit, supports_sparse_files bit, is_read_only bit, is_compressed bit""",
    _volume_stats,
    since=2008,
)
