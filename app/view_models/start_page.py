"""Contents of the start page: filters, search, learning paths with progress, and the recommended drill.

No Qt.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from functools import cached_property, lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple, TypedDict, Unpack

from msgspec import Struct

from app.files.learning_paths import LearningPath, get_position_in_path, load_learning_paths
from app.files.scenario_summary import DIFFICULTY_LEVELS, ScenarioSummary
from app.words import formatting
from app.words.language import mark, tr, trn
from engine.drill.judging import skills

if TYPE_CHECKING:
    from app.learning.next_drills import DrillRecommendation
    from app.view_models.progress import LearnerProgress


PASS_SCORE_MIN: Final = 60.0
"""Minimum points to pass a drill, the same limit as in RATING_LIMITS (app/learning/skill_estimates.py)."""

SHORT_LABELS: Final = {
    "mirroring": mark("Mirroring"),
    "ag": mark("AG"),
    "fci": mark("FCI"),
    "clients": mark("Clients"),
    "restore": mark("Restore"),
    "team": mark("Team"),
}
"""Technology of a drill -> short label for a card."""


class ResultLabel(NamedTuple):
    """Short label for the learner's result in a drill."""

    text: str
    color_name: str
    """Name of a color token."""


class CardResults(TypedDict, total=False):
    """Fields of a drill card that depend on the learner's runs."""

    best: float | None
    last: float | None
    tries: int
    is_due: bool
    was_begun: bool
    has_results: bool


@dataclass(frozen=True)
class DrillCard(ScenarioSummary):
    """Scenario with the learner's results."""

    best: float | None = None
    """Best score so far; None before the first finished run without a rewind."""
    last: float | None = None
    """Score of the last finished run; None if there is none."""
    tries: int = 0
    """Number of finished runs."""
    is_due: bool = False
    """True if a skill of the drill is due now."""
    was_begun: bool = False
    """True if a run was started, finished or not."""
    has_results: bool = False
    """True if the learner's results have been loaded."""

    @classmethod
    def from_summary(cls, summary: ScenarioSummary, **results: Unpack[CardResults]) -> DrillCard:
        """Build the card of a scenario. *results*: the fields that depend on the learner's runs."""
        return cls(**{field.name: getattr(summary, field.name) for field in fields(summary)}, **results)

    @property
    def is_passed(self) -> bool:
        """Return whether the drill was passed."""
        return self.best is not None and self.best >= PASS_SCORE_MIN

    @property
    def is_failed(self) -> bool:
        """True if the last run did not pass, and no earlier run did."""
        return self.scored and self.last is not None and not self.is_passed

    @property
    def path_order(self) -> tuple[int, int, int, str]:
        """Sort key: learning path and position in it. The user's own drills come last, by level and title."""
        position = get_position_in_path(self.name) if self.shipped else 1_000
        return (
            list(load_learning_paths()).index(self.technology),
            position,
            DIFFICULTY_LEVELS.index(self.level),
            self.title,
        )

    @property
    def facts(self) -> str:
        """Technology, version, minutes and difficulty; for drills from other authors, also their origin."""
        return self._format_facts(f"SQL {self.version}" if self.version else "")

    @property
    def short_facts(self) -> str:
        """Text of `facts` without the version, for narrow cards."""
        return self._format_facts("")

    def _format_facts(self, version: str) -> str:
        parts = [tr(SHORT_LABELS[self.technology]), version]
        parts += [tr("{minutes} min").format(minutes=self.minutes), get_level_title(self.level)]
        parts += [] if self.shipped else [self.origin or tr("yours")]
        return " · ".join(filter(None, parts))

    @property
    def result_label(self) -> ResultLabel:
        """Return the learner's progress in the drill as a short label."""
        if not self.scored:
            return ResultLabel(tr("Free play"), "muted")
        if not self.has_results:
            return ResultLabel("", "muted")
        if self.last is None:
            return ResultLabel(tr("Started") if self.was_begun else tr("Not started"), "muted")
        if self.is_passed:
            points = formatting.format_plain_number(self.best or 0.0)
            text = tr("✓ Passed, {points} · practice due") if self.is_due else tr("✓ Passed, {points}")
            return ResultLabel(text.format(points=points), "warn" if self.is_due else "ok")
        best = self.best if self.best is not None else self.last
        return ResultLabel(
            tr("{points} of 100, not passed").format(points=formatting.format_plain_number(best)), "warn"
        )

    @cached_property
    def search_text(self) -> str:
        """Lowercase text for the search: English and translated names, and the texts of the drill."""
        path = load_learning_paths()[self.technology].title
        titles = [skills.get_skill_title(key) for key in self.skills]
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


def get_level_title(level: str) -> str:
    """Return the name of a difficulty in menus and on cards."""
    words = tr(level)
    return words[:1].upper() + words[1:]


CARD_ORDERS: Final[tuple[tuple[str, Callable[[DrillCard], tuple[object, ...]]], ...]] = (
    (mark("By path"), lambda card: card.path_order),
    (mark("Easiest first"), lambda card: (DIFFICULTY_LEVELS.index(card.level), card.minutes, card.title)),
    (mark("Shortest first"), lambda card: (card.minutes, card.title)),
    (mark("Weakest first"), lambda card: (card.best is None, card.best or 0.0, card.title)),
    (mark("By title"), lambda card: (card.title.lower(),)),
)
"""(title, sort key function) of each selectable order of the drill cards."""


FIRST_DRILL: Final = "automatic-failover"
"""Drill that is recommended until the first run is finished."""

STEM_LETTERS_MIN: Final = 4
"""Minimum number of letters that `stem_word` must leave of a word."""

DURATION_CHOICES: Final = (
    (mark("Up to 6 minutes"), 0, 6),
    (mark("7 to 10 minutes"), 7, 10),
    (mark("Over 10 minutes"), 11, 10_000),
)
"""(title, minimum minutes, maximum minutes) of each choice of the duration filter."""


class DrillFilters(Struct, frozen=True):
    """Selected filters of the start page. None means no filter."""

    technology: str | None = None
    version: str | None = None
    duration: int | None = None
    """Index into DURATION_CHOICES; None means any duration."""
    level: str | None = None
    """Difficulty; None means any difficulty."""
    not_passed: bool = False
    """True to show only drills that the learner has not passed."""
    search: str = ""
    order: int = 0
    """Index into CARD_ORDERS."""

    def is_match(self, card: DrillCard) -> bool:
        """Return whether *card* matches every filter. The search is not checked; `filter_cards` applies it."""
        _, duration_min, greatest = (
            DURATION_CHOICES[self.duration] if self.duration is not None else ("", 0, 10_000)
        )
        return (
            self.technology in (None, card.technology)
            and self.version in (None, card.version)
            and self.level in (None, card.level)
            and duration_min <= card.minutes <= greatest
            and not (self.not_passed and (card.is_passed or not card.scored))
        )


def stem_word(term: str) -> str:
    """Return an English word without its ending, so that "stopped" finds "stop" and "commits" finds "commit"."""
    for ending in ("ing", "ed", "es", "s"):
        start = term.removesuffix(ending)
        if term.isascii() and term.isalpha() and start != term and len(start) >= STEM_LETTERS_MIN:
            return start[:-1] if ending in ("ing", "ed") and start[-1] == start[-2] else start
    return term


STOP_WORDS: Final = frozenset(
    ("a", "an", "and", "are", "at", "by", "for", "in", "is", "my", "of", "on", "the", "to")
)
"""Words that a search ignores."""
SHORT_WORD_LETTERS_MAX: Final = 3
"""Maximum letters of a search word that matches only whole words. Longer search words also match the
beginning of words.
"""
SYNONYMS: Final = tuple(
    tuple(group.split())
    for group in (
        "hang block wait stuck freez froz stall paus stop",
        "slow latency delay",
        "patch updat upgrad",
        "replica secondar",
        "commit transaction",
        "suspect corrupt damag",
        "crash power outage",
    )
)
"""Groups of word beginnings that describe the same symptom. Our choice."""
WAIT_TYPES: Final = {
    "hadr_sync_commit": "commit wait synchronous secondary",
    "dbmirror_dbm_event": "commit mirror safety full",
    "writelog": "commit log disk",
}
"""Wait type -> words of its symptom [DOC: sys.dm_os_wait_stats]."""


class SearchWord:
    """Word of a search, with the patterns that find it and its synonyms in a text."""

    def __init__(self, term: str) -> None:
        beginning = stem_word(term)
        others = [group for group in SYNONYMS if any(term.startswith(start) for start in group)]
        self._exact = _compile_pattern([beginning])
        self._similar = _compile_pattern([beginning, *chain.from_iterable(others)])

    def rank_card(self, card: DrillCard) -> int:
        """Return a score from 1 to 6 for the match of *card*, or 0 if it does not match.

        A title scores more than a summary, a summary more than other texts, and the word itself more than a
        synonym.
        """
        texts = (card.title.lower(), card.summary.lower(), card.search_text)
        for text_rank, text in enumerate(texts):
            if self._exact.search(text):
                return 6 - 2 * text_rank
            if self._similar.search(text):
                return 5 - 2 * text_rank
        return 0


def _compile_pattern(beginnings: Iterable[str]) -> re.Pattern[str]:
    words = (re.escape(word) + r"(?![^\W_])" * (len(word) <= SHORT_WORD_LETTERS_MAX) for word in beginnings)
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(words)})")


@lru_cache(maxsize=8)
def _parse_search(search: str) -> tuple[SearchWord, ...]:
    """Return the words of *search* without stop words; all words if there are only stop words."""
    terms = [word for term in search.lower().split() for word in WAIT_TYPES.get(term, term).split()]
    return tuple(map(SearchWord, [term for term in terms if term not in STOP_WORDS] or terms))


def filter_cards(cards: Sequence[DrillCard], filters: DrillFilters) -> list[DrillCard]:
    """Return the matching cards in the selected order.

    In a search, matches in titles and summaries come first.

    If no card matches all words of the search, return the cards that match the most words.
    """
    matching = sorted(filter(filters.is_match, cards), key=CARD_ORDERS[filters.order][1])
    words = _parse_search(filters.search)
    if not words:
        return matching
    ranks = {card.name: [word.rank_card(card) for word in words] for card in matching}
    counts = {name: len(words) - points.count(0) for name, points in ranks.items()}
    count_max = max(counts.values(), default=0)
    if 2 * count_max <= len(words) and count_max < len(words):
        return []
    best = [card for card in matching if counts[card.name] == count_max]
    return sorted(best, key=lambda card: -sum(ranks[card.name]))


def has_all_words(card: DrillCard, search: str) -> bool:
    """Return whether *card* contains every word of the search."""
    return all(word.rank_card(card) for word in _parse_search(search))


def list_versions(cards: Sequence[DrillCard]) -> list[str]:
    """Return the SQL Server versions among the cards, oldest first."""
    return sorted({card.version for card in cards if card.version})


class PathProgress(Struct, frozen=True):
    """Learning path with the learner's progress. Runs in free play do not count."""

    path: LearningPath
    passed: int
    """Number of drills in the path that the learner has passed."""
    total: int
    """Number of drills in the path."""
    next_card: DrillCard | None
    """First drill of the path that the learner has not passed; None if all are passed."""


def list_path_progress(cards: Sequence[DrillCard]) -> list[PathProgress]:
    """Return every learning path with its progress."""
    path_progress = []
    for path in load_learning_paths().values():
        drills = [card for card in cards if card.technology == path.key and card.scored]
        remaining_cards = sorted(
            (card for card in drills if not card.is_passed), key=lambda card: card.path_order
        )
        path_progress.append(
            PathProgress(
                path,
                len(drills) - len(remaining_cards),
                len(drills),
                remaining_cards[0] if remaining_cards else None,
            )
        )
    return path_progress


class NextDrill(Struct, frozen=True):
    """Recommended next drill, with the reason in one line."""

    card: DrillCard
    reason: str
    """Reason for the recommendation."""


def recommend_next_drill(cards: Sequence[DrillCard], progress: LearnerProgress) -> NextDrill | None:
    """Return the next drill for a due skill; otherwise the last failed drill, or the next drill of the path."""
    by_name = {card.name: card for card in cards if card.scored}
    newest_first = sorted(
        progress.records.items(), key=lambda item: item[1].latest_run.finished_at, reverse=True
    )
    taken_cards = [by_name[name] for name, _ in newest_first if name in by_name]
    if not taken_cards:
        first_card = by_name.get(FIRST_DRILL)
        return (
            NextDrill(first_card, tr("Start here: see what happens in a failover.")) if first_card else None
        )
    for recommendation in progress.recommendations:
        if recommendation.due_time is not None and recommendation.scenario in by_name:
            return NextDrill(by_name[recommendation.scenario], _format_due_reason(recommendation, progress))
    for card in taken_cards:
        if card.is_failed and card.last is not None:
            points = formatting.format_plain_number(card.last)
            return NextDrill(card, tr("You scored {points} of 100 last time.").format(points=points))
    return _find_next_in_path(cards, taken_cards)


def _format_due_reason(recommendation: DrillRecommendation, progress: LearnerProgress) -> str:
    skill = recommendation.skills[0]
    last_time = next(
        (standing.last_practice_time for standing in progress.skills if standing.skill.key == skill.key), None
    )
    days = _count_days(last_time, progress.computed_at) if last_time is not None else 0
    if days <= 0:
        return tr("“{skill}” is due for practice.").format(skill=tr(skill.title))
    return trn(
        "“{skill}” is due: last practiced {n} day ago.",
        "“{skill}” is due: last practiced {n} days ago.",
        days,
    ).format(skill=tr(skill.title), n=days)


def _count_days(start: datetime, end: datetime) -> int:
    """Return the number of calendar days from *start* to *end* in this computer's time zone."""
    return (end.astimezone().date() - start.astimezone().date()).days


def _find_next_in_path(cards: Sequence[DrillCard], finished_cards: Sequence[DrillCard]) -> NextDrill | None:
    paths = {progress.path.key: progress for progress in list_path_progress(cards)}
    recent = dict.fromkeys(card.technology for card in finished_cards)
    for key in (*recent, *(key for key in paths if key not in recent)):
        path = paths[key]
        if path.next_card is not None:
            reason = tr("Next in “{path}”: {passed} of {total} drills passed.")
            text = reason.format(path=tr(path.path.title), passed=path.passed, total=path.total)
            return NextDrill(path.next_card, text)
    weakest = min(finished_cards, key=lambda card: card.best or 0.0)
    points = formatting.format_plain_number(weakest.best or 0.0)
    return NextDrill(weakest, tr("Your lowest score: {points} of 100.").format(points=points))


class InterruptedRun(Struct, frozen=True):
    """Interrupted run, with the reason if it cannot be continued."""

    run_id: int
    name: str
    """Name of the scenario."""
    title: str
    technology: str
    mode: str
    t_s: float
    """Simulated time that the run has reached."""
    time_text: str
    """Wall-clock time at which the run was interrupted, as text."""
    problem: str | None
    """Reason why the run cannot be continued, as a sentence; None if it can be continued."""
