"""A role whose owner is evicted: pending timers and moves that name the node have no effect."""

from __future__ import annotations

import pytest

from engine.drill.running.drill import Drill, DrillMode
from tests.shipped_scenarios import load_shipped_scenario


@pytest.mark.parametrize("first_line", ["power-off NODE_1", "stop-service NODE_1", "evict NODE_1"])
def test_a_run_continues_after_the_owner_of_a_role_is_evicted(first_line: str) -> None:
    drill = Drill(load_shipped_scenario("ag-lab"), mode=DrillMode.LAB)
    drill.advance_to(100)
    drill.apply_line(first_line)
    drill.advance_to(150)
    if first_line != "evict NODE_1":
        drill.apply_line("evict NODE_1")
    drill.advance_to(6000)
    assert "NODE_1" not in drill.world.nodes
