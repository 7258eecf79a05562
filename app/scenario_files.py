"""Where scenarios are: shipped with the program, in the user's own folder, or anywhere by path. No Qt."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Final

from app.folders import default_folder
from app.language import tr
from engine.drill import limits
from engine.drill.scenario import Scenario, load_scenario

BYTES_MAX: Final = 4 * limits.SIZE_MAX
"""More is not read: no character takes more than four bytes."""


class NoScenario(Exception):
    """There is no such scenario, or it cannot be read; the text is a sentence for the user."""


@dataclass(frozen=True, slots=True)
class ScenarioFile:
    """A scenario file that was found, as text."""

    name: str
    file: str
    """What to call it in messages: its path, or its name if it is shipped."""
    text: str
    shipped: bool

    def load(self) -> Scenario:
        """Raises ScenarioProblems."""
        return load_scenario(self.text, self.file)


def own_folder() -> Path:
    """Where the user's own scenarios are looked for: `scenarios` in the profile's folder."""
    return default_folder() / "scenarios"


def all_files() -> tuple[list[ScenarioFile], list[str]]:
    """Shipped ones, then the user's own, each by name; and a sentence for each that cannot be read."""
    found, problems = list(_shipped()), []
    for path in sorted(own_folder().glob("*.toml")):
        try:
            found.append(_read(path))
        except NoScenario as problem:
            problems.append(str(problem))
    return found, problems


def is_shipped_name(name: str) -> bool:
    """A file of that name would take the place of a shipped scenario, or never be found beside it."""
    return any(shipped.name == name for shipped in _shipped())


def find(name_or_path: str) -> ScenarioFile:
    """The scenario of that name, or the file at that path. Raises NoScenario."""
    for shipped in _shipped():
        if shipped.name == name_or_path:
            return shipped
    for path in (own_folder() / f"{name_or_path}.toml", Path(name_or_path)):
        if _is_file(path):
            return _read(path)
    names = [file.name for file in all_files()[0]]
    near = difflib.get_close_matches(name_or_path, names, 1)
    hint = (
        tr("did you mean {name}?").format(name=near[0])
        if near
        else tr("there are {names}").format(names=", ".join(names))
    )
    raise NoScenario(
        tr("There is no scenario {name!r}, by name or as a file; {hint}").format(name=name_or_path, hint=hint)
    )


def _shipped() -> Iterator[ScenarioFile]:
    files = (file for file in resources.files("scenarios").iterdir() if file.name.endswith(".toml"))
    for file in sorted(files, key=lambda file: file.name):
        name = file.name.removesuffix(".toml")
        yield ScenarioFile(name, file.name, file.read_text(encoding="utf-8"), shipped=True)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name that no file can have
        return False


def _read(path: Path) -> ScenarioFile:
    if not _is_file(path):  # a pipe would be waited for, a device never ends
        raise NoScenario(tr("{path} is not a file").format(path=path))
    try:
        with path.open("rb") as file:
            raw = file.read(BYTES_MAX + 1)
        if len(raw) > BYTES_MAX:
            raise NoScenario(
                tr("{path} is larger than a scenario may be ({most} MB)").format(
                    path=path, most=BYTES_MAX // 1_000_000
                )
            )
        text = raw.decode("utf-8").replace("\r\n", "\n")
    except OSError as error:
        raise NoScenario(tr("{path} cannot be read: {why}").format(path=path, why=error.strerror)) from error
    except UnicodeDecodeError as error:
        raise NoScenario(
            tr("{path} is not text in UTF-8 (byte {start})").format(path=path, start=error.start + 1)
        ) from error
    return ScenarioFile(path.stem, str(path), text, shipped=False)
