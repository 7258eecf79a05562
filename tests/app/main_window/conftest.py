"""Fixtures with the real window on its own profile. Simulated time passes only in frames that a test
requests.
"""

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
from app.files import scenario_files, summary_cache
from app.host import playback
from app.main_window import debrief_controller
from app.settings import WindowSettings
from app.storage import Profile, open_profile
from app.view_models.action_offers import ActionTarget
from app.widgets import theme
from engine.constants import TICKS_PER_S
from engine.drill.running.drill import Drill
from tests.assertions import require
from tests.children import get_scene
from tests.open_window import OpenWindow, build_window

FRAME_MS = 1000.0
"""Wall time of a frame. Every frame updates all views, so shorter frames would only slow the tests down."""
WINDOW_SIZE = (1366, 768)
CLOCK_STEP_S = 0.0005
"""Seconds by which the host's clock advances at each reading, so that frames do equal work on every machine."""
EXTRA_PLANS = 3
"""Number of plans that an analysis searches in these tests."""
REPLAY_S_MAX = 3600.0
"""Time budget of a replay, so long that a requested replay finishes in one frame."""


class WindowUser:
    """Simulated user who clicks, presses keys and lets simulated time pass in the window."""

    def __init__(self, qtbot: QtBot, window: OpenWindow) -> None:
        self.qtbot = qtbot
        self.window = window

    @property
    def drill(self) -> Drill:
        assert self.window.session.drill is not None
        return self.window.session.drill

    def run_frames(self, seconds: float, condition: Callable[[], bool] | None = None) -> None:
        """Run frames until *condition* holds or *seconds* of simulated time have passed."""
        session = self.window.session
        end = self.drill.tick + round(seconds * 100)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(playback, "ELAPSED_MS_MAX", FRAME_MS)
            while session.drill is not None and not session.drill.finished and session.drill.tick < end:
                if condition is not None and condition():
                    return
                before = session.drill.tick
                session.on_frame(min(FRAME_MS, (end - before) * 1000.0 / TICKS_PER_S / session.speed))
                assert session.drill is None or session.drill.finished or session.drill.tick > before, (
                    "time stands still"
                )
        assert condition is None or condition(), "it did not come to that"

    def finish_search(self) -> None:
        """Run frames until the search or replay is over."""
        for _ in range(20_000):
            if not self.window.session.is_busy:
                return
            self.window.session.on_frame(16.0)
        raise AssertionError("the search does not end")

    def finish_analysis(self) -> None:
        """Run the analysis of the debrief to its end."""
        self.qtbot.waitUntil(lambda: not self.window.debriefing._analysis.is_running, timeout=60_000)

    def open_tab(self, tab: int) -> QWidget:
        """Return a tab of the debrief by its index."""
        tabs = self.window.debrief.findChildren(QTabWidget)[0]
        tabs.setCurrentIndex(tab)
        return require(tabs.widget(tab))

    def press_key(self, key: Qt.Key, *modifiers: Qt.KeyboardModifier, target: QWidget | None = None) -> None:
        widget = target or QApplication.focusWidget() or self.window
        modifier_keys = Qt.KeyboardModifier.NoModifier
        for modifier in modifiers:
            modifier_keys |= modifier
        self.qtbot.keyClick(widget, key, modifier_keys)

    def click_widget(self, widget: QWidget) -> None:
        assert widget.isVisible(), f"{widget} cannot be clicked"
        self.qtbot.mouseClick(widget, Qt.MouseButton.LeftButton)

    def confirm_action(self) -> None:
        """Confirm the question about an irrevocable action."""
        box = self.window.confirmations.box
        assert box is not None, "nothing is asked"
        for button in box.buttons():
            if box.buttonRole(button) == QMessageBox.ButtonRole.DestructiveRole:
                self.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
        QApplication.processEvents()

    def open_context_menu(self, target: ActionTarget) -> QMenu:
        """Return the context menu of *target* in the topology."""
        topology = self.window.topology
        item = get_scene(topology).find_item(target)
        assert item is not None
        place = topology.mapFromScene(item.shape().boundingRect().translated(item.pos()).center())
        event = QContextMenuEvent(
            QContextMenuEvent.Reason.Mouse, place, topology.viewport().mapToGlobal(place)
        )
        QApplication.sendEvent(topology.viewport(), event)
        (menu,) = open_menus()
        return menu

    def choose_menu_item(self, menu: QMenu, text: str) -> None:
        action = next(action for action in menu.actions() if action.text() == text)
        self.qtbot.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(action).center())


def open_menus() -> list[QMenu]:
    return [w for w in QApplication.topLevelWidgets() if isinstance(w, QMenu) and w.isVisible()]


@pytest.fixture
def store(tmp_path: Path) -> WindowSettings:
    """Settings of a user who has seen the introduction."""
    settings_store = WindowSettings(QSettings(str(tmp_path / "window.ini"), QSettings.Format.IniFormat))
    settings_store.set(settings.INTRODUCTION_SEEN, True)
    settings_store.set(settings.FAILOVER_STAGING, settings.NEVER)  # Tests of the stage enable it.
    return settings_store


@pytest.fixture(scope="session")
def earlier_profile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a prepared profile with a filled cache of drills.

    Creating a new profile and cache took more than half of the time of each test.
    """
    folder = tmp_path_factory.mktemp("profile")
    with open_profile(folder):
        pass
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MIRRORDRILL_PROFILE", str(folder))
        summary_cache.read_summaries(scenario_files.list_all_files()[0], folder)
    return folder


@pytest.fixture
def profile(profile_folder: Path, earlier_profile: Path) -> Iterator[Profile]:
    shutil.copytree(earlier_profile, profile_folder, dirs_exist_ok=True)
    with open_profile(profile_folder) as opened:
        yield opened


def show_window(qtbot: QtBot, profile: Profile | None, store: WindowSettings) -> OpenWindow:
    """Yield a window on screen with the keyboard focus."""
    window = build_window(
        profile, store, use_timer=False, clock=count(step=CLOCK_STEP_S).__next__, size=WINDOW_SIZE
    )
    window.session.host.immediate_task_s = REPLAY_S_MAX
    qtbot.addWidget(window)
    with qtbot.waitActive(window):
        window.show()
        window.activateWindow()
    return window


@pytest.fixture
def style_sheet() -> None:
    """Apply the style sheet, for tests of the window's appearance."""


@pytest.fixture(autouse=True)
def _no_style_sheet(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Omit the style sheet, which takes more than half of the construction time of a window.

    Tests of text size or theme need the style sheet, because it propagates fonts and colors.
    """
    if "style_sheet" not in request.fixturenames:
        monkeypatch.setattr(theme, "build_style_sheet", lambda *_: "")


@pytest.fixture(autouse=True)
def _short_analysis(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the search for better plans, which takes most of an analysis. The engine's tests run the full
    search.
    """
    monkeypatch.setattr(debrief_controller, "SEARCH_PLANS_MAX", EXTRA_PLANS)


@pytest.fixture
def window(qtbot: QtBot, qapp: QApplication, profile: Profile, store: WindowSettings) -> Iterator[OpenWindow]:
    theme.apply_theme_choice(qapp, theme.LIGHT_THEME)
    shown_window = show_window(qtbot, profile, store)
    yield shown_window
    for menu in open_menus():
        menu.close()


@pytest.fixture
def hands(qtbot: QtBot, window: OpenWindow) -> WindowUser:
    return WindowUser(qtbot, window)
