"""Bar above the desk for lessons. At a mistake, it asks for a better action, then it explains the answer."""

from collections.abc import Mapping
from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QWidget

from app.view_models.debrief import model
from app.view_models.debrief.model import LessonCard
from app.widgets import theme
from app.widgets.flow_layout import FlowLayout
from app.widgets.layouts import build_widget_column
from app.words.language import mark, tr

BUTTON_TEXTS: Final[Mapping[str, str]] = {
    model.HINT: mark("H&int"),
    model.WAIT: mark("I would &wait"),
    model.ANSWER: mark("Show the &answer"),
    model.TRY_AGAIN: mark("Try a&gain"),
    model.WATCH: mark("Watch the &best continuation"),
    model.PLAY: mark("&Play from here"),
    model.SKIP: mark("&Skip"),
    model.NEXT: mark("&Next mistake"),
    model.BACK: mark("Bac&k to the debrief"),
}
"""Name of a button -> text. Access keys differ from those of the menu bar."""


class LessonBar(QFrame):
    """Bar with the current lesson: a mistake of the run to practice. It is hidden without a lesson."""

    button_pressed = Signal(str)
    """Signal: name of the pressed button."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(tr("Learn from your mistakes"))
        self.setProperty("verdict", "info")
        self.heading, self.text, self.steps = QLabel(), QLabel(), QLabel()
        for label in (self.heading, self.text, self.steps):
            label.setWordWrap(True)
        self.buttons: dict[str, QPushButton] = {}
        row = FlowLayout(8)
        for name, text in BUTTON_TEXTS.items():
            button = self.buttons[name] = QPushButton(tr(text))
            button.setProperty("small", "true")
            button.clicked.connect(lambda _=False, name=name: self.button_pressed.emit(name))
            row.addWidget(button)
        self.leave = QPushButton(tr("Back to the debrief"))
        self.leave.setProperty("small", "true")
        self.leave.clicked.connect(lambda _=False: self.button_pressed.emit(model.BACK))
        row.addWidget(self.leave)
        build_widget_column(
            self.heading, self.text, self.steps, row, parent=self, margins=(14, 6, 12, 8), spacing=3
        )
        self.hide()

    def show_card(self, card: LessonCard) -> None:
        """Show a question or an answer."""
        self.heading.setText(card.heading)
        self.heading.setProperty("tone", card.color_name)
        self.text.setText("\n".join(card.lines))
        self.text.setVisible(bool(card.lines))
        self.steps.setFont(theme.build_fixed_font(0.95))
        self.steps.setText(
            "\n".join(f"{n}  {step.time_text}  {step.text}" for n, step in enumerate(card.steps, 1))
        )
        self.steps.setVisible(bool(card.steps))
        self.setProperty("verdict", card.color_name)
        for name, button in self.buttons.items():
            button.setVisible(name in card.buttons)
            button.setEnabled(True)
            button.setProperty("primary", "true" if name == card.highlighted_button else "false")
            button.style().unpolish(button)
            button.style().polish(button)
        self.leave.setVisible(model.BACK not in card.buttons)
        for part in (self, self.heading):
            part.style().unpolish(part)
            part.style().polish(part)
        self.heading.setFont(theme.resize_font(self.font(), 1.2, bold=True))
        self.show()
        if card.highlighted_button:
            self.buttons[card.highlighted_button].setFocus()

    def show_hint(self, text: str) -> None:
        """Show a hint in place of the last line of the text, so that the buttons do not move."""
        self.text.setText("\n".join((*self.text.text().splitlines()[:-1], text)))
        self.text.show()
        self.buttons[model.HINT].setEnabled(False)

    def show_checking(self) -> None:
        """Show that the answer is being checked."""
        self.heading.setText(tr("Checking your answer…"))
