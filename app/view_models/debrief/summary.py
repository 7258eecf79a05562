"""Score, grade and figures of a finished run, without Qt."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from app.view_models.course import CLIENTS_IDLE, DOWN, clients_of, course_of
from app.words import formatting
from app.words.language import mark, tr
from engine.drill.authoring.schema import Scenario
from engine.drill.judging.shapes import Report, Row

GRADES: Final = (
    (95.0, mark("Excellent"), "ok"),
    (80.0, mark("Good"), "ok"),
    (60.0, mark("Passed"), "warn"),
    (0.0, mark("Not passed"), "bad"),
)
"""Lowest score, name and tone of each grade. The limits are those of `app/learning/memory.py`."""


@dataclass(frozen=True, slots=True)
class Grade:
    """Name of a grade, and its tone: ok, warn, bad."""

    text: str
    tone: str


@dataclass(frozen=True, slots=True)
class SummaryFigure:
    """One row of figures: label, value, tone (empty: none), and whether it details the row above."""

    key: str
    label: str
    value: str
    tone: str = ""
    detail: bool = False
    tip: str = ""


@dataclass(frozen=True, slots=True)
class Summary:
    """Left card of the debrief."""

    title: str
    facts: str
    """Mode, seed, and the end of the run."""
    score: float | None
    """Score; None if nothing is scored."""
    grade: Grade | None
    figures: tuple[SummaryFigure, ...]

    @property
    def passed_well(self) -> bool:
        """True if the next drill is a better suggestion than another try."""
        return self.grade is not None and self.grade.tone == "ok"


ENDED: Final = {
    "goals": mark("all goals met"),
    "time": mark("time is up"),
    "forbidden": mark("forbidden state reached"),
    "asked": mark("ended by you"),
    None: mark("abandoned"),
}


def summarize(report: Report, scenario: Scenario | None) -> Summary:
    """Return the figures of a run from its report. *scenario*: None if this version cannot use it."""
    score = report["score"]
    total = score["total"] if score["scored"] else None
    return Summary(
        str(report.get("title") or report["scenario"]),
        describe_end(report),
        total,
        None if total is None else find_grade(total, score["finished"]),
        tuple(_figures(report, scenario)),
    )


def find_grade(total: float, finished: bool) -> Grade:
    """Return the grade of a score. A run that has not met all goals is not passed."""
    text, tone = next(
        (text, tone) for least, text, tone in GRADES if total >= least and (finished or not least)
    )
    return Grade(tr(text), tone)


def describe_end(report: Report) -> str:
    """Return mode, seed, and the end of the run."""
    return tr("{mode} · seed {seed} · {ended} at {moment}").format(
        mode=formatting.mode(report["mode"]),
        seed=report["seed"],
        ended=tr(ENDED.get(report.get("ended_by"), ENDED[None])),
        moment=formatting.run_time(report["ended_at_s"]),
    )


def describe_result(report: Report) -> str:
    """Return the end of the run and the goals reached, in a sentence."""
    end = tr(ENDED.get(report.get("ended_by"), ENDED[None]))
    goals = report.get("goals", ())
    met = sum(bool(goal["met"]) for goal in goals)
    text = end
    if met < len(goals):
        missed = tr("Goal not met; {ended}") if len(goals) == 1 else tr("{met} of {all} goals met; {ended}")
        text = missed.format(met=met, all=len(goals), ended=end)
    length = formatting.seconds(report["ended_at_s"], 1)
    return tr("{what}, after {length}. {mode}, seed {seed}.").format(
        what=f"{text[:1].upper()}{text[1:]}",
        length=length,
        mode=formatting.mode(report["mode"]).capitalize(),
        seed=report["seed"],
    )


# --- figures ------------------------------------------------------------------------------------------------

UNPROTECTED: Final = {
    "mirroring": mark("No synchronized mirror"),
    "ag": mark("No synchronized secondary"),
    "fci": mark("No standby node"),
    "mixed": mark("Time unprotected"),
}
"""Technology -> label of the time in which no copy could have taken over without loss."""


def find_protection(scenario: Scenario | None) -> str:
    """Return the protection of a drill's databases, a key of UNPROTECTED; empty without protection."""
    if scenario is None:
        return "mixed"
    grouped = {name for group in scenario.groups for name in group.databases}
    mirrored = {session.database for session in scenario.sessions}
    instances = {instance.name for instance in scenario.instances}
    kinds = [
        kind
        for kind, used in (
            ("mirroring", bool(mirrored)),
            ("ag", bool(grouped)),
            ("fci", any(database.server in instances for database in scenario.databases)),
        )
        if used
    ]
    if not kinds:
        return "mixed" if any(rule.kind == "exposed" for rule in scenario.rubric) else ""
    changes = kinds == ["mirroring"] and bool(scenario.clusters)
    return "mixed" if len(kinds) > 1 or changes else kinds[0]


def _figures(report: Report, scenario: Scenario | None) -> Iterator[SummaryFigure]:
    yield from _downtime(report)
    availability = report["availability"]
    lost = int(availability["lost_transactions"])
    yield SummaryFigure(
        "lost_transactions", tr("Transactions lost"), formatting.number(lost), "bad" if lost else "ok"
    )
    if availability["lost_kb"]:
        size = formatting.kb(availability["lost_kb"])
        yield SummaryFigure("lost_kb", tr("log never sent"), size, "bad", detail=True)
    protection = find_protection(scenario)
    if protection:
        exposed_s = availability["exposed_s"]
        value = formatting.seconds(exposed_s, 1)
        tip = tr("While the database was online")
        yield SummaryFigure(
            "exposed_s", tr(UNPROTECTED[protection]), value, "warn" if exposed_s else "ok", tip=tip
        )
    goals = report.get("goals", ())
    if goals:
        met = sum(bool(goal["met"]) for goal in goals)
        value = tr("{met} of {all}").format(met=met, all=len(goals))
        yield SummaryFigure("goals", tr("Goals met"), value, "ok" if met == len(goals) else "bad")
    yield from _failover(report)


def _downtime(report: Report) -> Iterator[SummaryFigure]:
    """Yield the downtime of the database, and that of its clients if there are any."""
    count = len(report["availability"]["databases"])
    tip = tr("Sum of {n} databases").format(n=count) if count > 1 else ""
    database_s = report["availability"]["downtime_s"]
    database = formatting.seconds(database_s)
    over = tr("over {time}")
    last = _last_service(report)
    if last == DOWN:
        database = over.format(time=database)
    tone = "bad" if last == DOWN else ""
    if not report.get("clients") or not report["clients"]["databases"]:
        yield SummaryFigure("downtime_s", tr("Downtime"), database, tone, tip=tip)
        return
    yield SummaryFigure("", tr("Downtime"), "", tip=tip)
    yield SummaryFigure("downtime_s", tr("database"), database, tone, detail=True, tip=tip)
    clients = formatting.seconds(report["clients"]["downtime_s"])
    away = last in (DOWN, CLIENTS_IDLE)
    clients = over.format(time=clients) if away else clients
    yield SummaryFigure("clients_s", tr("clients"), clients, "bad" if away else "", detail=True, tip=tip)


def _last_service(report: Report) -> str:
    """Return the state of the service at the end of the run."""
    databases = list(report["availability"]["databases"])
    course = course_of(report["events"], databases, (), clients_of(report))
    spans = course.service(float(report["ended_at_s"]))
    return spans[-1].what if spans else ""


def _failover(report: Report) -> Iterator[SummaryFigure]:
    """Yield the time of the only failover, with the published time if there is a comparable one."""
    rows: list[Row] = list(report["failovers"])
    if len(rows) != 1 or rows[0]["failover_s"] is None:
        return
    row = rows[0]
    yield SummaryFigure("failover_s", tr("Failover"), formatting.seconds(row["failover_s"]))
    if row.get("published_s") is not None:
        published = formatting.seconds(row["published_s"], 1)
        yield SummaryFigure(
            "published_s", tr("published (Table 6)"), published, detail=True, tip=row["published_ref"]
        )
