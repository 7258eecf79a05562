"""Contents of a bundle as a list for selection: drills and recorded runs, each with its problems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QIcon, QPixmap
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QPushButton,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.views.quarantine.facts import Fact
from app.widgets.tables import plain_tip
from app.words.language import mark, tr
from engine.drill.authoring.contents import escape_invisible

HEADINGS: Final = (mark("Title"), mark("Level"), mark("Minutes"), mark("Author"), mark("Remark"))
ROW_LINES: Final = 1.5
"""Height of a row in line heights."""
ROWS_MIN: Final = 4
"""Minimum visible rows, including the heading."""
COLUMN_LINES_MAX: Final = 26
"""Maximum width of a column in line heights."""
_ITEM: Final = Qt.ItemDataRole.UserRole


@dataclass(frozen=True, slots=True)
class BundleItem:
    """Drill or run of a bundle. All texts may come from a stranger."""

    name: str
    """Key for the caller; drills and runs have different keys."""
    title: str
    facts: Sequence[Fact]
    text: str
    level: str = ""
    minutes: str = ""
    author: str = ""
    remark: str = ""
    takeable: bool = True

    @property
    def cells(self) -> list[str]:
        """Return the cells of the row."""
        texts = (self.title, tr(self.level), self.minutes, self.author, self.remark)
        return [escape_invisible(text).replace("\n", " ") for text in texts]


class Items(QWidget):
    """List with check boxes; an item that cannot be imported has none and shows the reason."""

    shown = Signal(object)
    """Signal: item under inspection."""
    chosen = Signal(int)
    """Number of selected items."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.tree = QTreeWidget()
        self.tree.setAccessibleName(tr("Contents of the bundle"))
        self.tree.setRootIsDecorated(False)
        self.tree.setUniformRowHeights(True)
        self.tree.setAllColumnsShowFocus(True)
        self.tree.setHeaderLabels([tr(heading) for heading in HEADINGS])
        header = self.tree.header()
        header.setStretchLastSection(True)
        self.tree.currentItemChanged.connect(self._show)
        self.tree.itemChanged.connect(lambda *_: self.chosen.emit(len(self.names())))
        self._count = QLabel()
        self._count.setProperty("muted", "true")
        every, none = QPushButton(tr("Select all")), QPushButton(tr("Select none"))
        every.clicked.connect(lambda: self._choose(Qt.CheckState.Checked))
        none.clicked.connect(lambda: self._choose(Qt.CheckState.Unchecked))
        self.chosen.connect(self._show_count)
        self.controls = QWidget()
        """Space for the row of buttons of the page."""
        row = QHBoxLayout(self.controls)
        row.setContentsMargins(0, 0, 0, 0)
        for widget in (every, none, self._count):
            row.addWidget(widget)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.tree)

    def show_items(self, items: Sequence[BundleItem]) -> None:
        """List these; all that can be taken in are chosen."""
        line = self.fontMetrics().height()
        blank = QPixmap(line, line)
        blank.fill(Qt.GlobalColor.transparent)
        self.tree.setIconSize(blank.size())
        self.tree.setMinimumHeight(round(line * ROWS_MIN * ROW_LINES))
        self.tree.blockSignals(True)
        self.tree.clear()
        for item in items:
            row = QTreeWidgetItem(item.cells)
            row.setData(0, _ITEM, item)
            row.setSizeHint(len(HEADINGS) - 1, QSize(0, round(line * ROW_LINES)))
            row.setToolTip(len(HEADINGS) - 1, plain_tip(item.cells[-1]))
            if item.takeable:
                row.setFlags(row.flags() | Qt.ItemFlag.ItemIsUserCheckable)
                row.setCheckState(0, Qt.CheckState.Checked)
            else:
                row.setIcon(0, QIcon(blank))  # aligned with the rows that have a check box
            self.tree.addTopLevelItem(row)
        self.tree.blockSignals(False)
        for column in range(len(HEADINGS) - 1):
            self.tree.resizeColumnToContents(column)
            # the check box of some styles is larger than Qt assumes
            wide = self.tree.columnWidth(column) + line
            self.tree.setColumnWidth(column, min(wide, line * COLUMN_LINES_MAX))
        rows = self._rows()
        if rows:
            self.tree.setCurrentItem(rows[0])
            self._show(rows[0])
        self.chosen.emit(len(self.names()))

    def names(self) -> list[str]:
        """Return names of what is chosen."""
        return [row.data(0, _ITEM).name for row in self._rows() if _is_checked(row)]

    def _rows(self) -> list[QTreeWidgetItem]:
        found = (self.tree.topLevelItem(number) for number in range(self.tree.topLevelItemCount()))
        return [row for row in found if row is not None]

    def _choose(self, state: Qt.CheckState) -> None:
        for row in self._rows():
            if row.data(0, _ITEM).takeable:
                row.setCheckState(0, state)

    def _show(self, row: QTreeWidgetItem | None, _: object = None) -> None:
        if row is not None:
            self.shown.emit(row.data(0, _ITEM))

    def _show_count(self, count: int) -> None:
        said = tr("{n} of {of} selected")
        self._count.setText(said.format(n=count, of=self.tree.topLevelItemCount()))


def _is_checked(row: QTreeWidgetItem) -> bool:
    return bool(row.data(0, _ITEM).takeable) and row.checkState(0) == Qt.CheckState.Checked
