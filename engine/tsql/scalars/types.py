"""Data types of T-SQL and their rules: precedence, and the length, precision and scale of expressions.

Sources: [DOC: data type precedence], [DOC: precision, scale, and length], [DOC: data types].
"""

from __future__ import annotations

import codecs
import re
import struct
from decimal import Context, Decimal
from functools import lru_cache
from typing import Final, TypeGuard

from msgspec import Struct

from engine.messages import SqlError

UNLIMITED_LENGTH: Final = -1
"""Value of `SqlType.length` for (max) types such as varchar(max), whose length is not limited."""

PRECISION_MAX: Final = 38
DIVISION_SCALE: Final = 6
"""Minimum scale of a quotient if the precision is not sufficient for all digits. Documented."""

FLOAT_DIGITS: Final = 15
NUMBER_DIGITS_MAX: Final = 18
"""Maximum number of digits of a decimal(p, 0) that is stored as a number. Longer ones are texts."""

INT_RANGES: Final = {
    "bit": (0, 1),
    "tinyint": (0, 255),
    "smallint": (-(2**15), 2**15 - 1),
    "int": (-(2**31), 2**31 - 1),
    "bigint": (-(2**63), 2**63 - 1),
}
DECIMALS: Final = frozenset({"decimal", "numeric"})
MONEYS: Final = frozenset({"money", "smallmoney"})
FLOATS: Final = frozenset({"float", "real"})
WIDE_TEXTS: Final = frozenset({"nchar", "nvarchar", "ntext"})
TEXTS: Final = WIDE_TEXTS | {"char", "varchar", "text"}
DATE_TIME_TYPES: Final = frozenset(
    {"datetime", "smalldatetime", "datetime2", "date", "time", "datetimeoffset"}
)
OLD_DATE_TIME_TYPES: Final = frozenset({"datetime", "smalldatetime"})
BINARIES: Final = frozenset({"binary", "varbinary", "image", "timestamp", "rowversion"})
OLD_LARGE_TYPES: Final = frozenset({"text", "ntext", "image"})  # not comparable [DOC: ntext, text, and image]
OTHER_TYPES: Final = frozenset({"sql_variant", "uniqueidentifier", "xml", "cursor", "table"})
_ALIASES: Final = {
    "integer": "int", "dec": "decimal", "character varying": "varchar", "char varying": "varchar",
    "character": "char", "double precision": "float", "boolean": "bit", "national character": "nchar",
    "national char": "nchar", "national character varying": "nvarchar", "national char varying": "nvarchar",
    "binary varying": "varbinary", "sysname": "nvarchar",
}  # fmt: skip
TYPE_NAMES: Final = (
    INT_RANGES.keys() | DECIMALS | MONEYS | FLOATS | TEXTS | DATE_TIME_TYPES | BINARIES | OTHER_TYPES
)

UNSIMULATED_TYPES: Final = frozenset({"hierarchyid", "geometry", "geography"})
"""Types, introduced in 2008, that are not simulated."""

TYPE_PRECEDENCE: Final = (
    "sql_variant", "xml", "datetimeoffset", "datetime2", "datetime", "smalldatetime", "date", "time", "float",
    "real", "numeric", "money", "smallmoney", "bigint", "int", "smallint", "tinyint", "bit", "ntext", "text",
    "image", "timestamp", "uniqueidentifier", "nvarchar", "nchar", "varchar", "char", "varbinary", "binary", "null",
)  # fmt: skip
"""Types from the highest to the lowest precedence. Documented [DOC: data type precedence]."""
_PRECEDENCE_RANKS: Final = {name: rank for rank, name in enumerate(TYPE_PRECEDENCE)} | {
    "decimal": TYPE_PRECEDENCE.index("numeric")
}

_INTEGER_PRECISIONS: Final = {"bit": 1, "tinyint": 3, "smallint": 5, "int": 10, "bigint": 19}
"""Integer type -> its precision in an operation with a decimal. Documented."""

FIXED_LENGTHS: Final = {
    "bit": 1, "tinyint": 1, "smallint": 2, "int": 4, "bigint": 8, "money": 8, "smallmoney": 4, "float": 8,
    "real": 4, "datetime": 8, "smalldatetime": 4, "date": 3, "uniqueidentifier": 16, "timestamp": 8,
}  # fmt: skip
"""Type of fixed length -> length in bytes. Documented [DOC: data types]."""

SCALED_TIME_TYPES: Final = frozenset({"time", "datetime2", "datetimeoffset"})
"""Types with a fractional seconds precision. The default is seven digits. Documented."""


VARIANT_PREFIX: Final = "sql_variant:"
"""Prefix of the internal notation for a sql_variant whose value has a known type."""


class SqlType(Struct, frozen=True):
    """Data type of T-SQL.

    *length* is in characters or bytes; UNLIMITED_LENGTH for (max). *scale* also counts fractional digits of
    times.

    *precision* of an int is the digit count of a literal, else 0. *base* is the known type of the value in a
    sql_variant; None if unknown.
    """

    name: str
    length: int = 0
    precision: int = 0
    scale: int = 0
    base: SqlType | None = None

    def __str__(self) -> str:
        if self.base is not None:
            return f"{VARIANT_PREFIX}{self.base}"
        if self.name in DECIMALS:
            return f"{self.name}({self.precision},{self.scale})"
        if self.name in SCALED_TIME_TYPES:
            return f"{self.name}({self.scale})"
        if self.length and self.name not in OLD_LARGE_TYPES:
            return f"{self.name}({'max' if self.length == UNLIMITED_LENGTH else self.length})"
        return self.name

    @property
    def is_text(self) -> bool:
        """Return whether the type is a character type."""
        return self.name in TEXTS

    @property
    def is_integer(self) -> bool:
        """Return whether the type is an integer type or bit."""
        return self.name in INT_RANGES

    @property
    def is_number(self) -> bool:
        """Return whether the type is numeric."""
        return self.is_integer or self.name in DECIMALS or self.name in MONEYS or self.name in FLOATS

    @property
    def is_long(self) -> bool:
        """Return whether values of the type may exceed the precision of a float and are stored as texts.

        The types are money, decimals of more than 18 digits, and decimals with a scale and more than 15
        digits.
        """
        if self.name in DECIMALS:
            return self.precision > (NUMBER_DIGITS_MAX if not self.scale else FLOAT_DIGITS)
        return self.name == "money"

    @property
    def is_date_time(self) -> bool:
        """Return whether the type is a date and time type."""
        return self.name in DATE_TIME_TYPES

    @property
    def is_binary(self) -> bool:
        """Return whether the type is a binary type."""
        return self.name in BINARIES

    @property
    def family(self) -> str:
        """Return the family of the type. Stored values of one family can be compared directly."""
        if self.is_number:
            return "long number" if self.is_long else "number"
        if self.is_text:
            return "text"
        return "binary" if self.is_binary else str(self)


NULL: Final = SqlType("null")
BIT: Final = SqlType("bit")
INT: Final = SqlType("int")
BIGINT: Final = SqlType("bigint")
FLOAT: Final = SqlType("float")
MONEY: Final = SqlType("money")
DATETIME: Final = SqlType("datetime")
GUID: Final = SqlType("uniqueidentifier")


def build_decimal_type(precision: int, scale: int) -> SqlType:
    """Return the decimal type. If *precision* exceeds 38, reduce the scale, but not below 6.

    This rule is documented.
    """
    if precision > PRECISION_MAX:
        whole_digits = precision - scale
        scale = max(min(scale, DIVISION_SCALE), PRECISION_MAX - whole_digits)
        precision = PRECISION_MAX
    return SqlType("numeric", precision=max(1, precision), scale=scale)


def infer_literal_type(text: str) -> SqlType:
    """Return the type of a number literal without an exponent. Raises 1007 if it has too many digits."""
    whole_part, _, part = text.partition(".")
    digits = whole_part.lstrip("0") + part
    if "." not in text and len(digits) <= 10 and int(text) < 2**31:
        # in an operation with a decimal, the precision of the literal counts
        return SqlType("int", precision=max(1, len(digits)))
    if len(digits) > PRECISION_MAX:
        raise SqlError(1007, "number", text)
    return build_decimal_type(max(1, len(digits), len(part)), len(part))


def make_varchar(length: int) -> SqlType:
    """Return varchar with this length; -1 for max."""
    return SqlType("varchar", _limit_length(length, 8000))


def make_nvarchar(length: int) -> SqlType:
    """Return nvarchar with this length; -1 for max."""
    return SqlType("nvarchar", _limit_length(length, 4000))


def _limit_length(length: int, max_length: int) -> int:
    return UNLIMITED_LENGTH if length == UNLIMITED_LENGTH else max(1, min(length, max_length))


_TYPE_NAME: Final = re.compile(
    r"\s*(?:\[?(?:sys|dbo)\]?\s*\.\s*)?\[?([a-z_][a-z_0-9 ]*?)\]?\s*(?:\(\s*(max|\d+)\s*(?:,\s*(\d+)\s*)?\))?"
    r"(?:\s+(?:not\s+)?null)?\s*"
)


@lru_cache(maxsize=1024)
def parse_sql_type(text: str, default_length: int = 30) -> SqlType:
    """Parse the name of a type. *default_length*: length of character types without one. Raises 2715 or 1002."""
    if text.startswith(VARIANT_PREFIX):
        return make_variant(parse_sql_type(text.removeprefix(VARIANT_PREFIX)))
    match = _TYPE_NAME.fullmatch(" ".join(text.lower().split())) if len(text) < 300 else None
    type_text = match[1] if match else text
    name = _ALIASES.get(type_text, type_text)
    if name in UNSIMULATED_TYPES:
        raise SqlError(0, f"Not simulated: the type {name}")
    if match is None or name not in TYPE_NAMES:
        raise SqlError(2715, 1, text.replace("[", "").replace("]", "").partition("(")[0].strip())
    size = None if match[2] is None else UNLIMITED_LENGTH if match[2] == "max" else int(match[2][:9])
    # nine digits exceed the maximum of every type, and int() of thousands of digits is slow
    digits = None if match[3] is None else int(match[3][:9])
    if type_text == "sysname":
        return SqlType("nvarchar", 128)
    if name in DECIMALS:
        return SqlType("numeric", precision=18 if size is None else size, scale=digits or 0)
    if name in SCALED_TIME_TYPES:
        if size is not None and size > 7:
            raise SqlError(1002, 1, size)
        return SqlType(name, scale=7 if size is None else size)
    if name in ("text", "ntext", "image"):
        return SqlType(name, UNLIMITED_LENGTH)
    if name == "float":
        return SqlType("real") if size is not None and 0 < size <= 24 else FLOAT
    if name in TEXTS or name in ("binary", "varbinary"):
        return SqlType(name, default_length if size is None else size)
    return SqlType("timestamp" if name == "rowversion" else name)


def make_variant(kind: SqlType | None) -> SqlType:
    """Return the type sql_variant for a value of the type *kind*. *kind* is None for an unknown type."""
    if kind is not None and kind.name == "sql_variant":
        return kind
    return SqlType("sql_variant", base=None if kind is None or kind.name == "null" else kind)


_LENGTH_LIMITS: Final = {
    **dict.fromkeys(("char", "varchar", "binary", "varbinary"), 8000),
    **dict.fromkeys(("nchar", "nvarchar"), 4000),
}
"""Type -> maximum length in a declaration. Documented [DOC: data types]."""
_SIZED_TYPES: Final = _LENGTH_LIMITS.keys() | DECIMALS | SCALED_TIME_TYPES | {"float"}


def check_type_size(text: str, item_kind: str, name: str = "", number: int = 1) -> None:
    """Raise 1001, 131, 2717, 2716, 2750, 183 or 192 for an invalid length or precision.

    *text*: the type as written. *item_kind* and *name* are parts of the message: "column" and its
    name, or "type" and the name of the type. *number*: position of the column or parameter, for 2716
    and 2750.
    """
    match = _TYPE_NAME.fullmatch(" ".join(text.lower().split())) if len(text) < 300 else None
    if match is None or match[2] in (None, "max"):
        return
    kind, size, scale = _ALIASES.get(match[1], match[1]), int(match[2][:9]), int((match[3] or "0")[:9])
    if kind not in _SIZED_TYPES:
        if kind in TYPE_NAMES:
            raise SqlError(2716, number, kind)
        return
    if not size and kind not in SCALED_TIME_TYPES:
        raise SqlError(1001, 1, 0)
    size_max = _LENGTH_LIMITS.get(kind, size)
    if size > size_max:
        wide = size <= 8000
        item_name = "parameter" if wide and item_kind == "type" else item_kind
        raise SqlError(2717 if wide else 131, size, item_name, name or kind, size_max if wide else 8000)
    precision = PRECISION_MAX if kind in DECIMALS else 53 if kind == "float" else size
    if size > precision:
        raise SqlError(2750, number, size, precision)
    if kind in DECIMALS and scale > size:
        raise SqlError(183, scale, name, 0, size) if item_kind == "column" else SqlError(192)


# --- result types of operations with two operands
# ------------------------------------------------------------


def choose_higher_type(a: SqlType, b: SqlType) -> SqlType:
    """Return the type with the higher precedence."""
    return a if _PRECEDENCE_RANKS[a.name] <= _PRECEDENCE_RANKS[b.name] else b


def get_precision_and_scale(kind: SqlType) -> tuple[int, int]:
    """Return the precision and scale that a numeric type has in an operation with a decimal."""
    if kind.name in DECIMALS:
        return kind.precision, kind.scale
    if kind.name == "money":
        return 19, 4
    if kind.name == "smallmoney":
        return 10, 4
    return kind.precision or _INTEGER_PRECISIONS.get(kind.name, 10), 0


def infer_common_type(a: SqlType | None, b: SqlType | None) -> SqlType | None:
    """Return the common type of a UNION, CASE or comparison; None if one type is unknown."""
    if a is None or b is None:
        return None
    if a in (NULL, b):
        return b
    if b == NULL:
        return a
    if a.name == b.name and a.is_integer:
        return SqlType(a.name)
    top = choose_higher_type(a, b)
    if a.is_text and b.is_text:
        length = UNLIMITED_LENGTH if UNLIMITED_LENGTH in (a.length, b.length) else max(a.length, b.length)
        return SqlType(top.name, length)
    if a.is_binary and b.is_binary:
        return SqlType(
            top.name,
            UNLIMITED_LENGTH if UNLIMITED_LENGTH in (a.length, b.length) else max(a.length, b.length),
        )
    if top.name in DECIMALS and a.is_number and b.is_number:
        (p1, s1), (p2, s2) = get_precision_and_scale(a), get_precision_and_scale(b)
        scale = max(s1, s2)
        return build_decimal_type(max(p1 - s1, p2 - s2) + scale, scale)
    if top.name in SCALED_TIME_TYPES:
        return SqlType(
            top.name,
            scale=max(x.scale if x.name in SCALED_TIME_TYPES else 3 for x in (a, b) if x.is_date_time),
        )
    return top


def infer_arithmetic_type(operator: str, a: SqlType, b: SqlType) -> SqlType:
    """Return the type of an arithmetic or bitwise operation. Raises 206, 402 or 8117 for incompatible types."""
    name = _OPERATION_NAMES[operator]
    if a == NULL or b == NULL:
        other_sql_type = b if a == NULL else a
        return (
            INT if other_sql_type == NULL else infer_arithmetic_type(operator, other_sql_type, other_sql_type)
        )
    if operator in "&|^":
        return _infer_bitwise_type(operator, a, b)
    if {a.name, b.name} & OLD_LARGE_TYPES:
        raise SqlError(8117, a.name, name) if a.name == b.name else SqlError(402, a.name, b.name, name)
    if operator == "+" and not (a.is_number or b.is_number or a.is_date_time or b.is_date_time):
        return infer_concatenated_type(a, b)
    if a.is_date_time or b.is_date_time:
        return _infer_shifted_date_type(operator, a, b)
    for kind in (a, b):
        if kind.name in OTHER_TYPES and kind.name != "sql_variant":
            raise SqlError(8117, kind.name, name) if a.name == b.name else SqlError(402, a.name, b.name, name)
    if a.is_text and b.is_text:
        raise SqlError(8117, a.name, name) if a.name == b.name else SqlError(402, a.name, b.name, name)
    top = choose_higher_type(a, b)
    if top.name in DECIMALS:
        return _infer_decimal_type(operator, _choose_number_type(a, top), _choose_number_type(b, top))
    if top.name in FLOATS and operator == "%":
        raise SqlError(402, a.name, b.name, name)
    if a.name == b.name == "bit":
        raise SqlError(402, a.name, b.name, name)
    return INT if top.name == "bit" else SqlType(top.name)


_OPERATION_NAMES: Final = {
    "+": "add", "-": "subtract", "*": "multiply", "/": "divide", "%": "modulo", "&": "'&'", "|": "'|'", "^": "'^'",
}  # fmt: skip


def _choose_number_type(kind: SqlType, other_type: SqlType) -> SqlType:
    """Return the numeric type of an operand: *kind* or, for a text operand, *other_type*.

    A text operand is converted to the type of the other operand.
    """
    return kind if kind.is_number else other_type


def _infer_decimal_type(operator: str, a: SqlType, b: SqlType) -> SqlType:
    (p1, s1), (p2, s2) = get_precision_and_scale(a), get_precision_and_scale(b)
    if operator in "+-":
        scale, whole_digits = max(s1, s2), max(p1 - s1, p2 - s2)
        precision = min(scale + whole_digits + 1, PRECISION_MAX)
        return build_decimal_type(precision, min(scale, precision - whole_digits))
    if operator == "*":
        return build_decimal_type(p1 + p2 + 1, s1 + s2)
    if operator == "/":
        scale = max(DIVISION_SCALE, s1 + p2 + 1)
        return build_decimal_type(p1 - s1 + s2 + scale, scale)
    return build_decimal_type(min(p1 - s1, p2 - s2) + max(s1, s2), max(s1, s2))


def _infer_bitwise_type(operator: str, a: SqlType, b: SqlType) -> SqlType:
    """Return the type of a bitwise operation on integers, or an integer and a binary value [DOC: & (bitwise AND)]."""
    if a.is_integer and b.is_integer:
        return SqlType(choose_higher_type(a, b).name)
    if (a.is_integer and (b.is_binary or b.is_text)) or (b.is_integer and (a.is_binary or a.is_text)):
        return SqlType((a if a.is_integer else b).name)
    raise SqlError(402, a.name, b.name, _OPERATION_NAMES[operator])


def _infer_shifted_date_type(operator: str, a: SqlType, b: SqlType) -> SqlType:
    """Return the type of an addition or subtraction of days, which only datetime and smalldatetime allow.

    Documented [DOC: + (addition)].
    """
    for kind, other_sql_type in ((a, b), (b, a)):
        if kind.is_date_time and kind.name not in OLD_DATE_TIME_TYPES:
            if other_sql_type.name == kind.name or other_sql_type.is_text:
                raise SqlError(8117, kind.name, _OPERATION_NAMES[operator])
            if other_sql_type.is_date_time:
                raise SqlError(402, a.name, b.name, _OPERATION_NAMES[operator])
            raise SqlError(206, kind.name, other_sql_type.name)
    if operator not in "+-":
        raise SqlError(8117, (a if a.is_date_time else b).name, _OPERATION_NAMES[operator])
    return choose_higher_type(a, b)


def infer_concatenated_type(a: SqlType, b: SqlType) -> SqlType:
    """Return the type of the concatenation of two texts or binary values. Raises 402 or 8117 for other types."""
    if a.is_binary and b.is_binary:
        return SqlType("varbinary", _compute_joined_length(a, b, 8000))
    if (a.is_binary or b.is_binary) and not (a.is_text and b.is_text):
        raise SqlError(402, a.name, b.name, "add")
    for kind in (a, b):
        if not kind.is_text and kind.name != "sql_variant":
            raise SqlError(402, a.name, b.name, "add") if a != b else SqlError(8117, a.name, "add")
    if a.name == "sql_variant" or b.name == "sql_variant":
        raise SqlError(402, a.name, b.name, "add")
    wide = a.name in WIDE_TEXTS or b.name in WIDE_TEXTS
    fixed = a.name in ("char", "nchar") and b.name in ("char", "nchar")
    name = ("nchar" if wide else "char") if fixed else ("nvarchar" if wide else "varchar")
    return SqlType(name, _compute_joined_length(a, b, 4000 if wide else 8000))


def _compute_joined_length(a: SqlType, b: SqlType, max_length: int) -> int:
    return (
        UNLIMITED_LENGTH
        if UNLIMITED_LENGTH in (a.length, b.length)
        else max(1, min(max_length, a.length + b.length))
    )


def check_conversion(source: SqlType | None, target: SqlType, explicit: bool = True) -> None:
    """Raise an error for a conversion that does not exist. Documented [DOC: CAST and CONVERT].

    The error is 529 for an *explicit* conversion. For an implicit conversion, it is 257 if an
    explicit one exists, else 206.
    """
    if source is None or source == NULL or source.name == target.name:
        return
    kind_pair = (_get_conversion_kind(source), _get_conversion_kind(target))
    if kind_pair in _IMPOSSIBLE_CONVERSIONS or (not explicit and kind_pair in _EXPLICIT_CONVERSIONS):
        raise SqlError(
            529 if explicit else 206 if kind_pair in _IMPOSSIBLE_CONVERSIONS else 257,
            source.name,
            target.name,
        )


def _get_conversion_kind(kind: SqlType) -> str:
    if kind.is_date_time:
        return (
            "old"
            if kind.name in OLD_DATE_TIME_TYPES
            else kind.name
            if kind.name in ("date", "time")
            else "new"
        )
    if kind.is_number:
        return "number"
    return "text" if kind.is_text else "binary" if kind.is_binary else kind.name


_IMPOSSIBLE_CONVERSIONS: Final = frozenset(
    {("date", "time"), ("time", "date"), ("uniqueidentifier", "number"), ("number", "uniqueidentifier")}
    | {("number", new) for new in ("date", "time", "new", "xml")}
    | {(new, "number") for new in ("date", "time", "new", "xml")}
    | {("uniqueidentifier", moment) for moment in ("old", "date", "time", "new", "xml")}
    | {(moment, "uniqueidentifier") for moment in ("old", "date", "time", "new", "xml")}
    | {(moment, "xml") for moment in ("old", "date", "time", "new")}
    | {("xml", moment) for moment in ("old", "date", "time", "new")}
)
_EXPLICIT_CONVERSIONS: Final = frozenset(
    {("old", "number"), ("xml", "text"), ("xml", "binary"), ("text", "binary")}
    | {(moment, "binary") for moment in ("old", "date", "time", "new")}
    | {
        ("sql_variant", other)
        for other in ["number", "text", "binary", "old", "date", "time", "new", "uniqueidentifier", "xml"]
    }
)


# --- decimal numbers with more digits than a float ----------------------------------------------------------
# The stored form of such a number is a text: DECIMAL_MARK and all digits.

DECIMAL_MARK: Final = "\U0010fffe"
DATE_MARK: Final = "\U0010ffff"
"""Prefix of stored dates, which distinguishes them from equal texts. DECIMAL_MARK: prefix of stored decimals.

They are Unicode noncharacters. `clean_text` removes them from texts of users.
"""

WIDE_DECIMAL_CONTEXT: Final = Context(prec=200)
"""Decimal context for 30 digits before and 99 after the decimal point. Python's default has only 28 digits."""


def store_number(number: Decimal, kind: SqlType) -> int | float | str:
    """Convert a number to the stored form of the type *kind*.

    Stored numbers of one type can be compared directly.
    """
    if kind.is_long:
        return encode_decimal(number)
    return int(number) if number == number.to_integral_value() else float(number)


def encode_decimal(number: Decimal) -> str:
    """Convert a decimal to its stored form with all digits."""
    return f"{DECIMAL_MARK}{number if number else number.copy_abs():f}"


def is_encoded_decimal(value: object) -> TypeGuard[str]:
    """Return whether the value is the stored form of a decimal."""
    return isinstance(value, str) and value.startswith(DECIMAL_MARK)


def decode_decimal(value: str) -> Decimal:
    """Convert the stored form of a decimal to a decimal."""
    return Decimal(value.removeprefix(DECIMAL_MARK))


def compare_numbers(a: Decimal, b: Decimal) -> int:
    """Return -1 if *a* is less than *b*, 0 if they are equal, and 1 if *a* is greater."""
    return (a > b) - (a < b)


def clean_text(text: str) -> str:
    """Return the text with U+FFFD in place of DECIMAL_MARK, DATE_MARK and unpaired surrogates."""
    return remove_marks(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


def remove_marks(text: str) -> str:
    """Return the text with U+FFFD in place of DECIMAL_MARK and DATE_MARK."""
    return text.replace(DATE_MARK, "\ufffd").replace(DECIMAL_MARK, "\ufffd")


def parse_type(text: str) -> tuple[str, int | None, int | None]:
    """Return (name, length or precision, scale) of a type; length -1 for (max).

    Raises 2715 for an unknown type.
    """
    kind = parse_sql_type(text, 0)
    if kind.name in DECIMALS:
        return "decimal", kind.precision, kind.scale
    return kind.name, kind.length or None, kind.scale or None


# --- uniqueidentifiers and code pages -----------------------------------------------------------------------

GUID_TEXT: Final = re.compile(
    r"\{?([0-9A-F]{8}(?:-[0-9A-F]{4}){3}-[0-9A-F]{12})\}?.{0,200}", re.IGNORECASE | re.DOTALL
)


def format_guid(value: bytes) -> str:
    """Format 16 bytes as a uniqueidentifier. The first three groups are in little-endian byte order."""
    raw = value[:16].ljust(16, b"\0")
    digits = (raw[3::-1] + raw[5:3:-1] + raw[7:5:-1] + raw[8:]).hex().upper()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def parse_guid(text: str) -> bytes:
    """Convert a uniqueidentifier that matches GUID_TEXT to its 16 bytes."""
    raw = bytes.fromhex(text.replace("-", ""))
    return raw[3::-1] + raw[5:3:-1] + raw[7:5:-1] + raw[8:]


def encode_code_page(text: str) -> bytes:
    """Encode text as varchar, in code page 1252 of the default collation."""
    return codecs.charmap_encode(text, "replace", _ENCODING)[0]


def decode_code_page(raw: bytes) -> str:
    """Decode bytes of a varchar in code page 1252."""
    return codecs.charmap_decode(raw, "replace", _CODE_PAGE)[0]


_CODE_PAGE: Final = "".join(bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in range(256))
"""Character of each byte. Like Windows, it maps the five undefined bytes to the characters of equal codes."""
_ENCODING: Final = codecs.charmap_build(_CODE_PAGE)


def round_to_single(number: float) -> float:
    """Round to the nearest value of real. Raises OverflowError outside its range [DOC: float and real]."""
    rounded: float = struct.unpack("<f", struct.pack("<f", number))[0]
    return rounded


def shorten_single(number: float) -> float:
    """Return the number with the fewest digits that rounds to the same value of real."""
    shortened = (float(f"{number:.{digits}g}") for digits in range(6, 10))
    return next((short for short in shortened if round_to_single(short) == number), number)
