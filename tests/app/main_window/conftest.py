"""The real window on a profile of its own; time goes on only by frames that a test asks for."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QApplication, QMenu, QMessageBox, QTabWidget, QWidget
from pytestqt.qtbot import QtBot

from app import settings
from app.files import scenario_files, summaries
from app.settings import WindowSettings
from app.storage import Profile, open_profile
from app.view_models.offers import ActionTarget
from app.widgets import theme
from engine.drill.running.drill import Drill
from tests.assertions import require
from tests.open_window import OpenWindow, build_window

FRAME_MS = 200.0
"""At the speed of time: shorter ones would only take longer."""
LOOK_S = 0.001
"""Cost of reading the session's clock: a frame does as much on a busy machine as on an idle one."""
WAITED_FOR_S = 3600.0
"""Time limit of a replay, which is ready when it is requested."""


class Hands:
    """Actions of a person at the window."""

    def __init__(self, qtbot: QtBot, window: OpenWindow) -> None:
        self.qtbot = qtbot
        self.window = window

    @property
    def drill(self) -> Drill:
        assert self.window.session.drill is not None
        return self.window.session.drill

    def wait(self, seconds: float, condition: Callable[[], bool] | None = None) -> None:
        """Let simulated time pass, frame by frame, at the speed in use; at most *seconds*."""
        session = self.window.session
        end = self.drill.tick + round(seconds * 100)
        while session.drill is not None and not session.drill.finished and session.drill.tick < end:
            if condition is not None and condition():
                return
            before = session.drill.tick
            session.on_frame(FRAME_MS)
            assert session.drill is None or session.drill.finished or session.drill.tick > before, (
                "time stands still"
            )
        assert condition is None or condition(), "it did not come to that"

    def search(self) -> None:
        """Frames until a search or a replay is over."""
        for _ in range(20_000):
            if not self.window.session.busy:
                return
            self.window.session.on_frame(16.0)
        raise AssertionError("the search does not end")

    def analyze(self) -> None:
        """Let the analysis of the debrief come to its end."""
        self.qtbot.waitUntil(lambda: not self.window.debriefing.analyzing, timeout=60_000)

    def open_tab(self, tab: int) -> QWidget:
        """A tab of the debrief by its number."""
        tabs = self.window.debrief.findChildren(QTabWidget)[0]
        tabs.setCurrentIndex(tab)
        return require(tabs.widget(tab))

    def press(self, key: Qt.Key, *modifiers: Qt.KeyboardModifier, target: QWidget | None = None) -> None:
        widget = target or QApplication.focusWidget() or self.window
        modifier_keys = Qt.KeyboardModifier.NoModifier
        for modifier in modifiers:
            modifier_keys |= modifier
        self.qtbot.keyClick(widget, key, modifier_keys)

    def click(self, widget: QWidget) -> None:
        assert widget.isVisible(), f"{widget} cannot be clicked"
        self.qtbot.mouseClick(widget, Qt.MouseButton.LeftButton)

    def say_yes(self) -> None:
        """To the question whether something that cannot be undone is to be done."""
        box = self.window.irrevocable.box
        assert box is not None, "nothing is asked"
        for button in box.buttons():
            if box.buttonRole(button) == QMessageBox.ButtonRole.DestructiveRole:
                self.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
        QApplication.processEvents()

    def menu_of(self, target: ActionTarget) -> QMenu:
        """The context menu of a thing in the topology."""
        topology = self.window.topology
        item = topology._scene.item_of(target)
        assert item is not None
        place = topology.mapFromScene(item.shape().boundingRect().translated(item.pos()).center())
        event = QContextMenuEvent(
            QContextMenuEvent.Reason.Mouse, place, topology.viewport().mapToGlobal(place)
        )
        QApplication.sendEvent(topology.viewport(), event)
        (menu,) = open_menus()
        return menu

    def choose(self, menu: QMenu, text: str) -> None:
        action = next(action for action in menu.actions() if action.text() == text)
        self.qtbot.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(action).center())


def open_menus() -> list[QMenu]:
    return [w for w in QApplication.topLevelWidgets() if isinstance(w, QMenu) and w.isVisible()]


@pytest.fixture
def store(tmp_path: Path) -> WindowSettings:
    """Settings of a user who has seen the introduction."""
    settings_store = WindowSettings(QSettings(str(tmp_path / "window.ini"), QSettings.Format.IniFormat))
    settings_store.set(settings.INTRODUCTION_SEEN, True)
    settings_store.set(settings.FAILOVER_MOMENT, settings.NEVER)  # tests of the stage turn it on
    return settings_store


@pytest.fixture(scope="session")
def earlier_profile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a profile that was opened before, with what the start page keeps of the drills: to make its tables
    and to read all drills anew took more than half of every test's time."""
    folder = tmp_path_factory.mktemp("profile")
    with open_profile(folder):
        pass
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MIRRORDRILL_PROFILE", str(folder))
        summaries.read(scenario_files.all_files()[0], folder)
    return folder


@pytest.fixture
def profile(profile_folder: Path, earlier_profile: Path) -> Iterator[Profile]:
    shutil.copytree(earlier_profile, profile_folder, dirs_exist_ok=True)
    with open_profile(profile_folder) as opened:
        yield opened


def show_window(qtbot: QtBot, profile: Profile | None, store: WindowSettings) -> OpenWindow:
    """A window on screen that has the keyboard."""
    window = build_window(profile, store, use_timer=False, clock=count(step=LOOK_S).__next__)
    window.session.host.at_once_s = WAITED_FOR_S
    qtbot.addWidget(window)
    window.resize(1366, 768)
    with qtbot.waitActive(window):
        window.show()
        window.activateWindow()
    return window


@pytest.fixture
def style_sheet() -> None:
    """For tests of how the window looks: it has its style sheet."""


@pytest.fixture(autouse=True)
def _no_style_sheet(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """No style sheet: it takes more than half of the time in which a window is made.

    It also hands fonts and colors on; a test that changes text size or theme needs it.
    """
    if "style_sheet" not in request.fixturenames:
        monkeypatch.setattr(theme, "style_sheet", lambda *_: "")


@pytest.fixture
def window(qtbot: QtBot, qapp: QApplication, profile: Profile, store: WindowSettings) -> Iterator[OpenWindow]:
    theme.apply(qapp, theme.LIGHT)
    shown_window = show_window(qtbot, profile, store)
    yield shown_window
    for menu in open_menus():
        menu.close()


@pytest.fixture
def hands(qtbot: QtBot, window: OpenWindow) -> Hands:
    return Hands(qtbot, window)
