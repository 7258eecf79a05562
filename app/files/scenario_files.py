"""Scenario files: shipped with the program, in the user's folder, in bundles, or at any path. Without Qt."""

import difflib
import os
import re
import tomllib
from contextlib import suppress
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Final

from msgspec import Struct

from app.files.file_content import UnreadableFileError, decode_text, read_bytes
from app.files.folders import get_profile_folder, is_special_file
from app.words.language import tr
from engine.drill.authoring import limits
from engine.drill.authoring.scenario import Scenario, load_scenario

SCENARIO_BYTES_MAX: Final = 4 * limits.FILE_CHARACTERS_MAX
"""Maximum size of a scenario file in bytes: four bytes for each of the permitted characters."""


BUNDLE_LABEL_FILE: Final = "bundle.label"
"""Name of the TOML file that describes the origin of a bundle's scenarios, in the same folder."""
BUNDLE_LABEL_BYTES_MAX: Final = 100_000
"""Maximum size of the file BUNDLE_LABEL_FILE in bytes."""
_FILE_NAME_PATTERN: Final = re.compile(r"[a-z0-9_-]{1,60}")
"""Pattern of the name of a scenario in a bundle."""


class ScenarioNotFoundError(Exception):
    """Error for a scenario that does not exist or cannot be read. The text is a sentence for the user."""


class ScenarioFile(Struct, frozen=True):
    """Scenario file with its text."""

    name: str
    file: str
    """File name for messages: the path, or the name of a shipped scenario."""
    text: str
    shipped: bool
    origin: str = ""
    """Title of the bundle that contains the scenario; empty for shipped scenarios and the user's scenarios."""

    def load(self) -> Scenario:
        """Load the scenario. Raises ScenarioError."""
        return load_scenario(self.text, self.file)


def get_user_scenario_folder() -> Path:
    """Return the folder of the user's scenarios: `scenarios` in the profile folder."""
    return get_profile_folder() / "scenarios"


def get_bundles_folder() -> Path:
    """Return the folder of imported bundles.

    Each bundle has a subfolder that is named by the first digits of its SHA-256 hash.
    """
    return get_user_scenario_folder() / "bundles"


def list_all_files() -> tuple[list[ScenarioFile], list[str]]:
    """Return all scenario files by name: shipped files, the user's files, and files of bundles.

    Also return a message for each unreadable file.
    """
    files, problems = list(_list_shipped_files()), []
    for path in (
        *sorted(get_user_scenario_folder().glob("*.toml")),
        *sorted(get_bundles_folder().glob("*/*.toml")),
    ):
        try:
            file = _read_file(path)
        except ScenarioNotFoundError as problem:
            problems.append(str(problem))
            continue
        if file.origin and any(other_file.name == file.name for other_file in files):
            text = tr("{name} of “{origin}” is hidden: another drill has the same name.")
            problems.append(text.format(name=file.name, origin=file.origin))
        else:
            files.append(file)
    return files, problems


def is_shipped_name(name: str) -> bool:
    """Return whether a shipped scenario is called *name*. A user's file of this name would be hidden."""
    return any(shipped.name == name for shipped in _list_shipped_files())


def find_scenario_file(name_or_path: str) -> ScenarioFile:
    """Return the scenario with this name, or the file at this path. Raises ScenarioNotFoundError."""
    for shipped in _list_shipped_files():
        if shipped.name == name_or_path:
            return shipped
    from_bundles = (
        sorted(get_bundles_folder().glob(f"*/{name_or_path}.toml"))
        if _FILE_NAME_PATTERN.fullmatch(name_or_path)
        else []
    )
    for path in (get_user_scenario_folder() / f"{name_or_path}.toml", *from_bundles, Path(name_or_path)):
        if _is_file(path):
            return _read_file(path)
    if os.path.lexists(name_or_path):
        raise ScenarioNotFoundError(tr("{file} is not a file").format(file=name_or_path))
    names = [file.name for file in list_all_files()[0]]
    matches = difflib.get_close_matches(name_or_path, names, 1)
    hint = (
        tr("did you mean {name}?").format(name=matches[0])
        if matches
        else tr("to see all names, run: mirrordrill list")
    )
    raise ScenarioNotFoundError(
        tr("Scenario {name!r} not found, neither by name nor as a file; {hint}").format(
            name=name_or_path, hint=hint
        )
    )


@cache
def _list_shipped_files() -> tuple[ScenarioFile, ...]:
    """Return the shipped files by name. They are read once, because a running program never changes them."""
    files = (file for file in resources.files("scenarios").iterdir() if file.name.endswith(".toml"))
    return tuple(
        ScenarioFile(
            file.name.removesuffix(".toml"), file.name, file.read_text(encoding="utf-8"), shipped=True
        )
        for file in sorted(files, key=lambda file: file.name)
    )


def read_bundle_label(folder: Path) -> dict[str, object]:
    """Return title, author and origin of a bundle from the file BUNDLE_LABEL_FILE in *folder*.

    If the file has no title, return only the name of the folder as the title.
    """
    fields: dict[str, object] = {}
    if not is_special_file(folder / BUNDLE_LABEL_FILE):
        with suppress(OSError, ValueError, RecursionError), (folder / BUNDLE_LABEL_FILE).open("rb") as file:
            fields = tomllib.loads(file.read(BUNDLE_LABEL_BYTES_MAX).decode("utf-8"))
    return fields if isinstance(fields.get("title"), str) else {"title": folder.name}


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # the path is not a valid file name
        return False


def _read_file(path: Path) -> ScenarioFile:
    try:
        text = decode_text(read_bytes(path, SCENARIO_BYTES_MAX), str(path)).replace("\r\n", "\n")
    except UnreadableFileError as error:
        raise ScenarioNotFoundError(str(error)) from error
    origin = (
        str(read_bundle_label(path.parent)["title"]) if path.parent.parent == get_bundles_folder() else ""
    )
    return ScenarioFile(path.stem, str(path), text, shipped=False, origin=origin)
