"""Tests that a click shows a response before its work starts."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.widgets.busy_cursor import show_preparing_text


class PaintRecorder(QObject):
    """Event filter that records the text of a button at each paint event."""

    def __init__(self, button: QPushButton) -> None:
        super().__init__()
        self.texts: list[tuple[str, bool]] = []
        button.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Paint and isinstance(watched, QPushButton):
            self.texts.append((watched.text(), watched.isEnabled()))
        return False


@pytest.fixture
def page(qtbot: QtBot) -> QWidget:
    page = QWidget()
    qtbot.addWidget(page)
    return page


@pytest.fixture
def button(page: QWidget) -> QPushButton:
    column = QVBoxLayout(page)
    button = QPushButton("Start")
    column.addWidget(button)
    column.addWidget(QLabel("below"))
    page.show()
    button.setFocus()
    QApplication.processEvents()
    return button


def test_the_button_is_painted_as_busy_before_the_work(button: QPushButton) -> None:
    paints = PaintRecorder(button)
    with show_preparing_text(button):
        assert paints.texts[-1] == ("Preparing…", False)
        cursor = QApplication.overrideCursor()
        assert cursor is not None
        assert cursor.shape() is Qt.CursorShape.WaitCursor
    assert (button.text(), button.isEnabled(), button.hasFocus()) == ("Start", True, True)
    assert QApplication.overrideCursor() is None


def test_failed_work_restores_the_button(button: QPushButton) -> None:
    with pytest.raises(ValueError, match="broken"), show_preparing_text(button):
        raise ValueError("broken")
    assert (button.text(), button.isEnabled()) == ("Start", True)
