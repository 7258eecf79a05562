"""A growing buffer of counters that `run` fills inside the compiled loop."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.flow.kernel import COUNTERS

Array = np.ndarray[Any, Any]


class Samples:
    """values[k, row, counter] at ticks[k]; one entry each *every* ticks. Not part of fork or digest."""

    def __init__(self, every: int = 100, exact: bool = True) -> None:
        """*exact* False: kept to seven digits, in half the memory; for a run of hours."""
        if every < 1:
            raise ValueError("samples need at least one tick between them")
        self.every = every
        self.exact = exact
        self.count = 0
        self._kind = np.dtype(np.float64 if exact else np.float32)
        self._values = np.zeros((64, 0, len(COUNTERS)), dtype=self._kind)
        self._fresh = np.zeros((0, 0, len(COUNTERS)))
        """Where the compiled loop writes what is then rounded into the buffer; not used for exact samples."""
        self._ticks = np.zeros(64, dtype=np.int64)
        self._before: tuple[Array, Array] | None = None
        """Values and ticks that came before those in the buffer and belong to somebody else, who only adds to them."""

    @property
    def values(self) -> Array:
        if self._before is not None and not self._used():
            return self._before[0]
        self._join()
        return self._values[: self.count]

    @property
    def ticks(self) -> Array:
        """Tick counts of the flow at which the entries were taken."""
        if self._before is not None and not self._used():
            return self._before[1]
        self._join()
        return self._ticks[: self.count]

    def column(self, row: int, counter: str) -> Array:
        """One counter of one row over time."""
        return self.values[:, row, COUNTERS.index(counter)]

    def first(self, count: int) -> Samples:
        """The first *count* entries, to go on from there on one's own: they are copied once more are taken and read."""
        other = Samples(self.every, self.exact)
        other.count = count
        other._before = self.values[:count], self.ticks[:count]
        return other

    def room_for(self, entries: int, rows: int) -> Array:
        """A view for *entries* more entries of *rows* rows; grows the buffer when needed."""
        used = self._used()
        length, width = self._values.shape[0], self._values.shape[1]
        if used + entries > length or rows > width:
            while used + entries > length:
                length *= 2
            grown = np.zeros((length, max(rows, width), len(COUNTERS)), dtype=self._kind)
            grown[:used, :width] = self._values[:used]
            self._values = grown
            self._ticks = np.resize(self._ticks, length)
        if self.exact:
            return self._values[used:, :rows]
        if entries > self._fresh.shape[0] or rows != self._fresh.shape[1]:
            self._fresh = np.zeros((entries, rows, len(COUNTERS)))
        return self._fresh

    def took(self, before: int, after: int) -> None:
        """Notes the entries that were written between two tick counts of the flow, the first excluded."""
        used = self._used()
        first = before // self.every + 1
        taken = np.arange(first, after // self.every + 1) * self.every
        self._ticks[used : used + len(taken)] = taken
        if not self.exact and len(taken):
            self._values[used : used + len(taken), : self._fresh.shape[1]] = self._fresh[: len(taken)]
        self.count += len(taken)

    def _used(self) -> int:
        """Entries in the own buffer."""
        return self.count - (len(self._before[1]) if self._before is not None else 0)

    def _join(self) -> None:
        """Bring what came before into the own buffer."""
        if self._before is None:
            return
        values, ticks = self._before
        past, used = len(ticks), self._used()
        joined = np.zeros(
            (max(64, past + used), max(values.shape[1], self._values.shape[1]), len(COUNTERS)),
            dtype=self._kind,
        )
        joined[:past, : values.shape[1]] = values
        joined[past : past + used, : self._values.shape[1]] = self._values[:used]
        self._values = joined
        self._ticks = np.resize(np.concatenate([ticks, self._ticks[:used]]), len(joined))
        self._before = None
