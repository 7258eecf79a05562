"""For tests of the desktop: settings of their own, and no window or timer left behind."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="session")
def _settings_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:  # once: Qt reads the variable only at its first use
        patch.setenv("XDG_CONFIG_HOME", os.fspath(tmp_path_factory.mktemp("config")))
        yield


@pytest.fixture(autouse=True)
def _nothing_of_qt_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """Windows given to `qtbot.addWidget` are closed before this looks."""
    yield
    if "qtbot" not in request.fixturenames or "PySide6.QtWidgets" not in sys.modules:
        return
    from PySide6.QtCore import QCoreApplication, QEvent, QTimer
    from PySide6.QtWidgets import QApplication
    from shiboken6 import isValid

    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    gc.collect()
    windows = [widget for widget in QApplication.topLevelWidgets() if widget.isVisible()]
    assert not windows, f"windows left open: {windows}"
    timers = [found for found in gc.get_objects() if isinstance(found, QTimer) and isValid(found)]
    running = [timer for timer in timers if timer.isActive()]
    assert not running, f"timers left running: {running}"
