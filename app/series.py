"""Counters over time, cut and thinned for charts. Plain arrays, no Qt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.constants import TICKS_PER_S
from engine.flow import COUNTERS, Samples

Array = np.ndarray[Any, Any]

_NICE = (1.0, 2.0, 5.0)
"""Bin widths are these times a power of ten, so that bins stay where they are while the window moves on."""


@dataclass(frozen=True, slots=True)
class Summary:
    """A counter over a stretch of time."""

    last: float
    mean: float
    low: float
    high: float


class CounterHistory:
    """The counters of one database over the run, whichever row of the flow model carried it at the time.

    It holds no copy of the samples, only which row counts for each of them.
    """

    def __init__(self) -> None:
        self._samples: Samples | None = None
        self._rows = np.zeros(64, dtype=np.int16)
        self._count = 0

    def follow(self, samples: Samples, carried: Sequence[Mapping[str, int | None]], database: str) -> bool:
        """Take in what *samples* has gained; *carried* says which row carried each database at each sample.

        True if there is anything new. Another buffer, or one that was cut back, starts the history anew.
        """
        count = min(samples.count, len(carried))
        if samples is not self._samples or count < self._count:
            self._samples, self._count = samples, 0
        if count == self._count:
            return False
        if count > len(self._rows):
            self._rows = np.resize(self._rows, 2 * count)
        for index in range(self._count, count):
            row = carried[index].get(database)
            self._rows[index] = -1 if row is None else row
        self._count = count
        return True

    @property
    def end_s(self) -> float:
        """Time of the last sample; 0 when there is none."""
        return float(self._ticks[-1]) / TICKS_PER_S if self._count else 0.0

    def window(self, counter: str, from_s: float, to_s: float, bins: int) -> tuple[Array, Array]:
        """Times and values from *from_s* to *to_s* and one sample beyond each end, in at most *bins* peaks.

        Lowest and highest value of each bin are kept, so that no spike is lost. NaN where nothing ran.
        """
        first = max(0, int(np.searchsorted(self._ticks, from_s * TICKS_PER_S)) - 1)
        last = min(self._count, int(np.searchsorted(self._ticks, to_s * TICKS_PER_S, side="right")) + 1)
        width = bin_width((to_s - from_s) / max(1, bins))
        t_s = self._ticks[first:last] / TICKS_PER_S
        return peaks(t_s, self._values(counter, first, last), width)

    def samples(self, counter: str, from_s: float, to_s: float) -> tuple[Array, Array]:
        """Every time and value from *from_s* to *to_s*; NaN where nothing ran."""
        first, last = self._places(from_s, to_s)
        return self._ticks[first:last] / TICKS_PER_S, self._values(counter, first, last)

    def rows(
        self, counters: Sequence[str], from_s: float, to_s: float
    ) -> Iterator[tuple[float, *tuple[float | None, ...]]]:
        """Time and the value of each counter, sample by sample; None where nothing ran."""
        columns = [self.samples(counter, from_s, to_s)[1] for counter in counters]
        first, last = self._places(from_s, to_s)
        for place, tick in enumerate(self._ticks[first:last]):
            values = (float(column[place]) for column in columns)
            yield float(tick) / TICKS_PER_S, *(None if np.isnan(value) else value for value in values)

    def _places(self, from_s: float, to_s: float) -> tuple[int, int]:
        first = int(np.searchsorted(self._ticks, from_s * TICKS_PER_S - 0.5))
        return first, int(np.searchsorted(self._ticks, to_s * TICKS_PER_S + 0.5, side="right"))

    def at(self, counter: str, t_s: float) -> float | None:
        """The last value sampled by *t_s*; None before the first and where nothing ran."""
        index = int(np.searchsorted(self._ticks, t_s * TICKS_PER_S + 0.5, side="right")) - 1
        if index < 0:
            return None
        value = float(self._values(counter, index, index + 1)[0])
        return None if np.isnan(value) else value

    def summary(self, counter: str, from_s: float, to_s: float) -> Summary | None:
        """Last, mean, lowest and highest value of that time; None where nothing was sampled."""
        first = int(np.searchsorted(self._ticks, from_s * TICKS_PER_S))
        last = int(np.searchsorted(self._ticks, to_s * TICKS_PER_S + 0.5, side="right"))
        values = self._values(counter, first, last)
        values = values[~np.isnan(values)]
        if not len(values):
            return None
        return Summary(float(values[-1]), float(values.mean()), float(values.min()), float(values.max()))

    @property
    def _ticks(self) -> Array:
        return self._samples.ticks[: self._count] if self._samples is not None else np.zeros(0)

    def _values(self, counter: str, first: int, last: int) -> Array:
        if self._samples is None or first >= last:
            return np.zeros(0)
        rows = self._rows[first:last]
        values: Array = self._samples.values[np.arange(first, last), rows, COUNTERS.index(counter)]
        return np.where(rows < 0, np.nan, values) if (rows < 0).any() else values


def bin_width(least: float) -> float:
    """The smallest of 1, 2, 5 times a power of ten that is not below *least*."""
    if least <= 0.0:
        return 0.0
    power = 10.0 ** np.floor(np.log10(least))
    return next(float(step * power) for step in (*_NICE, 10.0) if step * power >= least * (1 - 1e-9))


def peaks(x: Array, y: Array, width: float) -> tuple[Array, Array]:
    """Lowest and highest *y* of each bin of *width* that begins at a multiple of it; as is if that is no fewer."""
    if width <= 0.0 or len(x) < 3:
        return x, y
    bins = np.floor(x / width + 1e-9)
    starts = np.flatnonzero(np.diff(bins, prepend=bins[0] - 1.0))
    if 2 * len(starts) >= len(x):
        return x, y
    low, high = np.fmin.reduceat(y, starts), np.fmax.reduceat(y, starts)
    thin_x, thin_y = np.repeat(bins[starts] * width, 2), np.empty(2 * len(starts))
    thin_x[1::2] += 0.5 * width
    thin_y[0::2], thin_y[1::2] = low, high
    return thin_x, thin_y


def nice_ceiling(value: float, least: float) -> float:
    """Top of an axis: at least *least*, 1, 2 or 5 times a power of ten, so that it does not move all the time."""
    return bin_width(max(value, least))
