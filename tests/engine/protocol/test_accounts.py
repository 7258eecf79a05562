"""Logins and users on two servers, master keys, certificates, and an application whose login fails after a
failover.
"""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from engine.model import Role, World
from engine.protocol import accounts, commits, security
from tests.assertions import require
from tests.engine.protocol.setups import DB, M, P, get_refusal_number, settle_and_run
from tests.engine.worlds import apply_lines, build_lab
from tests.events import read_field


def create_app_login(world: World) -> None:
    """Let the application log in as `app`, a SQL login of SERVER_A and user of Sales."""
    accounts.create_login(world, P, "app", password="Secret#1")
    accounts.create_user(world, P, DB, "app")
    world.clients["APP"] = replace(world.clients["APP"], login="app")
    settle_and_run(world, 5.0)


def fail_over(world: World) -> None:
    apply_lines(world, f"power-off {P}", wait_s=30.0)
    assert world.copies[M, DB].mirroring.role is Role.PRINCIPAL


def test_users_reach_the_mirror_through_the_log_but_logins_do_not() -> None:
    world = build_lab()
    create_app_login(world)
    assert [user.name for user in commits.list_database_users(world, M, DB)] == ["app"]
    assert world.instances[M].find_login("app") is None
    assert [user.name for user in accounts.list_orphaned_users(world, M, DB)] == ["app"]
    assert accounts.list_orphaned_users(world, P, DB) == ()


def test_a_user_is_lost_with_its_unsent_log() -> None:
    world = build_lab(witness=False)
    apply_lines(world, f"sql {P} ALTER DATABASE Sales SET PARTNER SUSPEND")
    create_app_login(world)
    assert commits.list_database_users(world, M, DB) == ()
    apply_lines(world, f"sql {P} ALTER DATABASE Sales SET PARTNER RESUME")
    assert [user.name for user in commits.list_database_users(world, M, DB)] == ["app"]


def test_an_application_without_its_login_is_refused_until_the_sid_matches() -> None:
    world = build_lab()
    create_app_login(world)
    fail_over(world)
    assert world.clients["APP"].connected_to is None
    log_events = [
        e
        for e in settle_and_run(world, 20.0)
        if e.kind == "errorlog" and e.server == M and read_field(e, "number") == 18456
    ]
    assert log_events, "SERVER_B says in its ERRORLOG that the login failed"
    accounts.create_login(world, M, "app", password="Secret#1")
    events = settle_and_run(world, 20.0)
    assert world.clients["APP"].connected_to is None, "the login has another SID than the user"
    assert any(read_field(e, "number") == 4060 for e in events if e.kind == "client")
    accounts.alter_user(world, M, DB, "app", login="app")
    settle_and_run(world, 20.0)
    assert world.clients["APP"].connected_to == M


def test_transfer_logins_keeps_the_sid() -> None:
    world = build_lab()
    create_app_login(world)
    apply_lines(world, f"transfer-logins {P} {M}")
    fail_over(world)
    assert world.clients["APP"].connected_to == M


def test_transfer_logins_skips_a_login_with_another_sid() -> None:
    world = build_lab()
    create_app_login(world)
    accounts.create_login(world, M, "app")
    events = apply_lines(world, f"transfer-logins {P} {M}")
    assert any("not changed, because the SID differs: app" in e.text for e in events if e.kind == "chore")
    assert accounts.list_orphaned_users(world, M, DB)


def test_a_windows_login_has_the_same_sid_everywhere() -> None:
    world = build_lab()
    for server in (P, M):
        accounts.create_login(world, server, "CORP\\web", windows=True)
    sids = {require(world.instances[server].find_login("corp\\WEB")).sid for server in (P, M)}
    assert len(sids) == 1


def test_account_statements_are_refused() -> None:
    world = build_lab()
    accounts.create_login(world, P, "app")
    assert get_refusal_number(accounts.create_login, world, P, "APP") == 15025
    assert get_refusal_number(accounts.drop_login, world, P, "nobody") == 15151
    assert get_refusal_number(accounts.alter_login, world, P, "nobody", state="ENABLE") == 15151
    assert get_refusal_number(accounts.create_user, world, P, DB, "nobody") == 15007
    accounts.create_user(world, P, DB, "app")
    assert get_refusal_number(accounts.create_user, world, P, DB, "App") == 15023
    assert get_refusal_number(accounts.create_user, world, M, DB, "other", without_login=True) == 954
    assert get_refusal_number(accounts.alter_user, world, P, DB, "nobody", login="app") == 15151
    assert get_refusal_number(accounts.drop_user, world, P, DB, "nobody") == 15151
    accounts.drop_user(world, P, DB, "app")
    assert commits.list_database_users(world, P, DB) == ()


def test_master_keys_and_certificates_are_created() -> None:
    world = build_lab()
    assert get_refusal_number(accounts.create_certificate, world, P, "c", subject="s") == 15581
    accounts.create_master_key(world, P)
    assert get_refusal_number(accounts.create_master_key, world, P) == 15578
    accounts.create_certificate(world, P, "c", subject="s")
    assert get_refusal_number(accounts.create_certificate, world, P, "C", subject="s") == 15232
    assert get_refusal_number(accounts.drop_master_key, world, P) == 15580
    accounts.back_up_certificate(world, P, "c", "D:\\c.cer", "D:\\c.pvk")
    assert get_refusal_number(accounts.back_up_certificate, world, P, "c", "D:\\C.CER") == 15240, (
        "the file is there already"
    )
    assert get_refusal_number(accounts.back_up_certificate, world, P, "c", "Q:\\c.cer") == 15240, (
        "no such drive"
    )
    assert get_refusal_number(accounts.create_certificate, world, M, "c", file="D:\\c.cer") == 15208
    apply_lines(world, f"copy-file {P} {M} d:\\c.cer", f"copy-file {P} {M} D:\\c.pvk")
    assert (
        get_refusal_number(accounts.create_certificate, world, M, "c", file="D:\\c.cer", owner="nobody")
        == 15151
    )
    accounts.create_certificate(world, M, "theirs", file="D:\\c.cer")
    imported = security.find_certificate(world.instances[M], "theirs")
    assert imported is not None
    assert not imported.has_private_key
    assert get_refusal_number(accounts.create_certificate, world, M, "again", file="D:\\c.cer") == 15232
    accounts.drop_certificate(world, M, "theirs")
    accounts.create_certificate(world, M, "whole", file="D:\\c.cer", private_key_file="D:\\c.pvk")
    certificate = security.find_certificate(world.instances[M], "whole")
    assert certificate is not None
    assert certificate.has_private_key


@pytest.mark.parametrize(
    ("dates", "days"),
    [
        ({}, (0.0, 365.0)),
        ({"start_date": "20051023"}, (0.5, 365.5)),  # the lab's clock starts on 22 October 2005 at noon
        ({"expiry_date": "11/21/2005"}, (0.0, 29.5)),
    ],
)
def test_certificate_dates_are_checked(dates: dict[str, str], days: tuple[float, float]) -> None:
    world = build_lab()
    accounts.create_master_key(world, P)
    accounts.create_certificate(world, P, "c", **dates)
    certificate = security.find_certificate(world.instances[P], "c")
    assert certificate is not None
    assert (certificate.valid_from_tick / 8_640_000, certificate.expires_tick / 8_640_000) == days
    assert get_refusal_number(accounts.create_certificate, world, P, "d", expiry_date="soon") == 241
