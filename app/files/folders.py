"""Folder of the profile, and helper functions for its files."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from platformdirs import user_data_path


def raise_file_limit(wanted_limit: int) -> int:
    """Raise the limit of open files to *wanted_limit* as far as the system permits. Return the new limit."""
    try:
        import resource
    except ImportError:  # on Windows, sockets are not files
        return wanted_limit
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < wanted_limit:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted_limit, hard), hard))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


PROFILE_FOLDER_VARIABLE: Final = "MIRRORDRILL_PROFILE"
"""Environment variable that selects another profile folder, for example on a memory stick or in a test."""


def is_special_file(path: Path) -> bool:
    """Return whether *path* exists and is not a regular file.

    Reading a pipe would wait, and reading a device would never end.
    """
    return os.path.lexists(path) and not os.path.isfile(path)


def make_file_private(file: Path) -> None:
    """Make *file* unreadable for other users, where the system permits this.

    If it is missing, create it empty.
    """
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # an open file must not be opened again, because closing it would release its locks
        if not file.exists():
            file.touch(mode=0o600)
        file.chmod(0o600)


def get_profile_folder() -> Path:
    """Return the folder of the profile.

    It is the user's data folder, unless PROFILE_FOLDER_VARIABLE selects another.
    """
    chosen_folder = os.environ.get(PROFILE_FOLDER_VARIABLE)
    return Path(chosen_folder) if chosen_folder else user_data_path("mirrordrill", appauthor=False)
