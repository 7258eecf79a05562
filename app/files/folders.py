"""Where the profile's files lie."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from platformdirs import user_data_path

FOLDER_VARIABLE: Final = "MIRRORDRILL_PROFILE"
"""Environment variable that names another profile folder: a stick, one of several learners, a test."""


def no_file(path: Path) -> bool:
    """Whether something is at *path* that is no file: a pipe would be waited for, a device never ends."""
    return os.path.lexists(path) and not os.path.isfile(path)


def default_folder() -> Path:
    """Where the profile is kept unless the caller says otherwise: the user's data folder of this system."""
    chosen = os.environ.get(FOLDER_VARIABLE)
    return Path(chosen) if chosen else user_data_path("mirrordrill", appauthor=False)
