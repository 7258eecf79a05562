"""Decimal numbers with more digits than a float: a text of all digits after MARK."""

from __future__ import annotations

from decimal import Context, Decimal
from typing import Final, TypeGuard

from engine.tsql.scalars.types import SqlType

MARK: Final = "\U0010fffe"
"""Prefix of such a number. It is a noncharacter: no external text contains it (date_values.plain_text)."""

ANY_DIGITS: Final = Context(prec=200)
"""Context with enough digits for 30 before and 99 after the point, more than decimal's default."""


def hold(number: Decimal, kind: SqlType) -> int | float | str:
    """Return a number that fits into *kind*, as values of that type are held: all alike, so that they compare."""
    if kind.is_long:
        return encode_decimal(number)
    return int(number) if number == number.to_integral_value() else float(number)


def encode_decimal(number: Decimal) -> str:
    """Return the same where no type says how many digits there may be."""
    return f"{MARK}{number if number else number.copy_abs():f}"


def is_encoded_decimal(value: object) -> TypeGuard[str]:
    """Return whether the value is a decimal in its stored form."""
    return isinstance(value, str) and value.startswith(MARK)


def decode_decimal(value: str) -> Decimal:
    """Return the decimal of a stored form."""
    return Decimal(value.removeprefix(MARK))


def compare(a: Decimal, b: Decimal) -> int:
    """Return -1, 0 or 1."""
    return (a > b) - (a < b)
