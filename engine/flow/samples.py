"""Samples of the counters of every source and stream over time.

A long run is compressed: 30 MB for an hour of a hundred databases.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from msgspec import Struct

from engine.flow import kernel as k
from engine.flow.kernel import SOURCE_COUNTERS, STREAM_COUNTERS, Array

ENTRIES_PER_BLOCK: Final = 64
"""Number of entries that are compressed together.

Assumed: the compression of the samples of one minute takes 2 ms for a hundred databases. It reduces their
size to a tenth.
"""

ITEMS_PER_GROUP: Final = 8
"""Number of sources or streams that are compressed together. A small number makes reading one of them fast.
Assumed.
"""

ZLIB_LEVEL: Final = 1
"""Compression level of zlib. 1 is the fastest."""

COUNTERS: Final = (*SOURCE_COUNTERS, *STREAM_COUNTERS)
"""Names of the counters of a source, followed by the counters of one of its streams."""


StreamNumbers = tuple[int, int]
"""Numbers of a source and of one of its streams. -1 means that there is none."""

NO_STREAM_NUMBERS: Final[StreamNumbers] = (-1, -1)


class Samples:
    """Counters of all sources and streams, sampled at intervals of *every* ticks.

    Entry n was taken at `ticks[n]`. Samples are not part of forks or digests.
    """

    def __init__(self, every: int = 100, exact: bool = True) -> None:
        """Create empty samples.

        *every*: ticks between two samples. *exact*: False to round values to seven digits and compress
        them, for runs of hours.
        """
        if every < 1:
            raise ValueError("samples need at least one tick between them")
        self.every = every
        self.exact = exact
        self.sources = SampleTable(len(SOURCE_COUNTERS), exact)
        self.streams = SampleTable(len(STREAM_COUNTERS), exact)
        self._ticks = np.zeros(ENTRIES_PER_BLOCK, dtype=np.int64)

    @property
    def count(self) -> int:
        """Return the number of entries."""
        return self.sources.count

    @property
    def ticks(self) -> Array:
        """Return the tick of each entry."""
        return self._ticks[: self.count]

    def read_column(self, number: int, counter: str) -> Array:
        """Return one counter over time, of the source or stream *number*."""
        table, names = (
            (self.sources, SOURCE_COUNTERS) if counter in SOURCE_COUNTERS else (self.streams, STREAM_COUNTERS)
        )
        values: Array = table.read_entries(0, np.full(self.count, number))[:, names.index(counter)]
        return values

    def read_entries(self, first_entry: int, sources: Array, streams: Array) -> Array:
        """Return all `COUNTERS` of the entries from *first_entry* on.

        For each entry, *sources* and *streams* give the number of the source and of the stream to read; -1
        gives zeros.
        """
        return np.hstack(
            [self.sources.read_entries(first_entry, sources), self.streams.read_entries(first_entry, streams)]
        )

    def count_common_entries(self, other_samples: Samples) -> int:
        """Return the number of leading entries that are certainly equal in both samples."""
        if other_samples is self:
            return self.count
        return min(
            self.sources.count_common_entries(other_samples.sources),
            self.streams.count_common_entries(other_samples.streams),
        )

    def copy_beginning(self, count: int) -> Samples:
        """Return an independent copy of the first *count* entries."""
        beginning = Samples(self.every, self.exact)
        beginning.sources, beginning.streams = (
            self.sources.copy_beginning(count),
            self.streams.copy_beginning(count),
        )
        beginning._ticks = self._ticks[: max(count, ENTRIES_PER_BLOCK)].copy()
        return beginning

    def reserve_entries(self, entries: int, sources: int, streams: int) -> tuple[Array, Array]:
        """Return writable views (sources, streams) of the buffers for *entries* more entries."""
        while self.count + entries > len(self._ticks):
            self._ticks = np.resize(self._ticks, 2 * len(self._ticks))
        return self.sources.reserve_entries(entries, sources), self.streams.reserve_entries(entries, streams)

    def record_entries(self, start_tick: int, end_tick: int) -> None:
        """Record that the reserved views now contain the entries after *start_tick*, up to *end_tick*."""
        first, last = start_tick // self.every + 1, end_tick // self.every
        if first > last:
            return
        sample_ticks = np.arange(first, last + 1) * self.every
        self._ticks[self.count : self.count + len(sample_ticks)] = sample_ticks
        self.sources.record_entries(len(sample_ticks))
        self.streams.record_entries(len(sample_ticks))


class SampleTable:
    """Counters of numbered items (sources or streams) over time.

    `values` has the shape (entries, items, counters).
    """

    def __init__(self, counters: int, exact: bool) -> None:
        self._counters = counters
        self._exact = exact
        self._kind = np.dtype(np.float64 if exact else np.float32)
        self._packed: list[tuple[bytes, ...]] = []
        """Compressed blocks of ENTRIES_PER_BLOCK entries, in groups of ITEMS_PER_GROUP items. Empty for exact samples.

        The order in a group is counter, item, entry, because neighbors are then similar.
        """
        self._open = np.zeros((ENTRIES_PER_BLOCK, 0, counters), dtype=self._kind)
        """Uncompressed entries after the last complete block."""
        self._used = 0
        self._reserved = np.zeros((0, 0, counters))
        """Buffer that the compiled loop writes. Its values are then rounded into the main buffer; exact
        samples do not use it.
        """

    @property
    def count(self) -> int:
        """Return the number of entries."""
        return len(self._packed) * ENTRIES_PER_BLOCK + self._used

    @property
    def values(self) -> Array:
        """Return all values. For compressed samples, this is slow; `read_entries` reads single items."""
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
        """Return all counters of the entries from *first_entry* on.

        *numbers*: item of each entry; -1 gives zeros.
        """
        entries = np.zeros((len(numbers), self._counters), dtype=self._kind)
        start = 0
        while start < len(numbers):
            block, offset = divmod(first_entry + start, ENTRIES_PER_BLOCK)
            if block < len(self._packed):
                end, source = min(len(numbers), start + ENTRIES_PER_BLOCK - offset), self._packed[block]
                for number in np.unique(numbers[start:end]).tolist():
                    group, item_index = divmod(number, ITEMS_PER_GROUP)
                    part = (
                        self._unpack_group(source[group]) if 0 <= group < len(source) else self._empty_block
                    )
                    if item_index < part.shape[1]:
                        indexes = np.flatnonzero(numbers[start:end] == number)
                        entries[start + indexes] = part[offset + indexes, item_index]
            else:
                end, offset = len(numbers), first_entry + start - len(self._packed) * ENTRIES_PER_BLOCK
                remaining_numbers = numbers[start:]
                indexes = np.flatnonzero((remaining_numbers >= 0) & (remaining_numbers < self._open.shape[1]))
                entries[start + indexes] = self._open[offset + indexes, remaining_numbers[indexes]]
            start = end
        return entries

    def count_common_entries(self, other_table: SampleTable) -> int:
        """Return the number of leading entries that are certainly equal in both tables."""
        pairs = enumerate(zip(self._packed, other_table._packed, strict=False))
        block_limit = min(len(self._packed), len(other_table._packed))
        return ENTRIES_PER_BLOCK * next(
            (number for number, (own_block, other_block) in pairs if own_block is not other_block),
            block_limit,
        )

    def copy_beginning(self, count: int) -> SampleTable:
        """Return an independent copy of the first *count* entries."""
        beginning = SampleTable(self._counters, self._exact)
        blocks = min(count // ENTRIES_PER_BLOCK, len(self._packed))
        rest_count = count - blocks * ENTRIES_PER_BLOCK
        open_block = self._unpack_block(self._packed[blocks]) if blocks < len(self._packed) else self._open
        beginning._packed = self._packed[:blocks]
        beginning._open = np.zeros(
            (max(rest_count, ENTRIES_PER_BLOCK), *open_block.shape[1:]), dtype=self._kind
        )
        beginning._open[:rest_count] = open_block[:rest_count]
        beginning._used = rest_count
        return beginning

    def reserve_entries(self, entries: int, item_count: int) -> Array:
        """Return a writable view of the buffer for *entries* more entries. The buffer grows when needed."""
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
            self._reserved[:entries] = (
                0.0  # clear old values, because a step does not write the columns of unused numbers
            )
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
        """Compress all complete blocks and remove them from the buffer."""
        full_rows = self._used // ENTRIES_PER_BLOCK * ENTRIES_PER_BLOCK
        for start in range(0, full_rows, ENTRIES_PER_BLOCK):
            block = self._open[start : start + ENTRIES_PER_BLOCK].transpose(2, 1, 0)
            groups = range(0, block.shape[1], ITEMS_PER_GROUP)
            self._packed.append(
                tuple(
                    zlib.compress(block[:, start : start + ITEMS_PER_GROUP].tobytes(), ZLIB_LEVEL)
                    for start in groups
                )
            )
        if full_rows:
            self._used -= full_rows
            self._open[: self._used] = self._open[full_rows : full_rows + self._used].copy()

    @property
    def _empty_block(self) -> Array:
        """Return an unpacked block without items."""
        return np.zeros((ENTRIES_PER_BLOCK, 0, self._counters), dtype=np.float32)

    def _unpack_group(self, packed: bytes) -> Array:
        """Return a compressed group (at most ITEMS_PER_GROUP items) as an array (entry, item, counter)."""
        flat = np.frombuffer(zlib.decompress(packed), dtype=np.float32)
        return flat.reshape(self._counters, -1, ENTRIES_PER_BLOCK).transpose(2, 1, 0)

    def _unpack_block(self, block: tuple[bytes, ...]) -> Array:
        """Return all items of a block."""
        return np.concatenate([self._empty_block, *map(self._unpack_group, block)], axis=1)


# --- readings of a source or a stream: positions, current counters, totals ----------------------------------


class SourcePositions(NamedTuple):
    """Log positions of a source in KB since it was added, and its number of transactions."""

    generated_kb: float
    flushed_kb: float  # hardened on the disk of the source
    committed_kb: float  # end of the last commit acknowledged to a client
    transactions: float


class StreamPositions(NamedTuple):
    """Log positions of a stream in KB, on the same scale as the positions of its source."""

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
"""Field of `SourcePositions` -> column in the array of sources."""
STREAM_POSITIONS: Final = {
    "sent_kb": k.SENT,
    "received_kb": k.RECEIVED,
    "hardened_kb": k.HARDENED,
    "acknowledged_kb": k.ACKNOWLEDGED,
    "redone_kb": k.REDONE,
}
"""Field of `StreamPositions` -> column in the array of streams."""


ValuesByNumber = Sequence[float] | Mapping[int, float]


class LogPositions(NamedTuple):
    """Log positions of many sources and streams, keyed by their numbers."""

    flushed_kb: ValuesByNumber
    reuse_kb: ValuesByNumber  # log before this position may be overwritten
    watched: ValuesByNumber  # armed stop conditions of each source; `run_flow` stops when one holds
    hardened_kb: ValuesByNumber
    streams_watched: ValuesByNumber


class SourceReading(Struct, frozen=True):
    """Current counters of a source, in the order of `SOURCE_COUNTERS`. Rates are smoothed over a second."""

    transactions_per_s: float
    response_s: float  # mean of the last second; if no transaction ends, the age of the oldest transaction
    commit_delay_ms: float
    """Mean wait of a commit for its streams. If no commit completes, the age of the oldest waiting commit.

    0 if commits do not wait.
    """
    log_generation_kb_per_s: float
    log_used_kb: float
    log_size_kb: float
    principal_cpu_percent: float  # CPU use of the whole instance
    principal_data_writes_kb_per_s: float
    principal_dirty_pages: float
    log_since_checkpoint_kb: float
    in_flight_transactions: float


def compute_total_commit_delay_ms(delay_ms: float, transactions_per_s: float, in_flight: float) -> float:
    """Return the total time that all commits wait within a second, in ms.

    If no commit completes, all *in_flight* commits wait during the whole second.

    Documented for the counter Transaction Delay [DOC: Database Replica object].
    """
    if delay_ms >= 1000.0 * k.OLDEST_S:
        return 1000.0 * in_flight
    return delay_ms * transactions_per_s


class StreamReading(Struct, frozen=True):
    """Current counters of a stream, in the order of `STREAM_COUNTERS`. Rates are smoothed over a second."""

    log_send_kb_per_s: float
    redo_kb_per_s: float
    send_queue_kb: float
    redo_queue_kb: float
    mirror_cpu_percent: float  # CPU use of the whole instance
    mirror_data_writes_kb_per_s: float
    mirror_dirty_pages: float
    sends_per_s: float  # sent messages per second
    unhardened_kb: float  # generated but not yet hardened on the target's disk


class SourceTotals(Struct, frozen=True):
    """Totals of one source since it was added. The difference between two totals gives an exact mean."""

    transactions: float
    generated_kb: float
    pages_written: float
    inside_s: float  # connection-seconds inside transactions
    waiting_s: float  # connection-seconds waiting for a commit
    core_s: float  # CPU time of the whole instance


class StreamTotals(Struct, frozen=True):
    """Totals of one stream since it was added."""

    sent_kb: float
    redone_kb: float
    pages_written: float  # pages written by the target
    messages: float
    core_s: float  # CPU time of the whole receiving instance
