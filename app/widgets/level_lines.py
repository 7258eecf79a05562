"""Level lines of a small plot, each with its label to the left."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPen

from app.widgets.theme import ThemeTokens

GAP_PX = 6.0
"""Distance between label and plot."""


def draw_levels(
    painter: QPainter, plot: QRectF, levels: Iterable[tuple[float, str]], colors: ThemeTokens
) -> None:
    """Draw *levels*: share of the height of *plot*, 0 at the bottom, and the text, in the font of *painter*."""
    line = QFontMetricsF(painter.font()).height()
    for share, words in levels:
        y = plot.bottom() - plot.height() * share
        painter.setPen(QPen(colors.border, 1.0))
        painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y))
        painter.setPen(colors.muted)
        where = QRectF(0.0, y - line / 2, plot.left() - GAP_PX, line)
        painter.drawText(where, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, words)
