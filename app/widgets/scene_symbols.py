"""Symbols of topology and stage: fonts, shapes, chips and queue bars in the colors of the theme."""

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Final

from msgspec import Struct
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QPen, QPolygonF

from app.view_models.topology_contents import REDO_QUEUE, SEND_QUEUE, QueueDisplay, StatusIndicator
from app.widgets import theme
from app.widgets.theme import ThemeTokens
from app.words.language import tr


class SceneStyle(Struct, frozen=True):
    """Colors and fonts of a scene. It is created again when the theme or the font size changes."""

    colors: ThemeTokens
    font: QFont
    small: QFont
    bold: QFont
    title: QFont
    narrow: bool = False
    """True for compact cards, which are used if the text of wide cards would be too small."""

    @property
    def unit(self) -> float:
        """Height of a line of normal text. All sizes are multiples of it, so the scene follows the font."""
        return QFontMetricsF(self.font).height()

    def compute_width(self, text: str, font: QFont | None = None) -> float:
        """Return the width of *text* in pixels."""
        return QFontMetricsF(font or self.font).horizontalAdvance(text)

    def get_color(self, name: str) -> QColor:
        """Return the theme color with this name, for example ok or warn."""
        return self.colors.get_color(name)

    def get_soft_color(self, name: str) -> QColor:
        """Return the soft background color with this name."""
        return self.colors.get_color(f"{name}_soft")


def build_scene_style(colors: ThemeTokens, font: QFont) -> SceneStyle:
    """Build the style for a theme and a font."""
    return SceneStyle(
        colors=colors,
        font=font,
        small=theme.resize_font(font, 0.97),
        bold=theme.resize_font(font, 1.0, bold=True),
        title=theme.resize_font(font, 1.15, bold=True),
    )


# --- marks: shapes in the unit square -----------------------------------------------------------------------


def _build_lines(*strokes: tuple[tuple[float, float], ...]) -> QPainterPath:
    path = QPainterPath()
    for first, *other_points in strokes:
        path.moveTo(*first)
        for point in other_points:
            path.lineTo(*point)
    return path


def _build_check() -> QPainterPath:
    return _build_lines(((0.12, 0.55), (0.4, 0.82), (0.9, 0.22)))


def _build_cross() -> QPainterPath:
    return _build_lines(((0.18, 0.18), (0.82, 0.82)), ((0.82, 0.18), (0.18, 0.82)))


def _build_pause() -> QPainterPath:
    return _build_lines(((0.32, 0.15), (0.32, 0.85)), ((0.68, 0.15), (0.68, 0.85)))


def _build_cycle() -> QPainterPath:
    path = QPainterPath()
    path.arcMoveTo(0.12, 0.12, 0.76, 0.76, 30)
    path.arcTo(0.12, 0.12, 0.76, 0.76, 30, 285)
    path.addPath(_build_lines(((0.98, 0.62), (0.8, 0.78), (0.62, 0.6))))
    return path


def _build_swap() -> QPainterPath:
    return _build_lines(
        ((0.08, 0.34), (0.9, 0.34)), ((0.66, 0.12), (0.9, 0.34)),
        ((0.92, 0.68), (0.1, 0.68)), ((0.34, 0.9), (0.1, 0.68)),
    )  # fmt: skip


def _build_hourglass() -> QPainterPath:
    return _build_lines(((0.2, 0.1), (0.8, 0.1), (0.2, 0.9), (0.8, 0.9), (0.2, 0.1)))


def _build_bar() -> QPainterPath:
    return _build_lines(((0.15, 0.5), (0.85, 0.5)))


def _build_ring() -> QPainterPath:
    path = QPainterPath()
    path.addEllipse(QRectF(0.17, 0.17, 0.66, 0.66))
    return path


def _build_warning() -> QPainterPath:
    path = _build_lines(((0.5, 0.1), (0.95, 0.9), (0.05, 0.9), (0.5, 0.1)))
    path.addPath(_build_lines(((0.5, 0.4), (0.5, 0.6))))
    path.addPath(_build_lines(((0.5, 0.74), (0.5, 0.76))))
    return path


def _build_cylinder() -> QPainterPath:
    path = QPainterPath()
    path.addEllipse(QRectF(0.1, 0.08, 0.8, 0.3))
    path.moveTo(0.1, 0.23)
    path.lineTo(0.1, 0.8)
    path.arcTo(QRectF(0.1, 0.65, 0.8, 0.3), 180, 180)
    path.lineTo(0.9, 0.23)
    return path


_SHAPE_BUILDERS: Final[dict[str, Callable[[], QPainterPath]]] = {
    "check": _build_check,
    "cross": _build_cross,
    "pause": _build_pause,
    "cycle": _build_cycle,
    "swap": _build_swap,
    "hourglass": _build_hourglass,
    "bar": _build_bar,
    "ring": _build_ring,
    "warning": _build_warning,
    "single": _build_cylinder,
    "mirror": _build_cylinder,
}


def draw_symbol(painter: QPainter, shape: str, box: QRectF, color: QColor) -> None:
    """Draw the symbol *shape* (as in `StatusIndicator.shape`) in *box*."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.translate(box.topLeft())
    painter.scale(box.width(), box.height())
    pen = QPen(color, 0.15, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin)
    if shape == "dot":
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        painter.drawEllipse(QRectF(0.16, 0.16, 0.68, 0.68))
    elif shape == "principal":
        painter.setPen(QPen(pen.brush(), 0.1))
        painter.setBrush(color)
        painter.drawPath(_build_cylinder().simplified())
    else:
        pen.setWidthF(0.11 if shape in ("mirror", "single", "warning") else 0.15)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(_SHAPE_BUILDERS[shape]())
    painter.restore()


# --- texts --------------------------------------------------------------------------------------------------


def draw_text(painter: QPainter, text: str, position: QPointF, font: QFont, color: QColor) -> float:
    """Draw *text* with the left end of its baseline at *position*. Return its width."""
    painter.setFont(font)
    painter.setPen(color)
    painter.drawText(position, text)
    return QFontMetricsF(font).horizontalAdvance(text)


def draw_indicator(
    painter: QPainter,
    indicator: StatusIndicator,
    position: QPointF,
    style: SceneStyle,
    font: QFont | None = None,
    mutes_normal: bool = False,
) -> float:
    """Draw symbol and text of *indicator* with the baseline at *position*. Return the width.

    If *mutes_normal*, the text of an indicator without a problem is muted.
    """
    font = font or style.small
    metrics = QFontMetricsF(font)
    side_px = metrics.ascent() * 0.85
    color = style.get_color(indicator.color_name)
    draw_symbol(
        painter, indicator.shape, QRectF(position.x(), position.y() - side_px, side_px, side_px), color
    )
    words = style.colors.muted if mutes_normal and indicator.color_name in ("ok", "idle") else color
    return side_px * 1.35 + draw_text(
        painter, indicator.label, QPointF(position.x() + side_px * 1.35, position.y()), font, words
    )


def compute_indicator_width(
    indicator: StatusIndicator, style: SceneStyle, font: QFont | None = None
) -> float:
    """Return the width of *indicator* in pixels."""
    metrics = QFontMetricsF(font or style.small)
    return metrics.ascent() * 0.85 * 1.35 + metrics.horizontalAdvance(indicator.label)


def draw_chip(
    painter: QPainter, indicator: StatusIndicator, box: QRectF, style: SceneStyle, font: QFont | None = None
) -> None:
    """Draw *indicator* on its soft background, which fills *box*."""
    font = font or style.small
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(style.get_color(indicator.color_name), 1.0))
    painter.setBrush(style.get_soft_color(indicator.color_name))
    painter.drawRoundedRect(box, box.height() * 0.32, box.height() * 0.32)
    painter.restore()
    metrics = QFontMetricsF(font)
    base = box.center().y() + (metrics.ascent() - metrics.descent()) / 2.0
    x = box.center().x() - compute_indicator_width(indicator, style, font) / 2.0
    draw_indicator(painter, indicator, QPointF(x, base), style, font)


@contextmanager
def condense_drawing(painter: QPainter, box: QRectF, width: float) -> Iterator[None]:
    """Compress drawings horizontally while this context is active, so that *width* fits into *box*.

    If *width* fits already, drawings are unchanged.
    """
    painter.save()
    if width > box.width():
        painter.translate(box.left(), 0.0)
        painter.scale(box.width() / width, 1.0)
        painter.translate(-box.left(), 0.0)
    yield
    painter.restore()


def draw_queue_line(painter: QPainter, queue: QueueDisplay, box: QRectF, style: SceneStyle) -> None:
    """Draw name, bar and size of a queue in one line. On a compact card, the bar is below name and size."""
    words = style.compute_width(f"{tr(queue.name)} {queue.scale_text}", style.small)
    with condense_drawing(painter, box, words if style.narrow else 0.0):
        squeezed_box = QRectF(box)
        squeezed_box.setWidth(max(box.width(), words) if style.narrow else box.width())
        _draw_queue(painter, queue, squeezed_box, style)


def _draw_queue(painter: QPainter, queue: QueueDisplay, box: QRectF, style: SceneStyle) -> None:
    metrics, unit = QFontMetricsF(style.small), style.unit
    middle = box.top() + unit / 2.0
    base = middle + (metrics.ascent() - metrics.descent()) / 2.0
    names = (f"{tr(name)} " for name in (SEND_QUEUE, REDO_QUEUE))
    name_width = max(style.compute_width(name, style.small) for name in names)
    size_width = max(
        style.compute_width("102 / 200 MB", style.small), style.compute_width(queue.scale_text, style.small)
    )
    draw_text(painter, tr(queue.name), QPointF(box.left(), base), style.small, style.colors.muted)
    bar = QRectF(box.left() + name_width, middle - unit * 0.22,
                 box.width() - name_width - size_width - unit * 0.4, unit * 0.44)  # fmt: skip
    if style.narrow:
        bar = QRectF(box.left(), middle + unit * 0.5, box.width(), unit * 0.26)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(style.colors.idle_soft)
    painter.drawRoundedRect(bar, bar.height() / 2, bar.height() / 2)
    share = queue.share
    if share > 0.0:
        filled = QRectF(bar)
        filled.setWidth(max(bar.height(), bar.width() * share))
        painter.setBrush(style.colors.series[0 if queue.name == SEND_QUEUE else 1])
        painter.drawRoundedRect(filled, bar.height() / 2, bar.height() / 2)
    painter.restore()
    text = queue.scale_text
    left = box.right() - style.compute_width(text, style.small)
    draw_text(painter, text, QPointF(left, base), style.small, style.colors.text)


def build_arrow_head(tip: QPointF, angle: float, size: float) -> QPolygonF:
    """Return a triangle that points along *angle* (radians) with its tip at *tip*."""
    points = [tip]
    for turn in (math.pi - 0.42, math.pi + 0.42):
        points.append(tip + QPointF(math.cos(angle + turn), math.sin(angle + turn)) * size)
    return QPolygonF(points)


LABEL_GAP_PX = 6.0
"""Distance between a label and the plot."""


def draw_grid_lines(
    painter: QPainter, plot: QRectF, grid_lines: Iterable[tuple[float, str]], colors: ThemeTokens
) -> None:
    """Draw horizontal lines with labels.

    *grid_lines*: height as a share of *plot* (0 is the bottom), and text.
    """
    line = QFontMetricsF(painter.font()).height()
    for share, words in grid_lines:
        y = plot.bottom() - plot.height() * share
        painter.setPen(QPen(colors.border, 1.0))
        painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y))
        painter.setPen(colors.muted)
        box = QRectF(0.0, y - line / 2, plot.left() - LABEL_GAP_PX, line)
        painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, words)
