"""How runs ended: the history page, and a learner's best."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Row, Select, select
from sqlalchemy.orm import Session

from app.storage.models import FINISHED, Branch, Result, Run
from app.storage.runs import RunId, reach, running, utc_now
from app.words.language import tr
from engine.constants import TICKS_PER_S
from engine.drill.authoring.contents import sha256


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
    retried: bool
    """It went back in time or began at a moment of an earlier run. (What is only watched is no run at all.)"""
    hints: int
    """Layers of hints that were opened."""
    played_s: float
    """Simulated seconds that it lasted."""


@dataclass(frozen=True, slots=True)
class Record:
    """What a learner's finished runs of one scenario come to."""

    runs: tuple[ResultRow, ...]
    """Oldest first."""

    @property
    def best(self) -> ResultRow | None:
        """Most points without having gone back; among equals the shortest downtime, then the earliest."""
        fair = [run for run in self.runs if run.score is not None and not run.retried]
        return min(fair, key=lambda run: (-(run.score or 0.0), run.downtime_s, run.run_id), default=None)

    @property
    def last(self) -> ResultRow:
        return self.runs[-1]


def records(newest_first: Iterable[ResultRow]) -> dict[str, Record]:
    """The record of each scenario that was finished at least once, of rows as `history` gives them."""
    runs: dict[str, list[ResultRow]] = {}
    for row in newest_first:
        runs.setdefault(row.scenario_name, []).append(row)
    return {name: Record(tuple(reversed(rows))) for name, rows in runs.items()}


def finish(
    session: Session, run_id: RunId, tick: int, state_hash: str, report_json: str, score: float | None
) -> None:
    report = json.loads(report_json)
    totals = report["availability"]
    branch = session.get(Branch, run_id)
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
            retried=bool(report.get("rewinds")) or (branch is not None and branch.parent_id is not None),
            hints=sum(event["kind"] == "hint" for event in report.get("events", ())),
            report_json=report_json,
        )
    )


def history(session: Session) -> list[ResultRow]:
    """Every finished run, newest first."""
    return [_row(row) for row in session.execute(_results().order_by(Run.id.desc()))]


def best(session: Session, scenario_name: str) -> ResultRow | None:
    """The run with most points that did not go back; among equals the shortest downtime, then the earliest."""
    fair = (Result.score.is_not(None), Result.retried.is_(False))
    ranked = _results().where(Run.scenario_name == scenario_name, *fair)
    row = session.execute(ranked.order_by(Result.score.desc(), Result.downtime_s, Run.id).limit(1)).first()
    return _row(row) if row else None


def finished_with(session: Session, state_hash: str) -> bool:
    """Whether any run ended in that state."""
    return session.scalar(select(Result.run_id).where(Result.state_hash == state_hash).limit(1)) is not None


def report(session: Session, run_id: RunId) -> str:
    """The JSON report of a finished run. NoResultFound if it is not finished."""
    return session.get_one(Result, run_id).report_json


def altered(session: Session, run_id: RunId | None = None) -> list[str]:
    """One sentence for each finished run whose record contradicts itself: rows that were changed from outside.

    *run_id*: only of that run. Whether a report follows from its inputs only playing it again can tell.
    """
    asked = select(Run, Result).join(Result, Result.run_id == Run.id).order_by(Run.id)
    if run_id is not None:
        asked = asked.where(Run.id == run_id)
    said = tr("Run {number} of the profile was altered: {what} differs from the record.")
    return [
        said.format(number=run.id, what=", ".join(found))
        for run, result in session.execute(asked)
        if (found := _altered(run, result))
    ]


def _altered(run: Run, result: Result) -> list[str]:
    """What of a run's rows does not agree with the rest of them."""
    try:
        report = json.loads(result.report_json)
    except ValueError:
        return [tr("the report")]
    score = report.get("score", {})
    totals = report.get("availability", {})
    pairs = (
        (tr("the score"), result.score, score.get("total") if score.get("scored") else result.score),
        (tr("the downtime"), result.downtime_s, totals.get("downtime_s")),
        (tr("the lost transactions"), result.lost_transactions, round(totals.get("lost_transactions", 0))),
        (tr("the state at the end"), result.state_hash, report.get("state_hash", result.state_hash)),
        (tr("the mode"), run.mode, report.get("mode", run.mode)),
        (tr("the seed"), run.seed, report.get("seed", run.seed)),
        (tr("the scenario"), run.scenario_hash, sha256(run.scenario_text)),
    )
    return [name for name, one, other in pairs if one != other]


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
        retried=result.retried,
        hints=result.hints,
        played_s=run.tick / TICKS_PER_S,
    )
