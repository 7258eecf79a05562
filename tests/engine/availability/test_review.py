"""Documented behavior of availability groups in which a review had found deviations."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from engine import model
from engine.availability import reverting
from engine.cluster import config, roles
from engine.drill.authoring.scenario import load_scenario
from engine.drill.running.world_builder import build_world
from engine.model import DbState, ReplicaRole, ReplicaWord, ResourceState, SuspendReason, SyncState
from engine.protocol import streams
from tests.engine.availability.test_intent import modify_replica, run_sql, run_statement
from tests.engine.availability.worlds import apply_lines, build_ag_lab, list_primaries, run_until
from tests.engine.drill.authoring.test_scenario import list_problems
from tests.events import read_field

FORCE_FAILOVER = "ALTER AVAILABILITY GROUP AG1 FORCE_FAILOVER_ALLOW_DATA_LOSS"


# --- routing -----------------------------------------------------------------------------------------------


def find_routed_server(world: model.World, number: int) -> str:
    """Return the server to which a login through AGL1 with read intent is routed."""
    properties_sent = {
        "login": "sa",
        "password": "right",
        "database": "Sales",
        "intent": "ReadOnly",
        "listener": "AGL1",
    }
    apply_lines(world, f"connect NODE_1#tds{number} {json.dumps(properties_sent)}")
    events = [event for event in run_until(world, world.tick / 100 + 1) if event.kind == "session"]
    return str(read_field(events[-1], "to") or "NODE_1")


def test_logins_rotate_among_the_servers_of_a_nested_list() -> None:
    """The rotation does not depend on whether earlier connections stay open. [DOC: read-only routing]"""
    world = build_ag_lab(version=2016)
    modify_replica(
        world, "NODE_1", "PRIMARY_ROLE (READ_ONLY_ROUTING_LIST = (('NODE_2', 'NODE_3'), 'NODE_1'))"
    )
    reached = [find_routed_server(world, number) for number in range(6)]
    assert sorted(set(reached)) == ["NODE_2", "NODE_3"]
    assert all(state != next_state for state, next_state in itertools.pairwise(reached))
    apply_lines(world, "change-connection NODE_2#7 Server=AGL1;Database=Sales;ApplicationIntent=ReadOnly")
    apply_lines(world, "change-connection NODE_2#8 Server=AGL1;Database=Sales;ApplicationIntent=ReadOnly")
    names = {
        run_statement(world, f"NODE_2#{n}", "SELECT @@SERVERNAME")["results"][0]["rows"][0][0] for n in (7, 8)
    }
    assert names == {"NODE_2", "NODE_3"}


# --- forced failover ---------------------------------------------------------------------------------------


def force_failovers(world: model.World, *servers: str) -> None:
    for server in servers:
        assert run_sql(world, server, FORCE_FAILOVER) == []
        run_until(world, world.tick / 100 + 20)


def test_each_forced_primary_moves_data_and_two_recovery_forks_are_tracked() -> None:
    """Check documented behavior: [DOC: forced failover]."""
    world = build_ag_lab()
    force_failovers(world, "NODE_3", "NODE_1", "NODE_3")
    for database in ("Sales", "Orders"):
        membership = world.copies["NODE_3", database].availability
        assert membership.role is ReplicaRole.PRIMARY
        assert membership.suspended is None
    assert run_sql(world, "NODE_2", "ALTER DATABASE Sales SET HADR RESUME") == []
    run_until(world, world.tick / 100 + 60)
    stranded = world.copies["NODE_2", "Sales"].availability
    assert stranded.suspended is SuspendReason.XRF_UPDATE, "NODE_2 knows the first fork only"
    assert (1408, 103) in [(line[1], line[3]) for line in world.errorlog["NODE_2"]]


def test_a_secondary_that_missed_a_forced_failover_follows_after_resume() -> None:
    world = build_ag_lab()
    force_failovers(world, "NODE_3")
    assert run_sql(world, "NODE_2", "ALTER DATABASE Sales SET HADR RESUME") == []
    run_until(world, world.tick / 100 + 60)
    force_failovers(world, "NODE_1")
    assert run_sql(world, "NODE_2", "ALTER DATABASE Sales SET HADR RESUME") == []
    run_until(world, world.tick / 100 + 60)
    assert world.copies["NODE_2", "Sales"].availability.suspended is None
    run_until(world, world.tick / 100 + 60)
    ends = [streams.get_end_of_log_kb(world, world.copies[node, "Sales"]) for node in ("NODE_1", "NODE_2")]
    assert ends[0] - ends[1] < 10_000.0, "the secondary receives the log of the new primary"


UNDO_COUNTERS = (
    "SELECT cntr_value FROM sys.dm_os_performance_counters WHERE instance_name = 'Sales' AND counter_name IN "
    "('Log remaining for undo', 'Total Log requiring undo') ORDER BY counter_name"
)
RESUME = "sql NODE_1 ALTER DATABASE Sales SET HADR RESUME"
REVERT_PLAN = (
    (),
    ("restart-service NODE_1", 8.0),
    ("cut NODE_1 NODE_3", 5.0, "mend NODE_1 NODE_3", 5.0),
    ("sql NODE_1 ALTER DATABASE Sales SET HADR SUSPEND", 1.0, RESUME, 0.1),
)


def start_revert() -> model.World:
    """Return a world in which NODE_1 has 200 MB of Sales that the forced primary NODE_3 never received."""
    world = build_ag_lab()
    run_sql(world, "NODE_3", "ALTER DATABASE Sales SET HADR SUSPEND")
    run_until(world, 600)
    force_failovers(world, "NODE_3")
    apply_lines(world, RESUME)
    run_until(world, world.tick / 100 + 4.0)
    assert world.copies["NODE_1", "Sales"].availability.state is SyncState.REVERTING
    return world


@pytest.mark.parametrize("plan", REVERT_PLAN)
def test_an_interrupted_revert_begins_again(plan: tuple[str | float, ...]) -> None:
    """Check documented behavior: [DOC: reverting state]."""
    world = start_revert()
    for step in plan:
        if isinstance(step, str):
            apply_lines(world, step)
        else:
            run_until(world, world.tick / 100 + step)
    remaining, total = (
        int(row[0]) for row in run_statement(world, "NODE_1", UNDO_COUNTERS, 0.01)["results"][0]["rows"]
    )
    assert 0 < remaining < total
    due_s = remaining / reverting.REVERT_KB_PER_S
    states = []
    for after_s in (due_s - 0.5, 1.5):
        run_until(world, world.tick / 100 + after_s)
        states.append(world.copies["NODE_1", "Sales"].availability.state)
    assert states == [SyncState.REVERTING, SyncState.SYNCHRONIZING]


@pytest.mark.parametrize("restarts", [False, True])
def test_a_copy_whose_revert_was_interrupted_cannot_become_primary(restarts: bool) -> None:
    """The copy then needs a primary that completes the revert. [DOC: database replica states]"""
    world = start_revert()
    apply_lines(world, "power-off NODE_3", *["restart-service NODE_1"] * restarts)
    run_until(world, world.tick / 100 + 40)
    assert world.copies["NODE_1", "Sales"].db_state is DbState.RECOVERING
    assert run_sql(world, "NODE_1", FORCE_FAILOVER) == [35253]
    assert run_sql(world, "NODE_2", FORCE_FAILOVER) == []
    run_until(world, world.tick / 100 + 20)
    apply_lines(world, RESUME)
    run_until(world, world.tick / 100 + 150)
    reverted = world.copies["NODE_1", "Sales"]
    assert (reverted.availability.state, reverted.db_state) == (SyncState.SYNCHRONIZED, DbState.ONLINE)


def test_a_partly_reverted_copy_that_leaves_its_group_needs_a_restore() -> None:
    world = start_revert()
    assert run_sql(world, "NODE_1", "ALTER DATABASE Sales SET HADR OFF") == []
    assert run_sql(world, "NODE_1", "RESTORE DATABASE Sales WITH RECOVERY") == [3117, 3013]
    assert run_sql(world, "NODE_1", "ALTER DATABASE Sales SET HADR AVAILABILITY GROUP = AG1") == [1464]


@pytest.mark.parametrize(
    ("ends", "returns", "reverts"),
    [
        (("sql NODE_2 ALTER AVAILABILITY GROUP AG1 FAILOVER",), (), True),
        (("hang NODE_1",), ("unhang NODE_1",), True),
        (("power-off NODE_1",), ("power-on NODE_1",), False),
    ],
)
def test_a_former_primary_reverts_the_long_transaction_that_it_rolled_back(
    ends: tuple[str, ...], returns: tuple[str, ...], reverts: bool
) -> None:
    """Check documented behavior: [DOC: reverting state]. A crashed primary has rolled back nothing."""
    world = build_ag_lab()
    run_until(world, 10)
    apply_lines(world, "rebuild-index Sales")
    run_until(world, 30)
    apply_lines(world, *ends)
    events = run_until(world, 120)
    apply_lines(world, *returns)
    states = {
        read_field(event, "new")
        for event in [*events, *run_until(world, 300)]
        if (event.kind, event.server, event.database) == ("state", "NODE_1", "Sales")
    }
    assert ("REVERTING" in states) is reverts
    assert world.copies["NODE_1", "Sales"].availability.state is SyncState.SYNCHRONIZED


# --- timeouts and suspended data movement -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("timeouts", "waited_s"),
    [
        ({"NODE_2": 30}, (29, 32)),
        ({"NODE_1": 30}, (9, 12)),
        ({"NODE_3": 5}, (9, 12)),
        ({"NODE_1": 5, "NODE_2": 15}, (14, 17)),
    ],
    ids=["secondary", "primary", "other", "both"],
)
def test_the_timeout_of_a_secondary_applies_to_its_connection_with_the_primary(
    timeouts: dict[str, int], waited_s: tuple[int, int]
) -> None:
    """Check documented behavior: [DOC: session-timeout period]."""
    world = build_ag_lab()
    for server, timeout_s in timeouts.items():
        modify_replica(world, server, f"SESSION_TIMEOUT = {timeout_s}")
    run_until(world, 10)
    apply_lines(world, "hang NODE_2")
    lost = [event for event in run_until(world, 50) if event.kind == "detected" and event.server == "NODE_1"]
    assert waited_s[0] <= lost[0].tick / 100 - 10 <= waited_s[1]


def test_after_a_restart_an_earlier_suspension_has_the_reason_restart() -> None:
    """A restart never ends a suspension. [DOC: database replica states]"""
    world = build_ag_lab()
    assert run_sql(world, "NODE_2", "ALTER DATABASE Sales SET HADR SUSPEND") == []
    apply_lines(world, "restart-service NODE_2")
    run_until(world, 60)
    assert world.copies["NODE_2", "Sales"].availability.suspended is SuspendReason.RESTART
    assert world.copies["NODE_2", "Orders"].availability.suspended is None
    assert run_sql(world, "NODE_2", "ALTER DATABASE Sales SET HADR RESUME") == []
    run_until(world, 120)
    assert world.copies["NODE_2", "Sales"].availability.state is SyncState.SYNCHRONIZED


def test_redo_without_the_data_volume_is_suspended_at_each_resume() -> None:
    """Derived: a mirror reports 823 and suspends the session in the same case."""
    world = build_ag_lab()
    apply_lines(world, "fail-volume NODE_2 D")
    resume = "ALTER DATABASE Sales SET HADR RESUME"
    for attempt in range(2):
        run_until(world, 10 * (attempt + 1))
        copy = world.copies["NODE_2", "Sales"]
        assert (copy.availability.suspended, copy.availability.state) == (
            SuspendReason.REDO,
            SyncState.NOT_SYNCHRONIZING,
        )
        assert run_sql(world, "NODE_2", resume) == []
    assert [line[1] for line in world.errorlog["NODE_2"]].count(823) >= 3
    apply_lines(world, "mend-volume NODE_2 D")
    assert run_sql(world, "NODE_2", resume) == []
    run_until(world, 60)
    assert world.copies["NODE_2", "Sales"].availability.state is SyncState.SYNCHRONIZED


@pytest.mark.parametrize(
    "lines",
    [
        "sql NODE_3 ALTER DATABASE Sales SET HADR SUSPEND",
        "cut NODE_1 NODE_3",
        "power-off NODE_1;power-off NODE_2",
    ],
)
def test_a_secondary_without_its_primary_is_read_but_not_backed_up(lines: str) -> None:
    """Check documented behavior: [DOC: active secondaries; suspend an availability database]."""
    world = build_ag_lab()
    apply_lines(world, *lines.split(";"))
    run_until(world, 30)
    assert run_sql(world, "NODE_3", "SELECT COUNT(*) FROM Sales.sys.tables") == []
    backup = run_sql(world, "NODE_3", r"BACKUP LOG Sales TO DISK = 'D:\Sales.trn'", 60)
    assert backup[-1] == 3013
    assert backup[0] in (976, 988)


# --- a database of the primary that closes and reopens ----------------------------------------------------

INSERT_LATE_ROW = "INSERT Sales.dbo.late VALUES (1)"


@pytest.mark.parametrize(
    "loss",
    [
        "power-off NODE_2",
        "sql NODE_2 ALTER DATABASE Sales SET HADR SUSPEND",
        "sql NODE_2 ALTER ENDPOINT Hadr_endpoint STATE = STOPPED",
        "cut NODE_1 NODE_2",
        "fail-disk NODE_2 Sales",
    ],
)
@pytest.mark.parametrize("outage", [("fail-disk", "mend-disk", "Sales"), ("fail-volume", "mend-volume", "L")])
def test_a_reopened_primary_waits_for_copies_that_were_ready(outage: tuple[str, str, str], loss: str) -> None:
    """Otherwise the cluster could fail over to a copy that lacks the commits since. [DOC: availability modes]"""
    world = build_ag_lab()
    assert run_sql(world, "NODE_1", "CREATE TABLE Sales.dbo.late (a int)") == []
    fail, mend, what = outage
    apply_lines(world, f"{fail} NODE_1 {what}")
    run_until(world, 20)
    assert ("Sales", "NODE_2") in world.nodes["NODE_1"].config.groups[0].ready
    apply_lines(world, loss)
    run_until(world, 40)
    apply_lines(world, f"{mend} NODE_1 {what}")
    run_until(world, 60)
    assert run_sql(world, "NODE_1", INSERT_LATE_ROW) == []
    assert ("Sales", "NODE_2") not in world.nodes["NODE_1"].config.groups[0].ready
    apply_lines(world, "power-off NODE_1", "power-on NODE_2", "mend NODE_1 NODE_2", "mend-disk NODE_2 Sales")
    run_until(world, 260)
    assert not world.availability["Sales"].serving, "no copy has the last commit"
    apply_lines(world, "power-on NODE_1")
    run_until(world, 420)
    rows = run_statement(world, "NODE_1#5", "SELECT COUNT(*) FROM Sales.dbo.late")["results"][0]["rows"]
    assert rows == [[1]]


@pytest.mark.parametrize("statement", ["ALTER AVAILABILITY GROUP AG1 FAILOVER", FORCE_FAILOVER])
@pytest.mark.parametrize("continues_at_s", [60, 100.5])
def test_a_failover_request_ends_with_the_move_that_it_started(statement: str, continues_at_s: float) -> None:
    """A target that hangs during the failover becomes a secondary again. It never becomes primary without
    later commits.
    """
    world = build_ag_lab(version=2016)
    assert run_sql(world, "NODE_1", "CREATE TABLE Sales.dbo.late (a int)") == []
    apply_lines(world, f"sql NODE_2#3 {statement}")
    run_until(world, world.t_s + 0.2)
    apply_lines(world, "hang NODE_2")
    run_until(world, 50)
    assert run_sql(world, "NODE_1", INSERT_LATE_ROW) == [], "the group has returned"
    if continues_at_s < 100:
        run_until(world, continues_at_s)
        apply_lines(world, "unhang NODE_2")
        errors = [read_field(event, "messages") for event in run_until(world, 90) if event.kind == "sql_done"]
        assert [message["number"] for message in errors[0]] == [41104]
        assert world.copies["NODE_2", "Sales"].availability.state is SyncState.SYNCHRONIZED
        return
    run_until(world, 100)
    apply_lines(world, "power-off NODE_1")
    run_until(world, continues_at_s)
    apply_lines(world, "unhang NODE_2")
    run_until(world, 200)
    assert not world.availability["Sales"].serving


def test_the_loss_of_one_disk_during_a_failover_leaves_one_primary() -> None:
    """The other databases open; the cluster and the replica agree that NODE_2 is primary.

    [DOC: database level health detection]
    """
    world = build_ag_lab()
    run_until(world, 10)
    apply_lines(world, "shutdown-server NODE_1")
    run_until(world, 12)
    assert world.replicas["NODE_2", 2].word is ReplicaWord.PRIMARY_PENDING
    apply_lines(world, "fail-disk NODE_2 Sales")
    run_until(world, 60)
    assert world.copies["NODE_2", "Sales"].db_state is DbState.RECOVERY_PENDING
    assert world.availability["Orders"].serving
    apply_lines(world, "power-on NODE_1", "mend-disk NODE_2 Sales")
    run_until(world, 200)
    role = world.nodes["NODE_2"].config.find_role("AG1")
    assert role is not None
    assert (role.owner, role.state) == ("NODE_2", ResourceState.ONLINE)
    assert list_primaries(world) == ["NODE_2"]


@pytest.mark.parametrize("state", [ResourceState.FAILED, ResourceState.OFFLINE])
def test_a_primary_gives_up_its_role_when_its_group_is_offline_in_the_cluster(state: ResourceState) -> None:
    """The lease of the primary is not renewed. [DOC: lease timeout]"""
    world = build_ag_lab()
    run_until(world, 10)
    config.update_role(world, "NODE_1", "AG1", state=state, way=roles.FAILOVERS_EXHAUSTED)
    run_until(world, 11)
    apply_lines(world, "note x")
    run_until(world, 12)
    assert list_primaries(world) == []


def test_a_restarted_group_keeps_the_readiness_of_a_database_that_it_cannot_open() -> None:
    world = build_ag_lab()
    apply_lines(world, "fail-disk NODE_1 Sales")
    run_until(world, 15)
    apply_lines(world, "fail-resource AG1")
    run_until(world, 40)
    assert world.copies["NODE_1", "Orders"].availability.role is ReplicaRole.PRIMARY
    assert run_sql(world, "NODE_2", "ALTER AVAILABILITY GROUP AG1 FAILOVER", 30) == []
    assert world.copies["NODE_2", "Sales"].availability.role is ReplicaRole.PRIMARY


# --- basic groups ------------------------------------------------------------------------------------------

CREATE_BASIC_GROUP = "CREATE AVAILABILITY GROUP B WITH (BASIC) FOR DATABASE Orders REPLICA ON {replicas}"
REPLICA_CLAUSE = (
    "'{0}' WITH (ENDPOINT_URL = 'TCP://{0}:5022', AVAILABILITY_MODE = SYNCHRONOUS_COMMIT, "
    "FAILOVER_MODE = MANUAL{1})"
)


def build_standard_lab() -> model.World:
    world = build_ag_lab(version=2019)
    assert run_sql(world, "NODE_1", "ALTER AVAILABILITY GROUP AG1 REMOVE DATABASE Orders") == []
    for name, instance in list(world.instances.items()):
        world.instances[name] = replace(instance, edition="Standard")
    return world


def test_a_basic_group_has_two_replicas_and_no_readable_secondary() -> None:
    """See [DOC: basic availability groups]. The text of 41199 was seen in a public trace."""
    world = build_standard_lab()
    reads = ", SECONDARY_ROLE (ALLOW_CONNECTIONS = ALL)"
    replicas = [REPLICA_CLAUSE.format("NODE_1", ""), REPLICA_CLAUSE.format("NODE_2", reads)]
    refused = run_statement(world, "NODE_1", CREATE_BASIC_GROUP.format(replicas=", ".join(replicas)))[
        "messages"
    ]
    assert [(error["number"], error["state"]) for error in refused] == [(41199, 8)]
    assert "allow_connections" in refused[0]["text"]
    replicas[1] = REPLICA_CLAUSE.format("NODE_2", "")
    assert run_sql(world, "NODE_1", CREATE_BASIC_GROUP.format(replicas=", ".join(replicas)), 5.0) == []
    third = f"ALTER AVAILABILITY GROUP B ADD REPLICA ON {REPLICA_CLAUSE.format('NODE_3', '')}"
    assert run_sql(world, "NODE_1", third) == [35223]
    alter = (
        "ALTER AVAILABILITY GROUP B MODIFY REPLICA ON 'NODE_2' WITH (SECONDARY_ROLE (ALLOW_CONNECTIONS = {}))"
    )
    assert run_sql(world, "NODE_1", alter.format("READ_ONLY")) == [41199]
    assert run_sql(world, "NODE_1", alter.format("NO")) == []


LAB_TEXT = (Path(__file__).parents[3] / "scenarios" / "ag-lab.toml").read_text(encoding="utf-8")
BASIC_GROUP_SCENARIO_TEXT = """
title = "t"
summary = "s"
level = "beginner"
minutes = 5
seed = 1
brief = "b"
facilitator = "f"
[[source]]
paper = "p"
section = "1"
[[server]]
name = "N1"
version = {version}
edition = "{edition}"
[[server]]
name = "N2"
version = {version}
edition = "{edition}"
[[server]]
name = "FSW"
sql = false
[[cluster]]
name = "C"
nodes = ["N1", "N2"]
witness = "FSW"
[[database]]
name = "Sales"
workload = "none"
size_mb = 500
[[availability_group]]
name = "AG1"
databases = ["Sales"]
primary = "N1"
[[availability_group.replica]]
server = "N1"
[[availability_group.replica]]
server = "N2"
secondary_connections = "{readers}"
[fidelity]
modelled = "x"
simplified = "x"
absent = "x"
"""


def test_a_scenario_with_standard_edition_allows_only_basic_groups() -> None:
    lab = LAB_TEXT.replace(
        'name = "NODE_1"\nversion = 2014', 'name = "NODE_1"\nversion = 2014\nedition = "Standard"'
    )
    problem_texts = [problem.text for problem in list_problems(lab)]
    assert any("only in SQL Server 2016 and later" in str(problem) for problem in problem_texts)
    assert any("3 replicas exceed the limit" in str(problem) for problem in problem_texts)
    readable = list_problems(
        BASIC_GROUP_SCENARIO_TEXT.format(version=2017, edition="Standard", readers="ALL")
    )
    assert ["does not support readable secondaries" in str(problem.text) for problem in readable] == [True]
    valid_text = BASIC_GROUP_SCENARIO_TEXT.format(version=2017, edition="Standard", readers="NO")
    world = build_world(load_scenario(valid_text, "bag"), 1)
    result = run_statement(world, "N1", "SELECT basic_features FROM sys.availability_groups")
    assert result["results"][0]["rows"] == [[1]]
    load_scenario(BASIC_GROUP_SCENARIO_TEXT.format(version=2014, edition="Enterprise", readers="ALL"), "bag")


# --- permissions, snapshots, connection errors -------------------------------------------------------------


@pytest.mark.parametrize("verb", ["GRANT {} TO", "DENY {} TO", "REVOKE {} FROM"])
def test_permissions_on_a_group_are_reported_as_not_simulated(verb: str) -> None:
    """Check documented behavior: [DOC: GRANT availability group permissions]."""
    world = build_ag_lab()
    assert run_sql(world, "NODE_1", "CREATE LOGIN pm WITH PASSWORD = 'Pa55!!'") == []
    begin, end = verb.split(" {} ")
    grant_template = f"{begin} ALTER, CONTROL, VIEW DEFINITION ON AVAILABILITY GROUP::{{}} {end} {{}}"
    answer = run_statement(world, "NODE_1", grant_template.format("AG1", "pm"))["messages"]
    assert [message["text"].startswith("Not simulated: ") for message in answer] == [True]
    assert "AVAILABILITY GROUP" in answer[0]["text"]
    assert run_sql(world, "NODE_1", grant_template.format("NOSUCH", "pm")) == [15151]
    assert run_sql(world, "NODE_1", grant_template.format("AG1", "nobody")) == [15151]


CREATE_SNAPSHOT = "CREATE DATABASE {0} ON (NAME = Sales, FILENAME = 'D:\\Data\\{0}.ss') AS SNAPSHOT OF Sales"


def test_a_secondary_allows_snapshots_regardless_of_reads_and_movement() -> None:
    """Check documented behavior: [DOC: database snapshots of availability databases]."""
    world = build_ag_lab()
    for allowed in ("NO", "READ_ONLY", "ALL"):
        modify_replica(world, "NODE_2", f"SECONDARY_ROLE (ALLOW_CONNECTIONS = {allowed})")
        assert run_sql(world, "NODE_2", CREATE_SNAPSHOT.format(f"s_{allowed}")) == []
    assert run_sql(world, "NODE_2", "ALTER DATABASE Sales SET HADR SUSPEND") == []
    assert run_sql(world, "NODE_2", CREATE_SNAPSHOT.format("s_suspended")) == []
    assert run_sql(world, "NODE_2", "ALTER DATABASE Sales SET HADR RESUME") == []
    apply_lines(world, "cut NODE_1 NODE_2")
    run_until(world, world.tick / 100 + 25)
    assert run_sql(world, "NODE_2", CREATE_SNAPSHOT.format("s_alone")) == []
    assert run_sql(world, "NODE_1", CREATE_SNAPSHOT.format("s_primary")) == []


def test_a_resolving_replica_allows_no_snapshot() -> None:
    world = build_ag_lab()
    apply_lines(world, "power-off NODE_2", "power-off NODE_3", "power-off FSW")
    run_until(world, 40)
    assert run_sql(world, "NODE_1", CREATE_SNAPSHOT.format("s")) == [988]


@pytest.mark.parametrize(("version", "errors"), [(2014, [1844]), (2016, []), (2022, [])])
def test_standard_edition_has_snapshots_since_2016(version: int, errors: list[int]) -> None:
    world = build_ag_lab(version=version)
    world.instances["NODE_1"] = replace(world.instances["NODE_1"], edition="Standard")
    assert run_sql(world, "NODE_1", CREATE_SNAPSHOT.format("s")) == errors


LAST_CONNECT_ERROR_QUERY = (
    "SELECT s.last_connect_error_number FROM sys.dm_hadr_availability_replica_states s "
    "JOIN sys.availability_replicas r ON r.replica_id = s.replica_id WHERE r.replica_server_name = 'NODE_2'"
)


@pytest.mark.parametrize(
    ("lines", "number"),
    [
        (["set-service-account NODE_2 CORP\\sql_new"], 64),
        (
            [
                "sql NODE_2 ALTER ENDPOINT Hadr_endpoint FOR DATABASE_MIRRORING (ENCRYPTION = DISABLED)",
                "restart-service NODE_2",
            ],
            64,
        ),
        (["sql NODE_2 ALTER ENDPOINT Hadr_endpoint STATE = STOPPED"], 10061),
        (["power-off NODE_2"], 10060),
    ],
)
def test_the_last_connection_error_distinguishes_a_handshake_from_a_closed_port(
    lines: list[str], number: int
) -> None:
    world = build_ag_lab()
    for line in lines:
        apply_lines(world, line)
        run_until(world, world.tick / 100 + 1)
    run_until(world, world.tick / 100 + 60)
    assert run_statement(world, "NODE_1", LAST_CONNECT_ERROR_QUERY)["results"][0]["rows"] == [[number]]


@pytest.mark.parametrize("server", ["NODE_1", "NODE_2"])
def test_a_database_of_a_group_cannot_be_mirrored(server: str) -> None:
    world = build_ag_lab()
    assert run_sql(world, server, "ALTER DATABASE Sales SET PARTNER = 'TCP://NODE_3:5022'") == [1468]
