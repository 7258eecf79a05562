"""Data that all exports of a finished run share. Without Qt."""

from collections.abc import Iterable

from msgspec import Struct

from engine.drill.judging.report_types import Report, ReportRow
from engine.drill.judging.review import Review, review_run
from engine.drill.par.regret_analysis import RegretAnalysis, RunSegment
from engine.drill.running.drill import Drill
from engine.inputs import Input


class ExportSource(Struct, frozen=True):
    """Data source of an export: a finished drill with its analysis."""

    drill: Drill
    review: Review
    report: Report
    """Report in the form of `run --json`."""
    player: str = ""
    """Name that the player chose."""
    played_at: str = ""
    """Local date and time at which the run ended, as text."""
    regret_analysis: RegretAnalysis | None = None
    """Regret analysis of the run; None if it was not computed."""
    instructor_inputs: tuple[Input, ...] = ()
    """Inputs of the run that the instructor of a class entered."""
    instructor_goals: frozenset[str] = frozenset()
    """Goals that the run reached through actions of the instructor."""
    lessons: tuple[RunSegment, ...] | None = None
    """Mistakes from the regret analysis, each with a better continuation that a person could have typed in
    time.

    None if they were not computed.
    """


def build_export_source(drill: Drill) -> ExportSource:
    """Build the data from a finished drill.

    The drill and its reference are replayed, which takes a fraction of a second.
    """
    return ExportSource(drill, review_run(drill), drill.build_report())


def read_choices(source: ExportSource) -> dict[str, list[str]]:
    """Return question -> its choices."""
    return map_choices(source.report["questions"])


def map_choices(questions: Iterable[ReportRow]) -> dict[str, list[str]]:
    """Return question -> its choices, from the questions of a report."""
    return {row["name"]: row["choices"] for row in questions}


def format_signature(source: ExportSource) -> str:
    """Return the player's name and the date; unknown parts are omitted."""
    return " · ".join(part for part in (source.player, source.played_at) if part)


def as_json(source: ExportSource) -> dict[str, object]:
    """Return the report and the review of the run in one object."""
    origin = {"player": source.player, "played_at": source.played_at}
    return {**origin, "report": dict(source.report), "review": source.review.as_json()}
