"""Simulated time, names of timers, and keys of copies."""

from collections.abc import Callable
from typing import Literal

from engine.constants import TICKS_PER_S

Tick = int
"""Simulated time since the start of the run, in steps of 10 ms."""

Key = tuple[str, str]
"""(server, database): key of a database copy."""


TimerName = Literal[
    "availability.call", "availability.leave", "availability.listener", "availability.login",
    "availability.online", "availability.replay", "availability.reverted", "availability.schema",
    "availability.seeded", "availability.threads", "availability.undone", "chore.copied", "chore.moved",
    "chore.upgraded", "client.cut", "client.query_end", "client.timeout", "client.try", "cluster.count",
    "cluster.gather", "cluster.quarantine_end", "cluster.regroup", "cluster.started", "contact.lost",
    "computer.off", "computer.on", "contact.made", "database.recovered", "disk.checkpoint", "endpoint.redial",
    "failover.ask",
    "failover.closed", "failover.decide", "failover.online", "failover.undone", "instance.agent",
    "instance.start",
    "instance.stopped", "instance.up", "instance.watch", "link.flap", "log.backup", "monitor.run",
    "page.read", "page.repaired", "redo.replay", "role.failed", "role.offline", "role.online", "role.retry",
    "service.off",
    "service.start", "service.started", "service.stopped", "session.meet", "setup.added", "setup.patched",
    "setup.removed", "startup.complete", "tsql.continue", "tsql.job_stop", "tsql.kill", "tsql.step",
    "tsql.step_done", "tsql.step_skipped",
]  # fmt: skip
"""Names of all timers. mypy rejects a name that is missing here. The handler tables of the packages use them
as keys.
"""

Handlers = dict[TimerName, Callable[..., None]]
"""Timer name -> function that is called when the timer expires."""


def to_ticks(seconds: float) -> Tick:
    """Return the nearest whole number of ticks."""
    return round(seconds * TICKS_PER_S)
