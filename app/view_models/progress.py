"""Progress of a learner, computed from stored results: skills, recommendations and records. Without Qt."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from msgspec import Struct

from app.files.scenario_summary import DIFFICULTY_LEVELS, ScenarioSummary
from app.learning.next_drills import DrillCandidate, DrillRecommendation, recommend_drills
from app.learning.skill_estimates import PracticedRun, SkillEstimate, estimate_skills
from app.storage import ResultRow, ScenarioResults, group_results_by_scenario
from engine.drill.judging.report import compute_calibration
from engine.drill.judging.report_types import Calibration, ReportRow
from engine.drill.running.modes import DrillMode


class LearnerProgress(Struct, frozen=True):
    """Progress of a learner at one time."""

    computed_at: datetime
    skills: tuple[SkillEstimate, ...]
    recommendations: tuple[DrillRecommendation, ...]
    """Recommended scenarios, the most needed first."""
    records: Mapping[str, ScenarioResults]
    """Scenario -> results of finished runs."""
    calibration: Calibration | None
    """Match between stated confidence and correct answers; None if no answer has a confidence."""

    @property
    def due_scenarios(self) -> frozenset[str]:
        """Scenarios that are recommended now because a skill is due."""
        return frozenset(
            recommendation.scenario
            for recommendation in self.recommendations
            if recommendation.due_time is not None
        )


def list_practiced_runs(rows: Iterable[ResultRow]) -> list[PracticedRun]:
    """Return the runs that are evidence of skills: scored, in a known mode, not rewound."""
    known_modes = {mode.value for mode in DrillMode}
    return [
        PracticedRun(
            row.scenario_name, DrillMode(row.mode), row.score, row.hints, row.finished_at, row.played_s
        )
        for row in rows
        if row.score is not None and row.mode in known_modes and not row.retried
    ]


def compute_progress(
    newest_first: Sequence[ResultRow],
    summaries: Iterable[ScenarioSummary],
    current_time: datetime,
    answers: Iterable[ReportRow] = (),
) -> LearnerProgress:
    """Return a learner's progress at *current_time*, computed from finished runs and *answers*.

    *newest_first*: results of the runs. *summaries*: all available scenarios.
    """
    scored = [summary for summary in summaries if summary.scored]
    runs = list_practiced_runs(newest_first)
    courses = [DrillCandidate(s.name, s.skills, DIFFICULTY_LEVELS.index(s.level), s.minutes) for s in scored]
    trained = {summary.name: summary.skills for summary in scored}
    return LearnerProgress(
        current_time,
        tuple(estimate_skills(runs, trained, current_time)),
        tuple(recommend_drills(runs, courses, current_time)),
        group_results_by_scenario(newest_first),
        compute_calibration(answers),
    )


def convert_progress_to_json(
    learner_progress: LearnerProgress, titles: Mapping[str, str]
) -> dict[str, object]:
    """Return the progress as JSON types. *titles*: scenario -> title."""
    return {
        "at": learner_progress.computed_at.isoformat(timespec="seconds"),
        "calibration": learner_progress.calibration,
        "skills": [
            {
                "key": standing.skill.key,
                "title": standing.skill.title,
                "mastery": standing.mastery,
                "runs": standing.runs,
                "spaced_successes": standing.successes,
                "proved": standing.proved,
                "last": _format_time(standing.last_practice_time),
                "due": _format_time(standing.due_time),
                "is_due": standing.is_review_due(learner_progress.computed_at),
            }
            for standing in learner_progress.skills
        ],
        "next": [
            {
                "scenario": recommendation.scenario,
                "title": titles.get(recommendation.scenario, recommendation.scenario),
                "skills": [skill.key for skill in recommendation.skills],
                "due_since": _format_time(recommendation.due_time),
            }
            for recommendation in learner_progress.recommendations
        ],
        "scenarios": [
            {
                "name": name,
                "title": titles.get(name, name),
                "runs": len(record.runs),
                "best": record.best.score if record.best is not None else None,
                "last": record.latest_run.score,
                "last_at": _format_time(record.latest_run.finished_at),
            }
            for name, record in sorted(learner_progress.records.items())
        ],
    }


def format_progress_lines(learner_progress: LearnerProgress, titles: Mapping[str, str]) -> list[str]:
    """Return the progress as text lines: skills as bars, then the recommendations.

    *titles*: scenario -> title.
    """
    width = max(len(standing.skill.title) for standing in learner_progress.skills)
    lines = []
    for standing in learner_progress.skills:
        bar = "#" * round(standing.mastery / 5.0)
        runs = f"{standing.runs} run{'s' if standing.runs != 1 else ''}"
        due_text = (
            f", last {standing.last_practice_time:%Y-%m-%d}, due {standing.due_time:%Y-%m-%d}"
            if standing.due_time
            else ""
        )
        due_mark = "  DUE" if standing.is_review_due(learner_progress.computed_at) else ""
        runs_text = runs if standing.runs else "never practiced"
        shown_due_text = due_text if standing.last_practice_time else ""
        text = f"{standing.skill.title:{width}}  {bar:.<20} {standing.mastery:3.0f}  "
        lines.append(f"{text}{runs_text}{shown_due_text}{due_mark}")
    lines.append("")
    for advice in learner_progress.recommendations:
        reason = "due" if advice.due_time is not None else "new"
        skills = ", ".join(skill.title for skill in advice.skills)
        lines.append(
            f"{reason}: {advice.scenario} ({titles.get(advice.scenario, advice.scenario)}) for {skills}"
        )
    if not learner_progress.recommendations:
        lines.append("Nothing is due.")
    if learner_progress.calibration is not None:
        lines += [
            "",
            f"Brier score {learner_progress.calibration['brier']:.2f} "
            f"of {learner_progress.calibration['answers']} answers:",
        ]
        lines += [
            f"{point['sure_percent']:g}% sure: {point['right_percent']:.0f}% right ({point['answers']})"
            for point in learner_progress.calibration["curve"]
        ]
    return lines


def _format_time(time: datetime | None) -> str | None:
    return None if time is None else time.isoformat(timespec="seconds")
