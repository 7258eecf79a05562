"""Sessions of applications, SQL Server Agent and windows: sp_who, sp_who2, KILL, logins."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import engine.tsql
from engine.model import World
from engine.tsql.language.reserved_words import RESERVED_WORDS
from tests.engine.tsql.console import Answer, submit_batch
from tests.engine.worlds import DB, M, P, W, apply_lines, build_lab

SESSION_QUERIES = {
    "sys.dm_exec_sessions": "program_name LIKE 'APP%'",
    "sys.sysprocesses": "program_name LIKE 'APP%'",
    "sys.dm_exec_connections": "session_id >= 200",
}


def run_sql(world: World, server: str, text: str) -> Answer:
    return submit_batch(world, server, text, 5.0)


def count_rows(world: World, server: str, view: str) -> int:
    count: int = run_sql(world, server, f"SELECT COUNT(*) FROM {view} WHERE {SESSION_QUERIES[view]}").value
    return count


@pytest.mark.parametrize("view", SESSION_QUERIES)
def test_every_application_connection_is_listed_and_moves_with_it(view: str) -> None:
    """Check documented behavior: [DOC: sys.dm_exec_sessions; sys.dm_exec_connections; sys.sysprocesses]."""
    world = build_lab()
    assert [count_rows(world, server, view) for server in (P, M, W)] == [1000, 0, 0]
    apply_lines(world, f"workload {DB} Workload1 scale=0.5")
    assert count_rows(world, P, view) == 500
    apply_lines(world, f"power-off {P}", wait_s=40.0)
    assert count_rows(world, M, view) == 500
    apply_lines(world, "stop-app APP")
    assert count_rows(world, M, view) == 0


def test_the_counter_agrees_with_the_sessions() -> None:
    world = build_lab()
    users = run_sql(
        world,
        P,
        "SELECT cntr_value FROM sys.dm_os_performance_counters WHERE counter_name LIKE 'User Connections%'",
    ).value
    sessions = "SELECT COUNT(*) FROM sys.dm_exec_sessions WHERE is_user_process = 1"
    agent = " AND program_name NOT LIKE 'SQLAgent%'"
    assert run_sql(world, P, sessions + agent).value == users == 1001


def test_agent_sessions_exist_while_the_agent_runs() -> None:
    world = build_lab()
    query = "SELECT COUNT(*) FROM sys.dm_exec_sessions WHERE program_name LIKE 'SQLAgent - %'"
    assert run_sql(world, P, query).value == 3
    apply_lines(world, f"stop-agent {P}")
    assert run_sql(world, P, query).value == 0


def test_kill_ends_one_connection_and_the_application_opens_another() -> None:
    """Check documented behavior: [DOC: KILL]."""
    world = build_lab()
    assert run_sql(world, P, "KILL 250").numbers == []
    assert world.clients["APP"].cut_connections == 1
    left = "SELECT COUNT(*), MAX(session_id) FROM sys.dm_exec_sessions WHERE program_name LIKE 'APP%'"
    assert run_sql(world, P, left).grids == [[[1000, 1200]]]
    assert run_sql(world, P, "SELECT session_id FROM sys.dm_exec_sessions WHERE session_id = 250").grids == [
        []
    ]
    assert run_sql(world, P, "KILL 250").numbers == [6106]
    assert run_sql(world, P, "KILL 1200").numbers == []
    assert run_sql(world, P, left).grids == [[[1000, 1201]]]


def test_sp_who2_has_its_thirteen_columns_and_sp_who_its_nine() -> None:
    """Check documented behavior: [DOC: sp_who]."""
    world = build_lab()
    reply = run_sql(world, P, "EXEC sp_who2")
    assert reply.columns == [
        ["SPID", "Status", "Login", "HostName", "BlkBy", "DBName", "Command", "CPUTime", "DiskIO", "LastBatch",
         "ProgramName", "SPID", "REQUESTID"]
    ]  # fmt: skip
    assert len(reply.grids[0]) > 1000
    assert {row[9][:9] for row in reply.grids[0]} == {"10/22 12:"}
    columns = ["spid", "ecid", "status", "loginame", "hostname", "blk", "dbname", "cmd", "request_id"]
    assert run_sql(world, P, "EXEC sp_who").columns == [columns]


# argument -> remaining rows [DOC: sp_who]
ARGUMENTS = {
    "'active'": lambda row: row[7] != "AWAITING COMMAND",
    "'CORP\\svc-app'": lambda row: row[3] == "CORP\\svc-app",
    "'sa'": lambda row: row[3] == "sa",
    "201": lambda row: row[0] == 201,
}


@pytest.mark.parametrize("argument", ARGUMENTS)
def test_sp_who_takes_active_a_login_or_a_session_id(argument: str) -> None:
    world = build_lab()
    all_rows = run_sql(world, P, "EXEC sp_who").grids[0]
    some_rows = run_sql(world, P, f"EXEC sp_who {argument}").grids[0]
    kept_rows = [row[0] for row in all_rows if ARGUMENTS[argument](row)]
    assert 0 < len(kept_rows) < len(all_rows)
    assert {row[0] for row in some_rows} == set(kept_rows)


def test_an_unknown_login_is_refused() -> None:
    assert run_sql(build_lab(), P, "EXEC sp_who2 'nobody'").numbers == [15007]


def test_logins_of_system_services_roles_and_applications_exist() -> None:
    """Check documented behavior: [DOC: sys.server_principals; server-level roles]."""
    world = build_lab()
    rows = run_sql(world, P, "SELECT name, type FROM sys.server_principals").grids[0]
    kinds = {name: kind.strip() for name, kind in rows}
    roles = [name for name, kind in kinds.items() if kind == "R"]
    assert len(roles) == 9
    assert kinds["NT AUTHORITY\\SYSTEM"] == "U"
    assert kinds["BUILTIN\\Administrators"] == "G"
    connected = run_sql(world, P, "SELECT DISTINCT login_name FROM sys.dm_exec_sessions").grids[0]
    assert {login for (login,) in connected} <= kinds.keys()


def test_an_unquoted_word_is_a_valid_exec_argument() -> None:
    """A word without quotes is a text, even if it is a keyword [DOC: EXECUTE]."""
    world = build_lab()
    plain_rows, quoted = (
        run_sql(world, P, f"EXEC sp_who2 {word}").grids[0] for word in ("active", "'active'")
    )
    assert [row[0] for row in plain_rows] == [row[0] for row in quoted]
    grammar = (Path(engine.tsql.__file__).parent / "language" / "commands.lark").read_text(encoding="utf-8")
    words = {word.upper() for word in re.findall(r'"([A-Za-z_]+)"i', grammar)} - RESERVED_WORDS
    assert len(words) > 50
    refused = [
        word for word in sorted(words) if 15010 not in run_sql(world, P, f"EXEC sp_helpdb {word}").numbers
    ]
    assert refused == ["MASTER"]  # the argument is the name of a database


def test_global_temp_tables_are_shared_and_local_ones_are_not() -> None:
    """See [DOC: CREATE TABLE, temporary tables]. A change of another session's table is not simulated."""
    world = build_lab(workload="none")
    run_sql(world, P, "CREATE TABLE ##g (a int) INSERT ##g VALUES (7) CREATE TABLE #g (a int)")
    second_window = f"{P}#2"
    assert run_sql(world, second_window, "SELECT a FROM ##g").grids == [[[7]]]
    assert run_sql(world, second_window, "SELECT a FROM #g").numbers == [208]
    assert run_sql(world, second_window, "CREATE TABLE ##g (b int)").numbers == [2714]
    assert "Not simulated" in run_sql(world, second_window, "INSERT ##g VALUES (8)").texts[0]
    assert run_sql(world, P, "SELECT a FROM ##g").grids == [[[7]]]


def test_a_table_name_in_use_ends_the_transaction() -> None:
    """A test of python-tds expects this. Afterwards the table of the transaction can be created again."""
    world = build_lab(workload="none")
    assert run_sql(world, P, "BEGIN TRAN CREATE TABLE t (a int)").numbers == []
    assert run_sql(world, P, "CREATE TABLE t (a int)").numbers == [2714]
    assert run_sql(world, P, "SELECT @@TRANCOUNT, OBJECT_ID('t')").grids == [[[0, None]]]
