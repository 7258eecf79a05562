"""Tree helpers that several rewritings of a query share."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from engine.tsql.query.syntax_normalization import PLAIN

COPIED_MAX: Final = 4_000
"""Maximum parts of a query copied for APPLY and PIVOT before message 8623. Assumed."""


def cells(row: exp.Expr) -> list[exp.Expr]:
    """Return the values of one row of VALUES; a row of one value is a parenthesis."""
    return (
        list(row.expressions)
        if isinstance(row, exp.Tuple)
        else [row.this if isinstance(row, exp.Paren) else row]
    )


def projection_name(projection: exp.Expr) -> str:
    """Return the name of a result column; "" without one."""
    if isinstance(projection, exp.EQ) and isinstance(projection.this, exp.Column):
        return str(projection.this.name)  # name = value
    return str(projection.alias_or_name)


def size(tree: exp.Expr) -> int:
    """Count the nodes of a tree."""
    return sum(1 for _ in tree.walk())


_FRAGMENTS: Final = ("json_query", "json_modify", "json_modify_raw")
"""Functions whose results are JSON: JSON_MODIFY puts no quotes around them. [DOC: JSON_MODIFY]"""


def name_plain_calls(tree: exp.Expr) -> None:
    """Give calls their own names back; sqlglot has read them under others (syntax_normalization.py)."""
    for node in list(tree.find_all(exp.Anonymous)):
        name = str(node.this)
        if name.startswith(PLAIN):
            node.set("this", name.removeprefix(PLAIN))
        elif name.lower() == "json_modify" and len(node.expressions) == 3:
            made = node.expressions[2]
            if isinstance(made, exp.Anonymous) and str(made.this).lower().endswith(_FRAGMENTS):
                node.set("this", "json_modify_raw")
