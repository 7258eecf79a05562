"""Behavior of drivers at a failover, as data: each value is measured or documented, with its source.

Measured values are from real drivers on Linux. They connected to `mirrordrill serve`, which reported a
failover partner at each login. The measurement stopped a service, or powered off a computer, with a command
timeout of five seconds. `make drivers` repeats the measurement (tests/drivers/profiles.py) and compares the
results.
"""

import math
import tomllib
from importlib import resources
from typing import Final

from msgspec import Struct

from engine.constants import CLIENT_ATTEMPT_TIMEOUT_SHARE, HARD_ERROR_DETECTION_RANGE_S
from engine.model import Client, World

LINUX_TCP_TIMEOUT_S: Final = 924.6
"""Time until Linux closes an open connection with unacknowledged data: fifteen retransmissions
(tcp_retries2).

Documented in the Linux kernel (ip-sysctl).
"""


class Driver(Struct, frozen=True, kw_only=True):
    """Behavior of a driver: its use of a connection string, and its reaction to a lost server."""

    title: str
    uses_failover_partner: bool
    """True if the driver uses Failover Partner from the connection string at the first login."""
    uses_reported_partner: bool
    """True if the driver, after a failed login, tries the partner that the server reported at an earlier login."""
    prefers_reported_partner: bool = False
    """True if the partner that the server reported replaces the partner in the connection string."""
    partner_pause_s: float = 0.0
    """Pause before the first attempt at the partner in the connection string, in seconds."""
    full_timeout_per_server: bool = False
    """True if the driver waits for the full login timeout at each server. False: it uses the time slices of
    the documented algorithm.
    """
    gives_up_after: float = 1.0
    """Number of command timeouts after which the driver drops a silent server. It may exceed 1 because the
    driver's cancel request also waits for an answer.

    Infinite: the driver waits until TCP gives up.
    """
    cancel_wait_s: float = 0.0
    """Time for which a cancel request waits for its answer, independently of the command timeout."""
    command_timeout_s: float = 0.0
    """Default command timeout, used if the application sets none. 0 means no command timeout, so TCP decides."""
    source: str


_TEXT: Final = resources.files("engine.protocol").joinpath("drivers.toml").read_text(encoding="utf-8")
DRIVERS: Final = {name: Driver(**fields) for name, fields in tomllib.loads(_TEXT).items()}
"""Drivers by the name that scenarios use. A client without a driver follows only the documented algorithm."""


def get_second_server_name(client: Client) -> str:
    """Return the name of the second server that the driver tries.

    By the documented algorithm, the partner that the server reported replaces the partner in the connection
    string [DOC: retry algorithm]. A driver that knows no partner tries the first server again.
    """
    driver = DRIVERS.get(client.driver)
    own_partner = client.failover_partner if driver is None or driver.uses_failover_partner else None
    reported = client.known_partner if driver is None or driver.uses_reported_partner else None
    candidates = (
        [reported, own_partner]
        if driver is None or driver.prefers_reported_partner
        else [own_partner, reported]
    )
    return candidates[0] or candidates[1] or client.data_source


def refuses_partner(client: Client, reported: str | None) -> bool:
    """Return whether the driver refuses the login because of a failover partner.

    This happens with MultiSubnetFailover=True. *reported*: partner that the server reports, or None. A
    partner in the connection string counts, too. [DOC: SqlClient high availability]
    """
    driver = DRIVERS.get(client.driver)
    if not client.multi_subnet or (driver is not None and not driver.uses_reported_partner):
        return False
    return reported is not None or bool(client.failover_partner)


def get_partner_pause_s(client: Client) -> float:
    """Return the pause between the first attempt of a login and the attempt at the partner."""
    driver = DRIVERS.get(client.driver)
    if driver is None or client.attempt > 0 or not client.failover_partner:
        return 0.0
    return driver.partner_pause_s


def get_login_max_s(client: Client) -> float:
    """Return the maximum duration of a login before the application receives its error."""
    return client.login_timeout_s * (2 if _has_full_timeout_per_server(client) else 1)


def get_attempt_timeout_s(client: Client) -> float:
    """Return the time for which the next attempt waits for a silent server [DOC: retry algorithm]."""
    if _has_full_timeout_per_server(client):
        return client.login_timeout_s
    return client.login_timeout_s * CLIENT_ATTEMPT_TIMEOUT_SHARE * (client.attempt // 2 + 1)


def _has_full_timeout_per_server(client: Client) -> bool:
    driver = DRIVERS.get(client.driver)
    return (
        driver is not None
        and driver.full_timeout_per_server
        and get_second_server_name(client) != client.data_source
    )


def compute_notice_delay_s(world: World, client: Client, hung: bool) -> float | None:
    """Return the time until the application notices that a connection is dead.

    None means that it notices this only if the server answers again. *hung*: the computer still acknowledges
    packets, but its instance does not read them.
    """
    driver = DRIVERS.get(client.driver)
    if driver is None and client.command_timeout_s is None:
        return client.login_timeout_s if hung else world.chance.draw_uniform(*HARD_ERROR_DETECTION_RANGE_S)
    limit_s = get_command_timeout_s(client)
    times = driver.gives_up_after if driver is not None else 1.0
    if not limit_s or math.isinf(times):
        return None if hung else LINUX_TCP_TIMEOUT_S
    return limit_s * times + (driver.cancel_wait_s if driver is not None else 0.0)


def get_command_timeout_s(client: Client) -> float:
    """Return the command timeout of the application or of its driver; 0 means none."""
    driver = DRIVERS.get(client.driver)
    default_s = driver.command_timeout_s if driver is not None else 0.0
    return default_s if client.command_timeout_s is None else client.command_timeout_s
