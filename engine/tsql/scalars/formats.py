"""Conversion functions: FORMAT, hashes, SOUNDEX and others."""

import hashlib
import re
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from typing import Final

from msgspec.structs import replace

from engine import datetime_formats
from engine.messages import SqlError
from engine.tsql.scalars import languages, types
from engine.tsql.scalars.date_values import Culture
from engine.tsql.scalars.types import MONEYS, encode_code_page, parse_sql_type
from engine.tsql.scalars.values import (
    Scalar,
    convert_to_datetime,
    convert_value,
    format_decimal,
    is_stored_date,
    propagate_null,
    to_decimal,
    to_text,
)

# --- FORMAT ----------------------------------------------------------------------------------------------

_DATE_TOKENS: Final = {
    "yyyy": "%Y", "yy": "%y", "MMMM": "%B", "MMM": "%b", "MM": "%m", "dddd": "%A", "ddd": "%a", "dd": "%d",
    "HH": "%H", "hh": "%I", "mm": "%M", "ss": "%S", "tt": "%p",
}  # fmt: skip
""".NET date format code -> strftime code. Documented [DOC: FORMAT]."""

_STANDARD_DATE_FORMATS: Final = {
    "d": "M/d/yyyy", "D": "dddd, MMMM d, yyyy", "g": "M/d/yyyy h:mm tt", "G": "M/d/yyyy h:mm:ss tt",
    "s": "yyyy-MM-ddTHH:mm:ss", "t": "h:mm tt", "T": "h:mm:ss tt", "u": "yyyy-MM-dd HH:mm:ssZ",
}  # fmt: skip


PRECISION_SPECIFIER_MAX: Final = 99
"""Maximum precision specifier of a standard number format. Documented [DOC: standard numeric format strings]."""


_INT_MASK: Final = 2**32 - 1
"""Mask of 32 bits. Format X shows an int in two's complement."""


def compute_format_work(_: Scalar, pattern: Scalar = None, *__: Scalar) -> int:
    """Return the work (work.py) to parse a format pattern, which may have 4,000 characters.

    The weight is measured.
    """
    return len(pattern) // 2 if isinstance(pattern, str) else 0


def _format_date(moment: datetime, pattern: str) -> str:
    pattern = _STANDARD_DATE_FORMATS.get(pattern, pattern)
    single = {"M": moment.month, "d": moment.day, "H": moment.hour, "h": moment.hour % 12 or 12}
    single |= {"m": moment.minute, "s": moment.second}

    def part(match: re.Match[str]) -> str:
        token = match.group()
        if token[0] in "'\"":
            return token[1:-1]
        if token in _DATE_TOKENS:
            return datetime_formats.format_datetime(moment, _DATE_TOKENS[token])
        if token[0] in "fF":
            return f"{moment.microsecond:06d}"[: len(token)]
        return str(single[token])

    return re.sub(r"'[^']*'|\"[^\"]*\"|yyyy|yy|M{1,4}|d{1,4}|HH?|hh?|mm?|ss?|f+|F+|tt", part, pattern)


def _format_number(number: Decimal, pattern: str) -> str | None:
    """Format a number with a .NET pattern: a standard format such as N2, or digits such as #,##0.00.

    Return None for an invalid precision. Documented [DOC: FORMAT].
    """
    standard = re.fullmatch(r"([NnFfDdPpCcGgXx])(\d*)", pattern)
    if standard is not None:
        if standard[2] and (len(standard[2]) > 9 or int(standard[2]) > PRECISION_SPECIFIER_MAX):
            return None
        kind = standard[1].upper()
        digit_count = int(standard[2]) if standard[2] else 0 if kind in "DX" else 2
        if kind == "X":
            return f"{int(number) & _INT_MASK:0{digit_count}{standard[1]}}" if number == int(number) else None
        if kind == "D":
            return f"{int(number):0{digit_count}d}"
        shown_text = to_text(
            format_decimal(types.encode_decimal(number * (100 if kind == "P" else 1)), digit_count)
        )
        grouped = _group_digits(shown_text) if kind in "NPC" else shown_text
        return f"{grouped} %" if kind == "P" else f"${grouped}" if kind == "C" else grouped
    picture = re.search(r"[0#,]+(?:\.[0#]+)?", pattern)
    if picture is None:
        return pattern
    left, _, right = picture.group().partition(".")
    shown_text = to_text(format_decimal(types.encode_decimal(number.copy_abs()), len(right)))
    front, _, decimals_text = shown_text.partition(".")
    front = front.rjust(left.replace(",", "").count("0"), "0")
    while decimals_text and len(decimals_text) > right.count("0") and decimals_text.endswith("0"):
        decimals_text = decimals_text[:-1]
    front = _group_digits(front) if "," in left else front
    text = front + (f".{decimals_text}" if decimals_text else "")
    return pattern.replace(picture.group(), ("-" if number < 0 else "") + text, 1)


def _group_digits(digits: str) -> str:
    front, point, fraction = digits.partition(".")
    return f"{int(front):,}{point}{fraction}" if abs(int(front)) or not front.startswith("-") else digits


@propagate_null
def _evaluate_format(value: Scalar, pattern: Scalar, culture: Scalar = "en-US") -> Scalar:
    if to_text(culture).lower() not in ("", "en-us"):
        raise SqlError(0, f"Not simulated: FORMAT with the culture {to_text(culture)}")
    if is_stored_date(value):
        return _format_date(convert_to_datetime(value), to_text(pattern))
    return _format_number(to_decimal(value), to_text(pattern))


# --- hashes ----------------------------------------------------------------------------------------------

_HASHES: Final = {"md5": "md5", "sha": "sha1", "sha1": "sha1", "sha2_256": "sha256", "sha2_512": "sha512"}


@propagate_null
def _evaluate_hashbytes(kind: Scalar, value: Scalar) -> Scalar:
    """Evaluate HASHBYTES. Text is hashed as varchar. Return None for an unknown algorithm."""
    name = _HASHES.get(to_text(kind).lower())
    data = value if isinstance(value, bytes) else encode_code_page(to_text(value))
    return None if name is None else hashlib.new(name, data, usedforsecurity=False).digest()


@propagate_null
def _evaluate_soundex(value: Scalar) -> Scalar:
    codes = {
        c: n for n, letters in enumerate(("", "BFPV", "CGJKQSXZ", "DT", "L", "MN", "R")) for c in letters
    }
    text = [char for char in to_text(value).upper() if char.isalpha()]
    if not text:
        return "0000"
    code_digits = [str(codes.get(char, 0)) for char in text]
    digits = [
        digit
        for index, digit in enumerate(code_digits)
        if index and digit != "0" and digit != code_digits[index - 1]
    ]
    return (text[0] + "".join(digits) + "000")[:4]


@propagate_null
def _evaluate_difference(a: Scalar, b: Scalar) -> Scalar:
    """Evaluate DIFFERENCE: the number of equal characters in two SOUNDEX codes. Documented [DOC: DIFFERENCE]."""
    return sum(x == y for x, y in zip(str(_evaluate_soundex(a)), str(_evaluate_soundex(b)), strict=True))


FUNCTIONS: Final[dict[str, Callable[..., Scalar]]] = {
    "format": _evaluate_format,
    "hashbytes": _evaluate_hashbytes,
    "soundex": _evaluate_soundex,
    "difference": _evaluate_difference,
}
"""T-SQL functions that depend only on their arguments, by name."""


# --- PARSE and TRY_PARSE ----------------------------------------------------------------------------------
# Numbers and dates in the notation of a .NET culture [DOC: PARSE].

CULTURES: Final = {
    "en-us": ("us_english", "mdy", ",", "."),
    "en-gb": ("us_english", "dmy", ",", "."),
    "de-de": ("Deutsch", "dmy", ".", ","),
    "es-es": ("Español", "dmy", ".", ","),
    "it-it": ("Italiano", "dmy", ".", ","),
}
""".NET culture -> language, DATEFORMAT, thousands separator, decimal separator. Only documented cultures."""

_CULTURE_BY_LANGUAGE: Final = {
    "us_english": "en-us",
    "Deutsch": "de-de",
    "Español": "es-es",
    "Italiano": "it-it",
}


def evaluate_parse(culture: Culture, value: Scalar, kind: Scalar, name: Scalar = None) -> Scalar:
    """Evaluate PARSE: parse *value* as the type *kind*. *name*: the culture; None for that of the session.

    Raises 9819 or 10761.
    """
    target = parse_sql_type(to_text(kind))
    if not (target.is_number or target.is_date_time):
        raise SqlError(10761, target.name, "parse")
    culture_name = to_text(name) if name is not None else _CULTURE_BY_LANGUAGE.get(culture.language.name, "")
    if culture_name.lower() not in CULTURES:
        raise SqlError(0, f"Not simulated: PARSE with the culture {culture_name or culture.language.name}")
    if value is None:
        return None
    language, order, separator, point = CULTURES[culture_name.lower()]
    text = to_text(value).strip()
    found_language = languages.find_language(language)
    assert found_language is not None
    local_culture = replace(culture, language=found_language, dateformat=order)
    if target.is_number:
        text = text.replace(separator, "").replace(point, ".")
        if target.is_integer and target.name != "bit":
            text = text.removesuffix(".").removesuffix(".0") or " "
        if target.name not in MONEYS and "$" in text:
            text = " "
    try:
        if not text.strip():
            raise SqlError(9819, value, target.name, name or "")
        return convert_value(text, target, culture=local_culture)
    except SqlError:
        raise SqlError(9819, value, target.name, name or "") from None


def evaluate_try_parse(culture: Culture, value: Scalar, kind: Scalar, name: Scalar = None) -> Scalar:
    """Evaluate TRY_PARSE: parse *value* as the type *kind*; NULL if it is invalid."""
    try:
        return evaluate_parse(culture, value, kind, name)
    except SqlError as problem:
        if problem.number != 9819:
            raise
        return None
