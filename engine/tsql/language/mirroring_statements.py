"""Statements about a mirroring session."""

from __future__ import annotations

from dataclasses import dataclass

from engine.tsql.language.statements import OnDatabase


@dataclass(frozen=True, slots=True)
class PartnerSet(OnDatabase):
    address: str


@dataclass(frozen=True, slots=True)
class PartnerFailover(OnDatabase):
    pass


@dataclass(frozen=True, slots=True)
class PartnerForce(OnDatabase):
    pass


@dataclass(frozen=True, slots=True)
class PartnerOff(OnDatabase):
    pass


@dataclass(frozen=True, slots=True)
class PartnerSuspend(OnDatabase):
    pass


@dataclass(frozen=True, slots=True)
class PartnerResume(OnDatabase):
    pass


@dataclass(frozen=True, slots=True)
class PartnerSafety(OnDatabase):
    level: str
    """FULL or OFF."""


@dataclass(frozen=True, slots=True)
class PartnerTimeout(OnDatabase):
    seconds: int


@dataclass(frozen=True, slots=True)
class RedoQueue(OnDatabase):
    limit_mb: int | None


@dataclass(frozen=True, slots=True)
class WitnessSet(OnDatabase):
    address: str


@dataclass(frozen=True, slots=True)
class WitnessOff(OnDatabase):
    pass
