"""Tests that the window shows the contents of a foreign file before it runs, and opens an accepted file at
once.
"""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.files import accepted_files, scenario_files
from app.files.accepted_files import ACCEPTED_FILES_SETTING
from app.settings import WindowSettings
from app.storage import Profile
from app.views.quarantine import QuarantinePage
from engine.drill.authoring.scenario import compute_sha256, escape_invisible
from engine.drill.running.drill import Drill
from tests import painted
from tests.app.main_window.conftest import WindowUser, show_window
from tests.engine.drill.texts import WORLD_TEXT
from tests.open_window import OpenWindow
from tests.shipped_scenarios import load_shipped_scenario

FOREIGN_SCENARIO = 'author = "Ada L."\n' + WORLD_TEXT.replace("Small", "From afar", 1)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "foreign.toml"
    path.write_text(FOREIGN_SCENARIO, encoding="utf-8")
    return path


def get_quarantine(window: OpenWindow) -> QuarantinePage:
    page = window.pages.currentWidget()
    assert isinstance(page, QuarantinePage)
    return page


def read_facts(window: OpenWindow) -> dict[str, str]:
    return {fact.label: fact.value for fact in get_quarantine(window).facts.table.rows}


def test_the_page_lists_the_contents_and_runs_nothing(window: OpenWindow, file: Path) -> None:
    window.open_file(str(file))
    facts = read_facts(window)
    assert facts["SHA-256"] == compute_sha256(FOREIGN_SCENARIO)
    assert facts["Author"].startswith("Ada L.")
    assert facts["Servers"] == "3"
    assert "[[solution]]" not in get_quarantine(window).text.toPlainText(), (
        "a learner is not told the answers"
    )
    assert "Automatic actions" not in facts
    get_quarantine(window).author.click()
    assert get_quarantine(window).text.toPlainText() == FOREIGN_SCENARIO
    assert "Automatic actions" in read_facts(window)
    assert window.session.drill is None


def test_a_file_is_declined_and_accepted_by_keyboard(hands: WindowUser, file: Path) -> None:
    window = hands.window
    window.open_file(str(file))
    hands.press_key(Qt.Key.Key_Escape)
    assert window.pages.currentWidget() is window.picker
    window.open_file(str(file))
    get_quarantine(window).facts.setFocus()
    for _ in range(4):
        if get_quarantine(window).accept.hasFocus():
            break
        hands.press_key(Qt.Key.Key_Tab)
    assert get_quarantine(window).accept.hasFocus()
    hands.press_key(Qt.Key.Key_Space)
    assert window.pages.currentWidget() is window.brief


def test_an_accepted_file_is_remembered_by_its_text(window: OpenWindow, profile: Profile, file: Path) -> None:
    window.open_file(str(file))
    assert get_quarantine(window).accept.text() == "Open"
    get_quarantine(window).accept.click()
    window.show_home()
    window.open_file(str(file))
    assert window.pages.currentWidget() is window.brief
    (accepted_text,) = accepted_files.list_accepted_files(profile)
    assert (accepted_text.sha256, accepted_text.title, accepted_text.author, accepted_text.own) == (
        compute_sha256(FOREIGN_SCENARIO),
        "From afar",
        "Ada L.",
        False,
    )
    file.write_text(
        FOREIGN_SCENARIO.replace("lose", "keep"), encoding="utf-8"
    )  # The changed text is another file.
    window.open_file(str(file))
    get_quarantine(window)


def test_user_and_shipped_files_are_not_quarantined(window: OpenWindow, file: Path) -> None:
    copy = file.with_name("copy.toml")
    copy.write_text((files("scenarios") / "lab.toml").read_text(encoding="utf-8"), encoding="utf-8")
    window.open_file(str(copy))
    assert window.pages.currentWidget() is window.brief
    own_folder = scenario_files.get_user_scenario_folder()
    own_folder.mkdir(parents=True)
    file.rename(own_folder / file.name)
    window.open_file(str(own_folder / file.name))
    assert window.pages.currentWidget() is window.brief


def test_a_file_saved_here_is_not_held(window: OpenWindow, file: Path) -> None:
    window.quarantine.accept_own_text(FOREIGN_SCENARIO)
    window.open_file(str(file))
    assert window.pages.currentWidget() is window.brief


@pytest.mark.slow
def test_a_foreign_run_is_held(window: OpenWindow, tmp_path: Path) -> None:
    drill = Drill(load_shipped_scenario("lab"), 5)
    drill.advance_to(300)
    drill.apply_line("power-off SERVER_B")
    drill.apply_line("finish")
    report = json.loads(json.dumps(drill.build_report())) | {"scenario_text": drill.scenario.text}
    file = tmp_path / "run.json"
    file.write_text(json.dumps(report), encoding="utf-8")
    window.debriefing.open_file(file)
    assert "power-off × 1" in read_facts(window)["Actions"]
    get_quarantine(window).accept.click()
    assert window.pages.currentWidget() is window.debrief
    assert "matches the recorded run" in window.notice.text
    window.debriefing.open_file(file)
    assert window.pages.currentWidget() is window.debrief


def test_accepted_files_are_listed_and_can_be_forgotten(hands: WindowUser, file: Path) -> None:
    window = hands.window
    title = "<img src='file:///x'>afar"
    file.write_text(FOREIGN_SCENARIO.replace("From afar", title), encoding="utf-8")
    # A file written on this computer is not listed, and stays accepted when other files are forgotten.
    window.quarantine.accept_own_text(FOREIGN_SCENARIO)
    window.open_file(str(file))
    get_quarantine(window).accept.click()
    window.actions_by_name["drill.accepted"].trigger()
    listed = window.quarantine.listed
    assert listed is not None
    table = listed.list.table
    texts = [table.data(table.index(0, column)) for column in range(4)]
    assert table.rowCount() == 1
    assert texts[0] == escape_invisible(title)
    assert texts[1] == "Ada L."
    assert len(texts[2]) == len("2026-11-21")
    assert compute_sha256(file.read_text(encoding="utf-8")).startswith(texts[3].rstrip("…"))
    assert "<img" not in table.data(table.index(0, 0), Qt.ItemDataRole.ToolTipRole)
    hands.click_widget(listed.forget)
    assert table.rowCount() == 0
    assert not listed.forget.isEnabled()
    listed.close()
    window.show_home()
    window.open_file(str(file))
    assert read_facts(window)["Author"].startswith("Ada L.")
    get_quarantine(window).decline.click()
    file.write_text(FOREIGN_SCENARIO, encoding="utf-8")
    window.open_file(str(file))
    assert window.pages.currentWidget() is window.brief


@pytest.mark.slow
def test_files_accepted_by_an_earlier_version_are_kept_and_can_be_forgotten(
    qtbot: QtBot, qapp: QApplication, profile: Profile, store: WindowSettings, file: Path
) -> None:
    """The earlier version stored only SHA-256 values; invalid entries are ignored."""
    profile.settings.set(
        ACCEPTED_FILES_SETTING,
        json.dumps([compute_sha256(FOREIGN_SCENARIO), 5, None, "x", {"sha256": "y"}, {}, []]),
    )
    window = show_window(qtbot, profile, store)
    window.open_file(str(file))
    assert window.pages.currentWidget() is window.brief
    window.quarantine.show_accepted()
    listed = window.quarantine.listed
    assert listed is not None
    assert [row.sha256 for row in listed.list.table.rows] == [compute_sha256(FOREIGN_SCENARIO)]
    assert listed.list.table.data(listed.list.table.index(0, 0)) == "unknown"
    listed.forget_all.click()
    listed.close()
    window.open_file(str(file))
    get_quarantine(window)


@pytest.mark.slow
def test_forgetting_a_user_drill_is_reported(window: OpenWindow, file: Path) -> None:
    window.open_file(str(file))
    get_quarantine(window).accept.click()
    own_folder = scenario_files.get_user_scenario_folder()
    own_folder.mkdir(parents=True)
    file.rename(own_folder / file.name)
    window.quarantine.forget_texts([compute_sha256(FOREIGN_SCENARIO)])
    assert "still among your drills" in window.notice.text


@pytest.mark.slow
def test_every_fact_of_a_file_is_shown_in_full(window: OpenWindow, file: Path) -> None:
    """The SHA-256 is not cut off, even with large text and a narrow table."""
    window.resize(1024, 700)
    window.appearance.set_font_scale(1.5)
    window.open_file(str(file))
    for _ in range(5):
        QApplication.processEvents()
    table = get_quarantine(window).facts
    digest = next(row for row, fact in enumerate(table.table.rows) if fact.what == "SHA-256")
    lines = table.rowHeight(digest) / table.fontMetrics().height()
    wide = table.fontMetrics().horizontalAdvance(compute_sha256(FOREIGN_SCENARIO))
    assert lines >= wide / table.columnWidth(1)
    assert table.rowHeight(digest) > table.rowHeight(0)
    painted_in = {text.content for text in painted.list_texts(window) if text.widget is table.viewport()}
    assert not any(painted.ELLIPSIS in words for words in painted_in)
