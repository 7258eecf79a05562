"""Detection of no-ops: actions that a server refuses or that change nothing."""

import re
from typing import Final

from engine.drill.authoring import condition_context
from engine.drill.judging import disabled_failovers
from engine.drill.par.search_drill import SearchDrill
from engine.inputs import InputError
from engine.model.world import FieldUse, World, list_parts
from engine.verbs import REMARK_VERBS

STATELESS_STATEMENT_PATTERN: Final = re.compile(r"ALTER (?:DATABASE|AVAILABILITY GROUP) \S+ [^;]+;?")
"""Pattern of normalized statements that leave no state in their query window."""

COMPARED_WORLD_PARTS: Final = list_parts(FieldUse.COMPARE)
"""Parts of a world that determine its future, except the state of the query window."""

_QUOTED: Final = re.compile(r"\"([^\"]*)\"|'([^']*)'")
_NUMBER: Final = re.compile(r"\d+")


def is_noop(previous_run: SearchDrill, current_run: SearchDrill) -> bool:
    """Return whether the last action of *current_run* was a statement without effect on world and score.

    *previous_run* is the run before this action at the same tick. Omitting such a statement can never lower
    the score.
    """
    if current_run.journal[-1].verb != "sql" or len(current_run._batches) != len(previous_run._batches) + 1:
        return False
    batch = current_run._batches[-1]
    text = condition_context.normalize_sql(batch.text, keep_literals=True)
    if not STATELESS_STATEMENT_PATTERN.fullmatch(text) or _affects_score(current_run, text, batch.errors):
        return False
    return _has_equal_state(previous_run.world, current_run.world)


def would_be_noop(drill: SearchDrill, line: str) -> bool:
    """Return whether *line* cannot be applied now, or would have no effect on the world and the score."""
    trial = drill.fork()
    try:
        item = trial.apply_line(line)
    except InputError:
        return True
    if item.verb in REMARK_VERBS or not _has_equal_state(drill.world, trial.world):
        return False
    if item.verb == "sql" and len(trial._batches) != len(drill._batches) + 1:
        return False
    batch = trial._batches[-1] if item.verb == "sql" else None
    text = condition_context.normalize_sql(item.args[-1] if item.args else "", keep_literals=True)
    return not _affects_score(trial, text, [] if batch is None else batch.errors)


def _affects_score(drill: SearchDrill, text: str, errors: list[int]) -> bool:
    """Return whether a condition tests this batch, or the batch disables automatic failover.

    *errors*: error numbers of the batch.
    """
    gives_up = any(pattern.search(text) for pattern in disabled_failovers.DISABLING_COMMANDS.values())
    return gives_up or _is_in_condition(drill, text, errors)


def _is_in_condition(drill: SearchDrill, text: str, errors: list[int]) -> bool:
    """Return whether a condition tests this batch or one of its errors."""
    numbers = {str(number) for number in errors}
    for condition in drill._conditions:
        quoted = ("".join(quoted_text) for quoted_text in _QUOTED.findall(condition))
        if any(
            condition_context.normalize_sql(quoted_text, keep_literals=True) in text for quoted_text in quoted
        ):
            return True
        if numbers.intersection(_NUMBER.findall(condition)):
            return True
    return False


def _has_equal_state(left_world: World, right_world: World) -> bool:
    return (
        left_world.chance.state == right_world.chance.state
        and _list_timers(left_world) == _list_timers(right_world)
        and all(getattr(left_world, name) == getattr(right_world, name) for name in COMPARED_WORLD_PARTS)
        and left_world.flow.get_state_key() == right_world.flow.get_state_key()
    )


def _list_timers(world: World) -> list[tuple[object, ...]]:
    """Return the timers without their serial numbers."""
    return [(tick, name, args) for tick, _, name, args in sorted(world.timers)]
