"""Tests of the Always On dashboard and Failover Cluster Manager, with real clicks and keys."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu, QMessageBox

from app.views.cluster_manager import ClusterManager
from app.views.dashboard import GroupDashboardView
from engine.drill.running.modes import PERMISSIONS_BY_MODE, DrillMode
from tests.app.views.fakes import FakeRun
from tests.engine.availability.worlds import apply_lines, build_ag_lab, run_until


def show_run(qtbot: Any, view: Any, mode: DrillMode = DrillMode.LAB) -> FakeRun:
    world = build_ag_lab()
    run_until(world, 5.0)
    run = FakeRun(world)
    run.permissions = PERMISSIONS_BY_MODE[mode]
    qtbot.addWidget(view)
    view.resize(700, 500)
    view.show()
    view.show_drill(run)
    return run


def test_another_server_is_selected_by_key_and_knows_less(qtbot: Any) -> None:
    view = GroupDashboardView()
    run = show_run(qtbot, view)
    assert view.databases.rowCount() == 6
    assert view.why.rowCount() > 3
    replicas, databases, _ = (table.height() for table in view.tables)
    assert replicas < 0.8 * databases, "three rows need less than six"
    qtbot.keyClick(view.servers, Qt.Key.Key_Down)
    assert view.servers.currentText() == "NODE_2"
    assert view.databases.rowCount() == 2
    apply_lines(run.world, "power-off NODE_2")
    view.show_world(run.world)
    assert "Cannot connect to NODE_2" in view.summary.text()


def test_a_server_that_answers_is_selected_until_the_user_chooses(qtbot: Any) -> None:
    view = GroupDashboardView()
    run = show_run(qtbot, view)
    first = view.servers.currentText()
    apply_lines(run.world, f"power-off {first}")
    view.show_world(run.world)
    assert view.servers.currentText() != first
    assert view.databases.rowCount()
    qtbot.keyClick(view.servers, Qt.Key.Key_Up)
    assert view.servers.currentText() == first
    assert f"Cannot connect to {first}" in view.summary.text()


def test_an_exam_reveals_only_facts_visible_to_a_computer(qtbot: Any) -> None:
    view = GroupDashboardView()
    show_run(qtbot, view, DrillMode.EXAM)
    assert view.why.rowCount() == 0


def click_row(qtbot: Any, view: ClusterManager, name: str, kind: str) -> QMenu:
    place = next(n for n, row in enumerate(view.model.rows) if (row.name, row.kind) == (name, kind))
    center = view.table.visualRect(view.model.index(place, 0)).center()
    qtbot.mouseClick(view.table.viewport(), Qt.MouseButton.LeftButton, pos=center)
    menu = QMenu(view)
    view.fill_menu(menu)
    return menu


def test_an_irreversible_action_asks_first(qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    view, lines, answers = (
        ClusterManager(),
        list[str](),
        [QMessageBox.StandardButton.No, QMessageBox.StandardButton.Yes],
    )
    view.requested.connect(lines.append)
    show_run(qtbot, view)
    monkeypatch.setattr(QMessageBox, "warning", lambda *_: answers.pop(0))
    menu = click_row(qtbot, view, "NODE_2", "node")
    evict = next(action for action in menu.actions() if action.text() == "Evict")
    evict.trigger()
    assert lines == []
    evict.trigger()
    menu = click_row(qtbot, view, "AG1", "role")
    next(action for action in menu.actions() if action.text() == "Move the role to NODE_3").trigger()
    assert lines == ["evict NODE_2", "move-role AG1 NODE_3"]
