"""Checks of arguments that several commands have: ranges of numbers, and files to write."""

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from app.cli.command_helpers import SEED_MAX, UsageError, require_writable
from app.files.folders import get_profile_folder, is_special_file
from app.host.playback import SPEED_MAX, SPEED_MIN
from engine.constants import RUN_TIME_MAX_S

COMPUTATION_S_MAX: Final = 86_400.0
NUMBER_RANGES: Final = {
    "seed": (0, SEED_MAX),
    "until": (0, RUN_TIME_MAX_S),
    "speed": (SPEED_MIN, SPEED_MAX),
    "seconds": (0, COMPUTATION_S_MAX),
}
"""Numeric option -> minimum and maximum."""

WRITTEN_FILES: Final = {
    "json": "--json", "html": "--html", "pdf": "--pdf", "runbook": "--runbook", "plot": "--plot",
    "target": "--as", "out": "--out", "people": "--people", "record": "--record", "certificate": "--certificate",
    "bundle": "--bundle", "export": "--export", "renew_replay": "--renew-replay",
}  # fmt: skip
"""Name of an argument -> command-line option, for each option that names a file to write."""
READ_FILES: Final = (
    "scenario", "scenarios", "inputs", "run", "code", "what", "plan", "database", "file", "files", "parts",
    "lesson", "pre", "post", "retention",
)  # fmt: skip
"""Names of the arguments that name files to read.

`par --from` is omitted, because `par` may write its result to the same file.
"""
PROFILE_FILES: Final = ("profile.sqlite", "class.sqlite")
"""Files of the profile folder, which no command may overwrite."""
STANDARD_OUTPUT: Final = "-"
STANDARD_OUTPUT_OPTIONS: Final = ("json", "record")
"""Names of the arguments that accept STANDARD_OUTPUT instead of a file."""


def check_numbers(options: argparse.Namespace) -> None:
    """Raise UsageError if a numeric option is out of its range."""
    for argument, (lowest, highest) in NUMBER_RANGES.items():
        number = getattr(options, argument, None)
        if number is not None and not lowest <= number <= highest:  # also true for NaN
            raise UsageError(f"--{argument} must be from {lowest:,} to {highest:,}, not {number:,}")


def check_output_files(options: argparse.Namespace) -> None:
    """Raise UsageError if an output cannot be written, or would overwrite another file of this command."""
    read_files = {os.path.realpath(file) for file in _list_read_files(options) if os.path.exists(file)}
    written_files: set[str] = set()
    for argument, option in WRITTEN_FILES.items():
        file = getattr(options, argument, None)
        if not isinstance(file, str) or (file == STANDARD_OUTPUT and argument in STANDARD_OUTPUT_OPTIONS):
            continue
        if file == STANDARD_OUTPUT:
            raise UsageError(f"{option} needs the name of a file, not -")
        path = os.path.realpath(file)
        if path in read_files:
            raise UsageError(
                f"{option} {file} would overwrite a file that this command reads; name another file"
            )
        if path in written_files:
            raise UsageError(f"{option} {file} names the file of another option; name another file")
        if not is_special_file(Path(path)) or os.path.isdir(
            path
        ):  # several options may name the same pipe or device, but not the same file
            written_files.add(path)
            require_writable(file)


def _list_read_files(options: argparse.Namespace) -> Iterator[str]:
    """Yield the files that a command reads, and the files of the profile folder."""
    for argument in READ_FILES:
        names = getattr(options, argument, None)
        yield from [names] if isinstance(names, str) else names or ()
    yield from (str(get_profile_folder() / name) for name in PROFILE_FILES)
