"""Windows Server Failover Clusters: nodes, votes, witness, and roles with their resources."""

from enum import StrEnum

from msgspec import Struct, field

from engine.model.availability import AvailabilityGroup
from engine.model.times import Tick


class ResourceState(StrEnum):
    """State of a resource or role, as Get-ClusterResource shows it."""

    ONLINE = "Online"
    ONLINE_PENDING = "OnlinePending"
    OFFLINE = "Offline"
    OFFLINE_PENDING = "OfflinePending"
    FAILED = "Failed"


class Witness(Struct, frozen=True, kw_only=True, gc=False):
    """Witness of a cluster. It has its own vote."""

    kind: str
    """File Share Witness, Physical Disk or Cloud Witness."""
    name: str
    """Computer with the share; for other kinds, the name of the disk or storage account."""


class Resource(Struct, frozen=True, kw_only=True, gc=False):
    """Resource of a role."""

    name: str
    kind: str
    """SQL Server Availability Group, SQL Server, SQL Server Agent, Network Name, IP Address or Physical Disk."""
    owners: tuple[str, ...]
    """Possible owners: nodes on which it may come online."""
    needs: tuple[str, ...] = ()
    """Dependencies: resources that must be online first."""
    failed: bool = False
    drive: str = ""
    """Drive letter of a shared disk that was added later; empty for other resources."""
    started: bool = False
    """True if the resource alone was brought online while its role is offline."""
    restart_action: int = 2
    """RestartAction after a failure. 0: no restart; 1: restart, no failover; 2: restart, then failover."""
    restart_threshold: int = 1
    """RestartThreshold: maximum number of restarts on the same node within the restart period."""
    restart_period_ms: int = 900_000
    """RestartPeriod: period in which restarts are counted."""
    retry_period_ms: int = 3_600_000
    """RetryPeriodOnFailure: time until the cluster restarts a resource that remained failed."""
    restarts: tuple[Tick, ...] = ()
    """Times of restarts on the same node, within the restart period."""


class ClusterRole(Struct, frozen=True, kw_only=True, gc=False):
    """Cluster role (resources that move together): an availability group or a failover cluster instance."""

    name: str
    kind: str
    """"availability" or "instance". It selects the behavior in engine/cluster/roles.py."""
    owner: str
    """Node that owns the role."""
    state: ResourceState = ResourceState.ONLINE
    preferred: tuple[str, ...] = ()
    resources: tuple[Resource, ...] = ()
    failover_threshold: int | None = None
    """Maximum number of failovers within the failure period; None means the number of nodes minus one."""
    failover_period_h: int = 6
    """FailoverPeriod: period in which failovers are counted."""
    failures: tuple[Tick, ...] = ()
    """Times of failures that caused a failover, within the failure period."""
    step: int = 0
    """Counter of changes. A timer with an older value is ignored."""
    why: str = ""
    """Reason why the role is not online; empty while it is online or the reason is unknown."""
    tried: tuple[str, ...] = ()
    """Nodes that have failed to bring the role online since it was last online."""
    way: str = ""
    """Kind of the role's current transition: "restart" (on the same node), "failover", "move" (by a person)
    or "stop". "exhausted" means that it stays failed after too many failovers. Empty otherwise.
    """

    def find_resource(self, name: str) -> Resource | None:
        """Return the resource named *name*, or None."""
        return next((resource for resource in self.resources if resource.name.lower() == name.lower()), None)


class ClusterConfig(Struct, frozen=True, kw_only=True, gc=False):
    """Content of the cluster database. Each node has a copy. All copies in one partition are equal."""

    epoch: int = 1
    """Version of the cluster database. Of two copies, the copy with the lower version is out of date."""
    weights: tuple[tuple[str, int], ...] = ()
    """(node, NodeWeight) of each node: 1, or 0 for a node without a vote."""
    counted: tuple[str, ...] = ()
    """Nodes whose votes currently count (DynamicWeight 1)."""
    witness_counts: bool = False
    """True if the vote of the witness currently counts (WitnessDynamicWeight 1)."""
    witness: Witness | None = None
    roles: tuple[ClusterRole, ...] = ()
    groups: tuple[AvailabilityGroup, ...] = ()
    storage: tuple[Resource, ...] = ()
    """Disks in Available Storage."""
    core_owner: str = ""
    """Node that owns the core resources. Empty until they first move; then the member with the lowest number
    owns them.
    """
    forced: bool = False
    """True if the partition was started with forced quorum and has not had a majority since."""

    def find_role(self, name: str) -> ClusterRole | None:
        """Return the role named *name*, or None."""
        return next((role for role in self.roles if role.name.lower() == name.lower()), None)

    def find_group(self, guid: int) -> AvailabilityGroup | None:
        """Return the availability group with the number *guid*, or None."""
        return next((group for group in self.groups if group.guid == guid), None)

    def get_weight(self, node: str) -> int:
        """Return the configured vote of a node, 0 or 1."""
        return dict(self.weights).get(node, 0)


class WitnessStore(Struct, frozen=True, kw_only=True, gc=False):
    """Content of a disk, share or storage account that is or was a witness of the cluster."""

    witness: Witness
    tag: int = 0
    """Paxos tag: version of the cluster database at the last write. A share has it in witness.log."""
    database: ClusterConfig | None = None
    """Copy of the cluster database. Only a disk has it."""
    failed: bool = False


class Cluster(Struct, frozen=True, kw_only=True, gc=False):
    """Cluster-wide state: everything that does not belong to a single node."""

    name: str
    windows: str = "2012 R2"
    """Version of Windows Server: 2008 R2, 2012, 2012 R2, 2016, 2019 or 2022."""
    nodes: tuple[str, ...] = ()
    dynamic_quorum: bool = True
    heartbeat_s: float = 1.0
    threshold: int = 5
    """Number of missed heartbeats after which a node in the same subnet counts as lost. *cross_threshold*
    applies across subnets.
    """
    cross_threshold: int = 5
    lower_priority_node: str | None = None
    """LowerQuorumPriorityNodeID: the node that loses its vote first."""
    silent: tuple[tuple[tuple[str, str], Tick], ...] = ()
    """(pair of members that cannot reach each other, time at which this began)."""
    witness_there: bool = False
    """True if a member of the partition with quorum reaches the witness."""
    stores: tuple[WitnessStore, ...] = ()
    """Content of the current and former witnesses."""
    gathering: bool = False
    """True while a timer runs, after which waiting nodes join or form the cluster."""


class UngracefulExits(Struct, frozen=True, kw_only=True, gc=False):
    """Ungraceful exits of a node from the cluster (since Windows Server 2016)."""

    exit_ticks: tuple[Tick, ...] = ()
    """Times of the exits within the last hour, oldest first."""
    quarantined_until: Tick | None = None
    """End of the quarantine, until which the node may not join; None means no quarantine."""


class Node(Struct, frozen=True, kw_only=True, gc=False):
    """Cluster node: state of the cluster service of one computer."""

    name: str
    cluster: str
    number: int
    service: str = "running"
    """State of the cluster service: off, starting, running or stopped.

    off: no power. running: even if the node is in no partition. stopped: by a person.
    """
    partition: int = 0
    """Number of the partition with quorum to which the node belongs; 0 for none."""
    prevented: bool = False
    """True after a start with PreventQuorum: the node joins a cluster but never forms one."""
    outdated: bool = False
    """True if the node waits because the witness has a newer Paxos tag."""
    paused: bool = False
    level: int = 0
    """Number of SQL Server service packs installed on the node since the start of the run."""
    setup: str = ""
    """Current task of SQL Server Setup on the node: "patch", or the name of the instance that it adds. Empty
    means none.
    """
    config: ClusterConfig = field(default_factory=ClusterConfig)
    subnet: str = "10.0.0"
