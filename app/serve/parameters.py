"""Parameters of RPC requests as T-SQL: the types and values that a client sends [MS-TDS 2.2.5.4, 2.2.5.5]."""

import struct
from datetime import datetime, timedelta
from decimal import Decimal
from math import isfinite
from typing import Final
from uuid import UUID

from msgspec import Struct

from app.serve.login import MalformedPacketError, PacketReader
from app.serve.tds_types import DEFAULT_COLLATION, NEW_TYPES_EPOCH, OLD_TYPES_EPOCH, TEXT_TOKENS, TIME_TOKENS
from engine.tsql.scalars.types import WIDE_DECIMAL_CONTEXT, decode_code_page


class TypedValue(Struct, frozen=True):
    """Value with its type, both in T-SQL notation."""

    type: str
    literal: str
    value: object = None
    """Text or integer as a Python value; None for other types and for NULL."""


class UnsupportedTypeError(MalformedPacketError):
    """Error for a parameter type that is not supported. The text names the type."""


class InvalidValueError(MalformedPacketError):
    """Error for a value that does not fit its type. The text names the type."""


_UNSUPPORTED_TYPES: Final = {
    0xF0: "a type of the CLR as a parameter",
    0xF3: "a table-valued parameter",
}  # fmt: skip


def quote_literal(text: str) -> str:
    """Quote text as a T-SQL literal."""
    return "N'" + text.replace("'", "''") + "'"


def read_typed_value(reader: PacketReader) -> TypedValue:
    """Read TYPE_INFO and the value of a parameter. Raises MalformedPacketError."""
    token = reader.read_number("B")
    if token in _FIXED_READERS:
        name, form = _FIXED_READERS[token]
        return _read_number(
            name, struct.unpack(f"<{form}", reader.read_bytes(struct.calcsize(f"<{form}")))[0]
        )
    if token == 0x1F:
        return TypedValue("int", "NULL")
    if token in (0x26, 0x68, 0x6D, 0x6E, 0x6F, 0x24):
        return _read_short_value(token, reader)
    if token in (0x6A, 0x6C):
        reader.read_bytes(1)
        precision, scale = reader.read_bytes(2)
        raw = reader.read_bytes(reader.read_number("B"))
        if not scale <= precision <= 38 or len(raw) > 17:
            raise InvalidValueError("numeric")
        units = Decimal(int.from_bytes(raw[1:], "little") * (1 if raw[:1] == b"\1" else -1))
        literal = f"{WIDE_DECIMAL_CONTEXT.scaleb(units, -scale):f}" if raw else "NULL"
        return TypedValue(f"decimal({precision},{scale})", literal)
    if token in (0x28, 0x29, 0x2A, 0x2B):
        return _read_date_time(token, reader)
    if token in _TYPE_BY_TOKEN:
        return _read_text(_TYPE_BY_TOKEN[token], reader)
    if token in (0x23, 0x63, 0x22):
        reader.read_bytes(4 if token == 0x22 else 9)
        size = reader.read_number("i")
        name = {0x23: "varchar", 0x63: "nvarchar", 0x22: "varbinary"}[token]
        return _build_text_value(name, "max", None if size < 0 else reader.read_bytes(size))
    if token == 0xF1:
        if reader.read_number("B"):
            raise UnsupportedTypeError("XML with a schema as a parameter")
        return _build_text_value("nvarchar", "max", _read_long_value(reader))
    if token == 0x62:
        reader.read_bytes(4)
        return _read_variant(PacketReader(reader.read_bytes(reader.read_number("I"))))
    raise UnsupportedTypeError(_UNSUPPORTED_TYPES.get(token, f"a parameter of type {token:#04x}"))


_FIXED_READERS: Final = {
    0x30: ("tinyint", "B"), 0x32: ("bit", "B"), 0x34: ("smallint", "h"), 0x38: ("int", "i"), 0x7F: ("bigint", "q"),
    0x3E: ("float", "d"), 0x3B: ("real", "f"),
}  # fmt: skip
_TYPE_BY_TOKEN: Final = {token: name for name, token in TEXT_TOKENS.items()}


_VARIANT_PREFIXES: Final = {
    0x3D: b"\x6f\x08\x08", 0x3A: b"\x6f\x04\x04", 0x3C: b"\x6e\x08\x08", 0x7A: b"\x6e\x04\x04", 0x24: b"\x24\x10\x10",
}  # fmt: skip
"""Base type in a sql_variant -> bytes that precede a value of this type outside a sql_variant."""


VARIANT_DATA_BYTES_MAX: Final = 8_000
"""Maximum size of text or binary data in a sql_variant, in bytes [MS-TDS, 2.2.5.5.4]."""


def _read_variant(reader: PacketReader) -> TypedValue:
    """Read a sql_variant with its base type [MS-TDS 2.2.5.5.4].

    The order of its fields differs from other types.
    """
    if not reader.remaining_bytes:
        return TypedValue("sql_variant", "NULL")
    base, properties = reader.read_number("B"), reader.read_bytes(reader.read_number("B"))
    data = reader.read_bytes(reader.remaining_bytes)
    if len(data) > (VARIANT_DATA_BYTES_MAX if base in _TYPE_BY_TOKEN else 255):
        raise MalformedPacketError(f"invalid size of {len(data)} bytes for a sql_variant of type {base:#04x}")
    if base in _VARIANT_PREFIXES:
        raw = _VARIANT_PREFIXES[base] + data
    elif base in _FIXED_READERS:
        raw = bytes([base]) + data
    elif base in _TYPE_BY_TOKEN:
        raw = bytes([base]) + properties[-2:] + properties[:-2] + struct.pack("<H", len(data)) + data
    else:
        raw = bytes([base]) + b"\x11" * (base in (0x6A, 0x6C)) + properties + bytes([len(data)]) + data
    packet_reader = PacketReader(raw)
    inner = read_typed_value(packet_reader)
    if packet_reader.remaining_bytes:
        raise MalformedPacketError(
            f"{packet_reader.remaining_bytes} bytes after a sql_variant of type {base:#04x}"
        )
    return TypedValue("sql_variant", f"CAST({inner.literal} AS {inner.type})")


def _read_number(name: str, value: float) -> TypedValue:
    literal = f"{value:.17e}" if name in ("float", "real") else str(value)
    return TypedValue(name, literal, value)


_PERMITTED_LENGTHS: Final = {
    0x26: (0, 1, 2, 4, 8), 0x68: (0, 1), 0x6D: (0, 4, 8), 0x6E: (0, 4, 8), 0x6F: (0, 4, 8), 0x24: (0, 16),
}  # fmt: skip
"""Type with a one-byte length -> its permitted lengths in bytes."""
_DATETIME_DAYS: Final = range(-53_690, 2_958_464)
"""Valid days of a datetime since 1900: from 1753-01-01 to 9999-12-31."""


def _read_short_value(token: int, reader: PacketReader) -> TypedValue:
    length_max, size = reader.read_number("B"), reader.read_number("B")
    if size not in _PERMITTED_LENGTHS[token]:
        raise MalformedPacketError(f"invalid size of {size} bytes for a value of type {token:#04x}")
    raw = reader.read_bytes(size)
    if token == 0x26:
        name = {1: "tinyint", 2: "smallint", 4: "int", 8: "bigint"}.get(length_max, "bigint")
        return (
            _read_number(name, int.from_bytes(raw, "little", signed=length_max > 1))
            if raw
            else TypedValue(name, "NULL")
        )
    if token == 0x68:
        return _read_number("bit", raw[0]) if raw else TypedValue("bit", "NULL")
    if token == 0x6D:
        name = "real" if length_max == 4 else "float"
        if not raw:
            return TypedValue(name, "NULL")
        number = struct.unpack("<d" if size == 8 else "<f", raw)[0]
        if not isfinite(number):
            raise InvalidValueError(name)
        return _read_number(name, number)
    if token == 0x24:
        return TypedValue("uniqueidentifier", f"'{UUID(bytes_le=raw)}'" if len(raw) == 16 else "NULL")
    if token == 0x6E:
        name = "smallmoney" if length_max == 4 else "money"
        if not raw:
            return TypedValue(name, "NULL")
        units = struct.unpack("<i", raw)[0] if size == 4 else (
            struct.unpack("<i", raw[:4])[0] << 32 | struct.unpack("<I", raw[4:])[0]
        )  # fmt: skip
        return TypedValue(name, f"{Decimal(units).scaleb(-4):f}")
    name = "smalldatetime" if length_max == 4 else "datetime"
    if not raw:
        return TypedValue(name, "NULL")
    days, time_part = struct.unpack("<HH" if size == 4 else "<iI", raw)
    if days not in _DATETIME_DAYS or time_part >= (1_440 if size == 4 else 25_920_000):
        raise InvalidValueError(name)
    moment = OLD_TYPES_EPOCH + timedelta(days=days, seconds=time_part * 60 if size == 4 else time_part / 300)
    return TypedValue(name, f"'{moment.isoformat(' ', 'milliseconds')}'")


def _read_date_time(token: int, reader: PacketReader) -> TypedValue:
    name = next(type_name for type_name, code in TIME_TOKENS.items() if code == token)
    scale = reader.read_number("B") if name != "date" else 0
    type_text = name if name == "date" else f"{name}({scale})"
    raw = PacketReader(reader.read_bytes(reader.read_number("B")))
    if not raw.remaining_bytes:
        return TypedValue(type_text, "NULL")
    units = int.from_bytes(
        raw.read_bytes({"date": 0}.get(name, 3 if scale < 3 else 4 if scale < 5 else 5)), "little"
    )
    days = int.from_bytes(raw.read_bytes(0 if name == "time" else 3), "little")
    offset = raw.read_number("h") if name == "datetimeoffset" else 0
    seconds, fraction = divmod(units, 10**scale)
    if scale > 7 or days > 3_652_058 or seconds >= 86_400 or abs(offset) > 840:
        raise InvalidValueError(name)
    try:
        moment = datetime.combine(NEW_TYPES_EPOCH + timedelta(days=days), datetime.min.time())
        moment += timedelta(seconds=seconds, minutes=offset)
    except OverflowError:
        raise InvalidValueError(name) from None
    digits = f".{fraction:0{scale}d}" if scale else ""
    day, clock = moment.date().isoformat(), f"{moment.time().isoformat('seconds')}{digits}"
    text = {"date": day, "time": clock}.get(name, f"{day} {clock}")
    zone = (
        f" {'-' if offset < 0 else '+'}{abs(offset) // 60:02}:{abs(offset) % 60:02}"
        if name == "datetimeoffset"
        else ""
    )
    return TypedValue(type_text, f"'{text}{zone}'")


def _read_text(name: str, reader: PacketReader) -> TypedValue:
    length_max = reader.read_number("H")
    if "binary" not in name:
        reader.read_bytes(len(DEFAULT_COLLATION))
    if length_max == 0xFFFF:
        return _build_text_value(name, "max", _read_long_value(reader))
    size = reader.read_number("H")
    wide = 2 if name in ("nchar", "nvarchar") else 1
    return _build_text_value(
        name, str(max(1, length_max // wide)), None if size == 0xFFFF else reader.read_bytes(size)
    )


def _read_long_value(reader: PacketReader) -> bytes | None:
    """Read a partially length-prefixed value [MS-TDS 2.2.5.2.3]. Return None for NULL."""
    if reader.read_number("Q") == 0xFFFFFFFFFFFFFFFF:
        return None
    output = bytearray()
    while size := reader.read_number("I"):
        output += reader.read_bytes(size)
    return bytes(output)


def _build_text_value(name: str, length: str, raw: bytes | None) -> TypedValue:
    type_text = f"{name}({length})"
    if raw is None:
        return TypedValue(type_text, "NULL")
    if "binary" in name:
        return TypedValue(type_text, f"0x{raw.hex()}", raw)
    text = raw.decode("utf-16-le", "replace") if name.startswith("n") else decode_code_page(raw)
    return TypedValue(type_text, quote_literal(text), text)
