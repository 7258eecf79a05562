"""State of goals, and conditions that have held once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from engine.drill.authoring.schema import Goal
from engine.localization import LocalizableMessage, mark, say
from engine.model import Tick, ticks


@dataclass(frozen=True, slots=True)
class GoalState:
    """Goal with the time since which its condition holds, the time at which it was reached, and whether it is late."""

    since_tick: Tick | None = None
    met_tick: Tick | None = None
    missed_tick: Tick | None = None

    @property
    def is_reached(self) -> bool:
        """Return whether the goal is reached now."""
        return self.met_tick is not None


NOT_SO: Final = GoalState()

NEWS = {
    "met": mark("goal met: {goal}"),
    "lost": mark("goal no longer met: {goal}"),
    "missed": mark("goal missed (deadline passed): {goal}"),
}
"""Message template for each event of a goal."""


def format_goal_news(news: str, goal: Goal) -> LocalizableMessage:
    """Format the *news* (a key of NEWS) of *goal*."""
    return say(NEWS[news], goal=goal.text)


def update_goal(goal: Goal, state: GoalState, holds: bool, tick: Tick) -> tuple[GoalState, str | None]:
    """Return the goal's state after an evaluation at *tick*, and the news (a key of NEWS) if any.

    A reached goal must be kept; one that is not reached in its time is missed for good.
    """
    if tick < ticks(goal.after) or state.missed_tick is not None:
        return state, None
    if not holds:
        news = "lost" if state.is_reached else None
        state = NOT_SO
    else:
        since, news = tick if state.since_tick is None else state.since_tick, None
        if not state.is_reached and tick - since >= ticks(goal.hold):
            state, news = GoalState(since, tick), "met"
        elif state.since_tick is None:
            state = GoalState(since, state.met_tick)
    if goal.within is not None and not state.is_reached and tick >= ticks(goal.within):
        return GoalState(state.since_tick, missed_tick=tick), "missed"
    return state, news


@dataclass(frozen=True, slots=True)
class OpenedHint:
    """Opened hint with its cost."""

    tick: Tick
    goal: str
    layer: int
    cost: float
