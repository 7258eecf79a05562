"""Permanent deletion of a finished run: its journal, its result and its place in a tree of branches."""

from __future__ import annotations

import sqlite3

from app.storage.runs import RunId, status_of
from app.storage.tables import ABANDONED, FINISHED, RUNNING


def finished(db: sqlite3.Connection, run_id: RunId) -> None:
    """Delete a run that is over; runs that left it stay whole, as each has its journal from the start.

    ValueError for one that is not finished: what can be taken up again is not deleted.
    """
    status = status_of(db, run_id)
    if status != FINISHED:
        raise ValueError(f"run {run_id} is {status}")
    _leave_tree(db, run_id)
    for table in ("line", "checkpoint", "result", "reflection"):
        db.execute(f"DELETE FROM {table} WHERE run_id = ?", (run_id,))
    db.execute("DELETE FROM run WHERE id = ?", (run_id,))


def _leave_tree(db: sqlite3.Connection, run_id: RunId) -> None:
    """Attach the branches of a run to its parent, at the earlier of the two branch points.

    Without a parent the eldest branch becomes the first of the tree, as all share its history up to that time.
    """
    own = db.execute("SELECT * FROM branch WHERE run_id = ?", (run_id,)).fetchone()
    if own is None:
        return
    others = db.execute(
        "SELECT * FROM branch WHERE tree_id = ? AND run_id <> ? ORDER BY run_id", (own["tree_id"], run_id)
    ).fetchall()
    children = [branch for branch in others if branch["parent_id"] == run_id]
    if all(branch["run_id"] < run_id for branch in others):
        _abandon(db, [branch["run_id"] for branch in others])
    heir, tick, inputs = own["parent_id"], own["tick"], own["inputs"]
    if heir is None and children:
        first, *children = children
        heir, tick, inputs = first["run_id"], first["tick"], first["inputs"]
        db.execute("UPDATE branch SET tree_id = ? WHERE tree_id = ?", (heir, own["tree_id"]))
        db.execute("UPDATE branch SET parent_id = NULL, tick = 0, inputs = 0 WHERE run_id = ?", (heir,))
    for child in children:
        db.execute(
            "UPDATE branch SET parent_id = ?, tick = ?, inputs = ? WHERE run_id = ?",
            (heir, min(child["tick"], tick), min(child["inputs"], inputs), child["run_id"]),
        )
    db.execute("DELETE FROM branch WHERE run_id = ?", (run_id,))


def _abandon(db: sqlite3.Connection, run_ids: list[int]) -> None:
    """Abandon runs that had been left for the deleted one, so that the next start does not offer them."""
    for run_id in run_ids:
        db.execute("UPDATE run SET status = ? WHERE id = ? AND status = ?", (ABANDONED, run_id, RUNNING))
