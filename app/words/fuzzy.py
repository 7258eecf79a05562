"""Fuzzy search: a text matches if it contains the words of the query, or their letters in order. Without Qt."""

import re
from collections.abc import Callable, Iterable
from typing import Final, TypeVar

from msgspec import Struct

Item = TypeVar("Item")

SEARCH_WORDS_PROPERTY: Final = "also"
"""Property of an action that contains further words by which the palette finds the action."""

_AT_WORD, _INSIDE, _SCATTERED = 3, 2, 1
"""Scores of a match: at the start of a word, within a word, or only the letters in order."""

_WORD_START_PATTERN: Final = re.compile(r"(?<![^\W_])[^\W_]")


class FuzzyMatch(Struct, frozen=True):
    """Match of a query in a text."""

    score: float
    """Quality of the match; higher is better."""
    indexes: tuple[int, ...]
    """Indexes of the matched letters, for highlighting."""
    is_scattered: bool = False
    """True if the letters of a query word are in the text in order, but not adjacent."""


def match_fuzzily(query: str, text: str) -> FuzzyMatch | None:
    """Find all words of *query* in *text*, in any case and order. Return None if a word is missing."""
    score, positions, scattered = 0.0, set[int](), False
    folded, words = text.lower(), query.lower().split()
    for word in words:
        found_match = _find_word(word, folded, len(words) == 1)
        if found_match is None:
            return None
        score += found_match.score
        positions.update(found_match.indexes)
        scattered |= found_match.is_scattered
    return FuzzyMatch(score, tuple(sorted(positions)), scattered)


def find_best_matches(
    query: str, items: Iterable[Item], text: Callable[[Item], str]
) -> list[tuple[Item, FuzzyMatch]]:
    """Return the items whose text matches *query*, best first. *text* returns the text of an item.

    A text equal to *query* comes first, then texts that contain the whole phrase. Items with equal
    scores keep their order. Scattered matches count only if there are no other matches.
    """
    matches = [
        (item, fuzzy_match) for item in items if (fuzzy_match := match_fuzzily(query, text(item))) is not None
    ]
    if any(not fuzzy_match.is_scattered for _, fuzzy_match in matches):
        matches = [(item, fuzzy_match) for item, fuzzy_match in matches if not fuzzy_match.is_scattered]
    normalized_query = normalize_text(query)

    def rank_item(pair: tuple[Item, FuzzyMatch]) -> tuple[int, float]:
        words = normalize_text(text(pair[0]))
        is_phrase = " " in normalized_query and f" {normalized_query} " in f" {words} "
        rank = 0 if words == normalized_query else 1 if is_phrase else 2
        return rank, -pair[1].score

    return sorted(matches, key=rank_item)


def normalize_text(text: str) -> str:
    """Return the words of *text* in lower case, separated by spaces and without punctuation.

    Texts that differ only in case and punctuation become equal.
    """
    return " ".join(re.findall(r"[\w#@$-]+", text.lower()))


def _find_word(query: str, text: str, is_whole_query: bool) -> FuzzyMatch | None:
    """Return the best match of the word *query* in *text*, or None.

    *is_whole_query*: True if the search has no other word. If False, the letters of a scattered match
    must be in one word of the text.
    """
    starts = [word_match.start() for word_match in _WORD_START_PATTERN.finditer(text)]
    position = next((start for start in starts if text.startswith(query, start)), None)
    if position is not None:
        return _score_match(query, position, text, _AT_WORD)
    position = text.find(query)
    if position >= 0:
        return _score_match(query, position, text, _INSIDE)
    positions = _find_initials(query, text, starts) or _find_letters(query, text, is_whole_query)
    return FuzzyMatch(_SCATTERED - len(text) / 1000.0, tuple(positions), True) if positions else None


def _score_match(query: str, start: int, text: str, score: float) -> FuzzyMatch:
    """Build a match with *score*, slightly reduced for a late *start* and for a long *text*."""
    return FuzzyMatch(score - start / 1000.0 - len(text) / 10_000.0, tuple(range(start, start + len(query))))


def _find_initials(query: str, text: str, starts: list[int]) -> list[int]:
    """Return indexes of word initials in *text* that equal the letters of *query*, in order.

    *starts*: indexes at which words begin. Return an empty list if a letter is missing.
    """
    positions: list[int] = []
    for letter in query:
        previous_place = positions[-1] if positions else -1
        position = next((start for start in starts if start > previous_place and text[start] == letter), None)
        if position is None:
            return []
        positions.append(position)
    return positions


def _find_letters(query: str, text: str, crosses_words: bool) -> list[int]:
    """Return the indexes of the letters of *query* in order. Return an empty list if a letter is missing.

    *crosses_words*: True if the letters may be in different words.
    """
    gap = ".*?" if crosses_words else r"\w*?"
    letters_match = re.search(
        ("" if crosses_words else r"\b") + gap.join(f"({re.escape(letter)})" for letter in query), text
    )
    return [letters_match.start(n + 1) for n in range(len(query))] if letters_match else []
