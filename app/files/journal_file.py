"""File with the journal of a run, from which the run can be replayed after a crash. Without Qt.

The module also reads the list of the drills in the course.
"""

import json
import tomllib
from contextlib import suppress
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import IO, Final

from msgspec import Struct

from app.host.recorder import RecordingError
from app.words.language import tr
from engine.constants import TICKS_PER_S
from engine.drill.judging.report_types import Report
from engine.drill.running.drill import Drill
from engine.json_text import parse_json

COURSE_FILE: Final = "course.toml"


class CourseDrill(Struct, frozen=True):
    """Drill with its position in the course."""

    position: int
    """Position in the course, from 1."""
    part: int
    """Number of the part, from 1."""
    part_title: str
    """Title in English, translated for display."""
    drill: str
    teaches: str


@lru_cache(maxsize=1)
def load_course_drills() -> dict[str, CourseDrill]:
    """Return the drills of the course by name, in the order of the course."""
    parts = tomllib.loads(
        resources.files("engine.drill.judging").joinpath(COURSE_FILE).read_text(encoding="utf-8")
    )["part"]
    rows = [
        (number, part["title"], drill, teaches)
        for number, part in enumerate(parts, start=1)
        for drill, teaches in part["drills"]
    ]
    return {row[2]: CourseDrill(index, *row) for index, row in enumerate(rows, start=1)}


def get_course_position(drill: str) -> int:
    """Return the position of the drill in the course. Drills outside the course come after all others."""
    lesson = load_course_drills().get(drill)
    return lesson.position if lesson is not None else len(load_course_drills()) + 1


JOURNAL_FIRST_BYTES: Final = b'{"begun": '
"""First bytes of a journal file. The file of a finished run contains a report instead."""


MISSING_REPORT_PARTS: Final = {
    "cut_off": True,
    "events": [],
    "availability": {},
    "score": {},
    "failovers": [],
}
"""Placeholders for parts of a report that a journal does not contain. Only a replay can compute them."""


class JournalFileRecorder:
    """Recorder that writes the journal of a run to a file.

    Each input is written before its result is shown, together with the state hashes so far.
    """

    def __init__(self, drill: Drill, file: str) -> None:
        """Create a journal. The file is created at the first entry."""
        self._drill, self._name = drill, file
        self._last_heartbeat = 0
        """Number of world hashes that the file contains."""
        self.problem = ""
        """Reason why the recording has stopped, as a sentence; empty if it continues."""
        self._file: IO[str] | None = None

    def record_input(self, tick: int, line: str) -> None:
        """Write an input line."""
        self._write_progress(tick, line)

    def record_position(self, tick: int) -> None:
        """Write that the run has reached *tick*, with all state hashes since the last entry."""
        self._write_progress(tick)

    def record_hash(self, tick: int, state_hash: str) -> None:
        """Write all state hashes of the run since the last entry, including *state_hash*."""
        self._write_progress(tick)

    def finish(self, report: Report) -> None:
        """Close the file and ignore *report*. The caller replaces the file by the report."""
        self.close()

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            with suppress(OSError):  # a write that fails on a full disk was already reported for its entry
                self._file.close()

    def _write_progress(self, tick: int, line: str = "") -> None:
        new_hashes = self._drill.hashes[self._last_heartbeat :]
        self._last_heartbeat += len(new_hashes)
        hashes = [[state_hash.tick, state_hash.inputs, state_hash.digest] for state_hash in new_hashes]
        self._write({"tick": tick, "line": line, "hashes": hashes})

    def _write(self, entry: dict[str, object]) -> None:
        """Write one entry as a line. It is in the file after this call, even if this program is killed."""
        try:
            if self._file is None:
                self._file = Path(self._name).open("w", encoding="utf-8", buffering=1)  # noqa: SIM115
                header = {"scenario": self._drill.scenario.name, "seed": self._drill.seed}
                mode, text = self._drill.mode.value, self._drill.scenario.text
                self._write({"begun": {**header, "mode": mode, "scenario_text": text}})
            self._file.write(json.dumps(entry) + "\n")
        except OSError as problem:
            self.problem = tr("The run cannot be recorded: {why}.").format(why=problem.strerror)
            raise RecordingError(self.problem) from problem


def read_journal(raw: bytes) -> dict[str, object]:
    """Parse the journal of an interrupted run.

    Return its inputs, end and state hashes in the form of a report. The run is not played. An incomplete last
    line is ignored. Raises ValueError, KeyError and TypeError for other content.
    """
    first, *entries = [parse_json(line) for line in raw.decode("utf-8").split("\n")[:-1]]
    header = first["begun"]
    if not all(type(entry["tick"]) is int and isinstance(entry["line"], str) for entry in entries):
        raise ValueError("an entry has no tick, or no line")
    hashes = [
        {"t_s": hash_tick / TICKS_PER_S, "inputs": inputs, "hash": digest}
        for entry in entries
        for hash_tick, inputs, digest in entry["hashes"]
    ]
    return {
        **{name: header[name] for name in ("scenario", "seed", "mode", "scenario_text")},
        "inputs": [entry["line"] for entry in entries if entry["line"]],
        "ended_at_s": max((entry["tick"] for entry in entries), default=0) / TICKS_PER_S,
        "hashes": hashes,
        **MISSING_REPORT_PARTS,
    }
