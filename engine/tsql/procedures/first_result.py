"""sp_describe_first_result_set, which drivers call before they run a batch.

[DOC: sp_describe_first_result_set]
"""

from __future__ import annotations

from typing import Final

from engine.tsql.batches import first_result
from engine.tsql.procedures.call import ProcedureCall, Procedures, procedure


def _describe(call: ProcedureCall) -> None:
    machine = call.machine
    rows, errors = first_result.describe(machine, call.text("@tsql"), call.text("@params"))
    for note in errors:
        machine.tell(note.text, note.number, note.severity, note.state, machine.line)
        machine.note(error=note.number)
    if not errors:
        columns = [name for name in first_result.COLUMNS if not name.startswith("error_")]
        columns += first_result.OF_TDS
        call.show(columns, [tuple(row.get(column) for column in columns) for row in rows])


PROCEDURES: Final[Procedures] = {
    "sp_describe_first_result_set": procedure(_describe, "@tsql @params? @browse_information_mode?")
}
