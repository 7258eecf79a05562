"""Faults and steps of a scenario as a list: the timeline for keyboard and screen readers."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QItemSelectionModel, Qt
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QWidget

from app.views.editor.timeline_entries import Path, TimelineEntry, spoken
from app.words.language import tr

_PATH = Qt.ItemDataRole.UserRole


class TimelineList(QListWidget):
    """Row for each entry, with multiple selection. Its methods emit no signals."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(tr("Faults and steps of the solution"))
        self.setUniformItemSizes(True)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMinimumHeight(3 * self.fontMetrics().height())
        self.setSelectionMode(QListWidget.SelectionMode.ExtendedSelection)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)

    @property
    def selected_paths(self) -> list[Path]:
        """Return the paths of the selected rows."""
        return [path_of(item) for item in self.selectedItems()]

    def show_entries(self, entries: Sequence[TimelineEntry], current: Path | None) -> None:
        """Show these rows; selected ones stay selected, and *current* with them."""
        chosen = {*self.selected_paths, current}
        self.blockSignals(True)
        self.clear()
        for entry in entries:
            item = QListWidgetItem(spoken(entry), self)
            item.setData(_PATH, entry.path)
            words = " ".join(filter(None, (spoken(entry) + ".", entry.note)))
            item.setData(Qt.ItemDataRole.AccessibleTextRole, words)
            item.setToolTip(words)
            if entry.path == current:
                self.setCurrentItem(item)
        for row in range(self.count()):
            self.item(row).setSelected(path_of(self.item(row)) in chosen)
        self.blockSignals(False)

    def choose(self, path: Path, extend_selection: bool = False) -> None:
        """Select the row of *path*, alone or (*also*) in addition."""
        flags = QItemSelectionModel.SelectionFlag
        self.blockSignals(True)
        for row in range(self.count()):
            if path_of(self.item(row)) == path:
                self.setCurrentRow(row, flags.Select if extend_selection else flags.ClearAndSelect)
        self.blockSignals(False)

    def deselect(self, path: Path) -> None:
        """Deselect the row of *path* and emit the change, as a click does."""
        for row in range(self.count()):
            if path_of(self.item(row)) == path:
                self.item(row).setSelected(False)


def path_of(item: QListWidgetItem) -> Path:
    """Return the path in the text of the entry that a row shows."""
    found: Path = item.data(_PATH)
    return found
