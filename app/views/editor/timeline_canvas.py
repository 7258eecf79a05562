"""Time axis of a scenario with lanes of entries that can be dragged."""

from collections.abc import Iterator
from typing import Final

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFontMetricsF,
    QHelpEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QApplication, QSizePolicy, QToolTip, QWidget

from app.views.editor.timeline_entries import (
    CONDITIONAL_FAULT,
    WHOLE_ENTRY,
    WINDOW_FAULT,
    EntrySpan,
    FaultLayout,
    Path,
    TimeAxisScale,
    TimelineEntry,
    TimelinePlan,
    describe_condition,
    describe_entry,
    drag_span,
    find_dragged_part,
    lay_out_faults,
    lay_out_flow,
    space_apart,
)
from app.widgets import theme
from app.widgets.theme import ThemeTokens
from app.widgets.timeline_strip import choose_time_step, draw_shape
from app.words import formatting
from app.words.language import tr
from engine.overrides import override

CANVAS_MARGIN: Final = 14.0
LABEL_SCALE: Final = 0.88
LABEL_LENGTH_MAX: Final = 22.0
"""Maximum length of a label in average characters. Longer labels, such as T-SQL, are elided."""
CHIP_LENGTH_MAX: Final = 48.0
CHIP_GAP: Final = 6.0
LEADER_HEIGHT_LINES: Final = 0.45
"""Height of the leader lines that connect step times with step discs, in line heights of text."""

GROUP_STYLES: Final = {
    "fault": ("bad", "down"),
    "repair": ("ok", "up"),
    "load": ("info", "circle"),
    "sql": ("info", "square"),
    "chore": ("idle", "diamond"),
}
"""Group of the verb -> color name and shape. The shape makes groups distinguishable without color."""
DEFAULT_STYLE: Final = ("idle", "circle")


class TimelineCanvas(QWidget):
    """Canvas that draws a timeline plan. It emits mouse actions and does not change the plan."""

    entry_chosen = Signal(object)
    """Signal: path of the clicked entry."""
    selection_toggled = Signal(object)
    """Signal: path of an entry clicked with Ctrl, which should be added to or removed from the selection."""
    menu_wanted = Signal(object, object, object)
    """Signal: screen position, path of the entry or None, and the time there in seconds. The time is None if
    a key opens the menu.
    """
    entry_dropped = Signal(object, object)
    """Signal: dragged entry with its old time, and its new (start, end) in seconds."""
    height_changed = Signal()
    """Signal: the lanes need another height."""
    add_wanted = Signal(float)
    """Signal: time in seconds since the start at which free space was double-clicked."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._plan = TimelinePlan(120.0)
        self._chosen_path: Path | None = None
        self._selected: frozenset[Path] = frozenset()
        self._cursor_s: float | None = None
        self._dragged: tuple[TimelineEntry, str, float] | None = None
        """Dragged entry, its part, and the position where the drag began."""
        self._dragged_span: EntrySpan | None = None
        """Current position of the held entry after the drag has started."""
        self._boxes: list[tuple[TimelineEntry, QRectF, FaultLayout | None]] = []
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.MinimumExpanding)
        self.setAccessibleName(tr("Timeline of the scenario"))
        theme.call_after_events(self, theme.STYLE_EVENTS, self._lay_out)
        theme.call_after_events(self, theme.SIZE_EVENTS, self._lay_out)

    # --- display --------------------------------------------------------------------------------------------

    def show_plan(
        self, plan: TimelinePlan, current_path: Path | None, selected: frozenset[Path] = frozenset()
    ) -> None:
        """Show *plan* and highlight the entry at *current_path* and the *selected* entries.

        Cancel a running drag.
        """
        self._plan, self._chosen_path, self._selected = plan, current_path, selected
        self._dragged = self._dragged_span = None
        entry = plan.find_entry(current_path)
        lines = [describe_entry(entry)] if entry else []
        if len(selected) > 1:
            lines.append(tr("{n} selected").format(n=len(selected)))
        self.setAccessibleDescription("; ".join(lines))
        self._lay_out()

    @property
    def cursor_s(self) -> float | None:
        """Time of the last click in seconds since the start, or None."""
        return self._cursor_s

    def compute_box(self, path: Path) -> QRectF | None:
        """Return the rectangle of the entry at *path*, or None."""
        return next((self._pin_box(entry, box) for entry, box, _ in self._boxes if entry.path == path), None)

    @property
    def scale(self) -> TimeAxisScale:
        """Scale of the time axis."""
        return TimeAxisScale(CANVAS_MARGIN, max(40.0, self.width() - 2 * CANVAS_MARGIN), self._plan.length_s)

    # --- geometry -------------------------------------------------------------------------------------------

    @property
    def _line(self) -> float:
        return QFontMetricsF(self.font()).height()

    @property
    def _visible_rect(self) -> QRectF:
        """Visible part of the canvas. Lane names and entries without a time stay inside it during scrolling."""
        parent = self.parentWidget()
        if parent is None or parent.width() >= self.width():
            return QRectF(self.rect())
        return QRectF(-self.x(), 0.0, parent.width(), self.height())

    def _lay_out(self) -> None:
        metrics = QFontMetricsF(theme.resize_font(self.font(), LABEL_SCALE))
        line, scale = self._line, self.scale
        timed = [entry for entry in self._plan.faults if entry.kind != CONDITIONAL_FAULT]
        waiting = [entry for entry in self._plan.faults if entry.kind == CONDITIONAL_FAULT]
        self._boxes, y = [], line * 1.5
        self._lanes = [(y, tr("Faults"))]
        y += line * 1.15
        widths = [metrics.horizontalAdvance(self._format_label(entry, metrics)) for entry in timed]
        high = line * 1.45
        for entry, fault_layout in zip(
            timed, lay_out_faults([self._get_span(entry) for entry in timed], widths, scale), strict=True
        ):
            top = y + fault_layout.row * high
            self._boxes.append(
                (
                    entry,
                    QRectF(fault_layout.from_x, top, fault_layout.to_x - fault_layout.from_x, high),
                    fault_layout,
                )
            )
        rows = 1 + max((layout.row for *_, layout in self._boxes if layout is not None), default=0)
        y += rows * high + line * 0.25
        if waiting:
            self._lanes.append((y, tr("Time of an entry")))
            y += line * 1.15
            room = self._visible_rect.width() - 2 * CANVAS_MARGIN
            chips = [
                min(room, metrics.horizontalAdvance(self._format_label(entry, metrics)) + line * 1.5)
                for entry in waiting
            ]
            chip_places = lay_out_flow(chips, room, CHIP_GAP)
            for entry, width, (row, x) in zip(waiting, chips, chip_places, strict=True):
                self._boxes.append(
                    (entry, QRectF(CANVAS_MARGIN + x, y + row * high, width, high * 0.88), None)
                )
            y += (chip_places[-1][0] + 1) * high + line * 0.25
        is_known = all(entry.is_time_known for entry in self._plan.steps)
        words = (
            tr("Reference solution")
            if is_known
            else tr("Reference solution (dashed steps are in order but not to scale)")
        )
        self._lanes.append((y, words))
        y += line * 1.15
        y += line * LEADER_HEIGHT_LINES
        size = line * 1.1
        order = sorted(self._plan.steps, key=lambda entry: entry.span[0])
        xs = [scale.compute_x(entry.span[0]) for entry in order]
        disc_xs = space_apart(xs, size + 2.0, scale.left, scale.left + scale.width)
        for entry, x in zip(order, disc_xs, strict=True):
            self._boxes.append((entry, QRectF(x - size / 2.0, y, size, size), None))
        self.update()
        needed_height = round(y + line * 1.4)
        if needed_height != self.minimumHeight():
            self.setMinimumHeight(needed_height)
            self.height_changed.emit()

    @override
    def sizeHint(self) -> QSize:
        return QSize(600, self.minimumHeight())

    def _get_span(self, entry: TimelineEntry) -> EntrySpan:
        dragged_entry = self._dragged
        return (
            self._dragged_span
            if self._dragged_span and dragged_entry and dragged_entry[0].path == entry.path
            else entry.span
        )

    def _format_label(self, entry: TimelineEntry, metrics: QFontMetricsF) -> str:
        words, length_max = entry.line or tr("empty"), LABEL_LENGTH_MAX
        if entry.kind == CONDITIONAL_FAULT:
            words, length_max = f"{describe_condition(entry)}: {words}", CHIP_LENGTH_MAX
        room = metrics.horizontalAdvance("x") * length_max * 1.15
        return metrics.elidedText(words, Qt.TextElideMode.ElideRight, room)

    def _pin_box(self, entry: TimelineEntry, box: QRectF) -> QRectF:
        return box.translated(self._visible_rect.left(), 0.0) if entry.kind == CONDITIONAL_FAULT else box

    def _find_entry(self, position: QPointF) -> tuple[TimelineEntry, str] | None:
        """Return (entry, part of the entry) at *position*, or None.

        Of overlapping entries, the selected entry has precedence, then the entry drawn last.
        """
        hits = [
            (entry, fault_layout)
            for entry, box, fault_layout in self._boxes
            if self._pin_box(entry, box).contains(position)
        ]
        hits.sort(key=lambda hit: hit[0].path == self._chosen_path)
        for entry, layout in reversed(hits):
            part = WHOLE_ENTRY if layout is None else find_dragged_part(layout, position.x())
            if part is not None:
                return entry, part
        return None

    # --- mouse ----------------------------------------------------------------------------------------------

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            event.ignore()
            return
        hit = self._find_entry(event.position())
        if hit is None:
            self._cursor_s = float(round(self.scale.compute_time(event.position().x())))
            self.update()
            return
        entry, part = hit
        self._dragged = (entry, part, event.position().x())
        self._chosen_path = entry.path
        self.update()

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._dragged is None or not event.buttons() & Qt.MouseButton.LeftButton:
            self._update_pointer(event.position())
            return
        entry, part, from_x = self._dragged
        moved_px = event.position().x() - from_x
        if entry.kind == CONDITIONAL_FAULT or not entry.is_movable:
            return
        if self._dragged_span is None and abs(moved_px) < QApplication.startDragDistance() / 2:
            return
        scale = self.scale
        by_s = moved_px / scale.width * scale.length_s
        self._dragged_span = drag_span(entry.span, part, by_s, scale.step_s, scale.length_s)
        self._lay_out()

    def _update_pointer(self, position: QPointF) -> None:
        entry = self._find_entry(position)
        if entry is None:
            self.unsetCursor()
        elif entry[1] != WHOLE_ENTRY:
            self.setCursor(Qt.CursorShape.SplitHCursor)
        elif entry[0].kind != CONDITIONAL_FAULT and entry[0].is_movable:
            self.setCursor(Qt.CursorShape.SizeHorCursor)
        else:
            self.setCursor(Qt.CursorShape.PointingHandCursor)

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton or self._dragged is None:
            return
        (entry, *_), spot = self._dragged, self._dragged_span
        self._dragged = self._dragged_span = None
        if spot is None and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.selection_toggled.emit(entry.path)
        elif spot is None or entry.path not in self._selected:
            self.entry_chosen.emit(entry.path)
        if spot is not None and spot != entry.span:
            self.entry_dropped.emit(entry, spot)
        else:
            self._lay_out()

    @override
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self._find_entry(event.position()) is None:
            self.add_wanted.emit(float(round(self.scale.compute_time(event.position().x()))))

    @override
    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            box = self.compute_box(self._chosen_path) if self._chosen_path is not None else None
            point = box.center().toPoint() if box is not None else self._visible_rect.center().toPoint()
            self.menu_wanted.emit(self.mapToGlobal(point), self._chosen_path, None)
            return
        entry = self._find_entry(QPointF(event.pos()))
        at_s = float(round(self.scale.compute_time(event.pos().x())))
        self.menu_wanted.emit(event.globalPos(), entry[0].path if entry else None, at_s)

    def cancel_drag(self) -> bool:
        """Cancel a running drag, so that the entry keeps its time. Return False if there is none."""
        if self._dragged is None:
            return False
        self._dragged = self._dragged_span = None
        self._lay_out()
        return True

    @override
    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            entry = self._find_entry(QPointF(event.pos()))
            tip = "\n".join(filter(None, (describe_entry(entry[0]), entry[0].note))) if entry else ""
            QToolTip.showText(event.globalPos(), tip, self)
            return True
        return super().event(event)

    # --- painting -------------------------------------------------------------------------------------------

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(self.rect(), theme.get_theme_tokens(self.palette()).surface)
        if not self.isEnabled():
            painter.setOpacity(0.4)
        colors = theme.get_theme_tokens(self.palette())
        self._draw_axis(painter, colors)
        self._draw_names(painter, colors)
        for entry, box, layout in sorted(self._boxes, key=lambda item: item[0].path == self._chosen_path):
            if layout is not None:
                self._draw_fault(painter, colors, entry, box, layout)
            elif entry.kind == CONDITIONAL_FAULT:
                self._draw_chip(painter, colors, entry, self._pin_box(entry, box))
            else:
                self._draw_step(painter, colors, entry, box)
        self._draw_times(painter, colors)
        if self.hasFocus():
            painter.setPen(QPen(colors.focus, 1.0))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(self._visible_rect.adjusted(0.5, 0.5, -0.5, -0.5))

    def _is_selected(self, entry: TimelineEntry) -> bool:
        return entry.path == self._chosen_path or entry.path in self._selected

    def _list_ticks(self, metrics: QFontMetricsF) -> Iterator[float]:
        scale = self.scale
        step = choose_time_step(
            scale.length_s, max(2, int(scale.width / (metrics.horizontalAdvance("00:00") * 2.4)))
        )
        for number in range(int(scale.length_s / step + 1e-6) + 1):
            yield number * step

    def _draw_axis(self, painter: QPainter, colors: ThemeTokens) -> None:
        painter.setFont(theme.resize_font(self.font(), 0.85))
        metrics = QFontMetricsF(painter.font())
        top = self._line * 1.3
        for t_s in self._list_ticks(metrics):
            x, text = self.scale.compute_x(t_s), formatting.format_run_time(t_s)
            width = metrics.horizontalAdvance(text)
            painter.setPen(QPen(colors.border, 1.0))
            painter.drawLine(QPointF(x, top), QPointF(x, self.height()))
            painter.setPen(colors.muted)
            left_px = min(max(2.0, x - width / 2.0), self.width() - width - 2.0)
            painter.drawText(QPointF(left_px, top - metrics.descent() - 1.0), text)
        painter.setPen(QPen(colors.muted, 1.0))
        painter.drawLine(QPointF(CANVAS_MARGIN, top), QPointF(self.width() - CANVAS_MARGIN, top))

    def _draw_names(self, painter: QPainter, colors: ThemeTokens) -> None:
        painter.setFont(theme.resize_font(self.font(), 0.85))
        metrics = QFontMetricsF(painter.font())
        rect = self._visible_rect
        for number, (top, name) in enumerate(self._lanes):
            if number:
                painter.setPen(QPen(colors.border, 1.0))
                painter.drawLine(QPointF(rect.left(), top), QPointF(rect.right(), top))
            box = QRectF(
                rect.left() + 4.0, top + 2.0, metrics.horizontalAdvance(name) + 8.0, metrics.height()
            )
            painter.fillRect(box, colors.surface)
            painter.setPen(colors.muted)
            painter.drawText(box.adjusted(4.0, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, name)

    def _draw_fault(
        self, painter: QPainter, colors: ThemeTokens, entry: TimelineEntry, box: QRectF, layout: FaultLayout
    ) -> None:
        color_name, shape = GROUP_STYLES.get(entry.group, DEFAULT_STYLE)
        color, soft = colors.get_color(color_name), colors.get_color(f"{color_name}_soft")
        is_selected, middle = self._is_selected(entry), box.center().y()
        painter.setFont(theme.resize_font(self.font(), LABEL_SCALE, bold=False))
        metrics = QFontMetricsF(painter.font())
        label = QRectF(layout.label_x, box.top(), layout.label_width + 2.0, box.height())
        if entry.kind == WINDOW_FAULT:
            bar = QRectF(
                layout.start_x, box.top() + 3.0, max(2.0, layout.end_x - layout.start_x), box.height() - 6.0
            )
            painter.setPen(QPen(colors.focus if is_selected else color, 2.0 if is_selected else 1.0))
            painter.setBrush(soft)
            painter.drawRoundedRect(bar, 3, 3)
            painter.setPen(QPen(color, 3.0))
            for x in (layout.start_x, layout.end_x):
                painter.drawLine(QPointF(x, bar.top() + 1.5), QPointF(x, bar.bottom() - 1.5))
        is_inside = entry.kind == WINDOW_FAULT and layout.start_x < layout.label_x < layout.end_x
        if not is_inside:
            ground = label.adjusted(-3.0, 3.0, 3.0, -3.0)
            painter.fillRect(ground, colors.selection if is_selected else colors.surface)
        if entry.kind != WINDOW_FAULT:
            painter.setPen(QPen(colors.focus if is_selected else colors.surface, 2.0 if is_selected else 1.0))
            painter.setBrush(color)
            draw_shape(
                painter, shape, QPointF(layout.start_x, middle), self._line * (0.42 if is_selected else 0.36)
            )
        painter.setPen(colors.on_selection if is_selected and not is_inside else colors.text)
        painter.drawText(label, Qt.AlignmentFlag.AlignVCenter, self._format_label(entry, metrics))

    def _draw_chip(self, painter: QPainter, colors: ThemeTokens, entry: TimelineEntry, box: QRectF) -> None:
        color_name, shape = GROUP_STYLES.get(entry.group, DEFAULT_STYLE)
        is_selected = self._is_selected(entry)
        painter.setPen(QPen(colors.focus if is_selected else colors.border, 2.0 if is_selected else 1.0))
        painter.setBrush(colors.selection if is_selected else colors.raised)
        painter.drawRoundedRect(box, 4, 4)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colors.get_color(color_name))
        middle = QPointF(box.left() + self._line * 0.6, box.center().y())
        draw_shape(painter, shape, middle, self._line * 0.28)
        painter.setFont(theme.resize_font(self.font(), LABEL_SCALE))
        metrics = QFontMetricsF(painter.font())
        inner = box.adjusted(self._line * 1.15, 0, -self._line * 0.25, 0)
        text = metrics.elidedText(
            self._format_label(entry, metrics), Qt.TextElideMode.ElideRight, inner.width() + 2.0
        )
        painter.setPen(colors.on_selection if is_selected else colors.text)
        painter.drawText(inner, Qt.AlignmentFlag.AlignVCenter, text)

    def _draw_step(self, painter: QPainter, colors: ThemeTokens, entry: TimelineEntry, box: QRectF) -> None:
        """Draw a step as a numbered disc.

        The outline of the disc is dashed if the scenario text does not state the time of the step.
        """
        is_selected = self._is_selected(entry)
        x, top = self.scale.compute_x(entry.span[0]), box.top() - self._line * LEADER_HEIGHT_LINES
        painter.setPen(QPen(colors.accent if entry.is_time_known else colors.border, 1.2))
        painter.drawLine(QPointF(x, top), QPointF(box.center().x(), box.top()))
        painter.setPen(
            QPen(
                colors.focus if is_selected else colors.accent,
                2.0 if is_selected else 1.2,
                Qt.PenStyle.SolidLine if entry.is_time_known else Qt.PenStyle.DashLine,
            )
        )
        painter.setBrush(
            colors.selection if is_selected else colors.info_soft if entry.is_time_known else colors.surface
        )
        painter.drawEllipse(box.adjusted(0.5, 0.5, -0.5, -0.5))
        painter.setFont(theme.resize_font(self.font(), 0.74))
        painter.setPen(colors.on_selection if is_selected else colors.text)
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, str(int(entry.path[1]) + 1))

    def _draw_times(self, painter: QPainter, colors: ThemeTokens) -> None:
        """Draw the time of the cursor, and the time of the dragged entry on the axis."""
        top = self._line * 1.3
        if self._cursor_s is not None and self._cursor_s <= self._plan.length_s:
            x = self.scale.compute_x(self._cursor_s)
            painter.setPen(QPen(colors.accent, 1.2, Qt.PenStyle.DashLine))
            painter.drawLine(QPointF(x, top), QPointF(x, self.height()))
        if self._dragged is None or self._dragged_span is None:
            return
        painter.setFont(theme.resize_font(self.font(), 0.85, bold=True))
        metrics = QFontMetricsF(painter.font())
        words = " – ".join(dict.fromkeys(formatting.format_run_time(t_s) for t_s in self._dragged_span))
        width = metrics.horizontalAdvance(words) + 10.0
        x = self.scale.compute_x(sum(self._dragged_span) / 2.0)
        bubble = QRectF(min(max(0.0, x - width / 2.0), self.width() - width), 1.0, width, top - 2.0)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colors.accent)
        painter.drawRoundedRect(bubble, 3, 3)
        painter.setPen(colors.on_accent)
        painter.drawText(bubble, Qt.AlignmentFlag.AlignCenter, words)
        painter.setPen(QPen(colors.accent, 1.0))
        for t_s in set(self._dragged_span):
            painter.drawLine(
                QPointF(self.scale.compute_x(t_s), top), QPointF(self.scale.compute_x(t_s), self.height())
            )
