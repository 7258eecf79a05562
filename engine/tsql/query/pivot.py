"""PIVOT and UNPIVOT, as grouped sums and as stacked rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from sqlglot import exp

from engine.messages import SqlError
from engine.tsql.query.plans import UnsimulatedFeatureError
from engine.tsql.query.trees import COPIED_MAX, projection_name, size

PIVOTED_MAX: Final = 250
"""Maximum columns in PIVOT and UNPIVOT before message 8623. Assumed."""


def find_pivoted_sources(select: exp.Select) -> list[exp.Expr]:
    """Return the sources of a SELECT with PIVOT or UNPIVOT."""
    source = select.args.get("from_")
    places = [source.this] if source is not None else []
    places += [join.this for join in select.args.get("joins") or ()]
    return [place for place in places if place.args.get("pivots")]


def unpivot_or_pivot(source: exp.Expr) -> None:
    """Rewrite PIVOT or UNPIVOT of a source."""
    pivots = source.args["pivots"]
    if len(pivots) > 1:
        raise UnsimulatedFeatureError("PIVOT of a PIVOT")
    kind: Callable[[exp.Expr, exp.Expr], None] = _unpivot if pivots[0].args.get("unpivot") else _pivot
    kind(source, pivots[0])


def _names_of(source: exp.Expr, verb: str) -> list[str]:
    """Return the columns of a derived table, which the first SELECT of a UNION names."""
    first = source.this if isinstance(source, exp.Subquery) else None
    while isinstance(first, exp.SetOperation):
        first = first.this
    if not isinstance(first, exp.Select):
        raise UnsimulatedFeatureError(f"{verb} of anything but a derived table with named columns")
    if any(projection.is_star for projection in first.expressions):
        raise UnsimulatedFeatureError(f"{verb} of SELECT *")
    return [projection_name(projection) for projection in first.expressions]


def _pivot(source: exp.Expr, pivot: exp.Expr) -> None:
    """Rewrite PIVOT as GROUP BY with CASE.

    `(SELECT g, k, v …) s PIVOT (SUM(v) FOR k IN ([a], [b])) p` becomes `SELECT g, SUM(CASE k WHEN 'a' THEN v END)
    …`.
    """
    names = _names_of(source, "PIVOT")
    fields = pivot.args.get("fields") or []
    aggregates = pivot.expressions
    if len(fields) != 1 or len(aggregates) != 1:
        raise UnsimulatedFeatureError("PIVOT with more than one aggregate or column")
    key = fields[0].this.name
    value = aggregates[0].find(exp.Column)
    if value is None:
        raise UnsimulatedFeatureError("PIVOT of COUNT(*)")
    _check_size(source, fields[0].expressions, copies=1)
    groups = [name for name in names if name.lower() not in (key.lower(), value.name.lower())]
    shown: list[exp.Expr] = [_quoted(name) for name in groups]
    for wanted in fields[0].expressions:
        text = wanted.alias_or_name
        made = aggregates[0].copy()
        case = exp.Case(
            this=exp.Collate(this=_as_text(key), expression=exp.var("tsql")),
            ifs=[exp.If(this=exp.Literal.string(text), true=_quoted(value.name))],
        )
        made.find(exp.Column).replace(case)
        shown.append(exp.alias_(made, text, quoted=True))
    _replace_source(source, pivot, shown, groups)


def _check_size(source: exp.Expr, names: Sequence[object], copies: int) -> None:
    """Raise 8623 for more columns, or more copies of a larger source, than can be written out."""
    if len(names) > PIVOTED_MAX or copies * size(source.this) > COPIED_MAX:
        raise SqlError(8623)


def _as_text(name: str) -> exp.Expr:
    return exp.Anonymous(this="text", expressions=[_quoted(name)])


def _quoted(name: str) -> exp.Expr:
    return exp.column(exp.to_identifier(name, quoted=True))


def _replace_source(
    source: exp.Expr, pivot: exp.Expr, projections: list[exp.Expr], groups: list[str]
) -> None:
    inner = source.copy()
    inner.set("pivots", None)
    inner.set("joins", None)
    inner.set("alias", exp.TableAlias(this=exp.to_identifier("pivoted", quoted=True)))
    made = exp.Select(expressions=projections, from_=exp.From(this=inner))
    if groups:
        made.set("group", exp.Group(expressions=[_quoted(name) for name in groups]))
    alias = pivot.alias or source.alias
    source.replace(
        exp.Subquery(
            this=made,
            alias=exp.TableAlias(this=exp.to_identifier(alias, quoted=True)),
            joins=source.args.get("joins"),
        )
    )


def _unpivot(source: exp.Expr, pivot: exp.Expr) -> None:
    """Rewrite (…) s UNPIVOT (v FOR k IN (a, b)) u as one SELECT for each column, without NULL rows."""
    fields = pivot.args.get("fields") or []
    if len(fields) != 1 or len(pivot.expressions) != 1:
        raise UnsimulatedFeatureError("UNPIVOT of more than one column")
    names = _names_of(source, "UNPIVOT")
    taken = [column.name for column in fields[0].expressions]
    _check_size(source, taken, copies=len(taken))
    value, key = pivot.expressions[0].name, fields[0].this.name
    kept = [name for name in names if name.lower() not in {one.lower() for one in taken}]
    bare = source.copy()
    bare.set("pivots", None)
    bare.set("joins", None)
    parts: list[exp.Expr] = []
    for name in taken:
        inner = bare.copy()
        parts.append(
            exp.Select(
                expressions=[
                    *(_quoted(one) for one in kept),
                    exp.alias_(exp.Literal.string(name), key, quoted=True),
                    exp.alias_(_quoted(name), value, quoted=True),
                ],
                from_=exp.From(this=inner),
                where=exp.Where(this=exp.Not(this=exp.Is(this=_quoted(name), expression=exp.Null()))),
            )
        )
    whole = parts[0]
    for part in parts[1:]:
        whole = exp.Union(this=whole, expression=part, distinct=False)
    alias = pivot.alias or source.alias
    source.replace(
        exp.Subquery(
            this=whole,
            alias=exp.TableAlias(this=exp.to_identifier(alias, quoted=True)),
            joins=source.args.get("joins"),
        )
    )
