"""Automatic players of a drill: one plays the reference solution, one does nothing."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from engine.constants import TICKS_PER_S
from engine.drill.authoring.schema import Scenario, SolutionStep
from engine.drill.running.drill import Drill
from engine.drill.running.state import DrillState
from engine.drill.time.cooperative_tasks import CooperativeTask, PlayableRun, advance_in_slices
from engine.generators import run_to_completion
from engine.model import Tick, to_ticks
from engine.verbs.input_lines import parse_script

END_DELAY_S: Final = 120.0
"""Seconds for which a run without a defined end continues after its last input, for boot, start and
resynchronization.
"""

CONDITION_WAIT_S_MAX: Final = 3600.0
"""Maximum seconds for which a solution step waits for its condition, if the scenario has no length."""

DrillStarter = Callable[[Scenario, int | None], Drill]
"""Function that starts a drill with a scenario and a seed.

The scenario editor passes a drill class whose drills can be canceled.
"""


def find_default_end(drill: DrillState, last_tick: Tick = 0) -> Tick:
    """Return the tick at which a run without a user ends by default.

    It is the scenario's length. Without a length, it is END_DELAY_S after *last_tick* or the last
    timeline input, whichever is later.
    """
    if drill.end_tick is not None:
        return drill.end_tick
    timeline = [inject.at or max(inject.between or (0.0,)) for inject in drill.scenario.timeline]
    return max(last_tick, to_ticks(max(timeline, default=0.0))) + to_ticks(END_DELAY_S)


def play_solution(drill: Drill) -> None:
    """Play the reference solution of the scenario to the end of the drill.

    A step with a condition waits until the condition is met. A relative time such as `+5` counts from then,
    or from the preceding step. Raises InputError for a refused step.
    """
    run_to_completion(play_solution_in_slices(drill))


def play_solution_in_slices(
    run: PlayableRun, steps: Sequence[SolutionStep] | None = None
) -> CooperativeTask[None]:
    """Run `play_solution` in slices, for a drill or a history.

    *steps*: steps to play instead of the whole solution.
    """
    drill = run.drill
    expected = find_default_end(drill) if drill.end_tick is not None else to_ticks(CONDITION_WAIT_S_MAX)
    for step in drill.scenario.solution if steps is None else steps:
        (item,), _ = parse_script(step.do.strip())
        if step.when is not None:
            for _ in _wait_for_condition(run, drill, step.when):
                yield min(1.0, drill.tick / expected)
        relative = step.do.lstrip().startswith("+")
        for _ in advance_in_slices(run, item.tick + (drill.tick if relative else 0)):
            yield min(1.0, drill.tick / expected)
        if drill.finished:
            return
        run.apply_line(item.line_without_time)
    for _ in advance_in_slices(run, find_default_end(drill, drill.tick)):
        yield min(1.0, drill.tick / expected)


def _wait_for_condition(run: PlayableRun, drill: DrillState, condition: str) -> Iterator[None]:
    give_up = drill.tick + to_ticks(CONDITION_WAIT_S_MAX) if drill.end_tick is None else drill.end_tick
    while not drill.finished and not drill.is_condition_met(condition) and drill.tick < give_up:
        yield from advance_in_slices(run, (drill.tick // TICKS_PER_S + 1) * TICKS_PER_S)


def play_reference(scenario: Scenario, seed: int | None = None, begin: DrillStarter = Drill) -> Drill:
    """Return a finished drill in which the reference solution was played.

    *begin*: function that starts a drill.
    """
    drill = begin(scenario, seed)
    play_solution(drill)
    return drill


def play_idle(scenario: Scenario, seed: int | None = None, begin: DrillStarter = Drill) -> Drill:
    """Return a finished drill without inputs.

    *begin*: function that starts a drill.
    """
    drill = begin(scenario, seed)
    drill.advance_to(find_default_end(drill))
    return drill
