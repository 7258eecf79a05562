"""Why an automatic failover happens or not: every precondition, whether it holds, and where a DBA could see it."""

from __future__ import annotations

from engine.model import World
from engine.protocol import groups
from engine.protocol.groups import Precondition


def preconditions(world: World, database: str) -> list[Precondition]:
    """All preconditions of an automatic failover of *database* now; empty if it is in no group."""
    found = next((copy for copy in world.copies_of(database) if copy.group is not None), None)
    return [] if found is None else groups.policy(found).preconditions(world, database)


def armed(world: World, database: str) -> bool:
    """Whether another copy would take over by itself if the one that writes were lost now."""
    beforehand = [
        condition for condition in preconditions(world, database) if condition.about in ("", "memory")
    ]
    return bool(beforehand) and all(condition.holds for condition in beforehand)
