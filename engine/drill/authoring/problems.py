"""Problems of a scenario file, each with its position and the expected value."""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from typing import Final

from msgspec import Struct
from msgspec.structs import asdict
from pydantic_core import ErrorDetails

from engine.drill.authoring import limits
from engine.localization import LocalizableMessage, build_message, join_messages
from engine.tables import read_table

KEY_CHARACTERS_MAX: Final = 60
"""Maximum characters of a key in the text of a problem. Assumed."""
PROBLEM_CHARACTERS_MAX: Final = 500
"""Maximum characters of the text of a problem. Assumed: our longest text, which lists 20 verbs, has 500
characters.
"""


class FileProblem(Struct, frozen=True, order=True):
    """Problem in a file of an author. *line* and *column* begin at 1."""

    file: str
    line: int
    column: int
    where: str
    """Path of the key in the file, for example `server[1].site`."""
    text: str
    """Description of the problem."""
    expected: str = ""
    """Description of the expected value; empty if there is none."""

    def __str__(self) -> str:
        location = f"{self.file}:{self.line}:{self.column}" + (f": {self.where}" if self.where else "")
        if not self.expected:
            return build_message("{place}: {problem}", place=location, problem=self.text)
        return build_message(
            "{place}: {problem}; expected {said}", place=location, problem=self.text, said=self.expected
        )

    def as_json(self) -> dict[str, object]:
        """Return the problem and its position as JSON types."""
        return asdict(self)


class ScenarioError(ValueError):
    """Error for a scenario that cannot be used.

    *problems* contains all its problems, in the order of the file.
    """

    def __init__(self, problems: Sequence[FileProblem]) -> None:
        super().__init__(join_messages("\n", map(str, problems)))
        self.problems = tuple(problems)


class ProblemCollector:
    """Collector of the problems of one file. It converts paths of keys to lines and columns of *text*."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.text = text
        self.problems: list[FileProblem] = []

    @cached_property
    def positions(self) -> dict[KeyPath, TextPosition]:
        """Return path -> position, for all keys.

        The positions are computed when the first problem is added, because most files have no problem.
        """
        return find_positions(self.text)

    def add_problem(self, path: KeyPath, text: str, expected: str = "", offset: int | None = None) -> None:
        """Add a problem at *path*.

        *text*: description of the problem. *expected*: description of the expected value. *offset*:
        index of the wrong character in the one-line value, from 0. None means the position of the key.
        """
        nearest_position = find_nearest_position(self.positions, path)
        line, column = nearest_position.line, nearest_position.column
        if offset is not None:
            line, column = nearest_position.value_line, nearest_position.value_column + offset
        self.problems.append(
            FileProblem(
                self.file, line, column, format_path(path), _shorten_text(text), _shorten_text(expected)
            )
        )

    def raise_problems(self) -> None:
        """Raise ScenarioError if there are problems.

        The error lists PROBLEMS_MAX problems and states the number of the others.
        """
        problems = sorted(set(self.problems))
        kept_problems = problems[: limits.PROBLEMS_MAX]
        if len(problems) > len(kept_problems):
            kept_problems.append(
                FileProblem(
                    self.file,
                    1,
                    1,
                    "",
                    build_message("and {n} more problems", n=len(problems) - len(kept_problems)),
                )
            )
        if kept_problems:
            raise ScenarioError(kept_problems)


def format_path(path: KeyPath) -> str:
    """Format a path: ("server", 1, "site") becomes `server[1].site`."""
    words = [f"[{part}]" if isinstance(part, int) else f".{_format_key(part)}" for part in path]
    return "".join(words).removeprefix(".")


def _format_key(part: str) -> str:
    """Shorten a key, escape invisible characters, and add quotes unless it is a bare key."""
    short = part if len(part) <= KEY_CHARACTERS_MAX else f"{part[:KEY_CHARACTERS_MAX]}…"
    return short if short.isprintable() else repr(short)[1:-1]


def _shorten_text(text: str) -> str:
    """Shorten the text of a problem, because a text quoted from the file may have a million characters."""
    return text if len(text) <= PROBLEM_CHARACTERS_MAX else f"{text[:PROBLEM_CHARACTERS_MAX]}…"


# --- line of each key in a TOML text ----------------------------------------------------------------------
# tomllib does not return the lines of values.

KeyPath = tuple[str | int, ...]
"""Path of a value in a file: keys and list indexes from the top table, for example ("server", 1, "site")."""


class TextPosition(Struct, frozen=True):
    """Position of a key, and of the first character of its value inside the quotes.

    Lines and columns begin at 1.
    """

    line: int
    column: int
    value_line: int
    value_column: int


_KEY: Final = re.compile(r"""[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'""")
_STRING: Final = re.compile(
    r'''"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*\'''', re.DOTALL
)
_BARE_VALUE: Final = re.compile(r"[^,\]}#\n]*")
_BLANK: Final = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SPACE: Final = re.compile(r"[ \t]*")


def find_positions(text: str) -> dict[KeyPath, TextPosition]:
    """Return path -> position, for every key and list element. *text* must be valid TOML."""
    scan = _PositionScanner(text)
    scan.read_document()
    return scan.positions


def find_nearest_position(positions: dict[KeyPath, TextPosition], path: KeyPath) -> TextPosition:
    """Return the position of *path*, or of the innermost enclosing table or list that *positions* contains."""
    for length in range(len(path), 0, -1):
        if path[:length] in positions:
            return positions[path[:length]]
    return TextPosition(1, 1, 1, 1)


class _PositionScanner:
    """Scanner that finds the positions of all keys and list elements in one pass.

    The text must be valid TOML.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.index = 0
        self.positions: dict[KeyPath, TextPosition] = {}
        self._lists: dict[KeyPath, int] = {}
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def read_document(self) -> None:
        table: KeyPath = ()
        self._skip_pattern(_BLANK)
        while self.index < len(self.text):
            if self.text[self.index] == "[":
                table = self._read_header()
            else:
                self._read_entry(table)
            self._skip_pattern(_BLANK)

    def _read_header(self) -> KeyPath:
        """Read `[a.b]` or `[[a.b]]`, and return the path of the table."""
        start = self.index
        is_array = self.text.startswith("[[", self.index)
        self.index += 2 if is_array else 1
        path: KeyPath = ()
        for key in self._read_keys():
            path = (*path, key)
            if path in self._lists:
                path = (*path, self._lists[path])
        if is_array:
            if path and isinstance(path[-1], int):
                path = path[:-1]
            self._lists[path] = self._lists.get(path, -1) + 1
            self._store_positions(path, start, start)
            path = (*path, self._lists[path])
        self._store_positions(path, start, start)
        self._skip_pattern(_SPACE)
        self.index += 2 if is_array else 1
        return path

    def _read_entry(self, table: KeyPath) -> None:
        """Read `key = value` in the table *table*."""
        self._skip_pattern(_SPACE)
        start = self.index
        path: KeyPath = (*table, *self._read_keys())
        self.index = self.text.index("=", self.index) + 1
        self._skip_pattern(_SPACE)
        self._store_positions(path, start, self.index)
        self._read_value(path)

    def _read_keys(self) -> list[str]:
        """Read a key, or several keys joined by dots."""
        keys: list[str] = []
        while True:
            self._skip_pattern(_SPACE)
            match = _KEY.match(self.text, self.index)
            assert match is not None, f"tomllib accepted a text without a key at {self.index}"
            self.index = match.end()
            word = match.group()
            keys.append(next(iter(tomllib.loads(f"{word} = 0"))) if word[0] in "\"'" else word)
            self._skip_pattern(_SPACE)
            if self.text[self.index : self.index + 1] != ".":
                return keys
            self.index += 1

    def _read_value(self, path: KeyPath) -> None:
        match self.text[self.index : self.index + 1]:
            case "[":
                self._read_list(path)
            case "{":
                self._read_inline_table(path)
            case '"' | "'":
                string = _STRING.match(self.text, self.index)
                assert string is not None, f"tomllib accepted an open string at {self.index}"
                self.index = string.end()
            case _:
                self._skip_pattern(_BARE_VALUE)

    def _read_list(self, path: KeyPath) -> None:
        self.index += 1
        number = 0
        while True:
            self._skip_pattern(_BLANK)
            if self.text[self.index] == "]":
                self.index += 1
                return
            self._store_positions((*path, number), self.index, self.index)
            self._read_value((*path, number))
            number += 1
            self._skip_pattern(_BLANK)
            if self.text[self.index] == ",":
                self.index += 1

    def _read_inline_table(self, path: KeyPath) -> None:
        self.index += 1
        while True:
            self._skip_pattern(_BLANK)
            if self.text[self.index] == "}":
                self.index += 1
                return
            self._read_entry(path)
            self._skip_pattern(_BLANK)
            if self.text[self.index] == ",":
                self.index += 1

    def _skip_pattern(self, pattern: re.Pattern[str]) -> None:
        match = pattern.match(self.text, self.index)
        if match is not None:
            self.index = match.end()

    def _store_positions(self, path: KeyPath, key: int, value: int) -> None:
        quotes = 3 if self.text[value : value + 3] in ('"""', "'''") else 1
        start = value + quotes if self.text[value : value + 1] in ('"', "'") else value
        self.positions[path] = TextPosition(
            *self._compute_line_and_column(key), *self._compute_line_and_column(start)
        )

    def _compute_line_and_column(self, index: int) -> tuple[int, int]:
        """Return (line, column) of the character at *index*, both from 1."""
        line = bisect_right(self._starts, index)
        return line, index - self._starts[line - 1] + 1


# --- descriptions of expected values ----------------------------------------------------------------------
# Each kind of pydantic error has its own sentence.

EXPECTED_VALUE_TEXTS: Final = {
    **{row["error"]: row["text"] for row in read_table("engine.drill.authoring", "expected.tsv")},
    "string_pattern_mismatch": "{pattern}",
    "value_error": "{error}",
}
"""Kind of pydantic error -> expected value. A test verifies that no other kinds occur."""

PATTERNS: Final = {
    "[A-Za-z_]": build_message("a name such as SERVER_A (letters, digits, _ $ -, at most 30 characters)"),
    "[a-z0-9]": build_message("a name such as back-in-service (lowercase letters, digits, - and _)"),
    r"(\.\d{1,3}){2}": build_message(
        "the first three numbers of the addresses in the subnet, such as {word}", word="10.0.1"
    ),
    r"(\.\d{1,3}){3}": build_message("an address such as {word}", word="10.0.1.50"),
    r"\d{4}-": build_message("a time such as {word}", word="2005-10-22T12:00:00"),
}


def describe_expected_value(error: ErrorDetails) -> LocalizableMessage:
    """Describe the values that are allowed in place of the value that *error* rejects."""
    context = dict(error.get("ctx", {}))
    pattern = str(context.get("pattern", ""))
    context["pattern"] = next((message for start, message in PATTERNS.items() if start in pattern), pattern)
    context["error"] = str(context.get("error", ""))
    template = EXPECTED_VALUE_TEXTS[error["type"]]
    return build_message(template, **context)
