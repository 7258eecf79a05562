"""Phases of a failover, one table per technology, for the staged moment and the Timing panel. No Qt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from app.words.language import mark
from engine.drill.running.comparison import GROUP, INSTANCE, MIRRORING

FROM, TO, WITNESS, CLIENT, VOTES, QUEUE, DISK, LISTENER, PANEL = (
    "from", "to", "witness", "client", "votes", "queue", "disk", "listener", "panel",
)  # fmt: skip
"""Places on the stage; further servers stand at other1, other2 …"""


@dataclass(frozen=True, slots=True)
class PhaseKind:
    """One phase: its name, its end, and what the stage shows while it runs."""

    name: str
    until: str
    """Milestone that ends it (`moment.find_milestones`)."""
    help: str
    color: str | int
    """Token of the theme, or number of a series color."""
    heading: str
    sentence: str
    lit: tuple[str, ...]
    """Places with a halo."""
    wires: tuple[tuple[str, str], ...] = ()
    """Pairs of places whose wire glows."""
    check: str = ""
    """Place where a DBA finds the trace of this phase."""


_CLIENTS: Final = PhaseKind(
    mark("Clients back"),
    "clients",
    mark("until the applications have connected again"),
    "ok",
    mark("Clients back: the driver looks for the database"),
    mark("The database is online. {client} must notice it and log in again."),
    (CLIENT, TO),
    ((CLIENT, TO),),
    mark("the driver log of {client}"),
)
_REDO: Final = PhaseKind(
    mark("Redo"),
    "redo_done",
    mark("the failover target redoes its log"),
    1,
    mark("Redo: {queue} of log left to apply"),
    mark("{to} must redo the log that it has received before it can open {database}."),
    (TO, QUEUE),
    (),
    mark("Redo Queue KB of {database} on {to}"),
)

PHASES: Final[Mapping[str, tuple[PhaseKind, ...]]] = {
    MIRRORING: (
        PhaseKind(
            mark("Detection"), "detected", mark("until the failure is detected"), "idle",
            mark("Detection: {to} and {witness} miss {from}"),
            mark("Partners ping each other. An error from the network is noticed at once, silence after the timeout."),
            (TO, WITNESS), ((FROM, TO), (FROM, WITNESS)), mark("ERRORLOG of {to}: 1474 or 1479"),
        ),
        _REDO,
        PhaseKind(
            mark("Quorum vote"), "decided", mark("mirror and witness agree"), 2,
            mark("Quorum vote: {count} agree"),
            mark("{to} asks {witness} before it acts: alone it cannot tell a dead principal from a broken cable."),
            (TO, WITNESS, VOTES), ((WITNESS, TO),), mark("sys.database_mirroring_witnesses on {witness}"),
        ),
        PhaseKind(
            mark("Role change"), "online", mark("recovery, until the database is open"), 0,
            mark("Role change: {to} becomes the principal"),
            mark("Pages are written, the log is analyzed, and {database} opens on {to}."),
            (TO,), (), mark("ERRORLOG of {to}: 1480"),
        ),
        PhaseKind(
            mark("Undo"), "undo_done", mark("uncommitted transactions are rolled back; clients can already work"), 3,
            mark("Undo: open transactions are rolled back"),
            mark("{database} is online already. Locks protect the rows of transactions that never committed."),
            (TO,), (), mark("ERRORLOG of {to}: 3421"),
        ),
        _CLIENTS,
    ),
    GROUP: (
        PhaseKind(
            mark("Detection"), "detected", mark("until the failure is detected"), "idle",
            mark("Detection: the cluster misses {from}"),
            mark("Heartbeat, lease or health check: the cluster decides what counts, not the session timeout."),
            (FROM, VOTES), ((FROM, TO), (FROM, WITNESS)), mark("the cluster log of {to}: [IM], [NODE]"),
        ),
        PhaseKind(
            mark("Cluster vote"), "voted", mark("the cluster keeps quorum and chooses the target"), 2,
            mark("Cluster vote: {count} votes are left"),
            mark("The cluster kept quorum and chooses {to}: automatic failover, and ready when {from} failed."),
            (VOTES, WITNESS, TO), ((WITNESS, TO),), mark("Get-ClusterNode: State, DynamicWeight"),
        ),
        _REDO,
        PhaseKind(
            mark("Role change"), "online", mark("recovery, until the database is open"), 0,
            mark("Role change: {to} becomes the primary"),
            mark("The cluster brings the role online on {to}; recovery opens the databases of the group."),
            (TO,), (), mark("ERRORLOG of {to}: 19406, PRIMARY_PENDING to PRIMARY_NORMAL"),
        ),
        PhaseKind(
            mark("Listener"), "online", mark("the listener moves with the role"), 4,
            mark("Listener: {listener} now leads to {to}"),
            mark("The address moved with the role. Applications keep their connection string."),
            (LISTENER, TO), (), mark("Get-ClusterResource: State, OwnerNode"),
        ),
        _CLIENTS,
    ),
    INSTANCE: (
        PhaseKind(
            mark("Detection"), "detected", mark("until the failure is detected"), "idle",
            mark("Detection: the cluster misses {from}"),
            mark("Missed heartbeats, LooksAlive or IsAlive: the cluster notices that the instance is lost."),
            (FROM, VOTES), ((FROM, DISK),), mark("the cluster log of {to}: [IM], [NODE]"),
        ),
        PhaseKind(
            mark("New owner"), "voted", mark("the cluster keeps quorum and chooses the target"), 2,
            mark("New owner: {count} votes are left, {to} is chosen"),
            mark("The cluster kept quorum. {to} is the first possible owner that is up."),
            (VOTES, TO), (), mark("Get-ClusterGroup: OwnerNode"),
        ),
        PhaseKind(
            mark("Shared disk"), "disk", mark("the shared disks come online on the new owner"), 1,
            mark("Shared disk: {to} takes the reservation"),
            mark("One copy of the data: it moves, nothing is copied. After a crash its reservation must be broken."),
            (DISK, TO), ((DISK, TO),), mark("Get-ClusterResource: Physical Disk"),
        ),
        PhaseKind(
            mark("Address, name"), "name", mark("address and network name come online"), 4,
            mark("Address and network name come online on {to}"),
            mark("SQL Server cannot start before its disk and its name are online."),
            (TO,), (), mark("Get-ClusterResource: IP Address, Network Name"),
        ),
        PhaseKind(
            mark("SQL Server starts"), "service", mark("the service starts"), 0,
            mark("SQL Server starts on {to}"),
            mark("A failover of an instance is a restart: caches are cold, and every connection is lost."),
            (TO, DISK), ((DISK, TO),), mark("ERRORLOG of {server}: 17126"),
        ),
        PhaseKind(
            mark("Recovery"), "online", mark("recovery, until the database is open"), 3,
            mark("Recovery: {database} replays its log"),
            mark("Redo and undo run from the log on the shared disk, as after any crash."),
            (TO, DISK), ((DISK, TO),), mark("ERRORLOG of {server}: 3408"),
        ),
        _CLIENTS,
    ),
}  # fmt: skip
"""Technology -> its phases in the order of their events.

Documented for mirroring: witness and mirror register the loss, then the mirror rolls its redo queue forward, then the
database goes online [DOC: role switching]. The agreement that records the new principal follows redo [WP, failover].
"""
RESOURCE_PHASE: Final = {
    "Physical Disk": "disk",
    "IP Address": "name",
    "Network Name": "name",
    "SQL Server": "service",
    "SQL Server Agent": "service",
}
"""Kind of a resource of a failover cluster instance -> milestone at which it is online."""
