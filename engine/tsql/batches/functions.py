"""User-defined functions: a call is replaced by the function's expression or query, as a view by its query.

This covers inline functions of either kind [DOC: CREATE FUNCTION; scalar UDF inlining]. A scalar function with more
statements, or one in another database, runs when the query calls it (function_calls.py).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from engine.messages import SqlError
from engine.tsql.batches import objects
from engine.tsql.language.lexer import Token, name_of, tokens_of
from engine.tsql.language.reserved_words import KEYWORDS
from engine.tsql.query.plans import UnsimulatedFeatureError

if TYPE_CHECKING:
    from engine.tsql.batches.machine import Machine
from typing import TYPE_CHECKING

from msgspec.structs import replace

from engine.tsql.batches import first_result, locks
from engine.tsql.batches.data import DESCRIPTION, Declared, Submission
from engine.tsql.batches.scope import Scope
from engine.tsql.language import program
from engine.tsql.language import statements as s
from engine.tsql.language.instructions import BranchIfFalse, Jump, RunStatement
from engine.tsql.scalars.types import check_conversion, type_of
from engine.tsql.scalars.values import Scalar, convert, to_text

if TYPE_CHECKING:
    from engine.tsql.batches.machine import Machine


NESTING_MAX: Final = 32
"""Maximum nesting of functions. Documented [DOC: CREATE FUNCTION]."""

_MAY_CALL: Final = re.compile(
    r"""(?:\.|,|\b(?:from|join|apply)\b)\s*(?:[^\W\d][\w@#$]*|\[[^\]]{1,128}\]|"[^"]{1,128}")\s*\(""",
    re.IGNORECASE,
)
"""Pattern that every text with a call contains."""

_SOURCES: Final = frozenset({"FROM", "JOIN", "APPLY"})


def expand_calls(machine: Machine, text: str) -> str:
    """Return the text of a query or value with its function calls replaced.

    Raises 217, 313, 8144 or UnsimulatedFeatureError.
    """
    for _ in range(NESTING_MAX):
        if _MAY_CALL.search(text) is None:
            return text
        found = _expand_last_call(machine, text, tokens_of(text))
        if found is None:
            return text
        text = found
    raise SqlError(217, NESTING_MAX)


def _expand_last_call(machine: Machine, text: str, tokens: Sequence[Token]) -> str | None:
    """Return the text with its last call replaced, so that calls in arguments come first; None without a call."""
    for place in range(len(tokens) - 2, -1, -1):
        if tokens[place].kind not in ("word", "quoted") or not tokens[place + 1].is_op("("):
            continue
        dotted = place > 1 and tokens[place - 1].is_op(".")
        first = place - 2 if dotted else place
        if dotted and _names_database(machine, tokens, first):
            first -= 2
        before = tokens[first - 1] if first else None
        is_source = before is not None and (before.upper in _SOURCES or before.is_op(","))
        if not (dotted or is_source):
            continue
        parts = tuple(name_of(token) for token in tokens[first : place + 1 : 2])
        made = objects.find(machine.context, parts)
        if not isinstance(made, objects.UserFunction) or (not made.returns and not is_source):
            continue
        if (made.returns and not dotted) or (not made.returns and len(parts) > 2):
            continue
        end, arguments = _arguments(text, tokens, place + 1)
        put = _expand_call(machine, parts, made, arguments)
        if not made.returns and not _is_alias(tokens[end]):
            put += f" AS [{parts[-1].replace(']', ']]')}]"
        return text[: tokens[first].start] + put + text[tokens[end - 1].end :]
    return None


def _names_database(machine: Machine, tokens: Sequence[Token], schema: int) -> bool:
    """Return whether the name whose schema is token number *schema* begins with a database of this server."""
    if schema < 2 or not tokens[schema - 1].is_op(".") or tokens[schema - 2].kind not in ("word", "quoted"):
        return False
    return machine.context.database_id(name_of(tokens[schema - 2])) is not None


def _is_alias(token: Token) -> bool:
    """Return whether an alias follows."""
    return token.upper == "AS" or (token.kind in ("word", "quoted") and token.upper not in KEYWORDS)


def _arguments(text: str, tokens: Sequence[Token], opening: int) -> tuple[int, list[list[Token]]]:
    """Return the number of the token after the closing bracket, and the tokens of each argument."""
    level, arguments = 0, list[list[Token]]()
    for place in range(opening, len(tokens)):
        token = tokens[place]
        level += token.is_op("(") - token.is_op(")")
        if not level:
            return place + 1, [one for one in arguments if one]
        if (token.is_op("(") or token.is_op(",")) and level == 1:
            arguments.append([])
        else:
            arguments[-1].append(token)
    raise SqlError(102, "(")


def _expand_call(
    machine: Machine, parts: Sequence[str], function: objects.UserFunction, arguments: list[list[Token]]
) -> str:
    """Return the result of the function for these arguments, in brackets."""
    name = objects.format_qualified_name(tuple(parts))
    if len(arguments) < len(function.parameters):
        raise SqlError(313, name)
    if len(arguments) > len(function.parameters):
        raise SqlError(8144, name)
    elsewhere = len(parts) > 2 and parts[0].lower() != machine.session.database.lower()
    runs = bool(function.body) or elsewhere
    body = () if runs else tokens_of(function.returned)[:-1]
    values: dict[str, str] = {}
    for parameter, argument in zip(function.parameters, arguments, strict=True):
        default = len(argument) == 1 and argument[0].upper == "DEFAULT"
        given = parameter.default or "NULL" if default else _join_tokens(argument)
        _check_apart(argument, body)
        values[parameter.name] = f"(CAST(({given}) AS {parameter.type}))"
    shown = format_call(machine, parts, tuple(values.values())) if runs else _join_tokens(body, values)
    return f"(CAST(({shown}) AS {function.returns}))" if function.returns else f"({shown})"


def _check_apart(argument: list[Token], body: Sequence[Token]) -> None:
    """Check that a column as an argument cannot be taken for one of the inner query.

    Raises UnsimulatedFeatureError if it could.
    """
    names = [
        token
        for token in argument
        if token.kind == "quoted" or (token.kind == "word" and token.upper not in KEYWORDS)
    ]
    if not names or not any(token.upper == "FROM" for token in body):
        return
    inside = {name_of(token).lower() for token in body if token.kind in ("word", "quoted")}
    if len(argument) != 3 or not argument[1].is_op(".") or name_of(argument[0]).lower() in inside:
        raise UnsimulatedFeatureError("such columns as arguments of a function that reads tables")


def _join_tokens(tokens: Sequence[Token], values: dict[str, str] | None = None) -> str:
    """Return the tokens as a text on one line, so that lines of messages stay; parameters are replaced by *values*."""
    out, end = "", tokens[0].start if tokens else 0
    for token in tokens:
        out += " " * (token.start > end)
        out += (values or {}).get(token.text.lower(), token.text) if token.kind == "variable" else token.text
        end = token.end
    return out


# --- calls of scalar functions whose bodies run statement by statement, once per call ---------------------
# An error in a body ends it and cancels the calling statement [DOC: Create user-defined functions,
# guidelines].

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
    """Return the value of the function for *values*. Raises the errors of its body, or 217."""
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
