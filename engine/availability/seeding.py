"""Automatic seeding: secondaries receive missing databases from the primary.

[DOC: automatic seeding]
"""

from typing import Final

from msgspec.structs import replace

from engine.availability import movement, replicas
from engine.cluster import config
from engine.messages import SqlError
from engine.model import (
    AvailabilityGroup,
    AvailabilityMembership,
    DatabaseCopy,
    DbState,
    Handlers,
    ReplicaRole,
    ReplicaState,
    ReplicaWord,
    Seeding,
    World,
)
from engine.protocol import errorlog, files, lineage, network, options, restore, snapshots, streams, volumes

PARALLEL_SEEDINGS_MAX: Final = 5
"""Maximum number of databases of a replica that are seeded at the same time. [DOC: automatic seeding]"""

CHECK_TIMEOUT_STATE, NAME_EXISTS_STATE, SQL_ERROR_STATE, TRANSPORT_STATE = 21, 23, 2, 6
FAILURE_TEXTS: Final = {
    CHECK_TIMEOUT_STATE: "Seeding Check Message Timeout",
    NAME_EXISTS_STATE: "Database With Name Already Exists",
    SQL_ERROR_STATE: "SQL Error",
    TRANSPORT_STATE: "Transport",
}
"""failure_state -> description [DOC: automatic seeding view]. The assignment of failures to states is
derived.
"""


def update_seedings(world: World) -> None:
    """Begin due seedings, and abort seedings of secondaries that lost their primary.

    This runs after every event.
    """
    for (server, guid), state in sorted(world.replicas.items()):
        group = replicas.find_group_config(world, server, guid)
        own_replica = group.find_replica(server) if group is not None else None
        if group is None or own_replica is None or not (own_replica.seeding or state.seedings):
            continue
        led_by_another = any(
            seeding.running and seeding.source != state.primary for seeding in state.seedings
        )
        if led_by_another or not _is_connected_to_primary(world, state):
            _abort_seeding(world, group, state)
        elif own_replica.seeding and state.word is ReplicaWord.SECONDARY_NORMAL:
            for database in group.databases:
                if (database, server) not in group.joined:
                    _start_seeding_if_due(world, group, server, database)


def set_seeding_permission(world: World, server: str, guid: int, granted: bool) -> None:
    """Execute GRANT or DENY CREATE ANY DATABASE at the replica on *server*.

    A GRANT restarts the seedings that failed without this permission.
    """
    state = world.replicas[server, guid]
    seedings = tuple(
        seeding for seeding in state.seedings if not (granted and seeding.failure == CHECK_TIMEOUT_STATE)
    )
    world.replicas[server, guid] = replace(state, may_create=granted, seedings=seedings)
    world.mark_session_changed(guid)


def restart_seedings(world: World, server: str, guid: int) -> None:
    """Retry failed seedings because SEEDING_MODE has been set again."""
    state = world.replicas.get((server, guid))
    if state is not None:
        _store_seedings(world, state, tuple(seeding for seeding in state.seedings if seeding.failure is None))
        world.mark_session_changed(guid)


def list_seeding_log_positions(world: World, copy: DatabaseCopy) -> list[float]:
    """Return the log positions from which the primary must keep its log for running seedings."""
    guid = copy.availability.guid
    return [
        seeding.start_kb
        for (_, number), state in sorted(world.replicas.items())
        for seeding in state.seedings
        if number == guid and seeding.database == copy.database and seeding.running
    ]


def _is_connected_to_primary(world: World, state: ReplicaState) -> bool:
    contact = world.contacts.get((state.guid, state.server, state.primary or ""))
    is_linked = world.instances[state.server].answering and config.has_quorum(world, state.server)
    return is_linked and contact is not None and contact.connected


def _store_seedings(world: World, state: ReplicaState, seedings: tuple[Seeding, ...]) -> None:
    world.replicas[state.server, state.guid] = replace(
        world.replicas[state.server, state.guid], seedings=seedings
    )


def _start_seeding_if_due(world: World, group: AvailabilityGroup, server: str, database: str) -> None:
    state = world.replicas[server, group.guid]
    assert state.primary is not None
    before = [
        earlier_seedings for earlier_seedings in state.seedings if earlier_seedings.database == database
    ]
    if any(seeding.running or seeding.failure not in (None, TRANSPORT_STATE) for seeding in before):
        return
    if len([seeding for seeding in state.seedings if seeding.running]) >= PARALLEL_SEEDINGS_MAX:
        return
    lead = world.copies.get((state.primary, database))
    if lead is None or lead.source is None:
        return
    attempt = Seeding(
        id=world.next_id(),
        database=database,
        source=state.primary,
        start_tick=world.tick,
        start_kb=streams.get_end_of_log_kb(world, lead),
        attempts=len(before) + 1,
    )
    obstacle = _find_seeding_obstacle(world, state, lead)
    if obstacle is not None:
        errorlog.write_message(world, state.primary, 19495, database, group.name)
        attempt = replace(attempt, end_tick=world.tick, failure=obstacle[0], error=obstacle[1])
        if obstacle[0] == CHECK_TIMEOUT_STATE:
            errorlog.write_message(world, server, 19506, group.name)
        _store_seedings(world, state, (*state.seedings, attempt))
        return
    local_copy = world.copies.get((server, database))
    if local_copy is not None:  # the copy was restored manually and only needs to join
        _store_seedings(
            world, state, (*state.seedings, replace(attempt, end_tick=world.tick, performed=False))
        )
        join_restored_copy(world, group, lead, local_copy)
        return
    _store_seedings(world, state, (*state.seedings, attempt))
    _create_seeded_copy(world, lead, server)
    duration_s = max(1.0, files.compute_file_copy_s(world, lead.server, server, lead.size_kb))
    world.call_after(duration_s, "availability.seeded", group.guid, server, database, attempt.id)


def _find_seeding_obstacle(
    world: World, state: ReplicaState, lead: DatabaseCopy
) -> tuple[int, int | None] | None:
    """Return (failure_state, error) if the database cannot be created on the replica's server, or None."""
    local_copy = world.copies.get((state.server, lead.database))
    if local_copy is not None:
        try:
            check_log_continuity(world, lead, local_copy)
        except SqlError:
            return NAME_EXISTS_STATE, 1801
        return None
    if not state.may_create:
        return CHECK_TIMEOUT_STATE, None
    missing = options.find_certificate_error(world.instances[state.server], lead.encryption_key)
    if missing is not None:  # the seeded data cannot be restored without the certificate [DOC: TDE]
        errorlog.write_message(world, state.server, *missing, state=3)
        return SQL_ERROR_STATE, 33111
    computer = world.get_computer_of(state.server)
    if not all(volumes.has_drive(computer, item.drive) for item in volumes.list_copy_files(lead)):
        return SQL_ERROR_STATE, 5133
    return None


def _create_seeded_copy(world: World, lead: DatabaseCopy, server: str) -> None:
    """Create the database on *server*. It stays RESTORING until it has received all data."""
    new_copy = DatabaseCopy(
        server=server,
        database=lead.database,
        database_id=snapshots.find_next_database_id(world, server),
        db_state=DbState.RESTORING,
        restoring=world.next_id(),
        recovery_model=lead.recovery_model,
        family=lead.family,
        workload=lead.workload,
        scale=lead.scale,
        size_kb=lead.size_kb,
        log_size_kb=lead.log_size_kb,
        log_max_kb=lead.log_max_kb,
        data_drive=lead.data_drive,
        log_drive=lead.log_drive,
        extra_files=lead.extra_files,
        compression_ratio=lead.compression_ratio,
        delayed_durability=lead.delayed_durability,
        log_backup_every_s=lead.log_backup_every_s,
    )
    restore.store_copy(
        world, options.apply_restored_properties(new_copy, lead, world.instances[server].service_account)
    )


def on_seeding_done(world: World, guid: int, server: str, database: str, number: int) -> None:
    """Finish a seeding and join the database (timer handler)."""
    state = world.replicas.get((server, guid))
    group = replicas.find_group_config(world, server, guid)
    running_seedings = [
        seeding
        for seeding in (state.seedings if state is not None else ())
        if seeding.id == number and seeding.running
    ]
    if state is None or group is None or not running_seedings:
        return
    lead, key = world.copies.get((running_seedings[0].source, database)), (server, database)
    if lead is None or key not in world.copies or database not in group.databases:
        failed = tuple(
            replace(seeding, end_tick=world.tick, failure=SQL_ERROR_STATE)
            if seeding.id == number
            else seeding
            for seeding in state.seedings
        )
        _store_seedings(world, state, failed)
        return
    end = streams.get_end_of_log_kb(world, lead)
    world.update_copy(
        key,
        restoring=0,
        lineage=lead.lineage,
        fork=lead.fork,
        end_of_log_kb=end,
        redone_kb=end,
        log_start_kb=lead.log_start_kb,
        last_log_backup_kb=lead.last_log_backup_kb,
        last_log_backup_tick=lead.last_log_backup_tick,
    )
    ended_seedings = tuple(
        replace(seeding, end_tick=world.tick) if seeding.id == number else seeding
        for seeding in state.seedings
    )
    _store_seedings(world, state, ended_seedings)
    join_restored_copy(world, group, lead, world.copies[key])


def _abort_seeding(world: World, group: AvailabilityGroup, state: ReplicaState) -> None:
    """Drop the unfinished databases after a lost connection. Seeding restarts after the next connection."""
    running = [seeding for seeding in state.seedings if seeding.running]
    for seeding in running:
        copy = world.copies.get((state.server, seeding.database))
        if copy is not None and copy.availability.guid is None:
            streams.stop_log(world, copy)
            del world.copies[state.server, seeding.database]
        if world.instances[seeding.source].answering:
            errorlog.write_message(world, seeding.source, 19494, seeding.database, group.name)
    if running:
        failed = tuple(
            replace(seeding, end_tick=world.tick, failure=TRANSPORT_STATE) if seeding.running else seeding
            for seeding in state.seedings
        )
        _store_seedings(world, state, failed)


# --- joining of a database ----------------------------------------------------------------------------------


def check_log_continuity(world: World, lead: DatabaseCopy, copy: DatabaseCopy) -> None:
    """Check that the primary's log continues where the restored copy ends. Raise 1464, 1412 or 1478.

    The rules are the same as in mirroring (facts 1.8).
    """
    if copy.db_state is not DbState.RESTORING or copy.restoring:
        raise SqlError(1464, copy.database)
    end = streams.get_end_of_log_kb(world, copy)
    if copy.family != lead.family or end > lineage.find_common_kb(lead.lineage, copy.lineage):
        raise SqlError(1412, copy.database)
    lacks_backup = lead.log_backed_up and copy.last_log_backup_tick < lead.last_log_backup_tick
    if lacks_backup or end < max(lead.log_start_kb, lead.last_log_backup_kb):
        raise SqlError(1478, copy.database) if copy.was_mirror else SqlError(1412, copy.database)


def join_restored_copy(
    world: World, group: AvailabilityGroup, lead: DatabaseCopy, copy: DatabaseCopy
) -> None:
    """Make a restored copy a secondary database that receives log."""
    membership = AvailabilityMembership(
        guid=group.guid, database_guid=lead.availability.database_guid, role=ReplicaRole.SECONDARY
    )
    key = copy.key
    world.update_copy(
        key, availability=membership, standby=False, fork=lead.fork, former_fork=lead.former_fork
    )
    copy_key = (copy.database, copy.server)
    replicas.change_group(
        world,
        copy.server,
        group.guid,
        lambda old: replace(old, joined=tuple(sorted({*old.joined, copy_key}))),
    )
    movement.connect_copies(world, lead.key, key)
    network.schedule_detections(world, group.guid)


HANDLERS: Final[Handlers] = {"availability.seeded": on_seeding_done}
