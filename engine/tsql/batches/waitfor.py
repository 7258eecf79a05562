"""WAITFOR DELAY and WAITFOR TIME in simulated time, and the interval between checks of a wait."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from engine.constants import TICKS_PER_S
from engine.messages import SqlError
from engine.tsql.language import statements as s
from engine.tsql.scalars import values
from engine.tsql.scalars.values import Scalar, to_text

if TYPE_CHECKING:
    from engine.tsql.batches.machine import ExecutionMachine


def execute_waitfor(machine: ExecutionMachine, statement: s.WaitforStatement) -> None:
    """Execute WAITFOR DELAY or WAITFOR TIME."""
    value = machine.resolve_value(statement.value)
    if statement.kind == "DELAY":
        length = _parse_delay(value)
        if length:
            machine.wait("delay", machine.world.tick + length)
        return
    moment = machine.context.get_time()
    wait_end = moment.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(
        seconds=_parse_delay(value) / TICKS_PER_S
    )
    if wait_end < moment:
        wait_end += timedelta(days=1)
    machine.wait("delay", machine.world.tick + round((wait_end - moment).total_seconds() * TICKS_PER_S))


def _parse_delay(value: Scalar) -> int:
    """Convert a time of day, or a delay of less than 24 hours, to ticks. Raises 148."""
    text = to_text(value, 121) if values.is_stored_date(value) else to_text(value)
    match = re.fullmatch(
        r"(?:1900-01-01 )?(\d{1,2})(?::(\d{1,2})(?::(\d{1,2})(?:[.:](\d{1,3}))?)?)?\s*+(AM|PM)?",
        text.strip(),
        re.IGNORECASE,
    )
    if match is None or (":" not in text and text.strip() != "0"):
        raise SqlError(148, text)
    hours, minutes, seconds = (int(part or 0) for part in match.groups()[:3])
    if match[5] and hours <= 12:
        hours = hours % 12 + 12 * (match[5].upper() == "PM")
    if hours > 23 or minutes > 59 or seconds > 59:
        raise SqlError(148, text)
    fraction = float(f"0.{match[4]}") if match[4] else 0.0
    return round((hours * 3600 + minutes * 60 + seconds + fraction) * TICKS_PER_S)


POLL_TICKS_MAX: Final = 10
"""Maximum number of ticks between two checks of a wait. Assumed: a tenth of a second."""


def compute_next_poll_tick(tick: int, since_tick: int) -> int:
    """Return the tick of the next check of a wait that began at *since_tick*.

    Checks become less frequent during a long wait.
    """
    return tick + max(1, min(POLL_TICKS_MAX, (tick - since_tick) // 4))
