"""Actions that wait until they are allowed, as a person repeats a refused command."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from engine.drill.judging.counterfactual import REFUSED_S, was_refused
from engine.drill.par.observability import is_observable, next_whole_second
from engine.drill.par.search_drill import SearchDrill
from engine.drill.running import locks
from engine.drill.running.solution import default_end
from engine.events import Event
from engine.inputs import Input, InputError
from engine.model import Tick, ticks
from engine.verbs.lines import parse_line

TRIES_MAX: Final = 8
"""Maximum number of tries of a refused action; each retry follows a new observation. Assumed."""


def is_accepted(drill: SearchDrill, line: str) -> bool:
    """Return whether *line* could be applied now, and no server would refuse it."""
    trial = drill.fork()
    try:
        item = trial.do(line)
    except InputError:
        return False
    trial.advance_to(trial.tick + ticks(REFUSED_S))
    return item.verb != "sql" or not was_refused(trial, item)


def find_unlock_tick(drill: SearchDrill, item: Input) -> Tick:
    """Find the tick at which the last lock on *item* opens; 0: no lock opens."""
    covering = (
        lock for lock in drill.scenario.locked if locks.covers(locks.parse_lock(lock.do, drill.world), item)
    )
    return max((ticks(lock.until) for lock in covering if lock.until is not None), default=0)


@dataclass(frozen=True, slots=True)
class RetryingRun:
    """Run in which a refused action waits until it is accepted or no new observation is possible."""

    drill: SearchDrill

    def advance_to(self, tick: Tick) -> list[Event]:
        """Advance to *tick*, with retries of locked lines; return the events."""
        return self.drill.advance_to(tick)

    def do(self, line: str) -> Input:
        """Apply a line, and retry it later if it is locked."""
        for _ in range(TRIES_MAX):
            if self.drill.finished or is_accepted(self.drill, line):
                break
            self._wait(line)
        return self.drill.do(line)

    def _wait(self, line: str) -> None:
        """Wait until a lock on *line* opens, as noticed by repeated attempts, or until something else is seen."""
        drill = self.drill
        opened = find_unlock_tick(drill, parse_line(line, drill.tick))
        if drill.tick < opened:
            drill.advance_to(opened)
        else:
            self.wait()

    def wait(self) -> None:
        """Wait until something is seen."""
        drill = self.drill
        first, end = len(drill.events), default_end(drill, drill.tick)
        while drill.tick < end and not drill.finished and not any(map(is_observable, drill.events[first:])):
            drill.advance_to(end, to_event=True)
        drill.advance_to(min(end, next_whole_second(drill.tick)))
