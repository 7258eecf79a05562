"""Charts of one database: counters over simulated time, events, and a cursor to read values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QComboBox, QFrame, QLabel, QScrollArea, QWidget

from app.view_models.run_timeline import (
    EXPOSED,
    TIMELINE_EVENT_KINDS,
    TRAINEE_MARKER_KINDS,
    UNSERVED,
    RunTimeline,
    TimelineMarker,
    TimelineSpan,
    start_timeline,
)
from app.view_models.series import ALL_DATABASES, CounterHistory
from app.views.charts import export, time_scale
from app.views.charts.lane import (
    DATABASE_STATE_STYLES,
    LANE_NAME,
    SHADE_ALPHA,
    AvailabilityLane,
    StateHistory,
    StateLanes,
)
from app.views.charts.time_scale import TimeScale
from app.views.charts.toolbar import TIME_RANGE_LENGTHS, ChartToolbar
from app.widgets import theme
from app.widgets.layouts import build_widget_column
from app.widgets.screen_reader import set_accessible_box_name
from app.widgets.timeline_strip import MARKER_STYLES
from app.words import formatting
from app.words.formatting import COUNTERS, DEFAULT_COUNTERS, DEFAULT_COUNTERS_WITHOUT_COPY, build_counter
from app.words.language import tr
from engine.constants import TICKS_PER_S
from engine.drill.time.event_log import select_events
from engine.events import Event
from engine.model import World
from engine.overrides import override

if TYPE_CHECKING:
    from app.views.charts.panel import ChartPanel
    from engine.drill.running.drill import Drill

NAME_CHARACTERS_MAX: Final = 32
"""Maximum number of characters of a database name next to the time range buttons."""
FULL_RANGE_GROWTH_FACTOR: Final = 1.25
"""Factor by which the time range "All" grows when the curves reach its end. A large factor avoids frequent
rescaling.
"""
FULL_RANGE_START_S: Final = 60.0
LINE_MARKER_KINDS: Final = ("fault", "repair", "failover")
"""Kinds of markers that are also drawn as vertical lines through the charts."""
PANEL_HEIGHT_MIN_LINES: Final = 2.7
"""Minimum height of a plot in line heights, so that its name and two axis labels do not overlap."""
DRAG_DISTANCE_MIN_PX: Final = 5
"""Minimum distance of a drag that selects a time range. A shorter drag counts as a click."""
DATABASE_BOX_WIDTH_LINES: Final = 6.5
"""Minimum width of the database selector in line heights. It fits a name of eight letters and the arrow."""
AXIS_LABEL_SAMPLE: Final = "500 MB/s"
SERVER_NAME_LENGTH_MAX: Final = 12
"""Maximum number of letters of a server's name next to its lane. Longer names are shortened."""


class ChartView(QWidget):
    """View with plots in a column on one shared time axis."""

    requested = Signal(str)
    time_selected = Signal(object)
    """Signal: time at the cursor (seconds since the start), or None."""
    span_selected = Signal(object)
    """Signal: selected time range (from, to) in seconds, or None for all."""
    export_wanted = Signal()
    """Signal: the user wants to save the charts; `export_charts` writes a file."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._drill: Drill | None = None
        self._database = ""
        self._history = CounterHistory()
        self._timeline = RunTimeline((), ())
        self._span_s: float | None = TIME_RANGE_LENGTHS[0][1]
        self._range = (0.0, 120.0)
        self._all_end_s = FULL_RANGE_START_S
        self._cursor_s: float | None = None
        self._hover_s: float | None = None
        self._shown_span: tuple[float, float] | None = None
        """Span of time that the user has selected. Only this span is shown until it is cleared."""
        self._press_s: float | None = None
        self._press_x = 0.0
        self._anchor_s: float | None = None
        """Start of a span that the user marks with the keys."""
        self._marked_span: tuple[float, float] | None = None
        """Span during its selection."""
        self._truth = True
        self._states = StateHistory("")
        self._redraw_timer = QTimer(self, singleShot=True, interval=0)
        """Timer that redraws after the axes have their new width."""
        self._redraw_timer.timeout.connect(self._refresh)
        self._stale = True
        self._has_begun = False
        """True while only some parts of a frame are drawn."""
        self._counters = list(DEFAULT_COUNTERS)
        self.panels: list[ChartPanel] = []
        self._view: Any = None
        """Plots, created when the charts are first shown."""
        self.lane = AvailabilityLane(self._compute_pixel)
        self.lane.time_selected.connect(self._select)
        self.states = StateLanes(self._compute_pixel)
        self.scale = TimeScale(self._compute_pixel)
        self.forecast = QLabel(wordWrap=True)
        self.forecast.setContentsMargins(6, 0, 6, 0)
        self.forecast.hide()
        self._tools = ChartToolbar()
        self._databases = QComboBox(sizeAdjustPolicy=QComboBox.SizeAdjustPolicy.AdjustToContents)
        self._databases.setMaximumWidth(NAME_CHARACTERS_MAX * self.fontMetrics().averageCharWidth())
        set_accessible_box_name(self._databases, tr("Database"))
        self._databases.currentIndexChanged.connect(
            lambda _: self.show_database(str(self._databases.currentData() or ""))
        )
        self._lay_out()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(tr("Charts"))
        self._tools.check_counters(self._counters)
        theme.call_after_events(
            self, theme.APPEARANCE_EVENTS, self._apply_theme, self._refresh, self._redraw_timer.start
        )

    def make_plots_in_steps(self) -> Iterator[None]:
        """Create the plots in steps of a few milliseconds.

        Plots need pyqtgraph, which loads slowly. They are created in idle time or when the charts are first shown.
        """
        if self._view is not None:
            return
        import pyqtgraph as pg

        yield
        if self._view is None:
            view = self._view = pg.GraphicsLayoutWidget()
            view.ci.layout.setSpacing(2)
            view.ci.layout.setContentsMargins(0, 0, 4, 0)
            view.viewport().setMouseTracking(True)
            view.viewport().installEventFilter(self)
            view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            self._area.setWidget(view)
        yield
        while len(self.panels) < len(self._counters):
            self._add_panel(self._counters[len(self.panels)])
            yield

    def _add_panel(self, name: str) -> None:
        from app.views.charts.panel import (
            ChartPanel,
        )  # imported only here, because this module loads pyqtgraph

        panel = ChartPanel(build_counter(name, self._of_groups), list(COUNTERS).index(name))
        self._view.ci.addItem(panel.plot, len(self.panels), 0)
        self._view.ci.layout.setRowStretchFactor(len(self.panels), 1)
        self.panels.append(panel)
        self._apply_theme()

    def _lay_out(self) -> None:
        self._tools.length_chosen.connect(self._on_length_chosen)
        self._tools.current_time_wanted.connect(lambda: self._choose_span(None))
        self._tools.counters_chosen.connect(lambda names: self.show_counters(names or DEFAULT_COUNTERS))
        self._tools.export_wanted.connect(self.export_wanted)
        self._set_counter_names(for_groups=False)
        self._area = QScrollArea(widgetResizable=True)
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self._area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._head = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._head.setContentsMargins(4, 2, 4, 0)
        self._head.setSpacing(2)
        self._head.addWidget(self._databases)
        self._head.addWidget(self._tools, 1)
        build_widget_column(
            self._head,
            self.forecast,
            self.lane,
            self.states,
            (self._area, 1),
            self.scale,
            parent=self,
            margins=0,
            spacing=2,
        )

    def _set_counter_names(self, for_groups: bool) -> None:
        """Name counters after primary and secondary if *for_groups*, otherwise after principal and mirror."""
        self._of_groups = for_groups
        self._tools.set_counter_names(for_groups)
        for panel in self.panels:
            panel.counter = build_counter(panel.counter.name, for_groups)

    # --- view interface -----------------------------------------------------------------------------------

    @Slot(object)
    def show_drill(self, drill: Drill) -> None:
        """Show another run, or another time of the same run."""
        self._drill = drill
        self._set_counter_names(bool(drill.world.replicas))
        self._truth = drill.permissions.shows_truth
        names = list(drill.world.availability)
        self._databases.blockSignals(True)
        self._databases.clear()
        if len(names) > 1:
            self._databases.addItem(tr("All databases"), ALL_DATABASES)
            tip = tr("Sum of all databases; for times and percentages, the highest value")
            self._databases.setItemData(0, tip, Qt.ItemDataRole.ToolTipRole)
        for name in names:
            self._databases.addItem(name, name)
        self._databases.blockSignals(False)
        self._databases.setVisible(len(names) > 1)
        self._cursor_s = self._hover_s = None
        self._apply_theme()
        is_known = self._database in names or (self._database == ALL_DATABASES and len(names) > 1)
        self._start_database(self._database if is_known else next(iter(names), ""))
        scenario = drill.scenario
        copied = bool(scenario.sessions or scenario.groups) or not scenario.instances
        self._tools.show_copy_counters(copied)
        if self._counters in (list(DEFAULT_COUNTERS), list(DEFAULT_COUNTERS_WITHOUT_COPY)):
            self.show_counters(DEFAULT_COUNTERS if copied else DEFAULT_COUNTERS_WITHOUT_COPY)

    @Slot(object)
    def show_world(self, world: World) -> None:
        """Update the curves, lanes and values from *world*.

        Nothing is redrawn until the time axis moves by a pixel or a sample is added.
        """
        for _ in self.show_parts(world):
            pass

    def show_parts(self, world: World) -> Iterator[None]:
        """Draw one part per step: the upper half of the plots, the lower half, then the lanes."""
        if self._drill is None or not self.isVisible():
            self._stale = True
            return
        is_new = self._history.add_samples(
            self._drill.samples,
            self._drill.logs,
            self._database,
            self._drill.world.flow.group_streams_by_source(),
        )
        bounds = self._compute_range(world.t_s)
        if is_new or self._stale or self._has_begun or bounds != self._range:
            self._range = bounds
            self._stale, self._has_begun = False, True
            half_count = (len(self.panels) + 1) // 2
            for panels in (self.panels[:half_count], self.panels[half_count:]):
                self._draw_plots(panels, world.t_s)
                yield
            if is_new:
                self._show_forecasts(world)
            self._draw_lanes(world.t_s)
            self._has_begun = False
            yield

    @Slot(object)
    def add_events(self, events: Iterable[Event]) -> None:
        """Add the state changes and markers that *events* report."""
        events = list(events)
        self._states.add_state_changes(events)
        count = len(self._timeline.markers)
        self._timeline.add_events(event.as_json() for event in events if self._is_about_database(event))
        self._stale |= len(self._timeline.markers) > count

    def _is_about_database(self, event: Event) -> bool:
        return self._database == ALL_DATABASES or event.database in (None, self._database)

    # --- display ------------------------------------------------------------------------------------------

    @Slot(str)
    def show_database(self, database: str) -> None:
        """Chart *database*."""
        if self._drill is not None and database != self._database:
            self._start_database(database)

    @Slot(object)
    def show_time(self, t_s: float | None) -> None:
        """Move the cursor to *t_s* (seconds since the start). None hides the cursor."""
        self._cursor_s = t_s
        self._follow_cursor()

    @Slot(object)
    def show_time_range(self, span: tuple[float, float] | None) -> None:
        """Show only the time range *span* (seconds since the start). None means to follow the current time."""
        self._shown_span = span
        self._tools.show_span(span)
        self._refresh()

    def show_last_seconds(self, span_s: float | None) -> None:
        """Show the last *span_s* seconds. None means the whole run."""
        self._span_s = span_s
        self._tools.check_length_button(span_s)
        self._refresh()

    def _on_length_chosen(self, span_s: float | None) -> None:
        if self._shown_span is not None:
            self._choose_span(None)
        self.show_last_seconds(span_s)

    @Slot(list)
    def show_counters(self, names: Sequence[str]) -> None:
        """Chart the counters *names*, one below the other."""
        if list(names) == self._counters:
            return
        self._counters = list(names)
        self._tools.check_counters(self._counters)
        if self._view is not None:
            self._view.ci.clear()
            self.panels = []
            for name in names:
                self._add_panel(name)
            self._refresh()
            self._redraw_timer.start()

    def _start_database(self, database: str) -> None:
        assert self._drill is not None
        self._database = database
        self._databases.setCurrentIndex(self._databases.findData(database))
        self._history.add_samples(
            self._drill.samples, self._drill.logs, database, self._drill.world.flow.group_streams_by_source()
        )
        names = list(self._drill.world.availability) if database == ALL_DATABASES else [database]
        subject = None if database == ALL_DATABASES else database
        self._timeline = start_timeline(self._drill.scenario, names)
        self._all_end_s = FULL_RANGE_START_S
        self._states = StateHistory(database)
        self._states.start(
            self._drill.states_before,
            self._drill.world,
            select_events(self._drill.events, "state", database_name=database),
        )
        self._timeline.add_events(
            event.as_json()
            for event in select_events(self._drill.events, *TIMELINE_EVENT_KINDS, database_name=subject)
        )
        self._show_forecasts(self._drill.world)
        self._refresh()

    def _refresh(self) -> None:
        self._stale = True
        if self._drill is not None:
            self.show_world(self._drill.world)

    def _compute_range(self, now_s: float) -> tuple[float, float]:
        """Return the time range to show. It moves by whole pixels, so that most frames draw nothing."""
        if self._shown_span is not None:
            return self._shown_span
        if self._span_s is None:
            while now_s > self._all_end_s:
                self._all_end_s *= FULL_RANGE_GROWTH_FACTOR
            return 0.0, self._all_end_s
        pixel_s = self._span_s / (max(1.0, self.panels[0].plot.vb.width()) if self.panels else 1.0)
        end_s = max(self._span_s, (now_s // pixel_s + 2.0) * pixel_s)
        return end_s - self._span_s, end_s

    def _draw_plots(self, panels: Sequence[ChartPanel], now_s: float) -> None:
        from_s, to_s = self._range
        bins = max(50, int(panels[0].plot.vb.width())) if panels else 50
        colors = theme.get_theme_tokens(self.palette())
        shades = [
            (
                span.from_s,
                span.to_s,
                theme.add_alpha(colors.get_color(DATABASE_STATE_STYLES[span.state][2]), SHADE_ALPHA),
            )
            for span in self._list_protection_spans(now_s)
            if span.state in (EXPOSED, UNSERVED)
        ]
        lines = [
            (marker.t_s, colors.get_color(MARKER_STYLES[marker.kind][0]))
            for marker in self._list_line_markers()
            if marker.kind in LINE_MARKER_KINDS
        ]
        for panel in panels:
            x, y = self._history.get_window(panel.counter.name, from_s, to_s, bins)
            panel.draw(x, y, from_s, to_s)
            panel.background.shaded_spans, panel.background.lines = shades, lines
            panel.background.update()
        self._show_readings(panels)

    def _draw_lanes(self, now_s: float) -> None:
        bounds = (self._compute_pixel(self._range[0]), self._compute_pixel(self._range[1]))
        self.lane.show_spans(self._list_protection_spans(now_s), self._list_line_markers(), bounds)
        if self._drill is not None:
            times_s = self._drill.samples.ticks / TICKS_PER_S
            self._states.add_sampled_states(self._drill.standings, times_s)
        self.states.show_lanes(self._states.list_lanes(now_s), bounds)
        self.states.setVisible(self._truth)
        self.scale.show_range(self._range)
        self._show_cursor()

    def _list_protection_spans(self, now_s: float) -> list[TimelineSpan]:
        """Return the time ranges with and without protection.

        The list is empty if the trainee may not see the true state.
        """
        return self._timeline.list_protection_spans(now_s) if self._truth else []

    def _list_line_markers(self) -> list[TimelineMarker]:
        from_s, to_s = self._range
        return [marker for marker in self._markers if from_s <= marker.t_s <= to_s]

    @property
    def _markers(self) -> list[TimelineMarker]:
        """Markers that the trainee may see: all, or only those of the trainee's own actions."""
        return [m for m in self._timeline.markers if self._truth or m.kind in TRAINEE_MARKER_KINDS]

    @property
    def _readout_time_s(self) -> float | None:
        """Time whose values the charts show: at the pointer, or else at the cursor. None without both."""
        return self._hover_s if self._hover_s is not None else self._cursor_s

    def _show_readings(self, panels: Sequence[ChartPanel]) -> None:
        """Show the values at the pointer. Without a pointer, use the cursor, or else the last sample."""
        at_s = self._readout_time_s
        read_s = self._history.end_s if at_s is None else at_s
        for panel in panels:
            panel.show_value(self._history.find_value(panel.counter.name, read_s))
            if panel.background.cursor_s != at_s:
                panel.background.cursor_s = at_s
                panel.background.update()

    def _follow_cursor(self) -> None:
        self._show_readings(self.panels)
        self._show_cursor()

    def _show_cursor(self) -> None:
        for part in (self.lane, self.states, self.scale):
            part.show_cursor(self._readout_time_s)

    # --- forecasts ------------------------------------------------------------------------------------------

    def _show_forecasts(self, world: World) -> None:
        expected = time_scale.format_forecasts(self._history, world, self._database)
        for panel in self.panels:
            panel.show_forecast(expected.get(panel.counter.name, ""))
        tick_interval = self._drill.samples.every if self._drill is not None else TICKS_PER_S
        text = "  ·  ".join(time_scale.list_forecast_sentences(expected, tick_interval))
        if text != self.forecast.text():
            self.forecast.setText(text)
            self.forecast.setVisible(bool(text))

    def export_charts(self, path: str) -> None:
        """Write the charts to *path*, a .png, .svg or .csv. Raises ChartExportError."""
        from_s, to_s = (formatting.format_run_time(t_s, 1) for t_s in self._range)
        sheet = export.ChartSheet(
            title=f"{self._databases.currentText()}   {from_s} – {to_s}",
            upper_widgets=(self.lane, *((self.states,) if self._truth else ())),
            plots=self._view,
            lower_widget=self.scale,
        )
        export.save_charts(
            path, sheet, (self._history, [panel.counter for panel in self.panels], self._range)
        )

    # --- positions ----------------------------------------------------------------------------------------

    def _compute_pixel(self, t_s: float) -> float:
        """Return the x coordinate of the time *t_s* in the availability lane, in pixels."""
        if not self.panels:
            return 0.0
        box = self.panels[0].plot.vb.sceneBoundingRect()
        left_px = self._view.mapTo(self, self._view.mapFromScene(box.topLeft())).x() - self.lane.x()
        from_s, to_s = self._range
        return float(left_px + (t_s - from_s) / (to_s - from_s) * box.width())

    def _compute_seconds(self, event: QMouseEvent) -> float:
        scene = self._view.mapToScene(event.position().toPoint())
        return max(0.0, self.panels[0].compute_seconds(scene))

    def _select(self, t_s: float | None) -> None:
        self.show_time(t_s)
        self.time_selected.emit(t_s)

    def _choose_span(self, span: tuple[float, float] | None) -> None:
        self._show_marked_span(None)
        self.show_time_range(span)
        self.span_selected.emit(span)

    def _show_marked_span(self, span: tuple[float, float] | None) -> None:
        """Show the time range that the user is selecting."""
        self._marked_span = span
        for panel in self.panels:
            panel.highlight_span(span)

    # --- mouse, keys, appearance --------------------------------------------------------------------------

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QMouseEvent) and self.panels and self._drill is not None:
            if event.type() == QEvent.Type.MouseMove:
                self._hover_s = self._compute_seconds(event)
                self._drag_span(event)
                self._follow_cursor()
            elif event.button() != Qt.MouseButton.LeftButton:
                pass
            elif event.type() == QEvent.Type.MouseButtonPress:
                self.setFocus()
                self._press_s, self._press_x = self._compute_seconds(event), event.position().x()
            elif event.type() == QEvent.Type.MouseButtonRelease:
                self._end_drag()
        elif event.type() == QEvent.Type.Leave:
            self._hover_s = None
            self._follow_cursor()
        return bool(super().eventFilter(watched, event))

    def _drag_span(self, event: QMouseEvent) -> None:
        """Select a time range by dragging."""
        if self._press_s is None or abs(event.position().x() - self._press_x) < DRAG_DISTANCE_MIN_PX:
            return
        at_s = self._compute_seconds(event)
        self._show_marked_span((min(self._press_s, at_s), max(self._press_s, at_s)))

    def _end_drag(self) -> None:
        press_s, self._press_s = self._press_s, None
        if self._marked_span is not None:
            self._choose_span(self._marked_span)
        elif press_s is not None:
            self._select(press_s)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle keys: arrows move the cursor, Shift+arrow selects a range, Enter zooms in, Esc undoes."""
        steps = {Qt.Key.Key_Left: -1.0, Qt.Key.Key_Right: 1.0}
        if event.key() in steps:
            start_s = self._history.end_s if self._cursor_s is None else self._cursor_s
            to_s = max(0.0, start_s + steps[Qt.Key(event.key())])
            if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
                anchor_s = start_s if self._anchor_s is None else self._anchor_s
                self._anchor_s = anchor_s
                self._show_marked_span((min(anchor_s, to_s), max(anchor_s, to_s)))
            else:
                self._anchor_s = None
                self._show_marked_span(None)
            self._select(to_s)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._marked_span is not None:
            self._anchor_s = None
            self._choose_span(self._marked_span)
        elif event.key() == Qt.Key.Key_Escape and (self._marked_span or self._shown_span) is not None:
            self._anchor_s = None
            self._choose_span(None)
        elif event.key() == Qt.Key.Key_Escape and self._cursor_s is not None:
            self._select(None)
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Set a summary of the curves as the accessible description."""
        super().focusInEvent(event)
        self.setAccessibleDescription(self.summary)

    @property
    def summary(self) -> str:
        """Values at the cursor, or the last values, and the availability of the database."""
        values = [f"{tr(panel.counter.title)} {panel.reading}" for panel in self.panels]
        lines = [*values, self.lane.summary, self.states.summary if self._truth else "", self.forecast.text()]
        return "; ".join(text for text in lines if text)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._position_database_selector()
        self._stale = True

    def _position_database_selector(self) -> None:
        """Place the database selector above the tools if the panel is too narrow for a single row."""
        margins = self._head.contentsMargins()
        needed_width = (
            self._databases.minimumWidth() + self._head.spacing() + self._tools.minimumSizeHint().width()
        )
        narrow = self.width() < margins.left() + needed_width + margins.right() + self.fontMetrics().height()
        direction = QBoxLayout.Direction
        self._head.setDirection(direction.TopToBottom if narrow else direction.LeftToRight)

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        for _ in self.make_plots_in_steps():
            pass
        self._refresh()

    def _apply_theme(self) -> None:
        colors = theme.get_theme_tokens(self.palette())
        metrics = self.fontMetrics()
        if self._view is not None:
            self._view.setBackground(colors.surface)
            self._view.setMinimumHeight(round(PANEL_HEIGHT_MIN_LINES * len(self.panels) * metrics.height()))
        width_min = round(DATABASE_BOX_WIDTH_LINES * metrics.height())
        self._databases.setMinimumWidth(
            width_min
        )  # in a narrow view, the selector shrinks before the whole bar scrolls
        self._position_database_selector()
        servers = self._drill.world.instances if self._drill is not None else ()
        samples = (AXIS_LABEL_SAMPLE, tr(LANE_NAME), *(name[:SERVER_NAME_LENGTH_MAX] for name in servers))
        width = max(metrics.horizontalAdvance(text) for text in samples) + 12
        for panel in self.panels:
            panel.recolor(colors, width, self.font())
        self.scale.setFont(theme.resize_font(self.font(), 0.85))
