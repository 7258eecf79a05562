"""Deduction of the types of parameters that a query does not declare.

[DOC: sp_describe_undeclared_parameters]
"""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final, TypeGuard

from sqlglot import exp

from engine.messages import SqlError
from engine.tsql.query import translate
from engine.tsql.query.binding import QueryBinder
from engine.tsql.query.plans import BindingContext, ColumnLookup, DeducedParameter, UnsimulatedFeatureError
from engine.tsql.query.translation_context import build_table_ref, get_variable_name
from engine.tsql.query.type_inference import parse_written_type
from engine.tsql.scalars.types import NULL, UNLIMITED_LENGTH, SqlType, make_nvarchar, make_varchar

_EQUALITY_NODES: Final = (exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.NullSafeNEQ)
_RANGE_NODES: Final = (exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Like, exp.Between)
_ARITHMETIC_NODES: Final = (
    exp.Add,
    exp.Sub,
    exp.Mul,
    exp.Div,
    exp.Mod,
    exp.BitwiseAnd,
    exp.BitwiseOr,
    exp.BitwiseXor,
)
_ROW_LIMIT_NODES: Final = (exp.Limit, exp.Offset, exp.Fetch)
_ALTERNATIVE_NODES: Final = (exp.Coalesce, exp.Nullif)
_OPERATION_NODES: Final = (*_EQUALITY_NODES, *_RANGE_NODES, *_ARITHMETIC_NODES, *_ALTERNATIVE_NODES, exp.In)
_CHANGES: Final = (exp.Update, exp.Delete, exp.Merge)
_STATEMENTS: Final = (exp.Select, exp.Insert, *_CHANGES)
_BIGINT: Final = SqlType("bigint")
_POSITION: Final = "position"
_OPERANDS_MAX: Final = 3
"""Maximum number of operands that are examined, because a long IN list would otherwise take quadratic time."""


def deduce_types(
    text: str, undeclared: frozenset[str], columns_of: ColumnLookup, variables: Mapping[str, SqlType]
) -> list[DeducedParameter]:
    """Return the types of the *undeclared* parameters in the order in which the query uses them.

    *columns_of*: function that returns the columns of a table. *variables*: types of declared parameters and
    variables. Raises 207, 213, 11502, 11503 or 11506. Raises UnsimulatedFeatureError if the simulation cannot
    deduce a type from the position of a parameter.
    """
    tree = translate.copy_query_tree(text, 1)
    parameters = [
        node
        for node in tree.find_all(exp.Parameter, bfs=False)
        if not isinstance(node.this, exp.Parameter) and get_variable_name(node) in undeclared
    ]
    if not parameters:
        return []
    tables = tuple(
        (ref.key, columns_of(ref, False)) for ref in translate.find_references("statement", text).tables
    )
    names = BindingContext(tables, tuple(sorted(variables.items())))
    deducer = _ParameterTypeDeducer(tree, parameters, columns_of, names)
    return [deducer.deduce_parameter(node) for node in parameters]


def generalize_type(kind: SqlType) -> SqlType:
    """Return the type with its maximum length or precision.

    Parameters that are not compared for equality get this type.
    """
    match kind.name:
        case "char" | "varchar":
            return make_varchar(UNLIMITED_LENGTH if kind.length == UNLIMITED_LENGTH else 8000)
        case "nchar" | "nvarchar":
            return make_nvarchar(UNLIMITED_LENGTH if kind.length == UNLIMITED_LENGTH else 4000)
        case "binary" | "varbinary":
            return SqlType("varbinary", UNLIMITED_LENGTH if kind.length == UNLIMITED_LENGTH else 8000)
        case "numeric" | "decimal":
            return SqlType("numeric", precision=38, scale=19)
        case "time" | "datetime2" | "datetimeoffset":
            return SqlType(kind.name, scale=7)
    return kind


def _get_position(node: exp.Expr) -> int:
    """Return the position of the node in its tree, which distinguishes nodes with equal text."""
    position: int = node.meta[_POSITION]
    return position


def _find_outermost_node(node: exp.Expr) -> exp.Expr:
    """Return the outermost parenthesis or minus sign around *node*; *node* itself if there is none."""
    while isinstance(node.parent, exp.Paren | exp.Neg):
        node = node.parent
    return node


def _iterate_enclosing_queries(node: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the queries around *node* from the inside out. *node* can use their tables."""
    query = node.find_ancestor(*_STATEMENTS)
    while query is not None:
        yield query
        query = query.find_ancestor(*_STATEMENTS)


class _ParameterTypeDeducer:
    """Deducer of the types of undeclared parameters in one query tree."""

    def __init__(
        self, tree: exp.Expr, parameters: list[exp.Parameter], columns_of: ColumnLookup, names: BindingContext
    ) -> None:
        self.tree, self.columns_of, self.names = tree, columns_of, names
        for position, part in enumerate(tree.walk()):
            part.meta[_POSITION] = position
        self.parameters = {_get_position(node) for node in parameters}
        self.operands: dict[int, list[exp.Expr]] = {}
        """Operands whose types are needed, by the positions of the queries that contain them."""
        self.kinds: dict[int, dict[int, SqlType]] = {}
        """Types of the operands by position, for each query by its position."""
        for node in parameters:
            other_node = self.find_other_operand(node)
            if other_node is not None:
                for query in _iterate_enclosing_queries(node):
                    self.operands.setdefault(_get_position(query), []).append(other_node)

    def deduce_parameter(self, node: exp.Parameter) -> DeducedParameter:
        name, shown_name = get_variable_name(node), f"@{node.name}"
        inner = _find_outermost_node(node)
        parent = inner.parent
        if isinstance(parent, _ROW_LIMIT_NODES):
            return DeducedParameter(name, _BIGINT)
        if isinstance(parent, exp.Cast | exp.TryCast):
            return DeducedParameter(name, parse_written_type(parent.args["to"]))
        if isinstance(parent, exp.Convert):
            return DeducedParameter(name, parse_written_type(parent.this))
        inserted = self.find_inserted_type(inner)
        if inserted is not None:
            return DeducedParameter(name, inserted)
        if isinstance(parent, exp.Select | exp.Alias) or _is_alias(parent):
            raise SqlError(11506, shown_name, "sql_variant", "xml")
        if isinstance(parent, _OPERATION_NODES):
            kind = self.find_operand_type(node, shown_name)
            kind = kind if isinstance(parent, (*_EQUALITY_NODES, exp.In)) else generalize_type(kind)
            assigned = _is_assignment(parent) and parent.this is inner
            return DeducedParameter(name, kind, is_read=not assigned, is_written=assigned)
        if isinstance(parent, exp.Is):
            raise SqlError(11502, shown_name)
        raise UnsimulatedFeatureError(f"the type of the undeclared parameter {shown_name} at this place")

    def find_inserted_type(self, node: exp.Expr) -> SqlType | None:
        """Return the type of the column into which INSERT stores *node*; None at other positions."""
        holder = node.parent
        if not isinstance(self.tree, exp.Insert) or not isinstance(holder, exp.Tuple | exp.Select):
            return None
        rows = holder.parent if isinstance(holder, exp.Tuple) else holder
        if rows is not self.tree.args.get("expression") or node.arg_key != "expressions":
            return None
        position = next(index for index, item in enumerate(holder.expressions) if item is node)
        target = self.tree.this
        has_column_list = isinstance(target, exp.Schema)
        columns = (
            self.columns_of(build_table_ref(target.this if has_column_list else target), not has_column_list)
            or ()
        )
        if has_column_list:
            column_name = target.expressions[position].name.lower()
            return next((column.kind for column in columns if column.name.lower() == column_name), None)
        if position >= len(columns):
            raise SqlError(213)
        return columns[position][1]

    def find_other_operand(self, node: exp.Parameter) -> exp.Expr | None:
        """Return another operand of the operation with *node*; None if *node* is no operand.

        Prefer operands that are not undeclared parameters.
        """
        inner = _find_outermost_node(node)
        if not isinstance(inner.parent, _OPERATION_NODES):
            return None
        other_operands = [
            value for value in islice(inner.parent.iter_expressions(), _OPERANDS_MAX) if value is not inner
        ]
        typed_operands = (
            value for value in other_operands if _get_position(value.unnest()) not in self.parameters
        )
        return next(typed_operands, other_operands[0] if other_operands else None)

    def find_operand_type(self, node: exp.Parameter, shown_name: str) -> SqlType:
        """Return the type of the other operand in an operation with the parameter *node*.

        *shown_name*: name of the parameter in error messages. Raises 11502 or 11503.
        """
        other_node = self.find_other_operand(node)
        if other_node is None:
            raise SqlError(11502, shown_name)
        for query in _iterate_enclosing_queries(node):
            kind = self.find_operand_types(query).get(_get_position(other_node))
            if kind is not None:
                return kind
        untyped = next(
            (item for item in other_node.find_all(exp.Parameter) if _get_position(item) in self.parameters),
            None,
        )
        if untyped is not None:
            raise SqlError(11503, shown_name, f"@{untyped.name}")
        if isinstance(other_node, exp.Null):
            raise SqlError(11502, shown_name)
        raise UnsimulatedFeatureError(f"the type of the undeclared parameter {shown_name} at this place")

    def find_operand_types(self, query: exp.Expr) -> dict[int, SqlType]:
        """Return position -> type for each operand in *query* whose type is known."""
        if _get_position(query) not in self.kinds:
            operands = self.operands[_get_position(query)]
            select = exp.Select(
                expressions=[exp.Alias(this=value.copy(), alias=exp.to_identifier("v")) for value in operands]
            )
            sources = _list_sources(query)
            if sources:
                select.set("from_", exp.From(this=sources[0].copy()))
                select.set("joins", [part.copy() for part in sources[1:]])
            clause = self.tree.args.get("with_")
            select.set("with_", clause.copy() if clause is not None else None)
            try:
                columns = QueryBinder(self.names).bind_query(select) or ()
            except (SqlError, UnsimulatedFeatureError):
                columns = ()
            self.kinds[_get_position(query)] = {
                _get_position(value): kind
                for value, (_, kind, _) in zip(operands, columns, strict=False)
                if kind is not None and kind != NULL
            }
        return self.kinds[_get_position(query)]


def _is_alias(node: exp.Expr | None) -> bool:
    """Return whether the node is `name = value` in a select list, which is equivalent to `value AS name`."""
    return (
        _is_assignment(node)
        and isinstance(node.parent, exp.Select)
        and isinstance(node.this, exp.Column | exp.Literal)
    )


def _is_assignment(node: exp.Expr | None) -> TypeGuard[exp.EQ]:
    """Return whether the node is an assignment with `=`, in a select list or in SET."""
    return isinstance(node, exp.EQ) and node.arg_key == "expressions"


def _list_sources(query: exp.Expr) -> list[exp.Expr]:
    """Return the first table of a statement, then one join for each other table."""
    clause = query.args.get("from_")
    targets = [query.this, *(query.args.get("tables") or ())] if isinstance(query, _CHANGES) else []
    tables = [clause.this] if clause is not None else [part for part in targets if isinstance(part, exp.Expr)]
    joins = list(query.args.get("joins") or ())
    if isinstance(query, exp.Merge):
        joins.append(exp.Join(this=query.args["using"]))
    return [*tables[:1], *joins]
