"""Views of availability groups and of the cluster, as the queried server knows them.

Configuration comes from the node's copy of the cluster database. Views of the cluster are empty on a node
without quorum. A primary sees the last reported state of each secondary; a secondary sees only its own state.
[DOC: availability group views] [DOC: availability group dynamic views]
"""

from collections.abc import Iterable, Iterator
from typing import Final

from engine.availability import replicas
from engine.cluster import config, instances
from engine.identifiers import make_group_database_id, make_group_id, make_replica_id, make_unique_id
from engine.model import (
    AvailabilityGroup,
    Cluster,
    ClusterRole,
    Node,
    Replica,
    ReplicaRole,
    ReplicaState,
    ResourceState,
)
from engine.protocol import volumes
from engine.protocol.startup import SQL_PORT
from engine.tsql.batches.context import StatementContext
from engine.tsql.catalog import mirroring
from engine.tsql.catalog.shapes import find_literal_columns
from engine.tsql.catalog.view import Record, register_view

HEALTH_DESCRIPTIONS: Final = ("NOT_HEALTHY", "PARTIALLY_HEALTHY", "HEALTHY")
"""Descriptions of synchronization_health by number."""
BACKUP_PREFERENCES: Final = ("PRIMARY", "SECONDARY_ONLY", "SECONDARY", "NONE")
"""Values of automated_backup_preference by number."""
_PRIMARY_CONNECTIONS: Final = {"ALL": 2, "READ_WRITE": 3}
"""Keyword for connections in the primary role -> number. [DOC: availability group views]"""
_SECONDARY_CONNECTIONS: Final = {"NO": 0, "READ_ONLY": 1, "ALL": 2}
"""Keyword for connections in the secondary role -> number. [DOC: availability group views]"""

SENT_TOLERANCE_KB: Final = 1.0
"""Send queue in KB below which all log is considered sent."""


def list_local_groups(context: StatementContext) -> list[tuple[AvailabilityGroup, ReplicaState]]:
    """Return (group, state of the local replica) for each group with a replica on the instance."""
    world, server = context.world, context.session.server
    known_groups = (
        (replicas.find_group_config(world, server, state.guid), state)
        for state in replicas.list_replica_states(world, server)
    )
    return sorted(
        ((group, state) for group, state in known_groups if group is not None), key=lambda item: item[0].name
    )


def has_quorum(context: StatementContext) -> bool:
    """Return whether the instance's node has quorum."""
    return config.has_quorum(context.world, context.session.server)


def list_cluster_groups(context: StatementContext) -> tuple[AvailabilityGroup, ...]:
    """Return all availability groups of the cluster; none on a node without quorum."""
    node = config.find_server_node(context.world, context.session.server)
    enabled = replicas.is_always_on_enabled(context.world, context.session.server)
    return node.config.groups if node is not None and enabled and has_quorum(context) else ()


def _list_visible_replicas(context: StatementContext) -> Iterator[tuple[AvailabilityGroup, Replica]]:
    """Yield the configured replicas: all replicas of the cluster or, without quorum, those on the instance."""
    if has_quorum(context):
        yield from ((group, replica) for group in list_cluster_groups(context) for replica in group.replicas)
        return
    for group, _ in list_local_groups(context):
        own_replica = group.find_replica(context.session.server)
        if own_replica is not None:
            yield group, own_replica


# --- configuration ----------------------------------------------------------------------------------------


def build_group_row(group: AvailabilityGroup) -> Record:
    """Return a row of sys.availability_groups."""
    preference = group.backup_preference
    return {
        "group_id": make_group_id(group.guid),
        "name": group.name,
        "resource_id": make_unique_id("resource", group.guid).lower(),
        "resource_group_id": make_unique_id("role", group.guid).lower(),
        "failure_condition_level": group.failure_condition_level,
        "health_check_timeout": group.health_check_timeout_ms,
        "automated_backup_preference": BACKUP_PREFERENCES.index(preference),
        "automated_backup_preference_desc": preference,
        "basic_features": int(group.basic),
        "db_failover": int(group.db_failover),
        "dtc_support": int(group.dtc),
        "required_synchronized_secondaries_to_commit": group.required_synchronized,
    }


def _list_replicas(context: StatementContext) -> Iterable[Record]:
    """Yield the rows of sys.availability_replicas. Without quorum, only those that the instance knows.

    [DOC: sys.availability_replicas].
    """
    world, server = context.world, context.session.server
    reaches_cluster = has_quorum(context)
    for group, replica in _list_visible_replicas(context):
        local = replica.server == server and (server, group.guid) in world.replicas
        yield {
            "replica_id": make_replica_id(group.guid, replica.server),
            "group_id": make_group_id(group.guid),
            "replica_metadata_id": replicas.get_metadata_id(world, server, group.guid) if local else None,
            "replica_server_name": replica.server,
            "owner_sid": b"\x01" if local else None,
            "endpoint_url": replica.endpoint_url if reaches_cluster else None,
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
            "read_write_routing_url": replica.read_write_routing_url,
            "seeding_mode": int(not replica.seeding),
            "seeding_mode_desc": "AUTOMATIC" if replica.seeding else "MANUAL",
        }


def get_database_number(context: StatementContext, group: AvailabilityGroup, database: str) -> int:
    """Return the number of a database in its group, which is the same on every replica."""
    copies = (copy.availability for copy in context.world.list_copies_of(database))
    return next((own_copy.database_guid for own_copy in copies if own_copy.guid == group.guid), 0)


def _list_databases(context: StatementContext) -> Iterable[Record]:
    for group in list_cluster_groups(context):
        for database in group.databases:
            yield {
                "group_id": make_group_id(group.guid),
                "group_database_id": make_group_database_id(get_database_number(context, group, database)),
                "database_name": database,
            }


def _list_addresses(context: StatementContext, group: AvailabilityGroup) -> tuple[str, ...]:
    node = config.find_server_node(context.world, context.session.server)
    assert node is not None
    return replicas.list_listener_addresses(group, node)


def _make_listener_id(group: AvailabilityGroup) -> str:
    return make_unique_id("listener", group.guid).lower()


def _list_listeners(context: StatementContext) -> Iterable[Record]:
    for group in list_cluster_groups(context):
        if group.listener is not None:
            addresses = " or ".join(f"'IP Address: {address}'" for address in _list_addresses(context, group))
            yield {
                "group_id": make_group_id(group.guid),
                "listener_id": _make_listener_id(group),
                "dns_name": group.listener.name,
                "port": group.listener.port,
                "is_conformant": 1,
                "ip_configuration_string_from_cluster": f"({addresses})",
                "is_distributed_network_name": 0,
            }


_ADDRESS_STATES: Final = {
    ResourceState.OFFLINE: 0, ResourceState.ONLINE: 1, ResourceState.ONLINE_PENDING: 2, ResourceState.FAILED: 3,
}  # fmt: skip
"""State of an IP address resource -> state of the listener's IP address."""


def _list_listener_addresses(context: StatementContext) -> Iterable[Record]:
    """Yield the IP addresses of the listeners. Only the address in the owner's subnet is online."""
    node = config.find_server_node(context.world, context.session.server)
    for group in list_cluster_groups(context):
        role = node.config.find_role(group.name) if node is not None else None
        owner = context.world.nodes.get(role.owner) if role is not None else None
        addresses = _list_addresses(context, group)
        for address in addresses:
            subnet = address.rpartition(".")[0]
            is_local_subnet = len(addresses) == 1 or (owner is not None and owner.subnet == subnet)
            state = _ADDRESS_STATES.get(role.state, 0) if role is not None and is_local_subnet else 0
            yield {
                "listener_id": _make_listener_id(group),
                "ip_address": address,
                **find_literal_columns("availability._list_listener_addresses"),
                "is_dhcp": int(not group.listener.addresses) if group.listener is not None else 0,
                "network_subnet_ip": f"{subnet}.0",
                "state": state,
                "state_desc": ("OFFLINE", "ONLINE", "ONLINE_PENDING", "FAILED")[state],
            }


def _list_tcp_listeners(context: StatementContext) -> Iterable[Record]:
    """Yield the TCP listeners of the instance: T-SQL, mirroring endpoint, and availability group listeners.

    [DOC: dm_tcp_listener_states]
    """
    world, server = context.world, context.session.server
    local_addresses = {
        _make_listener_id(group): group.listener
        for group in list_cluster_groups(context)
        if group.listener is not None
    }
    online = [
        (row["ip_address"], listener.port, 0)
        for row in _list_listener_addresses(context)
        for listener in [local_addresses.get(str(row["listener_id"]))]
        if listener is not None and row["state"] == 1 and world.listeners.get(listener.name) == server
    ]
    all_addresses = [
        (row["ip_address"] or "0.0.0.0", row["port"] or SQL_PORT, int(row["type"] == 4) * 2)
        for row in mirroring.list_tcp_endpoints(context)
        if row["state"] == 0 and not row["is_admin_endpoint"] and context.server.tcp_listening
    ]
    for number, (address, port, kind) in enumerate([*all_addresses, *online], start=1):
        yield {
            "listener_id": number,
            "ip_address": address,
            **find_literal_columns("availability._list_tcp_listeners"),
            "port": port,
            "type": kind,
            "type_desc": ("TSQL", "SERVICE_BROKER", "DATABASE_MIRRORING")[kind],
            "start_time": context.get_datetime_value(context.server.started_tick),
        }


def _list_routing_entries(context: StatementContext) -> Iterable[Record]:
    for group, replica in _list_visible_replicas(context):
        for priority, server in replica.routes:
            yield {
                "replica_id": make_replica_id(group.guid, replica.server),
                "routing_priority": priority,
                "read_only_replica_id": make_replica_id(group.guid, server),
            }


register_view(
    "sys.availability_groups",
    lambda context: [build_group_row(group) for group, _ in list_local_groups(context)],
)
register_view(
    "sys.availability_groups_cluster",
    lambda context: [build_group_row(group) for group in list_cluster_groups(context)],
)
register_view("sys.availability_replicas", _list_replicas)
register_view("sys.availability_databases_cluster", _list_databases)
register_view("sys.availability_group_listeners", _list_listeners)
register_view("sys.availability_group_listener_ip_addresses", _list_listener_addresses)
register_view("sys.dm_tcp_listener_states", _list_tcp_listeners)
register_view("sys.availability_read_only_routing_lists", _list_routing_entries)


# --- functions --------------------------------------------------------------------------------------------


def evaluate_is_primary_replica(context: StatementContext, database: str) -> int | None:
    """Evaluate sys.fn_hadr_is_primary_replica: 1 for a primary copy, 0 for a secondary one, None for others.

    Documented [DOC: sys.fn_hadr_is_primary_replica].
    """
    copy = context.find_copy(database)
    if copy is None or copy.availability.guid is None:
        return None
    return int(copy.availability.role is ReplicaRole.PRIMARY)


def evaluate_backup_preference(context: StatementContext, database: str) -> int:
    """Evaluate sys.fn_hadr_backup_is_preferred_replica. Return 1 for a database that is in no group.

    The candidates are the replicas that the group's preference allows and whose node is up. The
    candidate with the highest priority is preferred. If several have this priority, the first by name
    is preferred. Documented except for equal priorities [DOC: sys.fn_hadr_backup_is_preferred_replica].
    """
    world, server = context.world, context.session.server
    copy = context.find_copy(database)
    guid = copy.availability.guid if copy is not None else None
    group = replicas.find_group_config(world, server, guid) if guid is not None else None
    if guid is None or group is None:
        return 1
    lead = world.replicas[server, guid].primary
    if lead is None:
        return 0
    if group.backup_preference == "PRIMARY":
        return int(lead == server)
    candidates = [
        replica for replica in group.replicas if replica.backup_priority and _is_reachable(context, replica)
    ]
    secondaries = [replica for replica in candidates if replica.server != lead]
    allowed = {"SECONDARY": secondaries or candidates, "SECONDARY_ONLY": secondaries}.get(
        group.backup_preference, candidates
    )
    best = min(allowed, key=lambda replica: (-replica.backup_priority, replica.server), default=None)
    return int(best is not None and best.server == server)


def _is_reachable(context: StatementContext, replica: Replica) -> bool:
    """Return whether the node of a replica is up, as far as the queried instance's node knows."""
    own_node = config.find_server_node(context.world, context.session.server)
    node = config.find_server_node(context.world, replica.server)
    if replica.server == context.session.server:
        return True
    if own_node is None or node is None:
        return False
    return config.read_node_state(context.world, own_node.name, node.name) != "Down"


# --- dynamic views about the cluster of the instance ------------------------------------------------------
# The views show quorum, members, networks, and the nodes of a cluster instance. On a node without quorum,
# they show no rows. Documented [DOC: sys.dm_hadr_cluster].

_QUORUM_TYPES: Final = {
    None: (0, "NODE_MAJORITY"),
    "Physical Disk": (1, "NODE_AND_DISK_MAJORITY"),
    "File Share Witness": (2, "NODE_AND_FILE_SHARE_MAJORITY"),
    "Cloud Witness": (5, "CLOUD_WITNESS"),
}
"""Kind of the witness -> (quorum_type, quorum_type_desc)."""
_WITNESS_TYPES: Final = {
    "Physical Disk": (1, "DISK_WITNESS"),
    "File Share Witness": (2, "FILE_SHARE_WITNESS"),
    "Cloud Witness": (3, "CLOUD_WITNESS"),
}
"""Kind of the witness -> (member_type, member_type_desc)."""


def _find_node_and_cluster(context: StatementContext) -> tuple[Node, Cluster] | None:
    """Return the instance's node and cluster; None if Always On is disabled or the node has no quorum."""
    world, server = context.world, context.session.server
    node = config.find_server_node(world, server)
    if (
        node is None
        or not replicas.is_always_on_enabled(world, server)
        or not config.has_quorum(world, server)
    ):
        return None
    return node, world.clusters[node.cluster]


def _list_cluster(context: StatementContext) -> Iterable[Record]:
    seat = _find_node_and_cluster(context)
    if seat is None:
        return
    node, cluster = seat
    kind = _QUORUM_TYPES[node.config.witness.kind if node.config.witness is not None else None]
    yield {
        "cluster_name": cluster.name,
        "quorum_type": kind[0],
        "quorum_type_desc": kind[1],
        "quorum_state": 2 if node.config.forced else 1,
        "quorum_state_desc": "FORCED_QUORUM" if node.config.forced else "NORMAL_QUORUM",
    }


def _list_members(context: StatementContext) -> Iterable[Record]:
    seat = _find_node_and_cluster(context)
    if seat is None:
        return
    node, cluster = seat
    rows = [
        (name, 0, "CLUSTER_NODE", config.read_node_state(context.world, node.name, name) != "Down",
         node.config.get_weight(name))
        for name in cluster.nodes
    ]  # fmt: skip
    witness = node.config.witness
    if witness is not None:
        rows.append((witness.name, *_WITNESS_TYPES[witness.kind], cluster.witness_there, 1))
    for name, kind, word, is_online, votes in rows:
        yield {
            "member_name": name,
            "member_type": kind,
            "member_type_desc": word,
            "member_state": int(is_online),
            "member_state_desc": "UP" if is_online else "DOWN",
            "number_of_quorum_votes": votes,
        }


def _list_networks(context: StatementContext) -> Iterable[Record]:
    seat = _find_node_and_cluster(context)
    for name in seat[1].nodes if seat is not None else ():
        yield {
            "member_name": name,
            "network_subnet_ip": f"{context.world.nodes[name].subnet}.0",
            **find_literal_columns("availability._list_networks"),
        }


register_view("sys.dm_hadr_cluster", _list_cluster)
register_view("sys.dm_hadr_cluster_members", _list_members)
register_view("sys.dm_hadr_cluster_networks", _list_networks)


def _list_common_owners(role: ClusterRole) -> list[str]:
    """Return the nodes on which every resource of the role can run."""
    return [name for name in role.preferred if all(name in resource.owners for resource in role.resources)]


def _list_instance_nodes(context: StatementContext) -> Iterable[Record]:
    """Yield the nodes of a failover cluster instance. A standalone instance has none."""
    world = context.world
    role = instances.find_instance_role(world, context.session.server)
    for name in _list_common_owners(role) if role is not None else ():
        status = ("Up", "Down", "Paused").index(config.read_node_state(world, context.server.computer, name))
        yield {
            "NodeName": name,
            "status": status,
            "status_description": ("up", "down", "paused")[status],
            "is_current_owner": int(name == context.server.computer),
        }


def _list_instance_properties(context: StatementContext) -> Iterable[Record]:
    server = context.server
    if server.clustered:
        yield {
            "FailureConditionLevel": server.failure_condition_level,
            "HealthCheckTimeout": server.health_check_timeout_ms,
        }


def _list_shared_drives(context: StatementContext) -> Iterable[Record]:
    """Yield the shared disks on which the instance keeps its databases."""
    drives = [file.drive for copy in context.list_copies() for file in volumes.list_copy_files(copy)]
    for drive in sorted(dict.fromkeys(drives)) if context.server.clustered else ():
        yield {"DriveName": drive}


register_view("sys.dm_os_cluster_properties", _list_instance_properties)
register_view("sys.dm_io_cluster_shared_drives", _list_shared_drives)
register_view("sys.fn_servershareddrives()", _list_shared_drives)
register_view("sys.dm_os_cluster_nodes", _list_instance_nodes)
register_view("sys.fn_virtualservernodes()", _list_instance_nodes)
