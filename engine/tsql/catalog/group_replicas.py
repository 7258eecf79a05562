"""Replicas and groups in the catalog: roles, health and nodes as each server knows them."""

from collections.abc import Iterable
from functools import partial
from typing import Final

from engine.availability import replicas
from engine.cluster import config
from engine.constants import TICKS_PER_S
from engine.identifiers import group_id, replica_id
from engine.messages import fill_placeholders, wording
from engine.model import (
    AvailabilityGroup,
    Contact,
    DbState,
    Replica,
    ReplicaRole,
    ReplicaState,
    ReplicaWord,
)
from engine.protocol import network, security
from engine.tsql.batches.context import Context
from engine.tsql.catalog.availability import HEALTH, clustered_groups, group_row, groups, has_quorum
from engine.tsql.catalog.databases import displayed_state
from engine.tsql.catalog.group_databases import databases, is_connected
from engine.tsql.catalog.mirroring import page_repairs
from engine.tsql.catalog.view import Record, view

_OPERATIONAL: Final = ("PENDING_FAILOVER", "PENDING", "ONLINE", "OFFLINE", "FAILED", "FAILED_NO_QUORUM")


def _operational(context: Context, state: ReplicaState) -> int | None:
    """Return operational_state of the instance's own replica."""
    if state.pending or state.word is ReplicaWord.RESOLVING_PENDING_FAILOVER:
        return 0
    if state.word is ReplicaWord.PRIMARY_PENDING:
        return 1
    if state.role is ReplicaRole.RESOLVING:
        return 3 if has_quorum(context) else 5
    return 2


def replica_health(context: Context, group: AvailabilityGroup, server: str) -> int:
    """Return the worst health of a replica's databases. Without databases the replica is not synchronized."""
    return min(
        (database.health for database in databases(context, group) if database.replica.server == server),
        default=0,
    )


def _recovery(context: Context, group: AvailabilityGroup) -> int:
    copies = replicas.copies(context.world, context.session.server, group.guid)
    return int(all(displayed_state(copy) is DbState.ONLINE for copy in copies))


def _visible(context: Context, group: AvailabilityGroup, state: ReplicaState) -> list[Replica]:
    """Return the replicas whose state the instance knows: all on the primary, else its own."""
    leads = state.role is ReplicaRole.PRIMARY
    return [replica for replica in group.replicas if leads or replica.server == state.server]


def _replica_states(context: Context) -> Iterable[Record]:
    for group, state in groups(context):
        for replica in _visible(context, group, state):
            local = replica.server == state.server
            role = state.role if local else ReplicaRole.SECONDARY
            leads = local and role is ReplicaRole.PRIMARY
            replica_name = state.primary or "" if local else replica.server
            linked = int(leads or is_connected(context, group.guid, replica_name))
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
                **_last_error(context, group.guid, replica_name if not leads else ""),
            }


_FORCIBLY: Final = "An existing connection was forcibly closed by the remote host."
_RECEIVING: Final = f"An error occurred while receiving data: '10054({_FORCIBLY})'."
_CONNECTING: Final = {
    10060: "Connection attempt failed with error: '10060(A connection attempt failed because the connected party did "
    "not properly respond after a period of time, or established connection failed because connected host has "
    "failed to respond.)'.",
    10061: "Connection attempt failed with error: '10061(No connection could be made because the target machine "
    "actively refused it.)'.",
    64: "An error occurred while receiving data: '64(The specified network name is no longer available.)'.",
}
"""Number of a network error -> its text in the wording of 1474. Known."""


def _attempt(context: Context, peer: str) -> int:
    """Return the error of connecting to a server that the network reaches.

    It is 10060 if a firewall drops the packets, 10061 if nothing listens, 64 if the handshake is refused
    after the connection was accepted.
    """
    world, server = context.world, context.session.server
    instance = world.instances[peer]
    if not security.listens(instance):
        return 10061
    if not security.reachable_port(world, peer):
        return 10060
    refusals = (security.handshake(world, server, peer), security.handshake(world, peer, server))
    return 64 if any(refusal is not None and refusal.heard for refusal in refusals) else 10061


def _fails_to_reconnect(context: Context, contact: Contact, guid: int, peer: str) -> bool:
    """Return whether the first attempt to reconnect has failed. A hung server still accepts it."""
    world = context.world
    waited = contact.since_tick + TICKS_PER_S < world.tick
    if contact.connected or not waited or world.instances[peer].hung:
        return False
    return not network.can_connect(world, guid, context.session.server, peer)


def _last_error(context: Context, guid: int, peer: str) -> Record:
    """Return the last connection error with *peer*, or the present one.

    Which of several errors a server keeps is derived.
    """
    world, server = context.world, context.session.server
    contact = world.contacts.get((guid, server, peer))
    number: int | None = None
    text, tick = "", world.tick
    if contact is not None and contact.lost_by:
        tick = contact.lost_tick
        number, text = 10054, _RECEIVING
        if contact.lost_by == "silent":
            number, words = 35206, wording(35206, context.version).text
            text = fill_placeholders(words, (peer, replica_id(guid, peer)))
    if contact is not None and _fails_to_reconnect(context, contact, guid, peer):
        answers = network.is_passing(world, server, peer) and world.computer_of(peer).powered
        number = _attempt(context, peer) if answers else 10060
        text, tick = _CONNECTING[number], world.tick
    return {
        "last_connect_error_number": number,
        "last_connect_error_description": text or None,
        "last_connect_error_timestamp": context.datetime_value(tick) if number is not None else None,
    }


def _recovery_word(health: int | None) -> str | None:
    return None if health is None else ("ONLINE_IN_PROGRESS", "ONLINE")[health]


def _group_states(context: Context) -> Iterable[Record]:
    for group, state in groups(context):
        healths = [
            replica_health(context, group, replica.server) for replica in _visible(context, group, state)
        ]
        health = 2 if min(healths, default=0) == 2 else int(max(healths, default=0) == 2)
        own_recovery = _recovery(context, group)
        first_recovery = own_recovery if state.role is ReplicaRole.PRIMARY else None
        second = own_recovery if state.role is ReplicaRole.SECONDARY else None
        known_primary = state.role is not ReplicaRole.RESOLVING and has_quorum(context)
        yield {
            "group_id": group_id(group.guid),
            "primary_replica": state.primary if known_primary else None,
            "primary_recovery_health": first_recovery,
            "primary_recovery_health_desc": _recovery_word(first_recovery),
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
    """Return the nodes on which the instance of a replica can run."""
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
        row = group_row(group)
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
                    "ag_resource_id": group_row(group)["resource_id"],
                    "instance_name": replica.server,
                    "node_name": node.name,
                }


view("sys.dm_hadr_availability_group_states", _group_states)
view("sys.dm_hadr_availability_replica_states", _replica_states)
view("sys.dm_hadr_availability_replica_cluster_states", _replica_cluster_states)
view("sys.dm_hadr_availability_replica_cluster_nodes", _cluster_nodes)
view("sys.dm_hadr_name_id_map", _name_ids)
view("sys.dm_hadr_instance_node_map", _instance_nodes)
view("sys.dm_hadr_auto_page_repair", partial(page_repairs, only_groups=True))
