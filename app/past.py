"""A past moment of a run that is looked at, and the way from there to where the run stands. No Qt."""

from __future__ import annotations

from engine.drill.drill import Drill
from engine.drill.history import History
from engine.events import Event
from engine.model import Tick


class Past:
    """A past moment of a run, and from it what happened then, up to where the run stands."""

    def __init__(self, run: History, drill: Drill, stays: bool, at_each_deed: bool) -> None:
        self.drill = drill
        self.stays = stays
        """At the end it is still looked at; the run is over."""
        self.at_each_deed = at_each_deed
        self._until = run.drill.tick
        self._ahead = run.drill.journal[len(drill.journal) :]
        self._deed = False

    @property
    def ended(self) -> bool:
        return not self._ahead and (self.drill.tick >= self._until or self.drill.finished)

    def advance_to(self, tick: Tick) -> list[Event]:
        """What happened up to *tick*; with `at_each_deed` no further than the next deed."""
        known = len(self.drill.events)
        while self._ahead and self._ahead[0].tick <= tick:
            self.drill.advance_to(self._ahead[0].tick)
            self.drill.do(self._ahead.pop(0).words)
            self._deed = True
            if self.at_each_deed:
                return self.drill.events[known:]
        self.drill.advance_to(min(tick, self._until))
        return self.drill.events[known:]

    def take_deed(self) -> bool:
        """Whether time is to pause for what was just done."""
        deed, self._deed = self._deed, False
        return deed and self.at_each_deed
