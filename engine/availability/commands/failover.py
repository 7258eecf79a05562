"""FAILOVER, FORCE_FAILOVER_ALLOW_DATA_LOSS and OFFLINE of a group.

[DOC: planned failover; forced failover]
"""

from __future__ import annotations

from engine.availability import failover, replicas
from engine.availability.commands import checks
from engine.cluster import config, roles
from engine.messages import Message, SqlError
from engine.model import (
    AvailabilityGroup,
    CommitMode,
    ReplicaRole,
    ReplicaWord,
    ResourceState,
    SyncState,
    World,
)


def _target(world: World, server: str, name: str) -> AvailabilityGroup:
    """Return the group to fail over to *server*.

    41122 it is primary, 41113 a failover is pending, 41123 it moves.
    """
    group = checks.find_group_with_quorum(world, server, name)
    state = world.replicas[server, group.guid]
    if state.role is ReplicaRole.PRIMARY:
        raise SqlError(41122, group.name)
    if state.pending:
        raise SqlError(41113, group.name)
    found = roles.find(world, group.name, server)
    if found is not None and found[1].state in (ResourceState.OFFLINE_PENDING, ResourceState.ONLINE_PENDING):
        raise SqlError(41123, group.name)
    return group


def planned_failover(world: World, server: str, name: str) -> list[Message]:
    """Execute FAILOVER at the target, which must be synchronized.

    41125 forced quorum; 41191 the primary has a later version; 41142 not synchronized, or not both in
    synchronous-commit mode.
    """
    group = _target(world, server, name)
    if checks.node(world, server).config.forced:
        raise SqlError(41125, group.name)
    lead = world.instances.get(group.primary)
    if lead is not None and lead.version > world.instances[server].version:
        raise SqlError(41191, group.name)
    ends = (group.replica(group.primary), group.replica(server))
    both = all(end is not None and end.mode is CommitMode.SYNCHRONOUS_COMMIT for end in ends)
    if not both or not failover.ready(group, server):
        raise SqlError(41142, group.name)
    _hand_over(world, server, group, "manual")
    return []


def _hand_over(world: World, server: str, group: AvailabilityGroup, kind: str) -> None:
    replicas.set_state_word(
        world, server, group.guid, ReplicaWord.RESOLVING_PENDING_FAILOVER, replicas.COMMAND, pending=kind
    )
    node = config.node_of(world, server)
    found = roles.find(world, group.name, server)
    if node is None or found is None:
        raise SqlError(41104, group.name)
    there, role = found
    if role.state is ResourceState.ONLINE and role.owner != node.name:
        roles.move(world, there.name, role, node.name)
    else:
        roles.bring_online(world, there.name, role, node.name)


def forced_failover(world: World, server: str, name: str) -> list[Message]:
    """FORCE_FAILOVER_ALLOW_DATA_LOSS at the target, in a cluster with quorum.

    With nothing to lose and quorum in order it is a planned failover. 35253 a database is between two logs.
    """
    group = _target(world, server, name)
    for copy in replicas.copies(world, server, group.guid):
        if copy.availability.state in (SyncState.REVERTING, SyncState.INITIALIZING):
            raise SqlError(35253, copy.database)
    clean = not checks.node(world, server).config.forced and failover.ready(group, server)
    _hand_over(world, server, group, "manual" if clean else "forced")
    return []


def offline(world: World, server: str, name: str) -> list[Message]:
    """Execute OFFLINE at the primary: no replica serves until the role is brought online.

    19416 if a synchronous-commit replica has databases that are not synchronized.
    """
    group = checks.primary(world, server, name, "offline", "group")
    modes = {replica.server: replica.mode for replica in group.replicas}
    for copy in replicas.copies(world, server, group.guid):
        states = [state for peer, state in copy.availability.peers
                  if modes.get(peer) is CommitMode.SYNCHRONOUS_COMMIT is modes[server]]  # fmt: skip
        if any(state is not SyncState.SYNCHRONIZED for state in states):
            raise SqlError(19416, group.name)
    found = roles.find(world, group.name, server)
    if found is None:
        raise SqlError(41150, group.name)
    roles.set_offline(world, found[0].name, found[1])
    return []
