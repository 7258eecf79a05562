"""Event table with tabs for servers and a filter. Logs, traces and the event list use it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, overload

import numpy as np
from msgspec import Struct
from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QAction, QIcon, QKeySequence, QPixmap, QResizeEvent, QShortcut
from PySide6.QtWidgets import QBoxLayout, QLabel, QLineEdit, QTabBar, QWidget

from app.widgets import theme
from app.widgets.layouts import build_row, build_widget_column
from app.widgets.tables import NO_INDEX, AnyIndex, TableColumn, TableModel, TableView
from app.words import formatting
from app.words.language import mark, tr
from engine.constants import TICKS_PER_S
from engine.drill.time.event_log import EventLog
from engine.events import Event
from engine.flow import Array
from engine.model import World
from engine.overrides import override

if TYPE_CHECKING:
    from engine.drill.running.drill import Drill

BuildRows = Callable[[Event, World], Iterable[object]]
"""Function that returns the rows of an event. Most events have none."""

EVENTS_PER_SLICE: Final = 1_000
"""Number of events searched between two checks of the wall clock, which takes some milliseconds. Assumed."""

CACHED_ROWS_MAX: Final = 1_000
"""Maximum number of events whose rows are cached. A screen shows fewer. Assumed."""

SPAN_TOLERANCE_TICKS: Final = 0.5
"""Tolerance of a time range, so that the ticks at both ends are included."""


NO_ROWS: Final = np.zeros((0, 2), dtype=np.int64)
"""Empty array of rows. Each row is (index of the event, index of the row among those of the event)."""


class EventFilter(Struct, frozen=True):
    """Filter for event rows. A value of None means all."""

    kinds: frozenset[str] | None = None
    server: str | None = None
    span: tuple[float, float] | None = None
    """Time range in seconds since the start."""
    search_words: tuple[str, ...] = ()
    """Lowercase words that the row must contain."""


class FilteredEventRows(Sequence[object]):
    """Rows of a run's events that pass the filter.

    After a jump to another time of the same run, the rows of events that happened by both times are kept.
    `search_events` then searches only the other events.
    """

    def __init__(self, rows_of: BuildRows, kinds: Sequence[str] | None = None) -> None:
        """Create the rows. *kinds*: kinds of events that can have rows, or None for all kinds."""
        self._rows_of = rows_of
        self._kinds = kinds
        self._log = EventLog()
        self._world: World | None = None
        self._wanted = EventFilter()
        self._shown_rows = NO_ROWS
        self._searched_count = 0
        """Number of searched events."""
        self._counts = np.zeros(0, dtype=np.int64)
        """Number of rows per combination of fields; -1: unknown."""
        self._row_cache: dict[int, list[object]] = {}

    # --- row selection ----------------------------------------------------------------------------------------

    def set_events(self, events: Iterable[Event], world: World) -> None:
        """Replace the events by those of another run, or of another time of the same run."""
        log = self._filter_kinds(events)
        shared_count = self._log.count_shared_events(log)
        self._log, self._world = log, world
        self._searched_count = min(self._searched_count, shared_count)
        self._shown_rows = self._shown_rows[: np.searchsorted(self._shown_rows[:, 0], self._searched_count)]
        self._row_cache = {}
        if not shared_count:
            self._counts = self._counts[:0]

    def add_events(self, events: Iterable[Event]) -> None:
        """Append new events."""
        self._log.extend(event for event in events if self._kinds is None or event.kind in self._kinds)

    def set_filter(self, event_filter: EventFilter) -> None:
        """Set the filter. If it has changed, `search_events` starts again at the first event."""
        if event_filter != self._wanted:
            self._wanted = event_filter
            self._searched_count, self._shown_rows = 0, NO_ROWS

    def search_events(self, should_continue: Callable[[], bool]) -> bool:
        """Find rows among events that are not searched yet, while *should_continue* returns True.

        Return True if all events are searched.
        """
        while self._searched_count < len(self._log):
            scan_end = (
                self._searched_count + EVENTS_PER_SLICE if self._wanted.search_words else len(self._log)
            )
            row_numbers = self._list_event_rows(self._find_matches(self._searched_count, scan_end))
            if self._wanted.search_words:
                row_numbers = row_numbers[
                    [
                        self._is_match(self._get_rows(row_number)[part])
                        for row_number, part in row_numbers.tolist()
                    ]
                ]
            self._shown_rows = np.concatenate([self._shown_rows, row_numbers])
            self._searched_count = min(scan_end, len(self._log))
            if not should_continue():
                break
        return self._searched_count >= len(self._log)

    @property
    def total(self) -> int:
        """Number of rows without the filter."""
        return len(self._list_event_rows(np.arange(len(self._log))))

    # --- as a sequence ----------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._shown_rows)

    @overload
    def __getitem__(self, index: int) -> object: ...
    @overload
    def __getitem__(self, index: slice) -> list[object]: ...
    def __getitem__(self, index: int | slice) -> object:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        event, part = self._shown_rows[index].tolist()
        return self._get_rows(event)[part]

    # --- private helpers --------------------------------------------------------------------------------------

    def _filter_kinds(self, events: Iterable[Event]) -> EventLog:
        if not isinstance(events, EventLog):
            return EventLog(event for event in events if self._kinds is None or event.kind in self._kinds)
        return events.copy_first(len(events)) if self._kinds is None else events.filter_kinds(self._kinds)

    def _find_matches(self, start_index: int, end_index: int) -> Array:
        filters = self._wanted
        indices: Array = self._log.find_indices(filters.kinds, filters.server, start_index, end_index)
        if filters.span is not None:
            ticks = self._log.columns["tick"][indices]
            low, high = (seconds * TICKS_PER_S for seconds in filters.span)
            indices = indices[(ticks >= low - SPAN_TOLERANCE_TICKS) & (ticks <= high + SPAN_TOLERANCE_TICKS)]
        return indices

    def _list_event_rows(self, row_numbers: Array) -> Array:
        """Return all rows of the events *row_numbers*, each as (index of event, index within event).

        Events with the same data have the same number of rows, so rows are counted only once.
        """
        if not len(row_numbers):
            return NO_ROWS
        fields = self._log.columns["data"][row_numbers]
        missing = int(fields.max()) + 1 - len(self._counts)
        if missing > 0:
            self._counts = np.append(self._counts, np.full(missing, -1))
        unknown = self._counts[fields] < 0
        for number, index in zip(*np.unique(fields[unknown], return_index=True), strict=True):
            self._counts[number] = len(self._get_rows(int(row_numbers[unknown][index])))
        counts = self._counts[fields]
        ends = np.cumsum(counts)
        parts = np.arange(ends[-1]) - np.repeat(ends - counts, counts)
        return np.column_stack([np.repeat(row_numbers, counts), parts])

    def _get_rows(self, index: int) -> list[object]:
        rows = self._row_cache.get(index)
        if rows is None:
            assert self._world is not None
            if len(self._row_cache) >= CACHED_ROWS_MAX:
                self._row_cache.clear()
            rows = self._row_cache[index] = list(self._rows_of(self._log[index], self._world))
        return rows

    def _is_match(self, row: Any) -> bool:
        text = row.search_text.lower()
        return all(word in text for word in self._wanted.search_words)


ALL_SERVERS_LABEL: Final = mark("All")

TIME_TOLERANCE_S: Final = 0.005
"""Tolerance of a selected time: half a tick. Events within it belong to the selected time."""

NARROW_WIDTH_LINES: Final = 32.0
"""Width in line heights below which the table shows its narrow columns."""

FILTER_WIDTH_PX: Final = {False: 160, True: 110}
"""True if the dock is narrow -> width of the filter box in pixels."""

SEARCH_SLICE_S: Final = 0.006
"""Maximum wall time per frame for the search for rows."""


class EventModel(TableModel):
    """Table model of event rows. A row is created when it becomes visible."""

    def __init__(
        self, columns: Sequence[TableColumn[Any]], events: FilteredEventRows, parent: QObject | None = None
    ) -> None:
        super().__init__(columns, parent)
        self.events = events
        self._reported_count = 0
        """Number of rows that the view knows."""

    @property
    @override
    def rows(self) -> Sequence[Any]:
        return self.events

    @property
    @override
    def total(self) -> int:
        return self.events.total

    @override
    def show_columns(self, columns: Sequence[TableColumn[Any]]) -> None:
        self.beginResetModel()
        self.columns = tuple(columns)
        self.endResetModel()

    def reset_rows(self) -> None:
        """Notify the view that all rows may have changed."""
        self.beginResetModel()
        self._reported_count = len(self.events)
        self.endResetModel()

    def insert_new_rows(self) -> None:
        """Notify the view of rows that were added at the end."""
        if len(self.events) > self._reported_count:
            self.beginInsertRows(NO_INDEX, self._reported_count, len(self.events) - 1)
            self._reported_count = len(self.events)
            self.endInsertRows()

    @override
    def rowCount(self, parent: AnyIndex = NO_INDEX) -> int:
        return 0 if parent.isValid() else self._reported_count


class EventTable(QWidget):
    """View with tabs for servers, a filter box, and a table that grows at its end.

    Rows must have `server` (name or None), `t_s` (seconds since the start) and `search_text` (for the
    filter).
    """

    requested = Signal(str)
    time_selected = Signal(float)
    """Signal: time selected by the user, in seconds since the start."""
    save_wanted = Signal()
    """Signal: the user wants to save the listed rows to a file."""

    def __init__(
        self,
        name: str,
        columns: Sequence[TableColumn[Any]],
        narrow_columns: Sequence[TableColumn[Any]],
        build_rows: BuildRows,
        has_all_tab: bool,
        kinds: Sequence[str] | None = None,
        empty_text: str = "",
        parent: QWidget | None = None,
    ) -> None:
        """Create the table.

        *kinds*: kinds of events that can have rows, or None for all kinds. *empty_text*: text that an empty table
        shows.
        """
        super().__init__(parent)
        self._empty = empty_text
        self._name = name
        self._columns = {False: tuple(columns), True: tuple(narrow_columns)}
        self._narrow = False
        self._has_all_tab = has_all_tab
        self._shown_span: tuple[float, float] | None = None
        self._events = FilteredEventRows(build_rows, kinds)
        self._update_timer = QTimer(self, singleShot=True, interval=0)
        self._update_timer.timeout.connect(self._filter_next_slice)
        self.model = EventModel(columns, self._events, self)
        self.table = TableView(self.model, name)
        self.table.clicked.connect(self._choose)
        self.table.activated.connect(self._choose)
        self.servers = QTabBar()
        self.servers.setDrawBase(False)
        self.servers.setStyleSheet("QTabBar::tab { padding: 4px 7px; }")
        self.servers.setExpanding(False)
        self.servers.setAccessibleName(tr("Server"))
        self.servers.currentChanged.connect(lambda _: self._apply_filter())
        self.filter = QLineEdit(placeholderText=tr("Filter (Ctrl+F)"))
        self.filter.setAccessibleName(tr("Filter"))
        self.filter.setClearButtonEnabled(True)
        self.filter.setMaximumWidth(FILTER_WIDTH_PX[False])
        self.filter.textChanged.connect(lambda _: self._apply_filter())
        self.match_count = QLabel()
        self.match_count.setProperty("muted", True)
        self.detail = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.detail.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.detail.setContentsMargins(6, 0, 6, 3)
        self.detail.hide()
        self.table.selectionModel().selectionChanged.connect(self._show_detail)
        self.model.modelReset.connect(self.detail.hide)
        find = QShortcut(QKeySequence.StandardKey.Find, self)
        find.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        find.activated.connect(self.filter.setFocus)
        self.tools = build_row((self.match_count, 1), self.filter, spacing=6)
        self.bar = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self.bar.setContentsMargins(0, 0, 4, 0)
        self.bar.setSpacing(2)
        self.bar.addWidget(self.servers, 1)
        self.bar.addLayout(self.tools)
        save = QAction(tr("Save these rows…"), self.table)
        save.triggered.connect(self.save_wanted)
        self.table.addAction(save)
        build_widget_column(self.bar, (self.table, 1), self.detail, parent=self, margins=0, spacing=2)
        theme.call_after_events(self, theme.PALETTE_EVENTS, self._recolor)

    # --- view interface -----------------------------------------------------------------------------------

    @Slot(object)
    def show_drill(self, drill: Drill) -> None:
        """Show another run, or another time of the same run."""
        names = [*([tr(ALL_SERVERS_LABEL)] if self._has_all_tab else []), *drill.world.instances]
        if names != [self.servers.tabText(index) for index in range(self.servers.count())]:
            self._set_servers(names)
        self._events.set_events(self.list_events(drill), drill.world)
        self._apply_filter()

    def list_events(self, drill: Drill) -> Iterable[Event]:
        """Return the events of a run that can have rows."""
        return drill.events

    @Slot(object)
    def show_world(self, world: World) -> None:
        """Ignore *world*. The rows show events."""

    @Slot(object)
    def add_events(self, events: Iterable[Event]) -> None:
        """Append *events*."""
        self._events.add_events(events)
        if not self._update_timer.isActive():
            self._filter_next_slice()

    # --- filters ------------------------------------------------------------------------------------------

    @property
    def server(self) -> str | None:
        """Server whose rows are listed, or None for all servers."""
        name = self.servers.tabText(self.servers.currentIndex())
        return None if name in ("", tr(ALL_SERVERS_LABEL)) else name

    @Slot(str)
    def show_server(self, server: str) -> None:
        """Show the rows of *server*."""
        for index in range(self.servers.count()):
            if self.servers.tabText(index) == server:
                self.servers.setCurrentIndex(index)

    @Slot(object)
    def show_time(self, t_s: float | None) -> None:
        """Select the last row at or before *t_s* (seconds since the start). None selects no row."""
        position = (
            -1
            if t_s is None
            else bisect_right(self.model.rows, t_s + TIME_TOLERANCE_S, key=attrgetter("t_s")) - 1
        )
        if position < 0:
            self.table.clearSelection()
        else:
            self.table.selectRow(position)
            self.table.scrollTo(self.model.index(position, 0))

    @Slot(object)
    def show_time_range(self, span: tuple[float, float] | None) -> None:
        """List only rows in the time range *span* (seconds since the start). None lists all."""
        if span != self._shown_span:
            self._shown_span = span
            self._apply_filter()

    def list_kinds(self) -> frozenset[str] | None:
        """Return the kinds of events to list, or None for all kinds."""
        return None

    def _apply_filter(self) -> None:
        words = tuple(self.filter.text().lower().split())
        self._events.set_filter(EventFilter(self.list_kinds(), self.server, self._shown_span, words))
        self._filter_slice()
        self.model.reset_rows()
        self._show_count()
        self.table.scrollToBottom()

    def _filter_slice(self) -> None:
        """Search events for a few milliseconds. Continue after the next drawing of the window."""
        deadline_s = perf_counter() + SEARCH_SLICE_S
        if not self._events.search_events(lambda: perf_counter() < deadline_s):
            self._update_timer.start()

    @Slot()
    def _filter_next_slice(self) -> None:
        self._filter_slice()
        self.model.insert_new_rows()
        self._show_count()

    def _show_count(self) -> None:
        row_count = self.model.rowCount()
        narrowed = bool(self.filter.text()) or self._shown_span is not None
        self.match_count.setText(
            tr("{shown} found").format(shown=formatting.format_number(row_count)) if narrowed else ""
        )
        self.match_count.setVisible(narrowed)
        self.table.set_empty_text(self._explain_empty())

    def _explain_empty(self) -> str:
        if self.filter.text():
            return tr("No matching rows. Clear the filter to see all rows.")
        if self._shown_span is not None:
            return tr("No rows in the selected time span. Show the whole timeline to see all rows.")
        return self._empty.format(server=self.server or "")

    def list_shown_rows(self) -> tuple[list[str], list[list[str]]]:
        """Return the titles of all columns, and the texts of the listed rows."""
        columns = self._columns[False]
        rows = [[column.text(row) for column in columns] for row in self.model.rows]
        return [column.heading for column in columns], rows

    @property
    def file_name(self) -> str:
        """Suggested file name for these rows."""
        return " ".join(part for part in (self._name, self.server) if part)

    def _choose(self) -> None:
        index = self.table.currentIndex()
        if index.isValid():
            self.time_selected.emit(self.model.rows[index.row()].t_s)

    def _show_detail(self) -> None:
        """Show the full text of the selected row below the table, because the row may cut long texts."""
        rows = self.table.selectionModel().selectedRows()
        row = self.model.rows[rows[0].row()] if len(rows) == 1 else None
        self.detail.setText(self._format_cell(row) if row is not None else "")
        self.detail.setVisible(row is not None)

    def _format_cell(self, row: object) -> str:
        column = next(column for column in reversed(self.model.columns) if column.tip is not None)
        text: str = column.text(row)
        return text

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        narrow = event.size().width() < NARROW_WIDTH_LINES * self.fontMetrics().height()
        if narrow != self._narrow:
            self._narrow = narrow
            self.model.show_columns(self._columns[narrow])
        self._arrange_bar()

    def _arrange_bar(self) -> None:
        """Place the filter next to the tabs if there is space, otherwise below them."""
        others_width = self.tools.sizeHint().width() - self.filter.sizeHint().width()
        needed_width = (
            self.servers.sizeHint().width()
            + others_width
            + FILTER_WIDTH_PX[self._narrow]
            + 2 * self.bar.spacing()
        )
        fits_beside = needed_width <= self.width()
        self.filter.setMaximumWidth(FILTER_WIDTH_PX[self._narrow] if fits_beside else self.width())
        direction = QBoxLayout.Direction.LeftToRight if fits_beside else QBoxLayout.Direction.TopToBottom
        if direction != self.bar.direction():
            self.bar.setDirection(direction)
            self.bar.setContentsMargins(0 if fits_beside else 4, 0, 4, 0)

    # --- appearance ---------------------------------------------------------------------------------------

    def _set_servers(self, names: list[str]) -> None:
        before = self.servers.tabText(self.servers.currentIndex())
        self.servers.blockSignals(True)
        while self.servers.count():
            self.servers.removeTab(0)
        for name in names:
            self.servers.addTab(name)
        self.servers.setCurrentIndex(names.index(before) if before in names else 0)
        self.servers.blockSignals(False)
        self._recolor()
        self._arrange_bar()

    def _recolor(self) -> None:
        colors = theme.get_theme_tokens(self.palette())
        first = int(self._has_all_tab)
        for index in range(first, self.servers.count()):
            mark = QPixmap(10, 10)
            mark.fill(colors.get_server_color(index - first))
            self.servers.setTabIcon(index, QIcon(mark))
