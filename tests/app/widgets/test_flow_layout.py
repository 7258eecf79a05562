"""Tests of the flow layout: each row holds as many widgets as fit."""

from __future__ import annotations

from itertools import pairwise

import pytest
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.widgets.flow_layout import FlowLayout


@pytest.mark.parametrize(("width", "rows"), [(1000, 1), (250, 2), (110, 4), (40, 4)])
def test_widgets_without_room_wrap_to_the_next_row(qtbot: QtBot, width: int, rows: int) -> None:
    box = QWidget()
    qtbot.addWidget(box)
    flow = FlowLayout(10, box)
    flow.setContentsMargins(0, 4, 0, 0)
    parts = [QLabel(f"part {number}") for number in range(4)]
    for part in parts:
        part.setFixedSize(100, 20)
        flow.addWidget(part)
    hidden = QLabel("hidden")
    flow.addWidget(hidden)
    hidden.hide()
    box.resize(width, 400)
    box.show()
    tops = sorted({part.y() for part in parts})
    assert len(tops) == rows
    assert all(bottom - before == 30 for before, bottom in pairwise(tops))
    assert tops[0] == 4
    assert flow.heightForWidth(width) == 4 + 30 * rows - 10
    assert flow.minimumSize().width() == 100
    assert flow.sizeHint().width() == 430
    assert (flow.itemAt(9), flow.takeAt(9)) == (None, None)
