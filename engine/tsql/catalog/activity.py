"""Who works on this instance: sessions, requests, waits, processors and memory."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from engine.flow import redo_threads
from engine.model import Role
from engine.tsql.catalog.view import Record, none, view
from engine.tsql.context import Context

FIRST_MIRRORING_SPID: Final = 15
"""Session ids of the mirroring threads begin here, as in the sample of [MANY]."""


def _mirroring_requests(context: Context) -> Iterable[Record]:
    """Threads of mirroring: 2 a database on a principal, 3 and the redo threads on a mirror, 1 in all [MANY]."""
    mirrored = [copy for copy in context.copies() if copy.guid is not None]
    if not mirrored:
        return
    spid = FIRST_MIRRORING_SPID
    yield _background(context, spid, "DBMIRROR_EVENTS_QUEUE", 0)
    for copy in mirrored:
        spid += 1
        yield _background(context, spid, "DBMIRROR_EVENTS_QUEUE", copy.database_id)
        if copy.role is Role.MIRROR:
            for _ in range(1 + _redo_threads(context)):
                yield _background(context, spid, "DBMIRROR_DBM_MUTEX", copy.database_id)
        spid += 1
        yield _background(context, spid, "DBMIRROR_SEND", copy.database_id)


def _redo_threads(context: Context) -> int:
    """2005 has one, whatever the machine; later versions follow the published formula."""
    enterprise = context.server.edition in ("Enterprise", "Developer")
    return redo_threads(context.server.cores, enterprise) if context.version >= 2008 else 1


def _background(context: Context, spid: int, wait: str, database_id: int) -> Record:
    return {
        "session_id": spid,
        "request_id": 0,
        "start_time": context.now(context.server.started_tick),
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


def sql_handle(spid: int) -> bytes:
    """The handle of the batch that runs on a connection; as long as the product's."""
    return b"\x02" + bytes(3) + spid.to_bytes(16, "big")


_SYSTEM: Final = (
    (1, "background", "RESOURCE MONITOR", None),
    (2, "background", "LAZY WRITER", None),
    (3, "background", "LOG WRITER", "LOGMGR_QUEUE"),
    (4, "background", "LOCK MONITOR", "REQUEST_FOR_DEADLOCK_SEARCH"),
    (5, "background", "SIGNAL HANDLER", "KSOURCE_WAKEUP"),
    (6, "background", "TASK MANAGER", "ONDEMAND_TASK_QUEUE"),
    (7, "background", "TRACE QUEUE TASK", "SQLTRACE_BUFFER_FLUSH"),
    (9, "background", "CHECKPOINT", "CHECKPOINT_QUEUE"),
)


def _requests(context: Context) -> Iterable[Record]:
    for spid, status, command, wait in _SYSTEM:
        yield {
            **_background(context, spid, wait or "", 0),
            "status": status,
            "command": command,
            "wait_type": wait,
        }
    yield from _mirroring_requests(context)
    for name, session in context.sessions():
        running = context.world.batches.get(name)
        mine = session.spid == context.session.spid
        if running is None and not mine:
            continue
        waiting = running is not None and running.waiting == "delay"
        yield {
            "session_id": session.spid,
            "request_id": 0,
            "sql_handle": sql_handle(session.spid),
            "start_time": context.now(running.started_tick if running is not None else None),
            "status": "suspended" if waiting else "running",
            "command": "WAITFOR" if waiting else "SELECT",
            "database_id": context.database_id(session.database),
            "user_id": 1,
            "wait_type": "WAITFOR" if waiting else None,
            "wait_time": 0,
            "last_wait_type": "MISCELLANEOUS",
            "wait_resource": "",
            "blocking_session_id": 0,
            "percent_complete": 0,
            "open_transaction_count": session.transactions,
        }


view("sys.dm_exec_requests", _requests)


def _sessions(context: Context) -> Iterable[Record]:
    for spid, status, _, _ in _SYSTEM:
        yield {
            "session_id": spid,
            "login_time": context.now(context.server.started_tick),
            "login_name": "sa",
            "status": status,
            "is_user_process": 0,
        }
    for name, session in context.sessions():
        yield {
            "session_id": session.spid,
            "login_time": context.now(session.login_tick),
            "host_name": "CONSOLE",
            "program_name": "Mirrordrill",
            "host_process_id": 4000 + session.spid,
            "login_name": session.login,
            "original_login_name": session.login,
            "nt_user_name": session.login.split("\\")[-1],
            "status": "running" if name in context.world.batches else "sleeping",
            "is_user_process": 1,
            "database_id": context.database_id(session.database),
            "open_transaction_count": session.transactions,
            "language": "us_english",
            "row_count": session.rowcount,
        }


view("sys.dm_exec_sessions", _sessions)


def _connections(context: Context) -> Iterable[Record]:
    for _, session in context.sessions():
        yield {
            "session_id": session.spid,
            "most_recent_session_id": session.spid,
            "most_recent_sql_handle": sql_handle(session.spid),
            "connect_time": context.now(session.login_tick),
            "net_transport": "TCP",
            "protocol_type": "TSQL",
            "encrypt_option": "FALSE",
            "auth_scheme": "NTLM",
            "client_net_address": "10.0.0.9",
            "local_net_address": f"10.0.0.{10 + context.server.host}",
            "local_tcp_port": 1433,
        }


view("sys.dm_exec_connections", _connections)


def _sysprocesses(context: Context) -> Iterable[Record]:
    for spid, _, command, wait in _SYSTEM:
        yield {
            "spid": spid,
            "blocked": 0,
            "lastwaittype": (wait or "").ljust(32),
            "dbid": 0,
            "status": "background".ljust(30),
            "cmd": command.ljust(16),
            "loginame": "sa".ljust(128),
            "login_time": context.now(context.server.started_tick),
            "hostname": "",
            "program_name": "",
        }
    for name, session in context.sessions():
        running = name in context.world.batches
        yield {
            "spid": session.spid,
            "blocked": 0,
            "lastwaittype": "MISCELLANEOUS".ljust(32),
            "dbid": context.database_id(session.database),
            "status": ("runnable" if running else "sleeping").ljust(30),
            "cmd": ("SELECT" if running else "AWAITING COMMAND").ljust(16),
            "loginame": session.login.ljust(128),
            "login_time": context.now(session.login_tick),
            "hostname": "CONSOLE".ljust(128),
            "program_name": "Mirrordrill".ljust(128),
            "open_tran": session.transactions,
            "sql_handle": sql_handle(session.spid),
        }


view("sys.sysprocesses", _sysprocesses)

# --- waits -----------------------------------------------------------------------------------------------

_WAITS: Final = (
    "ASYNC_NETWORK_IO",
    "CHECKPOINT_QUEUE",
    "CXPACKET",
    "DBMIRROR_DBM_EVENT",
    "DBMIRROR_DBM_MUTEX",
    "DBMIRROR_EVENTS_QUEUE",
    "DBMIRROR_SEND",
    "DBMIRROR_WORKER_QUEUE",
    "DBMIRRORING_CMD",
    "LAZYWRITER_SLEEP",
    "LOGMGR_QUEUE",
    "PAGEIOLATCH_EX",
    "PAGEIOLATCH_SH",
    "SLEEP_TASK",
    "SOS_SCHEDULER_YIELD",
    "THREADPOOL",
    "WAITFOR",
    "WRITELOG",
)


THREADPOOL_WAIT_MS: Final = 100.0
"""Mean wait of a request for a worker thread, from which the number of waits is counted back. Assumed."""


def _waits(context: Context) -> Iterable[Record]:
    """Benign waits pass with time; DBMIRRORING_CMD and WRITELOG grow with the commits of the principals here."""
    up_ms = 10.0 * (context.world.tick - context.server.started_tick)
    grown: dict[str, tuple[float, float]] = {}
    threads = sum(1 for _ in _mirroring_requests(context))
    if threads:
        grown["DBMIRROR_EVENTS_QUEUE"] = (up_ms / 1000.0 * threads, up_ms * threads)
        grown["DBMIRROR_WORKER_QUEUE"] = (up_ms / 60_000.0 * threads, up_ms)
        grown["DBMIRROR_DBM_MUTEX"] = (up_ms / 1000.0, up_ms)
    commits, delay_ms = 0.0, 0.0
    for copy in context.copies():
        if copy.role is Role.PRINCIPAL and copy.row is not None:
            at, now = context.world.flow.positions(copy.row), context.world.flow.reading(copy.row)
            commits += at.transactions
            delay_ms += at.transactions * now.commit_delay_ms
    starved_ms = 1000.0 * sum(
        context.world.flow.waited_for_workers_s(copy.row)
        for copy in context.copies()
        if copy.role is not Role.MIRROR and copy.row is not None
    )
    grown["THREADPOOL"] = (starved_ms / THREADPOOL_WAIT_MS, starved_ms)
    grown["WRITELOG"] = (commits, commits * 2.0)
    grown["DBMIRROR_DBM_EVENT"] = (commits, delay_ms)
    for name in ("CHECKPOINT_QUEUE", "LAZYWRITER_SLEEP", "LOGMGR_QUEUE", "SLEEP_TASK"):
        grown[name] = (up_ms / 1000.0, up_ms)
    for name in _WAITS:
        count, total_ms = grown.get(name, (0.0, 0.0))
        yield {
            "wait_type": name,
            "waiting_tasks_count": int(count),
            "wait_time_ms": int(total_ms),
            "max_wait_time_ms": int(total_ms / count) if count >= 1 else 0,
            "signal_wait_time_ms": int(count / 100),
        }


view("sys.dm_os_wait_stats", _waits)


def worker_threads(context: Context) -> int:
    """max worker threads in effect; automatic on 64 bits: 512, and 16 for each core above 4."""
    return context.server.max_worker_threads or 512 + max(0, context.server.cores - 4) * 16


def _system_info(context: Context) -> Iterable[Record]:
    yield {
        "cpu_count": context.server.cores,
        "hyperthread_ratio": context.server.cores,
        "physical_memory_in_bytes": 64 * 2**30,
        "physical_memory_kb": 64 * 2**20,
        "max_workers_count": worker_threads(context),
        "scheduler_count": context.server.cores,
        "sqlserver_start_time": context.now(context.server.started_tick),
        "virtual_memory_in_bytes": 2**43,
        "virtual_memory_kb": 2**33,
        "ms_ticks": 10 * context.world.tick + 10**9,
    }


view("sys.dm_os_sys_info", _system_info)


def _schedulers(context: Context) -> Iterable[Record]:
    busy = sum(1 for _ in _mirroring_requests(context)) + sum(1 for _ in context.sessions())
    own = [copy.row for copy in context.copies() if copy.role is Role.PRINCIPAL and copy.row is not None]
    queued = sum(context.world.flow.waiting_for_workers(row) for row in own)
    for number in range(context.server.cores):
        yield {
            "scheduler_id": number,
            "cpu_id": number,
            "status": "VISIBLE ONLINE",
            "is_online": 1,
            "current_tasks_count": 8 + busy // context.server.cores,
            "runnable_tasks_count": 0,
            "current_workers_count": 10 + busy // context.server.cores,
            "active_workers_count": 8 + busy // context.server.cores,
            "work_queue_count": round(queued / context.server.cores),
            "pending_disk_io_count": 0,
        }


view("sys.dm_os_schedulers", _schedulers)
view("sys.dm_tran_active_transactions", none)
view("sys.dm_tran_locks", none)
