"""Order entry program for `mirrordrill serve app-real-program`. It enters an order every half second.

    python -m examples.orders --server 127.0.0.1:14331 --password PASSWORD
    python -m examples.orders --server 127.0.0.1:14331 --partner 127.0.0.1:14332 --password PASSWORD --retry

Without --retry, it opens one connection at its start, as many programs do. When this connection is lost, every order
fails. With --retry, it opens a new connection, alternately to both servers, and repeats the order. Each order has its
own number, so an order whose answer was lost is not entered twice.

It prints a line of JSON for each order. After a reconnection it writes a row of dbo.attempts for each failed attempt.
It needs python-tds (pip install python-tds).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import Any

import pytds

PROGRAM = "orders"
"""Application name in its logins. The drill recognizes the program by this name."""
TIMEOUT_S = 5.0
"""Timeout of a login and of a command."""
TABLES = """
IF OBJECT_ID('dbo.orders') IS NULL CREATE TABLE dbo.orders (number int NOT NULL PRIMARY KEY, attempts int NOT NULL)
IF OBJECT_ID('dbo.attempts') IS NULL
CREATE TABLE dbo.attempts (number int NOT NULL, at_s float NOT NULL, error nvarchar(200) NOT NULL)
"""
ENTER = """
IF NOT EXISTS (SELECT * FROM dbo.orders WHERE number = {number}) INSERT dbo.orders VALUES ({number}, {attempts})
"""


class OrderEntry:
    """Entry of orders over one connection at a time."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._addresses = [options.server, *([options.partner] if options.partner else [])]
        self._options = options
        self._connection: Any = None
        self._begun = time.monotonic()
        self._failed: list[tuple[int, float, str]] = []
        """Failed attempts that are not yet in dbo.attempts: order, time, error."""

    @property
    def now_s(self) -> float:
        return time.monotonic() - self._begun

    def open(self) -> None:
        host, _, port = self._addresses[0].partition(":")
        self._connection = pytds.connect(
            dsn=host, port=int(port), database=self._options.database, user=self._options.user,
            password=self._options.password, appname=PROGRAM, autocommit=True,
            login_timeout=TIMEOUT_S, timeout=TIMEOUT_S, disable_connect_retry=True,
        )  # fmt: skip
        self._run(TABLES)

    def _run(self, text: str) -> None:
        with self._connection.cursor() as cursor:
            cursor.execute(text)

    def enter(self, number: int) -> dict[str, object]:
        """Enter one order. Return when it is entered or, without --retry, when it has failed once."""
        begun, attempts = self.now_s, 0
        while True:
            attempts += 1
            try:
                if self._connection is None:
                    self.open()
                self._run(ENTER.format(number=number, attempts=attempts))
                self._store_failed_attempts()
                return {"order": number, "attempts": attempts, "took_s": round(self.now_s - begun, 3)}
            except Exception as problem:  # drivers raise different errors for a lost server
                error = str(problem).splitlines()[0][:200] if str(problem) else type(problem).__name__
                self._failed.append((number, round(self.now_s, 3), error))
            if not self._options.retry:
                return {"order": number, "attempts": attempts, "error": error}
            self._connection = None
            self._addresses.append(self._addresses.pop(0))
            time.sleep(min(1.0, self._options.every))

    def _store_failed_attempts(self) -> None:
        while self._failed:
            number, at_s, error = self._failed[0]
            quoted = error.replace("'", "''")
            self._run(f"INSERT dbo.attempts VALUES ({number}, {at_s}, N'{quoted}')")
            del self._failed[0]


def main() -> int:
    options = argparse.ArgumentParser(
        prog="python -m examples.orders", description=(__doc__ or "").partition("\n")[0]
    )
    options.add_argument("--server", required=True, metavar="HOST:PORT")
    options.add_argument("--partner", metavar="HOST:PORT", help="the other server of the mirroring session")
    options.add_argument("--user", default="sa")
    options.add_argument("--password", required=True)
    options.add_argument("--database", default="Orders")
    options.add_argument("--retry", action="store_true", help="open a new connection when one is lost")
    options.add_argument(
        "--every", type=float, default=0.5, metavar="S", help="seconds between two orders (default: 0.5)"
    )
    options.add_argument(
        "--first", type=int, default=1, metavar="N", help="number of the first order (default: 1)"
    )
    options.add_argument(
        "--seconds", type=float, default=1e6, metavar="S", help="duration (default: until it is stopped)"
    )
    arguments = options.parse_args()
    order_entry, number = OrderEntry(arguments), arguments.first
    while order_entry.now_s < arguments.seconds:
        print(json.dumps(order_entry.enter(number)), flush=True)
        number += 1
        time.sleep(arguments.every)
    return 0


if __name__ == "__main__":
    sys.exit(main())
