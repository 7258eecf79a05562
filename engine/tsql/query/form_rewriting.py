"""Rewriting of larger forms that SQLite lacks: APPLY, PIVOT, table-valued functions, VALUES and MAXRECURSION."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from sqlglot import exp

from engine.messages import SqlError
from engine.tsql.query import forms
from engine.tsql.query.apply_rewriting import (
    COPIED_NODES_MAX,
    count_nodes,
    get_projection_name,
    list_cells,
    replace_apply,
    replace_table_call,
)
from engine.tsql.query.plans import UnsimulatedFeatureError

REWRITTEN_NODE_CLASSES: Final = (
    exp.Lateral,
    exp.Window,
    exp.Subquery,
    exp.Values,
    exp.Pivot,
    exp.Anonymous,
    exp.CTE,
)
"""Node classes that `replace_unsupported_forms` may rewrite. A tree without them remains unchanged."""


def replace_unsupported_forms(tree: exp.Expr) -> exp.Expr:
    """Replace all APPLY, PIVOT and table functions in the tree, and return the tree.

    Raises UnsimulatedFeatureError for forms that are not simulated.
    """
    if sum(1 for _ in tree.find_all(exp.Lateral)) > APPLY_CLAUSES_MAX:
        raise SqlError(8623)
    if sum(1 for _ in tree.find_all(exp.Window)) > OVER_CLAUSES_MAX:
        raise SqlError(8623)
    add_recursion_counters(tree)
    for source in list(tree.find_all(exp.Subquery, exp.Values)):
        _name_columns_inside(source)
    for select in reversed(list(tree.find_all(exp.Select))):
        _limit_before_numbering(select)
        for pivoted_source in find_pivoted_sources(select):
            rewrite_pivot_or_unpivot(pivoted_source)
        for join in list(select.args.get("joins") or ()):
            if isinstance(join.this, exp.Lateral):
                replace_apply(select, join)
    for table in list(tree.find_all(exp.Table)):
        last = table.this.expression if isinstance(table.this, exp.Dot) else table.this
        if isinstance(last, exp.Anonymous):
            replace_table_call(table)
    return tree


APPLY_CLAUSES_MAX: Final = 30
OVER_CLAUSES_MAX: Final = 100
"""Maximum number of OVER clauses in a query; more raise error 8623. Assumed.

APPLY_CLAUSES_MAX: the same for APPLY clauses. Assumed.
"""


# --- row numbers -----------------------------------------------------------------------------------


def _limit_before_numbering(select: exp.Select) -> None:
    """Apply TOP (n) before ROW_NUMBER() OVER (ORDER BY (SELECT NULL)), so that SQLite numbers only n rows."""
    limit, select_arguments = select.args.get("limit"), select.args
    has_other_clause = any(
        select_arguments.get(key) for key in ("group", "having", "distinct", "offset", "windows", "for_")
    )
    if (
        not isinstance(limit, exp.Limit)
        or limit.args.get("limit_options")
        or has_other_clause
        or not select_arguments.get("from_")
    ):
        return
    projections = [projection.unalias() for projection in select.expressions]
    if not any(isinstance(value, exp.Window) for value in projections) or not all(
        map(_is_plain_numbering, projections)
    ):
        return
    order, names = (
        select_arguments.get("order"),
        {projection.alias.lower() for projection in select.expressions},
    )
    for ordered in order.expressions if order is not None else ():
        if ordered.args.get("desc") or ordered.this.name.lower() not in names:
            return
    inner = exp.Select(expressions=[exp.alias_(exp.Literal.number(1), "one", quoted=True)])
    for key in ("from_", "joins", "where", "limit"):
        inner.set(key, select_arguments.get(key))
        select.set(key, None)
    alias = exp.TableAlias(this=exp.to_identifier("counted", quoted=True))
    select.set("from_", exp.From(this=exp.Subquery(this=inner, alias=alias)))


def _is_plain_numbering(value: exp.Expr) -> bool:
    """Return whether *value* is a constant or ROW_NUMBER() without an order."""
    if not isinstance(value, exp.Window):
        return isinstance(value, exp.Literal)
    numbered = isinstance(value.this, exp.RowNumber) and not value.args.get("partition_by")
    return numbered and value.find(exp.Column) is None


# --- column names in the alias of a derived table ---------------------------------------------------------


def _name_columns_inside(source: exp.Expr) -> None:
    """Move the column names of `(SELECT 1) AS s (a)` into the inner query, as SQLite needs."""
    alias = source.args.get("alias")
    if not isinstance(alias, exp.TableAlias) or not alias.columns or isinstance(source.parent, exp.Lateral):
        return
    names = [column.name for column in alias.columns]
    inner = source if isinstance(source, exp.Values) else source.this
    if isinstance(inner, exp.Values):
        inner = rewrite_values_as_selects(inner)
    first = inner
    while isinstance(first, exp.SetOperation):
        first = first.this
    if not isinstance(first, exp.Select) or any(expression.is_star for expression in first.expressions):
        return
    first.set(
        "expressions",
        [
            exp.alias_(expression.unalias(), name, quoted=True)
            for expression, name in zip(first.expressions, names, strict=False)
        ],
    )
    alias.set("columns", None)
    if isinstance(source, exp.Values):
        pivots = source.args.get("pivots")
        source.replace(exp.Subquery(this=inner, alias=alias.copy(), pivots=pivots))
    else:
        source.set("this", inner)


ROWS_AS_SELECTS_MAX: Final = 100
"""Maximum number of VALUES rows that become separate SELECTs. SQLite combines at most 200 SELECTs.

More rows use SQLite's own VALUES.
"""


def rewrite_values_as_selects(values: exp.Values) -> exp.Expr:
    """Rewrite `VALUES (1, 2), (3, 4)` as `SELECT 1, 2 UNION ALL SELECT 3, 4`.

    The first SELECT names the columns.
    """
    rows = [list_cells(row) for row in values.expressions]
    has_many_rows = len(rows) > ROWS_AS_SELECTS_MAX
    selects = [
        exp.Select(expressions=[cell.copy() for cell in row]) for row in (rows[:1] if has_many_rows else rows)
    ]
    expression: exp.Expr = selects[0]
    for select in selects[1:]:
        expression = exp.Union(this=expression, expression=select, distinct=False)
    if has_many_rows:
        other_rows = exp.Values(expressions=[row.copy() for row in values.expressions[1:]])
        remaining_select = exp.Select(
            expressions=[exp.Star()], from_=exp.From(this=exp.Subquery(this=other_rows))
        )
        expression = exp.Union(this=expression, expression=remaining_select, distinct=False)
    return expression


# --- PIVOT as GROUP BY, UNPIVOT as UNION ALL --------------------------------------------------------------

PIVOT_COLUMNS_MAX: Final = 250
"""Maximum number of columns in PIVOT and UNPIVOT; more raise error 8623. Assumed."""


def find_pivoted_sources(select: exp.Select) -> list[exp.Expr]:
    """Return the sources of a SELECT that have PIVOT or UNPIVOT."""
    source = select.args.get("from_")
    sources = [source.this] if source is not None else []
    sources += [join.this for join in select.args.get("joins") or ()]
    return [index for index in sources if index.args.get("pivots")]


def rewrite_pivot_or_unpivot(source: exp.Expr) -> None:
    """Rewrite the PIVOT or UNPIVOT of a source."""
    pivots = source.args["pivots"]
    if len(pivots) > 1:
        raise UnsimulatedFeatureError("PIVOT of a PIVOT")
    kind: Callable[[exp.Expr, exp.Expr], None] = (
        _rewrite_unpivot if pivots[0].args.get("unpivot") else _rewrite_pivot
    )
    kind(source, pivots[0])


def _list_column_names(source: exp.Expr, verb: str) -> list[str]:
    """Return the column names of a derived table. In a UNION, the first SELECT names them.

    *verb*: PIVOT or UNPIVOT, for the text of errors.
    """
    first = source.this if isinstance(source, exp.Subquery) else None
    while isinstance(first, exp.SetOperation):
        first = first.this
    if not isinstance(first, exp.Select):
        raise UnsimulatedFeatureError(f"{verb} of anything other than a derived table with named columns")
    if any(projection.is_star for projection in first.expressions):
        raise UnsimulatedFeatureError(f"{verb} of SELECT *")
    return [get_projection_name(projection) for projection in first.expressions]


def _rewrite_pivot(source: exp.Expr, pivot: exp.Expr) -> None:
    """Rewrite PIVOT as GROUP BY with one CASE per column.

    `(SELECT g, k, v …) s PIVOT (SUM(v) FOR k IN ([a], [b])) p` becomes `SELECT g, SUM(CASE k WHEN 'a' THEN v
    END) …`.
    """
    names = _list_column_names(source, "PIVOT")
    fields = pivot.args.get("fields") or []
    aggregates = pivot.expressions
    if len(fields) != 1 or len(aggregates) != 1:
        raise UnsimulatedFeatureError("PIVOT with more than one aggregate or column")
    key = fields[0].this.name
    value = aggregates[0].find(exp.Column)
    if value is None:
        raise UnsimulatedFeatureError("PIVOT of COUNT(*)")
    _check_pivot_size(source, fields[0].expressions, copies=1)
    groups = [name for name in names if name.lower() not in (key.lower(), value.name.lower())]
    expressions: list[exp.Expr] = [_create_quoted_column(name) for name in groups]
    for pivot_value in fields[0].expressions:
        text = pivot_value.alias_or_name
        aggregate = aggregates[0].copy()
        case = exp.Case(
            this=exp.Collate(this=_create_text_literal(key), expression=exp.var("tsql")),
            ifs=[exp.If(this=exp.Literal.string(text), true=_create_quoted_column(value.name))],
        )
        aggregate.find(exp.Column).replace(case)
        expressions.append(exp.alias_(aggregate, text, quoted=True))
    _replace_source(source, pivot, expressions, groups)


def _check_pivot_size(source: exp.Expr, names: Sequence[object], copies: int) -> None:
    """Raise 8623 for too many columns, or if the copies of the source would have too many nodes."""
    if len(names) > PIVOT_COLUMNS_MAX or copies * count_nodes(source.this) > COPIED_NODES_MAX:
        raise SqlError(8623)


def _create_text_literal(name: str) -> exp.Expr:
    return exp.Anonymous(this="text", expressions=[_create_quoted_column(name)])


def _create_quoted_column(name: str) -> exp.Expr:
    return exp.column(exp.to_identifier(name, quoted=True))


def _replace_source(
    source: exp.Expr, pivot: exp.Expr, projections: list[exp.Expr], groups: list[str]
) -> None:
    inner = source.copy()
    inner.set("pivots", None)
    inner.set("joins", None)
    inner.set("alias", exp.TableAlias(this=exp.to_identifier("pivoted", quoted=True)))
    select = exp.Select(expressions=projections, from_=exp.From(this=inner))
    if groups:
        select.set("group", exp.Group(expressions=[_create_quoted_column(name) for name in groups]))
    alias = pivot.alias or source.alias
    source.replace(
        exp.Subquery(
            this=select,
            alias=exp.TableAlias(this=exp.to_identifier(alias, quoted=True)),
            joins=source.args.get("joins"),
        )
    )


def _rewrite_unpivot(source: exp.Expr, pivot: exp.Expr) -> None:
    """Rewrite `(…) s UNPIVOT (v FOR k IN (a, b)) u` as one SELECT per column, without NULL values."""
    fields = pivot.args.get("fields") or []
    if len(fields) != 1 or len(pivot.expressions) != 1:
        raise UnsimulatedFeatureError("UNPIVOT of more than one column")
    names = _list_column_names(source, "UNPIVOT")
    unpivoted_names = [column.name for column in fields[0].expressions]
    _check_pivot_size(source, unpivoted_names, copies=len(unpivoted_names))
    value, key = pivot.expressions[0].name, fields[0].this.name
    remaining = [
        name
        for name in names
        if name.lower() not in {unpivoted_name.lower() for unpivoted_name in unpivoted_names}
    ]
    bare_source = source.copy()
    bare_source.set("pivots", None)
    bare_source.set("joins", None)
    parts: list[exp.Expr] = []
    for name in unpivoted_names:
        inner = bare_source.copy()
        parts.append(
            exp.Select(
                expressions=[
                    *(_create_quoted_column(column_name) for column_name in remaining),
                    exp.alias_(exp.Literal.string(name), key, quoted=True),
                    exp.alias_(_create_quoted_column(name), value, quoted=True),
                ],
                from_=exp.From(this=inner),
                where=exp.Where(
                    this=exp.Not(this=exp.Is(this=_create_quoted_column(name), expression=exp.Null()))
                ),
            )
        )
    union = parts[0]
    for part in parts[1:]:
        union = exp.Union(this=union, expression=part, distinct=False)
    alias = pivot.alias or source.alias
    source.replace(
        exp.Subquery(
            this=union,
            alias=exp.TableAlias(this=exp.to_identifier(alias, quoted=True)),
            joins=source.args.get("joins"),
        )
    )


# --- MAXRECURSION: recursive common table expressions count their steps -----------------------------------

RECURSION_MAX: Final = 100
"""Default of OPTION (MAXRECURSION n); 0 means no limit. Documented."""


_LEVEL: Final = "recursion level"


def add_recursion_counters(tree: exp.Expr) -> None:
    """Make each recursive common table expression count its steps, and raise 530 beyond MAXRECURSION."""
    for cte in list(tree.find_all(exp.CTE)):
        columns, with_clause = cte.meta.get(forms.RECURSIVE_COLUMNS_KEY), cte.parent
        if not columns or not isinstance(with_clause, exp.With):
            continue
        anchor, members = forms.split_recursive_members(cte.this, cte.alias)
        own_tables = [forms.list_references(member, cte.alias) for member in members]
        selects = list(_iterate_anchors(anchor))
        if any(len(tables) != 1 for tables in own_tables) or any(
            s.is_star for select in (*selects, *members) for s in select.expressions
        ):
            continue
        level_limit = next(
            (o.expression.name for o in tree.find_all(exp.QueryOption) if o.name.upper() == "MAXRECURSION"),
            str(RECURSION_MAX),
        )
        for anchor_select in selects:
            anchor_select.append("expressions", exp.alias_(exp.Literal.number(0), _LEVEL, quoted=True))
        for member, (self_reference,) in zip(members, own_tables, strict=True):
            _add_level_counter(cte, member, self_reference, level_limit)
        _separate_counted_rows(cte, with_clause, list(columns))


def _iterate_anchors(node: exp.Expr) -> Iterable[exp.Select]:
    while isinstance(node, exp.SetOperation):
        yield from _iterate_anchors(node.expression)
        node = node.this
    if isinstance(node, exp.Select):
        yield node


def _add_level_counter(cte: exp.CTE, member: exp.Expr, self_reference: exp.Table, max_level: str) -> None:
    """Add a column with the recursion level to *member*, a recursive part of the CTE *cte*.

    The query raises 530 if the level exceeds *max_level*. *self_reference*: table in *member* that names
    *cte*.
    """
    alias = self_reference.alias or self_reference.name
    before = exp.column(exp.to_identifier(_LEVEL, quoted=True), table=exp.to_identifier(alias, quoted=True))
    next_level = exp.Anonymous(
        this="recursion",
        expressions=[
            exp.Anonymous(this="add", expressions=[before, exp.Literal.number(1)]),
            exp.Literal.number(max_level),
        ],
    )
    member.append("expressions", exp.alias_(next_level, _LEVEL, quoted=True))
    self_reference.set("this", exp.to_identifier(f"{cte.alias} counted", quoted=True))
    self_reference.set("alias", exp.TableAlias(this=exp.to_identifier(alias, quoted=True)))


def _separate_counted_rows(cte: exp.CTE, with_clause: exp.With, columns: list[str]) -> None:
    """Hide the recursion counter of a recursive common table expression (CTE).

    Rename the CTE, and add a CTE with the original name that returns only *columns*.
    """
    name, counted_name = str(cte.alias), f"{cte.alias} counted"
    names = [exp.to_identifier(column, quoted=True) for column in (*columns, _LEVEL)]
    cte.set("alias", exp.TableAlias(this=exp.to_identifier(counted_name, quoted=True), columns=names))
    select = exp.Select(
        expressions=[exp.column(exp.to_identifier(column, quoted=True)) for column in columns],
        from_=exp.From(this=exp.Table(this=exp.to_identifier(counted_name, quoted=True))),
    )
    plain_cte = exp.CTE(this=select, alias=exp.TableAlias(this=exp.to_identifier(name, quoted=True)))
    plain_cte.meta[forms.STREAMED_KEY] = True
    index = with_clause.expressions.index(cte)
    with_clause.set(
        "expressions",
        [*with_clause.expressions[: index + 1], plain_cte, *with_clause.expressions[index + 1 :]],
    )


def convert_insert_values(values: exp.Values) -> exp.Expr:
    """Convert the VALUES clause of an INSERT to a query."""
    if len(values.expressions) <= ROWS_AS_SELECTS_MAX:
        return rewrite_values_as_selects(values)
    names = [
        exp.to_identifier(f"c{index}", quoted=True) for index in range(len(values.expressions[0].expressions))
    ]
    alias = exp.TableAlias(this=exp.to_identifier("rows", quoted=True), columns=names)
    rows = exp.Values(expressions=list(values.expressions), alias=alias)
    return exp.Select(expressions=[exp.Star()], from_=exp.From(this=rows))


def is_default_keyword(node: exp.Expr | None) -> bool:
    """Return whether the value is the keyword DEFAULT."""
    is_keyword = isinstance(node, exp.Var) or (
        isinstance(node, exp.Column) and not node.table and not node.this.args.get("quoted")
    )
    return is_keyword and node is not None and node.name.upper() == "DEFAULT"


# --- MERGE, and TOP of INSERT and MERGE ------------------------------------------------------------------


def check_merge_action(branch: exp.Expr) -> None:
    """Raise 10710 or 10711 for an action that its WHEN clause does not allow."""
    action, has_target = branch.args["then"], bool(branch.args.get("matched") or branch.args.get("source"))
    name = type(action).__name__.upper() if isinstance(action, exp.Update | exp.Insert) else "DELETE"
    if has_target and name == "INSERT":
        raise SqlError(10711, "WHEN NOT MATCHED BY SOURCE" if branch.args.get("source") else "WHEN MATCHED")
    if not has_target and name != "INSERT":
        raise SqlError(10710, name)


def read_merge_action(action: exp.Expr) -> tuple[str, tuple[str, ...], list[exp.Expr]]:
    """Return (action, changed columns, new values) of a WHEN clause in MERGE."""
    if isinstance(action, exp.Update):
        pairs = action.expressions
        return "UPDATE", tuple(pair.this.name for pair in pairs), [pair.expression for pair in pairs]
    if isinstance(action, exp.Insert):
        columns = tuple(column.name for column in action.this.expressions) if action.this is not None else ()
        row = action.expression
        return "INSERT", columns, list(row.expressions) if isinstance(row, exp.Tuple) else [row.this]
    if action.name.upper() == "DELETE":
        return "DELETE", (), []
    raise UnsimulatedFeatureError("this form of MERGE")


def read_top_number(tree: exp.Expr) -> int | None:
    """Return the number in TOP (number) of an INSERT or MERGE; None without TOP."""
    limit = tree.args.get("limit")
    if limit is None:
        return None
    value = limit.expression.unnest()
    if limit.args.get("limit_options") is not None or not (isinstance(value, exp.Literal) and value.is_int):
        raise UnsimulatedFeatureError(f"TOP of {tree.key.upper()} other than TOP (number)")
    return int(value.name)
