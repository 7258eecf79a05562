"""Page of branches: tree on the left, comparison of two on the right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPushButton,
    QSplitter,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.views.branches.comparison import BranchComparison
from app.views.branches.rows import BranchRow, rows_of
from app.widgets import theme
from app.widgets.ask_text import ask_text
from app.widgets.reader import follow_selection
from app.words.language import mark, tr
from engine.drill.time.branches import Branches
from engine.overrides import override

COLUMNS = (mark("Branch"), mark("Branched at"), mark("Reached"), mark("Down"), mark("Lost"), mark("Points"))
TIPS = (
    mark("Name; ● marks the current branch"),
    mark("Time at which the branch starts"),
    mark("End of the branch"),
    mark("Downtime"),
    mark("Committed transactions lost"),
    mark("Current or final points"),
)
_CURRENT = "● "

AROUND_UNITS: Final = 3
"""Width of margins and scroll bar next to the columns, in line heights."""
TREE_MOST: Final = 0.55
"""Maximum share of the page for the tree."""


class BranchPage(QWidget):
    """Page of branches; its signals carry names of branches."""

    switched = Signal(str)
    renamed = Signal(str, str)
    pruned = Signal(str)
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._tree: Branches | None = None
        self.tree = QTreeWidget()
        self.tree.setAccessibleName(tr("Branches"))
        follow_selection(self.tree)
        self.tree.setHeaderLabels([tr(title) for title in COLUMNS])
        for column, tip in enumerate(TIPS):
            self.tree.headerItem().setToolTip(column, tr(tip))
        self.tree.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.tree.setRootIsDecorated(True)
        self.tree.setUniformRowHeights(True)
        self.tree.currentItemChanged.connect(lambda *_: self._show_chosen())
        self.tree.itemActivated.connect(lambda *_: self._switch_to_selected())
        self.comparison = BranchComparison()
        self.go_on = self._button(tr("Continue branch"), self._switch_to_selected, tr("Enter"))
        self.go_on.setProperty("primary", "true")
        self.rename = self._button(tr("Rename…"), self._ask_for_name, "F2")
        self.prune = self._button(tr("Remove"), self._prune, tr("Del"))
        self.back = self._button(tr("Back"), self.left.emit, "Esc")
        self._note = QLabel(wordWrap=True)
        self._note.setProperty("muted", "true")
        self._lay_out()

    def _button(self, text: str, do: Callable[[], object], key: str) -> QPushButton:
        button = QPushButton(text)
        button.setToolTip(f"{text.rstrip('…')} ({key})")
        button.clicked.connect(lambda _=False: do())
        return button

    def _lay_out(self) -> None:
        title = QLabel(tr("Branches of this run"))
        title.setFont(theme.sized(title.font(), 1.5, bold=True))
        buttons = QHBoxLayout()
        for button in (self.go_on, self.rename, self.prune):
            buttons.addWidget(button)
        buttons.addStretch()
        buttons.addWidget(self.back)
        side = QWidget()
        column = QVBoxLayout(side)
        column.setContentsMargins(18, 14, 8, 14)
        column.setSpacing(8)
        column.addWidget(title)
        column.addWidget(self._note)
        column.addWidget(self.tree, 1)
        column.addLayout(buttons)
        split = self._split = QSplitter(Qt.Orientation.Horizontal)
        split.addWidget(side)
        split.addWidget(self.comparison)
        split.setStretchFactor(0, 4)
        split.setStretchFactor(1, 6)
        split.setChildrenCollapsible(False)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(split)

    # --- what is shown --------------------------------------------------------------------------------------

    def show_tree(self, tree: Branches) -> None:
        """Show every branch of *tree*, the current one chosen."""
        self._tree = tree
        rows = rows_of(tree)
        items: dict[str, QTreeWidgetItem] = {}
        self.tree.clear()
        for row in rows:
            item = items[row.name] = QTreeWidgetItem(_cells(row))
            item.setData(0, Qt.ItemDataRole.UserRole, row.name)
            for column in range(1, len(COLUMNS)):
                item.setTextAlignment(column, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            if row.current:
                font = item.font(0)
                font.setBold(True)
                item.setFont(0, font)
            parent = items.get(row.parent or "")
            if parent is None:
                self.tree.addTopLevelItem(item)
            else:
                parent.addChild(item)
        self.tree.expandAll()
        header = self.tree.header()
        header.setStretchLastSection(False)  # otherwise the column keeps its 100 px in a narrow view
        # with large text the view scrolls
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        said = tr(
            "To create a branch, view an earlier time and continue from there. ● marks the current branch."
        )
        alone = tr(
            "This run has one branch. To create another, view an earlier time on the timeline "
            "and continue from there."
        )
        self._note.setText(said if len(rows) > 1 else alone)
        self.tree.setCurrentItem(items[tree.current])
        self._show_chosen()
        self._make_room()

    def _make_room(self) -> None:
        """Make the tree as wide as its columns, as far as that leaves nearly half of the page to the comparison."""
        widths = [self.tree.sizeHintForColumn(column) for column in range(len(COLUMNS))]
        heads = [self.tree.header().sectionSizeHint(column) for column in range(len(COLUMNS))]
        whole = sum(self._split.sizes())
        around = AROUND_UNITS * self.fontMetrics().height()
        wanted = min(sum(map(max, widths, heads)) + around, round(TREE_MOST * whole))
        if self._split.sizes()[0] < wanted:
            self._split.setSizes([wanted, whole - wanted])

    @property
    def selected_branch(self) -> str:
        """Name of the branch that the tree stands on."""
        item = self.tree.currentItem()
        return str(item.data(0, Qt.ItemDataRole.UserRole)) if item is not None else ""

    def _show_chosen(self) -> None:
        tree, name = self._tree, self.selected_branch
        if tree is None or not name:
            return
        current = name == tree.current
        self.go_on.setText(tr("Continue") if current else tr("Continue branch"))
        self.prune.setEnabled(not current and tree.root(name).parent is not None)
        other = tree.current if not current else tree.root(name).parent
        self.comparison.show_pair(tree, other or name, name)

    # --- what is asked for ----------------------------------------------------------------------------------

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        doing = {
            Qt.Key.Key_F2: self._ask_for_name,
            Qt.Key.Key_Delete: self._prune,
            Qt.Key.Key_Escape: self.left.emit,
        }
        do = doing.get(Qt.Key(event.key()))
        if do is None:
            super().keyPressEvent(event)
        else:
            do()

    def _switch_to_selected(self) -> None:
        if self.selected_branch:
            self.switched.emit(self.selected_branch)

    def _ask_for_name(self) -> None:
        name = self.selected_branch
        text = ask_text(self, tr("Rename the branch"), tr("Name:"), name)
        if text and text.strip() and name:
            self.renamed.emit(name, text)

    def _prune(self) -> None:
        if self.prune.isEnabled():
            self.pruned.emit(self.selected_branch)


def _cells(row: BranchRow) -> list[str]:
    name = f"{_CURRENT}{row.name}" if row.current else row.name
    return [name, row.from_text, row.at, row.downtime, row.lost, row.points]
