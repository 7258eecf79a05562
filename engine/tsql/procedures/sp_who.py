"""sp_who and sp_who2: all sessions, those of one login, one session ID, or the active ones."""

from __future__ import annotations

from typing import Final

from engine.constants import TICKS_PER_S
from engine.messages import SqlError
from engine.tsql import catalog
from engine.tsql.batches import locks
from engine.tsql.batches.data import Place
from engine.tsql.catalog.view import Record
from engine.tsql.procedures.call import RETURN_VALUE, ProcedureCall, Procedures
from engine.tsql.scalars.values import Scalar, comparable, format_value, to_number, to_text

IDLE: Final = "AWAITING COMMAND"


def _select_sessions(call: ProcedureCall) -> list[Record]:
    """Return the rows of sys.sysprocesses that @loginame selects. Raise 15007 for an unknown login."""
    rows = sorted(
        catalog.rows_of(call.machine.context, "sys.sysprocesses"), key=lambda row: int(str(row["spid"]))
    )
    wanted = call.text("@loginame").strip()
    if not wanted:
        return rows
    if wanted.lower() == "active":
        return [row for row in rows if _read_text(row, "cmd") != IDLE]
    if wanted.isdigit():
        return [row for row in rows if row["spid"] == int(wanted)]
    logins = catalog.rows_of(call.machine.context, "sys.server_principals")
    if comparable(wanted) not in {comparable(to_text(login["name"])) for login in logins}:
        raise SqlError(15007, wanted)
    return [row for row in rows if comparable(_read_text(row, "loginame")) == comparable(wanted)]


def _read_text(row: Record, column: str) -> str:
    return to_text(row.get(column)).strip()


def _databases(call: ProcedureCall, rows: list[Record]) -> dict[Scalar, Scalar]:
    """Return dbid -> name for all rows."""
    ids = dict.fromkeys(row.get("dbid") for row in rows)
    return {number: call.machine.context.database_name(int(str(number or 0))) for number in ids}


_WHO: Final = ("spid", "ecid", "status", "loginame", "hostname", "blk", "dbname", "cmd", "request_id")


def _run_sp_who(call: ProcedureCall) -> None:
    chosen = _select_sessions(call)
    databases = _databases(call, chosen)
    rows = [
        (
            row["spid"],
            row.get("ecid") or 0,
            *(_read_text(row, name) for name in ("status", "loginame", "hostname")),
            str(row.get("blocked") or 0),
            databases[row.get("dbid")],
            _read_text(row, "cmd"),
            row.get("request_id") or 0,
        )
        for row in chosen
    ]
    call.show(_WHO, rows)


_WHO2: Final = (
    "SPID", "Status", "Login", "HostName", "BlkBy", "DBName", "Command", "CPUTime", "DiskIO", "LastBatch",
    "ProgramName", "SPID", "REQUESTID",
)  # fmt: skip


def _run_sp_who2(call: ProcedureCall) -> None:
    """Execute sp_who2. Blank names are shown as dots, and numbers are texts of a fixed width."""
    chosen = _select_sessions(call)
    databases = _databases(call, chosen)
    rows = []
    for row in chosen:
        spid = str(row["spid"]).ljust(5)
        status = _read_text(row, "status")
        at = to_text(format_value(row.get("last_batch") or row.get("login_time")))
        rows.append(
            (
                spid,
                status.ljust(30) if status == "sleeping" else status.upper().ljust(30),
                _read_text(row, "loginame"),
                _read_text(row, "hostname") or "  .",
                str(row.get("blocked") or "  ."),
                databases[row.get("dbid")],
                _read_text(row, "cmd"),
                str(row.get("cpu") or 0),
                str(row.get("physical_io") or 0),
                f"{at[5:7]}/{at[8:10]} {at[11:19]}",
                _read_text(row, "program_name"),
                spid,
                str(row.get("request_id") or 0).ljust(5),
            )
        )
    call.show(_WHO2, rows)


"""Procedures with the columns of the product. Documented [DOC: sp_who]; the columns of sp_who2 were seen in
public output.
"""


# --- sp_getapplock and sp_releaseapplock ------------------------------------------------------------------
# Their return codes are documented [DOC: sp_getapplock; sp_releaseapplock].

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


def _make_place(call: ProcedureCall) -> Place:
    """Return the key of the resource. Raise 1224 without a resource, 1202 for an unknown principal."""
    if call.get("@resource") is None:
        raise SqlError(1224, _WORKER, state=5)
    context = call.machine.context
    principal = call.text("@dbprincipal") or "public"
    known = {to_text(row["name"]).lower() for row in catalog.rows_of(context, "sys.database_principals")}
    if principal.lower() not in known:
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
    given = call.get("@locktimeout")
    limit = locks.lock_timeout_ms(machine.session) if given is None else int(to_number(given))
    if limit < -1:
        raise SqlError(1227, _WORKER, state=2)
    place = _make_place(call)
    held = locks.find(machine.session, place, owner)
    wanted = mode if held is None else locks.combine(held.mode, mode)
    blockers = locks.find_holders(machine.context, place, wanted)
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
    machine.note(applocks=locks.acquire(machine.session.applocks, place, owner, mode))
    call.outputs[RETURN_VALUE] = GRANTED if since is None else GRANTED_AFTER_WAIT


def _release(call: ProcedureCall) -> None:
    owner = _find_owner(call)
    if owner is None:
        return
    place = _make_place(call)
    if owner == "transaction" and not call.machine.session.transactions:
        raise SqlError(3918)
    held = locks.find(call.machine.session, place, owner)
    if held is None:
        principal = to_text(call.get("@dbprincipal")) or "public"
        raise SqlError(1223, principal, call.text("@resource"))
    call.machine.note(applocks=locks.release(call.machine.session.applocks, held))


FAILED: Final = dict.fromkeys(("sp_getapplock", "sp_releaseapplock"), INVALID)


PROCEDURES: Final[Procedures] = {
    "sp_who": _run_sp_who,
    "sp_who2": _run_sp_who2,
    "sp_getapplock": _acquire,
    "sp_releaseapplock": _release,
}
