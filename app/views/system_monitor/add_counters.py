"""Adding counters: computer, object, counters and instances, as System Monitor asks for them."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QDialog,
    QGridLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QWidget,
)

from app.views.system_monitor.catalogue import BY_NAME as PERFS
from app.views.system_monitor.catalogue import (
    MIRRORING,
    NOT_SIMULATED,
    OBJECTS,
    PROCESSOR,
    CounterChoice,
    names_of,
)
from app.widgets.reader import follow_selection
from app.widgets.scroll_container import fit_on_screen
from app.words.language import tr
from engine.model import World


class AddCounters(QDialog):
    """Stays open, so that counters of several servers can be added one after another."""

    added = Signal(list)
    """The Choices that are wanted as well."""

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
            follow_selection(listed)
        for group, words in OBJECTS.items():
            self.object.addItem(words, group)
        self.add = QPushButton(tr("&Add"), default=True)
        self.add.setProperty("primary", True)
        close = QPushButton(tr("&Close"))
        close.clicked.connect(self.close)
        self.add.clicked.connect(self._add)
        self.computer.currentTextChanged.connect(lambda _: self._fill())
        self.object.currentIndexChanged.connect(lambda _: self._fill())
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
        """Offer what this world has."""
        self._world = world
        before = self.computer.currentText()
        self.computer.clear()
        self.computer.addItems(list(world.instances))
        self.computer.setCurrentText(before if before in world.instances else next(iter(world.instances), ""))
        self._fill()

    def _fill(self) -> None:
        server, group = self.computer.currentText(), self.object.currentData()
        self.counters.clear()
        self.instances.clear()
        if self._world is None or server not in self._world.instances:
            return
        version = self._world.instances[server].version
        self.counters.addItems(names_of(group, version))
        if group == MIRRORING:
            for name in (name for name, since in NOT_SIMULATED.items() if since <= version):
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
        perf = PERFS.get((self.object.currentData(), item.text() if item is not None else ""))
        self.help.setText(tr(perf.help) if perf is not None else "")

    def _add(self) -> None:
        server, group = self.computer.currentText(), self.object.currentData()
        self.added.emit(
            [
                CounterChoice(server, group, counter, "" if group == PROCESSOR else instance)
                for counter in _texts(self.counters)
                for instance in _texts(self.instances)
            ]
        )


def _texts(listed: QListWidget) -> Iterable[str]:
    return [item.text() for item in listed.selectedItems()]
