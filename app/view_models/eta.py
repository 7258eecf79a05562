"""Time until a value is reached at the rate of the last seconds, without Qt."""

from __future__ import annotations

from typing import Final

import numpy as np

from engine.flow import Array

PACE_S: Final = 10.0
"""Time over which the rate is measured. Assumed: long enough to smooth bursts, short enough to follow."""
SAMPLES_MIN: Final = 3
"""Minimum number of samples for a rate."""
STILL_KB_PER_S: Final = 1.0
"""Lowest rate for an estimate; below it the estimate would be days. Assumed."""


def pace_kb_per_s(t_s: Array, kb: Array) -> float | None:
    """Return the slope of the least-squares line through the samples; None with too few samples or gaps."""
    if len(t_s) < SAMPLES_MIN or np.isnan(kb).any():
        return None
    centred = t_s - t_s.mean()
    return float((centred * (kb - kb.mean())).sum() / (centred * centred).sum())


def until_empty_s(t_s: Array, kb: Array) -> float | None:
    """Return the seconds until a queue is empty; 0 for an empty one, None if it does not shrink."""
    pace = pace_kb_per_s(t_s, kb)
    if pace is None:
        return None
    if kb[-1] < 1.0:
        return 0.0
    return float(kb[-1]) / -pace if pace < -STILL_KB_PER_S else None


def until_full_s(t_s: Array, kb: Array, room_kb: float) -> float | None:
    """Return the seconds until *room_kb* are used; 0 if they are, None if the value does not grow."""
    pace = pace_kb_per_s(t_s, kb)
    if pace is None:
        return None
    if kb[-1] >= room_kb:
        return 0.0
    return (room_kb - float(kb[-1])) / pace if pace > STILL_KB_PER_S else None
