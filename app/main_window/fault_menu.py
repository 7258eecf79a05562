"""The Faults menu: everything that something can be done to, filled when it opens with what makes sense then."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from app.main_window.session import HostSession
from app.view_models.offers import DATABASES_OFFERED, ActionTarget
from app.views.topology import Topology
from app.widgets.acts import put_heading
from app.words.language import tr
from engine.model import World


def list_targets(world: World, open_database: str = "") -> list[tuple[str, list[ActionTarget]]]:
    """Return all objects with actions, by kind. Of many databases return only *open_database*."""
    servers = [ActionTarget("server", (name,)) for name in world.instances]
    names = list(world.instances)
    links = [ActionTarget("link", (a, b)) for index, a in enumerate(names) for b in names[index + 1 :]]
    links += [ActionTarget("link", (client, server)) for client in world.clients for server in names]
    clients = [ActionTarget("client", (name,)) for name in world.clients]
    there = world.databases()
    many = len(there) > DATABASES_OFFERED
    databases = [ActionTarget("database", (name,)) for name in there if name == open_database or not many]
    return [
        (tr("Servers"), servers),
        (tr("Links"), links),
        (tr("Applications"), clients),
        (tr("Databases"), databases),
    ]


class FaultMenu(QObject):
    """Fault menu with a submenu for each object of the current run."""

    def __init__(self, menu: QMenu, session: HostSession, topology: Topology, revert_all: QAction) -> None:
        super().__init__(menu)
        self._menu, self._session, self._topology = menu, session, topology
        self._revert_all = revert_all
        menu.aboutToShow.connect(self._fill)

    def _fill(self) -> None:
        menu, drill, fill_one = self._menu, self._session.drill, self._topology.fill_menu
        menu.clear()
        if drill is not None:
            for kind, targets in list_targets(drill.world, self._topology.acts.opened):
                if targets:
                    put_heading(menu, kind)
                for target in targets:
                    submenu = menu.addMenu(target.title)
                    submenu.aboutToShow.connect(
                        lambda submenu=submenu, target=target: _refill(submenu, target, fill_one)
                    )
        menu.addSeparator()
        menu.addAction(self._revert_all)


def _refill(menu: QMenu, target: ActionTarget, fill_one: Callable[[QMenu, ActionTarget], None]) -> None:
    menu.clear()
    fill_one(menu, target)
