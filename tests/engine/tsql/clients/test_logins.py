"""External programs that log in: accepted and refused logins, lost connections, and remaining state."""

from __future__ import annotations

import json

import pytest

from engine import simulator
from engine.events import Event
from engine.inputs import InputError
from engine.model import Program, World, to_ticks
from engine.verbs.input_lines import parse_input_line
from tests.engine.tsql.console import submit_batch
from tests.engine.worlds import DB, M, P, build_lab
from tests.events import read_field

VALID_LOGIN = {"login": "sa", "password": "right", "host": "DESK7", "program": "job.py", "database": DB}


FATAL_BATCH = json.dumps("RAISERROR('gone', 20, 1) WITH LOG")


def apply_line(world: World, line: str, wait_s: float = 0.0) -> list[Event]:
    """Apply *line* and run for *wait_s*. Raises InputError."""
    simulator.apply_input(world, parse_input_line(line, world.tick))
    return simulator.advance_world(world, world.tick + to_ticks(wait_s))


def connect_client(world: World, server: str = P, **properties: str) -> Event:
    (event,) = (
        event
        for event in apply_line(world, f"connect {server}#c1 {json.dumps({**VALID_LOGIN, **properties})}")
        if event.kind == "session"
    )
    return event


def run_batch(world: World, text: str, server: str = P) -> Event:
    events = apply_line(world, f"batch {server}#c1 {json.dumps(text)}", 1)
    return next(event for event in events if event.kind == "sql_done")


def list_message_numbers(event: Event) -> list[int]:
    return [message["number"] for message in read_field(event, "messages")]


def test_a_program_uses_its_own_login_and_database() -> None:
    world = build_lab()
    assert read_field(connect_client(world, database=DB.upper()), "what") == "connected"
    answer = run_batch(world, "SELECT DB_NAME(), HOST_NAME(), APP_NAME(), SUSER_SNAME()")
    assert read_field(answer, "results")[0]["rows"] == [[DB, "DESK7", "job.py", "sa"]]
    result = submit_batch(
        world, P, "SELECT host_name, program_name FROM sys.dm_exec_sessions WHERE host_name = 'DESK7'"
    )
    assert result.grids == [[["DESK7", "job.py"]]]


def test_a_batch_runs_unchanged() -> None:
    world = build_lab()
    connect_client(world)
    answer = run_batch(world, "\n\n  SELECT '$(a)\n    GO'\nSELECT 1/0")
    assert read_field(answer, "results")[0]["rows"] == [["$(a)\n    GO"]]
    assert [(m["number"], m["line"]) for m in read_field(answer, "messages") if m["number"]] == [(8134, 5)]


def test_row_counts_are_numbers_without_client_messages() -> None:
    world = build_lab()
    connect_client(world)
    answer = run_batch(world, "CREATE TABLE #t (a int) INSERT #t VALUES (1) PRINT '(7 rows affected)'")
    assert [message.get("rows") for message in read_field(answer, "messages")] == [1, None]
    assert read_field(run_batch(world, "DECLARE @a int"), "messages") == []


@pytest.mark.parametrize(
    ("server", "properties", "expected"),
    [
        (P, {"password": "wrong"}, [18456]),
        (P, {"login": "nobody"}, [18456]),
        (P, {"database": "Nowhere"}, [4060, 18456]),
        (M, {}, [954, 4060, 18456]),
    ],
)
def test_a_refused_login_is_in_the_errorlog(
    server: str, properties: dict[str, str], expected: list[int]
) -> None:
    world = build_lab()
    event = connect_client(world, server, **properties)
    assert (read_field(event, "what"), list_message_numbers(event)) == ("refused", expected)
    assert world.errorlog[server][-1][1] == 18456
    with pytest.raises(InputError, match="not connected"):
        apply_line(world, f'batch {server}#c1 "SELECT 1"')


def test_login_options_are_visible_and_survive_a_reset() -> None:
    world = build_lab()
    connect_client(world, language="Deutsch", encrypted="yes", packet_bytes="16384")
    text = """SELECT @@LANGUAGE, encrypt_option, net_packet_size FROM sys.dm_exec_connections
        WHERE session_id = @@SPID SET LANGUAGE us_english"""
    for _ in range(2):
        assert read_field(run_batch(world, text), "results")[0]["rows"] == [["Deutsch", "TRUE", 16384]]
        apply_line(world, f"reset {P}#c1")
    connect_client(build_lab(), language="Klingon")  # an unknown language is ignored, as by the real server


def test_a_login_without_a_database_uses_its_default_unless_that_is_a_mirror() -> None:
    world = build_lab()
    for server in (P, M):
        reply = submit_batch(
            world, server, "CREATE LOGIN app WITH PASSWORD = 'Aa1!xx', DEFAULT_DATABASE = Sales"
        )
        assert reply.numbers == []
    connect_client(world, P, login="app", database="")
    assert read_field(run_batch(world, "SELECT DB_NAME()"), "results")[0]["rows"] == [["Sales"]]
    assert list_message_numbers(connect_client(world, M, login="app", database="")) == [4064, 18456]
    assert read_field(connect_client(world, M, login="app", database="master"), "what") == "connected"


@pytest.mark.parametrize(
    "line",
    [
        f"connect {P}#c1 sa",
        f'connect {P}#c1 {{"login": "sa"}}',
        f'connect {P}#c1 {{"login": "sa", "password": "x"}}',
        f'connect {P}#c1 {{"login": "sa", "password": "right", "host": 5}}',
        f'connect {P}#c1 {{"login": "sa", "password": "right", "packet_bytes": "4k"}}',
        f"batch {P}#c1 SELECT 1",
        f"batch {P}#c1 [1]",
        f"reset {P}#c2",
        f"disconnect {P}",
    ],
)
def test_impossible_program_requests_change_nothing(line: str) -> None:
    world = build_lab()
    if not line.startswith("connect"):
        connect_client(world)
    before = world.compute_state_hash()
    with pytest.raises(InputError):
        apply_line(world, line)
    assert world.compute_state_hash() == before


@pytest.mark.parametrize("fault", ["power-off SERVER_A", "stop-service SERVER_A", "pull-cable SERVER_A"])
def test_a_lost_connection_stays_lost(fault: str) -> None:
    world = build_lab()
    connect_client(world)
    events = apply_line(world, f"batch {P}#c1 \"WAITFOR DELAY '01:00:00'\"") + apply_line(world, fault, 20)
    assert [e.kind for e in events if e.kind in ("sql_done", "session")] == ["sql_done", "session"]
    with pytest.raises(InputError, match="not connected"):
        apply_line(world, f'batch {P}#c1 "SELECT 1"')
    with pytest.raises(InputError, match="does not respond"):
        connect_client(world)


def test_a_failover_drops_sessions_in_the_database() -> None:
    world = build_lab()
    connect_client(world)
    apply_line(world, f"connect {P}#c2 {json.dumps({**VALID_LOGIN, 'database': 'master'})}")
    events = apply_line(world, f"sql {P} ALTER DATABASE {DB} SET PARTNER FAILOVER", 30)
    assert [read_field(e, "window") for e in events if e.kind == "session"] == [f"{P}#c1"]
    assert f"{P}#c2" in world.sessions


def test_kill_ends_a_connection() -> None:
    world = build_lab()
    connect_client(world)
    spid = world.sessions[f"{P}#c1"].session.spid
    events = apply_line(world, f"sql {P} KILL {spid}", 5)
    assert [read_field(e, "what") for e in events if e.kind == "session"] == ["lost"]


def test_a_connection_ending_error_is_sent_first() -> None:
    world = build_lab()
    connect_client(world)
    events = apply_line(world, f"batch {P}#c1 {FATAL_BATCH}")
    assert [e.kind for e in events if e.kind in ("sql_done", "session")] == ["sql_done", "session"]
    assert f"{P}#c1" not in world.sessions


def test_a_reset_removes_all_state_of_the_last_user() -> None:
    world = build_lab()
    connect_client(world)
    run_batch(world, "USE master SET NOCOUNT ON CREATE TABLE #t (a int) BEGIN TRAN")
    apply_line(world, f"reset {P}#c1")
    answer = run_batch(world, "SELECT DB_NAME(), @@TRANCOUNT, OBJECT_ID('tempdb..#t')")
    assert read_field(answer, "results")[0]["rows"] == [[DB, 0, None]]
    assert read_field(answer, "messages")[0]["rows"] == 1


def test_uncommitted_work_of_a_program_ends_with_it() -> None:
    world = build_lab()
    connect_client(world)
    run_batch(world, "CREATE TABLE t (a int)")
    run_batch(world, "BEGIN TRAN INSERT t VALUES (1)")
    events = apply_line(world, f"disconnect {P}#c1")
    assert [read_field(e, "what") for e in events if e.kind == "session"] == ["closed by the program"]
    assert submit_batch(world, P, f"SELECT COUNT(*) FROM {DB}.dbo.t").value == 0


def test_program_queries_are_answered_at_once_without_taking_turns() -> None:
    world = build_lab()
    connect_client(world, database=DB)
    before = world.sql_work
    for _ in range(1_000):  # far more queries than people can send within one tick
        events = apply_line(world, 'batch SERVER_A#c1 "SELECT 1"')
        assert events[-1].kind == "sql_done"
    assert world.sql_work == before
    apply_line(world, 'batch SERVER_A#c1 "DECLARE @i int; SET @i = 0; WHILE @i < 5000 SET @i = @i + 1"')
    # a batch that does not end at once waits for its turn like all other batches
    assert world.sql_work > before


def test_errors_of_a_program_are_counted_if_the_scenario_asks() -> None:
    world = build_lab()
    world.programs["orders"] = Program()
    connect_client(world, password="wrong", program="ORDERS")
    connect_client(world, program="orders")
    run_batch(world, "SELECT 1")
    apply_line(world, f"batch {P}#c1 " + json.dumps("WAITFOR DELAY '00:00:03'"), 5)
    assert read_field(run_batch(world, "SELECT 1/0"), "program") == "orders"
    apply_line(world, f"stop-service {P}", 10)
    program = world.programs["orders"]
    assert (program.refused, program.logins, program.answers, program.errors, program.lost) == (1, 1, 2, 1, 1)
    assert 300 < program.longest_ticks < 450
    assert (program.server, program.moves) == (P, 0)


def test_a_query_that_ends_its_transaction_causes_propagation() -> None:
    """The simulator propagates changes after such a query, although it only reads. A query without effect
    causes none.
    """
    world = build_lab()
    connect_client(world, database=DB)
    run_batch(world, "SET XACT_ABORT ON")
    run_batch(world, "BEGIN TRAN")
    assert world.copies[P, DB].window_transactions
    before = world.settlings
    simulator.apply_input(world, parse_input_line(f'batch {P}#c1 "SELECT 1/0"', world.tick))
    assert world.settlings > before
    assert not world.copies[P, DB].window_transactions
    before = world.settlings
    simulator.apply_input(world, parse_input_line(f'batch {P}#c1 "SELECT 1"', world.tick))
    assert world.settlings == before


def test_cached_text_changes_neither_result_nor_world() -> None:
    batches = [
        "SELECT 1",
        "SELECT 1 AS a, NULL, 'x' WHERE 1 = 0",
        "SELECT 'x' UNION SELECT 'y'",
        "SELECT nothing",
    ]
    outcomes = []
    for _ in range(2):  # all texts are cached by now
        world = build_lab()
        connect_client(world, database=DB)
        field_values = [
            [read_field(run_batch(world, text), part) for part in ("messages", "results")]
            for text in batches * 2
        ]
        outcomes.append((field_values, world.compute_state_hash()))
    assert outcomes[0] == outcomes[1]
    (field_values, _), _ = outcomes
    assert field_values[:4] == field_values[4:]
    assert [field_values[0][1][0]["rows"], field_values[1][1][0]["rows"], field_values[2][1][0]["rows"]] == [
        [[1]],
        [],
        [["x"], ["y"]],
    ]


def test_output_rows_precede_their_count() -> None:
    """ODBC takes the first token as the result."""
    world = build_lab()
    connect_client(world, database=DB)
    run_batch(world, "CREATE TABLE t (a int)")
    answer = run_batch(world, "INSERT t OUTPUT inserted.a SELECT 1 UNION ALL SELECT 2")
    assert [result["after_messages"] for result in read_field(answer, "results")] == [0]
    assert [message["rows"] for message in read_field(answer, "messages")] == [2]
