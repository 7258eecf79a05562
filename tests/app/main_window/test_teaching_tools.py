"""Tests of teaching tools on the topology with real clicks and keys: notes, spotlight, find, preview and
drill-down.
"""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QApplication, QComboBox, QLabel

from app import settings
from app.settings import WindowSettings
from app.view_models.action_offers import ActionTarget
from app.view_models.preview import preview_impact
from app.views.topology.scene import DIMMED_OPACITY
from app.views.topology.tools import CanvasTools, SearchBox
from engine.drill.running.drill import Drill
from tests.app.main_window.conftest import WindowUser, show_window
from tests.children import find_child, get_scene
from tests.open_window import OpenWindow
from tests.screenshots import build_lab_of

# The offscreen plugin logs this warning for menus.
pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

A, B = ActionTarget("server", ("SERVER_A",)), ActionTarget("server", ("SERVER_B",))


@pytest.fixture
def lab(hands: WindowUser, window: OpenWindow) -> OpenWindow:
    window.select_drill("lab")
    window.brief.start_wanted.emit("lab")
    window.session.pause()
    window.topology.setFocus()
    return window


def test_a_note_is_written_stored_with_its_scenario_and_removed(
    qtbot: Any, lab: OpenWindow, store: WindowSettings
) -> None:
    topology = lab.topology
    topology.select_target(A)
    qtbot.keyClick(topology, Qt.Key.Key_N, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClicks(topology, "nobody asked this one")
    qtbot.keyClick(topology, Qt.Key.Key_Escape)
    ((text, _, _),) = topology.list_notes()
    assert text == "nobody asked this one"
    lab.show_home()
    lab.select_drill("automatic-failover")
    lab.brief.start_wanted.emit("practice")
    assert topology.list_notes() == []
    lab.show_home()
    lab.select_drill("lab")
    lab.brief.start_wanted.emit("lab")
    assert [note[0] for note in topology.list_notes()] == ["nobody asked this one"]
    topology.setFocus()
    get_scene(topology).notes[0].setSelected(True)
    qtbot.keyClick(topology, Qt.Key.Key_Delete)
    assert topology.list_notes() == []


def test_plain_letters_change_nothing(qtbot: Any, lab: OpenWindow) -> None:
    lab.topology.select_target(A)
    qtbot.keyClicks(lab.topology, "sns")
    assert get_scene(lab.topology).notes == []
    assert get_scene(lab.topology).highlighted_targets == set()


@pytest.mark.slow
def test_an_empty_note_disappears(qtbot: Any, lab: OpenWindow) -> None:
    qtbot.keyClick(lab.topology, Qt.Key.Key_N, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClick(lab.topology, Qt.Key.Key_Escape)
    assert get_scene(lab.topology).notes == []


def test_the_spotlight_dims_everything_else(qtbot: Any, lab: OpenWindow) -> None:
    topology, scene = lab.topology, get_scene(lab.topology)
    for target in (A, B):
        topology.select_target(target)
        qtbot.keyClick(topology, Qt.Key.Key_S, Qt.KeyboardModifier.ShiftModifier)
    bright = {item.target.title for item in scene.list_items_in_order() if item.opacity() == 1.0}
    assert bright == {"SERVER_A", "SERVER_B", "SERVER_A – SERVER_B"}
    assert scene.nodes["SERVER_W"].opacity() == pytest.approx(DIMMED_OPACITY)
    topology.select_target(A)
    qtbot.keyClick(topology, Qt.Key.Key_S, Qt.KeyboardModifier.ShiftModifier)
    assert scene.highlighted_targets == {B}
    qtbot.keyClick(topology, Qt.Key.Key_Escape)
    qtbot.keyClick(topology, Qt.Key.Key_Escape)
    assert all(item.opacity() == 1.0 for item in scene.list_items_in_order())


@pytest.mark.slow
def test_the_spotlight_has_a_global_key(qtbot: Any, lab: OpenWindow) -> None:
    lab.topology.select_target(B)
    lab.desk.focus_view("events")
    modifiers = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_S, modifiers)
    assert get_scene(lab.topology).highlighted_targets == {B}


def test_names_are_found_by_typing(qtbot: Any, lab: OpenWindow) -> None:
    topology = lab.topology
    qtbot.keyClick(topology, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClicks(find_child(topology, SearchBox), "server")
    assert topology.get_target() == A
    qtbot.keyClick(find_child(topology, SearchBox), Qt.Key.Key_Return)
    assert topology.get_target() == B
    qtbot.keyClick(find_child(topology, SearchBox), Qt.Key.Key_Escape)
    assert not find_child(topology, SearchBox).isVisible()
    assert topology.hasFocus()


def test_the_finder_shows_the_match_count_or_no_match(qtbot: Any, lab: OpenWindow) -> None:
    topology = lab.topology
    qtbot.keyClick(topology, Qt.Key.Key_Slash)
    qtbot.keyClicks(find_child(topology, SearchBox), "server")
    qtbot.keyClick(find_child(topology, SearchBox), Qt.Key.Key_Return)
    assert find_child(topology, SearchBox).match_number.text() == "2 of 3"
    qtbot.keyClicks(find_child(topology, SearchBox), "x")
    assert find_child(topology, SearchBox).match_number.text() == "no match"
    assert topology.get_target() == B


def test_the_menu_of_a_server_opens_a_query_there(hands: WindowUser, lab: OpenWindow) -> None:
    menu = hands.open_context_menu(B)
    hands.choose_menu_item(menu, "New query on SERVER_B")
    assert lab.console.front_window is not None
    assert lab.console.front_window.server == "SERVER_B"


def test_a_menu_previews_the_objects_of_an_action(qtbot: Any, hands: WindowUser, lab: OpenWindow) -> None:
    menu = hands.open_context_menu(A)
    action = next(a for a in menu.actions() if a.property("line") == "power-off SERVER_A")
    menu.setActiveAction(action)
    assert find_child(lab.topology, QLabel, "caption").isVisible()
    assert "SERVER_A" in find_child(lab.topology, QLabel, "caption").text()
    assert "Sales" in find_child(lab.topology, QLabel, "caption").text()
    # The action affects only this link.
    assert ", SERVER_B," not in find_child(lab.topology, QLabel, "caption").text()
    lab.grab()
    menu.close()
    assert not find_child(lab.topology, QLabel, "caption").isVisible()
    assert lab.session.drill is not None
    assert lab.session.drill.world.computers["SERVER_A"].powered


def test_in_an_exam_the_preview_shows_only_named_objects(lab: OpenWindow) -> None:
    assert lab.session.drill is not None
    world = lab.session.drill.world
    preview_text = preview_impact(world, "cut SERVER_A SERVER_B", truth=False)
    assert set(preview_text.targets) >= {A, B}
    assert preview_text.databases == ()
    assert (
        ActionTarget("link", ("SERVER_A", "SERVER_B"))
        in preview_impact(world, "cut SERVER_A SERVER_B").targets
    )


# --- many databases -----------------------------------------------------------------------------------------


@pytest.fixture
def large_lab_window(hands: WindowUser, window: OpenWindow) -> OpenWindow:
    window.show_brief(build_lab_of(30))
    window.brief.start_wanted.emit("lab")
    window.session.pause()
    return window


@pytest.mark.slow
def test_a_cell_of_the_grid_opens_its_database(qtbot: Any, large_lab_window: OpenWindow) -> None:
    topology = large_lab_window.topology
    node = get_scene(topology).nodes["SERVER_A"]
    assert len(node.display.grid) == 30
    assert node.display.copies == ()
    place = next(
        QPoint(x, y)
        for y in range(0, topology.height(), 3)
        for x in range(0, topology.width(), 3)
        if (topology._find_cell(QPoint(x, y)) or ("",))[0] == "Sales007"
        and topology._find_item(QPoint(x, y)) is node
    )
    qtbot.mouseClick(topology.viewport(), Qt.MouseButton.LeftButton, pos=place)
    for server in ("SERVER_A", "SERVER_B"):
        assert [c.database for c in get_scene(topology).nodes[server].display.copies] == ["Sales007"]
    assert find_child(large_lab_window.charts, QComboBox).currentText() == "Sales007"
    qtbot.keyClick(topology, Qt.Key.Key_Right, Qt.KeyboardModifier.ControlModifier)
    assert [c.database for c in get_scene(topology).nodes["SERVER_A"].display.copies] == ["Sales008"]
    topology.select_object("Sales021")
    assert [c.database for c in node.display.copies] == ["Sales021"]


@pytest.mark.slow
def test_with_many_databases_the_preview_shows_a_count(large_lab_window: OpenWindow) -> None:
    topology = large_lab_window.topology
    topology.show_preview("power-off SERVER_A")
    assert "30 databases" in find_child(topology, QLabel, "caption").text()
    assert find_child(topology, QLabel, "caption").width() < topology.width() / 2
    assert find_child(topology, QLabel, "caption").height() < topology.height() / 2


@pytest.mark.slow
def test_the_menu_of_a_server_with_many_databases_uses_the_open_one(large_lab_window: OpenWindow) -> None:
    assert large_lab_window.session.drill is not None
    lines = {action.property("line") for action in large_lab_window.topology.list_actions(A)}
    assert not any("Sales" in line for line in lines)
    large_lab_window.session.apply_input("fail-disk SERVER_A Sales009")
    large_lab_window.topology.open_database("Sales004")
    lines = {action.property("line") for action in large_lab_window.topology.list_actions(A)}
    assert {line for line in lines if "disk SERVER_A Sales" in line} == {
        "fail-disk SERVER_A Sales004", "mend-disk SERVER_A Sales009",
    }  # fmt: skip


@pytest.mark.slow
def test_menu_and_palette_use_the_open_database_of_many(large_lab_window: OpenWindow) -> None:
    large_lab_window.topology.open_database("Sales004")
    large_lab_window.menus["&Faults"].aboutToShow.emit()
    titles = [action.text() for action in large_lab_window.menus["&Faults"].actions()]
    assert [title for title in titles if title.startswith("Sales")] == ["Sales004"]
    large_lab_window.actions_by_name["help.palette"].trigger()
    groups = {entry.group for entry in large_lab_window.palette_of_commands.model.entries}
    assert {group for group in groups if group.startswith("Sales")} == {"Sales004"}


def test_the_canvas_buttons_hide_no_card(large_lab_window: OpenWindow) -> None:
    topology = large_lab_window.topology
    for width, height in ((700, 330), (460, 420), (900, 300)):
        topology.resize(width, height)
        topology.fit_all()
        for node in get_scene(topology).nodes.values():
            box = topology.mapFromScene(node.get_card_rect().translated(node.pos())).boundingRect()
            assert not box.intersects(find_child(topology, CanvasTools).geometry())
            assert topology.viewport().rect().adjusted(-1, -1, 1, 1).contains(box)


# --- screen readers -----------------------------------------------------------------------------------------


def test_every_object_is_an_accessible_child_with_a_text(qtbot: Any, lab: OpenWindow) -> None:
    get_scene(lab.topology).add_note("look here", 0.0, 0.0)
    interface = QAccessible.queryAccessibleInterface(lab.topology)
    spoken = [interface.child(place).text(QAccessible.Text.Name) for place in range(interface.childCount())]
    assert any(text.startswith("SERVER_A: partner, running") and "PRINCIPAL" in text for text in spoken)
    assert any(text.startswith("link SERVER_A to SERVER_B") for text in spoken)
    assert spoken[-1] == "note: look here"
    lab.topology.select_target(B)
    selected_places = [p for p in range(interface.childCount()) if interface.child(p).state().selected]
    assert [spoken[place].partition(":")[0] for place in selected_places] == ["SERVER_B"]
    assert interface.child(0).rect().width() > 50
    lab.session.apply_input("power-off SERVER_A")
    assert "power off" in interface.child(0).text(QAccessible.Text.Name)


def test_invalid_stored_notes_are_ignored(qtbot: Any, store: WindowSettings, profile: Any) -> None:
    store.set(settings.TOPOLOGY_NOTES, '{"lab": [["kept", 1, 2], ["no place"], 7], "x": 3}')
    window = show_window(qtbot, profile, store)
    window.select_drill("lab")
    window.brief.start_wanted.emit("lab")
    assert [note[0] for note in window.topology.list_notes()] == ["kept"]
    assert isinstance(window.session.drill, Drill)
