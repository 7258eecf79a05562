"""Counters of every source and stream over time. A long run is compressed: 30 MB for an hour of a hundred databases."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from msgspec import Struct

from engine.flow import kernel as k
from engine.flow.kernel import SOURCE_COUNTERS, STREAM_COUNTERS, Array

BLOCK: Final = 64
"""Number of entries that are compressed together.

Assumed: one minute takes 2 ms for a hundred databases and shrinks to a tenth.
"""

GROUP: Final = 8
"""Number of sources or streams that are compressed together, so that reading one does not unpack all. Assumed."""

LEVEL: Final = 1
"""Compression level of zlib: the fastest."""

COUNTERS: Final = (*SOURCE_COUNTERS, *STREAM_COUNTERS)
"""Counters of a source, followed by those of one of its streams."""


StreamNumbers = tuple[int, int]
"""Numbers of a source and of one of its streams; -1: none."""

NOWHERE: Final[StreamNumbers] = (-1, -1)


class Samples:
    """Counters of sources and streams at ticks[n], one entry per *every* ticks.

    They are not part of forks or digests.
    """

    def __init__(self, every: int = 100, exact: bool = True) -> None:
        """Create empty samples.

        *exact* False keeps only seven digits and compresses, for a run of hours.
        """
        if every < 1:
            raise ValueError("samples need at least one tick between them")
        self.every = every
        self.exact = exact
        self.sources = SampleTable(len(SOURCE_COUNTERS), exact)
        self.streams = SampleTable(len(STREAM_COUNTERS), exact)
        self._ticks = np.zeros(BLOCK, dtype=np.int64)

    @property
    def count(self) -> int:
        """Return the number of entries."""
        return self.sources.count

    @property
    def ticks(self) -> Array:
        """Return the ticks of the flow at which the entries were taken."""
        return self._ticks[: self.count]

    def read_column(self, number: int, counter: str) -> Array:
        """Return one counter of one source or one stream over time."""
        table, names = (
            (self.sources, SOURCE_COUNTERS) if counter in SOURCE_COUNTERS else (self.streams, STREAM_COUNTERS)
        )
        values: Array = table.read_entries(0, np.full(self.count, number))[:, names.index(counter)]
        return values

    def read_entries(self, first_entry: int, sources: Array, streams: Array) -> Array:
        """Return all `COUNTERS` of the entries since *first_entry*.

        *sources* and *streams* name one source and stream for each entry; -1 gives zeros.
        """
        return np.hstack(
            [self.sources.read_entries(first_entry, sources), self.streams.read_entries(first_entry, streams)]
        )

    def count_common_entries(self, other_samples: Samples) -> int:
        """Return the number of entries at the beginning that are certainly the same in both."""
        if other_samples is self:
            return self.count
        return min(
            self.sources.count_common_entries(other_samples.sources),
            self.streams.count_common_entries(other_samples.streams),
        )

    def copy_beginning(self, count: int) -> Samples:
        """Return a copy of the first *count* entries, to which new entries can be added independently."""
        beginning = Samples(self.every, self.exact)
        beginning.sources, beginning.streams = (
            self.sources.copy_beginning(count),
            self.streams.copy_beginning(count),
        )
        beginning._ticks = self._ticks[: max(count, BLOCK)].copy()
        return beginning

    def reserve(self, entries: int, sources: int, streams: int) -> tuple[Array, Array]:
        """Return views of buffers for *entries* more entries. The buffers grow when needed."""
        while self.count + entries > len(self._ticks):
            self._ticks = np.resize(self._ticks, 2 * len(self._ticks))
        return self.sources.reserve(entries, sources), self.streams.reserve(entries, streams)

    def record_entries(self, start_tick: int, end_tick: int) -> None:
        """Record the entries that were written after *start_tick*, up to *end_tick*."""
        first, last = start_tick // self.every + 1, end_tick // self.every
        if first > last:
            return
        sample_ticks = np.arange(first, last + 1) * self.every
        self._ticks[self.count : self.count + len(sample_ticks)] = sample_ticks
        self.sources.record_entries(len(sample_ticks))
        self.streams.record_entries(len(sample_ticks))


class SampleTable:
    """Counters of numbered items, entry by entry. `values` has the shape (entries, items, counters)."""

    def __init__(self, counters: int, exact: bool) -> None:
        self._counters = counters
        self._exact = exact
        self._kind = np.dtype(np.float64 if exact else np.float32)
        self._packed: list[tuple[bytes, ...]] = []
        """Compressed blocks of BLOCK entries, each divided into groups of GROUP items. Empty for exact samples.

        The order in a group is counter, item, entry, because neighbors are then similar.
        """
        self._open = np.zeros((BLOCK, 0, counters), dtype=self._kind)
        """Uncompressed entries after the last complete block."""
        self._used = 0
        self._reserved = np.zeros((0, 0, counters))
        """Buffer that the compiled loop writes. Its values are then rounded into the main buffer; exact
        samples do not use it.
        """

    @property
    def count(self) -> int:
        """Return the number of entries."""
        return len(self._packed) * BLOCK + self._used

    @property
    def values(self) -> Array:
        """Return all values. Compressed samples return a large copy, slowly; `read_entries` reads single entries."""
        if not self._packed:
            return self._open[: self._used]
        parts = [*map(self._unpack_block, self._packed), self._open[: self._used]]
        matrix = np.zeros(
            (self.count, max(part.shape[1] for part in parts), self._counters), dtype=self._kind
        )
        start = 0
        for part in parts:
            matrix[start : start + len(part), : part.shape[1]] = part
            start += len(part)
        return matrix

    def read_entries(self, first_entry: int, numbers: Array) -> Array:
        """Return every counter of the entries since *first_entry* for the item in *numbers*; 0 for -1."""
        entries = np.zeros((len(numbers), self._counters), dtype=self._kind)
        start = 0
        while start < len(numbers):
            block, offset = divmod(first_entry + start, BLOCK)
            if block < len(self._packed):
                end, source = min(len(numbers), start + BLOCK - offset), self._packed[block]
                for number in np.unique(numbers[start:end]).tolist():
                    group, item_index = divmod(number, GROUP)
                    part = (
                        self._unpack_group(source[group]) if 0 <= group < len(source) else self._empty_block
                    )
                    if item_index < part.shape[1]:
                        indexes = np.flatnonzero(numbers[start:end] == number)
                        entries[start + indexes] = part[offset + indexes, item_index]
            else:
                end, offset = len(numbers), first_entry + start - len(self._packed) * BLOCK
                remaining_numbers = numbers[start:]
                indexes = np.flatnonzero((remaining_numbers >= 0) & (remaining_numbers < self._open.shape[1]))
                entries[start + indexes] = self._open[offset + indexes, remaining_numbers[indexes]]
            start = end
        return entries

    def count_common_entries(self, other_table: SampleTable) -> int:
        """Return the number of entries at the beginning that are certainly the same in both."""
        pairs = enumerate(zip(self._packed, other_table._packed, strict=False))
        block_limit = min(len(self._packed), len(other_table._packed))
        return BLOCK * next(
            (number for number, (own_block, other_block) in pairs if own_block is not other_block),
            block_limit,
        )

    def copy_beginning(self, count: int) -> SampleTable:
        """Return a copy of the first *count* entries, to which new entries can be added independently."""
        beginning = SampleTable(self._counters, self._exact)
        blocks = min(count // BLOCK, len(self._packed))
        rest_count = count - blocks * BLOCK
        open_block = self._unpack_block(self._packed[blocks]) if blocks < len(self._packed) else self._open
        beginning._packed = self._packed[:blocks]
        beginning._open = np.zeros((max(rest_count, BLOCK), *open_block.shape[1:]), dtype=self._kind)
        beginning._open[:rest_count] = open_block[:rest_count]
        beginning._used = rest_count
        return beginning

    def reserve(self, entries: int, item_count: int) -> Array:
        """Return a view of the buffer for *entries* more entries. The buffer grows when needed."""
        length, width = self._open.shape[:2]
        if self._used + entries > length or item_count > width:
            while self._used + entries > length:
                length *= 2
            grown = np.zeros((length, max(item_count, width), self._counters), dtype=self._kind)
            grown[: self._used, :width] = self._open[: self._used]
            self._open = grown
        if self._exact:
            return self._open[self._used :, :item_count]
        if entries > self._reserved.shape[0] or item_count != self._reserved.shape[1]:
            self._reserved = np.zeros((entries, item_count, self._counters))
        else:
            self._reserved[:entries] = 0.0  # unused columns are not written
        return self._reserved

    def record_entries(self, entries: int) -> None:
        """Record that the first *entries* of the reserved view are written."""
        if not self._exact and entries:
            rounded = self._open[self._used : self._used + entries]
            rounded[:, : self._reserved.shape[1]] = self._reserved[:entries]
            rounded[:, self._reserved.shape[1] :] = 0.0
        self._used += entries
        if not self._exact:
            self._pack_complete_blocks()

    def _pack_complete_blocks(self) -> None:
        """Compress complete blocks."""
        full_rows = self._used // BLOCK * BLOCK
        for start in range(0, full_rows, BLOCK):
            block = self._open[start : start + BLOCK].transpose(2, 1, 0)
            groups = range(0, block.shape[1], GROUP)
            self._packed.append(
                tuple(zlib.compress(block[:, start : start + GROUP].tobytes(), LEVEL) for start in groups)
            )
        if full_rows:
            self._used -= full_rows
            self._open[: self._used] = self._open[full_rows : full_rows + self._used].copy()

    @property
    def _empty_block(self) -> Array:
        """Return the packed block of a time before the first item existed."""
        return np.zeros((BLOCK, 0, self._counters), dtype=np.float32)

    def _unpack_group(self, packed: bytes) -> Array:
        """Return up to GROUP items of a block, by entry, item and counter."""
        flat = np.frombuffer(zlib.decompress(packed), dtype=np.float32)
        return flat.reshape(self._counters, -1, BLOCK).transpose(2, 1, 0)

    def _unpack_block(self, block: tuple[bytes, ...]) -> Array:
        """Return all items of a block."""
        return np.concatenate([self._empty_block, *map(self._unpack_group, block)], axis=1)


# --- readings of a source or a stream ---------------------------------------------------------------------
# Positions, current counters, totals.


class SourcePositions(NamedTuple):
    """Cumulative log positions in KB, and the transactions since the source began."""

    generated_kb: float
    flushed_kb: float  # hardened on its own disk
    committed_kb: float  # end of the last commit acknowledged to a client
    transactions: float


class StreamPositions(NamedTuple):
    """Cumulative log positions in KB."""

    sent_kb: float
    received_kb: float
    hardened_kb: float  # hardened on the target's disk
    acknowledged_kb: float
    redone_kb: float


SOURCE_POSITIONS: Final = {
    "generated_kb": k.GENERATED,
    "flushed_kb": k.FLUSHED,
    "committed_kb": k.DURABLE,
    "transactions": k.TRANSACTIONS,
}
"""Column of each field of `SourcePositions`, in its order."""
STREAM_POSITIONS: Final = {
    "sent_kb": k.SENT,
    "received_kb": k.RECEIVED,
    "hardened_kb": k.HARDENED,
    "acknowledged_kb": k.ACKNOWLEDGED,
    "redone_kb": k.REDONE,
}
"""Column of each field of `StreamPositions`, in its order."""


Numbered = Sequence[float] | Mapping[int, float]


class LogPositions(NamedTuple):
    """Positions of many logs, by the number of a source or of a stream."""

    flushed_kb: Numbered
    reuse_kb: Numbered  # log before this position may be overwritten
    watched: Numbered  # level crossings of the source at which `run_flow` stops
    hardened_kb: Numbered
    streams_watched: Numbered


class SourceReading(Struct, frozen=True):
    """Current counters, with rates smoothed over about a second. The fields are in the order of `SOURCE_COUNTERS`."""

    transactions_per_s: float
    response_s: float  # mean of the last second; while no transaction ends, the age of the oldest
    commit_delay_ms: float
    """Mean wait of a commit for its streams; while no commit completes, the age of the oldest waiting one.

    0 when commits do not wait.
    """
    log_generation_kb_per_s: float
    log_used_kb: float
    log_size_kb: float
    principal_cpu_percent: float  # of the whole instance
    principal_data_writes_kb_per_s: float
    principal_dirty_pages: float
    log_since_checkpoint_kb: float
    in_flight_transactions: float


def compute_total_commit_delay_ms(delay_ms: float, transactions_per_s: float, in_flight: float) -> float:
    """Return the wait of all commits within a second, in ms; while no commit completes, all of them wait all of it.

    Documented for the counter Transaction Delay [DOC: Database Replica object].
    """
    if delay_ms >= 1000.0 * k.OLDEST_S:
        return 1000.0 * in_flight
    return delay_ms * transactions_per_s


class StreamReading(Struct, frozen=True):
    """Current counters, with rates smoothed over about a second. The fields are in the order of `STREAM_COUNTERS`."""

    log_send_kb_per_s: float
    redo_kb_per_s: float
    send_queue_kb: float
    redo_queue_kb: float
    mirror_cpu_percent: float  # of the whole instance
    mirror_data_writes_kb_per_s: float
    mirror_dirty_pages: float
    sends_per_s: float  # messages per second
    unhardened_kb: float  # generated but not yet hardened on the target's disk


class SourceTotals(Struct, frozen=True):
    """Totals since the source began. Differences between two readings give exact means."""

    transactions: float
    generated_kb: float
    pages_written: float
    inside_s: float  # connection-seconds inside transactions
    waiting_s: float  # connection-seconds waiting for a commit
    core_s: float  # of the whole instance


class StreamTotals(Struct, frozen=True):
    """Totals since the stream began."""

    sent_kb: float
    redone_kb: float
    pages_written: float  # pages written by the target
    messages: float
    core_s: float  # of the whole receiving instance
