"""Strip above the charts: protection, exposure and downtime of the database, with its events."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QBrush, QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QToolTip, QWidget

from app.view_models.course import ASYNCHRONOUS, EXPOSED, PROTECTED, UNSERVED, TimelineMarker, TimelineSpan
from app.widgets import theme
from app.widgets.strip import SHAPES, WORDS, draw_shape
from app.words import formatting
from app.words.language import mark, tr
from app.words.localization import localize
from engine.overrides import override

NAME: Final = mark("availability")
NEAR_PX: Final = 6
MARK_PX: Final = 5.0
SHADE_ALPHA: Final = 150
"""Opacity of such times behind the curves, and of the background of a label."""

LOOKS: Final = {
    PROTECTED: (mark("protected"), "ok", "ok_soft", Qt.BrushStyle.NoBrush),
    ASYNCHRONOUS: (mark("asynchronous"), "warn", "warn_soft", Qt.BrushStyle.NoBrush),
    EXPOSED: (mark("unprotected"), "warn", "warn_soft", Qt.BrushStyle.BDiagPattern),
    UNSERVED: (mark("down"), "bad", "bad_soft", Qt.BrushStyle.Dense6Pattern),
}
"""Appearance of each state of the database: word, theme tokens for text and background, pattern if something is
wrong.
"""


class AxisStrip(QWidget):
    """Strip above the charts on their time axis.

    It is painted by hand because its text must not stretch with the axis.
    """

    def __init__(self, pixel_of: Callable[[float], float], name: str, parent: QWidget | None = None) -> None:
        """Create a lane; *resolve_object_key* returns the pixel of a time."""
        super().__init__(parent)
        self._pixel_of = pixel_of
        self._bounds = (0.0, 1.0)
        self._cursor_s: float | None = None
        self.setAccessibleName(name)

    def show_cursor(self, at_s: float | None) -> None:
        """Show the cursor at a time in seconds; None hides it."""
        self._cursor_s = at_s
        self.update()

    def _compute_pixel_range(self, span: TimelineSpan) -> tuple[float, float] | None:
        """Return the pixels of *span* within the charts; None where it is not in sight."""
        left, right = self._bounds
        x0, x1 = max(left, self._pixel_of(span.from_s)), min(right, self._pixel_of(span.to_s))
        return None if x1 < left or x0 > right else (x0, max(x1, x0 + 2.0))

    def _paint_name(self, painter: QPainter, text: str, top: float, height: float) -> None:
        """Paint the name to the left of the charts."""
        box = QRectF(0.0, top, max(0.0, self._bounds[0] - 5.0), height)
        painter.setPen(theme.tokens(self.palette()).muted)
        painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)

    def _paint_cursor(self, painter: QPainter) -> None:
        left, right = self._bounds
        if self._cursor_s is not None and left <= self._pixel_of(self._cursor_s) <= right:
            painter.setPen(QPen(theme.tokens(self.palette()).text, 1.0))
            x = round(self._pixel_of(self._cursor_s)) + 0.5
            painter.drawLine(QPointF(x, 0.0), QPointF(x, self.height()))


class AvailabilityLane(AxisStrip):
    """Availability, with markers of events below it."""

    time_selected = Signal(float)

    def __init__(self, pixel_of: Callable[[float], float], parent: QWidget | None = None) -> None:
        super().__init__(pixel_of, tr("Availability over time"), parent)
        self._spans: Sequence[TimelineSpan] = ()
        self._marks: Sequence[TimelineMarker] = ()
        self.setMouseTracking(True)

    def show_course(
        self, spans: Sequence[TimelineSpan], marks: Sequence[TimelineMarker], bounds: tuple[float, float]
    ) -> None:
        """Set the contents to paint and the pixels between which the times of the charts lie."""
        self._spans, self._marks, self._bounds = spans, marks, bounds
        self.update()

    @property
    def summary(self) -> str:
        """The course in words, for who cannot see it."""
        totals: dict[str, float] = {}
        for span in self._spans:
            word = tr(LOOKS[span.what][0])
            totals[word] = totals.get(word, 0.0) + span.to_s - span.from_s
        return ", ".join(f"{word} {formatting.seconds(total, 0)}" for word, total in totals.items())

    @override
    def sizeHint(self) -> QSize:
        return QSize(200, 2 * self._row_height())

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(80, 2 * self._row_height())

    def _row_height(self) -> int:
        return self.fontMetrics().height() + 2

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        colors = theme.tokens(self.palette())
        left, right = self._bounds
        self._paint_name(painter, tr(NAME), 0.0, self._row_height())
        painter.setClipRect(QRectF(left, 0.0, right - left, self.height()))
        for span in self._spans:
            self._paint_span(painter, span, colors)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        middle = 1.5 * self._row_height()
        for marker in self._marks:
            x = self._pixel_of(marker.t_s)
            if left <= x <= right:
                self._paint_mark(painter, QPointF(x, middle), marker.kind, colors)
        self._paint_cursor(painter)
        painter.end()

    def _paint_span(self, painter: QPainter, span: TimelineSpan, colors: theme.ThemeTokens) -> None:
        ends = self._compute_pixel_range(span)
        if ends is None:
            return
        x0, x1 = ends
        place = QRectF(x0, 1.0, x1 - x0, self._row_height() - 2.0)
        word, ink, soft, pattern = LOOKS[span.what]
        tone, ground = colors.named(ink), colors.named(soft)
        painter.fillRect(place, ground)
        painter.fillRect(place, QBrush(tone, pattern))
        painter.fillRect(QRectF(x0, place.bottom() - 1.0, place.width(), 2.0), tone)
        text = f"{tr(word)} {formatting.seconds(span.to_s - span.from_s, 1)}"
        width = self.fontMetrics().horizontalAdvance(text) + 8
        if width <= place.width():
            words = QRectF(place.left(), place.top(), width, place.height())
            painter.fillRect(words, ground)
            painter.setPen(tone)
            painter.drawText(words, Qt.AlignmentFlag.AlignCenter, text)

    @staticmethod
    def _paint_mark(painter: QPainter, position: QPointF, kind: str, colors: theme.ThemeTokens) -> None:
        tone, shape = SHAPES[kind]
        color = colors.named(tone)
        painter.setPen(QPen(colors.surface, 1.0))
        painter.setBrush(color)
        draw_shape(painter, shape, position, MARK_PX)

    def marks_near(self, x: float) -> list[TimelineMarker]:
        """Return marks within a few pixels of *x*."""
        return [marker for marker in self._marks if abs(self._pixel_of(marker.t_s) - x) <= NEAR_PX]

    @override
    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            lines = [
                f"{formatting.run_time(marker.t_s, 2)}  {tr(WORDS[marker.kind])}: {localize(marker.text)}"
                for marker in self.marks_near(event.pos().x())
            ]
            QToolTip.showText(event.globalPos(), "\n".join(lines[:12]) or self.summary, self)
            return True
        return super().event(event)

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        near = self.marks_near(event.position().x())
        if near and event.button() == Qt.MouseButton.LeftButton:
            closest = min(near, key=lambda marker: abs(self._pixel_of(marker.t_s) - event.position().x()))
            self.time_selected.emit(closest.t_s)
