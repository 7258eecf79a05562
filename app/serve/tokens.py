"""Server responses as tokens [MS-TDS 2.2.7]: each function encodes one token."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Final

from app.serve.login import TDS_7_2
from app.serve.types import COLLATION, WireColumn, column
from engine.drill.judging.shapes import Row
from engine.tsql.scalars.values import Scalar

DONE, DONE_PROC, DONE_IN_PROC = 0xFD, 0xFE, 0xFF
MORE, ERROR, COUNT, ATTENTION = 0x01, 0x02, 0x10, 0x20
"""Status bits of the DONE tokens [MS-TDS 2.2.7.6]."""

SELECT, INSERT = 0xC1, 0xC3
"""CurCmd of the DONE tokens."""

DATABASE, LANGUAGE, PACKET_SIZE, SQL_COLLATION = 1, 2, 4, 7
BEGIN, COMMIT, ROLLBACK = 8, 9, 10
PARTNER: Final = 13
RESET_DONE: Final = 18
ROUTING: Final = 20
"""Types of ENVCHANGE [MS-TDS 2.2.7.9]."""

NULLABLE: Final = 0x0009
"""Flags of a column: nullable, updatability unknown."""
TEXT_MAX: Final = 8000
"""Maximum characters of a message on the wire: a token has 65,535 bytes."""


def short(text: str) -> bytes:
    """Encode B_VARCHAR [MS-TDS 2.2.5.1.2]."""
    raw = text[:255].encode("utf-16-le", "surrogatepass")
    return bytes([len(raw) // 2]) + raw


def _long(text: str) -> bytes:
    raw = text[:TEXT_MAX].encode("utf-16-le", "surrogatepass")
    return struct.pack("<H", len(raw) // 2) + raw


def encode_done(
    kind: int = DONE, status: int = 0, count: int | None = None, tds: int = TDS_7_2, changes: bool = False
) -> bytes:
    """Encode DONE and related tokens [MS-TDS 2.2.7.6 to 2.2.7.8].

    *changes*: the count is of an INSERT, UPDATE or DELETE, by which JDBC distinguishes it from a SELECT.
    """
    status |= 0 if count is None else COUNT
    command = 0 if count is None else INSERT if changes else SELECT
    return struct.pack("<BHH" + ("Q" if tds >= TDS_7_2 else "I"), kind, status, command, count or 0)


def encode_message(message_row: Row, server: str, tds: int) -> bytes:
    """Encode ERROR [MS-TDS 2.2.7.10] or INFO [2.2.7.13] of a message of `sql_done`."""
    error = message_row["severity"] > 10
    number = message_row["number"] or (50000 if error else 0)
    body = struct.pack(
        "<iBB",
        number,
        message_row["state"] or 1,
        message_row["severity"] % 10 if not error else message_row["severity"],
    )
    body += _long(message_row["text"]) + short(server) + short(message_row.get("procedure", ""))
    body += struct.pack("<I" if tds >= TDS_7_2 else "<H", min(message_row["line"] or 1, 65_535))
    return struct.pack("<BH", 0xAA if error else 0xAB, len(body)) + body


def encode_routing(host: str, port: int) -> bytes:
    """Encode ENVCHANGE 20: log in at another address instead [MS-TDS 2.2.7.9]."""
    told = b"\0" + struct.pack("<HH", port, len(host)) + host.encode("utf-16-le")  # protocol 0: TCP
    body = bytes([ROUTING]) + struct.pack("<H", len(told)) + told + b"\0\0"
    return struct.pack("<BH", 0xE3, len(body)) + body


def encode_environment(kind: int, new_value: str | bytes, old_value: str | bytes = "") -> bytes:
    """Encode ENVCHANGE [MS-TDS 2.2.7.9]; bytes are values of B_VARBYTE, text of B_VARCHAR."""
    body = bytes([kind])
    for value in (new_value, old_value):
        body += short(value) if isinstance(value, str) else bytes([len(value)]) + value
    return struct.pack("<BH", 0xE3, len(body)) + body


def encode_login_ack(tds: int, build: tuple[int, int, int]) -> bytes:
    """Encode LOGINACK [MS-TDS 2.2.7.14]."""
    body = b"\x01" + struct.pack(">I", tds) + short("Microsoft SQL Server") + struct.pack(">BBH", *build)
    return struct.pack("<BH", 0xAD, len(body)) + body


def collation() -> bytes:
    """Return the default collation [MS-TDS 2.2.5.1.2]."""
    return encode_environment(SQL_COLLATION, COLLATION, b"")


def columns_of(result: Row, tds: int) -> list[WireColumn]:
    """Return the columns of a result as `sql_done` has it."""
    rows: Sequence[Sequence[Scalar]] = result["rows"]
    types = result["types"] or [""] * len(result["columns"])
    return [column(written, [row[place] for row in rows], tds) for place, written in enumerate(types)]


def grid(result: Row, tds: int) -> bytes:
    """Encode COLMETADATA [MS-TDS 2.2.7.4] and its rows."""
    columns = columns_of(result, tds)
    return _metadata(result["columns"], columns, tds) + _rows(columns, result["rows"], tds)


def _metadata(names: Sequence[str], columns: Sequence[WireColumn], tds: int, hidden: int = 0) -> bytes:
    """Encode COLMETADATA; the last *hidden* columns are for the driver alone."""
    out = bytearray(struct.pack("<BH", 0x81, len(columns)))
    for place, (name, one) in enumerate(zip(names, columns, strict=True)):
        flags = HIDDEN if place >= len(columns) - hidden else NULLABLE
        out += struct.pack("<IH" if tds >= TDS_7_2 else "<HH", 0, flags) + one.info
        out += b"\0\0" if one.by_pointer else b""  # name of the table
        out += short("" if name == NAMELESS else name)
    return bytes(out)


def _rows(columns: Sequence[WireColumn], rows: Sequence[Sequence[Scalar]], tds: int) -> bytes:
    """Return each as ROW [MS-TDS 2.2.7.20] or NBCROW [2.2.7.15], which is shorter."""
    out = bytearray()
    for row in rows:
        nulls = sum(value is None for value in row)
        if tds >= NBCROW_SINCE and nulls > 1 and nulls * 8 > len(row):
            out += b"\xd2" + _bits(row)
            out += b"".join(
                one.value(value) for one, value in zip(columns, row, strict=True) if value is not None
            )
        else:
            out += b"\xd1" + b"".join(one.value(value) for one, value in zip(columns, row, strict=True))
    return bytes(out)


ROW_STATUS: Final = "ROWSTAT"
FETCHED: Final = 1
HIDDEN: Final = 0x2000
_EXPRESSION, _OF_DRIVER = 0x04, 0x10


def columns_of_cursor(result: Row, tds: int) -> bytes:
    """Encode the columns of a cursor and the hidden last column that shows whether the row exists.

    TABNAME and COLINFO [MS-TDS 2.2.7.22, 2.2.7.3] state that no column belongs to a table, and which one is
    hidden.
    """
    names = [*result["columns"], ROW_STATUS]
    out = _metadata(names, [*columns_of(result, tds), _status_column(tds)], tds, hidden=1)
    told = b"".join(
        bytes([place & 0xFF, 0, _EXPRESSION | (_OF_DRIVER if place == len(names) else 0)])
        for place in range(1, len(names) + 1)
    )
    return out + struct.pack("<BH", 0xA4, 0) + struct.pack("<BH", 0xA5, len(told)) + told


def rows_of_cursor(result: Row, rows: Sequence[Sequence[Scalar]], tds: int) -> bytes:
    """Encode rows of a cursor, with the hidden status column."""
    columns = [*columns_of(result, tds), _status_column(tds)]
    return _rows(columns, [[*row, FETCHED] for row in rows], tds)


def _status_column(tds: int) -> WireColumn:
    return column("int", [FETCHED], tds)


NAMELESS: Final = "(No column name)"
"""Text that a window shows for a column without a name."""
NBCROW_SINCE: Final = 0x730B0003


def _bits(row: Sequence[object]) -> bytes:
    """Return one bit a column, the lowest first: set where the value is NULL."""
    number = sum(1 << place for place, value in enumerate(row) if value is None)
    return number.to_bytes(-(-len(row) // 8), "little")


def encode_return_status(status: int) -> bytes:
    """Encode RETURNSTATUS [MS-TDS 2.2.7.18]."""
    return struct.pack("<Bi", 0x79, status)


def encode_return_value(ordinal: int, name: str, type_name: str, value: Scalar, tds: int) -> bytes:
    """Encode RETURNVALUE [MS-TDS 2.2.7.19] of an output parameter."""
    one = column(type_name, [value], tds, parameter=True)
    head = struct.pack("<BH", 0xAC, ordinal) + short(name) + b"\x01"
    return head + struct.pack("<IH" if tds >= TDS_7_2 else "<HH", 0, 0) + one.info + one.value(value)
