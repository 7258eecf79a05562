"""Recorders that store the run that is played in the window in the learner's profile."""

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from app.host import RecordingError, RunRecorder
from app.storage import JournalLine, Profile, RunId, StorageError
from app.words.language import tr
from engine.constants import TICKS_PER_S
from engine.drill.judging.report import get_program_version
from engine.drill.judging.report_types import Report
from engine.drill.running.drill import Drill


class ProfileRecorder:
    """Recorder that stores one run in a profile (app/host/recorder.py)."""

    def __init__(self, profile: Profile, run_id: RunId) -> None:
        self.run_id = run_id
        self._profile = profile

    def record_input(self, tick: int, line: str) -> None:
        """Store an input line."""
        with _translate_storage_errors():
            self._profile.append_line(self.run_id, tick, line)

    def record_position(self, tick: int) -> None:
        """Store the position of the run."""
        with _translate_storage_errors():
            self._profile.store_position(self.run_id, tick)

    def record_hash(self, tick: int, state_hash: str) -> None:
        """Store a hash of the world."""
        with _translate_storage_errors():
            self._profile.store_hash(self.run_id, tick, state_hash)

    def finish(self, report: Report) -> None:
        """Store the report of the finished run."""
        score = report["score"]
        tick = round(report["ended_at_s"] * TICKS_PER_S)
        total = score["total"] if score["scored"] else None
        try:
            self._profile.finish_run(self.run_id, tick, report["state_hash"], json.dumps(report), total)
        except StorageError as problem:
            text = tr(
                "{problem} Recording of this run has stopped. Continue the run from the start page "
                "to save its result."
            )
            raise RecordingError(text.format(problem=problem)) from problem


def begin_recording(profile: Profile, drill: Drill) -> ProfileRecorder:
    """Create a run of *drill* in *profile*, with its journal so far. Raises RecordingError."""
    text = drill.scenario.text
    with _translate_storage_errors():
        run_id = profile.begin_run(
            scenario_name=drill.scenario.name,
            scenario_text=text,
            scenario_hash=hashlib.sha256(text.encode()).hexdigest(),
            seed=drill.seed,
            engine_version=get_program_version(),
            mode=drill.mode.value,
            journal=[JournalLine(item.tick, item.line) for item in drill.journal],
            tick=drill.tick,
        )
    return ProfileRecorder(profile, run_id)


class ClassRunRecorder:
    """Recorder of a run in a class.

    The class records the run, and the profile receives the finished run for the history.
    """

    def __init__(self, seat: RunRecorder, profile: Profile, drill: Drill) -> None:
        self._seat, self._profile, self._drill = seat, profile, drill
        self.record_input, self.record_position = seat.record_input, seat.record_position
        self.record_hash = seat.record_hash

    def finish(self, report: Report) -> None:
        """Record the end of the run in the class, and then the whole run in the profile."""
        self._seat.finish(report)
        begin_recording(self._profile, self._drill).finish(report)


class RetryingRecorder:
    """Recorder that retries at each entry if recording could not start.

    When a retry succeeds, it stores the whole run so far.
    """

    def __init__(self, create_recorder: Callable[[], ProfileRecorder]) -> None:
        """Create a recorder. *create_recorder* records the whole run so far, or raises RecordingError."""
        self._create_recorder = create_recorder
        self._run: ProfileRecorder | None = None

    def record_input(self, tick: int, line: str) -> None:
        """Store an input line. If recording has not started, try to start it with the whole journal instead."""
        if self._run is not None:
            self._run.record_input(tick, line)
        else:
            self._start_recording()

    def record_position(self, tick: int) -> None:
        """Store the position. If recording has not started, try to start recording instead."""
        if self._run is not None:
            self._run.record_position(tick)
        else:
            self._start_recording()

    def record_hash(self, tick: int, state_hash: str) -> None:
        """Store a hash of the world, after starting the recording if possible."""
        if self._run is None:
            self._start_recording()
        if self._run is not None:
            self._run.record_hash(tick, state_hash)

    def finish(self, report: Report) -> None:
        """Store the report. Raises RecordingError if the run can still not be recorded."""
        try:
            self._run = self._run or self._create_recorder()
        except RecordingError as problem:
            raise RecordingError(
                tr("{problem} This run is not recorded.").format(problem=problem)
            ) from problem
        self._run.finish(report)

    def _start_recording(self) -> None:
        """Try to start recording. Ignore a failure, because it was reported at the start of the run."""
        with suppress(RecordingError):
            self._run = self._create_recorder()


@contextmanager
def _translate_storage_errors() -> Iterator[None]:
    try:
        yield
    except StorageError as problem:
        raise RecordingError(str(problem)) from problem
