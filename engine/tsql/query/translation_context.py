"""Results of a query's rewriting (tables, columns, variables), and translation of planning errors."""

from collections.abc import Callable
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace
from sqlglot import exp
from sqlglot.errors import UnsupportedError

from engine.internal_errors import describe_internal_error
from engine.messages import SqlError
from engine.tsql.query import for_json_and_xml
from engine.tsql.query.conversions import is_bare_function
from engine.tsql.query.plans import (
    LITERAL_PREFIX,
    ZERO_QUERY_COST,
    Operand,
    QueryCost,
    QueryPlan,
    TableAccess,
    TableRef,
    UnsimulatedFeatureError,
)
from engine.tsql.scalars.types import SqlType


class RewrittenQuery(Struct):
    """Tables, variables, functions and result columns that rewriting has found in a query."""

    tables: dict[str, TableRef] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    functions: dict[str, str] = field(default_factory=dict)
    calls: set[tuple[str, int]] = field(default_factory=set)
    """Called functions as (function, number of arguments)."""
    ctes: set[str] = field(default_factory=set)
    cost: QueryCost = ZERO_QUERY_COST
    kinds: tuple[SqlType | None, ...] = ()
    """Types of the result columns; empty if unknown."""
    outputs: tuple[str, ...] = ()
    nullable: tuple[bool, ...] = ()
    """For each result column, whether it may be NULL."""

    def get_parameter(self, name: str) -> exp.Expr:
        """Return the SQLite parameter node for a variable or literal, and register the name."""
        return exp.Placeholder(this=self.variables.setdefault(name.lower(), f"p{len(self.variables)}"))


def _get_part(identifier: exp.Expr | None) -> str:
    if not isinstance(identifier, exp.Expr):
        return ""  # no identifier, or the empty schema in `master..sysdatabases`
    if isinstance(identifier, exp.Parameter):
        return get_variable_name(identifier)
    prefix = "#" if identifier.args.get("temporary") else "##" if identifier.args.get("global_") else ""
    return prefix + str(identifier.name)


def build_table_ref(table: exp.Table | None) -> TableRef:
    """Return the reference for a table node. Raises 102 for INTO without a table."""
    if table is None:
        raise SqlError(102, "INTO")
    this = table.this
    database, schema = _get_part(table.args.get("catalog")), _get_part(table.args.get("db"))
    names = [database, schema] if database else [schema] if schema else []
    if isinstance(this, exp.Anonymous) and str(this.this).lower().removeprefix("t_") == "openquery":
        # OPENQUERY(server, 'query')
        if len(this.expressions) != 2 or not this.expressions[1].is_string:
            raise UnsimulatedFeatureError("OPENQUERY whose query is not a string literal")
        return TableRef((str(this.expressions[0].name),), query=str(this.expressions[1].name))
    if isinstance(this, exp.Anonymous):
        return TableRef((*names, str(this.this).removeprefix("t_")), call=True)
    if isinstance(this, exp.Dot):
        return TableRef((*names, *(part.name for part in this.flatten())))
    return TableRef((*names, _get_part(this)), hints=_read_hints(table))


def _read_hints(table: exp.Table) -> frozenset[str]:
    """Return the table hints of a table, in capitals."""
    hint_words = [word for hint in table.args.get("hints") or () for word in hint.expressions]
    return frozenset(str(word.name).upper() for word in hint_words)


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
    """Return the literal or variable in an expression; None for another expression."""
    node = _remove_collation(node)
    if isinstance(node, exp.Placeholder):
        names = {value: name for name, value in query.variables.items()}
        name = names.get(str(node.name), "")
        return ("variable" if name.startswith("@") else "number", name.removeprefix(LITERAL_PREFIX), ())
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


def _read_condition(
    part: exp.Expr, table: exp.Table, query: RewrittenQuery
) -> list[tuple[str, str, tuple[Operand, ...]]]:
    """Return the comparisons of a column of *table* in a condition; empty for another condition."""
    tests: list[tuple[exp.Expr | None, str, list[exp.Expr | None]]] = [
        (part.this, _COMPARISONS.get(type(part), ""), [part.args.get("expression")])
    ]
    if isinstance(part, exp.Between):
        tests = [(part.this, ">=", [part.args["low"]]), (part.this, "<=", [part.args["high"]])]
    elif isinstance(part, exp.In):
        tests = [(part.this, "IN", list(part.expressions))]
    found: list[tuple[str, str, tuple[Operand, ...]]] = []
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


def _read_access(table: exp.Table, query: RewrittenQuery) -> TableAccess | None:
    """Return the rows that a query on *table* alone reads; None for another query."""
    select = table.parent_select
    if select is None or not isinstance(table.parent, exp.From):
        return None
    if table.args.get("joins") or select.args.get("joins"):
        return None
    where = select.args.get("where")
    condition = where.this if isinstance(where, exp.Where) else None
    parts = list(condition.flatten()) if isinstance(condition, exp.And) else [condition] if condition else []
    groups = [_read_condition(part, table, query) for part in parts]
    order: list[tuple[str, bool]] = []
    items = select.args["order"].expressions if select.args.get("order") else []
    for item in items:
        column = _remove_collation(item.this)
        if isinstance(column, exp.Column):
            order.append((column.name.lower(), bool(item.args.get("desc"))))
    top = _read_top(select, query) if len(order) == len(items) else None
    conditions = tuple(test for group in groups for test in group)
    return TableAccess(conditions, all(groups), top, tuple(order))


def rewrite_table(table: exp.Expr, query: RewrittenQuery) -> exp.Expr:
    """Replace a table by its name in SQLite, and register its reference."""
    assert isinstance(table, exp.Table)
    if table.args.get("pivots"):
        raise UnsimulatedFeatureError("PIVOT")
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
    new_table.meta[for_json_and_xml.ELEMENT_NAME_KEY] = table.alias or ".".join(ref.parts)
    return new_table


def rewrite_column(column: exp.Expr, query: RewrittenQuery) -> exp.Expr:
    """Replace a column by its name in SQLite."""
    assert isinstance(column, exp.Column)
    if is_bare_function(column):
        return exp.Anonymous(this=f"t_{column.name.lower()}")
    column.set("db", None)
    column.set("catalog", None)
    if isinstance(column.args.get("table"), exp.Identifier):
        table = column.args["table"]
        column.set("table", exp.to_identifier(_get_part(table), quoted=True))
    return column


def get_variable_name(parameter: exp.Parameter) -> str:
    """Return the lowercase name of a variable node, with @ or @@."""
    inner = parameter.this
    if isinstance(inner, exp.Parameter):
        return f"@@{inner.name.lower()}"
    return f"@{inner.name.lower()}"


def rewrite_parameter(node: exp.Expr, query: RewrittenQuery) -> exp.Expr:
    """Replace a variable by an SQLite parameter."""
    if isinstance(node.parent, exp.Parameter | exp.Table):
        return node
    assert isinstance(node, exp.Parameter)
    return query.get_parameter(get_variable_name(node))


_UNFORESEEN_ERRORS: Final = (AttributeError, LookupError, TypeError, ValueError)
PLANNING_ERRORS: Final = (
    SqlError,
    UnsimulatedFeatureError,
    UnsupportedError,
    RecursionError,
    *_UNFORESEEN_ERRORS,
)
"""Errors that planning can raise. Those in _UNFORESEEN_ERRORS come from forms without a rule and end only their
batch.
"""


def translate_errors(plan: Callable[[], QueryPlan]) -> QueryPlan:
    """Return the result of *plan*.

    Convert its errors to UnsimulatedFeatureError, or 8623 for too deep nesting.
    """
    try:
        return plan()
    except UnsupportedError as problem:
        raise UnsimulatedFeatureError(str(problem).split("\n")[0]) from None
    except RecursionError:
        raise SqlError(8623) from None
    except _UNFORESEEN_ERRORS as problem:
        raise UnsimulatedFeatureError(
            f"this form of the statement; {describe_internal_error(problem)}"
        ) from None
