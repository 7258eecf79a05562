"""Event log in columns: it returns events unchanged, stores repeated values once, and shares the past of
forks.
"""

from __future__ import annotations

from typing import cast

import pytest

from engine.drill.judging.report import to_json_types
from engine.drill.running.drill import Drill
from engine.drill.time.event_log import UNCOMPRESSED_ROWS_MAX, CompressedList, EventLog, select_events
from engine.drill.time.history import History
from engine.drill.time.snapshots import take_snapshot
from tests.engine.drill.texts import advance_drill, build_drill
from tests.events import build_event, read_field
from tests.room import measure_memory_bytes

EVENTS = [
    build_event(1, "state", "SERVER_A", "Sales", "SYNCHRONIZED -> DISCONNECTED", new="DISCONNECTED"),
    build_event(2, "log", None, None, "freed", log_size_kb=1),
    build_event(2, "log", None, None, "freed", log_size_kb=1.0),
    build_event(2, "log", None, None, "freed", log_size_kb=True),
    build_event(9, "sql_done", "SERVER_B", None, "", batch="SELECT 1", results=[{"rows": [[1]]}]),
    build_event(9, "state", "SERVER_B", "Sales", "SYNCHRONIZED -> DISCONNECTED", new="DISCONNECTED"),
]


def test_events_are_read_back_unchanged() -> None:
    log = EventLog(EVENTS)
    assert repr(list(log)) == repr(EVENTS), "1, 1.0 and True stay what they are"
    assert log == EVENTS
    assert log != EVENTS[1:]
    assert (log[0], log[-1], log[1:3], len(log)) == (EVENTS[0], EVENTS[-1], EVENTS[1:3], len(EVENTS))
    with pytest.raises(IndexError):
        log[len(EVENTS)]


def test_repeated_data_is_stored_once() -> None:
    log = EventLog(
        build_event(tick, "state", "SERVER_A", "Sales", "lost", why="x" * 50) for tick in range(5_000)
    )
    assert log[0].data is log[-1].data
    assert log[0].text is log[-1].text
    assert log.columns.nbytes == 28 * len(log)


def test_events_are_filtered_by_kind_and_server() -> None:
    log = EventLog(EVENTS)
    wanted = [event for event in EVENTS if event.kind in ("state", "sql_done")]
    assert list(log.select("state", "sql_done")) == wanted == list(select_events(EVENTS, "state", "sql_done"))
    assert log.filter_kinds({"state"}) == [EVENTS[0], EVENTS[5]]
    assert log.find_indices(("state", "log"), "SERVER_B").tolist() == [5]
    assert log.find_indices(start=4).tolist() == [4, 5]
    wanted_rows = [(e.tick, read_field(e, "log_size_kb"), read_field(e, "new"), e.text) for e in EVENTS[:4]]
    assert repr(list(log.iterate_rows(log.find_indices(stop=4), ("log_size_kb", "new")))) == repr(wanted_rows)


def test_a_fork_knows_the_number_of_shared_events() -> None:
    log = EventLog(EVENTS)
    fork = log.copy_first(3)
    assert (fork.count_shared_events(log), log.count_shared_events(fork)) == (3, 3)
    fork.append(EVENTS[4])
    log.append(EVENTS[0])
    assert fork == [*EVENTS[:3], EVENTS[4]]
    assert log == [*EVENTS, EVENTS[0]]
    assert log.count_shared_events(fork) == 3
    assert log.count_shared_events(EventLog(EVENTS)) == 0, "nothing is known of a log with another past"


def test_a_restored_time_agrees_with_its_run() -> None:
    drill_run = advance_drill(build_drill(), 5)
    snapshot = take_snapshot(drill_run)
    advance_drill(drill_run, 100)
    past_run: Drill = snapshot.restore(drill_run)
    assert (
        drill_run.events.count_shared_events(past_run.events)
        == len(past_run.events)
        == snapshot.event_count
        < len(drill_run.events)
    )
    advance_drill(past_run, 100)
    assert (
        drill_run.events.count_shared_events(past_run.events) == len(past_run.events) == len(drill_run.events)
    )


def test_large_result_sets_are_compressed_and_read_back() -> None:
    drill_run = advance_drill(build_drill(), 5)
    drill_run.apply_line("sql SERVER_A SELECT a.name, b.name FROM sys.databases a, sys.databases b")
    advance_drill(drill_run, 8)
    *_, done_event = drill_run.events.select("sql_done")
    results = read_field(done_event, "results")
    assert isinstance(results, CompressedList)
    packed = measure_memory_bytes([results])
    (result,) = results
    assert results[0] == result
    assert results == CompressedList([result])
    assert len(cast(dict[str, list[object]], result)["rows"]) > UNCOMPRESSED_ROWS_MAX
    assert packed < 0.6 * len(repr(results))
    assert to_json_types(results) == [to_json_types(result)]
    assert drill_run.build_report()["sql"][-1]["results"] == [to_json_types(result)]


def test_replaying_a_batch_takes_no_more_memory() -> None:
    history = History(build_drill())
    history.apply_line("sql SERVER_A SELECT a.name, b.name FROM sys.databases a, sys.databases b")
    history.advance_to(3_000)
    bytes_used = measure_memory_bytes([history.drill.events])
    for tick in (0, 500, 1_000, 0, 2_900):
        sought = history.seek(tick)
        assert history.drill.events.count_shared_events(sought.events) == len(sought.events)
    assert measure_memory_bytes([history.drill.events]) < bytes_used + 1_000
