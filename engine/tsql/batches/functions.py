"""User-defined functions: a call is replaced by the function's expression or query, as a view by its query.

This covers inline functions of either kind [DOC: CREATE FUNCTION; scalar UDF inlining]. A scalar function with more
statements, or one in another database, runs when the query calls it (function_calls.py).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from engine.messages import SqlError
from engine.tsql.batches import function_calls, objects
from engine.tsql.language.lexer import Token, name_of, tokens_of
from engine.tsql.language.reserved_words import KEYWORDS
from engine.tsql.query.plans import UnsimulatedFeatureError

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
    """Return the text of a query or value with what stands for its calls. Raises 217, 313, 8144 or Unsimulated."""
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
    """Return number of the token behind the brackets, and the tokens of each argument."""
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
    shown = (
        function_calls.format_call(machine, parts, tuple(values.values()))
        if runs
        else _join_tokens(body, values)
    )
    return f"(CAST(({shown}) AS {function.returns}))" if function.returns else f"({shown})"


def _check_apart(argument: list[Token], body: Sequence[Token]) -> None:
    """Check that a column as an argument cannot be taken for one of the inner query.

    Raises Unsimulated if it could.
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
