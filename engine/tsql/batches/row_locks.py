"""Locks on rows and key ranges of a table, and the order of index entries."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from engine.tsql.scalars.values import Scalar, compare_texts, to_decimal


def compare_values(a: Scalar, b: Scalar) -> int:
    """Compare two values of one column type as an index orders them, NULL first. Return -1, 0 or 1."""
    if a is None or b is None:
        return (a is not None) - (b is not None)
    if isinstance(a, bytes) and isinstance(b, bytes):
        return (a > b) - (a < b)
    if isinstance(a, str) and isinstance(b, str):
        return compare_texts(a, b)
    left, right = to_decimal(a), to_decimal(b)
    return (left > right) - (left < right)


class IndexEntry(Struct, frozen=True):
    """Row of a table with its number, as an index orders it."""

    row: tuple[Scalar, ...]
    number: int


class KeyRange(Struct, frozen=True):
    """Range of keys of an index between two entries: above *low*, up to *high*. None means unbounded.

    [DOC: key-range locking].
    """

    place: tuple[str, str, str]
    columns: tuple[tuple[int, bool], ...]
    """Positions of the key columns in the table, and whether they are in descending order."""
    low: IndexEntry | None = None
    high: IndexEntry | None = None

    def compare(self, a: IndexEntry, b: IndexEntry) -> int:
        """Return -1, 0 or 1 for the order of two entries. Equal keys are ordered by the numbers of the rows."""
        for position, is_descending in self.columns:
            sign = compare_values(a.row[position], b.row[position])
            if sign:
                return -sign if is_descending else sign
        return (a.number > b.number) - (a.number < b.number)

    def contains(self, entry: IndexEntry) -> bool:
        """Return whether an entry is in the range."""
        is_above = self.low is None or self.compare(entry, self.low) > 0
        return is_above and (self.high is None or self.compare(entry, self.high) <= 0)


INDEX_END: Final = 0
"""Number of the lock resource behind the last key of an index. Rows have higher numbers."""


class ReadRows(Struct, frozen=True):
    """Rows of a table that a query reads, by their numbers, and the ranges of keys around them."""

    rows: frozenset[int]
    matching: frozenset[int]
    """Rows among them that satisfy the conditions, as far as these are known."""
    has_index: bool = True
    """False for a scan of a heap."""
    ranges: tuple[KeyRange, ...] = ()
    """Ranges of keys; empty for a heap, and for keys that a unique index finds [DOC: key-range locking]."""
    next_keys: frozenset[int] = frozenset()
    """Numbers of the keys that follow the ranges."""


class RowLocks(Struct, frozen=True):
    """Locks on rows of a table until the end of the transaction (locks.py)."""

    place: tuple[str, str, str]
    mode: str
    """S, U or X."""
    rows: tuple[int, ...]
    ranges: tuple[KeyRange, ...] = ()
    """Ranges of keys into which no other connection can insert."""
