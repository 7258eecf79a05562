"""Tests of the installation check in the Help menu: it runs in a separate process, with an anonymous support
bundle.
"""

from __future__ import annotations

import platform
import zipfile
from pathlib import Path

import pytest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from app.doctor import CheckResult
from app.main_window import diagnostics
from tests.open_window import OpenWindow


def run_checks(
    qtbot: QtBot, window: OpenWindow, monkeypatch: pytest.MonkeyPatch, code: str
) -> dict[str, bool]:
    monkeypatch.setattr(diagnostics, "CHECK_COMMAND_ARGUMENTS", ["-c", code])
    window.actions_by_name["help.check"].trigger()
    assert window.diagnostics.page is not None
    qtbot.waitUntil(lambda: not window.diagnostics.is_busy)
    window.diagnostics.page.close()
    return {line.name: line.is_ok for line in window.diagnostics.page.lines.table.rows}


def test_findings_of_the_check_are_listed(
    qtbot: QtBot, window: OpenWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_results = (
        CheckResult("version", True, "1"),
        CheckResult("fonts", False, "none: get some"),
        CheckResult("profile", True, ""),
    )
    code = "; ".join(f"print({finding.as_line()!r})" for finding in check_results) + "; print('a remark')"
    assert run_checks(qtbot, window, monkeypatch, code) == {"version": True, "fonts": False, "profile": True}
    assert window.diagnostics.findings[1].text == "none: get some"


def test_the_shown_command_is_that_of_the_command_line() -> None:
    assert diagnostics.CHECK_COMMAND_ARGUMENTS == ["-m", "app", "doctor", "--lines"]


def test_a_running_check_ends_with_the_window(
    qtbot: QtBot, window: OpenWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(diagnostics, "CHECK_COMMAND_ARGUMENTS", ["-c", "import time; time.sleep(60)"])
    window.actions_by_name["help.check"].trigger()
    assert window.diagnostics.is_busy
    window.close()
    assert not window.diagnostics.is_busy


def test_the_support_bundle_is_saved_without_names(
    window: OpenWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/gerda")
    monkeypatch.setattr(platform, "node", lambda: "gerdas-laptop")
    file = tmp_path / "b.zip"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(file), ""))
    window.actions_by_name["help.bundle"].trigger()
    with zipfile.ZipFile(file) as bundle:
        assert "findings.txt" in bundle.namelist()
        assert "gerda" not in "".join(bundle.read(name).decode() for name in bundle.namelist()).lower()
    assert "findings.txt" in window.notice.text
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "no" / "b.zip"), ""))
    window.actions_by_name["help.bundle"].trigger()
    assert "cannot be written" in window.notice.text
