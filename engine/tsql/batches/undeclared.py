"""sp_describe_undeclared_parameters: types that drivers request before they send the values of parameters.

[DOC: sp_describe_undeclared_parameters]
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from engine.messages import SqlError
from engine.tsql.batches import first_result, objects, sources, tables
from engine.tsql.batches.data import declarations
from engine.tsql.language import statements as s
from engine.tsql.language.columns import ColumnDefinition
from engine.tsql.language.instructions import BranchIfFalse, RunStatement
from engine.tsql.language.lexer import tokens_of
from engine.tsql.language.program import compile_batch
from engine.tsql.query import planner
from engine.tsql.query.plans import Columns, Deduction, TableRef, UnsimulatedFeatureError
from engine.tsql.scalars.types import SqlType, type_of
from engine.tsql.scalars.values import Scalar

if TYPE_CHECKING:
    from engine.tsql.batches.machine import Machine

_NAMES: Final = """
parameter_ordinal name suggested_system_type_id suggested_system_type_name suggested_max_length suggested_precision
suggested_scale suggested_user_type_id suggested_user_type_database suggested_user_type_schema
suggested_user_type_name suggested_assembly_qualified_type_name suggested_xml_collection_id
suggested_xml_collection_database suggested_xml_collection_schema suggested_xml_collection_name
suggested_is_xml_document suggested_is_case_sensitive suggested_is_fixed_length_clr_type suggested_is_input
suggested_is_output formal_parameter_name suggested_tds_type_id suggested_tds_length
"""
COLUMNS: Final = tuple(_NAMES.split())
"""Columns of the result."""


def describe(machine: Machine, text: str, parameters: str) -> list[dict[str, Scalar]]:
    """Return a row for each parameter that *text* uses and *parameters* does not declare.

    Raises the errors of the batch, 11502, 11503, 11506 or 11508.
    """
    declared = {name for name, *_ in declarations(parameters)}
    used = [token.text for token in tokens_of(text) if token.kind == "variable" and token.text[:2] != "@@"]
    names = frozenset(name.lower() for name in used)
    program = compile_batch(text, machine.context.version, names)
    local = {
        item.name
        for instruction in program
        if isinstance(instruction.action, RunStatement)
        and isinstance(instruction.action.statement, s.Declare)
        for item in instruction.action.statement.variables
    }
    undeclared = names - declared - local
    for name in undeclared:
        if sum(other.lower() == name for other in used) > 1:
            raise SqlError(11508, next(other for other in used if other.lower() == name))
    found: list[tuple[Deduction, str]] = []
    for instruction in program:
        found += _deductions(machine, instruction.action, undeclared)
    shown = {name.lower(): name for name in used}
    order = {name: index for index, name in enumerate(shown)}
    found.sort(key=lambda item: order[item[0].name])
    return [_row(index, shown[one.name], one, formal) for index, (one, formal) in enumerate(found, start=1)]


def _deductions(machine: Machine, action: object, undeclared: frozenset[str]) -> list[tuple[Deduction, str]]:
    """Return the parameters of one instruction, each with the procedure's parameter to which it is passed."""
    columns_of = partial(_columns_of, machine)
    if isinstance(action, BranchIfFalse):
        return [
            (one, "") for one in planner.deduce_types(f"SELECT {action.condition}", undeclared, columns_of)
        ]
    statement = action.statement if isinstance(action, RunStatement) else None
    match statement:
        case s.QueryStatement(text=text):
            return [(one, "") for one in planner.deduce_types(text, undeclared, columns_of)]
        case s.Assign(expression=text):
            return [(one, "") for one in planner.deduce_types(f"SELECT {text}", undeclared, columns_of)]
        case s.Execute():
            return _arguments(machine, statement, undeclared)
    return []


def _columns_of(machine: Machine, ref: TableRef, insertable: bool) -> Columns | None:
    table = sources.find_user_table(machine, ref)
    if table is not None:
        given = tables.find_insertable_positions(table) if insertable else range(len(table.columns))
        return tuple(
            (column.name, _declared_type(column)) for column in map(table.columns.__getitem__, given)
        )
    try:
        return sources.describe_columns(machine, ref)
    except UnsimulatedFeatureError:
        return None


def _declared_type(column: ColumnDefinition) -> SqlType | None:
    """Return the type of a column. A decimal keeps this name, which is only a synonym elsewhere."""
    kind = sources.parse_column_type(column.type)
    if kind is None or not column.type.lower().startswith("dec"):
        return kind
    return replace(kind, name="decimal")


def _arguments(
    machine: Machine, statement: s.Execute, undeclared: frozenset[str]
) -> list[tuple[Deduction, str]]:
    """Return the undeclared arguments of a procedure with the types of its parameters."""
    arguments: list[tuple[Deduction, str]] = []
    if statement.returns in undeclared:
        arguments.append((Deduction(statement.returns, type_of("int"), assigned=True), ""))
    passed = [
        (index, argument.name, argument.value.name)
        for index, argument in enumerate(statement.arguments)
        if isinstance(argument.value, s.Variable) and argument.value.name in undeclared
    ]
    parts = tuple(part.strip("[]") for part in statement.procedure.split("."))
    procedure = objects.find(machine.context, parts) if passed else None
    if passed and not isinstance(procedure, objects.UserProcedure):
        raise UnsimulatedFeatureError(f"types of the parameters of {statement.procedure}")
    for place, given, name in passed:
        assert isinstance(procedure, objects.UserProcedure)
        known = {item.name: item for item in procedure.parameters}
        formal = known.get(given) if given else next(iter(procedure.parameters[place : place + 1]), None)
        if formal is None:
            raise SqlError(8145, given, parts[-1]) if given else SqlError(8144, parts[-1])
        arguments.append((Deduction(name, type_of(formal.type, 1)), formal.name))
    return arguments


def _row(place: int, name: str, deduced: Deduction, formal: str) -> dict[str, Scalar]:
    column = first_result.describe_column(place, name, str(deduced.kind))
    shared = (
        "system_type_id",
        "system_type_name",
        "max_length",
        "precision",
        "scale",
        "tds_type_id",
        "tds_length",
    )
    flags = ("is_xml_document", "is_case_sensitive", "is_fixed_length_clr_type")
    return {
        "parameter_ordinal": place,
        "name": name,
        **{f"suggested_{key}": column[key] for key in (*shared, *flags)},
        "suggested_is_input": int(not deduced.assigned),
        "suggested_is_output": int(deduced.assigned),
        "formal_parameter_name": formal or None,
    }
