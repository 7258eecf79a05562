"""Values of T-SQL as Python and SQLite hold them, and how one type becomes another.

Numbers are int or float, text is str, binary is bytes, bit is 0 or 1. A date or time is text that begins with
MARK, so that it is told from a varchar that merely looks like one: MARK + `2005-10-22 12:00:00.000`.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import lru_cache
from typing import Any, Final

from engine import moments
from engine.messages import SqlError

Scalar = int | float | str | bytes | None
MARK: Final = "\x01"
DIGITS_MAX: Final = 40
"""Characters of a text that is read as a whole number; decimal has 38 digits, Python itself refuses 4,301."""
TEXT_LIMIT: Final = 200_000
"""Characters of one value. Assumed; varchar(max) holds 2 GB."""

_INT_RANGES: Final = {
    "bit": (0, 1),
    "tinyint": (0, 255),
    "smallint": (-(2**15), 2**15 - 1),
    "int": (-(2**31), 2**31 - 1),
    "bigint": (-(2**63), 2**63 - 1),
}
_FLOATS: Final = frozenset({"float", "real", "decimal", "numeric", "money", "smallmoney", "double precision"})
_TEXTS: Final = frozenset({"char", "varchar", "nchar", "nvarchar", "text", "ntext", "sysname", "character"})
_MOMENTS: Final = frozenset({"datetime", "smalldatetime", "datetime2", "date", "time", "datetimeoffset"})
_BINARIES: Final = frozenset({"binary", "varbinary", "image", "timestamp", "rowversion"})
_OTHERS: Final = frozenset({"sql_variant", "uniqueidentifier", "xml", "cursor", "table"})
_ALIASES: Final = {"integer": "int", "dec": "decimal", "character varying": "varchar", "boolean": "bit"}


TYPE_MAX: Final = 300
"""Characters of the name of a type. Assumed: two names of 128 in brackets, and a length."""


@lru_cache(maxsize=512)
def parse_type(text: str) -> tuple[str, int | None, int | None]:
    """(name, length or precision, scale) of a type as written; -1 for (max). 2715 for an unknown one."""
    if len(text) > TYPE_MAX:
        raise SqlError(2715, 1, text[:TYPE_MAX])
    match = re.fullmatch(
        r"\s*(?:\[?(?:sys|dbo)\]?\s*\.\s*)?\[?([a-z_][a-z_0-9 ]*?)\]?\s*(?:\(\s*(max|\d+)\s*(?:,\s*(\d+)\s*)?\))?"
        r"(?:\s+(?:not\s+)?null)?\s*",
        text.lower(),
    )
    name = _ALIASES.get(match[1], match[1]) if match else text
    if match is None or name not in (_INT_RANGES.keys() | _FLOATS | _TEXTS | _MOMENTS | _BINARIES | _OTHERS):
        raise SqlError(2715, 1, text.strip("[] "))
    length = None if match[2] is None else -1 if match[2] == "max" else int(match[2][:9])
    # More than nine digits are too many for any type, and thousands of them for int().
    if name == "sysname":
        return "nvarchar", 128, None
    return name, length, None if match[3] is None else int(match[3][:9])


def convert(value: Scalar, kind: str, style: int | None = None, default_length: int = 30) -> Scalar:
    """*value* as the type written in *kind*. *default_length* is that of char types without one (1 for variables).

    Raises SqlError 241, 245, 8114, 220 or 8115 as the product does.
    """
    name, length, scale = parse_type(kind)
    if value is None:
        return None
    if name in _INT_RANGES:
        return _to_int(value, name)
    if name in _FLOATS:
        number = to_number(value, name)
        places = scale if name in ("decimal", "numeric") else 4 if "money" in name else None
        if places is None and name in ("decimal", "numeric"):
            places = 0
        return float(number) if places is None else _rounded(float(number), places)
    if name in _MOMENTS:
        return to_moment(value, name)
    if name in _TEXTS:
        text = to_text(value, style)
        size = default_length if length is None else length
        if name in ("text", "ntext") or size == -1:
            return text[:TEXT_LIMIT]
        return text[:size].ljust(size) if name in ("char", "nchar") else text[:size]
    if name in _BINARIES:
        return value if isinstance(value, bytes) else _to_bytes(value)
    if name == "uniqueidentifier":
        return guid_text(value) if isinstance(value, bytes) else to_text(value).upper()[:36]
    return value


def _rounded(number: float, places: int) -> float | int:
    rounded = round(number, places)
    return float(rounded)


def _to_int(value: Scalar, name: str) -> int:
    if name == "bit":
        if isinstance(value, str) and value.strip().lower() in ("true", "false"):
            return int(value.strip().lower() == "true")
        return int(to_number(value, "bit") != 0)
    if isinstance(value, bytes):
        number: int | float = int.from_bytes(value[-8:], "big")
    elif isinstance(value, str) and not value.startswith(MARK):
        stripped = value.strip()
        if not _WHOLE.fullmatch(stripped):
            raise SqlError(245, "varchar", value, name)
        number = _whole_of(stripped, name)
    else:
        number = to_number(value, name)
    low, high = _INT_RANGES[name]
    if not math.isfinite(number):
        raise SqlError(8115, "expression", name)
    whole = int(number)
    if not low <= whole <= high:
        raise SqlError(8115, "expression", name) if name in ("int", "bigint") else SqlError(220, name, whole)
    return whole


_GUID: Final = re.compile(r"[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}", re.IGNORECASE)


def guid_text(value: bytes) -> str:
    """Sixteen bytes as a uniqueidentifier is written."""
    digits = value[:16].ljust(16, b"\0").hex().upper()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def _to_bytes(value: Scalar) -> bytes:
    if isinstance(value, str) and _GUID.fullmatch(value):
        return bytes.fromhex(value.replace("-", ""))
    if isinstance(value, int):
        return (
            value.to_bytes(8, "big", signed=True)[-4:]
            if abs(value) < 2**31
            else value.to_bytes(8, "big", signed=True)
        )
    return to_text(value).encode("utf-16-le")


_WHOLE: Final = re.compile(r"[-+]?\d*+", re.ASCII)
_FLOAT: Final = re.compile(r"[-+]?(?:\d++\.?\d*+|\.\d++)(?:e[-+]?\d++)?", re.ASCII | re.IGNORECASE)
"""Numbers as CAST reads them. Python itself would take inf, nan, 1_000 and the digits of other scripts, too."""


def _whole_of(text: str, name: str) -> int:
    """The number in a text that _WHOLE takes; a sign alone is 0, as nothing is. Raises 8115 for too many digits."""
    if len(text) > DIGITS_MAX:
        raise SqlError(8115, "expression", name)
    return int(text) if text.strip("+-") else 0


def finite(number: Scalar, name: str = "float") -> Any:
    """The value, which is as large as a float may be at most. Raises 8115: nothing is infinite in the product."""
    if isinstance(number, float) and not math.isfinite(number):
        raise SqlError(8115, "expression", name)
    return number


def to_number(value: Scalar, name: str = "int") -> int | float:
    """The value as a number; 245 for text that is none, 8114 when *name* is no integer type."""
    if isinstance(value, int | float):
        return value
    if isinstance(value, bytes):
        return int.from_bytes(value[-8:], "big")
    if value is None:
        return 0
    if value.startswith(MARK):
        moment = parse_moment(value)
        return (moment - datetime(1900, 1, 1)) / timedelta(days=1)
    text = value.strip().replace(",", "") if "money" in name else value.strip()
    if _WHOLE.fullmatch(text):
        return _whole_of(text, name)
    if _FLOAT.fullmatch(text):
        return finite(float(text), name)  # type: ignore[no-any-return]
    if name in _INT_RANGES:
        raise SqlError(245, "varchar", value, name)
    raise SqlError(8114, "varchar", "numeric" if name == "decimal" else name)


# --- dates ----------------------------------------------------------------------------------------------

_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_FORMATS: Final = (
    "%Y-%m-%d %H:%M:%S.%f",
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%d %H:%M",
    "%Y-%m-%d",
    "%Y-%m-%dT%H:%M:%S.%f",
    "%Y-%m-%dT%H:%M:%S",
    "%Y%m%d %H:%M:%S.%f",
    "%Y%m%d %H:%M:%S",
    "%Y%m%d %H:%M",
    "%Y%m%d",
    "%Y/%m/%d",
    "%Y/%m/%d %H:%M:%S",
    "%m/%d/%Y",
    "%m/%d/%Y %H:%M",
    "%m/%d/%Y %H:%M:%S",
    "%m/%d/%y",
    "%b %d %Y %I:%M%p",
    "%b %d %Y",
    "%b %d, %Y",
    "%d %b %Y",
    "%B %d, %Y",
    "%d %B %Y",
)
_TIMES: Final = ("%H:%M", "%H:%M:%S", "%H:%M:%S.%f", "%I:%M%p", "%I:%M %p", "%I:%M:%S %p")


def stamp(moment: datetime) -> str:
    """A datetime value: milliseconds, as SSMS shows it, behind the mark."""
    return MARK + moment.isoformat(" ", "milliseconds")


def parse_moment(value: Scalar) -> datetime:
    """The moment that a value stands for: marked or written text, or days since 1900. 241 if it is none."""
    if isinstance(value, int | float):
        try:
            return datetime(1900, 1, 1) + timedelta(days=value)
        except OverflowError:
            raise SqlError(8115, "expression", "datetime") from None
    if not isinstance(value, str):
        raise SqlError(241)
    text = " ".join(value.removeprefix(MARK).split())
    if not text:
        return datetime(1900, 1, 1)
    for form in _FORMATS:
        try:
            return moments.read(text[:26], form)
        except ValueError:
            continue
    for form in _TIMES:
        try:
            return moments.read(text[:15], form)
        except ValueError:
            continue
    raise SqlError(241)


def to_moment(value: Scalar, name: str = "datetime") -> str:
    """A date or time value of the type *name*."""
    moment = parse_moment(value)
    if name == "date":
        return MARK + moment.date().isoformat()
    if name == "time":
        return MARK + moment.time().isoformat("milliseconds")
    if name == "smalldatetime":
        moment = (moment + timedelta(seconds=30)).replace(second=0, microsecond=0)
    return stamp(moment)


def is_moment(value: Scalar) -> bool:
    return isinstance(value, str) and value.startswith(MARK)


_STYLES: Final = {
    1: "%m/%d/%y", 101: "%m/%d/%Y", 2: "%y.%m.%d", 102: "%Y.%m.%d", 3: "%d/%m/%y", 103: "%d/%m/%Y",
    4: "%d.%m.%y", 104: "%d.%m.%Y", 5: "%d-%m-%y", 105: "%d-%m-%Y", 6: "%d %b %y", 106: "%d %b %Y",
    7: "%b %d, %y", 107: "%b %d, %Y", 8: "%H:%M:%S", 108: "%H:%M:%S", 24: "%H:%M:%S", 10: "%m-%d-%y",
    110: "%m-%d-%Y", 11: "%y/%m/%d", 111: "%Y/%m/%d", 12: "%y%m%d", 112: "%Y%m%d", 20: "%Y-%m-%d %H:%M:%S",
    120: "%Y-%m-%d %H:%M:%S",
}  # fmt: skip
"""Styles of CONVERT without fractions of a second. Documented [DOC: CAST and CONVERT]."""

_STYLES_MS: Final = {
    9: "%b %d %Y %I:%M:%S:{ms}%p", 109: "%b %d %Y %I:%M:%S:{ms}%p", 13: "%d %b %Y %H:%M:%S:{ms}",
    113: "%d %b %Y %H:%M:%S:{ms}", 14: "%H:%M:%S:{ms}", 114: "%H:%M:%S:{ms}", 21: "%Y-%m-%d %H:%M:%S.{ms}",
    121: "%Y-%m-%d %H:%M:%S.{ms}", 25: "%Y-%m-%d %H:%M:%S.{ms}", 126: "%Y-%m-%dT%H:%M:%S.{ms}",
    127: "%Y-%m-%dT%H:%M:%S.{ms}",
}  # fmt: skip
"""Styles of CONVERT with milliseconds. Documented [DOC: CAST and CONVERT]."""


def moment_text(value: str, style: int | None = None) -> str:
    """A date or time as text; without a style as PRINT shows it (`Oct 22 2005 12:00PM`)."""
    body = value.removeprefix(MARK)
    if style is None and len(body) != 23:
        return body  # date and time types
    moment = parse_moment(value)
    if style in _STYLES:
        return moments.written(moment, _STYLES[style])
    if style in _STYLES_MS:
        return moments.written(moment, _STYLES_MS[style]).replace("{ms}", f"{moment.microsecond // 1000:03d}")
    hour = moment.hour % 12 or 12
    clock = f"{hour:>2}:{moment.minute:02d}{'AM' if moment.hour < 12 else 'PM'}"
    return f"{_MONTHS[moment.month - 1]} {moment.day:>2} {moment.year} {clock}"


# --- text -----------------------------------------------------------------------------------------------


def number_text(value: int | float) -> str:
    """A number as CONVERT writes it."""
    if isinstance(value, int):
        return str(value)
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.6f}".rstrip("0").rstrip(".") if 1e-5 <= abs(value) < 1e15 else f"{value:.15e}"


def to_text(value: Scalar, style: int | None = None) -> str:
    """The value as text, with the implicit conversions of the product."""
    if value is None:
        return ""
    if isinstance(value, str):
        return moment_text(value, style) if value.startswith(MARK) else value
    if isinstance(value, bytes):
        return "0x" + value.hex().upper() if style in (1, None) else value.hex().upper()
    return number_text(value)


def scale_of_type(text: str) -> int | None:
    """Digits behind the point of an exact type (money shows two); None for every other one, and for whole numbers."""
    kind, _, scale = parse_type(text)
    if "money" in kind:
        return 2
    return scale or None if kind in ("decimal", "numeric") else None


SCALE_MAX: Final = 99
"""Digits behind the point that are written out: decimal has 38, FORMAT takes 99. Documented [DOC]."""

_ANY_DIGITS: Final = Context(prec=200)
"""30 digits before the point and 99 behind it are more than decimal takes by itself."""


def decimal_text(value: Scalar, scale: Scalar) -> Scalar:
    """The number with its digits behind the point; anything else as it is."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not isinstance(scale, int):
        return value
    if not -1e30 < value < 1e30 or not 0 <= scale <= SCALE_MAX:
        return value
    return str(Decimal(repr(value)).quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP, _ANY_DIGITS))


def shown(value: Scalar) -> Scalar:
    """The value for a result grid: dates without their mark, binary as 0x…"""
    if isinstance(value, str):
        return value.removeprefix(MARK)
    if isinstance(value, bytes):
        return "0x" + value.hex().upper()
    return value


def comparable(text: str) -> str:
    """What the default collation compares: no case, no trailing blanks."""
    return text.rstrip(" ").casefold()


def compare(a: str, b: str) -> int:
    """-1, 0 or 1 as the collation sees two texts; a date against text compares as dates."""
    if a.startswith(MARK) != b.startswith(MARK):
        try:
            a, b = stamp(parse_moment(a)), stamp(parse_moment(b))
        except SqlError:
            return -1
    left, right = comparable(a), comparable(b)
    return (left > right) - (left < right)


# --- functions of values ---------------------------------------------------------------------------------


def strict(function: Callable[..., Scalar]) -> Callable[..., Scalar]:
    """The function, NULL if any argument is NULL."""

    def call(*values: Scalar) -> Scalar:
        return None if any(value is None for value in values) else function(*values)

    call.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    return call


def whole(value: Scalar) -> int:
    """The value as a whole number. Raises 245."""
    return int(to_number(value))
