"""Tests of the views in the real window by keyboard alone: focus order and effect of keys."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QRadioButton, QTreeView, QWidget

from app.view_models.action_offers import ActionTarget
from tests.app.main_window.conftest import WindowUser, open_menus
from tests.open_window import OpenWindow

# The offscreen plugin logs this warning for menus.
pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

ALT = Qt.KeyboardModifier.AltModifier


@pytest.fixture
def lab(hands: WindowUser, window: OpenWindow) -> OpenWindow:
    window.select_drill("lab")
    window.brief.start_wanted.emit("lab")
    hands.run_frames(2.0)
    QApplication.processEvents()
    return window


def get_focus_widget() -> QWidget:
    focused_widget = QApplication.focusWidget()
    assert focused_widget is not None
    return focused_widget


PANELS = (
    (Qt.Key.Key_2, "T-SQL"),
    (Qt.Key.Key_3, "Mirrored databases"),
    (Qt.Key.Key_4, "Charts"),
    (Qt.Key.Key_5, "ERRORLOG"),
    (Qt.Key.Key_6, "Events"),
    (Qt.Key.Key_7, "Counters"),
    (Qt.Key.Key_8, "Fault ledger"),
    (Qt.Key.Key_9, "Topology"),
)


@pytest.mark.parametrize("page", ["Progress", "Link planner", "Fidelity to published figures", "History"])
def test_escape_leaves_a_page_for_the_drills(
    hands: WindowUser, window: OpenWindow, page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.views.fidelity.fidelity.FidelityWorker.start", lambda _: None)
    if page == "History":
        window.picker.history_wanted.emit()
    else:
        next(
            action for action in window.menus["T&ools"].actions() if action.text().replace("&", "") == page
        ).trigger()
    QApplication.processEvents()
    assert window.pages.currentWidget() is not window.picker
    hands.press_key(Qt.Key.Key_Escape)
    assert window.pages.currentWidget() is window.picker


@pytest.mark.parametrize("mode", ["practice", "exam"])
def test_enter_and_escape_of_a_brief_work_wherever_the_focus_is(
    hands: WindowUser, window: OpenWindow, mode: str
) -> None:
    for key in (Qt.Key.Key_Escape, Qt.Key.Key_Return):
        window.select_drill("automatic-failover")
        window.brief.findChild(QRadioButton, mode).setFocus()
        window.brief.findChild(QRadioButton, mode).setChecked(True)
        hands.press_key(key)
        QApplication.processEvents()
        wanted = window.picker if key == Qt.Key.Key_Escape else window.desk_page
        assert window.pages.currentWidget() is wanted


def test_the_key_of_a_panel_focuses_its_main_control(hands: WindowUser, lab: OpenWindow) -> None:
    for key, name in PANELS:
        lab.topology.setFocus()
        assert get_focus_widget() is lab.topology
        hands.press_key(key, ALT)
        assert get_focus_widget().accessibleName() == name
        assert get_focus_widget() is not lab.topology


def test_alt_2_focuses_a_query_window_for_typing(qtbot: Any, hands: WindowUser, lab: OpenWindow) -> None:
    hands.press_key(Qt.Key.Key_2, ALT)
    qtbot.keyClicks(get_focus_widget(), "SELECT 1 AS one")
    hands.press_key(Qt.Key.Key_F5)
    hands.run_frames(0.5)
    assert lab.console.front_window is not None
    assert lab.console.front_window.state == "done"


def test_after_its_key_the_monitor_can_be_refreshed(hands: WindowUser, lab: OpenWindow) -> None:
    monitor: Any = lab.desk.get_view("monitor")
    hands.press_key(Qt.Key.Key_3, ALT)
    hands.press_key(Qt.Key.Key_F5)
    hands.run_frames(1.5)
    assert monitor.banner.text().startswith("Recorded")


def test_del_in_the_fault_list_reverts_a_fault(hands: WindowUser, lab: OpenWindow) -> None:
    hands.window.session.apply_input("power-off SERVER_B")
    hands.press_key(Qt.Key.Key_8, ALT)
    hands.press_key(Qt.Key.Key_Down)
    hands.press_key(Qt.Key.Key_Delete)
    assert hands.drill.world.computers["SERVER_B"].powered


def test_object_explorer_has_room_for_a_database_and_its_state(hands: WindowUser, lab: OpenWindow) -> None:
    hands.press_key(Qt.Key.Key_F8)
    QApplication.processEvents()
    tree = get_focus_widget()
    assert isinstance(tree, QTreeView)
    index = tree.model().index(0, 0)
    while index.isValid() and index.data() != "Sales (Principal, Synchronized)":
        index = tree.indexBelow(index)
    assert tree.visualRect(index).left() + tree.sizeHintForIndex(index).width() <= tree.viewport().width()


def test_the_topology_table_offers_the_actions_of_the_topology_and_a_query(
    hands: WindowUser, lab: OpenWindow
) -> None:
    hands.press_key(Qt.Key.Key_9, ALT)
    for _ in range(2):  # Move past the first server and its database to the second server.
        hands.press_key(Qt.Key.Key_Down)
    hands.press_key(Qt.Key.Key_Return)
    (menu,) = open_menus()
    offered = [action.text() for action in menu.actions()]
    query = next(action for action in menu.actions() if action.text().startswith("New query on"))
    menu.close()
    topology = [
        action.text() for action in hands.open_context_menu(ActionTarget("server", (offered[0],))).actions()
    ]
    assert set(topology) - {"Highlight"} <= set(offered)
    query.trigger()
    assert lab.console.front_window is not None
    assert lab.console.front_window.server == offered[0]
