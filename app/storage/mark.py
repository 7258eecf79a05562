"""File with the length of the current run's journal, next to the database. It reveals a torn write-ahead log.

SQLite silently drops a torn end of its log, as it must. If a disk reports a write too early, a power cut would
silently shorten a run. The program writes this mark after each input and compares it at the next start.
"""

from __future__ import annotations

import contextlib
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app.files.folders import no_file

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
