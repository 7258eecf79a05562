"""Deduce the types of parameters that a query does not declare.

[DOC: sp_describe_undeclared_parameters]
"""

from typing import Final

from sqlglot import exp

from engine.messages import SqlError
from engine.tsql.query import translate
from engine.tsql.query.infer import written_type
from engine.tsql.query.plans import ColumnsOf, Deduction
from engine.tsql.query.translation_context import table_ref, variable_name
from engine.tsql.scalars.types import MAX, SqlType, nvarchar, of_literal, varchar

_COMPARED: Final = (exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.NullSafeNEQ)
_ORDERED: Final = (exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Like, exp.Between)
_CALCULATED: Final = (
    exp.Add,
    exp.Sub,
    exp.Mul,
    exp.Div,
    exp.Mod,
    exp.BitwiseAnd,
    exp.BitwiseOr,
    exp.BitwiseXor,
)
_COUNTS: Final = (exp.Limit, exp.Offset, exp.Fetch)
_ALTERNATIVES: Final = (exp.Coalesce, exp.Nullif)
_TYPED: Final = (*_COMPARED, *_ORDERED, *_CALCULATED, *_ALTERNATIVES, exp.In)
_BIGINT: Final = SqlType("bigint")


def deduce_types(text: str, undeclared: frozenset[str], columns_of: ColumnsOf) -> list[Deduction]:
    """Return the type of each undeclared parameter of a query, in their order in the text.

    Raises 11502, 11503, 11506 or 11508.
    """
    tree = translate.parse_query(text)
    nodes = [
        node
        for node in tree.find_all(exp.Parameter, bfs=False)
        if not isinstance(node.this, exp.Parameter) and variable_name(node) in undeclared
    ]
    return [_Deducer(tree, undeclared, columns_of).deduce(node) for node in nodes]


def generalize(kind: SqlType) -> SqlType:
    """Return the type without its length, as for a parameter that is not simply equal to a value."""
    match kind.name:
        case "char" | "varchar":
            return varchar(MAX if kind.length == MAX else 8000)
        case "nchar" | "nvarchar":
            return nvarchar(MAX if kind.length == MAX else 4000)
        case "binary" | "varbinary":
            return SqlType("varbinary", MAX if kind.length == MAX else 8000)
        case "numeric" | "decimal":
            return SqlType("numeric", precision=38, scale=19)
        case "time" | "datetime2" | "datetimeoffset":
            return SqlType(kind.name, scale=7)
    return kind


class _Deducer:
    def __init__(self, tree: exp.Expr, undeclared: frozenset[str], columns_of: ColumnsOf) -> None:
        self.tree, self.undeclared, self.columns_of = tree, undeclared, columns_of

    def deduce(self, node: exp.Parameter) -> Deduction:
        name = variable_name(node)
        inner: exp.Expr = node
        while isinstance(inner.parent, exp.Paren | exp.Neg):
            inner = inner.parent
        parent = inner.parent
        if isinstance(parent, _COUNTS):
            return Deduction(name, _BIGINT)
        if isinstance(parent, exp.Cast | exp.TryCast):
            return Deduction(name, written_type(parent.args["to"]))
        if isinstance(parent, exp.Convert):
            return Deduction(name, written_type(parent.this))
        inserted = self.inserted_type(inner)
        if inserted is not None:
            return Deduction(name, inserted)
        if isinstance(parent, _TYPED):
            kind = self.sibling_type(f"@{node.name}", inner, parent)
            assigned = isinstance(parent, exp.EQ) and parent.this is inner and parent.arg_key == "expressions"
            direct = isinstance(parent, (*_COMPARED, exp.In))
            return Deduction(
                name, kind if direct else generalize(kind), assigned and not self.is_change(parent)
            )
        if isinstance(parent, exp.Select | exp.Alias):
            raise SqlError(11506, f"@{node.name}", "sql_variant", "xml")
        raise SqlError(11502, f"@{node.name}")

    def is_change(self, node: exp.Expr) -> bool:
        return isinstance(node.parent, exp.Update)

    def inserted_type(self, node: exp.Expr) -> SqlType | None:
        """Return the type of the column into which INSERT puts the value; None for another place."""
        holder = node.parent
        if not isinstance(self.tree, exp.Insert) or not isinstance(holder, exp.Tuple | exp.Select):
            return None
        rows = holder.parent if isinstance(holder, exp.Tuple) else holder
        if rows is not self.tree.args.get("expression") or node.arg_key != "expressions":
            return None
        position = next(index for index, item in enumerate(holder.expressions) if item is node)
        target = self.tree.this
        table = target.this if isinstance(target, exp.Schema) else target
        named = isinstance(target, exp.Schema)
        columns = self.columns_of(table_ref(table), not named) or ()
        if named:
            kinds = {column[0].lower(): column[1] for column in columns}
            return kinds.get(target.expressions[position].name.lower())
        return columns[position][1] if position < len(columns) else None

    def sibling_type(self, name: str, node: exp.Expr, parent: exp.Expr) -> SqlType:
        """Return the type of the first other operand whose type is known."""
        other_expressions = [value for value in parent.iter_expressions() if value is not node]
        for other in other_expressions:
            kind = self.type_of(other)
            if kind is not None:
                return kind
        for other in other_expressions:
            for untyped in other.find_all(exp.Parameter):
                if variable_name(untyped) in self.undeclared:
                    raise SqlError(11503, name, f"@{untyped.name}")
        raise SqlError(11502, name)

    def type_of(self, node: exp.Expr) -> SqlType | None:
        while isinstance(node, exp.Paren | exp.Neg | exp.Collate):
            node = node.this
        match node:
            case exp.Column():
                return self.column_type(node)
            case exp.National():
                return nvarchar(max(1, len(node.name)))
            case exp.Literal(is_string=True):
                return varchar(max(1, len(node.name)))
            case exp.Literal():
                return of_literal(node.name)
            case exp.Cast() | exp.TryCast():
                return written_type(node.args["to"])
            case exp.Convert():
                return written_type(node.this)
            case exp.Binary():
                return self.type_of(node.this) or self.type_of(node.args["expression"])
            case exp.Subquery() | exp.Max() | exp.Min() | exp.Sum():
                inner = node.this.expressions[0] if isinstance(node.this, exp.Select) else node.this
                return self.type_of(inner.this if isinstance(inner, exp.Alias) else inner)
            case exp.Count():
                return SqlType("int")
        return None

    def column_type(self, column: exp.Column) -> SqlType | None:
        """Return the type of a column, first of the tables of its own query."""
        scope: exp.Expr | None = column
        while scope is not None:
            scope = scope.find_ancestor(exp.Select, exp.Update, exp.Delete, exp.Merge)
            for table in scope.find_all(exp.Table) if scope is not None else ():
                if column.table and column.table.lower() != table.alias_or_name.lower():
                    continue
                for name, kind in self.columns_of(table_ref(table), False) or ():
                    if name.lower() == column.name.lower():
                        return kind
        return None
