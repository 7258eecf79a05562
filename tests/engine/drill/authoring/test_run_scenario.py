"""Scenario generated from a run: it loads, its solution solves it, and idle play does not solve it.

`check` lists the texts that the author must still write.
"""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given, strategies

from app.files import scenario_files
from engine.drill.authoring.lint import IDLE_POINTS_MAX, SOLUTION_POINTS_MIN, list_warnings
from engine.drill.authoring.run_scenario import (
    PLACEHOLDER_PREFIX,
    ScenarioRecordingError,
    build_scenario_text,
    find_placeholders,
    format_toml,
)
from engine.drill.authoring.scenario import Scenario, load_scenario
from engine.drill.running.drill import Drill
from engine.drill.running.solution import play_idle, play_reference, play_solution
from tests.shipped_scenarios import load_shipped_scenario


def play_lines(lines: list[tuple[float, str]], end_s: float, name: str = "lab") -> Drill:
    drill = Drill(scenario_files.find_scenario_file(name).load())
    for t_s, line in lines:
        drill.advance_to(round(t_s * 100))
        drill.apply_line(line)
    drill.advance_to(round(end_s * 100))
    return drill


def build_run_scenario(drill: Drill) -> Scenario:
    return load_scenario(build_scenario_text(drill, "my-drill"), "my-drill.toml")


FAILURE_LINES = [
    (30.0, "power-off SERVER_A"),
    (60.0, 'sql SERVER_B SELECT "a\\b"\nFROM sys.database_mirroring -- "quoted"'),
    (61.0, "note a remark"),
    (90.0, "power-on SERVER_A"),
]


def test_faults_become_the_timeline_and_repairs_the_solution() -> None:
    saved = build_run_scenario(play_lines(FAILURE_LINES, 300.0))
    assert [(inject.at, inject.do) for inject in saved.timeline] == [(30.0, "power-off SERVER_A")]
    assert [step.do.split()[:3] for step in saved.solution] == [
        ["60", "sql", "SERVER_B"],
        ["90", "power-on", "SERVER_A"],
    ]
    assert 'SELECT "a\\b"\n' in saved.solution[0].do
    whens = {goal.when for goal in saved.goals}
    assert {"Sales serves on SERVER_B", "Sales is SYNCHRONIZED", "SERVER_A is RUNNING"} <= whens


def test_the_start_world_of_an_availability_group_is_kept() -> None:
    lines = [
        (30.0, "power-off NODE_1"),
        (90.0, "sql NODE_2 ALTER AVAILABILITY GROUP AG1 FORCE_FAILOVER_ALLOW_DATA_LOSS"),
        (120.0, "power-on NODE_1"),
    ]
    drill = play_lines(lines, 400.0, "ag-lab")
    saved = build_run_scenario(drill)
    for part in ("groups", "clusters", "instances", "databases", "clients", "programs", "locked"):
        assert getattr(saved, part) == getattr(drill.scenario, part), part
    assert {"Sales serves on NODE_2", "Sales is SYNCHRONIZED"} <= {goal.when for goal in saved.goals}


def test_several_inputs_at_the_same_tick_keep_their_order() -> None:
    """All inputs come while the clock is paused. Only the last of three inputs for a cable counts; two
    repairs stay two.
    """
    pulled, plugged = "pull-cable SERVER_B", "plug-cable SERVER_B"
    lines = [(30.0, pulled), (30.0, plugged), (30.0, pulled), (30.0, "cut SERVER_A SERVER_W")]
    saved = build_run_scenario(play_lines([*lines, (60.0, plugged), (60.0, "mend SERVER_A SERVER_W")], 200.0))
    assert [(inject.at, inject.do) for inject in saved.timeline] == [
        (30.0, pulled),
        (30.0, "cut SERVER_A SERVER_W"),
    ]
    assert [step.do for step in saved.solution] == ["60 plug-cable SERVER_B", "60 mend SERVER_A SERVER_W"]
    replayed = play_reference(saved)
    assert any(event.kind == "state" and event.tick > 3000 for event in replayed.events)
    assert replayed.compute_score().total >= SOLUTION_POINTS_MIN


def test_the_solution_solves_the_drill_and_doing_nothing_does_not() -> None:
    saved = build_run_scenario(play_lines(FAILURE_LINES, 300.0))
    assert play_reference(saved).compute_score().total >= SOLUTION_POINTS_MIN
    assert play_idle(saved).compute_score().total < IDLE_POINTS_MAX


def test_check_reports_only_the_placeholder_texts() -> None:
    saved = build_run_scenario(play_lines(FAILURE_LINES, 300.0))
    findings = list_warnings(saved, "my-drill.toml")
    prompts = list(find_placeholders(tomllib.loads(saved.text)))
    assert len(findings) == len(prompts) > 10
    assert all("placeholder text" in problem.text for problem in findings)
    assert {problem.where for problem in findings} >= {"title", "brief", "solution[1].why", "skills[0]"}


def test_a_drill_with_replaced_placeholders_has_no_warning() -> None:
    text = build_scenario_text(play_lines(FAILURE_LINES, 300.0), "my-drill")
    written_text = text.replace(PLACEHOLDER_PREFIX, "Now it says ").replace(
        '"to-write"', '"automatic-failover"'
    )
    assert list_warnings(load_scenario(written_text, "my-drill.toml"), "my-drill.toml") == []


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "contains no repair"),
        ([(30.0, "power-off SERVER_A")], "contains no repair"),
        ([(30.0, "sql SERVER_A PRINT 'x'")], "the same without your actions"),
        ([(30.0, "power-off SERVER_A"), (60.0, "sql SERVER_B PRINT 'x'")], "the same without your actions"),
    ],
)
def test_a_run_without_an_effective_repair_is_refused(lines: list[tuple[float, str]], message: str) -> None:
    with pytest.raises(ScenarioRecordingError, match=message):
        build_scenario_text(play_lines(lines, 120.0), "my-drill")


def test_a_variant_becomes_a_drill_without_variants() -> None:
    drill = Drill(load_shipped_scenario("forced-service"), 4711)
    play_solution(drill)
    saved = build_run_scenario(drill)
    assert saved.variants == {}
    assert saved.seed == 4711
    assert play_reference(saved).compute_score().total >= SOLUTION_POINTS_MIN


_TEXTS = strategies.text(
    strategies.characters(exclude_categories=["Cs"], exclude_characters="\r"), max_size=20
)
_PLAIN = strategies.one_of(
    _TEXTS, strategies.booleans(), strategies.integers(-(10**9), 10**9), strategies.floats(-1e9, 1e9)
)
_TABLES = strategies.dictionaries(
    _TEXTS, strategies.one_of(_PLAIN, strategies.lists(_PLAIN, max_size=3)), max_size=4
)


@given(
    strategies.dictionaries(
        _TEXTS,
        strategies.one_of(_PLAIN, _TABLES, strategies.lists(_TABLES, min_size=1, max_size=3)),
        max_size=4,
    )
)
def test_a_written_scenario_parses(data: dict[str, object]) -> None:
    assert tomllib.loads(format_toml(data)) == data
