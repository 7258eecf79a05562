"""Command line of the window for any input line, in the form of scenarios and journals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QStringListModel, Qt, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QCompleter, QLineEdit, QWidget

from app.view_models.picture import HasWorld
from app.widgets import theme
from app.widgets.keyboard import HistoryLine
from app.words.completion import completions, hint
from app.words.language import tr
from engine.events import Event
from engine.model import World

LETTERS: Final = (16, 60)
"""Minimum and maximum width in letters."""


class ActLine(HistoryLine):
    """The command line of the window."""

    requested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._world: World | None = None
        self._go = QAction(tr("Run the command (Enter)"), self)
        self._completions = QStringListModel(self)
        completer = QCompleter(self._completions, self)
        completer.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.setCompleter(completer)
        self._show_example("")
        self.setAccessibleName(tr("Command"))
        letter = self.fontMetrics().averageCharWidth()
        self.setMinimumWidth(LETTERS[0] * letter)
        self.setMaximumWidth(LETTERS[1] * letter)
        self.setProperty("small", "true")
        self.textEdited.connect(self._complete)
        self.line_entered.connect(self.requested)
        self._go.triggered.connect(self.send)
        self.addAction(self._go, QLineEdit.ActionPosition.TrailingPosition)
        self.textChanged.connect(lambda text: self._go.setVisible(bool(text.strip())))
        self._go.setVisible(False)
        self._show_icon()
        theme.follow(self, theme.PALETTE, self._show_icon)

    @Slot(object)
    def show_drill(self, drill: HasWorld) -> None:
        """Show another run, or another time of it."""
        self._world = drill.world
        self._show_example(next(iter(drill.world.instances), ""))

    @Slot(object)
    def show_world(self, world: World) -> None:
        """Show the current state of the world."""
        self._world = world

    @Slot(list)
    def add_events(self, events: Sequence[Event]) -> None:
        """Ignore events, which change nothing here."""

    def _show_example(self, server: str) -> None:
        """Show a harmless command, because a fault as an example would reveal what happens next."""
        command = f"sql {server} SELECT 1" if server else ""
        self.setPlaceholderText(
            tr("Type a command, e.g. {command}").format(command=command) if command else ""
        )

    def _complete(self, text: str) -> None:
        if self._world is not None:
            self._completions.setStringList(completions(self._world, text))
        self.setToolTip(hint(text))

    def _show_icon(self) -> None:
        self._go.setIcon(theme.icon("play", theme.tokens(self.palette())))
