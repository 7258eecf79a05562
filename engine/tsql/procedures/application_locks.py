"""Application locks: sp_getapplock and sp_releaseapplock, with their return codes.

[DOC: sp_getapplock; sp_releaseapplock]
"""

from typing import Final

from engine.constants import TICKS_PER_S
from engine.messages import SqlError
from engine.tsql import catalog
from engine.tsql.batches import locks
from engine.tsql.batches.data import ObjectKey
from engine.tsql.procedures.call import RETURN_VALUE, ProcedureCall, Procedures
from engine.tsql.scalars.values import to_number, to_text

GRANTED_CODE, GRANTED_AFTER_WAIT_CODE, TIMED_OUT_CODE, DEADLOCK_CODE, INVALID_CODE = 0, 1, -1, -3, -999
"""Return codes [DOC: sp_getapplock]."""


_INTERNAL_PROCEDURE: Final = "xp_userlock"
"""Name of the internal procedure that error messages about application locks show. Seen in public output."""


def _reject_lock_call(call: ProcedureCall, number: int, *arguments: str) -> None:
    """Print message *number* with severity 10, and set the return code -999.

    [DOC: Database Engine events and errors]
    """
    call.machine.append_numbered_message(number, *arguments)
    call.outputs[RETURN_VALUE] = INVALID_CODE


def _find_owner(call: ProcedureCall) -> str | None:
    """Return the lock owner, session or transaction.

    For an unknown owner, print message 15625 and return None.
    """
    owner = call.get_text("@lockowner") if call.get_argument("@lockowner") is not None else "Transaction"
    if owner.lower() in locks.APPLICATION_LOCK_OWNERS:
        return owner.lower()
    _reject_lock_call(call, 15625, owner, "@LockOwner")
    return None


def _make_resource_key(call: ProcedureCall) -> ObjectKey:
    """Return the lock key of the resource. Raises 1224 without a resource, 1202 for an unknown principal."""
    if call.get_argument("@resource") is None:
        raise SqlError(1224, _INTERNAL_PROCEDURE, state=5)
    context = call.machine.context
    principal = call.get_text("@dbprincipal") or "public"
    principal_names = {
        to_text(row["name"]).lower() for row in catalog.list_view_rows(context, "sys.database_principals")
    }
    if principal.lower() not in principal_names:
        raise SqlError(1202, principal)
    return locks.make_resource_key(context, call.database, principal, call.get_text("@resource"))


def _acquire_lock(call: ProcedureCall) -> None:
    machine = call.machine
    mode = locks.APPLICATION_LOCK_MODES.get(call.get_text("@lockmode").lower())
    if mode is None:
        _reject_lock_call(call, 15625, call.get_text("@lockmode"), "@LockMode")
        return
    owner = _find_owner(call)
    if owner is None:
        return
    if owner == "transaction" and not machine.session.transactions:
        _reject_lock_call(call, 15626)
        return
    timeout = call.get_argument("@locktimeout")
    limit = locks.get_lock_timeout_ms(machine.session) if timeout is None else int(to_number(timeout))
    if limit < -1:
        raise SqlError(1227, _INTERNAL_PROCEDURE, state=2)
    index = _make_resource_key(call)
    lock = locks.find_application_lock(machine.session, index, owner)
    wanted_mode = mode if lock is None else locks.combine_modes(lock.mode, mode)
    blockers = locks.find_application_lock_holders(machine.context, index, wanted_mode)
    since_tick = machine.run.since_tick
    waited = 0 if since_tick is None else call.world.tick - since_tick
    if blockers:
        if 0 <= limit * TICKS_PER_S <= waited * 1000:
            call.outputs[RETURN_VALUE] = TIMED_OUT_CODE
            return
        conflict = locks.LockConflictError(blockers, index, wanted_mode)
        if locks.detect_deadlock_victim(machine, conflict, waited):
            call.outputs[RETURN_VALUE] = DEADLOCK_CODE
            return
        raise conflict
    machine.change_session(applocks=locks.add_lock_request(machine.session.applocks, index, owner, mode))
    call.outputs[RETURN_VALUE] = GRANTED_CODE if since_tick is None else GRANTED_AFTER_WAIT_CODE


def _release_lock(call: ProcedureCall) -> None:
    owner = _find_owner(call)
    if owner is None:
        return
    index = _make_resource_key(call)
    if owner == "transaction" and not call.machine.session.transactions:
        raise SqlError(3918)
    lock = locks.find_application_lock(call.machine.session, index, owner)
    if lock is None:
        principal = to_text(call.get_argument("@dbprincipal")) or "public"
        raise SqlError(1223, principal, call.get_text("@resource"))
    call.machine.change_session(applocks=locks.remove_lock_request(call.machine.session.applocks, lock))


ERROR_RETURN_CODES: Final = dict.fromkeys(("sp_getapplock", "sp_releaseapplock"), INVALID_CODE)


PROCEDURES: Final[Procedures] = {
    "sp_getapplock": _acquire_lock,
    "sp_releaseapplock": _release_lock,
}
