"""sp_getapplock and sp_releaseapplock with their return codes [DOC: sp_getapplock; sp_releaseapplock]."""

from __future__ import annotations

from typing import Final

from engine.constants import TICKS_PER_S
from engine.messages import SqlError
from engine.tsql import catalog
from engine.tsql.batches import application_locks as applocks
from engine.tsql.batches import locks
from engine.tsql.batches.data import Place
from engine.tsql.procedures.call import RETURN_VALUE, ProcedureCall, Procedures, procedure
from engine.tsql.scalars.values import to_number, to_text

GRANTED, GRANTED_AFTER_WAIT, TIMED_OUT, DEADLOCK, INVALID = 0, 1, -1, -3, -999
"""Return codes [DOC: sp_getapplock]."""


def _resource(call: ProcedureCall) -> tuple[Place, str]:
    """Return the resource and the owner. Raises 15600 without a resource, 15625 for another owner."""
    owner = (call.text("@lockowner") if call.get("@lockowner") is not None else "Transaction").lower()
    if call.get("@resource") is None:
        raise SqlError(15600, f"sys.{call.name}")
    if owner not in applocks.OWNERS:
        raise SqlError(15625, call.text("@lockowner"), "@LockOwner")
    context = call.machine.context
    principal = call.text("@dbprincipal") or "public"
    known = {to_text(row["name"]).lower() for row in catalog.rows_of(context, "sys.database_principals")}
    if principal.lower() not in known:
        raise SqlError(15600, f"sys.{call.name}")
    return applocks.make_place(context, call.database, principal, call.text("@resource")), owner


def _acquire(call: ProcedureCall) -> None:
    machine = call.machine
    mode = applocks.MODES.get(call.text("@lockmode").lower())
    place, owner = _resource(call)
    if mode is None:
        raise SqlError(15625, call.text("@lockmode"), "@LockMode")
    if owner == "transaction" and not machine.session.transactions:
        raise SqlError(15626)
    given = call.get("@locktimeout")
    limit = locks.lock_timeout_ms(machine.session) if given is None else int(to_number(given))
    held = applocks.find(machine.session, place, owner)
    wanted = mode if held is None else applocks.combine(held.mode, mode)
    blockers = applocks.find_holders(machine.context, place, wanted)
    since = machine.run.since_tick
    waited = 0 if since is None else call.world.tick - since
    if blockers:
        if 0 <= limit * TICKS_PER_S <= waited * 1000:
            call.outputs[RETURN_VALUE] = TIMED_OUT
            return
        conflict = locks.LockConflictError(blockers, place, wanted)
        if locks.is_deadlock_victim(machine, conflict, waited):
            call.outputs[RETURN_VALUE] = DEADLOCK
            return
        raise conflict
    machine.note(applocks=applocks.acquire(machine.session.applocks, place, owner, mode))
    call.outputs[RETURN_VALUE] = GRANTED if since is None else GRANTED_AFTER_WAIT


def _release(call: ProcedureCall) -> None:
    place, owner = _resource(call)
    held = applocks.find(call.machine.session, place, owner)
    if held is None:
        principal = to_text(call.get("@dbprincipal")) or "public"
        raise SqlError(1223, principal, call.text("@resource"))
    call.machine.note(applocks=applocks.release(call.machine.session.applocks, held))


PROCEDURES: Final[Procedures] = {
    "sp_getapplock": procedure(_acquire, "@resource? @lockmode @lockowner? @locktimeout? @dbprincipal?"),
    "sp_releaseapplock": procedure(_release, "@resource? @lockowner? @dbprincipal?"),
}
FAILED: Final = dict.fromkeys(PROCEDURES, INVALID)
