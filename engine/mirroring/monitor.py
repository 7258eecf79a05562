"""Database Mirroring Monitor: rows that a job records each minute, thresholds, alerts.

Rows and thresholds belong to one server. Each partner records its own values: the principal its unsent log,
the mirror its unrestored log. See facts 1.7, 2.9 and 8 in docs/facts.md.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any, Final, overload

import numpy as np
from msgspec import Struct
from msgspec.structs import astuple, replace

from engine.constants import TICKS_PER_S
from engine.events import AlertData
from engine.flow import Array, compute_total_commit_delay_ms
from engine.messages import Message, SqlError, fill_message
from engine.mirroring import quorum
from engine.model import (
    Alert,
    DatabaseCopy,
    Handlers,
    Job,
    Key,
    MirrorState,
    Role,
    Safety,
    Tick,
    WitnessState,
    World,
    to_ticks,
)
from engine.protocol import errorlog, jobs, statements

# --- rows of the Database Mirroring Monitor ---------------------------------------------------------------


class MonitorRow(Struct, frozen=True, kw_only=True):
    """Row of msdb.dbo.dbm_monitor_data, with the values that sp_dbmmonitorresults computes from it."""

    tick: Tick
    role: Role
    state: MirrorState
    witness_state: WitnessState
    log_rate_kb_per_s: float = 0.0
    unsent_kb: float = 0.0
    send_rate_kb_per_s: float = 0.0
    unrestored_kb: float = 0.0
    restore_rate_kb_per_s: float = 0.0
    transaction_delay_ms: float = 0.0
    transactions_per_s: float = 0.0
    average_delay_ms: float = 0.0
    end_of_log_kb: float = 0.0
    failover_lsn_kb: float = 0.0
    time_behind_tick: Tick = 0
    """Time up to which the mirror has the principal's log; equal to *tick* if no log is unsent."""


ROW_FIELDS: Final = MonitorRow.__struct_fields__
COLUMN_TYPES: Final = {"Tick": "i8", "Role": "i1", "MirrorState": "i1", "WitnessState": "i1", "float": "f8"}
ROW_DTYPE: Final = np.dtype(
    [(name, COLUMN_TYPES[str(MonitorRow.__annotations__[name])]) for name in ROW_FIELDS]
)
"""Data type of a stored row: 107 bytes, with values in full precision."""

BUFFER_INITIAL_ROWS: Final = 16
"""Initial capacity of a buffer, in rows."""


class _RowBuffer:
    """Append-only array of rows, which several `MonitorRows` share. Each of them uses a range of the rows."""

    def __init__(self, rows: Array) -> None:
        self.rows = np.zeros(max(BUFFER_INITIAL_ROWS, 2 * len(rows)), dtype=ROW_DTYPE)
        self.rows[: len(rows)] = rows
        self.used = len(rows)


class MonitorRows(Sequence[MonitorRow]):
    """Immutable sequence of the rows of one database on one server, oldest first.

    `with_row` returns a new object.
    """

    __slots__ = ("_buffer", "_digest", "_first", "_until")

    def __init__(self) -> None:
        self._buffer = _RowBuffer(np.zeros(0, dtype=ROW_DTYPE))
        self._first = self._until = 0
        self._digest = ""

    def with_row(self, row: MonitorRow, oldest: Tick) -> MonitorRows:
        """Return these rows with *row* appended, without rows before tick *oldest*."""
        new_rows = MonitorRows.__new__(MonitorRows)
        first = self._first + int(np.searchsorted(self.columns["tick"], oldest))
        buffer, until_tick = self._buffer, self._until
        if until_tick < buffer.used or until_tick in (
            0,
            len(buffer.rows),
        ):  # copy the buffer if another fork has appended to it, or if it is full
            buffer, first, until_tick = _RowBuffer(buffer.rows[first:until_tick]), 0, until_tick - first
        buffer.rows[until_tick] = astuple(row)
        buffer.used = until_tick + 1
        new_rows._buffer, new_rows._first, new_rows._until = buffer, first, until_tick + 1
        new_rows._digest = hashlib.blake2b(f"{self._digest}{row!r}".encode(), digest_size=16).hexdigest()
        return new_rows

    @property
    def columns(self) -> Array:
        """Return the rows as an array with the data type `ROW_DTYPE`."""
        return self._buffer.rows[self._first : self._until]

    def list_rows_since(self, tick: Tick) -> list[MonitorRow]:
        """Return the rows from *tick* on."""
        return self[int(np.searchsorted(self.columns["tick"], tick)) :]

    def find_last(self, role: Role, ends_by_kb: float) -> int | None:
        """Return the index of the last row with *role* whose log ends at or before *ends_by_kb*, or None."""
        columns = self.columns
        indexes = np.flatnonzero((columns["role"] == role) & (columns["end_of_log_kb"] <= ends_by_kb))
        return int(indexes[-1]) if len(indexes) else None

    def __len__(self) -> int:
        return self._until - self._first

    def __iter__(self) -> Iterator[MonitorRow]:
        return iter(self[:])

    @overload
    def __getitem__(self, index: int) -> MonitorRow: ...
    @overload
    def __getitem__(self, index: slice) -> list[MonitorRow]: ...
    def __getitem__(self, index: int | slice) -> MonitorRow | list[MonitorRow]:
        column = self.columns[index]
        return (
            [_build_row(record) for record in column.tolist()]
            if isinstance(index, slice)
            else _build_row(column.item())
        )

    def __repr__(self) -> str:
        """Return a short text for the state hash, with a digest of all rows that were ever recorded."""
        return f"MonitorRows({len(self)}, {self._digest!r})"


def _build_row(values: tuple[Any, ...]) -> MonitorRow:
    values_by_name = dict(zip(ROW_FIELDS, values, strict=True))
    values_by_name["role"], values_by_name["state"] = (
        Role(values_by_name["role"]),
        MirrorState(values_by_name["state"]),
    )
    values_by_name["witness_state"] = WitnessState(values_by_name["witness_state"])
    return MonitorRow(**values_by_name)


JOB_NAME: Final = "Database Mirroring Monitor Job"
UPDATE_PERIOD_MINUTES_RANGE: Final = (1, 120)
"""Minimum and maximum number of minutes between two updates by the job. Documented [DOC:
sp_dbmmonitoraddmonitoring].
"""

RECENT_ROW_AGE_S_MAX: Final = 15.0
"""Age in seconds below which the last row is recent. @update_table of sp_dbmmonitorresults then adds no row.

Documented [DOC: sp_dbmmonitorresults].
"""

RETENTION_H: Final = 168.0
"""Retention of rows in hours: seven days, unless alert 5 sets another period. Documented [DOC:
sp_dbmmonitorchangealert].
"""

HOURS_BY_MODE: Final = {1: 2.0, 2: 4.0, 3: 8.0, 4: 24.0, 5: 48.0}
ROW_COUNT_BY_MODE: Final = {0: 1, 6: 100, 7: 500, 8: 1000, 9: 1_000_000}
"""@mode of sp_dbmmonitorresults -> number of last rows. HOURS_BY_MODE has the modes that select hours.

Documented [DOC: sp_dbmmonitorresults].
"""

NO_ROWS: Final = MonitorRows()
RETENTION_ALERT: Final = 5
ALERT_MESSAGES: Final = {1: 32040, 2: 32042, 3: 32043, 4: 32044}
"""Alert number -> message for an exceeded threshold. Documented: the message table and the event pages agree."""


# --- recording -------------------------------------------------------------------------------------


def update_monitor(world: World, server: str, database: str | None = None) -> list[Message]:
    """Execute sp_dbmmonitorupdate: record a row for one mirrored database or for every mirrored database.

    Raise 32039 if the database is not mirrored.
    """
    if database is not None:
        record_row(world, _require_monitored(world, server, database))
        return []
    for key, copy in sorted(world.copies.items()):
        if key[0] == server and copy.mirroring.guid is not None:
            record_row(world, copy)
    # The key with an empty database name shows that the monitor tables of msdb exist.
    world.monitor.setdefault((server, ""), ())
    return []


def record_row(world: World, copy: DatabaseCopy) -> MonitorRow:
    """Record a row of what the copy's server knows, delete expired rows, and raise alerts."""
    key = copy.key
    before = get_rows(world, key)
    row = _measure_row(world, copy, before)
    oldest = world.tick - to_ticks(_get_retention_h(world, key) * 3600.0)
    world.monitor[key] = before.with_row(row, oldest)
    _raise_alerts(world, key, row)
    return row


def get_rows(world: World, key: Key) -> MonitorRows:
    """Return the rows that a server has recorded for a database, oldest first."""
    rows: MonitorRows = world.monitor.get(key, NO_ROWS)
    return rows


def _measure_row(world: World, copy: DatabaseCopy, previous_rows: MonitorRows) -> MonitorRow:
    assert copy.mirroring.role is not None and copy.mirroring.state is not None
    row = MonitorRow(
        tick=world.tick,
        role=copy.mirroring.role,
        state=copy.mirroring.state,
        witness_state=copy.mirroring.witness_state,
        failover_lsn_kb=copy.mirroring.failover_lsn_kb,
        end_of_log_kb=copy.end_of_log_kb,
        unrestored_kb=max(0.0, copy.end_of_log_kb - copy.redone_kb)
        if copy.mirroring.role is Role.MIRROR
        else 0.0,
        time_behind_tick=world.tick,
    )
    if copy.stream is not None:
        positions = world.flow.read_stream_positions(copy.stream)
        return replace(
            row,
            unrestored_kb=max(0.0, positions.hardened_kb - positions.redone_kb),
            restore_rate_kb_per_s=world.flow.read_stream(copy.stream).redo_kb_per_s,
            end_of_log_kb=positions.hardened_kb,
            failover_lsn_kb=positions.hardened_kb,
        )
    if copy.source is None:
        return row
    return _measure_principal(world, copy, copy.source, row, previous_rows)


def _measure_principal(
    world: World, copy: DatabaseCopy, source: int, row: MonitorRow, previous_rows: MonitorRows
) -> MonitorRow:
    positions_now, reading = world.flow.read_source_positions(source), world.flow.read_source(source)
    streams = [
        stream for stream in world.flow.list_source_streams(source) if world.streams[stream] is not None
    ]
    has_kb, sent_kb, rate = _find_last_known_kb(world, copy), 0.0, 0.0
    for stream in streams:
        positions = world.flow.read_stream_positions(stream)
        has_kb, sent_kb = positions.hardened_kb, positions.sent_kb
        rate = world.flow.read_stream(stream).log_send_kb_per_s
    row = replace(
        row,
        log_rate_kb_per_s=reading.log_generation_kb_per_s,
        unsent_kb=max(0.0, positions_now.flushed_kb - max(sent_kb, has_kb)),
        send_rate_kb_per_s=rate,
        transactions_per_s=reading.transactions_per_s,
        end_of_log_kb=positions_now.flushed_kb,
        failover_lsn_kb=has_kb,
    )
    if copy.mirroring.safety is Safety.FULL:
        delay_ms = reading.commit_delay_ms
        total_ms = compute_total_commit_delay_ms(
            delay_ms, reading.transactions_per_s, reading.in_flight_transactions
        )
        row = replace(row, average_delay_ms=delay_ms, transaction_delay_ms=total_ms)
    return replace(row, time_behind_tick=_find_oldest_unsent_time(row, previous_rows))


def compute_send_queue_kb(world: World, copy: DatabaseCopy) -> float:
    """Return the amount of log that the principal considers unsent, in KB.

    While the mirror is disconnected, this is all log that the mirror lacks.
    """
    flow = world.flow
    if copy.source is None or copy.mirroring.role is not Role.PRINCIPAL:
        return 0.0
    flushed_kb = flow.read_source_positions(copy.source).flushed_kb
    positions = [flow.read_stream_positions(stream) for stream in flow.list_source_streams(copy.source)]
    if quorum.is_connected_to_partner(world, copy):
        return max([0.0, *(flushed_kb - stream_position.sent_kb for stream_position in positions)])
    return max(
        0.0,
        flushed_kb
        - max(
            [copy.mirroring.failover_lsn_kb, *(stream_position.hardened_kb for stream_position in positions)]
        ),
    )


def _find_last_known_kb(world: World, copy: DatabaseCopy) -> float:
    """Return the end of the mirror's log as the principal last knew it while connected, in KB."""
    partner = world.copies.get((copy.mirroring.partner or "", copy.database))
    return (
        copy.mirroring.failover_lsn_kb
        if partner is None
        else max(copy.mirroring.failover_lsn_kb, partner.end_of_log_kb)
    )


def _find_oldest_unsent_time(row: MonitorRow, previous_rows: MonitorRows) -> Tick:
    """Return the time at which the oldest unsent log was written.

    It is interpolated between two rows: the last row whose log ends before the unsent log, and the next row.
    """
    head_kb = row.end_of_log_kb - row.unsent_kb
    if row.unsent_kb < 1.0:
        return row.tick
    index = previous_rows.find_last(Role.PRINCIPAL, head_kb)
    if index is not None:
        earlier_monitor_row, later_monitor_row = (
            previous_rows[index],
            previous_rows[index + 1] if index + 1 < len(previous_rows) else row,
        )
        span = max(1e-9, later_monitor_row.end_of_log_kb - earlier_monitor_row.end_of_log_kb)
        share = (head_kb - earlier_monitor_row.end_of_log_kb) / span
        return earlier_monitor_row.tick + round(share * (later_monitor_row.tick - earlier_monitor_row.tick))
    # Without an earlier row, estimate the time from the current log rate, unless it would precede the start
    # of the run.
    if row.log_rate_kb_per_s * max(1, row.tick) > row.unsent_kb:
        return max(0, row.tick - to_ticks(row.unsent_kb / row.log_rate_kb_per_s))
    return previous_rows[0].tick if previous_rows else row.tick


def _require_monitored(world: World, server: str, database: str) -> DatabaseCopy:
    """Return the copy of a mirrored database. Raise 32050 for a system database."""
    if database.lower() in ("master", "msdb", "model", "tempdb"):
        raise SqlError(32050)
    return _require_mirrored(world, server, database)


def _require_mirrored(world: World, server: str, database: str) -> DatabaseCopy:
    try:
        copy = statements.require_copy(world, server, database)
    except SqlError:
        raise SqlError(32039, database) from None
    if copy.mirroring.guid is None:
        raise SqlError(32039, copy.database)
    return copy


# --- reading ---------------------------------------------------------------------------------------


def list_monitor_results(
    world: World, server: str, database: str, mode: int = 0, update_table: bool = False
) -> list[MonitorRow]:
    """Execute sp_dbmmonitorresults. The newest row is first.

    Raise 32036 for an unknown mode, 32039 if the database is not mirrored, 32041 if it has no rows.
    """
    if mode not in HOURS_BY_MODE and mode not in ROW_COUNT_BY_MODE:
        raise SqlError(32036)
    copy = _require_mirrored(world, server, database)
    key = (server, copy.database)
    rows = get_rows(world, key)
    if update_table and (not rows or world.tick - rows[-1].tick >= RECENT_ROW_AGE_S_MAX * TICKS_PER_S):
        record_row(world, copy)
        rows = get_rows(world, key)
    if not any(server_name == server for server_name, _ in world.monitor):
        raise SqlError(32041)
    if mode in ROW_COUNT_BY_MODE:
        return list(reversed(rows[-ROW_COUNT_BY_MODE[mode] :]))
    return rows.list_rows_since(world.tick - to_ticks(HOURS_BY_MODE[mode] * 3600.0))[::-1]


# --- the job ---------------------------------------------------------------------------------------


def find_monitor_job(world: World, server: str) -> Job | None:
    """Return the monitor job of a server, or None."""
    return next((job for job in world.instances[server].jobs if job.action == jobs.MONITOR), None)


def add_monitoring(world: World, server: str, minutes: int = 1) -> list[Message]:
    """Execute sp_dbmmonitoraddmonitoring. Raise 32032 for an invalid period, 32033 if the job exists."""
    if find_monitor_job(world, server) is not None:
        raise SqlError(32033)
    _check_period(minutes)
    jobs.add_job(world, server, Job(name=JOB_NAME, action=jobs.MONITOR, every_s=60.0 * minutes))
    start_monitor_timer(world, server)
    return []


def change_monitoring(world: World, server: str, parameter_id: int, value: int) -> list[Message]:
    """Execute sp_dbmmonitorchangemonitoring. Parameter 1 is the period in minutes. Raise 32036, 32032 or 32049."""
    if parameter_id != 1:
        raise SqlError(32036)
    _check_period(value)
    monitor_job = find_monitor_job(world, server)
    if monitor_job is None:
        raise SqlError(32049)
    changed_alerts = tuple(
        replace(job, every_s=60.0 * value) if job is monitor_job else job
        for job in world.instances[server].jobs
    )
    world.update_instance(server, jobs=changed_alerts)
    start_monitor_timer(world, server)
    return []


def drop_monitoring(world: World, server: str) -> list[Message]:
    """Execute sp_dbmmonitordropmonitoring. Raise 32049 if there is no job."""
    if find_monitor_job(world, server) is None:
        raise SqlError(32049)
    jobs.delete_job(world, server, JOB_NAME)
    world.cancel_calls("monitor.run", server)
    return []


def get_update_period(world: World, server: str) -> int:
    """Execute sp_dbmmonitorhelpmonitoring: return the update period in minutes.

    Raise 32049 if there is no job.
    """
    job = find_monitor_job(world, server)
    if job is None:
        raise SqlError(32049)
    return round(job.every_s / 60.0)


def _check_period(minutes: int) -> None:
    low, high = UPDATE_PERIOD_MINUTES_RANGE
    if not low <= minutes <= high:
        raise SqlError(32032, minutes)


def start_monitor_timer(world: World, server: str) -> None:
    """Start the timer of the monitor job, if the server has the job."""
    world.cancel_calls("monitor.run", server)
    job = find_monitor_job(world, server)
    if job is not None:
        world.call_after(job.every_s, "monitor.run", server)


def run_monitor_job(world: World, server: str) -> None:
    """Run the monitor job, unless it is disabled or SQL Server Agent is stopped (timer handler)."""
    job = find_monitor_job(world, server)
    if job is None:
        return
    world.call_after(job.every_s, "monitor.run", server)
    if job.enabled and jobs.is_agent_running(world, server):
        update_monitor(world, server)


# --- thresholds ------------------------------------------------------------------------------------


def change_alert(
    world: World, server: str, database: str, alert_id: int, threshold: float, enabled: bool = True
) -> list[Message]:
    """Execute sp_dbmmonitorchangealert, which affects only this server.

    Raise 32036 for an unknown alert or a negative threshold, 32039 if the database is not mirrored.
    """
    if alert_id not in (*ALERT_MESSAGES, RETENTION_ALERT) or threshold < 0.0:
        raise SqlError(32036)
    copy = _require_monitored(world, server, database)
    alert = Alert(database=copy.database, alert_id=alert_id, threshold=threshold, enabled=enabled)
    other_alerts = _list_other_alerts(world, server, copy.database, alert_id)
    world.update_instance(server, alerts=(*other_alerts, alert))
    return []


def list_alerts(world: World, server: str, database: str, alert_id: int | None = None) -> list[Alert]:
    """Execute sp_dbmmonitorhelpalert: return this server's thresholds for the database, ordered by ID."""
    copy = _require_monitored(world, server, database)
    own_alerts = [alert for alert in world.instances[server].alerts if alert.database == copy.database]
    return sorted((a for a in own_alerts if alert_id in (None, a.alert_id)), key=lambda alert: alert.alert_id)


def drop_alert(world: World, server: str, database: str, alert_id: int | None = None) -> list[Message]:
    """Execute sp_dbmmonitordropalert: drop one threshold of the database, or all if *alert_id* is None."""
    copy = _require_monitored(world, server, database)
    other_alerts = _list_other_alerts(world, server, copy.database, alert_id)
    world.update_instance(server, alerts=other_alerts)
    return []


def _list_other_alerts(world: World, server: str, database: str, alert_id: int | None) -> tuple[Alert, ...]:
    alerts = world.instances[server].alerts
    return tuple(a for a in alerts if a.database != database or alert_id not in (None, a.alert_id))


def _get_retention_h(world: World, key: Key) -> float:
    for alert in world.instances[key[0]].alerts:
        if alert.database == key[1] and alert.alert_id == RETENTION_ALERT and alert.enabled:
            return alert.threshold
    return RETENTION_H


def _raise_alerts(world: World, key: Key, row: MonitorRow) -> None:
    """Compare the row with the server's thresholds.

    Each exceeded threshold writes an event into the application log.
    """
    principal = row.role is Role.PRINCIPAL
    values: dict[int, float] = {3: row.unrestored_kb}
    if principal:
        age_min = (row.tick - row.time_behind_tick) / TICKS_PER_S / 60.0
        values = {1: age_min, 2: row.unsent_kb, 4: row.average_delay_ms}
    for alert in world.instances[key[0]].alerts:
        value = values.get(alert.alert_id)
        if alert.database != key[1] or not alert.enabled or value is None or value <= alert.threshold:
            continue
        number = ALERT_MESSAGES[alert.alert_id]
        shown_values = (round(value), round(alert.threshold))
        errorlog.write_message(world, key[0], number, *shown_values)
        world.emit(
            AlertData(number=number, alert_id=alert.alert_id, value=value, threshold=alert.threshold),
            fill_message(number, *shown_values)[1],
            server=key[0],
            database=key[1],
        )


HANDLERS: Final[Handlers] = {"monitor.run": run_monitor_job}
