"""Rows of table-valued functions: all possible rows, with columns for the arguments (apply_rewriting.py)."""

from collections.abc import Iterable
from typing import Final

from engine.arithmetic import add_in_order
from engine.identifiers import make_unique_id
from engine.protocol import volumes
from engine.tsql.batches.context import SYSTEM_DATABASES, StatementContext
from engine.tsql.catalog.activity import DATA_WRITE_MS, PAGE_KB, PAGES_PER_WRITE, measure_all_loads
from engine.tsql.catalog.databases import (
    find_log_reuse_wait,
    list_copy_file_rows,
    list_file_rows,
    list_system_files,
    list_virtual_log_files,
)
from engine.tsql.catalog.sessions import compute_text_handle, list_user_sessions
from engine.tsql.catalog.shapes import find_literal_columns
from engine.tsql.catalog.view import Record, list_no_rows, register_view


def _list_statement_texts(context: StatementContext) -> Iterable[Record]:
    """Yield the text of the current or last batch of each session. Equal texts are yielded once."""
    texts = dict.fromkeys(
        session_row.last_text for session_row in list_user_sessions(context) if session_row.last_text
    )
    for text in texts:
        yield {"asked_handle": compute_text_handle(text), "text": text}


def _list_input_buffers(context: StatementContext) -> Iterable[Record]:
    """Yield the last batch of each session. [DOC: sys.dm_exec_input_buffer]."""
    for session_row in list_user_sessions(context):
        if session_row.last_text:
            yield {
                "asked_handle": session_row.spid,
                "event_type": "Language Event",
                "parameters": 0,
                "event_info": session_row.last_text,
            }


register_view("sys.dm_exec_sql_text()", _list_statement_texts)
register_view("sys.dm_exec_input_buffer()", _list_input_buffers)
register_view("sys.dm_exec_query_plan()", list_no_rows)


# --- files -----------------------------------------------------------------------------------------------


def _list_file_stats(context: StatementContext) -> Iterable[Record]:
    """Yield read and write statistics of each file, from the load in activity.py.

    After the start, the instance reads nothing from disk, because queries find all pages in memory. Derived.
    """
    for name in SYSTEM_DATABASES:
        for file in list_system_files(context, name):
            yield _build_file_row(context, file, 0.0, 0.0, 0.0)
    for copy, work in measure_all_loads(context):
        for file in list_copy_file_rows(context, copy):
            if file["file_id"] == 1:
                pages = work.pages_written
                yield _build_file_row(
                    context, file, pages / PAGES_PER_WRITE, pages * PAGE_KB, work.data_write_ms
                )
            elif file["file_id"] == 2:
                yield _build_file_row(context, file, work.log_writes, work.log_kb, work.log_write_ms)
            else:
                yield _build_file_row(context, file, 0.0, 0.0, 0.0)


def _build_file_row(
    context: StatementContext, file: Record, writes: float, written_kb: float, stall_ms: float
) -> Record:
    number = 1000 * int(str(file["database_id"])) + int(str(file["file_id"]))
    return {
        "database_id": file["database_id"],
        "file_id": file["file_id"],
        "sample_ms": 10 * context.world.tick + 10**9,
        "num_of_reads": STARTUP_READS_PER_FILE,
        "num_of_bytes_read": STARTUP_READS_PER_FILE * 65536,
        "io_stall_read_ms": STARTUP_READS_PER_FILE * round(DATA_WRITE_MS),
        "io_stall_queued_read_ms": 0,
        "num_of_writes": int(writes),
        "num_of_bytes_written": int(1024.0 * written_kb),
        "io_stall_write_ms": int(stall_ms),
        "io_stall_queued_write_ms": 0,
        "io_stall": int(stall_ms) + STARTUP_READS_PER_FILE * round(DATA_WRITE_MS),
        "size_on_disk_bytes": int(str(file["size"])) * 8192,
        "file_handle": number.to_bytes(8, "big"),
    }


STARTUP_READS_PER_FILE: Final = 20
"""Number of 64 KB reads for each file when an instance starts. Assumed."""


register_view("sys.dm_io_virtual_file_stats()", _list_file_stats)
_VIRTUALFILESTATS_COLUMNS: Final = {
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
"""Column of sys.dm_io_virtual_file_stats -> column of fn_virtualfilestats."""


def _list_old_file_stats(context: StatementContext) -> Iterable[Record]:
    for row in _list_file_stats(context):
        yield {
            _VIRTUALFILESTATS_COLUMNS[name]: value
            for name, value in row.items()
            if name in _VIRTUALFILESTATS_COLUMNS
        }


register_view("sys.fn_virtualfilestats()", _list_old_file_stats)


def _list_log_files(context: StatementContext) -> Iterable[Record]:
    """Yield the virtual log files of all writable logs."""
    for copy in context.list_copies():
        if copy.source is None:
            continue
        for file in list_virtual_log_files(context.world, copy.source):
            yield {
                "database_id": context.find_database_id(copy.database),
                **find_literal_columns("table_functions._list_log_files"),
                "vlf_begin_offset": file.offset,
                "vlf_size_mb": round(file.size / 2**20, 2),
                "vlf_sequence_number": file.number,
                "vlf_active": int(file.status == 2),
                "vlf_status": file.status,
                "vlf_parity": file.parity,
            }


register_view("sys.dm_db_log_info()", _list_log_files)


def _list_log_statistics(context: StatementContext) -> Iterable[Record]:
    """Yield log statistics of databases with a writable log, derived from the virtual log files."""
    for copy in context.list_copies():
        if copy.source is None:
            continue
        files = list(list_virtual_log_files(context.world, copy.source))
        active = [file for file in files if file.status == 2]
        newest = max(files, key=lambda file: file.number)
        yield {
            "database_id": context.find_database_id(copy.database),
            "recovery_model": copy.recovery_model.name,
            "current_vlf_sequence_number": newest.number,
            "current_vlf_size_mb": newest.size / 2**20,
            "total_vlf_count": len(files),
            "total_log_size_mb": add_in_order(file.size for file in files) / 2**20,
            "active_vlf_count": len(active),
            "active_log_size_mb": add_in_order(file.size for file in active) / 2**20,
            "log_truncation_holdup_reason": find_log_reuse_wait(context, copy),
        }


register_view("sys.dm_db_log_stats()", _list_log_statistics)


def _list_volume_stats(context: StatementContext) -> Iterable[Record]:
    """Yield the volume of each file."""
    for file in list_file_rows(context):
        letter = str(file["physical_name"])[0].upper()
        size_kb = volumes.get_size_kb(context.computer, letter) or volumes.UNSIZED_DRIVE_KB
        used_kb = volumes.compute_used_kb(context.world, context.server.name, letter)
        yield {
            "database_id": file["database_id"],
            "file_id": file["file_id"],
            "volume_mount_point": f"{letter}:\\",
            "volume_id": f"\\\\?\\Volume{{{make_unique_id('volume', context.server.name, letter).lower()}}}\\",
            "total_bytes": int(size_kb * 1024.0),
            "available_bytes": int(1024.0 * max(0.0, size_kb - used_kb)),
        }


register_view("sys.dm_os_volume_stats()", _list_volume_stats)


def _list_fixed_drives(context: StatementContext) -> Iterable[Record]:
    """Yield the drives of the computer, as xp_fixeddrives lists them."""
    for letter, free_kb in volumes.list_free_kb(context.world, context.server.name):
        yield {
            "fixed_drive_path": f"{letter}:\\",
            "drive_type": 3,
            "drive_type_desc": "DRIVE_FIXED",
            "free_space_in_bytes": int(1024.0 * free_kb),
        }


register_view("sys.dm_os_enumerate_fixed_drives", _list_fixed_drives)
