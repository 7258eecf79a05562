"""What to take next: few drills that cover the skills that are due, then some for skills never tried."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Final

from app.learning.memory import Practised, standings
from engine.drill.judging.skills import Skill, by_key

NEW_SHOWN: Final = 3
"""Drills with skills never practised that are suggested after what is due. Assumed: a choice, not a list."""


@dataclass(frozen=True, slots=True)
class Course:
    """A scenario that can be taken, as far as a choice needs it; in the order in which a newcomer takes them."""

    name: str
    skills: tuple[str, ...]
    difficulty: int
    """0 beginner to 3 expert."""
    minutes: int


@dataclass(frozen=True, slots=True)
class Next:
    """A scenario that is worth taking now, for these skills."""

    scenario: str
    skills: tuple[Skill, ...]
    """Longest due first; of a new one in the scenario's order."""
    since: datetime | None
    """When the first of them came due; None: they were never practised."""


def due_list(runs: Sequence[Practised], courses: Sequence[Course], now: datetime) -> list[Next]:
    """What to take next and why, the most needed first: few scenarios that cover all skills that are due.

    Among scenarios that serve equally well comes the one that was taken longest ago or never, then the easier. After
    them come up to NEW_SHOWN with skills that were never practised, the easiest first.
    """
    trained = {course.name: course.skills for course in courses}
    found = standings(runs, trained, now)
    due = {s.skill.key: s for s in found if s.is_due(now)}
    fresh = {s.skill.key for s in found if s.last is None}
    told = [run for run in runs if run.is_evidence]
    taken = {run.scenario: run.at for run in sorted(told, key=lambda run: run.at)}
    never = datetime.min.replace(tzinfo=now.tzinfo)
    out: list[Next] = []
    while due:
        serves = {course: [k for k in dict.fromkeys(course.skills) if k in due] for course in courses}
        useful = [course for course, keys in serves.items() if keys]
        if not useful:
            break  # no scenario trains what is left
        best = min(
            useful,
            key=lambda c: (-len(serves[c]), taken.get(c.name, never), c.difficulty, c.minutes, c.name),
        )
        served = sorted((due.pop(key) for key in serves[best]), key=lambda s: s.due or now)
        out.append(Next(best.name, tuple(s.skill for s in served), served[0].due))
    out.sort(key=lambda each: each.since or now)
    return out + _new(courses, fresh, {each.scenario for each in out} | set(taken))


def _new(courses: Sequence[Course], fresh: set[str], without: set[str]) -> list[Next]:
    """The easiest scenarios for skills that nobody has tried yet, each for other ones."""
    out: list[Next] = []
    left = set(fresh)
    easiest_first = sorted(courses, key=lambda c: c.difficulty)
    for _, group in groupby(easiest_first, key=lambda c: c.difficulty):
        level = [course for course in group if course.name not in without]
        while len(out) < NEW_SHOWN and any(left & set(course.skills) for course in level):
            best = min(level, key=lambda c: (-len(left & set(c.skills)), c.minutes, c.name))
            keys = [key for key in dict.fromkeys(best.skills) if key in left]
            left -= set(keys)
            level.remove(best)
            out.append(Next(best.name, tuple(by_key()[key] for key in keys), None))
    return out
