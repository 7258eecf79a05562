"""Witness and thresholds of a cluster, as they are changed at the prompt."""

from __future__ import annotations

from engine.cluster import config
from tests.engine.availability.worlds import ag_lab
from tests.engine.cluster.test_powershell import ask, lines
from tests.engine.cluster.worlds import do, fci_lab, run_until


def test_a_new_witness_replaces_a_lost_one() -> None:
    world = fci_lab()
    assert config.current(world, "CLU1").witness_counts
    do(world, "fail-witness CLU1")
    run_until(world, 30)
    assert not config.current(world, "CLU1").witness_counts
    assert len(config.current(world, "CLU1").counted) == 3
    text = ask(world, "Set-ClusterQuorum -DiskWitness 'Cluster Disk 9'")
    assert lines(text)[2] == ["CLU1", "Physical", "Disk", "NodeAndDiskMajority"]
    assert config.current(world, "CLU1").witness_counts
    assert len(config.current(world, "CLU1").counted) == 4
    ask(world, "Set-ClusterQuorum -NoWitness")
    assert config.current(world, "CLU1").witness is None


def test_an_unreachable_share_is_refused_as_witness() -> None:
    world = ag_lab()
    do(world, "power-off FSW")
    for share in (r"\\FSW\Quorum", r"\\NOWHERE\Quorum"):
        assert "is not available" in ask(world, f"Set-ClusterQuorum -FileShareWitness {share}")
    assert "not simulated" in ask(world, "Set-ClusterQuorum -CloudWitness -AccountName a")
    do(world, "power-on FSW")
    ask(world, r"Set-ClusterQuorum -FileShareWitness \\FSW\Other")
    known = config.current(world, "CLU1")
    assert known.witness is not None
    assert known.witness.name == "FSW"


def test_a_higher_threshold_keeps_a_briefly_silent_node() -> None:
    for threshold, left in ((5, True), (20, False)):
        world = fci_lab()
        assert ask(world, f"(Get-Cluster).SameSubnetThreshold = {threshold}") == ""
        assert ask(world, "(Get-Cluster).SameSubnetThreshold") == str(threshold)
        run_until(world, 10)
        do(world, "pull-cable NODE_4")
        run_until(world, 22)
        assert (world.nodes["NODE_4"].partition == 0) is left
    assert "between 3 and 120" in ask(world, "(Get-Cluster).CrossSubnetThreshold = 2")
    assert "not simulated" in ask(world, "(Get-Cluster).RouteHistoryLength = 20")
