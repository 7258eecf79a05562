"""The counters of every row over time; of a long run packed, as an hour of a hundred databases would take 30 MB."""

from __future__ import annotations

import zlib
from typing import Any, Final

import numpy as np

from engine.flow.kernel import COUNTERS

Array = np.ndarray[Any, Any]

BLOCK: Final = 64
"""Entries that are packed together. Assumed: a minute, 2 ms for a hundred databases, and a tenth of their room."""

GROUP: Final = 8
"""Rows that are packed together, so that one database is read without unpacking a hundred. Assumed."""

LEVEL: Final = 1
"""Of zlib: the quickest."""

_NOTHING: Final = np.zeros((BLOCK, 0, len(COUNTERS)), dtype=np.float32)
"""A block from before the first row."""


class Samples:
    """values[k, row, counter] at ticks[k]; one entry each *every* ticks. Not part of fork or digest."""

    def __init__(self, every: int = 100, exact: bool = True) -> None:
        """*exact* False: kept to seven digits and packed; for a run of hours."""
        if every < 1:
            raise ValueError("samples need at least one tick between them")
        self.every = every
        self.exact = exact
        self._kind = np.dtype(np.float64 if exact else np.float32)
        self._packed: list[tuple[bytes, ...]] = []
        """Blocks of BLOCK entries, each GROUP rows by themselves, in the order counter, row, entry: neighbours are
        alike. None for exact samples."""
        self._open = np.zeros((BLOCK, 0, len(COUNTERS)), dtype=self._kind)
        """The entries that come after the blocks."""
        self._used = 0
        self._fresh = np.zeros((0, 0, len(COUNTERS)))
        """Where the compiled loop writes what is then rounded into the buffer; not used for exact samples."""
        self._ticks = np.zeros(BLOCK, dtype=np.int64)

    @property
    def count(self) -> int:
        return len(self._packed) * BLOCK + self._used

    @property
    def ticks(self) -> Array:
        """Tick counts of the flow at which the entries were taken."""
        return self._ticks[: self.count]

    @property
    def values(self) -> Array:
        """All of it; of packed samples a copy that is large and takes its time: `of_rows` is for who wants a few."""
        if not self._packed:
            return self._open[: self._used]
        parts = [*map(_unpacked, self._packed), self._open[: self._used]]
        whole = np.zeros((self.count, max(part.shape[1] for part in parts), len(COUNTERS)), dtype=self._kind)
        start = 0
        for part in parts:
            whole[start : start + len(part), : part.shape[1]] = part
            start += len(part)
        return whole

    def column(self, row: int, counter: str) -> Array:
        """One counter of one row over time."""
        return self.of_rows(0, np.full(self.count, row))[:, COUNTERS.index(counter)]

    def of_rows(self, first: int, rows: Array) -> Array:
        """Every counter of the entries from *first* on, of each the row that *rows* says; 0 where it was not there."""
        found = np.zeros((len(rows), len(COUNTERS)), dtype=self._kind)
        start = 0
        while start < len(rows):
            number, at = divmod(first + start, BLOCK)
            if number < len(self._packed):
                end, source = min(len(rows), start + BLOCK - at), self._packed[number]
                for row in np.unique(rows[start:end]).tolist():
                    group, place = divmod(row, GROUP)
                    part = _group(source[group]) if group < len(source) else _NOTHING
                    if place < part.shape[1]:
                        here = np.flatnonzero(rows[start:end] == row)
                        found[start + here] = part[at + here, place]
            else:
                end, at = len(rows), first + start - len(self._packed) * BLOCK
                here = np.flatnonzero(rows[start:] < self._open.shape[1])
                found[start + here] = self._open[at + here, rows[start + here]]
            start = end
        return found

    def agrees(self, other: Samples) -> int:
        """How many entries at the beginning are surely the same."""
        if other is self:
            return self.count
        pairs = enumerate(zip(self._packed, other._packed, strict=False))
        most = min(len(self._packed), len(other._packed))
        return BLOCK * next((number for number, (mine, its) in pairs if mine is not its), most)

    def first(self, count: int) -> Samples:
        """The first *count* entries, to go on from there on one's own."""
        other = Samples(self.every, self.exact)
        blocks = min(count // BLOCK, len(self._packed))
        rest = count - blocks * BLOCK
        open_block = _unpacked(self._packed[blocks]) if blocks < len(self._packed) else self._open
        other._packed = self._packed[:blocks]
        other._open = np.zeros((max(rest, BLOCK), *open_block.shape[1:]), dtype=self._kind)
        other._open[:rest] = open_block[:rest]
        other._used = rest
        other._ticks = self._ticks[: max(count, BLOCK)].copy()
        return other

    def room_for(self, entries: int, rows: int) -> Array:
        """A view for *entries* more entries of *rows* rows; grows the buffer when needed."""
        length, width = self._open.shape[:2]
        if self._used + entries > length or rows > width:
            while self._used + entries > length:
                length *= 2
            grown = np.zeros((length, max(rows, width), len(COUNTERS)), dtype=self._kind)
            grown[: self._used, :width] = self._open[: self._used]
            self._open = grown
        while self.count + entries > len(self._ticks):
            self._ticks = np.resize(self._ticks, 2 * len(self._ticks))
        if self.exact:
            return self._open[self._used :, :rows]
        if entries > self._fresh.shape[0] or rows != self._fresh.shape[1]:
            self._fresh = np.zeros((entries, rows, len(COUNTERS)))
        return self._fresh

    def took(self, before: int, after: int) -> None:
        """Notes the entries that were written between two tick counts of the flow, the first excluded."""
        first = before // self.every + 1
        taken = np.arange(first, after // self.every + 1) * self.every
        self._ticks[self.count : self.count + len(taken)] = taken
        if not self.exact and len(taken):
            rounded = self._open[self._used : self._used + len(taken)]
            rounded[:, : self._fresh.shape[1]] = self._fresh[: len(taken)]
            rounded[:, self._fresh.shape[1] :] = 0.0
        self._used += len(taken)
        if not self.exact:
            self._pack()

    def _pack(self) -> None:
        """Pack what is full."""
        full = self._used // BLOCK * BLOCK
        for start in range(0, full, BLOCK):
            block = self._open[start : start + BLOCK].transpose(2, 1, 0)
            groups = range(0, block.shape[1], GROUP)
            self._packed.append(
                tuple(zlib.compress(block[:, at : at + GROUP].tobytes(), LEVEL) for at in groups)
            )
        if full:
            self._used -= full
            self._open[: self._used] = self._open[full : full + self._used].copy()


def _group(packed: bytes) -> Array:
    """Up to GROUP rows of a block, as entry, row, counter."""
    flat = np.frombuffer(zlib.decompress(packed), dtype=np.float32)
    return flat.reshape(len(COUNTERS), -1, BLOCK).transpose(2, 1, 0)


def _unpacked(block: tuple[bytes, ...]) -> Array:
    """All rows of a block."""
    return np.concatenate([_NOTHING, *map(_group, block)], axis=1)
