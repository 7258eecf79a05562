"""Handshakes between endpoints: accepted and refused connections, and the log lines of the server that
accepts.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from msgspec.structs import replace

from engine.model import Certificate, Endpoint, Login, MirrorState, User, World
from engine.protocol import accounts, endpoints, security
from tests.assertions import require
from tests.engine.protocol.setups import DB, M, P, W, get_refusal_number, settle_and_run
from tests.engine.worlds import apply_lines, build_lab
from tests.events import read_field


def set_endpoint(world: World, server: str, **changes: Any) -> None:
    end = world.instances[server].endpoint
    assert end is not None
    world.update_instance(server, endpoint=replace(end, **changes))


def find_refusal_reason(world: World, caller: str = P, acceptor: str = M) -> str:
    """Return the reason why *acceptor* refuses *caller*; empty if it accepts."""
    result = security.find_handshake_refusal(world, caller, acceptor)
    return "" if result is None else result.reason


LEVELS = ("DISABLED", "SUPPORTED", "REQUIRED")


@pytest.mark.parametrize(("local", "remote"), list(product(LEVELS, LEVELS)))
def test_encryption_follows_the_table(local: str, remote: str) -> None:
    world = build_lab()
    set_endpoint(world, P, encryption=local)
    set_endpoint(world, M, encryption=remote)
    refused = {local, remote} == {"DISABLED", "REQUIRED"}
    assert find_refusal_reason(world) == (security.NO_ALGORITHM_TEXT if refused else "")
    assert security.is_encrypted(world, P, M) is ("DISABLED" not in (local, remote))


@pytest.mark.parametrize(
    ("local", "remote", "used"),
    [
        (("RC4",), ("AES",), None),
        (("RC4",), ("RC4",), "RC4"),
        (("RC4", "AES"), ("AES",), "AES"),
        (("RC4", "AES"), ("AES", "RC4"), "AES"),  # the acceptor's order of algorithms decides
    ],
)
def test_endpoints_need_a_common_algorithm(
    local: tuple[str, ...], remote: tuple[str, ...], used: str | None
) -> None:
    world = build_lab()
    set_endpoint(world, P, algorithms=local)
    set_endpoint(world, M, algorithms=remote)
    assert find_refusal_reason(world) == ("" if used else security.NO_ALGORITHM_TEXT)
    set_endpoint(world, M, encryption="DISABLED")
    set_endpoint(world, P, encryption="SUPPORTED")
    assert find_refusal_reason(world) == "", "in clear no algorithm is needed"


def build_account_change(name: str, domain: str = "CORP") -> Callable[[World], object]:
    def run(world: World) -> None:
        world.update_computer(P, domain=domain)
        world.update_instance(P, service_account=name)

    return run


def build_login_grant(name: str) -> Callable[[World], object]:
    def do_it(world: World) -> None:
        accounts.create_login(world, M, name, windows=True)
        endpoints.change_connect_permission(world, M, "Mirroring", "GRANT", (name,))

    return do_it


NO_CONNECT_PERMISSION_TEXT = "does not have CONNECT permission on the endpoint. State 84."
WINDOWS_ACCOUNT_CASES: dict[str, tuple[list[Callable[[World], object]], str]] = {
    "same account": ([], ""),
    "other account": ([build_account_change("CORP\\other")], NO_CONNECT_PERMISSION_TEXT),
    "other account, granted": ([build_account_change("CORP\\other"), build_login_grant("CORP\\other")], ""),
    "network service": (
        [build_account_change("NT AUTHORITY\\NETWORK SERVICE")],
        "'CORP\\SERVER_A$' " + NO_CONNECT_PERMISSION_TEXT,
    ),
    "network service, granted": (
        [build_account_change("NT AUTHORITY\\NETWORK SERVICE"), build_login_grant("CORP\\SERVER_A$")],
        "",
    ),
    "virtual account": (
        [build_account_change("NT SERVICE\\MSSQLSERVER"), build_login_grant("corp\\server_a$")],
        "",
    ),
    "local system": ([build_account_change("LocalSystem")], "The logon attempt failed"),
    "account of the computer": ([build_account_change("SERVER_A\\sql")], "The logon attempt failed"),
    "workgroup": ([build_account_change("SERVER_A\\sql", domain="")], "The logon attempt failed"),
    "untrusted domain": (
        [build_account_change("ELSEWHERE\\sql", domain="ELSEWHERE")],
        "The logon attempt failed",
    ),
    "public": (
        [
            build_account_change("CORP\\other"),
            lambda w: accounts.create_login(w, M, "CORP\\other", windows=True),
            lambda w: endpoints.change_connect_permission(w, M, "Mirroring", "GRANT", ("public",)),
        ],
        "",
    ),
    "revoked": (
        [
            build_account_change("CORP\\other"),
            build_login_grant("CORP\\other"),
            lambda w: endpoints.change_connect_permission(w, M, "Mirroring", "REVOKE", ("CORP\\other",)),
        ],
        NO_CONNECT_PERMISSION_TEXT,
    ),
    "owner changed": (
        [
            build_account_change("CORP\\other"),
            build_login_grant("CORP\\other"),
            lambda w: endpoints.set_endpoint_owner(w, M, "Mirroring", "sa"),
        ],
        NO_CONNECT_PERMISSION_TEXT,
    ),
    "login disabled": (
        [
            build_account_change("CORP\\other"),
            build_login_grant("CORP\\other"),
            lambda w: accounts.alter_login(w, M, "CORP\\other", state="DISABLE"),
        ],
        NO_CONNECT_PERMISSION_TEXT,
    ),
    "login dropped": (
        [
            build_account_change("CORP\\other"),
            build_login_grant("CORP\\other"),
            lambda w: accounts.drop_login(w, M, "CORP\\other"),
        ],
        NO_CONNECT_PERMISSION_TEXT,
    ),
}


@pytest.mark.parametrize("case", WINDOWS_ACCOUNT_CASES)
def test_windows_accounts_authenticate(case: str) -> None:
    world = build_lab()
    steps, expected = WINDOWS_ACCOUNT_CASES[case]
    for step in steps:
        step(world)
    found_reason = find_refusal_reason(world)
    assert expected in found_reason
    assert bool(found_reason) is bool(expected)


@pytest.mark.parametrize(
    ("local", "remote", "is_compatible"),
    [
        ("WINDOWS NEGOTIATE", "WINDOWS KERBEROS", True),
        ("WINDOWS NTLM", "WINDOWS KERBEROS", False),
        ("WINDOWS NTLM", "CERTIFICATE", False),
        ("CERTIFICATE WINDOWS NTLM", "WINDOWS NEGOTIATE", True),
    ],
)
def test_authentication_methods_must_match(local: str, remote: str, is_compatible: bool) -> None:
    world = build_lab()
    set_endpoint(world, P, authentication=local)
    set_endpoint(world, M, authentication=remote)
    assert find_refusal_reason(world) == ("" if is_compatible else security.NO_AUTHENTICATION_TEXT)


def exchange_certificates(world: World) -> None:
    """Exchange certificates between SERVER_A and SERVER_B, and let each login connect."""
    certificates = {
        me: Certificate(
            name=f"{me}_cert", thumbprint=number, subject=me, valid_from_tick=0, expires_tick=100_000
        )
        for number, me in enumerate((P, M), start=900)
    }
    for me, peer in ((P, M), (M, P)):
        theirs = replace(certificates[peer], owner="peer_user", has_private_key=False)
        world.update_instance(
            me,
            certificates=(certificates[me], theirs),
            logins=(Login(name="peer_login", sid=77),),
            users=(User(name="peer_user", database="master", sid=77),),
        )
        set_endpoint(
            world, me, authentication="CERTIFICATE", certificate=f"{me}_cert", granted=("peer_login",)
        )


CERTIFICATE_CASES: dict[str, tuple[Callable[[World], object], str]] = {
    "exchanged": (lambda w: None, ""),
    "not imported": (
        lambda w: accounts.drop_certificate(w, M, "SERVER_A_cert"),
        "Certificate not found. State 89.",
    ),
    "not imported by the caller": (
        lambda w: accounts.drop_certificate(w, P, "SERVER_B_cert"),
        "Certificate not found. State 89.",
    ),
    "expired": (
        lambda w: apply_lines(w, f"expire-certificate {P}"),
        "by the peer is invalid due to the following reason: Certificate expired",
    ),
    "the acceptor's own expired": (
        lambda w: apply_lines(w, f"expire-certificate {M}"),
        "Certificate expired. State 85.",
    ),
    "no login": (lambda w: w.update_instance(M, logins=()), NO_CONNECT_PERMISSION_TEXT),
    "not granted": (
        lambda w: endpoints.change_connect_permission(w, M, "Mirroring", "DENY", ("peer_login",)),
        NO_CONNECT_PERMISSION_TEXT,
    ),
}


@pytest.mark.parametrize("case", CERTIFICATE_CASES)
def test_certificates_authenticate(case: str) -> None:
    world = build_lab()
    exchange_certificates(world)
    spoil, expected = CERTIFICATE_CASES[case]
    spoil(world)
    found_reason = find_refusal_reason(world)
    assert expected in found_reason
    assert bool(found_reason) is bool(expected)


def test_a_certificate_that_is_not_yet_valid_is_refused() -> None:
    world = build_lab()
    exchange_certificates(world)
    later_certificates = tuple(replace(c, valid_from_tick=50_000) for c in world.instances[P].certificates)
    world.update_instance(P, certificates=later_certificates)
    result = security.find_handshake_refusal(world, P, M)
    assert result is not None
    assert result.preceding_message == (28024, 1)


def test_connections_outlive_their_expired_certificate_until_they_break() -> None:
    world = build_lab()
    for name in (P, M, W):
        world.update_computer(name, domain=name)  # without trust between the domains, only certificates work
    exchange_certificates(world)
    apply_lines(world, f"expire-certificate {P}", wait_s=30.0)
    assert world.copies[P, DB].mirroring.state is MirrorState.SYNCHRONIZED
    events = apply_lines(world, f"reset-link {P} {M}", wait_s=30.0)
    assert world.copies[P, DB].mirroring.state is MirrorState.DISCONNECTED
    lines = [read_field(e, "number") for e in events if e.kind == "errorlog" and e.server == M]
    assert lines.count(28025) == lines.count(28047) > 0
    assert world.faults[0].effect == "a connection was refused"
    apply_lines(world, f"renew-certificate {P}", wait_s=30.0)
    assert world.copies[P, DB].mirroring.state is MirrorState.SYNCHRONIZED


def test_a_refusal_is_logged_once_until_its_reason_changes() -> None:
    world = build_lab(witness=False)
    set_endpoint(world, M, algorithms=("AES",))
    events = apply_lines(world, f"reset-link {P} {M}", wait_s=120.0)

    def count_lines(events: list[object]) -> int:
        return sum(getattr(e, "kind", "") == "errorlog" and "no compatible encryption" in getattr(e, "text", "")
                   for e in events)  # fmt: skip

    assert count_lines(list(events)) == 2, "each end has turned the other away"
    set_endpoint(world, M, authentication="CERTIFICATE")
    events = apply_lines(world, f"cut {P} {W}", wait_s=5.0)
    assert any("no compatible authentication" in e.text for e in events if e.kind == "errorlog")


def test_a_tcp_change_applies_from_the_next_start() -> None:
    world = build_lab()
    apply_lines(world, f"disable-tcp {M}")
    assert world.copies[P, DB].mirroring.state is MirrorState.SYNCHRONIZED
    apply_lines(world, f"restart-service {M}", wait_s=60.0)
    assert world.copies[P, DB].mirroring.state is MirrorState.DISCONNECTED
    assert not security.is_listening(world.instances[M])
    assert world.faults[0].effect
    apply_lines(world, f"enable-tcp {M}", f"restart-service {M}", wait_s=60.0)
    assert world.copies[P, DB].mirroring.state is MirrorState.SYNCHRONIZED


# --- endpoint statements ---------------------------------------------------------------------------


def build_world_without_endpoint() -> World:
    world = build_lab(witness=False)
    world.update_instance(W, endpoint=None)
    return world


def test_an_endpoint_is_created_stopped_with_the_documented_defaults() -> None:
    world = build_world_without_endpoint()
    endpoints.create_endpoint(world, W, "ep", port=5022, role="witness")
    assert world.instances[W].endpoint == Endpoint(
        name="ep", port=5022, role="WITNESS", state=require(world.instances[W].endpoint).state, encryption="REQUIRED",
        algorithms=("RC4",), authentication="WINDOWS NEGOTIATE", owner="sa",
    )  # fmt: skip
    assert not security.is_listening(world.instances[W])
    endpoints.alter_endpoint(world, W, "ep", state="started")
    assert security.is_listening(world.instances[W])
    numbers = [
        read_field(e, "number") for e in settle_and_run(world, 0.1) if e.kind == "errorlog" and e.server == W
    ]
    assert numbers == [9690]


@pytest.mark.parametrize(
    ("prepare", "options", "number"),
    [
        ({"endpoint": Endpoint()}, {}, 7862),
        ({"edition": "Express"}, {"role": "PARTNER"}, 7878),
        ({"edition": "Express"}, {"role": "WITNESS"}, 0),
        ({"used_ports": (5022,)}, {"state": "STARTED"}, 9692),
        ({"used_ports": (5022,)}, {"state": "STOPPED"}, 0),
        ({}, {"certificate": "nothing"}, 15151),
        ({}, {"owner": "nobody"}, 15151),
    ],
)
def test_invalid_create_endpoint_statements_are_refused(
    prepare: dict[str, object], options: dict[str, str], number: int
) -> None:
    world = build_world_without_endpoint()
    on_computer = {name: value for name, value in prepare.items() if name == "used_ports"}
    world.update_computer(W, **on_computer)
    world.update_instance(W, **{name: value for name, value in prepare.items() if name not in on_computer})
    settings = {"port": 5022, "role": "ALL", **options}
    assert get_refusal_number(endpoints.create_endpoint, world, W, "ep", **settings) == number


def test_a_foreign_certificate_cannot_authenticate_an_endpoint() -> None:
    world = build_world_without_endpoint()
    exchange_certificates(world)
    assert (
        get_refusal_number(endpoints.alter_endpoint, world, P, "Mirroring", certificate="SERVER_B_cert")
        == 28055
    )


def test_altering_an_endpoint_reconnects_under_the_new_settings() -> None:
    world = build_lab(witness=False)
    endpoints.alter_endpoint(world, P, "Mirroring", algorithms=("RC4", "AES"))
    assert world.copies[P, DB].mirroring.state is MirrorState.DISCONNECTED
    settle_and_run(world, 10.0)
    assert world.copies[P, DB].mirroring.state is MirrorState.SYNCHRONIZED
    endpoints.alter_endpoint(world, P, "Mirroring", state="STARTED")
    assert world.copies[P, DB].mirroring.state is MirrorState.SYNCHRONIZED, "it was started already"


def test_an_endpoint_of_a_partner_is_dropped_and_recreated() -> None:
    world = build_lab(witness=False)
    endpoints.drop_endpoint(world, M, "mirroring")
    settle_and_run(world, 5.0)
    assert world.copies[P, DB].mirroring.state is MirrorState.DISCONNECTED
    assert get_refusal_number(endpoints.drop_endpoint, world, M, "Mirroring") == 15151
    endpoints.create_endpoint(world, M, "Mirroring", port=5022, role="PARTNER", state="STARTED")
    settle_and_run(world, 10.0)
    assert world.copies[P, DB].mirroring.state is MirrorState.SYNCHRONIZED


def test_an_endpoint_with_the_wrong_role_gets_no_connection() -> None:
    world = build_lab(witness=False)
    endpoints.alter_endpoint(world, M, "Mirroring", role="WITNESS")
    settle_and_run(world, 20.0)
    assert world.copies[P, DB].mirroring.state is MirrorState.DISCONNECTED
    endpoints.alter_endpoint(world, M, "Mirroring", role="PARTNER")
    settle_and_run(world, 10.0)
    assert world.copies[P, DB].mirroring.state is MirrorState.SYNCHRONIZED
