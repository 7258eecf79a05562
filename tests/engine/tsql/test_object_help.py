"""Descriptions of a batch's result columns before its execution, as drivers request them."""

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


def test_fmtonly_returns_columns_and_changes_nothing(world: World) -> None:
    submit_batch(world, "SERVER_A", "CREATE TABLE t (a int, b nvarchar(5)) INSERT t VALUES (1, N'x')")
    reply = submit_batch(
        world, "SERVER_A", "SET FMTONLY ON; SELECT a, b FROM t; INSERT t VALUES (2, N'y'); DROP TABLE t"
    )
    assert (reply.grids, reply.numbers) == ([[]], [])
    assert submit_batch(world, "SERVER_A", "SET FMTONLY OFF; SELECT a, b FROM t").grids == [[[1, "x"]]]
    reply = submit_batch(world, "SERVER_A", "SET FMTONLY ON; EXEC msdb.dbo.sp_add_job @job_name = N'j'")
    assert reply.texts == ["Not simulated: SET FMTONLY ON for the procedure msdb.dbo.sp_add_job"]
    assert submit_batch(world, "SERVER_A", "SET FMTONLY OFF; SELECT name FROM msdb.dbo.sysjobs").grids == [[]]


def test_the_columns_of_a_text_are_described_with_its_parameters(world: World) -> None:
    text = "EXEC sp_describe_first_result_set N'SELECT name, @p + 1 AS n FROM sys.databases', N'@p bigint'"
    ((first, second),) = submit_batch(world, "SERVER_A", text).grids
    assert (first[1:8], first[-4:]) == (
        [1, "name", 1, 231, "nvarchar(128)", 256, 0],
        [231, 256, 13632521, 52],
    )
    assert (second[1:7], second[-4:]) == (
        [2, "n", 1, 127, "bigint", 8],
        [38, 8, None, None],
    )
    assert submit_batch(
        world, "SERVER_A", "EXEC sp_describe_first_result_set N'DROP TABLE nothing'"
    ).grids == [[]]
    assert submit_batch(
        world, "SERVER_A", "EXEC sp_describe_first_result_set N'SELECT * FROM nosuch'"
    ).numbers == [
        208,
        11529,
    ]


def test_a_login_has_all_server_permissions_of_its_version(world: World) -> None:
    query = "SELECT entity_name FROM fn_my_permissions(NULL, 'SERVER') WHERE permission_name = '{}'"
    assert submit_batch(world, "SERVER_A", query.format("VIEW SERVER STATE")).grids == [[["server"]]]
    assert submit_batch(world, "SERVER_A", query.format("VIEW SERVER SECURITY STATE")).grids == [[]]
    of_object = "SELECT entity_name FROM fn_my_permissions(N'{}', 'OBJECT') WHERE permission_name = 'SELECT'"
    assert submit_batch(world, "SERVER_A", of_object.format("msdb.dbo.sysjobs")).grids == [
        [["msdb.dbo.sysjobs"]]
    ]
    assert submit_batch(world, "SERVER_A", of_object.format("nope")).grids == [[]]
    reply = submit_batch(world, "SERVER_A", "SELECT * FROM fn_my_permissions('t', 'DATABASE')")
    assert reply.texts == ["Not simulated: fn_my_permissions of DATABASE"]
