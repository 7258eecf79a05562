"""Rewriting of APPLY and table-valued functions as joins and derived tables for SQLite."""

from collections.abc import Mapping, Sequence
from typing import Final

from sqlglot import exp

from engine.messages import SqlError
from engine.tsql.catalog.shapes import TABLE_FUNCTIONS, VIEW_SCHEMAS, list_view_columns
from engine.tsql.query.plans import UnsimulatedFeatureError
from engine.tsql.scalars import xpath

ARGUMENT_COLUMNS: Final[dict[str, tuple[str, ...]]] = {
    "dm_exec_sql_text": ("asked_handle",),
    "dm_exec_input_buffer": ("asked_handle", ""),
    "dm_exec_query_plan": ("asked_handle",),
    "dm_db_log_info": ("database_id",),
    "dm_db_log_stats": ("database_id",),
    "dm_io_virtual_file_stats": ("database_id", "file_id"),
    "fn_virtualfilestats": ("DbId", "FileId"),
    "dm_os_volume_stats": ("database_id", "file_id"),
    "fn_pagerescracker": ("asked_handle",),
    "fn_trace_getinfo": ("traceid",),
    "fn_my_permissions": ("", "asked_handle"),
}
"""Table-valued function -> for each argument, the column that must be equal to it.

An argument of NULL selects every row. An empty column name means that the argument is ignored. Functions that
are not listed return all rows.
"""
SIMULATED_ARGUMENTS: Final = {"fn_my_permissions": (1, ("SERVER",))}
"""Table-valued function -> (index of an argument, the only values of this argument that are simulated)."""


def replace_apply(select: exp.Select, join: exp.Join) -> None:
    """Replace *join*, a CROSS APPLY or OUTER APPLY of *select*, by a form that SQLite supports."""
    lateral = join.this
    outer = not lateral.args.get("cross_apply")
    inner = lateral.this
    alias = lateral.alias or ""
    columns = [column.name for column in lateral.args["alias"].columns] if lateral.args.get("alias") else []
    if isinstance(inner, exp.Dot | exp.Anonymous):
        _apply_table_function(join, inner, alias, outer)
    elif isinstance(inner, exp.Subquery) and isinstance(inner.this, exp.Values):
        _apply_values(select, join, inner.this, alias, columns)
    elif isinstance(inner, exp.Subquery) and isinstance(inner.this, exp.Select):
        _apply_select(select, join, inner.this, alias, columns, outer)
    elif isinstance(inner, exp.Subquery) and isinstance(inner.this, exp.SetOperation):
        _apply_query(select, join, inner.this, alias, columns, outer)
    else:
        raise UnsimulatedFeatureError("this form of CROSS APPLY and OUTER APPLY")


def _apply_table_function(join: exp.Join, call: exp.Expr, alias: str, outer: bool) -> None:
    """Replace a table function in APPLY by a join. The join condition selects the rows for the arguments."""
    if (
        isinstance(call, exp.Dot)
        and isinstance(call.expression, exp.Anonymous)
        and _is_nodes_method(call.expression)
    ):
        _apply_nodes(join, call.this, call.expression, alias, outer)
        return
    name, arguments, parts = _parse_call(call)
    if name not in TABLE_FUNCTIONS and name not in PACKED_FUNCTIONS:
        raise UnsimulatedFeatureError(f"the function {'.'.join(parts)}()")
    packed = _build_packed_call(name, arguments)
    select = join.find_ancestor(exp.Select)
    if packed is not None and isinstance(select, exp.Select):
        names = _list_alias_columns(join.this) or _list_packed_columns(name, arguments)
        join.set("this", _pack_rows(packed, alias or name))
        join.set("side", "LEFT" if outer else None)
        join.set("on", exp.true())
        _replace_columns(select, join, alias or name, _unpack_columns(alias or name, names))
        return
    table = _build_function_table(parts, alias or name)
    join.set("this", table)
    join.set("side", "LEFT" if outer else None)
    join.set(
        "on", _build_match_condition(ARGUMENT_COLUMNS.get(name, ()), arguments, alias or name) or exp.true()
    )


def _list_alias_columns(source: exp.Expr) -> tuple[str, ...]:
    """Return the column names in the alias of *source*."""
    alias = source.args.get("alias")
    return tuple(column.name for column in alias.columns) if isinstance(alias, exp.TableAlias) else ()


def _parse_call(call: exp.Expr) -> tuple[str, list[exp.Expr], tuple[str, ...]]:
    """Return the lowercase name of a called function, its arguments, and all parts of its name."""
    parts = list(call.flatten()) if isinstance(call, exp.Dot) else [call]
    last_part = parts[-1]
    if not isinstance(last_part, exp.Anonymous):
        raise UnsimulatedFeatureError("this form of CROSS APPLY and OUTER APPLY")
    names = (*(part.name for part in parts[:-1]), str(last_part.this))
    return names[-1].lower(), list(last_part.expressions), names


def _build_function_table(parts: tuple[str, ...], alias: str) -> exp.Table:
    """Return the table with all rows that a function can return. The table name ends with parentheses."""
    return exp.Table(
        this=exp.to_identifier(parts[-1].lower() + "()", quoted=True),
        db=exp.to_identifier(parts[-2] if len(parts) > 1 else "sys"),
        alias=exp.TableAlias(this=exp.to_identifier(alias, quoted=True)),
    )


def _build_match_condition(
    columns: tuple[str, ...], arguments: list[exp.Expr], alias: str
) -> exp.Expr | None:
    """Return the condition that each column equals its argument; None if no argument limits the rows.

    An argument of NULL or DEFAULT matches every row, and 0 every trace [DOC: sys.fn_trace_getinfo].
    """
    conditions: list[exp.Expr] = []
    for name, value in zip(columns, arguments, strict=False):
        if not name or isinstance(value, exp.Null) or value.name.upper() == "DEFAULT":
            continue
        if name == "traceid" and value.name == "0":
            continue
        column = exp.column(exp.to_identifier(name, quoted=True), table=exp.to_identifier(alias, quoted=True))
        equal: exp.Expr = exp.EQ(this=column, expression=value.copy())
        if not isinstance(value, exp.Column):
            equal = exp.Or(this=equal, expression=exp.Is(this=value.copy(), expression=exp.Null()))
        conditions.append(exp.Paren(this=equal))
    return exp.and_(*conditions) if conditions else None


def replace_table_call(table: exp.Table) -> None:
    """Replace `FROM function(arguments)` by the matching rows of the function's table."""
    parts: tuple[str, ...]
    if isinstance(table.this, exp.Anonymous) and _is_nodes_method(table.this):
        _replace_nodes_call(table, table.this)
        return
    name, arguments, parts = _parse_call(table.this)
    if name not in TABLE_FUNCTIONS and name not in PACKED_FUNCTIONS:
        return
    packed = _build_packed_call(name, arguments)
    if packed is not None:
        _replace_with_packed(
            table, packed, _list_alias_columns(table) or _list_packed_columns(name, arguments)
        )
        return
    position, known_columns = SIMULATED_ARGUMENTS.get(name, (0, ()))
    if known_columns and position < len(arguments) and arguments[position].name.upper() not in known_columns:
        raise UnsimulatedFeatureError(f"{name} of {arguments[position].name or arguments[position].sql()}")
    parts = (*(part.name for part in (table.args.get("db"),) if part is not None), *parts)
    alias = table.alias or name
    source = _build_function_table(parts, alias)
    source.set("joins", table.args.get("joins"))
    condition = _build_match_condition(ARGUMENT_COLUMNS.get(name, ()), arguments, alias)
    holder = table.parent
    table.replace(source)
    if condition is not None and isinstance(holder, exp.Join):
        holder.on(condition, copy=False)
    elif condition is not None:
        select = source.find_ancestor(exp.Select)
        assert select is not None
        select.where(condition, copy=False)


def _apply_values(
    select: exp.Select, join: exp.Join, values: exp.Values, alias: str, columns: list[str]
) -> None:
    """Replace an applied `(VALUES (a, b), (c, d)) x (p, q)` by a table of row numbers.

    A column such as x.p becomes a CASE on the row number.
    """
    rows = [list_cells(row) for row in values.expressions]
    numbers: exp.Expr = exp.Select(expressions=[exp.alias_(exp.Literal.number(0), "n", quoted=True)])
    for index in range(1, len(rows)):
        numbers = exp.Union(
            this=numbers,
            expression=exp.Select(expressions=[exp.alias_(exp.Literal.number(index), "n", quoted=True)]),
            distinct=False,
        )
    number = exp.column(exp.to_identifier("n", quoted=True), table=exp.to_identifier(alias, quoted=True))
    uses = {
        name: exp.Case(
            this=number.copy(),
            ifs=[
                exp.If(this=exp.Literal.number(position), true=row[index].copy())
                for position, row in enumerate(rows)
                if index < len(row)
            ],
        )
        for index, name in enumerate(columns)
    }
    _replace_columns(select, join, alias, uses)
    join.set(
        "this",
        exp.Subquery(this=numbers, alias=exp.TableAlias(this=exp.to_identifier(alias, quoted=True))),
    )


def _apply_select(
    select: exp.Select, join: exp.Join, inner: exp.Select, alias: str, columns: list[str], outer: bool
) -> None:
    """Replace an applied SELECT.

    If it returns at most one row, an expression or a scalar subquery replaces each of its columns. Otherwise,
    a join replaces it.
    """
    if any(projection.is_star for projection in inner.expressions):
        raise UnsimulatedFeatureError("CROSS APPLY and OUTER APPLY of SELECT *")
    names = columns or [get_projection_name(projection) for projection in inner.expressions]
    values = [_get_value(projection) for projection in inner.expressions]
    if inner.args.get("from_") is None:
        clause = inner.args.get("where")
        if clause is not None and outer:
            values = [exp.Case(ifs=[exp.If(this=clause.this.copy(), true=value)]) for value in values]
        _replace_columns(select, join, alias, dict(zip(names, values, strict=False)))
        join.pop()
        if inner.args.get("where") is not None and not outer:
            _add_condition(select, inner.args["where"].this)
        return
    grouped = inner.args.get("group") or inner.args.get("having") or inner.args.get("distinct")
    aggregate = any(_has_own_aggregate(value) for value in values)
    limit = inner.args.get("limit")
    single = limit is not None and limit.expression is not None and limit.expression.name == "1"
    if (aggregate and not grouped) or single or inner.args.get("for_") is not None:
        if len(names) * count_nodes(inner) > COPIED_NODES_MAX:
            raise SqlError(8623)
        uses = {name: _build_single_value(inner, value) for name, value in zip(names, values, strict=False)}
        _replace_columns(select, join, alias, uses)
        join.pop()
        if single and not outer:
            probe = inner.copy()
            probe.set("expressions", [exp.Literal.number(1)])
            probe.set("order", None)
            _add_condition(select, exp.Exists(this=probe))
        return
    windows = inner.args.get("windows") or any(value.find(exp.Window) for value in values)
    if grouped or aggregate or limit is not None or windows:
        _apply_query(select, join, inner, alias, columns, outer)
        return
    _replace_with_join(select, join, inner, alias, dict(zip(names, values, strict=False)), outer)


PACKED_ROWS_KEY: Final = "packed"
"""Metadata key that marks a json_each call, which turns a JSON list into a table with one row per element."""


def _apply_query(
    select: exp.Select, join: exp.Join, inner: exp.Query, alias: str, columns: list[str], outer: bool
) -> None:
    """Replace an applied query that neither scalar subqueries nor a plain join can replace.

    The query runs for each row of the left side and returns its rows as JSON (scratch_database.py).
    """
    first_expression: exp.Expr = inner
    while isinstance(first_expression, exp.SetOperation):
        first_expression = first_expression.this
    if not isinstance(first_expression, exp.Select) or any(
        projection.is_star for projection in first_expression.expressions
    ):
        raise UnsimulatedFeatureError("CROSS APPLY and OUTER APPLY of SELECT *")
    names = columns or [get_projection_name(projection) for projection in first_expression.expressions]
    inner_names = [f"c{index}" for index in range(len(names))]
    first_expression.set(
        "expressions",
        [
            exp.alias_(_get_value(expression), name, quoted=True)
            for name, expression in zip(inner_names, first_expression.expressions, strict=True)
        ],
    )
    packed_columns = [_build_column("q", name) for name in inner_names]
    packed = exp.Select(expressions=[exp.Anonymous(this="pack", expressions=packed_columns)])
    table_alias = exp.TableAlias(this=exp.to_identifier("q", quoted=True))
    packed.set("from_", exp.From(this=exp.Subquery(this=inner.copy(), alias=table_alias)))
    join.set("this", _pack_rows(exp.Subquery(this=packed), alias))
    join.set("side", "LEFT" if outer else None)
    join.set("on", exp.true())
    _replace_columns(select, join, alias, _unpack_columns(alias, names))


def _unpack_columns(alias: str, names: Sequence[str]) -> dict[str, exp.Expr]:
    """Return column name -> expression that reads the column from *alias*, whose rows are packed as JSON."""
    return {
        name: exp.Anonymous(
            this="unpacked", expressions=[_build_column(alias, "value"), exp.Literal.number(index)]
        )
        for index, name in enumerate(names)
    }


COMPUTED_FUNCTION_COLUMNS: Final = {
    "dm_os_file_exists": ("file_exists", "file_is_a_directory", "parent_directory_exists"),
    "fn_my_permissions": ("entity_name", "subentity_name", "permission_name"),
    "dm_exec_describe_first_result_set": tuple(
        column.name
        for column in list_view_columns(VIEW_SCHEMAS["sys.dm_exec_describe_first_result_set()"], 2012)
    ),
    "openjson": ("key", "value", "type"),
    "openjson_rows": ("value",),
    "fn_xe_file_target_read_file": ("object_name", "event_data", "file_name", "file_offset", "timestamp_utc"),
    "string_split": ("value", "ordinal"),
    "generate_series": ("value",),
}
"""Table-valued function that computes its rows from its arguments -> its columns."""


def _build_packed_call(name: str, arguments: list[exp.Expr]) -> exp.Expr | None:
    """Return the call that computes the rows of a function in COMPUTED_FUNCTION_COLUMNS as JSON.

    Return None for other functions. environment.py implements the called functions.
    """
    if name == "dm_os_file_exists" and len(arguments) == 1:
        return exp.Anonymous(this="file_found", expressions=[arguments[0].copy()])
    if name == "fn_my_permissions" and len(arguments) == 2 and arguments[1].name.upper() == "OBJECT":
        return exp.Anonymous(this="object_permissions", expressions=[arguments[0].copy()])
    if name == "dm_exec_describe_first_result_set" and len(arguments) == 3:
        return exp.Anonymous(
            this="first_result_rows", expressions=[argument.copy() for argument in arguments]
        )
    if name == "openjson" and len(arguments) in (1, 2):
        return exp.Anonymous(this="open_json", expressions=[argument.copy() for argument in arguments])
    if name == "fn_xe_file_target_read_file" and len(arguments) == 4:
        return exp.Anonymous(this="xe_events", expressions=[arguments[0].copy()])
    if name == "table_function_rows" and arguments and arguments[0].name.startswith("\x01"):
        return exp.Anonymous(
            this="scalar_function_value", expressions=[argument.copy() for argument in arguments]
        )
    if name == "openjson_rows" and len(arguments) in (1, 2):
        return exp.Anonymous(this="open_json_rows", expressions=[argument.copy() for argument in arguments])
    if name == "string_split" and len(arguments) in (2, 3):
        return exp.Anonymous(this="split_string", expressions=[argument.copy() for argument in arguments])
    if name == "generate_series" and len(arguments) in (2, 3):
        return exp.Anonymous(this="number_series", expressions=[argument.copy() for argument in arguments])
    return None


def _list_packed_columns(name: str, arguments: Sequence[exp.Expr]) -> tuple[str, ...]:
    """Return the columns of a function in COMPUTED_FUNCTION_COLUMNS.

    STRING_SPLIT has `ordinal` only if its third argument is 1.
    """
    if name == "string_split" and (len(arguments) < 3 or arguments[2].name != "1"):
        return ("value",)
    return COMPUTED_FUNCTION_COLUMNS[name]


PACKED_FUNCTIONS: Final = frozenset(
    {
        "openjson",
        "openjson_rows",
        "string_split",
        "generate_series",
        "fn_xe_file_target_read_file",
        "table_function_rows",
    }
)
"""Table-valued functions that are called without a schema and return their rows as JSON.

The internal function table_function_rows calls user-defined functions (functions.py).
"""


def _replace_with_packed(table: exp.Table, values: exp.Expr, names: Sequence[str]) -> None:
    select, alias = table.find_ancestor(exp.Select), table.alias or _parse_call(table.this)[0]
    assert isinstance(select, exp.Select)
    lateral = _pack_rows(values, alias)
    lateral.set("joins", table.args.get("joins"))
    table.replace(lateral)
    if any(isinstance(projection, exp.Star) for projection in select.expressions) and not select.args.get(
        "joins"
    ):
        select.set("expressions", [_build_column(alias, name) for name in names])
    _replace_columns(select, exp.Join(this=lateral.copy()), alias, _unpack_columns(alias, names))


def _pack_rows(values: exp.Expr, alias: str) -> exp.Lateral:
    table_alias = exp.TableAlias(this=exp.to_identifier(alias, quoted=True))
    lateral = exp.Lateral(this=exp.Anonymous(this="json_each", expressions=[values]), alias=table_alias)
    lateral.meta[PACKED_ROWS_KEY] = True
    return lateral


def _build_column(table: str, name: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True), table=exp.to_identifier(table, quoted=True))


def _is_nodes_method(call: exp.Anonymous) -> bool:
    return str(call.this).lower() == "nodes" and len(call.expressions) == 1


def _apply_nodes(join: exp.Join, xml: exp.Expr, call: exp.Anonymous, alias: str, outer: bool) -> None:
    """Replace an applied `xml.nodes('path') AS alias (column)` by one row per node."""
    select = join.find_ancestor(exp.Select)
    names = [column.name for column in join.this.args["alias"].columns] if join.this.args.get("alias") else []
    if (
        not isinstance(select, exp.Select)
        or len(names) != 1
        or not isinstance(call.expressions[0], exp.Literal)
    ):
        raise UnsimulatedFeatureError("the method nodes() of xml")
    join.set("this", _build_nodes_source(xml, call, alias))
    join.set("side", "LEFT" if outer else None)
    join.set("on", exp.true())
    _replace_columns(select, join, alias, {names[0]: _build_column(alias, "value")})


def _replace_nodes_call(table: exp.Table, call: exp.Anonymous) -> None:
    """Replace `FROM @x.nodes('path') AS alias (column)` by one row per node."""
    select, alias = table.find_ancestor(exp.Select), table.args.get("alias")
    names = [column.name for column in alias.columns] if isinstance(alias, exp.TableAlias) else []
    xml, holder = table.args.get("db"), table.args.get("catalog")
    if not isinstance(select, exp.Select) or len(names) != 1 or not isinstance(xml, exp.Expr):
        raise UnsimulatedFeatureError("the method nodes() of xml")
    if isinstance(xml, exp.Identifier):
        xml = exp.Column(this=xml.copy(), table=holder.copy() if isinstance(holder, exp.Expr) else None)
    nodes = _build_nodes_source(xml, call, table.alias)
    nodes.set("joins", table.args.get("joins"))
    table.replace(nodes)
    _replace_columns(
        select, exp.Join(this=nodes.copy()), table.alias, {names[0]: _build_column(table.alias, "value")}
    )


def _build_nodes_source(xml: exp.Expr, call: exp.Anonymous, alias: str) -> exp.Lateral:
    path = call.expressions[0]
    if not isinstance(path, exp.Literal):
        raise UnsimulatedFeatureError("the method nodes() of xml")
    check_xml_path(path.name)
    return _pack_rows(exp.Anonymous(this="xml_nodes", expressions=[xml.copy(), path.copy()]), alias)


def check_xml_path(text: str) -> None:
    """Raise UnsimulatedFeatureError for an XQuery path that is not simulated (xpath.py)."""
    try:
        xpath.compile_path(text)
    except xpath.UnsimulatedPathError:
        raise UnsimulatedFeatureError(f"the XQuery {text.strip()[:60]}") from None


def _replace_with_join(
    select: exp.Select,
    join: exp.Join,
    inner: exp.Select,
    alias: str,
    uses: Mapping[str, exp.Expr],
    outer: bool,
) -> None:
    """Replace an applied derived table by a join, and its columns by their expressions.

    `(SELECT a FROM x WHERE x.k = t.k) d` becomes `JOIN x ON x.k = t.k`. *inner*: the SELECT of the derived
    table.
    *uses*: column of the derived table -> its expression.
    """
    source = inner.args["from_"].this
    inner_joins = inner.args.get("joins") or []
    _replace_columns(select, join, alias, uses)
    if inner_joins:
        source = exp.Paren(this=source)
        source.this.set("joins", inner_joins)
    clause = inner.args.get("where")
    join.set("this", source)
    join.set("side", "LEFT" if outer else None)
    join.set("kind", None)
    join.set("on", clause.this if clause is not None else exp.true())


def _get_value(projection: exp.Expr) -> exp.Expr:
    if isinstance(projection, exp.EQ) and isinstance(projection.this, exp.Column):
        inner: exp.Expr = projection.expression
        return inner
    return projection.unalias()


def _has_own_aggregate(value: exp.Expr) -> bool:
    """Return whether *value* contains an aggregate without OVER. Its subqueries are not searched."""
    for node in value.find_all(exp.AggFunc, exp.Anonymous):
        is_aggregate = isinstance(node, exp.AggFunc) or str(node.this).lower() in _AGGREGATES
        if (
            is_aggregate
            and not isinstance(node.parent, exp.Window)
            and node.find_ancestor(exp.Select) is None
        ):
            return True
        if is_aggregate and node.find_ancestor(exp.Select) is value.find_ancestor(exp.Select):
            return not isinstance(node.parent, exp.Window)
    return False


_AGGREGATES: Final = frozenset({"avg", "stdev", "count_big", "stdevp", "var", "varp"})


def _build_single_value(inner: exp.Select, value: exp.Expr) -> exp.Expr:
    select = inner.copy()
    if inner.args.get("for_") is None:
        select.set("expressions", [value.copy()])
    return exp.Subquery(this=select)


def _add_condition(select: exp.Select, condition: exp.Expr) -> None:
    clause = select.args.get("where")
    expression = condition if clause is None else exp.and_(clause.this, condition)
    select.set("where", exp.Where(this=expression))


def _replace_columns(select: exp.Select, join: exp.Join, alias: str, uses: Mapping[str, exp.Expr]) -> None:
    """Replace every column of the applied table in *select* by its expression in *uses*."""
    values_by_name = {name.lower(): value for name, value in uses.items()}
    sizes = {name: count_nodes(value) for name, value in values_by_name.items()}
    copied = 0
    _expand_stars(select, alias, uses)
    for column in list(select.find_all(exp.Column)):
        table = column.table.lower()
        if column.find_ancestor(exp.Lateral) is join.this or (table and table != alias.lower()):
            continue
        value = values_by_name.get(column.name.lower())
        if value is None:
            if table:
                raise UnsimulatedFeatureError(f"the column {column.sql()} of an applied table")
            continue
        if not table and column.find_ancestor(exp.Select) is not select:
            continue  # in a subquery, a column without a table prefix belongs to the subquery
        copied += sizes[column.name.lower()]
        if copied > COPIED_NODES_MAX:  # each nested x.a = y.a + y.a doubles the size
            raise SqlError(8623)
        replacement: exp.Expr = exp.Paren(this=value.copy())
        if column.parent is select and column.arg_key == "expressions":
            replacement = exp.alias_(replacement, column.name, quoted=True)
        column.replace(replacement)


def _expand_stars(select: exp.Select, alias: str, uses: Mapping[str, exp.Expr]) -> None:
    """Replace `x.*` of the applied table by the columns in *uses*. Raises UnsimulatedFeatureError for `*`."""
    expressions: list[exp.Expr] = []
    for projection in select.expressions:
        is_own_star = projection.is_star and projection.find(exp.Column) is not None
        if isinstance(projection, exp.Star):
            raise UnsimulatedFeatureError("SELECT * with CROSS APPLY or OUTER APPLY of a derived table")
        if is_own_star and projection.find(exp.Column).table.lower() == alias.lower():
            expressions += [
                exp.alias_(exp.Paren(this=value.copy()), name, quoted=True) for name, value in uses.items()
            ]
        else:
            expressions.append(projection)
    select.set("expressions", expressions)


COPIED_NODES_MAX: Final = 4_000
"""Maximum number of query nodes that APPLY and PIVOT may copy; more raise error 8623. Assumed."""


def list_cells(row: exp.Expr) -> list[exp.Expr]:
    """Return the values in one row of VALUES. A row with a single value is a Paren node."""
    return (
        list(row.expressions)
        if isinstance(row, exp.Tuple)
        else [row.this if isinstance(row, exp.Paren) else row]
    )


def get_projection_name(projection: exp.Expr) -> str:
    """Return the name of a result column; "" for a column without a name."""
    if isinstance(projection, exp.EQ) and isinstance(projection.this, exp.Column):
        return str(projection.this.name)  # the form `name = value`
    return str(projection.alias_or_name)


def count_nodes(tree: exp.Expr) -> int:
    """Return the number of nodes in a tree."""
    return sum(1 for _ in tree.walk())
