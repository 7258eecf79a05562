"""Time axis of all plots of a run: round times since its start, with space for their labels."""

from __future__ import annotations

from app.view_models.series import time_step_s
from app.widgets.plots import AxisItem
from app.words import formatting


class TimeAxis(AxisItem):
    """Time since the start of the run."""

    def tickSpacing(self, low: float, high: float, pixels: float) -> list[tuple[float, float]]:
        """Return the distances of major and minor ticks."""
        return [(time_step_s(high - low, pixels), 0.0)]

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        """Return the label of each tick."""
        return [formatting.run_time(value) if value >= 0.0 else "" for value in values]
