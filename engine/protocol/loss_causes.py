"""Causes of the loss of a server or link, for failover reports. They are found in the list of faults."""

from typing import Final

from engine.flow.failover_times import FailoverCause, FailoverTimes, draw_failover_times
from engine.model import Fault, Tick, World

LOST_PART_BY_FAULT: Final = {"shutdown": "server", "shutdown-nowait": "server"}
"""Fault -> lost part: "server" (first argument of the fault) or "link" (between its first two arguments)."""

FAILOVER_CAUSE_BY_FAULT: Final = {
    "manual": FailoverCause.MANUAL,
    "shutdown-nowait": FailoverCause.NOWAIT,
    "shutdown": FailoverCause.STOP_SERVICE,
    "forced": FailoverCause.FORCED,
}
"""Fault -> cause that selects the failover times. Other faults use the times of a power failure."""


def register_fault(verb: str, lost_part: str, failover_cause: FailoverCause) -> None:
    """Register a fault of an input line in LOST_PART_BY_FAULT and FAILOVER_CAUSE_BY_FAULT.

    The tables initially contain only the faults of T-SQL. `engine.verbs` registers all others at its import.
    """
    LOST_PART_BY_FAULT[verb], FAILOVER_CAUSE_BY_FAULT[verb] = lost_part, failover_cause


def find_loss_cause(world: World, server: str, peer: str | None) -> tuple[str, Tick]:
    """Return (cause, tick) of the latest active fault by which *peer* lost *server*.

    The result is ("unknown", current tick) if no fault explains the loss.
    """
    found_fault: Fault | None = None
    for fault in world.faults:
        if fault.reverted_tick is not None:
            continue
        loses = LOST_PART_BY_FAULT.get(fault.verb)
        hits_server = loses == "server" and fault.args[0] in (server, world.instances[server].computer)
        hits_link = loses == "link" and peer is not None and {server, peer} == set(fault.args[:2])
        if hits_server or hits_link:
            found_fault = fault
    return (found_fault.verb, found_fault.active_tick) if found_fault else ("unknown", world.tick)


def draw_phase_durations(world: World, stream: int, cause: str) -> FailoverTimes:
    """Draw the durations of the failover phases at the receiver of *stream* for *cause*, in seconds."""
    return draw_failover_times(
        world.flow, stream, FAILOVER_CAUSE_BY_FAULT.get(cause, FailoverCause.POWER_OFF), world.chance
    )
