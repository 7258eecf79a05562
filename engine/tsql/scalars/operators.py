"""Arithmetic and bitwise operators of T-SQL: `+ - * / % & | ^ ~`. The result has the type of the expression.

Sources: [DOC: precision, scale, and length], [DOC: + (addition); / (divide); & (bitwise AND)].
"""

import math
from collections.abc import Callable
from datetime import datetime
from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, ROUND_HALF_UP, Decimal
from typing import Final

from engine import arithmetic
from engine.messages import SqlError
from engine.tsql.query.plans import UnsimulatedFeatureError
from engine.tsql.scalars import date_values, types
from engine.tsql.scalars.date_values import EPOCH, TICKS_PER_DAY
from engine.tsql.scalars.types import (
    DECIMALS,
    INT_RANGES,
    MONEYS,
    UNLIMITED_LENGTH,
    WIDE_TEXTS,
    SqlType,
    parse_sql_type,
)
from engine.tsql.scalars.values import (
    WIDE_DECIMAL_CONTEXT,
    Scalar,
    check_finite,
    check_text_limit,
    convert_to_date,
    convert_to_datetime,
    convert_value,
    is_plain_text,
    is_stored_date,
    propagate_null,
    round_to_decimal,
    round_to_money,
    store_date,
    store_datetime,
    to_decimal,
    to_integer,
    to_number,
    to_text,
)

# --- with a known type --------------------------------------------------------------------------------------


def compute_operation(operator: Scalar, kind: Scalar, a: Scalar, b: Scalar) -> Scalar:
    """Evaluate *a* *operator* *b* in the type *kind*.

    Raises 8115 if the result exceeds the type, 8134 for a division by 0.
    """
    if a is None or b is None:
        return None
    type_ = parse_sql_type(str(kind))
    if type_.is_integer:
        return _calculate_integer(
            str(operator), type_.name, _convert_to_int(a, type_), _convert_to_int(b, type_)
        )
    if type_.name in DECIMALS or type_.name in MONEYS:
        return _compute_exactly(str(operator), type_, a, b)
    if type_.is_date_time:
        return _add_days(str(operator), type_, a, b)
    if type_.name == "real":
        return _calculate_single(str(operator), float(to_number(a, "float")), float(to_number(b, "float")))
    return _compute_float(str(operator), float(to_number(a, "float")), float(to_number(b, "float")))


def _convert_to_int(value: Scalar, kind: SqlType) -> int:
    if isinstance(value, int):
        return value
    return int(convert_value(value, SqlType("int" if kind.name != "bigint" else "bigint")) or 0)


def _calculate_integer(operator: str, name: str, a: int, b: int) -> int:
    if operator in "/%" and not b:
        raise SqlError(8134)
    result = _INTEGER_OPERATORS[operator](a, b)
    low, high = INT_RANGES[name]
    if not low <= result <= high:
        raise SqlError(8115, "expression", name)
    return result


def _divide_integers(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _compute_remainder(a: int, b: int) -> int:
    rest_value = abs(a) % abs(b)
    return rest_value if a >= 0 else -rest_value


_INTEGER_OPERATORS: Final[dict[str, Callable[[int, int], int]]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _divide_integers,
    "%": _compute_remainder,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
}


def _compute_exactly(operator: str, kind: SqlType, a: Scalar, b: Scalar) -> Scalar:
    """Compute with decimals or money.

    Quotients are truncated to the scale of the type, other results are rounded.
    """
    left, right = _convert_to_decimal(a, kind), _convert_to_decimal(b, kind)
    if operator in "/%" and not right:
        raise SqlError(8134)
    if operator == "%":
        result = WIDE_DECIMAL_CONTEXT.remainder(left, right)
    else:
        result = _DECIMAL_OPERATORS[operator](left, right)
    if kind.name in MONEYS:
        return round_to_money(result, kind, cut=operator == "/")
    return round_to_decimal(result, kind, "expression", cut=operator == "/")


def _convert_to_decimal(value: Scalar, kind: SqlType) -> Decimal:
    return to_decimal(convert_value(value, kind) if kind.name in MONEYS and is_plain_text(value) else value)


_DECIMAL_OPERATORS: Final[dict[str, Callable[[Decimal, Decimal], Decimal]]] = {
    "+": WIDE_DECIMAL_CONTEXT.add,
    "-": WIDE_DECIMAL_CONTEXT.subtract,
    "*": WIDE_DECIMAL_CONTEXT.multiply,
    "/": WIDE_DECIMAL_CONTEXT.divide,
}


def _compute_float(operator: str, a: float, b: float) -> float:
    if operator in "/%" and not b:
        raise SqlError(8134)
    try:
        result: float | None = {"+": a + b, "-": a - b, "*": a * b}.get(operator)
        if result is None:
            result = a / b if operator == "/" else arithmetic.compute_remainder(a, b)
    except OverflowError:
        raise SqlError(8115, "expression", "float") from None
    return float(check_finite(result))


def _calculate_single(operator: str, a: float, b: float) -> float:
    """Compute in single precision. Both operands are converted to real first [DOC: data type precedence]."""
    try:
        return types.round_to_single(
            _compute_float(operator, types.round_to_single(a), types.round_to_single(b))
        )
    except OverflowError:
        raise SqlError(8115, "expression", "real") from None


def _add_days(operator: str, kind: SqlType, a: Scalar, b: Scalar) -> Scalar:
    """Add or subtract two date values, each counted in days since 1900.

    Raises 517 if the result is out of range.
    """
    first, second = (convert_to_date(value).total - EPOCH * TICKS_PER_DAY for value in (a, b))
    total = (first + second if operator == "+" else first - second) + EPOCH * TICKS_PER_DAY
    if not TICKS_PER_DAY <= total < (date_values.LAST_DAY + 1) * TICKS_PER_DAY:
        raise SqlError(517, kind.name)
    return store_date(date_values.convert_to_date_type(date_values.build_from_total(total), kind), kind)


def concatenate_values(kind: Scalar, *parts: Scalar) -> Scalar:
    """Concatenate texts or binary values, up to the maximum length of *kind*; NULL if any part is NULL."""
    if any(part is None for part in parts):
        return None
    type_ = parse_sql_type(str(kind))
    size = None if type_.length == UNLIMITED_LENGTH else 4000 if type_.name in WIDE_TEXTS else 8000
    if type_.is_binary:
        return b"".join(part if isinstance(part, bytes) else b"" for part in parts)[:size]
    return check_text_limit("".join(map(to_text, parts))[:size])


def concatenate_ignoring_null(kind: Scalar, *parts: Scalar) -> Scalar:
    """Concatenate with CONCAT_NULL_YIELDS_NULL OFF: NULL counts as an empty text. Documented."""
    empty = b"" if parse_sql_type(str(kind)).is_binary else ""
    return concatenate_values(kind, *(empty if part is None else part for part in parts))


def invert_bits(kind: Scalar, value: Scalar) -> Scalar:
    """Evaluate `~value` in the type *kind*."""
    if value is None:
        return None
    name = str(kind)
    number = int(to_number(value))
    if name == "bit":
        return int(not number)
    return 255 - number if name == "tinyint" else ~number


def negate_value(kind: Scalar, value: Scalar) -> Scalar:
    """Evaluate `-value` in the type *kind*."""
    return None if value is None else compute_operation("-", kind, 0, value)


# --- with an unknown type -----------------------------------------------------------------------------------


def _add_untyped_pair(a: Scalar, b: Scalar) -> Scalar:
    if a is None or b is None:
        return None
    if is_stored_date(a) or is_stored_date(b):
        return store_datetime(convert_to_datetime(a) + (convert_to_datetime(b) - datetime(1900, 1, 1)))
    if is_plain_text(a) and is_plain_text(b):
        return check_text_limit(a + b)
    return _check_bigint(_convert_to_number(a, b) + _convert_to_number(b, a))


def add_untyped_values(first_value: Scalar, *others: Scalar) -> Scalar:
    """Evaluate `a + b + c …` from left to right, for values of unknown types."""
    total = first_value
    for value in others:
        total = _add_untyped_pair(total, value)
    return total


def _subtract(a: Scalar, b: Scalar) -> Scalar:
    if a is None or b is None:
        return None
    if is_stored_date(a) or is_stored_date(b):
        return store_datetime(convert_to_datetime(a) - (convert_to_datetime(b) - datetime(1900, 1, 1)))
    return _check_bigint(_convert_to_number(a, b) - _convert_to_number(b, a))


def _multiply(a: Scalar, b: Scalar) -> Scalar:
    return (
        None if a is None or b is None else _check_bigint(_convert_to_number(a, b) * _convert_to_number(b, a))
    )


def _divide(a: Scalar, b: Scalar) -> Scalar:
    if a is None or b is None:
        return None
    left, right = _convert_to_number(a, b), _convert_to_number(b, a)
    if right == 0:
        raise SqlError(8134)
    return _divide_integers(left, right) if isinstance(left, int) and isinstance(right, int) else left / right


def _compute_modulo(a: Scalar, b: Scalar) -> Scalar:
    if a is None or b is None:
        return None
    left, right = _convert_to_number(a, b), _convert_to_number(b, a)
    if right == 0:
        raise SqlError(8134)
    rest_value = abs(left) % abs(right)
    return rest_value if left >= 0 else -rest_value


def _make_bit_operator(operator: str) -> Callable[[Scalar, Scalar], Scalar]:
    def apply_operator(a: Scalar, b: Scalar) -> Scalar:
        return (
            None
            if a is None or b is None
            else _INTEGER_OPERATORS[operator](int(to_number(a)), int(to_number(b)))
        )

    return apply_operator


def _convert_to_number(value: Scalar, other_value: Scalar) -> int | float:
    return to_number(value, "numeric" if isinstance(other_value, float) else "int")


def _check_bigint(number: int | float) -> int | float:
    if isinstance(number, int) and not -(2**63) <= number < 2**63:
        raise SqlError(8115, "expression", "bigint")
    return number


# --- mathematical functions: ROUND, POWER, LOG, SQRT and others
# ----------------------------------------------


def _build_numeric_function(function: Callable[[float], int | float]) -> Callable[[Scalar], Scalar]:
    return propagate_null(lambda value: function(to_number(value, "float")))


def _make_exact_function(
    function: Callable[[Decimal], Decimal], float_function: Callable[[float], int | float]
) -> Callable[[Scalar], Scalar]:
    """Build a function that calls *function* for stored decimals, and *float_function* for other numbers."""

    @propagate_null
    def call(value: Scalar) -> Scalar:
        if types.is_encoded_decimal(value):
            return types.encode_decimal(function(types.decode_decimal(value)))
        return float_function(to_number(value, "float"))

    return call


def _build_math_function(function: Callable[[float], float]) -> Callable[[Scalar], Scalar]:
    @propagate_null
    def call(value: Scalar) -> Scalar:
        try:
            return function(float(to_number(value, "float")))
        except OverflowError:
            raise SqlError(8115, "expression", "float") from None
        except (ValueError, ZeroDivisionError):
            raise SqlError(3623) from None

    return call


@propagate_null
def _evaluate_log(value: Scalar, base: Scalar = math.e) -> Scalar:
    try:
        logarithm = arithmetic.log(float(to_number(value, "float")))
        return logarithm / arithmetic.log(float(to_number(base, "float")))
    except (ValueError, ZeroDivisionError):
        raise SqlError(3623) from None


@propagate_null
def _evaluate_round(value: Scalar, digit_count: Scalar, cut: Scalar = 0) -> Scalar:
    """Evaluate ROUND: round half away from zero, or truncate if *cut* is not 0. Documented [DOC: ROUND]."""
    digits = max(-38, min(38, to_integer(digit_count)))
    rounding = ROUND_DOWN if to_integer(cut) else ROUND_HALF_UP
    rounded = to_decimal(value).quantize(Decimal(1).scaleb(-digits), rounding, WIDE_DECIMAL_CONTEXT)
    if types.is_encoded_decimal(value):
        return types.encode_decimal(rounded)
    return int(rounded) if isinstance(to_number(value, "float"), int) else float(rounded)


@propagate_null
def _evaluate_power(base: Scalar, exponent: Scalar) -> Scalar:
    number = to_number(base, "float")
    try:
        result = arithmetic.raise_to_power(float(number), float(to_number(exponent, "float")))
        return type(number)(result) if abs(result) < 2**53 else result
    except (ZeroDivisionError, ValueError):
        raise SqlError(3623) from None
    except OverflowError:
        raise SqlError(8115, "expression", "float") from None


def _get_sign(value: float) -> int:
    return (value > 0) - (value < 0)


# -- bits [DOC: bit manipulation functions]

_INTEGER_BITS: Final = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}


def _read_bits(value: Scalar, kind: Scalar) -> tuple[int, int]:
    """Return the bits of *value* as an unsigned number, and the number of bits."""
    if isinstance(value, bytes):
        return int.from_bytes(value, "big"), 8 * len(value)
    width = _INTEGER_BITS.get(str(kind), 32 if abs(to_integer(value)) < 2**31 else 64)
    return to_integer(value) % (1 << width), width


def _write_bits(bits: int, width: int, template: Scalar) -> Scalar:
    """Convert *bits* to binary if *template* is binary, else to a signed integer.

    *width*: number of bits. An integer of at most 8 bits has no sign.
    """
    if isinstance(template, bytes):
        return bits.to_bytes(width // 8, "big")
    return bits - (1 << width) if width > 8 and bits >> (width - 1) else bits


def _build_shift(operator: int) -> Callable[..., Scalar]:
    """Build LEFT_SHIFT (1) or RIGHT_SHIFT (-1). Both fill with zero bits."""

    def shift(value: Scalar, amount: Scalar, kind: Scalar = "") -> Scalar:
        bits, width = _read_bits(value, kind)
        bit_count = to_integer(amount) * operator
        shifted_bits = (
            0 if abs(bit_count) >= width else bits << bit_count if bit_count > 0 else bits >> -bit_count
        )
        return _write_bits(shifted_bits % (1 << width), width, value)

    return shift


def _check_offset(offset: int, width: int) -> None:
    if not 0 <= offset < width:
        raise UnsimulatedFeatureError("a bit offset outside of the value")


def evaluate_get_bit(value: Scalar, offset: Scalar, kind: Scalar = "") -> Scalar:
    """Evaluate GET_BIT: the bit at *offset*."""
    bits, width = _read_bits(value, kind)
    _check_offset(to_integer(offset), width)
    return bits >> to_integer(offset) & 1


def evaluate_set_bit(value: Scalar, offset: Scalar, state: Scalar = 1, kind: Scalar = "") -> Scalar:
    """Evaluate SET_BIT: the value with the bit at *offset* set to *state*."""
    bits, width = _read_bits(value, kind)
    _check_offset(to_integer(offset), width)
    if state not in (0, 1):
        raise UnsimulatedFeatureError("a bit value other than 0 and 1")
    cleared = bits & ~(1 << to_integer(offset))
    return _write_bits(cleared | to_integer(state) << to_integer(offset), width, value)


BIT_FUNCTIONS: Final[dict[str, Callable[..., Scalar]]] = {
    "bit_count": propagate_null(lambda value, kind="": _read_bits(value, kind)[0].bit_count()),
    "left_shift": propagate_null(_build_shift(1)),
    "right_shift": propagate_null(_build_shift(-1)),
    "get_bit": propagate_null(evaluate_get_bit),
    "set_bit": propagate_null(evaluate_set_bit),
}


FUNCTIONS: Final[dict[str, Callable[..., Scalar]]] = {
    **BIT_FUNCTIONS,
    "operate": compute_operation,
    "joined": concatenate_values,
    "pasted": concatenate_ignoring_null,
    "inverted": invert_bits,
    "negated": negate_value,
    "add": add_untyped_values,
    "sub": _subtract,
    "mul": _multiply,
    "div": _divide,
    "mod": _compute_modulo,
    "and": _make_bit_operator("&"),
    "or": _make_bit_operator("|"),
    "xor": _make_bit_operator("^"),
    "abs": _make_exact_function(Decimal.copy_abs, abs),
    "sign": _build_numeric_function(_get_sign),
    "floor": _make_exact_function(lambda value: value.to_integral_value(ROUND_FLOOR), math.floor),
    "ceiling": _make_exact_function(lambda value: value.to_integral_value(ROUND_CEILING), math.ceil),
    "sqrt": _build_math_function(math.sqrt),
    "square": _build_numeric_function(lambda value: value * value),
    "round": _evaluate_round,
    "power": _evaluate_power,
    "log": _evaluate_log,
    "log10": _build_math_function(arithmetic.log10),
    "exp": _build_math_function(arithmetic.exp),
    "sin": _build_math_function(arithmetic.sin),
    "cos": _build_math_function(arithmetic.cos),
    "tan": _build_math_function(arithmetic.tan),
    "asin": _build_math_function(arithmetic.asin),
    "acos": _build_math_function(arithmetic.acos),
    "atan": _build_math_function(arithmetic.atan),
    "atn2": propagate_null(
        lambda y, x: arithmetic.atan2(float(to_number(y, "float")), float(to_number(x, "float")))
    ),
    "cot": _build_math_function(lambda value: 1 / arithmetic.tan(value)),
    "degrees": _build_math_function(math.degrees),
    "radians": _build_math_function(math.radians),
    "pi": lambda: math.pi,
}
