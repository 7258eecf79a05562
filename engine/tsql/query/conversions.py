"""Helpers for the type rules in type_inference.py: binder interface, conversions, and rules of aggregates."""

from collections.abc import Callable, Sequence
from typing import Final, Protocol

from sqlglot import exp

from engine.messages import SqlError
from engine.tsql.query.forms import SORT_KEYS_KEY
from engine.tsql.query.plans import BindingContext, Columns, SelectScope, UnsimulatedFeatureError
from engine.tsql.scalars import return_types
from engine.tsql.scalars.types import (
    BIGINT,
    FLOAT,
    INT,
    NULL,
    OLD_LARGE_TYPES,
    UNLIMITED_LENGTH,
    SqlType,
    check_conversion,
    infer_common_type,
    make_nvarchar,
    make_varchar,
)

Kind = SqlType | None


class Binder(Protocol):
    """Interface of the binder (binding.py) that type rules use."""

    names: BindingContext
    space: SelectScope | None
    variables: dict[str, Kind]
    problems: list[SqlError]

    @staticmethod
    def get_name(identifier: object) -> str:
        """Return the name of an identifier."""

    def bind(self, node: exp.Expr) -> Kind:
        """Bind an expression and return its type."""

    def bind_parts(self, node: exp.Expr) -> Kind:
        """Bind the children of a node whose own type is unknown."""

    def convert(self, node: exp.Expr, kind: Kind, source: Kind = None) -> None:
        """Convert the result of a node from the type *source* to the type *kind*."""

    def bind_subquery(self, node: object) -> Columns | None:
        """Bind a subquery and return its columns."""

    def limit_to_one_row(self, node: exp.Expr) -> None:
        """Make a scalar subquery raise 512 for a second row."""

    def convert_column(self, query: exp.Expr, source: SqlType, target: Kind) -> None:
        """Convert the only column of a query from the type *source* to the type *target*."""


TypeRule = Callable[[Binder, exp.Expr], Kind]


INSERTED_CALL_KEY: Final = "made"
"""Metadata key of function calls that the compiler adds; they do not appear in the query's own text."""


def check_collations(operation: str, *values: exp.Expr) -> None:
    """Raise 468 if two *values* have different explicit collations [DOC: collation precedence].

    *operation*: name of the operation in the error message.
    """
    collation_names = [name for name in map(_find_explicit_collation, values) if name]
    for other_name in collation_names[1:]:
        if other_name.lower() != collation_names[0].lower():
            raise SqlError(468, collation_names[0], other_name, operation)


def _find_explicit_collation(node: exp.Expr) -> str:
    """Return the collation that COLLATE gives to the expression or to a part of it; "" without COLLATE."""
    while True:
        if isinstance(node, exp.Collate):
            name = str(node.expression.name)
            return "" if name.upper() in DEFAULT_COLLATIONS else name
        if isinstance(node, exp.Add) and (collation := _find_explicit_collation(node.expression)):
            return collation
        if not isinstance(node, exp.Add | exp.Paren | exp.Alias):
            return ""
        node = node.this


DEFAULT_COLLATIONS: Final = frozenset({"DATABASE_DEFAULT", "CATALOG_DEFAULT"})


def wrap_in_call(node: exp.Expr, name: str, *before: exp.Expr, suffix: Sequence[exp.Expr] = ()) -> exp.Expr:
    """Replace *node* by the call *name*(*before*, *node*, *suffix*), and return the call."""
    call = exp.Anonymous(this=name, expressions=[])
    call.meta[INSERTED_CALL_KEY] = True
    node.replace(call)
    call.set("expressions", [*before, node, *suffix])
    return call


def make_literal(value: object) -> exp.Expr:
    """Return a string literal."""
    return exp.Literal.string(str(value))


def convert_to_type(node: exp.Expr, source: Kind, target: Kind) -> None:
    """Convert *node* to *target*, unless stored values of both types are directly comparable. Raises 206."""
    if source is None or target is None or source in (NULL, target):
        return
    if (
        (source.family == target.family and target.name != "real")
        or target.name in ("sql_variant", "null")
        or source.name == "sql_variant"
    ):
        return
    check_conversion(source, target, explicit=False)
    wrap_in_call(node, "convert", make_literal(target), suffix=(exp.Null(), make_literal(source)))


def convert_to_float(node: exp.Expr, kind: Kind) -> None:
    """Convert a long decimal to float, because its stored form cannot be compared with other numbers."""
    if kind is not None and kind.is_long:
        wrap_in_call(
            find_replacement(node), "convert", make_literal("float"), suffix=(exp.Null(), make_literal(kind))
        )


def convert_to_common_type(binder: Binder, nodes: Sequence[exp.Expr]) -> Kind:
    """Convert several values to their common type. Return this type."""
    kinds = [binder.bind(node) for node in nodes]
    common_kind: Kind = NULL
    for kind in kinds:
        common_kind = infer_common_type(common_kind, kind)
    for node, kind in zip(nodes, kinds, strict=True):
        convert_to_type(find_replacement(node), kind, common_kind)
    return common_kind


def find_replacement(node: exp.Expr) -> exp.Expr:
    """Return the outermost inserted call around *node*, or *node* itself if no call was inserted."""
    while isinstance(node.parent, exp.Anonymous) and node.parent.meta.get(INSERTED_CALL_KEY):
        node = node.parent
    return node


def check_comparable(kind: Kind) -> None:
    """Raise 305 for xml and 306 for text, ntext and image, which cannot be sorted or grouped."""
    if kind is not None and kind.name == "xml":
        raise SqlError(305)
    if kind is not None and kind.name in OLD_LARGE_TYPES:
        raise SqlError(306)


def check_distinct_columns(columns: Columns, number: int) -> None:
    """Raise error *number* if a column has a type whose values cannot be compared."""
    for column in columns:
        if column.kind is not None and column.kind.name in return_types.UNORDERED_TYPES:
            raise SqlError(number, column.kind.name)


def check_equality(kind: Kind, others: Sequence[Kind]) -> None:
    """Raise 402 for the comparison of text, ntext or image with another value."""
    for other in others if kind is not None and kind.name in OLD_LARGE_TYPES else ():
        if kind is not None and other is not None and other != NULL:
            raise SqlError(402, kind.name, other.name, "equal to")


def convert_to_text(binder: Binder, node: exp.Expr, kind: Kind) -> None:
    """Convert a value that is neither text nor an integer to text, by the rules of its type."""
    if (
        kind is not None
        and kind != NULL
        and not kind.is_text
        and not kind.is_integer
        and kind.name != "sql_variant"
    ):
        wrap_in_call(node, "text", suffix=(make_literal(kind),))


# --- types of aggregates and of functions with OVER, and checks of OVER -----------------------------------


def _infer_count(binder: Binder, node: exp.Expr) -> Kind:
    inner = node.this
    if isinstance(inner, exp.Distinct):
        kinds = [binder.bind(value) for value in inner.expressions]
    else:
        is_plain = isinstance(inner, exp.Expr) and not isinstance(inner, exp.Star)
        kinds = [binder.bind(inner)] if is_plain else []
    for kind in kinds:
        if kind is not None and kind.name in OLD_LARGE_TYPES:
            raise SqlError(8117, kind.name, "count")
    if NULL in kinds:
        raise SqlError(8117, "NULL", "count")
    return BIGINT if node.args.get("big_int") else INT


def _bind_argument(binder: Binder, node: exp.Expr) -> Kind:
    inner = node.this if not isinstance(node, exp.Anonymous) else (node.expressions or [None])[0]
    if isinstance(inner, exp.Distinct):
        if not inner.expressions:
            raise SqlError(102, ")")
        inner = inner.expressions[0]
    return binder.bind(inner) if isinstance(inner, exp.Expr) else None


def _infer_min_or_max(binder: Binder, node: exp.Expr) -> Kind:
    kind = _bind_argument(binder, node)
    if kind is not None and kind.name in ("bit", "text", "ntext", "image", "xml"):
        raise SqlError(8117, kind.name, node.key)
    return kind


def _infer_sum(binder: Binder, node: exp.Expr) -> Kind:
    kind = return_types.infer_sum_type(_bind_argument(binder, node))
    binder.convert(node, kind)
    return kind


_FUNCTIONS_WITH_ORDER: Final = frozenset(
    {
        "row_number", "rank", "dense_rank", "ntile", "lag", "lead", "first_value", "last_value", "percent_rank",
        "cume_dist",
    }
)  # fmt: skip
"""Functions that require ORDER BY in OVER. Documented [DOC: OVER]."""


_WINDOW_FUNCTIONS: Final = _FUNCTIONS_WITH_ORDER | {
    "sum", "avg", "min", "max", "count", "count_big", "stdev", "stdevp", "var", "varp", "checksum_agg",
}  # fmt: skip
"""Functions that accept OVER [DOC: OVER]."""

_FUNCTIONS_WITH_FRAME: Final = frozenset({"first_value", "last_value"})
"""Functions in _FUNCTIONS_WITH_ORDER that accept ROWS or RANGE."""


def _check_window(node: exp.Expr) -> None:
    """Raise an error for an invalid use of OVER.

    The main errors are 4112 for a missing ORDER BY and 5308 for a number in ORDER BY. Error 4113 is for a
    function that does not accept OVER.
    """
    function, order = node.this, node.args.get("order")
    if isinstance(function, exp.WithinGroup):
        raise UnsimulatedFeatureError(f"the function {str(function.this.this).lower()}")
    if not isinstance(function, exp.Func) or isinstance(
        function, exp.Cast | exp.Convert | exp.Case | exp.Coalesce
    ):
        raise UnsimulatedFeatureError("OVER after this expression")
    anonymous = isinstance(function, exp.Anonymous)
    name = str(function.this) if anonymous else function.sql_name()
    if order is None and name.lower() in _FUNCTIONS_WITH_ORDER:
        raise SqlError(4112, name.upper())
    if name.lower() not in _WINDOW_FUNCTIONS:
        raise SqlError(4113, name.upper())
    framed = node.args.get("spec") is not None
    if framed and name.lower() in _FUNCTIONS_WITH_ORDER - _FUNCTIONS_WITH_FRAME:
        raise SqlError(10752, name.lower())
    if framed and order is None:
        raise SqlError(10756)
    given_arguments = list(function.args.values())[:2] if not anonymous else function.expressions[:2]
    if name.lower() == "ntile" and given_arguments and _get_literal_sign(given_arguments[0]) in (-1, 0):
        raise SqlError(4116)
    if name.lower() in ("lag", "lead") and _get_literal_sign(function.args.get("offset")) == -1:
        raise SqlError(8730)
    if order is not None and any(isinstance(term.this, exp.Literal) for term in order.expressions):
        raise SqlError(5309 if any(term.this.is_string for term in order.expressions) else 5308)
    if isinstance(function.this, exp.Distinct):
        raise SqlError(10759)


def _get_literal_sign(node: object) -> int | None:
    """Return the sign of a literal number, -1, 0 or 1; None for other nodes."""
    node = node.unnest() if isinstance(node, exp.Expr) else node
    if isinstance(node, exp.Neg):
        return -1
    if isinstance(node, exp.Literal) and not node.is_string:
        return int(float(node.name) > 0)
    return None


def _infer_window(binder: Binder, node: exp.Expr) -> Kind:
    _check_window(node)
    for key in ("partition_by", "order"):
        parts = node.args.get(key)
        for part in (
            [parts] if isinstance(parts, exp.Expr) else parts or []
        ):  # bound here, because ORDER BY in OVER cannot use aliases
            for value in part.expressions if isinstance(part, exp.Order) else [part]:
                check_comparable(binder.bind(value.this if isinstance(value, exp.Ordered) else value))
    return binder.bind(node.this)


def _infer_average(binder: Binder, node: exp.Expr) -> Kind:
    """Return the type of AVG, and mark the call for rewriting.

    It is rewritten as SUM divided by COUNT, so that the average of integers is an integer.
    """
    kind = return_types.infer_average_type(_bind_argument(binder, node))
    if kind is not None:
        node.meta["average"] = str(kind)
    return kind


def _infer_deviation(binder: Binder, node: exp.Expr) -> Kind:
    binder.bind_parts(node)
    return FLOAT


def _infer_string_agg(binder: Binder, node: exp.Expr) -> Kind:
    """Return the type of STRING_AGG: (max) for texts of a (max) type, else 8,000 bytes [DOC: STRING_AGG]."""
    if len(node.expressions) != 2 and SORT_KEYS_KEY not in node.meta:
        raise SqlError(174, "STRING_AGG", 2)
    kind, *_ = [binder.bind(value) for value in list(node.expressions)]
    if kind is not None and kind.family != "text":
        wrap_in_call(
            node.expressions[0],
            "convert",
            make_literal("nvarchar(4000)"),
            suffix=(exp.Null(), make_literal(kind)),
        )
    if kind is None or kind.length == UNLIMITED_LENGTH:
        return make_nvarchar(UNLIMITED_LENGTH)
    return make_varchar(8000) if kind.name in ("varchar", "char") else make_nvarchar(4000)


_CHECKSUM_TYPES: Final = frozenset({"bit", "tinyint", "smallint", "int", "null"})


def _infer_checksum(binder: Binder, node: exp.Expr) -> Kind:
    """Return the type of CHECKSUM. Raises UnsimulatedFeatureError for types whose checksum is unknown.

    NEWID is accepted, because programs use its checksum as a random number.
    """
    for argument in list(node.expressions):
        kind = None if isinstance(argument, exp.Star) else binder.bind(argument)
        text_known = node.name.lower() == "binary_checksum" and kind and kind.name in ("char", "varchar")
        is_random = isinstance(argument, exp.Anonymous) and argument.name.lower() == "newid"
        if kind is None or not (kind.name in _CHECKSUM_TYPES or text_known or is_random):
            raise UnsimulatedFeatureError(f"{node.name.upper()} of {kind or 'this value'}")
    return INT


def _infer_row_function(binder: Binder, node: exp.Expr) -> Kind:
    """Return the type of LAG, FIRST_VALUE and similar functions: that of the first argument.

    Convert the default value, if there is one, to this type.
    """
    kind = binder.bind(node.this)
    for key, part in node.args.items():
        if key != "this" and isinstance(part, exp.Expr):
            sql_type = binder.bind(part)
            if key == "default":
                convert_to_type(part, sql_type, kind)
    return kind


def _infer_row_number(binder: Binder, node: exp.Expr) -> Kind:
    binder.bind_parts(node)
    return BIGINT


def is_generate_series(call: exp.Expr) -> bool:
    """Return whether *call* calls GENERATE_SERIES."""
    return isinstance(call, exp.Anonymous) and str(call.this).lower() == "generate_series"


def infer_generate_series(binder: Binder, node: exp.Expr) -> Kind:
    """Return the common type of GENERATE_SERIES's arguments [DOC: GENERATE_SERIES]. Raises 5373."""
    kinds = [binder.bind(value) for value in list(node.expressions)]
    sql_types = [kind for kind in kinds if kind is not None and kind != NULL]
    names = {"numeric" if kind.name == "decimal" else kind.name for kind in sql_types}
    if len(names) > 1 or names - {"tinyint", "smallint", "int", "bigint", "numeric"}:
        binder.problems += [SqlError(206, kind.name, "void type") for kind in sql_types]
        raise SqlError(5373)
    target: Kind = NULL
    for kind in sql_types:
        target = infer_common_type(target, kind)
    return target


AGGREGATE_RULES_BY_NODE: Final[dict[type[exp.Expr], TypeRule]] = {
    exp.Count: _infer_count,
    exp.Max: _infer_min_or_max,
    exp.Min: _infer_min_or_max,
    exp.Sum: _infer_sum,
    exp.Window: _infer_window,
    **dict.fromkeys((exp.RowNumber, exp.Rank, exp.DenseRank, exp.Ntile), _infer_row_number),
    **dict.fromkeys((exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue), _infer_row_function),
}
TYPE_RULES_BY_FUNCTION: Final[dict[str, TypeRule]] = {
    "avg": _infer_average,
    **dict.fromkeys(("stdev", "stdevp", "var", "varp"), _infer_deviation),
    "string_agg": _infer_string_agg,
    **dict.fromkeys(("checksum", "binary_checksum"), _infer_checksum),
}
"""Name of an aggregate or function that has no node class in sqlglot -> rule for its type."""


def is_bare_function(node: exp.Expr) -> bool:
    """Return whether a column node of sqlglot is really a function without parentheses (CURRENT_TIMESTAMP)."""
    return (
        not node.args.get("table")
        and not node.this.args.get("quoted")
        and node.name.upper() in _CALLS_WITHOUT_PARENTHESES
    )


_CALLS_WITHOUT_PARENTHESES: Final = frozenset(
    {"CURRENT_TIMESTAMP", "CURRENT_USER", "SESSION_USER", "SYSTEM_USER", "USER"}
)


# --- parts of set operations ----------------------------------------------------------------------------------


def check_member_collations(tree: exp.SetOperation, members: Sequence[exp.Expr]) -> None:
    """Raise 468 if a column has different explicit collations in two parts of a set operation."""
    name = type(tree).__name__.upper() + (" ALL" if not tree.args.get("distinct", True) else "")
    lists = [_list_own_projections(member) for member in members]
    for values in zip(*lists, strict=False):
        check_collations(name, *values)


def _list_own_projections(member: exp.Expr) -> list[exp.Expr]:
    """Return the result columns of one SELECT in a UNION; none for a SELECT with a star or another node."""
    while isinstance(member, exp.Subquery):
        member = member.this
    is_plain = isinstance(member, exp.Select) and not any(item.is_star for item in member.expressions)
    return list(member.expressions) if is_plain else []


def remove_alias(projection: exp.Expr) -> exp.Expr:
    """Return the expression of a result column without its alias."""
    value = projection.unalias()
    if isinstance(value, exp.EQ) and isinstance(value.this, exp.Column | exp.Literal | exp.Parameter):
        expression: exp.Expr = value.args["expression"]
        return expression
    return value


def convert_projections(member: exp.Expr, columns: Columns, kinds: Sequence[Kind]) -> None:
    """Convert the columns in one part of a UNION to the types of the result."""
    projections = _list_own_projections(member)
    if len(projections) != len(columns):
        return
    for projection, (_, source, _), target in zip(projections, columns, kinds, strict=True):
        convert_to_type(remove_alias(projection), source, target)
