"""Queues and load of two runs in the same plots."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Final

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.widgets import theme
from app.widgets.axes import ValueAxis, value_range
from app.widgets.time_axis import TimeAxis
from app.words.counters import KB, PER_S
from app.words.language import mark, tr
from engine.drill.judging.difference import CounterCurve
from engine.flow import Array
from engine.overrides import override

TITLES: Final = {
    "send_queue_kb": mark("Send queue"),
    "redo_queue_kb": mark("Redo queue"),
    "transactions_per_s": mark("Transactions/s"),
}
AXIS_SAMPLE: Final = "1,023 MB"
AXIS_MARGIN_PX: Final = 14
LEAST_TOP: Final = 1.0
"""Minimum top of an axis, even if all values are 0."""


class BranchCurves(QWidget):
    """Plots in a column; the left run dashed in grey, the right one in color."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._view = pg.GraphicsLayoutWidget()
        self._curves: Sequence[CounterCurve] = ()
        self._redraw_timer = QTimer(self, singleShot=True)
        self._redraw_timer.timeout.connect(self._show_theme)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._view)
        self._view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._show_theme()

    def show_curves(self, curves: Sequence[CounterCurve]) -> None:
        """Show the curves of one database, in their order."""
        self._curves = curves
        self._draw()

    def _draw(self) -> None:
        colors = theme.tokens(self.palette())
        self._view.clear()
        first, small = None, theme.sized(self.font(), 0.9)
        metrics = QFontMetrics(small)
        for number, curve in enumerate(self._curves):
            below = TimeAxis(orientation="bottom")
            unit = KB if curve.counter.endswith("_kb") else PER_S
            side = ValueAxis(unit, logarithmic=False)
            plot = self._view.addPlot(number, 0, axisItems={"bottom": below, "left": side})
            plot.setTitle(
                html.escape(tr(TITLES[curve.counter])), color=colors.muted, size=f"{small.pointSizeF():g}pt"
            )
            side.setWidth(metrics.horizontalAdvance(AXIS_SAMPLE) + AXIS_MARGIN_PX)
            for axis in (side, below):
                axis.setPen(colors.border)
                axis.setTextPen(colors.muted)
                axis.setTickFont(small)
            plot.showGrid(x=True, y=True, alpha=0.15)
            plot.setMenuEnabled(False)
            plot.setMouseEnabled(x=False, y=False)
            plot.hideButtons()
            dashed = pg.mkPen(colors.text, width=1.4, style=Qt.PenStyle.DashLine)
            plot.plot(*_points(curve.right), pen=pg.mkPen(colors.series[number], width=2.4), connect="finite")
            plot.plot(*_points(curve.left), pen=dashed, connect="finite")
            known = [value for value in (*curve.left, *curve.right) if value is not None]
            plot.setYRange(*value_range(np.array(known), unit, False, LEAST_TOP), padding=0.0)
            if first is None:
                first = plot
            else:
                plot.setXLink(first)
            below.setStyle(showValues=number == len(self._curves) - 1)

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange):
            # deferred: parts of the plots must exist while Qt distributes the style
            self._redraw_timer.start()

    def _show_theme(self) -> None:
        self._view.setBackground(theme.tokens(self.palette()).surface)
        self._draw()


def _points(values: Sequence[float | None]) -> tuple[Array, Array]:
    y = np.array([np.nan if value is None else value for value in values], dtype=float)
    return np.arange(1.0, len(y) + 1.0), y
