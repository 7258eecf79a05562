"""Cluster of the instance in its dynamic views: quorum, members, networks, nodes of a cluster instance.

Documented [DOC: sys.dm_hadr_cluster]: a node without quorum shows no rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from engine.availability import replicas
from engine.cluster import config, instances
from engine.model import Cluster, ClusterRole, Node
from engine.protocol import volumes
from engine.tsql.batches.context import Context
from engine.tsql.catalog.view import Record, view

_QUORUM_TYPES: Final = {
    None: (0, "NODE_MAJORITY"),
    "Physical Disk": (1, "NODE_AND_DISK_MAJORITY"),
    "File Share Witness": (2, "NODE_AND_FILE_SHARE_MAJORITY"),
    "Cloud Witness": (5, "CLOUD_WITNESS"),
}
_WITNESS_TYPES: Final = {
    "Physical Disk": (1, "DISK_WITNESS"),
    "File Share Witness": (2, "FILE_SHARE_WITNESS"),
    "Cloud Witness": (3, "CLOUD_WITNESS"),
}


def _seat(context: Context) -> tuple[Node, Cluster] | None:
    """Return node and cluster, if the instance may query them: Always On enabled, node with quorum."""
    world, me = context.world, context.session.server
    node = config.node_of(world, me)
    if node is None or not replicas.enabled(world, me) or not config.has_quorum(world, me):
        return None
    return node, world.clusters[node.cluster]


def _cluster(context: Context) -> Iterable[Record]:
    seat = _seat(context)
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


def _members(context: Context) -> Iterable[Record]:
    seat = _seat(context)
    if seat is None:
        return
    node, cluster = seat
    there = config.members(context.world, node.partition)
    rows = [
        (name, 0, "CLUSTER_NODE", name in there and config.is_running(context.world, context.world.nodes[name]),
         node.config.weight(name))
        for name in cluster.nodes
    ]  # fmt: skip
    witness = node.config.witness
    if witness is not None:
        rows.append((witness.name, *_WITNESS_TYPES[witness.kind], cluster.witness_there, 1))
    for name, kind, word, up, votes in rows:
        yield {
            "member_name": name,
            "member_type": kind,
            "member_type_desc": word,
            "member_state": int(up),
            "member_state_desc": "UP" if up else "DOWN",
            "number_of_quorum_votes": votes,
        }


def _networks(context: Context) -> Iterable[Record]:
    seat = _seat(context)
    for name in seat[1].nodes if seat is not None else ():
        yield {
            "member_name": name,
            "network_subnet_ip": f"{context.world.nodes[name].subnet}.0",
            "network_subnet_ipv4_mask": "255.255.255.0",
            "network_subnet_prefix_length": 24,
            "is_public": 1,
            "is_ipv4": 1,
        }


view("sys.dm_hadr_cluster", _cluster)
view("sys.dm_hadr_cluster_members", _members)
view("sys.dm_hadr_cluster_networks", _networks)


def _owners(role: ClusterRole) -> list[str]:
    """Return the nodes on which every resource of the role may run."""
    return [name for name in role.preferred if all(name in resource.owners for resource in role.resources)]


def _instance_nodes(context: Context) -> Iterable[Record]:
    """Yield the nodes of a failover cluster instance; none for a standalone instance."""
    world = context.world
    role = instances.role_of(world, context.session.server)
    for name in _owners(role) if role is not None else ():
        node = world.nodes[name]
        member = bool(node.partition) and config.is_running(world, node)
        status = 1 if not member else 2 if node.paused else 0
        yield {
            "NodeName": name,
            "status": status,
            "status_description": ("up", "down", "paused")[status],
            "is_current_owner": int(name == context.server.computer),
        }


def _instance_properties(context: Context) -> Iterable[Record]:
    server = context.server
    if server.clustered:
        yield {
            "FailureConditionLevel": server.failure_condition_level,
            "HealthCheckTimeout": server.health_check_timeout_ms,
        }


def _shared_drives(context: Context) -> Iterable[Record]:
    """Yield the shared disks on which the instance keeps its databases."""
    drives = [file.drive for copy in context.copies() for file in volumes.files_of(copy)]
    for drive in sorted(dict.fromkeys(drives)) if context.server.clustered else ():
        yield {"DriveName": drive}


view("sys.dm_os_cluster_properties", _instance_properties)
view("sys.dm_io_cluster_shared_drives", _shared_drives)
view("sys.fn_servershareddrives()", _shared_drives)
view("sys.dm_os_cluster_nodes", _instance_nodes)
view("sys.fn_virtualservernodes()", _instance_nodes)
