"""Counters of one database over simulated time, with what happened to it and a cursor to read them by."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

import pyqtgraph as pg
from PySide6.QtCore import QEvent, QObject, Qt, Signal, Slot
from PySide6.QtGui import QColor, QFocusEvent, QKeyEvent, QMouseEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QMenu,
    QScrollArea,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app import formatting, theme
from app.counters import COUNTERS, WATCHED
from app.course import EXPOSED, UNSERVED, Course
from app.series import CounterHistory
from app.strip import SHAPES
from app.views.charts.lane import LOOKS, Lane
from app.views.charts.panel import SHADE_ALPHA, Panel
from engine.events import Event
from engine.model import World

if TYPE_CHECKING:
    from engine.drill.drill import Drill

SPANS: Final = (("2 min", 120.0), ("10 min", 600.0), ("1 h", 3600.0), ("All", None))
"""Label and length in seconds; None: from the start."""

ALL_GROWS_BY: Final = 1.25
"""When "All" is full, its end moves out by this factor at once, so that the curves do not creep."""

ALL_STARTS_WITH_S: Final = 60.0

LINED: Final = ("fault", "repair", "failover")
"""Markers that are drawn through the charts, too."""

PANEL_HEIGHT_MIN_PX: Final = 52
AXIS_SAMPLE: Final = "500 MB/s"


class Charts(QWidget):
    """Plots under each other on one time axis."""

    requested = Signal(str)
    time_selected = Signal(float)
    """Somebody clicked at this time (seconds since the start)."""
    counters_chosen = Signal(list)
    """Names of the counters that are charted from now on."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._drill: Drill | None = None
        self._database = ""
        self._history = CounterHistory()
        self._course = Course((), ())
        self._span_s: float | None = SPANS[0][1]
        self._range = (0.0, 120.0)
        self._all_end_s = ALL_STARTS_WITH_S
        self._cursor_s: float | None = None
        self._hover_s: float | None = None
        self._stale = True
        self.panels: list[Panel] = []
        self._view = pg.GraphicsLayoutWidget()
        self._view.ci.layout.setSpacing(2)
        self._view.ci.layout.setContentsMargins(0, 0, 4, 0)
        self._view.viewport().setMouseTracking(True)
        self._view.viewport().installEventFilter(self)
        self._view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.lane = Lane(self._pixel_of)
        self.lane.time_selected.connect(self._select)
        self._databases = QComboBox()
        self._databases.setAccessibleName("Database")
        self._databases.currentTextChanged.connect(self.show_database)
        self._time = QLabel()
        self._time.setAccessibleName("Time at the cursor")
        self._lay_out()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Charts")
        self.choose_counters(WATCHED)

    def _lay_out(self) -> None:
        bar = QHBoxLayout()
        bar.setContentsMargins(4, 2, 4, 0)
        bar.setSpacing(2)
        bar.addWidget(self._databases)
        self._spans = QButtonGroup(self)
        for number, (text, _) in enumerate(SPANS):
            button = QToolButton()
            button.setText(text)
            button.setCheckable(True)
            button.setChecked(number == 0)
            button.setToolTip(f"Show {'everything' if text == 'All' else f'the last {text}'}")
            self._spans.addButton(button, number)
            bar.addWidget(button)
        self._spans.idClicked.connect(lambda number: self.show_span(SPANS[number][1]))
        bar.addStretch(1)
        bar.addWidget(self._time)
        self._counter_menu = QMenu(self)
        for counter in COUNTERS.values():
            action = self._counter_menu.addAction(f"{counter.title} ({counter.unit.name})")
            action.setToolTip(counter.help)
            action.setCheckable(True)
            action.setData(counter.name)
            action.triggered.connect(self._counters_ticked)
        self._counter_menu.setToolTipsVisible(True)
        choose = QToolButton()
        choose.setText("Counters ▾")
        choose.setStyleSheet("QToolButton::menu-indicator { image: none; }")
        choose.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        choose.setMenu(self._counter_menu)
        bar.addWidget(choose)
        self._area = QScrollArea()
        self._area.setWidgetResizable(True)
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self._area.setWidget(self._view)
        self._area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        layout.addLayout(bar)
        layout.addWidget(self.lane)
        layout.addWidget(self._area, 1)

    # --- contract of views --------------------------------------------------------------------------------

    @Slot(object)
    def show_drill(self, drill: Drill) -> None:
        self._drill = drill
        names = list(drill.world.availability)
        self._databases.blockSignals(True)
        self._databases.clear()
        self._databases.addItems(names)
        self._databases.blockSignals(False)
        self._databases.setVisible(len(names) > 1)
        self._cursor_s = self._hover_s = None
        self._start_over(self._database if self._database in names else next(iter(names), ""))

    @Slot(object)
    def show_world(self, world: World) -> None:
        """Once a frame; draws only what has moved by a pixel or has a new sample."""
        if self._drill is None or not self.isVisible():
            self._stale = True
            return
        new = self._history.follow(self._drill.samples, self._drill.rows, self._database)
        bounds = self._range_at(world.t_s)
        if new or self._stale or bounds != self._range:
            self._range = bounds
            self._stale = False
            self._draw(world.t_s)

    @Slot(object)
    def add_events(self, events: Iterable[Event]) -> None:
        count = len(self._course.markers)
        self._course.add(event.as_json() for event in events if event.database in (None, self._database))
        self._stale |= len(self._course.markers) > count

    # --- what is shown ------------------------------------------------------------------------------------

    @Slot(str)
    def show_database(self, database: str) -> None:
        """Chart this database of the drill."""
        if self._drill is not None and database != self._database:
            self._start_over(database)

    @Slot(float)
    def show_time(self, t_s: float) -> None:
        """Put the cursor at *t_s* (seconds since the start)."""
        self._cursor_s = t_s
        self._read()

    def show_span(self, span_s: float | None) -> None:
        """Show the last *span_s* seconds; None: everything."""
        self._span_s = span_s
        lengths = [length for _, length in SPANS]
        self._spans.button(lengths.index(span_s)).setChecked(True)
        self._refresh()

    @Slot(list)
    def choose_counters(self, names: Sequence[str]) -> None:
        """Chart these counters of the engine, one under the other."""
        if list(names) == [panel.counter.name for panel in self.panels]:
            return
        self._view.ci.clear()
        self.panels = []
        order = list(COUNTERS)
        for number, name in enumerate(names):
            panel = Panel(COUNTERS[name], order.index(name), with_times=number == len(names) - 1)
            self._view.ci.addItem(panel.plot, number, 0)
            self.panels.append(panel)
        for number in range(len(names)):
            self._view.ci.layout.setRowStretchFactor(number, 1)
        for action in self._counter_menu.actions():
            action.setChecked(action.data() in names)
        self._view.setMinimumHeight(PANEL_HEIGHT_MIN_PX * len(names) + 20)
        self._recolour()
        self._refresh()
        self.counters_chosen.emit(list(names))

    @Slot(str)
    def highlight(self, name: str) -> None:
        """Draw this counter's line bold, the others thin; an empty name takes it back."""
        for panel in self.panels:
            panel.highlight(bool(name) and panel.counter.name == name)

    def _counters_ticked(self) -> None:
        chosen = [action.data() for action in self._counter_menu.actions() if action.isChecked()]
        self.choose_counters(chosen or WATCHED)

    def _start_over(self, database: str) -> None:
        assert self._drill is not None
        self._database = database
        self._databases.setCurrentText(database)
        self._history = CounterHistory()
        mirrored = [s.database for s in self._drill.scenario.sessions if s.state == "SYNCHRONIZED"]
        self._course = Course([database], {database}.intersection(mirrored))
        self._all_end_s = ALL_STARTS_WITH_S
        self.add_events(self._drill.events)
        self._refresh()

    def _refresh(self) -> None:
        self._stale = True
        if self._drill is not None:
            self.show_world(self._drill.world)

    def _range_at(self, now_s: float) -> tuple[float, float]:
        """Span of time to show; it moves by whole pixels, so that most frames need no drawing."""
        if self._span_s is None:
            while now_s > self._all_end_s:
                self._all_end_s *= ALL_GROWS_BY
            return 0.0, self._all_end_s
        pixel_s = self._span_s / max(self._width_px(), 1.0)
        end_s = max(self._span_s, (now_s // pixel_s + 2.0) * pixel_s)
        return end_s - self._span_s, end_s

    def _width_px(self) -> float:
        return float(self.panels[0].plot.vb.width()) if self.panels else 1.0

    def _draw(self, now_s: float) -> None:
        from_s, to_s = self._range
        bins = max(50, int(self._width_px()))
        for panel in self.panels:
            x, y = self._history.window(panel.counter.name, from_s, to_s, bins)
            panel.draw(x, y, from_s, to_s)
        colours = theme.tokens(self.palette())
        spans = self._course.protection(now_s)
        shades = [
            (span.from_s, span.to_s, _see_through(getattr(colours, LOOKS[span.what][2])))
            for span in spans
            if span.what in (EXPOSED, UNSERVED)
        ]
        lines = [
            (marker.t_s, getattr(colours, SHAPES[marker.kind][0]))
            for marker in self._course.markers
            if marker.kind in LINED and from_s <= marker.t_s <= to_s
        ]
        for panel in self.panels:
            panel.background.shades, panel.background.lines = shades, lines
            panel.background.update()
        self.lane.show_course(spans, self._course.markers, (self._pixel_of(from_s), self._pixel_of(to_s)))
        self._read()

    def _read(self) -> None:
        """Values at the mouse, else at the cursor, else the last ones."""
        at_s = self._hover_s if self._hover_s is not None else self._cursor_s
        read_s = self._history.end_s if at_s is None else at_s
        for panel in self.panels:
            panel.read(self._history.at(panel.counter.name, read_s))
            if panel.background.cursor_s != at_s:
                panel.background.cursor_s = at_s
                panel.background.update()
        self.lane.show_cursor(at_s)
        self._time.setText("" if at_s is None else f"at {formatting.run_time(at_s, 1)}")

    # --- places -------------------------------------------------------------------------------------------

    def _pixel_of(self, t_s: float) -> float:
        """Where a time lies in the lane, which is as wide as this widget."""
        if not self.panels:
            return 0.0
        box = self.panels[0].plot.vb.sceneBoundingRect()
        left = self._view.mapTo(self, self._view.mapFromScene(box.topLeft())).x() - self.lane.x()
        from_s, to_s = self._range
        return float(left + (t_s - from_s) / (to_s - from_s) * box.width())

    def _seconds_at(self, event: QMouseEvent) -> float:
        scene = self._view.mapToScene(event.position().toPoint())
        return max(0.0, self.panels[0].seconds_at(scene))

    def _select(self, t_s: float) -> None:
        self.show_time(t_s)
        self.time_selected.emit(t_s)

    # --- mouse, keys, looks -------------------------------------------------------------------------------

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QMouseEvent) and self.panels and self._drill is not None:
            if event.type() == QEvent.Type.MouseMove:
                self._hover_s = self._seconds_at(event)
                self._read()
            elif event.type() == QEvent.Type.MouseButtonPress and event.button() == Qt.MouseButton.LeftButton:
                self.setFocus()
                self._select(self._seconds_at(event))
        elif event.type() == QEvent.Type.Leave:
            self._hover_s = None
            self._read()
        return bool(super().eventFilter(watched, event))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {Qt.Key.Key_Left: -1.0, Qt.Key.Key_Right: 1.0}
        if event.key() in steps:
            start_s = self._history.end_s if self._cursor_s is None else self._cursor_s
            self._select(max(0.0, start_s + steps[Qt.Key(event.key())]))
        elif event.key() == Qt.Key.Key_Escape and self._cursor_s is not None:
            self._cursor_s = None
            self._read()
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Who cannot see the curves is told what they come to."""
        super().focusInEvent(event)
        self.setAccessibleDescription(self.summary)

    @property
    def summary(self) -> str:
        """The values at the cursor, or the last ones, and how the database fared."""
        values = [f"{panel.counter.title} {panel.reading}" for panel in self.panels]
        return "; ".join([*values, self.lane.summary])

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange):
            self._recolour()
            self._refresh()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._stale = True

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._refresh()

    def _recolour(self) -> None:
        colours = theme.tokens(self.palette())
        self._view.setBackground(colours.surface)
        width = self.fontMetrics().horizontalAdvance(AXIS_SAMPLE) + 12
        for panel in self.panels:
            panel.recolour(colours, width)
            for name in ("left", "bottom"):
                panel.plot.getAxis(name).setTickFont(theme.sized(self.font(), 0.85))


def _see_through(colour: QColor) -> QColor:
    found = QColor(colour)
    found.setAlpha(SHADE_ALPHA)
    return found
