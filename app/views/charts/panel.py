"""Chart of one counter: a curve, event markers, the cursor, and the value as text."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QGraphicsItem, QWidget

from app.view_models.series import choose_bin_width
from app.views.charts.lane import SHADE_ALPHA
from app.widgets import theme
from app.widgets.plots import AxisItem, GraphicsObject, PlotCurveItem
from app.widgets.theme import ThemeTokens
from app.words.formatting import Counter, Unit
from app.words.language import tr
from engine.flow import Array
from engine.overrides import override

NAME_HEIGHT_PX: Final = 18
"""Minimum space above the top of the axis, for the name of the counter."""

AXIS_SHRINK_SHARE: Final = 0.8
"""Hysteresis of an axis.

The top of the axis decreases only if the highest value is below this share of the new top.
"""


def compute_axis_top(highest: float, counter: Counter, previous_top: float = 0.0) -> float:
    """Return the axis top for values up to *highest*: 1, 2 or 5 times a power of ten in a suitable unit.

    Keep *previous_top* if possible, so that the axis does not jitter.
    """
    new = _compute_round_top(max(highest, counter.least_top), counter.unit)
    if new < previous_top and highest > AXIS_SHRINK_SHARE * new:
        return previous_top
    return new


def compute_headroom_factor(pixels: float, label_px: float = NAME_HEIGHT_PX) -> float:
    """Return the height of the whole axis divided by the height of its part below the label.

    *pixels*: height of the plot. *label_px*: height of the label at the upper edge of the plot.
    """
    return pixels / max(pixels - label_px, pixels / 2.0) if pixels > 0.0 else 1.0


def _compute_round_top(value: float, unit: Unit) -> float:
    scale = 1.0
    while value / scale >= unit.next_unit_factor:
        scale *= unit.next_unit_factor
    return choose_bin_width(value / scale) * scale


class ChartValueAxis(AxisItem):
    """Value axis with labels at its maximum and at half of it. The lower edge is 0."""

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


CURVE_WIDTH_PX: Final = 1.5
FILL_ALPHA: Final = 38
SELECTION_ALPHA: Final = 70
CAPTION_POSITION_PX: Final = (6.0, 0.0)
"""Position (x, y) of the caption in its plot."""


class CurveBackground(GraphicsObject):
    """Background of a curve: times without service or protection, event lines, and the cursor."""

    def __init__(self) -> None:
        super().__init__()
        self.shaded_spans: Sequence[tuple[float, float, QColor]] = ()
        self.lines: Sequence[tuple[float, QColor]] = ()
        self.cursor_s: float | None = None
        self.cursor_color = QColor()
        self.chosen: tuple[float, float] | None = None
        """Span that is being selected."""
        self.chosen_color = QColor()
        self.setZValue(-10)

    @override
    def boundingRect(self) -> QRectF:
        view = self.viewRect()
        return QRectF(view) if view is not None else QRectF()

    @override
    def viewTransformChanged(self) -> None:
        self.prepareGeometryChange()
        super().viewTransformChanged()

    @override
    def paint(self, painter: QPainter, option: object, widget: QWidget | None = None) -> None:
        view = self.boundingRect()
        for start_s, end_s, color in self.shaded_spans:
            if end_s > view.left() and start_s < view.right():
                painter.fillRect(QRectF(start_s, view.top(), end_s - start_s, view.height()), color)
        if self.chosen is not None:
            low, high = self.chosen
            painter.fillRect(QRectF(low, view.top(), high - low, view.height()), self.chosen_color)
        for at_s, color in self.lines:
            self._add_line(painter, view, at_s, color, Qt.PenStyle.DotLine)
        if self.cursor_s is not None:
            self._add_line(painter, view, self.cursor_s, self.cursor_color, Qt.PenStyle.SolidLine)

    @staticmethod
    def _add_line(painter: QPainter, view: QRectF, at_s: float, color: QColor, style: Qt.PenStyle) -> None:
        if view.left() <= at_s <= view.right():
            pen = QPen(color, 1.0, style)
            pen.setCosmetic(True)
            painter.setPen(pen)
            painter.drawLine(QLineF(at_s, view.top(), at_s, view.bottom()))


class CounterCaption(QGraphicsItem):
    """Name of the counter, its value in bold, and its forecast, in one line with a background.

    It paints the text directly, because rich text takes ten times as long and the value changes in every
    frame.
    """

    def __init__(self) -> None:
        super().__init__()
        self._pieces: Sequence[tuple[str, QFont, QColor]] = ()
        self._widths: Sequence[float] = ()
        self._ground = QColor()
        self._box = QRectF()
        self._base = 0.0

    def show_pieces(self, pieces: Sequence[tuple[str, QFont, QColor]], background: QColor) -> None:
        """Show the texts of *pieces* in a row, each in its font and color."""
        metrics = [QFontMetricsF(font) for _, font, _ in pieces]
        space = metrics[0].horizontalAdvance(" ")
        widths = [
            font_metrics.horizontalAdvance(text) + space
            for font_metrics, (text, _, _) in zip(metrics, pieces, strict=True)
        ]
        box = QRectF(0.0, 0.0, sum(widths), metrics[0].height())
        if box != self._box:
            self.prepareGeometryChange()
        self._pieces, self._ground, self._box, self._base = pieces, background, box, metrics[0].ascent()
        self._widths = widths
        self.update()

    @override
    def boundingRect(self) -> QRectF:
        return self._box

    @override
    def paint(self, painter: QPainter, option: object, widget: QWidget | None = None) -> None:
        painter.fillRect(self._box, self._ground)
        x = 0.0
        for (text, font, color), width in zip(self._pieces, self._widths, strict=True):
            painter.setFont(font)
            painter.setPen(color)
            painter.drawText(QPointF(x, self._base), text)
            x += width


class ChartCurve(PlotCurveItem):
    """Curve whose bounds are the visible area, so that no frame computes the bounds of the values."""

    def boundingRect(self) -> QRectF:
        """Return the area that the item paints."""
        view = self.getViewBox()  # the item's own `viewRect` is never updated
        return QRectF(view.viewRect()) if view is not None else QRectF()


class ChartPanel:
    """Plot of one counter in a pyqtgraph layout."""

    def __init__(self, counter: Counter, series_index: int) -> None:
        self.counter = counter
        self._series = series_index
        self._top = self._end = 0.0
        self.reading = ""
        """Value next to the counter's name."""
        self.forecast = ""
        """Forecast of the counter, shown next to the value."""
        self._label_px = float(NAME_HEIGHT_PX)
        self._font = self._bold = QFont()
        self._text_color = self._muted_color = self._background_color = QColor()
        self._axis = ChartValueAxis(counter.unit)
        # the SI prefix would appear only in the axis label, which is hidden
        self._axis.enableAutoSIPrefix(False)
        self.plot = pg.PlotItem(axisItems={"left": self._axis}, enableMenu=False)
        self.plot.setMouseEnabled(x=False, y=False)
        self.plot.hideButtons()
        self.plot.hideAxis("bottom")  # all plots share the time scale below them
        for axis_side in ("bottom", "top", "right"):  # hidden axes would still be updated in each frame
            self.plot.getAxis(axis_side).unlinkFromView()
        self.plot.vb.setDefaultPadding(0.0)
        self.background = CurveBackground()
        self.background.setFlag(QGraphicsItem.GraphicsItemFlag.ItemClipsToShape, False)
        self.plot.addItem(self.background, ignoreBounds=True)
        self.curve = ChartCurve()
        self.plot.addItem(self.curve, ignoreBounds=True)
        self._caption = CounterCaption()
        self._caption.setParentItem(self.plot.vb)
        self._caption.setPos(*CAPTION_POSITION_PX)

    def draw(self, x: Array, y: Array, from_s: float, to_s: float) -> None:
        """Draw the values *y* at the times *x*, in the time range from *from_s* to *to_s*."""
        gaps = bool(np.isnan(y).any())
        self.curve.setData(x, y, connect="finite" if gaps else "all")
        highest = float(np.nanmax(y)) if len(y) and not np.isnan(y).all() else 0.0
        top = compute_axis_top(highest, self.counter, self._top)
        end = top * compute_headroom_factor(self.plot.vb.height(), self._label_px)
        if (top, end) != (self._top, self._end):
            self._top, self._end = top, end
            self._axis.top = top
            self.plot.setYRange(0.0, end, padding=0)
        self.plot.setXRange(from_s, to_s, padding=0)
        self.plot.vb.prepareForPaint()  # the same call during painting would repaint everything

    def show_value(self, value: float | None) -> None:
        """Show *value*, the value of the counter at the cursor or at the last sample."""
        text = self.counter.unit.text(value)
        if text != self.reading:
            self.reading = text
            self._write_caption()

    def show_forecast(self, text: str) -> None:
        """Show the forecast *text* next to the value."""
        if text != self.forecast:
            self.forecast = text
            self._write_caption()

    def highlight_span(self, span: tuple[float, float] | None) -> None:
        """Highlight the time range that the user is selecting."""
        self.background.chosen = span
        self.background.update()

    def recolor(self, colors: ThemeTokens, axis_width: int, font: QFont) -> None:
        """Use the colors of another theme, an axis of *axis_width* pixels and another font."""
        self._font, self._bold = QFont(font), theme.resize_font(font, 1.0, bold=True)
        self._label_px = max(NAME_HEIGHT_PX, QFontMetricsF(font).height() + 2.0)
        line = QColor(colors.series[self._series % len(colors.series)])
        fill = theme.add_alpha(line, FILL_ALPHA)
        self.curve.setPen(pg.mkPen(line, width=CURVE_WIDTH_PX))
        self.curve.setFillLevel(0.0)
        self.curve.setBrush(fill)
        self._axis.setPen(pg.mkPen(colors.border))
        self._axis.setTextPen(colors.muted)
        self._axis.setTickFont(theme.resize_font(font, 0.85))
        self._axis.setWidth(axis_width)
        self.background.cursor_color = colors.text
        self.background.chosen_color = theme.add_alpha(colors.accent, SELECTION_ALPHA)
        self._muted_color, self._text_color = colors.muted, colors.text
        self._background_color = theme.add_alpha(colors.surface, SHADE_ALPHA)
        self._write_caption()

    def compute_seconds(self, position: QPointF) -> float:
        """Return the time at a point of the scene, in seconds."""
        return float(self.plot.vb.mapSceneToView(position).x())

    def _write_caption(self) -> None:
        pieces = [
            (tr(self.counter.title), self._font, self._text_color),
            (self.reading, self._bold, self._text_color),
        ]
        if self.forecast:
            pieces.append((self.forecast, self._font, self._muted_color))
        self._caption.show_pieces(pieces, self._background_color)
