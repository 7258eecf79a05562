"""Catalog views: every view returns its declared columns on every server and version."""

from __future__ import annotations

import pytest

from engine.constants import VERSIONS
from engine.model import World
from engine.tsql.batches.context import StatementContext
from engine.tsql.batches.data import SqlSession
from engine.tsql.catalog.view import CATALOG_VIEWS
from engine.tsql.query.plans import HIDDEN_ARGUMENT_COLUMN
from tests.engine.tsql.console import run_seconds, submit_batch
from tests.engine.worlds import M, P, W, apply_lines, build_lab


@pytest.fixture(scope="module")
def busy() -> World:
    """Return a world with rows in every table: a lost mirror, jobs, certificates, backups and the monitor."""
    world = build_lab()
    for server in world.instances:
        world.update_instance(server, version=VERSIONS[-1])
    submit_batch(
        world,
        P,
        "CREATE MASTER KEY ENCRYPTION BY PASSWORD = 'Pa55!!x' CREATE CERTIFICATE c WITH SUBJECT = 'c'",
    )
    submit_batch(
        world, P, "CREATE LOGIN l WITH PASSWORD = 'Pa55!!' GRANT CONNECT ON ENDPOINT::Mirroring TO l"
    )
    submit_batch(
        world,
        P,
        "USE msdb EXEC sp_dbmmonitorupdate EXEC sp_dbmmonitorchangealert 'Sales', 1, 30 EXEC sp_add_job 'j'",
    )
    submit_batch(world, P, "BACKUP LOG Sales TO DISK = 'D:\\x.trn'", wait_s=60)
    return world


VIEW_BATCHES = [sorted(CATALOG_VIEWS)[start : start + 40] for start in range(0, len(CATALOG_VIEWS), 40)]


@pytest.mark.parametrize("names", VIEW_BATCHES, ids=lambda names: names[0])
def test_every_view_returns_its_columns(busy: World, names: list[str]) -> None:
    world = busy.fork()
    for server in (P, M, W):
        for name in names:
            # a result may not contain so many values
            has_many_rows = name in ("sys.all_columns", "sys.system_columns")
            first = "TOP 100 " if has_many_rows else ""
            answer = submit_batch(world, f"{server}#views", f"SELECT {first}* FROM {name}", wait_s=1.0)
            if (
                name == "msdb.dbo.dbm_monitor_data" and server != P
            ):  # no update of the monitor has run on this server
                assert answer.numbers == [208]
                continue
            assert answer.numbers == [], (server, answer.texts)
            columns = [
                column.name
                for column in CATALOG_VIEWS[name].list_version_columns(VERSIONS[-1])
                if column.name != HIDDEN_ARGUMENT_COLUMN
            ]
            assert answer.columns == [columns]


def test_rows_contain_only_documented_columns(busy: World) -> None:
    context = StatementContext(busy, SqlSession(server=P, spid=51, login="x"))
    for name, view in CATALOG_VIEWS.items():
        columns = {column.name for version in VERSIONS for column in view.list_version_columns(version)}
        for row in view.rows(context) if view.rows is not None else ():
            assert set(row) - columns <= HIDDEN_COLUMNS, name


HIDDEN_COLUMNS = {
    "role", "port", "is_policy_checked", "is_expiration_checked", "is_fixed_role", "owning_principal_id",
    "database_id", "password_hash", "id", "xtype", "uid", "crdate", "TABLE_CATALOG", "TABLE_SCHEMA", "TABLE_NAME",
    "TABLE_TYPE", "COLUMN_NAME", "ORDINAL_POSITION", "COLUMN_DEFAULT", "IS_NULLABLE", "DATA_TYPE", "object_id", "name",
    "column_id", "is_nullable", "is_identity", "CHARACTER_MAXIMUM_LENGTH", "CHARACTER_OCTET_LENGTH",
    "NUMERIC_PRECISION", "NUMERIC_SCALE", "NUMERIC_PRECISION_RADIX", "DATETIME_PRECISION", "CHARACTER_SET_NAME",
    "COLLATION_NAME", "?",
}  # fmt: skip
"""Internal fields of rows. Only views that build on other views read them."""


def test_newer_columns_are_missing_in_2005() -> None:
    world = build_lab()
    assert submit_batch(world, P, "SELECT mirroring_end_of_log_lsn FROM sys.database_mirroring").numbers == [
        207
    ]
    assert submit_batch(world, P, "SELECT * FROM sys.dm_db_mirroring_auto_page_repair").numbers == [208]
    world.update_instance(P, version=2008)
    assert submit_batch(world, P, "SELECT mirroring_end_of_log_lsn FROM sys.database_mirroring").numbers == []
    assert submit_batch(world, P, "SELECT * FROM sys.dm_db_mirroring_auto_page_repair").numbers == []


def test_counters_are_padded_cumulative_and_local() -> None:
    world = build_lab()
    run_seconds(world, 5)
    query = (
        "SELECT cntr_value FROM sys.dm_os_performance_counters WHERE object_name = 'SQLServer:Database Mirroring' "
        "AND counter_name = 'Log Bytes Sent/sec' AND instance_name = 'Sales'"
    )
    first = submit_batch(world, P, query).value
    run_seconds(world, 10)
    rate_kb = (submit_batch(world, P, query).value - first) / 10 / 1024
    assert 650 < rate_kb < 780  # Workload1 writes 720 KB/s of log [WP]
    assert submit_batch(world, M, query).value == 0
    length = "SELECT DISTINCT DATALENGTH(counter_name) FROM sys.dm_os_performance_counters"
    assert submit_batch(world, P, length).value == 256  # nchar(128)


def test_the_send_queue_grows_only_on_the_principal() -> None:
    world = build_lab()
    apply_lines(world, "sql SERVER_A ALTER DATABASE Sales SET PARTNER SUSPEND", wait_s=20)
    query = (
        "SELECT counter_name, cntr_value FROM sys.dm_os_performance_counters "
        "WHERE counter_name = 'Log Send Queue KB' AND instance_name = 'Sales'"
    )
    ((_, queue),) = submit_batch(world, P, query).grids[0]
    assert 12_000 < queue < 16_000  # 20 s of 720 KB/s
    ((_, mirror_value),) = submit_batch(world, M, query).grids[0]
    assert mirror_value == 0
    wait = submit_batch(world, P, "SELECT log_reuse_wait_desc FROM sys.databases WHERE name = 'Sales'").value
    assert wait in ("DATABASE_MIRRORING", "LOG_BACKUP")


def test_a_failover_is_visible_in_the_catalog() -> None:
    world = build_lab()
    query = "SELECT mirroring_role_desc + ' ' + mirroring_state_desc FROM sys.database_mirroring WHERE database_id > 4"
    apply_lines(world, "power-off SERVER_A")
    assert submit_batch(world, M, query).value == "PRINCIPAL DISCONNECTED"
    assert (
        submit_batch(
            world, M, "SELECT mirroring_role_sequence FROM sys.database_mirroring WHERE mirroring_role = 1"
        ).value
        == 2
    )
    assert (
        submit_batch(world, W, "SELECT principal_server_name FROM sys.database_mirroring_witnesses").value
        == M
    )


def test_threads_follow_the_published_formulas() -> None:
    """Principal: 2 threads per database plus 1. Mirror: 3 plus the redo threads per database, plus 1 [MANY]."""
    world = build_lab()
    count = "SELECT COUNT(*) FROM sys.dm_exec_requests WHERE command = 'DB MIRROR'"
    for server in (P, M):
        world.update_instance(server, version=2008)
    assert submit_batch(world, P, count).value == 3
    assert submit_batch(world, M, count).value == 6  # 8 cores: 3 + FLOOR((8 + 3) / 4) + 1


def test_requests_wait_if_worker_threads_are_short() -> None:
    waiting = "SELECT SUM(work_queue_count) FROM sys.dm_os_schedulers"
    world = build_lab()
    apply_lines(world, f"note {W} has nothing to do with it", wait_s=30.0)
    assert submit_batch(world, P, waiting).value == 0
    world.update_instance(P, max_worker_threads=20)
    apply_lines(world, "note twenty workers for a thousand connections", wait_s=30.0)
    assert submit_batch(world, P, waiting).value > 200
