"""Tests of the dialog for shortcuts, with real keys and clicks."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QDialogButtonBox, QPushButton

from app.views.key_editor import KeyEditor
from app.widgets import keys, theme
from tests.assertions import require

CTRL = Qt.KeyboardModifier.ControlModifier
Key = Qt.Key


@pytest.fixture
def editor(qtbot: Any) -> KeyEditor:
    editor = KeyEditor()
    qtbot.addWidget(editor)
    with qtbot.waitActive(editor):
        editor.show()
        editor.activateWindow()
    return editor


def choose_command(qtbot: Any, editor: KeyEditor, name: str) -> None:
    names = [row.command.name for row in editor.model.rows]
    editor.table.selectRow(names.index(name))


def press_key(
    qtbot: Any, editor: KeyEditor, key: Qt.Key, modifiers: Any = Qt.KeyboardModifier.NoModifier
) -> None:
    editor.pressed_keys_field.setFocus()
    qtbot.keyClick(editor.pressed_keys_field, key, modifiers)


def click_button(qtbot: Any, button: QPushButton) -> None:
    assert button.isEnabled()
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def test_a_free_key_is_set_and_reported(qtbot: Any, editor: KeyEditor) -> None:
    choose_command(qtbot, editor, "time.step")
    press_key(qtbot, editor, Key.Key_F12, CTRL)
    assert "No other command" in editor.warning.text()
    click_button(qtbot, editor.set_button)
    assert editor.changes == {"time.step": ("Ctrl+F12",)}
    with qtbot.waitSignal(editor.keys_chosen) as blocker:
        box = require(editor.findChild(QDialogButtonBox))
        click_button(qtbot, box.button(QDialogButtonBox.StandardButton.Ok))
    assert blocker.args == [keys.SSMS_SCHEME, {"time.step": ("Ctrl+F12",)}]


def test_a_used_key_warns_and_is_taken_over(qtbot: Any, editor: KeyEditor) -> None:
    choose_command(qtbot, editor, "time.step")
    press_key(qtbot, editor, Key.Key_T, CTRL)
    assert "Results to text" in editor.warning.text()
    click_button(qtbot, editor.set_button)
    assert editor.changes == {"time.step": ("Ctrl+T",), "query.text": ()}
    assert keys.list_key_conflicts(keys.resolve_keys(keys.SSMS_SCHEME, editor.changes)) == []


@pytest.mark.parametrize(
    ("key", "modifiers", "reason"),
    [
        (Key.Key_X, Qt.KeyboardModifier.NoModifier, "text field"),
        (Key.Key_C, CTRL, "cannot be changed"),
    ],
)
def test_reserved_keys_are_refused(
    qtbot: Any, editor: KeyEditor, key: Qt.Key, modifiers: Any, reason: str
) -> None:
    choose_command(qtbot, editor, "time.step")
    press_key(qtbot, editor, key, modifiers)
    assert reason in editor.warning.text()
    assert not editor.set_button.isEnabled()
    assert not editor.add_button.isEnabled()


def test_keys_of_a_view_cannot_be_changed(qtbot: Any, editor: KeyEditor) -> None:
    choose_command(qtbot, editor, "editor.copy")
    assert not editor.pressed_keys_field.isEnabled()
    assert "handles these keys directly" in editor.warning.text()


@pytest.mark.slow
def test_a_second_key_is_added_and_all_are_removed(qtbot: Any, editor: KeyEditor) -> None:
    choose_command(qtbot, editor, "time.step")
    press_key(qtbot, editor, Key.Key_F12)
    click_button(qtbot, editor.add_button)
    # F12 was assigned to another command.
    assert editor.changes == {"time.step": ("F10", "F12"), "time.moment": ()}
    click_button(qtbot, editor.none_button)
    assert editor.changes == {"time.step": (), "time.moment": ()}


def test_default_keys_are_restored_from_other_commands(qtbot: Any, editor: KeyEditor) -> None:
    editor.show_keys(keys.SSMS_SCHEME, {"time.step": ("Ctrl+F12",), "time.faster": ("F10",)})
    choose_command(qtbot, editor, "time.step")
    click_button(qtbot, editor.usual_button)
    assert editor.changes == {"time.faster": ()}


def test_another_scheme_and_reset_start_over(qtbot: Any, editor: KeyEditor) -> None:
    editor.show_keys(keys.SSMS_SCHEME, {"time.step": ("Ctrl+F12",)})
    (reset,) = [button for button in editor.findChildren(QPushButton) if "Reset" in button.text()]
    click_button(qtbot, reset)
    assert editor.changes == {}
    editor.scheme.setFocus()
    qtbot.keyClick(editor.scheme, Key.Key_Down)
    assert editor.scheme.currentText() == keys.VS_CODE_SCHEME
    assert editor.changes == {}
    keys_by_command = {row.command.name: row.keys for row in editor.model.rows}
    assert keys_by_command == keys.resolve_keys(keys.VS_CODE_SCHEME)


def test_commands_can_be_searched(qtbot: Any, editor: KeyEditor) -> None:
    qtbot.keyClicks(editor.field, "f10")
    assert {row.command.name for row in editor.model.rows} == {
        "time.step", "time.run_to", "time.until", "topology.menu", "items.menu",
    }  # fmt: skip
    assert "Advance by 10 ms" in editor.name.text()


@pytest.mark.slow
def test_cancel_reports_nothing(qtbot: Any, editor: KeyEditor) -> None:
    choices: list[object] = []
    editor.keys_chosen.connect(lambda *args: choices.append(args))
    choose_command(qtbot, editor, "time.step")
    press_key(qtbot, editor, Key.Key_F12)
    click_button(qtbot, editor.set_button)
    qtbot.keyClick(editor.table, Key.Key_Escape)
    assert editor.isHidden()
    assert choices == []


def test_large_text_leaves_room_for_the_pressed_keys(
    qtbot: Any, qapp: QApplication, editor: KeyEditor
) -> None:
    theme.apply_theme_choice(qapp, theme.LIGHT_THEME, 2.0)
    editor.resize(editor.minimumSizeHint())
    QApplication.processEvents()
    longest = editor.pressed_keys_field.fontMetrics().horizontalAdvance("Ctrl+Shift+K, Ctrl+Shift+U")
    assert editor.pressed_keys_field.width() > 1.2 * longest
    theme.apply_theme_choice(qapp, theme.LIGHT_THEME, 1.0)
