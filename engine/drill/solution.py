"""Playing a drill without a person: the reference solution, and nobody at all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from engine.constants import TICKS_PER_S
from engine.drill.drill import Drill
from engine.drill.schema import Scenario
from engine.inputs import parse_script
from engine.model import Tick, ticks

SETTLE_S: Final = 120.0
"""How long a run without an end of its own goes on after its last input: boot, start, resynchronize."""

PATIENCE_S: Final = 3600.0
"""How long a step of a solution waits for its condition where the scenario has no length."""

Begin = Callable[[Scenario, int | None], Drill]
"""Begins a drill of a scenario with a seed; a program with a window begins one that can be stopped."""


def default_end(drill: Drill, last: Tick = 0) -> Tick:
    """When a headless run ends unless told: the scenario's length, or some time after the *last* input."""
    if drill.end_tick is not None:
        return drill.end_tick
    timeline = [inject.at or max(inject.between or (0.0,)) for inject in drill.scenario.timeline]
    return max(last, ticks(max(timeline, default=0.0))) + ticks(SETTLE_S)


def play_solution(drill: Drill) -> None:
    """Play the scenario's reference solution to the end of the drill.

    A step with a condition waits for it; `+5` counts from there, or from the step before. Raises InputProblem
    for a step that cannot be done.
    """
    for step in drill.scenario.solution:
        (item,), _ = parse_script(step.do.strip())
        if step.when is not None:
            _wait_for(drill, step.when)
        relative = step.do.lstrip().startswith("+")
        drill.advance_to(item.tick + (drill.tick if relative else 0))
        if drill.finished:
            return
        drill.do(item.words)
    drill.advance_to(default_end(drill, drill.tick))


def _wait_for(drill: Drill, condition: str) -> None:
    give_up = drill.tick + ticks(PATIENCE_S) if drill.end_tick is None else drill.end_tick
    while not drill.finished and not drill.holds(condition) and drill.tick < give_up:
        drill.advance_to((drill.tick // TICKS_PER_S + 1) * TICKS_PER_S)


def played(scenario: Scenario, seed: int | None = None, begin: Begin = Drill) -> Drill:
    """A finished drill in which the reference solution was played."""
    drill = begin(scenario, seed)
    play_solution(drill)
    return drill


def left_alone(scenario: Scenario, seed: int | None = None, begin: Begin = Drill) -> Drill:
    """A drill in which nobody did anything until its end."""
    drill = begin(scenario, seed)
    drill.advance_to(default_end(drill))
    return drill
