"""Line of each key in a TOML text. tomllib reads values without their lines."""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from dataclasses import dataclass
from typing import Final

Path = tuple[str | int, ...]
"""Keys and list positions from the root: ("server", 1, "site")."""


@dataclass(frozen=True, slots=True)
class TextPosition:
    """Line and column, from 1, of a key, and of the first character of its value (inside the quotes)."""

    line: int
    column: int
    value_line: int
    value_column: int


_KEY: Final = re.compile(r"""[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'""")
_STRING: Final = re.compile(
    r'''"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*\'''', re.DOTALL
)
_PLAIN: Final = re.compile(r"[^,\]}#\n]*")
_BLANK: Final = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SPACE: Final = re.compile(r"[ \t]*")


def find_positions(text: str) -> dict[Path, TextPosition]:
    """Return the position of every key and list element of *text*, which tomllib must have accepted."""
    scan = _Scan(text)
    scan.document()
    return scan.found


def find_nearest_position(positions: dict[Path, TextPosition], path: Path) -> TextPosition:
    """Return the position of *path*, or of the innermost enclosing part that is in the text."""
    for length in range(len(path), 0, -1):
        if path[:length] in positions:
            return positions[path[:length]]
    return TextPosition(1, 1, 1, 1)


class _Scan:
    """Single pass over the text. Lines that tomllib rejects need no handling here."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.found: dict[Path, TextPosition] = {}
        self._lists: dict[Path, int] = {}
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def document(self) -> None:
        table: Path = ()
        self._skip(_BLANK)
        while self.at < len(self.text):
            if self.text[self.at] == "[":
                table = self._header()
            else:
                self._entry(table)
            self._skip(_BLANK)

    def _header(self) -> Path:
        """Parse `[a.b]` or `[[a.b]]`: the path of the following keys."""
        start = self.at
        is_array = self.text.startswith("[[", self.at)
        self.at += 2 if is_array else 1
        path: Path = ()
        for key in self._keys():
            path = (*path, key)
            if path in self._lists:
                path = (*path, self._lists[path])
        if is_array:
            if path and isinstance(path[-1], int):
                path = path[:-1]
            self._lists[path] = self._lists.get(path, -1) + 1
            self._note(path, start, start)
            path = (*path, self._lists[path])
        self._note(path, start, start)
        self._skip(_SPACE)
        self.at += 2 if is_array else 1
        return path

    def _entry(self, table: Path) -> None:
        """Read `key = value`."""
        self._skip(_SPACE)
        start = self.at
        path: Path = (*table, *self._keys())
        self.at = self.text.index("=", self.at) + 1
        self._skip(_SPACE)
        self._note(path, start, self.at)
        self._value(path)

    def _keys(self) -> list[str]:
        """Parse a key, or several joined by dots."""
        keys: list[str] = []
        while True:
            self._skip(_SPACE)
            match = _KEY.match(self.text, self.at)
            assert match is not None, f"tomllib accepted a text without a key at {self.at}"
            self.at = match.end()
            word = match.group()
            keys.append(next(iter(tomllib.loads(f"{word} = 0"))) if word[0] in "\"'" else word)
            self._skip(_SPACE)
            if self.text[self.at : self.at + 1] != ".":
                return keys
            self.at += 1

    def _value(self, path: Path) -> None:
        match self.text[self.at : self.at + 1]:
            case "[":
                self._list(path)
            case "{":
                self._inline_table(path)
            case '"' | "'":
                string = _STRING.match(self.text, self.at)
                assert string is not None, f"tomllib accepted an open string at {self.at}"
                self.at = string.end()
            case _:
                self._skip(_PLAIN)

    def _list(self, path: Path) -> None:
        self.at += 1
        number = 0
        while True:
            self._skip(_BLANK)
            if self.text[self.at] == "]":
                self.at += 1
                return
            self._note((*path, number), self.at, self.at)
            self._value((*path, number))
            number += 1
            self._skip(_BLANK)
            if self.text[self.at] == ",":
                self.at += 1

    def _inline_table(self, path: Path) -> None:
        self.at += 1
        while True:
            self._skip(_BLANK)
            if self.text[self.at] == "}":
                self.at += 1
                return
            self._entry(path)
            self._skip(_BLANK)
            if self.text[self.at] == ",":
                self.at += 1

    def _skip(self, pattern: re.Pattern[str]) -> None:
        match = pattern.match(self.text, self.at)
        if match is not None:
            self.at = match.end()

    def _note(self, path: Path, key: int, value: int) -> None:
        quotes = 3 if self.text[value : value + 3] in ('"""', "'''") else 1
        inside = value + quotes if self.text[value : value + 1] in ('"', "'") else value
        self.found[path] = TextPosition(*self._line_column(key), *self._line_column(inside))

    def _line_column(self, index: int) -> tuple[int, int]:
        line = bisect_right(self._starts, index)
        return line, index - self._starts[line - 1] + 1
