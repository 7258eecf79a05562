"""Reflection on a run: the form before the points are shown, and the answers next to the points."""

from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtGui import QIntValidator
from PySide6.QtWidgets import (
    QCheckBox,
    QFormLayout,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QWidget,
)

from app.learning.reflection import Reflection
from app.views.debrief.debrief_widgets import build_label, build_muted_label
from app.widgets.layouts import build_row
from app.words import formatting
from app.words.language import tr

FIELD_HEIGHT_LINES: Final = 3
"""Height of a text field in lines."""


class ReflectionForm(QWidget):
    """Form with three short optional questions."""

    answered = Signal(object)
    """Signal: a `Reflection`. None means skipped."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.happened, self.otherwise = QPlainTextEdit(), QPlainTextEdit()
        for text in (self.happened, self.otherwise):
            text.setTabChangesFocus(True)
            text.setFixedHeight((FIELD_HEIGHT_LINES + 1) * text.fontMetrics().lineSpacing())
        self.expected = QLineEdit()
        self.expected.setValidator(QIntValidator(0, 100, self))
        self.expected.setMaximumWidth(self.expected.fontMetrics().averageCharWidth() * 10)
        self.setFocusProxy(self.happened)
        form = QFormLayout(self)
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapAllRows)
        form.setContentsMargins(0, 0, 0, 0)
        form.addRow(tr("What &happened, and why?"), self.happened)
        form.addRow(tr("What would you do &differently?"), self.otherwise)
        form.addRow(tr("How many &points of 100 do you expect?"), self.expected)
        show, skip = QPushButton(tr("Show the points")), QPushButton(tr("Skip"))
        show.setProperty("primary", "true")
        show.clicked.connect(self._emit_answer)
        skip.clicked.connect(lambda: self.answered.emit(None))
        row = build_row(show, skip, 0)
        form.addRow(row)

    def _emit_answer(self) -> None:
        happened, alternative = (text.toPlainText().strip() for text in (self.happened, self.otherwise))
        expected = self.expected.text().strip()
        if not (happened or alternative or expected):
            self.answered.emit(None)
            return
        self.answered.emit(Reflection(happened, alternative, float(expected) if expected else None))


def build_reflection_widgets(reflection: Reflection, score: float | None) -> list[QWidget]:
    """Build widgets that show the reflection next to the result of the run."""
    widgets: list[QWidget] = []
    if reflection.expected_score is not None and score is not None:
        widgets.append(
            build_label(
                tr("You expected {expected} points. Your score is {score}.").format(
                    expected=formatting.localize_number(f"{reflection.expected_score:.0f}"),
                    score=formatting.localize_number(f"{score:.0f}"),
                )
            )
        )
    for title, text in (
        (tr("What happened, and why"), reflection.happened),
        (tr("What you would do differently"), reflection.otherwise),
    ):
        if text:
            widgets += [build_muted_label(title), build_label(text)]
    return widgets


def build_reflection_checkbox(checked: bool) -> QCheckBox:
    """Build the check box that turns the reflection form on or off for later runs."""
    box = QCheckBox(tr("Ask me for a self-assessment before the score is shown"))
    box.setChecked(checked)
    return box
