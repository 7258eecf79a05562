"""A class found in the network by the part of its code that is no secret."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from app import doctor
from app.classroom import discovery, players
from app.classroom.code import NEEDS_ADDRESS, InvalidJoinCodeError, invitation
from app.classroom.join import JoinFailedError, take_part
from engine.verbs.lines import parse_script
from tests.class_process import hosted

CODE = "G66BQ-QPTEX-0781R-PD1TP"


def test_a_code_may_come_without_its_address() -> None:
    alone, whole = invitation(CODE), invitation(f"{CODE}@127.0.0.1:7443")
    assert (alone.secret, alone.fingerprint) == (whole.secret, whole.fingerprint)
    assert (alone.addresses, str(alone)) == ([], CODE)
    assert str(whole) == f"{CODE}@127.0.0.1:7443"
    with pytest.raises(InvalidJoinCodeError):
        invitation("G66BQ")


def test_a_seat_finds_the_host_of_its_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not asyncio.run(discovery.answers_itself()):
        pytest.skip("this computer's network lets nothing be announced")
    monkeypatch.setenv("MIRRORDRILL_PROFILE", str(tmp_path))
    with hosted(tmp_path / "class.sqlite", "planned-failover") as host:
        code = host.code.partition("@")[0]
        lines, _ = parse_script("1 note found\n2 finish")
        attended = take_part(invitation(code), "Ann", players.inputs(lines), None, lambda _: None)
        assert attended.left == 0


def test_nobody_answers_for_a_code_that_no_host_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "ANSWER_S", 0.3)
    assert asyncio.run(discovery.find("0781RPD1TP0000")) is None


def test_without_the_package_the_address_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MIRRORDRILL_PROFILE", str(tmp_path))
    monkeypatch.setitem(sys.modules, "zeroconf", None)
    asyncio.run(discovery.announce("x", "", "127.0.0.1", 1))
    with pytest.raises(JoinFailedError, match=NEEDS_ADDRESS):
        take_part(invitation(CODE), "Ann", players.reference, None, lambda _: None)


@pytest.mark.parametrize("answers", [True, False])
def test_the_doctor_tries_it(answers: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    async def tried() -> bool:
        return answers

    monkeypatch.setattr(discovery, "answers_itself", tried)
    (found,) = [one for one in doctor.examine() if one.name == "class"]
    assert found.well, "a class does without it"
    assert ("cannot" in found.text) is not answers
