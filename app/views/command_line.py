"""Command line of the main window. It accepts any input line, as in scenarios and journals."""

from collections.abc import Iterable, Sequence
from typing import Final

from PySide6.QtCore import QStringListModel, Qt, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QCompleter, QLineEdit, QWidget

from app.view_models.topology_builder import HasWorld
from app.widgets import theme
from app.widgets.screen_reader import HistoryLine
from app.words.language import tr
from engine.events import Event
from engine.model import World
from engine.verbs import VERBS
from engine.verbs.input_lines import format_usage
from engine.verbs.verb import Verb, VerbParameter

COMPLETIONS_MAX: Final = 12


def list_line_completions(world: World, text: str) -> list[str]:
    """Return completions of the input line *text*, best first."""
    words = text.split(" ")
    if len(words) == 1:
        return _rank_candidates(words[0], VERBS)
    verb = VERBS.get(words[0].lower())
    if verb is None:
        return []
    complete_words, last = words[:-1], words[-1]
    return [
        " ".join([*complete_words, word])
        for word in _rank_candidates(last, _complete_argument(world, verb, complete_words))
    ]


def get_verb_help(text: str) -> str:
    """Return usage and help of the verb in *text*, or an empty string if the verb is unknown."""
    verb = VERBS.get(text.split(" ")[0].lower())
    return f"{format_usage(verb)}: {tr(verb.help)}" if verb is not None else ""


def _rank_candidates(start: str, candidates: Iterable[str]) -> list[str]:
    low = start.lower()
    matches = [word for word in candidates if low in word.lower() and word.lower() != low]
    return sorted(matches, key=lambda word: (not word.lower().startswith(low), word))[:COMPLETIONS_MAX]


def _complete_argument(world: World, verb: Verb, tokens: list[str]) -> list[str]:
    position = len(tokens) - 1
    if position < len(verb.parameters):
        return _list_values(world, verb.parameters[position], tokens)
    used = {word.partition("=")[0] for word in tokens}
    return [f"{name}=" for name in verb.options if name not in used]


def _list_values(world: World, parameter: VerbParameter, tokens: list[str]) -> list[str]:
    values_by_kind = {
        "server": list(world.instances),
        "window": list(world.instances),
        "client": list(world.clients),
        "database": world.list_databases(),
        "name": [*world.instances, *world.clients],
    }
    return [
        word for word in parameter.choices or values_by_kind.get(parameter.kind, []) if word not in tokens
    ]


WIDTH_RANGE_LETTERS: Final = (44, 60)
"""Minimum and maximum width of the command line in letters."""


class CommandLine(HistoryLine):
    """Command line of the main window, with completion."""

    requested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._world: World | None = None
        self._example = ""
        self._go = QAction(tr("Run the command (Enter)"), self)
        self._completions = QStringListModel(self)
        completer = QCompleter(self._completions, self)
        completer.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.setCompleter(completer)
        self._show_example("")
        self.setAccessibleName(tr("Command"))
        self.setProperty("small", "true")
        self.textEdited.connect(self._complete)
        self.line_entered.connect(self.requested)
        self._go.triggered.connect(self.send_line)
        self.addAction(self._go, QLineEdit.ActionPosition.TrailingPosition)
        self.textChanged.connect(lambda text: self._go.setVisible(bool(text.strip())))
        self._go.setVisible(False)
        self._show_icon()
        theme.call_after_events(self, theme.PALETTE_EVENTS, self._show_icon)
        theme.call_after_events(self, theme.FONT_EVENTS, self._set_width_limits)
        theme.call_after_events(self, theme.SIZE_EVENTS, self._show_placeholder)
        self._set_width_limits()

    def _set_width_limits(self) -> None:
        letter = self.fontMetrics().averageCharWidth()
        self.setMinimumWidth(WIDTH_RANGE_LETTERS[0] * letter)
        self.setMaximumWidth(WIDTH_RANGE_LETTERS[1] * letter)

    @Slot(object)
    def show_drill(self, drill: HasWorld) -> None:
        """Show another run, or another time of the same run."""
        self._world = drill.world
        self._show_example(next(iter(drill.world.instances), ""))

    @Slot(object)
    def show_world(self, world: World) -> None:
        """Show the current state of the world."""
        self._world = world

    @Slot(list)
    def add_events(self, events: Sequence[Event]) -> None:
        """Ignore *events*. They do not change the command line."""

    def _show_example(self, server: str) -> None:
        """Show a harmless command for *server* as an example.

        An example with a fault could reveal the drill.
        """
        self._example = f"sql {server} SELECT 1" if server else ""
        self._show_placeholder()

    def _show_placeholder(self) -> None:
        """Show the example as placeholder if it fits, otherwise a shorter text."""
        if not self._example:
            self.setPlaceholderText("")
            return
        text = tr("Type a command, e.g. {command}").format(command=self._example)
        room = self.width() - 2 * self.fontMetrics().height()
        has_room = self.fontMetrics().horizontalAdvance(text) <= room
        self.setPlaceholderText(text if has_room else tr("Type a command"))

    def _complete(self, text: str) -> None:
        if self._world is not None:
            self._completions.setStringList(list_line_completions(self._world, text))
        self.setToolTip(get_verb_help(text))

    def _show_icon(self) -> None:
        self._go.setIcon(theme.load_icon("play", theme.get_theme_tokens(self.palette())))
