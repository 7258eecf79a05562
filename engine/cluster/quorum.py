"""Votes: configured votes of nodes, counted votes, and the majority that a partition needs.

[DOC: failover clustering quorum; WSFC quorum]
"""

from collections.abc import Collection
from typing import Final

from engine.model import Cluster, ClusterConfig

WINDOWS_VERSIONS: Final = ("2008 R2", "2012", "2012 R2", "2016", "2019", "2022")
"""Simulated versions of Windows Server, oldest first."""

HEARTBEAT_THRESHOLDS: Final = {"2008 R2": (5, 5), "2012": (5, 5), "2012 R2": (5, 5)}
THRESHOLDS_SINCE_2016: Final = (10, 20)
"""Permitted missed heartbeats (within a subnet, across subnets). Documented [DOC: cluster network
thresholds].
"""


def is_version_at_least(cluster: Cluster, version: str) -> bool:
    """Return whether the cluster runs on this *version* of Windows Server or a later version."""
    return WINDOWS_VERSIONS.index(cluster.windows) >= WINDOWS_VERSIONS.index(version)


def has_dynamic_quorum(cluster: Cluster) -> bool:
    """Return whether votes are recounted after each membership change that the cluster survives.

    Documented since Windows Server 2012.
    """
    return cluster.dynamic_quorum and is_version_at_least(cluster, "2012")


def count_votes(
    cluster: Cluster, config: ClusterConfig, living_nodes: Collection[str], has_witness_access: bool
) -> tuple[tuple[str, ...], bool]:
    """Return (nodes whose votes count, whether the witness's vote counts) for the living members.

    Before 2012, or without dynamic quorum, every configured vote counts. Otherwise only the votes of living
    members count. In 2012 the witness always votes, and without a witness the last two nodes share one vote.
    From 2012 R2 on the witness votes only if it is reachable and the number of nodes is even. Without a
    witness an even number of votes is made odd. [DOC: failover clustering quorum]
    """
    voters = tuple(node for node in cluster.nodes if config.get_weight(node))
    if not has_dynamic_quorum(cluster):
        return voters, config.witness is not None
    voters = tuple(node for node in voters if node in living_nodes)
    is_even = len(voters) % 2 == 0
    if not is_version_at_least(cluster, "2012 R2"):
        if config.witness is not None:
            return voters, True
        is_even = len(voters) == 2
    elif has_witness_access:
        return voters, is_even
    if is_even and voters:
        last = cluster.lower_priority_node if cluster.lower_priority_node in voters else voters[-1]
        voters = tuple(node for node in voters if node != last)
    return voters, False


def has_majority(config: ClusterConfig, side_nodes: Collection[str], with_witness: bool) -> bool:
    """Return whether *side_nodes* have more than half of the counted votes."""
    votes = sum(node in side_nodes for node in config.counted) + (config.witness_counts and with_witness)
    return 2 * votes > len(config.counted) + config.witness_counts
