"""Causes of the outage of a server or link, looked up in the fault ledger for failover reports."""

from typing import Final

from engine.flow.recovery import Cause, FailoverTimes, draw_failover_times
from engine.model import Fault, Tick, World

LOSES: Final = {"shutdown": "server", "shutdown-nowait": "server"}
"""Fault -> part that it disables: the server of its first argument, or the link of its first two."""

MECHANISM: Final = {
    "manual": Cause.MANUAL,
    "shutdown-nowait": Cause.NOWAIT,
    "shutdown": Cause.STOP_SERVICE,
    "forced": Cause.FORCED,
}
"""Fault -> cause whose failover times apply. Other faults use the times of a power failure."""


def register_fault(verb: str, loses: str, mechanism: Cause) -> None:
    """Add a fault of input lines to LOSES and MECHANISM.

    The tables initially hold the faults of T-SQL. `engine.verbs` calls this at import; without that import no
    other fault can be in a ledger.
    """
    LOSES[verb], MECHANISM[verb] = loses, mechanism


def find_loss_cause(world: World, server: str, peer: str | None) -> tuple[str, Tick]:
    """Return (cause, tick) of the latest fault that explains why *peer* lost *server*, or ("unknown", current tick)."""
    found_fault: Fault | None = None
    for fault in world.faults:
        if fault.reverted_tick is not None:
            continue
        loses = LOSES.get(fault.verb)
        hits_server = loses == "server" and fault.args[0] in (server, world.instances[server].computer)
        hits_link = loses == "link" and peer is not None and {server, peer} == set(fault.args[:2])
        if hits_server or hits_link:
            found_fault = fault
    return (found_fault.verb, found_fault.active_tick) if found_fault else ("unknown", world.tick)


def draw_phases(world: World, stream: int, cause: str) -> FailoverTimes:
    """Return random durations of each failover phase at the receiver of *stream* for *cause*, in seconds."""
    return draw_failover_times(world.flow, stream, MECHANISM.get(cause, Cause.POWER_OFF), world.chance)
