"""Date functions of T-SQL: DATEADD, DATEDIFF, DATEPART, DATENAME, AT TIME ZONE and others."""

import re
from collections.abc import Callable
from datetime import date, datetime, timedelta, tzinfo
from functools import cache
from importlib import resources
from typing import Final
from zoneinfo import ZoneInfo

from engine.messages import SqlError
from engine.tables import read_table
from engine.tsql.scalars import date_values
from engine.tsql.scalars.date_values import TICKS_PER_DAY, TICKS_PER_S, Culture, DateTimeValue
from engine.tsql.scalars.types import DATETIME, INT_RANGES, OLD_DATE_TIME_TYPES, SqlType, parse_sql_type
from engine.tsql.scalars.values import (
    STORED_DATE_MARK,
    Scalar,
    convert_to_date,
    convert_to_datetime,
    is_stored_date,
    propagate_null,
    store_converted_date,
    store_date,
    store_datetime,
    to_integer,
    to_number,
    to_text,
)

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
_PART_MONTHS: Final = {"year": 12, "quarter": 3, "month": 1}
_PART_TICKS: Final = {
    "week": 7 * TICKS_PER_DAY,
    "day": TICKS_PER_DAY,
    "dayofyear": TICKS_PER_DAY,
    "weekday": TICKS_PER_DAY,
    "hour": 3600 * TICKS_PER_S,
    "minute": 60 * TICKS_PER_S,
    "second": TICKS_PER_S,
    "millisecond": 10_000,
    "microsecond": 10,
}
"""Date part of constant length -> its length in ticks of 100 ns."""
_TIME_PARTS: Final = frozenset({"hour", "minute", "second", "millisecond", "microsecond", "nanosecond"})
"""Date parts that belong to the time of day. A value of the type date does not have them."""


def _parse_part(name: Scalar, function: str = "datepart") -> str:
    part = _PARTS.get(to_text(name).lower())
    if part is None:
        raise SqlError(155, to_text(name), function)
    return part


def _get_kind(value: Scalar, kind: Scalar = "") -> SqlType:
    """Return the type of *value*: the type in *kind*, else the type of its stored form, else datetime."""
    if kind:
        sql_type = parse_sql_type(str(kind))
        return sql_type if sql_type.is_date_time else DATETIME
    return date_values.get_stored_type(str(value)) if is_stored_date(value) else DATETIME


def _check_part(part: str, kind: SqlType, function: str) -> None:
    """Raise 9810 if values of the type *kind* do not have the date part."""
    is_valid = kind.name not in OLD_DATE_TIME_TYPES or part not in ("microsecond", "nanosecond")
    if (kind.name == "date" and part in _TIME_PARTS) or (kind.name == "time" and part not in _TIME_PARTS):
        is_valid = False
    if function == "datepart":
        is_valid = is_valid or kind.name in OLD_DATE_TIME_TYPES
    if not is_valid and not (kind.name in OLD_DATE_TIME_TYPES and function == "dateadd"):
        raise SqlError(9810, part, function, kind.name)


def evaluate_dateadd(
    culture: Culture, name: Scalar, count: Scalar, value: Scalar, kind: Scalar = ""
) -> Scalar:
    """Evaluate DATEADD. Raises 517 if the result is outside the range of the type."""
    part = _parse_part(name, "dateadd")
    if count is None or value is None:
        return None
    type_ = _get_kind(value, kind)
    _check_part(part, type_, "dateadd")
    if not INT_RANGES["int"][0] <= to_number(count, "float") <= INT_RANGES["int"][1]:
        raise SqlError(8115, "expression", "int")
    moment, steps = convert_to_date(value, type_, culture), int(to_number(count, "float"))
    if part in _PART_TICKS or part == "nanosecond":
        ticks = steps // 100 if part == "nanosecond" else steps * _PART_TICKS[part]
        total = moment.total + ticks
        if type_.name == "time":
            return store_date(
                date_values.convert_to_date_type(DateTimeValue(moment.day, total % TICKS_PER_DAY), type_),
                type_,
            )
        return _store_in_range(total, moment.offset, type_)
    if part not in _PART_MONTHS:
        raise SqlError(9810, part, "dateadd", type_.name)
    moved_date = _add_months(moment.date, steps * _PART_MONTHS[part], type_)
    return _store_in_range(moved_date.toordinal() * TICKS_PER_DAY + moment.ticks, moment.offset, type_)


def _add_months(day: date, count: int, kind: SqlType) -> date:
    """Return the day *count* months later.

    If this day does not exist, return the last day of its month. Raises 517 if the year is outside 1
    to 9999.
    """
    months = day.month - 1 + count
    year, month = day.year + months // 12, months % 12 + 1
    if not 1 <= year <= 9999:
        raise SqlError(517, kind.name)
    return date(year, month, min(day.day, _get_last_day(year, month)))


_PARTS_WITHOUT_TRUNCATION: Final = frozenset({"weekday", "tzoffset", "nanosecond"})
"""Date parts that DATETRUNC does not support. Documented [DOC: DATETRUNC]."""
_PART_DIGITS: Final = {"millisecond": 3, "microsecond": 6}
"""Date part -> fractional digits that the type of the value must have. Documented [DOC: DATETRUNC]."""


def evaluate_datetrunc(culture: Culture, name: Scalar, value: Scalar, kind: Scalar = "") -> Scalar:
    """Evaluate DATETRUNC: the start of the date part, in the type of the value. Raises 9810 or 9837."""
    part = _parse_part(name, "datetrunc")
    if value is None:
        return None
    type_ = _get_kind(value, kind)
    digits = type_.scale if type_.name not in OLD_DATE_TIME_TYPES else 3
    if part in _PARTS_WITHOUT_TRUNCATION or _PART_DIGITS.get(part, 0) > digits:
        raise SqlError(9810, part, "datetrunc", type_.name)
    _check_part(part, type_, "datetrunc")
    moment = convert_to_date(value, type_, culture)
    day = moment.date
    if part in _TIME_PARTS:
        return _store_in_range(
            moment.day * TICKS_PER_DAY + moment.ticks - moment.ticks % _PART_TICKS[part], moment.offset, type_
        )
    if part in _PART_MONTHS:
        day = day.replace(month=day.month - (day.month - 1) % _PART_MONTHS[part], day=1)
    elif part in ("week", "iso_week"):
        first_datefirst = culture.datefirst if part == "week" else 1
        days_back = (day.isoweekday() - first_datefirst) % 7
        if day.toordinal() - days_back < date_values.FIRST_DAYS.get(type_.name, 1):
            raise SqlError(9837)
        day -= timedelta(days=days_back)
    return _store_in_range(day.toordinal() * TICKS_PER_DAY, moment.offset, type_)


_BUCKET_PARTS: Final = frozenset({*_PART_MONTHS, *_PART_TICKS} - {"microsecond"})
"""Date parts that DATE_BUCKET supports. Documented [DOC: DATE_BUCKET]."""


def evaluate_date_bucket(
    culture: Culture, name: Scalar, width: Scalar, value: Scalar, origin: Scalar = None, kind: Scalar = ""
) -> Scalar:
    """Evaluate DATE_BUCKET: the start of the bucket that contains the value. Raises 9810 or 9834."""
    part = _parse_part(name, "date_bucket")
    if width is None or value is None:
        return None
    type_ = _get_kind(value, kind)
    if part not in _BUCKET_PARTS:
        raise SqlError(9810, part, "date_bucket", type_.name)
    _check_part(part, type_, "date_bucket")
    if to_integer(width) > INT_RANGES["int"][1]:
        raise SqlError(8115, "expression", "int")
    if to_integer(width) <= 0:
        raise SqlError(9834, "date_bucket")
    moment = convert_to_date(value, type_, culture)
    first_moment = convert_to_date("1900-01-01" if origin is None else origin, type_, culture)
    if part in _PART_TICKS:
        step = _PART_TICKS[part] * to_integer(width)
        total = moment.total - (moment.total - first_moment.total) % step
        if type_.name == "time":
            return store_date(
                date_values.convert_to_date_type(DateTimeValue(moment.day, total % TICKS_PER_DAY), type_),
                type_,
            )
        return _store_in_range(total, moment.offset, type_)
    months = (moment.date.year - first_moment.date.year) * 12 + moment.date.month - first_moment.date.month
    if (
        _add_months(first_moment.date, months, type_).toordinal() * TICKS_PER_DAY + first_moment.ticks
        > moment.total
    ):
        months -= 1
    start = _add_months(first_moment.date, months - months % (_PART_MONTHS[part] * to_integer(width)), type_)
    return _store_in_range(start.toordinal() * TICKS_PER_DAY + first_moment.ticks, moment.offset, type_)


def _get_last_day(year: int, month: int) -> int:
    if (year, month) == (9999, 12):
        return 31
    return (date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)).day


def _store_in_range(total: int, offset: int | None, kind: SqlType) -> str:
    """Return the stored form of a date. Raises 517 if it is outside the range of its type."""
    first_day = date_values.FIRST_DAYS.get(kind.name, 1)
    last_day = date_values.LAST_DAYS.get(kind.name, date_values.LAST_DAY)
    if not first_day * TICKS_PER_DAY <= total < (last_day + 1) * TICKS_PER_DAY:
        raise SqlError(517, kind.name)
    return store_date(
        date_values.convert_to_date_type(date_values.build_from_total(total, offset), kind), kind
    )


def evaluate_datediff(culture: Culture, name: Scalar, start: Scalar, end: Scalar) -> Scalar:
    """Evaluate DATEDIFF: count the boundaries of the date part between *start* and *end*.

    Weeks always begin on Sunday. Documented [DOC: DATEDIFF]. Raises 535 if the count exceeds an int.
    """
    count = evaluate_datediff_big(culture, name, start, end)
    if isinstance(count, int) and not -(2**31) <= count < 2**31:
        raise SqlError(535)
    return count


def evaluate_datediff_big(culture: Culture, name: Scalar, start: Scalar, end: Scalar) -> Scalar:
    """Evaluate DATEDIFF_BIG: DATEDIFF with a bigint result."""
    part = _parse_part(name, "datediff")
    if start is None or end is None:
        return None
    first, second = _convert_difference_end(start, culture), _convert_difference_end(end, culture)
    if part in _PART_MONTHS:
        size, a, b = _PART_MONTHS[part], first.date, second.date
        return (b.year * 12 + b.month - 1) // size - (a.year * 12 + a.month - 1) // size
    if part == "week":
        return second.day // 7 - first.day // 7
    if part == "nanosecond":
        return (second.utc - first.utc) * 100
    if part not in _PART_TICKS:
        raise SqlError(9806, part, "datediff", state=0)
    return second.utc // _PART_TICKS[part] - first.utc // _PART_TICKS[part]


def _convert_difference_end(value: Scalar, culture: Culture) -> DateTimeValue:
    """Convert an argument of DATEDIFF.

    A literal with more digits than datetime allows is a datetime2 [DOC: DATEDIFF].
    """
    if not isinstance(value, str):
        return convert_to_date(value, SqlType("datetimeoffset", scale=7), culture)
    try:
        return convert_to_date(value, DATETIME, culture)
    except SqlError as problem:
        if problem.number != 241:
            raise
        return convert_to_date(value, SqlType("datetime2", scale=7), culture)


def _parse_offset_minutes(zone: Scalar, name: str) -> int:
    """Return the minutes east of UTC for *zone*, a number of minutes or a text such as `+02:00`.

    Raises 9812 for another text, or for more than 14 hours.
    """
    match = re.fullmatch(r"([+-])(\d{2}):(\d{2})", to_text(zone))
    if isinstance(zone, int):
        minutes = zone
    elif match is not None:
        minutes = (int(match[2]) * 60 + int(match[3])) * (-1 if match[1] == "-" else 1)
    else:
        raise SqlError(9812, name)
    if abs(minutes) > 14 * 60:
        raise SqlError(9812, name)
    return minutes


_OFFSET_TYPE_NAME: Final = "datetimeoffset(7)"
_OFFSET_TYPE: Final = parse_sql_type(_OFFSET_TYPE_NAME)


def evaluate_switchoffset(
    culture: Culture, value: Scalar, zone: Scalar, kind: Scalar = _OFFSET_TYPE_NAME
) -> Scalar:
    """Evaluate SWITCHOFFSET: the same time, shown with another offset [DOC: SWITCHOFFSET]."""
    if value is None or zone is None:
        return None
    moment, minutes = (
        convert_to_date(value, _OFFSET_TYPE, culture),
        _parse_offset_minutes(zone, "switchoffset"),
    )
    local = moment.utc + minutes * 60 * TICKS_PER_S
    return store_date(date_values.build_from_total(local, minutes), parse_sql_type(str(kind)))


def evaluate_todatetimeoffset(
    culture: Culture, value: Scalar, zone: Scalar, kind: Scalar = _OFFSET_TYPE_NAME
) -> Scalar:
    """Evaluate TODATETIMEOFFSET: the same local time, with the given offset [DOC: TODATETIMEOFFSET]."""
    if value is None or zone is None:
        return None
    moment = convert_to_date(value, _OFFSET_TYPE, culture)
    return store_date(
        moment._replace(offset=_parse_offset_minutes(zone, "todatetimeoffset")), parse_sql_type(str(kind))
    )


def evaluate_datepart(culture: Culture, name: Scalar, value: Scalar) -> Scalar:
    """Evaluate DATEPART: a date part as a number."""
    part = _parse_part(name)
    if value is None:
        return None
    kind = _get_kind(value)
    _check_part(part, kind, "datepart")
    if part == "tzoffset" and kind.name != "datetimeoffset" and is_stored_date(value):
        raise SqlError(9810, part, "datepart", kind.name)
    moment = convert_to_date(
        value, kind if is_stored_date(value) else SqlType("datetimeoffset", scale=7), culture
    )
    if not is_stored_date(value) and part not in ("tzoffset", "microsecond", "nanosecond"):
        moment = date_values.convert_to_date_type(moment, DATETIME)
    return _compute_part(part, moment, culture)


def _compute_part(part: str, moment: DateTimeValue, culture: Culture) -> int:
    day, seconds, rest_ticks = moment.date, moment.ticks // TICKS_PER_S, moment.ticks % TICKS_PER_S
    weekday = (day.isoweekday() - culture.datefirst) % 7 + 1
    first = (date(day.year, 1, 1).isoweekday() - culture.datefirst) % 7
    return {
        "year": day.year,
        "quarter": (day.month + 2) // 3,
        "month": day.month,
        "day": day.day,
        "dayofyear": day.timetuple().tm_yday,
        "week": (day.timetuple().tm_yday - 1 + first) // 7 + 1,
        "weekday": weekday,
        "hour": seconds // 3600,
        "minute": seconds // 60 % 60,
        "second": seconds % 60,
        "millisecond": rest_ticks // 10_000,
        "microsecond": rest_ticks // 10,
        "nanosecond": rest_ticks * 100,
        "iso_week": day.isocalendar().week,
        "tzoffset": moment.offset or 0,
    }[part]


def evaluate_datename(culture: Culture, name: Scalar, value: Scalar) -> Scalar:
    """Evaluate DATENAME: a date part as text, in the language of the session."""
    part = _parse_part(name, "datename")
    if value is None:
        return None
    number = to_integer(evaluate_datepart(culture, name, value))
    if part == "month":
        return culture.language.months[number - 1]
    if part == "weekday":
        return culture.language.days[(number - 1 + culture.datefirst - 1) % 7]
    if part == "tzoffset":
        return f"{'-' if number < 0 else '+'}{abs(number) // 60:02d}:{abs(number) % 60:02d}"
    return str(number)


def evaluate_eomonth(culture: Culture, value: Scalar, months: Scalar = 0) -> Scalar:
    """Evaluate EOMONTH: the last day of the month, as a date."""
    if value is None:
        return None
    first_moment = store_converted_date(value, "date", culture)
    day = convert_to_date(
        evaluate_dateadd(culture, "month", months or 0, first_moment), SqlType("date"), culture
    ).date
    return STORED_DATE_MARK + day.replace(day=_get_last_day(day.year, day.month)).isoformat()


def evaluate_isdate(culture: Culture, value: Scalar) -> Scalar:
    """Evaluate ISDATE: 1 for a value that converts to datetime. Documented [DOC: ISDATE]."""
    if value is None:
        return 0
    if is_stored_date(value):
        return int(date_values.get_stored_type(str(value)).name in (*OLD_DATE_TIME_TYPES, "date"))
    if not isinstance(value, str):
        value = str(value) if isinstance(value, int) else ""
    try:
        date_values.parse_date(value, DATETIME, culture)
    except SqlError:
        return 0
    return int(bool(value.strip()))


CULTURE_FUNCTIONS: Final[dict[str, Callable[..., Scalar]]] = {
    "dateadd": evaluate_dateadd,
    "datetrunc": evaluate_datetrunc,
    "date_bucket": evaluate_date_bucket,
    "datediff": evaluate_datediff,
    "datediff_big": evaluate_datediff_big,
    "datepart": evaluate_datepart,
    "datename": evaluate_datename,
    "switchoffset": evaluate_switchoffset,
    "todatetimeoffset": evaluate_todatetimeoffset,
    "eomonth": evaluate_eomonth,
    "isdate": evaluate_isdate,
    "year": lambda culture, value: evaluate_datepart(culture, "year", value),
    "month": lambda culture, value: evaluate_datepart(culture, "month", value),
    "day": lambda culture, value: evaluate_datepart(culture, "day", value),
}
"""T-SQL functions that depend on SET LANGUAGE, DATEFORMAT and DATEFIRST, by name. Their first argument is the
culture.
"""


# --- dates from numbers -------------------------------------------------------------------------------------


@propagate_null
def evaluate_agent_datetime(day: Scalar, clock: Scalar) -> Scalar:
    """Evaluate msdb.dbo.agent_datetime: the datetime of a date (yyyymmdd) and a time (hhmmss) as integers."""
    return store_datetime(convert_to_datetime(f"{to_integer(day):08d}") + _parse_clock(to_integer(clock)))


def _parse_clock(number: int) -> timedelta:
    return timedelta(hours=number // 10000, minutes=number // 100 % 100, seconds=number % 100)


def _create_from_parts_function(kind: str) -> Callable[..., Scalar]:
    """Build DATEFROMPARTS or the corresponding function for the type *kind*.

    The function raises 289 for invalid parts.
    """

    def make(*parts: Scalar) -> Scalar:
        scaled = kind in ("datetime2", "time", "datetimeoffset")
        if any(part is None for part in parts):
            return None
        numbers = [to_integer(part) for part in parts]
        scale = numbers.pop() if scaled else 0
        type_ = SqlType(kind, scale=scale)
        try:
            return store_date(
                date_values.convert_to_date_type(_build_from_parts(kind, numbers, scale), type_), type_
            )
        except (ValueError, OverflowError):
            raise SqlError(289, kind) from None

    return make


def _build_from_parts(kind: str, numbers: list[int], scale: int) -> DateTimeValue:
    if not 0 <= scale <= 7:
        raise ValueError
    clock = [0, 0, 0, 0] if kind == "date" else numbers[-4:] if kind == "time" else numbers[3:7]
    clock += [0] * (4 - len(clock))
    hour, minute, second, fraction = clock
    unit = 10_000 if kind == "datetime" else date_values.TICKS_PER_FRACTION_UNIT[scale]
    ticks = (hour * 3600 + minute * 60 + second) * TICKS_PER_S + fraction * unit
    is_valid = 0 <= hour < 24 and 0 <= minute < 60 and 0 <= second < 60 and 0 <= fraction * unit < TICKS_PER_S
    if not is_valid:
        raise ValueError
    day = date_values.EPOCH if kind == "time" else date(*numbers[:3]).toordinal()
    offset = numbers[7] * 60 + numbers[8] if kind == "datetimeoffset" else None
    return DateTimeValue(day, ticks, offset)


def _add_arity_check(function: Callable[..., Scalar], names: str) -> Callable[..., Scalar]:
    """Return the function with a check that raises 174 for a wrong number of arguments.

    *names*: names of the arguments, separated by blanks.
    """
    count = len(names.split())

    def call(*values: Scalar) -> Scalar:
        if len(values) != count:
            raise SqlError(174, "function", count)
        return function(*values)

    return call


PURE_FUNCTIONS: Final[dict[str, Callable[..., Scalar]]] = {
    "datefromparts": _add_arity_check(_create_from_parts_function("date"), "year month day"),
    "datetimefromparts": _add_arity_check(
        _create_from_parts_function("datetime"), "year month day hour minute second ms"
    ),
    "datetime2fromparts": _add_arity_check(
        _create_from_parts_function("datetime2"), "y m d h mi s fraction precision"
    ),
    "smalldatetimefromparts": _add_arity_check(_create_from_parts_function("smalldatetime"), "y m d h mi"),
    "timefromparts": _add_arity_check(_create_from_parts_function("time"), "h mi s fraction precision"),
    "datetimeoffsetfromparts": _add_arity_check(
        _create_from_parts_function("datetimeoffset"), "y m d h mi s fraction hours minutes precision"
    ),
    "agent_datetime": evaluate_agent_datetime,
}
"""T-SQL functions that depend only on their arguments, by name."""


# --- AT TIME ZONE -------------------------------------------------------------------------------------------
# The Windows names of time zones are from the CLDR. The offsets are from the IANA database in the package
# tzdata, never from the operating system, so that all machines give the same result.

_SCALES: Final = {"datetime": 3, "smalldatetime": 0, "date": 0}


@cache
def _read_zone_names() -> dict[str, str]:
    """Return Windows name of a time zone in lowercase -> IANA name."""
    rows = (tuple(row.values()) for row in read_table("engine.tsql.scalars", "time_zones.tsv"))
    return {name.lower(): iana for name, iana in rows}


@cache
def _get_zone(name: str) -> tzinfo:
    """Return the time zone with this Windows name. Raises 9820 for an unknown name."""
    iana = _read_zone_names().get(name.strip().lower())
    if iana is None:
        raise SqlError(9820, name)
    with resources.files("tzdata.zoneinfo").joinpath(iana).open("rb") as file:
        return ZoneInfo.from_file(file, key=iana)


def evaluate_at_time_zone(culture: Culture, value: Scalar, zone: Scalar) -> Scalar:
    """Evaluate AT TIME ZONE. A value without an offset is a local time in the zone [DOC: AT TIME ZONE].

    If clocks change, a local time in the gap moves one hour ahead, and a time in the overlap gets the later
    offset.
    """
    if value is None or zone is None:
        return None
    kind = date_values.get_stored_type(value if isinstance(value, str) else to_text(value))
    own_zone, moment = _get_zone(to_text(zone)), convert_to_date(value, kind, culture)
    rest_ticks = moment.ticks % 10
    local = moment.as_datetime()
    try:
        if kind.name == "datetimeoffset":
            utc = local - timedelta(minutes=moment.offset or 0)
        else:
            later_offset = own_zone.utcoffset(local.replace(tzinfo=own_zone, fold=1)) or timedelta()
            sooner = own_zone.utcoffset(local.replace(tzinfo=own_zone, fold=0)) or timedelta()
            utc = local - min(later_offset, sooner)
        local_time = own_zone.fromutc(utc.replace(tzinfo=own_zone))
    except OverflowError:
        raise SqlError(517, "datetimeoffset") from None
    minutes = int((local_time.utcoffset() or timedelta()).total_seconds() // 60)
    local_moment = date_values.build_from_datetime(datetime.combine(local_time.date(), local_time.time()))
    local_moment = local_moment._replace(ticks=local_moment.ticks + rest_ticks, offset=minutes)
    scale = _SCALES.get(kind.name, kind.scale)
    return STORED_DATE_MARK + date_values.format_date_value(
        local_moment, SqlType("datetimeoffset", scale=scale)
    )


def infer_at_time_zone_type(kind: SqlType | None) -> SqlType:
    """Return the result type of AT TIME ZONE. Raises 8116 unless *kind* has a date and a time."""
    if kind is not None and (not kind.is_date_time or kind.name in ("date", "time")):
        raise SqlError(8116, kind.name, 1, "AT TIME ZONE")
    return SqlType("datetimeoffset", scale=7 if kind is None else _SCALES.get(kind.name, kind.scale))
