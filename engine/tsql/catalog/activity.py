"""Activity of an instance: requests, waits, processors and memory."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from engine import arithmetic
from engine.availability import replicas
from engine.constants import ENTERPRISE
from engine.flow import redo_threads
from engine.protocol import groups
from engine.tsql.batches.context import Context
from engine.tsql.batches.data import batch_text
from engine.tsql.catalog import locks
from engine.tsql.catalog.load import CopyLoad, measure_all_loads, up_s
from engine.tsql.catalog.sessions import SYSTEM, application_requests, options_shown, text_handle
from engine.tsql.catalog.view import Record, view

FIRST_MIRRORING_SPID: Final = 15
"""First session id of the mirroring threads, as in the sample of [MANY]."""


def _mirroring_requests(context: Context) -> Iterable[Record]:
    """Yield the threads of mirroring: 2 a database on a principal, 3 and redo threads on a mirror, 1 in all [MANY]."""
    mirrored = [copy for copy in context.copies() if copy.group_kind == "mirroring"]
    if not mirrored:
        return
    spid = FIRST_MIRRORING_SPID
    yield _background(context, spid, "DBMIRROR_EVENTS_QUEUE", 0)
    for copy in mirrored:
        spid += 1
        yield _background(context, spid, "DBMIRROR_EVENTS_QUEUE", copy.database_id)
        if groups.policy(copy).is_follower(copy):
            for _ in range(1 + _redo_threads(context)):
                yield _background(context, spid, "DBMIRROR_DBM_MUTEX", copy.database_id)
        spid += 1
        yield _background(context, spid, "DBMIRROR_SEND", copy.database_id)


def _redo_threads(context: Context) -> int:
    """Return the redo threads: one in 2005 on any machine; later versions follow the published formula."""
    enterprise = context.server.edition in ENTERPRISE
    return redo_threads(context.computer.cores, enterprise) if context.version >= 2008 else 1


def _background(context: Context, spid: int, wait: str, database_id: int) -> Record:
    return {
        "session_id": spid,
        "request_id": 0,
        "start_time": context.datetime_value(context.server.started_tick),
        "status": "background",
        "command": "DB MIRROR",
        "database_id": database_id,
        "user_id": 1,
        "wait_type": wait,
        "wait_time": 1000,
        "last_wait_type": wait,
        "wait_resource": "",
        "blocking_session_id": 0,
    }


def _requests(context: Context) -> Iterable[Record]:
    for spid, status, command, wait in SYSTEM:
        yield {
            **_background(context, spid, wait or "", 0),
            "status": status,
            "command": command,
            "wait_type": wait,
        }
    yield from _mirroring_requests(context)
    yield from application_requests(context)
    waits = locks.waits(context)
    for name, session in context.sessions():
        running = context.world.batches.get(name)
        mine = session.spid == context.session.spid
        if running is None and not mine:
            continue
        now = waits.get(session.spid)
        percent, left_ms = locks.progress(context, running)
        yield {
            "session_id": session.spid,
            "request_id": 0,
            "sql_handle": text_handle(batch_text(running)) if running is not None else None,
            "start_time": context.datetime_value(running.started_tick if running is not None else None),
            "status": "suspended" if now is not None else "running",
            "command": (running.command if running is not None else "") or "SELECT",
            "database_id": context.database_id(session.database),
            "user_id": 1,
            "wait_type": now.type if now is not None else None,
            "wait_time": now.ms if now is not None else 0,
            "last_wait_type": now.type if now is not None else "MISCELLANEOUS",
            "wait_resource": now.resource if now is not None else "",
            "blocking_session_id": now.blocker if now is not None else 0,
            "percent_complete": percent,
            "estimated_completion_time": left_ms,
            "open_transaction_count": session.transactions,
            **options_shown(session.options),
        }


view("sys.dm_exec_requests", _requests)


# --- waits -----------------------------------------------------------------------------------------------

_BENIGN: Final = (
    "CHECKPOINT_QUEUE", "DIRTY_PAGE_POLL", "FT_IFTS_SCHEDULER_IDLE_WAIT", "LAZYWRITER_SLEEP",
    "LOGMGR_QUEUE", "REQUEST_FOR_DEADLOCK_SEARCH", "SLEEP_TASK", "SQLTRACE_BUFFER_FLUSH", "XE_TIMER_EVENT",
)  # fmt: skip
"""Wait types of idle threads, which wait all the time."""
_OTHERS: Final = """
ASYNC_IO_COMPLETION ASYNC_NETWORK_IO BACKUPBUFFER BACKUPIO BACKUPTHREAD BROKER_RECEIVE_WAITFOR BROKER_TASK_STOP
BROKER_TO_FLUSH CHKPT CLR_AUTO_EVENT CMEMTHREAD CXPACKET DBMIRROR_DBM_EVENT DBMIRROR_DBM_MUTEX DBMIRROR_EVENTS_QUEUE
DBMIRROR_SEND DBMIRROR_WORKER_QUEUE DBMIRRORING_CMD DISPATCHER_QUEUE_SEMAPHORE IO_COMPLETION LATCH_EX LATCH_SH
LCK_M_IS LCK_M_IX LCK_M_S LCK_M_SCH_M LCK_M_SCH_S LCK_M_U LCK_M_X LOGBUFFER MSQL_XP OLEDB PAGEIOLATCH_EX
PAGEIOLATCH_SH PAGEIOLATCH_UP PAGELATCH_EX PAGELATCH_SH PAGELATCH_UP PREEMPTIVE_OS_WRITEFILE RESOURCE_SEMAPHORE
RESOURCE_SEMAPHORE_QUERY_COMPILE SOS_SCHEDULER_YIELD THREADPOOL TRACEWRITE WAITFOR WRITELOG
"""
_IDLE_GROUPS: Final = ("HADR_CLUSAPI_CALL", "HADR_LOGCAPTURE_WAIT", "HADR_NOTIFICATION_DEQUEUE",
                       "HADR_TIMER_TASK", "HADR_WORK_QUEUE")  # fmt: skip
"""Wait types of idle threads of availability groups, where the feature is enabled."""
_INSIDE: Final = """
HADR_COMPRESSED_CACHE_SYNC HADR_DATABASE_FLOW_CONTROL HADR_GROUP_COMMIT HADR_LOGCAPTURE_SYNC
HADR_SYNCHRONIZING_THROTTLE HADR_TRANSPORT_FLOW_CONTROL PARALLEL_REDO_DRAIN_WORKER PARALLEL_REDO_FLOW_CONTROL
PARALLEL_REDO_LOG_CACHE PARALLEL_REDO_TRAN_LIST PARALLEL_REDO_TRAN_TURN PARALLEL_REDO_WORKER_SYNC
PARALLEL_REDO_WORKER_WAIT_WORK REDO_THREAD_PENDING_WORK REDO_THREAD_SYNC
"""
_UNKNOWN: Final = frozenset(_INSIDE.split())
"""Wait types inside groups that the flow does not model: their figures are NULL. Documented names."""
_SINCE_2012: Final = frozenset({"HADR_SYNC_COMMIT", *_IDLE_GROUPS, *_UNKNOWN})
_WAITS: Final = tuple(sorted({*_BENIGN, *_OTHERS.split(), *_SINCE_2012}))
"""Wait types that scripts read. Documented [DOC: sys.dm_os_wait_stats]."""


THREADPOOL_WAIT_MS: Final = 100.0
"""Mean wait for a worker thread, from which the number of waits is computed. Assumed."""


def _waits(context: Context) -> Iterable[Record]:
    """Yield waits: benign ones grow with time, WRITELOG and DBMIRROR_DBM_EVENT with commits."""
    up_ms = 1000.0 * up_s(context)
    grown: dict[str, tuple[float, float]] = {}
    threads = sum(1 for _ in _mirroring_requests(context))
    if threads:
        grown["DBMIRROR_EVENTS_QUEUE"] = (up_ms / 1000.0 * threads, up_ms * threads)
        grown["DBMIRROR_WORKER_QUEUE"] = (up_ms / 60_000.0 * threads, up_ms)
        grown["DBMIRROR_DBM_MUTEX"] = (up_ms / 1000.0, up_ms)
    here = measure_all_loads(context)
    work = [done for _, done in here]
    commits = arithmetic.total(done.commits for done in work)
    starved_ms = arithmetic.total(done.starved_ms for done in work)
    grown["THREADPOOL"] = (starved_ms / THREADPOOL_WAIT_MS, starved_ms)
    grown["WRITELOG"] = (commits, arithmetic.total(done.log_write_ms * _share(done) for done in work))
    for name, grouped in (("DBMIRROR_DBM_EVENT", False), ("HADR_SYNC_COMMIT", True)):
        waited = [
            done for copy, done in here if (copy.availability.guid is not None) is grouped and done.delay_ms
        ]
        count = arithmetic.total(done.commits for done in waited)
        grown[name] = (count, arithmetic.total(done.delay_ms for done in waited))
    if replicas.enabled(context.world, context.session.server):
        grown.update(dict.fromkeys(_IDLE_GROUPS, (up_ms / 1000.0, up_ms)))
    for name in _BENIGN:
        grown[name] = (up_ms / 1000.0, up_ms)
    for name in _WAITS:
        if name in _SINCE_2012 and context.version < 2012:
            continue
        if name in _UNKNOWN and name not in grown:
            yield {"wait_type": name}
            continue
        count, total_ms = grown.get(name, (0.0, 0.0))
        total_ms = total_ms if count >= 1.0 else 0.0  # a wait is counted, with its time, when it ends
        yield {
            "wait_type": name,
            "waiting_tasks_count": int(count),
            "wait_time_ms": int(total_ms),
            "max_wait_time_ms": int(total_ms / count) if count >= 1 else 0,
            "signal_wait_time_ms": int(count / 100),
        }


def _share(work: CopyLoad) -> float:
    """Return the share of the log writes that a commit waits for."""
    return work.commits / work.log_writes if work.log_writes else 0.0


view("sys.dm_os_wait_stats", _waits)


def worker_threads(context: Context) -> int:
    """Return the max worker threads in effect; automatic on 64 bits: 512, and 16 for each core above 4."""
    return context.server.max_worker_threads or 512 + max(0, context.computer.cores - 4) * 16


def _schedulers(context: Context) -> Iterable[Record]:
    busy = sum(1 for _ in _mirroring_requests(context)) + sum(1 for _ in context.sessions())
    own = [copy.source for copy in context.copies() if copy.source is not None]
    queued = arithmetic.total(context.world.flow.waiting_for_workers(source) for source in own)
    for number in range(context.computer.cores):
        tasks = 8 + busy // context.computer.cores
        yield {
            "scheduler_address": (0x40000 * (number + 1)).to_bytes(8, "big"),
            "parent_node_id": 0,
            "scheduler_id": number,
            "cpu_id": number,
            "status": "VISIBLE ONLINE",
            "is_online": 1,
            "is_idle": int(number > 0),
            "preemptive_switches_count": context.world.tick,
            "context_switches_count": 10 * context.world.tick,
            "idle_switches_count": 8 * context.world.tick,
            "current_tasks_count": tasks,
            "runnable_tasks_count": 0,
            "current_workers_count": tasks + 2,
            "active_workers_count": tasks,
            "work_queue_count": round(queued / context.computer.cores),
            "pending_disk_io_count": 0,
            "load_factor": tasks,
            "yield_count": 10 * context.world.tick,
            "last_timer_activity": 10 * context.world.tick + 10**9,
            "failed_to_create_worker": 0,
            "active_worker_address": (0x40000 * (number + 1) + 0x160).to_bytes(8, "big"),
            "memory_object_address": (0x40000 * (number + 1) + 0x40).to_bytes(8, "big"),
            "task_memory_object_address": (0x40000 * (number + 1) + 0x80).to_bytes(8, "big"),
            "quantum_length_us": 4000,
        }


view("sys.dm_os_schedulers", _schedulers)
