"""Propagation that the simulator skips when nothing changed: it would have had no effect."""

from __future__ import annotations

import pytest

from engine import simulator
from engine.drill.running.drill import Drill
from engine.drill.running.solution import play_solution
from engine.model import World, to_ticks
from engine.verbs.input_lines import record_effects
from tests.shipped_scenarios import load_shipped_scenario

LINE_TEMPLATES = ("stop-service {}", "start-service {}", "pull-cable {}")
VERIFIED_TICKS_MAX = 60


@pytest.fixture
def skipped_ticks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the ticks at which propagation was skipped.

    For each of the first ticks, the fixture verifies that propagation would have changed nothing.
    """
    ticks: list[int] = []
    stands_still = simulator._is_unchanged

    def check_unchanged(world: World) -> bool:
        is_settled = stands_still(world)
        if is_settled and len(ticks) < VERIFIED_TICKS_MAX:
            ticks.append(world.tick)
            noted, settled = world.fork(), world.fork()
            record_effects(noted)
            simulator._propagate_changes(settled)
            assert settled.compute_state_hash() == noted.compute_state_hash()
            assert settled.outbox == noted.outbox == []
        return is_settled

    monkeypatch.setattr(simulator, "_is_unchanged", check_unchanged)
    return ticks


@pytest.mark.parametrize(
    "name", ["automatic-failover", "logins-after-failover", "ag-log-held", "fci-tempdb-path"]
)
def test_after_a_query_without_effect_fault_detection_can_be_skipped(
    name: str, skipped_ticks: list[int]
) -> None:
    drill = Drill(load_shipped_scenario(name))
    servers = list(drill.world.instances)
    for number, line in enumerate(LINE_TEMPLATES):
        drill.advance_to(drill.tick + to_ticks(20.0))
        drill.apply_line(line.format(servers[number % 2 * -1]))
    drill.advance_to(drill.tick + to_ticks(30.0))
    assert skipped_ticks


def test_a_query_with_an_effect_is_noted(skipped_ticks: list[int]) -> None:
    drill = Drill(load_shipped_scenario("redo-queue"))
    play_solution(drill)
    assert skipped_ticks
