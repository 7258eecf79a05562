"""Inference of the types of all expressions in a query, and the implicit conversions of SQL Server.

Each rule takes a node of the tree, infers the types of its parts, converts them by the precedence of types,
and returns the type of the node. None is an unknown type, which is not converted.
"""

import math
import re
from typing import Final

from sqlglot import exp

from engine.messages import SqlError
from engine.tsql.query import conversions, for_json_and_xml
from engine.tsql.query.conversions import (
    Binder,
    Kind,
    TypeRule,
    convert_to_common_type,
    convert_to_float,
    convert_to_text,
    convert_to_type,
    is_bare_function,
    make_literal,
    wrap_in_call,
)
from engine.tsql.query.forms import XML_METHODS
from engine.tsql.query.plans import ROW_NUMBER_KEY, UnsimulatedFeatureError
from engine.tsql.query.query_columns import resolve_column
from engine.tsql.scalars import return_types
from engine.tsql.scalars.types import (
    BIT,
    FLOAT,
    GUID,
    INT,
    NULL,
    OLD_LARGE_TYPES,
    UNLIMITED_LENGTH,
    SqlType,
    check_conversion,
    check_type_size,
    infer_arithmetic_type,
    infer_common_type,
    infer_literal_type,
    make_nvarchar,
    make_varchar,
    make_variant,
    parse_sql_type,
)

# --- values ----------------------------------------------------------------------------------------------


def _infer_literal(binder: Binder, node: exp.Expr) -> Kind:
    name = str(node.name)
    if node.args.get("is_string"):
        return make_varchar(len(name)) if len(name) <= 8000 else make_varchar(UNLIMITED_LENGTH)
    if "e" in name.lower():
        if math.isinf(float(name)):
            raise SqlError(168, name, 8)
        return FLOAT
    return infer_literal_type(name)


def _infer_national(binder: Binder, node: exp.Expr) -> Kind:
    return make_nvarchar(len(node.name)) if len(node.name) <= 4000 else make_nvarchar(UNLIMITED_LENGTH)


def _infer_hex(binder: Binder, node: exp.Expr) -> Kind:
    return SqlType("varbinary", max(1, (len(str(node.name)) + 1) // 2))


def _infer_column(binder: Binder, node: exp.Expr) -> Kind:
    if not isinstance(node.this, exp.Identifier):
        return None
    if node.meta.get(ROW_NUMBER_KEY):
        return INT
    parts = [binder.get_name(node.args.get(key)) for key in ("catalog", "db", "table")]
    if is_bare_function(node):
        return return_types.RETURN_TYPE_RULES[node.name.lower()](())
    while parts and parts[0] == "":
        parts.pop(0)
    try:
        column_match = resolve_column(binder.space, parts, binder.get_name(node.this))
        if not parts and column_match.source is not None and node.find_ancestor(exp.Lateral) is not None:
            # apply_rewriting.py moves the tables of an applied query to the outer query, so the column needs
            # a table name.
            node.set("table", exp.to_identifier(column_match.source.name, quoted=True))
        return column_match.kind
    except SqlError as problem:
        binder.problems.append(problem)
        return None


def _infer_parameter(binder: Binder, node: exp.Expr) -> Kind:
    inner = node.this
    if isinstance(inner, exp.Parameter):
        rule = return_types.RETURN_TYPE_RULES.get(f"@@{inner.name.lower()}")
        return _fit_declared_type(binder, node, rule(()) if rule is not None else None)
    return binder.variables.get(f"@{inner.name.lower()}")


def _fit_declared_type(binder: Binder, node: exp.Expr, kind: Kind) -> Kind:
    """Convert the result of a function to its declared type. For example, @@IDENTITY is a decimal."""
    if kind is not None and kind.is_long:
        binder.convert(node, kind)
    return kind


def _infer_paren(binder: Binder, node: exp.Expr) -> Kind:
    return binder.bind(node.this)


def _infer_subquery(binder: Binder, node: exp.Expr) -> Kind:
    """Return the type of a scalar subquery. It has one column (else 116) and at most one row (else 512)."""
    columns = binder.bind_subquery(node.this)
    if columns is None:
        return None
    if len(columns) != 1:
        raise SqlError(116)
    binder.limit_to_one_row(node)
    return columns[0][1]


# --- operators -------------------------------------------------------------------------------------------

_SIGNS: Final[dict[type[exp.Expr], str]] = {
    exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.Mod: "%", exp.BitwiseAnd: "&", exp.BitwiseOr: "|",
    exp.BitwiseXor: "^",
}  # fmt: skip


def _infer_arithmetic(binder: Binder, node: exp.Expr) -> Kind:
    """Return the type of a + b + c ….

    A loop processes the left operands, because recursion over hundreds of operands would be too deep.
    """
    chain = [node]
    while type(chain[-1].this) in _SIGNS:
        chain.append(chain[-1].this)
    kind = binder.bind(chain[-1].this)
    for part in reversed(chain):
        if isinstance(part, exp.Add):
            conversions.check_collations("add", part.this, part.expression)
        right_kind = binder.bind(part.args["expression"])
        kind = _infer_operation(part, kind, right_kind, binder.names.settings.concat_null)
    return kind


def _infer_operation(node: exp.Expr, left_kind: Kind, right_kind: Kind, concat_null: bool) -> Kind:
    if left_kind is None or right_kind is None:
        return None
    operator = _SIGNS[type(node)]
    kind = infer_arithmetic_type(operator, left_kind, right_kind)
    name = "joined" if kind.is_text or (kind.is_binary and operator == "+") else "operate"
    if name == "joined" and not concat_null:
        name = "pasted"
    node.meta["call"] = (name, operator, str(kind))
    for operand_key, sql_type in (("this", left_kind), ("expression", right_kind)):
        value = node.args[operand_key]
        if (kind.is_date_time and sql_type.is_text) or (kind.is_integer and sql_type.is_text):
            wrap_in_call(value, "convert", make_literal(kind), suffix=(exp.Null(), make_literal(sql_type)))
    return kind


def _infer_negative(binder: Binder, node: exp.Expr) -> Kind:
    if isinstance(node.this, exp.Literal) and str(node.this.name) == "2147483648":
        return INT
    kind = binder.bind(node.this)
    if kind is None or kind == NULL:
        return kind
    if isinstance(node.this, exp.Literal) and kind.is_number and not kind.is_long:
        return kind
    if not kind.is_number or kind.name == "bit":
        raise SqlError(8117, kind.name, "minus")
    result = INT if kind.name in ("tinyint", "smallint") else kind
    node.meta["call"] = ("negated", "", str(result))
    return kind


def _infer_inverse(binder: Binder, node: exp.Expr) -> Kind:
    kind = binder.bind(node.this)
    if kind is None or kind == NULL:
        return kind
    if not kind.is_integer:
        raise SqlError(8117, kind.name, "'~'")
    node.meta["call"] = ("inverted", "", str(kind))
    return kind


def _infer_comparison(binder: Binder, node: exp.Expr) -> Kind:
    left, right = node.this, node.args.get("expression")
    if not isinstance(left, exp.Expr) or not isinstance(right, exp.Expr):
        return BIT
    if isinstance(right, exp.Any | exp.All):
        binder.bind(left)
        binder.bind_subquery(right.this.this if isinstance(right.this, exp.Subquery) else right.this)
        return BIT
    if isinstance(left, exp.Tuple) or isinstance(right, exp.Tuple):
        return binder.bind_parts(node)
    conversions.check_collations(_COMPARISON_NAMES.get(type(node), "equal to"), left, right)
    a, b = binder.bind(left), binder.bind(right)
    left, right = node.this, node.args["expression"]
    target = infer_common_type(a, b)
    if target is not None and a is not None and b is not None:
        if target.name in ("text", "ntext", "image", "xml") and NULL not in (a, b):
            raise SqlError(402, a.name, b.name, _COMPARISON_NAMES.get(type(node), "equal to"))
        convert_to_type(left, a, target)
        convert_to_type(right, b, target)
    elif a is None or b is None:
        convert_to_float(left, a)
        convert_to_float(right, b)
    if not binder.names.settings.ansi_nulls and isinstance(node, exp.EQ | exp.NEQ):
        _compare_nulls_as_equal(node, a, b)
    return BIT


_COMPARISON_NAMES: Final[dict[type[exp.Expr], str]] = {
    exp.EQ: "equal to", exp.NEQ: "not equal to", exp.LT: "less than", exp.GT: "greater than",
    exp.LTE: "less than or equal to", exp.GTE: "greater than or equal to",
}  # fmt: skip


def _compare_nulls_as_equal(node: exp.Expr, a: Kind, b: Kind) -> None:
    """Rewrite a comparison for ANSI_NULLS OFF: NULL equals NULL. Documented [DOC: SET ANSI_NULLS]."""
    sides = (node.this, node.args["expression"])
    if not any(isinstance(operand, exp.Null | exp.Parameter) for operand in sides):
        return
    equal: exp.Expr = exp.Is(this=sides[0].copy(), expression=sides[1].copy())
    node.replace(exp.Paren(this=exp.Not(this=equal)) if isinstance(node, exp.NEQ) else exp.Paren(this=equal))


def _infer_in(binder: Binder, node: exp.Expr) -> Kind:
    kind = binder.bind(node.this)
    query = node.args.get("query")
    if query is not None:
        columns = binder.bind_subquery(query.this if isinstance(query, exp.Subquery) else query)
        if columns is not None and len(columns) != 1:
            raise SqlError(116)
        other_sql_type = columns[0][1] if columns else None
        convert_to_type(node.this, kind, infer_common_type(kind, other_sql_type))
        if other_sql_type is not None and kind is not None:
            binder.convert_column(query, other_sql_type, infer_common_type(kind, other_sql_type))
        return BIT
    conversions.check_collations("equal to", node.this, *node.expressions)
    kinds = [binder.bind(value) for value in list(node.expressions)]
    target = kind
    for other_sql_type in kinds:
        target = infer_common_type(target, other_sql_type)
    conversions.check_equality(kind, kinds)
    convert_to_type(node.this, kind, target)
    for value, other_sql_type in zip(list(node.expressions), kinds, strict=True):
        convert_to_type(value, other_sql_type, target)
    return BIT


def _infer_between(binder: Binder, node: exp.Expr) -> Kind:
    keys = ("this", "low", "high")
    kinds = [binder.bind(node.args[key]) for key in keys]
    target: Kind = NULL
    for kind in kinds:
        target = infer_common_type(target, kind)
    for key, kind in zip(keys, kinds, strict=True):
        convert_to_type(node.args[key], kind, target)
    return BIT


def _infer_like(binder: Binder, node: exp.Expr) -> Kind:
    conversions.check_collations("like", node.this, node.args["expression"])
    kinds = [binder.bind(node.args[operand_key]) for operand_key in ("this", "expression")]
    for operand, kind in zip(("this", "expression"), kinds, strict=True):
        convert_to_text(binder, node.args[operand], kind)
    wide = any(kind is not None and kind.name in ("nchar", "nvarchar") for kind in kinds)
    pattern = node.args["expression"]
    if wide and not (isinstance(pattern, exp.Literal | exp.National) and str(pattern.name).endswith("%")):
        for operand in (
            "this",
            "expression",
        ):  # an end character keeps trailing blanks, which are significant in Unicode texts
            value = exp.Paren(this=node.args[operand])
            node.set(operand, exp.DPipe(this=value, expression=exp.Literal.string(PATTERN_END_CHARACTER)))
    return BIT


PATTERN_END_CHARACTER: Final = "\x01"
"""Character appended to text and pattern of LIKE, so that trailing blanks are significant [DOC: LIKE]."""


# --- conversions and conditional expressions -------------------------------------------------------------


def parse_written_type(node: exp.Expr) -> SqlType:
    """Return the type that CAST or CONVERT names. Raises 243 for an unknown type."""
    sql = node.sql(dialect="tsql").lower()
    try:
        return parse_sql_type(sql)
    except SqlError as problem:
        if problem.number == 2715:
            raise SqlError(243, sql.strip("[] ")) from None
        raise


def _infer_convert(binder: Binder, node: exp.Expr) -> Kind:
    target_type, value = node.args.get("to"), node.this
    if isinstance(node, exp.Convert):
        target_type, value = node.this, node.args.get("expression")
    if not isinstance(value, exp.Expr) or not isinstance(target_type, exp.Expr):
        raise SqlError(102, ")")
    check_type_size(target_type.sql(dialect="tsql"), "convert specification")
    target = parse_written_type(target_type)
    source = binder.bind(value)
    style = node.args.get("style")
    if isinstance(style, exp.Expr):
        binder.bind(style)
    check_conversion(source, target)
    node.meta["target"] = str(target)
    node.meta["source"] = "" if source is None or source == NULL else str(source)
    return make_variant(source) if target.name == "sql_variant" else target


def _infer_case(binder: Binder, node: exp.Expr) -> Kind:
    subject = node.this
    branches = list(node.args.get("ifs") or ())
    if isinstance(subject, exp.Expr):
        convert_case_values(binder, [subject, *(branch.this for branch in branches)])
    else:
        for branch in branches:
            binder.bind(branch.this)
    results = [branch.args["true"] for branch in branches]
    if isinstance(node.args.get("default"), exp.Expr):
        results.append(node.args["default"])
    if results and all(isinstance(result, exp.Null) for result in results):
        raise SqlError(8133)
    return convert_to_common_type(binder, results)


def convert_case_values(binder: Binder, nodes: list[exp.Expr]) -> None:
    """Convert the input of CASE and the values of all WHEN clauses to their common type."""
    kinds = [binder.bind(node) for node in nodes]
    target: Kind = NULL
    for kind in kinds:
        target = infer_common_type(target, kind)
    for node, kind in zip(nodes, kinds, strict=True):
        convert_to_type(node, kind, target)


def _infer_coalesce(binder: Binder, node: exp.Expr) -> Kind:
    if not node.expressions:
        raise SqlError(102, ")")
    if all(isinstance(value, exp.Null) for value in (node.this, *node.expressions)):
        raise SqlError(4127)
    return convert_to_common_type(binder, [node.this, *node.expressions])


def _infer_nullif(binder: Binder, node: exp.Expr) -> Kind:
    if isinstance(node.this, exp.Null):
        raise SqlError(4151)
    first_sql_type = binder.bind(node.this)
    second = binder.bind(node.args["expression"])
    if infer_common_type(first_sql_type, second) == first_sql_type:
        convert_to_type(node.args["expression"], second, first_sql_type)
    elif first_sql_type is None or (first_sql_type.is_number and not first_sql_type.is_long):
        convert_to_float(node.args["expression"], second)
    return first_sql_type


# --- calls -----------------------------------------------------------------------------------------------

DATE_PART_FIRST: Final = frozenset(
    {"dateadd", "datediff", "datepart", "datename", "datediff_big", "datetrunc", "date_bucket"}
)


def _infer_call(binder: Binder, node: exp.Expr) -> Kind:
    name = str(node.this).lower()
    if name in _SPECIAL_RULES:
        return _SPECIAL_RULES[name](binder, node)
    skip = 1 if name in DATE_PART_FIRST else 0
    arguments = list(node.expressions)
    if skip and arguments and isinstance(arguments[0], exp.Literal | exp.National | exp.Parameter):
        raise SqlError(1023, 1, name)
    kinds: list[Kind] = [NULL for _ in range(skip)]
    kinds += [binder.bind(argument) for argument in arguments[skip:]]
    counts = _ARGUMENT_COUNTS.get(name)
    if counts is not None and len(kinds) not in counts:
        raise SqlError(174, name, *counts) if len(counts) == 1 else SqlError(189, name, *counts)
    rule = return_types.RETURN_TYPE_RULES.get(name)
    result = rule(kinds) if rule is not None else None
    if name == "format" and kinds and kinds[0] is not None and (kinds[0].is_text or kinds[0] == NULL):
        raise SqlError(8116, "NULL" if kinds[0] == NULL else kinds[0].name, 1, name)
    for index in return_types.TEXT_ARGUMENTS.get(name, ()):
        kind = kinds[index] if index < len(arguments) else None
        if kind and kind.name in OLD_LARGE_TYPES and name not in ("charindex", "patindex"):
            raise SqlError(8116, kind.name, index + 1, name)
        if kind is not None and not (name == "len" and kind.is_binary):
            convert_to_text(binder, node.expressions[index], kind)
    if name == "hashbytes" and any(kind and kind.name in ("nchar", "nvarchar") for kind in kinds[1:2]):
        style_and_type = (exp.Null(), make_literal(make_nvarchar(UNLIMITED_LENGTH)))
        wrap_in_call(node.expressions[1], "convert", make_literal("varbinary(max)"), suffix=style_and_type)
    if name == "datalength" and kinds[0] not in (None, NULL):
        node.append("expressions", make_literal(kinds[0]))
    if name == "sql_variant_property":
        _add_variant_type(node, kinds[0])
    if name in _FUNCTIONS_WITH_TYPE:
        kind = kinds[0] if name in _BIT_FUNCTIONS else result
        if name == "date_bucket" and len(kinds) == 3:
            node.append("expressions", exp.Null())
        if name == "set_bit" and len(kinds) == 2:
            node.append("expressions", exp.Literal.number(1))
        if kind is not None:
            node.append("expressions", make_literal(kind))
    if name == "replicate" and result is not None:
        node.append("expressions", exp.Literal.number(result.length))
    if name in return_types.RANGE_CHECKED_FUNCTIONS and kinds and kinds[0] is not None:
        if kinds[0].is_date_time or kinds[0] == GUID:
            raise SqlError(8116, kinds[0].name, 1, name)
        binder.convert(node, result, source=FLOAT if name == "power" else None)
        return result
    return _fit_declared_type(binder, node, result)


_BIT_FUNCTIONS: Final = dict.fromkeys(("left_shift", "right_shift", "get_bit"), (2,)) | {
    "bit_count": (1,),
    "set_bit": (2, 3),
}
_FUNCTIONS_WITH_TYPE: Final = {
    "dateadd": (3,),
    "datetrunc": (2,),
    "date_bucket": (3, 4),
    "switchoffset": (2,),
    "todatetimeoffset": (2,),
    **_BIT_FUNCTIONS,
}
"""Function that receives the type of its value as an extra argument -> argument counts allowed in T-SQL."""
_ARGUMENT_COUNTS: Final = {
    **_FUNCTIONS_WITH_TYPE,
    "datalength": (1,),
    "sql_variant_property": (2,),
    "replicate": (2,),
}
"""Function to which this module adds an argument -> argument counts allowed in T-SQL."""


def _add_variant_type(node: exp.Expr, kind: Kind) -> None:
    """Pass the type of the value to SQL_VARIANT_PROPERTY. Raises UnsimulatedFeatureError for an unknown type."""
    if kind is not None and kind.name == "sql_variant":
        if kind.base is None:
            raise UnsimulatedFeatureError("the type of a value in a sql_variant")
        kind = kind.base
    if node.expressions[1].name.lower() == "totalbytes":
        raise UnsimulatedFeatureError("SQL_VARIANT_PROPERTY of TotalBytes")
    if kind not in (None, NULL):
        node.append("expressions", make_literal(kind))


def _infer_parse(binder: Binder, node: exp.Expr) -> Kind:
    """Return the type of PARSE or TRY_PARSE, which the rewritten call names in its second argument.

    Raises 102 if AS is missing.
    """
    if len(node.expressions) < 2 or not node.expressions[1].is_string:
        raise SqlError(102, ")")
    binder.bind(node.expressions[0])
    return parse_written_type(exp.Var(this=node.expressions[1].name))


def _infer_iif(binder: Binder, node: exp.Expr) -> Kind:
    if len(node.expressions) != 3:
        return binder.bind_parts(node)
    if all(isinstance(value, exp.Null) for value in node.expressions[1:]):
        raise SqlError(8133)
    binder.bind(node.expressions[0])
    return convert_to_common_type(binder, list(node.expressions[1:]))


def _infer_choose(binder: Binder, node: exp.Expr) -> Kind:
    if len(node.expressions) < 2:
        return binder.bind_parts(node)
    binder.bind(node.expressions[0])
    return convert_to_common_type(binder, list(node.expressions[1:]))


def _infer_extreme_argument(binder: Binder, node: exp.Expr) -> Kind:
    """Return the type of GREATEST or LEAST: the one with the highest precedence. Convert all arguments."""
    kinds = [binder.bind(value) for value in list(node.expressions)]
    for index, kind in enumerate(kinds, 1):
        if kind is not None and kind.name in return_types.UNORDERED_TYPES:
            raise SqlError(8116, kind.name, index, str(node.this).lower())
    return convert_to_common_type(binder, list(node.expressions))


def _infer_isnull(binder: Binder, node: exp.Expr) -> Kind:
    """Return the type of ISNULL: that of the first argument. Convert and truncate the second one."""
    if len(node.expressions) != 2:
        return binder.bind_parts(node)
    first_sql_type, second = (binder.bind(value) for value in list(node.expressions))
    if first_sql_type == NULL or first_sql_type is None:
        return second if first_sql_type == NULL else None
    if second is not None and second not in (NULL, first_sql_type):
        check_conversion(second, first_sql_type, explicit=False)
        suffix = (exp.Null(), make_literal(second))
        wrap_in_call(node.expressions[1], "convert", make_literal(first_sql_type), suffix=suffix)
    return first_sql_type


_SPECIAL_RULES: Final[dict[str, TypeRule]] = {
    "parse": _infer_parse,
    "try_parse": _infer_parse,
    "iif": _infer_iif,
    "choose": _infer_choose,
    "isnull": _infer_isnull,
    "greatest": _infer_extreme_argument,
    "least": _infer_extreme_argument,
    "json_object_text": for_json_and_xml.infer_constructor,
    "json_array_text": for_json_and_xml.infer_constructor,
    **conversions.TYPE_RULES_BY_FUNCTION,
}
"""Function whose result type does not depend on its argument types alone -> rule for its type."""


def _infer_dot(binder: Binder, node: exp.Expr) -> Kind:
    """Return the type of an XML method, or of a function in another schema."""
    call = node.args.get("expression")
    if not isinstance(call, exp.Anonymous):
        return None
    name = str(call.this).lower()
    if XML_METHODS.get(name) == len(call.expressions) and not isinstance(node.this, exp.Identifier):
        binder.bind(node.this)
    if name == "value" and len(call.expressions) == 2 and call.expressions[1].is_string:
        try:
            return _fit_declared_type(binder, node, parse_sql_type(str(call.expressions[1].name)))
        except SqlError:
            return None
    if name in ("exist", "query"):
        return BIT if name == "exist" else SqlType("xml")
    for value in list(call.expressions):
        binder.bind(value)
    return None


def _infer_collate(binder: Binder, node: exp.Expr) -> Kind:
    name = str(node.expression.name)
    if name.upper() not in conversions.DEFAULT_COLLATIONS and _COLLATION_NAME_PATTERN.fullmatch(name) is None:
        raise SqlError(448, name)
    if isinstance(node.this, exp.Add):  # sqlglot parses a + b COLLATE c as (a + b) COLLATE c
        last_collate = exp.Collate(this=node.this.expression, expression=node.expression)
        return binder.bind(node.replace(exp.Add(this=node.this.this, expression=last_collate)))
    return binder.bind(node.this)


_COLLATION_NAME_PATTERN: Final = re.compile(
    r"\w{2,60}_(?:BIN2?|C[IS]_A[IS](?:_KS)?(?:_WS)?(?:_SC)?(?:_VSS)?(?:_UTF8)?)", re.IGNORECASE
)
"""Pattern of collation names. Documented [DOC: Windows collation name]."""


def _infer_exists(binder: Binder, node: exp.Expr) -> Kind:
    binder.bind_subquery(node.this)
    return BIT


def _infer_logical(binder: Binder, node: exp.Expr) -> Kind:
    """Bind the operands of AND and OR, and return the type of the result.

    A loop processes the operands, because generated queries can have hundreds of them.
    """
    parts: list[exp.Expr] = []
    while isinstance(node, exp.And | exp.Or):
        parts.append(node.args["expression"])
        node = node.this
    parts.append(node)
    for part in reversed(parts):
        binder.bind(part)
    return BIT


TYPE_RULES_BY_NODE: Final[dict[type[exp.Expr], TypeRule]] = {
    exp.Literal: _infer_literal,
    exp.National: _infer_national,
    exp.HexString: _infer_hex,
    exp.Null: lambda binder, node: NULL,
    exp.Column: _infer_column,
    exp.Parameter: _infer_parameter,
    exp.Paren: _infer_paren,
    exp.Subquery: _infer_subquery,
    exp.Neg: _infer_negative,
    exp.BitwiseNot: _infer_inverse,
    **dict.fromkeys(_SIGNS, _infer_arithmetic),
    **dict.fromkeys((exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE), _infer_comparison),
    exp.And: _infer_logical,
    exp.Or: _infer_logical,
    exp.In: _infer_in,
    exp.Between: _infer_between,
    exp.Like: _infer_like,
    exp.Exists: _infer_exists,
    exp.Cast: _infer_convert,
    exp.TryCast: _infer_convert,
    exp.Convert: _infer_convert,
    exp.Case: _infer_case,
    exp.Coalesce: _infer_coalesce,
    exp.Nullif: _infer_nullif,
    **conversions.AGGREGATE_RULES_BY_NODE,
    exp.Anonymous: _infer_call,
    exp.Dot: _infer_dot,
    exp.Collate: _infer_collate,
}
"""Node class -> rule for its type. For other classes, only the parts are bound, and the type is unknown."""
