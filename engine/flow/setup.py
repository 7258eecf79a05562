"""Setups of sources and streams of log as frozen data: hardware, workload, link and options."""

from enum import IntFlag
from typing import Final

from msgspec import Struct

from engine.flow.kernel import SIGNS
from engine.flow.samples import COUNTERS
from engine.localization import build_message

COMPRESSION_SAVING_MIN: Final = 0.125
"""Minimum share that compression must save. Otherwise a message is sent uncompressed. Documented (SQL Server
2008).
"""

COMPRESSION_VERSION_MIN: Final = 2008
"""First version that compresses the log stream. Documented."""


class FlowStopCondition(IntFlag):
    """Condition at which `run_flow` can stop, for a source or for a stream.

    The kernel calls these conditions crossings.
    """

    REDO_DONE = 1  # stream: the target has applied all received log
    SEND_DONE = 2  # stream: all log except a last block is sent
    LOG_FULL = 4  # source: the log is full, and the database stops accepting writes
    OPERATION_DONE = 8  # source: the long operation has written its last log


class Workload(Struct, frozen=True):
    """Workload of a fixed number of clients, each with at most one open request (a closed population).

    sites.toml states the source of each figure, and whether it is fitted.
    """

    name: str
    connections: float  # N, the number of connections
    think_s: float  # Z, the time between a response and the next request
    cpu_ms: float  # c, the core time of a transaction on the site's processor
    other_delay_ms: float  # D0, the time for reads, locks and the client inside a transaction
    log_kb_per_transaction: float  # l, the log per transaction
    page_touches: float  # p, the number of page changes per transaction
    hot_pages: float  # D, the number of pages over which these changes are distributed
    compression_ratio: float = 1.0  # sent bytes per log byte if the stream is compressed
    transactions_per_business_transaction: float = 1.0  # database transactions per transaction of the client


class Operation(Struct, frozen=True):
    """Log generation of a long operation: index build, rebuild or bulk load."""

    name: str
    log_kb: float  # total log of the operation
    rate_kb_per_s: float  # log rate without any delay; the scan, the sort or the row source limits it
    batch_kb: float = (
        0.0  # log per batch, each with its own commit; 0 = one transaction that commits at the end
    )


class ServerHardware(Struct, frozen=True):
    """Hardware of a server, and the time that its SQL Server build needs for each task.

    sites.toml states the source and the class of each figure. Values that the sources leave undecided are
    fields with an assumed value: `ack_latency_ms`, `log_limit_kb_2005`, `log_limit_kb`, `window_in_full`.
    """

    name: str
    cores: int
    log_write_ms: float  # h, the time of one write of a log block
    log_block_kb: float  # K, the largest log block
    mirror_copy_ms: float  # t_post, the extra time per log block that is also copied for mirroring
    ack_latency_ms: float  # L, time from hardening on the mirror to the acknowledgment, without network
    log_limit_kb_2005: float  # U, the maximum log that is generated but not hardened, in SQL Server 2005
    log_limit_kb: float  # U, the maximum log that is generated but not hardened, since SQL Server 2008
    send_window_kb: float  # W, the maximum of unacknowledged bytes of one session
    window_handling_ms: float  # p_W, the processing time of one full send window
    wire_efficiency: float  # eta, the payload share of an Ethernet frame
    message_cpu_ms: float  # a, the core time of a message on the principal
    mirror_message_cpu_ms: float  # the core time of a message on the mirror
    full_message_cpu_ms: float  # k, the core time of an acknowledgment with safety FULL on the principal
    wire_cpu_us_per_kb: float  # b, the core time for each KB that is sent, on each side, including encryption
    encryption_cpu_us_per_kb: float  # part of `wire_cpu_us_per_kb` that encryption causes
    compress_cpu_us_per_kb: float
    decompress_cpu_us_per_kb: float
    redo_cpu_us_per_touch: float  # d, the core time of redoing a page change
    mirror_flush_s: float  # tau, the mean time that a page stays dirty on the mirror
    checkpoint_interval_s: float  # T_cp, the interval between checkpoints
    checkpoint_pages_per_s: float  # v_cp, the rate at which a checkpoint writes pages
    mirror_flush_pages_per_s: float  # v_m, the maximum rate of page writes on the mirror
    window_in_full: bool = (
        True  # the send window also applies with safety FULL (undecided: [WP] fig. 9 fits True and False)
    )
    log_streams: float = (
        6.0  # number of log files that the device writes in parallel before they slow each other down
    )
    wake_up_us: float = 0.0  # t_w, the wake-up time of the thread that handles the messages of all databases
    # Cost of reading log from disk for sending, as a share of its write time. The log cache has a fixed size.
    log_reread_share: float = 0.0
    background_cores: float = 0.0  # cores on each server that are busy independently of clients
    worker_threads: float = 0.0  # 0 = default of SQL Server for this number of cores


class Threshold(Struct, frozen=True):
    """Comparison of a counter with a value. A run stops at the whole second at which the result changes."""

    number: int
    """Number of the source or stream whose counter is compared."""
    counter: str
    whole: float
    """Value that counts as 100% if the counter is compared as a percentage; 0 if it is not."""
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
    scale: float = 1.0  # factor for the workload's connections; 0 = idle
    host: int = 0  # index of the server instance
    alive: bool = True  # the SQL Server process runs; otherwise log, pages and clients do not change
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
    """Index of the receiving instance. -1 means that there is none; all unsent log is then in the send queue."""
    target_alive: bool = True
    awaited: bool = False
    """True if commits wait until the target has hardened their log.

    The log is then sent while it is being written locally.
    """
    connected: bool = False
    """True if the source considers the target connected."""
    carrying: bool = False
    """True if sent bytes reach the target."""
    sending: bool = True
    """False if the session is SUSPENDED."""
    redoing: bool = True
    """True if the target redoes its log."""
    rtt_ms: float = 0.2
    jitter_ms: float = 0.0
    loss: float = 0.0  # share of lost packets
    bandwidth_mbps: float = 1000.0
    compression_ratio: float = 1.0  # sent bytes per log byte; 1 = not compressed
    encryption: bool = True
    enterprise: bool = True  # Standard edition has only one redo thread
    redo_threads: int | None = None  # None = the number that mirroring uses
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
    """Return the number of redo threads of one mirrored database.

    It is FLOOR((cores + 3) / 4), or one in Standard edition.

    Documented for 2008. For 2005, two threads would also fit the redo rate of the white paper's test (8
    cores, Enterprise).
    """
    return (cores + 3) // 4 if enterprise else 1


def compute_worker_threads(cores: int) -> int:
    """Return the maximum number of worker threads of a 64-bit instance.

    Documented: 512 + 16 per core beyond four.
    """
    return 512 + 16 * max(0, cores - 4)


def compute_wire_ratio(compression_ratio: float, version: int) -> float:
    """Return the sent bytes per log byte.

    A message is sent uncompressed if compression saves less than 12.5%.
    """
    if version < COMPRESSION_VERSION_MIN or 1.0 - compression_ratio < COMPRESSION_SAVING_MIN:
        return 1.0
    return compression_ratio


def should_try_compression(compression_ratio: float, version: int) -> bool:
    """Return whether the principal spends CPU time on compression, even if it saves too little to be used."""
    return version >= COMPRESSION_VERSION_MIN and compression_ratio < 1.0


# --- long operations: index builds and rebuilds, bulk loads
# --------------------------------------------------
# They are calibrated on figures 3 and 4 and on the suspended bulk loads of the 2005 white paper [WP]. Other
# sizes are scaled from these figures.

GB_KB: Final = 1024.0 * 1024.0

CLUSTERED_REBUILD_LOG_KB: Final = 17.5 * GB_KB
"""Amount of log of an ONLINE rebuild of a large clustered index.

Fitted: the send queue drains in 220 s [WP fig. 3].
"""

CLUSTERED_REBUILD_KB_PER_S: Final = 30_000.0
"""Maximum log rate of an ONLINE rebuild of a clustered index. Assumed.

Sorting and copying rows limit this rate. The log device is slower.
"""

NONCLUSTERED_REBUILD_LOG_SHARE: Final = 0.25
"""Log of a nonclustered index build, relative to that of a clustered index. Assumed.

A nonclustered index contains keys instead of rows.
"""

NONCLUSTERED_REBUILD_KB_PER_S: Final = 9_000.0
"""Maximum log rate of a nonclustered rebuild, limited by the time to read the whole table.

Assumed: below the rate at which the session can send [WP fig. 1-2].
"""

OFFLINE_REBUILD_LOG_SHARE: Final = 0.85
"""Log of an OFFLINE rebuild or a new index, relative to ONLINE, which also stores row versions. Assumed."""

BULK_LOAD_ROW_LOG_KB: Final = 0.2
"""Amount of log per row of a bulk load. Assumed."""

BULK_LOAD_ROW_S: Final = 35.6e-6
"""Time per row of a bulk load. Fitted: 5.6 MB/s of log fill 40 GB in slightly more than two hours [WP]."""


INDEX_BUILD_NAMES: Final = {
    (True, True): build_message("online build of a clustered index"),
    (True, False): build_message("offline build of a clustered index"),
    (False, True): build_message("online build of a nonclustered index"),
    (False, False): build_message("offline build of a nonclustered index"),
}
"""(clustered, online) -> name of the index build."""


def build_index_operation(size: float = 1.0, clustered: bool = True, online: bool = False) -> Operation:
    """Return the creation or rebuild of an index. The table is *size* times as large as the table in [WP]."""
    log_kb = CLUSTERED_REBUILD_LOG_KB * size * (1.0 if online else OFFLINE_REBUILD_LOG_SHARE)
    name = INDEX_BUILD_NAMES[clustered, online]
    if clustered:
        return Operation(name, log_kb, CLUSTERED_REBUILD_KB_PER_S)
    return Operation(name, log_kb * NONCLUSTERED_REBUILD_LOG_SHARE, NONCLUSTERED_REBUILD_KB_PER_S)


def build_bulk_load(rows: float = 93e6, batch_rows: float = 1e6) -> Operation:
    """Return a bulk load of *rows* rows by one thread, with a commit after each *batch_rows* rows.

    Raise ValueError for empty batches.
    """
    if batch_rows <= 0.0:
        raise ValueError("a batch must contain at least one row")
    log_kb = rows * BULK_LOAD_ROW_LOG_KB
    name = build_message("bulk load in batches of {n:g} rows", n=batch_rows)
    return Operation(name, log_kb, BULK_LOAD_ROW_LOG_KB / BULK_LOAD_ROW_S, batch_rows * BULK_LOAD_ROW_LOG_KB)
