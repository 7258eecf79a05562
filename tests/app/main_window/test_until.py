"""Tests of running until a condition is true, and to the next alarm, in the window."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from app.host.playback import is_alarm
from app.views.condition_dialog import ConditionDialog
from tests.app.main_window.conftest import WindowUser
from tests.assertions import require
from tests.open_window import OpenWindow


@pytest.fixture
def lab(hands: WindowUser, window: OpenWindow) -> OpenWindow:
    window.select_drill("lab")
    window.brief.start_wanted.emit("lab")
    window.session.pause()
    return window


def open_condition_dialog(qtbot: Any, window: OpenWindow) -> ConditionDialog:
    window.activateWindow()
    qtbot.keyClick(window.topology, Qt.Key.Key_F10, Qt.KeyboardModifier.AltModifier)
    (box,) = [w for w in QApplication.topLevelWidgets() if isinstance(w, ConditionDialog) and w.isVisible()]
    return box


def test_run_until_stops_when_the_condition_is_true(qtbot: Any, hands: WindowUser, lab: OpenWindow) -> None:
    lab.session.apply_input("power-off SERVER_A")
    box = open_condition_dialog(qtbot, lab)
    edit = require(box.text.lineEdit())
    edit.clear()
    qtbot.keyClicks(edit, "Sales on SERVER_B is PRINCIPAL")
    assert box.run.isEnabled(), box.problem.text()
    qtbot.keyClick(edit, Qt.Key.Key_Return)
    hands.finish_search()
    assert lab.session.drill is not None
    assert lab.session.drill.is_condition_met("Sales on SERVER_B is PRINCIPAL")
    assert 1.0 < lab.session.drill.world.t_s < 10.0
    assert not lab.session.is_running


def test_a_condition_is_checked_while_typing(qtbot: Any, lab: OpenWindow) -> None:
    box = open_condition_dialog(qtbot, lab)
    assert box.run.isEnabled()
    edit = require(box.text.lineEdit())
    edit.clear()
    qtbot.keyClicks(edit, "Sales is SYNCRONIZED")
    assert not box.run.isEnabled()
    assert "SYNCHRONIZED" in box.problem.text()
    box.reject()


def test_a_condition_that_is_already_true_is_reported(lab: OpenWindow) -> None:
    lab.session.run_until("Sales is SYNCHRONIZED")
    assert "already" in lab.notice.text
    assert not lab.session.is_busy


def test_the_next_alarm_is_an_error_in_a_log(hands: WindowUser, lab: OpenWindow) -> None:
    lab.session.apply_input("pull-cable SERVER_A")
    lab.actions_by_name["time.next_alarm"].trigger()
    hands.finish_search()
    assert lab.session.drill is not None
    last = [event for event in lab.session.drill.events if event.kind in ("errorlog", "alert")][-1]
    assert is_alarm(last)
    assert last.t_s == pytest.approx(lab.session.drill.world.t_s, abs=0.02)
