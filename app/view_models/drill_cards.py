"""Drills on the start page: technology, state, search text and sort orders, without Qt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Final, NamedTuple, TypedDict, Unpack

from app.files.learning_paths import learning_paths, place_in_path
from app.files.summary import LEVELS, ScenarioSummary
from app.words import formatting
from app.words.language import mark, tr
from engine.drill.judging import skills

PASS_POINTS: Final = 60.0
"""Pass mark of a drill (app/learning/memory.py, RATINGS)."""

SHORT_LABELS: Final = {
    "mirroring": mark("Mirroring"),
    "ag": mark("AG"),
    "fci": mark("FCI"),
    "clients": mark("Clients"),
    "restore": mark("Restore"),
    "team": mark("Team"),
}
"""Short label of a drill's technology, for a card."""


class State(NamedTuple):
    """Learner's result of a drill as a short label."""

    text: str
    tone: str
    """Name of a color token."""


class CardResults(TypedDict, total=False):
    """Fields of a card that describe the learner's runs."""

    best: float | None
    last: float | None
    tries: int
    due: bool
    begun: bool
    known: bool


@dataclass(frozen=True)
class Card(ScenarioSummary):
    """Scenario with the learner's results."""

    best: float | None = None
    """Best score so far; None if no run without rewinding is finished."""
    last: float | None = None
    """Score of the last run."""
    tries: int = 0
    """Number of finished runs."""
    due: bool = False
    """True if a skill of the drill is due now."""
    begun: bool = False
    """True if a run was begun, finished or not."""
    known: bool = False
    """True if the learner's results have been read."""

    @classmethod
    def from_summary(cls, summary: ScenarioSummary, **results: Unpack[CardResults]) -> Card:
        """Return the card of a scenario; *results*: the fields that describe the learner's runs."""
        return cls(**{field.name: getattr(summary, field.name) for field in fields(summary)}, **results)

    @property
    def passed(self) -> bool:
        """Return whether the drill was passed."""
        return self.best is not None and self.best >= PASS_POINTS

    @property
    def failed(self) -> bool:
        """True if the last run missed the pass mark and no earlier one reached it."""
        return self.scored and self.last is not None and not self.passed

    @property
    def path_order(self) -> tuple[int, int, int, str]:
        """Sort key: path and place in it. The user's own drills follow, by level and title."""
        place = place_in_path(self.name) if self.shipped else 1_000
        return list(learning_paths()).index(self.technology), place, LEVELS.index(self.level), self.title

    @property
    def facts(self) -> str:
        """Technology, version, minutes and difficulty, with the origin of drills from other authors."""
        return self._facts(f"SQL {self.version}" if self.version else "")

    @property
    def short_facts(self) -> str:
        """Facts without the version, for narrow cards."""
        return self._facts("")

    def _facts(self, version: str) -> str:
        parts = [tr(SHORT_LABELS[self.technology]), version]
        parts += [tr("{minutes} min").format(minutes=self.minutes), level_title(self.level)]
        parts += [] if self.shipped else [self.origin or tr("yours")]
        return " · ".join(filter(None, parts))

    @property
    def state(self) -> State:
        """Return the progress of the drill."""
        if not self.scored:
            return State(tr("Free play"), "muted")
        if not self.known:
            return State("", "muted")
        if self.last is None:
            return State(tr("Started") if self.begun else tr("Not started"), "muted")
        if self.passed:
            points = formatting.plain_number(self.best or 0.0)
            said = tr("✓ Passed, {points} · due") if self.due else tr("✓ Passed, {points}")
            return State(said.format(points=points), "warn" if self.due else "ok")
        best = self.best if self.best is not None else self.last
        return State(tr("{points} of 100, retry").format(points=formatting.plain_number(best)), "warn")

    @cached_property
    def search_text(self) -> str:
        """Text for the search, in lowercase: names in English and as shown, and the texts of the drill."""
        path = learning_paths()[self.technology].title
        titles = [skills.title_of(key) for key in self.skills]
        words = (
            self.name,
            self.title,
            self.summary,
            *(text for key in (self.level, path, *titles) for text in (key, tr(key))),
            *self.skills,
            f"sql server {self.version}",
            self.words,
        )
        return " ".join(words).lower()


def level_title(level: str) -> str:
    """Return the difficulty in the wording of menus and cards."""
    words = tr(level)
    return words[:1].upper() + words[1:]


ORDERS: Final[tuple[tuple[str, Callable[[Card], tuple[object, ...]]], ...]] = (
    (mark("By path"), lambda card: card.path_order),
    (mark("Easiest first"), lambda card: (LEVELS.index(card.level), card.minutes, card.title)),
    (mark("Shortest first"), lambda card: (card.minutes, card.title)),
    (mark("Weakest first"), lambda card: (card.best is None, card.best or 0.0, card.title)),
    (mark("By title"), lambda card: (card.title.lower(),)),
)
"""Title and sort key of each order of the drills."""
