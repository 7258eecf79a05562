"""QAction objects for the offered actions, shared by menus, bars and the command palette."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal, SignalInstance
from PySide6.QtGui import QAction, QPalette
from PySide6.QtWidgets import QMenu

from app.view_models.action_offers import ActionOffer, ActionTarget, list_action_offers
from app.widgets import theme
from app.widgets.tables import escape_tip
from app.words.fuzzy import SEARCH_WORDS_PROPERTY
from app.words.language import tr
from engine.model import World


class SharedActions(QObject):
    """Shared QAction objects for the possible input lines of a target.

    The same line always has the same QAction.
    """

    requested = Signal(str)
    """Signal: input line without its time."""
    line_hovered = Signal(str)
    """Signal: input line at the pointer in a menu. Empty if the pointer leaves the menu."""
    query_wanted = Signal(str)
    """Signal: server for which the user wants a query window."""
    shell_wanted = Signal(str)
    """Signal: node for which the user wants a PowerShell prompt."""
    connection_wanted = Signal(str)
    """Signal: application whose connection string the user wants to see."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._actions: dict[str, QAction] = {}
        self.truth = True
        """True if the offered actions follow the true state of the world.

        False in an exam, so that the menu reveals nothing.
        """
        self.find_refusal: Callable[[str], str] = lambda line: ""
        """Return the reason for which a role may not apply a line; such an action is disabled."""
        self.opened = ""
        """Opened database. With many databases, actions on a server are offered only for this database."""

    def list_actions(self, world: World, target: ActionTarget, palette: QPalette) -> list[QAction]:
        """Return the current actions for *target*, repairs first. Icons have the colors of *palette*."""
        offers = list_action_offers(world, target, self.truth, self.opened)
        return [self._build_action(offer, theme.get_theme_tokens(palette)) for offer in offers]

    def fill_menu(self, menu: QMenu, world: World, target: ActionTarget) -> None:
        """Add the actions for *target* to *menu*.

        Repairs are separate from faults, and rare actions are in submenus.
        """
        add_heading(menu, target.title)
        self._watch_menu(menu)
        if target.kind == "client":
            menu.addAction(self._build_connection_action(target.names[0]))
            menu.addSeparator()
        group = None
        submenus: dict[str, QMenu] = {}
        for action in self.list_actions(world, target, menu.palette()):
            section = str(action.property("section"))
            if section:
                if section not in submenus:
                    submenus[section] = QMenu(section, menu)
                    submenus[section].setToolTipsVisible(menu.toolTipsVisible())
                submenus[section].addAction(action)
                continue
            if group is not None and action.property("group") != group:
                menu.addSeparator()
            group = action.property("group")
            menu.addAction(action)
        if submenus:
            menu.addSeparator()
        for section in sorted(submenus):
            menu.addMenu(submenus[section])
        if target.kind == "server":
            name = target.names[0]
            if name in world.instances or name in world.nodes:
                menu.addSeparator()
            if name in world.instances:
                menu.addAction(self._get_query_action(name))
            if name in world.nodes:
                menu.addAction(self._build_shell_action(name))

    def _watch_menu(self, menu: QMenu) -> None:
        """Emit `line_hovered` when an action of *menu* or its submenus is highlighted."""
        if not menu.property("watched"):
            menu.setProperty("watched", True)
            menu.hovered.connect(lambda action: self.line_hovered.emit(action.property("line") or ""))
            menu.aboutToHide.connect(lambda: self.line_hovered.emit(""))

    def _get_query_action(self, server: str) -> QAction:
        return self._get_request_action(
            tr("New query on {server}").format(server=server), self.query_wanted, server
        )

    def _build_connection_action(self, client: str) -> QAction:
        return self._get_request_action(
            tr("Connection string and driver log…"), self.connection_wanted, client
        )

    def _build_shell_action(self, node: str) -> QAction:
        return self._get_request_action(tr("PowerShell on {node}").format(node=node), self.shell_wanted, node)

    def _get_request_action(self, text: str, request: SignalInstance, target: str) -> QAction:
        """Return the action that emits *request* with *target*. Create it at the first call."""
        key = f"{text}/{target}"
        action = self._actions.get(key)
        if action is None:
            action = self._actions[key] = QAction(text, self)
            action.triggered.connect(lambda: request.emit(target))
        return action

    def _build_action(self, offer: ActionOffer, colors: theme.ThemeTokens) -> QAction:
        action = self._actions.get(offer.line)
        if action is None:
            action = self._actions[offer.line] = QAction(self)
            action.triggered.connect(lambda _=False, line=offer.line: self.requested.emit(line))
        action.setText(offer.label)
        action.setIcon(theme.load_icon(offer.icon, colors))
        refusal = self.find_refusal(offer.line)
        action.setEnabled(not refusal)
        action.setToolTip(escape_tip(refusal or offer.line))
        action.setStatusTip(offer.line)
        action.setProperty("group", offer.group)
        action.setProperty("line", offer.line)
        action.setProperty("section", offer.section)
        action.setProperty(SEARCH_WORDS_PROPERTY, f"{offer.line} {offer.english}")
        return action


def add_heading(menu: QMenu, text: str) -> None:
    """Add a title to *menu*. A menu section would not work, because the style sheet hides its text."""
    title = menu.addAction(text)
    title.setEnabled(False)
    title.setFont(theme.resize_font(menu.font(), 1.0, bold=True))
