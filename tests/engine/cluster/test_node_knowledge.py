"""Commands in the seconds before the cluster detects the loss of a node.

A member stays "Up" until its heartbeats are missed [DOC: cluster network thresholds]. Until then the cluster
waits for the member, and an isolated node can change nothing.
"""

from __future__ import annotations

import pytest

from engine.model import ResourceState, World
from tests.engine.availability.test_statements import run_batch
from tests.engine.availability.worlds import build_ag_lab, list_primaries
from tests.engine.cluster.test_powershell import run_cmdlet, split_cells
from tests.engine.cluster.worlds import apply_lines, build_fci_lab, build_pair, get_role, run_until

LOSSES = {
    "power": ("power-off {0}",),
    "links": ("cut {0} {1}", "cut {0} {2}", "cut {0} FSW"),
}


def lose_node(world: World, node: str, kind: str) -> None:
    other_nodes = [name for name in ("NODE_1", "NODE_2", "NODE_3") if name != node]
    apply_lines(world, *(line.format(node, *other_nodes) for line in LOSSES[kind]))


@pytest.mark.parametrize("kind", LOSSES)
def test_a_move_waits_for_an_owner_that_does_not_answer(kind: str) -> None:
    world = build_ag_lab()
    run_until(world, 10)
    lose_node(world, "NODE_1", kind)
    run_cmdlet(world, "Move-ClusterGroup AG1 NODE_2", "NODE_3")
    run_until(world, 13)
    assert run_cmdlet(world, "Get-ClusterNode NODE_1", "NODE_2").split()[-2] == "Up"
    assert split_cells(run_cmdlet(world, "Get-ClusterGroup AG1", "NODE_2"))[2] == ["AG1", "NODE_1", "Pending"]
    assert list_primaries(world) == ([] if kind == "power" else ["NODE_1"])
    run_until(world, 40)
    assert list_primaries(world) == ["NODE_2"]
    assert run_cmdlet(world, "Get-ClusterNode NODE_1", "NODE_2").split()[-2] == "Down"


@pytest.mark.parametrize("kind", LOSSES)
def test_a_move_to_a_lost_node_waits_and_returns(kind: str) -> None:
    world = build_ag_lab()
    run_until(world, 10)
    lose_node(world, "NODE_2", kind)
    run_cmdlet(world, "Move-ClusterGroup AG1 NODE_2")
    run_until(world, 14)
    assert (get_role(world, "AG1").owner, get_role(world, "AG1").state) == (
        "NODE_2",
        ResourceState.ONLINE_PENDING,
    )
    run_until(world, 40)
    assert list_primaries(world) == ["NODE_1"]


def test_a_move_continues_when_the_target_answers_again() -> None:
    world = build_ag_lab()
    run_until(world, 10)
    lose_node(world, "NODE_2", "links")
    run_cmdlet(world, "Move-ClusterGroup AG1 NODE_2")
    run_until(world, 14)
    apply_lines(world, "mend NODE_2 NODE_1", "mend NODE_2 NODE_3", "mend NODE_2 FSW")
    run_until(world, 40)
    assert list_primaries(world) == ["NODE_2"]


def test_a_group_that_is_stopped_waits_for_its_owner() -> None:
    world = build_ag_lab()
    run_until(world, 10)
    lose_node(world, "NODE_1", "links")
    assert run_cmdlet(world, "Stop-ClusterGroup AG1", "NODE_2").split()[-1] == "Pending"
    assert list_primaries(world) == ["NODE_1"]
    run_until(world, 40)
    assert list_primaries(world) == []
    assert get_role(world, "AG1").state is ResourceState.OFFLINE


def test_a_planned_failover_waits_for_a_primary_that_does_not_answer() -> None:
    world = build_ag_lab()
    run_until(world, 10)
    lose_node(world, "NODE_1", "power")
    apply_lines(world, "sql NODE_2 ALTER AVAILABILITY GROUP AG1 FAILOVER")
    run_until(world, 14)
    assert list_primaries(world) == []
    run_until(world, 40)
    assert list_primaries(world) == ["NODE_2"]


COMMANDS = (
    "Move-ClusterGroup AG1 NODE_2",
    "Stop-ClusterGroup AG1",
    "Stop-ClusterResource AG1",
    "Get-ClusterResource AG1 | Set-ClusterParameter LeaseTimeout 40000",
    "Get-ClusterResource AG1 | Set-ClusterOwnerNode -Owners NODE_1",
    "Set-ClusterOwnerNode -Group AG1 -Owners NODE_1",
    "Set-ClusterQuorum -NoWitness",
    "Suspend-ClusterNode NODE_2 -Drain",
    "Remove-ClusterNode NODE_3 -Force",
    "(Get-ClusterNode NODE_2).NodeWeight = 0",
    "(Get-ClusterGroup AG1).FailoverThreshold = 7",
    "(Get-Cluster).SameSubnetThreshold = 20",
)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_node_that_is_cut_off_changes_nothing(command: str) -> None:
    world = build_ag_lab()
    run_until(world, 10)
    apply_lines(world, "pull-cable NODE_1")
    before = world.nodes, world.clusters, world.replicas
    copies = [dict(part) for part in before]
    assert "the remote procedure call failed" in run_cmdlet(world, command)
    assert [dict(part) for part in before] == copies


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER AVAILABILITY GROUP AG1 SET (HEALTH_CHECK_TIMEOUT = 15000)",
        "ALTER AVAILABILITY GROUP AG1 MODIFY REPLICA ON 'NODE_2' WITH (SESSION_TIMEOUT = 20)",
        "ALTER AVAILABILITY GROUP AG1 REMOVE DATABASE Orders",
        "ALTER AVAILABILITY GROUP AG1 OFFLINE",
    ],
)
def test_statements_of_a_primary_that_is_cut_off_are_refused(statement: str) -> None:
    world = build_ag_lab()
    run_until(world, 10)
    lose_node(world, "NODE_1", "links")
    assert run_batch(world, "NODE_1", statement) == [35220]
    run_until(world, 10.5)
    lose_node(world, "NODE_2", "links")
    assert run_batch(world, "NODE_2", "ALTER AVAILABILITY GROUP AG1 FAILOVER") == [35220]


def test_views_and_cmdlets_agree_on_the_state_of_a_lost_node() -> None:
    world = build_fci_lab()
    run_until(world, 10)
    apply_lines(world, "power-off NODE_2")
    for until_s, expected in ((12, "Up"), (30, "Down")):
        run_until(world, until_s)
        assert run_cmdlet(world, "(Get-ClusterNode NODE_2).State") == expected
        apply_lines(
            world,
            "sql SQLFCI1 SELECT status_description FROM sys.dm_os_cluster_nodes WHERE NodeName = 'NODE_2'",
        )
        done_events = [event for event in run_until(world, until_s + 1) if event.kind == "sql_done"]
        assert f"'{expected.lower()}'" in str(done_events[-1])


def test_a_moving_role_does_not_depend_on_the_node_that_manages_it() -> None:
    world = build_fci_lab()
    run_until(world, 10)
    apply_lines(world, "move-role SQLFCI2 NODE_4")
    run_until(world, 11)
    apply_lines(world, "power-off NODE_1")
    run_until(world, 60)
    assert (get_role(world, "SQLFCI2").owner, get_role(world, "SQLFCI2").state) == (
        "NODE_4",
        ResourceState.ONLINE,
    )


@pytest.mark.parametrize("kind", ["disk", "file share", "cloud"])
def test_the_witness_votes_for_the_owner_of_the_core_group_and_not_for_the_primary(kind: str) -> None:
    """A write of the primary before the cluster detects the partition must not win the witness."""
    world = build_pair(kind)
    run_until(world, 10)
    apply_lines(world, "move-role AG1 N2")
    run_until(world, 40)
    assert list_primaries(world) == ["N2"]
    assert run_cmdlet(world, "(Get-ClusterGroup 'Cluster Group').OwnerNode", "N1") == "N1"
    apply_lines(world, "cut N1 N2")
    run_until(world, 90)
    assert list_primaries(world) == ["N1"]
