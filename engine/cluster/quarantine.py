"""Quarantine (since Windows Server 2016): a node may not join for some time after repeated losses.

[DOC: QuarantineThreshold]
"""

from typing import Final

from engine.cluster import cluster_log, quorum
from engine.events import ClusterData
from engine.localization import build_message
from engine.model import Handlers, UngracefulExits, World, to_ticks

QUARANTINE_THRESHOLD: Final = 3
"""QuarantineThreshold: ungraceful exits of a node within EXIT_PERIOD_S after which a quarantine starts.

Documented [DOC: QuarantineThreshold].
"""

QUARANTINE_DURATION_S: Final = 7200
"""QuarantineDuration in seconds. Seen: blog of the Windows Server team on compute resiliency in 2016."""

EXIT_PERIOD_S: Final = 3600.0
"""Period in which ungraceful exits of a node are counted. Seen: same blog as QUARANTINE_DURATION_S."""

NODES_PER_QUARANTINED_NODE: Final = 4
"""Number of cluster nodes that permit one node in quarantine. One node can always be in quarantine.

Seen: same blog as QUARANTINE_DURATION_S.
"""


def is_quarantined(world: World, node: str) -> bool:
    """Return whether the node is in quarantine."""
    record = world.exits.get(node)
    return record is not None and record.quarantined_until is not None


def record_exit(world: World, observer: str, node: str) -> None:
    """Record an ungraceful exit that the surviving members have noticed.

    The third exit within an hour starts a quarantine.
    """
    cluster = world.clusters[world.nodes[node].cluster]
    if not quorum.is_version_at_least(cluster, "2016"):
        return
    record = world.exits.get(node, UngracefulExits())
    recent = (
        *(tick for tick in record.exit_ticks if world.tick - tick < to_ticks(EXIT_PERIOD_S)),
        world.tick,
    )
    other_nodes = [name for name in cluster.nodes if name != node and is_quarantined(world, name)]
    if len(recent) < QUARANTINE_THRESHOLD or len(other_nodes) >= max(
        1, len(cluster.nodes) // NODES_PER_QUARANTINED_NODE
    ):
        world.exits[node] = UngracefulExits(exit_ticks=recent)
        return
    end_tick = world.tick + to_ticks(QUARANTINE_DURATION_S)
    world.exits[node] = UngracefulExits(quarantined_until=end_tick)
    world.call_at(end_tick, "cluster.quarantine_end", node)
    text = f"Node {world.nodes[node].number} has been quarantined after {len(recent)} ungraceful exits"
    cluster_log.write_cluster_log_line(world, observer, "WARN", "NODE", text)
    text = build_message(
        "{node} is quarantined: it left the cluster unexpectedly {n} times within an hour",
        node=node,
        n=len(recent),
    )
    world.emit(ClusterData(what="quarantined", node=node), text, server=observer)


def clear_exits(world: World, node: str) -> None:
    """Forget the exits of *node* and end its quarantine (also a timer handler)."""
    if is_quarantined(world, node):
        world.cancel_calls("cluster.quarantine_end", node)
        world.emit(
            ClusterData(what="released"),
            build_message("{node} is no longer quarantined", node=node),
            server=node,
        )
    world.exits.pop(node, None)
    world.mark_all_logs_changed()


HANDLERS: Final[Handlers] = {"cluster.quarantine_end": clear_exits}
