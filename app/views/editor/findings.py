"""What is wrong with a scenario, each with its line, and what its solution is worth."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtWidgets import QLabel, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from app import formatting, theme
from app.language import tr, trn
from app.sentences import ours, said
from app.views.editor.checking import Reading, Trial
from engine.drill.problems import Problem
from engine.drill.score import Score

_LINE = Qt.ItemDataRole.UserRole


class Findings(QWidget):
    """One row for each; Enter or a double click goes to the line."""

    chosen = Signal(int)
    """A line of the text, from 1."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._heading = QLabel()
        self._heading.setFont(theme.sized(self.font(), 1.0, bold=True))
        self._heading.setWordWrap(True)
        self.rows = QListWidget()
        self.rows.setAccessibleName(tr("Findings"))
        self.rows.setWordWrap(True)
        self.rows.itemActivated.connect(self._choose)
        self.rows.itemDoubleClicked.connect(self._choose)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 6, 12, 8)
        column.addWidget(self._heading)
        column.addWidget(self.rows, 1)

    @property
    def lines(self) -> list[int]:
        """Lines of the text that have a problem."""
        found = (self.rows.item(row).data(_LINE) for row in range(self.rows.count()))
        return [line for line in found if line is not None]

    @property
    def heading(self) -> str:
        return self._heading.text()

    def show_reading(self, reading: Reading) -> None:
        self.rows.clear()
        self._add_problems(reading.problems)
        count = len(reading.problems)
        if count:
            said = trn(
                "{n} problem keeps it from being played", "{n} problems keep it from being played", count
            )
            self._heading.setText(said.format(n=count))
        else:
            self._heading.setText(tr("It can be played. “Run the solution” says what it is worth."))

    def show_working(self) -> None:
        self._heading.setText(tr("The solution is being played …"))

    def show_trial(self, trial: Trial) -> None:
        self.rows.clear()
        self._heading.setText(_verdict(trial))
        self._add_problems(trial.problems)
        if trial.reference is not None:
            for item in trial.reference.items:
                points = formatting.plain(item.points)
                points += f" / {formatting.plain(item.max)}" if item.max else ""
                better = f"  →  {said(item.better)}" if item.better and item.points < item.max else ""
                self.rows.addItem(f"{said(item.name)}: {points}  –  {said(item.why)}{better}")

    def _add_problems(self, problems: Sequence[Problem]) -> None:
        for problem in problems:
            where = f"{problem.where}: " if problem.where else ""
            expected = tr("; expected {what}").format(what=_expected(problem)) if problem.expected else ""
            row = QListWidgetItem(f"{problem.line}:{problem.column}  {where}{said(problem.text)}{expected}")
            row.setData(_LINE, problem.line)
            self.rows.addItem(row)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._heading.setFont(theme.sized(self.font(), 1.0, bold=True))

    def _choose(self, row: QListWidgetItem) -> None:
        if row.data(_LINE) is not None:
            self.chosen.emit(row.data(_LINE))


def _expected(problem: Problem) -> str:
    """What the grammar of conditions expects is a list: a name, a number, (."""
    if ours(problem.expected):
        return said(problem.expected)
    return ", ".join(said(one) for one in problem.expected.split(", "))


def _verdict(trial: Trial) -> str:
    if trial.said:
        return tr("The solution cannot be played: {reason}").format(reason=said(trial.said))
    if trial.reference is None or trial.nothing is None:
        return tr("Free play: nothing is scored.")
    return tr("The solution earns {solution} of 100, doing nothing {nothing}.").format(
        solution=_total(trial.reference), nothing=_total(trial.nothing)
    )


def _total(score: Score) -> str:
    return formatting.plain(score.total)
