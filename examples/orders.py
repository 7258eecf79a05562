"""An order desk to play against `mirrordrill serve app-real-program`: it enters an order every half second.

    python -m examples.orders --server 127.0.0.1:14331 --password PASSWORD
    python -m examples.orders --server 127.0.0.1:14331 --partner 127.0.0.1:14332 --password PASSWORD --retry

Without --retry it does as many programs do: it opens a connection when it starts, and shows an error for each order as
long as that connection is dead. With --retry it opens another, here and there in turn, and enters the same order again:
the number of an order is its own, so that an order of which only the answer was lost is not entered twice.

What it has suffered it writes down itself: a line of JSON an order, and, once it is let in again, a row of dbo.attempts
for each attempt that failed. Needs python-tds (pip install python-tds).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import Any

import pytds

PROGRAM = "orders"
"""The name in its logins, by which the drill knows it."""
TIMEOUT_S = 5.0
"""Of a login and of a command."""
TABLES = """
IF OBJECT_ID('dbo.orders') IS NULL CREATE TABLE dbo.orders (number int NOT NULL PRIMARY KEY, attempts int NOT NULL)
IF OBJECT_ID('dbo.attempts') IS NULL
CREATE TABLE dbo.attempts (number int NOT NULL, at_s float NOT NULL, error nvarchar(200) NOT NULL)
"""
ENTER = """
IF NOT EXISTS (SELECT * FROM dbo.orders WHERE number = {number}) INSERT dbo.orders VALUES ({number}, {attempts})
"""


class Desk:
    """Enters orders by one connection at a time."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._places = [options.server, *([options.partner] if options.partner else [])]
        self._options = options
        self._connection: Any = None
        self._begun = time.monotonic()
        self._failed: list[tuple[int, float, str]] = []
        """Attempts that are not yet in dbo.attempts: order, time, error."""

    @property
    def now_s(self) -> float:
        return time.monotonic() - self._begun

    def open(self) -> None:
        host, _, port = self._places[0].partition(":")
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
        """One order, until it is entered or, without --retry, has failed once."""
        begun, attempts = self.now_s, 0
        while True:
            attempts += 1
            try:
                if self._connection is None:
                    self.open()
                self._run(ENTER.format(number=number, attempts=attempts))
                self._write_down()
                return {"order": number, "attempts": attempts, "took_s": round(self.now_s - begun, 3)}
            except Exception as problem:  # whatever a driver makes of a server that is gone
                error = str(problem).splitlines()[0][:200] if str(problem) else type(problem).__name__
                self._failed.append((number, round(self.now_s, 3), error))
            if not self._options.retry:
                return {"order": number, "attempts": attempts, "error": error}
            self._connection = None
            self._places.append(self._places.pop(0))
            time.sleep(min(1.0, self._options.every))

    def _write_down(self) -> None:
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
    options.add_argument("--retry", action="store_true", help="open a new connection where one is dead")
    options.add_argument(
        "--every", type=float, default=0.5, metavar="S", help="seconds between two orders (0.5)"
    )
    options.add_argument("--first", type=int, default=1, metavar="N", help="number of the first order (1)")
    options.add_argument(
        "--seconds", type=float, default=1e6, metavar="S", help="how long (until it is stopped)"
    )
    desk, given = Desk(options.parse_args()), options.parse_args()
    number = given.first
    while desk.now_s < given.seconds:
        print(json.dumps(desk.enter(number)), flush=True)
        number += 1
        time.sleep(given.every)
    return 0


if __name__ == "__main__":
    sys.exit(main())
