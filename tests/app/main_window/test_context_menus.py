"""Tests that every item of every context menu in all labs opens only menus and dialogs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QDialog, QMenu, QWidget

from app.main_window.palette_commands import list_action_targets
from app.view_models.action_offers import ActionTarget
from engine.model import World
from tests.app.main_window.conftest import WindowUser

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


class StrayWindowCollector(QObject):
    """Collector of top-level windows that are neither menus nor dialogs."""

    def __init__(self, main_window: QWidget) -> None:
        super().__init__()
        self._known = main_window
        self.found: list[str] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        is_stray = (
            event.type() == QEvent.Type.Show
            and isinstance(watched, QWidget)
            and watched.isWindow()
            and watched is not self._known
            and not isinstance(watched, QMenu | QDialog)
            and watched.metaObject().className() not in ("QTipLabel", "QComboBoxPrivateContainer")
        )
        if is_stray:
            assert isinstance(watched, QWidget)
            text = watched.property("text")
            self.found.append(f"{watched.metaObject().className()} {text or watched.objectName()}")
        return False


@pytest.fixture
def strays(hands: WindowUser) -> Iterator[StrayWindowCollector]:
    collector = StrayWindowCollector(hands.window)
    app = QApplication.instance()
    assert app is not None
    app.installEventFilter(collector)
    yield collector
    app.removeEventFilter(collector)


def start_drill(hands: WindowUser, name: str) -> World:
    hands.window.select_drill(name)
    hands.window.brief.start_wanted.emit("lab")
    hands.run_frames(1.0)
    return hands.drill.world


def list_all_targets(world: World) -> list[ActionTarget]:
    """Return all servers, applications and databases, and one link for each pair of kinds."""
    targets_found: dict[object, ActionTarget] = {}
    for _, targets in list_action_targets(world):
        for target in targets:
            sorts = tuple(name in world.nodes for name in target.names)
            targets_found.setdefault((target.kind, sorts) if target.kind == "link" else target, target)
    other_names = [*world.nodes, *(name for name in world.computers if name not in world.instances)]
    return [
        *targets_found.values(),
        *(ActionTarget("server", (name,)) for name in dict.fromkeys(other_names)),
    ]


def list_leaf_actions(menu: QMenu) -> Iterator[QAction]:
    for action in menu.actions():
        inner = QMenu.menuInAction(action)
        if isinstance(inner, QMenu):
            yield from list_leaf_actions(inner)
        elif action.isEnabled() and not action.isSeparator():
            yield action


def list_labels(hands: WindowUser, target: ActionTarget) -> list[str]:
    menu = QMenu()
    hands.window.topology.fill_menu(menu, target)
    return [action.text() for action in list_leaf_actions(menu)]


def choose_menu_item(hands: WindowUser, target: ActionTarget, text: str) -> None:
    menu = QMenu()
    hands.window.topology.fill_menu(menu, target)
    action = next((action for action in list_leaf_actions(menu) if action.text() == text), None)
    if action is not None:  # an earlier action may have removed the item
        action.trigger()
        if hands.window.confirmations.box is not None:
            hands.confirm_action()
        QApplication.processEvents()


@pytest.mark.parametrize("lab", ["lab", "ag-lab", "fci-lab"])
def test_every_menu_item_works_and_opens_no_stray_window(
    hands: WindowUser, strays: StrayWindowCollector, lab: str
) -> None:
    world = start_drill(hands, lab)
    chosen_count = 0
    for target in list_all_targets(world):
        for text in list_labels(hands, target):
            choose_menu_item(hands, target, text)
            chosen_count += 1
        hands.run_frames(0.5)
        hands.window.session.apply_input("revert-all")
    assert chosen_count > 30
    assert strays.found == []


def test_a_node_offers_powershell_and_an_instance_a_query(hands: WindowUser) -> None:
    start_drill(hands, "ag-lab")
    assert "New query on NODE_1" in list_labels(hands, ActionTarget("server", ("NODE_1",)))
    assert "PowerShell on NODE_1" in list_labels(hands, ActionTarget("server", ("NODE_1",)))
    share = list_labels(hands, ActionTarget("server", ("FSW",)))
    assert not [text for text in share if "query" in text.lower() or "PowerShell" in text]


def test_a_double_click_opens_the_matching_view(hands: WindowUser) -> None:
    start_drill(hands, "fci-lab")
    console, topology = hands.window.console, hands.window.topology
    before = len(console.list_windows())
    for name in 2 * ("NODE_4", "SQLFCI1", "nothing of that name"):
        topology.server_opened.emit(name)
    assert [shell.server for shell in console.tabs.list_shells()] == ["NODE_4"]
    assert len(console.list_windows()) == max(1, before), "the window that is already open comes to the front"
    assert console.front_window.server == "SQLFCI1"


@pytest.mark.parametrize("surface", ["debrief", "theme", "presenter"])
def test_no_window_appears_beside_the_main_window(
    hands: WindowUser, strays: StrayWindowCollector, surface: str
) -> None:
    window = hands.window
    window.select_drill("automatic-failover")
    window.brief.start_wanted.emit("guided")
    hands.run_frames(1.0)
    if surface == "presenter":
        window.actions_by_name["view.present"].trigger()
    window.session.apply_input("finish")
    hands.run_frames(2.0)
    QApplication.processEvents()
    if surface == "theme":
        window.appearance.set_theme("dark")
    QApplication.processEvents()
    assert strays.found == []
