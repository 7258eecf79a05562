"""Continuations: plans for the rest of a run, from a given time on.

They are built from every remaining part of the reference solution and of known plans. The actions are applied
in order, each as soon as it is allowed.
"""

from __future__ import annotations

import math
from bisect import bisect
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import InitVar, dataclass, field
from functools import partial
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from engine.constants import TICKS_PER_S
from engine.drill.authoring.schema import SolutionStep
from engine.drill.judging.counterfactual import is_inspection
from engine.drill.par.candidate_actions import (
    filter_unapplied,
    has_broken_session,
    is_partner_statement,
    list_emergency_actions,
    list_remaining_steps,
    list_repairs,
    list_session_repairs,
    parse_step,
    remove_delay,
)
from engine.drill.par.noop_actions import would_be_noop
from engine.drill.par.search_drill import RetryingRun, SearchDrill, is_accepted
from engine.drill.running.solution import find_default_end, play_solution_in_slices
from engine.drill.time.cooperative_tasks import CooperativeTask, PlayableRun, advance_in_slices
from engine.inputs import Input, InputError
from engine.model import DbState, Tick, World, to_ticks
from engine.verbs.input_lines import find_reverse_input, is_requested, parse_input_line

SCORE_CHECK_INTERVAL_S: Final = 20.0
"""Seconds between two checks of a running continuation, which ends if it can no longer score enough.

Assumed: a check takes as much computing time as one simulated second.
"""

BASELINE_SNAPSHOT_INTERVAL_S: Final = 30.0
"""Interval between two snapshots of a baseline run, in seconds. Assumed."""

LAST_CHANCE_PRECISION_S: Final = 1.0
"""Precision of the time that `find_last_chances` finds, in seconds. Assumed."""

SETUP_STATEMENT_INTERVAL_S: Final = 2.0
"""Seconds between two statements that set up a session. Assumed."""

SESSION_REPAIR_S_MAX: Final = 120.0
"""Maximum time for the repair of sessions, in seconds. Assumed: two boots."""


class Rollout(Struct, frozen=True):
    """Result of a continuation that was played to the end of the run."""

    score: float
    has_reached_goals: bool
    """True if every goal is reached."""
    actions: tuple[Input, ...]
    """All actions of the run, including those of the continuation."""
    action_count: int
    """Number of actions before the continuation."""


ActionApplier = Callable[[PlayableRun], Iterator[None]]
"""Function that applies the actions of a continuation to a run and advances the run."""


class Continuation(Struct, frozen=True):
    """Actions that branch off from a baseline run, and the time or condition at which they start."""

    apply: ActionApplier
    """Function that applies the actions."""
    name: Hashable
    """Key that identifies the actions: continuations with the same actions have equal keys."""
    condition: str | None = None
    """Condition for the start; None means no condition."""
    delay: Tick = 0
    """Delay of the start after the condition is met."""
    earliest_tick: Tick = 0
    """Earliest tick of the start."""
    first_line: str = ""
    """First action, if it may be skipped as a no-op; otherwise empty."""
    without_first: Callable[[Tick], Continuation] | None = None
    """Function that returns the continuation from a tick on, without its first action."""


class PrunedRollout(Struct, frozen=True):
    """Result of a continuation that was not played to the end."""

    upper_bound: float
    """Upper bound of the continuation's score, in points."""
    has_missed_goal: bool
    """True if the continuation misses a goal."""


@dataclass(slots=True)
class BaselineRun:
    """Run without further actions, and the results of continuations that branch off from it.

    The run is played only as far as needed, and each continuation is played only once.
    """

    start_drill: InitVar[SearchDrill]
    _latest_run: SearchDrill = field(init=False)
    """Latest played state of the run."""
    _snapshots: dict[Tick, SearchDrill] = field(default_factory=dict)
    """Tick -> snapshot of the run."""
    _condition_ticks: dict[str, list[Tick]] = field(init=False)
    """Condition of a solution step -> whole seconds at which it was met, in ticks."""
    _rollouts: dict[tuple[Tick, Hashable], Rollout | PrunedRollout] = field(default_factory=dict)
    """(start tick, key of a continuation) -> result."""
    _noops: dict[tuple[Tick, str], bool] = field(default_factory=dict)
    """(tick, input line) -> True if the line is a no-op then."""

    def __post_init__(self, start_drill: SearchDrill) -> None:
        self._latest_run = start_drill.fork()
        self._snapshots[start_drill.tick] = start_drill
        self._condition_ticks = {
            step.when: [] for step in start_drill.scenario.solution if step.when is not None
        }

    def fork_at(self, tick: Tick) -> CooperativeTask[SearchDrill]:
        """Return a fork of the run at *tick*. The caller may change it."""
        while self._latest_run.tick + TICKS_PER_S <= tick and not self._latest_run.finished:
            yield from self._advance_second()
        before = max(kept_tick for kept_tick in self._snapshots if kept_tick <= tick)
        run = self._snapshots[before].fork()
        for _ in advance_in_slices(run, tick):
            yield 0.0
        return run

    def evaluate_continuation(
        self,
        position: SearchDrill,
        continuation: Continuation,
        score_floor: float = -1.0,
        patient: bool = False,
    ) -> CooperativeTask[Rollout | PrunedRollout]:
        """Return the result of *continuation* if a seat chooses it in the state *position*.

        The result may be pruned if its score is below *score_floor*. *patient*: True to retry refused actions
        until they are accepted.
        """
        begins, name = (yield from self._find_start(position, continuation)), continuation.name
        if begins is None:
            begins, name = find_default_end(position, position.tick), IDLE_KEY
        cache_key = begins, (name, patient)
        known_rollout = self._rollouts.get(cache_key)
        if isinstance(known_rollout, Rollout):
            return replace(known_rollout, action_count=len(position.journal))
        if known_rollout is not None and known_rollout.upper_bound < score_floor:
            return known_rollout
        run = yield from self.fork_at(begins)
        if (remaining_continuation := self._drop_noop(run, continuation)) is not None and not patient:
            rollout = yield from self.evaluate_continuation(run, remaining_continuation, score_floor)
            look, input_count = parse_input_line(continuation.first_line, run.tick), len(position.journal)
            # Keep the inspection in the result, because it shows a person the reason for the next action.
            if isinstance(rollout, Rollout) and is_inspection(look):
                rollout = replace(
                    rollout, actions=(*rollout.actions[:input_count], look, *rollout.actions[input_count:])
                )
            self._rollouts[cache_key] = rollout
            return rollout
        if name is not IDLE_KEY:
            checked = run.tick
            for _ in run_continuation(run, continuation.apply, patient):
                yield 0.0
                if score_floor > 0.0 and run.tick >= checked + to_ticks(SCORE_CHECK_INTERVAL_S):
                    checked = run.tick
                    if run.compute_upper_bound(score_floor) < score_floor:
                        break
        self._rollouts[cache_key] = rollout = yield from finish_rollout(
            run, len(position.journal), score_floor
        )
        return rollout

    def find_complete_rollout(
        self, tick: Tick, continuation: Continuation
    ) -> CooperativeTask[Rollout | None]:
        """Return the result of *continuation* from *tick* on; None if it misses a goal."""
        moment = yield from self.fork_at(tick)
        begins = yield from self._find_start(moment, continuation)
        if begins is None:
            begins, continuation = find_default_end(moment, moment.tick), build_idle_continuation()
        cache_key = begins, (continuation.name, False)
        known_rollout = self._rollouts.get(cache_key)
        if isinstance(known_rollout, Rollout):
            return known_rollout if known_rollout.has_reached_goals else None
        if known_rollout is not None and known_rollout.has_missed_goal:
            return None
        run = yield from self.fork_at(begins)
        if (remaining_continuation := self._drop_noop(run, continuation)) is not None:
            return (yield from self.find_complete_rollout(begins, remaining_continuation))
        for _ in run_continuation(run, continuation.apply):
            if _has_missed_goal(run):
                self._rollouts[cache_key] = PrunedRollout(run.compute_upper_bound(), has_missed_goal=True)
                return None
            yield 0.0
        rollout = yield from finish_rollout(run, len(moment.journal), -1.0)
        self._rollouts[cache_key] = rollout
        return rollout if isinstance(rollout, Rollout) and rollout.has_reached_goals else None

    def _drop_noop(self, run: SearchDrill, continuation: Continuation) -> Continuation | None:
        """Return *continuation* without its first action if this action would be a no-op; otherwise None."""
        if continuation.without_first is None or run.finished:
            return None
        noop_key = run.tick, continuation.first_line
        if noop_key not in self._noops:
            self._noops[noop_key] = would_be_noop(run, continuation.first_line)
        return continuation.without_first(run.tick) if self._noops[noop_key] else None

    def _find_start(self, run: SearchDrill, continuation: Continuation) -> CooperativeTask[Tick | None]:
        """Return the tick at which *continuation* branches off; None if its condition is never met."""
        tick: Tick | None = run.tick
        if continuation.condition is not None and not run.is_condition_met(continuation.condition):
            tick = yield from self._find_holding_tick(continuation.condition, run.tick)
        return None if tick is None else max(tick + continuation.delay, continuation.earliest_tick)

    def _find_holding_tick(self, condition: str, tick: Tick) -> CooperativeTask[Tick | None]:
        """Return the first whole second after *tick* at which *condition* is met; None if it is never met."""
        holding_ticks = self._condition_ticks[condition]
        while (position := bisect(holding_ticks, tick)) == len(holding_ticks):
            if self._latest_run.finished or self._latest_run.tick >= find_default_end(
                self._latest_run, self._latest_run.tick
            ):
                return None
            yield from self._advance_second()
        return holding_ticks[position]

    def _advance_second(self) -> CooperativeTask[None]:
        """Advance the latest state to the next whole second."""
        head = self._latest_run
        for _ in advance_in_slices(head, (head.tick // TICKS_PER_S + 1) * TICKS_PER_S):
            yield 0.0
        for condition, holding_ticks in self._condition_ticks.items():
            if head.is_condition_met(condition):
                holding_ticks.append(head.tick)
        if head.finished or head.tick % to_ticks(BASELINE_SNAPSHOT_INTERVAL_S) == 0:
            self._snapshots[head.tick] = head.fork()


def find_best_rollout(
    baseline: BaselineRun, run: SearchDrill, candidates: Iterable[Continuation], threshold: float = math.inf
) -> CooperativeTask[Rollout]:
    """Return the best result of *candidates* from *run*, or the first result that reaches *threshold*.

    Of two results with equal scores, the one with fewer actions is better.
    """
    best_rollout: Rollout | None = None
    for play in candidates:
        rollout = yield from baseline.evaluate_continuation(
            run, play, -1.0 if best_rollout is None else best_rollout.score
        )
        if isinstance(rollout, Rollout) and (
            best_rollout is None or get_rollout_sort_key(rollout) > get_rollout_sort_key(best_rollout)
        ):
            best_rollout = rollout
            if best_rollout.score >= threshold:
                break
    assert best_rollout is not None, "the first way is never cut"
    return best_rollout


def find_last_chances(
    baseline: BaselineRun, low: Tick, high: Tick, candidates: Iterable[Continuation]
) -> Iterator[float | tuple[Tick, Rollout]]:
    """Search for the latest tick from which one of *candidates* still reaches every goal.

    Yield (tick, result) for each later tick that is found, and the progress of the search in between.
    Every goal can be reached from *low*, but not from *high*. The last tick is exact to
    LAST_CHANCE_PRECISION_S.
    """
    waiting, failed = deque(candidates), 0
    while failed < len(waiting):
        play, previous_low, upper_tick, tick = waiting[0], low, high, low + to_ticks(LAST_CHANCE_PRECISION_S)
        while upper_tick - low > to_ticks(LAST_CHANCE_PRECISION_S):
            rollout = yield from baseline.find_complete_rollout(tick, play)
            if rollout is None:
                upper_tick = tick
            else:
                low = max([tick, *(item.tick for item in rollout.actions[rollout.action_count :][:1])])
                yield low, rollout
            tick = (low + upper_tick) // 2
        waiting.rotate(-1)
        failed = 1 if low > previous_low else failed + 1


def get_rollout_sort_key(rollout: Rollout) -> tuple[float, bool, int]:
    """Return a sort key that puts the best result last: more points, then all goals, then fewer actions."""
    return rollout.score, rollout.has_reached_goals, -len(rollout.actions)


def list_continuations(run: SearchDrill, plans: Iterable[Sequence[Input]]) -> Iterator[Continuation]:
    """Yield every remaining part of *plans* and of the reference, complete plans first.

    If an input of the run caused a fault, also yield parts that begin with the repair of this fault. If
    an input removed or suspended a session, also combine parts with a repair of this session. The
    repair comes before or after the actions of the part.
    """
    yield from list_whole_continuations(run, plans)
    continuations = [
        *(list_remaining_parts(run, plans) if not run.finished else ()),
        build_idle_continuation(),
    ]
    yield from continuations
    if run.finished:
        return
    if own_reversals := list_own_fault_reversals(run):
        continuations += [_prepend_lines(own_reversals, play) for play in continuations]
        yield from continuations[len(continuations) // 2 :]
    of_partners = any(map(is_partner_statement, run.journal))
    if of_partners and has_broken_session(run):
        yield from (
            Continuation(partial(_set_up_sessions, continuation=play), ("set up", *_build_identity_key(play)))
            for play in continuations
        )
    if of_partners or own_reversals:
        remaining_steps = list_remaining_steps(run)
        lines = [parse_step(step).line_without_time for step in remaining_steps]
        for first_index in range(len(lines) + 1):
            mended = (*own_reversals, *lines[first_index:])
            yield Continuation(partial(_run_repairs, lines=mended), ("mended", mended))
        for first_index in range(1, len(remaining_steps)):
            mended, continuation = (
                (*own_reversals, *lines[:first_index]),
                next(_list_step_continuations(remaining_steps[first_index:], include_undelayed=False)),
            )
            yield Continuation(
                partial(_run_repairs, lines=mended, continuation=continuation),
                ("mended", mended, *_build_identity_key(continuation)),
            )
        yield Continuation(partial(_run_repairs, lines=own_reversals, serve=True), ("served", *own_reversals))


def list_whole_continuations(run: SearchDrill, plans: Iterable[Sequence[Input]]) -> Iterator[Continuation]:
    """Yield only the complete plans among `list_continuations`, for a quick estimate."""
    continuations: list[Continuation] = []
    if not run.finished:
        if remaining_steps := list_remaining_steps(run):
            continuations += _list_step_continuations(remaining_steps, include_undelayed=True)
        continuations += [
            build_plan_continuation(filter_unapplied(run, plan, lambda item: item)) for plan in plans
        ]
    continuations.append(build_idle_continuation())
    yield from continuations
    if not run.finished and (own_reversals := list_own_fault_reversals(run)):
        yield from (_prepend_lines(own_reversals, play) for play in continuations)


def list_own_fault_reversals(run: SearchDrill) -> list[str]:
    """Return inputs that revert the active faults that the run's own inputs caused, the latest fault first."""
    own_faults = (
        fault
        for fault in reversed(run.world.faults)
        if fault.reverted_tick is None and is_requested(fault, run.journal)
    )
    lines = (
        reverse.line_without_time
        for fault in own_faults
        if (reverse := find_reverse_input(fault)) is not None
    )
    return list(dict.fromkeys(lines))


def list_recovery_statements(world: World) -> list[str]:
    """Return statements that recover copies in the state RESTORING without a session. Menus never offer them."""
    return [
        f"sql {copy.server} RESTORE DATABASE [{copy.database}] WITH RECOVERY"
        for copy in world.copies.values()
        if copy.db_state is DbState.RESTORING and not copy.group_kind and world.instances[copy.server].running
    ]


def list_repair_inputs(run: SearchDrill) -> list[Input]:
    """Return all repairs that are currently possible, so that the caller can apply them together."""
    lines = dict.fromkeys([*list_own_fault_reversals(run), *list_repairs(run.world)])
    return [parse_input_line(line, run.tick) for line in lines]


def list_remaining_parts(
    run: SearchDrill, plans: Iterable[Sequence[Input]], include_undelayed: bool = True
) -> Iterator[Continuation]:
    """Yield every remaining part of *plans* and of the reference.

    *include_undelayed*: True to yield each part of the reference also without the delay of its first step.
    """
    ends = {tuple(plan[first:]): None for plan in plans for first in range(len(plan))}
    yield from map(build_plan_continuation, ends)
    remaining_steps = list_remaining_steps(run)
    for first_index in range(len(remaining_steps)):
        yield from _list_step_continuations(remaining_steps[first_index:], include_undelayed)


def build_plan_continuation(plan: Sequence[Input], start_tick: Tick | None = None) -> Continuation:
    """Build a continuation from a plan.

    The first action is applied at its planned time or at *start_tick*, but not in the past. The other
    actions keep their planned delays after the first action.
    """
    if not plan:
        return build_idle_continuation()
    begins = plan[0].tick
    name = tuple((item.tick - begins, item.line_without_time) for item in plan)

    def build_remaining(tick: Tick) -> Continuation:
        if not plan[1:]:
            return build_idle_continuation()
        return build_plan_continuation(plan[1:], tick + plan[1].tick - begins)

    does = partial(apply_plan, plan=plan)
    return Continuation(
        does,
        name,
        earliest_tick=begins if start_tick is None else start_tick,
        first_line=plan[0].line_without_time,
        without_first=build_remaining,
    )


def build_idle_continuation() -> Continuation:
    """Build a continuation without actions."""
    return Continuation(_apply_no_actions, IDLE_KEY)


def list_prefixed_continuations(lines: Iterable[str], plan: Sequence[Input]) -> Iterator[Continuation]:
    """Yield a continuation for each of *lines*: the line is applied immediately, and *plan* after it."""
    continuation = build_plan_continuation(plan)
    yield from (_prepend_lines((line,), continuation) for line in lines)


def run_continuation(run: SearchDrill, apply: ActionApplier, retries: bool = False) -> Iterator[None]:
    """Apply the actions of a continuation to *run*, and stop at the first impossible action.

    *apply*: function that applies the actions. *retries*: True to retry refused actions until they are
    accepted.
    """
    with suppress(InputError):
        yield from apply(RetryingRun(run) if retries else run)


def apply_plan(run: PlayableRun, plan: Sequence[Input]) -> Iterator[None]:
    """Apply the actions of *plan* to *run*. Impossible actions are skipped.

    If the planned time of the first action is in the past, all actions are delayed until now.
    """
    delay_ticks = max((run.drill.tick - item.tick for item in plan[:1]), default=0)
    for item in plan:
        yield from advance_in_slices(run, item.tick + max(0, delay_ticks))
        with suppress(InputError):
            run.apply_line(item.line_without_time)


def finish_rollout(
    run: SearchDrill, done_count: int = 0, score_floor: float = -1.0
) -> CooperativeTask[Rollout | PrunedRollout]:
    """Play *run* to its end and return the result, which may be pruned if its score is below *score_floor*.

    *done_count*: number of actions before the continuation.
    """
    end = find_default_end(run, run.journal[-1].tick if run.journal else 0)
    while run.tick < end and not run.finished:
        if score_floor > 0.0 and (upper_bound := run.compute_upper_bound(score_floor)) < score_floor:
            return PrunedRollout(upper_bound, _has_missed_goal(run))
        for _ in advance_in_slices(run, min(end, run.tick + to_ticks(SCORE_CHECK_INTERVAL_S))):
            yield 0.0
    return _build_rollout(run, done_count)


# --- internal -----------------------------------------------------------------------------------------------


def _apply_no_actions(_: PlayableRun) -> Iterator[None]:
    yield from ()


IDLE_KEY: Final = "nothing"
"""Key of the continuation without actions."""


def _build_rollout(run: SearchDrill, done_count: int) -> Rollout:
    """Build the result of a run that was played to its end.

    *done_count*: number of actions before the continuation.
    """
    has_reached_goals = all(state.is_reached for state in run.goals.values())
    return Rollout(run.compute_total(), has_reached_goals, tuple(run.journal), done_count)


def _prepend_lines(lines: Sequence[str], continuation: Continuation) -> Continuation:
    """Return a continuation that applies *lines* immediately, then *continuation*."""
    return Continuation(
        partial(_apply_repairs_then_continuation, lines=lines, continuation=continuation),
        (*lines, *_build_identity_key(continuation)),
    )


def _list_step_continuations(
    remaining_steps: Sequence[SolutionStep], include_undelayed: bool
) -> Iterator[Continuation]:
    step, relative = remaining_steps[0], remaining_steps[0].do.lstrip().startswith("+")
    item, name = parse_step(step), tuple(map(id, remaining_steps))

    def build_remaining(_: Tick) -> Continuation:
        if not remaining_steps[1:]:
            return build_idle_continuation()
        return next(_list_step_continuations(remaining_steps[1:], include_undelayed=False))

    list_more = partial(
        Continuation, partial(_apply_steps, steps=[remove_delay(step), *remaining_steps[1:]]), name, step.when
    )
    delay, start_tick = (item.tick, 0) if relative else (0, item.tick)
    yield list_more(
        delay=delay,
        earliest_tick=start_tick,
        first_line=item.line_without_time,
        without_first=build_remaining,
    )
    if include_undelayed and relative:
        yield list_more(first_line=item.line_without_time, without_first=build_remaining)


def _build_identity_key(continuation: Continuation) -> tuple[Hashable, ...]:
    """Return a key that is equal for continuations with the same start and the same actions."""
    return continuation.name, continuation.condition, continuation.delay, continuation.earliest_tick


def _wait_and_apply_continuation(run: PlayableRun, continuation: Continuation) -> Iterator[None]:
    """Wait for the start of *continuation* in *run*, then apply its actions."""
    drill = run.drill
    end = find_default_end(drill, drill.tick)
    while (
        continuation.condition is not None
        and not drill.finished
        and drill.tick < end
        and not drill.is_condition_met(continuation.condition)
    ):
        yield from advance_in_slices(run, (drill.tick // TICKS_PER_S + 1) * TICKS_PER_S)
    yield from advance_in_slices(run, max(drill.tick + continuation.delay, continuation.earliest_tick))
    yield from continuation.apply(run)


def _apply_repairs_then_continuation(
    run: PlayableRun, lines: Sequence[str], continuation: Continuation
) -> Iterator[None]:
    """Apply the repairs in *lines*, then the *continuation*."""
    for line in lines:
        with suppress(InputError):
            run.apply_line(line)
    yield from _wait_and_apply_continuation(run, continuation)


def _set_up_sessions(run: PlayableRun, continuation: Continuation) -> Iterator[None]:
    """Repair the sessions of the scenario, then apply *continuation*."""
    drill = run.drill
    for session in drill.scenario.sessions:
        for line in list_session_repairs(drill.world, session):
            run.apply_line(line)
            yield from advance_in_slices(run, drill.tick + to_ticks(SETUP_STATEMENT_INTERVAL_S))
    yield from _wait_and_apply_continuation(run, continuation)


def _run_repairs(
    run: PlayableRun, lines: Sequence[str], serve: bool = False, continuation: Continuation | None = None
) -> Iterator[None]:
    """Apply *lines*, then the repairs that the sessions need, each as soon as it is allowed.

    If *serve* is True, also apply statements that restore service. When no repair is left, apply
    *continuation*.
    """
    assert isinstance(run, SearchDrill)
    drill, patient = run, RetryingRun(run)
    for line in lines:
        with suppress(InputError):
            patient.apply_line(line)
        yield
    end_tick = drill.tick + to_ticks(SESSION_REPAIR_S_MAX)
    while drill.tick < end_tick and not drill.finished:  # every observation may make another command possible
        lines = [
            line for session in drill.scenario.sessions for line in list_session_repairs(drill.world, session)
        ]
        lines += list_emergency_actions(drill.world) if serve else []
        if continuation is not None and not lines:
            break
        accepted = next((line for line in lines if is_accepted(drill, line)), None)
        if accepted is not None:
            run.apply_line(accepted)
            yield from advance_in_slices(run, drill.tick + to_ticks(SETUP_STATEMENT_INTERVAL_S))
        else:
            patient.wait_for_observation()
            yield
    if continuation is not None:
        yield from _wait_and_apply_continuation(run, continuation)


def _has_missed_goal(run: SearchDrill) -> bool:
    """Return whether a goal can no longer be reached."""
    return any(state.missed_tick is not None for state in run.goals.values())


def _apply_steps(run: PlayableRun, steps: Sequence[SolutionStep]) -> Iterator[None]:
    for _ in play_solution_in_slices(run, steps):
        yield None
