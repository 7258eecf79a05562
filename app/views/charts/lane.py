"""Lanes around the charts: availability of the database with its events, and the state of each server."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QBrush, QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QToolTip, QWidget

from app.view_models.run_timeline import (
    ASYNCHRONOUS,
    EXPOSED,
    PROTECTED,
    SERVING,
    UNSERVED,
    TimelineMarker,
    TimelineSpan,
)
from app.widgets import theme
from app.widgets.timeline_strip import MARKER_STYLES, draw_shape
from app.words import formatting
from app.words.language import mark, tr
from app.words.localization import localize
from engine.drill.running.state import SampledState
from engine.events import ClusterData, Event, StateData
from engine.flow import Array
from engine.model import World
from engine.overrides import override

LANE_NAME: Final = mark("availability")
MARKER_HIT_DISTANCE_PX: Final = 6
MARKER_SIZE_PX: Final = 5.0
SHADE_ALPHA: Final = 150
"""Opacity (0 to 255) of the colored time ranges behind the curves, and of the background of a label."""

DATABASE_STATE_STYLES: Final = {
    SERVING: (mark("in service"), "ok", "ok_soft", Qt.BrushStyle.NoBrush),
    PROTECTED: (mark("protected"), "ok", "ok_soft", Qt.BrushStyle.NoBrush),
    ASYNCHRONOUS: (mark("asynchronous"), "warn", "warn_soft", Qt.BrushStyle.NoBrush),
    EXPOSED: (mark("unprotected"), "warn", "warn_soft", Qt.BrushStyle.BDiagPattern),
    UNSERVED: (mark("down"), "bad", "bad_soft", Qt.BrushStyle.Dense6Pattern),
}
"""State of the database -> label, theme colors of text and background, and fill pattern.

Patterns mark problems.
"""


class TimeAxisLane(QWidget):
    """Base class of a lane that is aligned with the time axis of the charts.

    It paints its contents directly, because its text must not stretch with the axis.
    """

    def __init__(
        self, compute_pixel: Callable[[float], float], name: str, parent: QWidget | None = None
    ) -> None:
        """Create a lane. *compute_pixel* returns the x coordinate of a time."""
        super().__init__(parent)
        self._pixel_of = compute_pixel
        self._bounds = (0.0, 1.0)
        self._cursor_s: float | None = None
        self.setAccessibleName(name)

    def show_cursor(self, at_s: float | None) -> None:
        """Show the cursor at *at_s* (seconds). None hides the cursor."""
        self._cursor_s = at_s
        self.update()

    def _compute_pixel_range(self, span: TimelineSpan) -> tuple[float, float] | None:
        """Return the x coordinates of *span* within the charts, or None if it is not visible."""
        left, right = self._bounds
        x0, x1 = max(left, self._pixel_of(span.from_s)), min(right, self._pixel_of(span.to_s))
        return None if x1 < left or x0 > right else (x0, max(x1, x0 + 2.0))

    def _paint_name(self, painter: QPainter, text: str, top: float, height: float) -> None:
        """Paint *text*, the name of the lane, to the left of the time axis."""
        box = QRectF(0.0, top, max(0.0, self._bounds[0] - 5.0), height)
        painter.setPen(theme.get_theme_tokens(self.palette()).muted)
        painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)

    def _paint_cursor(self, painter: QPainter) -> None:
        left, right = self._bounds
        if self._cursor_s is not None and left <= self._pixel_of(self._cursor_s) <= right:
            painter.setPen(QPen(theme.get_theme_tokens(self.palette()).text, 1.0))
            x = round(self._pixel_of(self._cursor_s)) + 0.5
            painter.drawLine(QPointF(x, 0.0), QPointF(x, self.height()))


class AvailabilityLane(TimeAxisLane):
    """Lane of the database's availability, with event markers below it."""

    time_selected = Signal(float)

    def __init__(self, compute_pixel: Callable[[float], float], parent: QWidget | None = None) -> None:
        super().__init__(compute_pixel, tr("Availability over time"), parent)
        self._spans: Sequence[TimelineSpan] = ()
        self._markers: Sequence[TimelineMarker] = ()
        self.setMouseTracking(True)

    def show_spans(
        self, spans: Sequence[TimelineSpan], markers: Sequence[TimelineMarker], bounds: tuple[float, float]
    ) -> None:
        """Set the time ranges and markers to paint, and the pixel bounds of the charts' time axis."""
        self._spans, self._markers, self._bounds = spans, markers, bounds
        self.update()

    @property
    def summary(self) -> str:
        """Text summary of the lane for users of a screen reader."""
        totals: dict[str, float] = {}
        for span in self._spans:
            word = tr(DATABASE_STATE_STYLES[span.state][0])
            totals[word] = totals.get(word, 0.0) + span.to_s - span.from_s
        return ", ".join(f"{word} {formatting.format_seconds(total, 0)}" for word, total in totals.items())

    @override
    def sizeHint(self) -> QSize:
        return QSize(200, 2 * self._compute_row_height())

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(80, 2 * self._compute_row_height())

    def _compute_row_height(self) -> int:
        return self.fontMetrics().height() + 2

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        colors = theme.get_theme_tokens(self.palette())
        left, right = self._bounds
        self._paint_name(painter, tr(LANE_NAME), 0.0, self._compute_row_height())
        painter.setClipRect(QRectF(left, 0.0, right - left, self.height()))
        for span in self._spans:
            self._paint_span(painter, span, colors)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        middle = 1.5 * self._compute_row_height()
        for marker in self._markers:
            x = self._pixel_of(marker.t_s)
            if left <= x <= right:
                self._paint_marker(painter, QPointF(x, middle), marker.kind, colors)
        self._paint_cursor(painter)
        painter.end()

    def _paint_span(self, painter: QPainter, span: TimelineSpan, colors: theme.ThemeTokens) -> None:
        ends = self._compute_pixel_range(span)
        if ends is None:
            return
        x0, x1 = ends
        box = QRectF(x0, 1.0, x1 - x0, self._compute_row_height() - 2.0)
        word, ink, soft, pattern = DATABASE_STATE_STYLES[span.state]
        color_name, ground = colors.get_color(ink), colors.get_color(soft)
        painter.fillRect(box, ground)
        painter.fillRect(box, QBrush(color_name, pattern))
        painter.fillRect(QRectF(x0, box.bottom() - 1.0, box.width(), 2.0), color_name)
        text = f"{tr(word)} {formatting.format_seconds(span.to_s - span.from_s, 1)}"
        width = self.fontMetrics().horizontalAdvance(text) + 8
        if width <= box.width():
            words = QRectF(box.left(), box.top(), width, box.height())
            painter.fillRect(words, ground)
            painter.setPen(color_name)
            painter.drawText(words, Qt.AlignmentFlag.AlignCenter, text)

    @staticmethod
    def _paint_marker(painter: QPainter, position: QPointF, kind: str, colors: theme.ThemeTokens) -> None:
        color_name, shape, _ = MARKER_STYLES[kind]
        color = colors.get_color(color_name)
        painter.setPen(QPen(colors.surface, 1.0))
        painter.setBrush(color)
        draw_shape(painter, shape, position, MARKER_SIZE_PX)

    def find_markers_near(self, x: float) -> list[TimelineMarker]:
        """Return the markers within a few pixels of *x*."""
        return [
            marker
            for marker in self._markers
            if abs(self._pixel_of(marker.t_s) - x) <= MARKER_HIT_DISTANCE_PX
        ]

    @override
    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            lines = [
                f"{formatting.format_run_time(marker.t_s, 2)}  {tr(MARKER_STYLES[marker.kind][2])}: "
                f"{localize(marker.text)}"
                for marker in self.find_markers_near(event.pos().x())
            ]
            QToolTip.showText(event.globalPos(), "\n".join(lines[:12]) or self.summary, self)
            return True
        return super().event(event)

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        markers = self.find_markers_near(event.position().x())
        if markers and event.button() == Qt.MouseButton.LeftButton:
            closest = min(markers, key=lambda marker: abs(self._pixel_of(marker.t_s) - event.position().x()))
            self.time_selected.emit(closest.t_s)


NO_SESSION: Final = mark("no session")
"""State of a copy without a mirroring session."""

ONLINE, FAILING_OVER, OFFLINE = mark("online"), mark("failing over"), mark("offline")
"""States of the role of a failover cluster instance, which has no session."""

ROLE_STATES: Final = {
    **dict.fromkeys(("role-failed", "owner-lost", "move", "declined"), FAILING_OVER),
    **dict.fromkeys(("nowhere", "threshold"), OFFLINE),
    "online": ONLINE,
}
"""Kind of a role event -> state of the failover cluster instance."""

DOWN: Final = mark("no instance")
"""State of a server while SQL Server does not run on it."""

STATE_STYLES: Final = {
    "SYNCHRONIZED": ("ok", Qt.BrushStyle.NoBrush),
    "SYNCHRONIZING": ("info", Qt.BrushStyle.Dense7Pattern),
    "SUSPENDED": ("warn", Qt.BrushStyle.BDiagPattern),
    "DISCONNECTED": ("bad", Qt.BrushStyle.Dense6Pattern),
    "NOT_SYNCHRONIZING": ("bad", Qt.BrushStyle.Dense6Pattern),
    "REVERTING": ("warn", Qt.BrushStyle.DiagCrossPattern),
    "INITIALIZING": ("warn", Qt.BrushStyle.DiagCrossPattern),
    "PENDING_FAILOVER": ("warn", Qt.BrushStyle.DiagCrossPattern),
    NO_SESSION: ("idle", Qt.BrushStyle.NoBrush),
    ONLINE: ("ok", Qt.BrushStyle.NoBrush),
    FAILING_OVER: ("warn", Qt.BrushStyle.DiagCrossPattern),
    OFFLINE: ("bad", Qt.BrushStyle.Dense6Pattern),
    DOWN: ("idle", Qt.BrushStyle.BDiagPattern),
}
"""State -> color name and fill pattern. The pattern makes states distinguishable without color."""

SAFETY_REASON: Final = "safety"
"""Reason of "state" events that report a new SAFETY setting instead of a new state."""


def _format_state(name: str | None) -> str:
    return NO_SESSION if name in (None, "NONE") else name


class StateHistory:
    """History of the states that each server reported for its copy of one database."""

    def __init__(self, database: str) -> None:
        self.database = database
        self._changes: dict[str, list[tuple[float, str]]] = {}
        self._runs: dict[str, list[tuple[float, bool]]] = {}
        self._standing: SampledState | None = None
        self._followed = 0
        self._clustered: set[str] = set()

    def start(
        self, initial_states: Mapping[tuple[str, str], str | None], world: World, events: Iterable[Event]
    ) -> None:
        """Start the history with *initial_states* at time 0, and add the state changes of *events*.

        *initial_states*: (server, database) -> state. *events*: all events since time 0, which are
        necessary because *world* contains only the current states. A copy without events has kept its
        initial state.
        """
        self._runs, self._standing, self._followed = {}, None, 0
        servers = {copy.server for copy in world.list_copies_of(self.database)}
        servers |= {server for server, database in initial_states if database == self.database}
        self._clustered = {
            server for server in servers if server in world.instances and world.instances[server].clustered
        }
        self._changes = {
            server: [
                (
                    0.0,
                    initial_states.get((server, self.database))
                    or (ONLINE if server in self._clustered else NO_SESSION),
                )
            ]
            for server in sorted(servers)
        }
        self.add_state_changes(events)

    def add_state_changes(self, events: Iterable[Event]) -> None:
        """Add the state changes that *events* report."""
        for event in events:
            change = event.data
            if isinstance(change, ClusterData) and change.role in self._clustered:
                word = ROLE_STATES.get(change.what)
                if word is not None:
                    self._changes[change.role].append((event.t_s, word))
            if (
                not isinstance(change, StateData)
                or event.database != self.database
                or change.why == SAFETY_REASON
            ):
                continue
            before, new_state = (_format_state(name) for name in (change.old, change.new))
            lane = self._changes.setdefault(str(event.server), [(0.0, before)])
            lane.append((event.t_s, new_state))

    def add_sampled_states(self, states: Sequence[SampledState], times_s: Array) -> None:
        """Record when each instance ran. *states* and *times_s*: server states and time of each sample.

        A server is shown as DOWN while its instance does not run.
        """
        for index in range(self._followed, min(len(states), len(times_s))):
            standing = states[index]
            if standing is not self._standing:
                self._standing = standing
                for name, server in standing.instances.items():
                    run = self._runs.setdefault(name, [(0.0, True)])
                    if run[-1][1] != server.running:
                        run.append((float(times_s[index]), server.running))
        self._followed = max(self._followed, min(len(states), len(times_s)))

    def list_lanes(self, until_s: float) -> dict[str, list[TimelineSpan]]:
        """Return server -> its states up to *until_s*, ordered by server name."""
        lanes = {}
        for server in sorted(self._changes):
            changes = self._changes[server]
            ends = [*(t_s for t_s, _ in changes[1:]), max(until_s, changes[-1][0])]
            spans = [
                TimelineSpan(t_s, end_s, state) for (t_s, state), end_s in zip(changes, ends, strict=True)
            ]
            runs = self._runs.get(server, [])
            if server in self._clustered:
                lanes[server] = [
                    piece for span in spans for piece in _split_running_span(span, runs, until_s)
                ]
            else:
                lanes[server] = _mark_downtime(spans, runs, until_s)
        return lanes


def _split_running_span(
    span: TimelineSpan, runs: list[tuple[float, bool]], until_s: float
) -> list[TimelineSpan]:
    """Split the ONLINE time range *span* into ranges with and without a running instance.

    *runs*: (time of a change, whether an instance runs from then on). *until_s*: end of the last range.
    """
    if span.state != ONLINE or not runs:
        return [span]
    ends = [*(t_s for t_s, _ in runs[1:]), max(until_s, span.to_s)]
    parts = [
        TimelineSpan(max(from_s, span.from_s), min(to_s, span.to_s), ONLINE if running else OFFLINE)
        for (from_s, running), to_s in zip(runs, ends, strict=True)
    ]
    return [part for part in parts if part.from_s < part.to_s] or [span]


def _mark_downtime(
    spans: list[TimelineSpan], runs: list[tuple[float, bool]], until_s: float
) -> list[TimelineSpan]:
    """Return *spans* with the state DOWN while no instance runs.

    *runs*: (time of a change, whether an instance runs from then on). *until_s*: end of the last range.
    """
    ends = [*(t_s for t_s, _ in runs[1:]), until_s]
    for (from_s, running), to_s in zip(runs, ends, strict=bool(runs)):
        if not running:
            before = [
                TimelineSpan(s.from_s, min(s.to_s, from_s), s.state) for s in spans if s.from_s < from_s
            ]
            later_spans = [TimelineSpan(max(s.from_s, to_s), s.to_s, s.state) for s in spans if s.to_s > to_s]
            spans = [*before, TimelineSpan(from_s, to_s, DOWN), *later_spans]
    return spans


class StateLanes(TimeAxisLane):
    """Widget with a lane of states for each server."""

    def __init__(self, compute_pixel: Callable[[float], float], parent: QWidget | None = None) -> None:
        super().__init__(compute_pixel, tr("States of the database copies over time"), parent)
        self._lanes: dict[str, list[TimelineSpan]] = {}

    def show_lanes(self, lanes: dict[str, list[TimelineSpan]], bounds: tuple[float, float]) -> None:
        """Set the lanes to paint and the pixel bounds of the charts' time axis."""
        if len(lanes) != len(self._lanes):
            self.updateGeometry()
        self._lanes, self._bounds = lanes, bounds
        self.update()

    @property
    def summary(self) -> str:
        """Last state of each server, for users of a screen reader."""
        return ", ".join(f"{server} {tr(spans[-1].state)}" for server, spans in self._lanes.items())

    @override
    def sizeHint(self) -> QSize:
        return QSize(200, max(1, len(self._lanes)) * self._compute_row_height())

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(80, self.sizeHint().height())

    def _compute_row_height(self) -> int:
        return self.fontMetrics().height() + 1

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        colors = theme.get_theme_tokens(self.palette())
        left, right = self._bounds
        high = self._compute_row_height()
        for row, (server, spans) in enumerate(self._lanes.items()):
            painter.setClipping(False)
            width = max(0, int(left - 5.0))
            name = self.fontMetrics().elidedText(server, Qt.TextElideMode.ElideLeft, width)
            self._paint_name(painter, name, row * high, high)
            painter.setClipRect(QRectF(left, row * high, right - left, high))
            for span in spans:
                self._paint_span(painter, span, row * high, colors)
        painter.setClipping(False)
        self._paint_cursor(painter)
        painter.end()

    def _paint_span(
        self, painter: QPainter, span: TimelineSpan, top: float, colors: theme.ThemeTokens
    ) -> None:
        ends = self._compute_pixel_range(span)
        if ends is None:
            return
        x0, x1 = ends
        tone_name, pattern = STATE_STYLES.get(span.state, ("idle", Qt.BrushStyle.NoBrush))
        color_name, ground = colors.get_color(tone_name), colors.get_color(f"{tone_name}_soft")
        box = QRectF(x0, top + 1.0, x1 - x0, self._compute_row_height() - 2.0)
        painter.fillRect(box, ground)
        painter.fillRect(box, QBrush(color_name, pattern))
        painter.fillRect(QRectF(x0, box.top(), 2.0, box.height()), color_name)
        width = self.fontMetrics().horizontalAdvance(tr(span.state)) + 8
        if width <= box.width():
            words = QRectF(box.left() + 2.0, box.top(), width, box.height())
            painter.fillRect(words, ground)
            painter.setPen(color_name)
            painter.drawText(words, Qt.AlignmentFlag.AlignCenter, tr(span.state))

    @override
    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), self._format_tip(event.pos().x(), event.pos().y()), self)
            return True
        return super().event(event)

    def _format_tip(self, x: float, y: float) -> str:
        row = int(y) // self._compute_row_height()
        for server, spans in list(self._lanes.items())[row : row + 1]:
            for span in spans:
                if self._pixel_of(span.from_s) <= x <= self._pixel_of(span.to_s):
                    times = f"{formatting.format_run_time(span.from_s, 2)} – {formatting.format_run_time(span.to_s, 2)}"
                    return f"{server}  {tr(span.state)}\n{times}"
        return self.summary
