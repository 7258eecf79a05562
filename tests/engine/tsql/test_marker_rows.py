"""Marker row that a window inserts: it is undone, lost, sent or restored together with its log."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies

from engine.model import Safety, World
from engine.protocol import serving
from tests.engine.tsql.console import collect_answers, run_seconds, submit_batch
from tests.engine.worlds import DB, M, P, apply_lines, build_lab
from tests.events import read_field

FORCE_SERVICE = f"ALTER DATABASE {DB} SET PARTNER FORCE_SERVICE_ALLOW_DATA_LOSS"


def build_marked_world(
    workload: str = "Workload1", witness: bool = True, safety: Safety = Safety.FULL
) -> World:
    """Return a lab with Sales.dbo.t, which contains row 1."""
    world = build_lab(workload=workload, witness=witness, safety=safety)
    submit_batch(world, P, "CREATE TABLE Sales.dbo.t (n int) INSERT Sales.dbo.t VALUES (1)", wait_s=2)
    run_seconds(world, 1)
    return world


def list_rows_on(world: World, server: str, table: str = "Sales.dbo.t") -> list[int]:
    answer = submit_batch(world, f"{server}#look", f"SELECT n FROM {table} ORDER BY n", wait_s=1)
    assert not answer.numbers, answer.texts
    return [row[0] for row in answer.grids[-1]]


def insert_marker(world: World, server: str, n: int, wait_s: float = 2.0) -> bool:
    """Insert row *n* and return whether the client received the confirmation of the commit."""
    ended_answers = collect_answers(world, server, f"INSERT Sales.dbo.t VALUES ({n})", wait_s)
    return bool(ended_answers) and not ended_answers[-1].numbers


def open_transaction(world: World, window: str = P) -> None:
    submit_batch(world, window, "USE Sales BEGIN TRAN INSERT t VALUES (2)", wait_s=1)


@pytest.mark.parametrize(
    ("ends", "serves"),
    [
        (f"power-off {P}", M),
        (f"stop-service {P}", M),
        (f"sql {P}#x ALTER DATABASE Sales SET PARTNER FAILOVER", M),
        (f"sql {P}#x SHUTDOWN WITH NOWAIT", M),
    ],
)
def test_uncommitted_changes_are_undone(ends: str, serves: str) -> None:
    world = build_marked_world()
    open_transaction(world)
    assert list_rows_on(world, P, "Sales.dbo.t WITH (NOLOCK)") == [1, 2]
    apply_lines(world, ends, wait_s=60)
    assert list_rows_on(world, serves) == [1]


@pytest.mark.parametrize("restart", [f"restart-service {P}", f"hang {P}"])
def test_uncommitted_changes_stay_undone_after_a_restart(restart: str) -> None:
    world = build_marked_world(witness=False)
    open_transaction(world)
    apply_lines(world, restart, wait_s=30)
    if restart.startswith("hang"):
        apply_lines(world, f"unhang {P}", wait_s=5)
        assert submit_batch(world, P, "ROLLBACK").numbers == []
    assert list_rows_on(world, P) == [1]


def test_only_the_next_batch_of_a_broken_transaction_gets_an_error() -> None:
    world = build_marked_world()
    open_transaction(world)
    submit_batch(world, f"{P}#idle", "USE Sales SELECT 1")
    submit_batch(world, f"{P}#master", "SELECT 1")
    spid = submit_batch(world, f"{P}#master", "SELECT @@SPID").value
    apply_lines(world, f"sql {P}#x ALTER DATABASE Sales SET PARTNER FAILOVER", wait_s=60)
    assert submit_batch(world, P, "COMMIT").numbers == [10054]
    assert submit_batch(world, P, "COMMIT").numbers == [3902]
    assert submit_batch(world, f"{P}#idle", "SELECT DB_NAME()").value == "master"
    assert submit_batch(world, f"{P}#master", "SELECT @@SPID").value == spid


def test_a_role_change_also_ends_a_transaction_from_master() -> None:
    world = build_marked_world()
    submit_batch(world, P, "BEGIN TRAN INSERT Sales.dbo.t VALUES (2)")
    apply_lines(world, f"sql {P}#x ALTER DATABASE Sales SET PARTNER FAILOVER", wait_s=60)
    assert submit_batch(world, P, "COMMIT").numbers == [10054]
    assert list_rows_on(world, M) == [1]


def test_an_unsent_commit_is_lost_and_counted() -> None:
    world = build_marked_world(workload="none", witness=False, safety=Safety.OFF)
    apply_lines(world, f"cut {P} {M}", wait_s=0.1)
    for n in (2, 3, 4):
        assert insert_marker(world, P, n, 20)
    apply_lines(world, f"power-off {P}", wait_s=20)
    apply_lines(world, f"sql {M} {FORCE_SERVICE}", wait_s=60)
    assert list_rows_on(world, M) == [1]
    assert world.availability[DB].lost_transactions == world.failovers[0].lost_transactions == 3


def test_objects_created_during_a_cut_are_missing_on_the_other_side() -> None:
    world = build_marked_world(witness=False)
    apply_lines(world, f"cut {P} {M}", wait_s=20)
    setup_batch = """USE Sales CREATE TABLE late (n int) INSERT late VALUES (1) DROP TABLE t
        EXEC('CREATE VIEW seen AS SELECT 1 AS one') EXEC('CREATE PROCEDURE act AS SELECT 1')"""
    submit_batch(world, P, setup_batch, wait_s=2)
    apply_lines(world, f"power-off {P}", wait_s=5)
    apply_lines(world, f"sql {M} {FORCE_SERVICE}", wait_s=60)
    assert list_rows_on(world, M) == [1]
    assert submit_batch(
        world, M, "USE Sales SELECT name FROM sys.objects WHERE type IN ('U', 'V', 'P')"
    ).grids == [[["t"]]]


def test_the_old_principal_discards_its_rows_when_the_session_resumes() -> None:
    world = build_marked_world(witness=False)
    apply_lines(world, f"cut {P} {M}", wait_s=20)
    assert insert_marker(world, P, 2)
    apply_lines(world, f"power-off {P}", wait_s=5)
    apply_lines(world, f"sql {M} {FORCE_SERVICE}", wait_s=60)
    assert insert_marker(world, M, 3)
    apply_lines(world, f"power-on {P}", f"mend {P} {M}", wait_s=120)
    apply_lines(world, f"sql {M} ALTER DATABASE {DB} SET PARTNER RESUME", wait_s=60)
    apply_lines(world, f"sql {M} ALTER DATABASE {DB} SET PARTNER FAILOVER", wait_s=60)
    assert list_rows_on(world, P) == [1, 3]


def test_a_commit_waits_while_the_mirror_is_silent_and_continues() -> None:
    world = build_marked_world(workload="none")
    apply_lines(world, f"black-hole {P} {M}", wait_s=0.5)
    assert not insert_marker(world, P, 2, wait_s=5)
    assert collect_answers(world, f"{P}#read", "SELECT n FROM Sales.dbo.t", 1) == []
    end_events = run_seconds(world, 10)
    assert {read_field(event, "window") for event in end_events if event.kind == "sql_done"} == {
        P,
        f"{P}#read",
    }
    assert list_rows_on(world, P) == [1, 2]


def test_a_canceled_commit_is_in_the_log_and_holds_no_locks() -> None:
    world = build_marked_world(workload="none")
    apply_lines(world, f"black-hole {P} {M}", wait_s=0.5)
    assert not insert_marker(world, P, 2, wait_s=1)
    apply_lines(world, f"cancel {P}", wait_s=30)
    assert submit_batch(world, P, "SELECT @@TRANCOUNT").value == 0
    assert list_rows_on(world, P) == [1, 2]


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT t VALUES (2)",
        "UPDATE t SET n = 2",
        "DELETE t",
        "TRUNCATE TABLE t",
        "CREATE TABLE u (n int)",
        "SELECT n INTO u FROM t",
        "DROP TABLE t",
        "ALTER TABLE t ADD m int",
        "EXEC('CREATE VIEW v AS SELECT 1 AS one')",
    ],
)
def test_a_full_log_refuses_every_change_without_traces(statement: str) -> None:
    world = build_marked_world(workload="none")
    apply_lines(world, f"fill-log {DB}", wait_s=5)
    answer = submit_batch(world, P, f"USE Sales {statement}", wait_s=1)
    assert answer.numbers == [9002]
    assert list_rows_on(world, P) == [1]
    assert submit_batch(world, P, "SELECT COUNT(*) FROM sys.objects WHERE name IN ('u', 'v')").value == 0


# --- backups, snapshots ------------------------------------------------------------------------------------

MOVE_CLAUSES = "MOVE 'Sales' TO 'D:\\Other.mdf', MOVE 'Sales_log' TO 'L:\\Other.ldf'"


def test_a_restore_recovers_the_rows_of_its_position_under_another_name_too() -> None:
    world = build_marked_world(workload="none")
    backup = "BACKUP DATABASE Sales TO DISK = 'D:\\s.bak' WITH INIT BACKUP LOG Sales TO DISK = 'D:\\s1.trn'"
    submit_batch(world, P, backup, wait_s=900)
    assert insert_marker(world, P, 2)
    open_transaction(world, f"{P}#2")
    submit_batch(world, P, "BACKUP LOG Sales TO DISK = 'D:\\s2.trn'", wait_s=60)
    submit_batch(world, f"{P}#2", "ROLLBACK")
    for files, numbers in (((), [1]), (("s1",), [1]), (("s1", "s2"), [1, 2])):
        restore = f"RESTORE DATABASE Other FROM DISK = 'D:\\s.bak' WITH NORECOVERY, REPLACE, {MOVE_CLAUSES}"
        for file in files:
            restore += f" RESTORE LOG Other FROM DISK = 'D:\\{file}.trn' WITH NORECOVERY"
        reply = submit_batch(world, P, f"{restore} RESTORE DATABASE Other WITH RECOVERY", wait_s=1800)
        assert list_rows_on(world, P, "Other.dbo.t") == numbers, reply.texts
    submit_batch(world, P, "INSERT Other.dbo.t VALUES (9)", wait_s=1)
    assert list_rows_on(world, P) == [1, 2]


def test_stopat_stops_between_two_commits() -> None:
    world = build_marked_world(workload="none")
    submit_batch(
        world,
        P,
        "BACKUP DATABASE Sales TO DISK = 'D:\\s.bak' BACKUP LOG Sales TO DISK = 'D:\\s1.trn'",
        wait_s=900,
    )
    insert_marker(world, P, 2)
    time_text = submit_batch(world, P, "SELECT CONVERT(varchar(30), GETDATE(), 121)").value
    run_seconds(world, 0.5)
    insert_marker(world, P, 3)
    submit_batch(world, P, "BACKUP LOG Sales TO DISK = 'D:\\s2.trn'", wait_s=60)
    text = f"""RESTORE DATABASE Other FROM DISK = 'D:\\s.bak' WITH NORECOVERY, {MOVE_CLAUSES}
        RESTORE LOG Other FROM DISK = 'D:\\s1.trn' WITH NORECOVERY
        RESTORE LOG Other FROM DISK = 'D:\\s2.trn' WITH RECOVERY, STOPAT = '{time_text}'"""
    submit_batch(world, P, text, wait_s=1800)
    assert list_rows_on(world, P, "Other.dbo.t") == [1, 2]


def test_a_snapshot_of_the_mirror_keeps_the_redone_state() -> None:
    world = build_marked_world()
    run_seconds(world, 5)
    snapshot_batch = "CREATE DATABASE Look ON (NAME = Sales, FILENAME = 'D:\\look.ss') AS SNAPSHOT OF Sales"
    submit_batch(world, M, snapshot_batch)
    assert insert_marker(world, P, 2)
    assert list_rows_on(world, M, "Look.dbo.t") == [1]
    apply_lines(world, f"power-off {P}", wait_s=60)
    assert (list_rows_on(world, M), list_rows_on(world, M, "Look.dbo.t")) == ([1, 2], [1])


def test_a_detached_database_has_its_rows_after_attach() -> None:
    world = build_lab(workload="none")
    submit_batch(
        world, P, "CREATE DATABASE Own CREATE TABLE Own.dbo.t (n int) INSERT Own.dbo.t VALUES (7)", wait_s=2
    )
    submit_batch(world, P, "EXEC sp_detach_db 'Own'")
    submit_batch(world, P, "CREATE DATABASE Again ON (FILENAME = 'D:\\Data\\Own.mdf') FOR ATTACH")
    assert list_rows_on(world, P, "Again.dbo.t") == [7]
    submit_batch(world, P, "DROP DATABASE Again CREATE DATABASE Again")
    assert submit_batch(world, P, "SELECT * FROM Again.dbo.t").numbers == [208]


# --- random sequences --------------------------------------------------------------------------------------

STEPS = ("insert", "insert", "open", "rollback", "crash", "failover", "cut", "mend", "on", "force")


def list_serving_servers(world: World) -> list[str]:
    return [server for server in (P, M) if serving.is_serving(world, (server, DB))]


def run_step(world: World, name: str, n: int, confirmed: set[int], unconfirmed: set[int]) -> None:
    serving = list_serving_servers(world)
    if name == "insert" and serving:
        (confirmed if insert_marker(world, f"{serving[-1]}#w{n}", n, 16) else unconfirmed).add(n)
    elif name == "open" and serving:
        collect_answers(world, f"{serving[0]}#open{n}", f"BEGIN TRAN INSERT Sales.dbo.t VALUES ({n})", 0.5)
    elif name == "rollback":
        for window in [window for window in world.sessions if "#open" in window]:
            collect_answers(world, window, "IF @@TRANCOUNT > 0 ROLLBACK", 0.5)
    elif name == "crash" and serving:
        apply_lines(world, f"power-off {serving[0]}", wait_s=20)
    elif name == "failover" and serving:
        apply_lines(world, f"sql {serving[0]}#f ALTER DATABASE {DB} SET PARTNER FAILOVER", wait_s=40)
    elif name in ("cut", "mend"):
        apply_lines(world, f"{name} {P} {M}", wait_s=15)
    elif name == "on":
        apply_lines(world, f"power-on {P}", f"power-on {M}", wait_s=90)
    elif name == "force":
        for server in (P, M):
            apply_lines(world, f"sql {server}#f {FORCE_SERVICE}", wait_s=10)


def repair_and_read_rows(world: World) -> set[int]:
    """Repair everything, roll back open transactions, and return the rows on the serving server."""
    run_step(world, "rollback", 0, set(), set())
    apply_lines(world, f"power-on {P}", f"power-on {M}", f"mend {P} {M}", wait_s=150)
    (server,) = list_serving_servers(world)
    return set(list_rows_on(world, server))


@settings(max_examples=12, deadline=None)
@given(strategies.lists(strategies.sampled_from(STEPS[:-1]), max_size=8))
def test_with_a_witness_no_commit_is_lost_and_no_uncommitted_row_stays(steps: list[str]) -> None:
    world = build_marked_world(workload="none")
    reported_rows, doubtful = {1}, set[int]()
    for n, name in enumerate(steps, start=100):
        run_step(world, name, n, reported_rows, doubtful)
    found_rows = repair_and_read_rows(world)
    assert reported_rows <= found_rows <= reported_rows | doubtful
    assert world.availability[DB].lost_transactions == 0


# --- users -------------------------------------------------------------------------------------------------


def list_users(world: World, server: str, database: str = DB) -> list[str]:
    rows = submit_batch(
        world, server, f"USE {database} SELECT name FROM sys.database_principals", wait_s=1
    ).grids[-1]
    return [row[0] for row in rows if row[0] in ("early", "late")]


def test_users_follow_the_log() -> None:
    world = build_marked_world(workload="none", witness=False)
    submit_batch(world, P, "USE Sales CREATE USER early WITHOUT LOGIN", wait_s=2)
    snapshot_batch = "CREATE DATABASE Look ON (NAME = Sales, FILENAME = 'D:\\look.ss') AS SNAPSHOT OF Sales"
    submit_batch(
        world, P, f"USE master {snapshot_batch} BACKUP DATABASE Sales TO DISK = 'D:\\s.bak'", wait_s=900
    )
    apply_lines(world, f"cut {P} {M}", wait_s=20)
    submit_batch(world, P, "USE Sales CREATE USER late WITHOUT LOGIN", wait_s=2)
    assert list_users(world, P) == ["early", "late"]
    assert list_users(world, P, "Look") == ["early"]
    apply_lines(world, f"power-off {P}", wait_s=5)
    apply_lines(world, f"sql {M} {FORCE_SERVICE}", wait_s=60)
    assert list_users(world, M) == ["early"]
    apply_lines(world, f"power-on {P}", wait_s=90)
    submit_batch(
        world,
        P,
        f"USE master RESTORE DATABASE Other FROM DISK = 'D:\\s.bak' WITH {MOVE_CLAUSES}",
        wait_s=1800,
    )
    assert list_users(world, P, "Other") == ["early"]
    submit_batch(world, P, "USE Other ALTER USER early WITH NAME = late", wait_s=1)
    assert list_users(world, P, "Other") == ["late"]
    submit_batch(world, P, "USE Other DROP USER late", wait_s=1)
    assert list_users(world, P, "Other") == []


def test_a_full_log_refuses_a_new_user() -> None:
    world = build_marked_world(workload="none")
    apply_lines(world, f"fill-log {DB}", wait_s=5)
    assert submit_batch(world, P, "USE Sales CREATE USER late WITHOUT LOGIN").numbers == [9002]
    assert list_users(world, P) == []


# --- forced service ----------------------------------------------------------------------------------------


@settings(max_examples=10, deadline=None)
@given(
    strategies.sampled_from([Safety.FULL, Safety.OFF]),
    strategies.lists(strategies.sampled_from(("insert", "open", "cut", "mend")), max_size=7),
)
def test_reported_losses_of_forced_service_match_the_missing_rows(safety: Safety, steps: list[str]) -> None:
    world = build_marked_world(workload="none", witness=False, safety=safety)
    reported_rows, doubtful = {1}, set[int]()
    for n, name in enumerate(steps, start=100):
        run_step(world, name, n, reported_rows, doubtful)
    apply_lines(world, f"power-off {P}", wait_s=20)
    apply_lines(world, f"sql {M}#f {FORCE_SERVICE}", wait_s=60)
    found_rows = set(list_rows_on(world, M))
    assert found_rows <= reported_rows | doubtful
    assert len(reported_rows - found_rows) == world.availability[DB].lost_transactions


@pytest.mark.parametrize(
    ("kind", "version", "ends", "next_value"),
    [
        ("int", 2014, f"power-off {P}", 1002),
        ("bigint", 2014, f"power-off {P}", 10002),
        ("int", 2014, f"sql {P} SHUTDOWN WITH NOWAIT", 1002),
        ("int", 2014, f"stop-service {P}", 3),
        ("int", 2008, f"power-off {P}", 3),
    ],
)
def test_a_crash_loses_the_cached_identity_values(
    kind: str, version: int, ends: str, next_value: int
) -> None:
    world = build_lab(workload="none", witness=False)
    world.update_instance(P, version=version)
    submit_batch(world, P, f"CREATE TABLE Sales.dbo.i (i {kind} IDENTITY, n int)", wait_s=2)
    submit_batch(world, P, "INSERT Sales.dbo.i (n) VALUES (1), (2)", wait_s=2)
    apply_lines(world, ends, wait_s=60)
    apply_lines(world, f"power-on {P}" if "power" in ends else f"start-service {P}", wait_s=120)
    last = submit_batch(world, P, "USE Sales SELECT IDENT_CURRENT('i')", wait_s=2).value
    assert int(last) == next_value - 1
    submit_batch(world, P, "INSERT Sales.dbo.i (n) VALUES (3)", wait_s=2)
    assert list_rows_on(world, P, "(SELECT i n FROM Sales.dbo.i) i") == [1, 2, next_value]


def test_a_failover_loses_the_cached_identity_values() -> None:
    world = build_lab(workload="none")
    for server in (P, M):
        world.update_instance(server, version=2014)
    submit_batch(world, P, "CREATE TABLE Sales.dbo.i (i int IDENTITY, n int)", wait_s=2)
    submit_batch(world, P, "INSERT Sales.dbo.i (n) VALUES (1), (2)", wait_s=2)
    apply_lines(world, f"sql {P} ALTER DATABASE Sales SET PARTNER FAILOVER", wait_s=60)
    submit_batch(world, M, "INSERT Sales.dbo.i (n) VALUES (3)", wait_s=2)
    assert list_rows_on(world, M, "(SELECT i n FROM Sales.dbo.i) i") == [1, 2, 1002]
