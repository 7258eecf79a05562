"""Players for seats without a window: for a file of input lines, the reference solution, or typed lines."""

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Final, TextIO

from app.classroom.seat_run import SeatRun
from app.files import scenario_files
from app.files.scenario_files import ScenarioNotFoundError
from app.words.language import tr
from engine.constants import TICKS_PER_S
from engine.drill.authoring.problems import ScenarioError
from engine.drill.authoring.scenario import select_variant
from engine.drill.running.solution import find_default_end, play_solution_in_slices
from engine.drill.time.cooperative_tasks import play_in_slices
from engine.generators import run_to_completion
from engine.inputs import Input, InputError

POLL_TICKS: Final = TICKS_PER_S // 10
"""Ticks between two checks for typed input."""


class SolutionNotFoundError(Exception):
    """Error for a drill whose reference solution is not available. The text gives the reason."""


def create_input_player(lines: Sequence[Input]) -> Callable[[SeatRun, int], None]:
    """Return a player that applies those *lines* that the seat has not applied yet. It skips refused lines."""

    def play(run: SeatRun, input_count: int) -> None:
        drill = run.drill
        lines_at_tick = {item.line_without_time for item in drill.journal if item.tick == drill.tick}
        remaining = [
            item
            for item in lines
            if item.tick > drill.tick
            or (item.tick == drill.tick and item.line_without_time not in lines_at_tick)
        ]
        end = find_default_end(drill, max((item.tick for item in lines), default=0))
        run_to_completion(play_in_slices(run, remaining, end, skip_refused=True))

    return play


def play_reference(run: SeatRun, input_count: int) -> None:
    """Play the remaining steps of the reference solution, then advance to the end of the run.

    *input_count*: number of steps that were played before. An exam seat receives no solution. Therefore the
    local drill with the same name provides it. Raises SolutionNotFoundError.
    """
    drill = run.drill
    steps = drill.scenario.solution
    if not steps:
        with suppress(ScenarioNotFoundError, ScenarioError):
            steps = select_variant(
                scenario_files.find_scenario_file(drill.scenario.name).load(), drill.seed
            ).solution
    if not steps:
        raise SolutionNotFoundError(
            tr("the reference solution of {name} is not on this computer").format(name=drill.scenario.name)
        )
    try:
        run_to_completion(play_solution_in_slices(run, steps[input_count:]))
    except InputError:  # an inject may have changed the situation for which the solution was written
        run_to_completion(play_in_slices(run, [], find_default_end(drill, drill.tick)))


def create_typing_player(lines: TextIO, refuse: Callable[[str], object]) -> Callable[[SeatRun, int], None]:
    """Return a player that applies each line as it is typed, until the run or the input ends.

    *refuse* receives the reason if a line is refused.
    """
    input_lines: SimpleQueue[str | None] = SimpleQueue()

    def read_typed_lines() -> None:
        for line in lines:
            input_lines.put(line)
        input_lines.put(None)

    listening = threading.Thread(target=read_typed_lines, daemon=True)

    def play(run: SeatRun, input_count: int) -> None:
        if (
            listening.ident is None
        ):  # after a rewind, the thread already runs; lines that were applied are not repeated
            listening.start()
        while not run.drill.finished:
            try:
                line = input_lines.get_nowait()
            except Empty:
                run.advance_to(run.drill.tick + POLL_TICKS)
                continue
            if line is None:
                return
            if line.strip():
                try:
                    if not run.execute_hand_command(line.strip()):
                        run.apply_line(line.strip())
                except InputError as problem:
                    refuse(str(problem))

    return play
