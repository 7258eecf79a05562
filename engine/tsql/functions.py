"""Scalar functions of T-SQL, as SQLite calls them: `LEN(x)` in a query is `t_len(x)` there."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

from engine import arithmetic
from engine.messages import SqlError
from engine.tsql import dates, more_functions, xmltext
from engine.tsql.like import patindex
from engine.tsql.values import (
    MARK,
    TEXT_LIMIT,
    Scalar,
    comparable,
    convert,
    decimal_text,
    is_moment,
    parse_moment,
    stamp,
    strict,
    to_number,
    to_text,
    whole,
)

# --- operators ------------------------------------------------------------------------------------------


def _add(a: Scalar, b: Scalar) -> Scalar:
    if a is None or b is None:
        return None
    if is_moment(a) or is_moment(b):
        return stamp(parse_moment(a) + (parse_moment(b) - datetime(1900, 1, 1)))
    if isinstance(a, str) and isinstance(b, str):
        return (a + b)[:TEXT_LIMIT]
    return _checked(_number(a, b) + _number(b, a))


def _sum(first: Scalar, *others: Scalar) -> Scalar:
    """a + b + c, from left to right."""
    total = first
    for value in others:
        total = _add(total, value)
    return total


def _sub(a: Scalar, b: Scalar) -> Scalar:
    if a is None or b is None:
        return None
    if is_moment(a) or is_moment(b):
        return stamp(parse_moment(a) - (parse_moment(b) - datetime(1900, 1, 1)))
    return _checked(_number(a, b) - _number(b, a))


def _mul(a: Scalar, b: Scalar) -> Scalar:
    return None if a is None or b is None else _checked(_number(a, b) * _number(b, a))


def _div(a: Scalar, b: Scalar) -> Scalar:
    if a is None or b is None:
        return None
    left, right = _number(a, b), _number(b, a)
    if right == 0:
        raise SqlError(8134)
    if isinstance(left, int) and isinstance(right, int):
        whole = abs(left) // abs(right)
        return whole if (left < 0) == (right < 0) else -whole
    return left / right


def _mod(a: Scalar, b: Scalar) -> Scalar:
    if a is None or b is None:
        return None
    left, right = _number(a, b), _number(b, a)
    if right == 0:
        raise SqlError(8134)
    rest = abs(left) % abs(right)
    return rest if left >= 0 else -rest


def _xor(a: Scalar, b: Scalar) -> Scalar:
    return None if a is None or b is None else int(to_number(a)) ^ int(to_number(b))


def _number(value: Scalar, other: Scalar) -> int | float:
    return to_number(value, "numeric" if isinstance(other, float) else "int")


def _checked(number: int | float) -> int | float:
    if isinstance(number, int) and not -(2**63) <= number < 2**63:
        raise SqlError(8115, "expression", "bigint")
    return number


# --- text -----------------------------------------------------------------------------------------------


@strict
def _left(text: Scalar, count: Scalar) -> Scalar:
    if whole(count) < 0:
        raise SqlError(537)
    return to_text(text)[: whole(count)]


@strict
def _right(text: Scalar, count: Scalar) -> Scalar:
    if whole(count) < 0:
        raise SqlError(536, "RIGHT")
    return to_text(text)[-whole(count) :] if whole(count) else ""


@strict
def _substring(text: Scalar, start: Scalar, length: Scalar) -> Scalar:
    if whole(length) < 0:
        raise SqlError(537)
    first = whole(start) - 1
    return to_text(text)[max(0, first) : max(0, first + whole(length))]


@strict
def _charindex(part: Scalar, text: Scalar, start: Scalar = 1) -> Scalar:
    return to_text(text).casefold().find(to_text(part).casefold(), max(0, whole(start) - 1)) + 1


@strict
def _replace(text: Scalar, old: Scalar, new: Scalar) -> Scalar:
    if not to_text(old):
        return to_text(text)
    by = to_text(new)
    most = TEXT_LIMIT // max(1, len(by)) + 1  # what comes after these is cut off anyway
    template = by.replace("\\", r"\\")  # a text: a function would be called a million times
    return re.sub(re.escape(to_text(old)), template, to_text(text), count=most, flags=re.IGNORECASE)[
        :TEXT_LIMIT
    ]


def _stuff(text: Scalar, start: Scalar, length: Scalar, new: Scalar) -> Scalar:
    if text is None or start is None or length is None:
        return None
    body, first, count = to_text(text), whole(start) - 1, whole(length)
    if first < 0 or first >= len(body) or count < 0:
        return None
    return body[:first] + to_text(new) + body[first + count :]


@strict
def _replicate(text: Scalar, count: Scalar) -> Scalar:
    """Cut at 8,000 bytes, as the product does for varchar. Documented [DOC: REPLICATE]."""
    body = to_text(text)
    if whole(count) < 0:
        return None
    return (body * min(whole(count), 8000 // max(1, len(body)) + 1))[:8000]


@strict
def _quotename(text: Scalar, quote: Scalar = "[") -> Scalar:
    pairs = {"[": "[]", "]": "[]", "'": "''", '"': '""', "(": "()", ")": "()", "{": "{}", "}": "{}"}
    pair = pairs.get(to_text(quote)[:1])
    if pair is None or len(to_text(text)) > 128:
        return None
    return pair[0] + to_text(text).replace(pair[1], pair[1] * 2) + pair[1]


def _concat(*values: Scalar) -> Scalar:
    return "".join(to_text(value) for value in values)[:TEXT_LIMIT]


@strict
def _str(number: Scalar, length: Scalar = 10, decimals: Scalar = 0) -> Scalar:
    text = f"{float(to_number(number, 'float')):.{max(0, min(16, whole(decimals)))}f}"
    size = max(0, min(8000, whole(length)))
    return text.rjust(size) if len(text) <= size else "*" * size


@strict
def _parsename(name: Scalar, piece: Scalar) -> Scalar:
    parts = [part.strip('[]"') for part in to_text(name).split(".")]
    return parts[-whole(piece)] if 0 < whole(piece) <= len(parts) <= 4 else None


def _choose(number: Scalar, *values: Scalar) -> Scalar:
    return values[whole(number) - 1] if number is not None and 0 < whole(number) <= len(values) else None


@strict
def _isnumeric(value: Scalar) -> Scalar:
    try:
        to_number(value, "money")
    except SqlError:
        return 0
    return int(bool(to_text(value).strip()) and not is_moment(value))


# --- everything that needs no connection ----------------------------------------------------------------


def _convert(kind: Scalar, value: Scalar, style: Scalar) -> Scalar:
    return convert(value, to_text(kind), None if style is None else whole(style))


def _try_convert(kind: Scalar, value: Scalar, style: Scalar) -> Scalar:
    try:
        return _convert(kind, value, style)
    except SqlError as problem:
        if problem.number == 2715:
            raise
        return None


def _isnull(value: Scalar, other: Scalar) -> Scalar:
    return other if value is None else value


def _numeric(function: Callable[[float], int | float]) -> Callable[[Scalar], Scalar]:
    return strict(lambda value: function(to_number(value, "float")))


@strict
def _round(value: Scalar, places: Scalar, cut: Scalar = 0) -> Scalar:
    number, digits = to_number(value, "float"), max(-18, min(18, whole(places)))
    if whole(cut):
        factor = float(f"1e{digits}")
        return type(number)(int(number * factor) / factor)
    rounded = round(abs(number) + 1e-12, digits) if digits < 15 else abs(number)
    return type(number)(rounded if number >= 0 else -rounded)


def _power(base: Scalar, exponent: Scalar) -> Scalar:
    if base is None or exponent is None:
        return None
    number = to_number(base, "float")
    try:
        return type(number)(arithmetic.power(float(number), float(to_number(exponent, "float"))))
    except (OverflowError, ZeroDivisionError, TypeError):
        raise SqlError(8115, "expression", "float") from None


def _checksum(*values: Scalar) -> Scalar:
    number = 0
    for value in values:
        for char in comparable(to_text(value)):
            number = (number * 31 + ord(char)) & 0xFFFFFFFF
    return number - 2**32 if number >= 2**31 else number


def _round_up(value: float) -> int | float:
    return -int(-value // 1)


def format_message(text: str, values: tuple[Scalar, ...]) -> str:
    """The text of RAISERROR with its %d, %s, %u, %x filled in. Raises 2787 or 2748."""
    left = list(values)

    def fill(match: re.Match[str]) -> str:
        if match.group() == "%%":
            return "%"
        width = match["width"]
        if width == "*":
            width = to_text(left.pop(0)) if left else ""
        value = left.pop(0) if left else None
        if value is None:
            return "(null)"
        if match["kind"] == "s":
            shown = to_text(value)
        elif isinstance(value, int):
            shown = {"x": f"{value:x}", "X": f"{value:X}", "o": f"{value:o}"}.get(match["kind"], str(value))
        else:
            raise SqlError(2786, len(values) - len(left))
        size = int(width[:9]) if width and width.isdecimal() else 0
        size = min(size, 2000)
        filled = (
            shown.ljust(size)
            if "-" in match["flags"]
            else shown.rjust(size, "0" if "0" in match["flags"] else " ")
        )
        return filled[: int(match["cut"][:9])] if match["cut"] else filled

    bad = re.search(r"%(?![-+0 #]*+(?:\d++|\*)?(?:\.\d++)?(?:l|h|I64)?[sdiuxXo]|%)\S?\S?", text)
    if bad:
        raise SqlError(2787, bad.group())
    return re.sub(
        r"%%|%(?P<flags>[-+0 #]*+)(?P<width>\d++|\*)?(?:\.(?P<cut>\d++))?(?:l|h|I64)?(?P<kind>[sdiuxXo])",
        fill,
        text,
    )


FUNCTIONS: Final[dict[str, Callable[..., Scalar]]] = {
    **dates.FUNCTIONS,
    **more_functions.FUNCTIONS,
    **xmltext.FUNCTIONS,
    "add": _sum,
    "sub": _sub,
    "mul": _mul,
    "div": _div,
    "mod": _mod,
    "xor": _xor,
    "convert": _convert,
    "try_convert": _try_convert,
    "text": lambda value: None if value is None else to_text(value),
    "decimal_text": decimal_text,
    "isnull": _isnull,
    "iif": lambda condition, yes, no: yes if condition else no,
    "choose": _choose,
    "len": strict(lambda value: len(to_text(value).rstrip(" "))),
    "datalength": strict(lambda value: _datalength(value)),
    "left": _left,
    "right": _right,
    "substring": _substring,
    "charindex": _charindex,
    "patindex": patindex,
    "replace": _replace,
    "stuff": _stuff,
    "replicate": _replicate,
    "space": strict(lambda count: " " * min(8000, max(0, whole(count)))),
    "reverse": strict(lambda value: to_text(value)[::-1]),
    "upper": strict(lambda value: to_text(value).upper()),
    "lower": strict(lambda value: to_text(value).lower()),
    "ltrim": strict(lambda value: to_text(value).lstrip(" ")),
    "rtrim": strict(lambda value: to_text(value).rstrip(" ")),
    "trim": strict(lambda value: to_text(value).strip(" ")),
    "quotename": _quotename,
    "concat": _concat,
    "str": _str,
    "char": strict(lambda number: chr(whole(number)) if 0 <= whole(number) < 256 else None),
    "nchar": strict(lambda number: chr(whole(number)) if 0 < whole(number) < 0xD800 else None),
    "ascii": strict(lambda value: ord(to_text(value)[0]) if to_text(value) else None),
    "unicode": strict(lambda value: ord(to_text(value)[0]) if to_text(value) else None),
    "parsename": _parsename,
    "isnumeric": _isnumeric,
    "abs": _numeric(abs),
    "sign": _numeric(lambda value: (value > 0) - (value < 0)),
    "floor": _numeric(lambda value: int(value // 1)),
    "ceiling": _numeric(_round_up),
    "sqrt": _numeric(lambda value: math.sqrt(value) if value >= 0 else _invalid()),
    "square": _numeric(lambda value: value * value),
    "round": _round,
    "power": _power,
    "checksum": _checksum,
    "binary_checksum": _checksum,
    "fn_varbintohexstr": strict(lambda value: to_text(value).lower()),
}
"""Functions of their arguments alone."""


_KNOWN: Final = """
object_definition col_length atn2 cert_id certencoded certprivatekey col_name columnproperty context_info
cot current_request_id current_timezone decryptbycert decryptbykey difference encryptbycert encryptbykey
encryptbypassphrase filegroup_id filegroupproperty fulltextcatalogproperty fulltextserviceproperty
getansinull ident_current ident_incr ident_seed index_col indexkey_property indexproperty is_objectsigned
key_guid key_id min_active_rowversion openxml parse permissions publishingservername pwdcompare pwdencrypt
rowcount_big sql_variant_property stats_date switchoffset textptr textvalid timefromparts todatetimeoffset
try_cast try_parse typeproperty var varp stdevp grouping grouping_id checksum_agg datetime2fromparts
cume_dist percent_rank percentile_cont percentile_disc fn_listextendedproperty
"""
KNOWN: Final = frozenset(_KNOWN.split())
"""Functions that the product has and that are not simulated. Documented [DOC: functions]."""

SINCE: Final = {
    "iif": 2012,
    "choose": 2012,
    "concat": 2012,
    "try_convert": 2012,
    "sysdatetime": 2008,
    "sysutcdatetime": 2008,
    "sysdatetimeoffset": 2008,
    "trim": 2017,
    "format": 2012,
    "eomonth": 2012,
    "datefromparts": 2012,
    "datetimefromparts": 2012,
}
"""Functions that came later than 2005. Documented [DOC: functions]."""


def _invalid() -> float:
    raise SqlError(3623)


def _datalength(value: Scalar) -> int:
    if isinstance(value, bytes):
        return len(value)
    if isinstance(value, str):
        return 8 if value.startswith(MARK) else 2 * len(value)
    return 4 if isinstance(value, int) and abs(value) < 2**31 else 8


@lru_cache(maxsize=512)
def arity(function: Callable[..., Any], bound: bool) -> tuple[int, int]:
    """Least and most arguments of a function, without the context if it is *bound* to one; -1 for any number."""
    parameters = list(inspect.signature(function).parameters.values())[int(bound) :]
    least = sum(p.default is p.empty and p.kind is not p.VAR_POSITIONAL for p in parameters)
    endless = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    return least, -1 if endless else len(parameters)


def check_arity(name: str, function: Callable[..., Any], bound: bool, given: int) -> None:
    """Raises 174 or 189 for a wrong number of arguments."""
    least, most = arity(function, bound)
    if given < least or (most >= 0 and given > most):
        if least == most:
            raise SqlError(174, name, least)
        raise SqlError(189, name, least, most if most >= 0 else 254)
