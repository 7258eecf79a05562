"""The world as plain data: computers, instances, copies of databases, groups, clients, and all of them together."""

from engine.model.clients import Availability, Client, Fault
from engine.model.computers import Computer, Link, Volume
from engine.model.databases import NO_MEMBERSHIP, DatabaseCopy, DbFile, Membership, PageRepair
from engine.model.groups import Contact, Failover, Group, WitnessRecord
from engine.model.instances import (
    Alert,
    Certificate,
    Endpoint,
    Instance,
    Job,
    Login,
    Restored,
    Snapshot,
    User,
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
from engine.model.times import Key, Tick, ticks
from engine.model.world import LogLine, Settings, Timer, World

__all__ = [
    "NO_MEMBERSHIP", "Alert", "Availability", "Certificate", "Client", "Computer", "Contact",
    "DatabaseCopy", "DbFile", "DbState", "Endpoint", "EndpointState", "Failover", "Fault", "Group",
    "Instance", "Job", "Key", "Link", "LogLine", "Login", "Membership", "MirrorState", "PageRepair",
    "RecoveryModel", "Restored", "Role", "Safety", "Service", "Settings", "Snapshot", "Tick", "Timer",
    "User", "Volume", "WitnessRecord", "WitnessState", "World", "ticks",
]  # fmt: skip
