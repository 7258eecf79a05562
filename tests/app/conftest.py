"""Fixtures of the desktop tests: separate settings, no delays, and an error for each unexpected file dialog."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="session")
def _settings_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    # Set the variable once per process, because Qt reads it only at its first use.
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", os.fspath(tmp_path_factory.mktemp("config")))
        yield


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Disable delays: dialogs accept clicks immediately, and a drill that ends shows its debrief immediately.

    Window sizes stay as tests set them, because the offscreen screen is only 800 pixels wide.
    """
    from app.main_window import debrief_controller, window
    from app.widgets import input_guard

    monkeypatch.setattr(window, "FIT_CHECK_DELAYS_MS", ())
    monkeypatch.setattr(input_guard, "GUARD_TIME_S", 0.0)
    monkeypatch.setattr(debrief_controller, "FINISH_NOTICE_S", 0.0)
    monkeypatch.setattr(debrief_controller, "REVIEW_BUDGET_S", float("inf"))


@pytest.fixture(autouse=True)
def _no_file_dialog(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail if a file dialog opens, because it would wait forever. A test that expects a dialog replaces it."""
    from PySide6.QtWidgets import QFileDialog

    def refuse_dialog(*_: object, **__: object) -> tuple[str, str]:
        raise AssertionError("a file dialog has opened that the test does not answer")

    for name in ("getSaveFileName", "getOpenFileName", "getOpenFileNames"):
        monkeypatch.setattr(QFileDialog, name, refuse_dialog)
