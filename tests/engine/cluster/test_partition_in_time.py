"""Partition in time: a node that missed changes learns from the witness that its cluster database is
outdated.
"""

from __future__ import annotations

import pytest

from engine.cluster import config
from engine.model import World
from tests.engine.availability.worlds import build_ag_lab, list_primaries
from tests.engine.cluster.worlds import apply_lines, build_pair, run_until

VERSIONS = ("2008 R2", "2012", "2012 R2", "2016", "2019", "2022")


def _build_world_newer_on_n1(witness: str, windows: str) -> World:
    """Return a world in which N2 failed, N1 continued alone, and then N1 failed."""
    world = build_pair(witness, windows)
    run_until(world, 5)
    apply_lines(world, "power-off N2")
    run_until(world, 60)
    assert list_primaries(world) == ["N1"]
    apply_lines(world, "power-off N1")
    run_until(world, 90)
    return world


@pytest.mark.parametrize("windows", VERSIONS)
@pytest.mark.parametrize("witness", ["file share", "cloud"])
def test_an_old_node_cannot_form_the_cluster_with_a_tag_only_witness(witness: str, windows: str) -> None:
    world = _build_world_newer_on_n1(witness, windows)
    apply_lines(world, "power-on N2")
    run_until(world, 400)
    assert not world.nodes["N2"].partition
    assert world.nodes["N2"].outdated
    assert any("better epoch" in line[3] for line in world.clusterlog["N2"])
    assert list_primaries(world) == []
    apply_lines(world, "power-on N1")
    run_until(world, 600)
    assert list_primaries(world) == ["N1"]
    assert world.nodes["N2"].partition == world.nodes["N1"].partition != 0
    assert not world.nodes["N2"].outdated
    assert all(account.lost_transactions == 0 for account in world.availability.values())


@pytest.mark.parametrize("windows", VERSIONS)
def test_an_old_node_copies_the_newer_database_from_a_disk_witness(windows: str) -> None:
    """The newer database shows that the replica is not ready for failover, so the cluster does not bring it
    online.
    """
    world = _build_world_newer_on_n1("disk", windows)
    newest = config.find_current_config(world, "CLU1").epoch
    apply_lines(world, "power-on N2")
    run_until(world, 400)
    assert list_primaries(world) == []
    node = world.nodes["N2"]
    assert not node.partition or node.config.epoch >= newest
    assert not node.outdated
    apply_lines(world, "power-on N1")
    run_until(world, 600)
    assert list_primaries(world) == ["N1"]
    assert all(account.lost_transactions == 0 for account in world.availability.values())


def test_forced_quorum_works_and_its_copy_wins() -> None:
    world = _build_world_newer_on_n1("file share", "2016")
    apply_lines(world, "power-on N2")
    run_until(world, 200)
    apply_lines(world, "force-quorum N2")
    run_until(world, 210)
    assert world.nodes["N2"].partition
    apply_lines(world, "sql N2 ALTER AVAILABILITY GROUP AG1 FORCE_FAILOVER_ALLOW_DATA_LOSS")
    run_until(world, 260)
    assert list_primaries(world) == ["N2"]
    apply_lines(world, "power-on N1")
    run_until(world, 500)
    assert list_primaries(world) == ["N2"]
    assert world.nodes["N1"].config.epoch == world.nodes["N2"].config.epoch
    assert any(account.lost_transactions for account in world.availability.values())


def test_a_replaced_witness_does_not_help_an_old_node() -> None:
    """The old share still has the Paxos tag of the change that replaced the share."""
    world = build_pair("file share")
    run_until(world, 5)
    apply_lines(world, "power-off N2")
    run_until(world, 60)
    apply_lines(world, "ps N1 Set-ClusterQuorum -CloudWitness -AccountName other -AccessKey k")
    run_until(world, 80)
    apply_lines(world, "power-off N1", "power-on N2")
    run_until(world, 400)
    assert not world.nodes["N2"].partition


def test_a_returning_node_causes_no_automatic_failover() -> None:
    """Two nodes and a share remain, the link between the nodes is cut, then the primary fails."""
    world = build_ag_lab()
    run_until(world, 8)
    apply_lines(world, "power-off NODE_3")
    run_until(world, 115)
    apply_lines(world, "cut NODE_1 NODE_2")
    run_until(world, 174)
    apply_lines(world, "power-off NODE_1")
    run_until(world, 300)
    assert list_primaries(world) == []
    assert not world.nodes["NODE_2"].partition


def test_a_node_forms_the_cluster_only_from_what_it_reaches() -> None:
    """The node does not know about a cluster that it cannot reach. Its own database and the reserved disk
    decide.
    """
    world = build_pair("disk", "2008 R2")
    run_until(world, 5)
    apply_lines(world, "cut N1 N2")
    run_until(world, 200)
    assert [bool(world.nodes[name].partition) for name in ("N1", "N2")] == [True, False]
    assert list_primaries(world) == ["N1"]


def test_a_replica_that_cannot_write_to_the_cluster_does_not_become_primary() -> None:
    """The link fails while the replica comes online, and only the other node has a vote."""
    world = build_pair("none", "2016")
    run_until(world, 12.5)
    apply_lines(world, "move-role AG1 N2")
    run_until(world, 17)
    apply_lines(world, "cut N2 N1")
    run_until(world, 27)
    assert "N2" not in list_primaries(world)
