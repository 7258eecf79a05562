"""Types of a certificate, in the form of `mirrordrill par --json`.

This module imports nothing from the engine.
"""

from typing import NotRequired, TypedDict


class PlanScore(TypedDict, total=False):
    """Score of a plan, and the plan as input lines."""

    score: float
    plan: list[str]


class ReferenceScore(TypedDict):
    """Score of the reference solution; the score is None if the scenario has no reference."""

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


class MultiSeedPlan(TypedDict):
    """Plan with its scores over several seeds. The safest plan has only its lowest score."""

    plan: list[str]
    least: float
    """Lowest score."""
    seeds: NotRequired[int]
    mean: NotRequired[float]
    most: NotRequired[float]
    """Highest score."""


class TrapScore(TypedDict):
    """Trap (forbidden state or scored action), with the best total score of the plans that fell into it.

    The score is None if no plan fell into it.
    """

    name: str
    text: str
    best: float | None


class ValueCurveFields(TypedDict):
    """Value curve: best reachable total score over time."""

    t_s: list[float]
    best: list[float]
    """Best reachable score at each time of `t_s`."""


class WaitingCostFields(TypedDict, total=False):
    """Cost of waiting in a certificate."""

    point_of_no_return_s: float | None
    last_chance: list[str] | None
    curve: ValueCurveFields


class BlunderFields(TypedDict, total=False):
    """Fields of a certificate: share of blunders among the tested actions.

    The share is None if no action was tested.
    """

    blunder_share: float | None
    acts_tried: int
    """Number of tested actions."""
    choices: int
    """Number of decisions in the tested plan."""


class CertificateHashes(TypedDict, total=False):
    """State hashes at the end of the par run and the clairvoyant run, and hash of the scenario's text."""

    par: str
    clairvoyant: str
    scenario: str


class ParCertificate(WaitingCostFields, BlunderFields, total=False):
    """Certificate of a drill. Older certificates, and those of generated drills, lack some fields."""

    scenario: str
    seed: int
    method: str
    nodes: int
    """Number of plans that the search has played."""
    complete: bool
    """True if both searches have tried all plans within their limits."""
    optimal: bool
    """True if no fair plan within the limits can score more."""
    par: PlanScore
    clairvoyant: PlanScore
    reference: ReferenceScore
    idle: IdleScore
    shortest: list[str] | None
    """Plan with the fewest actions that reaches all goals; None if there is none."""
    luck: SeedScores
    """Scores of the reference with several seeds."""
    robust: MultiSeedPlan | None
    """Plan with the highest mean score over several seeds."""
    safest: MultiSeedPlan | None
    """Plan whose lowest score over several seeds and delays is highest."""
    traps: list[TrapScore]
    hashes: CertificateHashes
