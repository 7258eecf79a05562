"""Tests of the run of a seat without a network: its log, and its response to instructions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from queue import SimpleQueue

import pytest

from app.classroom.messages.replies import (
    HandLowered,
    InstructionMessage,
    InstructorPresence,
    PaceState,
    SeatMessage,
    SeatWelcome,
)
from app.classroom.models import OVER
from app.classroom.seat_log import SeatAssignment, SeatLog, build_welcome
from app.classroom.seat_run import POSITION_ENTRY_TICKS, ClassEndedError, SeatRun
from app.classroom.verdict import judge_log
from engine.inputs import InputError
from tests.shipped_scenarios import load_shipped_scenario

LAB = load_shipped_scenario("lab")


class StubLink:
    """Replacement for the link to the host. The test provides the messages of the host."""

    def __init__(self) -> None:
        self.incoming: SimpleQueue[SeatMessage] = SimpleQueue()
        self.tick, self.frozen, self.over = 0, False, False
        self.hand: str | None = None
        self.held = False

    def wake(self) -> None:
        pass


@pytest.fixture
def seat_log(tmp_path: Path) -> Iterator[SeatLog]:
    seat_log = SeatLog(tmp_path, "Ann")
    seat_log.write_assignment(SeatAssignment(1, "Ann", "lab", LAB.text, LAB.seed, "lab"))
    yield seat_log
    seat_log.close()


@pytest.fixture
def link() -> StubLink:
    return StubLink()


def build_seat_run(seat_log: SeatLog, link: StubLink, shown_texts: list[str] | None = None) -> SeatRun:
    texts = shown_texts if shown_texts is not None else []
    return SeatRun(seat_log, link, None, lambda event: texts.append(event.text))  # type: ignore[arg-type]


def list_lines(seat_log: SeatLog) -> list[tuple[int, str, int]]:
    return [(act.tick, act.line, act.instruction) for act in seat_log.entries if act.line or act.instruction]


def build_instruction(number: int, kind: str, text: str, tick: int | None = None) -> InstructionMessage:
    return InstructionMessage(number=number, what=kind, text=text, tick=tick)


def create_welcome(tick: int, events: Sequence[InstructionMessage] = ()) -> SeatWelcome:
    return build_welcome(
        SeatAssignment(1, "Ann", "lab", LAB.text, LAB.seed, "lab"), 1, tick=tick, events=events
    )


@pytest.mark.parametrize(("inputs_before", "expected"), [(0, 900), (1, 0)])
def test_a_late_seat_begins_at_the_time_that_the_host_gives(
    seat_log: SeatLog, link: StubLink, inputs_before: int, expected: int
) -> None:
    """A seat that already has a log continues from its log instead."""
    run = build_seat_run(seat_log, link)
    for _ in range(inputs_before):
        run.apply_line("note here")
    link.incoming.put(create_welcome(900))
    run.follow_instructions()
    assert run.drill.tick == expected
    run.apply_line("note later")
    assert seat_log.entries[-1].tick == expected


def test_a_late_seat_gets_skipped_events_at_their_original_times(seat_log: SeatLog, link: StubLink) -> None:
    shown_texts: list[str] = []
    run = build_seat_run(seat_log, link, shown_texts)
    events = [
        build_instruction(2, "inject", "power-off SERVER_B", 300),
        build_instruction(3, "message", "the boss calls", 500),
        build_instruction(1, "inject", "power-on SERVER_B", 700),
    ]
    link.incoming.put(create_welcome(900, events))
    for event in events:
        link.incoming.put(event)
    run.follow_instructions()
    assert run.drill.tick == 900
    assert list_lines(seat_log) == [
        (300, "power-off SERVER_B", 2), (500, "", 3), (700, "power-on SERVER_B", 1),
    ]  # fmt: skip
    assert shown_texts == ["the boss calls"]
    assert (
        judge_log(run.drill.scenario, run.drill.seed, run.drill.mode, seat_log.entries)["parted_t_s"] is None
    )


def test_inputs_are_logged_with_hashes_and_replay_to_the_same_state(
    seat_log: SeatLog, link: StubLink
) -> None:
    run = build_seat_run(seat_log, link)
    run.advance_to(1500)
    run.apply_line("power-off SERVER_A")
    run.advance_to(3000)
    run.record_end()
    assert list_lines(seat_log) == [(1500, "power-off SERVER_A", 0)]
    assert [act.tick for act in seat_log.entries if not act.line] == [
        POSITION_ENTRY_TICKS,
        2 * POSITION_ENTRY_TICKS,
        3 * POSITION_ENTRY_TICKS,
    ]
    verdict_found = judge_log(LAB, LAB.seed, "lab", seat_log.entries)
    assert (verdict_found["parted"], verdict_found["state_hash"]) == ("", run.drill.compute_state_hash())


def test_after_a_break_the_seat_continues_where_it_stopped(seat_log: SeatLog, link: StubLink) -> None:
    run = build_seat_run(seat_log, link)
    run.advance_to(1500)
    run.apply_line("power-off SERVER_A")
    run_again = build_seat_run(seat_log, link)
    assert (run_again.drill.tick, run_again.drill.compute_state_hash()) == (
        1500,
        run.drill.compute_state_hash(),
    )


def test_an_inject_happens_once_at_its_time_and_shows_its_message(seat_log: SeatLog, link: StubLink) -> None:
    shown_texts: list[str] = []
    run = build_seat_run(seat_log, link, shown_texts)
    for _ in range(2):  # a restarted host sends it again
        link.incoming.put(build_instruction(1, "inject", "power-off SERVER_A", 777))
        link.incoming.put(build_instruction(2, "message", "hello"))
        link.incoming.put(build_instruction(3, "inject", "power-off NOWHERE", 800))
    run.advance_to(1000)
    assert list_lines(seat_log) == [(0, "", 2), (777, "power-off SERVER_A", 1), (800, "power-off NOWHERE", 3)]
    assert shown_texts == ["hello"]
    run_again = build_seat_run(seat_log, link, shown_texts)
    link.incoming.put(build_instruction(1, "inject", "power-off SERVER_A", 777))
    run_again.advance_to(1100)
    assert len(list_lines(seat_log)) == 3


def test_a_seat_is_notified_of_the_instructors_actions(seat_log: SeatLog, link: StubLink) -> None:
    shown_texts: list[str] = []
    run = build_seat_run(seat_log, link, shown_texts)
    assert run.execute_hand_command("hand Which server?")
    assert link.hand == "Which server?"
    link.incoming.put(InstructorPresence(looked_at=True, held=True))
    link.incoming.put(HandLowered())
    link.incoming.put(build_instruction(1, "inject", "power-off SERVER_A"))
    run.advance_to(100)
    assert link.hand is None
    assert link.held is True
    assert shown_texts == [
        "The instructor is watching your seat.",
        "The instructor has taken control of your seat.",
    ]
    with pytest.raises(InputError, match="controls this seat"):
        run.apply_line("power-on SERVER_A")
    link.incoming.put(InstructorPresence(looked_at=True, held=False))
    run.advance_to(200)
    run.apply_line("power-on SERVER_A")
    assert list_lines(seat_log) == [(0, "power-off SERVER_A", 1), (200, "power-on SERVER_A", 0)], (
        "who did what"
    )


def test_the_end_of_the_class_ends_the_run(seat_log: SeatLog, link: StubLink) -> None:
    link.incoming.put(PaceState(state=OVER, until=None, clock=None, break_s=None, hosts=[]))
    with pytest.raises(ClassEndedError):
        build_seat_run(seat_log, link).advance_to(100)


def test_a_seat_cannot_rewind_itself(seat_log: SeatLog, link: StubLink) -> None:
    run = build_seat_run(seat_log, link)
    run.advance_to(500)
    with pytest.raises(InputError, match="be set back"):
        run.apply_line("rewind 1")
    assert list_lines(seat_log) == []
