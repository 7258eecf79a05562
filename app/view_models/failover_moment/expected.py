"""A failover that a failure will lead to, before any server has noticed. No Qt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.availability import replicas
from engine.cluster import instances
from engine.cluster.moves import NO_GROUP
from engine.drill.running.technology import GROUP, INSTANCE, MIRRORING
from engine.model import DatabaseCopy, Failover, Role
from engine.protocol import causes
from engine.protocol.preconditions import armed, preconditions

if TYPE_CHECKING:
    from engine.drill.running.drill import Drill


def find_expected(drill: Drill, database: str) -> tuple[Failover, str] | None:
    """Return the failover of *database* that must follow its loss, and its technology; None if none will come."""
    world = drill.world
    if not armed(world, database):
        return None
    copies = list(world.copies_of(database))
    target = next((row.target for row in preconditions(world, database) if row.target), "")
    mirror = next((c for c in copies if c.mirroring.role is Role.MIRROR), None)
    clustered = next((c for c in copies if world.instances[c.server].clustered), None)
    if mirror is not None and mirror.mirroring.partner is not None:
        return _expect(drill, mirror, mirror.mirroring.partner, mirror.server), MIRRORING
    if clustered is not None:
        owner = instances.role_of(world, clustered.server)
        node = owner.owner if owner is not None else ""
        if not node or world.computers[node].powered:
            return None  # the cluster restarts SQL Server on the same node first
        return _expect(drill, clustered, node, target), INSTANCE
    grouped = next((c for c in copies if c.server == target and c.availability.guid is not None), None)
    if grouped is None or grouped.availability.guid is None:
        return None
    group = replicas.group_of(world, target, grouped.availability.guid)
    return None if group is None else (_expect(drill, grouped, group.primary, target), GROUP)


def _expect(drill: Drill, copy: DatabaseCopy, lost_server: str, target: str) -> Failover:
    world = drill.world
    since = world.availability[copy.database].since_tick
    server = lost_server if lost_server in world.instances else copy.server
    cause, _ = causes.of_loss(world, server, None)
    return Failover(
        guid=copy.group or NO_GROUP,
        database=copy.database,
        kind="automatic",
        cause=cause,
        from_server=lost_server,
        to_server=target,
        under_load=False,
        failed_tick=since,
        detected_tick=since,
    )
