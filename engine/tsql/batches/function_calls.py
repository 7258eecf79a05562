"""Calls of scalar functions whose bodies run statement by statement, once per call.

An error in a body ends it and cancels the calling statement [DOC: Create user-defined functions, guidelines].
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from engine.messages import SqlError
from engine.tsql.batches import first_result, locks, objects
from engine.tsql.batches.data import DESCRIPTION, Declared, Submission
from engine.tsql.batches.scope import Scope
from engine.tsql.language import program
from engine.tsql.language import statements as s
from engine.tsql.language.instructions import BranchIfFalse, Jump, RunStatement
from engine.tsql.query.plans import UnsimulatedFeatureError
from engine.tsql.scalars.types import check_conversion, type_of
from engine.tsql.scalars.values import Scalar, convert, to_text

if TYPE_CHECKING:
    from engine.tsql.batches.machine import Machine

CALL: Final = "scalar_function_value"
"""Internal function in an expanded text: the function's name (see `format_call`), then its arguments."""

MARK: Final = "\x01"
"""Prefix and separator of the name in such a call, which users' texts cannot contain."""

INSTRUCTION_WORK: Final = 10
"""Work of one instruction, as outside a function."""


def format_call(machine: Machine, parts: Sequence[str], arguments: Sequence[str]) -> str:
    """Return the call of the function *parts* for these arguments, as text."""
    database = parts[0] if len(parts) > 2 else machine.session.database
    name = MARK + MARK.join((database, parts[-2], parts[-1]))
    literal = "N'" + name.replace("'", "''") + "'"
    return f"{CALL}({', '.join((literal, *arguments))})"


def call(machine: Machine, name: Scalar, values: Sequence[Scalar]) -> Scalar:
    """Return the value of the function for *values*. Raises what its body raises, or 217."""
    written = to_text(name)
    if not written.startswith(MARK):
        raise SqlError(195, CALL, "built-in function name")
    database, *parts = written[1:].split(MARK)
    made = objects.find(machine.context, (database, *parts))
    if not isinstance(made, objects.UserFunction) or not made.returns:
        raise SqlError(4121, parts[0], ".".join(parts))
    inner = machine.create_sibling(
        Submission(id=0, text="", steps=()),
        replace(machine.session, database=database, cursors=()),
        machine.meter,
    )
    inner.context.writes = dict(machine.context.writes)
    body = made.body or f"RETURN {made.returned}"
    code = program.compile_batch(body, machine.context.version, frozenset(p.name for p in made.parameters))
    variables = {
        parameter.name: Declared(parameter.type, value)
        for parameter, value in zip(made.parameters, values, strict=True)
    }
    scope = Scope(
        body, machine.context.version, read=None, code=code, procedure=parts[-1], variables=variables
    )
    scope.declare_all()
    inner.scopes = [scope]
    machine.meter.enter()
    try:
        return _run(inner, scope, made.returns)
    finally:
        machine.meter.leave()
        inner.release()


def _run(machine: Machine, scope: Scope, returns: str) -> Scalar:
    while scope.position < len(scope.code):
        instruction = scope.code[scope.position]
        scope.position += 1
        scope.line = instruction.line
        machine.meter.charge(INSTRUCTION_WORK)
        action = instruction.action
        if isinstance(action, Jump):
            scope.position = action.target
        elif isinstance(action, BranchIfFalse):
            if not machine.evaluate_condition(action.condition):
                scope.position = action.target
        elif isinstance(action, RunStatement) and isinstance(action.statement, s.Return):
            value, kind = machine.evaluate_with_type(action.statement.expression)
            if kind is not None:
                check_conversion(kind, type_of(returns, 1), explicit=False)
            return convert(value, returns, default_length=1, source=kind, culture=machine.settings.culture)
        elif isinstance(action, RunStatement):
            machine.perform(action.statement)
    raise UnsimulatedFeatureError("a function that ends without RETURN")


def call_from_sqlite(machine: Machine, arguments: Sequence[Scalar]) -> Scalar:
    """Run `call` for SQLite, which loses unknown exceptions: a wait for a lock is stored in the machine."""
    try:
        if arguments[0] == DESCRIPTION:
            return first_result.describe_packed(machine, *arguments[1:])
        return call(machine, arguments[0], arguments[1:])
    except locks.LockConflictError as found:
        machine.blocked = found
        raise UnsimulatedFeatureError("a wait inside a function") from None
