"""Shapes of all documented views, system tables and table functions: their columns by version.

The text files in this folder contain them; a line with # is a comment. An entry begins at the margin: `name since:
column type, column type since, column type since-until`, with the name in lowercase and a version only where it
differs from the view's. A name with `()` is a table-valued function. Columns that no version of the product shows
(asked_handle …) take the arguments of a function (engine/tsql/query/apply.py).

Documented [DOC: system catalog views; dynamic management views; compatibility views; system tables; information
schema views]: column, type, `Applies to`. The documentation begins with 2008; differences of 2005 are from memory.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Final


@dataclass(frozen=True, slots=True)
class ColumnShape:
    """Column of a catalog view: name, type, first version."""

    name: str
    type: str
    since: int = 2005
    until: int = 9999
    """First and last version with the column."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Columns of a view, without its rows."""

    name: str
    since: int
    text: str

    def columns_in(self, version: int) -> tuple[ColumnShape, ...]:
        """Return the columns that *version* has, in the order of SELECT *."""
        return _columns_in(self, version)


@lru_cache(maxsize=2048)
def _columns_in(shape: Shape, version: int) -> tuple[ColumnShape, ...]:
    return tuple(column for column in _columns(shape) if column.since <= version <= column.until)


@lru_cache(maxsize=1024)
def _columns(shape: Shape) -> tuple[ColumnShape, ...]:
    found = []
    for part in shape.text.split(", "):
        name, kind, *versions = part.split()
        since, _, until = versions[0].partition("-") if versions else (shape.since, "", "")
        found.append(ColumnShape(name, kind, int(since), int(until or 9999)))
    return tuple(found)


def _read() -> dict[str, Shape]:
    found = {}
    for file in sorted(resources.files(__name__).iterdir(), key=lambda file: file.name):
        if file.name.endswith(".txt"):
            for entry in re.split(r"\n(?=\S)", file.read_text(encoding="utf-8").strip())[
                1:
            ]:  # after the heading
                head, _, columns = entry.partition(":")
                name, since = head.split()
                found[name] = Shape(name, int(since), " ".join(columns.split()))
    return found


SHAPES: Final = _read()
"""Shapes by full name in lowercase."""

TABLE_FUNCTIONS: Final = frozenset(name[4:-2] for name in SHAPES if name.endswith("()"))
"""Table-valued functions of schema sys, without the schema."""
