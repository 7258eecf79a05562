"""Preconditions of the automatic move of a failover cluster instance to another node.

[DOC: failover policy of instances]
"""

from collections.abc import Iterator

from engine.cluster import config, instances, roles
from engine.localization import say
from engine.model import ClusterRole, Node, ResourceState, World
from engine.protocol.groups import FailoverPrecondition


def list_instance_preconditions(world: World, database: str) -> list[FailoverPrecondition]:
    """Return the preconditions of the failover cluster instance: first its own, then those of each other node."""
    copy = next((c for c in world.copies_of(database) if world.instances[c.server].clustered), None)
    instance_role = roles.find(world, copy.server) if copy is not None else None
    if instance_role is None:
        return []
    node, role = instance_role
    instance = world.instances[copy.server] if copy is not None else None
    other_nodes = [
        name
        for name in world.clusters[node.cluster].nodes
        if name != role.owner
        and (
            any(name in resource.owners for resource in role.resources)
            or (instance is not None and name in instance.installed)
        )
    ]
    ranked = [*(name for name in role.preferred if name in other_nodes), *other_nodes]
    return [
        *_list_role_preconditions(world, role),
        *(row for name in dict.fromkeys(ranked) for row in _list_node_preconditions(world, node, role, name)),
        *_loss(world, node, role),
    ]


def _list_role_preconditions(world: World, role: ClusterRole) -> Iterator[FailoverPrecondition]:
    used, failures_max = roles.failures_used(world, role.name)
    yield FailoverPrecondition(
        say("failover limit of the role not reached (within {hours} h)", hours=role.failover_period_h),
        used < failures_max and role.way != roles.EXHAUSTED,
        say("cluster log: failoverCount; Failover Cluster Manager: role {role}", role=role.name),
        about="memory",
        now=say("{used} of {most} used", used=used, most=failures_max),
    )
    broken_resources = [
        resource.name for resource in role.resources if resource.kind == "Physical Disk" and resource.failed
    ]
    yield FailoverPrecondition(
        say("no disk of the instance has failed"), not broken_resources, say("Get-ClusterResource: State")
    )


def _list_node_preconditions(
    world: World, observer: Node, role: ClusterRole, name: str
) -> Iterator[FailoverPrecondition]:
    node, instance = world.nodes[name], world.instances[instances.instance_of(role)]
    missing = [resource.name for resource in role.resources if name not in resource.owners]
    position = role.preferred.index(name) + 1 if name in role.preferred else 0
    yield FailoverPrecondition(
        say("the node is a possible owner of every resource"),
        not missing,
        say("Get-ClusterResource | Get-ClusterOwnerNode"),
        target=name,
        now=say("not an owner of {resources}", resources=", ".join(missing))
        if missing
        else say("preferred owner {place}", place=position)
        if position
        else say("no preferred owner"),
    )
    yield FailoverPrecondition(
        say("the node is in a cluster with quorum"),
        bool(node.partition) and node.partition == observer.partition and config.is_running(world, node),
        say("Get-ClusterNode: State"),
        target=name,
    )
    yield FailoverPrecondition(
        say("the node is not paused"), not node.paused, say("Get-ClusterNode: State"), target=name
    )
    yield FailoverPrecondition(
        say("the instance is installed on the node, and Setup is not running"),
        name in instance.installed and not node.setup,
        say("SQL Server Setup on {node}", node=name),
        target=name,
    )
    yield FailoverPrecondition(
        say("the tempdb folder exists on the node"),
        name not in instance.no_tempdb_path,
        say("ERRORLOG of {server}: 5123", server=instance.name),
        target=name,
    )


def _loss(world: World, node: Node, role: ClusterRole) -> Iterator[FailoverPrecondition]:
    """Yield the conditions for detecting a loss.

    LooksAlive watches the service, IsAlive watches sp_server_diagnostics.
    """
    owner_node = world.nodes.get(role.owner)
    member = owner_node is not None and owner_node.partition == node.partition
    noticed = role.state is not ResourceState.ONLINE or not member
    yield FailoverPrecondition(
        say("LooksAlive, IsAlive or a missed heartbeat detected the loss of the instance"),
        noticed,
        say("cluster log: resource {name}", name=f"SQL Server ({role.name})"),
        about="beginning",
        now=role.why,
    )
    tried, restarts_max = roles.restarts_used(world, role), roles.find_server_resource(role).restart_threshold
    yield FailoverPrecondition(
        say("a restart on the same node has failed, or the node is down"),
        not member or (noticed and role.way != "restart" and tried >= restarts_max),
        say("cluster log: resource {name}", name=f"SQL Server ({role.name})"),
        about="loss",
        now=say("{used} of {most} used", used=tried, most=restarts_max),
    )
