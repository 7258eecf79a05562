"""MAXRECURSION: step counters of recursive common table expressions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from sqlglot import exp

from engine.tsql.query import forms

RECURSION_MAX: Final = 100
"""Default of OPTION (MAXRECURSION n); 0 is unlimited. Documented."""


_LEVEL: Final = "recursion level"


def count_recursion(tree: exp.Expr) -> None:
    """Have each recursive common table expression count its steps: 530 beyond MAXRECURSION."""
    for cte in list(tree.find_all(exp.CTE)):
        columns, with_ = cte.meta.get(forms.RECURSIVE), cte.parent
        inner = cte.this
        if not columns or not isinstance(with_, exp.With) or not isinstance(inner.expression, exp.Select):
            continue
        own = [
            table
            for table in inner.expression.find_all(exp.Table)
            if table.name.lower() == cte.alias.lower() and not table.db
        ]
        selects = list(_anchors(inner.this))
        if len(own) != 1 or any(
            s.is_star for select in (*selects, inner.expression) for s in select.expressions
        ):
            continue
        most = next(
            (o.expression.name for o in tree.find_all(exp.QueryOption) if o.name.upper() == "MAXRECURSION"),
            str(RECURSION_MAX),
        )
        _count_levels(cte, with_, own[0], selects, list(columns), most)


def _anchors(node: exp.Expr) -> Iterable[exp.Select]:
    while isinstance(node, exp.SetOperation):
        yield from _anchors(node.expression)
        node = node.this
    if isinstance(node, exp.Select):
        yield node


def _count_levels(
    cte: exp.Expr,
    with_clause: exp.Expr,
    self_reference: exp.Table,
    anchors: list[exp.Select],
    columns: list[str],
    max_level: str,
) -> None:
    name, counted = str(cte.alias), f"{cte.alias} counted"
    for anchor in anchors:
        anchor.append("expressions", exp.alias_(exp.Literal.number(0), _LEVEL, quoted=True))
    alias = self_reference.alias or self_reference.name
    before = exp.column(exp.to_identifier(_LEVEL, quoted=True), table=exp.to_identifier(alias, quoted=True))
    next_level = exp.Anonymous(
        this="recursion",
        expressions=[
            exp.Anonymous(this="add", expressions=[before, exp.Literal.number(1)]),
            exp.Literal.number(max_level),
        ],
    )
    cte.this.expression.append("expressions", exp.alias_(next_level, _LEVEL, quoted=True))
    self_reference.set("this", exp.to_identifier(counted, quoted=True))
    self_reference.set("alias", exp.TableAlias(this=exp.to_identifier(alias, quoted=True)))
    names = [exp.to_identifier(column, quoted=True) for column in (*columns, _LEVEL)]
    cte.set("alias", exp.TableAlias(this=exp.to_identifier(counted, quoted=True), columns=names))
    shown = exp.Select(
        expressions=[exp.column(exp.to_identifier(column, quoted=True)) for column in columns],
        from_=exp.From(this=exp.Table(this=exp.to_identifier(counted, quoted=True))),
    )
    plain = exp.CTE(this=shown, alias=exp.TableAlias(this=exp.to_identifier(name, quoted=True)))
    place = with_clause.expressions.index(cte)
    with_clause.set(
        "expressions", [*with_clause.expressions[: place + 1], plain, *with_clause.expressions[place + 1 :]]
    )
