"""Preconditions of an automatic failover of an availability group, and the place where a DBA can check each."""

from collections.abc import Iterator

from engine.availability import failover, replicas
from engine.cluster import config, roles
from engine.localization import LocalizableMessage, build_message, join_messages
from engine.model import (
    AvailabilityGroup,
    CommitMode,
    ReplicaRole,
    ReplicaWord,
    ResourceState,
    World,
)
from engine.protocol.group_policies import FailoverPrecondition


def list_preconditions(world: World, database: str) -> list[FailoverPrecondition]:
    """Return the preconditions of the group of *database*.

    Preconditions of the group come first, then those of each secondary, beginning with the best target.
    """
    copy = next((c for c in world.list_copies_of(database) if c.availability.guid is not None), None)
    assert copy is not None and copy.availability.guid is not None, f"{database} is in no availability group"
    group = _find_newest_group(world, copy.availability.guid)
    if group is None:
        return []
    return [
        *_list_group_preconditions(world, group),
        *(
            precondition
            for target in list_targets(group)
            for precondition in _list_target_preconditions(world, group, target)
        ),
        *_list_loss_preconditions(world, group),
    ]


def _find_newest_group(world: World, guid: int) -> AvailabilityGroup | None:
    """Return the group in the newest configuration. A partition with quorum takes precedence."""
    nodes = sorted(world.nodes.values(), key=lambda node: (bool(node.partition), node.config.epoch))
    return nodes[-1].config.find_group(guid) if nodes else None


def list_targets(group: AvailabilityGroup) -> list[str]:
    """Return the secondaries: automatic targets first, and among them the ready targets first."""
    other_servers = [replica.server for replica in group.replicas if replica.server != group.primary]
    return sorted(
        other_servers,
        key=lambda server: (
            not failover.is_automatic_target(group, server),
            not failover.is_failover_ready(group, server),
        ),
    )


def _list_group_preconditions(world: World, group: AvailabilityGroup) -> Iterator[FailoverPrecondition]:
    """Yield the preconditions of the group as a whole.

    [DOC: flexible failover policy]
    """
    group_role = roles.find_role(world, group.name)
    forced = any(node.config.forced for node in world.nodes.values() if node.partition)
    yield FailoverPrecondition(
        build_message("the cluster was not started with forced quorum"),
        not forced,
        build_message("sys.dm_hadr_cluster: quorum_state_desc"),
    )
    used, failures_max = roles.count_failures(world, group.name)
    yield FailoverPrecondition(
        build_message(
            "failover limit of the availability group not reached (within {hours} h)",
            hours=group_role[1].failover_period_h if group_role is not None else 6,
        ),
        used < failures_max and (group_role is None or group_role[1].way != roles.FAILOVERS_EXHAUSTED),
        build_message("cluster log: failoverCount; Failover Cluster Manager: role {role}", role=group.name),
        about="memory",
        now=build_message("{used} of {most} attempts used", used=used, most=failures_max),
    )


def _list_target_preconditions(
    world: World, group: AvailabilityGroup, target: str
) -> Iterator[FailoverPrecondition]:
    ends = [end for end in (group.find_replica(group.primary), group.find_replica(target)) if end is not None]
    instance, node = world.instances.get(target), config.find_server_node(world, target)
    yield FailoverPrecondition(
        build_message("primary and target both use automatic failover"),
        failover.is_automatic_target(group, target),
        build_message("sys.availability_replicas: failover_mode_desc"),
        target=target,
        now=join_messages(
            ", ",
            (build_message("{server} {word}", server=end.server, word=end.failover.name) for end in ends),
        ),
    )
    yield FailoverPrecondition(
        build_message("primary and target both use synchronous commit"),
        len(ends) == 2 and all(end.mode is CommitMode.SYNCHRONOUS_COMMIT for end in ends),
        build_message("sys.availability_replicas: availability_mode_desc"),
        target=target,
        now=join_messages(
            ", ", (build_message("{server} {word}", server=end.server, word=end.mode.name) for end in ends)
        ),
    )
    yield FailoverPrecondition(
        build_message("the target's node is in a cluster with quorum"),
        config.has_quorum(world, target),
        build_message("sys.dm_hadr_cluster_members on {server}", server=target),
        target=target,
    )
    yield FailoverPrecondition(
        build_message("the target's node is not paused"),
        node is not None and not node.paused,
        build_message("Get-ClusterNode: State"),
        target=target,
    )
    yield FailoverPrecondition(
        build_message("SQL Server runs and responds on the target"),
        instance is not None and instance.answering,
        build_message("ERRORLOG of {server}", server=target),
        target=target,
    )
    yield FailoverPrecondition(
        build_message("every database was synchronized on the target when the primary was lost"),
        failover.is_failover_ready(group, target),
        build_message(
            "sys.dm_hadr_database_replica_cluster_states: is_failover_ready of {server}", server=target
        ),
        about="memory",
        target=target,
        now=join_messages(
            ", ", (_describe_readiness(world, group, name, target) for name in group.databases)
        ),
    )


def _describe_readiness(
    world: World, group: AvailabilityGroup, database: str, target: str
) -> LocalizableMessage:
    """Return is_failover_ready of one database as a text, with the reason if it is 0."""
    if (database, target) in group.ready:
        return build_message("{database}: ready", database=database)
    copy = world.copies.get((target, database))
    if copy is None or (database, target) not in group.joined:
        return build_message("{database}: not ready (not joined)", database=database)
    if copy.availability.suspended is not None:
        return build_message(
            "{database}: not ready (suspended, {reason})",
            database=database,
            reason=copy.availability.suspended.name,
        )
    contact = world.contacts.get((group.guid, group.primary, target))
    if contact is None or not contact.connected:
        return build_message("{database}: not ready (DISCONNECTED)", database=database)
    return build_message(
        "{database}: not ready ({word})", database=database, word=copy.availability.state.name
    )


def _list_loss_preconditions(world: World, group: AvailabilityGroup) -> list[FailoverPrecondition]:
    group_role = roles.find_role(world, group.name)
    node = config.find_server_node(world, group.primary)
    healthy = group_role is not None and group_role[1].state is ResourceState.ONLINE
    member = group_role is not None and node is not None and node.partition == group_role[0].partition
    is_lost = not (healthy and member) or replicas.find_group_config(world, group.primary, group.guid) is None
    observer = group_role[0].name if group_role is not None else group.primary
    state, instance = world.replicas.get((group.primary, group.guid)), world.instances.get(group.primary)
    leads = state is not None and (
        state.role is ReplicaRole.PRIMARY or state.word is ReplicaWord.PRIMARY_PENDING
    )
    return [
        FailoverPrecondition(
            build_message("the cluster has detected the loss of the primary"),
            is_lost,
            build_message("cluster log of {node}", node=observer),
            about="beginning",
            now=group_role[1].why if group_role is not None else "",
        ),
        FailoverPrecondition(
            build_message("the lease of the former primary has expired"),
            not leads or instance is None or not instance.running,
            build_message("ERRORLOG of {server}: 19407, 19419 or 41091", server=group.primary)
            if instance is None or world.computers[instance.computer].powered
            else build_message("cluster log of {node}", node=observer),
            about="loss",
        ),
    ]
