"""Availability groups: what the cluster's copy of the configuration says, and what each instance knows."""

from __future__ import annotations

from enum import IntEnum, StrEnum
from typing import Final

from msgspec import Struct

from engine.model.times import Tick


class CommitMode(IntEnum):
    """availability_mode of sys.availability_replicas."""

    ASYNCHRONOUS_COMMIT = 0
    SYNCHRONOUS_COMMIT = 1


class FailoverMode(IntEnum):
    """failover_mode of sys.availability_replicas.

    [DOC: availability group views]
    """

    AUTOMATIC = 0
    MANUAL = 1


class ReplicaRole(IntEnum):
    """role of sys.dm_hadr_availability_replica_states."""

    RESOLVING = 0
    PRIMARY = 1
    SECONDARY = 2


class ReplicaWord(StrEnum):
    """State of a local replica, as message 19406 words it. Seen in public logs."""

    NOT_AVAILABLE = "NOT_AVAILABLE"
    RESOLVING_NORMAL = "RESOLVING_NORMAL"
    RESOLVING_PENDING_FAILOVER = "RESOLVING_PENDING_FAILOVER"
    PRIMARY_PENDING = "PRIMARY_PENDING"
    PRIMARY_NORMAL = "PRIMARY_NORMAL"
    SECONDARY_NORMAL = "SECONDARY_NORMAL"

    @property
    def role(self) -> ReplicaRole:
        return ReplicaRole.__members__.get(self.value.partition("_")[0], ReplicaRole.RESOLVING)


class SyncState(IntEnum):
    """synchronization_state of sys.dm_hadr_database_replica_states."""

    NOT_SYNCHRONIZING = 0
    SYNCHRONIZING = 1
    SYNCHRONIZED = 2
    REVERTING = 3
    INITIALIZING = 4


class SuspendReason(IntEnum):
    """suspend_reason of sys.dm_hadr_database_replica_states."""

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
    """A replica as CREATE or ALTER AVAILABILITY GROUP has configured it."""

    server: str
    endpoint_url: str
    mode: CommitMode = CommitMode.ASYNCHRONOUS_COMMIT
    failover: FailoverMode = FailoverMode.MANUAL
    session_timeout_s: int = 10
    backup_priority: int = 50
    primary_connections: str = "ALL"
    """ALL or READ_WRITE."""
    secondary_connections: str = "NO"
    """NO, READ_ONLY or ALL."""
    read_only_routing_url: str | None = None
    read_write_routing_url: str | None = None
    """Address to which secondaries send connections that write, while this replica is primary: since 2019."""
    read_only_routing_list: tuple[str, ...] = ()
    routing_priorities: tuple[int, ...] = ()
    """Of each server in the routing list; those with the same share the connections. Empty: one after the other."""
    joined: bool = True
    """ALTER AVAILABILITY GROUP … JOIN has been run there."""
    seeding: bool = False
    """SEEDING_MODE = AUTOMATIC."""

    @property
    def routes(self) -> list[tuple[int, str]]:
        """(priority, server) of the routing list, in its order."""
        places = self.routing_priorities or range(1, len(self.read_only_routing_list) + 1)
        return list(zip(places, self.read_only_routing_list, strict=True))


class AvailabilityListener(Struct, frozen=True, kw_only=True, gc=False):
    """Network name and addresses through which clients find the primary replica."""

    name: str
    port: int = 1433
    addresses: tuple[str, ...] = ()
    """Static addresses, one a subnet. Empty: it has its address from DHCP."""
    register_all: bool = True
    """RegisterAllProvidersIP: the name server has all addresses, not only the one that is online."""
    record_ttl_s: int = 1200
    """HostRecordTTL. Both settings count from the next time that the network name comes online."""


Place = tuple[str, str]
"""(database, server)."""


class AvailabilityGroup(Struct, frozen=True, kw_only=True, gc=False):
    """An availability group as the cluster has it: on every node with quorum the same."""

    name: str
    guid: int
    """Its number among `World.groups`."""
    primary: str
    """The server that was primary last."""
    replicas: tuple[Replica, ...] = ()
    databases: tuple[str, ...] = ()
    joined: tuple[Place, ...] = ()
    """Database copies that have joined."""
    ready: tuple[Place, ...] = ()
    """is_failover_ready: written by the primary, so that it outlives the primary."""
    pending_suspend: tuple[Place, ...] = ()
    """is_pending_secondary_suspend: after a forced failover, until the secondary has been told."""
    failure_condition_level: int = 3
    health_check_timeout_ms: int = 30_000
    lease_timeout_ms: int = 20_000
    backup_preference: str = "SECONDARY"
    db_failover: bool = False
    dtc: bool = False
    """DTC_SUPPORT = PER_DB. Distributed transactions are not simulated."""
    required_synchronized: int = 0
    basic: bool = False
    """One database, two replicas, no readable secondary: a basic availability group."""
    listener: AvailabilityListener | None = None

    def replica(self, server: str | None) -> Replica | None:
        return next((replica for replica in self.replicas if replica.server == server), None)


class Seeding(Struct, frozen=True, kw_only=True, gc=False):
    """An attempt to make a database of a secondary out of the primary's."""

    id: int
    database: str
    source: str
    """The primary."""
    start_tick: Tick
    start_kb: float
    """Log from there on is kept at the primary while it runs."""
    end_tick: Tick | None = None
    performed: bool = True
    """Data was sent; not for a database that had been restored by hand."""
    failure: int | None = None
    """failure_state; None: it has not failed."""
    error: int | None = None
    attempts: int = 1

    @property
    def running(self) -> bool:
        return self.end_tick is None


class ReplicaState(Struct, frozen=True, kw_only=True, gc=False):
    """Knowledge of one instance about its own replica."""

    server: str
    guid: int
    word: ReplicaWord = ReplicaWord.RESOLVING_NORMAL
    primary: str | None = None
    """Whom it takes for the primary; None while RESOLVING."""
    pending: str = ""
    """Kind of the failover that was asked for here and has begun: manual, forced, or nothing."""
    owed: str = ""
    """Reason why it gives its role up as soon as its frozen instance continues; empty: none."""
    since_tick: Tick = 0
    may_create: bool = False
    """GRANT CREATE ANY DATABASE has been run here."""
    seedings: tuple[Seeding, ...] = ()
    """Attempts to seed databases of this replica, the last one last."""
    routed: int = 0
    """Primary: logins with read intent that its routing list has distributed (round robin)."""

    @property
    def role(self) -> ReplicaRole:
        return self.word.role


class AvailabilityMembership(Struct, frozen=True, kw_only=True, gc=False):
    """Knowledge of one server about one database of an availability group; guid None: the database is in no group."""

    guid: int | None = None
    database_guid: int = 0
    """group_database_id, as a number."""
    role: ReplicaRole = ReplicaRole.RESOLVING
    state: SyncState = SyncState.NOT_SYNCHRONIZING
    suspended: SuspendReason | None = None
    peers: tuple[tuple[str, SyncState], ...] = ()
    """Primary: the state of each secondary, as it knows it."""
    lost: tuple[str, ...] = ()
    """Primary: synchronized secondaries that it has lost and could not yet write down as lost: commits wait."""
    closing: tuple[tuple[str, float], ...] = ()
    """Primary: secondaries nearly in step; commits wait for them, and past this position they are SYNCHRONIZED."""
    readers: str = "NO"
    """Secondary: whom it lets in: NO, READ_ONLY (ApplicationIntent=ReadOnly) or ALL."""
    primary_connections: str = "ALL"
    """Primary: whom it lets in: ALL, or READ_WRITE: nobody with ApplicationIntent=ReadOnly."""
    reads_alone: bool = False
    """Secondary of 2014 and later that was open when its primary or quorum went: it stays open to readers."""
    redo_waits: str = ""
    """Secondary: the application whose query keeps redo from a Sch-M lock; empty: none."""
    redo_waits_since: Tick = 0
    quorum: bool = True
    """The node on which the server runs takes part in a cluster with quorum."""

    def peer(self, server: str) -> SyncState:
        return dict(self.peers).get(server, SyncState.NOT_SYNCHRONIZING)


NO_AVAILABILITY: Final = AvailabilityMembership()
