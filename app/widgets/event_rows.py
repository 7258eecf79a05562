"""Rows of an event table, as numbers; each row is created when it becomes visible. Without Qt."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, overload

import numpy as np

from engine.constants import TICKS_PER_S
from engine.drill.time.event_log import EventLog
from engine.events import Event
from engine.flow import Array
from engine.model import World

RowsOf = Callable[[Event, World], Iterable[object]]
"""Function that returns the rows of an event; none for most."""

SLICE: Final = 1_000
"""Number of events that are searched between two checks of the clock: some milliseconds. Assumed."""

MADE_MAX: Final = 1_000
"""Number of events with cached rows; a screen shows fewer. Assumed."""

AT_ONCE_TICKS: Final = 0.5
"""A span in seconds includes the ticks at its ends."""


NONE: Final = np.zeros((0, 2), dtype=np.int64)
"""Empty rows. A row consists of the number of its event, and its index among the event's rows."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Filter for event rows. None means all."""

    kinds: frozenset[str] | None = None
    server: str | None = None
    span: tuple[float, float] | None = None
    """Span in seconds since the start."""
    words: tuple[str, ...] = ()
    """Lowercase words that the row must contain."""


class EventRows(Sequence[object]):
    """Rows of a run's events that match the filter.

    Another moment of the same run keeps the rows of the common past; `scan` continues from there.
    """

    def __init__(self, rows_of: RowsOf, kinds: Sequence[str] | None = None) -> None:
        """Create the rows; *kinds*: the only kinds that become rows."""
        self._rows_of = rows_of
        self._kinds = kinds
        self._log = EventLog()
        self._world: World | None = None
        self._wanted = Wanted()
        self._shown_rows = NONE
        self._looked = 0
        """Number of searched events."""
        self._counts = np.zeros(0, dtype=np.int64)
        """Number of rows per combination of fields; -1: unknown."""
        self._row_cache: dict[int, list[object]] = {}

    # --- which rows -------------------------------------------------------------------------------------------

    def start(self, events: Iterable[Event], world: World) -> None:
        """Start with another run, or another time of it."""
        log = self._filter_kinds(events)
        same = self._log.count_shared(log)
        self._log, self._world = log, world
        self._looked = min(self._looked, same)
        self._shown_rows = self._shown_rows[: np.searchsorted(self._shown_rows[:, 0], self._looked)]
        self._row_cache = {}
        if not same:
            self._counts = self._counts[:0]

    def add(self, events: Iterable[Event]) -> None:
        """Add the events since the last call."""
        self._log.extend(event for event in events if self._kinds is None or event.kind in self._kinds)

    def want(self, wanted: Wanted) -> None:
        """Show these; all that was known of others is looked at again."""
        if wanted != self._wanted:
            self._wanted = wanted
            self._looked, self._shown_rows = 0, NONE

    def scan(self, should_continue: Callable[[], bool]) -> bool:
        """Find rows among the events not yet looked at, as long as *go_on* says so; whether all have been."""
        while self._looked < len(self._log):
            until = self._looked + SLICE if self._wanted.words else len(self._log)
            found = self._with_rows(self._find_matches(self._looked, until))
            if self._wanted.words:
                found = found[[self._matches(self._rows_at(place)[part]) for place, part in found.tolist()]]
            self._shown_rows = np.concatenate([self._shown_rows, found])
            self._looked = min(until, len(self._log))
            if not should_continue():
                break
        return self._looked >= len(self._log)

    @property
    def total(self) -> int:
        """Return the number of rows without the filter."""
        return len(self._with_rows(np.arange(len(self._log))))

    # --- as a sequence ----------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._shown_rows)

    @overload
    def __getitem__(self, index: int) -> object: ...
    @overload
    def __getitem__(self, index: slice) -> list[object]: ...
    def __getitem__(self, index: int | slice) -> object:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        event, part = self._shown_rows[index].tolist()
        return self._rows_at(event)[part]

    # --- inside -----------------------------------------------------------------------------------------------

    def _filter_kinds(self, events: Iterable[Event]) -> EventLog:
        if not isinstance(events, EventLog):
            return EventLog(event for event in events if self._kinds is None or event.kind in self._kinds)
        return events.take_first(len(events)) if self._kinds is None else events.filter_kinds(self._kinds)

    def _find_matches(self, start_index: int, end_index: int) -> Array:
        wanted = self._wanted
        found: Array = self._log.find_indices(wanted.kinds, wanted.server, start_index, end_index)
        if wanted.span is not None:
            ticks = self._log.columns["tick"][found]
            low, high = (seconds * TICKS_PER_S for seconds in wanted.span)
            found = found[(ticks >= low - AT_ONCE_TICKS) & (ticks <= high + AT_ONCE_TICKS)]
        return found

    def _with_rows(self, places: Array) -> Array:
        """Return the rows of these events: (number of the event, which of its rows).

        Equal fields become equally many.
        """
        if not len(places):
            return NONE
        fields = self._log.columns["data"][places]
        missing = int(fields.max()) + 1 - len(self._counts)
        if missing > 0:
            self._counts = np.append(self._counts, np.full(missing, -1))
        unknown = self._counts[fields] < 0
        for number, at in zip(*np.unique(fields[unknown], return_index=True), strict=True):
            self._counts[number] = len(self._rows_at(int(places[unknown][at])))
        counts = self._counts[fields]
        ends = np.cumsum(counts)
        parts = np.arange(ends[-1]) - np.repeat(ends - counts, counts)
        return np.column_stack([np.repeat(places, counts), parts])

    def _rows_at(self, index: int) -> list[object]:
        rows = self._row_cache.get(index)
        if rows is None:
            assert self._world is not None
            if len(self._row_cache) >= MADE_MAX:
                self._row_cache.clear()
            rows = self._row_cache[index] = list(self._rows_of(self._log[index], self._world))
        return rows

    def _matches(self, row: Any) -> bool:
        text = row.search_text.lower()
        return all(word in text for word in self._wanted.words)
