"""Test of an author's workflow by keyboard alone: write, check, save and play a drill from the start page."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tomllib
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit
from pytestqt.qtbot import QtBot

from app.files import scenario_files
from app.settings import WindowSettings
from app.storage import open_profile
from app.views.editor import ScenarioEditor
from app.views.editor.form_schema import list_sections
from engine.drill.authoring.scenario import load_scenario
from tests.app.main_window.conftest import WindowUser, show_window
from tests.open_window import OpenWindow

CTRL, ALT, SHIFT = (
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.AltModifier,
    Qt.KeyboardModifier.ShiftModifier,
)
Key = Qt.Key


class Keyboard:
    """Simulated keyboard that sends keys to the focused widget."""

    def __init__(self, hands: WindowUser) -> None:
        self.hands = hands

    def __call__(self, key: Qt.Key, *modifiers: Qt.KeyboardModifier, times: int = 1) -> None:
        for _ in range(times):
            self.hands.press_key(key, *modifiers)

    def type_text(self, text: str) -> None:
        widget = QApplication.focusWidget()
        assert widget is not None
        self.hands.qtbot.keyClicks(widget, text)


def read_data(page: ScenarioEditor) -> dict[str, Any]:
    return tomllib.loads(page.text.toPlainText())


def go_to_section(press: Keyboard, page: ScenarioEditor, key: str) -> None:
    press(Key.Key_1, CTRL)
    assert page.form.sections.hasFocus()
    wanted = [section.key for section in list_sections()].index(key)
    row = page.form.sections.currentRow()
    press(Key.Key_Down if wanted > row else Key.Key_Up, times=abs(wanted - row))


def test_a_drill_is_created_without_a_mouse(
    hands: WindowUser, window: OpenWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    press = Keyboard(hands)
    press(Key.Key_E, CTRL, ALT)
    page = window.editing.page
    assert page.text.hasFocus()

    go_to_section(press, page, "")
    press(Key.Key_Tab)
    press(Key.Key_A, CTRL)
    press.type_text("Night shift")
    press(Key.Key_Tab)
    assert read_data(page)["title"] == "Night shift"

    go_to_section(press, page, "server")
    press(Key.Key_Tab)
    press(Key.Key_Insert)
    press(Key.Key_Delete)
    press(Key.Key_D, CTRL)
    assert [server["name"] for server in read_data(page)["server"]] == [
        "SERVER_A",
        "SERVER_B",
        "SERVER_W",
        "SERVER_W_2",
    ]

    press(Key.Key_2, CTRL)
    assert page.timeline.list.hasFocus()
    press(Key.Key_Home)
    press(Key.Key_Right, SHIFT)
    assert read_data(page)["timeline"][0]["at"] == "40s"
    press(Key.Key_Insert)
    press(Key.Key_Return)  # select the first offered action on the first server
    assert len(read_data(page)["timeline"]) == 2
    press(Key.Key_Delete)
    assert len(read_data(page)["timeline"]) == 1
    press(Key.Key_Z, CTRL, times=3)
    assert read_data(page)["timeline"][0]["at"] == "30s"
    press(Key.Key_Z, CTRL)
    assert len(read_data(page)["server"]) == 3
    press(Key.Key_Y, CTRL)
    assert len(read_data(page)["server"]) == 4

    press(Key.Key_3, CTRL)
    press(Key.Key_Down)
    assert page.preview.reader.currentData() == "exam"
    page.parse_if_changed()

    press(Key.Key_4, CTRL)
    assert page.text.hasFocus()
    press(Key.Key_End, CTRL)
    press.type_text("# by hand")
    press(Key.Key_F5)
    hands.qtbot.waitUntil(lambda: page.findings.heading.startswith("The solution earns"), timeout=60_000)
    press(Key.Key_5, CTRL)
    assert page.findings.rows.hasFocus()

    file = scenario_files.get_user_scenario_folder() / "night-shift.toml"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(file), ""))
    press(Key.Key_S, CTRL)
    assert load_scenario(file.read_text("utf-8"), file.name).title == "Night shift"
    assert not page.has_unsaved_changes

    press(Key.Key_F6)
    assert window.pages.currentWidget() is window.brief
    press(Key.Key_Return)
    assert hands.drill.scenario.title == "Night shift"


NONSENSE_WORDS = (
    "x" * 9000,  # This long value comes first, because the last value stays in the text.
    "ß\u20ac\U0001f600",
    "-1",
    "1e999",
    "nan",
    '"""',
    "'''",
    "\\",
    "{x}",
    "{}",
    "a\tb",
    "[[server]]",
    "=",
)


@pytest.mark.slow
@pytest.mark.parametrize("step", [4, pytest.param(1, marks=pytest.mark.slow)])
def test_nonsense_in_every_field_leaves_valid_toml(hands: WindowUser, window: OpenWindow, step: int) -> None:
    """Each field gets every *step*-th word. The first word differs from that of the previous field."""
    fields = count()
    window.actions_by_name["drill.editor"].trigger()
    page = window.editing.page
    page.parse_if_changed()
    form = page.form
    for position, section in enumerate(list_sections()):
        form.sections.setCurrentRow(position)
        if section.is_list and not form.entries.count():
            form.add.click()
        for path in list(form.page.rows):
            for word in NONSENSE_WORDS[next(fields) % step :: step]:
                row = form.page.rows.get(path)
                if row is None or not isinstance(row.widget, QLineEdit):
                    break
                row.widget.setText(word)
                row.finish()
                assert tomllib.loads(page.text.toPlainText()), (path, word)
                assert "nput should" not in form.problem.text()
    page.parse_if_changed()
    assert all("nput should" not in str(problem) for problem in page.findings.problems)


KILLED_SCRIPT = """
import os, signal, sys
from pathlib import Path
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication
app = QApplication([])
from tests.open_window import build_window
from app.settings import WindowSettings
from app.storage import open_profile
folder = Path(sys.argv[1])
store = WindowSettings(QSettings(str(folder / "window.ini"), QSettings.Format.IniFormat))
window = build_window(open_profile(folder / "profile.sqlite"), store)
window.show()
window.editing.show_editor()
window.editing.page.text.insertPlainText("# never saved: \\u00e4\\U0001f600\\n")
window.editing._save_pause.timeout.connect(lambda: os.kill(os.getpid(), signal.SIGKILL))
app.exec()
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows ends processes in another way")
def test_a_draft_survives_a_kill(qtbot: QtBot, tmp_path: Path, store: WindowSettings) -> None:
    process = subprocess.run(
        [sys.executable, "-c", KILLED_SCRIPT, str(tmp_path)],
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        cwd=Path(__file__).parents[3],
        timeout=120,
        check=False,
    )
    assert process.returncode == -signal.SIGKILL
    profile = open_profile(tmp_path / "profile.sqlite")
    window = show_window(qtbot, profile, store)
    window.editing.show_editor()
    assert window.editing.page.text.toPlainText().startswith(
        "# never saved: ä\U0001f600\n# A drill of your own."
    )
    assert window.editing.page.has_unsaved_changes
    assert "with your unsaved changes" in window.notice.text
    window.close()
    profile.close()
