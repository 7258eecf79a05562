"""Every failover by phase, next to the published times of the same kind of failure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QLabel, QScrollArea, QSplitter, QVBoxLayout, QWidget

from app.view_models.failover_moment.phases import PHASES
from app.views.timing.bars import PhaseBar, Phases
from app.views.timing.rows import (
    COLUMNS,
    COMPARISON_COLUMNS,
    STEP_COLUMNS,
    TimingRow,
    comparison_of,
    rows_of,
    steps_of,
    verdict,
)
from app.widgets.tables import TableModel, TableView
from app.words.language import mark, tr
from engine.constants import TICKS_PER_S
from engine.events import Event
from engine.model import World
from engine.overrides import override

if TYPE_CHECKING:
    from engine.drill.running.drill import Drill

BAR_COLUMN: Final = 1
LIST_ROWS: Final = 3
"""Initial number of visible failovers."""
NO_FAILOVER: Final = mark(
    "No failover yet. The phases and steps of each failover appear here, with the published "
    "times for the same kind of failure."
)

NARROW_LINES: Final = 24
"""Minimum width in lines of text for both tables side by side."""


class Timing(QWidget):
    """List of failovers, and for the selected one its steps and the published times."""

    requested = Signal(str)
    time_selected = Signal(float)
    """Signal: start of a double-clicked failover (seconds since the start)."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._drill: Drill | None = None
        self._shown_state: tuple[object, ...] = ()
        self._shown_span: tuple[float, float] | None = None
        self.model = TableModel(COLUMNS, self)
        self.table = TableView(self.model, tr("Failovers"))
        self.table.horizontalHeader().hide()
        self.table.setItemDelegateForColumn(BAR_COLUMN, PhaseBar(self.table))
        self.table.horizontalHeader().setStretchLastSection(False)
        self.table.horizontalHeader().setSectionResizeMode(
            BAR_COLUMN, self.table.horizontalHeader().ResizeMode.Stretch
        )
        self.table.horizontalHeader().setMinimumSectionSize(40)
        self.table.selectionModel().selectionChanged.connect(lambda: self._show_chosen())
        self.table.doubleClicked.connect(self._choose_time)
        self.steps = TableModel(STEP_COLUMNS, self)
        self.comparison = TableModel(COMPARISON_COLUMNS, self)
        self.phases = Phases()
        self.verdict = QLabel(wordWrap=True)
        self.verdict.setProperty("muted", True)
        self.verdict.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.verdict.setContentsMargins(6, 2, 6, 2)
        self._lay_out()
        self._show_chosen()

    def _lay_out(self) -> None:
        self.setFocusProxy(self.table)
        steps = TableView(self.steps, tr("Steps of the failover"))
        steps.show_rows(max(map(len, PHASES.values())) - 1)
        self._compared = TableView(self.comparison, tr("Published times"))
        self._compared.show_rows(3)
        beside = QVBoxLayout()
        beside.setSpacing(2)
        beside.addWidget(self._compared)
        beside.addWidget(self.verdict, 1)
        self._tables = tables = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        tables.setSpacing(4)
        tables.addWidget(steps, 1, Qt.AlignmentFlag.AlignTop)
        tables.addLayout(beside, 1)
        inside = QWidget()
        below = QVBoxLayout(inside)
        below.setContentsMargins(0, 0, 0, 0)
        below.setSpacing(2)
        below.addWidget(self.phases)
        below.addLayout(tables, 1)
        details = QScrollArea(widgetResizable=True)
        details.setFrameShape(QScrollArea.Shape.NoFrame)
        details.setWidget(inside)
        self._split = QSplitter(Qt.Orientation.Vertical)
        self._split.addWidget(self.table)
        self._split.addWidget(details)
        self._split.setChildrenCollapsible(False)
        self._empty = QLabel(tr(NO_FAILOVER), wordWrap=True)
        self._empty.setProperty("muted", True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._empty.setMargin(24)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        layout.addWidget(self._split, 1)
        layout.addWidget(self._empty, 1)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        narrow = self.width() < NARROW_LINES * self.fontMetrics().height()
        direction = QBoxLayout.Direction
        self._tables.setDirection(direction.TopToBottom if narrow else direction.LeftToRight)

    # --- contract of views --------------------------------------------------------------------------------

    @Slot(object)
    def show_drill(self, drill: Drill) -> None:
        """Show another run, or another time of it."""
        self._drill = drill
        self._shown_state = ()
        self.model.replace([])
        self.show_world(drill.world)
        self._show_chosen()

    @Slot(object)
    def show_world(self, world: World) -> None:
        """Show the current state of the world."""
        if self._drill is None:
            return
        running = any(f.undo_done_tick is None and not f.cancelled for f in world.failovers)
        seen = (tuple(world.failovers), len(self._drill.published), len(self._drill.unlike),
                world.tick if running else 0)  # fmt: skip
        if seen == self._shown_state:
            return
        self._shown_state = seen
        before = self.model.rowCount()
        rows = rows_of(world.failovers, self._drill, world.tick)
        self.model.update([row for row in rows if self._lies_in(row)])
        if self.model.rowCount() != before and self.model.rowCount():
            self.table.selectRow(0)
        self._show_chosen()

    @Slot(object)
    def add_events(self, events: Iterable[Event]) -> None:
        """Ignore events: failovers are read from the world, which has their ticks."""

    @Slot(object)
    def show_time(self, t_s: float | None) -> None:
        """Choose the failover that was under way at *t_s* (seconds since the start), if any."""
        for place, row in enumerate(self.model.rows):
            if t_s is not None and row.failover.failed_tick <= t_s * TICKS_PER_S <= _end_tick(row):
                self.table.selectRow(place)

    @Slot(object)
    def show_between(self, span: tuple[float, float] | None) -> None:
        """List only failovers that reach into this span (seconds since the start), or all again."""
        self._shown_span, self._shown_state = span, ()
        if self._drill is not None:
            self.show_world(self._drill.world)

    def _lies_in(self, row: TimingRow) -> bool:
        if self._shown_span is None:
            return True
        from_tick, to_tick = (t_s * TICKS_PER_S for t_s in self._shown_span)
        return row.failover.failed_tick <= to_tick and _end_tick(row) >= from_tick

    # --- details ------------------------------------------------------------------------------------------

    @property
    def selected_row(self) -> TimingRow | None:
        """The failover whose details are shown."""
        index = self.table.currentIndex()
        return self.model.rows[index.row()] if index.isValid() else None

    def _show_chosen(self) -> None:
        some = self.model.rowCount() > 0
        if some and self._split.isHidden():
            rows = LIST_ROWS * self.table.verticalHeader().defaultSectionSize()
            self._split.setSizes([rows, 10 * rows])
        self._split.setVisible(some)
        self._empty.setVisible(not some)
        self.phases.show_row(self.selected_row)
        self.steps.update(steps_of(self.selected_row))
        self.comparison.update(comparison_of(self.selected_row))
        self._compared.setVisible(self.comparison.rowCount() > 0)
        self.verdict.setText(verdict(self.selected_row))

    def _choose_time(self) -> None:
        if self.selected_row is not None:
            self.time_selected.emit(self.selected_row.failover.failed_tick / TICKS_PER_S)


def _end_tick(row: TimingRow) -> int:
    """Return the tick at which undo ended, or the current tick."""
    return row.now_tick if row.failover.undo_done_tick is None else row.failover.undo_done_tick
