"""Types of a certificate, in the form of `mirrordrill par --json`.

This module imports nothing from the engine.
"""

from typing import NotRequired, TypedDict


class PlanScore(TypedDict, total=False):
    """Score of a plan, and the plan as input lines."""

    score: float
    plan: list[str]


class ReferenceScore(TypedDict):
    """Score of the reference solution; None if there is no reference."""

    score: float | None
    fair: NotRequired[bool | None]
    """True if the reference acts only after a symptom."""


class IdleScore(TypedDict):
    """Score of a run without actions."""

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
    """Plan with its scores over several seeds. The safest plan has only its lowest score."""

    plan: list[str]
    least: float
    seeds: NotRequired[int]
    mean: NotRequired[float]
    most: NotRequired[float]


class TrapScore(TypedDict):
    """Trap, and the best total score of the plans that fell into it; None if no plan did."""

    name: str
    text: str
    best: float | None


class ValueCurveFields(TypedDict):
    """Value curve: best reachable total score over time."""

    t_s: list[float]
    best: list[float]


class WaitingFields(TypedDict, total=False):
    """Cost of waiting in a certificate."""

    point_of_no_return_s: float | None
    last_chance: list[str] | None
    curve: ValueCurveFields


class BlunderFields(TypedDict, total=False):
    """Share of blunders among the tested actions; None if none was tested."""

    blunder_share: float | None
    acts_tried: int
    choices: int


class CertificateHashes(TypedDict, total=False):
    """State hashes of the ends of both runs, and the hash of the scenario's text."""

    par: str
    clairvoyant: str
    scenario: str


class ParCertificate(WaitingFields, BlunderFields, total=False):
    """Certificate of a drill. Older certificates, and those of generated drills, lack some fields."""

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
