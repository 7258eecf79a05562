"""Finding by a few letters."""

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


def found(query: str) -> list[str]:
    return [text for text, _ in fuzzy.best(query, TEXTS, str)]


@pytest.mark.parametrize(
    ("query", "first"),
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
def test_what_is_meant_comes_first(query: str, first: str) -> None:
    assert found(query)[0] == first


def test_a_word_that_is_nowhere_finds_nothing() -> None:
    assert found("next zebra") == []


def test_an_empty_query_finds_everything_in_order() -> None:
    assert found(" ") == TEXTS


def test_the_beginning_of_a_word_beats_its_inside() -> None:
    assert [text for text, _ in fuzzy.best("mir", ["admirable", "the mirror"], str)] == [
        "the mirror",
        "admirable",
    ]


def test_scattered_letters_count_only_where_nothing_has_the_word() -> None:
    texts = ["main index row", "the mirror"]
    assert [text for text, _ in fuzzy.best("mir", texts, str)] == ["the mirror"]
    assert [text for text, _ in fuzzy.best("mir", texts[:1], str)] == texts[:1]


@pytest.mark.parametrize(
    ("query", "text", "marked"),
    [("mir", "the mirror", "mir"), ("dmm", "Database Mirroring Monitor", "DMM"), ("ac", "abc", "ac")],
)
def test_found_letters_are_told(query: str, text: str, marked: str) -> None:
    fit = fuzzy.match(query, text)
    assert fit is not None
    assert "".join(text[place] for place in fit.places) == marked


def test_the_exact_words_come_first() -> None:
    searched = ["Class Start a team… Start a team…", "Class Start a class… Start a class…"]
    assert next(text for text, _ in fuzzy.best("start a class", searched, str)) == searched[1]
    assert next(text for text, _ in fuzzy.best("run", ["Run until…", "Run"], str)) == "Run"
