"""Problems of the profile's file or disk, each as one sentence for users."""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final

from app.files.folders import no_file
from app.words.language import mark, tr


class ProblemKind(Enum):
    """Kind of a problem, for callers that distinguish problems. The sentence is for people."""

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
    """File or disk has failed. `str()` is one sentence that names the file and the remedy."""

    def __init__(self, kind: ProblemKind, sentence: str) -> None:
        super().__init__(sentence)
        self.kind = kind


def refuse_no_file(*files: Path) -> None:
    """Raise StorageError where one of them is there and is a pipe, a device or a folder."""
    for file in filter(no_file, files):
        sentence = tr("{file} is not a file. Move it to another folder and restart.").format(file=file)
        raise StorageError(ProblemKind.CANNOT_OPEN, sentence)


def build_missing_error(file: Path) -> StorageError:
    """Build the error of an open profile whose file has moved."""
    sentence = tr(
        "The profile {file} was moved or removed while Mirrordrill was running. Your latest "
        "actions are not saved. Restore the file, or restart Mirrordrill."
    )
    return StorageError(ProblemKind.GONE, sentence.format(file=file))


_BY_SQLITE_CODE = {
    sqlite3.SQLITE_CANTOPEN: (
        ProblemKind.CANNOT_OPEN,
        mark("Cannot open the profile {file}. Its folder must exist, and you need write permission."),
    ),
    sqlite3.SQLITE_PERM: (
        ProblemKind.CANNOT_OPEN,
        mark("You have no permission to open the profile {file}."),
    ),
    sqlite3.SQLITE_READONLY: (
        ProblemKind.READ_ONLY,
        mark("Cannot write the profile {file}. You need write permission for the file and its folder."),
    ),
    sqlite3.SQLITE_IOERR_LOCK: (  # result code of an exclusive lock on a read-only file
        ProblemKind.READ_ONLY,
        mark(
            "Cannot lock the profile {file}. You need write permission for the file and its "
            "folder, and it must be on a local disk."
        ),
    ),
    sqlite3.SQLITE_FULL: (
        ProblemKind.DISK_FULL,
        mark(
            "The disk with {file} is full. Your latest action is not saved. Free some space and "
            "repeat the action."
        ),
    ),
    sqlite3.SQLITE_BUSY: (
        ProblemKind.IN_USE,
        mark("Another Mirrordrill uses the profile {file}. Close it first."),
    ),
    sqlite3.SQLITE_IOERR: (
        ProblemKind.DISK_FAILED,
        mark("Disk error while reading or writing {file} ({detail}). Your latest action is not saved."),
    ),
    sqlite3.SQLITE_NOTADB: (
        ProblemKind.NOT_A_PROFILE,
        mark("The file {file} is not a Mirrordrill profile. Move it to another folder and restart."),
    ),
    sqlite3.SQLITE_CORRUPT: (
        ProblemKind.DAMAGED,
        mark(
            "The profile {file} is damaged ({detail}). Replace it with a backup from its folder, "
            "or move it to another folder and restart."
        ),
    ),
}


_OTHER_TABLES = re.compile(r"no such (table|column)|already exists|duplicate column|has no column")
"""SQLite's messages if the tables do not match the file's version. A bug of the program would fail in every test."""


def problem_from(error: BaseException | None, file: Path) -> StorageError | None:
    """Return the problem for an SQLite *error*; None if it is a defect of the program."""
    if not isinstance(error, sqlite3.Error):
        return None
    code = getattr(error, "sqlite_errorcode", None)  # missing if the driver itself raised the error
    if code is None:
        return None
    if code == sqlite3.SQLITE_ERROR and _OTHER_TABLES.search(str(error)):
        code = sqlite3.SQLITE_CORRUPT  # the profile was changed by another program
    found = _BY_SQLITE_CODE.get(code) or _BY_SQLITE_CODE.get(code & 0xFF)  # the low byte is the primary code
    if found is None:
        return None
    kind, sentence = found
    return StorageError(kind, tr(sentence).format(file=file, detail=error))


NAME: Final = "journal.mark"
_FORM: Final = re.compile(rb"run (\d{1,18}) lines (\d{1,18})\s*\Z")
_SIZE: Final = 64
"""Constant size in bytes, so that a full disk has space for it."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Copy of the newest run numbers, outside the database."""

    run_id: int
    lines: int


def write(folder: Path, run_id: int, lines: int) -> None:
    """Store the number of lines of the run.

    The lines are already in the database, so an error here does no harm.
    """
    if no_file(folder / NAME):
        return
    text = f"run {run_id} lines {lines}".ljust(_SIZE - 1) + "\n"
    with contextlib.suppress(OSError):
        file = os.open(folder / NAME, os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            os.write(file, text.encode())
            os.fsync(file)
        finally:
            os.close(file)


def read(folder: Path) -> Mark | None:
    """Return the mark; None if it is missing or invalid."""
    if no_file(folder / NAME):
        return None
    try:
        with (folder / NAME).open("rb") as file:
            found = _FORM.match(file.read(_SIZE))
    except OSError:
        return None
    return Mark(int(found[1]), int(found[2])) if found else None


def remove(folder: Path) -> None:
    """Remove the mark, because a new database does not contain the runs of an old one."""
    with contextlib.suppress(OSError):
        (folder / NAME).unlink()
