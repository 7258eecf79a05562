"""Errors of the profile's file or disk as sentences for users, and the journal mark.

The journal mark detects lost lines of a journal.
"""

import contextlib
import os
import re
import sqlite3
from enum import Enum
from pathlib import Path
from typing import Final

from msgspec import Struct

from app.files.folders import is_special_file
from app.words.language import tr
from engine.tables import read_table


class StorageProblemKind(Enum):
    """Kind of a storage problem, for callers that handle kinds differently."""

    CANNOT_OPEN = "cannot open"
    READ_ONLY = "read only"
    DISK_FULL = "disk full"
    IN_USE = "in use"
    DISK_FAILED = "disk failed"
    NOT_A_PROFILE = "not a profile"
    DAMAGED = "damaged"
    NEWER = "newer"
    NETWORK_DRIVE = "network drive"
    GONE = "gone"


class StorageError(Exception):
    """Failure of the profile's file or disk. `str()` returns one sentence that names the file and the remedy."""

    def __init__(self, kind: StorageProblemKind, sentence: str) -> None:
        super().__init__(sentence)
        self.kind = kind


def refuse_special_files(*files: Path) -> None:
    """Raise StorageError if one of *files* exists and is a pipe, a device or a folder."""
    for file in filter(is_special_file, files):
        sentence = tr("{file} is not a file. Move it to another folder and restart.").format(file=file)
        raise StorageError(StorageProblemKind.CANNOT_OPEN, sentence)


def build_missing_error(file: Path) -> StorageError:
    """Build the error for an open profile whose file was moved or removed."""
    sentence = tr(
        "The profile {file} was moved or removed while Mirrordrill was running. Your latest "
        "actions are not saved. Restore the file, or restart Mirrordrill."
    )
    return StorageError(StorageProblemKind.GONE, sentence.format(file=file))


_PROBLEM_BY_SQLITE_CODE: Final = {
    getattr(sqlite3, row["code"]): (StorageProblemKind[row["kind"]], row["text"])
    for row in read_table("app.storage", "sqlite_errors.tsv")
}
"""Result code of SQLite -> kind and text. SQLITE_IOERR_LOCK occurs for an exclusive lock on a read-only file."""


_SCHEMA_MISMATCH_MESSAGES = re.compile(
    r"no such (table|column)|already exists|duplicate column|has no column"
)
"""Pattern of SQLite's messages for tables that do not match the version of the file.

Tests ensure that wrong SQL of the program is not the cause.
"""


def build_storage_error(error: BaseException | None, file: Path) -> StorageError | None:
    """Return the StorageError for an SQLite *error*; None if the error is a defect of the program."""
    if not isinstance(error, sqlite3.Error):
        return None
    code = getattr(error, "sqlite_errorcode", None)  # Python's driver raises errors without a code
    if code is None:
        return None
    if code == sqlite3.SQLITE_ERROR and _SCHEMA_MISMATCH_MESSAGES.search(str(error)):
        code = sqlite3.SQLITE_CORRUPT  # another program has changed the profile
    # the low byte is the primary code
    problem = _PROBLEM_BY_SQLITE_CODE.get(code) or _PROBLEM_BY_SQLITE_CODE.get(code & 0xFF)
    if problem is None:
        return None
    kind, sentence = problem
    return StorageError(kind, tr(sentence).format(file=file, detail=error))


JOURNAL_MARK_FILE_NAME: Final = "journal.mark"
"""Name of the file that contains the journal mark."""
_MARK_PATTERN: Final = re.compile(rb"run (\d{1,18}) lines (\d{1,18})\s*\Z")
"""Pattern of the text in the journal mark's file."""
_MARK_BYTES: Final = 64
"""Size of the journal mark's file in bytes.

It is constant, so that a full disk does not prevent overwriting.
"""


class JournalMark(Struct, frozen=True):
    """ID of the newest run and the number of its stored lines. It is kept in a file outside the database.

    A comparison with the database detects lost lines.
    """

    run_id: int
    lines: int
    """Number of stored journal lines."""


def write_journal_mark(folder: Path, run_id: int, lines: int) -> None:
    """Store the number of lines of the run in the journal mark.

    Ignore errors: the lines are already in the database.
    """
    if is_special_file(folder / JOURNAL_MARK_FILE_NAME):
        return
    text = f"run {run_id} lines {lines}".ljust(_MARK_BYTES - 1) + "\n"
    with contextlib.suppress(OSError):
        file = os.open(folder / JOURNAL_MARK_FILE_NAME, os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            os.write(file, text.encode())
            os.fsync(file)
        finally:
            os.close(file)


def read_journal_mark(folder: Path) -> JournalMark | None:
    """Return the journal mark; None if it is missing or invalid."""
    if is_special_file(folder / JOURNAL_MARK_FILE_NAME):
        return None
    try:
        with (folder / JOURNAL_MARK_FILE_NAME).open("rb") as file:
            mark_match = _MARK_PATTERN.match(file.read(_MARK_BYTES))
    except OSError:
        return None
    return JournalMark(int(mark_match[1]), int(mark_match[2])) if mark_match else None


def remove_journal_mark(folder: Path) -> None:
    """Remove the journal mark, because a new database does not contain the runs of an old one."""
    with contextlib.suppress(OSError):
        (folder / JOURNAL_MARK_FILE_NAME).unlink()
