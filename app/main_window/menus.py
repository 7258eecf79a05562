"""The menu bar as a table: every action of the window and its views."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from app.widgets.docks import DOCKS
from app.widgets.reader import close_when_chosen
from app.words.language import mark, tr

RECENT, LAYOUT, LOOKS = "recent", "layout", "looks"
FIDELITY, PLANNER, PROGRESS, CLIENTS = "fidelity", "planner", "progress", "clients"
START_CLASS, JOIN_CLASS, RETURN_CLASS = "start class", "join class", "return class"
HOLD_TEAM, TAKE_ROLE = "hold team", "take role"
RAISE_HAND, ALLOW_LOOKS = "raise hand", "allow looks"
"""Entries that are no action of the table of keys."""

Entry = str | None | tuple[str, tuple["Entry", ...]]
"""Menu entry: name of an action, a separator (None), or a submenu with title and entries."""

MENUS: Final[Mapping[str, tuple[Entry, ...]]] = {
    mark("&Drill"): (
        "drill.open", RECENT, "drill.open_file", "drill.open_run", "drill.restart", None,
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
        *(f"view.{dock.name}" for dock in sorted(DOCKS, key=lambda dock: dock.keys) if not dock.more),
        (mark("&More panels"), tuple(f"view.{dock.name}" for dock in DOCKS if dock.more)), None,
        LAYOUT, "view.reset_layout", "view.zoom", "view.full_screen", None,
        (mark("&Appearance"), (
            LOOKS, (mark("Te&xt size"), ("view.larger", "view.smaller", "view.usual_size")), "view.contrast")), None,
        "view.save_charts",
        (mark("Teachin&g tools"), ("teach.note", "teach.spotlight", "teach.bright", "teach.find")),
        "view.present",
    ),
    mark("&Tools"): (PLANNER, FIDELITY, PROGRESS, CLIENTS, "drill.editor", "drill.edit_copy"),
    mark("&Class"): (START_CLASS, JOIN_CLASS, RETURN_CLASS, None, HOLD_TEAM, TAKE_ROLE, None, RAISE_HAND, ALLOW_LOOKS),
    mark("&Help"): (
        "help.here", "help.first_run", "help.sheet", "help.keys", "help.palette", None,
        "help.check", "help.bundle", "view.say",
    ),
}  # fmt: skip
"""Menu -> its entries; the desk fills that of faults. At 150% text each fits a screen of 768 pixels."""


def fill_bar(
    bar: Mapping[str, QMenu], actions: Mapping[str, QAction], fillers: Mapping[str, Callable[[QMenu], object]]
) -> None:
    """Fill the menu bar. *fillers*: entry that is not an action -> function that adds it."""
    for title, entries in MENUS.items():
        close_when_chosen(bar[title])
        fill_menu(bar[title], entries, actions, fillers)


def fill_menu(
    menu: QMenu,
    entries: Iterable[Entry],
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
