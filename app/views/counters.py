"""Counters as in System Monitor: choose them, and read last, average, lowest and highest over a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, Qt, Signal, Slot
from PySide6.QtGui import QAction, QKeySequence, QShowEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QMenu, QToolButton, QVBoxLayout, QWidget

from app import theme
from app.counters import COUNTERS, PRODUCT_NAMES, WATCHED, Counter
from app.language import mark, tr
from app.series import CounterHistory, Summary
from app.tables import Column, TableModel, TableView
from engine.events import Event
from engine.model import World

if TYPE_CHECKING:
    from engine.drill.drill import Drill

TIMES: Final = (
    (mark("Last minute"), 60.0),
    (mark("Last 10 minutes"), 600.0),
    (mark("Last hour"), 3600.0),
    (mark("All"), None),
)
"""Label and length in seconds; None: from the start."""


@dataclass(frozen=True, slots=True)
class Row:
    """One counter of the chosen database."""

    counter: Counter
    values: Summary | None
    highlighted: bool

    def text(self, name: str) -> str:
        return self.counter.unit.text(getattr(self.values, name) if self.values else None)

    @property
    def tip(self) -> str:
        product = PRODUCT_NAMES.get(self.counter.name)
        words = tr(self.counter.help)
        return f"{words}\n{product}" if product else words


def _value(title: str, name: str) -> Column:
    return Column(title=title, text=lambda row: row.text(name), right=True, sample="48.7 MB/s")


COLUMNS: Final = (
    Column(title=mark("Counter"), text=lambda row: tr(row.counter.title), tip=lambda row: row.tip,
           bold=lambda row: row.highlighted, sample="Log generation"),
    _value(mark("Last"), "last"),
    _value(mark("Average"), "mean"),
    _value(mark("Minimum"), "low"),
    _value(mark("Maximum"), "high"),
    Column(title=mark("On a server"), text=lambda row: PRODUCT_NAMES.get(row.counter.name, ""),
           tone=lambda row: "muted", tip=lambda row: PRODUCT_NAMES.get(row.counter.name, "")),
)  # fmt: skip


class Counters(QWidget):
    """The list of chosen counters; the charts show the same ones when the window connects the two."""

    requested = Signal(str)
    counters_chosen = Signal(list)
    """Names of the counters that are wanted from now on."""
    highlighted = Signal(str)
    """The counter that is to stand out; empty: none."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._drill: Drill | None = None
        self._history = CounterHistory()
        self._names = list(WATCHED)
        self._bold = ""
        self._drawn: tuple[object, ...] = ()
        self.model = TableModel(COLUMNS, self)
        self.table = TableView(self.model, tr("Counters"))
        self.databases, self.times = QComboBox(), QComboBox()
        self.databases.setAccessibleName(tr("Database"))
        self.databases.currentTextChanged.connect(lambda _: self._start_over())
        self.times.setAccessibleName(tr("Time"))
        for words, length_s in TIMES:
            self.times.addItem(tr(words), length_s)
        self.times.setCurrentIndex(1)
        self.times.currentIndexChanged.connect(lambda _: self._draw())
        self.tools = {
            "add": self._tool(tr("Add counters…"), ("Ins", "Ctrl+I"), self._pop_menu),
            "remove": self._tool(tr("Remove the counter"), ("Del",), self._remove),
            "highlight": self._tool(tr("Highlight the counter"), ("Ctrl+H",), self._toggle_highlight),
        }
        """Every tool by its name, for menus and keys of the main window."""
        self._menu = QMenu(self)
        for counter in COUNTERS.values():
            action = self._menu.addAction(tr(counter.title))
            action.setToolTip(tr(counter.help))
            action.setCheckable(True)
            action.setData(counter.name)
            action.triggered.connect(self._ticked)
        self._menu.setToolTipsVisible(True)
        self._lay_out()
        self._draw()

    def _lay_out(self) -> None:
        bar = QHBoxLayout()
        bar.setContentsMargins(4, 3, 4, 0)
        bar.setSpacing(3)
        bar.addWidget(self.databases)
        bar.addWidget(self.times)
        bar.addStretch(1)
        self._buttons = []
        for action in self.tools.values():
            button = QToolButton()
            button.setDefaultAction(action)
            self._buttons.append(button)
            bar.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(3)
        layout.addLayout(bar)
        layout.addWidget(self.table, 1)
        self._show_icons()

    def _tool(self, text: str, keys: Sequence[str], act: object) -> QAction:
        action = QAction(text, self)
        action.setShortcuts([QKeySequence(key) for key in keys])
        action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        action.setToolTip(f"{text} ({keys[0]})")
        action.triggered.connect(act)
        self.addAction(action)
        return action

    # --- contract of views --------------------------------------------------------------------------------

    @Slot(object)
    def show_drill(self, drill: Drill) -> None:
        self._drill = drill
        before = self.databases.currentText()
        names = list(drill.world.availability)
        self.databases.blockSignals(True)
        self.databases.clear()
        self.databases.addItems(names)
        self.databases.setCurrentText(before if before in names else next(iter(names), ""))
        self.databases.blockSignals(False)
        self.databases.setVisible(len(names) > 1)
        self._start_over()

    @Slot(object)
    def show_world(self, world: World) -> None:
        if self._drill is None or not self.isVisible():
            return
        if self._history.follow(self._drill.samples, self._drill.rows, self.databases.currentText()):
            self._draw()

    @Slot(object)
    def add_events(self, events: Iterable[Event]) -> None:
        """Counters come from samples, not from events."""

    # --- what is shown ------------------------------------------------------------------------------------

    @Slot(str)
    def show_database(self, database: str) -> None:
        """Read the counters of this database."""
        self.databases.setCurrentText(database)

    @Slot(list)
    def choose_counters(self, names: Sequence[str]) -> None:
        """List these counters of the engine, and tell who shows them as well."""
        if list(names) != self._names:
            self._names = list(names)
            self._draw()
            self.counters_chosen.emit(self._names)

    @property
    def current(self) -> str | None:
        """Name of the selected counter."""
        index = self.table.currentIndex()
        return self.model.rows[index.row()].counter.name if index.isValid() else None

    def _start_over(self) -> None:
        self._history = CounterHistory()
        if self._drill is not None:
            self._history.follow(self._drill.samples, self._drill.rows, self.databases.currentText())
        self._draw()

    def _draw(self) -> None:
        length_s = self.times.currentData()
        end_s = self._history.end_s
        start_s = 0.0 if length_s is None else end_s - length_s
        self.model.update(
            [
                Row(COUNTERS[name], self._history.summary(name, start_s, end_s), name == self._bold)
                for name in self._names
            ]
        )
        for action in self._menu.actions():
            action.setChecked(action.data() in self._names)

    # --- tools --------------------------------------------------------------------------------------------

    def _pop_menu(self) -> None:
        self._menu.popup(self.mapToGlobal(self.table.geometry().topRight()))

    def _ticked(self) -> None:
        chosen = [action.data() for action in self._menu.actions() if action.isChecked()]
        kept = [name for name in self._names if name in chosen]
        self.choose_counters([*kept, *(name for name in chosen if name not in kept)])

    def _remove(self) -> None:
        if self.current is not None and len(self._names) > 1:
            self.choose_counters([name for name in self._names if name != self.current])

    def _toggle_highlight(self) -> None:
        name = self.current
        if name is not None:
            self._bold = "" if self._bold == name else name
            self._draw()
            self.highlighted.emit(self._bold)

    # --- looks --------------------------------------------------------------------------------------------

    def _show_icons(self) -> None:
        colours = theme.tokens(self.palette())
        for action, icon in zip(self.tools.values(), ("plus", "minus", "marker"), strict=True):
            action.setIcon(theme.icon(icon, colours))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._show_icons()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._start_over()
