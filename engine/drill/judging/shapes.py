"""Types of a run's report. Run files of older versions may lack keys."""

from collections.abc import Mapping
from typing import Any, Final, TypedDict

Row = Mapping[str, Any]
"""Row of a report; its fields depend on its kind (event, failover, question, batch)."""


BY_INSTRUCTOR: Final = "instructor"
"""Field `ended_by` of a run that the instructor of a class ended."""


class LossJson(TypedDict):
    """Points that one cause cost (negative) or earned."""

    points: float
    at_s: float | None
    why: str
    better: str
    cause: str


class ItemJson(TypedDict):
    """Points of one rule of the rubric."""

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
    """State hash at a tick in a report."""

    t_s: float
    inputs: int
    hash: str


class Report(TypedDict, total=False):
    """Report in the form of `run --json`."""

    scenario: str
    title: str
    seed: int
    mode: str
    origin: str
    version: str
    scenario_text: str
    ended_at_s: float
    ended_by: str | None
    state_hash: str
    inputs: list[str]
    events: list[Row]
    failovers: list[Row]
    attempts: list[Row]
    availability: Row
    clients: Row
    sql: list[Row]
    unfinished: list[Row]
    powershell: list[Row]
    goals: list[Row]
    questions: list[Row]
    team: list[Row]
    rewinds: list[Row]
    hashes: list[HashJson]
    score: ScoreJson
    readings: Row
    failed_parts: list[dict[str, str]]
    cut_off: bool
    """True if only inputs, end and hashes are known because the program was killed during the run."""


class CalibrationPoint(TypedDict):
    """Answers with the same confidence."""

    sure_percent: float
    right_percent: float
    """Share of correct answers. For a well-calibrated person it equals the confidence."""
    answers: int


class Calibration(TypedDict):
    """Confidence of answers compared with the share of correct answers."""

    answers: int
    """Number of judged answers for which a confidence was stated."""
    brier: float
    curve: list[CalibrationPoint]
    """Points ordered by confidence, lowest first."""


# --- labels of losses, by the lost points -----------------------------------------------------------------

BLUNDER: Final = 15.0
MISTAKE: Final = 10.0
INACCURACY: Final = 5.0
"""Minimum lost points of each label. Derived from [Lichess, Advice.scala: 0.3, 0.2 and 0.1 of -1 to 1, which
are 15, 10 and 5 of 100 points].
"""

SIZES: Final = ((BLUNDER, "blunder"), (MISTAKE, "mistake"), (INACCURACY, "inaccuracy"))
"""(minimum of lost points, label), largest first."""
