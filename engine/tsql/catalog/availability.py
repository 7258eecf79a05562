"""Availability groups as each server sees them: what the cluster has written down, and what the instance itself knows.

Configuration comes from the node's copy of the cluster database; views of the cluster are empty on a node without
quorum. A primary sees the state of each secondary as that one last reported it, a secondary sees its own alone.
[DOC: availability group views] [DOC: availability group dynamic views]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from engine.availability import replicas
from engine.cluster import config
from engine.constants import TICKS_PER_S
from engine.identifiers import group_database_id, group_id, replica_id, unique_id
from engine.model import (
    AvailabilityGroup,
    CommitMode,
    DatabaseCopy,
    DbState,
    Replica,
    ReplicaRole,
    ReplicaState,
    ReplicaWord,
    ResourceState,
    SyncState,
)
from engine.protocol import streams
from engine.protocol.lineage import lsn
from engine.tsql.batches.context import Context
from engine.tsql.catalog.databases import shown_state
from engine.tsql.catalog.view import Record, none, view

HEALTH: Final = ("NOT_HEALTHY", "PARTIALLY_HEALTHY", "HEALTHY")
PREFERENCES: Final = ("PRIMARY", "SECONDARY_ONLY", "SECONDARY", "NONE")
_PRIMARY_CONNECTIONS: Final = {"ALL": 2, "READ_WRITE": 3}
_SECONDARY_CONNECTIONS: Final = {"NO": 0, "READ_ONLY": 1, "ALL": 2}
"""Numbers of the documented words. [DOC: availability group views]"""

SMALL_KB: Final = 1.0
"""Less than this is no backlog: the last block is on its way."""


def groups(context: Context) -> list[tuple[AvailabilityGroup, ReplicaState]]:
    """The groups of which the instance has a replica, with what it knows of that."""
    world, me = context.world, context.session.server
    known = ((replicas.group_of(world, me, state.guid), state) for state in replicas.on_server(world, me))
    return sorted(
        ((group, state) for group, state in known if group is not None), key=lambda one: one[0].name
    )


def has_quorum(context: Context) -> bool:
    return config.has_quorum(context.world, context.session.server)


def clustered_groups(context: Context) -> tuple[AvailabilityGroup, ...]:
    """All groups of the cluster, as the node's instance can ask for them: none without quorum."""
    node = config.node_of(context.world, context.session.server)
    enabled = replicas.enabled(context.world, context.session.server)
    return node.config.groups if node is not None and enabled and has_quorum(context) else ()


def _seen(context: Context) -> Iterator[tuple[AvailabilityGroup, Replica]]:
    """Configured replicas: all of the cluster, and without quorum the instance's own, kept in its own metadata."""
    if has_quorum(context):
        yield from ((group, replica) for group in clustered_groups(context) for replica in group.replicas)
        return
    for group, _ in groups(context):
        own = group.replica(context.session.server)
        if own is not None:
            yield group, own


# --- configuration ----------------------------------------------------------------------------------------


def _group(group: AvailabilityGroup) -> Record:
    preference = group.backup_preference
    return {
        "group_id": group_id(group.guid),
        "name": group.name,
        "resource_id": unique_id("resource", group.guid).lower(),
        "resource_group_id": unique_id("role", group.guid).lower(),
        "failure_condition_level": group.failure_condition_level,
        "health_check_timeout": group.health_check_timeout_ms,
        "automated_backup_preference": PREFERENCES.index(preference),
        "automated_backup_preference_desc": preference,
        "db_failover": int(group.db_failover),
        "required_synchronized_secondaries_to_commit": group.required_synchronized,
    }


def _replicas(context: Context) -> Iterable[Record]:
    for place, (group, replica) in enumerate(_seen(context)):
        yield {
            "replica_id": replica_id(group.guid, replica.server),
            "group_id": group_id(group.guid),
            "replica_metadata_id": 65536 + place if replica.server == context.session.server else None,
            "replica_server_name": replica.server,
            "owner_sid": b"\x01",
            "endpoint_url": replica.endpoint_url,
            "availability_mode": int(replica.mode),
            "availability_mode_desc": replica.mode.name,
            "failover_mode": int(replica.failover),
            "failover_mode_desc": replica.failover.name,
            "session_timeout": replica.session_timeout_s,
            "primary_role_allow_connections": _PRIMARY_CONNECTIONS[replica.primary_connections],
            "primary_role_allow_connections_desc": replica.primary_connections,
            "secondary_role_allow_connections": _SECONDARY_CONNECTIONS[replica.secondary_connections],
            "secondary_role_allow_connections_desc": replica.secondary_connections,
            "backup_priority": replica.backup_priority,
            "read_only_routing_url": replica.read_only_routing_url,
            "seeding_mode": 1,
            "seeding_mode_desc": "MANUAL",
        }


def _number(context: Context, group: AvailabilityGroup, database: str) -> int:
    """The number of a database in its group, which every copy of it has."""
    copies = (copy.availability for copy in context.world.copies_of(database))
    return next((mine.database_guid for mine in copies if mine.guid == group.guid), 0)


def _databases(context: Context) -> Iterable[Record]:
    for group in clustered_groups(context):
        for database in group.databases:
            yield {
                "group_id": group_id(group.guid),
                "group_database_id": group_database_id(_number(context, group, database)),
                "database_name": database,
            }


def _addresses(context: Context, group: AvailabilityGroup) -> tuple[str, ...]:
    """Addresses of the listener; one that nobody has given is made up in the subnet of the first node."""
    if group.listener is None or group.listener.addresses:
        return group.listener.addresses if group.listener is not None else ()
    node = config.node_of(context.world, context.session.server)
    assert node is not None
    return (f"{node.subnet}.{200 + group.guid % 50}",)


def _listener_id(group: AvailabilityGroup) -> str:
    return unique_id("listener", group.guid).lower()


def _listeners(context: Context) -> Iterable[Record]:
    for group in clustered_groups(context):
        if group.listener is not None:
            addresses = " or ".join(f"'IP Address: {address}'" for address in _addresses(context, group))
            yield {
                "group_id": group_id(group.guid),
                "listener_id": _listener_id(group),
                "dns_name": group.listener.name,
                "port": group.listener.port,
                "is_conformant": 1,
                "ip_configuration_string_from_cluster": f"({addresses})",
                "is_distributed_network_name": 0,
            }


_ADDRESS_STATES: Final = {
    ResourceState.OFFLINE: 0, ResourceState.ONLINE: 1, ResourceState.ONLINE_PENDING: 2, ResourceState.FAILED: 3,
}  # fmt: skip


def _listener_addresses(context: Context) -> Iterable[Record]:
    """Of several addresses that of the owner's subnet is online."""
    node = config.node_of(context.world, context.session.server)
    for group in clustered_groups(context):
        role = node.config.role(group.name) if node is not None else None
        owner = context.world.nodes.get(role.owner) if role is not None else None
        addresses = _addresses(context, group)
        for address in addresses:
            subnet = address.rpartition(".")[0]
            here = len(addresses) == 1 or (owner is not None and owner.subnet == subnet)
            state = _ADDRESS_STATES.get(role.state, 0) if role is not None and here else 0
            yield {
                "listener_id": _listener_id(group),
                "ip_address": address,
                "ip_subnet_mask": "255.255.255.0",
                "is_dhcp": 0,
                "network_subnet_ip": f"{subnet}.0",
                "network_subnet_prefix_length": 24,
                "network_subnet_ipv4_mask": "255.255.255.0",
                "state": state,
                "state_desc": ("OFFLINE", "ONLINE", "ONLINE_PENDING", "FAILED")[state],
            }


def _routing(context: Context) -> Iterable[Record]:
    for group, replica in _seen(context):
        for priority, server in enumerate(replica.read_only_routing_list, start=1):
            yield {
                "replica_id": replica_id(group.guid, replica.server),
                "routing_priority": priority,
                "read_only_replica_id": replica_id(group.guid, server),
            }


view("sys.availability_groups", lambda context: [_group(group) for group, _ in groups(context)])
view(
    "sys.availability_groups_cluster", lambda context: [_group(group) for group in clustered_groups(context)]
)
view("sys.availability_replicas", _replicas)
view("sys.availability_databases_cluster", _databases)
view("sys.availability_group_listeners", _listeners)
view("sys.availability_group_listener_ip_addresses", _listener_addresses)
view("sys.availability_read_only_routing_lists", _routing)


# --- databases --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Seen:
    """One database of a replica, as the instance that is asked sees it."""

    group: AvailabilityGroup
    replica: Replica
    copy: DatabaseCopy
    """The instance's own copy of the database."""
    state: SyncState

    @property
    def local(self) -> bool:
        return self.replica.server == self.copy.server

    @property
    def health(self) -> int:
        """Documented: healthy in the state that the replica's mode aims at. Reverting and initializing are not."""
        synchronous = self.replica.mode is CommitMode.SYNCHRONOUS_COMMIT
        target = SyncState.SYNCHRONIZED if synchronous else SyncState.SYNCHRONIZING
        if self.state in (target, SyncState.SYNCHRONIZED):
            return 2
        return int(self.state is SyncState.SYNCHRONIZING)


def databases(context: Context, group: AvailabilityGroup) -> Iterator[Seen]:
    """The instance's own databases of a group; at a primary those of every other replica that has joined, too."""
    world, me = context.world, context.session.server
    for copy in replicas.copies(world, me, group.guid):
        for replica in group.replicas:
            mine = copy.availability
            if replica.server == me:
                yield Seen(group, replica, copy, mine.state)
            elif mine.role is ReplicaRole.PRIMARY and (copy.database, replica.server) in group.joined:
                yield Seen(group, replica, copy, mine.peer(replica.server))


def connected(context: Context, guid: int, server: str) -> bool:
    """The instance has a connection to the replica on *server*."""
    contact = context.world.contacts.get((guid, context.session.server, server))
    return contact is not None and contact.connected


def _database_state(context: Context, seen: Seen) -> Record:
    mine = seen.copy.availability
    suspended = mine.suspended if seen.local else None
    if not seen.local and connected(context, seen.group.guid, seen.replica.server):
        other = context.world.copies.get((seen.replica.server, seen.copy.database))
        suspended = other.availability.suspended if other is not None else None
    state = shown_state(seen.copy)
    primary = seen.local and mine.role is ReplicaRole.PRIMARY
    in_step = [server for server, peer in mine.peers if peer is SyncState.SYNCHRONIZED]
    return {
        "database_id": seen.copy.database_id,
        "group_id": group_id(seen.group.guid),
        "replica_id": replica_id(seen.group.guid, seen.replica.server),
        "group_database_id": group_database_id(mine.database_guid),
        "is_local": int(seen.local),
        "is_primary_replica": int(primary),
        "synchronization_state": int(seen.state),
        "synchronization_state_desc": seen.state.name.replace("_", " "),
        "is_commit_participant": int(bool(in_step) if primary else seen.replica.server in in_step),
        "synchronization_health": seen.health,
        "synchronization_health_desc": HEALTH[seen.health],
        "database_state": int(state) if seen.local else None,
        "database_state_desc": DbState(state).name if seen.local else None,
        "is_suspended": int(suspended is not None),
        "suspend_reason": suspended.value if suspended is not None else None,
        "suspend_reason_desc": f"SUSPEND_FROM_{suspended.name}" if suspended is not None else None,
        **(_own_log(context, seen) if primary else _received_log(context, seen)),
    }


def _own_log(context: Context, seen: Seen) -> Record:
    """The primary's own row: nothing is sent to it, nothing redone."""
    world, copy = context.world, seen.copy
    if copy.source is None:
        return {}
    at, now = world.flow.positions(copy.source), world.flow.reading(copy.source)
    waited = [
        world.flow.stream_positions(stream).acknowledged_kb
        for stream in world.flow.streams_of(copy.source)
        if world.flow.stream_setup(stream).awaited
    ]
    return {
        "recovery_lsn": lsn(copy.lineage[-1][1]) if copy.lineage else None,
        "truncation_lsn": lsn(min(hold for _, hold in streams.log_holds(world, copy, copy.source))),
        "last_sent_lsn": None,
        "last_hardened_lsn": lsn(min(waited)) if waited else None,
        "last_hardened_time": _behind(context, copy.source, at.flushed_kb - min(waited)) if waited else None,
        "end_of_log_lsn": lsn(at.flushed_kb),
        "last_commit_lsn": lsn(at.committed_kb),
        "last_commit_time": context.now() if now.transactions_per_s > 0.0 else None,
    }


def _behind(context: Context, source: int, behind_kb: float) -> str | None:
    """When the log *behind_kb* from the end was written, at the rate of now; NULL if none is written. Derived."""
    rate = context.world.flow.reading(source).log_generation_kb_per_s
    if behind_kb <= SMALL_KB:
        return context.now()
    if rate <= 0.0:
        return None
    return context.now(max(0, context.world.tick - round(behind_kb / rate * TICKS_PER_S)))


def _received_log(context: Context, seen: Seen) -> Record:
    """A secondary's row, at the primary (what that one has been told) or at the secondary itself.

    What a lost secondary had reported last is as old as the loss. Only a primary knows what it has sent.
    """
    world = context.world
    guid, lead = seen.group.guid, not seen.local
    follow = world.copies.get((seen.replica.server, seen.copy.database))
    peer = seen.replica.server if lead else world.replicas[seen.copy.server, guid].primary or ""
    if follow is None or follow.stream is None:
        end = streams.end_of_log_kb(world, follow) if follow is not None and seen.local else None
        return {"end_of_log_lsn": lsn(end), "last_hardened_lsn": lsn(end)} if end is not None else {}
    stream = follow.stream
    source = world.flow.source_of(stream)
    if lead and seen.copy.source != source:
        return {}
    at, own, now = (
        world.flow.stream_positions(stream),
        world.flow.positions(source),
        world.flow.stream_reading(stream),
    )
    contact = world.contacts.get((guid, context.session.server, peer))
    lost = contact is None or not contact.connected
    lost_at = context.now(contact.since_tick) if contact is not None and lost else None

    def when(kb: float) -> str | None:
        return lost_at if lost else _behind(context, source, own.committed_kb - kb)

    hardened_kb = at.acknowledged_kb if lead else at.hardened_kb
    redone_kb = min(at.redone_kb, hardened_kb)
    behind = _behind_s(context, source, own.flushed_kb - hardened_kb)
    sent: Record = {
        "last_sent_lsn": lsn(at.sent_kb),
        "last_sent_time": when(at.sent_kb),
        "log_send_queue_size": int(max(0.0, own.flushed_kb - at.sent_kb)),
        "log_send_rate": int(now.log_send_kb_per_s),
        "secondary_lag_seconds": behind,
    }
    return {
        **(sent if lead else {}),
        "last_received_lsn": lsn(at.received_kb),
        "last_received_time": when(at.received_kb),
        "last_hardened_lsn": lsn(hardened_kb),
        "last_hardened_time": when(hardened_kb),
        "last_redone_lsn": lsn(redone_kb),
        "last_redone_time": when(redone_kb),
        "redo_queue_size": int(max(0.0, hardened_kb - redone_kb)),
        "redo_rate": int(now.redo_kb_per_s),
        "end_of_log_lsn": lsn(hardened_kb),
        "last_commit_lsn": lsn(min(own.committed_kb, hardened_kb if lead else redone_kb)),
        "last_commit_time": when(hardened_kb if lead else redone_kb),
    }


def _behind_s(context: Context, source: int, behind_kb: float) -> int | None:
    rate = context.world.flow.reading(source).log_generation_kb_per_s
    return 0 if behind_kb <= SMALL_KB else int(behind_kb / rate) if rate > 0.0 else None


def _database_states(context: Context) -> Iterable[Record]:
    for group, _ in groups(context):
        for seen in databases(context, group):
            yield _database_state(context, seen)


def _database_cluster_states(context: Context) -> Iterable[Record]:
    for group in clustered_groups(context):
        here = context.world.replicas.get((context.session.server, group.guid))
        leads = here is not None and here.role is ReplicaRole.PRIMARY
        for replica in group.replicas:
            for database in group.databases:
                place = (database, replica.server)
                copy = context.world.copies.get((context.session.server, database))
                yield {
                    "replica_id": replica_id(group.guid, replica.server),
                    "group_database_id": group_database_id(_number(context, group, database)),
                    "database_name": database,
                    "is_failover_ready": int(place in group.ready),
                    "is_pending_secondary_suspend": int(place in group.pending_suspend),
                    "is_database_joined": int(place in group.joined),
                    "recovery_lsn": lsn(copy.lineage[-1][1]) if leads and copy and copy.lineage else None,
                    "truncation_lsn": None,
                }


view("sys.dm_hadr_database_replica_states", _database_states)
view("sys.dm_hadr_database_replica_cluster_states", _database_cluster_states)
view("sys.dm_hadr_automatic_seeding", none)
view("sys.dm_hadr_physical_seeding_stats", none)


# --- replicas and groups ----------------------------------------------------------------------------------

_OPERATIONAL: Final = ("PENDING_FAILOVER", "PENDING", "ONLINE", "OFFLINE", "FAILED", "FAILED_NO_QUORUM")


def _operational(context: Context, state: ReplicaState) -> int | None:
    """operational_state of the own replica; a secondary that lost its primary is in none of them. Derived."""
    if state.pending or state.word is ReplicaWord.RESOLVING_PENDING_FAILOVER:
        return 0
    if state.word is ReplicaWord.PRIMARY_PENDING:
        return 1
    if state.role is ReplicaRole.RESOLVING:
        return 3 if has_quorum(context) else 5
    joined = state.role is ReplicaRole.PRIMARY or connected(context, state.guid, state.primary or "")
    return 2 if joined else None


def replica_health(context: Context, group: AvailabilityGroup, server: str) -> int:
    """Worst health of the databases of a replica; a replica without any has nothing that moves."""
    return min(
        (seen.health for seen in databases(context, group) if seen.replica.server == server), default=0
    )


def _recovery(context: Context, group: AvailabilityGroup) -> int:
    copies = replicas.copies(context.world, context.session.server, group.guid)
    return int(all(shown_state(copy) is DbState.ONLINE for copy in copies))


def _visible(context: Context, group: AvailabilityGroup, state: ReplicaState) -> list[Replica]:
    """Replicas whose state the instance knows: all at the primary, else its own."""
    leads = state.role is ReplicaRole.PRIMARY
    return [replica for replica in group.replicas if leads or replica.server == state.server]


def _replica_states(context: Context) -> Iterable[Record]:
    for group, state in groups(context):
        for replica in _visible(context, group, state):
            local = replica.server == state.server
            role = state.role if local else ReplicaRole.SECONDARY
            leads = local and role is ReplicaRole.PRIMARY
            other = state.primary or "" if local else replica.server
            linked = int(leads or connected(context, group.guid, other))
            if local and role is ReplicaRole.RESOLVING:
                linked = 0
            operational = _operational(context, state) if local else None
            recovery = _recovery(context, group) if local else None
            health = replica_health(context, group, replica.server)
            yield {
                "replica_id": replica_id(group.guid, replica.server),
                "group_id": group_id(group.guid),
                "is_local": int(local),
                "role": int(role),
                "role_desc": role.name,
                "operational_state": operational,
                "operational_state_desc": _OPERATIONAL[operational] if operational is not None else None,
                "recovery_health": recovery,
                "recovery_health_desc": _recovery_word(recovery),
                "synchronization_health": health,
                "synchronization_health_desc": HEALTH[health],
                "connected_state": linked,
                "connected_state_desc": ("DISCONNECTED", "CONNECTED")[linked],
            }


def _recovery_word(health: int | None) -> str | None:
    return None if health is None else ("ONLINE_IN_PROGRESS", "ONLINE")[health]


def _group_states(context: Context) -> Iterable[Record]:
    for group, state in groups(context):
        known = [replica_health(context, group, one.server) for one in _visible(context, group, state)]
        health = 2 if min(known, default=0) == 2 else int(max(known, default=0) == 2)
        own = _recovery(context, group)
        first = own if state.role is ReplicaRole.PRIMARY else None
        second = own if state.role is ReplicaRole.SECONDARY else None
        known_primary = state.role is not ReplicaRole.RESOLVING and has_quorum(context)
        yield {
            "group_id": group_id(group.guid),
            "primary_replica": state.primary if known_primary else None,
            "primary_recovery_health": first,
            "primary_recovery_health_desc": _recovery_word(first),
            "secondary_recovery_health": second,
            "secondary_recovery_health_desc": _recovery_word(second),
            "synchronization_health": health,
            "synchronization_health_desc": HEALTH[health],
        }


def _replica_cluster_states(context: Context) -> Iterable[Record]:
    for group in clustered_groups(context):
        for replica in group.replicas:
            instance = context.world.instances.get(replica.server)
            join = 0 if not replica.joined else 2 if instance is not None and instance.clustered else 1
            yield {
                "replica_id": replica_id(group.guid, replica.server),
                "replica_server_name": replica.server,
                "group_id": group_id(group.guid),
                "join_state": join,
                "join_state_desc": (
                    "NOT_JOINED",
                    "JOINED_STANDALONE_INSTANCE",
                    "JOINED_FAILOVER_CLUSTER_INSTANCE",
                )[join],
            }


def _hosts(context: Context, server: str) -> list[str]:
    """Nodes on which the instance of a replica may run."""
    node = config.node_of(context.world, server)
    if node is None:
        return []
    role = node.config.role(server)
    owners = [owner for resource in role.resources for owner in resource.owners] if role is not None else []
    return sorted(set(owners)) or [node.name]


def _cluster_nodes(context: Context) -> Iterable[Record]:
    for group in clustered_groups(context):
        for replica in group.replicas:
            for host in _hosts(context, replica.server):
                yield {
                    "group_name": group.name,
                    "replica_server_name": replica.server,
                    "node_name": host,
                }


def _name_ids(context: Context) -> Iterable[Record]:
    for group in clustered_groups(context):
        row = _group(group)
        yield {
            "ag_name": group.name,
            "ag_id": row["group_id"],
            "ag_resource_id": row["resource_id"],
            "ag_group_id": row["resource_group_id"],
        }


def _instance_nodes(context: Context) -> Iterable[Record]:
    for group in clustered_groups(context):
        for replica in group.replicas:
            node = config.node_of(context.world, replica.server)
            if replica.joined and node is not None:
                yield {
                    "ag_resource_id": _group(group)["resource_id"],
                    "instance_name": replica.server,
                    "node_name": node.name,
                }


def _page_repairs(context: Context) -> Iterable[Record]:
    for copy in context.copies():
        for repair in copy.page_repairs if copy.availability.guid is not None else ():
            yield {
                "database_id": copy.database_id,
                "file_id": repair.file,
                "page_id": repair.page,
                "error_type": repair.error_type,
                "page_status": repair.status,
                "modification_time": context.now(repair.tick),
            }


view("sys.dm_hadr_availability_group_states", _group_states)
view("sys.dm_hadr_availability_replica_states", _replica_states)
view("sys.dm_hadr_availability_replica_cluster_states", _replica_cluster_states)
view("sys.dm_hadr_availability_replica_cluster_nodes", _cluster_nodes)
view("sys.dm_hadr_name_id_map", _name_ids)
view("sys.dm_hadr_instance_node_map", _instance_nodes)
view("sys.dm_hadr_auto_page_repair", _page_repairs)


# --- functions --------------------------------------------------------------------------------------------


def is_primary(context: Context, database: str) -> int | None:
    """NULL for a database in no group. Documented [DOC: sys.fn_hadr_is_primary_replica]."""
    copy = context.copy_named(database)
    if copy is None or copy.availability.guid is None:
        return None
    return int(copy.availability.role is ReplicaRole.PRIMARY)


def backs_up(context: Context, database: str) -> int:
    """sys.fn_hadr_backup_is_preferred_replica: 1 in no group, else whether the group's preference names this replica.

    Among those that the preference allows and whose node is up, the highest priority; of equal ones the first by name.
    Documented but for the ties [DOC: sys.fn_hadr_backup_is_preferred_replica].
    """
    world, me = context.world, context.session.server
    copy = context.copy_named(database)
    guid = copy.availability.guid if copy is not None else None
    group = replicas.group_of(world, me, guid) if guid is not None else None
    if guid is None or group is None:
        return 1
    lead = world.replicas[me, guid].primary
    if lead is None:
        return 0
    if group.backup_preference == "PRIMARY":
        return int(lead == me)
    there = [replica for replica in group.replicas if replica.backup_priority and _is_there(context, replica)]
    secondaries = [replica for replica in there if replica.server != lead]
    allowed = {"SECONDARY": secondaries or there, "SECONDARY_ONLY": secondaries}.get(
        group.backup_preference, there
    )
    best = min(allowed, key=lambda one: (-one.backup_priority, one.server), default=None)
    return int(best is not None and best.server == me)


def _is_there(context: Context, replica: Replica) -> bool:
    own = config.node_of(context.world, context.session.server)
    node = config.node_of(context.world, replica.server)
    same = own is not None and node is not None and node.partition == own.partition
    return replica.server == context.session.server or (
        same and node is not None and config.up(context.world, node)
    )
