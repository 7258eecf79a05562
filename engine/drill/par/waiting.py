"""What waiting costs in a drill: V(t) where nothing is done, and until when every goal can still be reached."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, takewhile
from typing import Any, Final

from msgspec.structs import replace

from engine.constants import TICKS_PER_S
from engine.drill.authoring.schema import Scenario
from engine.drill.par import ways
from engine.drill.par.lean import Lean
from engine.drill.par.search import Search
from engine.drill.par.sight import second_after, seen
from engine.drill.par.ways import Still
from engine.drill.running.solution import default_end
from engine.drill.time.slices import Slices
from engine.inputs import Input
from engine.model import Tick, ticks

STOPS_MAX: Final = 12
"""Moments at which something could be seen that are told apart, the first ones. Assumed."""

HARDER: Final = 200
"""Plans that a search from just after the point of no return plays in vain before it is believed. Assumed: in half of
the shipped drills one of them finds a later one, most of them among the first hundred."""


@dataclass(slots=True)
class Waiting:
    """`steps` goes on with it; what is known can be told at any time. It is never too much: V is what some plan has
    come to, and the point of no return is where one that reaches all goals begins."""

    scenario: Scenario
    seed: int
    plans: Sequence[Sequence[Input]]
    """What a search has found, the best first."""
    par: float
    idle: float
    """Points of the best plan, and of doing nothing."""
    last_chance: Sequence[Input] = ()
    """The plan that reaches every goal and begins last, of those that are known; empty: there is none, or every goal is
    reached without one."""
    _worth: dict[Tick, float] = field(init=False)
    """V at each moment that has been looked at."""
    _still: Still = field(init=False)
    _chances: list[Sequence[Input]] = field(default_factory=list)
    """Plans that reach every goal and that a search from a late moment has found."""
    _weighed: set[Tick] = field(default_factory=set)
    """Moments whose V was worked out with all of them; it never rises between them."""

    def __post_init__(self) -> None:
        begun = Lean(self.scenario, self.seed)
        self._still = Still(begun)
        self._worth = {0: self.par, default_end(begun): self.idle}
        self._weighed.update(self._worth)

    @property
    def no_return(self) -> Tick | None:
        """The last tick from which every goal is known to be in reach; None: they are reached so, or not at all."""
        return self.last_chance[0].tick if self.last_chance else None

    def steps(self) -> Slices[None]:
        """Look closer, in slices."""
        end = max(self._worth)
        stops = yield from self._stops(end)
        if self.no_return is not None:
            begun = yield from self._still.at(0)
            yield from self._sought(end, ways.rests(begun, [self.last_chance, *self.plans]))
        yield from self._drawn(end, stops)
        while self.no_return is not None and (found := (yield from self._later(end))):
            self.last_chance = found
            self._chances.insert(0, found)
            self._weighed = {0, end}
            rests = [ways.of_plan(found[first:]) for first in range(len(found))]
            yield from self._sought(end, rests)
        if self._chances:
            yield from self._drawn(end, stops)

    def told(self) -> dict[str, Any]:
        """Parts of a certificate."""
        points: list[tuple[Tick, float]] = []
        best = self.idle
        for tick in sorted(
            self._worth, reverse=True
        ):  # who waits from an earlier moment on can have it as well
            best = max(best, self._worth[tick])
            points.append((tick, best))
        points = [*points[-1:], *(now for before, now in pairwise(reversed(points)) if now[1] != before[1])]
        lost = self.no_return
        return {
            "point_of_no_return_s": None if lost is None else lost / TICKS_PER_S,
            "last_chance": None if lost is None else [item.line for item in self.last_chance],
            "curve": {
                "t_s": [tick / TICKS_PER_S for tick, _ in points],
                "best": [best for _, best in points],
            },
        }

    # --- inside -------------------------------------------------------------------------------------------------

    def _stops(self, end: Tick) -> Slices[list[Tick]]:
        """When who does nothing could see something."""
        run = yield from self._still.at(end)
        stops = sorted({second_after(event.tick) for event in run.events if seen(event)})
        return [tick for tick in stops if tick < end][:STOPS_MAX]

    def _sought(self, end: Tick, known: Iterable[ways.Play]) -> Slices[None]:
        """Seek the point of no return by shifts of the *known* ways."""
        for step in ways.last_chances(self._still, self.last_chance[0].tick, end, known):
            if isinstance(step, tuple):
                _, way = step
                self.last_chance = way.acts
            else:
                yield step
        yield from self._weigh(self.last_chance[0].tick)

    def _drawn(self, end: Tick, stops: Sequence[Tick]) -> Slices[None]:
        """V at the point of no return, soon after it, and at the *stops* between which it falls."""
        if self.no_return is not None:
            for tick in (self.no_return, min(end, self.no_return + ticks(ways.NEAR_S))):
                yield from self._weigh(tick)
        spans = [(0, end)]
        while spans:
            first, last = spans.pop()
            between = [tick for tick in stops if first < tick < last]
            if between and self._worth[first] != self._worth[last]:
                middle = between[len(between) // 2]
                yield from self._weigh(middle)
                spans += [(middle, last), (first, middle)]

    def _later(self, end: Tick) -> Slices[Sequence[Input]]:
        """A plan that begins later than the last chance and still reaches every goal; empty: none is found."""
        tick = self.last_chance[0].tick + ticks(ways.NEAR_S)
        run = yield from self._still.at(min(tick, end))
        if run.finished or run.tick >= end:
            return ()
        search = Search(self.scenario, self.seed, start=run)
        begun = [_begun_at(plan, tick) for plan in (self.last_chance, *self.plans)]
        for _ in takewhile(lambda _: search.nodes < HARDER, search.steps(begun)):
            if search.plans and search.plans[-1].reached:
                return search.plans[-1].acts
            yield 0.0
        return ()

    def _weigh(self, tick: Tick) -> Slices[None]:
        if tick not in self._weighed:
            run = yield from self._still.at(tick)
            before = self._worth[max(each for each in self._weighed if each < tick)]
            begun = [_begun_at(plan, tick) for plan in self._chances]
            known = ways.plays(run, [self.last_chance, *begun, *self.plans])
            way = yield from ways.best(self._still, run, known, enough=before)
            self._worth[tick] = max(way.score, self._worth.get(tick, 0.0))
            self._weighed.add(tick)


def _begun_at(plan: Sequence[Input], tick: Tick) -> tuple[Input, ...]:
    """The plan with its first act at *tick*."""
    return tuple(replace(item, tick=tick + item.tick - plan[0].tick) for item in plan)
