"""All that a score is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from engine.drill.authoring.schema import Scenario
from engine.drill.running.goals import GoalState, OpenedHint
from engine.drill.running.questions import InquiryAnswer
from engine.drill.team.calls import Calls
from engine.events import Event
from engine.inputs import Input
from engine.model import Tick, World


@dataclass(frozen=True, slots=True)
class ScoredRun:
    """A run as it stands, for its score."""

    scenario: Scenario
    world: World
    events: Sequence[Event]
    goals: Mapping[str, GoalState]
    first_held: Mapping[str, Tick | None]
    """Condition (`forbidden:…`, `price:…`) -> when it first held; None: then it was nothing to be charged."""
    holds_now: Callable[[str], bool]
    """Function that returns whether a condition of the scenario holds now."""
    hints: Sequence[OpenedHint]
    answers: Mapping[str, InquiryAnswer]
    over: bool
    """The drill is over: nothing that is told now can help any more."""
    left_early: bool
    """It was ended while the story still had something to come."""
    given_up: bool
    """The trainee ended it; what was still to be asked is missing."""
    answers_at_once: bool
    rewinds: Sequence[tuple[Tick, Tick]]
    """(from, to) of each time that time went back."""
    rewind_cost: float
    """Points that each of them costs."""
    journal: Sequence[Input]
    """Inputs of the trainee."""
    calls: Calls = ()
    """Calls between the roles of a team."""
