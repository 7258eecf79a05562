"""Findings of a query's rewriting: its tables, columns and variables, and the errors of planning."""

from collections.abc import Callable
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace
from sqlglot import exp
from sqlglot.errors import UnsupportedError

from engine.internal_errors import describe_internal_error
from engine.messages import SqlError
from engine.tsql.query import forjson
from engine.tsql.query.conversions import is_bare_function
from engine.tsql.query.plans import (
    NO_QUERY,
    QueryCost,
    QueryPlan,
    TableRef,
    UnsimulatedFeatureError,
)
from engine.tsql.scalars.types import SqlType


class RewrittenQuery(Struct):
    """Tables, columns and variables that were found in a query during rewriting."""

    tables: dict[str, TableRef] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    functions: dict[str, str] = field(default_factory=dict)
    calls: set[tuple[str, int]] = field(default_factory=set)
    """(function, number of arguments)."""
    ctes: set[str] = field(default_factory=set)
    cost: QueryCost = NO_QUERY
    kinds: tuple[SqlType | None, ...] = ()
    """Types of the columns; empty if unknown."""
    outputs: tuple[str, ...] = ()

    def get_parameter(self, name: str) -> exp.Expr:
        """Return the node of a parameter by its name."""
        return exp.Placeholder(this=self.variables.setdefault(name.lower(), f"p{len(self.variables)}"))


def _get_part(identifier: exp.Expr | None) -> str:
    if not isinstance(identifier, exp.Expr):
        return ""  # nothing, or the empty schema of `master..sysdatabases`
    if isinstance(identifier, exp.Parameter):
        return get_variable_name(identifier)
    prefix = "#" if identifier.args.get("temporary") else "##" if identifier.args.get("global_") else ""
    return prefix + str(identifier.name)


def build_table_ref(table: exp.Table | None) -> TableRef:
    """Return the reference of a table node. Raises 102 for INTO without a table."""
    if table is None:
        raise SqlError(102, "INTO")
    this = table.this
    database, schema = _get_part(table.args.get("catalog")), _get_part(table.args.get("db"))
    names = [database, schema] if database else [schema] if schema else []
    if isinstance(this, exp.Anonymous) and str(this.this).lower().removeprefix("t_") == "openquery":
        # the reference of OPENQUERY(server, 'query')
        if len(this.expressions) != 2 or not this.expressions[1].is_string:
            raise UnsimulatedFeatureError("OPENQUERY whose query is not a string literal")
        return TableRef((str(this.expressions[0].name),), query=str(this.expressions[1].name))
    if isinstance(this, exp.Anonymous):
        return TableRef((*names, str(this.this).removeprefix("t_")), call=True)
    if isinstance(this, exp.Dot):
        return TableRef((*names, *(part.name for part in this.flatten())))
    return TableRef((*names, _get_part(this)), hints=_read_hints(table))


def _read_hints(table: exp.Table) -> frozenset[str]:
    """Return the table hints in WITH (…) after a table."""
    hint_words = [word for hint in table.args.get("hints") or () for word in hint.expressions]
    return frozenset(str(word.name).upper() for word in hint_words)


_COMPARISONS: Final[dict[type[exp.Expr], str]] = {
    exp.EQ: "=",
    exp.GTE: ">=",
    exp.GT: ">",
    exp.LTE: "<=",
    exp.LT: "<",
}
_MIRRORED: Final = {"=": "=", ">=": "<=", ">": "<", "<=": ">=", "<": ">"}


def _find_bounds(table: exp.Table, query: RewrittenQuery) -> tuple[tuple[str, str, str], ...]:
    """Return the comparisons on the only table of a query: column, operator, and literal or @variable."""
    select = table.parent_select
    if (
        select is None
        or not isinstance(table.parent, exp.From)
        or not isinstance(select.args.get("where"), exp.Where)
    ):
        return ()
    if table.args.get("joins") or select.args.get("joins"):
        return ()
    condition = select.args["where"].this
    names = {value: name for name, value in query.variables.items()}
    bounds: list[tuple[str, str, str]] = []
    for part in condition.flatten() if isinstance(condition, exp.And) else [condition]:
        pairs = [(part.this, _COMPARISONS.get(type(part), ""), part.args.get("expression"))]
        if isinstance(part, exp.Between):
            pairs = [(part.this, ">=", part.args["low"]), (part.this, "<=", part.args["high"])]
        for left, operator, right in pairs:
            sides = [side.this if isinstance(side, exp.Collate) else side for side in (left, right)]
            if isinstance(sides[1], exp.Column):
                sides, operator = sides[::-1], _MIRRORED.get(operator, "")
            column, value = sides
            if not operator or not isinstance(column, exp.Column):
                continue
            if isinstance(value, exp.Literal | exp.Placeholder) and column.table in ("", table.alias_or_name):
                is_parameter = isinstance(value, exp.Placeholder)
                bound = names[str(value.name)] if is_parameter else str(value.name)
                bounds.append((column.name.lower(), operator, bound))
    return tuple(bounds)


def rewrite_table(table: exp.Expr, query: RewrittenQuery) -> exp.Expr:
    """Replace a table by its name in SQLite."""
    assert isinstance(table, exp.Table)
    if table.args.get("pivots"):
        raise UnsimulatedFeatureError("PIVOT")
    ref = build_table_ref(table)
    if len(ref.parts) == 1 and not ref.call and ref.key in query.ctes:
        table.set("hints", None)
        return table
    bounds = _find_bounds(table, query)
    seek = tuple((column, value) for column, operator, value in bounds if operator == "=")
    ref = replace(ref, seek=seek, bounds=bounds)
    known_table = query.tables.setdefault(ref.key, ref)
    if known_table.bounds != ref.bounds:  # read twice, in different conditions
        query.tables[ref.key] = replace(known_table, seek=(), bounds=())
    alias = table.args.get("alias") or exp.TableAlias(this=exp.to_identifier(ref.parts[-1], quoted=True))
    joins = table.args.get("joins")
    new_table = exp.Table(this=exp.to_identifier(ref.key, quoted=True), alias=alias, joins=joins)
    new_table.meta[forjson.ELEMENT_NAME] = table.alias or ".".join(ref.parts)
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
    """Return the name of a variable node, in lowercase."""
    inner = parameter.this
    if isinstance(inner, exp.Parameter):
        return f"@@{inner.name.lower()}"
    return f"@{inner.name.lower()}"


def rewrite_parameter(node: exp.Expr, query: RewrittenQuery) -> exp.Expr:
    """Replace a variable by a parameter of SQLite."""
    if isinstance(node.parent, exp.Parameter | exp.Table):
        return node
    assert isinstance(node, exp.Parameter)
    return query.get_parameter(get_variable_name(node))


_UNFORESEEN: Final = (AttributeError, LookupError, TypeError, ValueError)
PLANNING_ERRORS: Final = (SqlError, UnsimulatedFeatureError, UnsupportedError, RecursionError, *_UNFORESEEN)
"""Errors with which planning ends. The unforeseen ones come from forms without a rule; they end only their batch."""


def translate_errors(plan: Callable[[], QueryPlan]) -> QueryPlan:
    """Return the result of *plan*. Raises UnsimulatedFeatureError, or 8623 for a query that is nested too deeply."""
    try:
        return plan()
    except UnsupportedError as problem:
        raise UnsimulatedFeatureError(str(problem).split("\n")[0]) from None
    except RecursionError:
        raise SqlError(8623) from None
    except _UNFORESEEN as problem:
        raise UnsimulatedFeatureError(
            f"this form of the statement; {describe_internal_error(problem)}"
        ) from None
