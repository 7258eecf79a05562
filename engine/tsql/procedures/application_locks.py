"""sp_getapplock and sp_releaseapplock with their return codes [DOC: sp_getapplock; sp_releaseapplock]."""

from typing import Final

from engine.constants import TICKS_PER_S
from engine.messages import SqlError
from engine.tsql import catalog
from engine.tsql.batches import locks
from engine.tsql.batches.data import ObjectKey
from engine.tsql.procedures.call import RETURN_VALUE, ProcedureCall, Procedures
from engine.tsql.scalars.values import to_number, to_text

GRANTED, GRANTED_AFTER_WAIT, TIMED_OUT, DEADLOCK, INVALID = 0, 1, -1, -3, -999
"""Return codes [DOC: sp_getapplock]."""


_WORKER: Final = "xp_userlock"
"""Internal procedure of application locks that error messages name. Seen in public output."""


def _reject(call: ProcedureCall, number: int, *arguments: str) -> None:
    """Print message *number*, of severity 10, and return -999 [DOC: Database Engine events and errors]."""
    call.machine.say_number(number, *arguments)
    call.outputs[RETURN_VALUE] = INVALID


def _find_owner(call: ProcedureCall) -> str | None:
    """Return the owner; None, after message 15625, for an unknown owner."""
    owner = call.text("@lockowner") if call.get("@lockowner") is not None else "Transaction"
    if owner.lower() in locks.OWNERS:
        return owner.lower()
    _reject(call, 15625, owner, "@LockOwner")
    return None


def _make_place(call: ProcedureCall) -> ObjectKey:
    """Return the key of the resource. Raise 1224 without a resource, 1202 for an unknown principal."""
    if call.get("@resource") is None:
        raise SqlError(1224, _WORKER, state=5)
    context = call.machine.context
    principal = call.text("@dbprincipal") or "public"
    principal_names = {
        to_text(row["name"]).lower() for row in catalog.rows_of(context, "sys.database_principals")
    }
    if principal.lower() not in principal_names:
        raise SqlError(1202, principal)
    return locks.make_place(context, call.database, principal, call.text("@resource"))


def _acquire(call: ProcedureCall) -> None:
    machine = call.machine
    mode = locks.MODES.get(call.text("@lockmode").lower())
    if mode is None:
        _reject(call, 15625, call.text("@lockmode"), "@LockMode")
        return
    owner = _find_owner(call)
    if owner is None:
        return
    if owner == "transaction" and not machine.session.transactions:
        _reject(call, 15626)
        return
    timeout = call.get("@locktimeout")
    limit = locks.lock_timeout_ms(machine.session) if timeout is None else int(to_number(timeout))
    if limit < -1:
        raise SqlError(1227, _WORKER, state=2)
    place = _make_place(call)
    lock = locks.find(machine.session, place, owner)
    wanted_mode = mode if lock is None else locks.combine(lock.mode, mode)
    blockers = locks.find_holders(machine.context, place, wanted_mode)
    since_tick = machine.run.since_tick
    waited = 0 if since_tick is None else call.world.tick - since_tick
    if blockers:
        if 0 <= limit * TICKS_PER_S <= waited * 1000:
            call.outputs[RETURN_VALUE] = TIMED_OUT
            return
        conflict = locks.LockConflictError(blockers, place, wanted_mode)
        if locks.is_deadlock_victim(machine, conflict, waited):
            call.outputs[RETURN_VALUE] = DEADLOCK
            return
        raise conflict
    machine.note(applocks=locks.acquire(machine.session.applocks, place, owner, mode))
    call.outputs[RETURN_VALUE] = GRANTED if since_tick is None else GRANTED_AFTER_WAIT


def _release(call: ProcedureCall) -> None:
    owner = _find_owner(call)
    if owner is None:
        return
    place = _make_place(call)
    if owner == "transaction" and not call.machine.session.transactions:
        raise SqlError(3918)
    lock = locks.find(call.machine.session, place, owner)
    if lock is None:
        principal = to_text(call.get("@dbprincipal")) or "public"
        raise SqlError(1223, principal, call.text("@resource"))
    call.machine.note(applocks=locks.release(call.machine.session.applocks, lock))


FAILED: Final = dict.fromkeys(("sp_getapplock", "sp_releaseapplock"), INVALID)


PROCEDURES: Final[Procedures] = {
    "sp_getapplock": _acquire,
    "sp_releaseapplock": _release,
}
