"""Stored procedures that the simulated instances have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from engine.messages import SqlError
from engine.tsql import statements as s
from engine.tsql.data import Declared
from engine.tsql.machine import Machine
from engine.tsql.translate import Unsimulated
from engine.tsql.values import Scalar, parse_type, to_text

Arguments = dict[str, Scalar]


def execute(machine: Machine, statement: s.Execute) -> None:
    """EXEC procedure. Raises 2812 for one that does not exist, 201, 8144, 8145 for wrong arguments."""
    name = to_text(machine.value_of(statement.target)) if statement.target else statement.procedure
    plain = name.split(".")[-1].strip("[]").lower()
    if plain == "sp_executesql":
        _executesql(machine, statement)
        return
    procedure = PROCEDURES.get(plain)
    if procedure is None:
        if plain in UNSIMULATED or plain.startswith(
            ("sp_add", "sp_msx", "xp_", "sp_help", "sp_delete", "sp_update")
        ):
            raise Unsimulated(f"procedure {name}")
        raise SqlError(2812, name)
    function, parameters = procedure
    function(machine, _bound(machine, plain, parameters, statement.arguments))
    if statement.returns:
        machine.set_variable(statement.returns, 0)


def _bound(
    machine: Machine, name: str, parameters: tuple[str, ...], given: tuple[s.Argument, ...]
) -> Arguments:
    bound: Arguments = {}
    for place, argument in enumerate(given):
        if argument.name:
            if argument.name not in parameters:
                raise SqlError(8145, argument.name, name)
            key = argument.name
        elif place >= len(parameters):
            raise SqlError(8144, name)
        else:
            key = parameters[place]
        bound[key] = machine.value(argument.value)
    return bound


def _executesql(machine: Machine, statement: s.Execute) -> None:
    """sp_executesql text, N'@a int, @b nvarchar(10) OUTPUT', values."""
    arguments = list(statement.arguments)
    named = {argument.name: argument for argument in arguments if argument.name}
    text = named.pop("@stmt", None) or named.pop("@statement", None) or (arguments and arguments[0])
    if not text:
        raise SqlError(201, "sp_executesql", "@statement")
    positional = [argument for argument in arguments if not argument.name and argument is not text]
    declared = named.pop("@params", None) or named.pop("@parameters", None)
    if declared is None and positional:
        declared = positional.pop(0)
    variables: dict[str, Declared] = {}
    outputs: list[tuple[str, str]] = []
    source = to_text(machine.value(declared.value)) if declared is not None else ""
    for place, (name, kind, output) in enumerate(_parameters(source)):
        argument = named.get(name) or (positional[place] if place < len(positional) else None)
        if argument is None:
            raise SqlError(8178, name)
        parse_type(kind)
        variables[name] = Declared(kind, machine.value(argument.value))
        if output and isinstance(argument.value, s.Variable):
            outputs.append((name, argument.value.name))
    machine.enter(to_text(machine.value(text.value)), variables, tuple(outputs))
    if statement.returns:
        outputs.append(("", statement.returns))


def _parameters(text: str) -> list[tuple[str, str, bool]]:
    """(name, type, output) of each parameter in the declaration of sp_executesql."""
    found = []
    for part in _split(text):
        words = part.split(None, 1)
        if len(words) != 2 or not words[0].startswith("@"):
            raise SqlError(102, part.strip() or "@")
        kind = words[1].strip()
        output = kind.lower().split()[-1] in ("output", "out")
        kind = kind.rsplit(None, 1)[0] if output else kind
        found.append((words[0].lower(), kind.lower().removeprefix("as ").split("=")[0].strip(), output))
    return found


def _split(text: str) -> list[str]:
    parts, level = [""], 0
    for char in text:
        level += (char == "(") - (char == ")")
        if char == "," and not level:
            parts.append("")
        else:
            parts[-1] += char
    return [part for part in parts if part.strip()]


def _foreach_database(machine: Machine, arguments: Arguments) -> None:
    """sp_MSforeachdb: the command once for each database, `?` being its name."""
    text = to_text(arguments.get("@command1"))
    mark = to_text(arguments.get("@replacechar")) or "?"
    from engine.tsql.catalog import rows_of

    names = [str(row["name"]) for row in rows_of(machine.context, "sys.databases") if row["state"] == 0]
    for name in reversed(names):
        try:
            machine.context.open_database(name)
        except SqlError:
            continue
        machine.enter(text.replace(mark, name))


UNSIMULATED: Final = frozenset({"sp_start_job", "sp_stop_job", "sp_configure"})
"""Procedures that exist in the product and do nothing here."""

PROCEDURES: Final[dict[str, tuple[Callable[[Machine, Arguments], None], tuple[str, ...]]]] = {
    "sp_msforeachdb": (_foreach_database, ("@command1", "@replacechar", "@command2", "@command3")),
}
"""Name -> (what it does, its parameters in order)."""
