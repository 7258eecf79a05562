"""A text that is changed by another hand than the writer's: only what differs, whatever its signs."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from app.views.console.editor import SqlEditor

TEXTS = (
    "",
    "a",
    "SELECT 1",
    "SELECT \U0001f600 1",
    "SELECT \U0001f600\U0001f600 1",
    "\u00df",
    "aaa",
    "aa",
    "x\ny\n",
    "y\n",
)


@pytest.mark.parametrize("before", TEXTS)
@pytest.mark.parametrize("after", TEXTS)
def test_a_text_becomes_another_in_one_step_that_can_be_undone(qtbot: QtBot, before: str, after: str) -> None:
    edit = SqlEditor(lambda *_: ())
    qtbot.addWidget(edit)
    edit.setPlainText(before)
    edit.replace_with(after)
    assert edit.toPlainText() == after
    edit.undo()
    assert edit.toPlainText() == before
