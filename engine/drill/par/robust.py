"""What a plan is worth where chance falls otherwise: its acts as reactions to what is seen, played with other seeds.

After Go-Explore (Ecoffet and others, First return, then explore, Nature 590, 2021): an archive keeps the best plan of
each kind, and what luck has found is made robust over seeds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from engine.constants import TICKS_PER_S
from engine.drill.par.lean import Lean
from engine.drill.par.sight import MONITOR_S, seen
from engine.drill.par.trials import Plan
from engine.drill.par.ways import Patient
from engine.drill.running.solution import default_end
from engine.events import Event
from engine.inputs import Input, InputProblem
from engine.model import Tick, ticks

KINDS_MAX: Final = 4
"""Kinds of plans that are played with other seeds, the best ones. Assumed."""


@dataclass(frozen=True, slots=True)
class Reaction:
    """An act, and when it is due in a run in which everything may come at another time."""

    happened: int
    """How many things of the story have happened before it."""
    delay: Tick
    """After the first symptom of the last of them; from the beginning where none has."""
    words: str


def archive(plans: Iterable[Plan]) -> list[Plan]:
    """The best plans of KINDS_MAX kinds: those that do the same after the same things have happened are of one kind."""
    kinds: dict[tuple[tuple[str, int], ...], Plan] = {}
    for plan in plans:
        kind = tuple(
            sorted((item.words, after) for item, after in zip(plan.acts, plan.happened, strict=True))
        )
        if kind not in kinds or plan.key < kinds[kind].key:
            kinds[kind] = plan
    return sorted(kinds.values(), key=_key)[:KINDS_MAX]


def reactions(run: Lean, acts: Sequence[Input]) -> tuple[Reaction, ...]:
    """The *acts* of a run that has ended, as reactions."""
    found = []
    for item in acts:
        story = [tick for tick in run.story_ticks if tick <= item.tick]
        found.append(Reaction(len(story), item.tick - _symptom(story, run.events), item.words))
    return tuple(found)


def react(run: Lean, plan: Sequence[Reaction]) -> float:
    """What *run* comes to with the reactions, from its beginning on; what is refused waits until it is accepted."""
    end = default_end(run)
    for reaction in plan:
        while run.tick < end and not run.finished and not _shows(run, reaction.happened):
            run.advance_to(min(end, (run.tick // TICKS_PER_S + 1) * TICKS_PER_S))
        due = _symptom(run.story_ticks[: reaction.happened], run.events) + reaction.delay
        run.advance_to(min(end, max(run.tick, due)))
        with suppress(InputProblem):
            Patient(run).do(reaction.words)
    run.advance_to(default_end(run, run.tick))
    return run.total()


# --- inside -------------------------------------------------------------------------------------------------


def _shows(run: Lean, happened: int) -> bool:
    """Whether so much of the story has happened and the last of it can be seen."""
    if len(run.story_ticks) < happened:
        return False
    return not happened or run.tick >= _symptom(run.story_ticks[:happened], run.events)


def _symptom(story: Sequence[Tick], events: Iterable[Event]) -> Tick:
    """When the last thing of the *story* shows first; 0: nothing has happened."""
    if not story:
        return 0
    shows = (event.tick for event in events if event.tick > story[-1] and seen(event))
    return min(next(shows, story[-1] + ticks(MONITOR_S)), story[-1] + ticks(MONITOR_S))


def _key(plan: Plan) -> tuple[object, ...]:
    return plan.key
