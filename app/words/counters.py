"""Names of the engine's counters and formats of their values. Without Qt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from app.words import formatting
from app.words.language import mark


@dataclass(frozen=True, slots=True)
class Unit:
    """Format of values and scale of an axis."""

    name: str
    text: Callable[[float | None], str]
    thousand: float = 1000.0
    """Factor of the next larger unit (1,024 for KB), so that ticks are round numbers of it."""


KB: Final = Unit("KB", formatting.kb, 1024.0)
KB_PER_S: Final = Unit("KB/s", formatting.kb_per_s, 1024.0)
MS: Final = Unit("ms", formatting.ms)
SECONDS: Final = Unit("s", lambda value: formatting.ms(None if value is None else 1000.0 * value))
PER_S: Final = Unit("/s", lambda value: _append_unit(formatting.short(value), "/s"))
PERCENT: Final = Unit("%", lambda value: _append_unit(formatting.short(value), " %"))
COUNT: Final = Unit("", formatting.short)


def _append_unit(number: str, unit: str) -> str:
    return number if number == formatting.NOTHING else number + unit


@dataclass(frozen=True, slots=True)
class Counter:
    """Counter with its title, its unit, and the minimum top of its axis."""

    name: str
    title: str
    unit: Unit
    least_top: float
    help: str


COUNTERS: Final[dict[str, Counter]] = {
    counter.name: counter
    for counter in (
        Counter(
            "send_queue_kb",
            mark("Send queue"),
            KB,
            64.0,
            mark("log hardened, not yet sent; of several secondaries the longest"),
        ),
        Counter(
            "redo_queue_kb",
            mark("Redo queue"),
            KB,
            64.0,
            mark("log received and hardened, not yet redone; of several secondaries the longest"),
        ),
        Counter(
            "transactions_per_s", mark("Transactions"), PER_S, 10.0, mark("commits acknowledged to clients")
        ),
        Counter(
            "commit_delay_ms",
            mark("Commit delay"),
            MS,
            1.0,
            mark("delay of a commit by the wait for a synchronous copy"),
        ),
        Counter("response_s", mark("Response time"), SECONDS, 0.1, mark("of a transaction, on the server")),
        Counter(
            "log_generation_kb_per_s",
            mark("Log generation"),
            KB_PER_S,
            64.0,
            mark("log written by transactions"),
        ),
        Counter("log_send_kb_per_s", mark("Log send rate"), KB_PER_S, 64.0, mark("log sent")),
        Counter("redo_kb_per_s", mark("Redo rate"), KB_PER_S, 64.0, mark("log redone")),
        Counter(
            "unhardened_kb", mark("Log at risk"), KB, 64.0, mark("log not yet hardened on another server")
        ),
        Counter("log_used_kb", mark("Log used"), KB, 1024.0, mark("log that cannot be reused yet")),
        Counter("log_size_kb", mark("Log file size"), KB, 1024.0, mark("size of the log file")),
        Counter(
            "log_since_checkpoint_kb",
            mark("Log since checkpoint"),
            KB,
            64.0,
            mark("log that a restart would redo"),
        ),
        Counter(
            "in_flight_transactions",
            mark("Transactions in flight"),
            COUNT,
            10.0,
            mark("begun, not yet answered"),
        ),
        Counter("sends_per_s", mark("Messages sent"), PER_S, 10.0, mark("messages that carry log")),
        Counter(
            "principal_cpu_percent",
            mark("Principal CPU"),
            PERCENT,
            100.0,
            mark("of all cores of the instance"),
        ),
        Counter(
            "mirror_cpu_percent", mark("Mirror CPU"), PERCENT, 100.0, mark("of all cores of the instance")
        ),
        Counter(
            "principal_data_writes_kb_per_s",
            mark("Principal data writes"),
            KB_PER_S,
            64.0,
            mark("page writes"),
        ),
        Counter(
            "mirror_data_writes_kb_per_s", mark("Mirror data writes"), KB_PER_S, 64.0, mark("page writes")
        ),
        Counter(
            "principal_dirty_pages",
            mark("Principal dirty pages"),
            COUNT,
            100.0,
            mark("changed, not yet written"),
        ),
        Counter(
            "mirror_dirty_pages", mark("Mirror dirty pages"), COUNT, 100.0, mark("changed, not yet written")
        ),
    )
}
"""Every counter of the engine (a test compares), in the order of lists."""

OF_GROUPS: Final = {
    "principal_cpu_percent": mark("Primary CPU"),
    "mirror_cpu_percent": mark("Secondary CPU"),
    "principal_data_writes_kb_per_s": mark("Primary data writes"),
    "mirror_data_writes_kb_per_s": mark("Secondary data writes"),
    "principal_dirty_pages": mark("Primary dirty pages"),
    "mirror_dirty_pages": mark("Secondary dirty pages"),
}
"""Titles for replicas of availability groups."""


def counter(name: str, of_groups: bool) -> Counter:
    """Return the counter of a name, with its unit."""
    known = COUNTERS[name]
    return replace(known, title=OF_GROUPS[name]) if of_groups and name in OF_GROUPS else known


WATCHED: Final = ("send_queue_kb", "redo_queue_kb", "transactions_per_s", "commit_delay_ms")
"""Counters in the charts by default: they show the health of mirroring."""
