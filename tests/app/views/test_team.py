"""Dialogs of a team: roles and code."""

from __future__ import annotations

from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from app.classroom.messages.team import TeamRole
from app.views.team import TakeRole, TeamCode


def test_dialog_of_a_role_has_one_button_that_takes_it(qtbot: QtBot) -> None:
    dialog = TakeRole("Ann", code="CODE")
    qtbot.addWidget(dialog)
    requests: list[tuple[object, ...]] = []
    dialog.wanted.connect(lambda *words: requests.append(words))
    texts = sorted(button.text() for button in dialog.findChildren(QPushButton))
    assert texts == ["&Show roles", "&Take role", "Cancel"]
    assert not dialog.take.isEnabled()
    dialog.show_roles([TeamRole("dba", "DBA", taken_by=None, connected=False)])
    assert sorted(button.text() for button in dialog.findChildren(QPushButton)) == texts
    dialog.take.click()
    assert requests == [("CODE", "Ann", "dba", False)]


def test_code_of_a_team_is_large_and_ends_it(qtbot: QtBot) -> None:
    code = TeamCode("ABCDE-FGHJK-MNPQR-STVWX@10.0.0.5:40123")
    qtbot.addWidget(code)
    assert code.code.text() == "ABCDE-FGHJK-MNPQR-STVWX"
    with qtbot.waitSignal(code.end_wanted):
        code.end.click()
