"""Execution of simulated stored procedures: look-up of the procedure and binding of its arguments."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from typing import Final

from engine.messages import SqlError
from engine.tables import read_table
from engine.tsql import catalog
from engine.tsql.batches import objects, permissions, statement_gate
from engine.tsql.batches.data import DeclaredVariable, parse_parameter_declarations
from engine.tsql.batches.machine import ExecutionMachine
from engine.tsql.catalog.view import SYSTEM_PROCEDURES
from engine.tsql.clients import linked_servers
from engine.tsql.language import statements as s
from engine.tsql.language.lexer import quote_name
from engine.tsql.procedures import (
    accounts,
    alerts,
    application_locks,
    information,
    job_help,
    jobs,
    messages,
    mirroring_monitor,
    object_help,
    odbc,
    queries,
)
from engine.tsql.procedures.call import (
    RETURN_VALUE,
    ProcedureCall,
    ProcedureDefinition,
    Procedures,
    bind_arguments,
    check_ignored_parameters,
    convert_argument,
    define_procedure,
)
from engine.tsql.query.plans import UnsimulatedFeatureError
from engine.tsql.scalars.types import make_variant, parse_type
from engine.tsql.scalars.values import Scalar, to_text


def is_known_procedure(machine: ExecutionMachine, statement: s.ExecuteProcedureStatement) -> bool:
    """Return whether the procedure of EXEC exists.

    Also return True for a procedure that cannot be checked: on another server, or with its name in a
    variable.
    """
    parts = [part.strip("[]") for part in statement.procedure.split(".")]
    name = parts[-1].lower()
    if statement.target or len(parts) == 4 or name == "sp_executesql" or name.startswith("#"):
        return True
    is_shipped = name in PROCEDURES_BY_NAME or name in UNSIMULATED_PROCEDURES
    return is_shipped or _find_user_procedure(machine, tuple(parts))[1] is not None


def _find_user_procedure(
    machine: ExecutionMachine, parts: tuple[str, ...]
) -> tuple[tuple[str, ...], objects.UserProcedure | None]:
    """Return (name, user-defined procedure) for a call; the procedure is None if it does not exist.

    A procedure whose name begins with `sp_` can be in master. It then runs in the database of the
    call.
    """
    names = [parts]
    is_database = len(parts) == 2 or (
        len(parts) == 3 and machine.context.find_database_id(parts[0]) is not None
    )
    if is_database and parts[-1].lower().startswith("sp_") and parts[-2].lower() in ("", "dbo"):
        names.append(("master", "dbo", parts[-1]))
    for name in names:
        called_object = objects.find_object(machine.context, name)
        if isinstance(called_object, objects.UserProcedure):
            return name, called_object
    return parts, None


def execute_procedure(machine: ExecutionMachine, statement: s.ExecuteProcedureStatement) -> None:
    """Execute an EXEC statement.

    Raises 2812 for an unknown procedure; 201, 8144 or 8145 for wrong arguments.
    """
    name = to_text(machine.get_variable_value(statement.target)) if statement.target else statement.procedure
    parts = [part.strip("[]") for part in name.split(".")]
    if len(parts) == 4 and parts[0].lower() != machine.session.server.lower():
        linked_servers.execute_remotely(machine, parts[0], _format_call(machine, parts[1:], statement))
        return
    if len(parts) == 4:
        parts.pop(0)
    plain_part = parts[-1].lower()
    if plain_part == "sp_executesql":
        _execute_text(machine, statement, _get_system_database(parts))
        return
    elif not plain_part:
        raise SqlError(2812, name)
    else:
        procedure_definition = PROCEDURES_BY_NAME.get(plain_part)
        if procedure_definition is None:
            location, called_object = _find_user_procedure(machine, tuple(parts))
            if called_object is not None:
                if machine.checks_permissions:
                    objects.require_permission(machine.context, location, "EXECUTE")
                _run_user_procedure(
                    machine, parts[-1], called_object, statement, parts[-3] if len(parts) > 2 else ""
                )
                return
            raise (
                UnsimulatedFeatureError(f"procedure {name}")
                if plain_part in UNSIMULATED_PROCEDURES
                else SqlError(2812, name)
            )
        database = _get_system_database(parts)
        if SYSTEM_PROCEDURES[plain_part] == "msdb" != (database or machine.session.database).lower():
            raise SqlError(2812, name)
        database = machine.context.open_database(database) if database else machine.session.database
        if (
            procedure_definition.run is _run_for_each_database
        ):  # sp_MSforeachdb: its commands run after this call, so no change of database here
            call = _run_system_procedure(machine, plain_part, procedure_definition, statement, database)
        else:
            with _change_database(machine, database):
                call = _run_system_procedure(machine, plain_part, procedure_definition, statement, database)
        for index, argument in enumerate(statement.arguments):
            parameter = argument.name or procedure_definition.parameters[index]
            if (
                argument.output
                and parameter in call.outputs
                and isinstance(argument.value, s.VariableReference)
            ):
                machine.set_variable(argument.value.name, call.outputs[parameter])
        machine.change_session(error=0)
    if statement.returns:
        machine.set_variable(statement.returns, call.outputs.get(RETURN_VALUE, 0))


@contextmanager
def _change_database(machine: ExecutionMachine, database: str) -> Iterator[None]:
    """Run a system procedure in the database of its qualified name [DOC: system stored procedures]."""
    database_before = machine.session.database
    if database != database_before:
        machine.change_session(database=database)
    try:
        yield
    finally:
        if database != database_before:
            machine.change_session(database=database_before)


def _run_system_procedure(
    machine: ExecutionMachine,
    name: str,
    procedure_definition: ProcedureDefinition,
    statement: s.ExecuteProcedureStatement,
    database: str,
) -> ProcedureCall:
    """Execute a system procedure in *database*, and return the call with its output values."""
    with _set_error_procedure(name):
        arguments = bind_arguments(machine, name, procedure_definition, statement.arguments)
    if machine.returns_only_columns:
        raise UnsimulatedFeatureError(f"SET FMTONLY ON for the procedure {statement.procedure or name}")
    permissions.check_procedure_permission(machine, name, len(arguments))
    call = ProcedureCall(machine, name, database, arguments, procedure_definition.integers)
    statement_gate.check_procedure(machine.context, name, arguments)
    check_ignored_parameters(call)
    try:
        procedure_definition.run(call)
    except SqlError as problem:
        problem.procedure = name
        if statement.returns and not machine.is_in_try:
            machine.set_variable(
                statement.returns, application_locks.ERROR_RETURN_CODES.get(name, ERROR_RETURN_CODE)
            )
        raise
    return call


@contextmanager
def _set_error_procedure(procedure: str) -> Iterator[None]:
    """Add the procedure name and line 0 to an error that occurs in the call.

    The line is 0, because no statement of a procedure body runs.
    """
    try:
        yield
    except SqlError as problem:
        problem.procedure, problem.in_call = procedure, True
        raise


ERROR_RETURN_CODE: Final = 1
"""Return code of a system procedure after an error [DOC: system stored procedures]."""


def _get_system_database(parts: list[str]) -> str:
    """Return the database in a qualified procedure name; "" if a system procedure runs in the current one."""
    return parts[0] if len(parts) > 1 and parts[0].lower() not in ("sys", "dbo", "") else ""


def _format_call(machine: ExecutionMachine, parts: list[str], statement: s.ExecuteProcedureStatement) -> str:
    """Return the EXEC statement as text for a linked server. Variables are replaced by their values."""
    argument_texts = []
    for argument in statement.arguments:
        value = machine.resolve_value(argument.value)
        text = (
            "NULL"
            if value is None
            else str(value)
            if isinstance(value, int | float)
            else _format_literal(value)
        )
        argument_texts.append(f"{argument.name} = {text}" if argument.name else text)
    name = ".".join(quote_name(part) if part else "" for part in parts)
    return f"EXEC {name} {', '.join(argument_texts)}"


def _format_literal(value: Scalar) -> str:
    text = to_text(value)
    return text if isinstance(value, bytes) else "N'" + text.replace("'", "''") + "'"


def _run_user_procedure(
    machine: ExecutionMachine,
    name: str,
    procedure: objects.UserProcedure,
    statement: s.ExecuteProcedureStatement,
    database: str,
) -> None:
    """Execute a user-defined procedure. *database*: the database that contains it."""
    with _set_error_procedure(name):
        variables, outputs = _bind_parameters(machine, name, procedure, statement)
    machine.enter_frame(
        procedure.body,
        variables,
        outputs,
        returns=statement.returns,
        database=database,
        procedure=name,
    )


def _bind_parameters(
    machine: ExecutionMachine,
    name: str,
    procedure: objects.UserProcedure,
    statement: s.ExecuteProcedureStatement,
) -> tuple[dict[str, DeclaredVariable], tuple[tuple[str, str], ...]]:
    """Return the parameters of a user-defined procedure with their values, and the output parameters.

    Each output parameter is a pair: parameter, variable that receives the value.
    """
    parameter_names = tuple(item.name for item in procedure.parameters)
    required = tuple(item.name for item in procedure.parameters if not item.default)
    argument_values = bind_arguments(
        machine, name, ProcedureDefinition(_run_placeholder, required, parameter_names), statement.arguments
    )
    arguments_by_name = {
        argument.name or parameter_names[index]: argument
        for index, argument in enumerate(statement.arguments)
    }
    variables: dict[str, DeclaredVariable] = {}
    outputs: list[tuple[str, str]] = []
    for item in procedure.parameters:
        value = (
            argument_values[item.name]
            if item.name in argument_values
            else machine.evaluate_expression(item.default)
        )
        argument = arguments_by_name.get(item.name)
        kind = _get_parameter_type(machine, argument, item.type)
        variables[item.name] = DeclaredVariable(kind, convert_argument(machine, argument, value, kind))
        if argument is not None and argument.output and not item.output:
            raise SqlError(8162, item.name)
        if argument is not None and argument.output and isinstance(argument.value, s.VariableReference):
            outputs.append((item.name, argument.value.name))
    return variables, tuple(outputs)


def _get_parameter_type(
    machine: ExecutionMachine, argument: s.ProcedureArgument | None, declared: str
) -> str:
    """Return the type of a parameter.

    A sql_variant parameter gets the type of the variable that the call passes.
    """
    if (
        argument is None
        or declared.lower() != "sql_variant"
        or not isinstance(argument.value, s.VariableReference)
    ):
        return declared
    return str(make_variant(machine.get_variable_type(argument.value.name)))


def _run_placeholder(call: ProcedureCall) -> None:
    """Do nothing.

    This placeholder stands for a user-defined procedure, whose body contains the statements.
    """


# --- dynamic SQL -----------------------------------------------------------------------------------------


def _execute_text(machine: ExecutionMachine, statement: s.ExecuteProcedureStatement, database: str) -> None:
    """Execute sp_executesql in *database*. Its arguments are a statement, parameter definitions and values."""
    arguments_by_name = {argument.name: argument for argument in statement.arguments if argument.name}
    positional = [argument for argument in statement.arguments if not argument.name]
    text = arguments_by_name.pop("@stmt", None) or arguments_by_name.pop("@statement", None)
    if text is None:
        if not positional:
            raise SqlError(201, "sp_executesql", "@statement")
        text = positional.pop(0)
    _check_unicode_argument(machine, text, "@statement")
    declared = arguments_by_name.pop("@params", None) or arguments_by_name.pop("@parameters", None)
    if declared is None and positional:
        declared = positional.pop(0)
    if declared is not None:
        _check_unicode_argument(machine, declared, "@params")
    variables: dict[str, DeclaredVariable] = {}
    outputs: list[tuple[str, str]] = []
    source = to_text(machine.resolve_value(declared.value)) if declared is not None else ""
    query = to_text(machine.resolve_value(text.value))
    parameters = parse_parameter_declarations(source)
    unknown = next(
        (name for name in arguments_by_name if name not in {parameter[0] for parameter in parameters}), None
    )
    if unknown is not None:
        raise SqlError(8145, unknown, "")
    if len(positional) > len(parameters):
        raise SqlError(8144, "")
    for index, (name, kind, output, default) in enumerate(parameters):
        argument = arguments_by_name.get(name) or (positional[index] if index < len(positional) else None)
        if argument is None and not default:
            raise SqlError(8178, f"({source}){query}", name)
        if argument is not None and argument.output and not output:
            raise SqlError(8162, name)
        parse_type(kind)
        value = (
            machine.evaluate_expression(default)
            if argument is None
            else machine.resolve_value(argument.value)
        )
        kind = _get_parameter_type(machine, argument, kind)
        variables[name] = DeclaredVariable(
            kind, value if output else convert_argument(machine, argument, value, kind)
        )
        if (
            argument is not None
            and output
            and argument.output
            and isinstance(argument.value, s.VariableReference)
        ):
            outputs.append((name, argument.value.name))
    machine.enter_frame(
        query,
        variables,
        tuple(outputs),
        returns=statement.returns,
        database=database,
        levels=2,
    )


def _check_unicode_argument(machine: ExecutionMachine, argument: s.ProcedureArgument, parameter: str) -> None:
    """Raise 214 for a string or variable that is not Unicode."""
    variable = (
        machine.scope.variables.get(argument.value.name)
        if isinstance(argument.value, s.VariableReference)
        else None
    )
    if argument.narrow or (variable is not None and variable.type.lower().startswith(("varchar", "char"))):
        raise SqlError(214, parameter, "ntext/nchar/nvarchar")


def _run_for_each_database(call: ProcedureCall) -> None:
    """Execute sp_MSforeachdb: run the command for each open database. The database name replaces each `?`."""
    mark = call.get_text("@replacechar") or "?"
    names = [to_text(row["name"]) for row in catalog.list_view_rows(call.machine.context, "sys.databases")]
    for name in reversed(names):
        try:
            call.machine.context.open_database(name)
        except SqlError:
            continue
        call.machine.enter_frame(call.get_text("@command1").replace(mark, name), database=call.database)


_PROCEDURE_FUNCTIONS: Final[Procedures] = {
    "sp_msforeachdb": _run_for_each_database,
    **accounts.PROCEDURES,
    **alerts.PROCEDURES,
    **application_locks.PROCEDURES,
    **object_help.PROCEDURES,
    **odbc.PROCEDURES,
    **information.PROCEDURES,
    **object_help.PROCEDURES,
    **jobs.PROCEDURES,
    **job_help.PROCEDURES,
    **messages.PROCEDURES,
    **mirroring_monitor.PROCEDURES,
    **queries.PROCEDURES,
}

PROCEDURES_BY_NAME: Final = {
    row["name"]: define_procedure(_PROCEDURE_FUNCTIONS[row["name"]], row["parameters"])
    for row in read_table("engine.tsql.procedures", "procedures.tsv")
}
"""System procedures by lowercase name."""

_UNSIMULATED_TEXT: Final = (
    resources.files("engine.tsql.procedures").joinpath("not_simulated.txt").read_text(encoding="utf-8")
)
UNSIMULATED_PROCEDURES: Final = frozenset(_UNSIMULATED_TEXT.split())
"""System procedures of the product that are refused as "Not simulated".

Documented [DOC: system stored procedures].
"""
SYSTEM_PROCEDURES.update(dict.fromkeys((*UNSIMULATED_PROCEDURES, *PROCEDURES_BY_NAME, "sp_executesql"), ""))
SYSTEM_PROCEDURES.update(dict.fromkeys((*jobs.PROCEDURES, *job_help.PROCEDURES, *alerts.PROCEDURES), "msdb"))
