"""Shapes that mirroring scripts have in common: what they ask, build and loop over."""

from __future__ import annotations

from tests.engine.tsql.console import ask
from tests.engine.worlds import P, lab


def test_a_loop_that_deletes_the_first_row_ends() -> None:
    text = """CREATE TABLE #left (name sysname); INSERT #left SELECT 'a' UNION ALL SELECT 'b'; DECLARE @name sysname
        WHILE EXISTS (SELECT * FROM #left)
        BEGIN SELECT TOP 1 @name = name FROM #left; PRINT @name; DELETE TOP (1) FROM #left END"""
    assert [line for line in ask(lab(), P, text).texts if "affected" not in line] == ["a", "b"]


def test_top_100_percent_is_everything_and_another_share_is_not_simulated() -> None:
    everything = ask(lab(), P, "SELECT TOP 100 PERCENT name FROM sys.databases ORDER BY name").grids[0]
    assert len(everything) == 5
    assert ask(lab(), P, "SELECT TOP 50 PERCENT name FROM sys.databases").texts == [
        "Not simulated: TOP … PERCENT other than 100"
    ]


def test_the_name_of_a_login_is_that_of_its_sid() -> None:
    world = lab()
    ask(world, P, "CREATE LOGIN app WITH PASSWORD = 'p'")
    query = "SELECT SUSER_SNAME(0x01), SUSER_NAME(1), SUSER_SNAME(SUSER_SID('app')), SUSER_SNAME(0x77), SUSER_SNAME()"
    assert ask(world, P, query).grids == [[["sa", "sa", "app", None, "CORP\\dba"]]]


def test_a_connection_finds_itself_with_its_first_batch() -> None:
    for view, column in (("sys.dm_exec_connections", "session_id"), ("master.dbo.sysprocesses", "spid")):
        assert ask(lab(), P, f"SELECT {column} FROM {view} WHERE {column} = @@SPID").value == 51


def test_a_table_in_a_database_that_is_not_there_has_no_such_name() -> None:
    for text in ("SELECT * FROM DBA.dbo.History", "INSERT INTO DBA.dbo.History SELECT 1"):
        assert ask(lab(), P, text).numbers == [208]
