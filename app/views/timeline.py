"""Timeline of the running drill next to the time controls. A click or a drag shows a past time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt, Signal, Slot
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QApplication, QWidget

from app.view_models.run_timeline import RunTimeline, start_timeline
from app.widgets import theme
from app.widgets.timeline_strip import TimelineStrip
from engine.constants import TICKS_PER_S
from engine.drill.judging.report import group_clients_by_database
from engine.events import Event
from engine.model import World
from engine.overrides import override

if TYPE_CHECKING:
    from engine.drill.running.drill import Drill

VEIL_ALPHA = 150
"""Opacity (0 to 255) of the veil over the time after the displayed past time."""


class Timeline(TimelineStrip):
    """Timeline of a drill with its lanes and markers."""

    time_dragged = Signal(float)
    """Signal: time at the dragged pointer, in seconds since the start."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._run_timeline = RunTimeline((), ())
        self._past_time_s: float | None = None
        self._pressed_x: float | None = None

    @Slot(object)
    def show_drill(self, drill: Drill) -> None:
        """Show another run, or another time of the same run."""
        self._run_timeline = start_timeline(
            drill.scenario, drill.world.availability, group_clients_by_database(drill.scenario)
        )
        self._run_timeline.add_events(event.as_json() for event in drill.events)
        length_s = None if drill.end_tick is None or drill.finished else drill.end_tick / TICKS_PER_S
        self._past_time_s = None
        truth = drill.permissions.shows_truth or drill.finished
        self.show_timeline(
            self._run_timeline, drill.world.t_s, length_s, is_live=not drill.finished, shows_truth=truth
        )

    @Slot(object)
    def show_world(self, world: World) -> None:
        """Show the current state of the world."""
        if self._past_time_s is None:
            self.show_current_time(world.t_s)
        else:
            self.show_past_time(world.t_s)

    def show_past_time(self, t_s: float | None) -> None:
        """Show the past time *t_s* (seconds since the start). None returns to the current time."""
        if t_s != self._past_time_s:
            self._past_time_s = t_s
            self.update()

    @Slot(list)
    def add_events(self, events: Sequence[Event]) -> None:
        """Add *events* to the lanes and markers."""
        self._run_timeline.add_events(event.as_json() for event in events)
        self.show_new_entries()

    # --- mouse and painting ---------------------------------------------------------------------------------

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        self._pressed_x = event.position().x() if event.button() == Qt.MouseButton.LeftButton else None

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._pressed_x is not None and event.buttons() & Qt.MouseButton.LeftButton:
            x = event.position().x()
            if abs(x - self._pressed_x) >= QApplication.startDragDistance() or self._past_time_s is not None:
                self.time_dragged.emit(self.compute_time(x))
        super().mouseMoveEvent(event)

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._pressed_x = None
        super().mouseReleaseEvent(event)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._past_time_s is None:
            return
        colors = theme.get_theme_tokens(self.palette())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        lanes = self._compute_lanes()
        x = self.compute_x(self._past_time_s)
        veil = theme.add_alpha(colors.surface, VEIL_ALPHA)
        painter.fillRect(QRectF(x, 0.0, lanes.right() + 8.0 - x, lanes.bottom()), veil)
        painter.setPen(QPen(colors.info, 2.4))
        painter.drawLine(QPointF(x, lanes.top() - 6.0), QPointF(x, lanes.bottom() + 4.0))
        painter.setBrush(colors.info)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.drawEllipse(QPointF(x, lanes.top() - 6.0), 4.5, 4.5)
