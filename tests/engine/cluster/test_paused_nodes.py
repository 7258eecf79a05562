"""Paused nodes keep their online roles, but no role moves to them or comes online there. [DOC:
PauseClusterNode]
"""

from __future__ import annotations

import pytest

from engine.model import World
from tests.engine.availability.worlds import build_ag_lab, list_primaries
from tests.engine.cluster.test_powershell import run_cmdlet
from tests.engine.cluster.worlds import apply_lines, build_fci_lab, get_role, is_served, run_until
from tests.events import read_field


def fail_over(world: World, server: str, command: str = "FAILOVER") -> list[int]:
    """Return the error numbers of a failover statement."""
    apply_lines(world, f"sql {server} ALTER AVAILABILITY GROUP AG1 {command}")
    done_event = next(event for event in run_until(world, world.t_s + 30) if event.kind == "sql_done")
    return [message["number"] for message in read_field(done_event, "messages") if message["number"]]


@pytest.mark.parametrize(
    "start", ["Start-ClusterGroup SQLFCI1", "Start-ClusterResource 'SQL Server (SQLFCI1)'"]
)
def test_a_role_does_not_come_online_on_its_paused_owner(start: str) -> None:
    world = build_fci_lab()
    run_cmdlet(world, "Stop-ClusterGroup SQLFCI1")
    run_until(world, 15)
    run_cmdlet(world, "Suspend-ClusterNode NODE_1")
    assert "NODE_1 is paused" in run_cmdlet(world, start)
    run_until(world, 60)
    assert get_role(world, "SQLFCI1").state.value == "Offline"
    run_cmdlet(world, "Resume-ClusterNode NODE_1")
    run_cmdlet(world, start)
    run_until(world, 120)
    assert (get_role(world, "SQLFCI1").owner, get_role(world, "SQLFCI1").state.value) == ("NODE_1", "Online")


def test_a_failed_role_leaves_its_paused_owner() -> None:
    world = build_fci_lab()
    run_cmdlet(world, "Suspend-ClusterNode NODE_1")
    run_until(world, 10)
    assert get_role(world, "SQLFCI1").state.value == "Online"
    apply_lines(world, "fail-resource SQL Server (SQLFCI1)")
    run_until(world, 90)
    assert (get_role(world, "SQLFCI1").owner, get_role(world, "SQLFCI1").state.value) == ("NODE_2", "Online")


def test_a_failed_role_waits_for_a_node_that_is_not_paused() -> None:
    world = build_fci_lab()
    run_cmdlet(world, "Get-ClusterNode NODE_1, NODE_2 | Suspend-ClusterNode")
    apply_lines(world, "fail-resource SQL Server (SQLFCI1)")
    events = run_until(world, 120)
    assert get_role(world, "SQLFCI1").state.value == "Failed"
    assert len([event for event in events if event.kind == "cluster"]) < 20
    run_cmdlet(world, "Resume-ClusterNode NODE_2")
    run_until(world, 180)
    assert (get_role(world, "SQLFCI1").owner, get_role(world, "SQLFCI1").state.value) == ("NODE_2", "Online")


@pytest.mark.parametrize("command", ["FAILOVER", "FORCE_FAILOVER_ALLOW_DATA_LOSS"])
@pytest.mark.parametrize(
    ("refuse", "allow"),
    [
        ("Suspend-ClusterNode NODE_2", "Resume-ClusterNode NODE_2"),
        (
            "Set-ClusterOwnerNode -Resource AG1 -Owners NODE_1,NODE_3",
            "Set-ClusterOwnerNode -Resource AG1 -Owners NODE_1,NODE_2,NODE_3",
        ),
    ],
)
def test_a_node_that_the_cluster_excludes_is_no_failover_target(
    refuse: str, allow: str, command: str
) -> None:
    world = build_ag_lab()
    run_cmdlet(world, refuse)
    assert fail_over(world, "NODE_2", command) == [41018]
    assert list_primaries(world) == ["NODE_1"]
    assert is_served(world, "Sales")
    run_cmdlet(world, allow)
    assert fail_over(world, "NODE_2", command) == []
    assert list_primaries(world) == ["NODE_2"]
