"""Account of a run: its segments and moments, each with the points that it cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from engine.drill.judging.shapes import SIZES
from engine.drill.par.continuations import BaselineRun
from engine.drill.par.search_drill import SearchDrill
from engine.inputs import Input
from engine.model import Tick

LABELS: Final = (*SIZES, (0.5, "good"))
"""Minimum loss of V in points for each label; below the last the action was best.

Assumed: 0.5 points are insignificant.
"""


WAITING: Final = ""
"""Line of a wait."""


@dataclass(frozen=True, slots=True)
class RunSegment:
    """Action, or wait until the next action or observation."""

    tick: Tick
    until: Tick
    """End tick, equal to the start for an action."""
    line: str
    """Input line, or WAITING."""
    before: float
    """V before it in points."""
    after: float
    label: str
    """blunder, mistake, inaccuracy, good, best, brilliant."""
    plan: tuple[Input, ...] = ()
    """Inputs up to this segment and the best known continuation, if something was lost."""
    done: int = 0
    """Number of the plan's actions that belong to the run."""

    @property
    def best(self) -> tuple[Input, ...]:
        """Return the actions of the best known continuation from the start of this segment."""
        return self.plan[self.done :]

    @property
    def regret(self) -> float:
        """Return the value that the segment lost, in points."""
        return self.before - self.after


@dataclass(frozen=True, slots=True)
class RunMoment:
    """State of the run at a moment, and the next segment."""

    run: SearchDrill
    line: str
    still: BaselineRun
    """Baseline run without further actions, from this moment or an earlier one after the last action."""


@dataclass(frozen=True, slots=True)
class LastChance:
    """Plan that still reaches every goal from the point of no return."""

    tick: Tick
    """Point of no return."""
    plan: tuple[Input, ...]
    """Inputs up to the last chance, and the continuation that reaches every goal."""
    done: int
    """Number of the plan's actions that belong to the run."""
    line: str
    """Cause of its loss: an action of the run, or WAITING."""
    missed: tuple[tuple[str, Tick | None], ...]
    """Goals that this continuation misses when it starts one action or a little later, with their deadlines."""

    @property
    def remaining_actions(self) -> tuple[Input, ...]:
        """Actions of the plan after the last chance."""
        return self.plan[self.done :]


@dataclass(frozen=True, slots=True)
class BoundGap:
    """Possible underestimate of V at a moment, because V covers only the known continuations."""

    tick: Tick
    known: float
    """V at that moment."""
    most: float
    """Upper bound of all continuations, given the permanent losses by then."""


Best = RunSegment | LastChance
"""Best continuation that can be watched from its moment on."""


@dataclass(frozen=True, slots=True)
class Account:
    """Value of a run over time."""

    moves: tuple[RunSegment, ...]
    accuracy: float
    """Mean closeness of actions and waits to the best, 0 to 100, computed as Lichess computes accuracy.

    Actions after a total loss do not count.
    """
    last_chance: LastChance | None
    """Last time at which every goal was reachable; None if all were reached, or if no continuation reaches all."""
    doubt: BoundGap | None = None
    """Moment at which V is least certain to be the best possible; None: no moment allowed a higher score."""
    risen: float = 0.0
    """Largest rise of V at an action or wait with the knowledge before it.

    The reported V uses the rest of the run as well and never rises.
    """

    @property
    def point_of_no_return(self) -> Tick | None:
        """The last tick from which every goal could still be reached."""
        return None if self.last_chance is None else self.last_chance.tick

    @property
    def curve(self) -> tuple[tuple[Tick, float], ...]:
        """(tick, V) wherever a move begins or ends; it never rises."""
        return tuple(
            point for move in self.moves for point in ((move.tick, move.before), (move.until, move.after))
        )

    @property
    def worst(self) -> RunSegment | None:
        """First move with the highest loss; None if nothing was lost."""
        lossy = [move for move in self.moves if move.regret >= LABELS[-1][0]]
        return max(lossy, key=lambda move: (move.regret, -move.tick), default=None)
