"""Phases of a failover, one table per technology, for the failover stage and the Timing panel. No Qt."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from engine.drill.running.published_comparison import GROUP, INSTANCE, MIRRORING
from engine.tables import read_table

FROM, TO, WITNESS, CLIENT, VOTES, QUEUE, DISK, LISTENER, PANEL = (
    "from", "to", "witness", "client", "votes", "queue", "disk", "listener", "panel",
)  # fmt: skip
"""Places on the stage. Other servers have the places other1, other2, …"""


class PhaseKind(Struct, frozen=True):
    """Kind of phase: its name, its end, and the texts and highlights on the stage."""

    name: str
    end_milestone: str
    """Milestone that ends the phase, a key of the result of `find_milestones`."""
    help: str
    """Explanation of the phase in a tooltip."""
    color: str | int
    """Color token of the theme, or index of a series color."""
    heading: str
    sentence: str
    highlighted_places: tuple[str, ...]
    """Positions on the stage that are highlighted during the phase."""
    highlighted_wires: tuple[tuple[str, str], ...] = ()
    """Pairs of positions whose connection is highlighted during the phase."""
    check: str = ""
    """Log, view or tool in which a DBA finds the trace of this phase."""


def _read_phase(row: Mapping[str, str]) -> PhaseKind:
    color = int(row["color"]) if row["color"].isdigit() else row["color"]
    wires = tuple((start, end) for start, _, end in (wire.partition("-") for wire in row["wires"].split()))
    texts = (row["name"], row["until"], row["help"], color, row["heading"], row["sentence"])
    return PhaseKind(*texts, tuple(row["lit"].split()), wires, row["check"])


_PHASE_ROWS: Final = read_table("app.view_models.failover_moment", "phases.tsv")
PHASES: Final[Mapping[str, tuple[PhaseKind, ...]]] = {
    technology: tuple(_read_phase(row) for row in _PHASE_ROWS if row["technology"] == technology)
    for technology in (MIRRORING, GROUP, INSTANCE)
}
"""Technology -> its phases in order of time.

Documented for mirroring: witness and mirror register the loss, then the mirror rolls its redo queue forward,
then the database goes online [DOC: role switching]. After redo, the servers agree on the new principal [WP,
failover].
"""
AGENT_RESOURCE: Final = "SQL Server Agent"
RESOURCE_MILESTONES: Final = {
    "Physical Disk": "disk",
    "IP Address": "name",
    "Network Name": "name",
    "SQL Server": "service",
    AGENT_RESOURCE: "service",
}
"""Kind of resource of a failover cluster instance -> milestone at which the resource is online."""
UNTIMED_RESOURCES: Final = frozenset({"IP Address", AGENT_RESOURCE})
"""Kinds of cluster resources that come online within the phase of another resource. They show no duration."""
