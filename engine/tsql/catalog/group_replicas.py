"""Views about replicas and availability groups: roles, health and nodes, as each server knows them."""

from collections.abc import Iterable
from functools import partial
from typing import Final

from engine.availability import replicas
from engine.cluster import config
from engine.constants import TICKS_PER_S
from engine.identifiers import make_group_id, make_replica_id
from engine.messages import fill_placeholders, find_wording
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
from engine.tsql.batches.context import StatementContext
from engine.tsql.catalog.availability import (
    HEALTH_DESCRIPTIONS,
    build_group_row,
    has_quorum,
    list_cluster_groups,
    list_local_groups,
)
from engine.tsql.catalog.databases import get_displayed_state
from engine.tsql.catalog.group_databases import is_connected, list_databases
from engine.tsql.catalog.mirroring import list_page_repairs
from engine.tsql.catalog.view import Record, register_view

_OPERATIONAL_STATES: Final = (
    "PENDING_FAILOVER",
    "PENDING",
    "ONLINE",
    "OFFLINE",
    "FAILED",
    "FAILED_NO_QUORUM",
)
"""Descriptions of operational_state by number."""


def _get_operational_state(context: StatementContext, state: ReplicaState) -> int | None:
    """Return operational_state of the instance's own replica."""
    if state.word is ReplicaWord.PRIMARY_PENDING:
        return 1
    if state.role is not ReplicaRole.RESOLVING:
        return 2
    if state.pending or state.word is ReplicaWord.RESOLVING_PENDING_FAILOVER:
        return 0
    return 3 if has_quorum(context) else 5


def compute_replica_health(context: StatementContext, group: AvailabilityGroup, server: str) -> int:
    """Return the worst health of a replica's databases; 0 (not healthy) without databases."""
    return min(
        (database.health for database in list_databases(context, group) if database.replica.server == server),
        default=0,
    )


def _get_recovery_health(context: StatementContext, group: AvailabilityGroup) -> int:
    copies = replicas.list_group_copies(context.world, context.session.server, group.guid)
    return int(all(get_displayed_state(copy) is DbState.ONLINE for copy in copies))


def _list_visible_replicas(
    context: StatementContext, group: AvailabilityGroup, state: ReplicaState
) -> list[Replica]:
    """Return the replicas whose state the instance knows: all replicas on the primary, otherwise its own."""
    is_primary = state.role is ReplicaRole.PRIMARY
    return [replica for replica in group.replicas if is_primary or replica.server == state.server]


def _list_replica_states(context: StatementContext) -> Iterable[Record]:
    for group, state in list_local_groups(context):
        for replica in _list_visible_replicas(context, group, state):
            local = replica.server == state.server
            role = state.role if local else ReplicaRole.SECONDARY
            is_primary = local and role is ReplicaRole.PRIMARY
            replica_name = state.primary or "" if local else replica.server
            linked = int(is_primary or is_connected(context, group.guid, replica_name))
            if local and role is ReplicaRole.RESOLVING:
                linked = 0
            operational = _get_operational_state(context, state) if local else None
            recovery = _get_recovery_health(context, group) if local else None
            health = compute_replica_health(context, group, replica.server)
            yield {
                "replica_id": make_replica_id(group.guid, replica.server),
                "group_id": make_group_id(group.guid),
                "is_local": int(local),
                "role": int(role),
                "role_desc": role.name,
                "operational_state": operational,
                "operational_state_desc": _OPERATIONAL_STATES[operational]
                if operational is not None
                else None,
                "recovery_health": recovery,
                "recovery_health_desc": _get_recovery_description(recovery),
                "synchronization_health": health,
                "synchronization_health_desc": HEALTH_DESCRIPTIONS[health],
                "connected_state": linked,
                "connected_state_desc": ("DISCONNECTED", "CONNECTED")[linked],
                **_build_last_error_columns(context, group.guid, replica_name if not is_primary else ""),
            }


_CLOSED_TEXT: Final = "An existing connection was forcibly closed by the remote host."
_RECEIVE_ERROR_TEXT: Final = f"An error occurred while receiving data: '10054({_CLOSED_TEXT})'."
_CONNECTION_ERROR_TEXTS: Final = {
    10060: "Connection attempt failed with error: '10060(A connection attempt failed because the connected party did "
    "not properly respond after a period of time, or established connection failed because connected host has "
    "failed to respond.)'.",
    10061: "Connection attempt failed with error: '10061(No connection could be made because the target machine "
    "actively refused it.)'.",
    64: "An error occurred while receiving data: '64(The specified network name is no longer available.)'.",
}
"""Number of a network error -> its text, in the wording of message 1474. Known."""


def _find_connection_error(context: StatementContext, peer: str) -> int:
    """Return the error number of an attempt to connect to *peer* over a network that works.

    The error is 10060 if a firewall drops the packets, and 10061 if nothing listens. It is 64 if the server
    refuses the handshake on an accepted connection.
    """
    world, server = context.world, context.session.server
    instance = world.instances[peer]
    if not security.is_listening(instance):
        return 10061
    if not security.has_reachable_port(world, peer):
        return 10060
    refusals = (
        security.find_handshake_refusal(world, server, peer),
        security.find_handshake_refusal(world, peer, server),
    )
    return 64 if any(refusal is not None and refusal.reached_server for refusal in refusals) else 10061


def _has_failed_to_reconnect(context: StatementContext, contact: Contact, guid: int, peer: str) -> bool:
    """Return whether the first attempt to reconnect has failed. A hung server still accepts connections."""
    world = context.world
    waited = contact.since_tick + TICKS_PER_S < world.tick
    if contact.connected or not waited or world.instances[peer].hung:
        return False
    return not network.can_connect(world, guid, context.session.server, peer)


def _build_last_error_columns(context: StatementContext, guid: int, peer: str) -> Record:
    """Return the columns about the last or current connection error with *peer*.

    The choice between several errors is derived.
    """
    world, server = context.world, context.session.server
    contact = world.contacts.get((guid, server, peer))
    number: int | None = None
    text, tick = "", world.tick
    if contact is not None and contact.lost_by:
        tick = contact.lost_tick
        number, text = 10054, _RECEIVE_ERROR_TEXT
        if contact.lost_by == "silent":
            number, words = 35206, find_wording(35206, context.version).text
            text = fill_placeholders(words, (peer, make_replica_id(guid, peer)))
    if contact is not None and _has_failed_to_reconnect(context, contact, guid, peer):
        answers = network.can_exchange_packets(world, server, peer) and world.get_computer_of(peer).powered
        number = _find_connection_error(context, peer) if answers else 10060
        text, tick = _CONNECTION_ERROR_TEXTS[number], world.tick
    return {
        "last_connect_error_number": number,
        "last_connect_error_description": text or None,
        "last_connect_error_timestamp": context.get_datetime_value(tick) if number is not None else None,
    }


def _get_recovery_description(health: int | None) -> str | None:
    return None if health is None else ("ONLINE_IN_PROGRESS", "ONLINE")[health]


def _list_group_states(context: StatementContext) -> Iterable[Record]:
    for group, state in list_local_groups(context):
        healths = [
            compute_replica_health(context, group, replica.server)
            for replica in _list_visible_replicas(context, group, state)
        ]
        health = 2 if min(healths, default=0) == 2 else int(max(healths, default=0) == 2)
        own_recovery = _get_recovery_health(context, group)
        first_recovery = own_recovery if state.role is ReplicaRole.PRIMARY else None
        second = own_recovery if state.role is ReplicaRole.SECONDARY else None
        known_primary = state.server if state.role is ReplicaRole.PRIMARY else state.primary
        yield {
            "group_id": make_group_id(group.guid),
            "primary_replica": known_primary if has_quorum(context) else None,
            "primary_recovery_health": first_recovery,
            "primary_recovery_health_desc": _get_recovery_description(first_recovery),
            "secondary_recovery_health": second,
            "secondary_recovery_health_desc": _get_recovery_description(second),
            "synchronization_health": health,
            "synchronization_health_desc": HEALTH_DESCRIPTIONS[health],
        }


def _list_replica_cluster_states(context: StatementContext) -> Iterable[Record]:
    for group in list_cluster_groups(context):
        for replica in group.replicas:
            instance = context.world.instances.get(replica.server)
            join = 0 if not replica.joined else 2 if instance is not None and instance.clustered else 1
            yield {
                "replica_id": make_replica_id(group.guid, replica.server),
                "replica_server_name": replica.server,
                "group_id": make_group_id(group.guid),
                "join_state": join,
                "join_state_desc": (
                    "NOT_JOINED",
                    "JOINED_STANDALONE_INSTANCE",
                    "JOINED_FAILOVER_CLUSTER_INSTANCE",
                )[join],
            }


def _list_possible_nodes(context: StatementContext, server: str) -> list[str]:
    """Return the nodes on which the instance that hosts a replica can run."""
    node = config.find_server_node(context.world, server)
    if node is None:
        return []
    role = node.config.find_role(server)
    owners = [owner for resource in role.resources for owner in resource.owners] if role is not None else []
    return sorted(set(owners)) or [node.name]


def _list_cluster_nodes(context: StatementContext) -> Iterable[Record]:
    for group in list_cluster_groups(context):
        for replica in group.replicas:
            for host in _list_possible_nodes(context, replica.server):
                yield {
                    "group_name": group.name,
                    "replica_server_name": replica.server,
                    "node_name": host,
                }


def _list_name_ids(context: StatementContext) -> Iterable[Record]:
    for group in list_cluster_groups(context):
        row = build_group_row(group)
        yield {
            "ag_name": group.name,
            "ag_id": row["group_id"],
            "ag_resource_id": row["resource_id"],
            "ag_group_id": row["resource_group_id"],
        }


def _list_instance_nodes(context: StatementContext) -> Iterable[Record]:
    for group in list_cluster_groups(context):
        for replica in group.replicas:
            node = config.find_server_node(context.world, replica.server)
            if replica.joined and node is not None:
                yield {
                    "ag_resource_id": build_group_row(group)["resource_id"],
                    "instance_name": replica.server,
                    "node_name": node.name,
                }


register_view("sys.dm_hadr_availability_group_states", _list_group_states)
register_view("sys.dm_hadr_availability_replica_states", _list_replica_states)
register_view("sys.dm_hadr_availability_replica_cluster_states", _list_replica_cluster_states)
register_view("sys.dm_hadr_availability_replica_cluster_nodes", _list_cluster_nodes)
register_view("sys.dm_hadr_name_id_map", _list_name_ids)
register_view("sys.dm_hadr_instance_node_map", _list_instance_nodes)
register_view("sys.dm_hadr_auto_page_repair", partial(list_page_repairs, only_groups=True))
