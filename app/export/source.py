"""Data that all exports share. Without Qt."""

from collections.abc import Iterable

from msgspec import Struct

from engine.drill.judging.review import Review, review_run
from engine.drill.judging.shapes import Report, Row
from engine.drill.par.account import RegretAnalysis, RunSegment
from engine.drill.running.drill import Drill
from engine.inputs import Input


class ExportSource(Struct, frozen=True):
    """Finished drill for an export."""

    drill: Drill
    review: Review
    report: Report
    """Report in the form of `run --json`."""
    player: str = ""
    """Name chosen by the player."""
    played_at: str = ""
    """Local date and time of the end of the run."""
    account: RegretAnalysis | None = None
    """Regret of each action and wait, if it was computed."""
    instructor_inputs: tuple[Input, ...] = ()
    """Inputs by the instructor of a class in this run."""
    instructor_goals: frozenset[str] = frozenset()
    """Goals that the run reached through actions of the instructor."""
    lessons: tuple[RunSegment, ...] | None = None
    """Mistakes of the account, with plans at a person's pace."""


def build_source(drill: Drill) -> ExportSource:
    """Replay the drill and its reference, in a fraction of a second."""
    return ExportSource(drill, review_run(drill), drill.build_report())


def read_choices(source: ExportSource) -> dict[str, list[str]]:
    """Return question -> choices."""
    return map_choices(source.report["questions"])


def map_choices(questions: Iterable[Row]) -> dict[str, list[str]]:
    """Map the questions of a report to their choices."""
    return {row["name"]: row["choices"] for row in questions}


def format_signature(source: ExportSource) -> str:
    """Return the player's name and the date, as far as they are known."""
    return " · ".join(part for part in (source.player, source.played_at) if part)


def as_json(source: ExportSource) -> dict[str, object]:
    """Return report and review in one object."""
    origin = {"player": source.player, "played_at": source.played_at}
    return {**origin, "report": dict(source.report), "review": source.review.as_json()}
