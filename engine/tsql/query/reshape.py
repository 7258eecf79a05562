"""Rewriting of forms that SQLite lacks, before translation: APPLY, PIVOT, functions that return tables."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from engine.messages import SqlError
from engine.tsql.query import recursion
from engine.tsql.query.apply import apply, call
from engine.tsql.query.pivot import find_pivoted_sources, unpivot_or_pivot
from engine.tsql.query.trees import cells

RESHAPED: Final = (exp.Lateral, exp.Window, exp.Subquery, exp.Values, exp.Pivot, exp.Anonymous, exp.CTE)
"""Nodes that need reshaping; other trees stay unchanged."""


def reshape_tree(tree: exp.Expr) -> exp.Expr:
    """Return the tree with every APPLY, PIVOT and table function in it replaced.

    Raises Unsimulated for what cannot be.
    """
    if sum(1 for _ in tree.find_all(exp.Lateral)) > APPLIES_MAX:
        raise SqlError(8623)
    if sum(1 for _ in tree.find_all(exp.Window)) > WINDOWS_MAX:
        raise SqlError(8623)
    recursion.count_recursion(tree)
    for source in list(tree.find_all(exp.Subquery, exp.Values)):
        _name_columns_inside(source)
    for select in reversed(list(tree.find_all(exp.Select))):
        _limit_before_numbering(select)
        for turned in find_pivoted_sources(select):
            unpivot_or_pivot(turned)
        for join in list(select.args.get("joins") or ()):
            if isinstance(join.this, exp.Lateral):
                apply(select, join)
    for table in list(tree.find_all(exp.Table)):
        last = table.this.expression if isinstance(table.this, exp.Dot) else table.this
        if isinstance(last, exp.Anonymous):
            call(table)
    return tree


APPLIES_MAX: Final = 30
WINDOWS_MAX: Final = 100
"""Maximum APPLYs and functions with OVER of one query before message 8623. Assumed."""


# --- numbers ---------------------------------------------------------------------------------------------


def _limit_before_numbering(select: exp.Select) -> None:
    """TOP (n) of ROW_NUMBER() OVER (ORDER BY (SELECT NULL)): n rows are numbered, not a million."""
    limit, asked = select.args.get("limit"), select.args
    other = any(asked.get(key) for key in ("group", "having", "distinct", "offset", "windows", "for_"))
    if not isinstance(limit, exp.Limit) or limit.args.get("limit_options") or other or not asked.get("from_"):
        return
    shown = [projection.unalias() for projection in select.expressions]
    if not any(isinstance(value, exp.Window) for value in shown) or not all(map(_counts_rows, shown)):
        return
    order, names = asked.get("order"), {projection.alias.lower() for projection in select.expressions}
    for ordered in order.expressions if order is not None else ():
        if ordered.args.get("desc") or ordered.this.name.lower() not in names:
            return
    inner = exp.Select(expressions=[exp.alias_(exp.Literal.number(1), "one", quoted=True)])
    for key in ("from_", "joins", "where", "limit"):
        inner.set(key, asked.get(key))
        select.set(key, None)
    alias = exp.TableAlias(this=exp.to_identifier("counted", quoted=True))
    select.set("from_", exp.From(this=exp.Subquery(this=inner, alias=alias)))


def _counts_rows(value: exp.Expr) -> bool:
    """Return whether it is a constant, or ROW_NUMBER() in no order."""
    if not isinstance(value, exp.Window):
        return isinstance(value, exp.Literal)
    numbered = isinstance(value.this, exp.RowNumber) and not value.args.get("partition_by")
    return numbered and value.find(exp.Column) is None


# --- names of columns behind a derived table -------------------------------------------------------------


def _name_columns_inside(source: exp.Expr) -> None:
    """Move names in (SELECT 1) AS s (a), (VALUES (1), (2)) AS s (a) to the columns inside, as SQLite needs."""
    alias = source.args.get("alias")
    if not isinstance(alias, exp.TableAlias) or not alias.columns or isinstance(source.parent, exp.Lateral):
        return
    names = [column.name for column in alias.columns]
    inner = source if isinstance(source, exp.Values) else source.this
    if isinstance(inner, exp.Values):
        inner = as_selects(inner)
    first = inner
    while isinstance(first, exp.SetOperation):
        first = first.this
    if not isinstance(first, exp.Select) or any(one.is_star for one in first.expressions):
        return
    first.set(
        "expressions",
        [
            exp.alias_(one.unalias(), name, quoted=True)
            for one, name in zip(first.expressions, names, strict=False)
        ],
    )
    alias.set("columns", None)
    if isinstance(source, exp.Values):
        pivots = source.args.get("pivots")
        source.replace(exp.Subquery(this=inner, alias=alias.copy(), pivots=pivots))
    else:
        source.set("this", inner)


ROWS_AS_SELECTS_MAX: Final = 100
"""Maximum rows of VALUES that become one SELECT each. SQLite joins at most 200, and has its own VALUES for more."""


def as_selects(values: exp.Values) -> exp.Expr:
    """Rewrite VALUES (1, 2), (3, 4) as SELECT 1, 2 UNION ALL SELECT 3, 4; the first row names the columns."""
    rows = [cells(row) for row in values.expressions]
    many = len(rows) > ROWS_AS_SELECTS_MAX
    selects = [exp.Select(expressions=[cell.copy() for cell in row]) for row in (rows[:1] if many else rows)]
    made: exp.Expr = selects[0]
    for select in selects[1:]:
        made = exp.Union(this=made, expression=select, distinct=False)
    if many:
        others = exp.Values(expressions=[row.copy() for row in values.expressions[1:]])
        rest = exp.Select(expressions=[exp.Star()], from_=exp.From(this=exp.Subquery(this=others)))
        made = exp.Union(this=made, expression=rest, distinct=False)
    return made
