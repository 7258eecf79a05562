"""Application locks of sp_getapplock: modes, conflicts and owners [DOC: sp_getapplock; APPLOCK_MODE]."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from msgspec.structs import replace

from engine.messages import SqlError
from engine.tsql.batches.context import Context
from engine.tsql.batches.data import ApplicationLock, Place, SqlSession
from engine.tsql.scalars.values import Scalar, to_text

MODES: Final = {
    "shared": "S",
    "update": "U",
    "intentshared": "IS",
    "intentexclusive": "IX",
    "exclusive": "X",
}
"""Values of @LockMode and their lock modes."""

NAMES: Final = {
    "S": "Shared", "U": "Update", "IS": "IntentShared", "IX": "IntentExclusive", "X": "Exclusive",
    "SIX": "SharedIntentExclusive", "UIX": "UpdateIntentExclusive",
}  # fmt: skip
"""Values of APPLOCK_MODE."""

CONFLICTS: Final[dict[str, frozenset[str]]] = {
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
"""Prefix that marks a place as an application resource: no table has such a name."""
OWNERS: Final = ("transaction", "session")


def combine(current: str, requested: str) -> str:
    """Return the union of two lock modes [DOC: sp_getapplock]."""
    if "X" in (current, requested):
        return "X"
    parts = {part for mode in (current, requested) for part in ("IX", "U", "S") if part in mode}
    if current.startswith("IS") and requested.startswith("IS"):
        return "IS"
    if "IX" in (current[-2:], requested[-2:]):
        shared = {mode.removesuffix("IX") for mode in (current, requested)} & {"U", "S"}
        return ("U" if "U" in shared else "S" if shared else "") + "IX"
    return "U" if "U" in parts else "S"


def make_place(context: Context, database: str, principal: str, resource: str) -> Place:
    """Return the key of an application resource; its name is case-sensitive and has at most 255 characters."""
    return (context.session.server, database.lower(), f"{MARK}{principal.lower()}\n{resource[:255]}")


def is_application(key: Place) -> bool:
    """Return True if *key* is an application resource."""
    return key[2].startswith(MARK)


def describe(key: Place) -> str:
    """Return the name of the resource as `resource_description` shows it, without its hash."""
    return key[2].rpartition("\n")[2][:32]


def find_holders(context: Context, key: Place, mode: str) -> tuple[int, ...]:
    """Return the other sessions whose locks on *key* conflict with *mode*."""
    return tuple(
        session.spid
        for _, session in context.sessions()
        if session.spid != context.session.spid
        and any(lock.place == key and lock.mode in CONFLICTS[mode] for lock in session.applocks)
    )


def find(session: SqlSession, key: Place, owner: str) -> ApplicationLock | None:
    """Return the lock that *owner* of the session holds on *key*."""
    return next((lock for lock in session.applocks if (lock.place, lock.owner) == (key, owner)), None)


def acquire(
    locks: Iterable[ApplicationLock], key: Place, owner: str, mode: str
) -> tuple[ApplicationLock, ...]:
    """Add a request to the locks of a session; further requests of one owner raise its mode and count."""
    found = {(lock.place, lock.owner): lock for lock in locks}
    before = found.get((key, owner))
    if before is None:
        found[key, owner] = ApplicationLock(key, mode, owner)
    else:
        found[key, owner] = replace(before, mode=combine(before.mode, mode), count=before.count + 1)
    return tuple(found.values())


def release(locks: Iterable[ApplicationLock], released: ApplicationLock) -> tuple[ApplicationLock, ...]:
    """Remove one request of *released*; the lock ends with its last request."""
    rest = [replace(lock, count=lock.count - 1) if lock == released else lock for lock in locks]
    return tuple(lock for lock in rest if lock.count)


def without_transaction(locks: Iterable[ApplicationLock]) -> tuple[ApplicationLock, ...]:
    """Return the locks that outlive the transaction."""
    return tuple(lock for lock in locks if lock.owner == "session")


def _owner(context: Context, function: str, owner: Scalar) -> str:
    """Return the owner that a function names. Raises 1226; 3918 for a transaction where none is open."""
    known = "transaction" if owner is None else to_text(owner).lower()
    if known not in OWNERS:
        raise SqlError(1226, function)
    if known == "transaction" and not context.session.transactions:
        raise SqlError(3918)
    return known


def mode_of(context: Context, principal: Scalar, resource: Scalar, owner: Scalar = None) -> Scalar:
    """Evaluate APPLOCK_MODE: the mode in which the caller holds the lock, or NoLock."""
    place = make_place(context, context.session.database, to_text(principal), to_text(resource))
    lock = find(context.session, place, _owner(context, "applock_mode", owner))
    return NAMES[lock.mode] if lock is not None else "NoLock"


def is_grantable(
    context: Context, principal: Scalar, resource: Scalar, mode: Scalar, owner: Scalar = None
) -> Scalar:
    """Evaluate APPLOCK_TEST: 1 if the lock could be granted now."""
    asked = MODES.get(to_text(mode).lower())
    if asked is None:
        raise SqlError(1225, "applock_test")
    _owner(context, "applock_test", owner)
    place = make_place(context, context.session.database, to_text(principal), to_text(resource))
    return int(not find_holders(context, place, asked))


FUNCTIONS: Final[dict[str, Callable[..., Scalar]]] = {"applock_mode": mode_of, "applock_test": is_grantable}
