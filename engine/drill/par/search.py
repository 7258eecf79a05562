"""The search for par: plans are mended at the moments at which an act is possible, the most promising first.

A plan is a list of input lines with their times. Its neighbours at a decision point: one act more, the next act brought
forward to here, the next act left out. Each is played to the end, so that at any time the best plan so far is whole
and its score exact (anytime); every round takes the best open plan of each length, that of the best plan first (after
Rectangle Search, arXiv 2312.12554). Plans that lead to the same state with the same rest ahead are one.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from engine.drill.authoring.schema import Scenario
from engine.drill.par.lean import Lean, what_matters
from engine.drill.par.offers import offers, vocabulary
from engine.drill.par.sight import blind, free, second_after, seen, too_early
from engine.drill.running.solution import default_end, play_solution
from engine.inputs import Input, InputProblem
from engine.model import Tick, ticks

WAITS_S: Final = (10.0, 30.0, 60.0)
"""Waits after the last thing that was seen, beside acting at once. Assumed."""

POINTS_MAX: Final = 16
"""Decision points of one run. Assumed: as often as a DBA would think anew."""

BEGIN: Final = ticks(1.0)
"""The first decision point: who acts without having seen anything."""

DEEDS_MORE: Final = 3
"""Acts that a plan may have more than the reference. Assumed."""

BLUNDER: Final = 15.0
"""Points lost by a blunder [Lichess, Advice.scala: 0.3 of -1 to 1, which is 15 points of 100]."""

Key = tuple[float, int, tuple[tuple[Tick, str], ...]]


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do and when, and what it comes to."""

    acts: tuple[Input, ...]
    score: float
    reached: bool
    """Every goal is."""
    fair: bool
    points: tuple[Tick, ...] = ()
    """Decision points of its run."""
    sprung: frozenset[str] = frozenset()
    """Traps into which it ran: forbidden states and acts that have a price, by their names in Drill.first_held."""

    @property
    def lines(self) -> list[str]:
        return [item.line for item in self.acts]

    @property
    def key(self) -> Key:
        """Sorts the better one first: more points, then fewer acts, then earlier ones."""
        return (-self.score, len(self.acts), tuple((item.tick, item.words) for item in self.acts))


@dataclass(slots=True)
class Search:
    """One search of a scenario with a seed. `steps` goes on with it; its results can be read at any time."""

    scenario: Scenario
    seed: int
    fair: bool = True
    """Acts only after a symptom; False: the clairvoyant bound."""
    deeds_max: int | None = None
    """Acts of a plan at most; None: DEEDS_MORE more than the reference."""
    points_max: int = POINTS_MAX
    offered: tuple[str, ...] | None = None
    """Offer these lines alone; None: what the seat could try."""
    nodes: int = 0
    complete: bool = False
    """Nothing is left to try within deeds_max and the decision points."""
    begun_with_all: bool = False
    """Every plan to begin with has been played."""
    reference: Plan | None = None
    best: Plan | None = None
    plans: list[Plan] = field(default_factory=list)
    blunders: int = 0
    """Of the acts on offer along the plans that are worth the most so far, those that lose BLUNDER points or more."""
    tried: int = 0
    """The acts on offer along them that were tried."""
    _open: dict[int, list[tuple[Key, int, Plan]]] = field(default_factory=dict)
    _known: set[object] = field(default_factory=set)
    _begun: Lean | None = None
    _known_lines: tuple[str, ...] = ()

    def steps(self, seeds: Iterable[Sequence[Input]] = ()) -> Iterator[None]:
        """Search until nothing is left, with a pause after each node (a plan played to its end).

        *seeds*: further plans to begin with, beside doing nothing and the reference solution.
        """
        self._begun = Lean(self.scenario, self.seed)
        self._known_lines = vocabulary(self._begun.scenario)
        given = [self._reference(), (), *seeds]
        if self.deeds_max is None:
            self.deeds_max = max(map(len, given)) + DEEDS_MORE
        for number, acts in enumerate(given):
            plan = self._play(self._begun.fork(), acts)
            self.nodes += 1
            if number == 0 and self._begun.scenario.solution:
                self.reference = plan
            self._keep(plan)
            self.begun_with_all = number == len(given) - 1
            yield
        while any(self._open.values()):
            assert self.best is not None, "doing nothing is a plan"
            best = len(self.best.acts)
            for length in sorted(self._open, key=lambda length: (length != best, length)):
                if self._open[length]:
                    _, _, plan = heapq.heappop(self._open[length])
                    yield from self._expand(plan)
        self.complete = True

    def run(self, nodes: int, seeds: Iterable[Sequence[Input]] = ()) -> Search:
        """Search with at most so many nodes."""
        steps = self.steps(seeds)
        while self.nodes < nodes and next(steps, self) is None:
            pass
        return self

    def weigh(self, most: int) -> Iterator[None]:
        """Tell blunders anew among the acts on offer along the best plan: of *most* of them, spread over all of it."""
        assert self._begun is not None and self.best is not None, "steps begins"
        plan, found = self.best, []
        run, left = self._begun.fork(), list(plan.acts)
        for point in plan.points:
            while left and left[0].tick <= point:
                run.advance_to(left[0].tick)
                _try(run, left.pop(0))
            run.advance_to(point)
            if run.finished:
                break
            here, rest = run.fork(), tuple(left)
            inserted = [
                one for one, after in self._neighbours(here, rest) if one is not None and after is rest
            ]
            found += [(here, item, rest) for item in inserted]
        self.tried = self.blunders = 0
        for here, item, rest in found[:: max(1, -(-len(found) // most))]:
            drill = here.fork()
            if _try(drill, item):
                self.tried += 1
                self.nodes += 1
                self.blunders += self._play(drill, rest).score <= plan.score - BLUNDER
                yield

    # --- inside -----------------------------------------------------------------------------------------------

    def _reference(self) -> tuple[Input, ...]:
        assert self._begun is not None, "steps begins"
        drill = self._begun.fork()
        try:
            play_solution(drill)
        except InputProblem:
            return ()
        return tuple(drill.journal)

    def _keep(self, plan: Plan) -> None:
        if self.fair and not plan.fair:
            return
        self.plans.append(plan)
        if self.best is None or plan.score > self.best.score:
            self.blunders = self.tried = 0
        if self.best is None or plan.key < self.best.key:
            self.best = plan
        entries = self._open.setdefault(len(plan.acts), [])
        heapq.heappush(entries, (plan.key, len(self.plans), plan))

    def _expand(self, plan: Plan) -> Iterator[None]:
        """Try everything at each decision point of *plan*."""
        assert self._begun is not None and self.deeds_max is not None and self.best is not None, (
            "steps begins"
        )
        run, left = self._begun.fork(), list(plan.acts)
        for point in plan.points:
            while left and left[0].tick <= point:
                run.advance_to(left[0].tick)
                _try(run, left.pop(0))
            run.advance_to(point)
            if run.finished:
                break
            for inserted, acts in self._neighbours(run, left):
                drill = run.fork()
                if inserted is not None and not _try(drill, inserted):
                    continue
                key = (what_matters(drill), tuple(item.line for item in acts))
                if key in self._known:
                    continue
                self._known.add(key)
                found = self._play(drill, acts)
                self.nodes += 1
                if plan.score == self.best.score and inserted is not None and len(acts) == len(left):
                    self.tried += 1
                    self.blunders += found.score <= plan.score - BLUNDER
                self._keep(found)
                yield

    def _neighbours(self, run: Lean, left: Sequence[Input]) -> Iterator[tuple[Input | None, Sequence[Input]]]:
        """(what is done now, what is still to come) of each plan that leaves the run here."""
        tick = run.tick
        known = self.offered if self.offered is not None else self._known_lines
        is_blind = self.fair and blind(run.scenario, run.story_ticks, run.events, tick)
        if left:
            here = _at(left[0], tick)
            if not is_blind or free(here):
                earlier = left[0].tick - tick
                yield here, left[1:]
                yield here, [_at(item, item.tick - earlier) for item in left[1:]]
            yield None, left[1:]
        assert self.deeds_max is not None, "steps begins"
        if len(run.journal) + len(left) >= self.deeds_max:
            return
        for line in self.offered if self.offered is not None else offers(run, known):
            verb, _, rest = line.partition(" ")
            item = Input(tick, verb, (rest,))
            if not is_blind or verb == "answer":
                yield item, left

    def _play(self, drill: Lean, acts: Sequence[Input]) -> Plan:
        """*drill* taken to its end with *acts*; what cannot be done is left out of the plan."""
        for item in acts:
            drill.advance_to(item.tick)
            _try(drill, item)
        end = default_end(drill, drill.journal[-1].tick if drill.journal else 0)
        drill.advance_to(end)
        score, journal = drill.score(), tuple(drill.journal)
        fair = not too_early(drill.scenario, drill.story_ticks, drill.events, journal)
        reached = all(state.met for state in drill.goals.values())
        sprung = frozenset(name for name, tick in drill.first_held.items() if tick is not None)
        return Plan(journal, score.total, reached, fair, self._points(drill), sprung)

    def _points(self, drill: Lean) -> tuple[Tick, ...]:
        """The whole second after each thing that was seen, some waits after it, and the acts themselves."""
        moments = {BEGIN} | {second_after(event.tick) for event in drill.events if seen(event)}
        shown = sorted(moments)
        for moment, following in zip(shown, [*shown[1:], drill.tick], strict=True):
            moments |= {t for wait in WAITS_S if (t := moment + ticks(wait)) < following}
        return tuple(sorted(moment for moment in moments if moment < drill.tick)[: self.points_max])


def _at(item: Input, tick: Tick) -> Input:
    return replace(item, tick=tick)


def _try(drill: Lean, item: Input) -> bool:
    if drill.finished:
        return False
    try:
        drill.do(item.words)
    except InputProblem:
        return False
    return True
