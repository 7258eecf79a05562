"""Playback of a run from a past moment to the present. Without Qt."""

from __future__ import annotations

from engine.drill.running.drill import Drill
from engine.drill.time.history import History
from engine.events import Event
from engine.model import Tick


class Playback:
    """Past moment of a run, and playback from it to the present."""

    def __init__(self, run: History, drill: Drill, stays: bool, at_each_deed: bool) -> None:
        self.drill = drill
        self.stays = stays
        """True if the playback stays on screen at its end, because the run is over."""
        self.at_each_deed = at_each_deed
        self._end_tick = run.drill.tick
        self._remaining_inputs = run.drill.journal[len(drill.journal) :]
        self._deed = False

    @property
    def has_finished(self) -> bool:
        """Return whether all steps have been played."""
        return not self._remaining_inputs and (self.drill.tick >= self._end_tick or self.drill.finished)

    def advance_to(self, tick: Tick, to_event: bool = False) -> list[Event]:
        """Advance to *tick* and return the events up to it.

        With *to_event*, stop at the first tick with an event. With `at_each_deed`, stop at the next input.
        """
        drill, known = self.drill, len(self.drill.events)
        while True:
            deed = bool(self._remaining_inputs) and self._remaining_inputs[0].tick <= tick
            end = self._remaining_inputs[0].tick if deed else min(tick, self._end_tick)
            if drill.tick < end and not (to_event and len(drill.events) > known):
                drill.advance_to(end, to_event)
            if drill.tick < end or not deed:
                return drill.events[known:]
            drill.do(self._remaining_inputs.pop(0).line_without_time)
            self._deed = True
            if self.at_each_deed:
                return drill.events[known:]

    def take_deed(self) -> bool:
        """Return whether time must pause for the last input, and clear the mark."""
        deed, self._deed = self._deed, False
        return deed and self.at_each_deed
