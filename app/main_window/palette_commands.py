"""Entries of the command palette and the fault menu: actions, inputs, panels and drills.

The palette finds an entry by its text in the interface language, by its English text, or by its input line.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from app.main_window.actions import WindowActions
from app.main_window.desk import Desk
from app.main_window.drill_selection import DrillSelectionController
from app.main_window.host_session import HostSession
from app.main_window.shared_parts import SharedParts, WindowPart
from app.view_models.action_offers import OFFERED_DATABASES_MAX, ActionTarget
from app.views.command_palette import CommandPalette, strip_mnemonic
from app.views.console import QueryConsole
from app.views.topology import TopologyView
from app.widgets import keys
from app.widgets.shared_actions import add_heading
from app.words.fuzzy import SEARCH_WORDS_PROPERTY
from app.words.language import tr
from engine.model import World


def list_action_targets(world: World, open_database: str = "") -> list[tuple[str, list[ActionTarget]]]:
    """Return all objects that have actions, by kind.

    If there are many databases, *open_database* is the only database in the result.
    """
    servers = [ActionTarget("server", (name,)) for name in world.instances]
    names = list(world.instances)
    links = [ActionTarget("link", (a, b)) for index, a in enumerate(names) for b in names[index + 1 :]]
    links += [ActionTarget("link", (client, server)) for client in world.clients for server in names]
    clients = [ActionTarget("client", (name,)) for name in world.clients]
    names_there = world.list_databases()
    has_many_databases = len(names_there) > OFFERED_DATABASES_MAX
    databases = [
        ActionTarget("database", (name,))
        for name in names_there
        if name == open_database or not has_many_databases
    ]
    return [
        (tr("Servers"), servers),
        (tr("Links"), links),
        (tr("Applications"), clients),
        (tr("Databases"), databases),
    ]


class FaultMenu(QObject):
    """Fault menu, with a submenu for each object of the current run."""

    def __init__(
        self, menu: QMenu, session: HostSession, topology: TopologyView, revert_all: QAction
    ) -> None:
        super().__init__(menu)
        self._menu, self._session, self._topology = menu, session, topology
        self._revert_all = revert_all
        menu.aboutToShow.connect(self._fill)

    def _fill(self) -> None:
        menu, drill, fill_one = self._menu, self._session.drill, self._topology.fill_menu
        menu.clear()
        if drill is not None:
            for kind, targets in list_action_targets(drill.world, self._topology.shared_actions.opened):
                if targets:
                    add_heading(menu, kind)
                for target in targets:
                    submenu = menu.addMenu(target.title)
                    submenu.aboutToShow.connect(
                        lambda submenu=submenu, target=target: _refill_menu(submenu, target, fill_one)
                    )
        menu.addSeparator()
        menu.addAction(self._revert_all)


def _refill_menu(menu: QMenu, target: ActionTarget, fill_one: Callable[[QMenu, ActionTarget], None]) -> None:
    menu.clear()
    fill_one(menu, target)


DYNAMIC_MENUS: Final = ("&Faults",)
"""Menus that are filled when they open. The palette lists the actions of their objects directly."""

PaletteGroup = tuple[str, list[QAction]]


class PaletteController(WindowPart):
    """Controller that fills the command palette and opens it."""

    def __init__(
        self,
        shared: SharedParts,
        actions: WindowActions,
        menus: Mapping[str, QMenu],
        desk: Desk,
        choice: DrillSelectionController,
    ) -> None:
        super().__init__(shared)
        self._actions, self._menus = actions.by_name, menus
        self._console, self._topology = (
            desk.get_view_by_class(QueryConsole),
            desk.get_view_by_class(TopologyView),
        )
        self._choice = choice
        self._palette = CommandPalette(shared.window)

    def open(self) -> None:
        """Show the palette with all commands that are currently available."""
        self._palette.set_actions(self.list_groups())
        self._palette.open_palette()

    def list_groups(self) -> Iterator[PaletteGroup]:
        """Yield the groups of entries: a title, and the actions under it."""
        yield "", _add_english_texts(self._actions.items())
        tools = {f"query.{name}": action for name, action in self._console.tools.items()}
        yield tr("Query"), _add_english_texts(tools.items())
        drill = self._session.drill
        if drill is not None:
            for _, targets in list_action_targets(drill.world, self._topology.shared_actions.opened):
                for target in targets:
                    yield target.title, self._topology.list_actions(target)
        offered = {*self._actions.values(), *self._console.tools.values()}
        for title, menu in self._menus.items():
            if title not in DYNAMIC_MENUS:
                yield from _collect_menu_only_entries(menu, offered)
        yield tr("Open a drill…").rstrip("…"), self._list_drill_actions()

    def _list_drill_actions(self) -> list[QAction]:
        """Return one action for each drill.

        Repeated calls return the same objects, so that the palette can list recent choices first.
        """
        return [
            self._get_drill_action(summary.name, summary.title)
            for summary in self._library.summaries.values()
        ]

    def _get_drill_action(self, name: str, title: str) -> QAction:
        owner = self._palette
        action = owner.findChild(QAction, name)
        if action is None:
            action = QAction(owner)
            action.setObjectName(name)
            action.setProperty(SEARCH_WORDS_PROPERTY, name)
            action.triggered.connect(lambda: self._choice.ask_to_show_brief(name))
        action.setText(title.replace("&", "&&"))
        return action


def _add_english_texts(named: Iterable[tuple[str, QAction]]) -> list[QAction]:
    """Add the English texts of the key table to the actions, so that the palette finds them. Return the actions."""
    english_actions = []
    for name, action in named:
        if name in keys.COMMANDS_BY_NAME:
            action.setProperty(SEARCH_WORDS_PROPERTY, keys.COMMANDS_BY_NAME[name].text)
        english_actions.append(action)
    return english_actions


def _collect_menu_only_entries(menu: QMenu, known_actions: set[QAction]) -> Iterator[PaletteGroup]:
    """Yield the entries that exist only in *menu* and its submenus, grouped by menu title."""
    menu.aboutToShow.emit()  # updates menus whose content depends on the current state
    single = []
    for action in menu.actions():
        inner = action.menu()
        if isinstance(inner, QMenu):
            yield from _collect_menu_only_entries(inner, known_actions)
        elif action not in known_actions and action.text():
            single.append(action)
    if single:
        yield strip_mnemonic(menu.title()), single
