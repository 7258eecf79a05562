"""Commands for a cluster: stop and start nodes, force quorum, set votes and owners, move roles.

A command that the cluster rejects raises InputError.
"""

from collections.abc import Callable, Iterable
from typing import Final

from msgspec.structs import replace

from engine.cluster import config, instances, membership, quarantine, quorum, roles, setup
from engine.events import ClusterData
from engine.inputs import InputError, append_existing_names
from engine.localization import build_message
from engine.model import Cluster, ClusterRole, FieldOf, Node, Resource, ResourceState, Witness, World


def stop_node(world: World, name: str) -> None:
    """Stop the node's cluster service in an orderly way. Its vote no longer counts, and its roles move.

    [DOC: Stop-ClusterNode].
    """
    node = world.nodes[name]
    other_members = [member for member in config.list_members(world, node.partition) if member != name]
    membership.remove_exited_node(world, name, other_members)
    world.nodes[name] = replace(world.nodes[name], service="stopped")
    world.mark_all_logs_changed()


def has_quorum_without(world: World, name: str) -> bool:
    """Return whether the remaining nodes have quorum after *name* leaves its partition.

    Return True if *name* is in no partition with quorum.
    """
    trial = world.fork()
    other_members = [
        member for member in config.list_members(trial, trial.nodes[name].partition) if member != name
    ]
    if not trial.nodes[name].partition:
        return True
    membership.recount_votes_without(trial, name)
    trial_config = trial.nodes[name].config
    return bool(other_members) and quorum.has_majority(
        trial_config, other_members, config.has_witness_vote(trial, trial_config, other_members)
    )


def start_node(world: World, name: str, prevent: bool = False) -> None:
    """Start the cluster service. The node joins a running cluster, or forms one with enough votes.

    *prevent*: start with PreventQuorum, so that the node joins a cluster but never forms one.
    """
    node = world.nodes[name]
    if not world.computers[name].powered or world.computers[name].shutting_down:
        text = build_message(
            "{node} is off; the cluster service starts when you power on the node", node=name
        )
        world.emit(ClusterData(what="off"), text, server=name)
        return
    if node.service in (
        "off",
        "starting",
    ):  # "off" occurs here only in the tick in which the computer is powered on
        world.emit(
            ClusterData(what="off"),
            build_message("{node} is booting; the cluster service starts afterwards", node=name),
            server=name,
        )
        return
    if quarantine.is_quarantined(world, name):
        raise InputError(build_message("{node} is quarantined; clear the quarantine first", node=name))
    if node.service != "running":
        world.nodes[name] = replace(node, service="running", partition=0, prevented=prevent)
    elif prevent and not node.partition:
        world.nodes[name] = replace(node, prevented=True)
    world.mark_all_logs_changed()


def force_quorum(world: World, name: str) -> None:
    """Force quorum. The node forms the cluster alone, and all nodes adopt its cluster database.

    [DOC: Start-ClusterNode].
    """
    node = world.nodes[name]
    computer = world.computers[name]
    if not computer.powered or computer.shutting_down or node.service in ("off", "starting"):
        raise InputError(build_message("{node} is off", node=name))
    if node.partition:
        raise InputError(
            build_message(
                "the cluster service is running on {node}; stop it before you force quorum", node=name
            )
        )
    quarantine.clear_exits(world, name)
    newest = max(node.config.epoch, config.read_paxos_tag(world, node.config, (name,)))
    forced_config = replace(
        node.config,
        epoch=newest + membership.FORCED_QUORUM_TAG_INCREASE,
        forced=True,
        counted=(name,),
        witness_counts=False,
    )
    world.nodes[name] = replace(node, service="running", prevented=False)
    membership.form_cluster(world, [name], forced_config)


def evict_node(world: World, name: str, observer: str = "") -> None:
    """Evict the node. The roles that it owns move. Its replicas remain configured."""
    require_majority(world, observer)
    node = world.nodes[name]
    cluster = world.clusters[node.cluster]
    if len(cluster.nodes) == 1:
        raise InputError(build_message("{node} is the last node of its cluster", node=name))
    other_members = [member for member in config.list_members(world, node.partition) if member != name]
    membership.remove_exited_node(world, name, other_members)
    world.clusters[cluster.name] = replace(
        cluster, nodes=tuple(member for member in cluster.nodes if member != name)
    )
    world.evicted[name] = world.nodes[name].config
    del world.nodes[name]
    quarantine.clear_exits(world, name)
    for partition in config.list_partitions(world, cluster.name):
        writer = config.find_writing_node(world, partition)
        if writer is not None:
            old_config = writer.config
            weights = tuple(node_weight for node_weight in old_config.weights if node_weight[0] != name)
            remaining_roles = setup.remove_node_from_roles(old_config.roles, name)
            config.update_config(world, writer.name, weights=weights, roles=remaining_roles)
    world.mark_all_logs_changed()


def set_node_weight(world: World, name: str, weight: int, observer: str = "") -> None:
    """Execute `(Get-ClusterNode name).NodeWeight = weight`."""
    first = _find_executing_node(world, world.nodes[name].cluster, observer)
    weights = tuple((node, weight if node == name else old) for node, old in first.config.weights)
    membership.change_votes(world, first.name, weights=weights)


WITNESS_KINDS: Final = {
    "disk": "Physical Disk",
    "file share": "File Share Witness",
    "cloud": "Cloud Witness",
}


def set_witness(world: World, cluster: str, kind: str, name: str, observer: str = "") -> None:
    """Execute Set-ClusterQuorum: configure another witness, or none if *kind* is empty.

    [DOC: Set-ClusterQuorum]

    *name*: path of a share, or name of a disk or storage account. The computer of a share must exist,
    be reachable, and not be a node. A disk must be a current or former witness, or in Available
    Storage, which it then leaves. Any storage account is accepted.
    """
    first = _find_executing_node(world, cluster, observer)
    witness = Witness(kind=WITNESS_KINDS[kind], name=name) if kind else None
    storage = first.config.storage
    if witness is not None and kind == "file share":
        host = name.lstrip("\\").partition("\\")[0]
        spelled = next((computer for computer in world.computers if computer.lower() == host.lower()), None)
        witness = replace(witness, name=spelled or host)
        if spelled in world.clusters[cluster].nodes:  # Windows reports this as system error 5938
            raise InputError(
                build_message(
                    "the file share associated with a file share witness resource cannot be hosted by this cluster or "
                    "any of its nodes"
                )
            )
        members = config.list_members(world, first.partition)
        if spelled is None or not config.is_witness_reachable(world, witness, members):
            raise InputError(build_message("the file share {name} is not available", name=name))
    if kind == "disk":
        for role in first.config.roles:
            used = role.find_resource(name)
            if used is not None:
                raise InputError(
                    build_message("{name} is a resource of {role}", name=used.name, role=role.name)
                )
        witnesses = (first.config.witness, *(store.witness for store in world.clusters[cluster].stores))
        disks = [disk.name for disk in storage]
        disks += [
            former.name for former in witnesses if former is not None and former.kind == config.DISK_KIND
        ]
        spelled = next((disk for disk in disks if disk.lower() == name.lower()), None)
        if spelled is None:
            raise InputError(
                append_existing_names(build_message("disk {name!r} does not exist", name=name), disks)
            )
        witness = Witness(kind=config.DISK_KIND, name=spelled)
        storage = tuple(disk for disk in storage if disk.name != spelled)
    membership.change_votes(world, first.name, witness=witness, storage=storage)


HEARTBEAT_THRESHOLD_LIMITS: Final = (3, 120)
"""Minimum and maximum of a heartbeat threshold. Documented [DOC: SameSubnetThreshold]."""


def set_heartbeat_threshold(
    world: World, cluster: str, is_cross_subnet: bool, missed_heartbeats: int, observer: str = ""
) -> None:
    """Set SameSubnetThreshold or, with *is_cross_subnet*, CrossSubnetThreshold to *missed_heartbeats*."""
    minimum, maximum = HEARTBEAT_THRESHOLD_LIMITS
    if not minimum <= missed_heartbeats <= maximum:
        raise InputError(build_message("a threshold must be between {a} and {b}", a=minimum, b=maximum))
    first = _find_executing_node(world, cluster, observer)
    cluster_settings = world.clusters[first.cluster]
    world.clusters[first.cluster] = (
        replace(cluster_settings, cross_threshold=missed_heartbeats)
        if is_cross_subnet
        else replace(cluster_settings, threshold=missed_heartbeats)
    )


def set_dynamic_quorum(world: World, observer: str, enabled: bool) -> None:
    """Set DynamicQuorum of (Get-Cluster) and recount the votes. Raise InputError if quorum would be lost."""
    _change_quorum_settings(world, observer, dynamic_quorum=enabled)


def set_lower_priority_node(world: World, observer: str, number: int) -> None:
    """Set LowerQuorumPriorityNodeID of (Get-Cluster): number of the node that loses its vote first, or 0.

    [DOC: failover clustering quorum]
    """
    nodes = [world.nodes[name] for name in world.clusters[world.nodes[observer].cluster].nodes]
    node_name = next((node.name for node in nodes if node.number == number), None)
    if number and node_name is None:
        raise InputError(build_message("the cluster has no node with the ID {n}", n=number))
    _change_quorum_settings(world, observer, lower_priority_node=node_name)


def _change_quorum_settings(world: World, observer: str, **changes: FieldOf[Cluster]) -> None:
    """Set fields of the cluster and recount the votes.

    Undo the change and raise InputError if quorum would be lost.
    """
    first = _find_executing_node(world, world.nodes[observer].cluster, observer)
    old = world.clusters[first.cluster]
    world.clusters[first.cluster] = replace(old, **changes)
    try:
        membership.change_votes(world, first.name)
    except InputError:
        world.clusters[first.cluster] = old
        raise


def set_node_paused(
    world: World, name: str, paused: bool, observer: str, drain: bool = False, target: str | None = None
) -> None:
    """Execute Suspend-ClusterNode or Resume-ClusterNode. A paused node accepts no more roles.

    With *drain*, the roles that it owns move, to *target* if given.
    """
    node = world.nodes[name]
    require_majority(world, observer)
    if config.read_node_state(world, observer, name) == "Down":
        raise InputError(build_message("{node} is not up in the cluster", node=name))
    world.nodes[name] = replace(node, paused=paused)
    world.mark_all_logs_changed()
    for role in world.nodes[observer].config.roles if paused and drain else ():
        if role.owner == name and role.state is ResourceState.ONLINE:
            roles.move_role(world, name if config.can_write_config(world, name) else observer, role, target)
    active_members = [
        member for member in config.list_members(world, node.partition) if not world.nodes[member].paused
    ]
    if paused and drain and active_members and config.find_core_owner(world, observer) == name:
        config.update_config(world, observer, core_owner=active_members[0])


REMOTE_CALL_FAILED_CODE: Final = build_message("the remote procedure call failed")
"""System error 1726: a command ran at a node that has lost the majority of its cluster. Known."""


def require_majority(world: World, observer: str) -> None:
    """Raise InputError if the node *observer* does not reach a majority of its cluster.

    The call of a cmdlet waits until the node notices the loss of quorum, and then fails. An empty
    *observer* means any node and raises no error.
    """
    if observer and not config.can_write_config(world, observer):
        raise InputError(REMOTE_CALL_FAILED_CODE)


def _find_executing_node(world: World, cluster: str, observer: str = "") -> Node:
    """Return the node at which a command is executed: *observer*, or any node of the newest partition."""
    require_majority(world, observer)
    if observer:
        return world.nodes[observer]
    living = [
        config.find_writing_node(world, partition) for partition in config.list_partitions(world, cluster)
    ]
    living_nodes = [node for node in living if node is not None]
    if not living_nodes:
        raise InputError(build_message("cluster {cluster} has no quorum", cluster=cluster))
    return max(living_nodes, key=lambda node: node.config.epoch)


def _require_role(world: World, name: str, observer: str = "") -> tuple[Node, ClusterRole]:
    """Return (node of the partition that runs the role, role).

    Raise InputError if *observer* reaches no majority, or for an unknown name.
    """
    require_majority(world, observer)
    found_role = roles.find_role(world, name, observer)
    if found_role is None:
        raise InputError(build_message("no cluster with quorum has a role {name!r}", name=name))
    return found_role


_NOOP_MOVE_STATES: Final = (ResourceState.ONLINE, ResourceState.ONLINE_PENDING, ResourceState.OFFLINE)
"""States of a role in which a move to its current owner has no effect."""


def move_role(world: World, name: str, target: str, observer: str = "") -> None:
    """Execute Move-ClusterGroup. The cluster moves the role without checking the databases.

    A role that was taken offline is also offline on its new owner. [DOC: MoveClusterGroup]
    """
    node, role = _require_role(world, name, observer)
    if role.owner == target and role.state in _NOOP_MOVE_STATES:
        raise InputError(build_message("{node} already owns {role}", node=target, role=role.name))
    state = config.read_node_state(world, node.name, target)
    if state == "Down":
        raise InputError(build_message("{node} is not up in the cluster", node=target))
    if state == "Paused":
        raise InputError(build_message("{node} is paused", node=target))
    if not roles.can_come_online(world, node, role, target):
        raise InputError(
            build_message("{node} is not a possible owner of {role}", node=target, role=role.name)
        )
    if role.state is ResourceState.OFFLINE:
        config.update_role(world, node.name, role.name, owner=target)
    else:
        roles.move_role(world, node.name, role, target)


def stop_role(world: World, name: str, observer: str = "") -> None:
    """Take the role offline until someone starts it again."""
    node, role = _require_role(world, name, observer)
    roles.stop_role(world, node.name, role)


def start_role(world: World, name: str, observer: str = "") -> None:
    """Bring the role online, on its owner if possible. Raise InputError if it is online or moving."""
    node, role = _require_role(world, name, observer)
    if role.state is ResourceState.ONLINE:
        if not instances.start_failed_agent(world, role):
            raise InputError(build_message("{role} is online", role=role.name))
        return
    _start_role(world, node, role)


def _start_role(world: World, node: Node, role: ClusterRole) -> None:
    """Bring a role online. Do nothing if it is already coming online on a node.

    Raise InputError for a role that is moving [DOC: 41123] or whose owner is paused [DOC: PauseClusterNode].
    """
    if role.state is ResourceState.OFFLINE_PENDING:
        raise InputError(build_message("{role} is moving to another node", role=role.name))
    if config.read_node_state(world, node.name, role.owner) == "Paused":
        raise InputError(build_message("{node} is paused", node=role.owner))
    if role.state is not ResourceState.ONLINE_PENDING:
        roles.bring_online(world, node.name, role, role.owner)


def stop_resource(world: World, name: str, observer: str = "") -> None:
    """Execute Stop-ClusterResource. Dependent resources go offline, too; others stay online. Known.

    Raise InputError for the Agent: no resource depends on it, and a stop of the Agent alone is not simulated.
    """
    node, role, resource = _require_resource(world, name, observer)
    if resource.kind == config.AGENT_KIND:
        raise InputError(
            build_message("Not simulated: taking the single resource {name} offline", name=resource.name)
        )
    if config.read_resource_state(world, role, resource) is ResourceState.OFFLINE:
        return
    stopped_resources = _list_dependents(role, resource)
    staying = [
        resource.name
        for resource in role.resources
        if resource.name not in stopped_resources
        and config.read_resource_state(world, role, resource) is ResourceState.ONLINE
    ]
    roles.stop_role(world, node.name, role)
    role = _require_resource(world, name, observer)[1]
    if role.state is ResourceState.OFFLINE:
        resources = tuple(replace(resource, started=resource.name in staying) for resource in role.resources)
        config.update_role(world, node.name, role.name, resources=resources)


def _list_dependents(role: ClusterRole, resource: Resource) -> set[str]:
    """Return the names of a resource and of all its direct and indirect dependents in the role."""
    affected = {resource.name}
    for _ in role.resources:
        affected |= {resource.name for resource in role.resources if affected & set(resource.needs)}
    return affected


def start_resource(world: World, name: str, observer: str = "") -> None:
    """Execute Start-ClusterResource.

    The resource comes online after all resources that it depends on. Its dependents stay offline.
    """
    node, role, resource = _require_resource(world, name, observer)
    if resource.kind not in config.SERVER_RESOURCE_KINDS and any(
        resource.name in other_resource.needs for other_resource in role.resources
    ):
        started_resource = replace(resource, started=role.state is not ResourceState.ONLINE)
        if config.read_resource_state(world, role, started_resource) is ResourceState.OFFLINE:
            raise InputError(
                build_message(
                    "{node} has no network for the resource {name}", node=role.owner, name=resource.name
                )
            )
        _store_resource(world, node, role, started_resource)
    elif role.state is not ResourceState.ONLINE:
        _start_role(world, node, role)
    elif resource.kind == config.AGENT_KIND:
        instances.start_failed_agent(world, role)


def move_disk(world: World, name: str, role_name: str, observer: str = "") -> None:
    """Execute Move-ClusterResource: add a disk of Available Storage to a role."""
    node, role = _require_role(world, role_name, observer)
    disk = next(
        (storage_disk for storage_disk in node.config.storage if storage_disk.name.lower() == name.lower()),
        None,
    )
    if disk is None:
        raise InputError(
            append_existing_names(
                build_message("disk {name!r} is not in Available Storage", name=name),
                [storage_disk.name for storage_disk in node.config.storage],
            )
        )
    remaining_storage = tuple(
        storage_disk for storage_disk in node.config.storage if storage_disk is not disk
    )
    config.update_config(world, node.name, storage=remaining_storage)
    config.update_role(world, node.name, role.name, resources=(*role.resources, disk))


def add_dependency(world: World, name: str, provider: str, observer: str = "") -> None:
    """Execute Add-ClusterResourceDependency: *name* depends on *provider*, a resource of the same role.

    [DOC: add dependencies]
    """
    node, role, resource = _require_resource(world, name, observer)
    needed_resource = role.find_resource(provider)
    if needed_resource is None or needed_resource.name == resource.name:
        raise InputError(
            append_existing_names(
                build_message(
                    "{name} and {other} are not in the same role", name=resource.name, other=provider
                ),
                [
                    other_resource.name
                    for other_resource in role.resources
                    if other_resource.name != resource.name
                ],
            )
        )
    if needed_resource.name in resource.needs:
        raise InputError(
            build_message("{name} already depends on {other}", name=resource.name, other=needed_resource.name)
        )
    _store_resource(world, node, role, replace(resource, needs=(*resource.needs, needed_resource.name)))
    if resource.kind == "SQL Server" and needed_resource.drive and role.name in world.instances:
        other_drives = tuple(
            drive for drive in world.instances[role.name].drives_apart if drive != needed_resource.drive
        )
        world.update_instance(role.name, drives_apart=other_drives)


def _require_resource(world: World, name: str, observer: str = "") -> tuple[Node, ClusterRole, Resource]:
    """Return (node of the partition that runs the role, role, resource).

    Raise InputError if *observer* reaches no majority, or for an unknown name.
    """
    require_majority(world, observer)
    partition = world.nodes[observer].partition if observer else 0
    known_names: list[str] = []
    for node, role in roles.iterate_roles(world):
        if partition not in (0, node.partition):
            continue
        for resource in role.resources:
            if resource.name.lower() == name.lower():
                return node, role, resource
            known_names.append(resource.name)
    raise InputError(
        append_existing_names(build_message("resource {name!r} does not exist", name=name), known_names)
    )


def set_possible_owners(world: World, name: str, nodes: Iterable[str], observer: str = "") -> None:
    """Execute Set-ClusterOwnerNode for one resource."""
    node, role, resource = _require_resource(world, name, observer)
    owner_names = _require_nodes(world, node, nodes)
    owners = tuple(name for name in world.clusters[node.cluster].nodes if name in owner_names)
    _store_resource(world, node, role, replace(resource, owners=owners))


def _require_nodes(world: World, node: Node, names: Iterable[str]) -> tuple[str, ...]:
    """Return the nodes of the cluster with these names, as the cluster spells them."""
    all_nodes = world.clusters[node.cluster].nodes
    spelled = {node_name.lower(): node_name for node_name in all_nodes}
    spelled_names = [spelled.get(given_name.strip().lower(), "") for given_name in names]
    if "" in spelled_names:
        raise InputError(
            append_existing_names(build_message("possible owners must be nodes of the cluster"), all_nodes)
        )
    return tuple(spelled_names)


def set_preferred_owners(world: World, name: str, nodes: Iterable[str], observer: str = "") -> None:
    """Execute Set-ClusterOwnerNode for a role: set its preferred owners, the best first.

    For an availability group they are valid only until the next failover, at which SQL Server sets them
    again.
    """
    node, role = _require_role(world, name, observer)
    config.update_role(world, node.name, role.name, preferred=_require_nodes(world, node, nodes))


def set_role_property(world: World, name: str, observer: str, **changes: FieldOf[ClusterRole]) -> None:
    """Set a common property of (Get-ClusterGroup *name*)."""
    node, role = _require_role(world, name, observer)
    config.update_role(world, node.name, role.name, **changes)


def set_resource_property(
    world: World, name: str, observer: str, change: Callable[[Resource], Resource]
) -> None:
    """Set a common property of (Get-ClusterResource *name*)."""
    node, role, resource = _require_resource(world, name, observer)
    _store_resource(world, node, role, change(resource))


def _store_resource(world: World, node: Node, role: ClusterRole, resource: Resource) -> None:
    resources = tuple(
        resource if old_resource.name == resource.name else old_resource for old_resource in role.resources
    )
    config.update_role(world, node.name, role.name, resources=resources)


def fail_resource(world: World, name: str) -> None:
    """Fail a resource, which the cluster notices at once."""
    node, role, resource = _require_resource(world, name)
    if resource.kind == config.AGENT_KIND:
        instances.fail_agent(world, role.name, 0.0)
        return
    text = build_message("resource {name} has failed", name=resource.name)
    roles.handle_failure(world, node.name, role, text, resource.name)


def set_witness_failed(world: World, cluster: str, failed: bool) -> None:
    """Make the disk or share of the witness fail. With *failed* False, restore all failed witnesses.

    Restored witnesses include former witnesses of the cluster.
    """
    spelled = {name.lower(): name for name in world.clusters}
    if cluster.lower() not in spelled:
        raise InputError(
            append_existing_names(
                build_message("cluster {name!r} does not exist", name=cluster), world.clusters
            )
        )
    name = spelled[cluster.lower()]
    witness = config.find_current_config(world, name).witness
    stores = [
        witness_store for witness_store in world.clusters[name].stores if witness_store.failed and not failed
    ]
    if witness is not None and not stores:
        stores = [config.get_witness_store(world, name, witness)]
    if not stores:
        raise InputError(build_message("cluster {cluster} has no witness", cluster=name))
    for store in stores:
        config.replace_witness_store(world, name, replace(store, failed=failed))
    world.mark_all_logs_changed()
