"""Stable axes with labels at the half and a round maximum."""

from __future__ import annotations

from typing import Final

from app.view_models.series import bin_width
from app.widgets.plots import AxisItem
from app.words.counters import Counter, Unit

LABEL_PX: Final = 18
"""Minimum space above the top of the axis, for the name of the counter."""

SHRINK_BELOW: Final = 0.8
"""Share of the lower top that the highest value must stay below before the top decreases."""


def axis_top(highest: float, counter: Counter, previous_top: float = 0.0) -> float:
    """Top of the axis for values up to *highest*: 1, 2 or 5 of its unit, and no nervous return from *before*."""
    new = _round_top(max(highest, counter.least_top), counter.unit)
    if new < previous_top and highest > SHRINK_BELOW * new:
        return previous_top
    return new


def headroom(pixels: float, label_px: float = LABEL_PX) -> float:
    """Return the factor from the top value to the end of an axis, so that a label of *label_px* has room."""
    return pixels / max(pixels - label_px, pixels / 2.0) if pixels > 0.0 else 1.0


def _round_top(value: float, unit: Unit) -> float:
    scale = 1.0
    while value / scale >= unit.thousand:
        scale *= unit.thousand
    return bin_width(value / scale) * scale


class ChartValueAxis(AxisItem):
    """Axis with half and maximum in its unit; 0 is the lower edge."""

    def __init__(self, unit: Unit, **options: object) -> None:
        super().__init__(orientation="left", **options)
        self._unit = unit
        self.top = 1.0
        """Labeled round value; the axis continues above it."""

    def tickValues(self, low: float, high: float, pixels: float) -> list[tuple[float, list[float]]]:
        """Return (distance, positions) of the ticks."""
        return [(self.top / 2.0, [self.top / 2.0, self.top])]

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        """Return the label of each tick."""
        return [self._unit.text(value) for value in values]
