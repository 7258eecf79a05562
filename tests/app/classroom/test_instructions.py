"""Tests of instructions of a class: their selection for a seat, and their cost with many seats and messages."""

from __future__ import annotations

import re
import time

import pytest

from app.classroom.class_dashboard import ClassDashboard
from app.classroom.console import ConsoleCommandError, parse_request
from app.classroom.instructions import InstructionIndex
from app.classroom.lesson_plan import LessonPlan
from app.classroom.models import FROZEN, MESSAGE, ClassInstruction
from app.classroom.pace import PAUSED_AFTER_S, ClassPace
from app.classroom.seat_state import SeatState
from tests.class_process import build_class
from tests.shipped_scenarios import load_shipped_scenario

SEATS, MESSAGES = 1_000, 20
BOARD_CPU_S_MAX = 1.0
"""Maximum processor time for the whole board. A search through all messages for each seat would take four
seconds.
"""


def build_instruction(number: int, seat: int | None, group: str | None = None) -> ClassInstruction:
    return ClassInstruction(number=number, seat_id=seat, group_name=group, kind=MESSAGE, text="look")


def build_seat_state(number: int, group: str = "") -> SeatState:
    return SeatState(number, f"Person {number}", "", 0, 0, 0, 0, group=group)


def test_a_seat_gets_instructions_for_itself_its_group_and_the_class_in_order() -> None:
    book = InstructionIndex(
        [
            build_instruction(4, 1),
            build_instruction(1, None),
            build_instruction(2, 2),
            build_instruction(3, None, "Blue"),
        ]
    )
    book.add([build_instruction(5, 1), build_instruction(4, 2)])  # The second instruction 4 is a duplicate.
    assert [instruction.number for instruction in book.select_for_seat(build_seat_state(1, "Blue"))] == [
        1,
        3,
        4,
        5,
    ]
    assert [instruction.number for instruction in book.select_for_seat(build_seat_state(2))] == [1, 2]
    assert sorted(book) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("message all " + "x" * 70_000, "TEXT can have at most 65,536 characters."),
        ("mark all " + "x" * 300, "TEXT can have at most 200 characters."),
        ("back all 9:00:00", "TIME can be at most 8:00:00."),
        ("extend all 9:00:00", "TIME can be at most 8:00:00."),
        ("break 0", "MINUTES must be above 0."),
        ("break 999.5", "MINUTES can be at most 600."),
        ("clock 0", "SPEED must be above 0."),
        ("clock 1001", "SPEED can be at most 1,000."),
    ],
)
def test_a_command_out_of_range_is_explained(line: str, problem: str) -> None:
    with pytest.raises(ConsoleCommandError, match=f"^{re.escape(problem)}$"):
        parse_request(line)


def test_board_of_a_large_class_is_cheap_after_many_messages() -> None:
    scenario = load_shipped_scenario("planned-failover")
    the_class = build_class(scenario, LessonPlan(scenario="planned-failover", mode="practice"), "")
    seats = {number: build_seat_state(number) for number in range(1, SEATS + 1)}
    book = InstructionIndex(
        build_instruction(turn * SEATS + number, number) for turn in range(MESSAGES) for number in seats
    )
    board = ClassDashboard(the_class, 1, seats, book, ClassPace(the_class, scenario))
    begun_s = time.process_time()
    tiles = board.build_dashboard(list(seats)).tiles
    assert time.process_time() - begun_s < BOARD_CPU_S_MAX
    assert {len(tile.unanswered) for tile in tiles} == {MESSAGES}


def test_a_run_that_does_not_advance_without_a_freeze_is_shown_as_paused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scenario = load_shipped_scenario("planned-failover")
    the_class = build_class(scenario, LessonPlan(scenario="planned-failover", mode="practice"), "")
    seat, now_s = build_seat_state(1), 100.0
    seat.is_at_other_host = True  # The seat is connected to another host.
    board = ClassDashboard(the_class, 1, {1: seat}, InstructionIndex([]), ClassPace(the_class, scenario))
    monkeypatch.setattr("app.classroom.pace.time.monotonic", lambda: now_s)

    def is_paused(*, wait_s: float, tick: int, frozen: bool = False) -> tuple[bool, list[int]]:
        nonlocal now_s
        now_s += wait_s
        seat.tick, the_class.state, board.changed_seats = tick, FROZEN if frozen else "running", set()
        board.record_activity_changes()
        (paused_tile,) = board.build_dashboard().tiles
        return paused_tile.paused, sorted(board.changed_seats)

    assert is_paused(wait_s=0.0, tick=700) == (False, [])
    assert is_paused(wait_s=PAUSED_AFTER_S, tick=720) == (False, [])
    assert is_paused(wait_s=PAUSED_AFTER_S, tick=720) == (True, [1])
    assert is_paused(wait_s=1.0, tick=720) == (True, [])
    assert is_paused(wait_s=1.0, tick=720, frozen=True) == (False, [1])
    assert is_paused(wait_s=1.0, tick=720) == (False, [])
    assert is_paused(wait_s=PAUSED_AFTER_S, tick=720) == (True, [1])
    assert is_paused(wait_s=1.0, tick=800) == (False, [1])
