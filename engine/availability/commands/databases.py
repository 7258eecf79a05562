"""Databases of a group: ADD and REMOVE DATABASE at the primary, SET HADR at each copy.

[DOC: ALTER DATABASE SET HADR]
"""

from collections.abc import Sequence

from msgspec.structs import replace

from engine.availability import movement, replicas, seeding
from engine.availability.commands import configuration
from engine.messages import Message, SqlError
from engine.model import (
    NO_AVAILABILITY,
    AvailabilityMembership,
    DatabaseCopy,
    DbState,
    RecoveryModel,
    ReplicaRole,
    SuspendReason,
    SyncState,
    World,
)
from engine.protocol import errorlog, network, statements

SYSTEM_DATABASES = ("master", "msdb", "model", "tempdb")

USER_SUSPEND_SOURCE = "SUSPEND_FROM_USER"
"""Source in message 35264 when a user suspends a database. Seen in public logs."""


# --- ADD and REMOVE DATABASE --------------------------------------------------------------------------------


def find_eligible_copies(
    world: World,
    server: str,
    names: Sequence[str],
    group: str,
    guid: int | None,
    basic: bool = False,
    existing_count: int = 0,
) -> list[DatabaseCopy]:
    """Return the databases of *server* that the group accepts.

    Raise an error if it does not accept one of them.

    35200: second database of a basic group; 35234: named twice; 35249: system database; 35238: does not
    exist; 35280: in this group already; 35244: in another group; 1468: mirrored; 1467: not open; 1465: not in
    the full recovery model; 1475: not backed up, or bulk changes since the backup.
    """
    used_names: set[str] = set()
    eligible_copies = []
    for name in names:
        if name.lower() in used_names:
            raise SqlError(35234, name)
        used_names.add(name.lower())
        if name.lower() in SYSTEM_DATABASES:
            raise SqlError(35249, name)
        copy = configuration.find_copy(world, server, name)
        if copy is None:
            raise SqlError(35238, name, group)
        _check_eligibility(copy, group, guid)
        eligible_copies.append(copy)
    if basic and existing_count + len(eligible_copies) > 1:
        raise SqlError(35200, eligible_copies[-1].database, group, 1)
    return eligible_copies


def _check_eligibility(copy: DatabaseCopy, group: str, guid: int | None) -> None:
    if copy.availability.guid is not None:
        raise SqlError(35280 if copy.availability.guid == guid else 35244, copy.database, group)
    if copy.group_kind == "mirroring":
        raise SqlError(1468, copy.database)
    if copy.db_state is not DbState.ONLINE:
        raise SqlError(1467, copy.database)
    if copy.read_only:
        raise SqlError(1466, copy.database)
    if copy.recovery_model is not RecoveryModel.FULL:
        raise SqlError(1465, copy.database)
    if copy.bulk_changes or not copy.full_backup:
        raise SqlError(1475, copy.database)


def add_copies_to_group(world: World, server: str, guid: int, copies: Sequence[DatabaseCopy]) -> None:
    """Add databases of *server*, which is the primary, to the group."""
    names = tuple(copy.database for copy in copies)
    old_group = world.groups[guid]
    world.groups[guid] = replace(old_group, databases=tuple(dict.fromkeys((*old_group.databases, *names))))
    for copy in copies:
        membership = AvailabilityMembership(
            guid=guid, database_guid=world.next_id(), role=ReplicaRole.PRIMARY, state=SyncState.SYNCHRONIZED
        )
        world.update_copy((server, copy.database), availability=membership)
    copy_keys = tuple((name, server) for name in names)
    replicas.change_group(
        world,
        server,
        guid,
        lambda group: replace(
            group,
            databases=(*group.databases, *names),
            joined=tuple(sorted((*group.joined, *copy_keys))),
            ready=tuple(sorted((*group.ready, *copy_keys))),
        ),
    )


def add_databases(world: World, server: str, name: str, databases: Sequence[str]) -> list[Message]:
    """Execute ADD DATABASE.

    The primary's copy joins immediately. Each secondary joins by a statement on its server or by seeding.
    """
    group = configuration.require_primary(world, server, name, "add", "database")
    database_count = len(group.databases)
    add_copies_to_group(
        world,
        server,
        group.guid,
        find_eligible_copies(world, server, databases, group.name, group.guid, group.basic, database_count),
    )
    return []


def remove_databases(world: World, server: str, name: str, databases: Sequence[str]) -> list[Message]:
    """Execute REMOVE DATABASE. Raise 41073.

    The primary's copy stays online; the secondaries' copies become RESTORING.
    """
    group = configuration.require_primary(world, server, name, "remove", "database")
    spelled = {database_name.lower(): database_name for database_name in group.databases}
    for database in databases:
        if database.lower() not in spelled:
            raise SqlError(41073, database, group.name)
    names = {spelled[database.lower()] for database in databases}
    replicas.change_group(
        world, server, group.guid, lambda old: movement.remove_copies(old, lambda place: place[0] in names)
    )
    movement.stop_sending(world, server, sorted(names))
    for database in sorted(names):
        world.update_copy((server, database), availability=NO_AVAILABILITY)
    movement.apply_removals(world)
    return []


# --- SET HADR -----------------------------------------------------------------------------------------------


def join_database(world: World, server: str, database: str, name: str) -> list[Message]:
    """Execute SET HADR AVAILABILITY GROUP = *name* at a secondary. Its copy was restored WITH NORECOVERY.

    Raise 15151 if this server has no such group, 911 if there is no such database, 35240 at the primary,
    41132 if the group does not contain the database, 41145 if it has already joined, 35244 if it is in
    another group, 35250 without a connection to the primary, 1464 if it is not RESTORING, 1412 or 1478 if log
    is missing.
    """
    configuration.require_node(world, server)
    if database.lower() in SYSTEM_DATABASES:
        raise SqlError(35249, database)
    copy = configuration.find_copy(world, server, database)
    if copy is None:
        raise SqlError(911, database)
    group = configuration.find_group(world, server, name, "find")
    state = world.replicas[server, group.guid]
    if state.role is ReplicaRole.PRIMARY:
        raise SqlError(35240, copy.database, group.name)
    if copy.availability.guid is not None:
        raise SqlError(41145 if copy.availability.guid == group.guid else 35244, copy.database, group.name)
    if copy.database not in group.databases:
        raise SqlError(41132, copy.database, group.name)
    contact = world.contacts.get((group.guid, server, state.primary or ""))
    if state.primary is None or contact is None or not contact.connected:
        raise SqlError(35250, state=7)
    lead = world.copies[state.primary, copy.database]
    seeding.check_log_continuity(world, lead, copy)
    seeding.join_restored_copy(world, group, lead, copy)
    return []


def leave_group(world: World, server: str, database: str) -> list[Message]:
    """Execute SET HADR OFF at a secondary. Its copy leaves the group and becomes RESTORING.

    Raise 35242 for a copy in no group, 35240 at the primary. Without quorum, and on an evicted computer, the
    copy leaves only locally; the cluster learns of it later. Derived.
    """
    if not replicas.is_always_on_enabled(world, server):
        configuration.require_node(world, server)
    copy = _find_copy(world, server, database)
    guid = copy.availability.guid
    group = replicas.find_group_config(world, server, guid) if guid is not None else None
    if guid is None or group is None:
        raise SqlError(35242, copy.database)
    if world.replicas[server, guid].role is ReplicaRole.PRIMARY:
        raise SqlError(35240, copy.database, group.name, state=14)
    copy_key = (copy.database, server)
    replicas.change_group(
        world, server, guid, lambda old: movement.remove_copies(old, lambda item: item == copy_key)
    )
    movement.apply_removals(world)
    if copy.group_kind and not configuration.can_write_cluster_database(world, server):
        movement.remove_copy_from_group(world, server, copy.database, guid)
        world.mark_session_changed(guid)
    return []


# --- SUSPEND and RESUME -------------------------------------------------------------------------------------


def _find_copy(world: World, server: str, database: str) -> DatabaseCopy:
    """Return the copy of a user database. Raise 35261 for a system database, 911 if it does not exist."""
    if database.lower() in SYSTEM_DATABASES:
        raise SqlError(35261, database)
    copy = configuration.find_copy(world, server, database)
    if copy is None:
        raise SqlError(911, database)
    return copy


def _require_joined_copy(world: World, server: str, database: str) -> tuple[DatabaseCopy, int]:
    """Return the copy of *database* on *server* and the number of its group.

    Raise 35239 if it has no role in a group.
    """
    configuration.require_node(world, server)
    copy = _find_copy(world, server, database)
    guid = copy.availability.guid
    group = replicas.find_group_config(world, server, guid) if guid is not None else None
    if guid is None or copy.availability.role is ReplicaRole.RESOLVING:
        raise SqlError(35239, database, group.name if group is not None else "")
    return copy, guid


def _find_servers_to_notify(world: World, copy: DatabaseCopy) -> tuple[int, tuple[str, ...]]:
    """Return (GUID of the group, servers that SUSPEND or RESUME must notify).

    A primary notifies all secondaries. A secondary notifies its primary.
    """
    guid = copy.availability.guid or 0
    state = world.replicas.get((copy.server, guid))
    if state is None:
        return guid, ()
    if state.role is ReplicaRole.PRIMARY:
        return guid, tuple(peer for peer, _ in copy.availability.peers)
    return guid, (state.primary,) if state.primary else ()


@statements.wait_for_peers("availability.suspend", _find_servers_to_notify)
def execute_suspend(world: World, server: str, database: str) -> list[Message]:
    """Execute SET HADR SUSPEND. A secondary suspends its own copy, the primary all copies. Raise 35239."""
    copy, guid = _require_joined_copy(world, server, database)
    key = (server, copy.database)
    if copy.availability.suspended is not None:
        return []
    world.update_availability(key, suspended=SuspendReason.USER)
    errorlog.write_message(
        world, server, 35264, copy.database, "user", int(SuspendReason.USER), USER_SUSPEND_SOURCE
    )
    primary = (
        server if copy.availability.role is ReplicaRole.PRIMARY else world.replicas[server, guid].primary
    )
    if primary == server:
        for peer, _ in copy.availability.peers:
            movement.continue_without_secondary(world, key, peer)
            movement.stop_receiver(world, key, peer)
        movement.update_primary_state(world, key)
    elif primary is not None and (primary, copy.database) in world.copies:
        movement.continue_without_secondary(world, (primary, copy.database), server)
        replicas.set_synchronization_state(world, key, SyncState.NOT_SYNCHRONIZING)
    world.mark_session_changed(guid)
    return []


@statements.wait_for_peers("availability.resume", _find_servers_to_notify)
def execute_resume(world: World, server: str, database: str) -> list[Message]:
    """Execute SET HADR RESUME at *server*: a secondary resumes its copy, the primary all copies. Raise 35239."""
    return resume_data_movement(world, server, database)


def resume_data_movement(world: World, server: str, database: str) -> list[Message]:
    """Resume the data movement of a copy.

    At the primary, also start to send log to all connected secondaries again. Raise 35239.
    """
    copy, guid = _require_joined_copy(world, server, database)
    key = (server, copy.database)
    if copy.availability.suspended is None:
        return []
    world.update_availability(key, suspended=None)
    errorlog.write_message(world, server, 35265, copy.database)
    copy_key = (copy.database, server)
    replicas.change_group(
        world,
        server,
        guid,
        lambda old: replace(old, pending_suspend=tuple(p for p in old.pending_suspend if p != copy_key)),
    )
    state = world.replicas[server, guid]
    lead = key if state.role is ReplicaRole.PRIMARY else (state.primary or "", copy.database)
    other_servers = [name for name, _ in copy.availability.peers] if lead == key else [server]
    if lead == key:
        movement.update_primary_state(world, key)
    for other_server in other_servers:
        contact = world.contacts.get((guid, lead[0], other_server))
        if contact is not None and contact.connected and (other_server, copy.database) in world.copies:
            movement.connect_copies(world, lead, (other_server, copy.database))
    network.schedule_detections(world, guid)
    return []
