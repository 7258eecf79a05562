"""Rewriting of each part of a T-SQL query so that SQLite gives the same result."""

from collections.abc import Callable, Generator, Iterable
from typing import Final

from sqlglot import exp

from engine.messages import SqlError
from engine.tsql.query import for_json_and_xml, forms, grouping_sets
from engine.tsql.query.apply_rewriting import PACKED_ROWS_KEY, check_xml_path
from engine.tsql.query.binding import bind_query
from engine.tsql.query.cost_tree import build_query_cost
from engine.tsql.query.form_rewriting import REWRITTEN_NODE_CLASSES, replace_unsupported_forms
from engine.tsql.query.forms import force_joins_first, unwrap_value
from engine.tsql.query.plans import (
    BINARY_COLLATION,
    CASE_SENSITIVE_COLLATION,
    COLLATIONS,
    DEFAULT_COLLATION,
    LITERAL_PREFIX,
    QUERY_NAME_KEY,
    UNNAMED,
    BindingContext,
    UnsimulatedFeatureError,
)
from engine.tsql.query.syntax_normalization import write_sqlite
from engine.tsql.query.table_access import list_column_origins, rewrite_table
from engine.tsql.query.translation_context import (
    RewrittenQuery,
    rewrite_column,
    rewrite_parameter,
)
from engine.tsql.query.type_inference import DATE_PART_FIRST
from engine.tsql.scalars import xpath
from engine.tsql.scalars.types import NUMBER_DIGITS_MAX

NODES_PER_STEP: Final = 2_000
BIND_WORK: Final = 3
WORK_PER_NODE: Final = 1
"""Units of work (work.py) per query node and rewriting pass. BIND_WORK: per node for binding.

Both figures are measured.
"""


def rewrite_in_steps(
    tree: exp.Expr, names: BindingContext
) -> Generator[int, None, tuple[str, RewrittenQuery]]:
    """Rewrite a query for SQLite in steps. Return the new text, tables, variables and costs of the query."""
    query = RewrittenQuery()
    nodes = list(tree.walk())  # the nodes are listed once, because a walk is expensive
    yield len(nodes) * BIND_WORK
    if _has_node(nodes, forms.REPLACED_EXPRESSIONS):
        forms.rewrite_quantified_comparisons(tree)
    has_function = any(map(grouping_sets.find_grouping_function, nodes))
    if has_function or _has_node(nodes, grouping_sets.MULTIPLE_GROUPINGS):
        tree = grouping_sets.expand_grouping_clauses(tree)
    columns = bind_query(tree, names)
    query.outputs = tuple(column.name for column in columns or ())
    query.kinds = tuple(column.kind for column in columns or ())
    query.nullable = tuple(column.nullable for column in columns or ())
    nodes = list(tree.walk())
    yield len(nodes) * WORK_PER_NODE
    if _has_node(nodes, REWRITTEN_NODE_CLASSES):
        tree = replace_unsupported_forms(tree)
        nodes = list(tree.walk())
    query.ctes = {node.alias.lower() for node in nodes if isinstance(node, exp.CTE)}
    has_derived_tables = _has_node(nodes, (exp.With, exp.Subquery))
    work = len(nodes) * WORK_PER_NODE
    yield work
    for number, node in enumerate(reversed(nodes), start=1):
        if number % NODES_PER_STEP == 0:
            yield NODES_PER_STEP * WORK_PER_NODE
        rewrite = _REWRITE_RULES.get(type(node))
        if rewrite is None:
            continue
        new = rewrite(node, query)
        if new is not node:
            has_derived_tables |= isinstance(new, exp.Query)  # the rewrite of FOR XML adds an outer query
            if node is tree:
                tree = new
            else:
                _replace_node(node, new)
    yield work
    if has_derived_tables:
        _separate_derived_tables(tree)
    _fix_join_order(tree)
    query.cost, query.origins = build_query_cost(tree), list_column_origins(tree)
    return write_sqlite(tree), query


def _replace_node(node: exp.Expr, replacement: exp.Expr) -> None:
    """Replace a node in place, without renumbering the list that contains it.

    `node.replace` would renumber the list, which takes one second for an IN of 2,000 values.
    """
    parent, key, index = node.parent, node.arg_key, node.index
    if parent is None or parent is replacement or key is None or index is None:
        node.replace(replacement)
        return
    parent.args[key][index] = replacement
    replacement.parent, replacement.arg_key, replacement.index = parent, key, index


def _has_node(nodes: Iterable[exp.Expr], kinds: tuple[type[exp.Expr], ...]) -> bool:
    return any(issubclass(kind, kinds) for kind in set(map(type, nodes)))


def _separate_derived_tables(tree: exp.Expr) -> None:
    """Make SQLite compute derived tables separately.

    If SQLite merged nested derived tables such as SELECT a + a AS b, the expression would double at each
    level.
    """
    for clause in list(tree.find_all(exp.With)):
        for cte in clause.expressions:
            names = [table.name.lower() for table in tree.find_all(exp.Table)]
            if cte.meta.get(forms.STREAMED_KEY) and names.count(cte.alias.lower()) == 1:
                continue
            if not any(table.name.lower() == cte.alias.lower() for table in cte.find_all(exp.Table)):
                cte.set("materialized", True)
    for derived in list(tree.find_all(exp.Subquery)):
        query, parent = derived.this, derived.parent
        if not isinstance(query, exp.Select | exp.SetOperation) or isinstance(parent, exp.SetOperation):
            continue
        if isinstance(parent, exp.From | exp.Join) and not _has_plain_columns(query):
            if query.args.get("limit") is None:
                query.set("limit", exp.Limit(expression=exp.Literal.number(-1)))
            query.set("offset", exp.Offset(expression=exp.Literal.number(0)))


def _fix_join_order(tree: exp.Expr) -> None:
    """Make SQLite join the tables in the order of the query's text.

    Otherwise each SQLite version would choose its own order of tables, rows and calls to our functions.
    """
    for join in tree.find_all(exp.Join):
        if not join.side and join.kind.upper() in ("", "INNER", "CROSS"):
            join.set("kind", "CROSS")


def _has_plain_columns(query: exp.Expr) -> bool:
    """Return whether all result columns are plain columns or literals.

    SQLite can merge such a query into the outer query without additional nodes.
    """
    plain_types = exp.Column | exp.Star | exp.Literal
    return isinstance(query, exp.Select) and all(
        isinstance(projection.unalias(), plain_types) for projection in query.expressions
    )


# --- expressions ----------------------------------------------------------------------------------------

UNCHECKED_ARITY: Final = -1
"""Argument count of a call whose arguments the grammar has already checked."""

_KNOWN_UDF: Final = frozenset(
    {
        "agent_datetime", "fn_varbintohexstr", "fn_varbintohexsubstring", "fn_hadr_is_primary_replica",
        "fn_hadr_backup_is_preferred_replica",
    }
)  # fmt: skip


def _build_call(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=f"t_{name}", expressions=list(arguments))


def _rewrite_call(node: exp.Expr, query: RewrittenQuery) -> exp.Expr:
    call_name = str(node.this)
    name = call_name.lower()
    if name == "avg" and "average" in node.meta:
        return node if isinstance(node.parent, exp.Window) else _rewrite_average(node, node.meta["average"])
    arguments = list(node.expressions)
    if name in ("percent_rank", "cume_dist") and isinstance(node.parent, exp.Window):
        query.calls.add((call_name, len(arguments)))
        return node  # SQLite supports this function
    # RAND gives all rows the same number
    if name == "rand" and not arguments and not isinstance(node.parent, exp.Subquery):
        query.calls.add((call_name, 0))
        return exp.Subquery(this=exp.Select(expressions=[_build_call(name)]))
    if name in DATE_PART_FIRST and arguments and isinstance(arguments[0], exp.Column):
        arguments[0] = exp.Literal.string(arguments[0].name.lower())
    if not isinstance(node.parent, exp.Dot | exp.Table | exp.Lateral):
        query.calls.add((call_name, len(arguments)))
    collation = _find_other_collation(*arguments)
    if collation is None:
        call = _build_call(name, *arguments)
        call.meta[QUERY_NAME_KEY] = call_name
        return call
    exact = f"{name}_exact" if name in CASE_SENSITIVE_CALLS else name
    return exp.Collate(this=_build_call(exact, *arguments), expression=exp.var(collation))


CASE_SENSITIVE_CALLS: Final = frozenset({"charindex", "patindex", "replace"})
"""Functions that compare texts and have variants for case-sensitive collations (functions.py)."""


def _find_other_collation(*values: exp.Expr) -> str | None:
    """Return the explicit collation in *values* that is not the default collation; None without one."""
    named = [value.expression.name for value in values if isinstance(value, exp.Collate)]
    return next((name for name in named if name in (CASE_SENSITIVE_COLLATION, BINARY_COLLATION)), None)


def _rewrite_like(node: exp.Expr, query: RewrittenQuery) -> exp.Expr:
    """Replace LIKE with a case-sensitive collation by a call; SQLite's LIKE ignores collations."""
    text, pattern = node.this, node.args["expression"]
    return node if _find_other_collation(text, pattern) is None else _build_call("like_exact", pattern, text)


def _rewrite_escape(node: exp.Expr, query: RewrittenQuery) -> exp.Expr:
    matched = node.this
    if not isinstance(matched, exp.Anonymous):
        return node
    return _build_call("like_exact", *matched.expressions, node.args["expression"])


def _rewrite_dot(node: exp.Expr, query: RewrittenQuery) -> exp.Expr:
    """Rewrite an XML method (`.value`) or a function in another schema as a call."""
    call = node.expression
    if not isinstance(call, exp.Anonymous):
        return node
    name = str(call.this).removeprefix("t_")
    if name in _KNOWN_UDF:
        return call
    if forms.XML_METHODS.get(name) == len(call.expressions):
        return _call_xml_method(name, node.this, call.expressions, query)
    last = str(call.meta.get(QUERY_NAME_KEY, name))
    path_text = f"{node.this.sql(dialect='tsql')}.{last}"
    mangled = f"u{len(query.functions)}_{name}"
    query.functions[mangled] = path_text
    return exp.Anonymous(this=mangled, expressions=list(call.expressions))


def _call_xml_method(name: str, xml: exp.Expr, arguments: list[exp.Expr], query: RewrittenQuery) -> exp.Expr:
    path = arguments[0]
    if not isinstance(path, exp.Literal) or name == "modify":
        raise UnsimulatedFeatureError(f"the method {name}() of xml")
    check_xml_path(xpath.VARIABLE_REFERENCE.sub('""', path.name))
    named = [query.get_parameter(match[1].lower()) for match in xpath.VARIABLE_REFERENCE.finditer(path.name)]
    xml_call = _build_call(f"xml_{name}", xml, path, *named)
    if name != "value":
        return xml_call
    return _build_call(
        "convert", exp.Literal.string(arguments[1].name.lower()), xml_call, exp.Null(), exp.Literal.string("")
    )


def _build_operator_rule(name: str) -> Callable[[exp.Expr, RewrittenQuery], exp.Expr]:
    """Build a rewriting rule for an operator.

    The rule creates a call of `operate` if the type of the result is known. Otherwise, it creates a call of
    *name*, a function that does not need the type.
    """

    def rewrite(node: exp.Expr, query: RewrittenQuery) -> exp.Expr:
        typed = node.meta.get("call")
        if typed is None:
            return _flatten_call(name, node.this, node.args["expression"])
        if typed[0] in ("joined", "pasted"):
            return _flatten_call(typed[0], node.this, node.args["expression"], exp.Literal.string(typed[2]))
        operator, kind = exp.Literal.string(typed[1]), exp.Literal.string(typed[2])
        return _build_call("operate", operator, kind, node.this, node.args["expression"])

    return rewrite


def _rewrite_sum(node: exp.Expr, query: RewrittenQuery) -> exp.Expr:
    """Replace SUM by our function, because SQLite adds floats differently since version 3.43."""
    return _build_call("sum", node.this)


def _rewrite_literal(node: exp.Expr, query: RewrittenQuery) -> exp.Expr:
    """Pass a decimal number as a parameter, because SQLite versions parse its last digits differently."""
    name = node.name
    if node.args.get("is_string") or (name.isdigit() and len(name) <= NUMBER_DIGITS_MAX):
        return node
    return query.get_parameter(LITERAL_PREFIX + node.name)


def _rewrite_unary(node: exp.Expr, query: RewrittenQuery) -> exp.Expr:
    typed = node.meta.get("call")
    return node if typed is None else _build_call(typed[0], exp.Literal.string(typed[2]), node.this)


def _flatten_call(name: str, left: exp.Expr, right: exp.Expr, kind: exp.Expr | None = None) -> exp.Expr:
    """Return a + b + c as one call. Nested calls of a hundred operands would be too deep for SQLite."""
    first = [kind] if kind is not None else []
    has_same_name = isinstance(left, exp.Anonymous) and left.this == f"t_{name}"
    if has_same_name and name in ("add", "joined", "pasted") and len(left.expressions) < CALL_ARGUMENTS_MAX:
        return _build_call(name, *first, *left.expressions[len(first) :], right)
    return _build_call(name, *first, left, right)


def _rewrite_window(node: exp.Expr, query: RewrittenQuery) -> exp.Expr:
    if isinstance(node.this, exp.Lag | exp.Lead | exp.FirstValue | exp.LastValue):
        query.calls.add((node.this.sql_name(), 0))
    order = node.args.get("order")
    is_unordered = order is not None and all(map(_is_unordered, order.expressions))
    if is_unordered and isinstance(node.this, exp.RowNumber):
        node.set("order", None)
    kind = node.this.meta.get("average")
    return node if kind is None else _rewrite_average(node.this, kind, node)


def _is_unordered(ordered: exp.Expr) -> bool:
    """Return whether the term is ORDER BY (SELECT NULL), which numbers rows in any order."""
    value = ordered.this
    while isinstance(value, exp.Collate | exp.Paren | exp.Subquery):
        value = value.this
    return isinstance(value, exp.Select) and value.args.get("from_") is None and not value.find(exp.Column)


def _rewrite_average(node: exp.Expr, kind: str, window: exp.Expr | None = None) -> exp.Expr:
    """Rewrite AVG(x) as SUM(x) / COUNT(x) in the type *kind*."""

    def add_window(aggregate: exp.Expr) -> exp.Expr:
        if window is None:
            return aggregate
        copied = window.copy()
        copied.set("this", aggregate)
        return copied

    value = node.expressions[0]
    total, count = add_window(_build_call("sum", value.copy())), add_window(exp.Count(this=value.copy()))
    return _build_call("operate", exp.Literal.string("/"), exp.Literal.string(kind), total, count)


CALL_ARGUMENTS_MAX: Final = 100
"""Maximum number of arguments in a call. SQLite's limit is 127."""


def _rewrite_convert(node: exp.Expr, query: RewrittenQuery) -> exp.Expr:
    if isinstance(node, exp.Convert):
        kind, value, style = node.this, node.expression, node.args.get("style")
    else:
        kind, value, style = node.args["to"], node.this, None
    safe = isinstance(node, exp.TryCast) or bool(node.args.get("safe"))
    name = node.meta.get("target") or (kind.sql(dialect="tsql").lower() if kind is not None else "")
    source = exp.Literal.string(node.meta.get("source", ""))
    call = "try_convert" if safe else "convert"
    if safe:
        query.calls.add(("TRY_CAST" if isinstance(node, exp.TryCast) else "TRY_CONVERT", UNCHECKED_ARITY))
    return _build_call(call, exp.Literal.string(name), value, style or exp.Null(), source)


def _add_collation(node: exp.Expr | None) -> exp.Expr | None:
    skip = exp.Collate | exp.Tuple | exp.Star
    if node is None or isinstance(node, skip) or (isinstance(node, exp.Literal) and not node.is_string):
        return node
    return exp.Collate(this=node, expression=exp.var(DEFAULT_COLLATION))


def _rewrite_comparison(node: exp.Expr, query: RewrittenQuery) -> exp.Expr:
    """Put the explicit or default collation of a comparison on its left operand, as SQLite requires."""
    other_nodes = [node.args.get(key) for key in ("expression", "low", "high")] + list(node.expressions)
    if isinstance(node, exp.EQ):
        node.set("this", _remove_rtrim(node.this))
        node.set("expression", _remove_rtrim(node.expression))
        other_nodes[0] = node.expression
    named = next((node_found for node_found in other_nodes if isinstance(node_found, exp.Collate)), None)
    if named is not None and not isinstance(node.this, exp.Collate):
        node.set("this", exp.Collate(this=node.this, expression=named.expression.copy()))
    node.set("this", _add_collation(node.this))
    return node


def _remove_rtrim(node: exp.Expr) -> exp.Expr:
    """Remove RTRIM from a column in a comparison: the result is the same, and SQLite can use an index."""
    inner_node = node.this if isinstance(node, exp.Collate) else node
    trimmed = (
        isinstance(inner_node, exp.Anonymous)
        and inner_node.this == "t_rtrim"
        and len(inner_node.expressions) == 1
    )
    if not trimmed or not isinstance(inner_node.expressions[0], exp.Column):
        return node
    column = inner_node.expressions[0]
    return exp.Collate(this=column, expression=node.expression) if isinstance(node, exp.Collate) else column


def _rewrite_extreme(node: exp.Expr, query: RewrittenQuery) -> exp.Expr:
    if not isinstance(node.this, exp.Distinct):
        node.set("this", _add_collation(node.this))
    return node


def _collate_expressions(node: exp.Expr, query: RewrittenQuery) -> exp.Expr:
    node.set("expressions", [_add_collation(value) for value in node.expressions])
    return node


def _collate_projections(select: exp.Expr) -> None:
    """Give computed result columns the default collation, which table columns also have."""
    projections: list[exp.Expr] = []
    for projection in select.expressions:
        value = projection.unalias()
        if isinstance(value, exp.Column | exp.Star | exp.Null | exp.Collate) or projection.is_star:
            projections.append(projection)
        elif isinstance(projection, exp.Alias):
            projection.set("this", _add_collation(value))
            projections.append(projection)
        else:
            projections.append(_add_collation(value) or value)
    select.set("expressions", projections)


def _rewrite_subquery(node: exp.Expr, query: RewrittenQuery) -> exp.Expr:
    """Make a scalar subquery raise 512 for a second row."""
    inner = node.this
    if not node.meta.get("one_row") or not isinstance(inner, exp.Select | exp.SetOperation):
        return node
    first: exp.Expr = inner
    while isinstance(first, exp.SetOperation):
        first = first.this
    if not isinstance(first, exp.Select) or len(first.expressions) != 1 or first.expressions[0].is_star:
        return node
    first.set("expressions", [exp.alias_(first.expressions[0].unalias(), "v", quoted=True)])
    if inner.args.get("limit") is None:
        inner.set("limit", exp.Limit(expression=exp.Literal.number(2)))
    alias = exp.TableAlias(this=exp.to_identifier("one", quoted=True))
    source = exp.Subquery(this=inner, alias=alias)
    value = exp.Anonymous(this="t_one_row", expressions=[exp.column(exp.to_identifier("v", quoted=True))])
    node.set("this", exp.Select(expressions=[value], from_=exp.From(this=source)))
    return node


def _rewrite_case(node: exp.Expr, query: RewrittenQuery) -> exp.Expr:
    if node.this is not None:
        node.set("this", _add_collation(node.this))
    return node


def _rewrite_collate(node: exp.Expr, query: RewrittenQuery) -> exp.Expr:
    """Replace a SQL Server collation by the equivalent SQLite one. Raises 448 for an unknown one."""
    name = node.expression.name.lower()
    if name in COLLATIONS:
        return node
    words = set(name.split("_"))
    if not words & {"ci", "cs", "bin", "bin2"} and name != "database_default":
        raise SqlError(448, node.expression.name)
    collation = (
        BINARY_COLLATION
        if words & {"bin", "bin2"}
        else CASE_SENSITIVE_COLLATION
        if "cs" in words
        else DEFAULT_COLLATION
    )
    if "ai" in words:
        raise UnsimulatedFeatureError("accent-insensitive collations")
    return exp.Collate(this=node.this, expression=exp.var(collation))


def _rewrite_national(node: exp.Expr, query: RewrittenQuery) -> exp.Expr:
    return exp.Literal.string(node.name)


def _rewrite_hex(node: exp.Expr, query: RewrittenQuery) -> exp.Expr:
    digits = node.name
    return exp.HexString(this=digits if len(digits) % 2 == 0 else "0" + digits)


def _propagate_constants(select: exp.Expr) -> None:
    """For a.x = b.x AND b.x = 5, add a.x = 5, so that SQLite need not scan table a."""
    condition, joins = select.args.get("where"), select.args.get("joins") or ()
    if condition is None or not joins:
        return
    tests = list(condition.this.flatten()) if isinstance(condition.this, exp.And) else [condition.this]
    for join in joins:
        on_clause = join.args.get("on")
        if isinstance(on_clause, exp.Expr) and not join.side:
            tests += on_clause.flatten() if isinstance(on_clause, exp.And) else [on_clause]
    pairs = [
        (unwrap_value(test.this), unwrap_value(test.expression)) for test in tests if isinstance(test, exp.EQ)
    ]
    both_orders = [*pairs, *((right, left) for left, right in pairs)]
    known_values = {
        (column.table.lower(), column.name.lower()): value
        for column, value in both_orders
        if isinstance(column, exp.Column) and _is_constant(value)
    }
    for first_side, second_side in both_orders:
        if (
            not isinstance(first_side, exp.Column)
            or not isinstance(second_side, exp.Column)
            or not (first_side.table and second_side.table)
        ):
            continue
        value = known_values.get((first_side.table.lower(), first_side.name.lower()))
        if value is not None and (second_side.table.lower(), second_side.name.lower()) not in known_values:
            equality = exp.EQ(this=_add_collation(second_side.copy()), expression=value.copy())
            condition.set("this", exp.and_(condition.this, equality, copy=False))


def _is_constant(value: exp.Expr) -> bool:
    """Return whether *value* is a literal, a parameter, or a call with constant arguments (OBJECT_ID …)."""
    if isinstance(value, exp.Anonymous):
        return value.this in ("t_object_id", "t_db_id", "t_schema_id") and all(
            map(_is_constant, value.expressions)
        )
    return isinstance(value, exp.Literal | exp.Placeholder)


def _rewrite_select(node: exp.Expr, query: RewrittenQuery) -> exp.Expr:
    """Remove the parts of a SELECT that SQLite lacks, such as options. Rewrite FOR XML and FOR JSON."""
    node.set("options", None)
    node.set("hint", None)
    if (
        isinstance(node, exp.Select)
        and node.args.get("for_") is None
        and (
            node.args.get("distinct") is not None
            or isinstance(node.parent, exp.SetOperation | exp.CTE | exp.Subquery)
        )
    ):
        _collate_projections(node)
    force_joins_first(node)
    _propagate_constants(node)
    limit = node.args.get("limit")
    options = limit.args.get("limit_options") if limit is not None else None
    if limit is not None and options is not None:
        percent, ties = bool(options.args.get("percent")), bool(options.args.get("with_ties"))
        if percent and limit.expression.name == "100":
            node.set("limit", None)
        elif percent or ties:
            forms.rewrite_top(node, limit, percent, ties)
    if node.args.get("into") is not None:
        raise UnsimulatedFeatureError("SELECT … INTO inside a query")
    if (
        isinstance(node, exp.Select)
        and node.args.get("from_") is None
        and any(e.is_star for e in node.expressions)
    ):
        if not isinstance(node.parent, exp.Exists):
            raise SqlError(263)
        node.set("expressions", [exp.Literal.number(1)])
    clause = node.args.get("for_")
    if clause is None:
        return node
    node.set("for_", None)
    kind = str(clause.args.get("kind"))
    if kind == "BROWSE":
        return node
    write_sqlite = for_json_and_xml.rewrite_for_json if kind == "JSON" else for_json_and_xml.rewrite_for_xml
    sqlite_text = write_sqlite(node, clause, UNNAMED) if isinstance(node, exp.Select) else None
    if sqlite_text is None:
        raise UnsimulatedFeatureError(
            f"FOR {kind} {for_json_and_xml.UNSIMULATED_FORMS.get(kind, '')}".rstrip()
        )
    return sqlite_text


def _rewrite_lateral(node: exp.Expr, query: RewrittenQuery) -> exp.Expr:
    """Return a json_each table for the rows that apply_rewriting.py has packed as JSON."""
    if not node.meta.get(PACKED_ROWS_KEY):
        raise UnsimulatedFeatureError("CROSS APPLY and OUTER APPLY")
    call = exp.Anonymous(this="json_each", expressions=node.this.expressions)
    return exp.Table(this=call, alias=node.args["alias"])


_REWRITE_RULES: Final[dict[type[exp.Expr], Callable[[exp.Expr, RewrittenQuery], exp.Expr]]] = {
    exp.Table: rewrite_table,
    exp.Column: rewrite_column,
    exp.Parameter: rewrite_parameter,
    exp.Anonymous: _rewrite_call,
    exp.Dot: _rewrite_dot,
    exp.Add: _build_operator_rule("add"),
    exp.Sum: _rewrite_sum,
    exp.Literal: _rewrite_literal,
    exp.Sub: _build_operator_rule("sub"),
    exp.Mul: _build_operator_rule("mul"),
    exp.Div: _build_operator_rule("div"),
    exp.Mod: _build_operator_rule("mod"),
    exp.BitwiseAnd: _build_operator_rule("and"),
    exp.BitwiseOr: _build_operator_rule("or"),
    exp.BitwiseXor: _build_operator_rule("xor"),
    exp.BitwiseNot: _rewrite_unary,
    exp.Neg: _rewrite_unary,
    exp.Window: _rewrite_window,
    exp.Subquery: _rewrite_subquery,
    exp.Min: _rewrite_extreme,
    exp.Max: _rewrite_extreme,
    exp.Distinct: _collate_expressions,
    exp.Ordered: _rewrite_comparison,
    exp.Group: _collate_expressions,
    exp.Cast: _rewrite_convert,
    exp.TryCast: _rewrite_convert,
    exp.Convert: _rewrite_convert,
    exp.EQ: _rewrite_comparison,
    exp.NEQ: _rewrite_comparison,
    exp.LT: _rewrite_comparison,
    exp.LTE: _rewrite_comparison,
    exp.GT: _rewrite_comparison,
    exp.GTE: _rewrite_comparison,
    exp.In: _rewrite_comparison,
    exp.Nullif: _rewrite_comparison,
    exp.Like: _rewrite_like,
    exp.Escape: _rewrite_escape,
    exp.Between: _rewrite_comparison,
    exp.Case: _rewrite_case,
    exp.Collate: _rewrite_collate,
    exp.National: _rewrite_national,
    exp.HexString: _rewrite_hex,
    exp.Select: _rewrite_select,
    exp.Union: _rewrite_select,
    exp.Lateral: _rewrite_lateral,
}
"""Node class -> function that rewrites the node. Children are rewritten before their parents."""
