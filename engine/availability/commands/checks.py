"""Common checks of the statements about availability groups: feature, group, role.

[DOC: ALTER AVAILABILITY GROUP]

Order: feature and cluster, group, role, databases; derived where it is not documented.
"""

from __future__ import annotations

from engine.availability import replicas
from engine.cluster import config
from engine.messages import SqlError
from engine.model import AvailabilityGroup, DatabaseCopy, Node, ReplicaRole, ReplicaWord, World


def node(world: World, server: str) -> Node:
    """Return the node of *server*, with quorum.

    35221: Always On is not enabled; 35220: no quorum, or an evicted computer.
    """
    if not replicas.enabled(world, server):
        raise SqlError(35221)
    found = config.node_of(world, server)
    if found is None or not config.has_quorum(world, server):
        raise SqlError(35220)
    return found


def can_write(world: World, server: str) -> bool:
    """Return whether the node of *server* can change the cluster database."""
    found = config.node_of(world, server)
    return found is not None and config.may_write(world, found.name)


def find_group(world: World, server: str, name: str, verb: str = "alter") -> AvailabilityGroup:
    """Return the group with that name in which *server* has a replica; raise 15151 without one."""
    group = replicas.by_name(world, server, name)
    if group is None or (server, group.guid) not in world.replicas:
        raise SqlError(15151, verb, "availability group", name)
    return group


def find_group_with_quorum(world: World, server: str, name: str) -> AvailabilityGroup:
    """Return the group of that name, on a server with quorum. 35221, 35220, 15151."""
    node(world, server)
    return find_group(world, server, name)


def primary(world: World, server: str, name: str, verb: str, noun: str) -> AvailabilityGroup:
    """Return the group of that name, of which *server* is primary; 41140 on a secondary, 41190 without a role."""
    group = find_group_with_quorum(world, server, name)
    state = world.replicas[server, group.guid]
    if state.word is ReplicaWord.PRIMARY_NORMAL:
        return group
    if state.role is ReplicaRole.SECONDARY:
        raise SqlError(41140, group.name)
    raise SqlError(41190, group.name, verb, noun)


def copy_named(world: World, server: str, database: str) -> DatabaseCopy | None:
    """Return the copy of *database* on *server*, found without regard to case."""
    found = (copy for (where, _), copy in world.copies.items() if where == server)
    return next((copy for copy in found if copy.database.lower() == database.lower()), None)
