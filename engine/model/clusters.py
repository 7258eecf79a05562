"""Windows Server Failover Clusters: nodes, votes, witness, roles with their resources."""

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
    """Witness of a cluster: a vote that belongs to no node."""

    kind: str
    """File Share Witness, Physical Disk or Cloud Witness."""
    name: str
    """Computer that has the share; for other kinds, the name of the disk or storage account."""


class Resource(Struct, frozen=True, kw_only=True, gc=False):
    """A resource of a role."""

    name: str
    kind: str
    """SQL Server Availability Group, SQL Server, SQL Server Agent, Network Name, IP Address or Physical Disk."""
    owners: tuple[str, ...]
    """Possible owners: nodes that may bring it online."""
    needs: tuple[str, ...] = ()
    """Dependencies: resources that must be online first."""
    failed: bool = False
    drive: str = ""
    """Letter of a shared disk that was added later."""
    started: bool = False
    """True if it was brought online by itself while its role is offline."""
    restart_action: int = 2
    """RestartAction after a failure. 0: no restart, 1: restart but no failover, 2: restart, then failover."""
    restart_threshold: int = 1
    """RestartThreshold: restarts on the same node within the restart period."""
    restart_period_ms: int = 900_000
    """RestartPeriod in which restarts are counted."""


class ClusterRole(Struct, frozen=True, kw_only=True, gc=False):
    """Role (group of resources that move together): an availability group or a failover cluster instance."""

    name: str
    kind: str
    """availability or instance, the key of its behavior (engine/cluster/roles.py)."""
    owner: str
    """Node that owns the role."""
    state: ResourceState = ResourceState.ONLINE
    preferred: tuple[str, ...] = ()
    resources: tuple[Resource, ...] = ()
    failover_threshold: int | None = None
    """Number of failures within the failure period after which the role no longer moves; None means the number of
    nodes minus one.
    """
    failover_period_h: int = 6
    """FailoverPeriod in which failures are counted."""
    failures: tuple[Tick, ...] = ()
    """Times of failures that moved the role, within the failure period."""
    restarts: tuple[Tick, ...] = ()
    """Times of restarts on the same node, within the restart period."""
    step: int = 0
    """Counter of changes. A timer with an older value is ignored."""
    why: str = ""
    """Reason why the role is not online; empty while it is online or the reason is unknown."""
    tried: tuple[str, ...] = ()
    """Nodes that could not bring it online since it was last online."""
    way: str = ""
    """Reason why the role comes online: restart (same node), failover, or move (by a person); "exhausted":
    too many failures, it stays offline. Empty otherwise.
    """

    def find_resource(self, name: str) -> Resource | None:
        """Return the resource of that name; None if there is none."""
        return next((resource for resource in self.resources if resource.name.lower() == name.lower()), None)


class ClusterConfig(Struct, frozen=True, kw_only=True, gc=False):
    """Cluster database. Each node has a copy. The copies in one partition are the same."""

    epoch: int = 1
    """Version of the cluster database. Of two copies, the lower version is out of date."""
    weights: tuple[tuple[str, int], ...] = ()
    """NodeWeight of each node: 1, or 0 for a node without a vote."""
    counted: tuple[str, ...] = ()
    """Nodes whose votes count at present (DynamicWeight 1)."""
    witness_counts: bool = False
    """True if the vote of the witness counts at present (WitnessDynamicWeight 1)."""
    witness: Witness | None = None
    roles: tuple[ClusterRole, ...] = ()
    groups: tuple[AvailabilityGroup, ...] = ()
    storage: tuple[Resource, ...] = ()
    """Disks in Available Storage."""
    core_owner: str = ""
    """Node that owns the core cluster group. Empty before its first move: then the member with the lowest
    number owns it.
    """
    forced: bool = False
    """True if the partition was started with forced quorum and has not had a majority since."""

    def find_role(self, name: str) -> ClusterRole | None:
        """Return the role of that name; None if there is none."""
        return next((role for role in self.roles if role.name.lower() == name.lower()), None)

    def find_group(self, guid: int) -> AvailabilityGroup | None:
        """Return the availability group of that number; None if there is none."""
        return next((group for group in self.groups if group.guid == guid), None)

    def get_weight(self, node: str) -> int:
        """Return the configured vote of a node, 0 or 1."""
        return dict(self.weights).get(node, 0)


class WitnessStore(Struct, frozen=True, kw_only=True, gc=False):
    """Content of a disk, share or storage account that is or was the witness of the cluster."""

    witness: Witness
    tag: int = 0
    """Version of the cluster database at the last write (Paxos tag). A share has it in witness.log."""
    database: ClusterConfig | None = None
    """Copy of the cluster database. Only a disk has it."""
    failed: bool = False


class Cluster(Struct, frozen=True, kw_only=True, gc=False):
    """State of a cluster that does not depend on the running nodes."""

    name: str
    windows: str = "2012 R2"
    """Version of Windows Server: 2008 R2, 2012, 2012 R2, 2016, 2019 or 2022."""
    nodes: tuple[str, ...] = ()
    dynamic_quorum: bool = True
    heartbeat_s: float = 1.0
    threshold: int = 5
    """Missed heartbeats after which a node counts as lost, within a subnet and across subnets."""
    cross_threshold: int = 5
    lower_priority_node: str | None = None
    """LowerQuorumPriorityNodeID: the node that loses its vote first."""
    silent: tuple[tuple[tuple[str, str], Tick], ...] = ()
    """Pairs of members that cannot reach each other, and since when."""
    witness_there: bool = False
    """True if a member of the partition with quorum reaches the witness."""
    stores: tuple[WitnessStore, ...] = ()
    """Content of the current and former witnesses."""
    gathering: bool = False
    """True while waiting nodes are about to join or form the cluster."""


class UngracefulExits(Struct, frozen=True, kw_only=True, gc=False):
    """Record of ungraceful exits of a node from the cluster. Since Windows Server 2016."""

    exit_ticks: tuple[Tick, ...] = ()
    """Exits within the last hour, oldest first."""
    quarantined_until: Tick | None = None
    """End of the quarantine, until which the node may not join; None means no quarantine."""


class Node(Struct, frozen=True, kw_only=True, gc=False):
    """Cluster service of one computer."""

    name: str
    cluster: str
    number: int
    service: str = "running"
    """State of the cluster service.

    off: no power. starting. running: also without a cluster. stopped: by a person.
    """
    partition: int = 0
    """Number of the partition with quorum to which the node belongs; 0 for none."""
    prevented: bool = False
    """True after a start with PreventQuorum: the node joins a cluster but never forms one."""
    outdated: bool = False
    """True if the node waits because the witness has the tag of a newer cluster database."""
    paused: bool = False
    level: int = 0
    """Number of SQL Server service packs installed on the node since the start of the run."""
    setup: str = ""
    """Current task of SQL Server Setup on the node: patch, or the instance that it adds; empty means none."""
    config: ClusterConfig = field(default_factory=ClusterConfig)
    subnet: str = "10.0.0"
