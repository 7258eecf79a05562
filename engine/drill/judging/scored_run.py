"""Input and output types of the score: the state of a run, and rubric items with their losses."""

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from engine.constants import TICKS_PER_S
from engine.drill.authoring.schema import Scenario
from engine.drill.judging.report_types import ItemJson, LossJson
from engine.drill.running.questions import GoalState, InquiryState, OpenedHint
from engine.drill.team.calls import TeamCalls
from engine.events import Event
from engine.inputs import Input
from engine.model import Tick, World


class ScoredRun(Struct, frozen=True):
    """Current state of a run, with all data that the score needs."""

    scenario: Scenario
    world: World
    events: Sequence[Event]
    goals: Mapping[str, GoalState]
    first_held: Mapping[str, Tick | None]
    """Forbidden state (`forbidden:…`) or scored action (`price:…`) -> tick at which it first occurred.

    None: its premise was not met at that time, so that it costs nothing.
    """
    is_condition_met: Callable[[str], bool]
    """Function that returns whether a condition of the scenario is currently met."""
    hints: Sequence[OpenedHint]
    answers: Mapping[str, InquiryState]
    has_ended: bool
    """True if the drill has ended. Only then may the score reveal all correct answers."""
    left_early: bool
    """True if the trainee ended the drill while timeline inputs were pending."""
    was_abandoned: bool
    """True if the trainee ended the drill. Then open questions count as not answered."""
    answers_at_once: bool
    """True if the score may reveal the result of an answer before the end of the drill."""
    rewinds: Sequence[tuple[Tick, Tick]]
    """(start tick, target tick) of each rewind."""
    rewind_cost: float
    """Points that each rewind costs."""
    journal: Sequence[Input]
    """Inputs of the trainee."""
    calls: TeamCalls = ()
    """Calls between the roles of a team."""


class Loss(Struct, frozen=True):
    """Points that one cause cost, with time, reason, and a better alternative."""

    points: float
    tick: Tick | None
    """Time of the loss; None if the loss has no single time."""
    reason: str
    better: str
    cause: str = ""
    """Refused command that caused the loss; empty if the cause must be searched for."""
    condition: str = ""
    """Condition that detected the loss; empty if there is none."""
    was_not_asked: bool = False
    """True for a question that was never asked, and therefore not answered wrongly."""

    def as_json(self) -> LossJson:
        """Return the loss in JSON types."""
        at_s = None if self.tick is None else self.tick / TICKS_PER_S
        return {
            "points": self.points,
            "at_s": at_s,
            "why": self.reason,
            "better": self.better,
            "cause": self.cause,
        }


class RubricItem(Struct, frozen=True):
    """Result of one rule of the rubric, or a deduction with negative points.

    It contains reason and times, and a better alternative if points are missing.
    """

    name: str
    points: float
    max: float
    """Maximum points of the rule."""
    reason: str
    at_s: tuple[float, ...] = ()
    """Times of the losses, in seconds."""
    better: str = ""
    """Advice for the full points; empty if no points are missing."""
    losses: tuple[Loss, ...] = ()
    """Losses that explain the missing points."""
    counted: bool = True
    """False if the run gave no opportunity to earn the points.

    Then the item earns the average share of the other rules.
    """

    def as_json(self) -> ItemJson:
        """Return the rubric item in JSON types."""
        return {
            "name": self.name,
            "points": self.points,
            "max": self.max,
            "why": self.reason,
            "at_s": list(self.at_s),
            "better": self.better,
            "losses": [loss.as_json() for loss in self.losses],
        }
