"""Tests of the discovery of a class on the network by the public part of its join code."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

from app import doctor
from app.classroom import addresses, console, discovery, host_connection, message_exchange, players, service
from app.classroom.host_connection import SeatConnection
from app.classroom.join import JoinFailedError, play_in_class_seat
from app.classroom.join_code import ADDRESS_MISSING_TEXT, InvalidJoinCodeError, parse_invitation
from app.classroom.lesson_plan import parse_plan
from app.classroom.record import ClassRecord
from app.classroom.seat_log import SeatLog, get_seat_folder
from engine.verbs.input_lines import parse_script
from tests.class_process import WAIT_S_MAX, run_host
from tests.relay import Relay
from tests.shipped_scenarios import load_shipped_scenario

JOIN_CODE = "G66BQ-QPTEX-0781R-PD1TP"


def test_a_code_works_without_its_address() -> None:
    alone, whole = parse_invitation(JOIN_CODE), parse_invitation(f"{JOIN_CODE}@127.0.0.1:7443")
    assert (alone.secret, alone.fingerprint) == (whole.secret, whole.fingerprint)
    assert (alone.addresses, str(alone)) == ([], JOIN_CODE)
    assert str(whole) == f"{JOIN_CODE}@127.0.0.1:7443"
    with pytest.raises(InvalidJoinCodeError):
        parse_invitation("G66BQ")
    assert parse_invitation(f"{JOIN_CODE}@10.0.0.5").addresses == ["10.0.0.5:7443"]
    assert parse_invitation(f"{JOIN_CODE}@[fd00::2], 10.0.0.5:1").addresses == [
        "[fd00::2]:7443",
        "10.0.0.5:1",
    ]


def test_a_seat_finds_the_host_of_its_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not asyncio.run(discovery.can_find_own_service()):
        pytest.skip("this computer's network lets nothing be announced")
    monkeypatch.setenv("MIRRORDRILL_PROFILE", str(tmp_path))
    with run_host(tmp_path / "class.sqlite", "planned-failover") as host:
        code = host.code.partition("@")[0]
        lines, _ = parse_script("1 note found\n2 finish")
        attended = play_in_class_seat(
            parse_invitation(code), "Ann", players.create_input_player(lines), None, lambda _: None
        )
        assert attended.unacknowledged_count == 0


def test_a_seat_with_only_the_code_rejoins_after_a_host_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first search after joining and after the host's restart finds no address."""
    monkeypatch.setenv("MIRRORDRILL_PROFILE", str(tmp_path))
    answers: list[list[str]] = [[]]
    searched = 0

    async def find_addresses(_: str) -> list[str]:
        nonlocal searched
        searched += 1
        return answers.pop(0) if answers else []

    monkeypatch.setattr(discovery, "find_addresses", find_addresses)
    with run_host(tmp_path / "class.sqlite", "planned-failover") as host:
        answers.append(host.invited.addresses)
        code = parse_invitation(host.code.partition("@")[0])
        seat_log = SeatLog(get_seat_folder(code), "Ann")
        link = SeatConnection(code, seat_log)
        link.start()
        _wait_until(lambda: link.connected)
        host.kill()
        _wait_until(lambda: not link.connected and searched >= 4)
        assert not link.refusal
        host.start()
        _wait_until(lambda: link.connected)
        link.disconnect()
        seat_log.close()


def test_a_silent_disconnection_is_detected_while_nothing_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seat and host both detect it, and the connection stays open: the seat answers again when bytes arrive."""
    monkeypatch.setenv("MIRRORDRILL_PROFILE", str(tmp_path))
    monkeypatch.setattr(host_connection, "ACKNOWLEDGE_TIMEOUT_S", 0.3)
    for module in (message_exchange, service):
        monkeypatch.setattr(module, "HOST_PING_INTERVAL_S", 0.2)
    monkeypatch.setattr(signal, "signal", lambda *_: None)  # Only the main thread can set a signal handler.
    with serve_in_thread(tmp_path / "class.sqlite") as code, Relay(parse_invitation(code).port) as relay:
        record = ClassRecord(str(tmp_path / "class.sqlite"), create=False)
        code = f"{code.partition('@')[0]}@127.0.0.1:{relay.port}"
        seat_log = SeatLog(get_seat_folder(parse_invitation(code)), "Ann")
        link = SeatConnection(parse_invitation(code), seat_log)
        link.start()
        _wait_until(lambda: link.is_answering)
        relay.stop_bytes(closes_connections=False)
        _wait_until(lambda: not link.is_answering and not is_seat_connected(record))
        assert link.connected
        relay.resume_bytes()
        _wait_until(lambda: link.is_answering and is_seat_connected(record))
        link.disconnect()
        seat_log.close()
        record.close()


@contextmanager
def serve_in_thread(database: Path) -> Iterator[str]:
    """Serve a class in this process, so that its constants can be changed; yield its join code."""
    text = 'scenario = "planned-failover"\nmode = "practice"\n'
    record, codes = ClassRecord(str(database), create=True), SimpleQueue[str]()
    parts = service.create_parts(parse_plan(text), text, load_shipped_scenario)
    part = service.find_or_create_class(record, parts, None)
    assert part is not None
    reading, writing = os.pipe()
    with open(reading) as owner_pipe:
        before = set(threading.enumerate())
        serving = threading.Thread(
            target=service.serve_class, args=(record, part, "127.0.0.1:0", codes.put, None, owner_pipe)
        )
        serving.start()
        try:
            yield codes.get(timeout=WAIT_S_MAX)
        finally:
            os.close(writing)
            serving.join(WAIT_S_MAX)
            for thread in set(threading.enumerate()) - before:
                if not thread.daemon:  # threads of the host's workers
                    thread.join(WAIT_S_MAX)
            record.close()


def is_seat_connected(record: ClassRecord) -> bool:
    """Return whether the roster of the class shows its first seat as connected."""
    part = record.read_class()
    assert part is not None

    async def request_state() -> bool:
        async with console.connect_to_host(part) as socket:
            return bool(json.loads(await socket.recv())["tiles"][0]["connected"])

    return asyncio.run(request_state())


@pytest.mark.parametrize(
    "fingerprint", ["0781RPD1TP0001", "0781RPD1TP0002", "0781RPD1TP0003", "0781RPD1TP0004"]
)
def test_all_addresses_of_a_host_with_several_networks_are_found(fingerprint: str) -> None:
    """The order of the records in an answer depends on the host name. Address records may precede the server
    record.
    """
    announced = [f"127.0.0.{number}" for number in range(1, 5)]

    async def find_announced_addresses() -> list[str]:
        announcing = asyncio.create_task(discovery.announce_class(fingerprint, "", announced, 1))
        try:
            return await discovery.find_addresses(fingerprint)
        finally:
            announcing.cancel()
            await asyncio.gather(announcing, return_exceptions=True)

    if not asyncio.run(discovery.can_find_own_service()):
        pytest.skip("this computer's network lets nothing be announced")
    assert sorted(asyncio.run(find_announced_addresses())) == [f"{one}:1" for one in announced]


def _wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + WAIT_S_MAX
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_discovery_finds_no_host_for_an_unknown_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "SEARCH_TIMEOUT_S", 0.3)
    assert asyncio.run(discovery.find_addresses("0781RPD1TP0000")) == []


def test_without_zeroconf_the_address_is_requested(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIRRORDRILL_PROFILE", str(tmp_path))
    monkeypatch.setitem(sys.modules, "zeroconf", None)
    asyncio.run(discovery.announce_class("x", "", ["127.0.0.1"], 1))
    with pytest.raises(JoinFailedError, match=ADDRESS_MISSING_TEXT):
        play_in_class_seat(parse_invitation(JOIN_CODE), "Ann", players.play_reference, None, lambda _: None)


@pytest.mark.parametrize(
    ("interfaces", "default", "expected"),
    [
        ([("lo", "127.0.0.1"), ("eth0", "10.77.0.1")], "", ["10.77.0.1"]),
        ([("lo", "127.0.0.1")], "", []),
        ([("tun0", "10.8.0.2"), ("eth0", "10.77.0.1")], "10.8.0.2", ["10.77.0.1", "10.8.0.2"]),
        ([("eth0", "10.0.0.5"), ("wlan0", "192.168.1.5")], "192.168.1.5", ["192.168.1.5", "10.0.0.5"]),
        ([("eth0", "169.254.3.4"), ("wlan0", "192.168.1.5")], "", ["192.168.1.5", "169.254.3.4"]),
        ([(f"eth{n}", f"10.0.{n}.1") for n in range(9)], "", [f"10.0.{n}.1" for n in range(4)]),
    ],
)
def test_host_lists_the_addresses_of_its_interfaces(
    interfaces: list[tuple[str, str]], default: str, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = [addresses.InterfaceAddress(*one) for one in interfaces]
    monkeypatch.setattr(addresses, "_read_interfaces", lambda: found)
    monkeypatch.setattr(addresses, "_find_default_address", lambda: default)
    assert addresses.list_reachable_addresses("0.0.0.0") == expected
    assert addresses.list_reachable_addresses("127.0.0.1") == ["127.0.0.1"], "where it was asked for"


def test_seat_tries_all_addresses_of_the_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIRRORDRILL_PROFILE", str(tmp_path))
    with run_host(tmp_path / "class.sqlite", "planned-failover") as host:
        code, _, address = host.code.partition("@")
        lines, _ = parse_script("1 note found\n2 finish")
        everywhere = parse_invitation(f"{code}@127.0.0.2:9,240.0.0.1:7443,{address}")
        began = time.monotonic()
        attended = play_in_class_seat(
            everywhere, "Ann", players.create_input_player(lines), None, lambda _: None
        )
        assert attended.unacknowledged_count == 0
        assert time.monotonic() - began < WAIT_S_MAX / 2, "no address was waited for"
        wrong = parse_invitation(f"00000-00000-00000-00000@{address}")
        with pytest.raises(JoinFailedError, match=r"does not match the class at 127\.0\.0\.1"):
            play_in_class_seat(wrong, "Ben", players.create_input_player(lines), None, lambda _: None)


@pytest.mark.parametrize("first_record", ["server", "address"])
def test_a_class_is_found_for_any_order_of_the_dns_records(
    first_record: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A seat that receives the address record before the server record reads its cache again."""
    zeroconf = pytest.importorskip("zeroconf")
    asked = []

    async def answer_request(info: Any, network: Any, timeout: float) -> bool:
        records = [
            zeroconf.DNSService(info.name, 33, 1, 120, 0, 0, 7443, "HOST.local."),
            zeroconf.DNSAddress("HOST.local.", 1, 1, 120, b"\x0a\x4d\x00\x01"),
        ]
        asked.append(info.name)
        network.cache.async_add_records(records if first_record == "server" else reversed(records))
        return False

    monkeypatch.setattr("zeroconf.asyncio.AsyncServiceInfo.async_request", answer_request)
    assert asyncio.run(discovery.find_addresses("G66BQQPTEX0781")) == ["10.77.0.1:7443"]
    assert len(asked) == 1


@pytest.mark.parametrize("answers", [True, False])
def test_doctor_reports_if_discovery_works(answers: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    async def check_discovery() -> bool:
        return answers

    monkeypatch.setattr(discovery, "can_find_own_service", check_discovery)
    (found,) = [one for one in doctor.run_checks() if one.name == "class"]
    assert found.is_ok, "a class does without it"
    assert ("cannot" in found.text) is not answers
