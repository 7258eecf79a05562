"""The menu bar: every action of the window and of its views in one place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Final

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from app.view_models.offers import DATABASES_OFFERED, Target
from app.views.palette import Palette
from app.widgets.acts import put_heading
from app.widgets.docks import DOCKS
from app.widgets.reader import close_when_chosen
from app.words.language import mark, tr
from engine.model import World

if TYPE_CHECKING:
    from app.main_window.window import MainWindow

BARS: Final[tuple[tuple[str, tuple[str | None, ...]], ...]] = (
    (mark("&Drill"), ("drill.open", "drill.restart", None, "drill.hint", "drill.note", "drill.act", None,
                "drill.finish", None, "drill.quit")),
    (mark("&Time"), ("time.play", "time.step", "time.next_event", "time.next_state", "time.run_to", None,
               "time.faster", "time.slower", "time.normal")),
)  # fmt: skip
"""Menu -> names of actions; None is a line."""

TEXT_SIZES: Final = ("view.larger", "view.smaller", "view.usual_size")
LOOKS: Final = (
    None,
    "view.zoom",
    "view.full_screen",
    "view.reset_layout",
)
HELP: Final = ("help.sheet", "help.keys", "help.palette")


def fill(menu: QMenu, names: Iterable[str | None], actions: Mapping[str, QAction]) -> None:
    """Put the actions that there are into *menu*; None is a line."""
    for name in names:
        if name is None:
            menu.addSeparator()
        elif name in actions:
            menu.addAction(actions[name])


def fill_bar(window: MainWindow) -> None:
    """The window's and its views' actions; what changes is filled in when its menu opens."""
    bar, actions = window.menus, window.actions_by_name
    for menu in bar.values():
        close_when_chosen(menu)
    for title, names in BARS:
        fill(bar[title], names, actions)
    bar["&Faults"].aboutToShow.connect(lambda: _fill_faults(window))
    bar["&Query"].addActions(list(window.console.tools.values()))
    fill(bar["&View"], (f"view.{dock.name}" for dock in DOCKS if not dock.more), actions)
    fill(
        bar["&View"].addMenu(tr("&More panels")),
        (f"view.{dock.name}" for dock in DOCKS if dock.more),
        actions,
    )
    bar["&View"].addSeparator()
    window.appearance.fill_menu(bar["&View"])
    fill(bar["&View"].addMenu(tr("Te&xt size")), TEXT_SIZES, actions)
    fill(bar["&View"], LOOKS, actions)
    fill(bar["&Help"], HELP, actions)
    window.palette_of_commands = Palette(window)


def things(world: World, opened: str = "") -> list[tuple[str, list[Target]]]:
    """Everything that something can be done to, by kind; of many databases the one that is *opened* in the picture."""
    servers = [Target("server", (name,)) for name in world.instances]
    names = list(world.instances)
    links = [Target("link", (a, b)) for index, a in enumerate(names) for b in names[index + 1 :]]
    links += [Target("link", (client, server)) for client in world.clients for server in names]
    clients = [Target("client", (name,)) for name in world.clients]
    there = world.databases()
    many = len(there) > DATABASES_OFFERED
    databases = [Target("database", (name,)) for name in there if name == opened or not many]
    return [
        (tr("Servers"), servers),
        (tr("Links"), links),
        (tr("Applications"), clients),
        (tr("Databases"), databases),
    ]


def _fill_faults(window: MainWindow) -> None:
    """A submenu for each thing, filled when it opens with what makes sense then."""
    menu, drill, fill_one = window.menus["&Faults"], window.session.drill, window.topology.fill_menu
    menu.clear()
    if drill is not None:
        for kind, targets in things(drill.world, window.topology.acts.opened):
            if targets:
                put_heading(menu, kind)
            for target in targets:
                submenu = menu.addMenu(target.title)
                submenu.aboutToShow.connect(
                    lambda submenu=submenu, target=target: _refill(submenu, target, fill_one)
                )
    menu.addSeparator()
    menu.addAction(window.actions_by_name["fault.revert_all"])


def _refill(menu: QMenu, target: Target, fill_one: Callable[[QMenu, Target], None]) -> None:
    menu.clear()
    fill_one(menu, target)
