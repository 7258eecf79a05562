"""Availability groups: the configuration in the cluster database, and the knowledge of each instance."""

from enum import IntEnum, StrEnum
from typing import Final

from msgspec import Struct

from engine.constants import SESSION_TIMEOUT_S
from engine.model.times import Tick


class CommitMode(IntEnum):
    """Values of availability_mode in sys.availability_replicas."""

    ASYNCHRONOUS_COMMIT = 0
    SYNCHRONOUS_COMMIT = 1


class FailoverMode(IntEnum):
    """Values of failover_mode in sys.availability_replicas.

    [DOC: availability group views]
    """

    AUTOMATIC = 0
    MANUAL = 1


class ReplicaRole(IntEnum):
    """Values of role in sys.dm_hadr_availability_replica_states."""

    RESOLVING = 0
    PRIMARY = 1
    SECONDARY = 2


class ReplicaWord(StrEnum):
    """State of a local replica, as message 19406 names it. Seen in public logs."""

    NOT_AVAILABLE = "NOT_AVAILABLE"
    RESOLVING_NORMAL = "RESOLVING_NORMAL"
    RESOLVING_PENDING_FAILOVER = "RESOLVING_PENDING_FAILOVER"
    PRIMARY_PENDING = "PRIMARY_PENDING"
    PRIMARY_NORMAL = "PRIMARY_NORMAL"
    SECONDARY_NORMAL = "SECONDARY_NORMAL"

    @property
    def role(self) -> ReplicaRole:
        """Return the role of a replica in this state."""
        return ReplicaRole.__members__.get(self.value.partition("_")[0], ReplicaRole.RESOLVING)


class SyncState(IntEnum):
    """Values of synchronization_state in sys.dm_hadr_database_replica_states."""

    NOT_SYNCHRONIZING = 0
    SYNCHRONIZING = 1
    SYNCHRONIZED = 2
    REVERTING = 3
    INITIALIZING = 4


class SuspendReason(IntEnum):
    """Values of suspend_reason in sys.dm_hadr_database_replica_states."""

    USER = 0
    PARTNER = 1
    REDO = 2
    CAPTURE = 3
    APPLY = 4
    RESTART = 5
    UNDO = 6
    REVALIDATION = 7
    XRF_UPDATE = 8


class Replica(Struct, frozen=True, kw_only=True, gc=False):
    """Configuration of a replica, set by CREATE or ALTER AVAILABILITY GROUP."""

    server: str
    endpoint_url: str
    mode: CommitMode = CommitMode.ASYNCHRONOUS_COMMIT
    failover: FailoverMode = FailoverMode.MANUAL
    session_timeout_s: int = SESSION_TIMEOUT_S
    """Timeout of the connection to the primary while this replica is a secondary."""
    backup_priority: int = 50
    primary_connections: str = "ALL"
    """ALLOW_CONNECTIONS of PRIMARY_ROLE: ALL or READ_WRITE."""
    secondary_connections: str = "NO"
    """ALLOW_CONNECTIONS of SECONDARY_ROLE: NO, READ_ONLY or ALL."""
    read_only_routing_url: str | None = None
    read_write_routing_url: str | None = None
    """Address to which secondaries redirect read-write connections while this replica is primary (since
    2019).
    """
    read_only_routing_list: tuple[str, ...] = ()
    routing_priorities: tuple[int, ...] = ()
    """Priority of each server in the routing list. Servers of equal priority share the connections.

    Empty means that the order of the list decides.
    """
    joined: bool = True
    """True after ALTER AVAILABILITY GROUP … JOIN on the replica's server."""
    seeding: bool = False
    """True for SEEDING_MODE = AUTOMATIC."""

    @property
    def routes(self) -> list[tuple[int, str]]:
        """Return (priority, server) for each server in the routing list, in order."""
        priorities = self.routing_priorities or range(1, len(self.read_only_routing_list) + 1)
        return list(zip(priorities, self.read_only_routing_list, strict=True))


class AvailabilityListener(Struct, frozen=True, kw_only=True, gc=False):
    """Network name and addresses at which clients find the primary replica."""

    name: str
    port: int = 1433
    addresses: tuple[str, ...] = ()
    """Static addresses, one per subnet. Empty means that the address comes from DHCP."""
    register_all: bool = True
    """RegisterAllProvidersIP: True if DNS has all addresses, False if it has only the online address."""
    record_ttl_s: int = 1200
    """HostRecordTTL in seconds. A change of this setting takes effect when the network name next comes online."""


CopyLocation = tuple[str, str]
"""(database, server) of a database copy."""


class AvailabilityGroup(Struct, frozen=True, kw_only=True, gc=False):
    """Configuration of an availability group in the cluster database.

    It is the same on every node with quorum.
    """

    name: str
    guid: int
    """Number of the group in `World.groups`."""
    primary: str
    """Server of the last primary replica."""
    replicas: tuple[Replica, ...] = ()
    databases: tuple[str, ...] = ()
    joined: tuple[CopyLocation, ...] = ()
    """Database copies that have joined the group."""
    ready: tuple[CopyLocation, ...] = ()
    """Database copies with is_failover_ready = 1.

    The primary records them in the cluster, so that they are known after its loss.
    """
    pending_suspend: tuple[CopyLocation, ...] = ()
    """Database copies with is_pending_secondary_suspend = 1. A forced failover sets it until the secondary
    learns of the suspension.
    """
    failure_condition_level: int = 3
    health_check_timeout_ms: int = 30_000
    lease_timeout_ms: int = 20_000
    backup_preference: str = "SECONDARY"
    db_failover: bool = False
    dtc: bool = False
    """True for DTC_SUPPORT = PER_DB. Distributed transactions are not simulated."""
    required_synchronized: int = 0
    basic: bool = False
    """True for a basic availability group: one database, two replicas, no readable secondary."""
    listener: AvailabilityListener | None = None

    def find_replica(self, server: str | None) -> Replica | None:
        """Return the replica on a server, or None."""
        return next((replica for replica in self.replicas if replica.server == server), None)


class Seeding(Struct, frozen=True, kw_only=True, gc=False):
    """Attempt to create a database on a secondary from the primary's copy."""

    id: int
    database: str
    source: str
    """Server of the primary replica."""
    start_tick: Tick
    start_kb: float
    """Log position from which the primary must keep its log during the seeding."""
    end_tick: Tick | None = None
    performed: bool = True
    """True if the database was created by seeding; False if it was restored manually before."""
    failure: int | None = None
    """Value of failure_state; None without a failure."""
    error: int | None = None
    attempts: int = 1

    @property
    def running(self) -> bool:
        """Return whether the attempt is still running."""
        return self.end_tick is None


class ReplicaState(Struct, frozen=True, kw_only=True, gc=False):
    """Knowledge of one instance about its replica of a group."""

    server: str
    guid: int
    word: ReplicaWord = ReplicaWord.RESOLVING_NORMAL
    primary: str | None = None
    """Server that this instance considers the primary; None while RESOLVING."""
    pending: str = ""
    """Kind of the running failover that was requested on this server: manual, forced, or empty."""
    owed: str = ""
    """Reason why a hung instance will give up its role when it responds again; empty means none."""
    since_tick: Tick = 0
    may_create: bool = False
    """True if CREATE ANY DATABASE was granted to the group on this server."""
    seedings: tuple[Seeding, ...] = ()
    """Seeding attempts for databases of this replica, oldest first."""
    routed: int = 0
    """Number of read-intent logins that this primary has distributed by its routing list (round robin)."""

    @property
    def role(self) -> ReplicaRole:
        """Return the role of the replica."""
        return self.word.role


class AvailabilityMembership(Struct, frozen=True, kw_only=True, gc=False):
    """Knowledge of one server about one database of an availability group. *guid* is None outside any group."""

    guid: int | None = None
    database_guid: int = 0
    """Number that identifies the database in the group, instead of group_database_id."""
    role: ReplicaRole = ReplicaRole.RESOLVING
    state: SyncState = SyncState.NOT_SYNCHRONIZING
    suspended: SuspendReason | None = None
    peers: tuple[tuple[str, SyncState], ...] = ()
    """Primary: state of the copy on each secondary, as the primary knows it."""
    lost: tuple[str, ...] = ()
    """Primary: lost secondaries that the cluster database still records as ready. Commits wait meanwhile."""
    closing: tuple[tuple[str, float], ...] = ()
    """Primary: secondaries that have almost caught up, with the log position at which they become
    SYNCHRONIZED.

    Commits already wait for these secondaries.
    """
    readers: str = "NO"
    """Secondary: clients that the copy accepts: NO, READ_ONLY (only ApplicationIntent=ReadOnly) or ALL."""
    primary_connections: str = "ALL"
    """Primary: clients that the copy accepts: ALL, or READ_WRITE, which excludes ApplicationIntent=ReadOnly."""
    reads_alone: bool = False
    """True if a secondary (2014 and later) stays readable after it has lost its primary or quorum."""
    redo_waits: str = ""
    """Secondary: application whose query blocks the redo of a schema change; empty means none."""
    redo_waits_since: Tick = 0
    quorum: bool = True
    """True if the server's node is in a partition with quorum."""
    revert_kb: float = 0.0
    """Secondary: amount of log that the copy must revert before it can receive log.

    An interrupted revert does not reduce the amount.
    """
    revert_since: Tick = 0
    """Secondary: time at which the last revert began."""

    def __repr__(self) -> str:
        """Return the text for the state hash. It omits `revert_kb` and `revert_since` if both are 0."""
        return Struct.__repr__(self).replace(", revert_kb=0.0, revert_since=0", "", 1)

    def get_peer_state(self, server: str) -> SyncState:
        """Return the state of the copy on another server, as this server knows it."""
        return dict(self.peers).get(server, SyncState.NOT_SYNCHRONIZING)


NO_AVAILABILITY: Final = AvailabilityMembership()
