"""Tests of every shipped scenario: the solution earns its points, inaction does not, and `check` finds no
problem.
"""

from __future__ import annotations

from functools import cache

import pytest

from engine.drill.authoring.condition_context import is_timeline_window
from engine.drill.authoring.lint import IDLE_POINTS_MAX, SOLUTION_POINTS_MIN, list_warnings
from engine.drill.running.drill import Drill
from engine.drill.running.solution import play_idle, play_reference, play_solution
from engine.protocol import serving
from tests.cases import sample_cases
from tests.events import read_field
from tests.shipped_scenarios import DRILL_NAMES, LAB_NAMES, SCENARIO_NAMES, load_shipped_scenario


@cache
def solve_drill(name: str) -> Drill:
    """Return the drill at the end of its reference solution. A test must not change it."""
    return play_reference(load_shipped_scenario(name))


def test_the_lab_and_six_drills_are_shipped() -> None:
    assert not any(load_shipped_scenario(name).scored for name in LAB_NAMES)
    assert set(SCENARIO_NAMES) >= {
        "lab",
        "automatic-failover",
        "planned-failover",
        "no-witness",
        "forced-service",
        "mirror-lost",
        "isolated-principal",
    }


def test_the_lab_keeps_its_layout() -> None:
    lab = load_shipped_scenario("lab")
    assert not lab.scored
    assert [server.name for server in lab.servers] == ["SERVER_A", "SERVER_B", "SERVER_W"]
    (session,) = lab.sessions
    assert (session.principal, session.mirror, session.witness) == ("SERVER_A", "SERVER_B", "SERVER_W")
    assert (session.database, session.safety, session.timeout_s) == ("Sales", "FULL", 10)
    assert (lab.databases[0].workload, lab.clients[0].name) == ("Workload1", "APP")


@pytest.mark.parametrize("name", DRILL_NAMES)
def test_the_solution_solves_the_drill(name: str) -> None:
    score = solve_drill(name).compute_score()
    assert score.finished, score
    assert score.total >= SOLUTION_POINTS_MIN, score


@pytest.mark.slow  # The test of `check` below plays the seeds of variants.
@pytest.mark.parametrize("name", DRILL_NAMES)
def test_the_solution_works_with_any_seed(name: str) -> None:
    for seed in range(5):
        assert (
            play_reference(load_shipped_scenario(name), seed).compute_score().total >= SOLUTION_POINTS_MIN
        ), seed


@pytest.mark.parametrize("name", DRILL_NAMES)
def test_no_step_of_the_solution_is_refused(name: str) -> None:
    sql = [
        batch for batch in solve_drill(name).build_report()["sql"] if not is_timeline_window(batch["window"])
    ]
    assert not [batch for batch in sql for m in batch["messages"] if m["severity"] > 10]


@pytest.mark.slow  # The test of `check` below plays the scenario's own seed.
@pytest.mark.parametrize("name", DRILL_NAMES)
def test_doing_nothing_does_not_pass(name: str) -> None:
    for seed in range(3):
        score = play_idle(load_shipped_scenario(name), seed).compute_score()
        assert not score.finished
        assert score.total < IDLE_POINTS_MAX


@pytest.mark.parametrize("name", sample_cases(8, SCENARIO_NAMES))
def test_check_finds_no_problem(name: str) -> None:
    assert list_warnings(load_shipped_scenario(name), f"{name}.toml") == []


def test_set_witness_off_does_not_help_an_isolated_principal() -> None:
    drill = Drill(load_shipped_scenario("isolated-principal"))
    while serving.is_serving(drill.world, ("SERVER_A", "Sales")):
        drill.advance_to(drill.tick + 100)
    drill.apply_line("sql SERVER_A ALTER DATABASE Sales SET WITNESS OFF")
    drill.advance_to(drill.tick + 3000)
    (batch,) = drill.build_report()["sql"]
    assert batch["messages"][0]["number"] == 1431
    assert not drill.is_condition_met("Sales serves")
    drill.apply_line("sql SERVER_A USE Sales")
    drill.advance_to(drill.tick + 100)
    assert drill.build_report()["sql"][1]["messages"][0]["number"] == 955
    play_solution(drill)
    assert drill.compute_score().finished
    conduct = next(item for item in drill.compute_score().items if item.name == "Conduct")
    assert "1431" in conduct.reason
    assert conduct.points < conduct.max


def test_forgetting_resume_does_not_finish_the_drill() -> None:
    drill = Drill(load_shipped_scenario("forced-service"))
    while not drill.is_condition_met("Sales on SERVER_B is DISCONNECTED"):
        drill.advance_to(drill.tick + 100)
    drill.apply_line("sql SERVER_B ALTER DATABASE Sales SET PARTNER FORCE_SERVICE_ALLOW_DATA_LOSS")
    drill.advance_to(drill.end_tick or 0)
    assert drill.is_condition_met("Sales is SUSPENDED and Sales serves on SERVER_B")
    assert drill.build_report()["availability"]["lost_transactions"] > 1000
    assert not drill.compute_score().finished


def test_the_log_fills_up_without_action() -> None:
    idle_run = play_idle(load_shipped_scenario("mirror-lost"))
    assert any(event.kind == "log" and read_field(event, "what") == "full" for event in idle_run.events)
    assert idle_run.build_report()["availability"]["downtime_s"] > 60.0
