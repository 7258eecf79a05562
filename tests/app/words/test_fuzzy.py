"""Tests of fuzzy matching by a few letters."""

from __future__ import annotations

import pytest

from app.words import fuzzy

TEXTS = [
    "Time: Run to the next event",
    "Time: Run to the next state change",
    "Views: Topology as a table",
    "Views: Next theme",
    "SQL windows: Execute",
    "Database Mirroring Monitor",
]


def find_texts(query: str) -> list[str]:
    return [text for text, _ in fuzzy.find_best_matches(query, TEXTS, str)]


@pytest.mark.parametrize(
    ("query", "best_match"),
    [
        ("next ev", "Time: Run to the next event"),
        ("ev next", "Time: Run to the next event"),
        ("TABLE", "Views: Topology as a table"),
        ("dmm", "Database Mirroring Monitor"),
        ("exe", "SQL windows: Execute"),
        ("nth", "Views: Next theme"),
        ("state", "Time: Run to the next state change"),
    ],
)
def test_the_best_match_comes_first(query: str, best_match: str) -> None:
    assert find_texts(query)[0] == best_match


def test_an_unknown_word_matches_nothing() -> None:
    assert find_texts("next zebra") == []


def test_an_empty_query_matches_everything_in_order() -> None:
    assert find_texts(" ") == TEXTS


def test_a_match_at_a_word_start_wins() -> None:
    assert [text for text, _ in fuzzy.find_best_matches("mir", ["admirable", "the mirror"], str)] == [
        "the mirror",
        "admirable",
    ]


def test_scattered_letters_match_only_without_a_word_match() -> None:
    texts = ["main index row", "the mirror"]
    assert [text for text, _ in fuzzy.find_best_matches("mir", texts, str)] == ["the mirror"]
    assert [text for text, _ in fuzzy.find_best_matches("mir", texts[:1], str)] == texts[:1]


@pytest.mark.parametrize(
    ("query", "text", "matched_letters"),
    [("mir", "the mirror", "mir"), ("dmm", "Database Mirroring Monitor", "DMM"), ("ac", "abc", "ac")],
)
def test_positions_of_matched_letters_are_returned(query: str, text: str, matched_letters: str) -> None:
    fit = fuzzy.match_fuzzily(query, text)
    assert fit is not None
    assert "".join(text[place] for place in fit.indexes) == matched_letters


def test_exact_words_come_first() -> None:
    searched = ["Class Start a team… Start a team…", "Class Start a class… Start a class…"]
    assert next(text for text, _ in fuzzy.find_best_matches("start a class", searched, str)) == searched[1]
    assert next(text for text, _ in fuzzy.find_best_matches("run", ["Run until…", "Run"], str)) == "Run"


def test_a_phrase_of_scattered_letters_matches_no_fault() -> None:
    fault = "Webshop on TIGER: damage a page of a copy of the database"
    assert fuzzy.match_fuzzily("trace of states", fault) is None
    assert fuzzy.match_fuzzily("dmg pge", fault) is not None
