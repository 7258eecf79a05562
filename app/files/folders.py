"""Folders of the profile."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from platformdirs import user_data_path


def raise_file_limit(wanted_limit: int) -> int:
    """Raise the limit of open files to *wanted_limit* as far as the system allows, and return the new limit."""
    try:
        import resource
    except ImportError:  # on Windows sockets are not files
        return wanted_limit
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < wanted_limit:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted_limit, hard), hard))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


FOLDER_VARIABLE: Final = "MIRRORDRILL_PROFILE"
"""Environment variable for another profile folder: on a memory stick, per learner, or in a test."""


def is_special_file(path: Path) -> bool:
    """Return whether *path* exists and is not a regular file.

    Reading would wait on a pipe and never end on a device.
    """
    return os.path.lexists(path) and not os.path.isfile(path)


def keep_private(file: Path) -> None:
    """Make *file*, created empty if missing, unreadable for other users; do nothing without such permissions."""
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not file.exists():  # never reopen a file that is open here: closing it would release its locks
            file.touch(mode=0o600)
        file.chmod(0o600)


def get_default_folder() -> Path:
    """Return the default folder of the profile: the user's data folder, unless a variable sets another."""
    chosen_folder = os.environ.get(FOLDER_VARIABLE)
    return Path(chosen_folder) if chosen_folder else user_data_path("mirrordrill", appauthor=False)
