"""Dates and times as text: parsing and formatting by SET DATEFORMAT, SET LANGUAGE and the styles of CONVERT.

Sources: [DOC: data types, date and time], [DOC: CAST and CONVERT, styles].
"""

import re
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Final, NamedTuple

from msgspec import Struct

from engine.messages import SqlError
from engine.tsql.scalars import types
from engine.tsql.scalars.languages import ENGLISH, HIJRI_MONTHS, Language
from engine.tsql.scalars.types import DATETIME, OLD_DATE_TIME_TYPES, SCALED_TIME_TYPES, SqlType

STORED_DATE_MARK: Final = types.DATE_MARK

TICKS_PER_S: Final = 10_000_000
"""Ticks of 100 ns per second: the precision of datetime2(7). Documented."""
TICKS_PER_FRACTION_UNIT: Final = (10_000_000, 1_000_000, 100_000, 10_000, 1_000, 100, 10, 1)
"""Number of fractional digits of a second -> ticks of 100 ns per unit of the last digit."""
TICKS_PER_DAY: Final = 86_400 * TICKS_PER_S
EPOCH: Final = date(1900, 1, 1).toordinal()
FIRST_DAYS: Final = {"datetime": date(1753, 1, 1).toordinal(), "smalldatetime": EPOCH}
LAST_DAYS: Final = {"smalldatetime": date(2079, 6, 6).toordinal()}
LAST_DAY: Final = date.max.toordinal()
TWO_DIGIT_YEAR_CUTOFF: Final = 50
"""First two-digit year that belongs to the 20th century. Smaller ones belong to the 21st.

Documented [DOC: two digit year cutoff].
"""


class Culture(Struct, frozen=True):
    """Session settings for parsing and naming dates: language, DATEFORMAT and DATEFIRST."""

    language: Language = ENGLISH
    dateformat: str = "mdy"
    datefirst: int = 7


US_CULTURE: Final = Culture()


class DateTimeValue(NamedTuple):
    """Date and time.

    *day* is the ordinal of the proleptic Gregorian calendar, *ticks* the time of day in 100 ns. *offset* is
    in minutes east of UTC; None without an offset.
    """

    day: int
    ticks: int = 0
    offset: int | None = None

    @property
    def total(self) -> int:
        """Return the time since the year 1, in ticks of 100 ns."""
        return self.day * TICKS_PER_DAY + self.ticks

    @property
    def utc(self) -> int:
        """Return the time since the year 1 in UTC, in ticks of 100 ns."""
        return self.total - (self.offset or 0) * 60 * TICKS_PER_S

    @property
    def date(self) -> date:
        """Return the calendar date."""
        return date.fromordinal(self.day)

    def as_datetime(self) -> datetime:
        """Return the value as a Python datetime, cut to microseconds and without the offset."""
        return datetime.combine(self.date, datetime.min.time()) + timedelta(microseconds=self.ticks // 10)


def build_from_total(total: int, offset: int | None = None) -> DateTimeValue:
    """Build a value from *total*, the ticks of 100 ns since the year 1."""
    return DateTimeValue(total // TICKS_PER_DAY, total % TICKS_PER_DAY, offset)


def build_from_datetime(moment: datetime) -> DateTimeValue:
    """Build a value from a Python datetime."""
    seconds = moment.hour * 3600 + moment.minute * 60 + moment.second
    return DateTimeValue(moment.toordinal(), seconds * TICKS_PER_S + moment.microsecond * 10)


# --- parsing ------------------------------------------------------------------------------------------------

_ISO: Final = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)T(\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[-+]\d\d:\d\d)?", re.ASCII
)
_TIME: Final = re.compile(
    r"(?<![\d:.])(\d{1,2})(?::(\d{1,2})(?::(\d{1,2})(?:([.:])(\d{1,9}))?)?)?\s{0,3}([AaPp][Mm])?(?![\d:])",
    re.ASCII,
)
_OFFSET: Final = re.compile(r"\s?([-+])(\d\d?):(\d\d)$", re.ASCII)
_SEPARATED_DATE: Final = re.compile(r"(\d{1,4})\s?[-/.]\s?(\d{1,2})\s?[-/.]\s?(\d{1,4})", re.ASCII)
_DIGITS: Final = re.compile(r"\d{4}|\d{6}|\d{8}", re.ASCII)
_MONTH_NAME_DATE: Final = re.compile(r"[\d\s,.\-/]*([^\W\d_]{3,20})[\d\s,.\-/]*")


class _DateFormatError(Exception):
    """Error for a text that does not have the format of a date."""


class _DateRangeError(Exception):
    """Error for a date that does not exist, such as 30 February."""


@lru_cache(maxsize=2048)
def parse_date(
    text: str, kind: SqlType = DATETIME, culture: Culture = US_CULTURE, style: int | None = None
) -> DateTimeValue:
    """Parse *text* as a value of the date or time type *kind*. Raises 241 or 242."""
    if len(text) > 100:
        raise SqlError(241)
    try:
        return convert_to_date_type(_parse_date(" ".join(text.split()), kind, culture, style), kind)
    except _DateFormatError:
        raise SqlError(241) from None
    except _DateRangeError:
        if kind.name in OLD_DATE_TIME_TYPES:
            raise SqlError(242, "varchar", kind.name) from None
        raise SqlError(241) from None


def _parse_date(text: str, kind: SqlType, culture: Culture, style: int | None) -> DateTimeValue:
    iso = _ISO.fullmatch(text)
    if iso is not None:
        day = _compute_ordinal(int(iso[1]), int(iso[2]), int(iso[3]))
        return DateTimeValue(day, _parse_time_of_day(_TIME.fullmatch(iso[4]), kind), _parse_offset(iso[5]))
    offset, zone = None, _OFFSET.search(text)
    if zone is not None and ":" in text[: zone.start()]:
        offset, text = _parse_offset(zone.group().strip()), text[: zone.start()]
    ticks = 0
    for clock in _TIME.finditer(text):
        if clock[2] is not None or clock[6] is not None:
            ticks = _parse_time_of_day(clock, kind)
            text = f"{text[: clock.start()]} {text[clock.end() :]}".strip()
            break
    return DateTimeValue(_parse_day(text, kind, culture, style), ticks, offset)


def _parse_offset(text: str | None) -> int | None:
    if text is None or text == "Z":
        return None if text is None else 0
    hours, minutes = map(int, text[1:].split(":"))
    if hours * 60 + minutes > 14 * 60 or minutes > 59:
        raise _DateFormatError
    return (hours * 60 + minutes) * (-1 if text[0] == "-" else 1)


def _parse_time_of_day(match: re.Match[str] | None, kind: SqlType) -> int:
    if match is None:
        raise _DateFormatError
    hour, minute, second = (int(match[index] or 0) for index in (1, 2, 3))
    if match[6] is not None:
        if not 1 <= hour <= 12:
            raise _DateRangeError if hour > 12 else _DateFormatError
        hour = hour % 12 + (12 if match[6].lower() == "pm" else 0)
    if hour > 23 or minute > 59 or second > 59:
        raise _DateRangeError
    digits = match[5] or ""
    if len(digits) > (3 if kind.name in OLD_DATE_TIME_TYPES else 7):
        raise _DateFormatError
    fraction = int(digits or 0) * TICKS_PER_FRACTION_UNIT[3 if match[4] == ":" else len(digits)]
    return (hour * 3600 + minute * 60 + second) * TICKS_PER_S + fraction


def _parse_day(text: str, kind: SqlType, culture: Culture, style: int | None) -> int:
    if not text:
        return EPOCH
    if style in (130, 131):
        return _parse_hijri_day(text)
    if _DIGITS.fullmatch(text):
        if len(text) == 4:
            return _compute_ordinal(int(text), 1, 1)
        year = int(text[:-4]) if len(text) == 8 else _expand_year(int(text[:2]))
        return _compute_ordinal(year, int(text[-4:-2]), int(text[-2:]))
    order = _STYLE_ORDERS.get(style or 0) or culture.dateformat
    separated = _SEPARATED_DATE.fullmatch(text)
    if separated is not None:
        return _parse_ordered_date(separated.groups(), order, kind, style)
    name_match = _MONTH_NAME_DATE.fullmatch(text)
    month = _find_month(name_match[1], culture.language) if name_match is not None else None
    if month is None:
        raise _DateFormatError
    numbers = re.findall(r"\d+", text, re.ASCII)
    years = [number for number in numbers if len(number) == 4]
    if len(numbers) == 1 and years:
        return _compute_ordinal(int(years[0]), month, 1)
    if len(numbers) != 2 or len(years) > 1 or any(len(number) == 3 or len(number) > 4 for number in numbers):
        raise _DateFormatError
    if years:
        day = next(number for number in numbers if number != years[0])
        return _compute_ordinal(int(years[0]), month, int(day))
    first, last = (int(number) for number in numbers)
    return (
        _compute_ordinal(_expand_year(first), month, last)
        if order == "ymd"
        else _compute_ordinal(_expand_year(last), month, first)
    )


def _parse_ordered_date(parts: tuple[str, ...], order: str, kind: SqlType, style: int | None) -> int:
    """Parse a date of three numbers and return its ordinal. A four-digit number is the year in any position."""
    first, middle, last = parts
    if len(first) == 4:
        # With DATEFORMAT dmy, datetime reads 2005-04-03 as year, day, month. The types of 2008 never do.
        # Documented.
        by_format = kind.name in OLD_DATE_TIME_TYPES and style is None and order in ("dmy", "ydm")
        month, day = (last, middle) if by_format else (middle, last)
        return _compute_ordinal(int(first), int(month), int(day))
    if len(first) == 3 or len(last) == 3:
        raise _DateFormatError
    if len(last) == 4:
        month_first = order.replace("y", "") == "md"
        month, day = (first, middle) if month_first else (middle, first)
        return _compute_ordinal(int(last), int(month), int(day))
    parts_by_kind = dict(zip(order, (first, middle, last), strict=True))
    return _compute_ordinal(
        _expand_year(int(parts_by_kind["y"])), int(parts_by_kind["m"]), int(parts_by_kind["d"])
    )


_STYLE_ORDERS: Final = {
    **dict.fromkeys((1, 101, 10, 110, 7, 107, 100, 9, 109, 22), "mdy"),
    **dict.fromkeys((2, 102, 11, 111, 12, 112, 20, 120, 21, 121, 23, 25, 126, 127), "ymd"),
    **dict.fromkeys((3, 103, 4, 104, 5, 105, 6, 106, 13, 113), "dmy"),
}
"""Style of CONVERT -> order of day, month and year. Documented [DOC: CAST and CONVERT]."""


def _expand_year(year: int) -> int:
    return year + (2000 if year < TWO_DIGIT_YEAR_CUTOFF else 1900)


def _find_month(name: str, language: Language) -> int | None:
    month_name = name.casefold()
    for names in (language.months, language.short_months, ENGLISH.months, ENGLISH.short_months):
        for number, known_name in enumerate(names, start=1):
            if known_name.casefold() == month_name:
                return number
    return None


def _compute_ordinal(year: int, month: int, day: int) -> int:
    try:
        return date(year, month, day).toordinal()
    except ValueError:
        raise _DateRangeError from None


# --- conversion to a type --------------------------------------------------------------------------


def convert_to_date_type(moment: DateTimeValue, kind: SqlType) -> DateTimeValue:
    """Convert the value to the type *kind*: drop the parts that the type lacks, and round.

    Raises 241 or 242 if the type cannot hold the value.
    """
    name = kind.name
    if name in OLD_DATE_TIME_TYPES and moment.offset is not None:
        moment = DateTimeValue(moment.day, moment.ticks)
    if name == "date":
        return DateTimeValue(moment.day)
    if name == "datetime":
        thirds = (moment.ticks * 300 * 2 + TICKS_PER_S) // (2 * TICKS_PER_S)
        moment = build_from_total(moment.day * TICKS_PER_DAY + _round_datetime_ticks(thirds))
    elif name == "smalldatetime":
        minute = 60 * TICKS_PER_S
        seconds_30 = (_adjust_for_minute_rounding(moment.ticks) + minute // 2) // minute * minute
        moment = build_from_total(moment.day * TICKS_PER_DAY + seconds_30)
    elif name in SCALED_TIME_TYPES:
        unit = TICKS_PER_FRACTION_UNIT[kind.scale]
        total = (moment.total + unit // 2) // unit * unit
        moment = build_from_total(total, moment.offset)
        if name == "time":
            moment = DateTimeValue(EPOCH, moment.ticks)
        elif name == "datetimeoffset":
            moment = moment._replace(offset=moment.offset or 0)
            if (
                not TICKS_PER_DAY <= moment.utc < (LAST_DAY + 1) * TICKS_PER_DAY
            ):  # the limits, years 1 to 9999, apply to the time in UTC
                raise SqlError(241)
        else:
            moment = moment._replace(offset=None)
    if not FIRST_DAYS.get(name, 1) <= moment.day <= LAST_DAYS.get(name, LAST_DAY):
        raise SqlError(242, "varchar", name)
    return moment


def _adjust_for_minute_rounding(ticks: int) -> int:
    """Prepare a time of day for rounding to minutes: round it to a millisecond, then add one.

    As in SQL Server, 29.998 s is then rounded down to a minute, and 29.999 s up.
    """
    return (ticks * 1000 + TICKS_PER_S // 2) // TICKS_PER_S * (TICKS_PER_S // 1000) + TICKS_PER_S // 1000


def _round_datetime_ticks(datetime_units: int) -> int:
    """Convert a time of day from units of 1/300 s to ticks, rounded to .000, .003 or .007 s.

    The type datetime stores times in this form. Documented.
    """
    seconds, rest_thirds = divmod(datetime_units, 300)
    return seconds * TICKS_PER_S + (rest_thirds * 20 + 3) // 6 * (TICKS_PER_S // 1000)


# --- formatting ---------------------------------------------------------------------------------------------


def format_date_value(moment: DateTimeValue, kind: SqlType) -> str:
    """Format the value as in a result set. The stored form is this text after the prefix STORED_DATE_MARK."""
    day = moment.date.isoformat()
    seconds, rest_ticks = divmod(moment.ticks, TICKS_PER_S)
    clock = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    if kind.name == "date":
        return day
    if kind.name == "datetime":
        return f"{day} {clock}.{rest_ticks // 10_000:03d}"
    if kind.name == "smalldatetime":
        return f"{day} {clock}"
    if kind.scale:
        clock += f".{rest_ticks // TICKS_PER_FRACTION_UNIT[kind.scale]:0{kind.scale}d}"
    if kind.name == "time":
        return clock
    return f"{day} {clock}" + (_format_zone(moment.offset or 0) if kind.name == "datetimeoffset" else "")


def _format_zone(offset: int) -> str:
    return f" {'-' if offset < 0 else '+'}{abs(offset) // 60:02d}:{abs(offset) % 60:02d}"


def get_stored_type(value: str) -> SqlType:
    """Return the type of a stored date or time. The length and the separators of the text determine it."""
    text = value.removeprefix(STORED_DATE_MARK)
    if len(text) == 10 and text[4] == "-":
        return SqlType("date")
    if text[2:3] == ":":
        return SqlType("time", scale=max(0, len(text) - 9))
    if text[-6:-5] in ("+", "-"):
        return SqlType("datetimeoffset", scale=max(0, len(text) - 27))
    if len(text) in (19, 23):
        return DATETIME if len(text) == 23 else SqlType("smalldatetime")
    return SqlType("datetime2", scale=max(0, len(text) - 20))


def parse_stored_date(value: str) -> DateTimeValue:
    """Parse a date or time in its stored form."""
    text = value.removeprefix(STORED_DATE_MARK)
    kind = get_stored_type(text)
    return parse_date(text, SqlType("datetime2", scale=7) if kind.name in OLD_DATE_TIME_TYPES else kind)


_STYLE_FORMATS: Final[dict[int, tuple[str, str]]] = {
    0: ("{mon} {d:>2} {y}", "{h:>2}:{mi}{ampm}"), 1: ("{mm}/{dd}/{yy}", ""), 2: ("{yy}.{mm}.{dd}", ""),
    3: ("{dd}/{mm}/{yy}", ""), 4: ("{dd}.{mm}.{yy}", ""), 5: ("{dd}-{mm}-{yy}", ""), 6: ("{dd} {mon} {yy}", ""),
    7: ("{mon} {dd}, {yy}", ""), 8: ("", "{hh}:{mi}:{ss}"),
    9: ("{mon} {d:>2} {y}", "{h:>2}:{mi}:{ss}{colon}{f}{ampm}"), 10: ("{mm}-{dd}-{yy}", ""),
    11: ("{yy}/{mm}/{dd}", ""), 12: ("{yy}{mm}{dd}", ""), 13: ("{dd} {mon} {y}", "{hh}:{mi}:{ss}{colon}{f}"),
    14: ("", "{hh}:{mi}:{ss}{colon}{f}"), 20: ("{y}-{mm}-{dd}", "{hh}:{mi}:{ss}"),
    21: ("{y}-{mm}-{dd}", "{hh}:{mi}:{ss}{point}{f}"), 22: ("{mm}/{dd}/{yy}", "{h:>2}:{mi}:{ss} {ampm}"),
    23: ("{y}-{mm}-{dd}", ""), 24: ("", "{hh}:{mi}:{ss}"), 25: ("{y}-{mm}-{dd}", "{hh}:{mi}:{ss}{point}{f}"),
    126: ("{y}-{mm}-{dd}", "{hh}:{mi}:{ss}{point}{f}"), 127: ("{y}-{mm}-{dd}", "{hh}:{mi}:{ss}{point}{f}"),
    130: ("{hijri}", "{h:>2}:{mi}:{ss}{colon}{f}{ampm}"), 131: ("{hijri_digits}", "{h:>2}:{mi}:{ss}{colon}{f}{ampm}"),
}  # fmt: skip
"""Style -> format of the date and format of the time. Documented [DOC: CAST and CONVERT, date and time
styles].
"""
_STYLES_WITH_LONG_YEAR: Final = frozenset({1, 2, 3, 4, 5, 6, 7, 10, 11, 12})
"""Styles of CONVERT that show a four-digit year if 100 is added to the style number."""


def format_date(
    moment: DateTimeValue, kind: SqlType, style: int | None = None, culture: Culture = US_CULTURE
) -> str:
    """Format the value as CONVERT does with *style*. Raises 281 for an unknown style."""
    if style is None or (style == 0 and kind.name not in OLD_DATE_TIME_TYPES):
        if kind.name not in OLD_DATE_TIME_TYPES:
            return format_date_value(moment, kind)
        style = 0
    base = style
    if style not in _STYLE_FORMATS and 100 <= style <= 125:
        base = style - 100
    if base not in _STYLE_FORMATS or (base == 23 and style == 123):
        raise SqlError(281, style, kind.name)
    long = style >= 100 and base in _STYLES_WITH_LONG_YEAR
    day_form, clock_form = _STYLE_FORMATS[base]
    if kind.name == "time":
        day_form = ""
    if kind.name == "date":
        clock_form = ""
    if style == 127 and kind.name == "datetimeoffset":
        # this style ends with Z, so it shows the time in UTC
        moment = build_from_total(moment.utc, moment.offset)
    pieces = _format_pieces(moment, kind, culture, long)
    if style in (126, 127) and kind.name in OLD_DATE_TIME_TYPES and not moment.ticks % TICKS_PER_S:
        clock_form = "{hh}:{mi}:{ss}"
    separator = "T" if style in (126, 127) else " "
    text = separator.join(form.format(**pieces) for form in (day_form, clock_form) if form)
    if kind.name != "datetimeoffset" or not clock_form:
        return text
    return text + (
        "Z" if style == 127 else _format_zone(moment.offset or 0).lstrip(" " if style == 126 else "")
    )


def _format_pieces(moment: DateTimeValue, kind: SqlType, culture: Culture, long: bool) -> dict[str, object]:
    """Return the texts for the placeholders in the format of a style ("y", "mm" …).

    *long*: True if "yy" is a year of four digits.
    """
    day, seconds = moment.date, moment.ticks // TICKS_PER_S
    hour = seconds // 3600
    is_old_type = kind.name in OLD_DATE_TIME_TYPES
    digits = 3 if is_old_type else kind.scale
    fraction = f"{moment.ticks % TICKS_PER_S:07d}"[:digits]
    hijri = _convert_to_hijri(moment.day)
    return {
        "y": f"{day.year:04d}",
        "yy": f"{day.year:04d}" if long else f"{day.year % 100:02d}",
        "mm": f"{day.month:02d}",
        "dd": f"{day.day:02d}",
        "d": day.day,
        "mon": culture.language.short_months[day.month - 1],
        "hh": f"{hour:02d}",
        "h": hour % 12 or 12,
        "mi": f"{seconds // 60 % 60:02d}",
        "ss": f"{seconds % 60:02d}",
        "colon": (":" if is_old_type else ".") if fraction else "",
        "point": "." if fraction else "",
        "f": fraction,
        "ampm": "AM" if hour < 12 else "PM",
        "hijri": f"{hijri[2]:>2} {HIJRI_MONTHS[hijri[1] - 1]} {hijri[0]}",
        "hijri_digits": f"{hijri[2]:>2}/{hijri[1]:02d}/{hijri[0]}",
    }


HIJRI_START: Final = 227_015
"""Ordinal of 1 Muharram of the year 1. Derived from the tabular calendar with 30-year cycles (Kuwaiti
algorithm).
"""


def _convert_to_hijri(ordinal: int) -> tuple[int, int, int]:
    """Return year, month and day in the Hijri calendar."""
    days = ordinal - HIJRI_START
    year = (30 * days + 10_646) // 10_631
    first_ordinal = _convert_from_hijri(year, 1, 1)
    month = min(12, (2 * (ordinal - first_ordinal) + 1) // 59 + 1)
    while month < 12 and _convert_from_hijri(year, month + 1, 1) <= ordinal:
        month += 1
    while month > 1 and _convert_from_hijri(year, month, 1) > ordinal:
        month -= 1
    return year, month, ordinal - _convert_from_hijri(year, month, 1) + 1


def _convert_from_hijri(year: int, month: int, day: int) -> int:
    months = 29 * (month - 1) + month // 2
    return HIJRI_START + day - 1 + months + (year - 1) * 354 + (3 + 11 * year) // 30


def _parse_hijri_day(text: str) -> int:
    """Parse a Hijri date in the form dd/mm/yyyy. Return its ordinal."""
    date_match = _SEPARATED_DATE.fullmatch(text)
    if date_match is None:
        raise _DateFormatError
    day, month, year = (int(part) for part in date_match.groups())
    if not (1 <= month <= 12 and 1 <= day <= 30 and 1 <= year <= 9666):
        raise _DateRangeError
    return _convert_from_hijri(year, month, day)
