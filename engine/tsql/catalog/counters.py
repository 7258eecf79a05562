"""sys.dm_os_performance_counters: each partner's own side, names padded to 128 characters as in life.

A rate (/sec) is a running total, as in the product: take two samples and divide by the seconds between them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from engine.flow import Positions, Reading
from engine.model import Copy, Role, Safety
from engine.tsql.catalog.databases import is_owner, log_space, send_queue_kb
from engine.tsql.catalog.view import Record, view
from engine.tsql.context import SYSTEM_DATABASES, Context

TOTAL: Final = 272696576
"""cntr_type of a running total that is shown per second."""
GAUGE: Final = 65792
"""cntr_type of a plain number."""

_NEW: Final = 2008
_MIRRORING: Final = (
    # name, type, first version
    ("Bytes Received/sec", TOTAL, 2005),
    ("Bytes Sent/sec", TOTAL, 2005),
    ("Log Bytes Received/sec", TOTAL, 2005),
    ("Log Bytes Redone from Cache/sec", TOTAL, _NEW),
    ("Log Bytes Sent from Cache/sec", TOTAL, _NEW),
    ("Log Bytes Sent/sec", TOTAL, 2005),
    ("Log Compressed Bytes Rcvd/sec", TOTAL, _NEW),
    ("Log Compressed Bytes Sent/sec", TOTAL, _NEW),
    ("Log Harden Time (ms)", TOTAL, _NEW),
    ("Log Remaining for Undo KB", GAUGE, _NEW),
    ("Log Scanned for Undo KB", GAUGE, _NEW),
    ("Log Send Flow Control Time (ms)", TOTAL, _NEW),
    ("Log Send Queue KB", GAUGE, 2005),
    ("Mirrored Write Transactions/sec", TOTAL, _NEW),
    ("Pages Sent/sec", TOTAL, 2005),
    ("Receives/sec", TOTAL, 2005),
    ("Redo Bytes/sec", TOTAL, 2005),
    ("Redo Queue KB", GAUGE, 2005),
    ("Send/Receive Ack Time", TOTAL, 2005),
    ("Sends/sec", TOTAL, 2005),
    ("Transaction Delay", GAUGE, 2005),
)
"""Counters of a mirrored database. Documented [DOC: Database Mirroring object]; versions and types from memory."""

_DATABASES: Final = (
    ("Active Transactions", GAUGE),
    ("Data File(s) Size (KB)", GAUGE),
    ("Log Bytes Flushed/sec", TOTAL),
    ("Log File(s) Size (KB)", GAUGE),
    ("Log File(s) Used Size (KB)", GAUGE),
    ("Log Flushes/sec", TOTAL),
    ("Percent Log Used", GAUGE),
    ("Transactions/sec", TOTAL),
)


def _mirroring_values(context: Context, copy: Copy) -> dict[str, float]:
    """Values of one side; a counter of the other side stays 0."""
    world = context.world
    if copy.row is None:
        return {}
    at, now = world.flow.positions(copy.row), world.flow.reading(copy.row)
    setup = world.flow.row_setup(copy.row)
    ratio = setup.compression_ratio
    messages = world.flow.totals(copy.row).messages
    both = {"Receives/sec": messages, "Sends/sec": messages}
    if copy.role is Role.PRINCIPAL and is_owner(context, copy):
        return both | _principal(context, copy, at, now, ratio)
    return both | {
        "Bytes Received/sec": at.received_kb * 1024.0 * ratio,
        "Log Bytes Received/sec": at.received_kb * 1024.0,
        "Log Bytes Redone from Cache/sec": at.redone_kb * 1024.0,
        "Log Compressed Bytes Rcvd/sec": at.received_kb * 1024.0 * ratio,
        "Redo Bytes/sec": at.redone_kb * 1024.0,
        "Redo Queue KB": max(0.0, at.hardened_kb - at.redone_kb),
    }


def _principal(context: Context, copy: Copy, at: Positions, now: Reading, ratio: float) -> dict[str, float]:
    waiting = copy.safety is Safety.FULL
    return {
        "Bytes Sent/sec": at.sent_kb * 1024.0 * ratio,
        "Log Bytes Sent/sec": at.sent_kb * 1024.0,
        "Log Bytes Sent from Cache/sec": at.sent_kb * 1024.0,
        "Log Compressed Bytes Sent/sec": at.sent_kb * 1024.0 * ratio,
        "Log Send Queue KB": send_queue_kb(context, copy),
        "Mirrored Write Transactions/sec": at.transactions if waiting else 0.0,
        "Transaction Delay": now.commit_delay_ms * now.transactions_per_s if waiting else 0.0,
    }


def _flushes(context: Context, row: int, at: Positions) -> float:
    """Log writes since the row began: one for each commit, and one for each full block. It never falls."""
    return at.transactions + at.flushed_kb / context.world.flow.row_setup(row).site.log_block_kb


def _database_values(context: Context, copy: Copy) -> dict[str, float]:
    if not is_owner(context, copy) or copy.row is None:
        return {"Data File(s) Size (KB)": copy.size_kb}
    at, now = context.world.flow.positions(copy.row), context.world.flow.reading(copy.row)
    return {
        "Active Transactions": now.in_flight_transactions,
        "Data File(s) Size (KB)": copy.size_kb,
        "Log Bytes Flushed/sec": at.flushed_kb * 1024.0,
        "Log File(s) Size (KB)": now.log_size_kb,
        "Log File(s) Used Size (KB)": now.log_used_kb,
        "Log Flushes/sec": _flushes(context, copy.row, at),
        "Percent Log Used": 100.0 * now.log_used_kb / max(1.0, now.log_size_kb),
        "Transactions/sec": at.transactions,
    }


def _record(group: str, name: str, instance: str, value: float, kind: int) -> Record:
    return {
        "object_name": f"SQLServer:{group}".ljust(128),
        "counter_name": name.ljust(128),
        "instance_name": instance.ljust(128),
        "cntr_value": int(value),
        "cntr_type": kind,
    }


def _instances(values: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """The instances with their sum as `_Total`."""
    total: dict[str, float] = {}
    for one in values.values():
        for name, value in one.items():
            total[name] = total.get(name, 0.0) + value
    return {**values, "_Total": total}


def _counters(context: Context) -> Iterable[Record]:
    mirrored = {
        copy.database: _mirroring_values(context, copy) for copy in context.copies() if copy.guid is not None
    }
    for database, values in _instances(mirrored).items() if mirrored else ():
        for name, kind, since in _MIRRORING:
            if since <= context.version:
                yield _record("Database Mirroring", name, database, values.get(name, 0.0), kind)
    databases = {copy.database: _database_values(context, copy) for copy in context.copies()}
    for database, size_mb, used in log_space(context):
        if database in SYSTEM_DATABASES:
            kb = size_mb * 1024.0
            databases[database] = {
                "Log File(s) Size (KB)": kb,
                "Log File(s) Used Size (KB)": kb * used / 100.0,
                "Percent Log Used": used,
            }
    for database, values in _instances(databases).items():
        for name, kind in _DATABASES:
            yield _record("Databases", name, database, values.get(name, 0.0), kind)
    count = sum(1 for _ in context.sessions()) + _client_connections(context)
    yield _record("General Statistics", "User Connections", "", count, GAUGE)


def _client_connections(context: Context) -> int:
    """Connections that applications hold here."""
    total = 0
    for client in context.world.clients.values():
        if client.connected_to == context.session.server:
            for copy in context.copies():
                if copy.database in client.databases and copy.row is not None:
                    setup = context.world.flow.row_setup(copy.row)
                    total += round(setup.workload.connections * setup.scale)
    return total


view("sys.dm_os_performance_counters", _counters)
view("sys.sysperfinfo", _counters)
