"""A finished run taken out of the profile for good: its journal, its result and its place in a tree of branches."""

from __future__ import annotations

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from app.storage.models import ABANDONED, FINISHED, RUNNING, Branch, Checkpoint, Line, Result, Run
from app.storage.runs import RunId


def finished(session: Session, run_id: RunId) -> None:
    """Delete a run that is over; runs that left it stay whole, as each has its journal from the start.

    ValueError for one that is not finished: what can be taken up again is not deleted.
    """
    run = session.get_one(Run, run_id)
    if run.status != FINISHED:
        raise ValueError(f"run {run_id} is {run.status}")
    _leave_tree(session, run_id)
    for table in (Line, Checkpoint, Result):
        session.execute(delete(table).where(table.run_id == run_id))
    session.execute(delete(Run).where(Run.id == run_id))


def _leave_tree(session: Session, run_id: RunId) -> None:
    """Whoever left this run has left its parent now, where the earlier of the two did; without one the eldest is
    the first of the tree, as they all share its past up to there."""
    own = session.get(Branch, run_id)
    if own is None:
        return
    tree = list(session.scalars(select(Branch).where(Branch.tree_id == own.tree_id).order_by(Branch.run_id)))
    others = [branch for branch in tree if branch.run_id != run_id]
    children = [branch for branch in others if branch.parent_id == run_id]
    if tree and tree[-1] is own:
        _give_up(session, [branch.run_id for branch in others])
    heir = own
    if own.parent_id is None and children:
        heir, *children = children
        heir.parent_id = None
        for branch in others:
            branch.tree_id = heir.run_id
    for child in children:
        child.parent_id = own.parent_id if heir is own else heir.run_id
        child.tick, child.inputs = min(child.tick, heir.tick), min(child.inputs, heir.inputs)
    if heir is not own:
        heir.tick = heir.inputs = 0
    session.flush()
    session.delete(own)
    session.flush()


def _give_up(session: Session, run_ids: list[int]) -> None:
    """Runs that somebody had left for the one that goes: nobody is asked at the next start to go on with them."""
    for run in session.scalars(select(Run).where(Run.id.in_(run_ids), Run.status == RUNNING)):
        run.status = ABANDONED
