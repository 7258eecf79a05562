"""Questions of a drill at an edge of the brief: a choice, then Confirm. Neither the text nor the focus moves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from PySide6.QtCore import QEvent, QObject, QRect, Qt, Signal
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import (
    QButtonGroup,
    QComboBox,
    QFrame,
    QLabel,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.widgets import theme
from app.widgets.input_guard import guard
from app.widgets.wrap_button import WrapButton
from app.words import formatting
from app.words.language import tr
from engine.constants import TICKS_PER_S
from engine.drill.running.questions import OpenQuestion
from engine.overrides import override

SURE_PERCENT: Final = (10, 20, 30, 40, 50, 60, 70, 80, 90, 100)
"""Selectable degrees of confidence; any number can be typed. Assumed: nobody distinguishes finer ones."""
HEIGHT_SHARE: Final = 0.8
"""Maximum share of the panel's height; more is scrolled."""


class QuestionCard(QFrame):
    """Question with its choices and its result."""

    confirmed = Signal(str)
    """Signal: input line with the answer."""
    closed = Signal()

    def __init__(self, question: OpenQuestion) -> None:
        super().__init__()
        self.asked, self.open = question, True
        self.setProperty("card", "true")
        self.setAccessibleName(question.text)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(10, 8, 10, 10)
        layout.setSpacing(6)
        title = _label(tr("What will happen next?") if question.prediction else tr("Question"))
        title.setFont(theme.sized(title.font(), 1.05, bold=True))
        layout.addWidget(title)
        layout.addWidget(_label(question.text))
        if question.until_tick is not None:
            until = _label(
                tr("by {time}").format(time=formatting.run_time(question.until_tick / TICKS_PER_S))
            )
            until.setProperty("muted", "true")
            layout.addWidget(until)
        self._group = QButtonGroup(self, exclusive=True)
        self.choices = [WrapButton() for _ in question.choices]
        for number, button in enumerate(self.choices, start=1):
            button.setCheckable(True)
            self._group.addButton(button, number)
            layout.addWidget(button)
        self.sure = QComboBox()
        self.sure.setAccessibleName(tr("How sure are you?"))
        self.sure.addItem(tr("How sure are you?"), None)
        for percent in SURE_PERCENT:
            self.sure.addItem(tr("{percent}% sure").format(percent=percent), percent)
        layout.addWidget(self.sure)
        self.confirm = QPushButton(tr("Confirm answer"))
        self.confirm.setProperty("primary", "true")
        self.confirm.setEnabled(False)
        self.confirm.clicked.connect(self._confirm)
        layout.addWidget(self.confirm)
        self._end = _label("")
        self._end.hide()
        layout.addWidget(self._end)
        self._group.idToggled.connect(lambda *_: self._mark_choice())
        self._mark_choice()

    def show_end(self, text: str) -> None:
        """Show the result of an answered or expired question until it is closed."""
        self.open = False
        for part in (*self.choices, self.sure):
            part.setEnabled(False)
        self._end.setText(text[:1].upper() + text[1:])
        self._end.show()
        self.confirm.setText(tr("Close"))
        self.confirm.setEnabled(True)
        guard().appeared(self)

    def _mark_choice(self) -> None:
        chosen = self._group.checkedId()
        for number, (button, text) in enumerate(zip(self.choices, self.asked.choices, strict=True), start=1):
            button.show_text(f"{'●' if number == chosen else '○'}  {text}", spoken=text)
        self.confirm.setEnabled(chosen > 0)

    def _confirm(self) -> None:
        if self.open:
            percent = self.sure.currentData()
            sure = "" if percent is None else f" sure_percent={percent}"
            self.confirmed.emit(f"answer {self.asked.name} {self._group.checkedId()}{sure}")
        else:
            self.closed.emit()


class QuestionShelf(QScrollArea):
    """Cards over an edge of *panel*: the lower one, unless the pointer is there and not at the upper one."""

    confirmed = Signal(str)
    changed = Signal()
    """Signal: the cards or their edge changed."""

    def __init__(self, panel: QWidget) -> None:
        super().__init__(panel)
        self._panel = panel
        self.cards: list[QuestionCard] = []
        self.at_top = False
        self._content = inside = QWidget()
        self._column = QVBoxLayout(inside)
        self._column.setContentsMargins(8, 8, 8, 8)
        self._column.setSpacing(8)
        self.setWidget(inside)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.Box)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(tr("Questions"))
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        panel.installEventFilter(self)
        self.hide()

    @property
    def first_choice(self) -> QWidget | None:
        """Return the widget that receives the keyboard focus, or None if no question is open."""
        for card in self.cards:
            if card.open:
                return next((button for button in card.choices if button.isChecked()), card.choices[0])
        return self.cards[0].confirm if self.cards else None

    def clear(self) -> None:
        """Remove all questions."""
        for card in list(self.cards):
            self._remove(card)

    def show_open(self, questions: Sequence[OpenQuestion], end_of: Callable[[str], str]) -> None:
        """Show the open questions; *end_of* gives the result of a question (by name) that is no longer open."""
        waiting = {each.name for each in questions}
        new = [each for each in questions if all(card.asked.name != each.name for card in self.cards)]
        if new:
            for card in [card for card in self.cards if not card.open]:
                self._remove(card)
        for card in self.cards:
            if card.open and card.asked.name not in waiting:
                card.show_end(end_of(card.asked.name))
                self._update_geometry()
        for each in new:
            self._add(QuestionCard(each))

    def _add(self, card: QuestionCard) -> None:
        card.confirmed.connect(self.confirmed)
        card.closed.connect(lambda: self._close(card))
        self.cards.append(card)
        self._column.addWidget(card)
        if self.isHidden():
            self.at_top = self._pointer_is_low()
            self.show()
            self.raise_()
        self._update_geometry()
        guard().appeared(self)

    def _close(self, card: QuestionCard) -> None:
        self._remove(card)
        self._panel.setFocus()

    def _remove(self, card: QuestionCard) -> None:
        self.cards.remove(card)
        self._column.removeWidget(card)
        card.hide()
        card.deleteLater()
        self._update_geometry()

    # --- where it stands ------------------------------------------------------------------------------------

    def _update_geometry(self) -> None:
        if not self.cards:
            self.hide()
        self.setGeometry(self._compute_geometry(self.at_top))
        self.changed.emit()

    def _compute_geometry(self, top: bool) -> QRect:
        room = self._panel.contentsRect()
        inside = self._content
        inside.ensurePolished()
        edges = 2 * self.frameWidth()
        # the width with a scroll bar, in case one is needed
        width = room.width() - edges - self.verticalScrollBar().sizeHint().width()
        wanted = inside.heightForWidth(width) if inside.hasHeightForWidth() else inside.sizeHint().height()
        height = min(wanted + edges, round(HEIGHT_SHARE * room.height()))
        return QRect(room.left(), room.top() if top else room.bottom() - height + 1, room.width(), height)

    def _pointer_is_low(self) -> bool:
        """Return whether the pointer would be under the cards at the lower edge, and not at the upper one."""
        pointer = self._panel.mapFromGlobal(QCursor.pos())
        return self._compute_geometry(False).contains(pointer) and not self._compute_geometry(True).contains(
            pointer
        )

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Resize and watched is self._panel and self.cards:
            self._update_geometry()
        return super().eventFilter(watched, event)


def _label(text: str) -> QLabel:
    label = QLabel(text)
    label.setTextFormat(Qt.TextFormat.PlainText)  # a scenario may come from a stranger
    label.setWordWrap(True)
    return label
