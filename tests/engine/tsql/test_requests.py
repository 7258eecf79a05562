"""Running requests and last batches in the dynamic views, derived from the work of the instance."""

from __future__ import annotations

import pytest

from engine import tsql
from engine.model import World
from tests.engine.tsql.console import run_seconds, submit_batch
from tests.engine.worlds import P, build_lab

OTHER_WINDOW = f"{P}#2"
REQUEST_QUERY = """SELECT command, status, wait_type, percent_complete, estimated_completion_time
    FROM sys.dm_exec_requests WHERE session_id > 50 AND session_id <> @@SPID"""


def start_batch(text: str, wait_s: float = 1.0) -> World:
    """Return a world in which *text* has run for *wait_s* in another window."""
    world = build_lab(workload="none")
    submit_batch(world, P, "SELECT 1")
    tsql.submit_text(world, OTHER_WINDOW, text)
    run_seconds(world, wait_s)
    return world


@pytest.mark.parametrize(
    ("text", "command", "wait"),
    [
        (r"BACKUP DATABASE Sales TO DISK = 'D:\a.bak'", "BACKUP DATABASE", "ASYNC_IO_COMPLETION"),
        ("DBCC CHECKDB ('Sales')", "DBCC TABLE CHECK", None),
    ],
)
def test_a_long_statement_shows_its_command_and_progress(text: str, command: str, wait: str | None) -> None:
    world = start_batch(text, wait_s=5)
    ((spid, status, kind, before, left_ms),) = submit_batch(world, P, REQUEST_QUERY).grids[0]
    assert (spid, kind) == (command, wait)
    assert status == ("suspended" if wait else "running")
    run_seconds(world, 5)
    ((*_, status_after, still_ms),) = submit_batch(world, P, REQUEST_QUERY).grids[0]
    assert 0 < before < status_after < 100
    assert left_ms - still_ms == 5_000
    assert status_after / (status_after - before) * 5 == pytest.approx(10)
    waiting = submit_batch(
        world, P, "SELECT wait_type FROM sys.dm_os_waiting_tasks WHERE session_id > 50"
    ).grids[0]
    assert waiting == ([[wait]] if wait else [])


def test_a_restore_shows_its_command() -> None:
    world = build_lab(workload="none")
    submit_batch(world, P, "CREATE DATABASE small", wait_s=30)
    submit_batch(world, P, r"BACKUP DATABASE Sales TO DISK = 'D:\a.bak'", wait_s=7200)
    move = r"MOVE 'Sales' TO 'D:\n.mdf', MOVE 'Sales_log' TO 'D:\n.ldf'"
    tsql.submit_text(world, OTHER_WINDOW, rf"RESTORE DATABASE New FROM DISK = 'D:\a.bak' WITH {move}")
    run_seconds(world, 10)
    ((command, status, wait, percent, _),) = submit_batch(world, P, REQUEST_QUERY).grids[0]
    assert (command, status, wait) == ("RESTORE DATABASE", "suspended", "BACKUPTHREAD")
    assert percent > 0


def test_a_blocked_statement_and_a_wait_show_their_commands() -> None:
    world = build_lab(workload="none")
    submit_batch(world, P, "CREATE TABLE t (a int); INSERT t VALUES (1)")
    submit_batch(world, P, "BEGIN TRAN; UPDATE t SET a = 2")
    tsql.submit_text(world, OTHER_WINDOW, "DELETE t")
    tsql.submit_text(world, f"{P}#3", "WAITFOR DELAY '00:01'")
    run_seconds(world, 1)
    rows = submit_batch(world, P, REQUEST_QUERY.replace("command,", "command AS c,")).grids[0]
    assert sorted(row[0] for row in rows) == ["DELETE", "WAITFOR"]
    assert submit_batch(world, P, "SELECT cmd FROM sys.sysprocesses WHERE blocked > 0").grids[0] == [
        ["DELETE".ljust(16)]
    ]


def test_the_last_batch_of_a_sleeping_blocker_is_found() -> None:
    world = build_lab(workload="none")
    submit_batch(world, P, "CREATE TABLE t (a int); INSERT t VALUES (1)")
    submit_batch(world, OTHER_WINDOW, "SELECT 1\nGO\nBEGIN TRAN; UPDATE t SET a = 2 -- forgotten")
    spid = submit_batch(world, OTHER_WINDOW, "SELECT @@SPID").value
    submit_batch(world, OTHER_WINDOW, "UPDATE t SET a = 3 -- forgotten")
    run_seconds(world, 60)
    session_filter = f"session_id = {spid}"
    handle = f"""SELECT t.text FROM sys.dm_exec_connections c
        CROSS APPLY sys.dm_exec_sql_text(c.most_recent_sql_handle) t WHERE c.{session_filter}"""
    assert submit_batch(world, P, handle).value == "UPDATE t SET a = 3 -- forgotten"
    assert submit_batch(world, P, f"DBCC INPUTBUFFER ({spid})").grids[0] == [
        ["Language Event", 0, "UPDATE t SET a = 3 -- forgotten"]
    ]
    idle = f"""SELECT DATEDIFF(second, last_request_end_time, GETDATE()), status FROM sys.dm_exec_sessions
        WHERE {session_filter}"""
    assert submit_batch(world, P, idle).grids[0] == [[60, "sleeping"]]
    assert submit_batch(world, P, "DBCC INPUTBUFFER (999)").numbers == [7955]
    world.update_instance(P, version=2016)
    buffer = f"SELECT event_type, event_info FROM sys.dm_exec_input_buffer({spid}, NULL)"
    assert submit_batch(world, P, buffer).grids[0] == [["Language Event", "UPDATE t SET a = 3 -- forgotten"]]


def test_only_the_last_batch_of_a_submission_is_its_text() -> None:
    world = build_lab(workload="none")
    submit_batch(world, OTHER_WINDOW, "SELECT 1\nGO\nSELECT 2")
    sessions_query = (
        "SELECT session_id FROM sys.dm_exec_sessions WHERE host_name = 'CONSOLE' AND session_id <> @@SPID"
    )
    spid = submit_batch(world, P, sessions_query).value
    assert submit_batch(world, P, f"DBCC INPUTBUFFER ({spid})").grids[0][0][2].strip() == "SELECT 2"


def test_a_request_shows_its_duration_and_its_database_user() -> None:
    world = build_lab(workload="none")
    submit_batch(
        world, P, "USE Sales; CREATE LOGIN ann WITH PASSWORD = 'Pa55word!'; CREATE USER ann FOR LOGIN ann"
    )
    user_id = submit_batch(world, P, "USE Sales; SELECT USER_ID('ann')").value
    tsql.submit_text(world, OTHER_WINDOW, "USE Sales; EXECUTE AS USER = 'ann'; WAITFOR DELAY '00:01'")
    run_seconds(world, 2.5)
    query = "SELECT user_id, total_elapsed_time FROM sys.dm_exec_requests WHERE command = 'WAITFOR'"
    ((found_id, first_ms),) = submit_batch(world, P, query).grids[0]
    run_seconds(world, 5)
    ((_, second_ms),) = submit_batch(world, P, query).grids[0]
    assert found_id == user_id != 1
    assert submit_batch(world, P, "SELECT uid FROM sys.sysprocesses WHERE cmd = 'WAITFOR'").value == user_id
    assert 2400 <= first_ms <= 2700
    assert 4900 <= second_ms - first_ms <= 5200
