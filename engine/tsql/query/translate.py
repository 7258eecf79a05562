"""Translation of a T-SQL query into a plan: one SELECT for SQLite, then post-processing of its rows."""

from collections.abc import Callable, Generator
from typing import Final

from msgspec.structs import replace
from sqlglot import exp

from engine.generators import run_to_completion
from engine.messages import SqlError
from engine.tsql.batches.work import ResultCache, ResumableComputation, cache_by_text
from engine.tsql.language.lexer import SqlSyntaxError, tokenize
from engine.tsql.query import foreign_syntax, forms, syntax_normalization
from engine.tsql.query.binding import reject_inner_order
from engine.tsql.query.conversions import is_bare_function
from engine.tsql.query.form_rewriting import (
    check_merge_action,
    convert_insert_values,
    is_default_keyword,
    read_merge_action,
    read_top_number,
)
from engine.tsql.query.grouping_sets import has_aggregate
from engine.tsql.query.plans import (
    NO_NAMES,
    ROW_ID,
    ROW_NUMBER_KEY,
    UNNAMED,
    BindingContext,
    QueryPlan,
    QueryReferences,
    TableRef,
    UnsimulatedFeatureError,
)
from engine.tsql.query.rewriting import rewrite_in_steps
from engine.tsql.query.syntax_normalization import UnreadableTextError, read_query, restore_call_names
from engine.tsql.query.translation_context import (
    PLANNING_ERRORS,
    RewrittenQuery,
    build_table_ref,
    get_variable_name,
    translate_errors,
)

# --- checks while the batch is compiled -----------------------------------------------------------------


def check_statement(text: str, line: int) -> bool:
    """Return True if *text* is a valid query, False if sqlglot cannot decide. Raises SqlSyntaxError."""
    try:
        forms.check_values(parse_query(text))
    except UnreadableTextError:
        return False
    except SqlSyntaxError as problem:
        raise _shift_error_line(problem, line) from None
    return True


def check_condition(text: str, line: int) -> None:
    """Raise SqlSyntaxError unless *text* is a condition. The error is 4145 for a value."""
    node = _find_condition(copy_query_tree("SELECT " + text, line))
    while isinstance(node, exp.Paren | exp.Not):
        node = node.this
    if not isinstance(node, exp.Predicate | exp.Connector | exp.Exists | exp.Escape | exp.In | exp.Between):
        raise SqlSyntaxError(line, 4145, tokenize(text)[-2].text)


def _find_condition(tree: exp.Expr) -> exp.Expr | None:
    """Return the condition in `SELECT condition`, even if sqlglot has parsed `name = x` as an alias."""
    if not isinstance(tree, exp.Select) or len(tree.expressions) != 1 or tree.args.get("from_"):
        return None
    expression = tree.expressions[0]
    if isinstance(expression, exp.Alias):
        return exp.EQ(this=exp.Column(this=expression.args["alias"]), expression=expression.this)
    return expression if isinstance(expression, exp.Expr) else None


def check_expression(text: str, line: int) -> None:
    """Raise SqlSyntaxError unless *text* is a single value."""
    tree = copy_query_tree("SELECT " + text, line)
    try:
        forms.check_values(tree)
    except SqlSyntaxError as problem:
        raise _shift_error_line(problem, line) from None
    if not isinstance(tree, exp.Select) or len(tree.expressions) != 1 or tree.args.get("from_"):
        raise SqlSyntaxError(line, 102, tokenize(text)[-2].text)
    if isinstance(tree.expressions[0], exp.Alias):
        raise SqlSyntaxError(line, 102, tree.expressions[0].alias)


CACHED_TREE_CHARACTERS_MAX: Final = 200_000
CACHED_PLAN_CHARACTERS_MAX: Final = 400_000
"""Maximum total length of the query texts whose plans are cached, in characters.

CACHED_TREE_CHARACTERS_MAX: maximum total length of the query texts whose trees are cached. A tree is a
thousand times as large as its text.
"""


@cache_by_text(CACHED_TREE_CHARACTERS_MAX)
def parse_query(text: str) -> exp.Expr:
    """Return the cached tree of a query. The caller must not change it."""
    tree = read_query(syntax_normalization.prepare_for_sqlglot(text))
    if isinstance(tree, exp.Insert | exp.Update | exp.Delete | exp.Merge):
        tree.set("limit", syntax_normalization.parse_top(text))
    foreign_syntax.inline_windows(tree)
    foreign_syntax.check_clauses(tree, tokenize(text))
    forms.check_query(tree)
    restore_call_names(tree)
    forms.fold_within_group(tree)
    forms.fix_method_columns(tree)
    forms.replace_plain_applies(tree)
    forms.alias_queries(tree)
    for exists in tree.find_all(exp.Exists):  # SQL Server never evaluates the select list of EXISTS
        if isinstance(exists.this, exp.Select) and [*map(type, exists.this.expressions)] == [exp.Star]:
            exists.this.set("expressions", [exp.Literal.number(1)])
    return tree


def check_view(text: str) -> None:
    """Raise 1033 if the query of a view has ORDER BY without TOP."""
    reject_inner_order(parse_query(text))


def copy_query_tree(text: str, line: int) -> exp.Expr:
    """Return a copy of the query's tree that the caller may change. *line*: first line of the text, for errors."""
    try:
        return parse_query(text).copy()
    except UnreadableTextError:
        raise SqlSyntaxError(line, 102, tokenize(text)[-2].text) from None
    except SqlSyntaxError as problem:
        raise _shift_error_line(problem, line) from None


def _shift_error_line(problem: SqlSyntaxError, line: int) -> SqlSyntaxError:
    """Return *problem* with its line number in the batch instead of the line number in the text.

    *line*: line of the batch on which the text begins.
    """
    placed_error = SqlSyntaxError(problem.line + line - 1, problem.number, *problem.parameters)
    placed_error.problems = problem.problems
    return placed_error


# --- plans ----------------------------------------------------------------------------------------------


Planning = Generator[int, None, QueryPlan]

WORK_PER_NAMED_COLUMN: Final = 5
"""Units of work (work.py) per result column that gets a name. The figure is measured."""


def plan_in_steps(text: str, names: BindingContext = NO_NAMES) -> ResumableComputation[QueryPlan]:
    """Return a resumable computation of a statement's plan. It is cached, and equal arguments share it."""
    return _PLAN_CACHE.get(
        (text, names), len(text), lambda: ResumableComputation(_plan_in_steps(text, names), PLANNING_ERRORS)
    )


_PLAN_CACHE: Final[ResultCache[ResumableComputation[QueryPlan]]] = ResultCache(CACHED_PLAN_CHARACTERS_MAX)


def _plan_in_steps(text: str, names: BindingContext) -> Planning:
    tree = copy_query_tree(text, 1)
    yield len(text)
    for kind, build in _PLANNERS:
        if isinstance(tree, kind):
            return (yield from build(tree, names))
    raise UnsimulatedFeatureError(type(tree).__name__.upper())


def plan_text(kind: str, text: str, names: BindingContext | None = None) -> QueryPlan:
    """Return the plan of *text*. *kind*: statement, expression or condition. Raises the errors of `plan_in_steps`."""
    names = names or NO_NAMES
    if kind == "statement":
        return translate_errors(plan_in_steps(text, names).get_result)
    build = _plan_condition if kind == "condition" else _plan_expression
    return _EXPRESSION_CACHE.get(
        (kind, text, names), len(text), lambda: translate_errors(lambda: build(text, names))
    )


_EXPRESSION_CACHE: Final[ResultCache[QueryPlan]] = ResultCache(CACHED_PLAN_CHARACTERS_MAX)


def _plan_expression(text: str, names: BindingContext) -> QueryPlan:
    """Return the plan that computes one value."""
    return run_to_completion(_plan_select(copy_query_tree("SELECT " + text, 1), names))


def _plan_condition(text: str, names: BindingContext) -> QueryPlan:
    """Return the plan that computes 1 if the condition is true, else 0."""
    tree = copy_query_tree("SELECT " + text, 1)
    is_true = exp.If(this=_find_condition(tree), true=exp.Literal.number(1))
    case = exp.Case(ifs=[is_true], default=exp.Literal.number(0))
    return run_to_completion(_plan_select(exp.Select(expressions=[case]), names))


def find_references(kind: str, text: str) -> QueryReferences:
    """Return the tables and variables that *text* names. *kind*: statement, expression or condition."""
    return _REFERENCES_CACHE.get(
        (kind, text), len(text), lambda: _find_references(text if kind == "statement" else "SELECT " + text)
    )


_REFERENCES_CACHE: Final[ResultCache[QueryReferences]] = ResultCache(CACHED_TREE_CHARACTERS_MAX)


def _find_references(text: str) -> QueryReferences:
    tables: dict[str, TableRef] = {}
    variables: dict[str, None] = {}
    tree = copy_query_tree(text, 1)
    if isinstance(tree, exp.TruncateTable):
        return QueryReferences((), ())  # without the table, TRUNCATE raises 4701 instead of 208
    own_names = _list_own_names(tree)
    for node in tree.walk():
        if isinstance(node, exp.Table) and not isinstance(node.this, exp.Anonymous | exp.Dot):
            ref = build_table_ref(node)
            if ref.key not in own_names and not isinstance(node.parent, exp.Into):
                tables[ref.key] = ref
        elif isinstance(node, exp.Parameter) and not (
            isinstance(node.this, exp.Parameter) or isinstance(node.parent, exp.Parameter)
        ):
            variables[f"@{node.name.lower()}"] = None
    return QueryReferences(tuple(tables.values()), tuple(variables))


def _list_own_names(tree: exp.Expr) -> set[str]:
    """Return the names that the statement itself defines: CTEs, and aliases of UPDATE or DELETE targets."""
    own_names = {node.alias.lower() for node in tree.find_all(exp.CTE)}
    if isinstance(tree, exp.Update | exp.Delete):
        own_names |= {node.alias.lower() for node in tree.find_all(exp.Table, exp.Subquery)}
    return own_names


def _plan_select(tree: exp.Expr, names: BindingContext) -> Planning:
    first = tree
    while isinstance(first, exp.SetOperation | exp.Subquery):
        first = first.this
    if not isinstance(first, exp.Select):
        raise UnsimulatedFeatureError(type(first).__name__.upper())
    assigns = _extract_assigned_variables(first)
    into = first.args.get("into")
    target = build_table_ref(into.find(exp.Table)) if into is not None else None
    first.set("into", None)
    _name_columns(first)
    yield len(first.expressions) * WORK_PER_NAMED_COLUMN
    sql, query = yield from rewrite_in_steps(tree, names)
    kind = "assign" if assigns else "select"
    return _build_plan(kind, sql, query, assigns=assigns, target=target)


def _build_plan(
    kind: str,
    sql: str,
    query: RewrittenQuery,
    *,
    assigns: tuple[str, ...] = (),
    target: TableRef | None = None,
    columns: tuple[str, ...] = (),
) -> QueryPlan:
    return QueryPlan(
        kinds=query.kinds,
        outputs=query.outputs,
        nullable=query.nullable,
        kind=kind,
        sql=sql,
        tables=tuple(query.tables.values()),
        variables=tuple(query.variables),
        functions=tuple(query.functions.items()),
        calls=tuple(sorted(query.calls)),
        cost=query.cost,
        origins=query.origins,
        assigns=assigns,
        target=target,
        columns=columns,
    )


def _extract_assigned_variables(select: exp.Select) -> tuple[str, ...]:
    """Return the variables that a SELECT assigns, in order.

    Replace each `@v = value` in *select* by the value. The result is empty without an assignment.
    Raises 141 if only some of the result columns are assigned.
    """
    names: list[str] = []
    for projection in select.expressions:
        if isinstance(projection, exp.EQ) and isinstance(projection.this, exp.Parameter):
            names.append(get_variable_name(projection.this))
    if names and len(names) != len(select.expressions):
        raise SqlError(141)
    if names:
        select.set("expressions", [projection.expression for projection in select.expressions])
    return tuple(names)


def _name_columns(select: exp.Select) -> None:
    named: list[exp.Expr] = []
    for projection in select.expressions:
        if isinstance(projection, exp.Concat) and len(projection.expressions) == 2:
            # of two adjacent strings, the second is the column name
            projection = exp.alias_(projection.expressions[0], projection.expressions[1].name, quoted=True)
        if isinstance(projection, exp.EQ) and isinstance(projection.this, exp.Literal):
            projection = exp.alias_(projection.expression, projection.this.this, quoted=True)
        if isinstance(projection, exp.Star | exp.Alias) or projection.is_star:
            named.append(projection)
        else:
            has_name = isinstance(projection, exp.Column) and not is_bare_function(projection)
            name = projection.name if has_name else UNNAMED
            named.append(exp.alias_(projection, name, quoted=True))
    select.set("expressions", named)


# --- statements that change data ------------------------------------------------------------------------


def _plan_insert(tree: exp.Expr, names: BindingContext) -> Planning:
    """Plan an INSERT: its query returns the rows to insert."""
    this = tree.this
    columns: tuple[str, ...] = ()
    if isinstance(this, exp.Schema):
        columns = tuple(column.name for column in this.expressions)
        this = this.this
    if not isinstance(this, exp.Table):
        raise UnsimulatedFeatureError("this form of INSERT")
    target = build_table_ref(this)
    if tree.args.get("returning") is not None:
        raise UnsimulatedFeatureError("INSERT … OUTPUT")
    source = tree.expression
    if source is None:
        return QueryPlan(kind="insert", target=target, defaults=True)
    fewer, more_values = (109, 110) if isinstance(source, exp.Values) else (120, 121)
    defaulted: tuple[tuple[int, int], ...] = ()
    if isinstance(source, exp.Values):
        if len({len(row.expressions) for row in source.expressions}) > 1:
            raise SqlError(10709)
        defaulted = tuple(
            (place, at)
            for place, row in enumerate(source.expressions)
            for at, cell in enumerate(row.expressions)
            if is_default_keyword(cell)
        )
        for index, column_index in defaulted:
            source.expressions[index].expressions[column_index].replace(exp.Null())
        if len(source.expressions) > VALUES_ROWS_MAX:
            raise SqlError(10738, 1000)
        source = convert_insert_values(source)
    with_clause = tree.args.get("with_")
    if with_clause is not None:
        source.set("with_", with_clause)
    top_count = read_top_number(tree)
    sql, query = yield from rewrite_in_steps(source, names)
    if top_count is not None:
        sql = f"SELECT * FROM ({sql}) LIMIT {top_count}"
    if columns and query.outputs and len(query.outputs) != len(columns):
        raise SqlError(fewer if len(query.outputs) < len(columns) else more_values)
    plan = _build_plan("insert", sql, query, target=target, columns=columns)
    return replace(plan, defaulted=defaulted) if defaulted else plan


VALUES_ROWS_MAX: Final = 1_000
"""Maximum number of VALUES rows in an INSERT. Documented [DOC: table value constructor]."""


def _plan_update(tree: exp.Expr, names: BindingContext) -> Planning:
    """Plan an UPDATE: its query returns row numbers and new values."""
    pairs, variables = _split_assignments(tree)
    if any(pair.expression is None or pair.expression.is_star for pair in pairs):
        raise SqlError(102, "*")
    if tree.args.get("returning") is not None:
        raise UnsimulatedFeatureError("this form of UPDATE … OUTPUT")
    defaulted = tuple(
        (-1, at) for at, pair in enumerate(pairs, start=1) if is_default_keyword(pair.expression)
    )
    for _, column_index in defaulted:
        pairs[column_index - 1].set("expression", exp.Null())
    values = [*(pair.expression for pair in (*pairs, *variables)), *_parse_outputs(names)]
    columns = tuple(_resolve_base_column(tree, pair.this.name) for pair in pairs)
    sql, query, target = yield from _build_row_number_query(tree, values, names)
    assigns = tuple(get_variable_name(pair.this) for pair in variables)
    plan = _build_plan("update", sql, query, target=target, columns=columns, assigns=assigns)
    return replace(plan, defaulted=defaulted) if defaulted else plan


def _parse_outputs(names: BindingContext) -> list[exp.Expr]:
    """Return the columns of source tables that the OUTPUT clause of the statement names."""
    return copy_query_tree(f"SELECT {', '.join(names.outputs)}", 1).expressions if names.outputs else []


def _split_assignments(tree: exp.Expr) -> tuple[list[exp.EQ], list[exp.EQ]]:
    """Return the assignments of SET to columns and to variables. `@v = a = 1` is one of each."""
    columns: list[exp.EQ] = []
    variables: list[exp.EQ] = []
    for pair in tree.expressions:
        if not isinstance(pair, exp.EQ) or not isinstance(pair.this, exp.Column | exp.Parameter):
            raise UnsimulatedFeatureError("this form of UPDATE")
        value = pair.expression
        if isinstance(pair.this, exp.Parameter) and isinstance(value, exp.EQ):
            columns.append(value)
            pair = exp.EQ(this=pair.this, expression=value.expression.copy())
        (columns if isinstance(pair.this, exp.Column) else variables).append(pair)
    return columns, variables


def _plan_delete(tree: exp.Expr, names: BindingContext) -> Planning:
    """Plan a DELETE: its query returns row numbers."""
    if tree.args.get("returning") is not None:
        raise UnsimulatedFeatureError("DELETE … OUTPUT")
    sql, query, target = yield from _build_row_number_query(tree, _parse_outputs(names), names)
    return _build_plan("delete", sql, query, target=target)


def _build_row_number(alias: str) -> exp.Expr:
    number = exp.column(exp.to_identifier(ROW_ID), table=exp.to_identifier(alias, quoted=True))
    number.meta[ROW_NUMBER_KEY] = True
    return number


def _build_row_number_query(
    tree: exp.Expr, values: list[exp.Expr], names: BindingContext
) -> Generator[int, None, tuple[str, RewrittenQuery, TableRef]]:
    """Build a SELECT of the row number and *values* for the rows that an UPDATE or DELETE affects."""
    named = (tree.args.get("tables") or [None])[0] or tree.this
    source = tree.args.get("from_")
    table = source.this if source is not None else tree.this or named
    if not isinstance(named, exp.Table) or not isinstance(table, exp.Table | exp.Subquery):
        raise UnsimulatedFeatureError("this form of UPDATE or DELETE")
    named_query = _find_target_expression(tree, table, named)
    if named_query is not None:
        number, target = _resolve_row_number(*named_query)
        return (yield from _build_row_query(tree, table, [number, *values], names, target))
    if not isinstance(table, exp.Table):
        raise UnsimulatedFeatureError("this form of UPDATE or DELETE")
    target, alias = build_table_ref(named), named.alias_or_name
    for candidate in table.find_all(exp.Table):
        if len(target.parts) == 1 and candidate.alias.lower() == target.parts[0].lower():
            target, alias = build_table_ref(candidate), candidate.alias
            break
        if build_table_ref(candidate).key == target.key:
            alias = candidate.alias or build_table_ref(candidate).parts[-1]
    return (yield from _build_row_query(tree, table, [_build_row_number(alias), *values], names, target))


def _build_row_query(
    tree: exp.Expr, table: exp.Expr, projections: list[exp.Expr], names: BindingContext, target: TableRef
) -> Generator[int, None, tuple[str, RewrittenQuery, TableRef]]:
    """Build a SELECT of *projections* from *table* with the WHERE and WITH clauses of an UPDATE or DELETE.

    *tree*: the statement. *target*: the table that the statement changes.
    """
    select = exp.Select(expressions=projections, from_=exp.From(this=table), where=tree.args.get("where"))
    select.set("limit", tree.args.get("limit"))
    if tree.args.get("with_") is not None:
        select.set("with_", tree.args["with_"])
    reads = tree.args.get("where") is not None or any(value.find(exp.Column) for value in projections[1:])
    sql, query = yield from rewrite_in_steps(select, names)
    return sql, query, replace(target, read=reads)


_ROW_OF_BASE: Final = "row of the base table"


def _find_target_expression(tree: exp.Expr, table: exp.Expr, named: exp.Table) -> tuple[str, exp.Expr] | None:
    """Return (alias, query) of *named*, the target of an UPDATE or DELETE; None if the target is a table.

    The target can be a CTE or a derived table.
    """
    queries_by_name = {
        cte.alias.lower(): cte.this for cte in getattr(tree.args.get("with_"), "expressions", ())
    }
    sources = [table, *(join.this for join in table.args.get("joins") or ())]
    for source in sources:
        if source.alias_or_name.lower() != named.name.lower() or named.db:
            continue
        if isinstance(source, exp.Subquery):
            return source.alias, source.this
        if isinstance(source, exp.Table) and not source.db and source.name.lower() in queries_by_name:
            return source.alias_or_name, queries_by_name[source.name.lower()]
    return None


def _resolve_row_number(alias: str, query: exp.Expr) -> tuple[exp.Expr, TableRef]:
    """Return the column with the row number of the base table, and the reference to that table.

    Raises 4403, or 4418 for a derived table.
    """
    if not isinstance(query, exp.Select):
        raise UnsimulatedFeatureError("UPDATE or DELETE through a UNION")
    if any(query.args.get(part) for part in ("group", "having", "distinct")) or has_aggregate(
        query.expressions
    ):
        raise SqlError(4418 if isinstance(query.parent, exp.Subquery) else 4403, alias)
    source = query.args.get("from_")
    base = source.this if source is not None else None
    if not isinstance(base, exp.Table) or query.args.get("joins") or base.args.get("joins"):
        raise UnsimulatedFeatureError("UPDATE or DELETE through a query of more than one table")
    with_clause = query.parent.parent if query.parent is not None else None
    named = isinstance(base.this, exp.Identifier) and not base.this.args.get(
        "temporary"
    )  # a table name, not @t or #t
    if (
        named
        and isinstance(with_clause, exp.With)
        and base.name.lower() in (c.alias.lower() for c in with_clause.expressions)
    ):
        raise UnsimulatedFeatureError("UPDATE or DELETE through two common table expressions")
    number = _build_row_number(base.alias or build_table_ref(base).parts[-1])
    query.append("expressions", exp.alias_(number, _ROW_OF_BASE, quoted=True))
    id_column = exp.column(
        exp.to_identifier(_ROW_OF_BASE, quoted=True), table=exp.to_identifier(alias, quoted=True)
    )
    return id_column, build_table_ref(base)


def _resolve_base_column(tree: exp.Expr, name: str) -> str:
    """Return the column of the base table that *name* in an UPDATE means.

    For a computed column, raises 4406, or 4421 in a derived table.
    """
    named = (tree.args.get("tables") or [None])[0] or tree.this
    source = tree.args.get("from_")
    table = source.this if source is not None else tree.this or named
    named_query = _find_target_expression(tree, table, named) if isinstance(named, exp.Table) else None
    if named_query is None:
        return name
    alias, query = named_query
    for projection in query.expressions if isinstance(query, exp.Select) else ():
        if projection.alias_or_name.lower() == name.lower():
            value = projection.unalias()
            if not isinstance(value, exp.Column):
                raise SqlError(4421 if isinstance(query.parent, exp.Subquery) else 4406, alias)
            return str(value.name)
    return name


def _plan_merge(tree: exp.Expr, names: BindingContext) -> Planning:
    """Plan a MERGE with up to three queries: matching rows, rows only in the source, rows only in the target."""
    target, source, on_clause = tree.this, tree.args["using"], tree.args["on"]
    if not isinstance(target, exp.Table):
        raise UnsimulatedFeatureError("this form of MERGE")
    alias = target.alias or build_table_ref(target).parts[-1]
    if not target.alias:
        target = target.copy()
        target.set("alias", exp.TableAlias(this=exp.to_identifier(alias, quoted=True)))
    number: exp.Expr = _build_row_number(alias)
    whens = list(tree.args["whens"].expressions)
    parts = []
    for kind in ((True, False), (False, False), (False, True)):
        matched, by_source = kind
        chosen_whens = [w for w in whens if (bool(w.args["matched"]), bool(w.args.get("source"))) == kind]
        if not chosen_whens:
            continue
        if matched:
            select = exp.Select(
                from_=exp.From(this=source.copy()), joins=[exp.Join(this=target.copy(), on=on_clause.copy())]
            )
        else:
            own_table, other_table = (target, source) if by_source else (source, target)
            probe = exp.Select(expressions=[exp.Literal.number(1)], from_=exp.From(this=other_table.copy()))
            probe.set("where", exp.Where(this=on_clause.copy()))
            select = exp.Select(
                from_=exp.From(this=own_table.copy()),
                where=exp.Where(this=exp.Not(this=exp.Exists(this=probe))),
            )
        row = number if matched or by_source else exp.Null()
        outputs = [exp.Null() if by_source else column for column in _parse_outputs(names)]
        parts.append((yield from _plan_merge_part(tree, select, chosen_whens, row, outputs, names)))
    return QueryPlan(
        kind="merge", target=build_table_ref(tree.this), parts=tuple(parts), row_limit=read_top_number(tree)
    )


def _plan_merge_part(
    tree: exp.Expr,
    select: exp.Select,
    whens: list[exp.Expr],
    number: exp.Expr,
    outputs: list[exp.Expr],
    names: BindingContext,
) -> Planning:
    """Plan one of the queries of a MERGE, for the WHEN clauses *whens*.

    The result columns are the row number, the index of the WHEN clause (NULL for none), the values of
    all *whens*, and *outputs*. *number*: expression for the row number. *outputs*: columns for the
    OUTPUT clause.
    """
    values: list[exp.Expr] = []
    branches: list[tuple[str, tuple[str, ...], int, int]] = []
    choice = exp.Case(ifs=[])
    for index, clause in enumerate(whens):
        check_merge_action(clause)
        condition = clause.args.get("condition") or exp.true()
        choice.append("ifs", exp.If(this=condition.copy(), true=exp.Literal.number(index)))
        action, columns, new = read_merge_action(clause.args["then"])
        branches.append((action, columns, len(values), len(values) + len(new)))
        values += new
    select.set("expressions", [number.copy(), choice, *(value.copy() for value in values), *outputs])
    if tree.args.get("with_") is not None:
        select.set("with_", tree.args["with_"].copy())
    sql, query = yield from rewrite_in_steps(select, names)
    return replace(_build_plan("select", sql, query), branches=tuple(branches))


def _plan_truncate(tree: exp.Expr, names: BindingContext) -> Planning:
    yield 1
    return QueryPlan(kind="truncate", target=build_table_ref(tree.find(exp.Table)))


_PLANNERS: Final[tuple[tuple[type[exp.Expr], Callable[[exp.Expr, BindingContext], Planning]], ...]] = (
    (exp.Insert, _plan_insert),
    (exp.Update, _plan_update),
    (exp.Delete, _plan_delete),
    (exp.Merge, _plan_merge),
    (exp.TruncateTable, _plan_truncate),
    (exp.Query, _plan_select),
)
"""(node class of a statement, planning function). The last entry handles queries."""
