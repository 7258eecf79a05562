"""Behavior of drivers at a failover, as data: each value is measured or documented, with its source.

Measured: real drivers on Linux against `mirrordrill serve`, which reported its partner at each login. The test
stopped a service, or powered off a computer, with a command timeout of five seconds. `make drivers` repeats the
measurement (tests/drivers/profiles.py) and compares.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from engine.constants import CLIENT_RETRY_SHARE, HARD_ERROR_S
from engine.model import Client, World

LINUX_TCP_S: Final = 924.6
"""Time until a driver drops unacknowledged data on an open connection: fifteen retransmissions (tcp_retries2).

Documented in the Linux kernel (ip-sysctl).
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Driver:
    """Response of a driver to a connection string and to a lost server."""

    title: str
    given: bool
    """True if the driver uses Failover Partner of the connection string at the first login."""
    told: bool
    """True if the driver tries the partner that the server reported at a login when the next login fails."""
    partner_pause_s: float = 0.0
    """Pause before the first attempt at a partner from the connection string."""
    whole: bool = False
    """True if each server gets the whole login timeout once; otherwise slices of the documented algorithm."""
    gives_up_after: float | None = 1.0
    """Number of command timeouts until the driver drops a silent server; its cancel request also waits for an answer.

    None: as long as TCP waits.
    """
    cancel_wait_s: float = 0.0
    """Wait for the answer to a cancel request, independent of the command timeout."""
    command_timeout_s: float = 0.0
    """Command timeout unless the application sets one; 0 means none, so TCP decides."""
    source: str


DRIVERS: Final = {
    "sqlclient": Driver(
        title="SqlClient",
        given=True,
        told=True,
        command_timeout_s=30.0,
        source="[DOC: retry algorithm], [DOC: SqlCommand.CommandTimeout]; measured with that of Mono 6.8, Microsoft's "
        "own source",
    ),
    "odbc-18": Driver(
        title="ODBC Driver 18",
        given=False,
        told=True,
        gives_up_after=3.0,
        source="measured with 18.6 on Linux: Failover_Partner is ignored at the first login, the partner that the "
        "server tells is tried; with query and connection time-out, as pyodbc sets them, a silent server is given up "
        "after three times as long (5 s and 8 s were tried); no query time-out [DOC: SQLSetStmtAttr]",
    ),
    "mssql-python": Driver(
        title="mssql-python",
        given=False,
        told=True,
        gives_up_after=None,
        source="measured with 1.16: no keyword for a partner, the one that the server tells is tried; its time-out of "
        "a query alone waits without end for a silent server's answer to the cancelling",
    ),
    "jdbc-old": Driver(
        title="JDBC driver before connectRetryCount",
        given=True,
        told=True,
        source="[DOC: retry algorithm]; measured with 8.4; no time-out of a query or socket [DOC: JDBC timeouts]",
    ),
    "jdbc": Driver(
        title="JDBC driver 13.6",
        given=True,
        told=True,
        partner_pause_s=10.0,
        source="measured with 13.6: sleeps connectRetryInterval (10 s) before a failoverPartner, not before one that "
        "the server tells; queryTimeout -1, socketTimeout 0 [DOC: JDBC timeouts]",
    ),
    "go-mssqldb": Driver(
        title="go-mssqldb",
        given=True,
        told=False,
        whole=True,
        cancel_wait_s=5.0,
        source="measured with 1.11: failoverpartner is tried after the whole dial timeout, what the server tells is "
        "ignored; 5 s for the answer to a cancelling; deadlines are the application's",
    ),
    "python-tds": Driver(
        title="python-tds",
        given=True,
        told=False,
        source="measured with 1.17: failover_partner is tried, what the server tells only logged; no time-out",
    ),
    "tedious": Driver(
        title="tedious",
        given=False,
        told=False,
        command_timeout_s=15.0,
        source="measured with 19.2: an event tells the partner, nothing follows it; requestTimeout 15 s "
        "stands in its source, connection.ts",
    ),
    "freetds": Driver(
        title="FreeTDS, jTDS, tiberius",
        given=False,
        told=False,
        source="measured with pymssql 2.4 and jTDS 1.3: what the server tells is not followed; nothing about partners "
        "found in their sources or documentation",
    ),
}
"""Drivers by the name in a scenario. A client without a driver follows the documented algorithm alone."""


def partner(client: Client) -> str:
    """Return the second name that the driver tries; without one, the first name again."""
    driver = DRIVERS.get(client.driver)
    given = client.failover_partner if driver is None or driver.given else None
    told = client.known_partner if driver is None or driver.told else None
    return given or told or client.data_source


def partner_pause_s(client: Client) -> float:
    """Return the pause between the first attempt of a login and the attempt at the partner."""
    driver = DRIVERS.get(client.driver)
    if driver is None or client.attempt > 0 or not client.failover_partner:
        return 0.0
    return driver.partner_pause_s


def login_s(client: Client) -> float:
    """Return the longest time that a login takes until the application receives its error."""
    return client.login_timeout_s * (2 if _gives_full_timeout(client) else 1)


def slice_s(client: Client) -> float:
    """Return the time that the next attempt waits for a silent server [DOC: retry algorithm]."""
    if _gives_full_timeout(client):
        return client.login_timeout_s
    return client.login_timeout_s * CLIENT_RETRY_SHARE * (client.attempt // 2 + 1)


def _gives_full_timeout(client: Client) -> bool:
    driver = DRIVERS.get(client.driver)
    return driver is not None and driver.whole and partner(client) != client.data_source


def notices_s(world: World, client: Client, hung: bool) -> float | None:
    """Return the time until the application learns that a connection is dead; None if only the reconnect shows it.

    *hung*: the computer still acknowledges packets that its instance does not read.
    """
    driver = DRIVERS.get(client.driver)
    if driver is None and client.command_timeout_s is None:
        return client.login_timeout_s if hung else world.chance.uniform(*HARD_ERROR_S)
    limit_s = command_timeout_s(client)
    times = driver.gives_up_after if driver is not None else 1.0
    if not limit_s or times is None:
        return None if hung else LINUX_TCP_S
    return limit_s * times + (driver.cancel_wait_s if driver is not None else 0.0)


def command_timeout_s(client: Client) -> float:
    """Return the command timeout of the application or of its driver; 0 means none."""
    driver = DRIVERS.get(client.driver)
    own = driver.command_timeout_s if driver is not None else 0.0
    return own if client.command_timeout_s is None else client.command_timeout_s
