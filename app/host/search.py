"""Search at full speed for an event, a condition or a time. Without Qt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from engine.constants import TICKS_PER_S
from engine.drill.running.drill import Drill
from engine.events import KINDS, Event

SEARCH_TICKS_MAX: Final = 3600 * TICKS_PER_S
"""Maximum simulated time of a search for the next event."""
CONDITION_TICKS: Final = 10
"""Ticks between two checks of the condition."""

STATE_KINDS: Final[frozenset[str]] = frozenset(kind for kind, info in KINDS.items() if info.is_state)
EVENT_KINDS: Final[frozenset[str]] = STATE_KINDS | {kind for kind, info in KINDS.items() if info.is_milestone}
"""Kinds at which "next event" stops. Log lines and traces only repeat these."""

ALARM_SEVERITY: Final = 16
"""Lowest severity that rings: SQL Server Agent alerts usually start there. Documented (severities)."""


def is_alarm(event: Event) -> bool:
    """Return whether a threshold of the monitor was crossed, or a server wrote an error into its log."""
    return event.kind == "alert" or int(event.get("severity", 0)) >= ALARM_SEVERITY


class EventSearch:
    """Run until a matching event of some *kinds*, until a *condition*, or until the tick."""

    def __init__(
        self,
        kinds: frozenset[str],
        start_tick: int,
        until_tick: int,
        wanted: Callable[[Event], bool],
        condition: str,
    ) -> None:
        self.kinds = kinds
        self.condition = condition
        self._wanted = wanted
        self.start_tick = start_tick
        self.until_tick = until_tick
        self.found = False

    def finds(self, events: Sequence[Event], drill: Drill | None) -> bool:
        """Return whether the latest events or the present state match the search."""
        found = any(event.kind in self.kinds and self._wanted(event) for event in events)
        found = found or (bool(self.condition) and drill is not None and drill.holds(self.condition))
        self.found = self.found or found
        return found
