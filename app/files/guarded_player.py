"""Player with limits of processor time and memory, for runs from other authors. Without Qt.

Judge, export, report, verify and replay all use this module. A failure of such a run raises UnplayableError
and no other exception. No run exceeds its budget.
"""

import os
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from msgspec import Struct

from app.words.language import tr
from engine.constants import TICKS_PER_S
from engine.drill.authoring.problems import ScenarioError
from engine.drill.running.drill import Drill
from engine.drill.time.cooperative_tasks import advance_in_slices
from engine.inputs import Input, InputError
from engine.model import Tick

MEMORY_GROWTH_BYTES_MAX: Final = 1_000_000_000
"""Maximum memory in bytes by which one run may increase the size of the process.

Assumed: ten times the memory of a run of two hours with two hundred databases.
"""


class RunBudget(Struct, frozen=True):
    """Limits for playing one run. All figures are assumed."""

    tick_max: Tick
    """Maximum simulated time of a run, in ticks."""
    base_processor_s: float
    """Processor time that every run may use, regardless of its length."""
    processor_s_per_simulated_s: float
    """Additional processor time per simulated second. A hundred databases during faults need 0.02."""
    processor_s_max: float
    """Maximum processor time of any run."""
    events_max: int = 2_000_000

    def compute_allowed_s(self, tick: Tick) -> float:
        """Return the processor time that a run may use up to *tick*."""
        return min(
            self.processor_s_max,
            self.base_processor_s + self.processor_s_per_simulated_s * tick / TICKS_PER_S,
        )


SEAT_BUDGET: Final = RunBudget(8 * 3600 * TICKS_PER_S, 60.0, 0.1, 3_000.0)
"""Budget for the run of a participant in a class."""
FILE_BUDGET: Final = RunBudget(1_000_000 * TICKS_PER_S, 20.0, 0.02, 200.0)
"""Budget for a run in a file of unknown origin."""


class PlayerHeartbeat:
    """Heartbeat of the player in this process, for a thread that detects stuck runs."""

    last_beat_s = 0.0
    """Processor time of this process at the last heartbeat."""


HEARTBEAT: Final = PlayerHeartbeat()


class UnplayableError(Exception):
    """Error for a run that cannot be played further. The text gives the reason as a clause."""


class GuardedPlayer:
    """Player of one run, which stops the run if it exceeds its budget."""

    def __init__(self, drill: Drill, budget: RunBudget, spent_s: float = 0.0) -> None:
        """Create a player. *spent_s*: processor time that the run has already used."""
        self.drill = drill
        self.spent_s = spent_s
        self._budget = budget
        self._resident = read_resident_bytes()

    @property
    def is_budget_used_up(self) -> bool:
        """True if the run has used up the processor time of its budget."""
        return self.spent_s > self._budget.compute_allowed_s(self.drill.tick)

    def advance_to(self, tick: Tick) -> None:
        """Advance to *tick*, or to the end of the drill. Raises UnplayableError."""
        for _ in self.advance_in_slices(tick):
            pass

    def advance_in_slices(self, tick: Tick) -> Iterator[None]:
        """Advance to *tick*, or to the end of the drill. Yield after each slice. Raises UnplayableError."""
        if tick > self._budget.tick_max:
            raise UnplayableError(tr("the run exceeds the limit for simulated time"))
        with self._meter_budget():
            for _ in advance_in_slices(self.drill, tick):
                self._check_budget()
                yield
                self._start_meter()

    def apply(self, line: str) -> None:
        """Apply an input.

        Raises InputError if the input is refused, and UnplayableError if the run cannot be continued.
        """
        with self._meter_budget():
            self.drill.apply_line(line)

    def play(self, inputs: Iterable[Input], tick: Tick) -> None:
        """Apply *inputs* at their times, skip refused inputs, and advance to *tick*.

        Raises UnplayableError.
        """
        for item in inputs:
            self.advance_to(item.tick)
            try:
                self.apply(item.line_without_time)
            except InputError:  # a run that has diverged may refuse the input
                continue
        self.advance_to(tick)

    @contextmanager
    def _meter_budget(self) -> Iterator[None]:
        self._start_meter()
        with convert_errors():
            try:
                yield
            finally:
                self._count_time()
            self._check_budget()

    def _start_meter(self) -> None:
        self._begun_s = time.thread_time()

    def _count_time(self) -> None:
        now_s = time.thread_time()
        self.spent_s += now_s - self._begun_s
        self._begun_s = now_s

    def _check_budget(self) -> None:
        """Raise UnplayableError if the budget is used up."""
        self._count_time()
        HEARTBEAT.last_beat_s = time.process_time()
        if self.is_budget_used_up:
            raise UnplayableError(tr("the run exceeds the limit for processor time"))
        grown = read_resident_bytes() - self._resident
        if len(self.drill.events) > self._budget.events_max or grown > MEMORY_GROWTH_BYTES_MAX:
            raise UnplayableError(tr("the run exceeds the memory limit"))


@contextmanager
def convert_errors() -> Iterator[None]:
    """Convert every exception to UnplayableError, except for InputError and ScenarioError."""
    try:
        yield
    except (InputError, ScenarioError, UnplayableError):
        raise
    except Exception as problem:
        raise UnplayableError(
            tr("the simulation failed ({error})").format(error=type(problem).__name__)
        ) from problem


def read_resident_bytes() -> int:
    """Return the resident memory of this process in bytes. Return 0 on systems other than Linux."""
    if sys.platform != "linux":
        return 0
    try:
        return int(Path("/proc/self/statm").read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0
