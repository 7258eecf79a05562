"""Whatever a batch tries, it is answered, it can be cancelled, and it stays inside. All cases: `measure batches`."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from engine import simulator, tsql
from engine.events import Event
from tests.engine.worlds import lab
from tests.hostile.batches import BATCHES

QUICK = [
    "endless PRINT", "endless GOTO", "endless dynamic SQL", "endless FETCH", "endless recursion",
    "a procedure that calls itself", "cross join of messages", "cross join of long texts", "a tower of views",
    "REPLICATE of max", "brackets to the full", "BEGIN in BEGIN", "semicolons", "quotes", "open comments",
    "a number of 5,000 digits", "a delay of 5,000 digits", "3,000 cursors", "20,000 tables",
    *list(BATCHES)[list(BATCHES).index("ATTACH"):],
]  # fmt: skip


def _ended(text: str) -> Event:
    world = lab(workload="none")
    tsql.submit(world, "SERVER_A", text)
    events = simulator.advance(world, 100)
    tsql.cancel(world, "SERVER_A")
    events += simulator.advance(world, 101)
    assert "SERVER_A" not in world.batches
    return next(event for event in events if event.kind == "sql_done")


@pytest.mark.parametrize("name", QUICK)
def test_answered_and_stopped(name: str) -> None:
    assert _ended(BATCHES[name]()).get("messages")
    assert not list(Path("/tmp").glob("mirrordrill-escaped*"))


def _said(text: str) -> str:
    return " ".join(message["text"] for message in _ended(text).get("messages"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "SELECT REPLICATE('x',8000) FROM sys.messages a, sys.messages b",
            "Not simulated: results of more than",
        ),
        ("SELECT 1 " + "-" * 1_000_000, "Not simulated: more than 1000000 characters at once"),
        ("SELECT " + "9" * 39, "out of the range for numeric representation"),
        ("DECLARE @i int SET @i='" + "9" * 50 + "'", "Arithmetic overflow"),
        ("SELECT * FROM sqlite_master", "Invalid object name 'sqlite_master'"),
        ("".join(f"CREATE TABLE #t{n} (a int) " for n in range(101)), "more than 100 temp tables"),
        (
            "".join(f"DECLARE c{n} CURSOR FOR SELECT 1 " for n in range(101)),
            "more than 100 cursors",
        ),
    ],
)
def test_each_bound_is_said(text: str, said: str) -> None:
    assert said in _said(text)


def test_results_do_not_pile_up() -> None:
    tracemalloc.start()
    try:
        said = _said("SELECT REPLICATE('x',8000) FROM sys.messages " * 12)
        assert "characters in them" in said or "results of more than" in said
        assert tracemalloc.get_traced_memory()[1] < 100_000_000
    finally:
        tracemalloc.stop()
