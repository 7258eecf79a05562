"""Time labels below the plots, visible while many plots are scrolled."""

from __future__ import annotations

import math
from collections.abc import Callable

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.view_models.series import time_step_s
from app.widgets import theme
from app.words import formatting
from engine.overrides import override

TICK_PX = 4
CURSOR_MARGIN_PX = 4.0
"""Margin around the time of the cursor."""


class TimeScale(QWidget):
    """Round times since the start of the run, at the grid of the plots."""

    def __init__(self, pixel_of: Callable[[float], float], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._pixel_of = pixel_of
        self._range = (0.0, 1.0)
        self._cursor_s: float | None = None
        self.setFont(theme.sized(self.font(), 0.85))

    def show_range(self, span: tuple[float, float]) -> None:
        """Show the times at both ends, in seconds since the start."""
        self._range = span
        self.update()

    def show_cursor(self, at_s: float | None) -> None:
        """Say what time the cursor is at, below it."""
        if at_s != self._cursor_s:
            self._cursor_s = at_s
            self.update()

    @property
    def cursor_text(self) -> str:
        """The time that is written below the cursor."""
        shown = self._cursor_s is not None and self._range[0] <= self._cursor_s <= self._range[1]
        return formatting.run_time(self._cursor_s, 1) if shown and self._cursor_s is not None else ""

    def times_s(self) -> list[float]:
        """Return every time that has a label."""
        from_s, to_s = self._range
        step_s = time_step_s(to_s - from_s, self._pixel_of(to_s) - self._pixel_of(from_s))
        first = math.ceil(from_s / step_s)
        return [step_s * number for number in range(first, math.floor(to_s / step_s) + 1)]

    @override
    def sizeHint(self) -> QSize:
        return QSize(200, self.fontMetrics().height() + TICK_PX + 2)

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(80, self.sizeHint().height())

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        colors = theme.tokens(self.palette())
        left, right = (self._pixel_of(t_s) for t_s in self._range)
        painter.setPen(colors.border)
        painter.drawLine(round(left), 0, round(right), 0)
        cursor = QRectF()
        if self._cursor_s is not None and self.cursor_text:
            cursor = self._compute_label_rect(
                self._pixel_of(self._cursor_s), self.cursor_text, CURSOR_MARGIN_PX
            )
        for t_s in self.times_s():
            x = self._pixel_of(t_s)
            painter.setPen(colors.border)
            painter.drawLine(round(x), 0, round(x), TICK_PX)
            text = formatting.run_time(t_s)
            place = self._compute_label_rect(x, text)
            if not place.intersects(cursor):  # the time of the cursor is shown there instead
                painter.setPen(colors.muted)
                painter.drawText(place, Qt.AlignmentFlag.AlignCenter, text)
        painter.fillRect(cursor, colors.text)
        painter.setPen(colors.surface)
        painter.drawText(cursor, Qt.AlignmentFlag.AlignCenter, self.cursor_text)
        painter.end()

    def _compute_label_rect(self, x: float, text: str, margin_px: float = 0.0) -> QRectF:
        """Return the rectangle of *text* for *x*: centered below it, but within the edges."""
        width = self.fontMetrics().horizontalAdvance(text) + 2.0 * margin_px
        place = QRectF(x - width / 2.0, TICK_PX, width, self.height() - TICK_PX)
        place.moveLeft(max(0.0, min(place.left(), self.width() - width)))
        return place
