"""Lookup of nodes, groups and resources of a cluster by the names in a cmdlet's arguments."""

from collections.abc import Callable, Collection
from typing import Final

from msgspec.structs import replace

from engine.cluster import config
from engine.model import ClusterRole, Node, Resource, ResourceState, World
from engine.powershell import conversions
from engine.powershell.pipeline import CmdletCall, PipelineTable, ShellError
from engine.protocol import network

Cmdlet = Callable[[World, str, CmdletCall, PipelineTable | None], PipelineTable]

SERVICE_DOWN_TEXT: Final = (
    "The cluster service is not running.  Make sure that the service is running on all nodes in the cluster."
)
EMPTY_TABLE: Final = PipelineTable("nothing")


def require_cluster_service(world: World, node: str, call: CmdletCall) -> None:
    """Raise an error unless the cluster service runs on *node*, with quorum."""
    if node not in world.nodes or not world.nodes[node].partition:
        raise ShellError(call.name, SERVICE_DOWN_TEXT, "ConnectionError", f"ClusterRpcConnection,{call.name}")


CLUSTER_DOWN_TEXT: Final = (
    "Check the spelling of the cluster name. Otherwise, there might be a problem with your network. Make sure the "
    "cluster nodes are turned on and connected to the network or contact your network administrator.\n"
    "    The RPC server is unavailable"
)
"""Error text for a cluster that does not respond. Seen in public output."""


def require_known_cluster(world: World, node: str, call: CmdletCall, values: tuple[str, ...]) -> None:
    """Raise ShellError unless all *values* of -Cluster mean this cluster or one of its nodes."""
    state = world.nodes.get(node)
    known_names = {".", "localhost", node.lower(), *(name.lower() for name in world.nodes)}
    known_names |= {state.cluster.lower()} if state is not None and state.cluster else set()
    if any(value.lower() not in known_names for value in values):
        raise ShellError(call.name, CLUSTER_DOWN_TEXT, "ConnectionError", f"{call.name}:String")


def require_computer(world: World, node: str, name: str, call: CmdletCall) -> None:
    """Raise an error unless the computer of the node *name* responds to *node*."""
    computer = world.computers[name]
    answers = computer.powered and world.nodes[name].service not in ("off", "starting")
    if not answers or (name != node and not network.can_exchange_packets(world, node, name)):
        text = f"Unable to connect to the cluster node '{name}'.\n    The RPC server is unavailable"
        raise ShellError(call.name, text, "ConnectionError")


def find_node(world: World, node: str) -> Node:
    """Return the state of *node*, the node on which the prompt runs."""
    return world.nodes[node]


def find_cluster_node(world: World, node: str, name: str, call: CmdletCall) -> Node:
    """Return the node of the cluster named *name*. Raise ShellError if it does not exist."""
    cluster = world.clusters[find_node(world, node).cluster]
    member_name = next((candidate for candidate in cluster.nodes if candidate.lower() == name.lower()), None)
    if member_name is None:
        raise ShellError(call.name, f"The cluster node '{name}' was not found.", "ObjectNotFound")
    return world.nodes[member_name]


def list_roles(world: World, node: str) -> list[ClusterRole]:
    """Return the roles of the cluster, and the two groups that every cluster has."""
    return [
        *find_node(world, node).config.roles,
        _build_storage_group(world, node),
        build_core_group(world, node),
    ]


def build_core_group(world: World, node: str) -> ClusterRole:
    """Return the core cluster group (name, address, witness), which can only be displayed."""
    witness = find_node(world, node).config.witness
    nodes = world.clusters[find_node(world, node).cluster].nodes
    rows = [
        Resource(name="Cluster IP Address", kind="IP Address", owners=nodes),
        Resource(name="Cluster Name", kind="Network Name", owners=nodes, needs=("Cluster IP Address",)),
    ]
    if witness is not None:
        has_core_witness = world.clusters[find_node(world, node).cluster].witness_there
        rows.append(
            Resource(
                name=config.get_witness_resource_name(witness),
                kind=witness.kind,
                owners=nodes,
                failed=not has_core_witness,
            )
        )
    return ClusterRole(
        name=CORE_GROUP_NAME, kind="core", owner=config.find_core_owner(world, node), resources=tuple(rows)
    )


def _build_storage_group(world: World, node: str) -> ClusterRole:
    disks = find_node(world, node).config.storage
    state = ResourceState.ONLINE if disks else ResourceState.OFFLINE
    return replace(STORAGE_GROUP, owner=config.find_core_owner(world, node), resources=disks, state=state)


def find_role(world: World, node: str, name: str, call: CmdletCall) -> ClusterRole:
    """Return the role of the cluster named *name*. Raise ShellError if it does not exist."""
    cluster_role = find_node(world, node).config.find_role(name)
    if name.lower() in (CORE_GROUP_NAME.lower(), STORAGE_GROUP.name.lower()):
        raise ShellError(
            call.name,
            f"The cluster group '{name}' can only be listed; other operations on it are not simulated.",
        )
    if cluster_role is None:
        raise ShellError(call.name, f"The cluster group '{name}' was not found.", "ObjectNotFound")
    return cluster_role


CORE_GROUP_NAME: Final = "Cluster Group"
STORAGE_GROUP: Final = ClusterRole(name="Available Storage", kind="storage", owner="")
"""Group of the disks that belong to no role."""


def list_resources(world: World, node: str) -> list[tuple[ClusterRole, Resource]]:
    """Return (role, resource) for all resources of the cluster."""
    return [(role, resource_entry) for role in list_roles(world, node) for resource_entry in role.resources]


def find_resource(world: World, node: str, name: str, call: CmdletCall) -> tuple[ClusterRole, Resource]:
    """Return (role, resource) for the resource named *name*. Raise ShellError if it does not exist."""
    matching_resources = [
        role_and_resource
        for role_and_resource in list_resources(world, node)
        if role_and_resource[1].name.lower() == name.lower()
    ]
    if (
        matching_resources
        and matching_resources[0][0].name == CORE_GROUP_NAME
        and not call.name.lower().startswith("get-")
    ):
        raise ShellError(
            call.name,
            f"The cluster resource '{name}' can only be listed; other operations on it are not simulated.",
        )
    if not matching_resources:
        raise ShellError(call.name, f"The cluster resource '{name}' was not found.", "ObjectNotFound")
    return matching_resources[0]


def read_names(call: CmdletCall, piped: PipelineTable | None, kind: str) -> tuple[str, ...]:
    """Return the object names for a cmdlet: from the pipeline, -Name, or the first positional argument."""
    if piped is not None and piped.kind == kind:
        return tuple(row["Name"] for row in piped.rows)
    return call.get_values("name", 0)


def match_names(call: CmdletCall, names: Collection[str], patterns: Collection[str]) -> list[str]:
    """Return the names that *patterns* select. A wildcard pattern selects all matching *names*.

    A plain name is returned even if it is unknown. Raise ShellError for an invalid pattern.
    """
    names_found = list[str]()
    for pattern in patterns:
        if conversions.has_wildcards(pattern):
            compiled = conversions.compile_wildcard(call.name, pattern)
            names_found += [name for name in names if compiled.fullmatch(name)]
        else:
            names_found.append(pattern)
    return names_found


def read_single_name(call: CmdletCall, piped: PipelineTable | None, kind: str, default: str = "") -> str:
    """Return the first object name for a cmdlet, or *default*. Raise ShellError without any name."""
    first_name = next(iter(read_names(call, piped, kind)), default)
    if not first_name:
        text = "Cannot process command because of one or more missing mandatory parameters: Name."
        raise ShellError(call.name, text, "InvalidArgument", f"MissingMandatoryParameter,{call.name}")
    return first_name
