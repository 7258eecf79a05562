"""Entries of a seat's log: numbered from 1, written by the seat and stored by the host.

Times never decrease, unless the instructor has rewound the seat.
"""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from app.words.language import tr
from engine.constants import TICKS_PER_S
from engine.model import Tick

LINE_LENGTH_MAX: Final = 65_536
"""Maximum number of characters of an input line, such as a whole script in one batch. Assumed."""
ENTRIES_MAX: Final = 20_000
"""Maximum number of entries per seat: an action every two seconds in the longest drill. Assumed."""
LOG_LENGTH_MAX: Final = 4_000_000
"""Maximum number of characters of all input lines of a seat.

The limit for a file of input lines is equal (app/cli/runs.py).
"""
TICK_MAX: Final = 8 * 3600 * TICKS_PER_S
"""Maximum simulated time of a run in ticks: eight hours, the longest drill that a host must replay."""
REWIND_LINE: Final = "sent-back"
"""Line of an entry that confirms a rewind. The run continues at the entry's tick.

Rewound entries stay in the log.
"""
_DIGEST_PATTERN: Final = re.compile(r"(?:[0-9a-f]{32})?")


class LogEntry(NamedTuple):
    """Entry of a log, stored as one line of JSON."""

    number: int
    tick: Tick
    line: str
    """Input line without its time; empty if the entry only reports that the run has reached *tick*."""
    digest: str
    """Hash of the seat's world after the entry; empty if it was not computed."""
    instruction: int
    """Number of the instruction that the entry answers; 0 for an action of the seat itself."""


class LogMismatchError(Exception):
    """Error for received entries that do not continue the log. None of them is stored. The text gives the reason."""


def parse_entry(entry: object) -> LogEntry:
    """Parse a log entry from JSON. Raises LogMismatchError."""
    if not (isinstance(entry, list) and [type(part) for part in entry] == [int, int, str, str, int]):
        raise LogMismatchError(tr("an input must be [number, tick, line, hash, instruction]"))
    log_entry = LogEntry(*entry)
    if not (
        1 <= log_entry.number <= ENTRIES_MAX
        and 0 <= log_entry.tick <= TICK_MAX
        and log_entry.instruction >= 0
    ):
        raise LogMismatchError(
            tr("input {number} has an invalid number or time").format(number=log_entry.number)
        )
    if (
        len(log_entry.line) > LINE_LENGTH_MAX
        or "\0" in log_entry.line
        or not _DIGEST_PATTERN.fullmatch(log_entry.digest)
    ):
        raise LogMismatchError(
            tr("input {number} has an invalid line or hash").format(number=log_entry.number)
        )
    return log_entry


def is_rewind(entry: LogEntry) -> bool:
    """Return whether the entry confirms a rewind.

    The rewind drops all earlier inputs from the tick of this entry on.
    """
    return entry.line == REWIND_LINE and entry.instruction > 0


def list_effective_entries(log: Iterable[LogEntry]) -> list[LogEntry]:
    """Return the entries of *log* without those that were rewound."""
    log_entries: list[LogEntry] = []
    for entry in log:
        if is_rewind(entry):
            log_entries = [before for before in log_entries if before.tick < entry.tick]
            entry = entry._replace(line="")
        log_entries.append(entry)
    return log_entries


def list_answered_instructions(log: Sequence[LogEntry]) -> set[int]:
    """Return the numbers of the instructions that the run has answered.

    If an answer was rewound, its instruction is omitted. Confirmed rewinds are always included.
    """
    rewind_instructions = {entry.instruction for entry in log if is_rewind(entry)}
    return rewind_instructions | {
        entry.instruction for entry in list_effective_entries(log) if entry.instruction
    }


def format_entry(entry: LogEntry) -> str:
    """Format the entry with its time as text for a person."""
    return json.dumps(entry)


def select_new_entries(
    received_entries: Iterable[LogEntry],
    acknowledged: int,
    last_tick: Tick,
    read_entries: Callable[[int, int], Sequence[LogEntry]],
) -> list[LogEntry]:
    """Return those entries of *received_entries* that are not stored yet, each once.

    *acknowledged* and *last_tick* are the number and the tick of the last stored entry. *read_entries* reads
    stored entries. Raises LogMismatchError for a gap, a decreasing time, or an entry that differs from the
    stored one.
    """
    received_entries = list(received_entries)
    known_entries = [entry for entry in received_entries if entry.number <= acknowledged]
    if known_entries:
        entries_by_number = {
            entry.number: entry for entry in read_entries(known_entries[0].number, known_entries[-1].number)
        }
        for entry in known_entries:
            if entries_by_number.get(entry.number) != entry:
                raise LogMismatchError(
                    tr("input {number} differs from the input that the host acknowledged").format(
                        number=entry.number
                    )
                )
    new_entries = received_entries[len(known_entries) :]
    for number, entry in enumerate(new_entries, acknowledged + 1):
        if entry.number != number:
            raise LogMismatchError(
                tr("input {number} is missing; input {found} arrived instead").format(
                    number=number, found=entry.number
                )
            )
        if entry.tick < last_tick and not is_rewind(entry):
            raise LogMismatchError(
                tr("input {number} is earlier than the input before it").format(number=number)
            )
        last_tick = entry.tick
    return new_entries
