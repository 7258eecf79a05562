"""Bit manipulation functions [DOC: bit manipulation functions]."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from engine.tsql.query.plans import UnsimulatedFeatureError
from engine.tsql.scalars.values import Scalar, strict, to_integer

_WIDTHS: Final = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}


def _read_bits(value: Scalar, kind: Scalar) -> tuple[int, int]:
    """Return the bits of *value* as a number without a sign, and their count."""
    if isinstance(value, bytes):
        return int.from_bytes(value, "big"), 8 * len(value)
    width = _WIDTHS.get(str(kind), 32 if abs(to_integer(value)) < 2**31 else 64)
    return to_integer(value) % 2**width, width


def _write_bits(bits: int, width: int, like: Scalar) -> Scalar:
    """Return *bits* in the form of the value *like*."""
    if isinstance(like, bytes):
        return bits.to_bytes(width // 8, "big")
    return bits - 2**width if width > 8 and bits >> (width - 1) else bits


def _shift(sign: int) -> Callable[..., Scalar]:
    """Return LEFT_SHIFT (1) or RIGHT_SHIFT (-1), which fill with 0 on both sides."""

    def shift(value: Scalar, amount: Scalar, kind: Scalar = "") -> Scalar:
        bits, width = _read_bits(value, kind)
        by = to_integer(amount) * sign
        moved = 0 if abs(by) >= width else bits << by if by > 0 else bits >> -by
        return _write_bits(moved % 2**width, width, value)

    return shift


def _check_offset(place: int, width: int) -> None:
    if not 0 <= place < width:
        raise UnsimulatedFeatureError("a bit offset outside of the value")


def get_bit(value: Scalar, place: Scalar, kind: Scalar = "") -> Scalar:
    """Evaluate GET_BIT."""
    bits, width = _read_bits(value, kind)
    _check_offset(to_integer(place), width)
    return bits >> to_integer(place) & 1


def set_bit(value: Scalar, place: Scalar, state: Scalar = 1, kind: Scalar = "") -> Scalar:
    """Evaluate SET_BIT."""
    bits, width = _read_bits(value, kind)
    _check_offset(to_integer(place), width)
    if state not in (0, 1):
        raise UnsimulatedFeatureError("a bit value other than 0 and 1")
    cleared = bits & ~(1 << to_integer(place))
    return _write_bits(cleared | to_integer(state) << to_integer(place), width, value)


FUNCTIONS: Final[dict[str, Callable[..., Scalar]]] = {
    "bit_count": strict(lambda value, kind="": _read_bits(value, kind)[0].bit_count()),
    "left_shift": strict(_shift(1)),
    "right_shift": strict(_shift(-1)),
    "get_bit": strict(get_bit),
    "set_bit": strict(set_bit),
}
