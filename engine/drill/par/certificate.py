"""What a search proves of a drill: fair par, the clairvoyant bound, the reference beside them, and their plans."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, Final

from engine.constants import TICKS_PER_S
from engine.drill.authoring.scenario import varied
from engine.drill.authoring.schema import Scenario
from engine.drill.judging.score import TOTAL_MAX
from engine.drill.par.lean import Lean
from engine.drill.par.regret import account
from engine.drill.par.search import Search, Spread
from engine.drill.par.trials import Plan
from engine.drill.running.drill import Drill, play_inputs
from engine.drill.running.solution import default_end, left_alone, play_solution
from engine.inputs import Input, InputProblem
from engine.model import Tick, ticks
from engine.stepwise import at_once

METHOD: Final = "best-first over plans, one of each length in turn"

SEEDS: Final = 4
"""Further seeds with which the reference is played. Assumed."""

LATE_S: Final = (10.0, 30.0)
"""By how much all acts of a plan may come late when the safest one is sought. Assumed."""

SAFEST_OF: Final = 3
"""Plans of which the safest is sought, the best ones and the shortest. Assumed."""

SHARES: Final = (0.5, 0.7)
"""Which share of the time is over when the fair search, and when the clairvoyant one ends; the rest is for what the
certificate says beside their plans. Assumed."""


def _never() -> bool:
    return False


def waiting(
    scenario: Scenario, seed: int, plans: Sequence[Sequence[Input]], hurry: Callable[[], bool] = _never
) -> dict[str, Any]:
    """V(t), in points, where nothing is done, as the account of such a run has it (`regret.account`), and the last
    second from which every goal can still be reached; None: they are reached so, or not at all."""
    found = at_once(account(left_alone(scenario, seed), plans, doubting=False, hurry=hurry))
    points = [(found.moves[0].tick, found.moves[0].before)] if found.moves else []
    for tick, best in found.curve:
        if best != points[-1][1]:
            points.append((tick, best))
    lost = found.no_return
    return {
        "point_of_no_return_s": None if lost is None else lost / TICKS_PER_S,
        "curve": {"t_s": [tick / TICKS_PER_S for tick, _ in points], "best": [best for _, best in points]},
    }


class Certifying:
    """The fair search, then the clairvoyant one with the fair plan as a seed, so that its bound is never less."""

    def __init__(self, scenario: Scenario, seed: int, spread: Spread | None = None) -> None:
        """*spread*: what tries the decisions of either search; None: this process."""
        self.fair = Search(scenario, seed, spread=spread)
        self.clairvoyant = Search(scenario, seed, fair=False, spread=spread)
        self.now = self.fair
        """The search that goes on."""
        self._enough = False

    def steps(self) -> Iterator[float]:
        """Go on by a node; yields the share of all the time at which the present search has to end."""
        for search, share in zip((self.fair, self.clairvoyant), SHARES, strict=True):
            seeds = [self.fair.best.acts] if search is self.clairvoyant and self.fair.best else []
            self.now = search
            self._enough = search is self.clairvoyant and self._has_all()  # there is no better bound
            for _ in search.steps(seeds):
                yield SHARES[-1] if self._has_all() else share
                if self._enough and search.begun_with_all:
                    break

    def _has_all(self) -> bool:
        """A fair plan has all points."""
        return self.fair.best is not None and self.fair.best.score == TOTAL_MAX

    def enough(self) -> None:
        """The present search has had its time: it ends as soon as it has played what it begins with."""
        self._enough = True

    def certificate(self, hurry: Callable[[], bool] = _never) -> dict[str, Any]:
        """As `mirrordrill par --json` writes it; scores and hashes come from whole drills that play the plans again.

        From *hurry* on the curve is told no finer, and the safest plan is sought among fewer.
        """
        par, bound, reference = self.fair.best, self.clairvoyant.best, self.fair.reference
        assert par is not None and bound is not None, "doing nothing is a plan, and fair"
        runs = {"par": self._again(par), "clairvoyant": self._again(bound)}
        shortest = min((plan for plan in self.fair.plans if plan.reached), key=_length, default=None)
        plans = [plan.acts for plan in (par, shortest) if plan is not None]
        return {
            "scenario": self.fair.scenario.name,
            "seed": self.fair.seed,
            "method": METHOD,
            "nodes": self.fair.nodes + self.clairvoyant.nodes,
            "complete": self.fair.complete and self.clairvoyant.complete,
            "optimal": self.fair.complete or self._has_all(),
            "par": {"score": runs["par"].total(), "plan": par.lines},
            "clairvoyant": {"score": runs["clairvoyant"].total(), "plan": bound.lines},
            "reference": {
                "score": None if reference is None else reference.score,
                "fair": None if reference is None else reference.fair,
            },
            "idle": {"score": next(plan.score for plan in self.fair.plans if not plan.acts)},
            **waiting(self.fair.scenario, self.fair.seed, plans, hurry),
            "blunder_share": self.fair.blunders / self.fair.tried if self.fair.tried else None,
            "acts_tried": self.fair.tried,
            "shortest": shortest.lines if shortest is not None else None,
            "safest": self._safest(shortest, hurry),
            "traps": self._traps(),
            "luck": self._luck(),
            "hashes": {name: run.state_hash() for name, run in runs.items()},
        }

    def _luck(self) -> dict[str, Any]:
        """What the reference is worth with other seeds than its own: least and most."""
        scores = []
        for seed in range(self.fair.seed + 1, self.fair.seed + 1 + SEEDS):
            run = Lean(self.fair.scenario, seed)
            with suppress(InputProblem):
                play_solution(run)
            scores.append(run.total())
        return {"seeds": SEEDS, "least": min(scores), "most": max(scores)}

    def _safest(self, shortest: Plan | None, hurry: Callable[[], bool]) -> dict[str, Any] | None:
        """The plan that is worth most where it goes worst: with other seeds, and when every act comes late."""
        if shortest is None:
            return None
        whole = [plan for plan in self.fair.plans if plan.reached]
        least: dict[Plan, float] = {}
        for plan in dict.fromkeys([*heapq.nsmallest(SAFEST_OF, whole, key=_key), shortest]):
            if not (least and hurry()):
                least[plan] = self._least(plan)
        safest = min(least, key=lambda plan: (-least[plan], *plan.key))
        return {"plan": safest.lines, "least": least[safest]}

    def _least(self, plan: Plan) -> float:
        scenario, seed = self.fair.scenario, self.fair.seed
        slips = [(seed, ticks(late_s)) for late_s in (0.0, *LATE_S)]
        own = varied(scenario, seed)
        others = range(seed + 1, seed + 1 + SEEDS)  # with another variant it is another drill
        slips += [(other, 0) for other in others if varied(scenario, other) == own]
        return min(self._worth(plan, each, late) for each, late in slips)

    def _worth(self, plan: Plan, seed: int, late: Tick) -> float:
        run = Lean(self.fair.scenario, seed)
        for item in plan.acts:
            run.advance_to(item.tick + late)
            with suppress(InputProblem):
                run.do(item.words)
        run.advance_to(default_end(run, run.tick))
        return run.total()

    def _traps(self) -> list[dict[str, Any]]:
        """Each trap with the best total of a plan that ran into it; None: no plan did."""
        plans = [*self.fair.plans, *self.clairvoyant.plans]
        traps = Lean(self.fair.scenario, self.fair.seed).traps
        return [
            {
                "name": name,
                "text": text,
                "best": max((p.score for p in plans if name in p.sprung), default=None),
            }
            for name, text in traps.items()
        ]

    def _again(self, plan: Plan) -> Drill:
        drill = Drill(self.fair.scenario, self.fair.seed)
        play_inputs(drill, plan.acts)
        drill.advance_to(default_end(drill, plan.acts[-1].tick if plan.acts else 0))
        assert drill.total() == plan.score, "a lean drill that is worth something else than the whole one"
        return drill


def _key(plan: Plan) -> tuple[object, ...]:
    """Sorts the best plan first."""
    return plan.key


def _length(plan: Plan) -> tuple[object, ...]:
    """Sorts the plan with the fewest acts first."""
    return (len(plan.acts), *plan.key)
