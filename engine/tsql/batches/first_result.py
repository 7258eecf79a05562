"""Description of the first result set of a batch, which drivers request before they run the batch.

[DOC: sp_describe_first_result_set]
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec.structs import replace

from engine.messages import find_wording
from engine.tsql.batches.data import DeclaredVariable, Submission, parse_parameter_declarations
from engine.tsql.catalog.column_types import build_type_record
from engine.tsql.catalog.shapes import VIEW_SCHEMAS, list_view_columns
from engine.tsql.query.plans import UNNAMED, UnsimulatedFeatureError
from engine.tsql.scalars.values import Scalar, to_number, to_text

if TYPE_CHECKING:
    from engine.tsql.batches.machine import ExecutionMachine

Record = dict[str, Scalar]


class DescriptionError(NamedTuple):
    """Error message that replaces the description of a batch."""

    number: int
    severity: int
    state: int
    text: str


COMPILATION_ERROR_NUMBER, MISSING_OBJECT_ERROR_NUMBER = 11501, 11529
"""Number of the last error: for a text that does not compile, and for one that uses a missing object."""
_MISSING_OBJECT_ERRORS: Final = frozenset({208, 2812})
"""Numbers of the errors for a missing table or procedure."""
_ERROR_TYPES: Final = {COMPILATION_ERROR_NUMBER: (2, "SYNTAX"), MISSING_OBJECT_ERROR_NUMBER: (1, "MISC")}
"""Number of a description error -> (error_type, error_type_desc)."""

DESCRIPTION_COLUMNS: Final = tuple(
    column.name for column in list_view_columns(VIEW_SCHEMAS["sys.dm_exec_describe_first_result_set()"], 2012)
)
"""Columns of the function sys.dm_exec_describe_first_result_set.

Documented [DOC: sys.dm_exec_describe_first_result_set].
"""
TDS_COLUMNS: Final = ("tds_type_id", "tds_length", "tds_collation_id", "tds_collation_sort_id")
"""Columns that sp_describe_first_result_set returns, but the equivalent function does not.

They replace the error columns of sys.dm_exec_describe_first_result_set.
"""
_TDS_TYPE_IDS: Final = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), 38), "bit": 104, "float": 109, "real": 109, "money": 110,
    "smallmoney": 110, "datetime": 111, "smalldatetime": 111, "text": 35, "ntext": 99, "image": 34,
}  # fmt: skip
"""Data type -> TDS type ID of its nullable form.

For other types, the ID is the system_type_id. A column that is not nullable has a fixed-length type: 50 for
bit, else the system_type_id [MS-TDS 2.2.5.4].
"""
_COLLATION_ID, _SORT_ID = 13632521, 52
"""Collation ID and sort order ID of SQL_Latin1_General_CP1_CI_AS, from an example in the documentation."""


def describe_first_result(
    machine: ExecutionMachine, text: str, parameters: str
) -> tuple[list[Record], list[DescriptionError]]:
    """Return the columns of the first result set of *text*, or error messages.

    The text runs as under SET FMTONLY ON. The value of each parameter is NULL.
    """
    options = {**dict(machine.session.options), "FMTONLY": "ON"}
    sibling = machine.create_sibling_machine(
        Submission(id=0, text=text, steps=()),
        replace(machine.session, options=tuple(options.items())),
        machine.meter,
    )
    sibling.enter_frame(
        text,
        {name: DeclaredVariable(kind, None) for name, kind, _, _ in parse_parameter_declarations(parameters)},
    )
    sibling.run_until_wait()
    for message in sibling.messages:
        if not message.is_error and not message.number:
            machine.report_partly_simulated(message.text.removeprefix("Not simulated: "))
    errors = [
        DescriptionError(item.number, item.severity, item.state, item.text)
        for item in sibling.messages
        if item.is_error
    ]
    if errors and errors[0].number:
        last = (
            MISSING_OBJECT_ERROR_NUMBER
            if errors[0].number in _MISSING_OBJECT_ERRORS
            else COMPILATION_ERROR_NUMBER
        )
        errors.append(DescriptionError(last, 16, 1, find_wording(last, machine.context.version).text))
    if errors or not sibling.results:
        return [], errors
    result_set = sibling.results[0]
    return [
        describe_column(
            index,
            name,
            result_set.types[index - 1] or "nvarchar(4000)",
            *result_set.nullable[index - 1 : index],
        )
        for index, name in enumerate(result_set.columns, 1)
    ], []


def build_description_json(machine: ExecutionMachine, text: Scalar, parameters: Scalar, *_: Scalar) -> Scalar:
    """Return the rows of sys.dm_exec_describe_first_result_set as JSON. An error is one row."""
    columns, errors = describe_first_result(machine, to_text(text), to_text(parameters))
    if errors and not errors[-1].number:
        raise UnsimulatedFeatureError(errors[-1].text.removeprefix("Not simulated: "))
    for note in errors[-1:]:
        kind = _ERROR_TYPES[note.number]
        error_columns = {
            "error_number": note.number,
            "error_severity": note.severity,
            "error_state": note.state,
        }
        columns = [
            {**error_columns, "error_message": note.text, "error_type": kind[0], "error_type_desc": kind[1]}
        ]
    return json.dumps([[row.get(column) for column in DESCRIPTION_COLUMNS] for row in columns])


def describe_column(position: int, name: str, type_text: str, nullable: bool = True) -> Record:
    """Return the description of a column as a row of sys.dm_exec_describe_first_result_set."""
    type_text = "int" if type_text == "null" else type_text  # the literal NULL has the type int
    kind = build_type_record(type_text)
    text = kind["collation_name"] is not None
    length = to_number(kind["max_length"])
    return {
        "is_hidden": 0,
        "column_ordinal": position,
        "name": None if name == UNNAMED else name,
        "is_nullable": int(nullable),
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
        "tds_type_id": _TDS_TYPE_IDS.get(to_text(kind["DATA_TYPE"]), kind["system_type_id"])
        if nullable
        else 50
        if kind["DATA_TYPE"] == "bit"
        else kind["system_type_id"],
        "tds_length": 2**31 - 1
        if kind["DATA_TYPE"] in ("text", "ntext", "image")
        else 65_535
        if length == -1
        else 17
        if type_text.startswith(("decimal", "numeric"))
        else length,
        "tds_collation_id": _COLLATION_ID if text else None,
        "tds_collation_sort_id": _SORT_ID if text else None,
    }
