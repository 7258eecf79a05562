"""ALTER DATABASE … SET READ_ONLY, EMERGENCY and OFFLINE while windows and applications use the database."""

from __future__ import annotations

import pytest

from engine.model import World
from engine.protocol import connections
from tests.engine.tsql.console import collect_answers, run_seconds, submit_batch
from tests.engine.worlds import P, apply_lines, build_lab
from tests.events import read_field

A, B = f"{P}#a", f"{P}#b"


def build_used_database() -> World:
    """Return a database with an open transaction of window B; window A is in master."""
    world = build_lab(workload="none")
    submit_batch(world, A, "CREATE DATABASE d", 2)
    submit_batch(world, B, "USE d CREATE TABLE t (n int) BEGIN TRAN INSERT t VALUES (1)", 2)
    return world


@pytest.mark.parametrize("option", ["READ_ONLY", "EMERGENCY", "OFFLINE"])
def test_the_statement_waits_until_other_sessions_have_left(option: str) -> None:
    world = build_used_database()
    assert collect_answers(world, A, f"ALTER DATABASE d SET {option}", 10) == []
    waits = "SELECT blocking_session_id, command FROM sys.dm_exec_requests WHERE session_id = 51"
    assert submit_batch(world, f"{P}#c", waits).grids == [[[52, "ALTER DATABASE"]]]
    assert A in {
        str(read_field(answer.event, "window"))
        for answer in collect_answers(world, B, "COMMIT USE master", 3)
    }


@pytest.mark.parametrize("option", ["READ_ONLY", "EMERGENCY", "OFFLINE"])
def test_the_termination_clause_decides(option: str) -> None:
    world = build_used_database()
    assert submit_batch(world, A, f"ALTER DATABASE d SET {option} WITH NO_WAIT").numbers == [5070, 5069]
    assert collect_answers(world, A, f"ALTER DATABASE d SET {option} WITH ROLLBACK AFTER 5 SECONDS", 4) == []
    (ended_answer,) = [
        answer
        for answer in collect_answers(world, f"{P}#c", "SELECT 1", 4)
        if read_field(answer.event, "window") == A
    ]
    assert ended_answer.numbers == [5060, 5060]


def test_uncommitted_changes_of_other_sessions_are_rolled_back() -> None:
    world = build_used_database()
    submit_batch(world, A, "ALTER DATABASE d SET READ_ONLY WITH ROLLBACK IMMEDIATE", 2)
    assert submit_batch(world, A, "SELECT COUNT(*) FROM d.dbo.t").value == 0


@pytest.mark.parametrize("statement", ["ALTER DATABASE d SET SINGLE_USER WITH ROLLBACK IMMEDIATE", "KILL 52"])
def test_the_next_statement_of_the_batch_has_the_database(statement: str) -> None:
    world = build_used_database()
    answer = [
        a
        for a in collect_answers(world, A, f"{statement} DROP DATABASE d", 2)
        if read_field(a.event, "window") == A
    ]
    assert [number for number in answer[0].numbers if number != 5060] == []
    assert submit_batch(world, A, "SELECT DB_ID('d')").value is None


def test_an_application_reads_but_cannot_write() -> None:
    world = build_lab()
    submit_batch(world, P, "ALTER DATABASE Sales SET PARTNER OFF", 5)
    run_seconds(world, 20)
    assert collect_answers(world, A, "ALTER DATABASE Sales SET READ_ONLY", 5) == []
    submit_batch(world, f"{P}#c", "KILL 51", 2)
    submit_batch(world, B, "ALTER DATABASE Sales SET READ_ONLY WITH ROLLBACK IMMEDIATE", 5)
    assert [connection.database for connection in connections.list_connections(world, P)]
    copy = world.copies[P, "Sales"]
    assert copy.source is not None
    committed_kb = world.flow.read_source_positions(copy.source).committed_kb
    run_seconds(world, 30)
    assert world.flow.read_source_positions(copy.source).committed_kb == committed_kb
    submit_batch(world, B, "ALTER DATABASE Sales SET READ_WRITE WITH ROLLBACK IMMEDIATE", 5)
    run_seconds(world, 30)
    assert world.flow.read_source_positions(copy.source).committed_kb > committed_kb


def test_both_options_survive_a_restart() -> None:
    world = build_used_database()
    submit_batch(world, B, "COMMIT USE master CREATE DATABASE e", 3)
    submit_batch(world, A, "ALTER DATABASE d SET READ_ONLY ALTER DATABASE e SET EMERGENCY", 3)
    apply_lines(world, f"restart-service {P}", wait_s=90.0)
    states = "SELECT state_desc, is_read_only FROM sys.databases WHERE name IN ('d', 'e') ORDER BY name"
    assert submit_batch(world, A, states, 5).grids == [[["ONLINE", 1], ["EMERGENCY", 0]]]


def test_a_read_only_database_joins_neither_session_nor_group() -> None:
    world = build_lab(workload="none")
    submit_batch(world, A, "ALTER DATABASE Sales SET PARTNER OFF", 5)
    submit_batch(world, A, "ALTER DATABASE Sales SET READ_ONLY", 5)
    assert submit_batch(world, A, "ALTER DATABASE Sales SET PARTNER = 'TCP://SERVER_B:5022'").numbers == [
        1466
    ]
