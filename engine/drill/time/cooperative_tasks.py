"""Long work in slices: a generator that yields the completed share and returns the result.

A program with a window runs a slice between two frames and may cancel the work. Other programs call
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
    """Interface of a drill and of its history: apply inputs and advance time."""

    @property
    def drill(self) -> DrillState:
        """Return the drill that is played."""

    def apply_line(self, line: str) -> Input:
        """Apply an input line. Raises InputError."""

    def advance_to(self, tick: Tick) -> list[Event]:
        """Advance to *tick* and return the events."""


Result = TypeVar("Result")
Kind = TypeVar("Kind", bound=PlayableRun)
Slices = Generator[float, None, Result]
"""Generator of the completed share (0 to 1) that returns the result."""

SLICE_ROWS: Final = 100 * TICKS_PER_S
"""Work of one slice in ticks times databases: a second of a hundred databases, 3 ms, or 20 ms during faults.

Assumed.
"""

SQL_TICKS: Final = 5
"""Ticks per slice while T-SQL has more work than a tick can do (engine/tsql/batches/work.py)."""


def scale_progress(work: Slices[Result], start: float, end: float) -> Slices[Result]:
    """Scale the progress of *work* to the range from *start* to *end* of a larger task."""
    while True:
        try:
            share = next(work)
        except StopIteration as end_of_it:
            result: Result = end_of_it.value
            return result
        yield start + share * (end - start)


def compute_stride(drill: DrillState, limit: int) -> int:
    """Return the number of ticks, at most *limit*, that the run may advance before the next check of the time."""
    busy = any(batch.waiting == "busy" for batch in drill.world.batches.values())
    return min(limit, SQL_TICKS) if busy else limit


def advance_in_slices(run: PlayableRun, tick: Tick) -> Iterator[None]:
    """Advance *run* to *tick*, or to the end of the drill. Runs in slices."""
    drill = run.drill
    slice_ticks = max(1, SLICE_ROWS // max(1, len(drill.world.availability)))
    while drill.tick < tick and not drill.finished:
        run.advance_to(min(tick, drill.tick + compute_stride(drill, slice_ticks)))
        yield


def play_in_slices(
    run: PlayableRun,
    inputs: Iterable[Input],
    tick: Tick,
    hashes: Iterable[tuple[Tick, str]] = (),
    lenient: bool = False,
) -> Slices[None]:
    """Play *inputs* at their times, then continue to *tick*. Runs in slices.

    Raises InputError for a refused input (*lenient*: skips it), and for a world that deviates from *hashes*,
    because another version of the engine may play another run. A hash at a tick with pending inputs is not
    compared, because it may belong before or after them.
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
                        "the state differs from the recorded one at {moment}; another version "
                        "recorded this run",
                        moment=format_run_time(mark_tick / TICKS_PER_S, 2),
                    )
                )
        if is_input_due:
            try:
                run.apply_line(waiting.popleft().line_without_time)
            except InputError:
                if not lenient:
                    raise
            yield (drill.tick - start_tick) / max(1, end - start_tick)


def replay_inputs(
    run: Kind,
    inputs: Iterable[Input],
    tick: Tick,
    hashes: Iterable[tuple[Tick, str]] = (),
    lenient: bool = False,
) -> Slices[Kind]:
    """Run `play_in_slices` and return *run* with all inputs applied."""
    yield from play_in_slices(run, inputs, tick, hashes, lenient)
    return run
