"""Log of a seat on its own computer: a file that survives a crash and can be handed in without a network. No Qt.

The first line is the assignment. Each further line is an entry. All lines are JSON. The seat's token is in a
separate file.
"""

import hashlib
import json
import os
import re
import secrets
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final

from msgspec import Struct
from msgspec.structs import asdict, replace

from app.classroom.join_code import Invitation
from app.classroom.log_entries import (
    ENTRIES_MAX,
    LogEntry,
    LogMismatchError,
    format_entry,
    parse_entry,
    select_new_entries,
)
from app.classroom.messages.codec import NAME_LENGTH_MAX
from app.classroom.messages.replies import InstructionMessage, SeatWelcome
from app.classroom.models import RUNNING
from app.classroom.names import is_valid_name
from app.files.file_content import UnreadableFileError, read_bytes
from app.files.folders import get_profile_folder
from app.words.language import tr
from engine.drill.judging.report import get_program_version
from engine.drill.running.modes import DrillMode
from engine.json_text import parse_json
from engine.model import Tick

SEAT_FILE_SUFFIX: Final = ".seat"
UNASSIGNED_SEAT: Final = 0
"""Seat number that is never assigned."""
PARTS_MAX: Final = 20
"""Maximum number of parts of a class (app/classroom/lesson_plan.py)."""
LOG_BYTES_MAX: Final = 100_000_000
"""Maximum size of a log file in bytes."""
FILE_STEM_BYTES_MAX: Final = 200
"""Maximum length of a file name without its suffix. File systems permit 255 bytes."""
_NAME_PATTERN: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,59}")


class InvalidSeatLogError(Exception):
    """Error for a file that is not a valid log of a seat. The text gives the reason."""


class SeatAssignment(Struct, frozen=True):
    """Assignment that the host sends to a seat: the scenario, the seed and the mode to play."""

    seat: int
    name: str
    scenario: str
    text: str
    """Text of the scenario. In an exam it contains no answers."""
    seed: int
    mode: str
    part: int = 1
    """Number of the part of the class."""

    @property
    def digest(self) -> str:
        """SHA-256 hash of the assignment, equal for all seats of a part."""
        parts = [self.text, self.seed, self.mode, *([self.part] if self.part > 1 else [])]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def build_assignment(welcome: SeatWelcome, name: str) -> SeatAssignment:
    """Build the assignment of the seat *name* from the *welcome* of the host."""
    return SeatAssignment(
        welcome.seat, name, welcome.scenario, welcome.text, welcome.seed, welcome.mode, welcome.part
    )


def build_welcome(
    assignment: SeatAssignment,
    seat: int,
    acknowledged: int = 0,
    state: str = RUNNING,
    tick: Tick = 0,
    reflect: bool = False,
    name: str = "",
    events: Sequence[InstructionMessage] = (),
    hand: str | None = None,
) -> SeatWelcome:
    """Build the welcome for a seat that plays *assignment*, at its start or after a reconnection.

    The other parameters are fields of `SeatWelcome`.
    """
    return SeatWelcome(
        seat=seat, acknowledged=acknowledged, scenario=assignment.scenario, text=assignment.text,
        seed=assignment.seed, mode=assignment.mode, state=state, tick=tick, part=assignment.part,
        reflect=reflect, name=name, version=get_program_version(), hand=hand, events=events,
    )  # fmt: skip


def parse_assignment(value: object) -> SeatAssignment:
    """Parse an assignment from JSON. Raises InvalidSeatLogError."""
    match value:
        case {
            "seat": int(seat), "name": str(name), "scenario": str(scenario), "text": str(text),
            "seed": int(seed), "mode": str(mode), **more,
        } if not isinstance(seat, bool) and not isinstance(seed, bool):  # fmt: skip
            part = more.get("part", 1)
            is_valid = _NAME_PATTERN.fullmatch(scenario) and mode in set(DrillMode) and 0 <= seed < 2**63
            if is_valid and type(part) is int and 1 <= part <= PARTS_MAX:
                return SeatAssignment(seat, name, scenario, text, seed, mode, part)
    raise InvalidSeatLogError(tr("the first line must contain seat, name, scenario, text, seed and mode"))


def parse_log(raw: bytes, file: str) -> tuple[SeatAssignment, list[LogEntry]]:
    """Parse a log that was handed in. *file*: its name for error messages. Raises InvalidSeatLogError."""
    try:
        if len(raw) > LOG_BYTES_MAX or raw.count(b"\n") > ENTRIES_MAX + 1:
            raise InvalidSeatLogError(tr("the log contains more than {n} inputs").format(n=ENTRIES_MAX))
        # text after the last line break was cut off by a crash and never acknowledged
        head, *lines = raw.split(b"\n")[:-1]
        assignment = parse_assignment(_parse_json_line(head))
        acts = [parse_entry(_parse_json_line(line)) for line in lines if line]
        return assignment, select_new_entries(acts, 0, 0, lambda first, last: ())
    except (InvalidSeatLogError, LogMismatchError, ValueError) as problem:
        raise InvalidSeatLogError(
            tr("{file} is not a seat's log: {problem}").format(file=file, problem=problem)
        ) from problem


def read_handout(file: Path) -> SeatAssignment:
    """Read the assignment from a file that `format_handout` has created for seats without a network.

    Raises InvalidSeatLogError.
    """
    try:
        assignment, acts = parse_log(read_bytes(file, LOG_BYTES_MAX), str(file))
    except UnreadableFileError as problem:
        raise InvalidSeatLogError(str(problem)) from problem
    if assignment.seat != UNASSIGNED_SEAT or acts:
        raise InvalidSeatLogError(
            tr(
                "{file} is the log of a seat, not the file that the instructor hands out. Give it to the "
                "instructor."
            ).format(file=file)
        )
    return assignment


def format_handout(assignment: SeatAssignment) -> bytes:
    """Format the file for seats without a network: a log with an assignment, but without a seat number and entries."""
    return json.dumps(asdict(replace(assignment, seat=UNASSIGNED_SEAT, name=""))).encode() + b"\n"


def draw_seat_number() -> int:
    """Draw a negative number for a seat without a host. It is unlikely to occur twice."""
    return -1 - secrets.randbits(62)


def _parse_json_line(line: bytes) -> object:
    try:
        document = parse_json(line)
        if b"\\u" in line:  # raises ValueError for half of a surrogate pair, which cannot be encoded again
            json.dumps(document, ensure_ascii=False).encode()
        return document
    except ValueError as problem:
        raise InvalidSeatLogError(str(problem)) from problem


def get_seat_folder(origin: Invitation | SeatAssignment) -> Path:
    """Return the folder in which this computer stores its seats of a class.

    The folder is named after the host's fingerprint. Without a host, it is named after the digest of the
    assignment.
    """
    key = origin.digest[:16] if isinstance(origin, SeatAssignment) else origin.fingerprint.lower()
    return get_profile_folder() / "classes" / key


def shorten_file_stem(stem: str) -> str:
    """Return *stem*, or its hash if the file name would be too long.

    A person's name of 60 characters may become a file name of 480 bytes.
    """
    return stem if len(stem.encode()) <= FILE_STEM_BYTES_MAX else hashlib.sha256(stem.encode()).hexdigest()


class SeatLog:
    """Files of one seat, locked by this process: a log for each part of the class, and a token."""

    def __init__(self, folder: Path, name: str) -> None:
        """Open or create the log of the seat *name* in *folder*. Raises InvalidSeatLogError."""
        if not is_valid_name(name):
            raise InvalidSeatLogError(
                tr("a name must have 1 to {n} printable characters").format(n=NAME_LENGTH_MAX)
            )
        stem = shorten_file_stem("".join(sign if sign.isalnum() else f"-{ord(sign):x}-" for sign in name))
        self._stem = folder / stem
        self.name = name
        self.assignment: SeatAssignment | None = None
        self.entries: list[LogEntry] = []
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._lock_file = _lock_file(folder / f"{stem}.lock")
            self.token = load_token(folder / f"{stem}.token")
        except OSError as problem:
            raise InvalidSeatLogError(
                tr("cannot use {file}: {why}").format(file=self._stem, why=problem.strerror)
            ) from problem
        parts = [part for part in range(1, PARTS_MAX + 1) if self._get_file(part).exists()]
        self._open_part(max(parts, default=1))

    def _get_file(self, part: int) -> Path:
        return self._stem.with_name(self._stem.name + (f".{part}" if part > 1 else "") + SEAT_FILE_SUFFIX)

    def _open_part(self, part: int) -> None:
        self.assignment, self.entries, self.file = None, [], self._get_file(part)
        try:
            if self.file.exists():
                raw = self.file.read_bytes()[:LOG_BYTES_MAX]
                self.assignment, self.entries = parse_log(raw, str(self.file))
                self._open_file: BinaryIO = self.file.open("r+b")
                self._open_file.truncate(raw.rfind(b"\n") + 1)
                self._open_file.seek(0, os.SEEK_END)
        except OSError as problem:
            raise InvalidSeatLogError(
                tr("cannot use {file}: {why}").format(file=self.file, why=problem.strerror)
            ) from problem

    def open_part(self, part: int) -> None:
        """Open the log of another part, or prepare a new log. Raises InvalidSeatLogError."""
        if self.assignment is not None:
            self._open_file.close()
        self._open_part(part)

    def write_assignment(self, assignment: SeatAssignment) -> None:
        """Start the log with the assignment from the host."""
        self.assignment, self.file = assignment, self._get_file(assignment.part)
        self._open_file = self.file.open("wb")
        self._write(json.dumps(asdict(assignment)))

    def append_entry(self, tick: Tick, line: str, digest: str, instruction: int = 0) -> None:
        """Append an entry and flush it to disk."""
        log_entry = LogEntry(len(self.entries) + 1, tick, line, digest, instruction)
        self._write(format_entry(log_entry))
        self.entries.append(log_entry)

    def list_entries_after(self, number: int) -> Sequence[LogEntry]:
        """Return the entries after entry *number*."""
        return self.entries[number:]

    def close(self) -> None:
        """Close the file and release its lock."""
        if self.assignment is not None:
            with suppress(OSError):  # a full disk was already reported when the entry was written
                self._open_file.close()
        self._lock_file.close()

    def _write(self, line: str) -> None:
        self._open_file.write(line.encode() + b"\n")
        self._open_file.flush()
        os.fsync(self._open_file.fileno())


def load_token(file: Path) -> str:
    """Return the seat's token, and create it if there is none. Other users of the computer cannot read its file."""
    if not file.exists():
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as token_file:
            token_file.write(secrets.token_urlsafe(32))
            token_file.flush()
            os.fsync(token_file.fileno())
    return file.read_text()


def _lock_file(file: Path) -> BinaryIO:
    """Lock the file until it is closed. Raises InvalidSeatLogError if another process has locked it."""
    log_file = file.open("ab")
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(log_file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(log_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as problem:
        log_file.close()
        raise InvalidSeatLogError(
            tr("a seat with this name is already running on this computer. Choose another name.")
        ) from problem
    return log_file
