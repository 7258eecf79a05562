"""Rules of GROUP BY, HAVING and DISTINCT for the columns of a SELECT: messages 8120, 8121, 8127, 144, 145, 164."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from sqlglot import exp

from engine.messages import SqlError
from engine.tsql.query import infer
from engine.tsql.query.names import BindingContext, Space, resolve

AGGREGATES: Final = frozenset(
    {"avg", "stdev", "stdevp", "var", "varp", "count_big", "checksum_agg", "string_agg"}
)


class Grouping:
    """Part of the binder that checks groups."""

    def __init__(self, names: BindingContext) -> None:
        self.names = names
        self.space: Space | None = None
        self.problems: list[SqlError] = []
        self.grouped_kinds: set[type[exp.Expr]] = set()

    @staticmethod
    def part(identifier: object) -> str:
        """Return the name of an identifier."""
        if not isinstance(identifier, exp.Expr):
            return ""
        if isinstance(identifier, exp.Parameter):
            return f"@{identifier.name}"
        prefix = "#" if identifier.args.get("temporary") else "##" if identifier.args.get("global_") else ""
        return prefix + str(identifier.name)

    # --- groups

    def check_groups(self, select: exp.Select) -> None:
        """Raise 8120, 8121 or 8127 for columns that are neither grouped nor in an aggregate; 164, 144."""
        group, having = select.args.get("group"), select.args.get("having")
        grouped: set[str] = set()
        self.grouped_kinds = {type(node) for node in group.expressions} if group is not None else set()
        for node in group.expressions if group is not None else ():
            if node.find(exp.Select) is not None or _own_aggregate(node):
                raise SqlError(144)
            if node.find(exp.Column) is None:
                raise SqlError(164)
            grouped.add(self._canonical(node))
            if not self._has_known_columns(node):
                return
        order = select.args.get("order")
        ordered = [one.this for one in order.expressions] if order is not None else []
        values = [value_of(projection) for projection in select.expressions]
        aggregates = group is not None or having is not None or any(map(_own_aggregate, (*values, *ordered)))
        if not aggregates:
            return
        aliases = {str(projection.alias_or_name).lower() for projection in select.expressions}
        places: list[tuple[int, exp.Expr]] = [(8120, value) for value in values]
        if having is not None:
            places.append((8121, having.this))
        for one in ordered:
            if not (isinstance(one, exp.Column) and not one.table and one.name.lower() in aliases):
                places.append((8127, one))
        for number, node in places:
            self.problems += self._ungrouped(node, grouped, number)

    def _has_known_columns(self, node: exp.Expr) -> bool:
        """Return whether every column in it is one; if not, that is told when its type is looked for."""
        for column in node.find_all(exp.Column):
            parts = [self.part(column.args.get(key)) for key in ("catalog", "db", "table")]
            try:
                resolve(self.space, [part for part in parts if part], column.name)
            except SqlError:
                return False
        return True

    def _canonical(self, node: exp.Expr) -> str:
        """Return the expression as it compares with another one: without qualifiers and in small letters."""
        if isinstance(node, exp.Column):
            return node.name.lower()
        if isinstance(node, exp.Paren):
            return self._canonical(node.this)
        return node.transform(bare_column).sql(dialect="tsql").lower()

    def _ungrouped(self, node: exp.Expr, grouped: set[str], number: int) -> list[SqlError]:
        """Return errors for the parts of an expression that are neither grouped nor in an aggregate."""
        problems: list[SqlError] = []
        left = [node]
        while left:
            part = left.pop()
            if isinstance(part, exp.Query) or _is_aggregate(part):
                continue
            if isinstance(part, exp.Column) and not part.is_star:
                problems += self._ungrouped_column(part, grouped, number)
            elif isinstance(part, exp.Star | exp.Column):
                problems += self._ungrouped_star(grouped, number)
            elif not (type(part) in self.grouped_kinds and self._canonical(part) in grouped):
                left += reversed(_parts_of(part))
        return problems

    def _ungrouped_star(self, grouped: set[str], number: int) -> list[SqlError]:
        assert self.space is not None
        return [
            SqlError(number, source.display_name, name)
            for source in self.space.sources
            for name, _ in source.columns or ()
            if name.lower() not in grouped
        ]

    def _ungrouped_column(self, node: exp.Column, grouped: set[str], number: int) -> list[SqlError]:
        if node.name.lower() in grouped:
            return []
        if infer.is_bare_function(node):
            return []
        try:
            parts = [self.part(node.args.get(key)) for key in ("catalog", "db", "table")]
            found = resolve(self.space, [part for part in parts if part], node.name)
        except SqlError:
            return []  # reported when its type is inferred
        if found.source is None or found.space is not self.space:
            return []
        return [SqlError(number, found.source.display_name, node.name)]

    def check_order(self, select: exp.Select) -> None:
        """Raise 145: what DISTINCT rows are ordered by must be one of their columns."""
        order = select.args.get("order")
        if order is None or select.args.get("distinct") is None:
            return
        known = {str(projection.alias_or_name).lower() for projection in select.expressions}
        known |= {self._canonical(value_of(projection)) for projection in select.expressions}
        if any(projection.is_star for projection in select.expressions):
            return
        for ordered in order.expressions:
            node = ordered.this
            if isinstance(node, exp.Literal):
                continue
            if self._canonical(node) not in known:
                raise SqlError(145)


def value_of(projection: exp.Expr) -> exp.Expr:
    """Return the expression of a result column, without its alias."""
    value = projection.unalias()
    if isinstance(value, exp.EQ) and isinstance(value.this, exp.Column | exp.Literal | exp.Parameter):
        expression: exp.Expr = value.args["expression"]
        return expression
    return value


def bare_column(node: exp.Expr) -> exp.Expr:
    """Return the column inside parentheses and casts."""
    return exp.column(node.name) if isinstance(node, exp.Column) and not node.is_star else node


def _is_aggregate(node: exp.Expr) -> bool:
    """Return whether the node is an aggregate of rows, not one with OVER."""
    named = isinstance(node, exp.AggFunc) or (
        isinstance(node, exp.Anonymous) and str(node.this).lower() in AGGREGATES
    )
    return named and not isinstance(node.parent, exp.Window) and not isinstance(node, exp.RowNumber)


def _parts_of(node: exp.Expr) -> list[exp.Expr]:
    """Return the parts of an expression: the arguments of a function with OVER, no name of a part for DATEADD."""
    parts = list(node.iter_expressions())
    if isinstance(node, exp.Window):
        return [part for part in parts if part is not node.this] + list(node.this.iter_expressions())
    if isinstance(node, exp.Anonymous) and str(node.this).lower() in infer.DATE_PART_FIRST:
        return parts[1:]
    return parts


def _own_aggregate(node: exp.Expr) -> bool:
    """Return whether the expression has an aggregate outside its subqueries."""
    return next(_aggregates_in(node), None) is not None


def has_aggregate(nodes: Iterable[exp.Expr]) -> bool:
    """Return whether an expression contains an aggregate outside subqueries."""
    return any(_own_aggregate(node) for node in nodes)


def check_aggregates(select: exp.Select) -> None:
    """Raise 147 for an aggregate in WHERE, 130 for one in another."""
    where = select.args.get("where")
    if where is not None and _own_aggregate(where.this):
        raise SqlError(147)
    for join in select.args.get("joins") or ():
        on = join.args.get("on")
        if isinstance(on, exp.Expr) and _own_aggregate(on):
            raise SqlError(1015)
    for projection in select.expressions:
        for node in _aggregates_in(projection):
            if any(_own_aggregate(part) or part.find(exp.Query) for part in node.iter_expressions()):
                raise SqlError(130)


def _aggregates_in(node: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the outermost aggregates of an expression, outside its subqueries."""
    left = [node]
    while left:
        part = left.pop()
        if _is_aggregate(part):
            yield part
        elif not isinstance(part, exp.Query):
            left += part.iter_expressions()
