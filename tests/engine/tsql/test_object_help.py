"""Descriptions of a batch's result columns before its execution, as drivers request them."""

from __future__ import annotations

import pytest

from engine.model import World
from tests.engine.tsql.console import submit_batch
from tests.engine.worlds import P, build_lab


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


QUALIFIED_CALLS = (
    "sp_spaceused", "sp_spaceused 'only_x'", "sp_help 'only_x'", "sp_helpindex 'only_x'", "sp_columns 'only_x'",
    "sp_helpconstraint 'only_x'", "sp_tables 'only%'", "sp_statistics 'only_x'", "sp_pkeys 'only_x'",
    "sp_helptext 'procedure_x'", "sp_stored_procedures 'procedure_x'", "sp_helpuser 'user_x'", "sp_helprole 'role_x'",
    "sp_helprolemember", "sp_helpfile", "sp_change_users_login 'Report'",
    "sp_describe_first_result_set N'SELECT * FROM only_x'", "procedure_x",
    "sp_MSforeachdb 'IF DB_ID(''?'') = 1 SELECT DB_NAME()'", "sp_executesql N'SELECT DB_NAME()'",
)  # fmt: skip
"""Calls whose result depends on the database in which they run."""


def test_a_procedure_with_a_database_name_runs_in_that_database() -> None:
    """[DOC: system stored procedures]"""
    world = build_lab(workload="none")
    world.update_instance(P, version=2014)
    for text in (
        "CREATE DATABASE x",
        "USE x CREATE TABLE only_x (a int PRIMARY KEY, b varchar(5)) INSERT only_x VALUES (1, 'a')",
        "CREATE PROCEDURE procedure_x AS SELECT DB_NAME()",
        "CREATE USER user_x WITHOUT LOGIN CREATE ROLE role_x",
    ):
        assert submit_batch(world, P, text, 2).numbers == []
    for call in QUALIFIED_CALLS:
        here = submit_batch(world, P, f"USE x EXEC {call}", 1)
        elsewhere = submit_batch(world, P, f"USE master EXEC x..{call} SELECT DB_NAME()", 1)
        assert (elsewhere.columns[:-1], elsewhere.grids) == (here.columns, [*here.grids, [["master"]]]), call
    batch = "USE master EXEC x..sp_addrolemember 'role_x', 'user_x' EXEC x..sp_rename 'only_x', 'y' DROP TABLE x..y"
    assert submit_batch(world, P, batch, 1).numbers == [15477]
    counts = "SELECT COUNT(*) FROM x.sys.tables SELECT COUNT(*) FROM x.sys.database_role_members"
    assert submit_batch(world, P, counts).grids == [[[0]], [[2]]]


def test_modules_of_another_database_resolve_names_there() -> None:
    """A name without a database in a module means an object of the module's database [DOC: CREATE VIEW]."""
    world = build_lab(workload="none")
    world.update_instance(P, version=2014)
    for text in (
        "CREATE DATABASE x",
        "USE x CREATE TABLE t (a int) INSERT t VALUES (42)",
        "CREATE VIEW v AS SELECT a FROM t",
        "CREATE VIEW w AS SELECT v.a, o.name FROM v JOIN sys.objects o ON o.name = 't'",
        "CREATE FUNCTION f () RETURNS int AS BEGIN RETURN (SELECT a FROM t) END",
        "CREATE FUNCTION g (@p int) RETURNS @r TABLE (a int) AS BEGIN INSERT @r SELECT a + @p FROM t RETURN END",
        "CREATE FUNCTION i () RETURNS TABLE AS RETURN SELECT a FROM t",
    ):
        assert submit_batch(world, P, text, 2).numbers == []
    batch = "USE master SELECT * FROM x..v SELECT * FROM x.dbo.w SELECT x.dbo.f() SELECT * FROM x.dbo.g(1)"
    assert submit_batch(world, P, f"{batch} SELECT DB_NAME()", 1).grids == [
        [[42]],
        [[42, "t"]],
        [[42]],
        [[43]],
        [["master"]],
    ]
    assert "Not simulated" in submit_batch(world, P, "SELECT * FROM x.dbo.i()").texts[0]
    assert submit_batch(world, P, "USE x SELECT * FROM x.dbo.i()").grids == [[[42]]]


def test_functions_and_four_part_names_find_objects_of_other_databases() -> None:
    """Cross-database foreign keys are refused [DOC: CREATE TABLE]."""
    world = build_lab(workload="none")
    world.update_instance(P, version=2014)
    for text in (
        "CREATE DATABASE x",
        "USE x CREATE TABLE only_x (a int PRIMARY KEY) INSERT only_x VALUES (7)",
    ):
        assert submit_batch(world, P, text, 2).numbers == []
    here = "OBJECT_NAME({0}, {1}), OBJECT_SCHEMA_NAME({0}, {1}), OBJECT_NAME({0}, 99)"
    named = here.format("OBJECT_ID('x..only_x')", "DB_ID('x')")
    names = f"SELECT {named}, OBJECT_NAME(OBJECT_ID('x..only_x')), COL_LENGTH('x.dbo.only_x', 'a')"
    assert submit_batch(world, P, f"USE master {names}").grids == [[["only_x", "dbo", None, None, 4]]]
    kinds = "SELECT OBJECT_ID('x..only_x', 'P'), OBJECT_ID('x..only_x', 'U') - OBJECT_ID('x.dbo.only_x')"
    assert submit_batch(world, P, kinds).grids == [[[None, 0]]]
    assert submit_batch(world, P, "SELECT a FROM server_a.x.dbo.only_x").value == 7
    assert submit_batch(world, P, "CREATE TABLE f (a int REFERENCES x.dbo.only_x (a))").numbers == [
        1763,
        1750,
    ]
    roles = "SELECT IS_ROLEMEMBER('db_owner', 'dbo'), IS_ROLEMEMBER('db_owner', 'nosuch'), IS_ROLEMEMBER('nosuch')"
    assert submit_batch(world, P, roles).grids == [[[1, None, None]]]


def test_a_procedure_of_master_with_the_prefix_sp_runs_in_the_calling_database() -> None:
    """[DOC: CREATE PROCEDURE]"""
    world = build_lab(workload="none")
    for text in ("CREATE PROCEDURE sp_my AS SELECT DB_NAME()", "CREATE DATABASE x"):
        assert submit_batch(world, P, text, 2).numbers == []
    for name, database in {
        "sp_my": "x",
        "dbo.sp_my": "x",
        "x..sp_my": "x",
        "master..sp_my": "master",
    }.items():
        assert submit_batch(world, P, f"USE x EXEC {name}").value == database
    assert submit_batch(world, P, "USE master EXEC x.dbo.sp_my").value == "x"
    assert submit_batch(world, P, "EXEC x.dbo.my").numbers == [2812]
    assert submit_batch(world, P, "EXEC nosuch..sp_my").numbers == [2812]


def test_help_procedures_find_temp_tables_in_tempdb_alone() -> None:
    world = build_lab(workload="none")
    submit_batch(world, P, "CREATE TABLE #r (a int PRIMARY KEY)", 1)
    for call in ("sp_help '#r'", "sp_helpindex '#r'", "sp_spaceused '#r'"):
        assert 15009 not in submit_batch(world, P, f"EXEC tempdb..{call}").numbers
        assert submit_batch(world, P, f"EXEC {call}").numbers == [15009]
