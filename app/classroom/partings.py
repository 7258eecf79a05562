"""Where the seats of a class parted: at a moment at which all had done the same, some did one thing and some another.

What that cost is the points that those who chose another way came to on average less than those who chose best. It is
what happened afterwards, not what the choice alone was worth: that the debrief of each seat says (V(t)).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from engine.model import Tick, ticks

WINDOW: Final = ticks(60.0)
"""The same deed so much later is the same choice; whoever has done nothing by then has waited. Assumed."""

SEATS_MIN: Final = 2


@dataclass(frozen=True, slots=True)
class Deed:
    """What a seat did."""

    tick: Tick
    key: str
    """Equal where two deeds do the same."""
    words: str


@dataclass(frozen=True, slots=True)
class Course:
    """What a seat did, in order, and what it came to."""

    seat: int
    deeds: tuple[Deed, ...]
    score: float


@dataclass(frozen=True, slots=True)
class Choice:
    """What some seats did next."""

    words: str
    """Empty: they waited."""
    seats: tuple[int, ...]
    mean: float
    """Points to which they came in the end."""


@dataclass(frozen=True, slots=True)
class Parting:
    """A moment up to which all its seats had done the same."""

    tick: Tick
    """When the first of them did something."""
    choices: tuple[Choice, ...]
    """The best one first."""

    @property
    def cost(self) -> float:
        """Points that all other choices together came to less than the best one."""
        best = self.choices[0].mean
        return sum(len(choice.seats) * (best - choice.mean) for choice in self.choices)


def partings(courses: Sequence[Course]) -> list[Parting]:
    """All of them, the dearest first."""
    return sorted(_of(courses, 0, 0), key=lambda one: (-one.cost, one.tick))


def _of(courses: Sequence[Course], done: int, since: Tick) -> Iterator[Parting]:
    """Of seats that have done the same *done* deeds; who is here has waited until *since*."""
    left = [course for course in courses if len(course.deeds) > done]
    if len(courses) < SEATS_MIN or not left:
        return
    first = max(since, min(course.deeds[done].tick for course in left))
    groups: dict[str, list[Course]] = {}
    waited = []
    for course in courses:
        if len(course.deeds) > done and course.deeds[done].tick <= first + WINDOW:
            groups.setdefault(course.deeds[done].key, []).append(course)
        else:
            waited.append(course)
    choices = [Choice(some[0].deeds[done].words, *_came_to(some)) for some in groups.values()]
    if waited:
        choices.append(Choice("", *_came_to(waited)))
    if len(choices) > 1:
        yield Parting(first, tuple(sorted(choices, key=lambda one: (-one.mean, one.words))))
    for some in groups.values():
        yield from _of(some, done + 1, 0)
    if groups:
        yield from _of(waited, done, first + WINDOW)


def _came_to(courses: Sequence[Course]) -> tuple[tuple[int, ...], float]:
    return tuple(course.seat for course in courses), fmean(course.score for course in courses)
