"""Functions that several commands share: load a scenario, check arguments, write results."""

import errno
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from app.files import atomic_write, scenario_files
from app.files.folders import is_special_file
from engine.drill.authoring.scenario import Scenario

SEED_MAX: Final = 2**63 - 1


class UsageError(Exception):
    """Error for arguments or files that cannot be used. The text gives the reason."""


def load_named_scenario(name_or_path: str) -> Scenario:
    """Load the scenario with this name or path. Raises ScenarioNotFoundError, ScenarioError."""
    return scenario_files.find_scenario_file(name_or_path).load()


def print_json(value: object) -> None:
    """Print *value* as JSON with one line per top-level part."""
    print(_format_json(value))


def _format_json(value: object) -> str:
    """Return JSON with one line per top-level part.

    This format is readable, and the text stays small even with many readings.
    """
    parts: Iterable[object] = value if isinstance(value, Iterable) else ()
    encoded_parts = (json.dumps(part, allow_nan=False, ensure_ascii=False) for part in parts)
    if isinstance(value, dict):
        encoded_parts = (
            f"{json.dumps(key)}: {json.dumps(part, allow_nan=False, ensure_ascii=False)}"
            for key, part in value.items()
        )
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return f"{opening}\n{(',' + chr(10)).join(encoded_parts)}\n{closing}"


def write_json(value: object, file: str) -> None:
    """Write *value* to *file* as JSON with one line per top-level part. Raises UsageError."""
    if file == "-":
        print_json(value)
    else:
        write_file(_format_json(value) + "\n", Path(file))


def require_writable(file: str) -> None:
    """Raise UsageError if it is already clear that *file* cannot be written.

    Call this before a long computation whose result goes to *file*.
    """
    if file == "-":
        return
    path = Path(file)
    if not path.parent.is_dir():
        raise UsageError(f"{file} cannot be written: there is no folder {path.parent}")
    if path.is_dir():
        raise UsageError(f"{path} cannot be written: it is a folder")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise UsageError(f"{file} cannot be written: {os.strerror(errno.EACCES)}")


def write_file(content: str, file: Path) -> None:
    """Write the file. Raises UsageError."""
    try:
        if file.is_symlink() or is_special_file(
            file
        ):  # special files such as /dev/stdout or a pipe must not be replaced
            file.write_text(content, encoding="utf-8", newline="")
        else:
            atomic_write.write_atomically(file, content)
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}") from error
