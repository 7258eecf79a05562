"""Functions of dates: DATEADD, DATEDIFF, DATEPART, DATENAME …"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from engine import moments
from engine.messages import SqlError
from engine.tsql.values import MARK, Scalar, parse_moment, stamp, strict, to_number, to_text, whole

_PARTS: Final = {
    "year": "year", "yy": "year", "yyyy": "year", "quarter": "quarter", "qq": "quarter", "q": "quarter",
    "month": "month", "mm": "month", "m": "month", "dayofyear": "dayofyear", "dy": "dayofyear", "y": "dayofyear",
    "day": "day", "dd": "day", "d": "day", "week": "week", "wk": "week", "ww": "week", "weekday": "weekday",
    "dw": "weekday", "w": "weekday", "hour": "hour", "hh": "hour", "minute": "minute", "mi": "minute",
    "n": "minute", "second": "second", "ss": "second", "s": "second", "millisecond": "millisecond",
    "ms": "millisecond", "microsecond": "microsecond", "mcs": "microsecond", "nanosecond": "nanosecond",
    "ns": "nanosecond", "iso_week": "iso_week", "isowk": "iso_week", "isoww": "iso_week", "tzoffset": "tzoffset",
    "tz": "tzoffset",
}  # fmt: skip
_MONTHS: Final = {"year": 12, "quarter": 3, "month": 1}
_STEP: Final = {
    "week": timedelta(weeks=1), "day": timedelta(days=1), "dayofyear": timedelta(days=1),
    "weekday": timedelta(days=1), "hour": timedelta(hours=1), "minute": timedelta(minutes=1),
    "second": timedelta(seconds=1), "millisecond": timedelta(milliseconds=1),
    "microsecond": timedelta(microseconds=1),
}  # fmt: skip


def _part(name: Scalar) -> str:
    part = _PARTS.get(to_text(name).lower())
    if part is None:
        raise SqlError(155, to_text(name), "datepart")
    return part


def dateadd(name: Scalar, count: Scalar, value: Scalar) -> Scalar:
    part = _part(name)
    if count is None or value is None:
        return None
    moment, steps = parse_moment(value), int(to_number(count, "float"))
    try:
        if part in _STEP:
            return stamp(moment + steps * _STEP[part])
        if part not in _MONTHS:
            raise SqlError(9810, part, "dateadd", "datetime")
        months = moment.month - 1 + steps * _MONTHS[part]
        year, month = moment.year + months // 12, months % 12 + 1
        last = (datetime(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)).day
        return stamp(moment.replace(year=year, month=month, day=min(moment.day, last)))
    except (OverflowError, ValueError):
        raise SqlError(517, "datetime") from None


def datediff(name: Scalar, start: Scalar, end: Scalar) -> Scalar:
    """Boundaries of the part that are crossed. Documented [DOC: DATEDIFF]."""
    part = _part(name)
    if start is None or end is None:
        return None
    a, b = parse_moment(start), parse_moment(end)
    if part in _MONTHS:
        size = _MONTHS[part]
        return (b.year * 12 + b.month - 1) // size - (a.year * 12 + a.month - 1) // size
    if part == "week":
        return (b.toordinal()) // 7 - a.toordinal() // 7
    if part == "nanosecond":
        return 1000 * int(to_number(datediff("microsecond", start, end)))
    if part not in _STEP:
        raise SqlError(9810, part, "datediff", "datetime")
    step = _STEP[part]
    origin = datetime(1, 1, 1)
    count = (b - origin) // step - (a - origin) // step
    if part not in ("microsecond",) and not -(2**31) <= count < 2**31:
        raise SqlError(535)
    return count


def datepart(name: Scalar, value: Scalar) -> Scalar:
    part = _part(name)
    if value is None:
        return None
    moment = parse_moment(value)
    computed = {
        "quarter": (moment.month + 2) // 3,
        "dayofyear": moment.timetuple().tm_yday,
        "week": (moment.timetuple().tm_yday + 5 - moment.isoweekday() % 7) // 7 + 1,
        "weekday": moment.isoweekday() % 7 + 1,
        "millisecond": moment.microsecond // 1000,
        "nanosecond": moment.microsecond * 1000,
        "iso_week": moment.isocalendar().week,
        "tzoffset": 0,
    }
    return computed[part] if part in computed else int(getattr(moment, part))


def datename(name: Scalar, value: Scalar) -> Scalar:
    part = _part(name)
    if value is None:
        return None
    if part in ("month", "weekday"):
        return moments.written(parse_moment(value), "%B" if part == "month" else "%A")
    return to_text(datepart(name, value))


def eomonth(value: Scalar, months: Scalar = 0) -> Scalar:
    """The last day of the month, as a date."""
    if value is None:
        return None
    first = parse_moment(dateadd("month", months or 0, value)).replace(day=1)
    return MARK + (parse_moment(dateadd("month", 1, stamp(first))) - timedelta(days=1)).date().isoformat()


@strict
def agent_datetime(day: Scalar, clock: Scalar) -> Scalar:
    return stamp(parse_moment(f"{whole(day):08d}") + _clock(whole(clock)))


def _clock(number: int) -> timedelta:
    return timedelta(hours=number // 10000, minutes=number // 100 % 100, seconds=number % 100)


@strict
def datefromparts(year: Scalar, month: Scalar, day: Scalar) -> Scalar:
    return MARK + f"{whole(year):04d}-{whole(month):02d}-{whole(day):02d}"


@strict
def isdate(value: Scalar) -> Scalar:
    try:
        parse_moment(value)
    except SqlError:
        return 0
    return int(isinstance(value, str) and bool(value.strip()))


FUNCTIONS: Final[dict[str, Callable[..., Scalar]]] = {
    "dateadd": dateadd,
    "datediff": datediff,
    "datediff_big": datediff,
    "datepart": datepart,
    "datename": datename,
    "eomonth": eomonth,
    "datefromparts": datefromparts,
    "isdate": isdate,
    "year": lambda value: datepart("year", value),
    "month": lambda value: datepart("month", value),
    "day": lambda value: datepart("day", value),
    "agent_datetime": agent_datetime,
}
"""By the name that T-SQL has for them."""
