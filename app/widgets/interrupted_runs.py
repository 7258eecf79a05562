"""Runs that can be taken up again: one line for the newest, the others behind a button."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QToolButton, QVBoxLayout, QWidget

from app.words import formatting
from app.words.language import tr, trn


@dataclass(frozen=True, slots=True)
class Interrupted:
    """A run that can be taken up again, or the reason why it cannot."""

    run_id: int
    name: str
    """Of the scenario."""
    title: str
    t_s: float
    when: str
    problem: str | None


class InterruptedRuns(QWidget):
    """Nothing at all while there are none."""

    resumed = Signal(int)
    given_up = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._rows: list[_Row] = []
        self.more = QToolButton(self)
        self.more.setCheckable(True)
        self.more.toggled.connect(lambda _: self._show_rows())
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(2)
        self.hide()

    def show_runs(self, runs: Sequence[Interrupted]) -> None:
        self.more.setParent(self)  # its row goes
        for row in self._rows:
            self._column.removeWidget(row)
            row.hide()
            row.deleteLater()
        self._rows = [_Row(run) for run in runs]
        for row in self._rows:
            row.resumed.connect(self.resumed)
            row.given_up.connect(self.given_up)
            self._column.addWidget(row)
        if self._rows:
            self._rows[0].add(self.more)
        self._show_rows()

    def _show_rows(self) -> None:
        others = len(self._rows) - 1
        self.more.setVisible(others > 0)
        said = trn("{n} more ▾", "{n} more ▾", others).format(n=others)
        self.more.setText(tr("Fewer ▴") if self.more.isChecked() else said)
        for row in self._rows[1:]:
            row.setVisible(self.more.isChecked())
        self.setVisible(bool(self._rows))


class _Row(QFrame):
    """One interrupted run."""

    resumed = Signal(int)
    given_up = Signal(int)

    def __init__(self, run: Interrupted) -> None:
        super().__init__()
        self.setProperty("card", "true")
        at = formatting.run_time(run.t_s)
        text = run.problem or tr("“{title}” was interrupted at {at} ({when}).").format(
            title=run.title, at=at, when=run.when
        )
        label = QLabel(text)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setWordWrap(True)
        go_on = QPushButton(tr("Continue at {at}").format(at=at))
        go_on.setProperty("primary", "true")
        go_on.setVisible(run.problem is None)
        go_on.clicked.connect(lambda: self.resumed.emit(run.run_id))
        give_up = QPushButton(tr("Give up this run"))
        give_up.clicked.connect(lambda: self.given_up.emit(run.run_id))
        for button in (go_on, give_up):
            button.setProperty("small", "true")
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(14, 3, 10, 3)
        self._row.addWidget(label, 1)
        self._row.addWidget(go_on)
        self._row.addWidget(give_up)

    def add(self, button: QWidget) -> None:
        self._row.addWidget(button)
