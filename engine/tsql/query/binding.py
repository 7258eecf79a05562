"""Binding of a query: every name is resolved and every expression gets its type before the query runs.

All compile-time errors of SQL Server are raised here: names (207, 209, 4104), aggregates (8120, 147, 130 …),
ORDER BY (145, 1033), derived tables (8155, 8156), and types (206, 402, 8117).
"""

from collections.abc import Iterable
from functools import reduce
from typing import Final

from sqlglot import exp

from engine.messages import SqlError
from engine.tsql.query import conversions, for_json_and_xml, forms, type_inference
from engine.tsql.query.conversions import (
    Kind,
    convert_to_float,
    convert_to_type,
    make_literal,
    remove_alias,
    wrap_in_call,
)
from engine.tsql.query.grouping_sets import (
    REPEATED_SELECT_KEY,
    GroupingBinder,
    check_aggregates,
    has_aggregate,
)
from engine.tsql.query.plans import (
    NO_NAMES,
    BindingContext,
    Column,
    Columns,
    QuerySource,
    SelectScope,
    TableRef,
)
from engine.tsql.query.query_columns import (
    apply_outer_join,
    get_column_name,
    is_nullable,
    rename_columns,
    resolve_column,
)
from engine.tsql.query.syntax_normalization import is_json
from engine.tsql.scalars.types import (
    DECIMALS,
    NULL,
    UNLIMITED_LENGTH,
    SqlType,
    get_precision_and_scale,
    infer_common_type,
    make_nvarchar,
)


def bind_query(tree: exp.Expr, names: BindingContext = NO_NAMES) -> Columns | None:
    """Insert all implicit conversions into *tree* and return its result columns. Raises SqlError."""
    binder = QueryBinder(names)
    try:
        columns = binder.bind_query(tree)
    except SqlError as problem:
        binder.problems.append(problem)
        columns = None
    if binder.problems:
        first_problem = binder.problems[0]
        first_problem.problems = tuple(binder.problems)
        raise first_problem
    return columns


class QueryBinder(GroupingBinder):
    """Binder of one query: it resolves the names and infers the types of all expressions."""

    def __init__(self, names: BindingContext) -> None:
        super().__init__(names)
        self.tables = dict(names.tables)
        self.variables = dict(names.variables)

    # -- expressions

    def bind(self, node: exp.Expr) -> Kind:
        """Return the type of an expression in the current SELECT."""
        rule = type_inference.TYPE_RULES_BY_NODE.get(type(node))
        if rule is None:
            return self.bind_parts(node)
        return rule(self, node)

    def bind_parts(self, node: exp.Expr) -> Kind:
        """Bind the children of a node whose own type is unknown."""
        for child in list(node.iter_expressions()):
            if isinstance(child, exp.Query) and not isinstance(child, exp.Subquery):
                self.bind_subquery(child)
            elif not isinstance(child, exp.Identifier | exp.Var | exp.DataType):
                self.bind(child)
        return None

    def bind_all(self, nodes: Iterable[exp.Expr]) -> list[Kind]:
        """Return the types of several expressions. Store each error in `problems` and continue."""
        kinds: list[Kind] = []
        for node in nodes:
            try:
                kinds.append(self.bind(node))
            except SqlError as problem:
                self.problems.append(problem)
                kinds.append(None)
        return kinds

    def convert(self, node: exp.Expr, kind: Kind, source: Kind = None) -> None:
        """Convert the result of *node*, an aggregate or a function, to the type *kind*.

        For a function with OVER, the whole expression is converted. *source*: type before the conversion.
        """
        if kind is None or kind == NULL or kind.name == "float":
            return
        outer = node.parent if isinstance(node.parent, exp.Window) else node
        wrap_in_call(outer, "convert", make_literal(kind), suffix=(exp.Null(), make_literal(source or kind)))

    # -- nested queries

    def bind_subquery(self, node: object) -> Columns | None:
        """Return the columns of a subquery, which can use the columns of the outer queries."""
        while isinstance(node, exp.Subquery):
            node = node.this
        if isinstance(node, exp.Query):
            reject_inner_order(node)
            return self.bind_query(node)
        if isinstance(node, exp.Expr):
            self.bind(node)
        return None

    def limit_to_one_row(self, node: exp.Expr) -> None:
        """Make a scalar subquery raise 512 for a second row."""
        inner = node.this
        if not isinstance(inner, exp.Select | exp.SetOperation) or inner.args.get("for_") is not None:
            return
        if isinstance(inner, exp.Select):
            is_plain = not inner.args.get("group")
            limit = inner.args.get("limit")
            top_1 = limit is not None and str(getattr(limit.expression, "name", "")) == "1"
            if inner.args.get("from_") is None or top_1 or (is_plain and has_aggregate(inner.expressions)):
                return
        node.meta["one_row"] = True

    def convert_column(self, query: exp.Expr, source: SqlType, target: Kind) -> None:
        """Convert the only column of a subquery from *source* to *target*."""
        while isinstance(query, exp.Subquery):
            query = query.this
        if isinstance(query, exp.Select) and len(query.expressions) == 1:
            convert_to_type(query.expressions[0].unalias(), source, target)

    # -- whole queries

    def bind_query(self, tree: exp.Expr) -> Columns | None:
        """Return the result columns of the query. Names are resolved in the query, then in outer queries."""
        outer = self.space
        self.space = SelectScope(outer)
        try:
            clause = tree.args.get("with_")
            if isinstance(clause, exp.Expr):
                for cte in clause.expressions:
                    self._bind_cte(cte)
            if isinstance(tree, exp.Subquery):
                return self.bind_query(tree.this)
            if isinstance(tree, exp.SetOperation):
                return self._bind_set_operation(tree)
            if isinstance(tree, exp.Values):
                return self._bind_values(tree)
            if isinstance(tree, exp.Select):
                return self._bind_select(tree)
            return None
        finally:
            self.space = outer

    def _bind_cte(self, cte: exp.Expr) -> None:
        assert self.space is not None
        name, inner = str(cte.alias), cte.this
        if name.lower() in self.space.ctes:
            raise SqlError(239, name)
        named = [str(column.name) for column in cte.args["alias"].columns]
        reject_inner_order(inner)
        anchor_query, members = forms.split_recursive_members(inner, name)
        if members:
            if any(member.parent is not None and member.parent.args.get("distinct") for member in members):
                raise SqlError(252, name)
            columns = self.bind_query(anchor_query)
            # columns of a recursive expression are nullable [DOC: WITH common_table_expression]
            columns = columns and tuple(column._replace(nullable=True) for column in columns)
            anchor = self.space.ctes[name.lower()] = rename_columns(columns, named)
            for member in members:
                _check_recursion(anchor, self.bind_query(member), name)
            cte.meta[forms.RECURSIVE_COLUMNS_KEY] = [column.name for column in anchor or ()]
        else:
            if not isinstance(inner, exp.Union) and forms.list_references(inner, name):
                raise SqlError(252, name)
            columns = self.bind_query(inner)
        if columns is not None and named and len(named) != len(columns):
            raise SqlError(8158 if len(columns) > len(named) else 8159, name)
        self.space.ctes[name.lower()] = self._check_derived_columns(rename_columns(columns, named), name)

    def _check_derived_columns(self, columns: Columns | None, name: str) -> Columns | None:
        """Return *columns* unchanged. Raise 8155 for a column without a name, 8156 for a duplicate name."""
        names_seen: set[str] = set()
        for number, column in enumerate(columns or (), start=1):
            if not column.name:
                raise SqlError(8155, number, name)
            if column.name.lower() in names_seen:
                raise SqlError(8156, column.name, name)
            names_seen.add(column.name.lower())
        return columns

    def _bind_set_operation(self, tree: exp.SetOperation) -> Columns | None:
        members: list[exp.Expr] = []
        node: exp.Expr = tree
        while isinstance(node, exp.SetOperation):
            members.append(node.args["expression"])
            node = node.this
        members.append(node)
        members.reverse()
        for member in members[:-1]:
            if isinstance(member, exp.Select) and member.args.get("order") is not None:
                raise SqlError(156, "UNION")
        column_lists = [self.bind_query(member) for member in members]
        if any(columns is None for columns in column_lists):
            return None
        known_lists = [columns for columns in column_lists if columns is not None]
        if len({len(columns) for columns in known_lists}) > 1:
            raise SqlError(205)
        if known_lists and (tree.args.get("distinct") or not isinstance(tree, exp.Union)):
            conversions.check_distinct_columns(known_lists[0], 5335)
        type_rows = [[column.kind for column in columns] for columns in known_lists]
        kinds: list[Kind] = [reduce(infer_common_type, types) for types in zip(*type_rows, strict=True)]
        conversions.check_member_collations(tree, members)
        for member, columns in zip(members, known_lists, strict=True):
            conversions.convert_projections(member, columns, kinds)
        nullable = [any(column.nullable for column in same) for same in zip(*known_lists, strict=True)]
        names = [column.name for column in known_lists[0]]
        result = tuple(map(Column, names, kinds, nullable))
        self._bind_union_order(tree, result)
        return result

    def _bind_union_order(self, tree: exp.Expr, columns: Columns) -> None:
        order = tree.args.get("order")
        known_names = {column.name.lower() for column in columns}
        for ordered in order.expressions if order is not None else ():
            node = ordered.this.this if isinstance(ordered.this, exp.Collate) else ordered.this
            if isinstance(node, exp.Column):
                if node.name.lower() not in known_names:
                    self.problems += [SqlError(207, node.name), SqlError(104, "UNION")]
            elif isinstance(node, exp.Literal) and node.is_int:
                if not 1 <= int(node.name) <= len(columns):
                    self.problems.append(SqlError(108, int(node.name)))
            else:
                self.problems.append(SqlError(104, "UNION"))

    def _bind_values(self, tree: exp.Expr) -> Columns | None:
        rows = []
        for row in tree.expressions:
            value = row.this if isinstance(row, exp.Paren) else row
            cells = row.expressions if isinstance(row, exp.Tuple) else [value]
            rows.append((cells, self.bind_all(list(cells))))
        if len({len(cells) for cells, _ in rows}) > 1:
            raise SqlError(10709)
        nullable = [
            any(is_nullable(cells[index], self.space, self.get_name) for cells, _ in rows)
            for index in range(len(rows[0][0]))
        ]
        kinds: list[Kind] = []
        for index in range(len(rows[0][0])):
            kind: Kind = NULL
            for _, sql_types in rows:
                kind = infer_common_type(kind, sql_types[index])
            kinds.append(kind)
            for cells, sql_types in rows:
                convert_to_type(cells[index], sql_types[index], kind)
        return tuple(Column("", kind, any_null) for kind, any_null in zip(kinds, nullable, strict=True))

    # -- SELECT

    def _bind_select(self, select: exp.Select) -> Columns | None:
        space = self.space
        assert space is not None
        problem_count = len(self.problems)
        source = select.args.get("from_")
        joins = list(select.args.get("joins") or ())
        if source is not None:
            self._bind_source(source.this)
        self._bind_joins(joins)
        self._check_source_names(space)
        if is_json(select.args.get("for_")):
            for_json_and_xml.expand_stars(select, space)
        check_aggregates(select)
        self.check_groups(select)
        self.check_order(select)
        for join in joins:
            on_clause = join.args.get("on")
            if isinstance(on_clause, exp.Expr):
                self.bind_all([on_clause])
        for key in ("where", "having"):
            part = select.args.get(key)
            if isinstance(part, exp.Expr):
                self.bind_all([part.this])
        group = select.args.get("group")
        if isinstance(group, exp.Expr):
            for kind in self.bind_all(list(group.expressions)):
                conversions.check_comparable(kind)
        columns = self._bind_projections(select)
        if select.args.get("distinct"):
            conversions.check_distinct_columns(columns or (), 421)
        self._bind_order(select, columns)
        self._bind_limit(select)
        if select.meta.get(REPEATED_SELECT_KEY):
            del self.problems[problem_count:]
        clause = select.args.get("for_")
        if is_json(clause):
            return for_json_and_xml.store_column_types(select, columns, space)
        if clause is None or clause.args.get("kind") != "XML":
            return columns
        self._convert_for_xml(select, columns)
        # FOR XML has one column: xml with TYPE, else text
        typed = any(str(option.this.name).upper() == "TYPE" for option in clause.expressions)
        result_type = SqlType("xml") if typed else make_nvarchar(UNLIMITED_LENGTH)
        return (Column("XML_F52E2B61-18A1-11d1-B105-00805F49916B", result_type),)

    def _convert_for_xml(self, select: exp.Select, columns: Columns | None) -> None:
        """Convert dates and floats to the form that XML uses (styles 126 and 2 of CONVERT)."""
        for projection, (_, kind, _) in zip(list(select.expressions), columns or (), strict=False):
            if kind is None or projection.is_star or kind.name not in XML_CONVERT_STYLES:
                continue
            suffix = (exp.Literal.number(XML_CONVERT_STYLES[kind.name]), make_literal(kind))
            wrap_in_call(remove_alias(projection), "convert", make_literal("varchar(40)"), suffix=suffix)

    def _bind_joins(self, joins: Iterable[exp.Expr], first_source: int = 0) -> None:
        """Bind joined tables. *first_source*: index of the first table of the same FROM item."""
        assert self.space is not None
        for join in joins:
            count = len(self.space.sources)
            self._bind_source(join.this)
            apply_outer_join(join, self.space.sources[first_source:], count - first_source)

    def _bind_inner_joins(self, node: exp.Expr, first_source: int) -> None:
        joins = list(node.args.get("joins") or ())
        self._bind_joins(joins, first_source)
        self.bind_all(join.args["on"] for join in joins if isinstance(join.args.get("on"), exp.Expr))

    def _bind_source(self, node: exp.Expr) -> None:
        space = self.space
        assert space is not None
        first_source = len(space.sources)
        alias = node.args.get("alias")
        named = [str(column.name) for column in alias.columns] if isinstance(alias, exp.TableAlias) else []
        name = str(node.alias)
        if isinstance(node, exp.Table):
            space.sources.append(self._bind_table(node, name, named))
        elif isinstance(node, exp.Subquery) and isinstance(node.this, exp.Table | exp.Subquery):
            inner = node.this
            self._bind_source(inner)
            self._bind_inner_joins(node, first_source)
            return
        elif isinstance(node, exp.Subquery | exp.Values):
            space.sources.append(self._bind_derived_table(node, name, named))
        elif isinstance(node, exp.Lateral):
            applied = node.this.this if isinstance(node.this, exp.Subquery) else None
            columns = None
            if isinstance(applied, exp.Query | exp.Values):
                reject_inner_order(applied)
                columns = rename_columns(self.bind_query(applied), named)
            elif conversions.is_generate_series(node.this):
                columns = (
                    Column((named or ["value"])[0], conversions.infer_generate_series(self, node.this)),
                )
            elif isinstance(node.this, exp.Dot | exp.Anonymous) and named:
                columns = tuple(Column(column, None) for column in named)
            space.sources.append(QuerySource(name, columns))
        else:
            space.sources.append(QuerySource(name, None))
        self._bind_inner_joins(node, first_source)
        if node.args.get("pivots"):
            pivot = node.args["pivots"][0]
            if pivot.args.get("unpivot"):
                _check_unpivoted(pivot, space.sources[-1])
            space.sources[-1] = QuerySource(str(pivot.alias or name), None)

    def _bind_table(self, node: exp.Table, name: str, named: list[str]) -> QuerySource:
        assert self.space is not None
        catalog, schema, table = (self.get_name(node.args.get(key)) for key in ("catalog", "db", "this"))
        parts = tuple(part for part in (catalog, schema, table) if part)
        written_parts = (catalog, schema, table) if catalog else parts
        aliased = bool(name)
        if isinstance(node.this, exp.Anonymous | exp.Dot):
            columns: Columns | None = tuple(Column(column, None) for column in named) or None
            if conversions.is_generate_series(node.this):
                columns = (
                    Column((named or ["value"])[0], conversions.infer_generate_series(self, node.this)),
                )
            return QuerySource(name or parts[-1], columns, aliased, parts)
        if len(parts) == 1:
            cte = self.space.find_cte(parts[0])
            if cte is not False:
                assert not isinstance(cte, bool)
                return QuerySource(name or parts[0], cte, True, parts)
        return QuerySource(name or parts[-1], self.tables.get(TableRef(written_parts).key), aliased, parts)

    def _bind_derived_table(self, node: exp.Expr, name: str, named: list[str]) -> QuerySource:
        if not name:
            raise SqlError(102, ")")
        inner = node if isinstance(node, exp.Values) else node.this
        reject_inner_order(inner)
        if isinstance(node, exp.Values):
            columns = self._bind_values(node)
        else:
            outer = self.space
            # a derived table cannot use the other tables of FROM
            self.space = outer.outer if outer is not None else None
            space = SelectScope(self.space, ctes=dict(outer.ctes) if outer is not None else {})
            self.space = space
            try:
                columns = self.bind_query(inner)
            finally:
                self.space = outer
        if columns is not None and named and len(named) != len(columns):
            raise SqlError(8158 if len(columns) > len(named) else 8159, name)
        return QuerySource(name, self._check_derived_columns(rename_columns(columns, named), name))

    def _check_source_names(self, space: SelectScope) -> None:
        """Raise 1011 or 1013 for two sources with the same name."""
        sources_seen: dict[str, QuerySource] = {}
        for source in space.sources:
            key = source.name.lower() if source.aliased else source.display_name.lower()
            other_source = sources_seen.get(key)
            if other_source is not None and key:
                if source.aliased:
                    raise SqlError(1011, source.name)
                raise SqlError(1013, other_source.display_name, source.display_name)
            sources_seen[key] = source

    def _bind_projections(self, select: exp.Select) -> Columns | None:
        columns: list[Column] = []
        is_known = True
        for projection in list(select.expressions):
            value = projection.unalias()
            nullable = is_nullable(remove_alias(projection), self.space, self.get_name)
            if isinstance(value, exp.EQ) and isinstance(value.this, exp.Column | exp.Literal | exp.Parameter):
                (kind,) = self.bind_all([value.args["expression"]])
                columns.append(Column(str(value.this.name), kind, nullable))
            elif value.is_star:
                star = self._bind_star(value)
                is_known = is_known and star is not None
                columns += star or ()
            else:
                (kind,) = self.bind_all([value])
                columns.append(Column(get_column_name(projection), kind, nullable))
        return tuple(columns) if is_known else None

    def _bind_star(self, star: exp.Expr) -> Columns | None:
        assert self.space is not None
        table_name = self.get_name(star.args.get("table")).lower() if isinstance(star, exp.Column) else ""
        sources = [source for source in self.space.sources if table_name in ("", source.name.lower())]
        if table_name and not sources:
            self.problems.append(SqlError(107, table_name))
        if any(source.columns is None for source in sources):
            return None
        return tuple(column for source in sources for column in source.columns or ())

    def _bind_order(self, select: exp.Select, columns: Columns | None) -> None:
        order = select.args.get("order")
        aliases = {column.name.lower() for column in columns or ()}
        aliases |= {str(p.alias_or_name).lower() for p in select.expressions}
        projections = [self._describe_projection(p) for p in select.expressions] if order is not None else []
        used_terms: set[int | str] = set()
        for ordered in order.expressions if order is not None else ():
            node = ordered.this
            self._check_order_term(node, projections, used_terms)
            if isinstance(node, exp.Column) and not node.table and node.name.lower() in aliases:
                kinds = [column.kind for column in columns or () if column.name.lower() == node.name.lower()]
                conversions.check_comparable(next(iter(kinds), None))
                continue
            if isinstance(node, exp.Literal) and node.is_int:
                if columns is not None and not 1 <= int(node.name) <= len(columns):
                    self.problems.append(SqlError(108, int(node.name)))
                continue
            if isinstance(node, exp.Literal):
                self.problems.append(SqlError(408, 1))
            conversions.check_comparable(self.bind_all([node])[0])

    def _describe_projection(self, projection: exp.Expr) -> tuple[str, str]:
        """Return the name and the normalized expression of a result column; two empty strings for a star."""
        if projection.is_star:
            return "", ""
        value = remove_alias(projection)
        key = self._build_column_key(value) or value.sql(dialect="tsql")
        return str(projection.alias_or_name).lower(), key

    def _build_column_key(self, node: exp.Expr) -> str:
        """Return the normalized `table.column` of a column node; "" for other nodes and unresolved columns."""
        if not isinstance(node, exp.Column) or node.is_star:
            return ""
        try:
            parts = [self.get_name(node.args.get(key)) for key in ("catalog", "db", "table")]
            column = resolve_column(self.space, [part for part in parts if part], node.name)
        except SqlError:
            return ""
        return "" if column.source is None else f"{column.source.name}.{node.name}".lower()

    def _check_order_term(
        self, node: exp.Expr, projections: list[tuple[str, str]], seen_terms: set[int | str]
    ) -> None:
        """Raise 169 for a repeated ORDER BY term, 209 for a name of two different result columns."""
        # Two result columns with the same value count as different ORDER BY terms. TypeORM sends such
        # queries.
        starred = ("", "") in projections
        term: int | str = ""
        if isinstance(node, exp.Literal) and node.is_int and not starred:
            term = int(node.name) - 1
        elif isinstance(node, exp.Column):
            alias = "" if node.table else node.name.lower()
            named = [index for index, (name, _) in enumerate(projections) if alias and name == alias]
            if len({projections[index][1] for index in named}) > 1:
                self.problems.append(SqlError(209, node.name))
            identity = self._build_column_key(node)
            equal = [index for index, (_, value) in enumerate(projections) if identity and value == identity]
            term = next(iter(named or equal), identity)
        if term != "" and term in seen_terms:
            self.problems.append(SqlError(169))
        seen_terms.add(term)

    def _bind_limit(self, select: exp.Select) -> None:
        limit, offset = select.args.get("limit"), select.args.get("offset")
        if isinstance(offset, exp.Offset):
            if isinstance(offset.expression.unnest(), exp.Neg):
                raise SqlError(10742)
            self._check_row_count(offset.expression, "row_offset")
        if isinstance(limit, exp.Fetch):
            if str(limit.args["count"].name) == "0":
                raise SqlError(10744)
            self._check_row_count(limit.args["count"], "fetch_count")
        if limit is None or not isinstance(limit, exp.Limit):
            return
        value = limit.expression
        if isinstance(value, exp.Select):
            value = value.replace(exp.Subquery(this=value.copy()))
            self.bind(value)
        if isinstance(value, exp.Neg) or (isinstance(value, exp.Paren) and isinstance(value.this, exp.Neg)):
            raise SqlError(127)
        options = limit.args.get("limit_options")
        number = value.unnest() if isinstance(value, exp.Expr) else None
        percent = options is not None and options.args.get("percent")
        if isinstance(number, exp.Null):
            raise SqlError(1060)
        if isinstance(number, exp.Literal) and (number.is_string or ("." in number.name and not percent)):
            raise SqlError(1060)
        kind = None if isinstance(number, exp.Literal) else self.bind(value)
        if percent:
            convert_to_float(value, kind)
        elif kind is not None and kind.is_number and not kind.is_integer:
            raise SqlError(1060)
        elif not isinstance(number, exp.Literal) and options is None:
            wrap_in_call(value, "row_limit")
        if options is not None and options.args.get("with_ties") and select.args.get("order") is None:
            raise SqlError(1062)

    def _check_row_count(self, value: exp.Expr, check: str) -> None:
        """Make the query check the row count *value* when it runs, unless it is a literal.

        *check*: name of the internal function that checks it.
        """
        if not isinstance(value.unnest(), exp.Literal):
            self.bind(value)
            wrap_in_call(value, check)


XML_CONVERT_STYLES: Final = {
    **dict.fromkeys(("datetime", "smalldatetime", "datetime2", "date", "datetimeoffset"), 126),
    **dict.fromkeys(("float", "money", "smallmoney"), 2),
}
"""Type -> style of CONVERT that FOR XML uses."""


# --- helpers for columns ------------------------------------------------------------------------------------


def _check_recursion(anchor: Columns | None, recursive_columns: Columns | None, name: str) -> None:
    """Raise 240 if a column has different types in the anchor and in the recursive part of a CTE."""
    for (column, first_sql_type, _), (_, second, _) in zip(
        anchor or (), recursive_columns or (), strict=False
    ):
        if first_sql_type is None or second is None or NULL in (first_sql_type, second):
            continue
        types = (first_sql_type, second)
        digits = [get_precision_and_scale(kind) if kind.name in DECIMALS else () for kind in types]
        if (first_sql_type.name, first_sql_type.length, digits[0]) != (second.name, second.length, digits[1]):
            raise SqlError(240, column, name)


def _check_unpivoted(pivot: exp.Expr, source: QuerySource) -> None:
    """Raise 8167 if a column in the UNPIVOT list has another type than the first one."""
    fields = pivot.args.get("fields") or []
    names = [str(column.name) for column in fields[0].expressions] if len(fields) == 1 else []
    kinds = [kind for name in names for kind in source.find_types(name)[:1]]
    for name, kind in zip(names, kinds, strict=False):
        if len(kinds) == len(names) and None not in (kind, kinds[0]) and str(kind) != str(kinds[0]):
            raise SqlError(8167, name)


def reject_inner_order(node: exp.Expr) -> None:
    """Raise 1033 for an inner query with ORDER BY but without TOP, OFFSET or FOR XML."""
    if not isinstance(node, exp.Select | exp.SetOperation) or node.args.get("order") is None:
        return
    if node.args.get("limit") is None and node.args.get("offset") is None and node.args.get("for_") is None:
        raise SqlError(1033)
