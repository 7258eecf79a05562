"""Performance counters of availability groups: data exchanged between two replicas, and waits of databases.

Documented [DOC: counters of replicas]; types are from memory. Counters that apply only to the other role are
0, as in the product. Counters that the flow simulation cannot provide are NULL.
"""

from collections.abc import Iterable
from typing import Final

from engine.availability import reverting
from engine.model import DatabaseCopy, ReplicaRole, SyncState
from engine.protocol import group_policies
from engine.tsql.batches.context import StatementContext
from engine.tsql.catalog.availability import list_local_groups

TOTAL_COUNTER_TYPE, GAUGE_COUNTER_TYPE = 272696576, 65792
"""cntr_type of a running total (a rate per second), and of a current value."""

CounterValues = dict[str, float | None]
"""Counter -> value. None means that the value is not simulated."""

_CONNECTION_COUNTERS: Final = (
    "Bytes Received from Replica/sec", "Bytes Sent to Replica/sec", "Bytes Sent to Transport/sec",
    "Flow Control Time (ms/sec)", "Flow Control/sec", "Receives from Replica/sec", "Resent Messages/sec",
    "Sends to Replica/sec", "Sends to Transport/sec",
)  # fmt: skip
"""Counters of the object Availability Replica."""
_DATABASE_COUNTERS: Final = (
    # name, type, first version
    ("Database Flow Control Delay", TOTAL_COUNTER_TYPE, 2016),
    ("Database Flow Controls/sec", TOTAL_COUNTER_TYPE, 2016),
    ("File Bytes Received/sec", TOTAL_COUNTER_TYPE, 2012),
    ("Group Commit Time", TOTAL_COUNTER_TYPE, 2016),
    ("Group Commits/Sec", TOTAL_COUNTER_TYPE, 2016),
    ("Log Apply Pending Queue", GAUGE_COUNTER_TYPE, 2012),
    ("Log Apply Ready Queue", GAUGE_COUNTER_TYPE, 2012),
    ("Log Bytes Received/sec", TOTAL_COUNTER_TYPE, 2012),
    ("Log remaining for undo", GAUGE_COUNTER_TYPE, 2012),
    ("Log Send Queue", GAUGE_COUNTER_TYPE, 2012),
    ("Mirrored Write Transactions/sec", TOTAL_COUNTER_TYPE, 2012),
    ("Recovery Queue", GAUGE_COUNTER_TYPE, 2012),
    ("Redo blocked/sec", TOTAL_COUNTER_TYPE, 2012),
    ("Redo Bytes Remaining", GAUGE_COUNTER_TYPE, 2012),
    ("Redone Bytes/sec", TOTAL_COUNTER_TYPE, 2012),
    ("Total Log requiring undo", GAUGE_COUNTER_TYPE, 2012),
    ("Transaction Delay", TOTAL_COUNTER_TYPE, 2012),
)
"""Counters of the object Database Replica."""
_UNDO_COUNTERS: Final = ("Log remaining for undo", "Redo Bytes Remaining", "Total Log requiring undo")
"""Counters of the undo phase. They are 0 without a revert.

During a revert, those that are not simulated are NULL.
"""

UNSIMULATED_COUNTERS: Final = frozenset(
    {
        "Database Flow Control Delay", "Database Flow Controls/sec", "Flow Control Time (ms/sec)",
        "Flow Control/sec", "Group Commit Time", "Group Commits/Sec", "Log Apply Pending Queue",
        "Log Apply Ready Queue", "Redo blocked/sec", "Resent Messages/sec",
    }
)  # fmt: skip
"""Counters that the flow simulation cannot provide, such as those of flow control and group commits."""


def _read_sent_counters(context: StatementContext, copy: DatabaseCopy, peer: str) -> CounterValues:
    """Return the counters of the log that a primary sends to the secondary *peer* for one database."""
    world = context.world
    other_copy = world.copies.get((peer, copy.database))
    if (
        other_copy is None
        or other_copy.stream is None
        or world.flow.get_stream_source(other_copy.stream) != copy.source
    ):
        return {}
    totals, ratio = (
        world.flow.read_stream_totals(other_copy.stream),
        world.flow.get_stream_setup(other_copy.stream).compression_ratio,
    )
    return {
        "Bytes Sent to Replica/sec": totals.sent_kb * 1024.0,
        "Bytes Sent to Transport/sec": totals.sent_kb * 1024.0 * ratio,
        "Sends to Replica/sec": totals.messages,
        "Sends to Transport/sec": totals.messages,
        "Receives from Replica/sec": totals.messages,
        "Bytes Received from Replica/sec": None,
    }


def _read_received_counters(context: StatementContext, copy: DatabaseCopy) -> CounterValues:
    """Return the counters of the log that a secondary receives for one database.

    The secondary answers each message with one message.
    """
    if copy.stream is None:
        return {}
    flow = context.world.flow
    totals, ratio = flow.read_stream_totals(copy.stream), flow.get_stream_setup(copy.stream).compression_ratio
    return {
        "Bytes Received from Replica/sec": totals.sent_kb * 1024.0 * ratio,
        "Receives from Replica/sec": totals.messages,
        "Sends to Replica/sec": totals.messages,
        "Sends to Transport/sec": totals.messages,
        "Bytes Sent to Replica/sec": None,
        "Bytes Sent to Transport/sec": None,
    }


def _sum_counters(parts: Iterable[CounterValues]) -> CounterValues:
    """Return the sum of each counter. A sum is None if one of its values is None."""
    total: CounterValues = {}
    for part in parts:
        for name, value in part.items():
            before = total.get(name, 0.0)
            total[name] = None if value is None or before is None else before + value
    return total


def _collect_link_counters(context: StatementContext) -> dict[str, CounterValues]:
    """Return instance name (group:replica, _Total) -> counters of the connection to this replica."""
    values_by_peer: dict[str, CounterValues] = {}
    for group, state in list_local_groups(context):
        copies = [copy for copy in context.list_copies() if copy.availability.guid == group.guid]
        if state.role is ReplicaRole.PRIMARY:
            for replica in group.replicas:
                if replica.server != state.server:
                    parts = [_read_sent_counters(context, copy, replica.server) for copy in copies]
                    values_by_peer[f"{group.name}:{replica.server}"] = _sum_counters(parts)
        elif state.primary is not None:
            values_by_peer[f"{group.name}:{state.primary}"] = _sum_counters(
                _read_received_counters(context, copy) for copy in copies
            )
    return {**values_by_peer, "_Total": _sum_counters(values_by_peer.values())} if values_by_peer else {}


def _read_database_counters(context: StatementContext, copy: DatabaseCopy) -> CounterValues:
    flow = context.world.flow
    revert_kb = copy.availability.revert_kb
    is_unknown = revert_kb > 0.0 or copy.availability.state is SyncState.INITIALIZING
    undo: CounterValues = dict.fromkeys(_UNDO_COUNTERS, None if is_unknown else 0.0)
    if revert_kb:
        undo["Log remaining for undo"] = reverting.compute_remaining_kb(context.world, copy)
        undo["Total Log requiring undo"] = revert_kb
    if copy.source is not None:
        position, waits = (
            flow.read_source_positions(copy.source),
            group_policies.get_policy(copy).has_waiting_commits(context.world, copy),
        )
        queues = [
            position.flushed_kb - flow.read_stream_positions(stream).sent_kb
            for stream in flow.list_source_streams(copy.source)
        ]
        return {
            **undo,
            "Log Send Queue": max([0.0, *queues]),
            "Mirrored Write Transactions/sec": position.transactions if waits else 0.0,
            "Transaction Delay": 1000.0 * flow.read_source_totals(copy.source).waiting_s if waits else 0.0,
        }
    if copy.stream is None:
        return undo
    at_stream, totals = flow.read_stream_positions(copy.stream), flow.read_stream_totals(copy.stream)
    return {
        **undo,
        "Log Bytes Received/sec": totals.sent_kb * 1024.0,
        "Recovery Queue": max(0.0, at_stream.hardened_kb - at_stream.redone_kb),
        "Redone Bytes/sec": totals.redone_kb * 1024.0,
    }


def list_counters(context: StatementContext) -> Iterable[tuple[str, str, str, float | None, int]]:
    """Yield (object, counter, instance, value, type) for each counter of an instance with replicas.

    A value that is not simulated is None.
    """
    for instance, values in _collect_link_counters(context).items():
        for name in _CONNECTION_COUNTERS:
            yield "Availability Replica", name, instance, _get_value(values, name), TOTAL_COUNTER_TYPE
    database_values = {
        copy.database: _read_database_counters(context, copy)
        for copy in context.list_copies()
        if copy.availability.guid is not None
    }
    if database_values:
        database_values["_Total"] = _sum_counters(database_values.values())
    for instance, values in database_values.items():
        for name, kind, first_version in _DATABASE_COUNTERS:
            if first_version <= context.version:
                yield "Database Replica", name, instance, _get_value(values, name), kind


def _get_value(values: CounterValues, name: str) -> float | None:
    return None if name in UNSIMULATED_COUNTERS else values.get(name, 0.0)
