"""Availability groups whose cluster does not work: no quorum, no cluster service, or an evicted node."""

from __future__ import annotations

import pytest

from engine.model import DbState, World
from tests.engine.availability.test_statements import run_batch
from tests.engine.availability.worlds import apply_lines, build_ag_lab, run_until

DROP_GROUP = "DROP AVAILABILITY GROUP AG1"
SET_HADR_OFF = "ALTER DATABASE Sales SET HADR OFF"
RESTORE_WITH_RECOVERY = "RESTORE DATABASE Sales WITH RECOVERY"


def lose_quorum() -> World:
    world = build_ag_lab()
    run_until(world, 5)
    apply_lines(world, "power-off NODE_2", "power-off NODE_3", "power-off FSW")
    run_until(world, 40)
    return world


def stop_cluster_service() -> World:
    world = build_ag_lab()
    run_until(world, 5)
    apply_lines(world, "stop-cluster NODE_2")
    run_until(world, 10)
    return world


def evict_node() -> World:
    world = build_ag_lab()
    run_until(world, 5)
    apply_lines(world, "evict NODE_2")
    run_until(world, 20)
    return world


def restart_evicted_node() -> World:
    world = evict_node()
    apply_lines(world, "restart-service NODE_2")
    run_until(world, 60)
    return world


WORLDS = [
    (lose_quorum, "NODE_1"),
    (stop_cluster_service, "NODE_2"),
    (evict_node, "NODE_2"),
    (restart_evicted_node, "NODE_2"),
]


@pytest.mark.parametrize(("build", "server"), WORLDS)
@pytest.mark.parametrize("statement", [DROP_GROUP, SET_HADR_OFF])
def test_databases_can_be_recovered_without_the_cluster(build: object, server: str, statement: str) -> None:
    assert callable(build)
    world: World = build()
    assert run_batch(world, server, statement) == []
    assert world.copies[server, "Sales"].db_state is DbState.RESTORING
    apply_lines(world, f"sql {server} {RESTORE_WITH_RECOVERY}")
    run_until(world, world.t_s + 10)
    assert world.copies[server, "Sales"].db_state is DbState.ONLINE
    assert run_batch(world, server, "DROP DATABASE Sales") == []


@pytest.mark.parametrize(("build", "server"), WORLDS)
def test_the_errorlog_names_the_group(build: object, server: str) -> None:
    assert callable(build)
    world: World = build()
    run_batch(world, server, DROP_GROUP)
    text = "\n".join(str(line) for line in world.errorlog[server])
    assert "'AG1' is going offline because it is being removed" in text
    assert "availability group '2'" not in text


def test_a_group_dropped_without_quorum_returns_until_a_second_drop() -> None:
    world = lose_quorum()
    run_batch(world, "NODE_1", DROP_GROUP)
    assert run_batch(world, "NODE_1", DROP_GROUP) == [35220]
    apply_lines(world, "power-on FSW", "power-on NODE_2")
    run_until(world, 400)
    assert world.nodes["NODE_1"].partition
    assert world.nodes["NODE_1"].config.groups
    assert run_batch(world, "NODE_1", DROP_GROUP) == []
    assert not world.nodes["NODE_1"].config.groups
    assert all(server != "NODE_2" for server, _ in world.replicas)


def test_a_copy_that_left_without_quorum_leaves_the_configuration_later() -> None:
    world = stop_cluster_service()
    run_batch(world, "NODE_2", SET_HADR_OFF)
    apply_lines(world, "start-cluster NODE_2")
    run_until(world, 60)
    group = world.nodes["NODE_2"].config.groups[0]
    assert ("Sales", "NODE_2") not in group.joined
    assert ("Orders", "NODE_2") in group.joined
    assert run_batch(world, "NODE_2", "ALTER DATABASE Sales SET HADR AVAILABILITY GROUP = AG1") == []
    run_until(world, 90)
    assert world.copies["NODE_2", "Sales"].group_kind == "availability"


def test_an_evicted_node_refuses_join_with_35220() -> None:
    """Error 35220 reports that the computer is not a node of the cluster. Always On stays enabled."""
    assert run_batch(evict_node(), "NODE_2", "ALTER AVAILABILITY GROUP AG1 JOIN") == [35220]
