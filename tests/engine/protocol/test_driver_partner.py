"""Drivers with a partner in the connection string, at a server that reports no partner.

Sources: SqlClient `LoginWithFailover`, and mssql-jdbc.
"""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from engine.events import Event
from engine.model import World
from tests.engine.worlds import DB, M, P, apply_lines, build_lab

SET_PARTNER_OFF = f"sql {M} ALTER DATABASE {DB} SET PARTNER OFF"
RESTORE_WITH_RECOVERY = f"sql {M} RESTORE DATABASE {DB} WITH RECOVERY"
FORCE_SERVICE = f"sql {M} ALTER DATABASE {DB} SET PARTNER FORCE_SERVICE_ALLOW_DATA_LOSS"
REFUSAL_TEXT = f"APP: Server {M}, database {DB} is not configured for database mirroring."


def find_app_server(world: World) -> str | None:
    return world.clients["APP"].connected_to


def list_client_texts(events: list[Event]) -> list[str]:
    return [event.text for event in events if event.kind == "client"]


def recover_principal() -> tuple[World, list[Event]]:
    world = build_lab(witness=False)
    apply_lines(world, f"power-off {P}")
    apply_lines(world, SET_PARTNER_OFF, wait_s=2.0)
    return world, apply_lines(world, RESTORE_WITH_RECOVERY, wait_s=120.0)


def test_a_recovered_former_mirror_is_refused_once() -> None:
    world, events = recover_principal()
    assert find_app_server(world) is None
    assert list_client_texts(events).count(REFUSAL_TEXT) == 1
    assert world.clients["APP"].failed_logins > 10


def test_a_new_connection_string_reconnects_the_application() -> None:
    world, _ = recover_principal()
    apply_lines(world, f"point-app APP {M}", wait_s=10.0)
    assert find_app_server(world) == M


def test_forced_service_needs_no_new_connection_string() -> None:
    world = build_lab(witness=False)
    apply_lines(world, f"power-off {P}")
    events = apply_lines(world, FORCE_SERVICE, wait_s=60.0)
    assert find_app_server(world) == M
    assert REFUSAL_TEXT not in list_client_texts(events)


def test_the_first_server_of_the_connection_string_may_be_without_mirroring() -> None:
    world = build_lab(witness=False)
    apply_lines(world, f"sql {P} ALTER DATABASE {DB} SET PARTNER OFF", wait_s=5.0)
    apply_lines(world, f"restart-service {P}", wait_s=60.0)
    assert find_app_server(world) == P


def test_an_open_connection_outlives_the_session() -> None:
    world = build_lab()
    apply_lines(world, f"power-off {P}", wait_s=40.0)
    assert find_app_server(world) == M
    apply_lines(world, SET_PARTNER_OFF, wait_s=60.0)
    assert find_app_server(world) == M, "what is connected stays connected"
    apply_lines(world, f"restart-service {M}", wait_s=90.0)
    assert find_app_server(world) is None, "a new login by the partner's name is refused"


@pytest.mark.parametrize(
    ("driver", "partner", "restarts", "found"),
    [
        ("sqlclient", "NOWHERE", False, M),  # the reported name replaces the wrong one
        ("sqlclient", "NOWHERE", True, None),  # a new process knows only its connection string
        ("sqlclient", "", False, M),
        ("sqlclient", "", True, None),
        ("sqlclient", M, True, M),
        ("python-tds", "NOWHERE", False, None),  # this driver ignores the reported name
        ("odbc-18", "NOWHERE", False, M),
        ("jdbc", "NOWHERE", False, None),  # the first login stores the name in the connection string
    ],
)
def test_the_reported_partner_replaces_the_name_in_the_connection_string(
    driver: str, partner: str, restarts: bool, found: str | None
) -> None:
    """Check documented behavior: [DOC: retry algorithm]."""
    world = build_lab()
    world.clients["APP"] = replace(world.clients["APP"], driver=driver)
    apply_lines(world, f"configure-app APP Data Source={P};Failover Partner={partner}", wait_s=20.0)
    apply_lines(world, f"stop-service {P}", wait_s=90.0)
    if restarts:
        apply_lines(world, "stop-app APP", "start-app APP", wait_s=60.0)
    assert find_app_server(world) == found
    apply_lines(world, f"restart-service {M}", wait_s=90.0)
    assert find_app_server(world) == found, "the driver still knows the partner"


@pytest.mark.parametrize(
    ("driver", "partner", "found"), [("sqlclient", M, None), ("jdbc", "", None), ("python-tds", "", P)]
)
def test_multi_subnet_failover_excludes_mirroring(driver: str, partner: str, found: str | None) -> None:
    """Check documented behavior: [DOC: SqlClient high availability]."""
    world = build_lab()
    world.clients["APP"] = replace(world.clients["APP"], driver=driver)
    apply_lines(world, f"configure-app APP Failover Partner={partner}", wait_s=5.0)
    events = apply_lines(world, "connect-string APP MultiSubnetFailover=True", wait_s=20.0)
    assert find_app_server(world) == found
    refusals = [text for text in list_client_texts(events) if "MultiSubnetFailover connection option" in text]
    assert len(refusals) == (found is None)
