"""Goals: reached after their hold time, lost when their condition becomes false, missed at their deadline."""

from __future__ import annotations

from typing import Any

from engine.drill.authoring.schema import Goal
from engine.drill.running.questions import GoalState, update_goal


def list_goal_events(goal: Goal, truth_by_second: str) -> list[str | None]:
    """Return the event of a goal for each second of *truth_by_second* (T: the condition is true, -: it is false)."""
    state, news = GoalState(), []
    for second, sign in enumerate(truth_by_second):
        state, change = update_goal(goal, state, sign == "T", second * 100)
        news.append(change)
    return news


def build_goal(**fields: Any) -> Goal:
    return Goal(name="g", text="g", when="Sales serves", **fields)


def test_a_goal_is_reached_at_once() -> None:
    assert list_goal_events(build_goal(), "-TT") == [None, "met", None]


def test_a_goal_must_hold_for_its_time() -> None:
    assert list_goal_events(build_goal(hold=2), "-TT-TTT") == [None] * 6 + ["met"]


def test_a_reached_goal_can_be_lost_and_reached_again() -> None:
    assert list_goal_events(build_goal(), "T-T") == ["met", "lost", "met"]


def test_a_goal_is_not_judged_before_its_time() -> None:
    assert list_goal_events(build_goal(after=2), "TTTT") == [None, None, "met", None]


def test_a_missed_goal_stays_missed() -> None:
    assert list_goal_events(build_goal(within=2), "---TT") == [None, None, "missed", None, None]


def test_a_goal_is_reached_in_the_last_second() -> None:
    assert list_goal_events(build_goal(within=2), "--T-") == [None, None, "met", "missed"]


def test_a_goal_that_holds_too_late_is_missed() -> None:
    assert list_goal_events(build_goal(within=2, hold=2), "-TTT")[2] == "missed"
