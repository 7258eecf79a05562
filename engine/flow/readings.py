"""Readings of a source or a stream: positions, counters at one time, totals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from engine.flow import kernel as k


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


class Standing(NamedTuple):
    """Positions of many logs, by the number of a source or of a stream."""

    flushed_kb: Numbered
    reuse_kb: Numbered  # log before this position may be overwritten
    watched: Numbered  # level crossings of the source at which `run` stops
    hardened_kb: Numbered
    streams_watched: Numbered


@dataclass(frozen=True)
class SourceReading:
    """Present counters, with rates smoothed over about a second. Field order is that of `SOURCE_COUNTERS`."""

    transactions_per_s: float
    response_s: float
    commit_delay_ms: float  # mean wait of a commit for its streams; 0 when commits do not wait
    log_generation_kb_per_s: float
    log_used_kb: float
    log_size_kb: float
    principal_cpu_percent: float  # of the whole instance
    principal_data_writes_kb_per_s: float
    principal_dirty_pages: float
    log_since_checkpoint_kb: float
    in_flight_transactions: float


@dataclass(frozen=True)
class StreamReading:
    """Present counters, with rates smoothed over about a second. Field order is that of `STREAM_COUNTERS`."""

    log_send_kb_per_s: float
    redo_kb_per_s: float
    send_queue_kb: float
    redo_queue_kb: float
    mirror_cpu_percent: float  # of the whole instance
    mirror_data_writes_kb_per_s: float
    mirror_dirty_pages: float
    sends_per_s: float  # messages
    unhardened_kb: float  # generated, not yet on the target's disk


@dataclass(frozen=True)
class SourceTotals:
    """Totals since the source began; the differences of two readings give exact means."""

    transactions: float
    generated_kb: float
    pages_written: float
    inside_s: float  # connection-seconds inside transactions
    waiting_s: float  # connection-seconds waiting for a commit
    core_s: float  # of the whole instance


@dataclass(frozen=True)
class StreamTotals:
    """Totals since the stream began."""

    sent_kb: float
    redone_kb: float
    pages_written: float  # pages written by the target
    messages: float
    core_s: float  # of the whole receiving instance
