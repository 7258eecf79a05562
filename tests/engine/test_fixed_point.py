"""Fixed-point arithmetic: its functions return the bits of `build_decimal`, or call `build_decimal`."""

from __future__ import annotations

import math
import random
from decimal import Context, Decimal, localcontext
from fractions import Fraction

import pytest

from engine import arithmetic, fixed_point

NAMES = ("log", "exp", "cos")
ARGUMENT_MAX = {"exp": fixed_point.EXP_MAX, "cos": fixed_point.ANGLE_MAX}


def draw_numbers(name: str) -> list[float]:
    """Return random numbers of all magnitudes, and numbers near rounding limits."""
    draws = random.Random(1)
    small = [draws.uniform(-1.0, 1.0) * 10.0**-place for place in range(20) for _ in range(5)]
    if name == "log":
        wide = [2.0 ** draws.uniform(-53.0, 53.0) for _ in range(100)]
        return [1.0, 2.0**53, *(1.0 - draws.random() for _ in range(300)), *(1.0 + x for x in small), *wide]
    limit = ARGUMENT_MAX[name]
    turns = [math.pi * quarter / 2.0 for quarter in range(-4, 5)]
    return [limit, -limit, 0.0, *turns, *small, *(draws.uniform(-limit, limit) for _ in range(400))]


PRECISE_CONTEXT = Context(prec=80)


def compute_cosine(x: float) -> Decimal:
    """Return the cosine from its power series, after the angle has been halved until it is small."""
    with localcontext(PRECISE_CONTEXT):
        halvings = max(0, math.frexp(x)[1] + 8)
        square = (Decimal(x) / 2**halvings) ** 2
        term = total = Decimal(1)
        for number in range(1, 40):
            term = -term * square / ((2 * number - 1) * (2 * number))
            total += term
        for _ in range(halvings):
            total = 2 * total * total - 1
        return total


def compute_by_decimal(name: str, x: float) -> Decimal:
    """Return the result with far more digits than a float has."""
    if name == "cos":
        return compute_cosine(x)
    return PRECISE_CONTEXT.ln(Decimal(x)) if name == "log" else PRECISE_CONTEXT.exp(Decimal(x))


def convert_to_units(number: Decimal | int) -> Fraction:
    return Fraction(number) * (1 << fixed_point.BITS)


@pytest.mark.parametrize("name", NAMES)
def test_results_equal_decimal_bit_for_bit(name: str) -> None:
    for x in draw_numbers(name):
        result, true = getattr(arithmetic, name)(x), compute_by_decimal(name, x)
        # near its zeros, a cosine has the absolute error of the constant π
        assert result == float(true) or abs(Decimal(result) - true) < Decimal("1e-26"), x


@pytest.mark.parametrize("name", NAMES)
def test_errors_are_within_the_stated_limit(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    misses: list[tuple[int, int]] = []

    def record_miss(number: int, offset: int = fixed_point.ERROR_BOUND) -> float:
        misses.append((number, offset))
        return 1.0

    monkeypatch.setattr(fixed_point, "_round_to_float", record_miss)
    # no multiplication by a power of two follows
    arguments = [x for x in draw_numbers(name) if name != "exp" or 0.0 <= x < 0.69]
    for x in arguments:
        getattr(fixed_point, name)(x)
        assert (
            abs(misses[-1][0] - convert_to_units(compute_by_decimal(name, x))) < fixed_point.ERROR_BOUND / 8
        ), x
    assert len(arguments) > 50


def test_near_a_rounding_boundary_decimal_decides() -> None:
    assert fixed_point.log(1.0) is None
    assert arithmetic.log(1.0) == 0.0
