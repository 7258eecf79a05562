"""Acts in vain: what a server has refused, or done without changing anything."""

from __future__ import annotations

import re
from typing import Final

from engine.drill.authoring import batches
from engine.drill.judging import given_up_failover
from engine.drill.par.lean import Lean
from engine.inputs import InputProblem
from engine.model.world import HASHED, World
from engine.verbs import REMARKS

STATEMENT: Final = re.compile(r"ALTER (?:DATABASE|AVAILABILITY GROUP) \S+ [^;]+;?")
"""What leaves nothing in its window, in plain capitals."""

PARTS: Final = (*(name for name in HASHED if name != "sessions"), "programs", "failovers", "faults")
"""Of a world: all that decides its future, but for the window in which the statement was."""

_QUOTED: Final = re.compile(r"\"([^\"]*)\"|'([^']*)'")
_NUMBER: Final = re.compile(r"\d+")


def in_vain(before: Lean, after: Lean) -> bool:
    """Whether the act that made *after* of *before* at the same tick was a statement that has left everything as it was
    and for which no rule of the score looks: whatever is done then is worth no more than without it."""
    if after.journal[-1].verb != "sql" or len(after._batches) != len(before._batches) + 1:
        return False
    batch = after._batches[-1]
    text, errors = batches.plain(str(batch.get("batch", "")), keep_literals=True), batches.errors(batch)
    if not STATEMENT.fullmatch(text) or _counts(after, text, errors):
        return False
    return _same(before.world, after.world)


def is_idle(drill: Lean, line: str) -> bool:
    """Whether *line* cannot be done now, or would leave everything as it is, and no rule of the score looks for it."""
    after = drill.fork()
    try:
        item = after.do(line)
    except InputProblem:
        return True
    if item.verb in REMARKS or not _same(drill.world, after.world):
        return False
    if item.verb == "sql" and len(after._batches) != len(drill._batches) + 1:
        return False
    batch = after._batches[-1] if item.verb == "sql" else None
    text = batches.plain(item.args[-1] if item.args else "", keep_literals=True)
    return not _counts(after, text, [] if batch is None else batches.errors(batch))


def _counts(drill: Lean, text: str, errors: list[int]) -> bool:
    """Whether a rule of the score looks at this batch, or it costs more than a refusal."""
    gives_up = any(pattern.search(text) for pattern in given_up_failover.COMMANDS.values())
    return gives_up or _is_asked_for(drill, text, errors)


def _is_asked_for(drill: Lean, text: str, errors: list[int]) -> bool:
    """Whether a condition speaks of this batch or of an error that it met."""
    numbers = {str(number) for number in errors}
    for condition in drill._conditions:
        quoted = ("".join(each) for each in _QUOTED.findall(condition))
        if any(batches.plain(each, keep_literals=True) in text for each in quoted):
            return True
        if numbers.intersection(_NUMBER.findall(condition)):
            return True
    return False


def _same(one: World, other: World) -> bool:
    return (
        one.chance.state == other.chance.state
        and _timers(one) == _timers(other)
        and all(getattr(one, name) == getattr(other, name) for name in PARTS)
        and one.flow.mark() == other.flow.mark()
    )


def _timers(world: World) -> list[tuple[object, ...]]:
    """Without their order numbers."""
    return [(tick, name, args) for tick, _, name, args in sorted(world.timers)]
