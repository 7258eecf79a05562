"""Tests of the speed control: invalid input, steps by keys, equal values in field and slider."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QLabel, QSlider

from app.views.time_controls import SpeedField, TimeControls, parse_speed
from tests.children import find_child


@pytest.mark.parametrize(
    ("text", "speed"),
    [("2", 2.0), ("0.5", 0.5), ("0,5", 0.5), (" 20 x", 20.0), ("1,000×", 1000.0), ("1.000", 1000.0), (".3", 0.3),
     ("33.3", 33.3), ("5000", 1000.0), ("0", 0.1), ("", None), ("fast", None), ("-3", None), (",", None),
     ("2-3", None)],
)  # fmt: skip
def test_typed_speeds_are_parsed_or_rejected(text: str, speed: float | None) -> None:
    assert parse_speed(text) == speed


@pytest.fixture
def transport(qtbot: Any) -> TimeControls:
    transport = TimeControls([QAction("Run")])
    qtbot.addWidget(transport)
    transport.speed_chosen.connect(transport.show_speed)
    transport.show()
    return transport


def test_a_typed_speed_moves_the_slider_and_an_invalid_one_does_not(
    qtbot: Any, transport: TimeControls
) -> None:
    field = find_child(transport, SpeedField)
    field.selectAll()
    qtbot.keyClicks(field, "100")
    with qtbot.waitSignal(transport.speed_chosen) as blocker:
        qtbot.keyClick(field, Qt.Key.Key_Return)
    assert blocker.args == [100.0]
    assert find_child(transport, QSlider).value() == 200
    field.selectAll()
    qtbot.keyClicks(field, "quick")
    with qtbot.assertNotEmitted(transport.speed_chosen):
        qtbot.keyClick(field, Qt.Key.Key_Return)
    assert field.text() == "100×"


def test_up_and_down_step_the_speed(qtbot: Any, transport: TimeControls) -> None:
    for key in (Qt.Key.Key_Up, Qt.Key.Key_Up, Qt.Key.Key_Down):
        qtbot.keyClick(find_child(transport, SpeedField), key)
    assert find_child(transport, SpeedField).text() == "2×"


def test_an_unreached_speed_does_not_move_the_slider(transport: TimeControls) -> None:
    before = transport.sizeHint()
    transport.show_lag(40.0)
    assert transport.sizeHint() == before
    assert "40" in find_child(transport, QLabel, "lag").text()
