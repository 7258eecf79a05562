"""Runs and their journals, which contain everything that an exact replay needs."""

import sqlite3
from datetime import datetime
from typing import Final, NewType
from zlib import crc32

from msgspec import Struct
from msgspec.structs import astuple

from app.learning.reflection import Reflection
from app.storage.storage_errors import JournalMark
from app.storage.tables import ABANDONED, FINISHED, RUNNING, format_utc_now, parse_utc_time
from app.words.language import tr

RunId = NewType("RunId", int)
"""ID of a run in the profile."""


class JournalLine(Struct, frozen=True):
    """Input line with its tick."""

    tick: int
    text: str


class CheckpointHash(Struct, frozen=True):
    """Hash of the simulated state at a tick."""

    tick: int
    state_hash: str


class UnfinishedRun(Struct, frozen=True):
    """Run that was neither finished nor abandoned, because its process was killed."""

    run_id: RunId
    scenario_name: str
    scenario_text: str
    scenario_hash: str
    seed: int
    engine_version: str
    mode: str
    started_at: datetime
    tick: int
    """Last tick of the run. A replay applies *lines* up to this tick."""
    lines: tuple[JournalLine, ...]
    """Journal of the run."""
    checkpoints: tuple[CheckpointHash, ...]
    """State hashes, with which a replay is compared."""
    problem: str | None
    """Reason why the run cannot be resumed, as a sentence; None if the run can be resumed."""


TICK_MAX: Final = 100_000_000
"""Last valid tick, a million seconds. Without this limit, a corrupted tick could make a replay endless."""


def create_run(
    db: sqlite3.Connection,
    *,
    scenario_name: str,
    scenario_text: str,
    scenario_hash: str,
    seed: int,
    engine_version: str,
    mode: str,
) -> RunId:
    """Store a new run and return its ID."""
    if not 0 <= seed < 2**63:
        raise ValueError(f"seed {seed} is not in 0 ... 2**63 - 1, the range that the profile can store")
    row = (scenario_name, scenario_text, scenario_hash, seed, engine_version, mode, RUNNING, format_utc_now())
    cursor = db.execute(
        "INSERT INTO run (scenario_name, scenario_text, scenario_hash, seed, engine_version, mode, status,"
        " started_at, tick, line_count, line_chain) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0) RETURNING id",
        row,
    )
    return RunId(cursor.fetchone()["id"])


def append_line(db: sqlite3.Connection, run_id: RunId, tick: int, text: str) -> int:
    """Append the line *text* to the journal and return the new number of lines of the run."""
    store_position(db, run_id, tick)
    run = db.execute("SELECT line_count, line_chain FROM run WHERE id = ?", (run_id,)).fetchone()
    count: int = run["line_count"] + 1
    chain = _extend_checksum(run["line_chain"], tick, text)
    db.execute("UPDATE run SET line_count = ?, line_chain = ? WHERE id = ?", (count, chain, run_id))
    db.execute(
        "INSERT INTO line (run_id, number, tick, text) VALUES (?, ?, ?, ?)", (run_id, count, tick, text)
    )
    return count


def store_position(db: sqlite3.Connection, run_id: RunId, tick: int) -> None:
    """Store that an unfinished run has reached *tick*.

    Raises ValueError if the run has ended, because its history must not change.
    """
    status = read_status(db, run_id)
    if status != RUNNING:
        raise ValueError(f"run {run_id} is {status}")
    db.execute("UPDATE run SET tick = max(tick, ?) WHERE id = ?", (tick, run_id))


def store_hash(db: sqlite3.Connection, run_id: RunId, tick: int, state_hash: str) -> None:
    """Store the hash of the simulated state at a tick."""
    store_position(db, run_id, tick)
    db.execute(
        "REPLACE INTO checkpoint (run_id, tick, state_hash) VALUES (?, ?, ?)", (run_id, tick, state_hash)
    )


def end_run(db: sqlite3.Connection, run_id: RunId, tick: int, status: str) -> None:
    """End a run at *tick* with the status FINISHED or ABANDONED.

    Raises ValueError if the run has already ended.
    """
    store_position(db, run_id, tick)
    db.execute("UPDATE run SET status = ? WHERE id = ?", (status, run_id))


def abandon_run(db: sqlite3.Connection, run_id: RunId) -> None:
    """Mark a run as abandoned."""
    end_run(db, run_id, 0, ABANDONED)


def read_status(db: sqlite3.Connection, run_id: RunId) -> str:
    """Return the status of a run. Raises LookupError for an unknown run."""
    row = db.execute("SELECT status FROM run WHERE id = ?", (run_id,)).fetchone()
    if row is None:
        raise LookupError(f"there is no run {run_id}")
    return str(row["status"])


def list_unfinished_runs(
    db: sqlite3.Connection, journal_mark: JournalMark | None = None
) -> list[UnfinishedRun]:
    """Return the unfinished runs, newest first.

    If a run has fewer lines than *journal_mark* states, its `problem` describes this.
    """
    runs = db.execute("SELECT * FROM run WHERE status = ? ORDER BY id DESC", (RUNNING,)).fetchall()
    return [_read_run(db, run, journal_mark) for run in runs]


def find_lost_runs(db: sqlite3.Connection, journal_mark: JournalMark) -> list[str]:
    """Return a message if the run of *journal_mark* is missing from the database; else an empty list."""
    if db.execute("SELECT 1 FROM run WHERE id = ?", (journal_mark.run_id,)).fetchone():
        return []
    return [
        tr(
            "Run {id} with {count} lines is missing: the disk lost confirmed writes, or an older "
            "copy of the profile was restored."
        ).format(id=journal_mark.run_id, count=journal_mark.lines)
    ]


def has_run_of(db: sqlite3.Connection, scenario_name: str) -> bool:
    """Return whether a run of this scenario was ever started."""
    cursor = db.execute("SELECT 1 FROM run WHERE scenario_name = ? LIMIT 1", (scenario_name,))
    return cursor.fetchone() is not None


def list_started_scenarios(db: sqlite3.Connection) -> frozenset[str]:
    """Return the names of all scenarios that were ever started."""
    return frozenset(row["scenario_name"] for row in db.execute("SELECT DISTINCT scenario_name FROM run"))


def read_scenario_text(db: sqlite3.Connection, run_id: RunId) -> str:
    """Return the scenario text of a run. Raises LookupError for an unknown run."""
    row = db.execute("SELECT scenario_text FROM run WHERE id = ?", (run_id,)).fetchone()
    if row is None:
        raise LookupError(f"there is no run {run_id}")
    return str(row["scenario_text"])


def find_last_run_id(db: sqlite3.Connection) -> RunId | None:
    """Return the ID of the run that was started last; None before the first run."""
    (last_run_id,) = db.execute("SELECT max(id) FROM run").fetchone()
    return None if last_run_id is None else RunId(last_run_id)


def read_journal(db: sqlite3.Connection, run_id: RunId) -> tuple[JournalLine, ...]:
    """Return the input lines of a run."""
    cursor = db.execute("SELECT tick, text FROM line WHERE run_id = ? ORDER BY number", (run_id,))
    return tuple(JournalLine(line["tick"], line["text"]) for line in cursor)


def list_damaged_run_messages(db: sqlite3.Connection) -> list[str]:
    """Return a message for each run whose journal fails its checksum."""
    runs = db.execute("SELECT id, scenario_name, seed, tick, line_count, line_chain FROM run").fetchall()
    problems = [_find_journal_problem(run, read_journal(db, RunId(run["id"]))) for run in runs]
    return [problem for problem in problems if problem]


def _read_run(db: sqlite3.Connection, run: sqlite3.Row, journal_mark: JournalMark | None) -> UnfinishedRun:
    run_id = RunId(run["id"])
    lines = read_journal(db, run_id)
    hashes = db.execute("SELECT tick, state_hash FROM checkpoint WHERE run_id = ? ORDER BY tick", (run_id,))
    return UnfinishedRun(
        run_id=run_id,
        scenario_name=run["scenario_name"],
        scenario_text=run["scenario_text"],
        scenario_hash=run["scenario_hash"],
        seed=run["seed"],
        engine_version=run["engine_version"],
        mode=run["mode"],
        started_at=parse_utc_time(run["started_at"]),
        tick=run["tick"],
        lines=lines,
        checkpoints=tuple(CheckpointHash(row["tick"], row["state_hash"]) for row in hashes),
        problem=_find_journal_problem(
            run,
            lines,
            journal_mark.lines if journal_mark is not None and journal_mark.run_id == run_id else 0,
        ),
    )


def _extend_checksum(chain: int, tick: int, text: str) -> int:
    """Return the CRC-32 checksum of a journal after adding a line (*tick* and *text*).

    *chain*: checksum of all earlier lines.
    """
    return crc32(f"{tick} {text}\n".encode(), chain)


def _find_journal_problem(
    run: sqlite3.Row, lines: tuple[JournalLine, ...], minimum_lines: int = 0
) -> str | None:
    """Return a sentence if the journal was changed or has lost lines; None if the journal is intact.

    A changed journal is refused, because its replay would be a different run without any warning.
    """
    subject = tr("The journal of run {id} ({scenario})").format(id=run["id"], scenario=run["scenario_name"])
    line_count = max(run["line_count"], minimum_lines)
    if len(lines) != line_count:
        return tr("{where} contains {count} of {all} lines: the file was damaged or changed.").format(
            where=subject, count=len(lines), all=line_count
        )
    chain = 0
    for line in lines:
        chain = _extend_checksum(chain, line.tick, line.text)
    if chain != run["line_chain"] or run["seed"] < 0 or not 0 <= run["tick"] <= TICK_MAX:
        return tr("{where} differs from the written version: the file was damaged or changed.").format(
            where=subject
        )
    return None


def delete_finished_run(db: sqlite3.Connection, run_id: RunId) -> None:
    """Delete a finished run.

    Runs that branched off from it stay complete, because each stores its journal from the start. Raises
    ValueError for an unfinished run, because the run can still be continued.
    """
    status = read_status(db, run_id)
    if status != FINISHED:
        raise ValueError(f"run {run_id} is {status}")
    _detach_from_tree(db, run_id)
    for table in ("line", "checkpoint", "result", "reflection"):
        db.execute(f"DELETE FROM {table} WHERE run_id = ?", (run_id,))
    db.execute("DELETE FROM run WHERE id = ?", (run_id,))


def _detach_from_tree(db: sqlite3.Connection, run_id: RunId) -> None:
    """Remove a run from its tree of branches, and attach its child branches to its parent.

    Each child then branches off at its own branch point or that of the removed run, whichever is
    earlier. If the removed run has no parent, its oldest child becomes the first run of the tree. All
    children share its history up to the branch point.
    """
    own_branch = db.execute("SELECT * FROM branch WHERE run_id = ?", (run_id,)).fetchone()
    if own_branch is None:
        return
    child_branches = db.execute(
        "SELECT * FROM branch WHERE tree_id = ? AND run_id <> ? ORDER BY run_id",
        (own_branch["tree_id"], run_id),
    ).fetchall()
    children = [branch for branch in child_branches if branch["parent_id"] == run_id]
    if all(branch["run_id"] < run_id for branch in child_branches):
        _abandon_superseded_runs(db, [branch["run_id"] for branch in child_branches])
    heir, tick, inputs = own_branch["parent_id"], own_branch["tick"], own_branch["inputs"]
    if heir is None and children:
        first, *children = children
        heir, tick, inputs = first["run_id"], first["tick"], first["inputs"]
        db.execute("UPDATE branch SET tree_id = ? WHERE tree_id = ?", (heir, own_branch["tree_id"]))
        db.execute("UPDATE branch SET parent_id = NULL, tick = 0, inputs = 0 WHERE run_id = ?", (heir,))
    for child in children:
        db.execute(
            "UPDATE branch SET parent_id = ?, tick = ?, inputs = ? WHERE run_id = ?",
            (heir, min(child["tick"], tick), min(child["inputs"], inputs), child["run_id"]),
        )
    db.execute("DELETE FROM branch WHERE run_id = ?", (run_id,))


def _abandon_superseded_runs(db: sqlite3.Connection, run_ids: list[int]) -> None:
    """Mark *run_ids* as abandoned, so that the next start does not offer to continue them.

    A newer run in their tree had superseded these runs. The newer run is being deleted.
    """
    for run_id in run_ids:
        db.execute("UPDATE run SET status = ? WHERE id = ? AND status = ?", (ABANDONED, run_id, RUNNING))


def store_reflection(db: sqlite3.Connection, run_id: RunId, reflection: Reflection) -> None:
    """Store the reflection of a run."""
    db.execute(
        "REPLACE INTO reflection (run_id, happened, otherwise, expected_score) VALUES (?, ?, ?, ?)",
        (run_id, *astuple(reflection)),
    )


def read_reflection(db: sqlite3.Connection, run_id: RunId) -> Reflection | None:
    """Return the reflection of a run; None if there is none."""
    row = db.execute("SELECT * FROM reflection WHERE run_id = ?", (run_id,)).fetchone()
    return None if row is None else Reflection(row["happened"], row["otherwise"], row["expected_score"])


class StoredBranch(Struct, frozen=True):
    """Run in a tree of runs, with its branch point."""

    run_id: RunId
    parent_id: RunId | None
    name: str
    tick: int
    """Tick at which the run branched off from its parent."""
    inputs: int
    """Number of journal lines that the run shares with its parent."""
    mode: str
    until_tick: int
    """Last tick of the run."""
    lines: tuple[JournalLine, ...]
    """Journal from the start, including the lines shared with the parent."""


def store_branch(
    db: sqlite3.Connection,
    run_id: RunId,
    tree_id: RunId,
    parent_id: RunId | None,
    name: str,
    tick: int,
    inputs: int,
) -> None:
    """Store the position of a run in its tree, or the new name of a branch."""
    db.execute(
        "REPLACE INTO branch (run_id, tree_id, parent_id, name, tick, inputs) VALUES (?, ?, ?, ?, ?, ?)",
        (run_id, tree_id, parent_id, name, tick, inputs),
    )


def remove_branch(db: sqlite3.Connection, run_id: RunId) -> None:
    """Remove a run from its tree; it stays as a separate run."""
    db.execute("DELETE FROM branch WHERE run_id = ?", (run_id,))


def list_branches(db: sqlite3.Connection, run_id: RunId) -> list[StoredBranch]:
    """Return the runs of the tree of *run_id* in the order of their start; empty if the run has no tree."""
    cursor = db.execute(
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
            lines=read_journal(db, RunId(row["run_id"])),
        )
        for row in cursor.fetchall()
    ]


def find_superseded_runs(db: sqlite3.Connection) -> set[int]:
    """Return the unfinished runs that have a newer run in their tree.

    Only the newest run of a tree can be continued.
    """
    cursor = db.execute(
        "SELECT run_id FROM branch JOIN run ON run.id = run_id WHERE status = ?"
        " AND run_id < (SELECT max(run_id) FROM branch AS other WHERE other.tree_id = branch.tree_id)",
        (RUNNING,),
    )
    return {row["run_id"] for row in cursor}
