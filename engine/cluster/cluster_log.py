"""Lines of a node's cluster log, in the format of Get-ClusterLog. Each line is also an event."""

from typing import Final

from engine.events import ClusterLogData
from engine.model import World

CLUSTER_LOG_LINES_MAX: Final = 1_000
"""Maximum number of lines in a cluster log; older lines are dropped. Assumed."""


SERVICE_DOWN_TEXTS: Final = (
    "QueryServiceStatusEx returned a process id 0",
    "SQL server service is not alive",
)
LOST_DIAGNOSTICS_TEXT: Final = "Failure detected, diagnostics heartbeat is lost"
"""Cluster log text when an instance sends no diagnostics. SERVICE_DOWN_TEXTS: its service has stopped.

[DOC: group health events]
"""


def build_failure_lines(prefix: str, *texts: str) -> tuple[tuple[str, str], ...]:
    """Return (level, text) of the lines that a resource writes before it reports its failure.

    Each line begins with *prefix*.
    """
    return tuple(("ERR", f"{prefix} {text}") for text in (*texts, "Resource Alive result 0."))


def write_cluster_log_line(world: World, node: str, level: str, component: str, text: str) -> None:
    """Write a line into the cluster log of *node*.

    *level*: INFO, WARN or ERR. *component*: the name in brackets (RCM, QUORUM, NODE, RHS …).
    """
    line = (world.tick, level, component, text)
    world.clusterlog[node] = (*world.clusterlog.get(node, ())[1 - CLUSTER_LOG_LINES_MAX :], line)
    world.emit(
        ClusterLogData(level=level, component=component), f"{level:<4} [{component}] {text}", server=node
    )
