"""Tests of find and replace in an editor, by keys."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QPushButton, QToolButton

from app.views.console.query import create_sql_highlighter
from app.widgets import find_bar
from app.widgets.code_edit import CodeEditor
from app.widgets.scroll_container import wrap_in_scroll_area

Key = Qt.Key
CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
TEXT = "SELECT name\nFROM sys.databases\n-- Name of it, and name\n"


@pytest.fixture
def editor(qtbot: Any) -> CodeEditor:
    editor = CodeEditor(lambda text, position: [], create_sql_highlighter)
    qtbot.addWidget(editor)
    editor.resize(700, 300)
    with qtbot.waitActive(editor):
        editor.show()
        editor.activateWindow()
    editor.setPlainText(TEXT)
    editor.setFocus()
    return editor


def get_line(editor: CodeEditor) -> int:
    return editor.textCursor().blockNumber() + 1


def test_typing_goes_to_the_first_match_and_keys_to_the_others(qtbot: Any, editor: CodeEditor) -> None:
    qtbot.keyClick(editor, Key.Key_F, CTRL)
    bar = editor.find_bar
    assert bar.isVisible()
    assert bar.search_field.hasFocus()
    qtbot.keyClicks(bar.search_field, "name")
    assert (get_line(editor), bar.match_number.text()) == (1, "1 of 3")
    qtbot.keyClick(bar.search_field, Key.Key_Return)
    assert (get_line(editor), bar.match_number.text()) == (3, "2 of 3")
    qtbot.keyClick(bar.search_field, Key.Key_F3)
    assert bar.match_number.text() == "3 of 3"
    qtbot.keyClick(bar.search_field, Key.Key_F3)
    assert (get_line(editor), bar.match_number.text()) == (1, "1 of 3")
    qtbot.keyClick(bar.search_field, Key.Key_Return, SHIFT)
    assert bar.match_number.text() == "3 of 3"
    qtbot.keyClick(bar.search_field, Key.Key_Escape)
    assert not bar.isVisible()
    assert editor.hasFocus()
    assert editor.get_selected_text() == "name"
    qtbot.keyClick(editor, Key.Key_F3)
    assert (get_line(editor), editor.get_selected_text()) == (1, "name")


def test_the_selection_is_searched_and_case_can_matter(qtbot: Any, editor: CodeEditor) -> None:
    cursor = editor.textCursor()
    cursor.setPosition(TEXT.index("Name"))
    cursor.setPosition(TEXT.index("Name") + 4, cursor.MoveMode.KeepAnchor)
    editor.setTextCursor(cursor)
    qtbot.keyClick(editor, Key.Key_F, CTRL)
    bar = editor.find_bar
    assert (bar.search_field.text(), bar.match_number.text()) == ("Name", "2 of 3")
    (case,) = [tool for tool in bar.findChildren(QToolButton) if tool.isCheckable()]
    qtbot.mouseClick(case, Qt.MouseButton.LeftButton)
    assert bar.match_number.text() == "1 of 1"
    bar.search_field.selectAll()
    qtbot.keyClicks(bar.search_field, "nothing")
    assert bar.match_number.text() == "no match"


def test_matches_after_surrogate_pairs_are_located(qtbot: Any, editor: CodeEditor) -> None:
    editor.setPlainText("-- \U0001f600\U0001f600 x\nx\nx")
    qtbot.keyClick(editor, Key.Key_F, CTRL)
    qtbot.keyClicks(editor.find_bar.search_field, "x")
    qtbot.keyClick(editor.find_bar.search_field, Key.Key_F3)
    assert (get_line(editor), editor.find_bar.match_number.text()) == (2, "2 of 3")


def test_one_match_and_all_are_replaced_and_undone(qtbot: Any, editor: CodeEditor) -> None:
    qtbot.keyClick(editor, Key.Key_H, CTRL)
    bar = editor.find_bar
    qtbot.keyClicks(bar.search_field, "name")
    bar.with_.setFocus()
    # The replacement is inserted as text, although it looks like a pattern.
    qtbot.keyClicks(bar.with_, r"\1")
    qtbot.keyClick(bar.with_, Key.Key_Return)
    assert editor.toPlainText() == TEXT.replace("name", r"\1", 1)
    next(button for button in bar.findChildren(QPushButton) if button.text() == "Replace all").click()
    assert editor.toPlainText() == TEXT.replace("name", r"\1").replace("Name", r"\1")
    assert bar.match_number.text() == "2 matches replaced"
    editor.undo()
    assert editor.toPlainText() == TEXT.replace("name", r"\1", 1)


def test_replacing_cannot_grow_a_text_without_limit(
    qtbot: Any, editor: CodeEditor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(find_bar, "TEXT_LENGTH_MAX", 80)
    qtbot.keyClick(editor, Key.Key_H, CTRL)
    editor.find_bar.search_field.setText("a")
    editor.find_bar.with_.setText("b" * 30)
    editor.find_bar.replace_all()
    assert editor.toPlainText() == TEXT
    assert editor.find_bar.match_number.text() == "the text would become too long"


@pytest.mark.parametrize("text_pt", [7, 10, 18])
def test_the_bar_is_visible_in_a_small_view(qtbot: Any, text_pt: int) -> None:
    editor = CodeEditor(lambda text, position: [], create_sql_highlighter)
    editor.setFont(QFont(editor.font().family(), text_pt))
    area = wrap_in_scroll_area(editor)
    qtbot.addWidget(area)
    area.resize(editor.fontMetrics().averageCharWidth() * 200, editor.find_bar.sizeHint().height() * 3 // 2)
    with qtbot.waitActive(area):
        area.show()
        area.activateWindow()
    editor.setFocus()
    qtbot.keyClick(editor, Key.Key_H, CTRL)
    needle = editor.find_bar.search_field
    qtbot.waitUntil(lambda: needle.visibleRegion().boundingRect() == needle.rect())
