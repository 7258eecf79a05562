"""What brought a server or a link down: read from the fault ledger, for failover reports."""

from __future__ import annotations

from typing import Final

from engine.flow.recovery import Cause, FailoverTimes, failover_times
from engine.model import Fault, Tick, World

PRINCIPAL_VERBS: Final = (
    "power-off",
    "pull-cable",
    "stop-service",
    "restart-service",
    "shutdown",
    "shutdown-nowait",
    "shutdown-server",
    "hang",
    "fail-disk",
    "fail-volume",
)
"""Verbs whose first argument is the server that fails."""

LINK_VERBS: Final = ("cut", "black-hole", "cut-one-way", "reset-link", "degrade")


def of_loss(world: World, server: str, peer: str | None) -> tuple[str, Tick]:
    """(cause, tick) of the latest fault that explains why *peer* lost *server*; else "unknown" and now."""
    found: Fault | None = None
    for fault in world.faults:
        if fault.reverted_tick is not None:
            continue
        hits_server = fault.verb in PRINCIPAL_VERBS and fault.args[0] == server
        hits_link = fault.verb in LINK_VERBS and peer is not None and {server, peer} == set(fault.args[:2])
        if hits_server or hits_link:
            found = fault
    return (found.verb, found.active_tick) if found else ("unknown", world.tick)


MECHANISM: Final = {
    "manual": Cause.MANUAL,
    "shutdown-nowait": Cause.NOWAIT,
    "shutdown": Cause.STOP_SERVICE,
    "stop-service": Cause.STOP_SERVICE,
    "restart-service": Cause.STOP_SERVICE,
    "shutdown-server": Cause.SHUTDOWN_SERVER,
    "power-off": Cause.POWER_OFF,
    "pull-cable": Cause.CABLE,
    "cut": Cause.CABLE,
    "hang": Cause.TIMEOUT,
    "black-hole": Cause.TIMEOUT,
    "cut-one-way": Cause.TIMEOUT,
    "forced": Cause.FORCED,
}
"""Which timing a cause follows; others go like a power failure."""


def phases(world: World, stream: int, cause: str) -> FailoverTimes:
    """Seconds of each phase of a failover to the receiver of *stream* for *cause*, drawn from the world's chance."""
    return failover_times(world.flow, stream, MECHANISM.get(cause, Cause.POWER_OFF), world.chance)
