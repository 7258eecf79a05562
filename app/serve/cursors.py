"""Read-only cursors that a driver opens on the server [DOC: sp_cursoropen (Transact-SQL)].

The rows are those at the opening and are fetched in blocks [DOC: sp_cursorfetch (Transact-SQL)]. The module works on
bytes only and knows no world.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum, IntFlag
from typing import Final

from app.serve import tokens
from engine.drill.judging.shapes import Row
from engine.tsql.scalars.values import Scalar

ROWS_AT_ONCE: Final = 20
"""Rows of a fetch without a number of rows."""


class FetchDirection(IntEnum):
    """Block of rows that a fetch requests."""

    FIRST = 0x01
    NEXT = 0x02
    PREVIOUS = 0x04
    LAST = 0x08
    ABSOLUTE = 0x10
    RELATIVE = 0x20
    REFRESH = 0x80
    INFO = 0x100
    PREVIOUS_NO_ADJUST = 0x200


WAYS: Final = 0x3FF
"""Bits of a fetch that select a `FetchDirection`; the other bits do not affect a read-only cursor."""


class Scroll(IntFlag):
    """Supported scroll options of a cursor: every cursor is static unless it is forward-only."""

    FORWARD_ONLY = 0x04
    STATIC = 0x08
    FAST_FORWARD = 0x10
    AUTO_FETCH = 0x2000
    AUTO_CLOSE = 0x4000


READ_ONLY: Final = 1
"""The only supported concurrency option."""
ADJUSTED: Final = 2
CLOSED: Final = 16
"""Return status of a fetch that had to start at the first row, and of a fast-forward cursor that has closed."""


@dataclass(slots=True)
class ApiCursor:
    """Rows of a query with the position of the latest fetch."""

    result: Row
    """Grid in the form of `sql_done`."""
    start: int = 0
    """Index of the first row of the latest fetch; the number of rows means behind the last."""
    held: int = 0
    """Number of rows in the latest fetch. 0 at the start: before the first; 0 at the end: behind the last."""

    @property
    def size(self) -> int:
        """Return the memory of the cursor in cells."""
        return len(self.result["rows"])

    def fetch(self, direction: int, row: int, count: int) -> int:
        """Move; `block` then has the rows. Returns the return status of the procedure."""
        size, status, start = self.size, 0, self.start
        match direction:
            case FetchDirection.FIRST:
                start = 0
            case FetchDirection.NEXT:
                start += self.held
            case FetchDirection.PREVIOUS if 0 < start < count:
                start, status = 0, ADJUSTED
            case FetchDirection.PREVIOUS:
                start -= count
            case FetchDirection.PREVIOUS_NO_ADJUST:
                start, count = max(0, start - count), min(count, start)
            case FetchDirection.LAST:
                start = max(0, size - count)
            case FetchDirection.ABSOLUTE:
                start = row - 1 if row >= 0 else size + row
            case FetchDirection.RELATIVE:
                start += row
            case FetchDirection.REFRESH:
                count = self.held
        before = start < 0
        self.start = min(max(0, start), size)
        self.held = 0 if before else min(count, size - self.start)
        return status

    @property
    def block(self) -> list[list[Scalar]]:
        """Return the rows at the current position."""
        rows: list[list[Scalar]] = self.result["rows"][self.start : self.start + self.held]
        return rows

    @property
    def row(self) -> int:
        """Number of the first row fetched last, from 1; 0 before the first, -1 behind the last."""
        if self.held:
            return self.start + 1
        return -1 if self.size and self.start >= self.size else 0


@dataclass(slots=True)
class Cursors:
    """Open cursors of a connection."""

    known: dict[int, ApiCursor] = field(default_factory=dict)
    last: int = 180_150_000
    """Latest cursor number; they start high, so that a small number cannot be mistaken for one."""

    def open(self, result: Row) -> int:
        """Open a cursor over a result; return its handle."""
        self.last += 1
        self.known[self.last] = ApiCursor(result)
        return self.last


@dataclass(frozen=True, slots=True)
class Opening:
    """Content of the response to the opening of a cursor, in addition to its columns."""

    outputs: dict[str, int]
    """Positions of the output parameters: handle, cursor, scroll, concurrency, rows."""
    scroll: int
    rows: int
    handle: int = 0


@dataclass(frozen=True, slots=True)
class FetchRequest:
    """Call of sp_cursorfetch; with *close* a call of sp_cursorclose."""

    cursor: int
    way: int = FetchDirection.NEXT
    row: int = 0
    count: int = ROWS_AT_ONCE
    outputs: tuple[int, ...] = ()
    """Positions of the output parameters row and count, if requested."""
    close: bool = False


class CursorNotFoundError(Exception):
    """A cursor with this number does not exist."""


def open_cursor(
    cursors: Cursors, opening: Opening, result: Row, tds: int, more_results: bool = False
) -> bytes:
    """Return the response to an opened cursor whose query returned *result*."""
    number = cursors.open(result)
    cursor = cursors.known[number]
    status, rows = 0, cursor.size
    out = tokens.columns_of_cursor(result, tds)
    if opening.scroll & Scroll.AUTO_FETCH:
        cursor.fetch(FetchDirection.NEXT, 0, opening.rows or ROWS_AT_ONCE)
        out += tokens.rows_of_cursor(result, cursor.block, tds)
        rows = cursor.held
        if opening.scroll & Scroll.AUTO_CLOSE and cursor.held == cursor.size:
            del cursors.known[number]
            status = CLOSED
    out += tokens.encode_done(
        tokens.DONE_IN_PROC, tokens.MORE, rows if opening.scroll & Scroll.AUTO_FETCH else 0, tds
    )
    out += tokens.encode_return_status(status)
    kept = opening.scroll & 0x1F
    forward = kept in (Scroll.FORWARD_ONLY, Scroll.FAST_FORWARD)
    given = {
        "handle": opening.handle,
        "cursor": number if status != CLOSED else 0,
        "scroll": kept if forward else Scroll.STATIC,
        "concurrency": READ_ONLY,
        "rows": rows,
    }
    for name, place in opening.outputs.items():
        out += tokens.encode_return_value(place, "", "int", int(given.get(name, 0)), tds)
    return out + tokens.encode_done(tokens.DONE_PROC, tokens.MORE if more_results else 0, None, tds)


def fetch_rows(cursors: Cursors, fetch: FetchRequest, tds: int, more_results: bool = False) -> bytes:
    """Return the answer to a fetch or a close. Raises CursorNotFoundError."""
    cursor = cursors.known.get(fetch.cursor)
    if cursor is None:
        raise CursorNotFoundError
    if fetch.close:
        del cursors.known[fetch.cursor]
        return tokens.encode_return_status(0) + tokens.encode_done(
            tokens.DONE_PROC, tokens.MORE if more_results else 0, None, tds
        )
    out, way = b"", fetch.way & WAYS
    if way == FetchDirection.INFO:
        out += tokens.encode_return_status(0)
        for place, value in zip(fetch.outputs, (cursor.row, cursor.size), strict=False):
            out += tokens.encode_return_value(place, "", "int", value, tds)
    else:
        status = cursor.fetch(way, fetch.row, fetch.count)
        out += tokens.columns_of_cursor(cursor.result, tds)
        out += tokens.rows_of_cursor(cursor.result, cursor.block, tds)
        out += tokens.encode_done(
            tokens.DONE_IN_PROC, tokens.MORE, cursor.held, tds
        ) + tokens.encode_return_status(status)
    return out + tokens.encode_done(tokens.DONE_PROC, tokens.MORE if more_results else 0, None, tds)
