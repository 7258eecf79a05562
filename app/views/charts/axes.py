"""Axes that stand still: round times below, half and a round top at the side."""

from __future__ import annotations

from typing import Any, Final

import pyqtgraph as pg

from app import formatting
from app.counters import Counter, Unit
from app.series import bin_width

TIME_STEPS_S: Final = (
    1,
    2,
    5,
    10,
    15,
    30,
    60,
    120,
    300,
    600,
    900,
    1800,
    3600,
    7200,
    14_400,
    21_600,
    43_200,
    86_400,
)
PIXELS_PER_TIME: Final = 70
"""Least room for the label of a time."""

LABEL_PX: Final = 18
"""Room above the top of the axis, where the name of the counter stands."""

SHRINK_BELOW: Final = 0.8
"""The top comes down only when the highest value fills less than this share of the lower one."""


def axis_top(highest: float, counter: Counter, before: float = 0.0) -> float:
    """Top of the axis for values up to *highest*: 1, 2 or 5 of its unit, and no nervous return from *before*."""
    new = _round_top(max(highest, counter.least_top), counter.unit)
    if new < before and highest > SHRINK_BELOW * new:
        return before
    return new


def headroom(pixels: float) -> float:
    """How much higher than its top an axis of so many *pixels* goes."""
    return pixels / max(pixels - LABEL_PX, pixels / 2.0) if pixels > 0.0 else 1.0


def _round_top(value: float, unit: Unit) -> float:
    scale = 1.0
    while value / scale >= unit.thousand:
        scale *= unit.thousand
    return bin_width(value / scale) * scale


def time_step_s(span_s: float, pixels: float) -> float:
    """Distance between two labels of a time axis."""
    least = span_s * PIXELS_PER_TIME / max(pixels, 1.0)
    return next(
        (step for step in TIME_STEPS_S if step >= least), TIME_STEPS_S[-1] * bin_width(least / 86_400)
    )


class TimeAxis(pg.AxisItem):  # type: ignore[misc]  # pyqtgraph is not typed
    """Time since the start of the run."""

    def tickSpacing(self, low: float, high: float, pixels: float) -> list[tuple[float, float]]:
        return [(time_step_s(high - low, pixels), 0.0)]

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        return [formatting.run_time(value) if value >= 0.0 else "" for value in values]


class ValueAxis(pg.AxisItem):  # type: ignore[misc]
    """Half and top in the words of the unit; nought is the lower edge."""

    def __init__(self, unit: Unit, **options: Any) -> None:
        super().__init__(orientation="left", **options)
        self._unit = unit
        self.top = 1.0
        """The round value that is labelled; the axis goes on above it."""

    def tickValues(self, low: float, high: float, pixels: float) -> list[tuple[float, list[float]]]:
        return [(self.top / 2.0, [self.top / 2.0, self.top])]

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        return [self._unit.text(value) for value in values]
