"""WITH SCHEMABINDING: what a bound view or function may name, and what it protects from DROP and ALTER.

[DOC: CREATE VIEW; CREATE FUNCTION]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from engine.messages import SqlError
from engine.tsql.batches import objects
from engine.tsql.batches.context import Context
from engine.tsql.language.lexer import Token, name_of, tokens_of


def check_definition(context: Context, kind: str, name: str, definition: str) -> None:
    """Raise 1054 for `*`, 4512 for a name without a schema, 4513 for a module that is not bound itself.

    *kind* is "view" or "function". A definition without SCHEMABINDING is not checked.
    """
    tokens = tokens_of(definition)
    if not _is_bound(tokens):
        return
    for before, token in pairwise(tokens):
        if token.is_op("*") and (before.upper in ("SELECT", "DISTINCT") or before.is_op(",", ".")):
            raise SqlError(1054, "*")
    for parts in _sources(tokens):
        if len(parts) != 2:
            raise SqlError(4512, kind, name, ".".join(parts))
        found = objects.find(context, parts)
        if isinstance(found, objects.UserView | objects.UserFunction) and not _is_bound(
            tokens_of(found.definition)
        ):
            raise SqlError(4513, kind, name, ".".join(parts))


def check_drop(context: Context, verb: str, parts: tuple[str, ...]) -> None:
    """Raise 3729 if a bound module names the object; *verb* is `DROP TABLE` or ALTER."""
    for module, _ in _find_bound(context, parts):
        raise SqlError(3729, verb, ".".join(parts), module)


def is_bound(context: Context, parts: tuple[str, ...], column: str = "") -> bool:
    """Return whether a bound module names the object, or its *column*."""
    return any(not column or _has_name(tokens, column) for _, tokens in _find_bound(context, parts))


def _has_name(tokens: Sequence[Token], name: str) -> bool:
    names = (name_of(token).lower() for token in tokens if token.kind in ("word", "quoted"))
    return name.lower() in names


def check_column(context: Context, action: str, parts: tuple[str, ...], column: str) -> None:
    """Raise 5074 and 4922 if a bound module names the column; *action* is ALTER COLUMN or DROP COLUMN."""
    for module, tokens in _find_bound(context, parts):
        if _has_name(tokens, column):
            error = SqlError(5074, "object", module, "column", column, also=(4922,))
            error.title = f"ALTER TABLE {action}"
            raise error


def _find_bound(context: Context, parts: tuple[str, ...]) -> Iterator[tuple[str, Sequence[Token]]]:
    """Yield the bound modules that name the object, with their tokens."""
    wanted = ((len(parts) > 1 and parts[-2].lower()) or "dbo", parts[-1].lower())
    for kept, item in objects.list_objects(context):
        if not isinstance(item, objects.UserView | objects.UserFunction) or kept.name.lower() == wanted[1]:
            continue
        tokens = tokens_of(item.definition)
        if not _is_bound(tokens):
            continue
        names = [name_of(token).lower() for token in tokens]
        if any(
            (names[at], names[at + 2]) == wanted and tokens[at + 1].is_op(".") for at in range(len(names) - 2)
        ):
            yield kept.name, tokens


def _is_bound(tokens: Sequence[Token]) -> bool:
    return any(token.upper == "SCHEMABINDING" for token in tokens)


def _sources(tokens: Sequence[Token]) -> Iterator[tuple[str, ...]]:
    """Yield the names behind FROM and JOIN, without variables and the expressions of WITH."""
    own = {
        name_of(name).lower()
        for name, word, bracket in zip(tokens, tokens[1:], tokens[2:], strict=False)
        if word.upper == "AS" and bracket.is_op("(")
    }
    for place, token in enumerate(tokens):
        if token.upper not in ("FROM", "JOIN"):
            continue
        at, parts = place + 1, []
        while at < len(tokens) and tokens[at].kind in ("word", "quoted"):
            parts.append(name_of(tokens[at]))
            if at + 1 >= len(tokens) or not tokens[at + 1].is_op("."):
                break
            at += 2
        if parts and not (len(parts) == 1 and parts[0].lower() in own):
            yield tuple(parts)
