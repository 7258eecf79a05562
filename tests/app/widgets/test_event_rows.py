"""Tests of event rows: created on demand, kept between states of a run, filtered in slices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from app.widgets.event_table import EVENTS_PER_SLICE, EventFilter, FilteredEventRows
from engine.drill.time.event_log import EventLog
from engine.events import Event
from engine.model import World
from tests.engine.worlds import build_lab
from tests.events import build_event, read_field


class StubRow:
    def __init__(self, event: Event, text: str) -> None:
        self.tick, self.search_text = event.tick, text


class RowCounter:
    """Factory of rows that counts the rows it created."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, event: Event, world: World) -> Iterator[StubRow]:
        for part in range(read_field(event, "number")):
            self.count += 1
            yield StubRow(event, f"{event.text} {part}")


def build_event_log(count: int) -> EventLog:
    """Return a log with *count* events. Every tenth event has two rows, and every hundredth is on SERVER_B."""
    return EventLog(
        build_event(
            tick,
            "errorlog" if tick % 2 else "alert",
            "SERVER_A" if tick % 100 else "SERVER_B",
            "Sales",
            f"word{tick % 7}",
            number=1 if tick % 10 else 2,
        )
        for tick in range(count)
    )


def return_true() -> bool:
    return True


@pytest.fixture
def row_counter() -> RowCounter:
    return RowCounter()


@pytest.fixture(scope="module")
def world() -> World:
    return build_lab()


def list_rows(rows: Iterable[Any]) -> list[tuple[Any, Any]]:
    return [(row.tick, row.search_text) for row in rows]


def test_rows_are_built_when_visible(row_counter: RowCounter, world: World) -> None:
    rows = FilteredEventRows(row_counter)
    rows.set_events(build_event_log(10_000), world)
    assert rows.search_events(return_true)
    assert len(rows) == rows.total == 11_000
    assert row_counter.count < 10, "one for each kind of fields"
    assert list_rows(rows[-2:]) == [(9_998, "word2 0"), (9_999, "word3 0")]
    assert list_rows(rows[:3]) == [(0, "word0 0"), (0, "word0 1"), (1, "word1 0")]
    with pytest.raises(IndexError):
        rows[11_000]


@pytest.mark.parametrize("search_terms", [(), ("word3",)])
def test_another_time_keeps_shared_rows(
    row_counter: RowCounter, world: World, search_terms: tuple[str, ...]
) -> None:
    run = build_event_log(4_000)
    rows = FilteredEventRows(row_counter, kinds=("errorlog",))
    rows.set_filter(EventFilter(search_words=search_terms))
    rows.set_events(run, world)
    assert rows.search_events(return_true)
    whole_count, count = len(rows), row_counter.count
    rows.set_events(run.copy_first(1_000), world)
    assert rows.search_events(return_true)
    assert row_counter.count == count, "the past is cut, nothing is looked at again"
    earlier_rows = FilteredEventRows(RowCounter(), kinds=("errorlog",))
    earlier_rows.set_filter(EventFilter(search_words=search_terms))
    earlier_rows.set_events(build_event_log(1_000), world)
    earlier_rows.search_events(return_true)
    assert list_rows(rows) == list_rows(earlier_rows)
    rows.set_events(run, world)
    rows.search_events(return_true)
    assert len(rows) == whole_count


def test_rows_of_a_different_branch_are_replaced(row_counter: RowCounter, world: World) -> None:
    run = build_event_log(1_000)
    rows = FilteredEventRows(row_counter)
    rows.set_events(run, world)
    rows.search_events(return_true)
    other_events = run.copy_first(500)
    other_events.append(build_event(9_999, "alert", None, None, "elsewhere", number=1))
    rows.set_events(other_events, world)
    rows.search_events(return_true)
    assert list_rows(rows[-1:]) == [(9_999, "elsewhere 0")]
    assert len(rows) == 551


def test_rows_are_filtered_by_server_kind_time_and_text(row_counter: RowCounter, world: World) -> None:
    rows = FilteredEventRows(row_counter)
    rows.set_events(build_event_log(1_000), world)
    for wanted, ticks in (
        (EventFilter(server="SERVER_B"), [0, 0, 100, 100]),
        (EventFilter(kinds=frozenset({"errorlog"})), [1, 3, 5, 7]),
        (EventFilter(span=(0.05, 0.08)), [5, 6, 7, 8]),
        (EventFilter(search_words=("word0", "1")), [0, 70, 140, 210]),
    ):
        rows.set_filter(wanted)
        assert rows.search_events(return_true)
        assert [tick for tick, _ in list_rows(rows[:4])] == ticks, wanted
    rows.set_filter(EventFilter(kinds=frozenset()))
    rows.search_events(return_true)
    assert len(rows) == 0


def test_text_is_searched_in_slices(row_counter: RowCounter, world: World) -> None:
    rows = FilteredEventRows(row_counter)
    rows.set_events(build_event_log(5 * EVENTS_PER_SLICE), world)
    rows.set_filter(EventFilter(search_words=("word3",)))
    slices = 1
    while not rows.search_events(lambda: False):
        slices += 1
    assert slices == 5
    all_rows = list_rows(rows)
    assert {words[:5] for _, words in all_rows} == {"word3"}
    rows.add_events([build_event(99_999, "alert", None, None, "word3", number=2)])
    rows.search_events(return_true)
    assert list_rows(rows) == [*all_rows, (99_999, "word3 0"), (99_999, "word3 1")]
