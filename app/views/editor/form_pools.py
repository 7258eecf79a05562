"""Pools of a scenario's variants as a table: name, alternatives, and the pools that are picked together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QHeaderView,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.files.scenario_edit import ScenarioEditError
from app.views.editor.pool_edit import Pool, create_pool, edited, pools, replace_pool
from app.words.language import mark, tr
from engine.overrides import override

COLUMNS: Final = (
    (
        mark("Name"),
        mark(
            "Texts refer to it as {name}, in braces. Lowercase letters, digits and _, at most 30 characters."
        ),
    ),
    (mark("Values (separated by |)"), mark("2 to 50 possible values: all texts, or all numbers.")),
    (
        mark("Picked together with"),
        mark(
            "Pools of one group are picked together: all use their first entry, or all use their second "
            "entry, and so on."
        ),
    ),
)

CELL_LEAST: Final = 8
"""Minimum visible characters of a cell."""

Change = Callable[[Callable[[str], str]], bool]
"""Function that applies a change of the text and returns whether it succeeded."""


class Pools(QWidget):
    """Row for each pool. F2 or typing edits a cell, Insert adds a row, Delete removes one."""

    def __init__(self, change: Change, refuse: Callable[[str], None], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._change, self._refuse = change, refuse
        self._pools: Sequence[Pool] = ()
        self.table = QTableWidget(0, len(COLUMNS))
        self.table.setAccessibleName(tr("Variants"))
        self.table.setHorizontalHeaderLabels([tr(title) for title, _ in COLUMNS])
        for at, (_, about) in enumerate(COLUMNS):
            item = self.table.horizontalHeaderItem(at)
            if item is not None:
                item.setToolTip(tr(about))
        header = self.table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        header.setMinimumSectionSize(CELL_LEAST * self.fontMetrics().averageCharWidth())
        self.table.verticalHeader().hide()
        self.table.setTabKeyNavigation(False)
        self.table.installEventFilter(self)
        self.table.itemChanged.connect(self._on_changed)
        self.add, self.remove = QPushButton(tr("Add")), QPushButton(tr("Remove"))
        self.add.clicked.connect(self._add)
        self.remove.clicked.connect(self._remove)
        buttons = QHBoxLayout()
        for button in (self.add, self.remove):
            button.setProperty("small", "true")
            button.setAutoDefault(False)
            buttons.addWidget(button)
        buttons.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(2, 2, 10, 2)
        column.addWidget(self.table, 1)
        column.addLayout(buttons)

    def show_data(self, data: Mapping[str, object]) -> None:
        """Show the pools in *data*; the selected cell stays."""
        found = pools(data)
        if found == self._pools and self.table.rowCount() == len(found):
            return
        self._pools = found
        self.table.blockSignals(True)
        row, column = self.table.currentRow(), self.table.currentColumn()
        self.table.setRowCount(len(found))
        for at, pool in enumerate(found):
            for place, text in enumerate((pool.name, pool.entries_text, pool.group)):
                item = QTableWidgetItem(text)
                item.setToolTip(tr(COLUMNS[place][1]))
                self.table.setItem(at, place, item)
        if found:
            self.table.setCurrentCell(max(0, min(row, len(found) - 1)), max(0, column))
        self.table.blockSignals(False)
        self.remove.setEnabled(bool(found))

    def choose(self, name: str) -> None:
        """Select the row of the pool, or of the group, of that name."""
        for row, pool in enumerate(self._pools):
            if name in (pool.name, pool.group):
                self.table.setCurrentCell(row, 0)
                return

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            for key, do in ((Qt.Key.Key_Insert, self._add), (Qt.Key.Key_Delete, self._remove)):
                if event.key() == key:
                    do()
                    return True
        return super().eventFilter(watched, event)

    def _on_changed(self, item: QTableWidgetItem) -> None:
        before = self._pools[item.row()]
        try:
            after = edited(before, item.column(), item.text())
        except ScenarioEditError as problem:
            self._restore_cells()
            self._refuse(str(problem))
            return
        if after != before:
            self._put(before, after)

    def _add(self) -> None:
        row = len(self._pools)
        if self._put(None, create_pool(self._pools)):
            self.table.setCurrentCell(row, 0)
            self.table.setFocus()

    def _remove(self) -> None:
        row = self.table.currentRow()
        if 0 <= row < len(self._pools):
            self._put(self._pools[row], None)

    def _put(self, old_pool: Pool | None, new_pool: Pool | None) -> bool:
        if self._change(lambda text: replace_pool(text, old_pool, new_pool)):
            return True
        self._restore_cells()
        return False

    def _restore_cells(self) -> None:
        """Restore the values of the text in place of the typed ones."""
        self.table.blockSignals(True)
        for at, pool in enumerate(self._pools):
            for place, text in enumerate((pool.name, pool.entries_text, pool.group)):
                item = self.table.item(at, place)
                if item is not None:
                    item.setText(text)
        self.table.blockSignals(False)
