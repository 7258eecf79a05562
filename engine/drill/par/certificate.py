"""What a search proves of a drill: fair par, the clairvoyant bound, the reference beside them, and their plans."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from engine.arithmetic import total
from engine.drill.authoring.scenario import varied
from engine.drill.authoring.schema import Scenario
from engine.drill.judging.score import TOTAL_MAX
from engine.drill.par import robust
from engine.drill.par.lean import Lean
from engine.drill.par.robust import Reaction
from engine.drill.par.search import Search, Spread
from engine.drill.par.trials import Plan
from engine.drill.par.waiting import Waiting
from engine.drill.running.drill import Drill, play_inputs
from engine.drill.running.solution import default_end, play_solution
from engine.inputs import Input, InputProblem
from engine.model import Tick, ticks
from engine.verbs.lines import parse_script

METHOD: Final = "best-first over plans, one of each length in turn"

SEEDS: Final = 4
"""Further seeds with which the reference is played. Assumed."""

LATE_S: Final = (10.0, 30.0)
"""By how much all acts of a plan may come late when the safest one is sought. Assumed."""

SAFEST_OF: Final = 3
"""Plans of which the safest is sought, the best ones and the shortest. Assumed."""

SHARES: Final = (0.5, 0.7)
"""Which share of the time is over when the fair search, and when the clairvoyant one ends. Assumed."""

BLUNDERS_SHARE: Final = 0.8
"""Which share is over when no more acts are tried for blunders. Assumed."""

WAITING_SHARE: Final = 0.9
"""Which share is over when no closer look is taken at what waiting costs; the rest is for other seeds. Assumed."""

Over = Callable[[float], bool]
"""Whether this share of the time is over."""


def _never(_: float) -> bool:
    return False


def plans(found: Mapping[str, Any]) -> list[list[Input]]:
    """The fair plans of a certificate."""
    over_seeds = [(found.get(name) or {}).get("plan") for name in ("robust", "safest")]
    lines = (found["par"]["plan"], found["shortest"], *over_seeds, found.get("last_chance"))
    return [_inputs(each) for each in lines if each]


def bound(found: Mapping[str, Any]) -> list[Input]:
    """The clairvoyant plan of a certificate."""
    return _inputs(found["clairvoyant"]["plan"])


def _inputs(lines: Sequence[str]) -> list[Input]:
    return parse_script("\n".join(lines))[0]


class Certifying:
    """The fair search, then the clairvoyant one with the fair plan as a seed, so that its bound is never less."""

    def __init__(
        self,
        scenario: Scenario,
        seed: int,
        spread: Spread | None = None,
        before: Mapping[str, Any] | None = None,
    ) -> None:
        """*spread*: what tries the decisions of either search; None: this process. *before*: an earlier certificate of
        the same drill, whose plans are played first, so that the new one proves as much at least."""
        self.fair = Search(scenario, seed, spread=spread)
        self.clairvoyant = Search(scenario, seed, fair=False, spread=spread)
        self.now = self.fair
        """The search that goes on."""
        self._enough = False
        self._before = before
        self._own = varied(scenario, seed).model_copy(update={"variants": {}})
        """What is wrong with this seed, for any other."""
        self._acts: dict[Plan, tuple[Reaction, ...]] = {}
        self._worth: dict[tuple[Plan, int], float] = {}
        """Of plans with other seeds."""

    def steps(self) -> Iterator[float]:
        """Go on by a node or less; yields the share of all the time at which the present search has to end."""
        known = [] if self._before is None else plans(self._before)
        for _ in self.fair.steps(known):
            yield SHARES[0]
            if self._enough and self.fair.begun_with_all:
                break
        self.now = self.clairvoyant
        self._enough = self._has_all()  # there is no better bound
        known = [] if self._before is None else [bound(self._before)]
        for _ in self.clairvoyant.steps(known, after=self.fair):
            if self._enough and self.clairvoyant.begun_with_all:
                break
            yield SHARES[-1]

    def _has_all(self) -> bool:
        """A fair plan has all points."""
        return self.fair.best is not None and self.fair.best.score == TOTAL_MAX

    def enough(self) -> None:
        """The present search has had its time: it ends as soon as it has played what it begins with."""
        self._enough = True

    def certificate(self, over: Over = _never) -> dict[str, Any]:
        """As `mirrordrill par --json` writes it; scores and hashes come from whole drills that play the plans again.

        What takes time ends when its share is *over*, and is told as far as it has come.
        """
        par, bound, reference = self.fair.best, self.clairvoyant.best, self.fair.reference
        assert par is not None and bound is not None, "doing nothing is a plan, and fair"
        runs = {plan: self._again(plan) for plan in dict.fromkeys((par, bound))}
        shortest = self.fair.shortest
        idle = next(plan for plan in self.fair.plans if not plan.acts)
        blunders = self.fair.blunders()
        for _ in blunders.steps():
            if over(BLUNDERS_SHARE):
                break
        waited = self._waited(idle, shortest)
        for _ in waited.steps():
            if over(WAITING_SHARE):
                break
        found = {
            "scenario": self.fair.scenario.name,
            "seed": self.fair.seed,
            "method": METHOD,
            "nodes": self.fair.nodes + self.clairvoyant.nodes,
            "complete": self.fair.complete and self.clairvoyant.complete,
            "optimal": self.fair.complete or self._has_all(),
            "par": {"score": runs[par].total(), "plan": par.lines},
            "clairvoyant": {"score": runs[bound].total(), "plan": bound.lines},
            "reference": {
                "score": None if reference is None else reference.score,
                "fair": None if reference is None else reference.fair,
            },
            "idle": {"score": idle.score},
            **waited.told(),
            **blunders.told,
            "shortest": shortest.lines if shortest is not None else None,
            "luck": self._luck(reference or idle, over),
            "robust": self._robust(over),
            "safest": self._safest(shortest, over),
            "traps": self._traps(),
            "hashes": {"par": runs[par].state_hash(), "clairvoyant": runs[bound].state_hash()},
        }
        return found if self._before is None else _with(self._before, found)

    def _waited(self, idle: Plan, shortest: Plan | None) -> Waiting:
        par = self.fair.best
        assert par is not None
        chances = [plan.acts for plan in self.fair.plans if plan.reached and plan.acts]
        known = [plan.acts for plan in (par, shortest) if plan is not None]
        # Of a later search from a moment, so that it need not be fair as a plan from the beginning.
        earlier = _inputs((self._before or {}).get("last_chance") or ())
        if earlier and all(state.met for state in self._come_to(earlier).goals.values()):
            chances.append(tuple(earlier))
        last_chance = () if idle.reached else max(chances, key=_begin, default=())
        return Waiting(self.fair.scenario, self.fair.seed, known, par.score, idle.score, last_chance)

    def _luck(self, plan: Plan, over: Over) -> dict[str, Any]:
        """What the reference is worth with further seeds beside its own: mean, least and most."""
        scores = [plan.score]
        for seed in self._seeds:
            if over(1.0):
                break
            run = Lean(self.fair.scenario, seed)
            with suppress(InputProblem):
                play_solution(run)
            scores.append(run.total())
        return {"seeds": len(scores) - 1, "mean": _mean(scores), "least": min(scores), "most": max(scores)}

    def _robust(self, over: Over) -> dict[str, Any] | None:
        """The plan that is worth most in the mean of several seeds with the same thing wrong, its own among them."""
        worth: dict[Plan, list[float]] = {}
        known = [*self._fair_reference, *self._known("robust")]
        for plan in dict.fromkeys([*robust.archive(self.fair.plans), *known]):
            scores = [plan.score, *self._elsewhere(plan, over)]
            if len(scores) <= SEEDS:
                break
            worth[plan] = scores
            if min(scores) == TOTAL_MAX:
                break
        best = max(worth, key=lambda plan: _mean(worth[plan]), default=None)
        found = None
        if best is not None:
            scores = worth[best]
            found = {"plan": best.lines, "seeds": SEEDS, "mean": _mean(scores), "least": min(scores)}
            found["most"] = max(scores)
        return self._or_earlier("robust", found, "mean", worth)

    def _known(self, name: str) -> list[Plan]:
        """The plan of this name in the earlier certificate."""
        earlier = self._earlier(name)
        return [] if earlier is None else [plan for plan in self.fair.plans if plan.lines == earlier["plan"]]

    def _earlier(self, name: str) -> dict[str, Any] | None:
        found: dict[str, Any] | None = None if self._before is None else self._before.get(name)
        return found

    def _or_earlier(
        self, name: str, found: dict[str, Any] | None, worth: str, weighed: Mapping[Plan, object]
    ) -> dict[str, Any] | None:
        """*found*, or what the earlier certificate has, if that is worth more and was not *weighed* again."""
        earlier = self._earlier(name)
        if earlier is None or all(plan in weighed for plan in self._known(name)):
            return found
        return earlier if found is None or found[worth] < earlier[worth] else found

    def _safest(self, shortest: Plan | None, over: Over) -> dict[str, Any] | None:
        """The plan that is worth most where it goes worst: with other seeds, and when every act comes late."""
        whole = [plan for plan in self.fair.plans if plan.reached]
        known = [*self._acts, *self._fair_reference, *self._known("safest")]
        best = [*heapq.nsmallest(SAFEST_OF, whole, key=_key), shortest, *known]
        least: dict[Plan, float] = {}
        for plan in dict.fromkeys(plan for plan in best if plan is not None and plan.reached):
            scores = [plan.score, *self._elsewhere(plan, over)]
            if len(scores) <= SEEDS:
                break
            least[plan] = min(*scores, *(self._late(plan, ticks(late_s)) for late_s in LATE_S))
        safest = min(least, key=lambda plan: (-least[plan], *plan.key), default=None)
        found = None if safest is None else {"plan": safest.lines, "least": least[safest]}
        return self._or_earlier("safest", found, "least", least)

    @property
    def _fair_reference(self) -> list[Plan]:
        return [plan for plan in [self.fair.reference] if plan is not None and plan.fair]

    @property
    def _seeds(self) -> range:
        return range(self.fair.seed + 1, self.fair.seed + 1 + SEEDS)

    def _elsewhere(self, plan: Plan, over: Over) -> list[float]:
        """What it is worth, as reactions, with other seeds; with another variant it is another drill."""
        scenario, seed = self.fair.scenario, self.fair.seed
        if plan not in self._acts:
            self._acts[plan] = robust.reactions(scenario, seed, plan.acts)
        for other in self._seeds:
            if (plan, other) not in self._worth and not over(1.0):
                self._worth[plan, other] = robust.react(Lean(self._own, other), self._acts[plan])
        return [self._worth[plan, other] for other in self._seeds if (plan, other) in self._worth]

    def _late(self, plan: Plan, late: Tick) -> float:
        return self._come_to(plan.acts, late).total()

    def _come_to(self, acts: Sequence[Input], late: Tick = 0) -> Lean:
        """The end of the run with all of them, each so *late*."""
        run = Lean(self.fair.scenario, self.fair.seed)
        for item in acts:
            run.advance_to(item.tick + late)
            with suppress(InputProblem):
                run.do(item.words)
        run.advance_to(default_end(run, run.tick))
        return run

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


def _mean(scores: Sequence[float]) -> float:
    return round(total(scores) / len(scores), 1)


def _begin(acts: Sequence[Input]) -> Tick:
    return acts[0].tick


def _key(plan: Plan) -> tuple[object, ...]:
    """Sorts the best plan first."""
    return plan.key


def _with(before: Mapping[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    """*found*, with what an earlier search has proved of the same bounds and this one had no time for."""
    if any(before[name].get("score") != found[name]["score"] for name in ("par", "clairvoyant")):
        return found
    found["nodes"] = max(before.get("nodes", 0), found["nodes"])
    for proved in ("complete", "optimal"):
        found[proved] = before.get(proved, False) or found[proved]
    same = before.get("choices") == found["choices"]
    if same and before.get("acts_tried", 0) > found["acts_tried"]:
        found |= {name: before[name] for name in ("acts_tried", "blunder_share")}
    sprung = {trap["name"]: trap["best"] for trap in before.get("traps") or () if trap["best"] is not None}
    for trap in found["traps"]:
        known = [best for best in (trap["best"], sprung.get(trap["name"])) if best is not None]
        trap["best"] = max(known, default=None)
    return found
