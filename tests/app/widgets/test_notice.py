"""Tests of notices, which appear and disappear without user input."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLineEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.widgets import input_guard
from app.widgets.notice import NoticeBar


@pytest.fixture
def page(qtbot: QtBot) -> QWidget:
    field = QWidget(focusPolicy=Qt.FocusPolicy.StrongFocus)
    QVBoxLayout(field).addWidget(QLineEdit())
    qtbot.addWidget(field)
    field.resize(600, 400)
    with qtbot.waitActive(field):
        field.show()
        field.activateWindow()
    return field


def test_the_focus_stays_in_the_text_when_a_notice_closes(page: QWidget) -> None:
    notice, field = NoticeBar(page), page.findChild(QLineEdit)
    assert field is not None
    field.setFocus()
    for show in (lambda: None, lambda: notice.show_warning("It could not be done.")):
        show()
        notice.hide_notice()
        assert field.hasFocus()


def test_the_page_gets_the_focus_of_a_closed_notice(page: QWidget) -> None:
    notice = NoticeBar(page)
    notice.show_offer("The window is closed.", "Undo", lambda: None)
    assert notice.offer_button is not None
    notice.offer_button.setFocus()
    notice.hide_notice()
    assert QApplication.focusWidget() is page


def test_a_click_on_a_notice_keeps_the_focus_in_the_text(
    page: QWidget, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(input_guard, "GUARD_TIME_S", 0.0)
    page.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    notice, field, calls = NoticeBar(page), page.findChild(QLineEdit), []
    assert field is not None
    field.setFocus()
    notice.show_offer("The window is closed.", "Undo", lambda: calls.append(True))
    assert notice.offer_button is not None
    qtbot.mouseClick(notice.offer_button, Qt.MouseButton.LeftButton)
    assert calls
    assert field.hasFocus()
