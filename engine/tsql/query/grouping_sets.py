"""ROLLUP, CUBE and GROUPING SETS as one SELECT for each grouping, combined by UNION ALL.

Also the values of GROUPING and GROUPING_ID in each. Rules from [DOC: GROUP BY; GROUPING; GROUPING_ID].
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import Final

from sqlglot import exp

from engine.messages import SqlError
from engine.tsql.query.group_by_checks import AGGREGATES, bare_column, value_of
from engine.tsql.query.plans import UNNAMED, UnsimulatedFeatureError

SEVERAL: Final = (exp.Rollup, exp.Cube, exp.GroupingSets)

AGAIN: Final = "again"
"""Metadata key of a SELECT that repeats another one, whose problems it shares."""

SETS_MAX: Final = 64
"""Maximum groupings of one query. Assumed: the product accepts 4096; here each one is a query of its own."""

_OUTSIDE: Final = ("order", "limit", "offset", "distinct", "for_", "with_", "options")
"""Clauses that apply to all groupings together."""

Sets = list[list[exp.Expr]]
_CALLS: Final[dict[type[exp.Expr], str]] = {exp.Grouping: "GROUPING", exp.GroupingId: "GROUPING_ID"}


def find_grouping_function(node: exp.Expr) -> str:
    """Return GROUPING or GROUPING_ID, if the node is a call of it."""
    if isinstance(node, exp.Anonymous):
        name = str(node.this).upper()
        return name if name in ("GROUPING", "GROUPING_ID") else ""
    return _CALLS.get(type(node), "")


def expand_grouping_clauses(tree: exp.Expr) -> exp.Expr:
    """Return the tree with every such GROUP BY written out. Raises 8160, 8161, Unsimulated for more than SETS_MAX."""
    for select in reversed(list(tree.find_all(exp.Select))):
        group = select.args.get("group")
        if group is not None and group.find(*SEVERAL) is not None:
            new: exp.Expr = _expand_grouping_sets(select, _sets(group))
            if select is tree:
                tree = new
            else:
                select.replace(new)
            continue
        grouped = {_canonical(node) for node in group.expressions} if group is not None else None
        for node in list(select.find_all(exp.Anonymous, exp.Grouping, exp.GroupingId)):
            if find_grouping_function(node) and node.find_ancestor(exp.Select) is select:
                if grouped is None:
                    raise SqlError(8160)
                node.replace(_evaluate_grouping(node, grouped, grouped))
    return tree


def _canonical(node: exp.Expr) -> str:
    while isinstance(node, exp.Paren):
        node = node.this
    return node.copy().transform(bare_column).sql(dialect="tsql").lower()


def _cells(node: exp.Expr) -> list[exp.Expr]:
    if isinstance(node, exp.Tuple):
        return list(node.expressions)
    return [node.this] if isinstance(node, exp.Paren) else [node]


def _sets(group: exp.Expr) -> Sets:
    """Return the lists of grouping columns, longest first."""
    factors: list[Sets] = []
    whole = next((key for key in ("rollup", "cube") if group.args.get(key)), "")
    if whole:
        factors.append(_combine_units(whole == "cube", [[node] for node in group.expressions]))
    else:
        factors += [_expand_grouping(node) for node in group.expressions]
    factors += [_expand_grouping(node) for node in group.args.get("grouping_sets") or ()]
    number = 1
    for factor in factors:
        number *= len(factor)
    if number > SETS_MAX:
        raise UnsimulatedFeatureError(f"GROUP BY of more than {SETS_MAX} groupings")
    return [[column for part in parts for column in part] for parts in product(*factors)]


def _expand_grouping(node: exp.Expr) -> Sets:
    if isinstance(node, exp.Rollup | exp.Cube):
        return _combine_units(isinstance(node, exp.Cube), [_cells(part) for part in node.expressions])
    if isinstance(node, exp.GroupingSets):
        return [one for part in node.expressions for one in _expand_part(part)]
    return [[node]]


def _expand_part(part: exp.Expr) -> Sets:
    return _expand_grouping(part) if isinstance(part, SEVERAL) else [_cells(part)]


def _combine_units(is_cube: bool, units: Sets) -> Sets:
    """Return the sets: of ROLLUP the first n units, of CUBE any of them."""
    if len(units) > SETS_MAX.bit_length() and is_cube:
        raise UnsimulatedFeatureError(f"GROUP BY of more than {SETS_MAX} groupings")
    sizes = range(len(units), -1, -1)
    chosen: Iterator[Sequence[list[exp.Expr]]] = (
        (some for size in sizes for some in combinations(units, size))
        if is_cube
        else (units[:size] for size in sizes)
    )
    return [[column for unit in some for column in unit] for some in chosen]


def _evaluate_grouping(node: exp.Expr, everything: set[str], grouped_columns: set[str]) -> exp.Expr:
    """Evaluate GROUPING: 1 if the column is not grouped by; GROUPING_ID: bits of a number, the first is highest."""
    number = 0
    for place, argument in enumerate(node.expressions, start=1):
        if _canonical(argument) not in everything:
            raise SqlError(8161, place, find_grouping_function(node))
        number = 2 * number + int(_canonical(argument) not in grouped_columns)
    return exp.Literal.number(number)


def _expand_grouping_sets(select: exp.Select, sets: Sets) -> exp.Select:
    if any(node.find_ancestor(exp.Select) is select for node in select.find_all(exp.Window)):
        raise UnsimulatedFeatureError("OVER beside GROUP BY of several groupings")
    names = [_name_of(projection) for projection in select.expressions]
    values = [value_of(projection) for projection in select.expressions]
    order = select.args.get("order")
    ordered = list(order.expressions) if order is not None else []
    hidden: list[exp.Expr] = []
    for term in ordered:
        term.set("this", _term(term.this, names, hidden))
    outer = exp.Select(
        expressions=[
            exp.alias_(exp.column(f"c{place}"), name or UNNAMED, quoted=True)
            for place, name in enumerate(names)
        ]
    )
    for key in _OUTSIDE:
        outer.set(key, select.args.get(key))
        select.set(key, None)
    everything = {_canonical(column) for one in sets for column in one}
    copies = [_copy_for_grouping_set(select, [*values, *hidden], everything, one) for one in sets]
    union: exp.Expr = copies[0]
    for copy in copies[1:]:
        copy.meta[AGAIN] = True
        union = exp.Union(this=union, expression=copy, distinct=False)
    outer.set(
        "from_", exp.From(this=exp.Subquery(this=union, alias=exp.TableAlias(this=exp.to_identifier("g"))))
    )
    return outer


def _name_of(projection: exp.Expr) -> str:
    if isinstance(projection, exp.EQ) and value_of(projection) is not projection:
        return str(projection.this.name)
    name = str(projection.alias_or_name) if isinstance(projection, exp.Alias | exp.Column) else ""
    return "" if name == UNNAMED else name


def _term(node: exp.Expr, names: list[str], hidden: list[exp.Expr]) -> exp.Expr:
    """Return an ORDER BY term as a column of the whole result."""
    if isinstance(node, exp.Literal) and not node.is_string:
        return node
    known = [name.lower() for name in names]
    if isinstance(node, exp.Column) and not node.table and node.name.lower() in known:
        return exp.column(f"c{known.index(node.name.lower())}")
    hidden.append(node)
    return exp.column(f"c{len(names) + len(hidden) - 1}")


def _copy_for_grouping_set(
    select: exp.Select, values: list[exp.Expr], everything: set[str], grouping_set: list[exp.Expr]
) -> exp.Select:
    """Return one grouping: what is not grouped by is NULL."""
    made = select.copy()
    here = {_canonical(column) for column in grouping_set}
    shown = [_adapt_to_grouping_set(value.copy(), everything, here) for value in values]
    counted = exp.alias_(exp.Count(this=exp.Star()), "n")  # a grouping over nothing returns one row
    made.set(
        "expressions",
        [*(exp.alias_(value, f"c{place}") for place, value in enumerate(shown)), counted],
    )
    having = made.args.get("having")
    if having is not None:
        having.set("this", _adapt_to_grouping_set(having.this, everything, here))
    made.set(
        "group", exp.Group(expressions=[column.copy() for column in grouping_set]) if grouping_set else None
    )
    return made


def _adapt_to_grouping_set(node: exp.Expr, everything: set[str], grouped_columns: set[str]) -> exp.Expr:
    if find_grouping_function(node):
        return _evaluate_grouping(node, everything, grouped_columns)
    named = isinstance(node, exp.Anonymous) and str(node.this).lower() in AGGREGATES
    if named or isinstance(node, exp.AggFunc | exp.Query | exp.Literal):
        return node
    key = _canonical(node)
    if key in everything:
        return node if key in grouped_columns else exp.Null()
    for child in list(node.iter_expressions()):
        new = _adapt_to_grouping_set(child, everything, grouped_columns)
        if new is not child:
            child.replace(new)
    return node
