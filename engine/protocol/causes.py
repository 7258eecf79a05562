"""Causes of the loss of a server or link. Failover reports look them up in the fault ledger."""

from typing import Final

from engine.flow.recovery import Cause, FailoverTimes, draw_failover_times
from engine.model import Fault, Tick, World

LOST_PARTS: Final = {"shutdown": "server", "shutdown-nowait": "server"}
"""Fault -> lost part: "server" (first argument of the fault) or "link" (between its first two arguments)."""

FAILOVER_CAUSES: Final = {
    "manual": Cause.MANUAL,
    "shutdown-nowait": Cause.NOWAIT,
    "shutdown": Cause.STOP_SERVICE,
    "forced": Cause.FORCED,
}
"""Fault -> cause that selects the failover times. Other faults use the times of a power failure."""


def register_fault(verb: str, lost_part: str, failover_cause: Cause) -> None:
    """Register a fault that an input line can cause in LOST_PARTS and FAILOVER_CAUSES.

    The tables initially contain only the faults of T-SQL. `engine.verbs` registers all others at its import.
    """
    LOST_PARTS[verb], FAILOVER_CAUSES[verb] = lost_part, failover_cause


def find_loss_cause(world: World, server: str, peer: str | None) -> tuple[str, Tick]:
    """Return (cause, tick) of the latest active fault by which *peer* lost *server*.

    The result is ("unknown", current tick) if no fault explains the loss.
    """
    found_fault: Fault | None = None
    for fault in world.faults:
        if fault.reverted_tick is not None:
            continue
        loses = LOST_PARTS.get(fault.verb)
        hits_server = loses == "server" and fault.args[0] in (server, world.instances[server].computer)
        hits_link = loses == "link" and peer is not None and {server, peer} == set(fault.args[:2])
        if hits_server or hits_link:
            found_fault = fault
    return (found_fault.verb, found_fault.active_tick) if found_fault else ("unknown", world.tick)


def draw_phases(world: World, stream: int, cause: str) -> FailoverTimes:
    """Draw the durations of the failover phases at the receiver of *stream* for *cause*, in seconds."""
    return draw_failover_times(world.flow, stream, FAILOVER_CAUSES.get(cause, Cause.POWER_OFF), world.chance)
