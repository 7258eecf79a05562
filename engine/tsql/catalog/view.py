"""What a catalog view is: its columns by version, and a function that makes its rows."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from engine.tsql.context import Context
from engine.tsql.values import Scalar

Record = dict[str, Scalar]
"""One row; a column that it does not name is NULL."""

Rows = Callable[[Context], Iterable[Record]]


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    type: str
    since: int = 2005
    """Version that brought it."""


@dataclass(frozen=True, slots=True)
class View:
    """A view or system table."""

    name: str
    columns: tuple[Column, ...]
    rows: Rows
    since: int = 2005
    partial: bool = False
    """The product has more columns than are named here."""

    def columns_in(self, version: int) -> tuple[Column, ...]:
        return tuple(column for column in self.columns if column.since <= version)


VIEWS: Final[dict[str, View]] = {}
"""Every view by its full name in small letters: sys.databases, msdb.dbo.sysjobs, master.dbo.syslogins."""


def view(name: str, columns: str, rows: Rows, since: int = 2005) -> View:
    """Define a view. *columns*: `name type` separated by commas; a year behind them is the first version, and `…` at
    the end says that the product has more."""
    text = columns.strip().removesuffix("…").rstrip().rstrip(",")
    made = View(name, parse_columns(text), rows, since, columns.strip().endswith("…"))
    VIEWS[name.lower()] = made
    return made


def parse_columns(text: str) -> tuple[Column, ...]:
    columns = []
    for part in text.split(","):
        name, kind, *since = part.split()
        columns.append(Column(name, kind.replace(";", ","), int(since[0]) if since else 2005))
    return tuple(columns)


def none(context: Context) -> Iterable[Record]:
    """The rows of a view that is always empty here."""
    return ()


@lru_cache(maxsize=1024)
def unique_id(*parts: object) -> str:
    """A uniqueidentifier that stays the same for the same *parts*."""
    digits = hashlib.blake2b(repr(parts).encode(), digest_size=16).hexdigest().upper()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def lsn(kb: float) -> int:
    """A log position as numeric(25,0): a virtual log file of 1 GB, a block of 512 bytes, a slot."""
    whole = int(kb)
    return (20 + whole // 1_048_576) * 10**15 + (whole % 1_048_576) * 2 * 10**5 + 1
