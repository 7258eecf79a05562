"""Nodes, groups and resources of a cluster by the names that a cmdlet is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from engine.model import ClusterRole, Node, Resource, World
from engine.powershell.pipeline import Call, ShellError, Table

Cmdlet = Callable[[World, str, Call, Table | None], Table]

NO_SERVICE: Final = (
    "The cluster service is not running.  Make sure that the service is running on all nodes in the cluster."
)
NOTHING: Final = Table("nothing")


def needs_service(world: World, node: str, call: Call) -> None:
    if node not in world.nodes or not world.nodes[node].partition:
        raise ShellError(call.name, NO_SERVICE, "ConnectionError", f"ClusterRpcConnection,{call.name}")


def known(world: World, node: str) -> Node:
    """The cluster as the node at whose prompt the line stands knows it."""
    return world.nodes[node]


def member(world: World, node: str, name: str, call: Call) -> Node:
    cluster = world.clusters[known(world, node).cluster]
    found = next((one for one in cluster.nodes if one.lower() == name.lower()), None)
    if found is None:
        raise ShellError(call.name, f"The cluster node '{name}' was not found.", "ObjectNotFound")
    return world.nodes[found]


def role(world: World, node: str, name: str, call: Call) -> ClusterRole:
    found = known(world, node).config.role(name)
    if found is None:
        raise ShellError(call.name, f"The cluster group '{name}' was not found.", "ObjectNotFound")
    return found


STORAGE: Final = ClusterRole(name="Available Storage", kind="storage", owner="")
"""Where disks lie that no role has."""


def resources(world: World, node: str) -> list[tuple[ClusterRole, Resource]]:
    config = known(world, node).config
    disks = [(STORAGE, one) for one in config.storage]
    return [*((role, one) for role in config.roles for one in role.resources), *disks]


def resource(world: World, node: str, name: str, call: Call) -> tuple[ClusterRole, Resource]:
    found = [pair for pair in resources(world, node) if pair[1].name.lower() == name.lower()]
    if not found:
        raise ShellError(call.name, f"The cluster resource '{name}' was not found.", "ObjectNotFound")
    return found[0]


def names(call: Call, piped: Table | None, kind: str) -> tuple[str, ...]:
    """Names that a cmdlet is given: by the pipeline, by -Name, or in the first place."""
    if piped is not None and piped.kind == kind:
        return tuple(row["Name"] for row in piped.rows)
    return call.values("name", 0)


def name(call: Call, piped: Table | None, kind: str, default: str = "") -> str:
    found = next(iter(names(call, piped, kind)), default)
    if not found:
        text = "Cannot process command because of one or more missing mandatory parameters: Name."
        raise ShellError(call.name, text, "InvalidArgument", f"MissingMandatoryParameter,{call.name}")
    return found
