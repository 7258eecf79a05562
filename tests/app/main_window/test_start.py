"""Tests of the start of the window, and of two failures: a profile that cannot be opened, and an internal
error.
"""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMessageBox, QPushButton
from pytestqt.qtbot import QtBot
from shiboken6 import delete

import app.main_window as start
from app.files import scenario_files, summary_cache
from app.main_window.start import BACKGROUND_MODULES, THREAD_MODULES, StartSequence
from app.settings import WindowSettings
from app.storage import Profile, open_profile
from app.widgets.input_guard import InputGuard
from tests.open_window import OpenWindow, build_window
from tests.shipped_scenarios import load_shipped_scenario

READY_MS_MAX = 60_000
"""Time limit for the complete start on a busy machine."""


@pytest.fixture
def bare_window(
    qtbot: QtBot, qapp: QApplication, profile: Profile, profile_folder: Path, store: WindowSettings
) -> OpenWindow:
    """Yield the window when it has only the start page. Two drills are cached from an earlier start."""
    files = [scenario_files.find_scenario_file(name) for name in ("lab", "automatic-failover")]
    profile_folder.mkdir(exist_ok=True)
    summary_cache.read_summaries(files, profile_folder)
    window = OpenWindow(store)
    qtbot.addWidget(window)
    window.show()
    return window


@pytest.fixture
def startup(bare_window: OpenWindow, profile: Profile) -> Iterator[StartSequence]:
    """Yield the steps that complete the window."""
    start = StartSequence(bare_window, lambda: profile)
    yield start
    start.stop_loading()


def test_the_start_page_lists_its_drills_before_everything_is_loaded(bare_window: OpenWindow) -> None:
    bare_window.picker.select_drill("lab")
    card = bare_window.picker.get_current_card()
    assert card is not None
    assert (card.name, card.facts) == ("lab", "Mirroring · SQL 2005 · 15 min · Beginner")
    bare_window.picker.select_drill("automatic-failover")
    card = bare_window.picker.get_current_card()
    assert card is not None
    assert not card.result_label.text  # The results have not been read yet.
    assert not bare_window.is_ready


def test_the_first_start_shows_that_it_reads_scenarios(
    qtbot: QtBot, qapp: QApplication, store: WindowSettings
) -> None:
    window = OpenWindow(store)
    qtbot.addWidget(window)
    assert window.picker.top.next.title.text() == "Loading drills…"
    assert not window.picker.top.next.button.isEnabled()


def test_a_drill_selected_early_opens_when_everything_is_loaded(
    bare_window: OpenWindow, startup: StartSequence, qtbot: QtBot
) -> None:
    bare_window.picker.select_drill("automatic-failover")
    qtbot.keyClick(bare_window.picker.grid, Qt.Key.Key_Return)
    assert bare_window.pages.currentWidget() is bare_window.picker
    with qtbot.waitSignal(bare_window.parts_loaded, timeout=READY_MS_MAX):
        startup.start_loading()
    assert bare_window.pages.currentWidget() is bare_window.brief
    assert bare_window.scenario is not None
    assert bare_window.scenario.name == "automatic-failover"


@pytest.mark.slow
def test_a_page_requested_during_loading_opens_when_ready(
    bare_window: OpenWindow, startup: StartSequence, qtbot: QtBot
) -> None:
    button = next(b for b in bare_window.picker.findChildren(QPushButton) if b.text() == "History")
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert "still loading" in bare_window.statusBar().currentMessage()
    with qtbot.waitSignal(bare_window.parts_loaded, timeout=READY_MS_MAX):
        startup.start_loading()
    assert bare_window.pages.currentWidget() is bare_window.history
    assert not bare_window.statusBar().currentMessage()


@pytest.mark.slow
def test_the_selection_survives_the_arrival_of_results(
    bare_window: OpenWindow, startup: StartSequence, qtbot: QtBot
) -> None:
    bare_window.picker.select_drill("automatic-failover")
    with qtbot.waitSignal(bare_window.parts_loaded, timeout=READY_MS_MAX):
        startup.start_loading()
    card = bare_window.picker.get_current_card()
    assert card is not None
    assert card.name == "automatic-failover"
    assert bare_window.picker.grid.count() > 50


def test_a_newcomer_finds_the_first_drill_selected(
    bare_window: OpenWindow, startup: StartSequence, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(bare_window.parts_loaded, timeout=READY_MS_MAX):
        startup.start_loading()
    card = bare_window.picker.get_current_card()
    assert card is not None
    assert card.name == "automatic-failover"
    assert bare_window.picker.top.next.button.hasFocus(), "Enter opens it"
    bare_window.picker.select_drill("lab")
    bare_window.show_home()
    card = bare_window.picker.get_current_card()
    assert card is not None
    assert card.name == "lab"


def test_enter_presses_the_buttons_of_the_first_page(
    qtbot: QtBot, qapp: QApplication, store: WindowSettings
) -> None:
    for earlier in qapp.findChildren(InputGuard):
        qapp.removeEventFilter(earlier)
        delete(earlier)
    window, wanted = OpenWindow(store), list[str]()
    qtbot.addWidget(window)
    window.show()
    window.picker.history_wanted.connect(lambda: wanted.append("history"))
    button = next(part for part in window.picker.findChildren(QPushButton) if part.text() == "History")
    qtbot.keyClick(button, Qt.Key.Key_Return)
    assert wanted == ["history"]


def test_a_menu_opened_early_is_complete(bare_window: OpenWindow, startup: StartSequence) -> None:
    menu = bare_window.menus["T&ools"]
    assert not menu.actions()
    menu.aboutToShow.emit()
    assert len(menu.actions()) > 3


def test_closing_early_leaves_nothing_behind(bare_window: OpenWindow, startup: StartSequence) -> None:
    startup.start_loading()
    bare_window.close()
    startup.stop_loading()
    assert not bare_window.is_ready
    QTest.qWait(300)
    assert not bare_window.is_ready


THREAD_IMPORT_SCRIPT = """
import sys
from importlib import import_module
for name in sys.argv[1:]:
    import_module(name)
print(*(name for name in sys.modules if name.partition(".")[0] in ("PySide6", "shiboken6", "pyqtgraph")))
"""


def test_threads_import_no_qt() -> None:
    """PySide 6.11.3 crashed if a thread created a Qt class while the window processed events."""
    command = [sys.executable, "-c", THREAD_IMPORT_SCRIPT, *THREAD_MODULES, *BACKGROUND_MODULES]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.split() == []


SOURCE_CACHE_SCRIPT = """
import linecache
import app.main_window.assembly
print(*(name for name in linecache.cache if name.endswith(".py") and ("numpy" in name or "main_window" in name)))
"""


def test_an_import_reads_no_source_file() -> None:
    """PySide would read the source of every imported module."""
    command = [sys.executable, "-c", SOURCE_CACHE_SCRIPT]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.split() == []


WINDOW_IMPORT_SCRIPT = """
import sys
from importlib import import_module
from PySide6.QtWidgets import QApplication
from app.main_window.start import iterate_window_modules
from app.settings import WindowSettings
from app.views.charts import ChartView
from app.views.system_monitor import SystemMonitor
from tests.open_window import build_window
app = QApplication(sys.argv)
for name in iterate_window_modules():
    import_module(name)
window = build_window(None, WindowSettings(), use_timer=False)
print(*(name for name in sys.argv[1:] if name in sys.modules))
for kind in (ChartView, SystemMonitor):
    panel = window.desk.get_view_by_class(kind)
    panel.setParent(None)
    panel.show()
    print(len(panel.findChildren(sys.modules["pyqtgraph"].GraphicsView)))
"""


def test_plots_t_sql_and_network_are_imported_on_first_use() -> None:
    """Each import takes at least a tenth of a second, which would delay the start."""
    late_modules = (
        "pyqtgraph",
        "engine.tsql.clients.client",
        "engine.tsql.catalog",
        "engine.tsql.language.statements",
        "sqlglot",
        "engine.flow.compiled.loader",
        "app.serve",
        "app.classroom",
        "cryptography",
        "sqlalchemy",
        "asyncio",
    )
    command = [sys.executable, "-c", WINDOW_IMPORT_SCRIPT, *late_modules]
    modules = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert modules == ["", "1", "1"]


WindowRunner = Callable[[Callable[[OpenWindow], None]], None]


@pytest.fixture
def during(monkeypatch: pytest.MonkeyPatch, qtbot: QtBot) -> WindowRunner:
    """Return a function that runs an action after the window appears, and closes the window afterwards."""

    def install_action(action: Callable[[OpenWindow], None]) -> None:
        codes = [0]

        def run(*_: object) -> int:
            (window,) = [
                w for w in QApplication.topLevelWidgets() if isinstance(w, OpenWindow) and w.isVisible()
            ]
            qtbot.addWidget(window)
            window.parts_needed.emit()
            if window.is_ready:
                action(window)
            window.close()
            return codes[0]

        monkeypatch.setattr(start, "MainWindow", OpenWindow)
        monkeypatch.setattr(QApplication, "exec", run)
        monkeypatch.setattr(QApplication, "exit", lambda code=0: codes.__setitem__(0, code))

    return install_action


def test_the_window_opens_a_scenario_and_releases_the_profile(
    during: WindowRunner, profile_folder: Path
) -> None:
    pages: list[object] = []
    during(lambda window: pages.append(window.pages.currentWidget() is window.brief))
    hook = sys.excepthook
    assert start.open_window(load_shipped_scenario("no-witness")) == 0
    assert sys.excepthook is hook
    assert pages == [True]
    with open_profile(profile_folder):
        pass  # While the profile is locked, a second process cannot open it.


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "code"), [("Quit", 1), ("Play without recording", 0)])
def test_a_profile_in_use_offers_a_choice(
    during: WindowRunner, monkeypatch: pytest.MonkeyPatch, profile_folder: Path, answer: str, code: int
) -> None:
    questions: list[str] = []

    def answer_question(box: QMessageBox) -> int:
        questions.append(box.text())
        next(button for button in box.buttons() if button.text() == answer).click()
        return 0

    monkeypatch.setattr(QMessageBox, "exec", answer_question)
    during(lambda window: questions.append(window.run_facts.text()))
    with open_profile(profile_folder):
        assert start.open_window(None) == code
    assert "Another Mirrordrill uses" in questions[0]


def test_an_error_without_a_profile_mentions_no_stored_run(
    during: WindowRunner, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    boxes: list[str] = []
    (tmp_path / "file").touch()
    monkeypatch.setenv("MIRRORDRILL_PROFILE", str(tmp_path / "file" / "folder"))
    monkeypatch.setattr(sys, "excepthook", sys.__excepthook__)  # Replace the hook that makes tests fail.

    def answer_box(box: QMessageBox) -> int:
        boxes.append(box.text() + box.informativeText())
        for button in box.buttons():
            if button.text() == "Play without recording":
                button.click()
        return 0

    def record_box(box: QMessageBox) -> None:
        boxes.append(box.text() + box.informativeText())

    monkeypatch.setattr(QMessageBox, "exec", answer_box)
    monkeypatch.setattr(QMessageBox, "open", record_box)

    def report_error(window: OpenWindow) -> None:
        sys.excepthook(RuntimeError, RuntimeError("the roof is gone"), None)

    during(report_error)
    assert start.open_window(None) == 0, "the program continues"
    assert len(boxes) == 2
    assert "the roof is gone" in boxes[1]
    assert "recorded" not in boxes[1]


def test_a_closed_window_releases_its_objects(
    qtbot: QtBot, qapp: QApplication, profile: Profile, store: WindowSettings
) -> None:
    def count_widgets() -> int:
        window = build_window(profile, store, use_timer=False)
        window.tools.show_planner()
        window.close()
        delete(window)
        del window
        gc.collect()
        return len(QApplication.allWidgets())

    assert count_widgets() == count_widgets()
