"""ROLLUP, CUBE and GROUPING SETS as a UNION ALL of one SELECT per grouping set; rules of GROUP BY.

Each SELECT has the values of GROUPING and GROUPING_ID as constants. Rules from [DOC: GROUP BY; GROUPING;
GROUPING_ID].
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, product
from typing import Final

from sqlglot import exp

from engine.messages import SqlError
from engine.tsql.query import type_inference
from engine.tsql.query.conversions import is_bare_function, remove_alias
from engine.tsql.query.plans import (
    UNNAMED,
    BindingContext,
    SelectScope,
    UnsimulatedFeatureError,
)
from engine.tsql.query.query_columns import resolve_column

MULTIPLE_GROUPINGS: Final = (exp.Rollup, exp.Cube, exp.GroupingSets)

REPEATED_SELECT_KEY: Final = "again"
"""Metadata key of the SELECT of each grouping set after the first. Only the first SELECT reports errors."""

GROUPING_SETS_MAX: Final = 64
"""Maximum number of grouping sets in one query. Assumed, because each set is a separate SELECT. SQL Server
allows 4096.
"""

_OUTER_CLAUSES: Final = ("order", "limit", "offset", "distinct", "for_", "with_", "options")
"""Clauses that apply to the combined result of all grouping sets."""

GroupingSets = list[list[exp.Expr]]
_CALLS: Final[dict[type[exp.Expr], str]] = {exp.Grouping: "GROUPING", exp.GroupingId: "GROUPING_ID"}


def find_grouping_function(node: exp.Expr) -> str:
    """Return "GROUPING" or "GROUPING_ID" if the node is a call of this function; else ""."""
    if isinstance(node, exp.Anonymous):
        name = str(node.this).upper()
        return name if name in ("GROUPING", "GROUPING_ID") else ""
    return _CALLS.get(type(node), "")


def expand_grouping_clauses(tree: exp.Expr) -> exp.Expr:
    """Replace each SELECT with ROLLUP, CUBE or GROUPING SETS by a UNION ALL, and return the tree.

    Raises 8160, 8161, or UnsimulatedFeatureError for more than GROUPING_SETS_MAX grouping sets.
    """
    for select in reversed(list(tree.find_all(exp.Select))):
        group = select.args.get("group")
        if group is not None and group.find(*MULTIPLE_GROUPINGS) is not None:
            expanded_query: exp.Expr = _expand_grouping_sets(select, _list_grouping_sets(group))
            if select is tree:
                tree = expanded_query
            else:
                select.replace(expanded_query)
            continue
        grouped = {_write_canonical_text(node) for node in group.expressions} if group is not None else None
        for node in list(select.find_all(exp.Anonymous, exp.Grouping, exp.GroupingId)):
            if find_grouping_function(node) and node.find_ancestor(exp.Select) is select:
                if grouped is None:
                    raise SqlError(8160)
                node.replace(_evaluate_grouping(node, grouped, grouped))
    return tree


def _write_canonical_text(node: exp.Expr) -> str:
    while isinstance(node, exp.Paren):
        node = node.this
    return node.copy().transform(unwrap_column).sql(dialect="tsql").lower()


def _list_cells(node: exp.Expr) -> list[exp.Expr]:
    if isinstance(node, exp.Tuple):
        return list(node.expressions)
    return [node.this] if isinstance(node, exp.Paren) else [node]


def _list_grouping_sets(group: exp.Expr) -> GroupingSets:
    """Return the grouping sets, each a list of columns; the longest comes first."""
    factors: list[GroupingSets] = []
    group_kind = next((key for key in ("rollup", "cube") if group.args.get(key)), "")
    if group_kind:
        factors.append(_combine_units(group_kind == "cube", [[node] for node in group.expressions]))
    else:
        factors += [_expand_grouping(node) for node in group.expressions]
    factors += [_expand_grouping(node) for node in group.args.get("grouping_sets") or ()]
    number = 1
    for factor in factors:
        number *= len(factor)
    if number > GROUPING_SETS_MAX:
        raise UnsimulatedFeatureError(f"GROUP BY of more than {GROUPING_SETS_MAX} groupings")
    return [[column for part in parts for column in part] for parts in product(*factors)]


def _expand_grouping(node: exp.Expr) -> GroupingSets:
    if isinstance(node, exp.Rollup | exp.Cube):
        return _combine_units(isinstance(node, exp.Cube), [_list_cells(part) for part in node.expressions])
    if isinstance(node, exp.GroupingSets):
        return [expressions for part in node.expressions for expressions in _expand_part(part)]
    return [[node]]


def _expand_part(part: exp.Expr) -> GroupingSets:
    return _expand_grouping(part) if isinstance(part, MULTIPLE_GROUPINGS) else [_list_cells(part)]


def _combine_units(is_cube: bool, units: GroupingSets) -> GroupingSets:
    """Return the grouping sets of ROLLUP or CUBE. *units*: the columns or column lists in its parentheses.

    ROLLUP gives the first n units, for each n. CUBE gives each subset of the units.
    """
    if len(units) > GROUPING_SETS_MAX.bit_length() and is_cube:
        raise UnsimulatedFeatureError(f"GROUP BY of more than {GROUPING_SETS_MAX} groupings")
    sizes = range(len(units), -1, -1)
    chosen_sets: Iterator[Sequence[list[exp.Expr]]] = (
        (combination for size in sizes for combination in combinations(units, size))
        if is_cube
        else (units[:size] for size in sizes)
    )
    return [[column for unit in unit_group for column in unit] for unit_group in chosen_sets]


def _evaluate_grouping(node: exp.Expr, everything: set[str], grouped_columns: set[str]) -> exp.Expr:
    """Return the value of GROUPING or GROUPING_ID for the grouping set *grouped_columns*.

    GROUPING is 1 if the set does not contain the column. GROUPING_ID has one such bit per column; the first
    column has the highest bit. *everything*: the columns of all grouping sets. Raises 8161 for another
    column.
    """
    number = 0
    for index, argument in enumerate(node.expressions, start=1):
        if _write_canonical_text(argument) not in everything:
            raise SqlError(8161, index, find_grouping_function(node))
        number = 2 * number + int(_write_canonical_text(argument) not in grouped_columns)
    return exp.Literal.number(number)


def _expand_grouping_sets(select: exp.Select, sets: GroupingSets) -> exp.Select:
    if any(node.find_ancestor(exp.Select) is select for node in select.find_all(exp.Window)):
        raise UnsimulatedFeatureError("OVER together with GROUP BY of several groupings")
    names = [_get_name(projection) for projection in select.expressions]
    values = [remove_alias(projection) for projection in select.expressions]
    order = select.args.get("order")
    ordered = list(order.expressions) if order is not None else []
    hidden: list[exp.Expr] = []
    for term in ordered:
        term.set("this", _build_order_term(term.this, names, hidden))
    outer = exp.Select(
        expressions=[
            exp.alias_(exp.column(f"c{index}"), name or UNNAMED, quoted=True)
            for index, name in enumerate(names)
        ]
    )
    for key in _OUTER_CLAUSES:
        outer.set(key, select.args.get(key))
        select.set(key, None)
    all_columns = {_write_canonical_text(column) for expressions in sets for column in expressions}
    copies = [
        _copy_for_grouping_set(select, [*values, *hidden], all_columns, expressions) for expressions in sets
    ]
    union: exp.Expr = copies[0]
    for copy in copies[1:]:
        copy.meta[REPEATED_SELECT_KEY] = True
        union = exp.Union(this=union, expression=copy, distinct=False)
    outer.set(
        "from_", exp.From(this=exp.Subquery(this=union, alias=exp.TableAlias(this=exp.to_identifier("g"))))
    )
    return outer


def _get_name(projection: exp.Expr) -> str:
    if isinstance(projection, exp.EQ) and remove_alias(projection) is not projection:
        return str(projection.this.name)
    name = str(projection.alias_or_name) if isinstance(projection, exp.Alias | exp.Column) else ""
    return "" if name == UNNAMED else name


def _build_order_term(node: exp.Expr, names: list[str], hidden: list[exp.Expr]) -> exp.Expr:
    """Return an ORDER BY term that refers to a column of the combined result.

    If no column in *names* is the term, append the expression to *hidden*, the additional result columns.
    """
    if isinstance(node, exp.Literal) and not node.is_string:
        return node
    known_names = [name.lower() for name in names]
    if isinstance(node, exp.Column) and not node.table and node.name.lower() in known_names:
        return exp.column(f"c{known_names.index(node.name.lower())}")
    hidden.append(node)
    return exp.column(f"c{len(names) + len(hidden) - 1}")


def _copy_for_grouping_set(
    select: exp.Select, values: list[exp.Expr], everything: set[str], grouping_set: list[exp.Expr]
) -> exp.Select:
    """Return the SELECT of one grouping set. Columns that the set does not contain are NULL.

    *values*: expressions of the result columns. *everything*: the columns of all grouping sets.
    """
    new_select = select.copy()
    set_columns = {_write_canonical_text(column) for column in grouping_set}
    expressions = [_adapt_to_grouping_set(value.copy(), everything, set_columns) for value in values]
    row_count = exp.alias_(
        exp.Count(this=exp.Star()), "n"
    )  # COUNT(*), so that the empty grouping set returns one row
    new_select.set(
        "expressions",
        [*(exp.alias_(value, f"c{index}") for index, value in enumerate(expressions)), row_count],
    )
    having = new_select.args.get("having")
    if having is not None:
        having.set("this", _adapt_to_grouping_set(having.this, everything, set_columns))
    new_select.set(
        "group", exp.Group(expressions=[column.copy() for column in grouping_set]) if grouping_set else None
    )
    return new_select


def _adapt_to_grouping_set(node: exp.Expr, everything: set[str], grouped_columns: set[str]) -> exp.Expr:
    if find_grouping_function(node):
        return _evaluate_grouping(node, everything, grouped_columns)
    is_aggregate = isinstance(node, exp.Anonymous) and str(node.this).lower() in AGGREGATES
    if is_aggregate or isinstance(node, exp.AggFunc | exp.Query | exp.Literal):
        return node
    key = _write_canonical_text(node)
    if key in everything:
        return node if key in grouped_columns else exp.Null()
    for child in list(node.iter_expressions()):
        new_expression = _adapt_to_grouping_set(child, everything, grouped_columns)
        if new_expression is not child:
            child.replace(new_expression)
    return node


# --- rules of GROUP BY, HAVING and DISTINCT for the columns of a SELECT -------------------------------------

# A violation gives message 8120, 8121, 8127, 144, 145 or 164.

AGGREGATES: Final = frozenset(
    {"avg", "stdev", "stdevp", "var", "varp", "count_big", "checksum_agg", "string_agg"}
)


class GroupingBinder:
    """Part of the binder that checks GROUP BY, HAVING, DISTINCT and their columns."""

    def __init__(self, names: BindingContext) -> None:
        self.names = names
        self.space: SelectScope | None = None
        self.problems: list[SqlError] = []
        self.grouped_kinds: set[type[exp.Expr]] = set()

    @staticmethod
    def get_name(identifier: object) -> str:
        """Return the name of an identifier."""
        if not isinstance(identifier, exp.Expr):
            return ""
        if isinstance(identifier, exp.Parameter):
            return f"@{identifier.name}"
        prefix = "#" if identifier.args.get("temporary") else "##" if identifier.args.get("global_") else ""
        return prefix + str(identifier.name)

    # -- groupings

    def check_groups(self, select: exp.Select) -> None:
        """Raise 8120, 8121 or 8127 for a column that is neither grouped nor in an aggregate.

        Raise 144 or 164 for an invalid expression in GROUP BY.
        """
        group, having = select.args.get("group"), select.args.get("having")
        grouped: set[str] = set()
        self.grouped_kinds = {type(node) for node in group.expressions} if group is not None else set()
        for node in group.expressions if group is not None else ():
            if node.find(exp.Select) is not None or _has_own_aggregate(node):
                raise SqlError(144)
            if node.find(exp.Column) is None:
                raise SqlError(164)
            grouped.add(self._normalize_expression(node))
            if not self._has_known_columns(node):
                return
        order = select.args.get("order")
        ordered = [term.this for term in order.expressions] if order is not None else []
        values = [remove_alias(projection) for projection in select.expressions]
        aggregates = (
            group is not None or having is not None or any(map(_has_own_aggregate, (*values, *ordered)))
        )
        if not aggregates:
            return
        aliases = {str(projection.alias_or_name).lower() for projection in select.expressions}
        positions: list[tuple[int, exp.Expr]] = [(8120, value) for value in values]
        if having is not None:
            positions.append((8121, having.this))
        for ordered_term in ordered:
            if not (
                isinstance(ordered_term, exp.Column)
                and not ordered_term.table
                and ordered_term.name.lower() in aliases
            ):
                positions.append((8127, ordered_term))
        for number, node in positions:
            self.problems += self._list_ungrouped_errors(node, grouped, number)

    def _has_known_columns(self, node: exp.Expr) -> bool:
        """Return whether all columns in *node* exist. Type inference reports unknown columns later."""
        for column in node.find_all(exp.Column):
            parts = [self.get_name(column.args.get(key)) for key in ("catalog", "db", "table")]
            try:
                resolve_column(self.space, [part for part in parts if part], column.name)
            except SqlError:
                return False
        return True

    def _normalize_expression(self, node: exp.Expr) -> str:
        """Return the text of an expression for comparisons: in lowercase, without qualifiers."""
        if isinstance(node, exp.Column):
            return node.name.lower()
        if isinstance(node, exp.Paren):
            return self._normalize_expression(node.this)
        return node.transform(unwrap_column).sql(dialect="tsql").lower()

    def _list_ungrouped_errors(self, node: exp.Expr, grouped: set[str], number: int) -> list[SqlError]:
        """Return error *number* for each part of an expression that is neither grouped nor in an aggregate."""
        problems: list[SqlError] = []
        remaining_nodes = [node]
        while remaining_nodes:
            part = remaining_nodes.pop()
            if isinstance(part, exp.Query) or _is_aggregate(part):
                continue
            if isinstance(part, exp.Star) and isinstance(part.parent, exp.Count):
                continue  # COUNT(*) OVER (…) counts groups, not rows
            if isinstance(part, exp.Column) and not part.is_star:
                problems += self._list_column_errors(part, grouped, number)
            elif isinstance(part, exp.Star | exp.Column):
                problems += self._list_star_errors(grouped, number)
            elif not (type(part) in self.grouped_kinds and self._normalize_expression(part) in grouped):
                remaining_nodes += reversed(_list_value_parts(part))
        return problems

    def _list_star_errors(self, grouped: set[str], number: int) -> list[SqlError]:
        assert self.space is not None
        return [
            SqlError(number, source.display_name, name)
            for source in self.space.sources
            for name, *_ in source.columns or ()
            if name.lower() not in grouped
        ]

    def _list_column_errors(self, node: exp.Column, grouped: set[str], number: int) -> list[SqlError]:
        if node.name.lower() in grouped:
            return []
        if is_bare_function(node):
            return []
        try:
            parts = [self.get_name(node.args.get(key)) for key in ("catalog", "db", "table")]
            column = resolve_column(self.space, [part for part in parts if part], node.name)
        except SqlError:
            return []  # type inference reports the error
        if column.source is None or column.space is not self.space:
            return []
        return [SqlError(number, column.source.display_name, node.name)]

    def check_order(self, select: exp.Select) -> None:
        """Raise 145 if a DISTINCT query sorts by an expression that is not a result column."""
        order = select.args.get("order")
        if order is None or select.args.get("distinct") is None:
            return
        column_names = {str(projection.alias_or_name).lower() for projection in select.expressions}
        column_names |= {
            self._normalize_expression(remove_alias(projection)) for projection in select.expressions
        }
        if any(projection.is_star for projection in select.expressions):
            return
        for ordered in order.expressions:
            node = ordered.this
            if isinstance(node, exp.Literal):
                continue
            if self._normalize_expression(node) not in column_names:
                raise SqlError(145)


def unwrap_column(node: exp.Expr) -> exp.Expr:
    """Return the column inside all parentheses and casts."""
    return exp.column(node.name) if isinstance(node, exp.Column) and not node.is_star else node


def _is_aggregate(node: exp.Expr) -> bool:
    """Return whether the node is an aggregate without OVER."""
    is_named_aggregate = isinstance(node, exp.AggFunc) or (
        isinstance(node, exp.Anonymous) and str(node.this).lower() in AGGREGATES
    )
    return (
        is_named_aggregate and not isinstance(node.parent, exp.Window) and not isinstance(node, exp.RowNumber)
    )


def _list_value_parts(node: exp.Expr) -> list[exp.Expr]:
    """Return the children of an expression that are values.

    Arguments of a function with OVER are values; the date part of DATEADD is not.
    """
    parts = list(node.iter_expressions())
    if isinstance(node, exp.Window):
        return [part for part in parts if part is not node.this] + list(node.this.iter_expressions())
    if isinstance(node, exp.Anonymous) and str(node.this).lower() in type_inference.DATE_PART_FIRST:
        return parts[1:]
    return parts


def _has_own_aggregate(node: exp.Expr) -> bool:
    """Return whether the expression contains an aggregate outside its subqueries."""
    return next(_iterate_outer_aggregates(node), None) is not None


def has_aggregate(nodes: Iterable[exp.Expr]) -> bool:
    """Return whether any of the expressions contains an aggregate outside its subqueries."""
    return any(_has_own_aggregate(node) for node in nodes)


def check_aggregates(select: exp.Select) -> None:
    """Raise 147 for an aggregate in WHERE, 130 for an aggregate inside another aggregate."""
    clause = select.args.get("where")
    if clause is not None and _has_own_aggregate(clause.this):
        raise SqlError(147)
    for join in select.args.get("joins") or ():
        on_clause = join.args.get("on")
        if isinstance(on_clause, exp.Expr) and _has_own_aggregate(on_clause):
            raise SqlError(1015)
    for projection in select.expressions:
        for node in _iterate_outer_aggregates(projection):
            if any(_has_own_aggregate(part) or part.find(exp.Query) for part in node.iter_expressions()):
                raise SqlError(130)


def _iterate_outer_aggregates(node: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the outermost aggregates of an expression, outside its subqueries."""
    remaining_nodes = [node]
    while remaining_nodes:
        part = remaining_nodes.pop()
        if _is_aggregate(part):
            yield part
        elif not isinstance(part, exp.Query):
            remaining_nodes += part.iter_expressions()
