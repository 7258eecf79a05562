"""Skills: what finished runs tell of them, how that fades, and what is due again. Pure functions, time is given.

Intervals follow SM-2 (P. A. Woźniak, "Optimization of learning", 1990, chapter 3.2), one schedule for each skill.
Between repetitions memory fades exponentially and is at RETENTION_WHEN_DUE when the interval is over, which is how
FSRS defines stability (open-spaced-repetition, "The Algorithm"); half-life regression (Settles and Meeder, ACL 2016)
has the same curve.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from importlib import resources
from itertools import groupby
from typing import Final

from engine import arithmetic
from engine.drill.running.modes import Mode

FIRST_INTERVAL_DAYS: Final = 1.0
SECOND_INTERVAL_DAYS: Final = 6.0
EASE_AT_FIRST: Final = 2.5
EASE_MIN: Final = 1.3
PASSING_GRADE: Final = 3.0
"""SM-2's own figures: I(1), I(2), the first E-factor, the least one, and the grade (0-5) from which it is a success."""

INTERVAL_DAYS_MAX: Final = 180.0
"""However often it went well, half a year later it is worth a drill. Assumed."""

SPACED_SHARE: Final = 0.5
"""A success lengthens the interval only after this share of it: ten runs in one evening are no spacing. Assumed;
SM-2 knows repetitions only when they are due."""

RETENTION_WHEN_DUE: Final = 0.9
"""What is left of a skill when its interval is over. FSRS's default of desired retention."""

WEIGHTS: Final[dict[Mode, float]] = {Mode.EXAM: 0.6, Mode.PRACTICE: 0.4, Mode.GUIDED: 0.2}
"""How far one run moves the level towards its own quality. Assumed: the less help, the more it says; free play says
nothing."""

GUIDED_GRADE_MAX: Final = PASSING_GRADE
"""Best grade of a guided run: it was done, but not alone. Assumed."""

HINT_PRICE: Final = 0.1
"""Share of the quality that each opened layer of a hint takes. Assumed."""

HINTS_PRICE_MAX: Final = 0.5
"""Hints never take more than this share: the rest was done by oneself. Assumed."""


EVIDENCE_S_MIN: Final = 30.0
"""Simulated seconds below which a run tells nothing of skills, good or bad: before the first fault there is nothing
to decide, and who ends a run so soon has done it by mistake or did not begin. Assumed: no shipped drill can be solved
in less, as a partner alone needs 10 s to notice a loss."""


@dataclass(frozen=True, slots=True)
class Skill:
    """One thing that can be learnt."""

    key: str
    title: str
    text: str


@cache
def skills() -> tuple[Skill, ...]:
    """All of them, in the order in which they are shown."""
    source = resources.files("engine.drill.judging").joinpath("skills.toml").read_text(encoding="utf-8")
    return tuple(Skill(key, entry["title"], entry["text"]) for key, entry in tomllib.loads(source).items())


@cache
def by_key() -> Mapping[str, Skill]:
    return {skill.key: skill for skill in skills()}


def title_of(key: str) -> str:
    """The title of a skill; of a key that nobody knows its words."""
    known = by_key().get(key)
    return known.title if known is not None else key.replace("-", " ")


@dataclass(frozen=True, slots=True)
class Practised:
    """A finished run, as far as it tells about skills. Runs that went back in time or were only watched are none."""

    scenario: str
    mode: Mode
    score: float
    """0 to 100."""
    hints: int
    """Layers of hints that were opened."""
    at: datetime
    played_s: float
    """Simulated seconds that it lasted."""

    @property
    def is_evidence(self) -> bool:
        """It lasted long enough to tell anything."""
        return self.played_s >= EVIDENCE_S_MIN

    @property
    def quality(self) -> float:
        """0 to 1: the score, less what hints have done of it."""
        helped = min(HINTS_PRICE_MAX, HINT_PRICE * self.hints)
        return min(1.0, max(0.0, self.score / 100.0)) * (1.0 - helped)

    @property
    def grade(self) -> float:
        """SM-2's grade of the recall, 0 to 5."""
        most = GUIDED_GRADE_MAX if self.mode is Mode.GUIDED else 5.0
        return min(most, 5.0 * self.quality)


@dataclass(frozen=True, slots=True)
class SkillStanding:
    """How one skill stands."""

    skill: Skill
    mastery: float
    """0 to 100: what the runs have shown, faded since the last one."""
    runs: int
    successes: int
    """Spaced successes since the last lapse."""
    last: datetime | None
    due: datetime | None
    """When it is to be repeated; None: never practised."""

    def is_due(self, now: datetime) -> bool:
        return self.due is not None and self.due <= now


@dataclass(frozen=True, slots=True)
class _Memory:
    """A skill right after a repetition."""

    level: float = 0.0
    interval_days: float = 0.0
    ease: float = EASE_AT_FIRST
    successes: int = 0
    last: datetime | None = None

    def left(self, now: datetime) -> float:
        """The share of the level that is left at *now*."""
        if self.last is None:
            return 0.0
        return arithmetic.power(
            RETENTION_WHEN_DUE, _days(self.last, now) / max(self.interval_days, FIRST_INTERVAL_DAYS)
        )


def _days(since: datetime, until: datetime) -> float:
    return max(0.0, (until - since) / timedelta(days=1))


def _repeated(memory: _Memory, run: Practised) -> _Memory:
    """*memory* after one more run."""
    faded = memory.level * memory.left(run.at)
    level = faded + (run.quality - faded) * WEIGHTS[run.mode]
    if run.grade < PASSING_GRADE:
        return _Memory(level, FIRST_INTERVAL_DAYS, _eased(memory.ease, run.grade), 0, run.at)
    waited = memory.last is None or _days(memory.last, run.at) >= SPACED_SHARE * memory.interval_days
    if not waited:
        return _Memory(level, memory.interval_days, memory.ease, memory.successes, run.at)
    ease = _eased(memory.ease, run.grade)
    steps = {0: FIRST_INTERVAL_DAYS, 1: SECOND_INTERVAL_DAYS}
    interval = steps.get(memory.successes, memory.interval_days * ease)
    return _Memory(level, min(INTERVAL_DAYS_MAX, interval), ease, memory.successes + 1, run.at)


def _eased(ease: float, grade: float) -> float:
    """SM-2: EF' = EF + (0.1 - (5 - q) * (0.08 + (5 - q) * 0.02)), never below 1.3."""
    off = 5.0 - grade
    return max(EASE_MIN, ease + 0.1 - off * (0.08 + off * 0.02))


def standings(
    runs: Iterable[Practised], trained: Mapping[str, Sequence[str]], now: datetime
) -> list[SkillStanding]:
    """How every skill stands at *now*. *trained*: scenario -> the keys of its skills. All times in one zone.

    Runs later than *now* (a clock was changed) count as if they were made now.
    """
    by_skill: dict[str, list[Practised]] = {skill.key: [] for skill in skills()}
    for run in sorted(runs, key=lambda run: run.at):
        for key in dict.fromkeys(trained.get(run.scenario, ())):
            if run.mode in WEIGHTS and run.is_evidence and key in by_skill:
                by_skill[key].append(run)
    return [_standing(skill, by_skill[skill.key], now) for skill in skills()]


def _standing(skill: Skill, runs: Sequence[Practised], now: datetime) -> SkillStanding:
    memory = _Memory()
    for run in runs:
        memory = _repeated(memory, run)
    due = None if memory.last is None else min(memory.last, now) + timedelta(days=memory.interval_days)
    mastery = round(100.0 * memory.level * memory.left(now), 1)
    return SkillStanding(skill, mastery, len(runs), memory.successes, memory.last, due)


# --- what to take next --------------------------------------------------------------------------------------

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
