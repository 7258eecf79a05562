"""Tests of the dialogs of a team: roles and join code."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtWidgets import QApplication, QDialog, QPushButton
from pytestqt.qtbot import QtBot

from app.classroom.messages.team import TeamRole
from app.views.bundles import NewBundleDialog
from app.views.classroom.dialogs import JoinClassDialog, StartClassDialog
from app.views.condition_dialog import ConditionDialog
from app.views.connection_editor import ConnectionEditor
from app.views.team import StartTeamDialog, TakeRoleDialog, TeamCodeDialog


def test_dialog_of_a_role_has_one_button_that_takes_it(qtbot: QtBot) -> None:
    dialog = TakeRoleDialog("Ann", code="CODE")
    qtbot.addWidget(dialog)
    requests: list[tuple[object, ...]] = []
    dialog.role_wanted.connect(lambda *words: requests.append(words))
    texts = sorted(button.text() for button in dialog.findChildren(QPushButton))
    assert texts == ["&Show roles", "&Take role", "Cancel"]
    assert not dialog.take.isEnabled()
    assert dialog.show_roles_button.isDefault()
    dialog.show_roles([TeamRole("dba", "DBA", taken_by=None, connected=False)])
    assert sorted(button.text() for button in dialog.findChildren(QPushButton)) == texts
    assert dialog.take.isDefault()
    dialog.take.click()
    assert requests == [("CODE", "Ann", "dba", False)]


@pytest.fixture(params=["with style sheet", "without style sheet"])
def _style_sheet(request: pytest.FixtureRequest, qapp: QApplication) -> Iterator[None]:
    """Show the dialogs of a test with and without the style sheet of the program."""
    sheet = qapp.styleSheet()
    qapp.setStyleSheet(sheet if request.param == "with style sheet" else "")
    yield
    qapp.setStyleSheet(sheet)


@pytest.mark.usefixtures("_style_sheet")
@pytest.mark.parametrize(
    ("build_dialog", "text"),
    [
        (lambda: JoinClassDialog("Ann"), "&Join"),
        (lambda: StartClassDialog([("lab", "Lab")]), "&Start the class"),
        (lambda: StartTeamDialog([("lab", "Lab")]), "&Start team"),
        (lambda: TakeRoleDialog("Ann"), "&Show roles"),
        (lambda: ConditionDialog([], str), "Run"),
        (lambda: ConnectionEditor("APP"), "Save and restart"),
        (lambda: NewBundleDialog([("lab", "Lab")], "Ann"), "Save as…"),
    ],
)
def test_a_dialog_fills_the_button_that_enter_presses(
    qtbot: QtBot, build_dialog: Callable[[], QDialog], text: str
) -> None:
    dialog = build_dialog()
    qtbot.addWidget(dialog)
    dialog.show()
    buttons = dialog.findChildren(QPushButton)
    assert [button.text() for button in buttons if button.property("primary") == "true"] == [text]
    assert [button.text() for button in buttons if button.isDefault()] == [text]


def test_code_of_a_team_is_large_and_ends_it(qtbot: QtBot) -> None:
    code = TeamCodeDialog("ABCDE-FGHJK-MNPQR-STVWX@10.0.0.5:40123")
    qtbot.addWidget(code)
    assert code.code.text() == "ABCDE-FGHJK-MNPQR-STVWX"
    with qtbot.waitSignal(code.end_wanted):
        code.end.click()
