"""Tests of the topology table on a simulated lab: the same facts and actions as the picture, with spoken
texts.
"""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QMenu

from app.view_models.action_offers import ActionTarget
from app.view_models.topology_builder import build_topology_contents
from app.views.topology import TopologyView
from app.views.topology_table import TopologyTable, format_role, list_common_actions, list_topology_rows
from engine.drill.running.modes import PERMISSIONS_BY_MODE, DrillMode
from tests.app.views.fakes import FakeRun
from tests.engine.worlds import apply_lines, build_lab

Key = Qt.Key


class RecordingTable(TopologyTable):
    """Topology table that records its requests."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.requested.connect(self.lines.append)


@pytest.fixture
def drill() -> FakeRun:
    return FakeRun(build_lab())


@pytest.fixture
def table(qtbot: Any, drill: FakeRun) -> RecordingTable:
    table = RecordingTable()
    qtbot.addWidget(table)
    table.resize(800, 400)
    table.show_drill(drill)
    with qtbot.waitActive(table):
        table.show()
        table.activateWindow()
    return table


def apply_and_show(table: RecordingTable, drill: FakeRun, *lines: str, run_s: float = 25.0) -> None:
    table.add_events(apply_lines(drill.world, *lines, wait_s=run_s))
    table.show_world(drill.world)


def find_row(table: RecordingTable, name: str) -> dict[str, str]:
    model = table.model
    (place,) = [p for p, row in enumerate(model.rows) if row.name.strip() == name]
    return {column.title: str(model.index(place, n).data()) for n, column in enumerate(model.columns)}


def select_rows(table: TopologyTable, *names: str) -> None:
    table.table.clearSelection()
    selection = table.table.selectionModel()
    for place, row in enumerate(table.model.rows):
        if row.name.strip() in names:
            flags = selection.SelectionFlag.Select | selection.SelectionFlag.Rows
            selection.setCurrentIndex(table.model.index(place, 0), flags)


def test_every_object_of_the_picture_has_a_row(table: RecordingTable, drill: FakeRun) -> None:
    picture = build_topology_contents(drill.world)
    names = [row.name.strip() for row in table.model.rows]
    faces: tuple[Any, ...] = (*picture.servers, *picture.links, *picture.clients)
    face_names = [face.name for face in faces]
    assert set(face_names) <= set(names)
    assert names[:3] == ["SERVER_A", "Sales on SERVER_A", "SERVER_B"]


def test_cells_match_the_cards(table: RecordingTable, drill: FakeRun) -> None:
    assert find_row(table, "Sales on SERVER_A") | {"Queue or link": ""} == {
        "Item": "    Sales on SERVER_A", "State": "SYNCHRONIZED, ONLINE", "Role": "PRINCIPAL",
        "Service": "in service, quorum", "Queue or link": "", "Witness": "witness", "Safety": "FULL",
    }  # fmt: skip
    apply_and_show(table, drill, "cut SERVER_A SERVER_B", "cut SERVER_A SERVER_W", run_s=60.0)
    assert find_row(table, "Sales on SERVER_A")["Service"] == "down, no quorum"
    assert find_row(table, "SERVER_A – SERVER_B")["State"] == "cut"
    apply_and_show(table, drill, "power-off SERVER_B", run_s=1.0)
    assert find_row(table, "SERVER_B")["State"] == "power off"


def test_a_row_is_read_aloud_in_full_sentences(table: RecordingTable, drill: FakeRun) -> None:
    roles = [table.model.index(p, 0).data(Qt.ItemDataRole.AccessibleTextRole) for p in range(4)]
    assert roles[0] == build_topology_contents(drill.world).servers[0].accessible_text
    assert "PRINCIPAL, SYNCHRONIZED, ONLINE" in roles[1]
    interface = QAccessible.queryAccessibleInterface(table.table)
    names = [interface.child(place).text(QAccessible.Text.Name) for place in range(interface.childCount())]
    assert set(roles) <= set(names)


def test_many_databases_have_one_row_each(drill: FakeRun) -> None:
    for number in range(5):
        for server in ("SERVER_A", "SERVER_B"):
            copy = drill.world.copies[server, "Sales"]
            drill.world.copies[server, f"D{number}"] = replace(copy, database=f"D{number}")
    names = [row.name.strip() for row in list_topology_rows(drill.world)]
    assert names.count("D3 on SERVER_B") == 1


def test_menu_offers_what_the_picture_offers(qtbot: Any, table: RecordingTable, drill: FakeRun) -> None:
    picture = TopologyView()
    qtbot.addWidget(picture)
    picture.show_drill(drill)
    select_rows(table, "SERVER_A – SERVER_B")
    menu = QMenu(table)
    assert table.fill_menu(menu)
    offered = [action.toolTip() for action in menu.actions()]
    assert all(
        action.toolTip() in offered
        for action in picture.list_actions(ActionTarget("link", ("SERVER_A", "SERVER_B")))
        if not action.property("section")
    )
    (cut,) = [action for action in menu.actions() if action.toolTip() == "cut SERVER_A SERVER_B"]
    cut.trigger()
    assert table.lines == ["cut SERVER_A SERVER_B"]


def test_actions_shared_with_the_other_view_are_identical(qtbot: Any, drill: FakeRun) -> None:
    picture = TopologyView()
    qtbot.addWidget(picture)
    picture.show_drill(drill)
    table = TopologyTable()
    table.use_actions(picture.shared_actions)
    qtbot.addWidget(table)
    table.show_drill(drill)
    lines: list[str] = []
    table.requested.connect(lines.append)
    picture.requested.connect(lines.append)
    select_rows(table, "SERVER_W")
    menu = QMenu(table)
    table.fill_menu(menu)
    shared = picture.list_actions(ActionTarget("server", ("SERVER_W",)))
    assert set(shared) & set(menu.actions())
    shared[0].trigger()
    assert len(lines) == 1  # The view that owns the actions sends one request.


def test_enter_opens_the_menu(qtbot: Any, qtlog: Any, table: RecordingTable) -> None:
    select_rows(table, "SERVER_B")
    table.table.setFocus()
    with qtlog.disabled():  # the offscreen plugin cannot raise menus
        qtbot.keyClick(table.table, Key.Key_Return)
        (menu,) = [menu for menu in table.findChildren(QMenu) if menu.isVisible()]
        assert "power-off SERVER_B" in [action.toolTip() for action in menu.actions()]
        menu.close()


def test_several_rows_offer_their_common_actions(qtbot: Any, table: RecordingTable, drill: FakeRun) -> None:
    select_rows(table, "SERVER_A – SERVER_B", "SERVER_A – SERVER_W")
    menu = QMenu(table)
    table.fill_menu(menu)
    (cut,) = [action for action in menu.actions() if action.text().startswith("Cut")]
    cut.trigger()
    assert table.lines == ["cut SERVER_A SERVER_B", "cut SERVER_A SERVER_W"]
    apply_and_show(table, drill, "cut SERVER_A SERVER_B", run_s=1.0)
    pair = [ActionTarget("link", ("SERVER_A", "SERVER_B")), ActionTarget("link", ("SERVER_A", "SERVER_W"))]
    assert not [label for label, _ in list_common_actions(drill.world, pair) if label.startswith("Cut")]


def test_filter_narrows_the_rows(qtbot: Any, table: RecordingTable) -> None:
    qtbot.keyClicks(table.field, "link witness")
    assert {format_role(row) for row in table.model.rows} == {"witness link"}
    qtbot.keyClicks(table.field, " zebra")
    assert list(table.model.rows) == []


def test_selection_follows_the_other_views(qtbot: Any, table: RecordingTable, drill: FakeRun) -> None:
    with qtbot.waitSignal(table.target_chosen) as blocker:
        table.select_target(ActionTarget("link", ("SERVER_W", "SERVER_B")))
    assert blocker.args == [ActionTarget("link", ("SERVER_B", "SERVER_W"))]
    select_rows(table, "Sales on SERVER_B")
    apply_and_show(table, drill, "pull-cable SERVER_W")
    assert [row.name.strip() for row in table.list_selected_rows()] == ["Sales on SERVER_B"]
    table.field.setText("sales")
    assert [row.name.strip() for row in table.list_selected_rows()] == ["Sales on SERVER_B"]


def test_an_exam_shows_only_facts_visible_without_a_query(table: RecordingTable, drill: FakeRun) -> None:
    drill.permissions = PERMISSIONS_BY_MODE[DrillMode.EXAM]
    table.show_drill(drill)
    apply_and_show(table, drill, "pull-cable SERVER_B", "hang SERVER_W", run_s=30.0)
    spoken_text = " ".join(row.display.accessible_text for row in table.model.rows)
    for secret in ("DISCONNECTED", "PRINCIPAL", "MIRROR", "respond", "pulled", "unprotected", "queue"):
        assert secret not in spoken_text
    assert find_row(table, "Sales on SERVER_A")["State"] == "not queried"
