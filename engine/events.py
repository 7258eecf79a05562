"""What happened: the one record from which logs, traces, scores and debriefs are read."""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct

from engine.constants import TICKS_PER_S

KINDS: Final = (
    "fault",  # the trainee or the scenario broke or mended something
    "detected",  # an instance noticed a lost or returned connection
    "failover",  # a step of a failover
    "state",  # mirroring state of a copy changed
    "role",  # role of a copy changed
    "witness",  # a partner's witness state changed
    "trace",  # Database Mirroring State Change event (ids 0 to 13)
    "errorlog",  # a line in the ERRORLOG of a server
    "service",  # an instance started, stopped, lost power
    "client",  # a client application connected, was cut, gave up
    "availability",  # a database began or ceased to serve
    "log",  # log space: growth, full, freed
    "alert",  # a threshold of the Database Mirroring Monitor was surpassed
    "session",  # a program logged in over the network, was refused, or is gone
    "sql",  # a batch was sent to a server
    "sql_done",  # a batch ended, with its messages and results
    "chore",  # something done outside SQL: copy a file, enable jobs
    "note",  # a remark
    "hint",  # a hint was opened
    "question",  # the drill asks something
    "answer",  # it was answered, or what was right is told
    "goal",  # a goal of the drill was met or missed
    "score",  # points were given or taken
)


class Event(Struct, frozen=True, gc=False):
    """One thing that happened at *tick*; *data* holds the fields of its kind."""

    tick: int
    kind: str
    server: str | None
    database: str | None
    text: str
    data: tuple[tuple[str, object], ...] = ()

    @property
    def t_s(self) -> float:
        return self.tick / TICKS_PER_S

    def get(self, name: str, default: object = None) -> Any:
        for key, value in self.data:
            if key == name:
                return value
        return default

    def as_json(self) -> dict[str, object]:
        """The event as the report of `run --json` prints it."""
        out: dict[str, object] = {"t_s": self.t_s, "kind": self.kind}
        if self.server is not None:
            out["server"] = self.server
        if self.database is not None:
            out["database"] = self.database
        return {**out, "text": self.text, **dict(self.data)}
