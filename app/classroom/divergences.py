"""Divergences of a class: times until which seats acted alike, and after which their choices differ.

The cost of a divergence is a difference of average final scores: seats with the best choice minus seats with
another choice. It includes all later effects, not only the value of the choice. The debrief of each seat
shows the value V(t) of its choices.
"""

from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import Final

from msgspec import Struct

from engine.model import Tick, to_ticks

SAME_CHOICE_WINDOW_TICKS: Final = to_ticks(60.0)
"""Maximum time in ticks between two equal actions that count as the same choice.

A seat without an action within this time has chosen to wait. Assumed.
"""

DIVERGENCE_SEATS_MIN: Final = 2


class SeatAction(Struct, frozen=True):
    """Action of a seat."""

    tick: Tick
    key: str
    """Key that is equal for actions with the same effect."""
    text: str


class SeatHistory(Struct, frozen=True):
    """Actions of a seat in order, and its score."""

    seat: int
    actions: tuple[SeatAction, ...]
    score: float


class DivergenceChoice(Struct, frozen=True):
    """Next action after a divergence, with the seats that chose it."""

    text: str
    """Description of the action; empty if the seats waited."""
    seats: tuple[int, ...]
    mean_score: float
    """Mean final score of the seats with this choice."""


class ClassDivergence(Struct, frozen=True):
    """Divergence: seats that had acted alike made different choices."""

    tick: Tick
    """Time of the earliest action among the choices."""
    choices: tuple[DivergenceChoice, ...]
    """Choices, best first."""

    @property
    def cost(self) -> float:
        """Points that all seats without the best choice lost in total.

        A seat's loss is the mean score of the best choice minus the mean score of its own choice.
        """
        best = self.choices[0].mean_score
        return sum(len(choice.seats) * (best - choice.mean_score) for choice in self.choices)


def find_divergences(seat_histories: Sequence[SeatHistory]) -> list[ClassDivergence]:
    """Return all divergences, most costly first."""
    return sorted(
        _find_divergences(seat_histories, 0, 0), key=lambda divergence: (-divergence.cost, divergence.tick)
    )


def _find_divergences(
    group_histories: Sequence[SeatHistory], depth: int, start_tick: Tick
) -> Iterator[ClassDivergence]:
    """Find divergences among seats whose first *depth* actions are equal.

    *group_histories*: histories of these seats. No seat takes its next action before *start_tick*.
    """
    continuing = [course for course in group_histories if len(course.actions) > depth]
    if len(group_histories) < DIVERGENCE_SEATS_MIN or not continuing:
        return
    first = max(start_tick, min(course.actions[depth].tick for course in continuing))
    groups: dict[str, list[SeatHistory]] = {}
    waited = []
    for course in group_histories:
        if len(course.actions) > depth and course.actions[depth].tick <= first + SAME_CHOICE_WINDOW_TICKS:
            groups.setdefault(course.actions[depth].key, []).append(course)
        else:
            waited.append(course)
    choices = [
        DivergenceChoice(histories[0].actions[depth].text, *_summarize_outcome(histories))
        for histories in groups.values()
    ]
    if waited:
        choices.append(DivergenceChoice("", *_summarize_outcome(waited)))
    if len(choices) > 1:
        yield ClassDivergence(
            first, tuple(sorted(choices, key=lambda choice: (-choice.mean_score, choice.text)))
        )
    for seat_histories in groups.values():
        yield from _find_divergences(seat_histories, depth + 1, 0)
    if groups:
        yield from _find_divergences(waited, depth, first + SAME_CHOICE_WINDOW_TICKS)


def _summarize_outcome(seat_histories: Sequence[SeatHistory]) -> tuple[tuple[int, ...], float]:
    """Return the numbers of the seats, and their mean final score."""
    return tuple(course.seat for course in seat_histories), fmean(course.score for course in seat_histories)
