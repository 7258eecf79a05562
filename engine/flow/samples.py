"""A growing buffer of counters that `run` fills inside the compiled loop."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.flow.kernel import COUNTERS


class Samples:
    """values[k, row, counter] at ticks[k]; one entry each *every* ticks. Not part of fork or digest."""

    def __init__(self, every: int = 100) -> None:
        if every < 1:
            raise ValueError("samples need at least one tick between them")
        self.every = every
        self.count = 0
        self._values = np.zeros((64, 0, len(COUNTERS)))
        self._ticks = np.zeros(64, dtype=np.int64)

    @property
    def values(self) -> np.ndarray[Any, Any]:
        return self._values[: self.count]

    @property
    def ticks(self) -> np.ndarray[Any, Any]:
        """Tick counts of the flow at which the entries were taken."""
        return self._ticks[: self.count]

    def column(self, row: int, counter: str) -> np.ndarray[Any, Any]:
        """One counter of one row over time."""
        return self.values[:, row, COUNTERS.index(counter)]

    def first(self, count: int) -> Samples:
        """A copy of the first *count* entries, to go on from there."""
        other = Samples(self.every)
        other.count = count
        other._values = self._values[: max(64, count)].copy()
        other._ticks = self._ticks[: max(64, count)].copy()
        return other

    def room_for(self, entries: int, rows: int) -> np.ndarray[Any, Any]:
        """A view for *entries* more entries of *rows* rows; grows the buffer when needed."""
        length, width = self._values.shape[0], self._values.shape[1]
        if self.count + entries > length or rows > width:
            while self.count + entries > length:
                length *= 2
            grown = np.zeros((length, max(rows, width), len(COUNTERS)))
            grown[: self.count, :width] = self._values[: self.count]
            self._values = grown
            self._ticks = np.resize(self._ticks, length)
        return self._values[self.count :, :rows]

    def took(self, before: int, after: int) -> None:
        """Notes the entries that were written between two tick counts of the flow, the first excluded."""
        first = before // self.every + 1
        taken = np.arange(first, after // self.every + 1) * self.every
        self._ticks[self.count : self.count + len(taken)] = taken
        self.count += len(taken)
