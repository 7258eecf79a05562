"""Catalog views about the activity of an instance: requests, waits, processors and memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from msgspec import Struct

from engine import arithmetic
from engine.availability import replicas
from engine.constants import ENTERPRISE_EDITIONS, TICKS_PER_S
from engine.flow import compute_redo_threads
from engine.model import DatabaseCopy
from engine.protocol import group_policies
from engine.tsql.batches.context import StatementContext
from engine.tsql.batches.data import get_batch_text
from engine.tsql.catalog import locks
from engine.tsql.catalog.security import get_current_user_id
from engine.tsql.catalog.sessions import (
    SYSTEM_THREADS,
    build_option_columns,
    build_request_times,
    compute_text_handle,
    list_application_requests,
)
from engine.tsql.catalog.shapes import find_literal_columns
from engine.tsql.catalog.view import Record, register_view

FIRST_MIRRORING_SPID: Final = 15
"""First session ID of the mirroring threads, as in the sample of [MANY]."""


def _list_mirroring_requests(context: StatementContext) -> Iterable[Record]:
    """Yield the requests of the mirroring threads.

    There is 1 thread per instance, 2 per principal database, and 3 plus the redo threads per mirror database
    [MANY].
    """
    mirrored = [copy for copy in context.list_copies() if copy.group_kind == "mirroring"]
    if not mirrored:
        return
    spid = FIRST_MIRRORING_SPID
    yield _build_background_row(context, spid, "DBMIRROR_EVENTS_QUEUE", 0)
    for copy in mirrored:
        spid += 1
        yield _build_background_row(context, spid, "DBMIRROR_EVENTS_QUEUE", copy.database_id)
        if group_policies.get_policy(copy).is_follower(copy):
            for _ in range(1 + _count_redo_threads(context)):
                yield _build_background_row(context, spid, "DBMIRROR_DBM_MUTEX", copy.database_id)
        spid += 1
        yield _build_background_row(context, spid, "DBMIRROR_SEND", copy.database_id)


def _count_redo_threads(context: StatementContext) -> int:
    """Return the number of redo threads per mirror database.

    SQL Server 2005 has one on any machine. In later versions, the number depends on the cores and the
    edition.
    """
    enterprise = context.server.edition in ENTERPRISE_EDITIONS
    return compute_redo_threads(context.computer.cores, enterprise) if context.version >= 2008 else 1


def _build_background_row(context: StatementContext, spid: int, wait: str, database_id: int) -> Record:
    return {
        "session_id": spid,
        **find_literal_columns("activity._build_background_row"),
        **build_request_times(context, context.server.started_tick),
        "database_id": database_id,
        "wait_type": wait,
        "last_wait_type": wait,
    }


def _list_requests(context: StatementContext) -> Iterable[Record]:
    for spid, status, command, wait in SYSTEM_THREADS:
        yield {
            **_build_background_row(context, spid, wait or "", 0),
            "status": status,
            "command": command,
            "wait_type": wait,
        }
    yield from _list_mirroring_requests(context)
    yield from list_application_requests(context)
    waits = locks.find_current_waits(context)
    for name, session in context.list_sessions():
        running = context.world.batches.get(name)
        is_own_session = session.spid == context.session.spid
        if running is None and not is_own_session:
            continue
        current_wait = waits.get(session.spid)
        percent, left_ms = locks.compute_progress(context, running)
        yield {
            "session_id": session.spid,
            "request_id": 0,
            "sql_handle": compute_text_handle(get_batch_text(running)) if running is not None else None,
            **build_request_times(
                context, running.started_tick if running is not None else context.world.tick
            ),
            "status": "suspended" if current_wait is not None else "running",
            "command": (running.command if running is not None else "") or "SELECT",
            "database_id": context.find_database_id(session.database),
            "user_id": get_current_user_id(replace(context, session=session)),
            "wait_type": current_wait.type if current_wait is not None else None,
            "wait_time": current_wait.duration_ms if current_wait is not None else 0,
            "last_wait_type": current_wait.type if current_wait is not None else "MISCELLANEOUS",
            "wait_resource": current_wait.resource if current_wait is not None else "",
            "blocking_session_id": current_wait.blocker if current_wait is not None else 0,
            "percent_complete": percent,
            "estimated_completion_time": left_ms,
            "open_transaction_count": session.transactions,
            **build_option_columns(session.options),
        }


register_view("sys.dm_exec_requests", _list_requests)


# --- waits -----------------------------------------------------------------------------------------------

_IDLE_WAITS: Final = (
    "CHECKPOINT_QUEUE", "DIRTY_PAGE_POLL", "FT_IFTS_SCHEDULER_IDLE_WAIT", "LAZYWRITER_SLEEP",
    "LOGMGR_QUEUE", "REQUEST_FOR_DEADLOCK_SEARCH", "SLEEP_TASK", "SQLTRACE_BUFFER_FLUSH", "XE_TIMER_EVENT",
)  # fmt: skip
"""Wait types of threads that wait most of the time because they are idle."""
_SCRIPT_WAITS: Final = """
ASYNC_IO_COMPLETION ASYNC_NETWORK_IO BACKUPBUFFER BACKUPIO BACKUPTHREAD BROKER_RECEIVE_WAITFOR BROKER_TASK_STOP
BROKER_TO_FLUSH CHKPT CLR_AUTO_EVENT CMEMTHREAD CXPACKET DBMIRROR_DBM_EVENT DBMIRROR_DBM_MUTEX DBMIRROR_EVENTS_QUEUE
DBMIRROR_SEND DBMIRROR_WORKER_QUEUE DBMIRRORING_CMD DISPATCHER_QUEUE_SEMAPHORE IO_COMPLETION LATCH_EX LATCH_SH
LCK_M_IS LCK_M_IX LCK_M_S LCK_M_SCH_M LCK_M_SCH_S LCK_M_U LCK_M_X LOGBUFFER MSQL_XP OLEDB PAGEIOLATCH_EX
PAGEIOLATCH_SH PAGEIOLATCH_UP PAGELATCH_EX PAGELATCH_SH PAGELATCH_UP PREEMPTIVE_OS_WRITEFILE RESOURCE_SEMAPHORE
RESOURCE_SEMAPHORE_QUERY_COMPILE SOS_SCHEDULER_YIELD THREADPOOL TRACEWRITE WAITFOR WRITELOG
"""
_IDLE_GROUP_WAITS: Final = ("HADR_CLUSAPI_CALL", "HADR_LOGCAPTURE_WAIT", "HADR_NOTIFICATION_DEQUEUE",
                       "HADR_TIMER_TASK", "HADR_WORK_QUEUE")  # fmt: skip
"""Wait types of idle threads of availability groups. These threads exist if the feature is enabled."""
_GROUP_WAITS: Final = """
HADR_COMPRESSED_CACHE_SYNC HADR_DATABASE_FLOW_CONTROL HADR_GROUP_COMMIT HADR_LOGCAPTURE_SYNC
HADR_SYNCHRONIZING_THROTTLE HADR_TRANSPORT_FLOW_CONTROL PARALLEL_REDO_DRAIN_WORKER PARALLEL_REDO_FLOW_CONTROL
PARALLEL_REDO_LOG_CACHE PARALLEL_REDO_TRAN_LIST PARALLEL_REDO_TRAN_TURN PARALLEL_REDO_WORKER_SYNC
PARALLEL_REDO_WORKER_WAIT_WORK REDO_THREAD_PENDING_WORK REDO_THREAD_SYNC
"""
_UNSIMULATED_WAITS: Final = frozenset(_GROUP_WAITS.split())
"""Wait types of availability groups whose values are not simulated and NULL. Their names are documented."""
_WAITS_2012: Final = frozenset({"HADR_SYNC_COMMIT", *_IDLE_GROUP_WAITS, *_UNSIMULATED_WAITS})
"""Wait types that exist since SQL Server 2012."""
_WAIT_TYPES: Final = tuple(sorted({*_IDLE_WAITS, *_SCRIPT_WAITS.split(), *_WAITS_2012}))
"""Wait types that monitoring scripts read. Documented [DOC: sys.dm_os_wait_stats]."""


THREADPOOL_WAIT_MS: Final = 100.0
"""Mean wait for a worker thread. Total wait time divided by this value gives the number of waits. Assumed."""


def _list_waits(context: StatementContext) -> Iterable[Record]:
    """Yield the rows of sys.dm_os_wait_stats.

    Waits of idle threads increase with time. WRITELOG and DBMIRROR_DBM_EVENT increase with commits.
    """
    up_ms = 1000.0 * compute_uptime_s(context)
    values_by_wait: dict[str, tuple[float, float]] = {}
    threads = sum(1 for _ in _list_mirroring_requests(context))
    if threads:
        values_by_wait["DBMIRROR_EVENTS_QUEUE"] = (up_ms / 1000.0 * threads, up_ms * threads)
        values_by_wait["DBMIRROR_WORKER_QUEUE"] = (up_ms / 60_000.0 * threads, up_ms)
        values_by_wait["DBMIRROR_DBM_MUTEX"] = (up_ms / 1000.0, up_ms)
    all_loads = measure_all_loads(context)
    work = [copy_load for _, copy_load in all_loads]
    commits = arithmetic.add_in_order(copy_load.commits for copy_load in work)
    starved_ms = arithmetic.add_in_order(copy_load.worker_wait_ms for copy_load in work)
    values_by_wait["THREADPOOL"] = (starved_ms / THREADPOOL_WAIT_MS, starved_ms)
    values_by_wait["WRITELOG"] = (
        commits,
        arithmetic.add_in_order(
            copy_load.log_write_ms * _compute_commit_share(copy_load) for copy_load in work
        ),
    )
    for name, grouped in (("DBMIRROR_DBM_EVENT", False), ("HADR_SYNC_COMMIT", True)):
        waited = [
            copy_load
            for copy, copy_load in all_loads
            if (copy.availability.guid is not None) is grouped and copy_load.commit_delay_ms
        ]
        count = arithmetic.add_in_order(copy_load.commits for copy_load in waited)
        values_by_wait[name] = (
            count,
            arithmetic.add_in_order(copy_load.commit_delay_ms for copy_load in waited),
        )
    if replicas.is_always_on_enabled(context.world, context.session.server):
        values_by_wait.update(dict.fromkeys(_IDLE_GROUP_WAITS, (up_ms / 1000.0, up_ms)))
    for name in _IDLE_WAITS:
        values_by_wait[name] = (up_ms / 1000.0, up_ms)
    for name in _WAIT_TYPES:
        if name in _WAITS_2012 and context.version < 2012:
            continue
        if name in _UNSIMULATED_WAITS and name not in values_by_wait:
            yield {"wait_type": name}
            continue
        count, total_ms = values_by_wait.get(name, (0.0, 0.0))
        # a wait and its time count only after the wait has ended
        total_ms = total_ms if count >= 1.0 else 0.0
        yield {
            "wait_type": name,
            "waiting_tasks_count": int(count),
            "wait_time_ms": int(total_ms),
            "max_wait_time_ms": int(total_ms / count) if count >= 1 else 0,
            "signal_wait_time_ms": int(count / 100),
        }


def _compute_commit_share(load: CopyLoad) -> float:
    """Return the share of the log writes for which a commit waits."""
    return load.commits / load.log_writes if load.log_writes else 0.0


register_view("sys.dm_os_wait_stats", _list_waits)


def count_worker_threads(context: StatementContext) -> int:
    """Return the maximum number of worker threads.

    The automatic value on 64 bits is 512, plus 16 for each core above 4.
    """
    return context.server.max_worker_threads or 512 + max(0, context.computer.cores - 4) * 16


def _list_schedulers(context: StatementContext) -> Iterable[Record]:
    busy = sum(1 for _ in _list_mirroring_requests(context)) + sum(1 for _ in context.list_sessions())
    own_sources = [copy.source for copy in context.list_copies() if copy.source is not None]
    queued = arithmetic.add_in_order(context.world.flow.count_worker_waits(source) for source in own_sources)
    for number in range(context.computer.cores):
        tasks = 8 + busy // context.computer.cores
        yield {
            "scheduler_address": (0x40000 * (number + 1)).to_bytes(8, "big"),
            **find_literal_columns("activity._list_schedulers"),
            "scheduler_id": number,
            "cpu_id": number,
            "is_idle": int(number > 0),
            "preemptive_switches_count": context.world.tick,
            "context_switches_count": 10 * context.world.tick,
            "idle_switches_count": 8 * context.world.tick,
            "current_tasks_count": tasks,
            "current_workers_count": tasks + 2,
            "active_workers_count": tasks,
            "work_queue_count": round(queued / context.computer.cores),
            "load_factor": tasks,
            "yield_count": 10 * context.world.tick,
            "last_timer_activity": 10 * context.world.tick + 10**9,
            "active_worker_address": (0x40000 * (number + 1) + 0x160).to_bytes(8, "big"),
            "memory_object_address": (0x40000 * (number + 1) + 0x40).to_bytes(8, "big"),
            "task_memory_object_address": (0x40000 * (number + 1) + 0x80).to_bytes(8, "big"),
        }


register_view("sys.dm_os_schedulers", _list_schedulers)


# --- load figures of an instance, derived from the flow ---------------------------------------------------
# The figures cover writes, waits, batches and memory. The flow models the log, commits, and the pages that
# checkpoints and redo write. All figures are derived from the flow and from settings. Therefore two samples
# of a view give the same rates as the counters of the window. Figures without a basis in the flow (reads,
# plans, latches) are omitted.

COMPUTER_MEMORY_KB: Final = 64 * 2**20
"""Memory of every computer, as sys.dm_os_sys_info shows it. Assumed."""
WINDOWS_MEMORY_KB: Final = 4 * 2**20
"""Memory of Windows and other programs. Assumed."""
NON_PAGE_MEMORY_KB: Final = 512 * 2**10
"""Memory of the instance that does not contain database pages. Assumed."""
PAGE_KB: Final = 8
PAGES_PER_WRITE: Final = 16
"""Number of pages that a checkpoint writes at once. Assumed; the maximum is 32 pages [DOC: writing pages]."""
DATA_WRITE_MS: Final = 4.0
"""Duration of one write to a data file on a healthy disk. Assumed."""
LOCKS_PER_TRANSACTION: Final = 12
"""Number of locks of one transaction on the tables, pages and rows that it changes. Assumed."""


class CopyLoad(Struct, frozen=True):
    """Cumulative load of one database copy, since the flow simulation (engine/flow) began to count."""

    commits: float = 0.0
    log_writes: float = 0.0
    log_kb: float = 0.0
    log_write_ms: float = 0.0
    """Total duration of the log writes."""
    pages_written: float = 0.0
    data_write_ms: float = 0.0
    core_s: float = 0.0
    """Processor time in core seconds."""
    commit_delay_ms: float = 0.0
    """Total time that commits have waited for another copy."""
    worker_wait_ms: float = 0.0
    """Total time that requests have waited for a worker thread."""


def measure_copy_load(context: StatementContext, copy: DatabaseCopy) -> CopyLoad:
    """Measure the load of a database copy on this instance.

    A copy that writes its own log is measured by this log. A mirror or secondary is measured by the log that
    it hardens and redoes.
    """
    flow = context.world.flow
    if copy.stream is not None:
        return _measure_received_load(context, copy.stream)
    if copy.source is None:
        return CopyLoad()
    position, totals, setup = (
        flow.read_source_positions(copy.source),
        flow.read_source_totals(copy.source),
        flow.get_source_setup(copy.source),
    )
    writes = position.transactions + position.flushed_kb / setup.site.log_block_kb
    return CopyLoad(
        commits=position.transactions,
        log_writes=writes,
        log_kb=position.flushed_kb,
        log_write_ms=writes * setup.site.log_write_ms * max(1.0, setup.log_disk_factor),
        pages_written=totals.pages_written,
        data_write_ms=totals.pages_written
        / PAGES_PER_WRITE
        * DATA_WRITE_MS
        * max(1.0, setup.data_disk_factor),
        core_s=totals.core_s,
        commit_delay_ms=1000.0 * totals.waiting_s
        if group_policies.get_policy(copy).has_waiting_commits(context.world, copy)
        else 0.0,
        worker_wait_ms=1000.0 * flow.measure_worker_wait_s(copy.source),
    )


def _measure_received_load(context: StatementContext, stream: int) -> CopyLoad:
    flow = context.world.flow
    setup, totals = flow.get_stream_setup(stream), flow.read_stream_totals(stream)
    log_kb = flow.read_stream_positions(stream).hardened_kb
    writes = log_kb / setup.site.log_block_kb
    slow = max(1.0, setup.target_data_disk_factor)
    return CopyLoad(
        log_writes=writes,
        log_kb=log_kb,
        log_write_ms=writes * setup.site.log_write_ms * max(1.0, setup.target_log_disk_factor),
        pages_written=totals.pages_written,
        data_write_ms=totals.pages_written / PAGES_PER_WRITE * DATA_WRITE_MS * slow,
        core_s=totals.core_s,
    )


def measure_all_loads(context: StatementContext) -> list[tuple[DatabaseCopy, CopyLoad]]:
    """Return (copy, load) for each database copy of this instance."""
    return [(copy, measure_copy_load(context, copy)) for copy in context.list_copies()]


def compute_uptime_s(context: StatementContext) -> float:
    """Return the number of seconds since the start of the instance."""
    return max(0.0, (context.world.tick - context.server.started_tick) / TICKS_PER_S)


def get_instance_core_s(loads: Iterable[CopyLoad]) -> float:
    """Return the processor time of the instance in core seconds.

    Each of *loads* already contains the processor time of the whole instance, so the maximum is
    returned.
    """
    return max((work.core_s for work in loads), default=0.0)


def compute_target_memory_kb(context: StatementContext, max_server_memory_mb: int) -> int:
    """Return the memory limit of the instance in KB: max server memory, or the memory that Windows leaves."""
    return min(max_server_memory_mb * 1024, COMPUTER_MEMORY_KB - WINDOWS_MEMORY_KB)


def count_cached_pages(context: StatementContext, target_kb: int) -> int:
    """Return the number of pages in the buffer pool: all pages of open databases, up to the available memory."""
    held_pages = arithmetic.add_in_order(
        copy.size_kb for copy in context.list_copies() if context.world.find_source_of(copy) is not None
    )
    return int(min(held_pages, max(0, target_kb - NON_PAGE_MEMORY_KB)) / PAGE_KB)


def compute_total_memory_kb(context: StatementContext, target_kb: int) -> int:
    """Return the memory that the instance uses now, in KB."""
    return min(target_kb, NON_PAGE_MEMORY_KB + PAGE_KB * count_cached_pages(context, target_kb))
