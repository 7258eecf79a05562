"""Indicators, notes and links of availability groups and clusters for the topology. Without Qt."""

from collections.abc import Iterator
from typing import Final

from app.view_models.topology_contents import ServerDisplay, StatusIndicator
from app.words.language import mark, tr
from engine.availability import movement, replicas
from engine.cluster import config, instances, roles
from engine.model import Computer, DatabaseCopy, Instance, ReplicaRole, ResourceState, SyncState, World

_ROLE_INDICATORS: Final = {
    ReplicaRole.PRIMARY: StatusIndicator("PRIMARY", "info", "principal"),
    ReplicaRole.SECONDARY: StatusIndicator("SECONDARY", "info", "mirror"),
    ReplicaRole.RESOLVING: StatusIndicator("RESOLVING", "warn", "single"),
}
_STATE_INDICATORS: Final = {
    SyncState.SYNCHRONIZED: StatusIndicator("SYNCHRONIZED", "ok", "check"),
    SyncState.SYNCHRONIZING: StatusIndicator("SYNCHRONIZING", "info", "cycle"),
    SyncState.NOT_SYNCHRONIZING: StatusIndicator("NOT SYNCHRONIZING", "bad", "cross"),
    SyncState.REVERTING: StatusIndicator("REVERTING", "warn", "hourglass"),
    SyncState.INITIALIZING: StatusIndicator("INITIALIZING", "warn", "hourglass"),
}
_SUSPENDED_INDICATOR: Final = StatusIndicator("SUSPENDED", "warn", "pause")
_RESOURCE_COLOR_NAMES: Final = {
    ResourceState.ONLINE: "ok",
    ResourceState.FAILED: "bad",
    ResourceState.OFFLINE: "bad",
}
_LISTENER_INDICATORS: Final = {
    ResourceState.ONLINE: (mark("{name} online"), "ok"),
    ResourceState.FAILED: (mark("{name} offline"), "bad"),
    ResourceState.OFFLINE: (mark("{name} offline"), "bad"),
}
"""State of an availability group's cluster role -> text and color name of the listener.

In any other state, the role is failing over.
"""

_POWER_INDICATORS: Final = {
    True: StatusIndicator(mark("running"), "ok", "dot"),
    False: StatusIndicator(mark("power off"), "bad", "cross"),
}


def uses_mirroring(world: World) -> bool:
    """Return whether the world uses mirroring: it has no cluster, or it has a mirroring session."""
    return not world.clusters or any(group.kind == "mirroring" for group in world.groups.values())


def get_role_indicator(copy: DatabaseCopy) -> StatusIndicator | None:
    """Return the role of a copy in its availability group; None if the copy is in no group."""
    return None if copy.availability.guid is None else _ROLE_INDICATORS[copy.availability.role]


def get_state_indicator(world: World, copy: DatabaseCopy) -> StatusIndicator | None:
    """Return the synchronization state of a copy in its availability group; None if the copy is in no group."""
    if copy.availability.guid is None:
        return None
    if replicas.find_suspend_reason(world, (copy.server, copy.database)) is not None:
        return _SUSPENDED_INDICATOR
    return _STATE_INDICATORS[copy.availability.state]


def list_secondary_indicators(world: World, copy: DatabaseCopy) -> Iterator[StatusIndicator]:
    """Yield the indicators of a secondary copy: whether it is failover ready, and whether it is readable."""
    guid = copy.availability.guid
    if guid is None or copy.availability.role is not ReplicaRole.SECONDARY:
        return
    group = replicas.find_group_config(world, copy.server, guid)
    ready = group is not None and (copy.database, copy.server) in group.ready
    yield StatusIndicator(
        mark("failover ready") if ready else mark("not failover ready"),
        "ok" if ready else "warn",
        "check" if ready else "warning",
    )
    if copy.availability.readers != "NO":
        yield StatusIndicator(mark("readable"), "idle", "dot")


def get_server_kind(world: World, server: Instance) -> str:
    """Return "instance" for a failover cluster instance, "replica" for a server with a replica, otherwise ""."""
    if server.clustered:
        return "instance"
    return "replica" if any(name == server.name for name, _ in world.replicas) else ""


def format_host_node(world: World, server: Instance) -> str:
    """Return "on NODE" or, during a move, "moving to NODE" for a failover cluster instance; otherwise ""."""
    role = instances.find_instance_role(world, server.name) if server.clustered else None
    if role is None:
        return ""
    words = tr("on {node}") if role.owner == server.computer else tr("moving to {node}")
    return words.format(node=role.owner)


def list_listener_indicators(world: World, server: Instance) -> Iterator[StatusIndicator]:
    """Yield an indicator for each listener whose cluster role is on the instance's node."""
    for _, cluster_role in roles.iterate_roles(world):
        group = (
            replicas.find_group(world, server.name, cluster_role.name)
            if cluster_role.owner == server.computer
            else None
        )
        if group is None or group.listener is None or server.clustered:
            continue
        away_state = (mark("{name} failing over"), "warn")
        word, color_name = _LISTENER_INDICATORS.get(cluster_role.state, away_state)
        if color_name == "ok" and (
            world.listeners.get(group.listener.name) != server.name or not server.answering
        ):
            word, color_name = away_state
        name = f"{group.listener.name}:{group.listener.port}"
        yield StatusIndicator(
            tr(word).format(name=name),
            color_name,
            "dot" if color_name == "ok" else "warning",
            group.listener.name,
        )


def list_host_node_notes(world: World, server: Instance) -> Iterator[str]:
    """Yield unusual facts about the cluster node that hosts a standalone instance."""
    if not server.clustered and server.computer in world.nodes:
        yield from _list_node_notes(world, server.computer)


def _list_node_notes(world: World, name: str) -> Iterator[str]:
    node = world.nodes[name]
    if not config.is_running(world, node):
        if world.computers[name].powered:
            yield tr("cluster service stopped")
    elif not node.partition:
        yield tr("no cluster quorum")
    else:
        if node.config.forced:
            yield tr("forced quorum")
        if name not in node.config.counted:
            yield tr("no vote")


def list_computer_displays(world: World) -> Iterator[ServerDisplay]:
    """Yield the display data of computers without their own instance: file servers and nodes of FCIs."""
    with_instance = {instance.name for instance in world.instances.values()}
    computers = [computer for computer in world.computers.values() if computer.name not in with_instance]
    for index, computer in enumerate(computers, len(world.instances)):
        node = world.nodes.get(computer.name)
        witness = node is None and any(_list_share_states(world, computer.name))
        yield ServerDisplay(
            name=computer.name,
            kind="node" if node is not None else "share" if witness else "computer",
            color=index,
            status=_POWER_INDICATORS[computer.powered],
            version=0,
            copies=(),
            grid=(),
            witness_indicators=tuple(_list_owned_roles(world, computer)),
            faults=tuple(_list_faults(world, computer)),
        )


def _list_faults(world: World, computer: Computer) -> Iterator[str]:
    if not computer.nic_up:
        yield tr("network cables unplugged")
    if computer.name in world.nodes:
        yield from _list_node_notes(world, computer.name)


def _list_share_states(world: World, computer: str) -> Iterator[bool]:
    for node in world.nodes.values():
        witness = node.config.witness
        yield witness is not None and witness.name == computer


def _list_owned_roles(world: World, computer: Computer) -> Iterator[StatusIndicator]:
    """Yield an indicator for each cluster role that a node owns."""
    for _, cluster_role in roles.iterate_roles(world):
        if cluster_role.owner == computer.name:
            color_name = _RESOURCE_COLOR_NAMES.get(cluster_role.state, "warn")
            if (
                not computer.powered
            ):  # the node is down and the cluster has not noticed yet, so the role does not run here
                yield StatusIndicator(cluster_role.name, "idle", "dot", cluster_role.name)
                continue
            yield StatusIndicator(
                f"{cluster_role.name} {cluster_role.state.value}",
                color_name,
                "dot" if color_name == "ok" else "warning",
                cluster_role.name,
            )


def list_linked_pairs(world: World) -> Iterator[tuple[str, str, str]]:
    """Yield (end, end, kind) of each link.

    The ends are primary and secondary, node and file share witness, or a failover cluster instance and its
    node.
    """
    leading = {name for (name, _), state in world.replicas.items() if state.role is ReplicaRole.PRIMARY}
    for guid, server, peer in sorted(world.contacts) if leading else ():
        if server in leading and peer not in leading and world.groups[guid].kind == "availability":
            yield server, peer, "replica"
    for node in world.nodes.values():
        witness = node.config.witness
        if witness is not None and witness.name in world.computers:
            yield node.name, witness.name, "witness"
    for instance in world.instances.values():
        if instance.clustered:
            yield instance.name, instance.computer, "witness"


def is_synchronous(world: World, a: str, b: str) -> bool:
    """Return whether commits on server *a* can wait for server *b*, in any availability group."""
    copies = [
        copy for copy in world.copies.values() if copy.server == a and copy.availability.guid is not None
    ]
    return any(movement.is_synchronous_pair(world, copy, b) for copy in copies)
