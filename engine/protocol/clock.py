"""Clock time of the simulated servers, and its conversion to ticks."""

from datetime import datetime, timedelta
from typing import Final

from engine import datetime_formats
from engine.constants import TICKS_PER_S
from engine.messages import SqlError
from engine.model import Tick, World

DATE_FORMATS: Final = (
    "%Y%m%d", "%Y-%m-%d", "%m/%d/%Y", "%d.%m.%Y", "%Y%m%d %H:%M:%S", "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S.%f", "%Y-%m-%dT%H:%M:%S.%f", "%Y%m%d %H:%M:%S.%f",
    "%Y-%m-%d %H:%M", "%b %d, %Y %I:%M %p", "%b %d %Y %I:%M%p", "%m/%d/%Y %H:%M:%S",
)  # fmt: skip
"""Date formats in T-SQL literals. The month precedes the day, as in us_english."""


def get_time_at(world: World, tick: Tick) -> datetime:
    """Return the clock time of the servers at *tick*."""
    return datetime.fromisoformat(world.settings.start_time) + timedelta(seconds=tick / TICKS_PER_S)


def parse_tick(world: World, text: str) -> Tick:
    """Return the tick of a date in a statement (negative before the start of the run).

    Raise 241 for an invalid date.
    """
    for form in DATE_FORMATS:
        try:
            moment = datetime_formats.parse_datetime(text.strip()[:40], form)
        except ValueError:
            continue
        duration = moment - datetime.fromisoformat(world.settings.start_time)
        return round(duration.total_seconds() * TICKS_PER_S)
    raise SqlError(241)
