"""Fixtures of all tests: user files stay unchanged, and no widget or process remains after a test."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Set this before any import of Qt. A variable that is already set stays, so that a test can show its
# window.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")


os.environ["MIRRORDRILL_LANGUAGE"] = "en"  # Make tests independent of the system's language.


settings.register_profile("loaded", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("loaded")
"""A busy machine is slow at making examples; that says nothing of the program."""


WAIT_MS_MAX = 60_000
"""Time limit of waits. A window on a busy machine takes three seconds, so the default of five seconds is too
short.
"""


GC_THRESHOLD = 50_000
"""Number of new objects that start a collection. With Python's 700, collections took a tenth of the tests' time."""


def pytest_configure() -> None:
    gc.set_threshold(GC_THRESHOLD)
    gc.disable()  # until all tests are collected, because collections took a tenth of that time
    from pytestqt.qtbot import QtBot

    for wait in (QtBot.waitUntil, QtBot.waitSignal, QtBot.waitSignals, QtBot.waitActive, QtBot.waitExposed):
        wait.__kwdefaults__ = {**(wait.__kwdefaults__ or {}), "timeout": WAIT_MS_MAX}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rewrite", action="store_true", help="record the transcripts anew")


def pytest_collection_finish() -> None:
    gc.enable()
    gc.freeze()  # Exclude modules and collected tests from collections.


@pytest.fixture(scope="session")
def profile_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Yield paths of profile folders that do not exist yet. Creating each folder took a tenth of the tests'
    time.
    """
    base = tmp_path_factory.mktemp("profiles")
    return (base / str(number) for number in count())


@pytest.fixture(autouse=True)
def profile_folder(profile_folders: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Set the profile folder of this test and of the processes that it starts."""
    folder = next(profile_folders)
    monkeypatch.setenv("MIRRORDRILL_PROFILE", str(folder))
    return folder


@pytest.fixture(autouse=True)
def _no_thread_left() -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    left = [thread for thread in threading.enumerate() if thread not in before and not thread.daemon]
    assert not left, f"threads left running: {left}"


@pytest.fixture(autouse=True)
def _nothing_of_qt_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """Start every test with the default appearance, and close all its windows at the end.

    Every later theme test restyles a remaining window; nine such windows took 40 s.
    """
    if not {"qtbot", "qapp"}.intersection(request.fixturenames):
        yield
        return
    from PySide6.QtCore import QCoreApplication, QEvent, Qt, QTimer
    from PySide6.QtTest import QTest
    from PySide6.QtWidgets import QApplication, QWidget
    from shiboken6 import delete, isValid

    from app.widgets import theme
    from app.widgets.input_guard import InputGuard

    if QApplication.topLevelWidgets():  # Pytest releases the fixtures of the previous test only now.
        gc.collect()
    app = request.getfixturevalue("qapp")
    is_unstyled = not app.styleSheet() and "_no_style_sheet" not in request.fixturenames
    if is_unstyled:  # Otherwise sizes and default buttons would depend on the previous test.
        theme.apply_theme_choice(app, theme.LIGHT_THEME)
    gc.freeze()  # Exclude modules and earlier objects from collection, which took a third of a test's time.
    yield
    if QApplication.mouseButtons() != Qt.MouseButton.NoButton:  # Reset the state that a double click leaves.
        QTest.mouseRelease(QWidget(), Qt.MouseButton.LeftButton)
    if QApplication.keyboardModifiers() != Qt.KeyboardModifier.NoModifier:
        QTest.keyRelease(QWidget(), Qt.Key.Key_Shift)
    for guard in app.findChildren(
        InputGuard
    ):  # It would receive all events while widgets are built or deleted.
        delete(guard)
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    gc.collect()
    if app.font().pointSizeF() != theme.BASE_FONT_POINTS:
        # Set the text size before a window exists. Otherwise the change takes half a second.
        theme.apply_theme_choice(app, theme.LIGHT_THEME)
    windows = [widget for widget in QApplication.topLevelWidgets() if widget.isVisible()]
    assert not windows, f"windows left open: {windows}"
    timers = [timer for timer in gc.get_objects() if issubclass(type(timer), QTimer) and isValid(timer)]
    running = [timer for timer in timers if timer.isActive()]
    assert not running, f"timers left running: {running}"
