"""Drills as the start page shows them, with the learner's results, and the orders they can be put in. No Qt."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Final

from app.files import course, proof
from app.files.summary import ScenarioSummary
from app.words import formatting
from app.words.language import mark, tr
from engine.drill.judging import skills


@dataclass(frozen=True, slots=True)
class Card(ScenarioSummary):
    """A scenario as the page shows it: what it is, and how the learner stands with it."""

    best: float | None = None
    """Best score so far; None: not finished yet without having gone back."""
    last: float | None = None
    """Score of the last run."""
    tries: int = 0
    """Finished runs."""
    due: bool = False
    """It is to be repeated now."""
    begun: bool = False
    """A run was begun, finished or not."""
    first: bool = False
    """The one to begin with; nothing was begun so far."""
    known: bool = False
    """The learner's results have been read; before that nothing is said of them."""

    @classmethod
    def from_summary(cls, summary: ScenarioSummary, **standing: Any) -> Card:
        """The card of a scenario; *standing*: the fields that are the learner's."""
        return cls(**{field.name: getattr(summary, field.name) for field in fields(summary)}, **standing)

    @property
    def facts(self) -> str:
        parts = [tr(self.level), f"{self.minutes} min"]
        parts += [self.result] if self.result else []
        parts += [] if self.shipped else [self.origin or tr("yours")]
        return "  ·  ".join(parts)

    @property
    def result(self) -> str:
        if not self.scored:
            return tr("free play")
        if not self.known:
            return ""
        if self.last is None:
            return (
                tr("not finished yet")
                if self.begun
                else tr("begin here")
                if self.first
                else tr("not tried yet")
            )
        if self.best is None:
            return tr("last {last} of 100").format(last=formatting.plain_number(self.last))
        if self.tries < 2:
            return tr("best {best} of 100").format(best=formatting.plain_number(self.best))
        return tr("best {best}, last {last} of 100").format(
            best=formatting.plain_number(self.best), last=formatting.plain_number(self.last)
        )

    @property
    def searched(self) -> str:
        """What the search looks into: level and skills in English and as they are shown."""
        titles = [skills.title_of(key) for key in self.skills]
        words = (
            self.name,
            self.title,
            self.summary,
            self.level,
            tr(self.level),
            *self.skills,
            *titles,
            *map(tr, titles),
        )
        return " ".join(words).lower()


ORDERS: Final[tuple[tuple[str, Callable[[Card], object]], ...]] = (
    (mark("By level"), lambda card: ()),
    (
        mark("By measured difficulty"),
        lambda card: proof.rank_difficulty(card.name) if card.shipped else math.inf,
    ),
    (mark("Shortest first"), lambda card: card.minutes),
    (mark("Weakest first"), lambda card: (card.best is None, card.best or 0.0)),
    (mark("Not tried first"), lambda card: (card.begun or card.last is not None, not card.scored)),
    (mark("By title"), lambda card: card.title.lower()),
    (mark("Course of groups"), lambda card: course.get_position(card.name)),
)
"""Ways to order the drills; what one of them does not tell apart stays in the order in which it came."""
