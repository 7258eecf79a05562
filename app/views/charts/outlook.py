"""Forecast of the counters at the rate of the last seconds: time until queues are empty and the log is full."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from app.view_models import eta
from app.words import formatting
from app.words.counters import COUNTERS
from app.words.language import mark, tr
from engine.constants import TICKS_PER_S
from engine.model import DbState
from engine.protocol import volumes

if TYPE_CHECKING:
    from app.view_models.series import CounterHistory
    from engine.model import World

QUEUE_WORTH_KB: Final = 1024.0
"""Minimum queue for an estimate: shorter ones are empty before it is read. Assumed."""
LOG_WORTH_S: Final = 3600.0
"""Maximum time until a full log for a warning. Assumed."""
QUEUES: Final = {"send_queue_kb": mark("sent in about {time}"), "redo_queue_kb": mark("done in about {time}")}
LOG: Final = "log_used_kb"


def expected(history: CounterHistory, world: World, database: str) -> dict[str, str]:
    """Return counter -> what is expected of it, in words; counters of which nothing is expected are left out."""
    end_s = history.end_s
    found: dict[str, str] = {}
    for name, words in QUEUES.items():
        t_s, queue_kb = history.samples(name, end_s - eta.PACE_S, end_s)
        left_s = eta.until_empty_s(t_s, queue_kb)
        if left_s and queue_kb[-1] >= QUEUE_WORTH_KB:
            found[name] = tr(words).format(time=formatting.seconds(left_s, 0))
    t_s, used_kb = history.samples(LOG, end_s - eta.PACE_S, end_s)
    left_s = eta.until_full_s(t_s, used_kb, _log_room_kb(world, database))
    if left_s is not None and left_s < LOG_WORTH_S:
        found[LOG] = tr("full in about {time}").format(time=formatting.seconds(left_s, 0))
    return found


def sentences(expected: Mapping[str, str], sample_ticks: int) -> list[str]:
    """Return the same with the counters' titles, and how coarse a long run is: one sample each *sample_ticks*."""
    said = [f"{tr(COUNTERS[name].title)}: {words}" for name, words in expected.items()]
    if sample_ticks > TICKS_PER_S:
        words = tr("Long run: one value every {time} from here on.")
        said.append(words.format(time=formatting.seconds(sample_ticks / TICKS_PER_S, 0)))
    return said


def _log_room_kb(world: World, database: str) -> float:
    """Return the amount of log that fits before the database stops, in KB.

    The figure belongs to the online copy, or to the first copy if none is online.
    """
    copies = sorted(world.copies_of(database), key=lambda copy: copy.db_state is not DbState.ONLINE)
    if not copies:
        return math.inf
    others = volumes.log_room_kb(copies[0]) - copies[0].log_size_kb
    return volumes.log_limit_kb(world, copies[0]) + others
