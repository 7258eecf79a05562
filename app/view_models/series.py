"""Counters over time as arrays, cut to a time window and reduced to the resolution of a chart, without Qt."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np
from msgspec import Struct

from engine.constants import TICKS_PER_S
from engine.flow import COUNTERS, NO_STREAM_NUMBERS, Array, Samples, StreamNumbers

_BIN_FACTORS = (1.0, 2.0, 5.0)
"""Factors of bin widths.

A bin width is one of the factors times a power of ten, so that bins do not move while the window moves.
"""
TIME_STEPS_S: Final = (
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400,
)  # fmt: skip
"""Possible distances between two labels of a time axis."""
TIME_LABEL_DISTANCE_MIN_PX: Final = 70
"""Minimum distance between two time labels in pixels."""


ALL_DATABASES = "*"
"""Name that stands for all databases. It is not a valid database name without brackets."""
MAXIMUM_COUNTERS = frozenset({"commit_delay_ms", "response_s", "principal_cpu_percent", "mirror_cpu_percent"})
"""Counters for which the largest value of several databases is shown. All other counters are added up."""
QUEUE_COLUMNS = [COUNTERS.index("send_queue_kb"), COUNTERS.index("redo_queue_kb")]
"""Column indexes of the send queue and the redo queue in an array of counter values."""
Streams = Mapping[int, Sequence[int]]
"""Number of a transaction log -> numbers of the streams that send this log to copies."""
NO_STREAMS: Final[Streams] = {}
IS_SUMMED = np.array([name not in MAXIMUM_COUNTERS for name in COUNTERS])
"""Boolean per counter: True if the values of several databases are added up."""


class SeriesSummary(Struct, frozen=True):
    """Statistics of a counter over a time range."""

    last: float
    mean: float
    low: float
    high: float


class CounterColumns:
    """Uncompressed copy of a run's samples: for each sample, a log number and the values of all counters.

    After a switch to another run or snapshot, samples that are the same in the old and new run are not read
    again.
    """

    def __init__(self) -> None:
        self.samples: Samples | None = None
        self.count = 0
        """Number of known entries."""
        self._sources = np.zeros(64, dtype=np.int16)
        self._values = np.zeros((64, len(COUNTERS)))

    @property
    def sources(self) -> Array:
        """Log number of each entry; negative if there is no log."""
        return self._sources[: self.count]

    @property
    def values(self) -> Array:
        """Array of values[entry, counter]; 0 if there is no log."""
        return self._values[: self.count]

    def reuse_known_samples(self, samples: Samples, count: int) -> int:
        """Read from *samples* from now on, and keep the entries at the start that are the same in *samples*.

        Return the number of kept entries, at most *count*. `add_entries` appends the other entries.
        """
        if self.samples is None or samples is not self.samples:
            self.count = (
                0 if self.samples is None else min(self.count, samples.count_common_entries(self.samples))
            )
            self.samples = samples
        self.count = min(self.count, count)
        return self.count

    def add_entries(self, number_pairs: Sequence[StreamNumbers], streams: Streams = NO_STREAMS) -> None:
        """Append one entry for each (log, stream) pair in *number_pairs*.

        *streams*: streams of each log. If a log has several streams, the entry contains the longest queue.
        """
        assert self.samples is not None, "agree comes first"
        first, count = self.count, self.count + len(number_pairs)
        self._reserve(count)
        self._sources[first:count], self._values[first:count] = self._read_entries(
            first, number_pairs, streams
        )
        self.count = count

    def _read_entries(
        self, start_index: int, number_pairs: Sequence[StreamNumbers], streams: Streams
    ) -> tuple[Array, Array]:
        """Return the log numbers and the values of the entries from *start_index* on."""
        assert self.samples is not None, "agree comes first"
        sources, numbers = _stack_numbers(number_pairs)
        values: Array = self.samples.read_entries(start_index, sources, numbers)
        for source in np.unique(sources).tolist():
            stream_numbers = streams.get(source, ())
            is_source = sources == source
            for stream in stream_numbers if len(stream_numbers) > 1 else ():
                other_entries = self.samples.read_entries(
                    start_index, sources, np.where(is_source, stream, numbers)
                )
                values[:, QUEUE_COLUMNS] = np.maximum(
                    values[:, QUEUE_COLUMNS], other_entries[:, QUEUE_COLUMNS]
                )
        return sources, values

    def add_combined_entries(
        self, pairs_by_database: Sequence[Sequence[StreamNumbers]], streams: Streams = NO_STREAMS
    ) -> None:
        """Append entries for many databases together: sums, or maxima for MAXIMUM_COUNTERS.

        *pairs_by_database*: for each database, one (log, stream) pair per new entry.
        """
        assert self.samples is not None, "agree comes first"
        entries = len(pairs_by_database[0]) if pairs_by_database else 0
        first, count = self.count, self.count + entries
        self._reserve(count)
        values, has_value = self._values[first:count], np.zeros(entries, dtype=bool)
        values[:] = 0.0
        for number_pairs in pairs_by_database:
            sources, added_values = self._read_entries(first, number_pairs, streams)
            values[:, IS_SUMMED] += added_values[:, IS_SUMMED]
            values[:, ~IS_SUMMED] = np.maximum(values[:, ~IS_SUMMED], added_values[:, ~IS_SUMMED])
            has_value |= sources >= 0
        self._sources[first:count] = np.where(has_value, 0, -1)
        self.count = count

    def _reserve(self, count: int) -> None:
        if count > len(self._sources):
            self._sources = np.resize(self._sources, 2 * count)
            self._values = np.resize(self._values, (2 * count, len(COUNTERS)))


def _stack_numbers(number_pairs: Sequence[StreamNumbers]) -> Array:
    """Return an array with two rows: the log numbers and the stream numbers of *number_pairs*."""
    numbers: Array = np.array(number_pairs, dtype=np.int64).reshape(-1, 2).T
    return numbers


def _list_stream_numbers(
    logs: Sequence[Mapping[str, StreamNumbers | None]], database: str
) -> list[StreamNumbers]:
    return [number_pairs.get(database) or NO_STREAM_NUMBERS for number_pairs in logs]


class CounterHistory:
    """Counters of one database over the run. Each value comes from the log of the principal at that time.

    For ALL_DATABASES, the values of all databases are added up. Times and percentages are maxima instead.
    """

    def __init__(self) -> None:
        self._database: str | None = None
        self._columns = CounterColumns()

    def add_samples(
        self,
        samples: Samples,
        logs: Sequence[Mapping[str, StreamNumbers | None]],
        database: str,
        streams: Streams = NO_STREAMS,
    ) -> bool:
        """Read the new entries of *samples*, and return whether anything has changed.

        *logs*: for each sample, database -> (log, stream). *streams*: streams of each log; the longest queue
        counts. After a change of run, snapshot or database, only differing entries are read again.
        """
        if database != self._database:
            self._database, self._columns = database, CounterColumns()
        count, before = min(samples.count, len(logs)), self._columns.count
        agreed_count = self._columns.reuse_known_samples(samples, count)
        new_logs = logs[agreed_count:count]
        if database == ALL_DATABASES:
            names = dict.fromkeys(name for number_pairs in new_logs for name in number_pairs)
            self._columns.add_combined_entries(
                [_list_stream_numbers(new_logs, name) for name in names], streams
            )
        else:
            self._columns.add_entries(_list_stream_numbers(new_logs, database), streams)
        return agreed_count != before or count != before

    @property
    def end_s(self) -> float:
        """Time of the last sample; 0 if there are no samples."""
        return float(self._ticks[-1]) / TICKS_PER_S if self._columns.count else 0.0

    def get_window(self, counter: str, from_s: float, to_s: float, bins: int) -> tuple[Array, Array]:
        """Return times and values from *from_s* to *to_s*, reduced to at most *bins* bins.

        One sample beyond each end is included. A bin keeps its lowest and highest value, so that no spike is
        lost. The value is NaN where no instance ran.
        """
        first = max(0, int(np.searchsorted(self._ticks, from_s * TICKS_PER_S)) - 1)
        last = min(
            self._columns.count, int(np.searchsorted(self._ticks, to_s * TICKS_PER_S, side="right")) + 1
        )
        width = choose_bin_width((to_s - from_s) / max(1, bins))
        t_s = self._ticks[first:last] / TICKS_PER_S
        return find_bin_extrema(t_s, self._get_values(counter, first, last), width)

    def get_samples(self, counter: str, from_s: float, to_s: float) -> tuple[Array, Array]:
        """Return all times and values from *from_s* to *to_s*. The value is NaN where no instance ran."""
        first, last = self._find_index_range(from_s, to_s)
        return self._ticks[first:last] / TICKS_PER_S, self._get_values(counter, first, last)

    def iterate_rows(
        self, counters: Sequence[str], from_s: float, to_s: float
    ) -> Iterator[tuple[float, *tuple[float | None, ...]]]:
        """Yield the time and the value of each counter for each sample.

        The value is None where no instance ran.
        """
        columns = [self.get_samples(counter, from_s, to_s)[1] for counter in counters]
        first, last = self._find_index_range(from_s, to_s)
        for index, tick in enumerate(self._ticks[first:last]):
            values = (float(column[index]) for column in columns)
            yield float(tick) / TICKS_PER_S, *(None if np.isnan(value) else value for value in values)

    def _find_index_range(self, from_s: float, to_s: float) -> tuple[int, int]:
        first = int(np.searchsorted(self._ticks, from_s * TICKS_PER_S - 0.5))
        return first, int(np.searchsorted(self._ticks, to_s * TICKS_PER_S + 0.5, side="right"))

    def find_value(self, counter: str, t_s: float) -> float | None:
        """Return the last value at or before *t_s*; None before the first sample, and while no instance ran."""
        index = int(np.searchsorted(self._ticks, t_s * TICKS_PER_S + 0.5, side="right")) - 1
        if index < 0:
            return None
        value = float(self._get_values(counter, index, index + 1)[0])
        return None if np.isnan(value) else value

    def summarize(self, counter: str, from_s: float, to_s: float) -> SeriesSummary | None:
        """Return last, mean, lowest and highest value in a time range; None if it has no values."""
        first = int(np.searchsorted(self._ticks, from_s * TICKS_PER_S))
        last = int(np.searchsorted(self._ticks, to_s * TICKS_PER_S + 0.5, side="right"))
        values = self._get_values(counter, first, last)
        values = values[~np.isnan(values)]
        if not len(values):
            return None
        return SeriesSummary(
            float(values[-1]), float(values.mean()), float(values.min()), float(values.max())
        )

    @property
    def _ticks(self) -> Array:
        samples = self._columns.samples
        return samples.ticks[: self._columns.count] if samples is not None else np.zeros(0)

    def _get_values(self, counter: str, start_index: int, end_index: int) -> Array:
        values = self._columns.values[start_index:end_index, COUNTERS.index(counter)]
        sources = self._columns.sources[start_index:end_index]
        return np.where(sources < 0, np.nan, values) if (sources < 0).any() else values


def choose_bin_width(minimum: float) -> float:
    """Return the smallest product of 1, 2 or 5 and a power of ten that is at least *minimum*."""
    if minimum <= 0.0:
        return 0.0
    power = 10.0 ** np.floor(np.log10(minimum))
    return next(float(step * power) for step in (*_BIN_FACTORS, 10.0) if step * power >= minimum * (1 - 1e-9))


def choose_time_step_s(span_s: float, pixels: float) -> float:
    """Return the seconds between two labels of a time axis that is *pixels* wide and shows *span_s*."""
    step_min = span_s * TIME_LABEL_DISTANCE_MIN_PX / max(pixels, 1.0)
    return next(
        (step for step in TIME_STEPS_S if step >= step_min),
        TIME_STEPS_S[-1] * choose_bin_width(step_min / 86_400),
    )


def find_bin_extrema(x: Array, y: Array, width: float) -> tuple[Array, Array]:
    """Return the lowest and highest *y* of each bin that is *width* wide.

    If bins would not reduce the number of points, return *x* and *y* unchanged.
    """
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


SLOPE_RANGE_S: Final = 10.0
"""Time range over which the rate of change of a queue is measured.

Assumed: long enough to smooth bursts, short enough to follow changes.
"""
SLOPE_SAMPLES_MIN: Final = 3
"""Minimum number of samples to compute a rate."""
ESTIMATE_RATE_MIN_KB_PER_S: Final = 1.0
"""Minimum rate of change for `estimate_s_until_empty` and `estimate_s_until_full`.

At a lower rate, the estimated time would be days. Assumed.
"""


def compute_slope_kb_per_s(t_s: Array, kb: Array) -> float | None:
    """Return the slope of the least-squares line through the points (*t_s*, *kb*).

    The result is None if values are missing, or if there are fewer than SLOPE_SAMPLES_MIN points.
    """
    if len(t_s) < SLOPE_SAMPLES_MIN or np.isnan(kb).any():
        return None
    centered = t_s - t_s.mean()
    return float((centered * (kb - kb.mean())).sum() / (centered * centered).sum())


def estimate_s_until_empty(t_s: Array, kb: Array) -> float | None:
    """Return the estimated seconds until a queue is empty: 0 if it is empty, None if it does not shrink."""
    pace = compute_slope_kb_per_s(t_s, kb)
    if pace is None:
        return None
    if kb[-1] < 1.0:
        return 0.0
    return float(kb[-1]) / -pace if pace < -ESTIMATE_RATE_MIN_KB_PER_S else None


def estimate_s_until_full(t_s: Array, kb: Array, available_kb: float) -> float | None:
    """Return the estimated seconds until *available_kb* are used.

    The result is 0 if they are already used, and None if *kb* does not grow.
    """
    pace = compute_slope_kb_per_s(t_s, kb)
    if pace is None:
        return None
    if kb[-1] >= available_kb:
        return 0.0
    return (available_kb - float(kb[-1])) / pace if pace > ESTIMATE_RATE_MIN_KB_PER_S else None
