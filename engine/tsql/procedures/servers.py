"""Linked servers."""

from __future__ import annotations

from typing import Final

from engine.messages import SqlError
from engine.protocol import jobs
from engine.tsql.batches import ledger
from engine.tsql.procedures.call import ProcedureCall, Procedures, procedure
from engine.tsql.query.plans import UnsimulatedFeatureError


def _add(call: ProcedureCall) -> None:
    call.tell(jobs.add_linked_server(call.world, call.server, call.text("@server")))


def _drop(call: ProcedureCall) -> None:
    call.tell(jobs.drop_linked_server(call.world, call.server, call.text("@server")))


def _list(call: ProcedureCall) -> None:
    names = (call.server, *call.world.instances[call.server].linked_servers)
    rows = [(name, "SQLNCLI", "SQL Server", name) for name in names]
    call.show(("SRV_NAME", "SRV_PROVIDERNAME", "SRV_PRODUCT", "SRV_DATASOURCE"), rows)


def _help(call: ProcedureCall) -> None:
    """Execute sp_helpserver: the server itself has the id 0 [DOC: sp_helpserver]; the time-outs are the usual ones."""
    wanted = call.text("@server").lower()
    names = (call.server, *call.world.instances[call.server].linked_servers)
    if wanted and wanted not in map(str.lower, names):
        raise SqlError(15015, call.text("@server"))
    rows = []
    for number, name in enumerate(names):
        data = "" if number == 0 else "data access,"
        out = (
            ledger.find(call.world, call.server, "serveroptions", "server", name)
            if number
            else {"rpc out": 1}
        )
        calls = "rpc,rpc out," if number == 0 else "rpc out," if out and out.get("rpc out") else ""
        if not wanted or wanted == name.lower():
            rows.append((name, name, f"{calls}{data}use remote collation", str(number), None, 0, 0))
    columns = ("name", "network_name", "status", "id", "collation_name", "connect_timeout", "query_timeout")
    call.show(columns, rows)


def _refuse(call: ProcedureCall) -> None:
    raise UnsimulatedFeatureError(call.name)


def _map_login(call: ProcedureCall) -> None:
    """Execute sp_addlinkedsrvlogin: every linked server is asked with one's own login, which is the default."""
    if call.text("@useself").lower() not in ("", "true", "1") or call.text("@locallogin"):
        raise UnsimulatedFeatureError(f"{call.name} with another login than one's own")


_LINK_DEFAULTS: Final = {
    "data access": "true", "use remote collation": "true", "collation compatible": "false", "connect timeout": "0",
    "query timeout": "0", "lazy schema validation": "false", "collation name": "", "dist": "false", "pub": "false",
    "sub": "false", "remote proc transaction promotion": "true",
}  # fmt: skip
"""Options of sp_serveroption that only support their default. Documented."""


def _option(call: ProcedureCall) -> None:
    """Execute sp_serveroption: RPC OUT decides whether EXEC … AT works; of the others only the default is simulated."""
    wanted, known = call.text("@server"), call.world.instances[call.server].linked_servers
    name = next((one for one in known if one.lower() == wanted.lower()), None)
    if name is None:
        raise SqlError(15015, wanted)
    option, value = call.text("@optname").lower(), call.text("@optvalue").lower() in ("true", "on")
    if option not in ("rpc", "rpc out"):
        given = {"on": "true", "off": "false"}.get(
            call.text("@optvalue").lower(), call.text("@optvalue").lower()
        )
        if _LINK_DEFAULTS.get(option) != given:
            raise UnsimulatedFeatureError(f"sp_serveroption '{option}'")
        return
    if ledger.find(call.world, call.server, "serveroptions", "server", name) is None:
        ledger.add(call.world, call.server, "serveroptions", server=name)
    ledger.change(
        call.world, call.server, "serveroptions", lambda row: row["server"] == name, **{option: int(value)}
    )


PROCEDURES: Final[Procedures] = {
    "sp_addlinkedserver": procedure(
        _add, "@server @srvproduct? @provider? @datasrc? @location? @provstr? @catalog? @linkedstyle?"
    ),
    "sp_addserver": procedure(_refuse, "@server @local? @duplicate_ok?"),
    "sp_dropserver": procedure(_drop, "@server @droplogins?"),
    "sp_linkedservers": procedure(_list),
    "sp_helpserver": procedure(_help, "@server? @optname? @show_topology?"),
    "sp_serveroption": procedure(_option, "@server @optname @optvalue"),
    "sp_addlinkedsrvlogin": procedure(
        _map_login, "@rmtsrvname @useself? @locallogin? @rmtuser? @rmtpassword?"
    ),
    "sp_droplinkedsrvlogin": procedure(_refuse, "@rmtsrvname @locallogin?"),
}
