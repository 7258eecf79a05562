"""Names of the engine's counters and formats of their values. Without Qt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from app.words import formatting
from engine.tables import read_table


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


_UNITS: Final = {
    "KB": KB, "KB_PER_S": KB_PER_S, "MS": MS, "SECONDS": SECONDS, "PER_S": PER_S, "PERCENT": PERCENT, "COUNT": COUNT,
}  # fmt: skip
_ROWS: Final = read_table("app.words", "counters.tsv")
COUNTERS: Final = {
    row["name"]: Counter(row["name"], row["title"], _UNITS[row["unit"]], float(row["least_top"]), row["help"])
    for row in _ROWS
}
"""Every counter of the engine (a test compares), in the order of lists."""

OF_GROUPS: Final = {row["name"]: row["of_groups"] for row in _ROWS if row["of_groups"]}
"""Titles for replicas of availability groups."""


def counter(name: str, of_groups: bool) -> Counter:
    """Return the counter of a name, with its unit."""
    known = COUNTERS[name]
    return replace(known, title=OF_GROUPS[name]) if of_groups and name in OF_GROUPS else known


WATCHED: Final = ("send_queue_kb", "redo_queue_kb", "transactions_per_s", "commit_delay_ms")
"""Counters in the charts by default: they show the health of mirroring."""
