"""Account of a run: its segments, and the points that each of them lost."""

from typing import Final

from msgspec import Struct

from engine.drill.judging.shapes import SIZES
from engine.drill.par.continuations import BaselineRun
from engine.drill.par.search_drill import SearchDrill
from engine.inputs import Input
from engine.model import Tick

LABELS: Final = (*SIZES, (0.5, "good"))
"""(minimum loss of V in points, label) of a segment. Below the last minimum, the segment was "best".

Assumed: 0.5 points are insignificant.
"""


WAITING: Final = ""
"""Input line of a wait."""


class RunSegment(Struct, frozen=True):
    """Segment of a run: an action, or a wait until the next action or observation."""

    tick: Tick
    until: Tick
    """Tick at which it ends; for an action, the tick of the action."""
    line: str
    """Input line of the action, or WAITING."""
    before: float
    """V before the segment, in points."""
    after: float
    """Value after the segment."""
    label: str
    """blunder, mistake, inaccuracy, good, best or brilliant."""
    plan: tuple[Input, ...] = ()
    """Inputs before the segment, followed by the best known continuation; empty if nothing was lost."""
    done: int = 0
    """Number of inputs in *plan* that the run contains, too."""

    @property
    def best(self) -> tuple[Input, ...]:
        """Return the actions of the best known continuation from the start of this segment."""
        return self.plan[self.done :]

    @property
    def regret(self) -> float:
        """Return the value that the segment lost, in points."""
        return self.before - self.after


class RunMoment(Struct, frozen=True):
    """State of the run at a time, and the segment that follows."""

    run: SearchDrill
    line: str
    baseline_run: BaselineRun
    """Run without further actions. It starts here or, after the same action, earlier."""


class LastChance(Struct, frozen=True):
    """Plan that still reaches every goal from the point of no return."""

    tick: Tick
    """Point of no return."""
    plan: tuple[Input, ...]
    """Inputs before the last chance, followed by a continuation that reaches every goal."""
    done: int
    """Number of inputs in *plan* that the run contains, too."""
    line: str
    """Input line of the action with which the run missed the chance, or WAITING."""
    missed: tuple[tuple[str, Tick | None], ...]
    """(goal, deadline) of the goals that the same continuation misses if it starts one action, or a little, later."""

    @property
    def remaining_actions(self) -> tuple[Input, ...]:
        """Return the actions of the plan after the last chance."""
        return self.plan[self.done :]


class BoundGap(Struct, frozen=True):
    """Possible error of V at one time: V covers only the known continuations and may be too low."""

    tick: Tick
    known: float
    """V at that time."""
    most: float
    """Upper bound of all continuations, from the points that are not lost by then."""


Best = RunSegment | LastChance
"""Part of a run with a best continuation that can be watched."""


class RegretAnalysis(Struct, frozen=True):
    """Account of a run: its value V over time, and derived figures."""

    moves: tuple[RunSegment, ...]
    accuracy: float
    """Mean accuracy of actions and waits, 0 to 100, computed as Lichess computes accuracy.

    Actions after a total loss do not count.
    """
    last_chance: LastChance | None
    """Last time at which every goal was reachable. None means all were reached, or no continuation reaches all."""
    doubt: BoundGap | None = None
    """Time at which V is least certain to be the best possible; None means a higher V is impossible at all times."""
    risen: float = 0.0
    """Largest increase of V at an action or wait, if V is computed only from what was known before.

    The reported V also uses the rest of the run, and so never increases.
    """

    @property
    def point_of_no_return(self) -> Tick | None:
        """Return the last tick from which every goal could still be reached."""
        return None if self.last_chance is None else self.last_chance.tick

    @property
    def curve(self) -> tuple[tuple[Tick, float], ...]:
        """Return (tick, V) at the ends of all segments. V never rises."""
        return tuple(
            point for move in self.moves for point in ((move.tick, move.before), (move.until, move.after))
        )

    @property
    def worst(self) -> RunSegment | None:
        """Return the first segment with the largest loss; None if nothing was lost."""
        lossy = [move for move in self.moves if move.regret >= LABELS[-1][0]]
        return max(lossy, key=lambda move: (move.regret, -move.tick), default=None)
