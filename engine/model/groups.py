"""Copies that belong together: witnesses, connections, failovers."""

from __future__ import annotations

from msgspec import Struct

from engine.model.states import Safety
from engine.model.times import Tick


class Group(Struct, frozen=True, kw_only=True, gc=False):
    """Copies that belong together: the partners of a mirroring session, the replicas of an availability group."""

    kind: str
    """Names its policy (engine/protocol/groups.py)."""
    databases: tuple[str, ...]


class WitnessRecord(Struct, frozen=True, kw_only=True, gc=False):
    """Knowledge of a witness about one session (sys.database_mirroring_witnesses)."""

    server: str
    guid: int
    database: str
    principal: str
    mirror: str
    safety: Safety = Safety.FULL
    safety_sequence: int = 1
    role_sequence: int = 1
    suspended: bool = False
    exposed: bool = False
    """The principal has told the witness that it runs on without the mirror: no failover may follow."""


class Contact(Struct, frozen=True, kw_only=True, gc=False):
    """Knowledge of one instance about its connection to another for one session."""

    connected: bool = True
    pending: str = ""
    """Pending change: "hard" or "silent" (a loss not yet detected), "reconnect", or empty."""
    since_tick: Tick = 0
    """Time of the last change of *connected*."""
    epoch: int = 0
    """Grows with each change; a timer of an older epoch is void."""
    lost_by: str = ""
    """Way in which the last loss was detected: "hard", "closed" or "silent"; empty: the connection was never lost."""
    lost_tick: Tick = 0


class Failover(Struct, frozen=True, kw_only=True, gc=False):
    """A failover under way or done, with the tick of each of its steps."""

    guid: int
    database: str
    kind: str
    """automatic, manual, forced, or role-move where a person had the cluster move it."""
    cause: str
    from_server: str
    to_server: str
    under_load: bool
    failed_tick: Tick
    detected_tick: Tick
    redo_done_tick: Tick | None = None
    agreed_tick: Tick | None = None
    """Witness (or, manually, the principal) has agreed."""
    decided_tick: Tick | None = None
    online_tick: Tick | None = None
    undo_done_tick: Tick | None = None
    why: str = ""
    """Reason why the failover was abandoned; empty while it was not."""
    decision_s: float = 0.0
    close_s: float = 0.0
    """Manual: the principal cuts its clients and writes its dirty pages."""
    promote_s: float = 0.0
    """From the decision to the role taken: page flush, analysis, role change."""
    undo_s: float = 0.0
    lost_transactions: int = 0
    lost_kb: float = 0.0

    @property
    def cancelled(self) -> bool:
        return bool(self.why)
