"""How many of the acts on offer along a plan are blunders: after them no known way comes near the plan any more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from engine.drill.judging.counterfactual import looks
from engine.drill.judging.labels import BLUNDER
from engine.drill.par import ways
from engine.drill.par.lean import Lean
from engine.drill.par.sight import free
from engine.drill.par.trials import Decision, Plan, Rules, Trials, tried
from engine.drill.time.slices import Slices, part
from engine.inputs import Input

MOST: Final = 80
"""Acts on offer that are tried, spread over all of the plan. Assumed: the share is off by a tenth at most, 19 times in
20."""

POINT: Final = 0.1
"""Totals differ by so much at least."""

STRIDE: Final = 47
"""Between two that are tried one after the other, so that they are spread however many they are. Assumed: any prime."""


@dataclass(slots=True)
class Blunders:
    """`steps` goes on with it; the figures can be read at any time. Looks and notes are no choice of which one may
    blunder, and do not count."""

    trials: Trials
    plan: Plan
    rules: Rules
    known: Sequence[Plan]
    """Plans whose rests are ways to go on, beside what the scenario itself knows."""
    tried: int = 0
    found: int = 0

    @property
    def share(self) -> float | None:
        """Of blunders among the acts that were tried; None: none was."""
        return self.found / self.tried if self.tried else None

    def steps(self) -> Slices[None]:
        """Try them; yields the share of the work that is done."""
        offered: list[tuple[Lean, Input, Sequence[Input]]] = []
        answers: set[str] = set()
        for tick in self.plan.points:
            run, left = self.trials.taken_to(Decision(self.plan.acts, tick))
            if run.finished:
                break
            for item, after in self.trials.neighbours(run, left, self.rules):
                if item is not None and after is left and item.words not in answers:
                    offered.append((run, item, left))
                    if item.verb == "answer":  # one choice, however long the question stays open
                        answers.add(item.words)
            yield 0.0
        choices = [each for each in offered if _is_choice(*each)]
        order = sorted(range(len(choices)), key=lambda place: place * STRIDE % len(choices))[:MOST]
        for number, place in enumerate(order):
            run, item, rest = choices[place]
            drill = run.fork()
            tried(drill, item)
            self.tried += 1
            self.found += yield from self._loses(drill, rest, number / len(order))
            yield number / len(order)

    def _loses(self, drill: Lean, rest: Sequence[Input], share: float) -> Slices[bool]:
        least = self.plan.score - BLUNDER
        if self.trials.play(drill.fork(), rest, self.rules).score > least:
            return False
        if drill.journal[-1].verb == "answer":
            return True  # it stands
        plans = [plan.acts for plan in (self.plan, *self.known)]
        ways_on = ways.best(ways.Still(drill), drill, ways.plays(drill, plans), least + POINT)
        way = yield from part(ways_on, share, share)
        return way.score <= least


def choices(plan: Plan) -> int:
    """How often who follows it does more than look or speak."""
    return len([item for item in plan.acts if not free(item)])


def _is_choice(run: Lean, item: Input, _: Sequence[Input]) -> bool:
    """It can be done, and is more than a look or a note."""
    drill = run.fork()
    if not tried(drill, item):
        return False
    done = drill.journal[-1]
    return done.verb != "note" and not looks(done)
