"""Tests of the command line in the window: results of `sql` and `ps` appear in a tab."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QMenu

from tests.app.main_window.conftest import WindowUser
from tests.app.main_window.test_context_menus import start_drill
from tests.children import find_child

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


def type_line(hands: WindowUser, line: str) -> None:
    input_line = hands.window.input_line
    input_line.setFocus()
    input_line.setText(line)
    hands.press_key(Qt.Key.Key_Return, target=input_line)
    hands.run_frames(1.0)


def test_a_result_opens_a_tab(hands: WindowUser) -> None:
    start_drill(hands, "lab")
    type_line(hands, "sql SERVER_B SELECT @@SERVERNAME AS here")
    window = hands.window.console.front_window
    assert window.window_id == "SERVER_B"
    assert window.results.grids[0].table.index(0, 0).data() == "SERVER_B"
    assert hands.window.input_line.hasFocus()


def test_an_error_shows_in_the_current_tab_and_keeps_the_text(hands: WindowUser) -> None:
    start_drill(hands, "lab")
    query = hands.window.console.open_query("SERVER_B", "-- mine")
    hands.window.console.tabs.setCurrentIndex(0)
    type_line(hands, "sql SERVER_B ALTER DATABASE Sales SET PARTNER FAILOVER")
    assert hands.window.console.front_window is query
    assert query.results.messages.toPlainText().startswith("Msg ")
    assert query.editor.toPlainText() == "-- mine"


def test_a_refused_line_shows_the_reason(hands: WindowUser) -> None:
    start_drill(hands, "ag-lab")
    type_line(hands, "power-off NODE_2")
    type_line(hands, "ps NODE_2 Get-ClusterNode")
    assert "NODE_2 is off" in hands.window.notice.text


def test_powershell_output_appears_in_its_tab(hands: WindowUser) -> None:
    start_drill(hands, "ag-lab")
    type_line(hands, "ps NODE_2 Get-ClusterNode")
    shell = hands.window.console.tabs.front_shell
    assert shell.server == "NODE_2"
    text = shell.transcript.toPlainText()
    assert "PS C:\\> Get-ClusterNode" in text
    assert "NODE_3" in text


def test_the_menu_of_new_queries_opens_a_powershell_tab(hands: WindowUser) -> None:
    start_drill(hands, "ag-lab")
    console = hands.window.console
    find_child(console, QMenu, "new").aboutToShow.emit()
    next(
        a for a in find_child(console, QMenu, "new").actions() if a.text() == "PowerShell on NODE_3"
    ).trigger()
    shell = console.tabs.front_shell
    shell.line.setText("Get-ClusterGroup")
    hands.press_key(Qt.Key.Key_Return, target=shell.line)
    hands.run_frames(0.5)
    assert "AG1" in shell.transcript.toPlainText()
    hands.press_key(Qt.Key.Key_Up, target=shell.line)
    assert shell.line.text() == "Get-ClusterGroup"
    shell.line.setText("Get-Nonsense")
    console.tools["run"].trigger()
    hands.run_frames(0.5)
    assert "Get-Nonsense" in shell.transcript.toPlainText()
    console.tools["close"].trigger()
    assert console.tabs.list_shells() == []


def test_a_drill_without_a_cluster_has_no_powershell(hands: WindowUser) -> None:
    start_drill(hands, "lab")
    find_child(hands.window.console, QMenu, "new").aboutToShow.emit()
    assert not [
        a for a in find_child(hands.window.console, QMenu, "new").actions() if "PowerShell" in a.text()
    ]


def test_the_example_of_the_command_line_is_harmless(hands: WindowUser) -> None:
    start_drill(hands, "ag-lab")
    assert "power-off" not in hands.window.input_line.placeholderText()
    assert "sql NODE_1" in hands.window.input_line.placeholderText()


def test_the_command_line_grows_with_the_text(hands: WindowUser) -> None:
    start_drill(hands, "lab")
    line = hands.window.input_line
    width = line.maximumWidth()
    hands.window.appearance.set_font_scale(1.5)
    assert line.maximumWidth() > 1.3 * width
    hands.window.resize(700, 600)
    QApplication.processEvents()
    text = line.placeholderText()
    assert text.startswith("Type a command")
    assert line.fontMetrics().horizontalAdvance(text) < line.width()
    hands.window.appearance.set_font_scale(1.0)
    assert line.maximumWidth() == width


def test_long_facts_leave_room_for_the_command_line(hands: WindowUser) -> None:
    start_drill(hands, "lab")
    window = hands.window
    window.resize(900, 600)
    window.run_facts.setText("seat 7 of the class, not connected, recording on this computer " * 6)
    QApplication.processEvents()
    assert window.width() == 900
    assert window.input_line.width() > 300
    assert window.input_line.geometry().right() < window.run_facts.geometry().left()


def test_an_unknown_command_names_no_key(hands: WindowUser) -> None:
    start_drill(hands, "lab")
    type_line(hands, "fly")
    assert hands.window.notice.text == "Unknown command 'fly'."
