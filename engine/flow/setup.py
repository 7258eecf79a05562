"""Setup of sources and streams of log as frozen data: site, workload, link and switches."""

from enum import IntFlag
from typing import Final

from msgspec import Struct

from engine.flow.kernel import SIGNS
from engine.flow.samples import COUNTERS
from engine.localization import build_message

COMPRESSION_SAVING_MIN: Final = 0.125
"""Minimum share that compression must save. Otherwise a message is sent uncompressed. Documented (SQL Server 2008)."""

COMPRESSION_VERSION_MIN: Final = 2008
"""First version that compresses the log stream. Documented."""


class CrossingKind(IntFlag):
    """Crossings at which `run_flow` can stop."""

    REDO_DONE = 1  # stream: the target has applied all received log
    SEND_DONE = 2  # stream: all log except a last block is sent
    LOG_FULL = 4  # source: the log is full, the database halts
    OPERATION_DONE = 8  # source: the long operation has written its last log


class Workload(Struct, frozen=True):
    """Closed population of clients. `sites` states the source and the class of each figure."""

    name: str
    connections: float  # N, the number of connections
    think_s: float  # Z, the time between a response and the next request
    cpu_ms: float  # c, the core time of a transaction on the site's processor
    other_delay_ms: float  # D0, the time for reads, locks and the client inside a transaction
    log_kb_per_transaction: float  # l, the log per transaction
    page_touches: float  # p, the number of page changes per transaction
    hot_pages: float  # D, the number of pages that share these changes
    compression_ratio: float = 1.0  # wire bytes per log byte when the stream is compressed
    transactions_per_business_transaction: float = 1.0  # transactions per unit that the client measures


class Operation(Struct, frozen=True):
    """Long operation and its log: index build, rebuild or bulk load."""

    name: str
    log_kb: float  # total log of the operation
    rate_kb_per_s: float  # log rate without any delay; limited by scan, sort or row source
    batch_kb: float = 0.0  # log per committed batch; 0 = one transaction that commits at the end


class ServerHardware(Struct, frozen=True):
    """Hardware of a server, and the cost of its SQL Server build on this hardware.

    Every site in `sites` states the source and the class of each figure. Undecided choices of the model are
    fields here: `ack_latency_ms`, `log_limit_kb_2005`, `log_limit_kb`, `window_in_full`.
    """

    name: str
    cores: int
    log_write_ms: float  # h, the time of one write of a log block
    log_block_kb: float  # K, the largest log block
    mirror_copy_ms: float  # t_post, the extra time per block that also goes to mirroring
    ack_latency_ms: float  # L, from hardened on the mirror to known on the principal, without the wire
    log_limit_kb_2005: float  # U, the maximum log in flight to the disks, in 2005
    log_limit_kb: float  # U in 2008 and later
    send_window_kb: float  # W, the maximum of unacknowledged bytes of one session
    window_handling_ms: float  # p_W, the processing time of one full window
    wire_efficiency: float  # eta, the payload share of an Ethernet frame
    message_cpu_ms: float  # a, the core time of a message on the principal
    mirror_message_cpu_ms: float  # the same on the mirror
    full_message_cpu_ms: float  # k, the core time of an acknowledgment in FULL on the principal
    wire_cpu_us_per_kb: float  # b, the core time on both sides, including encryption
    encryption_cpu_us_per_kb: float  # share of that core time that encryption causes
    compress_cpu_us_per_kb: float
    decompress_cpu_us_per_kb: float
    redo_cpu_us_per_touch: float  # d, the core time of redoing a page change
    mirror_flush_s: float  # tau, the time for which a dirty page stays on the mirror
    checkpoint_interval_s: float  # T_cp, the time between two checkpoints
    checkpoint_pages_per_s: float  # v_cp, the rate at which a checkpoint writes pages
    mirror_flush_pages_per_s: float  # v_m, the maximum rate of page writes on the mirror
    window_in_full: bool = (
        True  # the send window also applies with safety FULL (undecided: [WP] fig. 9 fits both)
    )
    log_streams: float = (
        6.0  # number of log files that the device writes in parallel before they slow each other down
    )
    wake_up_us: float = 0.0  # t_w, the wake-up time of one thread; messages of many databases share it
    # cost of reading sent log again, as a share of the cost of writing it (fixed log cache)
    log_reread_share: float = 0.0
    background_cores: float = 0.0  # cores on each server that are busy regardless of clients
    worker_threads: float = 0.0  # 0 = default of the product for these cores


class Level(Struct, frozen=True):
    """Comparison of a counter with a value. Its result is watched at whole seconds."""

    number: int
    """Number of the source or stream of the counter."""
    counter: str
    whole: float
    """Value that counts as 100% if the counter is compared as a percentage; 0 means no percentage."""
    sign: str
    level: float
    held: bool
    """Latest result of the comparison."""

    def to_row(self) -> tuple[float, ...]:
        """Return the comparison as a row for the compiled step."""
        counter, sign = COUNTERS.index(self.counter), SIGNS.index(self.sign)
        return self.number, counter, self.whole, sign, self.level, self.held


class SourceSetup(Struct, frozen=True):
    """Setup of one writable log: the open copy of a database, its clients and its instance."""

    site: ServerHardware
    workload: Workload
    scale: float = 1.0  # multiplies connections; 0 = idle
    host: int = 0  # index of the server instance
    alive: bool = True  # the process runs; otherwise log, pages and clients stand still
    serving: bool = True  # clients can run transactions
    version: int = 2005
    log_size_kb: float = 1_048_576.0
    log_max_kb: float = 41_943_040.0  # 40 GB
    delayed_durability: bool = False
    log_disk_factor: float = 1.0  # slowdown factor of the log disk, >= 1
    data_disk_factor: float = 1.0
    cpu_factor: float = 1.0
    operation: Operation | None = None


class StreamSetup(Struct, frozen=True):
    """Setup of one stream of a source's log to another copy of the database."""

    site: ServerHardware
    """Hardware of the receiving instance."""
    target_host: int = -1
    """Index of the receiving instance. -1: there is none, and the unsent log is the send queue."""
    target_alive: bool = True
    awaited: bool = False
    """True if commits wait until this stream has hardened their log. The log is then sent while it is being
    written.
    """
    connected: bool = False
    """True if the source considers the target connected."""
    carrying: bool = False
    """True if bytes reach the target."""
    sending: bool = True
    """False while the session is SUSPENDED."""
    redoing: bool = True
    """True if the target redoes its log."""
    rtt_ms: float = 0.2
    jitter_ms: float = 0.0
    loss: float = 0.0  # share of lost packets
    bandwidth_mbps: float = 1000.0
    compression_ratio: float = 1.0  # wire bytes per log byte; 1 = not compressed
    encryption: bool = True
    enterprise: bool = True  # Standard has one redo thread
    redo_threads: int | None = None  # None: number used by mirroring
    log_pool: bool = False
    """True if log is sent from memory and the target writes pages only at checkpoints, as in availability groups."""
    target_log_disk_factor: float = 1.0
    target_data_disk_factor: float = 1.0
    target_cpu_factor: float = 1.0


def get_redo_threads(stream: StreamSetup) -> int:
    """Return the number of threads that redo the log of the stream."""
    if stream.redo_threads is not None:
        return stream.redo_threads
    return compute_redo_threads(stream.site.cores, stream.enterprise)


def compute_redo_threads(cores: int, enterprise: bool = True) -> int:
    """Return the redo threads of one mirrored database: FLOOR((cores + 3) / 4), or one in Standard edition.

    Documented for 2008. For 2005 the redo rate of the white paper's test (8 cores, Enterprise) would also fit
    two threads.
    """
    return (cores + 3) // 4 if enterprise else 1


def compute_worker_threads(cores: int) -> int:
    """Return the maximum worker threads of a 64-bit instance. Documented: 512 + 16 per core beyond four."""
    return 512 + 16 * max(0, cores - 4)


def compute_wire_ratio(compression_ratio: float, version: int) -> float:
    """Return the wire bytes per log byte. A message is sent uncompressed if compression saves less than 12.5%."""
    if version < COMPRESSION_VERSION_MIN or 1.0 - compression_ratio < COMPRESSION_SAVING_MIN:
        return 1.0
    return compression_ratio


def attempts_compression(compression_ratio: float, version: int) -> bool:
    """Return whether the principal spends CPU time on compression, whether or not it saves anything."""
    return version >= COMPRESSION_VERSION_MIN and compression_ratio < 1.0


# --- long operations as the log that they write -----------------------------------------------------------
# Index builds and rebuilds, bulk loads. Calibrated on figures 3 and 4 and on the suspended bulk loads of the
# 2005 white paper [WP]; other sizes scale from there.

GB_KB: Final = 1024.0 * 1024.0

CLUSTERED_LOG_KB: Final = 17.5 * GB_KB
"""Log of the ONLINE rebuild of a large clustered index. Fitted: the send queue drains in 220 s [WP fig. 3]."""

CLUSTERED_KB_PER_S: Final = 30_000.0
"""Log rate that sorting and copying rows allow; the log device is slower. Assumed."""

NONCLUSTERED_LOG_SHARE: Final = 0.25
"""Log of a nonclustered index relative to the clustered one: keys instead of rows. Assumed."""

NONCLUSTERED_KB_PER_S: Final = 9_000.0
"""Log rate if reading the whole table is the limit. Assumed: below what the session can send [WP fig. 1-2]."""

OFFLINE_LOG_SHARE: Final = 0.85
"""Log of an OFFLINE rebuild or a new index, relative to ONLINE, which also stores row versions. Assumed."""

ROW_LOG_KB: Final = 0.2
"""Log of one row of a bulk load. Assumed."""

ROW_S: Final = 35.6e-6
"""Time of one row of a bulk load. Fitted: 5.6 MB/s of log fill 40 GB in slightly more than two hours [WP]."""


INDEX_BUILDS: Final = {
    (True, True): build_message("online build of a clustered index"),
    (True, False): build_message("offline build of a clustered index"),
    (False, True): build_message("online build of a nonclustered index"),
    (False, False): build_message("offline build of a nonclustered index"),
}
"""(clustered, online) -> name of the index build."""


def build_index_operation(size: float = 1.0, clustered: bool = True, online: bool = False) -> Operation:
    """Return the creation or rebuild of an index on a table *size* times as large as the one in [WP]."""
    log_kb = CLUSTERED_LOG_KB * size * (1.0 if online else OFFLINE_LOG_SHARE)
    name = INDEX_BUILDS[clustered, online]
    if clustered:
        return Operation(name, log_kb, CLUSTERED_KB_PER_S)
    return Operation(name, log_kb * NONCLUSTERED_LOG_SHARE, NONCLUSTERED_KB_PER_S)


def build_bulk_load(rows: float = 93e6, batch_rows: float = 1e6) -> Operation:
    """Return a load of *rows* rows in one stream, with a commit after each *batch_rows*.

    Raise ValueError for empty batches.
    """
    if batch_rows <= 0.0:
        raise ValueError("a batch must contain at least one row")
    log_kb = rows * ROW_LOG_KB
    name = build_message("bulk load, batch {n:g}", n=batch_rows)
    return Operation(name, log_kb, ROW_LOG_KB / ROW_S, batch_rows * ROW_LOG_KB)
