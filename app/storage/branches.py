"""Runs with a common past, as a tree: each has a complete journal and the point where it left its parent."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from app.storage.runs import JournalLine, RunId, journal
from app.storage.tables import RUNNING


@dataclass(frozen=True, slots=True)
class StoredBranch:
    """Run of a tree."""

    run_id: RunId
    parent_id: RunId | None
    name: str
    tick: int
    """Tick at which the branch left its parent."""
    inputs: int
    """Number of lines that it shares with its parent's journal."""
    mode: str
    until_tick: int
    """Last tick of the branch's run."""
    lines: tuple[JournalLine, ...]
    """Journal from the start, including the common past."""


def keep(
    db: sqlite3.Connection,
    run_id: RunId,
    tree_id: RunId,
    parent_id: RunId | None,
    name: str,
    tick: int,
    inputs: int,
) -> None:
    """Store the place of a run in its tree, or its new name."""
    db.execute(
        "REPLACE INTO branch (run_id, tree_id, parent_id, name, tick, inputs) VALUES (?, ?, ?, ?, ?, ?)",
        (run_id, tree_id, parent_id, name, tick, inputs),
    )


def forget(db: sqlite3.Connection, run_id: RunId) -> None:
    """Remove a run from its tree; it stays as a separate run."""
    db.execute("DELETE FROM branch WHERE run_id = ?", (run_id,))


def tree(db: sqlite3.Connection, run_id: RunId) -> list[StoredBranch]:
    """Return the runs of the tree of *run_id*, in the order in which they began; empty without a tree."""
    found = db.execute(
        "SELECT branch.*, run.mode, run.tick AS until_tick FROM branch JOIN run ON run.id = branch.run_id"
        " WHERE tree_id = (SELECT tree_id FROM branch WHERE run_id = ?) ORDER BY run.id",
        (run_id,),
    )
    return [
        StoredBranch(
            run_id=RunId(row["run_id"]),
            parent_id=row["parent_id"],
            name=row["name"],
            tick=row["tick"],
            inputs=row["inputs"],
            mode=row["mode"],
            until_tick=row["until_tick"],
            lines=journal(db, RunId(row["run_id"])),
        )
        for row in found.fetchall()
    ]


def find_superseded_runs(db: sqlite3.Connection) -> set[int]:
    """Return unfinished runs with a later branch in their tree: only that branch can be continued."""
    found = db.execute(
        "SELECT run_id FROM branch JOIN run ON run.id = run_id WHERE status = ?"
        " AND run_id < (SELECT max(run_id) FROM branch AS other WHERE other.tree_id = branch.tree_id)",
        (RUNNING,),
    )
    return {row["run_id"] for row in found}
