"""An application with one connection by a driver of Python (profiles.py): `python -m tests.drivers.follow DRIVER`."""

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
"""Microsoft's ODBC driver 18, which mssql-python brings along."""
PAUSE_S: Final = 0.1
"""Between two questions, and before the next login."""

Asked = Mapping[str, str]
"""HOST, PORT and INSTANCE of the principal, PARTNER as the driver takes it (empty: none), PASSWORD, TIMEOUT in seconds
of a command (0: none)."""


def by_pytds(asked: Asked) -> Any:
    """A partner has the port of the first server, so that both go by the name of their instance."""
    there: dict[str, Any] = {"dsn": asked["HOST"], "port": int(asked["PORT"])}
    if asked["PARTNER"]:
        there = {"dsn": asked["INSTANCE"], "failover_partner": asked["PARTNER"]}
    return pytds.connect(**there, database="Sales", user="sa", password=asked["PASSWORD"], autocommit=True,
                         timeout=int(asked["TIMEOUT"]) or None)  # fmt: skip


def by_pymssql(asked: Asked) -> Any:
    return pymssql.connect(server=asked["HOST"], port=asked["PORT"], database="Sales", user="sa",
                           password=asked["PASSWORD"], login_timeout=15, timeout=int(asked["TIMEOUT"]))  # fmt: skip


def _odbc(asked: Asked) -> str:
    partner = f"Failover_Partner={asked['PARTNER']};" if asked["PARTNER"] else ""
    return (f"Server={asked['HOST']},{asked['PORT']};Database=Sales;UID=sa;PWD={asked['PASSWORD']};Encrypt=no;"
            + partner)  # fmt: skip


def by_pyodbc(asked: Asked) -> Any:
    connection = pyodbc.connect(f"Driver={ODBC};{_odbc(asked)}", timeout=15, autocommit=True)
    connection.timeout = int(asked["TIMEOUT"])
    return connection


def by_mssql_python(asked: Asked) -> Any:
    connection = mssql_python.connect(_odbc({**asked, "PARTNER": ""}), autocommit=True)
    connection.timeout = int(asked["TIMEOUT"])
    return connection


DRIVERS: Final[Mapping[str, Callable[[Asked], Any]]] = {
    "python-tds": by_pytds,
    "pymssql": by_pymssql,
    "pyodbc": by_pyodbc,
    "mssql-python": by_mssql_python,
}


def follow(connect: Callable[[], Any], ready: Callable[[], object], over: Callable[[], bool]) -> str:
    """Ask for the server's name, and log in anew after each failure, until another server answers: its name.
    Empty if it is *over* before."""
    connection, first = connect(), ""
    while not over():
        try:
            connection = connection or connect()
            cursor = connection.cursor()
            cursor.execute("SELECT @@SERVERNAME")
            (name,) = cursor.fetchone()
            if first and name != first:
                return str(name)
            if not first:
                first = name
                ready()
        except Exception:
            connection = None
        time.sleep(PAUSE_S)
    return ""


def main() -> None:
    connect = DRIVERS[sys.argv[1]]
    name = follow(lambda: connect(os.environ), lambda: print("ready", flush=True), lambda: False)
    print(f"back\t{name}", flush=True)
    os._exit(0)  # a connection to a server that is silent would keep it


if __name__ == "__main__":
    main()
