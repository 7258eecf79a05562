"""AT TIME ZONE: Windows names of time zones, and local times in the gap and overlap of a change of the clock.

The names are those of the CLDR; the offsets are those of the IANA database in the package tzdata,
never of the machine, so that every machine answers the same.
"""

from __future__ import annotations

from datetime import datetime, timedelta, tzinfo
from functools import cache
from importlib import resources
from typing import Final
from zoneinfo import ZoneInfo

from engine.messages import SqlError
from engine.tables import read_table
from engine.tsql.scalars import date_values
from engine.tsql.scalars.date_values import Culture
from engine.tsql.scalars.types import SqlType
from engine.tsql.scalars.values import MARK, Scalar, moment_of, to_text

_SCALES: Final = {"datetime": 3, "smalldatetime": 0, "date": 0}


@cache
def _names() -> dict[str, str]:
    rows = (tuple(row.values()) for row in read_table("engine.tsql.scalars", "time_zones.tsv"))
    return {name.lower(): iana for name, iana in rows}


@cache
def _zone(name: str) -> tzinfo:
    """Return the time zone of a Windows name. Raises 9820."""
    iana = _names().get(name.strip().lower())
    if iana is None:
        raise SqlError(9820, name)
    with resources.files("tzdata.zoneinfo").joinpath(iana).open("rb") as file:
        return ZoneInfo.from_file(file, key=iana)


def at_time_zone(culture: Culture, value: Scalar, zone: Scalar) -> Scalar:
    """Return the moment in the zone; a value without offset is a local time there [DOC: AT TIME ZONE].

    In the gap of a change the clock is one hour ahead; in the overlap the offset after the change counts.
    """
    if value is None or zone is None:
        return None
    kind = date_values.kind_of(value if isinstance(value, str) else to_text(value))
    here, moment = _zone(to_text(zone)), moment_of(value, kind, culture)
    rest = moment.ticks % 10
    local = moment.as_datetime()
    try:
        if kind.name == "datetimeoffset":
            utc = local - timedelta(minutes=moment.offset or 0)
        else:
            later = here.utcoffset(local.replace(tzinfo=here, fold=1)) or timedelta()
            sooner = here.utcoffset(local.replace(tzinfo=here, fold=0)) or timedelta()
            utc = local - min(later, sooner)
        found = here.fromutc(utc.replace(tzinfo=here))
    except OverflowError:
        raise SqlError(517, "datetimeoffset") from None
    minutes = int((found.utcoffset() or timedelta()).total_seconds() // 60)
    made = date_values.of_datetime(datetime.combine(found.date(), found.time()))
    made = made._replace(ticks=made.ticks + rest, offset=minutes)
    scale = _SCALES.get(kind.name, kind.scale)
    return MARK + date_values.format_body(made, SqlType("datetimeoffset", scale=scale))


def type_of_result(kind: SqlType | None) -> SqlType:
    """Return the type of AT TIME ZONE. Raises 8116 for anything but a date and time."""
    if kind is not None and (not kind.is_moment or kind.name in ("date", "time")):
        raise SqlError(8116, kind.name, 1, "AT TIME ZONE")
    return SqlType("datetimeoffset", scale=7 if kind is None else _SCALES.get(kind.name, kind.scale))
