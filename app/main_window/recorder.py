"""Recorder of the window's run into the learner's profile."""

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from app.host import Recorder, RecordingError
from app.storage import JournalLine, Profile, RunId, StorageError
from app.words.language import tr
from engine.constants import TICKS_PER_S
from engine.drill.judging.report import get_program_version
from engine.drill.judging.shapes import Report
from engine.drill.running.drill import Drill


class ProfileRecorder:
    """A Recorder that writes into one run of a profile."""

    def __init__(self, profile: Profile, run_id: RunId) -> None:
        self.run_id = run_id
        self._profile = profile

    def record_input(self, tick: int, line: str) -> None:
        """Store an input line."""
        with _translate_storage_errors():
            self._profile.append(self.run_id, tick, line)

    def record_position(self, tick: int) -> None:
        """Store the position of the run."""
        with _translate_storage_errors():
            self._profile.store_position(self.run_id, tick)

    def record_hash(self, tick: int, state_hash: str) -> None:
        """Store the world's hash."""
        with _translate_storage_errors():
            self._profile.store_hash(self.run_id, tick, state_hash)

    def finish(self, report: Report) -> None:
        """Store the report."""
        score = report["score"]
        tick = round(report["ended_at_s"] * TICKS_PER_S)
        total = score["total"] if score["scored"] else None
        try:
            self._profile.finish(self.run_id, tick, report["state_hash"], json.dumps(report), total)
        except StorageError as problem:
            text = tr(
                "{problem} Recording of this run has stopped. Continue the run from the start page "
                "to save its result."
            )
            raise RecordingError(text.format(problem=problem)) from problem


def begin_recording(profile: Profile, drill: Drill) -> ProfileRecorder:
    """Record a new run in *profile* for *drill*, with its journal so far. Raises RecordingError."""
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
    """Recorder of a run that a class records; the profile receives the finished run, for the history."""

    def __init__(self, seat: Recorder, profile: Profile, drill: Drill) -> None:
        self._seat, self._profile, self._drill = seat, profile, drill
        self.record_input, self.record_position = seat.record_input, seat.record_position
        self.record_hash = seat.record_hash

    def finish(self, report: Report) -> None:
        """Record the end in the class, then the run in the profile."""
        self._seat.finish(report)
        begin_recording(self._profile, self._drill).finish(report)


class LateRecorder:
    """Recorder for a run that could not be recorded at its start; it is recorded completely as soon as possible."""

    def __init__(self, begin: Callable[[], ProfileRecorder]) -> None:
        """Create a recorder; *begin* records the run so far, or raises RecordingError."""
        self._begin = begin
        self._run: ProfileRecorder | None = None

    def record_input(self, tick: int, line: str) -> None:
        """Start recording and store an input line."""
        if self._run is not None:
            self._run.record_input(tick, line)
        else:
            self._start_recording()

    def record_position(self, tick: int) -> None:
        """Store the position if recording has started."""
        if self._run is not None:
            self._run.record_position(tick)
        else:
            self._start_recording()

    def record_hash(self, tick: int, state_hash: str) -> None:
        """Store the world's hash if recording has started."""
        if self._run is None:
            self._start_recording()
        if self._run is not None:
            self._run.record_hash(tick, state_hash)

    def finish(self, report: Report) -> None:
        """Record the end. Raises RecordingError if it is too late."""
        try:
            self._run = self._run or self._begin()
        except RecordingError as problem:
            raise RecordingError(
                tr("{problem} This run is not recorded.").format(problem=problem)
            ) from problem
        self._run.finish(report)

    def _start_recording(self) -> None:
        """Start recording; a failure was reported at the beginning."""
        with suppress(RecordingError):
            self._run = self._begin()


@contextmanager
def _translate_storage_errors() -> Iterator[None]:
    try:
        yield
    except StorageError as problem:
        raise RecordingError(str(problem)) from problem
