"""World as plain data: computers, instances, copies of databases, groups, clusters and clients."""

from engine.field_types import FieldOf
from engine.model.availability import (
    NO_AVAILABILITY,
    AvailabilityGroup,
    AvailabilityListener,
    AvailabilityMembership,
    CommitMode,
    FailoverMode,
    Place,
    Replica,
    ReplicaRole,
    ReplicaState,
    ReplicaWord,
    Seeding,
    SuspendReason,
    SyncState,
)
from engine.model.clients import Availability, Client, Fault, NameRecord, Program, Query
from engine.model.clusters import (
    Cluster,
    ClusterConfig,
    ClusterRole,
    Node,
    Resource,
    ResourceState,
    UngracefulExits,
    Witness,
    WitnessStore,
)
from engine.model.databases import (
    NO_MEMBERSHIP,
    Contact,
    DatabaseCopy,
    DbFile,
    Failover,
    FileOptions,
    FilePath,
    Group,
    Membership,
    PageRepair,
    WitnessRecord,
)
from engine.model.instances import (
    Alert,
    Certificate,
    Computer,
    Endpoint,
    Instance,
    Job,
    Link,
    Login,
    RestoreHistoryRow,
    Snapshot,
    User,
    Volume,
)
from engine.model.states import (
    DbState,
    EndpointState,
    MirrorState,
    RecoveryModel,
    Role,
    Safety,
    Service,
    WitnessState,
)
from engine.model.times import Handlers, Key, Tick, TimerName, to_ticks
from engine.model.world import ClusterLine, LogLine, Settings, Timer, World

__all__ = [
    "NO_AVAILABILITY", "NO_MEMBERSHIP", "Alert", "Availability", "AvailabilityGroup", "AvailabilityListener",
    "AvailabilityMembership", "Certificate", "Client", "Cluster", "ClusterConfig", "ClusterLine",
    "ClusterRole", "CommitMode", "Computer", "Contact", "DatabaseCopy", "DbFile", "DbState", "Endpoint",
    "EndpointState", "Failover", "FailoverMode", "Fault", "FieldOf", "FileOptions", "FilePath", "Group",
    "Handlers", "Instance", "Job", "Key", "Link", "LogLine", "Login", "Membership", "MirrorState",
    "NameRecord", "Node", "PageRepair", "Place", "Program", "Query", "RecoveryModel", "Replica",
    "ReplicaRole", "ReplicaState", "ReplicaWord", "Resource", "ResourceState", "RestoreHistoryRow", "Role", "Safety",
    "Seeding", "Service", "Settings", "Snapshot", "SuspendReason", "SyncState", "Tick", "Timer", "TimerName",
    "UngracefulExits", "User", "Volume", "Witness", "WitnessRecord", "WitnessState", "WitnessStore", "World",
    "to_ticks",
]  # fmt: skip
