"""Branches of a run as a tree, and a comparison of two of them."""

import html
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
import pyqtgraph as pg
from msgspec import Struct
from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QFrame,
    QGridLayout,
    QHeaderView,
    QLabel,
    QPushButton,
    QScrollArea,
    QSplitter,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.widgets import theme
from app.widgets.ask_text import ask_text
from app.widgets.axes import TimeAxis, ValueAxis, compute_value_range
from app.widgets.layouts import build_row, build_widget_column
from app.widgets.screen_reader import make_selected_row_current, set_accessible_box_name
from app.words import formatting
from app.words.formatting import KB, PER_S
from app.words.language import mark, tr
from app.words.localization import describe_input, localize
from engine.constants import TICKS_PER_S
from engine.drill.judging import difference
from engine.drill.judging.difference import CounterCurve, FirstDifference, OutcomeRow
from engine.drill.judging.report import build_availability_json
from engine.drill.running.drill import Drill
from engine.drill.time.branches import BranchTree
from engine.events import Event
from engine.flow import Array
from engine.overrides import override


class BranchRow(Struct, frozen=True):
    """Row of the branch tree, with formatted figures."""

    name: str
    parent: str | None
    is_current: bool
    start_text: str
    """Time at which the branch began, as text. Empty for a branch without a parent."""
    time_text: str
    """Current time of the branch."""
    downtime: str
    lost_time: str
    points: str


def build_branch_rows(tree: BranchTree) -> list[BranchRow]:
    """Return a row for every branch. A parent precedes its children."""
    return [_build_row(tree, name, tree.get_history(name).drill) for name in tree.list_names()]


def _build_row(tree: BranchTree, name: str, drill: Drill) -> BranchRow:
    root, sums, score = (
        tree.get_branch_point(name),
        build_availability_json(drill.world),
        drill.compute_score(),
    )
    time = formatting.format_run_time(drill.world.t_s)
    is_shown = score.scored and (drill.finished or drill.permissions.reports_progress)
    return BranchRow(
        name=name,
        parent=root.parent,
        is_current=name == tree.current,
        start_text=formatting.format_run_time(root.tick / TICKS_PER_S, 1) if root.parent is not None else "",
        time_text=tr("{moment}, ended").format(moment=time) if drill.finished else time,
        downtime=formatting.format_seconds(sums["downtime_s"], 1),
        lost_time=formatting.format_number(sums["lost_transactions"]),
        points=formatting.format_plain_number(score.total) if is_shown else formatting.NO_VALUE,
    )


OUTCOME_LABELS = {
    "downtime_s": mark("downtime"),
    "exposed_s": mark("unprotected"),
    "lost_transactions": mark("committed transactions lost"),
    "lost_kb": mark("log lost"),
    "commands": mark("commands and actions"),
    "ended_at_s": mark("length of the run"),
    "score": "points",
}
"""Name of an outcome figure, such as `lost_kb` -> its label."""


def format_outcome_cells(row: OutcomeRow) -> tuple[str, str, str, str]:
    """Return the cells of *row*: name, left value, right value, and the difference (right minus left)."""
    name = tr(OUTCOME_LABELS.get(row.name, row.name))
    sign = "+" if row.delta > 0 else "−" if row.delta < 0 else ""
    delta = f"{sign}{_format_figure(row.name, abs(row.delta))}" if row.delta else "="
    return name, _format_figure(row.name, row.left), _format_figure(row.name, row.right), delta


def _format_figure(name: str, value: float) -> str:
    if name.endswith("_s"):
        return formatting.format_seconds(value, 1)
    if name.endswith("_kb"):
        return formatting.format_kb(value)
    return (
        formatting.format_number(round(value)) if name != "score" else formatting.format_plain_number(value)
    )


def format_first_difference(difference: FirstDifference | None, left_name: str, right_name: str) -> str:
    """Describe the first difference between two runs: its time, and the event of each run."""
    if difference is None:
        return tr("The runs are identical up to the end of the shorter run.")
    time_text = formatting.format_run_time(difference.tick / TICKS_PER_S, 2)
    return tr("The runs diverge at {moment}.\n{left}: {one}\n{right}: {other}").format(
        moment=time_text,
        left=left_name,
        one=_format_event(difference.left),
        right=right_name,
        other=_format_event(difference.right),
    )


def _format_event(event: Event | None) -> str:
    if event is None:
        return tr("no further events")
    server_prefix = f"{event.server}: " if event.server else ""
    words = describe_input(event.text, {}) if event.kind == "fault" else localize(event.text)
    text = " ".join(words.split())
    return f"{server_prefix}{text[:200]} ({formatting.format_run_time(event.t_s, 2)})"


CURVE_TITLES: Final = {
    "send_queue_kb": mark("Send queue"),
    "redo_queue_kb": mark("Redo queue"),
    "transactions_per_s": mark("Transactions/s"),
}
AXIS_LABEL_SAMPLE: Final = "1,023 MB"
AXIS_MARGIN_PX: Final = 14
AXIS_TOP_MIN: Final = 1.0
"""Minimum value at the top of an axis. It applies even if all plotted values are 0."""


class BranchPlots(QWidget):
    """Column of plots that compare two branches.

    The left branch is dashed and gray, the right one is colored.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._view = pg.GraphicsLayoutWidget()
        self._curves: Sequence[CounterCurve] = ()
        self._redraw_timer = QTimer(self, singleShot=True)
        self._redraw_timer.timeout.connect(self._show_theme)
        build_widget_column(self._view, parent=self, margins=0)
        self._view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._show_theme()
        theme.call_after_events(self, theme.APPEARANCE_EVENTS, self._redraw_timer.start)

    def show_curves(self, curves: Sequence[CounterCurve]) -> None:
        """Show *curves* in the given order. All of them belong to one database."""
        self._curves = curves
        self._draw()

    def _draw(self) -> None:
        colors = theme.get_theme_tokens(self.palette())
        self._view.clear()
        first, small = None, theme.resize_font(self.font(), 0.9)
        metrics = QFontMetrics(small)
        for number, curve in enumerate(self._curves):
            time_axis = TimeAxis(orientation="bottom")
            unit = KB if curve.counter.endswith("_kb") else PER_S
            value_axis = ValueAxis(unit, logarithmic=False)
            plot = self._view.addPlot(number, 0, axisItems={"bottom": time_axis, "left": value_axis})
            plot.setTitle(
                html.escape(tr(CURVE_TITLES[curve.counter])),
                color=colors.muted,
                size=f"{small.pointSizeF():g}pt",
            )
            value_axis.setWidth(metrics.horizontalAdvance(AXIS_LABEL_SAMPLE) + AXIS_MARGIN_PX)
            for axis in (value_axis, time_axis):
                axis.setPen(colors.border)
                axis.setTextPen(colors.muted)
                axis.setTickFont(small)
            plot.showGrid(x=True, y=True, alpha=0.15)
            plot.setMenuEnabled(False)
            plot.setMouseEnabled(x=False, y=False)
            plot.hideButtons()
            dashed = pg.mkPen(colors.text, width=1.4, style=Qt.PenStyle.DashLine)
            plot.plot(
                *_list_points(curve.right), pen=pg.mkPen(colors.series[number], width=2.4), connect="finite"
            )
            plot.plot(*_list_points(curve.left), pen=dashed, connect="finite")
            curve_values = [value for value in (*curve.left, *curve.right) if value is not None]
            plot.setYRange(
                *compute_value_range(np.array(curve_values), unit, False, AXIS_TOP_MIN), padding=0.0
            )
            if first is None:
                first = plot
            else:
                plot.setXLink(first)
            time_axis.setStyle(showValues=number == len(self._curves) - 1)

    def _show_theme(self) -> None:
        self._view.setBackground(theme.get_theme_tokens(self.palette()).surface)
        self._draw()


def _list_points(values: Sequence[float | None]) -> tuple[Array, Array]:
    """Return the sample numbers from 1, and the values as an array. A missing value is NaN."""
    y = np.array([np.nan if value is None else value for value in values], dtype=float)
    return np.arange(1.0, len(y) + 1.0), y


CURVES_HEIGHT_LINES = 24
"""Height of the curves in lines of text."""

STATE_ROWS_MAX = 40
"""Maximum number of rows in the table of states. A run can have hundreds of databases.

Rows that differ come first.
"""


class BranchComparison(QScrollArea):
    """Comparison of two branches: the left one in gray, the right one in color."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self._tree: BranchTree | None = None
        self.left, self.right, self.database = QComboBox(), QComboBox(), QComboBox()
        set_accessible_box_name(self.left, tr("Left branch"))
        set_accessible_box_name(self.right, tr("Right branch"))
        set_accessible_box_name(self.database, tr("Database shown in the charts"))
        for box in (self.left, self.right):
            box.activated.connect(lambda _: self._show_comparison())
        self.database.activated.connect(lambda _: self._show_curves())

        self.curves = BranchPlots()
        self._legend = _build_label("", muted=True)
        self._difference_label = _build_label("")
        self._tables = QVBoxLayout()
        self._lay_out()

    def _lay_out(self) -> None:
        widget = QWidget()
        column = build_widget_column(parent=widget, margins=(8, 14, 18, 14), spacing=12)
        row = build_row(_build_label(tr("Side by side"), 1.15, bold=True), 0)
        for box in (self.left, self.right):
            box.setMinimumContentsLength(8)
            row.addWidget(box)
        column.addLayout(row)
        column.addWidget(self._difference_label)
        column.addLayout(self._tables)
        layout = build_row(
            _build_label(tr("Queues and load"), 1.05, bold=True), (self._legend, 1), self.database
        )
        column.addLayout(layout)
        column.addWidget(self.curves)
        column.addStretch()
        self.curves.setMinimumHeight(CURVES_HEIGHT_LINES * self.fontMetrics().height())
        self.setWidget(widget)

    def show_pair(self, tree: BranchTree, left_name: str, right_name: str) -> None:
        """Compare two branches of *tree*."""
        self._tree = tree
        for box, name in ((self.left, left_name), (self.right, right_name)):
            box.clear()
            box.addItems(tree.list_names())
            box.setCurrentText(name)
        names = list(tree.history.drill.world.availability)
        before = self.database.currentText()
        self.database.clear()
        self.database.addItems(names)
        self.database.setCurrentText(before if before in names else names[0])
        self.database.setVisible(len(names) > 1)
        self._show_comparison()

    def _show_comparison(self) -> None:
        if self._tree is None:
            return
        names = self.left.currentText(), self.right.currentText()
        left, right = (self._tree.get_history(name).drill for name in names)
        while self._tables.count():
            item = self._tables.takeAt(0)
            widget = item.widget() if item is not None else None
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        if left is right:
            self._difference_label.setText(tr("Choose two branches to compare them."))
        else:
            self._difference_label.setText(
                format_first_difference(difference.find_first_difference(left, right), *names)
            )
        outcomes = [format_outcome_cells(row) for row in difference.compare_outcomes(left, right)]
        self._tables.addWidget(
            _build_table(tr("Outcome"), ("", *names, tr("difference")), outcomes, numbers=True)
        )
        states = sorted(difference.compare_states(left, right), key=lambda row: row.is_equal)[:STATE_ROWS_MAX]
        rows = [
            (localize(row.what), localize(row.left), localize(row.right), "" if row.is_equal else "≠")
            for row in states
        ]
        self._tables.addWidget(_build_table(tr("Current state"), ("", *names, ""), rows))
        self._legend.setText(tr("dashed: {left}, solid: {right}").format(left=names[0], right=names[1]))
        self._show_curves()

    def _show_curves(self) -> None:
        if self._tree is None:
            return
        left, right = (self._tree.get_history(box.currentText()).drill for box in (self.left, self.right))
        curves = difference.compare_curves(left, right)
        self.curves.show_curves([curve for curve in curves if curve.database == self.database.currentText()])


def _build_label(text: str, scale: float = 1.0, bold: bool = False, muted: bool = False) -> QLabel:
    label = QLabel(text, textFormat=Qt.TextFormat.PlainText, wordWrap=True)
    label.setFont(theme.resize_font(label.font(), scale, bold))
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    if muted:
        label.setProperty("muted", "true")
    return label


def _build_table(
    title: str, head: tuple[str, ...], rows: Sequence[tuple[str, ...]], numbers: bool = False
) -> QFrame:
    """Return a card with a title, the headings *head*, and *rows*.

    *numbers*: whether to align all columns except the first to the right. Rows whose last cell shows a
    difference are bold.
    """
    card = QFrame()
    card.setProperty("card", "true")
    layout = build_widget_column(_build_label(title, 1.05, bold=True), parent=card, margins=(14, 10, 14, 12))
    grid = QGridLayout()
    grid.setHorizontalSpacing(20)
    grid.setVerticalSpacing(4)
    grid.setColumnStretch(0, 3)
    alignment = Qt.AlignmentFlag.AlignRight if numbers else Qt.AlignmentFlag.AlignLeft
    for column, text in enumerate(head):
        label = _build_label(text, muted=True)
        label.setAlignment(alignment if column else Qt.AlignmentFlag.AlignLeft)
        grid.addWidget(label, 0, column)
        if column and (numbers or column < 3):
            grid.setColumnStretch(column, 2)
    for number, row in enumerate(rows, start=1):
        differs = row[-1] not in ("", "=")
        for column, text in enumerate(row):
            label = _build_label(text, bold=differs and column > 0)
            label.setAlignment(alignment if column else Qt.AlignmentFlag.AlignLeft)
            grid.addWidget(label, number, column)
    layout.addLayout(grid)
    return card


BRANCH_COLUMNS = (
    mark("Branch"),
    mark("Branched at"),
    mark("End"),
    mark("Down"),
    mark("Lost"),
    mark("Points"),
)
COLUMN_TOOLTIPS = (
    mark("Name; ● marks the current branch"),
    mark("Time at which the branch starts"),
    mark("End of the branch"),
    mark("Downtime"),
    mark("Committed transactions lost"),
    mark("Current or final points"),
)
_CURRENT_BRANCH_PREFIX = "● "

TREE_MARGIN_LINES: Final = 3
"""Width that the tree needs in addition to its columns, for margins and a scroll bar, in line heights."""
TREE_SHARE_MAX: Final = 0.55
"""Maximum width of the tree, as a share of the page."""


class BranchPage(QWidget):
    """Page with the branches of a run. Its signals contain branch names."""

    switched = Signal(str)
    renamed = Signal(str, str)
    branch_removal_wanted = Signal(str)
    leave_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._tree: BranchTree | None = None
        self.tree = QTreeWidget()
        self.tree.setAccessibleName(tr("Branches"))
        make_selected_row_current(self.tree)
        self.tree.setHeaderLabels([tr(title) for title in BRANCH_COLUMNS])
        for column, tip in enumerate(COLUMN_TOOLTIPS):
            self.tree.headerItem().setToolTip(column, tr(tip))
        self.tree.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.tree.setRootIsDecorated(True)
        self.tree.setUniformRowHeights(True)
        self.tree.currentItemChanged.connect(lambda *_: self._show_selected_branch())
        self.tree.itemActivated.connect(lambda *_: self._switch_to_selected())
        self.comparison = BranchComparison()
        self.go_on = self._build_button(tr("Continue branch"), self._switch_to_selected, tr("Enter"))
        self.go_on.setProperty("primary", "true")
        self.rename = self._build_button(tr("Rename…"), self._ask_for_name, "F2")
        self.prune = self._build_button(tr("Remove"), self._remove_selected_branch, tr("Del"))
        self.back = self._build_button(tr("Back"), self.leave_wanted.emit, "Esc")
        self._note = QLabel(wordWrap=True)
        self._note.setProperty("muted", "true")
        self._lay_out()

    def _build_button(self, text: str, callback: Callable[[], object], key: str) -> QPushButton:
        button = QPushButton(text)
        button.setToolTip(f"{text.rstrip('…')} ({key})")
        button.clicked.connect(lambda _=False: callback())
        return button

    def _lay_out(self) -> None:
        title = QLabel(tr("Branches of this run"))
        title.setFont(theme.resize_font(title.font(), 1.5, bold=True))
        buttons = build_row(self.go_on, self.rename, self.prune, 0, self.back)
        widget = QWidget()
        build_widget_column(
            title, self._note, (self.tree, 1), buttons, parent=widget, margins=(18, 14, 8, 14), spacing=8
        )
        split = self._split = QSplitter(Qt.Orientation.Horizontal)
        split.addWidget(widget)
        split.addWidget(self.comparison)
        split.setStretchFactor(0, 4)
        split.setStretchFactor(1, 6)
        split.setChildrenCollapsible(False)
        build_row(split, parent=self, margins=0)

    # --- display --------------------------------------------------------------------------------------------

    def show_tree(self, tree: BranchTree) -> None:
        """Show every branch of *tree* and select the current one."""
        self._tree = tree
        rows = build_branch_rows(tree)
        items: dict[str, QTreeWidgetItem] = {}
        self.tree.clear()
        for row in rows:
            item = items[row.name] = QTreeWidgetItem(_format_cells(row))
            item.setData(0, Qt.ItemDataRole.UserRole, row.name)
            for column in range(1, len(BRANCH_COLUMNS)):
                item.setTextAlignment(column, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            if row.is_current:
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
        header.setStretchLastSection(False)  # a stretched last column would stay 100 px wide in a narrow view
        # columns fit their content, so with large text, the view scrolls horizontally
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        text = tr(
            "To create a branch, view an earlier time and continue from there. ● marks the current branch."
        )
        single_run_text = tr(
            "This run has one branch. To create another, view an earlier time on the timeline "
            "and continue from there."
        )
        self._note.setText(text if len(rows) > 1 else single_run_text)
        self.tree.setCurrentItem(items[tree.current])
        self._show_selected_branch()
        self._fit_tree_width()

    def _fit_tree_width(self) -> None:
        """Make the tree as wide as its columns, but leave nearly half of the page to the comparison."""
        widths = [self.tree.sizeHintForColumn(column) for column in range(len(BRANCH_COLUMNS))]
        heads = [self.tree.header().sectionSizeHint(column) for column in range(len(BRANCH_COLUMNS))]
        total_width = sum(self._split.sizes())
        margin = TREE_MARGIN_LINES * self.fontMetrics().height()
        wanted_width = min(sum(map(max, widths, heads)) + margin, round(TREE_SHARE_MAX * total_width))
        if self._split.sizes()[0] < wanted_width:
            self._split.setSizes([wanted_width, total_width - wanted_width])

    @property
    def selected_branch(self) -> str:
        """Name of the selected branch."""
        item = self.tree.currentItem()
        return str(item.data(0, Qt.ItemDataRole.UserRole)) if item is not None else ""

    def _show_selected_branch(self) -> None:
        tree, name = self._tree, self.selected_branch
        if tree is None or not name:
            return
        current = name == tree.current
        self.go_on.setText(tr("Continue") if current else tr("Continue branch"))
        self.prune.setEnabled(not current and tree.get_branch_point(name).parent is not None)
        other_branch = tree.current if not current else tree.get_branch_point(name).parent
        self.comparison.show_pair(tree, other_branch or name, name)

    # --- requests -------------------------------------------------------------------------------------------

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        callbacks_by_key = {
            Qt.Key.Key_F2: self._ask_for_name,
            Qt.Key.Key_Delete: self._remove_selected_branch,
            Qt.Key.Key_Escape: self.leave_wanted.emit,
        }
        do = callbacks_by_key.get(Qt.Key(event.key()))
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

    def _remove_selected_branch(self) -> None:
        if self.prune.isEnabled():
            self.branch_removal_wanted.emit(self.selected_branch)


def _format_cells(row: BranchRow) -> list[str]:
    name = f"{_CURRENT_BRANCH_PREFIX}{row.name}" if row.is_current else row.name
    return [name, row.start_text, row.time_text, row.downtime, row.lost_time, row.points]
