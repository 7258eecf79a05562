"""Chart axes for logarithmic values, for counter values and for the time of a run."""

import math
from typing import Final

import numpy as np
import numpy.typing as npt

from app.view_models.series import choose_time_step_s
from app.widgets.plots import AxisItem
from app.words import formatting
from app.words.formatting import MS, SECONDS, Unit

Array = npt.NDArray[np.float64]

HEADROOM_FACTOR: Final = 1.2
"""Length of a linear axis divided by its maximum value. Names of networks need the space above the maximum."""

LABEL_HEIGHT_MIN_PX: Final = 18.0
"""Minimum height per label on a logarithmic axis."""


class LogAxis(AxisItem):
    """Logarithmic axis with labels at powers of ten and unlabeled ticks between them."""

    def tickValues(self, low: float, high: float, pixels: float) -> list[tuple[float, list[float]]]:
        """Return (distance, positions) of the ticks."""
        decades = range(math.floor(low), math.ceil(high))
        minor_ticks = [decade + math.log10(part) for decade in decades for part in range(2, 10)]
        return [(1.0, find_decades(low, high)), (0.1, [x for x in minor_ticks if low <= x <= high])]

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        """Return the label of each tick."""
        if spacing < 1.0:
            return [""] * len(values)
        return [formatting.format_significant(10.0**value) for value in values]


def find_decades(low: float, high: float) -> list[float]:
    """Return the logarithms of all powers of ten in a range. *low* and *high*: logarithms of its ends."""
    return [float(x) for x in range(math.ceil(low - 1e-9), math.floor(high + 1e-9) + 1)]


def find_value_ticks(low: float, high: float, pixels: float, logarithmic: bool) -> list[float]:
    """Return the positions of the labels: 0, half the maximum and the maximum, or powers of ten.

    If *low* is negative, the negatives of the maximum and of half the maximum are added. On a
    logarithmic axis, powers of ten are omitted where labels would overlap. *pixels*: length of the
    axis.
    """
    if logarithmic:
        step = max(1, math.ceil((high - low) * LABEL_HEIGHT_MIN_PX / max(pixels, 1.0)))
        return find_decades(low, high)[::step]
    top = high / HEADROOM_FACTOR
    negative_ticks = [-top, -top / 2.0] if low < 0.0 else []
    return [*negative_ticks, 0.0, top / 2.0, top]


def format_tick(value: float, unit: Unit, logarithmic: bool) -> str:
    """Format a time without trailing zeros, for example 10 ms, 1 s or 1,000 s.

    Other values have the format of their unit.
    """
    value = 10.0**value if logarithmic else value
    if not value:
        return "0"
    if unit not in (MS, SECONDS):
        return unit.text(value)
    seconds = value / 1000.0 if unit is MS else value
    if abs(seconds) < 0.9995:
        return f"{formatting.format_significant(1000.0 * seconds)} ms"
    return f"{formatting.format_significant(seconds)} s"


class ValueAxis(AxisItem):
    """Value axis with labels at its maximum and half of it, or at powers of ten if it is logarithmic."""

    def __init__(self, unit: Unit, logarithmic: bool, **options: object) -> None:
        super().__init__(orientation="left", **options)
        self._unit, self._logarithmic = unit, logarithmic

    def tickValues(self, low: float, high: float, pixels: float) -> list[tuple[float, list[float]]]:
        """Return (distance, positions) of the ticks."""
        distance = 1.0 if self._logarithmic else high / HEADROOM_FACTOR / 2.0
        return [(distance, find_value_ticks(low, high, pixels, self._logarithmic))]

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        """Return the label of each tick."""
        return [format_tick(value, self._unit, self._logarithmic) for value in values]


LOG_VALUE_MIN: Final = 1e-9
"""Minimum value on a logarithmic axis. Smaller values are drawn at this value."""

ROUND_MAXIMA: Final = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
"""Possible maximum values of a linear axis, as multiples of a power of ten."""


def compute_positions(values: Array, logarithmic: bool) -> Array:
    """Return the positions of *values* on an axis. The position of a value that is not finite is NaN."""
    finite = np.where(np.isfinite(values), values, np.nan)
    return np.log10(np.maximum(finite, LOG_VALUE_MIN)) if logarithmic else finite


def compute_value_range(
    values: Array, unit: Unit, logarithmic: bool, least_top: float = LOG_VALUE_MIN
) -> tuple[float, float]:
    """Return the lower and upper end of an axis for *values*.

    The ends of a logarithmic axis are the logarithms of whole powers of ten. A linear axis ends at a round
    maximum plus a margin. It begins at 0, or at the negative end if there are negative values. *least_top*:
    value that the round maximum must at least reach.
    """
    finite_values = values[np.isfinite(values)]
    highest = float(np.abs(finite_values).max()) if len(finite_values) else 0.0
    if logarithmic:
        positive = finite_values[finite_values > LOG_VALUE_MIN]
        lowest = float(positive.min()) if len(positive) else 1.0
        upper = math.ceil(math.log10(max(highest, 10.0 * lowest)) + 0.1)
        return float(math.floor(math.log10(lowest))), float(upper)
    top_value, scale = max(highest, least_top), 1.0
    while top_value / scale >= unit.next_unit_factor:
        scale *= unit.next_unit_factor
    power = 10.0 ** math.floor(math.log10(top_value / scale))
    top = (
        next(part for part in ROUND_MAXIMA if part * power * scale >= top_value * (1.0 - 1e-9))
        * power
        * scale
    )
    return -HEADROOM_FACTOR * top if len(
        finite_values
    ) and finite_values.min() < 0.0 else 0.0, HEADROOM_FACTOR * top


class TimeAxis(AxisItem):
    """Axis with the time since the start of the run."""

    def tickSpacing(self, low: float, high: float, pixels: float) -> list[tuple[float, float]]:
        """Return the distances of major and minor ticks."""
        return [(choose_time_step_s(high - low, pixels), 0.0)]

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        """Return the label of each tick."""
        return [formatting.format_run_time(value) if value >= 0.0 else "" for value in values]
