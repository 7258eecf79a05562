"""Playback of a run from a past moment to the present. Without Qt."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from engine.constants import TICKS_PER_S
from engine.drill.running.drill import Drill
from engine.drill.time.cooperative_tasks import Slices
from engine.drill.time.history import History
from engine.events import KINDS, AlertData, ErrorLogData, Event
from engine.model import Tick

Result_co = TypeVar("Result_co", covariant=True)


class BackgroundTask(Generic[Result_co]):
    """Task that runs *slices* to their end. *then* receives the result, *failed* an error."""

    def __init__(
        self,
        slices: Slices[Result_co],
        then: Callable[[Result_co], None],
        stopped: Callable[[], None],
        failed: Callable[[Exception], None],
        faults: tuple[type[Exception], ...],
    ) -> None:
        """Create a task.

        *stopped*: called when the user cancels. *faults*: expected exceptions; any other is a defect.
        """
        self._slices = slices
        self._on_done, self._failed = then, failed
        self._faults = faults
        self.stopped = stopped
        self.share = 0.0
        """Completed share of the task, 0 to 1."""
        self._deliver_result: Callable[[], None] | None = None

    def run_slices(self, in_time: Callable[[], bool]) -> bool:
        """Run at least one slice, and more while *in_time* is true; return True when done.

        Then `deliver_result` passes the result on.
        """
        try:
            self.share = next(self._slices)
            while in_time():
                self.share = next(self._slices)
        except StopIteration as end:
            result = end.value
            self._deliver_result = lambda: self._on_done(result)
        except self._faults as fault:
            problem = fault
            self._deliver_result = lambda: self._failed(problem)
        return self._deliver_result is not None

    def deliver_result(self) -> None:
        """Pass the result on."""
        assert self._deliver_result is not None
        self._deliver_result()

    def cancel(self) -> None:
        """Stop before the next slice and release resources."""
        self._slices.close()


SPEED_MIN, SPEED_MAX = 0.1, 1000.0
"""Range of speeds in simulated seconds per second of wall time."""
ELAPSED_MS_MAX: Final = 250.0
"""Maximum wall time that a frame makes up for, so that a resumed laptop does not jump an hour ahead."""
LAG_SHARE: Final = 0.9
"""Share of the requested speed below which the run lags."""


class RunPace:
    """Ticks due at a speed. Ticks that a frame could not run are dropped."""

    def __init__(self) -> None:
        self.speed = 1.0
        """Simulated seconds per second of wall time."""
        self._owed_ticks = 0.0

    def set_speed(self, speed: float) -> bool:
        """Set the speed, limited to SPEED_MIN to SPEED_MAX; return False if it is unchanged."""
        speed = min(SPEED_MAX, max(SPEED_MIN, speed))
        has_changed, self.speed = speed != self.speed, speed
        if has_changed:
            self.reset()
        return has_changed

    def reset(self) -> None:
        """Discard the time that no frame has run yet."""
        self._owed_ticks = 0.0

    def compute_due_ticks(self, elapsed_ms: float) -> int:
        """Return the whole ticks due after *elapsed_ms* more of wall time; at most ELAPSED_MS_MAX count."""
        self._owed_ticks += min(elapsed_ms, ELAPSED_MS_MAX) / 1000.0 * self.speed * TICKS_PER_S
        return int(self._owed_ticks)

    def record_done_ticks(self, done_ticks: int, due_ticks: int, elapsed_ms: float) -> float:
        """Subtract *done_ticks* from *due_ticks*; return the reached speed if the run lags, else 0."""
        self._owed_ticks = 0.0 if done_ticks < due_ticks else self._owed_ticks - due_ticks
        elapsed_s = min(elapsed_ms, ELAPSED_MS_MAX) / 1000.0
        return (
            done_ticks / TICKS_PER_S / elapsed_s if done_ticks < due_ticks * LAG_SHARE and elapsed_s else 0.0
        )


class Playback:
    """Past moment of a run, and playback from it to the present."""

    def __init__(self, run: History, drill: Drill, stays: bool, at_each_input: bool) -> None:
        self.drill = drill
        self.stays = stays
        """True if the playback stays on screen at its end, because the run is over."""
        self.at_each_input = at_each_input
        self._end_tick = run.drill.tick
        self._remaining_inputs = run.drill.journal[len(drill.journal) :]
        self._input_applied = False

    @property
    def has_finished(self) -> bool:
        """Return whether all steps have been played."""
        return not self._remaining_inputs and (self.drill.tick >= self._end_tick or self.drill.finished)

    def advance_to(self, tick: Tick, to_event: bool = False) -> list[Event]:
        """Advance to *tick* and return the events up to it.

        With *to_event*, stop at the first tick with an event. With `at_each_input`, stop at the next input.
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
        """Return whether time must pause for the last input, and clear the flag."""
        applied, self._input_applied = self._input_applied, False
        return applied and self.at_each_input


SEARCH_TICKS_MAX: Final = 3600 * TICKS_PER_S
"""Maximum simulated time of a search for the next event."""
CONDITION_TICKS: Final = 10
"""Ticks between two checks of the condition."""

STATE_KINDS: Final[frozenset[str]] = frozenset(kind for kind, info in KINDS.items() if info.is_state)
EVENT_KINDS: Final[frozenset[str]] = STATE_KINDS | {kind for kind, info in KINDS.items() if info.is_milestone}
"""Kinds at which "next event" stops. Log lines and traces only repeat these."""

ALARM_SEVERITY: Final = 16
"""Lowest severity of an alarm: alerts of SQL Server Agent usually start at this severity.

Documented (severities).
"""


def is_alarm(event: Event) -> bool:
    """Return whether a threshold of the monitor was crossed, or a server wrote an error into its log."""
    return isinstance(event.data, AlertData) or (
        isinstance(event.data, ErrorLogData) and event.data.severity >= ALARM_SEVERITY
    )


@dataclass
class EventSearch:
    """Run until a matching event of some *kinds*, until a *condition*, or until the tick."""

    kinds: frozenset[str]
    start_tick: int
    until_tick: int
    wanted: Callable[[Event], bool]
    """Condition that a matching event fulfills."""
    condition: str
    is_found: bool = False
    """True after a matching event occurred."""

    def is_satisfied(self, events: Sequence[Event], drill: Drill | None) -> bool:
        """Return whether the latest events or the current state match the search."""
        is_found = any(event.kind in self.kinds and self.wanted(event) for event in events)
        is_found = is_found or (
            bool(self.condition) and drill is not None and drill.is_condition_met(self.condition)
        )
        self.is_found = self.is_found or is_found
        return is_found
