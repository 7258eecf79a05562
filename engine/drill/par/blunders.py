"""Share of blunders among the available actions at each action of a plan.

After a blunder no known continuation comes near the plan's score.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from engine.drill.judging.labels import BLUNDER
from engine.drill.par import continuations
from engine.drill.par.observability import needs_no_evidence
from engine.drill.par.search_drill import SearchDrill
from engine.drill.par.trials import Rules, SearchPlan, Trials, try_input
from engine.drill.time.cooperative_tasks import Slices, scale_progress
from engine.inputs import Input

MOST: Final = 80
"""Maximum number of tested actions, spread over the plan.

Assumed: the share has an error of at most a tenth, 19 times in 20.
"""

POINT: Final = 0.1
"""Minimum difference of two totals."""

STRIDE: Final = 47
"""Distance between consecutively tested actions, so that they are spread at any number. Assumed: any prime."""


@dataclass(slots=True)
class Blunders:
    """Share of blunders; `steps` continues it, and the figures can be read at any time.

    A decision is just before each action of the plan that is a choice, so that queries and waits in between do not
    matter.
    """

    trials: Trials
    plan: SearchPlan
    rules: Rules
    known: Sequence[SearchPlan]
    """Plans whose remaining parts are possible continuations, in addition to those of the scenario."""
    tried: int = 0
    found: int = 0

    @property
    def certificate_fields(self) -> dict[str, Any]:
        """Parts of a certificate. The share is None where none was tried."""
        return {
            "blunder_share": self.found / self.tried if self.tried else None,
            "acts_tried": self.tried,
            "choices": len([act for act in self.plan.acts if is_choice(act)]),
        }

    def steps(self) -> Slices[None]:
        """Try them; yields the share of the work that is done."""
        offered = []
        for choice in self._list_choices():
            offered.append(choice)
            yield 0.0
        order = sorted(range(len(offered)), key=lambda place: place * STRIDE % len(offered))[:MOST]
        for number, place in enumerate(order):
            run, item, rest = offered[place]
            drill = run.fork()
            try_input(drill, item)
            self.tried += 1
            self.found += yield from self._check_blunder(drill, rest, number / len(order))
            yield number / len(order)

    def _list_choices(self) -> Iterator[tuple[SearchDrill, Input, Sequence[Input]]]:
        """Yield every possible choice at a decision point: the run at that time, the action, and the remaining plan."""
        answers: set[str] = set()
        run = self.trials.begun.fork()
        for number, act in enumerate(self.plan.acts):
            run.advance_to(act.tick)
            here = run.fork()
            for item in self.trials.list_candidates(here, self.rules) if is_choice(act) else ():
                drill = here.fork()
                if (
                    item.line_without_time in answers
                    or not try_input(drill, item)
                    or not is_choice(drill.journal[-1])
                ):
                    continue
                if item.verb == "answer":  # one choice, however long the question stays open
                    answers.add(item.line_without_time)
                yield here, item, self.plan.acts[number:]
            try_input(run, act)

    def _check_blunder(
        self, drill: SearchDrill, remaining_inputs: Sequence[Input], share: float
    ) -> Slices[bool]:
        score_min = self.plan.score - BLUNDER
        if self.trials.play(drill.fork(), remaining_inputs, self.rules).score > score_min:
            return False
        if drill.journal[-1].verb == "answer":
            return True  # an answer cannot be changed
        plans = [plan.acts for plan in (self.plan, *self.known)]
        ways_on = continuations.find_best_rollout(
            continuations.BaselineRun(drill),
            drill,
            continuations.list_continuations(drill, plans),
            score_min + POINT,
        )
        way = yield from scale_progress(ways_on, share, share)
        return way.score <= score_min


def is_choice(act: Input) -> bool:
    """Return whether the action could be a blunder: neither an inspection nor a message."""
    return act.verb == "answer" or not needs_no_evidence(act)
