"""Comparison of two branches: point of divergence, results, states, and overlaid queues."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.views.branches.rows import format_first_difference, outcome_cells
from app.widgets import theme
from app.widgets.reader import name_box
from app.words.language import tr
from app.words.localization import localize
from engine.drill.judging import difference
from engine.drill.time.branches import Branches

CURVES_UNITS = 24
"""Height of the curves in lines of text."""

STATES_MAX = 40
"""Maximum rows of states; with hundreds of databases the differing ones come first."""


class BranchComparison(QScrollArea):
    """Comparison with the left branch in grey and the right one in color."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self._tree: Branches | None = None
        self.left, self.right, self.database = QComboBox(), QComboBox(), QComboBox()
        name_box(self.left, tr("Left branch"))
        name_box(self.right, tr("Right branch"))
        name_box(self.database, tr("Database shown in the charts"))
        for box in (self.left, self.right):
            box.activated.connect(lambda _: self._show())
        self.database.activated.connect(lambda _: self._show_curves())
        from app.views.branches.curves import BranchCurves  # imports pyqtgraph

        self.curves = BranchCurves()
        self._legend = _label("", muted=True)
        self._parted = _label("")
        self._tables = QVBoxLayout()
        self._lay_out()

    def _lay_out(self) -> None:
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(8, 14, 18, 14)
        column.setSpacing(12)
        pair = QHBoxLayout()
        pair.addWidget(_label(tr("Side by side"), 1.15, bold=True))
        pair.addStretch()
        for box in (self.left, self.right):
            box.setMinimumContentsLength(8)
            pair.addWidget(box)
        column.addLayout(pair)
        column.addWidget(self._parted)
        column.addLayout(self._tables)
        over = QHBoxLayout()
        over.addWidget(_label(tr("Queues and load"), 1.05, bold=True))
        over.addWidget(self._legend, 1)
        over.addWidget(self.database)
        column.addLayout(over)
        column.addWidget(self.curves)
        column.addStretch()
        self.curves.setMinimumHeight(CURVES_UNITS * self.fontMetrics().height())
        self.setWidget(inside)

    def show_pair(self, tree: Branches, left_name: str, right_name: str) -> None:
        """Compare two branches of *tree*."""
        self._tree = tree
        for box, name in ((self.left, left_name), (self.right, right_name)):
            box.clear()
            box.addItems(tree.names())
            box.setCurrentText(name)
        names = list(tree.history.drill.world.availability)
        before = self.database.currentText()
        self.database.clear()
        self.database.addItems(names)
        self.database.setCurrentText(before if before in names else names[0])
        self.database.setVisible(len(names) > 1)
        self._show()

    def _show(self) -> None:
        if self._tree is None:
            return
        names = self.left.currentText(), self.right.currentText()
        left, right = (self._tree.history_of(name).drill for name in names)
        while self._tables.count():
            item = self._tables.takeAt(0)
            widget = item.widget() if item is not None else None
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        if left is right:
            self._parted.setText(tr("Choose two branches to compare them."))
        else:
            self._parted.setText(
                format_first_difference(difference.find_first_difference(left, right), *names)
            )
        outcomes = [outcome_cells(row) for row in difference.compare_outcomes(left, right)]
        self._tables.addWidget(_table(tr("Outcome"), ("", *names, tr("difference")), outcomes, numbers=True))
        states = sorted(difference.compare_states(left, right), key=lambda row: row.is_equal)[:STATES_MAX]
        rows = [
            (localize(row.what), localize(row.left), localize(row.right), "" if row.is_equal else "≠")
            for row in states
        ]
        self._tables.addWidget(_table(tr("Current state"), ("", *names, ""), rows))
        self._legend.setText(tr("dashed: {left}, solid: {right}").format(left=names[0], right=names[1]))
        self._show_curves()

    def _show_curves(self) -> None:
        if self._tree is None:
            return
        left, right = (self._tree.history_of(box.currentText()).drill for box in (self.left, self.right))
        found = difference.compare_curves(left, right)
        self.curves.show_curves([curve for curve in found if curve.database == self.database.currentText()])


def _label(text: str, scale: float = 1.0, bold: bool = False, muted: bool = False) -> QLabel:
    label = QLabel(text, textFormat=Qt.TextFormat.PlainText, wordWrap=True)
    label.setFont(theme.sized(label.font(), scale, bold))
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    if muted:
        label.setProperty("muted", "true")
    return label


def _table(
    title: str, head: tuple[str, ...], rows: Sequence[tuple[str, ...]], numbers: bool = False
) -> QFrame:
    """Return rows under a title; those that differ are bold."""
    card = QFrame()
    card.setProperty("card", "true")
    layout = QVBoxLayout(card)
    layout.setContentsMargins(14, 10, 14, 12)
    layout.addWidget(_label(title, 1.05, bold=True))
    grid = QGridLayout()
    grid.setHorizontalSpacing(20)
    grid.setVerticalSpacing(4)
    grid.setColumnStretch(0, 3)
    side = Qt.AlignmentFlag.AlignRight if numbers else Qt.AlignmentFlag.AlignLeft
    for column, text in enumerate(head):
        label = _label(text, muted=True)
        label.setAlignment(side if column else Qt.AlignmentFlag.AlignLeft)
        grid.addWidget(label, 0, column)
        if column and (numbers or column < 3):
            grid.setColumnStretch(column, 2)
    for number, row in enumerate(rows, start=1):
        differs = row[-1] not in ("", "=")
        for column, text in enumerate(row):
            label = _label(text, bold=differs and column > 0)
            label.setAlignment(side if column else Qt.AlignmentFlag.AlignLeft)
            grid.addWidget(label, number, column)
    layout.addLayout(grid)
    return card
