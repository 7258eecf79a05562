"""Roles and states, with their numbers in the catalog views."""

from enum import IntEnum, StrEnum


class Role(IntEnum):
    """Values of mirroring_role in sys.database_mirroring."""

    PRINCIPAL = 1
    MIRROR = 2


class MirrorState(IntEnum):
    """Values of mirroring_state in sys.database_mirroring (2005 to 2014)."""

    SUSPENDED = 0
    DISCONNECTED = 1
    SYNCHRONIZING = 2
    PENDING_FAILOVER = 3
    SYNCHRONIZED = 4


class Safety(IntEnum):
    """Values of mirroring_safety_level in sys.database_mirroring."""

    UNKNOWN = 0
    OFF = 1
    FULL = 2


class WitnessState(IntEnum):
    """Values of mirroring_witness_state: a partner's knowledge of its connection to the witness."""

    UNKNOWN = 0
    CONNECTED = 1
    DISCONNECTED = 2


class DbState(IntEnum):
    """Values of state in sys.databases."""

    ONLINE = 0
    RESTORING = 1
    RECOVERING = 2
    RECOVERY_PENDING = 3
    SUSPECT = 4
    EMERGENCY = 5
    OFFLINE = 6


class RecoveryModel(IntEnum):
    """Values of recovery_model in sys.databases."""

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
