"""Query windows and their connections: lost and hung servers, waiting, canceling and forking."""

from __future__ import annotations

import pytest

from engine import simulator, tsql
from engine.events import Event
from engine.tsql.batches import work
from tests.engine.tsql.console import Answer, collect_answers, run_seconds, submit_batch
from tests.engine.worlds import DB, MIRROR, PRINCIPAL, M, P, apply_lines, build_lab
from tests.events import read_field


def list_answers(events: list[Event]) -> list[Answer]:
    return [Answer(event) for event in events if event.kind == "sql_done"]


def test_a_submission_reports_its_begin_and_end() -> None:
    world = build_lab()
    tsql.submit_text(world, "server_a#2", "WAITFOR DELAY '00:00:02' SELECT 1")
    begin_event, end_event = [event for event in run_seconds(world, 5) if event.kind in ("sql", "sql_done")]
    assert (begin_event.tick, begin_event.text, begin_event.server) == (
        0,
        "WAITFOR DELAY '00:00:02' SELECT 1",
        P,
    )
    assert read_field(begin_event, "window") == read_field(end_event, "window") == "SERVER_A#2"
    assert (
        end_event.tick,
        read_field(end_event, "started_tick"),
        read_field(end_event, "elapsed_ticks"),
    ) == (
        200,
        0,
        200,
    )
    assert read_field(end_event, "results") == [
        {
            "columns": ["(No column name)"],
            "types": ["int"],
            "nullable": [False],
            "rows": [[1]],
            "after_messages": 0,
        }
    ]


def test_an_unknown_server_is_an_error_of_the_caller() -> None:
    with pytest.raises(KeyError):
        tsql.submit_text(build_lab(), "NOWHERE", "SELECT 1")


@pytest.mark.parametrize(
    ("fault", "numbers"),
    [("power-off SERVER_A", [53]), ("stop-service SERVER_A", [2]), ("pull-cable SERVER_A", [53])],
)
def test_a_new_batch_on_a_dead_server_gets_the_connection_error(fault: str, numbers: list[int]) -> None:
    world = build_lab()
    apply_lines(world, fault)
    assert submit_batch(world, P, "SELECT 1").numbers == numbers


@pytest.mark.parametrize(
    ("fault", "number"),
    [("power-off SERVER_A", 64), ("stop-service SERVER_A", 10054), ("pull-cable SERVER_A", 64)],
)
def test_a_running_batch_ends_when_its_server_is_lost(fault: str, number: int) -> None:
    world = build_lab()
    tsql.submit_text(world, P, "PRINT 'before' WAITFOR DELAY '01:00:00' PRINT 'after'")
    (answer,) = list_answers(apply_lines(world, fault))
    assert answer.texts[0] == "before"
    assert answer.numbers == [number]
    assert answer.event.tick < 30 * 100


def test_a_window_reconnects_without_its_session_state() -> None:
    world = build_lab()
    submit_batch(world, P, "USE msdb CREATE TABLE #t (a int) SET NOCOUNT ON")
    apply_lines(world, "stop-service SERVER_A")
    assert submit_batch(world, P, "SELECT 1").numbers == [2]
    apply_lines(world, "start-service SERVER_A")
    assert submit_batch(world, P, "SELECT DB_NAME()").value == "master"
    assert submit_batch(world, P, "SELECT * FROM #t").numbers == [208]


def test_context_and_temp_tables_persist_between_batches() -> None:
    world = build_lab()
    submit_batch(world, P, "USE msdb CREATE TABLE #t (a int) INSERT #t VALUES (4)")
    assert submit_batch(world, P, "SELECT DB_NAME()").value == "msdb"
    assert submit_batch(world, P, "SELECT a FROM #t").value == 4
    assert submit_batch(world, "SERVER_A#2", "SELECT a FROM #t").numbers == [208]
    assert submit_batch(world, P, "DECLARE @x int SET @x = 1").numbers == []
    assert submit_batch(world, P, "SELECT @x").numbers == [137]


def test_a_hung_server_responds_after_it_resumes() -> None:
    world = build_lab()
    submit_batch(world, P, "SELECT 1")
    apply_lines(world, "hang SERVER_A", wait_s=1)
    assert collect_answers(world, P, "SELECT 2", wait_s=60) == []
    (answer,) = list_answers(apply_lines(world, "unhang SERVER_A", wait_s=1))
    assert answer.value == 2


def test_a_login_to_a_hung_server_times_out() -> None:
    world = build_lab()
    apply_lines(world, "hang SERVER_A", wait_s=1)
    (answer,) = collect_answers(world, P, "SELECT 2", wait_s=16)
    assert answer.numbers == [-2]


def test_a_delay_that_ends_during_a_hang_continues_afterwards() -> None:
    world = build_lab()
    tsql.submit_text(world, P, "WAITFOR DELAY '00:00:05' SELECT 3")
    apply_lines(world, "hang SERVER_A", wait_s=20)
    (answer,) = list_answers(apply_lines(world, "unhang SERVER_A", wait_s=1))
    assert answer.value == 3


def test_a_failover_breaks_connections_in_the_database() -> None:
    world = build_lab()
    tsql.submit_text(world, "SERVER_A#2", "USE Sales WAITFOR DELAY '01:00:00'")
    tsql.submit_text(world, "SERVER_A#3", "WAITFOR DELAY '00:00:50' SELECT DB_NAME()")
    end_answers = list_answers(
        apply_lines(world, "sql SERVER_A ALTER DATABASE Sales SET PARTNER FAILOVER", wait_s=60)
    )
    by_window = {read_field(answer.event, "window"): answer for answer in end_answers}
    assert by_window["SERVER_A#2"].numbers == [10054]
    assert by_window["SERVER_A#3"].value == "master"
    assert world.copies[PRINCIPAL].mirroring.role != world.copies[MIRROR].mirroring.role


def test_cancel_stops_the_batch_and_those_queued_behind_it() -> None:
    world = build_lab()
    tsql.submit_text(world, P, "WHILE 1 = 1 PRINT 'x'")
    tsql.submit_text(world, P, "PRINT 'queued'")
    run_seconds(world, 3)
    tsql.cancel_batches(world, P)
    (answer,) = list_answers(run_seconds(world, 1))
    assert answer.texts[-1].endswith("Query was cancelled by user.")
    assert submit_batch(world, P, "SELECT 1").value == 1


def test_go_with_a_count_reports_the_number_of_executions() -> None:
    answer = submit_batch(build_lab(), P, "PRINT 'once'\nGO\nPRINT 'x'\nGO 3\n")
    assert answer.texts == [
        *("once", "Beginning execution loop", "x", "x", "x"),
        "Batch execution completed 3 times.",
    ]


def test_a_database_without_its_volume_cannot_be_opened() -> None:
    world = build_lab()
    apply_lines(world, f"sql {P} ALTER DATABASE {DB} SET PARTNER OFF", wait_s=1)
    apply_lines(world, f"fail-disk {P} {DB}", wait_s=1)
    answer = submit_batch(world, P, f"USE {DB}\nPRINT 'not reached'")
    assert answer.numbers == [945]
    assert answer.texts[0].startswith("Msg 945, Level 14, State 1, Line 1: Database 'Sales' cannot be opened")


def test_a_refused_row_ends_only_its_statement() -> None:
    doubled = "DECLARE @t TABLE (a int PRIMARY KEY)\nINSERT @t VALUES (1), (1)\nPRINT 'goes on'"
    world = build_lab()
    world.update_instance(P, version=2014)
    refused, terminated, later_text = submit_batch(world, P, doubled).texts
    assert refused.endswith("object 'dbo.@t'. The duplicate key value is (1).")
    assert (terminated, later_text) == ("The statement has been terminated.", "goes on")
    caught = submit_batch(world, P, f"BEGIN TRY\n{doubled}\nEND TRY\nBEGIN CATCH PRINT 'caught' END CATCH")
    assert caught.texts == ["caught"], "who catches it is told nothing more"


def test_a_second_submission_waits_for_the_first() -> None:
    world = build_lab()
    tsql.submit_text(world, P, "WAITFOR DELAY '00:00:02' SELECT 1")
    tsql.submit_text(world, P, "SELECT 2")
    first, second = list_answers(run_seconds(world, 5))
    assert (first.value, first.event.tick) == (1, 200)
    assert (second.value, second.event.tick, read_field(second.event, "started_tick")) == (2, 200, 200)


def test_an_endless_loop_does_not_block_the_clock() -> None:
    world = build_lab()
    tsql.submit_text(world, P, "DECLARE @i int SET @i = 0 WHILE 1 = 1 SET @i = @i + 1")
    before = world.batches[P].spent
    run_seconds(world, 2)
    assert world.tick == 200
    assert before < world.batches[P].spent < before + 200 * work.WORK_PER_TICK


def test_a_waiting_batch_is_forked_and_hashed_with_its_world() -> None:
    world = build_lab()
    tsql.submit_text(
        world,
        P,
        "CREATE TABLE #t (a int) DECLARE @v int SET @v = 0 WHILE @v < 3 BEGIN WAITFOR DELAY '00:00:01' "
        "SET @v = @v + 1 INSERT #t VALUES (@v) END SELECT SUM(a) FROM #t",
    )
    run_seconds(world, 1.5)
    fork = world.fork()
    assert fork.compute_state_hash() == world.compute_state_hash()
    first_answers, second_answers = (
        list_answers(run_seconds(world, 5)),
        list_answers(simulator.advance_world(fork, fork.tick + 500)),
    )
    assert first_answers[0].value == second_answers[0].value == 6
    assert fork.compute_state_hash() == world.compute_state_hash()


def test_a_pending_statement_ends_when_its_work_is_done() -> None:
    world = build_lab()
    apply_lines(world, "sql SERVER_B ALTER DATABASE Sales SET PARTNER OFF", wait_s=1)
    tsql.submit_text(
        world,
        M,
        "RESTORE DATABASE Sales WITH RECOVERY SELECT state_desc FROM sys.databases WHERE name = 'Sales'",
    )
    assert list_answers(run_seconds(world, 0.5)) == []
    (answer,) = list_answers(run_seconds(world, 10))
    assert answer.grids == [[["ONLINE"]]]
    assert read_field(answer.event, "elapsed_ticks") > 50


def test_shutdown_notifies_its_window_and_ends_its_connection() -> None:
    world = build_lab()
    (answer,) = collect_answers(world, P, "SHUTDOWN WITH NOWAIT PRINT 'not reached'", wait_s=1)
    assert answer.texts == [
        "Server shut down by NOWAIT request from login CORP\\dba.",
        "SQL Server is terminating this process.",
    ]
    assert submit_batch(world, P, "SELECT 1").numbers == [2]


def test_connect_reaches_another_server_for_one_submission() -> None:
    world = build_lab()
    first, second = (
        submit_batch(world, P, ":CONNECT SERVER_B\nSELECT @@SERVERNAME\nGO\n"),
        submit_batch(world, P, "SELECT @@SERVERNAME"),
    )
    assert (first.value, second.value) == ("SERVER_B", "SERVER_A")
    assert submit_batch(world, P, ":CONNECT NOWHERE\nSELECT 1").numbers == [53]


def test_a_mirror_reports_its_own_knowledge() -> None:
    world = build_lab()
    state = f"SELECT mirroring_state_desc FROM sys.database_mirroring WHERE database_id = DB_ID('{DB}')"
    apply_lines(world, "black-hole SERVER_A SERVER_B", "black-hole SERVER_A SERVER_W", wait_s=5)
    assert submit_batch(world, M, state).value == "SYNCHRONIZED"
    run_seconds(world, 10)
    assert submit_batch(world, M, state).value == "DISCONNECTED"


def test_on_error_exit_leaves_the_script_after_the_failed_batch() -> None:
    script = ":ON ERROR EXIT\nPRINT 'one'\nGO\nRAISERROR('no', 16, 1)\nPRINT 'two'\nGO\nPRINT 'three'"
    texts = submit_batch(build_lab(), P, script).texts
    assert texts[:1] + texts[2:] == [
        "one",
        "two",
        "** An error was encountered during execution of batch. Exiting.",
    ]
    assert "three" in submit_batch(build_lab(), P, script.replace("EXIT", "IGNORE")).texts
    assert (
        "three"
        in submit_batch(build_lab(), P, "RAISERROR('before', 16, 1)\nGO\n:on error exit\nPRINT 'three'").texts
    )


def test_a_directive_that_writes_files_is_reported_as_not_simulated() -> None:
    assert submit_batch(build_lab(), P, ":OUT c:\\x.txt\nPRINT 'here'").texts == [
        "Not simulated: the sqlcmd command :out.",
        "here",
    ]


def test_a_procedure_of_another_server_does_not_run_locally() -> None:
    call = "EXEC {}.master.dbo.sp_executesql N'SELECT 1'"
    assert submit_batch(build_lab(), P, call.format(P)).value == 1
    assert submit_batch(build_lab(), P, call.format(M)).numbers == [7202]
    world = build_lab()
    submit_batch(world, P, f"EXEC sp_addlinkedserver @server = '{M}'")
    assert submit_batch(world, P, call.format(M)).numbers == [7411]


def list_in_order(answer: Answer) -> list[object]:
    """Return the texts and result sets of an answer in the order in which the client receives them."""
    messages, message_count, shown_parts = answer.texts, 0, []
    for grid in read_field(answer.event, "results"):
        shown_parts += [*messages[message_count : grid["after_messages"]], grid["rows"]]
        message_count = grid["after_messages"]
    return shown_parts + messages[message_count:]


def test_messages_row_counts_and_results_are_in_one_order() -> None:
    world = build_lab()
    assert list_in_order(submit_batch(world, P, "PRINT 'a' SELECT 1 PRINT 'b' SELECT 1 / 0 SELECT 2")) == [
        "a",
        [[1]],
        "(1 row affected)",
        "b",
        [],
        "Msg 8134, Level 16, State 1, Line 1: Divide by zero error encountered.",
        [[2]],
        "(1 row affected)",
    ]
    submit_batch(
        world, P, f"EXEC sp_addlinkedserver @server = '{M}' EXEC sp_serveroption '{M}', 'rpc out', 'true'"
    )
    batch = f"SET NOCOUNT ON PRINT 'here' EXEC ('SET NOCOUNT ON PRINT ''a'' SELECT 1 PRINT ''b'' SELECT 2') AT {M}"
    assert list_in_order(submit_batch(world, P, batch)) == ["here", "a", [[1]], "b", [[2]]]
    assert list_in_order(submit_batch(world, P, "PRINT 'a'\nGO\nSELECT 1\nGO 2\nPRINT 'b'")) == [
        "a",
        "Beginning execution loop",
        [[1]],
        [[1]],
        "Batch execution completed 2 times.",
        "b",
    ]


def test_results_have_the_types_of_their_columns() -> None:
    (grid,) = read_field(
        submit_batch(
            build_lab(), P, "SELECT name, database_id, create_date, 1.5 * 2, N'é' FROM sys.databases"
        ).event,
        "results",
    )
    assert grid["types"] == ["nvarchar(128)", "int", "datetime", "numeric(4,1)", "nvarchar(1)"]


def test_a_function_argument_is_not_a_column_of_its_table() -> None:
    applied = "SELECT t.* FROM sys.dm_exec_requests r CROSS APPLY sys.dm_exec_sql_text(r.sql_handle) t"
    for query in ("SELECT * FROM sys.dm_exec_sql_text(0x01)", applied):
        (columns,) = submit_batch(build_lab(), P, query).columns
        assert columns == ["dbid", "objectid", "number", "encrypted", "text"]
