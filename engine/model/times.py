"""Moments and names of copies."""

from __future__ import annotations

from engine.constants import TICKS_PER_S

Tick = int
"""Simulated time in steps of 10 ms since the start."""

Key = tuple[str, str]
"""(server, database): names one copy of a database."""


def ticks(seconds: float) -> Tick:
    """Return the nearest whole number of ticks."""
    return round(seconds * TICKS_PER_S)
