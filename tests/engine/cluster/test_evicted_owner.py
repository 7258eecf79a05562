"""Roles whose owner is evicted or lost: pending timers and moves of that node have no effect."""

from __future__ import annotations

import pytest

from engine import tsql
from engine.cluster import config
from engine.drill.running.drill import Drill, DrillMode
from engine.model import ResourceState
from tests.engine.availability.worlds import apply_lines, run_until
from tests.engine.cluster.worlds import build_fci_lab, build_sites
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


def test_a_move_that_a_lost_partition_began_does_not_stay_pending() -> None:
    """The new primary loses power during a failover, and the old primary loses its network."""
    world = build_sites()
    run_until(world, 11)
    tsql.submit_text(world, "N2", "ALTER AVAILABILITY GROUP AG1 FAILOVER")
    run_until(world, 11.1)
    apply_lines(world, "power-off N2")
    run_until(world, 12.1)
    apply_lines(world, "pull-cable N1")
    run_until(world, 60)
    assert config.read_role_state(world, world.nodes["N3"].config.roles[0]) != "Pending"
    apply_lines(world, "plug-cable N1", "power-on N2")
    run_until(world, 400)
    assert world.nodes["N3"].config.roles[0].state is ResourceState.ONLINE


def test_faults_of_an_evicted_node_do_not_stop_revert_all() -> None:
    world = build_fci_lab()
    apply_lines(world, "stop-cluster NODE_2", "fail-witness CLU1", "evict NODE_2", "revert-all")
    run_until(world, 10)
    assert world.clusters["CLU1"].witness_there
