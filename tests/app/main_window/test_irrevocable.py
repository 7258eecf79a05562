"""Tests that irrevocable actions need a confirmation, which an accidental key cannot give."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QApplication, QLabel, QMessageBox, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.main_window import confirmations, debrief_controller
from app.storage import Profile
from tests.app.main_window.conftest import WindowUser
from tests.open_window import OpenWindow

Key, Mod = Qt.Key, Qt.KeyboardModifier


def start_drill(hands: WindowUser, name: str = "lab") -> None:
    hands.window.select_drill(name)
    hands.window.start_drill("practice" if name != "lab" else "lab")
    hands.run_frames(2.0)


def find_question(window: OpenWindow) -> QMessageBox:
    box = window.confirmations.box
    assert box is not None, "nothing is asked"
    assert box.isVisible()
    return box


def answer_question(window: OpenWindow, is_confirmed: bool) -> None:
    box = find_question(window)
    role = QMessageBox.ButtonRole.DestructiveRole if is_confirmed else QMessageBox.ButtonRole.RejectRole
    next(button for button in box.buttons() if box.buttonRole(button) == role).click()
    QApplication.processEvents()


@pytest.mark.parametrize("name", sorted(confirmations.CONFIRMED_ACTIONS))
def test_every_irrevocable_action_asks_and_defaults_to_no(hands: WindowUser, name: str) -> None:
    window = hands.window
    start_drill(hands)
    drill = hands.drill
    for key in (Key.Key_Return, Key.Key_Space, Key.Key_Escape):
        window.actions_by_name[name].trigger()
        assert not window.session.is_running, "the clock waits for the answer"
        box = find_question(window)
        assert "score" not in box.text(), "the lab keeps none"
        hands.qtbot.keyClick(box.defaultButton(), key)
        QApplication.processEvents()
        assert window.confirmations.box is None, key
        assert window.session.live_drill is drill
        assert not drill.finished
        assert window.isVisible()
        assert window.pages.currentWidget() is window.desk_page
        assert window.session.is_running


def test_a_confirmed_action_is_executed(hands: WindowUser) -> None:
    window = hands.window
    start_drill(hands)
    first = hands.drill
    window.actions_by_name["drill.restart"].trigger()
    answer_question(window, is_confirmed=True)
    assert hands.drill is not first
    window.actions_by_name["drill.finish"].trigger()
    answer_question(window, is_confirmed=True)
    assert window.pages.currentWidget() is window.debrief


def test_enter_presses_the_answer_that_has_the_focus(hands: WindowUser) -> None:
    window = hands.window
    start_drill(hands)
    drill = hands.drill
    window.actions_by_name["drill.finish"].trigger()
    box = find_question(window)
    yes = next(
        button for button in box.buttons() if box.buttonRole(button) == QMessageBox.ButtonRole.DestructiveRole
    )
    yes.setFocus()
    hands.qtbot.keyClick(yes, Key.Key_Return)
    assert drill.finished


def test_without_a_run_no_confirmation_appears(hands: WindowUser) -> None:
    hands.window.actions_by_name["drill.open"].trigger()
    assert hands.window.confirmations.box is None


def test_closing_the_window_during_a_run_asks(hands: WindowUser, monkeypatch: pytest.MonkeyPatch) -> None:
    start_drill(hands)
    monkeypatch.setattr(QCloseEvent, "spontaneous", lambda _: True)
    assert not hands.window.close()
    answer_question(hands.window, is_confirmed=False)
    assert hands.window.isVisible()


def test_opening_another_drill_asks_but_a_script_opens_in_the_run(hands: WindowUser, tmp_path: Path) -> None:
    window = hands.window
    start_drill(hands)
    script = tmp_path / "failover.sql"
    script.write_text("SELECT 1")
    window.open_file(str(script))
    assert window.confirmations.box is None
    assert window.console.tabs.tabText(window.console.tabs.currentIndex()).startswith("failover.sql")
    drill = hands.drill
    for leave in (
        lambda: window.choice.ask_to_show_brief("automatic-failover"),
        lambda: window.open_file("automatic-failover"),
    ):
        leave()
        answer_question(window, is_confirmed=False)
        assert window.session.live_drill is drill
    window.choice.ask_to_show_brief("automatic-failover")
    answer_question(window, is_confirmed=True)
    assert window.pages.currentWidget() is window.brief


def test_a_hint_with_a_cost_asks_and_a_free_one_does_not(hands: WindowUser) -> None:
    window = hands.window
    start_drill(hands, "automatic-failover")
    window.briefing.requested.emit("hint 1")
    assert "point" in find_question(window).informativeText()
    answer_question(window, is_confirmed=False)
    assert hands.drill.hints == []
    window.briefing.requested.emit("hint 1")
    answer_question(window, is_confirmed=True)
    assert len(hands.drill.hints) == 1


def test_a_run_is_abandoned_only_after_a_question(hands: WindowUser, profile: Profile) -> None:
    window = hands.window
    start_drill(hands)
    hands.run_frames(3.0)
    window.show_home()
    (run,) = profile.list_unfinished_runs()
    window.picker.give_up_wanted.emit(run.run_id)
    answer_question(window, is_confirmed=False)
    assert profile.list_unfinished_runs()
    window.picker.give_up_wanted.emit(run.run_id)
    answer_question(window, is_confirmed=True)
    assert profile.list_unfinished_runs() == []


def test_the_text_of_a_closed_window_can_be_reopened(hands: WindowUser) -> None:
    window = hands.window
    start_drill(hands)
    assert window.console.front_window is not None
    window.console.front_window.editor.setPlainText("SELECT precious")
    window.console.tools["close"].trigger()
    undo = window.notice.offer_button
    assert undo is not None
    undo.click()
    assert "SELECT precious" in window.console.list_drafts().values()


def find_positions(
    window: OpenWindow, kinds: tuple[type[QWidget], ...] = (QPushButton, QLabel)
) -> dict[QWidget, object]:
    return {
        widget: widget.mapTo(window, widget.rect().topLeft())
        for kind in kinds
        for widget in window.findChildren(kind)
        if widget.isVisible()
        and widget.visibleRegion().boundingRect().isValid()
        and not window.notice.isAncestorOf(widget)
    }


def test_a_notice_moves_no_widget_and_takes_no_focus(hands: WindowUser) -> None:
    window = hands.window
    start_drill(hands)
    window.topology.setFocus()
    QApplication.processEvents()
    before = find_positions(window)
    for say in (window.notice.show_warning, window.notice.show_info):
        say("A sentence that is long enough for more than one line. " * 6)
        QApplication.processEvents()
        assert find_positions(window) == before
        assert window.topology.hasFocus()


@pytest.mark.slow
def test_a_drill_that_ends_stays_on_screen_for_a_moment(
    hands: WindowUser, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(debrief_controller, "FINISH_NOTICE_S", 60.0)
    window = hands.window
    start_drill(hands, "automatic-failover")
    window.session.set_speed(1000.0)
    hands.run_frames(3600.0)
    assert hands.drill.finished
    assert window.pages.currentWidget() is window.desk_page
    assert "debrief" in window.notice.text
    show = window.notice.offer_button
    assert show is not None
    show.click()
    assert window.pages.currentWidget() is window.debrief


def test_space_pauses_and_resumes_outside_text_fields(hands: WindowUser) -> None:
    window = hands.window
    start_drill(hands)
    for place in (window.topology, window.desk.docks["timing"], window.console.tabs):
        window.session.play()
        hands.press_key(Key.Key_Space, target=place)
        assert not window.session.is_running
    assert window.console.front_window is not None
    window.session.play()
    hands.press_key(Key.Key_Space, target=window.console.front_window.editor)
    assert window.session.is_running
    assert window.console.front_window.editor.toPlainText() == " "


def test_f5_executes_the_front_window_from_anywhere(hands: WindowUser) -> None:
    window = hands.window
    start_drill(hands)
    assert window.console.front_window is not None
    window.console.front_window.editor.setPlainText("SELECT 1")
    hands.press_key(Key.Key_F5, target=window.topology)
    assert hands.drill.journal[-1].verb == "sql"


@pytest.mark.parametrize("key", [Key.Key_End, Key.Key_Home])
def test_select_to_the_end_ends_no_drill(hands: WindowUser, key: Qt.Key) -> None:
    window = hands.window
    start_drill(hands)
    drill = hands.drill
    for place in (window.topology, window.console.front_window, window.input_line, window.briefing):
        assert place is not None
        hands.press_key(key, Mod.ControlModifier, Mod.ShiftModifier, target=place)
        assert window.confirmations.box is None
        assert window.session.live_drill is drill
        assert not drill.finished


@pytest.mark.slow
def test_another_drill_does_not_execute_the_old_text(hands: WindowUser) -> None:
    window = hands.window
    start_drill(hands)
    assert window.console.front_window is not None
    window.console.front_window.editor.setPlainText("ALTER DATABASE Sales SET PARTNER OFF")
    window.leave_run()
    start_drill(hands, "automatic-failover")
    assert set(window.console.list_drafts().values()) == {""}
    assert any("PARTNER OFF" in closed.text for closed in window.console.tabs.closed)


@pytest.mark.slow
def test_a_continued_run_restores_its_texts(hands: WindowUser, profile: Profile) -> None:
    window = hands.window
    start_drill(hands)
    assert window.console.front_window is not None
    window.console.front_window.editor.setPlainText("SELECT mine")
    window.show_home()
    start_drill(hands, "automatic-failover")
    window.show_home()
    run = next(run for run in profile.list_unfinished_runs() if run.scenario_name == "lab")
    window.resume_run(run.run_id)
    hands.finish_search()
    assert "SELECT mine" in window.console.list_drafts().values()


def test_rewinding_seats_of_a_class_asks_first(hands: WindowUser) -> None:
    window = hands.window
    confirmations: list[str] = []
    for line in ("freeze all", "message 3 reset the session"):
        window.confirmations.confirm_class_input(line, "Ann", confirmations.append)
        assert window.confirmations.box is None, line
    for line in ("reset all", "back 3 2:30 again", "finish"):
        window.confirmations.confirm_class_input(line, "Ann", confirmations.append)
        box = window.confirmations.box
        assert box is not None, line
        if line != "finish":
            assert "Ann" in box.informativeText()
        assert line not in confirmations
        hands.confirm_action()
        assert confirmations[-1] == line
