"""Tests of the start page as plain data: search, filters, learning paths, and the recommended drill with its
reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from app.files import scenario_files, summary_cache
from app.files.scenario_summary import DIFFICULTY_LEVELS, ScenarioSummary
from app.storage import ResultRow, RunId
from app.view_models import progress as standing
from app.view_models.start_page import (
    CARD_ORDERS,
    DURATION_CHOICES,
    FIRST_DRILL,
    PASS_SCORE_MIN,
    DrillCard,
    DrillFilters,
    filter_cards,
    list_path_progress,
    list_versions,
    recommend_next_drill,
)
from app.words import language

NOW = datetime(2026, 11, 27, 12, 0, tzinfo=UTC)


@pytest.fixture(scope="module")
def drills() -> list[ScenarioSummary]:
    files = [file for file in scenario_files.list_all_files()[0] if file.shipped]
    return summary_cache.read_summaries(files, None)[0]


@pytest.fixture
def cards(drills: list[ScenarioSummary]) -> list[DrillCard]:
    return [DrillCard.from_summary(drill, has_results=True) for drill in drills]


def list_titles(cards: Sequence[DrillCard]) -> list[str]:
    return [card.name for card in cards]


def find_titles(cards: list[DrillCard], text: str, **filters: object) -> list[str]:
    return list_titles(filter_cards(cards, DrillFilters(search=text, **filters)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "drill"),
    [
        ("1418", "random-trouble-easy"),
        ("824", "page-repair"),
        ("sys.dm_hadr_database_replica_states", "ag-not-ready"),
        ("commits ag", "ag-secondary-lost"),
        ("commits wait", "ag-required-secondary"),
        ("synchronous secondary stopped commits", "ag-secondary-lost"),
        ("blocked commit secondary", "ag-required-secondary"),
        ("Failover Partner", "app-partner-misspelt"),
        ("REQUIRED_SYNCHRONIZED_SECONDARIES_TO_COMMIT", "ag-required-secondary"),
        ("power-on beginner mirroring", "automatic-failover"),
        ("sql server 2017 seeding", "ag-seeding-stuck"),
    ],
)
def test_the_search_finds_errors_views_commands_and_symptoms(
    cards: list[DrillCard], text: str, drill: str
) -> None:
    assert drill in find_titles(cards, text)


def test_matches_in_titles_come_first(cards: list[DrillCard]) -> None:
    cards_found = find_titles(cards, "witness lost")
    assert cards_found[:2] == ["witness-lost", "wsfc-witness-lost"]
    assert len(cards_found) > 2
    assert find_titles(cards, "qwertz asdfgh") == []
    assert "witness-lost" in find_titles(cards, "witness lost qwertz"), "most of the words"


@pytest.mark.parametrize(
    "text", ["commits hang", "commits are blocked", "HADR_SYNC_COMMIT", "replica stops commits"]
)
def test_words_for_one_symptom_find_the_same_drills(cards: list[DrillCard], text: str) -> None:
    assert "ag-required-secondary" in find_titles(cards, text)[:2]


def test_a_search_matches_words_from_their_beginning(cards: list[DrillCard]) -> None:
    """Otherwise "hang" would match "changed". The search ignores filler words."""
    card = replace(cards[0], title="", summary="It changed", name="", skills=(), words="")
    assert find_titles([card], "chang") == [""]
    assert find_titles([card], "hang") == []
    assert find_titles(cards, "the tempdb") == find_titles(cards, "tempdb")


@pytest.fixture
def german() -> Iterator[None]:
    language.use_language("de")
    yield
    language.use_language(language.ENGLISH)


def test_the_search_uses_the_texts_on_the_screen(german: None, drills: list[ScenarioSummary]) -> None:
    cards = [DrillCard.from_summary(drill) for drill in drills]
    assert "automatic-failover" in find_titles(cards, "einsteiger spiegelung")


def test_filters_narrow_the_list_and_add_up_to_all(cards: list[DrillCard]) -> None:
    for field, values in (
        ("technology", [progress.path.key for progress in list_path_progress(cards)]),
        ("version", list_versions(cards)),
        ("duration", range(len(DURATION_CHOICES))),
        ("level", DIFFICULTY_LEVELS),
    ):
        parts = [find_titles(cards, "", **{field: value}) for value in values]
        assert all(parts)
        assert sorted(name for part in parts for name in part) == sorted(list_titles(cards))
    cards_found = find_titles(cards, "", technology="fci", level="expert")
    assert cards_found == ["fci-group-owners", "fci-replica-elsewhere"]
    passed = [replace(card, best=90.0, last=90.0, tries=1) for card in cards if card.name == "page-repair"]
    assert find_titles(passed, "", not_passed=True) == []
    for order in range(len(CARD_ORDERS)):
        assert sorted(find_titles(cards, "", order=order)) == sorted(list_titles(cards))


def test_paths_count_passed_drills_and_name_the_next(cards: list[DrillCard]) -> None:
    before = {progress.path.key: progress for progress in list_path_progress(cards)}
    assert sum(progress.total for progress in before.values()) == sum(card.scored for card in cards)
    first = before["mirroring"].next_card
    assert first is not None
    assert first.name == FIRST_DRILL
    cards_after = [
        replace(c, best=PASS_SCORE_MIN, last=0.0, tries=2) if c.name == FIRST_DRILL else c for c in cards
    ]
    mirroring = list_path_progress(cards_after)[0]
    assert (mirroring.passed, mirroring.total) == (1, before["mirroring"].total)
    assert mirroring.next_card is not None
    assert mirroring.next_card.name != FIRST_DRILL
    passed_cards = [replace(card, best=100.0) for card in cards]
    assert all(
        progress.next_card is None and progress.passed == progress.total
        for progress in list_path_progress(passed_cards)
    )


def build_run(number: int, name: str, score: float, days_ago: float) -> ResultRow:
    run_time = NOW - timedelta(days=days_ago)
    return ResultRow(RunId(number), run_time, name, "practice", score, 3.0, 0, False, 0, 300.0)


def recommend_drill(drills: list[ScenarioSummary], *newest_first: ResultRow) -> tuple[str, str]:
    progress = standing.compute_progress(newest_first, drills, NOW)
    best = {name: record.best.score for name, record in progress.records.items() if record.best is not None}
    last = {name: record.latest_run.score for name, record in progress.records.items()}
    cards = [
        DrillCard.from_summary(d, has_results=True, best=best.get(d.name), last=last.get(d.name))
        for d in drills
    ]
    recommendation = recommend_next_drill(cards, progress)
    assert recommendation is not None
    assert "\n" not in recommendation.reason
    return recommendation.card.name, recommendation.reason


def test_a_due_skill_then_a_failure_then_the_path_decides_the_recommendation(
    drills: list[ScenarioSummary],
) -> None:
    assert recommend_drill(drills) == (FIRST_DRILL, "Start here: see what happens in a failover.")
    name, reason = recommend_drill(
        drills, build_run(1, "cable-pulled", 90.0, 0.0), build_run(0, FIRST_DRILL, 90.0, 0.1)
    )
    assert name == "stop-service-failover"
    assert reason == "Next in “Mirroring”: 2 of 46 drills passed."
    name, reason = recommend_drill(
        drills, build_run(1, FIRST_DRILL, 90.0, 0.0), build_run(0, "ag-not-ready", 41.0, 0.1)
    )
    assert (name, reason) == ("ag-not-ready", "You scored 41 of 100 last time.")
    name, reason = recommend_drill(drills, build_run(0, "ag-not-ready", 90.0, 100.0))
    assert "is due: last practiced 100 days ago." in reason
    name, reason = recommend_drill(drills, build_run(0, "fci-new-disk", 100.0, 0.0))
    assert reason.startswith("Next in “Failover clusters”: 1 of 7")


def test_a_card_has_one_difficulty_and_one_state(cards: list[DrillCard]) -> None:
    card = next(card for card in cards if card.name == "ag-secondary-lost")
    assert card.facts == "AG · SQL 2014 · 6 min · Beginner"
    assert card.result_label.text == "Not started"
    assert replace(card, was_begun=True).result_label.text == "Started"
    assert replace(card, has_results=False).result_label.text == ""
    assert replace(card, best=96.0, last=70.0).result_label == ("✓ Passed, 96", "ok")
    assert replace(card, best=96.0, last=70.0, is_due=True).result_label == (
        "✓ Passed, 96 · practice due",
        "warn",
    )
    assert replace(card, best=41.0, last=30.0).result_label == ("41 of 100, not passed", "warn")
    assert replace(card, last=70.0).result_label.text == "70 of 100, not passed", (
        "a rewound run passes nothing"
    )
    lab = next(card for card in cards if card.name == "lab")
    assert lab.result_label.text == "Free play"
