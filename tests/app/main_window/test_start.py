"""The start of the window and its two bad ends: a profile that cannot be opened, and a fault of ours."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QMessageBox
from pytestqt.qtbot import QtBot

import app.main_window as start
from app import scenario_files
from app.main_window import MainWindow
from app.storage import open_profile

During = Callable[[Callable[[MainWindow], None]], None]


@pytest.fixture
def during(monkeypatch: pytest.MonkeyPatch, qtbot: QtBot) -> During:
    """What happens between the window's appearance and its end."""

    def use(act: Callable[[MainWindow], None]) -> None:
        codes = [0]

        def run(*_: object) -> int:
            (window,) = [
                w for w in QApplication.topLevelWidgets() if isinstance(w, MainWindow) and w.isVisible()
            ]
            qtbot.addWidget(window)
            window.needed.emit()
            if window.is_ready:
                act(window)
            window.close()
            return codes[0]

        monkeypatch.setattr(QApplication, "exec", run)
        monkeypatch.setattr(QApplication, "exit", lambda code=0: codes.__setitem__(0, code))

    return use


def test_it_opens_on_a_scenario_and_lets_go_of_the_profile(during: During, profile_folder: Path) -> None:
    pages: list[object] = []
    during(lambda window: pages.append(window.pages.currentWidget() is window.brief))
    hook = sys.excepthook
    assert start.open_window(scenario_files.find("no-witness").load()) == 0
    assert sys.excepthook is hook
    assert pages == [True]
    with open_profile(profile_folder):
        pass  # it would be refused while another one has it


@pytest.mark.parametrize(("answer", "code"), [("Quit", 1), ("Play without a record", 0)])
def test_a_profile_in_use_is_a_choice(
    during: During, monkeypatch: pytest.MonkeyPatch, profile_folder: Path, answer: str, code: int
) -> None:
    told: list[str] = []

    def decide(box: QMessageBox) -> int:
        told.append(box.text())
        next(button for button in box.buttons() if button.text() == answer).click()
        return 0

    monkeypatch.setattr(QMessageBox, "exec", decide)
    during(lambda window: told.append(window.run_facts.text()))
    with open_profile(profile_folder):
        assert start.open_window(None) == code
    assert "in use by another Mirrordrill" in told[0]


def test_a_fault_of_ours_is_loud_and_loses_nothing(
    during: During, monkeypatch: pytest.MonkeyPatch, profile_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    boxes: list[str] = []
    monkeypatch.setattr(sys, "excepthook", sys.__excepthook__)  # not the one that makes tests fail
    monkeypatch.setattr(
        QMessageBox, "exec", lambda box: boxes.append(box.text() + box.informativeText()) or 0
    )

    def fail(window: MainWindow) -> None:
        window.choose("lab")
        window.brief.started.emit("lab")
        window.session.do("power-off SERVER_B")
        try:
            raise RuntimeError("the roof is gone")
        except RuntimeError as error:
            sys.excepthook(RuntimeError, error, error.__traceback__)

    during(fail)
    assert start.open_window(None) == 1
    assert "the roof is gone" in boxes[0]
    assert "recorded up to here" in boxes[0]
    assert "Traceback" in capsys.readouterr().err
    with open_profile(profile_folder) as profile:
        assert [line.text.split()[1] for line in profile.unfinished()[0].lines] == ["power-off"]
