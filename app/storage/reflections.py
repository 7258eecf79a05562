"""People's reflections on their runs, stored with the runs."""

from __future__ import annotations

import sqlite3
from dataclasses import astuple

from app.learning.reflection import Reflection
from app.storage.runs import RunId


def keep(db: sqlite3.Connection, run_id: RunId, reflection: Reflection) -> None:
    """Store the reflection of a run."""
    db.execute(
        "REPLACE INTO reflection (run_id, happened, otherwise, expected_score) VALUES (?, ?, ?, ?)",
        (run_id, *astuple(reflection)),
    )


def of_run(db: sqlite3.Connection, run_id: RunId) -> Reflection | None:
    """Return the reflection of a run; None if there is none."""
    row = db.execute("SELECT * FROM reflection WHERE run_id = ?", (run_id,)).fetchone()
    return None if row is None else Reflection(row["happened"], row["otherwise"], row["expected_score"])
