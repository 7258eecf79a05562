"""Fixtures of the desktop tests: own settings, no delays, and no file dialog that a test does not answer."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="session")
def _settings_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    # once per process: Qt reads the variable only at its first use
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", os.fspath(tmp_path_factory.mktemp("config")))
        yield


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Disable delays: dialogs accept clicks at once, and the end of a drill shows its debrief at once.

    Window sizes stay as tests set them, because the offscreen screen is only 800 pixels wide.
    """
    from app.main_window import debrief_page, window
    from app.widgets import input_guard

    monkeypatch.setattr(window, "LOOKS_MS", ())
    monkeypatch.setattr(input_guard, "FRESH_S", 0.0)
    monkeypatch.setattr(debrief_page, "WAIT_S", 0.0)
    monkeypatch.setattr(debrief_page, "REVIEW_BUDGET_S", float("inf"))


@pytest.fixture(autouse=True)
def _no_file_dialog(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail when a file dialog opens. It would wait forever; a test that expects one replaces it."""
    from PySide6.QtWidgets import QFileDialog

    def refuse_dialog(*_: object, **__: object) -> tuple[str, str]:
        raise AssertionError("a file dialog has opened that the test does not answer")

    for name in ("getSaveFileName", "getOpenFileName", "getOpenFileNames"):
        monkeypatch.setattr(QFileDialog, name, refuse_dialog)
