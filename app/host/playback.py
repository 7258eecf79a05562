"""Background tasks, the pace of a run, its playback from a past time, and searches for events. Without Qt."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from engine.constants import TICKS_PER_S
from engine.drill.running.drill import Drill
from engine.drill.time.cooperative_tasks import CooperativeTask
from engine.drill.time.history import History
from engine.events import EVENT_KIND_INFOS, AlertData, ErrorLogData, Event
from engine.model import Tick

Result_co = TypeVar("Result_co", covariant=True)


class BackgroundTask(Generic[Result_co]):
    """Work that runs in slices. At its end, *on_result* receives the result, or *on_error* the error."""

    def __init__(
        self,
        slices: CooperativeTask[Result_co],
        on_result: Callable[[Result_co], None],
        on_cancel: Callable[[], None],
        on_error: Callable[[Exception], None],
        expected_errors: tuple[type[Exception], ...],
    ) -> None:
        """Create a task.

        *on_cancel* is called when the user cancels. *expected_errors*: expected exceptions. Any other exception is a
        defect.
        """
        self._slices = slices
        self._on_done, self._failed = on_result, on_error
        self._faults = expected_errors
        self.on_cancel = on_cancel
        self.share = 0.0
        """Completed share of the task, from 0 to 1."""
        self._deliver_result: Callable[[], None] | None = None

    def run_slices(self, has_time_left: Callable[[], bool]) -> bool:
        """Run at least one slice, and more while *has_time_left* returns True.

        Return True at the end of the task. The caller must then call `deliver_result`.
        """
        try:
            self.share = next(self._slices)
            while has_time_left():
                self.share = next(self._slices)
        except StopIteration as end:
            result = end.value
            self._deliver_result = lambda: self._on_done(result)
        except self._faults as fault:
            problem = fault
            self._deliver_result = lambda: self._failed(problem)
        return self._deliver_result is not None

    def deliver_result(self) -> None:
        """Pass the result or the error to its callback."""
        assert self._deliver_result is not None
        self._deliver_result()

    def cancel(self) -> None:
        """Stop before the next slice and release resources."""
        self._slices.close()


SPEED_MIN, SPEED_MAX = 0.1, 1000.0
"""Range of speeds in simulated seconds per second of wall time."""
ELAPSED_MS_MAX: Final = 250.0
"""Maximum wall time that counts for a frame, so that a run does not jump ahead after the laptop has slept."""
LAG_SPEED_SHARE: Final = 0.9
"""Share of the requested speed below which the run counts as lagging."""


class RunPace:
    """Pace of a run: computes how many ticks are due. Due ticks that a frame has no time for are dropped."""

    def __init__(self) -> None:
        self.speed = 1.0
        """Simulated seconds per second of wall time."""
        self._owed_ticks = 0.0

    def set_speed(self, speed: float) -> bool:
        """Set the speed, clamped to SPEED_MIN and SPEED_MAX. Return whether the speed has changed."""
        speed = min(SPEED_MAX, max(SPEED_MIN, speed))
        has_changed, self.speed = speed != self.speed, speed
        if has_changed:
            self.reset()
        return has_changed

    def reset(self) -> None:
        """Discard the ticks that are due but not run yet."""
        self._owed_ticks = 0.0

    def compute_due_ticks(self, elapsed_ms: float) -> int:
        """Return the whole ticks that are due after *elapsed_ms* of wall time, limited to ELAPSED_MS_MAX."""
        self._owed_ticks += min(elapsed_ms, ELAPSED_MS_MAX) / 1000.0 * self.speed * TICKS_PER_S
        return int(self._owed_ticks)

    def record_done_ticks(self, done_ticks: int, due_ticks: int, elapsed_ms: float) -> float:
        """Update the ticks that are still due, after *done_ticks* of *due_ticks* were done.

        If all were done, subtract *due_ticks*. Otherwise, discard all ticks that are due. *elapsed_ms*:
        wall time of these ticks. Return the achieved speed if the run lags, otherwise 0.
        """
        self._owed_ticks = 0.0 if done_ticks < due_ticks else self._owed_ticks - due_ticks
        elapsed_s = min(elapsed_ms, ELAPSED_MS_MAX) / 1000.0
        return (
            done_ticks / TICKS_PER_S / elapsed_s
            if done_ticks < due_ticks * LAG_SPEED_SHARE and elapsed_s
            else 0.0
        )


class Playback:
    """Past state of a run, and its playback up to the latest time."""

    def __init__(self, run: History, drill: Drill, stays_at_end: bool, at_each_input: bool) -> None:
        self.drill = drill
        self.is_read_only = stays_at_end
        """True if the playback stays on screen at its end, because the run has ended."""
        self.at_each_input = at_each_input
        self._end_tick = run.drill.tick
        self._remaining_inputs = run.drill.journal[len(drill.journal) :]
        self._input_applied = False

    @property
    def has_finished(self) -> bool:
        """Return whether the playback has reached the latest time."""
        return not self._remaining_inputs and (self.drill.tick >= self._end_tick or self.drill.finished)

    def advance_to(self, tick: Tick, to_event: bool = False) -> list[Event]:
        """Advance to *tick* and return the events.

        With *to_event*, stop at the first tick with an event. If the attribute `at_each_input` is True,
        stop after the next input.
        """
        drill, event_count = self.drill, len(self.drill.events)
        while True:
            input_due = bool(self._remaining_inputs) and self._remaining_inputs[0].tick <= tick
            end = self._remaining_inputs[0].tick if input_due else min(tick, self._end_tick)
            if drill.tick < end and not (to_event and len(drill.events) > event_count):
                drill.advance_to(end, to_event)
            if drill.tick < end or not input_due:
                return drill.events[event_count:]
            drill.apply_line(self._remaining_inputs.pop(0).line_without_time)
            self._input_applied = True
            if self.at_each_input:
                return drill.events[event_count:]

    def take_pause_request(self) -> bool:
        """Return whether the clock must stop because an input was applied, and reset this request."""
        applied, self._input_applied = self._input_applied, False
        return applied and self.at_each_input


SEARCH_TICKS_MAX: Final = 3600 * TICKS_PER_S
"""Maximum simulated time of a search, in ticks."""
CONDITION_CHECK_INTERVAL_TICKS: Final = 10
"""Ticks between two checks of a condition."""

STATE_EVENT_KINDS: Final[frozenset[str]] = frozenset(
    kind for kind, info in EVENT_KIND_INFOS.items() if info.is_state
)
SEARCHED_EVENT_KINDS: Final[frozenset[str]] = STATE_EVENT_KINDS | {
    kind for kind, info in EVENT_KIND_INFOS.items() if info.is_milestone
}
"""Kinds of events at which "next event" stops.

Log lines and traces are omitted, because they repeat these events.
"""

ALARM_SEVERITY: Final = 16
"""Minimum severity of an alarm, at which alerts of SQL Server Agent usually start.

Documented (severities).
"""


def is_alarm(event: Event) -> bool:
    """Return whether the event reports a crossed threshold of the monitor, or an error logged by a server."""
    return isinstance(event.data, AlertData) or (
        isinstance(event.data, ErrorLogData) and event.data.severity >= ALARM_SEVERITY
    )


@dataclass
class EventSearch:
    """Search for an event of *kinds* that `is_match` accepts, or for a time at which *condition* is true."""

    kinds: frozenset[str]
    start_tick: int
    until_tick: int
    is_match: Callable[[Event], bool]
    """Function that returns whether an event of *kinds* ends the search."""
    condition: str
    is_found: bool = False
    """True after the search has succeeded."""

    def is_satisfied(self, events: Sequence[Event], drill: Drill | None) -> bool:
        """Return whether the latest events or the current state satisfy the search."""
        is_event_found = any(event.kind in self.kinds and self.is_match(event) for event in events)
        is_event_found = is_event_found or (
            bool(self.condition) and drill is not None and drill.is_condition_met(self.condition)
        )
        self.is_found = self.is_found or is_event_found
        return is_event_found
