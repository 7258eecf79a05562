"""Compact log of the events of a run, stored in columns with a few bytes per event.

Repeated texts and fields are stored once.
"""

from __future__ import annotations

import hashlib
import pickle
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Final, overload

import numpy as np
from msgspec.structs import replace

from engine.events import BatchOutputRow, Event, EventData, SqlDoneData
from engine.flow import Array
from engine.localization import LocalizableMessage
from engine.model import Tick

EVENT_COLUMNS: Final = np.dtype(
    [("tick", "i8"), ("kind", "i4"), ("server", "i4"), ("database", "i4"), ("text", "i4"), ("data", "i4")]
)
"""Columns of an event: its tick, and the indexes of its texts and fields in EventTables.

An event needs 28 bytes.
"""

READ_BATCH_SIZE: Final = 1_024
"""Number of events that are read from the columns at once. Assumed."""


LONG_EVENT_KINDS: Final = ("sql", "sql_done")
"""Kinds of events with texts or results of any length.

Their fields are identified by a hash in EventTables.
"""


class EventTables:
    """Append-only tables of texts and fields of events. Logs with a common past share them."""

    def __init__(self) -> None:
        self.texts: list[str | None] = []
        self.data: list[EventData] = []
        self._text_places: dict[object, int] = {}
        self._data_places: dict[object, int] = {}

    def get_text_index(self, text: str | None) -> int:
        """Return the index of *text*, which is added if necessary.

        A localizable message has its own index, even if its text equals a plain text.
        """
        key = (text.template, text.args) if isinstance(text, LocalizableMessage) else text
        text_place = self._text_places.get(key)
        if text_place is None:
            text_place = self._text_places[key] = len(self.texts)
            self.texts.append(text)
        return text_place

    def get_fields_index(self, event: Event) -> int:
        """Return the index of the fields of *event*, which are added if necessary."""
        data = compress_results(event)
        # The values cannot be the key: 1, 1.0 and True are equal, but their JSON differs.
        key: object = (
            hashlib.blake2b(pickle.dumps(data)).digest() if event.kind in LONG_EVENT_KINDS else repr(data)
        )
        data_place = self._data_places.get(key)
        if data_place is None:
            data_place = self._data_places[key] = len(self.data)
            self.data.append(data)
        return data_place


class EventLog(Sequence[Event]):
    """Append-only list of events. Event objects are created when they are read.

    `filter_kinds` is fast, because it creates no event objects.
    """

    def __init__(self, events: Iterable[Event] = (), words: EventTables | None = None) -> None:
        self._words = EventTables() if words is None else words
        self._columns = np.zeros(64, dtype=EVENT_COLUMNS)
        self._count = 0
        self.extend(events)

    def append(self, event: Event) -> None:
        """Append an event, which must not be earlier than the last event."""
        if self._count == len(self._columns):
            grown = np.zeros(2 * self._count, dtype=EVENT_COLUMNS)
            grown[: self._count] = self._columns
            self._columns = grown
        word = self._words.get_text_index
        self._columns[self._count] = (
            event.tick,
            word(event.kind),
            word(event.server),
            word(event.database),
            word(event.text),
            self._words.get_fields_index(event),
        )
        self._count += 1

    def extend(self, events: Iterable[Event]) -> None:
        """Append events, which must be in order."""
        for event in events:
            self.append(event)

    def copy_first(self, count: int) -> EventLog:
        """Return an independent log of the first *count* events."""
        return self._copy_columns(self._columns[: min(count, self._count)])

    def filter_kinds(self, kinds: Collection[str]) -> EventLog:
        """Return a separate log with the events of these *kinds*."""
        columns = self.columns
        return self._copy_columns(columns[self._match_kinds(columns["kind"], kinds)])

    def prepend(self, earlier_events: Iterable[Event]) -> EventLog:
        """Return a separate log with *earlier_events* before the events of this log."""
        return self._copy_columns(
            np.concatenate([EventLog(earlier_events, self._words).columns, self.columns])
        )

    def select(self, *kinds: str, database_name: str | None = None, since_tick: Tick = 0) -> Iterator[Event]:
        """Yield the events of these *kinds* from *since_tick* on, in order.

        *database_name*: yield only events of this database, and events without a database.
        """
        columns = self.columns[np.searchsorted(self.columns["tick"], since_tick) :]
        columns = columns[self._match_kinds(columns["kind"], kinds)]
        if database_name is not None:
            database = columns["database"]
            columns = columns[
                (database == self._words.get_text_index(database_name))
                | (database == self._words.get_text_index(None))
            ]
        return self._build_events(columns)

    def count_shared_events(self, other_log: EventLog) -> int:
        """Return the number of equal events at the beginning of this log and *other_log*.

        The result is 0 if the logs have no common past.
        """
        if other_log._words is not self._words:
            return 0
        count = min(self._count, other_log._count)
        unlike = self._columns[:count] != other_log._columns[:count]
        return int(unlike.argmax()) if unlike.any() else count

    def find_indices(
        self,
        kinds: Collection[str] | None = None,
        server: str | None = None,
        start: int = 0,
        stop: int | None = None,
    ) -> Array:
        """Return the indexes of the events of these *kinds* on *server*, from *start* up to *stop*.

        *kinds*, *server*: None means any.
        """
        columns = self.columns[start:stop]
        is_match = np.ones(len(columns), dtype=bool)
        if kinds is not None:
            is_match &= self._match_kinds(columns["kind"], kinds)
        if server is not None:
            is_match &= columns["server"] == self._words.get_text_index(server)
        return np.flatnonzero(is_match) + start

    def iterate_rows(self, indexes: Array, names: Collection[str]) -> Iterator[tuple[Any, ...]]:
        """Yield (tick, values of the fields *names*, text) of the events at *indexes*.

        This is fast, because no event objects are created.
        """
        places_found, fields = self.columns[indexes], {}
        texts, data = self._words.texts, self._words.data
        for place in np.unique(places_found["data"]).tolist():
            fields[place] = tuple(getattr(data[place], name, None) for name in names)
        columns = (places_found[column].tolist() for column in ("tick", "data", "text"))
        for tick, place, text in zip(*columns, strict=True):
            yield tick, *fields[place], texts[text]

    @property
    def columns(self) -> Array:
        """Array with one entry of type `EVENT_COLUMNS` per event.

        Events with equal numbers in `data` have equal fields.
        """
        return self._columns[: self._count]

    # --- sequence protocol
    # --------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Event: ...
    @overload
    def __getitem__(self, index: slice) -> list[Event]: ...
    def __getitem__(self, index: int | slice) -> Event | list[Event]:
        column = self.columns[index]
        if isinstance(index, slice):
            return list(self._build_events(column))
        return self._build_event(*column.item())

    def __iter__(self) -> Iterator[Event]:
        return self._build_events(self.columns)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (EventLog, list, tuple)):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    # --- internal
    # -----------------------------------------------------------------------------------------------

    def _copy_columns(self, columns: Array) -> EventLog:
        copied_log = EventLog(words=self._words)
        copied_log._count = len(columns)
        if copied_log._count > len(copied_log._columns):
            copied_log._columns = columns.copy()
        else:
            copied_log._columns[: copied_log._count] = columns
        return copied_log

    def _match_kinds(self, column: Array, kinds: Collection[str]) -> Array:
        """Return a boolean array: True where *column* contains one of *kinds*."""
        text_indexes = [self._words.get_text_index(kind) for kind in kinds]
        is_matching_word = np.zeros(len(self._words.texts), dtype=bool)
        is_matching_word[text_indexes] = True
        return is_matching_word[column]

    def _build_events(self, columns: Array) -> Iterator[Event]:
        for index in range(0, len(columns), READ_BATCH_SIZE):
            for fields in columns[index : index + READ_BATCH_SIZE].tolist():
                yield self._build_event(*fields)

    def _build_event(self, tick: int, _kind: int, server: int, database: int, text: int, data: int) -> Event:
        texts = self._words.texts
        return Event(tick, self._words.data[data], str(texts[text]), texts[server], texts[database])


def select_events(
    events: Iterable[Event], *kinds: str, database_name: str | None = None, since_tick: Tick = 0
) -> Iterator[Event]:
    """Yield those of *events* that have one of *kinds*, from *since_tick* on. This is fast for an EventLog.

    *database_name*: yield only events of this database, and events without a database.
    """
    if isinstance(events, EventLog):
        return events.select(*kinds, database_name=database_name, since_tick=since_tick)
    return (
        e
        for e in events
        if e.tick >= since_tick
        and e.kind in kinds
        and (database_name is None or e.database in (None, database_name))
    )


# --- compressed result sets -------------------------------------------------------------------------------

UNCOMPRESSED_ROWS_MAX: Final = 20
"""Maximum number of rows that the results of a batch may have and still be stored uncompressed. Assumed."""


class CompressedList(Sequence[BatchOutputRow]):
    """Compressed list that is decompressed at every read. It equals the original list."""

    __slots__ = ("_count", "_packed")

    def __init__(self, values: Sequence[BatchOutputRow]) -> None:
        self._count = len(values)
        self._packed = zlib.compress(pickle.dumps(list(values)), 1)

    def _unpack_values(self) -> list[BatchOutputRow]:
        rows: list[BatchOutputRow] = pickle.loads(zlib.decompress(self._packed))
        return rows

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> BatchOutputRow: ...
    @overload
    def __getitem__(self, index: slice) -> list[BatchOutputRow]: ...
    def __getitem__(self, index: int | slice) -> BatchOutputRow | list[BatchOutputRow]:
        return self._unpack_values()[index]

    def __iter__(self) -> Iterator[BatchOutputRow]:
        return iter(self._unpack_values())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, CompressedList):
            return self._packed == other._packed or self._unpack_values() == other._unpack_values()
        return self._unpack_values() == (list(other) if isinstance(other, tuple) else other)

    def __repr__(self) -> str:
        return repr(self._unpack_values())


def compress_results(event: Event) -> EventData:
    """Return the fields of *event*. Large result sets of a batch are compressed."""
    event_data = event.data
    if not isinstance(event_data, SqlDoneData):
        return event_data
    if sum(len(result["rows"]) for result in event_data.results) <= UNCOMPRESSED_ROWS_MAX:
        return event_data
    return replace(event_data, results=CompressedList(event_data.results))
