"""Cards at the top of the debrief: score and figures on the left, the biggest mistake on the right."""

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QPushButton,
    QSizePolicy,
    QWidget,
)

from app.view_models.debrief.model import DebriefModel, Grade, SummaryFigure, SummaryModel
from app.view_models.debrief.verdict import ContinuationStep, VerdictModel
from app.views.debrief.debrief_widgets import build_label, build_muted_label
from app.widgets.layouts import build_row, build_widget_column
from app.words import formatting
from app.words.language import tr

SCORE_SCALE: Final = 3.0
SENTENCE_SCALE: Final = 1.3
SIDE_MARGIN_PX: Final = 18
"""Left and right margin of the text in the card with the biggest mistake."""
BORDER_PX: Final = 8
SCORE_CARD_WIDTH_LINES: Final = 18
"""Width of the card with the score, in line heights."""


def build_score_card(summary: SummaryModel, narrow: bool) -> QFrame:
    """Return the left card with score and figures.

    If *narrow*, the card has the full width and its text wraps.
    """
    card = QFrame()
    card.setProperty("card", "true")
    if not narrow:
        card.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Preferred)
    column = build_widget_column(parent=card, margins=(16, 10, 16, 12), spacing=6)
    if not narrow:
        column.addStrut(SCORE_CARD_WIDTH_LINES * card.fontMetrics().height())
    if summary.score is not None and summary.grade is not None:
        column.addLayout(_build_score_row(summary.score, summary.grade))
        column.addWidget(_build_line())
    column.addWidget(_build_figures(summary.figures, narrow))
    column.addStretch()
    return card


def _build_score_row(total: float, grade: Grade) -> QHBoxLayout:
    row = build_row(spacing=8)
    number = build_label(formatting.format_plain_number(total), SCORE_SCALE, bold=True)
    number.setWordWrap(False)
    number.setAccessibleName(tr("Score {total} of 100").format(total=formatting.format_plain_number(total)))
    number.setObjectName("score")
    maximum_label = build_muted_label(tr("of 100"))
    maximum_label.setWordWrap(False)
    badge = build_label(grade.text, 1.1, bold=True)
    badge.setWordWrap(False)
    badge.setProperty("badge", grade.color_name)
    row.addWidget(number, 0, Qt.AlignmentFlag.AlignBottom)
    row.addWidget(maximum_label, 0, Qt.AlignmentFlag.AlignBottom)
    row.addStretch()
    row.addWidget(badge, 0, Qt.AlignmentFlag.AlignVCenter)
    return row


def _build_figures(figures: Sequence[SummaryFigure], narrow: bool) -> QWidget:
    box = QWidget()
    grid = QGridLayout(box)
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setHorizontalSpacing(10)
    grid.setVerticalSpacing(3)
    grid.setColumnStretch(0, 1)
    for number, figure in enumerate(figures):
        name = build_muted_label(figure.label) if figure.detail else build_label(figure.label)
        if figure.detail:
            name.setContentsMargins(14, 0, 0, 0)
        name.setWordWrap(narrow)
        value = build_label(figure.value, bold=True)
        value.setWordWrap(False)
        value.setObjectName(figure.key)
        value.setProperty("tone", figure.color_name)
        for part in (name, value):
            part.setToolTip(figure.tip)
        grid.addWidget(name, number, 0)
        grid.addWidget(value, number, 1, Qt.AlignmentFlag.AlignRight)
    return box


class VerdictCard(QFrame):
    """Right card with the verdict on the run: its biggest mistake.

    The page owns the buttons of the card, so that they keep the focus when the text changes.
    """

    def __init__(self, buttons: Sequence[QPushButton], learn: QPushButton) -> None:
        super().__init__()
        self.setProperty("verdict", "")
        self._text = build_widget_column(spacing=5)
        column = build_widget_column(
            self._text,
            (learn, 0, Qt.AlignmentFlag.AlignLeft),
            0,
            parent=self,
            margins=(SIDE_MARGIN_PX, 10, SIDE_MARGIN_PX, 12),
            spacing=6,
        )
        self._buttons = buttons
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._row.addStretch(1)
        for button in buttons:
            self._row.addWidget(button, 0, Qt.AlignmentFlag.AlignRight)
        column.addLayout(self._row)

    def show_verdict(self, verdict: VerdictModel | None, model: DebriefModel) -> None:
        """Replace the text by *verdict*.

        None means that the verdict is not known yet or cannot be determined.
        """
        while (item := self._text.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        for part in _build_explanation(verdict, model):
            self._text.addWidget(part)
        self.setProperty("verdict", verdict.color_name if verdict is not None else "")
        self.style().unpolish(self)
        self.style().polish(self)

    def show_primary(self, primary: QPushButton) -> None:
        """Move *primary*, the highlighted button, to the end of the row of buttons."""
        self._row.removeWidget(primary)
        self._row.addWidget(primary, 0, Qt.AlignmentFlag.AlignRight)

    def arrange_buttons(self, width: int) -> None:
        """Stack the buttons if *width* is too small for a row."""
        room = width - 2 * SIDE_MARGIN_PX - BORDER_PX
        buttons = [button for button in self._buttons if not button.isHidden()]
        for widget in buttons:
            widget.ensurePolished()
        needed_width = sum(button.sizeHint().width() + self._row.spacing() for button in buttons)
        direction, down = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
        self._row.setDirection(direction if needed_width <= room else down)


def _build_explanation(verdict: VerdictModel | None, model: DebriefModel) -> list[QWidget]:
    if verdict is None:
        text = (
            tr("Looking for the biggest mistake…")
            if model.is_analyzing
            else tr("This run cannot be analyzed.")
        )
        if model.is_analyzing and not model.report["score"]["scored"]:
            text = tr("Preparing…")
        return [build_label(text, SENTENCE_SCALE, bold=True)]
    lead = build_label(verdict.card_heading, bold=True)
    lead.setProperty("tone", verdict.color_name)
    sentence = build_label(verdict.sentence, SENTENCE_SCALE, bold=True)
    sentence.setObjectName("sentence")
    parts: list[QWidget] = [lead, sentence]
    if verdict.steps_heading:
        parts += [_build_line(), build_muted_label(verdict.steps_heading)]
    if verdict.steps:
        parts.append(_build_steps(verdict.steps))
    parts += [build_label(line) for line in verdict.lines]
    return parts


def _build_steps(steps: Sequence[ContinuationStep]) -> QWidget:
    box = QWidget()
    box.setObjectName("steps")
    grid = QGridLayout(box)
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setHorizontalSpacing(10)
    grid.setVerticalSpacing(3)
    grid.setColumnStretch(2, 1)
    top = Qt.AlignmentFlag.AlignTop
    for number, step in enumerate(steps):
        count, time_label = build_label(str(number + 1), bold=True), build_muted_label(step.time_text)
        for part in (count, time_label):
            part.setWordWrap(False)
        grid.addWidget(count, number, 0, top)
        grid.addWidget(time_label, number, 1, top | Qt.AlignmentFlag.AlignRight)
        grid.addWidget(build_label(step.text), number, 2, top)
    return box


def _build_line() -> QFrame:
    line = QFrame()
    line.setProperty("line", "true")
    return line
