"""What each failure does to an availability group: the reference matrix of the documentation, row by row."""

from __future__ import annotations

import pytest

from engine.availability import commands
from engine.messages import SqlError
from engine.model import ReplicaWord, SuspendReason, SyncState, World
from tests.engine.availability.worlds import ag_lab, do, primaries, until


def online_s(world: World) -> list[float]:
    """Failures to open databases, one for each failover."""
    return [((f.online_tick or 0) - f.failed_tick) / 100 for f in world.failovers if f.online_tick]


@pytest.mark.parametrize(
    ("fault", "least_s", "most_s"),
    [
        ("stop-service NODE_1", 1, 6),
        ("hang NODE_1", 30, 40),
        ("power-off NODE_1", 10, 25),
        ("pull-cable NODE_1", 10, 25),
    ],
)
def test_both_databases_move_to_the_automatic_target(fault: str, least_s: float, most_s: float) -> None:
    world = ag_lab()
    until(world, 30)
    do(world, fault)
    until(world, 90)
    assert primaries(world) == ["NODE_2"]
    assert [(f.kind, f.to_server) for f in world.failovers] == [("automatic", "NODE_2")] * 2
    assert all(least_s <= took <= most_s for took in online_s(world)), online_s(world)
    assert all(account.lost_transactions == 0 for account in world.availability.values())
    assert world.clients["APP"].connected_to == "NODE_2"


def test_a_lost_secondary_stops_commits_for_its_timeout_and_no_longer() -> None:
    world = ag_lab()
    until(world, 30)
    do(world, "power-off NODE_2")
    until(world, 60)
    assert primaries(world) == ["NODE_1"]
    assert not world.failovers
    assert world.copies["NODE_1", "Sales"].availability.peer("NODE_2") is SyncState.NOT_SYNCHRONIZING
    do(world, "power-off NODE_1")
    until(world, 120)
    assert primaries(world) == []  # NODE_3 may not, NODE_2 is off


def test_without_quorum_nobody_serves_until_it_is_forced() -> None:
    world = ag_lab()
    until(world, 30)
    do(world, "power-off NODE_2", "power-off NODE_3")
    until(world, 60)
    assert primaries(world) == []
    assert world.replicas["NODE_1", _guid(world)].word is ReplicaWord.RESOLVING_NORMAL
    do(world, "stop-cluster NODE_1", "force-quorum NODE_1")
    until(world, 70)
    assert primaries(world) == []
    with pytest.raises(SqlError, match="41125"):
        commands.planned_failover(world, "NODE_1", "AG1")
    commands.forced_failover(world, "NODE_1", "AG1")
    until(world, 90)
    assert primaries(world) == ["NODE_1"]
    assert world.copies["NODE_2", "Sales"].availability.suspended is SuspendReason.PARTNER


def test_a_planned_failover_needs_a_synchronized_target() -> None:
    world = ag_lab()
    until(world, 10)
    with pytest.raises(SqlError, match="41142"):
        commands.planned_failover(world, "NODE_3", "AG1")
    with pytest.raises(SqlError, match="41122"):
        commands.planned_failover(world, "NODE_1", "AG1")
    commands.planned_failover(world, "NODE_2", "AG1")
    until(world, 40)
    assert primaries(world) == ["NODE_2"]
    assert world.copies["NODE_1", "Sales"].availability.state is SyncState.SYNCHRONIZED
    assert [f.kind for f in world.failovers] == ["manual", "manual"]


def test_after_a_forced_failover_the_old_primary_follows_only_when_resumed() -> None:
    world = ag_lab()
    until(world, 10)
    commands.forced_failover(world, "NODE_3", "AG1")
    until(world, 60)
    assert primaries(world) == ["NODE_3"]
    assert world.copies["NODE_1", "Sales"].availability.suspended is SuspendReason.PARTNER
    commands.resume(world, "NODE_1", "Sales")
    until(world, 90)
    assert world.copies["NODE_1", "Sales"].availability.state is SyncState.SYNCHRONIZING


def _guid(world: World) -> int:
    return next(guid for _, guid in world.replicas)


def test_a_secondary_whose_cluster_service_stops_counts_as_lost_until_it_is_back() -> None:
    world = ag_lab()
    until(world, 30)
    do(world, "stop-cluster NODE_2")
    until(world, 35)
    lead = world.copies["NODE_1", "Sales"].availability
    assert lead.peer("NODE_2") is SyncState.NOT_SYNCHRONIZING
    assert world.replicas["NODE_2", lead.guid or 0].word is ReplicaWord.RESOLVING_NORMAL
    assert world.availability["Sales"].down_ticks == 0
    do(world, "start-cluster NODE_2")
    until(world, 60)
    assert world.copies["NODE_1", "Sales"].availability.peer("NODE_2") is SyncState.SYNCHRONIZED
    assert world.copies["NODE_2", "Sales"].availability.state is SyncState.SYNCHRONIZED
