"""Dialog for a condition at which the run pauses. It checks the condition during typing."""

from collections.abc import Callable, Sequence
from typing import Final

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QComboBox, QDialog, QDialogButtonBox, QLabel, QWidget

from app.widgets.layouts import build_widget_column, mark_primary
from app.widgets.screen_reader import announce_text, set_accessible_box_name
from app.words.language import tr

TYPING_PAUSE_MS: Final = 900
"""Pause in typing after which a screen reader announces a problem."""


class ConditionDialog(QDialog):
    """Dialog to enter the condition at which the run pauses, in the syntax of goals.

    The examples use names of the current drill.
    """

    condition_chosen = Signal(str)
    """Signal: valid condition."""

    def __init__(
        self, examples: Sequence[str], find_problem: Callable[[str], str], parent: QWidget | None = None
    ) -> None:
        """Create the dialog. *find_problem* returns the problem of a condition text, or an empty string."""
        super().__init__(parent)
        self._problem_of = find_problem
        self.setWindowTitle(tr("Run until"))
        self.text = QComboBox(editable=True)
        self.text.addItems(list(examples))
        self.text.setMinimumContentsLength(44)
        set_accessible_box_name(self.text, tr("Condition"))
        self.text.editTextChanged.connect(lambda _: self._check())
        label = QLabel(tr("Run at full speed until this condition is met:"))
        label.setBuddy(self.text)
        self.problem = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self._typing_timer = QTimer(self, singleShot=True, interval=TYPING_PAUSE_MS)
        self._typing_timer.timeout.connect(lambda: announce_text(self, self.problem.text()))
        hint = QLabel(tr("Combine states, queues and times with and, or, not. Example:  {example}").format(
            example=" and ".join(examples[:2])))  # fmt: skip
        hint.setWordWrap(True)
        hint.setProperty("muted", "true")
        self.buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel, self
        )
        self.run = self.buttons.button(QDialogButtonBox.StandardButton.Ok)
        self.run.setText(tr("Run"))
        mark_primary(self.run)
        self.buttons.accepted.connect(self._accept)
        self.buttons.rejected.connect(self.reject)
        build_widget_column(label, self.text, self.problem, hint, self.buttons, parent=self)
        self._check()
        edit = self.text.lineEdit()
        assert edit is not None
        edit.selectAll()

    def _check(self) -> None:
        problem = self._problem_of(self.text.currentText())
        self.problem.setText(problem or tr("The condition is valid."))
        self.run.setEnabled(not problem)
        self._typing_timer.start()

    def _accept(self) -> None:
        self.accept()
        self.condition_chosen.emit(self.text.currentText())
