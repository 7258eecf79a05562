"""Tests of the SQL windows connected to a real simulated server."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QKeyCombination, Qt
from PySide6.QtGui import QGuiApplication, QTextCursor
from PySide6.QtWidgets import QLabel, QMenu

from app.views.console import QueryConsole
from app.views.console.outcome import BatchOutcome, list_message_lines
from app.views.console.tabs import ConsoleToolBar
from engine import simulator
from engine.messages import Message
from engine.verbs.input_lines import parse_input_line
from tests.app.views.fakes import FakeRun
from tests.children import find_child
from tests.engine.worlds import build_lab


@pytest.fixture
def console(qtbot: Any) -> QueryConsole:
    """Return a console on the lab that applies lines immediately."""
    world = build_lab()
    console = QueryConsole()
    qtbot.addWidget(console)

    course = FakeRun(world)

    def do(line: str) -> None:
        item = parse_input_line(line, world.tick)
        simulator.apply_input(world, item)
        course.journal.append(item)
        console.add_events(simulator.advance_world(world, world.tick))

    console.requested.connect(do)
    console.resize(800, 500)
    console.world = world  # type: ignore[attr-defined]
    console.show_drill(course)  # type: ignore[arg-type]
    with qtbot.waitActive(console):
        console.show()
        console.activateWindow()
    return console


def run_batch(qtbot: Any, console: Any, text: str) -> Any:
    window = console.front_window
    window.editor.setPlainText(text)
    qtbot.keyClick(window.editor, Qt.Key.Key_F5)
    console.show_world(console.world)
    return window


def advance_world(console: Any, seconds: float) -> None:
    world = console.world
    console.add_events(simulator.advance_world(world, world.tick + round(100 * seconds)))
    console.show_world(world)


def test_a_catalog_view_fills_the_grid(qtbot: Any, console: Any) -> None:
    columns = "SELECT mirroring_role_desc, mirroring_state_desc"
    rows = "FROM sys.database_mirroring WHERE mirroring_guid IS NOT NULL"
    window = run_batch(qtbot, console, f"USE master\nGO\n{columns}\n{rows}")
    grid = window.results.grids[0]
    assert [grid.table.index(0, column).data() for column in (0, 1)] == ["PRINCIPAL", "SYNCHRONIZED"]
    assert "dba (51)" in find_child(window, QLabel, "facts").text()
    assert "executed successfully" in find_child(window, QLabel, "state").text()


def test_alt_f1_describes_the_selected_name(qtbot: Any, console: Any) -> None:
    editor = console.front_window.editor
    editor.setPlainText("SELECT * FROM sys.database_mirroring_witnesses")
    cursor = editor.textCursor()
    cursor.setPosition(len("SELECT * FROM "))
    cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
    editor.setTextCursor(cursor)
    qtbot.keyClick(editor, Qt.Key.Key_F1, Qt.KeyboardModifier.AltModifier)
    head, columns, *_ = console.front_window.results.grids
    assert head.table.index(0, 0).data() == "database_mirroring_witnesses"
    assert columns.table.index(0, 0).data() == "database_name"
    assert editor.toPlainText().startswith("SELECT"), "the text stays"


@pytest.mark.qt_log_ignore("This plugin does not support")  # the offscreen plugin cannot grab the keyboard
def test_a_window_moves_to_another_server_with_its_text(qtbot: Any, console: Any) -> None:
    run_batch(qtbot, console, "SELECT @@SERVERNAME")
    console.open_query("SERVER_W")
    console.tabs.setCurrentIndex(0)
    first = console.front_window.editor
    for key in (Qt.Key.Key_Home, Qt.Key.Key_Right):
        qtbot.keyClick(first, key)
    qtbot.keyClick(first, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    console.tools["connection"].trigger()
    to_b = next(
        action for action in find_child(console, QMenu, "servers").actions() if action.text() == "SERVER_B"
    )
    find_child(console, QMenu, "servers").hide()
    to_b.trigger()
    assert [window.server for window in console.list_windows()] == ["SERVER_B", "SERVER_W"]
    assert console.front_window.editor.toPlainText() == "SELECT @@SERVERNAME"
    assert console.tabs.closed == [], "it has gone on, nothing is lost"
    assert console.front_window.editor.get_selected_text() == "E", "what was selected is"
    console.front_window.editor.moveCursor(QTextCursor.MoveOperation.End)
    qtbot.keyClick(console.front_window.editor, Qt.Key.Key_F5)
    assert console.front_window.results.grids[0].table.index(0, 0).data() == "SERVER_B"


def test_waitfor_uses_simulated_time_and_can_be_canceled(qtbot: Any, console: Any) -> None:
    window = run_batch(qtbot, console, "WAITFOR DELAY '00:00:20'\nPRINT 'late'")
    assert window.is_busy
    advance_world(console, 5)
    assert "00:00:05" in find_child(window, QLabel, "facts").text()
    qtbot.keyClick(window.editor, Qt.Key.Key_Pause, Qt.KeyboardModifier.AltModifier)
    assert not window.is_busy
    assert "cancelled" in window.results.messages.toPlainText()
    assert "late" not in window.results.messages.toPlainText()


def test_the_mirror_refuses_with_a_message(qtbot: Any, console: Any) -> None:
    console.open_query("SERVER_B")
    window = run_batch(qtbot, console, "USE Sales")
    assert window.results.messages.toPlainText().startswith(
        "Msg 954, Level 14, State 1, Server SERVER_B, Line 1"
    )


def test_a_connection_ends_with_its_server(qtbot: Any, console: Any) -> None:
    window = run_batch(qtbot, console, "SELECT 1")
    assert "dba" in find_child(window, QLabel, "facts").text()
    simulator.apply_input(console.world, parse_input_line("power-off SERVER_A"))
    advance_world(console, 1)
    # as in reality, the client has not noticed it yet
    assert "dba" in find_child(window, QLabel, "facts").text()
    run_batch(qtbot, console, "SELECT 1")
    assert "completed with errors" in find_child(window, QLabel, "state").text()
    assert "dba" not in find_child(window, QLabel, "facts").text()
    simulator.apply_input(console.world, parse_input_line("power-on SERVER_A"))
    advance_world(console, 200)
    run_batch(qtbot, console, "SELECT 1")
    assert "executed successfully" in find_child(window, QLabel, "state").text()
    assert "dba" in find_child(window, QLabel, "facts").text()


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("ALTER DATABASE Sales SET PARTNER FAI", "FAILOVER"),
        ("SELECT * FROM sys.database_mirroring_w", "database_mirroring_witnesses"),
        ("ALTER DATABASE Sales SET PARTNER = 'TCP://SERVER_B", "SERVER_B:5022'"),
        ("RESTORE DATABASE Sales WITH NOR", "NORECOVERY"),
        ("BACKUP LOG Sales TO DISK = 'D:\\a.trn' WITH INIT, NO_T", "NO_TRUNCATE"),
    ],
)
def test_completion_uses_grammar_and_catalog(qtbot: Any, console: Any, typed: str, offered: str) -> None:
    editor = console.front_window.editor
    editor.setFocus()
    qtbot.keyClicks(editor, typed)
    qtbot.keyClick(editor, Qt.Key.Key_Space, Qt.KeyboardModifier.ControlModifier)
    assert editor.toPlainText().endswith(offered)


def test_panes_are_cycled_forwards_and_backwards(qtbot: Any, console: Any) -> None:
    window = run_batch(qtbot, console, "SELECT 1 AS one")
    grid, messages, editor = window.results.grids[0], window.results.messages, window.editor
    for stop in (editor, grid, messages, editor):  # nothing has the focus at first
        qtbot.keyClick(console.focusWidget(), Qt.Key.Key_F6)
        assert stop.hasFocus()
    for stop in (messages, grid, editor):
        qtbot.keyClick(console.focusWidget(), Qt.Key.Key_F6, Qt.KeyboardModifier.ShiftModifier)
        assert stop.hasFocus()
    qtbot.keyClick(editor, Qt.Key.Key_F6)
    modifiers = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    qtbot.keyClick(grid, Qt.Key.Key_C, modifiers)
    assert QGuiApplication.clipboard().text() == "one\n1", "the cell under the keyboard is selected"


def test_the_focus_moves_only_when_its_pane_closes(qtbot: Any, console: Any) -> None:
    window = run_batch(qtbot, console, "SELECT 1 AS one")
    window.databases.setFocus()
    window.toggle_results()
    assert window.databases.hasFocus()
    window.toggle_results()
    window.results.grids[0].setFocus()
    run_batch(qtbot, console, "SELECT 2 AS two")
    assert window.results.grids[0].hasFocus(), "the new grid in the place of the old one"
    window.toggle_results()
    assert window.editor.hasFocus()
    second_query = console.open_query("SERVER_B")
    console.tabs.setCurrentWidget(window)
    window.databases.setFocus()
    console.tabs.close_window(second_query)
    assert window.databases.hasFocus()


def test_keys_without_effect_show_a_message(qtbot: Any, console: Any) -> None:
    window, ctrl = console.front_window, Qt.KeyboardModifier.ControlModifier
    window.editor.setPlainText("    SELECT 1")
    qtbot.keyClick(window.editor, Qt.Key.Key_M, ctrl | Qt.KeyboardModifier.ShiftModifier)
    assert "no template parameters" in find_child(window, QLabel, "state").text()
    qtbot.keyClick(window.editor, Qt.Key.Key_K, ctrl)
    qtbot.keyClick(window.editor, Qt.Key.Key_X, ctrl)
    assert "(Ctrl+K, Ctrl+X) is not a command" in find_child(window, QLabel, "state").text()
    console.open_query("SERVER_B")
    qtbot.keyClick(console.front_window.editor, Qt.Key.Key_Backtab, ctrl | Qt.KeyboardModifier.ShiftModifier)
    assert console.front_window is window
    assert window.editor.toPlainText() == "    SELECT 1", "the window before, and nothing is moved out"


def test_raiserror_output_follows_an_error() -> None:
    """Management Studio prints only the text for severities 0 and 10. For 1 to 9 it also prints number and
    level.
    """
    messages = tuple(Message(50000, severity, 1, 1, "text") for severity in (5, 10, 11))
    lines = list(list_message_lines(BatchOutcome("SERVER_A", "SERVER_A", "", messages, (), 0, 0)))
    assert lines == [
        ("text\nMsg 50000, Level 5, State 1", None, None),
        ("text", None, None),
        ("Msg 50000, Level 11, State 1, Server SERVER_A, Line 1\ntext", "bad", 1),
    ]


def test_enter_on_an_error_goes_to_its_line(qtbot: Any, console: Any) -> None:
    window = run_batch(qtbot, console, "PRINT 'a'\n\nSELECT * FROM nowhere")
    messages = window.results.messages
    messages.setFocus()
    qtbot.keyClick(messages, Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClick(messages, Qt.Key.Key_Return)
    assert window.editor.textCursor().blockNumber() + 1 == 3
    assert window.editor.hasFocus()


@pytest.mark.parametrize("key", [Qt.Key.Key_F5, Qt.Key.Key_F5 | Qt.KeyboardModifier.ControlModifier])
def test_a_double_click_goes_to_the_line_in_any_batch(qtbot: Any, console: Any, key: Any) -> None:
    """Messages count lines from the start of their batch, as in Management Studio."""
    window = console.front_window
    misspelled_sql = "ALTER DATABASE Sales SET PARTNER FAILOVR"
    window.editor.setPlainText(
        f"-- checks\nPRINT 'a'\nGO\n:setvar x 1\nPRINT 'b'\n{misspelled_sql}\nGO\nPRINT 'c'"
    )
    pressed = QKeyCombination(key) if isinstance(key, Qt.Key) else key
    qtbot.keyClick(window.editor, pressed.key(), pressed.keyboardModifiers())
    messages = window.results.messages
    block = next(b for n in range(9) if "Msg" in (b := messages.document().findBlockByNumber(n)).text())
    assert block.text().endswith("Line 3")
    place = messages.cursorRect(QTextCursor(block)).center()
    qtbot.mouseDClick(messages.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert window.editor.textCursor().selectedText() == misspelled_sql


def test_the_end_of_a_batch_is_announced(qtbot: Any, console: Any) -> None:
    announcements: list[str] = []
    console.front_window.announcement_ready.connect(announcements.append)
    run_batch(qtbot, console, "SELECT 1 AS one UNION SELECT 2")
    run_batch(qtbot, console, "SELECT * FROM nowhere")
    assert announcements[0] == "Query executed successfully. 2 rows"
    assert announcements[1].startswith("Query completed with errors. Msg 208: Invalid object name")


def test_esc_closes_the_history_even_during_a_query(qtbot: Any, console: Any) -> None:
    modifiers = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
    window = run_batch(qtbot, console, "WAITFOR DELAY '00:00:20'")
    qtbot.keyClick(window.editor, Qt.Key.Key_H, modifiers)
    assert console.history.table.hasFocus()
    qtbot.keyClick(console.history.table, Qt.Key.Key_Escape)
    assert not console.history.isVisible()
    assert window.is_busy
    qtbot.keyClick(window.editor, Qt.Key.Key_Pause, Qt.KeyboardModifier.AltModifier)
    assert not window.is_busy


def test_in_a_narrow_dock_the_history_replaces_the_windows(qtbot: Any, console: Any) -> None:
    window = run_batch(qtbot, console, "SELECT 1 AS one")
    modifiers = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
    console.resize(616, 300)
    qtbot.keyClick(window.editor, Qt.Key.Key_H, modifiers)
    assert console.history.isVisible()
    assert not console.tabs.isVisible()
    assert console.width() == 616
    console.history.table.selectRow(0)
    qtbot.keyClick(console.history.table, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert console.tabs.isVisible()
    assert console.history.model.rowCount() == 2
    qtbot.keyClick(window.editor, Qt.Key.Key_H, modifiers)
    qtbot.keyClick(console.history.table, Qt.Key.Key_Escape)
    assert console.tabs.isVisible()
    assert not console.history.isVisible()
    assert window.editor.hasFocus()
    console.resize(1300, 300)
    qtbot.keyClick(window.editor, Qt.Key.Key_H, modifiers)
    assert console.tabs.isVisible()
    assert console.history.isVisible()


def test_the_status_line_is_complete_on_a_small_screen(qtbot: Any, console: Any) -> None:
    window = run_batch(qtbot, console, "SELECT name FROM sys.databases")
    console.resize(616, 300)  # the size of the panel on the desk at 1366x768
    facts = find_child(window, QLabel, "facts").text()
    assert all(part in facts for part in ("SERVER_A (9.0)", "dba (51)", "master", "00:00:00", "row"))


def test_buttons_without_room_move_into_a_menu_and_tabs_stay_readable(qtbot: Any, console: Any) -> None:
    bar = find_child(console, ConsoleToolBar)
    assert bar.more.isHidden()
    console.resize(330, 300)
    assert not bar.more.isHidden()
    assert bar.buttons["run"].isVisible()
    menu = bar.more.menu()
    menu.aboutToShow.emit()
    assert console.tools["text"] in menu.actions()
    rect = console.tabs.tabBar().tabRect(0)
    assert rect.right() < bar.x()
    console.resize(800, 300)
    assert bar.more.isHidden()
    assert bar.new.text() == "New query ▾"
    bar.shrink_to(0)
    assert bar.new.text() == "+ ▾"
    button_names = [name for name, button in bar.buttons.items() if not button.isHidden()]
    assert button_names == ["run", "cancel"], "what is left at twice the text size on a small desk"


@pytest.mark.parametrize("shows_waits", [True, False])
def test_a_blocked_batch_names_its_blocking_session(qtbot: Any, console: Any, shows_waits: bool) -> None:
    """In an exam, only the view sys.dm_exec_requests names the blocking session."""
    run_batch(
        qtbot, console, "USE Sales CREATE TABLE t (i int) INSERT t VALUES (1) BEGIN TRAN UPDATE t SET i = 2"
    )
    advance_world(console, 1.0)
    first = console.front_window
    blocker = console.world.sessions[first.window_id].session.spid
    console.tabs.show_waits(shows_waits)
    console.open_query("SERVER_A")
    run_batch(qtbot, console, "USE Sales SELECT * FROM t")
    advance_world(console, 1.0)
    assert (
        f"Blocked by session {blocker}." in find_child(console.front_window, QLabel, "state").text()
    ) is shows_waits
    assert ("Executing query…" in find_child(console.front_window, QLabel, "state").text()) is not shows_waits
