"""A class found in the network by the part of its code that is no secret."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from app import doctor
from app.classroom import addresses, discovery, players
from app.classroom.code import NEEDS_ADDRESS, InvalidJoinCodeError, invitation
from app.classroom.join import JoinFailedError, take_part
from engine.verbs.lines import parse_script
from tests.class_process import WAIT_S, run_host

CODE = "G66BQ-QPTEX-0781R-PD1TP"


def test_a_code_works_without_its_address() -> None:
    alone, whole = invitation(CODE), invitation(f"{CODE}@127.0.0.1:7443")
    assert (alone.secret, alone.fingerprint) == (whole.secret, whole.fingerprint)
    assert (alone.addresses, str(alone)) == ([], CODE)
    assert str(whole) == f"{CODE}@127.0.0.1:7443"
    with pytest.raises(InvalidJoinCodeError):
        invitation("G66BQ")
    assert invitation(f"{CODE}@10.0.0.5").addresses == ["10.0.0.5:7443"]
    assert invitation(f"{CODE}@[fd00::2], 10.0.0.5:1").addresses == ["[fd00::2]:7443", "10.0.0.5:1"]


def test_a_seat_finds_the_host_of_its_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not asyncio.run(discovery.answers_itself()):
        pytest.skip("this computer's network lets nothing be announced")
    monkeypatch.setenv("MIRRORDRILL_PROFILE", str(tmp_path))
    with run_host(tmp_path / "class.sqlite", "planned-failover") as host:
        code = host.code.partition("@")[0]
        lines, _ = parse_script("1 note found\n2 finish")
        attended = take_part(invitation(code), "Ann", players.inputs(lines), None, lambda _: None)
        assert attended.left == 0


def test_discovery_finds_no_host_for_an_unknown_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "ANSWER_S", 0.3)
    assert asyncio.run(discovery.find("0781RPD1TP0000")) == []


def test_without_zeroconf_the_address_is_requested(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIRRORDRILL_PROFILE", str(tmp_path))
    monkeypatch.setitem(sys.modules, "zeroconf", None)
    asyncio.run(discovery.announce("x", "", ["127.0.0.1"], 1))
    with pytest.raises(JoinFailedError, match=NEEDS_ADDRESS):
        take_part(invitation(CODE), "Ann", players.reference, None, lambda _: None)


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
    assert addresses.reachable("0.0.0.0") == expected
    assert addresses.reachable("127.0.0.1") == ["127.0.0.1"], "where it was asked for"


def test_seat_tries_all_addresses_of_the_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIRRORDRILL_PROFILE", str(tmp_path))
    with run_host(tmp_path / "class.sqlite", "planned-failover") as host:
        code, _, address = host.code.partition("@")
        lines, _ = parse_script("1 note found\n2 finish")
        everywhere = invitation(f"{code}@127.0.0.2:9,240.0.0.1:7443,{address}")
        began = time.monotonic()
        attended = take_part(everywhere, "Ann", players.inputs(lines), None, lambda _: None)
        assert attended.left == 0
        assert time.monotonic() - began < WAIT_S / 2, "no address was waited for"
        wrong = invitation(f"00000-00000-00000-00000@{address}")
        with pytest.raises(JoinFailedError, match=r"does not fit the class at 127\.0\.0\.1"):
            take_part(wrong, "Ben", players.inputs(lines), None, lambda _: None)


@pytest.mark.parametrize("first_record", ["server", "address"])
def test_class_is_found_whatever_the_order_of_the_records(
    first_record: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A seat that has cached the address before the server reads its cache again."""
    zeroconf = pytest.importorskip("zeroconf")
    asked = []

    async def answer(info: Any, network: Any, timeout: float) -> bool:
        records = [
            zeroconf.DNSService(info.name, 33, 1, 120, 0, 0, 7443, "HOST.local."),
            zeroconf.DNSAddress("HOST.local.", 1, 1, 120, b"\x0a\x4d\x00\x01"),
        ]
        asked.append(info.name)
        network.cache.async_add_records(records if first_record == "server" else reversed(records))
        return False

    monkeypatch.setattr("zeroconf.asyncio.AsyncServiceInfo.async_request", answer)
    assert asyncio.run(discovery.find("G66BQQPTEX0781")) == ["10.77.0.1:7443"]
    assert len(asked) == 1


@pytest.mark.parametrize("answers", [True, False])
def test_doctor_tests_discovery(answers: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    async def check_discovery() -> bool:
        return answers

    monkeypatch.setattr(discovery, "answers_itself", check_discovery)
    (found,) = [one for one in doctor.examine() if one.name == "class"]
    assert found.well, "a class does without it"
    assert ("cannot" in found.text) is not answers
