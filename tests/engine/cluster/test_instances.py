"""Failover cluster instances: restart before failover, possible owners, failover times, Setup on nodes."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from engine.availability.commands import configuration
from engine.cluster import config
from engine.inputs import InputError
from engine.messages import SqlError
from engine.model import AvailabilityGroup, CommitMode, Failover, Replica, ResourceState, World
from tests.engine.availability.test_intent import run_sql, run_statement
from tests.engine.cluster.worlds import (
    apply_lines,
    build_cluster_world,
    build_fci_lab,
    get_role,
    is_served,
    run_until,
)
from tests.events import read_field


def list_moves(world: World) -> list[tuple[str, str, str, str]]:
    return [(f.kind, f.cause, f.from_server, f.to_server) for f in world.failovers if f.online_tick]


def list_failover_steps_s(move: Failover) -> list[float]:
    ticks = (move.failed_tick, move.detected_tick, move.redo_done_tick, move.decided_tick, move.online_tick)
    return [tick / 100 for tick in ticks if tick is not None]


@pytest.mark.parametrize(
    ("level", "timeout_ms", "fault", "noticed_s"),
    [
        (3, 15_000, "hang SQLFCI1", 15.0),
        (2, 60_000, "hang SQLFCI1", 60.0),
        (1, 60_000, "hang SQLFCI1", None),
        (1, 60_000, "stop-service SQLFCI1", 5.0),
        (0, 60_000, "stop-service SQLFCI1", None),
    ],
)
def test_the_failover_policy_defines_a_failure(
    level: int, timeout_ms: int, fault: str, noticed_s: float | None
) -> None:
    """Check documented behavior: [DOC: failover policy of instances]."""
    world = build_fci_lab()
    policy = "ALTER SERVER CONFIGURATION SET FAILOVER CLUSTER PROPERTY"
    assert run_sql(world, "SQLFCI1", f"{policy} FailureConditionLevel = {level}") == []
    assert run_sql(world, "SQLFCI1", f"{policy} HealthCheckTimeout = {timeout_ms}") == []
    query = "SELECT FailureConditionLevel, HealthCheckTimeout FROM sys.dm_os_cluster_properties"
    assert run_statement(world, "SQLFCI1", query)["results"][0]["rows"] == [[level, timeout_ms]]
    start_s = world.t_s
    apply_lines(world, fault)
    events = run_until(world, start_s + 100)
    noticed = [event.tick / 100 - start_s for event in events if read_field(event, "what") == "role-failed"]
    assert noticed == ([pytest.approx(noticed_s, abs=0.1)] if noticed_s is not None else [])


def test_after_a_power_loss_the_instance_fails_over_within_20_to_60_s() -> None:
    world = build_fci_lab()
    run_until(world, 30)
    apply_lines(world, "power-off NODE_1")
    run_until(world, 120)
    assert list_moves(world) == [("automatic", "power-off", "NODE_1", "NODE_2")]
    stamps = list_failover_steps_s(world.failovers[0])
    assert stamps == sorted(stamps)
    assert stamps[0] == 30.0
    assert len(stamps) == 5
    assert 20 <= stamps[-1] - stamps[0] <= 60  # published as 20 to 60 s
    assert world.instances["SQLFCI1"].computer == "NODE_2"
    assert world.clients["APP"].connected_to == "SQLFCI1"
    assert get_role(world, "SQLFCI2").owner == "NODE_3"


def test_a_short_power_failure_still_causes_a_failover() -> None:
    """The node boots and sends no heartbeats for a minute, and it did not release its disks before."""
    stamps = []
    for back_s in (1.0, 60.0):
        world = build_fci_lab()
        run_until(world, 30)
        apply_lines(world, "power-off NODE_1")
        run_until(world, 30 + back_s)
        apply_lines(world, "power-on NODE_1")
        run_until(world, 200)
        (move,) = world.failovers
        assert (move.from_server, move.to_server) == ("NODE_1", "NODE_2")
        assert world.nodes["NODE_1"].partition == world.nodes["NODE_2"].partition
        stamps.append(list_failover_steps_s(move)[-1])
    assert stamps[0] == stamps[1]


def test_a_planned_move_takes_15_s() -> None:
    world = build_fci_lab()
    run_until(world, 30)
    apply_lines(world, "move-role SQLFCI1 NODE_2")
    run_until(world, 60)
    assert list_moves(world) == [("role-move", "move-role", "NODE_1", "NODE_2")]
    stamps = list_failover_steps_s(world.failovers[0])
    assert stamps[-1] - stamps[0] == pytest.approx(15.0, abs=1.0)
    assert world.availability["Sales"].lost_transactions == 0


def test_a_role_that_comes_online_does_not_move_to_its_own_node() -> None:
    world = build_fci_lab()
    run_until(world, 30)
    apply_lines(world, "move-role SQLFCI1 NODE_2")
    while (get_role(world, "SQLFCI1").owner, get_role(world, "SQLFCI1").state) != (
        "NODE_2",
        ResourceState.ONLINE_PENDING,
    ):
        run_until(world, world.t_s + 0.5)
        assert world.t_s < 60
    with pytest.raises(InputError, match="NODE_2 already owns SQLFCI1"):
        apply_lines(world, "move-role SQLFCI1 NODE_2")


def test_a_node_keeps_its_address_when_an_instance_moves() -> None:
    world = build_fci_lab()
    before = {name: config.get_computer_address(world, name) for name in world.nodes}
    assert len(set(before.values())) == len(before)
    apply_lines(world, "move-role SQLFCI1 NODE_2")
    run_until(world, 60)
    assert {name: config.get_computer_address(world, name) for name in world.nodes} == before


@pytest.mark.parametrize(("fault", "noticed_s"), [("stop-service SQLFCI1", 5), ("hang SQLFCI1", 60)])
def test_the_service_restarts_on_its_node_before_it_moves(fault: str, noticed_s: float) -> None:
    world = build_fci_lab()
    run_until(world, 30)
    apply_lines(world, fault)
    run_until(world, 30 + noticed_s - 1)
    assert not is_served(world)
    assert get_role(world, "SQLFCI1").state is ResourceState.ONLINE
    run_until(world, 30 + noticed_s + 10)
    assert is_served(world)
    assert world.instances["SQLFCI1"].computer == "NODE_1"
    assert not world.failovers
    apply_lines(world, fault)
    run_until(world, 200)
    assert [move[2:] for move in list_moves(world)] == [("NODE_1", "NODE_2")]


@pytest.mark.parametrize(
    "line",
    [
        "fail-resource SQL Server Agent (SQLFCI1)",
        "stop-agent SQLFCI1",
        "ps NODE_1 Stop-Service SQLSERVERAGENT",
        "ps NODE_1 net stop SQLSERVERAGENT",
    ],
)
def test_the_cluster_restarts_a_failed_agent_without_its_instance(line: str) -> None:
    """No resource depends on the Agent, so that the instance and its connections stay."""
    world = build_fci_lab()
    run_until(world, 10)
    started_tick = world.instances["SQLFCI1"].started_tick
    apply_lines(world, line)
    agent = get_role(world, "SQLFCI1").resources[-1]
    assert config.read_resource_state(world, get_role(world, "SQLFCI1"), agent) is ResourceState.FAILED
    assert is_served(world)
    run_until(world, 30)
    assert config.read_resource_state(world, get_role(world, "SQLFCI1"), agent) is ResourceState.ONLINE
    assert world.instances["SQLFCI1"].started_tick == started_tick
    assert [len(resource.restarts) for resource in get_role(world, "SQLFCI1").resources] == [0, 0, 0, 0, 1]


AGENT = "SQL Server Agent (SQLFCI1)"
POLICIES = (
    # settings of the Agent, seconds between its failures, then: owner, state of the Agent, state of the role
    ((), (10,), "NODE_1", "Online", "Online"),
    ((), (10, 10), "NODE_1", "Failed", "Failed"),
    ((), (1000, 10), "NODE_1", "Online", "Online"),
    ((), (10, 10, 3600), "NODE_1", "Online", "Online"),
    (("RestartThreshold = 3",), (10, 10, 10), "NODE_1", "Online", "Online"),
    (("RestartPeriod = 5000",), (10, 10), "NODE_1", "Online", "Online"),
    (("RestartAction = 0",), (10,), "NODE_1", "Failed", "Failed"),
    (("RestartAction = 0", "RetryPeriodOnFailure = 60000"), (59,), "NODE_1", "Failed", "Failed"),
    (("RestartAction = 0", "RetryPeriodOnFailure = 60000"), (61,), "NODE_1", "Online", "Online"),
    (("RestartAction = 0", "RetryPeriodOnFailure = 4294967295"), (9000,), "NODE_1", "Failed", "Failed"),
    (("RestartAction = 2",), (10, 60), "NODE_2", "Online", "Online"),
)


@pytest.mark.parametrize(("settings", "waits_s", "owner", "agent_state", "role_state"), POLICIES)
def test_a_resource_restarts_as_its_own_properties_say(
    settings: tuple[str, ...], waits_s: tuple[int, ...], owner: str, agent_state: str, role_state: str
) -> None:
    world = build_fci_lab()
    apply_lines(world, "workload Sales none")
    run_until(world, 5)
    for setting in settings:
        apply_lines(world, f"ps NODE_1 (Get-ClusterResource '{AGENT}').{setting}")
    for wait_s in waits_s:
        apply_lines(world, f"fail-resource {AGENT}")
        run_until(world, world.t_s + wait_s)
    current = get_role(world, "SQLFCI1")
    states = [config.read_resource_state(world, current, resource).value for resource in current.resources]
    assert (current.owner, states[-1], config.read_role_state(world, current)) == (
        owner,
        agent_state,
        role_state,
    )
    assert set(states[:-1]) == {"Online"}
    assert is_served(world)


def test_a_failed_agent_starts_with_its_instance_on_another_node() -> None:
    world = build_fci_lab()
    apply_lines(
        world, f"ps NODE_1 (Get-ClusterResource '{AGENT}').RestartAction = 0", f"fail-resource {AGENT}"
    )
    run_until(world, 10)
    apply_lines(world, "move-role SQLFCI1 NODE_2")
    run_until(world, 60)
    assert config.read_role_state(world, get_role(world, "SQLFCI1")) == "Online"


@pytest.mark.parametrize(
    "line",
    [f"Start-ClusterResource '{AGENT}'", "Start-ClusterGroup SQLFCI1", "Start-Service SQLSERVERAGENT"],
)
def test_a_person_starts_an_agent_that_remained_failed(line: str) -> None:
    world = build_fci_lab()
    apply_lines(
        world, f"ps NODE_1 (Get-ClusterResource '{AGENT}').RestartAction = 0", f"fail-resource {AGENT}"
    )
    run_until(world, 10)
    assert config.read_role_state(world, get_role(world, "SQLFCI1")) == "Failed"
    apply_lines(world, f"ps NODE_1 {line}")
    assert config.read_role_state(world, get_role(world, "SQLFCI1")) == "Online"


def test_restarts_of_an_address_are_not_those_of_the_server() -> None:
    """The address has used up its restart, but the server has its own."""
    world = build_fci_lab()
    run_until(world, 5)
    apply_lines(world, "fail-resource SQL IP Address 1 (SQLFCI1)")
    run_until(world, 60)
    apply_lines(world, "stop-service SQLFCI1")
    run_until(world, 120)
    assert get_role(world, "SQLFCI1").owner == "NODE_1"
    apply_lines(world, "fail-resource SQL IP Address 1 (SQLFCI1)")
    run_until(world, 200)
    assert get_role(world, "SQLFCI1").owner == "NODE_2"


def test_the_cluster_log_names_the_failed_resource() -> None:
    world = build_fci_lab()
    run_until(world, 10)
    apply_lines(world, "fail-resource SQL IP Address 1 (SQLFCI1)")
    run_until(world, 60)
    apply_lines(world, "ps NODE_1 Stop-Service MSSQLSERVER -Force")
    run_until(world, 70)
    lines = [line[3] for lines in world.clusterlog.values() for line in lines]
    failed = [text.split("'")[1] for text in lines if "FAILURENOTIFICATION" in text]
    assert failed == ["SQL IP Address 1 (SQLFCI1)", "SQL Server (SQLFCI1)"]
    assert "Resource SQL Server (SQLFCI1) IsAlive has indicated failure." in lines


def test_repeated_failures_exhaust_the_threshold() -> None:
    world = build_fci_lab()
    for number in range(1, 8):
        run_until(world, number * 60)
        if get_role(world, "SQLFCI1").state is ResourceState.ONLINE:
            apply_lines(world, "fail-resource SQL Server (SQLFCI1)")
    run_until(world, 540)
    assert get_role(world, "SQLFCI1").state is ResourceState.FAILED
    assert len(list_moves(world)) == 3  # the number of nodes less one
    lines = [line[3] for lines in world.clusterlog.values() for line in lines]
    assert any(text.startswith("Not failing over group SQLFCI1, failoverCount 4") for text in lines)
    apply_lines(world, "start-role SQLFCI1")
    run_until(world, 600)
    assert is_served(world)


def test_without_another_possible_owner_the_instance_stays() -> None:
    world = build_fci_lab()
    apply_lines(world, "set-owners SQL Server (SQLFCI1) NODE_1")
    run_until(world, 10)
    with pytest.raises(InputError, match="not a possible owner"):
        apply_lines(world, "move-role SQLFCI1 NODE_2")
    apply_lines(world, "power-off NODE_1")
    run_until(world, 90)
    assert not is_served(world)
    assert get_role(world, "SQLFCI1").state is ResourceState.FAILED
    apply_lines(world, "set-owners SQL Server (SQLFCI1) NODE_1,NODE_2", "start-role SQLFCI1")
    run_until(world, 150)
    assert is_served(world)


def test_lost_quorum_stops_instances_and_forced_quorum_restarts_them() -> None:
    world = build_fci_lab()
    run_until(world, 10)
    apply_lines(world, "fail-witness CLU1", "power-off NODE_3", "power-off NODE_4")
    run_until(world, 40)
    assert not is_served(world)
    assert not any(instance.running for instance in world.instances.values())
    apply_lines(world, "force-quorum NODE_1")
    run_until(world, 90)
    assert is_served(world)


def test_a_joined_node_becomes_possible_owner_except_of_the_disks() -> None:
    """A later failover to this node fails unless the owners of the disks are set. The guide explains this
    trap.
    """
    world = build_cluster_world()
    # the node joins the cluster first; Setup does not end during this test
    apply_lines(world, "add-node FCI N3")
    assert [r.name for r in get_role(world, "FCI").resources if "N3" not in r.owners] == ["Cluster Disk 1"]
    apply_lines(world, "power-off N2")
    run_until(world, 60)
    apply_lines(world, "power-off N1")
    run_until(world, 200)
    assert not is_served(world)
    lines = [line[3] for lines in world.clusterlog.values() for line in lines]
    assert "Online for resource SQL Server (FCI) failed." in lines


def test_an_added_node_can_own_the_instance() -> None:
    world = build_cluster_world()
    run_until(world, 10)
    apply_lines(world, "add-node FCI N3")
    with pytest.raises(InputError, match="Setup is running on N3"):
        apply_lines(world, "patch N3")
    run_until(world, 320)
    apply_lines(world, "move-role FCI N3")
    run_until(world, 360)
    assert world.instances["FCI"].computer == "N3"
    assert is_served(world)


def test_the_tempdb_folder_is_missing_on_the_other_node() -> None:
    world = build_cluster_world(instance='no_tempdb_path = ["N2"]')
    run_until(world, 30)
    apply_lines(world, "move-role FCI N2")
    run_until(world, 90)
    assert is_served(world)
    assert world.instances["FCI"].computer == "N1"
    lines = [line[4] for line in world.errorlog["FCI"]]
    assert any(
        "tempdb.mdf" in text and "3(The system cannot find the path specified.)" in text for text in lines
    )
    assert [f.why for f in world.failovers if f.to_server == "N2"] != [""]


def test_patching_a_passive_node_causes_no_outage_and_an_active_one_does() -> None:
    world = build_fci_lab()
    run_until(world, 10)
    apply_lines(world, "patch NODE_2")
    run_until(world, 320)
    assert world.availability["Sales"].down_ticks == 0
    assert world.nodes["NODE_2"].level == 1
    apply_lines(world, "move-role SQLFCI1 NODE_2")
    run_until(world, 400)
    assert is_served(world)
    assert world.instances["SQLFCI1"].level == 1
    apply_lines(world, "patch NODE_2")
    run_until(world, 500)
    assert not is_served(world)
    run_until(world, 800)
    assert is_served(world)
    assert world.instances["SQLFCI1"].computer == "NODE_2"


def test_a_node_being_patched_accepts_no_role() -> None:
    world = build_fci_lab()
    run_until(world, 10)
    apply_lines(world, "patch NODE_2", "power-off NODE_1")
    run_until(world, 120)
    assert not is_served(world)
    run_until(world, 400)
    assert get_role(world, "SQLFCI1").state is ResourceState.FAILED
    apply_lines(world, "start-role SQLFCI1")
    run_until(world, 440)
    assert is_served(world)


def test_an_evicted_node_owns_nothing() -> None:
    world = build_fci_lab()
    run_until(world, 10)
    apply_lines(world, "evict NODE_1")
    run_until(world, 60)
    assert is_served(world)
    assert world.instances["SQLFCI1"].computer == "NODE_2"
    assert all("NODE_1" not in resource.owners for resource in get_role(world, "SQLFCI1").resources)


def test_a_group_is_refused_if_one_node_could_host_two_replicas() -> None:
    world = build_cluster_world(instance="version = 2014")
    host = world.instances["FCI"]
    world.instances["N2"] = replace(host, name="N2", computer="N2", clustered=False, installed=())
    replicas = [
        Replica(server=name, endpoint_url="", mode=CommitMode.SYNCHRONOUS_COMMIT) for name in ("FCI", "N2")
    ]
    group = AvailabilityGroup(name="AG1", guid=1, primary="FCI", replicas=tuple(replicas))
    with pytest.raises(SqlError) as refused:
        configuration.check_replica_nodes(world, group)
    assert refused.value.number == 19405
    apply_lines(world, "set-owners SQL Server (FCI) N1")
    configuration.check_replica_nodes(world, group)


# --- Setup RemoveNode, new disks ----------------------------------------------------------------------------


def test_an_evicted_node_keeps_its_installation_until_setup_removes_it() -> None:
    world = build_fci_lab()
    apply_lines(world, "evict NODE_2")
    run_until(world, 5)
    with pytest.raises(InputError, match="is installed on NODE_2"):
        apply_lines(world, "add-node SQLFCI1 NODE_2")
    with pytest.raises(InputError, match="move the instance first"):
        apply_lines(world, "remove-node SQLFCI1 NODE_1")
    apply_lines(world, "remove-node SQLFCI1 NODE_2")
    run_until(world, 200)
    assert set(world.instances["SQLFCI1"].installed) == {"NODE_1"}
    apply_lines(world, "add-node SQLFCI1 NODE_2")
    run_until(world, 600)
    assert set(world.instances["SQLFCI1"].installed) == {"NODE_1", "NODE_2"}
    assert all(
        {"NODE_1", "NODE_2"} <= {*resource.owners} for resource in get_role(world, "SQLFCI1").resources
    )
    apply_lines(world, "power-off NODE_1")
    run_until(world, 700)
    assert world.instances["SQLFCI1"].computer == "NODE_2"


def test_a_node_removed_by_setup_owns_nothing_of_the_instance() -> None:
    world = build_fci_lab()
    apply_lines(world, "remove-node SQLFCI1 NODE_2")
    run_until(world, 200)
    assert all("NODE_2" not in resource.owners for resource in get_role(world, "SQLFCI1").resources)
    assert "NODE_2" in world.nodes
    apply_lines(world, "power-off NODE_1")
    run_until(world, 300)
    assert not is_served(world)


def test_a_disk_without_dependency_accepts_no_file() -> None:
    world = build_fci_lab()
    add = r"ALTER DATABASE Sales ADD FILE (NAME = s2, FILENAME = 'X:\s2.ndf')"
    apply_lines(world, "add-drive SQLFCI1 X size_gb=50")
    assert run_sql(world, "SQLFCI1#1", add) == [5184]
    assert "Available Storage" in run_powershell(world, 'Get-ClusterResource "Cluster Disk 3"')
    assert "are not in the same role" in run_powershell(
        world, 'Add-ClusterResourceDependency "SQL Server (SQLFCI1)" "Cluster Disk 3"'
    )
    run_powershell(world, 'Move-ClusterResource "Cluster Disk 3" -Group SQLFCI1')
    assert run_sql(world, "SQLFCI1#1", add) == [5184]
    run_powershell(world, 'Add-ClusterResourceDependency "SQL Server (SQLFCI1)" "Cluster Disk 3"')
    output = run_powershell(world, 'Get-ClusterResourceDependency "SQL Server (SQLFCI1)"')
    assert "[Cluster Disk 3]" in output
    assert run_sql(world, "SQLFCI1#1", add) == []
    assert is_served(world)
    apply_lines(world, "move-role SQLFCI1 NODE_2")
    run_until(world, 60)
    assert is_served(world)
    assert world.availability["Sales"].lost_transactions == 0


def run_powershell(world: World, line: str) -> str:
    apply_lines(world, f"ps NODE_1 {line}")
    events = run_until(world, world.tick / 100 + 0.1)
    return next(str(read_field(event, "output")) for event in events if event.kind == "powershell")


def test_the_service_exists_on_each_node_and_runs_on_one() -> None:
    world = build_fci_lab()
    assert "Running" in run_powershell(world, "Get-Service 'MSSQL$SQLFCI1'")
    apply_lines(world, "move-role SQLFCI1 NODE_2")
    run_until(world, 40)
    assert "Stopped" in run_powershell(world, "Get-Service 'MSSQL$SQLFCI1'")
    assert "Failed to start service" in run_powershell(world, "Restart-Service 'MSSQL$SQLFCI1'")
    assert "NoServiceFoundForGivenName" in run_powershell(world, "Get-Service 'MSSQL$SQLFCI2'")
    run_powershell(world, "Remove-ClusterNode NODE_4")
    assert "NODE_4" not in world.nodes


@pytest.mark.parametrize("drive", ["D", "L"])
def test_a_failed_shared_drive_stops_the_group_until_the_drive_is_mended(drive: str) -> None:
    """SQL Server depends on the disk, which comes online on no node. Earlier, the instance served without the
    disk.
    """
    world = build_fci_lab(1)
    run_until(world, 5)
    apply_lines(world, f"fail-volume SQLFCI1 {drive}")
    run_until(world, 40)
    assert get_role(world, "SQLFCI1").state.value == "Failed"
    assert not is_served(world)
    apply_lines(world, "move-role SQLFCI1 NODE_2")
    run_until(world, 80)
    assert get_role(world, "SQLFCI1").state.value == "Failed"
    apply_lines(world, f"mend-volume SQLFCI1 {drive}", "start-role SQLFCI1")
    run_until(world, 120)
    copy = world.copies["SQLFCI1", "Sales"]
    assert (copy.disk_failed, copy.db_state.name, is_served(world)) == (False, "ONLINE", True)
    assert not any(computer.failed_drives for computer in world.computers.values())
