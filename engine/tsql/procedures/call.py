"""Call of a stored procedure, and definitions of system procedures."""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Final, NamedTuple

from msgspec import Struct, field

from engine.messages import Message, SqlError
from engine.model import World
from engine.tables import read_table
from engine.tsql.batches.data import Row
from engine.tsql.batches.machine import RUN_TIME_ERRORS, ExecutionMachine
from engine.tsql.language import statements as s
from engine.tsql.query.plans import UnsimulatedFeatureError
from engine.tsql.scalars.types import parse_type
from engine.tsql.scalars.values import Scalar, convert_value, to_number, to_text


class ProcedureCall(Struct, frozen=True):
    """Call of a procedure, with its arguments by parameter name."""

    machine: ExecutionMachine
    name: str
    database: str
    """Database in the qualified name of the procedure; otherwise, the current database."""
    arguments: dict[str, Scalar]
    integers: frozenset[str] = frozenset()
    """Names of the parameters of an integer type."""
    outputs: dict[str, Scalar] = field(default_factory=dict)
    """Values of the OUTPUT parameters by name."""

    @property
    def world(self) -> World:
        """Return the world in which the procedure runs."""
        return self.machine.world

    @property
    def server(self) -> str:
        """Return the server on which the procedure runs."""
        return self.machine.session.server

    def get_argument(self, parameter: str) -> Scalar:
        """Return the value of a parameter; None (NULL) if it is omitted."""
        return self.arguments.get(parameter)

    def get_text(self, parameter: str) -> str:
        """Return the value of a parameter as text; "" for NULL."""
        return to_text(self.arguments.get(parameter))

    def get_number(self, parameter: str, default: int = 0) -> int:
        """Return the value of a parameter as an integer; *default* for NULL."""
        value = self.arguments.get(parameter)
        return default if value is None else int(to_number(value))

    def show_rows(self, columns: Iterable[str], rows: Iterable[Row]) -> None:
        """Append a result set and its row count to the output."""
        fixed = list(rows)
        self.machine.add_result(columns, fixed)
        if not self.machine.insert_exec_target:  # INSERT … EXEC itself reports the number of inserted rows
            self.machine.append_row_count(len(fixed))

    def append_messages(self, messages: Iterable[Message]) -> None:
        """Append messages to the output."""
        self.machine.append_messages(messages)


RETURN_VALUE: Final = "RETURN_VALUE"
"""Key of the return code in `ProcedureCall.outputs`. Without this key, the return code is 0."""


class ProcedureDefinition(Struct, frozen=True):
    """Parameters and function of a system procedure."""

    run: Callable[[ProcedureCall], None]
    required: tuple[str, ...]
    parameters: tuple[str, ...]
    """Names of all parameters, in order."""
    integers: frozenset[str] = frozenset()
    """Names of the parameters of the types int, smallint, tinyint and bit."""


def define_procedure(run: Callable[[ProcedureCall], None], parameters: str = "") -> ProcedureDefinition:
    """Define a system procedure.

    *run*: function that executes it. *parameters*: its parameters in order, such as `@a @b:int?`; `?` means
    optional.
    """
    words = parameters.split()
    names = [word.rstrip("?").removesuffix(":int") for word in words]
    return ProcedureDefinition(
        run,
        tuple(name for name, word in zip(names, words, strict=True) if not word.endswith("?")),
        tuple(names),
        frozenset(name for name, word in zip(names, words, strict=True) if ":int" in word),
    )


def bind_arguments(
    machine: ExecutionMachine,
    name: str,
    procedure: ProcedureDefinition,
    given_arguments: tuple[s.ProcedureArgument, ...],
) -> dict[str, Scalar]:
    """Return parameter name -> value for the arguments of a call.

    Raises 119, 201, 8114 or 8143 to 8146 for wrong arguments.
    """
    arguments: dict[str, Scalar] = {}
    used_names: set[str] = set()
    for index, argument in enumerate(given_arguments):
        if not procedure.parameters:
            raise SqlError(8146, name)
        if not argument.name and any(before.name for before in given_arguments[:index]):
            raise SqlError(119, index + 1)
        if argument.name:
            key = argument.name
            if key not in procedure.parameters:
                raise SqlError(8145, key, name)
        elif index >= len(procedure.parameters):
            raise SqlError(8144, name)
        else:
            key = procedure.parameters[index]
        if key in used_names:
            raise SqlError(8143, key)
        used_names.add(key)
        if argument.default:
            continue
        value = machine.resolve_value(argument.value)
        arguments[key] = (
            convert_argument(machine, argument, value, "int") if key in procedure.integers else value
        )
    for key in procedure.required:
        if key not in arguments:
            raise SqlError(201, name, key)
    return arguments


def convert_argument(
    machine: ExecutionMachine, argument: s.ProcedureArgument | None, value: Scalar, kind: str
) -> Scalar:
    """Convert *value* to the parameter type *kind*. Raises 8114 if the conversion fails."""
    try:
        return convert_value(value, kind, default_length=1)
    except SqlError as problem:
        if problem.number not in RUN_TIME_ERRORS:
            raise
        raise SqlError(8114, _get_argument_type(machine, argument, value), parse_type(kind)[0]) from None


def _get_argument_type(machine: ExecutionMachine, argument: s.ProcedureArgument | None, value: Scalar) -> str:
    """Return the name of an argument's type: the type of its variable, or of its constant."""
    if argument is not None and isinstance(argument.value, s.VariableReference):
        return parse_type(str(machine.get_variable_type(argument.value.name)))[0]
    if isinstance(value, str):
        return "varchar" if argument is None or argument.narrow else "nvarchar"
    if isinstance(value, bytes):
        return "varbinary"
    return "int" if isinstance(value, int) and -(2**31) <= value < 2**31 else "numeric"


class IgnoredParameter(NamedTuple):
    """Parameter that a procedure accepts and ignores (parameter_effects.tsv)."""

    values: tuple[str, ...]
    """Values that have no effect in SQL Server either.

    "*" means any value, LOCAL this server, =@x the value of parameter @x, =database the current database.
    """
    reason: str


@cache
def read_ignored_parameters() -> dict[tuple[str, str], IgnoredParameter]:
    """Return the ignored parameters by (procedure, parameter)."""
    unread = {}
    for row in read_table("engine.tsql.procedures", "parameter_effects.tsv"):
        rule = IgnoredParameter(tuple(row["values"].split("|")), row["reason"])
        for name in row["procedures"].split():
            unread.update({(name, parameter): rule for parameter in row["parameters"].split()})
    return unread


def check_ignored_parameters(call: ProcedureCall) -> None:
    """Raise UnsimulatedFeatureError for a value of an ignored parameter that has an effect in SQL Server."""
    for parameter, value in call.arguments.items():
        rule = read_ignored_parameters().get((call.name, parameter))
        if rule is None or value is None or "*" in rule.values:
            continue
        text = to_text(value).casefold()
        allowed = {_expand_value(call, form).casefold() for form in rule.values}
        if text not in allowed | {"(local)" if "LOCAL" in rule.values else ""}:
            raise UnsimulatedFeatureError(f"{call.name} {parameter} = {to_text(value)}: {rule.reason}")


def _expand_value(call: ProcedureCall, form: str) -> str:
    if form == "LOCAL":
        return call.server
    if form == "=database":
        return call.database
    return call.get_text(form[1:]) if form.startswith("=@") else form


Procedures = dict[str, Callable[[ProcedureCall], None]]
"""Functions that execute procedures, by procedure name. Their parameters are in procedures.tsv."""
