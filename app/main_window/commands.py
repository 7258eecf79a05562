"""What the palette finds: every action, act, panel and drill, by its words on screen, English ones and its line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from app.main_window import menus
from app.views.palette import plain
from app.widgets import keys
from app.words.fuzzy import ALSO
from app.words.language import tr

if TYPE_CHECKING:
    from app.main_window.window import MainWindow

FILLED_LATER: Final = ("&Faults",)
"""Menus whose entries are there only while they are open; what they hold is found under its thing."""

Group = tuple[str, list[QAction]]


def open_palette(window: MainWindow) -> None:
    """Show the palette over *window*, with what can be done now."""
    window.palette_of_commands.offer(_groups(window))
    window.palette_of_commands.open()


def _groups(window: MainWindow) -> Iterator[Group]:
    yield "", _in_english(window.actions_by_name.items())
    tools = {f"query.{name}": action for name, action in window.console.tools.items()}
    yield tr("Query"), _in_english(tools.items())
    drill = window.session.drill
    if drill is not None:
        for _, targets in menus.things(drill.world, window.topology.acts.opened):
            for target in targets:
                yield target.title, window.topology.actions_for(target)
    offered = {*window.actions_by_name.values(), *window.console.tools.values()}
    for title, menu in window.menus.items():
        if title not in FILLED_LATER:
            yield from _rest_of(menu, offered)
    yield tr("Open a drill…").rstrip("…"), _drills(window)


def _in_english(named: Iterable[tuple[str, QAction]]) -> list[QAction]:
    """Actions of the table of keys are found by their English words in any language."""
    found = []
    for name, action in named:
        if name in keys.BY_NAME:
            action.setProperty(ALSO, keys.BY_NAME[name].text)
        found.append(action)
    return found


def _rest_of(menu: QMenu, offered: set[QAction]) -> Iterator[Group]:
    """Entries that stand in a menu only, under its title."""
    menu.aboutToShow.emit()  # what it holds may depend on now
    single = []
    for action in menu.actions():
        inner = action.menu()
        if isinstance(inner, QMenu):
            yield from _rest_of(inner, offered)
        elif action not in offered and action.text():
            single.append(action)
    if single:
        yield plain(menu.title()), single


def _drills(window: MainWindow) -> list[QAction]:
    """One for each drill, the same each time, so that what was chosen last can stand first."""
    return [_drill(window, summary.name, summary.title) for summary in window.library.summaries.values()]


def _drill(window: MainWindow, name: str, title: str) -> QAction:
    owner = window.palette_of_commands
    action = owner.findChild(QAction, name)
    if action is None:
        action = QAction(owner)
        action.setObjectName(name)
        action.setProperty(ALSO, name)
        action.triggered.connect(lambda: window.ask_to_choose(name))
    action.setText(title.replace("&", "&&"))
    return action
