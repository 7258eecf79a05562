"""Technology by which a database failed over."""

from __future__ import annotations

from typing import Final, Literal

from engine.cluster.moves import NO_GROUP
from engine.model import Failover, World

Technology = Literal["mirroring", "ag", "fci"]

MIRRORING: Final = "mirroring"
GROUP: Final = "ag"
INSTANCE: Final = "fci"


def find_technology(world: World, failover: Failover) -> Technology:
    """Return the technology of *failover*: an instance moves to a node, other failovers end at a server."""
    if failover.guid == NO_GROUP:
        return INSTANCE
    copies = [
        world.copies.get((server, failover.database)) for server in (failover.to_server, failover.from_server)
    ]
    grouped = any(copy is not None and copy.group_kind == "availability" for copy in copies)
    return GROUP if grouped else MIRRORING
