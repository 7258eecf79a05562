"""Statements about availability groups, their databases, and mirroring sessions."""

from engine.tsql.language.statements import DatabaseStatement, Statement

GroupOptions = tuple[tuple[str, str | tuple[str, ...]], ...]
"""Options as (name, value). Names are in capitals, values in their original spelling.

The value is empty for an option without a value. The name of SECONDARY_ROLE (ALLOW_CONNECTIONS = ALL) is
SECONDARY_ROLE ALLOW_CONNECTIONS.
"""


class GroupStatement(Statement, frozen=True):
    """Base class of statements about an availability group."""

    group: str


class AlterGroupStatement(GroupStatement, frozen=True):
    """ALTER AVAILABILITY GROUP statement.

    *action* is FAILOVER, FORCE, OFFLINE, JOIN, SET, GRANT or DENY. Otherwise, it is a verb and its object:
    DATABASE, REPLICA or LISTENER.
    """

    action: str
    options: GroupOptions = ()
    """Options of SET and JOIN. A listener has the options IP (address, mask), DHCP and PORT."""
    databases: tuple[str, ...] = ()
    replicas: tuple[tuple[str, GroupOptions], ...] = ()
    listener: str = ""


class CreateGroupStatement(GroupStatement, frozen=True):
    """CREATE AVAILABILITY GROUP statement."""

    options: GroupOptions = ()
    databases: tuple[str, ...] = ()
    replicas: tuple[tuple[str, GroupOptions], ...] = ()
    listener: tuple[str, GroupOptions] | None = None


class DropGroupStatement(GroupStatement, frozen=True):
    """DROP AVAILABILITY GROUP statement."""


class SetHadrGroupStatement(DatabaseStatement, frozen=True):
    """ALTER DATABASE … SET HADR AVAILABILITY GROUP = group."""

    group: str


class SetHadrOffStatement(DatabaseStatement, frozen=True):
    """ALTER DATABASE … SET HADR OFF."""


class SetHadrSuspendStatement(DatabaseStatement, frozen=True):
    """ALTER DATABASE … SET HADR SUSPEND."""


class SetHadrResumeStatement(DatabaseStatement, frozen=True):
    """ALTER DATABASE … SET HADR RESUME."""


# --- statements about a mirroring session -----------------------------------------------------------------


class SetPartnerStatement(DatabaseStatement, frozen=True):
    """ALTER DATABASE … SET PARTNER = 'address'."""

    address: str


class SetPartnerFailoverStatement(DatabaseStatement, frozen=True):
    """ALTER DATABASE … SET PARTNER FAILOVER."""


class SetPartnerForceStatement(DatabaseStatement, frozen=True):
    """ALTER DATABASE … SET PARTNER FORCE_SERVICE_ALLOW_DATA_LOSS."""


class SetPartnerOffStatement(DatabaseStatement, frozen=True):
    """ALTER DATABASE … SET PARTNER OFF."""


class SetPartnerSuspendStatement(DatabaseStatement, frozen=True):
    """ALTER DATABASE … SET PARTNER SUSPEND."""


class SetPartnerResumeStatement(DatabaseStatement, frozen=True):
    """ALTER DATABASE … SET PARTNER RESUME."""


class SetPartnerSafetyStatement(DatabaseStatement, frozen=True):
    """ALTER DATABASE … SET PARTNER SAFETY FULL or OFF."""

    level: str
    """FULL or OFF."""


class SetPartnerTimeoutStatement(DatabaseStatement, frozen=True):
    """ALTER DATABASE … SET PARTNER TIMEOUT, in seconds."""

    seconds: int


class SetPartnerRedoQueueStatement(DatabaseStatement, frozen=True):
    """ALTER DATABASE … SET PARTNER REDO_QUEUE, an undocumented option."""

    limit_mb: int | None


class SetWitnessStatement(DatabaseStatement, frozen=True):
    """ALTER DATABASE … SET WITNESS = 'address' statement."""

    address: str


class SetWitnessOffStatement(DatabaseStatement, frozen=True):
    """ALTER DATABASE … SET WITNESS OFF."""
