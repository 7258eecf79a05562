"""The search for par: plans are mended at the moments at which an act is possible, the most promising first.

Every plan is played to its end, so that at any time the best one so far is whole and its score exact (anytime); every
round takes the best open plan of each length, that of the best plan first (after Rectangle Search, arXiv 2312.12554).
Plans that lead to the same state with the same rest ahead are one. What is found does not depend on how many processes
try the decisions of a round.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Final

from engine.drill.authoring.schema import Scenario
from engine.drill.par.blunders import Blunders
from engine.drill.par.lean import Lean
from engine.drill.par.trials import POINTS_MAX, Decision, Key, Plan, Rules, Trial, Trials
from engine.inputs import Input

DEEDS_MORE: Final = 3
"""Acts that a plan may have more than the reference. Assumed."""

Spread = Callable[[Sequence[Decision], Rules, Set[bytes]], Iterator[Iterable[Trial | None]]]
"""(decisions, rules, states that are known when it is asked) -> the trials of each decision, in their order. Trials of
known states may be among them, and None where there is only time to look at the clock."""


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
    start: Lean | None = None
    """Search from this moment of a run on; None: from the beginning. Plans hold what is done after it alone."""
    spread: Spread | None = None
    """What tries the decisions of a round; None: this process, one after another."""
    nodes: int = 0
    complete: bool = False
    """Nothing is left to try within deeds_max and the decision points."""
    begun_with_all: bool = False
    """Every plan to begin with has been played."""
    reference: Plan | None = None
    best: Plan | None = None
    plans: list[Plan] = field(default_factory=list)
    _open: dict[int, list[tuple[tuple[float, int, bool], Key, int, Plan]]] = field(default_factory=dict)
    """Of each length, those with more points first, then with more of what goals ask for, then with something new."""
    _facts: set[str] = field(default_factory=set)
    """What any plan has brought about."""
    _known: set[bytes] = field(default_factory=set)
    _trials: Trials | None = None

    def steps(self, seeds: Iterable[Sequence[Input]] = (), after: Search | None = None) -> Iterator[None]:
        """Search until nothing is left, with a pause after each node (a plan played to its end), and some between.

        *seeds*: further plans to begin with, beside doing nothing and the reference solution. *after*: a search with
        narrower rules, whose plans are played already.
        """
        trials = None if after is None else after._trials
        trials = self._trials = trials or Trials(self.scenario, self.seed, self.start)
        begun: list[Plan] = [] if after is None else list(after.plans)
        given = [tuple(acts) for acts in seeds]
        if after is None and self.start is None:
            begun.append(trials.reference(self._rules()))
            self.nodes += 1
            self.reference = begun[0] if trials.begun.scenario.solution else None
        if after is None:
            given.insert(0, ())
        if self.deeds_max is None:
            self.deeds_max = max(len(acts) for acts in (*given, *(plan.acts for plan in begun))) + DEEDS_MORE
        for plan in begun:
            self._keep(plan)
        for acts in given:
            yield
            self._keep(trials.play(trials.begun.fork(), acts, self._rules()))
            self.nodes += 1
        self.begun_with_all = True
        yield
        spread = self.spread or self._here
        while plans := self._round():
            decisions = [Decision(plan.acts, tick) for plan in plans for tick in plan.points]
            for several in spread(decisions, self._rules(), self._known):
                for trial in several:
                    if trial is None or self._take(trial):
                        yield
        self.complete = True

    def run(self, nodes: int, seeds: Iterable[Sequence[Input]] = ()) -> Search:
        """Search with at most so many nodes."""
        for _ in takewhile(lambda _: self.nodes < nodes, self.steps(seeds)):
            pass
        return self

    @property
    def shortest(self) -> Plan | None:
        """The plan with the fewest acts of those that reach every goal."""
        return min((plan for plan in self.plans if plan.reached), key=_length, default=None)

    def blunders(self) -> Blunders:
        """Among the acts on offer where the reference acts, whatever was searched; where it shows no fair way to every
        goal, along the best plan. They are still to be tried."""
        assert self._trials is not None and self.best is not None, "steps begins"
        shown = self.reference is not None and self.reference.fair and self.reference.reached
        plan = self.reference if self.reference is not None and shown else self.best
        known = [plan for plan in (self.best, self.shortest) if plan is not None]
        return Blunders(self._trials, plan, self._rules(), known)

    # --- inside -----------------------------------------------------------------------------------------------

    def _rules(self) -> Rules:
        return Rules(self.fair, self.deeds_max or 0, self.points_max, self.offered)

    def _here(
        self, decisions: Sequence[Decision], rules: Rules, known: Set[bytes]
    ) -> Iterator[Iterable[Trial | None]]:
        assert self._trials is not None, "steps begins"
        for decision in decisions:
            yield self._trials.at(decision, rules, known)

    def _round(self) -> list[Plan]:
        """The best open plan of each length, that of the best plan's length first."""
        assert self.best is not None, "doing nothing is a plan"
        best = len(self.best.acts)
        lengths = sorted(self._open, key=lambda length: (length != best, length))
        return [heapq.heappop(self._open[length])[-1] for length in lengths if self._open[length]]

    def _take(self, trial: Trial) -> bool:
        """Keep a trial whose state is new; whether a plan was played."""
        if trial.state in self._known:
            return False
        self._known.add(trial.state)
        if trial.plan is None:
            return False
        self.nodes += 1
        self._keep(trial.plan, trial.facts)
        return True

    def _keep(self, plan: Plan, facts: frozenset[str] = frozenset()) -> None:
        if self.fair and not plan.fair:
            return
        self.plans.append(plan)
        if self.best is None or plan.key < self.best.key:
            self.best = plan
        new = not facts <= self._facts
        self._facts |= facts
        entries = self._open.setdefault(len(plan.acts), [])
        heapq.heappush(entries, ((-plan.score, -plan.held, not new), plan.key, len(self.plans), plan))


def _length(plan: Plan) -> tuple[object, ...]:
    """Sorts the plan with the fewest acts first."""
    return (len(plan.acts), *plan.key)
