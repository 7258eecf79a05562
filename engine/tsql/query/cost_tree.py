"""Derivation of a query's cost model (plans.py) from its sqlglot tree."""

from collections.abc import Iterator, Sequence
from typing import Final, TypeGuard

from msgspec.structs import replace
from sqlglot import exp

from engine.messages import SqlError
from engine.tsql.query.plans import (
    COST_MAX,
    ZERO_QUERY_COST,
    ColumnBound,
    ColumnEquality,
    CostSource,
    QueryCost,
)

NESTED_QUERIES_MAX: Final = 3_000
"""Maximum number of nested queries; more raise error 8623.

Each use of a CTE counts, because SQLite copies it. The figure is assumed.
"""


def build_query_cost(tree: exp.Expr) -> QueryCost:
    """Return the cost model of the query that SQLite will run. Raises SqlError 8623."""
    column_names = {column.name.lower() for column in tree.find_all(exp.Column)}
    star = tree.find(exp.Star) is not None
    return replace(
        _CostModelBuilder().read_query(tree), columns_named=COST_MAX if star else len(column_names)
    )


class _CostModelBuilder:
    """Builder of the cost model of a query. It stores the cost models of common table expressions by name."""

    def __init__(self) -> None:
        self._named: dict[str, QueryCost] = {}
        self._weights: dict[QueryCost, int] = {}

    def read_query(self, tree: exp.Expr) -> QueryCost:
        clause = tree.args.get("with_")
        for cte in clause.expressions if clause is not None else ():
            self._named[cte.alias.lower()] = self._read_cte(cte)
        if isinstance(tree, exp.Subquery):
            return self.read_query(tree.this)
        if isinstance(tree, exp.SetOperation):
            cost = QueryCost(
                parts=(self.read_query(tree.this), self.read_query(tree.expression)),
                sorts=int(bool(tree.args.get("distinct"))) + int(tree.args.get("order") is not None),
                rows_max=_read_row_limit(tree),
                limit_parameter=_read_limit_parameter(tree),
            )
        elif isinstance(tree, exp.Select):
            cost = self._read_select(tree)
        elif isinstance(tree, exp.Values):
            cost = QueryCost(parts=(ZERO_QUERY_COST,) * len(tree.expressions))
        else:
            cost = QueryCost()
        self._count_inner_queries(cost)
        return cost

    def _read_cte(self, cte: exp.Expr) -> QueryCost:
        name, body = cte.alias.lower(), cte.this
        recursive = any(table.name.lower() == name for table in body.find_all(exp.Table))
        if recursive:
            self._named[name] = QueryCost(one_row=True)
        query_cost = self.read_query(body)
        if not recursive:
            return query_cost
        return QueryCost(parts=(query_cost,), recursive=True)

    def _count_inner_queries(self, query: QueryCost) -> None:
        """Count the inner queries of *query*. Each counts as often as it is referenced.

        Raises 8623 for more than NESTED_QUERIES_MAX.
        """
        weight = 1
        for part in (*query.parts, *(s.query for s in query.sources), *(inner for inner, _ in query.inner)):
            weight += self._weights.get(part, 0) if part is not None else 0
        if weight > NESTED_QUERIES_MAX:
            raise SqlError(8623)
        self._weights[query] = weight

    def _read_select(self, select: exp.Select) -> QueryCost:
        listed_sources = list(_list_sources(select))
        source_names = [node.alias_or_name.lower() for node, _ in listed_sources]
        tables = {
            name: self._get_table_name(node)
            for name, (node, _) in zip(source_names, listed_sources, strict=True)
        }
        clause = select.args.get("where")
        common = list(_iterate_conjuncts(clause.this if clause is not None else None))
        for _, join in listed_sources:
            if join is not None and not join.side:
                common += _iterate_conjuncts(join.args.get("on"))
        sources = tuple(
            self._read_source(node, join, source_names[: index + 1], tables, common)
            for index, (node, join) in enumerate(listed_sources)
        )
        filter_expressions = [
            clause,
            *(join.args.get("on") for _, join in listed_sources if join is not None),
        ]
        shown_expressions = [
            value for key, value in select.args.items() if key not in ("from_", "joins", "where", "with_")
        ]
        inner: list[tuple[QueryCost, bool]] = []
        inner += (
            (self._read_packed_rows(listed_node.this), True)
            for listed_node, _ in listed_sources
            if _is_json_each(listed_node)
        )
        filters = self._count_calls(filter_expressions, source_names, inner)
        calls = self._count_calls(shown_expressions, source_names, inner)
        grouped_by = _find_grouped_sources(select, source_names)
        totals = (
            [node for value in shown_expressions for node in _iterate_aggregates(value)]
            if grouped_by is not None
            else []
        )
        group_calls = calls - self._count_calls(totals, source_names, []) if grouped_by is not None else 0
        grouped = select.args.get("group") is not None
        ordered = len([key for key in ("order", "group", "distinct") if select.args.get(key) is not None])
        return QueryCost(
            sources=sources,
            calls=calls - group_calls,
            group_calls=group_calls,
            grouped_by=grouped_by,
            filters=filters,
            inner=tuple(inner),
            sorts=ordered
            + len([window for projection in select.expressions for window in _list_sorts(projection)]),
            one_row=not grouped and bool(sources) and _is_single_aggregate(select),
            rows_max=_read_row_limit(select),
            limit_parameter=_read_limit_parameter(select),
            columns=_list_unchanged_columns(select, sources),
        )

    def _read_packed_rows(self, call: exp.Expr) -> QueryCost:
        """Return the cost of a json_each call.

        The call expands the JSON rows of a query or the nodes of an XML value.
        """
        packed = call.expressions[0]
        if isinstance(packed, exp.Subquery):
            return self.read_query(packed.this.args["from_"].this)
        return QueryCost(parts=(ZERO_QUERY_COST,) * ASSUMED_XML_NODES, calls=1)

    def _get_table_name(self, node: exp.Expr) -> str:
        """Return the name of a table in SQLite; "" for a subquery, a CTE or json_each."""
        if _is_json_each(node):
            return ""
        return node.name if isinstance(node, exp.Table) and node.name.lower() not in self._named else ""

    def _read_source(
        self,
        node: exp.Expr,
        join: exp.Join | None,
        source_names: list[str],
        tables: dict[str, str],
        common: list[exp.Expr],
    ) -> CostSource:
        outer = join is not None and bool(join.side)
        tests = list(_iterate_conjuncts(join.args.get("on"))) if outer and join is not None else common
        equal: list[ColumnEquality] = []
        fixed: list[str] = []
        for test in tests:
            for column, other_expression in _iterate_equalities(test):
                if column.table.lower() != source_names[-1] and (column.table or len(tables) > 1):
                    continue
                names = {part.table.lower() for part in other_expression.find_all(exp.Column)} & set(tables)
                if not names:
                    fixed.append(column.name.lower())
                elif names <= set(source_names[:-1]):
                    other_table = (
                        tables[other_expression.table.lower()]
                        if isinstance(other_expression, exp.Column)
                        else ""
                    )
                    equal.append((column.name.lower(), other_table, other_expression.name.lower()))
        table, query = "", None
        if isinstance(node, exp.Table) and isinstance(node.this, exp.Anonymous):
            query = self._read_packed_rows(node.this)
        elif isinstance(node, exp.Table):
            query = self._named.get(node.name.lower())
            table = self._get_table_name(node)
        elif isinstance(node, exp.Subquery):
            query = self.read_query(node.this)
        conditions = (
            [*tests, *common] if outer else tests
        )  # after an outer join, WHERE also filters rows without a match
        bounds = tuple(_iterate_bounds(conditions, source_names[-1], len(tables) == 1)) if table else ()
        return CostSource(table, query, tuple(equal), tuple(fixed), bounds, outer)

    def _count_calls(
        self, nodes: Sequence[object], source_names: list[str], inner: list[tuple[QueryCost, bool]]
    ) -> int:
        """Return the number of function calls in the expressions.

        Append (cost model, is_correlated) of each subquery to *inner*.
        """
        calls = 0
        remaining_nodes = [part for node in nodes for part in (node if isinstance(node, list) else [node])]
        while remaining_nodes:
            node = remaining_nodes.pop()
            if not isinstance(node, exp.Expr):
                continue
            if isinstance(node, exp.Query):
                inner.append((self.read_query(node), _is_correlated(node)))
                continue
            calls += int(isinstance(node, exp.Anonymous | exp.AggFunc | exp.Like))
            remaining_nodes += node.iter_expressions()
        return calls


ASSUMED_XML_NODES: Final = 20
"""Number of XML nodes that a path is assumed to return."""


def _is_json_each(node: exp.Expr) -> bool:
    return isinstance(node, exp.Table) and isinstance(node.this, exp.Anonymous)


def _list_sorts(expression: exp.Expr) -> list[exp.Window]:
    """Return the window functions that need sorted rows.

    All window functions need them, except ROW_NUMBER without an order.
    """
    return [
        window
        for window in expression.find_all(exp.Window)
        if not isinstance(window.this, exp.RowNumber) or any(map(window.args.get, ("order", "partition_by")))
    ]


def _find_grouped_sources(select: exp.Expr, source_names: list[str]) -> tuple[int, ...] | None:
    """Return the indexes of the sources whose columns are in GROUP BY.

    Return None without GROUP BY, or if the source of a column is unknown.
    """
    group = select.args.get("group")
    if group is None or not group.expressions:
        return None
    tables = {column.table.lower() for node in group.expressions for column in node.find_all(exp.Column)}
    if len(source_names) == 1:
        return (0,)
    return tuple(source_names.index(name) for name in sorted(tables)) if tables <= set(source_names) else None


def _iterate_aggregates(value: object) -> Iterator[exp.Expr]:
    """Yield the aggregates without OVER in expressions. Each of them reads every row."""
    remaining_nodes = [value]
    while remaining_nodes:
        node = remaining_nodes.pop()
        if isinstance(node, list):
            remaining_nodes += node
        elif _is_aggregate(node):
            yield node
        elif isinstance(node, exp.Expr) and not isinstance(node, exp.Query | exp.Window):
            remaining_nodes += node.iter_expressions()


def _is_aggregate(node: object) -> TypeGuard[exp.Expr]:
    return isinstance(node, exp.AggFunc) or (
        isinstance(node, exp.Anonymous) and node.name.lower() in AGGREGATES
    )


def _list_unchanged_columns(
    select: exp.Select, sources: tuple[CostSource, ...]
) -> tuple[tuple[str, str, str], ...]:
    """Return (result name, table, column) for each result column that is a plain table column.

    Empty unless the query reads a single table.
    """
    if len(sources) != 1 or not sources[0].table:
        return ()
    named_columns = (
        (projection.alias_or_name.lower(), projection.unalias()) for projection in select.expressions
    )
    return tuple(
        (name, sources[0].table, value.name.lower())
        for name, value in named_columns
        if isinstance(value, exp.Column)
    )


def _list_sources(select: exp.Expr) -> Iterator[tuple[exp.Expr, exp.Join | None]]:
    """Yield all sources after FROM, in order, as (source, join); the first has no join."""
    source = select.args.get("from_")
    if source is not None:
        yield from _flatten_source(source.this, None)
    for join in select.args.get("joins") or ():
        yield from _flatten_source(join.this, join)


def _flatten_source(node: exp.Expr, join: exp.Join | None) -> Iterator[tuple[exp.Expr, exp.Join | None]]:
    """Yield (source, join) of a source in FROM and of the sources joined inside its parentheses."""
    while isinstance(node, exp.Paren) or (
        isinstance(node, exp.Subquery) and isinstance(node.this, exp.Table)
    ):
        yield from _list_joined_sources(node)
        node = node.this
    yield node, join
    yield from _list_joined_sources(node)


def _list_joined_sources(node: exp.Expr) -> Iterator[tuple[exp.Expr, exp.Join | None]]:
    """Yield (source, join) for each join of *node*, including sources inside parentheses."""
    for join in node.args.get("joins") or ():
        yield from _flatten_source(join.this, join)


def _iterate_conjuncts(condition: exp.Expr | None) -> Iterator[exp.Expr]:
    remaining_nodes = [condition]
    while remaining_nodes:
        node = remaining_nodes.pop()
        if isinstance(node, exp.And):
            remaining_nodes += [node.this, node.expression]
        elif isinstance(node, exp.Paren):
            remaining_nodes.append(node.this)
        elif node is not None:
            yield node


def _iterate_equalities(test: exp.Expr) -> Iterator[tuple[exp.Column, exp.Expr]]:
    """Yield (column, other side) of an equality, for each side that is a column.

    Yield nothing for a column whose other side contains a subquery.
    """
    if not isinstance(test, exp.EQ):
        return
    sides = [_unwrap_value(test.this), _unwrap_value(test.expression)]
    for column, other_expression in (sides, sides[::-1]):
        if isinstance(column, exp.Column) and not any(
            isinstance(part, exp.Query) for part in other_expression.walk()
        ):
            yield column, other_expression


_SIGNS: Final[dict[type[exp.Expr], str]] = {exp.GT: ">", exp.GTE: ">=", exp.LT: "<", exp.Like: "like"}


def _iterate_bounds(tests: list[exp.Expr], source: str, single_source: bool) -> Iterator[ColumnBound]:
    """Yield the comparisons of columns of *source* with a number or a LIKE pattern."""
    for test in tests:
        sign = _SIGNS.get(type(test))
        column, other_expression = (
            (_unwrap_value(test.this), _unwrap_value(test.expression)) if sign else (None, None)
        )
        if not isinstance(column, exp.Column) or not isinstance(other_expression, exp.Literal):
            continue
        if other_expression.is_string != (sign == "like"):
            continue
        if sign and (column.table.lower() == source or (single_source and not column.table)):
            yield (
                column.name.lower(),
                sign,
                other_expression.name if other_expression.is_string else float(other_expression.name),
            )


def _unwrap_value(node: exp.Expr) -> exp.Expr:
    while isinstance(node, exp.Paren | exp.Collate):
        node = node.this
    return node


def _is_correlated(query: exp.Expr) -> bool:
    """Return whether *query* uses columns of an outer query."""
    tables = (exp.Table, exp.Subquery, exp.CTE)
    inner_names = {node.alias_or_name.lower() for node in query.find_all(*tables)}
    return any(
        column.table and column.table.lower() not in inner_names for column in query.find_all(exp.Column)
    )


def _is_single_aggregate(select: exp.Select) -> bool:
    """Return whether the query aggregates all rows into one."""
    for projection in select.expressions:
        for node in projection.walk(prune=lambda node: isinstance(node, exp.Query | exp.Window)):
            if _is_aggregate(node):
                return True
    return False


AGGREGATES: Final = frozenset(
    {"t_sum", "t_avg", "t_stdev", "t_stdevp", "t_string_agg", "t_var", "t_varp", "group_concat"}
)
"""Aggregates, by their names in SQLite, that sqlglot reads as ordinary function calls."""


def _read_row_limit(query: exp.Expr) -> int:
    limit = query.args.get("limit")
    text = limit.expression.name if limit is not None and limit.expression is not None else ""
    return int(text) if text.isdigit() and len(text) < 10 else COST_MAX


def _read_limit_parameter(query: exp.Expr) -> tuple[str, bool] | None:
    """Return (name of the parameter in LIMIT, is_length); None if LIMIT has no parameter.

    If *is_length* is True, the limit is the length of the parameter's text instead of its value.
    """
    limit = query.args.get("limit")
    value = limit.expression if limit is not None else None
    if isinstance(value, exp.Anonymous) and value.name == "t_row_limit":
        value = value.expressions[0]
    is_count = isinstance(value, exp.Anonymous) and value.name == "t_len" and len(value.expressions) == 1
    limit_parameter = value.expressions[0] if is_count and value is not None else value
    return (limit_parameter.name, is_count) if isinstance(limit_parameter, exp.Placeholder) else None
