"""For tests of the desktop: settings of their own, and no window or timer left behind."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="session")
def _settings_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:  # once: Qt reads the variable only at its first use
        patch.setenv("XDG_CONFIG_HOME", os.fspath(tmp_path_factory.mktemp("config")))
        yield


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """What appears takes clicks at once, and a drill that ends shows its debrief; tests of the waiting itself wait.

    A window keeps the size that a test gives it: the offscreen screen is 800 pixels wide, and a look at it in the
    middle of a test makes the window that small.
    """
    from app.main_window import finish_moment, on_screen
    from app.widgets import input_guard

    monkeypatch.setattr(on_screen, "LOOKS_MS", ())
    monkeypatch.setattr(input_guard, "FRESH_S", 0.0)
    monkeypatch.setattr(finish_moment, "WAIT_S", 0.0)


@pytest.fixture(autouse=True)
def _no_file_dialog(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dialog that a test does not answer would wait for ever; a test that expects one puts its answer here."""
    from PySide6.QtWidgets import QFileDialog

    def unexpected(*_: object, **__: object) -> tuple[str, str]:
        raise AssertionError("a file dialog has opened that the test does not answer")

    for name in ("getSaveFileName", "getOpenFileName", "getOpenFileNames"):
        monkeypatch.setattr(QFileDialog, name, unexpected)


@pytest.fixture(autouse=True)
def _nothing_of_qt_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """Windows given to `qtbot.addWidget` are closed before this looks."""
    if "qtbot" not in request.fixturenames:
        yield
        return
    from PySide6.QtCore import QCoreApplication, QEvent, Qt, QTimer
    from PySide6.QtTest import QTest
    from PySide6.QtWidgets import QApplication, QWidget
    from shiboken6 import isValid

    from app.widgets import theme

    if QApplication.topLevelWidgets():  # pytest lets go of what the test before was given only by now
        gc.collect()
    gc.freeze()  # modules and what tests before left: looking through them again took a third of a test's time
    yield
    if QApplication.mouseButtons() != Qt.MouseButton.NoButton:  # as a double click leaves it
        QTest.mouseRelease(QWidget(), Qt.MouseButton.LeftButton)
    if QApplication.keyboardModifiers() != Qt.KeyboardModifier.NoModifier:
        QTest.keyRelease(QWidget(), Qt.Key.Key_Shift)
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    gc.collect()
    app = QApplication.instance()
    if (
        isinstance(app, QApplication)
        and app.property("styled")
        and app.font().pointSizeF() != theme.BASE_POINTS
    ):
        theme.apply(app, theme.LIGHT)  # without a window: with one, another size of text takes half a second
    windows = [widget for widget in QApplication.topLevelWidgets() if widget.isVisible()]
    assert not windows, f"windows left open: {windows}"
    timers = [found for found in gc.get_objects() if issubclass(type(found), QTimer) and isValid(found)]
    running = [timer for timer in timers if timer.isActive()]
    assert not running, f"timers left running: {running}"
