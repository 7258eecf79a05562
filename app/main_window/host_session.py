"""Host of a run in a Qt window: a timer advances the run frame by frame, and Qt signals report its changes."""

import time
from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QElapsedTimer, QObject, Qt, QTimer, Signal

from app.host import RunHost
from engine.drill.running.drill import Drill
from engine.drill.time.history import History

FRAME_INTERVAL_MS: Final = 16
"""Interval of the frame timer: about 60 frames a second."""


class HostSession(QObject):
    """Host of a run in the window's event loop. A timer advances the run frame by frame.

    Each Qt signal repeats the signal of `RunHost` with the same name.
    """

    drill_changed = Signal(object)
    world_changed = Signal(object)
    events_occurred = Signal(list)
    input_refused = Signal(str)
    speed_changed = Signal(float)
    running_changed = Signal(bool)
    lag_reported = Signal(float)
    progress_changed = Signal(float)
    run_finished = Signal(object)
    past_time_shown = Signal(bool)
    run_loaded = Signal(object)
    _posted = Signal()
    """Signal: a request is in the inbox. Any thread may emit it, and the window's thread receives it."""

    def __init__(
        self,
        parent: QObject | None = None,
        clock: Callable[[], float] = time.perf_counter,
        use_timer: bool = True,
    ) -> None:
        """Create a session.

        *clock*: wall time in seconds. *use_timer*: False if the caller calls `on_frame` instead of a timer.
        """
        super().__init__(parent)
        self.host = host = RunHost(clock)
        self._use_timer = use_timer
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(FRAME_INTERVAL_MS)
        self._timer.timeout.connect(self._on_timeout)
        self._elapsed = QElapsedTimer()
        host.drill_changed.connect(self.drill_changed.emit)
        host.world_changed.connect(self.world_changed.emit)
        host.events_occurred.connect(self.events_occurred.emit)
        host.input_refused.connect(self.input_refused.emit)
        host.speed_changed.connect(self.speed_changed.emit)
        host.running_changed.connect(self.running_changed.emit)
        host.lag_reported.connect(self.lag_reported.emit)
        host.progress_changed.connect(self.progress_changed.emit)
        host.run_finished.connect(self.run_finished.emit)
        host.past_time_shown.connect(self.past_time_shown.emit)
        host.run_loaded.connect(self.run_loaded.emit)
        host.frames_due.connect(self._set_timer)
        host.inbox.wake = self._posted.emit
        self._posted.connect(lambda: host.on_frame(0.0), Qt.ConnectionType.QueuedConnection)

        self.open_run, self.watch_run, self.close, self.load_run = (
            host.open_run,
            host.watch_run,
            host.close,
            host.load_run,
        )
        self.show_time, self.show_latest, self.run_task = host.show_time, host.show_latest, host.run_task
        self.play, self.pause, self.toggle_clock, self.advance_one_tick = (
            host.play,
            host.pause,
            host.toggle_clock,
            host.advance_one_tick,
        )
        self.set_speed, self.apply_input, self.cancel_task, self.on_frame = (
            host.set_speed,
            host.apply_input,
            host.cancel_task,
            host.on_frame,
        )
        self.run_to, self.run_until, self.run_to_event = host.run_to, host.run_until, host.run_to_event
        self.run_to_state, self.run_to_alarm = host.run_to_state, host.run_to_alarm

    @property
    def history(self) -> History | None:
        """Return the history of the run, or None if there is no run."""
        return self.host.history

    @property
    def drill(self) -> Drill | None:
        """Return the drill at the shown time, latest or past, or None if there is no run."""
        return self.host.drill

    @property
    def live_drill(self) -> Drill | None:
        """Return the drill at its latest time, or None if there is no run."""
        return self.host.live_drill

    @property
    def is_showing_past(self) -> bool:
        """Return whether a past time is on screen."""
        return self.host.is_showing_past

    def stop(self) -> None:
        """Pause the run, and cancel a running search or replay."""
        if self.host.is_busy:
            self.host.cancel_task()
        self.host.pause()

    def list_last_inputs(self, count: int) -> list[str]:
        """Return the last input lines of the run in order, at most *count*."""
        live = self.host.live_drill
        return [item.line for item in live.journal[-count:]] if live is not None else []

    @property
    def is_running(self) -> bool:
        """Return whether time runs."""
        return self.host.is_running

    @property
    def is_busy(self) -> bool:
        """Return whether a background task runs."""
        return self.host.is_busy

    @property
    def is_loading(self) -> bool:
        """Return whether a run is being loaded."""
        return self.host.is_loading

    @property
    def speed(self) -> float:
        """Return the speed in simulated seconds per second."""
        return self.host.speed

    def _on_timeout(self) -> None:
        self.host.on_frame(float(self._elapsed.restart()))

    def _set_timer(self, active: bool) -> None:
        if not (self._use_timer and active):
            self._timer.stop()
        elif not self._timer.isActive():
            self._elapsed.start()
            self._timer.start()
