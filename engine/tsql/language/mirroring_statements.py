"""Statements about a mirroring session."""

from __future__ import annotations

from dataclasses import dataclass

from engine.tsql.language.statements import OnDatabase


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
