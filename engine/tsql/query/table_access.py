"""Table references of a query, and the conditions on the rows that it reads from each table.

Locks use these conditions.
"""

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace
from sqlglot import exp

from engine.tsql.query import for_json_and_xml
from engine.tsql.query.plans import (
    LITERAL_PREFIX,
    ColumnTest,
    JoinLink,
    Operand,
    TableAccess,
    UnsimulatedFeatureError,
)
from engine.tsql.query.translation_context import RewrittenQuery, build_table_ref, get_variable_name

_COMPARISONS: Final[dict[type[exp.Expr], str]] = {
    exp.EQ: "=",
    exp.GTE: ">=",
    exp.GT: ">",
    exp.LTE: "<=",
    exp.LT: "<",
    exp.Like: "LIKE",
}
_MIRRORED_OPERATORS: Final = {"=": "=", ">=": "<=", ">": "<", "<=": ">=", "<": ">"}


def _remove_collation(node: exp.Expr | None) -> exp.Expr | None:
    return node.this if isinstance(node, exp.Collate) else node


def _read_operand(node: exp.Expr | None, query: RewrittenQuery) -> Operand | None:
    """Return *node* as an operand if it is a literal or a variable; None for other expressions."""
    node = _remove_collation(node)
    if isinstance(node, exp.Placeholder):
        names = {value: name for name, value in query.variables.items()}
        name = names.get(str(node.name), "")
        return ("variable" if name.startswith("@") else "number", name.removeprefix(LITERAL_PREFIX), ())
    if isinstance(node, exp.Parameter) and not isinstance(node.this, exp.Parameter):
        return "variable", get_variable_name(node), ()
    if isinstance(node, exp.Neg) and isinstance(node.this, exp.Literal):
        return "number", f"-{node.this.name}", ()
    if isinstance(node, exp.Literal):
        return "text" if node.is_string else "number", str(node.name), ()
    if (
        isinstance(node, exp.Anonymous)
        and node.name == "t_convert"
        and isinstance(node.expressions[2], exp.Null)
    ):
        inner = _read_operand(node.expressions[1], query)
        return (*inner[:2], (*inner[2], str(node.expressions[0].name))) if inner is not None else None
    return None


def _read_condition(part: exp.Expr, table: exp.Expr, query: RewrittenQuery) -> list[ColumnTest]:
    """Return the comparisons in the condition *part* with a column of *table*; empty for other conditions."""
    tests: list[tuple[exp.Expr | None, str, list[exp.Expr | None]]] = [
        (part.this, _COMPARISONS.get(type(part), ""), [part.args.get("expression")])
    ]
    if isinstance(part, exp.Between):
        tests = [(part.this, ">=", [part.args["low"]]), (part.this, "<=", [part.args["high"]])]
    elif isinstance(part, exp.In):
        tests = [(part.this, "IN", list(part.expressions))]
    found: list[ColumnTest] = []
    for left, operator, right in tests:
        column, values = _remove_collation(left), right
        if len(right) == 1 and isinstance(other_side := _remove_collation(right[0]), exp.Column):
            column, values, operator = other_side, [left], _MIRRORED_OPERATORS.get(operator, "")
        operands = [operand for value in values if (operand := _read_operand(value, query)) is not None]
        if not isinstance(column, exp.Column) or column.table not in ("", table.alias_or_name):
            return []
        if not operator or not operands or len(operands) != len(values):
            return []
        found.append((column.name.lower(), operator, tuple(operands)))
    return found


def _read_top(select: exp.Expr, query: RewrittenQuery) -> Operand | None:
    """Return the operand of TOP; None without TOP, or if a result row needs several rows of the table."""
    limit = select.args.get("limit")
    if limit is None or select.args.get("group") or select.args.get("distinct"):
        return None
    if any(item.find(exp.AggFunc, exp.Window) for item in select.expressions):
        return None
    value = limit.expression
    if isinstance(value, exp.Anonymous) and len(value.expressions) == 1:
        value = value.expressions[0]
    return _read_operand(value, query)


JoinedSource = tuple[exp.Expr, exp.Join | None]
"""(table or subquery in FROM, its join). The first one has no join (None)."""


def _list_joined_tables(select: exp.Expr) -> Iterator[JoinedSource]:
    """Yield (table or subquery, its join) for each source in FROM. The first one has no join (None)."""
    source = select.args.get("from_")
    pending: list[JoinedSource] = [(source.this, None)] if isinstance(source, exp.From) else []
    pending += [(join.this, join) for join in select.args.get("joins") or ()]
    for node, join in pending:
        yield node, join
        yield from ((inner.this, inner) for inner in node.args.get("joins") or ())


def _list_conjuncts(condition: exp.Expr | None) -> list[exp.Expr]:
    """Return the conditions that AND combines."""
    if condition is None:
        return []
    return list(condition.flatten()) if isinstance(condition, exp.And) else [condition]


def _list_conditions(select: exp.Expr, joined: list[JoinedSource], table: exp.Expr) -> list[exp.Expr]:
    """Return the conditions of WHERE and ON that every row of *table* in the result satisfies."""
    where = select.args.get("where")
    parts = _list_conjuncts(where.this if isinstance(where, exp.Where) else None)
    for node, join in joined:
        if join is not None and (not join.side or node is table):
            parts += _list_conjuncts(join.args.get("on"))
    return parts


def _find_source(select: exp.Expr | None, alias: str) -> tuple[exp.Expr, exp.Expr] | None:
    """Return (SELECT, table or subquery) for an alias in a query or in the queries around it."""
    while isinstance(select, exp.Select):
        for node, _ in _list_joined_tables(select):
            if node.alias_or_name.lower() == alias.lower():
                return select, node
        select = select.parent_select
    return None


def _find_reading_query(select: exp.Select, query: RewrittenQuery) -> tuple[exp.Select, exp.Expr] | None:
    """Return (SELECT, source) for the only SELECT that reads the result of *select*.

    The source is the derived table or the common table expression in FROM that *select* defines.
    Return None if there is no such SELECT.
    """
    source, user = select.parent, None
    if isinstance(source, exp.CTE):
        name, statement = source.alias.lower(), source.root()
        uses = [node for node in statement.find_all(exp.Table) if node.name.lower() == name and not node.db]
        source = uses[0] if len(uses) == 1 and name in query.ctes else None
    if isinstance(source, exp.Subquery | exp.Table) and isinstance(source.parent, exp.From | exp.Join):
        user = source.parent_select
    return (user, source) if isinstance(user, exp.Select) and source is not None else None


def _read_source_tests(
    select: exp.Select, source: exp.Expr, query: RewrittenQuery
) -> list[ColumnTest] | None:
    """Return the comparisons with columns of *source* in *select* and in the queries that read *select*.

    Every row of *source* that affects the result satisfies these comparisons. Return None if they are
    unknown.
    """
    joined = list(_list_joined_tables(select))
    if any(join is not None and join.side in ("RIGHT", "FULL") for _, join in joined):
        return None
    parts = _list_conditions(select, joined, source)
    return [
        *(test for part in parts for test in _read_condition(part, source, query)),
        *_read_outer_tests(select, source, query),
    ]


def _read_outer_tests(select: exp.Select, source: exp.Expr, query: RewrittenQuery) -> list[ColumnTest]:
    """Return the comparisons of columns of *source* in the queries that read *select*."""
    user = _find_reading_query(select, query) if _keeps_conditions(select) else None
    tests = _read_source_tests(*user, query) if user is not None else None
    names = _map_columns(select, source)
    return [
        (names.get(name, name), operator, operands)
        for name, operator, operands in tests or ()
        if name in names or "*" in names
    ]


def _keeps_conditions(select: exp.Select) -> bool:
    """Return whether a condition on the result of *select* also limits the rows that it reads."""
    return not any(select.args.get(part) for part in ("limit", "offset")) and not any(
        item.find(exp.Window) for item in select.expressions
    )


def _map_columns(select: exp.Select, source: exp.Expr) -> dict[str, str]:
    """Return result column -> column of *source*; "*" stands for all columns of *source*.

    A column without a table name is returned for every source. This is harmless, because only one source has
    it.
    """
    columns = [(item.alias_or_name.lower(), _remove_collation(item.unalias())) for item in select.expressions]
    return {
        name: value.name.lower()
        for name, value in columns
        if isinstance(value, exp.Star)
        or (isinstance(value, exp.Column) and value.table in ("", source.alias_or_name))
    }


def list_column_origins(tree: exp.Expr) -> tuple[tuple[str, str, str], ...]:
    """Return (result column, table key, table column) for each result column that comes from a table.

    Return an empty tuple if a condition on the result does not limit the rows that the query reads.
    """
    if not isinstance(tree, exp.Select) or not _keeps_conditions(tree):
        return ()
    return tuple(
        (name, node.meta[_REFERENCE_KEY].key, column)
        for node, _ in _list_joined_tables(tree)
        if _REFERENCE_KEY in node.meta
        for name, column in _map_columns(tree, node).items()
    )


def _read_links(
    part: exp.Expr, table: exp.Table, select: exp.Select, query: RewrittenQuery
) -> tuple[list[ColumnTest], list[JoinLink]]:
    """Return the tests and links for *table* that follow from the condition *part*.

    Only an equality `column = column of another source` has any. If the other column has constant
    values, return a test. If the other source is a base table, return a link to it with its
    conditions.
    """
    if not isinstance(part, exp.EQ):
        return [], []
    for own_column, other_column in ((part.this, part.expression), (part.expression, part.this)):
        own_column, other_column = _remove_collation(own_column), _remove_collation(other_column)
        if not (
            isinstance(own_column, exp.Column) and isinstance(other_column, exp.Column) and other_column.table
        ):
            continue
        source_match = (
            _find_source(select, other_column.table) if own_column.table == table.alias_or_name else None
        )
        if source_match is None or source_match[1] is table:
            continue
        outer, source = source_match
        outer, source, name = _resolve_derived_column(outer, source, other_column.name)
        if isinstance(source, exp.Table):
            if source.name.lower() in query.ctes:
                continue
            ref = source.meta.get(_REFERENCE_KEY) or build_table_ref(source)
            parts = _list_conditions(outer, list(_list_joined_tables(outer)), source)
            tests = [test for condition in parts for test in _read_condition(condition, source, query)]
            tests += _read_outer_tests(outer, source, query) if isinstance(outer, exp.Select) else []
            return [], [JoinLink(own_column.name.lower(), ref, name.lower(), tuple(tests))]
        elif operands := _read_constant_column(source, name, query):
            return [(own_column.name.lower(), "IN", operands)], []
    return [], []


def _resolve_derived_column(select: exp.Expr, source: exp.Expr, name: str) -> tuple[exp.Expr, exp.Expr, str]:
    """Return (SELECT, table, column) behind a column of a derived table.

    Return the arguments unchanged for a base table or a column that is computed.
    """
    inner = source.this if isinstance(source, exp.Subquery) else None
    if not isinstance(inner, exp.Select) or inner.args.get("group"):
        return select, source, name
    tables = [node for node, _ in _list_joined_tables(inner)]
    column = next((item for item in inner.expressions if item.alias_or_name.lower() == name.lower()), None)
    if len(tables) != 1 or column is None or not isinstance(column.unalias(), exp.Column):
        return select, source, name
    return inner, tables[0], column.unalias().name


def _read_constant_column(source: exp.Expr, name: str, query: RewrittenQuery) -> tuple[Operand, ...]:
    """Return the values of a column of VALUES or of a SELECT without FROM; empty for other sources."""
    node = source.this if isinstance(source, exp.Subquery) else source
    alias = source.args.get("alias")
    names = [column.name.lower() for column in alias.columns] if isinstance(alias, exp.TableAlias) else []
    rows: list[list[exp.Expr]] = []
    if isinstance(node, exp.Values):
        rows = [list(row.expressions) for row in node.expressions]
    else:
        selects = [node]
        while isinstance(selects[-1], exp.Union):
            selects[-1:] = [selects[-1].expression, selects[-1].this]
        for select in reversed(selects):
            if not isinstance(select, exp.Select) or select.args.get("from_") or select.args.get("where"):
                return ()
            names = names or [item.alias_or_name.lower() for item in select.expressions]
            rows.append([item.unalias() for item in select.expressions])
    if name.lower() not in names:
        return ()
    position = names.index(name.lower())
    operands = [_read_operand(row[position], query) for row in rows if position < len(row)]
    return tuple(operand for operand in operands if operand is not None) if None not in operands else ()


def _read_access(table: exp.Table, query: RewrittenQuery) -> TableAccess | None:
    """Return the conditions that determine which rows of *table* the query reads; None if they are unknown."""
    select = table.parent_select
    if not isinstance(select, exp.Select) or not isinstance(table.parent, exp.From | exp.Join):
        return None
    joined = list(_list_joined_tables(select))
    if any(join is not None and join.side in ("RIGHT", "FULL") for _, join in joined):
        return None
    parts = _list_conditions(select, joined, table)
    groups = [_read_condition(part, table, query) for part in parts]
    conditions = [test for group in groups for test in group]
    links: list[JoinLink] = []
    for part, group in zip(parts, groups, strict=True):
        if not group:
            constants, new_links = _read_links(part, table, select, query)
            conditions += constants
            links += new_links
    conditions += _read_outer_tests(select, table, query)
    if len(joined) > 1:
        return TableAccess(tuple(conditions), complete=False, links=tuple(links))
    order: list[tuple[str, bool]] = []
    items = select.args["order"].expressions if select.args.get("order") else []
    for item in items:
        column = _remove_collation(item.this)
        if isinstance(column, exp.Column):
            order.append((column.name.lower(), bool(item.args.get("desc"))))
    top = _read_top(select, query) if len(order) == len(items) else None
    return TableAccess(tuple(conditions), all(groups), top, tuple(order), tuple(links))


_REFERENCE_KEY: Final = "reference"
"""Metadata key of a rewritten table. The value is the `TableRef` of the table."""


def rewrite_table(table: exp.Expr, query: RewrittenQuery) -> exp.Expr:
    """Replace a table by its name in SQLite, and register its reference."""
    assert isinstance(table, exp.Table)
    if table.args.get("pivots"):
        raise UnsimulatedFeatureError("PIVOT")
    if table.args.get("sample"):
        raise UnsimulatedFeatureError("TABLESAMPLE")
    ref = build_table_ref(table)
    if len(ref.parts) == 1 and not ref.call and ref.key in query.ctes:
        table.set("hints", None)
        return table
    ref = replace(ref, access=_read_access(table, query))
    known_table = query.tables.setdefault(ref.key, ref)
    if known_table.access != ref.access:  # the query uses the table twice, with different conditions
        query.tables[ref.key] = replace(known_table, access=None)
    alias = table.args.get("alias") or exp.TableAlias(this=exp.to_identifier(ref.parts[-1], quoted=True))
    joins = table.args.get("joins")
    new_table = exp.Table(this=exp.to_identifier(ref.key, quoted=True), alias=alias, joins=joins)
    new_table.meta[_REFERENCE_KEY] = ref
    new_table.meta[for_json_and_xml.ELEMENT_NAME_KEY] = table.alias or ".".join(ref.parts)
    return new_table
