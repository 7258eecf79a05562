"""Tests of the T-SQL editor with real keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QApplication, QListView

from app.views.console.query import SqlEditor
from app.widgets import theme

CTRL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
Key = Qt.Key


def list_completions(text: str, position: int) -> Sequence[str]:
    return ["SELECT", "SET", "SERVER_A", "sys.databases"]


@pytest.fixture
def editor(qtbot: Any) -> SqlEditor:
    editor = SqlEditor(list_completions)
    qtbot.addWidget(editor)
    editor.resize(400, 200)
    with qtbot.waitActive(editor):
        editor.show()
        editor.activateWindow()
    editor.setFocus()
    return editor


def select_all(editor: SqlEditor) -> None:
    cursor = editor.textCursor()
    cursor.select(QTextCursor.SelectionType.Document)
    editor.setTextCursor(cursor)


@pytest.mark.parametrize("second", [CTRL, Qt.KeyboardModifier.NoModifier])
def test_chords_comment_and_uncomment_lines(qtbot: Any, editor: SqlEditor, second: Any) -> None:
    messages: list[str] = []
    editor.message_ready.connect(messages.append)
    editor.setPlainText("USE Sales\n\n  SELECT 1")
    select_all(editor)
    qtbot.keyClick(editor, Key.Key_K, CTRL)
    assert "Ctrl+K" in messages[-1]
    qtbot.keyClick(editor, Key.Key_C, second)
    assert editor.toPlainText() == "--USE Sales\n\n--  SELECT 1"
    assert messages[-1] == ""
    qtbot.keyClick(editor, Key.Key_K, CTRL)
    qtbot.keyClick(editor, Key.Key_U, second)
    assert editor.toPlainText() == "USE Sales\n\n  SELECT 1"


def test_an_unknown_chord_types_nothing(qtbot: Any, editor: SqlEditor) -> None:
    qtbot.keyClick(editor, Key.Key_K, CTRL)
    qtbot.keyClick(editor, Key.Key_X)
    qtbot.keyClick(editor, Key.Key_Y)
    assert editor.toPlainText() == "y"


def test_keys_change_to_upper_and_lower_case(qtbot: Any, editor: SqlEditor) -> None:
    editor.setPlainText("select Sales")
    select_all(editor)
    qtbot.keyClick(editor, Key.Key_U, CTRL | SHIFT)
    assert editor.toPlainText() == "SELECT SALES"
    qtbot.keyClick(editor, Key.Key_L, CTRL | SHIFT)
    assert editor.toPlainText() == "select sales"


def test_tab_indents_and_shift_tab_unindents_lines(qtbot: Any, editor: SqlEditor) -> None:
    editor.setPlainText("a\nb")
    select_all(editor)
    qtbot.keyClick(editor, Key.Key_Tab)
    assert editor.toPlainText() == "    a\n    b"
    qtbot.keyClick(editor, Key.Key_Backtab, SHIFT)
    assert editor.toPlainText() == "a\nb"


def test_a_new_line_keeps_the_indentation(qtbot: Any, editor: SqlEditor) -> None:
    qtbot.keyClicks(editor, "  a")
    qtbot.keyClick(editor, Key.Key_Return)
    qtbot.keyClicks(editor, "b")
    assert editor.toPlainText() == "  a\n  b"


def test_one_undo_removes_a_comment(qtbot: Any, editor: SqlEditor) -> None:
    editor.setPlainText("a\nb")
    select_all(editor)
    qtbot.keyClick(editor, Key.Key_K, CTRL)
    qtbot.keyClick(editor, Key.Key_C, CTRL)
    qtbot.keyClick(editor, Key.Key_Z, CTRL)
    assert editor.toPlainText() == "a\nb"


def find_popups() -> list[QListView]:
    """Return the visible lists of completions."""
    return [
        list_view
        for list_view in QApplication.allWidgets()
        if isinstance(list_view, QListView) and list_view.isVisible()
    ]


@pytest.mark.qt_log_ignore("This plugin does not support")  # The offscreen plugin cannot grab the keyboard.
def test_completion_narrows_while_typing_and_enter_accepts(qtbot: Any, editor: SqlEditor) -> None:
    qtbot.keyClicks(editor, "se")
    qtbot.keyClick(editor, Key.Key_Space, CTRL)
    (popup,) = find_popups()
    assert popup.isVisible()
    assert popup.model().rowCount() == 3
    qtbot.keyClicks(popup, "r")
    assert popup.model().rowCount() == 1
    qtbot.keyClick(popup, Key.Key_Return)
    assert editor.toPlainText() == "SERVER_A"
    assert not popup.isVisible()


def test_a_single_completion_is_inserted_at_once(qtbot: Any, editor: SqlEditor) -> None:
    qtbot.keyClicks(editor, "USE sel")
    qtbot.keyClick(editor, Key.Key_Space, CTRL)
    assert editor.toPlainText() == "USE SELECT"
    assert find_popups() == []


def test_comments_over_several_lines_are_highlighted(qtbot: Any, editor: SqlEditor) -> None:
    def read_line_colors(line: int) -> dict[str, str]:
        block = editor.document().findBlockByNumber(line)
        return {
            block.text()[f.start : f.start + f.length]: f.format.foreground().color().name()
            for f in block.layout().formats()
        }

    colors = theme.get_theme_tokens(editor.palette())
    editor.setPlainText("SET PARTNER 'x' 12\nSELECT name FROM sys.database_mirroring\n*/ GO")
    assert read_line_colors(0) == {
        "SET": colors.keyword.name(),
        "PARTNER": colors.keyword.name(),
        "'x'": colors.string.name(),
        "12": colors.number.name(),
    }
    assert set(read_line_colors(1)) == {"SELECT", "FROM"}
    cursor = QTextCursor(editor.document().findBlockByNumber(0))
    cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock)
    cursor.insertText(" /* open")
    comment = colors.comment.name()
    assert read_line_colors(1) == {"SELECT name FROM sys.database_mirroring": comment}
    assert read_line_colors(2) == {"*/": comment, "GO": colors.keyword.name()}


def test_the_margin_fits_the_line_numbers(editor: SqlEditor) -> None:
    narrow = editor.viewportMargins().left()
    editor.setPlainText("\n" * 1500)
    assert editor.viewportMargins().left() > narrow
