"""Roles and states, by their numbers in the catalog views."""

from enum import IntEnum, StrEnum


class Role(IntEnum):
    """mirroring_role of sys.database_mirroring."""

    PRINCIPAL = 1
    MIRROR = 2


class MirrorState(IntEnum):
    """mirroring_state of sys.database_mirroring (2005 to 2014)."""

    SUSPENDED = 0
    DISCONNECTED = 1
    SYNCHRONIZING = 2
    PENDING_FAILOVER = 3
    SYNCHRONIZED = 4


class Safety(IntEnum):
    """mirroring_safety_level."""

    UNKNOWN = 0
    OFF = 1
    FULL = 2


class WitnessState(IntEnum):
    """mirroring_witness_state: each partner's own view of its link to the witness."""

    UNKNOWN = 0
    CONNECTED = 1
    DISCONNECTED = 2


class DbState(IntEnum):
    """state of sys.databases."""

    ONLINE = 0
    RESTORING = 1
    RECOVERING = 2
    RECOVERY_PENDING = 3
    SUSPECT = 4
    EMERGENCY = 5
    OFFLINE = 6


class RecoveryModel(IntEnum):
    """recovery_model of sys.databases."""

    FULL = 1
    BULK_LOGGED = 2
    SIMPLE = 3


class Service(StrEnum):
    """State of the SQL Server service of an instance."""

    RUNNING = "running"
    STARTING = "starting"
    STOPPING = "stopping"
    STOPPED = "stopped"


class EndpointState(IntEnum):
    """State of a mirroring endpoint."""

    STARTED = 0
    STOPPED = 1
    DISABLED = 2
