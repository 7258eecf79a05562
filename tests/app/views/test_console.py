"""Tests of the SQL windows with real keys: the input lines that they send, and the results that they show."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QLabel, QMenu, QSplitter

from app.views.console import QueryConsole
from app.views.console.outcome import BatchOutcome, build_outcome, format_outcome_as_text, summarize_outcome
from app.views.console.tabs import ClosedWindow
from app.widgets import theme
from engine.events import Event, SqlDoneData
from engine.inputs import Input
from engine.tsql.batches.data import SqlSession, Window
from engine.verbs.input_lines import parse_input_line
from tests.assertions import require
from tests.children import find_child
from tests.events import build_event

NO_MODIFIER = Qt.KeyboardModifier.NoModifier
CTRL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
ALT = Qt.KeyboardModifier.AltModifier
Key = Qt.Key


def build_start_event(window: str, batch: str, tick: int = 1200, number: int = 7) -> Event:
    server = window.partition("#")[0]
    return build_event(tick, "sql", server, None, batch, window=window, batch=number)


def build_end_event(
    window: str, batch: str, messages: Any = (), results: Any = (), ticks: int = 3, number: int = 7
) -> Event:
    server = window.partition("#")[0]
    data: dict[str, Any] = {
        "window": window, "batch": batch, "run": number, "messages": list(messages), "results": list(results),
        "started_tick": 1200, "elapsed_ticks": ticks,
    }  # fmt: skip
    return build_event(1200 + ticks, "sql_done", server, None, "", **data)


def read_outcome(event: Event) -> BatchOutcome:
    assert isinstance(event.data, SqlDoneData)
    return build_outcome(event, event.data)


def build_message(text: str, number: int = 0, severity: int = 0, line: int = 1) -> dict[str, Any]:
    return {"number": number, "severity": severity, "state": 1, "line": line, "text": text}


RESULT_SET = {"columns": ["name", "role"], "rows": [["Sales", 1], ["Orders", None]]}


@pytest.fixture
def console(qtbot: Any, run: Any) -> QueryConsole:
    console = QueryConsole()
    qtbot.addWidget(console)
    console.lines = []  # type: ignore[attr-defined]

    def do(line: str) -> None:
        console.lines.append(line)  # type: ignore[attr-defined]
        run.journal.append(parse_input_line(line, run.tick))

    console.requested.connect(do)
    console.resize(800, 500)
    console.show_drill(run)
    with qtbot.waitActive(console):
        console.show()
        console.activateWindow()
    require(console.front_window).editor.setFocus()
    return console


def parse_last_line(console: Any) -> tuple[str, str]:
    """Return window and batch of the last sent line, parsed by the engine."""
    window, batch = parse_input_line(console.lines[-1]).args
    return window, batch


def show_batch(console: Any, messages: Any = (), results: Any = (), ticks: int = 3) -> None:
    window, batch = parse_last_line(console)
    console.add_events(
        [build_start_event(window, batch), build_end_event(window, batch, messages, results, ticks)]
    )


# --- sending ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "modifiers"),
    [(Key.Key_F5, NO_MODIFIER), (Key.Key_E, CTRL), (Key.Key_E, CTRL | SHIFT), (Key.Key_X, ALT)],
)
def test_run_keys_send_the_whole_text(qtbot: Any, console: Any, key: Key, modifiers: Any) -> None:
    text = "SELECT 1   \n\n  FROM t -- x\nGO\n"
    console.front_window.editor.setPlainText(text)
    qtbot.keyClick(console.front_window.editor, key, modifiers)
    window, batch = parse_last_line(console)
    assert window == "SERVER_A"
    assert [line.rstrip() for line in batch.splitlines()] == ["SELECT 1", "", "  FROM t -- x", "GO"]
    assert console.front_window.is_busy


def test_only_the_selection_runs(qtbot: Any, console: Any) -> None:
    editor = console.front_window.editor
    editor.setPlainText("DROP DATABASE Sales\nSELECT 2\nSELECT 3")
    editor.go_to_line(2)
    qtbot.keyClick(editor, Key.Key_F5)
    assert parse_last_line(console) == ("SERVER_A", "SELECT 2")


def test_an_empty_or_busy_window_sends_nothing(qtbot: Any, console: Any) -> None:
    qtbot.keyClick(console.front_window.editor, Key.Key_F5)
    assert console.lines == []
    console.front_window.editor.setPlainText("WAITFOR DELAY '00:00:10'")
    qtbot.keyClick(console.front_window.editor, Key.Key_F5)
    qtbot.keyClick(console.front_window.editor, Key.Key_F5)
    assert len(console.lines) == 1


def test_cancel_stops_the_batch(qtbot: Any, console: Any) -> None:
    editor = console.front_window.editor
    qtbot.keyClick(editor, Key.Key_Pause, ALT)
    assert console.lines == []
    editor.setPlainText("WAITFOR DELAY '00:00:10'")
    qtbot.keyClick(editor, Key.Key_F5)
    console.add_events([build_start_event(*parse_last_line(console))])
    qtbot.keyClick(editor, Key.Key_Pause, ALT)
    assert console.lines[-1] == "cancel SERVER_A"


def test_escape_does_not_cancel_a_query_as_in_management_studio(qtbot: Any, console: Any) -> None:
    """Escape closes lists and find bars. One more press must not roll back a restore."""
    editor = console.front_window.editor
    editor.setPlainText("WAITFOR DELAY '00:00:10'")
    qtbot.keyClick(editor, Key.Key_F5)
    console.add_events([build_start_event(*parse_last_line(console))])
    lines_before = list(console.lines)
    qtbot.keyClick(editor, Key.Key_Escape)
    assert console.lines == lines_before


def test_a_waiting_batch_shows_simulated_time(qtbot: Any, console: Any, world: Any) -> None:
    console.front_window.editor.setPlainText("WAITFOR DELAY '00:01:10'")
    qtbot.keyClick(console.front_window.editor, Key.Key_F5)
    console.add_events([build_start_event(*parse_last_line(console))])
    world.tick = 1200 + 6500
    console.show_world(world)
    assert "Executing query" in find_child(console.front_window, QLabel, "state").text()
    assert "00:01:05" in find_child(console.front_window, QLabel, "facts").text()
    console.add_events([build_end_event(*parse_last_line(console), ticks=7000)])
    assert "00:01:10" in find_child(console.front_window, QLabel, "facts").text()
    assert not console.front_window.is_busy


def test_parsing_sends_nothing(qtbot: Any, console: Any) -> None:
    editor = console.front_window.editor
    editor.setPlainText("SELECT 1")
    qtbot.keyClick(editor, Key.Key_F5, CTRL)
    assert console.front_window.results.messages.toPlainText() == "Commands completed successfully."
    assert "Parsed without errors" in find_child(console.front_window, QLabel, "state").text()
    editor.setPlainText("SELECT 1\nGO\n\nALTER DATABASE Sales SET PARTNER FALLOVER")
    qtbot.keyClick(editor, Key.Key_F5, CTRL)
    text = console.front_window.results.messages.toPlainText()
    assert text.startswith("Msg 102, Level 15, State 1, Server SERVER_A, Line 2")
    assert "with errors" in find_child(console.front_window, QLabel, "state").text()
    assert console.lines == []


# --- results ------------------------------------------------------------------------------------------------


def test_results_to_text_keep_the_order_of_messages_and_rows() -> None:
    results = [{**RESULT_SET, "after_messages": 1}]
    event = build_end_event(
        "SERVER_A", "x", [build_message("a"), build_message("(2 rows affected)"), build_message("b")], results
    )
    text = format_outcome_as_text(read_outcome(event))
    assert [line for line in text.splitlines() if line] == [
        "a", "name   role", "------ ----", "Sales  1", "Orders NULL", "(2 rows affected)", "b",
    ]  # fmt: skip


def test_rows_open_the_grid(qtbot: Any, console: Any) -> None:
    console.front_window.editor.setPlainText("SELECT 1")
    qtbot.keyClick(console.front_window.editor, Key.Key_F5)
    show_batch(console, [build_message("(2 rows affected)")], [RESULT_SET, {"columns": [""], "rows": []}])
    results = console.front_window.results
    assert results.isVisible()
    assert results.tabText(results.currentIndex()) == "Results"
    first, second = results.grids
    assert [first.table.index(1, column).data() for column in (0, 1)] == ["Orders", "NULL"]
    assert second.table.columns[0].title == "(No column name)"
    assert "2 rows" in find_child(console.front_window, QLabel, "facts").text()
    assert "(2 rows affected)" in results.messages.toPlainText()


def test_errors_open_the_messages_tab_in_red(qtbot: Any, console: Any) -> None:
    console.front_window.editor.setPlainText("USE Sales")
    qtbot.keyClick(console.front_window.editor, Key.Key_F5)
    show_batch(
        console, [build_message("hello"), build_message("Database Sales is enabled.", 955, 14, line=1)]
    )
    results = console.front_window.results
    assert results.tabText(results.currentIndex()) == "Messages"
    assert not results.isTabVisible(0)
    messages = results.messages
    assert messages.toPlainText().splitlines() == [
        "hello",
        "Msg 955, Level 14, State 1, Server SERVER_A, Line 1",
        "Database Sales is enabled.",
    ]
    colors = [
        messages.document().findBlockByNumber(n).begin().fragment().charFormat().foreground().color()
        for n in range(3)
    ]
    tokens = theme.get_theme_tokens(messages.palette())
    assert colors == [tokens.text, tokens.bad, tokens.bad]
    assert "completed with errors" in find_child(console.front_window, QLabel, "state").text()


def test_client_messages_have_no_number(qtbot: Any, console: Any) -> None:
    console.front_window.editor.setPlainText("WAITFOR DELAY '00:10:00'")
    qtbot.keyClick(console.front_window.editor, Key.Key_F5)
    show_batch(console, [build_message("Query was canceled by user.", 0, 11)])
    assert console.front_window.results.messages.toPlainText() == "Query was canceled by user."
    assert "Query was canceled" in find_child(console.front_window, QLabel, "state").text()


def test_double_click_on_an_error_goes_to_its_line(qtbot: Any, console: Any) -> None:
    """Error lines are counted from the start of the executed selection, here line 3."""
    editor = console.front_window.editor
    editor.setPlainText("SELECT 1\nGO\nSELECT 2\nUSE Nowhere\n")
    editor.go_to_line(3)
    cursor = editor.textCursor()
    cursor.movePosition(QTextCursor.MoveOperation.Down, QTextCursor.MoveMode.KeepAnchor)
    cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
    editor.setTextCursor(cursor)
    qtbot.keyClick(editor, Key.Key_F5)
    show_batch(console, [build_message("Database 'Nowhere' does not exist.", 911, 16, line=2)])
    messages = console.front_window.results.messages
    place = messages.cursorRect(QTextCursor(messages.document().findBlockByNumber(1))).center()
    qtbot.mouseDClick(messages.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert editor.textCursor().blockNumber() == 3


def test_results_to_text_can_be_toggled(qtbot: Any, console: Any) -> None:
    editor = console.front_window.editor
    editor.setPlainText("SELECT 1")
    qtbot.keyClick(editor, Key.Key_T, CTRL)
    qtbot.keyClick(editor, Key.Key_F5)
    show_batch(console, [build_message("(2 rows affected)")], [RESULT_SET])
    results = console.front_window.results
    page = results.currentWidget().currentWidget()
    assert page.toPlainText().splitlines() == [
        "name   role",
        "------ ----",
        "Sales  1",
        "Orders NULL",
        "",
        "(2 rows affected)",
    ]
    qtbot.keyClick(editor, Key.Key_D, CTRL)
    assert results.grids[0].isVisible()


def test_ctrl_r_toggles_the_results(qtbot: Any, console: Any) -> None:
    editor = console.front_window.editor
    editor.setPlainText("SELECT 1")
    qtbot.keyClick(editor, Key.Key_F5)
    show_batch(console, results=[RESULT_SET])
    qtbot.keyClick(editor, Key.Key_R, CTRL)
    assert not console.front_window.results.isVisible()
    qtbot.keyClick(editor, Key.Key_R, CTRL)
    assert console.front_window.results.isVisible()
    text, grid = find_child(console.front_window, QSplitter, "split").sizes()
    assert text == pytest.approx(2 / 3 * grid, abs=4), "the query keeps two fifths of the height"


def test_f6_cycles_through_the_panes(qtbot: Any, console: Any) -> None:
    window = console.front_window
    window.editor.setPlainText("SELECT 1")
    qtbot.keyClick(window.editor, Key.Key_F5)
    show_batch(console, [build_message("(2 rows affected)")], [RESULT_SET])
    visited = []
    for _ in range(3):
        qtbot.keyClick(console.focusWidget(), Key.Key_F6)
        visited.append(console.focusWidget())
    assert visited == [window.results.grids[0], window.results.messages, window.editor]


# --- windows ------------------------------------------------------------------------------------------------


def test_every_window_has_a_unique_name(qtbot: Any, console: Any) -> None:
    qtbot.keyClick(console.front_window.editor, Key.Key_N, CTRL)
    console.open_query("SERVER_B")
    qtbot.keyClick(console.front_window.editor, Key.Key_N, CTRL)
    assert list(console.list_drafts()) == ["SERVER_A", "SERVER_A#2", "SERVER_B", "SERVER_B#2"]
    console.tabs.close_window(console.list_windows()[0])
    console.open_query("SERVER_A")
    assert "SERVER_A" in console.list_drafts()


def test_results_reach_the_sending_window(qtbot: Any, console: Any) -> None:
    first = console.front_window
    first.editor.setPlainText("SELECT 1")
    qtbot.keyClick(first.editor, Key.Key_F5)
    line = console.lines[-1]
    second = console.open_query("SERVER_A", "SELECT 2")
    window, batch = parse_input_line(line).args
    console.add_events(
        [build_start_event(window, batch), build_end_event(window, batch, results=[RESULT_SET])]
    )
    assert first.results.grids
    assert not second.results.grids
    assert not first.is_busy


def test_scenario_batches_do_not_appear_in_windows(console: Any) -> None:
    """Batches of the scenario would reveal what happens next."""
    batch = "ALTER DATABASE Sales SET PARTNER SUSPEND"
    console.add_events(
        [build_start_event("SERVER_A", batch), build_end_event("SERVER_A", batch, results=[RESULT_SET])]
    )
    assert not console.front_window.results.grids
    assert console.history.model.total == 0


def test_other_views_have_their_own_connections(console: Any, run: Any) -> None:
    run.journal.append(Input(1200, "sql", ("SERVER_A#monitor", "EXEC msdb.dbo.sp_dbmmonitorupdate")))
    console.add_events([build_start_event("SERVER_A#monitor", "EXEC msdb.dbo.sp_dbmmonitorupdate")])
    assert console.history.model.total == 0


def test_batches_sent_by_other_views_belong_to_the_trainee(console: Any, run: Any) -> None:
    run.journal.append(Input(1200, "sql", ("SERVER_A", "SELECT 1")))
    console.add_events(
        [
            build_start_event("SERVER_A", "SELECT 1"),
            build_end_event("SERVER_A", "SELECT 1", results=[RESULT_SET]),
        ]
    )
    assert console.history.model.total == 1
    assert len(console.front_window.results.grids) == 1


def test_the_status_band_has_the_servers_color(console: Any) -> None:
    tokens = theme.get_theme_tokens(console.palette())
    console.open_query("SERVER_B")
    bands = [find_child(window, QLabel, "band").styleSheet() for window in console.list_windows()]
    assert tokens.get_server_color(0).name() in bands[0]
    assert tokens.get_server_color(1).name() in bands[1]
    assert "SERVER_B" in find_child(console.front_window, QLabel, "band").text()


def test_a_closed_text_can_be_reopened(qtbot: Any, console: Any) -> None:
    console.front_window.editor.setPlainText("SELECT precious")
    qtbot.keyClick(console.front_window.editor, Key.Key_F4, CTRL)
    assert console.list_windows() == []
    find_child(console, QMenu, "new").aboutToShow.emit()
    last = find_child(console, QMenu, "new").actions()[-1]
    assert "SELECT precious" in last.text()
    last.trigger()
    assert console.list_drafts() == {"SERVER_A": "SELECT precious"}


def test_closing_a_busy_window_cancels_the_batch(qtbot: Any, console: Any) -> None:
    console.front_window.editor.setPlainText("WAITFOR DELAY '00:01:00'")
    qtbot.keyClick(console.front_window.editor, Key.Key_F5)
    console.tabs.close_window(console.front_window)
    assert console.lines[-1] == "cancel SERVER_A"


def test_drafts_survive_a_restart(qtbot: Any, console: Any, run: Any) -> None:
    drafts = []
    console.drafts_changed.connect(lambda: drafts.append(console.list_drafts()))
    qtbot.keyClicks(console.front_window.editor, "SELECT")
    assert drafts[-1] == {"SERVER_A": "SELECT"}
    second_console = QueryConsole()
    qtbot.addWidget(second_console)
    second_console.begin_run(run.world, {"SERVER_B#2": "USE Sales", "SERVER_A": "SELECT 1"}, [])
    second_console.show_drill(run)
    assert second_console.list_drafts() == {"SERVER_B#2": "USE Sales", "SERVER_A": "SELECT 1"}


def test_another_time_keeps_texts_and_drops_results(qtbot: Any, console: Any, run: Any) -> None:
    console.front_window.editor.setPlainText("SELECT 1")
    qtbot.keyClick(console.front_window.editor, Key.Key_F5)
    show_batch(console, results=[RESULT_SET])
    qtbot.keyClick(console.front_window.editor, Key.Key_F5)
    console.show_drill(run)
    assert console.list_drafts() == {"SERVER_A": "SELECT 1"}
    assert not console.front_window.results.isVisible()
    assert not console.front_window.is_busy
    assert console.history.model.total == 0


def test_a_run_continued_elsewhere_fills_history_and_windows(console: Any, run: Any) -> None:
    """After a resume, the history has the batches of the trainee and not those of the scenario."""
    run.journal.append(Input(1200, "sql", ("SERVER_A", "SELECT 1")))
    run.events += [
        build_start_event("SERVER_A", "SELECT 1"),
        build_end_event("SERVER_A", "SELECT 1", results=[RESULT_SET]),
        build_start_event("SERVER_A", "ALTER DATABASE Sales SET PARTNER SUSPEND"),
        build_end_event("SERVER_A", "ALTER DATABASE Sales SET PARTNER SUSPEND"),
    ]
    console.show_drill(run)
    assert [batch.text for batch in console.history.model.rows] == ["SELECT 1"]
    assert len(console.front_window.results.grids) == 1


def test_a_refused_line_frees_the_window_and_shows_the_reason(qtbot: Any, console: Any) -> None:
    console.show_refusal("something else was refused")
    console.requested.disconnect()
    console.requested.connect(lambda line: console.show_refusal("the drill has ended"))
    console.front_window.editor.setPlainText("SELECT 1")
    qtbot.keyClick(console.front_window.editor, Key.Key_F5)
    assert not console.front_window.is_busy
    assert console.front_window.results.messages.toPlainText() == "the drill has ended"
    console.show_refusal("something else was refused")
    assert console.front_window.results.messages.toPlainText() == "the drill has ended"


def test_the_status_line_shortens_to_its_width(console: Any) -> None:
    window = console.front_window
    window._parts = ["SERVER_A (9.0)", "CORP\\dba (51)", "Sales", "00:00:05   3 rows"]
    metrics, min_width = (
        find_child(window, QLabel, "facts").fontMetrics(),
        find_child(window, QLabel, "state").sizeHint().width() + 24,
    )
    for shown_text in ("SERVER_A (9.0)   00:00:05   3 rows", "00:00:05   3 rows", "3 rows", ""):
        window.resize(min_width + metrics.horizontalAdvance(shown_text), window.height())
        window._fit_status_values()
        assert find_child(window, QLabel, "facts").text() == shown_text


def test_the_status_line_shows_the_connection(console: Any, run: Any, world: Any) -> None:
    assert "Not connected" in find_child(console.front_window, QLabel, "state").text()
    session = SqlSession(server="SERVER_A", spid=51, login="CORP\\dba", database="Sales")
    world.sessions["SERVER_A"] = Window(session=session)
    console.show_world(world)
    assert "Connected" in find_child(console.front_window, QLabel, "state").text()
    assert find_child(console.front_window, QLabel, "facts").text().split("   ") == [
        "SERVER_A (9.0)",
        "CORP\\dba (51)",
        "Sales",
    ]
    assert "Sales" in find_child(console.front_window, QLabel, "band").text()
    world.sessions["SERVER_A"] = Window()
    console.show_world(world)
    # The client has not detected the loss yet.
    assert "Connected" in find_child(console.front_window, QLabel, "state").text()
    console.front_window.clear_results()
    console.show_world(world)
    assert "Not connected" in find_child(console.front_window, QLabel, "state").text()


def test_a_new_run_has_its_own_windows_and_offers_the_last_texts(qtbot: Any, console: Any, run: Any) -> None:
    console.front_window.editor.setPlainText("DROP DATABASE Sales")
    left = [ClosedWindow("SERVER_A", "DROP DATABASE Sales", "The last drill")]
    console.begin_run(run.world, {"SERVER_B": "SELECT 2", "SERVER_C": "SELECT 3"}, left)
    console.show_drill(run)
    assert console.list_drafts() == {"SERVER_B": "SELECT 2"}, "F5 executes nothing of another run"
    find_child(console, QMenu, "new").aboutToShow.emit()
    assert any("DROP DATABASE" in action.text() for action in find_child(console, QMenu, "new").actions())
    console.tabs.reopen_window(0)
    assert console.front_window.editor.toPlainText() == "DROP DATABASE Sales"


def test_windows_of_removed_servers_close_and_keep_their_texts(console: Any, run: Any, world: Any) -> None:
    console.open_query("SERVER_B", "SELECT 2")
    removed_instance = world.instances.pop("SERVER_B")
    console.show_drill(run)
    assert [window.window_id for window in console.list_windows()] == ["SERVER_A"]
    assert [closed.text for closed in console.tabs.closed] == ["SELECT 2"]
    world.instances["SERVER_B"] = removed_instance


def test_f5_without_a_statement_shows_a_message(qtbot: Any, console: Any) -> None:
    console.front_window.editor.setPlainText("  ")
    qtbot.keyClick(console.front_window.editor, Key.Key_F5)
    assert "nothing to execute" in find_child(console.front_window, QLabel, "state").text()
    console.tabs.close_window(console.front_window)
    with qtbot.waitSignal(console.message_ready, timeout=100) as blocker:
        console.run_front_text()
    assert "No SQL window" in blocker.args[0]


def test_closing_a_tab_focuses_the_next_text(qtbot: Any, console: Any) -> None:
    console.open_query("SERVER_B", "SELECT 2")
    console.front_window.editor.setFocus()
    console.tools["close"].trigger()
    assert console.front_window.window_id == "SERVER_A"
    assert console.front_window.editor.hasFocus()
    console.tabs.change_connection(console.front_window, "SERVER_B")
    assert console.front_window.server == "SERVER_B"
    assert console.front_window.editor.hasFocus()


def test_closing_a_busy_window_asks_first(qtbot: Any, console: Any) -> None:
    console.front_window.editor.setPlainText("WAITFOR DELAY '00:01:00'")
    qtbot.keyClick(console.front_window.editor, Key.Key_F5)
    with qtbot.waitSignal(console.busy_close_wanted, timeout=100) as blocker:
        console.tools["close"].trigger()
    assert blocker.args == [console.front_window]
    assert not any(line.startswith("cancel") for line in console.lines)


def test_the_database_of_a_connection_is_selected_from_a_list(qtbot: Any, console: Any) -> None:
    box = console.front_window.databases
    assert [box.itemText(row) for row in range(box.count())][:1] == ["master"]
    assert "Sales" in [box.itemText(row) for row in range(box.count())]
    box.textActivated.emit("Sales")
    assert console.lines[-1].endswith("USE [Sales]")


def test_a_waiting_query_reports_the_paused_clock(qtbot: Any, console: Any) -> None:
    console.front_window.editor.setPlainText("SELECT 1")
    qtbot.keyClick(console.front_window.editor, Key.Key_F5)
    assert "The clock is paused" not in find_child(console.front_window, QLabel, "state").text()
    console.tabs.show_running(False)
    assert "The clock is paused" in find_child(console.front_window, QLabel, "state").text()
    console.tabs.show_running(True)
    assert "The clock is paused" not in find_child(console.front_window, QLabel, "state").text()


def test_a_tab_is_named_after_its_file(console: Any) -> None:
    console.tabs.show_file_name(console.front_window, "failover.sql")
    assert console.tabs.tabText(0) == "failover.sql – SERVER_A"


def test_execute_is_in_the_text_menu_and_save_in_the_grid_menu(qtbot: Any, console: Any) -> None:
    assert console.tools["run"] in console.front_window.editor.menu_actions
    console.front_window.editor.setPlainText("SELECT 1")
    qtbot.keyClick(console.front_window.editor, Key.Key_F5)
    show_batch(console, results=[RESULT_SET])
    (grid,) = console.front_window.results.grids
    assert console.tools["file"] in grid.actions()


# --- history, snippets --------------------------------------------------------------------------------------


def test_history_shows_outcomes_and_runs_batches_again(qtbot: Any, console: Any) -> None:
    console.resize(60 * console.fontMetrics().height(), 500)  # This width has room for both side by side.
    editor = console.front_window.editor
    for text, messages in (
        ("SELECT 1", [build_message("(1 row affected)")]),
        ("USE Sales\nSELECT 2", [build_message("No quorum.", 955, 14)]),
    ):
        editor.setPlainText(text)
        qtbot.keyClick(editor, Key.Key_F5)
        show_batch(console, messages)
    qtbot.keyClick(editor, Key.Key_H, CTRL | ALT)
    table = console.history.table
    assert console.focusWidget() is table
    rows = [[table.table.index(row, column).data() for column in range(4)] for row in range(2)]
    assert rows == [
        ["0:12", "SERVER_A", "(1 row affected)", "SELECT 1"],
        ["0:12", "SERVER_A", "Msg 955: No quorum.", "USE Sales …"],
    ]
    table.selectRow(1)
    qtbot.keyClick(table, Key.Key_Return, CTRL)
    assert parse_last_line(console) == ("SERVER_A", "USE Sales\nSELECT 2")
    table.selectRow(0)
    qtbot.keyClick(table, Key.Key_Return)
    assert editor.toPlainText() == "SELECT 1"


def test_a_snippet_is_inserted_with_its_placeholders(
    qtbot: Any, console: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from app.views.console import history

    console.front_window.editor.setPlainText("USE master")
    partner = next(
        action
        for menu in console.findChildren(QMenu)
        for action in menu.actions()
        if action.text() == "Partner"
    )
    next(action for action in partner.menu().actions() if action.text() == "Set the timeout").trigger()
    assert [place.name for place in history.list_parameters(console.list_drafts()["SERVER_A"])] == [
        "database",
        "seconds",
    ]

    def fill_dialog(dialog: history.TemplateParametersDialog) -> int:
        dialog.fields["database"].setText("Orders")
        return dialog.DialogCode.Accepted

    monkeypatch.setattr(history.TemplateParametersDialog, "exec", fill_dialog)
    qtbot.keyClick(console.front_window.editor, Key.Key_M, CTRL | SHIFT)
    expected = "USE master\nALTER DATABASE [Orders] SET PARTNER TIMEOUT 10;\n"
    assert console.list_drafts() == {"SERVER_A": expected}


def test_the_history_keeps_no_result_rows() -> None:
    message = {"number": 0, "severity": 0, "state": 1, "line": 1, "text": "printed"}
    error = {"number": 208, "severity": 16, "state": 1, "line": 1, "text": "Invalid object name."}
    data: dict[str, Any] = {
        "window": "SERVER_A",
        "batch": "SELECT 1",
        "elapsed_ticks": 1,
        "messages": [message, message, error],
        "results": [{"columns": ["a"], "rows": [[1], [2]]}],
    }
    outcome = read_outcome(build_event(100, "sql_done", "SERVER_A", None, "", **data))
    summary = summarize_outcome(outcome)
    assert (summary.results, len(summary.messages)) == ((), 2)
    assert (summary.summary, summary.failed, summary.row_count) == (outcome.summary, True, 2)
    fine = summarize_outcome(
        read_outcome(build_event(100, "sql_done", "SERVER_A", None, "", **(data | {"messages": []})))
    )
    assert (fine.summary, fine.failed) == ("2 rows", False)
