"""Types of undeclared parameters, which drivers request before they send parameter values.

[DOC: sp_describe_undeclared_parameters]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from engine.messages import SqlError
from engine.tsql.batches import first_result, objects, resolution, sources, tables
from engine.tsql.batches.data import MutableFrame, Submission, parse_parameter_declarations
from engine.tsql.language import statements as s
from engine.tsql.language.columns import ColumnDefinition
from engine.tsql.language.compiler import compile_batch
from engine.tsql.language.instructions import BranchInstruction, Program, StatementInstruction
from engine.tsql.language.lexer import Token, tokenize
from engine.tsql.language.reserved_words import STOP_WORDS
from engine.tsql.query import planner
from engine.tsql.query.plans import Column, Columns, DeducedParameter, TableRef, UnsimulatedFeatureError
from engine.tsql.scalars.types import SqlType, parse_sql_type
from engine.tsql.scalars.values import Scalar

if TYPE_CHECKING:
    from engine.tsql.batches.machine import ExecutionMachine

_NAMES: Final = """
parameter_ordinal name suggested_system_type_id suggested_system_type_name suggested_max_length suggested_precision
suggested_scale suggested_user_type_id suggested_user_type_database suggested_user_type_schema
suggested_user_type_name suggested_assembly_qualified_type_name suggested_xml_collection_id
suggested_xml_collection_database suggested_xml_collection_schema suggested_xml_collection_name
suggested_is_xml_document suggested_is_case_sensitive suggested_is_fixed_length_clr_type suggested_is_input
suggested_is_output formal_parameter_name suggested_tds_type_id suggested_tds_length
"""
UNDECLARED_PARAMETER_COLUMNS: Final = tuple(_NAMES.split())
"""Columns of the result of sp_describe_undeclared_parameters."""


def describe_undeclared_parameters(
    machine: ExecutionMachine, text: str, parameters: str
) -> list[dict[str, Scalar]]:
    """Return a row for each parameter that *text* uses but *parameters* does not declare.

    Raises the errors of the batch, 11502, 11503, 11506 or 11508.
    """
    version = machine.context.version
    inner = machine.create_sibling_machine(
        Submission(id=0, text=text, steps=()), machine.session, machine.meter
    )
    inner.context.writes = dict(machine.context.writes)
    scope = MutableFrame(text, version, read=None)
    inner.scopes.append(scope)
    try:
        for name, kind, *_ in parse_parameter_declarations(parameters):
            resolution.declare_variable(scope, name, kind)
        tokens = tokenize(text)
        names = [token.text for token in tokens if token.kind == "variable" and token.text[:2] != "@@"]
        used = frozenset(
            {name.lower() for name in names} - _find_declared_variables(tokens) | scope.known_types.keys()
        )
        program = compile_batch(text, version, used)
        for instruction in program:
            resolution.resolve_instruction(inner, scope, instruction)
        undeclared = used - scope.known_types.keys()
        return _describe_program(inner, program, names, undeclared)
    finally:
        inner.release_resources()


_STATEMENT_KEYWORDS: Final = STOP_WORDS - {"END"}
"""Keywords that begin a statement."""


def _find_declared_variables(tokens: Sequence[Token]) -> set[str]:
    """Return the names of the variables that the batch declares, in lowercase."""
    names: set[str] = set()
    verb, level = "", 0
    for before, token in pairwise(tokens):
        verb = before.upper if before.upper in _STATEMENT_KEYWORDS else verb
        level += before.is_operator("(") - before.is_operator(")")
        begins = before.upper == "DECLARE" or (verb == "DECLARE" and not level and before.is_operator(","))
        if begins and token.kind == "variable":
            names.add(token.text.lower())
    return names


def _describe_program(
    machine: ExecutionMachine, program: Program, names: list[str], undeclared: frozenset[str]
) -> list[dict[str, Scalar]]:
    """Return the rows of the undeclared parameters in the order of their first use. Raises 11508."""
    statements = [i.action.statement for i in program if isinstance(i.action, StatementInstruction)]
    if any(
        isinstance(statement, s.CreateProcedureStatement | s.CreateFunctionStatement)
        for statement in statements
    ):
        return []
    calls = (statement for statement in statements if isinstance(statement, s.ExecuteProcedureStatement))
    uses = Counter(name.lower() for name in names)
    uses.subtract(argument.name for call in calls for argument in call.arguments)
    order = {name.lower(): name for name in names if name.lower() in undeclared and uses[name.lower()] > 0}
    repeated = next((parameter_name for name, parameter_name in order.items() if uses[name] > 1), None)
    if repeated is not None:
        raise SqlError(11508, repeated)
    deductions = {
        deduction.name: (deduction, formal)
        for instruction in program
        for deduction, formal in _list_deductions(machine, instruction.action, undeclared)
    }
    missing = next((parameter_name for name, parameter_name in order.items() if name not in deductions), None)
    if missing is not None:
        raise UnsimulatedFeatureError(f"the type of the undeclared parameter {missing} in this statement")
    return [
        _build_row(index, parameter_name, *deductions[name])
        for index, (name, parameter_name) in enumerate(order.items(), start=1)
    ]


def _list_deductions(
    machine: ExecutionMachine, action: object, undeclared: frozenset[str]
) -> list[tuple[DeducedParameter, str]]:
    """Return (deduced type, formal parameter) for the undeclared parameters of one instruction.

    In a procedure call, the formal parameter is the procedure's parameter; otherwise, it is empty.
    """
    statement = action.statement if isinstance(action, StatementInstruction) else action
    match statement:
        case BranchInstruction():
            texts = [f"SELECT 1 WHERE {statement.condition}"]
        case s.QueryStatement():
            texts = [statement.text]
        case s.DeclareCursorStatement():
            texts = [statement.query]
        case s.SetVariableStatement():
            texts = [f"SELECT {statement.name} = {statement.expression}"]
        case s.DeclareStatement():
            texts = [f"SELECT {item.name} = {item.default}" for item in statement.variables if item.default]
        case s.ExecuteProcedureStatement():
            return _deduce_arguments(machine, statement, undeclared)
        case _:
            return []
    known_types = machine.scope.known_types
    columns_of = partial(_find_columns, machine)
    return [
        (deduction, "")
        for text in texts
        for deduction in planner.deduce_types(text, undeclared, columns_of, known_types)
    ]


def _find_columns(machine: ExecutionMachine, ref: TableRef, only_insertable: bool) -> Columns | None:
    if ref.key in machine.scope.known_tables:
        return machine.scope.known_tables[ref.key]
    table = sources.find_user_table(machine, ref)
    if table is not None:
        positions = tables.find_insertable_positions(table) if only_insertable else range(len(table.columns))
        return tuple(
            Column(column.name, _get_declared_type(column))
            for column in map(table.columns.__getitem__, positions)
        )
    try:
        return sources.describe_columns(machine, ref)
    except UnsimulatedFeatureError:
        return None


def _get_declared_type(column: ColumnDefinition) -> SqlType | None:
    """Return the type of a column. The type name "decimal" is not replaced by its synonym "numeric"."""
    kind = sources.parse_column_type(column.type)
    if kind is None or not column.type.lower().startswith("dec"):
        return kind
    return replace(kind, name="decimal")


def _deduce_arguments(
    machine: ExecutionMachine, statement: s.ExecuteProcedureStatement, undeclared: frozenset[str]
) -> list[tuple[DeducedParameter, str]]:
    """Return (deduced type, formal parameter) for the undeclared parameters in a procedure call."""
    arguments: list[tuple[DeducedParameter, str]] = []
    if statement.returns in undeclared:
        arguments.append(
            (DeducedParameter(statement.returns, parse_sql_type("int"), is_read=False, is_written=True), "")
        )
    passed = [
        (index, argument, argument.value.name)
        for index, argument in enumerate(statement.arguments)
        if isinstance(argument.value, s.VariableReference) and argument.value.name in undeclared
    ]
    if not passed:
        return arguments
    parts = tuple(part.strip("[]") for part in statement.procedure.split("."))
    procedure = objects.find_object(machine.context, parts)
    if procedure is None and not parts[-1].lower().startswith(("sp_", "xp_")):
        raise SqlError(2812, statement.procedure)
    if not isinstance(procedure, objects.UserProcedure):
        raise UnsimulatedFeatureError(f"types of the parameters of {statement.procedure}")
    by_name = {item.name: item for item in procedure.parameters}
    for index, argument, name in passed:
        if argument.name and argument.name not in by_name:
            raise SqlError(8145, argument.name, parts[-1])
        if not argument.name and index >= len(procedure.parameters):
            raise SqlError(8144, parts[-1])
        formal = by_name[argument.name] if argument.name else procedure.parameters[index]
        output = argument.output and formal.output
        arguments.append(
            (DeducedParameter(name, parse_sql_type(formal.type, 1), is_written=output), formal.name)
        )
    return arguments


_SHARED_NAMES: Final = """
system_type_id system_type_name max_length precision scale is_xml_document is_case_sensitive is_fixed_length_clr_type
tds_type_id tds_length
"""
_SHARED_COLUMNS: Final = tuple(_SHARED_NAMES.split())
"""Columns in the results of sp_describe_undeclared_parameters and sp_describe_first_result_set."""


def _build_row(
    ordinal: int, name: str, deduction: DeducedParameter, formal_parameter: str
) -> dict[str, Scalar]:
    """Return a row of sp_describe_undeclared_parameters as column -> value."""
    column = first_result.describe_column(ordinal, name, str(deduction.kind))
    return {
        "parameter_ordinal": ordinal,
        "name": name,
        **{f"suggested_{key}": column[key] for key in _SHARED_COLUMNS},
        "suggested_is_input": int(deduction.is_read),
        "suggested_is_output": int(deduction.is_written),
        "formal_parameter_name": formal_parameter or None,
    }
