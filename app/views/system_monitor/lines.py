"""Plot of System Monitor: a line for each counter on a scale of 0 to 100, and a cursor."""

from collections.abc import Sequence
from typing import Final

import pyqtgraph as pg
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QGraphicsSceneMouseEvent

from app.views.system_monitor.history import PLOT_TOP, CounterChoice
from app.widgets.axes import TimeAxis
from app.widgets.theme import ThemeTokens
from app.words.language import tr

AXIS_HEADROOM_FACTOR: Final = 1.06
"""Length of the value axis relative to its top value. It leaves space for the top label and the line width."""


class CounterPlot(pg.PlotWidget):  # type: ignore[misc]  # pyqtgraph is not typed
    """Plot of counters. The panel sets the style of the lines."""

    time_selected = Signal(float)
    """Signal: time of a click, in seconds since the start."""

    def __init__(self) -> None:
        super().__init__(axisItems={"bottom": TimeAxis(orientation="bottom")}, enableMenu=False)
        self.curves: dict[CounterChoice, pg.PlotDataItem] = {}
        self.setMouseEnabled(x=False, y=False)
        self.hideButtons()
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName(tr("Lines of the counters"))
        self.getPlotItem().vb.setDefaultPadding(0.0)
        self.setYRange(0.0, AXIS_HEADROOM_FACTOR * PLOT_TOP)
        self.getAxis("left").setStyle(hideOverlappingLabels=False)
        self.getAxis("left").setTicks([[(value, f"{value:.0f}") for value in (0.0, 50.0, 100.0)]])
        self.setMinimumHeight(60)
        self._cursor = pg.InfiniteLine(angle=90, movable=False)
        self._cursor.hide()
        self.addItem(self._cursor, ignoreBounds=True)
        self.scene().sigMouseClicked.connect(self._choose_time)

    def show_counters(self, choices: Sequence[CounterChoice]) -> None:
        """Show a line for each of *choices*, and remove other lines."""
        for choice in set(self.curves) - set(choices):
            self.removeItem(self.curves.pop(choice))
        for choice in choices:
            if choice not in self.curves:
                self.curves[choice] = curve = pg.PlotCurveItem(connect="finite")
                self.addItem(curve)

    def show_time(self, t_s: float | None) -> None:
        """Move the cursor to *t_s* (seconds since the start). None hides the cursor."""
        self._cursor.setVisible(t_s is not None)
        if t_s is not None:
            self._cursor.setValue(t_s)

    def recolor(self, colors: ThemeTokens, font: QFont) -> None:
        """Use the colors and the font of another theme."""
        self.setBackground(colors.surface)
        for axis_side in ("left", "bottom"):
            axis = self.getAxis(axis_side)
            axis.setPen(colors.border)
            axis.setTextPen(colors.muted)
            axis.setTickFont(font)
        self._cursor.setPen(pg.mkPen(colors.text, width=1.0))
        self.showGrid(x=True, y=True, alpha=0.25)

    def _choose_time(self, event: QGraphicsSceneMouseEvent) -> None:
        self.time_selected.emit(max(0.0, float(self.getPlotItem().vb.mapSceneToView(event.scenePos()).x())))
