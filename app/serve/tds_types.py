"""Conversion of T-SQL types and values to bytes [MS-TDS 2.2.5.4, 2.2.5.5], and response tokens [MS-TDS 2.2.7].

Values of a result set have their display form: binary as 0x…, dates and decimals as text. The types of the
columns determine the encoding. One function encodes each token.
"""

import struct
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Final
from uuid import UUID

from msgspec import Struct
from msgspec.structs import replace

from app.serve.login import TDS_7_2, TDS_7_3
from engine.drill.judging.report_types import ReportRow
from engine.tsql.scalars.types import (
    UNLIMITED_LENGTH,
    WIDE_DECIMAL_CONTEXT,
    SqlType,
    encode_code_page,
    parse_sql_type,
)
from engine.tsql.scalars.values import Scalar

DEFAULT_COLLATION: Final = bytes.fromhex("0904d00034")
"""SQL_Latin1_General_CP1_CI_AS: language 0x0409, ignoring case, kana and width; sort order 52 [MS-TDS 2.2.5.1.2]."""
_INTEGER_SIZES: Final = {"tinyint": 1, "smallint": 2, "int": 4, "bigint": 8}
TEXT_TOKENS: Final = {
    "char": 0xAF,
    "varchar": 0xA7,
    "nchar": 0xEF,
    "nvarchar": 0xE7,
    "binary": 0xAD,
    "varbinary": 0xA5,
}
_POINTER_TOKENS: Final = {"varchar": 0x23, "nvarchar": 0x63, "varbinary": 0x22}
_TEXT_POINTER: Final = b"\x10" + bytes(16) + bytes(8)
"""Text pointer and timestamp that precede an old large value. No client uses their values."""
_LARGE_VALUE_TYPES: Final = {"text": "varchar", "ntext": "nvarchar", "image": "varbinary"}
"""Old type of large values -> type whose (max) form replaces it, because that form needs no text pointer."""
_VARIANT_MAX: Final = 8009
"""Maximum size of a sql_variant with its properties, in bytes."""
_VARIANT_BASE_TYPES: Final = {
    "bit": 0x32, "tinyint": 0x30, "smallint": 0x34, "int": 0x38, "bigint": 0x7F, "float": 0x3E, "real": 0x3B,
    "money": 0x3C, "smallmoney": 0x7A, "datetime": 0x3D, "smalldatetime": 0x3A, "uniqueidentifier": 0x24,
    "numeric": 0x6C,
}  # fmt: skip
"""Base types of a sql_variant [MS-TDS 2.2.5.5.4] that are not in TEXT_TOKENS and TIME_TOKENS."""
TIME_TOKENS: Final = {"date": 0x28, "time": 0x29, "datetime2": 0x2A, "datetimeoffset": 0x2B}
_TIME_TEXT_LENGTHS: Final = {"date": 10, "time": 16, "datetime2": 27, "datetimeoffset": 34}
"""Date or time type -> length of its text form [DOC: data type support for date and time].

Clients before TDS 7.3 receive the text.
"""
NEW_TYPES_EPOCH: Final = date(1, 1, 1)
OLD_TYPES_EPOCH: Final = datetime(1900, 1, 1)
_SHORT_VALUE_BYTES_MAX: Final = 8000
_NULL_LONG_VALUE: Final = b"\xff" * 8


class WireColumn(Struct, frozen=True):
    """Column of a result set, with its wire type for one version of TDS."""

    kind: SqlType
    is_partially_length_prefixed: bool = False
    """True if the values are partially length-prefixed [MS-TDS 2.2.5.2.3], as for varchar(max)."""
    uses_text_pointer: bool = False
    """True if long values are sent as text, ntext or image, as before TDS 7.2 [MS-TDS 2.2.5.4.3]."""

    @property
    def type_info(self) -> bytes:
        """Encoded TYPE_INFO [MS-TDS 2.2.5.6]."""
        kind, name = self.kind, self.kind.name
        if name in _INTEGER_SIZES:
            return bytes([0x26, _INTEGER_SIZES[name]])
        if self.uses_text_pointer:
            return (
                bytes([_POINTER_TOKENS[name]])
                + b"\xff\xff\xff\x7f"
                + (b"" if "binary" in name else DEFAULT_COLLATION)
            )
        if name in _UNBOUNDED_TYPES:
            return _UNBOUNDED_TYPES[name]
        if name in TEXT_TOKENS:
            wide = 2 if name in ("nchar", "nvarchar") else 1
            size = (
                0xFFFF
                if self.is_partially_length_prefixed
                else min(kind.length * wide, _SHORT_VALUE_BYTES_MAX)
            )
            return struct.pack("<BH", TEXT_TOKENS[name], size) + (
                b"" if "binary" in name else DEFAULT_COLLATION
            )
        if name in TIME_TOKENS:
            return bytes([TIME_TOKENS[name]]) + (b"" if name == "date" else bytes([kind.scale]))
        if name == "numeric":
            return bytes([0x6C, 17, kind.precision, kind.scale])
        return _FIXED_TYPES[name]

    def encode_value(self, value: Scalar) -> bytes:
        """Encode a value without type information. Raises ValueError if the value does not fit the type."""
        name = self.kind.name
        if name in TEXT_TOKENS or name == "xml":
            return self._encode_text(value)
        if name == "sql_variant":
            return _encode_variant(self.kind.base, value)
        if value is None:
            return b"\0"
        if name in _INTEGER_SIZES:
            return struct.pack("B", _INTEGER_SIZES[name]) + int(value).to_bytes(
                _INTEGER_SIZES[name], "little", signed=name != "tinyint"
            )
        raw = _encode_value(self.kind, value)
        return bytes([len(raw)]) + raw

    def _encode_text(self, value: Scalar) -> bytes:
        if value is None:
            return (
                b"\0"
                if self.uses_text_pointer
                else _NULL_LONG_VALUE
                if self.is_partially_length_prefixed
                else b"\xff\xff"
            )
        if "binary" in self.kind.name:
            raw = bytes.fromhex(str(value).removeprefix("0x"))
        elif self.kind.name.startswith("n") or self.kind.name == "xml":
            raw = str(value).encode("utf-16-le", "surrogatepass")
        else:
            raw = encode_code_page(str(value))
        if self.uses_text_pointer:
            return _TEXT_POINTER + struct.pack("<I", len(raw)) + raw
        if self.is_partially_length_prefixed:
            return (
                struct.pack("<Q", len(raw)) + (struct.pack("<I", len(raw)) + raw if raw else b"") + bytes(4)
            )
        return struct.pack("<H", len(raw[:_SHORT_VALUE_BYTES_MAX])) + raw[:_SHORT_VALUE_BYTES_MAX]


_FIXED_TYPES: Final = {
    "bit": b"\x68\x01", "float": b"\x6d\x08", "real": b"\x6d\x04", "money": b"\x6e\x08", "smallmoney": b"\x6e\x04",
    "datetime": b"\x6f\x08", "smalldatetime": b"\x6f\x04", "uniqueidentifier": b"\x24\x10",
}  # fmt: skip


_UNBOUNDED_TYPES: Final = {"sql_variant": b"\x62" + struct.pack("<I", _VARIANT_MAX), "xml": b"\xf1\0"}
"""Type without a length -> its TYPE_INFO. XML has no schema here."""


def _encode_variant(base: SqlType | None, value: Scalar) -> bytes:
    """Encode a value with its base type [MS-TDS 2.2.5.5.4]. Raises ValueError if the value does not fit the type."""
    if value is None:
        return bytes(4)
    kind = base or _guess_type([value])
    name = kind.name
    if name in TEXT_TOKENS:
        data = WireColumn(kind).encode_value(value)[2:]
        size = struct.pack(
            "<H", min(kind.length * (2 if name.startswith("n") else 1), _SHORT_VALUE_BYTES_MAX)
        )
        head = bytes([TEXT_TOKENS[name]]), (b"" if "binary" in name else DEFAULT_COLLATION) + size
    elif name in TIME_TOKENS:
        data = _encode_value(kind, value)
        head = bytes([TIME_TOKENS[name]]), b"" if name == "date" else bytes([kind.scale])
    else:
        data = WireColumn(kind).encode_value(value)[1:]
        head = (
            bytes([_VARIANT_BASE_TYPES[name]]),
            bytes([kind.precision, kind.scale]) if name == "numeric" else b"",
        )
    body = head[0] + bytes([len(head[1])]) + head[1] + data
    return struct.pack("<I", len(body)) + body


def _encode_value(kind: SqlType, value: int | float | str | bytes) -> bytes:
    name = kind.name
    if name == "bit":
        return b"\1" if int(value) else b"\0"
    if name in ("float", "real"):
        return struct.pack("<d" if name == "float" else "<f", float(value))
    if name in ("money", "smallmoney"):
        units = _convert_to_units(value, 4)
        return (
            struct.pack("<iI", units >> 32, units & 0xFFFFFFFF)
            if name == "money"
            else struct.pack("<i", units)
        )
    if name == "numeric":
        units = _convert_to_units(value, kind.scale)
        return (b"\1" if units >= 0 else b"\0") + abs(units).to_bytes(16, "little")
    if name == "uniqueidentifier":
        return UUID(str(value)).bytes_le
    return _encode_date_time(kind, str(value))


def _convert_to_units(value: object, scale: int) -> int:
    """Return *value* as an integer: the decimal number multiplied by 10 to the power of *scale*.

    Raises ValueError if *value* is not a number.
    """
    try:
        return int(WIDE_DECIMAL_CONTEXT.scaleb(Decimal(str(value)), scale).to_integral_value())
    except InvalidOperation:
        raise ValueError(f"{value!r} is not a number") from None


def _encode_date_time(kind: SqlType, text: str) -> bytes:
    """Encode a date or time [MS-TDS 2.2.5.5.1.7 to 2.2.5.5.1.11]. Old types count from 1900, new types from year 1."""
    name = kind.name
    if name in ("datetime", "smalldatetime"):
        duration = datetime.fromisoformat(text[:26]) - OLD_TYPES_EPOCH
        if name == "smalldatetime":
            return struct.pack("<HH", duration.days, round(duration.seconds / 60))
        return struct.pack(
            "<iI", duration.days, round((duration.seconds + duration.microseconds / 1e6) * 300)
        )
    offset = 0
    if name == "datetimeoffset":
        text, _, zone = text.rpartition(" ")
        hours, minutes = zone[1:].split(":")
        offset = (-1 if zone[0] == "-" else 1) * (60 * int(hours) + int(minutes))
    day, _, clock = text.partition(" ") if name != "time" else ("0001-01-01", "", text)
    whole_seconds, _, fraction = (clock or "00:00:00").partition(".")
    moment = datetime.fromisoformat(f"{day} {whole_seconds}") - timedelta(minutes=offset)
    output = b""
    if name != "date":
        seconds = moment.hour * 3600 + moment.minute * 60 + moment.second
        units = seconds * 10**kind.scale + int((fraction + "0" * 7)[: kind.scale] or 0)
        output += units.to_bytes(3 if kind.scale < 3 else 4 if kind.scale < 5 else 5, "little")
    if name != "time":
        output += (moment.date() - NEW_TYPES_EPOCH).days.to_bytes(3, "little")
    return output + (struct.pack("<h", offset) if name == "datetimeoffset" else b"")


def build_column(type_name: str, values: Sequence[Scalar], tds: int, parameter: bool = False) -> WireColumn:
    """Return the wire column of a T-SQL type for the TDS version *tds*.

    For an unknown type, *values* determine the type. *parameter*: True for an output value, which has at most
    8,000 bytes before TDS 7.2.
    """
    kind = _guess_type(values) if type_name in ("", "null") else parse_sql_type(type_name)
    kind = _get_wire_type(kind, tds)
    if kind.base is not None:
        kind = replace(kind, base=_get_wire_type(kind.base, tds))
    long = (kind.length == UNLIMITED_LENGTH and kind.name in TEXT_TOKENS) or kind.name == "xml"
    by_pointer = long and tds < TDS_7_2 and not parameter
    if long and tds < TDS_7_2:
        kind, long = SqlType(kind.name, _SHORT_VALUE_BYTES_MAX), False
    wire_column = WireColumn(kind, long, by_pointer)
    try:
        for value in values:
            wire_column.encode_value(value)
    except (
        ValueError,
        OverflowError,
        struct.error,
    ):  # values whose format does not fit their type are sent as text
        return WireColumn(SqlType("nvarchar", 4000) if kind.base is None else SqlType("sql_variant"))
    return wire_column


def _get_wire_type(kind: SqlType, tds: int) -> SqlType:
    """Return the type with which the TDS version *tds* sends values of a T-SQL type."""
    if kind.name in ("decimal", "numeric"):
        return SqlType("numeric", precision=kind.precision, scale=kind.scale)
    if kind.name == "timestamp":
        return SqlType("binary", 8)
    if kind.name in TIME_TOKENS and tds < TDS_7_3:
        return SqlType("nvarchar", _TIME_TEXT_LENGTHS[kind.name])
    if kind.name == "xml" and tds < TDS_7_2:
        return SqlType("nvarchar", UNLIMITED_LENGTH)
    return (
        SqlType(_LARGE_VALUE_TYPES[kind.name], UNLIMITED_LENGTH) if kind.name in _LARGE_VALUE_TYPES else kind
    )


def _guess_type(values: Sequence[Scalar]) -> SqlType:
    present_values = [value for value in values if value is not None]
    integers = [value for value in present_values if isinstance(value, int)]
    if integers and integers == present_values:
        return SqlType("int" if all(-(2**31) <= value < 2**31 for value in integers) else "bigint")
    if present_values and all(isinstance(value, (int, float)) for value in present_values):
        return SqlType("float")
    return SqlType(
        "nvarchar", UNLIMITED_LENGTH if any(len(str(value)) > 4000 for value in present_values) else 4000
    )


DONE, DONE_PROC, DONE_IN_PROC = 0xFD, 0xFE, 0xFF
MORE, ERROR, COUNT, ATTENTION = 0x01, 0x02, 0x10, 0x20
"""Status bits of the DONE tokens [MS-TDS 2.2.7.6]."""

SELECT, INSERT = 0xC1, 0xC3
"""Values of CurCmd in DONE tokens."""

DATABASE, LANGUAGE, PACKET_SIZE, SQL_COLLATION = 1, 2, 4, 7
BEGIN, COMMIT, ROLLBACK = 8, 9, 10
PARTNER: Final = 13
RESET_ACKNOWLEDGED: Final = 18
ROUTING: Final = 20
"""Types of ENVCHANGE [MS-TDS 2.2.7.9]."""

NULLABLE_FLAGS: Final = 0x0009
"""Column flags: nullable, updatability unknown."""
NULLABLE_BIT: Final = 0x0001
MESSAGE_LENGTH_MAX: Final = 8000
"""Maximum number of characters of a message, because a token has at most 65,535 bytes."""


def encode_short_text(text: str) -> bytes:
    """Encode a B_VARCHAR value [MS-TDS 2.2.5.1.2]."""
    raw = text[:255].encode("utf-16-le", "surrogatepass")
    return bytes([len(raw) // 2]) + raw


def _encode_long_text(text: str) -> bytes:
    raw = text[:MESSAGE_LENGTH_MAX].encode("utf-16-le", "surrogatepass")
    return struct.pack("<H", len(raw) // 2) + raw


def encode_done(
    kind: int = DONE, status: int = 0, count: int | None = None, tds: int = TDS_7_2, changes: bool = False
) -> bytes:
    """Encode a DONE token or a related token [MS-TDS 2.2.7.6 to 2.2.7.8].

    *changes*: True for the count of an INSERT, UPDATE or DELETE, which JDBC distinguishes from a SELECT.
    """
    status |= 0 if count is None else COUNT
    command = 0 if count is None else INSERT if changes else SELECT
    return struct.pack("<BHH" + ("Q" if tds >= TDS_7_2 else "I"), kind, status, command, count or 0)


def encode_message(message_row: ReportRow, server: str, tds: int) -> bytes:
    """Encode a message of `sql_done` as ERROR [MS-TDS 2.2.7.10] or INFO [2.2.7.13]."""
    error = message_row["severity"] > 10
    number = message_row["number"] or (50000 if error else 0)
    body = struct.pack(
        "<iBB",
        number,
        message_row["state"] if message_row["number"] else 1,
        message_row["severity"] % 10 if not error else message_row["severity"],
    )
    procedure = message_row.get("procedure", "")
    body += _encode_long_text(message_row["text"]) + encode_short_text(server) + encode_short_text(procedure)
    line = message_row["line"] or (0 if procedure else 1)  # line 0 means that the procedure call failed
    body += struct.pack("<I" if tds >= TDS_7_2 else "<H", min(line, 65_535))
    return struct.pack("<BH", 0xAA if error else 0xAB, len(body)) + body


def encode_routing(host: str, port: int) -> bytes:
    """Encode ENVCHANGE 20, which tells the client to log in at another address [MS-TDS 2.2.7.9]."""
    routing = b"\0" + struct.pack("<HH", port, len(host)) + host.encode("utf-16-le")  # protocol 0 is TCP
    body = bytes([ROUTING]) + struct.pack("<H", len(routing)) + routing + b"\0\0"
    return struct.pack("<BH", 0xE3, len(body)) + body


def encode_environment(kind: int, new_value: str | bytes, old_value: str | bytes = "") -> bytes:
    """Encode ENVCHANGE [MS-TDS 2.2.7.9]. Bytes are encoded as B_VARBYTE, text as B_VARCHAR."""
    body = bytes([kind])
    for value in (new_value, old_value):
        body += encode_short_text(value) if isinstance(value, str) else bytes([len(value)]) + value
    return struct.pack("<BH", 0xE3, len(body)) + body


def encode_login_ack(tds: int, build: tuple[int, int, int]) -> bytes:
    """Encode LOGINACK [MS-TDS 2.2.7.14]."""
    body = (
        b"\x01"
        + struct.pack(">I", tds)
        + encode_short_text("Microsoft SQL Server")
        + struct.pack(">BBH", *build)
    )
    return struct.pack("<BH", 0xAD, len(body)) + body


def encode_collation() -> bytes:
    """Return the encoded default collation [MS-TDS 2.2.5.1.2]."""
    return encode_environment(SQL_COLLATION, DEFAULT_COLLATION, b"")


def build_columns(result: ReportRow, tds: int) -> list[WireColumn]:
    """Return the wire columns of a result set of `sql_done`."""
    rows: Sequence[Sequence[Scalar]] = result["rows"]
    types = result["types"] or [""] * len(result["columns"])
    return [
        build_column(type_name, [row[index] for row in rows], tds) for index, type_name in enumerate(types)
    ]


def encode_result_set(result: ReportRow, tds: int) -> bytes:
    """Encode a result set: COLMETADATA [MS-TDS 2.2.7.4] and the rows."""
    columns = build_columns(result, tds)
    metadata = _encode_metadata(result["columns"], columns, tds, nullable=result.get("nullable", ()))
    return metadata + _encode_rows(columns, result["rows"], tds)


def _encode_metadata(
    names: Sequence[str],
    columns: Sequence[WireColumn],
    tds: int,
    hidden_count: int = 0,
    nullable: Sequence[bool] = (),
) -> bytes:
    """Encode COLMETADATA.

    The last *hidden_count* columns are only for the driver. *nullable*: for each column, whether it can
    be NULL. By default, all visible columns can be NULL.
    """
    output = bytearray(struct.pack("<BH", 0x81, len(columns)))
    for index, (name, wire_column) in enumerate(zip(names, columns, strict=True)):
        flags = HIDDEN_COLUMN if index >= len(columns) - hidden_count else NULLABLE_FLAGS
        flags &= ~NULLABLE_BIT if nullable and not nullable[index] else flags
        output += struct.pack("<IH" if tds >= TDS_7_2 else "<HH", 0, flags) + wire_column.type_info
        output += b"\0\0" if wire_column.uses_text_pointer else b""  # empty table name
        output += encode_short_text("" if name == NO_COLUMN_NAME else name)
    return bytes(output)


def _encode_rows(columns: Sequence[WireColumn], rows: Sequence[Sequence[Scalar]], tds: int) -> bytes:
    """Encode each row as ROW [MS-TDS 2.2.7.20], or as NBCROW [2.2.7.15] if that is shorter."""
    output = bytearray()
    for row in rows:
        nulls = sum(value is None for value in row)
        if tds >= NBCROW_TDS_VERSION_MIN and nulls > 1 and nulls * 8 > len(row):
            output += b"\xd2" + _pack_null_bits(row)
            output += b"".join(
                wire_column.encode_value(value)
                for wire_column, value in zip(columns, row, strict=True)
                if value is not None
            )
        else:
            output += b"\xd1" + b"".join(
                wire_column.encode_value(value) for wire_column, value in zip(columns, row, strict=True)
            )
    return bytes(output)


ROW_STATUS_COLUMN: Final = "ROWSTAT"
ROW_FETCHED: Final = 1
HIDDEN_COLUMN: Final = 0x2000
_EXPRESSION_COLUMN, _DRIVER_ONLY_COLUMN = 0x04, 0x10


def encode_cursor_columns(result: ReportRow, tds: int) -> bytes:
    """Encode the columns of a cursor, with a hidden last column that shows whether the row exists.

    TABNAME and COLINFO [MS-TDS 2.2.7.22, 2.2.7.3] state that no column belongs to a table, and that the last
    column is hidden.
    """
    names = [*result["columns"], ROW_STATUS_COLUMN]
    metadata = _encode_metadata(
        names, [*build_columns(result, tds), _build_status_column(tds)], tds, hidden_count=1
    )
    columns = b"".join(
        bytes([index & 0xFF, 0, _EXPRESSION_COLUMN | (_DRIVER_ONLY_COLUMN if index == len(names) else 0)])
        for index in range(1, len(names) + 1)
    )
    return metadata + struct.pack("<BH", 0xA4, 0) + struct.pack("<BH", 0xA5, len(columns)) + columns


def encode_cursor_rows(result: ReportRow, rows: Sequence[Sequence[Scalar]], tds: int) -> bytes:
    """Encode rows of a cursor with the hidden status column."""
    columns = [*build_columns(result, tds), _build_status_column(tds)]
    return _encode_rows(columns, [[*row, ROW_FETCHED] for row in rows], tds)


def _build_status_column(tds: int) -> WireColumn:
    return build_column("int", [ROW_FETCHED], tds)


NO_COLUMN_NAME: Final = "(No column name)"
"""Text that a query window shows for a column without a name."""
NBCROW_TDS_VERSION_MIN: Final = 0x730B0003


def _pack_null_bits(row: Sequence[object]) -> bytes:
    """Return one bit per column, lowest bit first. A bit is set if the value is NULL."""
    number = sum(1 << index for index, value in enumerate(row) if value is None)
    return number.to_bytes(-(-len(row) // 8), "little")


def encode_return_status(status: int) -> bytes:
    """Encode RETURNSTATUS [MS-TDS 2.2.7.18]."""
    return struct.pack("<Bi", 0x79, status)


def encode_return_value(ordinal: int, name: str, type_name: str, value: Scalar, tds: int) -> bytes:
    """Encode RETURNVALUE [MS-TDS 2.2.7.19] of an output parameter."""
    wire_column = build_column(type_name, [value], tds, parameter=True)
    head = struct.pack("<BH", 0xAC, ordinal) + encode_short_text(name) + b"\x01"
    return (
        head
        + struct.pack("<IH" if tds >= TDS_7_2 else "<HH", 0, 0)
        + wire_column.type_info
        + wire_column.encode_value(value)
    )
