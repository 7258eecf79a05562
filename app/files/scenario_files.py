"""Scenario files: shipped with the program, in the user's folder, or at any path. Without Qt."""

import difflib
import re
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from importlib import resources
from pathlib import Path
from typing import Final

from msgspec import Struct

from app.files.content import UnreadableFileError, decode, read_bytes
from app.files.folders import get_default_folder, is_special_file
from app.words.language import tr
from engine.drill.authoring import limits
from engine.drill.authoring.scenario import Scenario, load_scenario

BYTES_MAX: Final = 4 * limits.SIZE_MAX
"""Maximum bytes of a file: a character takes at most four bytes."""


LABEL: Final = "bundle.label"
"""TOML file next to a bundle's scenarios that names their origin."""
LABEL_BYTES_MAX: Final = 100_000
"""Maximum bytes of a bundle's label."""
_FILE_NAME: Final = re.compile(r"[a-z0-9_-]{1,60}")
"""Pattern of the name of a scenario from a bundle."""


class ScenarioNotFoundError(Exception):
    """A scenario does not exist or cannot be read; the text is a sentence for the user."""


class ScenarioFile(Struct, frozen=True):
    """Scenario file as text."""

    name: str
    file: str
    """File name for messages: the path, or the name of a shipped scenario."""
    text: str
    shipped: bool
    origin: str = ""
    """Title of its bundle; empty for shipped scenarios and the user's own."""

    def load(self) -> Scenario:
        """Load the scenario. Raises ScenarioError."""
        return load_scenario(self.text, self.file)


def get_own_folder() -> Path:
    """Return the folder of the user's own scenarios: `scenarios` in the profile's folder."""
    return get_default_folder() / "scenarios"


def get_bundles_folder() -> Path:
    """Return the folder of scenarios from bundles.

    Each bundle has a subfolder, named after the start of its SHA-256.
    """
    return get_own_folder() / "bundles"


def list_all_files() -> tuple[list[ScenarioFile], list[str]]:
    """Return shipped files, the user's own files and files of bundles, by name.

    Also return a message for each unreadable file.
    """
    files, problems = list(_list_shipped_files()), []
    for path in (*sorted(get_own_folder().glob("*.toml")), *sorted(get_bundles_folder().glob("*/*.toml"))):
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
    """Return whether a file of that name would hide a shipped scenario or be hidden by it."""
    return any(shipped.name == name for shipped in _list_shipped_files())


def find(name_or_path: str) -> ScenarioFile:
    """Return the scenario with that name, or the file at that path. Raises ScenarioNotFoundError."""
    for shipped in _list_shipped_files():
        if shipped.name == name_or_path:
            return shipped
    from_bundles = (
        sorted(get_bundles_folder().glob(f"*/{name_or_path}.toml"))
        if _FILE_NAME.fullmatch(name_or_path)
        else []
    )
    for path in (get_own_folder() / f"{name_or_path}.toml", *from_bundles, Path(name_or_path)):
        if _is_file(path):
            return _read_file(path)
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


def _list_shipped_files() -> Iterator[ScenarioFile]:
    files = (file for file in resources.files("scenarios").iterdir() if file.name.endswith(".toml"))
    for file in sorted(files, key=lambda file: file.name):
        name = file.name.removesuffix(".toml")
        yield ScenarioFile(name, file.name, file.read_text(encoding="utf-8"), shipped=True)


def read_label(folder: Path) -> dict[str, object]:
    """Return the label of a bundle's folder: title, author and origin; only the title if the label is incomplete."""
    fields: dict[str, object] = {}
    if not is_special_file(folder / LABEL):
        with suppress(OSError, ValueError, RecursionError), (folder / LABEL).open("rb") as file:
            fields = tomllib.loads(file.read(LABEL_BYTES_MAX).decode("utf-8"))
    return fields if isinstance(fields.get("title"), str) else {"title": folder.name}


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # not a valid file name
        return False


def _read_file(path: Path) -> ScenarioFile:
    try:
        text = decode(read_bytes(path, BYTES_MAX), str(path)).replace("\r\n", "\n")
    except UnreadableFileError as error:
        raise ScenarioNotFoundError(str(error)) from error
    origin = str(read_label(path.parent)["title"]) if path.parent.parent == get_bundles_folder() else ""
    return ScenarioFile(path.stem, str(path), text, shipped=False, origin=origin)
