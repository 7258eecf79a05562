"""Tests of the toolbar of a panel."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QToolButton, QVBoxLayout, QWidget

from app.widgets.bars import ButtonBar
from tests.assertions import require


def test_a_narrow_panel_shrinks_and_hidden_buttons_stay_reachable(qtbot: Any) -> None:
    panel = QWidget()
    qtbot.addWidget(panel)
    bar = ButtonBar("Tools")
    QVBoxLayout(panel).addWidget(bar)
    actions = [QAction(f"A rather long name {number}", panel) for number in range(6)]
    bar.add_actions(actions)
    panel.resize(240, 60)
    panel.show()
    assert panel.width() == 240
    buttons = [bar.widgetForAction(action) for action in actions]
    assert buttons[0].isVisible()
    assert not buttons[-1].isVisible()
    arrow = require(bar.findChild(QToolButton, "qt_toolbar_ext_button"))
    assert arrow.isVisible()
    assert arrow.accessibleName() == "More buttons"


def test_buttons_are_reached_by_tab_and_pressed_by_space(qtbot: Any) -> None:
    bar = ButtonBar("Tools")
    qtbot.addWidget(bar)
    action = QAction("Go", bar)
    triggers: list[bool] = []
    action.triggered.connect(lambda: triggers.append(True))
    bar.add_actions([None, action])
    button = bar.widgetForAction(action)
    assert button.focusPolicy() & Qt.FocusPolicy.TabFocus
    qtbot.keyClick(button, Qt.Key.Key_Space)
    assert triggers == [True]
