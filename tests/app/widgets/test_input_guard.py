"""Tests of the input guard: it ignores input on controls that have just appeared, and the second click on
moved ones.
"""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication, QCheckBox, QPushButton, QToolButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.widgets import input_guard
from app.widgets.input_guard import get_input_guard

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def page(qtbot: QtBot) -> QWidget:
    page = QWidget()
    QVBoxLayout(page)
    qtbot.addWidget(page)
    get_input_guard()
    return page


def find_button(
    page: QWidget, kind: type[QPushButton | QToolButton]
) -> tuple[QPushButton | QToolButton, list[int]]:
    widget, clicks = kind(), list[int]()
    widget.clicked.connect(lambda: clicks.append(1))
    layout = page.layout()
    assert layout is not None
    layout.addWidget(widget)
    page.show()
    return widget, clicks


@pytest.mark.parametrize(("kind", "times"), [(QPushButton, 1), (QToolButton, 2)])
def test_a_double_click_triggers_a_button_once_and_a_repeating_tool_twice(
    qtbot: QtBot, page: QWidget, kind: type[QPushButton | QToolButton], times: int
) -> None:
    first_button, clicks = find_button(page, kind)
    qtbot.mouseClick(first_button, LEFT)
    qtbot.mouseDClick(first_button, LEFT)
    qtbot.mouseRelease(first_button, LEFT)
    assert len(clicks) == times


@pytest.mark.parametrize("kind", [QPushButton, QToolButton])
def test_the_second_click_of_a_double_click_does_not_hit_a_moved_widget(
    qtbot: QtBot, page: QWidget, kind: type[QPushButton | QToolButton]
) -> None:
    first, _ = find_button(page, QPushButton)
    second_button, clicks = find_button(page, kind)
    first.clicked.connect(first.hide)
    qtbot.mouseClick(first, LEFT)
    for event_type in (QEvent.Type.MouseButtonDblClick, QEvent.Type.MouseButtonRelease):
        event = QMouseEvent(
            event_type, QPointF(3, 3), QPointF(3, 3), LEFT, LEFT, Qt.KeyboardModifier.NoModifier
        )
        QApplication.sendEvent(second_button, event)
    assert clicks == []


def test_a_new_widget_ignores_keys_and_clicks_for_a_moment(
    qtbot: QtBot, page: QWidget, monkeypatch: pytest.MonkeyPatch
) -> None:
    now_s = 0.0
    monkeypatch.setattr(input_guard, "time", SimpleNamespace(monotonic=lambda: now_s))
    monkeypatch.setattr(input_guard, "GUARD_TIME_S", 0.2)
    first_button, clicks = find_button(page, QPushButton)
    get_input_guard().record_appearance(page)
    qtbot.mouseClick(first_button, LEFT)
    qtbot.keyClick(first_button, Qt.Key.Key_Space)
    assert clicks == []
    now_s = 0.25
    qtbot.mouseClick(first_button, LEFT)
    assert clicks == [1]


def test_an_existing_widget_accepts_keys_and_clicks(
    qtbot: QtBot, page: QWidget, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(input_guard, "GUARD_TIME_S", 60.0)
    first_button, clicks = find_button(page, QPushButton)
    new = QCheckBox(page)
    get_input_guard().record_appearance(new)
    qtbot.mouseClick(first_button, LEFT)
    assert clicks == [1]


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space])
def test_a_key_presses_the_focused_button_outside_dialogs(qtbot: QtBot, page: QWidget, key: Qt.Key) -> None:
    first_button, clicks = find_button(page, QPushButton)
    qtbot.keyClick(first_button, key)
    assert clicks == [1]
