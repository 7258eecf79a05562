"""Figure with its panels in a column on one axis."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QWidget

from app.widgets import theme
from app.widgets.axes import FactorAxis, ValueAxis, heights, value_range
from app.widgets.layouts import lay_column
from app.widgets.theme import ThemeTokens
from app.words import formatting
from app.words.counters import KB, KB_PER_S, PER_S, PERCENT, SECONDS, Unit
from app.words.language import tr
from engine.planning.figures import Figure, FigureLine, FigurePanel

UNITS: Final = {
    unit.name: unit
    for unit in (
        KB,
        KB_PER_S,
        PER_S,
        PERCENT,
        SECONDS,
        Unit("min", lambda value: f"{formatting.significant(value)} min"),
        Unit("h", lambda value: f"{formatting.significant(value)} h"),
    )
}
SERIES_OF: Final = {
    "safety FULL": 0, "safety OFF": 1, "compressed": 0, "not compressed": 1,
    "send queue": 1, "redo queue": 2, "Mirrordrill": 0, "Mirrordrill, no load": 3, "Mirrordrill, normal load": 0,
    "calibrated": 3, "shared": 0, "predicted": 1,
}  # fmt: skip
"""Series of a name: the same quantity has the same color in every figure; others are grey."""

GUIDES: Final = ("+10 %", "-10 %", "no mirroring", "input")
SYMBOLS: Final = {True: "x", False: "o"}
AXIS_SAMPLE: Final = "5,000 MB/s"
ROW_GAP_LINES: Final = 0.3
"""Gap between plots and legends, for half of the label at the end of an axis."""
EDGE: Final = 0.03
BEAM: Final = 0.08
BAR: Final = 0.2
"""Widths along the axis: of the ends of a band, and of a bar among names."""


class FigurePlot(QWidget):
    """Shows one figure at a time."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._view = pg.GraphicsLayoutWidget()
        self._view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._view.ci.layout.setContentsMargins(0, 4, 12, 0)
        self.figure: Figure | None = None
        self.plots: list[pg.PlotItem] = []
        self._redraw_timer = QTimer(self, singleShot=True, interval=0)
        self._redraw_timer.timeout.connect(lambda: self.show_figure(self.figure))
        lay_column(self._view, on=self, margins=0)
        self.setAccessibleName(tr("Figure"))
        theme.follow(self, theme.LOOKS, self._redraw_timer.start)

    def show_figure(self, figure: Figure | None) -> None:
        """Draw the figure; None clears."""
        self.figure = figure
        self._view.ci.clear()
        self.plots = []
        colors = theme.tokens(self.palette())
        self._view.setBackground(colors.surface)
        self._view.ci.layout.setVerticalSpacing(ROW_GAP_LINES * self.fontMetrics().height())
        if figure is None:
            return
        for number, panel in enumerate(figure.panels):
            self._view.ci.addItem(self._legend(figure, panel, colors), 2 * number, 0)
            plot = self._panel(figure, panel, colors, is_bottom=number == len(figure.panels) - 1)
            self._view.ci.addItem(plot, 2 * number + 1, 0)
            self._view.ci.layout.setRowStretchFactor(2 * number + 1, 1)
            self.plots.append(plot)
        self.setAccessibleDescription(f"{figure.title}. {figure.said}")

    def _legend(self, figure: Figure, panel: FigurePanel, colors: ThemeTokens) -> pg.LabelItem:
        ink = colors.text.name()
        parts = [f'<b style="color:{ink}">{tr(panel.title)}</b>']
        for line in panel.lines:
            mark = "✕" if line.measured else "■" if _is_bar(figure, line) else "●" if line.points else "▬"
            color = colors.text if line.measured else _color(line, colors)
            text = f'<span style="color:{color.name()}">{mark}</span> <span style="color:{ink}">{tr(line.name)}</span>'
            if text not in parts:
                parts.append(text)
        label = pg.LabelItem(justify="left")
        label.setText("&nbsp;&nbsp;&nbsp;".join(parts), size=f"{self.font().pointSizeF():g}pt")
        return label

    def _panel(self, figure: Figure, panel: FigurePanel, colors: ThemeTokens, is_bottom: bool) -> pg.PlotItem:
        unit = UNITS[panel.unit]
        bottom = (
            FactorAxis(orientation="bottom") if figure.logarithmic_x else pg.AxisItem(orientation="bottom")
        )
        left = ValueAxis(unit, panel.logarithmic)
        plot = pg.PlotItem(axisItems={"left": left, "bottom": bottom}, enableMenu=False)
        plot.setMouseEnabled(x=False, y=False)
        plot.hideButtons()
        if figure.categories:
            bottom.setTicks([list(enumerate(map(tr, figure.categories)))])
        bottom.setStyle(showValues=is_bottom)
        if is_bottom and figure.x_title:
            plot.setLabel("bottom", tr(figure.x_title), color=colors.muted.name())
        font = theme.sized(self.font(), 0.85)
        for axis in (left, bottom):
            axis.setPen(pg.mkPen(colors.border))
            axis.setTextPen(colors.muted)
            axis.setTickFont(font)
        bottom.label.setFont(font)
        left.setWidth(self.fontMetrics().horizontalAdvance(AXIS_SAMPLE) + 12)
        bars = [line for line in panel.lines if _is_bar(figure, line)]
        for line in bars:
            self._bars(plot, line, bars.index(line) - (len(bars) - 1) / 2.0, colors)
        for line in (line for line in panel.lines if line not in bars):
            self._line(plot, line, figure.logarithmic_x, panel.logarithmic, colors)
        values = np.concatenate(
            [np.array((*line.y, *(end for ends in line.spread for end in ends))) for line in panel.lines]
        )
        plot.setYRange(*value_range(values, unit, panel.logarithmic), padding=0)
        x = heights(np.concatenate([np.array(line.x) for line in panel.lines]), figure.logarithmic_x)
        low, high = (-0.5, len(figure.categories) - 0.5) if figure.categories else (x.min(), x.max())
        plot.setXRange(float(low), float(high), padding=EDGE)
        return plot

    def _bars(self, plot: pg.PlotItem, line: FigureLine, bar_offset: float, colors: ThemeTokens) -> None:
        """Draw bars next to those of the other lines, *bar_offset* bars from the middle."""
        x = np.array(line.x) + bar_offset * BAR
        plot.addItem(
            pg.BarGraphItem(
                x=x, height=line.y, width=0.9 * BAR, brush=_color(line, colors), pen=pg.mkPen(None)
            )
        )

    def _line(
        self, plot: pg.PlotItem, line: FigureLine, log_x: bool, log_y: bool, colors: ThemeTokens
    ) -> None:
        x, y = heights(np.array(line.x), log_x), heights(np.array(line.y), log_y)
        color = _color(line, colors)
        if not line.points:
            dashed = line.name in GUIDES
            style = Qt.PenStyle.DashLine if dashed else Qt.PenStyle.SolidLine
            pen = pg.mkPen(color, width=1.3 if dashed else 2.2, style=style)
            plot.addItem(pg.PlotCurveItem(x, y, pen=pen, antialias=True))
            return
        if line.spread:
            low, high = (np.array(end) for end in zip(*line.spread, strict=True))
            bars = pg.ErrorBarItem(
                x=x, y=y, bottom=y - low, top=high - y, beam=BEAM, pen=pg.mkPen(color, width=1.6)
            )
            plot.addItem(bars)
        dots = pg.ScatterPlotItem(
            x=x,
            y=y,
            symbol=SYMBOLS[line.measured],
            size=12 if line.measured else 8,
            brush=colors.text if line.measured else color,
            pen=pg.mkPen(colors.surface, width=1),
            antialias=True,
            hoverable=bool(line.labels),
            data=list(line.labels) or None,
            tip=(lambda x, y, data: data) if line.labels else None,
        )
        dots.setZValue(10 if line.measured else 5)
        plot.addItem(dots)


def _is_bar(figure: Figure, line: FigureLine) -> bool:
    return bool(figure.categories) and not line.spread and not line.measured


def _color(line: FigureLine, colors: ThemeTokens) -> QColor:
    number = SERIES_OF.get(line.name)
    return colors.idle if number is None else colors.series[number]
