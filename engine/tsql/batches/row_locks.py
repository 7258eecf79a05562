"""Data of locks on the rows and key ranges of a table, and the order of index entries."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from engine.tsql.scalars.values import Scalar, compare_texts, to_decimal


def compare_values(a: Scalar, b: Scalar) -> int:
    """Compare two values of one column type in index order, in which NULL is first. Return -1, 0 or 1."""
    if a is None or b is None:
        return (a is not None) - (b is not None)
    if isinstance(a, bytes) and isinstance(b, bytes):
        return (a > b) - (a < b)
    if isinstance(a, str) and isinstance(b, str):
        return compare_texts(a, b)
    left, right = to_decimal(a), to_decimal(b)
    return (left > right) - (left < right)


class IndexEntry(Struct, frozen=True):
    """Entry of an index: a row and its permanent number."""

    row: tuple[Scalar, ...]
    number: int


class KeyRange(Struct, frozen=True):
    """Range of index entries: those after *low*, up to and including *high*. None means unbounded.

    [DOC: key-range locking].
    """

    place: tuple[str, str, str]
    columns: tuple[tuple[int, bool], ...]
    """(position in the table, True if descending) of each key column."""
    low: IndexEntry | None = None
    high: IndexEntry | None = None

    def compare(self, a: IndexEntry, b: IndexEntry) -> int:
        """Return -1, 0 or 1 for the order of two entries. Row numbers determine the order of equal keys."""
        for position, is_descending in self.columns:
            sign = compare_values(a.row[position], b.row[position])
            if sign:
                return -sign if is_descending else sign
        return (a.number > b.number) - (a.number < b.number)

    def contains(self, entry: IndexEntry) -> bool:
        """Return whether the range contains an entry."""
        is_above = self.low is None or self.compare(entry, self.low) > 0
        return is_above and (self.high is None or self.compare(entry, self.high) <= 0)


INDEX_END: Final = 0
"""Row number that represents the end of an index in a lock. Rows have higher numbers."""


class ReadRows(Struct, frozen=True):
    """Numbers of the rows that a query reads in a table, and the key ranges around these rows."""

    rows: frozenset[int]
    matching: frozenset[int]
    """Numbers of the read rows that satisfy the conditions that access_paths.py can evaluate."""
    has_index: bool = True
    """True if the query reads an index, False if it scans a heap."""
    ranges: tuple[KeyRange, ...] = ()
    """Key ranges that the query reads. Empty for a heap, and for a row that a unique index finds [DOC:
    key-range locking].
    """
    next_keys: frozenset[int] = frozenset()
    """Number of the row after each key range, or INDEX_END after the last row."""


class RowLocks(Struct, frozen=True):
    """Locks of a session on rows of a table, held until the end of the transaction (locks.py)."""

    place: tuple[str, str, str]
    mode: str
    """Lock mode of the rows: S, U or X."""
    rows: tuple[int, ...]
    ranges: tuple[KeyRange, ...] = ()
    """Key ranges into which no other session can insert rows."""
