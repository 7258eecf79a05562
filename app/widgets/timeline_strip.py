"""Timeline strip with lanes for service and protection, and markers for actions and events."""

from collections.abc import Callable, Sequence
from typing import Final

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import (
    QBrush,
    QFontMetricsF,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
    QResizeEvent,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from app.view_models.run_timeline import (
    ASYNCHRONOUS,
    CLIENTS_IDLE,
    DOWN,
    EXPOSED,
    MERGED_MARKER_KINDS,
    POINT_OF_NO_RETURN_KIND,
    PROTECTED,
    SERVING,
    TRAINEE_MARKER_KINDS,
    RunTimeline,
    TimelineMarker,
    TimelineSpan,
)
from app.widgets import theme
from app.widgets.screen_reader import announce_text
from app.widgets.tables import escape_tip
from app.widgets.theme import ThemeTokens
from app.words import formatting
from app.words.language import mark, tr
from app.words.localization import localize
from engine.overrides import override

AXIS_LENGTHS_S: Final = (120, 300, 600, 1200, 1800, 3600, 7200, 14_400, 28_800, 86_400)
"""Possible lengths of the time axis. The axis grows in steps, so that markers do not move all the time."""

DATABASE_LANE, CLIENTS_LANE, PROTECTION_LANE = (
    mark("database online"),
    mark("clients working"),
    mark("protected"),
)
LANE_NAMES: Final = (DATABASE_LANE, CLIENTS_LANE, PROTECTION_LANE)
LANE_PITCH_LINES: Final = 1.2
"""Height of a lane plus its gap, in lines of text, on a strip with enough space for text in the lanes."""
COMPACT_LANES_HEIGHT_LINES: Final = 1.9
"""Height of all lanes together, in lines of text, on a compact strip.

It does not depend on the number of lanes.
"""
LABELED_MARKER_KINDS: Final = ("fault", "repair", "failover", "sql", "error", "missed")
"""Kinds of markers with a label, most important first. Labels are shown on strips with enough space."""
LABEL_WIDTH_MAX_PX: Final = 230.0
"""Maximum width of a label."""
MARKER_KEY_STEPS: Final[dict[int, Callable[[int, int], int]]] = {
    Qt.Key.Key_Left: lambda at, last: max(0, at - 1),
    Qt.Key.Key_Right: lambda at, last: min(last, at + 1),
    Qt.Key.Key_Home: lambda at, last: 0,
    Qt.Key.Key_End: lambda at, last: last,
}
"""Key -> function of the current and the last marker index that returns the index to which the key moves."""


def find_next_marker(key: int, selected: int | None, count: int, start: int) -> int:
    """Return the index of the marker to which *key* (one of MARKER_KEY_STEPS) moves.

    *selected*: current index. *count*: number of markers. If *selected* is None, the left arrow key
    moves to the last marker, and the right arrow key to the marker after *start*.
    """
    before = selected if selected is not None else count if key == Qt.Key.Key_Left else start
    return MARKER_KEY_STEPS[key](before, count - 1)


MARKER_HIT_DISTANCE_PX: Final = 7.0
"""Maximum distance between a click and the marker that it selects."""
LABEL_SCALE: Final = 0.78
NAMED_WIDTH_MIN_PX: Final = 400
"""Minimum width of a strip that shows names of lanes."""

MARKER_STYLES: Final = {
    "fault": ("bad", "down", mark("fault")),
    "repair": ("ok", "up", mark("repair")),
    "detection": ("warn", "right", mark("detected")),
    "transition": ("idle", "bar", mark("change")),
    "rewind": ("idle", "left", mark("rewound")),
    "sql": ("info", "square", "T-SQL"),
    "error": ("bad", "square", mark("T-SQL, refused")),
    "failover": ("warn", "diamond", mark("failover")),
    "reached": ("ok", "flag", mark("goal")),
    "missed": ("bad", "flag", mark("goal")),
    POINT_OF_NO_RETURN_KIND: ("bad", "cross", mark("point of no return")),
    "question": ("info", "circle", mark("question")),
    "hint": ("warn", "circle", mark("hint")),
    "note": ("idle", "circle", mark("note")),
}
"""Kind of marker -> color name, shape and name. The shape makes kinds distinguishable without color."""


class TimelineStrip(QWidget):
    """Timeline of a run, from its start to the current or last time.

    A click, or Enter on a marker, selects a time.
    """

    time_clicked = Signal(float)
    """Signal: selected time in seconds since the start."""

    def __init__(self, parent: QWidget | None = None, is_on_page: bool = False) -> None:
        """Create a strip. *is_on_page*: True on a page, which has space for labels; False in a bar."""
        super().__init__(parent)
        self._has_space = is_on_page
        self._timeline = RunTimeline((), ())
        self._now_s = 0.0
        self._length_s: float | None = None
        self._cursor_index: int | None = None
        """Index of the marker selected by keys."""
        self._is_live = True
        self._truth = True
        self._cursor_s: float | None = None
        self._shown_span: tuple[float, float] | None = None
        self._lane_box: QRectF | None = None
        self._extra_lanes: Sequence[tuple[str, Sequence[TimelineSpan]]] = ()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.setAccessibleName(tr("Timeline"))

    @override
    def sizeHint(self) -> QSize:
        return QSize(
            400,
            round(
                self.fontMetrics().height() * (1.0 + self._compute_head_lines() + self._compute_lane_lines())
            ),
        )

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(160, self.sizeHint().height())

    # --- display --------------------------------------------------------------------------------------------

    def show_timeline(
        self,
        timeline: RunTimeline,
        now_s: float,
        length_s: float | None = None,
        is_live: bool = True,
        shows_truth: bool = True,
    ) -> None:
        """Show the timeline *timeline* up to *now_s*.

        The axis has the length *length_s*, or grows if *is_live* is True. If *shows_truth* is False, show
        only the trainee's own actions.
        """
        self._timeline, self._now_s, self._length_s, self._is_live = timeline, now_s, length_s, is_live
        self._truth = shows_truth
        self._cursor_index = None
        self._lane_box = None
        self._update_description()
        self.update()

    def show_extra_lanes(self, lanes: Sequence[tuple[str, Sequence[TimelineSpan]]]) -> None:
        """Show *lanes* in addition to the fixed lanes. Each lane is (name, time spans with their states)."""
        self._extra_lanes = lanes
        self._lane_box = None
        self.updateGeometry()
        self.update()

    def show_current_time(self, now_s: float) -> None:
        """Set the current time. Repaint only if it moved visibly."""
        before = self._compute_time_position()
        self._now_s = now_s
        if self._compute_time_position() != before:
            self.update()

    def _compute_time_position(self) -> tuple[float, int]:
        """Return (length of the time axis in seconds, x of the current time in half pixels)."""
        return self.span_s, round(self.compute_x(self._now_s) * 2.0)

    @Slot(object)
    def show_time(self, t_s: float | None) -> None:
        """Draw the time cursor at *t_s* (seconds since the start). All views share this cursor.

        None hides the cursor.
        """
        self._cursor_s = t_s
        self.update()

    @Slot(object)
    def show_time_range(self, span: tuple[float, float] | None) -> None:
        """Mark the time range (seconds since the start) that all views show. None removes the mark."""
        self._shown_span = span
        self.update()

    def show_new_entries(self) -> None:
        """Show entries that were added to the timeline."""
        self._update_description()
        self.update()

    def _update_description(self) -> None:
        last_markers = self.markers[-3:]
        self.setAccessibleDescription(
            "; ".join(f"{formatting.format_run_time(m.t_s)} {localize(m.text)}" for m in last_markers)
        )

    @property
    def markers(self) -> list[TimelineMarker]:
        """Markers that the trainee may see."""
        return [
            marker for marker in self._timeline.markers if self._truth or marker.kind in TRAINEE_MARKER_KINDS
        ]

    def _list_spans(self) -> tuple[list[TimelineSpan], list[TimelineSpan]]:
        """Return (service spans, protection spans), limited to what the trainee may see."""
        if not self._truth:
            return [], []
        return self._timeline.list_service_spans(self._now_s), self._timeline.list_protection_spans(
            self._now_s
        )

    # --- geometry -------------------------------------------------------------------------------------------

    @property
    def span_s(self) -> float:
        """Length of the time axis in seconds."""
        if not self._is_live:
            return max(1.0, self._now_s)
        grown = next(
            (float(span) for span in AXIS_LENGTHS_S if span >= self._now_s * 1.02), self._now_s * 1.02
        )
        return grown if self._length_s is None else max(self._now_s, min(grown, self._length_s))

    def _compute_lanes(self) -> QRectF:
        """Return the rectangle of all lanes.

        It is cached until size or font change, because every marker needs it.
        """
        if self._lane_box is None:
            line = self.fontMetrics().height()
            left, right = compute_lane_sides(self)
            self._lane_box = QRectF(
                left, line * self._compute_head_lines(), right - left, line * self._compute_lane_lines()
            )
        return self._lane_box

    def _compute_lane_lines(self) -> float:
        """Return the height of all lanes in lines of text."""
        if self._has_space or self._extra_lanes:
            return (len(self._list_fixed_lanes()) + len(self._extra_lanes)) * LANE_PITCH_LINES
        return COMPACT_LANES_HEIGHT_LINES

    def _compute_head_lines(self) -> float:
        """Return the height above the lanes in lines of text, for markers and their labels."""
        return 2.25 if self._has_space else 0.95

    def _list_fixed_lanes(self) -> list[str]:
        """Return the names of the lanes above the state lanes.

        Lanes of clients and of protection exist only if the run has such data.
        """
        lane_flags = {
            CLIENTS_LANE: self._timeline.has_clients,
            PROTECTION_LANE: self._timeline.has_protection,
        }
        return [lane for lane in LANE_NAMES if lane_flags.get(lane, True)]

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._lane_box = None

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        self._lane_box = None

    def compute_x(self, t_s: float) -> float:
        """Return the x coordinate of a time in the widget."""
        lanes = self._compute_lanes()
        return lanes.left() + t_s / self.span_s * lanes.width()

    def compute_time(self, x: float) -> float:
        """Return the time at *x* in seconds."""
        lanes = self._compute_lanes()
        t_s = (x - lanes.left()) / lanes.width() * self.span_s
        return min(self._now_s, max(0.0, t_s))

    def find_marker_near(self, x: float) -> TimelineMarker | None:
        """Return the closest marker within MARKER_HIT_DISTANCE_PX of *x*, or None.

        Kinds in MERGED_MARKER_KINDS are chosen only if there is no marker of another kind.
        """
        markers = [
            marker for marker in self.markers if abs(self.compute_x(marker.t_s) - x) <= MARKER_HIT_DISTANCE_PX
        ]
        return min(
            markers,
            key=lambda m: (m.kind in MERGED_MARKER_KINDS, abs(self.compute_x(m.t_s) - x)),
            default=None,
        )

    # --- painting -------------------------------------------------------------------------------------------

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        colors = theme.get_theme_tokens(self.palette())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        lanes = self._compute_lanes()
        fixed = self._list_fixed_lanes()
        count = len(fixed) + len(self._extra_lanes)
        pitch = lanes.height() * 1.0 / (count - 0.08)
        rows = [
            QRectF(lanes.left(), lanes.top() + n * pitch, lanes.width(), pitch * 0.92) for n in range(count)
        ]
        for lane in rows:
            painter.fillRect(lane, colors.idle_soft)
        service, protection = self._list_spans()
        for name, lane in zip(fixed, rows, strict=False):
            for span in protection if name == PROTECTION_LANE else service:
                fill = _LANE_FILL[name].get(span.state)
                if fill is not None:
                    _paint_fill(painter, self._compute_box(span, lane), fill, colors)
        for (_, states), lane in zip(self._extra_lanes, rows[len(fixed) :], strict=True):
            for span in states:
                if span.state in _STATE_FILL:
                    _paint_fill(painter, self._compute_box(span, lane), _STATE_FILL[span.state], colors)
        if compute_lane_names_px(self):
            self._draw_names(painter, colors, rows)
        draw_time_labels(painter, self, lanes, self.span_s)
        current_marker = self.markers[self._cursor_index] if self._cursor_index is not None else None
        for marker in self._select_markers():
            self._draw_marker(painter, marker, colors, marker == current_marker)
        if self._has_space:
            self._draw_labels(painter, colors)
        for (_, states), lane in zip(self._extra_lanes, rows[len(fixed) :], strict=True):
            for span in states:
                self._draw_word(painter, self._compute_box(span, lane), span.state.replace("_", " "), colors)
        self._draw_selected_times(painter, colors, lanes)
        self._draw_now(painter, colors, lanes)
        if self.hasFocus():
            painter.setPen(QPen(colors.focus, 1.0))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1.5, 1.5, -1.5, -1.5), 5, 5)

    def _select_markers(self) -> list[TimelineMarker]:
        """Return the markers in drawing order, less important ones first.

        Of the markers of one kind at the same pixel, only one is returned.
        """
        lanes = self._compute_lanes()
        # do not call `compute_x`, which is slower, because a day of faults has 50,000 markers
        left_px, pitch = lanes.left(), lanes.width() / self.span_s
        markers_by_place = {
            (marker.kind, int(left_px + marker.t_s * pitch)): marker for marker in self.markers
        }
        return sorted(
            markers_by_place.values(),
            key=lambda marker: (
                marker.kind == POINT_OF_NO_RETURN_KIND,
                marker.kind not in MERGED_MARKER_KINDS,
            ),
        )

    def _compute_box(self, span: TimelineSpan, lane: QRectF) -> QRectF:
        left, right = self.compute_x(span.from_s), self.compute_x(span.to_s)
        return QRectF(left, lane.top(), max(1.0, right - left), lane.height())

    def _draw_word(self, painter: QPainter, box: QRectF, text: str, colors: ThemeTokens) -> None:
        """Draw a word in the center of *box*, if it fits."""
        painter.setFont(theme.resize_font(self.font(), LABEL_SCALE * 0.9))
        width = painter.fontMetrics().horizontalAdvance(text) + 8.0
        if width <= box.width():
            text_rect = QRectF(box.center().x() - width / 2.0, box.top(), width, box.height())
            painter.fillRect(text_rect, colors.surface)
            painter.setPen(colors.text)
            painter.drawText(text_rect, Qt.AlignmentFlag.AlignCenter, text)

    def _draw_names(self, painter: QPainter, colors: ThemeTokens, lanes: Sequence[QRectF]) -> None:
        painter.setFont(theme.resize_font(self.font(), LABEL_SCALE))
        painter.setPen(colors.muted)
        names = (*map(tr, self._list_fixed_lanes()), *(name for name, _ in self._extra_lanes))
        for name, lane in zip(names, lanes, strict=True):
            box = QRectF(0.0, lane.top() - 4.0, lane.left() - 6.0, lane.height() + 8.0)
            painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, name)

    def _draw_labels(self, painter: QPainter, colors: ThemeTokens) -> None:
        """Draw labels above the most important markers, where there is space."""
        font = theme.resize_font(self.font(), 0.92, bold=True)
        metrics, lanes = QFontMetricsF(font), self._compute_lanes()
        used_spans: list[tuple[float, float]] = []
        painter.setFont(font)
        labeled = [marker for marker in self.markers if marker.kind in LABELED_MARKER_KINDS]
        for marker in sorted(
            labeled, key=lambda marker: (LABELED_MARKER_KINDS.index(marker.kind), marker.t_s)
        ):
            text = f"{localize(marker.text).partition(chr(10))[0]} {formatting.format_run_time(marker.t_s)}"
            text = metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, LABEL_WIDTH_MAX_PX)
            width, x = metrics.horizontalAdvance(text), self.compute_x(marker.t_s)
            for label_x in (x - width + 6.0, x - 6.0):
                is_free = all(
                    label_x + width + 12.0 < start or label_x > end + 12.0 for start, end in used_spans
                )
                if is_free and label_x >= 0.0 and label_x + width <= self.width():
                    used_spans.append((label_x, label_x + width))
                    painter.setPen(colors.get_color(MARKER_STYLES[marker.kind][0]))
                    base = lanes.top() - self.fontMetrics().height() * 0.95
                    painter.drawText(QPointF(label_x, base), text)
                    break

    def _draw_marker(
        self, painter: QPainter, marker: TimelineMarker, colors: ThemeTokens, selected: bool
    ) -> None:
        color_name, shape, _ = MARKER_STYLES[marker.kind]
        color = colors.get_color(color_name)
        size = self.fontMetrics().height() * (0.4 if selected else 0.31)
        center = QPointF(
            self.compute_x(marker.t_s), self._compute_lanes().top() - self.fontMetrics().height() * 0.42
        )
        painter.setPen(QPen(colors.surface, 1.0))
        painter.setBrush(color)
        draw_shape(painter, shape, center, size)
        if marker.kind in MERGED_MARKER_KINDS and not selected:
            return
        stroke = Qt.PenStyle.DashLine if marker.kind == POINT_OF_NO_RETURN_KIND else Qt.PenStyle.SolidLine
        painter.setPen(QPen(colors.text if marker.kind == POINT_OF_NO_RETURN_KIND else color, 1.2, stroke))
        painter.drawLine(
            QPointF(center.x(), self._compute_lanes().top()),
            QPointF(center.x(), self._compute_lanes().bottom()),
        )

    def _draw_selected_times(self, painter: QPainter, colors: ThemeTokens, lanes: QRectF) -> None:
        """Draw the time range and the cursor that all views share."""
        if self._shown_span is not None:
            left, right = (self.compute_x(t_s) for t_s in self._shown_span)
            painter.setPen(QPen(colors.accent, 1.5))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(QRectF(left, lanes.top() - 2.0, max(2.0, right - left), lanes.height() + 4.0))
        if self._cursor_s is not None:
            x = self.compute_x(self._cursor_s)
            painter.setPen(QPen(colors.accent, 1.4, Qt.PenStyle.DashLine))
            painter.drawLine(QPointF(x, lanes.top() - 6.0), QPointF(x, lanes.bottom() + 4.0))

    def _draw_now(self, painter: QPainter, colors: ThemeTokens, lanes: QRectF) -> None:
        x = self.compute_x(self._now_s)
        painter.setPen(QPen(colors.text, 1.6))
        painter.drawLine(QPointF(x, lanes.top() - 3.0), QPointF(x, lanes.bottom() + 3.0))

    # --- mouse and keys -------------------------------------------------------------------------------------

    @override
    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            marker = self.find_marker_near(event.pos().x())
            tip = _format_tip(marker) if marker else self._format_tip_at(event.pos().x())
            QToolTip.showText(event.globalPos(), escape_tip(tip), self)
            return True
        return super().event(event)

    def _format_tip_at(self, x: float) -> str:
        t_s = self.compute_time(x)
        span_texts = [
            tr(span.state)
            for spans in self._list_spans()
            for span in spans
            if span.from_s <= t_s <= span.to_s
        ]
        return ": ".join(
            [
                formatting.format_run_time(t_s, 1),
                *([", ".join(dict.fromkeys(span_texts))] if span_texts else []),
            ]
        )

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        event.setAccepted(event.button() == Qt.MouseButton.LeftButton)

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            marker = self.find_marker_near(event.position().x())
            self.time_clicked.emit(marker.t_s if marker else self.compute_time(event.position().x()))

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        count, key = len(self.markers), event.key()
        if count and key in MARKER_KEY_STEPS:
            self._cursor_index = find_next_marker(key, self._cursor_index, count, start=count - 1)
            self._show_marker(self.markers[self._cursor_index])
        elif self._cursor_index is not None and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.time_clicked.emit(self.markers[self._cursor_index].t_s)
        else:
            super().keyPressEvent(event)

    def _show_marker(self, marker: TimelineMarker) -> None:
        """Show the tooltip of the marker at the keyboard cursor, and announce it to screen readers."""
        tip = _format_tip(marker)
        self.setAccessibleDescription(tip)
        announce_text(self, tip)
        point = QPoint(round(self.compute_x(marker.t_s)), self.height())
        QToolTip.showText(self.mapToGlobal(point), escape_tip(tip), self)
        self.update()


_IN_SERVICE_FILL, _DOWN_FILL = ("ok", Qt.BrushStyle.SolidPattern), ("bad", Qt.BrushStyle.BDiagPattern)
_LANE_FILL: Final = {
    DATABASE_LANE: {SERVING: _IN_SERVICE_FILL, CLIENTS_IDLE: _IN_SERVICE_FILL, DOWN: _DOWN_FILL},
    CLIENTS_LANE: {SERVING: _IN_SERVICE_FILL, CLIENTS_IDLE: _DOWN_FILL, DOWN: _DOWN_FILL},
    PROTECTION_LANE: {
        PROTECTED: ("info", Qt.BrushStyle.SolidPattern),
        ASYNCHRONOUS: ("warn", Qt.BrushStyle.SolidPattern),
        EXPOSED: ("warn", Qt.BrushStyle.Dense4Pattern),
    },
}
_STATE_FILL: Final = {
    "SYNCHRONIZED": ("info", Qt.BrushStyle.SolidPattern),
    "SYNCHRONIZING": ("warn", Qt.BrushStyle.Dense4Pattern),
    "PENDING_FAILOVER": ("warn", Qt.BrushStyle.Dense4Pattern),
    "SUSPENDED": ("bad", Qt.BrushStyle.BDiagPattern),
    "DISCONNECTED": ("bad", Qt.BrushStyle.BDiagPattern),
}
"""State -> color and pattern of a lane. The pattern marks problems."""


def _paint_fill(painter: QPainter, box: QRectF, fill: tuple[str, Qt.BrushStyle], colors: ThemeTokens) -> None:
    color_name, pattern = fill
    if pattern != Qt.BrushStyle.SolidPattern:
        painter.fillRect(box, colors.get_color(f"{color_name}_soft"))
    painter.fillRect(box, QBrush(colors.get_color(color_name), pattern))


def draw_shape(painter: QPainter, shape: str, center: QPointF, size: float) -> None:
    """Draw the shape of a marker. *size* is half of its width."""
    x, y = center.x(), center.y()
    points: dict[str, list[tuple[float, float]]] = {
        "down": [(-1, -0.9), (1, -0.9), (0, 1)],
        "up": [(-1, 0.9), (1, 0.9), (0, -1)],
        "diamond": [(0, -1.25), (1.1, 0), (0, 1.25), (-1.1, 0)],
        "square": [(-0.85, -0.85), (0.85, -0.85), (0.85, 0.85), (-0.85, 0.85)],
        "right": [(-0.8, -1), (1, 0), (-0.8, 1)],
        "left": [(0.8, -1), (-1, 0), (0.8, 1)],
        "bar": [(-0.35, -0.9), (0.35, -0.9), (0.35, 0.9), (-0.35, 0.9)],
        "cross": [
            (-1, -0.6),
            (-0.6, -1),
            (0, -0.4),
            (0.6, -1),
            (1, -0.6),
            (0.4, 0),
            (1, 0.6),
            (0.6, 1),
            (0, 0.4),
            (-0.6, 1),
            (-1, 0.6),
            (-0.4, 0),
        ],
        "flag": [(-0.8, -1.2), (1.1, -0.5), (-0.8, 0.2), (-0.8, 1.2)],
    }
    if shape == "circle":
        painter.drawEllipse(center, size * 0.9, size * 0.9)
    else:
        painter.drawPolygon(QPolygonF([QPointF(x + dx * size, y + dy * size) for dx, dy in points[shape]]))


def compute_lane_names_px(widget: QWidget) -> float:
    """Return the width for the names of the lanes. A narrow strip has no names."""
    if widget.width() < NAMED_WIDTH_MIN_PX:
        return 0.0
    metrics = QFontMetricsF(theme.resize_font(widget.font(), LABEL_SCALE))
    return metrics.horizontalAdvance(max(map(tr, LANE_NAMES), key=len)) + 8.0


def compute_lane_sides(widget: QWidget) -> tuple[float, float]:
    """Return the left and right end of the time axis in *widget*. Widgets below a strip use the same axis."""
    left_px = compute_lane_names_px(widget) + 10.0
    return left_px, max(left_px + 20.0, widget.width() - 10.0)


def draw_time_labels(painter: QPainter, widget: QWidget, lanes: QRectF, span_s: float) -> None:
    """Draw time labels below *lanes*, whose width represents *span_s*."""
    painter.setFont(theme.resize_font(widget.font(), 0.8))
    metrics = painter.fontMetrics()
    step = choose_time_step(span_s, max(2, int(lanes.width() / (metrics.horizontalAdvance("00:00") * 2.2))))
    painter.setPen(theme.get_theme_tokens(widget.palette()).muted)
    base = lanes.bottom() + metrics.ascent() + 2.0
    t_s = 0.0
    while t_s <= span_s + 1e-6:
        x, text = lanes.left() + t_s / span_s * lanes.width(), formatting.format_run_time(t_s)
        width = metrics.horizontalAdvance(text)
        painter.drawLine(QPointF(x, lanes.bottom()), QPointF(x, lanes.bottom() + 2.5))
        painter.drawText(QPointF(min(max(0.0, x - width / 2.0), widget.width() - width), base), text)
        t_s += step


def choose_time_step(span_s: float, labels_max: int) -> float:
    """Return a round interval of axis labels in seconds, so that there are at most *labels_max* labels."""
    steps = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 28_800)
    return next((float(step) for step in steps if span_s / step <= labels_max), span_s)


def _format_tip(marker: TimelineMarker) -> str:
    return f"{formatting.format_run_time(marker.t_s, 1)} {tr(MARKER_STYLES[marker.kind][2])}: {localize(marker.text)}"
