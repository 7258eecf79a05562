"""Table-valued functions: all possible rows of each, with the columns that take its arguments (apply.py)."""

from collections.abc import Iterable
from typing import Final

from engine.arithmetic import total
from engine.identifiers import unique_id
from engine.protocol import volumes
from engine.tsql.batches.context import SYSTEM_DATABASES, Context
from engine.tsql.catalog.activity import DATA_WRITE_MS, PAGE_KB, PAGES_A_WRITE, measure_all_loads
from engine.tsql.catalog.databases import (
    files_of,
    log_reuse_wait,
    rows_of_files,
    system_files,
    virtual_log_files,
)
from engine.tsql.catalog.sessions import text_handle, user_sessions
from engine.tsql.catalog.shapes import literals
from engine.tsql.catalog.view import Record, no_rows, view


def _texts(context: Context) -> Iterable[Record]:
    """Yield the present or last texts of all connections, each only once."""
    texts = dict.fromkeys(
        session_row.last_text for session_row in user_sessions(context) if session_row.last_text
    )
    for text in texts:
        yield {"asked_handle": text_handle(text), "text": text}


def _input_buffers(context: Context) -> Iterable[Record]:
    """Yield the last batch of each connection. [DOC: sys.dm_exec_input_buffer]."""
    for session_row in user_sessions(context):
        if session_row.last_text:
            yield {
                "asked_handle": session_row.spid,
                "event_type": "Language Event",
                "parameters": 0,
                "event_info": session_row.last_text,
            }


view("sys.dm_exec_sql_text()", _texts)
view("sys.dm_exec_input_buffer()", _input_buffers)
view("sys.dm_exec_query_plan()", no_rows)
view("sys.fn_trace_getinfo()", no_rows)


# --- files -----------------------------------------------------------------------------------------------


def _file_stats(context: Context) -> Iterable[Record]:
    """Yield the writes of files, from the flow (activity.py).

    After the start nothing is read from disk, because queries find all pages in memory. Derived.
    """
    for name in SYSTEM_DATABASES:
        for file in system_files(context, name):
            yield _file_row(context, file, 0.0, 0.0, 0.0)
    for copy, work in measure_all_loads(context):
        for file in files_of(context, copy):
            if file["file_id"] == 1:
                pages = work.pages_written
                yield _file_row(context, file, pages / PAGES_A_WRITE, pages * PAGE_KB, work.data_write_ms)
            elif file["file_id"] == 2:
                yield _file_row(context, file, work.log_writes, work.log_kb, work.log_write_ms)
            else:
                yield _file_row(context, file, 0.0, 0.0, 0.0)


def _file_row(context: Context, file: Record, writes: float, written_kb: float, stall_ms: float) -> Record:
    number = 1000 * int(str(file["database_id"])) + int(str(file["file_id"]))
    return {
        "database_id": file["database_id"],
        "file_id": file["file_id"],
        "sample_ms": 10 * context.world.tick + 10**9,
        "num_of_reads": READS_AT_START,
        "num_of_bytes_read": READS_AT_START * 65536,
        "io_stall_read_ms": READS_AT_START * round(DATA_WRITE_MS),
        "io_stall_queued_read_ms": 0,
        "num_of_writes": int(writes),
        "num_of_bytes_written": int(1024.0 * written_kb),
        "io_stall_write_ms": int(stall_ms),
        "io_stall_queued_write_ms": 0,
        "io_stall": int(stall_ms) + READS_AT_START * round(DATA_WRITE_MS),
        "size_on_disk_bytes": int(str(file["size"])) * 8192,
        "file_handle": number.to_bytes(8, "big"),
    }


READS_AT_START: Final = 20
"""Number of reads of 64 KB with which an instance opens a file. Assumed."""


view("sys.dm_io_virtual_file_stats()", _file_stats)
_OLD_NAMES: Final = {
    "database_id": "DbId",
    "file_id": "FileId",
    "sample_ms": "TimeStamp",
    "num_of_reads": "NumberReads",
    "num_of_bytes_read": "BytesRead",
    "io_stall_read_ms": "IoStallReadMS",
    "num_of_writes": "NumberWrites",
    "num_of_bytes_written": "BytesWritten",
    "io_stall_write_ms": "IoStallWriteMS",
    "io_stall": "IoStallMS",
    "size_on_disk_bytes": "BytesOnDisk",
    "file_handle": "FileHandle",
}
"""Column of the successor -> column of fn_virtualfilestats."""


def _old_file_stats(context: Context) -> Iterable[Record]:
    for row in _file_stats(context):
        yield {_OLD_NAMES[name]: value for name, value in row.items() if name in _OLD_NAMES}


view("sys.fn_virtualfilestats()", _old_file_stats)


def _log_info(context: Context) -> Iterable[Record]:
    """Yield the virtual log files of writable logs, as DBCC LOGINFO lists them."""
    for copy in context.copies():
        if copy.source is None:
            continue
        for file in virtual_log_files(context.world, copy.source):
            yield {
                "database_id": context.database_id(copy.database),
                **literals("table_functions._log_info"),
                "vlf_begin_offset": file.offset,
                "vlf_size_mb": round(file.size / 2**20, 2),
                "vlf_sequence_number": file.number,
                "vlf_active": int(file.status == 2),
                "vlf_status": file.status,
                "vlf_parity": file.parity,
            }


view("sys.dm_db_log_info()", _log_info)


def _log_stats(context: Context) -> Iterable[Record]:
    """Yield statistics of writable logs. They are derived like the virtual log files."""
    for copy in context.copies():
        if copy.source is None:
            continue
        files = list(virtual_log_files(context.world, copy.source))
        active = [file for file in files if file.status == 2]
        newest = max(files, key=lambda file: file.number)
        yield {
            "database_id": context.database_id(copy.database),
            "recovery_model": copy.recovery_model.name,
            "current_vlf_sequence_number": newest.number,
            "current_vlf_size_mb": newest.size / 2**20,
            "total_vlf_count": len(files),
            "total_log_size_mb": total(file.size for file in files) / 2**20,
            "active_vlf_count": len(active),
            "active_log_size_mb": total(file.size for file in active) / 2**20,
            "log_truncation_holdup_reason": log_reuse_wait(context, copy),
        }


view("sys.dm_db_log_stats()", _log_stats)


def _volume_stats(context: Context) -> Iterable[Record]:
    """Yield the drive of each file."""
    for file in rows_of_files(context):
        letter = str(file["physical_name"])[0].upper()
        size_kb = volumes.size_kb(context.computer, letter) or volumes.UNSIZED_DRIVE_KB
        used_kb = volumes.used_kb(context.world, context.server.name, letter)
        yield {
            "database_id": file["database_id"],
            "file_id": file["file_id"],
            "volume_mount_point": f"{letter}:\\",
            "volume_id": f"\\\\?\\Volume{{{unique_id('volume', context.server.name, letter).lower()}}}\\",
            "total_bytes": int(size_kb * 1024.0),
            "available_bytes": int(1024.0 * max(0.0, size_kb - used_kb)),
        }


view("sys.dm_os_volume_stats()", _volume_stats)


def _fixed_drives(context: Context) -> Iterable[Record]:
    """Yield the drives of the computer, as xp_fixeddrives lists them."""
    for letter, free_kb in volumes.list_free_kb(context.world, context.server.name):
        yield {
            "fixed_drive_path": f"{letter}:\\",
            "drive_type": 3,
            "drive_type_desc": "DRIVE_FIXED",
            "free_space_in_bytes": int(1024.0 * free_kb),
        }


view("sys.dm_os_enumerate_fixed_drives", _fixed_drives)
