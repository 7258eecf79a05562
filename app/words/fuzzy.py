"""Search by a few letters: words of the query anywhere in the text, or their letters in order. Without Qt."""

import re
from collections.abc import Callable, Iterable
from typing import Final, TypeVar

from msgspec import Struct

Item = TypeVar("Item")

SEARCH_WORDS_PROPERTY: Final = "also"
"""Property of an action: hidden words by which the palette finds it."""

_AT_WORD, _INSIDE, _SCATTERED = 3, 2, 1
"""Scores of a query word: at the start of a word, within a word, or only its letters in order."""

_WORD_START: Final = re.compile(r"(?<![^\W_])[^\W_]")


class Match(Struct, frozen=True):
    """Match of a query in a text."""

    score: float
    """Score; higher is better."""
    places: tuple[int, ...]
    """Positions of the matched letters, for highlighting."""
    scattered: bool = False
    """True if some word matches only by its letters in order."""


def match(query: str, text: str) -> Match | None:
    """Match all words of *query* in *text*, in any case and order; None if one is missing."""
    score, positions, scattered = 0.0, set[int](), False
    folded, words = text.lower(), query.lower().split()
    for word in words:
        found_match = _find_word(word, folded, len(words) == 1)
        if found_match is None:
            return None
        score += found_match.score
        positions.update(found_match.places)
        scattered |= found_match.scattered
    return Match(score, tuple(sorted(positions)), scattered)


def find_best_matches(
    query: str, items: Iterable[Item], text: Callable[[Item], str]
) -> list[tuple[Item, Match]]:
    """Return the matching items, best first; items with equal scores keep their order.

    The exact text comes first, then the whole phrase. Matches by scattered letters count only if no item
    contains the words.
    """
    matches = [(item, fuzzy_match) for item in items if (fuzzy_match := match(query, text(item))) is not None]
    if any(not fuzzy_match.scattered for _, fuzzy_match in matches):
        matches = [(item, fuzzy_match) for item, fuzzy_match in matches if not fuzzy_match.scattered]
    normalized_query = normalize_text(query)

    def rank_item(pair: tuple[Item, Match]) -> tuple[int, float]:
        words = normalize_text(text(pair[0]))
        is_phrase = " " in normalized_query and f" {normalized_query} " in f" {words} "
        rank = 0 if words == normalized_query else 1 if is_phrase else 2
        return rank, -pair[1].score

    return sorted(matches, key=rank_item)


def normalize_text(text: str) -> str:
    """Return *text* in lower case without punctuation around words.

    Texts that a reader considers equal become equal.
    """
    return " ".join(re.findall(r"[\w#@$-]+", text.lower()))


def _find_word(query: str, text: str, is_whole_query: bool) -> Match | None:
    """Find a word.

    In a search for a phrase, the letters of a scattered match must be in one word of the text.
    """
    starts = [word_match.start() for word_match in _WORD_START.finditer(text)]
    position = next((start for start in starts if text.startswith(query, start)), None)
    if position is not None:
        return _score_match(query, position, text, _AT_WORD)
    position = text.find(query)
    if position >= 0:
        return _score_match(query, position, text, _INSIDE)
    positions = _find_initials(query, text, starts) or _find_letters(query, text, is_whole_query)
    return Match(_SCATTERED - len(text) / 1000.0, tuple(positions), True) if positions else None


def _score_match(query: str, start: int, text: str, score: float) -> Match:
    """Score a match: early and in a short text is a little better."""
    return Match(score - start / 1000.0 - len(text) / 10_000.0, tuple(range(start, start + len(query))))


def _find_initials(query: str, text: str, starts: list[int]) -> list[int]:
    """Return the positions of the letters of *query* as initials of words; empty if there is no such match."""
    positions: list[int] = []
    for letter in query:
        previous_place = positions[-1] if positions else -1
        position = next((start for start in starts if start > previous_place and text[start] == letter), None)
        if position is None:
            return []
        positions.append(position)
    return positions


def _find_letters(query: str, text: str, anywhere: bool) -> list[int]:
    """Return the places of the word's letters in order, *anywhere* or within one word; empty if a letter is missing."""
    gap = ".*?" if anywhere else r"\w*?"
    letters_match = re.search(
        ("" if anywhere else r"\b") + gap.join(f"({re.escape(letter)})" for letter in query), text
    )
    return [letters_match.start(n + 1) for n in range(len(query))] if letters_match else []
