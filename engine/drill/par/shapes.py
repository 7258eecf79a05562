"""Types of a certificate, as `mirrordrill par --json` writes it. This module imports nothing from the engine."""

from typing import NotRequired, TypedDict


class PlanScore(TypedDict, total=False):
    """Plan as input lines, with its score."""

    score: float
    plan: list[str]


class ReferenceScore(TypedDict):
    """Score of the reference solution; None if there is none."""

    score: float | None
    fair: NotRequired[bool | None]


class IdleScore(TypedDict):
    """Score of doing nothing."""

    score: float


class SeedScores(TypedDict, total=False):
    """Scores of the reference with several seeds."""

    seeds: int
    mean: float
    least: float
    """Lowest score."""
    most: float
    """Highest score."""


class WeighedPlan(TypedDict):
    """Plan with its scores over several seeds. For the safest plan only the lowest score is given."""

    plan: list[str]
    least: float
    seeds: NotRequired[int]
    mean: NotRequired[float]
    most: NotRequired[float]


class TrapScore(TypedDict):
    """Best total of the plans that fell into a trap; None if no plan did."""

    name: str
    text: str
    best: float | None


class ValueCurveFields(TypedDict):
    """Value curve: best reachable total over time."""

    t_s: list[float]
    best: list[float]


class WaitingFields(TypedDict, total=False):
    """Cost of waiting in a certificate."""

    point_of_no_return_s: float | None
    last_chance: list[str] | None
    curve: ValueCurveFields


class BlunderFields(TypedDict, total=False):
    """Share of blunders among the tried actions; None if none was tried."""

    blunder_share: float | None
    acts_tried: int
    choices: int


class CertificateHashes(TypedDict, total=False):
    """Hashes of the final states, and of the scenario's text."""

    par: str
    clairvoyant: str
    scenario: str


class ParCertificate(WaitingFields, BlunderFields, total=False):
    """Results that a search proved for a drill. Older certificates, and those of generated drills, lack some fields."""

    scenario: str
    seed: int
    method: str
    nodes: int
    complete: bool
    optimal: bool
    par: PlanScore
    clairvoyant: PlanScore
    reference: ReferenceScore
    idle: IdleScore
    shortest: list[str] | None
    luck: SeedScores
    robust: WeighedPlan | None
    safest: WeighedPlan | None
    traps: list[TrapScore]
    hashes: CertificateHashes
