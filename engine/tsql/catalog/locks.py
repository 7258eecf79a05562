"""Views about transactions of T-SQL windows, their locks, and waits for locks."""

import hashlib
from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct

from engine import arithmetic
from engine.protocol import connections
from engine.protocol.lineage import format_lsn
from engine.tsql.batches import locks, objects
from engine.tsql.batches.context import SYSTEM_DATABASES, StatementContext
from engine.tsql.batches.data import ObjectKey, RowChanges, SqlSession, Submission, Table
from engine.tsql.batches.locks import SqlLock
from engine.tsql.batches.row_locks import INDEX_END
from engine.tsql.catalog.shapes import find_literal_columns
from engine.tsql.catalog.view import Record, register_view
from engine.tsql.language.columns import Key

FIRST_PAGE_NUMBER: Final = 73
"""Number of the first page of a table, for the descriptions of row locks."""
ROWS_PER_PAGE: Final = 100
"""Number of rows per page, for the descriptions of row locks. Assumed."""

HEAP_ID_OFFSET: Final = 72_057_594_038_000_000
"""Number that is added to an object ID to get the ID of its heap or index. The sum looks like a real ID."""


# --- resources ---------------------------------------------------------------------------------------------


class LockResource(Struct, frozen=True):
    """Locked resource, as sys.dm_tran_locks shows it."""

    type: str
    """Type of the resource: DATABASE, OBJECT, PAGE, RID, KEY or APPLICATION."""
    database_id: int
    description: str
    entity: int
    owner: str = "TRANSACTION"
    count: int = 1
    page: str = ""
    """Page of a locked row, as `file:page`; empty for other resources."""

    @property
    def wait_resource(self) -> str:
        """Return the value of `wait_resource` in sys.dm_exec_requests."""
        if self.type == "OBJECT":
            return f"OBJECT: {self.database_id}:{self.entity}:0 "
        middle = f"{self.entity} " if self.type == "KEY" else ""
        return f"{self.type}: {self.database_id}:{middle}{self.description}"

    def format_description(self, mode: str) -> str:
        """Return the description in sys.dm_os_waiting_tasks.

        *mode*: lock mode of the session that holds the resource.
        """
        tail = f"dbid={self.database_id} id=lock{self.entity & 0xFFFFFF:x} mode={mode} "
        tail += f"associatedObjectId={self.entity}"
        if self.type == "OBJECT":
            return f"objectlock lockPartition=0 objid={self.entity} subresource=FULL {tail}"
        if self.type == "DATABASE":
            return f"databaselock subresource=FULL dbid={self.database_id} mode={mode}"
        if self.type == "APPLICATION":
            return f"applicationlock hash={self.description} databasePrincipalId=0 dbId={self.database_id} mode={mode}"
        if self.type == "KEY":
            return f"keylock hobtid={self.entity} {tail}"
        return f"ridlock fileid=1 pageid={self.description.split(':')[1]} {tail}"


def _build_object_resource(context: StatementContext, object_key: ObjectKey) -> LockResource:
    number = context.find_database_id(object_key[1]) or 0
    if locks.is_application_resource(object_key):
        return _build_application_resource(context, object_key)
    if not object_key[2]:  # no object name: a lock on the whole database, for which ALTER DATABASE waits
        return LockResource("DATABASE", number, "", 0)
    return LockResource("OBJECT", number, "", objects.compute_object_id(object_key[2]))


def _build_application_resource(
    context: StatementContext, key: ObjectKey, owner: str = "TRANSACTION", count: int = 1
) -> LockResource:
    """Return the resource of an sp_getapplock lock. *key*: identifies the resource.

    The description has the principal ID, the name and a hash [DOC: sys.dm_tran_locks].
    """
    digest = hashlib.blake2b(repr(key).encode(), digest_size=4).hexdigest()
    description = f"0:[{locks.describe_resource(key)}]:({digest})"
    return LockResource("APPLICATION", context.find_database_id(key[1]) or 0, description, 0, owner, count)


def _build_row_resource(context: StatementContext, object_key: ObjectKey, number: int) -> LockResource:
    """Return the resource of the row *number* of a table.

    The resource is a KEY if the table has a unique key, otherwise the position of the row in the heap
    (RID). *number* can be INDEX_END, the end of the index, which has its own KEY.
    """
    stored_object = objects.read_object(context, object_key)
    table = (
        stored_object.item if stored_object is not None and isinstance(stored_object.item, Table) else None
    )
    database_id, entity = (
        context.find_database_id(object_key[1]) or 0,
        HEAP_ID_OFFSET + objects.compute_object_id(object_key[2]),
    )
    page, slot = divmod(max(number - 1, 0), ROWS_PER_PAGE)
    address = f"1:{FIRST_PAGE_NUMBER + page}"
    if number == INDEX_END:
        return LockResource("KEY", database_id, "(ffffffffffff)", entity, page=address)
    if table is not None and any(isinstance(item, Key) and item.unique for item in table.constraints):
        digest = hashlib.blake2b(repr((number, object_key)).encode(), digest_size=6).hexdigest()
        return LockResource("KEY", database_id, f"({digest})", entity, page=address)
    return LockResource("RID", database_id, f"{address}:{slot}", entity, page=address)


def _build_resource(context: StatementContext, lock: SqlLock) -> LockResource:
    return (
        _build_object_resource(context, lock.place)
        if lock.row is None
        else _build_row_resource(context, lock.place, lock.row)
    )


# --- waits -------------------------------------------------------------------------------------------------


class CurrentWait(Struct, frozen=True):
    """Current wait of a connection."""

    type: str
    duration_ms: int
    resource: str = ""
    description: str = ""
    blocker: int = 0
    lock: tuple[LockResource, str] | None = None
    """(requested resource, requested mode) of a wait for a lock; None for another wait."""


def find_current_waits(context: StatementContext) -> dict[int, CurrentWait]:
    """Return session ID -> current wait on this server.

    Sessions wait for a lock, for the log of a commit, for a backup or restore, or in WAITFOR.
    """
    waits_by_spid: dict[int, CurrentWait] = {}
    sessions = {session.spid: session for _, session in context.list_sessions()}
    for name, session in context.list_sessions():
        run: Submission | None = context.world.batches.get(name)
        if run is None or session.spid == context.session.spid:
            continue
        since_tick = run.started_tick if run.since_tick is None else run.since_tick
        passed_ms = 10 * (context.world.tick - since_tick)
        if run.waiting == "delay":
            waits_by_spid[session.spid] = CurrentWait("WAITFOR", passed_ms)
        elif run.waiting in ("commit", "log"):
            databases = [key[1] for key, _ in session.committing] or [session.database]
            kinds = [_get_commit_wait_type(context, database) for database in databases]
            waits_by_spid[session.spid] = CurrentWait(
                max(kinds, key=lambda kind: kind != "WRITELOG"), passed_ms
            )
        elif run.waiting == "lock":
            waits_by_spid[session.spid] = _build_lock_wait(context, run, sessions, passed_ms)
        elif run.waiting == "pending" and run.command in _DEVICE_WAITS:
            begun_ms = 10 * (context.world.tick - run.begun_tick)
            waits_by_spid[session.spid] = CurrentWait(_DEVICE_WAITS[run.command], begun_ms)
    for connection in connections.list_connections(context.world, context.session.server):
        if connection.commit_wait_ms is not None:
            waits_by_spid[connection.spid] = CurrentWait(
                _get_commit_wait_type(context, connection.database), int(connection.commit_wait_ms)
            )
    return waits_by_spid


def _get_commit_wait_type(context: StatementContext, database: str) -> str:
    """Return the wait type of a commit in *database*.

    It depends on whether the commit waits for another copy or only for its own log.
    [DOC: sys.dm_os_wait_stats]
    """
    copy = context.world.copies.get((context.session.server, database))
    if copy is None or copy.source is None or not context.world.flow.count_waiting_commits(copy.source):
        return "WRITELOG"
    return "HADR_SYNC_COMMIT" if copy.availability.guid is not None else "DBMIRROR_DBM_EVENT"


_DEVICE_WAITS: Final = {
    "BACKUP DATABASE": "ASYNC_IO_COMPLETION",
    "BACKUP LOG": "BACKUPIO",
    "RESTORE DATABASE": "BACKUPTHREAD",
    "RESTORE LOG": "BACKUPTHREAD",
}
"""Command -> wait type on which its backup or restore thread waits longest.

[DOC: sys.dm_os_wait_stats]. The choice is derived.
"""


def compute_progress(context: StatementContext, run: Submission | None) -> tuple[float, int]:
    """Return (percent complete, remaining ms) of a backup, restore or page check; zeros for other statements."""
    if run is None or run.waiting != "pending" or run.command not in (*_DEVICE_WAITS, "DBCC TABLE CHECK"):
        return 0.0, 0
    total_ticks, done_ticks = run.due_tick - run.begun_tick, context.world.tick - run.begun_tick
    return 100.0 * done_ticks / total_ticks if total_ticks > 0 else 0.0, 10 * (
        run.due_tick - context.world.tick
    )


def _build_lock_wait(
    context: StatementContext, run: Submission, sessions: dict[int, SqlSession], passed_ms: int
) -> CurrentWait:
    """Return the wait of a batch for a lock."""
    spids, object_key, mode, row = run.blocked
    holder = sessions.get(spids[0])
    held_mode = _find_lock_mode(context, holder, object_key, row)
    resource = (
        _build_object_resource(context, object_key)
        if row is None
        else _build_row_resource(context, object_key, row)
    )
    return CurrentWait(
        _KEY_RANGE_WAIT_TYPES.get(mode, f"LCK_M_{mode.upper().replace('-', '_')}"),
        passed_ms,
        resource.wait_resource,
        resource.format_description(held_mode),
        spids[0],
        (resource, mode),
    )


_KEY_RANGE_WAIT_TYPES: Final = {
    "RangeS-S": "LCK_M_RS_S", "RangeS-U": "LCK_M_RS_U", "RangeX-X": "LCK_M_RX_X", "RangeI-N": "LCK_M_RIn_NL"
}  # fmt: skip
"""Key-range lock mode -> wait type [DOC: sys.dm_os_wait_stats]."""


def _find_lock_mode(
    context: StatementContext, session: SqlSession | None, object_key: ObjectKey, row: int | None
) -> str:
    """Return the mode in which a session has locked the object or row; X if the mode is unknown."""
    if session is None:
        return "X"
    current_session = _get_current_session(context, session)
    held_locks = [(lock.place, lock.row, lock.mode) for lock in locks.list_session_locks(current_session)]
    held_locks += [(lock.place, None, lock.mode) for lock in current_session.applocks]
    return next((mode for place, number, mode in held_locks if (place, number) == (object_key, row)), "X")


SCHEMA_LOCK_WAIT: Final = "LCK_M_SCH_M"
"""Wait type of a redo thread that waits for a schema modification lock."""
FIRST_REDO_SPID: Final = 20
"""First session ID of redo threads, which are system sessions. Assumed."""


class RedoWait(Struct, frozen=True):
    """Wait of a redo thread on a readable secondary, which a query blocks [DOC: active secondaries]."""

    spid: int
    database_id: int
    since_tick: int
    duration_ms: int
    blocker: int


def list_redo_waits(context: StatementContext) -> Iterator[RedoWait]:
    """Yield the waits of redo threads for the schema lock of a query."""
    world = context.world
    spids = {
        connection.client.name: connection.spid
        for connection in connections.list_connections(world, context.server.name)
    }
    for copy in context.list_copies():
        own_availability = copy.availability
        if own_availability.redo_waits:
            redo_waits_since = own_availability.redo_waits_since
            blocker = spids.get(own_availability.redo_waits, 0)
            yield RedoWait(
                FIRST_REDO_SPID + copy.database_id,
                copy.database_id,
                redo_waits_since,
                10 * (world.tick - redo_waits_since),
                blocker,
            )


def _list_waiting_tasks(context: StatementContext) -> Iterable[Record]:
    for spid, wait in sorted(find_current_waits(context).items()):
        yield {
            "waiting_task_address": spid.to_bytes(8, "big"),
            "session_id": spid,
            "exec_context_id": 0,
            "wait_duration_ms": wait.duration_ms,
            "wait_type": wait.type,
            "blocking_session_id": wait.blocker or None,
            "blocking_task_address": wait.blocker.to_bytes(8, "big") if wait.blocker else None,
            "resource_description": wait.description or None,
        }

    for redo in list_redo_waits(context):
        yield {
            "waiting_task_address": redo.spid.to_bytes(8, "big"),
            "session_id": redo.spid,
            "exec_context_id": 0,
            "wait_duration_ms": redo.duration_ms,
            "wait_type": SCHEMA_LOCK_WAIT,
            "blocking_session_id": redo.blocker,
            "blocking_task_address": redo.blocker.to_bytes(8, "big"),
            "resource_description": None,
        }


register_view("sys.dm_os_waiting_tasks", _list_waiting_tasks)


# --- locks -------------------------------------------------------------------------------------------------


def list_locks(context: StatementContext) -> Iterator[tuple[int, LockResource, str, str]]:
    """Yield (session ID, resource, mode, GRANT or WAIT) for each lock on this server."""
    requested_waits = find_current_waits(context)
    yield from _list_database_locks(context)
    for _, session in context.list_sessions():
        listed_locks: set[tuple[LockResource, str]] = set()
        for lock in locks.list_session_locks(_get_current_session(context, session)):
            resource = _build_resource(context, lock)
            for lock_entry in ((resource, lock.mode), *_list_intent_locks(resource, lock.mode)[1:]):
                if lock_entry not in listed_locks:
                    listed_locks.add(lock_entry)
                    yield session.spid, *lock_entry, "GRANT"
        for application_lock in _get_current_session(context, session).applocks:
            resource = _build_application_resource(
                context, application_lock.place, application_lock.owner.upper(), application_lock.count
            )
            yield session.spid, resource, application_lock.mode, "GRANT"
        wait = requested_waits.get(session.spid)
        if wait is not None and wait.lock is not None:
            for lock_entry in _list_intent_locks(*wait.lock):
                if lock_entry not in listed_locks:
                    yield session.spid, *lock_entry, "GRANT"
            yield session.spid, *wait.lock, "WAIT"


def _list_database_locks(context: StatementContext) -> Iterator[tuple[int, LockResource, str, str]]:
    """Yield the shared database lock of each session, including SQL Server Agent and applications."""
    world, server = context.world, context.server.name
    database_by_spid = {
        session.spid: _get_current_session(context, session).database
        for _, session in context.list_sessions()
    }
    database_by_spid |= {spid: "msdb" for spid, _ in connections.list_agent_sessions(world, server)}
    database_by_spid |= {
        connection.spid: connection.database for connection in connections.list_connections(world, server)
    }
    for spid, database in database_by_spid.items():
        number = context.find_database_id(database)
        if number is not None and number != MASTER_DATABASE_ID:
            yield spid, LockResource("DATABASE", number, "", 0), "S", "GRANT"


MASTER_DATABASE_ID: Final = 1
"""database_id of master, on which sessions hold no database lock."""


_INTENT_MODES: Final = {"S": ("IS", "IS"), "U": ("IX", "IU")}
"""Last letter of a row lock's mode -> (intent mode on the table, intent mode on the page).

Other row locks need IX on both.
"""


def _list_intent_locks(row: LockResource, mode: str) -> list[tuple[LockResource, str]]:
    """Return the intent locks on the table and page of a locked row.

    [DOC: lock compatibility]
    """
    if not row.page:
        return []
    table_mode, page_mode = _INTENT_MODES.get(mode[-1], ("IX", "IX"))
    return [
        (LockResource("OBJECT", row.database_id, "", row.entity - HEAP_ID_OFFSET), table_mode),
        (LockResource("PAGE", row.database_id, row.page, row.entity), page_mode),
    ]


def _get_current_session(context: StatementContext, session: SqlSession) -> SqlSession:
    """Return the session in its current state. The current state of the querying session is in *context*."""
    return context.session if session.spid == context.session.spid else session


def _list_locks(context: StatementContext) -> Iterable[Record]:
    sessions = {session.spid: session for _, session in context.list_sessions()}
    for spid, resource, mode, status in list_locks(context):
        shared = resource.type == "DATABASE"
        owned = not shared and resource.owner == "TRANSACTION"
        yield {
            "resource_type": resource.type,
            **find_literal_columns("locks._list_locks"),
            "resource_database_id": resource.database_id,
            "resource_description": resource.description,
            "resource_associated_entity_id": resource.entity,
            "request_mode": mode,
            "request_status": status,
            "request_reference_count": resource.count,
            "request_lifetime": 33554432 if owned else 0,
            "request_session_id": spid,
            "request_owner_type": "SHARED_TRANSACTION_WORKSPACE" if shared else resource.owner,
            "request_owner_id": sessions[spid].transaction_id if owned else 0,
            "request_owner_lockspace_id": f"0x{spid:016X}:0:0",
            "lock_owner_address": (0x80000000 + 64 * spid).to_bytes(8, "big"),
        }


register_view("sys.dm_tran_locks", _list_locks)


# --- transactions ------------------------------------------------------------------------------------------


def _list_open_transactions(context: StatementContext) -> Iterator[SqlSession]:
    """Yield the sessions with an explicit transaction, or with a commit that waits for its log."""
    for _, session in context.list_sessions():
        sql_session = _get_current_session(context, session)
        if sql_session.transactions or sql_session.committing:
            yield sql_session


VIEWS_WITHOUT_CLIENTS: Final = frozenset(
    f"sys.dm_tran_{kind}_transactions" for kind in ("active", "session", "database")
)
"""Views that omit the transactions of client programs, because these commit within milliseconds."""


def has_client_transactions(context: StatementContext) -> bool:
    """Return whether a client program has an open transaction on this server."""
    return any(
        connection.working for connection in connections.list_connections(context.world, context.server.name)
    )


def _list_active_transactions(context: StatementContext) -> Iterable[Record]:
    for session in _list_open_transactions(context):
        yield {
            "transaction_id": session.transaction_id,
            "name": session.transaction_name or "user_transaction",
            "transaction_begin_time": context.get_datetime_value(session.transaction_tick),
            **find_literal_columns("locks._list_active_transactions"),
        }


register_view("sys.dm_tran_active_transactions", _list_active_transactions)


def _list_session_transactions(context: StatementContext) -> Iterable[Record]:
    for session in _list_open_transactions(context):
        yield {
            "session_id": session.spid,
            "transaction_id": session.transaction_id,
            "transaction_descriptor": session.spid.to_bytes(8, "little"),
            **find_literal_columns("locks._of_sessions"),
            "open_transaction_count": session.transactions,
        }


register_view("sys.dm_tran_session_transactions", _list_session_transactions)


def _list_database_transactions(context: StatementContext) -> Iterable[Record]:
    """Yield the databases that each transaction has changed, except for system databases.

    The log of a system database is not simulated.
    """
    for session in _list_open_transactions(context):
        written_databases = {place[1] for place, _ in session.writes}.intersection(SYSTEM_DATABASES)
        for database in sorted(written_databases):
            yield {
                "transaction_id": session.transaction_id,
                "database_id": context.find_database_id(database),
                "database_transaction_begin_time": context.get_datetime_value(session.transaction_tick),
                **find_literal_columns("locks._of_databases"),
            }
        for (server, database), begin_kb, kb in session.logs:
            records = arithmetic.add_in_order(
                len(edit.rows) if isinstance(edit, RowChanges) else 1
                for place, edit in session.writes
                if place[:2] == (server, database.lower())
            )
            used = int(kb * 1024)
            yield {
                "transaction_id": session.transaction_id,
                "database_id": context.find_database_id(database),
                "database_transaction_begin_time": context.get_datetime_value(session.transaction_tick),
                **find_literal_columns("locks._of_databases"),
                "database_transaction_log_record_count": records + 1,
                "database_transaction_log_bytes_used": used,
                "database_transaction_log_bytes_reserved": used,
                "database_transaction_begin_lsn": format_lsn(begin_kb),
                "database_transaction_last_lsn": format_lsn(begin_kb + kb),
            }


register_view("sys.dm_tran_database_transactions", _list_database_transactions)
