"""How a database fared over time (protected, exposed, down), read from the events alone. No Qt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from app.series import Track
from engine.events import Event
from engine.model import Copy, MirrorState, Role, World

PROTECTED: Final = "protected"
EXPOSED: Final = "exposed"
DOWN: Final = "down"

_ARROW: Final = " -> "


class AvailabilityLane:
    """Protected: it serves and its mirror is in step. Exposed: it serves alone. Down: it serves nobody.

    The rule is the engine's (protocol/availability.py); roles and states at the start are found by walking the
    events back from the world as it is.
    """

    def __init__(self, database: str) -> None:
        self.database = database
        self.track: Track[str] = Track()
        self._states: dict[str, str] = {}
        """Server: mirroring state of its copy, as it knows it."""
        self._serving: str | None = None
        """Server whose copy serves."""

    def start(self, world: World, events: Sequence[Event]) -> None:
        """Everything up to now, *events* being all that has happened since the start."""
        mine = [event for event in events if event.database == self.database]
        copies = {copy.server: copy for copy in world.copies_of(self.database)}
        states = {name: _name(copy.mirror_state) for name, copy in copies.items()}
        roles = {name: _role(copy) for name, copy in copies.items()}
        account = world.availability.get(self.database)
        serves = account.serving if account is not None else True
        for event in reversed(mine):
            if event.kind == "state" and event.server is not None:
                states[event.server] = event.text.partition(_ARROW)[0]
            elif event.kind == "role" and event.server is not None:
                roles[event.server] = Role[event.text.partition(_ARROW)[0]]
            elif event.kind == "availability" and event.get("serving") is not None:
                serves = not event.get("serving")
        principal = next((name for name, role in roles.items() if role is Role.PRINCIPAL), None)
        self._states, self._serving = states, principal if serves else None
        self.track.clear()
        self.track.put(0.0, self._now())
        self.add(mine)

    def add(self, events: Iterable[Event]) -> bool:
        """Take in what has happened; True if that changed anything."""
        changed = False
        for event in events:
            if event.database != self.database:
                continue
            if event.kind == "state" and event.server is not None:
                self._states[event.server] = event.text.partition(_ARROW)[2]
            elif event.kind == "availability" and event.get("serving") is not None:
                self._serving = event.server if event.get("serving") else None
            else:
                continue
            changed |= self.track.put(event.t_s, self._now())
        return changed

    def _now(self) -> str:
        if self._serving is None:
            return DOWN
        in_step = self._states.get(self._serving) == MirrorState.SYNCHRONIZED.name
        return PROTECTED if in_step else EXPOSED


def _name(state: MirrorState | None) -> str:
    return state.name if state is not None else "no session"


def _role(copy: Copy) -> Role:
    """The role; of a copy without a session the one it had last, or would have: it is used as it is."""
    return copy.role or (Role.MIRROR if copy.was_mirror else Role.PRINCIPAL)
