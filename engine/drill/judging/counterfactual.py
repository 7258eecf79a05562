"""Result of a run without one of its actions, found by a replay without this action.

The replay also omits consequences of the action: input lines that can no longer be applied, and batches
that are refused only in the replay. It omits emergency measures (forcing service or removing a session)
for a database that recovers automatically without them.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct

from engine.constants import TICKS_PER_S
from engine.drill.authoring import condition_context
from engine.drill.judging import difference
from engine.drill.judging.difference import OutcomeRow
from engine.drill.running.drill import Drill, DrillEndReason
from engine.drill.running.solution import find_default_end
from engine.drill.time.cooperative_tasks import CooperativeTask, advance_in_slices
from engine.events import SqlDoneData, select_data
from engine.inputs import Input, InputError
from engine.model import Tick, to_ticks
from engine.protocol import availability
from engine.tsql.language.lexer import is_read_only_input
from engine.verbs import REMARK_VERBS
from engine.verbs.input_lines import describe_input

COUNTERFACTUAL_ACTIONS_MAX: Final = 12
"""Maximum number of actions that are tested by a replay without them. Assumed.

Actions that are not in the reference are tested first, then by time, the earliest first.
"""

TEST_WORK_MAX: Final = 60 * 3600 * TICKS_PER_S
"""Maximum total work of all replays that omit an action, in ticks times databases.

Assumed: sixty hours of one database, which take half a minute to replay.
"""

RECOVERY_S_MAX: Final = 60.0
"""Maximum seconds of an automatic recovery that makes an emergency measure needless.

Assumed: several times the duration of a failover.
"""

REFUSAL_DELAY_S: Final = 1.0
"""Time within which a server reports that it refuses a command."""

_EMERGENCY_PATTERN: Final = re.compile(r"FORCE_SERVICE_ALLOW_DATA_LOSS|SET PARTNER OFF|WITH RECOVERY")
"""Pattern of statements that restore service by forcing it or by removing the session."""


class ActionImpact(Struct, frozen=True):
    """Impact of a trainee's action: the result of the run, compared with its result without the action."""

    place: int
    """Index of the action in the journal."""
    tick: Tick
    what: str
    """Description of the action: the command and its server, or an action such as power-off."""
    outcomes: tuple[OutcomeRow, ...]
    """Outcomes of this run (left), and of the run without the action (right)."""
    points: float
    """Points that the run would gain without the action."""
    gains: tuple[tuple[str, float], ...]
    """(rubric item, points that the item would gain without the action)."""

    def get_gained_points(self, item: str) -> float:
        """Return the points that a rubric item would gain without the action."""
        return dict(self.gains).get(item, 0.0)


QUERY_CMDLET_PREFIXES: Final = ("get-", "test-", "resolve-")
"""Beginnings of PowerShell cmdlets that only query."""
POWERSHELL_ACTION_PATTERN: Final = re.compile(
    r"=|\b(?:set|start|stop|move|suspend|resume|restart|add|remove)-", re.IGNORECASE
)
"""Pattern of an assignment or an action cmdlet. A PowerShell line with such a part is not only a query."""

_PROCEDURE_ARGUMENT_PATTERN: Final = r"(?:@\w+ ?= ?)?(?:N?'[^']*'|[\w.-]+)"
"""Pattern of an argument of a procedure."""
READ_ONLY_PROCEDURES_PATTERN: Final = re.compile(
    r"(?:USE \w+[; ]+)?(?:(?:EXEC(?:UTE)? )?(?:\w+\.){0,2}"
    r"(?:[XS]P_READERRORLOG|XP_FIXEDDRIVES|SP_HELPDB|SP_WHO2?|SP_DBMMONITORHELPALERT|SP_DBMMONITORRESULTS)\b"
    rf"(?: {_PROCEDURE_ARGUMENT_PATTERN}(?: ?, ?{_PROCEDURE_ARGUMENT_PATTERN})*)?[; ]*)+"
)
"""Pattern of a normalized batch that calls only procedures that show data. sp_dbmmonitorresults may also
record a row.
"""


def is_inspection(input_: Input) -> bool:
    """Return whether an input only queries a server or a cluster, without changing anything."""
    if input_.verb == "ps":
        return input_.args[1].lstrip(" (").lower().startswith(
            QUERY_CMDLET_PREFIXES
        ) and not POWERSHELL_ACTION_PATTERN.search(input_.args[1])
    if input_.verb != "sql":
        return False
    return (
        is_read_only_input(input_)
        or READ_ONLY_PROCEDURES_PATTERN.fullmatch(
            condition_context.normalize_sql(input_.args[1], keep_literals=False)
        )
        is not None
    )


def measure_action_impacts(
    drill: Drill, indices: Sequence[int] | None = None
) -> CooperativeTask[tuple[ActionImpact, ...]]:
    """Return the impact of each action of a finished run, the most harmful first. Runs in slices.

    *indices*: journal indexes of the actions to test; None means at most COUNTERFACTUAL_ACTIONS_MAX actions
    that changed something.
    """
    indexes = sorted(_list_candidates(drill) if indices is None else indices)
    run = Drill(drill.scenario, drill.seed, drill.mode)
    impacts: list[ActionImpact] = []
    work_total, width = 0, max(1, len(run.world.availability))
    for number, item in enumerate(drill.journal):
        for _ in advance_in_slices(run, item.tick):
            yield len(impacts) / max(1, len(indexes))
        if number in indexes and work_total < TEST_WORK_MAX:
            counterfactual = run.fork()
            for _ in _play_remaining_journal(counterfactual, drill, number + 1):
                yield len(impacts) / len(indexes)
            work_total += (counterfactual.tick - run.tick) * width
            impacts.append(_measure_impact(drill, counterfactual, number))
        if len(impacts) == len(indexes) or run.finished:
            break
        run.apply_line(item.line_without_time)
    return tuple(sorted(impacts, key=lambda deed: (-deed.points, deed.tick)))


def _list_candidates(drill: Drill) -> list[int]:
    """Return the journal indexes of actions that changed something.

    Actions that the reference also contains come last.
    """
    reference = " ".join(
        condition_context.normalize_sql(step.do, keep_literals=True) for step in drill.scenario.solution
    )
    indexes = [
        n for n, item in enumerate(drill.journal) if item.verb not in REMARK_VERBS and not is_inspection(item)
    ]
    known_places = {
        n
        for n in indexes
        if condition_context.normalize_sql(drill.journal[n].line_without_time, keep_literals=True)
        in reference
    }
    return sorted(indexes, key=lambda n: (n in known_places, n))[:COUNTERFACTUAL_ACTIONS_MAX]


def _measure_impact(drill: Drill, counterfactual: Drill, index: int) -> ActionImpact:
    own_score, theirs = drill.compute_score(), counterfactual.compute_score()
    before = {item.name: item.points for item in own_score.items}
    points_by_item = {item.name: item.points for item in theirs.items}
    gains = {
        name: points_by_item.get(name, 0.0) - before.get(name, 0.0) for name in {**before, **points_by_item}
    }
    item = drill.journal[index]
    return ActionImpact(
        index,
        item.tick,
        describe_input(item),
        tuple(difference.compare_outcomes(drill, counterfactual)),
        round(theirs.total - own_score.total, 1),
        tuple((name, round(gain, 1)) for name, gain in gains.items() if gain),
    )


# --- the other run ------------------------------------------------------------------------------------------


def _play_remaining_journal(counterfactual: Drill, drill: Drill, index: int) -> Iterator[None]:
    """Play the journal of *drill* from *index* on in *counterfactual*.

    Consequences of the omitted action are not played.
    """
    for item in drill.journal[index:]:
        yield from _advance_and_answer(counterfactual, drill, item.tick)
        if counterfactual.finished:
            return
        if item.verb in ("answer", "rewind") or (
            item.verb == "sql" and _is_needless_batch(counterfactual, drill, item)
        ):
            continue
        try:
            counterfactual.apply_line(item.line_without_time)
        except InputError:
            continue  # the object of the action does not exist without the omitted action
    is_over = drill.ended_by in (DrillEndReason.GOALS, DrillEndReason.FORBIDDEN, DrillEndReason.TIME)
    yield from _advance_and_answer(
        counterfactual,
        drill,
        max(drill.tick, find_default_end(counterfactual, drill.tick)) if is_over else drill.tick,
    )


def _advance_and_answer(counterfactual: Drill, drill: Drill, tick: Tick) -> Iterator[None]:
    """Advance *counterfactual* to *tick*, and answer its questions as correctly as in *drill*."""
    waiting = any(answer.choice is not None for answer in drill.answers.values())
    while counterfactual.tick < tick and not counterfactual.finished:
        yield from advance_in_slices(
            counterfactual, min(tick, counterfactual.tick + 10 * TICKS_PER_S) if waiting else tick
        )
        for question in counterfactual.list_open_questions() if not counterfactual.finished else ():
            answer, right = (
                drill.answers[question.name],
                counterfactual.answers[question.name].correct_choices,
            )
            if answer.choice is not None:
                choice = right[0] if answer.correct and right else answer.choice
                counterfactual.apply_line(f"answer {question.name} {choice}")


def _is_needless_batch(counterfactual: Drill, drill: Drill, input_: Input) -> bool:
    """Return whether a batch of *drill* is needless in *counterfactual*, or is refused only in that run."""
    if is_inspection(input_):
        return False
    text = condition_context.normalize_sql(input_.args[1], keep_literals=False)
    if _EMERGENCY_PATTERN.search(text) and _would_recover(counterfactual, text):
        return True
    trial = counterfactual.fork()
    try:
        trial.apply_line(input_.line_without_time)
    except InputError:
        return True
    trial.advance_to(counterfactual.tick + to_ticks(REFUSAL_DELAY_S))
    return was_batch_refused(trial, input_) and not was_batch_refused(drill, input_)


def was_batch_refused(drill: Drill, input_: Input) -> bool:
    """Return whether the batch of *input_*, which *drill* has applied, ended with an error."""
    return any(
        batch.started_tick == input_.tick
        and event.server == input_.args[0].partition("#")[0]
        and bool(condition_context.list_error_numbers(batch))
        for event, batch in select_data(drill.events, SqlDoneData)
    )


def _would_recover(counterfactual: Drill, text: str) -> bool:
    """Return whether every database in *text* would be online after RECOVERY_S_MAX without further inputs."""
    named_databases = [name for name in counterfactual.world.availability if name.upper() in text]
    trial = counterfactual.fork()
    trial.advance_to(counterfactual.tick + to_ticks(RECOVERY_S_MAX))
    return bool(named_databases) and all(
        availability.list_serving_copies(trial.world, name) for name in named_databases
    )


# --- start time of a retry --------------------------------------------------------------------------------
# A retry starts so early that the trainee has time to look, think and type before the mistake.

QUERY_S: Final = 5.0
"""Seconds to run a query and read its result. Assumed."""

ACTION_PREPARATION_S: Final = 1.35
"""Seconds to prepare an action mentally [Card, Moran and Newell 1980, keystroke-level model]."""
KEYSTROKE_S: Final = 0.28
"""Seconds per keystroke of an average typist [Card, Moran and Newell 1980, keystroke-level model]."""

RETRY_LEAD_S_MAX: Final = 60.0
"""Maximum time from the start of a retry to the mistake that it repeats.

Assumed: text that takes longer to type is pasted, or typed with the clock paused.
"""


def find_retry_tick(tick: Tick, action: Input | None, journal: Iterable[Input]) -> Tick:
    """Return the latest tick from which a person can still type *action* before *tick*.

    *action*: None means an action without text to type. Actions in *journal* before the returned tick
    are kept. If the person still has time for a query between such an action and *tick*, the retry
    begins after that action.
    """
    typed_length = (
        0 if action is None else len(action.args[-1] if action.verb in ("sql", "ps") else action.command_text)
    )
    earliest_tick = tick - to_ticks(
        min(RETRY_LEAD_S_MAX, QUERY_S + ACTION_PREPARATION_S + KEYSTROKE_S * typed_length)
    )
    action_ticks = [
        item.tick for item in journal if item.verb not in REMARK_VERBS and not is_inspection(item)
    ]
    retry_ticks = [
        action_tick + 1
        for action_tick in action_ticks
        if earliest_tick <= action_tick <= tick - to_ticks(QUERY_S)
    ]
    return max(0, earliest_tick, *retry_ticks)
