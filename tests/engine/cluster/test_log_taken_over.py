"""Statements on a principal that hung while its partner took over, before the principal detects the takeover."""

from __future__ import annotations

import pytest

from engine import tsql
from engine.model import World
from tests.engine.availability.worlds import apply_lines, build_ag_lab, run_until
from tests.engine.cluster.random_runs import build_mirroring_lab
from tests.events import read_field


def _hang_principal(open_transaction: bool = False) -> World:
    """Return a world in which SERVER_B has taken over, but SERVER_A responds again and still acts as
    principal.
    """
    world = build_mirroring_lab(383)
    run_until(world, 5)
    tsql.submit_text(world, "SERVER_A", "USE Sales; CREATE TABLE marker (n int)")
    run_until(world, 10)
    if open_transaction:
        tsql.submit_text(world, "SERVER_A", "BEGIN TRANSACTION; INSERT marker VALUES (1)")
        run_until(world, 10.5)
    apply_lines(world, "hang SERVER_A")
    run_until(world, 60)
    apply_lines(world, "unhang SERVER_A")
    assert world.copies["SERVER_A", "Sales"].source is None
    return world


def _get_answer(world: World, text: str) -> list[str]:
    tsql.submit_text(world, "SERVER_A", text)
    events = run_until(world, world.t_s + 30)
    done_events = [
        event for event in events if event.kind == "sql_done" and read_field(event, "batch") == text
    ]
    assert len(done_events) == 1, text
    return [message["text"] for message in read_field(done_events[0], "messages")]


@pytest.mark.parametrize(
    "text",
    [
        "USE Sales; INSERT marker VALUES (2)",
        "USE Sales; UPDATE marker SET n = 1; INSERT marker VALUES (2); PRINT 'after'",
        "USE Sales; CREATE TABLE other (n int)",
        "USE Sales; CREATE USER app WITHOUT LOGIN",
        "ALTER DATABASE Sales ADD LOG FILE (NAME = l2, FILENAME = 'L:\\l2.ldf')",
        "ALTER DATABASE Sales REMOVE FILE l2",
        "USE Sales; BEGIN TRANSACTION; INSERT marker VALUES (2); COMMIT; PRINT 'after'",
        "USE Sales; BEGIN TRY; INSERT marker VALUES (2); END TRY BEGIN CATCH; PRINT 'after'; END CATCH",
    ],
)
def test_a_write_during_the_takeover_waits_and_ends_with_the_connection(text: str) -> None:
    replies = _get_answer(_hang_principal(), text)
    assert "transport-level error" in replies[-1], replies
    assert not any(
        "affected" in reply or reply == "after" for reply in replies[:-1] if "(0 rows" not in reply
    ), replies


def test_a_commit_during_the_takeover_waits_and_ends_with_the_connection() -> None:
    world = _hang_principal(open_transaction=True)
    assert "transport-level error" in _get_answer(world, "COMMIT")[-1]
    tsql.submit_text(world, "SERVER_B", "SELECT count(*) FROM Sales.dbo.marker")
    (done_event,) = [event for event in run_until(world, world.t_s + 5) if event.kind == "sql_done"]
    assert read_field(done_event, "results")[0]["rows"] == [[0]]


@pytest.mark.parametrize(
    "text",
    [
        "BACKUP LOG Sales TO DISK = 'D:\\Backup\\l.trn'",
        "BACKUP DATABASE Sales TO DISK = 'D:\\Backup\\l.bak'",
        "USE Sales; DBCC SHRINKFILE (2)",
        "ALTER DATABASE Sales SET PARTNER SAFETY OFF",
        "ALTER DATABASE Sales SET PARTNER OFF",
        "ALTER DATABASE Sales SET PARTNER FAILOVER",
        "ALTER DATABASE Sales SET PARTNER SUSPEND",
        "USE Sales; CHECKPOINT; DBCC OPENTRAN; SELECT * FROM marker; SELECT * FROM sys.dm_os_wait_stats",
        "SELECT * FROM sys.databases; SELECT * FROM sys.dm_exec_sessions",
    ],
)
def test_every_other_statement_returns(text: str) -> None:
    assert _get_answer(_hang_principal(), text) is not None


@pytest.mark.parametrize(
    "text", ["INSERT marker VALUES (2)", "PRINT 'before'; INSERT marker VALUES (2); PRINT 'after'"]
)
@pytest.mark.parametrize("owner_lost", [True, False])
def test_a_row_count_appears_when_the_commit_is_done(text: str, owner_lost: bool) -> None:
    """The commit waits for lost synchronous secondaries. With *owner_lost*, the primary loses power during
    the wait.
    """
    world = build_ag_lab(1)
    run_until(world, 5)
    tsql.submit_text(world, "NODE_1", "USE Sales; CREATE TABLE marker (n int)")
    run_until(world, 10)
    apply_lines(world, "cut NODE_1 NODE_2")
    tsql.submit_text(world, "NODE_1", text)
    done_events = [event for event in run_until(world, 10.5) if event.kind == "sql_done"]
    assert not done_events
    messages = world.batches["NODE_1"].messages
    assert all(message.rows is None for message in messages)
    if owner_lost:
        apply_lines(world, "power-off NODE_1")
    done_events = [
        event for event in run_until(world, 60) if event.kind == "sql_done" and event.server == "NODE_1"
    ]
    texts = [message["text"] for message in read_field(done_events[0], "messages")]
    if owner_lost:
        assert "(1 row affected)" not in texts
        assert "after" not in texts
        assert "transport-level error" in texts[-1]
    else:
        assert texts == [
            part for part in ("before", "(1 row affected)", "after") if part in text or "(" in part
        ]
