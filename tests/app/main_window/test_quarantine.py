"""A file from somebody else is shown before anything of it runs, and once accepted opens without a question."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from app import scenario_files
from app.main_window import MainWindow
from app.main_window.quarantine import ACCEPTED
from app.views.quarantine import Quarantine
from engine.drill.contents import sha256
from engine.drill.drill import Drill
from tests.app.main_window.conftest import Hands
from tests.engine.drill.texts import WORLD

FOREIGN = 'author = "Ada L."\n' + WORLD.replace("Small", "From afar", 1)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "foreign.toml"
    path.write_text(FOREIGN, encoding="utf-8")
    return path


def held(window: MainWindow) -> Quarantine:
    page = window.pages.currentWidget()
    assert isinstance(page, Quarantine)
    return page


def said(window: MainWindow) -> dict[str, str]:
    return {fact.what: fact.value for fact in held(window).facts.table.rows}


def test_it_says_what_the_file_holds_and_runs_nothing(window: MainWindow, file: Path) -> None:
    window.open_file(str(file))
    facts = said(window)
    assert facts["SHA-256"] == sha256(FOREIGN)
    assert facts["Author"].startswith("Ada L.")
    assert facts["Servers"] == "3"
    assert held(window).text.toPlainText() == FOREIGN
    assert window.session.drill is None


def test_with_the_keyboard_it_is_declined_and_accepted(hands: Hands, file: Path) -> None:
    window = hands.window
    window.open_file(str(file))
    hands.press(Qt.Key.Key_Escape)
    assert window.pages.currentWidget() is window.picker
    window.open_file(str(file))
    held(window).facts.setFocus()
    for _ in range(4):
        if held(window).accept.hasFocus():
            break
        hands.press(Qt.Key.Key_Tab)
    assert held(window).accept.hasFocus()
    hands.press(Qt.Key.Key_Space)
    assert window.pages.currentWidget() is window.brief


def test_what_was_accepted_is_remembered_by_its_text(window: MainWindow, file: Path) -> None:
    window.open_file(str(file))
    held(window).accept.click()
    window.show_home()
    window.open_file(str(file))
    assert window.pages.currentWidget() is window.brief
    assert window.profile is not None
    assert json.loads(window.profile.settings.get(ACCEPTED)) == [sha256(FOREIGN)]
    file.write_text(FOREIGN.replace("lose", "keep"), encoding="utf-8")  # not the same file any more
    window.open_file(str(file))
    held(window)


def test_own_and_shipped_files_need_no_question(window: MainWindow, file: Path) -> None:
    copy = file.with_name("copy.toml")
    copy.write_text((files("scenarios") / "lab.toml").read_text(encoding="utf-8"), encoding="utf-8")
    window.open_file(str(copy))
    assert window.pages.currentWidget() is window.brief
    own = scenario_files.own_folder()
    own.mkdir(parents=True)
    file.rename(own / file.name)
    window.open_file(str(own / file.name))
    assert window.pages.currentWidget() is window.brief


def test_what_was_written_here_needs_no_question(window: MainWindow, file: Path) -> None:
    window.quarantine.trust(FOREIGN)
    window.open_file(str(file))
    assert window.pages.currentWidget() is window.brief


def test_a_run_from_elsewhere_is_held_too(window: MainWindow, tmp_path: Path) -> None:
    drill = Drill(scenario_files.find("lab").load(), 5)
    drill.advance_to(300)
    drill.do("power-off SERVER_B")
    drill.do("finish")
    report = json.loads(json.dumps(drill.report())) | {"scenario_text": drill.scenario.text}
    file = tmp_path / "run.json"
    file.write_text(json.dumps(report), encoding="utf-8")
    window.debriefing.open_file(file)
    assert "power-off × 1" in said(window)["What was done"]
    held(window).accept.click()
    assert window.pages.currentWidget() is window.debrief
    assert "plays again to the same states" in window.notice.text
    window.debriefing.open_file(file)
    assert window.pages.currentWidget() is window.debrief
