"""Time until a value is reached at the rate of the last seconds. No Qt."""

from __future__ import annotations

from typing import Final

import numpy as np

from engine.flow import Array

PACE_S: Final = 10.0
"""The pace is that of the last so many seconds. Assumed: long enough to smooth bursts, short enough to follow."""
SAMPLES_MIN: Final = 3
"""Fewer say nothing about a pace."""
STILL_KB_PER_S: Final = 1.0
"""A slower pace counts as standing still: an estimate of days helps nobody. Assumed."""


def pace_kb_per_s(t_s: Array, kb: Array) -> float | None:
    """Slope of the straight line through the samples (least squares); None for too few, or with gaps among them."""
    if len(t_s) < SAMPLES_MIN or np.isnan(kb).any():
        return None
    centred = t_s - t_s.mean()
    return float((centred * (kb - kb.mean())).sum() / (centred * centred).sum())


def until_empty_s(t_s: Array, kb: Array) -> float | None:
    """Seconds until a queue is empty; 0 for an empty one, None if it does not shrink."""
    pace = pace_kb_per_s(t_s, kb)
    if pace is None:
        return None
    if kb[-1] < 1.0:
        return 0.0
    return float(kb[-1]) / -pace if pace < -STILL_KB_PER_S else None


def until_full_s(t_s: Array, kb: Array, room_kb: float) -> float | None:
    """Seconds until *room_kb* are used; 0 if they are, None if it does not grow."""
    pace = pace_kb_per_s(t_s, kb)
    if pace is None:
        return None
    if kb[-1] >= room_kb:
        return 0.0
    return (room_kb - float(kb[-1])) / pace if pace > STILL_KB_PER_S else None
