"""Built-in sessions of extended events: system_health, and since 2012 AlwaysOn_health.

AlwaysOn_health starts with the instance if the New Availability Group wizard has created or joined a group there;
elsewhere it is stopped. Derived: an instance with a replica got it from the wizard.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from engine.availability import replicas
from engine.constants import TICKS_PER_S
from engine.tsql.batches.context import Context
from engine.tsql.catalog.view import Record, view

HEALTH_EVENTS: Final = (
    "alwayson_ddl_executed", "availability_group_lease_expired", "availability_replica_automatic_failover_validation",
    "availability_replica_manager_state_change", "availability_replica_state", "availability_replica_state_change",
    "error_reported", "lock_redo_blocked",
)  # fmt: skip
"""Events of AlwaysOn_health. Documented [DOC: extended events of groups]."""


@dataclass(frozen=True, slots=True)
class EventSession:
    """Session defined on the instance."""

    number: int
    name: str
    running: bool
    starts: bool
    """True if it starts with the instance (STARTUP_STATE)."""
    events: tuple[str, ...] | None = None
    """None: not simulated."""


def sessions(context: Context) -> Iterator[EventSession]:
    """Yield the event sessions of the instance."""
    server = context.server
    names: list[tuple[int, str, bool, tuple[str, ...] | None]] = [(65_535, "system_health", True, None)]
    if context.version >= 2012:
        used = bool(replicas.on_server(context.world, context.session.server))
        names.append((65_536, "AlwaysOn_health", used, HEALTH_EVENTS))
    for number, name, used, events in names:
        runs, starts = name not in server.sessions_stopped, name not in server.sessions_manual
        running = (used and runs) or name in server.sessions_started
        yield EventSession(number, name, running, starts=used and starts, events=events)


def _list_defined_sessions(context: Context) -> Iterable[Record]:
    for one in sessions(context):
        yield {
            "event_session_id": one.number,
            "name": one.name,
            "event_retention_mode": "S",
            "event_retention_mode_desc": "ALLOW_SINGLE_EVENT_LOSS",
            "max_dispatch_latency": 30_000 if one.events is not None else 120_000,
            "max_memory": 4096,
            "max_event_size": 0,
            "memory_partition_mode": "N",
            "memory_partition_mode_desc": "NONE",
            "track_causality": 0,
            "startup_state": int(one.starts),
        }


def _events(context: Context) -> Iterable[Record]:
    for one in sessions(context):
        for place, event in enumerate(one.events or (), 1):
            yield {
                "event_session_id": one.number,
                "event_id": place,
                "name": event,
                "package": "sqlserver",
                "module": "{SQLSERVR}",
            }


def _list_running_sessions(context: Context) -> Iterable[Record]:
    started = context.datetime_value(max(0, context.server.started_tick // TICKS_PER_S * TICKS_PER_S))
    for one in sessions(context):
        if one.running:
            yield {
                "address": one.number.to_bytes(8, "big"),
                "name": one.name,
                "dropped_event_count": 0,
                "dropped_buffer_count": 0,
                "create_time": started,
            }


view("sys.server_event_sessions", _list_defined_sessions)
view("sys.server_event_session_events", _events)
view("sys.dm_xe_sessions", _list_running_sessions)
