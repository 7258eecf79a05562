"""Tests of saving and loading scripts and results of the SQL windows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog

from tests.app.main_window.conftest import WindowUser
from tests.open_window import OpenWindow

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def lab(hands: WindowUser, window: OpenWindow) -> OpenWindow:
    window.select_drill("lab")
    window.brief.start_wanted.emit("lab")
    window.session.pause()
    window.desk.focus_view("console")
    return window


def choose_file(monkeypatch: pytest.MonkeyPatch, dialog_name: str, file: Path, kind: str = "") -> None:
    monkeypatch.setattr(QFileDialog, dialog_name, lambda *_, **__: (str(file), kind))


def test_a_script_is_saved_and_reopened(
    qtbot: Any, lab: OpenWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = lab.console.front_window
    assert window is not None
    window.editor.setPlainText("SELECT 1\n")
    choose_file(monkeypatch, "getSaveFileName", tmp_path / "mine", "Scripts (*.sql)")
    qtbot.keyClick(window.editor, Qt.Key.Key_S, CTRL)
    assert (tmp_path / "mine.sql").read_text(encoding="utf-8") == "SELECT 1\n"
    assert str(tmp_path / "mine.sql") in lab.notice.text
    choose_file(monkeypatch, "getOpenFileName", tmp_path / "mine.sql")
    lab.console.tools["open"].trigger()
    current_query = lab.console.front_window
    assert current_query is not None
    assert current_query is not window
    assert (current_query.server, current_query.editor.toPlainText()) == (window.server, "SELECT 1\n")


def test_a_script_is_dropped_on_the_window_without_a_drill(window: OpenWindow, tmp_path: Path) -> None:
    (tmp_path / "a.sql").write_text("SELECT 1", encoding="utf-8")
    window.open_file(str(tmp_path / "a.sql"))
    assert "Start a drill first" in window.notice.text


def test_results_are_saved_to_a_file(
    qtbot: Any, hands: WindowUser, lab: OpenWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = lab.console.front_window
    assert window is not None
    qtbot.keyClick(window.editor, Qt.Key.Key_F, CTRL | SHIFT)
    assert "Nothing has been executed" in lab.notice.text
    window.editor.setPlainText("SELECT name, NULL AS nothing FROM sys.databases WHERE name = 'Sales'")
    qtbot.keyClick(window.editor, Qt.Key.Key_F5)
    hands.run_frames(1.0, lambda: not window.is_busy)
    for ending, saved_text in ((".csv", "name,nothing\nSales,NULL\n"), (".txt", "(1 row affected)")):
        choose_file(monkeypatch, "getSaveFileName", tmp_path / f"rows{ending}")
        qtbot.keyClick(window.editor, Qt.Key.Key_T, CTRL | SHIFT)
        assert saved_text in (tmp_path / f"rows{ending}").read_text(encoding="utf-8")
    choose_file(monkeypatch, "getSaveFileName", tmp_path / "no folder" / "rows.csv")
    qtbot.keyClick(window.editor, Qt.Key.Key_T, CTRL | SHIFT)
    assert "cannot be written" in lab.notice.text


def test_ctrl_1_shows_connected_sessions_and_ctrl_tab_changes_windows(
    qtbot: Any, hands: WindowUser, lab: OpenWindow
) -> None:
    first = lab.console.front_window
    assert first is not None
    first.editor.setPlainText("my text")
    qtbot.keyClick(first.editor, Qt.Key.Key_1, CTRL)
    lab.session.play()  # 1,000 sessions take their time on the network
    hands.run_frames(5.0, lambda: not first.is_busy)
    assert first.results.outcome is not None
    assert "spid" in first.results.outcome.results[0].columns
    assert first.editor.toPlainText() == "my text"
    second = lab.console.open_query("SERVER_B")
    assert second is not None
    qtbot.keyClick(second.editor, Qt.Key.Key_Tab, CTRL)
    assert lab.console.front_window is first
    assert second.editor.toPlainText() == ""


def test_rows_of_a_log_are_saved_to_a_file(
    hands: WindowUser, lab: OpenWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace: Any = lab.desk.get_view("trace")
    lab.desk.focus_view("trace")  # no mirroring state has changed yet
    next(act for act in trace.table.actions() if act.text().startswith("Save these rows")).trigger()
    assert lab.notice.text == "No rows to save."
    log: Any = lab.desk.get_view("error_log")
    lab.desk.focus_view("error_log")
    save = next(action for action in log.table.actions() if action.text().startswith("Save these rows"))
    lab.session.apply_input("power-off SERVER_B")
    lab.session.play()
    hands.run_frames(20.0)
    choose_file(monkeypatch, "getSaveFileName", tmp_path / "log.csv", "Values (*.csv)")
    save.trigger()
    lines = (tmp_path / "log.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "Date,Source,Message"
    assert len(lines) == 1 + log.model.rowCount()
    assert any("1474" in line for line in lines)
