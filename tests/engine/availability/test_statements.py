"""Statements about availability groups by role and state of the replica: message numbers and effects."""

from __future__ import annotations

from functools import cache

import pytest

from engine import tsql
from engine.model import DbState, ReplicaWord, SyncState, World
from tests.engine.availability.test_intent import run_sql, run_statement
from tests.engine.availability.worlds import apply_lines, build_ag_lab, list_primaries, run_until
from tests.engine.tsql.console import Answer, run_seconds

ALTER_AG1 = "ALTER AVAILABILITY GROUP AG1 "
ENDPOINT_URL_OPTION = "ENDPOINT_URL = N'TCP://NODE_3:5022'"


@cache
def build_settled_world() -> World:
    world = build_ag_lab()
    run_until(world, 20)
    return world


@cache
def lose_quorum() -> World:
    world = build_settled_world().fork()
    apply_lines(world, "power-off NODE_2", "power-off NODE_3")
    run_until(world, 50)
    return world


@cache
def force_quorum() -> World:
    world = lose_quorum().fork()
    apply_lines(world, "stop-cluster NODE_1", "force-quorum NODE_1")
    run_until(world, 60)
    return world


@cache
def take_group_offline() -> World:
    world = build_settled_world().fork()
    apply_lines(world, "stop-role AG1")
    run_until(world, 30)
    return world


def run_batch(world: World, server: str, text: str, wait_s: float = 0.1) -> list[int]:
    """Return the message numbers of a batch on *server*, in order."""
    apply_lines(world, f"sql {server} {' '.join(text.split())}")
    events = run_seconds(world, wait_s)
    while not any(event.kind == "sql_done" for event in events):
        events = run_seconds(world, 1.0)
    answer = next(Answer(event) for event in events if event.kind == "sql_done")
    return answer.numbers


# Statement -> message number, or 0, at six replicas: primary, synchronous secondary, asynchronous secondary,
# replica of an offline group, replica without quorum, replica with forced quorum. [DOC: ALTER AVAILABILITY
# GROUP]
MATRIX = [
    ("FAILOVER", 41122, 0, 41142, 41142, 35220, 41125),
    ("FORCE_FAILOVER_ALLOW_DATA_LOSS", 41122, 0, 0, 0, 35220, 0),
    ("SET (FAILURE_CONDITION_LEVEL = 2)", 0, 41140, 41140, 41190, 35220, 41190),
    ("SET (FAILURE_CONDITION_LEVEL = 6)", 35228, 41140, 41140, 41190, 35220, 41190),
    ("SET (HEALTH_CHECK_TIMEOUT = 14999)", 35229, 41140, 41140, 41190, 35220, 41190),
    ("SET (AUTOMATED_BACKUP_PREFERENCE = SECONDARY_ONLY)", 0, 41140, 41140, 41190, 35220, 41190),
    ("SET (DB_FAILOVER = ON)", 102, 102, 102, 102, 102, 102),
    ("MODIFY REPLICA ON N'NODE_3' WITH (SESSION_TIMEOUT = 4)", 35214, 41140, 41140, 41190, 35220, 41190),
    ("MODIFY REPLICA ON N'NODE_3' WITH (BACKUP_PRIORITY = 101)", 35209, 41140, 41140, 41190, 35220, 41190),
    (
        "MODIFY REPLICA ON N'NODE_3' WITH (FAILOVER_MODE = AUTOMATIC)",
        35211,
        41140,
        41140,
        41190,
        35220,
        41190,
    ),
    ("MODIFY REPLICA ON N'NODE_9' WITH (BACKUP_PRIORITY = 1)", 35210, 41140, 41140, 41190, 35220, 41190),
    ("MODIFY REPLICA ON N'NODE_3' WITH (ENDPOINT_URL = N'NODE_3')", 35232, 41140, 41140, 41190, 35220, 41190),
    ("ADD DATABASE Nowhere", 35238, 41140, 41140, 41190, 35220, 41190),
    ("ADD DATABASE Sales", 35280, 41140, 41140, 41190, 35220, 41190),
    ("ADD DATABASE msdb", 35249, 41140, 41140, 41190, 35220, 41190),
    ("REMOVE DATABASE Nowhere", 41073, 41140, 41140, 41190, 35220, 41190),
    ("REMOVE DATABASE Orders", 0, 41140, 41140, 41190, 35220, 41190),
    (f"ADD REPLICA ON N'NODE_3' WITH ({ENDPOINT_URL_OPTION})", 35282, 41140, 41140, 41190, 35220, 41190),
    ("REMOVE REPLICA ON N'NODE_1'", 35284, 41140, 41140, 41190, 35220, 41190),
    ("REMOVE REPLICA ON N'NODE_9'", 35283, 41140, 41140, 41190, 35220, 41190),
    ("REMOVE REPLICA ON N'NODE_3'", 0, 41140, 41140, 41190, 35220, 41190),
    ("JOIN", 41106, 41106, 41106, 41106, 35220, 41106),
    ("OFFLINE", 0, 41140, 41140, 41190, 35220, 41190),
    ("ADD LISTENER N'L2' (WITH IP ((N'10.0.0.9', N'255.0.0.0')))", 19477, 41140, 41140, 41190, 35220, 41190),
    ("MODIFY LISTENER N'AGL1' (PORT = 0)", 19482, 41140, 41140, 41190, 35220, 41190),
    ("RESTART LISTENER N'other'", 19469, 41140, 41140, 41190, 35220, 41190),
    ("REMOVE LISTENER N'AGL1'", 0, 41140, 41140, 41190, 35220, 41190),
]
SITUATIONS = [
    (build_settled_world, "NODE_1"),
    (build_settled_world, "NODE_2"),
    (build_settled_world, "NODE_3"),
    (take_group_offline, "NODE_3"),
    (lose_quorum, "NODE_1"),
    (force_quorum, "NODE_1"),
]


@pytest.mark.parametrize("row", MATRIX, ids=lambda row: row[0])
def test_each_statement_is_checked_per_role(row: tuple[str, *tuple[int, ...]]) -> None:
    statement, *expected = row
    replies = [run_batch(world().fork(), server, ALTER_AG1 + statement) for world, server in SITUATIONS]
    assert replies == [[number] if number else [] for number in expected]


DATABASE_STATEMENTS = [
    ("SET HADR SUSPEND", 0, 0, 35239, 35220),
    ("SET HADR RESUME", 0, 0, 35239, 35220),
    ("SET HADR OFF", 35240, 0, 0, 0),
    ("SET HADR AVAILABILITY GROUP = AG1", 35240, 41145, 41145, 35220),
    ("SET HADR AVAILABILITY GROUP = AG9", 15151, 15151, 15151, 35220),
]


@pytest.mark.parametrize("row", DATABASE_STATEMENTS, ids=lambda row: row[0])
def test_each_statement_is_checked_per_copy(row: tuple[str, *tuple[int, ...]]) -> None:
    statement, *expected = row
    places = [
        (build_settled_world, "NODE_1"),
        (build_settled_world, "NODE_3"),
        (take_group_offline, "NODE_3"),
        (lose_quorum, "NODE_1"),
    ]
    replies = [
        run_batch(world().fork(), server, f"ALTER DATABASE Sales {statement}") for world, server in places
    ]
    assert replies == [[number] if number else [] for number in expected]


def test_group_statements_run_only_in_master_and_outside_transactions() -> None:
    world = build_settled_world().fork()
    assert run_batch(world, "NODE_1", f"USE Sales; {ALTER_AG1}OFFLINE") == [35208]
    assert run_batch(world, "NODE_2", f"USE master BEGIN TRAN; {ALTER_AG1}FAILOVER") == [226]


def test_a_replica_becomes_asynchronous_and_synchronized_again() -> None:
    world = build_settled_world().fork()
    mode = f"{ALTER_AG1}MODIFY REPLICA ON 'NODE_2' WITH (AVAILABILITY_MODE = ASYNCHRONOUS_COMMIT)"
    assert run_batch(world, "NODE_1", mode) == [35211]  # the replica has automatic failover
    assert (
        run_batch(world, "NODE_1", f"{ALTER_AG1}MODIFY REPLICA ON 'NODE_2' WITH (FAILOVER_MODE = MANUAL)")
        == []
    )
    assert run_batch(world, "NODE_1", mode) == []
    assert world.copies["NODE_1", "Sales"].availability.get_peer_state("NODE_2") is SyncState.SYNCHRONIZING
    assert run_batch(world, "NODE_2", f"{ALTER_AG1}FAILOVER") == [41142]
    synchronous_mode = mode.replace("ASYNCHRONOUS", "SYNCHRONOUS")
    assert run_batch(world, "NODE_1", synchronous_mode, 5) == []
    assert run_batch(world, "NODE_2", f"{ALTER_AG1}FAILOVER", 20) == []
    assert list_primaries(world) == ["NODE_2"]


def test_a_database_leaves_and_joins_again() -> None:
    world = build_settled_world().fork()
    assert run_batch(world, "NODE_2", "ALTER DATABASE Orders SET HADR OFF") == []
    assert world.copies["NODE_2", "Orders"].db_state is DbState.RESTORING
    assert run_batch(world, "NODE_2", f"{ALTER_AG1}FAILOVER") == [41142]
    assert run_batch(world, "NODE_2", "ALTER DATABASE Orders SET HADR AVAILABILITY GROUP = AG1", 10) == []
    assert world.copies["NODE_2", "Orders"].availability.state is SyncState.SYNCHRONIZED
    assert run_batch(world, "NODE_2", f"{ALTER_AG1}FAILOVER", 20) == []
    assert list_primaries(world) == ["NODE_2"]


def test_a_database_joins_again_only_before_the_next_log_backup() -> None:
    """The copy has all log up to the time when it left the group. Derived from the log chain."""
    world = build_settled_world().fork()
    join = "ALTER DATABASE Orders SET HADR AVAILABILITY GROUP = AG1"
    run_batch(world, "NODE_1", "BACKUP LOG Orders TO DISK = 'NUL'", 5)
    assert run_batch(world, "NODE_2", "ALTER DATABASE Orders SET HADR OFF", 1) == []
    assert run_batch(world, "NODE_2", join, 5) == []
    assert run_batch(world, "NODE_2", "ALTER DATABASE Orders SET HADR OFF", 1) == []
    run_batch(world, "NODE_1", "BACKUP LOG Orders TO DISK = 'NUL'", 5)
    assert run_batch(world, "NODE_2", join, 5) == [1412]


def test_a_replica_is_removed_and_added_again() -> None:
    world = build_settled_world().fork()
    assert run_batch(world, "NODE_1", f"{ALTER_AG1}REMOVE REPLICA ON 'NODE_2'", 1) == []
    assert world.copies["NODE_2", "Sales"].db_state is DbState.RESTORING
    assert run_batch(world, "NODE_2", f"{ALTER_AG1}JOIN") == [41041, 41158]
    options = "AVAILABILITY_MODE = SYNCHRONOUS_COMMIT, FAILOVER_MODE = AUTOMATIC"
    assert run_batch(world, "NODE_1", f"{ALTER_AG1}ADD REPLICA ON 'NODE_2' WITH ({options})") == [35236]
    url = "ENDPOINT_URL = 'TCP://NODE_2:5022'"
    assert run_batch(world, "NODE_1", f"{ALTER_AG1}ADD REPLICA ON 'NODE_2' WITH ({options}, {url})") == []
    assert run_batch(world, "NODE_2", "ALTER DATABASE Sales SET HADR AVAILABILITY GROUP = AG1") == [15151]
    assert run_batch(world, "NODE_2", f"{ALTER_AG1}JOIN", 5) == []
    for database in ("Sales", "Orders"):
        assert (
            run_batch(world, "NODE_2", f"ALTER DATABASE {database} SET HADR AVAILABILITY GROUP = AG1", 10)
            == []
        )
    apply_lines(world, "power-off NODE_1")
    run_until(world, world.t_s + 40)
    assert list_primaries(world) == ["NODE_2"]


def test_dropping_the_group_on_the_primary_keeps_its_databases() -> None:
    world = build_settled_world().fork()
    assert run_batch(world, "NODE_1", "DROP AVAILABILITY GROUP AG1", 2) == []
    assert [world.copies[f"NODE_{n}", "Sales"].db_state for n in (1, 2, 3)] == [
        DbState.ONLINE, DbState.RESTORING, DbState.RESTORING,
    ]  # fmt: skip
    assert not world.replicas
    assert "AGL1" not in world.listeners
    assert run_batch(world, "NODE_1", f"{ALTER_AG1}FAILOVER") == [15151]


def test_dropping_the_group_on_a_secondary_stops_service() -> None:
    world = build_settled_world().fork()
    assert run_batch(world, "NODE_2", "DROP AVAILABILITY GROUP AG1", 2) == []
    assert {copy.db_state for copy in world.copies.values()} == {DbState.RESTORING}


CREATE = """CREATE AVAILABILITY GROUP [AG2] FOR DATABASE [Sales], [Orders]
REPLICA ON N'NODE_1' WITH (ENDPOINT_URL = N'TCP://NODE_1:5022', FAILOVER_MODE = AUTOMATIC,
    AVAILABILITY_MODE = SYNCHRONOUS_COMMIT),
N'NODE_2' WITH (ENDPOINT_URL = N'TCP://NODE_2:5022', AVAILABILITY_MODE = SYNCHRONOUS_COMMIT, FAILOVER_MODE = AUTOMATIC,
    SECONDARY_ROLE(ALLOW_CONNECTIONS = ALL))"""


def test_a_new_group_is_created_and_fails_over() -> None:
    world = build_settled_world().fork()
    assert run_batch(world, "NODE_1", CREATE) == [35244]
    assert run_batch(world, "NODE_1", "DROP AVAILABILITY GROUP AG1", 2) == []
    assert run_batch(world, "NODE_2", CREATE.replace("NODE_2", "NODE_3")) == [35237]
    assert run_batch(world, "NODE_1", CREATE.replace("[Sales]", "[Orders]")) == [35234]
    assert run_batch(world, "NODE_1", CREATE, 6) == []
    assert list_primaries(world) == ["NODE_1"]
    assert run_batch(world, "NODE_1", CREATE) == [41042]
    (guid,) = {guid for _, guid in world.replicas}
    assert world.replicas["NODE_1", guid].word is ReplicaWord.PRIMARY_NORMAL
    assert run_batch(world, "NODE_2", "ALTER AVAILABILITY GROUP [AG2] JOIN", 5) == []
    for database in ("Sales", "Orders"):
        assert (
            run_batch(world, "NODE_2", f"ALTER DATABASE {database} SET HADR AVAILABILITY GROUP = [AG2]", 10)
            == []
        )
    listener = "ADD LISTENER N'L2' (WITH IP ((N'10.0.0.50', N'255.255.255.0')), PORT = 1433)"
    assert run_batch(world, "NODE_1", f"ALTER AVAILABILITY GROUP AG2 {listener}", 3) == []
    assert world.listeners["L2"] == "NODE_1"
    assert run_batch(world, "NODE_2", "ALTER AVAILABILITY GROUP AG2 FAILOVER", 20) == []
    assert list_primaries(world) == ["NODE_2"]
    assert world.listeners["L2"] == "NODE_2"


UNSIMULATED_OPTIONS = [
    # version, option of CREATE AVAILABILITY GROUP, option of the replica
    (2017, "WITH (CLUSTER_TYPE = NONE) FOR", ""),
    (2017, "WITH (CLUSTER_TYPE = EXTERNAL) FOR", ""),
    (2022, "WITH (CONTAINED) FOR", ""),
    (2022, "WITH (CONTAINED, REUSE_SYSTEM_DATABASES) FOR", ""),
    (2019, "WITH (WRITE_LEASE_VALIDITY = 20) FOR", ""),
    (2017, "FOR", ", AVAILABILITY_MODE = SYNCHRONOUS_COMMIT, FAILOVER_MODE = EXTERNAL"),
    (2017, "FOR", ", AVAILABILITY_MODE = CONFIGURATION_ONLY"),
]


@pytest.mark.parametrize(("version", "head", "option"), UNSIMULATED_OPTIONS)
def test_unsimulated_options_are_refused_by_name_without_an_effect(
    version: int, head: str, option: str
) -> None:
    url = "ENDPOINT_URL = 'TCP://NODE_1:5022'"
    modes = option or ", AVAILABILITY_MODE = SYNCHRONOUS_COMMIT, FAILOVER_MODE = MANUAL"
    create = f"CREATE AVAILABILITY GROUP AG2 {head} REPLICA ON 'NODE_1' WITH ({url}{modes})"
    world = build_ag_lab(version=version)
    messages = run_statement(world, "NODE_1", create)["messages"]
    assert [message["text"][:14] for message in messages] == ["Not simulated:"]
    assert all(len(node.config.groups) == 1 for node in world.nodes.values())
    assert run_sql(build_ag_lab(version=2014), "NODE_1", create) == [102]


def test_display_only_options_are_stored() -> None:
    world = build_ag_lab(version=2019)
    assert run_batch(world, "NODE_1", f"{ALTER_AG1}SET (DTC_SUPPORT = PER_DB)") == []
    assert run_batch(world, "NODE_1", f"{ALTER_AG1}SET (CLUSTER_TYPE = WSFC)") == [102]
    url = "PRIMARY_ROLE (READ_WRITE_ROUTING_URL = 'TCP://NODE_2:1433')"
    assert run_batch(world, "NODE_1", f"{ALTER_AG1}MODIFY REPLICA ON 'NODE_2' WITH ({url})") == []
    query = (
        "SELECT g.dtc_support, r.read_write_routing_url FROM sys.availability_groups g "
        "JOIN sys.availability_replicas r ON r.group_id = g.group_id WHERE r.replica_server_name = 'NODE_2'"
    )
    assert run_statement(world, "NODE_3", query)["results"][0]["rows"] == [[1, "TCP://NODE_2:1433"]]


# related statement -> message numbers at the primary, at a readable secondary, and at a suspended secondary
RELATED_STATEMENTS = [
    ("BACKUP DATABASE Orders TO DISK = 'D:\\o.bak'", [], [3059, 3013], [3059, 3013]),
    ("BACKUP DATABASE Orders TO DISK = 'D:\\o.bak' WITH COPY_ONLY", [], [], [976, 3013]),
    (
        "BACKUP DATABASE Orders TO DISK = 'D:\\o.bak' WITH DIFFERENTIAL",
        [3035, 3013],
        [3059, 3013],
        [3059, 3013],
    ),
    ("BACKUP LOG Orders TO DISK = 'D:\\o.trn'", [], [], [976, 3013]),
    ("BACKUP LOG Orders TO DISK = 'D:\\o.trn' WITH COPY_ONLY", [], [3059, 3013], [3059, 3013]),
    ("RESTORE DATABASE Orders WITH RECOVERY", [3104, 3013], [3104, 3013], [3104, 3013]),
    ("DROP DATABASE Orders", [3752], [3752], [3752]),
    ("ALTER DATABASE Orders SET RECOVERY SIMPLE", [1468, 5069], [1468, 5069], [1468, 5069]),
    ("ALTER DATABASE Orders SET OFFLINE", [1468, 5069], [1468, 5069], [1468, 5069]),
    ("USE Orders", [], [], []),
    ("USE Orders CREATE TABLE t (a int)", [], [3906], [3906]),
]


@pytest.mark.parametrize("row", RELATED_STATEMENTS, ids=lambda row: row[0])
def test_results_of_related_statements_depend_on_role_and_state(
    row: tuple[str, list[int], list[int], list[int]],
) -> None:
    statement, *expected = row
    suspended = build_settled_world().fork()
    run_batch(suspended, "NODE_3", "ALTER DATABASE Orders SET HADR SUSPEND")
    places = [
        (build_settled_world().fork(), "NODE_1"),
        (build_settled_world().fork(), "NODE_3"),
        (suspended, "NODE_3"),
    ]
    replies = [run_batch(world, server, statement, 600) for world, server in places]
    assert [[number for number in reply if number not in (3014, 4035, 5701)] for reply in replies] == expected


def test_the_log_backup_chain_spans_the_replicas() -> None:
    world = build_settled_world().fork()
    assert run_batch(world, "NODE_3", "BACKUP LOG Orders TO DISK = 'D:\\o.trn'", 60)[-1] == 3014
    copies = [world.copies[server, "Orders"] for server in ("NODE_1", "NODE_3")]
    assert copies[0].last_log_backup_kb == copies[1].last_log_backup_kb


def list_error_log_numbers(world: World, server: str, first_tick: int) -> list[int]:
    """Return the numbers of error log lines since a tick; consecutive equal numbers count once."""
    numbers = [line[1] for line in world.errorlog[server] if line[0] >= first_tick]
    return [number for place, number in enumerate(numbers) if not place or numbers[place - 1] != number]


def test_the_errorlog_of_a_planned_failover_is_complete() -> None:
    world = build_settled_world().fork()
    start_tick = world.tick
    assert run_batch(world, "NODE_2", f"{ALTER_AG1}FAILOVER", 30) == []
    assert list_error_log_numbers(world, "NODE_1", start_tick) == [
        41075, 19420, 19406, 1480, 35299, 26070, 19406, 1480, 35202, 35278, 17137, 35266, 35278, 17137, 35266,
    ]  # fmt: skip
    assert list_error_log_numbers(world, "NODE_2", start_tick) == [
        19406, 1480, 41074, 19406, 1480, 3421, 26069, 35202, 35266, 35202, 35266,
    ]  # fmt: skip
    assert (
        'The availability group database "Sales" is changing roles from "PRIMARY" to "RESOLVING"'
        in " ".join(line[4] for line in world.errorlog["NODE_1"])
    )


def test_the_errorlog_covers_lost_quorum_and_a_suspended_copy() -> None:
    world = lose_quorum()
    assert list_error_log_numbers(world, "NODE_1", 2_500) == [41048, 41092, 41050, 19406, 1480]
    world = build_settled_world().fork()
    start_tick = world.tick
    run_batch(world, "NODE_3", f"{ALTER_AG1}FORCE_FAILOVER_ALLOW_DATA_LOSS", 30)
    assert list_error_log_numbers(world, "NODE_2", start_tick) == [19406, 1480, 19406, 1480, 35202, 35264]
    run_batch(world, "NODE_2", "ALTER DATABASE Orders SET HADR RESUME", 5)
    assert list_error_log_numbers(world, "NODE_2", start_tick)[6:8] == [35265, 35266]


WIZARD_SCRIPT = """:Connect NODE_1
USE [master]
GO
CREATE AVAILABILITY GROUP [AG2]
WITH (AUTOMATED_BACKUP_PREFERENCE = SECONDARY)
FOR DATABASE [Sales]
REPLICA ON N'NODE_1' WITH (ENDPOINT_URL = N'TCP://NODE_1.corp.local:5022', FAILOVER_MODE = AUTOMATIC,
    AVAILABILITY_MODE = SYNCHRONOUS_COMMIT, BACKUP_PRIORITY = 50, SECONDARY_ROLE(ALLOW_CONNECTIONS = NO)),
N'NODE_2' WITH (ENDPOINT_URL = N'TCP://NODE_2.corp.local:5022', FAILOVER_MODE = AUTOMATIC,
    AVAILABILITY_MODE = SYNCHRONOUS_COMMIT, BACKUP_PRIORITY = 50, SECONDARY_ROLE(ALLOW_CONNECTIONS = NO));
GO
ALTER AVAILABILITY GROUP [AG2] ADD LISTENER N'AGL' (WITH IP ((N'10.0.0.88', N'255.255.255.0')), PORT=1433);
GO
:Connect NODE_2
ALTER AVAILABILITY GROUP [AG2] JOIN;
GO
WAITFOR DELAY '00:00:10'
ALTER DATABASE [Sales] SET HADR AVAILABILITY GROUP = [AG2];
GO
"""


def test_a_script_of_the_wizard_runs() -> None:
    world = build_settled_world().fork()
    assert run_batch(world, "NODE_1", "DROP AVAILABILITY GROUP AG1", 2) == []
    tsql.submit_text(world, "NODE_1", WIZARD_SCRIPT)
    run_until(world, world.t_s + 60)
    assert list_primaries(world) == ["NODE_1"]
    assert world.copies["NODE_2", "Sales"].availability.state is SyncState.SYNCHRONIZED
    assert world.listeners["AGL"] == "NODE_1"


# --- rights of NT AUTHORITY\SYSTEM, event sessions ---------------------------------------------------------


def test_a_target_without_cluster_permissions_does_not_become_primary() -> None:
    world = build_ag_lab(version=2017)
    system = "NT AUTHORITY\\SYSTEM"
    assert run_sql(world, "NODE_2#1", f"REVOKE VIEW SERVER STATE FROM [{system}]") == []
    query = (
        "SELECT COUNT(*) FROM sys.server_permissions s JOIN sys.server_principals p "
        f"ON p.principal_id = s.grantee_principal_id WHERE p.name = '{system}'"
    )
    assert run_statement(world, "NODE_2#1", query)["results"][0]["rows"] == [[2]]
    assert run_statement(world, "NODE_1#1", query)["results"][0]["rows"] == [[3]]
    apply_lines(world, "power-off NODE_1")
    run_until(world, 60)
    assert list_primaries(world) == []
    assert "[hadrag] Failed to run diagnostics command" in str(world.clusterlog["NODE_2"])
    assert run_sql(world, "NODE_2#1", "ALTER AVAILABILITY GROUP AG1 FAILOVER") == [41104]
    run_until(world, 80)
    assert list_primaries(world) == []
    assert run_sql(world, "NODE_2#1", f"GRANT VIEW SERVER STATE TO [{system}]") == []
    assert run_sql(world, "NODE_2#1", "ALTER AVAILABILITY GROUP AG1 FAILOVER") == []
    run_until(world, 110)
    assert list_primaries(world) == ["NODE_2"]


def test_a_planned_failover_to_a_target_without_cluster_permissions_fails() -> None:
    world = build_ag_lab(version=2017)
    assert run_sql(world, "NODE_2#1", "DENY CONNECT SQL TO [NT AUTHORITY\\SYSTEM]") == []
    assert run_sql(world, "NODE_2#1", "ALTER AVAILABILITY GROUP AG1 FAILOVER") == [41104]
    run_until(world, 40)
    assert list_primaries(world) == ["NODE_1"]
    assert world.copies["NODE_2", "Sales"].availability.state is SyncState.SYNCHRONIZED


def test_event_sessions_stop_start_and_start_with_the_service() -> None:
    world = build_ag_lab(version=2017)
    session = "ALTER EVENT SESSION [AlwaysOn_health] ON SERVER"
    running = "SELECT COUNT(*) FROM sys.dm_xe_sessions WHERE name = 'AlwaysOn_health'"

    def is_session_running() -> bool:
        return bool(run_statement(world, "NODE_3#1", running)["results"][0]["rows"] == [[1]])

    assert is_session_running()
    assert run_sql(world, "NODE_3#1", f"{session} STATE = START") == [25705]
    assert run_sql(world, "NODE_3#1", f"{session} STATE=STOP") == []
    assert run_sql(world, "NODE_3#1", f"{session} STATE = STOP;") == [25704]
    assert not is_session_running()
    apply_lines(world, "restart-service NODE_3")
    run_until(world, 60)
    assert is_session_running()
    assert run_sql(world, "NODE_3#1", f"{session} WITH (STARTUP_STATE = OFF)") == []
    apply_lines(world, "restart-service NODE_3")
    run_until(world, 120)
    assert not is_session_running()
    assert run_sql(world, "NODE_3#1", "ALTER EVENT SESSION nothing ON SERVER STATE = START") == [15151]
    messages = run_statement(world, "NODE_3#1", f"{session} DROP EVENT sqlserver.error_reported")["messages"]
    assert messages[0]["text"].startswith("Not simulated")


def test_alwayson_health_starts_manually_without_a_replica() -> None:
    world = build_ag_lab(version=2016)
    assert run_sql(world, "NODE_1", "DROP AVAILABILITY GROUP AG1", 20.0) == []
    session = "ALTER EVENT SESSION AlwaysOn_health ON SERVER STATE ="
    assert run_sql(world, "NODE_1", f"{session} STOP") == [25704]
    assert run_sql(world, "NODE_1", f"{session} START") == []
    assert run_sql(world, "NODE_1", f"{session} START") == [25705]
    assert run_sql(world, "NODE_1", f"{session} STOP") == []


def test_the_endpoint_has_the_name_that_public_scripts_expect() -> None:
    world = build_ag_lab()
    script = "IF NOT EXISTS (SELECT * FROM sys.endpoints WHERE name = 'Hadr_endpoint') CREATE ENDPOINT Hadr_endpoint"
    script += " STATE = STARTED AS TCP (LISTENER_PORT = 5022) FOR DATABASE_MIRRORING (ROLE = ALL)"
    assert run_sql(world, "NODE_1", script) == []
    assert run_sql(world, "NODE_2", "ALTER ENDPOINT Hadr_endpoint STATE = STOPPED") == []
    messages = run_statement(world, "NODE_1", "ALTER AUTHORIZATION ON AVAILABILITY GROUP::AG1 TO sa")[
        "messages"
    ]
    assert messages[0]["text"].startswith("Not simulated")


STATES_QUERY = (
    "SELECT synchronization_state_desc, synchronization_health_desc FROM sys.dm_hadr_database_replica_states "
)


def test_a_database_suspended_at_the_primary_does_not_synchronize() -> None:
    world = build_settled_world().fork()
    own_states_query = STATES_QUERY + "WHERE is_local = 1 AND database_id = DB_ID('Sales')"
    assert run_batch(world, "NODE_1", "ALTER DATABASE Sales SET HADR SUSPEND") == []
    assert run_statement(world, "NODE_1#1", own_states_query)["results"][0]["rows"] == [
        ["NOT SYNCHRONIZING", "NOT_HEALTHY"]
    ]
    assert run_batch(world, "NODE_1", "ALTER DATABASE Sales SET HADR RESUME") == []
    assert run_statement(world, "NODE_1#1", own_states_query)["results"][0]["rows"] == [
        ["SYNCHRONIZED", "HEALTHY"]
    ]


@pytest.mark.parametrize(
    ("server", "statement"),
    [
        ("NODE_1", ALTER_AG1 + "REMOVE DATABASE Orders"),
        ("NODE_2", "ALTER DATABASE Orders SET HADR OFF"),
        ("NODE_1", ALTER_AG1 + "REMOVE REPLICA ON 'NODE_2'"),
    ],
)
def test_a_leaving_copy_logs_the_end_of_its_connection(server: str, statement: str) -> None:
    world = build_settled_world().fork()
    start_tick = world.tick
    assert run_batch(world, server, statement, 2) == []
    assert 35267 in list_error_log_numbers(world, "NODE_2", start_tick)
    assert 35267 in list_error_log_numbers(world, "NODE_1", start_tick)


def test_a_statement_waits_for_a_group_that_cannot_come_online() -> None:
    world = build_settled_world().fork()
    assert run_batch(world, "NODE_1", "REVOKE VIEW SERVER STATE FROM [NT AUTHORITY\\SYSTEM]") == []
    apply_lines(world, "sql NODE_1 CREATE AVAILABILITY GROUP AG9 FOR REPLICA ON 'NODE_1' WITH (ENDPOINT_URL = "
              "'TCP://NODE_1:5022', AVAILABILITY_MODE = SYNCHRONOUS_COMMIT, FAILOVER_MODE = MANUAL)")  # fmt: skip
    assert not [event for event in run_until(world, 70) if event.kind == "sql_done"]
    answers = [Answer(event).numbers for event in run_until(world, 90) if event.kind == "sql_done"]
    assert answers == [[41131, 41152]]


@pytest.mark.parametrize("account", ["NT AUTHORITY\\SYSTEM", "NT SERVICE\\MSSQLSERVER", "CORP\\sqlservice"])
def test_a_predefined_login_is_not_reported_as_missing(account: str) -> None:
    world = build_settled_world().fork()
    for statement in (f"DROP LOGIN [{account}]", f"ALTER LOGIN [{account}] DISABLE"):
        (message,) = run_statement(world, "NODE_1#1", statement)["messages"]
        assert (message["severity"], message["text"].split(":")[0]) == (16, "Not simulated")


def test_a_local_replica_has_an_operational_state() -> None:
    world = build_settled_world().fork()
    query = "SELECT operational_state_desc FROM sys.dm_hadr_availability_replica_states WHERE is_local = 1"
    assert run_batch(world, "NODE_3", "ALTER ENDPOINT Hadr_endpoint STATE = STOPPED", 30) == []
    assert run_statement(world, "NODE_3#1", query)["results"][0]["rows"] == [["ONLINE"]]


def test_a_commit_in_another_database_waits_for_the_secondary_of_that_database() -> None:
    world = build_ag_lab(version=2019)
    run_seconds(world, 5)
    run_batch(world, "NODE_1", "CREATE TABLE Sales.dbo.t (a int)", 5)
    run_batch(
        world,
        "NODE_1",
        "ALTER AVAILABILITY GROUP AG1 SET (REQUIRED_SYNCHRONIZED_SECONDARIES_TO_COMMIT = 1)",
        1,
    )
    apply_lines(world, "power-off NODE_2")
    run_seconds(world, 15)
    apply_lines(world, "sql NODE_1 INSERT Sales.dbo.t VALUES (1)")
    run_seconds(world, 2)
    apply_lines(world, "sql NODE_1#2 SELECT wait_type FROM sys.dm_exec_requests WHERE command = 'INSERT'")
    done_events = [event for event in run_seconds(world, 1) if event.kind == "sql_done"]
    assert "HADR_SYNC_COMMIT" in str(done_events[-1])


@pytest.mark.parametrize("routes", ["('NODE_3', 'NODE_2', 'NODE_1')", "(('NODE_3', 'NODE_2'), 'NODE_1')"])
def test_a_removed_replica_leaves_the_routing_lists(routes: str) -> None:
    world = build_ag_lab(version=2019)
    run_seconds(world, 5)
    option = f"(PRIMARY_ROLE (READ_ONLY_ROUTING_LIST = {routes}))"
    assert (
        run_batch(
            world, "NODE_1", f"ALTER AVAILABILITY GROUP AG1 MODIFY REPLICA ON 'NODE_1' WITH {option}", 1
        )
        == []
    )
    assert run_batch(world, "NODE_1", "ALTER AVAILABILITY GROUP AG1 REMOVE REPLICA ON 'NODE_3'", 1) == []
    replica = world.nodes["NODE_2"].config.groups[0].find_replica("NODE_1")
    assert replica is not None
    assert [server for _, server in replica.routes] == ["NODE_2", "NODE_1"]
    added_replica = "'TCP://NODE_3:5022', AVAILABILITY_MODE = ASYNCHRONOUS_COMMIT, FAILOVER_MODE = MANUAL"
    assert (
        run_batch(
            world,
            "NODE_1",
            f"ALTER AVAILABILITY GROUP AG1 ADD REPLICA ON 'NODE_3' WITH (ENDPOINT_URL = {added_replica})",
            1,
        )
        == []
    )
