"""Redo of a changed table on a readable secondary waits for readers of the table."""

from __future__ import annotations

from engine import model
from tests.engine.availability.test_intent import run_sql, run_statement
from tests.engine.availability.worlds import apply_lines, build_ag_lab, run_until

REDO_QUEUE_QUERY = (
    "SELECT redo_queue_size FROM sys.dm_hadr_database_replica_states WHERE DB_NAME(database_id) = 'Sales'"
)
SCHEMA_LOCK_WAITS_QUERY = (
    "SELECT session_id, blocking_session_id FROM sys.dm_exec_requests WHERE wait_type = 'LCK_M_SCH_M'"
)


def build_world_with_waiting_redo() -> model.World:
    """Return a world in which redo of a table change waits on NODE_3.

    REPORT runs a query of half an hour there, and the table of Sales was altered on NODE_1 during the query.
    """
    world = build_ag_lab()
    run_until(world, 10)
    apply_lines(world, "long-query REPORT minutes=30", "change-schema Sales")
    run_until(world, 40)
    return world


def query_rows(world: model.World, window: str, text: str) -> list[list[object]]:
    rows = run_statement(world, window, text)["results"][0]["rows"]
    assert isinstance(rows, list)
    return rows


def query_redo_queue_kb(world: model.World) -> float:
    return float(str(query_rows(world, "NODE_3#2", REDO_QUEUE_QUERY)[0][0]))


def test_the_redo_queue_grows_while_log_is_hardened() -> None:
    world = build_world_with_waiting_redo()
    first = query_redo_queue_kb(world)
    run_until(world, 80)
    assert query_redo_queue_kb(world) > first > 1000
    sales = world.copies["NODE_3", "Sales"]
    assert sales.stream is not None
    positions = world.flow.read_stream_positions(sales.stream)
    assert positions.hardened_kb - positions.redone_kb > 1000
    assert world.copies["NODE_2", "Sales"].availability.redo_waits == ""  # no query reads on NODE_2


def test_the_blocking_reader_is_found_and_killed() -> None:
    world = build_world_with_waiting_redo()
    ((waiting, blocker),) = query_rows(world, "NODE_3#2", SCHEMA_LOCK_WAITS_QUERY)
    ((waiting_session,),) = query_rows(
        world,
        "NODE_3#2",
        f"SELECT session_id FROM sys.dm_os_waiting_tasks WHERE blocking_session_id = {blocker}",
    )
    assert waiting == waiting_session
    ((host,),) = query_rows(
        world, "NODE_3#2", f"SELECT host_name FROM sys.dm_exec_sessions WHERE session_id = {blocker}"
    )
    assert host == "REPORT"
    assert run_sql(world, "NODE_3#2", f"KILL {waiting}") == [6107]
    assert run_sql(world, "NODE_3#2", f"KILL {blocker}") == []
    run_until(world, world.tick / 100 + 20)
    assert query_redo_queue_kb(world) < 1000
    assert query_rows(world, "NODE_3#2", SCHEMA_LOCK_WAITS_QUERY) == []


def test_redo_continues_after_the_query() -> None:
    world = build_ag_lab()
    run_until(world, 10)
    apply_lines(world, "long-query REPORT minutes=1", "change-schema Sales")
    run_until(world, 60)
    assert world.copies["NODE_3", "Sales"].availability.redo_waits == "REPORT"
    run_until(world, 90)
    assert world.copies["NODE_3", "Sales"].availability.redo_waits == ""


def test_redo_waits_only_for_a_query_and_a_schema_change() -> None:
    world = build_ag_lab()
    run_until(world, 10)
    apply_lines(world, "change-schema Sales")
    run_until(world, 12)
    apply_lines(world, "long-query REPORT")
    run_until(world, 40)
    assert world.copies["NODE_3", "Sales"].availability.redo_waits == ""


def test_forbidding_connections_ends_the_query() -> None:
    world = build_world_with_waiting_redo()
    text = "ALTER AVAILABILITY GROUP AG1 MODIFY REPLICA ON 'NODE_3' WITH (SECONDARY_ROLE (ALLOW_CONNECTIONS = NO))"
    assert run_sql(world, "NODE_1#2", text) == []
    run_until(world, 60)
    assert world.clients["REPORT"].query is None
    assert world.copies["NODE_3", "Sales"].availability.redo_waits == ""
