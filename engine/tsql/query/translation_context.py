"""Results of a query's rewriting (tables, columns, variables), and translation of planning errors."""

from collections.abc import Callable
from typing import Final

from msgspec import Struct, field
from sqlglot import exp
from sqlglot.errors import UnsupportedError

from engine.internal_errors import describe_internal_error
from engine.messages import SqlError
from engine.tsql.query.conversions import is_bare_function
from engine.tsql.query.plans import (
    ZERO_QUERY_COST,
    QueryCost,
    QueryPlan,
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
    origins: tuple[tuple[str, str, str], ...] = ()
    """Result of `table_access.list_column_origins`."""

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
"""Errors that planning can raise.

Those in _UNFORESEEN_ERRORS come from query forms without a rewriting rule. Such an error ends only the batch.
"""


def translate_errors(plan: Callable[[], QueryPlan]) -> QueryPlan:
    """Call *plan* and return its result.

    Convert internal errors to UnsimulatedFeatureError, or to 8623 for nesting that is too deep.
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
