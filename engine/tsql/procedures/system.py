"""Extended procedures that access the computer: the command shell, the registry, files."""

from __future__ import annotations

from typing import Final

from engine.messages import SqlError
from engine.tsql.catalog.configurations import option_value
from engine.tsql.procedures.call import ProcedureCall, Procedures, procedure
from engine.tsql.query.plans import UnsimulatedFeatureError
from engine.tsql.scalars.values import Scalar


def _shell(call: ProcedureCall) -> None:
    """Execute xp_cmdshell: 15281 while it is turned off, as it is from the start."""
    if not option_value(call.machine.context, "xp_cmdshell"):
        raise SqlError(15281, "procedure", "sys.xp_cmdshell", "xp_cmdshell", "xp_cmdshell", "xp_cmdshell")
    raise UnsimulatedFeatureError("commands of the operating system")


_REGISTRY: Final[dict[str, Scalar]] = {
    "backupdirectory": "D:\\Backup",
    "defaultdata": "D:\\Data",
    "defaultlog": "L:\\Log",
    "tcpport": "1433",
    "tcpdynamicports": "",
    "loginmode": 2,
    "auditlevel": 2,
}
"""Registry values that scripts read. Paths are those of new files; the others are assumed."""


def _read_registry(call: ProcedureCall) -> None:
    """Return the value as a grid, or in the OUTPUT parameter; a missing one is NULL, without OUTPUT also 22001."""
    name = call.text("@value_name").lower()
    value = call.machine.context.server.service_account if name == "objectname" else _REGISTRY.get(name)
    call.outputs["@value"] = value
    if value is None and call.text("@key").upper().startswith(("HARDWARE", "SYSTEM")):
        raise UnsimulatedFeatureError(f"the registry under {call.text('@key')}")
    if value is None:
        if "@value" not in call.arguments:
            call.machine.say_number(22001)
        return
    if "@value" not in call.arguments:
        call.show(("Value", "Data"), [(call.get("@value_name"), value)])


def _write_registry(call: ProcedureCall) -> None:
    raise UnsimulatedFeatureError(f"{call.name}: writing to the registry")


def _refuse(call: ProcedureCall) -> None:
    raise UnsimulatedFeatureError(call.name)


_KEY: Final = "@rootkey @key @value_name? @value? @no_output?"

PROCEDURES: Final[Procedures] = {
    "xp_cmdshell": procedure(_shell, "@command? @no_output?"),
    "xp_regread": procedure(_read_registry, _KEY),
    "xp_instance_regread": procedure(_read_registry, _KEY),
    "xp_regwrite": procedure(_write_registry, "@rootkey @key @value_name? @type? @value?"),
    "xp_instance_regwrite": procedure(_write_registry, "@rootkey @key @value_name? @type? @value?"),
    "sp_cycle_agent_errorlog": procedure(_refuse),
    "sp_delete_backuphistory": procedure(_refuse, "@oldest_date"),
    "sp_delete_database_backuphistory": procedure(_refuse, "@database_name"),
    "sp_purge_jobhistory": procedure(_refuse, "@job_name? @job_id? @oldest_date?"),
}
