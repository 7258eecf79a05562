"""No-op actions: the search does not play them, because they do not raise the value."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.drill.authoring.scenario import Scenario, load_scenario
from engine.drill.par.candidate_actions import list_candidates
from engine.drill.par.noop_actions import is_noop
from engine.drill.par.search_drill import SearchDrill
from engine.drill.par.trials import PlanPlayer, SearchLimits, try_input
from engine.inputs import Input
from engine.model import to_ticks
from tests.engine.drill import texts

QUICK_SCENARIOS = ("witness-lost",)
SLOW_SCENARIOS = (
    "automatic-failover",
    "split-brain",
    "log-compression",
    "ag-not-ready",
    "ag-planned-move",
    "fci-primary-replica",
)


def _load_shipped_scenario(name: str) -> Scenario:
    file = Path(f"scenarios/{name}.toml")
    return load_scenario(file.read_text(encoding="utf-8"), file.name)


def _try_line(run: SearchDrill, line: str) -> SearchDrill | None:
    verb, _, argument = line.partition(" ")
    drill = run.fork()
    return drill if try_input(drill, Input(run.tick, verb, (argument,))) else None


@pytest.mark.parametrize(
    "name", [*QUICK_SCENARIOS, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW_SCENARIOS)]
)
def test_a_noop_does_not_raise_the_value(name: str) -> None:
    trials, rules = PlanPlayer(_load_shipped_scenario(name), 1), SearchLimits()
    idle = trials.play(trials.start_drill.fork(), (), rules)
    run, noop_count, useful = trials.start_drill.fork(), 0, 0
    for point in idle.decision_ticks[::2]:
        run.advance_to(point)
        for line in list_candidates(run, ()):
            drill = _try_line(run, line)
            if drill is None:
                continue
            useful += not is_noop(run, drill)
            if is_noop(run, drill):
                noop_count += 1
                assert trials.play(drill, (), rules).score <= idle.score, (point, line)
    assert useful
    assert noop_count


@pytest.mark.parametrize(
    ("line", "goal", "expected"),
    [
        ("sql SERVER_A ALTER DATABASE Sales SET PARTNER RESUME", "Sales serves", True),
        ("sql SERVER_A ALTER DATABASE Sales SET PARTNER RESUME", 'tried "SET PARTNER RESUME"', False),
        ("sql SERVER_B ALTER DATABASE Sales SET PARTNER FAILOVER", "Sales serves", True),
        ("sql SERVER_B ALTER DATABASE Sales SET PARTNER FAILOVER", "error 1470 on SERVER_B", False),
        ("sql SERVER_A ALTER DATABASE Sales SET PARTNER SUSPEND", "Sales serves", False),
        ("sql SERVER_A ALTER DATABASE Sales SET PARTNER TIMEOUT 20", "Sales serves", False),
        ("sql SERVER_A SELECT 1", "Sales serves", False),
        ("sql SERVER_A BEGIN TRANSACTION", "Sales serves", False),
        ("power-off SERVER_W", "Sales serves", False),
    ],
)
def test_noop_actions_are_detected(line: str, goal: str, expected: bool) -> None:
    """SERVER_A is the principal of a healthy session."""
    run = SearchDrill(texts.change_small_text(('when = "Sales serves on SERVER_B"', f"when = '{goal}'")), 1)
    run.advance_to(to_ticks(5.0))
    drill = _try_line(run, line)
    assert drill is not None
    assert is_noop(run, drill) is expected
