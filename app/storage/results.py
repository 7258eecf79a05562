"""How runs ended: the history page, and a learner's best."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Row, Select, select
from sqlalchemy.orm import Session

from app.storage.models import FINISHED, Result, Run
from app.storage.runs import RunId, reach, running, utc_now


@dataclass(frozen=True, slots=True)
class ResultRow:
    """One finished run, as the history shows it."""

    run_id: RunId
    finished_at: datetime
    scenario_name: str
    mode: str
    score: float | None
    downtime_s: float
    lost_transactions: int


def finish(
    session: Session, run_id: RunId, tick: int, state_hash: str, report_json: str, score: float | None
) -> None:
    totals = json.loads(report_json)["availability"]
    reach(session, run_id, tick)
    running(session, run_id).status = FINISHED
    session.add(
        Result(
            run_id=run_id,
            finished_at=utc_now(),
            state_hash=state_hash,
            score=score,
            downtime_s=totals["downtime_s"],
            lost_transactions=round(totals["lost_transactions"]),
            report_json=report_json,
        )
    )


def history(session: Session) -> list[ResultRow]:
    """Every finished run, newest first."""
    return [_row(row) for row in session.execute(_results().order_by(Run.id.desc()))]


def best(session: Session, scenario_name: str) -> ResultRow | None:
    """The run with most points; among equals the shortest downtime, then the earliest."""
    ranked = _results().where(Run.scenario_name == scenario_name, Result.score.is_not(None))
    row = session.execute(ranked.order_by(Result.score.desc(), Result.downtime_s, Run.id).limit(1)).first()
    return _row(row) if row else None


def report(session: Session, run_id: RunId) -> str:
    """The JSON report of a finished run. NoResultFound if it is not finished."""
    return session.get_one(Result, run_id).report_json


def _results() -> Select[Run, Result]:
    return select(Run, Result).join(Result, Result.run_id == Run.id)


def _row(row: Row[Run, Result]) -> ResultRow:
    run, result = row
    return ResultRow(
        run_id=RunId(run.id),
        finished_at=result.finished_at.replace(tzinfo=UTC),
        scenario_name=run.scenario_name,
        mode=run.mode,
        score=result.score,
        downtime_s=result.downtime_s,
        lost_transactions=result.lost_transactions,
    )
