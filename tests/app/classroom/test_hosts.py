"""Tests of a class in PostgreSQL with two hosts that exchange messages over NATS, with real servers and
processes.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from app import cli
from app.classroom import console
from app.classroom.bus import BusUnavailableError, MessageBus
from app.classroom.messages.codec import encode
from app.classroom.record import ClassRecord, RecordUnavailableError
from tests.app.classroom.test_parts import find_schema_differences
from tests.class_process import HostProcess, RawClient, join, run_host
from tests.hostile import class_kills
from tests.servers import Nats, Postgres, find_free_port

SCENARIO = "planned-failover"
WAIT_S_MAX = 30.0


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[Postgres, Nats]]:
    with Postgres() as postgres, Nats() as nats:
        yield postgres, nats


class TwoHosts:
    """One class with two host processes."""

    def __init__(self, url: str, nats: str, stack: ExitStack, *arguments: str) -> None:
        def start_host(_: int) -> HostProcess:
            held_host = run_host(
                url, *(arguments or (SCENARIO,)), "--nats", nats, listen=f"127.0.0.1:{find_free_port()}"
            )
            return stack.enter_context(held_host)

        with ThreadPoolExecutor(2) as executor:  # both hosts try to create the class at the same time
            self.first, self.second = executor.map(start_host, range(2))
        record = ClassRecord(url, create=False)
        the_class = record.read_class()
        record.close()
        assert the_class is not None
        self._class = the_class

    async def _query_host(self, host: HostProcess, lines: Sequence[str]) -> list[dict[str, Any]]:
        """Return the board, then the replies to *lines*."""
        self._class.address = f"{host.invited.host}:{host.invited.port}"
        async with console.connect_to_host(self._class) as socket:
            messages = [json.loads(await socket.recv())]
            for line in lines:
                await socket.send(encode(console.parse_request(line)))
                while (message := json.loads(await socket.recv()))["kind"] not in ("done", "refused"):
                    pass
                messages.append(message)
        return messages

    def send_instructor_lines(self, *lines: str) -> None:
        _, *answers = asyncio.run(self._query_host(self.first, lines))
        assert all(answer["kind"] == "done" for answer in answers), answers

    def read_board(self, host: HostProcess) -> dict[str, dict[str, Any]]:
        """Return the tiles of a host's board by seat name."""
        (board,) = asyncio.run(self._query_host(host, ()))
        return {tile["name"]: tile for tile in board["tiles"]}

    def wait_for_tile(
        self, host: HostProcess, name: str, is_expected: Callable[[dict[str, Any]], bool]
    ) -> dict[str, Any]:
        """Wait until a host shows the tile of a seat in the expected state, and return the tile."""
        deadline = time.monotonic() + WAIT_S_MAX
        while True:
            tile = self.read_board(host).get(name)
            if tile is not None and is_expected(tile):
                return tile
            assert time.monotonic() < deadline, tile
            time.sleep(0.1)


@pytest.fixture(scope="module")
def two_hosts(servers: tuple[Postgres, Nats]) -> Iterator[TwoHosts]:
    postgres, nats = servers
    with ExitStack() as stack:
        yield TwoHosts(postgres.database("two"), nats.url, stack)


def build_entry(number: int, tick: int, line: str = "") -> list[Any]:
    return [number, tick, line, "", 0]


def build_actions_message(*entries: list[Any]) -> dict[str, Any]:
    return {"kind": "acts", "acts": entries}


def test_a_seat_continues_at_the_other_host_from_the_stored_inputs(two_hosts: TwoHosts) -> None:
    hello = join(two_hosts.first.invited, "Ann", "a" * 32)
    with RawClient(two_hosts.first.invited) as seat:
        number = seat.request_reply(hello, "welcome")["seat"]
        assert len(seat.receive_message("state")["hosts"]) == 2
        seat.request_reply(build_actions_message(build_entry(1, 100, "note one")), "acknowledged")
        with RawClient(two_hosts.second.invited) as resumed_seat:  # The first connection is still open.
            resumed = resumed_seat.request_reply(
                {"kind": "resume", "seat": number, "token": "a" * 32}, "welcome"
            )
            assert resumed["acknowledged"] == 1
            assert "reconnected" in seat.read_refusal({"kind": "at", "tick": 100, "frozen": False})
            resumed_seat.request_reply(
                build_actions_message(build_entry(1, 100, "note one"), build_entry(2, 200, "note two")),
                "acknowledged",
            )
            tile = two_hosts.wait_for_tile(
                two_hosts.first, "Ann", lambda tile: (tile["verdict"] or {}).get("acts") == 2
            )
            assert (tile["connected"], tile["verdict"]["done"]) == (True, 2)
    two_hosts.wait_for_tile(two_hosts.first, "Ann", lambda tile: not tile["connected"])
    with RawClient(
        two_hosts.second.invited
    ) as third:  # The seat is killed before it receives its number, so it has only its token.
        assert third.request_reply(hello, "welcome")["seat"] == number


def test_instructions_to_one_host_reach_the_seats_of_both(two_hosts: TwoHosts) -> None:
    with RawClient(two_hosts.first.invited) as first_seat, RawClient(two_hosts.second.invited) as second_seat:
        number = first_seat.request_reply(join(two_hosts.first.invited, "Bob", "b" * 32), "welcome")["seat"]
        moved_seat = second_seat.request_reply(join(two_hosts.first.invited, "Cem", "c" * 32), "welcome")[
            "seat"
        ]
        assert number != moved_seat
        for seat in (first_seat, second_seat):
            seat.send_message({"kind": "at", "tick": 300, "frozen": False, "hand": "Why?", "consent": True})
        for host in (two_hosts.first, two_hosts.second):
            two_hosts.wait_for_tile(host, "Bob", lambda tile: tile["hand"] == "Why?")
            two_hosts.wait_for_tile(host, "Cem", lambda tile: tile["hand"] == "Why?")
        two_hosts.send_instructor_lines(
            "freeze", f"lower {number}", f"lower {moved_seat}", f"take {number}", f"take {moved_seat}"
        )
        two_hosts.send_instructor_lines("message all hello", "go")
        for seat in (first_seat, second_seat):
            while seat.receive_message("state")["state"] != "frozen":
                pass
            messages = [seat.receive_message() for _ in range(4)]
            assert {message["kind"] for message in messages} >= {"lowered", "attention"}
            text = next((message["text"] for message in messages if message["kind"] == "instruction"), None)
            assert (text or seat.receive_message("instruction")["text"]) == "hello"


def test_the_class_continues_without_nats_and_catches_up_afterwards(
    two_hosts: TwoHosts, servers: Any
) -> None:
    _, nats = servers
    with RawClient(two_hosts.second.invited) as seat:
        seat.request_reply(join(two_hosts.first.invited, "Dee", "d" * 32), "welcome")
        nats.kill()
        seat.request_reply(build_actions_message(build_entry(1, 100, "note one")), "acknowledged")
        two_hosts.send_instructor_lines("freeze")
        nats.start()
        while seat.receive_message("state")["state"] != "frozen":
            pass
        two_hosts.send_instructor_lines("go")
        two_hosts.wait_for_tile(
            two_hosts.first, "Dee", lambda tile: tile["connected"] and tile["acknowledged"] == 1
        )


def test_a_killed_database_loses_nothing_and_ends_no_host(two_hosts: TwoHosts, servers: Any) -> None:
    postgres, _ = servers
    with RawClient(two_hosts.first.invited) as seat:
        number = seat.request_reply(join(two_hosts.first.invited, "Eli", "e" * 32), "welcome")["seat"]
        seat.request_reply(build_actions_message(build_entry(1, 100, "note one")), "acknowledged")
        postgres.kill()
        assert "cannot be written" in seat.read_refusal(
            build_actions_message(build_entry(2, 200, "note two"))
        )
        postgres.start()
    with RawClient(two_hosts.second.invited) as seat:
        resumed = seat.request_reply({"kind": "resume", "seat": number, "token": "e" * 32}, "welcome")
        assert resumed["acknowledged"] == 1
        assert (
            seat.request_reply(build_actions_message(build_entry(2, 200, "note two")), "acknowledged")[
                "number"
            ]
            == 2
        )


def test_the_tables_in_postgresql_are_those_that_the_program_reads(servers: Any) -> None:
    postgres, _ = servers
    url = postgres.database("tables")
    ClassRecord(url).close()
    assert find_schema_differences(url) == []


@pytest.mark.slow  # The other host treats it as lost after some seconds without a message.
def test_seats_of_a_killed_host_leave_the_board_of_the_other_host(two_hosts: TwoHosts) -> None:
    with RawClient(two_hosts.second.invited) as seat:
        seat.request_reply(join(two_hosts.first.invited, "Fay", "f" * 32), "welcome")
        two_hosts.wait_for_tile(two_hosts.first, "Fay", lambda tile: tile["connected"])
        two_hosts.second.kill()
        two_hosts.wait_for_tile(two_hosts.first, "Fay", lambda tile: not tile["connected"])
        two_hosts.second.start()


@pytest.mark.slow
def test_both_hosts_continue_with_the_next_part(tmp_path: Path, servers: tuple[Postgres, Nats]) -> None:
    (tmp_path / "plan.toml").write_text(
        f'scenario = "{SCENARIO}"\nmode = "exam"\n[[part]]\nkind = "pre"\n[[part]]\nkind = "post"\n'
    )
    with ExitStack() as stack:
        postgres, nats = servers
        two = TwoHosts(postgres.database("parts"), nats.url, stack, "--plan", str(tmp_path / "plan.toml"))
        with RawClient(two.second.invited) as seat:
            seat.request_reply(join(two.first.invited, "Ann", "a" * 32), "welcome")
            seat.request_reply(build_actions_message(build_entry(1, 100, "note one")), "acknowledged")
            two.send_instructor_lines("finish", "next")
            assert "next part" in seat.read_refusal({"kind": "at", "tick": 200, "frozen": False})
        for host in (two.second, two.first):
            with RawClient(host.invited) as seat:
                welcome = seat.request_reply(join(two.first.invited, "Ann", "a" * 32), "welcome")
                assert (welcome["part"], welcome["seat"], welcome["acknowledged"]) == (2, 1, 0)


@pytest.mark.slow
def test_random_kills_lose_nothing(tmp_path: Path, servers: tuple[Postgres, Nats]) -> None:
    class_kills.run_kills(tmp_path, kills=4, seats=2, seed=int.from_bytes(os.urandom(4)), servers=servers)


def test_two_hosts_need_a_shared_database(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "class",
        "host",
        SCENARIO,
        "--nats",
        "nats://127.0.0.1:1",
        "--database",
        str(tmp_path / "c.sqlite"),
    ]
    assert cli.main(words, lambda _: 9) == 2
    assert "postgresql+psycopg://" in capsys.readouterr().err


@pytest.mark.parametrize("url", ["nats://127.0.0.1:1", "garbage://x", ""])
def test_an_unreachable_nats_server_is_reported(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.classroom.bus.CONNECT_TIMEOUT_S", 0.3)
    with pytest.raises(BusUnavailableError, match="the NATS server cannot be used: "):
        asyncio.run(MessageBus(url, "x").connect())


def test_no_message_contains_a_password() -> None:
    with pytest.raises(RecordUnavailableError) as error:
        ClassRecord("postgresql+psycopg://ann:hush@127.0.0.1:1/class")
    assert "hush" not in str(error.value)
    assert "ann" in str(error.value)
