"""Actions of the window, with names from `app.widgets.keys` and icons. Menus, tool bars and the palette share them."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

from app.widgets import docks, keys, theme
from app.widgets.docks import DOCK_SPECS
from app.widgets.screen_reader import close_menu_after_use
from app.widgets.theme import ThemeTokens
from app.words.language import mark, tr
from engine.overrides import override

ACTION_GROUPS: Final = ("drill", "time", "fault", "view", "teach", "help")
"""Name prefixes of the window's actions. Other prefixes in `app.widgets.keys` belong to single views."""
DESK_ACTIONS: Final = {
    "drill.restart",
    "drill.hint",
    "drill.note",
    "drill.act",
    "drill.finish",
    "view.say",
    "view.zoom",
} | {f"view.{name}" for name in docks.DOCK_NAMES}
"""Actions that only work while a drill is on screen, in addition to all time and fault actions."""
ICON_BY_ACTION: Final = {
    "drill.open": "home",
    "drill.restart": "retry",
    "drill.hint": "hint",
    "drill.note": "note",
    "drill.finish": "finish",
    "time.play": "play",
    "time.step": "step",
    "time.next_event": "next-event",
    "time.next_state": "next-state",
    "time.faster": "faster",
    "time.slower": "slower",
    "fault.revert_all": "revert",
    "view.theme": "theme",
    "help.here": "help",
    "help.sheet": "book",
}
"""Name of an action -> name of its icon in assets/icons."""


class WindowActions(QObject):
    """All actions of the window by name. Each action is connected when its part of the window is created."""

    def __init__(self, owner: QWidget) -> None:
        """Create actions whose shortcuts work anywhere in the window of *owner*."""
        super().__init__(owner)
        self.by_name: dict[str, QAction] = {}
        for row in keys.SHORTCUT_COMMANDS:
            if not row.is_fixed and row.name.partition(".")[0] in ACTION_GROUPS:
                action = self.by_name[row.name] = QAction(tr(row.text), owner)
                action.setObjectName(row.name)
                owner.addAction(action)

    def connect_functions(self, functions: Mapping[str, Callable[[], object]]) -> None:
        """Connect actions to functions. *functions*: name of an action -> function."""
        for name, do in functions.items():
            self.by_name[name].triggered.connect(lambda _=False, do=do: do())

    def enable_desk_actions(self, on_desk: bool) -> None:
        """Enable the actions that need a drill on screen if *on_desk* is True, otherwise disable them."""
        for name, action in self.by_name.items():
            if name.partition(".")[0] in ("time", "fault") or name in DESK_ACTIONS:
                action.setEnabled(on_desk)

    def show_theme(self, colors: ThemeTokens) -> None:
        """Set the icons to the colors of the current theme, and update the tooltips."""
        for name, drawing in ICON_BY_ACTION.items():
            self.by_name[name].setIcon(theme.load_icon(drawing, colors))
        set_key_tooltips(self.by_name.values())


def set_key_tooltips(actions: Iterable[QAction]) -> None:
    """Set tooltips with the text and the shortcut of each action."""
    for action in actions:
        shortcut = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        text = action.text().rstrip("…")
        action.setToolTip(f"{text} ({shortcut})" if shortcut else text)


class DeskKeyHandler(QObject):
    """Handler of keys that the panels of the desk do not use. Text fields, buttons and lists keep their own keys."""

    def __init__(
        self,
        window: QWidget,
        desk_page: QWidget,
        is_enabled: Callable[[], bool],
        functions: Mapping[str, Callable[[], object]],
    ) -> None:
        """Create the handler. *is_enabled* returns whether the desk is shown.

        *functions*: name of a row in `app.widgets.keys` -> function.
        """
        super().__init__(window)
        self._wanted = is_enabled
        self._function_by_key = {
            key: do
            for name, do in functions.items()
            for key in keys.resolve_keys(keys.SSMS_SCHEME).get(name, ())
        }
        for widget in (window, desk_page):
            widget.installEventFilter(self)

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.KeyPress and isinstance(event, QKeyEvent) and self._wanted():
            modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
            do = self._function_by_key.get(keys.format_key(event.key())) if not modifiers.value else None
            if do is not None:
                if not event.isAutoRepeat():
                    do()
                return True
        return super().eventFilter(watched, event)


# --- menus -----------------------------------------------------------------------------------------------


RECENT_FILES, LAYOUT, APPEARANCE = "recent", "layout", "looks"
FIDELITY, PLANNER, PROGRESS, CLIENTS = "fidelity", "planner", "progress", "clients"
START_CLASS, JOIN_CLASS, RETURN_CLASS = "start class", "join class", "return class"
HOST_TEAM, TAKE_ROLE = "hold team", "take role"
RAISE_HAND, ALLOW_OBSERVATION = "raise hand", "allow looks"
"""Menu entries that are not in the shortcut table."""

MenuEntry = str | None | tuple[str, tuple["MenuEntry", ...]]
"""Menu entry: name of an action, a separator (None), or a submenu with title and entries."""

MENUS: Final[Mapping[str, tuple[MenuEntry, ...]]] = {
    mark("&Drill"): (
        "drill.open", RECENT_FILES, "drill.open_file", "drill.open_run", "drill.restart", None,
        "drill.branches", "drill.hint", "drill.note", "drill.act", None,
        "drill.finish", None,
        "drill.save_scenario", None,
        "drill.bundles", "drill.accepted", "drill.export_bundle", None,
        "drill.quit",
    ),
    mark("&Time"): (
        "time.play", "time.step", "time.next_event", "time.next_state", "time.run_to", None,
        "time.next_alarm", "time.until", "time.faster", "time.slower", "time.normal", None,
        "time.back", "time.forward", "time.now", "time.go_on", "time.moment", "time.why_not", "time.all",
    ),
    mark("&Faults"): (),
    mark("&Query"): (
        "query.run", "query.cancel", "query.parse", None,
        "query.new", "query.open", "query.save", "query.connection", "query.database", None,
        (mark("&Results"), ("query.text", "query.grid", "query.file", "query.results")), None,
        "query.places", "query.snippets", "query.history", "query.who", "query.about", None,
        (mark("P&anes and windows"), ("query.zoom", "query.focus", "query.focus_back", "query.next", "query.before")),
        "query.close",
    ),
    mark("&View"): (
        *(f"view.{dock.name}" for dock in sorted(DOCK_SPECS, key=lambda dock: dock.keys) if not dock.is_extra),
        (mark("&More panels"), tuple(f"view.{dock.name}" for dock in DOCK_SPECS if dock.is_extra)), None,
        LAYOUT, "view.reset_layout", "view.zoom", "view.full_screen", None,
        (mark("&Appearance"), (
            APPEARANCE, (mark("Te&xt size"), ("view.larger", "view.smaller", "view.usual_size")), "view.contrast",
        )), None,
        "view.save_charts",
        (mark("Teachin&g tools"), ("teach.note", "teach.spotlight", "teach.bright", "teach.find")),
        "view.present",
    ),
    mark("T&ools"): (PLANNER, FIDELITY, PROGRESS, CLIENTS, "drill.editor", "drill.edit_copy"),
    mark("&Class"): (
        START_CLASS, JOIN_CLASS, RETURN_CLASS, None, HOST_TEAM, TAKE_ROLE, None, RAISE_HAND, ALLOW_OBSERVATION,
    ),
    mark("&Help"): (
        "help.here", "help.first_run", "help.sheet", "help.keys", "help.palette", None,
        "help.check", "help.bundle", "view.say",
    ),
}  # fmt: skip
"""Title of a menu -> its entries. `FaultMenu` adds the entries of the Faults menu.

Every menu fits a screen that is 768 pixels high at 150% text size.
"""


def fill_menu_bar(
    bar: Mapping[str, QMenu], actions: Mapping[str, QAction], fillers: Mapping[str, Callable[[QMenu], object]]
) -> None:
    """Fill the menus of the menu bar. *fillers*: entry that is not an action -> function that adds it to a menu."""
    for title, entries in MENUS.items():
        close_menu_after_use(bar[title])
        fill_menu(bar[title], entries, actions, fillers)


def fill_menu(
    menu: QMenu,
    entries: Iterable[MenuEntry],
    actions: Mapping[str, QAction],
    fillers: Mapping[str, Callable[[QMenu], object]],
) -> None:
    """Fill a menu with actions, separators and submenus."""
    for entry in entries:
        if entry is None:
            menu.addSeparator()
        elif isinstance(entry, tuple):
            title, inner = entry
            fill_menu(menu.addMenu(tr(title)), inner, actions, fillers)
        elif entry in fillers:
            fillers[entry](menu)
        else:
            menu.addAction(actions[entry])
