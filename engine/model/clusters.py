"""Windows Server Failover Clusters: nodes, votes, witness, roles with their resources."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct, field

from engine.model.availability import AvailabilityGroup
from engine.model.times import Tick


class ResourceState(StrEnum):
    """State of a resource or of a role, as Get-ClusterResource shows it."""

    ONLINE = "Online"
    ONLINE_PENDING = "OnlinePending"
    OFFLINE = "Offline"
    OFFLINE_PENDING = "OfflinePending"
    FAILED = "Failed"


class Witness(Struct, frozen=True, kw_only=True, gc=False):
    """A vote that belongs to no node."""

    kind: str
    """File Share Witness, Physical Disk or Cloud Witness."""
    name: str
    """Computer that holds the share; name of the disk or of the storage account otherwise."""


class Resource(Struct, frozen=True, kw_only=True, gc=False):
    """A resource of a role."""

    name: str
    kind: str
    """SQL Server Availability Group, SQL Server, SQL Server Agent, Network Name, IP Address or Physical Disk."""
    owners: tuple[str, ...]
    """Possible owners: nodes on which the cluster may bring it online."""
    needs: tuple[str, ...] = ()
    """Resources that must be online before."""
    failed: bool = False
    drive: str = ""
    """Letter of a shared disk that was added later."""
    started: bool = False
    """It was brought online by itself while its role is offline."""


class ClusterRole(Struct, frozen=True, kw_only=True, gc=False):
    """A role (group of resources that move together): an availability group or a failover cluster instance."""

    name: str
    kind: str
    """availability or instance: names its behaviour (engine/cluster/roles.py)."""
    owner: str
    """Node that owns it."""
    state: ResourceState = ResourceState.ONLINE
    preferred: tuple[str, ...] = ()
    resources: tuple[Resource, ...] = ()
    failover_threshold: int | None = None
    """Failures within the failure period that are answered by a move; None: the number of nodes less one."""
    failures: tuple[Tick, ...] = ()
    """Times of its failures that moved it, within the failure period."""
    restarts: tuple[Tick, ...] = ()
    """Times of its restarts on the same node, within the restart period."""
    step: int = 0
    """Grows with each change; a timer of an older step is void."""
    why: str = ""
    """Reason why it is not online; empty while it is online, or while no reason is known."""
    tried: tuple[str, ...] = ()
    """Nodes that have declined since it was last online."""
    way: str = ""
    """Way in which it is coming online: restart (on the same node), failover, move (a person requested it). The
    value "exhausted" means that it has failed too often and stays offline; empty otherwise.
    """

    def resource(self, name: str) -> Resource | None:
        return next((one for one in self.resources if one.name.lower() == name.lower()), None)


class ClusterConfig(Struct, frozen=True, kw_only=True, gc=False):
    """The cluster database, of which each node has a copy; the nodes of one partition have the same."""

    epoch: int = 1
    """Grows with each change; a copy with a lower one is out of date."""
    weights: tuple[tuple[str, int], ...] = ()
    """NodeWeight of each node: 1, or 0 for a node without a vote."""
    counted: tuple[str, ...] = ()
    """Nodes whose vote counts now (DynamicWeight 1)."""
    witness_counts: bool = False
    """WitnessDynamicWeight."""
    witness: Witness | None = None
    roles: tuple[ClusterRole, ...] = ()
    groups: tuple[AvailabilityGroup, ...] = ()
    storage: tuple[Resource, ...] = ()
    """Disks in Available Storage."""
    forced: bool = False
    """The partition was started with forced quorum and has not had a majority since."""

    def role(self, name: str) -> ClusterRole | None:
        return next((role for role in self.roles if role.name.lower() == name.lower()), None)

    def group(self, guid: int) -> AvailabilityGroup | None:
        return next((group for group in self.groups if group.guid == guid), None)

    def weight(self, node: str) -> int:
        return dict(self.weights).get(node, 0)


class WitnessStore(Struct, frozen=True, kw_only=True, gc=False):
    """Content of a disk, share or storage account that is or was the witness of the cluster."""

    witness: Witness
    tag: int = 0
    """Epoch of the cluster database at the last write (Paxos tag); in witness.log on a share."""
    database: ClusterConfig | None = None
    """Copy of the cluster database; only on a disk."""
    failed: bool = False


class Cluster(Struct, frozen=True, kw_only=True, gc=False):
    """Part of a cluster that does not depend on which nodes are up."""

    name: str
    windows: str = "2012 R2"
    """Version of Windows Server: 2008 R2, 2012, 2012 R2, 2016, 2019 or 2022."""
    nodes: tuple[str, ...] = ()
    dynamic_quorum: bool = True
    heartbeat_s: float = 1.0
    threshold: int = 5
    """Missed heartbeats after which a node counts as lost; within a subnet, and across."""
    cross_threshold: int = 5
    lower_priority_node: str | None = None
    """LowerQuorumPriorityNodeID: the node whose vote is taken first."""
    silent: tuple[tuple[tuple[str, str], Tick], ...] = ()
    """Pairs of members that do not hear one another, and since when."""
    witness_there: bool = False
    """A member of the partition with quorum reaches the witness."""
    stores: tuple[WitnessStore, ...] = ()
    """Contents of the present witness and of earlier ones."""
    gathering: bool = False
    """Nodes that wait for a cluster are about to join or to form it."""


class UngracefulExits(Struct, frozen=True, kw_only=True, gc=False):
    """The cluster's record of a node that left without being stopped. Since Windows Server 2016."""

    exit_ticks: tuple[Tick, ...] = ()
    """Exits within the last hour, oldest first."""
    quarantined_until: Tick | None = None
    """The node may not join before; None: it is not quarantined."""


class Node(Struct, frozen=True, kw_only=True, gc=False):
    """The cluster service of one computer."""

    name: str
    cluster: str
    number: int
    service: str = "running"
    """off (no power), starting, running (perhaps waiting for a cluster to join) or stopped (by a person)."""
    partition: int = 0
    """Number of the partition with quorum in which it takes part; 0 for none."""
    prevented: bool = False
    """Started with PreventQuorum: it joins and never forms a cluster."""
    outdated: bool = False
    """It waits because the witness has the tag of a newer cluster database than its own."""
    paused: bool = False
    level: int = 0
    """Service packs of SQL Server that have been installed on it since the start."""
    setup: str = ""
    """Current task of SQL Server Setup on the node: patch, or the instance that it adds; empty: none."""
    config: ClusterConfig = field(default_factory=ClusterConfig)
    subnet: str = "10.0.0"
