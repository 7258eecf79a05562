"""Long operations as the log that they write: index builds and rebuilds, bulk loads.

Calibrated on figures 3 and 4 and the suspended bulk loads of the 2005 whitepaper [WP]; sizes scale from there.
"""

from __future__ import annotations

from typing import Final

from engine.flow.setup import Operation
from engine.localization import say

GB_KB: Final = 1024.0 * 1024.0

CLUSTERED_LOG_KB: Final = 17.5 * GB_KB
"""Log of the ONLINE rebuild of a large clustered index. Fitted: 220 s to drain the send queue [WP fig. 3]."""

CLUSTERED_KB_PER_S: Final = 30_000.0
"""Log rate that sorting and copying rows allow; the log device is slower. Assumed."""

NONCLUSTERED_LOG_SHARE: Final = 0.25
"""Log of a nonclustered index relative to the clustered one: keys instead of rows. Assumed."""

NONCLUSTERED_KB_PER_S: Final = 9_000.0
"""Log rate when reading the whole table sets the pace. Assumed: below what the session can send [WP fig. 1-2]."""

OFFLINE_LOG_SHARE: Final = 0.85
"""Log of an OFFLINE rebuild or a new index relative to ONLINE, which also stores row versions. Assumed."""

ROW_LOG_KB: Final = 0.2
"""Log of one row of a bulk load. Assumed."""

ROW_S: Final = 35.6e-6
"""Time of one row of a bulk load. Fitted: 5.6 MB/s of log fill 40 GB in slightly over two hours [WP]."""


INDEX_BUILDS: Final = {
    (True, True): say("online build of a clustered index"),
    (True, False): say("offline build of a clustered index"),
    (False, True): say("online build of a nonclustered index"),
    (False, False): say("offline build of a nonclustered index"),
}
"""(clustered, online) -> name."""


def index_build(size: float = 1.0, clustered: bool = True, online: bool = False) -> Operation:
    """Return the creation or rebuild of an index on a table *size* times as large as the one in [WP]."""
    log_kb = CLUSTERED_LOG_KB * size * (1.0 if online else OFFLINE_LOG_SHARE)
    name = INDEX_BUILDS[clustered, online]
    if clustered:
        return Operation(name, log_kb, CLUSTERED_KB_PER_S)
    return Operation(name, log_kb * NONCLUSTERED_LOG_SHARE, NONCLUSTERED_KB_PER_S)


def bulk_load(rows: float = 93e6, batch_rows: float = 1e6) -> Operation:
    """Return a load of *rows* rows in one stream, with a commit after each *batch_rows*.

    Raise ValueError for empty batches.
    """
    if batch_rows <= 0.0:
        raise ValueError("a batch holds at least one row")
    log_kb = rows * ROW_LOG_KB
    name = say("bulk load, batch {n:g}", n=batch_rows)
    return Operation(name, log_kb, ROW_LOG_KB / ROW_S, batch_rows * ROW_LOG_KB)
