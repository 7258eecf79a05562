"""Regret of each action and wait of a run, from V(t), the best total score still reachable at a time.

V is a lower bound: the best score of all known continuations. These are the run itself, and all
remaining parts of the reference solution and of plans that a search has found. Each action is applied in
order, as soon as it is allowed. After a large loss, a search from that time checks whether the loss is
real. If no plan is known, a search looks for one.

V never increases during a run, because the rest of the run is also a continuation from each of its
states. If the plans make V increase, the run was better than all of them. Earlier states then get the
same V.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain, groupby, pairwise, takewhile
from operator import mul
from typing import Final

from msgspec.structs import replace

from engine.arithmetic import add_in_order, exp
from engine.drill.judging import counterfactual
from engine.drill.judging.counterfactual import is_inspection
from engine.drill.judging.score import SCORE_TOTAL_MAX
from engine.drill.par import continuations
from engine.drill.par.candidate_actions import list_candidates, list_scenario_lines
from engine.drill.par.continuations import BaselineRun, Continuation, Rollout
from engine.drill.par.observability import find_next_whole_second, is_observable
from engine.drill.par.regret_analysis import (
    SEGMENT_LABELS,
    WAITING,
    BoundGap,
    LastChance,
    RegretAnalysis,
    RunPosition,
    RunSegment,
    SegmentWithBest,
)
from engine.drill.par.search import ParSearch
from engine.drill.par.search_drill import SearchDrill
from engine.drill.running.drill import Drill
from engine.drill.time.cooperative_tasks import CooperativeTask, advance_in_slices
from engine.inputs import Input, InputError
from engine.model import Tick, to_ticks

BRILLIANT_GAIN_MIN: Final = 5.0
"""Minimum gain over all known continuations for the label "brilliant", in points.

Assumed: the loss of an inaccuracy.
"""

EVALUATED_ACTIONS_MAX: Final = 40
"""Maximum number of evaluated actions; further actions count as waits. Assumed.

The first actions are chosen. Queries are chosen only if fewer other actions exist.
"""

FINISH_VERB: Final = "finish"
"""Verb that ends the drill. It counts as an action."""

WAIT_SEGMENTS_MAX: Final = 12
"""Maximum number of segments of a wait; the first ones are chosen. Assumed."""

WINDOW_SEGMENTS_RANGE: Final = (2, 8)
"""(minimum, maximum) number of segments in a sliding window [Lichess, AccuracyPercent.scala].

In between, a window has a tenth of all segments.
"""
SEGMENT_WEIGHT_RANGE: Final = (0.5, 12.0)
"""(minimum, maximum) weight of a segment in the accuracy [Lichess, AccuracyPercent.scala]."""

VALUE_RISE_MAX: Final = 0.5
"""Maximum tolerated increase of the best reachable score V, in points.

A larger increase shows that the earlier V is too low. Labels ignore a loss up to this size.
"""

SEARCH_PLANS_MAX: Final = 60
"""Number of plans that a search from one time of the run plays.

Such a search starts after a large loss, or where the best score may be too low. Measured: a third of a second
with one database.
"""

SEARCHED_DATABASES_MAX: Final = 20
"""Maximum number of databases for an automatic search. Assumed.

With more databases, playing one plan takes longer than a frame of the window.
"""

SEARCH_STARTS_MAX: Final = 6
"""Maximum number of times in a run from which a search starts. Assumed."""

LONGER_SEARCH_FACTOR: Final = 10
"""Factor by which a longer search increases the number of plans. Assumed."""

RETURN_ATTEMPTS_MAX: Final = 12
"""Maximum number of costly actions after which the analysis tries to return to the earlier continuation.

Assumed. The first costly actions are chosen.
"""


def analyze_regret(
    drill: Drill,
    plans: Sequence[Sequence[Input]] = (),
    search_low_values: bool = True,
    on_progress: Callable[[RegretAnalysis], None] = lambda _: None,
    node_limit: int = SEARCH_PLANS_MAX,
) -> CooperativeTask[RegretAnalysis]:
    """Build the regret analysis of a finished run. Runs in slices.

    *plans*: plans that a search found for the same scenario and seed. *search_low_values*: True to
    search from times at which the best reachable score seems too low. *on_progress* receives a first,
    quick result. *node_limit*: number of plans in a search.
    """
    moments = yield from _collect_positions(drill)
    search_low_values = search_low_values and (
        node_limit > SEARCH_PLANS_MAX or len(drill.world.availability) <= SEARCHED_DATABASES_MAX
    )
    if search_low_values and not (plans or drill.scenario.solution):
        rollout = yield from _search_from_position(moments[0], Rollout(0.0, False, (), 0), plans, node_limit)
        plans = [rollout.actions]
    rollouts = yield from _find_best_rollouts(moments, plans, quick=True)
    on_progress((yield from _build_analysis(moments, rollouts)))
    rollouts = yield from _find_best_rollouts(moments, plans)
    if search_low_values:
        rollouts = yield from _improve_rollouts(moments, rollouts, plans, node_limit)
    return (yield from _build_analysis(moments, rollouts, plans))


def exclude_finish(analysis: RegretAnalysis) -> RegretAnalysis:
    """Return *analysis* without the end of the run as an action, because somebody else ended the run."""
    chance = analysis.last_chance
    is_finish_chance = chance is not None and chance.line == FINISH_VERB
    shorter_account = exclude_segments(analysis, lambda move: move.line == FINISH_VERB)
    return replace(shorter_account, last_chance=None if is_finish_chance else chance)


def exclude_segments(analysis: RegretAnalysis, is_foreign: Callable[[RunSegment], bool]) -> RegretAnalysis:
    """Return the regret analysis without the segments for which *is_foreign* returns True."""
    moves = tuple(move for move in analysis.moves if not is_foreign(move))
    return replace(analysis, moves=moves, accuracy=_compute_accuracy(moves))


def find_retry_start(best: SegmentWithBest) -> tuple[Tick, Tick]:
    """Return (tick at which a retry starts, tick of the action to be retried).

    *best*: segment with its best continuation. The retry starts early enough for a person to type the
    action. If the segment is a wait, the action is the first one of the continuation. If it is not a
    wait, or the continuation has no action, the second tick is the start of the segment.
    """
    own_plan = best.plan[: best.shared_input_count]
    first = next(iter(best.plan[best.shared_input_count :]), None)
    due_tick = best.tick if first is None or best.line != WAITING else first.tick
    # The retry starts one tick after the segment's start, so that an action at that start is kept. It starts
    # earlier if a person needs more time.
    return min(best.tick + 1, counterfactual.find_retry_tick(due_tick, first, own_plan)), due_tick


def search_value(run: SearchDrill, plans: Sequence[Sequence[Input]] = ()) -> CooperativeTask[float]:
    """Return the best score that is reachable from the state of *run*, based on known continuations.

    *run* is not changed. Runs in slices.
    """
    known = continuations.list_continuations(run, plans)
    rollout = yield from continuations.find_best_rollout(BaselineRun(run), run, known, SCORE_TOTAL_MAX)
    return rollout.score


def compute_accuracy(regret: float) -> float:
    """Return the accuracy (0 to 100) for a loss of *regret* points [Lichess, AccuracyPercent.scala]."""
    return min(100.0, max(0.0, 103.1668 * exp(-0.04354 * regret) - 3.1669 + 1.0))


# --- internal -----------------------------------------------------------------------------------------------


def _build_analysis(
    positions: Sequence[RunPosition],
    rollouts: Sequence[Rollout],
    plans: Sequence[Sequence[Input]] | None = None,
) -> CooperativeTask[RegretAnalysis]:
    """Build the regret analysis from *rollouts*, the best result at each position.

    If *plans* are given, delayed versions of them are tried, so that the last chance is exact to the
    second.
    """
    baseline = positions[-1].baseline_run
    idle_continuation = continuations.build_idle_continuation()
    idle_rollout = yield from baseline.evaluate_continuation(positions[-1].run, idle_continuation)
    assert isinstance(idle_rollout, Rollout), "nothing is asked of it"
    values = [rollout.score for rollout in rollouts]
    reached = [rollout.has_reached_goals for rollout in rollouts]
    surprises = [later_value - before for before, later_value in pairwise(values)]
    risen = max(0.0, idle_rollout.score - values[-1], *surprises)
    values[-1] = max(values[-1], idle_rollout.score)
    reached[-1] = reached[-1] or idle_rollout.has_reached_goals
    for index in range(len(values) - 2, -1, -1):
        values[index] = max(values[index], values[index + 1])
        reached[index] = reached[index] or reached[index + 1]
    moves = []
    for index, (moment, next_moment) in enumerate(pairwise(positions)):
        if moment.line == WAITING and next_moment.run.tick == moment.run.tick:
            continue
        points = values[index] - values[index + 1]
        label = _choose_label(points, 0.0 if moment.line == WAITING else surprises[index])
        plan = rollouts[index].actions if points >= SEGMENT_LABELS[-1][0] else ()
        ends, input_count = (moment.run.tick, next_moment.run.tick), len(moment.run.journal)
        moves.append(
            RunSegment(*ends, moment.line, values[index], values[index + 1], label, plan, input_count)
        )
    doubt = _find_bound_gap(positions, values)
    if reached[-1] or not reached[0]:
        return RegretAnalysis(tuple(moves), _compute_accuracy(moves), None, doubt, risen)
    last = max(index for index, is_reachable in enumerate(reached) if is_reachable)
    if plans is None:
        chance = yield from _build_last_chance(positions[last], positions[last + 1].run, rollouts[last])
        return RegretAnalysis(tuple(moves), _compute_accuracy(moves), chance, doubt, risen)
    chance, nearby_rollouts = yield from _find_last_chance(
        positions[last], positions[last + 1].run, rollouts[last], plans
    )
    parts = [part for move in moves for part in _split_wait(move, nearby_rollouts)]
    return RegretAnalysis(tuple(parts), _compute_accuracy(moves), chance, doubt, risen)


def _find_bound_gap(positions: Sequence[RunPosition], values: Sequence[float]) -> BoundGap | None:
    doubts = [
        BoundGap(moment.run.tick, value, moment.run.compute_upper_bound())
        for moment, value in zip(positions, values, strict=True)
    ]
    widest = max(doubts, key=lambda doubt: doubt.upper_bound - doubt.value)
    return widest if widest.upper_bound - widest.value >= SEGMENT_LABELS[-1][0] else None


def _compute_accuracy(segments: Sequence[RunSegment]) -> float:
    """Return the accuracy of the run. Segments after a total loss do not count.

    A wait between two actions counts once, however many segments it has. The result is the average of a
    harmonic mean and a weighted mean [Lichess, AccuracyPercent.scala]. A segment has more weight if the
    best reachable score changes more around it.
    """
    counted_moves = [move for move in segments if move.before >= SEGMENT_LABELS[-1][0]]
    stretches = [
        stretch
        for act, grouped_moves in groupby(counted_moves, key=_is_action)
        for stretch in ([[move] for move in grouped_moves] if act else [list(grouped_moves)])
    ]
    if not stretches:
        return 100.0
    stretch_values = [stretches[0][0].before, *(stretch[-1].after for stretch in stretches)]
    accuracies = [compute_accuracy(add_in_order(move.regret for move in stretch)) for stretch in stretches]
    width = min(WINDOW_SEGMENTS_RANGE[1], max(WINDOW_SEGMENTS_RANGE[0], len(stretches) // 10))
    weights = [
        min(
            SEGMENT_WEIGHT_RANGE[1],
            max(
                SEGMENT_WEIGHT_RANGE[0],
                _compute_standard_deviation(stretch_values[max(0, index + 2 - width) :][:width]),
            ),
        )
        for index in range(len(stretches))
    ]
    weighted: float = add_in_order(map(mul, accuracies, weights)) / add_in_order(weights)
    harmonic: float = len(accuracies) / add_in_order(1.0 / max(1.0, accuracy) for accuracy in accuracies)
    return (weighted + harmonic) / 2.0


def _is_action(segment: RunSegment) -> bool:
    return segment.line != WAITING


def _compute_standard_deviation(values: Sequence[float]) -> float:
    """Return the standard deviation of *values*."""
    mean = add_in_order(values) / len(values)
    return math.sqrt(add_in_order((value - mean) * (value - mean) for value in values) / len(values))


def _find_best_rollouts(
    positions: Sequence[RunPosition], plans: Sequence[Sequence[Input]], quick: bool = False
) -> CooperativeTask[list[Rollout]]:
    """Return the best result from each position.

    Nothing is played between two positions with equal results, because the best reachable score does not
    increase. *quick*: True to try few continuations, and to stop at the score of the preceding position.
    """
    rollouts = {0: (yield from _find_best_rollout(positions[0], plans, quick=quick))}
    spans = [(0, len(positions) - 1)]
    while spans:
        first, last = spans.pop()
        if last not in rollouts:
            rollouts[last] = yield from _find_best_rollout(positions[last], plans, rollouts[first], quick)
        results = {(rollouts[index].score, rollouts[index].has_reached_goals) for index in (first, last)}
        if last - first > 1 and len(results) > 1:
            middle = (first + last) // 2
            spans += [(middle, last), (first, middle)]
        yield len(rollouts) / len(positions) * 0.9
    last_known = rollouts[0]
    all_rollouts = [last_known := rollouts.get(index, last_known) for index in range(len(positions))]
    return _include_waiting(positions, all_rollouts)


def _find_best_rollout(
    position: RunPosition,
    plans: Sequence[Sequence[Input]],
    earlier_rollout: Rollout | None = None,
    quick: bool = False,
) -> CooperativeTask[Rollout]:
    """Return the best known result from *position*.

    *earlier_rollout*, the best result from an earlier position, is tried first. *quick*: True to try
    only complete plans, and to stop at the score of *earlier_rollout*.
    """
    known_continuations = (
        continuations.list_whole_continuations(position.run, plans)
        if quick
        else continuations.list_continuations(position.run, plans)
    )
    if earlier_rollout is not None:
        known_continuations = chain(
            [continuations.build_plan_continuation(earlier_rollout.actions[earlier_rollout.action_count :])],
            known_continuations,
        )
    sufficient_score = earlier_rollout.score if quick and earlier_rollout is not None else math.inf
    return (
        yield from continuations.find_best_rollout(
            position.baseline_run, position.run, known_continuations, sufficient_score
        )
    )


def _improve_rollouts(
    positions: Sequence[RunPosition],
    rollouts: Sequence[Rollout],
    plans: Sequence[Sequence[Input]],
    node_limit: int,
) -> CooperativeTask[list[Rollout]]:
    """Return improved *rollouts*.

    Where the score falls, try to return to the preceding continuation. Where it still increases, or is far
    below the upper bound, search for a better plan. Try each new result also from earlier positions with
    lower scores, alone and after each available action.
    """
    improved = yield from _improve_before_losses(positions, rollouts)
    looked = set[int]()
    for _ in range(SEARCH_STARTS_MAX):
        improved = yield from _propagate_backward(positions, improved)
        poor = {
            position: next_rollout.score - rollout.score
            for position, (rollout, next_rollout) in enumerate(pairwise(improved))
            if next_rollout.score - rollout.score > VALUE_RISE_MAX
        }
        if not poor.keys() - looked:
            poor = {
                position: short
                for position in _find_doubtful_positions(positions, improved)
                if (short := _compute_shortfall(positions[position], improved[position]))
            }
        remaining_positions = [
            position for position in poor if position not in looked and not positions[position].run.finished
        ]
        if not remaining_positions:
            break
        index = max(remaining_positions, key=lambda at: poor[at])
        looked.add(index)
        position = positions[index]
        improved[index] = yield from _search_from_position(position, improved[index], plans, node_limit)
        yield from _propagate_forward(positions, improved, index)
    return (yield from _propagate_backward(positions, improved))


def _find_doubtful_positions(positions: Sequence[RunPosition], rollouts: Sequence[Rollout]) -> list[int]:
    """Return the indexes of positions whose score may be too low: after an action, or after a costly wait."""
    return [
        position + 1
        for position, (before, later_rollout) in enumerate(pairwise(rollouts))
        if positions[position].line != WAITING or before.score - later_rollout.score >= SEGMENT_LABELS[0][0]
    ]


def _compute_shortfall(position: RunPosition, rollout: Rollout) -> float:
    """Return the difference between the upper bound at *position* and the score of *rollout*.

    The result is 0 if the difference is small.
    """
    short = position.run.compute_upper_bound() - rollout.score
    return short if short >= SEGMENT_LABELS[0][0] else 0.0


def _improve_before_losses(
    positions: Sequence[RunPosition], rollouts: Sequence[Rollout]
) -> CooperativeTask[list[Rollout]]:
    """Return *rollouts*, improved after actions that lost points.

    After such an action, the preceding continuation is tried, directly and after one more action.
    """
    improved, tries = list(rollouts), 0
    for index, moment in enumerate(positions[:-1]):
        rollout_before, next_index = improved[index], index + 1
        if (
            moment.line == WAITING
            or rollout_before.score - improved[next_index].score < SEGMENT_LABELS[-1][0]
            or tries >= RETURN_ATTEMPTS_MAX
        ):
            continue
        tries += 1
        improved[next_index] = yield from _try_return(
            positions[next_index], improved[next_index], rollout_before, patient=True
        )
        yield from _propagate_forward(positions, improved, next_index)
    return improved


def _propagate_forward(
    positions: Sequence[RunPosition], rollouts: list[Rollout], index: int
) -> CooperativeTask[None]:
    """Try the continuation at *index* also from later positions. Store better results in *rollouts*."""
    for later_index in range(index + 1, len(rollouts)):
        rollout = rollouts[later_index - 1]
        if rollouts[later_index].score >= rollout.score:
            break
        candidates = [continuations.build_plan_continuation(rollout.actions[rollout.action_count :])]
        rollouts[later_index] = yield from _improve_rollout(
            positions[later_index], rollouts[later_index], candidates
        )


def _propagate_backward(
    positions: Sequence[RunPosition], rollouts: Sequence[Rollout]
) -> CooperativeTask[list[Rollout]]:
    """Return *rollouts*, improved where the score increases from one position to the next.

    There, the continuation of the later position is also tried at the earlier position.
    """
    better_rollouts = list(rollouts)
    for index in range(len(better_rollouts) - 2, -1, -1):
        moment, next_rollout = positions[index], better_rollouts[index + 1]
        if moment.line == WAITING and better_rollouts[index].score < next_rollout.score:
            # Waiting, as the run did, leads to the next position. Its better continuation is therefore also
            # possible from here.
            better_rollouts[index] = replace(next_rollout, action_count=len(moment.run.journal))
        elif better_rollouts[index].score < next_rollout.score:
            better_rollouts[index] = yield from _try_return(moment, better_rollouts[index], next_rollout)
    return better_rollouts


def _try_return(
    position: RunPosition, rollout: Rollout, target_rollout: Rollout, patient: bool = False
) -> CooperativeTask[Rollout]:
    """Return *rollout*, or a better result that follows *target_rollout* at once or after one more action.

    *patient*: True to retry refused actions until they are accepted.
    """
    run, remaining_plan = position.run, target_rollout.actions[target_rollout.action_count :]
    on_offer = list_candidates(run, list_scenario_lines(run.scenario))
    lines = dict.fromkeys(
        [
            *continuations.list_own_fault_reversals(run),
            *continuations.list_recovery_statements(run.world),
            *on_offer,
        ]
    )
    known_plans = chain(
        [continuations.build_plan_continuation(remaining_plan)],
        continuations.list_prefixed_continuations(lines, remaining_plan),
    )
    return (yield from _improve_rollout(position, rollout, known_plans, target_rollout.score, patient))


def _improve_rollout(
    position: RunPosition,
    rollout: Rollout,
    candidates: Iterable[Continuation],
    threshold: float = math.inf,
    patient: bool = False,
) -> CooperativeTask[Rollout]:
    """Return the best of *rollout* and *candidates*, or the first result that reaches *threshold*.

    *patient*: True to retry refused actions until they are accepted.
    """
    for play in candidates:
        improved_rollout = yield from position.baseline_run.evaluate_continuation(
            position.run, play, rollout.score, patient
        )
        if isinstance(improved_rollout, Rollout):
            rollout = max(rollout, improved_rollout, key=continuations.get_rollout_sort_key)
        if rollout.score >= threshold:
            break
    return rollout


def _include_waiting(positions: Sequence[RunPosition], rollouts: Sequence[Rollout]) -> list[Rollout]:
    """Return *rollouts*, improved at positions where the run waited.

    If the result of the next position is better, it also becomes the result of the earlier position.
    """
    new_rollouts = list(rollouts)
    for index in range(len(new_rollouts) - 2, -1, -1):
        if positions[index].line == WAITING and new_rollouts[index].score < new_rollouts[index + 1].score:
            new_rollouts[index] = replace(
                new_rollouts[index + 1], action_count=len(positions[index].run.journal)
            )
    return new_rollouts


def _search_from_position(
    position: RunPosition, rollout: Rollout, plans: Sequence[Sequence[Input]], node_limit: int
) -> CooperativeTask[Rollout]:
    """Return *rollout*, or a better result from *position* that is found by retries or by a search.

    The search begins with the known continuation, and with the same continuation after all repairs.
    """
    run, done_count = position.run, len(position.run.journal)
    rollout = yield from _improve_rollout(
        position,
        rollout,
        continuations.list_remaining_parts(run, plans, include_undelayed=False),
        patient=True,
    )
    search = ParSearch(run.scenario, run.seed, start=run)
    remaining_plan = rollout.actions[rollout.action_count :]
    for _ in takewhile(
        lambda _: search.node_count < node_limit,
        search.run_steps([remaining_plan, (*continuations.list_repair_inputs(run), *remaining_plan)]),
    ):
        yield 0.9
    best = search.best
    if best is None or best.score <= rollout.score:
        return rollout
    return Rollout(best.score, best.has_reached_goals, (*run.journal, *best.actions), done_count)


def _choose_label(regret: float, surprise: float) -> str:
    if surprise >= BRILLIANT_GAIN_MIN:
        return "brilliant"
    return next((label for points, label in SEGMENT_LABELS if regret >= points), "best")


def _collect_positions(drill: Drill) -> CooperativeTask[list[RunPosition]]:
    """Collect the states before each evaluated action, at observations during waits, and at the end."""
    actions = [item for item in drill.journal if item.verb != "rewind"]
    order = sorted(
        range(len(actions)), key=lambda at: (actions[at].verb != FINISH_VERB, is_inspection(actions[at]))
    )
    evaluated_indexes = set(order[:EVALUATED_ACTIONS_MAX])
    stops = sorted({find_next_whole_second(event.tick) for event in drill.events if is_observable(event)})
    run = SearchDrill(drill.scenario, drill.seed)
    moments: list[RunPosition] = []

    def add_position(line: str) -> None:
        before = moments[-1] if moments else None
        is_same_position = before is not None and len(before.run.journal) == len(run.journal)
        run_copy = run.fork()
        baseline = before.baseline_run if is_same_position and before is not None else BaselineRun(run_copy)
        moments.append(RunPosition(run_copy, line, baseline))

    for index, item in enumerate((*actions, None)):
        end = drill.tick if item is None else item.tick
        if item is not None and index not in evaluated_indexes:
            if not moments or moments[-1].line != WAITING:
                add_position(WAITING)
            for _ in advance_in_slices(run, end):
                yield 0.0
            with suppress(InputError):
                run.apply_line(item.line_without_time)
            continue
        for stop in (*[stop for stop in stops if run.tick < stop < end][:WAIT_SEGMENTS_MAX], end):
            add_position(WAITING)
            for _ in advance_in_slices(run, stop):
                yield 0.0
        if item is not None:
            add_position(item.line_without_time)
            with suppress(InputError):
                run.apply_line(item.line_without_time)
    add_position(WAITING)
    return moments


TimedRollout = tuple[Tick, Rollout]
"""(tick, best result from this tick)."""


def _find_last_chance(
    position: RunPosition, later_run: SearchDrill, rollout: Rollout, plans: Sequence[Sequence[Input]]
) -> CooperativeTask[tuple[LastChance, tuple[TimedRollout, TimedRollout]]]:
    """Return the last chance to reach every goal, with the best results at its tick and just after it.

    The last chance is between *position*, from which *rollout* reaches every goal, and *later_run*, from
    which no known continuation does.
    """
    baseline, low = position.baseline_run, position.run.tick
    own_continuation = continuations.build_plan_continuation(rollout.actions[rollout.action_count :])
    for step in continuations.find_last_chances(
        baseline,
        low,
        later_run.tick,
        chain([own_continuation], continuations.list_continuations(position.run, plans)),
    ):
        if isinstance(step, tuple):
            low, rollout = step
        else:
            yield step
    if low + to_ticks(continuations.LAST_CHANCE_PRECISION_S) < later_run.tick:
        later_run = yield from baseline.fork_at(low + to_ticks(continuations.LAST_CHANCE_PRECISION_S))
    run = yield from baseline.fork_at(low)
    chance = yield from _build_last_chance(RunPosition(run, position.line, baseline), later_run, rollout)
    best = yield from _find_best_rollout(RunPosition(run, WAITING, baseline), plans, rollout)
    baseline_run = baseline if len(later_run.journal) == len(run.journal) else BaselineRun(later_run)
    later_rollout = yield from _find_best_rollout(RunPosition(later_run, WAITING, baseline_run), plans, best)
    return chance, ((low, best), (later_run.tick, later_rollout))


def _build_last_chance(
    position: RunPosition, later_run: SearchDrill, rollout: Rollout
) -> CooperativeTask[LastChance]:
    """Build the last chance: *rollout* reaches every goal from *position*, but not from *later_run*."""
    missed = yield from _find_missed_goals(later_run.fork(), rollout.actions[rollout.action_count :])
    return LastChance(position.run.tick, rollout.actions, rollout.action_count, position.line, missed)


def _find_missed_goals(
    run: SearchDrill, plan: Sequence[Input]
) -> CooperativeTask[tuple[tuple[str, Tick | None], ...]]:
    """Return (goal, deadline) of each goal that *run* misses even if it follows *plan*."""
    for _ in continuations.run_continuation(run, partial(continuations.apply_plan, plan=plan)):
        yield 0.95
    yield from continuations.finish_rollout(run)
    return tuple(
        (goal.text, run.end_tick if goal.within is None else to_ticks(goal.within))
        for goal in run.scenario.goals
        if not run.goals[goal.name].is_reached
    )


def _split_wait(
    segment: RunSegment, boundary_rollouts: tuple[TimedRollout, TimedRollout]
) -> list[RunSegment]:
    """Split *segment*, a wait, at the last chance if the chance passed during the wait.

    *boundary_rollouts*: best results at the last chance and just after it.
    """
    if not segment.tick < boundary_rollouts[1][0] <= segment.until:
        return [segment]
    parts = []
    for tick, rollout in boundary_rollouts:
        if segment.tick < tick < segment.until:
            value = min(segment.before, max(segment.after, rollout.score))
            label = _choose_label(segment.before - value, 0.0)
            parts.append(replace(segment, until=tick, after=value, label=label))
            plan, input_count = rollout.actions, rollout.action_count
            segment = replace(segment, tick=tick, before=value, plan=plan, shared_input_count=input_count)
    return [*parts, replace(segment, label=_choose_label(segment.regret, 0.0))]
