"""Drills as the start page shows them: technology, state, search text and sort orders. No Qt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Final, NamedTuple

from app.files.learning_paths import learning_paths, place_in_path
from app.files.summary import LEVELS, ScenarioSummary
from app.words import formatting
from app.words.language import mark, tr
from engine.drill.judging import skills

PASS_POINTS: Final = 60.0
"""Points of a passed drill (app/learning/memory.py, RATINGS)."""

SHORT_LABELS: Final = {
    "mirroring": mark("Mirroring"),
    "ag": mark("AG"),
    "fci": mark("FCI"),
    "clients": mark("Clients"),
    "restore": mark("Restore"),
    "team": mark("Team"),
}
"""Technology of a drill, short enough for a card."""


class State(NamedTuple):
    """The learner's result of a drill in few words."""

    text: str
    tone: str
    """Name of a color token."""


@dataclass(frozen=True)
class Card(ScenarioSummary):
    """A scenario with the learner's results."""

    best: float | None = None
    """Best score so far; None: not finished yet without having gone back."""
    last: float | None = None
    """Score of the last run."""
    tries: int = 0
    """Finished runs."""
    due: bool = False
    """A skill that it trains is due now."""
    begun: bool = False
    """A run was begun, finished or not."""
    known: bool = False
    """The learner's results have been read."""

    @classmethod
    def from_summary(cls, summary: ScenarioSummary, **results: Any) -> Card:
        """Return the card of a scenario; *results*: the fields that describe the learner's runs."""
        return cls(**{field.name: getattr(summary, field.name) for field in fields(summary)}, **results)

    @property
    def passed(self) -> bool:
        return self.best is not None and self.best >= PASS_POINTS

    @property
    def failed(self) -> bool:
        """The last run missed the pass mark, and no earlier one reached it."""
        return self.scored and self.last is not None and not self.passed

    @property
    def path_order(self) -> tuple[int, int, int, str]:
        """Sort key: path, place in it; drills of the user's own follow by level and title."""
        place = place_in_path(self.name) if self.shipped else 1_000
        return list(learning_paths()).index(self.technology), place, LEVELS.index(self.level), self.title

    @property
    def facts(self) -> str:
        """Technology, version, minutes, difficulty and, of other people's drills, the origin."""
        return self._facts(f"SQL {self.version}" if self.version else "")

    @property
    def short_facts(self) -> str:
        """The facts without the version, for narrow cards."""
        return self._facts("")

    def _facts(self, version: str) -> str:
        parts = [tr(SHORT_LABELS[self.technology]), version]
        parts += [tr("{minutes} min").format(minutes=self.minutes), level_title(self.level)]
        parts += [] if self.shipped else [self.origin or tr("yours")]
        return " · ".join(filter(None, parts))

    @property
    def state(self) -> State:
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
        """Text of the search, in lower case: names in English and as shown, and the words of the drill."""
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
    """Return the difficulty as a menu or card shows it."""
    words = tr(level)
    return words[:1].upper() + words[1:]


ORDERS: Final[tuple[tuple[str, Callable[[Card], Any]], ...]] = (
    (mark("By path"), lambda card: card.path_order),
    (mark("Easiest first"), lambda card: (LEVELS.index(card.level), card.minutes, card.title)),
    (mark("Shortest first"), lambda card: (card.minutes, card.title)),
    (mark("Weakest first"), lambda card: (card.best is None, card.best or 0.0, card.title)),
    (mark("By title"), lambda card: card.title.lower()),
)
"""Titles and sort keys of the orders of the drills."""
