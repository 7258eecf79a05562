"""Regret analysis of a run: its segments, and the points that each segment lost."""

from typing import Final

from msgspec import Struct

from engine.drill.judging.report_types import LOSS_LABELS
from engine.drill.par.continuations import BaselineRun
from engine.drill.par.search_drill import SearchDrill
from engine.inputs import Input
from engine.model import Tick

SEGMENT_LABELS: Final = (*LOSS_LABELS, (0.5, "good"))
"""(minimum loss in points, label) of a segment. A segment with a smaller loss has the label "best".

Assumed: a loss below 0.5 points is insignificant.
"""


WAITING: Final = ""
"""Value of `RunSegment.line` for a wait."""


class RunSegment(Struct, frozen=True):
    """Segment of a run: an action, or a wait until the next action or observation."""

    tick: Tick
    until: Tick
    """Tick at which the segment ends; for an action, the tick of the action."""
    line: str
    """Input line of the action, or WAITING."""
    before: float
    """Best reachable score before the segment."""
    after: float
    """Best reachable score after the segment."""
    label: str
    """blunder, mistake, inaccuracy, good, best or brilliant."""
    plan: tuple[Input, ...] = ()
    """Inputs before the segment, followed by the best known continuation; empty if nothing was lost."""
    shared_input_count: int = 0
    """Number of inputs at the beginning of *plan* that the run also contains."""

    @property
    def best(self) -> tuple[Input, ...]:
        """Actions of the best known continuation from the start of this segment."""
        return self.plan[self.shared_input_count :]

    @property
    def regret(self) -> float:
        """Points by which the segment lowered the best reachable score."""
        return self.before - self.after


class RunPosition(Struct, frozen=True):
    """State of the run at one time, and the segment that follows."""

    run: SearchDrill
    line: str
    """Input line of the action that follows, or WAITING."""
    baseline_run: BaselineRun
    """Run without further actions.

    It starts at this position, or at an earlier position after the same actions.
    """


class LastChance(Struct, frozen=True):
    """Plan that reaches every goal and branches off at the point of no return."""

    tick: Tick
    """Point of no return."""
    plan: tuple[Input, ...]
    """Inputs before the point of no return, followed by a continuation that reaches every goal."""
    shared_input_count: int
    """Number of inputs at the beginning of *plan* that the run also contains."""
    line: str
    """Input line of the action that ended the chance; WAITING if a wait ended it."""
    missed_goals: tuple[tuple[str, Tick | None], ...]
    """(goal, deadline) of each goal that the same continuation misses if it starts later.

    "Later" means after the next action, or a little after the point of no return.
    """

    @property
    def remaining_actions(self) -> tuple[Input, ...]:
        """Actions of the plan from the point of no return on."""
        return self.plan[self.shared_input_count :]


class BoundGap(Struct, frozen=True):
    """Range in which the best reachable score V at one time lies.

    V covers only known continuations, so it may be too low.
    """

    tick: Tick
    value: float
    """Best reachable score that was found."""
    upper_bound: float
    """Score that would be reached if no further points were lost: the upper end of the range."""


SegmentWithBest = RunSegment | LastChance
"""Part of a run with a `best` continuation that the trainee can watch: a segment or the last chance."""


class RegretAnalysis(Struct, frozen=True):
    """Regret analysis of a run: its value V over time, and derived figures."""

    moves: tuple[RunSegment, ...]
    accuracy: float
    """Mean accuracy of actions and waits, 0 to 100, by the formula of Lichess.

    Actions after a total loss do not count.
    """
    last_chance: LastChance | None
    """Last chance to reach every goal; None if the run reached all goals, or if no known continuation reaches
    all.
    """
    largest_gap: BoundGap | None = None
    """Largest possible error of the best reachable score, with its time.

    None if the score is exact at all times.
    """
    largest_rise: float = 0.0
    """Largest increase of the best reachable score V at an action or wait, before correction.

    The reported V is corrected: a score that the run can reach later also counts for earlier times.
    """

    @property
    def point_of_no_return(self) -> Tick | None:
        """Last tick from which every goal was reachable; None if there is no last chance."""
        return None if self.last_chance is None else self.last_chance.tick

    @property
    def curve(self) -> tuple[tuple[Tick, float], ...]:
        """(tick, best reachable score) at the start and end of each segment. The score never increases."""
        return tuple(
            point for move in self.moves for point in ((move.tick, move.before), (move.until, move.after))
        )

    @property
    def worst(self) -> RunSegment | None:
        """First segment with the largest loss; None if nothing was lost."""
        lossy = [move for move in self.moves if move.regret >= SEGMENT_LABELS[-1][0]]
        return max(lossy, key=lambda move: (move.regret, -move.tick), default=None)
