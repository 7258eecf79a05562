"""Queues and load of two runs, laid over one another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app import theme
from app.language import mark, tr
from app.time_axis import TimeAxis
from engine.drill.difference import Curve

TITLES: Final = {
    "send_queue_kb": (mark("Send queue"), "KB"),
    "redo_queue_kb": (mark("Redo queue"), "KB"),
    "transactions_per_s": (mark("Transactions"), "/s"),
}
LEFT_PX: Final = 64


class Curves(QWidget):
    """One plot under the other; the left run dashed in grey, the right one in colour."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._view = pg.GraphicsLayoutWidget()
        self._curves: Sequence[Curve] = ()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._view)
        self._view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._show_theme()

    def show_curves(self, curves: Sequence[Curve]) -> None:
        """Those of one database, in the order in which they are to stand."""
        self._curves = curves
        self._draw()

    def _draw(self) -> None:
        colours = theme.tokens(self.palette())
        self._view.clear()
        first = None
        for number, curve in enumerate(self._curves):
            axis = TimeAxis(orientation="bottom")
            plot = self._view.addPlot(number, 0, axisItems={"bottom": axis})
            title, unit = TITLES[curve.counter]
            plot.setLabel("left", tr(title), units=None)
            plot.getAxis("left").setLabel(f"{tr(title)} ({unit})")
            plot.getAxis("left").setWidth(LEFT_PX)
            for side in ("left", "bottom"):
                plot.getAxis(side).setPen(colours.border)
                plot.getAxis(side).setTextPen(colours.muted)
            plot.showGrid(x=True, y=True, alpha=0.15)
            plot.setMenuEnabled(False)
            plot.setMouseEnabled(x=False, y=False)
            plot.hideButtons()
            dashed = pg.mkPen(colours.muted, width=1.6, style=Qt.PenStyle.DashLine)
            plot.plot(*_points(curve.left), pen=dashed, connect="finite")
            plot.plot(*_points(curve.right), pen=pg.mkPen(colours.series[number], width=2), connect="finite")
            if first is None:
                first = plot
            else:
                plot.setXLink(first)
            axis.setStyle(showValues=number == len(self._curves) - 1)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._show_theme()

    def _show_theme(self) -> None:
        self._view.setBackground(theme.tokens(self.palette()).surface)
        self._draw()


def _points(values: Sequence[float | None]) -> tuple[np.ndarray, np.ndarray]:
    y = np.array([np.nan if value is None else value for value in values], dtype=float)
    return np.arange(1.0, len(y) + 1.0), y
