"""System Monitor panel: lines on a scale of 0 to 100, and below them a table of the counters."""

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QAction, QColor, QKeySequence, QPen, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QDialog,
    QGridLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QSplitter,
    QWidget,
)

from app.view_models.series import find_bin_extrema
from app.views.system_monitor.history import (
    DATABASES,
    EMPTY_SUMMARY,
    MIRRORING,
    OBJECT_NAMES,
    PERF_COUNTERS_BY_NAME,
    PLOT_TOP,
    PROCESSOR,
    UNSIMULATED_COUNTERS,
    CounterChoice,
    CounterSummary,
    SampledRun,
    SampleHistory,
    list_counter_names,
)
from app.widgets import theme
from app.widgets.bars import ButtonBar
from app.widgets.layouts import build_widget_column
from app.widgets.screen_reader import make_selected_row_current, set_accessible_box_name
from app.widgets.scroll_container import fit_on_screen
from app.widgets.tables import AnyIndex, TableColumn, TableModel, TableView
from app.words import formatting
from app.words.language import mark, tr
from engine.events import Event
from engine.model import World
from engine.overrides import override

if TYPE_CHECKING:
    from app.views.system_monitor.lines import CounterPlot


class AddCountersDialog(QDialog):
    """Dialog to add counters. It stays open, so that counters of several servers can be added."""

    counters_added = Signal(list)
    """Signal: list of CounterChoice objects to add."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Add Counters"))
        self._world: World | None = None
        self.computer, self.object = QComboBox(), QComboBox()
        self.counters, self.instances = QListWidget(), QListWidget()
        self.help = QLabel()
        self.help.setProperty("muted", True)
        self.help.setWordWrap(True)
        for listed, name in ((self.counters, tr("Counters")), (self.instances, tr("Instances"))):
            listed.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
            listed.setAccessibleName(name)
            make_selected_row_current(listed)
        for group, words in OBJECT_NAMES.items():
            self.object.addItem(words, group)
        self.add = QPushButton(tr("&Add"), default=True)
        self.add.setProperty("primary", True)
        close = QPushButton(tr("&Close"))
        close.clicked.connect(self.close)
        self.add.clicked.connect(self._add_counters)
        self.computer.currentTextChanged.connect(lambda _: self._fill_lists())
        self.object.currentIndexChanged.connect(lambda _: self._fill_lists())
        self.counters.currentItemChanged.connect(lambda *_: self._explain())
        for listed in (self.counters, self.instances):
            listed.itemSelectionChanged.connect(self._refresh)
        self._lay_out(close)
        em = self.fontMetrics().height()
        fit_on_screen(self, 35 * em, 26 * em)

    def _lay_out(self, close: QPushButton) -> None:
        grid = QGridLayout(self)
        for row, (words, widget) in enumerate(
            ((tr("C&omputer"), self.computer), (tr("O&bject"), self.object))
        ):
            label = QLabel(words)
            label.setBuddy(widget)
            grid.addWidget(label, row, 0)
            grid.addWidget(widget, row, 1, 1, 3)
        for column, (words, listed) in enumerate(
            ((tr("Co&unters"), self.counters), (tr("&Instances"), self.instances))
        ):
            label = QLabel(words)
            label.setBuddy(listed)
            grid.addWidget(label, 2, 2 * column, 1, 2)
            grid.addWidget(listed, 3, 2 * column, 1, 2)
        grid.addWidget(self.help, 4, 0, 1, 4)
        grid.addWidget(self.add, 5, 2)
        grid.addWidget(close, 5, 3)
        grid.setColumnStretch(1, 3)
        grid.setColumnStretch(2, 1)
        grid.setColumnStretch(3, 1)
        grid.setRowStretch(3, 1)
        grid.setRowMinimumHeight(4, 2 * self.fontMetrics().lineSpacing())

    def show_world(self, world: World) -> None:
        """Offer the servers and databases of *world*."""
        self._world = world
        before = self.computer.currentText()
        self.computer.clear()
        self.computer.addItems(list(world.instances))
        self.computer.setCurrentText(before if before in world.instances else next(iter(world.instances), ""))
        self._fill_lists()

    def _fill_lists(self) -> None:
        server, group = self.computer.currentText(), self.object.currentData()
        self.counters.clear()
        self.instances.clear()
        if self._world is None or server not in self._world.instances:
            return
        version = self._world.instances[server].version
        self.counters.addItems(list_counter_names(group, version))
        if group == MIRRORING:
            for name in (
                name for name, first_version in UNSIMULATED_COUNTERS.items() if first_version <= version
            ):
                absent = QListWidgetItem(tr("{name} (not simulated)").format(name=name))
                absent.setFlags(Qt.ItemFlag.NoItemFlags)
                self.counters.addItem(absent)
        databases = sorted(database for name, database in self._world.copies if name == server)
        self.instances.addItems(["_Total"] if group == PROCESSOR else databases)
        self.counters.setCurrentRow(0)
        if self.instances.count():
            self.instances.setCurrentRow(0)
        self._refresh()

    def _refresh(self) -> None:
        self.add.setEnabled(bool(self.counters.selectedItems()) and bool(self.instances.selectedItems()))

    def _explain(self) -> None:
        item = self.counters.currentItem()
        perf = PERF_COUNTERS_BY_NAME.get((self.object.currentData(), item.text() if item is not None else ""))
        self.help.setText(tr(perf.help) if perf is not None else "")

    def _add_counters(self) -> None:
        server, group = self.computer.currentText(), self.object.currentData()
        self.counters_added.emit(
            [
                CounterChoice(server, group, counter, "" if group == PROCESSOR else instance)
                for counter in _list_selected_texts(self.counters)
                for instance in _list_selected_texts(self.instances)
            ]
        )


def _list_selected_texts(listed: QListWidget) -> Iterable[str]:
    return [item.text() for item in listed.selectedItems()]


TIME_RANGE_LENGTHS: Final = (("1 min", 60.0), ("10 min", 600.0), ("1 h", 3600.0), (mark("All"), None))
"""Label and length in seconds of a time range. None means the whole run."""

SCALE_POWER_RANGE: Final = (-9, 6)
"""Minimum and maximum power of ten of a scale."""
LINE_WIDTH_PX, HIGHLIGHTED_LINE_WIDTH_PX = 1.5, 3.5
LINE_STYLES: Final = (Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine, Qt.PenStyle.DotLine)
"""Line styles, which distinguish lines when there are more lines than colors."""


class CounterRow(Struct, frozen=True):
    """Row of a selected counter, with its style and its summary over the displayed time range."""

    choice: CounterChoice
    number: int
    """Number of the line, which determines its color and style."""
    power: int | None = None
    """Scale as a power of ten. None selects a scale automatically."""
    summary: CounterSummary = EMPTY_SUMMARY

    @property
    def scale(self) -> float:
        """Factor from the counter's value to the plotted value."""
        return 10.0 ** (self.power if self.power is not None else choose_fitting_power(self.summary.high))


def choose_fitting_power(highest: float | None) -> int:
    """Return the largest power of ten by which *highest* can be scaled without leaving the plot.

    The result is the exponent. It is 0 if *highest* is None or not positive.
    """
    if highest is None or highest <= 0.0:
        return 0
    low, high = SCALE_POWER_RANGE
    return max(low, min(high, math.floor(math.log10(PLOT_TOP / highest) + 1e-9)))


def _build_figure_column(title: str, name: str) -> TableColumn[CounterRow]:
    return TableColumn(title=title, text=lambda row: formatting.format_significant(getattr(row.summary, name), 4),
                  is_number=True, sample="48,706,560")  # fmt: skip


COUNTER_COLUMNS: Final[tuple[TableColumn[CounterRow], ...]] = (
    TableColumn(title=mark("Counter"), text=lambda r: r.choice.name,
           tip=lambda r: f"{r.choice.path}\n{tr(r.choice.definition.help)}",
           sample="Mirrored Write Transact", spoken=lambda r: r.choice.path),
    TableColumn(title=mark("Computer"), text=lambda r: r.choice.server, sample="SERVER_W"),
    _build_figure_column(mark("Last"), "latest"),
    _build_figure_column(mark("Average"), "mean"),
    _build_figure_column(mark("Minimum"), "low"),
    _build_figure_column(mark("Maximum"), "high"),
    TableColumn(title=mark("Scale"), text=lambda r: formatting.format_significant(r.scale, 1), is_number=True,
           sample="0.000001"),
    TableColumn(title=mark("Instance"), text=lambda r: r.choice.instance, sample="Sales"),
    TableColumn(title=mark("Object"), text=lambda r: r.choice.definition.group),
)  # fmt: skip


class CounterLegendModel(TableModel):
    """Table of counters that shows the color of each line."""

    @override
    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if role == Qt.ItemDataRole.DecorationRole and index.isValid() and index.column() == 0:
            return self.colors.get_server_color(self.rows[index.row()].number)
        return super().data(index, role)


class SystemMonitor(QWidget):
    """View with counters of any server. While a server is unreachable, its lines have gaps."""

    requested = Signal(str)
    time_selected = Signal(object)
    """Signal: clicked time in seconds since the start."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._run: SampledRun | None = None
        self._history: SampleHistory | None = None
        self._bold: CounterChoice | None = None
        self._adding: AddCountersDialog | None = None
        self._lines: CounterPlot | None = None
        self._time_s: float | None = None
        self._shown_span: tuple[float, float] | None = None
        self._drawn_count = 0
        """Number of samples that are drawn."""
        self.model = CounterLegendModel(COUNTER_COLUMNS, self)
        self.table = TableView(self.model, tr("Counters"))
        self.table.setSelectionMode(TableView.SelectionMode.SingleSelection)
        self.span = QComboBox()
        set_accessible_box_name(self.span, tr("Time"))
        for words, length_s in TIME_RANGE_LENGTHS:
            self.span.addItem(tr(words) if length_s is None else words, length_s)
        self.span.setCurrentIndex(1)
        self.span.currentIndexChanged.connect(lambda _: self._draw())
        self.tools = {
            "add": self._build_tool(tr("Add counters…"), ("Ins", "Ctrl+I"), self.open_add_dialog),
            "remove": self._build_tool(tr("Remove"), ("Del",), self.remove_current_counter),
            "highlight": self._build_tool(tr("Highlight"), ("Ctrl+H",), self.toggle_current_highlight),
            "greater": self._build_tool(tr("Larger scale"), ("Ctrl+Up",), lambda: self._change_scale(1)),
            "smaller": self._build_tool(tr("Smaller scale"), ("Ctrl+Down",), lambda: self._change_scale(-1)),
        }
        """Tools by name."""
        self._lay_out()
        self._show_theme()
        theme.call_after_events(self, theme.APPEARANCE_EVENTS, self._show_theme)

    def _lay_out(self) -> None:
        bar = ButtonBar(tr("System Monitor"))
        bar.addWidget(self.span)
        bar.add_actions([self.tools[name] for name in ("add", "remove", "highlight")])
        split = self._split = QSplitter(Qt.Orientation.Vertical)
        split.setChildrenCollapsible(False)
        split.addWidget(self.table)
        build_widget_column(bar, (split, 1), parent=self, margins=0, spacing=0)
        self.setFocusProxy(self.table)

    def _make_lines(self) -> None:
        """Create the plot when the panel is first shown, because it needs pyqtgraph, which loads slowly."""
        from app.views.system_monitor.lines import CounterPlot

        lines = self._lines = CounterPlot()
        lines.time_selected.connect(self._choose_time)
        self._split.insertWidget(0, lines)
        self._split.setSizes([3, 2])
        lines.show_counters(self.choices)
        lines.show_time(self._time_s)

    def _build_tool(self, text: str, shortcuts: Iterable[str], callback: Callable[[], object]) -> QAction:
        action = QAction(text, self)
        action.setShortcuts([QKeySequence(key) for key in shortcuts])
        action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        action.triggered.connect(lambda _=False: callback())
        self.addAction(action)
        self.table.addAction(action)
        return action

    # --- view interface -----------------------------------------------------------------------------------

    @Slot(object)
    def show_drill(self, drill: SampledRun) -> None:
        """Show another run, or another time of the same run. Keep selected counters whose servers exist."""
        self._run, self._history = drill, SampleHistory(drill, self._history)
        rows = [row for row in self.model.rows if _has_counter(row.choice, drill.world)]
        self._show_rows(
            rows or [CounterRow(choice, n) for n, choice in enumerate(list_default_choices(drill.world))]
        )
        if self._adding is not None:
            self._adding.show_world(drill.world)
        self._draw()

    @Slot(object)
    def show_world(self, world: World) -> None:
        """Show the current state of the world."""
        if self.isVisible() and self._history is not None and self._history.count != self._drawn_count:
            self._draw()

    @Slot(object)
    def add_events(self, events: Iterable[Event]) -> None:
        """Ignore *events*. The counters come from samples."""

    # --- selection ----------------------------------------------------------------------------------------

    @property
    def choices(self) -> list[CounterChoice]:
        """Selected counters."""
        return [row.choice for row in self.model.rows]

    def add_counters(self, choices: Iterable[CounterChoice]) -> None:
        """Add the counters *choices* to the plot."""
        rows, counter_choices = list(self.model.rows), set(self.choices)
        for choice in choices:
            if choice not in counter_choices:
                used = {row.number for row in rows}
                rows.append(CounterRow(choice, next(n for n in range(len(rows) + 1) if n not in used)))
        self._show_rows(rows)
        self._draw()

    def open_add_dialog(self) -> None:
        """Open the dialog that adds counters."""
        if self._run is None:
            return
        if self._adding is None:
            self._adding = AddCountersDialog(self)
            self._adding.counters_added.connect(self.add_counters)
        self._adding.show_world(self._run.world)
        if self._adding.isVisible():
            self._adding.raise_()
        self._adding.show()

    def remove_current_counter(self) -> None:
        """Remove the selected counter from the plot."""
        row = self._get_current_row()
        if row is not None:
            row_index = self.table.currentIndex().row()
            self._show_rows([other_row for other_row in self.model.rows if other_row is not row])
            self.table.selectRow(min(row_index, len(self.model.rows) - 1))
            self._draw()

    def toggle_current_highlight(self) -> None:
        """Draw the line of the selected counter thick, or normal again."""
        row = self._get_current_row()
        if row is not None:
            self._bold = None if self._bold == row.choice else row.choice
            self._show_theme()

    def _change_scale(self, offset: int) -> None:
        """Change the scale of the selected counter by *offset* powers of ten."""
        row = self._get_current_row()
        if row is not None:
            low, high = SCALE_POWER_RANGE
            power = max(low, min(high, round(math.log10(row.scale)) + offset))
            self.model.update_rows(
                [
                    replace(counter_row, power=power) if counter_row is row else counter_row
                    for counter_row in self.model.rows
                ]
            )
            self._draw()

    def _get_current_row(self) -> CounterRow | None:
        row = self.table.currentIndex().row()
        return self.model.rows[row] if 0 <= row < len(self.model.rows) else None

    def _show_rows(self, rows: list[CounterRow]) -> None:
        self.model.replace_rows(rows)
        if self._lines is not None:
            self._lines.show_counters(self.choices)
        self._show_theme()

    # --- time -----------------------------------------------------------------------------------------------

    @Slot(object)
    def show_time(self, t_s: float | None) -> None:
        """Move the cursor to *t_s* (seconds since the start). None hides the cursor."""
        self._time_s = t_s
        if self._lines is not None:
            self._lines.show_time(t_s)

    @Slot(object)
    def show_time_range(self, span: tuple[float, float] | None) -> None:
        """Plot and summarize only the time range *span* (seconds since the start).

        None follows the current time.
        """
        self._shown_span = span
        self._draw()

    def _choose_time(self, t_s: float) -> None:
        self.show_time(t_s)
        self.time_selected.emit(t_s)

    # --- drawing ------------------------------------------------------------------------------------------

    def _draw(self) -> None:
        """Draw the lines and update the summaries up to the last sample."""
        history, lines = self._history, self._lines
        if history is None or lines is None:
            return
        self._drawn_count = history.count
        length_s = self.span.currentData()
        end_s = max(history.end_s, length_s or 60.0)
        start_s = 0.0 if length_s is None else end_s - length_s
        if self._shown_span is not None:
            start_s, end_s = self._shown_span
        first, last = history.find_sample(start_s), history.count
        self.model.update_rows(
            [replace(row, summary=history.summarize(row.choice, start_s, end_s)) for row in self.model.rows]
        )
        width_s = (end_s - start_s) / max(60.0, lines.width())
        times = history.compute_times_s(first, last)
        for row in self.model.rows:
            values = history.compute_values(row.choice, first, last) * row.scale
            x, y = find_bin_extrema(times, values, width_s)
            lines.curves[row.choice].setData(x, np.minimum(y, 2.0 * PLOT_TOP))
        lines.setXRange(start_s, end_s, padding=0.0)

    def _build_pen(self, row: CounterRow) -> QPen:
        colors = theme.get_theme_tokens(self.palette())
        dash = LINE_STYLES[row.number // len(colors.series) % len(LINE_STYLES)]
        pen = QPen(
            QColor(colors.get_server_color(row.number)),
            HIGHLIGHTED_LINE_WIDTH_PX if row.choice == self._bold else LINE_WIDTH_PX,
            dash,
        )
        pen.setCosmetic(True)
        return pen

    def _show_theme(self) -> None:
        colors = theme.get_theme_tokens(self.palette())
        if self._lines is not None:
            self._lines.recolor(colors, theme.resize_font(self.font(), 0.9))
            for row in self.model.rows:
                self._lines.curves[row.choice].setPen(self._build_pen(row))
        for name, icon in (("add", "plus"), ("remove", "minus"), ("highlight", "marker")):
            self.tools[name].setIcon(theme.load_icon(icon, colors))

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._lines is None:
            self._make_lines()
            self._show_theme()
        self._draw()


def list_default_choices(world: World) -> list[CounterChoice]:
    """Return the default counters: queues and transactions on each server of the first mirrored database."""
    mirrored = next((copy for copy in world.copies.values() if copy.mirroring.guid is not None), None)
    copies = (
        world.list_copies_of(mirrored.database) if mirrored is not None else list(world.copies.values())[:1]
    )
    names = [(DATABASES, "Transactions/sec")]
    if mirrored is not None:
        names += [(MIRRORING, "Log Send Queue KB"), (MIRRORING, "Redo Queue KB")]
    return [
        CounterChoice(copy.server, group, name, copy.database) for copy in copies for group, name in names
    ]


def _has_counter(choice: CounterChoice, world: World) -> bool:
    return choice.server in world.instances and (
        not choice.database or (choice.server, choice.database) in world.copies
    )
