"""Trials of the search for par: what the plans come to that leave the run of a known plan at one decision point.

A plan is a list of input lines with their times. Its neighbours at a decision point: one act more, the next act brought
forward to here, the next act left out. Each is played to its end, so that its score is exact.
"""

from __future__ import annotations

import hashlib
from bisect import bisect
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from msgspec.structs import replace

from engine.drill.authoring.schema import Scenario
from engine.drill.judging.score import TOTAL_MAX
from engine.drill.par.causes import Causes
from engine.drill.par.lean import Lean, what_matters
from engine.drill.par.novelty import facts, held
from engine.drill.par.offers import offers, vocabulary
from engine.drill.par.sight import blind, free, second_after, seen, too_early
from engine.drill.par.vain import in_vain
from engine.drill.running.solution import default_end, play_solution
from engine.inputs import Input, InputProblem
from engine.model import Tick, ticks

WAITS_S: Final = (10.0, 30.0, 60.0)
"""Waits after the last thing that was seen, beside acting at once. Assumed."""

POINTS_MAX: Final = 16
"""Decision points of one run. Assumed: as often as a DBA would think anew."""

BEGIN: Final = ticks(1.0)
"""The first decision point: who acts without having seen anything."""

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
    held: int = 0
    """Parts of goals that hold at its end."""
    happened: tuple[int, ...] = ()
    """How many things of the story had happened before each of its acts."""

    @property
    def lines(self) -> list[str]:
        return [item.line for item in self.acts]

    @property
    def key(self) -> Key:
        """Sorts the better one first: more points, then fewer acts, then earlier ones."""
        return (-self.score, len(self.acts), tuple((item.tick, item.words) for item in self.acts))


@dataclass(frozen=True, slots=True)
class Rules:
    """Within what a search may try: together with scenario and seed all that a trial depends on."""

    fair: bool = True
    """Acts only after a symptom; False: the clairvoyant bound."""
    deeds_max: int = 0
    """Acts of a plan at most."""
    points_max: int = POINTS_MAX
    offered: tuple[str, ...] | None = None
    """Offer these lines alone; None: what the seat could try."""


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision point of a known plan."""

    acts: tuple[Input, ...]
    tick: Tick


@dataclass(frozen=True, slots=True)
class Trial:
    """A plan that was tried at a decision."""

    state: bytes
    """16 bytes that are equal for trials with the same state there and the same rest of acts: they come to the same."""
    plan: Plan | None
    """None: the act was in vain, so that the plan of the decision is worth as much at least."""
    facts: frozenset[str] = frozenset()
    """What the plan brings about, where there is more to have."""


Part = tuple[int, int]
"""(number from 0, of how many): a part of the neighbours of a plan at a decision point, in their order."""

WHOLE: Final = (0, 1)


@dataclass(frozen=True, slots=True)
class Crossing:
    """A run at a decision, and every neighbour of the plan there."""

    asked: tuple[Decision, Rules]
    run: Lean
    left: int
    """Acts of the plan that are still to come."""
    neighbours: tuple[tuple[Input | None, Sequence[Input]], ...]
    """What is done now, and what is still to come then."""


@dataclass(slots=True)
class Trials:
    """Plays plans of one scenario and seed."""

    scenario: Scenario
    seed: int
    start: Lean | None = None
    """The moment of a run from which plans begin; None: the beginning of the drill."""
    begun: Lean = field(init=False)
    """The drill where plans begin, to fork."""
    _done: int = field(init=False)
    """Acts of the run before its start: of no plan."""
    _causes: Causes | None = field(init=False)
    """What else may be wrong; None: nothing, or the run has come too far to ask."""
    _known_lines: tuple[str, ...] = field(init=False)
    _idle: Lean | None = None
    _last: tuple[Decision, Lean, list[Input]] | None = None
    """The run of the decision before: that of the next one of the same plan goes on from there."""
    _crossing: Crossing | None = None
    """The one asked for last: a decision may be tried in parts."""

    def __post_init__(self) -> None:
        self.begun = Lean(self.scenario, self.seed) if self.start is None else self.start.fork()
        self._done = len(self.begun.journal)
        causes = Causes(self.scenario, self.seed) if self.scenario.variants and self.start is None else None
        self._causes = causes if causes is not None and causes.several else None
        self._known_lines = vocabulary(self.begun.scenario, looking=self._causes is not None)

    def at(
        self, decision: Decision, rules: Rules, known: Container[bytes] = (), part: Part = WHOLE
    ) -> Iterator[Trial | None]:
        """Every neighbour of a plan at one of its decision points, but those whose state is *known*; None for each of
        these, so that who has to can look at the clock. *part*: of the neighbours that one."""
        crossing = self._at(decision, rules)
        run, neighbours = crossing.run, crossing.neighbours
        number, of = part
        first, end = (len(neighbours) * each // of for each in (number, number + 1))
        for inserted, rest in neighbours[first:end]:
            drill = run.fork()
            if inserted is not None and not tried(drill, inserted):
                yield None
                continue
            state = hashlib.blake2b(what_matters(drill), digest_size=16)
            state.update("\n".join(item.line for item in rest).encode())
            if state.digest() in known:
                yield None
                continue
            one_more = inserted is not None and len(rest) == crossing.left
            vain = one_more and self._causes is None and in_vain(run, drill)
            plan = None if vain else self.play(drill, rest, rules)
            more = plan is not None and plan.score < TOTAL_MAX
            yield Trial(state.digest(), plan, facts(self._left_alone(), drill) if more else frozenset())

    def width(self, decision: Decision, rules: Rules) -> int:
        """How many neighbours there are."""
        return len(self._at(decision, rules).neighbours)

    def _at(self, decision: Decision, rules: Rules) -> Crossing:
        if self._crossing is None or self._crossing.asked != (decision, rules):
            run, left = self._taken_to(decision)
            neighbours = () if run.finished else tuple(self.neighbours(run, left, rules))
            self._crossing = Crossing((decision, rules), run, len(left), neighbours)
        return self._crossing

    def _left_alone(self) -> Lean:
        """The end of the drill where nothing is done."""
        if self._idle is None:
            self._idle = self.begun.fork()
            self._idle.advance_to(default_end(self._idle))
        return self._idle

    def _taken_to(self, decision: Decision) -> tuple[Lean, list[Input]]:
        """The run of a plan at a decision point, and its acts that are still to come."""
        run, left = self.begun.fork(), list(decision.acts)
        if self._last is not None and self._last[0].acts == decision.acts:
            before, known_run, known_left = self._last
            if before.tick <= decision.tick:
                run, left = known_run.fork(), known_left.copy()
        while left and left[0].tick <= decision.tick:
            run.advance_to(left[0].tick)
            tried(run, left.pop(0))
        run.advance_to(decision.tick)
        self._last = decision, run, left
        return run, left

    def neighbours(
        self, run: Lean, left: Sequence[Input], rules: Rules
    ) -> Iterator[tuple[Input | None, Sequence[Input]]]:
        """(what is done now, what is still to come) of each plan that leaves the run here."""
        tick = run.tick
        if left:
            here = _moved(left[0], tick)
            if free(here) or not _is_blind(run, rules):
                earlier = left[0].tick - tick
                yield here, left[1:]
                yield here, [_moved(item, item.tick - earlier) for item in left[1:]]
            yield None, left[1:]
        if len(run.journal) - self._done + len(left) < rules.deeds_max:
            for item in self.on_offer(run, rules):
                yield item, left

    def on_offer(self, run: Lean, rules: Rules) -> Iterator[Input]:
        """What the seat could try now."""
        is_blind = _is_blind(run, rules)
        for line in rules.offered if rules.offered is not None else offers(run, self._known_lines):
            verb, _, rest = line.partition(" ")
            if not is_blind or verb == "answer":
                yield Input(run.tick, verb, (rest,))

    def play(self, drill: Lean, acts: Sequence[Input], rules: Rules) -> Plan:
        """*drill* taken to its end with *acts*; what cannot be done is left out of the plan."""
        for item in acts:
            drill.advance_to(item.tick)
            tried(drill, item)
        return self.come_to(drill, rules)

    def reference(self, rules: Rules) -> Plan:
        """The reference solution as a plan; doing nothing where there is none, or it cannot be done."""
        drill = self.begun.fork()
        try:
            play_solution(drill)
        except InputProblem:
            return self.play(self.begun.fork(), (), rules)
        return self.come_to(drill, rules)

    def come_to(self, drill: Lean, rules: Rules) -> Plan:
        """The plan of what was done in *drill*, which is taken to its end."""
        end = default_end(drill, drill.journal[-1].tick if drill.journal else 0)
        drill.advance_to(end)
        total, journal = drill.total(), tuple(drill.journal[self._done :])
        fair = not too_early(drill.scenario, drill.story_ticks, drill.events, journal)
        if rules.fair and fair and self._causes is not None:
            fair = self._causes.guess(journal) is None
        reached = all(state.met for state in drill.goals.values())
        sprung = frozenset(name for name, tick in drill.first_held.items() if tick is not None)
        first = BEGIN if self.start is None else self.start.tick
        happened = tuple(bisect(drill.story_ticks, item.tick) for item in journal)
        points = _points(drill, first)[: rules.points_max]
        return Plan(journal, total, reached, fair, points, sprung, held(drill), happened)


def tried(drill: Lean, item: Input) -> bool:
    """Whether *item* could be done; it is done then."""
    if drill.finished:
        return False
    try:
        drill.do(item.words)
    except InputProblem:
        return False
    return True


def _is_blind(run: Lean, rules: Rules) -> bool:
    return rules.fair and blind(run.scenario, run.story_ticks, run.events, run.tick)


def _moved(item: Input, tick: Tick) -> Input:
    return replace(item, tick=tick)


def _points(drill: Lean, first: Tick) -> tuple[Tick, ...]:
    """From *first* on: the whole second after each thing that was seen, and some waits after it."""
    moments = {first} | {second_after(event.tick) for event in drill.events if seen(event)}
    shown = sorted(moment for moment in moments if moment >= first)
    for moment, following in zip(shown, [*shown[1:], drill.tick], strict=True):
        moments |= {t for wait in WAITS_S if (t := moment + ticks(wait)) < following}
    return tuple(sorted(moment for moment in moments if first <= moment < drill.tick))
