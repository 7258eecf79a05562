"""Tests of the history page: runs are found, compared, and deleted after one question."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QItemSelectionModel, Qt
from PySide6.QtWidgets import QComboBox, QMessageBox

from app.storage import Profile
from app.widgets.tables import TableView
from tests.app.main_window.conftest import WindowUser
from tests.children import find_child

Key = Qt.Key
ROW = QItemSelectionModel.SelectionFlag.Select | QItemSelectionModel.SelectionFlag.Rows


def play_drill(hands: WindowUser, name: str, mode: str, seconds: float) -> None:
    hands.window.select_drill(name)
    hands.window.brief.start_wanted.emit(mode)
    hands.run_frames(seconds)
    hands.window.session.apply_input("finish")


def choose_text(box: QComboBox, text: str) -> None:
    box.setCurrentText(text)
    box.activated.emit(box.currentIndex())


def answer_questions(monkeypatch: pytest.MonkeyPatch, role: QMessageBox.ButtonRole) -> list[str]:
    """Answer all following questions with the button of *role*, and return the list of questions."""
    questions: list[str] = []

    def record_question(box: QMessageBox) -> int:
        questions.append(f"{box.text()} {box.informativeText()}")
        next(button for button in box.buttons() if box.buttonRole(button) == role).click()
        return 0

    monkeypatch.setattr(QMessageBox, "exec", record_question)
    return questions


def test_runs_are_found_compared_and_deleted(
    hands: WindowUser, profile: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = hands.window
    for name, mode in (("lab", "lab"), ("automatic-failover", "practice"), ("automatic-failover", "exam")):
        play_drill(hands, name, mode, 1.0)
    window.show_history()
    page, table = window.history, find_child(window.history, TableView)

    def list_modes() -> list[str]:
        return [run.mode for run in table.table.rows]

    assert list_modes() == ["exam", "practice", "lab"]
    choose_text(page.outcome, "No score")
    assert list_modes() == ["lab"]
    assert not page.compare.isEnabled(), "there is no other run of it"
    choose_text(page.outcome, "Any outcome")
    choose_text(page.date, "Today")
    choose_text(page.drill, "Mirroring: principal loses power")
    assert list_modes() == ["exam", "practice"]

    assert page.compare.text() == "Compare with the previous run"
    hands.click_widget(page.compare)
    assert window.runs.page is not None
    figures = {row.figure: (row.left, row.right) for row in window.runs.page.figures.table.rows}
    assert figures["mode"] == ("practice", "exam")
    assert "End state" in figures
    hands.press_key(Key.Key_Escape)
    assert window.pages.currentWidget() == page
    assert list_modes() == ["exam", "practice"], "what was chosen stays"

    cancel = answer_questions(monkeypatch, QMessageBox.ButtonRole.RejectRole)
    hands.press_key(Key.Key_Delete, target=table)
    assert len(cancel) == 1
    assert len(profile.list_results()) == 3
    monkeypatch.undo()
    questions = answer_questions(monkeypatch, QMessageBox.ButtonRole.DestructiveRole)
    table.selectionModel().select(table.table.index(1, 0), ROW)
    assert page.compare.text() == "Compare"
    hands.click_widget(page.delete)
    assert questions[0].startswith("Delete 2 runs permanently?")
    assert [row.scenario_name for row in profile.list_results()] == ["lab"]
    assert list_modes() == ["lab"], "of a drill that is gone nothing can be chosen"
