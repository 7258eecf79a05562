"""Tests that the window announces events to screen readers, whichever panel is visible."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QApplication

from tests.app.main_window.conftest import WindowUser
from tests.children import find_child
from tests.open_window import OpenWindow

ALT = Qt.KeyboardModifier.AltModifier


@pytest.fixture(autouse=True)
def reader() -> Iterator[None]:
    """Activate screen reader support."""
    QAccessible.setActive(True)
    yield
    QAccessible.setActive(False)


@pytest.fixture
def announcements(window: OpenWindow) -> list[str]:
    messages: list[str] = []
    window.teller.message_ready.connect(messages.append)
    return messages


def begin_drill(hands: WindowUser, drill: str, mode: str) -> None:
    hands.window.select_drill(drill)
    hands.window.brief.start_wanted.emit(mode)
    hands.window.desk.focus_view("console")


def flush_announcements(window: OpenWindow, announcements: list[str]) -> str:
    """Return all announcements, including the queued ones."""
    find_child(window.teller, QTimer).timeout.emit()
    return " ".join(announcements)


def test_a_failover_is_announced_without_a_visible_table(
    hands: WindowUser, window: OpenWindow, announcements: list[str]
) -> None:
    begin_drill(hands, "lab", "lab")
    assert not window.table.isVisible()
    window.session.apply_input("power-off SERVER_A")
    hands.run_frames(20.0)
    words = flush_announcements(window, announcements)
    assert "SERVER_A: power off." in words
    assert "Sales on SERVER_B is PRINCIPAL." in words
    assert "Sales accepts connections." in words


def test_announcements_within_the_gap_are_combined(
    qtbot: Any, hands: WindowUser, window: OpenWindow, announcements: list[str]
) -> None:
    begin_drill(hands, "lab", "lab")
    with qtbot.waitSignal(window.teller.message_ready):
        window.session.apply_input("power-off SERVER_A")
    before = len(announcements)
    hands.run_frames(5.0)
    assert len(announcements) == before
    with qtbot.waitSignal(window.teller.message_ready):
        pass
    assert "PRINCIPAL" in announcements[-1]


def test_pause_and_speed_are_announced(
    hands: WindowUser, window: OpenWindow, announcements: list[str]
) -> None:
    begin_drill(hands, "lab", "lab")
    hands.run_frames(2.0)
    find_child(window.teller, QTimer).timeout.emit()
    hands.press_key(Qt.Key.Key_Pause)
    assert flush_announcements(window, announcements).endswith("Paused at 0:02.0.")
    hands.press_key(Qt.Key.Key_Period, ALT)
    assert flush_announcements(window, announcements).endswith("2×")


def test_a_search_announces_the_time_it_reached(
    hands: WindowUser, window: OpenWindow, announcements: list[str]
) -> None:
    begin_drill(hands, "lab", "lab")
    window.session.apply_input("power-off SERVER_A")
    hands.press_key(Qt.Key.Key_F9, Qt.KeyboardModifier.ShiftModifier)
    hands.finish_search()
    assert f"Paused at 0:0{hands.drill.world.t_s:.1f}." in flush_announcements(window, announcements)


def test_dragging_through_the_past_is_announced_once(
    hands: WindowUser, window: OpenWindow, announcements: list[str]
) -> None:
    begin_drill(hands, "lab", "lab")
    hands.run_frames(10.0)
    window.session.pause()
    find_child(window.teller, QTimer).timeout.emit()
    announcements.clear()
    for t_s in (8.0, 6.0, 4.0):
        window.replay.show_time(t_s)
    assert flush_announcements(window, announcements) == "Showing 0:04.0; the run is at 0:10.0."


@pytest.mark.slow
def test_an_exam_announces_nothing_about_the_world(
    hands: WindowUser, window: OpenWindow, announcements: list[str]
) -> None:
    begin_drill(hands, "automatic-failover", "exam")
    hands.run_frames(75.0)
    words = flush_announcements(window, announcements)
    assert words.startswith("Question: ")
    for secret in ("PRINCIPAL", "power", "DISCONNECTED", "accepts connections", "lost"):
        assert secret not in words
    hands.press_key(Qt.Key.Key_0, ALT)
    assert "SERVER_A" in announcements[-1]
    assert "PRINCIPAL" not in announcements[-1]
    assert "Goal" not in announcements[-1]


def test_the_current_state_is_announced_on_demand(
    hands: WindowUser, window: OpenWindow, announcements: list[str]
) -> None:
    begin_drill(hands, "automatic-failover", "practice")
    hands.run_frames(5.0)
    hands.press_key(Qt.Key.Key_0, ALT)
    words = announcements[-1]
    assert words == window.notice.text
    assert words.startswith("0:05.0, running. Goal: ")
    assert "SERVER_B: partner, running" in words
    assert "link SERVER_A to SERVER_B" in words


def test_without_a_screen_reader_no_announcement_is_composed(
    hands: WindowUser, window: OpenWindow, announcements: list[str]
) -> None:
    QAccessible.setActive(False)
    begin_drill(hands, "lab", "lab")
    window.session.apply_input("power-off SERVER_A")
    hands.run_frames(5.0)
    assert flush_announcements(window, announcements) == ""


def test_a_question_does_not_take_the_focus_while_typing(
    qtbot: Any, hands: WindowUser, window: OpenWindow
) -> None:
    begin_drill(hands, "automatic-failover", "practice")
    query = window.console.front_window or window.console.open_query("SERVER_B")
    assert query is not None
    window.activateWindow()
    query.editor.setFocus()
    qtbot.waitUntil(query.editor.hasFocus)
    hands.run_frames(75.0)
    assert window.session.drill is not None
    assert window.session.drill.list_open_questions()
    qtbot.keyClicks(QApplication.focusWidget(), "SELECT 1 ")
    assert query.editor.toPlainText().endswith("SELECT 1 ")
    assert window.session.drill.list_open_questions()


@pytest.mark.slow
def test_the_end_of_a_drill_is_announced_with_its_score(
    hands: WindowUser, window: OpenWindow, announcements: list[str]
) -> None:
    begin_drill(hands, "automatic-failover", "practice")
    hands.run_frames(70.0)
    window.session.apply_input("finish")
    words = flush_announcements(window, announcements)
    assert "of 100 points. 1 of 2 goals met" in words
