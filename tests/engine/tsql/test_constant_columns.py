"""Constant columns, each with a reason, and agreement of views that show the same fact."""

from __future__ import annotations

import random

import pytest

from engine.model import World
from engine.tsql.catalog.shapes import VIEW_SCHEMAS, list_constant_entries, list_view_columns
from tests.cases import sample_cases
from tests.engine.availability.worlds import build_ag_lab
from tests.engine.tsql.console import run_seconds, submit_batch
from tests.engine.tsql.literal_columns import CATALOG, find_literal_columns
from tests.engine.worlds import P, build_lab, play_script


def test_every_constant_has_a_reason_and_a_view() -> None:
    columns = {
        name: {
            column.name
            for v in (2005, 2008, 2012, 2014, 2016, 2017, 2019, 2022)
            for column in list_view_columns(shape, v)
        }
        for name, shape in VIEW_SCHEMAS.items()
    }
    all_columns = set().union(*columns.values())
    for reason, views, pairs in list_constant_entries():
        assert len(reason) > 10
        for view in views.split():
            known_columns = all_columns if view == "*" else columns[view]
            if view == views:
                assert set(pairs) <= known_columns, (view, set(pairs) - known_columns)


def test_every_literal_in_a_catalog_row_is_listed_with_a_reason() -> None:
    text = (CATALOG / "shapes" / "literals.tsv").read_text(encoding="utf-8")
    listed = {}
    for line in text.splitlines()[2:]:
        reason, function, columns = line.split("\t")
        assert len(reason) > 10
        listed[function] = set(columns.split(", "))
    code = "".join(path.read_text(encoding="utf-8") for path in CATALOG.glob("*.py"))
    read = {function for function in listed if f'find_literal_columns("{function}")' in code}
    assert {function: columns for function, columns in listed.items() if function not in read} == {
        f"{module}.{function}": columns for (module, function), columns in find_literal_columns().items()
    }


CONTRADICTION_QUERIES = (
    "SELECT COUNT(*) - (SELECT COUNT(*) FROM sys.sysprocesses WHERE spid > 50) FROM sys.dm_exec_sessions "
    "WHERE session_id > 50",
    "SELECT COUNT(*) FROM sys.sysprocesses p JOIN sys.dm_exec_sessions s ON s.session_id = p.spid "
    "WHERE p.open_tran <> s.open_transaction_count AND p.spid > 50",
    "SELECT COUNT(*) FROM sys.dm_exec_requests r JOIN sys.sysprocesses p ON p.spid = r.session_id "
    "WHERE p.spid > 50 AND (p.blocked <> r.blocking_session_id OR RTRIM(p.cmd) <> LEFT(r.command, 16))",
    "SELECT COUNT(*) FROM sys.dm_exec_requests WHERE session_id > 50 AND wait_type IS NOT NULL "
    "AND session_id NOT IN (SELECT session_id FROM sys.dm_os_waiting_tasks)",
    "SELECT COUNT(*) FROM sys.dm_exec_requests WHERE total_elapsed_time IS NULL "
    "OR ABS(DATEDIFF(second, start_time, GETDATE()) - total_elapsed_time / 1000) > 1",
    "SELECT COUNT(*) FROM sys.dm_exec_sessions WHERE total_elapsed_time IS NULL "
    "OR ABS(DATEDIFF(second, login_time, GETDATE()) - total_elapsed_time / 1000) > 1",
    "SELECT COUNT(*) FROM sys.databases WHERE state_desc <> DATABASEPROPERTYEX(name, 'Status')",
    "SELECT COUNT(*) FROM sys.databases WHERE recovery_model_desc <> DATABASEPROPERTYEX(name, 'Recovery')",
    "SELECT COUNT(*) FROM sys.dm_exec_requests WHERE percent_complete > 0 AND command NOT LIKE 'BACKUP%' "
    "AND command NOT LIKE 'RESTORE%' AND command NOT LIKE 'DBCC%'",
    "SELECT COUNT(*) FROM sys.dm_tran_session_transactions t WHERE t.session_id NOT IN "
    "(SELECT session_id FROM sys.dm_exec_sessions WHERE open_transaction_count > 0)",
    "SELECT COUNT(*) FROM sys.master_files f WHERE f.database_id NOT IN (SELECT database_id FROM sys.databases)",
    "SELECT COUNT(*) FROM sys.master_files f JOIN sys.databases d ON d.database_id = f.database_id "
    "WHERE d.state_desc = 'RESTORING' AND (f.state_desc <> 'RESTORING' OR f.redo_start_lsn IS NULL)",
)
"""Queries that count contradictions between two views of the same fact."""
GROUP_CONTRADICTION_QUERIES = (
    "SELECT COUNT(*) FROM sys.dm_hadr_availability_replica_states s JOIN sys.availability_replicas r "
    "ON r.replica_id = s.replica_id JOIN sys.dm_hadr_availability_group_states g ON g.group_id = s.group_id "
    "WHERE s.role = 1 AND g.primary_replica <> r.replica_server_name",
    "SELECT COUNT(*) FROM sys.databases d JOIN sys.dm_hadr_database_replica_states s ON s.database_id = d.database_id "
    "WHERE s.is_local = 1 AND s.database_state <> d.state",
    "SELECT COUNT(*) FROM sys.availability_replicas WHERE failover_mode = 0 AND failover_mode_desc <> 'AUTOMATIC'",
)

STATEMENTS = (
    r"BACKUP DATABASE Sales TO DISK = 'D:\a.bak'",
    r"BACKUP LOG Sales TO DISK = 'D:\a.trn'",
    "DBCC CHECKDB ('Sales')",
    "WAITFOR DELAY '00:00:20'",
    "USE Sales; BEGIN TRAN; UPDATE t SET a = a + 1",
    "USE Sales; UPDATE t SET a = a + 1",
    "IF @@TRANCOUNT > 0 ROLLBACK",
    "SELECT COUNT(*) FROM sys.databases",
)


def find_contradictions(world: World, queries: tuple[str, ...]) -> list[str]:
    misses = []
    for server, instance in world.instances.items():
        if instance.running and not instance.hung and world.get_computer_of(server).powered:
            for query in queries:
                answer = submit_batch(world, f"{server}#9", query, wait_s=1)
                if answer.grids and answer.value:
                    misses.append(f"{server}: {query}")
    return misses


def play_randomly(
    world: World, random_source: random.Random, lines: tuple[str, ...], queries: tuple[str, ...]
) -> None:
    main = next(iter(world.instances))
    submit_batch(world, main, "USE Sales; CREATE TABLE t (a int); INSERT t VALUES (1)", wait_s=5)
    for _ in range(12):
        server = random_source.choice([main, main, *world.instances])
        window = f"{server}#{random_source.randint(1, 3)}"
        if random_source.random() < 0.7:
            play_script(
                world, f"{world.t_s} sql {window} {random_source.choice(STATEMENTS)}", world.t_s + 0.01
            )
        else:
            play_script(world, f"{world.t_s} {random_source.choice(lines)}", world.t_s + 0.01)
        run_seconds(world, random_source.choice([0.2, 1, 5, 15]))
        assert find_contradictions(world, queries) == []


def test_files_of_a_mirror_are_restoring() -> None:
    query = "SELECT DISTINCT state_desc FROM sys.master_files WHERE database_id = DB_ID('Sales')"
    world = build_lab(workload="none")
    assert submit_batch(world, "SERVER_A", query).value == "ONLINE"
    assert submit_batch(world, "SERVER_B", query).value == "RESTORING"


def test_logins_show_their_fixed_server_roles() -> None:
    world = build_lab(workload="none")
    submit_batch(world, "SERVER_A", "CREATE LOGIN ann WITH PASSWORD = 'Pa55word!'")
    roles = "sysadmin, securityadmin, dbcreator FROM sys.syslogins WHERE name IN ('sa', 'ann') ORDER BY name"
    assert submit_batch(world, "SERVER_A", f"SELECT {roles}").grids == [[[0, 0, 0], [1, 0, 0]]]
    submit_batch(world, "SERVER_A", "EXEC sp_addsrvrolemember 'ann', 'securityadmin'")
    assert submit_batch(world, "SERVER_A", f"SELECT {roles}").grids == [[[0, 1, 0], [1, 0, 0]]]
    submit_batch(world, "SERVER_A", "EXEC sp_addsrvrolemember 'ann', 'sysadmin'")
    assert submit_batch(world, "SERVER_A", f"SELECT {roles}").grids == [[[1, 1, 0], [1, 0, 0]]]


@pytest.mark.parametrize("seed", range(2))
def test_views_agree_in_random_mirroring_runs(seed: int) -> None:
    acts = ("power-off SERVER_B", "power-on SERVER_B", "restart-service SERVER_A")
    play_randomly(build_lab(workload="none"), random.Random(seed), acts, CONTRADICTION_QUERIES)


@pytest.mark.parametrize("seed", sample_cases(2, range(2)))
def test_views_agree_in_random_group_runs(seed: int) -> None:
    acts = ("power-off NODE_3", "power-on NODE_3", "stop-service NODE_2", "start-service NODE_2")
    play_randomly(
        build_ag_lab(version=2019),
        random.Random(seed),
        acts,
        CONTRADICTION_QUERIES + GROUP_CONTRADICTION_QUERIES,
    )


@pytest.mark.parametrize(
    ("text", "query", "value"),
    [
        (
            "CREATE LOGIN l WITH PASSWORD = 'p', CHECK_POLICY = OFF",
            "is_policy_checked FROM sys.sql_logins WHERE name = 'l'",
            0,
        ),
        ("CREATE TABLE t (a int, b AS a * 2 PERSISTED)", "is_persisted FROM sys.computed_columns", 1),
        (
            "CREATE TABLE t (a int); CREATE INDEX i ON t (a DESC)",
            "is_descending_key FROM sys.index_columns",
            1,
        ),
        (
            "CREATE TABLE t (a int); CREATE INDEX i ON t (a) WITH (FILLFACTOR = 70)",
            "fill_factor FROM sys.indexes WHERE index_id > 1",
            70,
        ),
        (
            "CREATE TABLE t (a int); CREATE INDEX i ON t (a) WITH (STATISTICS_NORECOMPUTE = ON)",
            "no_recompute FROM sys.stats",
            1,
        ),
        (
            "CREATE LOGIN l WITH PASSWORD = 'Pa55!!', DEFAULT_LANGUAGE = Deutsch",
            "default_language_name FROM sys.server_principals WHERE name = 'l'",
            "Deutsch",
        ),
    ],
)
def test_a_column_that_a_statement_can_change_shows_the_change(text: str, query: str, value: object) -> None:
    world = build_lab(workload="none")
    assert not submit_batch(world, P, text).numbers
    assert submit_batch(world, P, f"SELECT {query}").value == value


@pytest.mark.parametrize("counter", ["Page Splits/sec", "page splits/SEC"])
def test_a_constant_counter_is_also_reported_on_insert(counter: str) -> None:
    text = f"""CREATE TABLE #t (v bigint)
        INSERT #t SELECT cntr_value FROM sys.dm_os_performance_counters WHERE counter_name = '{counter}'"""
    assert any(
        "what moves the counters Page Splits/sec" in line
        for line in submit_batch(build_lab(), P, text, wait_s=2).texts
    )


BACKUP_SCRIPT = "CREATE DATABASE R; BACKUP DATABASE R TO DISK = 'D:\\r.bak'"


@pytest.mark.parametrize(
    ("text", "query", "rows"),
    [
        (
            "CREATE USER n WITHOUT LOGIN; CREATE LOGIN [CORP\\bob] FROM WINDOWS; CREATE USER [CORP\\bob]",
            "type, authentication_type FROM sys.database_principals WHERE name IN ('n', 'CORP\\bob') ORDER BY name",
            [["U", 3], ["S", 0]],
        ),
        (
            "CREATE LOGIN [CORP\\bob] FROM WINDOWS; CREATE USER [CORP\\bob]",
            "isntuser, issqluser, islogin FROM sys.sysusers WHERE name = 'CORP\\bob'",
            [[1, 0, 1]],
        ),
        (
            "CREATE DATABASE R; ALTER DATABASE R SET RECOVERY SIMPLE; ALTER DATABASE R SET SINGLE_USER; "
            "BACKUP DATABASE R TO DISK = 'D:\\r.bak'",
            "recovery_model, is_single_user, is_readonly, flags FROM msdb.dbo.backupset WHERE database_name = 'R'",
            [["SIMPLE", 1, 0, 520]],
        ),
        (
            "CREATE DATABASE R; ALTER DATABASE R SET READ_ONLY; BACKUP DATABASE R TO DISK = 'D:\\r.bak' WITH CHECKSUM",
            "is_readonly, has_backup_checksums, flags FROM msdb.dbo.backupset WHERE database_name = 'R'",
            [[1, 1, 532]],
        ),
        (
            BACKUP_SCRIPT + "; BACKUP LOG R TO DISK = 'D:\\r.trn' WITH NORECOVERY",
            "is_force_offline, has_incomplete_metadata, flags FROM msdb.dbo.backupset WHERE type = 'L' "
            "AND database_name = 'R'",
            [[1, 0, 832]],
        ),
    ],
)
def test_a_changed_setting_is_in_its_column(text: str, query: str, rows: list[list[object]]) -> None:
    world = build_ag_lab(version=2019)
    submit_batch(world, "NODE_1", text, wait_s=60)
    assert submit_batch(world, "NODE_1", f"SELECT {query}", wait_s=2).grids == [rows]


@pytest.mark.parametrize(
    "text",
    [
        "CREATE PROCEDURE p WITH ENCRYPTION AS SELECT 1",
        "CREATE VIEW v WITH VIEW_METADATA AS SELECT 1 AS a",
        "CREATE VIEW v AS SELECT 1 AS a WITH CHECK OPTION",
        "CREATE FUNCTION f () RETURNS int WITH ENCRYPTION AS BEGIN RETURN 1 END",
    ],
)
def test_a_module_option_that_the_catalog_would_show_is_refused(text: str) -> None:
    assert any(line.startswith("Not simulated") for line in submit_batch(build_lab(), P, text).texts)
