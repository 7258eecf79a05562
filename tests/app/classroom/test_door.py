"""Tests of the join code and of the limit on wrong attempts."""

from __future__ import annotations

import pytest

from app.classroom import certificate
from app.classroom.join_code import (
    InvalidJoinCodeError,
    Invitation,
    compute_fingerprint,
    create_secret,
    parse_invitation,
)
from app.classroom.messages.codec import ProtocolError
from app.classroom.messages.requests import REQUEST_READER
from app.classroom.rate_limit import BURST_ATTEMPTS, RateLimiter


def test_a_code_is_parsed_however_it_is_typed() -> None:
    certificate_shown, _ = certificate.create_certificate()
    invited = Invitation(
        create_secret(), compute_fingerprint(certificate.convert_to_der(certificate_shown)), "10.0.0.5", 7443
    )
    assert parse_invitation(str(invited)) == invited
    code, _, address = str(invited).partition("@")
    sloppy = code.replace("-", " ").lower().replace("0", "o").replace("1", "l")
    assert parse_invitation(f"  {sloppy}@{address} ") == invited


@pytest.mark.parametrize("host", ["host", "10.0.0.5", "[fe80::1]"])
def test_code_without_a_port_uses_the_default_port(host: str) -> None:
    invited = parse_invitation("A" * 20 + f"@{host}")
    assert invited.addresses == [f"{host}:7443"]


def test_another_certificate_has_another_code() -> None:
    fingerprints = {
        compute_fingerprint(certificate.convert_to_der(certificate.create_certificate()[0])) for _ in range(3)
    }
    assert len(fingerprints) == 3


@pytest.mark.parametrize(
    "text", ["", "@", "ABCDE", "AAAAA-AAAAA-AAAAA-AAAAA@host:", "AAAAA@host:1", "A" * 20 + "@h:0"]
)
def test_an_invalid_code_is_refused_with_a_message(text: str) -> None:
    with pytest.raises(InvalidJoinCodeError, match=r"expected|is not a join code"):
        parse_invitation(text)


def test_ten_thousand_wrong_codes_are_cheap_and_delay_nobody() -> None:
    clock = [0.0]
    gate = RateLimiter(lambda: clock[0])
    looked_at = 0
    for _ in range(10_000):  # Each connection lasts ten seconds.
        clock[0] += 0.001
        if gate.is_allowed("attacker"):
            gate.record_failure("attacker")
            looked_at += 1
    assert BURST_ATTEMPTS + 15 <= looked_at <= BURST_ATTEMPTS + 20
    assert gate.is_allowed("somebody else")
    clock[0] += 1.0
    assert gate.is_allowed("attacker"), "who waits is heard again"


@pytest.mark.parametrize(
    "raw",
    [
        b"", b"\xff", b"[]", b"null", b'{"kind": "conquer"}', b'{"kind": "at"}', b'{"kind": "at", "tick": -1}',
        b'{"kind": "at", "tick": 1, "frozen": 0}', b'{"kind": "freeze", "more": 1}', b"[" * 100_000,
        b'{"kind": "join", "secret": "x", "name": "", "token": "tttttttttttttttt"}',
        b'{"kind": "instruct", "what": "shell", "text": "x"}',
    ],
)  # fmt: skip
def test_garbage_is_refused(raw: bytes) -> None:
    with pytest.raises(ProtocolError):
        REQUEST_READER.read(raw)
