"""The start page as plain data: filters and search, learning paths with progress, the recommended drill. Without Qt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from app.files.learning_paths import LearningPath, learning_paths
from app.view_models.drill_cards import ORDERS, Card
from app.words import formatting
from app.words.language import mark, tr, trn

if TYPE_CHECKING:
    from app.learning.next_drills import Recommendation
    from app.view_models.progress import LearnerProgress

FIRST_DRILL: Final = "automatic-failover"
"""Recommended drill until the first run is finished."""

STEM_MIN: Final = 4
"""Minimum letters of a word without its ending."""

DURATIONS: Final = (
    (mark("Up to 6 min"), 0, 6),
    (mark("7 to 10 min"), 7, 10),
    (mark("Over 10 min"), 11, 10_000),
)
"""Title, shortest and longest minutes of each choice of the duration filter."""


@dataclass(frozen=True, slots=True)
class Filters:
    """Chosen filters of the start page; None: any."""

    technology: str | None = None
    version: str | None = None
    duration: int | None = None
    """Index into DURATIONS."""
    level: str | None = None
    not_passed: bool = False
    search: str = ""
    order: int = 0
    """Index into ORDERS."""

    def accepts(self, card: Card) -> bool:
        """Return whether *card* matches every filter; `filter_cards` does the search."""
        _, least, greatest = DURATIONS[self.duration] if self.duration is not None else ("", 0, 10_000)
        return (
            self.technology in (None, card.technology)
            and self.version in (None, card.version)
            and self.level in (None, card.level)
            and least <= card.minutes <= greatest
            and not (self.not_passed and (card.passed or not card.scored))
        )


def stem(term: str) -> str:
    """Return an English word without its ending, so that "stopped" and "commits" find "stop" and "commit"."""
    for ending in ("ing", "ed", "es", "s"):
        start = term.removesuffix(ending)
        if term.isascii() and term.isalpha() and start != term and len(start) >= STEM_MIN:
            return start[:-1] if ending in ("ing", "ed") and start[-1] == start[-2] else start
    return term


def filter_cards(cards: Sequence[Card], filters: Filters) -> list[Card]:
    """Return the matching cards in the selected order; a search lists matches in titles and summaries first.

    If no card matches all words of the search, return those with the most matches.
    """
    matching = sorted(filter(filters.accepts, cards), key=ORDERS[filters.order][1])
    words = [stem(word) for word in filters.search.lower().split()]
    if not words:
        return matching
    counts = {card.name: sum(word in card.search_text for word in words) for card in matching}
    most = max(counts.values(), default=0)
    if 2 * most <= len(words) and most < len(words):
        return []

    def rank(card: Card) -> int:
        title, both = card.title.lower(), f"{card.title} {card.summary}".lower()
        return 2 * len(words) - sum(word in title for word in words) - sum(word in both for word in words)

    return sorted((card for card in matching if counts[card.name] == most), key=rank)


def has_all_words(card: Card, search: str) -> bool:
    """Return whether *card* has every word of the search, not only most of them."""
    return all(stem(word) in card.search_text for word in search.lower().split())


def list_versions(cards: Sequence[Card]) -> list[str]:
    """Return the SQL Server versions among the cards, oldest first."""
    return sorted({card.version for card in cards if card.version})


@dataclass(frozen=True, slots=True)
class PathProgress:
    """Learning path with the learner's progress. Free play does not count."""

    path: LearningPath
    passed: int
    total: int
    next: Card | None
    """First drill of the path that is not passed yet; None if all are."""


def list_path_progress(cards: Sequence[Card]) -> list[PathProgress]:
    """Return every learning path with its progress."""
    found = []
    for path in learning_paths().values():
        drills = [card for card in cards if card.technology == path.key and card.scored]
        left = sorted((card for card in drills if not card.passed), key=lambda card: card.path_order)
        found.append(PathProgress(path, len(drills) - len(left), len(drills), left[0] if left else None))
    return found


@dataclass(frozen=True, slots=True)
class NextDrill:
    """Next drill, with the reason in one line."""

    card: Card
    reason: str


def recommend(cards: Sequence[Card], progress: LearnerProgress) -> NextDrill | None:
    """Choose the next drill: a due skill, then the last failure, then the next drill of the current path."""
    by_name = {card.name: card for card in cards if card.scored}
    newest_first = sorted(
        progress.records.items(), key=lambda item: item[1].latest_run.finished_at, reverse=True
    )
    taken = [by_name[name] for name, _ in newest_first if name in by_name]
    if not taken:
        first = by_name.get(FIRST_DRILL)
        return NextDrill(first, tr("Start here: see what happens in a failover.")) if first else None
    for each in progress.next:
        if each.since is not None and each.scenario in by_name:
            return NextDrill(by_name[each.scenario], _due_reason(each, progress))
    for card in taken:
        if card.failed and card.last is not None:
            points = formatting.plain_number(card.last)
            return NextDrill(card, tr("You scored {points} of 100 last time.").format(points=points))
    return _next_in_path(cards, taken)


def _due_reason(recommendation: Recommendation, progress: LearnerProgress) -> str:
    skill = recommendation.skills[0]
    last = next((each.last for each in progress.skills if each.skill.key == skill.key), None)
    days = _days_between(last, progress.at) if last is not None else 0
    if days <= 0:
        return tr("“{skill}” is due.").format(skill=tr(skill.title))
    return trn(
        "“{skill}” is due: last practiced {n} day ago.",
        "“{skill}” is due: last practiced {n} days ago.",
        days,
    ).format(skill=tr(skill.title), n=days)


def _days_between(start: datetime, end: datetime) -> int:
    """Return the number of calendar days between, in this computer's time zone."""
    return (end.astimezone().date() - start.astimezone().date()).days


def _next_in_path(cards: Sequence[Card], finished_cards: Sequence[Card]) -> NextDrill | None:
    paths = {each.path.key: each for each in list_path_progress(cards)}
    recent = dict.fromkeys(card.technology for card in finished_cards)
    for key in (*recent, *(key for key in paths if key not in recent)):
        path = paths[key]
        if path.next is not None:
            reason = tr("Next in “{path}”: {passed} of {total} passed.")
            said = reason.format(path=tr(path.path.title), passed=path.passed, total=path.total)
            return NextDrill(path.next, said)
    weakest = min(finished_cards, key=lambda card: card.best or 0.0)
    points = formatting.plain_number(weakest.best or 0.0)
    return NextDrill(weakest, tr("Your lowest score: {points} of 100.").format(points=points))


@dataclass(frozen=True, slots=True)
class InterruptedRun:
    """Run that can be continued, or the reason why it cannot."""

    run_id: int
    name: str
    """Name of the scenario."""
    title: str
    technology: str
    mode: str
    t_s: float
    when: str
    problem: str | None
