"""Interface between a host and the storage of its run. The host does not know the storage. Without Qt."""

from typing import Final, Protocol

from engine.drill.judging.report_types import Report
from engine.drill.running.drill import Drill


class RecordingError(Exception):
    """Error if the record cannot be written. The text is one sentence for users."""


class RunRecorder(Protocol):
    """Interface of a recorder of one run. Every call may raise RecordingError.

    When a call returns, its data are stored.
    """

    def record_input(self, tick: int, line: str) -> None:
        """Record that an input line, with its time, was applied at *tick*."""

    def record_position(self, tick: int) -> None:
        """Record that the run has reached *tick*."""

    def record_hash(self, tick: int, state_hash: str) -> None:
        """Record a hash of the simulated state at *tick*."""

    def finish(self, report: Report) -> None:
        """Record the end of the run with its report, as `run --json` writes it."""


class NullRecorder:
    """Recorder of a run that is not stored."""

    def record_input(self, tick: int, line: str) -> None:
        """Record nothing."""

    def record_position(self, tick: int) -> None:
        """Record nothing."""

    def record_hash(self, tick: int, state_hash: str) -> None:
        """Record nothing."""

    def finish(self, report: Report) -> None:
        """Record nothing."""


HEARTBEAT_INTERVAL_MS: Final = 500.0
"""Wall time between two heartbeats. A killed program loses at most the time since the last heartbeat."""
HASH_INTERVAL_MS: Final = 10_000.0
"""Wall time between two recorded hashes of the simulated state."""


class RecordingSchedule:
    """Schedule that writes heartbeats and state hashes of a run to a recorder at intervals.

    Every call may raise RecordingError.
    """

    def __init__(self, recorder: RunRecorder) -> None:
        self.recorder = recorder
        self._since_heartbeat_ms = 0.0
        self._since_checkpoint_ms = 0.0

    def advance(self, drill: Drill, elapsed_ms: float | None) -> None:
        """Count *elapsed_ms* of wall time, and write a heartbeat or hash if it is due.

        If *elapsed_ms* is None, write a heartbeat now.
        """
        if elapsed_ms is None:
            self.write_heartbeat(drill)
            return
        self._since_heartbeat_ms += elapsed_ms
        self._since_checkpoint_ms += elapsed_ms
        if self._since_checkpoint_ms >= HASH_INTERVAL_MS:
            self._since_checkpoint_ms = self._since_heartbeat_ms = 0.0
            self.recorder.record_hash(drill.tick, drill.compute_state_hash())
        elif self._since_heartbeat_ms >= HEARTBEAT_INTERVAL_MS:
            self.write_heartbeat(drill)

    def write_heartbeat(self, drill: Drill) -> None:
        """Report the position of the run to the recorder now."""
        self._since_heartbeat_ms = 0.0
        self.recorder.record_position(drill.tick)
