"""Export of a profile as JSON, even from a newer version.

The export reads a copy and does not change the file.
"""

import json
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Final

from app.files import atomic_write
from app.storage.database import APPLICATION_ID, check_integrity
from app.storage.storage_errors import (
    StorageError,
    StorageProblemKind,
    build_storage_error,
    refuse_special_files,
)
from app.words.language import tr

EXPORT_FORMAT: Final = "mirrordrill profile export"
"""Name of the format at the beginning of an export."""
EXPORTED_PROFILE_BYTES_MAX: Final = 2_000_000_000
"""Maximum size of a profile that can be exported, in bytes. Assumed: years of daily drills need some hundred
megabytes.
"""


def export_profile(file: Path, target: Path) -> int:
    """Write all tables of the profile *file* to *target* and return the number of rows.

    Raises StorageError if *file* is not a profile, is damaged or cannot be read, or if *target* cannot be
    written.
    """
    try:
        with (
            tempfile.TemporaryDirectory() as folder,
            closing(_open_copy(_copy_database(file, Path(folder)))) as copy,
        ):
            _refuse_invalid_copy(copy, file)
            tables = {name: _list_rows(copy, name) for name in _list_tables(copy)}
    except sqlite3.Error as error:
        problem = build_storage_error(error, file)
        if problem is None:
            raise
        raise problem from error
    try:
        text = json.dumps({"format": EXPORT_FORMAT, "tables": tables}, indent=1, default=bytes.hex)
        atomic_write.write_atomically(target, text + "\n")
    except OSError as error:
        raise StorageError(
            StorageProblemKind.CANNOT_OPEN,
            tr("{target} cannot be written: {why}.").format(target=target, why=error.strerror),
        ) from error
    return sum(len(rows) for rows in tables.values())


def _copy_database(file: Path, folder: Path) -> Path:
    """Copy the database with its write-ahead log to *folder* and return the path of the copy.

    SQLite must not open the original, because it writes files next to a database even to read it.
    """
    copy = folder / "copy.sqlite"
    log = file.with_name(file.name + "-wal")
    try:
        refuse_special_files(file, log)
        if file.stat().st_size + (log.stat().st_size if log.exists() else 0) > EXPORTED_PROFILE_BYTES_MAX:
            raise StorageError(
                StorageProblemKind.CANNOT_OPEN,
                tr("The file {file} exceeds the size limit of a profile.").format(file=file),
            )
        shutil.copyfile(file, copy)
        if log.exists():
            shutil.copyfile(log, folder / "copy.sqlite-wal")
    except OSError as error:
        raise StorageError(
            StorageProblemKind.CANNOT_OPEN,
            tr("{file} cannot be read: {why}.").format(file=file, why=error.strerror),
        ) from error
    return copy


def _open_copy(copy: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(copy, isolation_level=None)
    connection.text_factory = lambda raw: raw.decode("utf-8", errors="replace")
    for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "query_only = ON"):
        connection.execute(f"PRAGMA {pragma}")
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    return connection


def _refuse_invalid_copy(copy: sqlite3.Connection, file: Path) -> None:
    (application_id,) = copy.execute("PRAGMA application_id").fetchone()
    if application_id != APPLICATION_ID:
        raise StorageError(
            StorageProblemKind.NOT_A_PROFILE,
            tr("The file {file} is not a Mirrordrill profile.").format(file=file),
        )
    faults = check_integrity(copy, "quick_check")
    if faults:
        raise StorageError(
            StorageProblemKind.DAMAGED,
            tr("The profile {file} is damaged ({detail}).").format(file=file, detail=faults[0]),
        )


def _list_tables(copy: sqlite3.Connection) -> list[str]:
    """Return the names of ordinary tables. A view or virtual table could run another program's code."""
    cursor = copy.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY name")
    return [name for name, sql in cursor if sql and "VIRTUAL" not in sql.upper()[:20]]


def _list_rows(copy: sqlite3.Connection, table: str) -> list[dict[str, object]]:
    quoted = table.replace('"', '""')
    cursor = copy.execute(f'SELECT * FROM "{quoted}"')
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor]
