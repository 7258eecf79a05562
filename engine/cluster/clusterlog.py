"""Lines of a node's cluster log, as Get-ClusterLog writes them. Each line is also an event."""

from typing import Final

from engine.events import ClusterLogData
from engine.model import World

CLUSTER_LOG_LINES_MAX: Final = 1_000
"""Number of lines that a cluster log keeps. Assumed."""


SERVICE_DOWN: Final = ("QueryServiceStatusEx returned a process id 0", "SQL server service is not alive")
NO_DIAGNOSTICS: Final = "Failure detected, diagnostics heartbeat is lost"
"""Text that a resource writes about its instance. [DOC: group health events]"""


def build_failure_lines(head: str, *texts: str) -> tuple[tuple[str, str], ...]:
    """Return (level, text) of the lines that a resource writes before it reports its failure.

    *head* begins each line.
    """
    return tuple(("ERR", f"{head} {text}") for text in (*texts, "Resource Alive result 0."))


def write_line(world: World, node: str, level: str, component: str, text: str) -> None:
    """Write a line at *node*.

    *level*: INFO, WARN or ERR. *component*: the part in brackets (RCM, QUORUM, NODE, RHS …).
    """
    line = (world.tick, level, component, text)
    world.clusterlog[node] = (*world.clusterlog.get(node, ())[1 - CLUSTER_LOG_LINES_MAX :], line)
    world.emit(
        ClusterLogData(level=level, component=component), f"{level:<4} [{component}] {text}", server=node
    )
