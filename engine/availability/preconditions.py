"""Why an availability group fails over by itself or not: what the cluster asks, and where it shows."""

from __future__ import annotations

from engine.availability import failover, replicas
from engine.cluster import config, roles
from engine.model import AvailabilityGroup, CommitMode, FailoverMode, ResourceState, World
from engine.protocol.groups import Precondition
from engine.words import say


def preconditions(world: World, database: str) -> list[Precondition]:
    """Of the group of *database*: those for its best target, or for any if there is none."""
    copy = next((c for c in world.copies_of(database) if c.availability.guid is not None), None)
    assert copy is not None and copy.availability.guid is not None, f"{database} is in no availability group"
    group = _newest(world, copy.availability.guid)
    if group is None:
        return []
    target = _target(group)
    return [*_configured(group, target), *_cluster(world, group, target), *_target_state(world, group, target),
            *_loss(world, group)]  # fmt: skip


def _newest(world: World, guid: int) -> AvailabilityGroup | None:
    """The configuration of the partition with quorum; without one that of the newest database."""
    nodes = sorted(world.nodes.values(), key=lambda node: (bool(node.partition), node.config.epoch))
    return nodes[-1].config.group(guid) if nodes else None


def _target(group: AvailabilityGroup) -> str:
    others = [replica for replica in group.replicas if replica.server != group.primary]
    ranked = sorted(
        others,
        key=lambda r: (r.failover is not FailoverMode.AUTOMATIC, not failover.ready(group, r.server)),
    )
    return ranked[0].server if ranked else ""


def _configured(group: AvailabilityGroup, target: str) -> list[Precondition]:
    ends = [group.replica(group.primary), group.replica(target)]
    there = all(end is not None for end in ends)
    return [
        Precondition(
            say("primary and target both have automatic failover"),
            there and failover.automatic_target(group, target),
            say("sys.availability_replicas: failover_mode_desc"),
        ),
        Precondition(
            say("primary and target both have synchronous commit"),
            there and all(end is not None and end.mode is CommitMode.SYNCHRONOUS_COMMIT for end in ends),
            say("sys.availability_replicas: availability_mode_desc"),
        ),
    ]


def _cluster(world: World, group: AvailabilityGroup, target: str) -> list[Precondition]:
    node = config.node_of(world, target)
    found = roles.find(world, group.name)
    forced = node is not None and node.config.forced
    used_up = found is not None and found[1].way == roles.EXHAUSTED
    return [
        Precondition(
            say("the node of the target is in a cluster with quorum"),
            config.has_quorum(world, target),
            say("sys.dm_hadr_cluster_members on {server}", server=target),
        ),
        Precondition(
            say("the cluster was not started with forced quorum"),
            not forced,
            say("sys.dm_hadr_cluster on {server}: quorum_state_desc", server=target),
        ),
        Precondition(
            say("the cluster role is not offline"),
            not used_up,
            say("Failover Cluster Manager and the cluster log: role {role}", role=group.name),
        ),
    ]


def _target_state(world: World, group: AvailabilityGroup, target: str) -> list[Precondition]:
    instance = world.instances.get(target)
    return [
        Precondition(
            say("SQL Server runs and answers on the target"),
            instance is not None and instance.answering,
            say("ERRORLOG of {server}", server=target),
        ),
        Precondition(
            say("every database was synchronized on the target when the primary was lost"),
            failover.ready(group, target),
            say("sys.dm_hadr_database_replica_cluster_states: is_failover_ready of {server}", server=target),
            about="memory",
        ),
    ]


def _loss(world: World, group: AvailabilityGroup) -> list[Precondition]:
    found = roles.find(world, group.name)
    healthy = found is not None and found[1].state is ResourceState.ONLINE and not found[1].why
    member = config.has_quorum(world, group.primary)
    lost = not (healthy and member) or replicas.group_of(world, group.primary, group.guid) is None
    return [
        Precondition(
            say("the cluster has noticed the loss of the primary"),
            lost,
            say("the cluster log, and the ERRORLOG of {server}", server=group.primary),
            about="beginning",
        )
    ]
