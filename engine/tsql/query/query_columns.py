"""Columns of a query: resolution of their names, and nullability of the result columns.

Literals, global variables and columns declared NOT NULL are not nullable. ISNULL is not nullable if one of
its arguments is not. COALESCE, CASE and IIF are not nullable if none of their results is. Other expressions
are nullable [DOC: COALESCE; sp_describe_first_result_set]. Rules that these pages do not state are from
Microsoft's developers.
"""

from collections.abc import Callable, Sequence
from typing import Final

from sqlglot import exp

from engine.messages import SqlError
from engine.tsql.query.conversions import is_bare_function
from engine.tsql.query.plans import (
    HIDDEN_ARGUMENT_COLUMN,
    UNKNOWN_BINDING,
    UNNAMED,
    Column,
    ColumnBinding,
    Columns,
    QuerySource,
    SelectScope,
)


def rename_columns(columns: Columns | None, named: list[str]) -> Columns | None:
    """Return the columns, renamed by the column list *named*. Without a list, return them unchanged."""
    if columns is None:
        return tuple(Column(name, None) for name in named) if named else None
    if not named:
        return columns
    return tuple(column._replace(name=name) for name, column in zip(named, columns, strict=False))


def get_column_name(projection: exp.Expr) -> str:
    """Return the name of a result column; "" for a column without a name."""
    if isinstance(projection, exp.Alias):
        return "" if projection.alias == UNNAMED else str(projection.alias)
    has_name = isinstance(projection, exp.Column) and not is_bare_function(projection)
    return str(projection.name) if has_name else ""


def make_nullable(sources: Sequence[QuerySource]) -> None:
    """Mark all columns of *sources* as nullable, because an outer join may find no row for them."""
    for source in sources:
        if source.columns is not None:
            source.columns = tuple(column._replace(nullable=True) for column in source.columns)


def apply_outer_join(join: exp.Expr, sources: Sequence[QuerySource], first_joined: int) -> None:
    """Mark the columns that the outer join may fill with NULL as nullable.

    *first_joined*: index of the first source on the right side of the join.
    """
    side = str(join.args.get("side") or "").upper()
    if side in ("LEFT", "FULL") or (
        isinstance(join.this, exp.Lateral) and join.this.args.get("cross_apply") is False
    ):
        make_nullable(sources[first_joined:])
    if side in ("RIGHT", "FULL"):
        make_nullable(sources[:first_joined])


def is_nullable(node: exp.Expr, space: SelectScope | None, get_name: Callable[[object], str]) -> bool:
    """Return whether the text of an expression makes it nullable. As in SQL Server, data do not count.

    *get_name*: function that returns the text of an identifier node.
    """
    if isinstance(node, exp.Literal | exp.National | exp.HexString):
        return False
    if isinstance(node, exp.Paren):
        return is_nullable(node.this, space, get_name)
    if isinstance(node, exp.Neg):
        return not isinstance(node.this, exp.Literal)
    if isinstance(node, exp.Parameter):
        inner = node.this
        return not isinstance(inner, exp.Parameter) or inner.name.lower() in _NULLABLE_GLOBALS  # @@name
    if isinstance(node, exp.Column):
        return _is_column_nullable(node, space, get_name)
    if isinstance(node, exp.Coalesce):
        values = [node.this, *node.expressions]
    elif isinstance(node, exp.Case):
        values = [branch.args["true"] for branch in node.args.get("ifs") or ()]
        values.append(node.args.get("default") or exp.Null())
    elif (
        isinstance(node, exp.Anonymous) and str(node.this).lower() == "isnull" and len(node.expressions) == 2
    ):
        return all(is_nullable(value, space, get_name) for value in node.expressions)
    elif isinstance(node, exp.Anonymous) and str(node.this).lower() == "iif":
        values = node.expressions[1:]
    else:
        return True
    return any(is_nullable(value, space, get_name) for value in values)


_NULLABLE_GLOBALS: Final = frozenset({"identity", "servername", "remserver"})
"""Global variables that can be NULL [DOC: @@IDENTITY; @@SERVERNAME; @@REMSERVER]."""


def _is_column_nullable(
    node: exp.Column, space: SelectScope | None, get_name: Callable[[object], str]
) -> bool:
    if not isinstance(node.this, exp.Identifier) or is_bare_function(node):
        return True
    parts = [get_name(node.args.get(key)) for key in ("catalog", "db", "table")]
    try:
        source = resolve_column(space, [part for part in parts if part], node.name).source
    except SqlError:
        return True
    name = node.name.lower()
    columns = source.columns or () if source is not None else ()
    return next((column.nullable for column in columns if column.name.lower() == name), True)


# --- resolution of names ------------------------------------------------------------------------------------


def resolve_column(space: SelectScope | None, qualifiers: Sequence[str], name: str) -> ColumnBinding:
    """Resolve the column *name* with its *qualifiers*. Raises 207, 209 or 4104."""
    if name.lower() in ("$action", "$rowguid", "$identity"):
        return UNKNOWN_BINDING
    if name.lower() == HIDDEN_ARGUMENT_COLUMN:
        raise SqlError(207, name)
    while space is not None:
        binding = (
            _find_qualified_column(space, qualifiers, name)
            if qualifiers
            else _find_unqualified_column(space, name)
        )
        if binding is not None:
            return binding
        space = space.outer
    if qualifiers:
        raise SqlError(4104, ".".join((*qualifiers, name)))
    raise SqlError(207, name)


def _find_qualified_column(space: SelectScope, qualifiers: Sequence[str], name: str) -> ColumnBinding | None:
    qualifier_names = [part.lower() for part in qualifiers]
    for source in space.sources:
        parts = [part.lower() for part in source.parts]
        is_same = (
            source.name.lower() == qualifier_names[0]
            if len(qualifier_names) == 1
            else not source.aliased and _is_suffix(parts, qualifier_names)
        )
        if not is_same:
            continue
        if source.columns is None:
            return ColumnBinding(None, source, space)
        kinds = source.find_types(name)
        if not kinds:
            raise SqlError(207, name)
        return ColumnBinding(kinds[0], source, space)
    return None


def _is_suffix(parts: list[str], name_parts: list[str]) -> bool:
    """Return whether one of two qualified names ends with the other.

    For example, sys.databases matches master.sys.databases, and `..` omits a part.
    """
    return (
        parts[-len(name_parts) :] == name_parts
        or name_parts[-len(parts) :] == parts
        or name_parts[-1] == parts[-1] == ""
    )


def _find_unqualified_column(space: SelectScope, name: str) -> ColumnBinding | None:
    bindings = [
        ColumnBinding(kind, source, space)
        for source in space.sources
        if source.columns is not None
        for kind in source.find_types(name)
    ]
    if len(bindings) > 1:
        raise SqlError(209, name)
    if bindings:
        return bindings[0]
    if any(source.columns is None for source in space.sources):
        return UNKNOWN_BINDING
    return None
