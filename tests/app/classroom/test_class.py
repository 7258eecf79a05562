"""Tests of a class over real sockets, with a real host, real seats, and clients that send arbitrary messages."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from app.classroom import console
from app.classroom.class_check import check_class
from app.classroom.instructions import list_settled_instructions
from app.classroom.join_code import Invitation
from app.classroom.log_entries import LogEntry
from app.classroom.messages.codec import encode
from app.classroom.models import ClassInstruction, ClassPart
from app.classroom.record import ClassRecord
from app.classroom.verdict import judge_log
from app.files import scenario_files
from engine.drill.judging.report import get_program_version
from tests.class_process import HostProcess, RawClient, join, run_host
from tests.forked import run_program
from tests.hostile import class_kills

SCENARIO = "planned-failover"
WRONG_CODE_ATTEMPTS = 500
"""Number of wrong join codes to try; each uses a new TLS connection."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("class")


@pytest.fixture(scope="module")
def host(folder: Path) -> Iterator[HostProcess]:
    """Yield a class host that several tests attack; each test adds its own seats."""
    with run_host(folder / "class.sqlite", SCENARIO, "--mode", "exam") as host:
        yield host


def build_class(folder: Path) -> ClassPart:
    record = ClassRecord(str(folder / "class.sqlite"), create=False)
    class_found = record.read_class()
    record.close()
    assert class_found is not None
    return class_found


def build_log_entry(
    number: int, tick: int, line: str = "", digest: str = "", instruction: int = 0
) -> list[Any]:
    return [number, tick, line, digest, instruction]


def build_actions_message(*entries: list[Any]) -> dict[str, Any]:
    return {"kind": "acts", "acts": entries}


def send_instructor_lines(folder: Path, *lines: str) -> list[dict[str, Any]]:
    """Return the host's replies to an instructor who types *lines*."""
    process = run_program("class", "console", "--database", folder / "class.sqlite", lines="\n".join(lines))
    assert process.returncode == 0, process.stderr
    return [json.loads(line) for line in process.stdout.splitlines()]


def request_host_reply(folder: Path, line: str) -> dict[str, Any]:
    """Return the host's reply to *line*, without the board updates before and after it."""
    return [reply for reply in send_instructor_lines(folder, line) if reply["kind"] != "board"][-1]


def read_board(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the tiles of the board by seat name."""

    async def request_board() -> dict[str, Any]:
        async with console.connect_to_host(build_class(folder)) as socket:
            message: dict[str, Any] = json.loads(await socket.recv())
            return message

    return {tile["name"]: tile for tile in asyncio.run(request_board())["tiles"]}


def test_a_returning_seat_continues_from_the_acknowledged_inputs(host: HostProcess, folder: Path) -> None:
    hello = join(host.invited, "Ann", "a" * 32)
    with RawClient(host.invited) as seat:
        number = seat.request_reply(hello, "welcome")["seat"]
        assert (
            seat.request_reply(
                build_actions_message(build_log_entry(1, 100, "note one"), build_log_entry(2, 200)),
                "acknowledged",
            )["number"]
            == 2
        )
    with RawClient(host.invited) as seat:
        resumed = seat.request_reply({"kind": "resume", "seat": number, "token": "a" * 32}, "welcome")
        assert resumed["acknowledged"] == 2
        assert (
            seat.request_reply(
                build_actions_message(build_log_entry(2, 200), build_log_entry(3, 300)), "acknowledged"
            )["number"]
            == 3
        )
    with RawClient(
        host.invited
    ) as seat:  # The seat is killed before it receives its number, so it has only its token.
        assert seat.request_reply(hello, "welcome")["seat"] == number
    assert read_board(folder)["Ann"]["acknowledged"] == 3


def test_an_exam_sends_no_answers(host: HostProcess) -> None:
    with RawClient(host.invited) as seat:
        text = seat.request_reply(join(host.invited, "Eve", "e" * 32), "welcome")["text"]
    assert "solution" not in text
    assert "facilitator" not in text


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ({"kind": "resume", "seat": 1, "token": "x" * 32}, "wrong token for seat 1"),
        ({"kind": "resume", "seat": 99, "token": "x" * 32}, "wrong token for seat 99"),
        ({"kind": "join", "secret": "000000", "name": "Eve", "token": "x" * 32}, "wrong class code"),
        ({"kind": "steer", "key": "x" * 32}, "wrong class key"),
        ({"kind": "freeze"}, "sign in first"),
        ({"kind": "acts", "acts": []}, "sign in first"),
        ("garbage", "JSON is malformed"),
        (b"\xff\x00", "JSON is malformed"),
        ("x" * 500_000, ""),  # The message is too long, so the host closes the connection.
    ],
)
def test_an_unauthorized_client_is_refused(host: HostProcess, message: object, reason: str) -> None:
    with RawClient(host.invited) as stranger:
        assert reason in stranger.read_refusal(message)


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ({"kind": "freeze"}, "the role seat may not request freeze"),
        (
            {"kind": "instruct", "what": "inject", "text": "power-off SERVER_A"},
            "the role seat may not request instruct",
        ),
        (build_actions_message(build_log_entry(2, 100)), "input 1 is missing"),
        (build_actions_message([1, "x"]), "an input must be [number, tick, line, hash, instruction]"),
        (
            build_actions_message(build_log_entry(1, 100, "power-off SERVER_A", "", 77)),
            "input 1 answers an instruction that does not exist",
        ),
        ({"kind": "score", "total": 100}, "Invalid value 'score'"),
    ],
)
def test_a_hostile_seat_is_refused_and_the_class_continues(
    host: HostProcess, message: object, reason: str
) -> None:
    with RawClient(host.invited) as valid_seat, RawClient(host.invited) as bad:
        number = valid_seat.request_reply(join(host.invited, "Good", "g" * 32), "welcome")["acknowledged"]
        bad.request_reply(join(host.invited, "Bad", "b" * 32), "welcome")
        assert reason in bad.read_refusal(message)
        assert (
            valid_seat.request_reply(
                build_actions_message(build_log_entry(number + 1, 5 * number)), "acknowledged"
            )["number"]
            == number + 1
        )


def test_instructions_reach_one_seat_or_all_and_are_repeated_until_answered(
    host: HostProcess, folder: Path
) -> None:
    with RawClient(host.invited) as first_seat, RawClient(host.invited) as second_seat:
        number = first_seat.request_reply(join(host.invited, "One", "1" * 32), "welcome")["seat"]
        second_seat.request_reply(join(host.invited, "Two", "2" * 32), "welcome")
        replies = send_instructor_lines(
            folder, f"inject {number} at 90 power-off SERVER_A", "message all hello", "inject all nonsense"
        )
        assert [reply["kind"] for reply in replies if reply["kind"] != "board"] == ["done", "done", "refused"]
        inject, message = first_seat.receive_message("instruction"), first_seat.receive_message("instruction")
        assert (inject["what"], inject["tick"], inject["text"]) == ("inject", 9000, "power-off SERVER_A")
        assert (message["what"], message["text"]) == ("message", "hello")
        assert second_seat.receive_message("instruction")["text"] == "hello"
        first_seat.request_reply(
            build_actions_message(build_log_entry(1, 10, "", "", message["number"])), "acknowledged"
        )
    with RawClient(host.invited) as first_seat:
        first_seat.request_reply(join(host.invited, "One", "1" * 32), "welcome")
        assert first_seat.receive_message("instruction")["number"] == inject["number"]
        forged = build_actions_message(build_log_entry(2, 9000, "power-on SERVER_A", "", inject["number"]))
        assert (
            "input 2 does not match the instruction that it answers (injected command)"
            in first_seat.read_refusal(forged)
        )


def test_an_instruction_is_answered_once_and_only_by_the_seat_it_addresses(
    host: HostProcess, folder: Path
) -> None:
    def join_class(seat: RawClient) -> int:
        return int(seat.request_reply(join(host.invited, "Lea", "l" * 32), "welcome")["seat"])

    with RawClient(host.invited) as seat, RawClient(host.invited) as second_seat:
        number = join_class(seat)
        second_seat.request_reply(join(host.invited, "Leo", "o" * 32), "welcome")
        seat.send_message({"kind": "at", "tick": 900, "frozen": False})
        send_instructor_lines(
            folder,
            f"inject {number} power-off SERVER_B",
            f"inject {number} at 90 power-off SERVER_W",
            f"back {number} 1.5 again",
        )
        first_instruction, later_instruction, back_instruction = (
            seat.receive_message("instruction"),
            seat.receive_message("instruction"),
            seat.receive_message("instruction"),
        )
        stolen = build_actions_message(
            build_log_entry(1, 100, "power-off SERVER_B", "", first_instruction["number"])
        )
        assert "answers an instruction that does not exist" in second_seat.read_refusal(stolen)
    dodges = [
        build_log_entry(1, 100, "", "", first_instruction["number"]),
        build_log_entry(1, 100, "power-on SERVER_B", "", first_instruction["number"]),
        build_log_entry(1, 100, "power-off SERVER_W", "", later_instruction["number"]),
        build_log_entry(1, 100, "", "", back_instruction["number"]),
        build_log_entry(1, 200, "sent-back", "", back_instruction["number"]),
    ]
    for dodge in dodges:
        with RawClient(host.invited) as seat:
            join_class(seat)
            assert "that it answers" in seat.read_refusal(build_actions_message(dodge)), dodge
    assert {first_instruction["number"], back_instruction["number"]} <= set(
        read_board(folder)["Lea"]["unanswered"]
    )
    log = [
        build_log_entry(1, 100, "power-off SERVER_B", "", first_instruction["number"]),
        build_log_entry(2, 500, "note one"),
        build_log_entry(3, 150, "sent-back", "", back_instruction["number"]),
    ]
    late_acts = [
        build_log_entry(4, 150, "sent-back", "", back_instruction["number"]),
        build_log_entry(4, 150, "power-off SERVER_B", "", first_instruction["number"]),
    ]
    for entry in late_acts:
        with RawClient(host.invited) as seat:
            join_class(seat)
            seat.request_reply(build_actions_message(*log), "acknowledged")
            assert "answers an instruction that is already answered" in seat.read_refusal(
                build_actions_message(*log, entry)
            ), entry
    assert not {first_instruction["number"], back_instruction["number"]} & set(
        read_board(folder)["Lea"]["unanswered"]
    )
    with RawClient(host.invited) as seat:
        join_class(seat)
        log += [
            build_log_entry(4, 9000, "power-off SERVER_W", "", later_instruction["number"]),
            build_log_entry(5, 9100, "", "", 0),
        ]
        assert seat.request_reply(build_actions_message(*log), "acknowledged")["number"] == 5
    assert later_instruction["number"] not in read_board(folder)["Lea"]["unanswered"]


def test_a_refused_inject_is_reported_with_its_line() -> None:
    scenario = scenario_files.find_scenario_file("planned-failover").load()
    inject = ClassInstruction(
        number=1, seat_id=1, group_name=None, tick=None, kind="inject", text="power-off NOWHERE"
    )
    tried = LogEntry(1, 100, "power-off NOWHERE", "", 1)
    assert list_settled_instructions([tried], [inject]) == {1}
    assert list_settled_instructions([LogEntry(1, 100, "", "", 1)], [inject]) == set(), (
        "the board tells the truth of an older record"
    )
    assert judge_log(scenario, scenario.seed, "practice", [tried])["parted"] == ""


def test_raised_hands_are_queued_and_a_seat_is_observed_only_with_its_consent(
    host: HostProcess, folder: Path
) -> None:
    def build_clock_message(**fields: object) -> dict[str, Any]:
        return {"kind": "at", "tick": 0, "frozen": False, **fields}

    async def observe_seat(number: int, seat: RawClient) -> list[dict[str, Any]]:
        """Return the messages that the console receives, and the messages of the seat in between."""
        async with console.connect_to_host(build_class(folder)) as socket:

            async def receive_message(kind: str) -> dict[str, Any]:
                while (message := json.loads(await asyncio.wait_for(socket.recv(), 30)))["kind"] != kind:
                    pass
                return dict(message)

            await socket.send(encode(console.parse_request(f"look {number}")))
            messages = [
                await receive_message("seen"),
                await asyncio.to_thread(seat.receive_message, "attention"),
            ]
            await asyncio.to_thread(
                seat.request_reply, build_actions_message(build_log_entry(2, 200, "note two")), "acknowledged"
            )
            while not (next_view := await receive_message("seen_more"))["acts"]:
                # A message without actions only reports the position of the seat, as after the host's
                # verdict.
                pass
            messages.append(next_view)
            await asyncio.to_thread(seat.send_message, build_clock_message(consent=False))
            messages.append(await receive_message("unseen"))
            return [*messages, await asyncio.to_thread(seat.receive_message, "attention")]

    with RawClient(host.invited) as first, RawClient(host.invited) as second_seat:
        number = first.request_reply(join(host.invited, "Hal", "2" * 31 + "a"), "welcome")["seat"]
        second_number = second_seat.request_reply(join(host.invited, "Ida", "2" * 31 + "b"), "welcome")[
            "seat"
        ]
        first.request_reply(build_actions_message(build_log_entry(1, 100, "note one")), "acknowledged")
        assert "does not allow watching" in request_host_reply(folder, f"look {number}")["text"]
        assert "seat 999 does not exist" in request_host_reply(folder, "take 999")["text"]
        second_seat.send_message(build_clock_message(hand="Which server?"))
        second_seat.request_reply(build_actions_message(build_log_entry(1, 0)), "acknowledged")
        first.send_message(build_clock_message(hand="", consent=True))
        first.request_reply(build_actions_message(build_log_entry(1, 100, "note one")), "acknowledged")
        tiles = read_board(folder)
        assert [(tiles[name]["hand"], tiles[name]["hand_place"]) for name in ("Ida", "Hal")] == [
            ("Which server?", 1),
            ("", 2),
        ]
        first_view, first_attention, more_view, unseen, second_attention = asyncio.run(
            observe_seat(number, first)
        )
        assert [entry[2] for entry in first_view["acts"]] == ["note one"]
        assert [entry[2] for entry in more_view["acts"]] == ["note two"]
        assert "does not allow watching" in unseen["text"]
        assert (first_attention["looked_at"], second_attention["looked_at"]) == (True, False)
        send_instructor_lines(folder, f"take {second_number}", f"lower {second_number}")
        assert second_seat.receive_message("attention")["held"]
        assert second_seat.receive_message("lowered")
        second_seat.send_message(build_clock_message(held=True))
        second_seat.request_reply(build_actions_message(build_log_entry(1, 0)), "acknowledged")
        assert (read_board(folder)["Ida"]["held"], read_board(folder)["Hal"]["hand_place"]) == (True, None)


def test_seats_follow_the_replay_position_of_the_instructor(tmp_path: Path) -> None:
    with run_host(tmp_path / "class.sqlite", SCENARIO) as host:
        with RawClient(host.invited) as ann, RawClient(host.invited) as bob:
            for seat, name, line in ((ann, "Ann", "power-off SERVER_A"), (bob, "Bob", "power-off SERVER_B")):
                welcome = seat.request_reply(
                    {**join(host.invited, name, name * 8), "consent": True}, "welcome"
                )
                assert seat.receive_message("shown")["name"] is None
                seat.request_reply(
                    build_actions_message(build_log_entry(1, 200 * welcome["seat"], line)), "acknowledged"
                )
            send_instructor_lines(tmp_path, "show 1 and 2 at 3.5", "show 1 and 2 at 4")
            for seat in (ann, bob):
                shown_message = seat.receive_message("shown")
                assert (shown_message["seat"], shown_message["other"]["seat"], shown_message["tick"]) == (
                    1,
                    2,
                    350,
                )
                assert [[entry[2] for entry in run["acts"]] for run in (shown_message, shown_message["other"])] == [
                    ["power-off SERVER_A"], ["power-off SERVER_B"],
                ]  # fmt: skip
                assert seat.receive_message()["tick"] == 400
            with RawClient(host.invited) as late_seat:
                late_seat.request_reply(join(host.invited, "Cyd", "c" * 32), "welcome")
                assert (shown_message := late_seat.receive_message("shown"))["tick"] == 400, (
                    "a latecomer is led as well"
                )
                assert shown_message["other"]["name"] == "Bob"
            send_instructor_lines(
                tmp_path, "show none", "mark 2 why this server?", "mark all at 1:00 end of the part"
            )
            assert ann.receive_message("shown")["name"] is None
            (reply,) = [
                divergence_reply
                for divergence_reply in send_instructor_lines(tmp_path, "partings")
                if divergence_reply["kind"] == "partings"
            ]
            assert [moment["t_s"] for moment in reply["moments"]] == [2.0]
            assert sorted(choice["seats"] for choice in reply["moments"][0]["choices"]) == [[1], [2], [3]]
        host.kill()
        host.start()
        marks = send_instructor_lines(tmp_path, "go")[0]["marks"]
        assert [(mark["seat"], mark["t_s"], mark["text"]) for mark in marks] == [
            (2, 4.0, "why this server?"), (None, 60.0, "end of the part"),
        ]  # fmt: skip
        with RawClient(host.invited) as ann:
            ann.request_reply(join(host.invited, "Ann", "Ann" * 8), "welcome")
            assert ann.receive_message("shown")["name"] is None, "marks are no instructions"


def test_freeze_is_acknowledged_and_the_board_names_seats_that_are_not_frozen(
    host: HostProcess, folder: Path
) -> None:
    with RawClient(host.invited) as quick, RawClient(host.invited) as slow:
        quick.request_reply(join(host.invited, "Quick", "q" * 32), "welcome")
        slow.request_reply(join(host.invited, "Slow", "s" * 32), "welcome")
        assert [seat.receive_message("state")["state"] for seat in (quick, slow)] == ["running", "running"]
        assert request_host_reply(folder, "freeze") == {"kind": "done", "of": "freeze"}
        assert quick.receive_message("state")["state"] == "frozen"
        assert slow.receive_message("state")["state"] == "frozen"
        quick.send_message({"kind": "at", "tick": 0, "frozen": True})
        quick.request_reply(build_actions_message(build_log_entry(1, 0)), "acknowledged")
        steered = send_instructor_lines(folder, "go")
        assert "Slow" in steered[0]["not_frozen"]
        assert "Quick" not in steered[0]["not_frozen"]
        assert quick.receive_message("state")["state"] == "running"


def test_groups_limits_breaks_and_the_class_clock_work_together(host: HostProcess, folder: Path) -> None:
    with RawClient(host.invited) as first_seat, RawClient(host.invited) as second_seat:
        number = first_seat.request_reply(join(host.invited, "Kim", "k" * 32), "welcome")["seat"]
        second_seat.request_reply(join(host.invited, "Lea", "l" * 32), "welcome")
        assert [seat.receive_message("state")["until"] for seat in (first_seat, second_seat)] == [None, None]
        replies = send_instructor_lines(
            folder, f"group {number} Blue", "freeze @Blue", "freeze @Red", "extend all 60"
        )
        # boards may arrive in between
        refused = [reply["text"] for reply in replies if reply["kind"] == "refused"]
        assert ["group Red does not exist" in refused[0], "no time limit to extend" in refused[1]] == [
            True,
            True,
        ]
        states = [first_seat.receive_message("state")["state"] for _ in range(2)]
        assert states == ["running", "frozen"]
        send_instructor_lines(
            folder, "message @Blue hello", "go @Blue", f"freeze {number} at 2:00", f"extend {number} 30"
        )
        assert first_seat.receive_message("instruction")["text"] == "hello"
        assert first_seat.receive_message("state")["state"] == "running"
        assert [first_seat.receive_message("state")["until"] for _ in range(2)] == [12_000, 15_000]
        first_seat.send_message({"kind": "at", "tick": 15_000, "frozen": False})
        first_seat.request_reply(build_actions_message(build_log_entry(1, 15_000)), "acknowledged")
        tiles = read_board(folder)
        assert (tiles["Kim"]["stopped"], tiles["Kim"]["until_s"], tiles["Kim"]["group"]) == (
            True,
            150.0,
            "Blue",
        )
        assert not tiles["Lea"]["stopped"]
        send_instructor_lines(folder, "clock 2", "break 0.01")
        assert first_seat.receive_message("state")["clock"]["tick"] >= 15_000
        assert first_seat.receive_message("state")["break_s"] > 0.0
        state_again = first_seat.receive_message("state")
        assert (state_again["state"], state_again["break_s"]) == ("running", None), (
            "it goes on by itself after the break"
        )
        send_instructor_lines(folder, "clock own", "go all")
        assert not read_board(folder)["Kim"]["stopped"], "who may go on has no limit any more"


def test_a_seat_is_rewound_without_losing_its_log(host: HostProcess, folder: Path) -> None:
    with RawClient(host.invited) as seat:
        number = seat.request_reply(join(host.invited, "Mia", "m" * 32), "welcome")["seat"]
        seat.send_message({"kind": "at", "tick": 300, "frozen": False})
        entries = [build_log_entry(1, 100, "note one"), build_log_entry(2, 200, "note two")]
        seat.request_reply(build_actions_message(*entries), "acknowledged")
        steered = send_instructor_lines(
            folder, f"back {number} 1.5 try again", f"back {number} 99 too far", f"take {number}"
        )
        (refused,) = [reply["text"] for reply in steered if reply["kind"] == "refused"]
        assert "these seats have not reached the target time yet" in refused
        back_instruction = seat.receive_message("instruction")
        assert (back_instruction["what"], back_instruction["tick"], back_instruction["text"]) == (
            "back",
            150,
            "try again",
        )
        entries += [
            build_log_entry(3, 150, "sent-back", "", back_instruction["number"]),
            build_log_entry(4, 160, "note three"),
        ]
        seat.request_reply(build_actions_message(*entries), "acknowledged")
    record = ClassRecord(str(folder / "class.sqlite"), create=False)
    assert [list(act_row) for act_row in record.read_entries(number)] == entries
    (seat_record,) = [seat_row for seat_row in record.read_seats() if seat_row.id == number]
    assert (seat_record.tick, seat_record.taken) == (160, True), (
        "a host that is killed knows whom the instructor has"
    )
    record.close()
    with RawClient(host.invited) as seat:
        assert (
            seat.request_reply({"kind": "resume", "seat": number, "token": "m" * 32}, "welcome")["tick"]
            == 160
        )
        assert seat.receive_message("attention")["held"]
        forged = build_actions_message(build_log_entry(5, 10, "sent-back", "", 1))
        assert "input 5 " in seat.read_refusal(forged)


def test_a_seat_plays_the_solution_and_the_host_computes_its_score(host: HostProcess, folder: Path) -> None:
    report = folder / "report.json"
    process = run_program(
        "class", "join", host.code, "--name", "Rae", "--player", "reference", "--json", report
    )
    assert process.returncode == 0, process.stderr
    document = json.loads(report.read_text())
    tile = read_board(folder)["Rae"]
    assert document["score"]["total"] == tile["verdict"]["score"] == 100.0
    assert tile["verdict"]["state_hash"] == document["state_hash"]
    assert tile["verdict"]["parted_t_s"] is None
    assert tile["over"]
    assert run_program("class", "verify", report).returncode == 0


@pytest.mark.slow  # tests/app/classroom/test_door.py tests how often a code is checked
def test_thousands_of_wrong_codes_do_not_disturb_the_class(host: HostProcess) -> None:
    wrong_join = {"kind": "join", "secret": "000000", "name": "Eve", "token": "x" * 32}
    reasons: Counter[str] = Counter()
    slowest_s = 0.0
    with RawClient(host.invited) as seat:
        welcome = seat.request_reply(join(host.invited, "Fay", "f" * 32), "welcome")
        number, number_of = welcome["acknowledged"], welcome["seat"]
        for attempt in range(WRONG_CODE_ATTEMPTS):
            with RawClient(host.invited) as stranger:
                reasons[stranger.read_refusal(wrong_join)] += 1
            if attempt % 100 == 0:
                number += 1
                start_s = time.monotonic()
                assert (
                    seat.request_reply(
                        build_actions_message(build_log_entry(number, number)), "acknowledged"
                    )["number"]
                    == number
                )
                slowest_s = max(slowest_s, time.monotonic() - start_s)
    looked_at = reasons.pop("wrong class code")
    assert set(reasons) == {"too many attempts from your address. Wait a moment."}
    print(f"{looked_at} codes looked at, the seat waited {slowest_s:.3f} s at most")
    assert slowest_s < 5.0
    with RawClient(host.invited) as resumed_seat:
        assert resumed_seat.request_reply(
            {"kind": "resume", "seat": number_of, "token": "f" * 32}, "welcome"
        ), "who has a seat"
    time.sleep(1.0)  # The host checks two codes per second.
    with RawClient(host.invited) as late_seat:
        assert late_seat.request_reply(join(host.invited, "Gus", "h" * 32), "welcome")["seat"]


def test_a_truncated_log_is_not_continued(host: HostProcess, profile_folder: Path, tmp_path: Path) -> None:
    """A participant cannot undo a failed part of an exam by deleting it from the log."""
    inputs = tmp_path / "inputs.txt"
    inputs.write_text("5 note one\n6 note two\n470 finish\n")
    arguments = ("class", "join", host.code, "--name", "Cut", "--inputs", inputs)
    assert run_program(*arguments).returncode == 0
    (file,) = profile_folder.glob("classes/*/Cut.seat")
    lines = file.read_bytes().splitlines(keepends=True)
    assert any(b"note two" in line for line in lines)
    file.write_bytes(b"".join(lines[:2]))
    second_process = run_program(*arguments)
    assert second_process.returncode == 1
    assert "the host has received more inputs from this seat" in second_process.stderr


def test_a_seat_rejects_another_host(host: HostProcess, tmp_path: Path) -> None:
    """A host that intercepts the connection has another certificate, even if it knows the code of the seat."""
    mistyped_code = host.code[:7] + ("0" if host.code[7] != "0" else "1") + host.code[8:]
    process = run_program("class", "join", mistyped_code, "--player", "reference")
    assert process.returncode == 2
    assert "does not match the class" in process.stderr


@pytest.mark.slow
def test_random_kills_lose_nothing(tmp_path: Path) -> None:
    seed = int.from_bytes(os.urandom(4))
    class_kills.run_kills(tmp_path, kills=1, seats=2, seed=seed)


def test_room_check_leaves_no_record(host: HostProcess, folder: Path) -> None:
    seats = read_board(folder)
    findings = check_class(host.invited)
    assert [(finding.is_good, finding.text.partition(" in ")[0]) for finding in findings[:2]] == [
        (
            False,
            f"{host.invited.addresses[0]} is the loopback address: only seats on this computer can join.",
        ),
        (True, "A test seat joined, received the drill and left"),
    ]
    assert str(host.invited.port) in findings[-1].text
    assert findings[-1].is_good is None, "no computer can check its own firewall"
    assert read_board(folder).keys() == seats.keys()
    wrong_invitation = replace(host.invited, secret="000000")
    assert any(
        finding.text.startswith("The test seat was refused: ") for finding in check_class(wrong_invitation)
    )
    silent = Invitation(host.invited.secret, host.invited.fingerprint, "localhost", 1)
    assert [finding.is_good for finding in check_class(silent)[:2]] == [False, False]


def test_a_late_seat_begins_at_the_median_time_of_the_class(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f'scenario = "{SCENARIO}"\nmode = "practice"\nlate = "class"\n'
        '[[inject]]\nat = "8s"\ndo = "power-off SERVER_W"\n[[message]]\nat = "1min"\ntext = "later"\n'
    )
    with run_host(tmp_path / "class.sqlite", "--plan", plan) as host:
        for name, tick in (("Ann", 900), ("Bob", 700), ("Cem", 5000)):
            with RawClient(host.invited) as seat:
                seat.request_reply(join(host.invited, name, name.ljust(32, "a")), "welcome")
                assert (
                    seat.request_reply(build_actions_message(build_log_entry(1, tick)), "acknowledged")[
                        "number"
                    ]
                    == 1
                )
        with RawClient(host.invited) as seat:
            welcome = seat.request_reply(join(host.invited, "Dan", "d" * 32), "welcome")
            assert welcome["tick"] == 900
            assert [(event["tick"], event["text"]) for event in welcome["events"]] == [
                (800, "power-off SERVER_W")
            ]
            # a seat of an older version begins at 0:00
            seat.request_reply(build_actions_message(build_log_entry(1, 850)), "acknowledged")


def test_second_person_with_the_same_name_gets_a_number(host: HostProcess, folder: Path) -> None:
    seats = []
    for number in (1, 2, 3, 1):
        with RawClient(host.invited) as seat:
            seats.append(
                seat.request_reply(join(host.invited, "Zoe", f"zoe-{number}-".ljust(32, "z")), "welcome")
            )
    assert [seat["name"] for seat in seats] == ["Zoe", "Zoe 2", "Zoe 3", "Zoe"]
    assert {"Zoe", "Zoe 2", "Zoe 3"} <= set(read_board(folder))


def test_host_shows_the_version_and_recording_state_of_a_seat(host: HostProcess, folder: Path) -> None:
    """A seat of an earlier version reports neither value, and can still join."""
    with RawClient(host.invited) as old, RawClient(host.invited) as new:
        assert (
            old.request_reply(join(host.invited, "Old", "old".ljust(32, "-")), "welcome")["version"]
            == get_program_version()
        )
        new.request_reply(join(host.invited, "New", "new".ljust(32, "-")), "welcome")
        new.send_message({"kind": "ready", "version": "9.9", "recording": True})
        assert new.request_reply(build_actions_message(build_log_entry(1, 10)), "acknowledged")["number"] == 1
        tiles = read_board(folder)
        assert (tiles["Old"]["version"], tiles["Old"]["recording"]) == ("", False)
        assert (tiles["New"]["version"], tiles["New"]["recording"]) == ("9.9", True)


def test_killed_seat_finds_its_hand_raised(host: HostProcess) -> None:
    with RawClient(host.invited) as seat:
        assert seat.request_reply(join(host.invited, "Jan", "j" * 32), "welcome")["hand"] is None
        seat.send_message({"kind": "at", "tick": 0, "frozen": False, "hand": "Which server?"})
        seat.request_reply(build_actions_message(build_log_entry(1, 0)), "acknowledged")
    with RawClient(host.invited) as resumed_seat:
        assert (
            resumed_seat.request_reply(join(host.invited, "Jan", "j" * 32), "welcome")["hand"]
            == "Which server?"
        )
