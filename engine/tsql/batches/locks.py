"""Locks of T-SQL sessions: conflicts, waits, timeouts, deadlock victims, and application locks.

The changes of a transaction (SqlSession.writes) act as its locks. They lock changed rows exclusively, and
created, altered or dropped objects against every other session. Hints and isolation levels add locks on rows
and key ranges (SqlSession.row_locks), and on whole tables (SqlSession.held).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from engine import arithmetic
from engine.constants import TICKS_PER_S
from engine.messages import SqlError
from engine.model import World
from engine.tsql.batches.context import StatementContext
from engine.tsql.batches.data import ObjectKey, RowChanges, SqlSession, Submission
from engine.tsql.batches.row_locks import IndexEntry, ReadRows, RowLocks
from engine.tsql.scalars.settings import parse_deadlock_priority

if TYPE_CHECKING:
    from engine.tsql.batches.machine import ExecutionMachine
from collections.abc import Callable, Collection, Iterable

from engine.tsql.batches.data import ApplicationLock
from engine.tsql.scalars.values import Scalar, to_text

SCHEMA_STABLE, SHARED, UPDATE, EXCLUSIVE, SCHEMA = "Sch-S", "S", "U", "X", "Sch-M"
INTENT_SHARED, INTENT_EXCLUSIVE, RANGE_INSERT = "IS", "IX", "RangeI-N"
"""Lock modes as sys.dm_tran_locks shows them."""

TABLE_CONFLICTS: Final[dict[str, frozenset[str]]] = {
    SCHEMA_STABLE: frozenset({SCHEMA}),
    INTENT_SHARED: frozenset({EXCLUSIVE, SCHEMA}),
    SHARED: frozenset({INTENT_EXCLUSIVE, EXCLUSIVE, SCHEMA}),
    INTENT_EXCLUSIVE: frozenset({SHARED, EXCLUSIVE, SCHEMA}),
    EXCLUSIVE: frozenset({INTENT_SHARED, SHARED, INTENT_EXCLUSIVE, EXCLUSIVE, SCHEMA}),
    SCHEMA: frozenset({SCHEMA_STABLE, INTENT_SHARED, SHARED, INTENT_EXCLUSIVE, EXCLUSIVE, SCHEMA}),
}
"""Requested lock mode on a table -> conflicting modes of other sessions. Documented [DOC: lock compatibility]."""

ROW_CONFLICTS: Final[dict[str, frozenset[str]]] = {
    SHARED: frozenset({EXCLUSIVE}),
    UPDATE: frozenset({UPDATE, EXCLUSIVE}),
    EXCLUSIVE: frozenset({SHARED, UPDATE, EXCLUSIVE}),
}
"""Requested lock mode on a row -> conflicting modes of other sessions. Documented [DOC: lock compatibility]."""

ESCALATION_ROWS: Final = 5_000
"""Number of row locks of one statement in one table at which the server locks the whole table.

Documented [DOC: lock escalation].
"""


class LockConflictError(Exception):
    """Error of a statement that must wait for other sessions before it can lock an object or row.

    The statement has not changed anything yet. *spids*: IDs of the sessions. *row*: number of the
    conflicting row; None for the whole object.
    """

    def __init__(
        self, spids: tuple[int, ...], object_key: ObjectKey, mode: str, row: int | None = None
    ) -> None:
        super().__init__(spids, object_key, mode, row)
        self.spids, self.object_key, self.mode, self.row = spids, object_key, mode, row


class SqlLock(Struct, frozen=True):
    """Lock of a connection on an object or a row."""

    spid: int
    place: ObjectKey
    mode: str
    row: int | None = None


# --- lock owners -------------------------------------------------------------------------------------------


def list_session_locks(session: SqlSession) -> list[SqlLock]:
    """Return the locks of a connection on objects and rows."""
    sql_locks = [SqlLock(session.spid, object_key, mode) for object_key, mode in session.held]
    for entry in session.row_locks:
        sql_locks.append(SqlLock(session.spid, entry.place, _get_intent_mode(entry.mode)))
        if (entry.place, EXCLUSIVE) not in session.held:
            mode = _get_range_mode(entry.mode) if entry.ranges else entry.mode
            sql_locks += [SqlLock(session.spid, entry.place, mode, number) for number in entry.rows]
    for object_key, edit in session.writes:
        if not isinstance(edit, RowChanges):
            sql_locks.append(SqlLock(session.spid, object_key, SCHEMA))
        elif (object_key, EXCLUSIVE) not in session.held:
            sql_locks.append(SqlLock(session.spid, object_key, INTENT_EXCLUSIVE))
            sql_locks += [SqlLock(session.spid, object_key, EXCLUSIVE, number) for number, _ in edit.rows]
    return sql_locks


def _get_range_mode(mode: str) -> str:
    """Return the key-range mode for a row mode: RangeS-S, RangeS-U or RangeX-X [DOC: key-range locking]."""
    return f"Range{'X' if mode == EXCLUSIVE else 'S'}-{mode}"


def _get_intent_mode(row_mode: str) -> str:
    """Return the intent mode on the table for a lock on a row [DOC: lock compatibility]."""
    return INTENT_SHARED if row_mode == SHARED else INTENT_EXCLUSIVE


def _collect_modes(session: SqlSession, object_key: ObjectKey) -> set[str]:
    """Return the modes in which a connection has locked an object, including intent modes."""
    modes = {mode for place, mode in session.held if place == object_key}
    modes |= {_get_intent_mode(entry.mode) for entry in session.row_locks if entry.place == object_key}
    for written_key, edit in session.writes:
        if written_key == object_key:
            modes.add(INTENT_EXCLUSIVE if isinstance(edit, RowChanges) else SCHEMA)
    return modes


def find_locked_rows(session: SqlSession, object_key: ObjectKey, row_mode: str) -> set[int]:
    """Return the numbers of the rows that a connection has locked in a mode that conflicts with *row_mode*."""
    conflicts = ROW_CONFLICTS[row_mode]
    locked_rows = {
        number
        for entry in session.row_locks
        if entry.place == object_key and entry.mode in conflicts
        for number in entry.rows
    }
    edit = dict(session.writes).get(object_key)
    if isinstance(edit, RowChanges):
        locked_rows |= {number for number, _ in edit.rows}
    return locked_rows


def list_other_sessions(context: StatementContext) -> list[SqlSession]:
    """Return the sessions of the other connections to this server."""
    return [session for _, session in context.list_sessions() if session.spid != context.session.spid]


def require_table_lock(context: StatementContext, object_key: ObjectKey, mode: str) -> None:
    """Raise LockConflictError if the connection cannot lock the object in *mode* now."""
    conflicts = TABLE_CONFLICTS[mode]
    spids = tuple(
        session.spid
        for session in list_other_sessions(context)
        if not conflicts.isdisjoint(_collect_modes(session, object_key))
    )
    if spids:
        raise LockConflictError(spids, object_key, mode)


def require_row_locks(
    context: StatementContext,
    object_key: ObjectKey,
    row_mode: str,
    rows: Collection[int] | None = None,
    *,
    has_range: bool = False,
) -> None:
    """Raise LockConflictError if the connection cannot lock rows of a table in *row_mode* now.

    *rows*: numbers of the rows; None for all rows. *has_range*: the request is a key-range lock.
    """
    require_table_lock(context, object_key, _get_intent_mode(row_mode))
    wanted_rows = None if rows is None else frozenset(rows)
    conflicts = {
        session.spid: locked_rows
        for session in list_other_sessions(context)
        if (locked_rows := find_locked_rows(session, object_key, row_mode))
        and (wanted_rows is None or not locked_rows.isdisjoint(wanted_rows))
    }
    if conflicts:
        blocking_rows = {number for locked_rows in conflicts.values() for number in locked_rows}
        row = min(blocking_rows if wanted_rows is None else blocking_rows & wanted_rows)
        mode = _get_range_mode(row_mode) if has_range else row_mode
        raise LockConflictError(tuple(conflicts), object_key, mode, row)


def require_insertion(
    context: StatementContext, object_key: ObjectKey, entries: Iterable[IndexEntry]
) -> None:
    """Raise LockConflictError if another session has locked a key range that contains an entry to insert."""
    entries = tuple(entries)
    for session in list_other_sessions(context):
        for held in session.row_locks:
            if held.place == object_key and any(
                key_range.contains(entry) for key_range in held.ranges for entry in entries
            ):
                raise LockConflictError((session.spid,), object_key, RANGE_INSERT, held.rows[-1])


def escalate_locks(machine: ExecutionMachine, object_key: ObjectKey, mode: str, count: int) -> bool:
    """Lock the whole table if *count* row locks are too many. Return whether the table is locked.

    Locks of other sessions on the table prevent the escalation.
    """
    if (object_key, mode) in machine.session.held:
        return True
    if count < ESCALATION_ROWS or not machine.session.transactions:
        return False
    try:
        require_table_lock(machine.context, object_key, mode)
    except LockConflictError:
        return False
    hold_table_lock(machine, object_key, mode)
    return True


def hold_table_lock(machine: ExecutionMachine, object_key: ObjectKey, mode: str) -> None:
    """Hold a lock on a table until the end of the transaction."""
    if (object_key, mode) not in machine.session.held:
        machine.change_session(held=(*machine.session.held, (object_key, mode)))


# --- reading -----------------------------------------------------------------------------------------------

DIRTY_READ_HINTS: Final = frozenset({"NOLOCK", "READUNCOMMITTED"})
"""Table hints with which a query reads uncommitted rows, without locks."""
_ISOLATION_LEVEL_HINTS: Final = {
    "UNCOMMITTED": "NOLOCK",
    "READ": "REPEATABLEREAD",
    "SERIALIZABLE": "SERIALIZABLE",
}
"""Last word of the level in SET TRANSACTION ISOLATION LEVEL -> equivalent table hint."""

_LOCK_HINTS: Final = DIRTY_READ_HINTS | {
    "READPAST", "READCOMMITTED", "READCOMMITTEDLOCK", "REPEATABLEREAD", "SERIALIZABLE", "HOLDLOCK", "UPDLOCK", "XLOCK",
    "TABLOCK", "TABLOCKX", "NOWAIT",
}  # fmt: skip
_ISOLATION_HINTS: Final = DIRTY_READ_HINTS | {
    "READCOMMITTED", "READCOMMITTEDLOCK", "REPEATABLEREAD", "SERIALIZABLE", "HOLDLOCK"
}  # fmt: skip
"""Table hints that replace the isolation level."""


def collect_hints(context: StatementContext, table_hints: frozenset[str]) -> frozenset[str]:
    """Return the lock hints of a table in a query.

    If no hint sets an isolation level, the hint of the session's isolation level is added.
    """
    lock_hints = table_hints & _LOCK_HINTS
    level = _ISOLATION_LEVEL_HINTS.get(dict(context.session.options).get("TRANSACTION", ""))
    return lock_hints if level is None or lock_hints & _ISOLATION_HINTS else lock_hints | {level}


def get_row_mode(hints: frozenset[str], *, is_change: bool) -> str:
    """Return the mode in which a query with *hints* locks the rows that it reads [DOC: table hints].

    *is_change*: the query changes the table.
    """
    if hints & {"XLOCK", "TABLOCKX"}:
        return EXCLUSIVE
    return UPDATE if is_change or "UPDLOCK" in hints else SHARED


def lock_for_read(
    machine: ExecutionMachine,
    object_key: ObjectKey,
    hints: frozenset[str],
    find_rows: Callable[[], ReadRows],
    *,
    is_change: bool = False,
) -> None:
    """Lock the rows that a query reads, and hold the locks that its *hints* require.

    *find_rows*: function that determines the rows. *is_change*: the query changes the table. Raise
    LockConflictError if the query must wait, or 1222 with the hint NOWAIT. Raise 650 for READPAST
    unless the isolation level is READ COMMITTED or REPEATABLE READ [DOC: table hints]. Raise 3952 under
    SNAPSHOT, because no simulated database allows SNAPSHOT.
    """
    if "READPAST" in hints and hints & {"SERIALIZABLE", "HOLDLOCK", *DIRTY_READ_HINTS}:
        raise SqlError(650)
    try:
        _lock_rows(machine, object_key, hints, find_rows, is_change=is_change)
    except LockConflictError:
        if "NOWAIT" in hints:
            raise SqlError(1222) from None
        raise


def _lock_rows(
    machine: ExecutionMachine,
    object_key: ObjectKey,
    hints: frozenset[str],
    find_rows: Callable[[], ReadRows],
    *,
    is_change: bool,
) -> None:
    context = machine.context
    if dict(context.session.options).get("TRANSACTION") == "SNAPSHOT" and context.find_copy(object_key[1]):
        raise SqlError(3952, context.get_spelled_name(object_key[1]))
    row_mode = get_row_mode(hints, is_change=is_change)
    is_serializable = bool(hints & {"SERIALIZABLE", "HOLDLOCK"})
    holds_locks = row_mode == EXCLUSIVE or bool(hints & {"UPDLOCK", "REPEATABLEREAD"}) or is_serializable
    if hints & DIRTY_READ_HINTS and not holds_locks:
        require_table_lock(context, object_key, SCHEMA_STABLE)
        return
    if hints & {"TABLOCK", "TABLOCKX"}:
        table_mode = SHARED if row_mode == SHARED else EXCLUSIVE
        require_table_lock(context, object_key, table_mode)
        if (holds_locks or is_change) and machine.session.transactions:
            hold_table_lock(machine, object_key, table_mode)
        return
    holds_locks = holds_locks and bool(machine.session.transactions)
    if not holds_locks and not any(
        _collect_modes(session, object_key) for session in list_other_sessions(context)
    ):
        return
    found = find_rows()
    table_mode = SHARED if row_mode == SHARED else EXCLUSIVE
    if is_serializable and not found.has_index:
        require_table_lock(context, object_key, table_mode)
        if holds_locks:
            hold_table_lock(machine, object_key, table_mode)
        return
    ranges = found.ranges if is_serializable else ()
    next_keys = found.next_keys if ranges else frozenset()
    if "READPAST" not in hints:
        require_row_locks(context, object_key, row_mode, found.rows | next_keys, has_range=bool(ranges))
    else:
        require_table_lock(context, object_key, _get_intent_mode(row_mode))
    if not holds_locks:
        return
    held_rows = found.rows if hints & {"REPEATABLEREAD", "SERIALIZABLE", "HOLDLOCK"} else found.matching
    if (held_rows or ranges) and not escalate_locks(machine, object_key, table_mode, len(held_rows)):
        entry = RowLocks(object_key, row_mode, (*sorted(held_rows), *sorted(next_keys - held_rows)), ranges)
        if entry not in machine.session.row_locks:
            machine.change_session(row_locks=(*machine.session.row_locks, entry))


# --- waiting -----------------------------------------------------------------------------------------------

DEADLOCK_SEARCH_INTERVAL_S: Final = 5.0
"""Interval in seconds between two deadlock searches of the lock monitor. Documented default [DOC: deadlocks]."""


def wait_for_lock(machine: ExecutionMachine, conflict: LockConflictError) -> None:
    """Let the statement wait for a lock, and schedule its next attempt.

    Raise 1222 after LOCK_TIMEOUT, 1205 for a deadlock victim.
    """
    world, session = machine.world, machine.session
    since_tick = machine.run.since_tick
    waited = 0 if since_tick is None else world.tick - since_tick
    limit = get_lock_timeout_ms(session)
    if limit >= 0 and waited * 1000 >= limit * TICKS_PER_S:
        machine.handle_error(SqlError(1222))
        return
    if detect_deadlock_victim(machine, conflict, waited):
        machine.abort_as_deadlock_victim()
        return
    machine.scope.position -= 1
    machine.schedule_check("lock")


def detect_deadlock_victim(machine: ExecutionMachine, conflict: LockConflictError, waited_ticks: int) -> bool:
    """Record the lock conflict, and return whether the waiting connection is the deadlock victim.

    Return False if the wait of *waited_ticks* is shorter than DEADLOCK_SEARCH_INTERVAL_S.
    """
    machine.run = replace(
        machine.run, blocked=(conflict.spids, conflict.object_key, conflict.mode, conflict.row)
    )
    return waited_ticks >= DEADLOCK_SEARCH_INTERVAL_S * TICKS_PER_S and _is_first_deadlock_victim(machine)


def get_isolation_level(session: SqlSession) -> str:
    """Return the transaction isolation level of a session, such as "read committed"."""
    level = dict(session.options).get("TRANSACTION", "COMMITTED").lower()
    return (
        f"read {level}" if level in ("committed", "uncommitted") else level.replace("read", "repeatable read")
    )


def get_lock_timeout_ms(session: SqlSession) -> int:
    """Return the value of SET LOCK_TIMEOUT in milliseconds; -1 means no timeout."""
    return int(dict(session.options).get("LOCK_TIMEOUT", "-1"))


def find_blocked_batches(world: World, server: str) -> dict[int, Submission]:
    """Return the batches on a server that wait for a lock, by session ID."""
    blocked_batches: dict[int, Submission] = {}
    for name, run in world.batches.items():
        window = world.sessions.get(name)
        session = window.session if window is not None else None
        if run.waiting == "lock" and session is not None and session.server == server:
            blocked_batches[session.spid] = run
    return blocked_batches


def _is_first_deadlock_victim(machine: ExecutionMachine) -> bool:
    """Return whether this connection is the victim of a deadlock.

    The victim is the connection in the wait cycle with the lowest sort key (_get_victim_order).
    """
    waits = {
        spid: run.blocked[0]
        for spid, run in find_blocked_batches(machine.world, machine.session.server).items()
    }
    waits[machine.session.spid] = machine.run.blocked[0]
    wait_cycle = _find_wait_cycle(waits, machine.session.spid)
    sessions = {session.spid: session for _, session in machine.context.list_sessions()}
    sessions[machine.session.spid] = machine.session
    return (
        bool(wait_cycle)
        and min(wait_cycle, key=lambda spid: _get_victim_order(sessions[spid])) == machine.session.spid
    )


def _find_wait_cycle(waits: dict[int, tuple[int, ...]], start: int) -> set[int]:
    """Return the connections in a wait cycle through *start*; empty if there is no cycle."""
    reachable_spids, wait_cycle = _find_reachable(waits, start), set()
    for spid in reachable_spids:
        if start in _find_reachable(waits, spid):
            wait_cycle.add(spid)
    return wait_cycle


def _find_reachable(waits: dict[int, tuple[int, ...]], start: int) -> set[int]:
    """Return all connections for which *start* waits directly or indirectly."""
    visited: set[int] = set()
    remaining_spids = list(waits.get(start, ()))
    while remaining_spids:
        spid = remaining_spids.pop()
        if spid not in visited:
            visited.add(spid)
            remaining_spids += waits.get(spid, ())
    return visited


def _get_victim_order(session: SqlSession) -> tuple[int, float, int]:
    """Return the sort key of deadlock victims: DEADLOCK_PRIORITY, then the amount of log to roll back.

    The session with the lowest key is the victim. Documented [DOC: deadlocks].
    """
    priority = dict(session.options).get("DEADLOCK_PRIORITY", "NORMAL")
    return (
        parse_deadlock_priority(priority),
        arithmetic.add_in_order(kb for _, _, kb in session.logs),
        -session.spid,
    )


# --- application locks of sp_getapplock: modes, conflicts and owners [DOC: sp_getapplock; APPLOCK_MODE] --

APPLICATION_LOCK_MODES: Final = {
    "shared": "S",
    "update": "U",
    "intentshared": "IS",
    "intentexclusive": "IX",
    "exclusive": "X",
}
"""Value of @LockMode of sp_getapplock -> lock mode."""

APPLICATION_LOCK_MODE_NAMES: Final = {
    "S": "Shared", "U": "Update", "IS": "IntentShared", "IX": "IntentExclusive", "X": "Exclusive",
    "SIX": "SharedIntentExclusive", "UIX": "UpdateIntentExclusive",
}  # fmt: skip
"""Lock mode -> value that APPLOCK_MODE returns."""

APPLICATION_LOCK_CONFLICTS: Final[dict[str, frozenset[str]]] = {
    "IS": frozenset({"X"}),
    "S": frozenset({"IX", "SIX", "UIX", "X"}),
    "U": frozenset({"U", "IX", "SIX", "UIX", "X"}),
    "IX": frozenset({"S", "U", "SIX", "UIX", "X"}),
    "SIX": frozenset({"S", "U", "IX", "SIX", "UIX", "X"}),
    "UIX": frozenset({"S", "U", "IX", "SIX", "UIX", "X"}),
    "X": frozenset(APPLICATION_LOCK_MODE_NAMES),
}
"""Requested lock mode -> conflicting modes of other sessions. Documented [DOC: lock compatibility]."""

APPLICATION_RESOURCE_PREFIX: Final = "application\n"
"""Prefix of an application resource in an object key. No table has such a name."""
APPLICATION_LOCK_OWNERS: Final = ("transaction", "session")
"""Possible owners of an application lock."""


def combine_modes(current: str, requested: str) -> str:
    """Return the weakest lock mode that includes both modes [DOC: sp_getapplock]."""
    if "X" in (current, requested):
        return "X"
    parts = {part for mode in (current, requested) for part in ("IX", "U", "S") if part in mode}
    if current.startswith("IS") and requested.startswith("IS"):
        return "IS"
    if "IX" in (current[-2:], requested[-2:]):
        shared = {mode.removesuffix("IX") for mode in (current, requested)} & {"U", "S"}
        return ("U" if "U" in shared else "S" if shared else "") + "IX"
    return "U" if "U" in parts else "S"


def make_resource_key(context: StatementContext, database: str, principal: str, resource: str) -> ObjectKey:
    """Return the key of an application resource.

    The name of the resource is case-sensitive. It is truncated to 255 characters.
    """
    return (
        context.session.server,
        database.lower(),
        f"{APPLICATION_RESOURCE_PREFIX}{principal.lower()}\n{resource[:255]}",
    )


def is_application_resource(key: ObjectKey) -> bool:
    """Return whether *key* is the key of an application resource."""
    return key[2].startswith(APPLICATION_RESOURCE_PREFIX)


def describe_resource(key: ObjectKey) -> str:
    """Return the name of an application resource as `resource_description` shows it.

    The product adds a hash, which is omitted here.
    """
    return key[2].rpartition("\n")[2][:32]


def find_application_lock_holders(context: StatementContext, key: ObjectKey, mode: str) -> tuple[int, ...]:
    """Return the IDs of the other sessions whose application locks on *key* conflict with *mode*."""
    return tuple(
        session.spid
        for _, session in context.list_sessions()
        if session.spid != context.session.spid
        and any(
            lock.place == key and lock.mode in APPLICATION_LOCK_CONFLICTS[mode] for lock in session.applocks
        )
    )


def find_application_lock(session: SqlSession, key: ObjectKey, owner: str) -> ApplicationLock | None:
    """Return the session's lock on *key* that belongs to *owner*; None if there is no such lock."""
    return next((lock for lock in session.applocks if (lock.place, lock.owner) == (key, owner)), None)


def add_lock_request(
    locks: Iterable[ApplicationLock], key: ObjectKey, owner: str, mode: str
) -> tuple[ApplicationLock, ...]:
    """Return *locks* with one more request.

    A repeated request of the same owner increases the count and can strengthen the mode.
    """
    locks_by_owner = {(lock.place, lock.owner): lock for lock in locks}
    before = locks_by_owner.get((key, owner))
    if before is None:
        locks_by_owner[key, owner] = ApplicationLock(key, mode, owner)
    else:
        locks_by_owner[key, owner] = replace(
            before, mode=combine_modes(before.mode, mode), count=before.count + 1
        )
    return tuple(locks_by_owner.values())


def remove_lock_request(
    locks: Iterable[ApplicationLock], released: ApplicationLock
) -> tuple[ApplicationLock, ...]:
    """Return *locks* with one request fewer for the lock *released*.

    The lock itself is removed with its last request.
    """
    counted_locks = [replace(lock, count=lock.count - 1) if lock == released else lock for lock in locks]
    return tuple(lock for lock in counted_locks if lock.count)


def drop_transaction_locks(locks: Iterable[ApplicationLock]) -> tuple[ApplicationLock, ...]:
    """Return the locks that remain after the end of the transaction."""
    return tuple(lock for lock in locks if lock.owner == "session")


def _read_owner(context: StatementContext, function: str, owner: Scalar) -> str:
    """Return the owner that a function's argument names; "transaction" by default.

    Raises 1226 for an unknown owner, 3918 for "transaction" without an open transaction.
    """
    owner_word = "transaction" if owner is None else to_text(owner).lower()
    if owner_word not in APPLICATION_LOCK_OWNERS:
        raise SqlError(1226, function)
    if owner_word == "transaction" and not context.session.transactions:
        raise SqlError(3918)
    return owner_word


def evaluate_applock_mode(
    context: StatementContext, principal: Scalar, resource: Scalar, owner: Scalar = None
) -> Scalar:
    """Evaluate APPLOCK_MODE: the mode of the caller's lock, or NoLock."""
    resource_key = make_resource_key(context, context.session.database, to_text(principal), to_text(resource))
    lock = find_application_lock(context.session, resource_key, _read_owner(context, "applock_mode", owner))
    return APPLICATION_LOCK_MODE_NAMES[lock.mode] if lock is not None else "NoLock"


def evaluate_applock_test(
    context: StatementContext, principal: Scalar, resource: Scalar, mode: Scalar, owner: Scalar = None
) -> Scalar:
    """Evaluate APPLOCK_TEST: 1 if the lock can be granted now, else 0."""
    requested_mode = APPLICATION_LOCK_MODES.get(to_text(mode).lower())
    if requested_mode is None:
        raise SqlError(1225, "applock_test")
    _read_owner(context, "applock_test", owner)
    resource_key = make_resource_key(context, context.session.database, to_text(principal), to_text(resource))
    return int(not find_application_lock_holders(context, resource_key, requested_mode))


LOCK_FUNCTIONS: Final[dict[str, Callable[..., Scalar]]] = {
    "applock_mode": evaluate_applock_mode,
    "applock_test": evaluate_applock_test,
}
"""Name of a T-SQL function about application locks -> function that evaluates it."""
