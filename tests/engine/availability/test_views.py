"""Results of published scripts about a group, at each replica and in each state."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from engine.model import World
from engine.tsql.catalog.shapes import VIEW_SCHEMAS, list_view_columns
from tests.engine.availability.test_intent import run_sql, run_statement
from tests.engine.availability.worlds import apply_lines, build_ag_lab, run_until
from tests.engine.tsql.console import submit_batch

STATES: dict[str, tuple[str, ...]] = {
    "healthy": (),
    "secondary lost": ("power-off NODE_2",),
    "suspended": ("sql NODE_2 ALTER DATABASE Sales SET HADR SUSPEND",),
    "suspended primary": ("sql NODE_1 ALTER DATABASE Sales SET HADR SUSPEND", "cut NODE_1 NODE_3"),
    "no quorum": ("power-off NODE_2", "power-off NODE_3", "power-off FSW"),
}


@cache
def _start_lab() -> World:
    world = build_ag_lab()
    run_until(world, 10)
    return world


@cache
def _build_world(state: str) -> World:
    world = _start_lab().fork()
    apply_lines(world, *STATES[state])
    run_until(world, 50)
    return world


def _query_state(state: str, server: str, text: str) -> list[list[Any]]:
    answer = submit_batch(_build_world(state).fork(), server, text, wait_s=0.1)
    assert answer.numbers == [], answer.texts
    return answer.grids[0]


DASHBOARD = """
SELECT ag.name, ar.replica_server_name, ar.availability_mode_desc, ars.role_desc, ars.operational_state_desc,
    ars.connected_state_desc, ars.synchronization_health_desc
FROM sys.availability_groups AS ag
JOIN sys.availability_replicas AS ar ON ar.group_id = ag.group_id
LEFT JOIN sys.dm_hadr_availability_replica_states AS ars ON ars.replica_id = ar.replica_id
ORDER BY ar.replica_server_name"""
DATABASE_STATES_QUERY = """
SELECT ar.replica_server_name, adc.database_name, drs.is_local, drs.synchronization_state_desc, drs.is_suspended,
    drs.suspend_reason_desc, drs.database_state_desc
FROM sys.dm_hadr_database_replica_states AS drs
JOIN sys.availability_databases_cluster AS adc
    ON drs.group_id = adc.group_id AND drs.group_database_id = adc.group_database_id
JOIN sys.availability_replicas AS ar ON drs.group_id = ar.group_id AND drs.replica_id = ar.replica_id
WHERE adc.database_name = 'Sales' ORDER BY ar.replica_server_name"""
LOCAL_STATES_QUERY = """
SELECT DB_NAME(database_id), synchronization_state_desc, synchronization_health_desc, is_suspended
FROM sys.dm_hadr_database_replica_states WHERE is_local = 1 ORDER BY 1"""
FAILOVER_READINESS_QUERY = """
SELECT ar.replica_server_name, dcs.database_name, dcs.is_failover_ready, dcs.is_database_joined
FROM sys.dm_hadr_database_replica_cluster_states AS dcs
JOIN sys.availability_replicas AS ar ON ar.replica_id = dcs.replica_id
ORDER BY dcs.database_name, ar.replica_server_name"""
READY_REPLICAS_QUERY = """
SELECT ar.replica_server_name FROM sys.availability_replicas AS ar
JOIN sys.dm_hadr_database_replica_cluster_states AS dcs ON dcs.replica_id = ar.replica_id
GROUP BY ar.replica_server_name HAVING MIN(CAST(dcs.is_failover_ready AS int)) = 1 ORDER BY 1"""
RPO_QUERY = """
WITH p AS (SELECT group_database_id, last_commit_time FROM sys.dm_hadr_database_replica_states
           WHERE is_local = 1 AND is_primary_replica = 1),
     s AS (SELECT group_database_id, replica_id, last_commit_time FROM sys.dm_hadr_database_replica_states
           WHERE is_local = 0)
SELECT ar.replica_server_name, DATEDIFF(SECOND, s.last_commit_time, p.last_commit_time)
FROM s JOIN p ON p.group_database_id = s.group_database_id JOIN sys.availability_replicas AS ar
    ON ar.replica_id = s.replica_id
JOIN sys.databases AS d ON d.group_database_id = s.group_database_id WHERE d.name = 'Sales'
ORDER BY ar.replica_server_name"""
RTO_QUERY = """
SELECT ar.replica_server_name, CASE WHEN drs.redo_rate = 0 THEN NULL ELSE drs.redo_queue_size / drs.redo_rate END
FROM sys.dm_hadr_database_replica_states AS drs
JOIN sys.availability_replicas AS ar ON ar.replica_id = drs.replica_id
WHERE drs.redo_rate IS NOT NULL AND DB_NAME(drs.database_id) = 'Sales' AND drs.synchronization_state > 0
ORDER BY 1"""
PRIMARY_QUERY = """
SELECT ag.name, ags.primary_replica, ags.synchronization_health_desc
FROM sys.dm_hadr_availability_group_states AS ags JOIN sys.availability_groups AS ag ON ag.group_id = ags.group_id"""
LISTENER = """
SELECT ag.name, agl.dns_name, agl.port, lip.ip_address, lip.state_desc FROM sys.availability_group_listeners AS agl
JOIN sys.availability_groups AS ag ON ag.group_id = agl.group_id
JOIN sys.availability_group_listener_ip_addresses AS lip ON lip.listener_id = agl.listener_id"""
ROUTING = """
SELECT pri.replica_server_name, rl.routing_priority, sec.replica_server_name, sec.read_only_routing_url
FROM sys.availability_read_only_routing_lists AS rl
JOIN sys.availability_replicas AS pri ON rl.replica_id = pri.replica_id
JOIN sys.availability_replicas AS sec ON rl.read_only_replica_id = sec.replica_id
ORDER BY pri.replica_server_name, rl.routing_priority"""
CLUSTER = "SELECT cluster_name, quorum_type_desc, quorum_state_desc FROM sys.dm_hadr_cluster"
VOTES = "SELECT member_name, member_type_desc, member_state_desc FROM sys.dm_hadr_cluster_members ORDER BY 1"
JOIN_STATE_QUERY = """
SELECT rcs.replica_server_name, rcs.join_state_desc, rcn.node_name
FROM sys.dm_hadr_availability_replica_cluster_states AS rcs
JOIN sys.dm_hadr_availability_replica_cluster_nodes AS rcn ON rcn.replica_server_name = rcs.replica_server_name
ORDER BY 1"""
NAME_MAP_QUERY = """
SELECT m.ag_name, n.instance_name, n.node_name FROM sys.dm_hadr_name_id_map AS m
JOIN sys.dm_hadr_instance_node_map AS n ON n.ag_resource_id = m.ag_resource_id ORDER BY 2"""
PROPERTIES = """SELECT SERVERPROPERTY('IsHadrEnabled'), SERVERPROPERTY('HadrManagerStatus'),
    SERVERPROPERTY('IsClustered'), SERVERPROPERTY('ComputerNamePhysicalNetBIOS')"""
JOB_GUARD = """
IF sys.fn_hadr_is_primary_replica('Sales') = 1 SELECT 'run the job' AS step
ELSE SELECT 'not primary: leave' AS step"""
UNKNOWN_DATABASE_QUERY = (
    "SELECT sys.fn_hadr_is_primary_replica('nowhere'), sys.fn_hadr_is_primary_replica('master')"
)
PREFERRED_BACKUP_QUERY = """SELECT name, sys.fn_hadr_backup_is_preferred_replica(name) FROM sys.databases
    WHERE name IN ('Sales', 'master') ORDER BY name"""
UPDATEABILITY_QUERY = """SELECT name, DATABASEPROPERTYEX(name, 'Updateability'), state_desc FROM sys.databases
    WHERE replica_id IS NOT NULL ORDER BY name"""
SEND_QUEUES = """
SELECT ar.replica_server_name, CASE WHEN drs.log_send_queue_size > 5000 THEN 'behind' ELSE 'near' END
FROM sys.dm_hadr_database_replica_states AS drs
JOIN sys.availability_replicas AS ar ON ar.replica_id = drs.replica_id
WHERE drs.log_send_queue_size IS NOT NULL AND DB_NAME(drs.database_id) = 'Sales' ORDER BY 1"""
LSN_CONTRADICTIONS_QUERY = """
SELECT COUNT(*) FROM sys.dm_hadr_database_replica_states WHERE last_redone_lsn >= last_hardened_lsn
    OR last_hardened_lsn > last_received_lsn OR last_received_lsn > last_sent_lsn OR last_commit_lsn >= end_of_log_lsn
    OR last_commit_lsn >= last_hardened_lsn OR last_hardened_lsn % 100000 <> 1 OR end_of_log_lsn % 100000 <> 1
    OR truncation_lsn > end_of_log_lsn OR truncation_lsn IS NULL OR recovery_lsn IS NULL"""
COMMIT_PARTICIPANTS = """
SELECT ar.replica_server_name, drs.is_commit_participant FROM sys.dm_hadr_database_replica_states AS drs
JOIN sys.availability_replicas AS ar ON ar.replica_id = drs.replica_id
WHERE DB_NAME(drs.database_id) = 'Sales' ORDER BY 1"""
ROLE = (
    "SELECT role_desc, recovery_health_desc FROM sys.dm_hadr_availability_replica_states WHERE is_local = 1"
)
UNGROUPED_DATABASES_QUERY = (
    "SELECT COUNT(*) FROM sys.databases WHERE database_id > 4 AND group_database_id IS NULL"
)
REPAIRS = "SELECT COUNT(*) FROM sys.dm_hadr_auto_page_repair"

P1, P2, P3 = "NODE_1", "NODE_2", "NODE_3"
SYNC, ASYNC = "SYNCHRONOUS_COMMIT", "ASYNCHRONOUS_COMMIT"
ROUTING_LIST_ROWS = [
    [P1, 1, P3, "TCP://NODE_3:1433"], [P1, 2, P1, "TCP://NODE_1:1433"],
    [P2, 1, P3, "TCP://NODE_3:1433"], [P2, 2, P2, "TCP://NODE_2:1433"],
]  # fmt: skip

CASES: list[tuple[str, str, str, list[list[Any]]]] = [
    # state, server, script, rows
    ("healthy", P1, DASHBOARD, [
        ["AG1", P1, SYNC, "PRIMARY", "ONLINE", "CONNECTED", "HEALTHY"],
        ["AG1", P2, SYNC, "SECONDARY", None, "CONNECTED", "HEALTHY"],
        ["AG1", P3, ASYNC, "SECONDARY", None, "CONNECTED", "HEALTHY"]]),
    ("healthy", P2, DASHBOARD, [
        ["AG1", P1, SYNC, None, None, None, None],
        ["AG1", P2, SYNC, "SECONDARY", "ONLINE", "CONNECTED", "HEALTHY"],
        ["AG1", P3, ASYNC, None, None, None, None]]),
    ("secondary lost", P1, DASHBOARD, [
        ["AG1", P1, SYNC, "PRIMARY", "ONLINE", "CONNECTED", "HEALTHY"],
        ["AG1", P2, SYNC, "SECONDARY", None, "DISCONNECTED", "NOT_HEALTHY"],
        ["AG1", P3, ASYNC, "SECONDARY", None, "CONNECTED", "HEALTHY"]]),
    ("no quorum", P1, DASHBOARD,
     [["AG1", P1, SYNC, "RESOLVING", "FAILED_NO_QUORUM", "DISCONNECTED", "NOT_HEALTHY"]]),
    ("healthy", P1, DATABASE_STATES_QUERY, [
        [P1, "Sales", 1, "SYNCHRONIZED", 0, None, "ONLINE"], [P2, "Sales", 0, "SYNCHRONIZED", 0, None, None],
        [P3, "Sales", 0, "SYNCHRONIZING", 0, None, None]]),
    ("healthy", P3, DATABASE_STATES_QUERY, [[P3, "Sales", 1, "SYNCHRONIZING", 0, None, "ONLINE"]]),
    ("suspended", P1, DATABASE_STATES_QUERY, [
        [P1, "Sales", 1, "SYNCHRONIZED", 0, None, "ONLINE"],
        [P2, "Sales", 0, "NOT SYNCHRONIZING", 1, "SUSPEND_FROM_USER", None],
        [P3, "Sales", 0, "SYNCHRONIZING", 0, None, None]]),
    ("suspended", P2, LOCAL_STATES_QUERY,
     [["Orders", "SYNCHRONIZED", "HEALTHY", 0], ["Sales", "NOT SYNCHRONIZING", "NOT_HEALTHY", 1]]),
    # SUSPEND at the primary suspends the connected secondaries. [DOC: resume an availability database]
    ("suspended primary", P1, DATABASE_STATES_QUERY, [
        [P1, "Sales", 1, "NOT SYNCHRONIZING", 1, "SUSPEND_FROM_USER", "ONLINE"],
        [P2, "Sales", 0, "NOT SYNCHRONIZING", 1, "SUSPEND_FROM_PARTNER", None],
        [P3, "Sales", 0, "NOT SYNCHRONIZING", 0, None, None]]),
    ("suspended primary", P2, LOCAL_STATES_QUERY,
     [["Orders", "SYNCHRONIZED", "HEALTHY", 0], ["Sales", "NOT SYNCHRONIZING", "NOT_HEALTHY", 1]]),
    ("no quorum", P1, DATABASE_STATES_QUERY, []),
    ("no quorum", P1, LOCAL_STATES_QUERY,
     [["Orders", "NOT SYNCHRONIZING", "NOT_HEALTHY", 0], ["Sales", "NOT SYNCHRONIZING", "NOT_HEALTHY", 0]]),
    ("healthy", P3, FAILOVER_READINESS_QUERY, [
        [P1, "Orders", 1, 1], [P2, "Orders", 1, 1], [P3, "Orders", 0, 1],
        [P1, "Sales", 1, 1], [P2, "Sales", 1, 1], [P3, "Sales", 0, 1]]),
    ("healthy", P1, READY_REPLICAS_QUERY, [[P1], [P2]]),
    ("secondary lost", P3, READY_REPLICAS_QUERY, [[P1]]),
    ("suspended", P1, READY_REPLICAS_QUERY, [[P1]]),
    ("no quorum", P1, READY_REPLICAS_QUERY, []),
    ("healthy", P1, RPO_QUERY, [[P2, 0], [P3, 0]]),
    ("secondary lost", P1, RPO_QUERY, [[P2, 40], [P3, 0]]),
    ("healthy", P2, RPO_QUERY, []),
    ("healthy", P1, RTO_QUERY, [[P2, 0], [P3, 0]]),
    ("healthy", P3, RTO_QUERY, [[P3, 0]]),
    ("healthy", P1, PRIMARY_QUERY, [["AG1", P1, "HEALTHY"]]),
    ("secondary lost", P3, PRIMARY_QUERY, [["AG1", P1, "HEALTHY"]]),
    ("secondary lost", P1, PRIMARY_QUERY, [["AG1", P1, "PARTIALLY_HEALTHY"]]),
    ("no quorum", P1, PRIMARY_QUERY, [["AG1", None, "NOT_HEALTHY"]]),
    ("healthy", P2, LISTENER, [["AG1", "AGL1", 1433, "10.0.0.202", "ONLINE"]]),
    ("no quorum", P1, LISTENER, []),
    ("healthy", P3, ROUTING, ROUTING_LIST_ROWS),
    ("no quorum", P1, ROUTING, [ROUTING_LIST_ROWS[1]]),
    ("healthy", P3, CLUSTER, [["CLU1", "NODE_AND_FILE_SHARE_MAJORITY", "NORMAL_QUORUM"]]),
    ("no quorum", P1, CLUSTER, []),
    ("secondary lost", P3, VOTES, [
        ["FSW", "FILE_SHARE_WITNESS", "UP"], [P1, "CLUSTER_NODE", "UP"], [P2, "CLUSTER_NODE", "DOWN"],
        [P3, "CLUSTER_NODE", "UP"]]),
    ("no quorum", P1, VOTES, []),
    ("healthy", P2, JOIN_STATE_QUERY, [[name, "JOINED_STANDALONE_INSTANCE", name] for name in (P1, P2, P3)]),
    ("healthy", P2, NAME_MAP_QUERY, [["AG1", name, name] for name in (P1, P2, P3)]),
    ("healthy", P2, PROPERTIES, [[1, 1, 0, P2]]),
    ("no quorum", P1, PROPERTIES, [[1, 0, 0, P1]]),
    ("healthy", P1, JOB_GUARD, [["run the job"]]),
    ("healthy", P2, JOB_GUARD, [["not primary: leave"]]),
    ("no quorum", P1, JOB_GUARD, [["not primary: leave"]]),
    ("healthy", P1, UNKNOWN_DATABASE_QUERY, [[None, None]]),
    ("healthy", P1, PREFERRED_BACKUP_QUERY, [["master", 1], ["Sales", 0]]),
    ("healthy", P2, PREFERRED_BACKUP_QUERY, [["master", 1], ["Sales", 1]]),
    ("healthy", P3, PREFERRED_BACKUP_QUERY, [["master", 1], ["Sales", 0]]),
    ("secondary lost", P3, PREFERRED_BACKUP_QUERY, [["master", 1], ["Sales", 1]]),
    ("no quorum", P1, PREFERRED_BACKUP_QUERY, [["master", 1], ["Sales", 0]]),
    ("healthy", P1, UPDATEABILITY_QUERY, [["Orders", "READ_WRITE", "ONLINE"], ["Sales", "READ_WRITE", "ONLINE"]]),
    ("healthy", P2, UPDATEABILITY_QUERY, [["Orders", "READ_ONLY", "ONLINE"], ["Sales", "READ_ONLY", "ONLINE"]]),
    ("suspended", P1, SEND_QUEUES, [[P2, "behind"], [P3, "near"]]),
    ("secondary lost", P1, SEND_QUEUES, [[P2, "behind"], [P3, "near"]]),
    ("suspended", P2, SEND_QUEUES, []),
    ("healthy", P1, LSN_CONTRADICTIONS_QUERY, [[0]]),
    ("suspended", P1, LSN_CONTRADICTIONS_QUERY, [[0]]),
    ("healthy", P1, COMMIT_PARTICIPANTS, [[P1, 1], [P2, 1], [P3, 0]]),
    ("secondary lost", P1, COMMIT_PARTICIPANTS, [[P1, 0], [P2, 0], [P3, 0]]),
    ("healthy", P3, ROLE, [["SECONDARY", "ONLINE"]]),
    ("no quorum", P1, ROLE, [["RESOLVING", "ONLINE"]]),
    ("healthy", P2, UNGROUPED_DATABASES_QUERY, [[0]]),
    ("healthy", P2, REPAIRS, [[0]]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("state", "server", "script", "rows"), CASES, ids=[f"{n}-{c[0]}-{c[1]}" for n, c in enumerate(CASES)]
)
def test_diagnostic_scripts_read_expected_values_from_the_views(
    state: str, server: str, script: str, rows: list[list[Any]]
) -> None:
    assert _query_state(state, server, script) == rows


@pytest.mark.parametrize("state", STATES)
def test_every_group_view_works_on_every_replica_and_version(state: str) -> None:
    names = [name for name in VIEW_SCHEMAS if name.startswith(("sys.availability_", "sys.dm_hadr_"))]
    for version in (2012, 2014, 2016, 2022):
        for server in (P1, P2, P3):
            world = _build_world(state).fork()
            if not world.instances[server].answering:
                continue
            world.update_instance(server, version=version)
            available_names = [name for name in names if VIEW_SCHEMAS[name].since <= version]
            answer = submit_batch(
                world, server, "; ".join(f"SELECT * FROM {name}" for name in available_names), wait_s=0.5
            )
            assert answer.numbers == []
            assert answer.columns == [
                [c.name for c in list_view_columns(VIEW_SCHEMAS[name], version)] for name in available_names
            ]


def test_a_lost_secondary_retains_the_primarys_log() -> None:
    world = _build_world("secondary lost").fork()
    apply_lines(world, "sql NODE_1 BACKUP LOG Orders TO DISK = 'L:\\Orders.trn'")
    run_until(world, world.tick / 100 + 30)
    query = "SELECT log_reuse_wait, log_reuse_wait_desc FROM sys.databases WHERE name = 'Orders'"
    assert submit_batch(world, P1, query, wait_s=0.1).grids == [[[9, "AVAILABILITY_REPLICA"]]]


COUNTER_QUERY = """SELECT cntr_value FROM sys.dm_os_performance_counters WHERE object_name = 'SQLServer:{} Replica'
    AND counter_name = '{}' AND instance_name = '{}'"""


def _measure_growth(world: World, server: str, script: str) -> float:
    """Return the increase, within ten seconds, of the only value that a script returns."""
    first = submit_batch(world, server, script, wait_s=0.1).value
    run_until(world, world.tick / 100 + 10)
    return float(submit_batch(world, server, script, wait_s=0.1).value - first) / 10.1


def test_counters_show_the_log_flow_to_each_replica() -> None:
    world = _start_lab().fork()
    sent_counter = COUNTER_QUERY.format("Availability", "Bytes Sent to Replica/sec", "AG1:NODE_3")
    log = "SELECT cntr_value FROM sys.dm_os_performance_counters WHERE counter_name = 'Log Bytes Flushed/sec' AND "
    total_growth = _measure_growth(world.fork(), P1, f"{log} instance_name = '_Total'")
    assert _measure_growth(world.fork(), P1, sent_counter) == pytest.approx(total_growth, rel=0.02)
    redone = COUNTER_QUERY.format("Database", "Redone Bytes/sec", "_Total")
    assert _measure_growth(world.fork(), P3, redone) == pytest.approx(total_growth, rel=0.02)
    assert submit_batch(world, P1, redone, wait_s=0.1).value == 0


def test_transaction_delay_is_the_wait_of_the_commits() -> None:
    """HADR_SYNC_COMMIT and Transaction Delay count the same time. Without a synchronous secondary, both stay
    0.
    """
    world = _start_lab().fork()
    delay = COUNTER_QUERY.format("Database", "Transaction Delay", "_Total")
    writes = COUNTER_QUERY.format("Database", "Mirrored Write Transactions/sec", "_Total")
    waits = "SELECT wait_time_ms FROM sys.dm_os_wait_stats WHERE wait_type = 'HADR_SYNC_COMMIT'"
    in_ms = _measure_growth(world.fork(), P1, delay)
    assert _measure_growth(world.fork(), P1, waits) == pytest.approx(in_ms, rel=0.02)
    source = world.copies[P1, "Sales"].source
    assert source is not None
    ms_per_write = in_ms / _measure_growth(world.fork(), P1, writes)
    assert ms_per_write == pytest.approx(world.flow.read_source(source).commit_delay_ms, rel=0.05)
    assert submit_batch(world, P3, waits, wait_s=0.1).value == 0


def test_stalled_commits_have_their_waits_and_finite_lags() -> None:
    """Earlier, lags were divided by a log rate near zero. This gave error 8115 and a commit time of now."""
    world = build_ag_lab(version=2017)
    run_until(world, 10)
    apply_lines(
        world, f"sql {P1} ALTER AVAILABILITY GROUP AG1 SET (REQUIRED_SYNCHRONIZED_SECONDARIES_TO_COMMIT = 1)"
    )
    run_until(world, 12)
    apply_lines(world, f"power-off {P2}")
    run_until(world, 80)
    states = "SELECT {} FROM sys.dm_hadr_database_replica_states WHERE database_id = 5 ORDER BY 1"
    lags = submit_batch(world, P1, states.format("secondary_lag_seconds"), wait_s=0.1).grids[0]
    assert lags == [[None], [0], [pytest.approx(68, abs=5)]]
    times = submit_batch(
        world, P1, states.format("DATEDIFF(SECOND, last_commit_time, SYSDATETIME())"), wait_s=0.1
    ).grids[0]
    assert times == [[pytest.approx(68, abs=2)]] * 3
    waiting = "SELECT COUNT(*) FROM sys.{} WHERE wait_type = 'HADR_SYNC_COMMIT' AND {} > 60000"
    for view, column in (("dm_exec_requests", "wait_time"), ("dm_os_waiting_tasks", "wait_duration_ms")):
        assert int(submit_batch(world, P1, waiting.format(view, column), wait_s=0.1).value) > 400
    apply_lines(
        world, f"sql {P1} ALTER AVAILABILITY GROUP AG1 SET (REQUIRED_SYNCHRONIZED_SECONDARIES_TO_COMMIT = 0)"
    )
    run_until(world, 100)
    assert submit_batch(world, P1, waiting.format("dm_exec_requests", "wait_time"), wait_s=0.1).value == 0


def test_the_lag_of_a_suspended_secondary_remains_after_the_workload_has_stopped() -> None:
    world = build_ag_lab(version=2017)
    run_until(world, 10)
    apply_lines(world, f"sql {P2} ALTER DATABASE Sales SET HADR SUSPEND")
    run_until(world, 40)
    apply_lines(world, "workload Sales none")
    run_until(world, 100)
    lag = "SELECT secondary_lag_seconds FROM sys.dm_hadr_database_replica_states WHERE database_id = 5 ORDER BY 1"
    assert submit_batch(world, P1, lag, wait_s=0.1).grids[0] == [[None], [0], [pytest.approx(70, abs=25)]]


def test_values_without_a_source_are_null() -> None:
    world = _start_lab().fork()
    answer = submit_batch(
        world, P1, COUNTER_QUERY.format("Availability", "Flow Control/sec", "_Total"), wait_s=0.1
    )
    assert answer.value is None
    assert answer.texts[0].startswith("Not simulated")
    wait = "SELECT wait_time_ms FROM sys.dm_os_wait_stats WHERE wait_type = 'HADR_TRANSPORT_FLOW_CONTROL'"
    assert submit_batch(world, P1, wait, wait_s=0.1).value is None


@pytest.mark.parametrize(("state", "state_desc"), [("healthy", "clean"), ("no quorum", "unknown")])
def test_diagnostics_name_the_group_and_the_components(state: str, state_desc: str) -> None:
    answer = submit_batch(_build_world(state).fork(), P1, "EXEC sp_server_diagnostics", wait_s=0.1)
    assert [row[2:5] for row in answer.grids[0]] == [
        ["system", 1, "clean"],
        ["resource", 1, "clean"],
        ["query_processing", 1, "clean"],
        ["io_subsystem", 1, "clean"],
        ["events", 0, "unknown"],
        ["AG1", int(state_desc == "clean"), state_desc],
    ]
    repeated = submit_batch(_build_world(state).fork(), P1, "EXEC sp_server_diagnostics 5", wait_s=0.1)
    assert repeated.texts == ["Not simulated: sp_server_diagnostics with a repeat interval"]


def test_the_last_report_of_a_lost_secondary_ages_with_the_clock() -> None:
    """A higher load after the loss lengthens the queue, but does not age the last commit on the secondary."""
    world = _build_world("secondary lost").fork()
    apply_lines(world, "workload Sales Workload1 scale=3")
    run_until(world, 80)
    assert submit_batch(world, P1, RPO_QUERY, wait_s=0.1).grids[0][0] == [P2, 70]


def test_versions_before_2012_have_no_option_for_groups() -> None:
    world = _start_lab().fork()
    world.update_instance(P1, version=2008)
    assert submit_batch(world, P1, "SELECT SERVERPROPERTY('IsHadrEnabled')", wait_s=0.1).value is None


def test_alwayson_health_runs_on_instances_with_a_replica() -> None:
    world = build_ag_lab()
    query = (
        "SELECT d.name, d.startup_state, x.name FROM sys.server_event_sessions d "
        "LEFT JOIN sys.dm_xe_sessions x ON x.name = d.name ORDER BY d.name"
    )
    sessions = [["AlwaysOn_health", 1, "AlwaysOn_health"], ["system_health", 1, "system_health"]]
    assert run_statement(world, "NODE_1", query)["results"][0]["rows"] == sessions
    events = "SELECT name FROM sys.server_event_session_events WHERE name LIKE '%lease%'"
    assert run_statement(world, "NODE_1", events)["results"][0]["rows"] == [
        ["availability_group_lease_expired"]
    ]
    assert run_sql(world, "NODE_1", "DROP AVAILABILITY GROUP AG1") == []
    assert run_statement(world, "NODE_1", query)["results"][0]["rows"] == [
        ["AlwaysOn_health", 0, None],
        sessions[1],
    ]


@pytest.mark.parametrize(
    ("fault", "at_s", "number", "ago_s"),
    [
        ("", 30, None, None),
        ("stop-service NODE_2", 12, 10061, 0),  # no process listens on the port
        ("power-off NODE_2", 30, 10060, 0),  # the computer does not answer
        ("hang NODE_2", 13, 35206, 2),  # after the session timeout
    ],
)
def test_the_reason_of_a_lost_or_unreachable_secondary_is_shown(
    fault: str, at_s: float, number: int | None, ago_s: int | None
) -> None:
    world = _start_lab().fork()
    apply_lines(world, *([fault] if fault else []))
    run_until(world, 10 + at_s)
    text = """SELECT last_connect_error_number, DATEDIFF(SECOND, last_connect_error_timestamp, GETDATE()),
        CHARINDEX('NODE_2', last_connect_error_description) FROM sys.dm_hadr_availability_replica_states AS s
        JOIN sys.availability_replicas AS r ON r.replica_id = s.replica_id WHERE replica_server_name = 'NODE_2'"""
    [[value, seconds, place]] = submit_batch(world, "NODE_1", text, wait_s=0.1).grids[0]
    assert value == number
    assert seconds is None or abs(seconds - (ago_s or 0)) <= 1
    assert (place or 0) > 0 if number == 35206 else not place


@pytest.mark.parametrize("state", ["healthy", "no quorum"])
def test_a_replica_keeps_its_number_and_reads_the_rest_from_the_cluster(state: str) -> None:
    """Check documented behavior: [DOC: sys.availability_replicas]."""
    text = """SELECT replica_server_name, replica_metadata_id, endpoint_url, DATALENGTH(owner_sid)
        FROM sys.availability_replicas ORDER BY 1"""
    rows = {row[0]: row[1:] for row in _query_state(state, "NODE_1", text)}
    url = "TCP://NODE_{}:5022".format
    if state == "no quorum":
        assert rows == {"NODE_1": [65536, None, 1]}
    else:
        assert rows == {
            "NODE_1": [65536, url(1), 1],
            "NODE_2": [None, url(2), None],
            "NODE_3": [None, url(3), None],
        }


def test_the_start_of_a_replica_names_the_number_of_its_group() -> None:
    world = _start_lab().fork()
    apply_lines(world, "restart-service NODE_2")
    run_until(world, 40)
    skipped = [line[4] for line in world.errorlog["NODE_2"] if line[1] == 35262 and line[0] > 1000]
    assert [text.partition("Group ID:")[2].partition(")")[0].strip() for text in skipped] == ["65536"] * 2


def test_the_views_agree_while_a_primary_goes_offline_and_comes_back() -> None:
    """A primary that comes online is PENDING, and a secondary without its connection does not synchronize.

    [DOC: database replica states]
    """
    world = _start_lab().fork()
    apply_lines(world, "move-role AG1 NODE_3")  # NODE_3 is no automatic target: NODE_1 becomes primary again
    text = """SELECT s.role_desc, s.operational_state_desc, s.connected_state, MAX(d.synchronization_state)
        FROM sys.dm_hadr_availability_replica_states s JOIN sys.dm_hadr_database_replica_states d
        ON d.replica_id = s.replica_id WHERE s.is_local = 1
        GROUP BY s.role_desc, s.operational_state_desc, s.connected_state"""
    seen: dict[str, set[tuple[object, ...]]] = {"NODE_1": set(), "NODE_2": set()}
    for _ in range(24):
        run_until(world, world.t_s + 0.5)
        for server, rows in seen.items():
            rows.update(tuple(row) for row in submit_batch(world.fork(), server, text, wait_s=0.1).grids[0])
    assert {row[:2] for row in seen["NODE_1"]} >= {
        ("RESOLVING", "OFFLINE"),
        ("PRIMARY", "PENDING"),
        ("PRIMARY", "ONLINE"),
    }
    assert not [row for rows in seen.values() for row in rows if not row[2] and row[3]]
