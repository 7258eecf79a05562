"""Tests of the command palette with real keys."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QApplication, QLineEdit, QWidget

from app.views.command_palette import CommandPalette

Key = Qt.Key


class PaletteWindow(QWidget):
    """Window with a text field and some actions that record their use."""

    def __init__(self) -> None:
        super().__init__()
        self.resize(900, 600)
        self.done: list[str] = []
        self.field = QLineEdit(self)
        self.palette_ = CommandPalette(self)
        self.actions_ = {
            text: self._create_action(text) for text in ("&Run or pause", "Next event", "Next theme")
        }
        self.actions_["Next event"].setShortcut(QKeySequence("F9"))
        self.palette_.set_actions(
            [
                ("Time", [self.actions_["&Run or pause"], self.actions_["Next event"]]),
                ("Views", [self.actions_["Next theme"]]),
            ]
        )

    def _create_action(self, text: str) -> QAction:
        action = QAction(text, self)
        action.triggered.connect(lambda: self.done.append(text))
        return action


@pytest.fixture
def desk(qtbot: Any) -> PaletteWindow:
    desk = PaletteWindow()
    qtbot.addWidget(desk)
    with qtbot.waitActive(desk):
        desk.show()
        desk.activateWindow()
    desk.field.setFocus()
    desk.palette_.open_palette()
    return desk


def list_lines(desk: PaletteWindow) -> list[str]:
    model = desk.palette_.model
    return [model.index(row).data() for row in range(model.rowCount())]


def test_every_command_is_listed_with_its_group_and_keys(desk: PaletteWindow) -> None:
    assert list_lines(desk) == ["Time: Run or pause", "Time: Next event, F9", "Views: Next theme"]
    assert desk.palette_.field.hasFocus()


def test_an_action_without_a_group_is_listed_alone(desk: PaletteWindow) -> None:
    desk.palette_.set_actions([("", [desk.actions_["Next theme"]])])
    desk.palette_.open_palette()
    assert list_lines(desk) == ["Next theme"]


def test_typing_and_enter_run_a_command_and_restore_the_focus(qtbot: Any, desk: PaletteWindow) -> None:
    qtbot.keyClicks(desk.palette_.field, "nxt th")
    assert list_lines(desk) == ["Views: Next theme"]
    qtbot.keyClick(desk.palette_.field, Key.Key_Return)
    assert desk.done == ["Next theme"]
    assert desk.palette_.isHidden()
    assert desk.field.hasFocus()


def test_arrow_keys_select_and_announce(qtbot: Any, desk: PaletteWindow) -> None:
    qtbot.keyClicks(desk.palette_.field, "next")
    assert desk.palette_.field.accessibleDescription() == "Time: Next event, F9; 2 of 3 commands match"
    qtbot.keyClick(desk.palette_.field, Key.Key_Down)
    assert desk.palette_.field.accessibleDescription() == "Views: Next theme; 2 of 3 commands match"
    qtbot.keyClick(desk.palette_.field, Key.Key_Enter)
    assert desk.done == ["Next theme"]


def test_escape_closes_the_palette_and_restores_the_focus(qtbot: Any, desk: PaletteWindow) -> None:
    qtbot.keyClick(desk.palette_.field, Key.Key_Escape)
    assert desk.palette_.isHidden()
    assert desk.field.hasFocus()
    assert desk.done == []


def test_a_click_elsewhere_closes_the_palette(qtbot: Any, desk: PaletteWindow) -> None:
    desk.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
    qtbot.mouseClick(desk, Qt.MouseButton.LeftButton, pos=QPoint(5, 590))
    assert desk.palette_.isHidden()


def test_a_click_on_a_line_runs_its_command(qtbot: Any, desk: PaletteWindow) -> None:
    view = desk.palette_.list
    place = view.visualRect(desk.palette_.model.index(1)).center()
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert desk.done == ["Next event"]


def test_disabled_commands_are_last_and_cannot_run(qtbot: Any, desk: PaletteWindow) -> None:
    desk.actions_["&Run or pause"].setEnabled(False)
    desk.palette_.open_palette()
    assert list_lines(desk)[-1] == "Time: Run or pause, not available now"
    qtbot.keyClicks(desk.palette_.field, "pause")
    qtbot.keyClick(desk.palette_.field, Key.Key_Return)
    assert desk.done == []
    assert desk.palette_.isVisible()


def test_invisible_commands_are_not_found(desk: PaletteWindow) -> None:
    desk.actions_["Next theme"].setVisible(False)
    desk.palette_.open_palette()
    assert list_lines(desk) == ["Time: Run or pause", "Time: Next event, F9"]


def test_recent_commands_come_first_until_typing(qtbot: Any, desk: PaletteWindow) -> None:
    qtbot.keyClicks(desk.palette_.field, "theme")
    qtbot.keyClick(desk.palette_.field, Key.Key_Return)
    desk.palette_.open_palette()
    assert list_lines(desk)[0] == "Views: Next theme"
    qtbot.keyClicks(desk.palette_.field, "next")
    assert list_lines(desk)[0] == "Time: Next event, F9"


def test_no_match_is_reported(qtbot: Any, desk: PaletteWindow) -> None:
    qtbot.keyClicks(desk.palette_.field, "zebra")
    assert list_lines(desk) == []
    assert "no match; 0 of 3" in desk.palette_.field.accessibleDescription()
    qtbot.keyClick(desk.palette_.field, Key.Key_Return)
    assert desk.done == []


def test_the_palette_fits_a_window_of_any_size(desk: PaletteWindow) -> None:
    for width, height in ((1366, 768), (320, 200)):
        desk.resize(width, height)
        QApplication.processEvents()
        assert desk.rect().contains(desk.palette_.geometry())
