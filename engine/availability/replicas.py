"""Knowledge of each instance about its replicas: role, state, and the group's configuration on its node."""

from collections.abc import Callable, Iterable
from typing import Final, TypedDict

from msgspec.structs import replace

from engine.cluster import config
from engine.events import ReplicaData, RoleData, StateData
from engine.localization import build_message, mark
from engine.messages import fill_placeholders, find_wording
from engine.model import (
    AvailabilityGroup,
    DatabaseCopy,
    Key,
    Node,
    Replica,
    ReplicaRole,
    ReplicaState,
    ReplicaWord,
    ResourceState,
    SuspendReason,
    SyncState,
    World,
)
from engine.protocol import errorlog

STARTING_REASON: Final = "The state changed because the local instance of SQL Server is starting up."
CLUSTER_STATE_REASON: Final = (
    "The state changed because the availability group state has changed in Windows Server Failover Clustering "
    "(WSFC)."
)
ONLINE_REASON: Final = "The state changed because the availability group is coming online."
ONLINE_COMPLETED_REASON: Final = (
    "The state changed because the local replica has completed processing Online command from Windows Server Failover "
    "Clustering (WSFC)."
)
OFFLINE_REASON: Final = (
    "The state changed because the availability group is going offline.  The replica is going offline because the "
    "associated availability group has been deleted, or the user has taken the associated availability group offline "
    "in Windows Server Failover Clustering (WSFC) management console, or the availability group is failing over to "
    "another SQL Server instance."
)
LEASE_EXPIRED_REASON: Final = (
    "The state changed because the lease between the local availability replica and Windows Server Failover "
    "Clustering (WSFC) has expired."
)
NO_QUORUM_REASON: Final = (
    "The state changed because the local instance of Windows Server Failover Clustering (WSFC) "
    "has lost quorum."
)
USER_FAILOVER_REASON: Final = "The state changed because of a user initiated failover."
SHUTDOWN_REASON: Final = "The state changed because SQL Server is shutting down."
"""Reason in message 19406 when SQL Server shuts down.

OFFLINE_REASON was seen in public logs. All other reasons are from memory of SQL Server.
"""


def list_listener_addresses(group: AvailabilityGroup, node: Node) -> tuple[str, ...]:
    """Return the addresses of the listener; empty without a listener.

    A listener with DHCP gets an invented address in the subnet of *node*. Assumed.
    """
    if group.listener is None:
        return ()
    return group.listener.addresses or (f"{node.subnet}.{200 + group.guid % 50}",)


DATA_MOVEMENT_STATES: Final = (SyncState.SYNCHRONIZING, SyncState.SYNCHRONIZED)

READS_WITHOUT_PRIMARY_SINCE: Final = 2014
"""First version whose secondaries remain readable while their primary is offline. Documented [DOC: readable
secondaries].
"""

SYSTEM_PERMISSIONS: Final = {
    "ALTER ANY AVAILABILITY GROUP": "ALAG",
    "CONNECT SQL": "COSQ",
    "VIEW SERVER STATE": "VWSS",
}
r"""Default permissions of NT AUTHORITY\SYSTEM -> their types in sys.server_permissions. The cluster needs them
at a replica that becomes primary. [DOC: automatic failover problems]
"""


def change_system_permissions(world: World, server: str, permissions: Iterable[str], granted: bool) -> None:
    r"""Execute GRANT, REVOKE or DENY of permissions of NT AUTHORITY\SYSTEM."""
    lacks = {*world.instances[server].system_lacks} - {*permissions}
    world.update_instance(server, system_lacks=tuple(sorted(lacks if granted else lacks | {*permissions})))


def is_always_on_enabled(world: World, server: str) -> bool:
    """Return whether Always On is enabled on the instance.

    Derived: it is enabled on cluster nodes since 2012 and stays enabled after an eviction.
    """
    return config.find_known_config(world, server) is not None and world.instances[server].version >= 2012


def find_group_config(world: World, server: str, guid: int) -> AvailabilityGroup | None:
    """Return the group in the last configuration with quorum that the computer of *server* knows, or None."""
    known_config = config.find_known_config(world, server)
    return known_config.find_group(guid) if known_config is not None else None


def list_replica_states(world: World, server: str) -> list[ReplicaState]:
    """Return the states of all replicas on *server*."""
    return [
        state for (replica_server, _), state in sorted(world.replicas.items()) if replica_server == server
    ]


FIRST_METADATA_ID: Final = 65_536
"""First group ID in the instance's own metadata. Seen in public error logs."""


def get_metadata_id(world: World, server: str, guid: int) -> int:
    """Return the ID of a group in the metadata of the instance."""
    return FIRST_METADATA_ID + [state.guid for state in list_replica_states(world, server)].index(guid)


def find_group(world: World, server: str, name: str) -> AvailabilityGroup | None:
    """Return the group named *name* as the node of *server* knows it, or None."""
    known_config = config.find_known_config(world, server)
    groups = known_config.groups if known_config is not None else ()
    return next((group for group in groups if group.name.lower() == name.lower()), None)


def find_own_replica(world: World, server: str, guid: int) -> Replica | None:
    """Return the server's replica in the group's configuration, or None."""
    group = find_group_config(world, server, guid)
    return group.find_replica(server) if group is not None else None


def list_group_copies(world: World, server: str, guid: int) -> list[DatabaseCopy]:
    """Return the copies on *server* that belong to the group."""
    found_copies = (world.copies.get((server, database)) for database in world.groups[guid].databases)
    return [copy for copy in found_copies if copy is not None and copy.availability.guid == guid]


def find_suspend_reason(world: World, key: Key) -> SuspendReason | None:
    """Return the reason why data movement of a copy is suspended, or None.

    SUSPEND at the primary also suspends the connected secondaries, with the reason PARTNER. [DOC: resume an
    availability database; DatabaseReplicaSuspendReason]
    """
    copy = world.copies.get(key)
    if copy is None or copy.availability.suspended is not None or copy.availability.guid is None:
        return copy.availability.suspended if copy is not None else None
    guid, (server, database) = copy.availability.guid, key
    state = world.replicas.get((server, guid))
    if state is None or state.primary is None or state.primary == server:
        return None
    contact, lead = (
        world.contacts.get((guid, server, state.primary)),
        world.copies.get((state.primary, database)),
    )
    is_known = contact is not None and contact.connected
    return (
        SuspendReason.PARTNER
        if is_known and lead is not None and lead.availability.suspended is not None
        else None
    )


def change_group(
    world: World, server: str, guid: int, edit: Callable[[AvailabilityGroup], AvailabilityGroup]
) -> bool:
    """Change the group's configuration in the cluster. Return False if the node of *server* has no quorum."""
    node = config.find_server_node(world, server)
    return node is not None and config.update_group(world, node.name, guid, edit)


QUORUM_LOSS_REASON: Final = "the local Windows Server Failover Clustering (WSFC) node has lost quorum"
"""Reason in message 41092. Seen in public logs."""

ROLE_CHANGE_REASON: Final = "role synchronization"
"""Reason in message 1480. Almost all public logs show this reason."""

STATE_CHANGE_TEMPLATE: Final = mark("replica of {group}: {old} -> {new}")


def set_replica_state(
    world: World,
    server: str,
    guid: int,
    state_word: ReplicaWord,
    reason: str,
    *,
    primary: str | None = None,
    pending: str = "",
) -> None:
    """Set the state of the replica on *server* and the role of its databases.

    A replica that is still becoming primary keeps its databases RESOLVING.
    """
    old_state = world.replicas[server, guid]
    world.replicas[server, guid] = replace(
        old_state, word=state_word, primary=primary, pending=pending, owed="", since_tick=world.tick
    )
    group = find_group_config(world, server, guid)
    name = group.name if group is not None else str(guid)
    if old_state.word is not state_word:
        errorlog.write_message(world, server, 19406, name, old_state.word.value, state_word.value, reason)
    for copy in list_group_copies(world, server, guid):
        role = state_word.role if state_word is not ReplicaWord.PRIMARY_PENDING else ReplicaRole.RESOLVING
        _set_role(world, (server, copy.database), role)
        if (
            state_word is not ReplicaWord.RESOLVING_NORMAL
        ):  # reads without a primary continue only while the replica is RESOLVING
            world.update_availability((server, copy.database), reads_alone=False)
    if old_state.word is state_word:
        return
    text = build_message(STATE_CHANGE_TEMPLATE, group=name, old=old_state.word.value, new=state_word.value)
    world.emit(ReplicaData(group=name, old=old_state.word.value, new=state_word.value), text, server=server)
    world.mark_all_logs_changed()


def _set_role(world: World, key: Key, role: ReplicaRole) -> None:
    copy = world.copies[key]
    if copy.availability.role is role:
        return
    old_role = copy.availability.role
    set_synchronization_state(world, key, SyncState.NOT_SYNCHRONIZING)
    world.update_copy(key, backup_from_kb=None, active_from_kb=None, window_transactions=(), operation=None)
    world.update_availability(
        key,
        role=role,
        peers=(),
        lost=(),
        closing=(),
        **get_allowed_connections(world, key),
    )
    if world.instances[key[0]].running:
        message = fill_placeholders(
            find_wording(1480, 2012).text,
            ("availability group", key[1], old_role.name, role.name, ROLE_CHANGE_REASON),
        )
        errorlog.write_line(world, key[0], 1480, 10, 1, message)
    text = build_message("{old} -> {new}", old=old_role.name, new=role.name)
    world.emit(RoleData(new=role.name), text, server=key[0], database=key[1])


class AllowedConnections(TypedDict):
    """Fields of AvailabilityMembership: connections that a copy allows as secondary and as primary."""

    readers: str
    primary_connections: str


def compare_version_with_primary(world: World, group: AvailabilityGroup, server: str) -> int:
    """Return the version of *server* minus the version of the primary; 0 if the primary is unknown."""
    lead = world.instances.get(group.primary)
    return world.instances[server].version - lead.version if lead is not None else 0


def get_allowed_connections(world: World, key: Key) -> AllowedConnections:
    """Return the allowed connections of the copy as secondary and as primary.

    A secondary is not readable in a basic group, or if its instance has a later version than the primary.
    [DOC: basic availability groups; upgrading replicas]
    """
    guid = world.copies[key].availability.guid
    replica = find_own_replica(world, key[0], guid) if guid is not None else None
    group = find_group_config(world, key[0], guid) if guid is not None else None
    if replica is None or group is None:
        return {"readers": "NO", "primary_connections": "ALL"}
    if group.basic or compare_version_with_primary(world, group, key[0]) > 0:
        return {"readers": "NO", "primary_connections": replica.primary_connections}
    return {"readers": replica.secondary_connections, "primary_connections": replica.primary_connections}


def set_synchronization_state(world: World, key: Key, new_state: SyncState) -> None:
    """Set the synchronization state of a server's own copy, as this server knows it."""
    own_availability = world.copies[key].availability
    old_state = own_availability.state
    if old_state is not new_state:
        is_alone = (
            own_availability.role is ReplicaRole.SECONDARY
            and new_state is SyncState.NOT_SYNCHRONIZING
            and old_state in DATA_MOVEMENT_STATES
        )
        is_alone = is_alone and world.instances[key[0]].version >= READS_WITHOUT_PRIMARY_SINCE
        world.update_availability(key, state=new_state, reads_alone=is_alone)
        group = (
            find_group_config(world, key[0], own_availability.guid)
            if own_availability.guid is not None
            else None
        )
        name = group.name if group is not None else str(own_availability.guid)
        text = build_message("{old} -> {new}", old=old_state.name, new=new_state.name)
        world.emit(
            StateData(old=old_state.name, new=new_state.name, group=name),
            text,
            server=key[0],
            database=key[1],
        )


def set_peer_state(world: World, key: Key, server: str, new_state: SyncState) -> None:
    """Set the synchronization state of the copy on *server*, as the primary *key* knows it."""
    own_availability = world.copies[key].availability
    peers = dict(own_availability.peers)
    if peers.get(server) is not new_state:
        world.update_availability(key, peers=tuple(sorted({**peers, server: new_state}.items())))


def defer_role_loss(world: World, server: str, reason: str, guid: int | None = None) -> None:
    """Let the replicas of a hung instance lose their roles when it responds again."""
    for state in list_replica_states(world, server):
        if guid in (None, state.guid) and state.word is not ReplicaWord.NOT_AVAILABLE:
            world.replicas[server, state.guid] = replace(state, owed=reason)


def on_quorum_lost(world: World, server: str) -> None:
    """Handle the loss of quorum on the node of *server*.

    Its replicas can then be neither primary nor secondary.
    """
    if world.instances[server].hung:
        defer_role_loss(world, server, NO_QUORUM_REASON)
        return
    states = [
        state for state in list_replica_states(world, server) if state.word is not ReplicaWord.NOT_AVAILABLE
    ]
    if states:
        errorlog.write_message(world, server, 41048)
        errorlog.write_message(world, server, 41092, QUORUM_LOSS_REASON)
        errorlog.write_message(world, server, 41050)
    for state in states:
        set_replica_state(world, server, state.guid, ReplicaWord.RESOLVING_NORMAL, NO_QUORUM_REASON)
    for copy in [copy for copy in world.copies.values() if copy.server == server and copy.availability.guid]:
        world.update_availability((server, copy.database), quorum=False)


def on_quorum_regained(world: World, server: str) -> None:
    """Handle the return of the node of *server* to the cluster."""
    node = config.find_server_node(world, server)
    if world.instances[server].hung:
        return
    states = [
        state for state in list_replica_states(world, server) if state.word is not ReplicaWord.NOT_AVAILABLE
    ]
    if states:
        for number in (41051, 41053, 41055):
            errorlog.write_message(world, server, number)
        if node is not None and node.config.forced:
            errorlog.write_message(world, server, 19491)
    for state in states:
        group = find_group_config(world, server, state.guid)
        errorlog.write_message(world, server, 41058, group.name if group is not None else "")
    for copy in [copy for copy in world.copies.values() if copy.server == server and copy.availability.guid]:
        world.update_availability((server, copy.database), quorum=True)


def is_failover_requested(world: World, group: AvailabilityGroup, server: str) -> bool:
    """Return whether the cluster is moving the group to *server* because of a failover statement."""
    known_config = config.find_known_config(world, server)
    role = known_config.find_role(group.name) if known_config is not None else None
    if role is None or role.way != "move" or not world.replicas[server, group.guid].pending:
        return False
    return role.state in (ResourceState.OFFLINE_PENDING, ResourceState.ONLINE_PENDING)


def end_failed_failover_request(world: World, server: str, guid: int) -> None:
    """End a failover request that the cluster has not fulfilled. The replica may then follow another primary.

    [DOC: 41104]
    """
    group = find_group_config(world, server, guid)
    if group is not None and not is_failover_requested(world, group, server):
        set_replica_state(world, server, guid, ReplicaWord.RESOLVING_NORMAL, CLUSTER_STATE_REASON)


def await_ready_copies(world: World, key: Key) -> None:
    """Let commits of a reopened primary *key* wait for copies that are not synchronized.

    They wait only for copies that the cluster records as ready for failover.
    """
    own_availability = world.copies[key].availability
    group = find_group_config(world, key[0], own_availability.guid or 0)
    ready_servers = (
        {server for database, server in group.ready if database == key[1]} if group is not None else set()
    )
    lost = {
        server
        for server in ready_servers - {key[0]}
        if own_availability.get_peer_state(server) is not SyncState.SYNCHRONIZED
    }
    world.update_availability(key, lost=tuple(sorted(lost.union(own_availability.lost))))
