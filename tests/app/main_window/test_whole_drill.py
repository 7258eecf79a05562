"""Tests of complete drills in the real window by mouse, by keyboard and by text, from start page to debrief."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QLabel, QPushButton, QWidget

from app.host.playback import STATE_EVENT_KINDS
from app.learning.reflection import Reflection
from app.storage import Profile
from app.view_models.action_offers import ActionTarget
from app.views.debrief.page import OUTAGES, POINTS, TIMELINE
from app.views.debrief.reflection import ReflectionForm
from app.widgets.timeline_strip import TimelineStrip
from engine.model import Role
from tests.app.main_window.conftest import WindowUser, open_menus
from tests.assertions import require
from tests.events import read_field
from tests.open_window import OpenWindow

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")
Key, Mod = Qt.Key, Qt.KeyboardModifier


def read_label_texts(page: QWidget) -> str:
    return "\n".join(label.text() for label in page.findChildren(QLabel))


def find_button(page: QWidget, text: str) -> QPushButton:
    return next(
        button for button in page.findChildren(QPushButton) if button.text() == text and button.isVisible()
    )


def start_drill(hands: WindowUser, name: str) -> None:
    """Start a drill from the start page."""
    window = hands.window
    window.picker.select_drill(name)
    window.picker.grid.setFocus()
    hands.press_key(Key.Key_Return)
    assert window.pages.currentWidget() is window.brief
    hands.click_widget(find_button(require(window.brief), "Start the clock"))
    assert window.pages.currentWidget() is window.desk_page
    assert window.session.is_running


def type_sql(hands: WindowUser, server: str, batch: str) -> None:
    """Type a batch into a window on *server* and execute it with F5."""
    console = hands.window.console
    query_window = console.open_query(server)
    assert query_window is not None
    hands.click_widget(query_window.editor.viewport())
    hands.qtbot.keyClicks(query_window.editor, batch)
    assert query_window.editor.toPlainText() == batch
    hands.press_key(Key.Key_F5, target=query_window.editor)


def test_the_lab_is_played_by_mouse_and_typed_sql(hands: WindowUser, profile: Profile) -> None:
    """The run uses a context menu, a failover, T-SQL with F5, a repair from the menu, and the debrief."""
    window = hands.window
    start_drill(hands, "lab")
    hands.run_frames(5.0)
    hands.choose_menu_item(hands.open_context_menu(ActionTarget("server", ("SERVER_A",))), "Power off")
    hands.run_frames(
        30.0, lambda: hands.drill.world.copies["SERVER_B", "Sales"].mirroring.role is Role.PRINCIPAL
    )
    type_sql(
        hands, "SERVER_B", "SELECT mirroring_role_desc, mirroring_state_desc FROM sys.database_mirroring"
    )
    hands.run_frames(2.0, lambda: any(event.kind == "sql_done" for event in hands.drill.events))
    results = window.console.front_window
    assert results is not None
    assert "PRINCIPAL" in str(
        [read_field(event, "results") for event in hands.drill.events if event.kind == "sql_done"]
    )
    hands.choose_menu_item(hands.open_context_menu(ActionTarget("server", ("SERVER_A",))), "Power on")
    window.session.set_speed(20.0)
    hands.run_frames(300.0, lambda: hands.drill.world.copies["SERVER_B", "Sales"].mirroring.state == 4)
    window.actions_by_name["drill.finish"].trigger()
    hands.confirm_action()
    assert window.pages.currentWidget() is window.debrief
    page = read_label_texts(require(window.debrief)) + read_label_texts(hands.open_tab(TIMELINE))
    assert "Database mirroring lab" in page
    assert "automatic failover SERVER_A → SERVER_B, cause: power-off" in page
    assert "Published: 2.6 s" in page
    assert "Downtime" in page
    (row,) = profile.list_results()
    assert (row.scenario_name, row.score) == ("lab", None)
    lines = [line.text.split(" ", 1)[1].split("\n")[0] for line in profile.read_journal(row.run_id)]
    assert lines[0] == "power-off SERVER_A"
    assert lines[1].startswith("sql SERVER_B")
    assert lines[2:] == ["power-on SERVER_A", "finish"]


def test_a_scored_drill_is_played_to_full_points(hands: WindowUser, profile: Profile) -> None:
    """One command restores service on the isolated principal, and the debrief shows the points for it."""
    window = hands.window
    start_drill(hands, "isolated-principal")
    window.session.set_speed(10.0)
    hands.run_frames(300.0, lambda: not hands.drill.world.availability["Sales"].serving)
    type_sql(hands, "SERVER_A", "ALTER DATABASE Sales SET WITNESS OFF")
    hands.run_frames(5.0, lambda: any(event.kind == "sql_done" for event in hands.drill.events))
    assert not hands.drill.world.availability["Sales"].serving
    type_sql(hands, "SERVER_A", "ALTER DATABASE Sales SET PARTNER OFF")
    window.session.set_speed(50.0)
    hands.run_frames(1200.0)
    assert window.pages.currentWidget() is window.debrief
    page = (
        read_label_texts(require(window.debrief))
        + read_label_texts(hands.open_tab(POINTS))
        + read_label_texts(hands.open_tab(OUTAGES))
    )
    assert "all goals met" in page
    assert "rejected a command with error 1431" in page  # The debrief shows the wrong step and the reason.
    (row,) = profile.list_results()
    assert row.score is not None
    assert 50.0 < row.score < 100.0
    hands.click_widget(find_button(require(window.debrief), "Back to the start page"))
    window.picker.select_drill("isolated-principal")
    card = window.picker.get_current_card()
    assert card is not None
    assert card.name == "isolated-principal"
    assert card.best == row.score


def test_a_drill_is_played_by_keyboard(hands: WindowUser) -> None:
    """No mouse is used from the start page to the end."""
    window = hands.window
    hands.press_key(Key.Key_K, Mod.ControlModifier)
    hands.qtbot.keyClicks(window.picker.search, "mirroring lab")
    hands.press_key(Key.Key_Return)
    hands.press_key(Key.Key_Return)
    assert window.pages.currentWidget() is window.brief
    hands.press_key(Key.Key_Space)
    assert window.pages.currentWidget() is window.desk_page
    hands.run_frames(2.0)
    hands.press_key(Key.Key_1, Mod.AltModifier)
    hands.press_key(Key.Key_Tab)
    assert window.topology.get_target() == ActionTarget("server", ("SERVER_A",))
    hands.press_key(Key.Key_Return)
    (menu,) = open_menus()
    hands.qtbot.keyClick(menu, Key.Key_Down)
    hands.qtbot.keyClick(menu, Key.Key_Down)
    hands.qtbot.keyClick(menu, Key.Key_Return)
    assert not hands.drill.world.computers["SERVER_A"].powered
    hands.press_key(Key.Key_F9, Mod.ShiftModifier)
    hands.finish_search()
    assert {event.kind for event in hands.drill.events if event.tick == hands.drill.tick} & STATE_EVENT_KINDS
    hands.press_key(Key.Key_2, Mod.AltModifier)
    current = window.console.front_window
    assert current is not None
    hands.qtbot.keyClicks(current.editor, "PRINT 'seen'")
    hands.press_key(Key.Key_F5, target=current.editor)
    hands.press_key(Key.Key_Pause)
    hands.run_frames(1.0)
    assert any(event.kind == "sql_done" for event in hands.drill.events)
    hands.press_key(Key.Key_End, Mod.ControlModifier, Mod.AltModifier, target=window.topology)
    hands.confirm_action()
    assert window.pages.currentWidget() is window.debrief


def test_a_drill_is_played_by_text_only(hands: WindowUser) -> None:
    """The test types every input into the command line and uses its completion."""
    window = hands.window
    start_drill(hands, "lab")
    line = window.input_line
    window.actions_by_name["drill.act"].trigger()
    assert line.hasFocus()
    hands.qtbot.keyClicks(line, "power-off server_b")
    hands.press_key(Key.Key_Return, target=line)
    assert not hands.drill.world.computers["SERVER_B"].powered
    hands.qtbot.keyClicks(line, "sql SERVER_A PRINT 'x'")
    hands.press_key(Key.Key_Return, target=line)
    hands.run_frames(1.0)
    assert hands.drill.events[-1].kind
    hands.qtbot.keyClicks(line, "power-of SERVER_A")
    hands.press_key(Key.Key_Return, target=line)
    assert "did you mean power-off" in window.notice.text
    hands.press_key(Key.Key_Up, target=line)
    assert line.text() == "power-of SERVER_A"
    line.clear()
    hands.qtbot.keyClicks(line, "finish")
    hands.press_key(Key.Key_Return, target=line)
    assert window.pages.currentWidget() is window.debrief


def test_a_mistake_is_retried_and_the_reference_shown(hands: WindowUser, profile: Profile) -> None:
    window: OpenWindow = hands.window
    start_drill(hands, "automatic-failover")
    window.session.set_speed(20.0)
    hands.run_frames(100.0)
    window.session.apply_input("finish")
    assert window.pages.currentWidget() == window.debrief
    hands.open_tab(TIMELINE)
    window.debrief.findChildren(TimelineStrip)[0].time_clicked.emit(30.0)
    hands.click_widget(find_button(window.debrief, "Retry from 0:30.0"))
    assert window.pages.currentWidget() is window.desk_page
    assert hands.drill.tick == 3000
    assert hands.drill.world.computers["SERVER_A"].powered
    window.session.apply_input("finish")
    assert len(profile.list_results()) == 2
    journal_kept = profile.read_journal(profile.list_results()[0].run_id)
    assert [line.text.split()[:2] for line in journal_kept] == [["30", "rewind"], ["30", "finish"]]
    window.debrief.solution_wanted.emit()
    assert window.pages.currentWidget() is window.desk_page
    live_run = window.session.live_drill
    assert live_run is not None
    assert live_run.compute_score().total >= 95.0
    for number, item in enumerate(live_run.journal, start=1):  # every step shows its reason
        hands.click_widget(window.replay.bar.next)
        assert len(hands.drill.journal) == number
        assert hands.drill.tick == item.tick
        labels = read_label_texts(window.replay.bar)
        assert live_run.scenario.solution[number - 1].why in labels
    hands.click_widget(window.replay.bar.previous)
    assert len(hands.drill.journal) == len(live_run.journal) - 1
    window.apply_line("power-off SERVER_A")
    assert "ended" in window.notice.text
    hands.click_widget(window.replay.bar.leave)
    assert window.pages.currentWidget() is window.debrief
    assert len(profile.list_results()) == 2  # the replay is not stored as a run


def test_a_self_assessment_is_optional_before_the_points(hands: WindowUser, profile: Profile) -> None:
    window = hands.window

    def finish_drill() -> str:
        window.show_home()
        start_drill(hands, "automatic-failover")
        hands.run_frames(40.0)
        window.session.apply_input("finish")
        assert window.pages.currentWidget() is window.debrief
        if not require(window.debrief).findChildren(ReflectionForm):
            hands.open_tab(POINTS)
        return read_label_texts(require(window.debrief))

    assert "Score by rule" in finish_drill(), "nobody is asked who has not chosen it"
    (wanted,) = window.debrief.findChildren(QCheckBox)
    hands.press_key(Key.Key_Space, target=wanted)
    debrief_text = finish_drill()
    assert "Self-assessment, before you see your points" in debrief_text
    assert "Score by rule" not in debrief_text
    assert "Not passed" not in debrief_text
    form = window.debrief.findChild(ReflectionForm)
    assert form is not None
    assert window.focusWidget() is form.happened, "the keyboard is there"
    hands.qtbot.keyClicks(form.happened, "SERVER_A lost its power")
    hands.qtbot.keyClicks(form.expected, "70")
    hands.click_widget(find_button(form, "Show the points"))
    page = read_label_texts(require(window.debrief))
    assert "You expected 70 points. Your score is" in page
    assert "SERVER_A lost its power" in page
    assert "Score by rule" in page
    run = max(row.run_id for row in profile.list_results())
    assert profile.read_reflection(run) == Reflection("SERVER_A lost its power", "", 70.0)
    assert "Self-assessment, before you see your points" in finish_drill()
    hands.click_widget(find_button(require(window.debrief), "Skip"))
    hands.open_tab(POINTS)
    assert "Score by rule" in read_label_texts(require(window.debrief))
    assert profile.read_reflection(max(row.run_id for row in profile.list_results())) is None
    window.show_history()
    window.debriefing.show_stored(run)
    assert "SERVER_A lost its power" in read_label_texts(require(window.debrief)), "it stays with its run"
