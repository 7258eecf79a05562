"""Tests of attacks on a class host over real sockets: no message of one seat stops or changes another seat."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from app.classroom import certificate
from app.classroom.log_entries import LINE_LENGTH_MAX, TICK_MAX
from app.classroom.messages.codec import HOST_MESSAGE_BYTES_MAX
from app.classroom.record import ClassRecord
from tests.class_process import HostProcess, RawClient, join, run_host
from tests.forked import run_program

REPLY_S_MAX = 8.0
"""Maximum wall time in which the host answers a normal seat on a loaded machine."""
LINES_SENT_PER_SEAT = 90
"""Number of messages of 64 KiB to each seat. The buffers of a connection hold about 80 of them."""
ANN, EVE = "a" * 32, "e" * 32


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostProcess]:
    folder = tmp_path_factory.mktemp("class")
    with run_host(folder / "class.sqlite", "planned-failover", "--mode", "practice") as host:
        yield host


def build_actions_message(*entries: object) -> dict[str, Any]:
    return {"kind": "acts", "acts": entries}


def build_entry(
    number: object = 1, tick: object = 100, line: object = "", digest: object = "", instruction: object = 0
) -> object:
    return [number, tick, line, digest, instruction]


def build_status(**fields: object) -> dict[str, Any]:
    return {"kind": "at", "tick": 0, "frozen": False, **fields}


def read_log(host: HostProcess, name: str) -> list[tuple[int, int, str]]:
    record = ClassRecord(str(host.database), create=False)
    (seat,) = [seat_row.id for seat_row in record.read_seats() if seat_row.name == name]
    acts_kept = [act[:3] for act in record.read_entries(seat)]
    record.close()
    return acts_kept


def send_ignoring_end(seat: RawClient, *messages: object) -> None:
    with suppress(ConnectionClosed):
        for message in messages:
            seat.send_message(message)


MALFORMED_MESSAGES: dict[str, object] = {
    "nothing": "",
    "no object": "7",
    "a list": "[]",
    "deep lists": '{"kind":"at","tick":' + "[" * 100_000,
    "deep objects": '{"a":' * 50_000,
    "a large number": '{"kind":"at","tick":1' + "0" * 5_000 + "}",
    "no number": '{"kind":"at","tick":NaN,"frozen":false}',
    "infinity": '{"kind":"at","tick":1e999,"frozen":false}',
    "a kind that is a list": {"kind": ["at"]},
    "a kind that is an object": {"kind": {}},
    "a field too many": build_status(admin=True),
    "a negative tick": build_status(tick=-1),
    "a tick beyond the end": build_status(tick=TICK_MAX + 1),
    "a question that is too long": build_status(hand="x" * 201),
    "half a character": '{"kind":"at","tick":0,"frozen":false,"hand":"\\ud800"}',
    "bytes that are no text": b'{"kind":"at","tick":0,"frozen":false,"hand":"\xff"}',
    "a frame at the limit": "x" * (HOST_MESSAGE_BYTES_MAX - 1),
    "a frame beyond the limit": "x" * (HOST_MESSAGE_BYTES_MAX + 1),
    "acts that are no list": {"kind": "acts", "acts": {"0": 1}},
    "501 acts": build_actions_message(*[build_entry(number) for number in range(1, 502)]),
    "an act with a truth value": build_actions_message(build_entry(True)),
    "an act with a fraction": build_actions_message(build_entry(1, 1.5)),
    "an act of a large number": build_actions_message(build_entry(2**70)),
    "an act at a large tick": build_actions_message(build_entry(1, 2**70)),
    "an act before the start": build_actions_message(build_entry(1, -1)),
    "an act without a line": build_actions_message(build_entry(1, 1, None)),
    "an act with NUL": build_actions_message(build_entry(1, 1, "note a\0b")),
    "an act that is too long": build_actions_message(build_entry(1, 1, "x" * (LINE_LENGTH_MAX + 1))),
    "an act with a false hash": build_actions_message(build_entry(1, 1, "", "Z" * 32)),
    "an answer to nothing": build_actions_message(build_entry(1, 1, "", "", 999)),
    "an answer below zero": build_actions_message(build_entry(1, 1, "", "", -1)),
    "a gap": build_actions_message(build_entry(3)),
    "a number twice": build_actions_message(build_entry(1, 10), build_entry(1, 10)),
    "numbers in reverse": build_actions_message(build_entry(2, 10), build_entry(1, 10)),
    "a version with control characters": {"kind": "ready", "version": "1\x1b[2J", "recording": True},
    "a step back in time": build_actions_message(build_entry(1, 500), build_entry(2, 400)),
    "a request of the instructor": {"kind": "finish"},
    "a mark": {"kind": "mark", "text": "me"},
    "a shared replay": {"kind": "show", "seat": 1},
    "a second sign-in": {"kind": "resume", "seat": 1, "token": EVE},
    "a reflection without end": {
        "kind": "reflect", "happened": "x" * 4_001, "otherwise": "", "expected_score": None,
    },
    "a list instead of an object": '["at", 0, false]',
    "a kind twice": '{"kind":"at","kind":"finish","tick":0,"frozen":false}',
    "a tick as text": build_status(tick="5"),
    "a truth value as a number": build_status(frozen=1),
    "a question in a list": build_status(hand=["x"]),
    "no control": build_status(held=None),
    "acts in a list": build_actions_message([build_entry()]),
    "an act as an object": build_actions_message({"number": 1, "tick": 1, "line": ""}),
    "an act with six fields": build_actions_message([1, 1, "", "", 0, 0]),
    "a line in a list": build_actions_message(build_entry(1, 1, ["note"])),
    "a line that is an object": build_actions_message(build_entry(1, 1, {"note": 1})),
    "a reflection of a number": {"kind": "reflect", "happened": 1, "otherwise": "", "expected_score": None},
    "a long version": {"kind": "ready", "version": "x" * 41, "recording": True},
    "a version as a number": {"kind": "ready", "version": 1.1, "recording": True},
    "a join after the join": {"kind": "join", "secret": "", "name": "Eve", "token": EVE},
    "a test seat": {"kind": "probe", "secret": ""},
    "control of another seat": {"kind": "take", "seat": 1},
    "a log of another seat": {"kind": "hand_in", "seat": 1, "token": ANN, "acts": []},
    "a byte order mark": b'\xef\xbb\xbf{"kind":"at","tick":0,"frozen":false}',
    "UTF-16": '{"kind":"at","tick":0,"frozen":false}'.encode("utf-16"),
    "two messages in one": '{"kind":"at","tick":0,"frozen":false} {"kind":"finish"}',
    "a comment": '{"kind":"at",/**/"tick":0,"frozen":false}',
    "20,000 fields": '{"kind":"at","tick":0,"frozen":false' + "".join(f',"f{n}":0' for n in range(20_000)) + "}",
    "an expected score of nothing": '{"kind":"reflect","happened":"","otherwise":"","expected_score":NaN}',
}  # fmt: skip


@pytest.mark.parametrize("name", MALFORMED_MESSAGES)
def test_malformed_message_ends_its_connection_alone(host: HostProcess, name: str) -> None:
    with RawClient(host.invited) as ann, RawClient(host.invited) as eve:
        acknowledged = ann.request_reply(join(host.invited, "Ann", ANN), "welcome")["acknowledged"]
        eve.request_reply(join(host.invited, "Eve", EVE), "welcome")
        before = read_log(host, "Eve")
        start_s = time.monotonic()
        send_ignoring_end(eve, MALFORMED_MESSAGES[name])
        assert (
            ann.request_reply(
                build_actions_message(build_entry(acknowledged + 1, 10 * acknowledged)), "acknowledged"
            )["number"]
            == acknowledged + 1
        )
        assert time.monotonic() - start_s < REPLY_S_MAX
        assert eve.read_refusal(build_actions_message()) is not None
        assert read_log(host, "Eve") == before


HOSTILE_LINES = [
    " ", "\t", "\u2003", "\n", "@", "@@ @", "sent-back", "rewind 1", "finish finish", "sql", "sql SERVER_A",
    "connect BANK1 " + "[" * 30_000, "batch " + "{" * 30_000, "add-node SQLFCI1 SQLFCI1", "answer", "answer x -1",
    "sql SERVER_A " + "(" * 30_000, "sql SERVER_A WHILE 1=1 PRINT 1", "x" * LINE_LENGTH_MAX, "‮power-off SERVER_A",
    "degrade SERVER_A SERVER_B latency_ms=nan", "note " + "\ufeff" * 1_000,
]  # fmt: skip


def test_hostile_lines_of_one_seat_do_not_prevent_verdicts_for_any_seat(
    host: HostProcess, tmp_path: Path
) -> None:
    with RawClient(host.invited) as bob, RawClient(host.invited) as mal:
        bob.request_reply(join(host.invited, "Bob", "b" * 32), "welcome")
        mal.request_reply(join(host.invited, "Mal", "m" * 32), "welcome")
        for number, line in enumerate(HOSTILE_LINES, 1):
            assert (
                mal.request_reply(
                    build_actions_message(build_entry(number, 10 * number, line)), "acknowledged"
                )["number"]
                == number
            )
        bob.request_reply(
            build_actions_message(build_entry(1, 100, "power-off SERVER_A"), build_entry(2, 900)),
            "acknowledged",
        )
        mal.send_message(build_status(tick=300, over=True))
        assert mal.receive_message("result")["verdict"]["parted_t_s"] is not None
        bob.send_message(build_status(tick=900, over=True))
        verdict = bob.receive_message("result")["verdict"]
        assert (verdict["done"], verdict["last_act"]) == (1, "power-off SERVER_A")
    file = tmp_path / "class.zip"
    process = run_program("class", "export", "--database", host.database, "--out", file)
    assert process.returncode == 0, process.stderr
    verified = run_program("class", "verify", file)
    assert "Traceback" not in verified.stderr
    assert any("Bob" in line and "matches its inputs" in line for line in verified.stdout.splitlines())


def test_replayed_messages_count_once_and_only_for_their_own_seat(host: HostProcess) -> None:
    message = build_actions_message(build_entry(1, 100, "note mine"))
    with RawClient(host.invited) as cyd, RawClient(host.invited) as eve:
        cyd.request_reply(join(host.invited, "Cyd", "c" * 32), "welcome")
        cyd.request_reply(message, "acknowledged")
        for _ in range(20):
            assert cyd.request_reply(message, "acknowledged")["number"] == 1
        eve.request_reply(join(host.invited, "Dee", "d" * 32), "welcome")
        eve.request_reply(message, "acknowledged")  # the recorded message is now sent by Dee instead of Cyd
        assert "differs from the input that the host acknowledged" in eve.read_refusal(
            build_actions_message(build_entry(1, 100, "note other"))
        )
    assert read_log(host, "Cyd") == read_log(host, "Dee") == [(1, 100, "note mine")]


def test_nobody_gets_the_seat_of_another(host: HostProcess) -> None:
    with RawClient(host.invited) as fay:
        number = fay.request_reply(join(host.invited, "Fay", "f" * 32), "welcome")["seat"]
        fay.request_reply(build_actions_message(build_entry(1, 100, "note mine")), "acknowledged")
        claims: list[Callable[[], object]] = [
            lambda: {"kind": "resume", "seat": number, "token": EVE},
            lambda: {"kind": "resume", "seat": number, "token": "f" * 31},
            lambda: {"kind": "resume", "seat": 2**70, "token": EVE},
            lambda: {"kind": "resume", "seat": -number, "token": EVE},
            lambda: {"kind": "resume", "seat": str(number), "token": "f" * 32},
        ]
        for claim in claims:
            with RawClient(host.invited) as eve:
                assert eve.read_refusal(claim())
        with RawClient(host.invited) as second_seat:
            welcome = second_seat.request_reply(join(host.invited, "Fay", "g" * 32), "welcome")
            assert (welcome["name"], welcome["acknowledged"]) == ("Fay 2", 0)
        assert fay.request_reply(build_actions_message(build_entry(2, 200)), "acknowledged")["number"] == 2, (
            "Fay is still connected"
        )


def test_flood_of_one_seat_and_silent_readers_delay_no_other(host: HostProcess) -> None:
    readers = [RawClient(host.invited) for _ in range(20)]
    with RawClient(host.invited) as gus, RawClient(host.invited) as eve:
        gus.request_reply(join(host.invited, "Gus", "h" * 32), "welcome")
        eve.request_reply(join(host.invited, "Ivy", "i" * 32), "welcome")
        for number, reader in enumerate(readers):  # these clients stop reading
            reader.send_message(join(host.invited, f"Mute {number}", f"mute-{number}-".ljust(32, "m")))
        slowest_s = 0.0
        for number in range(1, 11):
            for turn in range(100):
                eve.send_message(build_status(tick=turn, hand="?" if turn % 2 else None))
            start_s = time.monotonic()
            assert (
                gus.request_reply(build_actions_message(build_entry(number, number)), "acknowledged")[
                    "number"
                ]
                == number
            )
            slowest_s = max(slowest_s, time.monotonic() - start_s)
        assert slowest_s < REPLY_S_MAX
    for reader in readers:
        reader.__exit__()


UNREADABLE_NAMES = {
    "empty": "",
    "blank": " \u3000 ",
    "too long": "x" * 61,
    "a megabyte": "x" * 1_000_000,
    "NUL": "Ann\0",
    "a line break": "Ann\nBob",
    "an escape sequence": "\x1b[31mAnn",
    "right to left": "\u202ennA",
    "isolated": "\u2066Ann\u2069",
    "zero width": "A\u200bnn",
    "invisible": "\u3164",
    "half a character": "\ud800",
}


@pytest.mark.parametrize("name", UNREADABLE_NAMES)
def test_name_that_people_cannot_read_is_refused(host: HostProcess, name: str) -> None:
    with RawClient(host.invited) as ned, RawClient(host.invited) as eve:
        acknowledged = ned.request_reply(join(host.invited, "Ned", "n" * 32), "welcome")["acknowledged"]
        assert eve.read_refusal(join(host.invited, UNREADABLE_NAMES[name], "0" * 32)) is not None
        assert (
            ned.request_reply(
                build_actions_message(build_entry(acknowledged + 1, acknowledged)), "acknowledged"
            )["number"]
            == acknowledged + 1
        )
    record = ClassRecord(str(host.database), create=False)
    assert UNREADABLE_NAMES[name] not in [seat.name for seat in record.read_seats()]
    record.close()


def test_question_with_control_characters_is_shown_as_readable_text(host: HostProcess) -> None:
    with RawClient(host.invited) as oda, RawClient(host.invited) as instructor:
        number = oda.request_reply(join(host.invited, "Oda", "o" * 32), "welcome")["seat"]
        oda.send_message({"kind": "ready", "version": "9.9", "recording": True})
        oda.send_message(build_status(hand="why\u202e?\r\n\x1b[2J"))
        instructor.send_message({"kind": "steer", "key": read_class_key(host)})
        hand = None
        while not hand:
            tiles = instructor.receive_message("board")["tiles"]
            hand = next((tile["hand"] for tile in tiles if tile["seat"] == number), None)
        assert hand == "why ?   [2J"
    record = ClassRecord(str(host.database), create=False)
    assert [seat.version for seat in record.read_seats() if seat.name == "Oda"] == ["9.9"]
    record.close()


def read_class_key(host: HostProcess) -> str:
    record = ClassRecord(str(host.database), create=False)
    the_class = record.read_class()
    record.close()
    assert the_class is not None
    return the_class.secret


def test_seats_that_never_read_delay_neither_instructor_nor_other_seats(host: HostProcess) -> None:
    """The host sends more than the buffers of a connection hold; a freeze must still arrive at once."""
    readers = [RawClient(host.invited) for _ in range(5)]
    with RawClient(host.invited) as tom, RawClient(host.invited) as instructor:
        tom.request_reply(join(host.invited, "Tom", "t" * 32), "welcome")
        instructor.send_message({"kind": "steer", "key": read_class_key(host)})
        for number, reader in enumerate(readers):
            reader.send_message(join(host.invited, f"Deaf {number}", f"deaf-{number}-".ljust(32, "d")))
        slowest_s = 0.0
        for turn in range(LINES_SENT_PER_SEAT):
            start_s = time.monotonic()
            instructor.request_reply(
                {"kind": "instruct", "what": "message", "text": "x" * LINE_LENGTH_MAX}, "done"
            )
            assert len(tom.receive_message("instruction")["text"]) == LINE_LENGTH_MAX
            instructor.request_reply({"kind": ("freeze", "go")[turn % 2]}, "done")
            tom.receive_message("state")
            slowest_s = max(slowest_s, time.monotonic() - start_s)
        assert slowest_s < REPLY_S_MAX / 2
    for reader in readers:
        reader.__exit__()


def test_welcome_is_the_first_message_while_the_class_state_changes(host: HostProcess) -> None:
    with RawClient(host.invited) as instructor:
        instructor.send_message({"kind": "steer", "key": read_class_key(host)})
        for number in range(20):
            for turn in range(20):
                instructor.send_message({"kind": ("freeze", "go")[turn % 2]})
            with RawClient(host.invited) as seat:
                token = f"val-{number}-".ljust(32, "v")
                assert seat.request_reply(join(host.invited, f"Val {number}", token))["kind"] == "welcome"


def test_half_open_and_raw_connections_delay_no_seat(host: HostProcess) -> None:
    address = (host.invited.host, host.invited.port)
    raw = [socket.create_connection(address) for _ in range(500)]
    for number, sock in enumerate(raw[:60]):
        sock.sendall((b"", b"\x16\x03\x01\x02\x00", b"GET / HTTP/1.1\r\n", b"\x00" * 2_000)[number % 4])
    secure = [certificate.create_seat_context().wrap_socket(raw_socket) for raw_socket in raw[60:70]]
    for number, wrapped in enumerate(secure):
        wrapped.sendall(
            (b"GET / HTTP/1.1\r\n", b"POST /x HTTP/1.1\r\nContent-Length: 9\r\n\r\n", b"\x00\xff")[number % 3]
        )
    start_s = time.monotonic()
    with RawClient(host.invited) as hal:
        acknowledged = hal.request_reply(join(host.invited, "Hal", "j" * 32), "welcome")["acknowledged"]
        assert (
            hal.request_reply(build_actions_message(build_entry(acknowledged + 1, 10)), "acknowledged")[
                "number"
            ]
            == acknowledged + 1
        )
    assert time.monotonic() - start_s < REPLY_S_MAX
    for sock in (*secure, *raw):
        sock.close()


def test_the_size_of_fragmented_messages_is_limited(host: HostProcess) -> None:
    text = json.dumps(build_status(hand="x" * 150))
    with RawClient(host.invited) as kay, RawClient(host.invited) as eve:
        kay.request_reply(join(host.invited, "Kay", "k" * 32), "welcome")
        eve.request_reply(join(host.invited, "Lea", "l" * 32), "welcome")
        eve.send_fragments([text[:10], text[10:]])
        eve.request_reply(build_actions_message(build_entry(1, 10)), "acknowledged")
        with suppress(ConnectionClosed):
            eve.send_fragments(["x" * 1_000] * (HOST_MESSAGE_BYTES_MAX // 1_000 + 2))
        assert kay.request_reply(build_actions_message(build_entry(1, 10)), "acknowledged")["number"] == 1


@pytest.mark.parametrize(
    "frame",
    [
        b"\x81\x05hello",  # a frame without a mask
        b"\x83\x80\0\0\0\0",  # an opcode that does not exist
        b"\xf1\x80\0\0\0\0",  # a frame with reserved bits
        b"\x89\xfe\x01\x00\0\0\0\0" + b"x" * 256,  # a ping that is too long
        b"\x09\x80\0\0\0\0",  # a ping in pieces
        b"\x80\x80\0\0\0\0",  # a continuation frame without a first frame
        b"\x81\xff\x7f\xff\xff\xff\xff\xff\xff\xff\0\0\0\0",  # an announced length of 2^63 bytes
        b"\x81\xff\xff\xff\xff\xff\xff\xff\xff\xff\0\0\0\0",  # a negative length
        b"\x88\x81\0\0\0\0\x00",  # a close code of one byte
        b"\x8a\x80\0\0\0\0" * 1_000,  # pongs without a ping
        b"\x81\x85\0\0\0\0he",  # half a frame
    ],
)
def test_malformed_frames_disturb_no_seat(host: HostProcess, frame: bytes) -> None:
    with RawClient(host.invited) as mia:
        acknowledged = mia.request_reply(join(host.invited, "Mia", "q" * 32), "welcome")["acknowledged"]
        with (
            socket.create_connection((host.invited.host, host.invited.port)) as plain_socket,
            certificate.create_seat_context().wrap_socket(plain_socket) as wrapped,
        ):
            wrapped.sendall(
                b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
            )
            assert wrapped.recv(200).startswith(b"HTTP/1.1 101")
            wrapped.sendall(frame)
            start_s = time.monotonic()
            assert (
                mia.request_reply(
                    build_actions_message(build_entry(acknowledged + 1, acknowledged)), "acknowledged"
                )["number"]
                == acknowledged + 1
            )
            assert time.monotonic() - start_s < REPLY_S_MAX


def test_a_token_that_joins_many_times_at_once_is_one_seat(host: HostProcess) -> None:
    """The last connection is the seat. The host closes the earlier ones, and counts their inputs once."""
    with RawClient(host.invited) as pam:
        pam.request_reply(join(host.invited, "Pam", "P" * 32), "welcome")
        twins = [RawClient(host.invited) for _ in range(10)]
        for twin in twins:
            twin.send_message(join(host.invited, "Zoe", "z" * 32))
        numbers = set()
        for twin in twins:
            with suppress(ConnectionClosed):
                numbers.add(twin.receive_message("welcome")["seat"])
        assert len(numbers) == 1
        for twin in twins:
            send_ignoring_end(
                twin,
                build_actions_message(build_entry(1, 100, "note one")),
                build_actions_message(build_entry(1, 100, "note one")),
            )
        assert pam.request_reply(build_actions_message(build_entry(1, 100)), "acknowledged")["number"] == 1
        for twin in twins:
            twin.__exit__()
    with RawClient(host.invited) as zoe:
        assert zoe.request_reply(join(host.invited, "Zoe", "z" * 32), "welcome")["acknowledged"] == 1
    assert read_log(host, "Zoe") == [(1, 100, "note one")]


def test_foreign_entries_and_time_jumps_make_only_their_seat_diverge(host: HostProcess) -> None:
    """One seat sends hashes of another world and jumps ahead by eight hours. It diverges, and the other
    scores stay.
    """
    with RawClient(host.invited) as pia, RawClient(host.invited) as rob, RawClient(host.invited) as sue:
        for seat, name in ((pia, "Pia"), (rob, "Rob"), (sue, "Sue")):
            seat.request_reply(join(host.invited, name, name.ljust(32, "0")), "welcome")
        foreign = build_actions_message(
            build_entry(1, 100, "power-off SERVER_A", "0" * 32), build_entry(2, 900, "", "f" * 32)
        )
        pia.request_reply(foreign, "acknowledged")
        rob.request_reply(build_actions_message(build_entry(1, TICK_MAX)), "acknowledged")
        sue.request_reply(
            build_actions_message(build_entry(1, 100, "power-off SERVER_A"), build_entry(2, 900)),
            "acknowledged",
        )
        for seat, tick in ((pia, 900), (rob, TICK_MAX), (sue, 900)):
            seat.send_message(build_status(tick=tick, over=True))
        times = [seat.receive_message("result")["verdict"]["parted_t_s"] for seat in (pia, rob, sue)]
        assert (times[0], times[1] is not None, times[2]) == (1.0, True, None)
        assert sue.request_reply(build_actions_message(build_entry(3, 1_000)), "acknowledged")["number"] == 3
