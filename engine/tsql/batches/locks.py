"""Locks of T-SQL windows: waits, timeouts, and deadlock victims.

The changes of a transaction (SqlSession.writes) act as its locks. They lock changed rows exclusively, and
created,
altered or dropped objects against every other session. Hints and isolation levels lock whole tables
(SqlSession.held). SERIALIZABLE readers that compare the first column of an index lock ranges of keys
(SqlSession.ranges). Other readers access all rows of a table, as in a heap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from engine import arithmetic
from engine.constants import TICKS_PER_S
from engine.messages import SqlError
from engine.model import World
from engine.tsql.batches.context import Context
from engine.tsql.batches.data import KeyRange, ObjectKey, Row, RowChanges, SqlSession, Submission
from engine.tsql.scalars.settings import parse_deadlock_priority

if TYPE_CHECKING:
    from engine.tsql.batches.machine import Machine
from collections.abc import Callable, Collection, Iterable

from engine.tsql.batches.data import ApplicationLock
from engine.tsql.scalars.values import Scalar, to_text

SCHEMA_STABLE, SHARED, RANGE, UPDATE, INSERT, EXCLUSIVE, SCHEMA = (
    "Sch-S", "S", "RangeS-S", "U", "IX", "X", "Sch-M",
)  # fmt: skip
RANGE_INSERT: Final = "RangeI-N"
"""Lock mode of an insert into a key range, which waits for the session that has locked the range."""
ROWS = "rows"
"""Lock mode that stands for exclusive locks on some rows of a table."""

CONFLICTS: Final[dict[str, frozenset[str]]] = {
    SCHEMA_STABLE: frozenset({SCHEMA}),
    SHARED: frozenset({ROWS, EXCLUSIVE, SCHEMA}),
    RANGE: frozenset({ROWS, EXCLUSIVE, SCHEMA}),
    UPDATE: frozenset({ROWS, UPDATE, EXCLUSIVE, SCHEMA}),
    INSERT: frozenset({RANGE, EXCLUSIVE, SCHEMA}),
    ROWS: frozenset({ROWS, SHARED, RANGE, UPDATE, EXCLUSIVE, SCHEMA}),
    EXCLUSIVE: frozenset({ROWS, SHARED, RANGE, UPDATE, INSERT, EXCLUSIVE, SCHEMA}),
    SCHEMA: frozenset({ROWS, SHARED, RANGE, UPDATE, INSERT, EXCLUSIVE, SCHEMA, SCHEMA_STABLE}),
}
"""Requested lock mode -> conflicting modes of other sessions. Documented [DOC: lock compatibility].

The conflicts of ROWS are derived from the documented conflicts.
"""


class LockConflictError(Exception):
    """Error of a statement that must wait for the sessions *spids* before it can lock *place*.

    The statement has not changed anything yet.
    """

    def __init__(self, spids: tuple[int, ...], object_key: ObjectKey, mode: str) -> None:
        super().__init__(spids, object_key, mode)
        self.spids, self.place, self.mode = spids, object_key, mode


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
    for object_key, edit in session.writes:
        if isinstance(edit, RowChanges):
            sql_locks.append(SqlLock(session.spid, object_key, INSERT))
            sql_locks += [SqlLock(session.spid, object_key, EXCLUSIVE, number) for number, _ in edit.rows]
        else:
            sql_locks.append(SqlLock(session.spid, object_key, SCHEMA))
    return sql_locks


def _collect_modes(session: SqlSession, object_key: ObjectKey) -> set[str]:
    """Return the modes in which a connection has locked an object, apart from locks on single rows."""
    modes = {mode for write_key, mode in session.held if write_key == object_key}
    for written_key, edit in session.writes:
        if written_key == object_key:
            modes.add(ROWS if isinstance(edit, RowChanges) else SCHEMA)
    return modes


def require_lock(
    context: Context, object_key: ObjectKey, mode: str, rows: Collection[int] | None = None
) -> None:
    """Raise LockConflictError if the connection cannot lock the object, or only its *rows*, in *mode* now."""
    spids = tuple(
        session.spid
        for _, session in context.list_sessions()
        if session.spid != context.session.spid and _is_conflict(session, object_key, mode, rows)
    )
    if spids:
        raise LockConflictError(spids, object_key, mode)


def require_range(
    context: Context, object_key: ObjectKey, rows: Collection[Row | None], *, adds: bool
) -> None:
    """Raise LockConflictError if another session has locked a key range that contains one of *rows*.

    *adds*: the rows are new.
    """
    spids = tuple(
        session.spid
        for _, session in context.list_sessions()
        if session.spid != context.session.spid
        and any(held.place == object_key and any(map(held.contains, rows)) for held in session.ranges)
    )
    if spids:
        raise LockConflictError(spids, object_key, RANGE_INSERT if adds else ROWS)


def _is_conflict(session: SqlSession, object_key: ObjectKey, mode: str, rows: Collection[int] | None) -> bool:
    if mode in (EXCLUSIVE, SCHEMA) and any(held.place == object_key for held in session.ranges):
        return True
    conflicts = CONFLICTS[mode] & _collect_modes(session, object_key)
    edit = dict(session.writes).get(object_key)
    if rows is None or conflicts != {ROWS} or not isinstance(edit, RowChanges):
        return bool(conflicts)
    return any(number in rows for number, _ in edit.rows)


# --- reading -----------------------------------------------------------------------------------------------

DIRTY: Final = frozenset({"NOLOCK", "READUNCOMMITTED"})
"""Hints that read uncommitted rows without locks."""
_LEVELS: Final = {"UNCOMMITTED": "NOLOCK", "READ": "REPEATABLEREAD", "SERIALIZABLE": "SERIALIZABLE"}
"""Word of SET TRANSACTION ISOLATION LEVEL -> equivalent hint."""

_HINTS: Final = DIRTY | {
    "READPAST", "READCOMMITTED", "READCOMMITTEDLOCK", "REPEATABLEREAD", "SERIALIZABLE", "HOLDLOCK", "UPDLOCK", "XLOCK",
    "TABLOCKX",
}  # fmt: skip
"""Table hints that determine locks."""

_HINT_MODES: Final = (
    ({"XLOCK", "TABLOCKX"}, EXCLUSIVE),
    ({"UPDLOCK"}, UPDATE),
    ({"SERIALIZABLE", "HOLDLOCK"}, RANGE),
    ({"REPEATABLEREAD"}, SHARED),
)
"""(hints, lock mode until the end of the transaction), strongest mode first. Documented [DOC: table hints]."""


def collect_hints(context: Context, table_hints: frozenset[str]) -> frozenset[str]:
    """Return the lock hints of a table in a query. Without a hint, the isolation level implies one."""
    lock_hints = table_hints & _HINTS
    level = _LEVELS.get(dict(context.session.options).get("TRANSACTION", ""))
    return lock_hints if level is None or lock_hints - {"READPAST"} else lock_hints | {level}


def lock_for_read(
    machine: Machine,
    object_key: ObjectKey,
    hints: frozenset[str],
    rows: Collection[int] | None = None,
    *,
    changes: bool = False,
    key_range: KeyRange | None = None,
) -> None:
    """Lock a table, or only its *rows*, for a query that reads or *changes* it.

    Raise LockConflictError if the query must wait. Raise 3952 under SNAPSHOT, which no simulated database
    allows.
    """
    context = machine.context
    if dict(context.session.options).get("TRANSACTION") == "SNAPSHOT" and context.find_copy(object_key[1]):
        raise SqlError(3952, context.get_spelled_name(object_key[1]))
    keeps = next((mode for words, mode in _HINT_MODES if words & hints), None)
    weak = bool(hints & (DIRTY | {"READPAST"}))
    lock_mode = UPDATE if changes else SHARED
    require_lock(context, object_key, SCHEMA_STABLE if weak and keeps is None else keeps or lock_mode, rows)
    if keeps is None or not machine.session.transactions:
        return
    if keeps == RANGE and key_range is not None:
        if key_range not in machine.session.ranges:
            machine.change_session(ranges=(*machine.session.ranges, key_range))
    elif (object_key, keeps) not in machine.session.held:
        machine.change_session(held=(*machine.session.held, (object_key, keeps)))


# --- waiting -----------------------------------------------------------------------------------------------

DEADLOCK_S: Final = 5.0
"""Interval in seconds between two deadlock searches of the lock monitor. Documented default [DOC: deadlocks]."""


def wait_for_lock(machine: Machine, conflict: LockConflictError) -> None:
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
    if is_deadlock_victim(machine, conflict, waited):
        machine.abort_as_deadlock_victim()
        return
    machine.scope.position -= 1
    machine.schedule_check("lock")


def is_deadlock_victim(machine: Machine, conflict: LockConflictError, waited_ticks: int) -> bool:
    """Record the lock conflict. Return whether the waiting connection is the deadlock victim."""
    machine.run = replace(machine.run, blocked=(conflict.spids, conflict.place, conflict.mode))
    return waited_ticks >= DEADLOCK_S * TICKS_PER_S and _is_victim(machine)


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


def _is_victim(machine: Machine) -> bool:
    """Return whether this connection is the victim of a deadlock.

    The victim is the first connection of the wait cycle in the order of _get_victim_order.
    """
    waits = {
        spid: run.blocked[0]
        for spid, run in find_blocked_batches(machine.world, machine.session.server).items()
    }
    waits[machine.session.spid] = machine.run.blocked[0]
    ring = _find_wait_cycle(waits, machine.session.spid)
    sessions = {session.spid: session for _, session in machine.context.list_sessions()}
    sessions[machine.session.spid] = machine.session
    return (
        bool(ring) and min(ring, key=lambda spid: _get_victim_order(sessions[spid])) == machine.session.spid
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
    todo = list(waits.get(start, ()))
    while todo:
        spid = todo.pop()
        if spid not in visited:
            visited.add(spid)
            todo += waits.get(spid, ())
    return visited


def _get_victim_order(session: SqlSession) -> tuple[int, float, int]:
    """Return the sort key of deadlock victims: DEADLOCK_PRIORITY, then the amount of log to roll back.

    The lowest key is the victim. Documented [DOC: deadlocks].
    """
    priority = dict(session.options).get("DEADLOCK_PRIORITY", "NORMAL")
    return (
        parse_deadlock_priority(priority),
        arithmetic.add_in_order(kb for _, _, kb in session.logs),
        -session.spid,
    )


# --- application locks of sp_getapplock -------------------------------------------------------------------
# Modes, conflicts and owners [DOC: sp_getapplock; APPLOCK_MODE].

MODES: Final = {
    "shared": "S",
    "update": "U",
    "intentshared": "IS",
    "intentexclusive": "IX",
    "exclusive": "X",
}
"""Value of @LockMode of sp_getapplock -> lock mode."""

NAMES: Final = {
    "S": "Shared", "U": "Update", "IS": "IntentShared", "IX": "IntentExclusive", "X": "Exclusive",
    "SIX": "SharedIntentExclusive", "UIX": "UpdateIntentExclusive",
}  # fmt: skip
"""Lock mode -> value that APPLOCK_MODE returns."""

APPLICATION_CONFLICTS: Final[dict[str, frozenset[str]]] = {
    "IS": frozenset({"X"}),
    "S": frozenset({"IX", "SIX", "UIX", "X"}),
    "U": frozenset({"U", "IX", "SIX", "UIX", "X"}),
    "IX": frozenset({"S", "U", "SIX", "UIX", "X"}),
    "SIX": frozenset({"S", "U", "IX", "SIX", "UIX", "X"}),
    "UIX": frozenset({"S", "U", "IX", "SIX", "UIX", "X"}),
    "X": frozenset(NAMES),
}
"""Requested lock mode -> conflicting modes of other sessions. Documented [DOC: lock compatibility]."""

MARK: Final = "application\n"
"""Prefix of an application resource in an object key. No table has such a name."""
OWNERS: Final = ("transaction", "session")
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


def make_resource_key(context: Context, database: str, principal: str, resource: str) -> ObjectKey:
    """Return the key of an application resource.

    The name of the resource is case-sensitive. It is truncated to 255 characters.
    """
    return (context.session.server, database.lower(), f"{MARK}{principal.lower()}\n{resource[:255]}")


def is_application(key: ObjectKey) -> bool:
    """Return whether *key* is the key of an application resource."""
    return key[2].startswith(MARK)


def describe_resource(key: ObjectKey) -> str:
    """Return the resource name as `resource_description` shows it, without the hash."""
    return key[2].rpartition("\n")[2][:32]


def find_holders(context: Context, key: ObjectKey, mode: str) -> tuple[int, ...]:
    """Return the IDs of the other sessions whose application locks on *key* conflict with *mode*."""
    return tuple(
        session.spid
        for _, session in context.list_sessions()
        if session.spid != context.session.spid
        and any(lock.place == key and lock.mode in APPLICATION_CONFLICTS[mode] for lock in session.applocks)
    )


def find_application_lock(session: SqlSession, key: ObjectKey, owner: str) -> ApplicationLock | None:
    """Return the session's lock on *key* with the owner *owner*; None if there is none."""
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
    """Return *locks* with one request for *released* less. The last request removes the lock."""
    counted_locks = [replace(lock, count=lock.count - 1) if lock == released else lock for lock in locks]
    return tuple(lock for lock in counted_locks if lock.count)


def drop_transaction_locks(locks: Iterable[ApplicationLock]) -> tuple[ApplicationLock, ...]:
    """Return the locks that remain after the end of the transaction."""
    return tuple(lock for lock in locks if lock.owner == "session")


def _read_owner(context: Context, function: str, owner: Scalar) -> str:
    """Return the owner that a function's argument names; "transaction" by default.

    Raises 1226 for an unknown owner, 3918 for "transaction" without an open transaction.
    """
    owner_word = "transaction" if owner is None else to_text(owner).lower()
    if owner_word not in OWNERS:
        raise SqlError(1226, function)
    if owner_word == "transaction" and not context.session.transactions:
        raise SqlError(3918)
    return owner_word


def evaluate_applock_mode(
    context: Context, principal: Scalar, resource: Scalar, owner: Scalar = None
) -> Scalar:
    """Evaluate APPLOCK_MODE: the mode of the caller's lock, or NoLock."""
    resource_key = make_resource_key(context, context.session.database, to_text(principal), to_text(resource))
    lock = find_application_lock(context.session, resource_key, _read_owner(context, "applock_mode", owner))
    return NAMES[lock.mode] if lock is not None else "NoLock"


def is_grantable(
    context: Context, principal: Scalar, resource: Scalar, mode: Scalar, owner: Scalar = None
) -> Scalar:
    """Evaluate APPLOCK_TEST: 1 if the lock can be granted now, else 0."""
    requested_mode = MODES.get(to_text(mode).lower())
    if requested_mode is None:
        raise SqlError(1225, "applock_test")
    _read_owner(context, "applock_test", owner)
    resource_key = make_resource_key(context, context.session.database, to_text(principal), to_text(resource))
    return int(not find_holders(context, resource_key, requested_mode))


FUNCTIONS: Final[dict[str, Callable[..., Scalar]]] = {
    "applock_mode": evaluate_applock_mode,
    "applock_test": is_grantable,
}
"""Name of a T-SQL function about application locks -> function that evaluates it."""
