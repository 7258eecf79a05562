"""Input of a score."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from engine.drill.authoring.schema import Scenario
from engine.drill.running.questions import GoalState, InquiryAnswer, OpenedHint
from engine.drill.team.calls import Calls
from engine.events import Event
from engine.inputs import Input
from engine.model import Tick, World


@dataclass(frozen=True, slots=True)
class ScoredRun:
    """Present state of a run, for its score."""

    scenario: Scenario
    world: World
    events: Sequence[Event]
    goals: Mapping[str, GoalState]
    first_held: Mapping[str, Tick | None]
    """Condition (`forbidden:…`, `price:…`) -> tick at which it first held; None: it was not chargeable then."""
    holds_now: Callable[[str], bool]
    """Function that returns whether a condition of the scenario holds now."""
    hints: Sequence[OpenedHint]
    answers: Mapping[str, InquiryAnswer]
    over: bool
    """True if the drill has ended, so that no information can help any more."""
    left_early: bool
    """True if it ended before the end of the story."""
    given_up: bool
    """True if the trainee ended it; open questions count as missing."""
    answers_at_once: bool
    rewinds: Sequence[tuple[Tick, Tick]]
    """(from, to) of each rewind."""
    rewind_cost: float
    """Points that each rewind costs."""
    journal: Sequence[Input]
    """Inputs of the trainee."""
    calls: Calls = ()
    """Calls between the roles of a team."""
