"""Mathematical functions: ROUND, POWER, LOG, SQRT and others."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, ROUND_HALF_UP, Decimal
from typing import Final

from engine import arithmetic
from engine.messages import SqlError
from engine.tsql.scalars import decimals
from engine.tsql.scalars.values import ANY_DIGITS, Scalar, exact, strict, to_integer, to_number


def _numeric(function: Callable[[float], int | float]) -> Callable[[Scalar], Scalar]:
    return strict(lambda value: function(to_number(value, "float")))


def _make_exact_function(
    function: Callable[[Decimal], Decimal], simply: Callable[[float], int | float]
) -> Callable[[Scalar], Scalar]:
    """Return *function* for decimals, with all digits, and *simply* for other numbers."""

    @strict
    def call(value: Scalar) -> Scalar:
        if decimals.is_encoded_decimal(value):
            return decimals.encode_decimal(function(decimals.decode_decimal(value)))
        return simply(to_number(value, "float"))

    return call


def _mathematics(function: Callable[[float], float]) -> Callable[[Scalar], Scalar]:
    @strict
    def call(value: Scalar) -> Scalar:
        try:
            return function(float(to_number(value, "float")))
        except OverflowError:
            raise SqlError(8115, "expression", "float") from None
        except (ValueError, ZeroDivisionError):
            raise SqlError(3623) from None

    return call


@strict
def _log(value: Scalar, base: Scalar = math.e) -> Scalar:
    try:
        logarithm = arithmetic.log(float(to_number(value, "float")))
        return logarithm / arithmetic.log(float(to_number(base, "float")))
    except (ValueError, ZeroDivisionError):
        raise SqlError(3623) from None


@strict
def _round(value: Scalar, places: Scalar, cut: Scalar = 0) -> Scalar:
    """Return half away from zero; *cut* other than 0 cuts off instead. Documented [DOC: ROUND]."""
    digits = max(-38, min(38, to_integer(places)))
    how = ROUND_DOWN if to_integer(cut) else ROUND_HALF_UP
    rounded = exact(value).quantize(Decimal(1).scaleb(-digits), how, ANY_DIGITS)
    if decimals.is_encoded_decimal(value):
        return decimals.encode_decimal(rounded)
    return int(rounded) if isinstance(to_number(value, "float"), int) else float(rounded)


@strict
def _power(base: Scalar, exponent: Scalar) -> Scalar:
    number = to_number(base, "float")
    try:
        result = arithmetic.power(float(number), float(to_number(exponent, "float")))
        return type(number)(result) if abs(result) < 2**53 else result
    except (ZeroDivisionError, ValueError):
        raise SqlError(3623) from None
    except OverflowError:
        raise SqlError(8115, "expression", "float") from None


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)


FUNCTIONS: Final[dict[str, Callable[..., Scalar]]] = {
    "abs": _make_exact_function(Decimal.copy_abs, abs),
    "sign": _numeric(_sign),
    "floor": _make_exact_function(lambda value: value.to_integral_value(ROUND_FLOOR), math.floor),
    "ceiling": _make_exact_function(lambda value: value.to_integral_value(ROUND_CEILING), math.ceil),
    "sqrt": _mathematics(math.sqrt),
    "square": _numeric(lambda value: value * value),
    "round": _round,
    "power": _power,
    "log": _log,
    "log10": _mathematics(arithmetic.log10),
    "exp": _mathematics(arithmetic.exp),
    "sin": _mathematics(arithmetic.sin),
    "cos": _mathematics(arithmetic.cos),
    "tan": _mathematics(arithmetic.tan),
    "asin": _mathematics(arithmetic.asin),
    "acos": _mathematics(arithmetic.acos),
    "atan": _mathematics(arithmetic.atan),
    "atn2": strict(lambda y, x: arithmetic.atan2(float(to_number(y, "float")), float(to_number(x, "float")))),
    "cot": _mathematics(lambda value: 1 / arithmetic.tan(value)),
    "degrees": _mathematics(math.degrees),
    "radians": _mathematics(math.radians),
    "pi": lambda: math.pi,
}
"""Functions by their T-SQL names."""
