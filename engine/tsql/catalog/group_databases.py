"""Views about databases of availability groups: states, log positions and queues, as each server knows them."""

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct

from engine.availability import replicas, seeding
from engine.constants import TICKS_PER_S
from engine.identifiers import make_group_database_id, make_group_id, make_replica_id, make_seeding_id
from engine.model import (
    AvailabilityGroup,
    CommitMode,
    DatabaseCopy,
    DbState,
    Replica,
    ReplicaRole,
    Seeding,
    SyncState,
)
from engine.protocol import files, streams
from engine.protocol.lineage import format_lsn, format_record_lsn
from engine.tsql.batches.context import StatementContext
from engine.tsql.catalog.availability import (
    HEALTH_DESCRIPTIONS,
    SENT_TOLERANCE_KB,
    get_database_number,
    list_cluster_groups,
    list_local_groups,
)
from engine.tsql.catalog.databases import get_displayed_state
from engine.tsql.catalog.shapes import find_literal_columns
from engine.tsql.catalog.view import Record, register_view


class ReplicaDatabase(Struct, frozen=True):
    """Database on one replica, as the queried instance knows it."""

    group: AvailabilityGroup
    replica: Replica
    copy: DatabaseCopy
    """The queried instance's own copy of the database."""
    state: SyncState

    @property
    def is_local(self) -> bool:
        """Return whether the replica is on the queried instance."""
        return self.replica.server == self.copy.server

    @property
    def health(self) -> int:
        """Return synchronization_health.

        It is 2 (healthy) in the state that the availability mode requires. It is 0 (not healthy) in the
        states reverting and initializing. Documented.
        """
        synchronous = self.replica.mode is CommitMode.SYNCHRONOUS_COMMIT
        target = SyncState.SYNCHRONIZED if synchronous else SyncState.SYNCHRONIZING
        if self.state in (target, SyncState.SYNCHRONIZED):
            return 2
        return int(self.state is SyncState.SYNCHRONIZING)


def list_databases(context: StatementContext, group: AvailabilityGroup) -> Iterator[ReplicaDatabase]:
    """Yield the databases of a group on the instance and, on a primary, also those on every joined replica."""
    world, server = context.world, context.session.server
    for copy in replicas.list_group_copies(world, server, group.guid):
        for replica in group.replicas:
            own_availability = copy.availability
            if replica.server == server:
                yield ReplicaDatabase(group, replica, copy, own_availability.state)
            elif (
                own_availability.role is ReplicaRole.PRIMARY
                and (copy.database, replica.server) in group.joined
            ):
                yield ReplicaDatabase(group, replica, copy, own_availability.get_peer_state(replica.server))


def is_connected(context: StatementContext, guid: int, server: str) -> bool:
    """Return whether the instance has a connection to the replica on *server*."""
    contact = context.world.contacts.get((guid, context.session.server, server))
    return contact is not None and contact.connected


def build_database_state_row(context: StatementContext, replica_database: ReplicaDatabase) -> Record:
    """Return a row of sys.dm_hadr_database_replica_states."""
    own_availability = replica_database.copy.availability
    replica_server, is_local = replica_database.replica.server, replica_database.is_local
    is_known = is_local or is_connected(context, replica_database.group.guid, replica_server)
    copy_key = (replica_server, replica_database.copy.database)
    suspended = replicas.find_suspend_reason(context.world, copy_key) if is_known else None
    state = get_displayed_state(replica_database.copy)
    primary = replica_database.is_local and own_availability.role is ReplicaRole.PRIMARY
    synchronized_servers = [
        server for server, peer in own_availability.peers if peer is SyncState.SYNCHRONIZED
    ]
    return {
        "database_id": replica_database.copy.database_id,
        "group_id": make_group_id(replica_database.group.guid),
        "replica_id": make_replica_id(replica_database.group.guid, replica_database.replica.server),
        "group_database_id": make_group_database_id(own_availability.database_guid),
        "is_local": int(replica_database.is_local),
        "is_primary_replica": int(primary),
        "synchronization_state": int(replica_database.state),
        "synchronization_state_desc": replica_database.state.name.replace("_", " "),
        "is_commit_participant": int(
            bool(synchronized_servers) if primary else replica_database.replica.server in synchronized_servers
        ),
        "synchronization_health": replica_database.health,
        "synchronization_health_desc": HEALTH_DESCRIPTIONS[replica_database.health],
        "database_state": int(state) if replica_database.is_local else None,
        "database_state_desc": DbState(state).name if replica_database.is_local else None,
        "is_suspended": int(suspended is not None),
        "suspend_reason": suspended.value if suspended is not None else None,
        "suspend_reason_desc": f"SUSPEND_FROM_{suspended.name}" if suspended is not None else None,
        **(
            _build_own_log_columns(context, replica_database)
            if primary
            else _build_received_log_columns(context, replica_database)
        ),
    }


NO_RECOVERY_LSN: Final = 4294967295429496729500001
"""recovery_lsn of a secondary database that needs no resynchronization. Seen in public output."""


def _find_truncation_lsn(context: StatementContext, copy: DatabaseCopy) -> int | None:
    """Return the LSN up to which the log of a primary database can be truncated; None without a writable log."""
    if copy.source is None:
        return None
    return format_lsn(min(hold for _, hold in streams.list_log_holds(context.world, copy, copy.source)))


def _build_own_log_columns(context: StatementContext, replica_database: ReplicaDatabase) -> Record:
    """Return the log columns of the primary's own row. Nothing is sent to the primary or redone on it."""
    world, copy = context.world, replica_database.copy
    if copy.source is None:
        return {}
    position, reading = world.flow.read_source_positions(copy.source), world.flow.read_source(copy.source)
    waited = [
        world.flow.read_stream_positions(stream).acknowledged_kb
        for stream in world.flow.list_source_streams(copy.source)
        if world.flow.get_stream_setup(stream).awaited
    ]
    return {
        "recovery_lsn": format_lsn(copy.lineage[-1][1]) if copy.lineage else None,
        "truncation_lsn": _find_truncation_lsn(context, copy),
        "last_sent_lsn": None,
        "last_hardened_lsn": format_lsn(min(waited)) if waited else None,
        "last_hardened_time": _estimate_log_time(context, copy.source, position.flushed_kb - min(waited))
        if waited
        else None,
        "end_of_log_lsn": format_lsn(position.flushed_kb),
        "last_commit_lsn": format_record_lsn(position.committed_kb),
        "last_commit_time": _estimate_log_time(context, copy.source, 0.0)
        if reading.transactions_per_s > TRANSACTION_RATE_MIN_PER_S or world.flow.measure_stall_s(copy.source)
        else None,
    }


def _estimate_log_time(context: StatementContext, source: int, behind_kb: float) -> str | None:
    """Estimate when the log record *behind_kb* before the end of the log was written; None if unknown."""
    age_s = _estimate_log_age_s(context, source, behind_kb)
    if age_s is None:
        return None
    return context.get_datetime_value(max(0, context.world.tick - round(age_s * TICKS_PER_S)))


LOG_RATE_MIN_KB_PER_S: Final = 1.0
"""Log rate below which the rate counts as 0, because a smoothed rate never becomes 0."""
TRANSACTION_RATE_MIN_PER_S: Final = 0.001
"""Transaction rate below which the rate counts as 0, because a smoothed rate never becomes 0."""

TRANSACTION_MIN_KB: Final = 3.0
"""Minimum log per transaction for `_estimate_log_age_s`, because a stopped workload reports 0. Assumed."""


def _estimate_log_age_s(context: StatementContext, source: int, behind_kb: float) -> float | None:
    """Estimate how long ago the log record *behind_kb* before the end of the log was written. Derived.

    Return None if the log rate is 0. The estimate uses the current rate, or the mean rate if little log
    is written or commits stall.
    """
    flow, now_s = context.world.flow, context.world.t_s
    stalled_s, rate = flow.measure_stall_s(source), flow.read_source(source).log_generation_kb_per_s
    if behind_kb <= SENT_TOLERANCE_KB:
        return stalled_s
    if rate <= 0.0:
        return None
    if rate < LOG_RATE_MIN_KB_PER_S or stalled_s >= 1.0:
        kb = max(TRANSACTION_MIN_KB, flow.get_source_setup(source).workload.log_kb_per_transaction)
        rate = max(
            LOG_RATE_MIN_KB_PER_S,
            flow.read_source_totals(source).transactions * kb / max(1.0, now_s - stalled_s),
        )
    return min(now_s, stalled_s + behind_kb / rate)


def _build_received_log_columns(context: StatementContext, replica_database: ReplicaDatabase) -> Record:
    """Return the log columns of a secondary database.

    The primary shows the last report of the secondary; the secondary shows its own values.
    For a lost secondary, the primary keeps the last report. Columns of sent log are NULL on the secondary.
    """
    world = context.world
    guid, is_primary_view = replica_database.group.guid, not replica_database.is_local
    target = world.copies.get((replica_database.replica.server, replica_database.copy.database))
    peer = (
        replica_database.replica.server
        if is_primary_view
        else world.replicas[replica_database.copy.server, guid].primary or ""
    )
    if target is None or target.stream is None:
        end = (
            streams.get_end_of_log_kb(world, target)
            if target is not None and replica_database.is_local
            else None
        )
        if end is None or target is None:
            return {}
        lead_copy = world.copies.get((peer, target.database))
        lineage = lead_copy.lineage if lead_copy is not None else ()
        reverts = lineage and target.availability.state is SyncState.REVERTING
        return {
            "recovery_lsn": format_lsn(lineage[-1][1]) if reverts else None,
            "end_of_log_lsn": format_lsn(end),
            "last_hardened_lsn": format_lsn(end),
        }
    stream = target.stream
    source = world.flow.get_stream_source(stream)
    if is_primary_view and replica_database.copy.source != source:
        return {}
    received_position, own_position, reading = (
        world.flow.read_stream_positions(stream),
        world.flow.read_source_positions(source),
        world.flow.read_stream(stream),
    )
    contact = world.contacts.get((guid, context.session.server, peer))
    is_lost = contact is None or not contact.connected
    lost_time = context.get_datetime_value(contact.since_tick) if contact is not None and is_lost else None

    def find_log_time(kb: float) -> str | None:
        return lost_time if is_lost else _estimate_log_time(context, source, own_position.committed_kb - kb)

    hardened_kb = received_position.acknowledged_kb if is_primary_view else received_position.hardened_kb
    redone_kb = min(received_position.redone_kb, hardened_kb)
    behind_s = _estimate_lag_s(context, source, own_position.flushed_kb - hardened_kb)
    sent_columns: Record = {
        "last_sent_lsn": format_lsn(received_position.sent_kb),
        "last_sent_time": find_log_time(received_position.sent_kb),
        "log_send_queue_size": int(max(0.0, own_position.flushed_kb - received_position.sent_kb)),
        "log_send_rate": int(reading.log_send_kb_per_s),
        "secondary_lag_seconds": behind_s,
    }
    primary = world.copies[world.sources[source]]
    changes_log = target.availability.state in (SyncState.REVERTING, SyncState.INITIALIZING)
    return {
        "recovery_lsn": format_lsn(primary.lineage[-1][1])
        if changes_log and primary.lineage
        else NO_RECOVERY_LSN,
        "truncation_lsn": format_lsn(primary.log_start_kb),
        **(sent_columns if is_primary_view else {}),
        "last_received_lsn": format_lsn(received_position.received_kb),
        "last_received_time": find_log_time(received_position.received_kb),
        "last_hardened_lsn": format_lsn(hardened_kb),
        "last_hardened_time": find_log_time(hardened_kb),
        "last_redone_lsn": format_record_lsn(redone_kb),
        "last_redone_time": find_log_time(redone_kb),
        "redo_queue_size": int(max(0.0, hardened_kb - redone_kb)),
        "redo_rate": int(reading.redo_kb_per_s),
        "end_of_log_lsn": format_lsn(hardened_kb),
        "last_commit_lsn": format_record_lsn(
            min(own_position.committed_kb, hardened_kb if is_primary_view else redone_kb)
        ),
        "last_commit_time": find_log_time(hardened_kb if is_primary_view else redone_kb),
    }


def _estimate_lag_s(context: StatementContext, source: int, behind_kb: float) -> int | None:
    age_s = 0.0 if behind_kb <= SENT_TOLERANCE_KB else _estimate_log_age_s(context, source, behind_kb)
    return int(age_s) if age_s is not None else None


def _list_database_states(context: StatementContext) -> Iterable[Record]:
    for group, _ in list_local_groups(context):
        for database in list_databases(context, group):
            yield build_database_state_row(context, database)


def _list_database_cluster_states(context: StatementContext) -> Iterable[Record]:
    for group in list_cluster_groups(context):
        replica_state = context.world.replicas.get((context.session.server, group.guid))
        leads = replica_state is not None and replica_state.role is ReplicaRole.PRIMARY
        for replica in group.replicas:
            for database in group.databases:
                copy_key = (database, replica.server)
                copy = context.world.copies.get((context.session.server, database))
                yield {
                    "replica_id": make_replica_id(group.guid, replica.server),
                    "group_database_id": make_group_database_id(
                        get_database_number(context, group, database)
                    ),
                    "database_name": database,
                    "is_failover_ready": int(copy_key in group.ready),
                    "is_pending_secondary_suspend": int(copy_key in group.pending_suspend),
                    "is_database_joined": int(copy_key in group.joined),
                    "recovery_lsn": format_lsn(copy.lineage[-1][1])
                    if leads and copy and copy.lineage
                    else None,
                    "truncation_lsn": _find_truncation_lsn(context, copy)
                    if leads and copy is not None
                    else None,
                }


register_view("sys.dm_hadr_database_replica_states", _list_database_states)
register_view("sys.dm_hadr_database_replica_cluster_states", _list_database_cluster_states)


def _list_seeding_attempts(context: StatementContext) -> Iterator[tuple[AvailabilityGroup, str, Seeding]]:
    """Yield (group, server that is seeded, attempt) for each seeding that the instance sends or receives."""
    own_server = context.session.server
    for (server, guid), state in sorted(context.world.replicas.items()):
        group = replicas.find_group_config(context.world, own_server, guid)
        for attempt in state.seedings:
            if group is not None and own_server in (server, attempt.source):
                yield group, server, attempt


def _list_automatic_seedings(context: StatementContext) -> Iterable[Record]:
    """Yield the rows of sys.dm_hadr_automatic_seeding.

    In the product, current_state is text; the values that appear here are derived.
    """
    own_server = context.session.server
    for group, server, attempt in _list_seeding_attempts(context):
        source = own_server == attempt.source
        other_server = server if source else attempt.source
        state = "SEEDING" if attempt.running else "COMPLETED" if attempt.failure is None else "FAILED"
        yield {
            "start_time": context.get_datetime_value(attempt.start_tick),
            "completion_time": None
            if attempt.end_tick is None
            else context.get_datetime_value(attempt.end_tick),
            "ag_id": make_group_id(group.guid),
            "ag_db_id": make_group_database_id(get_database_number(context, group, attempt.database)),
            "ag_remote_replica_id": make_replica_id(group.guid, other_server),
            "operation_id": make_seeding_id(group.guid, server, attempt.id),
            "is_source": int(source),
            "current_state": state,
            "performed_seeding": int(
                attempt.performed and attempt.failure in (None, seeding.TRANSPORT_STATE)
            ),
            "failure_state": attempt.failure,
            "failure_state_desc": seeding.FAILURE_TEXTS[attempt.failure]
            if attempt.failure is not None
            else None,
            "error_code": attempt.error,
            "number_of_attempts": attempt.attempts,
        }


def _list_seeding_transfers(context: StatementContext) -> Iterable[Record]:
    """Yield the seedings that are transferring data now."""
    world, own_server = context.world, context.session.server
    for group, server, attempt in _list_seeding_attempts(context):
        copy = world.copies.get((own_server, attempt.database))
        if not attempt.running or copy is None:
            continue
        source = own_server == attempt.source
        other_server = server if source else attempt.source
        whole_s = max(1.0, files.compute_file_copy_s(world, attempt.source, server, copy.size_kb))
        done_s = min(whole_s, (world.tick - attempt.start_tick) / TICKS_PER_S)
        ends = [make_seeding_id(group.guid, name, attempt.id) for name in (own_server, other_server)]
        yield {
            "local_physical_seeding_id": ends[0],
            "remote_physical_seeding_id": ends[1],
            "local_database_id": copy.database_id,
            "local_database_name": attempt.database,
            "remote_machine_name": world.instances[other_server].computer,
            "role_desc": "Source" if source else "Destination",
            "internal_state_desc": "ReadingAndSendingData" if source else "WritingData",
            "transfer_rate_bytes_per_second": int(copy.size_kb * 1024 / whole_s),
            "transferred_size_bytes": int(copy.size_kb * 1024 * done_s / whole_s),
            "database_size_bytes": int(copy.size_kb * 1024),
            "start_time_utc": context.get_datetime_value(attempt.start_tick),
            "estimate_time_complete_utc": context.get_datetime_value(
                attempt.start_tick + round(whole_s * TICKS_PER_S)
            ),
            **find_literal_columns("group_databases._list_seeding_transfers"),
        }


register_view("sys.dm_hadr_automatic_seeding", _list_automatic_seedings)
register_view("sys.dm_hadr_physical_seeding_stats", _list_seeding_transfers)
