"""Effects of each failure on an availability group, as listed in the matrix of the documentation."""

from __future__ import annotations

from contextlib import suppress

import pytest

from engine.availability import commands
from engine.drill.running.world_builder import build_world
from engine.inputs import InputError
from engine.messages import SqlError
from engine.model import ReplicaWord, Service, SuspendReason, SyncState, World
from engine.protocol import serving
from tests.engine.availability.worlds import (
    apply_lines,
    build_ag_lab,
    build_many_groups,
    list_primaries,
    run_until,
)
from tests.events import read_field


def list_failover_durations_s(world: World) -> list[float]:
    """Return the seconds from the failure until the databases are open, for each failover."""
    return [((f.online_tick or 0) - f.failed_tick) / 100 for f in world.failovers if f.online_tick]


@pytest.mark.parametrize(
    ("fault", "min_s", "max_s"),
    [
        ("stop-service NODE_1", 1, 6),
        ("hang NODE_1", 10, 20),
        ("power-off NODE_1", 10, 25),
        ("pull-cable NODE_1", 10, 25),
    ],
)
def test_both_databases_move_to_the_automatic_target(fault: str, min_s: float, max_s: float) -> None:
    world = build_ag_lab()
    run_until(world, 30)
    apply_lines(world, fault)
    run_until(world, 90)
    assert list_primaries(world) == ["NODE_2"]
    assert [(f.kind, f.to_server) for f in world.failovers] == [("automatic", "NODE_2")] * 2
    assert all(min_s <= outage_s <= max_s for outage_s in list_failover_durations_s(world)), (
        list_failover_durations_s(world)
    )
    assert all(account.lost_transactions == 0 for account in world.availability.values())
    assert world.clients["APP"].connected_to == "NODE_2"


def test_redone_log_does_not_stop_the_flow_again() -> None:
    world = build_ag_lab()
    run_until(world, 30)
    apply_lines(world, "power-off NODE_1")
    run_until(world, 90)
    assert all(failover.redo_done_tick for failover in world.failovers)
    assert world.settlings < 50, "for seconds nothing happens but that replicas come online"


def test_a_resource_that_fails_again_moves_to_the_other_node() -> None:
    world = build_ag_lab()
    run_until(world, 30)
    apply_lines(world, "fail-resource AG1")
    run_until(world, 60)
    assert (list_primaries(world), world.failovers) == (["NODE_1"], [])  # restarted on the same node
    apply_lines(world, "fail-resource AG1")
    run_until(world, 90)
    assert list_primaries(world) == ["NODE_2"]


@pytest.mark.parametrize(("recovery_s", "server", "online_s"), [(20, "NODE_1", 58), (90, "NODE_2", 60)])
def test_an_overloaded_primary_restarts_on_its_node_if_it_recovers_in_time(
    recovery_s: float, server: str, online_s: float
) -> None:
    """The login of the group's resource fails after 15 seconds. [DOC: automatic failover problems]"""
    world = build_ag_lab()
    run_until(world, 30)
    apply_lines(world, "slow-cpu NODE_1 factor=200")
    run_until(world, 30 + recovery_s)
    apply_lines(world, "slow-cpu NODE_1 factor=1")
    alerts = run_until(world, 120)
    online = [event for event in alerts if event.kind == "cluster" and read_field(event, "what") == "online"]
    assert list_primaries(world) == [server]
    if server == "NODE_1":
        assert [round(event.t_s) for event in online] == [online_s]
    else:
        assert online == []  # the group came online on NODE_2 before the processors of NODE_1 recovered


def _fail_log_disk(world: World, database: str) -> SyncState:
    """Fail the log disk of a database of the primary; return its state on NODE_2 after ten seconds."""
    run_until(world, 30)
    apply_lines(world, f"fail-disk NODE_1 {database}")
    run_until(world, 40)
    return world.copies["NODE_2", database].availability.state


def test_a_database_without_its_disk_causes_no_failover_and_moves_without_loss() -> None:
    world = build_ag_lab()
    assert _fail_log_disk(world, "Sales") is SyncState.NOT_SYNCHRONIZING
    assert (list_primaries(world), world.failovers) == (["NODE_1"], [])
    assert world.copies["NODE_1", "Orders"].availability.get_peer_state("NODE_2") is SyncState.SYNCHRONIZED
    apply_lines(world, "sql NODE_2 ALTER AVAILABILITY GROUP AG1 FAILOVER")
    run_until(world, 70)
    assert [failover.kind for failover in world.failovers] == ["manual", "manual"]
    assert serving.is_serving(world, ("NODE_2", "Sales"))
    old = [world.copies["NODE_1", name].availability.state for name in ("Orders", "Sales")]
    assert old == [SyncState.SYNCHRONIZED, SyncState.NOT_SYNCHRONIZING]  # the disk of Sales is still missing
    apply_lines(world, "mend-disk NODE_1 Sales")
    run_until(world, 80)
    assert world.copies["NODE_1", "Sales"].availability.state is SyncState.SYNCHRONIZED


def test_a_primary_whose_disk_returns_sends_log_again() -> None:
    world = build_ag_lab()
    _fail_log_disk(world, "Sales")
    apply_lines(world, "mend-disk NODE_1 Sales")
    run_until(world, 50)
    assert serving.is_serving(world, ("NODE_1", "Sales"))
    assert world.copies["NODE_2", "Sales"].availability.state is SyncState.SYNCHRONIZED


def test_with_db_failover_one_lost_disk_moves_the_group() -> None:
    world = build_ag_lab(version=2017)
    apply_lines(world, "sql NODE_1 ALTER AVAILABILITY GROUP AG1 SET (DB_FAILOVER = ON)")
    _fail_log_disk(world, "Orders")
    assert list_primaries(world) == ["NODE_2"]
    assert [failover.kind for failover in world.failovers] == ["automatic", "automatic"]
    assert any(41653 in line for line in world.errorlog["NODE_1"])


def test_a_file_that_redo_cannot_create_suspends_the_copy_until_the_drive_exists() -> None:
    world = build_ag_lab()
    apply_lines(world, "add-drive NODE_1 E size_gb=20", "add-drive NODE_3 E size_gb=20")
    add = "ADD FILE (NAME = Sales_2, FILENAME = 'E:\\Data\\Sales_2.ndf', SIZE = 1GB)"
    apply_lines(world, f"sql NODE_1 ALTER DATABASE Sales {add}")
    resume = "sql NODE_2 ALTER DATABASE Sales SET HADR RESUME"
    for line in ("", resume):  # redo reaches the same log record again
        apply_lines(world, *filter(None, [line]))
        run_until(world, world.tick / 100 + 10)
        membership = world.copies["NODE_2", "Sales"].availability
        assert (membership.suspended, membership.state) == (SuspendReason.REDO, SyncState.NOT_SYNCHRONIZING)
    assert world.copies["NODE_3", "Sales"].extra_files == world.copies["NODE_1", "Sales"].extra_files
    assert sum(5123 in line for line in world.errorlog["NODE_2"]) == 2
    apply_lines(world, "add-drive NODE_2 E size_gb=20", resume)
    run_until(world, world.tick / 100 + 10)
    assert world.copies["NODE_2", "Sales"].availability.state is SyncState.SYNCHRONIZED
    assert world.copies["NODE_2", "Sales"].extra_files == world.copies["NODE_1", "Sales"].extra_files


def test_after_the_loss_of_the_synchronous_secondary_no_failover_follows() -> None:
    world = build_ag_lab()
    run_until(world, 30)
    apply_lines(world, "power-off NODE_2")
    run_until(world, 60)
    assert list_primaries(world) == ["NODE_1"]
    assert not world.failovers
    assert (
        world.copies["NODE_1", "Sales"].availability.get_peer_state("NODE_2") is SyncState.NOT_SYNCHRONIZING
    )
    apply_lines(world, "power-off NODE_1")
    run_until(world, 120)
    assert list_primaries(world) == []  # NODE_3 is no automatic failover partner, and NODE_2 is off


def test_without_quorum_no_replica_serves_until_quorum_is_forced() -> None:
    world = build_ag_lab()
    run_until(world, 30)
    apply_lines(world, "power-off NODE_2", "power-off NODE_3")
    run_until(world, 60)
    assert list_primaries(world) == []
    assert world.replicas["NODE_1", _get_guid(world)].word is ReplicaWord.RESOLVING_NORMAL
    apply_lines(world, "stop-cluster NODE_1", "force-quorum NODE_1")
    run_until(world, 70)
    assert list_primaries(world) == []
    with pytest.raises(SqlError, match="41125"):
        commands.start_planned_failover(world, "NODE_1", "AG1")
    commands.start_forced_failover(world, "NODE_1", "AG1")
    run_until(world, 90)
    assert list_primaries(world) == ["NODE_1"]
    assert world.copies["NODE_2", "Sales"].availability.suspended is SuspendReason.PARTNER


def test_a_planned_failover_needs_a_synchronized_target() -> None:
    world = build_ag_lab()
    run_until(world, 10)
    with pytest.raises(SqlError, match="41142"):
        commands.start_planned_failover(world, "NODE_3", "AG1")
    with pytest.raises(SqlError, match="41122"):
        commands.start_planned_failover(world, "NODE_1", "AG1")
    commands.start_planned_failover(world, "NODE_2", "AG1")
    run_until(world, 40)
    assert list_primaries(world) == ["NODE_2"]
    assert world.copies["NODE_1", "Sales"].availability.state is SyncState.SYNCHRONIZED
    assert [f.kind for f in world.failovers] == ["manual", "manual"]


def test_after_a_forced_failover_the_old_primary_follows_only_after_resume() -> None:
    world = build_ag_lab()
    run_until(world, 10)
    commands.start_forced_failover(world, "NODE_3", "AG1")
    run_until(world, 60)
    assert list_primaries(world) == ["NODE_3"]
    assert world.copies["NODE_1", "Sales"].availability.suspended is SuspendReason.PARTNER
    commands.execute_resume(world, "NODE_1", "Sales")
    run_until(world, 90)
    assert world.copies["NODE_1", "Sales"].availability.state is SyncState.SYNCHRONIZING


def _get_guid(world: World) -> int:
    return next(guid for _, guid in world.replicas)


def test_a_secondary_without_cluster_service_counts_as_lost_until_it_returns() -> None:
    world = build_ag_lab()
    run_until(world, 30)
    apply_lines(world, "stop-cluster NODE_2")
    run_until(world, 35)
    lead = world.copies["NODE_1", "Sales"].availability
    assert lead.get_peer_state("NODE_2") is SyncState.NOT_SYNCHRONIZING
    assert world.replicas["NODE_2", lead.guid or 0].word is ReplicaWord.RESOLVING_NORMAL
    assert world.availability["Sales"].down_ticks == 0
    apply_lines(world, "start-cluster NODE_2")
    run_until(world, 60)
    assert world.copies["NODE_1", "Sales"].availability.get_peer_state("NODE_2") is SyncState.SYNCHRONIZED
    assert world.copies["NODE_2", "Sales"].availability.state is SyncState.SYNCHRONIZED


@pytest.mark.parametrize("line", ["start-cluster NODE_2", "start-service NODE_2", "power-off NODE_2"])
def test_requests_do_not_shorten_the_boot_of_a_node(line: str) -> None:
    """Until the boot ends, nothing can be started on the node; a power loss restarts the boot."""
    world = build_ag_lab()
    apply_lines(world, "power-off NODE_2")
    run_until(world, 20)
    apply_lines(world, "power-on NODE_2")
    if line.startswith("start"):
        apply_lines(world, line)  # the request comes in the tick of the power-on, and again later
    run_until(world, 40)
    with pytest.raises(InputError, match="boot"):
        apply_lines(world, "ps NODE_2 Get-ClusterNode")
    apply_lines(world, line)
    apply_lines(world, "power-on NODE_2")
    up_s = 20 + world.settings.boot_s if line.startswith("start") else 40 + world.settings.boot_s
    run_until(world, up_s - 1)
    assert world.nodes["NODE_2"].service == "starting"
    if not line.startswith("power"):
        assert world.instances["NODE_2"].service is Service.STOPPED
    run_until(world, up_s + 15)
    assert world.nodes["NODE_2"].service == "running"
    assert world.instances["NODE_2"].running


def test_a_copy_dropped_during_recovery_stays_dropped() -> None:
    world = build_ag_lab()
    run_until(world, 1)
    apply_lines(world, "sql NODE_3 ALTER DATABASE Sales SET HADR OFF")
    run_until(world, 2)
    apply_lines(world, "sql NODE_3#1 RESTORE DATABASE Sales WITH RECOVERY")
    run_until(world, 3)
    apply_lines(world, "sql NODE_3#2 DROP DATABASE Sales")
    run_until(world, 4)
    assert ("NODE_3", "Sales") not in world.copies


def test_commits_wait_for_the_required_number_of_synchronized_secondaries() -> None:
    world = build_ag_lab(version=2017)
    option = "REQUIRED_SYNCHRONIZED_SECONDARIES_TO_COMMIT"
    apply_lines(world, f"sql NODE_1 ALTER AVAILABILITY GROUP AG1 SET ({option} = 1)", "power-off NODE_2")
    run_until(world, 40)
    assert _count_commits(world, 5.0) == 0
    apply_lines(world, "power-on NODE_2")
    run_until(world, 160)
    assert _count_commits(world, 5.0) > 0
    apply_lines(world, "power-off NODE_2")
    run_until(world, 180)
    assert _count_commits(world, 5.0) == 0
    apply_lines(world, f"sql NODE_1 ALTER AVAILABILITY GROUP AG1 SET ({option} = 0)")
    run_until(world, 185)
    assert _count_commits(world, 5.0) > 0


def test_commits_do_not_wait_for_a_second_secondary_while_enough_are_synchronized() -> None:
    world = build_ag_lab(version=2017)
    group = "sql NODE_1 ALTER AVAILABILITY GROUP AG1 "
    mode = "MODIFY REPLICA ON 'NODE_3' WITH (AVAILABILITY_MODE = SYNCHRONOUS_COMMIT)"
    apply_lines(world, group + mode, group + "SET (REQUIRED_SYNCHRONIZED_SECONDARIES_TO_COMMIT = 1)")
    run_until(world, 20)
    apply_lines(world, "power-off NODE_3")
    run_until(world, 60)
    assert _count_commits(world, 5.0) > 0


def test_a_role_does_not_move_to_a_replica_without_automatic_failover() -> None:
    world = build_ag_lab()
    manual = "MODIFY REPLICA ON 'NODE_2' WITH (FAILOVER_MODE = MANUAL)"
    apply_lines(world, f"sql NODE_1 ALTER AVAILABILITY GROUP AG1 {manual}")
    run_until(world, 10)
    apply_lines(world, "move-role AG1 NODE_2")
    run_until(world, 60)
    assert list_primaries(world) == ["NODE_1"]


def _count_commits(world: World, seconds: float) -> float:
    """Return the number of transactions of Sales that commit on NODE_1 in the next *seconds*."""
    source = world.copies["NODE_1", "Sales"].source
    assert source is not None
    before = world.flow.read_source_positions(source).transactions
    run_until(world, world.tick / 100 + seconds)
    return world.flow.read_source_positions(source).transactions - before


@pytest.mark.parametrize(("level", "expected_primary"), [(4, "NODE_1"), (5, "NODE_2")])
def test_a_lack_of_worker_threads_is_logged_and_fails_the_group_at_level_5(
    level: int, expected_primary: str
) -> None:
    """Check documented behavior: [DOC: thread usage of groups; flexible failover policy]."""
    world = build_world(build_many_groups(1, 40), 1)
    configure = "EXEC sp_configure 'show advanced options', 1; RECONFIGURE; EXEC sp_configure 'max worker threads', {}"
    apply_lines(world, f"sql NODE_1 ALTER AVAILABILITY GROUP AG1 SET (FAILURE_CONDITION_LEVEL = {level})")
    apply_lines(world, f"sql NODE_1 {configure.format(128)}; RECONFIGURE")
    run_until(world, 90)
    assert [line[1] for line in world.errorlog["NODE_1"]].count(35217) >= 1
    assert list_primaries(world) == [expected_primary]
    assert 35217 not in [line[1] for line in world.errorlog["NODE_2"]]


@pytest.mark.parametrize("command", ["start-role AG1", "ps NODE_1 Start-ClusterGroup AG1"])
@pytest.mark.parametrize("after_s", [1.0, 3.5, 5.0])
def test_a_group_that_is_moving_does_not_start_on_a_second_node(command: str, after_s: float) -> None:
    """Earlier, the role came online again on its old node during a planned failover, and both replicas became
    primary.
    """
    world = build_ag_lab()
    apply_lines(world, "sql NODE_2 ALTER AVAILABILITY GROUP AG1 FAILOVER")
    run_until(world, world.tick / 100 + after_s)
    with suppress(InputError):
        apply_lines(world, command)
    for _ in range(40):
        run_until(world, world.tick / 100 + 0.5)
        assert len(list_primaries(world)) <= 1
    assert list_primaries(world) == ["NODE_2"]
