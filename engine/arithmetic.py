"""Sums, logarithms and similar functions with identical results on every processor, library and Python.

Floats are only added, subtracted, multiplied, divided and square-rooted, because IEEE 754 fixes the rounding
of these operations. `decimal` computes everything else, with more digits than a float has.
engine/fixed_point.py returns the same results faster. tests/engine/test_determinism.py forbids libm, the
built-in sum and locales in the engine.
"""

import math
from collections.abc import Callable, Iterable
from decimal import Context, Decimal
from typing import Final, TypeVar

from engine import fixed_point

_DECIMAL_CONTEXT: Final = Context(prec=40, Emin=-9_999, Emax=9_999)
_PI: Final = Decimal(
    "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798"
)
_ANGLE_MAX: Final = 1e30
"""Maximum angle. Above it, neighboring floats differ by more than a full turn, so a sine has no meaning."""


Number = TypeVar("Number", int, float)


def add_in_order(numbers: Iterable[Number]) -> Number:
    """Add the numbers from left to right.

    The built-in sum compensates for rounding errors since Python 3.12, so its result depends on the version.
    """
    running_sum: Number = 0
    for number in numbers:
        running_sum += number
    return running_sum


def add_exactly(numbers: Iterable[float]) -> float:
    """Return the sum with a single rounding at the end, so that it does not depend on the order."""
    whole_part, parts = 0, None
    for number in numbers:
        if isinstance(number, int):
            whole_part += number
        else:
            numerator, denominator = number.as_integer_ratio()
            parts = (parts or 0) + numerator * (_FLOAT_STEPS_PER_ONE // denominator)
    return whole_part if parts is None else (whole_part * _FLOAT_STEPS_PER_ONE + parts) / _FLOAT_STEPS_PER_ONE


_FLOAT_STEPS_PER_ONE: Final = 1 << 1074
"""Number of smallest float steps in 1.0: every float is a multiple of 1 / 2**1074."""


def compute_remainder(number: float, divisor: float) -> float:
    """Return the exact remainder of the division, with the sign of *number*.

    Raises ZeroDivisionError if *divisor* is 0.
    """
    numerator, denominator = number.as_integer_ratio()
    times, divisor_denominator = divisor.as_integer_ratio()
    remaining_numerator = (abs(numerator) * divisor_denominator) % (abs(times) * denominator)
    result = remaining_numerator / (denominator * divisor_denominator)
    return -result if number < 0.0 else result


def build_geometric_progression(low: float, high: float, count: int) -> tuple[float, ...]:
    """Return *count* numbers from *low* to *high* in geometric progression."""
    inner_numbers = (low * raise_to_power(high / low, index / (count - 1)) for index in range(1, count - 1))
    return (low, *inner_numbers, high)


def exp(x: float) -> float:
    """Return e to the power of *x*. Raises OverflowError if the result exceeds a float."""
    if abs(x) <= fixed_point.EXP_MAX and (result := fixed_point.exp(x)) is not None:
        return result
    if not math.isfinite(x):
        return 0.0 if x < 0 else x
    if x < -800.0:
        return 0.0
    if x > 800.0:
        raise OverflowError("math range error")
    return _to_float(_DECIMAL_CONTEXT.exp(Decimal(x)))


def log(x: float) -> float:
    """Return the natural logarithm. Raises ValueError unless *x* is positive."""
    if 1.0 / fixed_point.LOG_MAX <= x <= fixed_point.LOG_MAX and (result := fixed_point.log(x)) is not None:
        return result
    return float(_DECIMAL_CONTEXT.ln(_require_positive(x)))


def log1p(x: float) -> float:
    """Return the natural logarithm of 1 + *x*."""
    return float(_DECIMAL_CONTEXT.ln(_DECIMAL_CONTEXT.add(1, Decimal(x))))


def log10(x: float) -> float:
    """Return the decimal logarithm. Raises ValueError unless *x* is positive."""
    return float(_DECIMAL_CONTEXT.log10(_require_positive(x)))


def _require_positive(x: float) -> Decimal:
    if not x > 0.0 or not math.isfinite(x):
        raise ValueError("math domain error")
    return Decimal(x)


def raise_to_power(base: float, exponent: float) -> float:
    """Return *base* to the power of *exponent*.

    Raises ZeroDivisionError, ValueError or OverflowError if the result is undefined or too large.
    """
    if base == 0.0 and exponent < 0.0:
        raise ZeroDivisionError("0.0 cannot be raised to a negative power")
    if exponent == 0.0 or base == 1.0:
        return 1.0
    if base == 0.0:
        return 0.0
    is_integer = exponent.is_integer()
    if base < 0.0 and not is_integer:
        raise ValueError("math domain error")
    logarithm = _DECIMAL_CONTEXT.multiply(Decimal(exponent), _DECIMAL_CONTEXT.ln(Decimal(abs(base))))
    if logarithm < -800:
        return 0.0
    if logarithm > 800:
        raise OverflowError("math range error")
    result = _to_float(_DECIMAL_CONTEXT.exp(logarithm))
    return -result if base < 0.0 and exponent % 2.0 else result


def _to_float(number: Decimal) -> float:
    result = float(number)
    if math.isinf(result):
        raise OverflowError("math range error")
    return result


# --- angles ---------------------------------------------------------------------------------------------


def sin(x: float) -> float:
    """Return the sine. Raises ValueError for infinity and NaN."""
    return float(_compute_sine(_reduce_angle(x)))


def cos(x: float) -> float:
    """Return the cosine. Raises ValueError for infinity and NaN."""
    if abs(x) <= fixed_point.ANGLE_MAX and (result := fixed_point.cos(x)) is not None:
        return result
    return float(_compute_sine(_DECIMAL_CONTEXT.add(_reduce_angle(x), _PI / 2)))


def tan(x: float) -> float:
    """Return the tangent. Raises ValueError for infinity and NaN."""
    angle = _reduce_angle(x)
    return float(
        _DECIMAL_CONTEXT.divide(_compute_sine(angle), _compute_sine(_DECIMAL_CONTEXT.add(angle, _PI / 2)))
    )


def atan(x: float) -> float:
    """Return the arc tangent, between -pi/2 and pi/2."""
    return float(_compute_arc_tangent(Decimal(x)))


def atan2(y: float, x: float) -> float:
    """Return the angle of the point (x, y), between -pi and pi."""
    if x == 0.0:
        return float(_PI / 2) * ((y > 0) - (y < 0))
    angle = _compute_arc_tangent(_DECIMAL_CONTEXT.divide(Decimal(y), Decimal(x)))
    if x < 0.0:
        angle = _DECIMAL_CONTEXT.add(angle, _PI if y >= 0.0 else -_PI)
    return float(angle)


def asin(x: float) -> float:
    """Return the arc sine. Raises ValueError outside the range from -1 to 1."""
    if not -1.0 <= x <= 1.0:
        raise ValueError("math domain error")
    if abs(x) == 1.0:
        return float(_PI / 2) * x
    value = Decimal(x)
    other_leg = _DECIMAL_CONTEXT.sqrt(_DECIMAL_CONTEXT.multiply(1 - value, 1 + value))
    return float(_compute_arc_tangent(_DECIMAL_CONTEXT.divide(value, other_leg)))


def acos(x: float) -> float:
    """Return the arc cosine. Raises ValueError outside the range from -1 to 1."""
    if not -1.0 <= x <= 1.0:
        raise ValueError("math domain error")
    if x == -1.0:
        return float(_PI)
    value = Decimal(x)
    half_sine = _DECIMAL_CONTEXT.sqrt(_DECIMAL_CONTEXT.divide(1 - value, 1 + value))
    return float(2 * _compute_arc_tangent(half_sine))


def _reduce_angle(x: float) -> Decimal:
    """Return the angle reduced to one turn. Raises ValueError for infinity and NaN."""
    if not abs(x) <= _ANGLE_MAX:
        raise ValueError("math domain error")
    wide = Context(prec=100)
    return _DECIMAL_CONTEXT.plus(wide.remainder(Decimal(x), wide.multiply(_PI, 2)))


def _compute_sine(x: Decimal) -> Decimal:
    square, term, index = _DECIMAL_CONTEXT.multiply(x, x), x, 1

    def compute_next_term() -> Decimal:
        nonlocal term, index
        term = _DECIMAL_CONTEXT.divide(
            _DECIMAL_CONTEXT.multiply(-term, square), Decimal((index + 1) * (index + 2))
        )
        index += 2
        return term

    return _add_series(x, compute_next_term)


def _compute_arc_tangent(x: Decimal) -> Decimal:
    """Return the arc tangent.

    Halving the angle twice makes the series short: atan x = 2 atan (x / (1 + sqrt(1 + x²))).
    """
    for _ in range(3):
        root = _DECIMAL_CONTEXT.sqrt(_DECIMAL_CONTEXT.add(1, _DECIMAL_CONTEXT.multiply(x, x)))
        x = _DECIMAL_CONTEXT.divide(x, _DECIMAL_CONTEXT.add(1, root))
    square, power_of_x, index = _DECIMAL_CONTEXT.multiply(x, x), x, 1

    def compute_next_term() -> Decimal:
        nonlocal power_of_x, index
        power_of_x = _DECIMAL_CONTEXT.multiply(-power_of_x, square)
        index += 2
        return _DECIMAL_CONTEXT.divide(power_of_x, Decimal(index))

    return 8 * _add_series(x, compute_next_term)


def _add_series(first_term: Decimal, compute_next_term: Callable[[], Decimal]) -> Decimal:
    """Add the terms of a series until a term no longer changes the sum.

    *compute_next_term*: returns the next term.
    """
    running_sum = first_term
    while True:
        next_sum = _DECIMAL_CONTEXT.add(running_sum, compute_next_term())
        if next_sum == running_sum:
            return next_sum
        running_sum = next_sum
