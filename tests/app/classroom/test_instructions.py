"""Instructions of a class: selection for a seat, and cost with many seats and messages."""

from __future__ import annotations

import time

from app.classroom.instructions import InstructionBook
from app.classroom.live_board import LiveBoard
from app.classroom.models import MESSAGE, ClassInstruction
from app.classroom.pace import ClassPace
from app.classroom.plan import LessonPlan
from app.classroom.seat_state import SeatState
from tests.class_process import new_class
from tests.shipped_scenarios import load_shipped_scenario

SEATS, MESSAGES = 1_000, 20
BUILD_S = 1.0
"""Processor time for the whole board; a search through all messages for each seat takes four seconds."""


def instruct(number: int, seat: int | None, group: str | None = None) -> ClassInstruction:
    return ClassInstruction(number=number, seat_id=seat, group_name=group, kind=MESSAGE, text="look")


def seat_of(number: int, group: str = "") -> SeatState:
    return SeatState(number, f"Person {number}", "", 0, 0, 0, 0, group=group)


def test_a_seat_gets_instructions_for_itself_its_group_and_the_class_in_order() -> None:
    book = InstructionBook([instruct(4, 1), instruct(1, None), instruct(2, 2), instruct(3, None, "Blue")])
    book.add([instruct(5, 1), instruct(4, 2)])  # the second 4 is known already
    assert [instruction.number for instruction in book.select_for(seat_of(1, "Blue"))] == [1, 3, 4, 5]
    assert [instruction.number for instruction in book.select_for(seat_of(2))] == [1, 2]
    assert sorted(book) == [1, 2, 3, 4, 5]


def test_board_of_a_large_class_is_cheap_after_many_messages() -> None:
    scenario = load_shipped_scenario("planned-failover")
    the_class = new_class(scenario, LessonPlan(scenario="planned-failover", mode="practice"), "")
    seats = {number: seat_of(number) for number in range(1, SEATS + 1)}
    book = InstructionBook(
        instruct(turn * SEATS + number, number) for turn in range(MESSAGES) for number in seats
    )
    board = LiveBoard(the_class, 1, seats, book, ClassPace(the_class, scenario))
    begun_s = time.process_time()
    tiles = board.build_dashboard(list(seats)).tiles
    assert time.process_time() - begun_s < BUILD_S
    assert {len(tile.unanswered) for tile in tiles} == {MESSAGES}
