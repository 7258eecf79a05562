"""Application with one connection by a Python driver of profiles.py: `python -m tests.drivers.follow DRIVER`."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import mssql_python
import mssql_python_odbc
import pymssql
import pyodbc
import pytds

ODBC: Final = next(
    file
    for file in (Path(mssql_python_odbc.__file__).parent / "libs").rglob("*")
    if file.name.startswith(("libmsodbcsql-18", "msodbcsql18.dll")) and "debian" in str(file)
)
"""Microsoft's ODBC Driver 18, included in mssql-python."""
PAUSE_S: Final = 0.1
"""Pause between two queries, and before the next login."""

ConnectionSettings = Mapping[str, str]
"""Connection settings: HOST, PORT and INSTANCE of the principal, PARTNER, PASSWORD, and TIMEOUT.

PARTNER is in the driver's notation; an empty text means no partner. TIMEOUT is the command timeout in
seconds; 0 means no timeout.
"""


def connect_by_pytds(settings: ConnectionSettings) -> Any:
    """Connect by instance names. The partner has the port of the first server."""
    target: dict[str, Any] = {"dsn": settings["HOST"], "port": int(settings["PORT"])}
    if settings["PARTNER"]:
        target = {"dsn": settings["INSTANCE"], "failover_partner": settings["PARTNER"]}
    return pytds.connect(**target, database="Sales", user="sa", password=settings["PASSWORD"], autocommit=True,
                         timeout=int(settings["TIMEOUT"]) or None)  # fmt: skip


def connect_by_pymssql(settings: ConnectionSettings) -> Any:
    return pymssql.connect(
        server=settings["HOST"],
        port=settings["PORT"],
        database="Sales",
        user="sa",
        password=settings["PASSWORD"],
        login_timeout=15,
        timeout=int(settings["TIMEOUT"]),
    )


def _build_odbc_string(settings: ConnectionSettings) -> str:
    partner = f"Failover_Partner={settings['PARTNER']};" if settings["PARTNER"] else ""
    return (f"Server={settings['HOST']},{settings['PORT']};Database=Sales;UID=sa;PWD={settings['PASSWORD']};Encrypt=no;"
            + partner)  # fmt: skip


def connect_by_pyodbc(settings: ConnectionSettings) -> Any:
    connection = pyodbc.connect(f"Driver={ODBC};{_build_odbc_string(settings)}", timeout=15, autocommit=True)
    connection.timeout = int(settings["TIMEOUT"])
    return connection


def connect_by_mssql_python(settings: ConnectionSettings) -> Any:
    connection = mssql_python.connect(_build_odbc_string({**settings, "PARTNER": ""}), autocommit=True)
    connection.timeout = int(settings["TIMEOUT"])
    return connection


DRIVERS: Final[Mapping[str, Callable[[ConnectionSettings], Any]]] = {
    "python-tds": connect_by_pytds,
    "pymssql": connect_by_pymssql,
    "pyodbc": connect_by_pyodbc,
    "mssql-python": connect_by_mssql_python,
}


def follow_failover(
    connect: Callable[[], Any], report_ready: Callable[[], object], should_stop: Callable[[], bool]
) -> str:
    """Query the server's name repeatedly until another server answers, and return the name of that server.

    Log in again after each failure. Call *report_ready* after the first answer. Return an empty text if
    *should_stop* is true first.
    """
    connection, first = connect(), ""
    while not should_stop():
        try:
            connection = connection or connect()
            cursor = connection.cursor()
            cursor.execute("SELECT @@SERVERNAME")
            (name,) = cursor.fetchone()
            if first and name != first:
                return str(name)
            if not first:
                first = name
                report_ready()
        except Exception:
            connection = None
        time.sleep(PAUSE_S)
    return ""


def main() -> None:
    connect = DRIVERS[sys.argv[1]]
    name = follow_failover(lambda: connect(os.environ), lambda: print("ready", flush=True), lambda: False)
    print(f"back\t{name}", flush=True)
    os._exit(0)  # A connection to a silent server would keep the process running.


if __name__ == "__main__":
    main()
