"""Rewriting of T-SQL forms that SQLite lacks: ANY, ALL, TOP … PERCENT, WITH TIES, and the recursion limit.

The module also rejects queries that are invalid by their form alone (156, 4145).
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from sqlglot import exp

from engine.messages import SqlError
from engine.tsql.language.lexer import SqlSyntaxError, Token, build_unexpected_token_error, check_brackets
from engine.tsql.query.plans import UnsimulatedFeatureError
from engine.tsql.query.statement_clauses import TABLE_HINTS, find_verb_index
from engine.tsql.scalars.functions import INTERNAL_FUNCTIONS

REPLACED_EXPRESSIONS: Final = (exp.Any, exp.All, exp.NullSafeEQ, exp.NullSafeNEQ, exp.AtTimeZone)
"""Node classes that `rewrite_quantified_comparisons` replaces before type inference."""

RECURSIVE_COLUMNS_KEY: Final = "recursive"
"""Metadata key of a recursive CTE. The value is its columns."""
STREAMED_KEY: Final = "streamed"
"""Metadata key of a CTE whose rows are computed one by one, so that TOP ends the recursion."""


def list_references(query: exp.Expr, name: str) -> list[exp.Table]:
    """Return the tables in *query* that are named *name* and have no schema."""
    return [
        table
        for table in query.find_all(exp.Table)
        if isinstance(table.this, exp.Identifier) and table.name.lower() == name.lower() and not table.db
    ]


def split_recursive_members(query: exp.Expr, name: str) -> tuple[exp.Expr, list[exp.Select]]:
    """Return the anchor of the common table expression *name*, and its recursive members in order.

    Without recursion, return the query itself and an empty list.
    """
    members: list[exp.Select] = []
    while (
        isinstance(query, exp.Union)
        and isinstance(query.expression, exp.Select)
        and list_references(query.expression, name)
    ):
        members.insert(0, query.expression)
        query = query.this
    return query, members


# --- queries rejected by their form -------------------------------------------------------------------------

_VALUES: Final = (
    exp.Literal, exp.Column, exp.Parameter, exp.Null, exp.Cast, exp.Case, exp.Subquery, exp.Add, exp.Sub, exp.Mul,
    exp.Div, exp.Mod, exp.Neg, exp.Convert,
)  # fmt: skip


_FUNCTIONS_WITH_STAR: Final = ("checksum", "binary_checksum")
_FOREIGN_OPERATORS: Final = frozenset({("|", "|"), ("=", "="), ("<", "<"), (">", ">"), ("*", "*")})
"""Pairs of characters that are operators only in other database products."""

_FOREIGN_WORDS: Final = frozenset(
    {"ILIKE", "GLOB", "REGEXP", "RLIKE", "QUALIFY", "NATURAL", "SYMMETRIC", "NULLS", "RECURSIVE", "USING"}
)
"""Words of other database products that T-SQL accepts only as names, except USING in MERGE."""

_WORDS_BEFORE_NAMES: Final = frozenset({"AS", "FROM", "JOIN", "SELECT", "BY", "INTO", "UPDATE", "SET", "ON"})
"""Words that precede a name."""

_LIST_ENDS: Final = """
FROM WHERE GROUP ORDER HAVING UNION EXCEPT INTERSECT INTO ON JOIN INNER OPTION AND OR SET VALUES THEN END ELSE WHEN BY
SELECT
"""
_WORDS_AFTER_LISTS: Final = frozenset(_LIST_ENDS.split())
"""Words that cannot follow a comma."""

_FOREIGN_TYPES: Final = frozenset(
    {"BOOLEAN", "BOOL", "STRING", "BLOB", "DOUBLE", "INT64", "LONG", "NUMBER", "VARCHAR2"}
)
"""Types that only other database products have."""


def check_foreign_syntax(tokens: Sequence[Token], replaced: Collection[int] = ()) -> None:
    """Raise SqlSyntaxError 102, 156 or 243 for foreign SQL that sqlglot accepts, but SQL Server does not.

    *replaced*: indexes of tokens that are not checked.
    """
    if tokens[0].upper == "SELECT" and tokens[1].kind == "end":
        raise SqlSyntaxError(tokens[0].line, 102, tokens[0].text)
    merge = tokens[find_verb_index(tokens)].upper == "MERGE"
    _check_joins(tokens, int(merge))
    check_brackets(tokens)
    replaced_starts = {tokens[index].start for index in replaced}
    for before, token, next_token in zip(tokens, tokens[1:], tokens[2:], strict=False):
        word = token.upper
        if before.kind == token.kind == "op" and (before.text, token.text) in _FOREIGN_OPERATORS:
            raise SqlSyntaxError(token.line, 102, token.text)
        if token.is_operator("::") and before.kind in ("string", "number", "variable"):
            raise SqlSyntaxError(token.line, 102, "::")
        if token.start in replaced_starts:
            continue
        used = next_token.kind in ("word", "quoted", "string", "number") or next_token.is_operator("(")
        named = before.upper in _WORDS_BEFORE_NAMES or before.is_operator(".", ",")
        if word in _FOREIGN_WORDS and used and not named and not merge:
            raise SqlSyntaxError(token.line, 102, token.text)
        if before.is_operator(",") and (token.is_operator(")", ",", ";") or word in _WORDS_AFTER_LISTS):
            raise build_unexpected_token_error(token)
        if token.is_operator(",") and (
            next_token.kind == "end" or before.is_operator("(") or before.upper in ("SELECT", "BY")
        ):
            raise build_unexpected_token_error(token)
        if word == "AS" and next_token.kind == "end":
            raise build_unexpected_token_error(token)
        if word == "FOR" and next_token.upper == "UPDATE":
            raise SqlSyntaxError(token.line, 1003, token.line, "FOR UPDATE", "DECLARE CURSOR")
        if (
            word == "VALUE"
            and next_token.is_operator("(")
            and tokens[0].upper == "INSERT"
            and before.is_operator(")")
        ):
            raise SqlSyntaxError(token.line, 102, token.text)
        if word == "WITH" and next_token.upper in TABLE_HINTS and before.kind in ("word", "quoted"):
            raise SqlSyntaxError(next_token.line, 336, next_token.text)
        if word == "LIMIT" and next_token.kind in ("number", "variable") and not before.is_operator(".", ","):
            raise SqlSyntaxError(next_token.line, 102, next_token.text)
        if word == "DISTINCT" and next_token.upper == "ON":
            raise SqlSyntaxError(next_token.line, 156, "ON")
        if word == "OR" and before.upper == "INSERT":
            raise SqlSyntaxError(token.line, 156, "OR")
        if before.upper == "AS" and word in _FOREIGN_TYPES and next_token.is_operator(")", "("):
            raise SqlSyntaxError(token.line, 243, token.text)


def _check_joins(tokens: Sequence[Token], conditions: int) -> None:
    """Raise 102 for a JOIN without ON. *conditions*: number of ON words that belong to no JOIN."""
    joins = 0
    for before, token, next_token in zip(tokens, tokens[1:], tokens[2:], strict=False):
        hint = next_token.is_operator(")", ",")  # in OPTION (HASH JOIN), JOIN is a hint
        joins += token.upper == "JOIN" and before.upper != "CROSS" and not hint
        conditions -= token.upper == "ON" and not before.is_operator(".")
    if joins and joins + conditions > 0:
        raise build_unexpected_token_error(tokens[-2])


def _check_offset(node: exp.Expr) -> None:
    """Raise 102 for OFFSET without ORDER BY, 10741 for OFFSET together with TOP."""
    query = node.parent
    if query is None or query.args.get("order") is None:
        text = node.expression.sql(dialect="tsql")
        problem = SqlSyntaxError(1, 102, text)
        if query is not None and isinstance(query.args.get("limit"), exp.Fetch):
            option = str(query.args["limit"].args.get("direction") or "NEXT").upper()
            problem.problems = (problem, SqlSyntaxError(1, 153, option, "FETCH"))
        raise problem
    if isinstance(query.args.get("limit"), exp.Limit):
        raise SqlSyntaxError(1, 10741)


_DIRTY_READ_HINTS: Final = frozenset({"NOLOCK", "READUNCOMMITTED"})
_LOCKING_HINTS: Final = frozenset(
    {"HOLDLOCK", "REPEATABLEREAD", "SERIALIZABLE", "TABLOCKX", "UPDLOCK", "XLOCK"}
)
"""Table hints that conflict with dirty reads.

Hints for an isolation level are documented [DOC: table hints]. The other hints are from public output.
"""


def _check_hints(node: exp.Expr) -> None:
    """Raise 321 for an unknown hint, 1047 for conflicting hints.

    Raise 1065 or 1069 for a hint that the target of UPDATE, DELETE or MERGE cannot have.
    """
    names_given = set[str]()
    for word in list(node.expressions):
        name = str(word.name or word.this)
        if name.upper() not in TABLE_HINTS and isinstance(
            word, exp.Var | exp.Column | exp.Identifier | exp.Anonymous
        ):
            raise SqlSyntaxError(1, 321, name)
        names_given.add(name.upper())
        if isinstance(word, exp.Anonymous):
            named = [
                exp.Var(this=f"INDEX {expression.name}")
                for expression in word.expressions
                if name.upper() in ("INDEX", "FORCESEEK")
            ]
            word.replace(exp.Var(this=name))
            node.set("expressions", [*node.expressions, *named])
    if names_given & _DIRTY_READ_HINTS and names_given & _LOCKING_HINTS:
        raise SqlSyntaxError(1, 1047)
    table = node.parent
    change = table.parent if table is not None else None
    if isinstance(change, exp.Update | exp.Delete | exp.Merge) and change.this is table:
        if names_given & _DIRTY_READ_HINTS:
            raise SqlSyntaxError(1, 1065)
        if names_given & {"INDEX", "FORCESEEK", "FORCESCAN"}:
            raise SqlSyntaxError(1, 1069)


def rewrite_index_hints(tokens: Sequence[Token]) -> dict[int, str]:
    """Return token replacements that turn `INDEX = name` into `INDEX (name)`. Raises 1018 without WITH."""
    replacements: dict[int, str] = {}
    for index in range(2, len(tokens) - 2):
        before, token, next_token = tokens[index - 1 : index + 2]
        if token.upper != "INDEX" or not next_token.is_operator("=", "(") or not before.is_operator("(", ","):
            continue
        if before.is_operator("(") and tokens[index - 2].upper not in ("WITH", "HINT"):
            raise SqlSyntaxError(token.line, 1018, token.text)
        if next_token.is_operator("="):
            single = not tokens[index + 2].is_operator("(")
            replacements |= (
                {index + 1: "(", index + 2: f"{tokens[index + 2].text})"} if single else {index + 1: ""}
            )
    return replacements


RANKING_FUNCTIONS: Final = (
    exp.RowNumber, exp.Rank, exp.DenseRank, exp.Ntile, exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue,
)  # fmt: skip
"""Functions that require OVER. Documented [DOC: ranking functions; analytic functions]."""


def check_query(tree: exp.Expr) -> None:
    """Reject a query that sqlglot accepts but SQL Server does not.

    Raises SqlSyntaxError for no select list (156), a value as condition (4145), TRUE (207), IN () (102),
    MAX(a, b) (174), or a ranking without OVER (10753).
    """
    for node in tree.find_all(
        exp.Select,
        exp.Where,
        exp.Having,
        exp.Join,
        exp.Boolean,
        exp.In,
        exp.Max,
        exp.Min,
        exp.EQ,
        exp.Anonymous,
        exp.TruncateTable,
        exp.WithTableHint,
        exp.Escape,
        exp.Offset,
        exp.Into,
        exp.Star,
        exp.Count,
        exp.WindowSpec,
        exp.Update,
        *RANKING_FUNCTIONS,
    ):
        if isinstance(node, exp.Select):
            if not node.expressions and node.args.get("from_") is not None:
                raise SqlSyntaxError(1, 156, "FROM")
        elif isinstance(node, exp.Update):
            for part in node.expressions:
                if isinstance(part, exp.Column):
                    raise SqlSyntaxError(1, 102, part.name)
        elif isinstance(node, exp.Escape):
            sign = node.expression
            if isinstance(sign, exp.Literal) and len(sign.name) != 1:
                raise SqlSyntaxError(1, 506, sign.name, "LIKE")
        elif isinstance(node, exp.Offset):
            _check_offset(node)
        elif isinstance(node, exp.WithTableHint):
            _check_hints(node)
        elif isinstance(node, exp.TruncateTable):
            if isinstance(node.expressions[0].this, exp.Parameter):
                raise SqlSyntaxError(1, 102, f"@{node.expressions[0].name}")
        elif isinstance(node, RANKING_FUNCTIONS):
            if not isinstance(node.parent, exp.Window):
                raise SqlSyntaxError(1, 10753, node.sql_name())
        elif isinstance(node, exp.Anonymous):
            if str(node.this).lower() in INTERNAL_FUNCTIONS:
                raise SqlSyntaxError(1, 195, node.this, "built-in function name")
        elif isinstance(node, exp.Boolean):
            raise SqlSyntaxError(1, 207, "TRUE" if node.this else "FALSE")
        elif isinstance(node, exp.In):
            if not any(node.args.get(key) for key in ("expressions", "query", "unnest", "field")):
                raise SqlSyntaxError(1, 102, ")")
        elif isinstance(node, exp.Into):
            if isinstance(node.this, exp.Table) and isinstance(node.this.this, exp.Parameter):
                raise SqlSyntaxError(1, 102, f"@{node.this.this.name}")
        elif isinstance(node, exp.Star):
            call = node.parent
            if isinstance(call, exp.Func | exp.Distinct) and not (
                isinstance(call, exp.Count) or call.name.lower() in _FUNCTIONS_WITH_STAR
            ):
                raise SqlSyntaxError(1, 102, "*")
        elif isinstance(node, exp.Count):
            if node.this is None:
                raise SqlSyntaxError(1, 174, node.key, 1)
        elif isinstance(node, exp.WindowSpec):
            if node.args.get("kind") == "RANGE" and any(
                isinstance(node.args.get(edge), exp.Expr) for edge in ("start", "end")
            ):
                raise SqlSyntaxError(1, 4194)
        elif isinstance(node, exp.Max | exp.Min):
            if node.expressions:
                raise SqlSyntaxError(1, 174, node.key, 1)
        elif isinstance(node, exp.EQ):
            if isinstance(node.this, exp.Tuple):
                raise SqlSyntaxError(1, 4145, ",")
        else:
            condition = node.args.get("on") if isinstance(node, exp.Join) else node.this
            if isinstance(condition, exp.Expr):
                _check_condition(condition)


_SIGNS: Final[dict[type[exp.Expr], tuple[int, str]]] = {
    exp.And: (156, "AND"), exp.Or: (156, "OR"), exp.Not: (156, "NOT"), exp.EQ: (102, "="), exp.NEQ: (102, "<"),
    exp.LT: (102, "<"), exp.LTE: (102, "<"), exp.GT: (102, ">"), exp.GTE: (102, ">"), exp.Like: (156, "LIKE"),
    exp.In: (156, "IN"), exp.Between: (156, "BETWEEN"), exp.Is: (156, "IS"), exp.Exists: (156, "EXISTS"),
    exp.NullSafeEQ: (156, "IS"), exp.NullSafeNEQ: (156, "IS"),
}  # fmt: skip
_VALUE_OPERATORS: Final = (
    exp.Cast, exp.Coalesce, exp.AggFunc, exp.Ordered, exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod,
)  # fmt: skip
"""Node classes whose operands must be values."""


def check_values(tree: exp.Expr) -> None:
    """Raise SqlSyntaxError 102 or 156 for a condition where a value is required."""
    for select in tree.find_all(exp.Select):
        for projection in select.expressions:
            _check_projection(projection)
    for condition in tree.find_all(*_SIGNS):
        if _is_misplaced_condition(condition):
            raise SqlSyntaxError(1, *_SIGNS[type(condition)])


def _is_misplaced_condition(condition: exp.Expr) -> bool:
    """Return whether the condition is where a value is required: an argument, an operand, or a CASE result."""
    node, holder = condition, condition.parent
    while isinstance(holder, exp.Paren):
        node, holder = holder, holder.parent
    if isinstance(holder, exp.Anonymous):
        return str(holder.this).lower() != "iif" or node.index != 0
    if isinstance(holder, exp.Case):
        return node.arg_key == "default"
    if isinstance(holder, exp.If):
        simple = isinstance(holder.parent, exp.Case) and holder.parent.args.get("this") is not None
        return node.arg_key != "this" or simple
    if isinstance(holder, exp.Select | exp.Alias):
        return node is not condition or isinstance(condition, exp.NullSafeEQ | exp.NullSafeNEQ)
    compared = isinstance(holder, exp.EQ | exp.NEQ | exp.LT | exp.GT | exp.LTE | exp.GTE)
    return isinstance(holder, _VALUE_OPERATORS) or (compared and not isinstance(condition, exp.EQ))


def _check_projection(projection: exp.Expr) -> None:
    """Raise SqlSyntaxError for a condition in a select list. Allow `name = value`, which names a column."""
    value = projection.unalias()
    named = isinstance(value, exp.EQ) and isinstance(value.this, exp.Column | exp.Parameter | exp.Literal)
    if named and not (isinstance(value.this, exp.Literal) and not value.this.is_string):
        return
    if type(value) in _SIGNS:
        raise SqlSyntaxError(1, *_SIGNS[type(value)])


def _check_condition(node: exp.Expr) -> None:
    left = [node]
    while left:
        part = left.pop()
        if isinstance(part, exp.And | exp.Or):
            left += [part.args["expression"], part.this]
        elif isinstance(part, exp.Paren | exp.Not):
            left.append(part.this)
        elif isinstance(part, _VALUES) and type(part) in _VALUES:
            raise SqlSyntaxError(1, 4145, part.sql(dialect="tsql").split()[-1])


# --- = ANY, > ALL ------------------------------------------------------------------------------------------


def rewrite_quantified_comparisons(tree: exp.Expr) -> None:
    """Rewrite ANY and ALL: `x > ALL (query)` becomes a CASE over EXISTS with the result 1, 0 or NULL."""
    for moment in reversed(list(tree.find_all(exp.AtTimeZone))):
        moment.replace(exp.Anonymous(this="at_time_zone", expressions=[moment.this, moment.args["zone"]]))
    for null_safe in list(tree.find_all(exp.NullSafeEQ, exp.NullSafeNEQ)):
        sides = [exp.Select(expressions=[null_safe.this]), exp.Select(expressions=[null_safe.expression])]
        equal: exp.Expr = exp.Exists(this=exp.Intersect(this=sides[0], expression=sides[1], distinct=True))
        null_safe.replace(equal if isinstance(null_safe, exp.NullSafeEQ) else exp.Not(this=equal))
    for node in list(tree.find_all(exp.Any, exp.All)):
        comparison = node.parent
        query = node.this
        while isinstance(query, exp.Subquery):
            query = query.this
        if not isinstance(comparison, exp.Binary) or not isinstance(query, exp.Select | exp.SetOperation):
            raise UnsimulatedFeatureError("this form of ANY or ALL")
        is_all = isinstance(node, exp.All)
        decides = exp.false() if is_all else exp.true()
        matched = _build_exists(comparison, query, decides)
        unknown = _build_exists(comparison, query, None)
        case = exp.Case(
            ifs=[
                exp.If(this=matched, true=exp.Literal.number(0 if is_all else 1)),
                exp.If(this=unknown, true=exp.Null()),
            ],
            default=exp.Literal.number(1 if is_all else 0),
        )
        comparison.replace(
            exp.Paren(this=exp.EQ(this=exp.Paren(this=case), expression=exp.Literal.number(1)))
        )


def _build_exists(comparison: exp.Expr, query: exp.Expr, wanted: exp.Expr | None) -> exp.Expr:
    """Build `EXISTS (SELECT …)` for a row of *query* on which the comparison is true, false or unknown.

    *wanted*: the result of the comparison to look for; None for unknown.
    """
    first_expression = inner = query.copy()
    while isinstance(first_expression, exp.SetOperation):
        first_expression = first_expression.this
    if len(first_expression.expressions) != 1 or first_expression.expressions[0].is_star:
        raise UnsimulatedFeatureError("ANY or ALL of SELECT *")
    first_expression.set(
        "expressions", [exp.alias_(first_expression.expressions[0].unalias(), _VALUE, quoted=True)]
    )
    holds: exp.Expr = type(comparison)(
        this=comparison.this.copy(), expression=exp.column(exp.to_identifier(_VALUE, quoted=True))
    )
    number = exp.Literal.number
    if wanted is None:
        case = exp.Case(
            ifs=[
                exp.If(this=holds, true=number(1)),
                exp.If(this=exp.Not(this=exp.Paren(this=holds.copy())), true=number(1)),
            ],
            default=number(0),
        )
        condition: exp.Expr = exp.EQ(this=exp.Paren(this=case), expression=number(0))
    elif wanted.this:
        condition = holds
    else:
        condition = exp.Not(this=exp.Paren(this=holds))
    source = exp.Subquery(this=inner, alias=exp.TableAlias(this=exp.to_identifier("compared", quoted=True)))
    return exp.Exists(
        this=exp.Select(expressions=[number(1)], from_=exp.From(this=source), where=exp.Where(this=condition))
    )


_VALUE: Final = "compared value"


# --- TOP … PERCENT, TOP … WITH TIES ------------------------------------------------------------------------


def rewrite_top(select: exp.Expr, limit: exp.Expr, percent: bool, ties: bool) -> None:
    """Replace the limit of TOP … PERCENT or WITH TIES by a subquery that counts the rows to return.

    *percent*: *limit* is a percentage. *ties*: also return the rows that tie with the last one.
    """
    if select.args.get("distinct") is not None:
        raise UnsimulatedFeatureError("SELECT DISTINCT TOP … PERCENT or WITH TIES")
    row_limit = limit.expression
    if percent:
        value = exp.Anonymous(this="t_top_percent", expressions=[_build_count(), row_limit.copy()])
        counted_select = _remove_limit(select)
        counted_select.set("order", None)
        row_limit = exp.Subquery(
            this=exp.Select(expressions=[value], from_=exp.From(this=_wrap_as_derived(counted_select)))
        )
    if ties:
        ranked_select = _remove_limit(select)
        if (order := ranked_select.args.get("order")) is None:
            raise SqlError(1062)
        ranked_select.set("order", None)
        for ordered in order.expressions:
            ordered.set("this", _resolve_order_term(ordered.this, ranked_select.expressions))
        rank = exp.Window(this=exp.Anonymous(this="RANK"), order=order)
        ranked_select.set("expressions", [exp.alias_(rank, "place", quoted=True)])
        column = exp.column(exp.to_identifier("place", quoted=True))
        row_limit = exp.Subquery(
            this=exp.Select(
                expressions=[_build_count()],
                from_=exp.From(this=_wrap_as_derived(ranked_select)),
                where=exp.Where(this=exp.LTE(this=column, expression=row_limit.copy())),
            )
        )
    select.set("limit", exp.Limit(expression=row_limit))


def _build_count() -> exp.Expr:
    return exp.Count(this=exp.Star())


def _remove_limit(select: exp.Expr) -> exp.Expr:
    copied = select.copy()
    copied.set("limit", None)
    return copied


def _wrap_as_derived(select: exp.Expr) -> exp.Expr:
    return exp.Subquery(this=select, alias=exp.TableAlias(this=exp.to_identifier("counted", quoted=True)))


def _resolve_order_term(node: exp.Expr, projections: Iterable[exp.Expr]) -> exp.Expr:
    """Return the sort expression of an ORDER BY term that is the name or number of a result column."""
    expression: exp.Expr
    expressions = list(projections)
    inner = node.this if isinstance(node, exp.Collate) else node
    if isinstance(inner, exp.Literal) and not inner.is_string and int(inner.name) <= len(expressions):
        expression = expressions[int(inner.name) - 1].unalias().copy()
        return expression
    if isinstance(inner, exp.Column) and not inner.table:
        for projection in expressions:
            if isinstance(projection, exp.Alias) and projection.alias.lower() == inner.name.lower():
                expression = projection.this.copy()
                return expression
    return node


# --- WITHIN GROUP ----------------------------------------------------------------------------------------

SORT_KEYS_KEY: Final = "keys"
"""Metadata key of a STRING_AGG call whose additional arguments are the sort keys of WITHIN GROUP."""


def fold_within_group(tree: exp.Expr) -> None:
    """Rewrite STRING_AGG(a, b) WITHIN GROUP (ORDER BY c DESC) as one call: STRING_AGG(a, b, 'desc', c)."""
    for node in list(tree.find_all(exp.WithinGroup)):
        call = node.this
        if not isinstance(call, exp.Anonymous) or str(call.this).lower() != "string_agg":
            if not isinstance(node.parent, exp.Window):
                node.replace(call)
            continue
        for ordered in node.expression.expressions:
            direction = "desc" if ordered.args.get("desc") else "asc"
            call.append("expressions", exp.Literal.string(direction))
            call.append("expressions", ordered.this)
        call.meta[SORT_KEYS_KEY] = True
        node.replace(call)


# --- XML methods --------------------------------------------------------------------------------------------

XML_METHODS: Final = {"value": 2, "exist": 1, "query": 1, "modify": 1, "nodes": 1}
"""XML method -> number of its arguments. Documented [DOC: xml data type methods]."""


def fix_method_columns(tree: exp.Expr) -> None:
    """Make x.record in x.record.value(…) a column; sqlglot parses a name before an XML method as Dot."""
    methods = [node for node in tree.find_all(exp.Dot) if _is_method(node)]
    for method in methods:
        for node in list(method.this.walk()):
            parts = list(node.flatten()) if isinstance(node, exp.Dot) else [node]
            if isinstance(node.parent, exp.Dot) and node.parent is not method:
                continue
            if all(isinstance(part, exp.Identifier | exp.Star) for part in parts) and _is_value(node):
                names = dict(zip(("this", "table", "db", "catalog"), reversed(parts), strict=False))
                node.replace(exp.Column(**{key: part.copy() for key, part in names.items()}))


def _is_method(node: exp.Dot) -> bool:
    call = node.expression
    return isinstance(call, exp.Anonymous) and XML_METHODS.get(str(call.this).lower()) == len(
        call.expressions
    )


def _is_value(node: exp.Expr) -> bool:
    """Return whether a name stands for a value. A star, an alias or a part of a column name does not."""
    named = (exp.Table, exp.TableAlias, exp.Column, exp.Schema, exp.ColumnDef, exp.DataType, exp.Parameter)
    if isinstance(node, exp.Star) or isinstance(node.parent, named):
        return False
    return not (
        node.arg_key == "alias" or (isinstance(node.parent, exp.Collate) and node.arg_key == "expression")
    )


def replace_plain_applies(tree: exp.Expr) -> None:
    """Replace CROSS APPLY of a plain table by a cross join, OUTER APPLY by a left join."""
    for join in list(tree.find_all(exp.Join)):
        lateral = join.this
        if not isinstance(lateral, exp.Lateral) or not isinstance(lateral.this, exp.Identifier | exp.Dot):
            continue
        parts = list(lateral.this.flatten()) if isinstance(lateral.this, exp.Dot) else [lateral.this]
        if all(isinstance(part, exp.Identifier) for part in parts):
            names = dict(zip(("this", "db", "catalog"), reversed(parts), strict=False))
            table = exp.Table(
                **{key: part.copy() for key, part in names.items()}, alias=lateral.args.get("alias")
            )
            outer = not lateral.args.get("cross_apply")
            join.replace(
                exp.Join(this=table, side="LEFT", on=exp.true())
                if outer
                else exp.Join(this=table, kind="CROSS")
            )


def alias_queries(tree: exp.Expr) -> None:
    """Rewrite `x = (SELECT 1)` in a select list as `(SELECT 1) AS x`; sqlglot reads x as a table alias."""
    for query in list(tree.find_all(exp.Subquery)):
        name = query.args.get("alias")
        if isinstance(name, exp.Identifier) and query.arg_key == "expressions":
            query.set("alias", None)
            named = exp.Alias(alias=name)
            query.replace(named)
            named.set("this", query)


def force_joins_first(select: exp.Expr) -> None:
    """Make SQLite evaluate join conditions before a WHERE that may fail, for example by division by zero."""
    condition, joins = select.args.get("where"), select.args.get("joins") or ()
    if condition is None or not any(_can_fail(call) for call in condition.find_all(exp.Anonymous)):
        return
    inner = [join for join in joins if not join.side and isinstance(join.args.get("on"), exp.Expr)]
    if inner and not any(join.side for join in joins):
        conditions = [join.args["on"].pop() for join in inner]
        condition.set("this", exp.and_(*conditions, condition.this, copy=False))


def _can_fail(call: exp.Anonymous) -> bool:
    if call.this == "t_operate":
        return call.expressions[0].name in ("/", "%")
    return call.this in ("t_div", "t_mod", "t_convert")


def unwrap_value(node: exp.Expr) -> exp.Expr:
    """Return the node inside all parentheses and COLLATE."""
    while isinstance(node, exp.Collate | exp.Paren):
        node = node.this
    return node
