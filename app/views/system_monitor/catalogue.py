"""Counters as Windows and SQL Server name them, and how each comes from what the flow model samples. No Qt.

Names and meanings: facts 2.7. A counter of the other partner stays 0, as in the product. The values are those of
sys.dm_os_performance_counters (a test compares), rates taken per second.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

import numpy as np
import numpy.typing as npt

from app.words.language import mark

Array = npt.NDArray[np.float64]
Get = Callable[[str], Array]
"""Name of a sampled counter -> its values."""


class LogRole(IntEnum):
    """Role of a server for a log at one time."""

    NONE = 0  # the counter exists, but no log moves for this copy
    OWNER = 1  # principal, or a database without a mirror
    MIRROR = 2
    AWAY = -1  # the server does not respond


MIRRORING, DATABASES, PROCESSOR = "Database Mirroring", "Databases", "Processor"
OBJECTS: Final = {
    MIRRORING: "SQLServer:Database Mirroring",
    DATABASES: "SQLServer:Databases",
    PROCESSOR: "Processor",
}
"""Object -> how System Monitor writes it."""

BYTES_PER_KB: Final = 1024.0
TOP: Final = 100.0
"""Every line is drawn between 0 and this, whatever its counter measures."""
FIRST_NEW_VERSION: Final = 2008


@dataclass(frozen=True, slots=True)
class Perf:
    """One counter of an object; *owner* and *mirror* make its values on either side."""

    group: str
    name: str
    help: str
    owner: Callable[[Get, float], Array] | None = None
    mirror: Callable[[Get, float], Array] | None = None
    since: int = 2005

    def values(self, role: LogRole, get: Get, compression: float) -> Array | None:
        """Return values on one side; None where the counter stays 0. *compression*: wire bytes per byte of log."""
        make = {LogRole.OWNER: self.owner, LogRole.MIRROR: self.mirror}.get(role)
        return make(get, compression) if make is not None else None


def _sampled(name: str, factor: float = 1.0) -> Callable[[Get, float], Array]:
    return lambda get, compression: get(name) * factor


def _compressed(name: str) -> Callable[[Get, float], Array]:
    return lambda get, compression: get(name) * BYTES_PER_KB * compression


def _waiting(get: Get, compression: float) -> Array:
    """Return the transactions that waited for the mirror."""
    return np.where(get("commit_delay_ms") > 0.0, get("transactions_per_s"), 0.0)


def _delay(get: Get, compression: float) -> Array:
    """Return milliseconds of waiting in a second, over all transactions."""
    return get("commit_delay_ms") * get("transactions_per_s")


def _percent_used(get: Get, compression: float) -> Array:
    return 100.0 * get("log_used_kb") / np.maximum(1.0, get("log_size_kb"))


_SENT, _REDONE, _MESSAGES = "log_send_kb_per_s", "redo_kb_per_s", "sends_per_s"
_NEW: Final = FIRST_NEW_VERSION

PERFS: Final = (
    Perf(MIRRORING, "Bytes Received/sec", mark("bytes from the partner"), None, _compressed(_SENT)),
    Perf(MIRRORING, "Bytes Sent/sec", mark("bytes to the partner"), _compressed(_SENT)),
    Perf(MIRRORING, "Log Bytes Received/sec", mark("log from the principal"), None, _sampled(_SENT, BYTES_PER_KB)),
    Perf(MIRRORING, "Log Bytes Redone from Cache/sec", mark("log redone from memory"), None,
         _sampled(_REDONE, BYTES_PER_KB), _NEW),
    Perf(MIRRORING, "Log Bytes Sent from Cache/sec", mark("log sent from memory"),
         _sampled(_SENT, BYTES_PER_KB), None,
         _NEW),
    Perf(MIRRORING, "Log Bytes Sent/sec", mark("log to the mirror"), _sampled(_SENT, BYTES_PER_KB)),
    Perf(MIRRORING, "Log Compressed Bytes Rcvd/sec", mark("compressed log from the principal"),
         None, _compressed(_SENT),
         _NEW),
    Perf(MIRRORING, "Log Compressed Bytes Sent/sec", mark("compressed log to the mirror"),
         _compressed(_SENT), None, _NEW),
    Perf(MIRRORING, "Log Send Queue KB", mark("log not yet sent to the mirror"), _sampled("send_queue_kb")),
    Perf(MIRRORING, "Mirrored Write Transactions/sec", mark("transactions that waited for the mirror"),
         _waiting, None, _NEW),
    Perf(MIRRORING, "Receives/sec", mark("messages from the partner"), _sampled(_MESSAGES), _sampled(_MESSAGES)),
    Perf(MIRRORING, "Redo Bytes/sec", mark("log redone"), None, _sampled(_REDONE, BYTES_PER_KB)),
    Perf(MIRRORING, "Redo Queue KB", mark("log hardened but not yet redone"), None, _sampled("redo_queue_kb")),
    Perf(MIRRORING, "Sends/sec", mark("messages to the partner"), _sampled(_MESSAGES), _sampled(_MESSAGES)),
    Perf(MIRRORING, "Transaction Delay", mark("total wait for the mirror in ms, all transactions"), _delay),
    Perf(DATABASES, "Active Transactions", mark("transactions in progress"), _sampled("in_flight_transactions")),
    Perf(DATABASES, "Log Bytes Flushed/sec", mark("log written to disk"),
         _sampled("log_generation_kb_per_s", BYTES_PER_KB)),
    Perf(DATABASES, "Log File(s) Size (KB)", mark("size of the log file"), _sampled("log_size_kb")),
    Perf(DATABASES, "Log File(s) Used Size (KB)", mark("log that cannot be reused yet"), _sampled("log_used_kb")),
    Perf(DATABASES, "Percent Log Used", mark("share of the log file in use"), _percent_used),
    Perf(DATABASES, "Transactions/sec", mark("commits"), _sampled("transactions_per_s")),
    Perf(PROCESSOR, "% Processor Time", mark("share of all processors of the computer"),
         _sampled("principal_cpu_percent"), _sampled("mirror_cpu_percent")),
)  # fmt: skip
"""Every counter that can be had, by object and name."""

NOT_SIMULATED: Final = {
    "Log Harden Time (ms)": _NEW,
    "Log Remaining for Undo KB": _NEW,
    "Log Scanned for Undo KB": _NEW,
    "Log Send Flow Control Time (ms)": _NEW,
    "Pages Sent/sec": 2005,
    "Send/Receive Ack Time": 2005,
}
"""Counters of the mirroring object that the simulation has no values for: they would always read 0. Name -> since."""

BY_NAME: Final = {(perf.group, perf.name): perf for perf in PERFS}


def names_of(group: str, version: int) -> list[str]:
    """Return counters of an object on a server of that version."""
    return [perf.name for perf in PERFS if perf.group == group and perf.since <= version]


@dataclass(frozen=True, slots=True)
class CounterChoice:
    """A counter of one server, for one database."""

    server: str
    group: str
    name: str
    database: str = ""
    """Empty: of the whole server."""

    @property
    def instance(self) -> str:
        """Return the instance of the counter, such as a database."""
        return self.database or "_Total"

    @property
    def perf(self) -> Perf:
        """Return the definition of the counter."""
        return BY_NAME[self.group, self.name]

    @property
    def path(self) -> str:
        r"""Path in the form `\\SERVER_A\SQLServer:Databases(Sales)\Transactions/sec`."""
        return f"\\\\{self.server}\\{OBJECTS[self.group]}({self.instance})\\{self.name}"
