"""Types of a run's report. Reports of older versions may lack some keys."""

from collections.abc import Mapping
from typing import Any, Final, TypedDict

ReportRow = Mapping[str, Any]
"""Row of a report. Its fields depend on its kind (event, failover, question, batch)."""


ENDED_BY_INSTRUCTOR: Final = "instructor"
"""Value of `ended_by` if the instructor of a class ended the run."""


class LossJson(TypedDict):
    """Points that one cause cost, in a report."""

    points: float
    at_s: float | None
    why: str
    better: str
    cause: str


class ItemJson(TypedDict):
    """Result of one rule of the rubric, in a report."""

    name: str
    points: float
    max: float
    why: str
    at_s: list[float]
    better: str
    losses: list[LossJson]


class ScoreJson(TypedDict):
    """Score in a report."""

    total: float | None
    """0 to 100; None if the run has no score."""
    scored: bool
    finished: bool
    items: list[ItemJson]


class HashJson(TypedDict):
    """State hash at one time, in a report."""

    t_s: float
    inputs: int
    """Number of inputs before the hash."""
    hash: str


class Report(TypedDict, total=False):
    """Report of a run, in the form of `run --json`."""

    scenario: str
    title: str
    seed: int
    mode: str
    origin: str
    """Digest of mode, scenario and scenario name."""
    version: str
    scenario_text: str
    ended_at_s: float
    ended_by: str | None
    """Reason for the end; None if the run has not ended."""
    state_hash: str
    inputs: list[str]
    events: list[ReportRow]
    failovers: list[ReportRow]
    attempts: list[ReportRow]
    """Failovers that began but were not completed."""
    availability: ReportRow
    clients: ReportRow
    sql: list[ReportRow]
    unfinished: list[ReportRow]
    """Batches that were still running or queued."""
    powershell: list[ReportRow]
    goals: list[ReportRow]
    questions: list[ReportRow]
    team: list[ReportRow]
    rewinds: list[ReportRow]
    hashes: list[HashJson]
    score: ScoreJson
    readings: ReportRow
    failed_parts: list[dict[str, str]]
    cut_off: bool
    """True if the program was killed during the run, so that only inputs, end and hashes are known."""


class CalibrationPoint(TypedDict):
    """Point of a calibration: share of correct answers among the answers with one stated confidence."""

    sure_percent: float
    """Stated confidence in percent."""
    right_percent: float
    """Share of correct answers. It equals the stated confidence if the person is well calibrated."""
    answers: int
    """Number of answers with this confidence."""


class Calibration(TypedDict):
    """Stated confidence of answers, compared with the share of correct answers."""

    answers: int
    """Number of judged answers that have a confidence."""
    brier: float
    """Brier score: 0 is best, 1 is worst."""
    curve: list[CalibrationPoint]
    """Points ordered by confidence, lowest first."""


# --- labels of losses, by the lost points -----------------------------------------------------------------

BLUNDER_POINTS_MIN: Final = 15.0
"""Minimum loss that is labeled "blunder", in points."""
MISTAKE_POINTS_MIN: Final = 10.0
"""Minimum loss that is labeled "mistake", in points."""
INACCURACY_POINTS_MIN: Final = 5.0
"""Minimum loss that is labeled "inaccuracy", in points.

All three limits are derived from [Lichess, Advice.scala: 0.3, 0.2 and 0.1 on a scale from -1 to 1, which are
15, 10 and 5 of 100 points].
"""

LOSS_LABELS: Final = (
    (BLUNDER_POINTS_MIN, "blunder"),
    (MISTAKE_POINTS_MIN, "mistake"),
    (INACCURACY_POINTS_MIN, "inaccuracy"),
)
"""(minimum lost points, label), largest first."""
