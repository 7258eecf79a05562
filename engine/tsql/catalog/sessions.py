"""Sessions of an instance and views about them: system threads, SQL Server Agent, windows, applications."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final, Protocol

from msgspec import Struct

from engine.constants import TICKS_PER_S
from engine.protocol import clients, connections, security
from engine.tsql.batches.context import StatementContext
from engine.tsql.batches.data import CONSOLE_PROGRAM, ClientProgram, get_batch_text
from engine.tsql.catalog import locks
from engine.tsql.catalog.security import get_current_user_id
from engine.tsql.catalog.view import UNSIMULATED_COLUMNS_KEY, Record, register_view
from engine.tsql.scalars import settings

SYSTEM_THREADS: Final = (
    (1, "background", "RESOURCE MONITOR", None),
    (2, "background", "LAZY WRITER", None),
    (3, "background", "LOG WRITER", "LOGMGR_QUEUE"),
    (4, "background", "LOCK MONITOR", "REQUEST_FOR_DEADLOCK_SEARCH"),
    (5, "background", "SIGNAL HANDLER", "KSOURCE_WAKEUP"),
    (6, "background", "TASK MANAGER", "ONDEMAND_TASK_QUEUE"),
    (7, "background", "TRACE QUEUE TASK", "SQLTRACE_BUFFER_FLUSH"),
    (9, "background", "CHECKPOINT", "CHECKPOINT_QUEUE"),
)
"""System threads of every instance: (session ID, status, command, wait type)."""

JOB_STEP_PROGRAM: Final = "SQLAgent - TSQL JobStep"
"""Program name of the session of a job step."""
JOB_WINDOW_MARKER: Final = "#agent:"
"""Marker in the window names of job steps (engine/tsql/clients/client.py)."""


class RunningBatch(Protocol):
    """Interface of a running batch: the part of the class Submission that catalog views use."""

    @property
    def command(self) -> str:
        """Return the command of the running statement; empty before the first statement."""


class SessionRow(Struct, frozen=True, kw_only=True):
    """User session, as catalog views show it."""

    spid: int
    login: str
    first_login: str = ""
    """Login before the first EXECUTE AS; empty without EXECUTE AS."""
    host: str
    program: str
    address: str
    database: str
    user_id: int = 1
    """ID of the session's user in *database*. Applications and SQL Server Agent are dbo."""
    login_tick: int
    running: bool = False
    batch: RunningBatch | None = None
    """Running batch of a window; None if no batch runs."""
    transactions: int = 0
    error: int = 0
    """@@ERROR of the last statement."""
    last_text: str = ""
    """Text of the running or last batch; empty if there is none or the text is not simulated."""
    last_begun_tick: int | None = None
    """Start tick of the last request; None means now, as for applications."""
    last_ended_tick: int | None = None
    rowcount: int = 0
    interface: str = CONSOLE_PROGRAM.interface
    encrypted: bool = False
    packet_bytes: int = CONSOLE_PROGRAM.packet_bytes
    options: settings.SetOptions = ()

    @property
    def is_application(self) -> bool:
        """Return whether the session belongs to an application, whose statements have no text."""
        return self.last_begun_tick is None


def build_option_columns(options: settings.SetOptions) -> Record:
    """Return the columns with the SET options of a connection."""
    option_values, culture = dict(options), settings.build_settings(options).culture
    switches = {
        name.lower(): int(option_values.get(name, value) == "ON")
        for name, value in (
            ("QUOTED_IDENTIFIER", "ON"), ("ARITHABORT", "ON"), ("ANSI_NULL_DFLT_ON", "ON"), ("ANSI_DEFAULTS", "OFF"),
            ("ANSI_WARNINGS", "ON"), ("ANSI_PADDING", "ON"), ("ANSI_NULLS", "ON"), ("CONCAT_NULL_YIELDS_NULL", "ON"),
        )
    }  # fmt: skip
    return {
        **switches,
        "context_info": settings.get_context_info(options) or b"",
        "language": culture.language.name,
        "date_format": culture.dateformat,
        "date_first": culture.datefirst,
        "text_size": settings.get_text_size(options),
        "lock_timeout": int(option_values.get("LOCK_TIMEOUT", "-1")),
        "deadlock_priority": settings.parse_deadlock_priority(
            option_values.get("DEADLOCK_PRIORITY", "NORMAL")
        ),
        "transaction_isolation_level": ISOLATION_LEVELS[option_values.get("TRANSACTION", "COMMITTED")],
    }


ISOLATION_LEVELS: Final = {"UNCOMMITTED": 1, "COMMITTED": 2, "READ": 3, "SERIALIZABLE": 4, "SNAPSHOT": 5}
"""Word of SET TRANSACTION ISOLATION LEVEL -> transaction_isolation_level.

Documented [DOC: sys.dm_exec_sessions].
"""


def list_user_sessions(context: StatementContext) -> Iterator[SessionRow]:
    """Yield the sessions of windows in the order of their IDs, then those of the Agent and of applications."""
    server = context.server
    own_ip = security.get_own_ip(server)
    for name, session in sorted(context.list_sessions(), key=lambda item: item[1].spid):
        job = JOB_WINDOW_MARKER in name
        run = context.world.batches.get(name)
        client_program = session.program or (
            ClientProgram(host=server.name, name=JOB_STEP_PROGRAM) if job else CONSOLE_PROGRAM
        )
        yield SessionRow(
            spid=session.spid,
            login=session.login,
            first_login=session.callers[0][0] if session.callers else "",
            host=client_program.host,
            program=client_program.name,
            interface=client_program.interface or CONSOLE_PROGRAM.interface,
            encrypted=client_program.encrypted,
            packet_bytes=client_program.packet_bytes,
            address=own_ip if job else "10.0.0.9",
            database=session.database,
            user_id=get_current_user_id(replace(context, session=session)),
            login_tick=session.login_tick,
            running=run is not None,
            batch=run,
            last_text=get_batch_text(run) if run is not None else session.last_text,
            last_begun_tick=run.started_tick if run is not None else session.last_begun_tick,
            last_ended_tick=session.last_ended_tick,
            transactions=session.transactions,
            rowcount=session.rowcount,
            error=session.error,
            options=session.options,
        )
    for spid, program in connections.list_agent_sessions(context.world, server.name):
        yield SessionRow(
            spid=spid,
            login=server.service_account,
            host=server.name,
            program=program,
            address=own_ip,
            database="msdb",
            login_tick=server.started_tick,
            last_begun_tick=server.started_tick,
            last_ended_tick=server.started_tick,
            interface="ODBC",
        )
    for connection in connections.list_connections(context.world, server.name):
        yield SessionRow(
            spid=connection.spid,
            login=connection.login,
            host=connection.host,
            program=f"{connection.client.name} application",
            address=clients.get_client_address(context.world, connection.client.name),
            database=connection.database,
            login_tick=connection.since_tick,
            running=connection.working,
            transactions=int(connection.working),
        )


def _map_database_ids(context: StatementContext) -> dict[str, int | None]:
    """Return the ID of each database that a session uses, by name."""
    return {
        name: context.find_database_id(name)
        for name in dict.fromkeys(session_row.database for session_row in list_user_sessions(context))
    }


def compute_text_handle(text: str) -> bytes | None:
    """Return the sql_handle of a batch text; None for an empty text.

    Equal texts have equal handles. The handles have the product's length.
    """
    if not text:
        return None
    return (
        b"\x02"
        + bytes(3)
        + hashlib.blake2b(text.encode("utf-16-le", "surrogatepass"), digest_size=16).digest()
    )


def build_request_times(context: StatementContext, started_tick: int) -> Record:
    """Return the columns with the start time of a request and its elapsed milliseconds."""
    return {
        "start_time": context.get_datetime_value(started_tick),
        "total_elapsed_time": compute_elapsed_ms(context, started_tick),
    }


def compute_elapsed_ms(context: StatementContext, started_tick: int) -> int:
    """Return the milliseconds since *started_tick*."""
    return (context.world.tick - started_tick) * 1000 // TICKS_PER_S


def list_application_requests(context: StatementContext) -> Iterable[Record]:
    """Yield the requests of applications with an open transaction."""
    waits = locks.find_current_waits(context)
    for connection in connections.list_connections(context.world, context.server.name):
        if connection.working:
            wait = waits.get(connection.spid)
            yield {
                "session_id": connection.spid,
                "request_id": 0,
                "sql_handle": None,
                UNSIMULATED_COLUMNS_KEY: "sql_handle",
                **build_request_times(context, context.world.tick),
                "status": "running" if wait is None else "suspended",
                "command": "EXECUTE" if connection.client.query is None else "SELECT",
                "database_id": context.find_database_id(connection.database),
                "user_id": 1,
                "wait_type": wait.type if wait is not None else None,
                "wait_time": wait.duration_ms if wait is not None else 0,
                "last_wait_type": wait.type if wait is not None else "WRITELOG",
                "wait_resource": "",
                "blocking_session_id": 0,
                "open_transaction_count": 1,
            }
    for redo in locks.list_redo_waits(context):
        yield {
            "session_id": redo.spid,
            "request_id": 0,
            "sql_handle": None,
            **build_request_times(context, redo.since_tick),
            "status": "suspended",
            "command": "DB STARTUP",
            "database_id": redo.database_id,
            "user_id": 1,
            "wait_type": locks.SCHEMA_LOCK_WAIT,
            "wait_time": redo.duration_ms,
            "last_wait_type": locks.SCHEMA_LOCK_WAIT,
            "wait_resource": "",
            "blocking_session_id": redo.blocker,
            "open_transaction_count": 0,
        }


SESSION_PAGES: Final = 4
"""Memory of a session in pages of 8 KB. Assumed."""


def _list_sessions(context: StatementContext) -> Iterable[Record]:
    for spid, status, _, _ in SYSTEM_THREADS:
        yield {
            "session_id": spid,
            "login_time": context.get_datetime_value(context.server.started_tick),
            "login_name": "sa",
            "status": status,
            "is_user_process": 0,
            "group_id": 1,
            "memory_usage": 0,
            "context_info": b"",
            "total_elapsed_time": compute_elapsed_ms(context, context.server.started_tick),
            "last_request_start_time": context.get_datetime_value(context.server.started_tick),
            "last_request_end_time": None,
        }
    databases = _map_database_ids(context)
    for session_row in list_user_sessions(context):
        domain, _, user = session_row.login.rpartition("\\")
        yield {
            "session_id": session_row.spid,
            "login_time": context.get_datetime_value(session_row.login_tick),
            "total_elapsed_time": compute_elapsed_ms(context, session_row.login_tick),
            "host_name": session_row.host,
            "program_name": session_row.program,
            "host_process_id": 4000 + session_row.spid,
            "client_interface_name": session_row.interface,
            "login_name": session_row.login,
            "original_login_name": session_row.first_login or session_row.login,
            "nt_domain": domain,
            "nt_user_name": user if domain else "",
            "status": "running" if session_row.running else "sleeping",
            "is_user_process": 1,
            "database_id": databases[session_row.database],
            "open_transaction_count": session_row.transactions,
            "memory_usage": SESSION_PAGES,
            "row_count": session_row.rowcount,
            "prev_error": session_row.error,
            "last_request_start_time": context.get_datetime_value(session_row.last_begun_tick),
            "last_request_end_time": context.get_datetime_value(session_row.last_ended_tick),
            **build_option_columns(session_row.options),
        }


register_view("sys.dm_exec_sessions", _list_sessions)


def _list_connections(context: StatementContext) -> Iterable[Record]:
    own_ip = security.get_own_ip(context.server)
    for session_row in list_user_sessions(context):
        yield {
            "session_id": session_row.spid,
            "most_recent_session_id": session_row.spid,
            "most_recent_sql_handle": compute_text_handle(session_row.last_text),
            "connect_time": context.get_datetime_value(session_row.login_tick),
            "net_transport": "Shared memory" if session_row.address == own_ip else "TCP",
            "protocol_type": "TSQL",
            "endpoint_id": 2 if session_row.address == own_ip else 4,
            "encrypt_option": str(session_row.encrypted).upper(),
            "net_packet_size": session_row.packet_bytes,
            "auth_scheme": "NTLM" if "\\" in session_row.login else "SQL",
            "client_net_address": "<local machine>" if session_row.address == own_ip else session_row.address,
            "local_net_address": None if session_row.address == own_ip else own_ip,
            "local_tcp_port": None if session_row.address == own_ip else 1433,
        }


register_view("sys.dm_exec_connections", _list_connections)


def _list_sysprocesses(context: StatementContext) -> Iterable[Record]:
    for spid, _, command, wait in SYSTEM_THREADS:
        yield {
            "spid": spid,
            "blocked": 0,
            "lastwaittype": (wait or "").ljust(32),
            "dbid": 0,
            "uid": 1,
            "status": "background".ljust(30),
            "cmd": command.ljust(16),
            "loginame": "sa".ljust(128),
            "login_time": context.get_datetime_value(context.server.started_tick),
            "hostname": "",
            "program_name": "",
            "memusage": 0,
            "context_info": bytes(settings.CONTEXT_BYTES),
        }
    databases, waits = _map_database_ids(context), locks.find_current_waits(context)
    own_ip = security.get_own_ip(context.server)
    for session_row in list_user_sessions(context):
        domain, _, user = session_row.login.rpartition("\\")
        current_wait = waits.get(session_row.spid)
        command = "AWAITING COMMAND"
        if session_row.running:
            command = "EXECUTE" if session_row.batch is None else session_row.batch.command or "SELECT"
        yield {
            "spid": session_row.spid,
            "blocked": current_wait.blocker if current_wait is not None else 0,
            "waittime": current_wait.duration_ms if current_wait is not None else 0,
            "waitresource": (current_wait.resource if current_wait is not None else "").ljust(256),
            "lastwaittype": (current_wait.type if current_wait is not None else "MISCELLANEOUS").ljust(32),
            "dbid": databases[session_row.database],
            "uid": session_row.user_id,
            "status": (
                "suspended" if current_wait is not None else "runnable" if session_row.running else "sleeping"
            ).ljust(30),
            "cmd": command[:16].ljust(16),
            "loginame": session_row.login.ljust(128),
            "login_time": context.get_datetime_value(session_row.login_tick),
            "last_batch": context.get_datetime_value(session_row.last_begun_tick),
            "hostname": session_row.host.ljust(128),
            "program_name": session_row.program.ljust(128),
            "nt_domain": domain.ljust(128),
            "nt_username": (user if domain else "").ljust(128),
            "net_library": ("LPC" if session_row.address == own_ip else "TCP/IP").ljust(12),
            "hostprocess": str(4000 + session_row.spid).ljust(10),
            "open_tran": session_row.transactions,
            "memusage": SESSION_PAGES,
            "sql_handle": compute_text_handle(session_row.last_text),
            **({UNSIMULATED_COLUMNS_KEY: "sql_handle"} if session_row.is_application else {}),
            "context_info": settings.get_context_info(session_row.options) or bytes(settings.CONTEXT_BYTES),
        }


register_view("sys.sysprocesses", _list_sysprocesses)
