"""sp_who and sp_who2: all sessions, those of one login, one session id, or the active ones."""

from __future__ import annotations

from typing import Final

from engine.messages import SqlError
from engine.tsql import catalog
from engine.tsql.catalog.view import Record
from engine.tsql.procedures.call import ProcedureCall, Procedures, procedure
from engine.tsql.scalars.values import Scalar, comparable, format_value, to_text

IDLE: Final = "AWAITING COMMAND"


def _select_sessions(call: ProcedureCall) -> list[Record]:
    """Return the rows of sys.sysprocesses that @loginame asks for; 15007 for a login that is not there."""
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
    """Return dbid -> name, of all rows at once."""
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
    """Blank names are dots there, and numbers are texts of a fixed width."""
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


PROCEDURES: Final[Procedures] = {
    "sp_who": procedure(_run_sp_who, "@loginame?"),
    "sp_who2": procedure(_run_sp_who2, "@loginame?"),
}
"""Procedures with the columns of the product. Documented [DOC: sp_who]; those of sp_who2 seen in public listings."""
