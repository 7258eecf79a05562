"""Lessons of a run: mistakes that are worth practicing, each with its position and a better continuation."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from engine.drill.judging.counterfactual import is_inspection
from engine.drill.judging.report_types import INACCURACY_POINTS_MIN, LOSS_LABELS
from engine.drill.judging.score import SCORE_TOTAL_MAX
from engine.drill.par import continuations
from engine.drill.par.noop_actions import would_be_noop
from engine.drill.par.regret import FINISH_VERB
from engine.drill.par.regret_analysis import SEGMENT_LABELS, WAITING, LastChance, RegretAnalysis, RunSegment
from engine.drill.par.search_drill import SearchDrill
from engine.drill.running.drill import Drill
from engine.drill.running.solution import find_default_end
from engine.drill.time.cooperative_tasks import CooperativeTask, play_in_slices
from engine.inputs import Input, InputError
from engine.model import Tick, to_ticks
from engine.verbs import REMARK_VERBS
from engine.verbs.input_lines import parse_input_line

EQUAL_SCORE_TOLERANCE: Final = SEGMENT_LABELS[-1][0]
"""Maximum difference in points between two continuations that count as equal."""


def find_lessons(analysis: RegretAnalysis) -> tuple[RunSegment, ...]:
    """Return the actions and waits that lost at least as much as an inaccuracy, in order of time.

    Consecutive waits are one lesson, which begins at the first wait that lost points.
    """
    return tuple(move for move in _join_waits(analysis.moves) if move.regret >= INACCURACY_POINTS_MIN)


def find_biggest_lesson(lessons: Sequence[RunSegment]) -> RunSegment | None:
    """Return the lesson with the largest loss; of equal lessons, the first; None without lessons."""
    return max(lessons, key=lambda move: (move.regret, -move.tick), default=None)


def has_ended_last_chance(lesson: RunSegment, chance: LastChance | None) -> bool:
    """Return whether the last chance to reach all goals ended during *lesson*; False without a *chance*."""
    if chance is None:
        return False
    if chance.line != WAITING:
        return (lesson.tick, lesson.line) == (chance.tick, chance.line)
    return (
        lesson.line == WAITING or lesson.until > lesson.tick
    ) and lesson.tick <= chance.tick <= lesson.until


def is_action(line: str) -> bool:
    """Return whether an input line changes something, and so can be an answer to a lesson."""
    if line == WAITING:
        return False
    item = parse_input_line(line)
    return item.verb not in REMARK_VERBS and not is_inspection(item)


def use_reference_times(
    run: SearchDrill, lesson: RunSegment, reference: Sequence[Input]
) -> CooperativeTask[RunSegment]:
    """Return *lesson* with the rest of *reference* as its plan, if the reference scores as much.

    A searched plan acts as early as possible. The reference acts at times that a person can meet. *run*
    must be a new run with the same scenario and seed; this function changes it. Runs in slices.
    """
    own_inputs = lesson.plan[: lesson.shared_input_count]
    own_lines = {item.line_without_time for item in own_inputs}
    remaining_inputs = [item for item in reference if item.line_without_time not in own_lines]
    if not remaining_inputs or not lesson.plan or remaining_inputs[0].tick <= lesson.tick:
        return lesson
    plan = (*own_inputs, *remaining_inputs)
    try:
        yield from play_in_slices(run, plan, find_default_end(run, remaining_inputs[-1].tick))
    except InputError:
        return lesson
    return (
        replace(lesson, plan=plan)
        if run.compute_score().total >= lesson.before - EQUAL_SCORE_TOLERANCE
        else lesson
    )


HARM_DELAY_TICKS_MAX: Final = to_ticks(15.0)
"""Maximum ticks from a command to the end of the wait in which its harm appears.

Assumed: a role change takes seconds.
"""


def find_causing_command(lesson: RunSegment, segments: Sequence[RunSegment]) -> RunSegment | None:
    """Return the last action shortly before the loss in *lesson*.

    The result is None if *lesson* is no wait, or if there is no such action.
    """
    if lesson.line != WAITING:
        return None
    before = [move for move in segments if move.tick <= lesson.tick and is_action(move.line)]
    return before[-1] if before and lesson.until - before[-1].tick <= HARM_DELAY_TICKS_MAX else None


def attribute_loss_to_command(
    run: SearchDrill, lesson: RunSegment, analysis: RegretAnalysis, inputs: Sequence[Input]
) -> CooperativeTask[RunSegment]:
    """Return the command before *lesson* as the mistake, if the run without this command loses nothing.

    Otherwise return *lesson*. A failover takes seconds, so the loss from its command appears in the
    wait after it. *inputs*: all inputs of the run. *run* must be a new run with the same scenario and
    seed; this function changes it. Runs in slices.
    """
    cause = find_causing_command(lesson, analysis.moves)
    if cause is None:
        return lesson
    before = [item for item in inputs if item.tick <= cause.tick]
    while before and before[-1].line_without_time != cause.line:
        before.pop()
    remaining_inputs = [item for item in inputs if cause.tick <= item.tick <= lesson.until]
    remaining_inputs = [item for item in remaining_inputs if item not in before]
    yield from play_in_slices(run, [*before[:-1], *remaining_inputs], lesson.until, skip_refused=True)
    rollout = yield from _find_best_rollout(run, [lesson.plan])
    if not before or rollout.score < lesson.before - EQUAL_SCORE_TOLERANCE:
        return lesson
    plan = (*before[:-1], *rollout.actions[rollout.action_count :])
    label = _get_loss_label(cause.before - lesson.after)
    last_index = len(before) - 1
    return replace(
        cause, until=lesson.until, after=lesson.after, label=label, plan=plan, shared_input_count=last_index
    )


def choose_explaining_inputs(plan: Sequence[Input], limit: int) -> tuple[Input, ...]:
    """Return the inputs of *plan* that explain it best: its actions, then the queries before them.

    *limit*: maximum number of inputs.
    """
    inputs = [item for item in plan if item.verb not in REMARK_VERBS]
    actions = [item for item in inputs if not is_inspection(item)][:limit]
    last = actions[-1].tick if actions else 0
    free_count = limit - len(actions)
    shown_inputs = (
        actions + [item for item in inputs if is_inspection(item) and item.tick <= last][:free_count]
    )
    return tuple(sorted(shown_inputs, key=lambda item: item.tick))


def convert_reference_steps(steps: Sequence[tuple[Tick, str]]) -> tuple[Input, ...]:
    """Convert the steps (tick, line) of a reference to inputs."""
    return tuple(parse_input_line(line, tick) for tick, line in steps)


# --- answers ------------------------------------------------------------------------------------------------

WAIT_ANSWER_TICKS: Final = to_ticks(10.0)
"""Duration of the answer "wait", in ticks. Assumed: about two queries."""


class AnswerJudgment(Struct, frozen=True):
    """Judgment of an answer to a lesson."""

    value: float
    """Best known score that can be reached after the answer."""
    is_noop: bool
    """True if the answer was refused or changed nothing."""


def judge_action(drill: Drill, plans: Sequence[Sequence[Input]]) -> CooperativeTask[AnswerJudgment]:
    """Judge the last input of *drill* by the best score that *plans* and the reference can reach after it."""
    *before, last = drill.journal
    run = SearchDrill(drill.scenario, drill.seed)
    yield from play_in_slices(run, before, last.tick, skip_refused=True)
    idle = would_be_noop(run, last.line_without_time)
    with suppress(InputError):
        run.apply_line(last.line_without_time)
    return AnswerJudgment((yield from _search_value(run, plans)), idle)


def judge_wait(drill: Drill, plans: Sequence[Sequence[Input]]) -> CooperativeTask[AnswerJudgment]:
    """Judge the answer "wait", which lets WAIT_ANSWER_TICKS pass from the current position of *drill*."""
    run = SearchDrill(drill.scenario, drill.seed)
    yield from play_in_slices(run, drill.journal, drill.tick + WAIT_ANSWER_TICKS, skip_refused=True)
    return AnswerJudgment((yield from _search_value(run, plans)), False)


def is_good_answer(lesson: RunSegment, judgment: AnswerJudgment) -> bool:
    """Return whether the answer to *lesson* loses fewer points than an inaccuracy."""
    return lesson.before - judgment.value < INACCURACY_POINTS_MIN


def _search_value(run: SearchDrill, plans: Sequence[Sequence[Input]]) -> CooperativeTask[float]:
    rollout = yield from _find_best_rollout(run, plans)
    return rollout.score


def _find_best_rollout(
    run: SearchDrill, plans: Sequence[Sequence[Input]]
) -> CooperativeTask[continuations.Rollout]:
    candidates = continuations.list_continuations(run, plans)
    rollout = yield from continuations.find_best_rollout(
        continuations.BaselineRun(run), run, candidates, SCORE_TOTAL_MAX
    )
    return rollout


# --- internal -----------------------------------------------------------------------------------------------


def _join_waits(segments: Sequence[RunSegment]) -> Iterator[RunSegment]:
    waits: list[RunSegment] = []
    for move in segments:
        if move.line == WAITING:
            waits.append(move)
        elif (
            is_action(move.line) or move.line.startswith(FINISH_VERB) or move.regret >= EQUAL_SCORE_TOLERANCE
        ):
            yield from _merge_waits(waits)
            waits = []
            yield move
    yield from _merge_waits(waits)


def _merge_waits(waits: Sequence[RunSegment]) -> Iterator[RunSegment]:
    """Yield *waits* as one segment; yield nothing if no wait has a plan.

    The segment extends from the first wait with a plan to the last wait that lost points.
    """
    first_move = next((move for move in waits if move.plan), None)
    if first_move is None:
        return
    last = next(move for move in reversed(waits) if move.regret > 0.0)
    yield replace(
        first_move, until=last.until, after=last.after, label=_get_loss_label(first_move.before - last.after)
    )


def _get_loss_label(points_lost: float) -> str:
    return next((name for points, name in LOSS_LABELS if points_lost >= points), SEGMENT_LABELS[-1][1])
