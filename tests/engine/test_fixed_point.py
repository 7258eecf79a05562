"""Fixed-point arithmetic returns the bits of `decimal`, or delegates to it."""

from __future__ import annotations

import math
import random
from decimal import Context, Decimal, localcontext
from fractions import Fraction

import pytest

from engine import arithmetic, fixed_point

NAMES = ("log", "exp", "cos")
LIMITS = {"exp": fixed_point.EXP_MAX, "cos": fixed_point.ANGLE_MAX}


def numbers(name: str) -> list[float]:
    """Return random numbers of all sizes, and numbers near rounding limits."""
    chosen = random.Random(1)
    small = [chosen.uniform(-1.0, 1.0) * 10.0**-place for place in range(20) for _ in range(5)]
    if name == "log":
        wide = [2.0 ** chosen.uniform(-53.0, 53.0) for _ in range(100)]
        return [1.0, 2.0**53, *(1.0 - chosen.random() for _ in range(300)), *(1.0 + x for x in small), *wide]
    limit = LIMITS[name]
    turns = [math.pi * quarter / 2.0 for quarter in range(-4, 5)]
    return [limit, -limit, 0.0, *turns, *small, *(chosen.uniform(-limit, limit) for _ in range(400))]


def by_decimal(name: str, x: float) -> Decimal:
    """Return the unrounded result for `engine.arithmetic`, with as many digits as its contexts."""
    if name == "cos":
        return arithmetic._sine(arithmetic._EXACT.add(arithmetic._reduced(x), arithmetic._PI / 2))
    return getattr(arithmetic._EXACT, {"log": "ln", "exp": "exp"}[name])(Decimal(x))


def units(number: Decimal | int) -> Fraction:
    return Fraction(number) * (1 << fixed_point.BITS)


@pytest.mark.parametrize("name", NAMES)
def test_results_equal_decimal_bit_for_bit(name: str) -> None:
    for x in numbers(name):
        assert getattr(arithmetic, name)(x) == float(by_decimal(name, x)), x


@pytest.mark.parametrize("name", NAMES)
def test_errors_are_within_the_stated_limit(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[tuple[int, int]] = []

    def note(number: int, offset: int = fixed_point.OFF) -> float:
        found.append((number, offset))
        return 1.0

    monkeypatch.setattr(fixed_point, "_nearest", note)
    chosen = [x for x in numbers(name) if name != "exp" or 0.0 <= x < 0.69]  # no power of two comes later
    rounded = [by_decimal(name, x) for x in chosen]
    monkeypatch.setattr(arithmetic, "_EXACT", Context(prec=60))
    with localcontext(prec=60):
        for x, near in zip(chosen, rounded, strict=True):
            getattr(fixed_point, name)(x)
            true, (number, off) = units(by_decimal(name, x)), found[-1]
            assert abs(number - true) < fixed_point.OFF / 8, x
            assert abs(units(near) - true) < off / 8, x
    assert len(chosen) > 50


def test_near_a_rounding_boundary_decimal_decides() -> None:
    one, half = (
        1 << fixed_point.BITS,
        1 << fixed_point.BITS - 53,
    )  # half of what lies between 1 and the next float
    assert fixed_point._nearest(one + 2 * half) == math.nextafter(1.0, 2.0)
    assert fixed_point._nearest(one + half - fixed_point.OFF - 1) == 1.0
    assert fixed_point._nearest(one + half + fixed_point.OFF // 2) is None
    assert fixed_point.log(1.0) is None
    assert arithmetic.log(1.0) == 0.0
