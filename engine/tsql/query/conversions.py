"""Common parts of the rules in infer.py: their interface to the binder, and explicit conversions in the tree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Protocol

from sqlglot import exp

from engine.messages import SqlError
from engine.tsql.query.names import BindingContext, Columns, Space
from engine.tsql.scalars.types import NULL, SqlType, check_conversion, common

Kind = SqlType | None


class Binder(Protocol):
    """Interface of the binder (bind.py) for the rules."""

    names: BindingContext
    space: Space | None
    variables: dict[str, Kind]
    problems: list[SqlError]

    @staticmethod
    def part(identifier: object) -> str:
        """Return the name of an identifier."""

    def expr(self, node: exp.Expr) -> Kind:
        """Bind an expression; return its type."""

    def parts(self, node: exp.Expr) -> Kind:
        """Bind the parts of a node; return their common type."""

    def fit(self, node: exp.Expr, kind: Kind, source: Kind = None) -> None:
        """Convert a node to *kind*."""

    def inner_query(self, node: object) -> Columns | None:
        """Bind a subquery; return its columns."""

    def at_most_one_row(self, node: exp.Expr) -> None:
        """Mark a subquery as a value: 512 for more than one row."""

    def convert_column(self, query: exp.Expr, source: SqlType, target: Kind) -> None:
        """Convert the only column of a query."""


Rule = Callable[[Binder, exp.Expr], Kind]


MADE: Final = "made"
"""Metadata key of an inserted call that the query's text does not contain."""


def wrap_in_call(
    node: exp.Expr, name: str, *before: exp.Expr, trailing_arguments: Sequence[exp.Expr] = ()
) -> exp.Expr:
    """Put the call *name*(*before*, node, *after*) in the place of *node*; the call."""
    call = exp.Anonymous(this=name, expressions=[])
    call.meta[MADE] = True
    node.replace(call)
    call.set("expressions", [*before, node, *trailing_arguments])
    return call


def text(value: object) -> exp.Expr:
    """Return a literal of text."""
    return exp.Literal.string(str(value))


def convert_to(node: exp.Expr, source: Kind, target: Kind) -> None:
    """Have *node* converted, unless its values compare with those of *target* as they are held. Raises 206."""
    if source is None or target is None or source in (NULL, target):
        return
    if (
        source.family == target.family
        or target.name in ("sql_variant", "null")
        or source.name == "sql_variant"
    ):
        return
    check_conversion(source, target, explicit=False)
    wrap_in_call(node, "convert", text(target), trailing_arguments=(exp.Null(), text(source)))


def as_float(node: exp.Expr, kind: Kind) -> None:
    """Have a long decimal beside a value that is held otherwise compared as a float."""
    if kind is not None and kind.is_long:
        wrap_in_call(current(node), "convert", text("float"), trailing_arguments=(exp.Null(), text(kind)))


def all_of_one_type(binder: Binder, nodes: Sequence[exp.Expr]) -> Kind:
    """Return the common type of several values, each converted to it."""
    kinds = [binder.expr(node) for node in nodes]
    found: Kind = NULL
    for kind in kinds:
        found = common(found, kind)
    for node, kind in zip(nodes, kinds, strict=True):
        convert_to(current(node), kind, found)
    return found


def current(node: exp.Expr) -> exp.Expr:
    """Return the node that now replaces *node*: itself, or the outermost call around it."""
    while isinstance(node.parent, exp.Anonymous) and node.parent.meta.get(MADE):
        node = node.parent
    return node


def as_text(binder: Binder, node: exp.Expr, kind: Kind) -> None:
    """Have a value that is no text made one by the rules of its type."""
    if (
        kind is not None
        and kind != NULL
        and not kind.is_text
        and not kind.is_integer
        and kind.name != "sql_variant"
    ):
        wrap_in_call(node, "text", trailing_arguments=(text(kind),))
