"""Automatic page repair of availability databases. [DOC: automatic page repair]"""

from __future__ import annotations

import pytest

from engine.model import World
from tests.engine.availability.worlds import apply_lines, build_ag_lab, list_primaries, run_until
from tests.engine.cluster.random_runs import build_mirroring_lab
from tests.engine.tsql.console import Answer, run_seconds

STATE_QUERY = (
    "SELECT s.synchronization_state_desc, s.suspend_reason_desc FROM sys.dm_hadr_database_replica_states s "
    "WHERE s.is_local = 1 AND DB_NAME(s.database_id) = 'Sales'"
)


def send_query(world: World, server: str, text: str) -> list[list[object]]:
    apply_lines(world, f"sql {server} {text}")
    (done_event,) = [event for event in run_seconds(world, 0.5) if event.kind == "sql_done"]
    return Answer(done_event).grids[0]


CASES = [
    # damaged copy, further lines before the damage, page, page_status, event_type, state of the copy afterwards
    ("NODE_1", (), 77, 5, 5, ["SYNCHRONIZED", None]),
    ("NODE_2", (), 77, 5, 4, ["SYNCHRONIZED", None]),
    ("NODE_3", (), 77, 5, 4, ["SYNCHRONIZING", None]),
    ("NODE_1", ("power-off NODE_2",), 77, None, 2, ["SYNCHRONIZED", None]),
    ("NODE_1", ("power-off NODE_3",), 77, 5, 5, ["SYNCHRONIZED", None]),
    ("NODE_2", (), 9, 6, 2, ["NOT SYNCHRONIZING", "SUSPEND_FROM_REDO"]),
    ("NODE_1", (), 9, 6, 2, ["SYNCHRONIZED", None]),
]


@pytest.mark.parametrize(("server", "lines", "page", "status", "event_type", "state"), CASES)
def test_a_damaged_page_is_repaired_from_another_replica(
    server: str, lines: tuple[str, ...], page: int, status: int | None, event_type: int, state: list[object]
) -> None:
    world = build_ag_lab()
    run_until(world, 10)
    apply_lines(world, *lines)
    run_until(world, 12)
    apply_lines(world, f"corrupt-page {server} Sales page={page}")
    run_until(world, 40)
    repairs = send_query(
        world, server, f"SELECT page_status FROM sys.dm_hadr_auto_page_repair WHERE page_id = {page}"
    )
    assert repairs == ([] if status is None else [[status]])
    assert send_query(world, server, "SELECT page_id FROM sys.dm_db_mirroring_auto_page_repair") == []
    events = send_query(
        world, server, f"SELECT event_type FROM msdb.dbo.suspect_pages WHERE page_id = {page}"
    )
    assert events == [[event_type]]
    assert send_query(world, server, STATE_QUERY) == [state]


def test_redo_reads_a_damaged_page_again_after_resume() -> None:
    world = build_ag_lab()
    run_until(world, 10)
    apply_lines(world, "corrupt-page NODE_2 Sales page=9")
    run_until(world, 20)
    apply_lines(world, "sql NODE_2 ALTER DATABASE Sales SET HADR RESUME")
    run_until(world, 100)
    assert send_query(world, "NODE_2", STATE_QUERY) == [["NOT SYNCHRONIZING", "SUSPEND_FROM_REDO"]]
    apply_lines(world, "mend-page NODE_2 Sales", "sql NODE_2 ALTER DATABASE Sales SET HADR RESUME")
    run_until(world, 200)
    assert send_query(world, "NODE_2", STATE_QUERY) == [["SYNCHRONIZED", None]]


def test_a_page_that_is_damaged_during_a_failover_of_mirroring_does_not_stop_it() -> None:
    world = build_mirroring_lab(1)
    run_until(world, 10)
    apply_lines(
        world, "sql SERVER_A ALTER DATABASE Sales SET PARTNER FAILOVER", "corrupt-page SERVER_B Sales page=77"
    )
    run_until(world, 90)
    assert list_primaries(world) == ["SERVER_B"]
