"""The time axis of all plots of a run: round times since its start, with room for their labels."""

from __future__ import annotations

from typing import Final

import pyqtgraph as pg

from app.view_models.series import bin_width
from app.words import formatting

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
