"""Tests of "Learn from your mistakes" by keyboard: position on the desk, player's answer, and better
continuation.
"""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from app.storage import Profile
from app.views.lesson_bar import LessonBar
from tests.app.main_window.conftest import WindowUser
from tests.assertions import require
from tests.shipped_scenarios import load_shipped_scenario

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")
Key, Mod = Qt.Key, Qt.KeyboardModifier
FATAL_LINE = "sql SERVER_B ALTER DATABASE Sales SET PARTNER OFF"
BETTER_LINE = "sql SERVER_B ALTER DATABASE Sales SET PARTNER FORCE_SERVICE_ALLOW_DATA_LOSS"


def play_badly(hands: WindowUser) -> None:
    """Play a run in which the session is removed right after the principal fails."""
    window = hands.window
    scenario = load_shipped_scenario("forced-service")
    window.play.begin_run(scenario, "practice", scenario.seed)
    window.session.play()
    hands.run_frames(87.2)
    window.session.apply_input(FATAL_LINE)
    hands.run_frames(30.0)
    window.session.apply_input("finish")
    assert window.pages.currentWidget() is window.debrief
    hands.finish_analysis()


def get_lesson_bar(hands: WindowUser) -> LessonBar:
    return hands.window.learning.bar


def wait_for_review(hands: WindowUser) -> None:
    hands.qtbot.waitUntil(
        lambda: not get_lesson_bar(hands).heading.text().startswith("Checking"), timeout=60_000
    )


def test_a_mistake_is_found_retried_and_learned_by_keyboard(hands: WindowUser, profile: Profile) -> None:
    play_badly(hands)
    window = hands.window
    verdict = require(require(window.debrief.model).build_verdict())
    assert "You removed the mirroring session on SERVER_B (SET PARTNER OFF)." in verdict.sentence
    runs = len(profile.list_results())

    hands.press_key(Key.Key_L, target=window.debrief)
    hands.finish_search()
    assert window.pages.currentWidget() is window.desk_page
    assert hands.drill.tick == require(verdict.lesson).tick
    assert [item.line_without_time for item in hands.drill.journal] == [], "the position before it"
    bar = get_lesson_bar(hands)
    assert bar.isVisible()
    assert "Mistake 1 of 1" in bar.heading.text()
    assert "FORCE_SERVICE" not in bar.text.text() + bar.steps.text(), "the player acts first"

    hands.press_key(Key.Key_I, Mod.AltModifier, target=bar.buttons["hint"])
    bar.buttons["hint"].click()
    assert "Hint" in bar.text.text()

    window.apply_line(FATAL_LINE)
    wait_for_review(hands)
    assert bar.heading.text().startswith("Not the best choice: it costs")
    assert QApplication.focusWidget() is bar.buttons["again"]
    hands.press_key(Key.Key_Space, target=bar.buttons["again"])
    hands.finish_search()
    assert [item.line_without_time for item in hands.drill.journal] == []

    window.apply_line(BETTER_LINE)
    wait_for_review(hands)
    assert bar.heading.text().startswith("Correct: ")
    assert "FORCE_SERVICE_ALLOW_DATA_LOSS" in bar.steps.text()
    assert "Why: " in bar.text.text()
    assert QApplication.focusWidget() is bar.buttons["back"], "the last one"
    hands.press_key(Key.Key_Space, target=bar.buttons["back"])
    hands.finish_search()
    assert window.pages.currentWidget() is window.debrief
    assert not bar.isVisible()
    assert not window.debriefing._analysis.is_running, "what was known of the run still is"
    assert len(profile.list_results()) == runs, "a lesson is no run"

    hands.press_key(Key.Key_Return, target=window.debrief)
    hands.finish_search()
    assert window.pages.currentWidget() is window.desk_page
    assert hands.drill.tick < 8720


def test_an_action_without_effect_is_not_accepted_as_an_answer(hands: WindowUser) -> None:
    play_badly(hands)
    window = hands.window
    window.debrief.learn_wanted.emit()
    hands.finish_search()
    window.apply_line("sql SERVER_B SELECT mirroring_state_desc FROM sys.database_mirroring")
    assert "Mistake 1 of 1" in get_lesson_bar(hands).heading.text(), "looking is free"
    window.apply_line("sql SERVER_B ALTER DATABASE Sales SET PARTNER RESUME")
    wait_for_review(hands)
    assert (
        "no effect" in get_lesson_bar(hands).heading.text()
        or "Not the best" in get_lesson_bar(hands).heading.text()
    )


def test_waiting_can_be_the_answer_and_the_answer_can_be_shown(hands: WindowUser) -> None:
    play_badly(hands)
    window, bar = hands.window, get_lesson_bar(hands)
    window.debrief.learn_wanted.emit()
    hands.finish_search()
    bar.buttons["wait"].click()
    wait_for_review(hands)
    assert bar.heading.text().startswith("Correct")
    bar.buttons["again"].click()
    hands.finish_search()
    bar.buttons["answer"].click()
    assert "Best continuation" in bar.heading.text()
    assert "RESUME" in bar.steps.text()


def test_play_can_continue_from_a_lesson(hands: WindowUser, profile: Profile) -> None:
    play_badly(hands)
    window = hands.window
    window.debrief.learn_wanted.emit()
    hands.finish_search()
    window.apply_line(BETTER_LINE)
    wait_for_review(hands)
    get_lesson_bar(hands).buttons["play"].click()
    assert not get_lesson_bar(hands).isVisible()
    assert window.play.run_id is not None
    assert [item.line_without_time for item in hands.drill.journal][-1] == BETTER_LINE
