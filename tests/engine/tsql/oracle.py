"""Second implementation of T-SQL expressions for comparison, without code of the engine.

Values are Python's: int, Decimal, str, None for NULL; every expression has a type. Conditions are True, False
or None. Sources: data type precedence; precision, scale, and length; CASE; ISNULL; COALESCE; LIKE; =
(equals); AVG; SUM.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_DOWN, ROUND_HALF_UP, Context, Decimal
from typing import Any

Value = int | Decimal | str | None
Row = Mapping[str, Value]
UNLIMITED_CONTEXT = Context(prec=120)


@dataclass(frozen=True)
class Type:
    """Type of an expression: int, decimal or varchar."""

    name: str
    precision: int = 0
    scale: int = 0
    length: int = 0

    @property
    def rank(self) -> int:
        return ("varchar", "int", "decimal").index(self.name)


INT = Type("int")


def build_decimal(precision: int, scale: int) -> Type:
    if precision > 38:
        scale = max(min(scale, 6), 38 - (precision - scale))
        precision = 38
    return Type("decimal", precision, scale)


def build_varchar(length: int) -> Type:
    return Type("varchar", length=max(1, length))


@dataclass(frozen=True)
class Expression:
    """T-SQL text, its type, and a function that evaluates it for a row."""

    text: str
    type: Type
    value: Callable[[Row], Value]


@dataclass(frozen=True)
class Condition:
    text: str
    holds: Callable[[Row], bool | None]


class NoAnswerError(Exception):
    """Error for an expression that has no comparable value: it fails, or its precision is not supported."""


# --- types -------------------------------------------------------------------------------------------------


def get_digits(kind: Type) -> tuple[int, int]:
    return (10, 0) if kind == INT else (kind.precision, kind.scale)


def find_common_type(kinds: Sequence[Type]) -> Type:
    """Return the type with the highest precedence, wide enough for the values of all *kinds*."""
    top = max(kinds, key=lambda kind: kind.rank)
    if top.name == "varchar":
        return build_varchar(max(kind.length for kind in kinds))
    if top.name == "decimal":
        pairs = [get_digits(kind) for kind in kinds if kind.name != "varchar"]
        scale = max(s for _, s in pairs)
        return build_decimal(max(p - s for p, s in pairs) + scale, scale)
    return INT


def convert_value(value: Value, target: Type) -> Value:
    if value is None:
        return None
    if target.name == "varchar":
        return format_value(value)[: target.length]
    if isinstance(value, str):
        if not re.fullmatch(r"-?\d+", value.strip()):
            raise NoAnswerError
        value = int(value)
    if target == INT:
        return int(value)
    return round_number(Decimal(value), target, ROUND_HALF_UP)


def round_number(number: Decimal, target: Type, rounding: str) -> Decimal:
    rounded = number.quantize(Decimal(1).scaleb(-target.scale), rounding, UNLIMITED_CONTEXT)
    if len(rounded.as_tuple().digits) > 15 or abs(rounded) >= Decimal(10) ** (
        target.precision - target.scale
    ):
        raise NoAnswerError
    return rounded


def format_value(value: Value) -> str:
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


# --- expressions -------------------------------------------------------------------------------------------


def build_literal(value: Value, kind: Type) -> Expression:
    if value is None:
        type_text = {"int": "int", "varchar": f"varchar({kind.length})"}.get(
            kind.name, f"decimal({kind.precision}, {kind.scale})"
        )
        return Expression(f"CAST(NULL AS {type_text})", kind, lambda row: None)
    if isinstance(value, str):
        return Expression("'" + value.replace("'", "''") + "'", kind, lambda row: value)
    if isinstance(value, Decimal):
        return Expression(
            f"CAST('{value:f}' AS decimal({kind.precision}, {kind.scale}))", kind, lambda row: value
        )
    return Expression(f"CAST({value} AS int)", kind, lambda row: value)


def build_column(name: str, kind: Type) -> Expression:
    return Expression(name, kind, lambda row: row[name])


def build_arithmetic(sign: str, left_operand: Expression, right_operand: Expression) -> Expression:
    """Return the arithmetic expression of two numbers. The result of two integers is an integer."""
    if "decimal" not in (left_operand.type.name, right_operand.type.name):
        kind = INT
    else:
        (p1, s1), (p2, s2) = get_digits(left_operand.type), get_digits(right_operand.type)
        kind = {
            "+": lambda: build_decimal(max(s1, s2) + max(p1 - s1, p2 - s2) + 1, max(s1, s2)),
            "-": lambda: build_decimal(max(s1, s2) + max(p1 - s1, p2 - s2) + 1, max(s1, s2)),
            "*": lambda: build_decimal(p1 + p2 + 1, s1 + s2),
            "/": lambda: build_decimal(p1 - s1 + s2 + max(6, s1 + p2 + 1), max(6, s1 + p2 + 1)),
        }[sign]()

    def compute_value(row: Row) -> Value:
        x, y = left_operand.value(row), right_operand.value(row)
        if x is None or y is None:
            return None
        left, right = Decimal(x), Decimal(y)
        if sign == "/" and not right:
            raise NoAnswerError
        work = {
            "+": UNLIMITED_CONTEXT.add,
            "-": UNLIMITED_CONTEXT.subtract,
            "*": UNLIMITED_CONTEXT.multiply,
            "/": UNLIMITED_CONTEXT.divide,
        }[sign]
        exact = work(left, right)
        if kind == INT:
            whole_part = int(exact.to_integral_value(ROUND_DOWN))
            if not -(2**31) <= whole_part < 2**31:
                raise NoAnswerError
            return whole_part
        return round_number(exact, kind, ROUND_DOWN if sign == "/" else ROUND_HALF_UP)

    return Expression(f"({left_operand.text} {sign} {right_operand.text})", kind, compute_value)


def build_concatenation(left_operand: Expression, right_operand: Expression) -> Expression:
    def value(row: Row) -> Value:
        x, y = left_operand.value(row), right_operand.value(row)
        return None if x is None or y is None else str(x) + str(y)

    return Expression(
        f"({left_operand.text} + {right_operand.text})",
        build_varchar(left_operand.type.length + right_operand.type.length),
        value,
    )


def build_case(branches: Sequence[tuple[Condition, Expression]], default: Expression) -> Expression:
    kind = find_common_type([default.type, *(branch.type for _, branch in branches)])

    def value(row: Row) -> Value:
        for condition, branch in branches:
            if condition.holds(row):
                return convert_value(branch.value(row), kind)
        return convert_value(default.value(row), kind)

    branch_texts = " ".join(f"WHEN {condition.text} THEN {branch.text}" for condition, branch in branches)
    return Expression(f"CASE {branch_texts} ELSE {default.text} END", kind, value)


def build_isnull(a: Expression, replacement: Expression) -> Expression:
    """Return ISNULL(a, b), which has the type of *a*."""

    def value(row: Row) -> Value:
        first = a.value(row)
        return convert_value(replacement.value(row), a.type) if first is None else first

    return Expression(f"ISNULL({a.text}, {replacement.text})", a.type, value)


def build_coalesce(parts: Sequence[Expression]) -> Expression:
    kind = find_common_type([part.type for part in parts])

    def value(row: Row) -> Value:
        value = next((v for v in (part.value(row) for part in parts) if v is not None), None)
        return convert_value(value, kind)

    return Expression(f"COALESCE({', '.join(part.text for part in parts)})", kind, value)


# --- conditions --------------------------------------------------------------------------------------------


def build_key(value: Value) -> Any:
    """Return a key that equal values share. Texts compare without case and trailing blanks."""
    return value.rstrip(" ").lower() if isinstance(value, str) else value


def build_comparison(sign: str, left_operand: Expression, right_operand: Expression) -> Condition:
    kind = find_common_type([left_operand.type, right_operand.type])

    def holds(row: Row) -> bool | None:
        x, y = convert_value(left_operand.value(row), kind), convert_value(right_operand.value(row), kind)
        if x is None or y is None:
            return None
        left, right = build_key(x), build_key(y)
        return bool(
            {
                "=": left == right, "<>": left != right, "<": left < right, "<=": left <= right,
                ">": left > right, ">=": left >= right,
            }[sign]
        )  # fmt: skip

    return Condition(f"{left_operand.text} {sign} {right_operand.text}", holds)


def build_is_null(operand: Expression, negated: bool) -> Condition:
    return Condition(
        f"{operand.text} IS {'NOT ' if negated else ''}NULL",
        lambda row: (operand.value(row) is None) != negated,
    )


def build_in(operand: Expression, parts: Sequence[Expression], negated: bool) -> Condition:
    equality = build_disjunction([build_comparison("=", operand, part) for part in parts])
    text = f"{operand.text} {'NOT ' if negated else ''}IN ({', '.join(part.text for part in parts)})"
    return Condition(text, (lambda row: negate_truth(equality.holds(row))) if negated else equality.holds)


def build_between(operand: Expression, low: Expression, high: Expression) -> Condition:
    bounds = build_conjunction([build_comparison(">=", operand, low), build_comparison("<=", operand, high)])
    return Condition(f"{operand.text} BETWEEN {low.text} AND {high.text}", bounds.holds)


def build_like(operand: Expression, pattern: str) -> Condition:
    """Return the condition `a LIKE pattern`: % any text, _ one character, [a-c] one of these, [^a] any other."""
    regex, place = "", 0
    while place < len(pattern):
        sign = pattern[place]
        end = pattern.find("]", place + 1) if sign == "[" else -1
        if end > place:
            regex += pattern[place : end + 1]
            place = end
        else:
            regex += {"%": ".*", "_": "."}.get(sign, re.escape(sign))
        place += 1
    expression = re.compile(regex, re.IGNORECASE | re.DOTALL)

    def holds(row: Row) -> bool | None:
        value = operand.value(row)
        return None if value is None else expression.fullmatch(str(value)) is not None

    return Condition(f"{operand.text} LIKE '{pattern}'", holds)


def negate_truth(value: bool | None) -> bool | None:
    return None if value is None else not value


def build_negation(operand: Condition) -> Condition:
    return Condition(f"NOT ({operand.text})", lambda row: negate_truth(operand.holds(row)))


def build_conjunction(parts: Sequence[Condition]) -> Condition:
    def holds(row: Row) -> bool | None:
        truths = [part.holds(row) for part in parts]
        return False if False in truths else None if None in truths else True

    return Condition(" AND ".join(f"({part.text})" for part in parts), holds)


def build_disjunction(parts: Sequence[Condition]) -> Condition:
    def holds(row: Row) -> bool | None:
        truths = [part.holds(row) for part in parts]
        return True if True in truths else None if None in truths else False

    return Condition(" OR ".join(f"({part.text})" for part in parts), holds)


# --- aggregates --------------------------------------------------------------------------------------------


def compute_aggregate(name: str, values: Sequence[Value], kind: Type) -> Value:
    """Return COUNT, SUM, AVG, MIN or MAX of the non-NULL values. Without such values, COUNT is 0 and the
    others are NULL.
    """
    non_null_values = [value for value in values if value is not None]
    if name == "COUNT":
        return len(non_null_values)
    if not non_null_values:
        return None
    if name in ("MIN", "MAX"):
        return (min if name == "MIN" else max)(non_null_values, key=build_key)
    total = sum((Decimal(value) for value in non_null_values), Decimal(0))
    if kind == INT:
        whole_total = int(total)
        if not -(2**31) <= whole_total < 2**31:
            raise NoAnswerError
        return (
            whole_total
            if name == "SUM"
            else int((Decimal(whole_total) / len(non_null_values)).to_integral_value(ROUND_DOWN))
        )
    if name == "SUM":
        return round_number(total, Type("decimal", 38, kind.scale), ROUND_HALF_UP)
    return round_number(
        UNLIMITED_CONTEXT.divide(total, Decimal(len(non_null_values))),
        Type("decimal", 38, max(kind.scale, 6)),
        ROUND_DOWN,
    )
