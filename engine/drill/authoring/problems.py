"""Problems in a scenario file, each with its place and the expected value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Final

from engine.drill.authoring import limits
from engine.drill.authoring.toml_positions import Path, TextPosition, find_nearest_position, find_positions
from engine.localization import join_messages, say

KEY_MAX: Final = 60
TEXT_MAX: Final = 500
"""Maximum characters of a key and of a sentence in a problem. Assumed; our longest sentence (20 verbs) has 500."""


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """Problem in a file. *line* and *column* count from 1; *where* is the path of the key (`server[1].site`)."""

    file: str
    line: int
    column: int
    where: str
    text: str
    expected: str = ""

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}:{self.column}" + (f": {self.where}" if self.where else "")
        if not self.expected:
            return say("{place}: {problem}", place=where, problem=self.text)
        return say("{place}: {problem}; expected {said}", place=where, problem=self.text, said=self.expected)

    def as_json(self) -> dict[str, object]:
        """Return the problem with its position in JSON types."""
        return asdict(self)


class ScenarioError(ValueError):
    """A scenario cannot be used; *problems* lists all reasons in the order of the file."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(join_messages("\n", map(str, problems)))
        self.problems = tuple(problems)


class ProblemFinder:
    """Collector of the problems of one file with *text*; converts paths of keys into lines and columns."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.text = text
        self.problems: list[Problem] = []

    @cached_property
    def positions(self) -> dict[Path, TextPosition]:
        """Looked for with the first problem: most files have none."""
        return find_positions(self.text)

    def add(self, path: Path, text: str, expected: str = "", offset: int | None = None) -> None:
        """Note a problem at *path*; with *offset*, at that character (from 0) of its one-line text value."""
        place = find_nearest_position(self.positions, path)
        line, column = place.line, place.column
        if offset is not None:
            line, column = place.value_line, place.value_column + offset
        self.problems.append(Problem(self.file, line, column, format_path(path), _cut(text), _cut(expected)))

    def check(self) -> None:
        """Raise ScenarioError if there are problems: the first ones in the file, and the number of others."""
        every = sorted(set(self.problems))
        kept = every[: limits.PROBLEMS_MAX]
        if len(every) > len(kept):
            kept.append(Problem(self.file, 1, 1, "", say("and {n} more problems", n=len(every) - len(kept))))
        if kept:
            raise ScenarioError(kept)


def format_path(path: Path) -> str:
    """Format ("server", 1, "site") as `server[1].site`."""
    words = [f"[{part}]" if isinstance(part, int) else f".{_key(part)}" for part in path]
    return "".join(words).removeprefix(".")


def _key(part: str) -> str:
    """Quote a key that is no bare one: shortened, with invisible characters escaped."""
    short = part if len(part) <= KEY_MAX else f"{part[:KEY_MAX]}…"
    return short if short.isprintable() else repr(short)[1:-1]


def _cut(text: str) -> str:
    """Shorten text that a problem quotes from the file, which may have a million characters."""
    return text if len(text) <= TEXT_MAX else f"{text[:TEXT_MAX]}…"
