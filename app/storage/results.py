"""Results of finished runs, for the history page and the learner's best scores."""

import json
import sqlite3
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from typing import Final

from msgspec import Struct

from app.storage.runs import RunId, end_run
from app.storage.tables import FINISHED, format_utc_now, parse_utc_time
from app.words.language import tr
from engine.constants import TICKS_PER_S
from engine.drill.authoring.scenario import compute_sha256
from engine.drill.judging.report_types import ReportRow


class ResultRow(Struct, frozen=True):
    """Finished run in the history."""

    run_id: RunId
    finished_at: datetime
    scenario_name: str
    mode: str
    score: float | None
    """Score of the run; None if nothing is scored."""
    downtime_s: float
    lost_transactions: int
    retried: bool
    """True if the run was rewound, or began at a time inside an earlier run."""
    hints: int
    """Number of hint layers that the learner opened. A hint may have several layers."""
    played_s: float
    """Duration in simulated seconds."""


class ScenarioResults(Struct, frozen=True):
    """Results of a learner's finished runs of one scenario."""

    runs: tuple[ResultRow, ...]
    """Runs, oldest first."""

    @property
    def best(self) -> ResultRow | None:
        """Run with the most points and no rewind.

        Among runs with equal points, it is the run with the shortest downtime, then the earliest run.
        """
        runs = [run for run in self.runs if run.score is not None and not run.retried]
        return min(runs, key=lambda run: (-(run.score or 0.0), run.downtime_s, run.run_id), default=None)

    @property
    def latest_run(self) -> ResultRow:
        """Return the run that finished last."""
        return self.runs[-1]


def group_results_by_scenario(newest_first: Iterable[ResultRow]) -> dict[str, ScenarioResults]:
    """Return scenario -> results, for each scenario with a finished run.

    *newest_first*: rows from `list_finished_runs`.
    """
    runs: dict[str, list[ResultRow]] = {}
    for row in newest_first:
        runs.setdefault(row.scenario_name, []).append(row)
    return {name: ScenarioResults(tuple(reversed(rows))) for name, rows in runs.items()}


_RESULTS_QUERY: Final = (
    "SELECT run_id, finished_at, scenario_name, mode, score, downtime_s, lost_transactions, retried, hints, tick"
    " FROM result JOIN run ON run.id = run_id"
)
"""Query of the columns of a ResultRow, to which conditions can be added."""


def store_result(
    db: sqlite3.Connection, run_id: RunId, tick: int, state_hash: str, report_json: str, score: float | None
) -> None:
    """Store the result of a finished run."""
    report = json.loads(report_json)
    totals = report["availability"]
    is_branch = db.execute(
        "SELECT 1 FROM branch WHERE run_id = ? AND parent_id IS NOT NULL", (run_id,)
    ).fetchone()
    end_run(db, run_id, tick, FINISHED)
    row = {
        "run_id": run_id,
        "finished_at": format_utc_now(),
        "state_hash": state_hash,
        "score": score,
        "downtime_s": totals["downtime_s"],
        "lost_transactions": round(totals["lost_transactions"]),
        "retried": bool(report.get("rewinds")) or is_branch is not None,
        "hints": sum(event["kind"] == "hint" for event in report.get("events", ())),
        "report_json": report_json,
    }
    db.execute(f"INSERT INTO result ({', '.join(row)}) VALUES ({', '.join(':' + name for name in row)})", row)


def list_finished_runs(db: sqlite3.Connection) -> list[ResultRow]:
    """Return every finished run, newest first."""
    return [_build_row(row) for row in db.execute(f"{_RESULTS_QUERY} ORDER BY run_id DESC")]


def find_best_run(db: sqlite3.Connection, scenario_name: str) -> ResultRow | None:
    """Return the run with the most points and no rewind.

    Among runs with equal points, return the run with the shortest downtime, then the earliest run.
    """
    row = db.execute(
        f"{_RESULTS_QUERY} WHERE scenario_name = ? AND score IS NOT NULL AND NOT retried"
        " ORDER BY score DESC, downtime_s, run_id LIMIT 1",
        (scenario_name,),
    ).fetchone()
    return _build_row(row) if row else None


def has_run_with_state(db: sqlite3.Connection, state_hash: str) -> bool:
    """Return whether any run ended in the state with this hash."""
    cursor = db.execute("SELECT 1 FROM result WHERE state_hash = ? LIMIT 1", (state_hash,))
    return cursor.fetchone() is not None


def list_answers(db: sqlite3.Connection) -> list[ReportRow]:
    """Return the rows of `questions` that have a confidence, from the reports of all runs without a rewind."""
    query = "SELECT report_json FROM result WHERE NOT retried AND instr(report_json, ?) ORDER BY run_id"
    rows: list[ReportRow] = []
    for row in db.execute(query, ('"sure_percent"',)):
        with suppress(ValueError, TypeError, KeyError):  # somebody has edited the stored report
            questions = json.loads(row["report_json"])["questions"]
            rows += [question for question in questions if 0.0 <= question.get("sure_percent", -1.0) <= 100.0]
    return rows


def read_report(db: sqlite3.Connection, run_id: RunId) -> str:
    """Return the JSON report of a finished run. Raises LookupError if the run is not finished."""
    row = db.execute("SELECT report_json FROM result WHERE run_id = ?", (run_id,)).fetchone()
    if row is None:
        raise LookupError(f"run {run_id} has no report")
    return str(row["report_json"])


def list_altered_run_messages(db: sqlite3.Connection, run_id: RunId | None = None) -> list[str]:
    """Return a message for each finished run (or only *run_id*) whose stored data contradict each other.

    Only a replay can show whether a report follows from the inputs.
    """
    rows = db.execute(
        "SELECT * FROM run JOIN result ON run_id = id WHERE id = ? OR ? IS NULL ORDER BY id", (run_id, run_id)
    )
    text = tr("Run {number} of the profile was altered: {what} differs from the record.")
    return [
        text.format(number=row["id"], what=", ".join(contradictions))
        for row in rows
        if (contradictions := _list_contradictions(row))
    ]


def _list_contradictions(row: sqlite3.Row) -> list[str]:
    """Return the stored values of a run that contradict its report."""
    try:
        report = json.loads(row["report_json"])
    except ValueError:
        return [tr("the report")]
    score = report.get("score", {})
    totals = report.get("availability", {})
    pairs = (
        (tr("the score"), row["score"], score.get("total") if score.get("scored") else row["score"]),
        (tr("the downtime"), row["downtime_s"], totals.get("downtime_s")),
        (tr("the lost transactions"), row["lost_transactions"], round(totals.get("lost_transactions", 0))),
        (tr("the final state"), row["state_hash"], report.get("state_hash", row["state_hash"])),
        (tr("the mode"), row["mode"], report.get("mode", row["mode"])),
        (tr("the seed"), row["seed"], report.get("seed", row["seed"])),
        (tr("the scenario"), row["scenario_hash"], compute_sha256(row["scenario_text"])),
    )
    return [name for name, value, stored_value in pairs if value != stored_value]


def _build_row(row: sqlite3.Row) -> ResultRow:
    return ResultRow(
        run_id=RunId(row["run_id"]),
        finished_at=parse_utc_time(row["finished_at"]),
        scenario_name=row["scenario_name"],
        mode=row["mode"],
        score=row["score"],
        downtime_s=row["downtime_s"],
        lost_transactions=row["lost_transactions"],
        retried=bool(row["retried"]),
        hints=row["hints"],
        played_s=row["tick"] / TICKS_PER_S,
    )
