"""Statements about availability groups and their databases."""

from __future__ import annotations

from dataclasses import dataclass

from engine.tsql.language.statements import OnDatabase, Statement

GroupOptions = tuple[tuple[str, str | tuple[str, ...]], ...]
"""Options as (name, value), both as written, names in capitals. An option without a value has an empty one.

SECONDARY_ROLE (ALLOW_CONNECTIONS = ALL) has the name SECONDARY_ROLE ALLOW_CONNECTIONS.
"""


@dataclass(frozen=True, slots=True)
class OnGroup(Statement):
    """Statement about an availability group."""

    group: str


@dataclass(frozen=True, slots=True)
class AlterGroup(OnGroup):
    """ALTER AVAILABILITY GROUP.

    *action* is FAILOVER, FORCE, OFFLINE, JOIN, SET, GRANT, DENY, or a verb with DATABASE, REPLICA or LISTENER.
    """

    action: str
    options: GroupOptions = ()
    """Options of SET and JOIN; for a listener: IP (address, mask), DHCP and PORT."""
    databases: tuple[str, ...] = ()
    replicas: tuple[tuple[str, GroupOptions], ...] = ()
    listener: str = ""


@dataclass(frozen=True, slots=True)
class CreateGroup(OnGroup):
    """CREATE AVAILABILITY GROUP."""

    options: GroupOptions = ()
    databases: tuple[str, ...] = ()
    replicas: tuple[tuple[str, GroupOptions], ...] = ()
    listener: tuple[str, GroupOptions] | None = None


@dataclass(frozen=True, slots=True)
class DropGroup(OnGroup):
    """DROP AVAILABILITY GROUP."""


@dataclass(frozen=True, slots=True)
class HadrJoin(OnDatabase):
    """ALTER DATABASE … SET HADR AVAILABILITY GROUP = group."""

    group: str


@dataclass(frozen=True, slots=True)
class HadrOff(OnDatabase):
    """ALTER DATABASE … SET HADR OFF."""


@dataclass(frozen=True, slots=True)
class HadrSuspend(OnDatabase):
    """ALTER DATABASE … SET HADR SUSPEND."""


@dataclass(frozen=True, slots=True)
class HadrResume(OnDatabase):
    """ALTER DATABASE … SET HADR RESUME."""


# --- statements about a mirroring session -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PartnerSet(OnDatabase):
    """SET PARTNER = 'address'."""

    address: str


@dataclass(frozen=True, slots=True)
class PartnerFailover(OnDatabase):
    """SET PARTNER FAILOVER."""


@dataclass(frozen=True, slots=True)
class PartnerForce(OnDatabase):
    """SET PARTNER FORCE_SERVICE_ALLOW_DATA_LOSS."""


@dataclass(frozen=True, slots=True)
class PartnerOff(OnDatabase):
    """SET PARTNER OFF."""


@dataclass(frozen=True, slots=True)
class PartnerSuspend(OnDatabase):
    """SET PARTNER SUSPEND."""


@dataclass(frozen=True, slots=True)
class PartnerResume(OnDatabase):
    """SET PARTNER RESUME."""


@dataclass(frozen=True, slots=True)
class PartnerSafety(OnDatabase):
    """SET PARTNER SAFETY FULL or OFF."""

    level: str
    """FULL or OFF."""


@dataclass(frozen=True, slots=True)
class PartnerTimeout(OnDatabase):
    """SET PARTNER TIMEOUT, in seconds."""

    seconds: int


@dataclass(frozen=True, slots=True)
class RedoQueue(OnDatabase):
    """SET PARTNER REDO_QUEUE, which is not documented."""

    limit_mb: int | None


@dataclass(frozen=True, slots=True)
class WitnessSet(OnDatabase):
    """SET WITNESS = 'address'."""

    address: str


@dataclass(frozen=True, slots=True)
class WitnessOff(OnDatabase):
    """SET WITNESS OFF."""
