"""From a T-SQL query to a plan: one SELECT for SQLite and what is to be done with its rows."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from engine.messages import SqlError
from engine.tsql.columns import parse_columns
from engine.tsql.dialect import Unreadable, read, write
from engine.tsql.lexer import SyntaxProblem, Token, tokens_of

UNNAMED: Final = "(No column name)"
COLLATION: Final = "tsql"
"""Compares as the default collation does: no case, no trailing blanks."""


class Unsimulated(Exception):
    """A query that the product runs and we do not; the text says which part of it."""


@dataclass(frozen=True, slots=True)
class TableRef:
    """A table as the query names it: up to four parts, or a table variable or temp table."""

    parts: tuple[str, ...]
    call: bool = False
    """It is written with brackets, as a table-valued function."""

    @property
    def dotted(self) -> str:
        return ".".join(self.parts) + ("()" if self.call else "")

    @property
    def key(self) -> str:
        """Name of the table in SQLite."""
        return self.dotted.lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to ask SQLite and what to do with the answer."""

    kind: str
    """select, assign, insert, update, delete or truncate."""
    sql: str = ""
    tables: tuple[TableRef, ...] = ()
    variables: tuple[str, ...] = ()
    """The variables of parameters p0, p1 …; a name that begins with @@ is a global one."""
    assigns: tuple[str, ...] = ()
    """assign: variables that take the columns of the last row."""
    target: TableRef | None = None
    """The table that is written to (also SELECT … INTO)."""
    columns: tuple[str, ...] = ()
    """insert, update: columns that the values are for; empty: all."""
    defaults: bool = False
    """INSERT … DEFAULT VALUES."""
    functions: tuple[tuple[str, str], ...] = ()
    """Functions of other schemas: the name in SQLite, the name as written."""


# --- checks while the batch is compiled -----------------------------------------------------------------


def check_statement(text: str, line: int) -> bool:
    """Raises SyntaxProblem unless *text* reads as a query; False if sqlglot cannot tell."""
    try:
        _parsed(text)
    except Unreadable:
        return False
    except SyntaxProblem:
        _tree(text, line)
    return True


def check_condition(text: str, line: int) -> None:
    """Raises SyntaxProblem unless *text* reads as a condition (4145 if it is a value)."""
    shown = _condition(_tree("SELECT " + text, line))
    while isinstance(shown, exp.Paren | exp.Not):
        shown = shown.this
    if not isinstance(shown, exp.Predicate | exp.Connector | exp.Exists | exp.Escape | exp.In | exp.Between):
        raise SyntaxProblem(line, 4145, tokens_of(text)[-2].text)


def _condition(tree: exp.Expr) -> exp.Expr | None:
    """The condition in `SELECT condition`, in which `name = x` has been read as an alias."""
    if not isinstance(tree, exp.Select) or len(tree.expressions) != 1 or tree.args.get("from_"):
        return None
    shown = tree.expressions[0]
    if isinstance(shown, exp.Alias):
        return exp.EQ(this=exp.Column(this=shown.args["alias"]), expression=shown.this)
    return shown if isinstance(shown, exp.Expr) else None


def check_expression(text: str, line: int) -> None:
    """Raises SyntaxProblem unless *text* reads as one value."""
    tree = _tree("SELECT " + text, line)
    if not isinstance(tree, exp.Select) or len(tree.expressions) != 1 or tree.args.get("from_"):
        raise SyntaxProblem(line, 102, tokens_of(text)[-2].text)


def check_columns(text: str, line: int) -> None:
    """Raises SyntaxProblem unless *text* reads as the columns of a table."""
    try:
        parse_columns(text)
    except SyntaxProblem as problem:
        raise SyntaxProblem(problem.line + line - 1, problem.number, *problem.parameters) from None


def without_cursor_options(text: str) -> str:
    """The SELECT of a cursor without FOR READ ONLY or FOR UPDATE."""
    return re.sub(r"\bFOR\s+(READ\s+ONLY|UPDATE\b[^()]*)\s*$", "", text, flags=re.IGNORECASE)


@lru_cache(maxsize=512)
def _parsed(text: str) -> exp.Expr:
    return read(_readable(text))


def _tree(text: str, line: int) -> exp.Expr:
    """A private copy of the tree; errors count from *line*."""
    try:
        return _parsed(text).copy()
    except Unreadable:
        raise SyntaxProblem(line, 102, tokens_of(text)[-2].text) from None
    except SyntaxProblem as problem:
        raise SyntaxProblem(problem.line + line - 1, problem.number, *problem.parameters) from None


def _readable(text: str) -> str:
    """The text as sqlglot can read it: `@a += b` as `@a = @a + (b)`, `#order` as `[#order]`, `::fn` as `fn`."""
    tokens = tokens_of(text)
    out, copied = "", 0
    for place, token in enumerate(tokens):
        if token.kind == "word" and token.text.startswith("#"):
            out += text[copied : token.start] + f"[{token.text}]"
            copied = token.end
        if token.is_op("::") and place and tokens[place - 1].upper in ("FROM", "JOIN", "APPLY"):
            out += text[copied : token.start]
            copied = token.end
        if not token.is_op(*_COMPOUND) or not place or token.start < copied:
            continue
        left = tokens[place - 1].text
        end = _end_of_value(tokens, place + 1)
        value = _readable(text[token.end : tokens[end - 1].end])
        out += text[copied : token.start] + f"= {left} {token.text[:-1]} ({value})"
        copied = tokens[end - 1].end
    return out + text[copied:]


_COMPOUND: Final = ("+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=")


def _end_of_value(tokens: tuple[Token, ...], place: int) -> int:
    level = 0
    while tokens[place].kind != "end":
        token = tokens[place]
        level += token.is_op("(") - token.is_op(")")
        if level < 0 or (
            level == 0 and (token.is_op(",", ";") or token.upper in ("FROM", "WHERE", "OPTION"))
        ):
            break
        place += 1
    return place


# --- plans ----------------------------------------------------------------------------------------------


@lru_cache(maxsize=512)
def plan_statement(text: str) -> Plan:
    """The plan of a query. Raises SyntaxProblem, SqlError 141, or Unsimulated."""
    tree = _tree(text, 1)
    for kind, build in _PLANS:
        if isinstance(tree, kind):
            return _limited(build, tree)
    raise Unsimulated(type(tree).__name__.upper())


@lru_cache(maxsize=512)
def plan_expression(text: str) -> Plan:
    """The plan that computes one value."""
    return _limited(_plan_select, _tree("SELECT " + text, 1))


@lru_cache(maxsize=512)
def plan_condition(text: str) -> Plan:
    """The plan that computes 1 if the condition holds, else 0."""
    tree = _tree("SELECT " + text, 1)
    case = exp.Case(
        ifs=[exp.If(this=_condition(tree), true=exp.Literal.number(1))], default=exp.Literal.number(0)
    )
    return _limited(_plan_select, exp.Select(expressions=[case]))


def _limited(build: Callable[[exp.Expr], Plan], tree: exp.Expr) -> Plan:
    try:
        return build(tree)
    except UnsupportedError as problem:
        raise Unsimulated(str(problem).split("\n")[0]) from None
    except RecursionError:
        raise SqlError(8623) from None


@dataclass(slots=True)
class _Query:
    """What has been found in a query while it is rewritten."""

    tables: dict[str, TableRef] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    functions: dict[str, str] = field(default_factory=dict)
    ctes: set[str] = field(default_factory=set)

    def parameter(self, name: str) -> exp.Expr:
        return exp.Placeholder(this=self.variables.setdefault(name.lower(), f"p{len(self.variables)}"))


def _plan_select(tree: exp.Expr) -> Plan:
    first = tree
    while isinstance(first, exp.SetOperation | exp.Subquery):
        first = first.this
    if not isinstance(first, exp.Select):
        raise Unsimulated(type(first).__name__.upper())
    assigns = _assignments(first)
    into = first.args.get("into")
    target = _table_ref(into.find(exp.Table)) if into is not None else None
    first.set("into", None)
    _name_columns(first)
    sql, query = _finish(tree)
    kind = "assign" if assigns else "select"
    return _plan(kind, sql, query, assigns=assigns, target=target)


def _plan(
    kind: str,
    sql: str,
    query: _Query,
    *,
    assigns: tuple[str, ...] = (),
    target: TableRef | None = None,
    columns: tuple[str, ...] = (),
) -> Plan:
    return Plan(
        kind=kind,
        sql=sql,
        tables=tuple(query.tables.values()),
        variables=tuple(query.variables),
        functions=tuple(query.functions.items()),
        assigns=assigns,
        target=target,
        columns=columns,
    )


def _assignments(select: exp.Select) -> tuple[str, ...]:
    names: list[str] = []
    for projection in select.expressions:
        if isinstance(projection, exp.EQ) and isinstance(projection.this, exp.Parameter):
            names.append(_variable_name(projection.this))
    if names and len(names) != len(select.expressions):
        raise SqlError(141)
    if names:
        select.set("expressions", [projection.expression for projection in select.expressions])
    return tuple(names)


def _name_columns(select: exp.Select) -> None:
    named: list[exp.Expr] = []
    for projection in select.expressions:
        if isinstance(projection, exp.Concat) and len(projection.expressions) == 2:
            # two strings side by side: the second one names the column
            projection = exp.alias_(projection.expressions[0], projection.expressions[1].name, quoted=True)
        if isinstance(projection, exp.EQ) and isinstance(projection.this, exp.Literal):
            projection = exp.alias_(projection.expression, projection.this.this, quoted=True)
        if isinstance(projection, exp.Star | exp.Alias) or projection.is_star:
            named.append(projection)
        else:
            name = projection.name if isinstance(projection, exp.Column) else UNNAMED
            named.append(exp.alias_(projection, name, quoted=True))
    select.set("expressions", named)


def _finish(tree: exp.Expr) -> tuple[str, _Query]:
    """Rewrite everything that SQLite would take in another sense; the text for it and what was found."""
    query = _Query()
    query.ctes = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    for node in reversed(list(tree.walk())):
        rewrite = _REWRITE.get(type(node))
        if rewrite is None:
            continue
        new = rewrite(node, query)
        if new is not node:
            if node is tree:
                tree = new
            else:
                node.replace(new)
    return write(tree), query


# --- tables and names -----------------------------------------------------------------------------------


def _part(identifier: exp.Expr | None) -> str:
    if not isinstance(identifier, exp.Expr):
        return ""  # nothing, or the empty schema of `master..sysdatabases`
    if isinstance(identifier, exp.Parameter):
        return _variable_name(identifier)
    prefix = "#" if identifier.args.get("temporary") else "##" if identifier.args.get("global_") else ""
    return prefix + str(identifier.name)


def _table_ref(table: exp.Table | None) -> TableRef:
    assert table is not None
    this = table.this
    names = [part for part in (_part(table.args.get("catalog")), _part(table.args.get("db"))) if part]
    if isinstance(this, exp.Anonymous):
        return TableRef((*names, str(this.this).removeprefix("t_")), call=True)
    if isinstance(this, exp.Dot):
        return TableRef((*names, *(part.name for part in this.flatten())))
    return TableRef((*names, _part(this)))


def _rewrite_table(table: exp.Expr, query: _Query) -> exp.Expr:
    assert isinstance(table, exp.Table)
    if table.args.get("pivots"):
        raise Unsimulated("PIVOT")
    ref = _table_ref(table)
    if len(ref.parts) == 1 and not ref.call and ref.key in query.ctes:
        table.set("hints", None)
        return table
    query.tables.setdefault(ref.key, ref)
    alias = table.args.get("alias") or exp.TableAlias(this=exp.to_identifier(ref.parts[-1], quoted=True))
    joins = table.args.get("joins")
    return exp.Table(this=exp.to_identifier(ref.key, quoted=True), alias=alias, joins=joins)


def _rewrite_column(column: exp.Expr, query: _Query) -> exp.Expr:
    assert isinstance(column, exp.Column)
    if not column.table and not column.this.args.get("quoted") and column.name.upper() in _BARE_FUNCTIONS:
        return exp.Anonymous(this=f"t_{column.name.lower()}")
    column.set("db", None)
    column.set("catalog", None)
    if isinstance(column.args.get("table"), exp.Identifier):
        table = column.args["table"]
        column.set("table", exp.to_identifier(_part(table), quoted=True))
    return column


_BARE_FUNCTIONS: Final = frozenset(
    {"CURRENT_TIMESTAMP", "CURRENT_USER", "SESSION_USER", "SYSTEM_USER", "USER"}
)
"""Functions written without brackets."""


def _variable_name(parameter: exp.Parameter) -> str:
    inner = parameter.this
    if isinstance(inner, exp.Parameter):
        return f"@@{inner.name.lower()}"
    return f"@{inner.name.lower()}"


def _rewrite_parameter(node: exp.Expr, query: _Query) -> exp.Expr:
    if isinstance(node.parent, exp.Parameter | exp.Table):
        return node
    assert isinstance(node, exp.Parameter)
    return query.parameter(_variable_name(node))


# --- expressions ----------------------------------------------------------------------------------------

_DATE_PART_FIRST: Final = frozenset({"dateadd", "datediff", "datepart", "datename", "datediff_big"})
_KNOWN_UDF: Final = frozenset({"agent_datetime", "fn_varbintohexstr", "fn_varbintohexsubstring"})


def _call(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=f"t_{name}", expressions=list(arguments))


def _rewrite_call(node: exp.Expr, query: _Query) -> exp.Expr:
    name = str(node.this).lower()
    arguments = list(node.expressions)
    if name in _DATE_PART_FIRST and arguments and isinstance(arguments[0], exp.Column):
        arguments[0] = exp.Literal.string(arguments[0].name.lower())
    return _call(name, *arguments)


def _rewrite_dot(node: exp.Expr, query: _Query) -> exp.Expr:
    """A method of XML (`.value`), or a function of another schema."""
    call = node.expression
    if not isinstance(call, exp.Anonymous):
        return node
    name = str(call.this).removeprefix("t_")
    if name == "value" and isinstance(node.this, exp.Subquery | exp.Paren):
        return node.this
    if name in _KNOWN_UDF:
        return call
    written = node.sql(dialect="tsql").split("(")[0].replace("t_", "")
    mangled = f"u{len(query.functions)}_{name}"
    query.functions[mangled] = written
    return exp.Anonymous(this=mangled, expressions=list(call.expressions))


def _operator(name: str) -> Callable[[exp.Expr, _Query], exp.Expr]:
    def rewrite(node: exp.Expr, query: _Query) -> exp.Expr:
        return _call(name, node.this, node.expression)

    return rewrite


def _rewrite_convert(node: exp.Expr, query: _Query) -> exp.Expr:
    if isinstance(node, exp.Convert):
        kind, value, style = node.this, node.expression, node.args.get("style")
    else:
        kind, value, style = node.args["to"], node.this, None
    safe = isinstance(node, exp.TryCast) or bool(node.args.get("safe"))
    name = kind.sql(dialect="tsql").lower() if kind is not None else ""
    return _call("try_convert" if safe else "convert", exp.Literal.string(name), value, style or exp.Null())


def _collated(node: exp.Expr | None) -> exp.Expr | None:
    skip = exp.Collate | exp.Tuple | exp.Star
    if node is None or isinstance(node, skip) or (isinstance(node, exp.Literal) and not node.is_string):
        return node
    return exp.Collate(this=node, expression=exp.var(COLLATION))


def _rewrite_comparison(node: exp.Expr, query: _Query) -> exp.Expr:
    node.set("this", _collated(node.this))
    return node


def _rewrite_case(node: exp.Expr, query: _Query) -> exp.Expr:
    if node.this is not None:
        node.set("this", _collated(node.this))
    return node


def _rewrite_collate(node: exp.Expr, query: _Query) -> exp.Expr:
    """A collation of SQL Server: binary and case-sensitive ones compare exactly, the others as by default."""
    name = node.expression.name.lower()
    if name == COLLATION:
        return node
    exact = "_bin" in name or "_cs_" in name
    inner: exp.Expr = node.this
    return exp.Collate(this=inner, expression=exp.var("binary")) if exact else inner


def _rewrite_national(node: exp.Expr, query: _Query) -> exp.Expr:
    return exp.Literal.string(node.name)


def _rewrite_hex(node: exp.Expr, query: _Query) -> exp.Expr:
    digits = node.name
    return exp.HexString(this=digits if len(digits) % 2 == 0 else "0" + digits)


def _rewrite_select(node: exp.Expr, query: _Query) -> exp.Expr:
    """Take out what has no counterpart: hints, options, FOR XML PATH('') as one string."""
    node.set("options", None)
    node.set("hint", None)
    limit = node.args.get("limit")
    options = limit.args.get("limit_options") if limit is not None else None
    if options is not None:
        if options.args.get("percent"):
            raise Unsimulated("TOP … PERCENT")
        if options.args.get("with_ties"):
            raise Unsimulated("TOP … WITH TIES")
    if node.args.get("into") is not None:
        raise Unsimulated("SELECT … INTO inside a query")
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
    if clause.args.get("kind") != "XML":
        if clause.args.get("kind") == "BROWSE":
            return node
        raise Unsimulated(f"FOR {clause.args.get('kind')}")
    option = clause.expressions[0].this
    path = option.name.upper() if isinstance(option, exp.Expr) else ""
    tag = option.args.get("expression") if isinstance(option, exp.Expr) else None
    if (
        path != "PATH"
        or tag is None
        or tag.name
        or len(node.expressions) != 1
        or not isinstance(node, exp.Select)
    ):
        raise Unsimulated("FOR XML other than PATH('')")
    projection = node.expressions[0]
    blank = " " if isinstance(projection, exp.Alias) and projection.alias.lower() == "data()" else ""
    node.set("expressions", [exp.alias_(projection.unalias(), "x", quoted=True)])
    joined = exp.Anonymous(
        this="group_concat",
        expressions=[_call("text", exp.column("x")), exp.Literal.string(blank)],
    )
    return exp.Select(
        expressions=[joined],
        from_=exp.From(
            this=exp.Subquery(this=node.copy(), alias=exp.TableAlias(this=exp.to_identifier("s")))
        ),
    )


def _rewrite_lateral(node: exp.Expr, query: _Query) -> exp.Expr:
    raise Unsimulated("CROSS APPLY and OUTER APPLY")


_REWRITE: Final[dict[type[exp.Expr], Callable[[exp.Expr, _Query], exp.Expr]]] = {
    exp.Table: _rewrite_table,
    exp.Column: _rewrite_column,
    exp.Parameter: _rewrite_parameter,
    exp.Anonymous: _rewrite_call,
    exp.Dot: _rewrite_dot,
    exp.Add: _operator("add"),
    exp.Sub: _operator("sub"),
    exp.Mul: _operator("mul"),
    exp.Div: _operator("div"),
    exp.Mod: _operator("mod"),
    exp.BitwiseXor: _operator("xor"),
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
    exp.Between: _rewrite_comparison,
    exp.Case: _rewrite_case,
    exp.Collate: _rewrite_collate,
    exp.National: _rewrite_national,
    exp.HexString: _rewrite_hex,
    exp.Select: _rewrite_select,
    exp.Union: _rewrite_select,
    exp.Lateral: _rewrite_lateral,
}
"""What becomes of each kind of node, children before parents."""


# --- statements that write ------------------------------------------------------------------------------


def _plan_insert(tree: exp.Expr) -> Plan:
    """The rows to insert as a SELECT."""
    this = tree.this
    columns: tuple[str, ...] = ()
    if isinstance(this, exp.Schema):
        columns = tuple(column.name for column in this.expressions)
        this = this.this
    if not isinstance(this, exp.Table):
        raise Unsimulated("this form of INSERT")
    target = _table_ref(this)
    if tree.args.get("returning") is not None:
        raise Unsimulated("INSERT … OUTPUT")
    source = tree.expression
    if source is None:
        return Plan(kind="insert", target=target, defaults=True)
    if isinstance(source, exp.Values):
        rows = [exp.Select(expressions=list(row.expressions)) for row in source.expressions]
        source = rows[0]
        for row in rows[1:]:
            source = exp.Union(this=source, expression=row, distinct=False)
    with_ = tree.args.get("with_")
    if with_ is not None:
        source.set("with_", with_)
    sql, query = _finish(source)
    return _plan("insert", sql, query, target=target, columns=columns)


def _plan_update(tree: exp.Expr) -> Plan:
    """The row numbers and new values as a SELECT."""
    pairs = [
        pair for pair in tree.expressions if isinstance(pair, exp.EQ) and isinstance(pair.this, exp.Column)
    ]
    if any(pair.expression is None or pair.expression.is_star for pair in pairs):
        raise SqlError(102, "*")
    if len(pairs) != len(tree.expressions) or tree.args.get("returning") is not None:
        raise Unsimulated("UPDATE that sets variables or has OUTPUT")
    values = [pair.expression for pair in pairs]
    columns = tuple(pair.this.name for pair in pairs)
    sql, query, target = _row_numbers(tree, values)
    return _plan("update", sql, query, target=target, columns=columns)


def _plan_delete(tree: exp.Expr) -> Plan:
    """The row numbers as a SELECT."""
    if tree.args.get("returning") is not None:
        raise Unsimulated("DELETE … OUTPUT")
    tables = tree.args.get("tables") or []
    if tables and tables[0].name.lower() == "top":
        raise Unsimulated("DELETE TOP")
    sql, query, target = _row_numbers(tree, [])
    return _plan("delete", sql, query, target=target)


def _row_numbers(tree: exp.Expr, values: list[exp.Expr]) -> tuple[str, _Query, TableRef]:
    """SELECT rowid, *values* of the rows that an UPDATE or DELETE touches."""
    named = (tree.args.get("tables") or [None])[0] or tree.this
    source = tree.args.get("from_")
    table = source.this if source is not None else tree.this or named
    if not isinstance(named, exp.Table) or not isinstance(table, exp.Table):
        raise Unsimulated("this form of UPDATE or DELETE")
    target, alias = _table_ref(named), named.alias_or_name
    for candidate in table.find_all(exp.Table):
        if len(target.parts) == 1 and candidate.alias.lower() == target.parts[0].lower():
            target, alias = _table_ref(candidate), candidate.alias
            break
        if _table_ref(candidate).key == target.key:
            alias = candidate.alias or _table_ref(candidate).parts[-1]
    number = exp.column(exp.to_identifier("rowid"), table=exp.to_identifier(alias, quoted=True))
    select = exp.Select(
        expressions=[number, *values], from_=exp.From(this=table), where=tree.args.get("where")
    )
    if tree.args.get("with_") is not None:
        select.set("with_", tree.args["with_"])
    sql, query = _finish(select)
    return sql, query, target


def _plan_truncate(tree: exp.Expr) -> Plan:
    return Plan(kind="truncate", target=_table_ref(tree.find(exp.Table)))


_PLANS: Final[tuple[tuple[type[exp.Expr], Callable[[exp.Expr], Plan]], ...]] = (
    (exp.Insert, _plan_insert),
    (exp.Update, _plan_update),
    (exp.Delete, _plan_delete),
    (exp.TruncateTable, _plan_truncate),
    (exp.Query, _plan_select),
)
"""How each kind of statement is planned. The last one takes every query."""
