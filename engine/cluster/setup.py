"""SQL Server Setup on the nodes of failover cluster instances: service packs, added and removed nodes.

[DOC: failover cluster instances]
"""

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from engine.cluster import config, instances, roles
from engine.events import ClusterData
from engine.inputs import InputError
from engine.localization import build_message
from engine.model import (
    ClusterConfig,
    ClusterRole,
    Handlers,
    Node,
    Resource,
    ResourceState,
    Service,
    TimerName,
    World,
)

CLUSTER_SERVICE_PACK_S: Final = 300.0
ADD_NODE_S: Final = 300.0
REMOVE_NODE_S: Final = 120.0
"""Duration of SQL Server Setup when it removes a node, in seconds.

ADD_NODE_S: when it adds a node. CLUSTER_SERVICE_PACK_S: when it installs a service pack. Assumed. In reality
the durations are minutes, depending on the features.
"""


def _require_idle_node(world: World, name: str) -> Node:
    node = world.nodes[name]
    if not config.is_running(world, node):
        raise InputError(build_message("the cluster service is not running on {node}", node=name))
    if node.setup:
        raise InputError(build_message("Setup is running on {node}", node=name))
    return node


def _start_setup(
    world: World, name: str, operation: str, timer: TimerName, seconds: float, *args: object
) -> None:
    world.nodes[name] = replace(world.nodes[name], setup=operation)
    world.call_after(seconds, timer, name, *args)


def install_service_pack(world: World, name: str) -> None:
    """Install a service pack on a node for all its instances.

    Instances that run on the node are down until the installation is finished. If passive nodes are
    patched first, this interrupts no clients.
    """
    _require_idle_node(world, name)
    _start_setup(world, name, instances.SERVICE_PACK_SETUP, "setup.patched", CLUSTER_SERVICE_PACK_S)
    text = build_message("Setup installs a service pack on {node}", node=name)
    world.emit(ClusterData(what="patch"), text, server=name)
    for node, role in list(roles.iterate_roles(world)):
        running = role.state is ResourceState.ONLINE and role.owner == name and role.kind == "instance"
        if running and node.partition == world.nodes[name].partition:
            roles.stop_role(world, node.name, role)


def complete_service_pack(world: World, name: str) -> None:
    """Finish a service pack on a node and restart the stopped instances (timer handler)."""
    node = world.nodes.get(name)
    if node is None or node.setup != instances.SERVICE_PACK_SETUP:
        return
    if not config.is_running(world, node):
        world.nodes[name] = replace(node, setup="")
        text = build_message("Setup was interrupted on {node}: the service pack is not installed", node=name)
        world.emit(ClusterData(what="patch failed"), text, server=name)
        return
    world.nodes[name] = replace(node, setup="", level=node.level + 1)
    text = build_message("the service pack is installed on {node}", node=name)
    world.emit(ClusterData(what="patched", level=node.level + 1), text, server=name)
    for other_node, role in list(roles.iterate_roles(world)):
        offline = role.state is ResourceState.OFFLINE and role.owner == name and role.kind == "instance"
        if offline and world.instances[instances.get_instance_name(role)].service is Service.STOPPED:
            roles.bring_online(world, other_node.name, role, name)


def add_node(world: World, instance: str, name: str) -> None:
    """Execute Setup /ACTION=AddNode on the new node. A computer outside the cluster first joins the cluster."""
    role = instances.find_instance_role(world, instance)
    node_and_role = roles.find_role(world, instance)
    if role is None or node_and_role is None:
        raise InputError(build_message("{server} is not a failover cluster instance", server=instance))
    if name in world.instances[instance].installed:
        raise InputError(build_message("{server} is installed on {node}", server=instance, node=name))
    if name not in world.computers or not world.computers[name].powered:
        raise InputError(build_message("{node} is off", node=name))
    if name in world.nodes and world.nodes[name].cluster != node_and_role[0].cluster:
        raise InputError(build_message("{node} belongs to another cluster", node=name))
    if name not in world.nodes:
        _join_cluster(world, node_and_role[0], name)
    _require_idle_node(world, name)
    _start_setup(world, name, instance, "setup.added", ADD_NODE_S, instance)
    text = build_message("Setup adds {node} to {server}", node=name, server=instance)
    world.emit(ClusterData(what="add node", instance=instance), text, server=name)


def _join_cluster(world: World, existing_node: Node, name: str) -> None:
    """Make a computer a node of the cluster and a possible owner of every resource except the disks."""
    cluster = world.clusters[existing_node.cluster]
    number = max(node.number for node in world.nodes.values() if node.cluster == cluster.name) + 1
    world.clusters[cluster.name] = replace(cluster, nodes=(*cluster.nodes, name))
    world.nodes[name] = Node(
        name=name,
        cluster=cluster.name,
        number=number,
        partition=existing_node.partition,
        config=ClusterConfig(),
    )
    world.evicted.pop(name, None)
    known_config = existing_node.config
    owned = tuple(
        _add_owner(role, name, False) if role.kind == "instance" else role for role in known_config.roles
    )
    config.update_config(
        world,
        existing_node.name,
        weights=(*known_config.weights, (name, 1)),
        counted=(*known_config.counted, name),
        roles=owned,
    )
    text = build_message("{node} was added to the cluster {cluster}", node=name, cluster=cluster.name)
    world.emit(ClusterData(what="node added", node=name), text, server=name)
    world.call_after(0.0, "cluster.count", cluster.name)


def _add_owner(role: ClusterRole, name: str, disks: bool) -> ClusterRole:
    """Return the role with *name* as an additional possible owner of its resources.

    Disks are included only if *disks* is True.
    """
    return replace(
        role,
        resources=tuple(
            replace(resource, owners=(*resource.owners, name))
            if name not in resource.owners and (disks or resource.kind != "Physical Disk")
            else resource
            for resource in role.resources
        ),
    )


def remove_node(world: World, instance: str, name: str) -> None:
    """Execute Setup /ACTION=RemoveNode: uninstall the instance on the node *name*.

    The node is then no longer a possible owner. An evicted node keeps its installation until this
    command. [DOC: add or remove nodes of an instance]
    """
    node_and_role = roles.find_role(world, instance)
    if instances.find_instance_role(world, instance) is None or node_and_role is None:
        raise InputError(build_message("{server} is not a failover cluster instance", server=instance))
    if name not in world.instances[instance].installed:
        raise InputError(build_message("{server} is not installed on {node}", server=instance, node=name))
    if world.instances[instance].computer == name:
        raise InputError(
            build_message("{server} runs on {node}; move the instance first", server=instance, node=name)
        )
    if not world.computers[name].powered:
        raise InputError(build_message("{node} is off", node=name))
    if name in world.nodes:
        _start_setup(
            world, _require_idle_node(world, name).name, instance, "setup.removed", REMOVE_NODE_S, instance
        )
    else:
        world.call_after(REMOVE_NODE_S, "setup.removed", name, instance)
    text = build_message("Setup removes {node} from {server}", node=name, server=instance)
    world.emit(ClusterData(what="remove node", instance=instance), text, server=name)


def complete_remove_node(world: World, name: str, instance: str) -> None:
    """Finish the removal of an instance from a node (timer handler)."""
    node, node_and_role = world.nodes.get(name), roles.find_role(world, instance)
    if node is not None:
        world.nodes[name] = replace(node, setup="")
    if (
        node_and_role is None
        or not world.computers[name].powered
        or world.instances[instance].computer == name
    ):
        text = build_message("Setup was interrupted on {node}", node=name)
        world.emit(ClusterData(what="remove node failed", instance=instance), text, server=name)
        return
    remaining_role = remove_node_from_roles([node_and_role[1]], name)[0]
    config.update_role(
        world,
        node_and_role[0].name,
        remaining_role.name,
        resources=remaining_role.resources,
        preferred=remaining_role.preferred,
    )
    installed = tuple(node_name for node_name in world.instances[instance].installed if node_name != name)
    world.update_instance(instance, installed=installed)
    text = build_message("{server} is no longer installed on {node}", server=instance, node=name)
    world.emit(ClusterData(what="removed", instance=instance), text, server=name)


def add_shared_disk(world: World, instance: str, letter: str) -> tuple[str, ...]:
    """Add a shared disk for a failover cluster instance to Available Storage.

    Return the nodes that can use it.

    The result is empty if the instance is not clustered.
    """
    node_and_role = roles.find_role(world, instance) if world.instances[instance].clustered else None
    if node_and_role is None:
        return ()
    node, installed_nodes = node_and_role[0], world.instances[instance].installed
    resources = [
        *(resource for role in node.config.roles for resource in role.resources),
        *node.config.storage,
    ]
    number = 1 + sum(resource.kind == "Physical Disk" for resource in resources)
    disk = Resource(name=f"Cluster Disk {number}", kind="Physical Disk", owners=installed_nodes, drive=letter)
    config.update_config(world, node.name, storage=(*node.config.storage, disk))
    world.update_instance(instance, drives_apart=(*world.instances[instance].drives_apart, letter))
    return installed_nodes


def remove_node_from_roles(cluster_roles: Iterable[ClusterRole], name: str) -> tuple[ClusterRole, ...]:
    """Return the roles without the node *name*, which has left the cluster permanently."""

    def drop_node(names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(node_name for node_name in names if node_name != name)

    return tuple(
        replace(
            role,
            preferred=drop_node(role.preferred),
            tried=drop_node(role.tried),
            resources=tuple(
                replace(resource, owners=drop_node(resource.owners)) for resource in role.resources
            ),
        )
        for role in cluster_roles
    )


def complete_add_node(world: World, name: str, instance: str) -> None:
    """Finish the installation of an instance on another node (timer handler).

    The node becomes a possible owner of the instance's disks.
    """
    node = world.nodes.get(name)
    if node is None or node.setup != instance:
        return
    world.nodes[name] = replace(node, setup="")
    node_and_role = roles.find_role(world, instance)
    if node_and_role is None or not config.is_running(world, node):
        text = build_message("Setup was interrupted on {node}", node=name)
        world.emit(ClusterData(what="add node failed", instance=instance), text, server=name)
        return
    owned = _add_owner(node_and_role[1], name, True)
    config.update_role(world, node_and_role[0].name, node_and_role[1].name, resources=owned.resources)
    world.update_instance(instance, installed=(*world.instances[instance].installed, name))
    text = build_message("{server} is installed on {node}", server=instance, node=name)
    world.emit(ClusterData(what="installed", instance=instance), text, server=name)


HANDLERS: Final[Handlers] = {
    "setup.patched": complete_service_pack,
    "setup.added": complete_add_node,
    "setup.removed": complete_remove_node,
}
