"""ALTER AVAILABILITY GROUP and ALTER DATABASE … SET HADR: what each checks, and in which order.
[DOC: ALTER AVAILABILITY GROUP]

Order of the checks: the group, the role, the cluster, the databases; derived where it is not documented.
"""

from __future__ import annotations

from dataclasses import replace

from engine.availability import failover, movement, replicas
from engine.cluster import config, roles
from engine.messages import Message, SqlError
from engine.model import (
    AvailabilityGroup,
    CommitMode,
    ReplicaRole,
    ReplicaWord,
    ResourceState,
    SuspendReason,
    SyncState,
    World,
)
from engine.protocol import errorlog, network

SOURCE_OF_USER = "SUSPEND_FROM_USER"
"""Source string in 35264. Seen in public logs."""


def known(world: World, server: str, name: str) -> AvailabilityGroup:
    """The group of that name as *server* knows it; 15151 if it knows none."""
    group = replicas.by_name(world, server, name)
    if group is None or (server, group.guid) not in world.replicas:
        raise SqlError(15151, "alter", "availability group", name)
    return group


def planned_failover(world: World, server: str, name: str) -> list[Message]:
    """ALTER AVAILABILITY GROUP … FAILOVER at the target, which must be synchronized.

    41122 it is primary; 41190 no primary is known; 41125 forced quorum; 41142 not synchronized, or not both in
    synchronous-commit mode; 41104 the cluster does not answer.
    """
    group = known(world, server, name)
    state = world.replicas[server, group.guid]
    if state.role is ReplicaRole.PRIMARY:
        raise SqlError(41122, group.name)
    node = config.node_of(world, server)
    if node is None or not config.has_quorum(world, server):
        raise SqlError(41104, group.name)
    if node.config.forced:
        raise SqlError(41125, group.name)
    ends = (group.replica(group.primary), group.replica(server))
    both = all(end is not None and end.mode is CommitMode.SYNCHRONOUS_COMMIT for end in ends)
    if not both or not failover.ready(group, server):
        raise SqlError(41142, group.name)
    _hand_over(world, server, group, "manual")
    return []


def _hand_over(world: World, server: str, group: AvailabilityGroup, kind: str) -> None:
    replicas.set_word(
        world, server, group.guid, ReplicaWord.RESOLVING_PENDING_FAILOVER, replicas.COMMAND, pending=kind
    )
    node = config.node_of(world, server)
    found = roles.find(world, group.name)
    if node is None or found is None:
        raise SqlError(41104, group.name)
    there, role = found
    if role.state is ResourceState.ONLINE and role.owner != node.name:
        roles.move(world, there.name, role, node.name)
    else:
        roles.bring_online(world, there.name, role, node.name)


def forced_failover(world: World, server: str, name: str) -> list[Message]:
    """ALTER AVAILABILITY GROUP … FORCE_FAILOVER_ALLOW_DATA_LOSS at the target, which needs a cluster with quorum.

    With nothing to lose and quorum in order it is a planned failover. 41122 it is primary; 41104 no quorum.
    """
    group = known(world, server, name)
    if world.replicas[server, group.guid].role is ReplicaRole.PRIMARY:
        raise SqlError(41122, group.name)
    node = config.node_of(world, server)
    if node is None or not config.has_quorum(world, server):
        raise SqlError(41104, group.name)
    clean = not node.config.forced and failover.ready(group, server)
    _hand_over(world, server, group, "manual" if clean else "forced")
    return []


def suspend(world: World, server: str, database: str) -> list[Message]:
    """ALTER DATABASE … SET HADR SUSPEND: at a secondary for that copy, at the primary for all. 35239."""
    copy = world.copies.get((server, database))
    if copy is None or copy.availability.guid is None or copy.availability.role is ReplicaRole.RESOLVING:
        group = replicas.group_of(world, server, copy.availability.guid or 0) if copy is not None else None
        raise SqlError(35239, database, group.name if group is not None else "")
    guid, key = copy.availability.guid, (server, database)
    world.update_availability(key, suspended=SuspendReason.USER)
    errorlog.write(world, server, 35264, database, "user", int(SuspendReason.USER), SOURCE_OF_USER)
    primary = (
        server if copy.availability.role is ReplicaRole.PRIMARY else world.replicas[server, guid].primary
    )
    if primary == server:
        for peer, _ in copy.availability.peers:
            movement.lose(world, key, peer)
            replicas.set_state(world, (peer, database), SyncState.NOT_SYNCHRONIZING)
    elif primary is not None and (primary, database) in world.copies:
        movement.lose(world, (primary, database), server)
        replicas.set_state(world, key, SyncState.NOT_SYNCHRONIZING)
    world.touch(guid)
    return []


def resume(world: World, server: str, database: str) -> list[Message]:
    """ALTER DATABASE … SET HADR RESUME. 35239."""
    copy = world.copies.get((server, database))
    if copy is None or copy.availability.guid is None or copy.availability.role is ReplicaRole.RESOLVING:
        group = replicas.group_of(world, server, copy.availability.guid or 0) if copy is not None else None
        raise SqlError(35239, database, group.name if group is not None else "")
    guid, key = copy.availability.guid, (server, database)
    world.update_availability(key, suspended=None)
    errorlog.write(world, server, 35265, database)
    replicas.change(
        world,
        server,
        guid,
        lambda old: replace(
            old, pending_suspend=tuple(p for p in old.pending_suspend if p != (database, server))
        ),
    )
    state = world.replicas[server, guid]
    lead = (server, database) if state.role is ReplicaRole.PRIMARY else (state.primary or "", database)
    others = [name for name, _ in copy.availability.peers] if lead == key else [server]
    for other in others:
        contact = world.contacts.get((guid, lead[0], other))
        if contact is not None and contact.connected and (other, database) in world.copies:
            movement.join(world, lead, (other, database))
    network.reassess(world, guid)
    return []
