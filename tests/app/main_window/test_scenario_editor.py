"""Tests of the scenario editor in the window: typing, form, files, drafts and trial runs."""

from __future__ import annotations

import threading
import tomllib
from importlib import resources
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QFileDialog, QLabel, QMessageBox, QPushButton
from pytestqt.qtbot import QtBot

from app import settings
from app.files import atomic_write, scenario_files
from app.settings import WindowSettings
from app.storage import Profile
from app.views.briefing import BriefPage
from app.views.editor import ScenarioEditor
from app.views.editor.findings import CheckCanceledError, create_stoppable_drill_class, play_trial
from app.views.editor.form_schema import list_sections
from app.widgets import keys
from app.widgets.highlight import HIGHLIGHTED_LENGTH_MAX
from app.widgets.markdown_view import MarkdownView
from tests.app.main_window.conftest import WindowUser, show_window
from tests.children import find_child
from tests.open_window import OpenWindow


@pytest.fixture
def page(hands: WindowUser) -> ScenarioEditor:
    """Open the editor with a new scenario, and return it after parsing."""
    hands.window.actions_by_name["drill.editor"].trigger()
    page = hands.window.editing.page
    page.parse_if_changed()
    return page


def put_cursor(page: ScenarioEditor, preceding_text: str) -> None:
    cursor = QTextCursor(page.text.document())
    cursor.setPosition(page.text.toPlainText().index(preceding_text) + len(preceding_text))
    page.text.setTextCursor(cursor)
    page.text.setFocus()


def list_findings(page: ScenarioEditor) -> list[str]:
    rows = page.findings.rows
    return [rows.item(row).text() for row in range(rows.count())]


def test_a_mistake_is_reported_with_its_line_while_typing(hands: WindowUser, page: ScenarioEditor) -> None:
    assert page.scenario is not None
    put_cursor(page, 'principal = "SERVER_')
    hands.qtbot.keyClicks(page.text, "X")
    page.parse_if_changed()
    assert page.scenario is None
    (finding,) = list_findings(page)
    line = page.text.toPlainText()[: page.text.toPlainText().index('"SERVER_XA"')].count("\n") + 1
    assert finding.startswith(f"{line}:")
    assert "SERVER_XA" in finding
    assert page.text.extraSelections()[1].cursor.blockNumber() + 1 == line
    page.text.moveCursor(QTextCursor.MoveOperation.Start)
    page.findings.rows.setCurrentRow(0)
    hands.qtbot.keyClick(page.findings.rows, Qt.Key.Key_Return)
    assert page.text.textCursor().blockNumber() + 1 == line


def test_moving_an_entry_is_one_undo_step(hands: WindowUser, page: ScenarioEditor) -> None:
    before = page.text.toPlainText()
    form = page.form
    form.sections.setCurrentRow([section.key for section in list_sections()].index("server"))
    hands.qtbot.keyClick(form.entries, Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
    servers = tomllib.loads(page.text.toPlainText())["server"]
    assert [server["name"] for server in servers] == ["SERVER_B", "SERVER_A", "SERVER_W"]
    page.tools["edit.undo"].trigger()
    assert page.text.toPlainText() == before
    page.check_now()
    hands.qtbot.waitUntil(lambda: form.entries.item(0).text() == "SERVER_A")


def test_typing_is_checked_after_a_pause(hands: WindowUser, page: ScenarioEditor) -> None:
    put_cursor(page, 'level = "')
    hands.qtbot.keyClicks(page.text, "x")
    hands.qtbot.waitUntil(lambda: bool(list_findings(page)) and "xbeginner" in list_findings(page)[0])


def test_the_solution_and_doing_nothing_are_both_played(hands: WindowUser, page: ScenarioEditor) -> None:
    page.tools["edit.try"].trigger()
    expected = "The solution earns 100 of 100 points. Doing nothing earns 0."
    hands.qtbot.waitUntil(lambda: page.findings.heading == expected, timeout=60_000)
    assert any(row.startswith("Protection: 50 / 50") for row in list_findings(page))


def test_the_edited_text_can_be_played(hands: WindowUser, page: ScenarioEditor) -> None:
    put_cursor(page, 'title = "')
    hands.qtbot.keyClicks(page.text, "Mine: ")
    page.tools["edit.play"].trigger()
    window = hands.window
    assert window.pages.currentWidget() == window.brief
    assert window.windowTitle().startswith("Mine: The mirror restarts")
    window.brief.start_wanted.emit("practice")
    assert window.session.live_drill is not None
    assert window.session.live_drill.scenario.title == "Mine: The mirror restarts"


def test_a_saved_scenario_is_listed_and_needs_no_review(hands: WindowUser, page: ScenarioEditor) -> None:
    file = scenario_files.get_user_scenario_folder() / "my-mirror.toml"
    file.parent.mkdir(parents=True)
    hands.window.editing.write_file(file)
    assert file.read_text(encoding="utf-8") == page.text.toPlainText()
    assert not page.has_unsaved_changes
    assert page.file_name == "my-mirror.toml"
    page.tools["edit.close"].trigger()
    assert hands.window.pages.currentWidget() is hands.window.picker
    hands.window.picker.select_drill("my-mirror")
    card = hands.window.picker.get_current_card()
    assert card is not None
    assert card.name == "my-mirror"
    hands.window.select_drill("my-mirror")
    assert hands.window.pages.currentWidget() is hands.window.brief


def test_an_unwritable_folder_keeps_the_text(hands: WindowUser, page: ScenarioEditor, tmp_path: Path) -> None:
    hands.window.editing.write_file(tmp_path / "missing" / "x.toml")
    assert "cannot be written" in hands.window.notice.text
    assert page.has_unsaved_changes or page.file is None


def is_drafted(profile: Profile, text: str) -> bool:
    drafts = profile.drafts
    return any(text in (drafts.load(key) or "") for key in drafts.list_keys())


def test_a_draft_survives_a_kill(
    hands: WindowUser, page: ScenarioEditor, qtbot: QtBot, profile: Profile, store: WindowSettings
) -> None:
    put_cursor(page, 'title = "')
    qtbot.keyClicks(page.text, "Unsaved ")
    qtbot.waitUntil(lambda: is_drafted(profile, "Unsaved The mirror restarts"))
    second_window = show_window(qtbot, profile, store)  # The first window is not closed, as after a kill.
    second_window.editing.show_editor()
    assert 'title = "Unsaved The mirror restarts"' in second_window.editing.page.text.toPlainText()
    assert second_window.editing.page.has_unsaved_changes
    assert "editor" not in second_window.console.list_drafts()


def test_a_shipped_drill_is_edited_as_a_copy(hands: WindowUser, window: OpenWindow) -> None:
    window.select_drill("planned-failover")
    window.actions_by_name["drill.edit_copy"].trigger()
    page = window.editing.page
    assert tomllib.loads(page.text.toPlainText())["title"]
    assert page.file is None
    assert page.has_unsaved_changes
    shipped = scenario_files.find_scenario_file("planned-failover")
    assert page.text.toPlainText() == shipped.text
    assert page.file_name == "planned-failover-copy.toml"


def test_edit_opens_a_copy_of_a_shipped_drill_and_the_file_of_a_user_drill(
    hands: WindowUser, window: OpenWindow
) -> None:
    def open_in_editor(name: str) -> str:
        window.picker.select_drill(name)
        card = window.picker.get_current_card()
        assert card is not None
        _, action = window.picker.grid.build_menu(card).actions()
        action.trigger()
        return action.text()

    assert open_in_editor("no-witness") == "Edit a copy"
    page = window.editing.page
    assert page.file is None
    assert page.file_name == "no-witness-copy.toml"
    file = scenario_files.get_user_scenario_folder() / "mine.toml"
    file.parent.mkdir(parents=True)
    window.editing.write_file(file)
    window.show_home()
    assert open_in_editor("mine") == "Edit"
    assert page.file == file
    assert str(file) in window.store.get(settings.RECENT_FILES)


def test_the_brief_opens_a_copy(hands: WindowUser, window: OpenWindow) -> None:
    window.select_drill("no-witness")
    hands.click_widget(next(b for b in window.brief.findChildren(QPushButton) if b.text() == "Edit a copy"))
    assert window.pages.currentWidget() == window.editing.page
    assert window.editing.page.file_name == "no-witness-copy.toml"


@pytest.mark.slow
def test_a_copy_is_saved_under_its_own_name_unless_taken(
    hands: WindowUser, window: OpenWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    offered: list[str] = []

    def accept_offered_name(*arguments: object) -> tuple[str, str]:
        offered.append(Path(str(arguments[2])).name)
        return str(arguments[2]), ""

    monkeypatch.setattr(QFileDialog, "getSaveFileName", accept_offered_name)
    window.select_drill("planned-failover")
    for _ in range(2):
        window.actions_by_name["drill.edit_copy"].trigger()
        window.editing.page.tools["edit.save"].trigger()
        window.select_drill("planned-failover")
    assert offered == ["planned-failover-copy.toml", "planned-failover-copy-2.toml"]
    assert all((scenario_files.get_user_scenario_folder() / name).is_file() for name in offered)
    page = window.editing.page
    page.tools["edit.new"].trigger()
    assert page.file_name == "new-scenario.toml"
    for title, name in (("Night shift: round 2", "night-shift-round-2.toml"), ('"', "new-scenario.toml")):
        page.show_text(page.text.toPlainText().replace("The mirror restarts", title), None, saved=False)
        monkeypatch.setattr(
            QFileDialog, "getSaveFileName", lambda *arguments: (offered.append(arguments[2]), ("", ""))[1]
        )
        page.tools["edit.save"].trigger()
        assert Path(offered[-1]).name == name
        page.show_text(page.text.toPlainText().replace(title, "The mirror restarts"), None, saved=False)


@pytest.mark.slow
def test_a_draft_of_a_copy_keeps_its_name(
    hands: WindowUser, window: OpenWindow, qtbot: QtBot, profile: Profile, store: WindowSettings
) -> None:
    window.select_drill("planned-failover")
    window.actions_by_name["drill.edit_copy"].trigger()
    window.editing.save_draft()
    second_window = show_window(qtbot, profile, store)  # The first window is not closed, as after a kill.
    second_window.editing.show_editor()
    assert second_window.editing.page.file_name == "planned-failover-copy.toml"


@pytest.mark.slow
def test_the_last_run_becomes_a_text(hands: WindowUser, window: OpenWindow) -> None:
    window.select_drill("lab")
    window.brief.start_wanted.emit("lab")
    drill = window.session.live_drill
    assert drill is not None
    for line, end_tick in (
        ("power-off SERVER_B", drill.tick),
        ("cut SERVER_A SERVER_W", 3000),  # The clock was paused between the two inputs.
        ("power-on SERVER_B", drill.tick),
        ("mend SERVER_A SERVER_W", 20_000),
    ):
        window.session.apply_input(line)
        while drill.tick < end_tick:
            window.session.on_frame(1000.0)
    window.show_home()
    window.editing.show_editor()
    window.editing.page.tools["edit.record"].trigger()
    text = tomllib.loads(window.editing.page.text.toPlainText())
    assert [fault["do"] for fault in text["timeline"]] == ["power-off SERVER_B", "cut SERVER_A SERVER_W"]
    assert [step["do"].partition(" ")[2] for step in text["solution"]] == [
        "power-on SERVER_B",
        "mend SERVER_A SERVER_W",
    ]
    assert window.editing.page.file_name == "my-lab.toml"


@pytest.mark.slow
def test_a_running_exam_is_not_shown_as_a_text(hands: WindowUser, window: OpenWindow) -> None:
    window.select_drill("automatic-failover")
    window.brief.start_wanted.emit("exam")
    window.editing.show_editor()
    before = window.editing.page.text.toPlainText()
    window.editing.page.tools["edit.record"].trigger()
    assert window.editing.page.text.toPlainText() == before
    assert "as a scenario after it ends" in window.notice.text


def test_unsaved_changes_are_not_lost_silently(
    hands: WindowUser, page: ScenarioEditor, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_cursor(page, 'title = "')
    hands.qtbot.keyClicks(page.text, "Kept ")
    questions: list[str] = []

    def cancel_question(box: QMessageBox) -> int:
        questions.append(box.text())
        return 0

    monkeypatch.setattr(QMessageBox, "exec", cancel_question)
    page.tools["edit.new"].trigger()
    assert questions == ["new-scenario.toml has unsaved changes."]
    assert "Kept The mirror" in page.text.toPlainText()


def test_one_undo_reverts_a_change_of_the_form(hands: WindowUser, page: ScenarioEditor) -> None:
    before = page.text.toPlainText()
    page.form.text_changed.emit(before.replace("minutes = 5", "minutes = 25"))
    assert "minutes = 25" in page.text.toPlainText()
    hands.qtbot.keyClick(page.text, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert page.text.toPlainText() == before


@pytest.mark.parametrize(
    ("reader", "mode", "visible", "hidden"),
    [
        ("learner", "practice", "three layers", "power-off"),
        ("exam", "exam", "", "three layers"),
        ("instructor", "practice", "power-off SERVER_B", "three layers"),
    ],
)
def test_the_preview_shows_the_brief_for_each_reader(
    hands: WindowUser, page: ScenarioEditor, reader: str, mode: str, visible: str, hidden: str
) -> None:
    page.tabs.setCurrentWidget(page.preview)
    page.preview.reader.setCurrentIndex(page.preview.reader.findData(reader))
    brief = page.preview.brief
    assert isinstance(brief, BriefPage)
    assert brief.isVisible()
    assert brief.mode == mode
    assert not brief.findChildren(QPushButton)[0].isVisible()  # a preview cannot start the drill
    parts = find_child(brief, QLabel, "title"), find_child(brief, QLabel, "goals")
    words = "".join(part.text() for part in parts) + find_child(brief, MarkdownView, "appendix").toPlainText()
    assert "The mirror restarts" in words
    assert "SERVER_B is the mirror of Sales again" in words
    assert visible in words
    assert hidden not in words


def test_the_preview_follows_the_text_and_survives_errors(hands: WindowUser, page: ScenarioEditor) -> None:
    page.tabs.setCurrentWidget(page.preview)
    brief = page.preview.brief
    assert isinstance(brief, BriefPage)
    put_cursor(page, 'title = "')
    hands.qtbot.keyClicks(page.text, "Now: ")
    page.parse_if_changed()
    assert find_child(brief, QLabel, "title").text() == "Now: The mirror restarts"
    hands.qtbot.keyClicks(page.text, '"')
    page.parse_if_changed()
    assert page.scenario is None
    assert find_child(brief, QLabel, "title").text() == "Now: The mirror restarts"
    assert "earlier version" in page.preview.message.text()
    assert page.text.hasFocus()


def test_pending_typing_reaches_the_form_and_the_timeline(hands: WindowUser, page: ScenarioEditor) -> None:
    put_cursor(page, 'title = "')
    hands.qtbot.keyClicks(page.text, "Quick: ")
    page.form.page.rows["allow_revert_all",].widget.click()  # type: ignore[attr-defined]
    assert 'title = "Quick: The mirror restarts"' in page.text.toPlainText()
    assert "allow_revert_all = true" in page.text.toPlainText()
    page.tabs.setCurrentWidget(page.timeline)
    page.timeline.list.setFocus()
    page.timeline.list.setCurrentRow(0)
    QTextCursor(page.text.document()).insertText("# typed\n")
    hands.qtbot.keyClick(page.timeline.list, Qt.Key.Key_Right)
    assert "# typed" in page.text.toPlainText()
    assert 'at = "31s"' in page.text.toPlainText()


def test_an_empty_list_of_problems_takes_one_line(hands: WindowUser, page: ScenarioEditor) -> None:
    assert page.findings.heading.startswith("The scenario is playable; 3 problems left")
    page.text.apply_differences(scenario_files.find_scenario_file("lab").text)
    page.parse_if_changed()
    assert page.findings.heading.startswith("No problems found in the text")
    assert page.findings.height() <= 2 * page.fontMetrics().height() + 14
    put_cursor(page, 'principal = "SERVER_')
    hands.qtbot.keyClicks(page.text, "X")
    page.parse_if_changed()
    assert page.findings.rows.isVisible()
    assert page.findings.height() > 3 * page.fontMetrics().height()


def test_f8_steps_through_problems_in_text_form_and_timeline(hands: WindowUser, page: ScenarioEditor) -> None:
    text = page.text.toPlainText()
    text = text.replace('level = "beginner"', 'level = "nobody"').replace('at = "30s"', 'at = "soon"')
    page.text.apply_differences(text)
    page.parse_if_changed()
    assert len(page.findings.problems) == 2
    page.text.setFocus()
    hands.press_key(Qt.Key.Key_F8)
    assert page.text.textCursor().block().text() == 'level = "nobody"'
    assert page.text.textCursor().positionInBlock() == len('level = "')
    assert page.form.section.key == ""
    assert page.form.page.rows["level",].widget.property("wrong") == "true"
    hands.press_key(Qt.Key.Key_F8)
    assert page.text.textCursor().block().text() == 'at = "soon"'
    assert page.form.section.key == "timeline"
    assert page.text.hasFocus()
    hands.press_key(Qt.Key.Key_F8)
    assert page.text.textCursor().block().text() == 'level = "nobody"'
    hands.press_key(Qt.Key.Key_F8, Qt.KeyboardModifier.ShiftModifier)
    assert page.text.textCursor().block().text() == 'at = "soon"'
    page.form.page.rows["timeline", 0, "at"].widget.setFocus()
    hands.press_key(Qt.Key.Key_F8)
    assert page.form.page.rows["level",].widget.hasFocus()  # the focus stays in the form


def test_problem_keys_match_the_key_table(hands: WindowUser, page: ScenarioEditor) -> None:
    page.text.apply_differences(page.text.toPlainText().replace('level = "beginner"', 'level = "nobody"'))
    appearance, key, mod = hands.window.appearance, Qt.Key, Qt.KeyboardModifier

    def leads_on(pressed: Qt.Key, *modifiers: Qt.KeyboardModifier) -> bool:
        page.text.go_to_line(1)
        hands.press_key(pressed, *modifiers)
        return page.text.textCursor().block().text() == 'level = "nobody"'

    assert appearance.current_keys["edit.problem"] == ("F8", "Alt+F8")
    assert leads_on(key.Key_F8)
    assert leads_on(key.Key_F8, mod.AltModifier)
    assert leads_on(key.Key_F8, mod.ShiftModifier)
    appearance.set_keys(keys.SSMS_SCHEME, {"edit.problem": ("F12",)})
    assert leads_on(key.Key_F12)
    assert not leads_on(key.Key_F8)


@pytest.mark.qt_log_ignore("This plugin does not support")  # the offscreen plugin cannot raise windows
def test_the_text_follows_the_form_and_f1_explains_the_editor(
    hands: WindowUser, page: ScenarioEditor
) -> None:
    page.form.page.rows["length",].widget.setFocus()
    assert page.text.textCursor().block().text() == 'length = "10min"'
    page.form.sections.setCurrentRow([section.key for section in list_sections()].index("solution"))
    assert page.text.textCursor().block().text() == "[[solution]]"
    page.form.page.rows["solution", 0, "why"].widget.setFocus()
    assert page.text.textCursor().block().text().startswith('why = "The mirror catches up')
    # Otherwise the next key in the text would replace the selection.
    assert not page.text.textCursor().hasSelection()
    assert "new, not saved yet" in [label.text() for label in page.findChildren(QLabel)]
    hands.press_key(Qt.Key.Key_F1)
    assert hands.window.help.page == "editor"
    hands.window.help.close()


def test_completion_offers_tables_keys_and_actions(page: ScenarioEditor) -> None:
    from app.views.editor.input_completion import find_completions

    def list_completions(text: str) -> list[str]:
        return find_completions(text, len(text))

    assert {"server", "goal", "timeline"} <= set(list_completions("[["))
    assert "workload" in list_completions('[[database]]\nname = "Sales"\n')
    assert "name" not in list_completions('[[database]]\nname = "Sales"\n')
    assert list_completions('level = "') == ["beginner", "intermediate", "advanced", "expert"]
    assert "power-off" in list_completions('[[timeline]]\ndo = "')
    assert "port" in list_completions("[[server]]\n[server.endpoint]\n")


def test_completion_of_an_action_continues_after_the_verb(page: ScenarioEditor) -> None:
    from app.views.editor.input_completion import find_completions

    text = page.text.toPlainText()
    before = text.index('do = "power-off SERVER_B"')
    for line, words in (
        ('do = "power-off ', ["SERVER_A", "SERVER_B", "SERVER_W"]),
        ('do = "cut SERVER_A S', ["SERVER_B", "SERVER_W", "APP"]),
        ('do = "+5 degrade SERVER_A SERVER_B rtt_ms=50 ', ["jitter_ms=", "bandwidth_mbps=", "loss="]),
        ("type = 'slow-disk SERVER_A ", ["log", "data"]),
        ('do = "fill-log ', ["Sales"]),
        ('do = "stop-app ', ["APP"]),
        ('do = "no-such-verb ', []),
    ):
        broken = f"{text[:before]}{line}\n{text[before:].partition(chr(10))[2]}"
        assert find_completions(broken, before + len(line)) == words


def test_the_only_matching_word_is_inserted_at_once(hands: WindowUser, page: ScenarioEditor) -> None:
    page.show_text(page.text.toPlainText() + '\n[[timeline]]\ndo = "fill-log Sa', None)
    page.text.moveCursor(QTextCursor.MoveOperation.End)
    hands.qtbot.keyClick(page.text, Qt.Key.Key_Space, Qt.KeyboardModifier.ControlModifier)
    assert page.text.toPlainText().endswith('do = "fill-log Sales')


def test_undo_works_from_the_timeline_and_the_text(hands: WindowUser, page: ScenarioEditor) -> None:
    page.tabs.setCurrentWidget(page.timeline)
    rows = page.timeline.list
    rows.setCurrentRow(0)
    rows.setFocus()
    before = page.text.toPlainText()
    hands.qtbot.keyClick(rows, Qt.Key.Key_Right)
    text_after = page.text.toPlainText()
    assert text_after != before
    hands.qtbot.keyClick(rows, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert page.text.toPlainText() == before
    hands.qtbot.keyClick(rows, Qt.Key.Key_Y, Qt.KeyboardModifier.ControlModifier)
    assert page.text.toPlainText() == text_after


def save_as(hands: WindowUser, monkeypatch: pytest.MonkeyPatch, file: Path) -> None:
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(file), ""))
    hands.window.editing.save_scenario_as()


def test_a_shipped_scenario_is_never_overwritten(
    hands: WindowUser, page: ScenarioEditor, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shipped = Path(str(resources.files("scenarios"))) / "no-witness.toml"
    monkeypatch.setattr(atomic_write, "write_atomically", lambda *_, **__: pytest.fail("written"))
    # The shipped scenario of the same name would hide the second file.
    for file in (shipped, tmp_path / "no-witness.toml"):
        save_as(hands, monkeypatch, file)
        assert "is a shipped drill" in hands.window.notice.text


def test_another_file_is_not_replaced_after_a_name_change(
    hands: WindowUser, page: ScenarioEditor, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    other_file = tmp_path / "my-drill.toml"
    other_file.write_text("precious", encoding="utf-8")
    buttons = QMessageBox.StandardButton
    for answer, is_kept in ((buttons.No, True), (buttons.Yes, False)):
        monkeypatch.setattr(QMessageBox, "question", lambda *_, answer=answer: answer)
        save_as(hands, monkeypatch, tmp_path / "My Drill.toml")
        assert (other_file.read_text(encoding="utf-8") == "precious") is is_kept


@pytest.mark.slow
def test_an_unneeded_trial_run_is_canceled(hands: WindowUser, page: ScenarioEditor) -> None:
    scenario = page.scenario
    assert scenario is not None
    stop = threading.Event()
    stop.set()
    with pytest.raises(CheckCanceledError):
        play_trial(scenario, "x.toml", create_stoppable_drill_class(stop))
    assert play_trial(scenario, "x.toml", create_stoppable_drill_class(threading.Event())) == play_trial(
        scenario, "x.toml"
    )


@pytest.mark.slow
def test_a_long_trial_run_blocks_neither_editing_nor_closing(hands: WindowUser, page: ScenarioEditor) -> None:
    """The trial run of a day with 400 databases would take minutes."""
    text = page.text.toPlainText().replace('"Sales"', '"Sales001"').replace("Sales ", "Sales001 ")
    text = text.replace("[[database]]", "[[database]]\ncount = 400").replace('"10min"', '"86400s"')
    page.show_text(text, None)
    page.parse_if_changed()
    assert page.scenario is not None
    page.tools["edit.try"].trigger()
    hands.qtbot.keyClicks(page.text, "x")
    page.parse_if_changed()
    assert list_findings(page)[0].startswith("1:")
    page.stop_work()


def test_a_very_long_text_is_edited_without_highlighting(page: ScenarioEditor) -> None:
    page.text.setPlainText("# x\n" * (HIGHLIGHTED_LENGTH_MAX // 4 + 1))
    assert not page.text.document().firstBlock().layout().formats()
    page.text.setPlainText("# x\n")
    assert page.text.document().firstBlock().layout().formats()
