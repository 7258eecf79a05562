"""A strip above the charts: when the database was protected, exposed or down, and what happened when."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QToolTip, QWidget

from app import formatting, theme
from app.lanes import DOWN, EXPOSED, PROTECTED
from engine.events import Event
from engine.inputs import VERBS

NEAR_PX: Final = 6

LOOKS: Final = {PROTECTED: ("ok", "ok_soft"), EXPOSED: ("warn", "warn_soft"), DOWN: ("bad", "bad_soft")}
"""Tokens of the theme for text and ground of each state."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that happened: its time, what kind of thing, its words."""

    t_s: float
    kind: str
    """fault, repair, failover or state."""
    text: str


MARK_TONES: Final = {"fault": "bad", "repair": "ok", "failover": "accent", "state": "muted"}
_SHAPES: Final[dict[str, tuple[tuple[float, float], ...]]] = {
    "fault": ((-1, -1), (1, 1), (0, 0), (-1, 1), (1, -1), (0, 0)),
    "repair": ((-1, 0), (1, 0), (0, 0), (0, -1), (0, 1), (0, 0)),
    "failover": ((-1, 0.9), (1, 0.9), (0, -1)),
    "state": ((-0.6, 0), (0, -0.6), (0.6, 0), (0, 0.6)),
}
"""Outlines, from -1 to 1: told apart by shape as well as by colour."""


def mark_of(event: Event, database: str) -> Mark | None:
    """The mark for an event that concerns *database*; None for what needs none."""
    if event.database not in (None, database):
        return None
    where = f"{event.server}: " if event.server else ""
    if event.kind == "fault" and not event.get("no_effect"):
        verb = VERBS.get(event.get("verb") or "")
        repairs = verb is not None and verb.group == "repair"
        return Mark(event.t_s, "repair" if repairs else "fault", event.text)
    if event.kind == "failover":
        return Mark(event.t_s, "failover", event.text)
    if event.kind in ("state", "role"):
        return Mark(event.t_s, "state", where + event.text)
    return None


class Lane(QWidget):
    """Painted by hand, because its words must not stretch with the axis."""

    time_selected = Signal(float)

    def __init__(self, place_of: Callable[[float], float], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._place_of = place_of
        self._spans: Sequence[tuple[float, float, str]] = ()
        self._marks: Sequence[Mark] = ()
        self._cursor_s: float | None = None
        self._bounds = (0.0, 1.0)
        self.setMouseTracking(True)
        self.setAccessibleName("Availability over time")

    def show_course(
        self, spans: Sequence[tuple[float, float, str]], marks: Sequence[Mark], bounds: tuple[float, float]
    ) -> None:
        """What to paint, and the pixels between which the charts' times lie."""
        self._spans, self._marks, self._bounds = spans, marks, bounds
        self.update()

    def show_cursor(self, at_s: float | None) -> None:
        self._cursor_s = at_s
        self.update()

    @property
    def summary(self) -> str:
        """The course in words, for who cannot see it."""
        totals: dict[str, float] = {}
        for start_s, end_s, state in self._spans:
            totals[state] = totals.get(state, 0.0) + end_s - start_s
        return ", ".join(f"{state} {formatting.seconds(total, 0)}" for state, total in totals.items())

    def sizeHint(self) -> QSize:
        return QSize(200, 2 * self._row_height())

    def minimumSizeHint(self) -> QSize:
        return QSize(80, 2 * self._row_height())

    def _row_height(self) -> int:
        return self.fontMetrics().height() + 2

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        colours = theme.tokens(self.palette())
        left, right = self._bounds
        painter.setClipRect(QRectF(left, 0.0, right - left, self.height()))
        for start_s, end_s, state in self._spans:
            self._paint_span(painter, start_s, end_s, state, colours)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        middle = 1.5 * self._row_height()
        for mark in self._marks:
            x = self._place_of(mark.t_s)
            if left <= x <= right:
                self._paint_mark(painter, QPointF(x, middle), mark.kind, colours)
        if self._cursor_s is not None:
            painter.setPen(QPen(colours.text, 1.0))
            x = round(self._place_of(self._cursor_s)) + 0.5
            painter.drawLine(QPointF(x, 0.0), QPointF(x, self.height()))
        painter.end()

    def _paint_span(
        self, painter: QPainter, start_s: float, end_s: float, state: str, colours: theme.Tokens
    ) -> None:
        left, right = self._bounds
        x0, x1 = max(left, self._place_of(start_s)), min(right, self._place_of(end_s))
        if x1 < left or x0 > right:
            return
        place = QRectF(x0, 1.0, max(x1 - x0, 2.0), self._row_height() - 2.0)
        tone, ground = (getattr(colours, name) for name in LOOKS[state])
        painter.fillRect(place, ground)
        if state != PROTECTED:
            pattern = Qt.BrushStyle.BDiagPattern if state == EXPOSED else Qt.BrushStyle.Dense6Pattern
            painter.fillRect(place, QBrush(tone, pattern))
        painter.fillRect(QRectF(x0, place.bottom() - 1.0, place.width(), 2.0), tone)
        text = f"{state} {formatting.seconds(end_s - start_s, 1)}"
        width = self.fontMetrics().horizontalAdvance(text) + 8
        if width <= place.width():
            words = QRectF(place.left(), place.top(), width, place.height())
            painter.fillRect(words, ground)
            painter.setPen(tone)
            painter.drawText(words, Qt.AlignmentFlag.AlignCenter, text)

    @staticmethod
    def _paint_mark(painter: QPainter, at: QPointF, kind: str, colours: theme.Tokens) -> None:
        colour: QColor = getattr(colours, MARK_TONES[kind])
        painter.setPen(QPen(colour, 2.0 if kind in ("fault", "repair") else 1.0))
        painter.setBrush(colour)
        painter.drawPolygon(
            QPolygonF([QPointF(at.x() + 4.5 * x, at.y() + 4.5 * y) for x, y in _SHAPES[kind]])
        )

    def marks_near(self, x: float) -> list[Mark]:
        """Marks within a few pixels of *x*."""
        return [mark for mark in self._marks if abs(self._place_of(mark.t_s) - x) <= NEAR_PX]

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            lines = [
                f"{formatting.run_time(mark.t_s, 2)}  {mark.text}"
                for mark in self.marks_near(event.pos().x())
            ]
            QToolTip.showText(event.globalPos(), "\n".join(lines[:12]) or self.summary, self)
            return True
        return super().event(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        near = self.marks_near(event.position().x())
        if near and event.button() == Qt.MouseButton.LeftButton:
            closest = min(near, key=lambda mark: abs(self._place_of(mark.t_s) - event.position().x()))
            self.time_selected.emit(closest.t_s)
