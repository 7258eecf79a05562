"""Icons of the tree: kind of object, with a small state sign at the corner."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPen, QPixmap, QPolygonF

from app.widgets import theme

DRAWINGS: Final = {
    "server": "server",
    "folder": "folder",
    "database": "database",
    "system database": "database",
    "login": "user",
    "certificate": "certificate",
    "endpoint": "cable",
    "linked server": "server",
    "job": "job",
    "log": "text",
    "availability group": "grid",
    "availability replica": "server",
    "availability database": "database",
    "listener": "cable",
    "problem": "warning",
}
"""Kind of item -> name of the icon."""

_SIDES: Final = (16, 20, 24, 32, 48)
_SHAPES: Final = {
    # tone: outline in a unit square; distinguishable without color
    "ok": ((0.15, 0.0), (1.0, 0.5), (0.15, 1.0)),  # a triangle: runs
    "bad": ((0.05, 0.05), (0.95, 0.05), (0.95, 0.95), (0.05, 0.95)),  # a square: stopped
    "warn": ((0.5, 0.0), (1.0, 0.95), (0.0, 0.95)),  # a warning triangle
    "info": ((0.5, 0.0), (1.0, 0.5), (0.5, 1.0), (0.0, 0.5)),  # a diamond: in progress
}


@lru_cache(maxsize=256)
def icon(kind: str, tone: str, dark: bool) -> QIcon:
    """Return the icon of *kind* with the sign of *tone*, none for the tones text and idle."""
    colors = theme.dark() if dark else theme.light()
    ground = colors.idle if tone == "idle" else colors.accent if kind == "folder" else colors.text
    found = QIcon()
    for side in _SIDES:
        drawn = theme.pixmap(DRAWINGS[kind], ground, side)
        if tone in _SHAPES and kind != "problem":
            _add_sign(drawn, _SHAPES[tone], colors.named(tone), colors.surface)
        found.addPixmap(drawn)
    return found


def _add_sign(
    pixmap: QPixmap, shape: tuple[tuple[float, float], ...], color: QColor, border_color: QColor
) -> None:
    side = pixmap.width() * 0.62
    corner = QRectF(pixmap.width() - side, pixmap.height() - side, side - 1, side - 1)
    outline = QPolygonF(
        [QPointF(corner.x() + x * corner.width(), corner.y() + y * corner.height()) for x, y in shape]
    )
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(border_color, max(1.0, side / 6), Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
    painter.setBrush(color)
    painter.drawPolygon(outline)
    painter.end()
