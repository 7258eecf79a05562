"""Scalar functions of T-SQL for SQLite. The translation replaces `LEN(x)` by `t_len(x)`."""

import inspect
import json
import math
import re
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Final

from engine.messages import SqlError
from engine.tsql.scalars import date_values, dates, formats, json_values, operators, xpath
from engine.tsql.scalars.date_values import Culture
from engine.tsql.scalars.like_patterns import evaluate_like_exact, evaluate_patindex, evaluate_patindex_exact
from engine.tsql.scalars.types import (
    DECIMALS,
    FIXED_LENGTHS,
    INT,
    SCALED_TIME_TYPES,
    WIDE_TEXTS,
    encode_code_page,
    make_nvarchar,
    parse_sql_type,
)
from engine.tsql.scalars.values import (
    STORED_DATE_MARK,
    VALUE_CHARACTERS_MAX,
    Scalar,
    check_text_limit,
    compare_texts,
    convert_value,
    format_as_type,
    format_decimal,
    is_stored_date,
    propagate_null,
    to_integer,
    to_number,
    to_text,
)

# --- text -----------------------------------------------------------------------------------------------


@propagate_null
def _compute_top_percent(count: Scalar, percent: Scalar) -> Scalar:
    """Return the row count of TOP (percent) PERCENT, rounded up. Documented [DOC: TOP].

    *count*: number of all rows. Raises 1031 for a percentage outside 0 to 100.
    """
    share = Fraction(str(to_number(percent)))
    if not 0 <= share <= 100:
        raise SqlError(1031)
    return math.ceil(to_integer(count) * share / 100)


def _check_recursion(level: Scalar, max_level: Scalar) -> Scalar:
    """Return the recursion level of a common table expression. Raises 530 if it exceeds *max_level*."""
    if to_integer(max_level) and to_integer(level) > to_integer(max_level):
        raise SqlError(530, max_level)
    return level


def evaluate_datalength(value: Scalar, kind: Scalar = "") -> Scalar:
    """Evaluate DATALENGTH: the size of *value* in bytes [DOC: data types].

    *kind*: type of *value*; "" if the type is unknown.
    """
    if value is None:
        return None
    type_ = parse_sql_type(str(kind), 0) if kind else None
    if type_ is not None and type_.name in FIXED_LENGTHS:
        return FIXED_LENGTHS[type_.name]
    if type_ is not None and type_.name in DECIMALS:
        sizes = ((9, 5), (19, 9), (28, 13), (38, 17))
        return next(size for digits, size in sizes if type_.precision <= digits)
    if type_ is not None and type_.name in SCALED_TIME_TYPES:
        size = 3 if type_.scale < 3 else 4 if type_.scale < 5 else 5
        return size + {"time": 0, "datetime2": 3, "datetimeoffset": 5}[type_.name]
    if isinstance(value, bytes):
        return len(value)
    if isinstance(value, str):
        if value.startswith(STORED_DATE_MARK):
            return evaluate_datalength(value, str(date_values.get_stored_type(value)))
        wide = type_ is None or not type_.is_text or type_.name in WIDE_TEXTS
        return 2 * count_code_units(value) if wide else len(value)
    return 4 if isinstance(value, int) and abs(value) < 2**31 else 8


def count_code_units(text: str) -> int:
    """Return the length in UTF-16 code units, which LEN counts without an SC collation [DOC: LEN]."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _read_first_code_unit(text: str) -> int:
    return int.from_bytes(text[0].encode("utf-16-le", "surrogatepass")[:2], "little")


@propagate_null
def _evaluate_left(text: Scalar, count: Scalar) -> Scalar:
    if to_integer(count) < 0:
        raise SqlError(537)
    return to_text(text)[: to_integer(count)]


@propagate_null
def _evaluate_right(text: Scalar, count: Scalar) -> Scalar:
    if to_integer(count) < 0:
        raise SqlError(536, "RIGHT")
    return to_text(text)[-to_integer(count) :] if to_integer(count) else ""


@propagate_null
def _evaluate_substring(text: Scalar, start: Scalar, length: Scalar) -> Scalar:
    if to_integer(length) < 0:
        raise SqlError(537)
    first = to_integer(start) - 1
    value = text if isinstance(text, bytes) else to_text(text)
    return value[max(0, first) : max(0, first + to_integer(length))]


@propagate_null
def _evaluate_charindex(part: Scalar, text: Scalar, start: Scalar = 1) -> Scalar:
    if not to_text(part):
        return 0
    return to_text(text).casefold().find(to_text(part).casefold(), max(0, to_integer(start) - 1)) + 1


@propagate_null
def _evaluate_replace(text: Scalar, pattern: Scalar, replacement: Scalar) -> Scalar:
    if not to_text(pattern):
        return to_text(text)
    replacement_text = to_text(replacement)
    count_max = (
        VALUE_CHARACTERS_MAX // max(1, len(replacement_text)) + 1
    )  # more replacements would exceed the text limit
    # Pass a template string, because re.sub would call a function for each match.
    template = replacement_text.replace("\\", r"\\")
    return check_text_limit(
        re.sub(re.escape(to_text(pattern)), template, to_text(text), count=count_max, flags=re.IGNORECASE)
    )


def _unpack_value(row: Scalar, position: Scalar) -> Scalar:
    """Return the value at *position* in *row*: a row of an applied query as JSON (apply_rewriting.py)."""
    if row is None:
        return None
    value = _parse_row(to_text(row))[to_integer(position)]
    return bytes.fromhex(value["bytes"]) if isinstance(value, dict) else value


@lru_cache(maxsize=64)
def _parse_row(text: str) -> list[int | float | str | dict[str, str] | None]:
    row = json.loads(text)
    assert isinstance(row, list)
    return row


def _replace_each(text: Scalar, *pairs: Scalar) -> Scalar:
    """Evaluate nested REPLACE calls, the innermost first (syntax_normalization.py)."""
    for old, new in zip(pairs[::2], pairs[1::2], strict=True):
        text = _evaluate_replace(text, old, new)
    return text


@propagate_null
def _evaluate_charindex_exact(part: Scalar, text: Scalar, start: Scalar = 1) -> Scalar:
    """Evaluate CHARINDEX with a case-sensitive collation."""
    if not to_text(part):
        return 0
    return to_text(text).find(to_text(part), max(0, to_integer(start) - 1)) + 1


@propagate_null
def _evaluate_replace_exact(text: Scalar, pattern: Scalar, replacement: Scalar) -> Scalar:
    """Evaluate REPLACE with a case-sensitive collation."""
    if not to_text(pattern):
        return to_text(text)
    replacement_text = to_text(replacement)
    count_max = VALUE_CHARACTERS_MAX // max(1, len(replacement_text)) + 1
    return to_text(text).replace(to_text(pattern), replacement_text, count_max)[:VALUE_CHARACTERS_MAX]


def _evaluate_stuff(text: Scalar, start: Scalar, length: Scalar, replacement: Scalar) -> Scalar:
    if text is None or start is None or length is None:
        return None
    body, first, count = to_text(text), to_integer(start) - 1, to_integer(length)
    if first < 0 or first >= len(body) or count < 0:
        return None
    return body[:first] + to_text(replacement) + body[first + count :]


@propagate_null
def _evaluate_replicate(text: Scalar, count: Scalar, max_length: Scalar = 8000) -> Scalar:
    """Evaluate REPLICATE. *max_length* limits the result to 8,000 bytes; -1 for a (max) type [DOC: REPLICATE]."""
    body, size = to_text(text), VALUE_CHARACTERS_MAX if max_length == -1 else to_integer(max_length)
    if to_integer(count) < 0:
        return None
    repeated_text = body * min(to_integer(count), size // max(1, len(body)) + 1)
    return check_text_limit(repeated_text) if max_length == -1 else repeated_text[:size]


@propagate_null
def _evaluate_quotename(text: Scalar, quote: Scalar = "[") -> Scalar:
    quote_pair = _QUOTES.get(to_text(quote)[:1])
    if quote_pair is None or len(to_text(text)) > 128:
        return None
    return quote_pair[0] + to_text(text).replace(quote_pair[1], quote_pair[1] * 2) + quote_pair[1]


_QUOTES: Final = {sign: pair for pair in ("[]", "''", '""', "()", "{}", "<>", "``") for sign in pair}
"""Quote character of QUOTENAME -> opening and closing character. Documented [DOC: QUOTENAME]."""


def _evaluate_concat(first_value: Scalar, second_value: Scalar, *values: Scalar) -> Scalar:
    return check_text_limit("".join(to_text(value) for value in (first_value, second_value, *values)))


def _evaluate_concat_ws(
    separator: Scalar, first_value: Scalar, second_value: Scalar, *others: Scalar
) -> Scalar:
    """Evaluate CONCAT_WS: join all values that are not NULL [DOC: CONCAT_WS]."""
    separator_text = to_text(separator) if separator is not None else ""
    values = (first_value, second_value, *others)
    return check_text_limit(separator_text.join(to_text(value) for value in values if value is not None))


@propagate_null
def _evaluate_str(number: Scalar, length: Scalar = 10, decimals: Scalar = 0) -> Scalar:
    text = to_text(format_decimal(float(to_number(number, "float")), max(0, min(16, to_integer(decimals)))))
    size = max(0, min(8000, to_integer(length)))
    return text.rjust(size) if len(text) <= size else "*" * size


@propagate_null
def _evaluate_parsename(name: Scalar, piece: Scalar) -> Scalar:
    parts = [match[1] or match[2] or match[3] or None for match in _NAME_PARTS.finditer(to_text(name))]
    return parts[-to_integer(piece)] if 0 < to_integer(piece) <= len(parts) <= 4 else None


_NAME_PARTS: Final = re.compile(r'(?:^|(?<=\.))(?:\[([^\]]*)\]|"([^"]*)"|([^.]*))')


def _evaluate_choose(number: Scalar, *values: Scalar) -> Scalar:
    is_valid = number is not None and 0 < to_integer(number) <= len(values)
    return values[to_integer(number) - 1] if is_valid else None


def _evaluate_isnumeric(value: Scalar) -> Scalar:
    """Evaluate ISNUMERIC: 1 if the value converts to a numeric type, even a lone sign or $ [DOC: ISNUMERIC]."""
    if value is None or is_stored_date(value) or isinstance(value, bytes):
        return 0
    text = to_text(value)
    if not text.strip(" "):
        return 0
    text = text.strip(" \t\n\v\f\r\xa0")  # text of only tabs and line breaks is numeric
    return int(len(text) <= 400 and (not text or _NUMERIC.fullmatch(text) is not None))


_NUMERIC: Final = re.compile(
    r"[-+]?[$£€¥]?[-+]?[\d,]*(?:\.\d*)?|[-+]?(?:\d+(?:\.\d*)?|\.\d+)[edED][-+]?\d{1,3}", re.ASCII
)


# --- functions that need no connection ----------------------------------------------------------------------


def _evaluate_convert(
    culture: Culture, kind: Scalar, value: Scalar, style: Scalar = None, source: Scalar = None
) -> Scalar:
    sql_type = parse_sql_type(str(source)) if source else None
    return convert_value(
        value, str(kind), None if style is None else to_integer(style), source=sql_type, culture=culture
    )


def _evaluate_try_convert(
    culture: Culture, kind: Scalar, value: Scalar, style: Scalar = None, source: Scalar = None
) -> Scalar:
    try:
        return _evaluate_convert(culture, kind, value, style, source)
    except SqlError as problem:
        if problem.number in (243, 281, 529, 2715):
            raise
        return None


def _convert_to_text(culture: Culture, value: Scalar, source: Scalar = None) -> Scalar:
    """Convert the argument of a text function to text, by the rules of its type *source*."""
    sql_type = parse_sql_type(str(source)) if source else None
    return None if value is None else format_as_type(value, source=sql_type, culture=culture)


_TYPE_PRECISIONS: Final = {
    "bigint": (19, 0), "int": (10, 0), "smallint": (5, 0), "tinyint": (3, 0), "bit": (1, 0), "float": (53, 0),
    "real": (24, 0), "money": (19, 4), "smallmoney": (10, 4), "datetime": (23, 3), "smalldatetime": (16, 0),
    "date": (10, 0),
}  # fmt: skip
_TYPE_BYTES: Final = {
    "bigint": 8, "int": 4, "smallint": 2, "tinyint": 1, "bit": 1, "float": 8, "real": 4, "money": 8, "smallmoney": 4,
    "datetime": 8, "smalldatetime": 4, "date": 3, "uniqueidentifier": 16,
}  # fmt: skip


def _evaluate_variant_property(value: Scalar, wanted: Scalar, source: Scalar = None) -> Scalar:
    """Evaluate SQL_VARIANT_PROPERTY [DOC: SQL_VARIANT_PROPERTY].

    *wanted*: name of the property. *source*: name of the value's type; without it, the value counts as text
    or int.
    """
    if value is None:
        return None
    default_kind = make_nvarchar(len(value)) if isinstance(value, str) else INT
    kind = parse_sql_type(str(source)) if source else default_kind
    if kind is None:
        return None
    decimal = kind.name in ("decimal", "numeric")
    precision, scale = (kind.precision, kind.scale) if decimal else _TYPE_PRECISIONS.get(kind.name, (0, 0))
    length = kind.length * (2 if kind.name in ("nchar", "nvarchar") else 1) if kind.is_text else None
    steps = 5 if precision < 10 else 9 if precision < 20 else 13 if precision < 29 else 17
    size = steps if decimal else _TYPE_BYTES.get(kind.name, kind.length)
    values_by_property: dict[str, Scalar] = {
        "basetype": kind.name,
        "precision": precision,
        "scale": scale,
        "maxlength": size if length is None else length,
        "collation": "SQL_Latin1_General_CP1_CI_AS" if kind.is_text else None,
    }
    return values_by_property.get(to_text(wanted).lower())


def _evaluate_isnull(value: Scalar, replacement: Scalar) -> Scalar:
    return replacement if value is None else value


_NULL_CHECKSUM: Final = 2**31 - 1


def _evaluate_checksum(*values: Scalar) -> Scalar:
    """Evaluate CHECKSUM or BINARY_CHECKSUM: for each value, rotate the sum by 4 bits, then XOR the value.

    The algorithm is not documented. It is seen in public output for NULL, integers and ASCII texts.
    """
    number = 0
    for value in values:
        if isinstance(value, str) and value.isascii() and len(values) == 1:
            for code in value.rstrip(" ").encode("ascii"):
                number = _rotate_bits(number) ^ code
        elif value is None or (isinstance(value, int) and -(2**31) <= value < 2**31):
            number = _rotate_bits(number) ^ ((_NULL_CHECKSUM if value is None else value) & 0xFFFFFFFF)
        else:
            raise SqlError(0, "Not simulated: CHECKSUM and BINARY_CHECKSUM of these values")
    return number - 2**32 if number >= 2**31 else number


def _rotate_bits(number: int) -> int:
    return (number << 4 | number >> 28) & 0xFFFFFFFF


def format_message(text: str, values: tuple[Scalar, ...]) -> str:
    """Return the message text of RAISERROR with its placeholders replaced. Raises 2786 or 2787."""
    remaining_values = list(values)

    def fill(match: re.Match[str]) -> str:
        if match.group() == "%%":
            return "%"
        width, cut_width = (
            (to_text(remaining_values.pop(0)) if remaining_values else "")
            if match[part] == "*"
            else match[part] or ""
            for part in ("width", "cut")
        )
        value = remaining_values.pop(0) if remaining_values else None
        if value is None:
            return "(null)"
        if match["kind"] == "s":
            text = to_text(value)
            text = text[: int(cut_width[:9])] if cut_width.isdecimal() else text
        elif isinstance(value, int):
            kind, flags = match["kind"], match["flags"]
            bits = value % 2**32 if value >= -(2**31) else value % 2**64
            forms = {"x": f"{bits:x}", "X": f"{bits:X}", "o": f"{bits:o}", "u": str(bits)}
            text = forms.get(kind, str(value))
            text = text.rjust(min(int(cut_width[:9]), 2000), "0") if cut_width.isdecimal() else text
            if "#" in flags and value:
                text = {"x": "0x", "X": "0X", "o": "0"}.get(kind, "") + text
            if kind in "di" and value >= 0:
                text = ("+" if "+" in flags else " " if " " in flags else "") + text
        else:
            raise SqlError(2786, len(values) - len(remaining_values))
        size = int(width[:9]) if width.isdecimal() else 0
        size = min(size, 2000)
        flags = match["flags"]
        return text.ljust(size) if "-" in flags else text.rjust(size, "0" if "0" in flags else " ")

    bad = re.search(
        r"%(?![-+0 #]*+(?:\d++|\*)?(?:\.(?:\d++|\*))?(?:l|h|I64)?[sdiuxXo]|%)\S?\S?", text.replace("%%", "")
    )
    if bad:
        raise SqlError(2787, bad.group())
    return re.sub(
        r"%%|%(?P<flags>[-+0 #]*+)(?P<width>\d++|\*)?(?:\.(?P<cut>\d++|\*))?(?:l|h|I64)?(?P<kind>[sdiuxXo])",
        fill,
        text,
    )


def _evaluate_trim(mode: Scalar, value: Scalar, characters: Scalar) -> str:
    """Remove *characters* from the start (LEADING), the end (TRAILING) or both sides of the text [DOC: TRIM]."""
    text, drop = to_text(value), to_text(characters)
    drop += drop.swapcase()
    text = text if mode == "TRAILING" else text.lstrip(drop)
    return text if mode == "LEADING" else text.rstrip(drop)


def _evaluate_translate(value: Scalar, characters: Scalar, translations: Scalar) -> str:
    """Evaluate TRANSLATE: replace each character by its counterpart. Raises 9828 if the lengths differ."""
    old, new = to_text(characters), to_text(translations)
    if len(old) != len(new):
        raise SqlError(9828)
    table: dict[int, str] = {}
    for letter, target in zip(old, new, strict=True):
        for case in (letter, letter.swapcase()):
            if len(case) == 1:
                table.setdefault(ord(case), target)
    return to_text(value).translate(table)


def _check_row_limit(count: Scalar) -> Scalar:
    """Return the row count of TOP. Raises 1014 for NULL, 127 for a negative number [DOC: TOP]."""
    if count is None:
        raise SqlError(1014)
    if to_integer(count) < 0:
        raise SqlError(127)
    return count


def _check_fetch_count(count: Scalar) -> Scalar:
    """Return the row count of FETCH. Raises 1014 for NULL, 10744 if it is not positive."""
    if count is None:
        raise SqlError(1014)
    if to_integer(count) < 1:
        raise SqlError(10744)
    return count


def _check_row_offset(count: Scalar) -> Scalar:
    """Return the row count of OFFSET. Raises 10742 for a negative number [DOC: ORDER BY]."""
    if count is not None and to_integer(count) < 0:
        raise SqlError(10742)
    return count


def _build_greatest_or_least(sign: int) -> Callable[..., Scalar]:
    """Build GREATEST (1) or LEAST (-1) for values of the same type. NULL is ignored [DOC: GREATEST]."""

    def find(initial: Scalar, *others: Scalar) -> Scalar:
        current_value = initial
        for value in others:
            if value is not None and (
                current_value is None or _compare_values(value, current_value) * sign > 0
            ):
                current_value = value
        return current_value

    return find


def _compare_values(a: Scalar, b: Scalar) -> float:
    return compare_texts(a, b) if isinstance(a, str) and isinstance(b, str) else to_number(a) - to_number(b)


FUNCTIONS: Final[dict[str, Callable[..., Scalar]]] = {
    **dates.PURE_FUNCTIONS,
    **formats.FUNCTIONS,
    **operators.FUNCTIONS,
    **xpath.FUNCTIONS,
    **json_values.FUNCTIONS,
    "unpacked": _unpack_value,
    "row_limit": _check_row_limit,
    "fetch_count": _check_fetch_count,
    "row_offset": _check_row_offset,
    "greatest": _build_greatest_or_least(1),
    "least": _build_greatest_or_least(-1),
    "decimal_text": format_decimal,
    "isnull": _evaluate_isnull,
    "iif": lambda condition, yes, no: yes if condition else no,
    "choose": _evaluate_choose,
    "len": propagate_null(
        lambda v: len(v) if isinstance(v, bytes) else count_code_units(to_text(v).rstrip(" "))
    ),
    "datalength": evaluate_datalength,
    "top_percent": _compute_top_percent,
    "recursion": _check_recursion,
    "left": _evaluate_left,
    "right": _evaluate_right,
    "substring": _evaluate_substring,
    "charindex": _evaluate_charindex,
    "charindex_exact": _evaluate_charindex_exact,
    "like_exact": evaluate_like_exact,
    "patindex": evaluate_patindex,
    "patindex_exact": evaluate_patindex_exact,
    "replace": _evaluate_replace,
    "replace_each": _replace_each,
    "replace_exact": _evaluate_replace_exact,
    "stuff": _evaluate_stuff,
    "replicate": _evaluate_replicate,
    "space": propagate_null(lambda n: " " * min(8000, to_integer(n)) if to_integer(n) >= 0 else None),
    "reverse": propagate_null(lambda value: to_text(value)[::-1]),
    "upper": propagate_null(lambda v: "".join(c.upper() if len(c.upper()) == 1 else c for c in to_text(v))),
    "lower": propagate_null(lambda value: to_text(value).lower()),
    "ltrim": propagate_null(lambda value: to_text(value).lstrip(" ")),
    "rtrim": propagate_null(lambda value: to_text(value).rstrip(" ")),
    "trim": propagate_null(lambda value: to_text(value).strip(" ")),
    "trim_characters": propagate_null(
        lambda side, characters, value: _evaluate_trim(side, value, characters)
    ),
    "trim_of": propagate_null(lambda side, value, characters: _evaluate_trim(side, value, characters)),
    "translate": propagate_null(_evaluate_translate),
    "quotename": _evaluate_quotename,
    "concat": _evaluate_concat,
    "concat_ws": _evaluate_concat_ws,
    "str": _evaluate_str,
    "char": propagate_null(lambda number: chr(to_integer(number)) if 0 <= to_integer(number) < 256 else None),
    "nchar": propagate_null(
        lambda number: chr(to_integer(number)) if 0 < to_integer(number) < 0xD800 else None
    ),
    "ascii": propagate_null(lambda value: encode_code_page(to_text(value)[0])[0] if to_text(value) else None),
    "unicode": propagate_null(
        lambda value: _read_first_code_unit(to_text(value)) if to_text(value) else None
    ),
    "parsename": _evaluate_parsename,
    "isnumeric": _evaluate_isnumeric,
    "sql_variant_property": _evaluate_variant_property,
    "checksum": _evaluate_checksum,
    "binary_checksum": _evaluate_checksum,
    "fn_varbintohexstr": propagate_null(lambda value: to_text(value).lower()),
}
"""T-SQL functions that depend only on their arguments, by name."""

FUNCTIONS_WITH_CULTURE: Final[dict[str, Callable[..., Scalar]]] = {
    **dates.CULTURE_FUNCTIONS,
    "at_time_zone": dates.evaluate_at_time_zone,
    "convert": _evaluate_convert,
    "try_convert": _evaluate_try_convert,
    "parse": formats.evaluate_parse,
    "try_parse": formats.evaluate_try_parse,
    "text": _convert_to_text,
}
"""T-SQL functions whose first argument is the culture of the session, by name."""


_UNSIMULATED_TEXT: Final = """
crypt_gen_random
cert_id certencoded certprivatekey context_info
current_request_id current_timezone decryptbycert decryptbykey encryptbycert encryptbykey
encryptbypassphrase filegroup_id filegroupproperty fulltextcatalogproperty fulltextserviceproperty
getansinull index_col indexkey_property is_objectsigned
key_guid key_id min_active_rowversion openxml permissions publishingservername pwdcompare pwdencrypt
rowcount_big textptr textvalid
try_cast typeproperty grouping grouping_id checksum_agg
percentile_cont percentile_disc fn_listextendedproperty rollup cube grouping grouping_id
compress decompress datediff_big session_context
approx_percentile_cont approx_percentile_disc current_timezone_id fn_hadr_distributed_ag_replica
fn_hadr_distributed_ag_database_replica
"""
INTERNAL_FUNCTIONS: Final = frozenset(
    {
        "add", "sub", "mul", "div", "mod", "xor", "text", "decimal_text", "top_percent", "recursion", "pasted",
        "joined", "operate", "negated", "inverted", "charindex_exact", "like_exact", "patindex_exact", "replace_exact",
        "file_found", "first_result_rows", "xe_events", "object_permissions", "pack", "row_limit", "unpacked",
        "fetch_count", "row_offset",
        "json_modify_raw", "open_json",
        "number_series", "split_string", "open_json_rows", "json_field", "json_fragment", "json_literal",
        "json_object_of",
        "json_levels", "json_rows", *xpath.FUNCTIONS,
    }
)  # fmt: skip
"""Functions that only translated queries call; T-SQL does not have them."""

UNSIMULATED_FUNCTIONS: Final = frozenset(_UNSIMULATED_TEXT.split())
"""Functions of SQL Server that are not simulated. Documented [DOC: functions]."""

_NAMES_BY_VERSION: Final = {
    2008: "crypt_gen_random sysdatetime sysutcdatetime sysdatetimeoffset switchoffset todatetimeoffset",
    2012: """fn_hadr_backup_is_preferred_replica iif choose concat try_cast try_convert parse try_parse
        next_value_for format eomonth datefromparts datetimefromparts datetime2fromparts
        smalldatetimefromparts timefromparts datetimeoffsetfromparts lag lead first_value last_value
        percent_rank cume_dist percentile_cont percentile_disc""",
    2014: "fn_hadr_is_primary_replica",
    2016: """compress decompress datediff_big isjson json_modify json_query json_value session_context
        string_escape fn_hadr_distributed_ag_replica fn_hadr_distributed_ag_database_replica at_time_zone""",
    2017: "concat_ws string_agg translate trim trim_characters",
    2019: "current_timezone",
    2022: """date_bucket datetrunc greatest least trim_of bit_count json_path_exists get_bit set_bit
        left_shift right_shift approx_percentile_cont approx_percentile_disc current_timezone_id""",
}
FUNCTION_VERSIONS: Final = {
    name: version for version, names in _NAMES_BY_VERSION.items() for name in names.split()
}
"""Function introduced after 2005 -> version that introduced it. Documented [DOC: functions]."""


@lru_cache(maxsize=512)
def get_arity(function: Callable[..., object], takes_context: bool) -> tuple[int, int]:
    """Return the minimum and maximum number of arguments. The maximum is -1 if there is no limit.

    *takes_context*: the first parameter is a context, which does not count.
    """
    parameters = list(inspect.signature(function).parameters.values())[int(takes_context) :]
    arguments_min = sum(p.default is p.empty and p.kind is not p.VAR_POSITIONAL for p in parameters)
    endless = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    return arguments_min, -1 if endless else len(parameters)


def check_arity(name: str, function: Callable[..., object], takes_context: bool, argument_count: int) -> None:
    """Raise 174 or 189 for a wrong number of arguments."""
    arguments_min, arguments_max = get_arity(function, takes_context)
    if argument_count < arguments_min or (arguments_max >= 0 and argument_count > arguments_max):
        if arguments_min == arguments_max:
            raise SqlError(174, name, arguments_min)
        raise SqlError(189, name, arguments_min, arguments_max if arguments_max >= 0 else 254)
