"""Page of finished runs, newest first, with functions to search, open, compare and delete runs."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from msgspec import Struct
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QAction,
    QFontMetricsF,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
    QResizeEvent,
)
from PySide6.QtWidgets import QComboBox, QHeaderView, QLabel, QPushButton, QSizePolicy, QWidget

from app.widgets import theme
from app.widgets.key_button import build_back_button
from app.widgets.layouts import build_row, build_widget_column
from app.widgets.scene_symbols import draw_grid_lines
from app.widgets.screen_reader import set_accessible_box_name
from app.widgets.tables import TableColumn, TableModel, TableView
from app.words import formatting
from app.words.language import mark, tr, trn
from engine.overrides import override

GRID_SCORES: Final = (0.0, 50.0, 100.0)
"""Scores at which the chart has a horizontal line."""
CHART_HEIGHT_LINES: Final = 7.0
"""Height of the chart in line heights."""
DOT_RADIUS_LINES: Final = 0.26
"""Radius of a dot in line heights."""


class ScoreChartRun(Struct, frozen=True):
    """Run in the score chart."""

    ended_at: datetime
    """End time of the run."""
    score: float
    """Score from 0 to 100."""
    was_rewound: bool
    """True if the run was rewound. Its dot is hollow, because its score is not comparable."""


class ScoreChart(QWidget):
    """Chart with one evenly spaced dot per run, oldest on the left. A dot is hollow if its run was rewound."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._runs: tuple[ScoreChartRun, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr("Score over time"))

    def show_runs(self, oldest_first: Sequence[ScoreChartRun]) -> None:
        """Show the scores of the runs, which are ordered from oldest to newest."""
        self._runs = tuple(oldest_first)
        self.setAccessibleDescription(
            ", ".join(formatting.format_plain_number(run.score) for run in self._runs)
        )
        self.update()

    @override
    def sizeHint(self) -> QSize:
        return QSize(320, round(self.fontMetrics().height() * CHART_HEIGHT_LINES))

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        colors = theme.get_theme_tokens(self.palette())
        small = theme.resize_font(self.font(), 0.85)
        metrics = QFontMetricsF(small)
        line = metrics.height()
        left_px = metrics.horizontalAdvance("100") + 10.0
        plot = QRectF(self.rect()).adjusted(left_px, line * 0.7, -line, -line * 1.5)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(small)
        draw_grid_lines(
            painter,
            plot,
            [(points / 100.0, formatting.format_plain_number(points)) for points in GRID_SCORES],
            colors,
        )
        dots = self._compute_dots(plot)
        painter.setPen(QPen(colors.accent, 2.0))
        painter.drawPolyline(QPolygonF(dots))
        for run, dot in zip(self._runs, dots, strict=True):
            painter.setBrush(colors.surface if run.was_rewound else colors.accent)
            painter.drawEllipse(dot, line * DOT_RADIUS_LINES, line * DOT_RADIUS_LINES)
        self._write_dates(painter, plot, line)
        painter.end()

    def _compute_dots(self, plot: QRectF) -> list[QPointF]:
        inner = plot.adjusted(plot.height() * 0.12, 0.0, -plot.height() * 0.12, 0.0)
        steps = max(1, len(self._runs) - 1)
        return [
            QPointF(
                inner.left() + inner.width() * index / steps, plot.bottom() - plot.height() * run.score / 100
            )
            for index, run in enumerate(self._runs)
        ]

    def _write_dates(self, painter: QPainter, plot: QRectF, line: float) -> None:
        if not self._runs:
            return
        painter.setPen(theme.get_theme_tokens(self.palette()).muted)
        box = QRectF(plot.left(), plot.bottom() + line * 0.4, plot.width(), line)
        first, last = (f"{run.ended_at.astimezone():%Y-%m-%d}" for run in (self._runs[0], self._runs[-1]))
        painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, first)
        if last != first:
            painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, last)


class FinishedRunRow(Struct, frozen=True):
    """Row of a finished run."""

    run_id: int
    finished_at: datetime
    title: str
    mode: str
    score: float | None
    downtime_s: float
    lost_transactions: int
    scenario_name: str = ""
    """Name of the scenario. Runs with the same name belong to the same drill."""
    was_rewound: bool = False
    """True if the run was rewound, or began in the middle of an earlier run."""


RUN_COLUMNS: Final[tuple[TableColumn[FinishedRunRow], ...]] = (
    TableColumn(
        title=mark("Finished"),
        text=lambda run: run.finished_at.astimezone().strftime("%Y-%m-%d %H:%M"),
        sample="2005-10-22 12:39",
    ),
    TableColumn(
        title=mark("Drill"), text=lambda run: run.title, sample="Mirroring: principal loses power and more"
    ),
    TableColumn(title=mark("Mode"), text=lambda run: formatting.get_mode_name(run.mode), sample="practice"),
    TableColumn(
        title=mark("Score"),
        text=lambda run: (
            formatting.NO_VALUE if run.score is None else formatting.format_plain_number(run.score)
        ),
        is_number=True,
        sample="100.0",
    ),
    TableColumn(
        title=mark("Downtime"),
        text=lambda run: formatting.format_seconds(run.downtime_s, 1),
        is_number=True,
        sample="59:59",
    ),
    TableColumn(
        title=mark("Transactions lost"),
        text=lambda run: formatting.format_number(run.lost_transactions),
        is_number=True,
    ),
    TableColumn(
        title=mark("Rewound"),
        text=lambda run: tr("yes") if run.was_rewound else "",
        spoken=lambda run: tr("yes") if run.was_rewound else tr("no"),
        tip=lambda run: tr("Not counted as a best score") if run.was_rewound else "",
    ),
)


TITLE_COLUMN: Final = 1
"""Index of the column with the drill's title."""

GOOD_SCORE_MIN, FAIR_SCORE_MIN = 80.0, 50.0
"""Minimum points for green and for yellow, as in the ring of the debrief."""

OUTCOME_FILTERS: Final[tuple[tuple[str, Callable[[FinishedRunRow], bool]], ...]] = (
    (mark("Any outcome"), lambda run: True),
    (mark("80 points or more"), lambda run: run.score is not None and run.score >= GOOD_SCORE_MIN),
    (
        mark("50 to under 80 points"),
        lambda run: run.score is not None and FAIR_SCORE_MIN <= run.score < GOOD_SCORE_MIN,
    ),
    (mark("Under 50 points"), lambda run: run.score is not None and run.score < FAIR_SCORE_MIN),
    (mark("No score"), lambda run: run.score is None),
    (mark("Runs with lost transactions"), lambda run: run.lost_transactions > 0),
)
PERIOD_CHOICES: Final = (
    (mark("Any date"), 0),
    (mark("Today"), 1),
    (mark("Last 7 days"), 7),
    (mark("Last 30 days"), 30),
)
"""Label of a period, and its length in days including today. 0 means no limit."""


def compute_period_start(days: int, current_time: datetime) -> datetime:
    """Return the start of the period of *days* days that ends today, or the minimum time if *days* is 0."""
    if not days:
        return datetime.min.replace(tzinfo=UTC)
    return current_time.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=days - 1)


class RunHistoryPage(QWidget):
    """Page with filters, and a table of finished runs below them."""

    open_wanted = Signal(int)
    comparison_wanted = Signal(int, int)
    """Signal: IDs of two runs to compare, the earlier run first."""
    deletion_wanted = Signal(list)
    """Signal: runs that the user wants to delete. The owner asks for confirmation."""
    leave_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = QLabel(tr("History"))
        self._count = QLabel()
        self._count.setProperty("muted", "true")
        self._table = TableView(TableModel(RUN_COLUMNS), tr("Finished runs"))
        self._table.horizontalHeader().setStretchLastSection(False)
        self._table.doubleClicked.connect(lambda _: self._open())
        self._table.activated.connect(lambda _: self._open())
        self._width_timer = QTimer(self, singleShot=True, interval=0)
        """Timer that shares the width after the table has its size and font."""
        self._width_timer.timeout.connect(self._share_width)
        self._runs: tuple[FinishedRunRow, ...] = ()
        self.drill, self.outcome, self.date = QComboBox(), QComboBox(), QComboBox()
        set_accessible_box_name(self.drill, tr("Drill"))
        set_accessible_box_name(self.outcome, tr("Outcome"))
        set_accessible_box_name(self.date, tr("Date"))
        self.outcome.addItems([tr(text) for text, _ in OUTCOME_FILTERS])
        self.date.addItems([tr(text) for text, _ in PERIOD_CHOICES])
        for box in (self.drill, self.outcome, self.date):
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            box.setMinimumContentsLength(14)
            box.activated.connect(lambda _: self._apply_filters())
        self._chart_title = QLabel(textFormat=Qt.TextFormat.PlainText)
        self._chart_title.setProperty("muted", "true")
        self._chart_title.setObjectName("chart-title")
        self._chart = ScoreChart()
        self._table.selectionModel().selectionChanged.connect(lambda *_: self._show_selected_runs())
        self._open_button = QPushButton(tr("Open the debrief"))
        self._open_button.setProperty("primary", "true")
        self._open_button.clicked.connect(self._open)
        self.compare, self.delete = QPushButton(tr("Compare")), QPushButton(tr("Delete…"))
        self.compare.clicked.connect(self._compare)
        self.delete.clicked.connect(self._delete)
        self._add_key("Del", tr("Delete…"), self._delete)
        button = build_back_button(tr("All drills"), self, self.leave_wanted)
        head = build_row(self._title, (self._count, 1, Qt.AlignmentFlag.AlignBottom))
        choices = build_row((self.drill, 3), (self.outcome, 2), (self.date, 2), 2)
        buttons = build_row(button, 0, self.delete, self.compare, self._open_button)
        build_widget_column(
            head,
            choices,
            (self._table, 1),
            self._chart_title,
            self._chart,
            buttons,
            parent=self,
            margins=(28, 18, 28, 20),
            spacing=12,
        )
        self._show_font()
        theme.call_after_events(self, theme.FONT_EVENTS, self._show_font, self._width_timer.start)

    def show_runs(self, runs: Sequence[FinishedRunRow]) -> None:
        """Show all finished runs, newest first. Keep the selected drill filter."""
        self._runs = tuple(runs)
        titles = {run.scenario_name: run.title for run in runs}
        before = self.drill.currentData()
        self.drill.clear()
        self.drill.addItem(tr("Any drill"), "")
        for name, title in sorted(titles.items(), key=lambda item: item[1].casefold()):
            self.drill.addItem(title, name)
        self.drill.setCurrentIndex(max(0, self.drill.findData(before)))
        self._apply_filters()
        self._table.setFocus()

    def _apply_filters(self) -> None:
        """Show the runs that pass the filters, and their summary."""
        name, outcome_filter = self.drill.currentData(), OUTCOME_FILTERS[self.outcome.currentIndex()][1]
        begin = compute_period_start(PERIOD_CHOICES[self.date.currentIndex()][1], datetime.now().astimezone())
        runs = [
            run
            for run in self._runs
            if name in ("", run.scenario_name) and outcome_filter(run) and run.finished_at >= begin
        ]
        empty_text = tr("No finished runs.")
        self._table.set_empty_text(tr("No matching runs.") if self._runs else empty_text)
        self._table.table.replace_rows(runs)
        self._count.setText(_format_summary(runs, len(self._runs)))
        self._width_timer.start()
        if runs:
            self._table.selectRow(0)
        self._show_selected_runs()

    @property
    def selected_runs(self) -> list[FinishedRunRow]:
        """Selected runs, newest first."""
        rows = sorted({index.row() for index in self._table.selectionModel().selectedRows()})
        return [self._table.table.rows[row] for row in rows]

    def _get_selected_run(self) -> FinishedRunRow | None:
        return next(iter(self.selected_runs), None)

    def _select_pair(self) -> tuple[FinishedRunRow, FinishedRunRow] | None:
        """Return two runs to compare, the earlier one first, or None.

        These are the two selected runs, or one selected run and the previous run of its drill.
        """
        runs = self.selected_runs
        if len(runs) == 2:
            return runs[1], runs[0]
        if len(runs) == 1:
            older = [run for run in self._runs if run.run_id < runs[0].run_id]
            before = next((run for run in older if run.scenario_name == runs[0].scenario_name), None)
            return (before, runs[0]) if before is not None else None
        return None

    def _compare(self) -> None:
        run_pair = self._select_pair()
        if run_pair is not None:
            self.comparison_wanted.emit(run_pair[0].run_id, run_pair[1].run_id)

    def _delete(self) -> None:
        if self.selected_runs:
            self.deletion_wanted.emit(self.selected_runs)

    def _show_selected_runs(self) -> None:
        """Update the commands for the selected runs, and the chart of the first selected run's drill."""
        runs = self.selected_runs
        self._open_button.setEnabled(len(runs) == 1)
        self.delete.setEnabled(bool(runs))
        self.compare.setEnabled(self._select_pair() is not None)
        before = tr("Compare with the previous run")
        self.compare.setText(before if len(runs) == 1 and self.compare.isEnabled() else tr("Compare"))
        self.compare.setToolTip(tr("To compare two runs, select both (Ctrl+click, or Shift+arrow key)"))
        self._show_chart()

    def _add_key(self, key: str, text: str, callback: Callable[[], None]) -> None:
        action = QAction(text, self._table)
        action.setShortcut(QKeySequence(key))
        action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        action.triggered.connect(lambda _=False: callback())
        self._table.addAction(action)

    def _open(self) -> None:
        run = self._get_selected_run()
        if run is not None and len(self.selected_runs) == 1:
            self.open_wanted.emit(run.run_id)

    def _show_chart(self) -> None:
        """Show the scores of the selected run's drill, even if there is only one score."""
        finished_run = self._get_selected_run()
        scored = [
            ScoreChartRun(run.finished_at, run.score, run.was_rewound)
            for run in reversed(self._runs)
            if finished_run is not None
            and run.scenario_name == finished_run.scenario_name
            and run.score is not None
        ]
        for widget in (self._chart, self._chart_title):
            widget.setVisible(bool(scored))
        if finished_run is not None and scored:
            title = tr("Score over time: {drill}").format(drill=finished_run.title)
            hollow = any(run.was_rewound for run in scored)
            self._chart_title.setText(" ".join((title, tr("(hollow: rewound)"))) if hollow else title)
            self._chart.show_runs(scored)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._width_timer.start()

    def _share_width(self) -> None:
        """Give the title column the remaining width. If the text is too large, scroll the table."""
        other_width = sum(
            self._table.columnWidth(column) for column in range(len(RUN_COLUMNS)) if column != TITLE_COLUMN
        )
        has_room = self._table.viewport().width() - other_width >= self._table.sizeHintForColumn(TITLE_COLUMN)
        mode = QHeaderView.ResizeMode.Stretch if has_room else QHeaderView.ResizeMode.ResizeToContents
        self._table.horizontalHeader().setSectionResizeMode(TITLE_COLUMN, mode)

    def _show_font(self) -> None:
        self._title.setFont(theme.resize_font(self.font(), 1.8, bold=True))


def _format_summary(runs: Sequence[FinishedRunRow], total: int) -> str:
    """Describe how many of the *total* finished runs are listed, and their mean score."""
    if not total:
        return tr("No finished runs.")
    summary = trn("{n} finished run", "{n} finished runs", len(runs)).format(n=len(runs))
    if len(runs) < total:
        summary = tr("{some} of {all}").format(some=summary, all=formatting.format_number(total))
    scores = [run.score for run in runs if run.score is not None]
    if scores:
        summary += ", " + tr("{points:.0f} points on average").format(points=sum(scores) / len(scores))
    return summary
