"""Load figures of an instance, derived from the flow: writes, waits, batches, memory.

The flow knows the log, commits, and the pages that checkpoints and redo write. Everything here follows from
those and from settings. Two samples of a view therefore give the rates that the counters of the window show.
Figures without a basis in the flow (reads, plans, latches) are not here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from engine import arithmetic
from engine.constants import TICKS_PER_S
from engine.model import DatabaseCopy
from engine.protocol import groups
from engine.tsql.batches.context import Context

MEMORY_KB: Final = 64 * 2**20
"""Memory of every computer, as sys.dm_os_sys_info shows it. Assumed."""
WINDOWS_KB: Final = 4 * 2**20
"""Memory of Windows and other programs. Assumed."""
FIXED_MEMORY_KB: Final = 512 * 2**10
"""Memory of the instance other than database pages. Assumed."""
PAGE_KB: Final = 8
PAGES_A_WRITE: Final = 16
"""Pages per write of a checkpoint, which may write 32 [DOC: writing pages]. Assumed."""
DATA_WRITE_MS: Final = 4.0
"""Time of one write to a data file on a healthy disk. Assumed."""
LOCKS_A_TRANSACTION: Final = 12
"""Locks per transaction: tables, pages and rows that it changes. Assumed."""


@dataclass(frozen=True, slots=True)
class CopyLoad:
    """Load of one copy of a database since the start of the counters."""

    commits: float = 0.0
    log_writes: float = 0.0
    log_kb: float = 0.0
    log_write_ms: float = 0.0
    """Total time of these writes."""
    pages_written: float = 0.0
    data_write_ms: float = 0.0
    core_s: float = 0.0
    delay_ms: float = 0.0
    """Time that commits waited for another copy."""
    starved_ms: float = 0.0
    """Time that requests waited for a worker thread."""


def measure_copy_load(context: Context, copy: DatabaseCopy) -> CopyLoad:
    """Measure the load of a copy on this instance: it writes log, or hardens and redoes received log."""
    flow = context.world.flow
    if copy.stream is not None:
        return _received(context, copy.stream)
    if copy.source is None:
        return CopyLoad()
    at, totals, setup = flow.positions(copy.source), flow.totals(copy.source), flow.source_setup(copy.source)
    writes = at.transactions + at.flushed_kb / setup.site.log_block_kb
    return CopyLoad(
        commits=at.transactions,
        log_writes=writes,
        log_kb=at.flushed_kb,
        log_write_ms=writes * setup.site.log_write_ms * max(1.0, setup.log_disk_factor),
        pages_written=totals.pages_written,
        data_write_ms=totals.pages_written / PAGES_A_WRITE * DATA_WRITE_MS * max(1.0, setup.data_disk_factor),
        core_s=totals.core_s,
        delay_ms=1000.0 * totals.waiting_s if groups.policy(copy).commits_wait(context.world, copy) else 0.0,
        starved_ms=1000.0 * flow.waited_for_workers_s(copy.source),
    )


def _received(context: Context, stream: int) -> CopyLoad:
    flow = context.world.flow
    setup, totals = flow.stream_setup(stream), flow.stream_totals(stream)
    log_kb = flow.stream_positions(stream).hardened_kb
    writes = log_kb / setup.site.log_block_kb
    slow = max(1.0, setup.target_data_disk_factor)
    return CopyLoad(
        log_writes=writes,
        log_kb=log_kb,
        log_write_ms=writes * setup.site.log_write_ms * max(1.0, setup.target_log_disk_factor),
        pages_written=totals.pages_written,
        data_write_ms=totals.pages_written / PAGES_A_WRITE * DATA_WRITE_MS * slow,
        core_s=totals.core_s,
    )


def measure_all_loads(context: Context) -> list[tuple[DatabaseCopy, CopyLoad]]:
    """Return every copy of this instance with its load."""
    return [(copy, measure_copy_load(context, copy)) for copy in context.copies()]


def up_s(context: Context) -> float:
    """Return the seconds since the instance started."""
    return max(0.0, (context.world.tick - context.server.started_tick) / TICKS_PER_S)


def core_s(works: Iterable[CopyLoad]) -> float:
    """Return the processor time of the instance: the flow charges it equally to each copy."""
    return max((work.core_s for work in works), default=0.0)


def target_memory_kb(context: Context, max_server_memory_mb: int) -> int:
    """Return the memory limit of the instance: max server memory, or the memory that Windows leaves."""
    return min(max_server_memory_mb * 1024, MEMORY_KB - WINDOWS_KB)


def cached_pages(context: Context, target_kb: int) -> int:
    """Return the cached pages: the open databases, up to the available memory; nothing evicts them before that."""
    held = arithmetic.total(
        copy.size_kb for copy in context.copies() if context.world.source_of(copy) is not None
    )
    return int(min(held, max(0, target_kb - FIXED_MEMORY_KB)) / PAGE_KB)


def total_memory_kb(context: Context, target_kb: int) -> int:
    """Return the memory that the instance holds now."""
    return min(target_kb, FIXED_MEMORY_KB + PAGE_KB * cached_pages(context, target_kb))
