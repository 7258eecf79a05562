"""Axes of the planner's curves: factors below, half and a round top or factors at the side."""

from __future__ import annotations

import math
from typing import Any, Final

import pyqtgraph as pg

from app import formatting
from app.counters import MS, Unit

HEADROOM: Final = 1.2
"""A linear axis ends so much above its top, where names of networks stand."""

PIXELS_PER_LABEL: Final = 18.0
"""Least height for a label of an axis of logarithms."""


class FactorAxis(pg.AxisItem):  # type: ignore[misc]  # pyqtgraph is not typed
    """Values on an axis of decimal logarithms: labels at powers of ten, between them lines only."""

    def tickValues(self, low: float, high: float, pixels: float) -> list[tuple[float, list[float]]]:
        decades = [float(x) for x in range(math.ceil(low - 1e-9), math.floor(high + 1e-9) + 1)]
        between = [d + math.log10(part) for d in (math.floor(low), *decades) for part in range(2, 10)]
        return [(1.0, decades), (0.1, [x for x in between if low <= x <= high])]

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        if spacing < 1.0:
            return [""] * len(values)
        return [formatting.significant(10.0**value) for value in values]


class ValueAxis(pg.AxisItem):  # type: ignore[misc]
    """Half and top in the words of the unit; on an axis of logarithms the powers of ten."""

    def __init__(self, unit: Unit, logarithmic: bool, **options: Any) -> None:
        super().__init__(orientation="left", **options)
        self._unit, self._logarithmic = unit, logarithmic

    def tickValues(self, low: float, high: float, pixels: float) -> list[tuple[float, list[float]]]:
        if self._logarithmic:
            every = max(1, math.ceil((high - low) * PIXELS_PER_LABEL / max(pixels, 1.0)))
            first = math.ceil(low - 1e-9)
            return [(1.0, [float(x) for x in range(first, math.floor(high + 1e-9) + 1, every)])]
        top = high / HEADROOM
        return [(top / 2.0, [0.0, top / 2.0, top])]

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        if self._logarithmic:
            return [_power_of_ten_s(value - (3.0 if self._unit is MS else 0.0)) for value in values]
        return [self._unit.text(value) if value else "0" for value in values]


def _power_of_ten_s(power: float) -> str:
    """Times on an axis: 10 ms, 1 s, 1,000 s."""
    return f"{10.0 ** (power + 3.0):g} ms" if power < 0.0 else f"{10.0**power:,g} s"
