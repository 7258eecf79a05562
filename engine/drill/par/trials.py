"""Trials of the search for par: results of plans that differ from a known plan from one decision point on.

A plan is a list of input lines with times. Its neighbors at a decision point have one action more, the next
action now, or the next action left out. Each is played to its end, so that its score is exact.
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

from engine.drill.authoring.facts import Facts
from engine.drill.authoring.scenario import load_scenario
from engine.drill.authoring.schema import Scenario
from engine.drill.judging.score import TOTAL_MAX
from engine.drill.par.candidate_actions import list_candidates, list_scenario_lines
from engine.drill.par.hidden_causes import HiddenCauses
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

WAITS_S: Final = (10.0, 30.0, 60.0)
"""Seconds of waiting after the last observation, as alternatives to an immediate action. Assumed."""

POINTS_MAX: Final = 16
"""Maximum number of decision points of a run. Assumed: as often as a DBA would reconsider."""

BEGIN: Final = to_ticks(1.0)
"""Tick of the first decision point, before any observation."""

Key = tuple[float, int, tuple[tuple[Tick, str], ...]]


class SearchPlan(Struct, frozen=True):
    """Plan with its actions and times, and its score."""

    actions: tuple[Input, ...]
    score: float
    reached: bool
    """True if every goal is reached."""
    fair: bool
    """True if the plan uses only what the seat could see."""
    points: tuple[Tick, ...] = ()
    """Ticks of the decision points in the run of this plan."""
    sprung: frozenset[str] = frozenset()
    """Traps that it falls into: forbidden states and priced actions, by their names in Drill.first_held."""
    met_parts: int = 0
    """Number of goal parts that are met at its end."""
    happened: tuple[int, ...] = ()
    """Number of timeline events before each of its actions."""

    @property
    def lines(self) -> list[str]:
        """Return the inputs as lines with times."""
        return [item.line for item in self.actions]

    @property
    def key(self) -> Key:
        """Return a sort key; better plans first: more points, then fewer actions, then earlier actions."""
        return (
            -self.score,
            len(self.actions),
            tuple((item.tick, item.line_without_time) for item in self.actions),
        )


class SearchLimits(Struct, frozen=True):
    """Limits of a search. Together with scenario and seed they determine every trial."""

    fair: bool = True
    """True: plans act only after a symptom (fair). False: plans may use hidden information (clairvoyant)."""
    actions_max: int = 0
    """Maximum number of actions of a plan."""
    points_max: int = POINTS_MAX
    offered: tuple[str, ...] | None = None
    """Inputs that plans may use; None means all inputs that the seat can try."""


class Decision(Struct, frozen=True):
    """Decision point of a known plan."""

    actions: tuple[Input, ...]
    tick: Tick


class Trial(Struct, frozen=True):
    """Plan that was tried at a decision."""

    state: bytes
    """Hash of the state and the remaining actions. Trials with equal hashes have equal results."""
    plan: SearchPlan | None
    """Result; None if the action had no effect, so that the plan of the decision is at least as good."""
    facts: frozenset[str] = frozenset()
    """Facts that the plan produces; empty if a higher score is impossible."""


Part = tuple[int, int]
"""(number from 0, count): a share of a plan's neighbors at a decision point, in order."""

ALL_NEIGHBORS: Final = (0, 1)


class DecisionState(Struct, frozen=True):
    """Run at a decision, with every neighbor of the plan."""

    asked: tuple[Decision, SearchLimits]
    run: SearchDrill
    remaining_count: int
    """Number of the plan's remaining actions."""
    neighbors: tuple[tuple[Input | None, Sequence[Input]], ...]
    """(action now, actions that remain after it) of each neighbor."""


@dataclass(slots=True)
class Trials:
    """Player of plans for one scenario and seed."""

    scenario: Scenario
    seed: int
    start: SearchDrill | None = None
    """State at which plans start; None means the start of the drill."""
    start_drill: SearchDrill = field(init=False)
    """Drill at the start of plans; trials fork it."""
    _applied_count: int = field(init=False)
    """Number of the run's actions before the start. They belong to no plan."""
    _causes: HiddenCauses | None = field(init=False)
    """Alternative causes of the same symptoms; None means there are none, or the run is too far advanced."""
    _known_lines: tuple[str, ...] = field(init=False)
    _idle: SearchDrill | None = None
    _last_decision: tuple[Decision, SearchDrill, list[Input]] | None = None
    """Run of the preceding decision, from which the next decision of the same plan continues."""
    _crossing: DecisionState | None = None
    """Latest decision, whose neighbors may be tried in several parts."""

    def __post_init__(self) -> None:
        self.start_drill = SearchDrill(self.scenario, self.seed) if self.start is None else self.start.fork()
        self._applied_count = len(self.start_drill.journal)
        causes = (
            HiddenCauses(self.scenario, self.seed) if self.scenario.variants and self.start is None else None
        )
        self._causes = causes if causes is not None and causes.has_alternatives else None
        self._known_lines = list_scenario_lines(self.start_drill.scenario, looking=self._causes is not None)

    def try_neighbors(
        self,
        decision: Decision,
        rules: SearchLimits,
        known_states: Container[bytes] = (),
        part: Part = ALL_NEIGHBORS,
    ) -> Iterator[Trial | None]:
        """Yield a trial of every neighbor of a plan at one of its decision points.

        Yield None for neighbors whose state is in *known_states*, so that the caller can check the time.
        *part*: share of the neighbors to try.
        """
        crossing = self._get_decision_state(decision, rules)
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
            has_no_effect = inserts_last and self._causes is None and is_noop(run, drill)
            plan = None if has_no_effect else self.play(drill, later_inputs, rules)
            has_better_plan = plan is not None and plan.score < TOTAL_MAX
            yield Trial(
                state.digest(),
                plan,
                collect_facts(self._play_idle(), drill) if has_better_plan else frozenset(),
            )

    def count_neighbors(self, decision: Decision, rules: SearchLimits) -> int:
        """Return the number of plans that differ from the current plan from this decision on."""
        return len(self._get_decision_state(decision, rules).neighbors)

    def _get_decision_state(self, decision: Decision, rules: SearchLimits) -> DecisionState:
        if self._crossing is None or self._crossing.asked != (decision, rules):
            run, remaining_inputs = self._play_to_decision(decision)
            neighbors = () if run.finished else tuple(self.list_neighbors(run, remaining_inputs, rules))
            self._crossing = DecisionState((decision, rules), run, len(remaining_inputs), neighbors)
        return self._crossing

    def _play_idle(self) -> SearchDrill:
        """Return the end of the drill without actions."""
        if self._idle is None:
            self._idle = self.start_drill.fork()
            self._idle.advance_to(find_default_end(self._idle))
        return self._idle

    def _play_to_decision(self, decision: Decision) -> tuple[SearchDrill, list[Input]]:
        """Return the run of a plan at a decision point, and its remaining actions."""
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
        self, run: SearchDrill, remaining_inputs: Sequence[Input], rules: SearchLimits
    ) -> Iterator[tuple[Input | None, Sequence[Input]]]:
        """Yield (action now, remaining actions) of each neighbor at this state of the run."""
        tick = run.tick
        if remaining_inputs:
            move_input = _move_input(remaining_inputs[0], tick)
            if needs_no_evidence(move_input) or not _lacks_evidence(run, rules):
                shift_ticks = remaining_inputs[0].tick - tick
                yield move_input, remaining_inputs[1:]
                yield (
                    move_input,
                    [_move_input(item, item.tick - shift_ticks) for item in remaining_inputs[1:]],
                )
            yield None, remaining_inputs[1:]
        if len(run.journal) - self._applied_count + len(remaining_inputs) < rules.actions_max:
            for item in self.list_candidates(run, rules):
                yield item, remaining_inputs

    def list_candidates(self, run: SearchDrill, rules: SearchLimits) -> Iterator[Input]:
        """Yield the inputs that the seat could try now."""
        is_blind = _lacks_evidence(run, rules)
        for line in rules.offered if rules.offered is not None else list_candidates(run, self._known_lines):
            verb, _, arguments = line.partition(" ")
            if not is_blind or verb == "answer":
                yield Input(run.tick, verb, (arguments,))

    def play(self, drill: SearchDrill, actions: Sequence[Input], rules: SearchLimits) -> SearchPlan:
        """Play *drill* to its end with *actions*. Return the plan without impossible actions."""
        for item in actions:
            drill.advance_to(item.tick)
            try_input(drill, item)
        return self.finish_plan(drill, rules)

    def play_reference(self, rules: SearchLimits) -> SearchPlan:
        """Return the reference solution as a plan, or a plan without actions if it is missing or impossible."""
        drill = self.start_drill.fork()
        try:
            play_solution(drill)
        except InputError:
            return self.play(self.start_drill.fork(), (), rules)
        return self.finish_plan(drill, rules)

    def finish_plan(self, drill: SearchDrill, rules: SearchLimits) -> SearchPlan:
        """Play *drill* to its end and return the plan of its actions."""
        end = find_default_end(drill, drill.journal[-1].tick if drill.journal else 0)
        drill.advance_to(end)
        total, journal = drill.compute_total(), tuple(drill.journal[self._applied_count :])
        is_fair_plan = not find_premature_inputs(drill.scenario, drill.story_ticks, drill.events, journal)
        if rules.fair and is_fair_plan and self._causes is not None:
            is_fair_plan = self._causes.find_guess(journal) is None
        reached = all(state.is_reached for state in drill.goals.values())
        sprung_traps = frozenset(name for name, tick in drill.first_held.items() if tick is not None)
        first = BEGIN if self.start is None else self.start.tick
        happened = tuple(bisect(drill.story_ticks, item.tick) for item in journal)
        points = _find_decision_points(drill, first)[: rules.points_max]
        return SearchPlan(
            journal, total, reached, is_fair_plan, points, sprung_traps, count_held_parts(drill), happened
        )


def try_input(drill: SearchDrill, input_: Input) -> bool:
    """Apply *input_* if possible. Return whether it was possible."""
    if drill.finished:
        return False
    try:
        drill.apply_line(input_.line_without_time)
    except InputError:
        return False
    return True


def _lacks_evidence(run: SearchDrill, rules: SearchLimits) -> bool:
    return rules.fair and lacks_evidence(run.scenario, run.story_ticks, run.events, run.tick)


def _move_input(input_: Input, tick: Tick) -> Input:
    return replace(input_, tick=tick)


def _find_decision_points(drill: SearchDrill, first_tick: Tick) -> tuple[Tick, ...]:
    """Return the decision points from *first_tick* on.

    They are the second after each observation, and some times later.
    """
    ticks = {first_tick} | {
        find_next_whole_second(event.tick) for event in drill.events if is_observable(event)
    }
    shown_moments = sorted(tick for tick in ticks if tick >= first_tick)
    for tick, next_tick in zip(shown_moments, [*shown_moments[1:], drill.tick], strict=True):
        ticks |= {t for wait in WAITS_S if (t := tick + to_ticks(wait)) < next_tick}
    return tuple(sorted(tick for tick in ticks if first_tick <= tick < drill.tick))


# --- novelty of a plan's results --------------------------------------------------------------------------
# Among plans with equal points, those that meet more parts of goals come first. Among these, plans with new
# facts come first. Lipovetzky and Geffner, Best-first width search (AAAI 2017), with width 1: a state is new
# if it has a fact that no earlier state had.

PARTS: Final = (
    "computers", "instances", "links", "copies", "witnesses", "clients", "nodes", "groups", "replicas", "listeners",
)  # fmt: skip
"""Observable parts of a world."""


def collect_facts(idle: SearchDrill, drill: SearchDrill) -> frozenset[str]:
    """Return the facts at the end of *drill* that differ from *idle*, and the errors that servers returned.

    Facts contain no numbers.
    """
    facts = {f"{batch.server} {number}" for batch in drill._batches for number in batch.errors}
    for part in PARTS:
        before, new_value = getattr(idle.world, part), getattr(drill.world, part)
        for key, value in new_value.items():
            if value is not before.get(key):
                facts.update(f"{part} {key} {change}" for change in _list_changes(before.get(key), value))
        facts.update(f"{part} {key} gone" for key in before.keys() - new_value.keys())
    return frozenset(facts)


def _list_changes(old_value: object, new_value: object) -> Iterator[str]:
    """Yield the fields, other than numbers, that differ between *new_value* and *old_value*."""
    if isinstance(new_value, bool | str | Enum) or new_value is None:
        yield str(new_value)
    elif isinstance(new_value, tuple):
        yield from (change for item in new_value for change in _list_changes(None, item))
    elif isinstance(new_value, Struct):
        for name in new_value.__struct_fields__:
            value, old = getattr(new_value, name), getattr(old_value, name, None)
            if value != old:
                yield from (f"{name} {change}" for change in _list_changes(old, value))


def count_held_parts(drill: SearchDrill) -> int:
    """Return how many parts of goals, joined by `and`, are met."""
    facts, held_parts = Facts(drill.world, drill._batches, drill._operations, drill.calls), 0
    for goal in drill.scenario.goals:
        drill.is_condition_met(goal.when)  # makes sure that the condition is parsed
        held_parts += len([part for part in drill._conditions[goal.when].parts if part(facts)])
    return held_parts


# --- trials as jobs of a process that receives only the text of the drill ---------------------------------

Drill = tuple[str, str, int]
"""Name and text of the scenario, and the seed."""


def warm_up(drill: Drill) -> None:
    """Load everything that a job of the drill needs."""
    trials = _load_trials(drill)
    trials.play(trials.start_drill.fork(), (), SearchLimits())


def run_trials(
    search: str,
    drill: Drill,
    rules: SearchLimits,
    news: Sequence[bytes],
    decision: Decision,
    part: Part,
    keep: bool,
) -> list[Trial]:
    """Return the trials of a part of a decision, except states that were in *news* now or earlier in this *search*.

    *keep*: also except states that this process itself has found. This is allowed if the process plays all
    its jobs in order and none is repeated, because the caller knows the states from an earlier job.
    """
    states = _get_known_states(search, rules)
    states.update(news)
    trials = []
    for trial in _load_trials(drill).try_neighbors(decision, rules, states, part):
        if trial is not None:
            trials.append(trial)
            if keep:
                states.add(trial.state)
    return trials


@lru_cache(maxsize=1)
def _load_trials(drill: Drill) -> Trials:
    name, text, seed = drill
    return Trials(load_scenario(text, f"{name}.toml"), seed)


@lru_cache(maxsize=2)  # one entry for the fair and one for the clairvoyant search
def _get_known_states(search: str, rules: SearchLimits) -> set[bytes]:
    """Return the set of states that this process knows from *search*. Callers may add to it."""
    return set()
