"""Button that suggests answers to a seat's question. The answers come from the drill's notes."""

from collections.abc import Callable, Sequence
from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QMenu, QPushButton

from app.words.language import tr

ANSWER_LENGTH_MAX: Final = 80
"""Maximum number of characters of a suggested answer in the menu. Its tooltip has the full text."""


class SuggestedAnswers(QPushButton):
    """Button with a menu of suggested answers. The user can edit the selected answer before sending it."""

    chosen = Signal(str)

    def __init__(self, list_answers: Callable[[], Sequence[str]]) -> None:
        """Create the button; *list_answers* returns the answers when the menu opens."""
        super().__init__(tr("Suggested answers"), autoDefault=False)
        self.setToolTip(tr("Copy an answer from the drill’s notes. You can change it before you send it."))
        self._list_answers = list_answers
        self.answers = QMenu(self)
        self.answers.setToolTipsVisible(True)
        self.answers.aboutToShow.connect(self._show_answers)
        self.setMenu(self.answers)
        self.hide()

    def _show_answers(self) -> None:
        self.answers.clear()
        for text in self._list_answers():
            short = text if len(text) <= ANSWER_LENGTH_MAX else f"{text[:ANSWER_LENGTH_MAX]}…"
            item = self.answers.addAction(short.replace("&", "&&"))
            item.setToolTip(text)
            item.triggered.connect(lambda _=False, text=text: self.chosen.emit(text))
        if self.answers.isEmpty():
            self.answers.addAction(tr("No notes from the author.")).setEnabled(False)
