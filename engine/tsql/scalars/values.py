"""Values of T-SQL in Python and SQLite, and conversions between types.

Numbers are int or float. Decimals of more than 15 digits and money are texts with a mark (types.py). Text is
str, binary is bytes, bit is 0 or 1. A date or time is DATE_MARK and a text such as `2005-10-22 12:00:00.000`.
"""

import functools
import math
import re
import struct
import unicodedata
from collections.abc import Callable
from datetime import datetime
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Final, TypeGuard, TypeVar

from engine.messages import SqlError
from engine.tsql.scalars import date_values, types
from engine.tsql.scalars.date_values import (
    EPOCH,
    STORED_DATE_MARK,
    TICKS_PER_DAY,
    TICKS_PER_S,
    US_CULTURE,
    Culture,
    DateTimeValue,
)
from engine.tsql.scalars.types import (
    DATETIME,
    DECIMALS,
    FLOAT,
    FLOAT_DIGITS,
    FLOATS,
    GUID_TEXT,
    INT_RANGES,
    MONEYS,
    NUMBER_DIGITS_MAX,
    UNLIMITED_LENGTH,
    WIDE_DECIMAL_CONTEXT,
    WIDE_TEXTS,
    SqlType,
    encode_code_page,
    format_guid,
    infer_literal_type,
    parse_guid,
    parse_sql_type,
    remove_marks,
)
from engine.tsql.scalars.xml_validation import normalize_xml

__all__ = ["STORED_DATE_MARK", "WIDE_DECIMAL_CONTEXT", "Scalar"]

Scalar = int | float | str | bytes | None
Value = TypeVar("Value", bound=Scalar)
INTEGER_CHARACTERS_MAX: Final = 40
"""Maximum length of a text that is parsed as an integer. A decimal has at most 38 digits."""
VALUE_CHARACTERS_MAX: Final = 1_000_000
"""Maximum number of characters in one value. Assumed; varchar(max) holds 2 GB."""


def convert_value(
    value: Scalar,
    kind: str | SqlType,
    style: int | None = None,
    default_length: int = 30,
    source: SqlType | None = None,
    culture: Culture = US_CULTURE,
) -> Scalar:
    """Convert *value* (of type *source*, if known) to the type *kind*.

    *default_length*: length of character types without one (1 for variables). Raises SqlError 220, 232, 241,
    242, 244, 245, 248, 281, 8114, 8115 or 8169, as SQL Server does.
    """
    target = parse_sql_type(kind, default_length) if isinstance(kind, str) else kind
    if value is None:
        return None
    if target.is_integer:
        return _convert_to_integer(value, target.name, source)
    if target.name in DECIMALS:
        return round_to_decimal(to_decimal(value, source), target, get_type_name(value, source))
    if target.name in MONEYS:
        return _to_money(value, target)
    if target.name in FLOATS:
        return _to_float(value, target.name, source)
    if target.is_date_time:
        return store_converted_date(value, target, culture, style)
    if target.is_text:
        return _to_char(value, target, style, source, culture)
    if target.is_binary:
        return _to_binary(value, target, style, source)
    if target.name == "uniqueidentifier":
        if isinstance(value, bytes):
            return format_guid(value)
        match = GUID_TEXT.fullmatch(to_text(value))
        if match is None:
            raise SqlError(8169)
        return match[1].upper()
    if target.name == "xml" and isinstance(value, str) and not (source is not None and source.name == "xml"):
        return normalize_xml(value)
    return value


def get_type_name(value: Scalar, source: SqlType | None) -> str:
    """Return the name of the value's type for error messages."""
    if source is not None:
        return source.name
    if isinstance(value, str) and value.startswith(STORED_DATE_MARK):
        return "datetime"
    if isinstance(value, str):
        return "numeric" if types.is_encoded_decimal(value) else "varchar"
    return {int: "int", float: "numeric", bytes: "varbinary"}.get(type(value), "sql_variant")


# --- numbers ---------------------------------------------------------------------------------------------


_INTEGER_BYTES: Final = {"tinyint": 1, "smallint": 2, "int": 4, "bigint": 8}


def _convert_to_integer(value: Scalar, name: str, source: SqlType | None) -> int:
    if name == "bit":
        if isinstance(value, str) and value.strip().lower() in ("true", "false"):
            return int(value.strip().lower() == "true")
        return int(_convert_to_number(value, "bit", source) != 0)
    if is_plain_text(value):
        stripped = value.strip(" \t\r\n")
        if not _INTEGER_PATTERN.fullmatch(stripped):
            if name == "bigint":
                raise SqlError(8114, get_type_name(value, source), name)
            raise SqlError(245, get_type_name(value, source), value, name)
        return _parse_ranged_integer(value, stripped, name, source)
    if isinstance(value, bytes):
        width = _INTEGER_BYTES[name]
        return int.from_bytes(value[-width:].rjust(width, b"\0"), "big", signed=name != "tinyint")
    number = to_number(value, name)
    if not math.isfinite(number):
        raise SqlError(8115, "expression", name)
    low, high = INT_RANGES[name]
    # money is rounded, but decimals and floats are truncated [DOC: CAST and CONVERT, Truncating and rounding results]
    is_money = source is not None and source.name in MONEYS
    if types.is_encoded_decimal(value):
        rounding = ROUND_HALF_UP if is_money else ROUND_DOWN
        integer = int(types.decode_decimal(value).to_integral_value(rounding))
    else:
        integer = int(to_decimal(number).quantize(Decimal(1), ROUND_HALF_UP)) if is_money else int(number)
    if low <= integer <= high:
        return integer
    if source is not None and source.name in FLOATS:
        raise SqlError(232, name, f"{number:f}")
    exactly = source is not None and source.name in DECIMALS
    if exactly or name in ("int", "bigint"):
        raise SqlError(8115, "numeric" if exactly else "expression", name)
    raise SqlError(220, name, integer)


def is_plain_text(value: Scalar) -> TypeGuard[str]:
    """Return whether the value is a text, and not the stored form of a decimal or date."""
    return isinstance(value, str) and not value.startswith((STORED_DATE_MARK, types.DECIMAL_MARK))


_INT_COLUMNS: Final = {"tinyint": "INT1", "smallint": "INT2"}


def _parse_ranged_integer(value: str, stripped: str, name: str, source: SqlType | None) -> int:
    low, high = INT_RANGES[name]
    whole_number = _parse_integer(stripped, name) if len(stripped) <= INTEGER_CHARACTERS_MAX else high + 1
    if low <= whole_number <= high:
        return whole_number
    if name in _INT_COLUMNS:
        raise SqlError(244, get_type_name(value, source), value, _INT_COLUMNS[name])
    problem = SqlError(248, get_type_name(value, source), value)
    raise problem if name == "int" else SqlError(8115, "expression", name)


_INTEGER_PATTERN: Final = re.compile(r"[-+]?\d*", re.ASCII)
_EXACT_NUMBER_PATTERN: Final = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)", re.ASCII)
_FLOAT_PATTERN: Final = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[ed][-+]?\d+)?", re.ASCII | re.IGNORECASE)
_MONEY_PATTERN: Final = re.compile(r"[-+]?(?: *[$£€¥])?(?: *[-+])? *[\d,]*(?:\.\d*)?", re.ASCII)
"""Pattern of the money values that CAST accepts. Python would also accept inf, nan and 1_000."""


def _parse_integer(text: str, name: str) -> int:
    """Convert a text that matches _INTEGER to an integer. A lone sign gives 0.

    Raises 8115 for too many digits. *name*: type in the error message.
    """
    if len(text) > INTEGER_CHARACTERS_MAX:
        raise SqlError(8115, "expression", name)
    return int(text) if text.strip("+-") else 0


def check_finite(number: Value, name: str = "float") -> Value:
    """Return *number* unchanged. Raises 8115 if it is infinite or NaN, which SQL Server does not have."""
    if isinstance(number, float) and not math.isfinite(number):
        raise SqlError(8115, "expression", name)
    return number


def to_number(value: Scalar, name: str = "int") -> int | float:
    """Convert the value to a number. For invalid text, raise 245 if *name* is an integer type, else 8114."""
    return _convert_to_number(value, name, None)


def _convert_to_number(value: Scalar, name: str, source: SqlType | None) -> int | float:
    if isinstance(value, int | float):
        return value
    if isinstance(value, bytes):
        return int.from_bytes(value[-8:], "big", signed=len(value) >= 8)
    if value is None:
        return 0
    if types.is_encoded_decimal(value):
        number = types.decode_decimal(value)
        return int(number) if number == number.to_integral_value() else float(number)
    if value.startswith(STORED_DATE_MARK):
        days = date_values.parse_stored_date(value).total / TICKS_PER_DAY - EPOCH
        return math.floor(days + 0.5) if name in INT_RANGES else days
    text = value.strip(" \t\r\n").replace(",", "") if "money" in name else value.strip(" \t\r\n")
    if _INTEGER_PATTERN.fullmatch(text) and (text or name not in DECIMALS):
        return _parse_integer(text, name)
    if _FLOAT_PATTERN.fullmatch(text) and (name not in DECIMALS or _EXACT_NUMBER_PATTERN.fullmatch(text)):
        return check_finite(float(text.lower().replace("d", "e")), name)
    if name in INT_RANGES:
        raise SqlError(245, get_type_name(value, source), value, name)
    raise SqlError(8114, get_type_name(value, source), "numeric" if name == "decimal" else name)


def to_decimal(value: Scalar, source: SqlType | None = None) -> Decimal:
    """Convert the value to an exact decimal. Raises 8114 for invalid text."""
    if types.is_encoded_decimal(value):
        return types.decode_decimal(value)
    if is_plain_text(value) and _EXACT_NUMBER_PATTERN.fullmatch(value.strip(" \t\r\n")):
        return Decimal(value.strip(" \t\r\n")[:100])
    number = _convert_to_number(value, "numeric", source)
    return Decimal(number) if isinstance(number, int) else Decimal(repr(check_finite(number)))


def parse_number(text: str) -> Scalar:
    """Parse a number literal that does not fit an int."""
    kind = FLOAT if "e" in text.lower() else infer_literal_type(text)
    return types.encode_decimal(Decimal(text)) if kind.is_long else float(text)


def round_to_decimal(number: Decimal, kind: SqlType, source: str = "numeric", *, cut: bool = False) -> Scalar:
    """Round the number to the scale of *kind*; with *cut*, truncate it.

    Raises 8115 if the result exceeds the precision.
    """
    try:
        rounding = ROUND_DOWN if cut else ROUND_HALF_UP
        quantized = number.quantize(Decimal(1).scaleb(-kind.scale), rounding, WIDE_DECIMAL_CONTEXT)
    except InvalidOperation:
        raise SqlError(8115, source, "numeric") from None
    if quantized.copy_abs() >= Decimal(1).scaleb(
        kind.precision - kind.scale
    ):  # copy_abs(), because abs() rounds to 28 digits
        raise SqlError(8115, source, "numeric")
    return types.store_number(quantized, kind)


_MONEY_RANGES: Final = {"money": Decimal("922337203685477.5808"), "smallmoney": Decimal("214748.3648")}


def _to_money(value: Scalar, target: SqlType) -> Scalar:
    if is_plain_text(value):
        text = value.strip(" \t\r\n")
        if not _MONEY_PATTERN.fullmatch(text) or len(text) > INTEGER_CHARACTERS_MAX:
            raise SqlError(235)
        digits = re.sub(r"[^-\d.]", "", text)
        number = Decimal(digits) if digits.strip("-.") else Decimal(0)
    else:
        number = to_decimal(value)
    return round_to_money(number, target)


def round_to_money(number: Decimal, target: SqlType, *, cut: bool = False) -> Scalar:
    """Round the number to four decimal places; with *cut*, truncate it. Raises 8115 if it is out of range."""
    quantized = number.quantize(Decimal("0.0001"), ROUND_DOWN if cut else ROUND_HALF_UP, WIDE_DECIMAL_CONTEXT)
    if not -_MONEY_RANGES[target.name] <= quantized < _MONEY_RANGES[target.name]:
        raise SqlError(8115, "expression", target.name)
    return types.store_number(quantized, target)


def _to_float(value: Scalar, name: str, source: SqlType | None) -> float:
    number = float(_convert_to_number(value, "float", source))
    if name == "float":
        return number
    try:
        return types.round_to_single(number)
    except OverflowError:
        raise SqlError(232, name, f"{number:f}") from None


# --- binary ----------------------------------------------------------------------------------------------

_INTEGER_WIDTHS: Final = {"bit": 1, "tinyint": 1, "smallint": 2, "int": 4, "bigint": 8}


def _to_binary(value: Scalar, target: SqlType, style: int | None, source: SqlType | None) -> bytes:
    size = target.length or 8
    if source is not None and source.name in (*DECIMALS, *MONEYS, *FLOATS):
        raise SqlError(0, f"Not simulated: the bytes of a {source.name} value")
    if isinstance(value, int | float) and (source is None or source.is_integer or isinstance(value, int)):
        width = _INTEGER_WIDTHS.get(source.name if source is not None else "", 4 if abs(value) < 2**31 else 8)
        raw = int(value).to_bytes(8, "big", signed=True)[-width:]
        if size == UNLIMITED_LENGTH:
            return raw
        return raw[-size:].rjust(size, b"\0") if target.name in ("binary", "timestamp") else raw[-size:]
    raw = _encode_bytes(value, style, source)
    if size == UNLIMITED_LENGTH:
        return raw
    return raw[:size].ljust(size, b"\0") if target.name in ("binary", "timestamp") else raw[:size]


def _encode_bytes(value: Scalar, style: int | None, source: SqlType | None) -> bytes:
    if isinstance(value, bytes):
        return value
    text = to_text(value)
    if isinstance(value, str) and value.startswith(STORED_DATE_MARK):
        moment = date_values.convert_to_date_type(date_values.parse_stored_date(value), DATETIME)
        thirds = (moment.ticks * 300 + TICKS_PER_S // 2) // TICKS_PER_S
        return (moment.day - EPOCH).to_bytes(4, "big", signed=True) + thirds.to_bytes(4, "big")
    if source is not None and source.name == "uniqueidentifier" and GUID_TEXT.fullmatch(text):
        return parse_guid(text)
    if style in (1, 2):
        digits = text[2:] if style == 1 and text[:2].lower() == "0x" else text
        if len(digits) % 2 or re.search(r"[^0-9A-Fa-f]", digits) or (style == 1 and digits is text):
            raise SqlError(8114, get_type_name(value, source), "varbinary")
        return bytes.fromhex(digits)
    if source is None and GUID_TEXT.fullmatch(text) and len(text) == 36:
        return parse_guid(text)
    return text.encode("utf-16-le") if source is None or source.name in WIDE_TEXTS else encode_code_page(text)


# --- dates -----------------------------------------------------------------------------------------------


def store_datetime(moment: datetime) -> str:
    """Convert a Python datetime to the stored form of datetime, rounded to .000, .003 or .007 s."""
    rounded = date_values.convert_to_date_type(date_values.build_from_datetime(moment), DATETIME)
    return store_date(rounded, DATETIME)


def store_date(moment: DateTimeValue, kind: SqlType) -> str:
    """Return the stored form of a date or time that `convert_to_date_type` has already converted to *kind*."""
    return STORED_DATE_MARK + date_values.format_date_value(moment, kind)


def convert_to_datetime(value: Scalar) -> datetime:
    """Convert a stored date, a text, or days since 1900 to a Python datetime. Raises 241 for invalid text."""
    return convert_to_date(value, SqlType("datetime2", scale=7)).as_datetime()


def convert_to_date(
    value: Scalar, kind: SqlType = DATETIME, culture: Culture = US_CULTURE, style: int | None = None
) -> DateTimeValue:
    """Convert a value to the date or time type *kind*. Raises 241, 242 or 8115."""
    if isinstance(value, bytes):
        value = int.from_bytes(value[-8:], "big") if len(value) < 8 else _convert_to_days(value)
    if types.is_encoded_decimal(value):
        value = to_number(value, "float")
    if isinstance(value, int | float):
        total = round(value * TICKS_PER_DAY) + EPOCH * TICKS_PER_DAY
        first_day = date_values.FIRST_DAYS.get(kind.name, 1)
        if not first_day * TICKS_PER_DAY <= total < (date_values.LAST_DAY + 1) * TICKS_PER_DAY:
            raise SqlError(8115, "expression", "datetime")
        return date_values.build_from_total(total)
    if not isinstance(value, str):
        raise SqlError(241)
    if value.startswith(STORED_DATE_MARK):
        return date_values.parse_stored_date(value)
    return date_values.parse_date(value, kind, culture, style)


def _convert_to_days(value: bytes) -> float:
    days, thirds = struct.unpack(">iI", value[-8:])
    return float(days) + float(thirds) / (300 * 86_400)


def store_converted_date(
    value: Scalar, kind: str | SqlType = DATETIME, culture: Culture = US_CULTURE, style: int | None = None
) -> str:
    """Convert a value to the stored form of the date or time type *kind*."""
    target = parse_sql_type(kind) if isinstance(kind, str) else kind
    try:
        moment = date_values.convert_to_date_type(convert_to_date(value, target, culture, style), target)
        return store_date(moment, target)
    except SqlError as problem:
        if problem.number == 241 and target.name == "smalldatetime":
            raise SqlError(295) from None
        raise


def is_stored_date(value: Scalar) -> bool:
    return isinstance(value, str) and value.startswith(STORED_DATE_MARK)


# --- text ------------------------------------------------------------------------------------------------


def _to_char(
    value: Scalar, target: SqlType, style: int | None, source: SqlType | None, culture: Culture
) -> str:
    text = format_as_type(value, style, source, culture, wide=target.name in WIDE_TEXTS)
    size = target.length
    if size == UNLIMITED_LENGTH or not size:
        return check_text_limit(text)
    if len(text) > size and (isinstance(value, int | float) or types.is_encoded_decimal(value)):
        is_integer = isinstance(value, int) and (source is None or source.is_integer)
        if not is_integer or target.name in WIDE_TEXTS:
            raise SqlError(8115, "numeric" if source is None else source.name, target.name)
        text = "*"
    if len(text) > size and source is not None and source.name == "uniqueidentifier":
        raise SqlError(8170)
    if target.name not in ("char", "nchar"):
        return text[:size]
    is_money = (
        source is not None and source.name in MONEYS
    )  # money is right-aligned: sp_WhoIsActive cuts the cents off the right end
    return text.rjust(size) if is_money else text[:size].ljust(size)


def check_text_limit(text: str) -> str:
    """Return the text unchanged. Raises SqlError if it is longer than VALUE_CHARACTERS_MAX."""
    if len(text) > VALUE_CHARACTERS_MAX:
        raise SqlError(0, f"Not simulated: values of more than {VALUE_CHARACTERS_MAX} characters")
    return text


def format_as_type(
    value: Scalar,
    style: int | None = None,
    source: SqlType | None = None,
    culture: Culture = US_CULTURE,
    wide: bool = False,
) -> str:
    """Convert the value to text by the rules of *source*, the type of the value.

    *style*: style number of CONVERT. *wide*: read binary values as nvarchar.
    """
    if isinstance(value, bytes):
        if style in (1, 2):
            return ("0x" if style == 1 else "") + value.hex().upper()
        if not wide:
            return types.decode_code_page(value)
        return remove_marks(value.decode("utf-16-le", "replace"))
    if isinstance(value, str) and value.startswith(STORED_DATE_MARK):
        kind = source if source is not None and source.is_date_time else date_values.get_stored_type(value)
        return date_values.format_date(date_values.parse_stored_date(value), kind, style, culture)
    if source is not None and (isinstance(value, int | float) or types.is_encoded_decimal(value)):
        if source.name in DECIMALS:
            return to_text(format_decimal(value, source.scale))
        if source.name in MONEYS:
            return format_money(value, style or 0)
        if source.name in FLOATS:
            return format_float(float(to_number(value, "float")), style or 0)
    return to_text(value)


def format_money(value: Scalar, style: int) -> str:
    """Format money as CONVERT does: style 1 has commas, style 2 four decimal places. Documented."""
    amount_text = to_text(format_decimal(value, 4 if style in (2, 126) else 2))
    if style != 1:
        return amount_text
    front, _, fraction = amount_text.partition(".")
    sign = "-" if front.startswith("-") else ""
    return f"{sign}{int(front.lstrip('-')):,}.{fraction}"


def format_float(value: float, style: int = 0) -> str:
    """Format a float as CONVERT does, with at most 6 digits (style 0), 8 (1), 16 (2) or 17 (3). Documented."""
    form = {1: ".7e", 2: ".15e", 3: ".17g"}.get(style, ".6g")
    head, mark, tail = f"{value:{form}}".partition("e")
    return f"{head}e{tail[0]}{int(tail[1:]):03d}" if mark else head


def format_number(value: int | float) -> str:
    """Convert a number of unknown type to text."""
    if isinstance(value, int):
        return str(value)
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.6f}".rstrip("0").rstrip(".") if 1e-5 <= abs(value) < 1e15 else f"{value:.15e}"


def to_text(value: Scalar, style: int | None = None) -> str:
    """Convert a value of unknown type to text; "" for NULL."""
    if value is None:
        return ""
    if isinstance(value, str):
        if not value.startswith(STORED_DATE_MARK):
            return value.removeprefix(types.DECIMAL_MARK)
        kind = date_values.get_stored_type(value)
        return date_values.format_date(date_values.parse_stored_date(value), kind, style)
    if isinstance(value, bytes):
        return "0x" + value.hex().upper() if style in (1, None) else value.hex().upper()
    return format_number(value)


SCALE_MAX: Final = 99
"""Maximum number of decimal places. FORMAT accepts 99, the type decimal only 38 [DOC: data types; FORMAT]."""


def format_decimal(value: Scalar, scale: Scalar) -> Scalar:
    """Format a number with *scale* decimal places. Return other values unchanged."""
    if isinstance(value, bool) or not isinstance(scale, int):
        return value
    if types.is_encoded_decimal(value) and 0 <= scale <= SCALE_MAX:
        quantized = types.decode_decimal(value).quantize(
            Decimal(1).scaleb(-scale), ROUND_HALF_UP, WIDE_DECIMAL_CONTEXT
        )
        return f"{quantized if quantized else quantized.copy_abs():f}"
    if not isinstance(value, int | float):
        return value
    if not -1e38 < value < 1e38 or not 0 <= scale <= SCALE_MAX:
        return value
    quantized = Decimal(repr(value)).quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP, WIDE_DECIMAL_CONTEXT)
    return f"{quantized if quantized else abs(quantized):f}"


def format_value(value: Scalar) -> Scalar:
    """Format a value of unknown type for a result set: dates without DATE_MARK, binary with 0x."""
    if types.is_encoded_decimal(value):  # without a type, show a number if a float can represent it
        digits = types.decode_decimal(value).normalize(WIDE_DECIMAL_CONTEXT)
        return to_number(value, "float") if len(digits.as_tuple().digits) <= FLOAT_DIGITS else value[1:]
    if isinstance(value, str):
        return value.removeprefix(STORED_DATE_MARK)
    if isinstance(value, bytes):
        return "0x" + value.hex().upper()
    return value


def format_typed_value(value: Scalar, kind: SqlType | None) -> Scalar:
    """Format a value for a result set by its type.

    Decimals have all digits of their scale. Money has two to four decimal places.
    """
    if kind is None or not (isinstance(value, int | float) or types.is_encoded_decimal(value)):
        return value
    if kind.name in DECIMALS:
        if kind.scale or isinstance(value, float):
            return format_decimal(value, kind.scale)
        whole_number = int(to_number(value))
        return whole_number if len(str(abs(whole_number))) <= NUMBER_DIGITS_MAX else str(whole_number)
    if kind.name in MONEYS:
        text = to_text(format_decimal(value, 4))
        return text[:-2] + text[-2:].rstrip("0")
    if kind.name == "real":
        return types.shorten_single(float(to_number(value, "float")))
    return float(to_number(value, "float")) if kind.name in FLOATS else value


def make_text_key(text: str) -> str:
    """Return the key by which the default collation compares texts: without case and trailing blanks."""
    return text.rstrip(" ").casefold()


@functools.lru_cache(maxsize=65_536)
def _build_order_key(text: str) -> tuple[str, str]:
    """Return the sort key of the default collation: symbols before digits before letters, then accents.

    Base letters are from Unicode decomposition; the order of symbols is assumed [DOC: collation and Unicode support].
    """
    comparable_text = make_text_key(text)
    if comparable_text.isascii() and comparable_text.isalnum():
        return comparable_text, comparable_text
    base = "".join(c for c in unicodedata.normalize("NFD", comparable_text) if not unicodedata.combining(c))
    return "".join(c if c.isalnum() else f"\x01{c}" for c in base), comparable_text


def compare_texts(a: str, b: str) -> int:
    """Compare two texts in the default collation. Return -1, 0 or 1.

    If one of them is a stored decimal, both are compared as numbers. Otherwise, if one is a stored
    date, both are compared as dates.
    """
    if a.startswith(types.DECIMAL_MARK) or b.startswith(types.DECIMAL_MARK):
        try:
            return types.compare_numbers(to_decimal(a), to_decimal(b))
        except SqlError:
            return -1
    if a.startswith(STORED_DATE_MARK) or b.startswith(STORED_DATE_MARK):
        try:
            first, second = convert_to_date(a).utc, convert_to_date(b).utc
        except SqlError:
            return -1
        return (first > second) - (first < second)
    left, right = _build_order_key(a), _build_order_key(b)
    return (left > right) - (left < right)


def compare_case_sensitive(a: str, b: str) -> int:
    """Compare two texts as in a case-sensitive collation: by letter, then lowercase first."""
    return compare_texts(a, b) or compare_code_points(b, a)


def compare_code_points(a: str, b: str) -> int:
    """Compare two texts as in a binary collation: by code points, without trailing blanks."""
    left, right = a.rstrip(" "), b.rstrip(" ")
    return (left > right) - (left < right)


# --- helpers for functions -------------------------------------------------------------------------


def propagate_null(function: Callable[..., Scalar]) -> Callable[..., Scalar]:
    """Wrap the function so that it returns NULL if any argument is NULL."""

    @functools.wraps(function)
    def call(*values: Scalar) -> Scalar:
        return None if any(value is None for value in values) else function(*values)

    return call


def to_integer(value: Scalar) -> int:
    """Convert the value to an integer, without its fraction. Raises 245 for invalid text."""
    return int(to_number(value))
