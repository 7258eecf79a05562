"""sp_describe_first_result_set: the columns of a batch, which drivers request before they run it.

[DOC: sp_describe_first_result_set]
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from engine.tsql.batches.data import Declared, Submission
from engine.tsql.catalog.column_types import type_record
from engine.tsql.catalog.shapes import SHAPES
from engine.tsql.procedures.call import ProcedureCall, Procedures, declarations, procedure
from engine.tsql.query.plans import UNNAMED
from engine.tsql.scalars.values import Scalar, to_number, to_text

_OF_FUNCTION: Final = SHAPES["sys.dm_exec_describe_first_result_set()"]
_ERRORS: Final = "error_"
_OF_TDS: Final = ("tds_type_id", "tds_length", "tds_collation_id", "tds_collation_sort_id")
"""Columns of the procedure that replace the error columns of the function."""
_TDS_TYPES: Final = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), 38), "bit": 104, "float": 109, "real": 109, "money": 110,
    "smallmoney": 110, "datetime": 111, "smalldatetime": 111, "text": 35, "ntext": 99, "image": 34,
}  # fmt: skip
"""Type ids of nullable types; the others have their system_type_id [MS-TDS 2.2.5.4]."""
_COLLATION_ID, _SORT_ID = 13632521, 52
"""Ids of SQL_Latin1_General_CP1_CI_AS, as in an answer in the procedure's documentation."""


def _describe(call: ProcedureCall) -> None:
    """Describe the text as with SET FMTONLY ON and NULL parameters; which columns are never NULL is unknown."""
    machine, text = call.machine, call.text("@tsql")
    options = {**dict(machine.session.options), "FMTONLY": "ON"}
    there = machine.create_sibling(
        Submission(id=0, text=text, steps=()),
        replace(machine.session, options=tuple(options.items())),
        machine.meter,
    )
    declared = declarations(call.text("@params"))
    there.enter(text, {name: Declared(kind, None) for name, kind, _, _ in declared})
    there.advance()
    for said in there.messages:
        if said.is_error:
            machine.tell(said.text, said.number, said.severity, said.state, call.machine.line)
            machine.note(error=said.number)
            return
        if not said.number:
            machine.remark(said.text.removeprefix("Not simulated: "))
    found = there.results[0] if there.results else None
    columns = [
        column.name for column in _OF_FUNCTION.columns_in(2012) if not column.name.startswith(_ERRORS)
    ] + list(_OF_TDS)
    rows = []
    for place, name in enumerate(found.columns if found is not None else ()):
        assert found is not None
        rows.append(_column(place + 1, name, found.types[place] or "nvarchar(4000)"))
    call.show(columns, [tuple(row.get(column) for column in columns) for row in rows])


def _column(position: int, name: str, type_text: str) -> dict[str, Scalar]:
    kind = type_record(type_text)
    text = kind["collation_name"] is not None
    length = to_number(kind["max_length"])
    return {
        "is_hidden": 0,
        "column_ordinal": position,
        "name": None if name == UNNAMED else name,
        "is_nullable": 1,
        "system_type_id": kind["system_type_id"],
        "system_type_name": type_text,
        "max_length": kind["max_length"],
        "precision": kind["precision"],
        "scale": kind["scale"],
        "collation_name": kind["collation_name"],
        "is_xml_document": 0,
        "is_case_sensitive": 0,
        "is_fixed_length_clr_type": 0,
        "is_identity_column": 0,
        "is_updateable": 0,
        "is_computed_column": 0,
        "is_sparse_column_set": 0,
        "tds_type_id": _TDS_TYPES.get(to_text(kind["DATA_TYPE"]), kind["system_type_id"]),
        "tds_length": 65_535
        if length == -1
        else 17
        if type_text.startswith(("decimal", "numeric"))
        else length,
        "tds_collation_id": _COLLATION_ID if text else None,
        "tds_collation_sort_id": _SORT_ID if text else None,
    }


PROCEDURES: Final[Procedures] = {
    "sp_describe_first_result_set": procedure(_describe, "@tsql @params? @browse_information_mode?")
}
