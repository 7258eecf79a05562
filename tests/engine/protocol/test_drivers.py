"""Failovers for each driver: measured times, and failovers after which the driver does not reconnect."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from engine import simulator
from engine.drill.authoring.quantities import QUANTITIES
from engine.inputs import InputError
from engine.model import World
from engine.protocol.drivers import DRIVERS, LINUX_TCP_TIMEOUT_S, get_command_timeout_s
from engine.verbs.input_lines import parse_input_line
from tests.engine.worlds import M, P, apply_lines, build_lab
from tests.events import read_field

NEVER = None


def build_world_with_driver(
    driver: str, has_partner: bool = True, command_timeout_s: float | None = None
) -> World:
    world = build_lab()
    world.clients["APP"] = replace(
        world.clients["APP"],
        driver=driver,
        failover_partner=M if has_partner else None,
        known_partner=M,
        command_timeout_s=command_timeout_s,
    )
    return world


def measure_reconnection_s(world: World, fault: str, within_s: float = 60.0) -> float | None:
    """Return the seconds from *fault* until the application connects to the other server; None if it does not
    connect.
    """
    start_tick = world.tick
    for event in apply_lines(world, fault, wait_s=within_s):
        if event.kind == "client" and read_field(event, "what") == "connected" and event.server == M:
            return (event.tick - start_tick) / 100
    return None


# Seconds from the stop of a service to the login at the partner, as measured; the mirror was online after 9.2
# s. Columns: driver, whether the connection string names the partner (otherwise only the server does),
# seconds.
SERVICE_STOP_TIMES = [
    ("sqlclient", True, 9.5),
    ("sqlclient", False, 9.5),
    ("odbc-18", True, 9.5),
    ("odbc-18", False, 9.5),
    ("jdbc", True, 10.0),
    ("jdbc", False, 9.2),
    ("jdbc-old", True, 9.2),
    ("mssql-python", False, 9.5),
    ("go-mssqldb", True, 9.0),
    ("go-mssqldb", False, NEVER),
    ("python-tds", True, 9.3),
    ("python-tds", False, NEVER),
    ("tedious", True, NEVER),
    ("freetds", True, NEVER),
]


@pytest.mark.parametrize(("driver", "has_partner", "measured_s"), SERVICE_STOP_TIMES)
def test_drivers_handle_a_stopped_service(driver: str, has_partner: bool, measured_s: float | None) -> None:
    world = build_world_with_driver(driver, has_partner)
    start_tick = world.tick
    delay_s = measure_reconnection_s(world, f"stop-service {P}")
    if measured_s is None:
        assert delay_s is None
        return
    assert delay_s is not None
    online = world.failovers[-1].online_tick
    assert online is not None
    open_s = (online - start_tick) / 100
    behind_s = delay_s - open_s
    if (
        driver == "jdbc" and has_partner
    ):  # the driver waits ten seconds before it tries the partner, which is online by then
        assert 10.0 <= delay_s < 11.5
    else:
        assert 0.0 <= behind_s < 1.6


# Seconds from the loss of power to the login at the partner, as measured. Columns: driver, whether the
# connection string names the partner, command timeout in seconds, seconds.
POWER_LOSS_TIMES = [
    ("sqlclient", True, 5.0, 7.5),
    ("odbc-18", False, 5.0, 16.4),
    ("odbc-18", False, 8.0, 25.5),
    ("mssql-python", False, 5.0, NEVER),
    ("jdbc-old", True, 5.0, 6.4),
    ("jdbc", True, 5.0, 16.4),
    ("jdbc", False, 5.0, 5.8),
    ("go-mssqldb", True, 5.0, 25.3),
    ("go-mssqldb", True, 8.0, 28.3),
    ("go-mssqldb", False, 5.0, NEVER),
    ("python-tds", True, 5.0, 5.1),
    ("tedious", True, 5.0, NEVER),
    ("freetds", True, 5.0, NEVER),
]


def test_each_profile_matches_its_measurement_and_names_the_version() -> None:
    for measured in (SERVICE_STOP_TIMES, POWER_LOSS_TIMES):
        assert {driver for driver, *_ in measured} == DRIVERS.keys()
    assert [name for name, driver in DRIVERS.items() if "measured with " not in driver.source] == []


@pytest.mark.parametrize(("driver", "has_partner", "timeout_s", "measured_s"), POWER_LOSS_TIMES)
def test_drivers_handle_a_computer_without_power(
    driver: str, has_partner: bool, timeout_s: float, measured_s: float | None
) -> None:
    delay_s = measure_reconnection_s(
        build_world_with_driver(driver, has_partner, timeout_s), f"power-off {P}"
    )
    if measured_s is None:
        assert delay_s is None
    else:
        assert delay_s == pytest.approx(measured_s, abs=2.0)


def test_without_a_setting_the_command_timeout_of_the_driver_applies() -> None:
    assert measure_reconnection_s(build_world_with_driver("sqlclient"), f"power-off {P}") == pytest.approx(
        31.5, abs=1.6
    )


def test_without_a_timeout_tcp_gives_up_after_fifteen_minutes() -> None:
    world = build_world_with_driver("odbc-18")
    assert measure_reconnection_s(world, f"power-off {P}", within_s=900.0) is None
    delay_s = measure_reconnection_s(world, "note still waiting", within_s=60.0)
    assert delay_s is not None
    assert 900.0 + delay_s == pytest.approx(LINUX_TCP_TIMEOUT_S, abs=5.0)


def test_an_application_without_retry_stays_disconnected() -> None:
    world = build_world_with_driver("sqlclient")
    world.clients["APP"] = replace(world.clients["APP"], reconnects=False)
    assert measure_reconnection_s(world, f"stop-service {P}", within_s=120.0) is None
    apply_lines(world, "start-app APP", wait_s=5.0)
    assert world.clients["APP"].connected_to == M


def test_settings_of_an_application_are_changed_by_keyword() -> None:
    world = build_world_with_driver("tedious")
    apply_lines(world, "stop-service " + P, wait_s=60.0)
    assert world.clients["APP"].connected_to is None
    apply_lines(
        world,
        f"configure-app APP Data Source={M.lower()};Failover Partner=NOWHERE;Command Timeout=7;Retry=no",
        wait_s=5.0,
    )
    app = world.clients["APP"]
    assert (app.connected_to, app.failover_partner, app.command_timeout_s) == (M, "NOWHERE", 7.0)
    assert not app.reconnects
    for bad_option in ("Color=red", "Retry=perhaps", "Command Timeout=soon"):
        with pytest.raises(InputError):
            simulator.apply_input(world, parse_input_line(f"configure-app APP {bad_option}", world.tick))
    assert world.clients["APP"] == app


def test_conditions_evaluate_errors_of_an_application() -> None:
    world = build_world_with_driver("tedious")
    app = world.clients["APP"]
    assert get_command_timeout_s(app) == 15.0
    assert get_command_timeout_s(replace(app, command_timeout_s=0.0)) == 0.0
    facts: Any = SimpleNamespace(world=world)
    quantities = {name: QUANTITIES[name].read(facts, "APP") for name in ("command_timeout_s", "by_listener")}
    assert quantities == {"command_timeout_s": 15.0, "by_listener": 0.0}
