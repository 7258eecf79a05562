"""Trials of the search for par: plans that vary a known plan from one decision point on, with their results.

A plan is a list of input lines with times. Its neighbors at a decision point have one additional action,
apply the next action now, or omit it. Each neighbor is played to its end, so that its score is exact.
"""

import hashlib
from bisect import bisect
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from engine.drill.authoring.condition_context import ConditionContext
from engine.drill.authoring.scenario import load_scenario
from engine.drill.authoring.schema import Scenario
from engine.drill.judging.score import SCORE_TOTAL_MAX
from engine.drill.par.candidate_actions import list_candidates, list_scenario_lines
from engine.drill.par.hidden_causes import HiddenCauseChecker
from engine.drill.par.noop_actions import is_noop
from engine.drill.par.observability import (
    find_next_whole_second,
    find_premature_inputs,
    is_observable,
    lacks_evidence,
    needs_no_evidence,
)
from engine.drill.par.search_drill import SearchDrill, compute_transposition_key
from engine.drill.running.solution import find_default_end, play_solution
from engine.inputs import Input, InputError
from engine.model import Tick, to_ticks

DECISION_DELAYS_S: Final = (10.0, 30.0, 60.0)
"""Delays between an observation and additional decision points, in seconds. Assumed.

At these points, a plan can act later instead of immediately.
"""

DECISION_POINTS_MAX: Final = 16
"""Maximum number of decision points of a run. Assumed: a DBA would reconsider as often."""

FIRST_DECISION_TICK: Final = to_ticks(1.0)
"""Tick of the first decision point, before any observation."""

PlanSortKey = tuple[float, int, tuple[tuple[Tick, str], ...]]
"""Sort key of a plan: points, number of actions, actions with their times."""


class PlayedPlan(Struct, frozen=True):
    """Plan that was played: its actions, its score and the decision points of its run."""

    actions: tuple[Input, ...]
    score: float
    has_reached_goals: bool
    """True if every goal is reached."""
    fair: bool
    """True if the plan uses only what the seat could observe."""
    decision_ticks: tuple[Tick, ...] = ()
    """Ticks of the decision points in the run of the plan."""
    sprung_traps: frozenset[str] = frozenset()
    """Traps into which the plan falls: forbidden states and scored actions, by their names in
    Drill.first_held.
    """
    met_goal_part_count: int = 0
    """Number of parts of goals that are met at the end."""
    timeline_counts: tuple[int, ...] = ()
    """Number of timeline events before each action."""

    @property
    def lines(self) -> list[str]:
        """Inputs as lines with times."""
        return [item.line for item in self.actions]

    @property
    def key(self) -> PlanSortKey:
        """Sort key that puts the best plan first: more points, then fewer actions, then earlier actions."""
        return (
            -self.score,
            len(self.actions),
            tuple((item.tick, item.line_without_time) for item in self.actions),
        )


class SearchLimits(Struct, frozen=True):
    """Limits of a search. Together with scenario and seed, they determine every trial."""

    fair: bool = True
    """True for the fair search, whose plans act only after a symptom. False for the clairvoyant search, whose
    plans may use hidden information.
    """
    actions_max: int = 0
    """Maximum number of actions of a plan."""
    decision_points_max: int = DECISION_POINTS_MAX
    """Maximum number of decision points of a plan."""
    offered_lines: tuple[str, ...] | None = None
    """Input lines that plans may use; None means all that the seat can try."""


class DecisionPoint(Struct, frozen=True):
    """Decision point of a known plan, at which the search tries the plan's neighbors."""

    actions: tuple[Input, ...]
    tick: Tick


class Trial(Struct, frozen=True):
    """Trial of one neighbor of a plan: the hash of its state, and the played plan."""

    state: bytes
    """Hash of the state at the decision and of the remaining actions. Trials with equal hashes have equal
    results.
    """
    plan: PlayedPlan | None
    """Played plan; None if the action had no effect, so that the original plan is at least as good."""
    outcome_features: frozenset[str] = frozenset()
    """Features of the plan's outcome; empty if the plan has the maximum score."""


NeighborPart = tuple[int, int]
"""(number from 0, count): one of *count* equal parts of the neighbors at a decision point."""

ALL_NEIGHBORS: Final = (0, 1)
"""Part that contains all neighbors."""


class DecisionState(Struct, frozen=True):
    """State of a plan's run at a decision point, with the plan's neighbors (its variations) at this point."""

    decision_key: tuple[DecisionPoint, SearchLimits]
    """Decision and limits that this state belongs to."""
    run: SearchDrill
    remaining_count: int
    """Number of actions of the plan that remain."""
    neighbors: tuple[tuple[Input | None, Sequence[Input]], ...]
    """(additional action now or None, actions that remain after it) of each neighbor."""


@dataclass(slots=True)
class PlanPlayer:
    """Player that plays variations of plans for one scenario and seed."""

    scenario: Scenario
    seed: int
    start: SearchDrill | None = None
    """State from which plans start; None means the start of the drill."""
    start_drill: SearchDrill = field(init=False)
    """Drill at the start of plans, which each trial forks."""
    _applied_count: int = field(init=False)
    """Number of actions of the run before the start. Plans do not contain them."""
    _hidden_causes: HiddenCauseChecker | None = field(init=False)
    """Checker for other causes with the same symptoms.

    None if there are no such causes, or if plans do not start at the beginning.
    """
    _known_lines: tuple[str, ...] = field(init=False)
    _idle: SearchDrill | None = None
    """Finished drill without actions; None until it is needed."""
    _last_decision: tuple[DecisionPoint, SearchDrill, list[Input]] | None = None
    """Preceding decision and its run, from which the next decision of the same plan continues."""
    _decision_state: DecisionState | None = None
    """State at the latest decision, kept because its neighbors may be tried in several parts."""

    def __post_init__(self) -> None:
        self.start_drill = SearchDrill(self.scenario, self.seed) if self.start is None else self.start.fork()
        self._applied_count = len(self.start_drill.journal)
        causes = (
            HiddenCauseChecker(self.scenario, self.seed)
            if self.scenario.variants and self.start is None
            else None
        )
        self._hidden_causes = causes if causes is not None and causes.has_alternatives else None
        self._known_lines = list_scenario_lines(
            self.start_drill.scenario, include_inspections=self._hidden_causes is not None
        )

    def try_neighbors(
        self,
        decision: DecisionPoint,
        limits: SearchLimits,
        known_states: Container[bytes] = (),
        part: NeighborPart = ALL_NEIGHBORS,
    ) -> Iterator[Trial | None]:
        """Yield a trial of each neighbor of a plan at one of its decision points.

        None is yielded for a neighbor that is impossible or whose state is in *known_states*, so that the
        caller can check the time. *part*: (number of the part, number of parts) of the neighbors to try.
        """
        crossing = self._get_decision_state(decision, limits)
        run, neighbors = crossing.run, crossing.neighbors
        number, part_count = part
        first, end = (len(neighbors) * part_number // part_count for part_number in (number, number + 1))
        for inserted, later_inputs in neighbors[first:end]:
            drill = run.fork()
            if inserted is not None and not try_input(drill, inserted):
                yield None
                continue
            state = hashlib.blake2b(compute_transposition_key(drill), digest_size=16)
            state.update("\n".join(item.line for item in later_inputs).encode())
            if state.digest() in known_states:
                yield None
                continue
            inserts_last = inserted is not None and len(later_inputs) == crossing.remaining_count
            has_no_effect = inserts_last and self._hidden_causes is None and is_noop(run, drill)
            plan = None if has_no_effect else self.play(drill, later_inputs, limits)
            has_better_plan = plan is not None and plan.score < SCORE_TOTAL_MAX
            yield Trial(
                state.digest(),
                plan,
                collect_outcome_features(self._play_idle(), drill) if has_better_plan else frozenset(),
            )

    def count_neighbors(self, decision: DecisionPoint, limits: SearchLimits) -> int:
        """Return the number of neighbors of a plan at this decision."""
        return len(self._get_decision_state(decision, limits).neighbors)

    def _get_decision_state(self, decision: DecisionPoint, limits: SearchLimits) -> DecisionState:
        if self._decision_state is None or self._decision_state.decision_key != (decision, limits):
            run, remaining_inputs = self._play_to_decision(decision)
            neighbors = () if run.finished else tuple(self.list_neighbors(run, remaining_inputs, limits))
            self._decision_state = DecisionState((decision, limits), run, len(remaining_inputs), neighbors)
        return self._decision_state

    def _play_idle(self) -> SearchDrill:
        """Return the finished drill without actions. Cached."""
        if self._idle is None:
            self._idle = self.start_drill.fork()
            self._idle.advance_to(find_default_end(self._idle))
        return self._idle

    def _play_to_decision(self, decision: DecisionPoint) -> tuple[SearchDrill, list[Input]]:
        """Return the run of a plan at a decision point, and the actions that remain."""
        run, remaining_inputs = self.start_drill.fork(), list(decision.actions)
        if self._last_decision is not None and self._last_decision[0].actions == decision.actions:
            before, known_run, inputs = self._last_decision
            if before.tick <= decision.tick:
                run, remaining_inputs = known_run.fork(), inputs.copy()
        while remaining_inputs and remaining_inputs[0].tick <= decision.tick:
            run.advance_to(remaining_inputs[0].tick)
            try_input(run, remaining_inputs.pop(0))
        run.advance_to(decision.tick)
        self._last_decision = decision, run, remaining_inputs
        return run, remaining_inputs

    def list_neighbors(
        self, run: SearchDrill, remaining_inputs: Sequence[Input], limits: SearchLimits
    ) -> Iterator[tuple[Input | None, Sequence[Input]]]:
        """Yield (action now or None, remaining actions) for each neighbor at this state of the run."""
        tick = run.tick
        if remaining_inputs:
            move_input = _move_input(remaining_inputs[0], tick)
            if needs_no_evidence(move_input) or not _lacks_evidence(run, limits):
                shift_ticks = remaining_inputs[0].tick - tick
                yield move_input, remaining_inputs[1:]
                yield (
                    move_input,
                    [_move_input(item, item.tick - shift_ticks) for item in remaining_inputs[1:]],
                )
            yield None, remaining_inputs[1:]
        if len(run.journal) - self._applied_count + len(remaining_inputs) < limits.actions_max:
            for item in self.list_candidates(run, limits):
                yield item, remaining_inputs

    def list_candidates(self, run: SearchDrill, limits: SearchLimits) -> Iterator[Input]:
        """Yield the inputs that the seat can try now."""
        is_blind = _lacks_evidence(run, limits)
        for line in (
            limits.offered_lines
            if limits.offered_lines is not None
            else list_candidates(run, self._known_lines)
        ):
            verb, _, arguments = line.partition(" ")
            if not is_blind or verb == "answer":
                yield Input(run.tick, verb, (arguments,))

    def play(self, drill: SearchDrill, actions: Sequence[Input], limits: SearchLimits) -> PlayedPlan:
        """Play *drill* to its end with *actions*, and return the plan without impossible actions."""
        for item in actions:
            drill.advance_to(item.tick)
            try_input(drill, item)
        return self.finish_plan(drill, limits)

    def play_reference(self, limits: SearchLimits) -> PlayedPlan:
        """Return the reference solution as a played plan.

        If there is no reference, or it cannot be applied, return a plan without actions.
        """
        drill = self.start_drill.fork()
        try:
            play_solution(drill)
        except InputError:
            return self.play(self.start_drill.fork(), (), limits)
        return self.finish_plan(drill, limits)

    def finish_plan(self, drill: SearchDrill, limits: SearchLimits) -> PlayedPlan:
        """Play *drill* to its end, and return its actions as a plan."""
        end = find_default_end(drill, drill.journal[-1].tick if drill.journal else 0)
        drill.advance_to(end)
        total, journal = drill.compute_total(), tuple(drill.journal[self._applied_count :])
        is_fair_plan = not find_premature_inputs(drill.scenario, drill.story_ticks, drill.events, journal)
        if limits.fair and is_fair_plan and self._hidden_causes is not None:
            is_fair_plan = self._hidden_causes.find_guess(journal) is None
        reached = all(state.is_reached for state in drill.goals.values())
        sprung_traps = frozenset(name for name, tick in drill.first_held.items() if tick is not None)
        first = FIRST_DECISION_TICK if self.start is None else self.start.tick
        happened = tuple(bisect(drill.story_ticks, item.tick) for item in journal)
        points = _find_decision_points(drill, first)[: limits.decision_points_max]
        return PlayedPlan(
            journal, total, reached, is_fair_plan, points, sprung_traps, count_met_goal_parts(drill), happened
        )


def try_input(drill: SearchDrill, input_: Input) -> bool:
    """Apply *input_* if possible, and return whether it was possible."""
    if drill.finished:
        return False
    try:
        drill.apply_line(input_.line_without_time)
    except InputError:
        return False
    return True


def _lacks_evidence(run: SearchDrill, limits: SearchLimits) -> bool:
    return limits.fair and lacks_evidence(run.scenario, run.story_ticks, run.events, run.tick)


def _move_input(input_: Input, tick: Tick) -> Input:
    return replace(input_, tick=tick)


def _find_decision_points(drill: SearchDrill, first_tick: Tick) -> tuple[Tick, ...]:
    """Return the decision points from *first_tick* on.

    They are *first_tick*, the whole second after each observation, and the points that follow these by
    DECISION_DELAYS_S.
    """
    ticks = {first_tick} | {
        find_next_whole_second(event.tick) for event in drill.events if is_observable(event)
    }
    shown_moments = sorted(tick for tick in ticks if tick >= first_tick)
    for tick, next_tick in zip(shown_moments, [*shown_moments[1:], drill.tick], strict=True):
        ticks |= {t for wait in DECISION_DELAYS_S if (t := tick + to_ticks(wait)) < next_tick}
    return tuple(sorted(tick for tick in ticks if first_tick <= tick < drill.tick))


# --- novelty of a plan's results --------------------------------------------------------------------------
# Among plans with equal points, plans that meet more parts of goals come first, then plans with new facts.
# This is best-first width search with width 1 (Lipovetzky and Geffner, AAAI 2017): a state is new if it has a
# fact that no earlier state had.

OBSERVABLE_WORLD_PARTS: Final = (
    "computers", "instances", "links", "copies", "witnesses", "clients", "nodes", "groups", "replicas", "listeners",
)  # fmt: skip
"""Observable parts of a world."""


def collect_outcome_features(idle: SearchDrill, drill: SearchDrill) -> frozenset[str]:
    """Return the features of the outcome of *drill*: differences from *idle*, and errors of servers.

    *idle*: finished drill without actions. A feature is a text without numbers.
    """
    facts = {f"{batch.server} {number}" for batch in drill._batches for number in batch.errors}
    for part in OBSERVABLE_WORLD_PARTS:
        before, new_value = getattr(idle.world, part), getattr(drill.world, part)
        for key, value in new_value.items():
            if value is not before.get(key):
                facts.update(f"{part} {key} {change}" for change in _list_changes(before.get(key), value))
        facts.update(f"{part} {key} gone" for key in before.keys() - new_value.keys())
    return frozenset(facts)


def _list_changes(old_value: object, new_value: object) -> Iterator[str]:
    """Yield the fields of *new_value* that differ from *old_value*. Numbers are ignored."""
    if isinstance(new_value, bool | str | Enum) or new_value is None:
        yield str(new_value)
    elif isinstance(new_value, tuple):
        yield from (change for item in new_value for change in _list_changes(None, item))
    elif isinstance(new_value, Struct):
        for name in new_value.__struct_fields__:
            value, old = getattr(new_value, name), getattr(old_value, name, None)
            if value != old:
                yield from (f"{name} {change}" for change in _list_changes(old, value))


def count_met_goal_parts(drill: SearchDrill) -> int:
    """Return the number of met parts in the conditions of all goals. The operator `and` separates parts."""
    facts, held_parts = ConditionContext(drill.world, drill._batches, drill._operations, drill.calls), 0
    for goal in drill.scenario.goals:
        drill.is_condition_met(goal.when)  # this call parses the condition, so that `_conditions` contains it
        held_parts += len([part for part in drill._conditions[goal.when].operand_tests if part(facts)])
    return held_parts


# --- trials as jobs of a worker process, which receives only the text of the drill ------------------------

DrillSpec = tuple[str, str, int]
"""(name of the scenario, text of the scenario, seed)."""


def preload_drill(drill: DrillSpec) -> None:
    """Load the drill, and everything that its trials need, into this process."""
    trials = _load_plan_player(drill)
    trials.play(trials.start_drill.fork(), (), SearchLimits())


def run_trials(
    search: str,
    drill: DrillSpec,
    limits: SearchLimits,
    new_states: Sequence[bytes],
    decision: DecisionPoint,
    part: NeighborPart,
    remembers_own_states: bool,
) -> list[Trial]:
    """Return the trials of one part of a decision's neighbors, except those with known states.

    *search*: key of the search. *new_states*: states that have become known since the last job.
    *remembers_own_states*: True if states found by this process count as known in its later jobs. This is
    allowed only if the process runs all its jobs in order and repeats none: the caller then knows these
    states, too.
    """
    states = _get_known_states(search, limits)
    states.update(new_states)
    trials = []
    for trial in _load_plan_player(drill).try_neighbors(decision, limits, states, part):
        if trial is not None:
            trials.append(trial)
            if remembers_own_states:
                states.add(trial.state)
    return trials


@lru_cache(maxsize=1)
def _load_plan_player(drill: DrillSpec) -> PlanPlayer:
    name, text, seed = drill
    return PlanPlayer(load_scenario(text, f"{name}.toml"), seed)


@lru_cache(maxsize=2)  # one entry each for the fair and the clairvoyant search
def _get_known_states(search: str, limits: SearchLimits) -> set[bytes]:
    """Return the states of *search* that this process knows. The caller may add to the set."""
    return set()
