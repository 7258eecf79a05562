"""Groups of copies: witnesses, connections, failovers."""

from __future__ import annotations

from msgspec import Struct

from engine.model.states import Safety
from engine.model.times import Tick


class Group(Struct, frozen=True, kw_only=True, gc=False):
    """Group of copies: the partners of a mirroring session, or the replicas of an availability group."""

    kind: str
    """Key of its policy (engine/protocol/groups.py)."""
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
    """True if the principal has reported that it runs without the mirror: no failover may follow."""


class Contact(Struct, frozen=True, kw_only=True, gc=False):
    """Knowledge of one instance about its connection to another for one session."""

    connected: bool = True
    pending: str = ""
    """Pending change: "hard" or "silent" (a loss not yet detected), "reconnect", or empty."""
    since_tick: Tick = 0
    """Time of the last change of *connected*."""
    epoch: int = 0
    """Counter of changes; a timer with an older value is void."""
    lost_by: str = ""
    """Way in which the last loss was detected: "hard", "closed" or "silent"; empty: the connection was never lost."""
    lost_tick: Tick = 0


class Failover(Struct, frozen=True, kw_only=True, gc=False):
    """Running or finished failover, with the tick of each of its steps."""

    guid: int
    database: str
    kind: str
    """automatic, manual, forced, or role-move for a move of the cluster role by a person."""
    cause: str
    from_server: str
    to_server: str
    under_load: bool
    failed_tick: Tick
    detected_tick: Tick
    redo_done_tick: Tick | None = None
    agreed_tick: Tick | None = None
    """Time at which the witness (or, for manual failover, the principal) agreed."""
    decided_tick: Tick | None = None
    online_tick: Tick | None = None
    undo_done_tick: Tick | None = None
    why: str = ""
    """Reason why the failover was abandoned; empty otherwise."""
    decision_s: float = 0.0
    close_s: float = 0.0
    """Manual failover: time in which the principal disconnects its clients and writes its dirty pages."""
    promote_s: float = 0.0
    """Time from the decision to the new role: page flush, analysis, role change."""
    undo_s: float = 0.0
    lost_transactions: int = 0
    lost_kb: float = 0.0

    @property
    def cancelled(self) -> bool:
        """Return whether the failover ended without a new role."""
        return bool(self.why)
