"""Search for par by varying known plans at the times at which an action is possible.

Every plan is played to its end. Thus the best plan so far is complete and its score exact at any time
(anytime algorithm). Every round takes the best open plan of each length, beginning with the length of the
best plan (after Rectangle Search, arXiv 2312.12554). Plans that lead to the same state with the same
remaining actions are merged. The result does not depend on the number of processes.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from typing import Final

from msgspec import Struct, field

from engine.drill.authoring.schema import Scenario
from engine.drill.judging.report_types import BLUNDER_POINTS_MIN
from engine.drill.par import continuations
from engine.drill.par.certificate_types import BlunderFields
from engine.drill.par.observability import needs_no_evidence
from engine.drill.par.search_drill import SearchDrill
from engine.drill.par.trials import (
    DECISION_POINTS_MAX,
    DecisionPoint,
    PlanPlayer,
    PlanSortKey,
    PlayedPlan,
    SearchLimits,
    Trial,
    try_input,
)
from engine.drill.time.cooperative_tasks import CooperativeTask, scale_progress
from engine.inputs import Input

EXTRA_ACTIONS_MAX: Final = 3
"""Maximum number of actions by which a plan may exceed the longest initial plan. Assumed."""

DecisionTester = Callable[
    [Sequence[DecisionPoint], SearchLimits, Set[bytes]], Iterator[Iterable[Trial | None]]
]
"""Function (decisions, limits, known states) -> trials of each decision, in the order of *decisions*.

Trials of known states may be included. An entry None is no trial: it lets the caller check the time.
"""


class ParSearch(Struct):
    """Search for par in a scenario with a seed. `run_steps` continues it.

    The results can be read at any time.
    """

    scenario: Scenario
    seed: int
    fair: bool = True
    """True for the fair search, whose plans act only after a symptom. False for the clairvoyant search, whose
    plans may use hidden information.
    """
    actions_max: int | None = None
    """Maximum number of actions of a plan. None means EXTRA_ACTIONS_MAX more than the longest initial plan."""
    decision_points_max: int = DECISION_POINTS_MAX
    """Maximum number of decision points of a plan."""
    offered_lines: tuple[str, ...] | None = None
    """Input lines that plans may use; None means all that the seat can try."""
    start: SearchDrill | None = None
    """State from which plans start; None means the start of the drill. Plans contain only later actions."""
    decision_tester: DecisionTester | None = None
    """Function that tries the decisions of a round in parallel. None means that this process tries them one
    by one.
    """
    node_count: int = 0
    """Number of plans that were played to their end."""
    complete: bool = False
    """True if all plans within actions_max and the decision points were tried."""
    has_played_initial_plans: bool = False
    """True if all initial plans were played."""
    reference: PlayedPlan | None = None
    """Reference solution as a plan; None without a solution."""
    best: PlayedPlan | None = None
    """Best plan so far."""
    plans: list[PlayedPlan] = field(default_factory=list)
    """Plans found so far, in the order of their discovery."""
    _open_plans: dict[int, list[tuple[tuple[float, int, bool], PlanSortKey, int, PlayedPlan]]] = field(
        default_factory=dict
    )
    """Number of actions -> plans whose variations were not yet tried, ordered by points, goals and novelty."""
    _known_features: set[str] = field(default_factory=set)
    """Features of the outcomes of all plans so far."""
    _known_hashes: set[bytes] = field(default_factory=set)
    """Hashes of the states that were already evaluated."""
    _trials: PlanPlayer | None = None

    def run_steps(
        self, initial_plans: Iterable[Sequence[Input]] = (), narrower_search: ParSearch | None = None
    ) -> Iterator[None]:
        """Search until all plans were tried.

        The generator yields after each node (a plan that was played to its end), and sometimes in
        between. *initial_plans*: plans to start from, in addition to the plan without actions and the
        reference. *narrower_search*: a search with narrower limits, whose plans are not played again.
        """
        trials = None if narrower_search is None else narrower_search._trials
        trials = self._trials = trials or PlanPlayer(self.scenario, self.seed, self.start)
        start_plans: list[PlayedPlan] = [] if narrower_search is None else list(narrower_search.plans)
        start_inputs = [tuple(actions) for actions in initial_plans]
        if narrower_search is None and self.start is None:
            start_plans.append(trials.play_reference(self._build_limits()))
            self.node_count += 1
            self.reference = start_plans[0] if trials.start_drill.scenario.solution else None
        if narrower_search is None:
            start_inputs.insert(0, ())
        if self.actions_max is None:
            self.actions_max = (
                max(len(actions) for actions in (*start_inputs, *(plan.actions for plan in start_plans)))
                + EXTRA_ACTIONS_MAX
            )
        for plan in start_plans:
            self._add_plan(plan)
        for actions in start_inputs:
            yield
            self._add_plan(trials.play(trials.start_drill.fork(), actions, self._build_limits()))
            self.node_count += 1
        self.has_played_initial_plans = True
        yield
        spread = self.decision_tester or self._try_in_process
        while plans := self._pop_round():
            decisions = [DecisionPoint(plan.actions, tick) for plan in plans for tick in plan.decision_ticks]
            for decision_trials in spread(decisions, self._build_limits(), self._known_hashes):
                for trial in decision_trials:
                    if trial is None or self._accept_trial(trial):
                        yield
        self.complete = True

    @property
    def shortest(self) -> PlayedPlan | None:
        """Plan with the fewest actions among those that reach every goal; None if no plan does."""
        return min((plan for plan in self.plans if plan.has_reached_goals), key=_get_length_key, default=None)

    def build_blunder_test(self) -> BlunderTest:
        """Return the test for blunders at the actions of the reference. It has not tried any action yet.

        If the reference is not fair or misses a goal, the actions are those of the best plan.
        """
        assert self._trials is not None and self.best is not None, "steps begins"
        has_reference = (
            self.reference is not None and self.reference.fair and self.reference.has_reached_goals
        )
        plan = self.reference if self.reference is not None and has_reference else self.best
        plans = [plan for plan in (self.best, self.shortest) if plan is not None]
        return BlunderTest(self._trials, plan, self._build_limits(), plans)

    # -- internal

    def _build_limits(self) -> SearchLimits:
        return SearchLimits(self.fair, self.actions_max or 0, self.decision_points_max, self.offered_lines)

    def _try_in_process(
        self, decisions: Sequence[DecisionPoint], limits: SearchLimits, known_states: Set[bytes]
    ) -> Iterator[Iterable[Trial | None]]:
        assert self._trials is not None, "steps begins"
        for decision in decisions:
            yield self._trials.try_neighbors(decision, limits, known_states)

    def _pop_round(self) -> list[PlayedPlan]:
        """Remove and return the best open plan of each length, beginning with the length of the best plan."""
        assert self.best is not None, "doing nothing is a plan"
        best = len(self.best.actions)
        lengths = sorted(self._open_plans, key=lambda length: (length != best, length))
        return [heapq.heappop(self._open_plans[length])[-1] for length in lengths if self._open_plans[length]]

    def _accept_trial(self, trial: Trial) -> bool:
        """Store *trial* if its state is new. Return whether a played plan was stored."""
        if trial.state in self._known_hashes:
            return False
        self._known_hashes.add(trial.state)
        if trial.plan is None:
            return False
        self.node_count += 1
        self._add_plan(trial.plan, trial.outcome_features)
        return True

    def _add_plan(self, plan: PlayedPlan, outcome_features: frozenset[str] = frozenset()) -> None:
        if self.fair and not plan.fair:
            return
        self.plans.append(plan)
        if self.best is None or plan.key < self.best.key:
            self.best = plan
        has_new_features = not outcome_features <= self._known_features
        self._known_features |= outcome_features
        entries = self._open_plans.setdefault(len(plan.actions), [])
        heapq.heappush(
            entries,
            ((-plan.score, -plan.met_goal_part_count, not has_new_features), plan.key, len(self.plans), plan),
        )


def _get_length_key(plan: PlayedPlan) -> tuple[object, ...]:
    """Return a sort key that puts the plan with the fewest actions first."""
    return (len(plan.actions), *plan.key)


# --- share of blunders among the available actions at each action of a plan ---------------------------------

# A blunder is an action after which every known continuation scores far less than the plan.

TESTED_ACTIONS_MAX: Final = 80
"""Maximum number of actions that a blunder test tries, spread over the plan.

Assumed: the share of blunders then has an error of at most a tenth in 19 of 20 cases.
"""

SCORE_STEP: Final = 0.1
"""Smallest difference between two total scores, in points."""

TEST_ORDER_MULTIPLIER: Final = 47
"""Multiplier in the sort key of the possible actions, so that any number of tests is spread evenly.

Assumed: any prime number.
"""


class BlunderTest(Struct):
    """Test that measures the share of blunders among the actions that a seat can try.

    `run_steps` refines the result, which can be read at any time. Before each action of the plan, all actions
    that are then possible are candidates for the test. Queries and waits of the plan are skipped, so that
    they do not influence the share.
    """

    trials: PlanPlayer
    plan: PlayedPlan
    """Plan whose decisions are tested."""
    limits: SearchLimits
    known_plans: Sequence[PlayedPlan]
    """Plans whose remaining parts also serve as continuations."""
    tested_count: int = 0
    """Number of tested actions."""
    blunder_count: int = 0
    """Number of blunders among the tested actions."""

    @property
    def certificate_fields(self) -> BlunderFields:
        """Share of blunders as fields of a certificate; the share is None if no action was tested."""
        return {
            "blunder_share": self.blunder_count / self.tested_count if self.tested_count else None,
            "acts_tried": self.tested_count,
            "choices": len([act for act in self.plan.actions if is_choice(act)]),
        }

    def run_steps(self) -> CooperativeTask[None]:
        """Test the possible actions, and yield the completed share of the work."""
        offered = []
        for choice in self._list_choices():
            offered.append(choice)
            yield 0.0
        order = sorted(range(len(offered)), key=lambda place: place * TEST_ORDER_MULTIPLIER % len(offered))[
            :TESTED_ACTIONS_MAX
        ]
        for number, position in enumerate(order):
            run, item, remaining_inputs = offered[position]
            drill = run.fork()
            try_input(drill, item)
            self.tested_count += 1
            self.blunder_count += yield from self._check_blunder(drill, remaining_inputs, number / len(order))
            yield number / len(order)

    def _list_choices(self) -> Iterator[tuple[SearchDrill, Input, Sequence[Input]]]:
        """Yield (run, action, remaining plan) for every possible action at every decision."""
        answers: set[str] = set()
        run = self.trials.start_drill.fork()
        for number, act in enumerate(self.plan.actions):
            run.advance_to(act.tick)
            search_drill = run.fork()
            for item in self.trials.list_candidates(search_drill, self.limits) if is_choice(act) else ():
                drill = search_drill.fork()
                if (
                    item.line_without_time in answers
                    or not try_input(drill, item)
                    or not is_choice(drill.journal[-1])
                ):
                    continue
                if (
                    item.verb == "answer"
                ):  # an answer is tested only once, even if the question is open at several decisions
                    answers.add(item.line_without_time)
                yield search_drill, item, self.plan.actions[number:]
            try_input(run, act)

    def _check_blunder(
        self, drill: SearchDrill, remaining_inputs: Sequence[Input], share: float
    ) -> CooperativeTask[bool]:
        score_min = self.plan.score - BLUNDER_POINTS_MIN
        if self.trials.play(drill.fork(), remaining_inputs, self.limits).score > score_min:
            return False
        if drill.journal[-1].verb == "answer":
            return True  # an answer cannot be changed later
        plans = [plan.actions for plan in (self.plan, *self.known_plans)]
        rollout_search = continuations.find_best_rollout(
            continuations.BaselineRun(drill),
            drill,
            continuations.list_continuations(drill, plans),
            score_min + SCORE_STEP,
        )
        rollout = yield from scale_progress(rollout_search, share, share)
        return rollout.score <= score_min


def is_choice(action: Input) -> bool:
    """Return whether the action can be a blunder. Inspections and messages cannot."""
    return action.verb == "answer" or not needs_no_evidence(action)
