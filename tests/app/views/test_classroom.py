"""The instructor's board: what it shows of a seat, and what it says to the host."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.classroom.console import request
from app.classroom.shapes import Board, Tile
from app.classroom.verdict import verdict
from app.files import scenario_files
from app.views.classroom import ClassBoard

LAB = scenario_files.find("lab").load()


def tile(number: int, name: str, **other: Any) -> Tile:
    played: Any = {**verdict(LAB, LAB.seed, "lab", []), **other.pop("verdict", {})}
    usual: Any = {
        "connected": True,
        "frozen": False,
        "over": False,
        "at_s": 83.0,
        "acknowledged": 0,
        "unanswered": [],
    }
    made: Any = {"seat": number, "name": name, **usual, "verdict": played, **other}
    return made


def board_of(*tiles: Tile, state: str = "running", not_frozen: tuple[str, ...] = ()) -> Board:
    return {"kind": "board", "state": state, "not_frozen": list(not_frozen), "tiles": list(tiles)}


@pytest.fixture
def board(qtbot: QtBot) -> ClassBoard:
    made = ClassBoard()
    qtbot.addWidget(made)
    made.show_code("ABCDE-FGHJK-MNPQR-STVWX@10.0.0.5:7443")
    return made


def cells(board: ClassBoard, row: int) -> list[str]:
    table = board.tiles.table
    return [table.index(row, column).data() for column in range(table.columnCount())]


def test_a_seat_is_one_row_whatever_comes_later(board: ClassBoard) -> None:
    board.show_board(board_of(tile(2, "Bob"), tile(1, "Ann")))
    done = {"last_act": "power-on SERVER_A", "score": 87.4, "goals": {"a": 3.0, "b": None}}
    board.show_board(board_of(tile(1, "Ann", verdict=done)))
    assert cells(board, 0) == ["1", "Ann", "✓ at work", "1:23", "1/2", "87", "power-on SERVER_A"]
    assert cells(board, 1)[:3] == ["2", "Bob", "✓ at work"]
    assert board.tiles.table.rowCount() == 2


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"connected": False}, "not connected"),
        ({"frozen": True}, "frozen"),
        ({"over": True, "connected": False}, "finished"),
        ({"verdict": {"stuck_since_s": 60.0}}, "nothing since 1:00"),
        (
            {"verdict": {"parted_t_s": 125.0, "parted": "another state"}, "over": True},
            "✗ differs from 2:05 on",
        ),
    ],
)
def test_what_needs_attention_is_said(board: ClassBoard, other: dict[str, Any], said: str) -> None:
    board.show_board(board_of(tile(1, "Ann", **other)))
    assert cells(board, 0)[2] == said


def test_who_is_not_frozen_is_named(board: ClassBoard) -> None:
    board.show_board(board_of(tile(1, "Ann"), tile(2, "Bob"), state="frozen", not_frozen=("Bob",)))
    assert board.state.text() == "2 seats, 2 connected. Not frozen yet: Bob."
    assert (board.freeze.isEnabled(), board.go.isEnabled()) == (False, True)


def test_what_it_says_is_what_the_console_understands(board: ClassBoard, qtbot: QtBot) -> None:
    said: list[str] = []
    board.said.connect(said.append)
    board.show_board(board_of(tile(7, "Ann")))
    qtbot.mouseClick(board.freeze, Qt.MouseButton.LeftButton)
    with qtbot.waitSignal(board.finish_wanted):
        qtbot.mouseClick(board.finish, Qt.MouseButton.LeftButton)
    board.text.setText("look at the mirror")
    qtbot.keyClick(board.text, Qt.Key.Key_Return)
    board.what.setCurrentIndex(1)
    board.who.setCurrentIndex(1)
    board.text.setText("power-off SERVER_A")
    qtbot.mouseClick(board.send, Qt.MouseButton.LeftButton)
    assert said == ["freeze", "message all look at the mirror", "inject 7 power-off SERVER_A"]
    assert [getattr(request(line), "seat", None) for line in said] == [None, None, 7]
    assert board.text.text() == ""
