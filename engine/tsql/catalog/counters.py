"""Performance counters of an instance: sys.dm_os_performance_counters.

Names are padded to 128 characters as in the product. A rate (/sec) is a running total, as in the product:
take two samples and divide the difference by the seconds between them.
"""

from collections.abc import Iterable, Sequence
from importlib import resources
from typing import Final

from engine import arithmetic
from engine.flow import compute_total_commit_delay_ms
from engine.mirroring import monitor
from engine.model import DatabaseCopy
from engine.protocol import connections, group_policies
from engine.tsql.batches.context import SYSTEM_DATABASES, StatementContext
from engine.tsql.catalog import group_counters
from engine.tsql.catalog.activity import (
    LOCKS_PER_TRANSACTION,
    PAGE_KB,
    CopyLoad,
    compute_target_memory_kb,
    compute_total_memory_kb,
    compute_uptime_s,
    count_cached_pages,
    measure_all_loads,
)
from engine.tsql.catalog.configurations import get_option_value
from engine.tsql.catalog.databases import list_log_space
from engine.tsql.catalog.group_counters import GAUGE_COUNTER_TYPE, TOTAL_COUNTER_TYPE
from engine.tsql.catalog.view import Record, register_view

FRACTION_COUNTER_TYPE, BASE_COUNTER_TYPE = 537003264, 1073939712
"""cntr_type of a ratio, and of the base by which a reader divides it."""

_INSTANCE_TEXT: Final = (
    resources.files("engine.tsql.catalog").joinpath("counters.txt").read_text(encoding="utf-8")
)


def _list_instance_counters() -> Iterable[tuple[str, str, str, int, int, int]]:
    """Yield the counters in counters.txt in the form of INSTANCE_COUNTERS."""
    kinds = {
        "TOTAL": TOTAL_COUNTER_TYPE,
        "GAUGE": GAUGE_COUNTER_TYPE,
        "FRACTION": FRACTION_COUNTER_TYPE,
        "BASE": BASE_COUNTER_TYPE,
    }
    for line in _INSTANCE_TEXT.strip().splitlines():
        group, kind, names = line.split("|")
        group, _, instance = group.partition("/")
        head, _, versions = (
            group.rpartition(" ") if group[-5:].strip("-0123456789") == "" else (group, "", "")
        )
        first_version, _, last_version = versions.partition("-")
        for name in names.split(";"):
            yield head, name, instance, kinds[kind], int(first_version or 2005), int(last_version or 9999)


INSTANCE_COUNTERS: Final = tuple(_list_instance_counters())
"""Counters of the instance: (object, name, instance, type, first version, last version).

Documented [DOC: Use SQL Server Objects]. Counters of work that is not simulated (scans, latches, compilations
…)
stay 0.
"""

_VERSION_2008: Final = 2008
"""First version that has the mirroring counters added in SQL Server 2008."""
_MIRRORING_COUNTERS: Final = (
    # name, type, first version
    ("Bytes Received/sec", TOTAL_COUNTER_TYPE, 2005),
    ("Bytes Sent/sec", TOTAL_COUNTER_TYPE, 2005),
    ("Log Bytes Received/sec", TOTAL_COUNTER_TYPE, 2005),
    ("Log Bytes Redone from Cache/sec", TOTAL_COUNTER_TYPE, _VERSION_2008),
    ("Log Bytes Sent from Cache/sec", TOTAL_COUNTER_TYPE, _VERSION_2008),
    ("Log Bytes Sent/sec", TOTAL_COUNTER_TYPE, 2005),
    ("Log Compressed Bytes Rcvd/sec", TOTAL_COUNTER_TYPE, _VERSION_2008),
    ("Log Compressed Bytes Sent/sec", TOTAL_COUNTER_TYPE, _VERSION_2008),
    ("Log Harden Time (ms)", TOTAL_COUNTER_TYPE, _VERSION_2008),
    ("Log Remaining for Undo KB", GAUGE_COUNTER_TYPE, _VERSION_2008),
    ("Log Scanned for Undo KB", GAUGE_COUNTER_TYPE, _VERSION_2008),
    ("Log Send Flow Control Time (ms)", TOTAL_COUNTER_TYPE, _VERSION_2008),
    ("Log Send Queue KB", GAUGE_COUNTER_TYPE, 2005),
    ("Mirrored Write Transactions/sec", TOTAL_COUNTER_TYPE, _VERSION_2008),
    ("Pages Sent/sec", TOTAL_COUNTER_TYPE, 2005),
    ("Receives/sec", TOTAL_COUNTER_TYPE, 2005),
    ("Redo Bytes/sec", TOTAL_COUNTER_TYPE, 2005),
    ("Redo Queue KB", GAUGE_COUNTER_TYPE, 2005),
    ("Send/Receive Ack Time", TOTAL_COUNTER_TYPE, 2005),
    ("Sends/sec", TOTAL_COUNTER_TYPE, 2005),
    ("Transaction Delay", GAUGE_COUNTER_TYPE, 2005),
)
"""Counters of a mirrored database. Documented [DOC: Database Mirroring object]. Versions and types are from
memory.
"""

_ALL_DATABASE_COUNTERS: Final = (
    # name, type, first and last version
    ("Active Transactions", GAUGE_COUNTER_TYPE, 2005, 9999),
    ("Backup/Restore Throughput/sec", TOTAL_COUNTER_TYPE, 2005, 9999),
    ("Bulk Copy Rows/sec", TOTAL_COUNTER_TYPE, 2005, 9999),
    ("Bulk Copy Throughput/sec", TOTAL_COUNTER_TYPE, 2005, 9999),
    ("Data File(s) Size (KB)", GAUGE_COUNTER_TYPE, 2005, 9999),
    ("Log Bytes Flushed/sec", TOTAL_COUNTER_TYPE, 2005, 9999),
    ("Log File(s) Size (KB)", GAUGE_COUNTER_TYPE, 2005, 9999),
    ("Log File(s) Used Size (KB)", GAUGE_COUNTER_TYPE, 2005, 9999),
    ("Log Flush Wait Time", GAUGE_COUNTER_TYPE, 2005, 9999),
    ("Log Flush Waits/sec", TOTAL_COUNTER_TYPE, 2005, 9999),
    ("Log Flush Write Time (ms)", GAUGE_COUNTER_TYPE, 2012, 9999),
    ("Log Flushes/sec", TOTAL_COUNTER_TYPE, 2005, 9999),
    ("Log Shrinks", GAUGE_COUNTER_TYPE, 2005, 9999),
    ("Percent Log Used", GAUGE_COUNTER_TYPE, 2005, 9999),
    ("Repl. Pending Xacts", GAUGE_COUNTER_TYPE, 2005, 9999),
    ("Repl. Trans. Rate", TOTAL_COUNTER_TYPE, 2005, 9999),
    ("Tracked transactions/sec", TOTAL_COUNTER_TYPE, 2008, 9999),
    ("Transactions/sec", TOTAL_COUNTER_TYPE, 2005, 9999),
    ("Write Transactions/sec", TOTAL_COUNTER_TYPE, 2008, 9999),
)
"""Counters of a database. Those of work that is not simulated stay 0. Documented [DOC: Databases object]."""


def _read_mirroring_values(context: StatementContext, copy: DatabaseCopy) -> dict[str, float]:
    """Return the mirroring counters of a copy. The counters of the other role are 0."""
    flow = context.world.flow
    if copy.source is not None:
        values: dict[str, float] = {}
        for stream in flow.list_source_streams(copy.source):
            values = _read_principal_counters(context, copy, copy.source, stream)
        return values
    if copy.stream is None:
        return {}
    position, ratio = (
        flow.read_stream_positions(copy.stream),
        flow.get_stream_setup(copy.stream).compression_ratio,
    )
    return {
        **_read_message_counters(context, copy.stream),
        "Bytes Received/sec": position.received_kb * 1024.0 * ratio,
        "Log Bytes Received/sec": position.received_kb * 1024.0,
        "Log Bytes Redone from Cache/sec": position.redone_kb * 1024.0,
        "Log Compressed Bytes Rcvd/sec": position.received_kb * 1024.0 * ratio,
        "Redo Bytes/sec": position.redone_kb * 1024.0,
        "Redo Queue KB": max(0.0, position.hardened_kb - position.redone_kb),
    }


def _read_message_counters(context: StatementContext, stream: int) -> dict[str, float]:
    """Return the counters Receives/sec and Sends/sec of the connection that carries *stream*."""
    messages = context.world.flow.read_stream_totals(stream).messages
    return {"Receives/sec": messages, "Sends/sec": messages}


def _read_principal_counters(
    context: StatementContext, copy: DatabaseCopy, source: int, stream: int
) -> dict[str, float]:
    """Return the mirroring counters of a principal."""
    flow, waiting = (
        context.world.flow,
        group_policies.get_policy(copy).has_waiting_commits(context.world, copy),
    )
    sent_kb, ratio = (
        flow.read_stream_positions(stream).sent_kb,
        flow.get_stream_setup(stream).compression_ratio,
    )
    reading = flow.read_source(source)
    return {
        **_read_message_counters(context, stream),
        "Bytes Sent/sec": sent_kb * 1024.0 * ratio,
        "Log Bytes Sent/sec": sent_kb * 1024.0,
        "Log Bytes Sent from Cache/sec": sent_kb * 1024.0,
        "Log Compressed Bytes Sent/sec": sent_kb * 1024.0 * ratio,
        "Log Send Queue KB": monitor.compute_send_queue_kb(context.world, copy),
        "Mirrored Write Transactions/sec": flow.read_source_positions(source).transactions
        if waiting
        else 0.0,
        "Transaction Delay": compute_total_commit_delay_ms(
            reading.commit_delay_ms, reading.transactions_per_s, reading.in_flight_transactions
        )
        if waiting
        else 0.0,
    }


def _read_database_values(context: StatementContext, copy: DatabaseCopy, work: CopyLoad) -> dict[str, float]:
    """Return the counters of a database copy in the object Databases. *work*: load of the copy."""
    if copy.source is None:
        return {"Data File(s) Size (KB)": copy.size_kb}
    reading = context.world.flow.read_source(copy.source)
    return {
        "Active Transactions": reading.in_flight_transactions,
        "Data File(s) Size (KB)": copy.size_kb,
        "Log Bytes Flushed/sec": work.log_kb * 1024.0,
        "Log File(s) Size (KB)": reading.log_size_kb,
        "Log File(s) Used Size (KB)": reading.log_used_kb,
        "Log Flush Wait Time": work.log_write_ms,
        "Log Flush Waits/sec": work.commits,
        "Log Flush Write Time (ms)": work.log_write_ms,
        "Log Flushes/sec": work.log_writes,
        "Percent Log Used": 100.0 * reading.log_used_kb / max(1.0, reading.log_size_kb),
        "Transactions/sec": work.commits,
        "Write Transactions/sec": work.commits,
    }


def _build_record(group: str, name: str, instance: str, value: float | None, kind: int) -> Record:
    return {
        "object_name": f"SQLServer:{group}".ljust(128),
        "counter_name": name.ljust(128),
        "instance_name": instance.ljust(128),
        "cntr_value": None if value is None else int(value),
        "cntr_type": kind,
    }


def _add_total_instance(values: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """Return *values* with an additional instance `_Total`, which contains the sums."""
    total: dict[str, float] = {}
    for instance_values in values.values():
        for name, value in instance_values.items():
            total[name] = total.get(name, 0.0) + value
    return {**values, "_Total": total}


def _list_counters(context: StatementContext) -> Iterable[Record]:
    mirrored = {
        copy.database: _read_mirroring_values(context, copy)
        for copy in context.list_copies()
        if copy.group_kind == "mirroring"
    }
    for database, values in _add_total_instance(mirrored).items() if mirrored else ():
        for name, kind, first_version in _MIRRORING_COUNTERS:
            if first_version <= context.version:
                yield _build_record("Database Mirroring", name, database, values.get(name, 0.0), kind)
    for row in group_counters.list_counters(context):
        yield _build_record(*row)
    work = measure_all_loads(context)
    databases = {copy.database: _read_database_values(context, copy, copy_load) for copy, copy_load in work}
    for database, size_mb, used in list_log_space(context):
        if database in SYSTEM_DATABASES:
            kb = size_mb * 1024.0
            databases[database] = {
                "Log File(s) Size (KB)": kb,
                "Log File(s) Used Size (KB)": kb * used / 100.0,
                "Percent Log Used": used,
            }
    for database, values in _add_total_instance(databases).items():
        for name, kind, first_version, last_version in _ALL_DATABASE_COUNTERS:
            if first_version <= context.version <= last_version:
                yield _build_record("Databases", name, database, values.get(name, 0.0), kind)
    values = _read_instance_values(context, [copy_load for _, copy_load in work])
    for group, name, instance, kind, first_version, last_version in INSTANCE_COUNTERS:
        if first_version <= context.version <= last_version:
            yield _build_record(group, name, instance, values.get(f"{group}:{name}", 0.0), kind)


def _read_instance_values(context: StatementContext, work: Sequence[CopyLoad]) -> dict[str, float]:
    """Return the simulated counters of the instance by object and name.

    They are derived from *work*, the load of each database copy (activity.py). Each transaction of a client
    counts as one batch.
    """
    commits, seconds = (
        arithmetic.add_in_order(copy_load.commits for copy_load in work),
        compute_uptime_s(context),
    )
    pages_written = arithmetic.add_in_order(copy_load.pages_written for copy_load in work)
    target_kb = compute_target_memory_kb(context, get_option_value(context, "max server memory (MB)"))
    held_kb, pages = compute_total_memory_kb(context, target_kb), count_cached_pages(context, target_kb)
    session_count = sum(1 for _ in context.list_sessions())
    users = session_count + connections.count_connections(context.world, context.session.server)
    return {
        "Buffer Manager:Buffer cache hit ratio": 100,
        "Buffer Manager:Buffer cache hit ratio base": 100,
        "Buffer Manager:Checkpoint pages/sec": pages_written,
        "Buffer Manager:Database pages": pages,
        "Buffer Manager:Page life expectancy": seconds,
        "Buffer Node:Page life expectancy": seconds,
        "Buffer Manager:Page writes/sec": pages_written,
        "Buffer Manager:Target pages": target_kb / PAGE_KB,
        "Buffer Manager:Total pages": held_kb / PAGE_KB,
        "Buffer Manager:Free pages": max(0.0, held_kb / PAGE_KB - pages),
        "General Statistics:User Connections": users,
        "General Statistics:Logical Connections": users,
        "General Statistics:Logins/sec": users,
        "Locks:Lock Requests/sec": commits * LOCKS_PER_TRANSACTION,
        "Memory Manager:Database Cache Memory (KB)": pages * PAGE_KB,
        "Memory Manager:Stolen Server Memory (KB)": held_kb - pages * PAGE_KB,
        "Memory Manager:Maximum Workspace Memory (KB)": target_kb * 3 // 4,
        "Memory Manager:Target Server Memory (KB)": target_kb,
        "Memory Manager:Total Server Memory (KB)": held_kb,
        "SQL Statistics:Batch Requests/sec": commits + session_count,
        "Transactions:Transactions": 0,
        "Wait Statistics:Log write waits": arithmetic.add_in_order(
            copy_load.log_write_ms for copy_load in work
        ),
    }


_SIMULATED_MIRRORING_COUNTERS: Final = frozenset(
    """
Bytes Received/sec;Bytes Sent/sec;Log Bytes Received/sec;Log Bytes Redone from Cache/sec;Log Bytes Sent from Cache/sec;
Log Bytes Sent/sec;Log Compressed Bytes Rcvd/sec;Log Compressed Bytes Sent/sec;Log Send Queue KB;Receives/sec;
Mirrored Write Transactions/sec;Redo Bytes/sec;Redo Queue KB;Sends/sec;Transaction Delay;
Log Remaining for Undo KB;Log Scanned for Undo KB
""".replace("\n", "").split(";")
)
"""Simulated counters of Database Mirroring. Undo counters are 0, because undo on a new mirror takes no time."""

_SIMULATED_DATABASE_COUNTERS: Final = frozenset(
    """
Active Transactions;Data File(s) Size (KB);Log Bytes Flushed/sec;Log File(s) Size (KB);Log File(s) Used Size (KB);
Log Flush Wait Time;Log Flush Waits/sec;Log Flush Write Time (ms);Log Flushes/sec;Percent Log Used;Transactions/sec;
Write Transactions/sec
""".replace("\n", "").split(";")
)
"""Simulated counters of the object Databases."""


def list_constant_counters(context: StatementContext) -> frozenset[str]:
    """Return the names of the counters that are not simulated and stay 0 or NULL."""
    changing_names = (
        {name.partition(":")[2] for name in _read_instance_values(context, ())}
        | _SIMULATED_MIRRORING_COUNTERS
        | _SIMULATED_DATABASE_COUNTERS
    )
    known_names = {name for _, name, *_ in INSTANCE_COUNTERS} | {
        name for name, *_ in (*_MIRRORING_COUNTERS, *_ALL_DATABASE_COUNTERS)
    }
    return frozenset(known_names - changing_names) | group_counters.UNSIMULATED_COUNTERS


register_view("sys.dm_os_performance_counters", _list_counters)
register_view("sys.sysperfinfo", _list_counters)
