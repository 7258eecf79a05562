"""A learner's standing: skills with their evidence, what to take next, records. From stored results; knows no Qt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from app.files.summary import LEVELS, Summary
from app.learning.memory import Practised, SkillStanding, standings
from app.learning.next_drills import Course, Next, due_list
from app.storage import Record, ResultRow, records
from engine.drill.judging.calibration import calibration
from engine.drill.judging.shapes import Calibration, Row
from engine.drill.running.modes import Mode


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a learner stands at one moment."""

    at: datetime
    skills: tuple[SkillStanding, ...]
    next: tuple[Next, ...]
    """Scenarios worth taking, the most needed first."""
    records: Mapping[str, Record]
    calibration: Calibration | None
    """How well it is known which answers are right; None: nothing was answered with a sureness."""

    @property
    def due(self) -> frozenset[str]:
        """Scenarios that are to be repeated now."""
        return frozenset(each.scenario for each in self.next if each.since is not None)


def practised(rows: Iterable[ResultRow]) -> list[Practised]:
    """Runs that tell about skills: scored, in a known mode, not gone back in."""
    known = {mode.value for mode in Mode}
    return [
        Practised(row.scenario_name, Mode(row.mode), row.score, row.hints, row.finished_at, row.played_s)
        for row in rows
        if row.score is not None and row.mode in known and not row.retried
    ]


def progress(
    newest_first: Sequence[ResultRow],
    summaries: Iterable[Summary],
    now: datetime,
    answers: Iterable[Row] = (),
) -> Progress:
    """Where a learner with these results and *answers* stands at *now*."""
    scored = [summary for summary in summaries if summary.scored]
    runs = practised(newest_first)
    courses = [Course(s.name, s.skills, LEVELS.index(s.level), s.minutes) for s in scored]
    trained = {summary.name: summary.skills for summary in scored}
    return Progress(
        now,
        tuple(standings(runs, trained, now)),
        tuple(due_list(runs, courses, now)),
        records(newest_first),
        calibration(answers),
    )


def as_json(found: Progress, titles: Mapping[str, str]) -> dict[str, object]:
    """Everything of it in plain types. *titles*: of scenarios by name."""
    return {
        "at": found.at.isoformat(timespec="seconds"),
        "calibration": found.calibration,
        "skills": [
            {
                "key": standing.skill.key,
                "title": standing.skill.title,
                "mastery": standing.mastery,
                "runs": standing.runs,
                "spaced_successes": standing.successes,
                "proved": standing.proved,
                "last": _time(standing.last),
                "due": _time(standing.due),
                "is_due": standing.is_due(found.at),
            }
            for standing in found.skills
        ],
        "next": [
            {
                "scenario": each.scenario,
                "title": titles.get(each.scenario, each.scenario),
                "skills": [skill.key for skill in each.skills],
                "due_since": _time(each.since),
            }
            for each in found.next
        ],
        "scenarios": [
            {
                "name": name,
                "title": titles.get(name, name),
                "runs": len(record.runs),
                "best": record.best.score if record.best is not None else None,
                "last": record.last.score,
                "last_at": _time(record.last.finished_at),
            }
            for name, record in sorted(found.records.items())
        ],
    }


def told(found: Progress, titles: Mapping[str, str]) -> list[str]:
    """The same for people: skills as bars, then what to take next."""
    width = max(len(standing.skill.title) for standing in found.skills)
    lines = []
    for standing in found.skills:
        bar = "#" * round(standing.mastery / 5.0)
        runs = f"{standing.runs} run{'s' if standing.runs != 1 else ''}"
        when = f", last {standing.last:%Y-%m-%d}, due {standing.due:%Y-%m-%d}" if standing.due else ""
        due = "  DUE" if standing.is_due(found.at) else ""
        said = f"{standing.skill.title:{width}}  {bar:.<20} {standing.mastery:3.0f}  "
        lines.append(
            f"{said}{runs if standing.runs else 'never practised'}{when if standing.last else ''}{due}"
        )
    lines.append("")
    for each in found.next:
        why = "due" if each.since is not None else "new"
        skills = ", ".join(skill.title for skill in each.skills)
        lines.append(f"{why}: {each.scenario} ({titles.get(each.scenario, each.scenario)}) for {skills}")
    if not found.next:
        lines.append("Nothing is due.")
    if found.calibration is not None:
        lines += [
            "",
            f"Brier score {found.calibration['brier']:.2f} of {found.calibration['answers']} answers:",
        ]
        lines += [
            f"{point['sure_percent']:g} % sure: {point['right_percent']:.0f} % right ({point['answers']})"
            for point in found.calibration["curve"]
        ]
    return lines


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat(timespec="seconds")
