"""Tests of the actions of a screen reader. With Qt's own actions alone, pages and menus would not react."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QListWidget, QMenu
from pytestqt.qtbot import QtBot

from app.widgets.bars import build_menu_button
from app.widgets.screen_reader import close_menu_after_use, make_selected_row_current

# The offscreen plugin logs this warning for menus.
pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


def test_a_row_selected_by_code_becomes_current(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QAccessible, "isActive", lambda: True)
    rows = QListWidget()
    qtbot.addWidget(rows)
    rows.addItems(["one", "two", "three"])
    rows.setCurrentRow(0)
    make_selected_row_current(rows)
    with qtbot.waitSignal(rows.currentRowChanged, timeout=30_000) as blocker:
        rows.item(0).setSelected(False)  # This has the effect of Qt's action "Toggle".
        rows.item(2).setSelected(True)
    assert blocker.args == [2]
    assert [item.text() for item in rows.selectedItems()] == ["three"]


def test_a_menu_button_opens_for_a_screen_reader(qtbot: QtBot) -> None:
    item_texts: list[str] = []

    def fill_menu(menu: QMenu) -> None:
        def close_menu() -> None:
            item_texts.extend(item.text() for item in menu.actions())
            menu.hide()

        menu.addAction("Do it")
        QTimer.singleShot(0, menu, close_menu)

    button = build_menu_button("Actions ▾", "Available actions", fill_menu)
    qtbot.addWidget(button)
    button.show()
    QAccessible.queryAccessibleInterface(button).actionInterface().doAction("Press")
    qtbot.waitUntil(lambda: bool(item_texts), timeout=30_000)
    assert item_texts == ["Do it"]


def test_a_second_press_closes_the_menu_again(qtbot: QtBot) -> None:
    visibilities: list[bool] = []

    def fill_menu(menu: QMenu) -> None:
        menu.addAction("Do it")
        QTimer.singleShot(0, menu, press_button)
        menu.aboutToHide.connect(lambda: visibilities.append(menu.isVisible()))

    button = build_menu_button("Actions ▾", "Available actions", fill_menu)
    qtbot.addWidget(button)
    button.show()

    def press_button() -> None:
        QAccessible.queryAccessibleInterface(button).actionInterface().doAction("Press")

    press_button()
    qtbot.waitUntil(lambda: bool(visibilities), timeout=30_000)
    qtbot.waitUntil(lambda: not button.menu().isVisible(), timeout=30_000)


def test_a_menu_closes_after_an_action(qtbot: QtBot) -> None:
    menu = QMenu()
    qtbot.addWidget(menu)
    item_action = menu.addAction("Do it")
    close_menu_after_use(menu)
    menu.popup(menu.pos())
    assert menu.isVisible()
    item_action.trigger()  # This has the effect of Qt's action "Press" on an entry.
    assert not menu.isVisible()
