"""Ranking of agents: they have the expected order, exploits gain no points, and a wrong order is reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.files import scenario_files
from engine.drill.judging.automatic_players import (
    AUTOMATIC_PLAYERS,
    PlayerResult,
    Ranking,
    find_ranking_errors,
    format_table,
    rank_players,
)
from tests import recordings
from tests.cases import sample_cases
from tests.engine.drill.running.test_questions import QUESTION_CHANGES
from tests.engine.drill.texts import change_small_text
from tests.shipped_scenarios import load_shipped_scenario

TWINS = {agent.name: agent.twin for agent in AUTOMATIC_PLAYERS if agent.twin is not None}


@pytest.fixture(scope="module")
def ranking() -> Ranking:
    return rank_players(change_small_text())


def test_agents_are_ordered_in_the_small_scenario(ranking: Ranking) -> None:
    assert ranking.violations == ()
    assert ranking.standings[0].agent == "reference"
    assert ranking.find_result("reference").total == 100.0
    assert ranking.find_result("reference").finished
    assert ranking.find_result("nothing") == PlayerResult("nothing", 10.0, finished=False)
    assert ranking.find_result("revert-all") == PlayerResult("revert-all", 10.0, finished=False), (
        "it is refused"
    )
    assert ranking.find_result("worst").total == 0.0


def test_no_exploit_gains_points(ranking: Ranking) -> None:
    farming = ranking.find_result("hint farming")
    assert farming.hints_cost > 0.0
    assert farming.total == 100.0 - farming.hints_cost - 2.0, "each hint, and one way back"
    assert ranking.find_result("wrong first, then back").total == 98.0, "one way back"
    assert ranking.find_result("no-op and undo").total == 98.0, "one cable pulled for nothing"
    assert ranking.find_result("stalling").total <= 100.0
    left = ranking.find_result("leaving at once")
    assert (left.total, left.finished) == (0.0, False)


def test_the_runs_of_the_agents_are_reproduced(ranking: Ranking, request: pytest.FixtureRequest) -> None:
    """Compare the inputs and the results of each agent with agents.txt; `pytest --rewrite` records it anew."""
    lines = [f"{key}: {part}" for key, part in ranking.as_json().items() if key != "standings"]
    lines += [str(result.as_json()) for result in ranking.standings]
    for agent in AUTOMATIC_PLAYERS:
        lines.append(f"{agent.name}:")
        lines += [f"    {item.line}" for item in agent.play(change_small_text(), 3).journal]
    lines += [line.rstrip() for line in format_table([ranking]).splitlines()]
    recordings.compare_lines(Path(__file__).parent / "agents.txt", lines, request)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_ranking(ranking: Ranking) -> None:
    assert rank_players(change_small_text()) == ranking
    assert any(
        rank_players(change_small_text(), seed).standings != ranking.standings for seed in (11, 12, 13)
    )


@pytest.mark.slow
def test_questions_do_not_change_the_order() -> None:
    lines = ("22 answer next 1", "25 answer cause 2", "55 answer role 2", "+1 power-on SERVER_A")
    solution = "\n".join(f'[[solution]]\ndo = "{line}"\nwhy = "So it is."' for line in lines)
    steps = (
        '[[solution]]\nwhen = "Sales serves on SERVER_B"\ndo = "+5 power-on SERVER_A"\nwhy',
        f"{solution}\nwhy",
    )
    scenario = change_small_text(
        *QUESTION_CHANGES, steps, ('"So it is."\nwhy = "It joins as the mirror by itself."', '"It joins."')
    )
    results = rank_players(scenario)
    assert results.violations == ()
    assert results.find_result("stalling").total < 100.0, "its answers come too late"


def test_an_unplayable_reference_is_reported() -> None:
    results = rank_players(change_small_text(("+5 power-on SERVER_A", "+5 workload Sales Nothing")))
    assert results.standings == ()
    assert "cannot be played" in results.violations[0]
    assert "cannot be played" in format_table([results])


@pytest.mark.parametrize(
    "name", sample_cases(4, ("automatic-failover", "split-brain", "wrong-port", "forced-service"))
)
def test_shipped_drills_are_in_order(name: str) -> None:
    results = rank_players(scenario_files.find_scenario_file(name).load())
    assert results.violations == ()


# --- violations that the ranking detects --------------------------------------------------------------------


def compute_standings(**changed: PlayerResult) -> list[PlayerResult]:
    fair_results = {
        "reference": PlayerResult("reference", 100.0, True),
        "nothing": PlayerResult("nothing", 10.0, False),
        "worst": PlayerResult("worst", 0.0, False),
    }
    return list({**fair_results, **changed}.values())


@pytest.mark.parametrize(
    "trick_result",
    [
        PlayerResult("stalling", 99.9, True),
        PlayerResult("stalling", 100.0, True, aids=1),
        PlayerResult("stalling", 100.0, True, last_deed_s=60.0),
        PlayerResult("stalling", 100.0, False),
    ],
)
def test_exploits_that_rank_below_the_reference_are_accepted(trick_result: PlayerResult) -> None:
    assert trick_result.key > PlayerResult("reference", 100.0, True).key
    assert find_ranking_errors(compute_standings(stalling=trick_result), TWINS) == []


@pytest.mark.slow
def test_acting_before_the_failure_is_allowed_if_it_changes_nothing_later() -> None:
    results = rank_players(load_shipped_scenario("wrong-port"))
    assert "before the failure" in dict(results.allowed)
    assert results.violations == ()
    story = rank_players(load_shipped_scenario("no-witness"))
    assert "before the failure" not in dict(story.allowed)
    assert story.find_result("before the failure").total < 90.0


def test_a_fair_order_is_accepted() -> None:
    assert find_ranking_errors(compute_standings(other=PlayerResult("random 1", 80.0, True)), TWINS) == []


@pytest.mark.parametrize(
    ("standing", "message"),
    [
        (PlayerResult("reference", 90.0, True), "the reference earns 90"),
        (PlayerResult("reference", 100.0, False), "the reference earns 100"),
        (PlayerResult("nothing", 40.0, False), "doing nothing earns 40"),
        (PlayerResult("nothing", 20.0, True), "doing nothing earns 20"),
        (PlayerResult("worst", 11.0, False), "the worst player earns 11"),
        (PlayerResult("stalling", 101.0, True), "stalling earns 101, the reference 100"),
        (PlayerResult("leaving at once", 30.0, False), "leaving at once earns 30, nothing 10"),
        (PlayerResult("hint farming", 100.0, True, hints_cost=5.0), "used hints"),
        (PlayerResult("stalling", 100.0, True), "stalling ranks equal to or above reference"),
        (PlayerResult("stalling", 100.0, True, reached_s=90.0), "stalling ranks equal to or above"),
        (
            PlayerResult("random 1", 100.0, False),
            "random 1 did not reach all goals but earns 100; a player that did earns only 50",
        ),
    ],
)
def test_wrong_orders_are_reported(standing: PlayerResult, message: str) -> None:
    low = PlayerResult("random 2", 50.0, True)
    ranking_errors = find_ranking_errors([*compute_standings(**{standing.agent: standing}), low], TWINS)
    assert any(text.startswith(message) or message in text for text in ranking_errors), ranking_errors


def test_the_ranking_table_is_printed(ranking: Ranking) -> None:
    lines = format_table([ranking]).splitlines()
    assert lines[0].split()[:3] == ["reference", "nothing", "worst"]
    assert lines[1].split()[:4] == ["small", "100", "(10)", "(0)"]
    assert lines[-1] == "Scenarios: 1, no problems"
    bad = Ranking("small", 3, ranking.standings, ("stalling earns 101, the reference 100",))
    assert format_table([bad]).endswith("small: stalling earns 101, the reference 100\nProblems: 1")
