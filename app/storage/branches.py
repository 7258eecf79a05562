"""Runs that share a past, as a tree: each is a run with a whole journal of its own, and knows where it left another."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from app.storage.models import RUNNING, Branch, Run
from app.storage.runs import JournalLine, RunId, journal


@dataclass(frozen=True, slots=True)
class StoredBranch:
    """One run of a tree."""

    run_id: RunId
    parent_id: RunId | None
    name: str
    tick: int
    """Where it left its parent."""
    inputs: int
    """How many lines of its parent's journal it shares."""
    mode: str
    until_tick: int
    """How far it was run."""
    lines: tuple[JournalLine, ...]
    """Its journal from the start, the shared past included."""


def keep(
    session: Session,
    run_id: RunId,
    tree_id: RunId,
    parent_id: RunId | None,
    name: str,
    tick: int,
    inputs: int,
) -> None:
    """Note where a run belongs, or its new name."""
    session.merge(
        Branch(run_id=run_id, tree_id=tree_id, parent_id=parent_id, name=name, tick=tick, inputs=inputs)
    )


def forget(session: Session, run_id: RunId) -> None:
    """Take a run out of its tree; as a run of its own it stays."""
    session.execute(delete(Branch).where(Branch.run_id == run_id))


def tree(session: Session, run_id: RunId) -> list[StoredBranch]:
    """Every run of the tree to which *run_id* belongs, in the order in which they began; empty if to none."""
    own = session.get(Branch, run_id)
    if own is None:
        return []
    found = session.execute(
        select(Branch, Run)
        .join(Run, Run.id == Branch.run_id)
        .where(Branch.tree_id == own.tree_id)
        .order_by(Run.id)
    )
    return [
        StoredBranch(
            run_id=RunId(run.id),
            parent_id=None if branch.parent_id is None else RunId(branch.parent_id),
            name=branch.name,
            tick=branch.tick,
            inputs=branch.inputs,
            mode=run.mode,
            until_tick=run.tick,
            lines=journal(session, RunId(run.id)),
        )
        for branch, run in found
    ]


def left_behind(session: Session) -> set[int]:
    """Runs that are not over but from which somebody went on in a later branch: that one is to be continued."""
    newest: dict[int, int] = {}
    rows = list(session.execute(select(Branch.run_id, Branch.tree_id)))
    for run_id, tree_id in rows:
        newest[tree_id] = max(run_id, newest.get(tree_id, run_id))
    running = set(session.scalars(select(Run.id).where(Run.status == RUNNING)))
    return {run_id for run_id, tree_id in rows if run_id in running and run_id != newest[tree_id]}
