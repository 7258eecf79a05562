"""Tests of the log of a seat: accepted entries, duplicates that count once, and refused entries."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.classroom.join_code import Invitation
from app.classroom.log_entries import (
    ENTRIES_MAX,
    REWIND_LINE,
    TICK_MAX,
    LogEntry,
    LogMismatchError,
    list_answered_instructions,
    list_effective_entries,
    parse_entry,
    select_new_entries,
)
from app.classroom.messages.codec import NAME_LENGTH_MAX
from app.classroom.seat_log import InvalidSeatLogError, SeatAssignment, SeatLog, parse_log
from app.classroom.team.member import TeamConnection
from app.classroom.verdict import LogReplay, judge_log
from tests.shipped_scenarios import load_shipped_scenario

STORED_ENTRIES = [LogEntry(number, number * 100, f"note {number}", "", 0) for number in range(1, 6)]


def read_log(first_number: int, last_number: int) -> list[LogEntry]:
    return STORED_ENTRIES[first_number - 1 : last_number]


def select_after_acknowledged(*entries: LogEntry) -> list[LogEntry]:
    return select_new_entries(entries, acknowledged=5, last_tick=500, read_entries=read_log)


def test_entries_sent_twice_count_once() -> None:
    new = LogEntry(6, 600, "note 6", "", 0)
    assert select_after_acknowledged(*STORED_ENTRIES[2:], new) == [new]
    assert select_after_acknowledged(*STORED_ENTRIES) == []


@pytest.mark.parametrize(
    ("entries", "reason"),
    [
        ([LogEntry(7, 700, "", "", 0)], "input 6 is missing; input 7 arrived instead"),
        ([LogEntry(6, 499, "", "", 0)], "input 6 is earlier than the input before it"),
        (
            [LogEntry(6, 600, "", "", 0), LogEntry(6, 600, "", "", 0)],
            "input 7 is missing; input 6 arrived instead",
        ),
        ([LogEntry(6, 600, "", "", 0), LogEntry(7, 599, "", "", 0)], "input 7 is earlier"),
        ([LogEntry(3, 300, "note 4", "", 0)], "input 3 differs from the input that the host acknowledged"),
        ([LogEntry(3, 301, "note 3", "", 0)], "input 3 differs from the"),
    ],
)
def test_an_entry_that_does_not_continue_the_log_is_refused(entries: list[LogEntry], reason: str) -> None:
    with pytest.raises(LogMismatchError, match=reason):
        select_after_acknowledged(*entries)


@pytest.mark.parametrize(
    "entry",
    [
        None, [], {}, "1", [1, 2, "", ""], [1, 2, "", "", "0"], [True, 2, "", "", 0], [1, 2.0, "", "", 0],
        [0, 2, "", "", 0], [ENTRIES_MAX + 1, 2, "", "", 0], [1, TICK_MAX + 1, "", "", 0], [1, -1, "", "", 0],
        [1, 2, "x" * 70_000, "", 0], [1, 2, "a\0b", "", 0], [1, 2, "", "not a hash", 0], [1, 2, "", "", -1],
    ],
)  # fmt: skip
def test_an_invalid_value_is_refused_as_a_log_entry(entry: object) -> None:
    with pytest.raises(LogMismatchError):
        parse_entry(entry)


LONG_NAMES = ("🙂" * NAME_LENGTH_MAX, "𝒜" * NAME_LENGTH_MAX, "漢" * NAME_LENGTH_MAX)


@pytest.mark.parametrize("name", LONG_NAMES)
def test_every_permitted_name_can_be_stored(tmp_path: Path, name: str, profile_folder: Path) -> None:
    log = SeatLog(tmp_path, name)
    log.write_assignment(ASSIGNMENT)
    log.close()
    reopened_log = SeatLog(tmp_path, name)
    reopened_log.close()
    assert reopened_log.token == log.token
    TeamConnection(Invitation("SECRET", "HOST", "127.0.0.1", 1), name, "dba")._loop.close()
    assert len(list(profile_folder.rglob("*.token"))) == 1


ASSIGNMENT = SeatAssignment(3, "Ann", "lab", 'title = "Lab"', 7, "lab")


def test_a_log_on_disk_continues_after_a_kill(tmp_path: Path) -> None:
    first = SeatLog(tmp_path, "Ann")
    first.write_assignment(ASSIGNMENT)
    first.append_entry(100, "note one", "")
    first.append_entry(200, "note two", "")
    with pytest.raises(InvalidSeatLogError, match="already running"):
        SeatLog(tmp_path, "Ann")
    token = first.token
    first.close()
    # The program was killed in the middle of a line.
    first.file.write_bytes(first.file.read_bytes() + b'[3, 300, "no')
    reopened_log = SeatLog(tmp_path, "Ann")
    assert (reopened_log.assignment, reopened_log.token) == (ASSIGNMENT, token)
    assert [entry.line for entry in reopened_log.list_entries_after(1)] == ["note two"]
    reopened_log.append_entry(300, "note three", "")
    reopened_log.close()
    assert [entry.number for entry in parse_log(reopened_log.file.read_bytes(), "x")[1]] == [1, 2, 3]
    assert "note three" in reopened_log.file.read_text()
    assert token not in reopened_log.file.read_text(), "who hands in the log does not hand in the token"


def test_a_log_with_a_gap_is_rejected(tmp_path: Path) -> None:
    own_log = SeatLog(tmp_path, "Ann")
    own_log.write_assignment(ASSIGNMENT)
    for number in range(3):
        own_log.append_entry(number, "note", "")
    own_log.close()
    lines = own_log.file.read_bytes().splitlines(keepends=True)
    with pytest.raises(InvalidSeatLogError, match="input 2 is missing"):
        parse_log(b"".join([*lines[:2], lines[3]]), "Ann.seat")
    with pytest.raises(InvalidSeatLogError, match="the first line must contain"):
        parse_log(b"".join(lines[1:]), "Ann.seat")


def test_a_rewound_run_equals_one_without_the_removed_part() -> None:
    scenario = load_shipped_scenario("lab")
    before = [LogEntry(1, 100, "note one", "", 0), LogEntry(2, 3000, "power-off SERVER_A", "", 4)]
    reverted_acts = [LogEntry(3, 4000, "note wrong", "", 0)]
    entries_after = [LogEntry(4, 3500, REWIND_LINE, "", 7), LogEntry(5, 3600, "power-on SERVER_A", "", 0)]
    log = [*before, *reverted_acts, *entries_after]
    assert [entry.number for entry in list_effective_entries(log)] == [1, 2, 4, 5]
    assert list_answered_instructions(log) == {4, 7}
    assert list_answered_instructions([*log, LogEntry(6, 100, REWIND_LINE, "", 9)]) == {7, 9}, (
        "what it answered may happen again"
    )
    verdict_found = judge_log(scenario, scenario.seed, "lab", log)
    straight = judge_log(scenario, scenario.seed, "lab", [*before, *list_effective_entries(entries_after)])
    assert (verdict_found["sent_back"], verdict_found["state_hash"], verdict_found["done"]) == (
        1,
        straight["state_hash"],
        2,
    )
    run = LogReplay(scenario, scenario.seed, "lab")
    run.play(log[:3])
    twin = run.fork()
    run.play(log[3:])
    assert run.build_verdict() == verdict_found
    twin.play(log[3:])
    assert twin.build_verdict() == verdict_found
    assert select_new_entries(log, 0, 0, lambda first, last: ()) == log
    with pytest.raises(LogMismatchError, match="earlier"):
        select_new_entries(
            [*reverted_acts, LogEntry(*entries_after[0][:4], 0)], 2, 3000, lambda first, last: ()
        )
