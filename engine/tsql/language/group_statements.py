"""Statements about availability groups, their databases, and mirroring sessions."""

from engine.tsql.language.statements import OnDatabase, Statement

GroupOptions = tuple[tuple[str, str | tuple[str, ...]], ...]
"""Options as (name, value). Names are in capitals, values in their original spelling. An option without a
value has an empty value.

SECONDARY_ROLE (ALLOW_CONNECTIONS = ALL) has the name SECONDARY_ROLE ALLOW_CONNECTIONS.
"""


class OnGroup(Statement, frozen=True):
    """Base class of statements about an availability group."""

    group: str


class AlterGroup(OnGroup, frozen=True):
    """ALTER AVAILABILITY GROUP statement.

    *action* is FAILOVER, FORCE, OFFLINE, JOIN, SET, GRANT or DENY, or a verb and its object: DATABASE,
    REPLICA or LISTENER.
    """

    action: str
    options: GroupOptions = ()
    """Options of SET and JOIN. A listener has the options IP (address, mask), DHCP and PORT."""
    databases: tuple[str, ...] = ()
    replicas: tuple[tuple[str, GroupOptions], ...] = ()
    listener: str = ""


class CreateGroup(OnGroup, frozen=True):
    """CREATE AVAILABILITY GROUP statement."""

    options: GroupOptions = ()
    databases: tuple[str, ...] = ()
    replicas: tuple[tuple[str, GroupOptions], ...] = ()
    listener: tuple[str, GroupOptions] | None = None


class DropGroup(OnGroup, frozen=True):
    """DROP AVAILABILITY GROUP statement."""


class HadrJoin(OnDatabase, frozen=True):
    """ALTER DATABASE … SET HADR AVAILABILITY GROUP = group."""

    group: str


class HadrOff(OnDatabase, frozen=True):
    """ALTER DATABASE … SET HADR OFF."""


class HadrSuspend(OnDatabase, frozen=True):
    """ALTER DATABASE … SET HADR SUSPEND."""


class HadrResume(OnDatabase, frozen=True):
    """ALTER DATABASE … SET HADR RESUME."""


# --- statements about a mirroring session -----------------------------------------------------------------


class PartnerSet(OnDatabase, frozen=True):
    """ALTER DATABASE … SET PARTNER = 'address'."""

    address: str


class PartnerFailover(OnDatabase, frozen=True):
    """ALTER DATABASE … SET PARTNER FAILOVER."""


class PartnerForce(OnDatabase, frozen=True):
    """ALTER DATABASE … SET PARTNER FORCE_SERVICE_ALLOW_DATA_LOSS."""


class PartnerOff(OnDatabase, frozen=True):
    """ALTER DATABASE … SET PARTNER OFF."""


class PartnerSuspend(OnDatabase, frozen=True):
    """ALTER DATABASE … SET PARTNER SUSPEND."""


class PartnerResume(OnDatabase, frozen=True):
    """ALTER DATABASE … SET PARTNER RESUME."""


class PartnerSafety(OnDatabase, frozen=True):
    """ALTER DATABASE … SET PARTNER SAFETY FULL or OFF."""

    level: str
    """FULL or OFF."""


class PartnerTimeout(OnDatabase, frozen=True):
    """ALTER DATABASE … SET PARTNER TIMEOUT, in seconds."""

    seconds: int


class RedoQueue(OnDatabase, frozen=True):
    """ALTER DATABASE … SET PARTNER REDO_QUEUE, an undocumented option."""

    limit_mb: int | None


class WitnessSet(OnDatabase, frozen=True):
    """ALTER DATABASE … SET WITNESS = 'address'."""

    address: str


class WitnessOff(OnDatabase, frozen=True):
    """ALTER DATABASE … SET WITNESS OFF."""
