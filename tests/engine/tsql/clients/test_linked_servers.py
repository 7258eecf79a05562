"""Linked servers: EXEC … AT, four-part names and OPENQUERY run on the remote server with its knowledge."""

from __future__ import annotations

from engine.model import World
from tests.engine.tsql.console import submit_batch
from tests.engine.worlds import M, P, build_lab


def build_linked_world() -> World:
    world = build_lab(workload="none")
    submit_batch(world, P, f"EXEC sp_addlinkedserver '{M}' EXEC sp_serveroption '{M}', 'rpc out', 'true'")
    return world


def test_calls_need_rpc_out() -> None:
    world = build_lab(workload="none")
    submit_batch(world, P, f"EXEC sp_addlinkedserver '{M}'")
    assert submit_batch(world, P, f"EXEC ('SELECT 1') AT {M}").numbers == [7411]
    assert submit_batch(world, P, "SELECT is_rpc_out_enabled FROM sys.servers WHERE server_id = 1").value == 0
    assert (
        submit_batch(
            build_linked_world(), P, "SELECT is_rpc_out_enabled FROM sys.servers WHERE server_id = 1"
        ).value
        == 1
    )


def test_procedures_and_queries_run_on_the_linked_server() -> None:
    world = build_linked_world()
    assert submit_batch(world, P, f"EXEC ('SELECT @@SERVERNAME') AT {M}").value == M
    role = "SELECT mirroring_role_desc FROM sys.database_mirroring WHERE mirroring_guid IS NOT NULL"
    assert submit_batch(world, P, f"EXEC {M}.master.dbo.sp_executesql N'{role}'").value == "MIRROR"
    assert submit_batch(world, P, f"SELECT * FROM OPENQUERY({M}, '{role}')").value == "MIRROR"


def test_rows_and_errors_are_returned_from_the_linked_server() -> None:
    world = build_linked_world()
    text = f"CREATE TABLE #n (name sysname) INSERT #n EXEC ('SELECT @@SERVERNAME') AT {M} SELECT * FROM #n"
    answer = submit_batch(world, P, text)
    assert answer.value == M
    assert answer.texts.count("(1 row affected)") == 2  # row counts of the INSERT and the last SELECT
    assert submit_batch(world, P, f"EXEC ('SELECT 1/0') AT {M} SELECT @@ERROR").grids == [[], [[8134]]]


def test_commands_take_effect_on_the_linked_server() -> None:
    world = build_linked_world()
    submit_batch(world, P, f"EXEC ('ALTER DATABASE Sales SET PARTNER SUSPEND') AT {M}", wait_s=5)
    state = "SELECT mirroring_state_desc FROM sys.database_mirroring WHERE database_id = DB_ID('Sales')"
    assert submit_batch(world, P, state).value == "SUSPENDED"


def test_an_unreachable_or_stopping_server_is_7303() -> None:
    world = build_linked_world()
    assert submit_batch(world, P, f"EXEC ('SHUTDOWN WITH NOWAIT') AT {M}").numbers[-1] == 7303
    assert submit_batch(world, P, f"SELECT * FROM OPENQUERY({M}, 'SELECT 1 AS a')", wait_s=30).numbers == [
        7303
    ]


def test_waits_on_the_linked_server_are_refused() -> None:
    answer = submit_batch(build_linked_world(), P, f"EXEC ('WAITFOR DELAY ''00:00:05''') AT {M} PRINT 'on'")
    assert [text.partition(";")[0] for text in answer.texts] == ["Not simulated: waiting for a linked server"]
