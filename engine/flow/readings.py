"""What can be read off a row: positions, counters of a moment, totals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from engine.flow import kernel as k


@dataclass(frozen=True)
class Positions:
    """Cumulative log positions in KB, and transactions since the row began."""

    generated_kb: float
    flushed_kb: float  # on the principal's disk
    sent_kb: float
    received_kb: float
    hardened_kb: float  # on the mirror's disk
    acknowledged_kb: float
    redone_kb: float
    committed_kb: float  # end of the last commit told to a client
    transactions: float


POSITION_COLUMNS: Final = {
    "generated_kb": k.GENERATED,
    "flushed_kb": k.FLUSHED,
    "sent_kb": k.SENT,
    "received_kb": k.RECEIVED,
    "hardened_kb": k.HARDENED,
    "acknowledged_kb": k.ACKNOWLEDGED,
    "redone_kb": k.REDONE,
    "committed_kb": k.DURABLE,
    "transactions": k.TRANSACTIONS,
}


@dataclass(frozen=True)
class Reading:
    """Counters of a moment, rates smoothed over about a second. Field order is that of `COUNTERS`."""

    transactions_per_s: float
    response_s: float
    commit_delay_ms: float  # mean wait of a commit for the mirror; 0 when commits do not wait
    log_generation_kb_per_s: float
    log_send_kb_per_s: float
    redo_kb_per_s: float
    send_queue_kb: float
    redo_queue_kb: float
    log_used_kb: float
    log_size_kb: float
    principal_cpu_percent: float  # of the whole instance
    mirror_cpu_percent: float
    principal_data_writes_kb_per_s: float
    mirror_data_writes_kb_per_s: float
    principal_dirty_pages: float
    mirror_dirty_pages: float
    log_since_checkpoint_kb: float
    in_flight_transactions: float
    sends_per_s: float  # messages
    unhardened_kb: float  # generated, not yet on the mirror's disk


@dataclass(frozen=True)
class Totals:
    """What has added up since the row began; the differences of two give exact means."""

    transactions: float
    generated_kb: float
    sent_kb: float
    redone_kb: float
    pages_written: float
    mirror_pages_written: float
    inside_s: float  # connections inside transactions, over time
    waiting_s: float  # connections waiting for a commit, over time
    messages: float
    principal_core_s: float  # of the whole instance
    mirror_core_s: float
