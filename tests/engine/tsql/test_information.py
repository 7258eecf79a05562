"""Procedures and functions with information about an instance, with all columns that scripts read."""

from __future__ import annotations

import pytest

from engine.model import World
from tests.engine.tsql.console import submit_batch
from tests.engine.worlds import build_lab


@pytest.fixture
def world() -> World:
    world = build_lab(workload="none")
    world.update_instance("SERVER_A", version=2014)
    return world


def test_xp_msver_returns_twenty_rows(world: World) -> None:
    (rows,) = submit_batch(world, "SERVER_A", "EXEC xp_msver").grids
    assert [row[0] for row in rows] == list(range(1, 21))
    assert rows[1][3] == "12.0.6024.0"
    assert submit_batch(world, "SERVER_A", "EXEC xp_msver 'ProcessorCount'").grids == [[rows[15]]]


def test_sp_databases_lists_open_databases_in_kb(world: World) -> None:
    sizes = "SELECT d.name, SUM(f.size) * 8 FROM sys.databases d JOIN sys.master_files f"
    query = f"{sizes} ON f.database_id = d.database_id WHERE d.state = 0 GROUP BY d.name ORDER BY d.name"
    (procedure_rows,), (query_rows,) = (
        submit_batch(world, "SERVER_A", text).grids for text in ("EXEC sp_databases", query)
    )
    assert sorted([row[:2] for row in procedure_rows]) == sorted(query_rows)


def test_sp_helpserver_has_its_own_columns(world: World) -> None:
    ((row,),) = submit_batch(world, "SERVER_A", "EXEC sp_helpserver").grids
    assert (row[0], row[1], row[3], len(row)) == ("SERVER_A", "SERVER_A", "0", 7)


def test_the_monitor_table_is_created_by_its_first_update(world: World) -> None:
    count = "SELECT COUNT(*) FROM msdb.dbo.dbm_monitor_data"
    assert submit_batch(world, "SERVER_A", count).numbers == [208]
    submit_batch(world, "SERVER_A", "EXEC msdb.dbo.sp_dbmmonitorupdate 'Sales'")
    assert submit_batch(world, "SERVER_A", count).grids == [[[1]]]


def test_a_module_text_is_stored_unchanged(world: World) -> None:
    text = "-- mine\nCREATE PROC p AS SELECT 1"
    submit_batch(world, "SERVER_A", text)
    assert submit_batch(world, "SERVER_A", "SELECT definition FROM sys.sql_modules").grids == [[[text]]]
    assert submit_batch(world, "SERVER_A", "SELECT OBJECT_DEFINITION(OBJECT_ID('p'))").grids == [[[text]]]


def test_properties_of_build_and_connection_are_returned(world: World) -> None:
    query = "SELECT SERVERPROPERTY('ProductMinorVersion'), SERVERPROPERTY('ProductBuild')"
    assert submit_batch(world, "SERVER_A", query).grids == [[["0", "6024"]]]
    query = "SELECT local_net_address, net_transport FROM sys.dm_exec_connections WHERE session_id = @@SPID"
    property_query = "SELECT CONNECTIONPROPERTY('local_net_address'), CONNECTIONPROPERTY('net_transport')"
    assert (
        submit_batch(world, "SERVER_A", property_query).grids == submit_batch(world, "SERVER_A", query).grids
    )


@pytest.mark.parametrize("source", ["('SELECT 1')", "sp_executesql N'SELECT 1'"])
def test_insert_exec_reports_its_rows_once(world: World, source: str) -> None:
    reply = submit_batch(world, "SERVER_A", f"CREATE TABLE #e(a int) INSERT #e EXEC {source}")
    assert reply.texts == ["(1 row affected)"]
