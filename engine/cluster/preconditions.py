"""Preconditions of an automatic move of a failover cluster instance to another node.

[DOC: failover policy of instances]
"""

from collections.abc import Iterator

from engine.cluster import config, failure_limits, instances, roles
from engine.localization import build_message
from engine.model import ClusterRole, Node, ResourceState, World
from engine.protocol.group_policies import FailoverPrecondition


def list_instance_preconditions(world: World, database: str) -> list[FailoverPrecondition]:
    """Return the preconditions of the failover cluster instance: role, other nodes, detection of the loss."""
    copy = next((c for c in world.list_copies_of(database) if world.instances[c.server].clustered), None)
    instance_role = roles.find_role(world, copy.server) if copy is not None else None
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
        *_list_loss_preconditions(world, node, role),
    ]


def _list_role_preconditions(world: World, role: ClusterRole) -> Iterator[FailoverPrecondition]:
    used, failures_max = roles.count_failures(world, role.name)
    yield FailoverPrecondition(
        build_message(
            "failover limit of the role not reached (within {hours} h)", hours=role.failover_period_h
        ),
        used < failures_max and role.way != roles.FAILOVERS_EXHAUSTED,
        build_message("cluster log: failoverCount; Failover Cluster Manager: role {role}", role=role.name),
        about="memory",
        now=build_message("{used} of {most} attempts used", used=used, most=failures_max),
    )
    broken_resources = [
        resource.name for resource in role.resources if resource.kind == "Physical Disk" and resource.failed
    ]
    yield FailoverPrecondition(
        build_message("no disk of the instance has failed"),
        not broken_resources,
        build_message("Get-ClusterResource: State"),
    )


def _list_node_preconditions(
    world: World, observer: Node, role: ClusterRole, name: str
) -> Iterator[FailoverPrecondition]:
    node, instance = world.nodes[name], world.instances[instances.get_instance_name(role)]
    missing = [resource.name for resource in role.resources if name not in resource.owners]
    position = role.preferred.index(name) + 1 if name in role.preferred else 0
    yield FailoverPrecondition(
        build_message("the node is a possible owner of every resource"),
        not missing,
        build_message("Get-ClusterResource | Get-ClusterOwnerNode"),
        target=name,
        now=build_message("not a possible owner of {resources}", resources=", ".join(missing))
        if missing
        else build_message("preferred owner number {place}", place=position)
        if position
        else build_message("not a preferred owner"),
    )
    yield FailoverPrecondition(
        build_message("the node is in a cluster with quorum"),
        bool(node.partition) and node.partition == observer.partition and config.is_running(world, node),
        build_message("Get-ClusterNode: State"),
        target=name,
    )
    yield FailoverPrecondition(
        build_message("the node is not paused"),
        not node.paused,
        build_message("Get-ClusterNode: State"),
        target=name,
    )
    yield FailoverPrecondition(
        build_message("the instance is installed on the node, and Setup is not running"),
        name in instance.installed and not node.setup,
        build_message("SQL Server Setup on {node}", node=name),
        target=name,
    )
    yield FailoverPrecondition(
        build_message("the tempdb folder exists on the node"),
        name not in instance.no_tempdb_path,
        build_message("ERRORLOG of {server}: 5123", server=instance.name),
        target=name,
    )


def _list_loss_preconditions(world: World, node: Node, role: ClusterRole) -> Iterator[FailoverPrecondition]:
    """Yield the preconditions for the detection of a loss.

    LooksAlive checks the service, IsAlive checks the reports of sp_server_diagnostics.
    """
    owner_node = world.nodes.get(role.owner)
    member = owner_node is not None and owner_node.partition == node.partition
    noticed = role.state is not ResourceState.ONLINE or not member
    yield FailoverPrecondition(
        build_message("LooksAlive, IsAlive or a missed heartbeat detected the loss of the instance"),
        noticed,
        build_message("cluster log: resource {name}", name=f"SQL Server ({role.name})"),
        about="beginning",
        now=role.why,
    )
    tried, restarts_max = (
        failure_limits.count_restarts(world, role),
        failure_limits.find_server_resource(role).restart_threshold,
    )
    yield FailoverPrecondition(
        build_message("a restart on the same node has failed, or the node is down"),
        not member or (noticed and role.way != "restart" and tried >= restarts_max),
        build_message("cluster log: resource {name}", name=f"SQL Server ({role.name})"),
        about="loss",
        now=build_message("{used} of {most} attempts used", used=tried, most=restarts_max),
    )
