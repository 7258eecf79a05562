"""Cost of waiting in a drill, and the last time at which every goal is still reachable.

V(t) is the best score that is still reachable if nothing is done until t. The cost of waiting is the fall of
V(t).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, takewhile
from typing import Final

from msgspec.structs import replace

from engine.constants import TICKS_PER_S
from engine.drill.authoring.schema import Scenario
from engine.drill.par import continuations
from engine.drill.par.certificate_types import WaitingCostFields
from engine.drill.par.continuations import BaselineRun
from engine.drill.par.observability import find_next_whole_second, is_observable
from engine.drill.par.search import ParSearch
from engine.drill.par.search_drill import SearchDrill
from engine.drill.running.solution import find_default_end
from engine.drill.time.cooperative_tasks import CooperativeTask
from engine.inputs import Input
from engine.model import Tick, to_ticks

WAIT_OBSERVATIONS_MAX: Final = 12
"""Maximum number of observations at which the best reachable score is computed. Assumed.

The first observations during the wait are chosen.
"""

LATE_PLANS_MIN: Final = 200
"""Number of plans with a later start that must fail before a point of no return is accepted. Assumed.

In half of the shipped drills, one of these plans succeeds, so that the point moves to a later time.
"""


@dataclass(slots=True)
class WaitingCost:
    """Cost of waiting in a drill. `run_steps` refines it, and the results can be read at any time.

    V(t) is the best score of a known plan after a wait until t: a lower bound of the reachable score. The
    point of no return is the latest known start of a plan that reaches all goals; the true one may be later.
    """

    scenario: Scenario
    seed: int
    plans: Sequence[Sequence[Input]]
    """Plans that a search found, best first."""
    par: float
    """Score of the best plan."""
    idle: float
    """Score of a run without actions."""
    last_chance: Sequence[Input] = ()
    """Plan that reaches every goal and starts latest; empty if there is none, or if a run without actions
    reaches all.
    """
    _values: dict[Tick, float] = field(init=False)
    """Tick -> best reachable score, for each tick at which it was computed."""
    _idle_run: BaselineRun = field(init=False)
    _goal_reaching_plans: list[Sequence[Input]] = field(default_factory=list)
    """Plans that reach every goal and were found by a search from a later time."""
    _exact_ticks: set[Tick] = field(default_factory=set)
    """Ticks at which the best reachable score was computed with all continuations.

    The score does not increase from one of these ticks to the next.
    """

    def __post_init__(self) -> None:
        drill = SearchDrill(self.scenario, self.seed)
        self._idle_run = BaselineRun(drill)
        self._values = {0: self.par, find_default_end(drill): self.idle}
        self._exact_ticks.update(self._values)

    @property
    def point_of_no_return(self) -> Tick | None:
        """Last tick from which every goal is known to be reachable.

        The value is None if a run without actions reaches every goal, or if no plan does.
        """
        return self.last_chance[0].tick if self.last_chance else None

    def run_steps(self) -> CooperativeTask[None]:
        """Refine the result. Runs in slices."""
        end = max(self._values)
        stops = yield from self._find_observation_ticks(end)
        if self.point_of_no_return is not None:
            drill = yield from self._idle_run.fork_at(0)
            yield from self._find_point_of_no_return(
                end, continuations.list_remaining_parts(drill, [self.last_chance, *self.plans])
            )
        yield from self._compute_curve(end, stops)
        while self.point_of_no_return is not None and (inputs := (yield from self._find_later_plan(end))):
            self.last_chance = inputs
            self._goal_reaching_plans.insert(0, inputs)
            self._exact_ticks = {0, end}
            rests = [
                continuations.build_plan_continuation(inputs[first_index:])
                for first_index in range(len(inputs))
            ]
            yield from self._find_point_of_no_return(end, rests)
        if self._goal_reaching_plans:
            yield from self._compute_curve(end, stops)

    def build_certificate_fields(self) -> WaitingCostFields:
        """Return the results as fields of a certificate."""
        points: list[tuple[Tick, float]] = []
        best = self.idle
        for tick in sorted(
            self._values, reverse=True
        ):  # a value is also reachable from each earlier tick, by waiting
            best = max(best, self._values[tick])
            points.append((tick, best))
        points = [
            *points[-1:],
            *(
                later_point
                for before, later_point in pairwise(reversed(points))
                if later_point[1] != before[1]
            ),
        ]
        point = self.point_of_no_return
        return {
            "point_of_no_return_s": None if point is None else point / TICKS_PER_S,
            "last_chance": None if point is None else [item.line for item in self.last_chance],
            "curve": {
                "t_s": [tick / TICKS_PER_S for tick, _ in points],
                "best": [best for _, best in points],
            },
        }

    # --- internal -------------------------------------------------------------------------------------------

    def _find_observation_ticks(self, end: Tick) -> CooperativeTask[list[Tick]]:
        """Return the ticks at which a seat without actions would react to an observation."""
        run = yield from self._idle_run.fork_at(end)
        stops = sorted({find_next_whole_second(event.tick) for event in run.events if is_observable(event)})
        return [tick for tick in stops if tick < end][:WAIT_OBSERVATIONS_MAX]

    def _find_point_of_no_return(
        self, end: Tick, candidates: Iterable[continuations.Continuation]
    ) -> CooperativeTask[None]:
        """Find the point of no return by delaying the *candidates* as long as possible."""
        for step in continuations.find_last_chances(
            self._idle_run, self.last_chance[0].tick, end, candidates
        ):
            if isinstance(step, tuple):
                _, rollout = step
                self.last_chance = rollout.actions
            else:
                yield step
        yield from self._evaluate_tick(self.last_chance[0].tick)

    def _compute_curve(self, end: Tick, observation_ticks: Sequence[Tick]) -> CooperativeTask[None]:
        """Compute the best reachable score around the point of no return and at *observation_ticks*.

        Ticks between two ticks with equal scores are omitted, because the score cannot increase.
        """
        if self.point_of_no_return is not None:
            for tick in (
                self.point_of_no_return,
                min(end, self.point_of_no_return + to_ticks(continuations.LAST_CHANCE_PRECISION_S)),
            ):
                yield from self._evaluate_tick(tick)
        spans = [(0, end)]
        while spans:
            first, last = spans.pop()
            inner_stops = [tick for tick in observation_ticks if first < tick < last]
            if inner_stops and self._values[first] != self._values[last]:
                middle = inner_stops[len(inner_stops) // 2]
                yield from self._evaluate_tick(middle)
                spans += [(middle, last), (first, middle)]

    def _find_later_plan(self, end: Tick) -> CooperativeTask[Sequence[Input]]:
        """Return a plan that begins after the last chance and reaches every goal; empty if none is found."""
        tick = self.last_chance[0].tick + to_ticks(continuations.LAST_CHANCE_PRECISION_S)
        run = yield from self._idle_run.fork_at(min(tick, end))
        if run.finished or run.tick >= end:
            return ()
        search = ParSearch(self.scenario, self.seed, start=run)
        shifted_plans = [_shift_plan(plan, tick) for plan in (self.last_chance, *self.plans)]
        for _ in takewhile(lambda _: search.node_count < LATE_PLANS_MIN, search.run_steps(shifted_plans)):
            if search.plans and search.plans[-1].has_reached_goals:
                return search.plans[-1].actions
            yield 0.0
        return ()

    def _evaluate_tick(self, tick: Tick) -> CooperativeTask[None]:
        """Compute the best reachable score at *tick* with all continuations."""
        if tick not in self._exact_ticks:
            run = yield from self._idle_run.fork_at(tick)
            before = self._values[
                max(weighed_tick for weighed_tick in self._exact_ticks if weighed_tick < tick)
            ]
            shifted_plans = [_shift_plan(plan, tick) for plan in self._goal_reaching_plans]
            known_continuations = continuations.list_continuations(
                run, [self.last_chance, *shifted_plans, *self.plans]
            )
            rollout = yield from continuations.find_best_rollout(
                self._idle_run, run, known_continuations, threshold=before
            )
            self._values[tick] = max(rollout.score, self._values.get(tick, 0.0))
            self._exact_ticks.add(tick)


def _shift_plan(plan: Sequence[Input], tick: Tick) -> tuple[Input, ...]:
    """Return the plan, shifted so that its first action is at *tick*."""
    return tuple(replace(item, tick=tick + item.tick - plan[0].tick) for item in plan)
