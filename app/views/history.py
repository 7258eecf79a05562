"""Every run that was finished, newest first; any of them can be opened again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QHeaderView, QLabel, QPushButton, QVBoxLayout, QWidget

from app import formatting, theme
from app.language import mark, tr, trn
from app.score_chart import ScoreChart, Scored
from app.tables import Column, TableModel, TableView


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run as the page lists it."""

    run_id: int
    finished_at: datetime
    title: str
    mode: str
    score: float | None
    downtime_s: float
    lost_transactions: int
    scenario: str = ""
    """Its name, by which runs of one drill belong together."""
    retried: bool = False
    """Somebody went back in it, or began it at a moment of an earlier run."""


COLUMNS: Final = (
    Column(
        title=mark("Finished"),
        text=lambda run: run.finished_at.astimezone().strftime("%Y-%m-%d %H:%M"),
        sample="2005-10-22 12:39",
    ),
    Column(title=mark("Drill"), text=lambda run: run.title, sample="The principal loses its power and more"),
    Column(title=mark("Mode"), text=lambda run: formatting.mode(run.mode), sample="practice"),
    Column(
        title=mark("Score"),
        text=lambda run: formatting.NOTHING if run.score is None else formatting.plain(run.score),
        right=True,
        sample="100.0",
    ),
    Column(
        title=mark("Without service"),
        text=lambda run: formatting.seconds(run.downtime_s, 1),
        right=True,
        sample="59 min 59 s",
    ),
    Column(
        title=mark("Transactions lost"), text=lambda run: formatting.number(run.lost_transactions), right=True
    ),
    Column(
        title=mark("Gone back"),
        text=lambda run: tr("yes") if run.retried else "",
        spoken=lambda run: tr("yes") if run.retried else tr("no"),
        tip=lambda run: tr("Not counted as a best score") if run.retried else "",
    ),
)


class HistoryPage(QWidget):
    """A table of finished runs."""

    opened = Signal(int)
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = QLabel(tr("History"))
        self._count = QLabel()
        self._count.setProperty("muted", "true")
        self._table = TableView(TableModel(COLUMNS), tr("Finished runs"))
        header = self._table.horizontalHeader()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)  # the drill's title has the room
        self._table.doubleClicked.connect(lambda _: self._open())
        self._table.activated.connect(lambda _: self._open())
        self._runs: tuple[Run, ...] = ()
        self._chart_title = QLabel()
        self._chart_title.setTextFormat(Qt.TextFormat.PlainText)
        self._chart_title.setProperty("muted", "true")
        self._chart = ScoreChart()
        self._table.selectionModel().selectionChanged.connect(lambda *_: self._show_chart())
        self._open_button = QPushButton(tr("Open the debrief"))
        self._open_button.setProperty("primary", "true")
        self._open_button.clicked.connect(self._open)
        back = QPushButton(tr("All drills"))
        back.clicked.connect(self.left)
        head = QHBoxLayout()
        head.addWidget(self._title)
        head.addWidget(self._count, 1, Qt.AlignmentFlag.AlignBottom)
        buttons = QHBoxLayout()
        buttons.addWidget(back)
        buttons.addStretch()
        buttons.addWidget(self._open_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(28, 18, 28, 20)
        layout.setSpacing(12)
        layout.addLayout(head)
        layout.addWidget(self._table, 1)
        layout.addWidget(self._chart_title)
        layout.addWidget(self._chart)
        layout.addLayout(buttons)
        self._show_font()

    def show_runs(self, runs: Sequence[Run]) -> None:
        self._runs = tuple(runs)
        self._table.table.replace(runs)
        scores = [run.score for run in runs if run.score is not None]
        said = tr("No run has been finished yet.")
        if runs:
            said = trn("{n} finished run", "{n} finished runs", len(runs)).format(n=len(runs))
        if scores:
            mean = sum(scores) / len(scores)
            said += ", " + tr("{points:.0f} points on average").format(points=mean)
        self._count.setText(said)
        self._open_button.setEnabled(bool(runs))
        if runs:
            self._table.selectRow(0)
            self._table.setFocus()

        self._show_chart()

    def _selected(self) -> Run | None:
        rows = self._table.selectionModel().selectedRows()
        run: Run | None = self._table.table.rows[rows[0].row()] if rows else None
        return run

    def _open(self) -> None:
        run = self._selected()
        if run is not None:
            self.opened.emit(run.run_id)

    def _show_chart(self) -> None:
        """The scores of the drill whose run is selected; one dot makes no course, but says where it begins."""
        chosen = self._selected()
        scored = [
            Scored(run.finished_at, run.score, run.retried)
            for run in reversed(self._runs)
            if chosen is not None and run.scenario == chosen.scenario and run.score is not None
        ]
        for widget in (self._chart, self._chart_title):
            widget.setVisible(bool(scored))
        if chosen is not None and scored:
            title = tr("Score over time: {drill}").format(drill=chosen.title)
            hollow = any(run.retried for run in scored)
            self._chart_title.setText(" ".join((title, tr("(hollow: gone back)"))) if hollow else title)
            self._chart.show_runs(scored)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._show_font()

    def _show_font(self) -> None:
        self._title.setFont(theme.sized(self.font(), 1.8, bold=True))
