"""Name resolution when a batch or procedure compiles, and when a statement runs.

[DOC: Batches; USE] Documented: a compile error prevents the whole batch; deferred name resolution applies to
missing tables.
"""

from __future__ import annotations

import pytest

from tests.engine.tsql.console import format_message, run_seconds, submit_batch
from tests.engine.worlds import P, build_lab
from tests.events import read_field

IGNORED_MESSAGES = {3621, 5701, 5703}

BATCHES = {
    "a wrong column of a table that is there": ("PRINT 'a' SELECT nocol FROM sys.databases", ["207:1"]),
    "in a statement that is never reached": (
        "IF 1 = 0\nSELECT nocol FROM sys.databases\nELSE PRINT 'x'",
        ["207:2"],
    ),
    "each wrong statement is told": (
        "PRINT 'a'\nSELECT nocol, other FROM sys.databases\nPRINT 'b'\nSELECT COUNT(*), name FROM sys.databases",
        ["207:2", "207:2", "8120:4"],
    ),
    "a missing table waits": ("PRINT 'a' SELECT * FROM nosuch PRINT 'b'", ["a", "208:1"]),
    "and with it the columns of its neighbors": (
        "PRINT 'a' SELECT d.nocol FROM sys.databases d JOIN nosuch n ON n.a = d.name",
        ["a", "208:1"],
    ),
    "never reached, never told": ("IF 1 = 0 SELECT * FROM nosuch PRINT 'b'", ["b"]),
    "a function that is not there": ("PRINT 'a' SELECT nosuch(1)", ["195:1"]),
    "in a condition": (
        "PRINT 'a'\nIF EXISTS (SELECT 1 FROM sys.databases WHERE nocol = 1) PRINT 'b'",
        ["207:2"],
    ),
    "in a value": ("DECLARE @n int\nPRINT 'a'\nSET @n = (SELECT nocol FROM sys.databases)", ["207:3"]),
    "in a cursor": ("PRINT 'a' DECLARE c CURSOR FOR SELECT nocol FROM sys.databases", ["207:1"]),
    "in a table variable": ("PRINT 'a' DECLARE @t TABLE (a int) SELECT b FROM @t", ["207:1"]),
    "in a column to insert": ("PRINT 'a' DECLARE @t TABLE (a int) INSERT @t (b) VALUES (1)", ["207:1"]),
    "in a column to change": ("PRINT 'a' DECLARE @t TABLE (a int) UPDATE @t SET b = 1", ["207:1"]),
    "types that do not meet": ("PRINT 'a' DECLARE @x xml SELECT @x + 1", ["402:1"]),
    "a type that is not there": ("PRINT 'a' DECLARE @x nosuch", ["2715:1"]),
    "a temp table made in the batch": ("CREATE TABLE #n (a int) PRINT 'a' SELECT b FROM #n", ["a", "207:1"]),
    "USE while compiling": ("PRINT 'a' IF 1 = 0 USE nosuch", ["911:1"]),
    "USE decides what follows": (
        "USE Sales SELECT 1 FROM dbo.backupset PRINT 'a' USE msdb SELECT nocol FROM dbo.backupset",
        ["207:1"],
    ),
    "no CATCH of the same text takes it": (
        "BEGIN TRY SELECT nocol FROM sys.databases END TRY BEGIN CATCH PRINT 'caught' END CATCH",
        ["207:1"],
    ),
    "one around it does": (
        "BEGIN TRY EXEC('PRINT 1 SELECT nocol FROM sys.databases') END TRY "
        "BEGIN CATCH PRINT ERROR_NUMBER() END CATCH",
        ["207"],
    ),
    "what calls the text goes on": (
        "EXEC('PRINT ''a'' SELECT nocol FROM sys.databases') PRINT 'b'",
        ["207:1", "b"],
    ),
    "what calls wrong text goes on": ("EXEC('SELECT @x') EXEC('SELEC') PRINT 'b'", ["137:1", "2812:1", "b"]),
    "a common table expression is no table": (";WITH n AS (SELECT 1 a) SELECT b FROM n", ["207:1"]),
    "what an UPDATE names is none either": (
        "DECLARE @t TABLE (a int) PRINT 'a' UPDATE x SET a = y.nocol FROM @t x JOIN sys.databases y ON 1 = 1",
        ["207:1"],
    ),
}


@pytest.mark.parametrize("name", BATCHES)
def test_names_are_resolved_before_a_batch_runs(name: str) -> None:
    text, wanted = BATCHES[name]
    world = build_lab(workload="none")
    world.update_instance(P, version=2014)
    messages = read_field(submit_batch(world, P, "SET NOCOUNT ON " + text, wait_s=1).event, "messages")
    shown_messages = [
        m
        for m in messages
        if m["number"] not in IGNORED_MESSAGES and m["text"] != "Commands completed successfully."
    ]
    assert [f"{m['number']}:{m['line']}" if m["number"] else m["text"] for m in shown_messages] == wanted


def test_a_table_is_used_as_compiled() -> None:
    world = build_lab()
    submit_batch(world, P, "CREATE TABLE #a (x int)")
    assert submit_batch(world, P, "ALTER TABLE #a ADD y int SELECT y FROM #a").numbers == [207]
    assert submit_batch(world, P, "SELECT x FROM #a").numbers == []
    assert submit_batch(world, P, "ALTER TABLE #a ADD y int EXEC('SELECT y FROM #a')").numbers == []


def test_a_procedure_with_a_wrong_column_is_refused_but_not_one_with_a_missing_table() -> None:
    world = build_lab()
    bad_batch = "CREATE PROC p @n int AS\nPRINT 'a'\nSELECT nocol FROM sys.databases WHERE database_id = @n"
    (message,) = read_field(submit_batch(world, P, bad_batch).event, "messages")
    assert (message["number"], message["line"]) == (207, 3)
    assert submit_batch(world, P, "EXEC p 1").numbers == [2812]
    submit_batch(world, P, "CREATE PROC p AS PRINT 'a' SELECT nocol FROM later")
    assert submit_batch(world, P, "EXEC p").texts[0] == "a"
    submit_batch(world, P, "CREATE TABLE later (x int)")
    assert [
        format_message(m)[:8] for m in read_field(submit_batch(world, P, "EXEC p").event, "messages")
    ] == ["Msg 207,"]


def test_a_long_batch_is_resolved_in_turns() -> None:
    world = build_lab(workload="none")
    long = "DECLARE @n int " + "SET @n = (SELECT COUNT(*) FROM sys.databases WHERE name <> 'x') " * 300
    assert submit_batch(world, P, long + "SELECT nocol FROM sys.databases", wait_s=30).numbers == [207]
    assert not run_seconds(world, 1)
