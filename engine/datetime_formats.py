"""Formatting and parsing of dates and times in English.

strftime and strptime are unsuitable, because they follow the locale of the operating system.
"""

import re
from collections.abc import Callable
from datetime import date, datetime
from functools import cache
from typing import Final

MONTHS: Final = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

_FORMATTERS: Final[dict[str, Callable[[datetime], str]]] = {
    "%Y": lambda at: f"{at.year:04d}",
    "%y": lambda at: f"{at.year % 100:02d}",
    "%m": lambda at: f"{at.month:02d}",
    "%B": lambda at: MONTHS[at.month - 1],
    "%b": lambda at: MONTHS[at.month - 1][:3],
    "%d": lambda at: f"{at.day:02d}",
    "%A": lambda at: DAYS[at.weekday()],
    "%a": lambda at: DAYS[at.weekday()][:3],
    "%H": lambda at: f"{at.hour:02d}",
    "%I": lambda at: f"{at.hour % 12 or 12:02d}",
    "%M": lambda at: f"{at.minute:02d}",
    "%S": lambda at: f"{at.second:02d}",
    "%f": lambda at: f"{at.microsecond:06d}",
    "%p": lambda at: "AM" if at.hour < 12 else "PM",
}
"""Format code, as in strftime -> function that formats this part of a date."""

_PATTERNS: Final = {
    "%Y": r"(?P<year>\d{4})",
    "%y": r"(?P<year>\d\d)",
    "%m": r"(?P<month>1[0-2]|0[1-9]|[1-9])",
    "%B": f"(?P<month>{'|'.join(MONTHS)})",
    "%b": f"(?P<month>{'|'.join(name[:3] for name in MONTHS)})",
    "%d": r"(?P<day>3[01]|[12]\d|0[1-9]|[1-9])",
    "%H": r"(?P<hour>2[0-3]|[01]\d|\d)",
    "%I": r"(?P<hour>1[0-2]|0[1-9]|[1-9])",
    "%M": r"(?P<minute>[0-5]\d|\d)",
    "%S": r"(?P<second>[0-5]\d|\d)",
    "%f": r"(?P<fraction>\d{1,6})",
    "%p": r"(?P<half>AM|PM)",
}
"""Format code -> pattern of this part of a date. Each pattern matches a text in only one way."""

TWO_DIGIT_YEAR_CUTOFF: Final = 69
"""First two-digit year of the 20th century: 69 is 1969, 68 is 2068, as in POSIX."""


def format_datetime(value: datetime | date, form: str) -> str:
    """Format a date or time. *form*: format codes such as `%d %b %Y`."""
    moment = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)
    return re.sub("%[A-Za-z]", lambda match: _FORMATTERS[match.group()](moment), form)


def parse_datetime(text: str, form: str) -> datetime:
    """Parse *text* in the form *form*. Missing parts have the values of 1 January 1900. Raises ValueError."""
    match = _build_pattern(form).fullmatch(text)
    if match is None:
        raise ValueError(f"{text[:40]!r} is not written as {form}")
    part = match.groupdict()
    year = int(part.get("year") or 1900)
    if "%y" in form:
        year += 1900 if year >= TWO_DIGIT_YEAR_CUTOFF else 2000
    hour = int(part.get("hour") or 0)
    if part.get("half"):
        hour = hour % 12 + (12 if part["half"].upper() == "PM" else 0)
    return datetime(
        year,
        _parse_month(part.get("month") or "1"),
        int(part.get("day") or 1),
        hour,
        int(part.get("minute") or 0),
        int(part.get("second") or 0),
        int((part.get("fraction") or "").ljust(6, "0")),
    )


def _parse_month(text: str) -> int:
    if text.isdigit():
        return int(text)
    return next(number for number, name in enumerate(MONTHS, start=1) if name[:3].lower() == text[:3].lower())


@cache
def _build_pattern(form: str) -> re.Pattern[str]:
    pattern = re.sub(
        "%[A-Za-z]", lambda match: _PATTERNS[match.group()], re.sub(r"[.()+*?]", r"\\\g<0>", form)
    )
    return re.compile(pattern, re.ASCII | re.IGNORECASE)
