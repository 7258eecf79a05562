"""Cooperative tasks: generators that yield the completed share between slices and return a result.

A program with a window runs one slice between two frames, and can cancel the task. Other programs call
`run_to_completion` (engine/generators.py).
"""

from collections import deque
from collections.abc import Generator, Iterable, Iterator
from typing import Final, Protocol, TypeVar

from engine.constants import TICKS_PER_S
from engine.drill.running.state import DrillState
from engine.events import Event
from engine.inputs import Input, InputError
from engine.localization import build_message, format_run_time
from engine.model import Tick


class PlayableRun(Protocol):
    """Common interface of a drill and of its history: they apply inputs and advance the time."""

    @property
    def drill(self) -> DrillState:
        """Drill that is played."""

    def apply_line(self, line: str) -> Input:
        """Apply an input line. Raises InputError."""

    def advance_to(self, tick: Tick) -> list[Event]:
        """Advance to *tick* and return the events."""


Result = TypeVar("Result")
Run = TypeVar("Run", bound=PlayableRun)
CooperativeTask = Generator[float, None, Result]
"""Generator that yields the completed share (0 to 1) and returns the result."""

SLICE_WORK: Final = 100 * TICKS_PER_S
"""Work of one slice, in ticks times databases. It equals one second of a hundred databases, which takes 3 ms,
or 20 ms during faults.

Assumed.
"""

BUSY_SLICE_TICKS: Final = 5
"""Ticks per slice while T-SQL has more work than fits in a tick (engine/tsql/batches/work.py)."""


def scale_progress(work: CooperativeTask[Result], start: float, end: float) -> CooperativeTask[Result]:
    """Run *work*, the part of a larger task in which the progress of the task rises from *start* to *end*."""
    while True:
        try:
            share = next(work)
        except StopIteration as end_of_it:
            result: Result = end_of_it.value
            return result
        yield start + share * (end - start)


def compute_slice_ticks(drill: DrillState, limit: int) -> int:
    """Return the number of ticks in one slice: *limit*, or fewer while T-SQL is busy."""
    busy = any(batch.waiting == "busy" for batch in drill.world.batches.values())
    return min(limit, BUSY_SLICE_TICKS) if busy else limit


def advance_in_slices(run: PlayableRun, tick: Tick) -> Iterator[None]:
    """Advance *run* to *tick* or to the end of the drill. Runs in slices."""
    drill = run.drill
    slice_ticks = max(1, SLICE_WORK // max(1, len(drill.world.availability)))
    while drill.tick < tick and not drill.finished:
        run.advance_to(min(tick, drill.tick + compute_slice_ticks(drill, slice_ticks)))
        yield


def play_in_slices(
    run: PlayableRun,
    inputs: Iterable[Input],
    tick: Tick,
    hashes: Iterable[tuple[Tick, str]] = (),
    skip_refused: bool = False,
) -> CooperativeTask[None]:
    """Play *inputs* at their times, then advance to *tick*. Runs in slices.

    *skip_refused*: True to skip a refused input; otherwise, InputError is raised. InputError is also raised
    if a state differs from *hashes*, because another version of the engine may produce another run. A hash at
    a tick with pending inputs is not compared, because it may have been computed before or after them.
    """
    drill = run.drill
    waiting, marks = deque(sorted(inputs, key=lambda item: item.tick)), deque(sorted(hashes))
    end = max([tick, *(item.tick for item in waiting)])
    start_tick = drill.tick
    while waiting or (drill.tick < tick and not drill.finished):
        stop = waiting[0].tick if waiting else tick
        for _ in advance_in_slices(run, min(stop, marks[0][0]) if marks else stop):
            yield (drill.tick - start_tick) / max(1, end - start_tick)
        is_input_due = bool(waiting) and (waiting[0].tick <= drill.tick or drill.finished)
        while marks and marks[0][0] <= drill.tick:
            mark_tick, wanted_state = marks.popleft()
            if mark_tick == drill.tick and not is_input_due and drill.compute_state_hash() != wanted_state:
                raise InputError(
                    build_message(
                        "the state at {moment} differs from the recorded state; another version recorded this "
                        "run",
                        moment=format_run_time(mark_tick / TICKS_PER_S, 2),
                    )
                )
        if is_input_due:
            try:
                run.apply_line(waiting.popleft().line_without_time)
            except InputError:
                if not skip_refused:
                    raise
            yield (drill.tick - start_tick) / max(1, end - start_tick)


def replay_inputs(
    run: Run,
    inputs: Iterable[Input],
    tick: Tick,
    hashes: Iterable[tuple[Tick, str]] = (),
    skip_refused: bool = False,
) -> CooperativeTask[Run]:
    """Run `play_in_slices`, and return *run* with all inputs applied.

    *skip_refused*: True to skip refused inputs.
    """
    yield from play_in_slices(run, inputs, tick, hashes, skip_refused)
    return run
