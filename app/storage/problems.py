"""Problems of the profile's file or disk, each as one sentence for users."""

from __future__ import annotations

import re
import sqlite3
from enum import Enum
from pathlib import Path

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
        sentence = tr("{file} is not a file: move it away and start again.").format(file=file)
        raise StorageError(ProblemKind.CANNOT_OPEN, sentence)


def build_missing_error(file: Path) -> StorageError:
    """Build the error of an open profile whose file has moved."""
    sentence = tr(
        "The profile {file} was moved or removed while Mirrordrill was running: your latest "
        "actions are not saved. Put it back, or start Mirrordrill again."
    )
    return StorageError(ProblemKind.GONE, sentence.format(file=file))


_BY_SQLITE_CODE = {
    sqlite3.SQLITE_CANTOPEN: (
        ProblemKind.CANNOT_OPEN,
        mark(
            "The profile {file} cannot be opened: its folder must exist, and you need write permission for it."
        ),
    ),
    sqlite3.SQLITE_PERM: (
        ProblemKind.CANNOT_OPEN,
        mark("You have no permission to open the profile {file}."),
    ),
    sqlite3.SQLITE_READONLY: (
        ProblemKind.READ_ONLY,
        mark("The profile {file} cannot be written: get write permission for the file and its folder."),
    ),
    sqlite3.SQLITE_IOERR_LOCK: (  # what a file without write permission gives to an exclusive lock
        ProblemKind.READ_ONLY,
        mark(
            "The profile {file} cannot be locked for writing: get write permission for the file "
            "and its folder, and keep it on a disk of this computer."
        ),
    ),
    sqlite3.SQLITE_FULL: (
        ProblemKind.DISK_FULL,
        mark(
            "The disk that holds {file} is full: your latest action is not saved, everything "
            "before it is. Free some space, and repeat the action."
        ),
    ),
    sqlite3.SQLITE_BUSY: (
        ProblemKind.IN_USE,
        mark("The profile {file} is in use by another Mirrordrill: close that one first."),
    ),
    sqlite3.SQLITE_IOERR: (
        ProblemKind.DISK_FAILED,
        mark("The disk failed while {file} was read or written ({detail}): your latest action is not saved."),
    ),
    sqlite3.SQLITE_NOTADB: (
        ProblemKind.NOT_A_PROFILE,
        mark("The file {file} is not a Mirrordrill profile: move it away and start again."),
    ),
    sqlite3.SQLITE_CORRUPT: (
        ProblemKind.DAMAGED,
        mark(
            "The profile {file} is damaged ({detail}): put a backup from its folder in its place, "
            "or move it away and start again."
        ),
    ),
}


_OTHER_TABLES = re.compile(r"no such (table|column)|already exists|duplicate column|has no column")
"""SQLite's messages if the tables do not match the file's version. A bug of the program would fail in every test."""


def problem_from(error: BaseException | None, file: Path) -> StorageError | None:
    """Return the problem that an SQLite *error* stands for; None if it is a fault of the program."""
    if not isinstance(error, sqlite3.Error):
        return None
    code = getattr(error, "sqlite_errorcode", None)  # absent where the driver itself complains
    if code is None:
        return None
    if code == sqlite3.SQLITE_ERROR and _OTHER_TABLES.search(str(error)):
        code = sqlite3.SQLITE_CORRUPT  # a profile that was changed from outside
    found = _BY_SQLITE_CODE.get(code) or _BY_SQLITE_CODE.get(code & 0xFF)  # the low byte is the primary code
    if found is None:
        return None
    kind, sentence = found
    return StorageError(kind, tr(sentence).format(file=file, detail=error))
