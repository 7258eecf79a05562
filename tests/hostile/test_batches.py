"""Tests of hostile batches: each gets an answer, can be canceled, and stays in the simulation.

`python -m tests.hostile.measure batches` runs all cases.
"""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Final

import pytest

from engine import simulator, tsql
from engine.events import Event
from engine.tsql.batches import work
from engine.tsql.language.token_reader import PARSING_WORK_PER_TOKEN, STATEMENT_TOKENS_MAX, WORK_PER_STATEMENT
from tests.cases import sample_cases
from tests.engine.worlds import build_lab
from tests.events import read_field
from tests.hostile.batches import BATCHES

QUICK_BATCHES = [
    "endless PRINT", "endless GOTO", "endless dynamic SQL", "endless FETCH", "endless recursion",
    "a procedure that calls itself", "cross join of messages", "cross join of long texts", "a tower of views",
    "REPLICATE of max", "brackets to the full", "BEGIN in BEGIN", "semicolons", "quotes", "open comments",
    "a number of 5,000 digits", "a delay of 5,000 digits", "3,000 cursors", "20,000 tables",
    "PATINDEX over messages", "1,300 different pieces", "200 functions with OVER",
    "15,000 logins", "command after command", "a long IN", "GO after GO", "a long UNION", "keywords",
    *list(BATCHES)[list(BATCHES).index("ATTACH"):],
]  # fmt: skip


def _run_batch(text: str, ticks: int = 100) -> Event:
    """Run *text*, cancel it after *ticks*, and return its end event."""
    world = build_lab(workload="none")
    tsql.submit_text(world, "SERVER_A", text)
    events = simulator.advance_world(world, ticks)
    tsql.cancel_batches(world, "SERVER_A")
    events += simulator.advance_world(world, ticks + 1)
    assert "SERVER_A" not in world.batches
    return next(event for event in events if event.kind == "sql_done")


@pytest.mark.parametrize("name", sample_cases(2, QUICK_BATCHES))
def test_hostile_batches_end_or_can_be_stopped(name: str) -> None:
    assert read_field(_run_batch(BATCHES[name]()), "messages")
    assert not list(Path("/tmp").glob("mirrordrill-escaped*"))


@pytest.mark.parametrize("name", sample_cases(5, QUICK_BATCHES))
def test_work_per_tick_is_limited(name: str) -> None:
    """The test counts the work of one statement and of one turn, without measuring time. Every text has the
    same limit.
    """
    world = build_lab(workload="none")
    max_work = work.BURST_WORK + work.TURN_WORK_MAX + 2 * work.STATEMENT_WORK_MAX + STATEMENT_READ_MAX
    tsql.submit_text(world, "SERVER_A", BATCHES[name]())
    before = 0
    for _ in range(60):
        spent = sum(run.spent for run in world.batches.values())
        assert spent - before <= max_work, world.tick
        before = spent
        simulator.advance_world(world, world.tick + 1)


STATEMENT_READ_MAX: Final = WORK_PER_STATEMENT + PARSING_WORK_PER_TOKEN * (STATEMENT_TOKENS_MAX + 1)
"""Work to parse the longest statement, which cannot be divided."""


def _read_messages(text: str) -> str:
    return " ".join(message["text"] for message in read_field(_run_batch(text, ticks=20_000), "messages"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "SELECT a.text FROM sys.messages a, (SELECT TOP 60 text FROM sys.messages) b",
            "Not simulated: results of more than",
        ),
        ("SELECT 1 WHERE 1 IN (1" + ",1" * 4_500 + ")", "statements of more than 9000 words and signs"),
        (
            "DECLARE @t varchar(max) SET @t = REPLICATE(CAST('x' AS varchar(max)), 600000) SET @t = @t + @t",
            "values of more than 1000000 characters",
        ),
        (";" * 301_000, "batches of more than 300000 words and signs"),
        ("GO\n".join(["PRINT 1\n"] * 20_002), "scripts of more than 20000 batches and commands"),
        ("SET NOCOUNT ON\nGO 10001", "the batch was sent 10000 times"),
        (BATCHES["a sqlcmd variable that doubles"](), "sqlcmd variables that make a line longer than"),
        (BATCHES["100 large variables"](), "variables of more than 20000000 characters together"),
        (BATCHES["10,000 savepoints"](), "more than 1000 savepoints of one transaction"),
        (BATCHES["UNPIVOT of 1,800"](), "ran out of internal resources"),
        (BATCHES["views by four names"](), "needs more work than the simulated server allows"),
        (BATCHES["a ring of EXEC AT"](), "nesting level exceeded"),
        (BATCHES["half a character"](), "(1 row affected)"),
        (BATCHES["an action beyond all numbers"](), "Error converting data type numeric to int"),
        (BATCHES["200 functions with OVER"](), "ran out of internal resources"),
        ("SELECT 1 " + "-" * 1_000_000, "Not simulated: more than 1000000 characters at once"),
        ("SELECT " + "9" * 39, "out of the range for numeric representation"),
        ("DECLARE @i int SET @i='" + "9" * 50 + "'", "overflowed an int column"),
        ("SELECT * FROM sqlite_master", "Invalid object name 'sqlite_master'"),
        ("".join(f"CREATE TABLE #t{n} (a int) " for n in range(101)), "more than 100 temp tables"),
        (
            "".join(f"DECLARE c{n} CURSOR FOR SELECT 1 " for n in range(101)),
            "more than 100 cursors",
        ),
    ],
)
def test_each_limit_is_reported(text: str, message: str) -> None:
    assert message in _read_messages(text)


def test_results_of_a_batch_use_limited_memory() -> None:
    tracemalloc.start()
    try:
        messages = _read_messages("SELECT REPLICATE('x',8000) FROM sys.messages " * 12)
        assert "characters in them" in messages or "results of more than" in messages
        assert tracemalloc.get_traced_memory()[1] < 100_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("FORMAT(1,'N2000000000')", None),
        ("FORMAT(1.5,'F99')", f"1.5{'0' * 98}"),
        ("FORMAT(1,'D" + "9" * 5_000 + "')", None),
        ("FORMAT(CONVERT(datetime,'2012-05-06'),REPLICATE('yyyy',1000))", "2012" * 1_000),
    ],
)
def test_format_allocates_no_more_than_its_result(value: str, expected: str | None) -> None:
    world = build_lab(workload="none")
    world.update_instance("SERVER_A", version=2012)
    tsql.submit_text(world, "SERVER_A", f"SELECT {value}")
    (done_event,) = [event for event in simulator.advance_world(world, 500) if event.kind == "sql_done"]
    assert read_field(done_event, "results")[0]["rows"] == [[expected]]


def test_the_agent_reports_that_it_cannot_keep_up() -> None:
    world = build_lab(workload="none")
    tsql.submit_text(world, "SERVER_A", BATCHES["an alert for everything, often"]())
    notes = [event.text for event in simulator.advance_world(world, 300) if event.kind == "note"]
    assert any(note.startswith("SQL Server Agent cannot keep up: ") for note in notes)
