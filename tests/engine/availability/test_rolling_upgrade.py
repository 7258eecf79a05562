"""Rolling upgrade of the replicas of an availability group. [DOC: upgrading replicas]"""

from __future__ import annotations

import pytest

from engine.availability.commands import configuration
from engine.model import SuspendReason, SyncState
from tests.engine.availability.test_statements import ALTER_AG1, run_batch
from tests.engine.availability.worlds import apply_lines, build_ag_lab, list_primaries, run_until

SET_HADR_RESUME = "ALTER DATABASE Sales SET HADR RESUME"


@pytest.mark.parametrize(("version", "is_current"), [(2014, True), (2016, False)])
def test_a_primary_sends_no_log_to_an_older_instance(version: int, is_current: bool) -> None:
    world = build_ag_lab()
    run_until(world, 5)
    world.update_instance("NODE_2", version=version)
    assert run_batch(world, "NODE_2", f"{ALTER_AG1}FAILOVER", 30) == []
    state = SyncState.SYNCHRONIZED if is_current else SyncState.NOT_SYNCHRONIZING
    assert world.copies["NODE_2", "Sales"].availability.get_peer_state("NODE_1") is state
    group = configuration.require_node(world, "NODE_2").config.groups[0]
    assert (("Sales", "NODE_1") in group.ready) is is_current
    if not is_current:
        assert world.copies["NODE_1", "Sales"].availability.suspended is SuspendReason.PARTNER
        assert run_batch(world, "NODE_1", SET_HADR_RESUME, 10) == []
        assert run_batch(world, "NODE_1", f"{ALTER_AG1}FAILOVER") == [41191]
        assert run_batch(world, "NODE_1", f"{ALTER_AG1}FORCE_FAILOVER_ALLOW_DATA_LOSS") == [41191]
        assert world.copies["NODE_2", "Sales"].availability.get_peer_state("NODE_1") is state
        world.update_instance("NODE_1", version=version)
        run_batch(world, "NODE_1", SET_HADR_RESUME, 20)
    assert world.copies["NODE_2", "Sales"].availability.get_peer_state("NODE_1") is SyncState.SYNCHRONIZED
    assert list_primaries(world) == ["NODE_2"]


def test_an_upgraded_secondary_is_not_read_before_the_primary_has_its_version() -> None:
    world = build_ag_lab()
    run_until(world, 5)
    apply_lines(world, "upgrade NODE_3 2016")
    run_until(world, 1500)
    assert world.copies["NODE_1", "Sales"].availability.get_peer_state("NODE_3") is SyncState.SYNCHRONIZING
    assert run_batch(world, "NODE_3", "SELECT 1 FROM Sales.sys.objects") == [976]
    assert run_batch(world, "NODE_3", "BACKUP LOG Sales TO DISK = 'NUL'") == [976, 3013]


def test_an_older_replica_does_not_take_over_from_an_upgraded_primary() -> None:
    """The copy of the older replica still counts as ready, because the two instances have not reconnected
    yet.
    """
    world = build_ag_lab()
    run_until(world, 5)
    world.update_instance("NODE_1", version=2016)
    apply_lines(world, "power-off NODE_1")
    run_until(world, 60)
    assert list_primaries(world) == []


def test_a_copy_suspended_by_force_while_its_server_was_off_names_the_partner() -> None:
    """The error log names the same source (35264)."""
    world = build_ag_lab()
    run_until(world, 5)
    apply_lines(world, "power-off NODE_1", "power-off NODE_2")
    run_until(world, 60)
    apply_lines(world, "force-quorum NODE_3")
    run_until(world, 90)
    assert run_batch(world, "NODE_3", f"{ALTER_AG1}FORCE_FAILOVER_ALLOW_DATA_LOSS", 30) == []
    apply_lines(world, "power-on NODE_1")
    run_until(world, world.t_s + 240)
    assert world.copies["NODE_1", "Sales"].availability.suspended is SuspendReason.PARTNER
