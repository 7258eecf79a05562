"""Tests of replays in the window: timeline, playback bar, stored branches, debrief buttons, and run files."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtWidgets import (
    QApplication,
    QFileDialog,
    QLabel,
    QMessageBox,
    QPushButton,
    QToolButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.main_window import debrief_controller
from app.settings import WindowSettings
from app.storage import Profile, open_profile
from app.views.debrief.page import EVIDENCE, OUTAGES, POINTS
from app.words import formatting
from engine.drill.authoring.scenario import load_scenario
from engine.drill.judging.counterfactual import QUERY_S
from engine.drill.par.regret_analysis import BoundGap, RegretAnalysis, RunSegment
from engine.drill.running.drill import Drill, replay
from engine.drill.running.solution import play_solution
from engine.drill.time.cooperative_tasks import CooperativeTask
from engine.verbs.input_lines import parse_input_line
from tests import painted
from tests.app.main_window.conftest import EXTRA_PLANS, WindowUser, show_window
from tests.assertions import require
from tests.open_window import OpenWindow
from tests.shipped_scenarios import load_shipped_scenario

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")
Key, Mod = Qt.Key, Qt.KeyboardModifier


def start_drill(hands: WindowUser, name: str = "automatic-failover", mode: str = "practice") -> None:
    hands.window.select_drill(name)
    hands.window.brief.start_wanted.emit(mode)
    hands.window.session.set_speed(20.0)


def play_with_failover(hands: WindowUser, mode: str = "practice") -> Drill:
    """Play 80 s; SERVER_A loses power at about 59 s."""
    start_drill(hands, mode=mode)
    hands.run_frames(80.0)
    hands.window.session.pause()
    return hands.drill


def read_label_texts(page: QWidget) -> str:
    return "\n".join(label.text() for label in page.findChildren(QLabel))


def find_button(page: QWidget, text: str) -> QPushButton:
    return next(b for b in page.findChildren(QPushButton) if b.text().startswith(text) and b.isVisible())


def click_timeline(hands: WindowUser, t_s: float) -> None:
    timeline = hands.window.timeline
    hands.qtbot.mouseClick(
        timeline, Qt.MouseButton.LeftButton, pos=QPoint(round(timeline.compute_x(t_s)), timeline.height() - 4)
    )


# --- past states --------------------------------------------------------------------------------------------


def test_a_click_on_the_timeline_shows_the_past_and_the_bar_returns(hands: WindowUser) -> None:
    live = play_with_failover(hands)
    window, end = hands.window, live.compute_state_hash()
    click_timeline(hands, 30.0)
    assert window.session.is_showing_past
    assert window.replay.bar.isVisible()
    assert hands.drill.world.t_s == pytest.approx(30.0, abs=1.0)
    assert hands.drill.world.computers["SERVER_A"].powered
    assert "running" in window.topology.summary.split(";")[0]
    window.apply_line("power-off SERVER_B")
    assert "Return to now" in window.notice.text
    hands.click_widget(window.replay.bar.now)
    assert not window.replay.bar.isVisible()
    assert hands.drill is live
    assert live.compute_state_hash() == end
    assert live.journal == []


def test_dragging_scrubs_through_the_run(hands: WindowUser, qtbot: QtBot) -> None:
    play_with_failover(hands)
    timeline, middle = hands.window.timeline, hands.window.timeline.height() // 2
    qtbot.mousePress(timeline, Qt.MouseButton.LeftButton, pos=QPoint(round(timeline.compute_x(70.0)), middle))
    times_s = []
    for t_s in (50.0, 40.0, 20.0):
        qtbot.mouseMove(timeline, QPoint(round(timeline.compute_x(t_s)), middle))
        qtbot.waitUntil(partial(lambda time_s: abs(hands.drill.world.t_s - time_s) < 1.0, t_s))
        times_s.append(hands.drill.world.t_s)
    assert times_s == sorted(times_s, reverse=True)


@pytest.mark.slow
def test_keys_step_through_marks(hands: WindowUser) -> None:
    live = play_with_failover(hands)
    window = hands.window

    def step_with_key(key: Qt.Key) -> float:
        hands.press_key(key, Mod.AltModifier, target=window.topology)
        QApplication.processEvents()
        return hands.drill.world.t_s

    walked = [step_with_key(Key.Key_Left) for _ in range(3)]
    assert live.world.t_s > walked[0] > walked[1] > walked[2]
    assert step_with_key(Key.Key_Right) == walked[1]
    hands.press_key(Key.Key_End, Mod.AltModifier, target=window.topology)
    assert hands.drill is live


@pytest.mark.slow
def test_a_held_key_does_not_outrun_the_window(hands: WindowUser, monkeypatch: pytest.MonkeyPatch) -> None:
    """The window combines key presses that arrive while it shows a past state, so no work remains after the
    release.
    """
    play_with_failover(hands)
    window = hands.window
    walked = []
    for _ in range(4):
        hands.press_key(Key.Key_Left, Mod.AltModifier, target=window.topology)
        QApplication.processEvents()
        walked.append(hands.drill.world.t_s)
    hands.press_key(Key.Key_End, Mod.AltModifier, target=window.topology)
    QApplication.processEvents()
    ticks: list[int] = []
    look = window.session.show_time

    def record_shown_tick(tick: int) -> bool:
        ticks.append(tick)
        return look(tick)

    monkeypatch.setattr(window.session, "look", record_shown_tick)
    for _ in range(4):
        hands.press_key(Key.Key_Left, Mod.AltModifier, target=window.topology)
    QApplication.processEvents()
    assert hands.drill.world.t_s == walked[3]
    assert len(ticks) == 2, "the first at once, and the last"


def test_an_exam_cannot_be_rewound(hands: WindowUser) -> None:
    live = play_with_failover(hands, mode="exam")
    window = hands.window
    click_timeline(hands, 30.0)
    assert hands.drill is live
    assert "cannot be rewound" in window.notice.text
    window.branches.show_branches()
    assert window.pages.currentWidget() is window.desk_page
    for door in ("drill.save_scenario", "drill.edit_copy"):  # the text contains the faults and the solution
        window.notice.hide_notice()
        window.actions_by_name[door].trigger()
        assert "ends." in window.notice.text
        assert window.pages.currentWidget() is window.desk_page


def test_the_timeline_marks_detections_and_transitions(hands: WindowUser) -> None:
    play_with_failover(hands)
    kinds = {marker.kind for marker in hands.window.timeline.markers}
    assert {"fault", "detection", "transition", "failover", "reached"} <= kinds


# --- branches -----------------------------------------------------------------------------------------------


def branch_without_witness(hands: WindowUser) -> Drill:
    """Create a branch at 30 s in which the witness is removed."""
    play_with_failover(hands)
    click_timeline(hands, 30.0)
    hands.click_widget(hands.window.replay.bar.go_on)
    hands.window.apply_line("sql SERVER_A ALTER DATABASE Sales SET WITNESS OFF")
    hands.window.session.play()
    hands.run_frames(50.0)
    hands.window.session.pause()
    return hands.drill


def test_continuing_from_the_past_creates_a_recorded_branch(hands: WindowUser, profile: Profile) -> None:
    branch = branch_without_witness(hands)
    tree = hands.window.play.branches
    assert tree is not None
    assert tree.list_names() == ["main", "branch 1"]
    assert branch.journal[0].verb == "rewind"
    assert branch.rewinds[0][0] == 8000
    assert not branch.world.availability["Sales"].serving  # Without a witness, no automatic failover occurs.
    assert tree.get_history("main").drill.world.availability["Sales"].serving
    (run,) = profile.list_unfinished_runs()  # The start page offers only the newest run of a tree.
    replayed = replay(branch.scenario, run.seed, run.mode, [line.text for line in run.lines], branch.tick)
    assert replayed.compute_state_hash() == branch.compute_state_hash()


@pytest.mark.slow
def test_branch_names_are_complete_at_any_text_size(hands: WindowUser) -> None:
    branch_without_witness(hands)
    window = hands.window
    window.appearance.set_font_scale(2.0)
    window.branches.show_branches()
    QApplication.processEvents()
    page = window.branches.page
    assert page is not None
    painted_words = [text.content for text in painted.list_texts(page.tree.viewport())]
    assert any("branch 1" in words for words in painted_words)
    assert not [words for words in painted_words if painted.ELLIPSIS in words]


def test_branches_are_compared_renamed_and_switched_by_keys(
    hands: WindowUser, qtbot: QtBot, monkeypatch
) -> None:
    branch_without_witness(hands)
    window = hands.window
    hands.press_key(Key.Key_B, Mod.ControlModifier, Mod.AltModifier, target=window.topology)
    page = window.branches.page
    assert page is not None
    QApplication.processEvents()
    assert page.tree.horizontalScrollBar().maximum() == 0, "columns that cannot be seen"
    assert window.pages.currentWidget() == page
    assert page.selected_branch == "branch 1"
    labels = read_label_texts(page.comparison)
    assert "The runs diverge at 0:" in labels
    assert "SET WITNESS OFF" in labels
    assert "≠" in labels
    monkeypatch.setattr("app.views.branches.ask_text", lambda *_: "no witness")
    hands.press_key(Key.Key_F2, target=page.tree)
    assert page.selected_branch == "no witness"
    hands.press_key(Key.Key_Up, target=page.tree)
    assert page.selected_branch == "main"
    hands.press_key(Key.Key_Return, target=page.tree)
    assert window.pages.currentWidget() is window.desk_page
    assert hands.drill.journal == []
    assert hands.drill.world.t_s == 80.0


def test_a_tree_of_branches_is_continued_at_the_next_start(
    hands: WindowUser, qtbot: QtBot, profile: Profile, store: WindowSettings
) -> None:
    branch = branch_without_witness(hands)
    hands.window.play.rename_branch("branch 1", "no witness")
    hands.window.show_home()
    (run,) = profile.list_unfinished_runs()
    hands.window.resume_run(run.run_id)
    hands.finish_search()
    tree = hands.window.play.branches
    assert tree is not None
    assert (tree.list_names(), tree.current) == (["main", "no witness"], "no witness")
    assert hands.drill.compute_state_hash() == branch.compute_state_hash()
    hands.window.play.switch_branch("main")
    assert hands.drill.world.availability["Sales"].serving
    hands.window.apply_line("note still recorded")
    main_run = next(b.run_id for b in profile.list_branches(run.run_id) if b.name == "main")
    assert [line.text.split()[1] for line in profile.read_journal(main_run)] == ["note"]


@pytest.mark.slow
def test_a_removed_branch_leaves_the_tree(hands: WindowUser, profile: Profile) -> None:
    branch_without_witness(hands)
    play = hands.window.play
    play.switch_branch("main")
    play.prune("branch 1")
    assert play.branches is not None
    assert play.branches.list_names() == ["main"]
    (run,) = profile.list_unfinished_runs()
    assert [branch.name for branch in profile.list_branches(run.run_id)] == ["main"]


# --- seeds --------------------------------------------------------------------------------------------------


def start_run_for_seed(hands: WindowUser, name: str) -> int:
    start_drill(hands, name)
    return hands.drill.seed


@pytest.mark.slow
def test_the_first_run_uses_the_files_seed_and_later_runs_new_ones(hands: WindowUser) -> None:
    own_seed = load_shipped_scenario("forced-service").seed
    seeds = [start_run_for_seed(hands, "forced-service") for _ in range(4)]
    assert seeds[0] == own_seed
    assert len(set(seeds)) == 4
    assert f"seed {seeds[-1]}" in hands.window.run_facts.text()


def test_a_restart_repeats_the_seed_and_the_lab_never_varies(hands: WindowUser) -> None:
    start_run_for_seed(hands, "forced-service")
    seed = start_run_for_seed(hands, "forced-service")
    before = hands.drill
    hands.window.actions_by_name["drill.restart"].trigger()
    hands.confirm_action()
    assert hands.drill is not before
    assert hands.drill.seed == seed
    assert start_run_for_seed(hands, "lab") == start_run_for_seed(hands, "lab")


@pytest.mark.slow
def test_the_brief_describes_the_played_variant(hands: WindowUser) -> None:
    for _ in range(3):
        start_drill(hands, "forced-service")
        window = hands.window
        window.select_drill("forced-service")
        shown_brief = window.scenario
        window.brief.start_wanted.emit("practice")
        assert shown_brief is not None
        assert hands.drill.scenario.brief == shown_brief.brief
        assert hands.drill.scenario.variants == shown_brief.variants


# --- debrief, files -----------------------------------------------------------------------------------------


def finish_badly(hands: WindowUser) -> None:
    start_drill(hands)
    hands.run_frames(70.0)
    hands.window.apply_line("sql SERVER_B ALTER DATABASE Sales SET PARTNER FAILOVER")
    hands.run_frames(10.0)
    hands.window.apply_line("finish")
    hands.confirm_action()
    assert hands.window.pages.currentWidget() is hands.window.debrief


def test_each_mistake_can_be_retried_and_viewed(hands: WindowUser, profile: Profile) -> None:
    finish_badly(hands)
    window = hands.window
    refused = next(m for m in window.debriefing._source.review.mistakes if "rejected" in m.what)
    points = hands.open_tab(POINTS)
    moments = {b.text(): b for b in points.findChildren(QPushButton) if b.text().startswith("Retry ")}
    before_s = (refused.cause_tick - refused.retry_tick) / 100
    label = (
        f"Retry from {formatting.format_run_time(refused.retry_tick / 100, 1)}, {before_s:.0f} s before this"
    )
    look = require(moments[label].parentWidget()).findChildren(QPushButton)[1]
    look.click()
    assert window.pages.currentWidget() is window.desk_page
    assert window.session.is_showing_past
    hands.click_widget(window.replay.bar.leave)
    assert window.pages.currentWidget() == window.debrief
    points = hands.open_tab(POINTS)
    next(b for b in points.findChildren(QPushButton) if b.text() == label).click()
    assert window.pages.currentWidget() is window.desk_page
    assert hands.drill.tick == refused.retry_tick
    assert [item.verb for item in hands.drill.journal] == ["rewind"]
    assert window.play.branches is not None
    assert window.play.branches.list_names() == ["main", "branch 1"]


def test_a_retry_leaves_time_to_act_before_the_mistake(hands: WindowUser) -> None:
    """Enter starts a paused retry before the mistake, and a notice names the next event and its time."""
    finish_badly(hands)
    window = hands.window
    hands.finish_analysis()
    verdict = require(require(window.debrief.model).build_verdict())
    lesson, retry = require(verdict.lesson), require(verdict.retry_point)
    hands.press_key(Qt.Key.Key_Return, target=window.debrief)
    assert window.pages.currentWidget() is window.desk_page
    assert not window.session.is_running
    assert hands.drill.tick == retry.begin_tick
    assert (lesson.tick - hands.drill.tick) / 100 >= QUERY_S
    assert retry.notice in window.notice.text
    assert not require(window.notice.findChild(QTimer)).isActive(), (
        "it stays as long as the clock stands still"
    )
    hands.click_widget(next(b for b in window.transport.findChildren(QToolButton) if b.isVisible()))
    hands.run_frames(1.0)
    assert retry.notice not in window.notice.text


def test_an_old_run_is_viewed_with_its_branches(hands: WindowUser, profile: Profile) -> None:
    branch_without_witness(hands)
    hands.window.apply_line("finish")
    hands.confirm_action()
    hands.window.show_home()
    (row,) = profile.list_results()
    hands.window.debriefing.show_stored(row.run_id)
    assert hands.window.pages.currentWidget() is hands.window.debrief
    hands.open_tab(OUTAGES)
    assert "What happened, and why" in read_label_texts(require(hands.window.debrief))
    hands.window.branches.show_branches()
    assert hands.window.branches.page is not None
    assert hands.window.play.branches is not None
    assert hands.window.play.branches.list_names() == ["main", "branch 1"]


@pytest.mark.usefixtures("style_sheet")
def test_with_large_text_on_a_small_screen_the_debrief_does_not_scroll_sideways(hands: WindowUser) -> None:
    """No text is cut off, because columns are placed below one another."""
    finish_badly(hands)
    window, page = hands.window, hands.window.debrief
    hands.finish_analysis()
    hands.open_tab(EVIDENCE)
    QApplication.processEvents()
    wide = read_label_texts(page)
    window.appearance.set_font_scale(2.0)
    window.resize(1024, 768)
    for _ in range(4):
        QApplication.processEvents()
    assert page.verticalScrollBar().maximum() > 0
    assert page.horizontalScrollBar().maximum() == 0
    assert "Met?" in wide
    assert "Met: yes" in read_label_texts(page)
    assert require(page.widget()).width() <= page.viewport().width()
    window.appearance.set_font_scale(1.0)
    for _ in range(4):
        QApplication.processEvents()
    assert "Met?" in read_label_texts(page)
    assert read_label_texts(hands.open_tab(EVIDENCE)) in wide


def test_every_export_is_written(hands: WindowUser, tmp_path: Path, monkeypatch) -> None:
    finish_badly(hands)
    hands.finish_analysis()
    for kind, (ending, *_) in debrief_controller.EXPORT_WRITERS.items():
        file = tmp_path / f"{kind}{ending}"
        monkeypatch.setattr(
            "PySide6.QtWidgets.QFileDialog.getSaveFileName", lambda *_, file=file, **__: (str(file), "")
        )
        hands.window.notice.hide_notice()
        hands.window.debrief.export_wanted.emit(kind)
        assert "Saved" in hands.window.notice.text, kind
        files_written = list(tmp_path.glob(f"{kind}*{ending}"))
        assert files_written, kind
        assert all(file.stat().st_size > 100 for file in files_written), kind
    assert "point of no return" in (tmp_path / "html.html").read_text(encoding="utf-8"), (
        "worked out by itself"
    )
    assert (tmp_path / "csv-worth.csv").exists()
    (tmp_path / "csv-worth.csv").write_text("mine")
    monkeypatch.setattr(
        "PySide6.QtWidgets.QFileDialog.getSaveFileName", lambda *_, **__: (str(tmp_path / "csv.csv"), "")
    )
    for button, is_kept in ((QMessageBox.StandardButton.No, True), (QMessageBox.StandardButton.Yes, False)):
        asked: list[str] = []

        def answer(_: object, __: str, text: str, *___: object, asked=asked, button=button) -> object:
            asked.append(text)
            return button

        monkeypatch.setattr("PySide6.QtWidgets.QMessageBox.question", answer)
        hands.window.debrief.export_wanted.emit("csv")
        assert "csv-worth.csv" in asked[0]
        assert ((tmp_path / "csv-worth.csv").read_text() == "mine") is is_kept


def test_an_export_waits_for_the_analysis(hands: WindowUser, tmp_path: Path, monkeypatch) -> None:
    finish_badly(hands)
    file = tmp_path / "run.html"
    monkeypatch.setattr("PySide6.QtWidgets.QFileDialog.getSaveFileName", lambda *_, **__: (str(file), ""))
    hands.window.debrief.export_wanted.emit("html")
    assert not file.exists()
    hands.finish_analysis()
    assert "Biggest mistake" in file.read_text(encoding="utf-8")
    assert "Saved" in hands.window.notice.text


def test_a_run_file_is_opened_and_compared(hands: WindowUser, tmp_path: Path, monkeypatch) -> None:
    finish_badly(hands)
    file = tmp_path / "run.json"
    monkeypatch.setattr("PySide6.QtWidgets.QFileDialog.getSaveFileName", lambda *_, **__: (str(file), ""))
    hands.finish_analysis()
    hands.window.debrief.export_wanted.emit("json")
    hands.window.show_home()
    hands.window.debriefing.open_file(file)
    assert "matches the recorded run" in hands.window.notice.text
    assert hands.window.pages.currentWidget() is hands.window.debrief
    changed = json.loads(file.read_text())
    changed["report"]["hashes"][1]["hash"] = "0" * 32
    file.write_text(json.dumps(changed))
    hands.window.debriefing.open_file(file)
    assert "differs from the recorded run" in hands.window.notice.text
    file.write_text("[]")
    hands.window.debriefing.open_file(file)
    assert "is not a Mirrordrill run" in hands.window.notice.text


def repair_in_lab(hands: WindowUser) -> None:
    start_drill(hands, "lab", "lab")
    hands.run_frames(10.0)
    hands.window.apply_line("power-off SERVER_A")
    hands.run_frames(30.0)
    hands.window.apply_line("power-on SERVER_A")
    hands.run_frames(200.0)


@pytest.mark.slow
def test_another_scenario_is_not_replaced_after_a_name_change(
    hands: WindowUser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repair_in_lab(hands)
    other_file, questions, answer = tmp_path / "my-drill.toml", [], QMessageBox.StandardButton.No
    other_file.write_text("of somebody")

    def record_question(_: object, __: str, text: str, *___: object) -> QMessageBox.StandardButton:
        questions.append(text)
        return answer

    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "My drill.toml"), ""))
    monkeypatch.setattr(QMessageBox, "question", record_question)
    hands.window.actions_by_name["drill.save_scenario"].trigger()
    assert "my-drill.toml" in questions[0]
    assert other_file.read_text() == "of somebody"
    answer = QMessageBox.StandardButton.Yes
    hands.window.actions_by_name["drill.save_scenario"].trigger()
    assert load_scenario(other_file.read_text(), "my-drill.toml").name == "my-drill"


@pytest.mark.slow
def test_a_run_that_cannot_be_written_keeps_the_existing_scenario(
    hands: WindowUser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repair_in_lab(hands)
    file = tmp_path / "my-drill.toml"
    file.write_text("of somebody")

    def raise_disk_full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", raise_disk_full)
    save_as_scenario(hands, file, monkeypatch)
    assert "No space left on device" in hands.window.notice.text
    assert [file.read_text() for file in tmp_path.glob("*my-drill*")] == ["of somebody"]


def save_as_scenario(hands: WindowUser, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(file), ""))
    hands.window.actions_by_name["drill.save_scenario"].trigger()


def test_a_lab_session_becomes_a_scenario(
    hands: WindowUser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repair_in_lab(hands)
    save_as_scenario(hands, tmp_path / "my-drill.toml", monkeypatch)
    assert "Saved" in hands.window.notice.text
    recorded_scenario = load_scenario((tmp_path / "my-drill.toml").read_text(), "my-drill.toml")
    drill = Drill(recorded_scenario)
    play_solution(drill)
    assert drill.compute_score().total >= 95.0


def test_a_run_without_repairs_cannot_be_saved_as_a_scenario(
    hands: WindowUser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start_drill(hands, "lab", "lab")
    hands.run_frames(10.0)
    save_as_scenario(hands, tmp_path / "idle.toml", monkeypatch)
    assert "This run contains no repair" in hands.window.notice.text
    assert not (tmp_path / "idle.toml").exists()


@pytest.mark.slow
def test_without_a_profile_branches_last_as_long_as_the_window(
    qtbot: QtBot, tmp_path: Path, store: WindowSettings
) -> None:
    window: OpenWindow = show_window(qtbot, None, store)
    hands = WindowUser(qtbot, window)
    branch_without_witness(hands)
    window.play.switch_branch("main")
    assert hands.drill.world.availability["Sales"].serving
    window.close()


def test_recorded_branches_survive_a_restart(hands: WindowUser, profile: Profile, tmp_path: Path) -> None:
    branch_without_witness(hands)
    names = [b.name for b in profile.list_branches(profile.list_unfinished_runs()[0].run_id)]
    folder = profile.file.parent
    hands.window.close()
    profile.close()
    with open_profile(folder) as second_profile:
        assert (
            [b.name for b in second_profile.list_branches(second_profile.list_unfinished_runs()[0].run_id)]
            == names
            == ["main", "branch 1"]
        )


@pytest.mark.slow
def test_a_long_run_replays_in_slices_and_can_be_stopped(hands: WindowUser, profile: Profile) -> None:
    finish_badly(hands)
    window, session = hands.window, hands.window.session
    window.show_home()
    (row,) = profile.list_results()
    session.host.immediate_task_s = 0.0
    window.debriefing.show_stored(row.run_id)
    assert session.is_loading
    assert window.pages.currentWidget() is window.picker
    assert not window.loading.isHidden()
    window.loading.stop.click()
    assert not session.is_loading
    assert window.loading.isHidden()
    assert window.pages.currentWidget() is window.picker
    window.debriefing.show_stored(row.run_id)
    while session.is_loading:
        session.on_frame(100.0)
    assert window.loading.isHidden()
    assert window.pages.currentWidget() == window.debrief
    hands.open_tab(OUTAGES)
    assert "What happened, and why" in read_label_texts(window.debrief)


@pytest.mark.slow
@pytest.mark.usefixtures("style_sheet")  # The style sheet propagates the larger text size.
def test_canceling_the_reference_keeps_the_run(hands: WindowUser) -> None:
    finish_badly(hands)
    window, session = hands.window, hands.window.session
    tree = window.play.branches
    session.host.immediate_task_s = 0.0
    window.debrief.solution_wanted.emit()
    assert session.is_loading
    session.on_frame(1.0)
    assert window.loading.label.isVisible()
    window.appearance.set_font_scale(2.0)  # This size leaves room only for the bar and its button.
    session.on_frame(1.0)
    assert session.is_loading
    assert not window.loading.label.isVisible()
    assert window.loading.bar.isVisible()
    session.cancel_task()
    assert window.pages.currentWidget() == window.debrief
    assert window.play.branches is tree
    assert not window.play.watching
    window.debrief.solution_wanted.emit()
    hands.finish_search()
    assert window.play.watching
    assert window.pages.currentWidget() is window.desk_page
    assert hands.drill.tick == 0
    assert session.history is not None
    assert session.show_time(session.history.drill.tick // 2)


@pytest.mark.slow
def test_continuing_from_a_moment_loads_stored_branches_first(hands: WindowUser, profile: Profile) -> None:
    branch_without_witness(hands)
    window, session = hands.window, hands.window.session
    window.show_home()
    (run,) = profile.list_unfinished_runs()
    window.resume_run(run.run_id)
    hands.finish_search()
    tree = window.play.branches
    assert tree is not None
    session.host.immediate_task_s = 0.0
    window.play.branch_at(hands.drill.tick)
    assert session.is_loading
    assert not session.apply_input("power-off SERVER_A")
    assert "being replayed" in window.notice.text
    session.cancel_task()
    assert tree.list_names() == ["main", "branch 1"]
    window.play.branch_at(hands.drill.tick)
    hands.finish_search()
    assert tree.list_names() == ["main", "branch 1", "branch 2"]
    assert tree.current == "branch 2"


def test_the_analysis_runs_in_the_background_and_ends_with_the_page(
    hands: WindowUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = hands.window
    monkeypatch.setattr("app.main_window.debrief_controller.REVIEW_BUDGET_S", 0.0)
    play_with_failover(hands)
    window.session.apply_input("finish")
    assert window.pages.currentWidget() is window.debrief
    assert window.debriefing._analysis.is_running, "it has begun"
    assert not window.session.is_busy, "and nothing waits for it"
    assert window.loading.isHidden()
    assert "Not passed" in read_label_texts(require(window.debrief))
    assert "Looking for the biggest mistake…" in read_label_texts(require(window.debrief))
    window.show_home()
    assert not window.debriefing._analysis.is_running, "with the page it ends"


def test_the_curve_is_drawn_before_the_analysis_is_complete(hands: WindowUser) -> None:
    window = hands.window
    play_with_failover(hands)
    window.session.apply_input("finish")
    hands.qtbot.waitUntil(lambda: require(window.debrief.model).regret_analysis is not None, timeout=60_000)
    account = require(require(window.debrief.model).regret_analysis)
    assert account.curve
    assert require(window.debrief.model).is_provisional == window.debriefing._analysis.is_running
    hands.finish_analysis()
    assert "Analysis finished" in read_label_texts(window.debrief)


def test_a_longer_search_tries_ten_times_as_many_plans(
    hands: WindowUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    window, requests = hands.window, list[tuple[int, int]]()

    def record_request(
        drill: Drill, plans: Sequence[object], node_limit: int = EXTRA_PLANS, **_: object
    ) -> CooperativeTask[RegretAnalysis]:
        requests.append((len(plans), node_limit))
        yield 0.0
        return RegretAnalysis((move,), 60.0, None, BoundGap(100, 50.0, 90.0))

    move = RunSegment(100, 200, "", 50.0, 20.0, "blunder", (parse_input_line("power-on SERVER_A"),))
    monkeypatch.setattr("app.main_window.debrief_controller.analyze_regret", record_request)
    play_with_failover(hands)
    window.session.apply_input("finish")
    hands.finish_analysis()
    for _ in range(2):
        hands.click_widget(find_button(window.debrief, "Search longer"))
        hands.finish_analysis()
    (first_runs, _), *_ = requests
    assert requests == [
        (first_runs, EXTRA_PLANS),
        (first_runs + 1, 10 * EXTRA_PLANS),
        (first_runs + 1, 100 * EXTRA_PLANS),
    ]


def test_the_best_continuation_can_be_watched_and_taken_over(hands: WindowUser) -> None:
    window = hands.window
    play_with_failover(hands)
    window.session.apply_input("power-off SERVER_B")
    window.session.apply_input("finish")
    hands.finish_analysis()
    verdict = require(require(window.debrief.model).build_verdict())
    window.debrief.best_continuation_wanted.emit(verdict.lesson)
    hands.qtbot.waitUntil(lambda: window.session.is_showing_past)
    assert window.play.best is not None
    assert window.replay.bar.go_on.isVisible()
    tick_now = hands.drill.tick
    window.replay.step_solution(1)
    assert hands.drill.tick >= tick_now
    lines = [item.line for item in hands.drill.journal]
    hands.click_widget(window.replay.bar.go_on)
    hands.qtbot.waitUntil(lambda: not window.session.is_showing_past)
    assert [item.line for item in hands.drill.journal][: len(lines)] == lines
    assert hands.drill.journal[-1].verb == "rewind", "somebody has come back here, and the score knows"
    assert window.play.run_id is not None
    assert window.session.speed == 1.0, "at which a person can do something"
    assert window.notice.text.startswith("Resumed at ")
    window.progress.show_progress()
    assert not window.notice.text
    window.navigation.return_from_page()
    window.play.branch_at(hands.drill.tick)
    hands.finish_search()
    assert window.notice.text.startswith("Resumed at ")
    window.session.play()
    assert not window.notice.text
