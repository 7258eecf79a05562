"""Tests of large results and pasted texts: the window processes them in slices, and reports omitted parts."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QMimeData, Qt
from PySide6.QtWidgets import QLabel, QPlainTextEdit
from pytestqt.qtbot import QtBot

from app.views.console import results
from app.views.console.outcome import BatchOutcome, Rowset, format_outcome_as_text
from app.views.console.query import ConnectionStatus, QueryWindow, SqlEditor
from app.views.console.results import QueryResults
from app.widgets import highlight
from app.widgets.code_edit import LINE_LENGTH_MAX
from engine import tsql
from engine.messages import Message
from tests.children import find_child


def _build_outcome(*rowsets: Rowset, messages: tuple[Message, ...] = ()) -> BatchOutcome:
    return BatchOutcome("SERVER_A", "SERVER_A", "x", messages, rowsets, 0, 10)


def _build_message(text: str) -> Message:
    return Message(0, 0, 0, 0, text)


@pytest.fixture
def results_view(qtbot: QtBot) -> QueryResults:
    widget = QueryResults()
    qtbot.addWidget(widget)
    return widget


def test_grids_are_built_in_turns_up_to_a_hundred(qtbot: QtBot, results_view: QueryResults) -> None:
    rowset = Rowset(("a",), ((1,),))
    results_view.show_outcome(_build_outcome(*[rowset] * 150))
    assert len(results_view.grids) == results.GRIDS_PER_TURN
    qtbot.waitUntil(lambda: len(results_view.grids) == results.GRIDS_MAX)
    assert results_view.messages.toPlainText() == "Result sets not shown: 50."
    results_view.show_outcome(_build_outcome(rowset))
    assert len(results_view.grids) == 1


def test_a_long_cell_is_truncated_with_a_note(results_view: QueryResults) -> None:
    results_view.show_outcome(_build_outcome(Rowset(("a", "b"), (("x" * 1_000_000, "short"),))))
    (grid,) = results_view.grids
    column, other_column = grid.table.columns
    row = grid.table.rows[0]
    assert len(column.text(row)) == results.CELL_CHARACTERS_MAX + 1
    assert column.tip is not None
    assert column.tip(row) == "1,000,000 characters; only the first 4,000 are shown and copied."
    assert other_column.tip is not None
    assert other_column.tip(row) == ""


@pytest.mark.slow
def test_messages_are_added_in_turns_up_to_a_limit(qtbot: QtBot, results_view: QueryResults) -> None:
    results_view.show_outcome(
        _build_outcome(messages=tuple(_build_message(f"line {n}") for n in range(12_000)))
    )
    pane = results_view.messages
    assert pane.blockCount() == results.MESSAGE_LINES_PER_TURN
    qtbot.waitUntil(lambda: pane.blockCount() == results.MESSAGE_LINES_MAX + 1)
    assert pane.toPlainText().endswith("line 9999\nMessages not shown: 2,000.")


def test_long_messages_share_a_limit(qtbot: QtBot, results_view: QueryResults) -> None:
    results_view.show_outcome(_build_outcome(messages=(_build_message("x" * 8_000),) * 5_000))
    pane = results_view.messages
    qtbot.waitUntil(lambda: "Messages not shown: " in pane.toPlainText())
    assert len(pane.toPlainText()) < results.MESSAGE_CHARACTERS_MAX + 1_000


def test_text_is_formatted_only_when_visible(results_view: QueryResults) -> None:
    results_view.show_outcome(_build_outcome(Rowset(("a",), tuple((n,) for n in range(12_000)))))
    assert all(not text_edit.toPlainText() for text_edit in results_view.findChildren(QPlainTextEdit))
    results_view.show_as_text(True)
    shown_lines = [
        text_edit.toPlainText().splitlines()[2:4] for text_edit in results_view.findChildren(QPlainTextEdit)
    ]
    assert ["0", "1"] in shown_lines


@pytest.mark.parametrize(
    ("outcome", "end"),
    [
        (_build_outcome(Rowset(("a",), tuple((n,) for n in range(4_000)))), "3999\n"),
        (_build_outcome(Rowset(("a", "b"), (("x" * 300, 1),) * 6_000)), "Lines not shown: "),
        (_build_outcome(messages=(_build_message("x"),) * 600), "Messages not shown: 100."),
        (_build_outcome(messages=(_build_message("x\n" * 2_000),) * 100), "Lines not shown: "),
    ],
)
def test_results_to_text_are_limited(outcome: BatchOutcome, end: str) -> None:
    text = format_outcome_as_text(outcome)
    assert end in text[-40:] + "\n"
    assert max(map(len, text.splitlines())) < 300


def test_parsing_runs_in_turns_and_can_be_stopped(qtbot: QtBot) -> None:
    window = QueryWindow("SERVER_A", lambda text, place: [])
    qtbot.addWidget(window)
    window.start_parsing(tsql.check_syntax_in_steps("PRINT 1\n" * 1_000))
    assert window.state == "parsing"
    assert window.is_busy
    window.stop_parsing()
    assert window.state == "cancelled"
    window.start_parsing(tsql.check_syntax_in_steps("PRINT 1\n" * 1_000 + "SELECT FROM"))
    qtbot.waitUntil(lambda: window.state == "failed")
    assert "Line 1001" in window.results.messages.toPlainText()


def test_a_long_text_is_highlighted_after_a_pause(qtbot: QtBot) -> None:
    editor = SqlEditor(lambda text, place: [])
    qtbot.addWidget(editor)
    line = "SELECT 'text' -- comment\n"
    editor.setPlainText(line * (highlight.IMMEDIATE_LENGTH_MAX // len(line) + 100))
    last = editor.document().lastBlock().previous()
    assert last.layout().formats() == []
    qtbot.waitUntil(lambda: len(last.layout().formats()) == 3)
    editor.setPlainText(line)
    assert len(editor.document().firstBlock().layout().formats()) == 3


def test_an_overlong_line_is_not_pasted(qtbot: QtBot) -> None:
    editor = SqlEditor(lambda text, place: [])
    qtbot.addWidget(editor)
    messages: list[str] = []
    editor.message_ready.connect(messages.append)
    long, short = QMimeData(), QMimeData()
    long.setText("PRINT 1\n" + "x" * (LINE_LENGTH_MAX + 1))
    short.setText("\n".join(["x" * LINE_LENGTH_MAX] * 3))
    editor.insertFromMimeData(long)
    assert editor.toPlainText() == ""
    assert messages == [
        "Not inserted: a line has 50,001 characters, but the editor allows 50,000. Split the line."
    ]
    editor.insertFromMimeData(short)
    assert editor.blockCount() == 3


def test_a_database_name_is_not_html(qtbot: QtBot) -> None:
    window = QueryWindow("SERVER_A", lambda text, place: [])
    qtbot.addWidget(window)
    window.show_connection(ConnectionStatus("SERVER_A", 0, 0, login="a", database="<img src='file:///x'>"))
    assert find_child(window, QLabel, "facts").textFormat() == Qt.TextFormat.PlainText
    assert "&lt;img" in find_child(window, QLabel, "facts").toolTip()
