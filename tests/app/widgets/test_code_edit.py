"""Tests of programmatic changes of an editor's text: they replace only the differing part, with any
characters.
"""

from __future__ import annotations

import pytest
from PySide6.QtGui import QFont, QResizeEvent
from pytestqt.qtbot import QtBot

from app.views.console.query import SqlEditor

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


@pytest.mark.parametrize("old_text", TEXTS)
@pytest.mark.parametrize("new_text", TEXTS)
def test_replacing_a_text_is_one_undo_step(qtbot: QtBot, old_text: str, new_text: str) -> None:
    edit = SqlEditor(lambda *_: ())
    qtbot.addWidget(edit)
    edit.setPlainText(old_text)
    edit.apply_differences(new_text)
    assert edit.toPlainText() == new_text
    edit.undo()
    assert edit.toPlainText() == old_text


class ResizeCountingEditor(SqlEditor):
    """Editor that records the nesting depth of its resize events."""

    nested_resizes = 0
    deepest_nesting = 0

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.nested_resizes += 1
        self.deepest_nesting = max(self.deepest_nesting, self.nested_resizes)
        if self.nested_resizes < 20:
            super().resizeEvent(event)
        self.nested_resizes -= 1


QUERY = """SELECT DB_NAME(database_id) AS name, mirroring_role_desc, mirroring_state_desc,
       mirroring_witness_state_desc
FROM sys.database_mirroring
WHERE mirroring_guid IS NOT NULL
"""


def test_changing_scroll_bars_do_not_resize_the_editor_forever(qtbot: QtBot) -> None:
    """In a small editor, the two scroll bars appeared and disappeared in turn until the program crashed."""
    edit = ResizeCountingEditor(lambda *_: ())
    qtbot.addWidget(edit)
    edit.setFont(QFont("monospace", 8))
    edit.setPlainText(QUERY)
    edit.show()
    for height in range(50, 120):
        for change in (0, 1, -3, 14, -20):
            edit.resize(473, height + change)
    assert 0 < edit.deepest_nesting < 10
