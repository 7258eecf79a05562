"""Tests of the table of docks: each row creates a view, is in the menus, and has a shortcut and a help page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pkgutil import resolve_name
from types import SimpleNamespace
from typing import Any

import pytest
import shiboken6
from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.main_window.desk import TURN_TAKING_DATABASES_MIN, Desk
from app.view_models.action_offers import ActionTarget
from app.views.cluster_manager import ClusterManager
from app.views.dashboard import GroupDashboardView
from app.views.error_log import ErrorLogView
from app.views.help import read_help_page
from app.views.monitor import MirroringMonitor
from app.views.topology_table import TopologyTable
from app.widgets import keys
from app.widgets.docks import (
    CENTRAL_AREA,
    DOCK_NAMES,
    DOCK_SPECS,
    LAYOUT_PROFILES,
    OUTER_DOCK_SPECS,
    DockSpec,
)
from engine.model import Group
from tests.app.main_window.conftest import WindowUser
from tests.open_window import OpenWindow
from tests.screenshots import build_lab_of
from tests.shipped_scenarios import load_shipped_scenario

VIEW_MEMBERS = ("requested", "show_drill", "show_world", "add_events")


@pytest.mark.parametrize("dock", DOCK_SPECS, ids=lambda dock: dock.name)
def test_each_view_is_connected_to_the_desk(dock: DockSpec, qtbot: QtBot) -> None:
    view = resolve_name(dock.view_class_path)()
    qtbot.addWidget(view)
    assert isinstance(view, QWidget)
    assert [name for name in VIEW_MEMBERS if not hasattr(view, name)] == []
    assert set(dock.profiles) <= set(LAYOUT_PROFILES)
    assert read_help_page(dock.help_page)


def test_one_view_is_the_central_widget() -> None:
    assert len(OUTER_DOCK_SPECS) == len(DOCK_SPECS) - 1
    assert [dock.name for dock in DOCK_SPECS if dock.area is CENTRAL_AREA] == ["topology"]
    assert len(set(DOCK_NAMES)) == len(DOCK_NAMES)


def test_each_view_is_in_the_menus_and_the_key_table(window: OpenWindow) -> None:
    for dock in DOCK_SPECS:
        action = window.actions_by_name[f"view.{dock.name}"]
        assert action.associatedObjects(), dock.name
        assert keys.COMMANDS_BY_NAME[f"view.{dock.name}"].ssms == (
            tuple(dock.keys.split(" | ")) if dock.keys else ()
        )


class StubView(QLabel):
    """Minimal view that a desk accepts."""

    requested = Signal(str)

    def show_drill(self, drill: object) -> None:
        pass

    def show_world(self, world: object) -> None:
        pass

    def add_events(self, events: object) -> None:
        pass


@dataclass
class StubPermissions:
    shows_truth: bool


@dataclass
class StubRun:
    """Run with only the fields that decide which panels are available."""

    world: SimpleNamespace
    permissions: StubPermissions


def build_run(truth: bool = True, **parts: object) -> Any:
    return StubRun(
        SimpleNamespace(**{"clusters": {}, "groups": {}, "replicas": {}, **parts}), StubPermissions(truth)
    )


def test_a_run_has_the_panels_of_its_technology(qtbot: QtBot) -> None:
    """Deleting the desk shows no message about the docks that become hidden."""
    desk = Desk(lambda place: StubView(place.title))
    desk.get_view("topology")
    desk.arrange_panels("learner")
    messages: list[str] = []
    desk.message_ready.connect(messages.append)

    def list_hidden_docks(drill: Any) -> set[str]:
        desk.show_drill(drill)
        return {name for name in ("monitor", "dashboard", "cluster", "events") if desk.docks[name].isHidden()}

    node: dict[str, object] = {"N": None}
    assert list_hidden_docks(build_run()) == {"dashboard", "cluster"}
    desk.focus_view("dashboard")
    assert messages == ["This drill has no availability group."]
    assert list_hidden_docks(build_run(clusters=node)) == {"monitor", "dashboard"}
    assert list_hidden_docks(build_run(clusters=node, replicas=node)) == {"monitor"}
    mirrored = {1: Group(kind="mirroring", databases=("Sales",))}
    assert list_hidden_docks(build_run(clusters=node, groups=mirrored)) == {"dashboard"}
    assert list_hidden_docks(build_run(truth=False)) == {"dashboard", "cluster", "events"}
    desk.arrange_panels("learner")
    assert desk.docks["events"].isHidden(), "places put back open nothing in an exam"
    desk.focus_view("events")
    assert "exam" in messages[-1]
    assert list_hidden_docks(build_run()) == {"dashboard", "cluster"}
    desk.show()
    desk.restore_layout_at_size(desk.save_layout(), QSize(900, 640))
    desk.resize(900, 640)
    assert desk.docks["dashboard"].isHidden(), "a window that leaves the full screen opens nothing"
    with qtbot.captureExceptions() as raised:
        shiboken6.delete(desk)
    assert raised == []


class RecordingLabel(StubView):
    """View that records the world of each update."""

    def __init__(self, title: str) -> None:
        super().__init__(title)
        self.worlds: list[object] = []

    def show_world(self, world: object) -> None:
        self.worlds.append(world)


class PartedLabel(RecordingLabel):
    def show_parts(self, world: object) -> Iterator[None]:
        for _ in range(3):
            self.worlds.append(world)
            yield


def test_in_a_fast_large_world_each_frame_updates_one_view(qtbot: QtBot) -> None:
    views = {
        place.name: (PartedLabel if place.name == "charts" else RecordingLabel)(place.title)
        for place in DOCK_SPECS
    }
    desk = Desk(lambda place: views[place.name])
    qtbot.addWidget(desk)
    for place in DOCK_SPECS:
        desk.get_view(place.name)
    desk.resize(1366, 768)
    desk.arrange_panels("learner")
    desk.show()
    QApplication.processEvents()
    hidden = {name for name, dock in desk.docks.items() if dock.visibleRegion().isEmpty()}
    shown_views = [view for name, view in views.items() if name not in hidden]
    hidden_views = [view for name, view in views.items() if view.isVisible() and name in hidden]
    assert views["charts"] in shown_views
    assert hidden_views, "Qt calls a panel behind another tab visible"
    for view in views.values():
        view.worlds.clear()
    large: Any = SimpleNamespace(list_databases=lambda: range(TURN_TAKING_DATABASES_MIN), availability={})
    frames = len(shown_views) + 2  # The charts need three frames for one update.
    desk.show_pace(running=True, is_fast=True)
    for frame in range(frames):
        desk.show_world(large)
        assert sum(len(view.worlds) for view in shown_views) == frame + 1
    assert {len(view.worlds) for view in shown_views if view is not views["charts"]} == {1}
    assert len(views["charts"].worlds) == 3
    desk.show_pace(running=False, is_fast=True)  # During a pause, all views show the current state at once.
    assert {len(view.worlds) for view in shown_views if view is not views["charts"]} == {2}
    assert len(views["charts"].worlds) == 4
    assert not any(view.worlds for view in hidden_views)
    name = next(name for name, view in views.items() if view is hidden_views[0])
    desk.docks[name].raise_()
    assert hidden_views[0].worlds == [large], "it is up to date when it comes to the front"
    QApplication.processEvents()


def test_a_view_that_is_created_later_shows_the_current_selection(hands: WindowUser) -> None:
    """Selected database, object and time also apply to views that open later."""
    window = hands.window
    window.show_brief(build_lab_of(25))
    window.start_drill("lab")
    hands.run_frames(1.0)
    for name in ("monitor", "table"):
        assert name not in window.desk.views
    window.topology.select_target(ActionTarget("server", ("SERVER_B",)))
    window.topology.open_database("Sales007")
    assert window.desk.get_view_by_class(MirroringMonitor).database == "Sales007"
    assert window.desk.get_view_by_class(TopologyTable).target == ActionTarget("server", ("SERVER_B",))


def test_views_of_one_server_follow_the_selection_in_the_topology(hands: WindowUser) -> None:
    window = hands.window
    window.show_brief(load_shipped_scenario("ag-lab"))
    window.start_drill("lab")
    hands.run_frames(1.0)
    log = window.desk.get_view_by_class(ErrorLogView)
    window.topology.select_target(ActionTarget("server", ("NODE_2",)))
    boxes = (
        window.desk.get_view_by_class(GroupDashboardView).servers,
        window.desk.get_view_by_class(ClusterManager).nodes,
    )
    assert [box.currentText() for box in boxes] == ["NODE_2", "NODE_2"], "created after the selection"
    window.topology.select_target(ActionTarget("server", ("NODE_3",)))
    window.topology.select_target(ActionTarget("server", ("FSW",)))
    assert [box.currentText() for box in boxes] == ["NODE_3", "NODE_3"], "the file share has no log or group"
    assert log.servers.tabText(log.servers.currentIndex()) == "NODE_3"


def test_resizing_the_window_keeps_the_proportions(qtbot: QtBot, window: OpenWindow) -> None:
    """A small window reduces panels to their minimum sizes. Maximizing it restores the previous proportions."""

    def measure_docks(width: int, height: int) -> dict[str, tuple[int, int]]:
        window.resize(width, height)
        for _ in range(6):
            QApplication.processEvents()
        docks = window.desk.docks
        return {name: (docks[name].width(), docks[name].height()) for name in ("brief", "charts", "timing")}

    window.select_drill("automatic-failover")
    window.start_drill("practice")
    window.session.pause()
    large = measure_docks(1920, 1040)
    assert measure_docks(800, 600) != large
    second_sizes = measure_docks(1920, 1040)
    for name, (width, height) in large.items():
        assert abs(second_sizes[name][0] - width) <= 0.02 * 1920, name
        assert abs(second_sizes[name][1] - height) <= 0.03 * 1040, name
