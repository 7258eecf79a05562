"""Logarithm, exponential and cosine with integers.

The results are identical to those of `decimal`, but faster.

A result has BITS binary places and an error of a few units in the last place. `decimal` in
engine/arithmetic.py has an error of at most ERROR_BOUND units, or ANGLE_ERROR_BOUND for angles. If all
numbers within that error round to the same float, `decimal` gives this float too. Otherwise the functions
here return None, and the caller uses `decimal`.
"""

import math
from decimal import Context, Decimal
from functools import cache
from typing import Final

BITS: Final = 120
ERROR_BOUND: Final = 1 << 10
"""Error bound for logarithms and powers, in units of the last of BITS binary places: 2**-110.

The error is at most 2**-113 with the integers of this module. With `decimal` of forty digits, it is at
most 2**-125 below EXP_MAX.
"""
ANGLE_ERROR_BOUND: Final = 1 << 44
"""Error bound of `decimal` for sine and cosine, 2**-76: 28 digits, with terms up to 366, each computed from
the preceding one.
"""

_UNIT: Final = 1 << BITS
_WIDE_CONTEXT: Final = Context(prec=60)

LOG_MAX: Final = 9007199254740992.0
EXP_MAX: Final = 40.0
ANGLE_MAX: Final = 7.0
"""Maximum angle for fixed-point computation. For larger angles, use `decimal`."""

_OCTAVE_PARTS: Final = 64
"""Number of parts into which an octave is divided; a power of two is stored for each."""


def _convert_to_units(number: Decimal) -> int:
    return int(_WIDE_CONTEXT.multiply(number, _UNIT).to_integral_value())


_LN2: Final = _convert_to_units(_WIDE_CONTEXT.ln(Decimal(2)))
_HALF_PI: Final = _convert_to_units(
    Decimal("1.57079632679489661923132169163975144209858469968755291048747229615390820314310449931")
)
_AREA_TANGENT_SERIES: Final = tuple(_UNIT // n for n in range(13, 0, -2))
_EXPONENTIAL_SERIES: Final = tuple(_UNIT // math.factorial(n) for n in range(13, -1, -1))
_COSINE_SERIES: Final = tuple((1 - n % 4) * (_UNIT // math.factorial(n)) for n in range(28, -1, -2))
_SINE_SERIES: Final = tuple((2 - n % 4) * (_UNIT // math.factorial(n)) for n in range(29, 0, -2))
"""Coefficients of the sine series, last term first."""


def log(x: float) -> float | None:
    """Return the natural logarithm of *x*; None if the rounding is not certain.

    *x*: at least 1 / LOG_MAX. Each octave (from one power of two to the next) has 128 parts. The result
    is the logarithm of the middle of the part that contains *x*, plus the logarithm of *x* / middle. A
    series for the inverse hyperbolic tangent gives the second logarithm.
    """
    share, exponent = math.frexp(x)
    whole_part = int(share * LOG_MAX)  # all 53 bits of the mantissa
    part = whole_part >> 45
    middle = (2 * part + 1) << 44
    s = ((whole_part - middle) << BITS) // (whole_part + middle)
    square, total = s * s >> BITS, 0
    for factor in _AREA_TANGENT_SERIES:
        total = (total * square >> BITS) + factor
    return _round_to_float(exponent * _LN2 + _compute_middle_log(part) + (s * total >> BITS - 1))


@cache
def _compute_middle_log(part: int) -> int:
    return _convert_to_units(_WIDE_CONTEXT.ln(_WIDE_CONTEXT.divide(Decimal(2 * part + 1), Decimal(512))))


def exp(x: float) -> float | None:
    """Return e to the power of *x*; None if the rounding is not certain.

    *x*: at most EXP_MAX. The result is the product of three factors: a whole power of two, a stored
    fractional power of two, and a series for the rest.
    """
    number = _to_units(x)
    parts = number * _OCTAVE_PARTS // _LN2
    remainder, total = number - parts * _LN2 // _OCTAVE_PARTS, 0
    for factor in _EXPONENTIAL_SERIES:
        total = (total * remainder >> BITS) + factor
    octaves, part = divmod(parts, _OCTAVE_PARTS)
    nearest = _round_to_float(_compute_power_of_two(part) * total >> BITS)
    return None if nearest is None else math.ldexp(nearest, octaves)


@cache
def _compute_power_of_two(part: int) -> int:
    return _convert_to_units(
        _WIDE_CONTEXT.power(Decimal(2), _WIDE_CONTEXT.divide(Decimal(part), Decimal(_OCTAVE_PARTS)))
    )


def cos(x: float) -> float | None:
    """Return the cosine of *x*; None if the rounding is not certain.

    *x*: angle in radians, at most ANGLE_MAX. The argument of the series is the distance from the
    nearest multiple of a quarter turn.
    """
    number = _to_units(x)
    quarters = (number + _HALF_PI // 2) // _HALF_PI
    remainder = number - quarters * _HALF_PI
    square, total = remainder * remainder >> BITS, 0
    for factor in _SINE_SERIES if quarters & 1 else _COSINE_SERIES:
        total = (total * square >> BITS) + factor
    if quarters & 1:
        total = total * remainder >> BITS
    return _round_to_float(-total if (quarters + 1) & 2 else total, ANGLE_ERROR_BOUND)


def _to_units(x: float) -> int:
    share, exponent = math.frexp(x)
    whole_part, binary_places = int(share * LOG_MAX), exponent + BITS - 53
    return whole_part << binary_places if binary_places >= 0 else whole_part >> -binary_places


def _round_to_float(number: int, error_units: int = ERROR_BOUND) -> float | None:
    """Convert *number* from units of 2**-BITS to a float; None if the rounding is not certain.

    The rounding is certain if all numbers within *error_units* of *number* round to the same float.
    """
    quotient = (number - error_units) / _UNIT
    return quotient if quotient == (number + error_units) / _UNIT else None
